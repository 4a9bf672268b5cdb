/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nmofi.c - the netmod as a whole: open, peers, close, and its table of functions.
 *
 * What is opened in nmofi_open is released in the reverse order: endpoints before buffers, since
 * the provider has these until its endpoint is closed. The end waits until what was committed has
 * left.
 *
 * Locks: as nmofi.h says. Neighbours: all other files of this folder, through ofi.h; ch3/channel.h,
 * the contract that the table fulfils.
 */
#include "netmod/ofi/nmofi.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "netmod/ofi/alive_socket.h"
#include "netmod/ofi/ofi.h"
#include "netmod/ofi/ofi_rma.h"
#include "netmod/ofi/sender.h"

#define LINGER_NS UINT64_C(1000000000)
#define LINGER_BYE_NS UINT64_C(20000000)

static const struct ch3_channel_ops nm_ops = {.name = "ofi",
                                              .reserve = nm_reserve,
                                              .commit = nm_commit,
                                              .poll = nm_poll,
                                              .pending = nm_pending,
                                              .disconnect = nm_link_disconnect,
                                              .wait_fd = nm_wait_fd,
                                              .wait_begin = nm_wait_begin,
                                              .probe = nm_probe,
                                              .abandon = nm_abandon,
                                              .mem_register = nm_mem_register,
                                              .mem_release = nm_mem_release,
                                              .rdma = nm_rdma};

struct ch3_channel *nmofi_channel(struct nmofi *nm)
{
    return &nm->channel;
}
const struct nmofi_stats *nmofi_get_stats(const struct nmofi *nm)
{
    return &nm->stats;
}
const char *nmofi_describe(const struct nmofi *nm)
{
    return nm->text;
}
void nmofi_get_name(const struct nmofi *nm, struct nmofi_name *name)
{
    *name = nm->name;
}

static const char *some(const char *text)
{
    return text && text[0] ? text : NULL;
}

static void init(struct nmofi *nm, const struct nmofi_opts *opts)
{
    nm->opts = *opts;
    nm->opts.provider = some(opts->provider);
    nm->opts.interface = some(opts->interface);
    nm->wait_fd = nm->life = nm->listener = nm->spare = -1;
    struct list *const lists[] = {&nm->secrets,  &nm->links,    &nm->stalled,    &nm->owing,
                                  &nm->broken,   &nm->unknown,  &nm->tx_free[0], &nm->tx_free[1],
                                  &nm->tx_slabs, &nm->rma_free, &nm->rx,         &nm->rx_waiting};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        list_init(lists[i]);
    map_init(&nm->from);
}

/* describe writes the text of nmofi_describe. The provider and interface of the options, which are
 * the caller's memory, are not read any more after it. */
static void describe(struct nmofi *nm)
{
    char at[NMOFI_TEXT] = "";
    nm_addr_text(nm, &nm->name, at, sizeof at);
    snprintf(nm->text, sizeof nm->text, "%s, %s, %.80s", nm->info->fabric_attr->prov_name,
             nm->info->domain_attr->name, at);
    nm->opts.provider = nm->opts.interface = NULL;
}

static void release(struct nmofi *nm)
{
    nm_life_end(nm);
    nm_fabric_end(nm);
    nm_buf_end(nm);
    nm_rma_end(nm);
    nm_fabric_close(nm);
    map_fini(&nm->from);
    free(nm);
}

static void announce_rdma(struct nmofi *nm)
{
    const struct fi_info *info = nm->info;
    const bool ordered = info->tx_attr->msg_order & info->rx_attr->msg_order & FI_ORDER_SAW;
    if (!(info->caps & FI_RMA) || nm->opts.rdma == NMOFI_RDMA_OFF)
        return;
    if (nm->transmits && !ordered) {
        log_msg(nm->opts.log, LOG_LEVEL_INFO,
                "network: packets go, since nothing tells when a put's data is in place");
        return;
    }
    nm->channel.caps |= CH3_CAP_RDMA | (ordered ? CH3_CAP_RDMA_ORDERED : 0) |
                        (nm->transmits ? CH3_CAP_RDMA_READ_BEHIND : 0) |
                        (nm->words ? CH3_CAP_RDMA_WORD : 0);
    nm->channel.rdma = (struct ch3_rdma_limits){.by = nm->software ? CH3_RDMA_STREAM
                                                      : nm->card   ? CH3_RDMA_CARD
                                                                   : CH3_RDMA_PROVIDER,
                                                .max = info->ep_attr->max_msg_size,
                                                .inject = nm_rma_inject(nm),
                                                .depth = info->tx_attr->size};
    nm_atomics_query(nm, &nm->channel.atomics);
}

int nmofi_open(const struct nmofi_opts *opts, struct nmofi **out)
{
    struct nmofi *nm = calloc(1, sizeof *nm);
    if (!nm)
        return log_fail(opts->log, MRMA_ERR_NO_MEM, "no memory for the network");
    init(nm, opts);
    int err = nm_fabric_open(nm);
    if (!err)
        err = nm_addr_name(nm);
    if (!err)
        err = nm_life_open(nm);
    if (!err)
        err = nm_buf_start(nm);
    if (err) {
        release(nm);
        return err;
    }
    describe(nm);
    nm->channel = (struct ch3_channel){.ops = &nm_ops, .caps = CH3_CAP_PROBE | CH3_CAP_ABANDON};
    if (nm->wait_fd >= 0) /* credits arrive as messages, and so wake whoever sleeps */
        nm->channel.caps |= CH3_CAP_WAIT | CH3_CAP_ROOM;
    else
        nm->channel.caps |= CH3_CAP_POLLED;
    announce_rdma(nm);
    *out = nm;
    return MRMA_SUCCESS;
}

int nmofi_add_secret(struct nmofi *nm, const unsigned char secret[NMOFI_SECRET_BYTES])
{
    LIST_EACH (it, &nm->secrets)
        if (memcmp(LIST_ENTRY(it, struct nm_secret, node)->key, secret, NMOFI_SECRET_BYTES) == 0)
            return MRMA_SUCCESS;
    struct nm_secret *s = calloc(1, sizeof *s);
    if (!s)
        return log_fail(nm->opts.log, MRMA_ERR_NO_MEM, "no memory for a secret");
    memcpy(s->key, secret, NMOFI_SECRET_BYTES);
    list_push_front(&nm->secrets, &s->node);
    return MRMA_SUCCESS;
}

int nmofi_peer_init(struct nmofi *nm, struct nmofi_peer *peer, uint64_t uid,
                    const struct nmofi_name *name, const unsigned char secret[NMOFI_SECRET_BYTES])
{
    if (name->format != nm->name.format || name->protocol != nm->name.protocol)
        return log_fail(nm->opts.log, MRMA_ERR_OTHER,
                        "process %016llx is on another kind of network than this one (%s); "
                        "MPIRMA_OFI_PROVIDER and MPIRMA_OFI_INTERFACE choose one for all",
                        (unsigned long long)uid, nm->text);
    *peer = (struct nmofi_peer){.nm = nm,
                                .uid = uid,
                                .token = nm_token(secret, nm->opts.uid, uid),
                                .addr = FI_ADDR_UNSPEC,
                                .name = *name};
    return MRMA_SUCCESS;
}

bool nmofi_peer_is_used(const struct nmofi_peer *peer)
{
    return peer->link != NULL;
}

bool nmofi_peer_is_gone(const struct nmofi_peer *peer)
{
    const struct nmofi_link *link = peer->link;
    return link && (link->lost || nm_has_closed(link));
}

/* says_bye returns whether only the BYE has not left yet. It is the last message, and messages
 * leave in order. */
static bool says_bye(const struct nmofi_link *link)
{
    const struct list_node *first = list_first(&link->waiting);
    const unsigned waiting = !first ? 0 : first->next == &link->waiting.head ? 1 : 2;
    return link->closing && link->under_way + waiting == 1;
}

/* is_at_provider returns whether the provider has something of this link that it will give back.
 * Providers over sockets keep messages to a peer that has gone for ever; other providers report how
 * each operation has ended. */
static bool is_at_provider(const struct nmofi *nm, const struct nmofi_link *link)
{
    return (link->under_way || !list_empty(&link->rdma_ops)) && !(nm->over_tcp && link->lost);
}

static bool all_has_left(const struct nmofi *nm, bool but_byes)
{
    LIST_EACH (it, &nm->links) {
        const struct nmofi_link *link = LIST_ENTRY(it, struct nmofi_link, node);
        if ((is_at_provider(nm, link) || (!link->lost && !list_empty(&link->waiting))) &&
            !(but_byes && says_bye(link)))
            return false;
    }
    return true;
}

static bool poll_until_left(struct nmofi *nm, bool but_byes, uint64_t limit_ns)
{
    const uint64_t end = clock_monotonic_ns() + limit_ns;
    while (!all_has_left(nm, but_byes) && clock_monotonic_ns() < end) {
        (void)nm_poll(&nm->channel);
        sched_yield();
    }
    return all_has_left(nm, but_byes);
}

/* linger polls until everything that was committed has left. Messages that still arrive have no
 * receiver any more. A BYE is a courtesy to a peer that goes on: where all processes end at once,
 * the peer's endpoint may be gone, and over sockets the BYE then never leaves. Other providers
 * report such a failure, and must not be closed before all completions have come: ofi_rxm over
 * verbs would use memory that its fi_close has freed. */
static void linger(struct nmofi *nm)
{
    if (!poll_until_left(nm, true, LINGER_NS))
        log_msg(nm->opts.log, LOG_LEVEL_WARN, "network: closed while messages waited to leave");
    else
        (void)poll_until_left(nm, false, nm->over_tcp ? LINGER_BYE_NS : LINGER_NS);
}

void nmofi_close(struct nmofi *nm)
{
    struct list_node *node;
    size_t cursor = 0;
    void *from;
    nm->ending = true;
    linger(nm);
    nm_fabric_end(nm);
    nm_gap_end(nm);
    while ((node = list_first(&nm->links)) != NULL) {
        struct nmofi_link *link = LIST_ENTRY(node, struct nmofi_link, node);
        nm_rma_forget(link);
        nm_link_free(link);
    }
    while (map_next(&nm->from, &cursor, NULL, &from)) {
        nm_from_free(nm, from);
        cursor = 0;
    }
    while ((node = list_pop_front(&nm->secrets)) != NULL)
        free(LIST_ENTRY(node, struct nm_secret, node));
    release(nm);
}
