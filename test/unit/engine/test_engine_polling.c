/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_engine_polling.c - whether the engine of another process polls, and which packets wake its
 * agent.
 *
 * Both engines are in this process (engine_pair.h), the second with an agent.
 */
#include "test/support/base_helper.h"

#include <time.h>

#include "base/err.h"
#include "test/support/engine_pair.h"
#include "rma/progress/progress.h"

static bool is_polled(const struct pair *p)
{
    return polling_is_polled(p->peer->polling, &p->peer->polls, p->from->rma.clock);
}

/* Both words must be set. */
static void attends_while_it_polls_with_an_agent(void **state)
{
    (void)state;
    struct pair p = pair_new();
    assert_false(is_polled(&p));
    rma_polling_begin(&p.to->rma);
    assert_false(is_polled(&p)); /* nobody would serve when it stops */
    assert_int_equal(p.to->env.agent_start(p.to), MRMA_SUCCESS);
    assert_true(is_polled(&p));
    rma_polling_end(&p.to->rma);
    assert_false(is_polled(&p));
    pair_end(&p);
}

/* The second has an agent, which sleeps, and the first a way to send to it. */
static struct pair pair_with_agent(void)
{
    struct pair p = pair_new();
    assert_int_equal(p.from->env.peer_connect(p.from, p.peer), MRMA_SUCCESS);
    assert_int_equal(p.to->env.agent_start(p.to), MRMA_SUCCESS);
    while (!atomic_load(&p.peer->polling->agent.sleepers))
        sched_yield();
    return p;
}

/* A packet wakes the other's agent, but not an answer that one of its threads waits for
 * (ch3_send). */
static void an_answer_wakes_no_agent(void **state)
{
    (void)state;
    struct pair p = pair_with_agent();
    const uint32_t before = atomic_load(&p.peer->polling->agent.seq);
    assert_int_equal(ch3_send(&p.peer->vc, &pair_stray, sizeof pair_stray, NULL, true),
                     MRMA_SUCCESS);
    assert_int_equal(atomic_load(&p.peer->polling->agent.seq), before);
    for (int i = 0; i < 1000 && atomic_load(&p.peer->polling->agent.seq) == before;
         i++) { /* it may just be awake */
        (void)ch3_send(&p.peer->vc, &pair_stray, sizeof pair_stray, NULL, false);
        sched_yield();
    }
    assert_int_not_equal(atomic_load(&p.peer->polling->agent.seq), before);
    pair_end(&p);
}

/* What the agent has slept over leaves no room for what it is to serve. */
static void a_full_ring_wakes_the_agent(void **state)
{
    (void)state;
    struct pair p = pair_with_agent();
    const time_t late = time(NULL) + 20;
    while (!ch3_vc_busy(&p.peer->vc))
        assert_int_equal(ch3_send(&p.peer->vc, &pair_stray, sizeof pair_stray, NULL, true),
                         MRMA_SUCCESS);
    while (ch3_vc_busy(&p.peer->vc) && time(NULL) < late)
        (void)rma_poll(&p.from->rma);
    assert_false(ch3_vc_busy(&p.peer->vc));
    pair_end(&p);
}

/* A sender that saw a thread poll has woken nobody. */
static void what_comes_last_is_served_when_polling_ends(void **state)
{
    (void)state;
    struct pair p = pair_with_agent();
    struct rma *to = &p.to->rma;
    const time_t late = time(NULL) + 20;
    rma_polling_begin(to);
    assert_int_equal(ch3_send(&p.peer->vc, &pair_stray, sizeof pair_stray, NULL, false),
                     MRMA_SUCCESS);
    assert_true(rma_pending(to));
    rma_polling_end(to);
    while (rma_pending(to) && time(NULL) < late)
        sched_yield();
    assert_false(rma_pending(to));
    pair_end(&p);
}

/* A call of the host has polled, and polls no more: whatever comes then is served by the agent. */
static void what_a_call_of_the_host_leaves_is_served(void **state)
{
    (void)state;
    struct pair p = pair_with_agent();
    struct rma *to = &p.to->rma;
    const time_t late = time(NULL) + 20;
    for (int i = 0; i < 300 && time(NULL) < late; i++) {
        if (i % 3) { /* this call serves one, so that the agent expects more of it */
            assert_int_equal(ch3_send(&p.peer->vc, &pair_stray, sizeof pair_stray, NULL, false),
                             MRMA_SUCCESS);
            (void)rma_host_poll(to);
        }
        (void)rma_host_poll(to);
        assert_int_equal(ch3_send(&p.peer->vc, &pair_stray, sizeof pair_stray, NULL, false),
                         MRMA_SUCCESS);
        while (rma_pending(to) && time(NULL) < late)
            sched_yield();
        assert_false(rma_pending(to));
    }
    assert_true(time(NULL) < late);
    pair_end(&p);
}

/* As long as it polls, and the agent has promised to look, packets do not wake the agent. That may
 * be in the midst of taking back its promise. */
static void a_call_of_the_host_that_polls_spares_wake_ups(void **state)
{
    enum { PACKETS = 1000 };
    (void)state;
    struct pair p = pair_with_agent();
    const struct polling *a = p.peer->polling;
    const time_t late = time(NULL) + 20;
    int sent = 0, woken = 0;
    while (sent < PACKETS && time(NULL) < late) {
        (void)rma_host_poll(&p.to->rma);
        const bool spared = atomic_load(&a->agent_looks) && atomic_load(&a->host_polls);
        const uint32_t before = atomic_load(&a->agent.seq);
        (void)ch3_send(&p.peer->vc, &pair_stray, sizeof pair_stray, NULL, false);
        sent += spared;
        woken += spared && atomic_load(&a->agent.seq) != before;
    }
    assert_int_equal(sent, PACKETS);
    assert_true(woken < PACKETS / 10);
    pair_end(&p);
}

/* Rounds of the host serve what has come while the agent sleeps, and leave the rings alone when
 * nothing has come for long; what comes then is served as before. The agent may be faster. */
static void a_round_serves_what_it_is_called_for(void **state)
{
    enum { SERVED = 100, ROUNDS = 1000 };
    (void)state;
    struct pair p = pair_with_agent();
    struct rma *to = &p.to->rma;
    const time_t late = time(NULL) + 20;
    unsigned served = 0, rested = 0;
    while ((served < SERVED || rested < SERVED) && time(NULL) < late) {
        (void)rma_host_poll(to);
        assert_int_equal(ch3_send(&p.peer->vc, &pair_stray, sizeof pair_stray, NULL, false),
                         MRMA_SUCCESS);
        const bool called = polling_host_is_called(p.peer->polling);
        const bool moved = rma_host_poll(to);
        served += called && moved;
        for (int i = 0; i < ROUNDS && polling_host_is_called(p.peer->polling); i++)
            (void)rma_host_poll(to);
        rested += called && !polling_host_is_called(p.peer->polling);
    }
    assert_true(served >= SERVED && rested >= SERVED);
    pair_end(&p);
}

static int tests(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test(attends_while_it_polls_with_an_agent),
        cmocka_unit_test(an_answer_wakes_no_agent),
        cmocka_unit_test(a_full_ring_wakes_the_agent),
        cmocka_unit_test(what_comes_last_is_served_when_polling_ends),
        cmocka_unit_test(what_a_call_of_the_host_leaves_is_served),
        cmocka_unit_test(a_call_of_the_host_that_polls_spares_wake_ups),
        cmocka_unit_test(a_round_serves_what_it_is_called_for),
    };
    return cmocka_run_group_tests_name("engine_attention", list, NULL, NULL);
}

int main(void)
{
    return run_with_skips(tests);
}
