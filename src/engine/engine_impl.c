/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_impl.c - src/rma's environment on real processes, put together; and the
 * record by which this process is known to others.
 *
 * A process is identified by a random number made when its engine is created, never by a rank;
 * sys/node.h says what a node is.
 *
 * No locks: the record is made before anybody else sees the engine. Neighbours: engine_net.c, which
 * changes the record when the network is opened; the bootstrap, which carries it.
 */
#include "engine/engine_impl.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>

#include "acc/stripe.h"
#include "base/err.h"
#include "sys/node.h"
#include "sys/procstart.h"

static_assert((int)PROCSEG_STRIPES == (int)RMA_STRIPES, "stripes");
static_assert((int)PROCSEG_NOTICES == (int)RMA_NOTICES &&
                  (int)PROCSEG_NOTICE_BYTES == (int)RMA_NOTICE_BYTES,
              "notices");

static bool env_same_node(void *ctx, const struct rma_proc_record *rec)
{
    uint64_t node[2];
    memcpy(node, (const char *)rec + offsetof(struct proc_record, node), sizeof node);
    return engine_same_node(ctx, node);
}

static unsigned env_cpus(void *ctx, const struct rma_procs *procs)
{
    struct topo_cpuset all = {{0}};
    for (int i = 0; i < procs->n; i++)
        if (env_same_node(ctx, rma_proc_at(procs, i))) {
            const struct proc_record r = proc_record_of(rma_proc_at(procs, i));
            topo_cpuset_or(&all, &r.cpus);
        }
    return topo_cpuset_count(&all);
}

bool engine_same_node(const struct engine *e, const uint64_t node[2])
{
    return e->node[0] == node[0] && e->node[1] == node[1];
}

static void env_host_progress(void *ctx)
{
    const struct engine *e = ctx;
    e->host_progress();
}

/* node_procs_bound returns how many processes of the job the launcher has started on this node,
 * which Hydra and Open MPI tell. Others may join by MPI_Comm_spawn; the creation of a window
 * notices these by itself. */
static int node_procs_bound(void)
{
    static const char *const names[] = {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        const long n = text ? strtol(text, NULL, 10) : 0;
        if (n > 0 && n < INT_MAX)
            return (int)n;
    }
    return 0;
}

int engine_env_init(struct engine *e)
{
    struct proc_record rec = {.uid = e->uid,
                              .membarrier = e->membarrier,
                              .seg = seg_name_of(&e->own_seg),
                              .started = procstart_of(0),
                              .probe_addr = (uint64_t)(uintptr_t)&e->uid,
                              .probe_value = e->uid,
                              .probe_segment = e->probe_segment};
    if (getrandom(rec.secret, sizeof rec.secret, 0) != sizeof rec.secret)
        return log_fail(&e->log, MRMA_ERR_OTHER, "no random numbers for a secret: %s",
                        strerror(errno));
    const struct node_id node = node_self();
    memcpy(e->node, node.word, sizeof e->node);
    memcpy(rec.node, node.word, sizeof rec.node);
    if (topo_cpuset_self(&rec.cpus) != MRMA_SUCCESS)
        rec.cpus.word[0] = 1;
    memcpy(&e->record, &rec, sizeof rec);
    pthread_mutex_init(&e->maps_lock, NULL);
    pthread_mutex_init(&e->agent_lock, NULL);
    e->env = (struct rma_env){.ctx = e,
                              .record = &e->record,
                              .node_procs_bound = node_procs_bound(),
                              .record_same_node = env_same_node,
                              .record_cpus = env_cpus,
                              .host_progress = e->host_progress ? env_host_progress : NULL,
                              .say_call = e->say_call,
                              .polling = &e->own->polling,
                              .board = &e->own->board,
                              .notices = (struct rma_notice *)(void *)e->own->notices,
                              .doorbell_fd = e->doorbell_fd,
                              .stripes = {e->own->stripes, fmutex_self(rec.started)}};
    return MRMA_SUCCESS;
}

void engine_env_fini(struct engine *e)
{
    pthread_mutex_destroy(&e->maps_lock);
    pthread_mutex_destroy(&e->agent_lock);
}
