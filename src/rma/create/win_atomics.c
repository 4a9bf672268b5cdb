/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_atomics.c - whether the network's cards do the accumulates of a new window
 * (mpirma_fabric_atomics).
 *
 * There is one exchange, where all processes ask for this: each tells what its card takes, and what
 * speaks against it. All choose from the same facts (origin/atomics_choice.h). No process can fail
 * alone here: one that cannot take part says so in the exchange, for which it has had the memory
 * before.
 */
#include <string.h>

#include "base/err.h"
#include "rma/create/win_create.h"
#include "rma/origin/atomics.h"
#include "rma/path/acc_atomic.h"

/* What a process tells. */
struct voice {
    uint16_t shares_node, unregistered, by_processor;
    struct ch3_atomics takes;
};

static struct voice voice_of(struct win *w)
{
    const struct rma_target *own = win_peek(w, w->rank);
    struct ch3_channel *ch = w->created.net_mem.net;
    struct voice mine = {.shares_node = w->nmemory > 1,
                         .unregistered = !ch || w->dynamic || (w->size && !own->net_key.vaddr)};
    mine.by_processor = ch && ch->rdma.by == CH3_RDMA_PROVIDER;
    if (!mine.shares_node && !mine.unregistered && !mine.by_processor)
        origin_atomics_probe(w, ch, &mine.takes);
    return mine;
}

/* join leaves in *all what the cards of both take. */
static void join(struct ch3_atomics *all, const struct ch3_atomics *its)
{
    for (int type = 0; type < CH3_ATOMIC_TYPES; type++) {
        all->ops[type] &= its->ops[type];
        all->blind[type] &= its->blind[type];
        if (its->max[type] < all->max[type])
            all->max[type] = its->max[type];
    }
    all->order &= its->order;
}

static struct origin_atomics_facts facts_of(const struct win *w, const struct voice *voices)
{
    struct origin_atomics_facts facts = {.asked = true,
                                         .apart = true,
                                         .registered = true,
                                         .same_op = w->hints.same_op,
                                         .unordered = !w->hints.ordering,
                                         .which_ops = w->hints.which_ops,
                                         .takes = voices[0].takes};
    for (int i = 0; i < w->nproc; i++) {
        facts.apart &= !voices[i].shares_node;
        facts.registered &= !voices[i].unregistered;
        facts.by_processor |= voices[i].by_processor != 0;
        join(&facts.takes, &voices[i].takes);
    }
    return facts;
}

/* use makes the cards do the chosen accumulates; this process's accumulates on its own memory do
 * not take the short ways any more. */
static void use(struct win *w, const struct origin_atomics_choice *choice,
                const struct ch3_atomics *all)
{
    struct rma_target *own = win_peek(w, w->rank);
    origin_atomics_use(w, w->created.net_mem.net, choice, all);
    w->acc_way = ACC_WAY_LOCKS;
    atomic_store_explicit(&own->fast_size, 0, memory_order_relaxed);
    atomic_store_explicit(&own->fast_units, 0, memory_order_relaxed);
}

int win_choose_atomics(struct win *w, struct win_plan *plan)
{
    struct voice *voices = plan->net_room;
    if (!w->hints.fabric_atomics)
        return MRMA_SUCCESS;
    w->hints.fabric_atomics = false;
    if (!voices || w->nproc == 1 || w->strict || sizeof *voices > w->rma->env->net_room)
        return MRMA_SUCCESS;
    const struct voice mine = voice_of(w);
    const int err = plan->boot->allgather(plan->boot, &mine, voices, sizeof mine);
    if (err)
        return err;
    const struct origin_atomics_facts facts = facts_of(w, voices);
    const struct origin_atomics_choice choice = origin_atomics_choose(&facts);
    w->hints.fabric_atomics = choice.why == ORIGIN_ATOMICS_USED;
    if (w->hints.fabric_atomics)
        use(w, &choice, &facts.takes);
    if (w->rank == 0)
        log_msg(w->rma->log, LOG_LEVEL_INFO, "window %u: mpirma_fabric_atomics: %s", w->index,
                origin_atomics_why_text(choice.why));
    return MRMA_SUCCESS;
}
