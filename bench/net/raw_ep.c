/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * raw_ep.c - see raw_ep.h.
 *
 * One receive for each partner is posted ahead for a ping-pong, WINDOW for a stream; a stream ends
 * with a short message back. Progress is manual where the provider lets one choose.
 */
#include "bench/net/raw_ep.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/clock.h"
#include "bench/common/stats.h"

enum { WINDOW = 16, MOST = 4 << 20, NAME_MAX_BYTES = 128 };
_Static_assert((int)RAW_EP_MAX <= (int)WINDOW, "a receive for each");

struct raw_ep {
    MPI_Comm comm;
    int rank, n;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_wait *wait;
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct fid_mr *mr;
    fi_addr_t peers[RAW_EP_MAX]; /* by rank */
    char *buf;                   /* MOST bytes to send, MOST to receive */
    void *desc;
    struct fi_context2 tx[WINDOW], rx[WINDOW];
    long sent, received; /* completions */
    int broken;
};

static int find_info(struct raw_ep *e, const char *provider, const char *interface)
{
    struct fi_info *hints = fi_allocinfo();
    if (!hints)
        return -FI_ENOMEM;
    hints->caps = FI_MSG;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->addr_format = FI_SOCKADDR_IN;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->fabric_attr->prov_name = strdup(provider);
    if (interface)
        hints->domain_attr->name = strdup(interface);
    int rc = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &e->info);
    fi_freeinfo(hints);
    return rc;
}

static int open_endpoint(struct raw_ep *e)
{
    struct fi_wait_attr wait = {.wait_obj = FI_WAIT_FD};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_SET, .size = 1024};
    struct fi_av_attr av = {.type = FI_AV_TABLE, .count = RAW_EP_MAX};
    int rc = fi_fabric(e->info->fabric_attr, &e->fabric, NULL);
    rc = rc ? rc : fi_domain(e->fabric, e->info, &e->domain, NULL);
    rc = rc ? rc : fi_av_open(e->domain, &av, &e->av, NULL);
    rc = rc ? rc : e->fabric->ops->wait_open(e->fabric, &wait, &e->wait);
    cq.wait_set = e->wait;
    rc = rc ? rc : fi_cq_open(e->domain, &cq, &e->cq, NULL);
    rc = rc ? rc : fi_endpoint(e->domain, e->info, &e->ep, NULL);
    rc = rc ? rc : fi_ep_bind(e->ep, &e->av->fid, 0);
    rc = rc ? rc : fi_ep_bind(e->ep, &e->cq->fid, FI_SEND | FI_RECV);
    rc = rc ? rc : fi_enable(e->ep);
    if (!rc && (e->info->domain_attr->mr_mode & FI_MR_LOCAL)) {
        rc = fi_mr_reg(e->domain, e->buf, 2 * (size_t)MOST, FI_SEND | FI_RECV, 0, 0, 0, &e->mr,
                       NULL);
        e->desc = rc ? NULL : fi_mr_desc(e->mr);
    }
    return rc;
}

static int meet(struct raw_ep *e)
{
    struct {
        char name[NAME_MAX_BYTES];
        size_t len;
        int rc;
    } mine = {.len = NAME_MAX_BYTES, .rc = 0}, all[RAW_EP_MAX];
    mine.rc = e->ep ? fi_getname(&e->ep->fid, mine.name, &mine.len) : -FI_EINVAL;
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, e->comm);
    for (int i = 0; i < e->n; i++)
        if (all[i].rc)
            return all[i].rc;
    for (int i = 0; i < e->n; i++)
        if (i != e->rank && fi_av_insert(e->av, all[i].name, 1, &e->peers[i], 0, NULL) != 1)
            return -FI_EADDRNOTAVAIL;
    return 0;
}

static struct raw_ep *try_open(MPI_Comm comm, const char *provider, const char *interface, int *rc)
{
    struct raw_ep *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->comm = comm;
    MPI_Comm_rank(comm, &e->rank);
    MPI_Comm_size(comm, &e->n);
    e->buf = aligned_alloc(4096, 2 * (size_t)MOST);
    if (e->buf)
        memset(e->buf, 0, 2 * (size_t)MOST);
    int mine = e->buf ? find_info(e, provider, interface) : -FI_ENOMEM;
    mine = mine ? mine : open_endpoint(e);
    int met =
        mine ? (meet(&(struct raw_ep){.comm = comm, .rank = e->rank, .n = e->n}), mine) : meet(e);
    *rc = met;
    MPI_Allreduce(MPI_IN_PLACE, &met, 1, MPI_INT, MPI_MIN, comm);
    if (!met)
        return e;
    *rc = met;
    raw_ep_close(e);
    return NULL;
}

struct raw_ep *raw_ep_open(MPI_Comm comm, const char *provider, const char *interface, char *reason,
                           size_t len)
{
    int rc = 0;
    struct raw_ep *e = try_open(comm, provider ? provider : "net", interface, &rc);
    if (!e && !provider)
        e = try_open(comm, "tcp;ofi_rxm", interface, &rc);
    if (!e)
        snprintf(reason, len, "no raw endpoint over %s on %s: %s",
                 provider ? provider : "net or tcp;ofi_rxm",
                 interface ? interface : "any interface", fi_strerror(-rc));
    return e;
}

void raw_ep_close(struct raw_ep *e)
{
    if (e->ep)
        fi_close(&e->ep->fid);
    if (e->mr)
        fi_close(&e->mr->fid);
    if (e->cq)
        fi_close(&e->cq->fid);
    if (e->wait)
        fi_close(&e->wait->fid);
    if (e->av)
        fi_close(&e->av->fid);
    if (e->domain)
        fi_close(&e->domain->fid);
    if (e->fabric)
        fi_close(&e->fabric->fid);
    if (e->info)
        fi_freeinfo(e->info);
    free(e->buf);
    free(e);
}

const char *raw_ep_provider(const struct raw_ep *e)
{
    return e->info->fabric_attr->prov_name;
}

/* ---- moving ---- */

static void reap(struct raw_ep *e)
{
    struct fi_cq_msg_entry done[WINDOW];
    ssize_t n = fi_cq_read(e->cq, done, WINDOW);
    if (n == -FI_EAVAIL) {
        struct fi_cq_err_entry err = {0};
        (void)fi_cq_readerr(e->cq, &err, 0);
        fprintf(stderr, "raw endpoint: %s\n", fi_strerror(err.err));
        e->broken = 1;
    }
    for (ssize_t i = 0; i < n; i++) {
        e->sent += (done[i].flags & FI_SEND) != 0;
        e->received += (done[i].flags & FI_RECV) != 0;
    }
}

/* By a wait set: the queue's own descriptor stays readable for ever with "net" 1.17. The wrappers
 * of its functions are deprecated in later releases. */
static void sleep_for_one(struct raw_ep *e)
{
    (void)e->wait->ops->wait(e->wait, 1000);
}

static void post_send(struct raw_ep *e, int to, size_t size, long i)
{
    while (!e->broken &&
           fi_send(e->ep, e->buf, size, e->desc, e->peers[to], &e->tx[i % WINDOW]) == -FI_EAGAIN)
        reap(e);
}

/* As post_send; what is short enough needs no completion. */
static void post_short(struct raw_ep *e, int to, size_t size, long i)
{
    if (size > e->info->tx_attr->inject_size) {
        post_send(e, to, size, i);
        return;
    }
    while (!e->broken && fi_inject(e->ep, e->buf, size, e->peers[to]) == -FI_EAGAIN)
        reap(e);
    e->sent++;
}

static void post_recv(struct raw_ep *e, long i)
{
    while (!e->broken && fi_recv(e->ep, e->buf + MOST, MOST, e->desc, FI_ADDR_UNSPEC,
                                 &e->rx[i % WINDOW]) == -FI_EAGAIN)
        reap(e);
}

static void await(struct raw_ep *e, const long *count, long until, int asleep)
{
    while (!e->broken && *count < until) {
        reap(e);
        if (asleep && *count < until)
            sleep_for_one(e);
    }
}

double raw_ep_round_trip(struct raw_ep *e, size_t out, size_t back, int rounds, int asleep)
{
    const int warm = rounds / 10 + 1, answers = e->rank == 1;
    double *v = calloc((size_t)rounds, sizeof *v);
    if (!v) {
        perror("raw_ep: samples");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    e->sent = e->received = 0;
    post_recv(e, 0);
    MPI_Barrier(e->comm);
    for (int i = 0; i < warm + rounds && !e->broken; i++) {
        const double start = clock_ns();
        if (answers) {
            await(e, &e->received, i + 1, asleep);
            post_recv(e, i + 1);
        }
        post_send(e, 1 - e->rank, answers ? back : out, i);
        await(e, &e->sent, i + 1, 0);
        if (!answers) {
            await(e, &e->received, i + 1, 0);
            post_recv(e, i + 1);
        }
        if (i >= warm)
            v[i - warm] = clock_ns() - start;
    }
    const double ns = e->broken ? NAN : stats_median(v, (size_t)rounds);
    free(v);
    (void)fi_cancel(&e->ep->fid, &e->rx[(warm + rounds) % WINDOW]);
    for (int i = 0; i < 100; i++) { /* the cancelled receive's entry */
        struct fi_cq_err_entry err = {0};
        struct fi_cq_msg_entry one;
        if (fi_cq_read(e->cq, &one, 1) == -FI_EAVAIL)
            (void)fi_cq_readerr(e->cq, &err, 0);
    }
    MPI_Barrier(e->comm);
    return ns;
}

static double fan_round(struct raw_ep *e, size_t size, long round)
{
    const int d = e->n - 1;
    const double start = clock_ns();
    for (int i = 0; i < d; i++)
        post_send(e, 1 + i, size, round * d + i);
    while (!e->broken && e->received < (round + 1) * d) {
        const long before = e->received;
        reap(e);
        if (e->received == before)
            sched_yield();
    }
    const double ns = clock_ns() - start;
    await(e, &e->sent, (round + 1) * d, 0);
    for (int i = 0; i < d; i++)
        post_recv(e, round * d + i);
    return ns;
}

double raw_ep_fan(struct raw_ep *e, size_t size, int rounds)
{
    double *v = calloc((size_t)rounds, sizeof *v);
    if (!v) {
        perror("raw_ep: samples");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    e->sent = e->received = 0;
    for (int i = 0; i < (e->rank == 0 ? e->n - 1 : 1); i++)
        post_recv(e, i);
    MPI_Barrier(e->comm);
    for (int i = 0; i < rounds && !e->broken; i++) {
        if (e->rank == 0) {
            v[i] = fan_round(e, size, i);
            continue;
        }
        await(e, &e->received, i + 1, 1);
        post_recv(e, i + 1);
        post_send(e, 0, size, i);
        await(e, &e->sent, i + 1, 0);
    }
    const double ns = e->broken ? NAN : stats_median(v, (size_t)rounds);
    free(v);
    MPI_Barrier(e->comm);
    return ns;
}

double raw_ep_exchange(struct raw_ep *e, size_t size, int messages, int steps)
{
    const int ahead = 2 * messages; /* the other rank may be one step ahead */
    e->sent = e->received = 0;
    for (long i = 0; i < ahead; i++)
        post_recv(e, i);
    MPI_Barrier(e->comm);
    const double start = clock_ns();
    for (long i = 0; i < steps; i++) {
        for (int m = 0; m < messages; m++)
            post_short(e, 1 - e->rank, size, i);
        await(e, &e->received, (i + 1) * messages, 0);
        for (int m = 0; m < messages && (i + 2) * messages < steps * (long)messages; m++)
            post_recv(e, i * messages + m);
    }
    const double ns = (clock_ns() - start) / steps;
    await(e, &e->sent, steps * (long)messages, 0);
    MPI_Barrier(e->comm);
    return ns;
}

double raw_ep_stream(struct raw_ep *e, size_t size, int messages)
{
    e->sent = e->received = 0;
    const int n = messages / WINDOW * WINDOW;
    for (long i = 0; e->rank == 1 && i < WINDOW; i++)
        post_recv(e, i);
    if (e->rank == 0)
        post_recv(e, 0);
    MPI_Barrier(e->comm);
    const double start = clock_ns();
    if (e->rank == 0) {
        for (long i = 0; i < n; i++) {
            await(e, &e->sent, i - WINDOW + 1, 0);
            post_send(e, 1, size, i);
        }
        await(e, &e->received, 1, 0);
    } else {
        for (long i = 0; i < n; i++) {
            await(e, &e->received, i + 1, 0);
            if (i + WINDOW < n)
                post_recv(e, i);
        }
        post_send(e, 0, 8, 0);
        await(e, &e->sent, 1, 0);
    }
    const double ns = (clock_ns() - start) / n;
    await(e, &e->sent, e->rank == 0 ? n : 1, 0);
    MPI_Barrier(e->comm);
    return ns;
}
