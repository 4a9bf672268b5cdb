/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_bounds.c - millions of operations without a synchronization: what origin and
 * target keep for them stays within the bounds of doc/protocol.md, and all are done.
 */
#include "rma/origin/origin_impl.h"
#include "rma/origin/fetch_request.h"
#include "test/support/pkt_helper.h"

#include <malloc.h>

enum {
    PROCS = 2,
    SIZE = 1 << 20,
    PUTS = 2000000,
    GETS = 1000000,
    FETCHES = 300000,
    BIG = 20000,
    LARGE = 1000,
    MEMORY = 48 << 20
};

static unsigned char *base[PROCS];

static void check_bounds(struct win *w, size_t before)
{
    const struct origin_pair *pair = win_peek(w, 1)->pair;
    const struct mallinfo2 now = mallinfo2();
    rma_enter(w->rma);
    FABRIC_CHECK(pair->replies <= ORIGIN_PAIR_REQUESTS && pair->streams <= ORIGIN_PAIR_STREAMS);
    FABRIC_CHECK(map_count(&w->rma->requests) <= ORIGIN_REQUESTS);
    FABRIC_CHECK(pair->fetching < ORIGIN_PAIR_FETCHING + PKT_MAX);
    FABRIC_CHECK(pair->target->peer->vc.queued <= 512 * 1024);
    rma_leave(w->rma);
    FABRIC_CHECK(now.uordblks + now.hblkhd < before + MEMORY);
}

static void issue_all(struct win *w)
{
    static unsigned char in[8], big_in[LARGE * sizeof(int64_t)], large[64 * 1024];
    static int64_t many[LARGE];
    const struct mallinfo2 start = mallinfo2();
    const size_t before = start.uordblks + start.hblkhd;
    int64_t one = 1, old;
    for (int i = 0; i < PUTS; i++) {
        put(w, 1, 64 + i % 1000 * 8, &one, 8);
        if (i % 10000 == 0)
            check_bounds(w, before);
    }
    for (int i = 0; i < GETS; i++) {
        get(w, 1, 64 + i % 1000 * 8, in, 8);
        if (i % 10000 == 0)
            check_bounds(w, before);
    }
    for (int i = 0; i < FETCHES; i++) {
        fetch_add(w, 1, 0, &one, &old, 1);
        if (i % 10000 == 0)
            check_bounds(w, before);
    }
    for (int i = 0; i < BIG; i++) { /* results of 8000 bytes */
        fetch_add(w, 1, 16384, many, (int64_t *)(void *)big_in, LARGE);
        if (i % 500 == 0)
            check_bounds(w, before);
    }
    for (int i = 0; i < LARGE; i++) {
        put(w, 1, 65536, large, sizeof large);
        check_bounds(w, before);
    }
}

static void body(struct fabric_proc *p, void *arg)
{
    (void)arg;
    struct win *w = fabric_win(p, WIN_CREATE, base[p->rank], SIZE, 1);
    rest(p);
    if (p->rank == 0) {
        OK(rma_lock_all(w, RMA_NOCHECK));
        issue_all(w);
        OK(rma_unlock_all(w));
    }
    rest(p);
    int64_t sum;
    memcpy(&sum, base[1], sizeof sum);
    FABRIC_CHECK(sum == FETCHES);
    for (int i = 0; i < 1000; i++)
        FABRIC_CHECK(base[1][64 + i * 8] == 1);
    rest(p);
    fabric_win_free(w);
}

static void test_unsynchronized(void **state)
{
    static const enum conf_progress progress[] = {CONF_PROGRESS_POLL, CONF_PROGRESS_AGENT};
    (void)state;
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < PROCS; k++)
            base[k] = calloc(1, SIZE);
        fabric_watchdog(300);
        atomic_store(&pkt_arrived, 0);
        struct fabric *f = fabric_new(&(struct fabric_opts){
            .nproc = PROCS, .path = CONF_PATH_SHM_PACKETS, .progress = progress[i]});
        fabric_run(f, body, NULL);
        fabric_free(f);
        fabric_watchdog(0);
        for (int k = 0; k < PROCS; k++)
            free(base[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unsynchronized)};
    pkt_types_init();
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
