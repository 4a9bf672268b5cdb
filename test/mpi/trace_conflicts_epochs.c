/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_conflicts_epochs.c - small programs with and without conflicting accesses: fences,
 * accumulates, post and start, locks.
 */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "trace_conflicts.h"

/* ---- fences ---- */

static void fence_put_put(void)
{
    case_make(NULL, NULL);
    MPI_Win_fence(0, case_win);
    if (case_rank != TARGET)
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 3, 1, MPI_INT, case_win);
    MPI_Win_fence(0, case_win);
    case_drop();
}

static void fence_between(void)
{
    case_make(NULL, NULL);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Win_fence(0, case_win);
        if (case_rank == turn)
            MPI_Put(&case_rank, 1, MPI_INT, TARGET, 3, 1, MPI_INT, case_win);
    }
    MPI_Win_fence(0, case_win);
    case_drop();
}

static void fence_apart(void)
{
    case_make(NULL, NULL);
    MPI_Win_fence(0, case_win);
    if (case_rank != TARGET)
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 3 + case_rank, 1, MPI_INT, case_win);
    MPI_Win_fence(0, case_win);
    case_drop();
}

/* The target stores into its memory, and then opens the epoch for others by a fence that need not
 * synchronize. */
static void fence_after_store(void)
{
    MPI_Win other;
    int source = 5;

    case_make(NULL, NULL);
    other = case_over(&source, 1);
    if (case_rank == TARGET) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, other);
        MPI_Get(case_memory, 1, MPI_INT, 1, 0, 1, MPI_INT, other);
        MPI_Win_unlock(1, other);
    }
    MPI_Win_fence(MPI_MODE_NOPRECEDE, case_win);
    if (case_rank == 0)
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, case_win);
    MPI_Win_free(&other);
    case_drop();
}

/* The target receives into its memory in the epoch of a put, or before the fence that begins it,
 * and comes to the next fence long before the put. */
static void fence_receive(int fence_behind_it)
{
    case_make(NULL, NULL);
    MPI_Win_fence(0, case_win);
    if (case_rank == TARGET)
        MPI_Recv(case_memory, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (case_rank == 1)
        case_send_to(TARGET);
    if (fence_behind_it)
        MPI_Win_fence(0, case_win);
    if (case_rank == 0) {
        usleep(200000);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    }
    MPI_Win_fence(0, case_win);
    case_drop();
}

static void fence_receive_before(void)
{
    fence_receive(1);
}

static void fence_receive_inside(void)
{
    fence_receive(0);
}

/* ---- accumulates ---- */

static void accumulate_same(void)
{
    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    MPI_Accumulate(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_SUM, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void accumulate_other(void)
{
    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    MPI_Accumulate(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT,
                   case_rank == 0 ? MPI_MAX : MPI_SUM, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void accumulate_and_read(void)
{
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0)
        MPI_Get_accumulate(NULL, 0, MPI_INT, &value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_NO_OP,
                           case_win);
    else
        MPI_Accumulate(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_SUM, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

/* Two elements of one process, and one of another, so many ints behind the first. */
static void accumulate_at(int behind)
{
    const int64_t values[2] = {1, 2};

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0)
        MPI_Accumulate(values, 2, MPI_INT64_T, TARGET, 0, 2, MPI_INT64_T, MPI_SUM, case_win);
    else if (case_rank == 1)
        MPI_Accumulate(values, 1, MPI_INT64_T, TARGET, behind, 1, MPI_INT64_T, MPI_SUM, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void accumulate_second(void)
{
    accumulate_at(2);
}

static void accumulate_between(void)
{
    accumulate_at(1);
}

static void accumulate_hint(void)
{
    int value;

    case_make("accumulate_ops", "same_op");
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0)
        MPI_Get_accumulate(NULL, 0, MPI_INT, &value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_NO_OP,
                           case_win);
    else
        MPI_Accumulate(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_SUM, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void accumulate_and_get(void)
{
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0)
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    else if (case_rank == 1)
        MPI_Accumulate(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_SUM, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

/* ---- post and start ---- */

static void pscw_two_origins(void)
{
    case_make(NULL, NULL);
    if (case_rank == TARGET) {
        case_post(0, 1);
        MPI_Win_wait(case_win);
    } else {
        case_start(TARGET);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_complete(case_win);
    }
    case_drop();
}

static void pscw_in_turn(void)
{
    case_make(NULL, NULL);
    if (case_rank == TARGET) {
        for (int i = 0; i < 2; i++) {
            case_post(i, -1);
            MPI_Win_wait(case_win);
        }
    } else {
        case_start(TARGET);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_complete(case_win);
    }
    case_drop();
}

/* A call of MPI_Win_complete says nothing about the target. */
static void pscw_completed(void)
{
    case_make(NULL, NULL);
    if (case_rank == TARGET) {
        case_post(0, 1);
        MPI_Win_wait(case_win);
    } else {
        case_start(TARGET);
        if (case_rank == 1)
            case_receive_from(0);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_complete(case_win);
        if (case_rank == 0)
            case_send_to(1);
    }
    case_drop();
}

/* The target sends on what it has got. */
static void pscw_use(int before_the_end)
{
    MPI_Win other;
    int got = 0;

    case_make(NULL, NULL);
    other = case_over(&got, 1);
    if (case_rank == TARGET) {
        case_post(0, -1);
        if (!before_the_end)
            MPI_Win_wait(case_win);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, other);
        MPI_Put(case_memory, 1, MPI_INT, 1, 0, 1, MPI_INT, other);
        MPI_Win_unlock(1, other);
        if (before_the_end)
            MPI_Win_wait(case_win);
    } else if (case_rank == 0) {
        case_start(TARGET);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_complete(case_win);
    }
    MPI_Win_free(&other);
    case_drop();
}

static void pscw_before_wait(void)
{
    pscw_use(1);
}

static void pscw_after_wait(void)
{
    pscw_use(0);
}

/* ---- locks ---- */

static void lock_shared(void)
{
    case_make(NULL, NULL);
    if (case_rank != TARGET) {
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, case_win);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_unlock(TARGET, case_win);
    }
    case_drop();
}

static void lock_exclusive(void)
{
    case_make(NULL, NULL);
    if (case_rank != TARGET) {
        MPI_Win_lock(case_rank ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, TARGET, 0, case_win);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_unlock(TARGET, case_win);
    }
    case_drop();
}

/* The lock of one window keeps processes apart that access another one: who has got something under
 * it has the lock. */
static void lock_as_mutex(void)
{
    MPI_Win other;
    int value;

    case_make(NULL, NULL);
    other = case_over(case_memory, INTS);
    MPI_Win_lock_all(0, other);
    if (case_rank != TARGET) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, case_win);
        MPI_Get(&value, 1, MPI_INT, TARGET, 8, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, other);
        MPI_Win_flush(TARGET, other);
        MPI_Win_unlock(TARGET, case_win);
    }
    MPI_Win_unlock_all(other);
    MPI_Win_free(&other);
    case_drop();
}

/* Locks of two windows do not exclude each other, though both have the same memory. */
static void lock_two_windows(void)
{
    MPI_Win both[2];

    case_make(NULL, NULL);
    both[0] = case_over(case_memory, INTS);
    both[1] = case_over(case_memory + 4, 4);
    if (case_rank != TARGET) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, both[case_rank]);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, case_rank ? 1 : 5, 1, MPI_INT, both[case_rank]);
        MPI_Win_unlock(TARGET, both[case_rank]);
    }
    MPI_Win_free(&both[1]);
    MPI_Win_free(&both[0]);
    case_drop();
}

/* The target uses its memory as a buffer while others may lock it. */
static void lock_use(int locks_itself)
{
    MPI_Win other;
    int got = 0;

    case_make(NULL, NULL);
    other = case_over(&got, 1);
    if (case_rank == TARGET) {
        if (locks_itself)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, case_win);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, other);
        MPI_Put(case_memory, 1, MPI_INT, 1, 0, 1, MPI_INT, other);
        MPI_Win_unlock(1, other);
        if (locks_itself)
            MPI_Win_unlock(TARGET, case_win);
    } else if (case_rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, case_win);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_unlock(TARGET, case_win);
    }
    MPI_Win_free(&other);
    case_drop();
}

static void lock_of_itself(void)
{
    lock_use(1);
}

static void no_lock_of_itself(void)
{
    lock_use(0);
}

/* clang-format off */
const struct conflict_case epoch_cases[] = {
    {"wrong", "fence_put_put", fence_put_put},
    {"right", "fence_between", fence_between},
    {"right", "fence_apart", fence_apart},
    {"right", "fence_after_store", fence_after_store},
    {"right", "fence_receive_before", fence_receive_before},
    {"wrong", "fence_receive_inside", fence_receive_inside},
    {"right", "accumulate_same", accumulate_same},
    {"right", "accumulate_second", accumulate_second},
    {"wrong", "accumulate_between", accumulate_between},
    {"wrong", "accumulate_other", accumulate_other},
    {"right", "accumulate_and_read", accumulate_and_read},
    {"wrong", "accumulate_hint", accumulate_hint},
    {"wrong", "accumulate_and_get", accumulate_and_get},
    {"wrong", "pscw_two_origins", pscw_two_origins},
    {"right", "pscw_in_turn", pscw_in_turn},
    {"wrong", "pscw_completed", pscw_completed},
    {"wrong", "pscw_before_wait", pscw_before_wait},
    {"right", "pscw_after_wait", pscw_after_wait},
    {"wrong", "lock_shared", lock_shared},
    {"right", "lock_exclusive", lock_exclusive},
    {"right", "lock_as_mutex", lock_as_mutex},
    {"wrong", "lock_two_windows", lock_two_windows},
    {"right", "lock_of_itself", lock_of_itself},
    {"wrong", "no_lock_of_itself", no_lock_of_itself},
    {NULL, NULL, NULL},
};
/* clang-format on */
