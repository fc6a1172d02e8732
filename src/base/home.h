/* Home: the process that something was made in.
 *
 * A fork copies memory and the thread that called it, no other: a child finds locks that nobody
 * will open and threads that are not there.  Who owns such things keeps a home, and asks whether
 * it has been left before it counts on them.  Asking reads a word of memory. */
#ifndef GN_BASE_HOME_H
#define GN_BASE_HOME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct gn_home {
    atomic_int *here; /* a page that is zero in children; NULL: the system has no such pages */
    pid_t process;    /* asked for then */
} gn_home;

void gn_home_init(gn_home *h); /* this process */
void gn_home_end(gn_home *h);
bool gn_home_left(const gn_home *h); /* a child asks */
void gn_home_settle(gn_home *h);     /* it is the child's from now on */

#endif
