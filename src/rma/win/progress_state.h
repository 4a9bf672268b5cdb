/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress_state.h - the state of waits, of rounds of progress and of the agent in struct rma. Only
 * src/rma/progress touches it; other rooms use progress.h and wait.h.
 *
 * Locks: none, except for what is unsent. Fields that are not atomic are written while a window is
 * created, under the engine's lock where several threads may call, and before the window that needs
 * them is used. Meanwhile threads that wait in other windows read packets, oversubscribed and
 * spin_inline: these fields only say how a wait is spent, and no other memory is read because of
 * what they say.
 */
#ifndef MRMA_RMA_WIN_PROGRESS_STATE_H
#define MRMA_RMA_WIN_PROGRESS_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/pace.h"

struct progress_hooks;

/* Something that a call has left unsent (unsent.h); embedded in what keeps it. When all fields but
 * leave are zero, it is not entered. Guarded by the engine's lock. */
struct unsent {
    struct list_node link; /* in unsent_list.entries */
    /* leave sends what is unsent if it may leave now, and takes it out of the list (unsent_gone).
     * True: it has left; false: there is no room for it, and it stays. Under the engine's lock;
     * does not wait. */
    bool (*leave)(struct unsent *u);
    bool seen;    /* a look (unsent.h) has found it in the list */
    bool awaited; /* it has operations with requests */
};

/* Everything that is unsent. The list and the counts are guarded by the engine's lock. */
struct unsent_list {
    struct list entries;
    uint32_t added, added_before; /* how many were entered so far, and until the last look */
    _Atomic uint32_t awaited;     /* entries with operations with requests */
    _Atomic bool due;             /* there will be a look at due_at; changed under the lock */
    _Atomic bool no_room;         /* the same, for entries that have found no room to leave */
    _Atomic uint64_t due_at;
    uint64_t room_ns; /* time between looks for entries without room: longer each time, up to a
                         limit */
    uint64_t look_ns; /* time between looks: UNSENT_LOOK_NS, except in tests that count packets */
};

struct progress_rma {
    const struct progress_hooks *hooks; /* hooks.h */
    _Atomic bool packets;               /* some window uses packets or the ring */
    _Atomic bool agent;                 /* the agent runs */
    _Atomic uintptr_t agent_thread;     /* the agent's thread, which has stored itself here; 0:
                                           there is none */
    _Atomic bool agent_off; /* the agent sleeps on its doorbell until the watcher stops: agent.c */
    _Atomic bool watcher;   /* an application thread sleeps on the channels' descriptors: wait.c */
    _Atomic bool oversubscribed;     /* more processes than processors on this node */
    _Atomic bool spin_inline;        /* processors for all, and no packets to poll: wait.h */
    int node_procs;                  /* the most processes of this node that a window has had */
    _Atomic uint32_t polls;          /* changes whenever an application thread polls */
    _Atomic uint32_t tests;          /* calls of rma_between_tests where processors are few */
    struct pace tests_pace;          /* when one of these calls looks at the clock */
    _Atomic uint64_t served_at;      /* when a poll has last moved something, on channels that must
                                        be polled */
    _Atomic uint64_t look_served_at; /* when rma_look has last moved something... */
    _Atomic uint64_t look_due_at;    /* ...and when it looks at the network again */
    struct pace look_pace;           /* when rma_look looks at the clock */
    _Atomic uint32_t host_vain;      /* rounds of the host that have looked into rings in vain */
    _Atomic uintptr_t host_entered;  /* the thread that is in the host's progress: advance_host.c */
    _Atomic uint64_t host_left_at;   /* when the last thread has left it */
    _Atomic uint64_t host_pause;     /* the next entry is at most so much later */
    _Atomic uint64_t host_shortest;  /* what the shortest entry took; 0: there was none */
    _Atomic uint32_t host_rounds;    /* rounds of waits since the clock was last looked at for the
                                        host's progress */
    _Atomic uint64_t next_check;     /* when a wait next looks whether a peer has died */
    struct unsent_list unsent;       /* unsent.h */
};

#endif
