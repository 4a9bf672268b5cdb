/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_nm_rx.c - when a receive buffer of the netmod is posted again, over a provider that is
 * played here: its peers' messages lie back to back in the first buffer that was posted, are
 * complete in any order, or fail. It says that a buffer is used up with the message that takes the
 * last room, as libfabric 1.17's "net" does, or with the last one that is complete, as later ones
 * do, or by an event of its own as soon as the last room is given away, as "ofi_rxm" does where
 * messages have waited for a buffer.
 *
 * What may never be: a buffer that is posted again while a message in it is under way, and no
 * buffer for a message.
 */
#include "test/support/base_helper.h"

#include "netmod/ofi/ofi.h"

enum { PEERS = 5, POSTED = 4096, ENTRIES = 256, TOKEN = 100 };

enum flag_with { FIRST_FULL, LAST_COMPLETE, OWN_EVENT };
enum refusal { TAKEN, WHOLE, IN_PART };

/* A message of a peer under way. */
struct slice {
    unsigned char *at;
    size_t len;
    struct nm_rx *rx;
    bool flagged; /* with it the buffer was full */
};

static struct {
    struct nmofi nm;
    struct log_pipe lp;
    struct fid_ep ep;
    struct fid_cq cq;
    struct nm_secret secret;
    struct nm_from from[PEERS];
    struct nm_rx *posted[POSTED]; /* the first one is being filled */
    size_t first, end, used;
    struct slice slices[PEERS];
    uint16_t seq[PEERS];
    struct fi_cq_data_entry entries[ENTRIES];
    size_t nentries;
    struct fi_cq_err_entry error;
    bool has_error;
    enum refusal refuse; /* how the next buffer is not taken */
    enum flag_with flag;
} p;

static size_t posted_now(void)
{
    return (p.end + POSTED - p.first) % POSTED;
}

/* The provider says of a buffer that it is used up, and nothing else. */
static void tell_end(struct nm_rx *rx)
{
    assert_true(p.nentries < ENTRIES);
    p.entries[p.nentries++] =
        (struct fi_cq_data_entry){.op_context = &rx->op, .flags = FI_MULTI_RECV};
}

/* A buffer is not taken. In part: a message that waited was put into it before. */
static ssize_t refuse(struct nm_rx *rx)
{
    const enum refusal how = p.refuse;
    p.refuse = TAKEN;
    if (how == WHOLE)
        return -FI_EAGAIN;
    p.slices[1] = (struct slice){.at = rx->bytes, .len = 20000, .rx = rx};
    for (int i = 0; i < NM_CQ_BURST * NM_CQ_BURSTS + 8; i++)
        p.entries[p.nentries++] = (struct fi_cq_data_entry){.flags = FI_REMOTE_WRITE};
    tell_end(rx);
    return -FI_ENOMEM;
}

static ssize_t receive_into(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
    const unsigned char *bytes = msg->msg_iov->iov_base;
    (void)ep;
    assert_true(flags == FI_MULTI_RECV && msg->msg_iov->iov_len == NM_RX_BYTES);
    if (p.refuse)
        return refuse((struct nm_rx *)(void *)msg->context);
    for (int i = 0; i < PEERS; i++)
        assert_false(p.slices[i].at >= bytes && p.slices[i].at < bytes + NM_RX_BYTES);
    p.posted[p.end] = (struct nm_rx *)(void *)msg->context;
    p.end = (p.end + 1) % POSTED;
    assert_true(p.end != p.first);
    return 0;
}

static ssize_t read_queue(struct fid_cq *cq, void *buf, size_t count)
{
    const size_t n = p.nentries < count ? p.nentries : count;
    (void)cq;
    if (!n)
        return p.has_error ? -FI_EAVAIL : -FI_EAGAIN;
    memcpy(buf, p.entries, n * sizeof p.entries[0]);
    p.nentries -= n;
    memmove(p.entries, p.entries + n, p.nentries * sizeof p.entries[0]);
    return (ssize_t)n;
}

static ssize_t read_error(struct fid_cq *cq, struct fi_cq_err_entry *entry, uint64_t flags)
{
    (void)cq, (void)flags;
    *entry = p.error;
    p.has_error = false;
    return 1;
}

static struct fi_ops_msg msg_ops = {.size = sizeof msg_ops, .recvmsg = receive_into};
static struct fi_ops_cq cq_ops = {.size = sizeof cq_ops, .read = read_queue, .readerr = read_error};

static struct ch3_vc *nobody(void *ctx, uint64_t uid)
{
    (void)ctx, (void)uid;
    return NULL;
}

static void begin(enum flag_with flag, bool sequential)
{
    struct nmofi *nm = &p.nm;
    memset(&p, 0, sizeof p);
    log_to_pipe(&p.lp, LOG_LEVEL_WARN);
    p.flag = flag;
    p.ep.msg = &msg_ops;
    p.cq.ops = &cq_ops;
    nm->opts.log = &p.lp.log;
    nm->opts.find = nobody;
    nm->info = fi_allocinfo();
    nm->ep = &p.ep;
    nm->cq = &p.cq;
    nm->wait_fd = -1;
    nm->early_release = nm->software = true;
    nm->sequential = sequential;
    nm->stats.links = PEERS;
    struct list *const lists[] = {&nm->secrets,  &nm->links,   &nm->stalled,    &nm->owing,
                                  &nm->broken,   &nm->unknown, &nm->tx_free[0], &nm->tx_free[1],
                                  &nm->tx_slabs, &nm->rx,      &nm->rx_waiting};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        list_init(lists[i]);
    list_push_front(&nm->secrets, &p.secret.node);
    map_init(&nm->from);
    for (unsigned i = 0; i < PEERS; i++) {
        p.from[i].token = TOKEN + i;
        list_init(&p.from[i].early);
        assert_int_equal(map_put(&nm->from, TOKEN + i, &p.from[i], NULL), 0);
    }
    assert_int_equal(nm_buf_start(nm), 0);
    assert_true(nm_rx_grow(nm, PEERS));
    assert_int_equal(posted_now(), NM_RX_BUFFERS + NM_RX_PER_LINK * (PEERS - 1));
}

static void finish(void)
{
    struct list_node *node;
    for (unsigned i = 0; i < PEERS; i++)
        while ((node = list_pop_front(&p.from[i].early)) != NULL)
            free(node); /* the first member of what was kept */
    map_fini(&p.nm.from);
    nm_buf_end(&p.nm);
    fi_freeinfo(p.nm.info);
    log_pipe_close(&p.lp);
}

/* A peer begins a message: the provider gives it its place. */
static struct nm_rx *claim(unsigned peer, size_t len)
{
    struct slice *s = &p.slices[peer];
    assert_true(posted_now() > 0 && !s->at && len <= NM_MSG_MAX);
    *s = (struct slice){.rx = p.posted[p.first], .len = len};
    s->at = s->rx->bytes + p.used;
    p.used += len;
    if (NM_RX_BYTES - p.used < NM_MSG_MAX) {
        s->flagged = p.flag != OWN_EVENT;
        if (p.flag == OWN_EVENT)
            tell_end(s->rx);
        p.first = (p.first + 1) % POSTED;
        p.used = 0;
    }
    return s->rx;
}

/* Has the provider done with its buffer with this message? */
static bool ends_buffer(const struct slice *s, bool full)
{
    if (p.flag != LAST_COMPLETE)
        return full;
    if (s->rx == p.posted[p.first])
        return false; /* being filled */
    for (int i = 0; i < PEERS; i++)
        if (p.slices[i].at && &p.slices[i] != s && p.slices[i].rx == s->rx)
            return false;
    return true;
}

static void complete(unsigned peer)
{
    struct slice *s = &p.slices[peer];
    const struct nm_hdr hdr = {.token = TOKEN + peer,
                               .kind = NM_DATA,
                               .version = NM_VERSION,
                               .seq = p.seq[peer]++,
                               .len = (uint16_t)(s->len - sizeof hdr)};
    memcpy(s->at, &hdr, sizeof hdr);
    memset(s->at + sizeof hdr, (int)peer, s->len - sizeof hdr);
    p.entries[p.nentries++] = (struct fi_cq_data_entry){
        .op_context = &s->rx->op,
        .flags = FI_RECV | (ends_buffer(s, s->flagged) ? FI_MULTI_RECV : 0),
        .len = s->len,
        .buf = s->at};
    s->at = NULL;
    (void)nm_poll(&p.nm.channel);
}

/* Its sender has died. The provider tells no length. */
static void fail_one(unsigned peer)
{
    struct slice *s = &p.slices[peer];
    p.error = (struct fi_cq_err_entry){.op_context = &s->rx->op,
                                       .flags = FI_RECV |
                                                (ends_buffer(s, s->flagged) ? FI_MULTI_RECV : 0),
                                       .err = FI_ECANCELED};
    p.has_error = true;
    s->at = NULL;
    (void)nm_poll(&p.nm.channel);
}

static bool is_posted(const struct nm_rx *rx)
{
    for (size_t i = p.first; i != p.end; i = (i + 1) % POSTED)
        if (p.posted[i] == rx)
            return true;
    return false;
}

/* Messages of others until the first buffer is full. */
static void fill_up(unsigned peer, const struct nm_rx *rx)
{
    while (p.posted[p.first] == rx) {
        (void)claim(peer, NM_MSG_MAX);
        complete(peer);
    }
}

/* The message that takes the last room is complete before one that began earlier. */
static void flagged_before_complete(void **state)
{
    (void)state;
    begin(FIRST_FULL, true);
    const size_t at_first = posted_now();
    struct nm_rx *rx = claim(0, 20000);
    (void)claim(1, 64);
    fill_up(2, rx);
    assert_false(is_posted(rx));
    assert_int_equal(posted_now(), at_first); /* another one in its place */
    complete(1);
    assert_false(is_posted(rx));
    complete(0);
    assert_true(is_posted(rx));
    finish();
}

/* The end is told before anything in the buffer is complete, or when a part of it is. */
static void told_before_complete(void **state)
{
    (void)state;
    for (unsigned done = 0; done < 3; done++) {
        begin(OWN_EVENT, false);
        const size_t at_first = posted_now();
        struct nm_rx *rx = claim(0, NM_MSG_MAX);
        for (unsigned i = 1; i < 3; i++)
            (void)claim(i, NM_MSG_MAX);
        for (unsigned i = 0; i < done; i++)
            complete(i);
        (void)nm_poll(&p.nm.channel);
        assert_int_equal(posted_now(), at_first);
        for (unsigned i = 3; i-- > done;) { /* the last one first */
            assert_false(is_posted(rx));
            complete(i);
        }
        assert_true(is_posted(rx));
        finish();
    }
}

/* The provider puts a message that waited into a buffer, refuses the rest of it, and tells the end
 * behind more events than one poll reads. */
static void refused_in_part(void **state)
{
    (void)state;
    begin(FIRST_FULL, false);
    struct nm_rx *rx = p.posted[p.first];
    p.refuse = IN_PART;
    fill_up(0, rx); /* it is posted again, which fails */
    for (int i = 0; i < 3; i++) {
        assert_false(is_posted(rx));
        (void)nm_poll(&p.nm.channel);
    }
    p.slices[1].at = NULL;
    assert_true(p.refuse == TAKEN && !is_posted(rx)); /* nobody knows when its room is free again */
    assert_int_equal(p.nm.nheld, 1);
    finish();
}

/* What was refused whole is tried again. */
static void refused(void **state)
{
    (void)state;
    begin(FIRST_FULL, true);
    struct nm_rx *rx = p.posted[p.first];
    p.refuse = WHOLE;
    fill_up(0, rx);
    (void)nm_poll(&p.nm.channel);
    assert_true(p.refuse == TAKEN && is_posted(rx));
    finish();
}

/* Where nothing is under way it is posted at once, and no further one is made. */
static void alone(void **state)
{
    (void)state;
    begin(FIRST_FULL, true);
    const unsigned made = p.nm.nrx;
    for (int i = 0; i < 100; i++) {
        struct nm_rx *rx = p.posted[p.first];
        fill_up(0, rx);
        assert_true(is_posted(rx));
    }
    assert_int_equal(p.nm.nrx, made);
    finish();
}

/* One sender dies in the middle while another one is in the middle, too. */
static void torn(void **state)
{
    (void)state;
    begin(FIRST_FULL, true);
    const size_t at_first = posted_now();
    struct nm_rx *rx = claim(0, 20000);
    (void)claim(1, 30000);
    fail_one(0);
    assert_int_equal(posted_now(), at_first + 1); /* the torn one is still being filled */
    fill_up(2, rx);
    assert_int_equal(posted_now(), at_first);
    p.from[0].link = &(struct nmofi_link){.lost = true};
    for (unsigned i = 2; i < PEERS; i++) { /* from all but the one in the middle */
        (void)claim(i, 64);
        complete(i);
    }
    fill_up(2, p.posted[p.first]);
    assert_false(is_posted(rx));
    complete(1);
    fill_up(2, p.posted[p.first]); /* from now on nobody can be in the middle of one in it */
    assert_true(is_posted(rx));
    p.from[0].link = NULL;
    finish();
}

/* The provider never says that a torn buffer is used up: others take its place for good. */
static void never_flagged(void **state)
{
    (void)state;
    begin(LAST_COMPLETE, false);
    const size_t at_first = posted_now();
    for (int i = 0; i < 50; i++) {
        struct nm_rx *rx = claim(0, 20000);
        p.error =
            (struct fi_cq_err_entry){.op_context = &rx->op, .flags = FI_RECV, .err = FI_ECANCELED};
        p.has_error = true;
        p.slices[0].at = NULL;
        (void)nm_poll(&p.nm.channel);
        p.first = (p.first + 1) % POSTED; /* the provider forgets it */
        p.used = 0;
        assert_int_equal(posted_now(), at_first);
    }
    finish();
}

/* Anything at all, with one message at a time of each peer. */
static void at_random(void **state)
{
    const enum flag_with flag = *(enum flag_with *)*state;
    uint64_t rng = 4711;
    begin(flag, true);
    const size_t at_first = posted_now();
    size_t messages = 0, failures = 0;
    for (int step = 0; step < 200000; step++) {
        const unsigned peer = (unsigned)(next_random(&rng) % PEERS);
        const unsigned what = (unsigned)(next_random(&rng) % 1000);
        if (!p.slices[peer].at) {
            if (what < 700) /* some begin rarely */
                (void)claim(peer,
                            nm_pad(sizeof(struct nm_hdr) + 8 +
                                   next_random(&rng) % (what < 350 ? CH3_PACKET_MAX - 8 : 256)));
        } else if (what == 0) {
            fail_one(peer);
            failures++;
        } else if (what < 300 + 100 * peer) {
            complete(peer);
            messages++;
        }
        assert_true(posted_now() + 1 >= at_first);
    }
    assert_true(messages > 50000 && failures > 50);
    assert_true(p.nm.nrx < at_first + 4 * PEERS); /* nothing is lost: torn ones come back */
    finish();
}

int main(void)
{
    static enum flag_with full = FIRST_FULL, last = LAST_COMPLETE, event = OWN_EVENT;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flagged_before_complete),
        cmocka_unit_test(told_before_complete),
        cmocka_unit_test(refused),
        cmocka_unit_test(refused_in_part),
        cmocka_unit_test(alone),
        cmocka_unit_test(torn),
        cmocka_unit_test(never_flagged),
        {"at_random: flagged when full", at_random, NULL, NULL, &full},
        {"at_random: flagged when complete", at_random, NULL, NULL, &last},
        {"at_random: by an event when full", at_random, NULL, NULL, &event},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
