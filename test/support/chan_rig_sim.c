/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chan_rig_sim.c - the simulated channel (test/sim/sim.h) for the conformance test.
 * Nobody runs there but the clock, which moves on a little with every poll.
 */
#include "chan_rig.h"

#include "../sim/sim_core.h"

enum { POLL_NS = 2000 };

static unsigned poll_later(struct ch3_channel *ch)
{
    struct sim_proc *p = LIST_ENTRY(ch, struct sim_proc, channel);
    sim_pass(p->sim, POLL_NS);
    return sim_channel_ops.poll(ch);
}

static bool simulated_open(struct rig *rig)
{
    static struct ch3_channel_ops ops;
    struct sim *s =
        sim_new(&(struct sim_opts){.nproc = rig->n, .per_node = 1, .delay_percent = 20, .seed = 1});
    rig->impl = s;
    ops = sim_channel_ops;
    ops.poll = poll_later;
    for (int i = 0; i < rig->n; i++) {
        struct sim_proc *p = sim_proc(s, i);
        p->channel.ops = &ops;
        rig->end[i].ch = &p->channel;
        for (int k = 0; k < rig->n; k++) {
            if (k == i)
                continue;
            struct sim_peer *peer = sim_peer_of(p, k);
            ch3_vc_init(&rig->end[i].vc[k], &rig->end[i].ch3, &p->channel, peer, &rig->end[i]);
            peer->vc = &rig->end[i].vc[k];
        }
    }
    return true;
}

static void simulated_close(struct rig *rig)
{
    sim_free(rig->impl);
}

static void simulated_vanish(struct rig *rig, int who)
{
    sim_kill_at(rig->impl, who, sim_now(rig->impl));
    rig->end[who].gone = true;
}

/* Limits are simulated time too: how busy the machine is has no say. */
static uint64_t simulated_now(const struct rig *rig)
{
    return sim_now(rig->impl);
}

const struct chan_kind rig_sim = {.name = "simulated",
                                  .open = simulated_open,
                                  .close = simulated_close,
                                  .vanish = simulated_vanish,
                                  .now = simulated_now,
                                  .caps = CH3_CAP_PROBE};
