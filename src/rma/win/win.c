/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win.c - facts about a window, for attributes, info, messages and MPI_Win_shared_query. No locks.
 */
#include "rma/win/win.h"

#include "base/err.h"
#include "rma/win/path_ops.h"

/* path_name returns the word of MPIRMA_PATH for a path, for info and messages: "cma" for
 * PATH_ASSISTED. */
static const char *path_name(unsigned path)
{
    static const char *const names[PATH_COUNT] = {[PATH_MAPPED] = "mapped",
                                                  [PATH_ASSISTED] = "cma",
                                                  [PATH_PACKETS] = "shm-packets",
                                                  [PATH_RDMA] = "rdma"};
    return names[path];
}

/* The lowest rank with memory, else 0. */
static int first_with_memory(const struct win *w)
{
    for (int rank = 0; rank < w->nproc; rank++) {
        const struct rma_target *t = win_peek(w, rank);
        if (t->peer ? t->size : records_are_there(w) && record_of(w, rank).size)
            return rank;
    }
    return 0;
}

int win_shared_query(struct win *w, int rank, uint64_t *size, uint32_t *disp_unit, void **base)
{
    if (w->dynamic)
        return MRMA_ERR_RMA_FLAVOR;
    struct rma_target *t;
    int err = win_target(w, rank < 0 ? first_with_memory(w) : rank, &t);
    if (err)
        return err;
    *base = t->shared_base;
    *size = t->shared_base ? t->size : 0;
    *disp_unit = t->disp_unit;
    return MRMA_SUCCESS;
}

enum win_flavor win_flavor(const struct win *w)
{
    return w->flavor;
}
void **win_base_attr(struct win *w)
{
    return &w->base;
}
const uint64_t *win_size(const struct win *w)
{
    return &w->size;
}
uint64_t win_number(const struct win *w)
{
    return w->number;
}

uint32_t win_id(const struct win *w)
{
    return w->index;
}
const struct win_hints *win_hints(const struct win *w)
{
    return &w->hints;
}

void win_set_hints(struct win *w, const struct win_hints *hints)
{
    if (w->hints.fabric_atomics) /* which follows from these */
        return;
    w->hints.ordering = hints->ordering;
    w->hints.same_op = hints->same_op;
    w->hints.which_ops = hints->which_ops;
}

const char *win_path_name(const struct win *w, int target)
{
    const struct rma_env *env = w->rma->env;
    const struct rma_target *t = win_peek(w, target);
    bool net = t->peer && t->peer->net;
    if (!t->peer) /* on another node, or treated as if it were, and not in use yet */
        net = w->rma->conf->path != CONF_PATH_SHM_PACKETS || !records_are_there(w) ||
              !env->record_same_node(env->ctx, record_proc(w, target));
    return net ? "net-packets" : path_name(t->peer ? t->path : PATH_PACKETS);
}
