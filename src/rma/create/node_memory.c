/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_memory.c - see node_memory.h. The node is the machine, whatever MPIRMA_RANKS_PER_NODE says.
 */
#include "rma/create/node_memory.h"

#include "base/err.h"

int node_memory_fits(const struct win *w, const struct win_plan *plan)
{
    struct rma_env *env = w->rma->env;
    uint64_t sum = 0;
    for (int i = 0; i < w->nproc; i++)
        if (i == w->rank)
            sum = size_sum(sum, plan->untouched);
        else if (env->record_same_node(env->ctx, rma_proc_at(&plan->procs, i)))
            sum = size_sum(sum, win_untouched(w, i));
    if (!sum || !env->mem_fits(env->ctx, sum))
        return MRMA_SUCCESS;
    return log_fail(w->rma->log, MRMA_ERR_NO_MEM,
                    "the processes of this node ask for %llu bytes of window memory together",
                    (unsigned long long)sum);
}
