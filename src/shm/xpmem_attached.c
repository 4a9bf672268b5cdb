/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xpmem_attached.c - see xpmem_attached.h.
 *
 * Every region is in one of two lists: used, while somebody holds it, or idle. Regions whose owner
 * and segment have the same hash hang on one another. Locks: the mutex, around everything.
 */
#include "shm/xpmem_attached.h"

#include <errno.h>
#include <stdlib.h>

struct attachment {
    struct list_node node;   /* in used or idle */
    struct attachment *next; /* with the same hash */
    struct attached_region region;
    struct shm_xpmem_map map;
    unsigned users;
    bool doomed; /* it is detached after the last use */
};

static struct attachment *attachment_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct attachment, node);
}

static uint64_t hash(const struct attached_region *r)
{
    return (r->owner ^ r->segment * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
}

static bool is_same(const struct attached_region *a, const struct attached_region *b)
{
    return a->owner == b->owner && a->segment == b->segment && a->group == b->group;
}

static struct attachment *find(const struct attached_cache *c, const struct attached_region *r)
{
    struct attachment *a = map_get(&c->known, hash(r));
    while (a && !is_same(&a->region, r))
        a = a->next;
    return a;
}

static int enter(struct attached_cache *c, struct attachment *a)
{
    a->next = map_get(&c->known, hash(&a->region));
    return map_put(&c->known, hash(&a->region), a, NULL);
}

static void leave(struct attached_cache *c, struct attachment *a)
{
    struct attachment *first = map_get(&c->known, hash(&a->region));
    if (first != a) {
        while (first->next != a)
            first = first->next;
        first->next = a->next;
    } else if (a->next) {
        (void)map_put(&c->known, hash(&a->region), a->next, NULL); /* replaces: needs no memory */
    } else {
        (void)map_del(&c->known, hash(&a->region));
    }
}

static void detach(struct attached_cache *c, struct attachment *a)
{
    leave(c, a);
    list_remove(&a->node);
    c->ops.detach(c->ops.ctx, &a->map);
    c->count--;
    free(a);
}

/* make_room makes room for one more region; if need be it detaches the one that has been idle for
 * longest. */
static bool make_room(struct attached_cache *c)
{
    if (c->count >= c->most && !list_empty(&c->idle))
        detach(c, attachment_of(c->idle.head.next));
    return c->count < c->most;
}

static int attach(struct attached_cache *c, const struct attached_region *r,
                  struct attachment **out)
{
    if (!make_room(c))
        return ENOSPC;
    struct attachment *a = calloc(1, sizeof *a);
    if (!a)
        return ENOMEM;
    a->region = *r;
    int error = c->ops.attach(c->ops.ctx, r->segment, r->vaddr, r->len, &a->map);
    if (!error && enter(c, a) != 0) {
        c->ops.detach(c->ops.ctx, &a->map);
        error = ENOMEM;
    }
    if (error) {
        free(a);
        return error;
    }
    list_push_back(&c->used, &a->node);
    c->count++;
    c->made++;
    *out = a;
    return 0;
}

int attached_get(struct attached_cache *c, const struct attached_region *r, void **at,
                 struct attachment **out)
{
    int error = 0;
    pthread_mutex_lock(&c->mutex);
    struct attachment *a = find(c, r);
    if (!a) {
        error = attach(c, r, &a);
    } else if (!a->users) {
        list_remove(&a->node);
        list_push_back(&c->used, &a->node);
    }
    if (!error) {
        a->users++;
        *at = a->map.at;
        *out = a;
    }
    pthread_mutex_unlock(&c->mutex);
    return error;
}

void attached_put(struct attached_cache *c, struct attachment *a, bool keep)
{
    pthread_mutex_lock(&c->mutex);
    a->doomed |= !keep;
    if (--a->users == 0) {
        if (a->doomed) {
            detach(c, a);
        } else {
            list_remove(&a->node);
            list_push_back(&c->idle, &a->node);
        }
    }
    pthread_mutex_unlock(&c->mutex);
}

void attached_drop(struct attached_cache *c, const void *group,
                   bool (*gone)(void *arg, const struct attached_region *r), void *arg)
{
    pthread_mutex_lock(&c->mutex);
    LIST_EACH_SAFE (node, &c->idle) {
        struct attachment *a = attachment_of(node);
        if (a->region.group == group && (!gone || gone(arg, &a->region)))
            detach(c, a);
    }
    LIST_EACH (node, &c->used) {
        struct attachment *a = attachment_of(node);
        if (a->region.group == group && (!gone || gone(arg, &a->region)))
            a->doomed = true;
    }
    pthread_mutex_unlock(&c->mutex);
}

size_t attached_count(struct attached_cache *c, uint64_t *made)
{
    pthread_mutex_lock(&c->mutex);
    const size_t count = c->count;
    if (made)
        *made = c->made;
    pthread_mutex_unlock(&c->mutex);
    return count;
}

void attached_init(struct attached_cache *c, const struct attached_ops *ops, size_t most)
{
    *c = (struct attached_cache){.ops = *ops, .most = most};
    pthread_mutex_init(&c->mutex, NULL);
    map_init(&c->known);
    list_init(&c->used);
    list_init(&c->idle);
}

void attached_fini(struct attached_cache *c)
{
    LIST_EACH_SAFE (node, &c->used)
        detach(c, attachment_of(node));
    LIST_EACH_SAFE (node, &c->idle)
        detach(c, attachment_of(node));
    map_fini(&c->known);
    pthread_mutex_destroy(&c->mutex);
}
