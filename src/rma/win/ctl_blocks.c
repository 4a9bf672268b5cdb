/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctl_blocks.c - see ctl_blocks.h. There is one list of all blocks of the process, each with its
 * size and whether a window has it. It has as many blocks as windows have lived at one time, and is
 * searched only when windows come and go. The smallest block that is large enough is taken. Lock:
 * the engine's.
 */
#include "rma/win/ctl_blocks.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/list.h"
#include "rma/env.h"
#include "rma/win/win.h"

struct block {
    struct list_node link;
    void *at;
    size_t size;
    bool taken;
};

static struct block *smallest_free(struct rma *r, size_t size)
{
    struct block *found = NULL;
    LIST_EACH (node, &r->ctl_blocks) {
        struct block *b = LIST_ENTRY(node, struct block, link);
        if (!b->taken && b->size >= size && (!found || b->size < found->size))
            found = b;
    }
    return found;
}

int ctl_blocks_take(struct rma *r, size_t size, struct win_ctl **out)
{
    int err = MRMA_SUCCESS;
    rma_enter(r);
    struct block *b = smallest_free(r, size);
    if (!b && (b = malloc(sizeof *b)) != NULL) {
        *b = (struct block){.size = size};
        err = r->env->mem_alloc(r->env->ctx, size, MRMA_CACHE_LINE, &b->at);
        if (err)
            free(b);
        else
            list_push_back(&r->ctl_blocks, &b->link);
    } else if (!b) {
        err = MRMA_ERR_NO_MEM;
    }
    if (!err) {
        b->taken = true;
        *out = b->at;
    }
    rma_leave(r);
    return err;
}

void ctl_blocks_give(struct rma *r, struct win_ctl *ctl)
{
    LIST_EACH (node, &r->ctl_blocks) {
        struct block *b = LIST_ENTRY(node, struct block, link);
        if (b->at == ctl)
            b->taken = false;
    }
}

void ctl_blocks_fini(struct rma *r)
{
    struct list_node *node;
    while ((node = list_pop_front(&r->ctl_blocks)) != NULL) {
        struct block *b = LIST_ENTRY(node, struct block, link);
        r->env->mem_free(r->env->ctx, b->at);
        free(b);
    }
}
