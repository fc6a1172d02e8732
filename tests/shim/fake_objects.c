#include "fake_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fake_state fake = {.devices = 1, .total = (size_t)1 << 30, .cooperative = 1};

static char fault[256];
static const char *fail_function;
static int fail_nth, fail_result, calls;
static struct {
    const char *function;
    int n; /* since that was asked */
} count[64];

static int *count_of(const char *function)
{
    for (int k = 0; k < (int)(sizeof count / sizeof *count); k++) {
        if (!count[k].function) count[k].function = function;
        if (!strcmp(count[k].function, function)) return &count[k].n;
    }
    abort();
}

void fake_note(const char *what)
{
    if (!*fault) (void)snprintf(fault, sizeof fault, "%s", what);
}

fake_object *fake_make(fake_kind k)
{
    fake_object *o = calloc(1, sizeof *o);
    o->kind = k;
    o->next = fake.objects;
    fake.objects = o;
    return o;
}

fake_object *fake_find(const void *handle, fake_kind k, const char *who)
{
    for (fake_object *o = fake.objects; o; o = o->next)
        if (o == handle && o->kind == k) return o;
    fake_note(who);
    return NULL;
}

void fake_drop(fake_object *o)
{
    fake_object **p = &fake.objects;
    while (*p != o) p = &(*p)->next;
    *p = o->next;
    free(o->nodes);
    free(o);
}

bool fake_records(void)
{
    for (fake_object *o = fake.objects; o; o = o->next)
        if (o->kind == STREAM && o->recording) return true;
    return false;
}

bool fake_lies_within(const void *p, size_t n)
{
    for (fake_object *o = fake.objects; o; o = o->next)
        if (o->kind == MEMORY && (const char *)p >= (char *)o->at &&
            (const char *)p + n <= (char *)o->at + o->bytes)
            return true;
    return false;
}

/* Faults to order ------------------------------------------------------------------------------ */

EXPORT void fake_fail(const char *function, int nth, int result);
EXPORT void fake_fail(const char *function, int nth, int result)
{
    fail_function = function;
    fail_nth = nth;
    fail_result = result;
    calls = 0;
}

EXPORT int fake_fails(void);
EXPORT int fake_fails(void) { return fail_nth > 0; }

EXPORT int fake_calls(const char *function);
EXPORT int fake_calls(const char *function)
{
    if (!function) return calls;
    int n = *count_of(function);
    *count_of(function) = 0;
    return n;
}

EXPORT int fake_alive(void);
EXPORT int fake_alive(void)
{
    int n = fake.contexts + fake.pushed;
    for (fake_object *o = fake.objects; o; o = o->next) n += o->kind != FUNCTION;
    return n;
}

EXPORT const char *fake_fault(void);
EXPORT const char *fake_fault(void) { return *fault ? fault : NULL; }

EXPORT void fake_devices(int n, unsigned long long bytes);
EXPORT void fake_devices(int n, unsigned long long bytes)
{
    fake.devices = n;
    fake.total = (size_t)bytes;
}

EXPORT void fake_cooperates(int does);
EXPORT void fake_cooperates(int does) { fake.cooperative = does; }

EXPORT void fake_costs(double launch_ms, double call_ms);
EXPORT void fake_costs(double launch_ms, double call_ms)
{
    fake.cost[LAUNCH] = launch_ms;
    fake.cost[CALL] = call_ms;
}

EXPORT long fake_filled(void);
EXPORT long fake_filled(void) { return fake.filled; }

/* For other libraries -------------------------------------------------------------------------- */

EXPORT int fake_current(void);
EXPORT int fake_current(void) { return fake.pushed; }

EXPORT int fake_within(unsigned long long p, unsigned long long bytes);
EXPORT int fake_within(unsigned long long p, unsigned long long bytes)
{
    return fake_lies_within((const void *)(uintptr_t)p, (size_t)bytes);
}

EXPORT void fake_misuse(const char *what);
EXPORT void fake_misuse(const char *what) { fake_note(what); }

/* Calls that end something, and those without which nothing can be ended, fail where they are named
 * alone: what is meant for any call would leave what is held where it is. */
int fake_ordered(const char *function)
{
    calls++;
    ++*count_of(function);
    bool meant = fail_function ? !strcmp(fail_function, function)
                               : strcmp(function, "cuCtxPushCurrent_v2") != 0;
    if (fail_nth && meant && --fail_nth == 0) return fail_result;
    return OK;
}

int fake_ended(const char *function)
{
    bool meant = fail_function && !strcmp(fail_function, function);
    ++*count_of(function);
    if (fail_nth && meant && --fail_nth == 0) return fail_result;
    return OK;
}
