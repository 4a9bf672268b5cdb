/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim_core.h - between sim.c (processes and their environment), sim_sched.c (clock,
 * events, fibers) and sim_net.c (the channel). Tests include sim.h only.
 */
#ifndef MRMA_TEST_SIM_SIM_CORE_H
#define MRMA_TEST_SIM_SIM_CORE_H

#include "sim.h"

enum sim_event_kind { SIM_EV_RUN, SIM_EV_AGENT, SIM_EV_ARRIVE, SIM_EV_LOST, SIM_EV_KILL };

/* Something that will happen; what is a process or, for messages and losses, a peer. */
struct sim_event {
    uint64_t when, tie;
    enum sim_event_kind kind;
    uint32_t turn;
    void *what;
};

/* Processes that meet: a collective of the host, or a rest. */
struct sim_meeting {
    int present;
    uint64_t number;
};

struct sim_gathered;

struct sim {
    struct sim_opts opts;
    struct sim_proc *procs;
    uint64_t now, random, ticks, events_done;
    uint64_t last_step;       /* when anything last got anywhere */
    struct sim_event *events; /* a heap, earliest first */
    size_t nevents, room_events;
    int running; /* fibers that have not ended */
    int living;
    uint64_t overslept; /* sleeps that nobody ended */
    size_t flying;      /* messages not yet delivered */
    struct sim_meeting boot_in, boot_out, rest;
    struct sim_gathered *gathering; /* of the collective under way */
    size_t gathered_bytes, message_bytes, staging_bytes, npeers;
};

/* ---- sim_sched.c ---- */

/* sim_schedule puts an event into the future, delay nanoseconds from now. what: a process, or for
 * messages and losses a peer; turn: of a process's run. */
void sim_schedule(struct sim *s, uint64_t delay, enum sim_event_kind kind, void *what,
                  uint32_t turn);

/* sim_schedule_run makes the process go on after delay nanoseconds; whatever else was to run it is
 * stale. */
void sim_schedule_run(struct sim_proc *p, uint64_t delay);

/* sim_idle is rma_env.idle: the process gives the processor away (ev is NULL), or sleeps on ev
 * until that is woken after ticket, or ns nanoseconds have passed (0: no limit). */
void sim_idle(void *ctx, struct event *ev, uint32_t ticket, uint64_t ns);

/* sim_doorbell is called when something has come for the process: it wakes those who sleep there,
 * or the agent. */
void sim_doorbell(struct sim_proc *p);

/* sim_meet waits until all living processes are there. */
void sim_meet(struct sim_proc *p, struct sim_meeting *m);

/* sim_step notes that the process got somewhere. */
void sim_step(struct sim_proc *p);

/* sim_hits returns true in so many of a hundred cases, by the run's seed. */
bool sim_hits(struct sim *s, unsigned percent);

/* ---- sim_net.c ---- */
extern const struct ch3_channel_ops sim_channel_ops;

/* sim_arrive puts the link's first message into its receiver's inbox; nothing if it is gone with a
 * dead sender. */
void sim_arrive(struct sim_peer *link);

/* sim_peer_lost makes a peer's death known to the process that has it as a peer. */
void sim_peer_lost(struct sim_peer *peer);

/* sim_net_kill is called when the process has died: some of what it sent is lost, all that was sent
 * to it. */
void sim_net_kill(struct sim_proc *p);

/* sim_net_connected is called when a connection was made: if it is to a process that is dead, the
 * news of that comes. */
void sim_net_connected(struct sim_peer *peer);

/* sim_net_free frees all that is on its way from the process and in its inbox. */
void sim_net_free(struct sim_proc *p);

/* ---- sim.c ---- */

/* sim_peer_of returns the process's view of the one with that rank, and makes it if it is not
 * there. */
struct sim_peer *sim_peer_of(struct sim_proc *p, int rank);

/* sim_describe prints what each process is doing. */
void sim_describe(struct sim *s);

#endif
