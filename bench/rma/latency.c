/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * latency.c - put and get of every size, kind of window and synchronization: one operation an
 * epoch, and as many as the papers put into one; see suites.h.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/rma/anchors.h"
#include "bench/rma/epochs.h"
#include "bench/rma/messages.h"
#include "bench/rma/pattern.h"
#include "bench/rma/suites.h"

static const char *const op_name[] = {"put", "get"};

#define MANY 32
#define MANY_BYTES (1 << 20) /* the largest operation of which there are so many */

struct latency {
    const char *suite;
    struct winmem w;
    char *buf;
    int size;
    int ops; /* of an epoch, each with a place of its own */
    bool get;
    unsigned seed;
    struct messages messages;
};

static int one_put(void *arg)
{
    struct latency *l = arg;

    return MPI_Put(l->buf, l->size, MPI_BYTE, 1, l->w.disp[1], l->size, MPI_BYTE, l->w.win);
}

static int one_get(void *arg)
{
    struct latency *l = arg;

    return MPI_Get(l->buf, l->size, MPI_BYTE, 1, l->w.disp[1], l->size, MPI_BYTE, l->w.win);
}

static int run_put(void *epochs, long n)
{
    return epochs_loop(epochs, n, one_put);
}

static int run_get(void *epochs, long n)
{
    return epochs_loop(epochs, n, one_get);
}

static int many_puts(void *arg)
{
    struct latency *l = arg;
    int rc = MPI_SUCCESS;

    for (int i = 0; i < MANY && !rc; i++) {
        const MPI_Aint at = (MPI_Aint)i * l->size;

        rc = MPI_Put(l->buf + at, l->size, MPI_BYTE, 1, l->w.disp[1] + at, l->size, MPI_BYTE,
                     l->w.win);
    }
    return rc;
}

static int many_gets(void *arg)
{
    struct latency *l = arg;
    int rc = MPI_SUCCESS;

    for (int i = 0; i < MANY && !rc; i++) {
        const MPI_Aint at = (MPI_Aint)i * l->size;

        rc = MPI_Get(l->buf + at, l->size, MPI_BYTE, 1, l->w.disp[1] + at, l->size, MPI_BYTE,
                     l->w.win);
    }
    return rc;
}

static int run_puts(void *epochs, long n)
{
    return epochs_loop(epochs, n, many_puts);
}

static int run_gets(void *epochs, long n)
{
    return epochs_loop(epochs, n, many_gets);
}

static size_t epoch_bytes(const struct latency *l)
{
    return (size_t)l->ops * (size_t)l->size;
}

static void check(const struct latency *l, const struct result *r, const char *at)
{
    const size_t wrong = pattern_check(at, epoch_bytes(l), l->seed);

    if (wrong < epoch_bytes(l))
        bench_wrong("%s, %s of %d bytes, %s, %s: byte %zu is wrong", r->suite, r->op, l->size,
                    r->kind, r->sync, wrong);
}

/* Move new contents once and look at all of them. */
static void verify(struct bench *b, struct latency *l, struct epochs *e, const struct result *r)
{
    int rc = MPI_SUCCESS;

    l->seed++;
    if (b->rank == 0 && !l->get)
        pattern_fill(l->buf, epoch_bytes(l), l->seed);
    if (b->rank == 1 && l->get) {
        rc = bench_own_begin(&l->w);
        pattern_fill(l->w.base, epoch_bytes(l), l->seed);
        rc = rc ? rc : bench_own_end(&l->w);
    }
    MPI_Barrier(b->pair);
    rc = rc ? rc : epochs_once(e);
    MPI_Barrier(b->pair);
    if (b->rank == 0 && l->get)
        check(l, r, l->buf);
    if (b->rank == 1 && !l->get) {
        rc = rc ? rc : bench_own_begin(&l->w);
        check(l, r, l->w.base);
        rc = rc ? rc : bench_own_end(&l->w);
    }
    if (rc)
        bench_wrong("%s, %s of %d bytes, %s, %s: a call failed while checking", r->suite, r->op,
                    l->size, r->kind, r->sync);
    MPI_Barrier(b->pair);
}

/* The anchor that a goal holds this against, or NULL. */
static const char *anchor_of(const struct latency *l, enum sync_kind sync, size_t size)
{
    bool mapped = l->w.kind != WINMEM_MALLOC && l->w.kind != WINMEM_DYNAMIC;

    if (sync == SYNC_PSCW || sync == SYNC_FENCE)
        return mapped && size == 8 && !l->get ? "cache_line" : NULL;
    if (sync != SYNC_LOCK_ALL)
        return NULL;
    if (mapped)
        return size >= 64 << 10 ? "memcpy" : NULL;
    return size < 256 << 10 ? NULL : l->get ? "cma_read" : "cma_write";
}

/* What a measurement stands beside: an anchor, or send and receive of the same bytes. */
static bool work_beside(struct bench *b, struct latency *l, enum sync_kind sync, size_t size,
                        struct work *out)
{
    const char *anchor;

    if (l->ops > 1) {
        l->messages = (struct messages){.comm = b->pair,
                                        .buf = b->rank ? l->w.base : l->buf,
                                        .peer = 1 - b->rank,
                                        .count = MANY,
                                        .size = l->size,
                                        .sends = b->rank == 0};
        *out = messages_work(&l->messages);
        return true;
    }
    anchor = anchor_of(l, sync, size);
    return anchor && anchor_work(b, anchor, strcmp(anchor, "cache_line") ? size : 0, out);
}

static void one_size(struct bench *b, struct latency *l, struct epochs *e, struct result *r)
{
    struct work w = epochs_work(e), beside;

    l->size = (int)r->size;
    w.per_run *= l->ops;
    if (work_beside(b, l, e->sync, r->size, &beside))
        w.beside = &beside;
    bench_doing(b, "%s, %s, %s, %s, %zu bytes", r->suite, r->op, r->kind, r->sync, r->size);
    if (bench_measure(b, b->pair, &w, r))
        verify(b, l, e, r);
    bench_keep(b, r);
}

static void one_kind(struct bench *b, struct latency *l, const char *kind)
{
    int (*const run[2][2])(void *, long) = {{run_put, run_get}, {run_puts, run_gets}};

    for (int op = 0; op < 2; op++) {
        l->get = op == 1;
        for (int sync = 0; sync < SYNC_KINDS; sync++) {
            struct epochs e;
            bool ok = true;

            if (l->ops > 1 && (sync == SYNC_FLUSH || sync == SYNC_BURST))
                continue;
            epochs_init(&e, sync, l->w.win, b->pair, run[l->ops > 1][op], l);
            for (int i = 0; i < b->sizes.n && ok; i++) {
                struct result r = {.suite = l->suite,
                                   .op = op_name[op],
                                   .kind = kind,
                                   .sync = sync_name[sync],
                                   .size = b->sizes.v[i]};

                if (l->ops > 1 && r.size > MANY_BYTES)
                    continue;
                one_size(b, l, &e, &r);
                ok = !isnan(r.ns);
            }
            epochs_free(&e);
        }
        if (b->rank == 0)
            results_table(&b->results, l->suite, op_name[op], kind);
    }
}

/* The window's memory, and as much of the origin's. */
static size_t room(const struct bench *b, const struct latency *l)
{
    size_t most = 1;

    for (int i = 0; i < b->sizes.n; i++)
        if (b->sizes.v[i] > most && (l->ops == 1 || b->sizes.v[i] <= MANY_BYTES))
            most = b->sizes.v[i];
    return most * (size_t)l->ops;
}

static void all_kinds(struct bench *b, struct latency *l, unsigned kinds)
{
    const size_t most = room(b, l);
    void *buf = NULL;

    if (posix_memalign(&buf, 4096, most))
        bench_wrong("no memory for %zu bytes", most);
    memset(buf, 0, most);
    l->buf = buf;
    for (int kind = 0; kind < WINMEM_KINDS; kind++) {
        if (!(b->kinds & kinds & 1u << kind))
            continue;
        if (bench_window(b, &l->w, kind, most, b->pair, l->suite, "put")) {
            one_kind(b, l, winmem_name[kind]);
            winmem_close(&l->w);
        } else if (b->rank == 0) {
            results_table(&b->results, l->suite, "put", winmem_name[kind]);
        }
    }
    free(buf);
}

void rma_latency(struct bench *b)
{
    struct latency l = {.suite = "latency", .ops = 1, .seed = 1};

    all_kinds(b, &l, ~0u);
}

void rma_bandwidth(struct bench *b)
{
    struct latency l = {.suite = "bw", .ops = MANY, .seed = 1};

    all_kinds(b, &l, 1u << WINMEM_MALLOC | 1u << WINMEM_ALLOCATE);
}
