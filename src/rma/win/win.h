/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win.h - the structures of src/rma: the layer's own, a window, and its targets.
 *
 * Invariants
 * - Fields of struct win and struct rma_target are changed by application
 *   threads and, where packets are in use, by handlers; both hold the engine's
 *   lock then (rma_enter). Operations on memory peers read them without it. A
 *   target is a memory peer where its control block is mapped here: synchronization with
 *   it goes through shared memory (sync_ops.h).
 * - target->gen == win->gen means: this target may be accessed now. Every call
 *   that opens or closes an epoch for all targets moves win->gen, in O(1).
 * - Targets on this process's node are made when the window is created. Those on other nodes are
 *   made by their first use here or by the first packet from them, from the records of the
 *   processes, of which a node keeps one copy. So the memory that a process spends on a window
 *   grows with the targets that it uses.
 * - A packet peer's signals are stored into in-slots by the handlers exactly as
 *   a memory peer stores them itself, so waiting is the same for both.
 */
#ifndef MRMA_RMA_WIN_WIN_H
#define MRMA_RMA_WIN_WIN_H

#include <assert.h>
#include <pthread.h>
#include <stdalign.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "base/pace.h"
#include "rma/win/create_state.h"
#include "rma/env.h"
#include "rma/win/notify_state.h"
#include "rma/win/origin_state.h"
#include "rma/win/path_state.h"
#include "rma/win/progress_state.h"
#include "rma/rma.h"
#include "rma/win/sync_state.h"
#include "rma/win/target_state.h"
#include "rma/win/epoch.h"
#include "rma/win/proc_records.h"
#include "rma/win/path_ops.h"
#include "rma/win/win_ctl.h"
#include "rma/win/win_stats.h"
#include "rma/win/target_table.h"
#include "sys/fmutex.h"

/* State of a lock on one target, origin's side. TICKETLESS: shared and without a ticket, see
 * target_lock.h; the only one under lock_all, from the first access on, except in windows from
 * MPI_Win_allocate_shared. */
enum win_lock {
    WIN_LOCK_NONE,
    WIN_LOCK_SHARED,
    WIN_LOCK_EXCLUSIVE,
    WIN_LOCK_NOCHECK,
    WIN_LOCK_TICKETLESS
};

/* A window has a route for each path; for packets two, which take shared memory and the network. */
enum { ROUTE_NET_PACKETS = PATH_COUNT, ROUTES };

/* Which targets are in a passive epoch that fast.h may flush: none, those that are ready, or
 * all. */
enum flush_quick { FLUSH_QUICK_NONE, FLUSH_QUICK_READY, FLUSH_QUICK_ALL };

/* What was issued to a kernel-assisted target and may not be done yet: assisted.c. GATHERED:
 * operations wait for a system call; COPY: some went by packet; ACC: accumulates are among
 * those. */
enum sent { SENT_NOTHING, SENT_GATHERED, SENT_COPY, SENT_ACC };

/* Whether operations on a target are deferred until it may be accessed, and whether they are being
 * carried out: path/deferred.h. */
enum deferral { DEFERRAL_NONE, DEFERRAL_WAITING, DEFERRAL_RUNNING };

struct sync_ops;
struct origin_pair;
struct pkt_origin;
struct region_view;
struct strict;
struct applying;
struct counts_packet;

/* What this process keeps of one process of the window, itself included: as the target of this
 * process's operations, and as the origin of its own. Operations on mapped memory, and locks, look
 * at the first cache line only. */
struct rma_target {
    alignas(MRMA_CACHE_LINE) _Atomic uint64_t gen; /* see the invariants */
    _Atomic(const struct route *) route;           /* how operations reach it: target_route */
    uint8_t path;                                  /* enum rma_path */
    uint8_t lock;             /* enum win_lock: what this process holds there */
    _Atomic uint8_t sent;     /* enum sent */
    _Atomic uint8_t deferral; /* enum deferral */
    uint32_t disp_unit;
    char *base;                  /* its window memory in this process, where its path is mapped */
    _Atomic uint64_t fast_units; /* largest displacement, and size, for fast.h: of mapped targets */
    _Atomic uint64_t fast_size;  /* that are not dynamic, and not lost; the size is 0 for all
                                    others */
    struct win_ctl *ctl; /* its control block; NULL: synchronization with it goes by packets */
    struct rma_peer *peer;
    _Atomic(const struct sync_ops *) sync_ops; /* how synchronization reaches it: target_sync */
    uint64_t size;                             /* bytes of its window memory */
    /* Contiguous puts of at most so many bytes go into the open packet of the pair in any epoch,
     * without checks or traces; 0 for other targets, and until there is a pair: fast.h. */
    _Atomic size_t plain_max;
    uint64_t vaddr;              /* its own address of base */
    struct region_view *regions; /* dynamic windows: its regions, where ctl is not NULL: region.h */
    _Atomic uint32_t joint; /* operations of this process on it that are published: path/joint.h */
    int rank;
    bool lost;         /* its process is lost, as far as this one knows: lost.h. Under the engine's
                          lock */
    bool attaches;     /* dynamic windows: its regions are attached here when they are used */
    char *shared_base; /* base for load and store, whatever the path; NULL: not mapped */
    struct rma_net_key net_key; /* of its memory: rdma.c */
    struct win_signals *out;    /* signals from this process to it, in its control block */
    struct win_signals *in;     /* its signals to this process: in the control block here; those of
                                   packet peers in `signals` */
    uint32_t starts;            /* access epochs started towards it, MPI_MODE_NOCHECK included */
    uint32_t posts_due;         /* how many posts must have come for the present access epoch */
    uint32_t started_in;        /* win->start_count of the last start that names it */
    uint32_t exposures;         /* exposure epochs posted to it, MPI_MODE_NOCHECK included */
    uint32_t posted;            /* and without these, of which it may have to hear */
    uint32_t remote_win, remote_gen; /* how it knows this window */
    struct origin_pair *pair;        /* packets to it; NULL until used */
    struct pkt_origin *from;         /* packets from it; NULL until used */
    struct list_node remote_link;    /* in win->remote, the targets that were made on use */
    struct win_signals signals;
    struct notify_target notify; /* notify.h */

    /* ---- of one room each ---- */
    struct create_target created;
    struct stage_target stage; /* src/rma/path: the stages in the same control blocks */
    struct path_target path_side;
    struct sync_target sync;
};

/*
 * What is fixed is written by src/rma/create while the window is made and freed, and only read in
 * between; what one room alone uses is in a structure of that room (test/source/check-layers.sh).
 * Operations and locks look at the first two cache lines only.
 */
struct win {
    /* ---- fixed at creation: what operations look at ---- */
    alignas(MRMA_CACHE_LINE) struct rma *rma;
    struct rma_target
        *local;    /* the targets of this node, nlocal of them, ascending, self included */
    int row_first; /* local[0] to local[row_len - 1] have consecutive ranks from row_first on:
                      win_peek */
    unsigned row_len;
    struct win_ctl *ctl;
    bool dynamic;
    bool locks_refused; /* the hint no_locks was given, and MPIRMA_STRICT refuses locks */
    bool watched;       /* each operation is checked (strict.h), so none takes a short way */
    uint8_t acc_way;    /* enum acc_way: accumulates by single instructions? */

    /* ---- changes: what operations look at ---- */
    _Atomic bool lock_quick;     /* locks may take the short way of fast.h */
    _Atomic uint8_t flush_quick; /* enum flush_quick, see fast.h: win_set_flush_quick */
    _Atomic bool dirty;          /* stores to mapped targets since the last full fence */
    bool fence_pending;   /* when the last fence returned here, it was not certain that all that
                             others had sent to a memory peer was in place: fence.c */
    _Atomic uint64_t gen; /* see the invariants; never comes round */
    struct epoch epoch;
    struct pace look_pace; /* says when rma_look_around is due: win_count_call */
    int nlocks;
    _Atomic uint32_t nsent;      /* kernel-assisted targets with something under way, and operations
                                    that are published for their targets: path/joint.h */
    struct target_table targets; /* win_peek, win_target */

    /* ---- fixed at creation: all else ---- */
    struct win_ctl *lead; /* control block of memory_ranks[0], for lock_all */
    int rank, nproc;
    enum win_flavor flavor;
    void *base;
    uint64_t size;
    uint32_t disp_unit;
    uint32_t index, index_gen; /* in rma->wins */
    uint64_t number;           /* win_number */
    uint32_t first_number;     /* first_number.h */
    int nlocal;
    int *memory_ranks; /* ranks synchronized through shared memory, ascending, self included */
    int nmemory, memory_me;
    /* The barrier of these counts arrivals in one word (sync/barrier.c), and the process that comes
     * last copies what is staged for all. They agree on this. */
    bool counts_arrivals;
    int npackets;      /* ranks reached by packets, made or not */
    bool has_assisted; /* some memory peers are kernel-assisted */
    bool assisted;     /* this process is such a target */
    size_t joint_min;  /* puts and gets of so many bytes may be published for their target:
                                    path/joint.h; SIZE_MAX: none */
    bool exports;      /* dynamic: what is attached to it is exported for others */
    struct region_view *regions; /* dynamic: this process's own: region.h */
    struct route routes[ROUTES]; /* the routes of its targets, by their path */

    /* ---- changes: what several rooms share ---- */
    struct win_hints hints;     /* three of them by MPI_Win_set_info: win_set_hints */
    struct win_records records; /* what all processes have told; for targets that are not made
                                   yet */
    struct list remote;         /* struct rma_target, of other nodes, made on use */
    uint32_t phase;             /* fences passed, from the first number on */
    uint32_t phase_ended;       /* the last fence phase to whose end all processes have come */
    bool fenced;                /* there has been one */
    bool fence_lost; /* operations of a fence epoch were refused unread, so the sums that others
                        announce are not reached, in this and in all later fences */
    uint32_t fence_arrived; /* fence markers of packet peers for this phase */
    uint64_t phase_arrived; /* bytes named by records of packet peers in this phase */
    _Atomic uint32_t lost;  /* 1 + the first rank that is lost; 0: none. See lost.h. Changed under
                               the engine's lock */
    bool abandoned; /* freed, though others may still use what is published: create/abandoned.h */
    bool all_nocheck;
    uint32_t start_count;
    uint32_t queued;          /* packets and streams of this window in send queues, all peers */
    struct notify_win notify; /* notify.h */

    /* ---- of one room each ---- */
    struct create_win created;
    struct path_win path_side;
    struct origin_win origin_side;
    struct target_win target_side;
    struct sync_win sync;
    struct strict *strict; /* strict.h; NULL: off */
};

static_assert(offsetof(struct rma_target, sync_ops) == MRMA_CACHE_LINE,
              "what they need of a target");
static_assert(offsetof(struct win, ctl) < MRMA_CACHE_LINE &&
                  offsetof(struct win, targets) < 2 * MRMA_CACHE_LINE,
              "and of a window");

struct rma {
    const struct log *log;
    const struct conf *conf;
    struct rma_env *env;
    const struct sync_ops *const *syncs; /* by enum rma_path */
    bool (*defer)(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                  const struct rma_op *op, int64_t offset, size_t len,
                  int *err); /* deferred_early of path/deferred.h */
    clock_fn clock;
    struct ch3 *ch3;
    bool threads;            /* several threads of the application may call */
    _Atomic bool concurrent; /* threads, or an agent runs: take the lock */
    struct progress_rma progress;
    struct path_rma path_side;
    struct elock lock;      /* the engine's: rma_enter */
    struct list ctl_blocks; /* ctl_blocks.h */
    struct list abandoned;  /* create/abandoned.h */
    struct list tables;     /* proc_table.h */
    uint64_t notices;       /* one bit for each place of env->notices; it is set while the place is
                               taken */
    struct win **wins;      /* by index; NULL: free */
    uint32_t *win_gens;     /* by index: generation of the window there, or of the last one; no two
                               windows have the same */
    uint32_t last_gen;
    uint32_t nwins;
    uint32_t passive;      /* windows in a passive target epoch of this process */
    struct list lock_wins; /* windows whose lockq is not empty */
    _Atomic int nlock_wins;
    struct origin_pair *lock_due; /* the one packet lock that may be pending; guarded by the lock */
    pthread_t lock_due_by;        /* the thread that took it */
    struct list with_words;       /* windows with words for notifications: notify/notify_words.h */
    uint32_t words_given;         /* how many numbers for words were given to windows */
    struct map requests;          /* struct origin_request by number: origin/replies.c */
    uint32_t last_request;
    struct list spare_requests; /* nspare_requests requests that have ended, to be used again */
    uint32_t nspare_requests;
    struct applying *applying;           /* scratch memory of target_apply.c; NULL: not used yet */
    struct counts_packet *counts_packet; /* scratch memory of fence_counts.c; NULL: not used yet */
    bool atomics_probed; /* origin_atomics says what this process's card does: origin/atomics.h */
    struct ch3_atomics atomics;
    _Atomic bool said_no_locks, said_requests; /* mistakes of the program that were tolerated, and
                                                  have been logged once */
    _Atomic uint32_t bad_packets; /* how many were written at log level error: bad_packet.h */
    struct rma_stats stats;
};

/* rma_concurrent returns whether anybody could compete for the engine's lock: the program has
 * several threads that call, or the agent runs. */
static inline bool rma_concurrent(const struct rma *r)
{
    return atomic_load_explicit(&r->concurrent, memory_order_relaxed);
}

/* rma_enter takes the engine's lock if anybody could compete for it, and does nothing otherwise. It
 * is not recursive. May wait for other threads of this process. */
static inline void rma_enter(struct rma *r)
{
    if (unlikely(rma_concurrent(r)))
        elock_lock(&r->lock);
}

/* rma_leave gives back the lock that rma_enter has taken. */
static inline void rma_leave(struct rma *r)
{
    if (unlikely(rma_concurrent(r)))
        elock_unlock(&r->lock);
}

/* target_stats_path returns under which path win_count counts operations on t. t is in use: a
 * target that packets reach has its peer. */
static inline unsigned target_stats_path(const struct rma_target *t)
{
    return t->path == PATH_PACKETS ? STATS_SHM_PACKETS + t->peer->net : t->path;
}

/* win_count counts one operation of so many bytes, on a path, for the statistics (MPIRMA_STATS).
 * Where several threads may call, the additions are atomic, which costs as much as all the rest of
 * a small put: there operations are counted only if MPIRMA_STATS is set. */
static inline void win_count(struct win *w, unsigned path, size_t bytes)
{
    uint64_t *ops = &w->rma->stats.paths.ops[path], *sum = &w->rma->stats.paths.bytes[path];
    if (likely(!w->rma->threads)) {
        *ops += 1;
        *sum += bytes;
    } else if (unlikely(w->rma->conf->stats[0])) {
        __atomic_fetch_add(ops, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(sum, bytes, __ATOMIC_RELAXED);
    }
}

/* win_next_gen forgets which targets of w are known to be accessible, at the beginning and end of
 * an epoch. */
static inline void win_next_gen(struct win *w)
{
    atomic_store_explicit(&w->gen, atomic_load_explicit(&w->gen, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* win_has_lost returns whether a process of the window is lost, as far as this one knows. With or
 * without the engine's lock. */
static inline bool win_has_lost(const struct win *w)
{
    return atomic_load_explicit(&w->lost, memory_order_relaxed) != 0;
}

/* win_set_flush_quick sets win.flush_quick, which says whether flushes of the present epoch may
 * take the short way of fast.h. No flush may if several threads may call, if the window has packet
 * targets or has lost a process, or if something is under way to a kernel-assisted target. It is
 * called whenever one of these changes. */
static inline void win_set_flush_quick(struct win *w)
{
    const enum epoch_state now = epoch_now(&w->epoch);
    uint8_t quick = FLUSH_QUICK_NONE;
    if (now == EPOCH_LOCK)
        quick = FLUSH_QUICK_READY;
    else if (now == EPOCH_LOCK_ALL && !w->watched)
        quick = FLUSH_QUICK_ALL;
    const bool slow = w->rma->threads || w->nsent || w->npackets || win_has_lost(w);
    w->flush_quick = slow ? FLUSH_QUICK_NONE : quick;
}

/* win_count_short_call counts a call of those that programs make in a loop while they wait for
 * memory to change, and that do not wait themselves. Returns true when rma_look_around
 * (progress/wait.h) is due. Only for the short calls of fast.h, which are not made where several
 * threads may call. */
static inline bool win_count_short_call(struct win *w)
{
    return pace_due_alone(&w->look_pace);
}

/* win_count_call is win_count_short_call for any call. */
static inline bool win_count_call(struct win *w)
{
    return pace_due(&w->look_pace);
}

/* target_route returns the route of operations to t. Like the functions of target_sync it changes
 * once, when the target's process is lost (progress/lost.c): a thread that is still in the old
 * route accesses memory that stays mapped for as long as the window lives. NULL: the target was
 * never used. */
static inline const struct route *target_route(const struct rma_target *t)
{
    return atomic_load_explicit(&t->route, memory_order_relaxed);
}

/* route_next returns the table to which the filter self hands on a call on t: the one behind it in
 * the route of t. If the route has been replaced meanwhile, route_next returns the way of the new
 * route. */
static inline const struct path_ops *route_next(const struct rma_target *t,
                                                const struct path_ops *self)
{
    return route_behind(target_route(t), self);
}

/* target_sync returns the functions by which synchronization reaches t, or NULL, as target_route
 * does for operations. */
static inline const struct sync_ops *target_sync(const struct rma_target *t)
{
    return atomic_load_explicit(&t->sync_ops, memory_order_relaxed);
}

/* win_peek returns the target of rank, for reading only. If that target was never used, the result
 * is one that is never accessible (target_table.h). Any thread. */
static inline struct rma_target *win_peek(const struct win *w, int rank)
{
    const unsigned i = (unsigned)rank - (unsigned)w->row_first;
    if (likely(i < w->row_len)) /* saves two loads of which each needs the one before it */
        return &w->local[i];
    return target_table_get(&w->targets, rank);
}

/* win_target_make makes the target of a rank on another node, which has no target yet, from the
 * records of the creation, connects to its process, and sets *t. The target stays as long as the
 * window. MRMA_ERR_NO_MEM, or the error with which its process cannot be reached; both are logged.
 * Under the engine's lock. In remote.c. */
int win_target_make(struct win *w, int rank, struct rma_target **t);

/* win_target_locked sets *t to the target of rank, and makes that target if need be, with the
 * errors of win_target_make. Under the engine's lock. */
static inline int win_target_locked(struct win *w, int rank, struct rma_target **t)
{
    *t = win_peek(w, rank);
    return likely((*t)->peer != NULL) ? MRMA_SUCCESS : win_target_make(w, rank, t);
}

/* win_target_first is the part of win_target that makes a target, out of line. In remote.c. */
int win_target_first(struct win *w, int rank, struct rma_target **t);

/* win_target does what win_target_locked does, but is called without the engine's lock, which it
 * takes if the target is not made yet. */
static inline int win_target(struct win *w, int rank, struct rma_target **t)
{
    *t = win_peek(w, rank);
    return likely((*t)->peer != NULL) ? MRMA_SUCCESS : win_target_first(w, rank, t);
}

/* target_ready returns whether t is known to be accessible now, which is all that operations need
 * to know of their epoch. False: it is not known yet, and epoch_access (path/path.h) decides, and
 * waits if need be.
 */
static inline bool target_ready(const struct win *w, const struct rma_target *t)
{
    return atomic_load_explicit(&t->gen, memory_order_relaxed) ==
           atomic_load_explicit(&w->gen, memory_order_relaxed);
}

/* target_set_ready notes that t may be accessed for the rest of the present epoch. In a window that
 * is watched it does nothing, so that no target is ever ready. */
static inline void target_set_ready(const struct win *w, struct rma_target *t)
{
    if (unlikely(w->watched))
        return;
    atomic_store_explicit(&t->gen, atomic_load_explicit(&w->gen, memory_order_relaxed),
                          memory_order_relaxed);
}

/* target_set_unready takes target_set_ready back: the epoch of this target alone has ended. */
static inline void target_set_unready(const struct win *w, struct rma_target *t)
{
    atomic_store_explicit(&t->gen, atomic_load_explicit(&w->gen, memory_order_relaxed) - 1,
                          memory_order_relaxed);
}

#endif
