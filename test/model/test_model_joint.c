/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_model_joint.c - joint_board.h in every order: each chunk of a copy is made once, from the
 * bytes that belong to it, before the origin uses its buffer again; and a place goes from one
 * origin to the next.
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "model.h"

#include <cmocka.h>

#include "sys/joint_board.h"

#include "explore.h"

enum { CHUNKS = 2, COPIES = 2, ORIGINS = 2 };

static struct joint_board board;
static _Atomic uint32_t buffer[ORIGINS];               /* what an origin's chunks have in them */
static _Atomic uint32_t made[ORIGINS][COPIES][CHUNKS]; /* how often each chunk was copied */
static _Atomic uint32_t ended;
static uint32_t origins, copies;
static bool gives_up;

static void setup(void)
{
    memset(&board, 0, sizeof board);
    memset(made, 0, sizeof made);
    for (int i = 0; i < ORIGINS; i++)
        atomic_store_explicit(&buffer[i], 0, memory_order_relaxed);
    atomic_store_explicit(&ended, 0, memory_order_relaxed);
}

/* The description says whose copy it is, and which of its copies: origin_addr and owner_addr. */
static void copy_chunk(struct joint_place *place, uint32_t left)
{
    const struct joint_copy *copy = &place->copy;
    const uint32_t who = (uint32_t)copy->origin_addr, which = (uint32_t)copy->owner_addr;
    const struct joint_chunk part = joint_chunk_of(copy, left);
    if (part.len != 1 || part.at >= CHUNKS)
        model_fail("a chunk that there is not");
    if (atomic_load_explicit(&buffer[who], memory_order_relaxed) != which + 1)
        model_fail("bytes of another copy");
    atomic_fetch_add_explicit(&made[who][which][part.at], 1, memory_order_relaxed);
    joint_done(place, false);
}

static void make_copies(uint32_t self)
{
    for (uint32_t n = 0; n < copies; n++) {
        int i;
        uint32_t left;
        bool failed;
        while ((i = joint_find_place(&board, self + 1)) < 0)
            model_pause();
        struct joint_place *place = &board.places[i];
        atomic_store_explicit(&buffer[self], n + 1, memory_order_relaxed);
        place->copy =
            (struct joint_copy){.owner_addr = n, .origin_addr = self, .len = CHUNKS, .chunk = 1};
        joint_publish(&board, i);
        if (gives_up) {
            joint_abandon(&board, i);
            break;
        }
        while (joint_take(place, &left))
            copy_chunk(place, left);
        while (!joint_is_done(place, &failed))
            model_pause();
        atomic_store_explicit(&buffer[self], 0, memory_order_relaxed); /* its own again */
        joint_give_place(&board, i);
    }
    atomic_fetch_add_explicit(&ended, 1, memory_order_seq_cst);
}

static void first_origin(void)
{
    make_copies(0);
}

static void second_origin(void)
{
    make_copies(1);
}

/* A thread of the owner in a wait. */
static void owner(void)
{
    uint32_t left;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2; i++)
            if (joint_take(&board.places[i], &left))
                copy_chunk(&board.places[i], left);
}

static void each_once(void)
{
    for (uint32_t who = 0; who < origins; who++)
        for (uint32_t n = 0; n < copies; n++)
            for (int i = 0; i < CHUNKS; i++)
                if (atomic_load_explicit(&made[who][n][i], memory_order_relaxed) != 1)
                    model_fail("a chunk was not made, or more than once");
    if (joint_open(&board))
        model_fail("something is published still");
}

/* Nobody makes a chunk twice, and a place that is free again has nobody at it. */
static void none_twice(void)
{
    uint32_t n = 0, left;
    for (int i = 0; i < CHUNKS; i++) {
        const uint32_t times = atomic_load_explicit(&made[0][0][i], memory_order_relaxed);
        if (times > 1)
            model_fail("a chunk was made twice");
        n += times;
    }
    if (joint_take(&board.places[0], &left))
        model_fail("a chunk of a copy that was given up");
    if (joint_open(&board))
        model_fail("something is published still");
    if (n == 0 && atomic_load_explicit(&board.places[0].origin, memory_order_relaxed))
        model_fail("a place that nobody uses is not free");
}

static void test_one_origin(void **state)
{
    (void)state;
    origins = 1;
    copies = 2;
    gives_up = false;
    explore(&(struct model_scenario){
        .setup = setup, .thread = {first_origin, owner}, .check = each_once, .deviations = 3});
    explore(&(struct model_scenario){.setup = setup,
                                     .thread = {first_origin, owner, owner},
                                     .check = each_once,
                                     .deviations = 2});
}

static void test_two_origins(void **state)
{
    (void)state;
    origins = 2;
    copies = 1;
    gives_up = false;
    explore(&(struct model_scenario){.setup = setup,
                                     .thread = {first_origin, second_origin, owner},
                                     .check = each_once,
                                     .deviations = 2});
}

static void test_given_up(void **state)
{
    (void)state;
    origins = copies = 1;
    gives_up = true;
    explore(&(struct model_scenario){
        .setup = setup, .thread = {first_origin, owner}, .check = none_twice, .deviations = 3});
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_one_origin),
    cmocka_unit_test(test_two_origins),
    cmocka_unit_test(test_given_up),
};

MODEL_MAIN(tests)
