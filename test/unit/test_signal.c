/*
 * test_signal.c - slots and the dissemination barrier, across real processes.
 *
 * What a process stored before a signal must be seen by who has waited for it:
 * every check reads plain memory that only the signal orders. Counters start just
 * below their wrap.
 */
#include <sys/mman.h>
#include <time.h>

#include "base/err.h"
#include "base_helper.h"
#include "rma/signal.h"
#include "rma/wait.h"
#include "rma_helper.h"
#include "../sim/fabric.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { ROUNDS = 300 };
#else
enum { ROUNDS = 3000 };
#endif
static const uint32_t nearly = UINT32_MAX - ROUNDS / 2;

/* What the processes of a test share beside the windows. */
struct board {
    struct hand_shared shared;
    uint64_t *cells; /* plain */
    int slow;        /* a rank that dawdles, so that the others sleep; -1: nobody */
    bool crowded;    /* the barrier of a node with more processes than processors */
};

static void dawdle(void)
{
    nanosleep(&(struct timespec){0, 300000}, NULL);
}

static void run_kind(bool crowded, int n, int slow, void (*body)(struct hand *h, struct board *b))
{
    pid_t pids[HAND_MAX];
    struct board b = {.shared = hand_share(n, false), .slow = slow, .crowded = crowded};
    b.cells = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(b.cells, MAP_FAILED);
    for (int i = 0; i < n; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            fabric_watchdog(60);
            struct hand *h = hand_new(&b.shared, i);
            h->win.crowded = crowded;
            body(h, &b);
            hand_free(h);
            _exit(0);
        }
    }
    int failed = 0;
    for (int i = 0; i < n; i++)
        failed |= wait_child(pids[i]);
    munmap(b.cells, 4096);
    hand_unshare(&b.shared);
    assert_int_equal(failed, 0);
}

static void run_processes(int n, int slow, void (*body)(struct hand *h, struct board *b))
{
    run_kind(false, n, slow, body);
    run_kind(true, n, slow, body);
}

/* ---- barrier ---- */

static void barrier_body(struct hand *h, struct board *b)
{
    const int n = h->win.nproc, me = h->win.rank;
    const int rounds = b->slow >= 0 ? ROUNDS / 10 : ROUNDS;
    for (int i = 1; i <= rounds; i++) {
        if (me == b->slow)
            dawdle();
        b->cells[me * 8] = (uint64_t)i;
        FABRIC_CHECK(signal_barrier(&h->win) == MRMA_SUCCESS);
        for (int k = 0; k < n; k++)
            FABRIC_CHECK(b->cells[k * 8] == (uint64_t)i);
        FABRIC_CHECK(signal_barrier(&h->win) == MRMA_SUCCESS);
    }
}

static void test_barrier(void **state)
{
    (void)state;
    for (int n = 1; n <= HAND_MAX; n++)
        run_processes(n, -1, barrier_body);
}

static void test_barrier_sleepers(void **state)
{
    (void)state;
    for (int n = 2; n <= 5; n++)
        run_processes(n, n - 1, barrier_body);
}

static void set_barrier_count(struct hand *h)
{
    h->win.barrier_seq = nearly;
    if (h->win.rank == 0) {
        atomic_store(&h->win.lead->arrived, nearly * (uint32_t)h->win.nproc);
        atomic_store(&h->win.lead->released, nearly);
    }
    for (int i = 0; i < h->win.nproc; i++)
        atomic_store(&h->win.ctl->slots[i].barrier, nearly);
}

/* All have set their own slots before any signals. */
static void wait_for_all(struct board *b, int n)
{
    _Atomic uint64_t *arrived = (_Atomic uint64_t *)(void *)&b->cells[500];
    atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < (uint64_t)n)
        dawdle();
}

static void barrier_wrap_body(struct hand *h, struct board *b)
{
    set_barrier_count(h);
    wait_for_all(b, h->win.nproc);
    barrier_body(h, b);
    FABRIC_CHECK(h->win.barrier_seq < nearly); /* it did wrap */
}

static void test_barrier_wrap(void **state)
{
    (void)state;
    for (int n = 2; n <= 5; n++)
        run_processes(n, -1, barrier_wrap_body);
}

/* ---- posts and completes: a ring of producers and consumers ---- */

struct due {
    _Atomic uint32_t *word;
    uint32_t seq;
};

static bool reached(void *arg)
{
    struct due *d = arg;
    return seq_reached(atomic_load_explicit(d->word, memory_order_acquire), d->seq);
}

static void await(struct hand *h, _Atomic uint32_t *word, uint32_t seq)
{
    struct due d = {word, seq};
    FABRIC_CHECK(
        rma_wait_until(&h->win, &(struct rma_wait){.done = reached, .arg = &d, .what = "a signal"}) ==
        MRMA_SUCCESS);
}

/* Each process lets its left neighbour write its cell (post), who says when it is
 * done (complete). */
static void post_complete_body(struct hand *h, struct board *b)
{
    const int n = h->win.nproc, me = h->win.rank, right = (me + 1) % n, left = (me + n - 1) % n;
    struct rma_target *to_left = &h->targets[left], *to_right = &h->targets[right];
    to_left->posts_sent = to_right->completes_sent = nearly;
    atomic_store(&to_right->in->posts, nearly);
    atomic_store(&to_left->in->completes, nearly);
    wait_for_all(b, n);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        b->cells[me * 8] = 0;
        if (me == b->slow && i % 16 == 0)
            dawdle();
        signal_post(to_left);
        signal_wake(&h->win, &left, 1);
        await(h, &to_right->in->posts, nearly + i);
        FABRIC_CHECK(b->cells[right * 8] == 0);
        b->cells[right * 8] = i;
        signal_complete(to_right);
        signal_wake(&h->win, &right, 1);
        await(h, &to_left->in->completes, nearly + i);
        FABRIC_CHECK(b->cells[me * 8] == i);
    }
}

static void test_post_complete(void **state)
{
    (void)state;
    run_processes(2, -1, post_complete_body);
    run_processes(4, -1, post_complete_body);
    run_processes(4, 2, post_complete_body);
}

/* ---- one wake for many ---- */

static void wake_many_body(struct hand *h, struct board *b)
{
    const int n = h->win.nproc, me = h->win.rank;
    int others[HAND_MAX], count = 0;
    for (int i = 1; i < n; i++)
        others[count++] = i;
    for (uint32_t i = 1; i <= ROUNDS / 10; i++) {
        if (me == 0) {
            if (i % 4 == 0)
                dawdle(); /* let them fall asleep */
            b->cells[0] = i;
            for (int k = 0; k < count; k++)
                signal_post(&h->targets[others[k]]);
            signal_wake(&h->win, others, count);
        } else {
            await(h, &h->targets[0].in->posts, i);
            FABRIC_CHECK(b->cells[0] == i);
        }
        FABRIC_CHECK(signal_barrier(&h->win) == MRMA_SUCCESS);
    }
}

static void test_wake_many(void **state)
{
    (void)state;
    run_processes(5, -1, wake_many_body);
}

/* ---- a peer that has died does not leave the others waiting ---- */

static void death_body(struct hand *h, struct board *b)
{
    (void)b;
    if (h->win.rank == 1) {
        atomic_store(&h->shared.procs[1].dead, true);
        return;
    }
    FABRIC_CHECK(signal_barrier(&h->win) == MRMA_ERR_PROC_FAILED);
}

static void test_dead_peer(void **state)
{
    (void)state;
    run_processes(2, -1, death_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barrier),      cmocka_unit_test(test_barrier_sleepers),
        cmocka_unit_test(test_barrier_wrap), cmocka_unit_test(test_post_complete),
        cmocka_unit_test(test_wake_many),    cmocka_unit_test(test_dead_peer),
    };
    fabric_watchdog(200);
    return cmocka_run_group_tests_name("signal", tests, NULL, NULL);
}
