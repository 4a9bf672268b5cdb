/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric.h - N processes of the library in one test process, a thread each.
 *
 * Every process has its own struct rma, ch3, shm channel, environment and record;
 * nothing is shared but what processes of a node share: control blocks, windows
 * and rings, here in plain memory ("mapping" returns the owner's pointer). The
 * code under test is the code that ships, from rma/rma.h down to shm/ring.h; only
 * engine.c, segments and the host are replaced. So ThreadSanitizer sees it all.
 *
 *   struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = 4});
 *   fabric_run(f, body, arg);    calls body(struct fabric_proc *p, void *arg) once a process
 *   fabric_free(f);              checks that nothing is left: windows, memory, maps, peers
 *
 * Paths: memory of fabric_mem_alloc and MPI_Win_allocate is mapped; any other is
 * kernel-assisted (the kernel lets a process read itself) unless .no_assist.
 * Bodies use FABRIC_CHECK, never cmocka's asserts (those jump, out of a foreign
 * thread): a failed check ends the program. fabric_watchdog ends a hanging one.
 * fabric_run may be called several times; state (windows in p->user) persists.
 */
#ifndef MRMA_TEST_SIM_FABRIC_H
#define MRMA_TEST_SIM_FABRIC_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf.h"
#include "boot/boot.h"
#include "ch3/ch3.h"
#include "rma/win/win.h"
#include "self.h"
#include "shm/shm_channel.h"

enum { FABRIC_MAX = 64 };

struct fabric_opts {
    int nproc;
    enum conf_path path; /* as MPIRMA_PATH */
    enum conf_progress
        progress;          /* as MPIRMA_PROGRESS: auto and agent start an agent thread a process */
    enum conf_fence fence; /* as MPIRMA_FENCE */
    int per_node;       /* so many consecutive processes are a node; 0: one node. Others: packets */
    bool threads;       /* several threads of a process call (MPI_THREAD_MULTIPLE) */
    bool no_assist;     /* the kernel refuses cross-memory attach */
    bool no_membarrier; /* notify with fences, without membarrier (sys/futex_event.h) */
    unsigned cpus;      /* processors a node is said to have; 0: one (waits yield at once) */
    int node_procs_bound; /* what a launcher says, right or wrong; 0: nothing */
    double hang_report;   /* as MPIRMA_HANG_REPORT */
    bool unsent_leaves;   /* by itself, with time (progress/unsent.h): tests count packets */
    bool quiet;           /* drop the library's messages: the test provokes them */
    /* A slow and full network: so many percent of reserves find no room, of polls
     * deliver nothing. Repeatable by seed as far as threads are. */
    unsigned refuse_percent, delay_percent;
    uint64_t seed;
};

struct fabric;

/* One process's view of another: the rma_peer that windows use. */
struct fabric_peer {
    struct rma_peer peer; /* first */
    struct shm_peer shm;
    struct ring *ring; /* mine to it, NULL: not connected */
};

struct fabric_proc {
    struct sim_self self; /* first: the environment's ctx */
    struct fabric *fabric;
    int rank; /* in the fabric; windows over a fabric_comm may differ */
    struct log log;
    struct conf conf;
    struct procseg *seg; /* events, stripes, ring announcements */
    struct shm_channel *shm;
    struct ch3_channel channel; /* what CH3 sees: shm behind refuse and delay */
    struct ch3 ch3;
    struct rma_env env;
    struct rma rma;
    struct fabric_peer *peers; /* nproc */
    uint64_t random;
    pthread_t agent;
    _Atomic bool agent_stop;
    _Atomic bool dead; /* set by a test: env->peer_alive says so */
    void *user;        /* the test's */
};

/* A communicator: an exchange among n threads. */
struct fabric_comm {
    int n;
    pthread_barrier_t barrier;
    unsigned char *slots;
    size_t slot_bytes;
};

struct fabric {
    struct fabric_opts opts;
    struct fabric_proc *procs;
    struct fabric_comm *world;
    struct boot *boots; /* of world, one a process */
};

/* fabric_new makes the processes, and their agents where they have one. Aborts on error. */
struct fabric *fabric_new(const struct fabric_opts *opts);

/* fabric_free ends agents and engines. Aborts if windows, memory, maps or peer references are left.
 */
void fabric_free(struct fabric *f);

/* fabric_run calls body in one thread per process and waits for all. */
void fabric_run(struct fabric *f, void (*body)(struct fabric_proc *p, void *arg), void *arg);

/* fabric_boot returns the boot to create a window over all processes with. */
struct boot *fabric_boot(struct fabric_proc *p);

/* fabric_barrier is a barrier of all processes that is not the library's, and makes no progress. */
void fabric_barrier(struct fabric_proc *p);

/* fabric_comm_new makes a communicator of n processes: one of them calls this, then each calls
 * fabric_comm_boot. */
struct fabric_comm *fabric_comm_new(int n);

/* fabric_comm_free frees a communicator that no window creation uses. */
void fabric_comm_free(struct fabric_comm *c);

/* fabric_comm_boot sets up *boot for the process with that rank in the communicator. */
void fabric_comm_boot(struct fabric_comm *c, int rank, struct boot *boot);

/* fabric_mem_alloc allocates memory that peers can map, as MPI_Alloc_mem does. Aborts without
 * memory. */
void *fabric_mem_alloc(struct fabric_proc *p, size_t size);

/* fabric_mem_free frees memory of fabric_mem_alloc. */
void fabric_mem_free(struct fabric_proc *p, void *ptr);

/* fabric_win creates a window over all processes with default hints, size bytes each; base is for
 * WIN_CREATE. Collective. Aborts on error. */
struct win *fabric_win(struct fabric_proc *p, enum win_flavor flavor, void *base, uint64_t size,
                       uint32_t disp_unit);

/* fabric_win_free frees a window in order. Collective. Aborts on error. */
void fabric_win_free(struct win *w);

/* fabric_kill makes the process a dead one: it never polls again and its peers can see it. */
void fabric_kill(struct fabric_proc *p);

/* fabric_progress lets the process poll once: without it nothing arrives where no call is made. */
static inline void fabric_progress(struct fabric_proc *p)
{
    rma_progress(&p->rma);
}

/* fabric_watchdog ends the program with a message after so many seconds from now; 0: no more. */
void fabric_watchdog(unsigned seconds);

/* fabric_fail prints where a check has failed, and aborts. Only for FABRIC_CHECK. */
_Noreturn void fabric_fail(const char *file, int line, const char *what);
#define FABRIC_CHECK(condition)                          \
    do {                                                 \
        if (!(condition))                                \
            fabric_fail(__FILE__, __LINE__, #condition); \
    } while (0)

#endif
