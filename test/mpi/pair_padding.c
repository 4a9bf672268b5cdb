/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair_padding.c - pairs with padding (MPI_DOUBLE_INT and its kin) where only their data has room.
 *
 * A type's gaps are no part of the data (MPI 4.1, 5.1): what is accessed of n pairs ends with the
 * last one's location, and must fit into the window (12.3); the padding behind and inside them is
 * neither read nor written. So windows, origin and result buffers end right behind the last
 * location here, where possible at the end of a page that none follows, and the padding inside
 * keeps what it was, on every path.
 */
#include "mtcomm.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 3, TARGET_GAP = 0x5a, RESULT_GAP = 0x77 };

struct double_int {
    double value;
    int loc;
};
struct long_int {
    long value;
    int loc;
};
struct short_int {
    short value;
    int loc;
};
struct ld_int {
    long double value;
    int loc;
};

static void set_double(void *at, int v)
{
    double x = v;
    memcpy(at, &x, sizeof x);
}

static void set_long(void *at, int v)
{
    long x = v;
    memcpy(at, &x, sizeof x);
}

static void set_short(void *at, int v)
{
    short x = (short)v;
    memcpy(at, &x, sizeof x);
}

static void set_ld(void *at, int v)
{
    long double x = v;
    memcpy(at, &x, 10); /* the others are padding, too, but inside MPI_LONG_DOUBLE */
}

static const struct pair {
    const char *name;
    size_t extent, loc, value_size;
    void (*set)(void *at, int v);
} pairs[] = {
    {"MPI_DOUBLE_INT", sizeof(struct double_int), offsetof(struct double_int, loc), 8, set_double},
    {"MPI_LONG_INT", sizeof(struct long_int), offsetof(struct long_int, loc), 8, set_long},
    {"MPI_SHORT_INT", sizeof(struct short_int), offsetof(struct short_int, loc), 2, set_short},
    {"MPI_LONG_DOUBLE_INT", sizeof(struct ld_int), offsetof(struct ld_int, loc), 10, set_ld},
};

static MPI_Datatype type_of(const struct pair *p)
{
    const MPI_Datatype types[] = {MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT};
    return types[p - pairs];
}

static size_t span_of(const struct pair *p)
{
    return (N - 1) * p->extent + p->loc + sizeof(int);
}

/* n pairs (v, loc), (v + 1, loc + 1), ...; not the gaps. */
static void set_pairs(const struct pair *p, char *at, int n, int v, int loc)
{
    for (int i = 0; i < n; i++, at += p->extent, v++, loc++) {
        p->set(at, v);
        memcpy(at + p->loc, &loc, sizeof loc);
    }
}

/* The same in memory that had gap everywhere. */
static void expect(const struct pair *p, const char *at, int n, int gap, int v, int loc)
{
    char expected[N * sizeof(struct ld_int)];
    const size_t span = (size_t)(n - 1) * p->extent + p->loc + sizeof(int);

    memset(expected, gap, sizeof expected);
    set_pairs(p, expected, n, v, loc);
    if (p->value_size ==
        10) { /* of a long double the processor stores ten bytes, a copy may store sixteen */
        for (int i = 0; i < n; i++) {
            memcpy(expected + (size_t)i * p->extent + 10, at + (size_t)i * p->extent + 10, 6);
        }
    }
    CHECK_EQUAL(at, expected, span);
}

/* len bytes at the end of a page, and none behind it. */
struct guarded {
    char *map, *at;
    size_t page;
};

static void guarded_make(struct guarded *g, size_t len)
{
    g->page = (size_t)sysconf(_SC_PAGESIZE);
    g->map = mmap(NULL, 2 * g->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(g->map != MAP_FAILED && mprotect(g->map, g->page, PROT_READ | PROT_WRITE) == 0,
          "no memory");
    g->at = g->map + g->page - len;
}

static void guarded_free(struct guarded *g)
{
    munmap(g->map, 2 * g->page);
}

enum what { PUT, GET, ACC, ACC_STRIDED, GET_ACC, NO_OP, FETCH, WHATS };
static const char *const what_names[WHATS] = {"put",
                                              "get",
                                              "accumulate",
                                              "accumulate of a vector",
                                              "MAXLOC and fetch",
                                              "fetch alone",
                                              "fetch_and_op on the last"};

struct test {
    const struct pair *pair;
    MPI_Win win;
    char *base;
    struct guarded origin, result;
};

static void operate(struct test *t, enum what what, int target)
{
    const MPI_Datatype type = type_of(t->pair);
    MPI_Datatype vector;

    set_pairs(t->pair, t->origin.at, N, 50, 7);
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, t->win));
    switch (what) {
    case PUT:
        MT_OK(MPI_Put(t->origin.at, N, type, target, 0, N, type, t->win));
        break;
    case GET:
        MT_OK(MPI_Get(t->result.at, N, type, target, 0, N, type, t->win));
        break;
    case ACC:
        MT_OK(MPI_Accumulate(t->origin.at, N, type, target, 0, N, type, MPI_MAXLOC, t->win));
        break;
    case ACC_STRIDED: /* the first and the last */
        MPI_Type_vector(2, 1, N - 1, type, &vector);
        MPI_Type_commit(&vector);
        MT_OK(MPI_Accumulate(t->origin.at, 1, vector, target, 0, 1, vector, MPI_REPLACE, t->win));
        MPI_Type_free(&vector);
        break;
    case GET_ACC:
        MT_OK(MPI_Get_accumulate(t->origin.at, N, type, t->result.at, N, type, target, 0, N, type,
                                 MPI_MAXLOC, t->win));
        break;
    case NO_OP:
        MT_OK(MPI_Get_accumulate(NULL, 0, type, t->result.at, N, type, target, 0, N, type,
                                 MPI_NO_OP, t->win));
        break;
    default: {
        const size_t last = (N - 1) * t->pair->extent;
        MT_OK(MPI_Fetch_and_op(t->origin.at + last, t->result.at + last, type, target,
                               (MPI_Aint)last, MPI_REPLACE, t->win));
    }
    }
    MT_OK(MPI_Win_unlock(target, t->win));
}

static void check_result(struct test *t, enum what what)
{
    const size_t last = (N - 1) * t->pair->extent;

    if (what == FETCH) {
        expect(t->pair, t->result.at + last, 1, RESULT_GAP, 10 + N - 1, 100 + N - 1);
    } else if (what == GET || what == GET_ACC || what == NO_OP) {
        expect(t->pair, t->result.at, N, RESULT_GAP, 10, 100);
    }
}

static void check_target(struct test *t, enum what what)
{
    const struct pair *p = t->pair;
    char *at = t->base;

    if (what == PUT || what == ACC || what == GET_ACC) {
        expect(p, at, N, TARGET_GAP, 50, 7);
    } else if (what == ACC_STRIDED) {
        expect(p, at, 1, TARGET_GAP, 50, 7);
        expect(p, at + p->extent, 1, TARGET_GAP, 11, 101);
        expect(p, at + (N - 1) * p->extent, 1, TARGET_GAP, 50 + N - 1, 7 + N - 1);
    } else if (what == FETCH) {
        expect(p, at, N - 1, TARGET_GAP, 10, 100);
        expect(p, at + (N - 1) * p->extent, 1, TARGET_GAP, 50 + N - 1, 7 + N - 1);
    } else {
        expect(p, at, N, TARGET_GAP, 10, 100);
    }
}

static void every_operation(struct test *t, const char *memory)
{
    const size_t span = span_of(t->pair);

    guarded_make(&t->origin, span);
    guarded_make(&t->result, span);
    for (enum what what = 0; what < WHATS; what++) {
        mt_section("%s, %s, %s", t->pair->name, memory, what_names[what]);
        memset(t->base, TARGET_GAP, span);
        set_pairs(t->pair, t->base, N, 10, 100);
        memset(t->result.at, RESULT_GAP, span);
        MT_OK(MPI_Win_fence(0, t->win));
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, t->win));
        operate(t, what, (mt_rank + 1) % mt_size);
        MT_OK(MPI_Win_fence(0, t->win));
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, t->win));
        check_target(t, what);
        check_result(t, what);
    }
    guarded_free(&t->origin);
    guarded_free(&t->result);
}

static void in_guarded_memory(const struct pair *p)
{
    struct test t = {.pair = p};
    struct guarded memory;

    if (mt_path_is("mapped")) {
        return;
    }
    guarded_make(&memory, span_of(p));
    t.base = memory.at;
    if (MT_OK(MPI_Win_create(t.base, (MPI_Aint)span_of(p), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                             &t.win))) {
        MPI_Win_set_errhandler(t.win, MPI_ERRORS_RETURN);
        every_operation(&t, "at the end of a page");
        MT_OK(MPI_Win_free(&t.win));
    }
    guarded_free(&memory);
}

static void in_allocated_memory(const struct pair *p)
{
    struct test t = {.pair = p};

    if (MT_OK(MPI_Win_allocate((MPI_Aint)span_of(p), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &t.base,
                               &t.win))) {
        MPI_Win_set_errhandler(t.win, MPI_ERRORS_RETURN);
        every_operation(&t, "allocated");
        MT_OK(MPI_Win_free(&t.win));
    }
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        in_guarded_memory(&pairs[i]);
        in_allocated_memory(&pairs[i]);
    }
    return MT_FINISH();
}
