/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma.h - what src/mpi calls: windows, operations, synchronization, requests.
 *
 * No MPI types here. The entry points have checked what can be checked from the
 * arguments alone (handles, counts, ranks in range, non-negative displacement,
 * operation allowed on type); these functions check what needs the window:
 * epoch state and range. They return enum mrma_err. All sizes are bytes.
 *
 * Thread safety: as the engine was created; concurrent callers are allowed under
 * MPI_THREAD_MULTIPLE.
 */
#ifndef MRMA_RMA_RMA_H
#define MRMA_RMA_RMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acc/acc.h"
#include "base/atomic.h"
#include "boot/boot.h"
#include "dtype/dtype.h"

struct rma;
struct win;

/* ---- windows (MPI 4.1, 12.2) ---- */

enum win_flavor { WIN_CREATE = 1, WIN_ALLOCATE, WIN_ALLOCATE_SHARED, WIN_DYNAMIC };

enum { /* accumulate_ordering bits; default all */
       WIN_ORDER_RAR = 1,
       WIN_ORDER_WAR = 2,
       WIN_ORDER_RAW = 4,
       WIN_ORDER_WAW = 8,
       WIN_ORDER_ALL = 15
};

/* The hints in use. src/mpi/calls/win_info.c translates to and from MPI_Info. Those before
 * alloc_shm must be the same on all processes. Processes exchange it, so there is no padding. */
struct win_hints {
    uint64_t granularity; /* mpi_accumulate_granularity, 0: unspecified */
    uint32_t ordering;    /* WIN_ORDER_* */
    uint32_t which_ops;   /* bit per enum acc_op that will be used, default all */
    bool no_locks;
    bool same_size, same_disp_unit;
    bool same_op; /* accumulate_ops = same_op, else same_op_no_op */
    bool alloc_shared_noncontig;
    bool alloc_shm;         /* MPI_Win_allocate in shared memory, default true */
    bool populate;          /* pages at once, default false */
    bool weak_unlock;       /* unlock does not wait for the targets of packets, default false */
    uint64_t min_alignment; /* bytes, power of two, 0: default */
};

/* What holds where no hint is given. */
struct win_hints win_hints_default(void);

/* Hints as text. Each is known by its number, 0 to HINTS - 1. */
enum { HINTS = 12 };

const char *hint_key(int i);      /* its info key */
const char *hint_expected(int i); /* what its value may be, for messages */

/* Take the value from text; false, and *h as it was: not understood. */
bool hint_read(int i, const char *text, struct win_hints *h);

/* The value as MPI_Win_get_info shows it. */
void hint_show(int i, const struct win_hints *h, char *buf, size_t len);

struct win_spec {
    enum win_flavor flavor;
    void *base;         /* WIN_CREATE: the caller's memory */
    uint64_t size;      /* bytes of this process's part; 0 for WIN_DYNAMIC */
    uint32_t disp_unit; /* bytes, > 0; 1 for WIN_DYNAMIC */
    struct win_hints hints;
    struct boot *boot; /* the communicator; used during creation only */
};

/* Collective. All processes return success, or all an error (not necessarily the
 * same): MRMA_ERR_NO_MEM, _INFO_VALUE, _RMA_SHARED (MPI_Win_allocate_shared over nodes),
 * _RMA_FLAVOR (MPIRMA_PATH cannot be had for this window), _ARG (arguments that
 * must agree do not), _OTHER. */
int win_create(struct rma *rma, const struct win_spec *spec, struct win **out);

/* By packets the first operation of an epoch that must not be sent before its target has begun its
 * part of it waits so long for the target before it is deferred (path/deferred.h). */
enum { RMA_LATE_TARGET_WAIT_US = 200 };

/* Collective. MRMA_ERR_RMA_SYNC (and nothing happens) inside an epoch. First half:
 * waits until all processes have come and every operation is done; the window
 * still exists (attribute delete call-backs run now). Second half releases; also after
 * MRMA_ERR_PROC_FAILED of the first, which comes in bounded time, in any epoch if the loss was
 * known before (create/abandoned.h). */
int win_free_begin(struct win *win);
/* Between the halves: what targets have refused since the last synchronization. */
int win_take_error(struct win *win);
void win_free_end(struct win *win);

/* Dynamic windows. MRMA_ERR_RMA_FLAVOR, _RMA_ATTACH, _SIZE, _NO_MEM. */
int win_attach(struct win *win, void *base, uint64_t size);
int win_detach(struct win *win, const void *base);

/* MPI_Win_shared_query (4.1, any flavour): address of rank's part in this
 * process, or *base NULL and *size 0 where it is not mapped. rank -1 means
 * MPI_PROC_NULL: the lowest rank with size > 0. MRMA_ERR_RMA_FLAVOR for dynamic. */
int win_shared_query(struct win *win, int rank, uint64_t *size, uint32_t *disp_unit, void **base);

/* Facts for attributes, info and messages. Pointers live as long as the window. */
enum win_flavor win_flavor(const struct win *win);
void **win_base_attr(struct win *win); /* address of this process's base */
const uint64_t *win_size(const struct win *win);
uint32_t win_id(const struct win *win); /* small number for messages, local */
/* The same number at all its processes, and no other window's of the job. */
uint64_t win_number(const struct win *win);
const struct win_hints *win_hints(const struct win *win);
/* MPI_Win_set_info: takes over the hints that may change in a window's life
 * (accumulate_ordering, accumulate_ops, which_accumulate_ops), ignores the others. */
void win_set_hints(struct win *win, const struct win_hints *hints);
/* "mapped", "cma", "packets" or "net-packets", for info and messages; sends nothing. */
const char *win_path_name(const struct win *win, int target);
/* Epoch state in words, e.g. "in a lock epoch on targets 1 3", for messages. */
void win_describe(const struct win *win, int target, char *buf, size_t len);

/* ---- operations (12.3) ---- */

struct rma_req;

/* One operation. Which fields are used depends on the call; unused ones are 0.
 * Buffers belong to the caller until local completion; datatypes are referenced
 * by the library where it needs them longer than the call. */
struct rma_op {
    const void *oaddr; /* origin: data that goes out (put, accumulate, ...) */
    size_t ocount;
    const struct dtype *otype;
    void *raddr; /* result: data that comes back (get, get_accumulate, ...) */
    size_t rcount;
    const struct dtype *rtype;
    const void *caddr; /* compare_and_swap: compare value */
    int target;
    int64_t disp; /* in units of the target's displacement unit */
    size_t tcount;
    const struct dtype *ttype;
    enum acc_op op;
    struct rma_req *req; /* request of an R-operation, or NULL */
};

/* An operation without anything. Field by field: an initialiser of this size becomes
 * a string instruction, whose stores cannot be forwarded to the loads that follow
 * (doc/decisions.md). */
static inline void rma_op_clear(struct rma_op *op)
{
    op->oaddr = op->caddr = NULL;
    op->raddr = NULL;
    op->ocount = op->rcount = op->tcount = 0;
    op->otype = op->rtype = op->ttype = NULL;
    op->target = 0;
    op->disp = 0;
    op->op = ACC_OP_NONE;
    op->req = NULL;
}

/* MRMA_ERR_RMA_SYNC outside an access epoch to target, MRMA_ERR_RMA_RANGE,
 * MRMA_ERR_COUNT (origin and target data differ in size), MRMA_ERR_TYPE. */
int rma_put(struct win *win, const struct rma_op *op);
int rma_get(struct win *win, const struct rma_op *op);
int rma_accumulate(struct win *win, const struct rma_op *op);
/* Also MPI_Fetch_and_op (count 1 on every side). Origin is ignored for ACC_NO_OP. */
int rma_get_accumulate(struct win *win, const struct rma_op *op);
/* oaddr, caddr, raddr: one element of ttype. */
int rma_compare_and_swap(struct win *win, const struct rma_op *op);

/* ---- requests of R-operations (12.3.5) ---- */

struct rma_req {
    _Atomic uint32_t pending; /* parts not yet complete; set up by rma_req_init */
    _Atomic int err;          /* first error, an enum mrma_err */
    uint64_t number;          /* of the operation in a trace (src/trace); 0: none is taken */
};
/* Before the operation is issued; the request is the caller's. */
void rma_req_init(struct rma_req *req);
/* After the operation was issued and as often as wanted: complete? (acquire) */
static inline bool rma_req_done(struct rma_req *req)
{
    return atomic_load_explicit(&req->pending, memory_order_acquire) == 0;
}

/* One non-blocking round of progress (Wait/Test wrappers, pollers). Did anything move? */
bool rma_progress(struct rma *rma);
/* The same for who waits for requests: those to a process that has died end. */
void rma_progress_requests(struct rma *rma);
/* Does any window of this process send or receive packets? */
bool rma_uses_packets(const struct rma *rma);
/* Called by the host's own progress, maybe millions of times a second, in whatever call of the host
 * a thread waits: serves what lies in the rings of this process, and lets senders know that they
 * need not wake the agent. Costs a few loads if there is nothing. Channels with a descriptor are
 * left to the agent, which the kernel wakes. Did anything move? */
bool rma_host_poll(struct rma *rma);
/* What a waiting loop of src/mpi does between rounds of its own (host) polling:
 * spin, then yield, by how often it has found nothing (round from 0). */
void rma_backoff(struct rma *rma, unsigned round);

/* ---- synchronization (12.5) ---- */

enum { /* asserts, translated from MPI_MODE_* by src/mpi */
       RMA_NOCHECK = 1,
       RMA_NOSTORE = 2,
       RMA_NOPUT = 4,
       RMA_NOPRECEDE = 8,
       RMA_NOSUCCEED = 16
};

/* All of these but rma_start, rma_post, rma_test and rma_sync may wait for other processes. They
 * return MRMA_ERR_RMA_SYNC, with nothing done, where the present epoch does not allow the call;
 * MRMA_ERR_PROC_FAILED where a process is lost; MRMA_ERR_ASSERT (MPIRMA_STRICT) where an assert was
 * not kept; and those that complete operations the first error of these that only the target has
 * found. */
int rma_fence(struct win *win, int asserts);

/* ranks: window ranks of the group, n of them, any order; not kept. MRMA_ERR_NO_MEM. */
int rma_start(struct win *win, const int *ranks, int n, int asserts);
int rma_complete(struct win *win);
int rma_post(struct win *win, const int *ranks, int n, int asserts);
int rma_wait(struct win *win);
int rma_test(struct win *win, bool *flag);

/* Passive target epochs on rank target, or all. A lock of a memory peer is held when rma_lock
 * returns; of others it is asked for with the first packet. */
int rma_lock(struct win *win, bool exclusive, int target, int asserts);
int rma_unlock(struct win *win, int target);
int rma_lock_all(struct win *win, int asserts);
int rma_unlock_all(struct win *win);
/* Everything issued to target, or all, is complete there, or, local, its buffers here may be used
 * again. */
int rma_flush(struct win *win, int target, bool local);
int rma_flush_all(struct win *win, bool local);
/* MPI_Win_sync: this process's loads and stores of the window's memory before and after. */
int rma_sync(struct win *win);

#endif
