#include "cli/interrupt.h"

#include <signal.h>
#include <stdbool.h>

static atomic_bool asked;
static struct sigaction before;

static void ask(int signal_number)
{
    (void)signal_number;
    atomic_store(&asked, true);
}

const atomic_bool *gn_cli_interrupt_begin(void)
{
    struct sigaction a = {.sa_handler = ask, .sa_flags = SA_RESETHAND | SA_RESTART};
    sigemptyset(&a.sa_mask);
    atomic_store(&asked, false);
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        (void)sigaction(SIGINT, &a, NULL);
    return &asked;
}

void gn_cli_interrupt_end(void) { (void)sigaction(SIGINT, &before, NULL); }
