/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork.c - children get copies of pages that are shared in place (fork_copies.h).
 *
 * The contents are read last, since malloc's own data may be in the pages, and allocations change
 * them. Where other threads run during the fork, what they store next to a window (in its first and
 * last page) between the copy and the fork is missing in the child.
 */
#include <stdlib.h>

#include "shm/inplace/impl.h"

struct count {
    const struct inplace *ip;
    size_t n;
};

static bool count_copy(void *arg, const struct vma *v)
{
    struct count *c = arg;
    c->n += is_ours(c->ip, v);
    return true;
}

static bool add_copy(void *arg, const struct vma *v)
{
    struct inplace *ip = arg;
    if (is_ours(ip, v))
        fork_copies_add(&ip->copies, (void *)v->start, v->end - v->start, prot_of(v), ip->file.fd,
                        (off_t)v->start);
    return true;
}

/* Of all that is shared; false: not to be had. */
static bool list_copies(struct inplace *ip)
{
    struct count c = {.ip = ip};
    bool ok = true;
    LIST_EACH (node, &ip->runs)
        ok &= vma_each(run_of(node)->lo, run_of(node)->hi, false, count_copy, &c) == VMA_ALL;
    ok &= fork_copies_begin(&ip->copies, c.n);
    LIST_EACH (node, &ip->runs)
        ok &= vma_each(run_of(node)->lo, run_of(node)->hi, false, add_copy, ip) == VMA_ALL;
    return ok;
}

void inplace_fork_prepare(struct inplace *ip)
{
    pthread_mutex_lock(&ip->mutex);
    if (list_empty(&ip->runs))
        return;
    if (!list_copies(ip))
        log_msg(ip->log, LOG_LEVEL_WARN,
                "no copies for the child of this fork: it shares memory of windows");
    (void)fork_copies_fill(&ip->copies);
}

void inplace_fork_parent(struct inplace *ip)
{
    fork_copies_drop(&ip->copies);
    pthread_mutex_unlock(&ip->mutex);
}

/* There is one thread, on a stack that is not among the pages. */
void inplace_fork_child(struct inplace *ip)
{
    fork_copies_move(&ip->copies);
    LIST_EACH_SAFE (node, &ip->runs) {
        list_remove(node);
        free(run_of(node));
    }
    pthread_mutex_unlock(&ip->mutex);
}
