/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_pair.c - see engine_pair.h.
 */
#include "engine_pair.h"

#include "base/err.h"
#include "base_helper.h"

struct engine *engine_alone(void)
{
    static const struct conf conf;
    struct engine *e;
    struct log quiet;
    log_init(&quiet, LOG_LEVEL_ERROR, -1, "peer");
    return engine_create(&conf, &quiet, &(struct engine_process){.membarrier = false}, &e) ==
                   MRMA_SUCCESS
               ? e
               : NULL;
}

struct rma_peer *engine_know(struct engine *e, const struct rma_proc_record *rec)
{
    struct rma_peer *peer = NULL;
    rma_enter(&e->rma);
    assert_int_equal(e->env.peer_get(e, rec, true, &peer), MRMA_SUCCESS);
    rma_leave(&e->rma);
    return peer;
}

void engine_forget(struct engine *e, struct rma_peer *peer)
{
    e->env.peer_put(e, peer);
    engine_destroy(e);
}

struct pair pair_new(void)
{
    struct pair p = {.from = engine_alone(), .to = engine_alone()};
    p.peer = engine_know(p.from, &p.to->record);
    p.back = engine_know(p.to, &p.from->record);
    return p;
}

void pair_end(struct pair *p)
{
    engine_forget(p->from, p->peer);
    engine_forget(p->to, p->back);
}

const struct pkt_hdr pair_stray = {
    .version = PKT_VERSION, .type = PKT_ACK, .len = sizeof pair_stray, .win = 77};
