/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * joint_help.c - the target's side of joint.h: chunks that a process copies in its waits for
 * others.
 *
 * Buffers of others that are in shared memory are mapped when they are first used, and some of them
 * stay mapped (path_rma.mapped), since a program often uses the same buffer again. They are
 * unmapped when a window ends, and each that was not used for KEEP_NS when another one is mapped.
 *
 * Locks: the engine's for path_rma.mapped and .seen; none while a chunk is copied.
 */
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "rma/path/joint.h"
#include "sys/cma.h"
#include "sys/procstart.h"

#define KEEP_NS UINT64_C(1000000000)

/* lives returns whether the origin was seen alive within the last PROCSTART_LOOK_NS: it was when it
 * published the copy. */
static bool lives(struct rma *r, const struct joint_copy *copy)
{
    const uint64_t now = r->clock();
    if (likely(now - copy->published < PROCSTART_LOOK_NS))
        return true;
    rma_enter(r);
    struct joint_seen *seen = &r->path_side.seen;
    bool alive = seen->pid == copy->pid && seen->started == copy->started &&
                 now - seen->at < PROCSTART_LOOK_NS;
    if (!alive) {
        int fd = -1;
        alive = procstart_lives(copy->pid, copy->started, &fd);
        if (fd >= 0)
            close(fd);
        if (alive)
            *seen = (struct joint_seen){copy->pid, copy->started, now};
    }
    rma_leave(r);
    return alive;
}

static bool is_old(const struct joint_mapped *m, uint64_t now)
{
    return m->handle && now - m->used > KEEP_NS;
}

/* keep keeps one use of what is mapped, so that it stays so, and returns the uses that end instead.
 * Under the engine's lock. */
static int keep(struct rma *r, void *handle, uint64_t now, void *ended[JOINT_MAPPED])
{
    struct joint_mapped *mapped = r->path_side.mapped, *at = &mapped[0];
    int n = 0;
    for (int i = 0; i < JOINT_MAPPED; i++)
        if (mapped[i].handle == handle) {
            mapped[i].used = now;
            ended[0] = handle;
            return 1;
        }
    for (int i = 0; i < JOINT_MAPPED; i++) {
        if (is_old(&mapped[i], now)) {
            ended[n++] = mapped[i].handle;
            mapped[i].handle = NULL;
        }
        if (!mapped[i].handle || (at->handle && mapped[i].used < at->used))
            at = &mapped[i];
    }
    if (at->handle)
        ended[n++] = at->handle;
    *at = (struct joint_mapped){handle, now};
    return n;
}

/* by_mapping copies len bytes between own memory and the origin's buffer, from byte `at` of it
 * on. */
static int by_mapping(struct rma *r, const struct joint_copy *copy, char *own, uint64_t at,
                      size_t len)
{
    const struct rma_env *env = r->env;
    struct rma_mem_loc where;
    void *base, *handle, *ended[JOINT_MAPPED];
    memcpy(where.word, copy->where, sizeof where.word);
    const int err = env->mem_map(env->ctx, &where, &base, &handle);
    if (err)
        return err;
    char *theirs = (char *)base + at;
    memcpy(copy->to_owner ? own : theirs, copy->to_owner ? theirs : own, len);
    rma_enter(r);
    const int n = keep(r, handle, r->clock(), ended);
    rma_leave(r);
    for (int i = 0; i < n; i++)
        env->mem_unmap(env->ctx, ended[i]);
    return MRMA_SUCCESS;
}

static int copy_chunk(struct rma *r, const struct joint_copy *copy, struct joint_chunk part)
{
    static const uint64_t nowhere[JOINT_WHERE_WORDS];
    char *own = (char *)(uintptr_t)(copy->owner_addr + part.at);
    if (!lives(r, copy))
        return MRMA_ERR_PROC_FAILED;
    if (memcmp(copy->where, nowhere, sizeof nowhere) != 0)
        return by_mapping(r, copy, own, part.at, part.len);
    return cma_copy(copy->pid, NULL, !copy->to_owner, own, copy->origin_addr + part.at, part.len);
}

bool joint_help(struct rma *r)
{
    struct joint_board *board = r->env->board;
    for (uint32_t open = joint_open(board); open; open &= open - 1) {
        struct joint_place *place = &board->places[__builtin_ctz(open)];
        uint32_t left;
        if (!joint_take(place, &left))
            continue;
        const int err = copy_chunk(r, &place->copy, joint_chunk_of(&place->copy, left));
        joint_done(place, err != MRMA_SUCCESS);
        atomic_fetch_add_explicit(&r->stats.joint_helped, 1, memory_order_relaxed);
        return true;
    }
    return false;
}

void joint_lose_peer(struct rma *r, const struct rma_peer *peer)
{
    if (r->env->board)
        joint_lose(r->env->board, peer->uid);
}

void joint_unmap(struct rma *r)
{
    for (int i = 0; i < JOINT_MAPPED; i++) {
        void *handle = r->path_side.mapped[i].handle;
        r->path_side.mapped[i].handle = NULL;
        if (handle)
            r->env->mem_unmap(r->env->ctx, handle);
    }
}
