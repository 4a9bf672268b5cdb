/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inplace.c - who uses which pages. See impl.h for the runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "shm/inplace/impl.h"

const char *inplace_missing(void)
{
    return NULL;
}

static struct pages pages_of(const struct inplace *ip, const void *base, size_t len)
{
    const uintptr_t lo = (uintptr_t)base, hi = lo + len;
    return (struct pages){lo & ~(ip->page - 1), (hi + ip->page - 1) & ~(ip->page - 1)};
}

static bool overlaps(const struct run *run, struct pages p)
{
    return run->lo < p.hi && run->hi > p.lo;
}

/* All runs in the range that have no users. False: some stay. */
static bool restore_unused(struct inplace *ip, struct pages p)
{
    bool all = true;
    LIST_EACH_SAFE (node, &ip->runs) {
        struct run *run = run_of(node);
        if (!run->users && overlaps(run, p))
            all &= inplace_restore(ip, run);
    }
    return all;
}

static int replace_missing(struct inplace *ip, struct pages p, char *text, size_t len)
{
    int err = MRMA_SUCCESS;
    LIST_EACH (node, &ip->runs) {
        struct run *run = run_of(node);
        if (!err && run->lo > p.lo && p.lo < p.hi)
            err = inplace_replace(ip, (struct pages){p.lo, run->lo < p.hi ? run->lo : p.hi}, node,
                                  text, len);
        if (run->hi > p.lo)
            p.lo = run->hi;
    }
    if (!err && p.lo < p.hi)
        err = inplace_replace(ip, p, &ip->runs.head, text, len);
    return err;
}

/* Cut the run that reaches over an address in two there. */
static int split(struct inplace *ip, uintptr_t at)
{
    LIST_EACH (node, &ip->runs) {
        struct run *run = run_of(node);
        if (run->lo >= at || run->hi <= at)
            continue;
        struct run *upper = malloc(sizeof *upper);
        if (!upper)
            return MRMA_ERR_NO_MEM;
        *upper = (struct run){.lo = at, .hi = run->hi, .users = run->users};
        run->hi = at;
        list_insert_after(&run->node, &upper->node);
        return MRMA_SUCCESS;
    }
    return MRMA_SUCCESS;
}

/* One user more of all runs in the range, or of those that have none; no run reaches beyond the
 * range then. */
static int add_user(struct inplace *ip, struct pages p, bool unused, bool *some)
{
    int err = split(ip, p.lo);
    if (!err)
        err = split(ip, p.hi);
    LIST_EACH (node, &ip->runs)
        if (!err && overlaps(run_of(node), p) && !(unused && run_of(node)->users)) {
            run_of(node)->users++;
            *some = true;
        }
    return err;
}

int inplace_take(struct inplace *ip, const void *base, size_t len, bool held, char *text,
                 size_t text_len)
{
    const struct pages p = pages_of(ip, base, len);
    bool some;
    text[0] = '\0';
    if (p.hi <= p.lo) {
        snprintf(text, text_len, "it ends beyond the address space");
        return MRMA_ERR_OTHER;
    }
    pthread_mutex_lock(&ip->mutex);
    int err = restore_unused(ip, p) ? MRMA_SUCCESS : MRMA_ERR_OTHER;
    if (err)
        snprintf(text, text_len, "it could not be restored before");
    else
        err = replace_missing(ip, p, text, text_len);
    if (!err) {
        err = add_user(ip, p, held, &some);
        if (err)
            snprintf(text, text_len, "no memory");
    }
    if (err)
        (void)restore_unused(ip, p);
    pthread_mutex_unlock(&ip->mutex);
    return err;
}

int inplace_hold(struct inplace *ip, const void *base, size_t len, bool *some)
{
    const struct pages p = pages_of(ip, base, len);
    *some = false;
    if (p.hi <= p.lo)
        return MRMA_SUCCESS;
    pthread_mutex_lock(&ip->mutex);
    int err = add_user(ip, p, false, some);
    pthread_mutex_unlock(&ip->mutex);
    return err;
}

void inplace_drop(struct inplace *ip, const void *base, size_t len)
{
    const struct pages p = pages_of(ip, base, len);
    pthread_mutex_lock(&ip->mutex);
    LIST_EACH (node, &ip->runs)
        if (overlaps(run_of(node), p) && run_of(node)->users)
            run_of(node)->users--;
    (void)restore_unused(ip, p);
    pthread_mutex_unlock(&ip->mutex);
}

bool inplace_find(struct inplace *ip, const void *base, size_t len, struct heap_loc *loc)
{
    const struct pages p = pages_of(ip, base, len);
    uintptr_t upto = p.lo;
    pthread_mutex_lock(&ip->mutex);
    LIST_EACH (node, &ip->runs) {
        const struct run *run = run_of(node);
        if (run->lo <= upto && run->hi > upto)
            upto = run->hi;
    }
    const bool found = upto >= p.hi && p.hi > p.lo;
    if (found)
        *loc = (struct heap_loc){
            .seg = seg_name_of(&ip->file), .offset = (uintptr_t)base, .map = p.hi - p.lo};
    pthread_mutex_unlock(&ip->mutex);
    return found;
}

/* ---- life ---- */

int inplace_create(const char *dir, const struct log *log, struct inplace **out)
{
    struct inplace *ip = new_private(sizeof *ip);
    if (ip == MAP_FAILED)
        return log_fail(log, MRMA_ERR_NO_MEM, "no memory for the list of pages shared in place");
    *ip = (struct inplace){
        .dir = dir, .log = log, .page = (uintptr_t)sysconf(_SC_PAGESIZE), .file = {.fd = -1}};
    pthread_mutex_init(&ip->mutex, NULL);
    list_init(&ip->runs);
    *out = ip;
    return MRMA_SUCCESS;
}

void inplace_destroy(struct inplace *ip)
{
    if (!ip)
        return;
    LIST_EACH_SAFE (node, &ip->runs) {
        struct run *run = run_of(node);
        if (!inplace_restore(ip, run)) { /* noted */
            list_remove(&run->node);
            free(run);
        }
    }
    seg_close(&ip->file);
    pthread_mutex_destroy(&ip->mutex);
    munmap(ip, sizeof *ip);
}
