/*
 * engine_env.h - the engine's insides, shared by engine.c and engine_env.c only.
 */
#ifndef MRMA_ENGINE_ENV_H
#define MRMA_ENGINE_ENV_H

#include <pthread.h>

#include "base/topo.h"
#include "ch3/ch3.h"
#include "engine.h"
#include "rma/win.h"
#include "shm/channel.h"

struct engine {
    struct conf conf;
    struct log log;
    int world_rank;
    uint64_t uid;          /* of this process, unique */
    bool light;            /* registered for notifications without a fence (base/event.h) */
    struct heap *heap;
    struct seg own_seg;
    struct procseg *own;   /* in own_seg */
    struct shm_channel shm;
    struct ch3 ch3;
    struct rma_env env;
    struct rma rma;
    struct rma_proc_record record;
    struct map peers;      /* struct engine_peer by uid */
    struct map mapped;     /* struct mapped_seg by inode: others' segments */
    pthread_mutex_t maps_lock; /* peers and mapped: creation and the agent */
    pthread_t agent;
    _Atomic bool agent_stop;
};

int engine_agent_start(struct engine *e);
struct shm_channel_env engine_channel_env(struct engine *e);
void engine_env_init(struct engine *e);
void engine_env_fini(struct engine *e);

#endif
