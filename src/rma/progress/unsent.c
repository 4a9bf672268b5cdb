/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unsent.c - see unsent.h.
 *
 * Invariant: an entry is either in the list, or in a list of entries that leave at this moment,
 * which one thread walks under the engine's lock. leave() may take other entries out of both lists,
 * since all that is kept for a target is dropped when the target is found to be lost.
 */
#include "rma/progress/unsent.h"

#include "rma/progress/progress.h"

enum { ROOM_LOOKS = 16 }; /* most periods between two looks, while nothing has room */

void unsent_init(struct rma *r)
{
    list_init(&r->progress.unsent.entries);
    r->progress.unsent.look_ns = r->progress.unsent.room_ns = UNSENT_LOOK_NS;
}

void unsent_wake(struct rma *r)
{
    struct unsent_list *all = &r->progress.unsent;
    atomic_store_explicit(&all->due_at, 0, memory_order_relaxed);
    atomic_store_explicit(&all->due, true, memory_order_release); /* A */
    struct polling *own = r->env->polling;
    event_notify(rma_has_agent(r) ? &own->agent : &own->threads, r->env->doorbell_fd); /* B */
}

/* leave_all lets all entries of the list leave; it puts back those that may not leave yet for want
 * of room. Returns whether any has left. */
static bool leave_all(struct rma *r, struct list *leaving)
{
    struct list_node *node;
    bool left = false;
    while ((node = list_pop_front(leaving)) != NULL) {
        struct unsent *u = LIST_ENTRY(node, struct unsent, link);
        if (u->leave(u))
            left = true;
        else
            list_push_back(&r->progress.unsent.entries, node);
    }
    return left;
}

static void take_out(struct list_node *node, struct list *leaving)
{
    list_remove(node);
    list_push_back(leaving, node);
}

void unsent_send_awaited(struct rma *r)
{
    struct list leaving;
    list_init(&leaving);
    rma_enter(r);
    LIST_EACH_SAFE (node, &r->progress.unsent.entries)
        if (LIST_ENTRY(node, struct unsent, link)->awaited)
            take_out(node, &leaving);
    (void)leave_all(r, &leaving);
    rma_leave(r);
}

static bool looks(const struct rma *r)
{
    const struct unsent_list *all = &r->progress.unsent;
    return atomic_load_explicit(&all->due, memory_order_acquire) || /* D; pairs with A */
           unlikely(atomic_load_explicit(&all->no_room, memory_order_relaxed));
}

static bool is_due(const struct rma *r, uint64_t now)
{
    return looks(r) &&
           now >= atomic_load_explicit(&r->progress.unsent.due_at, memory_order_relaxed);
}

/* plan_next sets when the next look is; stuck says that all that is entered waits for room. */
static void plan_next(struct unsent_list *all, bool stuck, uint64_t now)
{
    const uint64_t limit = ROOM_LOOKS * all->look_ns;
    all->room_ns = !stuck ? all->look_ns : 2 * all->room_ns < limit ? 2 * all->room_ns : limit;
    atomic_store_explicit(&all->no_room, stuck, memory_order_relaxed);
    if (stuck || (list_empty(&all->entries) && all->added == all->added_before))
        atomic_store_explicit(&all->due, false, memory_order_relaxed);
    atomic_store_explicit(&all->due_at, now + all->room_ns, memory_order_relaxed);
}

static void look(struct rma *r, uint64_t now)
{
    struct unsent_list *all = &r->progress.unsent;
    struct list leaving;
    list_init(&leaving);
    LIST_EACH_SAFE (node, &all->entries) {
        struct unsent *u = LIST_ENTRY(node, struct unsent, link);
        if (u->seen)
            take_out(node, &leaving);
        u->seen = true;
    }
    const bool tried = !list_empty(&leaving), left = leave_all(r, &leaving);
    plan_next(all, tried && !left && all->added == all->added_before, now);
    all->added_before = all->added;
}

bool unsent_look(struct rma *r)
{
    if (likely(!looks(r)))
        return false;
    const uint64_t now = r->clock();
    if (!is_due(r, now))
        return false;
    rma_enter(r);
    look(r, now);
    rma_leave(r);
    return true;
}

void unsent_look_locked(struct rma *r)
{
    if (unsent_poll_due(r))
        look(r, r->clock());
}

bool unsent_poll_due(const struct rma *r)
{
    return unlikely(looks(r)) && !rma_has_agent(r) && is_due(r, r->clock());
}

uint64_t unsent_pause(const struct rma *r)
{
    if (likely(!looks(r)))
        return 0;
    const uint64_t now = r->clock(),
                   at = atomic_load_explicit(&r->progress.unsent.due_at, memory_order_relaxed);
    return at > now ? at - now : 1;
}
