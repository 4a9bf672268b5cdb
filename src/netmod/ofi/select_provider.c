/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * select_provider.c - chooses the provider, and its card or interface.
 *
 * The hints ask for what is needed, and the answer is checked for it: a reliable datagram endpoint
 * with messages, receive buffers for many messages, sends that are matched in order, and messages
 * of NM_MSG_MAX. Among the providers that have all this, the rank in a table decides: a network's
 * own hardware before TCP, and TCP's own datagrams before the emulation over its streams. A
 * provider that emulates, needs a thread that polls, or is a test tool is taken only by name. A
 * provider that does not order sends will do, too (msg.c). Atomic operations are asked for where a
 * card may do them (add_atomics); 1.17's "net" says that it has them, but does not.
 *
 * Progress is manual: this process has a thread where one is needed (the agent), and a provider's
 * own would only fight with it. Automatic progress is used only if a provider that is asked for by
 * name has a descriptor to wait on only with it. The domain is used by one thread at a time (the
 * engine's lock), so FI_THREAD_DOMAIN will do.
 *
 * Locks: none, since nobody else has the netmod yet. Neighbours: fabric.c, which opens what was
 * chosen; addr.c, which knows addresses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "netmod/ofi/ofi.h"
#include "sys/topo_near.h"

/* The version of libfabric's interface whose rules this file follows. Sites have libfabric 1.15;
 * later interfaces add nothing that is used here. */
#define NM_API FI_VERSION(1, 15)

enum rank {
    RANK_NONE = 0,
    RANK_UNKNOWN = 1,
    RANK_TCP_RXM = 10,
    RANK_NET = 20,
    RANK_TCP = 21,
    RANK_HARDWARE = 30
};

/* A provider known by name: the name of the core provider, before any ";". */
struct known {
    const char *core;
    enum rank rank;
    bool unordered; /* it does not say that sends are matched in order */
    bool silent;    /* its descriptor does not tell of what arrives while nobody polls */
    bool card;      /* its card puts and gets without a processor of the target */
    bool words;     /* a write may carry 32 bits, which the target is told behind the data
                       (FI_REMOTE_CQ_DATA), in all releases that are used here */
    bool unshared;  /* words work under ofi_rxm only if each peer has its own receive buffers: with
                       one queue for all peers verbs takes such a write for a message, whose bytes
                       are those that the buffer held before (up to libfabric 2.6) */
    bool early;     /* it may say too early that a receive buffer is used up: buf.c */
    bool transmits; /* the end of a put says only that the data has been transmitted, whatever is
                       asked for: verbs ends an RDMA write when the target's card has the data */
};

static const struct known known[] = {
    {.core = "tcp", .rank = RANK_TCP, .words = true, .early = true},
    {.core = "net", .rank = RANK_NET, .words = true, .early = true},
    {.core = "verbs",
     .rank = RANK_HARDWARE,
     .card = true,
     .words = true,
     .unshared = true,
     .early = true, /* its datagrams are ofi_rxm's */
     .transmits = true},
    {.core = "cxi", .rank = RANK_HARDWARE, .card = true},
    {.core = "efa", .rank = RANK_HARDWARE, .words = true},
    {.core = "psm2", .rank = RANK_HARDWARE, .silent = true},
    {.core = "psm3", .rank = RANK_HARDWARE, .silent = true},
    {.core = "opx", .rank = RANK_HARDWARE, .unordered = true, .silent = true},
    {.core = "gni", .rank = RANK_HARDWARE},
    {.core = "ucx", .rank = RANK_HARDWARE},
    {.core = "mlx", .rank = RANK_HARDWARE},
};

/* find_known returns the row of a provider in that table; NULL: it has none. */
static const struct known *find_known(const char *name)
{
    const char *layer = strchr(name, ';');
    const size_t len = layer ? (size_t)(layer - name) : strlen(name);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].core) == len && strncmp(known[i].core, name, len) == 0)
            return &known[i];
    return NULL;
}

static enum rank rank_of(const struct fi_info *info)
{
    const char *name = info->fabric_attr->prov_name;
    const struct known *k = find_known(name);
    if (!k)
        return RANK_UNKNOWN;
    return k->rank == RANK_TCP && strchr(name, ';') ? RANK_TCP_RXM : k->rank;
}

/* bit_of returns the provider's bit in nm->refused; 0: it is not in that table. */
static uint32_t bit_of(const struct fi_info *info)
{
    const struct known *k = find_known(info->fabric_attr->prov_name);
    return k ? UINT32_C(1) << (k - known) : 0;
}

static bool is_unordered(const struct fi_info *info)
{
    return !(info->tx_attr->msg_order & info->rx_attr->msg_order & FI_ORDER_SAS);
}

static bool is_over_rxm(const struct fi_info *info)
{
    return strstr(info->fabric_attr->prov_name, "ofi_rxm") != NULL;
}

/* What one call of fi_getinfo asks for. */
struct want {
    const char *provider, *domain; /* NULL: any */
    bool rma;                      /* puts and gets that the provider does by itself */
    bool any_order;                /* sends need not be matched in order */
    bool no_local;                 /* the provider registers this process's buffers by itself */
    bool automatic;                /* the provider makes progress by itself */
    bool atomics;                  /* atomic operations on remote memory */
};

static bool copy_text(char **to, const char *text)
{
    return !text || (*to = strdup(text)) != NULL;
}

static struct fi_info *make_hints(const struct want *want)
{
    struct fi_info *hints = fi_allocinfo();
    if (!hints)
        return NULL;
    hints->caps = FI_MSG | FI_MULTI_RECV;
    if (want->rma)
        hints->caps |= FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    if (want->atomics)
        hints->caps |= FI_ATOMIC;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = want->any_order ? 0 : FI_ORDER_SAS;
    hints->domain_attr->mr_mode = (want->no_local ? 0 : FI_MR_LOCAL) | FI_MR_VIRT_ADDR |
                                  FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->control_progress = hints->domain_attr->data_progress =
        want->automatic ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
    if (!copy_text(&hints->fabric_attr->prov_name, want->provider) ||
        !copy_text(&hints->domain_attr->name, want->domain)) {
        fi_freeinfo(hints);
        return NULL;
    }
    return hints;
}

/* ask returns the list that libfabric answers with; NULL: there is nothing, or no memory. */
static struct fi_info *ask(const struct nmofi *nm, const struct want *want)
{
    struct fi_info *hints = make_hints(want), *list = NULL;
    if (!hints)
        return NULL;
    const int ret = fi_getinfo(NM_API, NULL, NULL, 0, hints, &list);
    fi_freeinfo(hints);
    log_msg(nm->opts.log, LOG_LEVEL_TRACE, "libfabric: fi_getinfo(%s%s%s%s%s%s): %s",
            want->provider ? want->provider : "any provider", want->rma ? ", remote memory" : "",
            want->any_order ? ", any order" : "", want->no_local ? ", registers by itself" : "",
            want->automatic ? ", automatic progress" : "", want->atomics ? ", atomics" : "",
            ret ? fi_strerror(-ret) : "found");
    return ret ? NULL : list;
}

/* unfit returns what info lacks of what the hints asked for, or NULL. */
static const char *unfit(const struct fi_info *info)
{
    if (info->ep_attr->type != FI_EP_RDM)
        return "no reliable datagrams";
    if ((info->caps & (FI_MSG | FI_MULTI_RECV)) != (FI_MSG | FI_MULTI_RECV))
        return "no messages into shared buffers";
    if (info->ep_attr->max_msg_size < NM_MSG_MAX)
        return "messages too short";
    if (info->mode & ~(FI_CONTEXT | FI_CONTEXT2))
        return "modes";
    return NULL;
}

/* fault_of returns what speaks against the provider, or NULL. */
static const char *fault_of(const struct nmofi *nm, const struct fi_info *info)
{
    const struct nmofi_opts *o = &nm->opts;
    const char *fault = unfit(info);
    if (fault)
        return fault;
    if (rank_of(info) == RANK_UNKNOWN && !o->provider)
        return "only by name (MPIRMA_OFI_PROVIDER)";
    if (nm->refused & bit_of(info))
        return "it was tried, and cannot be used";
    if (o->interface && !nm_addr_on(info, o->interface))
        return "another interface";
    if (!o->interface && nm_addr_link_local(info))
        return "a link-local address";
    return NULL;
}

/* score returns how well the provider serves; 0: not at all. */
static int score(const struct nmofi *nm, const struct fi_info *info)
{
    const struct nmofi_opts *o = &nm->opts;
    const enum rank rank = rank_of(info);
    const char *fault = fault_of(nm, info);
    const bool on_loopback = nm_addr_loopback(info);
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

/* is_like returns whether info is another card of the same fabric that serves as well. */
static bool is_like(const struct nmofi *nm, const struct fi_info *info, const struct fi_info *best)
{
    return strcmp(info->fabric_attr->name, best->fabric_attr->name) == 0 &&
           strcmp(info->domain_attr->name, best->domain_attr->name) != 0 &&
           score(nm, info) == score(nm, best);
}

/* is_repeated returns whether this card stands earlier in the list, too. */
static bool is_repeated(const struct fi_info *list, const struct fi_info *info)
{
    for (; list != info; list = list->next)
        if (strcmp(list->domain_attr->name, info->domain_attr->name) == 0)
            return true;
    return false;
}

static struct topo_pci place_of(const struct fi_info *info)
{
    const struct fi_bus_attr *bus = info->nic ? info->nic->bus_attr : NULL;
    if (!bus || bus->bus_type != FI_BUS_PCI)
        return (struct topo_pci){.known = false};
    return (struct topo_pci){true, bus->attr.pci.domain_id, bus->attr.pci.bus_id,
                             bus->attr.pci.device_id, bus->attr.pci.function_id};
}

static void note_cards(const struct nmofi *nm, struct fi_info *const *cards,
                       const struct topo_pci *places, unsigned n, const struct topo_share *share)
{
    for (unsigned i = 0; i < n; i++) {
        char place[48] = "its place is not known";
        if (places[i].known)
            snprintf(place, sizeof place, "PCI %04x:%02x:%02x.%x", places[i].domain, places[i].bus,
                     places[i].device, places[i].function);
        log_msg(nm->opts.log, LOG_LEVEL_TRACE, "libfabric: card %s: %s, %s%s",
                cards[i]->domain_attr->name, place,
                share->nearest >> i & 1 ? "none is nearer to this process"
                                        : "farther from this process than others",
                i == share->device ? ", taken" : "");
    }
}

/* take_near takes one of several cards for this process: one of the nearest, which the processes of
 * a node share evenly. best is the first of the cards. */
static struct fi_info *take_near(const struct nmofi *nm, struct fi_info *list, struct fi_info *best)
{
    struct fi_info *cards[TOPO_NEAR_MAX] = {best};
    struct topo_pci places[TOPO_NEAR_MAX] = {place_of(best)};
    unsigned n = 1;
    if (rank_of(best) != RANK_HARDWARE || nm->opts.interface)
        return best;
    for (struct fi_info *info = best->next; info && n < TOPO_NEAR_MAX; info = info->next)
        if (is_like(nm, info, best) && !is_repeated(list, info)) {
            places[n] = place_of(info);
            cards[n++] = info;
        }
    if (n == 1)
        return best;
    const struct topo_share share =
        topo_share_devices(places, n, nm->opts.node_cpus, nm->opts.node_index + 1, nm->opts.log);
    note_cards(nm, cards, places, n, &share);
    return cards[share.device];
}

static const char *provider_of(const struct fi_info *info)
{
    return info->fabric_attr->prov_name;
}

static const char *rank_text(const struct fi_info *info)
{
    switch (rank_of(info)) {
    case RANK_HARDWARE:
        return "first: hardware";
    case RANK_TCP:
    case RANK_NET:
        return "second: TCP with datagrams of its own";
    case RANK_TCP_RXM:
        return "third: an emulation over TCP";
    default:
        return "last: not known";
    }
}

/* consider keeps the best entry of a list. */
static void consider(struct nmofi *nm, const struct want *want, int *best_score)
{
    struct fi_info *list = ask(nm, want), *found = NULL;
    for (struct fi_info *info = list; info; info = info->next) {
        const int s = score(nm, info);
        const char *fault = fault_of(nm, info);
        log_msg(nm->opts.log, LOG_LEVEL_TRACE, "libfabric: %s on %s: %s%s", provider_of(info),
                info->domain_attr->name, fault ? fault : "fits, and is ranked ",
                fault ? "" : rank_text(info));
        if (s > *best_score) {
            *best_score = s;
            found = info;
        }
    }
    struct fi_info *copy = found ? fi_dupinfo(take_near(nm, list, found)) : NULL;
    if (copy) {
        fi_freeinfo(nm->info);
        nm->info = copy;
    }
    fi_freeinfo(list);
}

/* ask_again returns what the chosen provider offers for other wants; NULL: it offers nothing for
 * them. */
static struct fi_info *ask_again(const struct nmofi *nm, bool no_local, bool automatic,
                                 bool atomics)
{
    const struct want want = {.provider = nm->info->fabric_attr->prov_name,
                              .domain = nm->info->domain_attr->name,
                              .rma = nm->info->caps & FI_RMA,
                              .any_order = is_unordered(nm->info),
                              .no_local = no_local,
                              .automatic = automatic,
                              .atomics = atomics};
    struct fi_info *list = ask(nm, &want), *found = NULL;
    for (struct fi_info *info = list; info && !found; info = info->next)
        if (info->addr_format == nm->info->addr_format && score(nm, info) > 0)
            found = fi_dupinfo(info);
    fi_freeinfo(list);
    return found;
}

/* leaves_local returns whether the chosen provider leaves the registration of buffers to this
 * library. */
static bool leaves_local(const struct nmofi *nm)
{
    return nm->info->domain_attr->mr_mode & FI_MR_LOCAL;
}

/* leave_registration takes the variant of the provider in which that registers buffers by itself,
 * unless a card is used. Most providers that copy small data offer this, but only to users that are
 * not ready for FI_MR_LOCAL. Over a card it would register memory for each small put and get, while
 * the buffers of this library are registered already. */
static void leave_registration(struct nmofi *nm)
{
    const struct known *k = find_known(nm->info->fabric_attr->prov_name);
    if (!leaves_local(nm) || (k && k->card))
        return;
    struct fi_info *info = ask_again(nm, true, false, false);
    if (!info)
        return;
    fi_freeinfo(nm->info);
    nm->info = info;
}

/* add_atomics asks for atomic operations, unless these are known to be done by processors: over
 * TCP, with ofi_rxm whatever is below it, and with providers whose cards need the target's
 * processor. */
static void add_atomics(struct nmofi *nm)
{
    const bool unknown = nm->software && !nm->over_tcp;
    struct fi_info *info = NULL;
    if (nm->info->caps & FI_RMA && (nm->card || unknown) && !is_over_rxm(nm->info))
        info = ask_again(nm, !leaves_local(nm), false, true);
    if (!info)
        return;
    fi_freeinfo(nm->info);
    nm->info = info;
}

bool nm_choose_automatic(struct nmofi *nm)
{
    const struct known *k = find_known(nm->info->fabric_attr->prov_name);
    const bool atomics = nm->info->caps & FI_ATOMIC;
    struct fi_info *info = k ? NULL : ask_again(nm, !leaves_local(nm), true, atomics);
    if (!info)
        return false;
    fi_freeinfo(nm->info);
    nm->info = info;
    return true;
}

/* none_found reports that no provider fits. FI_PROVIDER holds for all users of libfabric in the
 * process, also where a provider is asked for by name, and libfabric reads it once: this library
 * cannot get around it without changing the host's choice. */
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

bool nm_refuse(struct nmofi *nm, const char *why)
{
    const uint32_t bit = bit_of(nm->info);
    if (nm->opts.provider || !bit)
        return false;
    log_msg(nm->opts.log, LOG_LEVEL_INFO, "libfabric: another provider than %s is looked for: %s",
            provider_of(nm->info), why);
    nm->refused |= bit;
    fi_freeinfo(nm->info);
    nm->info = NULL;
    return true;
}

static void look_for_provider(struct nmofi *nm)
{
    const struct nmofi_opts *o = &nm->opts;
    int best = 0;
    for (int rma = o->rdma != NMOFI_RDMA_OFF; rma >= 0; rma--) {
        struct want want = {.provider = o->provider, .rma = rma};
        consider(nm, &want, &best);
        if (!o->provider) {
            want.provider = "net"; /* 1.17 does not list it unasked */
            consider(nm, &want, &best);
        }
        want.any_order = true;
        for (size_t i = 0; i < sizeof known / sizeof known[0] && !o->provider; i++) {
            want.provider = known[i].core;
            if (known[i].unordered)
                consider(nm, &want, &best);
        }
        if (o->provider && !nm->info)
            consider(nm, &want, &best);
    }
}

static void note_properties(struct nmofi *nm)
{
    const enum rank rank = rank_of(nm->info);
    const struct known *k = find_known(nm->info->fabric_attr->prov_name);
    const bool sockets = rank == RANK_TCP || rank == RANK_NET;
    nm->software = rank < RANK_HARDWARE;
    nm->over_tcp = nm->software && rank != RANK_UNKNOWN;
    nm->sequential = sockets && !is_over_rxm(nm->info);
    nm->early_release = (k && k->early) || is_over_rxm(nm->info);
    nm->unordered = is_unordered(nm->info);
    nm->silent = k && k->silent;
    nm->card = k && k->card;
    nm->transmits = k && k->transmits;
    nm->words = k && k->words && nm->info->domain_attr->cq_data_size >= sizeof(uint32_t) &&
                !(k->unshared && is_over_rxm(nm->info) && nm_shares_buffers());
}

int nm_choose(struct nmofi *nm)
{
    const struct nmofi_opts *o = &nm->opts;
    nm_add_variables(nm);
    look_for_provider(nm);
    if (nm->info)
        leave_registration(nm);
    if (!nm->info)
        return none_found(o);
    note_properties(nm);
    add_atomics(nm);
    log_msg(o->log, LOG_LEVEL_DEBUG, "libfabric: %s on %s%s%s, rank %d, inject %zu",
            nm->info->fabric_attr->prov_name, nm->info->domain_attr->name,
            nm->info->caps & FI_RMA ? ", puts and gets of its own" : "",
            nm->early_release ? ", receive buffers are held until all in them is complete" : "",
            rank_of(nm->info), nm->info->tx_attr->inject_size);
    return MRMA_SUCCESS;
}
