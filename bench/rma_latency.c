/*
 * rma_latency.c - put and get of every size, kind of window and
 * synchronization; see rma_suites.h.
 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anchors.h"
#include "rma_epochs.h"
#include "rma_suites.h"

static const char *const op_name[] = {"put", "get"};

struct latency {
    struct winmem w;
    unsigned char *buf;
    int size;
    bool get;
    unsigned seed;
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

static unsigned char byte_at(unsigned seed, size_t i)
{
    return (unsigned char)((i * 2654435761u >> 13) + i + seed * 37u);
}

static void fill(unsigned char *at, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        at[i] = byte_at(seed, i);
}

static void check(const struct latency *l, const struct result *r, const unsigned char *at)
{
    for (size_t i = 0; i < (size_t)l->size; i++)
        if (at[i] != byte_at(l->seed, i))
            bench_wrong("%s of %d bytes, %s, %s: byte %zu is 0x%02x, expected 0x%02x", r->op,
                        l->size, r->kind, r->sync, i, at[i], byte_at(l->seed, i));
}

/* Move new contents once and look at all of them. */
static void verify(struct bench *b, struct latency *l, struct epochs *e, const struct result *r)
{
    int rc = MPI_SUCCESS;

    l->seed++;
    if (b->rank == 0 && !l->get)
        fill(l->buf, (size_t)l->size, l->seed);
    if (b->rank == 1 && l->get) {
        rc = bench_own_begin(&l->w);
        fill((unsigned char *)l->w.base, (size_t)l->size, l->seed);
        rc = rc ? rc : bench_own_end(&l->w);
    }
    MPI_Barrier(b->pair);
    rc = rc ? rc : epochs_once(e);
    MPI_Barrier(b->pair);
    if (b->rank == 0 && l->get)
        check(l, r, l->buf);
    if (b->rank == 1 && !l->get) {
        rc = rc ? rc : bench_own_begin(&l->w);
        check(l, r, (unsigned char *)l->w.base);
        rc = rc ? rc : bench_own_end(&l->w);
    }
    if (rc)
        bench_wrong("%s of %d bytes, %s, %s: a call failed while checking", r->op, l->size, r->kind,
                    r->sync);
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

static void one_kind(struct bench *b, struct latency *l, const char *kind)
{
    for (int op = 0; op < 2; op++) {
        l->get = op == 1;
        for (int sync = 0; sync < SYNC_KINDS; sync++) {
            struct epochs e;

            epochs_init(&e, sync, l->w.win, b->pair, l->get ? run_get : run_put, l);
            for (int i = 0; i < b->sizes.n; i++) {
                struct result r = {.suite = "latency",
                                   .op = op_name[op],
                                   .kind = kind,
                                   .sync = sync_name[sync],
                                   .size = b->sizes.v[i]};
                struct work w = epochs_work(&e), beside;
                const char *anchor = anchor_of(l, sync, r.size);

                l->size = (int)r.size;
                if (anchor &&
                    anchor_work(b, anchor, strcmp(anchor, "cache_line") ? r.size : 0, &beside))
                    w.beside = &beside;
                bench_doing(b, "latency, %s, %s, %s, %zu bytes", r.op, kind, r.sync, r.size);
                bool ok = bench_measure(b, b->pair, &w, &r);

                if (ok)
                    verify(b, l, &e, &r);
                bench_keep(b, &r);
                if (!ok)
                    break;
            }
            epochs_free(&e);
        }
        if (b->rank == 0)
            results_table(&b->results, "latency", op_name[op], kind);
    }
}

void rma_latency(struct bench *b)
{
    struct latency l = {.seed = 1};
    size_t most = 1;

    for (int i = 0; i < b->sizes.n; i++)
        most = b->sizes.v[i] > most ? b->sizes.v[i] : most;
    void *buf = NULL;

    if (posix_memalign(&buf, 4096, most))
        bench_wrong("no memory for %zu bytes", most);
    memset(buf, 0, most);
    l.buf = buf;
    for (int kind = 0; kind < WINMEM_KINDS; kind++) {
        if (!(b->kinds >> kind & 1))
            continue;
        if (bench_window(b, &l.w, kind, most, b->pair, "latency", "put")) {
            one_kind(b, &l, winmem_name[kind]);
            winmem_close(&l.w);
        } else if (b->rank == 0) {
            results_table(&b->results, "latency", "put", winmem_name[kind]);
        }
    }
    free(buf);
}
