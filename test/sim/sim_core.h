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
void sim_schedule(struct sim *s, uint64_t delay, enum sim_event_kind kind, void *what,
                  uint32_t turn);
/* The process goes on after delay; whatever else was to run it is stale. */
void sim_schedule_run(struct sim_proc *p, uint64_t delay);
void sim_idle(void *ctx, struct event *ev, uint32_t ticket, uint64_t ns);
/* Something has come for the process: wake who sleeps there, or the agent. */
void sim_doorbell(struct sim_proc *p);
/* Wait until all living processes are there. */
void sim_meet(struct sim_proc *p, struct sim_meeting *m);
/* Somebody got somewhere. */
void sim_step(struct sim_proc *p);
bool sim_hits(struct sim *s, unsigned percent);

/* ---- sim_net.c ---- */
extern const struct ch3_channel_ops sim_channel_ops;
void sim_arrive(struct sim_peer *link);
void sim_peer_lost(struct sim_peer *peer);
/* The process has died: some of what it sent is lost, all that was sent to it. */
void sim_net_kill(struct sim_proc *p);
/* A connection was made: to a process that is dead the news of that comes. */
void sim_net_connected(struct sim_peer *peer);
void sim_net_free(struct sim_proc *p);

/* ---- sim.c ---- */
struct sim_peer *sim_peer_of(struct sim_proc *p, int rank); /* made if it is not there */
void sim_describe(struct sim *s);

#endif
