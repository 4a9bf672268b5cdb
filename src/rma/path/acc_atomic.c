/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc_atomic.c - see acc_atomic.h for the protocol.
 *
 * Operations are done on an element's bits: integer SUM, REPLACE and NO_OP are
 * one instruction; all others compute the new element with the kernels of
 * acc_table.c and compare-and-swap it in. So both ways give the same bits.
 */
#include "rma/path/acc_atomic.h"

#include <string.h>

#include "base/err.h"
#include "rma/progress/progress.h"

/* How many looks at a busy word, and how much time, pass between two looks at its process. */
enum { ALIVE_ROUNDS = 8192, ALIVE_NS = 1000000 };

static_assert(ATOMIC_CHAR_LOCK_FREE == 2 && ATOMIC_SHORT_LOCK_FREE == 2 &&
                  ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
              "elements in shared memory need instructions, not a library's locks");

/* Bytes of the element types that instructions can change; 0: instructions cannot change this
 * type. */
static const uint8_t width[ACC_TYPE_LAST] = {
    [ACC_I8] = 1,        [ACC_U8] = 1,        [ACC_I16] = 2,       [ACC_U16] = 2,
    [ACC_I32] = 4,       [ACC_U32] = 4,       [ACC_I64] = 8,       [ACC_U64] = 8,
    [ACC_F32] = 4,       [ACC_F64] = 8,       [ACC_BOOL] = 1,      [ACC_LOGICAL8] = 1,
    [ACC_LOGICAL16] = 2, [ACC_LOGICAL32] = 4, [ACC_LOGICAL64] = 8, [ACC_BYTE] = 1,
    [ACC_CHAR] = 1,      [ACC_WCHAR] = 4,
};

/* Operations on an element of BITS bits, which may be anything that the application has stored
 * there. For compare-and-swap old gets the old contents. */
#define ACC_ATOMIC_WIDTH(BITS)                                                                \
    typedef uint##BITS##_t bits##BITS __attribute__((may_alias));                             \
    static void apply_##BITS(enum acc_op op, enum acc_type type, bits##BITS *at,              \
                             const void *origin, void *old)                                   \
    {                                                                                         \
        uint##BITS##_t value = 0, before;                                                     \
        if (op != ACC_NO_OP)                                                                  \
            memcpy(&value, origin, sizeof value);                                             \
        if (op == ACC_SUM && type <= ACC_U64) {                                               \
            before = __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                         \
        } else if (op == ACC_REPLACE) {                                                       \
            before = __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                        \
        } else {                                                                              \
            before = __atomic_load_n(at, __ATOMIC_SEQ_CST);                                   \
            while (op != ACC_NO_OP) {                                                         \
                uint##BITS##_t after = before;                                                \
                acc_apply(op, type, &after, &value, 1);                                       \
                if (__atomic_compare_exchange_n(at, &before, after, false, __ATOMIC_SEQ_CST,  \
                                                __ATOMIC_SEQ_CST))                            \
                    break;                                                                    \
            }                                                                                 \
        }                                                                                     \
        if (old)                                                                              \
            memcpy(old, &before, sizeof before);                                              \
    }                                                                                         \
    static void cas_##BITS(bits##BITS *at, const void *compare, const void *value, void *old) \
    {                                                                                         \
        uint##BITS##_t before, after;                                                         \
        memcpy(&before, compare, sizeof before);                                              \
        memcpy(&after, value, sizeof after);                                                  \
        __atomic_compare_exchange_n(at, &before, after, false, __ATOMIC_SEQ_CST,              \
                                    __ATOMIC_SEQ_CST);                                        \
        memcpy(old, &before, sizeof before);                                                  \
    }

static_assert(ACC_NONE == 0 && ACC_I8 == 1 && ACC_U64 == 8, "the integers come first");
ACC_ATOMIC_WIDTH(8)
ACC_ATOMIC_WIDTH(16)
ACC_ATOMIC_WIDTH(32)
ACC_ATOMIC_WIDTH(64)

bool acc_atomic_fits(enum acc_type type, const void *target, size_t len)
{
    const size_t unit = width[type];
    return len <= ACC_ATOMIC_MAX * unit && ((uintptr_t)target & (unit - 1)) == 0;
}

static void apply_one(enum acc_op op, enum acc_type type, void *target, const void *origin,
                      void *old)
{
    switch (width[type]) {
    case 1:
        apply_8(op, type, target, origin, old);
        break;
    case 2:
        apply_16(op, type, target, origin, old);
        break;
    case 4:
        apply_32(op, type, target, origin, old);
        break;
    default:
        apply_64(op, type, target, origin, old);
    }
}

void acc_atomic_elements(enum acc_op op, enum acc_type type, void *target, const void *origin,
                         void *old, size_t len)
{
    const size_t unit = width[type];
    for (size_t done = 0; done < len; done += unit)
        apply_one(op, type, (char *)target + done,
                  op == ACC_NO_OP ? NULL : (const char *)origin + done,
                  old ? (char *)old + done : NULL);
}

bool acc_atomic(struct win *w, const struct win_ctl *ctl, void *at, const struct rma_op *op,
                bool fetch, size_t len)
{
    const enum acc_type type = op->ttype->basic;
    if (!acc_atomic_fits(type, at, len) || !acc_atomic_enter(w, ctl))
        return false;
    acc_atomic_elements(op->op, type, at, op->oaddr, fetch ? op->raddr : NULL, len);
    acc_atomic_leave(w);
    return true;
}

bool acc_atomic_cas(struct win *w, const struct win_ctl *ctl, void *at, const struct rma_op *op)
{
    const enum acc_type type = op->ttype->basic;
    if (!width[type] || !acc_atomic_fits(type, at, width[type]) || !acc_atomic_enter(w, ctl))
        return false;
    switch (width[type]) {
    case 1:
        cas_8(at, op->caddr, op->oaddr, op->raddr);
        break;
    case 2:
        cas_16(at, op->caddr, op->oaddr, op->raddr);
        break;
    case 4:
        cas_32(at, op->caddr, op->oaddr, op->raddr);
        break;
    default:
        cas_64(at, op->caddr, op->oaddr, op->raddr);
    }
    acc_atomic_leave(w);
    return true;
}

/* A process has met all peers of its windows, so its own event has membarrier only if all of them
 * are registered: then every process that closes this window can make the barrier. */
enum acc_way acc_atomic_way(const struct win *w)
{
    const bool membarrier =
        atomic_load_explicit(&w->rma->env->polling->threads.membarrier, memory_order_relaxed);
    return w->rma->threads ? ACC_WAY_LOCKS : membarrier ? ACC_WAY_MEMBARRIER : ACC_WAY_FENCE;
}

/* D, for one process. */
static int wait_idle(struct win *w, int rank)
{
    const struct rma_target *t = win_peek(w, rank);
    struct rma *r = w->rma;
    struct pace looks = {.left = ALIVE_ROUNDS / 2};
    for (unsigned round = 1; atomic_load_explicit(&t->ctl->acc_busy, memory_order_acquire);
         round++) {
        rma_backoff(r, round);
        if (!pace_due(&looks))
            continue;
        const uint64_t now = r->clock();
        pace_next(&looks, now, now + ALIVE_NS, 0, ALIVE_ROUNDS);
        if (t->peer->self || r->env->peer_alive(r->env->ctx, t->peer))
            continue;
        /* the process has died before the end of its accumulate */
        if (atomic_load_explicit(&t->ctl->acc_busy, memory_order_acquire))
            return log_fail(r->log, MRMA_ERR_PROC_FAILED,
                            "rank %d of window %u (process %d) has died in an accumulate", rank,
                            w->index, t->peer->pid);
    }
    return MRMA_SUCCESS;
}

int acc_close(struct win *w, struct win_ctl *ctl, bool held)
{
    uint32_t mode = ACC_MODE_ATOMIC;
    int err = MRMA_SUCCESS;
    atomic_compare_exchange_strong_explicit(&ctl->acc_mode, &mode, ACC_MODE_CLOSING,
                                            memory_order_seq_cst, memory_order_seq_cst); /* C */
    if (mode == ACC_MODE_LOCKED)
        return MRMA_SUCCESS;
    event_membarrier();
    atomic_thread_fence(memory_order_seq_cst);
    if (!held)
        rma_enter(w->rma);
    for (int i = 0; !err && i < w->nmemory; i++)
        err = wait_idle(w, w->memory_ranks[i]);
    if (!held)
        rma_leave(w->rma);
    if (!err)
        atomic_store_explicit(&ctl->acc_mode, ACC_MODE_LOCKED, memory_order_release); /* F */
    return err;
}
