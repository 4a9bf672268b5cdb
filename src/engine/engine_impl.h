/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_impl.h - the engine's insides, shared by the engine's own files only:
 *
 *   engine.c        creation, agent thread, end
 *   engine_impl.c    this process's record, and src/rma's environment put together
 *   engine_mem.c    memory of this process and of others
 *   engine_xpmem.c other memory, by XPMEM
 *   engine_peer.c   the processes behind records
 *   engine_net.c    the network channel
 *   engine_stats.c  what it has counted
 */
#ifndef MRMA_ENGINE_ENGINE_IMPL_H
#define MRMA_ENGINE_ENGINE_IMPL_H

#include <pthread.h>
#include <string.h>

#include "base/map.h"
#include "ch3/ch3.h"
#include "engine/engine.h"
#include "netmod/ofi/nmofi.h"
#include "rma/win/win.h"
#include "shm/xpmem_attached.h"
#include "shm/shm_channel.h"
#include "sys/topo.h"

/* What a process tells others about itself; rma_proc_record's contents. */
struct proc_record {
    uint64_t uid;
    uint64_t node[2]; /* sys/node.h */
    struct seg_name seg;
    uint64_t started; /* when it began: a process with the id seg.pid is this one only if it began
                         then (sys/procstart.h) */
    uint64_t probe_addr, probe_value;
    uint64_t probe_segment; /* the segment that has the probe, for XPMEM; 0: this process exports
                               nothing */
    struct topo_cpuset cpus;
    uint32_t membarrier; /* others may notify it without a fence */
    uint32_t net;        /* enum proc_net */
    uint64_t rdma;       /* not 0: its network puts and gets by itself; set when net is */
    unsigned char secret[NMOFI_SECRET_BYTES]; /* what is sent to it begins with a hash of this */
    struct nmofi_name name;                   /* its network endpoint, where net is not NET_NONE */
};
static_assert(sizeof(struct proc_record) <= sizeof(struct rma_proc_record), "record size");
static_assert(offsetof(struct proc_record, uid) == offsetof(struct rma_proc_record, uid),
              "same place");

enum proc_net { NET_NONE, NET_OPEN, NET_LOOPBACK }; /* loopback: reachable on its machine only */

struct engine {
    struct conf conf;
    struct log log;
    int world_rank;
    void (*host_progress)(void);              /* engine.h */
    void (*say_call)(char *text, size_t len); /* the same */
    uint64_t uid;                             /* of this process, unique */
    uint64_t node[2];                         /* as in its record */
    bool membarrier;        /* registered for notifications without a fence (sys/futex_event.h) */
    struct heap *heap;      /* heap of windows: their memory, control blocks and rings */
    struct heap *user_heap; /* heap of MPI_Alloc_mem: children get copies, and it outlives the
                               engine */
    const struct malloc_calls *malloc_calls;        /* engine.h */
    _Atomic uint64_t allocs, alloc_bytes, alloc_ns; /* engine_alloc_end */
    struct seg own_seg;
    struct procseg *own; /* in own_seg */
    int doorbell_fd;     /* sys/doorbell.h */
    struct shm_channel shm;
    struct ch3 ch3;
    struct rma_env env;
    struct rma rma;
    struct rma_proc_record
        record;           /* this process's own; changed when the network is opened, under the
                             engine's lock */
    struct map peers;     /* struct engine_peer by uid, of processes reached by shared memory and
                             rings */
    struct map net_peers; /* the same, of processes reached by the network; a process may be in both
                             maps */
    struct map mapped;    /* struct mapped_seg by inode: others' segments */
    size_t sweep_at;      /* when both maps together have so many peers, those that have ended are
                             looked for */
    pthread_mutex_t maps_lock;      /* guards the maps between creations and the agent; taken inside
                                       the engine's lock */
    struct shm_xpmem *xpmem;        /* NULL: nothing is exported or attached */
    struct attached_cache attached; /* where xpmem is there */
    uint64_t probe_segment;         /* as in its record */
    _Atomic bool export_ended;      /* nothing more is exported */
    struct nmofi *net;              /* NULL until a window needs it */
    pthread_mutex_t net_lock;       /* guards the opening of the network; taken outside the engine's
                                       lock */
    struct doorbell bell, agent_bell; /* with the network: the doorbells that wake its waits */
    pthread_mutex_t agent_lock;       /* its start, at windows */
    uint64_t readers_ns;              /* engine_peer_await_readers: ten seconds, except in tests */
    pthread_t agent;
    _Atomic bool agent_stop;
};

/* proc_record_of returns the contents of a record. */
static inline struct proc_record proc_record_of(const struct rma_proc_record *rec)
{
    struct proc_record out;
    memcpy(&out, rec, sizeof out);
    return out;
}

/* engine_env_init makes this process's record and fills env with what concerns it. Returns
 * MRMA_SUCCESS, or MRMA_ERR_OTHER (logged) where no random numbers can be had; nothing is to be
 * undone then. */
int engine_env_init(struct engine *e);

/* engine_env_fini undoes engine_env_init. */
void engine_env_fini(struct engine *e);

/* engine_mem_init fills env with the functions for memory. */
void engine_mem_init(struct engine *e);

/* engine_mem_fini unmaps all memory of others. */
void engine_mem_fini(struct engine *e);

/* engine_map_ring maps a ring of another process, of size bytes, and returns its address; *handle
 * is for engine_unmap_ring. NULL: it cannot be mapped (logged). */
void *engine_map_ring(struct engine *e, const struct heap_loc *where, size_t size, void **handle);

/* engine_unmap_ring undoes one engine_map_ring. */
void engine_unmap_ring(struct engine *e, void *handle);

/* engine_unmap_process unmaps the segments of the process pid, which has ended, that are mapped
 * here and not in use. */
void engine_unmap_process(struct engine *e, int32_t pid);

/* engine_attach_init loads XPMEM where it may be used, before engine_env_init, which tells
 * others of it. */
void engine_attach_init(struct engine *e);

/* engine_attach_offer fills env with the functions that attach memory, where XPMEM was loaded. */
void engine_attach_offer(struct engine *e);

/* engine_attach_probe tries XPMEM on the process of rec, and returns whether it reaches that
 * process. */
bool engine_attach_probe(struct engine *e, const struct proc_record *rec);

/* engine_attach_count returns how often a region of another process was attached. */
uint64_t engine_attach_count(struct engine *e);

/* engine_attach_fini detaches everything. */
void engine_attach_fini(struct engine *e);

/* engine_peer_init fills env with the functions for peers. */
void engine_peer_init(struct engine *e);

/* engine_peer_close closes all connections over the network, before their channel is closed. */
void engine_peer_close(struct engine *e);

/* engine_peer_await_readers waits until the peers that this process has sent something through a
 * ring have mapped that ring, for as long as they live and ten seconds at most; a warning names a
 * peer that has not come by then. They can read the ring afterwards although this process has given
 * its memory back. */
void engine_peer_await_readers(struct engine *e);

/* engine_peer_fini frees all peers. */
void engine_peer_fini(struct engine *e);

/* engine_peer_sweep frees what belongs to processes that no window names any more and that have
 * ended, or whose connection has ended. Under the engine's lock, not from within a poll. It costs
 * little, since it looks only when twice as many peers are known as the last look has left. */
void engine_peer_sweep(struct engine *e);

/* engine_channel_env returns what the channel of shared memory needs from the engine. */
struct shm_channel_env engine_channel_env(struct engine *e);

/* engine_same_node returns whether node is this process's own node, whatever MPIRMA_RANKS_PER_NODE
 * pretends. */
bool engine_same_node(const struct engine *e, const uint64_t node[2]);

/* engine_net_find returns the connection over the network of the process with this uid, which is
 * made now if a window's records name the process. NULL: the process is not known. engine is a
 * struct engine. From poll, under the engine's lock. */
struct ch3_vc *engine_net_find(void *engine, uint64_t uid);

/* engine_net_init fills env with the function that opens the network. */
void engine_net_init(struct engine *e);

/* engine_net_fini closes the connections and the network, if it was opened. */
void engine_net_fini(struct engine *e);

/* engine_agent_end stops the agent, if there is one, and waits until it has ended. */
void engine_agent_end(struct engine *e);

#endif
