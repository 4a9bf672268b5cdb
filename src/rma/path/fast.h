/*
 * fast.h - the few instructions of the commonest calls, inline in the entry
 * points: contiguous put and get of mapped memory, single instructions on its
 * words of 8 bytes, and flush with nothing to do.
 *
 * Each either does all of the call or nothing and says so; the caller then goes
 * the general way, which also finds the errors. They exist because the goals for the
 * instructions of these calls were missed with one more call and an operation built in
 * memory (doc/decisions.md), and because ranks that compete for a word get it the
 * oftener the less else they do. Nothing is traced here: while a trace is taken no target
 * is ever known to be ready.
 */
#ifndef MRMA_RMA_PATH_FAST_H
#define MRMA_RMA_PATH_FAST_H

#include "rma/path/acc_atomic.h"
#include "rma/path/direct.h"
#include "rma/progress/progress.h"
#include "rma/win/win.h"

/* Where len bytes at disp of a mapped target are, NULL: not the simple case.
 * disp is not negative. */
static inline char *fast_find(struct win *w, int target, int64_t disp, size_t len)
{
    struct rma_target *t = win_peek(w, target);
    if (unlikely(!target_ready(w, t) || (uint64_t)disp > t->fast_units))
        return NULL;
    const uint64_t offset = (uint64_t)disp * t->disp_unit;
    if (unlikely(len > t->fast_size - offset))
        return NULL;
    return t->base + offset;
}

static inline char *fast_addr(struct win *w, int target, int64_t disp, size_t len)
{
    char *at = fast_find(w, target, disp, len);
    if (likely(at))
        win_count(w, PATH_MAPPED, len);
    return at;
}

static inline bool fast_put(struct win *w, const void *from, int target, int64_t disp, size_t len)
{
    char *to = fast_addr(w, target, disp, len);
    if (unlikely(!to))
        return false;
    copy_whole(to, from, len);
    win_set_dirty(w);
    return true;
}

static inline bool fast_get(struct win *w, void *to, int target, int64_t disp, size_t len)
{
    const char *from = fast_addr(w, target, disp, len);
    if (unlikely(!from))
        return false;
    copy_whole(to, from, len);
    return true;
}

/* An aligned word that may be changed by an instruction now: then acc_atomic_leave. Only
 * in the light form; the other goes the general way. The mode is looked at once: a
 * window that is LOCKED pays for a store to a line of its own. */
static inline __attribute__((always_inline)) acc_word *fast_word(struct win *w, int target,
                                                                 int64_t disp)
{
    const struct rma_target *t = win_peek(w, target);
    if (unlikely(!target_ready(w, t) || (uint64_t)disp > t->fast_units))
        return NULL;
    const uint64_t offset = (uint64_t)disp * t->disp_unit;
    char *at = t->base + offset;
    if (unlikely(t->fast_size - offset < sizeof(uint64_t) || (uintptr_t)at % sizeof(uint64_t) ||
                 w->acc_way != ACC_WAY_LIGHT))
        return NULL;
    if (unlikely(!acc_atomic_enter_light(w, t->ctl)))
        return NULL;
    win_count(w, PATH_MAPPED, sizeof(uint64_t));
    return (acc_word *)(void *)at;
}

/* SUM of integers, REPLACE and NO_OP; from and to need no alignment. */
static inline __attribute__((always_inline)) bool fast_fetch_op(struct win *w, enum acc_op op,
                                                                const void *from, void *to,
                                                                int target, int64_t disp)
{
    acc_word *word = fast_word(w, target, disp);
    if (unlikely(!word))
        return false;
    acc_atomic_word(op, word, from, to);
    acc_atomic_leave(w);
    return true;
}

static inline __attribute__((always_inline)) bool fast_cas(struct win *w, const void *value,
                                                           const void *compare, void *to,
                                                           int target, int64_t disp)
{
    acc_word *word = fast_word(w, target, disp);
    if (unlikely(!word))
        return false;
    acc_atomic_cas_word(word, compare, value, to);
    acc_atomic_leave(w);
    return true;
}

/* MPI_Win_flush when there is nothing to make visible: the target is accessible
 * in a passive epoch and direct, and no store has been made since the last fence. */
static inline bool fast_flush(const struct win *w, int target)
{
    const struct rma_target *t = win_peek(w, target);
    return likely((w->flush_quick == FLUSH_QUICK_ALL || (w->flush_quick && target_ready(w, t))) &&
                  t->direct && !atomic_load_explicit(&w->dirty, memory_order_relaxed));
}

#endif
