/* Files of a folder by name, plain or as .gz. */
#ifndef GN_RUNTIME_DATA_FOLDER_H
#define GN_RUNTIME_DATA_FOLDER_H

#include "runtime/data/file.h"
#include "runtime/data/readers.h"

typedef struct gn_folder_file {
    gn_bytes bytes; /* inflated; p is NULL where there is no such file */
    char *path;     /* as messages name it */
} gn_folder_file;

/* FOLDER/NAME, or FOLDER/NAME.gz; `needed`: GN_ERR_IO where there is neither.  gn_folder_free, on
 * failure too. */
GN_NODISCARD gn_status *gn_folder_read(const char *folder, const char *name, bool needed,
                                       gn_folder_file *out);
gn_input gn_folder_input(const gn_folder_file *p);
void gn_folder_free(gn_folder_file *p);

/* Reads n files, of which the first `needed` must be there, and parses them. */
typedef gn_status *gn_folder_parser(const gn_input *part, gn_reading *r, gn_dataset **out);
GN_NODISCARD gn_status *gn_folder_parse(const char *folder, const char *const *name, int n,
                                        int needed, gn_folder_parser *parse, gn_reading *r,
                                        gn_dataset **out);

bool gn_folder_has(const char *folder, const char *name); /* a file, plain or as .gz */
bool gn_folder_has_folder(const char *folder, const char *name);

/* `pattern`: "ind.*.graph".  What stands for the * in the names of files, plain or as .gz: in
 * `stem` that of one, in *count how many there are. */
GN_NODISCARD gn_status *gn_folder_find(const char *folder, const char *pattern, char *stem,
                                       size_t size, int *count);

/* The k-th of the folders in a folder, by their names, and how many there are. */
GN_NODISCARD gn_status *gn_folder_nth(const char *folder, int k, char *name, size_t size,
                                      int *count);

/* The same of its files whose names have this ending. */
GN_NODISCARD gn_status *gn_folder_nth_file(const char *folder, const char *ending, int k,
                                           char *name, size_t size, int *count);

/* FOLDER/NAME; GN_ERR_IO where that is too long. */
enum { GN_PATH_SIZE = 4096 };
GN_NODISCARD gn_status *gn_folder_path(const char *folder, const char *name,
                                       char path[GN_PATH_SIZE]);

#endif
