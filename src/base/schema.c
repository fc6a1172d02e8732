#include "base/schema.h"

#include <string.h>

int gn_schema_find_space(const gn_schema *s, const char *name)
{
    for (int k = 0; k < s->n_spaces; k++)
        if (!strcmp(s->space[k].name, name)) return k;
    return -1;
}

int gn_schema_find_relation(const gn_schema *s, const char *name)
{
    for (int k = 0; k < s->n_relations; k++)
        if (!strcmp(s->relation[k].name, name)) return k;
    return -1;
}

int gn_schema_find_column(const gn_schema *s, const char *name)
{
    for (int k = 0; k < s->n_columns; k++)
        if (!strcmp(s->column[k].name, name)) return k;
    return -1;
}

int64_t gn_schema_rows(const gn_schema *s, const char *name)
{
    int k = gn_schema_find_space(s, name), c = gn_schema_find_column(s, name);
    if (k >= 0) return s->space[k].rows;
    return c >= 0 && s->column[c].classes > 0 ? s->column[c].classes : -1;
}

const int64_t *gn_schema_row_of(const gn_schema *s, const char *name)
{
    int k = gn_schema_find_space(s, name);
    return k >= 0 ? s->space[k].row_of : NULL;
}
