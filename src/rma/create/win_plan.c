/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_plan.c - gets the memory, and the place of the notice, that the creation of a window needs
 * until it is over, before the first exchange. Locks: the engine's, for the places.
 */
#include <stdlib.h>

#include "base/err.h"
#include "rma/create/win_create.h"

/* take_room takes a part of the memory that exchanges after the first need, which is one piece. */
static size_t take_room(size_t *used, size_t n, size_t each)
{
    const size_t at = *used;
    *used += (n * each + 15) / 16 * 16;
    return at;
}

/* Further exchanges must not fail before they begin. It is not known yet which of them come, so
 * there is memory for all; untouched memory costs little. */
int win_plan_room(struct win *w, struct win_plan *plan)
{
    const struct rma_env *env = w->rma->env;
    const size_t n = (size_t)w->nproc, net = env->net_open ? env->net_room : 0;
    size_t used = 0;
    const size_t place = take_room(&used, n, sizeof *plan->place), room = take_room(&used, n, net),
                 details = take_room(&used, n, sizeof plan->mine);
    plan->memory = malloc(used);
    plan->spare = n > 1 ? malloc(sizeof *plan->spare) : NULL;
    plan->room = n > 1 ? malloc(n * WIN_EXCHANGE_ROOM) : NULL;
    plan->keys = net ? malloc(n * sizeof *plan->keys) : NULL;
    if (!plan->memory || (n > 1 && (!plan->spare || !plan->room)) || (net && !plan->keys))
        return MRMA_ERR_NO_MEM;
    plan->place = (void *)(plan->memory + place);
    plan->net_room = net ? plan->memory + room : NULL;
    plan->details_room = plan->memory + details;
    if (w->flavor != WIN_ALLOCATE_SHARED)
        return MRMA_SUCCESS;
    plan->segments = malloc(n * sizeof *plan->segments);
    plan->parts = malloc(n * sizeof *plan->parts);
    return plan->segments && plan->parts ? MRMA_SUCCESS : MRMA_ERR_NO_MEM;
}

void win_plan_end(struct rma *r, struct win_plan *plan)
{
    if (plan->notice != &plan->unseen) {
        rma_enter(r);
        r->notices &= ~(UINT64_C(1) << plan->slot);
        rma_leave(r);
    }
    boot_release(&plan->gathered);
    free(plan->memory);
    free(plan->spare);
    free(plan->room);
    free(plan->keys);
    free(plan->segments);
    free(plan->parts);
    free(plan);
}

/* win_plan_notice takes a place for what the node is told. */
int win_plan_notice(struct rma *r, struct win_plan *plan)
{
    static_assert(RMA_NOTICES == 64, "a bit of a word for each");
    rma_enter(r);
    const bool full = r->notices == UINT64_MAX;
    if (!full) {
        plan->slot = __builtin_ctzll(~r->notices);
        r->notices |= UINT64_C(1) << plan->slot;
    }
    rma_leave(r);
    if (full)
        return log_fail(r->log, MRMA_ERR_NO_MEM, "more than %d windows are being made at once",
                        RMA_NOTICES);
    plan->notice = &r->env->notices[plan->slot];
    return MRMA_SUCCESS;
}
