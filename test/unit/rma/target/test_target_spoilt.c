/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_target_spoilt.c - packets of real epochs that cannot be read to their end, or are refused.
 *
 * They are spoilt on their way: the origin's open packet is changed before it leaves, or the
 * target's window says that it has no locks. Nobody hangs, requests end, the origin's
 * synchronization reports it once, and the window works afterwards.
 */
#include "test/support/spoilt_ring.h"
#include "rma/origin/origin_impl.h"

enum { SPOILT = 77 };

/* The last record of the open packet cannot be read by the target. */
static void spoil(struct win *w, int target, size_t record_len)
{
    struct origin_pair *pair = win_peek(w, target)->pair;
    struct pkt_op *op = (struct pkt_op *)(void *)(pair->buf + pair->used - record_len);
    FABRIC_CHECK(op->kind > PKT_OP_NONE && op->kind < PKT_OP_KIND_LAST);
    op->kind = SPOILT;
}

enum {
    GET_LEN = sizeof(struct pkt_op) + sizeof(struct pkt_seg),
    PUT_LEN = sizeof(struct pkt_plain) + 8
};

static void spoilt_fence(struct fabric_proc *p, void *arg)
{
    struct win *w = win[p->rank];
    unsigned char in[8];
    int err = MRMA_SUCCESS;
    (void)arg;
    OK(rma_fence(w, 0));
    if (p->rank == 0) {
        put(w, 1, 16, "abcdefgh", 8);
        get(w, 1, 0, in, 8);
        spoil(w, 1, GET_LEN);
        put(w, 1, 24, "12345678", 8);
    }
    err = rma_fence(w, 0);
    FABRIC_CHECK(err == (p->rank ? MRMA_SUCCESS : MRMA_ERR_INTERN));
    FABRIC_CHECK(p->rank != 1 || memcmp(area[1] + 16, "abcdefgh\0\0\0\0\0\0\0\0", 16) == 0);
    OK(rma_fence(w, RMA_NOSUCCEED));
}

static void spoilt_pscw(struct fabric_proc *p, void *arg)
{
    static const int zero = 0, one = 1;
    struct win *w = win[p->rank];
    unsigned char in[8];
    (void)arg;
    if (p->rank == 0) {
        OK(rma_start(w, &one, 1, 0));
        get(w, 1, 0, in, 8);
        spoil(w, 1, GET_LEN);
        FABRIC_CHECK(rma_complete(w) == MRMA_ERR_INTERN);
    } else if (p->rank == 1) {
        OK(rma_post(w, &zero, 1, 0));
        OK(rma_wait(w));
    }
}

static void spoilt_lock(struct fabric_proc *p, void *arg)
{
    struct win *w = win[p->rank];
    unsigned char in[8];
    (void)arg;
    for (int flush = 0; p->rank == 0 && flush < 2; flush++) {
        OK(rma_lock(w, true, 1, 0));
        put(w, 1, 16, "abcdefgh", 8);
        get(w, 1, 0, in, 8);
        spoil(w, 1, GET_LEN);
        if (flush)
            FABRIC_CHECK(rma_flush(w, 1, false) == MRMA_ERR_INTERN);
        FABRIC_CHECK(rma_unlock(w, 1) == (flush ? MRMA_SUCCESS : MRMA_ERR_INTERN));
    }
    rest(p);
}

/* The target knows nothing of locks; the whole epoch is refused, in one packet, in
 * several, and with an R-operation. */
static void refused_lock(struct fabric_proc *p, void *arg)
{
    struct win *w = win[p->rank];
    static unsigned char big[100000];
    unsigned char in[8];
    struct rma_req req;
    struct rma_op op = byte_op(NULL, in, 1, 0, 8);
    (void)arg;
    if (p->rank == 1)
        w->locks_refused = true;
    rest(p);
    for (int kind = 0; p->rank == 0 && kind < 4; kind++) {
        OK(rma_lock(w, true, 1, 0));
        get(w, 1, 0, in, 8);
        if (kind == 1)
            get(w, 1, 8, in, 8);
        for (int i = 0; kind == 2 && i < 100; i++)
            put(w, 1, 0, big, SIZE);
        op.req = &req;
        rma_req_init(&req);
        if (kind == 3) {
            OK(rma_get(w, &op));
            while (!rma_req_done(&req))
                fabric_progress(p);
            FABRIC_CHECK(atomic_load(&req.err) == MRMA_ERR_RMA_SYNC);
        }
        FABRIC_CHECK(rma_unlock(w, 1) == MRMA_ERR_RMA_SYNC);
    }
    rest(p);
    w->locks_refused = false;
}

/* The target refuses after the origin's last synchronization: MPI_Win_free tells. */
static void late_error(struct fabric_proc *p, void *arg)
{
    static const int zero = 0, one = 1;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, SIZE, 1);
    (void)arg;
    if (p->rank == 1)
        OK(rma_post(w, &zero, 1, 0));
    if (p->rank == 0) {
        OK(rma_start(w, &one, 1, 0));
        put(w, 1, 16, "abcdefgh", 8);
        spoil(w, 1, PUT_LEN);
        OK(rma_complete(w));
    }
    fabric_barrier(p);
    if (p->rank == 1)
        OK(rma_wait(w));
    OK(win_free_begin(w));
    FABRIC_CHECK(win_take_error(w) == (p->rank ? MRMA_SUCCESS : MRMA_ERR_INTERN));
    win_free_end(w);
}

/* What is queued to a process that does not poll holds up no window but its own. */
static void other_window(struct fabric_proc *p, void *arg)
{
    static unsigned char big[4 * RING_LEAST];
    static const int zero = 0, two = 2;
    struct win *w = win[p->rank], *full = fabric_win(p, WIN_ALLOCATE, NULL, sizeof big, 1);
    (void)arg;
    rest(p);
    if (p->rank == 0) {
        OK(rma_lock(full, false, 1, RMA_NOCHECK));
        put(full, 1, 0, big, sizeof big);
        FABRIC_CHECK(ch3_vc_busy(&p->peers[1].peer.vc));
        OK(rma_start(w, &two, 1, 0));
        put(w, 2, 16, "abcdefgh", 8);
        OK(rma_complete(w));
        FABRIC_CHECK(ch3_vc_busy(&p->peers[1].peer.vc));
    } else if (p->rank == 2) {
        OK(rma_post(w, &zero, 1, 0));
        OK(rma_wait(w));
    }
    fabric_barrier(p); /* process 1 has not polled until now */
    if (p->rank == 0)
        OK(rma_unlock(full, 1));
    fabric_win_free(full);
}

/* The test of a body that all processes run. */
#define BODY_TEST(name)                   \
    static void test_##name(void **state) \
    {                                     \
        (void)state;                      \
        fabric_run(fabric, name, NULL);   \
    }
BODY_TEST(spoilt_fence)
BODY_TEST(spoilt_pscw)
BODY_TEST(spoilt_lock)
BODY_TEST(refused_lock)
BODY_TEST(late_error)
BODY_TEST(other_window)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_spoilt_fence), TEST(test_spoilt_pscw), TEST(test_spoilt_lock),
        TEST(test_refused_lock), TEST(test_late_error),  TEST(test_other_window),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    pkt_types_init();
    return cmocka_run_group_tests_name("target, spoilt packets", tests, NULL, NULL);
}
