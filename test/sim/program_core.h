/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_core.h - between program_plan.c, program_oracle.c and program_run.c.
 */
#ifndef MRMA_TEST_SIM_PROGRAM_CORE_H
#define MRMA_TEST_SIM_PROGRAM_CORE_H

#include "program.h"

enum { PROG_SHARED = 64, PROG_MAX_OPS = 6000, PROG_EPOCHS = 4, PROG_CHAIN = 16, PROG_LOCKS = 4 };
enum { PROG_NUMBERS = 4 }; /* of notifications, where a window has some */

enum prog_kind { OP_PUT, OP_GET, OP_ACC, OP_GET_ACC, OP_CAS, OP_SUM, OP_COUNTER, OP_KINDS };
/* LOCKS: several at once. MIXED: one lock, or lock_all. SHARED: shared ones of both kinds, also
 * NOCHECK. ANY_ORDER: one exclusive lock, or shared ones of both kinds. BESIDE: several at once, or
 * lock_all with accesses to one target, which comes behind the process's own memory. CHAIN is no
 * type of an epoch: a group of up to PROG_CHAIN epochs of several types. */
enum prog_type {
    E_FENCE,
    E_PSCW,
    E_LOCKS,
    E_MIXED,
    E_SHARED,
    E_ANY_ORDER,
    E_BESIDE,
    E_TYPES,
    E_CHAIN = E_TYPES
};
enum prog_sync {
    S_NONE,
    S_FLUSH,
    S_FLUSH_LOCAL,
    S_FLUSH_ALL,
    S_FLUSH_LOCAL_ALL,
    S_SYNC,
    S_RELOCK,
    S_KINDS
};

/* Cells first, first + step, ... of the target; n of them, given as tcount elements of
 * a type of n / tcount. */
struct prog_op {
    int origin, win, target;
    enum prog_kind kind;
    enum acc_op acc;
    size_t first, step, n, tcount, origin_step;
    uint64_t value;       /* what the origin's data is made of */
    int64_t compare;      /* OP_CAS */
    bool request, finish; /* by request, and waited for at once */
    uint32_t notify;      /* as in struct rma_op */
    unsigned pause;
    enum prog_sync sync;
    int64_t *expected, *origin_buf, *result;
    struct rma_req req;
    struct dtype *ttype, *otype;
    size_t next; /* operation of the same origin in this epoch */
};

struct prog_lock {
    int win, target;
    bool exclusive, nocheck;
};

/* What one process does in a passive epoch. */
struct prog_passive {
    bool all, all_nocheck; /* lock_all on all windows of the group; else: */
    int only;              /* BESIDE: accesses to this target of the last window; nproc: none */
    int n;
    struct prog_lock locks[PROG_LOCKS];
};

struct prog_epoch {
    enum prog_type type;                 /* the group's, but in a chain */
    unsigned late;                       /* PSCW: what targets compute before they post */
    int asserts[2];                      /* FENCE in a chain: in front of it and behind */
    bool idle;                           /* nobody issues anything */
    bool test, nocheck;                  /* PSCW */
    bool member[PROG_PROCS][PROG_PROCS]; /* PSCW: origin, target */
    struct prog_passive passive[PROG_PROCS];
    size_t first[PROG_PROCS]; /* operation of each origin, PROG_NONE */
};
#define PROG_NONE SIZE_MAX

struct prog_group {
    enum prog_type type;
    bool wins[PROG_WINS]; /* that take part */
    int nepochs;
    bool flush_all; /* what completes weak epochs at the end: MPI_Win_flush_all */
    struct prog_epoch epochs[PROG_CHAIN];
    /* Fences: one in front of each epoch and one behind the last. */
    int asserts[PROG_EPOCHS + 1][PROG_PROCS];
};

struct prog_window {
    enum win_flavor flavor;
    uint32_t disp_unit;
    bool empty[PROG_PROCS]; /* no memory here: operations without elements only */
    bool weak[PROG_PROCS];  /* mpirma_weak_unlock */
    bool notified;          /* mpirma_notifications */
    /* Of the present group, by target, origin and number. */
    uint64_t notices[PROG_PROCS][PROG_PROCS][PROG_NUMBERS];
    int64_t *model[PROG_PROCS], *memory[PROG_PROCS];
    struct win *win[PROG_PROCS];
};

/* A target type that a process uses again, so that it is one that the target has. */
enum { PROG_TYPES = 16 };
struct prog_known {
    size_t n, step;
    struct dtype *type;
};

struct prog {
    struct prog_world *world;
    struct prog_opts opts;
    struct prog_stats *stats;
    uint64_t random;
    int nproc, nwins;
    size_t cells; /* of a window part */
    struct prog_window wins[PROG_WINS];
    unsigned char *use;      /* of lane cells in the present epoch: [origin][win][target][cell] */
    size_t part_first, part; /* cells of a lane that the present epoch may access */
    struct prog_group group;
    struct prog_op *ops;
    size_t nops;
    struct prog_known known[PROG_PROCS][PROG_TYPES];
    bool broken[PROG_PROCS]; /* a call has failed there: no more of them */
};

/* prog_below returns a number below n, from the program's seed. */
size_t prog_below(struct prog *p, size_t n);

/* prog_datum returns element i of an origin's data that are made of value. */
int64_t prog_datum(uint64_t value, size_t i);

/* prog_plan makes the next group of epochs, its operations and their outcome. In program_plan.c. */
void prog_plan(struct prog *p);

/* prog_plan_free frees what prog_plan has made. In program_plan.c. */
void prog_plan_free(struct prog *p);

/* prog_compute applies the operation to the model and fills o->expected. In program_oracle.c. */
void prog_compute(struct prog *p, struct prog_op *o);

/* prog_claim returns whether the operation may touch its cells now, and marks them then. In
 * program_oracle.c. */
bool prog_claim(struct prog *p, const struct prog_op *o);

/* prog_forget takes the marks back of the origin's operations at that target, which are complete.
 * In program_oracle.c. */
void prog_forget(struct prog *p, int origin, int win, int target);

/* prog_forget_all takes all marks back. In program_oracle.c. */
void prog_forget_all(struct prog *p);

/* prog_run_group runs the group in one process; arg is its struct prog. In program_run.c. */
void prog_run_group(struct prog_actor *a, void *arg);

#endif
