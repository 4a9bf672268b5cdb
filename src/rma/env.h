/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * env.h - what src/rma needs from outside: memory that processes of the node can map, the processes
 * that the records of a bootstrap exchange describe, and the network.
 *
 * The engine implements it (engine_impl.c, which puts it together, engine_mem.c, engine_xpmem.c,
 * engine_peer.c and engine_net.c) with the shm layer and the netmod; tests and the simulation
 * (test/sim) with plain memory. Records and locations are opaque here: they are made and understood
 * by the same implementation on both sides.
 */
#ifndef MRMA_RMA_ENV_H
#define MRMA_RMA_ENV_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acc/stripe.h"
#include "boot/boot.h"
#include "ch3/ch3.h"
#include "sys/joint_board.h"
#include "sys/polling.h"

struct trace;

#define RMA_PROC_RECORD_BYTES 384

struct rma_proc_record {
    uint64_t uid; /* the peer's number; the rest is the implementation's */
    uint64_t word[RMA_PROC_RECORD_BYTES / 8 - 1];
};

/* Records of the processes of a window, by rank. */
struct rma_procs {
    const char *first; /* record of a table, */
    size_t stride;     /* bytes from one record to the next, */
    const int *place;  /* place of each rank in the table; NULL: in the order of ranks */
    int n;
};

/* rma_proc_at returns the record of a rank. */
static inline const struct rma_proc_record *rma_proc_at(const struct rma_procs *procs, int rank)
{
    const size_t at = (size_t)(procs->place ? procs->place[rank] : rank);
    return (const void *)(procs->first + at * procs->stride);
}

struct rma_mem_loc {
    uint64_t word[6]; /* all zero: nowhere */
};

/* How the network reaches a process's memory of a window without packets. */
struct rma_net_key {
    struct ch3_mem_key mem;
    uint64_t vaddr; /* the process's own address of it; 0: the network does not reach it without
                       packets */
    uint32_t
        words; /* number of its words for notifications: notify/notify_words.h; 0: it has none */
    uint32_t zero;
};

/* What a process tells the others of its node about a window that is being made, in memory that
 * they can read. It is written before the exchange that names its place, and may be read until the
 * last agreement of the creation.
 *
 *   process that tells                    process of its node that reads
 *   A: notice is written                  C: first exchange returns
 *   B: first exchange begins              D: notice is read
 *   F: last agreement returns             E: last agreement begins
 *   G: the place is given to another window
 *
 * Exchange and agreement are collective operations of the host, which end at no process before all
 * have begun, and the receiver of a message sees what its sender has stored before. So D sees A,
 * and G comes behind D. Where a notice is changed in between (because the window goes by packets,
 * or without XPMEM), there is an agreement before the change and one after it. */
struct rma_notice {
    struct rma_mem_loc ctl; /* control block */
    struct rma_mem_loc mem; /* window memory; all zero: it cannot be shared */
    uint64_t vaddr;
    uint64_t segment;  /* segment of its memory, which others attach; 0: none */
    uint32_t exported; /* they attach its memory, or each region of a dynamic window */
    uint32_t path;     /* enum rma_path: the path by which others reach its memory, if the kernel
                          lets them */
    uint32_t gen;      /* of the window, there */
    uint32_t zero;
};
enum { RMA_NOTICE_BYTES = 128, RMA_NOTICES = 64 }; /* at most so many windows are made at once */
static_assert(sizeof(struct rma_notice) == RMA_NOTICE_BYTES, "no padding: processes share it");

/* This process's memory of a window, as the network sees it. */
struct rma_net_mem {
    void *base;
    size_t len;                  /* 0: the network must not reach it */
    uint32_t words;              /* number of its words for notifications, which its key tells */
    struct ch3_channel *channel; /* the channel with which it was registered, or NULL */
    struct ch3_mem *mem;
    struct ch3_channel *net; /* the channel, where the network puts and gets by itself, or NULL */
};

/* Memory for net_open, which the caller has got before any process relies on this one to take
 * part. */
struct rma_net_keys {
    void *room;               /* rma_env.net_room bytes for each process */
    struct rma_net_key *keys; /* one for each process: how the network reaches its memory of the
                                 window */
    bool set;                 /* net_open has set the keys, since the network of some process puts
                                 and gets by itself */
};

/* Memory that a process has exported: others attach it by the number of its segment. */
struct rma_exported {
    uint64_t segment;    /* not used again while its process lives; 0: none */
    uint64_t vaddr, len; /* its owner's addresses */
};

/* Another process, or this one. Shared by all windows that use it, which refs counts. */
struct rma_peer {
    uint64_t uid; /* unique in the job and beyond */
    int32_t pid;  /* for process_vm_*; valid where node is true */
    bool node;    /* on this node: its polling, stripes and memory can be reached */
    bool self;
    bool net;                /* packets to it take the network */
    bool assisted;           /* process_vm_* works on it (probed once) */
    int assisted_errno;      /* why not */
    bool attachable;         /* what it exports can be attached (probed once) */
    struct polling *polling; /* says whether it polls, and where it sleeps; NULL: it is not on this
                                node */
    struct joint_board *board;        /* where copies are published for it; NULL: none are */
    _Atomic bool joint_refused;       /* it could not copy what was published for it */
    int doorbell_fd;                  /* rma_env's, with which it is woken */
    const struct rma_notice *notices; /* RMA_NOTICES of them, where polling is not NULL */
    struct stripes stripes;           /* its accumulate locks */
    struct polling_seen polls;        /* what is known of the rounds of its host */
    _Atomic uint64_t seen_alive;      /* the engine's clock when path/assisted.c last saw it live */
    struct ch3_vc vc;
    unsigned refs;
};

/* Memory that this library has not made, such as malloc's, and that peers of the node can map all
 * the same, by XPMEM (shm/xpmem.h), where there is XPMEM. Any thread calls these functions, with or
 * without the engine's lock. None of them waits for another process. */
struct rma_attach {
    /* usable returns whether this process still exports memory and attaches that of others. */
    bool (*usable)(void *ctx);

    /* make exports the pages of [ptr, ptr+len), so that peers can attach them, and returns the
     * number of the segment; 0: this memory cannot be exported, or nothing is exported any more. */
    uint64_t (*make)(void *ctx, const void *ptr, size_t len);

    /* remove ends a segment that make has made: nobody can attach it from now on; those who have
     * attached it keep it. 0 stands for no segment. */
    void (*remove)(void *ctx, uint64_t segment);

    /* attach maps what peer has exported, or finds it mapped for the same group. A group is any
     * address that stands for uses which end together (a window). It sets *out to the address of
     * mem here, and *handle for detach. MRMA_ERR_OTHER, with a message at level info: it cannot be
     * had. */
    int (*attach)(void *ctx, const struct rma_peer *peer, const struct rma_exported *mem,
                  const void *group, void **out, void **handle);

    /* detach ends one use of what attach has found. If keep is true it stays mapped until its group
     * ends or room is needed; otherwise it is unmapped when nobody uses it. */
    void (*detach)(void *ctx, void *handle, bool keep);

    /* detach_group unmaps what is attached for the group: all of it if gone is NULL, else the
     * memory for which gone(arg, mem) returns true. Memory in use is unmapped by its detach. */
    void (*detach_group)(void *ctx, const void *group,
                         bool (*gone)(void *arg, const struct rma_exported *mem), void *arg);

    /* give_up is called when a process could not attach what another had exported: from now on this
     * process exports nothing more. */
    void (*give_up)(void *ctx);
};

/* The functions return enum mrma_err where they return an int. "Without the lock" means that the
 * caller must not hold the engine's lock. Where nothing is said about a function, any thread may
 * call it, with or without the lock, and it does not wait for other processes. */
struct rma_env {
    void *ctx;             /* the first argument of every function */
    uint32_t first_number; /* win/first_number.h */

    /* ---- memory ---- */

    /* mem_alloc sets *out to size bytes, aligned to align (a power of two), that peers of the node
     * can map (mem_find, mem_map). Touching these bytes cannot fail. MRMA_ERR_NO_MEM, or
     * MRMA_ERR_OTHER where the system gives no segment; with a message. */
    int (*mem_alloc)(void *ctx, size_t size, size_t align, void **out);

    /* mem_free gives back what mem_alloc has set. */
    void (*mem_free)(void *ctx, void *ptr);

    /* mem_untouched returns how many of the len bytes at ptr, which mem_alloc has made, take memory
     * of the machine only when they are touched, and may not have been touched yet. */
    uint64_t (*mem_untouched)(void *ctx, const void *ptr, size_t len);

    /* mem_fits returns MRMA_SUCCESS if the machine, within the control groups around this process,
     * has so many bytes left for such memory of all processes of the node together, else
     * MRMA_ERR_NO_MEM with a message. */
    int (*mem_fits)(void *ctx, uint64_t bytes);

    /* mem_find returns whether peers can map [ptr, ptr+len): it comes from mem_alloc,
     * MPI_Alloc_mem or a malloc that shares its blocks, or lies in a segment. *loc then says where
     * it is, for mem_map by others. */
    bool (*mem_find)(void *ctx, const void *ptr, size_t len, struct rma_mem_loc *loc);

    /* mem_pin is called when a window is made on [ptr, ptr+len). If this memory is from
     * MPI_Alloc_mem, or a shared block of malloc, the program may give it back while others still
     * have it mapped; so it is kept, and nobody gets it again before mem_unpin with the same ptr.
     * Returns false for other memory; then mem_unpin is not called. */
    bool (*mem_pin)(void *ctx, const void *ptr, size_t len);

    /* mem_unpin ends one mem_pin. */
    void (*mem_unpin)(void *ctx, const void *ptr);

    /* mem_map maps a peer's memory at the place that the peer's mem_find has given: *out is its
     * address here, *handle is for mem_unmap. Memory that is mapped already is counted, and not
     * mapped again. MRMA_ERR_NO_MEM, MRMA_ERR_OTHER, MRMA_ERR_INTERN (loc is wrong); with a
     * message. */
    int (*mem_map)(void *ctx, const struct rma_mem_loc *loc, void **out, void **handle);

    /* mem_unmap ends one mem_map, or what segment_create has made. */
    void (*mem_unmap)(void *ctx, void *handle);

    const struct rma_attach *attach; /* NULL: there is no way to attach memory */

    /* segment_create makes a segment of size bytes of address space for MPI_Win_allocate_shared,
     * and sets its address here, *loc for mem_map by the others, and *handle, which mem_unmap ends.
     * No part of it may be touched before it is committed. Errors as mem_alloc. */
    int (*segment_create)(void *ctx, size_t size, void **base, void **handle,
                          struct rma_mem_loc *loc);

    /* segment_commit makes sure that touching [offset, offset+len) of a segment cannot fail. handle
     * is segment_create's or, in a process that maps the segment, mem_map's. MRMA_ERR_NO_MEM, or
     * MRMA_ERR_OTHER; with a message. */
    int (*segment_commit)(void *ctx, void *handle, size_t offset, size_t len);

    /* ---- processes ---- */

    const struct rma_proc_record *record; /* this process's own */

    /* peer_get sets *out to the peer that a record describes, which is known already or made now,
     * and counts one use of it, which peer_put ends. node says that it is treated as a process of
     * this node (it is on this machine, and the configuration agrees); then its polling, its
     * stripes and its memory can be reached. Packets can be sent after peer_connect. The peer is
     * its vc's owner. Under the engine's lock, since peers of other nodes are looked up when they
     * are first used. MRMA_ERR_NO_MEM; MRMA_ERR_PROC_FAILED: its connection was lost before;
     * MRMA_ERR_OTHER: its segment cannot be opened. */
    int (*peer_get)(void *ctx, const struct rma_proc_record *record, bool node,
                    struct rma_peer **out);

    /* peer_connect makes sure that packets can be sent to peer, if that was not done before: it
     * makes a ring to the peer; over the network the first packet makes the connection. Under the
     * engine's lock. MRMA_ERR_NO_MEM: there is no memory here, or the peer has no place for one
     * more ring. */
    int (*peer_connect)(void *ctx, struct rma_peer *peer);

    /* peer_put ends one use of peer, which stays known and connected. Under the engine's lock. */
    void (*peer_put)(void *ctx, struct rma_peer *peer);

    /* peers_sweep frees what is kept of processes that have ended and that no window uses. Under
     * the engine's lock. NULL: nothing is kept of such processes. */
    void (*peers_sweep)(void *ctx);

    /* peer_alive returns whether the process lives. Of a process on another machine nothing is
     * known: it counts as living, but the channel then finds out whether the connection still
     * holds, and reports to ch3 if it does not. Under the engine's lock. */
    bool (*peer_alive)(void *ctx, struct rma_peer *peer);

    /* record_same_node returns whether the process of that record is on this node. It does not ask
     * the configuration (win_on_node does that). */
    bool (*record_same_node)(void *ctx, const struct rma_proc_record *record);

    /* record_cpus returns how many processors the processes of procs that are on this node may use
     * together. */
    unsigned (*record_cpus)(void *ctx, const struct rma_procs *procs);

    /* record_addressed returns whether the record says how the network reaches its process. NULL:
     * no record does, and net_open completes them each time. */
    bool (*record_addressed)(void *ctx, const struct rma_proc_record *record);

    int node_procs_bound; /* expected number of processes of a window on this node; if there are
                             more, the creation of the window takes one more step. 0: not known */

    /* ---- the network ---- */

    /* net_open is called where a window needs the network: by all processes of boot (it is
     * collective), or by none. procs are all of them. If complete is true it opens the network
     * where it is not open, and writes into each record how the network reaches its process.
     * Otherwise all records say this already, nothing is written to them, and nothing is exchanged
     * unless the network of some process puts and gets by itself. If one does, net_open registers
     * mine, the caller's memory of the window, and sets the keys of all. Without the lock; waits
     * for the others. Returns success at all processes, or an error at each. NULL: processes on
     * other nodes are reached in another way. */
    int (*net_open)(void *ctx, struct boot *boot, const struct rma_procs *procs, bool complete,
                    struct rma_net_mem *mine, struct rma_net_keys *keys);
    size_t net_room;

    /* ---- this process ---- */

    /* agent_start starts the agent thread, unless it runs. Without the lock. MRMA_ERR_OTHER, with a
     * message: the system gives no thread. */
    int (*agent_start)(void *ctx);

    /* host_progress lets the host make progress in the calling thread, as a call of the host does
     * that finds nothing complete. It waits for nobody, except for locks of the host, and may poll
     * the engine (rma_host_poll). Only one thread at a time calls it, a thread of the application
     * that is in a call of this library and holds no lock of the library: progress/advance_host.h.
     * NULL: there is no host. */
    void (*host_progress)(void *ctx);

    /* say_call writes in which call of MPI this thread is, and where in the program that call
     * stands: "MPI_Win_fence at app.c:41"; "" where that is not known. It may take a fraction of a
     * second, and is called without the lock. NULL: there is no program above. */
    void (*say_call)(char *text, size_t len);

    struct polling *polling;    /* this process's own, which its peers see */
    struct joint_board *board;  /* the same; NULL: it takes no part in others' copies */
    struct rma_notice *notices; /* the same: RMA_NOTICES of them */
    /* Doorbells of the events in polling, for a thread that also blocks on descriptors: bell of the
     * application's threads, agent_bell of the agent. They are open before a channel has
     * descriptors. */
    const struct doorbell *bell, *agent_bell;
    int doorbell_fd;        /* descriptor with which this process rings the doorbells of others
                               (sys/doorbell.h); -1: none */
    struct stripes stripes; /* the accumulate locks of this process's memory */

    struct trace *trace; /* where events are recorded (trace/record.h); NULL: no trace is taken */

    /* idle takes the place of sleeping and of yielding the processor in a simulation (test/sim),
     * which lets other processes run meanwhile; NULL: threads really wait. It returns when ev has
     * moved on from ticket or ns nanoseconds of the engine's clock have passed; if ev is NULL,
     * after a moment, instead of a yield. Without the lock. */
    void (*idle)(void *ctx, struct event *ev, uint32_t ticket, uint64_t ns);
};

#endif
