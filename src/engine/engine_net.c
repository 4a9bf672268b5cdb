/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_net.c - the network channel of an engine: opened at the first window that
 * needs it, by all processes of that window together.
 *
 * Whether a window needs it follows from the records that all have (rma/create/win_create.c), so
 * all come here or none does. Where some process's address is not known, the processes that have no
 * endpoint open one. One exchange tells the addresses and who has failed, and completes the
 * records, which later windows use again. A process that fails says so in the exchange, so that
 * nobody waits for it. Only a lack of memory to receive into could not be told so; that memory the
 * caller has had since before the records.
 *
 * Trust: each process makes a random secret and tells it in its record. What is sent to a process
 * begins with a hash that takes that process's secret to make, so a process hears only those that
 * took part in an exchange with it. As the secret belongs to the receiver, processes that met in
 * different windows need not agree on a secret.
 *
 * The interface is that of MPIRMA_OFI_INTERFACE; else loopback if all processes of the window are
 * on one node; else the provider's first interface that is not loopback. An endpoint on loopback is
 * of no use to a later window over several machines, which is refused with the remedy.
 *
 * Locks: net_lock is held while the network is opened, outside the engine's lock.
 *
 * Neighbours: netmod/ofi, the network; engine_peer.c, the processes that are reached through it.
 */
#include <string.h>

#include "base/err.h"
#include "engine/engine_impl.h"

/* What is exchanged where records are to be completed, and where only keys are. */
struct offer {
    int64_t err;
    uint32_t net, rdma; /* as in struct proc_record */
    struct rma_net_key key;
    struct nmofi_name name;
};
static_assert(sizeof(struct offer) >= sizeof(struct topo_cpuset), "room for those of a node");
static_assert(sizeof(struct rma_net_key) <= 32, "what a window takes of the exchange");

static bool on_one_node(const struct engine *e, const struct rma_procs *procs)
{
    for (int i = 0; i < procs->n; i++)
        if (!engine_same_node(e, proc_record_of(rma_proc_at(procs, i)).node))
            return false;
    return true;
}

/* index_on_node returns the index of this process among the processes of its node that are in the
 * records. It takes the real node, whatever MPIRMA_RANKS_PER_NODE pretends, since the processes of
 * a real node share its cards. cpus[] gets the processors on which these processes run, from the
 * first process to this one. */
static unsigned index_on_node(const struct engine *e, const struct rma_procs *procs,
                              struct topo_cpuset *cpus)
{
    unsigned before = 0;
    for (int i = 0; i < procs->n; i++) {
        const struct proc_record rec = proc_record_of(rma_proc_at(procs, i));
        if (!engine_same_node(e, rec.node))
            continue;
        cpus[before] = rec.cpus;
        if (rec.uid == e->uid)
            break;
        before++;
    }
    return before;
}

static int open_bells(struct engine *e)
{
    int err = doorbell_open(&e->log, &e->bell);
    if (!err)
        err = doorbell_open(&e->log, &e->agent_bell);
    if (err)
        return err;
    e->own->polling.threads.bell = e->bell.id;
    e->own->polling.agent.bell = e->agent_bell.id;
    return MRMA_SUCCESS;
}

static enum nmofi_rdma rdma_of(enum conf_rdma rdma)
{
    return rdma == CONF_RDMA_ON    ? NMOFI_RDMA_ON
           : rdma == CONF_RDMA_OFF ? NMOFI_RDMA_OFF
                                   : NMOFI_RDMA_AUTO;
}

/* From now on the channel is polled, and the agent watches its descriptor. */
static void announce(struct engine *e, struct nmofi *net, bool loopback)
{
    struct proc_record rec;
    rma_enter(&e->rma);
    e->net = net;
    rec = proc_record_of(&e->record);
    rec.net = loopback ? NET_LOOPBACK : NET_OPEN;
    rec.rdma = (nmofi_channel(net)->caps & CH3_CAP_RDMA) != 0;
    nmofi_get_name(net, &rec.name);
    memcpy(&e->record, &rec, sizeof rec);
    ch3_add_channel(&e->ch3, nmofi_channel(net));
    rma_leave(&e->rma);
    event_wake(&e->own->polling.agent, e->doorbell_fd);
    log_msg(&e->log, LOG_LEVEL_INFO, "network: %s", nmofi_describe(net));
}

/* What the records tell of the processes of the window that needs the network. */
struct company {
    bool one_node;
    unsigned node_index, universe;
    const struct topo_cpuset *node_cpus; /* node_index + 1 */
};

/* Under net_lock. */
static int open_endpoint(struct engine *e, const struct company *company)
{
    const bool loopback = company->one_node && !e->conf.ofi_interface[0];
    const struct nmofi_opts opts = {.provider = e->conf.ofi_provider,
                                    .interface = e->conf.ofi_interface,
                                    .loopback = loopback,
                                    .rdma = rdma_of(e->conf.ofi_rdma),
                                    .node_index = company->node_index,
                                    .node_cpus = company->node_cpus,
                                    .universe = company->universe,
                                    .uid = e->uid,
                                    .log = &e->log,
                                    .trace = e->env.trace,
                                    .ctx = e,
                                    .find = engine_net_find};
    const struct proc_record mine = proc_record_of(&e->record);
    struct nmofi *net = NULL;
    int err = e->bell.fd >= 0 ? MRMA_SUCCESS : open_bells(e);
    if (!err)
        err = nmofi_open(&opts, &net);
    if (err)
        return err;
    err = nmofi_add_secret(net, mine.secret);
    if (err)
        nmofi_close(net);
    else
        announce(e, net, loopback);
    return err;
}

/* register_memory registers the window's memory with the network. Memory that cannot be registered
 * is reached by packets. */
static void register_memory(struct engine *e, struct rma_net_mem *mine, struct rma_net_key *key)
{
    struct ch3_channel *ch = nmofi_channel(e->net);
    if (!(ch->caps & CH3_CAP_RDMA))
        return;
    mine->net = ch;
    if (!mine->len)
        return;
    rma_enter(&e->rma);
    if (ch->ops->mem_register(ch, mine->base, mine->len, &key->mem, &mine->mem) == MRMA_SUCCESS) {
        mine->channel = ch;
        key->vaddr = (uint64_t)(uintptr_t)mine->base;
        key->words = ch->caps & CH3_CAP_RDMA_WORD ? mine->words : 0;
    }
    rma_leave(&e->rma);
}

static struct offer make_offer(struct engine *e, const struct company *company,
                               struct rma_net_mem *memory)
{
    struct offer mine = {.err = MRMA_SUCCESS};
    pthread_mutex_lock(&e->net_lock);
    if (!e->net)
        mine.err = open_endpoint(e, company);
    const struct proc_record rec = proc_record_of(&e->record);
    pthread_mutex_unlock(&e->net_lock);
    if (!mine.err)
        register_memory(e, memory, &mine.key);
    mine.net = rec.net;
    mine.rdma = (uint32_t)rec.rdma;
    mine.name = rec.name;
    return mine;
}

/* check_reach gives the same answer at all processes, since it uses only what all of them know. */
static int check_reach(const struct engine *e, uint32_t net, int rank, bool one_node)
{
    return net != NET_LOOPBACK || one_node
               ? MRMA_SUCCESS
               : log_fail(&e->log, MRMA_ERR_OTHER,
                          "rank %d of the new window has its network endpoint on loopback, from an "
                          "earlier window within its machine: set MPIRMA_OFI_INTERFACE",
                          rank);
}

static int take_offers(struct engine *e, const struct offer *offers, const struct rma_procs *procs,
                       struct rma_net_keys *keys, bool one_node)
{
    for (int i = 0; i < procs->n; i++) {
        struct proc_record rec = proc_record_of(rma_proc_at(procs, i));
        if (offers[i].err)
            return log_fail(&e->log, (int)offers[i].err,
                            "process %d (rank %d of the new window) has no network endpoint",
                            rec.seg.pid, i);
        const int err = check_reach(e, offers[i].net, i, one_node);
        if (err)
            return err;
        rec.net = offers[i].net;
        rec.rdma = offers[i].rdma;
        rec.name = offers[i].name;
        memcpy((void *)(uintptr_t)rma_proc_at(procs, i), &rec, sizeof rec);
        keys->keys[i] = offers[i].key;
        keys->set |= offers[i].rdma != 0;
    }
    return MRMA_SUCCESS;
}

/* exchange_keys is called where every process has an endpoint that all know: only the keys of
 * memory are exchanged, if cards reach memory. */
static int exchange_keys(struct engine *e, struct boot *boot, const struct rma_procs *procs,
                         struct rma_net_mem *memory, struct rma_net_keys *keys)
{
    struct rma_net_key mine = {.vaddr = 0};
    const bool one_node = on_one_node(e, procs);
    for (int i = 0; i < procs->n; i++) {
        const struct proc_record rec = proc_record_of(rma_proc_at(procs, i));
        const int err = check_reach(e, rec.net, i, one_node);
        if (err)
            return err;
        keys->set |= rec.rdma != 0;
    }
    if (!keys->set)
        return MRMA_SUCCESS;
    register_memory(e, memory, &mine);
    return boot->allgather(boot, &mine, keys->keys, sizeof mine);
}

static int env_net_open(void *ctx, struct boot *boot, const struct rma_procs *procs, bool complete,
                        struct rma_net_mem *memory, struct rma_net_keys *keys)
{
    struct engine *e = ctx;
    keys->set = false;
    rma_enter(&e->rma);
    engine_peer_sweep(e);
    rma_leave(&e->rma);
    if (!complete)
        return exchange_keys(e, boot, procs, memory, keys);
    struct topo_cpuset *cpus = keys->room; /* until the offers come */
    const struct company company = {.one_node = on_one_node(e, procs),
                                    .node_index = index_on_node(e, procs, cpus),
                                    .universe = (unsigned)procs->n,
                                    .node_cpus = cpus};
    const struct offer mine = make_offer(e, &company, memory);
    struct offer *offers = keys->room;
    int err = boot->allgather(boot, &mine, offers, sizeof mine);
    return err ? err : take_offers(e, offers, procs, keys, company.one_node);
}

static bool env_addressed(void *ctx, const struct rma_proc_record *record)
{
    (void)ctx;
    return proc_record_of(record).net != NET_NONE;
}

void engine_net_init(struct engine *e)
{
    pthread_mutex_init(&e->net_lock, NULL);
    e->bell.fd = e->agent_bell.fd = -1;
    e->env.net_open = env_net_open;
    e->env.record_addressed = env_addressed;
    e->env.net_room = sizeof(struct offer);
    e->env.bell = &e->bell;
    e->env.agent_bell = &e->agent_bell;
}

void engine_net_fini(struct engine *e)
{
    engine_peer_close(e);
    if (e->net)
        nmofi_close(e->net);
    doorbell_close(&e->bell);
    doorbell_close(&e->agent_bell);
    pthread_mutex_destroy(&e->net_lock);
}
