/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim.h - N processes of the library in one thread: a fiber each, a simulated
 * network between them, one clock and one scheduler for all, driven by one seed.
 *
 * The same seed gives the same run, event by event. A process runs until it waits
 * (rma_env.idle), rests or ends; then the clock moves to the next event: a process
 * that goes on, a message that arrives, an agent's turn, a death. How long each
 * takes is drawn from the seed, so that runs differ in every order that the real
 * world could bring. What a process does between two waits takes no time.
 *
 *   network    never out of order within a pair; between pairs anything. A link
 *              holds so many bytes, refuses at random, and stalls for milliseconds.
 *   nodes      per_node consecutive processes share memory as in fabric.h: mapped,
 *              kernel-assisted and shared-memory synchronization are the real thing.
 *   agents     a process with an agent is polled by the scheduler when something
 *              arrives, or somebody rings, while nobody there polls.
 *   death      sim_kill_at: the process stops for good; peers hear of it sooner or
 *              later, by the channel or by peer_alive.
 *
 * When the clock moves on for a minute without a message delivered or a process
 * getting anywhere, all processes are described and the program aborts.
 *
 *   struct sim *s = sim_new(&(struct sim_opts){.nproc = 4, .per_node = 1, .seed = 7});
 *   sim_run(s, body, arg);     body(struct sim_proc *p, void *arg), once per living process
 *   sim_free(s);               checks that nothing is left of those who live
 */
#ifndef MRMA_TEST_SIM_SIM_H
#define MRMA_TEST_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf.h"
#include "base/list.h"
#include "base/map.h"
#include "boot/boot.h"
#include "ch3/ch3.h"
#include "fiber.h"
#include "rma/win/win.h"
#include "self.h"

struct sim_opts {
    int nproc;
    int per_node;                /* so many consecutive processes are a node; 0: one node */
    enum conf_path path;         /* as MPIRMA_PATH */
    enum conf_progress progress; /* as MPIRMA_PROGRESS */
    enum conf_fence fence;       /* as MPIRMA_FENCE */
    unsigned cpus;               /* processors a node is said to have; 0: one */
    bool no_assist;              /* the kernel refuses cross-memory attach */
    bool quiet;                  /* drop the library's messages: the test provokes them */
    unsigned refuse_percent;     /* of reserves find no room */
    unsigned delay_percent;      /* of polls deliver nothing */
    unsigned stall_permille;     /* of messages stall their link */
    uint64_t latency_ns;         /* every message takes so long; 0: drawn from the seed */
    size_t room;                 /* bytes that a link holds; 0: 128 KiB */
    size_t stack;                /* of a fiber; 0: 256 KiB */
    uint64_t seed;
    bool digests; /* the first exchange compares digests, as with more than BOOT_FEW processes */
    uint32_t first_number; /* of epochs, requests, lock tickets and so on: win/first_number.h */
    /* A message is delivered that was sent at that time. NULL: nobody asks. */
    void (*delivered)(void *arg, int from, int to, uint64_t sent);
    void *delivered_arg;
};

struct sim;
struct sim_proc;
struct sim_meeting;

/* One process's view of another. Made on first use. */
struct sim_peer {
    struct rma_peer peer; /* first */
    struct sim_proc *owner, *other;
    struct ch3_vc *vc; /* what its packets are delivered for: peer.vc, or a test's own */
    /* The link to it. */
    struct list flying; /* struct message, first to arrive first */
    size_t held;        /* bytes in flying, and in its inbox from here */
    uint64_t last_due, stalled_until;
    bool cut;    /* what was on its way is lost from here on */
    bool closed; /* disconnected: nothing from it is delivered */
    bool lost;   /* its death has become known here */
    struct list_node lost_link;
};

struct sim_proc {
    struct sim_self self; /* first: the environment's ctx */
    struct sim *sim;
    int rank, node;
    bool dead, buried;
    struct log log;
    struct conf conf;
    struct polling polling;
    struct stripes stripes;
    struct rma_notice *notices;
    struct rma_env env;
    struct ch3 ch3;
    struct rma rma;
    struct boot boot;
    struct map peers;  /* struct sim_peer by rank + 1 */
    uint64_t received; /* messages taken in */
    struct {
        uint64_t number, bytes; /* of exchanges, and what each process gave in them */
    } boots;

    /* The channel. */
    struct ch3_channel channel;
    struct list inbox;      /* struct message that have arrived */
    struct list lost;       /* struct sim_peer whose death is not yet told to CH3 */
    unsigned char *staging; /* the packet between reserve and commit */

    /* The scheduler. */
    struct fiber *fiber;
    void (*body)(struct sim_proc *p, void *arg);
    void *arg;
    enum { SIM_ENDED, SIM_READY, SIM_SLEEPS, SIM_MEETS } state;
    uint32_t turn;          /* of the event that will run it; others are stale */
    struct event *slept_on; /* SIM_SLEEPS */
    uint32_t ticket;
    struct sim_meeting *meeting; /* where it waits for the others; NULL: nowhere */
    bool agent_due;              /* an agent's turn is on its way */
    bool agent_sleeps;           /* and one after the longest time that it may sleep */
    uint32_t agent_seen;
    uint64_t since; /* when it last got anywhere */
    void *user;     /* the test's */
};

/* sim_new makes a simulation with its processes, none of which runs yet. There is one at a time.
 * Aborts without memory. */
struct sim *sim_new(const struct sim_opts *opts);

/* sim_free ends the engines and frees everything. Aborts if something is left of those who live:
 * windows, memory, maps or peer references. */
void sim_free(struct sim *s);

/* sim_bury gives back what the engines of the dead have, as an operating system would: before
 * buffers go to which they refer. */
void sim_bury(struct sim *s);

/* sim_run calls body in every living process and returns when all have returned or died. */
void sim_run(struct sim *s, void (*body)(struct sim_proc *p, void *arg), void *arg);

/* sim_proc returns the process of that rank. */
struct sim_proc *sim_proc(struct sim *s, int rank);

/* sim_nproc returns the number of processes, dead ones included. */
int sim_nproc(const struct sim *s);

/* sim_now returns the clock: nanoseconds since sim_new. */
uint64_t sim_now(const struct sim *s);

/* sim_events returns how many events there were so far: two runs of the same seed have the same
 * number. */
uint64_t sim_events(const struct sim *s);

/* sim_overslept returns how many long sleeps have ended by themselves: somebody forgot to wake, or
 * did nothing for long. */
uint64_t sim_overslept(const struct sim *s);

/* sim_in_flight returns how many messages are on their way, arrived ones included. */
size_t sim_in_flight(const struct sim *s);

/* sim_overhead returns the bytes of memory that the simulation has for itself: not the library's.
 */
size_t sim_overhead(const struct sim *s);

/* sim_pass lets ns nanoseconds pass without any process running: for tests of the channel alone. */
void sim_pass(struct sim *s, uint64_t ns);

/* sim_below returns a number below n, from the run's seed. */
uint64_t sim_below(struct sim *s, uint64_t n);

/* ---- in a body ---- */

/* sim_compute lets the process compute for ns nanoseconds: no call of the library is made
 * meanwhile. */
void sim_compute(struct sim_proc *p, uint64_t ns);

/* sim_yield lets others run for a moment: between two polls of the caller. */
void sim_yield(struct sim_proc *p);

/* sim_rest waits, without the library, until all living processes are there. Without an agent they
 * poll meanwhile, since nobody else would. */
void sim_rest(struct sim_proc *p);

/* sim_kill_at makes the process die when the clock shows when, wherever it is then. */
void sim_kill_at(struct sim *s, int rank, uint64_t when);

/* sim_win creates a window over all processes with default hints. Collective. Aborts on error. */
struct win *sim_win(struct sim_proc *p, enum win_flavor flavor, void *base, uint64_t size,
                    uint32_t disp_unit);

/* sim_win_free frees a window in order. Collective. Aborts on error. */
void sim_win_free(struct win *w);

/* sim_fail prints where a check has failed, and aborts. Only for SIM_CHECK. */
_Noreturn void sim_fail(const char *file, int line, const char *what);
#define SIM_CHECK(condition)                          \
    do {                                              \
        if (!(condition))                             \
            sim_fail(__FILE__, __LINE__, #condition); \
    } while (0)

#endif
