/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending.c - epochs beside pending messages; suites.h.
 *
 * "epoch": both ranks go through epochs of a put of 8 bytes while rank 0 has a receive posted that
 * is matched when all are over: what it costs that waits let the MPI library make progress for it.
 * "message": rank 1 sends, blocking, to rank 0, which has a receive posted and waits in the call
 * that ends the epoch (MPI 4.1, 2.9); beside it the same message where rank 0 waits in MPI_Wait
 * first. Where a library makes no progress, that does not end.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdlib.h>

#include "bench/rma/pattern.h"
#include "bench/rma/suites.h"

enum { TAG = 21, MAX_SIZE = 1 << 20 };

struct beside {
    struct bench *b;
    struct winmem w;
    MPI_Group peer;
    char *buf;
    int size; /* of the message; 0: there is none */
    unsigned seed;
    MPI_Request request;
};

/* ---- an epoch: a put by rank 1, for which rank 0 waits ---- */

static int put(struct beside *s)
{
    static const double value = 1;

    return MPI_Put(&value, 1, MPI_DOUBLE, 0, s->w.disp[0], 1, MPI_DOUBLE, s->w.win);
}

static int fence(struct beside *s)
{
    const int rc = s->b->rank == 1 ? put(s) : MPI_SUCCESS;

    return rc ? rc : MPI_Win_fence(0, s->w.win);
}

static int pscw(struct beside *s)
{
    int rc;

    if (s->b->rank == 0) {
        rc = MPI_Win_post(s->peer, 0, s->w.win);
        return rc ? rc : MPI_Win_wait(s->w.win);
    }
    rc = MPI_Win_start(s->peer, 0, s->w.win);
    rc = rc ? rc : put(s);
    return rc ? rc : MPI_Win_complete(s->w.win);
}

static int start(struct beside *s)
{
    s->request = MPI_REQUEST_NULL;
    return s->size && s->b->rank == 0
               ? MPI_Irecv(s->buf, s->size, MPI_BYTE, 1, TAG, s->b->pair, &s->request)
               : MPI_SUCCESS;
}

static int send(struct beside *s)
{
    return s->size && s->b->rank == 1 ? MPI_Send(s->buf, s->size, MPI_BYTE, 0, TAG, s->b->pair)
                                      : MPI_SUCCESS;
}

static int complete(struct beside *s)
{
    return MPI_Wait(&s->request, MPI_STATUS_IGNORE);
}

/* ---- what is measured ---- */

static int begin(void *arg)
{
    return start(arg);
}

static int end(void *arg)
{
    const int rc = send(arg);

    return rc ? rc : complete(arg);
}

static int nothing(void *arg)
{
    (void)arg;
    return MPI_SUCCESS;
}

static inline __attribute__((always_inline)) int epochs(struct beside *s, long n,
                                                        int (*epoch)(struct beside *s))
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++)
        rc = epoch(s);
    return rc;
}

/* waits_first: rank 0 waits for the message before it comes to the epoch. */
static inline __attribute__((always_inline)) int messages(struct beside *s, long n,
                                                          int (*epoch)(struct beside *s),
                                                          bool waits_first)
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        rc = start(s);
        rc = rc ? rc : send(s);
        if (waits_first)
            rc = rc ? rc : complete(s);
        rc = rc ? rc : epoch(s);
        rc = rc ? rc : complete(s);
    }
    return rc;
}

#define RUN(epoch)                                      \
    static int run_##epoch(void *arg, long n)           \
    {                                                   \
        return epochs(arg, n, epoch);                   \
    }                                                   \
    static int run_message_##epoch(void *arg, long n)   \
    {                                                   \
        return messages(arg, n, epoch, false);          \
    }                                                   \
    static int run_wait_then_##epoch(void *arg, long n) \
    {                                                   \
        return messages(arg, n, epoch, true);           \
    }
RUN(fence)
RUN(pscw)

/* The first and the last fence. */
static void fence_around(struct beside *s, int assert)
{
    MPI_Win_fence(assert, s->w.win);
}

static void nothing_around(struct beside *s, int assert)
{
    (void)s, (void)assert;
}

static const struct {
    const char *sync;
    void (*around)(struct beside *s, int assert);
    int (*epoch)(void *arg, long n), (*message)(void *arg, long n), (*wait_then)(void *arg, long n);
} syncs[] = {{"fence", fence_around, run_fence, run_message_fence, run_wait_then_fence},
             {"pscw", nothing_around, run_pscw, run_message_pscw, run_wait_then_pscw}};
enum { SYNCS = sizeof syncs / sizeof syncs[0] };

static void keep(struct beside *s, const char *op, const char *sync, const struct work *w)
{
    struct result r = {.suite = "pending",
                       .op = op,
                       .kind = winmem_name[s->w.kind],
                       .sync = sync,
                       .size = (size_t)s->size,
                       .ns = NAN,
                       .min = NAN,
                       .max = NAN};

    bench_doing(s->b, "pending, %s, %s, %s, %d bytes", op, r.kind, sync, s->size);
    (void)bench_measure(s->b, s->b->pair, w, &r);
    bench_keep(s->b, &r);
}

static void check(const struct beside *s)
{
    const size_t wrong =
        s->b->rank == 0 ? pattern_check(s->buf, (size_t)s->size, s->seed) : (size_t)s->size;

    if (wrong < (size_t)s->size)
        bench_wrong("pending, %d bytes: byte %zu is wrong", s->size, wrong);
}

static void one_size(struct beside *s, int size)
{
    s->size = size;
    s->seed++;
    if (s->b->rank == 1)
        pattern_fill(s->buf, (size_t)size, s->seed);
    for (int i = 0; i < SYNCS; i++) {
        struct work w = {begin, syncs[i].epoch, end, s, 1, false, NULL};

        syncs[i].around(s, MPI_MODE_NOPRECEDE);
        keep(s, "epoch", syncs[i].sync, &w);
        if (size) {
            check(s);
            w = (struct work){nothing, syncs[i].wait_then, nothing, s, 1, false, NULL};
            keep(s, "message_waited_for", syncs[i].sync, &w);
            w.run = syncs[i].message;
            keep(s, "message", syncs[i].sync, &w);
            check(s);
        }
        syncs[i].around(s, MPI_MODE_NOSUCCEED);
    }
}

void rma_pending(struct bench *b)
{
    static const int sizes[] = {0, 4 << 10, 64 << 10, MAX_SIZE};
    static const char *const ops[] = {"epoch", "message", "message_waited_for"};
    struct beside s = {.b = b};
    MPI_Group both;
    int peer = 1 - b->rank;

    s.buf = malloc(MAX_SIZE);
    if (!s.buf)
        bench_wrong("no memory for pending messages");
    MPI_Comm_group(b->pair, &both);
    MPI_Group_incl(both, 1, &peer, &s.peer);
    MPI_Group_free(&both);
    if (bench_window(b, &s.w, WINMEM_ALLOCATE, sizeof(double), b->pair, "pending", "epoch")) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            one_size(&s, sizes[i]);
        for (size_t i = 0; i < sizeof ops / sizeof ops[0] && b->rank == 0; i++)
            results_table(&b->results, "pending", ops[i], winmem_name[WINMEM_ALLOCATE]);
        winmem_close(&s.w);
    }
    MPI_Group_free(&s.peer);
    free(s.buf);
}
