/* Block files: arrays by name in one file that is mapped, not read.
 *
 * Everything is little-endian.  The file is cut into blocks of 4,096 bytes:
 *
 *   block 0      the header
 *   1 ... n      data: arrays, each from the beginning of a block on, row-major, zeros behind it
 *   behind them  the directory, JSON and blanks; and the checksums of blocks 1 ... n, a u32 each
 *
 * The header, in bytes; zeros where nothing stands:
 *
 *      0  8  magic "GNNCDATA"          32  8  bytes of the directory
 *      8  4  version, 1                40  8  where the checksums begin
 *     12  4  0x01020304                48  8  how many: n
 *     16  8  bytes of the file         56  4  checksum of the directory
 *     24  8  where the directory       60  4  checksum of the checksums
 *            begins                  4092  4  checksum of the header's first 4,092 bytes
 *
 * The directory is an object: `arrays` maps a name to {"elem": "f32", "shape": [2, 3], "at": byte},
 * and `meta` is the writer's own.  A checksum is the CRC-32 of zlib (ISO 3309).  The header is
 * written last, into a file of another name that takes its own when all of it is on the disk: so a
 * file that begins with the magic is whole, or was damaged later, which checksums tell. */
#ifndef GN_RUNTIME_DATA_BLOCKFILE_H
#define GN_RUNTIME_DATA_BLOCKFILE_H

#include "base/elem.h"
#include "base/status.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define GN_BLOCK_MAGIC "GNNCDATA"
enum { GN_BLOCK_SIZE = 4096, GN_BLOCK_VERSION = 1, GN_BLOCK_RANK = 8 };

typedef struct gn_block_array {
    char *name;
    gn_elem elem;
    int rank;
    int64_t dim[GN_BLOCK_RANK];
    int64_t at, bytes; /* in the file */
} gn_block_array;

/* Writing --------------------------------------------------------------------------------------
 *
 * Arrays are reserved with their shapes, and filled in from their beginnings, in any turns.  Not
 * thread-safe. */
typedef struct gn_block_writer gn_block_writer;

/* GN_ERR_IO where no file can be written there, and where it is no place for one (a pipe). */
GN_NODISCARD gn_status *gn_block_writer_new(const char *path, gn_block_writer **out);
/* *array numbers it.  GN_ERR_INTERNAL: the name is taken; GN_ERR_DATA: the size overflows. */
GN_NODISCARD gn_status *gn_block_writer_add(gn_block_writer *w, const char *name, gn_elem elem,
                                            int rank, const int64_t *dim, int *array);
/* The next n bytes of the array.  GN_ERR_IO with errno's words: the disk is full. */
GN_NODISCARD gn_status *gn_block_writer_put(gn_block_writer *w, int array, const void *bytes,
                                            size_t n);
/* All of it at once. */
GN_NODISCARD gn_status *gn_block_writer_whole(gn_block_writer *w, const char *name, gn_elem elem,
                                              int rank, const int64_t *dim, const void *data);
/* Publishes the file where `so_far` is NULL, which is what comes back else; frees w.  `meta` is
 * borrowed. */
GN_NODISCARD gn_status *gn_block_writer_close(gn_block_writer *w, const json_t *meta,
                                              gn_status *so_far);

/* Reading --------------------------------------------------------------------------------------
 *
 * Arrays lie in the map, read-only, and are of no use before their blocks were checked.  Any number
 * of threads may check. */
typedef struct gn_block_file {
    char *origin; /* as messages name it */
    const unsigned char *p;
    int64_t n; /* bytes */
    int fd;    /* -1: bytes of the caller, which are not mapped */
    int n_arrays;
    gn_block_array *arrays;
    json_t *meta;
    int64_t n_blocks;         /* of data */
    const unsigned char *crc; /* [n_blocks] u32 */
    _Atomic uint64_t *sound;  /* bits: blocks that were checked */
    int64_t kept;             /* bytes that stay in memory */
} gn_block_file;

/* Header, directory, places and the table of checksums are checked, blocks of data are not.
 * GN_ERR_DATA: no such file, another version, truncated, damaged. */
GN_NODISCARD gn_status *gn_block_file_open(const char *path, gn_block_file **out);
/* `bytes` must outlive it. */
GN_NODISCARD gn_status *gn_block_file_parse(const void *bytes, size_t n, const char *origin,
                                            gn_block_file **out);
void gn_block_file_free(gn_block_file *f); /* NULL is fine */
bool gn_block_file_is(const void *bytes, size_t n);

const gn_block_array *gn_block_file_find(const gn_block_file *f, const char *name); /* or NULL */
static inline const void *gn_block_data(const gn_block_file *f, const gn_block_array *a)
{
    return f->p + a->at;
}
/* Does p point into the file? */
static inline bool gn_block_file_has(const gn_block_file *f, const void *p)
{
    uintptr_t at = (uintptr_t)p, from = (uintptr_t)f->p;
    return p && at >= from && at - from < (uint64_t)f->n;
}

/* Checks the blocks that hold these bytes, those that were not yet.  GN_ERR_DATA names the block,
 * its bytes and its array; GN_ERR_IO: the disk cannot read it. */
GN_NODISCARD gn_status *gn_block_file_check(gn_block_file *f, const void *from, int64_t bytes);
/* The same of rows [n] of `row_bytes` each, by their numbers, which ascend as a rule; those that
 * are not in memory are asked for first, all at once. */
typedef struct gn_block_rows {
    const void *data;
    int64_t row_bytes, n;
    gn_elem index; /* I32 or I64: elements of row */
    const void *row;
} gn_block_rows;
GN_NODISCARD gn_status *gn_block_file_check_rows(gn_block_file *f, const gn_block_rows *r);
/* They are read often: they stay in memory, where the system lets so many (RLIMIT_MEMLOCK) and a
 * quarter of all there is has room for them and those kept before.  Not thread-safe. */
void gn_block_file_keep(gn_block_file *f, const void *from, int64_t bytes);
/* Rows are read here and there: no more than what is asked for is to be read ahead. */
void gn_block_file_scattered(const gn_block_file *f, const void *from, int64_t bytes);

#endif
