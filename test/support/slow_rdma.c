/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slow_rdma.c - what slow_rdma.h says, on top of the operations of the fabric's channel.
 */
#include "slow_rdma.h"

#include "base/list.h"

enum { PUT_POLLS = 300, GET_POLLS = 10 };

struct slow_rdma slow_rdma[FABRIC_MAX];

static struct slow_rdma *slow_of(struct ch3_channel *ch)
{
    return &slow_rdma[LIST_ENTRY(ch, struct fabric_proc, channel)->rank];
}

static void move(struct slow_rdma_op *fo)
{
    const struct ch3_rdma *op = fo->op;
    void *remote = (void *)(uintptr_t)op->remote;
    if (fo->moved)
        return;
    fo->moved = true;
    if (op->put)
        memcpy(remote, fo->vc->channel->rdma.inject >= op->len ? fo->copy : op->local, op->len);
    else
        memcpy(op->local, remote, op->len);
}

/* What was put to a peer and done is in place. */
static void place(struct slow_rdma *f, const struct ch3_vc *vc)
{
    for (unsigned i = 0; i < f->nunplaced;) {
        const struct slow_rdma_unplaced *u = &f->unplaced[i];
        if (u->vc != vc) {
            i++;
            continue;
        }
        memcpy((void *)(uintptr_t)u->remote, u->bytes, u->len);
        memmove(&f->unplaced[i], &f->unplaced[i + 1], (--f->nunplaced - i) * sizeof *u);
    }
}

static void place_later(struct slow_rdma *f, const struct slow_rdma_op *fo)
{
    FABRIC_CHECK(f->nunplaced < SLOW_RDMA_UNPLACED && fo->op->len <= SLOW_RDMA_INJECT);
    struct slow_rdma_unplaced *u = &f->unplaced[f->nunplaced++];
    *u = (struct slow_rdma_unplaced){.vc = fo->vc, .remote = fo->op->remote, .len = fo->op->len};
    memcpy(u->bytes, fo->copy, u->len);
}

/* The puts to a peer are in front of a packet to it. */
static void slow_commit(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct slow_rdma *f = slow_of(ch);
    place(f, vc);
    for (unsigned i = 0; ch->caps & CH3_CAP_RDMA_ORDERED && i < f->n; i++)
        if (f->under_way[i].vc == vc && f->under_way[i].op->put)
            move(&f->under_way[i]);
    f->below->commit(ch, vc, len);
}

static int slow_start(struct ch3_channel *ch, struct ch3_vc *vc, struct ch3_rdma *op)
{
    struct slow_rdma *f = slow_of(ch);
    FABRIC_CHECK(op->key == 4711 && op->len && op->len <= ch->rdma.max);
    if (f->n == SLOW_RDMA_UNDER_WAY)
        return MRMA_AGAIN;
    if (f->refuses && !--f->refuses)
        return f->refusal;
    *(op->put ? &f->puts : &f->gets) += 1;
    f->under_way[f->n] =
        (struct slow_rdma_op){.op = op, .vc = vc, .left = op->put ? PUT_POLLS : GET_POLLS};
    if (op->put && op->len <= ch->rdma.inject)
        memcpy(f->under_way[f->n].copy, op->local, op->len);
    atomic_fetch_add(&f->n, 1);
    return MRMA_SUCCESS;
}

static unsigned slow_poll(struct ch3_channel *ch)
{
    struct slow_rdma *f = slow_of(ch);
    unsigned moved = f->below->poll(ch);
    for (unsigned i = 0; i < f->n;) {
        struct ch3_rdma *op = f->under_way[i].op;
        const bool lost = ch3_vc_is_lost(f->under_way[i].vc);
        if (--f->under_way[i].left) {
            i++;
            continue;
        }
        if (op->behind) /* the puts before it that are not done are in front of it */
            for (unsigned k = 0; k < f->n; k++)
                if (f->under_way[k].vc == f->under_way[i].vc && f->under_way[k].op->put)
                    move(&f->under_way[k]);
        if (op->behind)
            place(f, f->under_way[i].vc);
        if (op->put && ch->caps & CH3_CAP_RDMA_READ_BEHIND && !f->under_way[i].moved)
            place_later(f, &f->under_way[i]);
        else if (!lost)
            move(&f->under_way[i]);
        atomic_fetch_sub(&f->n, 1);
        f->under_way[i] = f->under_way[f->n];
        op->done(op, lost ? MRMA_ERR_PROC_FAILED : MRMA_SUCCESS);
        moved++;
    }
    return moved;
}

static bool slow_pending(struct ch3_channel *ch)
{
    struct slow_rdma *f = slow_of(ch);
    return f->n || f->below->pending(ch);
}

static void slow_release(struct ch3_channel *ch, struct ch3_mem *mem)
{
    (void)mem;
    slow_of(ch)->registered--;
}

static int slow_net_open(void *ctx, struct boot *boot, const struct rma_procs *procs, bool complete,
                         struct rma_net_mem *mine, struct rma_net_keys *keys)
{
    struct fabric_proc *p = ctx;
    const uint64_t vaddr = mine->len ? (uint64_t)(uintptr_t)mine->base : 0;
    struct rma_net_key key = {{4711, vaddr}, vaddr, mine->words, 0};
    (void)procs;
    FABRIC_CHECK(complete);
    if (mine->len) {
        mine->channel = &p->channel;
        slow_rdma[p->rank].registered++;
    }
    keys->set = true;
    return boot->allgather(boot, &key, keys->keys, sizeof key);
}

void slow_rdma_init(struct fabric_proc *p, bool ordered)
{
    struct slow_rdma *f = &slow_rdma[p->rank];
    *f = (struct slow_rdma){.ops = *p->channel.ops, .below = p->channel.ops};
    f->ops.rdma = slow_start;
    f->ops.mem_release = slow_release;
    f->ops.commit = slow_commit;
    f->ops.poll = slow_poll;
    f->ops.pending = slow_pending;
    p->channel.ops = &f->ops;
    p->channel.caps |= CH3_CAP_RDMA | (ordered ? CH3_CAP_RDMA_ORDERED : 0);
    p->channel.rdma = (struct ch3_rdma_limits){.by = CH3_RDMA_STREAM, .max = 3500, .depth = 64};
    p->conf.tune.rdma_min = p->conf.tune.rdma_min_passive = SLOW_RDMA_MIN;
    p->env.net_open = slow_net_open;
    p->env.net_room = 1;
}
