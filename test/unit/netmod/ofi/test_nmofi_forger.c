/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_nmofi_forger.c - the libfabric netmod and a forger, an endpoint of the same provider that
 * says what it likes: who does not belong to the job is not heard, and who breaks the rules loses
 * its connection. Over the providers of test_nmofi.c.
 */
#include "test/support/nmofi_pair.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "base/siphash.h"
#include "test/support/provider.h"

static const unsigned char other_secret[NMOFI_SECRET_BYTES + 1] = "of another one..";

struct forger {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    fi_addr_t to;
};

static void forger_open(struct forger *f, const char *provider, const struct end *victim)
{
    struct fi_info *hints = fi_allocinfo(), *list;
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_DATA, .size = 64};
    struct nmofi_name name;
    nmofi_get_name(victim->nm, &name);
    hints->caps = FI_MSG;
    hints->ep_attr->type = FI_EP_RDM;
    hints->addr_format = name.format;
    hints->fabric_attr->prov_name = strdup(provider);
    assert_int_equal(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &list), 0);
    f->info = list;
    while (f->info && strcmp(f->info->domain_attr->name, "lo") != 0)
        f->info = f->info->next;
    assert_non_null(f->info);
    f->info = fi_dupinfo(f->info);
    fi_freeinfo(list);
    fi_freeinfo(hints);
    assert_int_equal(fi_fabric(f->info->fabric_attr, &f->fabric, NULL), 0);
    assert_int_equal(fi_domain(f->fabric, f->info, &f->domain, NULL), 0);
    assert_int_equal(fi_av_open(f->domain, &av, &f->av, NULL), 0);
    assert_int_equal(fi_cq_open(f->domain, &cq, &f->cq, NULL), 0);
    assert_int_equal(fi_endpoint(f->domain, f->info, &f->ep, NULL), 0);
    assert_int_equal(fi_ep_bind(f->ep, &f->av->fid, 0), 0);
    assert_int_equal(fi_ep_bind(f->ep, &f->cq->fid, FI_SEND | FI_RECV), 0);
    assert_int_equal(fi_enable(f->ep), 0);
    assert_int_equal(fi_av_insert(f->av, name.bytes, 1, &f->to, 0, NULL), 1);
}

static void forger_close(struct forger *f)
{
    fi_close(&f->ep->fid);
    fi_close(&f->cq->fid);
    fi_close(&f->av->fid);
    fi_close(&f->domain->fid);
    fi_close(&f->fabric->fid);
    fi_freeinfo(f->info);
}

static void forge(struct forger *f, struct end *e, const void *message, size_t len)
{
    struct fi_cq_data_entry entry;
    const uint64_t start = clock_monotonic_ns();
    ssize_t ret;
    while ((ret = fi_send(f->ep, message, len, NULL, f->to, NULL)) == -FI_EAGAIN) {
        (void)fi_cq_read(f->cq, &entry, 1);
        poll_both(e);
        assert_true(clock_monotonic_ns() - start < UINT64_C(20000000000));
    }
    assert_int_equal(ret, 0);
    while ((ret = fi_cq_read(f->cq, &entry, 1)) == -FI_EAGAIN)
        poll_both(e);
    assert_int_equal(ret, 1);
}

struct wire {
    uint64_t token;
    uint8_t kind, version;
    uint16_t seq, credits, len;
    uint64_t body[4];
};

static void refused(struct forger *f, struct end *e, const void *message, size_t len)
{
    const uint64_t dropped = nmofi_get_stats(e[1].nm)->dropped;
    forge(f, e, message, len);
    POLL_UNTIL(e, nmofi_get_stats(e[1].nm)->dropped == dropped + 1);
}

/* Whatever it says, it is dropped, and who belongs to the job is not disturbed. */
static void forged(void **state)
{
    struct end *e = open_pair(state);
    struct forger f;
    const uint64_t parties[2] = {0x7777, uid_of(1)};
    static unsigned char huge[20000];
    forger_open(&f, *state, &e[1]);
    POLL_UNTIL(e, send_one(&e[0], 64));
    POLL_UNTIL(e, e[1].got == 1);
    struct wire w = {.token = 42, .kind = 2, .version = 1, .len = 32};
    refused(&f, e, &w, sizeof w); /* data, unknown token */
    refused(&f, e, &w, 8);        /* no whole header */
    w.kind = 1;
    w.len = 8;
    w.body[0] = uid_of(0);
    refused(&f, e, &w, 24);            /* hello without the secret */
    refused(&f, e, huge, sizeof huge); /* longer than any message */
    w.token = siphash(other_secret, parties, sizeof parties);
    w.body[0] = parties[0];
    refused(&f, e, &w, 24); /* hello by another job's secret */
    w.token = siphash(secret, parties, sizeof parties);
    w.body[0] = uid_of(0);
    refused(&f, e, &w, 24); /* the right secret, but somebody else's name */
    w.kind = 0;
    refused(&f, e, &w, 24);
    for (unsigned i = 0; i < 100; i++)
        POLL_UNTIL(e, send_one(&e[0], 64));
    POLL_UNTIL(e, e[1].got == 101);
    assert_int_equal(e[1].vc.state, CH3_VC_OPEN);
    forger_close(&f);
    close_pair(e);
}

/* One of the job that breaks the rules loses its connection, and nothing else happens. */
static void rules(void **state)
{
    static const struct {
        const char *what, *said;
        uint8_t kind;
        uint16_t seq, credits, len;
        size_t size;
    } bad[] = {
        {"unknown kind", "malformed", 99, 1, 0, 0, 16},
        {"another length", "malformed", 2, 1, 0, 32, 24},
        {"too many credits", "more credits", 3, 1, 9, 0, 16},
        {"far number", "number is wrong", 2, 60000, 0, 8, 24},
        {"a missing number", "is missing", 2, 2, 0, 8, 24},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct end *e = open_pair(state);
        struct forger f;
        char text[2048];
        const uint64_t parties[2] = {uid_of(0), uid_of(1)};
        struct wire w = {
            .token = siphash(secret, parties, sizeof parties), .kind = 1, .version = 1, .len = 8};
        w.body[0] = parties[0];
        e[0].known = false; /* whose place the forger takes: it answers nothing */
        forger_open(&f, *state, &e[1]);
        forge(&f, e, &w, 24); /* a good hello */
        POLL_UNTIL(e, nmofi_get_stats(e[1].nm)->links == 1);
        w.token = 42; /* a message that is nobody's, whatever comes behind it */
        forge(&f, e, &w, 24);
        w.token = siphash(secret, parties, sizeof parties);
        w.kind = bad[i].kind;
        w.seq = bad[i].seq;
        w.credits = bad[i].credits;
        w.len = bad[i].len;
        forge(&f, e, &w, bad[i].size);
        const char *said = "";
        POLL_UNTIL(e, strstr(said = log_text(&e[1].lp, text, sizeof text), bad[i].said));
        POLL_UNTIL(e, e[1].vc.state == CH3_VC_FAILED);
        assert_int_equal(e[1].got, 0);
        forger_close(&f);
        close_pair(e);
    }
}

int main(void)
{
    static char rxm[] = "tcp;ofi_rxm";
    char net[8];
    snprintf(net, sizeof net, "%s", provider_of_datagrams());
    const struct CMUnitTest tests[] = {BOTH(forged), BOTH(rules)};
    return cmocka_run_group_tests_name("netmod/ofi, forged messages", tests, NULL, NULL);
}
