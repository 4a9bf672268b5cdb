/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.h - random programs of one-sided communication, and what must come of them.
 *
 * A seed gives windows, and groups of epochs of all kinds with operations of all kinds;
 * plain arrays are worked on in the order of the program, which is the sequential
 * oracle. program_plan.c makes a group, program_oracle.c says what it leads to,
 * program_run.c lets processes run it. What processes are is the driver's: threads
 * (random.c) or fibers (simulate.c); it hands in a struct prog_world.
 *
 * So that the outcome is unique (MPI 4.1, 12.7): of every window each process has a lane
 * that only it accesses, and within an epoch (or between flushes) a cell is either put,
 * or got, or accumulated; a shared area takes sums from everybody, and increments by who
 * has the exclusive lock: a get and a put, between which nothing may come.
 *
 * Epochs of a group follow each other without a meeting of all; groups don't. So that no
 * program deadlocks by itself: several locks at once are taken in ascending order of
 * window and rank, or in any order while nobody has an exclusive one and another lock; a process
 * with MPI_Win_lock_all, which begins with its own memory, accesses only what comes behind that
 * while others do; MPI_MODE_NOCHECK stands where it is true.
 *
 * In a chain (prog_opts.chains) epochs of several kinds follow each other: of MPI_Win_start, whose
 * targets are late, of passive epochs on the same targets at once, of fences. That breaks the rule
 * that memory is not locked while it is exposed (12.5.3), for which hosts do not ask. A lane has a
 * part for each kind, since the order between them is not sure, and nobody has a lock while waiting
 * for another one.
 *
 * Of some windows some processes unlock weakly (info key mpirma_weak_unlock): what they have done
 * in a group is flushed at its end, in epochs of its own, before others look at it.
 *
 * Some windows have notifications, which some of the operations raise: at the end of a group each
 * process takes as many as the oracle says, and waits for them; then none is left.
 */
#ifndef MRMA_TEST_SIM_PROGRAM_H
#define MRMA_TEST_SIM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot/boot.h"
#include "rma/rma.h"

enum { PROG_PROCS = 8, PROG_WINS = 3 };

struct prog;
struct prog_world;

/* One process, as a program sees it. */
struct prog_actor {
    int rank;
    struct rma *rma;
    struct boot *boot;
    struct prog_world *world;
    void *proc; /* the driver's */
};

struct prog_world {
    int nproc;
    struct prog_actor actors[PROG_PROCS];
    /* Call body in every process that lives, and wait for all. */
    void (*run)(struct prog_world *w, void (*body)(struct prog_actor *a, void *arg), void *arg);
    /* Compute for a while, longer with n, without a call of the library. */
    void (*pause)(struct prog_actor *a, unsigned n);
    /* Between two polls: let others run. */
    void (*yield)(struct prog_actor *a);
    /* All meet, without the library; targets are served meanwhile. */
    void (*rest)(struct prog_actor *a);
    /* Mortal programs: windows are there, what follows may be anybody's last. */
    void (*doom)(struct prog_world *w);
    /* And nobody is in a call any more: an operating system would take back what the dead had. */
    void (*bury)(struct prog_world *w);
    /* A process begins to wait for a request (done is false), and has it. NULL: nobody asks. */
    void (*waits)(struct prog_actor *a, const struct rma_req *req, bool done);
    void *driver;
    uint64_t bound_ns; /* no call of run takes longer, by the simulation's clock; 0: unknown */
    struct prog *prog; /* the program that runs */
};

struct prog_opts {
    uint64_t seed;
    size_t lane; /* cells of a process's lane */
    int groups;
    unsigned max_ops; /* a process and epoch, mostly fewer */
    bool shared;      /* MPI_Win_allocate_shared is possible */
    bool mortal;      /* processes may die: calls may fail for that, contents are not looked at */
    bool chains;      /* all groups are chains */
};

/* What a program did, so that a test can see that it did it. */
struct prog_stats {
    uint64_t epochs[8], ops[8], asserts[8], locks_nested, weak, zero, requests, notified, failed;
};

/* prog_execute makes the program of *opts and runs it in the processes of w; aborts where the
 * outcome is wrong. What it did is added to *stats. */
void prog_execute(struct prog_world *w, const struct prog_opts *opts, struct prog_stats *stats);

/* prog_fail prints where a check has failed, and aborts. Only for PROG_CHECK. */
_Noreturn void prog_fail(const char *file, int line, const char *what);
#define PROG_CHECK(condition)                          \
    do {                                               \
        if (!(condition))                              \
            prog_fail(__FILE__, __LINE__, #condition); \
    } while (0)

#endif
