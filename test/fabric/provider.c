/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider.c - the plug-in: what libfabric finds by FI_PROVIDER_PATH, what it offers, and the
 * fabric object.
 *
 * It registers under the profile's name with a version that is greater than that of the real
 * provider of that name, which it replaces. A user whose hints lack what the profile demands, or
 * ask for what it has not, is offered nothing.
 *
 * No locks. Neighbours: rules.c, domain.c.
 */
#include <rdma/providers/fi_prov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/fabric/objects.h"

#define CAPS_OF_FABRICS                                                                          \
    (FI_MSG | FI_SEND | FI_RECV | FI_MULTI_RECV | FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | \
     FI_REMOTE_WRITE | FI_LOCAL_COMM | FI_REMOTE_COMM)
#define NEWEST FI_VERSION(999, 0)

const struct rules *rules;

/* What the user is not ready for, or asks for in vain. */
static bool is_refused(uint32_t version, const struct fi_info *hints)
{
    const uint64_t caps = CAPS_OF_FABRICS | (rules->atomics ? FI_ATOMIC : 0);
    if (FI_MINOR(version) > rules->api)
        return true;
    if (!hints)
        return false;
    return (hints->ep_attr && hints->ep_attr->type != FI_EP_UNSPEC &&
            hints->ep_attr->type != FI_EP_RDM) ||
           (hints->caps & ~caps) || (rules->mode & ~hints->mode) ||
           (hints->tx_attr && (hints->tx_attr->msg_order & ~rules->order)) ||
           (hints->rx_attr && (hints->rx_attr->msg_order & ~rules->order)) ||
           (hints->domain_attr &&
            ((rules->mr_mode & ~(uint64_t)(unsigned)hints->domain_attr->mr_mode) ||
             (rules->mr_local == LOCAL_ALWAYS && !(hints->domain_attr->mr_mode & FI_MR_LOCAL)) ||
             (hints->domain_attr->data_progress == FI_PROGRESS_AUTO && !rules->offload)));
}

static char *name_of(unsigned number)
{
    char text[64];
    snprintf(text, sizeof text, "%s%u", rules->name, number);
    return strdup(text);
}

static int mr_mode_of(const struct fi_info *hints)
{
    const bool offered = hints && hints->domain_attr && (hints->domain_attr->mr_mode & FI_MR_LOCAL);
    const bool local =
        rules->mr_local == LOCAL_ALWAYS || (rules->mr_local == LOCAL_IF_OFFERED && offered);
    return (int)(rules->mr_mode | (local ? FI_MR_LOCAL : 0));
}

static void describe_domain(struct fi_domain_attr *domain, const struct fi_info *hints,
                            unsigned card)
{
    domain->name = name_of(card);
    domain->threading = FI_THREAD_DOMAIN;
    domain->mr_mode = mr_mode_of(hints);
    domain->mr_key_size = rules->key_bytes;
    domain->mr_iov_limit = 1;
    domain->cq_data_size = rules->cq_data;
    domain->control_progress = domain->data_progress =
        rules->offload && (!hints || hints->domain_attr->data_progress != FI_PROGRESS_MANUAL)
            ? FI_PROGRESS_AUTO
            : FI_PROGRESS_MANUAL;
    domain->resource_mgmt = FI_RM_ENABLED;
    domain->av_type = FI_AV_TABLE;
    domain->cq_cnt = 1;
    domain->ep_cnt = 64;
}

/* ---- where a card is ---- */

/* What libfabric's users read of a card; one piece of memory. */
struct nic {
    struct fid_nic nic; /* first */
    struct fi_device_attr device;
    struct fi_bus_attr bus;
    struct fi_link_attr link;
};

static int nic_new(unsigned bus, struct fid_nic **out);

static int nic_close(struct fid *fid)
{
    free(fid);
    return 0;
}

static int nic_control(struct fid *fid, int command, void *arg)
{
    const struct nic *n = (const void *)fid;
    return command == FI_DUP ? nic_new(n->bus.attr.pci.bus_id, arg) : -FI_ENOSYS;
}

static struct fi_ops nic_ops = {
    .size = sizeof(struct fi_ops), .close = nic_close, .control = nic_control};

static int nic_new(unsigned bus, struct fid_nic **out)
{
    struct nic *n = calloc(1, sizeof *n);
    if (!n)
        return -FI_ENOMEM;
    n->bus.bus_type = FI_BUS_PCI;
    n->bus.attr.pci.bus_id = (uint8_t)bus;
    n->nic = (struct fid_nic){.fid = {.fclass = FI_CLASS_NIC, .ops = &nic_ops},
                              .device_attr = &n->device,
                              .bus_attr = &n->bus,
                              .link_attr = &n->link};
    *out = &n->nic;
    return 0;
}

/* ---- what is offered ---- */

static struct fi_info *describe(const struct fi_info *hints, unsigned card)
{
    struct fi_info *info = fi_allocinfo();
    if (!info)
        return NULL;
    info->caps = CAPS_OF_FABRICS | (rules->atomics ? FI_ATOMIC : 0);
    info->mode = rules->mode;
    info->addr_format = FI_ADDR_STR + 1000; /* none that libfabric knows */
    info->fabric_attr->name = name_of(0);
    info->fabric_attr->prov_version = NEWEST;
    info->ep_attr->type = FI_EP_RDM;
    info->ep_attr->protocol = FI_PROTO_UNSPEC;
    info->ep_attr->max_msg_size = (size_t)1 << 30;
    info->ep_attr->max_order_war_size = rules->order & FI_ORDER_WAR ? ATOMIC_BYTES : 0;
    info->ep_attr->max_order_raw_size = rules->order & FI_ORDER_RAW ? ATOMIC_BYTES : 0;
    info->ep_attr->max_order_waw_size = rules->order & FI_ORDER_WAW ? ATOMIC_BYTES : 0;
    info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = 1;
    *info->tx_attr = (struct fi_tx_attr){.caps = info->caps,
                                         .mode = rules->mode,
                                         .msg_order = rules->order,
                                         .inject_size = rules->inject,
                                         .size = rules->tx_size,
                                         .iov_limit = rules->iov_max,
                                         .rma_iov_limit = rules->rma_iov_max};
    *info->rx_attr = (struct fi_rx_attr){.caps = info->caps,
                                         .mode = rules->mode,
                                         .msg_order = rules->order,
                                         .size = 1024,
                                         .iov_limit = rules->iov_max};
    describe_domain(info->domain_attr, hints, card);
    if (rules->pci && nic_new(rules->pci + 16 * card, &info->nic)) {
        fi_freeinfo(info);
        return NULL;
    }
    return info;
}

static int get_info(uint32_t version, const char *node, const char *service, uint64_t flags,
                    const struct fi_info *hints, struct fi_info **out)
{
    struct fi_info *first = NULL, **last = &first;
    const char *domain = hints && hints->domain_attr ? hints->domain_attr->name : NULL;
    (void)node;
    (void)service;
    (void)flags;
    if (is_refused(version, hints))
        return -FI_ENODATA;
    for (unsigned card = 0; card < rules->cards; card++) {
        struct fi_info *info = describe(hints, card);
        if (!info)
            break;
        if (domain && strcmp(domain, info->domain_attr->name) != 0) {
            fi_freeinfo(info);
            continue;
        }
        *last = info;
        last = &info->next;
    }
    *out = first;
    return first ? 0 : -FI_ENODATA;
}

static int fabric_close(struct fid *fid)
{
    free(fid); /* the fabric's first member */
    return 0;
}

static int fabric_trywait(struct fid_fabric *fid, struct fid **fids, int count)
{
    (void)fid;
    for (int i = 0; i < count; i++) {
        const int ret = fids[i]->fclass == FI_CLASS_CQ
                            ? queue_trywait((struct queue *)(void *)fids[i])
                            : -FI_EINVAL;
        if (ret)
            return ret;
    }
    return 0;
}

static struct fi_ops fabric_fid_ops = {.size = sizeof(struct fi_ops), .close = fabric_close};
static struct fi_ops_fabric fabric_ops = {
    .size = sizeof(struct fi_ops_fabric), .domain = fabric_domain, .trywait = fabric_trywait};

static int open_fabric(struct fi_fabric_attr *attr, struct fid_fabric **out, void *context)
{
    struct fabric *f = calloc(1, sizeof *f);
    (void)attr;
    if (!f)
        return -FI_ENOMEM;
    f->fid.fid =
        (struct fid){.fclass = FI_CLASS_FABRIC, .context = context, .ops = &fabric_fid_ops};
    f->fid.ops = &fabric_ops;
    f->fid.api_version = FI_VERSION(1, rules->api);
    *out = &f->fid;
    return 0;
}

static void clean_up(void)
{
}

/* fi_prov_ini is what libfabric calls when it has loaded the plug-in. Without FABRIC_PROFILE there
 * is no provider. */
__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void);

struct fi_provider *fi_prov_ini(void)
{
    static struct fi_provider provider = {
        .version = NEWEST, .getinfo = get_info, .fabric = open_fabric, .cleanup = clean_up};
    rules = rules_of();
    if (!rules)
        return NULL;
    rules_of_environment(rules);
    provider.fi_version = FI_VERSION(1, rules->api);
    provider.name = rules->name;
    return &provider;
}
