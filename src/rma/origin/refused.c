/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * refused.c - keeps the error of an operation that was refused after its call had returned, by its
 * target or here, until the next synchronization returns it.
 *
 * What the target tells of the operation (struct pkt_refusal) is used for the message only, and may
 * be any value. Locks: the engine's, held by the caller. Neighbour: replies.c, which takes what the
 * target tells.
 */
#include <stdio.h>

#include "base/err.h"
#include "base/fault.h"
#include "rma/origin/refused.h"
#include "rma/win/win.h"

/* describe_refused writes, for example, "a put of 8 bytes at address 0x7f0010, in an epoch of
 * MPI_Win_lock". */
static void describe_refused(const struct win *w, const struct origin_refusal *what, char *text,
                             size_t len)
{
    static const char *const kinds[PKT_OP_KIND_LAST] = {
        [PKT_OP_PUT] = "a put",
        [PKT_OP_GET] = "a get",
        [PKT_OP_ACC] = "an accumulate",
        [PKT_OP_GET_ACC] = "an accumulate that fetches",
        [PKT_OP_CAS] = "a compare-and-swap",
        [PKT_OP_PLAIN] = "a put",
    };
    static const char *const epochs[PKT_EPOCH_LAST] = {
        [PKT_EPOCH_FENCE] = ", in an epoch of MPI_Win_fence",
        [PKT_EPOCH_PSCW] = ", in an epoch of MPI_Win_start",
        [PKT_EPOCH_LOCK] = ", in an epoch of MPI_Win_lock",
        [PKT_EPOCH_NOCHECK] = ", in an epoch with MPI_MODE_NOCHECK"};
    const struct pkt_refusal *why = &what->why;
    const char *kind = why->kind < PKT_OP_KIND_LAST ? kinds[why->kind] : NULL;
    const char *epoch = why->epoch < PKT_EPOCH_LAST ? epochs[why->epoch] : NULL;
    char place[64] = "";

    if (kind && what->len)
        snprintf(place, sizeof place,
                 w->dynamic ? " of %u bytes at address 0x%llx" : " of %u bytes at byte %lld",
                 what->len, (long long)what->disp);
    snprintf(text, len, "%s%s%s", kind ? kind : "an operation", place, epoch ? epoch : "");
}

static int fail_refused(const struct win *w, const struct origin_refusal *what, int err)
{
    char operation[160];

    describe_refused(w, what, operation, sizeof operation);
    if (err == MRMA_ERR_RMA_SYNC)
        return FAULT(w->rma->log, REFUSED_EPOCH, what->from - 1, operation);
    if (err == MRMA_ERR_RMA_RANGE && w->dynamic)
        return FAULT(w->rma->log, REFUSED_MEMORY, what->from - 1, operation);
    return log_fail(w->rma->log, err, "since the last synchronization rank %d has refused %s",
                    what->from - 1, operation);
}

int origin_take_error(struct win *w)
{
    const struct origin_refusal refusal = w->origin_side.refusal;
    const int err = w->origin_side.err;
    w->origin_side.err = MRMA_SUCCESS;
    w->origin_side.refusal = (struct origin_refusal){0};
    return err && refusal.from ? fail_refused(w, &refusal, err) : err;
}

int win_take_error(struct win *w)
{
    rma_enter(w->rma);
    const int err = origin_take_error(w);
    rma_leave(w->rma);
    return err;
}
