/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_whatif_messages.c - as test_whatif.c, of programs in which messages and collective
 * operations carry a delay from one rank to the next.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "message_make.h"
#include "tool_run.h"
#include "whatif_run.h"

enum { ROUNDS = 10 };

/* The messages of one round: in each, rank 0 computes three times as long as the others before it
 * takes part, and what it does delays rank 1, which puts to rank 2 and meets all in a fence. The
 * delay is there or is not, from us on; returns when the fence begins for the last. */
typedef double one_exchange(struct made_job *job, double us);

static double by_message(struct made_job *job, double us)
{
    make_send(job, 0, us + 3 * WORK, us + 3 * WORK + 2, WORLD, 1);
    make_receive(job, 1, us + WORK, us + 3 * WORK + 4, WORLD, 0);
    return us + 3 * WORK + 4;
}

/* The send waits for its receive. */
static double by_receive(struct made_job *job, double us)
{
    make_receive(job, 0, us + 3 * WORK, us + 3 * WORK + 4, WORLD, 1);
    make_enter(job, 1, us + WORK, SSEND);
    make_message(job, 1, us + WORK, TRACE_SEND, WORLD, 0, 0);
    make_leave(job, 1, us + 3 * WORK + 4, SSEND);
    return us + 3 * WORK + 4;
}

static double by_wait(struct made_job *job, double us)
{
    const uint64_t request = ++job->next_id;

    make_enter(job, 1, us, IRECV);
    make_message(job, 1, us, TRACE_RECEIVE, WORLD, -1, request);
    make_leave(job, 1, us + 1, IRECV);
    make_send(job, 0, us + 3 * WORK, us + 3 * WORK + 2, WORLD, 1);
    make_enter(job, 1, us + WORK, WAITALL);
    make_message(job, 1, us + 3 * WORK + 3, TRACE_RECEIVED, WORLD, 0, request);
    make_leave(job, 1, us + 3 * WORK + 4, WAITALL);
    return us + 3 * WORK + 4;
}

static double all_together(struct made_job *job, double us, unsigned op, int32_t root)
{
    for (uint32_t i = 0; i < job->nproc; i++)
        make_together(job, i, us + (i == 0 ? 3 * WORK : WORK), us + 3 * WORK + 4, op, root);
    return us + 3 * WORK + 4;
}

static double by_barrier(struct made_job *job, double us)
{
    return all_together(job, us, TRACE_BARRIER, -1);
}

static double by_broadcast(struct made_job *job, double us)
{
    return all_together(job, us, TRACE_BCAST, 0);
}

/* Only the root waits, which is rank 1. */
static double by_reduce(struct made_job *job, double us)
{
    for (uint32_t i = 0; i < job->nproc; i++)
        make_together(job, i, us + (i == 0 ? 3 * WORK : WORK), us + (i <= 1 ? 3 * WORK : WORK) + 4,
                      TRACE_REDUCE, 1);
    return us + 3 * WORK + 4;
}

static void make_exchanges(struct made_job *job, one_exchange *one, bool is_of_all)
{
    double us = 110;

    make_messages(job);
    for (uint32_t i = 0; i < job->nproc; i++)
        make_fence(job, i, 100, us, TRACE_NOPRECEDE);
    for (int round = 0; round < ROUNDS; round++) {
        const double last = one(job, us);

        make_op(job, 1, last + 1, last + 2, TRACE_PUT, 2, 64, TRACE_MAPPED);
        for (uint32_t i = 0; i < job->nproc; i++)
            make_fence(job, i, i <= 1 || is_of_all ? last + 3 : us + 2 * WORK, last + 10, 0);
        us = last + 10;
    }
    make_free_all(job, us + 5);
}

/* What delays a rank by a message delays all that wait for that rank: without it the fence waits
 * for rank 2 alone, unless that was delayed as well. */
static void messages(void **state)
{
    static const struct {
        one_exchange *one;
        bool is_of_all;
    } kinds[] = {{by_message, false}, {by_receive, false},  {by_wait, false},
                 {by_barrier, true},  {by_broadcast, true}, {by_reduce, false}};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct made_job job;

        make_job(&job, 3);
        make_exchanges(&job, kinds[i].one, kinds[i].is_of_all);
        char *json = whatif_replayed(&job);
        assert_near_us("a delay by messages", whatif_saves(json, "not_late"),
                       ROUNDS * (kinds[i].is_of_all ? 2 : 1) * WORK);
        free(json);
        make_free(&job);
    }
}

/* Rank 0 is late to send, and would be early without what rank 2 does not need for the same. Then
 * it waits for rank 1 to receive if a message of that length has waited before, and it does not if
 * one was sent before its receive had begun. */
static void sends_that_wait(void **state)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        struct made_job job;
        double us = 200 + WORK;

        make_job(&job, 4);
        make_messages(&job);
        make_send(&job, 0, 100, waits ? 104 + WORK : 104, WORLD, 1);
        make_receive(&job, 1, 100 + WORK, 105 + WORK, WORLD, 0);
        for (uint32_t i = 0; i < 4; i++)
            make_fence(&job, i, 110 + WORK, us, TRACE_NOPRECEDE);
        for (int round = 0; round < ROUNDS; round++, us += 4 * WORK + 20) {
            make_send(&job, 0, us + 3 * WORK, us + 3 * WORK + 2, WORLD, 1);
            make_receive(&job, 1, us + 2 * WORK, us + 3 * WORK + 4, WORLD, 0);
            make_send(&job, 2, us + WORK / 2, us + WORK / 2 + 2, WORLD, 3);
            make_receive(&job, 3, us + WORK / 2, us + WORK / 2 + 4, WORLD, 2);
            make_op(&job, 0, us + 4 * WORK + 8, us + 4 * WORK + 9, TRACE_PUT, 1, 64, TRACE_MAPPED);
            make_fence(&job, 0, us + 4 * WORK + 10, us + 4 * WORK + 20, 0);
            make_fence(&job, 1, us + 3 * WORK + 6, us + 4 * WORK + 20, 0);
            for (uint32_t i = 2; i < 4; i++)
                make_fence(&job, i, us + WORK, us + 4 * WORK + 20, 0);
        }
        make_free_all(&job, us + 5);
        char *json = whatif_replayed(&job);
        assert_near_us(waits ? "a send that waits" : "a send that does not wait",
                       whatif_saves(json, "not_late"), ROUNDS * (waits ? 1 : 2) * WORK);
        free(json);
        make_free(&job);
    }
}

/* A thread that only receives makes an estimate impossible as well, since it is not known who waits
 * for it; one that asks for its rank does not. */
static void threads(void **state)
{
    (void)state;
    for (int receives = 0; receives < 2; receives++) {
        struct made_job job;

        make_job(&job, 3);
        make_exchanges(&job, by_message, false);
        make_record(&job.agent[2], 200, TRACE_ENTER)->what = RECV;
        if (receives) {
            struct trace_record *r = make_record(&job.agent[2], 210, TRACE_RECEIVED);

            r->win = WORLD;
            r->peer = 0;
            r->arg = MESSAGE_TAG;
        }
        make_record(&job.agent[2], 211, TRACE_LEAVE)->what = RECV;
        char *text = run_report(&job, "%s");
        assert_true((strstr(text, "no estimate is made: several threads of a rank communicate") !=
                     NULL) == receives);
        free(text);
        make_free(&job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages),
        cmocka_unit_test(sends_that_wait),
        cmocka_unit_test(threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
