/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * create.c - what creating and freeing windows costs; see suites.h.
 *
 * Beside it the host's MPI_Allgather of 64 bytes and MPI_Barrier, and the
 * system calls that a segment of the same size needs. Memory: how much private
 * and shared memory this process gains per window when many are open.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/rma/suites.h"

#define BYTES (64 << 10)
#define RECORD 64
#define MANY 256
#define MANY_SECONDS 2.0

struct create {
    struct bench *b;
    enum winmem_kind kind;
    char *memory;
    char *records;
};

static int nothing(void *arg)
{
    (void)arg;
    return MPI_SUCCESS;
}

static int make(struct create *c, MPI_Win *win)
{
    MPI_Comm all = c->b->all;
    void *base;

    switch (c->kind) {
    case WINMEM_ALLOCATE:
        return MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, all, &base, win);
    case WINMEM_SHARED:
        return MPI_Win_allocate_shared(BYTES, 1, MPI_INFO_NULL, all, &base, win);
    case WINMEM_DYNAMIC:
        return MPI_Win_create_dynamic(MPI_INFO_NULL, all, win);
    default:
        return MPI_Win_create(c->memory, BYTES, 1, MPI_INFO_NULL, all, win);
    }
}

static int run_create(void *arg, long n)
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        MPI_Win win;

        rc = make(arg, &win);
        if (!rc)
            rc = MPI_Win_free(&win);
    }
    return rc;
}

static int run_allgather(void *arg, long n)
{
    struct create *c = arg;
    char mine[RECORD] = "";
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        rc = MPI_Allgather(mine, RECORD, MPI_BYTE, c->records, RECORD, MPI_BYTE, c->b->all);
        if (!rc)
            rc = MPI_Barrier(c->b->all);
    }
    return rc;
}

/* A segment for all ranks: made, sized, mapped, the first page of each rank's
 * part touched, and undone. */
static int run_segment(void *arg, long n)
{
    struct create *c = arg;
    size_t size = (size_t)c->b->nprocs * BYTES;

    for (long i = 0; i < n; i++) {
        int fd = memfd_create("bench", MFD_CLOEXEC);
        char *at = MAP_FAILED;

        if (fd >= 0 && !ftruncate(fd, (off_t)size))
            at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED) {
            if (fd >= 0)
                close(fd);
            return MPI_ERR_NO_MEM;
        }
        for (int r = 0; r < c->b->nprocs; r++)
            at[(size_t)r * BYTES] = 1;
        munmap(at, size);
        close(fd);
    }
    return MPI_SUCCESS;
}

/* Returns the time in ns, the same on every rank; NaN when it failed. */
static double measure(struct create *c, const char *op, const char *kind,
                      int (*run)(void *arg, long n))
{
    struct result r = {.suite = "create", .op = op, .kind = kind, .sync = "", .size = BYTES};
    struct work w = {
        .begin = nothing, .run = run, .end = nothing, .arg = c, .per_run = 1, .all_time = true};

    bench_doing(c->b, "create, %s %s", op, kind);
    bench_measure(c->b, c->b->all, &w, &r);
    bench_keep(c->b, &r);
    if (c->b->rank == 0)
        results_lines(&c->b->results, "create", c->b->results.n - 1);
    return r.ns;
}

/* Kilobytes of this process's memory of one kind, from /proc/self/status. */
static long status_kb(const char *field)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kb = -1;

    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, field, strlen(field)))
            kb = strtol(line + strlen(field), NULL, 10);
    if (f)
        fclose(f);
    return kb;
}

static void memory(struct create *c, const char *kind, int many)
{
    MPI_Win win[MANY];
    long anon = status_kb("RssAnon:"), shared = status_kb("RssShmem:");
    char reason[160] = "";
    int n = 0, rc = MPI_SUCCESS;

    bench_doing(c->b, "create, memory, %s", kind);
    while (n < many) {
        rc = make(c, &win[n]);
        if (rc)
            host_error_text("creating a window", rc, reason, sizeof(reason));
        if (host_any_failed(c->b->all, rc != MPI_SUCCESS, reason, sizeof(reason)))
            break;
        n++;
    }
    if (c->b->rank == 0 && n)
        printf("  memory of rank 0 per open window of %d ranks: %.2f KiB private, %.2f KiB shared "
               "(%d open)\n",
               c->b->nprocs, (double)(status_kb("RssAnon:") - anon) / n,
               (double)(status_kb("RssShmem:") - shared) / n, n);
    if (c->b->rank == 0 && n < many)
        printf("  window %d could not be created: %s\n", n + 1, reason);
    while (n > 0)
        MPI_Win_free(&win[--n]);
}

void rma_create(struct bench *b)
{
    static const enum winmem_kind kinds[] = {WINMEM_MALLOC, WINMEM_ALLOCATE, WINMEM_SHARED,
                                             WINMEM_DYNAMIC};
    struct create c = {.b = b, .memory = calloc(1, BYTES)};

    c.records = malloc((size_t)b->nprocs * RECORD);
    if (!c.memory || !c.records)
        bench_wrong("no memory for the creation test");
    measure(&c, "allgather_barrier", "", run_allgather);
    measure(&c, "segment", "", run_segment);
    for (int k = 0; k < 4; k++) {
        c.kind = kinds[k];
        if (!(b->kinds >> c.kind & 1))
            continue;
        double ns = measure(&c, "window", winmem_name[c.kind], run_create);

        if (!isnan(ns)) {
            double fit = MANY_SECONDS * 1e9 / ns;

            memory(&c, winmem_name[c.kind], fit > MANY ? MANY : fit < 4 ? 4 : (int)fit);
        }
    }
    free(c.memory);
    free(c.records);
}
