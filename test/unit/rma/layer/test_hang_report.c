/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_hang_report.c - what MPIRMA_HANG_REPORT says names the right ranks.
 *
 * Six processes, two a node: 0 and 1 are memory peers, the others are packet
 * peers. For each kind of wait some processes go into it and the others stay away
 * until the report of process 0 says what the test expects; so a report that never
 * says it ends in the watchdog. Its messages go to a pipe.
 */
#include "test/support/base_helper.h"
#include "test/support/pkt_helper.h"

#include <poll.h>

#include "rma/layer/layer.h"
#include "rma/progress/wait.h"
#include "rma/target/target.h"

enum { PROCS = 6, NODE = 2, TEXT = 65536 };

static struct log_pipe messages;
static char said[TEXT];
static size_t nsaid;

/* Processes that stay away wait here for a text in the report of process 0. */
static void until_said(const char *text)
{
    while (!strstr(said, text)) {
        FABRIC_CHECK(nsaid < TEXT - 4096);
        struct pollfd pfd = {.fd = messages.fd[0], .events = POLLIN};
        (void)poll(&pfd, 1, 50);
        ssize_t n = read(messages.fd[0], said + nsaid, TEXT - 1 - nsaid);
        nsaid += n > 0 ? (size_t)n : 0;
    }
}

static void open_log(struct fabric_proc *p)
{
    if (p->rank == 0)
        p->log.fd = messages.fd[1];
    else
        p->log.fd = -1;
}

/* Only process 5 reads, so that the others need no lock; all go on when it has seen. */
static void hold(struct fabric_proc *p, const char *const *texts)
{
    if (p->rank == 5)
        for (int i = 0; texts[i]; i++)
            until_said(texts[i]);
}

static void run_with(struct fabric_opts opts, void (*body)(struct fabric_proc *p, void *arg))
{
    fabric_watchdog(60);
    atomic_store(&pkt_arrived, 0);
    memset(said, 0, sizeof said);
    nsaid = 0;
    log_to_pipe(&messages, LOG_LEVEL_WARN);
    opts.nproc = PROCS;
    opts.hang_report = 0.02;
    struct fabric *f = fabric_new(&opts);
    for (int i = 0; i < PROCS; i++)
        open_log(&f->procs[i]);
    fabric_run(f, body, NULL);
    fabric_free(f);
    log_pipe_close(&messages);
    fabric_watchdog(0);
}

static void run(void (*body)(struct fabric_proc *p, void *arg), enum conf_progress progress,
                int per_node)
{
    run_with((struct fabric_opts){.per_node = per_node, .progress = progress}, body);
}

static struct win *make(struct fabric_proc *p)
{
    return fabric_win(p, WIN_ALLOCATE, NULL, 1 << 20, 1);
}

static void fence(struct fabric_proc *p, void *arg)
{
    static const char *const texts[] = {"waits for", "route ready > shm-packets: rank",
                                        "no fence marker of rank 3 5\n", NULL};
    struct win *w = make(p);
    (void)arg;
    if (p->rank == 3 || p->rank == 5) {
        hold(p, texts);
        if (p->rank == 3) /* behind 5, so that both are missing when it is said */
            while (!atomic_load(&pkt_arrived))
                sched_yield();
        atomic_store(&pkt_arrived, 1);
    }
    OK(rma_fence(w, RMA_NOSUCCEED));
    fabric_win_free(w);
}

static void test_fence(void **state)
{
    (void)state;
    run(fence, CONF_PROGRESS_POLL, NODE);
}

/* Where fences sum up: whose counts are missing, and then how many bytes. */
static void counts(struct fabric_proc *p, void *arg)
{
    static const char *const texts[] = {"no counts of rank 5\n", NULL};
    struct win *w = make(p);
    (void)arg;
    hold(p, texts);
    OK(rma_fence(w, RMA_NOSUCCEED));
    fabric_win_free(w);
}

static void test_counts(void **state)
{
    (void)state;
    run_with((struct fabric_opts){.per_node = NODE,
                                  .progress = CONF_PROGRESS_POLL,
                                  .fence = CONF_FENCE_COUNTS},
             counts);
}

/* 5 alone stays away from a barrier of one node. */
static void barrier(struct fabric_proc *p, void *arg)
{
    static const char *const texts[] = {"to synchronize",
                                        "route stage > ready > joint > mapped: rank 0-",
                                        "not in the barrier: rank 5\n", NULL};
    struct win *w = make(p);
    (void)arg;
    hold(p, texts);
    OK(rma_fence(w, RMA_NOSUCCEED));
    fabric_win_free(w);
}

static void test_barrier(void **state)
{
    (void)state;
    run(barrier, CONF_PROGRESS_POLL, 0);
}

static void posts(struct fabric_proc *p, void *arg)
{
    static const char *const texts[] = {"MPI_Win_post of the target (rank 1)",
                                        "no MPI_Win_post of rank 1\n",
                                        "no word of an MPI_Win_post from rank 5\n", NULL};
    static const int targets[] = {1, 2, 5}, origin = 0;
    struct win *w = make(p);
    unsigned char in[8];
    (void)arg;
    if (p->rank == 0) {
        fabric_barrier(p);
        fabric_progress(p);
        OK(rma_start(w, targets, 3, 0));
        get(w, 5, 0, in, 8);
        get(w, 1, 0, in, 8);
        OK(rma_complete(w));
    } else {
        if (p->rank == 2)
            OK(rma_post(w, &origin, 1, 0));
        fabric_barrier(p);
        hold(p, texts);
        if (p->rank == 1)
            while (!atomic_load(&pkt_arrived))
                sched_yield();
        if (p->rank == 1 || p->rank == 5)
            OK(rma_post(w, &origin, 1, 0));
        if (p->rank == 5)
            atomic_store(&pkt_arrived, 1);
        if (p->rank == 1 || p->rank == 2 || p->rank == 5)
            OK(rma_wait(w));
    }
    fabric_win_free(w);
}

static void test_posts(void **state)
{
    (void)state;
    run(posts, CONF_PROGRESS_POLL, NODE);
}

static void completes(struct fabric_proc *p, void *arg)
{
    static const char *const texts[] = {"MPI_Win_complete of the origins",
                                        "no MPI_Win_complete of rank 4-5\n", NULL};
    static const int origins[] = {1, 2, 4, 5}, target = 0;
    struct win *w = make(p);
    (void)arg;
    if (p->rank == 0) {
        OK(rma_post(w, origins, 4, 0));
        OK(rma_wait(w));
    } else if (p->rank != 3) {
        hold(p, texts);
        if (p->rank == 4)
            while (!atomic_load(&pkt_arrived))
                sched_yield();
        if (p->rank == 5)
            atomic_store(&pkt_arrived, 1);
        OK(rma_start(w, &target, 1, 0));
        OK(rma_complete(w));
    }
    fabric_win_free(w);
}

static void test_completes(void **state)
{
    (void)state;
    run(completes, CONF_PROGRESS_POLL, NODE);
}

/* 0 wants the lock of 1, which 1 holds and, by packets to 1, others want. */
static void direct_lock(struct fabric_proc *p, void *arg)
{
    static const char *const texts[] = {
        "the window's lock (rank 1)",
        "lock of rank 1: 2 held or waited for; rank 0 waits for it exclusively "
        "(ticket 1), rank 1 holds it shared (ticket 0)\n",
        NULL};
    struct win *w = make(p);
    (void)arg;
    if (p->rank == 1)
        OK(rma_lock(w, false, 1, 0));
    fabric_barrier(p);
    if (p->rank == 0) {
        OK(rma_lock(w, true, 1, 0));
        OK(rma_unlock(w, 1));
    }
    hold(p, texts);
    if (p->rank == 5)
        atomic_store(&pkt_arrived, 1);
    if (p->rank == 1) {
        while (!atomic_load(&pkt_arrived))
            sched_yield();
        OK(rma_unlock(w, 1));
    }
    fabric_win_free(w);
}

static void test_direct_lock(void **state)
{
    (void)state;
    run(direct_lock, CONF_PROGRESS_POLL, NODE);
}

/* 0 wants the lock of 1, which has all locks of its node, as 2 has by packets. */
static void lock_all(struct fabric_proc *p, void *arg)
{
    static const char *const texts[] = {
        "the end of shared locks (rank 1)", "; 1 hold it, or wait for it, without a ticket",
        "lock of this process, by packets: rank 2 holds it shared\n", NULL};
    struct win *w = make(p);
    int64_t one = 1, old;
    (void)arg;
    if (p->rank == 1)
        OK(rma_lock_all(w, 0));
    if (p->rank == 2) {
        OK(rma_lock_all(w, 0));
        fetch_add(w, 0, 0, &one, &old, 1);
        OK(rma_flush(w, 0, false));
    }
    rest(p);
    if (p->rank == 0) {
        OK(rma_lock(w, true, 1, 0));
        OK(rma_unlock(w, 1));
    }
    hold(p, texts);
    if (p->rank == 5)
        atomic_store(&pkt_arrived, UINT64_MAX);
    if (p->rank == 1 || p->rank == 2) {
        while (atomic_load(&pkt_arrived) < UINT64_MAX)
            sched_yield();
        OK(rma_unlock_all(w));
    }
    fabric_win_free(w);
}

static void test_lock_all(void **state)
{
    (void)state;
    run(lock_all, CONF_PROGRESS_AGENT, NODE);
}

/* 0 has its own lock and waits in a fence-free way for 5's; 2 and 3 ask for 0's. */
static void packet_lock(struct fabric_proc *p, void *arg)
{
    static const char *const texts[] = {
        "acknowledgements (rank 5)",
        "rank 5: 1 acknowledgements due, 1 replies due, 1 lock request not granted\n",
        "lock of this process, by packets: rank 2 holds it shared (ticket 0)",
        "rank 3 waits for it exclusively (ticket 1)", NULL};
    struct win *w = make(p);
    int64_t one = 1, old;
    (void)arg;
    if (p->rank == 2) {
        OK(rma_lock(w, false, 0, 0));
        fetch_add(w, 0, 0, &one, &old, 1);
        OK(rma_flush(w, 0, false));
    }
    if (p->rank == 4) {
        OK(rma_lock(w, true, 5, 0));
        fetch_add(w, 5, 0, &one, &old, 1);
        OK(rma_flush(w, 5, false));
    }
    rest(p);
    if (p->rank == 0) {
        OK(rma_lock(w, true, 5, 0));
        fetch_add(w, 5, 0, &one, &old, 1);
        OK(rma_unlock(w, 5));
    }
    if (p->rank == 3) {
        OK(rma_lock(w, true, 0, 0));
        fetch_add(w, 0, 0, &one, &old, 1);
        OK(rma_unlock(w, 0));
    }
    hold(p, texts);
    if (p->rank == 5)
        atomic_store(&pkt_arrived, UINT64_MAX);
    if (p->rank == 2 || p->rank == 4) {
        while (atomic_load(&pkt_arrived) < UINT64_MAX)
            sched_yield();
        OK(rma_unlock(w, p->rank == 2 ? 0 : 5));
    }
    fabric_win_free(w);
}

static void test_packet_lock(void **state)
{
    (void)state;
    run(packet_lock, CONF_PROGRESS_AGENT, NODE);
}

/* More than a ring holds, to a process that does not poll. */
static void queued(struct fabric_proc *p, void *arg)
{
    static const char *const texts[] = {"acknowledgements (rank 5)", "large operations leaving",
                                        NULL};
    static unsigned char big[1 << 20];
    struct win *w = make(p);
    (void)arg;
    if (p->rank == 0) {
        OK(rma_lock(w, false, 5, RMA_NOCHECK));
        put(w, 5, 0, big, sizeof big);
        OK(rma_unlock(w, 5));
    }
    hold(p, texts);
    fabric_win_free(w);
}

static void test_queued(void **state)
{
    (void)state;
    run(queued, CONF_PROGRESS_POLL, NODE);
}

/* To a process that seems to poll, and does not. */
static void sent_by_packet(struct fabric_proc *p, void *arg)
{
    static const char *const texts[] = {
        "acknowledgements (rank 5)", "operations sent to rank 5: 1 acknowledgements due\n", NULL};
    static int64_t cells[PROCS];
    const int64_t one = 1;
    struct win *w = fabric_win(p, WIN_CREATE, &cells[p->rank], sizeof cells[0], 1);
    (void)arg;
    if (p->rank == 5) {
        atomic_store(&p->seg->polling.polling, 1);
        atomic_store(&p->seg->polling.has_agent, 1);
    }
    fabric_barrier(p);
    if (p->rank == 0) {
        OK(rma_lock(w, false, 5, 0));
        add(w, 5, 0, &one, 1);
        OK(rma_unlock(w, 5));
    }
    hold(p, texts);
    if (p->rank == 5)
        atomic_store(&p->seg->polling.polling, 0);
    fabric_win_free(w);
    FABRIC_CHECK(p->rank != 5 || cells[5] == 1);
}

static void test_sent_by_packet(void **state)
{
    (void)state;
    run_with((struct fabric_opts){.cpus = PROCS, .progress = CONF_PROGRESS_POLL}, sent_by_packet);
}

static void window_free(struct fabric_proc *p, void *arg)
{
    static const char *const texts[] = {"all processes to free the window",
                                        "not in MPI_Win_free, or held up there: rank 5\n", NULL};
    struct win *w = make(p);
    (void)arg;
    hold(p, texts);
    fabric_win_free(w);
}

static void test_window_free(void **state)
{
    (void)state;
    run(window_free, CONF_PROGRESS_POLL, NODE);
}

/* Is it the other one that process 0 waits for? Where nothing names a rank, what is outstanding
 * decides. */
static bool awaits(struct win *w, int rank, unsigned phase)
{
    return hang_awaits(w, &(struct rma_wait){.rank = rank, .phase = phase}, win_peek(w, 1));
}

static bool awaits_any(struct win *w)
{
    return hang_awaits(w, NULL, win_peek(w, 1));
}

static void outstanding(struct fabric_proc *p, void *arg)
{
    static const int zero = 0, one = 1;
    static unsigned char in[8];
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 64, 1);
    const bool first = p->rank == 0;
    (void)arg;
    if (first) {
        FABRIC_CHECK(!awaits_any(w) && awaits(w, 1, RMA_WAIT_OTHER));
        FABRIC_CHECK(!awaits(w, -1, RMA_WAIT_OTHER) && !awaits(w, -1, RMA_WAIT_BARRIER));
        FABRIC_CHECK(awaits(w, -1, RMA_WAIT_FENCE)); /* no marker has come */
    } else {
        OK(rma_lock(w, true, 0, 0));
        put(w, 0, 0, "12345678", 8);
        OK(rma_flush(w, 0, false));
    }
    rest(p);
    if (first) { /* the other one has the lock of this process */
        FABRIC_CHECK(awaits(w, 0, RMA_WAIT_OTHER) && !awaits(w, -1, RMA_WAIT_OTHER));
        FABRIC_CHECK(!awaits_any(w) && awaits(w, -1, RMA_WAIT_FENCE));
        win_peek(w, 1)->from->marked = w->phase + 1;
        FABRIC_CHECK(!awaits(w, -1, RMA_WAIT_FENCE));
        win_peek(w, 1)->from->marked = w->phase;
    }
    rest(p);
    if (!first)
        OK(rma_unlock(w, 0));
    rest(p);
    if (first) {
        FABRIC_CHECK(!awaits(w, 0, RMA_WAIT_OTHER));
        OK(rma_post(w, &one, 1, 0));
        FABRIC_CHECK(awaits_any(w));
    } else {
        OK(rma_start(w, &zero, 1, 0));
        OK(rma_complete(w));
    }
    rest(p);
    if (first) {
        while (awaits_any(w)) /* until its last packet is taken */
            fabric_progress(p);
        OK(rma_wait(w));
        OK(rma_lock(w, false, 1, RMA_NOCHECK));
        get(w, 1, 0, in, 8);
        FABRIC_CHECK(awaits_any(w)); /* an answer */
        OK(rma_unlock(w, 1));
        FABRIC_CHECK(!awaits_any(w));
    }
    rest(p);
    fabric_win_free(w);
}

static void test_awaits(void **state)
{
    (void)state;
    fabric_watchdog(60);
    atomic_store(&pkt_arrived, 0);
    struct fabric *f = fabric_new(&(struct fabric_opts){
        .nproc = 2, .path = CONF_PATH_SHM_PACKETS, .progress = CONF_PROGRESS_POLL});
    fabric_run(f, outstanding, NULL);
    fabric_free(f);
    fabric_watchdog(0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fence),       cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_posts),       cmocka_unit_test(test_completes),
        cmocka_unit_test(test_direct_lock), cmocka_unit_test(test_packet_lock),
        cmocka_unit_test(test_queued),      cmocka_unit_test(test_sent_by_packet),
        cmocka_unit_test(test_window_free), cmocka_unit_test(test_counts),
        cmocka_unit_test(test_lock_all),    cmocka_unit_test(test_awaits),
    };
    pkt_types_init();
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("hang_report", tests, NULL, NULL);
}
