/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric.c - which provider, on which interface, and the objects made of it.
 *
 * What is needed is asked for (hints) and looked at again in the answer: a reliable
 * datagram endpoint with messages, receive buffers for many messages, sends that are
 * matched in order, messages of NM_MSG_MAX. Among those that have it the rank
 * decides: a network's own hardware before TCP, TCP's own datagrams before the
 * emulation over its streams. What emulates, or needs a thread that polls, or is
 * a test tool, is taken only by name. Atomics are never used: 1.17's "net" says
 * that it has them and has not.
 *
 * Progress is manual: this process has a thread where one is needed (the agent),
 * and a provider's own would only fight with it. The domain is used by one thread at a time
 * (the engine's lock), so FI_THREAD_DOMAIN will do.
 *
 * Waiting: on the queue's own descriptor. 1.17's "net" never calms that after the
 * first completion (its fi_trywait does nothing), so there the queue hangs on a wait
 * set, whose wait with no timeout does both. Its two calls go through the tables of
 * functions: the wrappers are deprecated in releases that have no "net" any more.
 *
 * Locks: none, since nobody else has the netmod yet, or any more. Neighbours: nmofi.c, which opens
 * and closes; addr.c, which knows addresses.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "netmod/ofi/ofi.h"

enum rank {
    RANK_NONE = 0,
    RANK_UNKNOWN = 1,
    RANK_TCP_RXM = 10,
    RANK_NET = 20,
    RANK_TCP = 21,
    RANK_HARDWARE = 30
};

/* Providers known by name: the core one, before any ";". */
static const struct {
    const char *core;
    enum rank rank;
} known[] = {
    {"tcp", RANK_TCP},       {"net", RANK_NET},      {"verbs", RANK_HARDWARE},
    {"cxi", RANK_HARDWARE},  {"efa", RANK_HARDWARE}, {"psm2", RANK_HARDWARE},
    {"psm3", RANK_HARDWARE}, {"opx", RANK_HARDWARE}, {"gni", RANK_HARDWARE},
    {"ucx", RANK_HARDWARE},  {"mlx", RANK_HARDWARE},
};

static enum rank rank_of(const struct fi_info *info)
{
    const char *name = info->fabric_attr->prov_name, *layer = strchr(name, ';');
    const size_t len = layer ? (size_t)(layer - name) : strlen(name);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].core) == len && strncmp(known[i].core, name, len) == 0)
            return known[i].rank == RANK_TCP && layer ? RANK_TCP_RXM : known[i].rank;
    return RANK_UNKNOWN;
}

static bool is_over_rxm(const struct fi_info *info)
{
    return strstr(info->fabric_attr->prov_name, "ofi_rxm") != NULL;
}

static struct fi_info *make_hints(const char *provider, bool rma)
{
    struct fi_info *hints = fi_allocinfo();
    if (!hints)
        return NULL;
    hints->caps = FI_MSG | FI_MULTI_RECV;
    if (rma)
        hints->caps |= FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    if (provider && !(hints->fabric_attr->prov_name = strdup(provider))) {
        fi_freeinfo(hints);
        return NULL;
    }
    return hints;
}

/* What is missing of what the hints asked for, or NULL. */
static const char *unfit(const struct fi_info *info)
{
    if (info->ep_attr->type != FI_EP_RDM)
        return "no reliable datagrams";
    if ((info->caps & (FI_MSG | FI_MULTI_RECV)) != (FI_MSG | FI_MULTI_RECV))
        return "no messages into shared buffers";
    if (!(info->tx_attr->msg_order & info->rx_attr->msg_order & FI_ORDER_SAS))
        return "sends are not ordered";
    if (info->ep_attr->max_msg_size < NM_MSG_MAX)
        return "messages too short";
    if (info->mode & ~(FI_CONTEXT | FI_CONTEXT2))
        return "modes";
    return NULL;
}

/* How well this one serves; 0: not at all. */
static int score(const struct nmofi *nm, const struct fi_info *info)
{
    const struct nmofi_opts *o = &nm->opts;
    const enum rank rank = rank_of(info);
    const char *fault = unfit(info);
    const bool on_loopback = nm_addr_loopback(info);
    if (!fault && rank == RANK_UNKNOWN && !o->provider)
        fault = "only by name";
    if (!fault && o->interface && !nm_addr_on(info, o->interface))
        fault = "another interface";
    if (!fault && !o->interface && nm_addr_link_local(info))
        fault = "a link-local address";
    log_msg(o->log, LOG_LEVEL_TRACE, "libfabric: %s on %s: %s", info->fabric_attr->prov_name,
            info->domain_attr->name, fault ? fault : "possible");
    if (fault)
        return 0;
    int s = rank * 100 + 1;
    if (!o->interface && on_loopback == o->loopback)
        s += 10000; /* the right network comes first, then the provider */
    if (info->addr_format == FI_SOCKADDR_IN)
        s += 10;
    if (info->caps & FI_RMA)
        s += 1;
    return s;
}

/* Keep the best of a list. */
static void consider(struct nmofi *nm, const char *provider, bool rma, struct fi_info **best,
                     int *best_score)
{
    struct fi_info *hints = make_hints(provider, rma), *list = NULL, *found = NULL;
    if (!hints || fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &list))
        list = NULL;
    for (struct fi_info *info = list; info; info = info->next) {
        const int s = score(nm, info);
        if (s > *best_score) {
            *best_score = s;
            found = info;
        }
    }
    if (found) {
        struct fi_info *copy = fi_dupinfo(found);
        if (copy) {
            fi_freeinfo(*best);
            *best = copy;
        }
    }
    fi_freeinfo(list);
    fi_freeinfo(hints);
}

/* FI_PROVIDER holds for all that use libfabric in the process, also for a provider asked for by
 * name, and libfabric reads it once: it cannot be got around without changing the host's choice. */
static int none_found(const struct nmofi_opts *o)
{
    const char *filter = getenv("FI_PROVIDER");
    char hint[320] = "";
    if (filter)
        snprintf(hint, sizeof hint,
                 "; FI_PROVIDER=%.60s keeps libfabric from offering others, to the host and to "
                 "this library: "
                 "unset it, or let it allow what is needed here (tcp, for example); "
                 "MPIRMA_OFI_PROVIDER chooses for this "
                 "library alone, among what is offered",
                 filter);
    return log_fail(
        o->log, MRMA_ERR_OTHER,
        "libfabric: no provider%s%s%s%s%s%s offers ordered reliable datagrams with shared "
        "receive buffers%s",
        o->provider ? " named " : "", o->provider ? o->provider : "",
        o->provider ? " (MPIRMA_OFI_PROVIDER)" : "", o->interface ? " on " : "",
        o->interface ? o->interface : "", o->interface ? " (MPIRMA_OFI_INTERFACE)" : "", hint);
}

static int choose(struct nmofi *nm)
{
    const struct nmofi_opts *o = &nm->opts;
    int best = 0;
    for (int rma = o->rdma != NMOFI_RDMA_OFF; rma >= 0; rma--) {
        consider(nm, o->provider, rma, &nm->info, &best);
        if (!o->provider) /* 1.17 does not list it unasked */
            consider(nm, "net", rma, &nm->info, &best);
    }
    if (!nm->info)
        return none_found(o);
    nm->software = rank_of(nm->info) < RANK_HARDWARE;
    nm->over_tcp = nm->software && rank_of(nm->info) != RANK_UNKNOWN;
    const bool sockets = rank_of(nm->info) == RANK_TCP || rank_of(nm->info) == RANK_NET;
    nm->sequential = sockets && !is_over_rxm(nm->info);
    nm->early_release = sockets || is_over_rxm(nm->info);
    log_msg(o->log, LOG_LEVEL_DEBUG, "libfabric: %s on %s%s, rank %d, inject %zu",
            nm->info->fabric_attr->prov_name, nm->info->domain_attr->name,
            nm->info->caps & FI_RMA ? ", puts and gets of its own" : "", rank_of(nm->info),
            nm->info->tx_attr->inject_size);
    return MRMA_SUCCESS;
}

static int open_queue(struct nmofi *nm)
{
    struct fi_wait_attr wait = {.wait_obj = FI_WAIT_FD};
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_DATA, .size = 4096};
    nm->wait_fd = -1;
    if (strcmp(nm->info->fabric_attr->prov_name, "net") == 0 &&
        nm->fabric->ops->wait_open(nm->fabric, &wait, &nm->wait) == 0) {
        attr.wait_obj = FI_WAIT_SET;
        attr.wait_set = nm->wait;
        if (fi_cq_open(nm->domain, &attr, &nm->cq, NULL) == 0)
            return fi_control(&nm->wait->fid, FI_GETWAIT, &nm->wait_fd);
        fi_close(&nm->wait->fid);
        nm->wait = NULL;
    }
    attr.wait_obj = FI_WAIT_FD;
    attr.wait_set = NULL;
    if (fi_cq_open(nm->domain, &attr, &nm->cq, NULL) == 0)
        return fi_control(&nm->cq->fid, FI_GETWAIT, &nm->wait_fd);
    attr.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(nm->domain, &attr, &nm->cq, NULL);
}

static int open_endpoint(struct nmofi *nm, struct fid_ep **ep)
{
    const size_t multi = NM_MSG_MAX;
    int ret = fi_endpoint(nm->domain, nm->info, ep, NULL);
    if (!ret)
        ret = fi_ep_bind(*ep, &nm->av->fid, 0);
    if (!ret)
        ret = fi_ep_bind(*ep, &nm->cq->fid, FI_SEND | FI_RECV);
    if (!ret)
        ret = fi_setopt(&(*ep)->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &multi, sizeof multi);
    return ret ? ret : fi_enable(*ep);
}

/* Where the provider connects sockets, one more that nobody knows the address of: see link.c. */
static int open_endpoints(struct nmofi *nm)
{
    const int ret = open_endpoint(nm, &nm->ep);
    if (ret || !nm->software || nm->inject_max < sizeof(struct nm_hello))
        return ret;
    return open_endpoint(nm, &nm->ask_ep);
}

/* For the rest of the process: what its providers have begun does not end with their use. */
static int load(const struct nmofi *nm)
{
    if (dlopen(LIBFABRIC_SONAME, RTLD_NOW | RTLD_NODELETE))
        return MRMA_SUCCESS;
    return log_fail(nm->opts.log, MRMA_ERR_OTHER,
                    "the network needs libfabric, which cannot be loaded: %s", dlerror());
}

int nm_fabric_open(struct nmofi *nm)
{
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    int err = load(nm);
    if (!err)
        err = choose(nm);
    if (err)
        return err;
    nm->inject_max = nm->info->tx_attr->inject_size;
    int ret = fi_fabric(nm->info->fabric_attr, &nm->fabric, NULL);
    if (!ret)
        ret = fi_domain(nm->fabric, nm->info, &nm->domain, NULL);
    if (!ret)
        ret = fi_av_open(nm->domain, &av, &nm->av, NULL);
    if (!ret)
        ret = open_queue(nm);
    if (!ret)
        ret = open_endpoints(nm);
    if (ret)
        return log_fail(nm->opts.log, MRMA_ERR_OTHER, "libfabric: no endpoint of %s on %s: %s",
                        nm->info->fabric_attr->prov_name, nm->info->domain_attr->name,
                        fi_strerror(-ret));
    return MRMA_SUCCESS;
}

static void close_one(struct fid *fid)
{
    if (fid)
        fi_close(fid);
}

/* From now on the provider has forgotten all buffers. */
void nm_fabric_end(struct nmofi *nm)
{
    close_one(nm->ask_ep ? &nm->ask_ep->fid : NULL);
    close_one(nm->ep ? &nm->ep->fid : NULL);
    nm->ask_ep = nm->ep = NULL;
}

void nm_fabric_close(struct nmofi *nm)
{
    close_one(nm->cq ? &nm->cq->fid : NULL);
    close_one(nm->wait ? &nm->wait->fid : NULL);
    close_one(nm->av ? &nm->av->fid : NULL);
    close_one(nm->domain ? &nm->domain->fid : NULL);
    close_one(nm->fabric ? &nm->fabric->fid : NULL);
    fi_freeinfo(nm->info);
}
