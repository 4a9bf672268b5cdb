/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.c - what memory of MPI_Alloc_mem and of windows costs; see suites.h.
 *
 * Beside each the same with malloc. The first touch is of memory that neither malloc nor anybody
 * else is likely to keep when it is freed; a page is 4 KiB in the figures, whatever the system has.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/clock.h"
#include "bench/rma/suites.h"

#define PAGE 4096
#define TOUCHED ((size_t)128 << 20)
#define USED ((size_t)64 << 20)

static const size_t sizes[] = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 42 << 20, 256 << 20, 1 << 30};

struct memory {
    struct bench *b;
    bool mpi; /* MPI_Alloc_mem, else malloc */
    MPI_Info info;
    size_t size;
    char *at;   /* of use_memory */
    size_t sum; /* so that nothing is left out */
};

static int nothing(void *arg)
{
    (void)arg;
    return MPI_SUCCESS;
}

static int get(struct memory *m, char **at)
{
    if (m->mpi)
        return MPI_Alloc_mem((MPI_Aint)m->size, m->info, at);
    *at = malloc(m->size);
    return *at ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int put_back(struct memory *m, char *at)
{
    if (m->mpi)
        return MPI_Free_mem(at);
    free(at);
    return MPI_SUCCESS;
}

/* A store that the compiler leaves alone, also before free. */
static void store(char *at)
{
    *(volatile char *)at = 1;
}

static int run_alloc(void *arg, long n)
{
    struct memory *m = arg;
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        char *at;
        rc = get(m, &at);
        if (!rc) {
            store(at);
            rc = put_back(m, at);
        }
    }
    return rc;
}

static int run_touch(void *arg, long n)
{
    struct memory *m = arg;
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        char *at;
        rc = get(m, &at);
        if (rc)
            break;
        for (size_t p = 0; p < m->size; p += PAGE)
            store(at + p);
        rc = put_back(m, at);
    }
    return rc;
}

static int run_stream(void *arg, long n)
{
    struct memory *m = arg;
    const long *v = (const long *)(void *)m->at;
    size_t sum = 0;

    for (long i = 0; i < n; i++)
        for (size_t k = 0; k < m->size / sizeof(*v); k++)
            sum += (size_t)v[k];
    m->sum += sum;
    return MPI_SUCCESS;
}

/* Each address follows from what was read before. */
static int run_random(void *arg, long n)
{
    struct memory *m = arg;
    size_t at = m->sum;

    for (long i = 0; i < n; i++) {
        at = at * 6364136223846793005u + 1442695040888963407u;
        at += (size_t)m->at[(at >> 20) % m->size];
    }
    m->sum = at;
    return MPI_SUCCESS;
}

static int run_window(void *arg, long n)
{
    struct memory *m = arg;
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        MPI_Win win;
        char *base;
        rc = MPI_Win_allocate((MPI_Aint)m->size, 1, MPI_INFO_NULL, m->b->all, &base, &win);
        if (!rc) {
            store(base);
            rc = MPI_Win_free(&win);
        }
    }
    return rc;
}

static void measure(struct memory *m, const char *op, const char *kind, int per_run,
                    int (*run)(void *arg, long n))
{
    struct result r = {.suite = "memory", .op = op, .kind = kind, .sync = "", .size = m->size};
    struct work w = {.begin = nothing,
                     .run = run,
                     .end = nothing,
                     .arg = m,
                     .per_run = per_run,
                     .all_time = true};

    bench_doing(m->b, "memory, %s %s, %zu bytes", op, kind, m->size);
    bench_measure(m->b, m->b->all, &w, &r);
    bench_keep(m->b, &r);
    if (m->b->rank == 0)
        results_lines(&m->b->results, "memory", m->b->results.n - 1);
}

/* Memory that is in use: filled, then read. */
static void use_memory(struct memory *m, const char *stream, const char *random, const char *kind)
{
    m->size = USED;
    if (get(m, &m->at))
        bench_wrong("no memory for the memory test");
    memset(m->at, 1, m->size);
    measure(m, stream, kind, (int)(m->size / PAGE), run_stream);
    measure(m, random, kind, 1, run_random);
    for (size_t i = 0; i < m->size; i++)
        if (m->at[i] != 1)
            bench_wrong("memory changed at byte %zu", i);
    put_back(m, m->at);
}

static void all_of(struct memory *m, bool mpi)
{
    const char *kind = mpi ? "alloc_mem" : "";

    m->mpi = mpi;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        m->size = sizes[i];
        measure(m, mpi ? "alloc_free" : "malloc_free", kind, 1, run_alloc);
    }
    m->size = TOUCHED;
    measure(m, mpi ? "first_touch" : "malloc_first_touch", kind, (int)(TOUCHED / PAGE), run_touch);
    use_memory(m, mpi ? "stream" : "malloc_stream", mpi ? "random" : "malloc_random", kind);
}

/* Keep the time since began of a call that can be measured only once in a run: the slowest
 * rank's. */
static void keep_first(struct bench *b, const char *op, const char *kind, double began, int rc)
{
    double mine = rc ? NAN : clock_ns() - began, most = NAN;
    struct result r = {.suite = "memory", .op = op, .kind = kind, .sync = "", .size = PAGE};
    int failed = rc != MPI_SUCCESS, any = 0;

    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, b->all);
    if (any)
        snprintf(r.note, sizeof(r.note), "the call failed");
    else
        MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, b->all);
    r.ns = r.min = r.max = most;
    bench_keep(b, &r);
    if (b->rank == 0)
        results_lines(&b->results, "memory", b->results.n - 1);
}

void rma_memory_first(struct bench *b)
{
    MPI_Win win = MPI_WIN_NULL;
    char *at = NULL, *base = NULL;

    bench_doing(b, "memory, the first calls");
    MPI_Barrier(b->all);
    double began = clock_ns();
    int rc = MPI_Alloc_mem(PAGE, MPI_INFO_NULL, &at);
    if (!rc)
        store(at);
    keep_first(b, "first_alloc", "alloc_mem", began, rc);
    if (!rc)
        MPI_Free_mem(at);
    MPI_Barrier(b->all);
    began = clock_ns();
    rc = MPI_Win_allocate(PAGE, 1, MPI_INFO_NULL, b->all, &base, &win);
    if (!rc)
        store(base);
    keep_first(b, "first_window", "allocate", began, rc);
    if (!rc)
        MPI_Win_free(&win);
}

void rma_memory(struct bench *b)
{
    struct memory m = {.b = b, .info = MPI_INFO_NULL};

    all_of(&m, false);
    all_of(&m, true);
    MPI_Info_create(&m.info);
    MPI_Info_set(m.info, "mpirma_populate", "true");
    m.size = TOUCHED;
    measure(&m, "first_touch", "populated", (int)(TOUCHED / PAGE), run_touch);
    use_memory(&m, "stream", "random", "populated");
    MPI_Info_free(&m.info);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        m.size = sizes[i];
        measure(&m, "window", "allocate", 1, run_window);
    }
}
