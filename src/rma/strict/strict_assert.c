/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strict_assert.c - the asserts of fence and of post and start that MPIRMA_STRICT=1 checks
 * (strict.h).
 *
 * A target that gives MPI_MODE_NOPUT notes it in its control block before anybody may access it.
 * Memory peers look there, and so does the target itself when a packet comes.
 *
 *   target                              origin
 *   A: noput_phase, noput_post          post or fence seen (acquire)
 *   post, fence's barrier (release)     B: reads them, and sees A
 */
#include "rma/strict/strict_impl.h"

#include "base/err.h"
#include "base/fault.h"
#include "ch3/pkt.h"

/* noput_phase returns whether the owner of the control block has given MPI_MODE_NOPUT for the
 * present fence phase. */
static bool noput_phase(const struct win *w, const struct win_ctl *ctl)
{
    return w->phase &&
           atomic_load_explicit(&ctl->noput_phase[w->phase & 1], memory_order_relaxed) == w->phase;
}

static bool noput_post(const struct win_ctl *ctl)
{
    return atomic_load_explicit(&ctl->noput_post, memory_order_relaxed);
}

int strict_check_noput(const struct win *w, const struct rma_target *t, enum strict_kind kind,
                       unsigned op)
{
    bool noput = false;
    if (!t->ctl || !strict_updates(kind, op))
        return MRMA_SUCCESS;
    if (strict_in_fence_epoch(w))
        noput = noput_phase(w, t->ctl);
    else if (epoch_now(&w->epoch) == EPOCH_PSCW)
        noput = noput_post(t->ctl);
    if (!noput)
        return MRMA_SUCCESS;
    char name[40];
    return FAULT(w->rma->log, NOPUT_TARGET, t->rank, strict_describe(kind, op, name, sizeof name));
}

int strict_arrival(const struct win *w, unsigned kind, unsigned op, unsigned epoch)
{
    const bool noput = (epoch == PKT_EPOCH_FENCE && noput_phase(w, w->ctl)) ||
                       (epoch == PKT_EPOCH_PSCW && noput_post(w->ctl));
    if (!noput || kind == PKT_OP_GET ||
        (op == ACC_NO_OP && (kind == PKT_OP_ACC || kind == PKT_OP_GET_ACC)))
        return MRMA_SUCCESS;
    return FAULT(w->rma->log, NOPUT_HERE, w->rank, w->index,
                 kind == PKT_OP_PUT ? "a put" : "an accumulate");
}

int strict_fence(struct win *w, int *given)
{
    struct strict *s = w->strict;
    if (likely(!s))
        return MRMA_SUCCESS;
    const int asserts = *given;
    const bool puts = !(asserts & RMA_NOPUT) || asserts & RMA_NOSUCCEED;
    const uint32_t next = w->phase + 1;
    int err = MRMA_SUCCESS;
    if (asserts & RMA_NOPRECEDE && s->issued)
        err = FAULT(w->rma->log, NOPRECEDE);
    s->issued = false;
    atomic_store_explicit(&w->ctl->noput_phase[next & 1], puts ? 0 : next,
                          memory_order_relaxed); /* ordered by the barrier */
    strict_completed(w, NULL, false);
    *given &= ~RMA_NOPRECEDE;
    return err;
}

void strict_post(struct win *w, int asserts)
{
    if (likely(!w->strict))
        return;
    /* Ordered by the post. */
    atomic_store_explicit(&w->ctl->noput_post, asserts & RMA_NOPUT, memory_order_relaxed);
}

void strict_wait(struct win *w)
{
    if (likely(!w->strict))
        return;
    atomic_store_explicit(&w->ctl->noput_post, 0, memory_order_relaxed);
}
