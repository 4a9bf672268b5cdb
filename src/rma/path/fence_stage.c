/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence_stage.c - see fence_stage.h.
 *
 * A record is a head, which names the target and the place there, and the data, padded to 8 bytes.
 * Only the owner adds records, and only while it is in a fence phase; only the process that came
 * last in the barrier reads and removes them, while the owner waits there. So the barrier alone
 * orders both, and one stage is enough for all phases:
 *
 *   origin                        last in the barrier           any process, the origin included
 *   A: records, used              arrival; B: reads records
 *   arrival in the barrier        C: copies them; used = 0
 *                                 D: the barrier is open        E: sees it open
 *                                                               loads of any memory see C; the
 *                                                               origin finds its stage empty
 *
 * The arrivals order A before B, D pairs with E (sync/barrier.c). All processes of the barrier have
 * begun the phase that it ends, so C comes behind whatever a target stored before the phase. What
 * the barrier of one phase finds was put in that phase: a fence with MPI_MODE_NOPRECEDE ends a
 * phase without a barrier, but in that phase there were no operations.
 *
 * The target of a record is mapped in all processes of the node, since all choose the same path to
 * it from its notice (create/node_targets.c).
 */
#include "rma/path/fence_stage.h"

#include <string.h>

#include "base/copy.h"
#include "rma/win/bad_packet.h"
#include "rma/win/sync_ops.h"
#include "rma/win/win.h"

struct fence_stage {
    alignas(MRMA_CACHE_LINE) uint32_t used; /* bytes of room */
    alignas(MRMA_CACHE_LINE) char room[FENCE_STAGE_ROOM];
};

static_assert(sizeof(struct fence_stage_record) % 8 == 0 && FENCE_STAGE_ROOM % MRMA_CACHE_LINE == 0,
              "no padding");

static struct fence_stage *stage_in(struct win_ctl *ctl)
{
    return (void *)((char *)ctl + ctl->fence_stage_at);
}

size_t fence_stage_bytes(int nslots)
{
    return nslots > 1 ? sizeof(struct fence_stage) : 0;
}

void fence_stage_init(struct win_ctl *ctl, size_t at, bool exists)
{
    ctl->fence_stage_at = exists ? at : 0;
    if (exists)
        stage_in(ctl)->used = 0;
}

static uint32_t record_bytes(size_t len)
{
    return (uint32_t)(sizeof(struct fence_stage_record) + (len + 7) / 8 * 8);
}

static int member_of(const struct win *w, const struct rma_target *t)
{
    int i = 0;
    while (w->memory_ranks[i] != t->rank)
        i++;
    return i;
}

bool fence_stage_put(struct win *w, struct rma_target *t, const void *data, uint64_t offset,
                     size_t len)
{
    if (!w->ctl->fence_stage_at || target_sync(t)->accessible(w, t))
        return false;
    struct fence_stage *st = stage_in(w->ctl);
    if (len > FENCE_STAGE_ROOM || record_bytes(len) > FENCE_STAGE_ROOM - st->used)
        return false;
    const struct fence_stage_record head = {offset, (uint32_t)len, (uint32_t)member_of(w, t)};
    memcpy(st->room + st->used, &head, sizeof head);
    copy_whole(st->room + st->used + sizeof head, data, len);
    st->used += record_bytes(len);
    return true;
}

/* copy_one copies the data of a record whose bytes end at end, if they lie in a target's memory. */
static bool copy_one(const struct win *w, const struct fence_stage_record *head, const char *data,
                     const char *end)
{
    if (head->len > (size_t)(end - data) || head->member >= (uint32_t)w->nmemory)
        return false;
    const struct rma_target *t = win_peek(w, w->memory_ranks[head->member]);
    if (t->path != PATH_MAPPED || !t->base || head->offset > t->size ||
        head->len > t->size - head->offset)
        return false;
    copy_whole(t->base + head->offset, data, head->len);
    return true;
}

/* copy_stage copies what the process of that rank has put. It reads each head once, since that
 * process could write into it meanwhile if it did wrong. */
static void copy_stage(struct win *w, struct fence_stage *st, int rank)
{
    uint32_t used;
    copy_once(&used, &st->used, sizeof used);
    st->used = 0; /* before its owner may put again */
    const char *at = st->room,
               *end = st->room + (used < FENCE_STAGE_ROOM ? used : FENCE_STAGE_ROOM);
    while ((size_t)(end - at) >= sizeof(struct fence_stage_record)) {
        struct fence_stage_record head;
        copy_once(&head, at, sizeof head);
        if (!copy_one(w, &head, at + sizeof head, end)) {
            rma_bad_packet(w->rma, "staged put of rank %d refused in window %u: out of range", rank,
                           w->index);
            return;
        }
        at += record_bytes(head.len);
    }
}

void fence_stage_copy_all(struct win *w)
{
    for (int i = 0; i < w->nmemory; i++) {
        struct win_ctl *ctl = win_peek(w, w->memory_ranks[i])->ctl;
        if (ctl->fence_stage_at && stage_in(ctl)->used)
            copy_stage(w, stage_in(ctl), w->memory_ranks[i]);
    }
}
