/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endpoint.c - the endpoint: its options, name, bindings and end.
 *
 * Locks: the domain's. Neighbours: transfers.c and atomic_calls.c, which have its calls; card.c;
 * memory.c.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "test/fabric/call.h"

static int ep_setopt(fid_t fid, int level, int name, const void *value, size_t len)
{
    struct endpoint *ep = (struct endpoint *)(void *)fid;
    if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV || len != sizeof ep->min_multi)
        return -FI_ENOPROTOOPT;
    memcpy(&ep->min_multi, value, len);
    return 0;
}

static int ep_getname(fid_t fid, void *addr, size_t *len)
{
    const struct endpoint *ep = (struct endpoint *)(void *)fid;
    const size_t need = rules->name_len + (size_t)(ep->uid % 4) * rules->uneven;
    const struct wire_name name = {ep->uid, ep->domain->card};
    unsigned char *bytes = addr;
    const size_t room = *len;
    *len = need;
    if (room < need)
        return -FI_ETOOSMALL;
    for (size_t i = 0; i < need; i++)
        bytes[i] = (unsigned char)i;
    memcpy(bytes, &name, sizeof name);
    return 0;
}

static int ep_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    struct endpoint *ep = (struct endpoint *)(void *)fid;
    if (to->fclass == FI_CLASS_AV) {
        ep->av = (struct vector *)(void *)to;
        return 0;
    }
    if (to->fclass != FI_CLASS_CQ || flags != (FI_SEND | FI_RECV))
        return -FI_ENOSYS;
    ep->cq = (struct queue *)(void *)to;
    return 0;
}

static int ep_control(struct fid *fid, int command, void *arg)
{
    struct endpoint *ep = (struct endpoint *)(void *)fid;
    (void)arg;
    if (command != FI_ENABLE)
        return -FI_ENOSYS;
    if (!ep->av || !ep->cq) {
        rules_broken("an endpoint is enabled without queue and addresses");
        return -FI_EINVAL;
    }
    rules_of_environment(rules);
    domain_enter(ep->domain);
    const int ret = wire_listen(ep);
    ep->enabled = !ret;
    card_kick(ep->domain);
    domain_leave(ep->domain);
    return ret;
}

static bool has_memory(const struct endpoint *ep)
{
    LIST_EACH (it, &ep->domain->memory)
        if (LIST_ENTRY(it, struct memory, node)->bound == ep)
            return true;
    return false;
}

/* What is not over, and what nobody has received. */
static void forget(struct endpoint *ep)
{
    struct list_node *node;
    while ((node = list_first(&ep->ops)) != NULL)
        op_free(LIST_ENTRY(node, struct op, node));
    while ((node = list_pop_front(&ep->unexpected)) != NULL ||
           (node = list_pop_front(&ep->held)) != NULL)
        free(LIST_ENTRY(node, struct chunk, node));
}

static int ep_close(struct fid *fid)
{
    struct endpoint *ep = (struct endpoint *)(void *)fid;
    struct domain *d = ep->domain;
    domain_enter(d);
    if (ep->owed)
        rules_broken("an endpoint is closed with %u completions to come", ep->owed);
    if (has_memory(ep))
        rules_broken("an endpoint is closed before memory that is bound to it");
    wire_close(ep);
    list_remove(&ep->node);
    forget(ep);
    if (ep->cq)
        queue_forget(ep->cq, ep);
    domain_leave(d);
    free(ep);
    return 0;
}

static struct fi_ops ep_fid_ops = {
    .size = sizeof(struct fi_ops), .close = ep_close, .bind = ep_bind, .control = ep_control};
static struct fi_ops_ep ep_ops = {.size = sizeof(struct fi_ops_ep), .setopt = ep_setopt};
static struct fi_ops_cm cm_ops = {.size = sizeof(struct fi_ops_cm), .getname = ep_getname};

int domain_endpoint(struct fid_domain *fid, struct fi_info *info, struct fid_ep **out,
                    void *context)
{
    struct domain *d = (struct domain *)(void *)fid;
    struct endpoint *ep = calloc(1, sizeof *ep);
    (void)info;
    if (!ep)
        return -FI_ENOMEM;
    ep->domain = d;
    ep->listener = -1;
    if (getrandom(&ep->uid, sizeof ep->uid, 0) != sizeof ep->uid) {
        free(ep);
        return -FI_ENODATA;
    }
    ep->fid.fid = (struct fid){.fclass = FI_CLASS_EP, .context = context, .ops = &ep_fid_ops};
    ep->fid.ops = &ep_ops;
    ep->fid.cm = &cm_ops;
    ep->fid.msg = &transfer_msg_ops;
    ep->fid.rma = &transfer_rma_ops;
    ep->fid.atomic = &atomic_call_ops;
    list_init(&ep->ops);
    list_init(&ep->held);
    list_init(&ep->wires);
    list_init(&ep->unexpected);
    domain_enter(d);
    list_push_back(&d->endpoints, &ep->node);
    domain_leave(d);
    *out = &ep->fid;
    return 0;
}
