/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pkt_craft.h - packets made by hand, against windows that are driven by hand.
 *
 * The fabric's processes are created by its threads, as window creation is
 * collective; then the test's own thread plays all of them: it sends what it has
 * crafted and lets each process poll. No time and no scheduler is involved.
 */
#ifndef MRMA_TEST_PKT_CRAFT_H
#define MRMA_TEST_PKT_CRAFT_H

#include "pkt_helper.h"
#include "rma/progress/progress.h"

struct craft {
    alignas(8) unsigned char bytes[PKT_MAX + 64];
};

static inline struct pkt_hdr *craft_hdr(struct craft *c)
{
    return (struct pkt_hdr *)(void *)c->bytes;
}

/* A packet from window rank `rank` to the process of window to, without records. */
static inline void craft_begin(struct craft *c, enum pkt_type type, const struct win *to, int rank)
{
    memset(c, 0, sizeof *c);
    *craft_hdr(c) = (struct pkt_hdr){.version = PKT_VERSION,
                                     .type = (uint8_t)type,
                                     .epoch = type == PKT_OPS ? PKT_EPOCH_NOCHECK : PKT_EPOCH_NONE,
                                     .len = sizeof(struct pkt_hdr),
                                     .win = to->index,
                                     .win_gen = to->index_gen,
                                     .rank = (uint32_t)rank};
}

/* Append bytes, padded to 8. Not inline: gcc would take the bytes for the header alone. */
static __attribute__((noinline, unused)) void craft_append(struct craft *c, const void *data,
                                                           size_t len)
{
    struct pkt_hdr *hdr = craft_hdr(c);
    FABRIC_CHECK(hdr->len + pkt_align(len) <= PKT_MAX);
    if (len)
        memcpy(c->bytes + hdr->len, data, len);
    hdr->len += (uint32_t)pkt_align(len);
}

/* Append a whole record and count it. */
static inline void craft_record(struct craft *c, const struct pkt_op *op,
                                const struct pkt_seg *segs, unsigned nseg, const void *data,
                                size_t len)
{
    craft_append(c, op, sizeof *op);
    craft_append(c, segs, nseg * sizeof *segs);
    craft_append(c, data, len);
    craft_hdr(c)->count++;
}

/* ---- a fabric without agents and one window of bytes over all, for each test ---- */

static struct fabric *fabric UNUSED_OK;
static struct win *win[FABRIC_MAX] UNUSED_OK;

/* Where each process's window is, and its displacement unit. */
struct craft_window {
    unsigned char *base; /* of process 0, the others' follow */
    size_t stride, size;
    uint32_t unit;
};

static inline void craft_window(struct fabric_proc *p, void *arg)
{
    const struct craft_window *a = arg;
    unsigned char *base = a->base + (size_t)p->rank * a->stride;
    fabric_win_free(
        fabric_win(p, WIN_CREATE, base, a->size, a->unit)); /* so that the index has a past */
    win[p->rank] = fabric_win(p, WIN_CREATE, base, a->size, a->unit);
}

/* Messages are dropped: these tests provoke them. */
static inline void craft_setup(int nproc, int per_node, struct craft_window window)
{
    atomic_store(&pkt_arrived, 0);
    fabric_watchdog(60);
    fabric =
        fabric_new(&(struct fabric_opts){.nproc = nproc,
                                         .per_node = per_node,
                                         .quiet = true,
                                         .path = per_node ? CONF_PATH_AUTO : CONF_PATH_SHM_PACKETS,
                                         .progress = CONF_PROGRESS_POLL});
    fabric_run(fabric, craft_window, &window);
}

/* end: frees the windows. */
static inline void craft_teardown(void (*end)(struct fabric_proc *p, void *arg))
{
    fabric_run(fabric, end, NULL);
    fabric_free(fabric);
    fabric_watchdog(0);
}

/* Every process polls until nothing moves any more. */
static inline void settle(struct fabric *f)
{
    for (int quiet = 0; quiet < 3; quiet++)
        for (int i = 0; i < f->opts.nproc; i++)
            if (rma_pending(&f->procs[i].rma) || ch3_unsent(&f->procs[i].ch3)) {
                fabric_progress(&f->procs[i]);
                quiet = 0;
            }
}

/* len bytes of a packet, whatever its header says. */
static inline void craft_send_raw(struct fabric *f, int from, int to, const struct craft *c,
                                  size_t len)
{
    struct fabric_proc *p = &f->procs[from];
    FABRIC_CHECK(p->env.peer_connect(p, &p->peers[to].peer) ==
                 MRMA_SUCCESS); /* maybe its first packet */
    FABRIC_CHECK(ch3_send(&p->peers[to].peer.vc, c->bytes, len, NULL, false) == MRMA_SUCCESS);
    settle(f);
}

static inline void craft_send(struct fabric *f, int from, int to, struct craft *c)
{
    craft_send_raw(f, from, to, c, craft_hdr(c)->len);
}

#endif
