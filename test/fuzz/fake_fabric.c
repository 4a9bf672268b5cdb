/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_fabric.c - see fake_fabric.h. The functions of libfabric's library that the netmod
 * calls, and the tables of functions behind its inline ones; the program is not linked
 * with libfabric.
 */
#include "fake_fabric.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "netmod/ofi/ofi.h"

enum { BUFFERS = NM_RX_MOST, ENTRIES = 64, SENDS = 1024, INJECT = 64 };

struct fake_fabric fake_fabric;

static struct {
    struct {
        void *context;
        char *bytes;
        size_t size, used;
    } rx[BUFFERS]; /* posted, the first one is being filled */
    size_t nrx, least;
    struct fi_cq_data_entry entries[ENTRIES]; /* arrived and not read */
    size_t nentries;
    void *sends[SENDS]; /* taken, in order */
    size_t nsends, due; /* of them those that have ended */
} state;

/* ---- descriptions ---- */

struct description {
    struct fi_info info;
    struct fi_tx_attr tx;
    struct fi_rx_attr rx;
    struct fi_ep_attr ep;
    struct fi_domain_attr domain;
    struct fi_fabric_attr fabric;
};

static char *copy_of(const char *text)
{
    return text ? strdup(text) : NULL;
}

struct fi_info *fi_dupinfo(const struct fi_info *info)
{
    struct description *d = calloc(1, sizeof *d);
    FUZZ_CHECK(d);
    if (info)
        memcpy(d, info, sizeof *d); /* all are made here */
    d->info.next = NULL;
    d->info.tx_attr = &d->tx;
    d->info.rx_attr = &d->rx;
    d->info.ep_attr = &d->ep;
    d->info.domain_attr = &d->domain;
    d->info.fabric_attr = &d->fabric;
    d->domain.name = copy_of(d->domain.name);
    d->fabric.prov_name = copy_of(d->fabric.prov_name);
    return &d->info;
}

void fi_freeinfo(struct fi_info *info)
{
    if (!info)
        return;
    free(info->domain_attr->name);
    free(info->fabric_attr->prov_name);
    free(info);
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **info)
{
    (void)version, (void)node, (void)service, (void)flags;
    if (!hints->fabric_attr->prov_name || strcmp(hints->fabric_attr->prov_name, "fake") ||
        hints->caps & FI_RMA)
        return -FI_ENODATA;
    struct fi_info *found = fi_dupinfo(NULL);
    found->caps = FI_MSG | FI_MULTI_RECV;
    found->ep_attr->type = FI_EP_RDM;
    found->ep_attr->max_msg_size = 1 << 20;
    found->tx_attr->msg_order = found->rx_attr->msg_order = FI_ORDER_SAS;
    found->tx_attr->inject_size = INJECT;
    found->domain_attr->name = strdup("nowhere");
    found->fabric_attr->prov_name = strdup("fake");
    *info = found;
    return 0;
}

const char *fi_strerror(int errnum)
{
    (void)errnum;
    return "an error";
}

/* ---- messages ---- */

static bool is_free_to_send(void)
{
    return !fake_fabric.busy && state.nsends < SENDS;
}

static ssize_t inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t to)
{
    (void)ep, (void)to;
    FUZZ_CHECK(len <= INJECT);
    if (fake_fabric.busy)
        return -FI_EAGAIN;
    fake_fabric.sent++;
    fake_fabric.look(buf, len);
    return 0;
}

static ssize_t send_message(struct fid_ep *ep, const void *buf, size_t len, void *desc,
                            fi_addr_t to, void *context)
{
    (void)ep, (void)desc, (void)to;
    if (!is_free_to_send())
        return -FI_EAGAIN;
    state.sends[state.nsends++] = context;
    fake_fabric.sent++;
    fake_fabric.look(buf, len);
    return 0;
}

static ssize_t receive_into(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
    (void)ep;
    FUZZ_CHECK(flags == FI_MULTI_RECV && msg->iov_count == 1 && state.nrx < BUFFERS);
    state.rx[state.nrx].context = msg->context;
    state.rx[state.nrx].bytes = msg->msg_iov->iov_base;
    state.rx[state.nrx].size = msg->msg_iov->iov_len;
    state.rx[state.nrx].used = 0;
    ASAN_POISON_MEMORY_REGION(state.rx[state.nrx].bytes, state.rx[state.nrx].size);
    state.nrx++;
    return 0;
}

bool fake_fabric_arrive(const void *bytes, size_t len)
{
    if (!state.nrx || state.nentries == ENTRIES)
        return false;
    char *to = state.rx[0].bytes + state.rx[0].used;
    FUZZ_CHECK(len <= state.least);
    ASAN_UNPOISON_MEMORY_REGION(to, len);
    memcpy(to, bytes, len);
    state.rx[0].used += len;
    struct fi_cq_data_entry *entry = &state.entries[state.nentries++];
    *entry = (struct fi_cq_data_entry){
        .op_context = state.rx[0].context, .flags = FI_MSG | FI_RECV, .len = len, .buf = to};
    if (state.rx[0].size - state.rx[0].used < state.least) { /* the netmod's from here on */
        entry->flags |= FI_MULTI_RECV;
        memmove(state.rx, state.rx + 1, --state.nrx * sizeof state.rx[0]);
    }
    return true;
}

void fake_fabric_complete(size_t n)
{
    const size_t left = state.nsends - state.due;
    state.due += n < left ? n : left;
}

static void *next_sent(void)
{
    void *context = state.sends[0];
    state.due--;
    memmove(state.sends, state.sends + 1, --state.nsends * sizeof state.sends[0]);
    return context;
}

static ssize_t read_queue(struct fid_cq *cq, void *buf, size_t count)
{
    struct fi_cq_data_entry *to = buf;
    size_t n = 0;
    (void)cq;
    if (fake_fabric.prompt)
        state.due = state.nsends;
    if (state.due && fake_fabric.failing)
        return -FI_EAVAIL;
    for (; n < count && state.due; n++)
        to[n] = (struct fi_cq_data_entry){.op_context = next_sent(), .flags = FI_MSG | FI_SEND};
    const size_t arrived = state.nentries < count - n ? state.nentries : count - n;
    memcpy(to + n, state.entries, arrived * sizeof *to);
    state.nentries -= arrived;
    memmove(state.entries, state.entries + arrived, state.nentries * sizeof *to);
    return n + arrived ? (ssize_t)(n + arrived) : -FI_EAGAIN;
}

static ssize_t read_error(struct fid_cq *cq, struct fi_cq_err_entry *entry, uint64_t flags)
{
    (void)cq, (void)flags;
    if (!state.due)
        return 0;
    *entry = (struct fi_cq_err_entry){
        .op_context = next_sent(), .flags = FI_MSG | FI_SEND, .err = FI_ECONNRESET};
    return 1;
}

/* ---- objects ---- */

static int close_nothing(struct fid *fid)
{
    (void)fid;
    return 0;
}

static int close_endpoint(struct fid *fid)
{
    (void)fid;
    for (size_t i = 0; i < state.nrx; i++)
        ASAN_UNPOISON_MEMORY_REGION(state.rx[i].bytes, state.rx[i].size);
    memset(&state, 0, sizeof state);
    return 0;
}

static int bind_nothing(struct fid *fid, struct fid *to, uint64_t flags)
{
    (void)fid, (void)to, (void)flags;
    return 0;
}

static int control(struct fid *fid, int command, void *arg)
{
    (void)fid, (void)arg;
    return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

static int get_name(fid_t fid, void *addr, size_t *len)
{
    (void)fid;
    memset(addr, 1, 8);
    *len = 8;
    return 0;
}

static int set_option(fid_t fid, int level, int name, const void *value, size_t len)
{
    (void)fid;
    FUZZ_CHECK(level == FI_OPT_ENDPOINT && name == FI_OPT_MIN_MULTI_RECV &&
               len == sizeof state.least);
    memcpy(&state.least, value, sizeof state.least);
    return 0;
}

static int insert(struct fid_av *av, const void *addr, size_t count, fi_addr_t *to, uint64_t flags,
                  void *context)
{
    (void)av, (void)addr, (void)flags, (void)context;
    FUZZ_CHECK(count == 1);
    *to = 0;
    return 1;
}

static const char *address_text(struct fid_av *av, const void *addr, char *buf, size_t *len)
{
    (void)av, (void)addr;
    strncpy(buf, "fake://nowhere", *len);
    return buf;
}

static struct fi_ops plain_ops = {.size = sizeof plain_ops, .close = close_nothing},
                     ep_fid_ops = {.size = sizeof ep_fid_ops,
                                   .close = close_endpoint,
                                   .bind = bind_nothing,
                                   .control = control};
static struct fi_ops_av av_ops = {.size = sizeof av_ops, .insert = insert, .straddr = address_text};
static struct fi_ops_cq cq_ops = {.size = sizeof cq_ops, .read = read_queue, .readerr = read_error};
static struct fi_ops_ep ep_ops = {.size = sizeof ep_ops, .setopt = set_option};
static struct fi_ops_cm cm_ops = {.size = sizeof cm_ops, .getname = get_name};
static struct fi_ops_msg msg_ops = {
    .size = sizeof msg_ops, .recvmsg = receive_into, .send = send_message, .inject = inject};

static struct fid_av av = {.fid = {.ops = &plain_ops}, .ops = &av_ops};
static struct fid_cq cq = {.fid = {.ops = &plain_ops}, .ops = &cq_ops};
static struct fid_ep ep = {
    .fid = {.ops = &ep_fid_ops}, .ops = &ep_ops, .cm = &cm_ops, .msg = &msg_ops};

static int open_av(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **out,
                   void *context)
{
    (void)domain, (void)attr, (void)context;
    *out = &av;
    return 0;
}

static int open_cq(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **out,
                   void *context)
{
    (void)domain, (void)context;
    if (attr->wait_obj != FI_WAIT_NONE)
        return -FI_ENOSYS;
    *out = &cq;
    return 0;
}

static int open_ep(struct fid_domain *domain, struct fi_info *info, struct fid_ep **out,
                   void *context)
{
    (void)domain, (void)info, (void)context;
    *out = &ep;
    return 0;
}

static struct fi_ops_domain domain_ops = {
    .size = sizeof domain_ops, .av_open = open_av, .cq_open = open_cq, .endpoint = open_ep};
static struct fid_domain domain = {.fid = {.ops = &plain_ops}, .ops = &domain_ops};

static int open_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **out,
                       void *context)
{
    (void)fabric, (void)info, (void)context;
    *out = &domain;
    return 0;
}

static int open_wait(struct fid_fabric *fabric, struct fi_wait_attr *attr, struct fid_wait **out)
{
    (void)fabric, (void)attr, (void)out;
    return -FI_ENOSYS;
}

static struct fi_ops_fabric fabric_ops = {
    .size = sizeof fabric_ops, .domain = open_domain, .wait_open = open_wait};
static struct fid_fabric fabric = {.fid = {.ops = &plain_ops}, .ops = &fabric_ops};

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **out, void *context)
{
    (void)attr, (void)context;
    *out = &fabric;
    return 0;
}
