/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_wait.c - how a wait sleeps on a channel's descriptor, over a channel whose descriptor the
 * test makes readable and whose polls find nothing: as with a put that the network's provider
 * receives by itself.
 */
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/err.h"
#include "test/support/base_helper.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "test/support/rma_helper.h"
#include "test/sim/fabric.h"

enum { SLEEPS = 20, AWAKE_NS = 200000 }; /* AWAKE_NS: wait.c, an oversubscribed node */

struct bench {
    struct hand_shared shared;
    struct hand *h;
    struct doorbell bell;
    struct ch3_channel network;
    int fd;
};

static struct bench *bench_of(struct ch3_channel *ch)
{
    return (struct bench *)(void *)((char *)ch - offsetof(struct bench, network));
}

static unsigned find_nothing(struct ch3_channel *ch)
{
    (void)ch;
    return 0;
}

static bool nothing_pending(struct ch3_channel *ch)
{
    (void)ch;
    return false;
}

static int descriptor(struct ch3_channel *ch)
{
    return bench_of(ch)->fd;
}

static bool may_sleep(struct ch3_channel *ch)
{
    (void)ch;
    return true;
}

static const struct ch3_channel_ops network_ops = {.name = "silent",
                                                   .poll = find_nothing,
                                                   .pending = nothing_pending,
                                                   .wait_fd = descriptor,
                                                   .wait_begin = may_sleep};

static bool has_slept(void *arg)
{
    return atomic_load(&((struct bench *)arg)->h->rma.stats.sleeps) >= SLEEPS;
}

/* How long a wait takes in which the thread sleeps SLEEPS times on a readable descriptor. */
static uint64_t nanoseconds_of_sleeps(void)
{
    struct bench b = {.shared = hand_share(1, false),
                      .network = {.ops = &network_ops, .caps = CH3_CAP_WAIT},
                      .fd = eventfd(1, EFD_CLOEXEC)};
    struct log quiet;
    log_init(&quiet, LOG_LEVEL_ERROR, -1, "test");
    assert_true(b.fd >= 0);
    assert_int_equal(doorbell_open(&quiet, &b.bell), MRMA_SUCCESS);
    b.h = hand_new(&b.shared, 0);
    b.h->env.bell = &b.bell;
    b.h->env.polling->threads.bell = b.bell.id;
    ch3_add_channel(&b.h->ch3, &b.network);
    rma_use_packets(&b.h->rma, true);
    const uint64_t start = clock_monotonic_ns();
    assert_int_equal(
        rma_wait_until(
            &b.h->win,
            &(struct rma_wait){.done = has_slept, .arg = &b, .what = "sleeps", .rank = -1}),
        MRMA_SUCCESS);
    const uint64_t ns = clock_monotonic_ns() - start;
    hand_free(b.h);
    hand_unshare(&b.shared);
    doorbell_close(&b.bell);
    close(b.fd);
    return ns;
}

/* Each sleep ends at once. A machine with other work makes the time longer only. */
static void a_readable_descriptor_keeps_awake(void **state)
{
    (void)state;
    assert_true(nanoseconds_of_sleeps() >= (uint64_t)SLEEPS * AWAKE_NS);
}

static int tests(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test(a_readable_descriptor_keeps_awake),
    };
    fabric_watchdog(60);
    return cmocka_run_group_tests_name("wait", list, NULL, NULL);
}

int main(void)
{
    return run_with_skips(tests);
}
