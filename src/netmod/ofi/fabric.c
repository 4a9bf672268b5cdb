/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric.c - the objects of libfabric: from the fabric to the endpoints.
 *
 * Threads wait on the queue's own descriptor. With 1.17's "net" that descriptor stays readable
 * after the first completion (its fi_trywait does nothing), so there the queue is bound to a wait
 * set, whose wait with a timeout of 0 does both. The two calls of the wait set go through the
 * tables of functions, since their wrappers are deprecated in releases that have no "net" any more.
 * If there is no descriptor, or one that does not tell of arrivals, the layers above look again and
 * again (CH3_CAP_POLLED).
 *
 * Locks: none, since nobody else has the netmod yet, or any more. Neighbours: nmofi.c, which opens
 * and closes; select_provider.c, which says what to open.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "netmod/ofi/ofi.h"

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
    if (!nm->silent && fi_cq_open(nm->domain, &attr, &nm->cq, NULL) == 0) {
        if (fi_control(&nm->cq->fid, FI_GETWAIT, &nm->wait_fd) == 0)
            return 0;
        fi_close(&nm->cq->fid);
        nm->cq = NULL;
        nm->wait_fd = -1;
    }
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

/* open_endpoints opens the endpoint and, where the provider connects sockets, one more whose
 * address nobody knows: see link.c. */
static int open_endpoints(struct nmofi *nm)
{
    const int ret = open_endpoint(nm, &nm->ep);
    if (ret || !nm->software || nm->inject_max < sizeof(struct nm_hello))
        return ret;
    return open_endpoint(nm, &nm->ask_ep);
}

/* load keeps libfabric loaded for the rest of the process, since threads and other things that its
 * providers have begun do not end with their use. */
static int load(const struct nmofi *nm)
{
    if (dlopen(LIBFABRIC_SONAME, RTLD_NOW | RTLD_NODELETE))
        return MRMA_SUCCESS;
    return log_fail(nm->opts.log, MRMA_ERR_OTHER,
                    "the network needs libfabric, which cannot be loaded: %s", dlerror());
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

static void close_objects(struct nmofi *nm)
{
    close_one(nm->cq ? &nm->cq->fid : NULL);
    close_one(nm->wait ? &nm->wait->fid : NULL);
    close_one(nm->av ? &nm->av->fid : NULL);
    close_one(nm->domain ? &nm->domain->fid : NULL);
    close_one(nm->fabric ? &nm->fabric->fid : NULL);
    nm->cq = NULL;
    nm->wait = NULL;
    nm->av = NULL;
    nm->domain = NULL;
    nm->fabric = NULL;
}

void nm_fabric_close(struct nmofi *nm)
{
    close_objects(nm);
    fi_freeinfo(nm->info);
    /* providers have kept numbers that they have read from it, and no text */
    environment_free(&nm->environment);
}

/* step logs what a call of libfabric has returned, and returns that. */
static int step(const struct nmofi *nm, const char *call, int ret)
{
    log_msg(nm->opts.log, LOG_LEVEL_TRACE, "libfabric: %s: %s", call,
            ret ? fi_strerror(-ret) : "good");
    return ret;
}

static int open_objects(struct nmofi *nm)
{
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    int ret = step(nm, "fi_fabric", fi_fabric(nm->info->fabric_attr, &nm->fabric, NULL));
    if (!ret)
        ret = step(nm, "fi_domain", fi_domain(nm->fabric, nm->info, &nm->domain, NULL));
    if (!ret)
        ret = step(nm, "fi_av_open", fi_av_open(nm->domain, &av, &nm->av, NULL));
    if (!ret)
        ret = step(nm, "fi_cq_open", open_queue(nm));
    if (!ret)
        log_msg(nm->opts.log, LOG_LEVEL_DEBUG, "libfabric: %s",
                nm->wait_fd >= 0 ? "a descriptor tells of what arrives"
                                 : "no descriptor tells of what arrives: it is looked for "
                                   "again and again");
    return ret;
}

/* open_waitable opens the provider; if that has no descriptor, it may have one with automatic
 * progress. */
static int open_waitable(struct nmofi *nm)
{
    const int ret = open_objects(nm);
    if (ret || nm->wait_fd >= 0 || !nm_choose_automatic(nm))
        return ret;
    close_objects(nm);
    return open_objects(nm);
}

/* is_too_long returns whether the endpoint's address is longer than what others can be told, and
 * writes that to why (len bytes). */
static bool is_too_long(const struct nmofi *nm, char *why, size_t len)
{
    const size_t bytes = nm_addr_bytes(nm);
    snprintf(why, len, "an address of it has %zu bytes, and others can be told %d", bytes,
             NMOFI_NAME_BYTES);
    return bytes > NMOFI_NAME_BYTES;
}

static int open_chosen(struct nmofi *nm)
{
    const int err = nm_choose(nm);
    if (err)
        return err;
    nm->inject_max = nm->info->tx_attr->inject_size;
    int ret = open_waitable(nm);
    if (!ret)
        ret = step(nm, "fi_endpoint, fi_enable", open_endpoints(nm));
    if (ret)
        return log_fail(nm->opts.log, MRMA_ERR_OTHER, "libfabric: no endpoint of %s on %s: %s",
                        nm->info->fabric_attr->prov_name, nm->info->domain_attr->name,
                        fi_strerror(-ret));
    return MRMA_SUCCESS;
}

/* open_all tries another provider where the addresses of this one are too long, unless the user has
 * named it. */
static int open_all(struct nmofi *nm)
{
    char why[96];
    int err;
    while (!(err = open_chosen(nm)) && is_too_long(nm, why, sizeof why)) {
        nm_fabric_end(nm);
        close_objects(nm);
        if (!nm_refuse(nm, why))
            return log_fail(nm->opts.log, MRMA_ERR_OTHER, "libfabric: %s cannot be used: %s",
                            nm->info->fabric_attr->prov_name, why);
    }
    return err;
}

/* The variables of nm_choose stay until the endpoints are there: ofi_rxm asks for its receive
 * buffers again when an endpoint is made. */
int nm_fabric_open(struct nmofi *nm)
{
    int err = load(nm);
    if (!err)
        err = open_all(nm);
    environment_restore(&nm->environment);
    return err;
}
