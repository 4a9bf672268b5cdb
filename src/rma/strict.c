/*
 * strict.c - the checks of MPIRMA_STRICT=1.
 *
 * Conflicts: this process's accesses to one target since its epoch there began, or
 * since the last flush. A local flush completes what only reads. Gets with a
 * request are looked up but not kept, for their completion is not seen here.
 * same_op is the user's promise and always checked; same_op_no_op is the default
 * and held against operations only where accumulate_ordering does not order them,
 * for ordered ones are not concurrent.
 *
 * MPI_MODE_NOPUT: the target says so in its control block before anybody may access
 * it, and direct origins look there; for packets the target looks itself.
 *
 *   target                              origin
 *   A: noput_phase, noput_post          post or fence seen (acquire)
 *   post, fence's barrier (release)     B: reads them, knows A
 *
 * MPI_MODE_NOSTORE: decided only for a fence that ends an epoch of NOPUT: whatever
 * has changed since was stored locally. Not where somebody else may store without
 * this library's knowledge: other windows over the memory, shared memory.
 * MPI_MODE_NOCHECK: holders are counted in the control block, those that did not
 * check included, in the single order of these operations.
 *
 * Not decided: accesses of different origins, loads and stores against operations,
 * MPI_MODE_NOCHECK of MPI_Win_start and MPI_Win_post, NOCHECK and locks of packet
 * targets, MPI_MODE_NOSTORE of MPI_Win_post.
 */
#include "rma/strict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "ch3/pkt.h"
#include "rma/win.h"

/* One for every rank of the window, used or not: this mode is to find mistakes with (user guide). */
struct strict_target {
    struct strict_ranges ranges;
    uint64_t held; /* what this process has added to the target's strict_locks */
    bool exclusive, nocheck;
};

struct strict {
    pthread_mutex_t mutex; /* ranges, issued, told */
    bool issued;           /* operations since the last fence, in its epoch */
    bool told;             /* that the checks are incomplete, in this epoch */
    bool nocheck;          /* of lock_all */
    bool summed;           /* sum is that of the window when an epoch of NOPUT began */
    uint64_t sum, windows; /* and so many windows had been made then */
    struct strict_target target[];
};

#define EXCLUSIVE (UINT64_C(1) << 32)

int strict_new(struct win *w)
{
    struct strict *s = calloc(1, sizeof *s + (size_t)w->nproc * sizeof *s->target);
    if (!s)
        return MRMA_ERR_NO_MEM;
    pthread_mutex_init(&s->mutex, NULL);
    w->strict = s;
    return MRMA_SUCCESS;
}

void strict_free(struct win *w)
{
    struct strict *s = w->strict;
    w->strict = NULL;
    if (!s)
        return;
    for (int i = 0; i < w->nproc; i++)
        strict_ranges_free(&s->target[i].ranges);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

/* ---- operations ---- */

static bool updates(enum strict_kind kind, unsigned op)
{
    return kind == STRICT_PUT || (kind == STRICT_ACC && op != ACC_NO_OP);
}

/* In words for messages, e.g. "accumulate (sum)". */
static const char *describe(unsigned kind, unsigned op, char *buf, size_t len)
{
    if (kind != STRICT_ACC)
        return kind == STRICT_PUT ? "put" : "get";
    if (op == ACC_OP_NONE)
        return "compare-and-swap";
    snprintf(buf, len, "accumulate (%s)", acc_op_name((enum acc_op)op));
    return buf;
}

static bool in_fence_epoch(const struct win *w)
{
    return epoch_now(&w->epoch) == EPOCH_FENCE || epoch_now(&w->epoch) == EPOCH_FENCE_USED;
}

static int check_noput(const struct win *w, const struct rma_target *t, enum strict_kind kind, unsigned op)
{
    bool noput = false;
    if (!t->direct || !updates(kind, op))
        return MRMA_SUCCESS;
    if (in_fence_epoch(w))
        noput = w->phase &&
                atomic_load_explicit(&t->ctl->noput_phase[w->phase & 1], memory_order_relaxed) == w->phase;
    else if (epoch_now(&w->epoch) == EPOCH_PSCW)
        noput = atomic_load_explicit(&t->ctl->noput_post, memory_order_relaxed);
    if (!noput)
        return MRMA_SUCCESS;
    char name[40];
    return log_fail(w->rma->log, MRMA_ERR_ASSERT, "window %u: %s to rank %d, which has given MPI_MODE_NOPUT",
                    w->index, describe(kind, op, name, sizeof name), t->rank);
}

int strict_arrival(const struct win *w, unsigned kind, unsigned op, unsigned epoch)
{
    const bool noput = epoch == PKT_EPOCH_FENCE  ? w->fence_noput
                       : epoch == PKT_EPOCH_PSCW ? w->epoch.exposed && w->post_noput
                                                 : false;
    if (!noput || kind == PKT_OP_GET || (op == ACC_NO_OP && (kind == PKT_OP_ACC || kind == PKT_OP_GET_ACC)))
        return MRMA_SUCCESS;
    return log_fail(w->rma->log, MRMA_ERR_ASSERT,
                    "window %u: rank %d has given MPI_MODE_NOPUT, but a %s came", w->index, w->rank,
                    kind == PKT_OP_PUT ? "put" : "accumulate");
}

static int check_hints(const struct win *w, enum strict_kind kind, unsigned op)
{
    char name[40];
    if (kind != STRICT_ACC || w->hints.which_ops >> op & 1)
        return MRMA_SUCCESS;
    return log_fail(w->rma->log, MRMA_ERR_OP, "window %u: %s is not in which_accumulate_ops", w->index,
                    describe(kind, op, name, sizeof name));
}

static enum strict_same same_rule(const struct win_hints *h)
{
    if (h->same_op)
        return STRICT_SAME_OP;
    return h->ordering & WIN_ORDER_WAW ? STRICT_SAME_TYPE : STRICT_SAME_OP_NO_OP;
}

static int conflict(const struct win *w, int rank, const struct strict_access *a,
                    const struct strict_access *old)
{
    char mine[40], theirs[40];
    const uint64_t lo = a->lo > old->lo ? a->lo : old->lo, hi = a->hi < old->hi ? a->hi : old->hi;
    return log_fail(
        w->rma->log, MRMA_ERR_RMA_CONFLICT,
        "window %u, target %d: %s (%s) of bytes %llu to %llu conflicts with an earlier %s (%s) in this epoch",
        w->index, rank, describe(a->kind, a->op, mine, sizeof mine),
        a->kind == STRICT_ACC ? acc_type_name((enum acc_type)a->basic) : "bytes", (unsigned long long)lo,
        (unsigned long long)hi - 1, describe(old->kind, old->op, theirs, sizeof theirs),
        old->kind == STRICT_ACC ? acc_type_name((enum acc_type)old->basic) : "bytes");
}

/* The next piece of the target side: false at its end. */
static bool next_piece(struct dtype_cursor *cur, int64_t offset, struct strict_access *a)
{
    ptrdiff_t disp;
    const size_t n = dtype_cursor_next(cur, SIZE_MAX, &disp);
    a->lo = (uint64_t)(offset + disp);
    a->hi = a->lo + n;
    return n != 0;
}

static int check_conflict(struct win *w, int rank, const struct rma_op *op, int64_t offset,
                          struct strict_access a)
{
    struct strict_ranges *ranges = &w->strict->target[rank].ranges;
    const enum strict_same same = same_rule(&w->hints);
    struct dtype_cursor cur;
    dtype_cursor_init(&cur, op->ttype, op->tcount, DTYPE_BYTES);
    while (next_piece(&cur, offset, &a)) {
        const struct strict_access *old = strict_ranges_conflict(ranges, &a, same);
        if (old)
            return conflict(w, rank, &a, old);
    }
    return MRMA_SUCCESS;
}

static void remember(struct win *w, int rank, const struct rma_op *op, int64_t offset, struct strict_access a)
{
    struct strict *s = w->strict;
    struct strict_ranges *ranges = &s->target[rank].ranges;
    struct dtype_cursor cur;
    if (op->req && !updates((enum strict_kind)a.kind, a.op))
        return;
    dtype_cursor_init(&cur, op->ttype, op->tcount, DTYPE_BYTES);
    while (!ranges->incomplete && next_piece(&cur, offset, &a))
        strict_ranges_add(ranges, a);
    if (ranges->incomplete && !s->told) {
        s->told = true;
        log_msg(w->rma->log, LOG_LEVEL_WARN,
                "window %u, target %d: too many accesses to keep, conflicts with later ones "
                "are not found in this epoch",
                w->index, rank);
    }
}

int strict_op(struct win *w, struct rma_target *t, enum strict_kind kind, const struct rma_op *op,
              int64_t offset)
{
    struct strict *s = w->strict;
    const int rank = t->rank;
    const unsigned acc_op = kind == STRICT_ACC ? op->op : ACC_OP_NONE;
    const struct strict_access a = {.kind = (uint8_t)kind,
                                    .op = (uint8_t)acc_op,
                                    .basic = kind == STRICT_ACC ? op->ttype->basic : ACC_NONE};
    int err = check_hints(w, kind, acc_op);
    if (err || !op->tcount || !op->ttype->size)
        return err;
    err = check_noput(w, t, kind, acc_op);
    if (err)
        return err;
    pthread_mutex_lock(&s->mutex);
    err = check_conflict(w, rank, op, offset, a);
    if (!err) {
        remember(w, rank, op, offset, a);
        s->issued |= in_fence_epoch(w);
    }
    pthread_mutex_unlock(&s->mutex);
    return err;
}

static void for_targets(struct win *w, const struct rma_target *t, void (*f)(struct strict_ranges *))
{
    struct strict *s = w->strict;
    pthread_mutex_lock(&s->mutex);
    const int first = t ? t->rank : 0, end = t ? t->rank + 1 : w->nproc;
    for (int i = first; i < end; i++)
        f(&s->target[i].ranges);
    s->told &= t != NULL;
    pthread_mutex_unlock(&s->mutex);
}

void strict_completed(struct win *w, struct rma_target *t)
{
    for_targets(w, t, strict_ranges_clear);
}

void strict_completed_local(struct win *w, struct rma_target *t)
{
    for_targets(w, t, strict_ranges_drop_reads);
}

/* ---- what active target synchronization asserts ---- */

/* Can only this process's stores and this window's operations change its memory? */
static bool memory_is_alone(struct win *w)
{
    struct rma *r = w->rma;
    const uintptr_t lo = (uintptr_t)w->base, hi = lo + w->size;
    bool alone = !w->dynamic && w->base && w->size && w->flavor != WIN_ALLOCATE_SHARED &&
                 !atomic_load_explicit(&w->ctl->queried, memory_order_relaxed);
    rma_enter(r);
    for (uint32_t i = 0; alone && i < r->nwins; i++) {
        const struct win *v = r->wins[i];
        if (v && v != w)
            alone = !v->dynamic && ((uintptr_t)v->base >= hi || (uintptr_t)v->base + v->size <= lo);
    }
    rma_leave(r);
    return alone;
}

static uint64_t sum_of(const struct win *w)
{
    const char *at = w->base;
    uint64_t sum = w->size, word = 0;
    for (uint64_t left = w->size; left; left -= left < sizeof word ? left : sizeof word) {
        word = 0;
        memcpy(&word, at + (w->size - left), left < sizeof word ? left : sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    return sum;
}

static bool stored_since(struct win *w)
{
    const struct strict *s = w->strict;
    return s->summed && s->windows == w->rma->stats.windows && memory_is_alone(w) && sum_of(w) != s->sum;
}

int strict_fence(struct win *w, int asserts)
{
    struct strict *s = w->strict;
    const bool puts = !(asserts & RMA_NOPUT) || asserts & RMA_NOSUCCEED;
    const uint32_t next = w->phase + 1;
    int err = MRMA_SUCCESS;
    if (asserts & RMA_NOPRECEDE && s->issued)
        err = log_fail(w->rma->log, MRMA_ERR_ASSERT,
                       "window %u: MPI_MODE_NOPRECEDE, but operations were issued since the "
                       "last fence",
                       w->index);
    if (asserts & RMA_NOSTORE && stored_since(w))
        err = log_fail(w->rma->log, MRMA_ERR_ASSERT,
                       "window %u: MPI_MODE_NOSTORE, but the window has changed since the "
                       "last fence, which had MPI_MODE_NOPUT",
                       w->index);
    s->issued = false;
    s->summed = false;
    atomic_store_explicit(&w->ctl->noput_phase[next & 1], puts ? 0 : next,
                          memory_order_relaxed); /* ordered by the barrier */
    strict_completed(w, NULL);
    return err;
}

void strict_fence_done(struct win *w, int asserts)
{
    struct strict *s = w->strict;
    if (!(asserts & RMA_NOPUT) || asserts & RMA_NOSUCCEED || !memory_is_alone(w))
        return;
    s->sum = sum_of(w);
    s->windows = w->rma->stats.windows;
    s->summed = true;
}

void strict_post(struct win *w, int asserts)
{
    w->strict->summed = false;
    /* Ordered by the post. */
    atomic_store_explicit(&w->ctl->noput_post, asserts & RMA_NOPUT, memory_order_relaxed);
}

void strict_wait(struct win *w)
{
    atomic_store_explicit(&w->ctl->noput_post, 0, memory_order_relaxed);
}

/* ---- MPI_MODE_NOCHECK of locks ---- */

static bool lock_conflicts(const struct win *w, uint64_t others, bool exclusive)
{
    return others >= EXCLUSIVE ||
           (exclusive && (others || atomic_load_explicit(&w->lead->strict_all, memory_order_seq_cst)));
}

static int nocheck_broken(const struct win *w, int rank)
{
    return log_fail(w->rma->log, MRMA_ERR_ASSERT,
                    "window %u: MPI_MODE_NOCHECK, but another process holds a conflicting "
                    "lock on rank %d",
                    w->index, rank);
}

int strict_lock(struct win *w, struct rma_target *t, bool exclusive, bool nocheck)
{
    const int rank = t->rank;
    struct strict_target *st = &w->strict->target[rank];
    if (!t->direct)
        return MRMA_SUCCESS;
    const uint64_t mine = exclusive ? EXCLUSIVE : 1;
    const uint64_t others = atomic_fetch_add_explicit(&t->ctl->strict_locks, mine, memory_order_seq_cst);
    if (nocheck && lock_conflicts(w, others, exclusive)) {
        atomic_fetch_sub_explicit(&t->ctl->strict_locks, mine, memory_order_seq_cst);
        return nocheck_broken(w, rank);
    }
    st->held = mine;
    st->exclusive = exclusive;
    st->nocheck = nocheck;
    return MRMA_SUCCESS;
}

int strict_unlock(struct win *w, struct rma_target *t)
{
    const int rank = t->rank;
    struct strict_target *st = &w->strict->target[rank];
    if (!st->held)
        return MRMA_SUCCESS;
    const uint64_t others =
        atomic_fetch_sub_explicit(&t->ctl->strict_locks, st->held, memory_order_seq_cst) - st->held;
    st->held = 0;
    return st->nocheck && lock_conflicts(w, others, st->exclusive) ? nocheck_broken(w, rank) : MRMA_SUCCESS;
}

/* A direct target that somebody holds exclusively, or -1. */
static int exclusive_target(const struct win *w)
{
    for (int i = 0; i < w->ndirect; i++)
        if (atomic_load_explicit(&win_peek(w, w->direct[i])->ctl->strict_locks, memory_order_seq_cst) >=
            EXCLUSIVE)
            return w->direct[i];
    return -1;
}

int strict_lock_all(struct win *w, bool nocheck)
{
    atomic_fetch_add_explicit(&w->lead->strict_all, 1, memory_order_seq_cst);
    w->strict->nocheck = nocheck;
    const int rank = nocheck ? exclusive_target(w) : -1;
    if (rank < 0)
        return MRMA_SUCCESS;
    atomic_fetch_sub_explicit(&w->lead->strict_all, 1, memory_order_seq_cst);
    return nocheck_broken(w, rank);
}

int strict_unlock_all(struct win *w)
{
    const int rank = w->strict->nocheck ? exclusive_target(w) : -1;
    atomic_fetch_sub_explicit(&w->lead->strict_all, 1, memory_order_seq_cst);
    return rank < 0 ? MRMA_SUCCESS : nocheck_broken(w, rank);
}
