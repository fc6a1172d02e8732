#include "runtime/data/edge_sort.h"

#include "runtime/data/datafile.h"
#include "runtime/data/mem.h"
#include "runtime/graph/graph.h"

enum { USUAL = 1 << 28, PART = 1 << 16 };

/* Rows are numbered by fewer than 32 bits in all that readers take. */
typedef struct record {
    int32_t src, dst;
} record;

gn_status *gn_edge_sort_new(gn_block_writer *out, const char *name, int64_t n_nodes,
                            int64_t heap_bytes, gn_edge_sort *s)
{
    *s = (gn_edge_sort){.out = out,
                        .name = name,
                        .n_nodes = n_nodes,
                        .heap_bytes = heap_bytes ? heap_bytes : USUAL};
    if (n_nodes > INT32_MAX)
        GN_FAIL(GN_ERR_DATA, "%s: %lld rows: expected %d at most", name, (long long)n_nodes,
                INT32_MAX);
    GN_MEM(s->first, n_nodes + 1);
    GN_MEM(s->cursor, n_nodes);
    return NULL;
}

void gn_edge_sort_free(gn_edge_sort *s)
{
    gn_spill_free(&s->spill);
    free(s->first);
    free(s->cursor);
    free(s->begin);
}

/* Heaps of about as many edges each, of which sources are in memory; a row is in one. */
static gn_status *cut(gn_edge_sort *s, const char *beside)
{
    int64_t bytes = s->n_edges * (int64_t)sizeof(int32_t), n = bytes / s->heap_bytes + 1;
    if (n > GN_SPILL_MOST) n = GN_SPILL_MOST;
    GN_MEM(s->begin, n + 1);
    for (int64_t k = 1, v = 0; k < n; k++) {
        while (v < s->n_nodes && s->first[v] < s->n_edges / n * k) v++;
        s->begin[k] = v;
    }
    s->begin[n] = s->n_nodes;
    return gn_spill_new(beside, (int)n, sizeof(record), &s->spill);
}

gn_status *gn_edge_sort_begin(gn_edge_sort *s, const char *beside)
{
    for (int64_t v = 0; v < s->n_nodes; v++) s->first[v + 1] += s->first[v];
    s->n_edges = s->first[s->n_nodes];
    s->index = gn_graph_index_for(s->n_nodes, s->n_nodes, s->n_edges);
    return cut(s, beside);
}

gn_status *gn_edge_sort_put(gn_edge_sort *s, int64_t src, int64_t dst)
{
    int low = 0, high = s->spill.n - 1;
    while (low < high) { /* the last heap that begins at dst or before it */
        int mid = (low + high + 1) / 2;
        if (s->begin[mid] <= dst)
            low = mid;
        else
            high = mid - 1;
    }
    const record r = {(int32_t)src, (int32_t)dst};
    return gn_spill_put(&s->spill, low, &r);
}

static int by_source(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Sources of a heap's edges, by destination; and a part of them, or of their places, as they go
 * into the file. */
typedef struct sorted {
    int32_t *src;
    void *wide; /* [PART] of the file's elements */
} sorted;

/* While edges are placed the first of a row is where its next one goes: in the end, where the next
 * row begins. */
static gn_status *read_heap(gn_edge_sort *s, int k, sorted *to)
{
    record part[1024];
    int64_t all = gn_spill_count(&s->spill, k), base = s->first[s->begin[k]];
    for (int64_t done = 0, n; done < all; done += n) {
        n = all - done < 1024 ? all - done : 1024;
        GN_TRY(gn_spill_read(&s->spill, k, done, n, part));
        for (int64_t i = 0; i < n; i++) to->src[s->first[part[i].dst]++ - base] = part[i].src;
    }
    gn_spill_drop(&s->spill, k);
    for (int64_t v = s->begin[k + 1] - 1; v > s->begin[k]; v--) s->first[v] = s->first[v - 1];
    s->first[s->begin[k]] = base;
    for (int64_t v = s->begin[k]; v < s->begin[k + 1]; v++) {
        int64_t from = s->first[v] - base, end = s->first[v + 1] - base;
        qsort(to->src + from, (size_t)(end - from), sizeof *to->src, by_source);
    }
    return NULL;
}

/* The next edge's place among those out of its source, of which destinations ascend. */
static int64_t place(gn_edge_sort *s, int32_t src) { return s->first[src] + s->cursor[src]++; }

/* Sources, then places. */
static gn_status *write_heap(gn_edge_sort *s, const int array[2], int64_t n, const sorted *of)
{
    size_t size = gn_elem_size(s->index);
    for (int which = 0; which < 2; which++)
        for (int64_t done = 0, m; done < n; done += m) {
            const int32_t *src = of->src + done;
            m = n - done < PART ? n - done : PART;
            for (int64_t i = 0; i < m; i++)
                gn_index_set(of->wide, s->index, i, which ? place(s, src[i]) : src[i]);
            GN_TRY(gn_block_writer_put(s->out, array[which], of->wide, (size_t)m * size));
        }
    return NULL;
}

static gn_status *sort_heap(gn_edge_sort *s, int k, const int array[2], sorted *to)
{
    int64_t n = gn_spill_count(&s->spill, k);
    GN_TRY(read_heap(s, k, to));
    return write_heap(s, array, n, to);
}

static gn_status *write_rows(gn_edge_sort *s, int array, void *wide)
{
    for (int64_t done = 0, m; done <= s->n_nodes; done += m) {
        m = s->n_nodes + 1 - done < PART ? s->n_nodes + 1 - done : PART;
        for (int64_t i = 0; i < m; i++) gn_index_set(wide, s->index, i, s->first[done + i]);
        GN_TRY(gn_block_writer_put(s->out, array, wide, (size_t)m * gn_elem_size(s->index)));
    }
    return NULL;
}

static gn_status *write_all(gn_edge_sort *s, sorted *to)
{
    int array[GN_EDGES_ARRAYS];
    for (int k = 0; k < GN_EDGES_ARRAYS; k++) {
        char name[GN_ARRAY_NAME];
        const int64_t n = k == GN_EDGES_ROW_PTR ? s->n_nodes + 1 : s->n_edges;
        gn_edges_array_name(s->name, k, name);
        GN_TRY(gn_block_writer_add(s->out, name, s->index, 1, &n, &array[k]));
    }
    GN_TRY(write_rows(s, array[GN_EDGES_ROW_PTR], to->wide));
    for (int k = 0; k < s->spill.n; k++) GN_TRY(sort_heap(s, k, array + GN_EDGES_COL, to));
    return NULL;
}

gn_status *gn_edge_sort_end(gn_edge_sort *s)
{
    int64_t most = 0;
    for (int k = 0; k < s->spill.n; k++) {
        int64_t n = gn_spill_count(&s->spill, k);
        most = n > most ? n : most;
    }
    sorted to = {gn_mem_alloc(most, sizeof *to.src), gn_mem_alloc(PART, sizeof(int64_t))};
    gn_status *status = to.src && to.wide
                            ? write_all(s, &to)
                            : GN_ERROR(GN_ERR_NOMEM, "out of memory: a heap of %lld edges",
                                       (long long)most);
    free(to.src);
    free(to.wide);
    return status;
}
