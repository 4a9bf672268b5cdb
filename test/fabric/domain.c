/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * domain.c - a domain, which is a card, and the address vector.
 *
 * Addresses are names as struct wire_name says. Their filling is held, too, so that a user who cuts
 * names short is found out.
 *
 * Locks: the domain's (domain_enter). Neighbours: endpoint.c, queue.c and memory.c, whose objects
 * are opened from here; card.c, whose thread belongs to a domain.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "test/fabric/objects.h"

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

void domain_enter(struct domain *d)
{
    if (atomic_exchange(&d->inside, true))
        rules_broken("two threads call at once in a domain opened with FI_THREAD_DOMAIN");
    pthread_mutex_lock(&d->lock);
}

void domain_leave(struct domain *d)
{
    card_wake_in_time(d);
    pthread_mutex_unlock(&d->lock);
    atomic_store(&d->inside, false);
}

unsigned domain_random(struct domain *d, unsigned limit)
{
    d->random = d->random * UINT64_C(6364136223846793005) + 1;
    return (unsigned)(d->random >> 33) % limit;
}

/* ---- the address vector ---- */

static bool filling_is_whole(const unsigned char *name)
{
    for (size_t i = sizeof(struct wire_name); i < rules->name_len; i++)
        if (name[i] != (unsigned char)i)
            return false;
    return true;
}

static int insert_one(struct vector *av, const unsigned char *bytes, fi_addr_t *out)
{
    struct wire_name name;
    uint64_t *uids = realloc(av->uids, (av->n + 1) * sizeof *uids);
    memcpy(&name, bytes, sizeof name);
    if (!uids)
        return 0;
    av->uids = uids;
    if (!filling_is_whole(bytes)) {
        rules_broken("an address is not what its endpoint gave out");
        return 0;
    }
    *out = av->n;
    uids[av->n++] = name.uid;
    return 1;
}

static int vector_insert(struct fid_av *fid, const void *addr, size_t count, fi_addr_t *out,
                         uint64_t flags, void *context)
{
    struct vector *av = (struct vector *)(void *)fid;
    (void)flags;
    (void)context;
    if (count != 1 || !out) {
        rules_broken("addresses are inserted other than one by one");
        return -FI_EINVAL;
    }
    domain_enter(av->domain);
    const int n = insert_one(av, addr, out);
    domain_leave(av->domain);
    return n;
}

static const char *vector_text(struct fid_av *fid, const void *addr, char *buf, size_t *len)
{
    struct wire_name name;
    (void)fid;
    memcpy(&name, addr, sizeof name);
    const int n = snprintf(buf, *len, "fi_addr_%s://%016jx#%ju", rules->name, (uintmax_t)name.uid,
                           (uintmax_t)name.card);
    *len = (size_t)n + 1;
    return buf;
}

static int vector_close(struct fid *fid)
{
    struct vector *av = (struct vector *)(void *)fid;
    free(av->uids);
    free(av);
    return 0;
}

uint64_t vector_uid(const struct vector *av, fi_addr_t addr)
{
    return addr < av->n ? av->uids[addr] : 0;
}

static struct fi_ops vector_fid_ops = {.size = sizeof(struct fi_ops), .close = vector_close};
static struct fi_ops_av vector_ops = {
    .size = sizeof(struct fi_ops_av), .insert = vector_insert, .straddr = vector_text};

static int vector_open(struct fid_domain *fid, struct fi_av_attr *attr, struct fid_av **out,
                       void *context)
{
    struct domain *d = (struct domain *)(void *)fid;
    struct vector *av = attr->type == FI_AV_TABLE ? calloc(1, sizeof *av) : NULL;
    if (!av)
        return attr->type == FI_AV_TABLE ? -FI_ENOMEM : -FI_ENOSYS;
    av->fid.fid = (struct fid){.fclass = FI_CLASS_AV, .context = context, .ops = &vector_fid_ops};
    av->fid.ops = &vector_ops;
    av->domain = d;
    *out = &av->fid;
    return 0;
}

/* ---- the domain ---- */

static int domain_close(struct fid *fid)
{
    struct domain *d = (struct domain *)(void *)fid;
    if (!list_empty(&d->endpoints) || !list_empty(&d->memory) || d->queue)
        rules_broken("a domain is closed before its endpoints, queue and memory");
    pthread_mutex_destroy(&d->lock);
    free(d);
    return 0;
}

static int open_counts(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context)
{
    (void)fid;
    (void)flags;
    (void)context;
    if (strcmp(name, FABRIC_COUNTS) != 0)
        return -FI_ENOSYS;
    *ops = &rules_counts;
    return 0;
}

static int query_atomic(struct fid_domain *fid, enum fi_datatype datatype, enum fi_op op,
                        struct fi_atomic_attr *attr, uint64_t flags)
{
    const enum op_kind kind = flags == FI_COMPARE_ATOMIC ? OP_SWAP
                              : flags == FI_FETCH_ATOMIC ? OP_FETCH
                                                         : OP_ATOMIC;
    (void)fid;
    attr->count = atomics_most(kind, op, datatype);
    if (!attr->count)
        return -FI_EOPNOTSUPP;
    attr->size = atomics_size(datatype);
    return 0;
}

static struct fi_ops domain_fid_ops = {
    .size = sizeof(struct fi_ops), .close = domain_close, .ops_open = open_counts};
static struct fi_ops_domain domain_ops = {.size = sizeof(struct fi_ops_domain),
                                          .av_open = vector_open,
                                          .cq_open = domain_queue,
                                          .endpoint = domain_endpoint,
                                          .query_atomic = query_atomic};

static unsigned card_of(const char *name)
{
    return (unsigned)strtoul(name + strlen(rules->name), NULL, 10);
}

int fabric_domain(struct fid_fabric *fid, struct fi_info *info, struct fid_domain **out,
                  void *context)
{
    struct domain *d = calloc(1, sizeof *d);
    if (!d)
        return -FI_ENOMEM;
    (void)fid;
    d->fid.fid =
        (struct fid){.fclass = FI_CLASS_DOMAIN, .context = context, .ops = &domain_fid_ops};
    d->fid.ops = &domain_ops;
    d->fid.mr = &memory_ops;
    d->local = info->domain_attr->mr_mode & FI_MR_LOCAL;
    d->automatic = info->domain_attr->data_progress == FI_PROGRESS_AUTO;
    d->card = card_of(info->domain_attr->name);
    d->random = now_ns() | 1;
    d->kick = -1;
    list_init(&d->memory);
    list_init(&d->endpoints);
    pthread_mutex_init(&d->lock, NULL);
    if (d->local)
        COUNT(local_descriptors);
    *out = &d->fid;
    return 0;
}
