/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma_under_way.c - the puts, gets and atomic operations that the provider has (struct nm_rma), by
 * link, and those that are kept for use again. Locks: as nmofi.h says.
 */
#include <stdlib.h>

#include "base/err.h"
#include "netmod/ofi/ofi_rma.h"

/* Under way, to all peers. */
enum { NM_RMA_MAX = 256 };

struct nm_rma *nm_rma_get(struct nmofi *nm)
{
    struct list_node *node = list_pop_front(&nm->rma_free);
    if (node)
        return LIST_ENTRY(node, struct nm_rma, node);
    if (nm->nrma >= NM_RMA_MAX)
        return NULL;
    struct nm_rma *rma = calloc(1, sizeof *rma);
    if (!rma)
        return NULL;
    nm->nrma++;
    rma->op.kind = NM_OP_RMA;
    return rma;
}

void nm_rma_put(struct nmofi *nm, struct nm_rma *rma)
{
    if (rma->mr)
        fi_close(&rma->mr->fid);
    if (rma->copy)
        nm_tx_put(nm, rma->copy);
    rma->mr = NULL;
    rma->copy = NULL;
    rma->rdma = NULL;
    list_push_front(&nm->rma_free, &rma->node);
}

void nm_rma_abandon(struct nmofi_link *link, int err)
{
    LIST_EACH_SAFE (it, &link->rdma_ops) {
        struct nm_rma *rma = LIST_ENTRY(it, struct nm_rma, node);
        struct ch3_rdma *rdma = rma->rdma;
        rma->rdma = NULL;
        if (rdma)
            rdma->done(rdma, err);
    }
}

void nm_rma_end(struct nmofi *nm)
{
    struct list_node *node;
    while ((node = list_pop_front(&nm->rma_free)) != NULL)
        free(LIST_ENTRY(node, struct nm_rma, node));
}

/* The endpoint is closed: nothing comes back any more. */
void nm_rma_forget(struct nmofi_link *link)
{
    struct list_node *node;
    nm_rma_abandon(link, MRMA_ERR_PROC_FAILED);
    while ((node = list_pop_front(&link->rdma_ops)) != NULL)
        nm_rma_put(link->nm, LIST_ENTRY(node, struct nm_rma, node));
}
