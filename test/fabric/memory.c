/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.c - registered memory: for peers by its key, for the user's own buffers as a descriptor.
 *
 * What a peer reaches is bounded by key, range and access. What the user owes is held: a key that
 * fits and is not in use, bind and enable where the profile wants them, descriptors that cover what
 * they are given for, and no release while an operation uses one.
 *
 * Locks: the domain's. Neighbours: call.c and atomic_calls.c, which look descriptors up.
 */
#include <stdlib.h>
#include <unistd.h>

#include "test/fabric/objects.h"

static bool key_fits(uint64_t key)
{
    return (rules->mr_mode & FI_MR_PROV_KEY) || rules->key_bytes >= 8 ||
           !(key >> (8 * rules->key_bytes));
}

static int memory_close(struct fid *fid)
{
    struct memory *m = (struct memory *)(void *)fid;
    struct domain *d = m->domain;
    domain_enter(d);
    if (m->users)
        rules_broken("memory is released that %u operations use", m->users);
    list_remove(&m->node);
    domain_leave(d);
    free(m);
    return 0;
}

static int memory_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    struct memory *m = (struct memory *)(void *)fid;
    (void)flags;
    if (to->fclass != FI_CLASS_EP || !(rules->mr_mode & FI_MR_ENDPOINT))
        return -FI_EINVAL;
    m->bound = (struct endpoint *)(void *)to;
    return 0;
}

static int memory_control(struct fid *fid, int command, void *arg)
{
    struct memory *m = (struct memory *)(void *)fid;
    (void)arg;
    if (command != FI_ENABLE)
        return -FI_ENOSYS;
    if (!m->bound || !m->bound->enabled) {
        rules_broken("memory is enabled that is bound to no enabled endpoint");
        return -FI_EINVAL;
    }
    m->fid.key = m->key;
    return 0;
}

static struct fi_ops memory_fid_ops = {.size = sizeof(struct fi_ops),
                                       .close = memory_close,
                                       .bind = memory_bind,
                                       .control = memory_control};

static bool key_is_used(struct domain *d, uint64_t key)
{
    LIST_EACH (it, &d->memory)
        if (LIST_ENTRY(it, struct memory, node)->key == key)
            return true;
    return false;
}

static int register_one(struct domain *d, const void *buf, size_t len, uint64_t access,
                        uint64_t key, struct memory **out)
{
    if (rules->mr_mode & FI_MR_PROV_KEY)
        key = ++d->next_key;
    if (key_is_used(d, key))
        return -FI_ENOKEY;
    struct memory *m = calloc(1, sizeof *m);
    if (!m)
        return -FI_ENOMEM;
    m->fid.fid = (struct fid){.fclass = FI_CLASS_MR, .ops = &memory_fid_ops};
    m->domain = d;
    m->base = (char *)(uintptr_t)buf;
    m->len = len;
    m->access = access;
    m->key = key;
    m->fid.key = rules->mr_mode & FI_MR_ENDPOINT ? FI_KEY_NOTAVAIL : m->key;
    m->fid.mem_desc = d->local ? m : NULL;
    list_push_back(&d->memory, &m->node);
    *out = m;
    return 0;
}

static int memory_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
                      uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **out,
                      void *context)
{
    struct domain *d = (struct domain *)(void *)fid;
    struct memory *m = NULL;
    (void)context;
    if (offset || flags || !key_fits(key)) {
        rules_broken("a registration with an offset, flags, or a key of more than %u bytes",
                     rules->key_bytes);
        return -FI_EINVAL;
    }
    if (rules->mr_us)
        usleep(rules->mr_us);
    domain_enter(d);
    COUNT(registrations);
    const bool fails = rules->mr_fail_after && d->registered >= rules->mr_fail_after;
    const int ret = fails ? -FI_ENOMEM : register_one(d, buf, len, access, key, &m);
    d->registered += !ret;
    domain_leave(d);
    if (!ret)
        *out = &m->fid;
    return ret;
}

struct fi_ops_mr memory_ops = {.size = sizeof(struct fi_ops_mr), .reg = memory_reg};

struct memory *memory_find(struct domain *d, void *desc, const void *buf, size_t len,
                           uint64_t access)
{
    const char *from = buf;
    if (!d->local || !len)
        return NULL;
    LIST_EACH (it, &d->memory) {
        struct memory *m = LIST_ENTRY(it, struct memory, node);
        if (m == desc && from >= m->base && from + len <= m->base + m->len &&
            (m->access & access) == access)
            return m;
    }
    rules_broken("no descriptor covers a buffer of %zu bytes", len);
    return NULL;
}

void *memory_at(struct domain *d, uint64_t key, uint64_t addr, uint64_t len, uint64_t access)
{
    LIST_EACH (it, &d->memory) {
        const struct memory *m = LIST_ENTRY(it, struct memory, node);
        const uint64_t first =
            rules->mr_mode & FI_MR_VIRT_ADDR ? addr - (uint64_t)(uintptr_t)m->base : addr;
        if (m->fid.key == key && (m->access & access) == access)
            return first <= m->len && len <= m->len - first ? m->base + first : NULL;
    }
    return NULL;
}
