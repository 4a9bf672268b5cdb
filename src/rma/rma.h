/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma.h - what src/mpi calls: windows, operations, synchronization, requests.
 *
 * No MPI types here. The entry points have checked what can be checked from the
 * arguments alone (handles, counts, ranks in range, non-negative displacement,
 * operation allowed on type); these functions check what needs the window:
 * epoch state and range. They return enum mrma_err. All sizes are bytes.
 *
 * Thread safety depends on how the engine was created: concurrent callers are allowed under
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
struct dtype;
struct trace;
struct rma_op;

/* ---- windows (MPI 4.1, 12.2) ---- */

enum win_flavor { WIN_CREATE = 1, WIN_ALLOCATE, WIN_ALLOCATE_SHARED, WIN_DYNAMIC };

enum { /* accumulate_ordering bits; default all */
       WIN_ORDER_RAR = 1,
       WIN_ORDER_WAR = 2,
       WIN_ORDER_RAW = 4,
       WIN_ORDER_WAW = 8,
       WIN_ORDER_ALL = 15
};

/* The hints in use. src/mpi/calls/win_info.c translates them to and from MPI_Info. The hints before
 * alloc_shm must be the same on all processes. Processes exchange the structure, so it has no
 * padding. */
struct win_hints {
    uint64_t granularity;   /* mpi_accumulate_granularity, 0: unspecified */
    uint64_t notifications; /* mpirma_notifications, at most NOTIFY_MAX (notify/notify.h) */
    uint32_t ordering;      /* WIN_ORDER_* */
    uint32_t which_ops;     /* bit per enum acc_op that will be used, default all */
    bool no_locks;
    bool same_size, same_disp_unit;
    bool same_op; /* accumulate_ops = same_op, else same_op_no_op */
    bool alloc_shared_noncontig;
    bool fabric_atomics;    /* accumulates by the network's cards, where these can; default false */
    bool alloc_shm;         /* MPI_Win_allocate in shared memory, default true */
    bool populate;          /* pages are made at once, default false */
    bool weak_unlock;       /* unlock does not wait for the targets of packets, default false */
    uint8_t zero[7];        /* nothing */
    uint64_t min_alignment; /* bytes, power of two, 0: default */
};

/* win_hints_default returns the hints that hold where the program gives none. */
struct win_hints win_hints_default(void);

/* Hints as text. Each hint has a number, 0 to HINTS - 1. */
enum { HINTS = 14 };

/* hint_key returns the info key of hint i, a constant. */
const char *hint_key(int i);

/* hint_expected returns in words what the value of hint i may be, for messages; a constant. */
const char *hint_expected(int i);

/* hint_read takes the value of hint i in *h from text. Returns false if it does not understand
 * text; then *h is as it was. */
bool hint_read(int i, const char *text, struct win_hints *h);

/* hint_show writes the value of hint i as MPI_Win_get_info shows it into buf, of len bytes. */
void hint_show(int i, const struct win_hints *h, char *buf, size_t len);

struct win_spec {
    enum win_flavor flavor;
    void *base;         /* WIN_CREATE: the caller's memory */
    uint64_t size;      /* bytes of this process's part; 0 for WIN_DYNAMIC */
    uint32_t disp_unit; /* bytes, > 0; 1 for WIN_DYNAMIC */
    struct win_hints hints;
    struct boot *boot; /* the communicator; used during creation only */
};

/* win_create makes a window as spec says, and sets *out, which win_free_begin and win_free_end
 * free. Collective over spec->boot; waits for the others. All processes return success, or all an
 * error (not necessarily the same): MRMA_ERR_NO_MEM, _INFO_VALUE, _RMA_SHARED
 * (MPI_Win_allocate_shared over nodes), _RMA_FLAVOR (MPIRMA_PATH cannot be had for this window),
 * _ARG (arguments that must agree do not), _OTHER. */
int win_create(struct rma *rma, const struct win_spec *spec, struct win **out);

/* win_free_begin is the first half of MPI_Win_free: it waits until all processes have come and
 * every operation is done. The window still exists (attribute delete call-backs run then).
 * Collective. MRMA_ERR_RMA_SYNC, with nothing done, inside an epoch. MRMA_ERR_PROC_FAILED, in
 * bounded time, if a process is lost; if the loss was known before, also inside an epoch
 * (create/abandoned.h). */
int win_free_begin(struct win *win);

/* win_take_error returns the first error since the last synchronization that only a target has
 * found. It is for use between the halves of MPI_Win_free. MRMA_SUCCESS: there was none. */
int win_take_error(struct win *win);

/* win_free_end is the second half: it frees the window, also after MRMA_ERR_PROC_FAILED of the
 * first. Waits for nobody. */
void win_free_end(struct win *win);

/* win_attach does MPI_Win_attach: the size bytes at base become part of the window.
 * MRMA_ERR_RMA_FLAVOR (the window is not dynamic), _RMA_ATTACH (some of them are attached already,
 * or there are too many regions), _SIZE. */
int win_attach(struct win *win, void *base, uint64_t size);

/* win_detach does MPI_Win_detach of what was attached at base. Where the network of other processes
 * puts to and gets from the memory by itself, it waits until their agents have let go of it, but
 * never for a call of these processes. MRMA_ERR_RMA_FLAVOR; _RMA_ATTACH: nothing was attached
 * there; _PROC_FAILED: a process was lost while it waited, and the memory is detached all the
 * same. */
int win_detach(struct win *win, const void *base);

/* win_shared_query does MPI_Win_shared_query (4.1, any flavour): *base is the address of rank's
 * part in this process, *size its bytes, or NULL and 0 where it is not mapped here; *disp_unit its
 * unit in any case. rank -1 means MPI_PROC_NULL: the lowest rank with size > 0. MRMA_ERR_RMA_FLAVOR
 * for a dynamic window, or why the process of rank cannot be reached. */
int win_shared_query(struct win *win, int rank, uint64_t *size, uint32_t *disp_unit, void **base);

/* Facts for attributes, info and messages. Pointers live as long as the window. Any thread. */

/* win_flavor returns by which call the window was made. */
enum win_flavor win_flavor(const struct win *win);

/* win_base_attr returns where the address of this process's part is stored. */
void **win_base_attr(struct win *win);

/* win_size returns where the size of this process's part, in bytes, is stored. */
const uint64_t *win_size(const struct win *win);

/* win_id returns a small number of the window in this process, for messages. */
uint32_t win_id(const struct win *win);

/* win_number returns a number that is the same at all processes of the window and different from
 * that of every other window of the job. */
uint64_t win_number(const struct win *win);

/* win_hints returns the hints in use. */
const struct win_hints *win_hints(const struct win *win);

/* win_set_hints does MPI_Win_set_info: it takes over the hints that may change in a window's life
 * (accumulate_ordering, accumulate_ops, which_accumulate_ops), and ignores the others. */
void win_set_hints(struct win *win, const struct win_hints *hints);

/* win_path_name returns how operations reach a target, for info and messages: "mapped", "cma",
 * "shm-packets" or "net-packets". It sends nothing and makes no connection. */
const char *win_path_name(const struct win *win, int target);

/* win_describe writes the state of the epochs in words into buf, of len bytes, for messages, e.g.
 * "in a lock epoch on 2 targets, rank 3 is locked shared". target is the rank that the message is
 * about, -1: none. */
void win_describe(const struct win *win, int target, char *buf, size_t len);

/* Synchronization calls, for rma_explain_sync. MPI_Win_test counts as RMA_CALL_WAIT, a local flush
 * as a flush. */
enum rma_call {
    RMA_CALL_FENCE,
    RMA_CALL_START,
    RMA_CALL_COMPLETE,
    RMA_CALL_POST,
    RMA_CALL_WAIT,
    RMA_CALL_LOCK,
    RMA_CALL_UNLOCK,
    RMA_CALL_LOCK_ALL,
    RMA_CALL_UNLOCK_ALL,
    RMA_CALL_FLUSH,
    RMA_CALL_FLUSH_ALL,
    RMA_CALL_SYNC,
    RMA_CALL_FREE
};

/* rma_explain_sync reports, by base/fault.h, why call was refused with err, as far as the state of
 * the window still shows that (a refused call does not change the state). target is a rank, or -1.
 * It is not called on a path that succeeds. */
void rma_explain_sync(struct win *win, enum rma_call call, int target, int err)
    __attribute__((cold));

/* rma_explain_op does the same for an operation. op is as it was when it was refused; target and
 * ttype are set. */
void rma_explain_op(struct win *win, const struct rma_op *op, int err) __attribute__((cold));

/* ---- operations (12.3) ---- */

struct rma_req;

/* One operation. Which fields are used depends on the call; unused ones are 0.
 * Buffers belong to the caller until local completion; datatypes are referenced
 * by the library where it needs them longer than the call. */
struct rma_op {
    const void *oaddr; /* origin: data that go out (put, accumulate, ...) */
    size_t ocount;
    const struct dtype *otype;
    void *raddr; /* result: data that come back (get, get_accumulate, ...) */
    size_t rcount;
    const struct dtype *rtype;
    const void *caddr; /* compare_and_swap: compare value */
    int target;
    uint32_t notify; /* 1 + the number of the notification that it raises, 0: none */
    int64_t disp;    /* in units of the target's displacement unit */
    size_t tcount;
    const struct dtype *ttype;
    enum acc_op op;
    struct rma_req *req; /* request of an R-operation, or NULL */
};

/* rma_op_clear clears all fields of *op. It does so one by one, since an initialiser of this size
 * becomes a string instruction, whose stores cannot be forwarded to the loads that follow. */
static inline void rma_op_clear(struct rma_op *op)
{
    op->oaddr = op->caddr = NULL;
    op->raddr = NULL;
    op->ocount = op->rcount = op->tcount = 0;
    op->otype = op->rtype = op->ttype = NULL;
    op->target = 0;
    op->notify = 0;
    op->disp = 0;
    op->op = ACC_OP_NONE;
    op->req = NULL;
}

/* All operations return MRMA_ERR_RMA_SYNC outside an access epoch to target, and, with a request,
 * outside a passive target epoch; MRMA_ERR_RMA_RANGE; MRMA_ERR_COUNT (origin and target data differ
 * in size); MRMA_ERR_TYPE; MRMA_ERR_PROC_FAILED where the target is lost; MRMA_ERR_NO_MEM. After
 * one of the last two the operation may be done in part; after any error op->req is not used any
 * more. They may wait until the target may be accessed or there is room for a packet, but never for
 * a call of the target unless the standard allows that. */

/* rma_put does MPI_Put or MPI_Rput. */
int rma_put(struct win *win, const struct rma_op *op);

/* rma_get does MPI_Get or MPI_Rget. */
int rma_get(struct win *win, const struct rma_op *op);

/* rma_accumulate does MPI_Accumulate or MPI_Raccumulate. */
int rma_accumulate(struct win *win, const struct rma_op *op);

/* rma_get_accumulate does MPI_Get_accumulate or MPI_Rget_accumulate, and MPI_Fetch_and_op (count 1
 * on every side). The origin side is ignored for ACC_NO_OP. */
int rma_get_accumulate(struct win *win, const struct rma_op *op);

/* rma_compare_and_swap does MPI_Compare_and_swap. oaddr, caddr and raddr have one element of ttype.
 */
int rma_compare_and_swap(struct win *win, const struct rma_op *op);

/* ---- notifications (doc/notified.md) ---- */

/* A put, get or accumulate whose rma_op.notify is set raises the counters of that number at its
 * target when its data are in place there or, for a get, when they have been read. If there is no
 * byte to transfer it only notifies. */
enum { RMA_NOTIFY_ANY = -1 }; /* a source that stands for all processes */

/* rma_notify_numbers returns how many numbers of notifications win has. Any thread. */
uint32_t rma_notify_numbers(const struct win *win);

/* What a call awaits: count notifications, from source, a rank or RMA_NOTIFY_ANY, of one of the n
 * numbers from first on. */
struct rma_notified {
    int source, first, n;
    uint64_t count;
};

/* rma_notify_expect returns whether these notifications can be counted: MRMA_SUCCESS, MRMA_ERR_ARG
 * (win does not have all of these numbers, or n is not positive), MRMA_ERR_NO_MEM, or why the
 * process of source cannot be reached. The functions below call it first, and return its errors. */
int rma_notify_expect(struct win *win, const struct rma_notified *what);

/* rma_notify_read sets *value to how many notifications have come and were not taken. It makes
 * progress. */
int rma_notify_read(struct win *win, int source, int number, uint64_t *value);

/* rma_notify_await is called when a request begins or ends to await notifications for which
 * rma_notify_expect has returned success: meanwhile rma_progress_requests looks whether processes
 * of the window are lost. */
void rma_notify_await(struct win *win, const struct rma_notified *what, bool awaits);

/* rma_notify_take takes count notifications of the lowest number that has so many, and sets *number
 * to it; if there is no such number it takes none, and sets *number to -1. Does not wait and makes
 * no progress. MRMA_ERR_PROC_FAILED: a process of the window is lost, as far as this one knows
 * (rma_notify_await), and none is taken. */
int rma_notify_take(struct win *win, const struct rma_notified *what, int *number);

/* rma_notify_test is rma_notify_take for programs that call it in a loop: it makes progress, and
 * looks whether processes of the window are lost. */
int rma_notify_test(struct win *win, const struct rma_notified *what, int *number);

/* rma_notify_wait waits until rma_notify_take takes some. MRMA_ERR_PROC_FAILED: a process of the
 * window was lost meanwhile, and none is taken. */
int rma_notify_wait(struct win *win, const struct rma_notified *what, int *number);

/* rma_notify_reset takes all notifications that have come, and sets *value to their number. */
int rma_notify_reset(struct win *win, int source, int number, uint64_t *value);

/* ---- requests of R-operations (12.3.5) ---- */

/* Requests that have ended since their calls returned. */
struct rma_req_list {
    _Atomic(struct rma_req *) first; /* NULL: there is none */
};

struct rma_req {
    _Atomic uint32_t pending;   /* how many parts are not complete, plus one while the call holds
                                   the request */
    _Atomic int err;            /* first error, an enum mrma_err */
    uint64_t number;            /* number of the operation in a trace (src/trace); 0: no trace is
                                   taken */
    struct rma_req_list *ended; /* list into which it is entered when it has ended; NULL:
                                   rma_req_done is called instead */
    struct rma_req *next;       /* in that */
};

/* rma_req_init makes *req a request without parts, before its operation is issued. The request is
 * the caller's, and must stay until it is done. */
void rma_req_init(struct rma_req *req);

/* rma_req_begin is rma_req_init for a request that its call holds until rma_req_issued. When all of
 * its parts have ended after that, it is entered once into the list ended, and is not touched any
 * more. */
void rma_req_begin(struct rma_req *req, struct rma_req_list *ended);

/* rma_req_held_only is called while the call holds req, and returns whether no part of req is under
 * way: its operation is complete, if it was issued, or has no part yet. req->err is then the
 * operation's error. (acquire) */
static inline bool rma_req_held_only(struct rma_req *req)
{
    return atomic_load_explicit(&req->pending, memory_order_acquire) == 1;
}

/* rma_req_issued ends the hold of the call that has issued the operation of req. From here on
 * another thread may find req in its list, and free it. */
void rma_req_issued(struct rma_req *req);

/* rma_req_take empties ended and returns the first request that was in it, with the others linked
 * by next; NULL: there was none. The caller sees everything that the operations of these requests
 * have written. Any thread. */
struct rma_req *rma_req_take(struct rma_req_list *ended);

/* rma_req_done returns whether the operation of req, which was issued and is in no list, is
 * complete; req->err is its error then. Any thread, as often as wanted. (acquire) */
static inline bool rma_req_done(struct rma_req *req)
{
    return atomic_load_explicit(&req->pending, memory_order_acquire) == 0;
}

/* rma_progress does one round of progress without waiting, for pollers and the wrappers of Wait and
 * Test. Returns whether anything moved. Any thread. */
bool rma_progress(struct rma *rma);

/* rma_progress_requests does one round of progress for callers that wait for requests. Operations
 * of requests that were left unsent leave first (rma_requests_unsent); requests to a process that
 * has died end with an error. Any thread. */
void rma_progress_requests(struct rma *rma);

/* rma_requests_unsent returns whether operations with requests, complete or not, have been left
 * unsent: the next rma_progress_requests sends them. Any thread. */
bool rma_requests_unsent(const struct rma *rma);

/* rma_uses_packets returns whether any window of this process sends or receives packets, or has. */
bool rma_uses_packets(const struct rma *rma);

/* rma_look is for calls in a loop that do not wait. It serves packets in the rings of this process,
 * and pushes packets that wait for room; if there are none this costs a few loads. It looks at the
 * network after pauses of 1 to 50 us, which are the longer the longer nothing has come; where there
 * is a network it costs a look at the clock now and then. Returns whether anything moved. Any
 * thread; never waits. */
bool rma_look(struct rma *rma);

/* rma_host_poll is called by the host's own progress, in whatever call of the host a thread waits,
 * maybe millions of times a second. It serves packets in rings for which a sender has called the
 * host (sys/polling.h), looks at the network as rma_look does, and lets senders know that they need
 * not wake the agent, which pushes what waits for room. Where there is no agent it does what
 * rma_look does. */
bool rma_host_poll(struct rma *rma);

/* rma_backoff is called by loops of src/mpi that wait, between rounds in which they poll the host:
 * it spins, or gives the processor away, depending on how often the loop has found nothing (round,
 * from 0).
 */
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
 * not kept; and calls that complete operations return the first error of these operations that only
 * the target has found. */

/* rma_fence does MPI_Win_fence. */
int rma_fence(struct win *win, int asserts);

/* rma_start does MPI_Win_start. ranks are the n window ranks of the group, in any order; the array
 * is not kept. MRMA_ERR_NO_MEM. */
int rma_start(struct win *win, const int *ranks, int n, int asserts);

/* rma_complete does MPI_Win_complete. */
int rma_complete(struct win *win);

/* rma_post does MPI_Win_post; ranks and n as in rma_start. */
int rma_post(struct win *win, const int *ranks, int n, int asserts);

/* rma_wait does MPI_Win_wait. */
int rma_wait(struct win *win);

/* rma_test does MPI_Win_test: *flag is whether the exposure epoch has ended. It makes progress. */
int rma_test(struct win *win, bool *flag);

/* rma_lock does MPI_Win_lock of rank target. The lock of a process whose control block is mapped
 * here is held when it returns; the lock of any other process is asked for with the first
 * packet. */
int rma_lock(struct win *win, bool exclusive, int target, int asserts);

/* rma_unlock does MPI_Win_unlock. Whatever it returns but MRMA_ERR_RMA_SYNC, the epoch has ended.
 */
int rma_unlock(struct win *win, int target);

/* rma_lock_all does MPI_Win_lock_all. The locks of other processes are taken by the first access to
 * each; in windows from MPI_Win_allocate_shared the call itself takes them. */
int rma_lock_all(struct win *win, int asserts);

/* rma_unlock_all does MPI_Win_unlock_all. Whatever it returns but MRMA_ERR_RMA_SYNC, the epoch has
 * ended. */
int rma_unlock_all(struct win *win);

/* rma_flush does MPI_Win_flush: everything issued to target is complete there. If local is true it
 * does MPI_Win_flush_local: the buffers here may be used again. */
int rma_flush(struct win *win, int target, bool local);

/* rma_flush_all does what rma_flush does for all targets (MPI_Win_flush_all and its local form). */
int rma_flush_all(struct win *win, bool local);

/* rma_sync does MPI_Win_sync: it orders this process's loads and stores of the window's memory
 * before and after. It makes progress, and sends operations of a passive epoch that were not
 * flushed to their targets. It may wait until targets grant their locks. MRMA_ERR_PROC_FAILED. */
int rma_sync(struct win *win);

/* rma_trace_buffer records the buffer of a call that is not RMA's: the message that the calling
 * thread has recorded just before, with that time, reads count of type from base on (or writes
 * them, if stored is true). As with operations, only the span of a datatype in very many pieces is
 * recorded. */
void rma_trace_buffer(struct trace *tr, uint64_t time, const void *base, const struct dtype *type,
                      size_t count, bool stored);

#endif
