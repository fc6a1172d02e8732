/* Store: entries as files of a directory, PATH/kernels-1/<key in hexadecimal>.
 *
 * A file is published by renaming a complete one, so readers see all of an entry or nothing; what a
 * killed process leaves behind is a temporary file that is swept away later.  There is no fsync: an
 * entry that a power failure damages fails its checksum and is a miss.  Locks belong to open files
 * and go with the process.  The directory and every file must be the user's (for a base also the
 * superuser's) and writable by nobody else.
 *
 * Thread-safe.  Functions that fail leave why in `why`: what is wrong with a file that is there, ""
 * when there is simply nothing. */
#ifndef GN_CACHE_STORE_H
#define GN_CACHE_STORE_H

#include "base/mutex.h"
#include "cache/entry.h"

#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

enum { GN_WHY = 512 };

typedef struct gn_store {
    const char *path; /* owned */
    bool base;        /* read only, and may be the superuser's */
    int64_t limit;    /* bytes */
    gn_mutex mutex;
    atomic_int dir; /* of the entries; -1: not there yet */
    bool refused;
} gn_store;

gn_store *gn_store_new(const char *path, bool base, int64_t limit); /* NULL: no memory */
void gn_store_free(gn_store *s);                                    /* NULL is fine */

/* Opens the directory, and makes it when asked to. */
bool gn_store_attach(gn_store *s, bool make, char why[GN_WHY]);

/* *bytes is malloc'd and holds what *e points to; NULL when there is no such entry or it is
 * refused. */
bool gn_store_read(gn_store *s, const gn_key *k, unsigned char **bytes, gn_entry *e,
                   char why[GN_WHY]);
/* An entry's first bytes: its parts, without a look at its checksum.  parts ends with a zero. */
bool gn_store_parts(gn_store *s, const char *name, char parts[GN_ENTRY_MAX_PARTS + 1]);
/* Publishes the bytes of an entry; others are removed when the store grows too large. */
bool gn_store_write(gn_store *s, const gn_key *k, const void *bytes, size_t n, char why[GN_WHY]);

typedef struct gn_store_file {
    char name[GN_SHA256_HEX + 1];
    int64_t bytes; /* on disk */
    struct timespec used;
} gn_store_file;

/* All entries by name, malloc'd; false and why when there is no memory or no directory. */
bool gn_store_list(gn_store *s, gn_store_file **files, size_t *n, char why[GN_WHY]);
bool gn_store_read_file(gn_store *s, const char *name, unsigned char **bytes, gn_entry *e,
                        char why[GN_WHY]);
/* Removes all entries and temporary files; how many entries it were. */
bool gn_store_clear(gn_store *s, int64_t *n, int64_t *bytes, char why[GN_WHY]);

bool gn_store_name_is_key(const char *name);

/* Locks of a byte of the lock file; see claim.c.  Each open file has its own, in threads of one
 * process too. */
int gn_store_lock_file(gn_store *s); /* -1: no locks here */
typedef enum gn_lock { GN_LOCKED, GN_LOCK_BUSY, GN_LOCK_NONE } gn_lock;
gn_lock gn_lock_try(int fd, int64_t byte);
bool gn_lock_busy(int fd, int64_t byte);        /* somebody else has it */
void gn_lock_drop_from(int fd, int64_t byte);   /* this one and all after it */
enum { GN_LOCK_SIZE = 0, GN_LOCK_KEYS = 4096 }; /* bytes: of the store's size; keys' from here on */

#endif
