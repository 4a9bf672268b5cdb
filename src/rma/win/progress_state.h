/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress_state.h - what waits, rounds of progress and the agent keep in struct rma. Only this
 * room touches it; others ask and tell by progress.h and wait.h.
 *
 * Locks: none, but for what is unsent. What is not atomic is written while a window is created,
 * under the engine's lock where several threads may call, and before the window that needs it is
 * used. Threads that wait in other windows read packets, oversubscribed and spin_inline meanwhile:
 * these only say how a wait is spent, and nothing else is read on their word.
 */
#ifndef MRMA_RMA_WIN_PROGRESS_STATE_H
#define MRMA_RMA_WIN_PROGRESS_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/pace.h"

struct progress_hooks;

/* Something that a call has left unsent, part of what keeps it: unsent.h. All zero but for leave:
 * it is not entered. Guarded by the engine's lock. */
struct unsent {
    struct list_node link; /* in unsent_list.entries */
    /* leave sends it if it may leave now, and takes it out (unsent_gone): true. False: it may not
     * for want of room, and stays. Under the engine's lock; does not wait. */
    bool (*leave)(struct unsent *u);
    bool seen;    /* a look has found it */
    bool awaited; /* it has operations with requests */
};

/* Everything that is unsent. The list and the counts are guarded by the engine's lock. */
struct unsent_list {
    struct list entries;
    uint32_t added, added_before; /* so many were entered, and at the last look */
    _Atomic uint32_t awaited;     /* entries with operations with requests */
    _Atomic bool due;             /* there will be a look at due_at; changed under the lock */
    _Atomic bool no_room;         /* the same, of entries that have found no room to leave */
    _Atomic uint64_t due_at;
    uint64_t room_ns; /* from look to look for these: longer each time, up to a limit */
    uint64_t look_ns; /* from look to look: UNSENT_LOOK_NS, but in tests that count packets */
};

struct progress_rma {
    const struct progress_hooks *hooks; /* hooks.h */
    _Atomic bool packets;               /* some window uses packets or the ring */
    _Atomic bool agent;                 /* the agent runs */
    _Atomic uintptr_t agent_thread;     /* which it is, as it has stored itself; 0: none */
    _Atomic bool agent_off; /* and is on its doorbell until the watcher stops: agent.c */
    _Atomic bool watcher;   /* an application thread sleeps on the channels' descriptors: wait.c */
    _Atomic bool oversubscribed;     /* more processes than processors on this node */
    _Atomic bool spin_inline;        /* processors for all, and no packets to poll: wait.h */
    int node_procs;                  /* most processes of this node seen in a window */
    _Atomic uint32_t polls;          /* changes whenever an application thread polls */
    _Atomic uint32_t tests;          /* calls of rma_between_tests where processors are few */
    struct pace tests_pace;          /* when one of these looks at the clock */
    _Atomic uint64_t served_at;      /* when a poll has last moved something, where one must poll */
    _Atomic uint64_t look_served_at; /* when rma_look has last moved something... */
    _Atomic uint64_t look_due_at;    /* ...and when it looks at the network again */
    struct pace look_pace;           /* when it looks at the clock */
    _Atomic uintptr_t host_entered;  /* the thread in the host's progress: advance_host.c */
    _Atomic uint64_t host_left_at;   /* when the last one has left that */
    _Atomic uint64_t host_pause;     /* so much later at most is the next entry */
    _Atomic uint64_t host_shortest;  /* what the shortest entry took; 0: there was none */
    _Atomic uint32_t host_rounds;    /* of waits since the clock was last looked at for that */
    _Atomic uint64_t next_check;     /* when one of these looks whether a peer has died */
    struct unsent_list unsent;       /* unsent.h */
};

#endif
