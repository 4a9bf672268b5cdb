/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abandoned.c - see abandoned.h.
 *
 * A process says that it has left by a word in its slot of the other's control block, which gets
 * the generation of the window there. So nothing is mistaken if the block belongs to another window
 * by then. The uses of peers stay counted until the peers have left.
 *
 * Order of stores and loads. After a loss there is no last barrier. What a process has published
 * for a window is used for something else when all others of the node that live have said that they
 * have left:
 *
 *   other                                     owner of the block and the memory
 *   its last stores there                     B: left is the generation (acquire), for all others
 *   A: left = generation there (release)      gives back memory and block
 *
 * If B reads A, the stores come before the next use of the memory. Instead of B the owner may learn
 * from the kernel that the process has died: then it stores nothing any more.
 */
#include "rma/create/abandoned.h"

#include <stdlib.h>

#include "base/err.h"
#include "rma/win/ctl_blocks.h"
#include "rma/win/region.h"
#include "rma/win/win.h"

struct abandoned {
    struct list_node link; /* in rma->abandoned */
    uint32_t gen;          /* of the window here */
    struct win_ctl *ctl;
    struct region_view *regions; /* as in struct win */
    void *owned;                 /* as in struct win */
    void *records;      /* the node's copy, if this process has made it; NULL: it has not */
    const void *pinned; /* window memory that belongs to the program; NULL: none */
    uint64_t exported;  /* as in struct win */
    int n;              /* of the processes below */
    struct {
        struct rma_peer *peer;
        const struct win_signals *in;
    } left[]; /* peers that have not said that they have left */
};

/* new_abandoned makes a list entry for the window. NULL: there is no memory for it, and what the
 * window has published is kept for ever. */
static struct abandoned *new_abandoned(struct win *w)
{
    struct abandoned *a = malloc(sizeof *a + (size_t)w->nlocal * sizeof a->left[0]);
    if (a)
        *a = (struct abandoned){.gen = w->index_gen,
                                .ctl = w->ctl,
                                .regions = w->regions,
                                .owned = w->created.owned,
                                .records = w->records.own,
                                .exported = w->created.exported};
    else
        log_msg(w->rma->log, LOG_LEVEL_WARN,
                "window %u: its memory stays in use to the end of the process", w->index);
    return a;
}

void abandoned_keep(struct win *w)
{
    struct rma *r = w->rma;
    const struct rma_env *env = r->env;
    struct abandoned *a = new_abandoned(w);
    w->records.own = NULL;
    if (a && w->flavor == WIN_CREATE && w->size && env->mem_pin(env->ctx, w->base, w->size))
        a->pinned = w->base;
    for (int i = 0; i < w->nlocal; i++) {
        struct rma_target *t = &w->local[i];
        if (!t->ctl || t->peer->self || t->lost)
            continue;
        atomic_store_explicit(&t->out->left, t->remote_gen, memory_order_release); /* A */
        if (!a)
            continue;
        t->created.peer_kept = true;
        a->left[a->n].peer = t->peer;
        a->left[a->n++].in = t->in;
    }
    if (a)
        list_push_back(&r->abandoned, &a->link);
}

/* has_left returns whether peer i has left, or will never store anything any more. */
static bool has_left(const struct rma *r, const struct abandoned *a, int i)
{
    const struct rma_env *env = r->env;
    return atomic_load_explicit(&a->left[i].in->left, memory_order_acquire) == a->gen || /* B */
           !env->peer_alive(env->ctx, a->left[i].peer);
}

static void give_back(struct rma *r, struct abandoned *a)
{
    const struct rma_env *env = r->env;
    while (a->n)
        env->peer_put(env->ctx, a->left[--a->n].peer);
    list_remove(&a->link);
    region_close_own(r, a->regions);
    ctl_blocks_give(r, a->ctl);
    if (a->owned)
        env->mem_free(env->ctx, a->owned);
    if (a->records)
        env->mem_free(env->ctx, a->records);
    if (a->pinned)
        env->mem_unpin(env->ctx, a->pinned);
    if (a->exported)
        env->attach->remove(env->ctx, a->exported);
    free(a);
}

void abandoned_sweep(struct rma *r)
{
    const struct rma_env *env = r->env;
    LIST_EACH_SAFE (node, &r->abandoned) {
        struct abandoned *a = LIST_ENTRY(node, struct abandoned, link);
        for (int i = a->n; i-- > 0;)
            if (has_left(r, a, i)) {
                env->peer_put(env->ctx, a->left[i].peer);
                a->left[i] = a->left[--a->n];
            }
        if (!a->n)
            give_back(r, a);
    }
}

void abandoned_fini(struct rma *r)
{
    LIST_EACH_SAFE (node, &r->abandoned)
        give_back(r, LIST_ENTRY(node, struct abandoned, link));
}
