/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attach.c - see attach.h. Attached regions are entered into the tree that processes of the node
 * look at (win/region.c). Where the network of this process puts and gets by itself, a region is
 * registered when the first origin asks for it, so that a program may attach much more than is
 * used. Where the registration fails, only packets reach the region.
 *
 * An origin asks for the region at an address, and may use its key for as long as it likes
 * (origin/region_keys.c). A program tells others of memory that it has detached and attached anew
 * by messages of its own, which this library does not see. So MPI_Win_detach takes the key back
 * from all processes that have it before it returns:
 *
 *   target                                     origin
 *   A: the region leaves the tree;
 *      PKT_REGION_GONE to all who have it      B: PKT_REGION_GONE is read: nothing finds the key
 *                                              C: the last operation that uses it has ended
 *   E: PKT_REGION_LEFT of all is read          D: PKT_REGION_LEFT leaves
 *   F: the registration ends; the call returns
 *   G: the program frees the memory, or
 *      attaches memory at that address         H: an operation on that address
 *
 * No operation uses the key behind F. An operation that has begun before B has ended at C, and what
 * it has put is in place before E: its end says so, or, where the end says less, D is a message
 * behind the put, and the channel keeps that order (ch3/channel.h). An operation that begins later
 * looks for the key behind B, under the engine's lock, and does not find it. For the answer that
 * told of the key was sent before A, since the target looks into the tree under its lock when it
 * answers; packets of a pair are not reordered, so that answer came before B; and no later answer
 * tells of the key. H is such a later operation, if the program has ordered it behind G. It asks
 * again, and learns of the new region, with another key; or it goes by packet and is refused. This
 * does not depend on a correct program: an access to memory that is not attached any more gets an
 * error (12.2.4), and no card finds a wrong key, which would end the connection.
 *
 * MPI_Win_detach is local: it must not wait for a call of another process. The origin's agent does
 * B (only origins that have an agent ask); cards do C, and so does the provider's progress, which
 * the agent makes too. No operation that uses a key waits for its epoch, so none waits for the
 * target's program (issue of origin/rdma.c). A process that waits for E serves packets meanwhile,
 * so two processes may detach at once.
 *
 * If a process of the window is lost while E is awaited, the registration ends at once, and the
 * call returns an error: if the key is used after that, this ends only that connection.
 *
 * Neighbours: win/region.c. Locks: the engine's.
 */
#include "rma/target/attach.h"

#include <stdlib.h>

#include "base/err.h"
#include "rma/progress/wait.h"
#include "rma/win/region.h"
#include "rma/win/send_header.h"

/* A region of this process that others have asked for. */
struct attached {
    uint64_t addr, len;
    struct list_node link; /* in leaving, while it is detached */
    uint32_t number;       /* not 0, and different from that of every other region */
    struct ch3_mem *mem;   /* NULL: it could not be registered */
    struct ch3_mem_key key;
    int *holders; /* ranks of the nholders processes that know of it, with room for more */
    uint32_t nholders, room;
};

static struct target_regions *regions_of(struct win *w)
{
    return &w->target_side.regions;
}

void target_regions_register(struct win *w, struct ch3_channel *channel)
{
    regions_of(w)->channel = channel;
}

static void drop(struct win *w, struct attached *a)
{
    if (a->mem)
        ch3_mem_release(regions_of(w)->channel, a->mem);
    free(a->holders);
    free(a);
}

/* make_key registers a region, which others may reach without packets from then on. NULL: there is
 * not enough memory. */
static struct attached *make_key(struct win *w, uint64_t addr, uint64_t size)
{
    struct target_regions *all = regions_of(w);
    struct rma_stats *stats = &w->rma->stats;
    struct attached *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    all->last_number += all->last_number == UINT32_MAX ? 2 : 1;
    a->addr = addr;
    a->len = size;
    a->number = all->last_number;
    void *base = (void *)(uintptr_t)addr;
    if (ch3_mem_register(all->channel, base, size, &a->key, &a->mem) != MRMA_SUCCESS)
        a->mem = NULL;
    if (map_put(&all->attached, addr, a, NULL) != MRMA_SUCCESS) {
        drop(w, a);
        return NULL;
    }
    *(a->mem ? &stats->regions_registered : &stats->regions_unregistered) += 1;
    return a;
}

/* find_or_make returns the region in which addr lies, with its key. NULL: none is attached there,
 * or the network does not reach regions by itself. */
static struct attached *find_or_make(struct win *w, uint64_t addr)
{
    struct target_regions *all = regions_of(w);
    uint64_t base, len;
    if (!all->channel || !region_at(w->regions, addr, &base, &len))
        return NULL;
    struct attached *a = map_get(&all->attached, base);
    return a ? a : make_key(w, base, len);
}

int win_attach(struct win *w, void *base, uint64_t size)
{
    const uint64_t addr = (uint64_t)(uintptr_t)base;
    if (!w->dynamic)
        return MRMA_ERR_RMA_FLAVOR;
    if (size && addr + size < size)
        return MRMA_ERR_SIZE;
    rma_enter(w->rma);
    const int err = region_attach(w, addr, size);
    rma_leave(w->rma);
    return err;
}

/* ---- who knows of a region ---- */

/* MRMA_ERR_NO_MEM */
static int add_holder(struct attached *a, int rank)
{
    for (uint32_t i = 0; i < a->nholders; i++)
        if (a->holders[i] == rank)
            return MRMA_SUCCESS;
    if (a->nholders == a->room) {
        const uint32_t room = a->room ? 2 * a->room : 4;
        int *grown = realloc(a->holders, room * sizeof *grown);
        if (!grown)
            return MRMA_ERR_NO_MEM;
        a->holders = grown;
        a->room = room;
    }
    a->holders[a->nholders++] = rank;
    return MRMA_SUCCESS;
}

static bool remove_holder(struct attached *a, int rank)
{
    for (uint32_t i = 0; i < a->nholders; i++)
        if (a->holders[i] == rank) {
            a->holders[i] = a->holders[--a->nholders];
            return true;
        }
    return false;
}

void target_region_asked(struct win *w, struct rma_target *t, uint64_t addr)
{
    struct {
        struct pkt_hdr hdr;
        struct pkt_region region;
    } answer = {.hdr = win_header(w, t, PKT_REGION)};
    static_assert(sizeof answer == sizeof(struct pkt_hdr) + sizeof(struct pkt_region), "as sent");
    struct attached *a = find_or_make(w, addr);
    if (a && add_holder(a, t->rank) == MRMA_SUCCESS) {
        answer.hdr.len = sizeof answer;
        answer.hdr.seq = a->number;
        answer.hdr.count = a->mem != NULL;
        answer.region = (struct pkt_region){a->addr, a->len, a->key.key, a->key.base};
    }
    /* If the answer cannot be sent, the origin goes on by packet. */
    (void)ch3_send(&t->peer->vc, &answer, answer.hdr.len, &w->queued, false);
}

/* ---- detach ---- */

static bool all_left(void *arg)
{
    const struct attached *a = arg;
    return a->nholders == 0;
}

bool target_region_left(struct win *w, const struct rma_target *t, uint32_t number)
{
    LIST_EACH (node, &regions_of(w)->leaving) {
        struct attached *a = LIST_ENTRY(node, struct attached, link);
        if (a->number == number)
            return remove_holder(a, t->rank);
    }
    return win_has_lost(w); /* nobody waits for the holders any more */
}

/* When take_back returns nobody uses the region. It returns the errors of rma_wait_until. It is
 * called with the lock and returns with it, and gives it up while it waits. */
static int take_back(struct win *w, struct attached *a)
{
    const struct rma_wait wait = {.done = all_left,
                                  .arg = a,
                                  .locked = true,
                                  .what = "others to leave a detached region",
                                  .rank = -1};
    int err = MRMA_SUCCESS;
    list_push_back(&regions_of(w)->leaving, &a->link);
    for (uint32_t i = a->nholders; i > 0; i--) {
        struct rma_target *t = win_peek(w, a->holders[i - 1]);
        if (win_send_header(w, t, PKT_REGION_GONE, a->number, 0, 0, a->addr) != MRMA_SUCCESS)
            (void)remove_holder(a, t->rank); /* its connection is lost, and it reaches nothing */
    }
    if (!all_left(a)) {
        rma_leave(w->rma);
        err = rma_wait_until(w, &wait);
        rma_enter(w->rma);
    }
    list_remove(&a->link);
    return err;
}

int win_detach(struct win *w, const void *base)
{
    const uint64_t addr = (uint64_t)(uintptr_t)base;
    if (!w->dynamic)
        return MRMA_ERR_RMA_FLAVOR;
    rma_enter(w->rma);
    bool empty;
    int err = region_detach(w, addr, &empty);
    struct attached *a = !err && !empty ? map_del(&regions_of(w)->attached, addr) : NULL;
    if (a) {
        err = take_back(w, a);
        drop(w, a);
    }
    rma_leave(w->rma);
    return err;
}

void target_regions_end(struct win *w)
{
    struct map *attached = &regions_of(w)->attached;
    size_t cursor = 0;
    void *a;
    while (map_next(attached, &cursor, NULL, &a))
        drop(w, a);
    map_fini(attached);
}
