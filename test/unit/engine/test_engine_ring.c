/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_engine_ring.c - engine_peer.c: rings to another process and from it: how large they are, and
 * those that cannot be.
 *
 * Both engines are in this process (engine_pair.h).
 */
#include "test/support/base_helper.h"

#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "test/support/engine_pair.h"
#include "rma/progress/progress.h"

/* What all rings of a process take together does not grow with its peers, until each is of the
 * least size. */
static void rings_are_smaller_where_there_are_more(void **state)
{
    static const struct {
        int procs;
        uint32_t bytes;
    } cases[] = {{1, RING_MOST},     {2, RING_MOST},     {3, RING_MOST},     {4, RING_MOST / 2},
                 {5, RING_MOST / 2}, {6, RING_MOST / 4}, {9, RING_MOST / 4}, {10, RING_LEAST},
                 {17, RING_LEAST},   {1000, RING_LEAST}};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        struct engine *from = engine_alone(), *to = engine_alone();
        struct rma_peer *peer = engine_know(from, &to->record);
        from->rma.progress.node_procs = i % 2 ? 0 : cases[i / 2].procs;
        from->env.node_procs_bound = i % 2 ? cases[i / 2].procs : 0; /* what the launcher says */
        assert_int_equal(from->env.peer_connect(from, peer), MRMA_SUCCESS);
        assert_int_equal(atomic_load(&to->own->rings[0].bytes), cases[i / 2].bytes);
        from->env.peer_put(from, peer);
        engine_destroy(from);
        engine_destroy(to);
    }
}

/* One whose size is none, or that is not all in its sender's memory: the sender can see that it is
 * refused. */
static void a_ring_that_cannot_be_is_refused(void **state)
{
    static const uint32_t bytes[] = {RING_LEAST + 64, RING_LEAST / 2, 2 * RING_MOST, 1, RING_MOST};
    enum { ROOM = RING_MOST + 4096, LATER = 65536 }; /* so large that it is a segment of its own */
    (void)state;
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        struct engine *from = engine_alone(), *to = engine_alone();
        struct rma_peer *peer = engine_know(to, &from->record);
        struct procseg_ring *entry = &to->own->rings[0];
        void *memory;
        assert_int_equal(heap_alloc(from->heap, ROOM, 64, &memory), MRMA_SUCCESS);
        assert_true(heap_find(from->heap, memory, ROOM, &entry->where));
        entry->where.offset += LATER;
        entry->sender = from->uid;
        atomic_store(&entry->bytes, bytes[i]);
        atomic_store(&to->own->nrings, 1);
        assert_int_equal(to->env.peer_connect(to, peer), MRMA_SUCCESS);
        for (int k = 0; k < 3; k++)
            (void)rma_poll(&to->rma);
        assert_int_equal(atomic_load(&entry->state), PROCSEG_RING_REFUSED);
        to->env.peer_put(to, peer);
        engine_destroy(to);
        engine_destroy(from);
    }
}

/* Somebody has taken the place before it, and has died before it could say where its ring is. */
static void a_ring_behind_one_that_was_never_filled(void **state)
{
    (void)state;
    struct pair p = pair_new();
    atomic_store(&p.to->own->rings[0].sender, 4711);
    assert_false(rma_pending(&p.to->rma));
    assert_false(rma_poll(&p.to->rma));
    assert_int_equal(p.from->env.peer_connect(p.from, p.peer), MRMA_SUCCESS);
    assert_int_equal(ch3_send(&p.peer->vc, &pair_stray, sizeof pair_stray, NULL, false),
                     MRMA_SUCCESS);
    assert_true(rma_pending(&p.to->rma));
    assert_true(rma_poll(&p.to->rma));
    assert_int_equal(p.to->ch3.stats.packets_received, 1);
    assert_false(rma_pending(&p.to->rma));
    pair_end(&p);
}

struct ending {
    struct engine *engine;
    _Atomic bool over;
};

static void *end_engine(void *arg)
{
    struct ending *ending = arg;
    engine_destroy(ending->engine);
    atomic_store(&ending->over, true);
    return NULL;
}

static void send_stray(struct engine *from, struct rma_peer *peer)
{
    assert_int_equal(from->env.peer_connect(from, peer), MRMA_SUCCESS);
    assert_int_equal(ch3_send(&peer->vc, &pair_stray, sizeof pair_stray, NULL, false),
                     MRMA_SUCCESS);
}

/* The sender ends, and would be over long ago if it did not wait, before the receiver looks for the
 * first time. */
static void what_was_sent_last_arrives(void **state)
{
    enum { LOOKS = 300 };
    const struct timespec while_others_run = {.tv_nsec = 1000000};
    (void)state;
    struct pair p = pair_new();
    struct ending ending = {.engine = p.from};
    pthread_t thread;
    send_stray(p.from, p.peer);
    p.from->env.peer_put(p.from, p.peer);
    assert_int_equal(pthread_create(&thread, NULL, end_engine, &ending), 0);
    for (int i = 0; !polling_has_ended(p.back->polling) || i < LOOKS; i++) {
        if (atomic_load(&ending.over))
            break;
        nanosleep(&while_others_run, NULL);
    }
    assert_true(rma_poll(&p.to->rma));
    assert_int_equal(p.to->ch3.stats.packets_received, 1);
    pthread_join(thread, NULL);
    engine_forget(p.to, p.back);
}

/* Who does not come in time is named. */
static void who_does_not_come_is_named(void **state)
{
    struct log_pipe lp;
    char text[300];
    (void)state;
    struct pair p = pair_new();
    log_to_pipe(&lp, LOG_LEVEL_WARN);
    p.from->log = lp.log;
    p.from->readers_ns = 10000000;
    send_stray(p.from, p.peer);
    engine_forget(p.from, p.peer);
    assert_non_null(strstr(log_text(&lp, text, sizeof text), "has not come for what was sent"));
    log_pipe_close(&lp);
    engine_forget(p.to, p.back);
}

/* Nobody waits for a receiver that will never look: it has ended, or has died. */
static void nobody_waits_for_who_has_ended(void **state)
{
    (void)state;
    struct pair p = pair_new();
    const uint64_t before = clock_monotonic_ns();
    send_stray(p.from, p.peer);
    engine_forget(p.to, p.back);
    engine_forget(p.from, p.peer);
    assert_true(clock_monotonic_ns() - before < UINT64_C(5000000000));
}

static int tests(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test(rings_are_smaller_where_there_are_more),
        cmocka_unit_test(a_ring_that_cannot_be_is_refused),
        cmocka_unit_test(a_ring_behind_one_that_was_never_filled),
        cmocka_unit_test(what_was_sent_last_arrives),
        cmocka_unit_test(who_does_not_come_is_named),
        cmocka_unit_test(nobody_waits_for_who_has_ended),
    };
    return cmocka_run_group_tests_name("engine_ring", list, NULL, NULL);
}

int main(void)
{
    return run_with_skips(tests);
}
