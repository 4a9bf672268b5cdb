/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_region.c - attached memory of dynamic windows: what covers what, what may
 * be attached, and readers that never see a half-made change.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "test/support/base_helper.h"
#include "rma/win/region.h"
#include "rma/win/region_tree.h"
#include "test/support/rma_helper.h"
#include "test/sim/fabric.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { CHANGES = 4000, MODEL_STEPS = 4000, MANY = 6000 };
#else
enum { CHANGES = 30000, MODEL_STEPS = 20000, MANY = 20000 };
#endif

struct sides {
    struct hand_shared shared;
    struct hand *owner, *reader;
};

static int setup(void **state)
{
    struct sides *s = calloc(1, sizeof *s);
    s->shared = hand_share(2, true);
    s->owner = hand_new(&s->shared, 0);
    s->reader = hand_new(&s->shared, 1);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct sides *s = *state;
    hand_free(s->owner);
    hand_free(s->reader);
    hand_unshare(&s->shared);
    free(s);
    return 0;
}

static int attach(struct sides *s, uint64_t addr, uint64_t len)
{
    return win_attach(&s->owner->win, (void *)(uintptr_t)addr, len);
}

static int detach(struct sides *s, uint64_t addr)
{
    return win_detach(&s->owner->win, (void *)(uintptr_t)addr);
}

/* The owner's and the peer's view agree always when nobody changes anything. */
static bool covered(struct sides *s, uint64_t addr, uint64_t len)
{
    const bool own = region_covers(s->owner->win.regions, addr, len);
    assert_int_equal(region_covers(s->reader->targets[0].regions, addr, len), own);
    return own;
}

static void test_one(void **state)
{
    struct sides *s = *state;
    assert_false(covered(s, 0x1000, 1));
    assert_int_equal(attach(s, 0x1000, 0x1000), MRMA_SUCCESS);
    assert_true(covered(s, 0x1000, 0x1000));
    assert_true(covered(s, 0x1fff, 1));
    assert_false(covered(s, 0xfff, 1));
    assert_false(covered(s, 0xfff, 2));
    assert_false(covered(s, 0x2000, 1));
    assert_false(covered(s, 0x1fff, 2));
    assert_false(covered(s, 0x1000, UINT64_MAX));
    assert_false(covered(s, 0x1800, UINT64_MAX - 0x1800));
    assert_int_equal(detach(s, 0x1000), MRMA_SUCCESS);
    assert_false(covered(s, 0x1000, 1));
}

static void test_touching(void **state)
{
    struct sides *s = *state;
    assert_int_equal(attach(s, 0x3000, 0x1000), MRMA_SUCCESS);
    assert_int_equal(attach(s, 0x1000, 0x1000), MRMA_SUCCESS);
    assert_false(covered(s, 0x1800, 0x2000)); /* a hole */
    assert_int_equal(attach(s, 0x2000, 0x1000), MRMA_SUCCESS);
    assert_true(covered(s, 0x1000, 0x3000));
    assert_true(covered(s, 0x1fff, 0x1002));
    assert_false(covered(s, 0x1000, 0x3001));
    assert_int_equal(detach(s, 0x2000), MRMA_SUCCESS);
    assert_false(covered(s, 0x1000, 0x1001));
    assert_true(covered(s, 0x3000, 0x1000));
}

static void test_refused(void **state)
{
    struct sides *s = *state;
    assert_int_equal(attach(s, 0x2000, 0x1000), MRMA_SUCCESS);
    assert_int_equal(attach(s, 0x2000, 0x1000), MRMA_ERR_RMA_ATTACH);
    assert_int_equal(attach(s, 0x1fff, 2), MRMA_ERR_RMA_ATTACH);
    assert_int_equal(attach(s, 0x2fff, 1), MRMA_ERR_RMA_ATTACH);
    assert_int_equal(attach(s, 0x1000, 0x3000), MRMA_ERR_RMA_ATTACH);
    assert_int_equal(attach(s, 0x1000, 0x1000), MRMA_SUCCESS); /* touching is not overlapping */
    assert_int_equal(attach(s, 0x3000, 1), MRMA_SUCCESS);
    assert_int_equal(attach(s, UINT64_MAX - 15, 32), MRMA_ERR_SIZE);
    assert_int_equal(detach(s, 0x2001), MRMA_ERR_RMA_ATTACH);
    assert_int_equal(detach(s, 0x7000), MRMA_ERR_RMA_ATTACH);
    assert_int_equal(detach(s, 0x2000), MRMA_SUCCESS);
    assert_int_equal(detach(s, 0x2000), MRMA_ERR_RMA_ATTACH);
    s->owner->win.dynamic = false;
    assert_int_equal(attach(s, 0xa000, 1), MRMA_ERR_RMA_FLAVOR);
    assert_int_equal(detach(s, 0x1000), MRMA_ERR_RMA_FLAVOR);
}

/* In an order without order: each is at its place once, since 2111 has no divisor of MANY. */
static uint64_t scattered(uint64_t i)
{
    return 0x10000 + 64 * (i * 2111 % MANY);
}

static void test_many(void **state)
{
    struct sides *s = *state;
    for (uint64_t i = 0; i < MANY; i++) {
        assert_int_equal(attach(s, scattered(i), 64), MRMA_SUCCESS);
        if (i % 1000 == 0) /* the reader finds what has come since it looked last */
            assert_true(covered(s, scattered(i), 64));
    }
    assert_int_equal(attach(s, scattered(7) + 63, 2), MRMA_ERR_RMA_ATTACH);
    assert_true(covered(s, 0x10000, 64 * (uint64_t)MANY));
    assert_false(covered(s, 0x10000, 64 * (uint64_t)MANY + 1));
    for (uint64_t i = 0; i < MANY; i++)
        assert_int_equal(detach(s, 0x10000 + 64 * i), MRMA_SUCCESS);
    assert_false(covered(s, 0x10000, 1));
    const size_t used = atomic_load(&s->shared.heap->used);
    const struct region_tree *tree = (const void *)s->owner->win.regions;
    uint32_t unused;
    for (uint64_t i = 0; i < MANY; i++) { /* in order, and the nodes are used again */
        unused = tree->nfree;
        assert_int_equal(attach(s, 0x10000 + 64 * i, 64), MRMA_SUCCESS);
        assert_true(unused < 8 || tree->nfree + 4 >= unused); /* few nodes are made, at any depth */
        if (i % 2)
            assert_int_equal(detach(s, 0x10000 + 64 * (i - 1)), MRMA_SUCCESS);
    }
    assert_int_equal(atomic_load(&s->shared.heap->used), used);
    for (uint64_t i = 0; i < MANY; i += 997)
        assert_int_equal(covered(s, 0x10000 + 64 * i, 64), i % 2 == 1);
}

/* Without memory for more an attach is refused, and changes nothing; a detach needs none. */
static void test_no_memory(void **state)
{
    struct sides *s = *state;
    uint64_t n = 0;
    s->shared.heap->limit = 0;
    while (attach(s, 0x10000 + 64 * n, 32) == MRMA_SUCCESS)
        n++;
    assert_true(n > 8 && n < REGION_FIRST);
    assert_int_equal(attach(s, 0x100, 32), MRMA_ERR_NO_MEM);
    for (uint64_t i = 0; i < n; i++)
        assert_true(covered(s, 0x10000 + 64 * i, 32));
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(detach(s, 0x10000 + 64 * (n - 1 - i)), MRMA_SUCCESS);
    assert_false(covered(s, 0x10000, 1));
    s->shared.heap->limit = HAND_HEAP;
    for (uint64_t i = 0; i < 2 * REGION_FIRST; i++)
        assert_int_equal(attach(s, 0x10000 + 64 * i, 32), MRMA_SUCCESS);
}

/* Regions without a byte: any number at any place, taken out as often, the last one first. */
static void test_empty(void **state)
{
    struct sides *s = *state;
    assert_int_equal(detach(s, 0), MRMA_ERR_RMA_ATTACH);
    for (int i = 0; i < 3; i++)
        assert_int_equal(attach(s, 0, 0), MRMA_SUCCESS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(detach(s, 0), MRMA_SUCCESS);
    assert_int_equal(detach(s, 0), MRMA_ERR_RMA_ATTACH);

    assert_int_equal(attach(s, 0x2000, 0), MRMA_SUCCESS); /* before the one with bytes */
    assert_int_equal(attach(s, 0x2000, 0x1000), MRMA_SUCCESS);
    assert_int_equal(attach(s, 0x2000, 0), MRMA_SUCCESS);
    assert_int_equal(attach(s, 0x2800, 0), MRMA_SUCCESS); /* amid it */
    assert_int_equal(attach(s, 0x2800, 1), MRMA_ERR_RMA_ATTACH);
    assert_int_equal(detach(s, 0x2000), MRMA_SUCCESS);
    assert_true(covered(s, 0x2000, 0x1000));
    assert_int_equal(detach(s, 0x2000), MRMA_SUCCESS);
    assert_false(covered(s, 0x2000, 1));
    assert_int_equal(detach(s, 0x2000), MRMA_SUCCESS);
    assert_int_equal(detach(s, 0x2000), MRMA_ERR_RMA_ATTACH);
    assert_int_equal(detach(s, 0x2800), MRMA_SUCCESS);
    assert_int_equal(detach(s, 0x2800), MRMA_ERR_RMA_ATTACH);
    assert_int_equal(attach(s, 0x2800, 0), MRMA_SUCCESS); /* and one that stays to the end */
}

/* Against a map of single bytes. */
static void test_model(void **state)
{
    struct sides *s = *state;
    enum { SPACE = 512, BASE = 0x4000 };
    unsigned char byte[SPACE] = {0}; /* attached? */
    uint16_t length[SPACE] = {0};    /* of the region that starts here */
    uint64_t seed = 3;
    unsigned attached = 0, refused = 0, detached = 0;
    for (int i = 0; i < MODEL_STEPS; i++) {
        const unsigned at = next_random(&seed) % SPACE, most = SPACE - at;
        const unsigned len = 1 + next_random(&seed) % (most < 40 ? most : 40);
        bool any = false, all = true;
        for (unsigned k = at; k < at + len; k++) {
            any |= byte[k];
            all &= byte[k];
        }
        assert_int_equal(covered(s, BASE + at, len), all);
        if (next_random(&seed) % 2) {
            const int err = attach(s, BASE + at, len);
            assert_int_equal(err, any ? MRMA_ERR_RMA_ATTACH : MRMA_SUCCESS);
            attached += !err;
            refused += err != 0;
            if (!err) {
                memset(byte + at, 1, len);
                length[at] = (uint16_t)len;
            }
        } else {
            assert_int_equal(detach(s, BASE + at), length[at] ? MRMA_SUCCESS : MRMA_ERR_RMA_ATTACH);
            detached += length[at] != 0;
            memset(byte + at, 0, length[at]);
            length[at] = 0;
        }
    }
    assert_true(attached > MODEL_STEPS / 50 && refused > MODEL_STEPS / 50 &&
                detached > MODEL_STEPS / 50);
}

/* ---- while others change it ---- */

enum { LOW = 0x1000, MID = 0x2000, HIGH = 0x100000, HIGHER = 0x200000, PAGE = 0x1000 };

struct race {
    struct sides *s;
    _Atomic bool stop;
    _Atomic uint64_t looks, seen_low, seen_not;
};

/* HIGH is attached all the time, whatever comes before it in the table; LOW and
 * MID touch but are never attached together. */
static void *watch(void *arg)
{
    struct race *r = arg;
    struct hand *h = hand_new(&r->s->shared, 1);
    struct rma_target *t = &h->targets[0];
    while (!atomic_load_explicit(&r->stop, memory_order_relaxed)) {
        FABRIC_CHECK(region_covers(t->regions, HIGH, 3 * PAGE));
        FABRIC_CHECK(!region_covers(t->regions, LOW + PAGE / 2, PAGE));
        FABRIC_CHECK(!region_covers(t->regions, HIGH - 1, 2));
        const bool low = region_covers(t->regions, LOW, PAGE);
        atomic_fetch_add_explicit(low ? &r->seen_low : &r->seen_not, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&r->looks, 1, memory_order_relaxed);
    }
    hand_free(h);
    return NULL;
}

static void test_never_torn(void **state)
{
    struct race r = {.s = *state};
    pthread_t threads[2];
    assert_int_equal(attach(r.s, HIGH + PAGE, 2 * PAGE), MRMA_SUCCESS);
    assert_int_equal(attach(r.s, HIGH, PAGE), MRMA_SUCCESS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, watch, &r), 0);
    for (int i = 0; i < CHANGES || atomic_load(&r.looks) < 1000 || !atomic_load(&r.seen_low) ||
                    !atomic_load(&r.seen_not);
         i++) {
        assert_int_equal(attach(r.s, LOW, PAGE), MRMA_SUCCESS);
        if (i % 64 == 0)
            sched_yield();
        assert_int_equal(detach(r.s, LOW), MRMA_SUCCESS);
        assert_int_equal(attach(r.s, MID, PAGE), MRMA_SUCCESS);
        if (i % 64 == 32)
            sched_yield();
        assert_int_equal(detach(r.s, MID), MRMA_SUCCESS);
        if (i % 8 == 0 && i / 8 < MANY) /* the tree grows, and with it what is mapped */
            assert_int_equal(attach(r.s, HIGHER + 2 * (uint64_t)(i / 8) * PAGE, PAGE),
                             MRMA_SUCCESS);
    }
    atomic_store(&r.stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* ---- the owner is killed at any moment ---- */

enum { KILLS = 20, ATTACHED = 1000 };

/* Attaches and detaches amid all others, which takes nearly all of its time. */
static _Noreturn void change_for_ever(const struct hand_shared *shared, int ready)
{
    struct hand *h = hand_new(shared, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (uint64_t i = 0; i < ATTACHED; i++)
        FABRIC_CHECK(win_attach(&h->win, (void *)(uintptr_t)(HIGH + 2 * i * PAGE), PAGE) ==
                     MRMA_SUCCESS);
    uint64_t seed = (uint64_t)getpid();
    for (bool told = false;; told = true) {
        const uint64_t gap = HIGH + (2 * (next_random(&seed) % ATTACHED) + 1) * PAGE;
        FABRIC_CHECK(win_attach(&h->win, (void *)(uintptr_t)gap, PAGE) == MRMA_SUCCESS);
        FABRIC_CHECK(win_detach(&h->win, (void *)(uintptr_t)gap) == MRMA_SUCCESS);
        FABRIC_CHECK(told || write(ready, "", 1) == 1);
    }
}

/* Readers find all that was attached, and at most one region more, and do not wait. */
static void test_owner_dies(void **state)
{
    struct sides *s = *state;
    for (unsigned k = 0; k < KILLS; k++) {
        int ready[2];
        char byte;
        assert_int_equal(pipe(ready), 0);
        const pid_t pid = fork();
        if (pid == 0)
            change_for_ever(&s->shared, ready[1]);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        usleep(k * 37 % 500);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        close(ready[0]);
        close(ready[1]);
        struct hand *reader = hand_new(&s->shared, 1);
        unsigned gaps = 0;
        for (uint64_t i = 0; i < ATTACHED; i++) {
            const uint64_t at = HIGH + 2 * i * PAGE;
            assert_true(region_covers(reader->targets[0].regions, at, PAGE));
            gaps += region_covers(reader->targets[0].regions, at + PAGE, PAGE);
        }
        assert_true(gaps <= 1);
        hand_free(reader);
    }
}

#define REGION_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REGION_TEST(test_one),   REGION_TEST(test_touching),   REGION_TEST(test_refused),
        REGION_TEST(test_many),  REGION_TEST(test_no_memory),  REGION_TEST(test_empty),
        REGION_TEST(test_model), REGION_TEST(test_never_torn), REGION_TEST(test_owner_dies),
    };
    fabric_watchdog(120);
    return cmocka_run_group_tests_name("region", tests, NULL, NULL);
}
