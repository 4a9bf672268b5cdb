/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * env.h - what src/rma needs from the outside: memory that node peers can map,
 * and the processes behind the records of a bootstrap exchange.
 *
 * engine_env.c implements it with the shm layer; tests and the simulation with plain
 * memory. Records and locations are opaque here: they are made and understood by
 * the same implementation on both sides.
 */
#ifndef MRMA_RMA_ENV_H
#define MRMA_RMA_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acc/stripe.h"
#include "boot/boot.h"
#include "ch3/ch3.h"
#include "sys/attention.h"

struct trace;

#define RMA_PROC_RECORD_BYTES 384

struct rma_proc_record {
    uint64_t uid; /* the peer's; all else is the implementation's */
    uint64_t word[RMA_PROC_RECORD_BYTES / 8 - 1];
};

struct rma_mem_loc {
    uint64_t word[6]; /* all zero: nowhere */
};

/* In a window's record: how the network reaches its memory without packets. */
struct rma_net_key {
    struct ch3_mem_key mem;
    uint64_t usable; /* 0: it does not */
};

/* This process's memory of a window, for the network. */
struct rma_net_mem {
    void *base;
    size_t len;                  /* 0: not to be reached */
    struct ch3_channel *channel; /* set where it was registered, else NULL */
    struct ch3_mem *mem;
};

/* Memory that a process has exported: others attach it by the number of its segment. */
struct rma_exported {
    uint64_t segment;    /* not used again while its process lives; 0: none */
    uint64_t vaddr, len; /* its owner's addresses */
};

/* Another process, or this one. Shared by all windows; counted. */
struct rma_peer {
    uint64_t uid; /* unique in the job and beyond */
    int32_t pid;  /* for process_vm_*; valid where node is true */
    bool node;    /* same node: attention, stripes and memory can be reached */
    bool self;
    bool net;                    /* packets to it take the network */
    bool assisted;               /* process_vm_* to it works (probed once) */
    int assisted_errno;          /* why not */
    bool attachable;             /* what it exports can be attached (probed once) */
    struct attention *attention; /* whether it polls, where it sleeps; NULL: not on this node */
    int ringer;                  /* to wake it with: rma_env's */
    struct stripes stripes;      /* its accumulate locks */
    _Atomic uint64_t seen_alive; /* the engine's clock when path/assisted.c last saw it live */
    struct ch3_vc vc;
    unsigned refs;
};

/* Memory that is not from here, as malloc's, mapped by peers of the node all the same: by XPMEM
 * (shm/xpmem.h), where that is. Any thread, with or without the engine's lock. */
struct rma_attach {
    /* usable says whether this process still exports memory and attaches that of others. */
    bool (*usable)(void *ctx);
    /* make exports the pages of [ptr, ptr+len) and returns the segment; 0: this memory cannot be
     * had, or nothing is exported any more. */
    uint64_t (*make)(void *ctx, const void *ptr, size_t len);
    /* remove ends a segment; 0 stands for none. */
    void (*remove)(void *ctx, uint64_t segment);
    /* attach maps what the peer has exported, or finds it mapped for the same group; handle is for
     * detach. MRMA_ERR_OTHER, with a message at level info. */
    int (*attach)(void *ctx, const struct rma_peer *peer, const struct rma_exported *mem,
                  const void *group, void **out, void **handle);
    /* detach ends a use of it. keep: it stays mapped until its group goes, or room is needed. */
    void (*detach)(void *ctx, void *handle, bool keep);
    /* detach_group unmaps all of a group that nobody uses, or that for which gone says true. */
    void (*detach_group)(void *ctx, const void *group,
                         bool (*gone)(void *arg, const struct rma_exported *mem), void *arg);
    /* give_up: a process could not attach what another had exported. From now on this one exports
     * nothing more. */
    void (*give_up)(void *ctx);
};

struct rma_env {
    void *ctx;
    uint32_t first_number; /* win/first_number.h */

    /* Memory of this process that node peers can map. Pages are committed. */
    int (*mem_alloc)(void *ctx, size_t size, size_t align, void **out);
    void (*mem_free)(void *ctx, void *ptr);
    /* Of the len bytes at ptr, from mem_alloc: those that take memory only when they are touched.
     */
    uint64_t (*mem_untouched)(void *ctx, const void *ptr, size_t len);
    /* Has the machine, within the control groups around this process, so many bytes for such memory
     * of all processes on the node? MRMA_ERR_NO_MEM, with a message. */
    int (*mem_fits)(void *ctx, uint64_t bytes);
    /* Is [ptr, ptr+len) such memory? Then where. */
    bool (*mem_find)(void *ctx, const void *ptr, size_t len, struct rma_mem_loc *loc);
    /* [ptr, ptr+len) is memory that the program got from here and may give back: when it does,
     * nobody gets it again before mem_unpin with the same ptr. False: it is other memory. */
    bool (*mem_pin)(void *ctx, const void *ptr, size_t len);
    void (*mem_unpin)(void *ctx, const void *ptr);
    /* Map a peer's memory; handle for mem_unmap. */
    int (*mem_map)(void *ctx, const struct rma_mem_loc *loc, void **out, void **handle);
    void (*mem_unmap)(void *ctx, void *handle);
    const struct rma_attach *attach; /* NULL: there is no way to attach memory */
    /* A segment whose parts are committed by those who use them
     * (MPI_Win_allocate_shared); segment_commit works on both sides' handles. */
    int (*segment_create)(void *ctx, size_t size, void **base, void **handle,
                          struct rma_mem_loc *loc);
    int (*segment_commit)(void *ctx, void *handle, size_t offset, size_t len);

    /* This process's record, and the peer behind one (found or connected). node:
     * is it to be treated as on this node (real node and configuration agree)?
     * With the engine's lock, as peer_connect and peer_put: peers of other nodes are
     * looked up when they are first used. The peer is its vc's owner. */
    const struct rma_proc_record *record;
    int (*peer_get)(void *ctx, const struct rma_proc_record *record, bool node,
                    struct rma_peer **out);
    /* Make sure that packets can be sent to it. */
    int (*peer_connect)(void *ctx, struct rma_peer *peer);
    void (*peer_put)(void *ctx, struct rma_peer *peer);
    /* Free what is kept of processes that have ended and are in no window. With the engine's lock.
     * NULL: nothing is kept of any. */
    void (*peers_sweep)(void *ctx);
    bool (*record_same_node)(void *ctx, const struct rma_proc_record *record);
    /* At most so many processes of a window are on this node; more may turn out to
     * be, and then creation takes a step more. 0: no idea. */
    int node_procs_bound;
    /* Processors that the processes of these records may use together. */
    unsigned (*record_cpus)(void *ctx, const struct rma_proc_record *records, size_t stride, int n);
    /* With the engine's lock. */
    bool (*peer_alive)(void *ctx, struct rma_peer *peer);
    /* Collective over boot, whose processes' records these are, each stride bytes from the
     * one before: the window needs the network (the same answer at all). Opens it where
     * it is not open, and completes the records. All fail or none. Registers mine, where
     * the network puts and gets by itself, and sets the keys of all, stride bytes apart, too.
     * room: net_room bytes for each process, had before anybody relies on this one to
     * take part. NULL: what is not on the node is reached otherwise. */
    int (*net_open)(void *ctx, struct boot *boot, struct rma_proc_record *records,
                    struct rma_net_key *keys, size_t stride, struct rma_net_mem *mine, void *room);
    size_t net_room;
    /* Start the agent thread if it is not running. */
    int (*agent_start)(void *ctx);

    /* This process's own shared words. */
    struct attention *attention;
    /* Of its events, for who blocks on descriptors too; open before a channel has any. */
    const struct doorbell *bell, *agent_bell;
    int ringer; /* what this process can always ring others' doorbells with; -1: none */
    struct stripes stripes;

    struct trace *trace; /* where events are recorded (trace/record.h); NULL: no trace is taken */

    /* NULL where threads really wait. The simulation (test/sim): let other processes run.
     * Returns when ev has moved on from ticket or ns of the engine's clock have passed; ev NULL:
     * after a moment, the stead of a yield. Called without the engine's lock. */
    void (*idle)(void *ctx, struct event *ev, uint32_t ticket, uint64_t ns);
};

#endif
