/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine.c - the one place that sees every layer and puts them together.
 *
 * An engine owns: its shared heaps, its process segment, the shm channel, its
 * peers, the segments of others that it has mapped, the agent thread, and the
 * CH3 and RMA layers on top. engine_impl.c gives src/rma its view of all that.
 *
 * Locks: agent_lock is held around the start of the agent; the engine's own lock is src/rma's
 * (rma_enter). Neighbours: src/mpi makes one engine for the process; tests and mpi-rma-info make
 * engines of their own.
 */
#include "engine/engine.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/err.h"
#include "engine/engine_impl.h"
#include "rma/layer/layer.h"
#include "rma/progress/progress.h"
#include "shm/cma_probe.h"
#include "sys/topo.h"

enum { AGENT_STACK = 512 * 1024 };

void engine_trace(struct engine *e, struct trace *tr)
{
    e->env.trace = tr;
    e->shm.trace = tr;
}

struct rma *engine_rma(struct engine *e)
{
    return &e->rma;
}
struct heap *engine_user_heap(struct engine *e)
{
    return e->user_heap;
}
const struct log *engine_log(struct engine *e)
{
    return &e->log;
}
bool engine_in_agent(const struct engine *e)
{
    return rma_has_agent(&e->rma) && pthread_equal(e->agent, pthread_self());
}
const struct conf *engine_conf(struct engine *e)
{
    return &e->conf;
}

void engine_fork_prepare(struct engine *e)
{
    heap_fork_prepare(e->user_heap);
}

void engine_fork_parent(struct engine *e)
{
    heap_fork_parent(e->user_heap);
}

void engine_fork_child(struct engine *e)
{
    heap_fork_child(e->user_heap);
    if (e->net)
        nmofi_fork_child(e->net);
}

static void *agent_main(void *arg)
{
    struct engine *e = arg;
    rma_agent_loop(&e->rma, &e->agent_stop);
    return NULL;
}

/* agent_bind binds the agent to its processors. The thread that starts the agent calls it, so that
 * the agent is bound when the creation of a window returns. */
static void agent_bind(const struct engine *e)
{
    const char *where = e->conf.agent_cpu;
    const int err = *where ? topo_pin(e->agent, where) : 0;
    if (err)
        log_msg(&e->log, LOG_LEVEL_WARN,
                "MPIRMA_AGENT_CPU=%s: the agent thread cannot be bound to these processors: %s. It "
                "runs where the program's threads may",
                where, strerror(err));
}

/* agent_begin starts the agent with all signals blocked, so that the application's threads get
 * them. */
static int agent_begin(struct engine *e)
{
    sigset_t all, old;
    pthread_attr_t attr;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, AGENT_STACK);
    rma_agent_begins(&e->rma);
    int err = pthread_create(&e->agent, &attr, agent_main, e);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    /* not before the agent is sure to run: from then on others leave operations to it */
    if (!err) {
        polling_agent_begins(&e->own->polling);
        agent_bind(e);
        return MRMA_SUCCESS;
    }
    rma_agent_ended(&e->rma);
    return log_fail(&e->log, MRMA_ERR_OTHER, "cannot start the agent thread: %s", strerror(err));
}

static int env_agent_start(void *ctx)
{
    struct engine *e = ctx;
    pthread_mutex_lock(&e->agent_lock);
    int err = rma_has_agent(&e->rma) ? MRMA_SUCCESS : agent_begin(e);
    pthread_mutex_unlock(&e->agent_lock);
    return err;
}

void engine_agent_end(struct engine *e)
{
    if (!rma_has_agent(&e->rma))
        return;
    atomic_store_explicit(&e->agent_stop, true, memory_order_release);
    event_wake(&e->own->polling.agent, e->doorbell_fd);
    pthread_join(e->agent, NULL);
    rma_agent_ended(&e->rma);
}

static int make_own_segment(struct engine *e)
{
    int err = seg_create(e->conf.segment_dir, sizeof(struct procseg), &e->log, &e->own_seg);
    if (err)
        return err;
    err = seg_commit(&e->own_seg, 0, sizeof(struct procseg), &e->log);
    if (err)
        return err;
    e->own = e->own_seg.base;
    e->own->magic = PROCSEG_MAGIC;
    e->own->uid = e->uid;
    /* The call may be refused although the registration has succeeded. */
    e->membarrier = e->membarrier && event_membarrier();
    atomic_store_explicit(&e->own->polling.threads.membarrier, e->membarrier, memory_order_relaxed);
    return MRMA_SUCCESS;
}

/* open_doorbell_fd is called when the engine is made: later the program may have used up all
 * descriptors. */
static int open_doorbell_fd(struct engine *e)
{
    e->doorbell_fd = doorbell_ring_fd();
    return e->doorbell_fd >= 0
               ? MRMA_SUCCESS
               : log_fail(&e->log, MRMA_ERR_OTHER, "cannot make a socket to wake others with: %s",
                          strerror(errno));
}

static int assemble(struct engine *e, bool threads)
{
    if (getrandom(&e->uid, sizeof e->uid, 0) != sizeof e->uid || !e->uid)
        e->uid = ((uint64_t)getpid() << 32) ^ clock_monotonic_ns();
    int err = heap_create(e->conf.segment_dir, &e->log, &e->heap);
    if (!err)
        err = heap_create(e->conf.segment_dir, &e->log, &e->user_heap);
    if (!err)
        err = make_own_segment(e);
    if (!err)
        err = open_doorbell_fd(e);
    if (err)
        return err;
    if (e->conf.ptracer == CONF_PTRACER_ANY)
        (void)cma_permit_peers();
    struct shm_channel_env ch_env = engine_channel_env(e);
    shm_channel_init(&e->shm, e->own, &ch_env, &e->log);
    ch3_init(&e->ch3, &e->log, rma_handlers, &e->rma);
    ch3_add_channel(&e->ch3, &e->shm.channel);
    engine_attach_init(e);
    err = engine_env_init(e);
    if (err)
        return err;
    e->env.agent_start = env_agent_start;
    engine_mem_init(e);
    engine_attach_offer(e);
    engine_peer_init(e);
    engine_net_init(e);
    rma_init(&e->rma, &e->log, &e->conf, &e->env, &e->ch3, clock_monotonic_ns, threads);
    return MRMA_SUCCESS;
}

static void close_own(struct engine *e)
{
    seg_close(&e->own_seg);
    if (e->doorbell_fd >= 0)
        close(e->doorbell_fd);
}

int engine_create(const struct conf *conf, const struct log *log,
                  const struct engine_process *process, struct engine **out)
{
    struct engine *e = calloc(1, sizeof *e);
    if (!e)
        return log_fail(log, MRMA_ERR_NO_MEM, "no memory for the engine");
    e->conf = *conf;
    e->log = *log;
    e->own_seg.fd = e->doorbell_fd = -1;
    e->world_rank = process->world_rank;
    e->membarrier = process->membarrier;
    e->malloc_calls = process->malloc_calls;
    e->host_progress = process->host_progress;
    e->say_call = process->say_call;
    int err = assemble(e, process->threads);
    if (err) {
        engine_attach_fini(e);
        heap_destroy(e->user_heap);
        heap_destroy(e->heap);
        close_own(e);
        free(e);
        return err;
    }
    *out = e;
    return MRMA_SUCCESS;
}

void engine_destroy(struct engine *e)
{
    engine_agent_end(e);
    polling_end(&e->own->polling);
    engine_peer_await_readers(e); /* two that wait for each other here have both ended */
    rma_fini(&e->rma);
    engine_net_fini(e);
    engine_peer_fini(e);
    engine_attach_fini(e);
    engine_mem_fini(e);
    engine_env_fini(e);
    heap_leave(e->user_heap);
    heap_destroy(e->heap);
    close_own(e);
    free(e);
}
