/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_conflicts_order.c - small programs with and without conflicting accesses: in passive target
 * epochs, where a flush, a request or a notification completes them, and messages, collective calls
 * and atomic operations tell others.
 */
#include <mpi-rma.h>
#include <stddef.h>

#include "trace_conflicts.h"

/* ---- flush, and what tells others of it ---- */

static void barrier_between(MPI_Comm comm)
{
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
    }
    MPI_Barrier(comm);
    if (case_rank == 1)
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void flush_barrier(void)
{
    barrier_between(MPI_COMM_WORLD);
}

/* Of communicators of which a trace does not tell the processes. */
static void flush_idup(void)
{
    MPI_Comm copy;
    MPI_Request request;

    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    barrier_between(copy);
    MPI_Comm_free(&copy);
}

static void flush_intercomm(void)
{
    MPI_Comm group, both;

    MPI_Comm_split(MPI_COMM_WORLD, case_rank == 0, case_rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, case_rank == 0, TAG, &both);
    barrier_between(both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&group);
}

static void barrier_no_flush(void)
{
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0)
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (case_rank == 1)
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

/* A barrier of two processes that does not hold up the third. */
static void barrier_of_others(void)
{
    MPI_Comm two;
    int value;

    case_make(NULL, NULL);
    MPI_Comm_split(MPI_COMM_WORLD, case_rank == 1, 0, &two);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
    }
    MPI_Barrier(two);
    if (case_rank == 1)
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    MPI_Win_unlock_all(case_win);
    MPI_Comm_free(&two);
    case_drop();
}

static void flush_ibarrier(void)
{
    MPI_Request request;
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (case_rank == 1)
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

/* A put that is complete, a collective call, and an access of another process: in order where data
 * go from the first process to the second, which a root or their ranks decide. */
static void collective_between(void (*together)(int *value, int *result), int first)
{
    int value = 1, result = 0;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == first) {
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
    }
    together(&value, &result);
    if (case_rank == 1 - first)
        MPI_Get(&result, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void bcast(int *value, int *result)
{
    (void)result;
    MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void reduce(int *value, int *result)
{
    MPI_Reduce(value, result, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void scan(int *value, int *result)
{
    MPI_Scan(value, result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void flush_bcast(void)
{
    collective_between(bcast, 0);
}

static void bcast_other_way(void)
{
    collective_between(bcast, 1);
}

static void flush_reduce(void)
{
    collective_between(reduce, 1);
}

static void reduce_other_way(void)
{
    collective_between(reduce, 0);
}

static void flush_scan(void)
{
    collective_between(scan, 0);
}

static void scan_other_way(void)
{
    collective_between(scan, 1);
}

static void flush_message(void)
{
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
        case_send_to(1);
    } else if (case_rank == 1) {
        case_receive_from(0);
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    }
    MPI_Win_unlock_all(case_win);
    case_drop();
}

/* Who gets the message has it from somebody who has it from the origin. */
static void message_chain(void)
{
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
        case_send_to(TARGET);
    } else if (case_rank == TARGET) {
        MPI_Sendrecv(&case_rank, 1, MPI_INT, 1, TAG, &value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        case_receive_from(0);
        case_send_to(1);
    } else {
        MPI_Sendrecv(&case_rank, 1, MPI_INT, TARGET, TAG, &value, 1, MPI_INT, TARGET, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        case_receive_from(TARGET);
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    }
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void message_no_flush(void)
{
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_flush_local(TARGET, case_win);
        case_send_to(1);
    } else if (case_rank == 1) {
        case_receive_from(0);
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    }
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void message_other_way(void)
{
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        case_receive_from(1);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
    } else if (case_rank == 1) {
        case_send_to(0);
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    }
    MPI_Win_unlock_all(case_win);
    case_drop();
}

/* The message that tells of the put has been sent, but another one is received before the get. */
static void message_not_awaited(void)
{
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
        case_send_to(1);
        case_send_to(TARGET);
    } else if (case_rank == TARGET) {
        case_send_to(1);
        case_receive_from(0);
    } else {
        case_receive_from(TARGET);
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        case_receive_from(0);
    }
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void atomic_flag(void)
{
    int value = 0;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        const int one = 1;

        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
        MPI_Accumulate(&one, 1, MPI_INT, TARGET, 8, 1, MPI_INT, MPI_REPLACE, case_win);
    } else if (case_rank == 1) {
        while (value == 0) {
            MPI_Fetch_and_op(NULL, &value, MPI_INT, TARGET, 8, MPI_NO_OP, case_win);
            MPI_Win_flush(TARGET, case_win);
        }
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    }
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void spin_lock(void)
{
    const int free_word = 0, mine = case_rank + 1;
    int found, value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    do {
        MPI_Compare_and_swap(&mine, &free_word, &found, MPI_INT, TARGET, 8, case_win);
        MPI_Win_flush(TARGET, case_win);
    } while (found != free_word);
    MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    MPI_Win_flush(TARGET, case_win);
    value++;
    MPI_Put(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    MPI_Win_flush(TARGET, case_win);
    MPI_Accumulate(&free_word, 1, MPI_INT, TARGET, 8, 1, MPI_INT, MPI_REPLACE, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

/* ---- requests ---- */

/* Its request says that the put is complete at its origin. */
static void request_put(void)
{
    MPI_Request request;
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        MPI_Rput(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (case_rank == 1)
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void request_get(void)
{
    MPI_Request request;
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        MPI_Rget(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (case_rank == 1)
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

/* ---- notifications ---- */

static void notified(int waits)
{
    MPI_Win other;
    int got = 0;

    case_make("mpirma_notifications", "1");
    other = case_over(&got, 1);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0)
        MPIRMA_Put_notify(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win, 0);
    if (case_rank == TARGET) {
        if (waits)
            MPIRMA_Notify_wait(case_win, 0, 0, 1);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, other);
        MPI_Put(case_memory, 1, MPI_INT, 1, 0, 1, MPI_INT, other);
        MPI_Win_unlock(1, other);
        if (!waits)
            MPIRMA_Notify_wait(case_win, 0, 0, 1);
    }
    MPI_Win_unlock_all(case_win);
    MPI_Win_free(&other);
    case_drop();
}

static void notified_awaited(void)
{
    notified(1);
}

static void notified_early(void)
{
    notified(0);
}

/* clang-format off */
const struct conflict_case order_cases[] = {
    {"right", "flush_barrier", flush_barrier},
    {"right", "flush_idup", flush_idup},
    {"right", "flush_intercomm", flush_intercomm},
    {"wrong", "barrier_no_flush", barrier_no_flush},
    {"wrong", "barrier_of_others", barrier_of_others},
    {"right", "flush_ibarrier", flush_ibarrier},
    {"right", "flush_bcast", flush_bcast},
    {"wrong", "bcast_other_way", bcast_other_way},
    {"right", "flush_reduce", flush_reduce},
    {"wrong", "reduce_other_way", reduce_other_way},
    {"right", "flush_scan", flush_scan},
    {"wrong", "scan_other_way", scan_other_way},
    {"right", "flush_message", flush_message},
    {"right", "message_chain", message_chain},
    {"wrong", "message_no_flush", message_no_flush},
    {"wrong", "message_other_way", message_other_way},
    {"wrong", "message_not_awaited", message_not_awaited},
    {"right", "atomic_flag", atomic_flag},
    {"right", "spin_lock", spin_lock},
    {"wrong", "request_put", request_put},
    {"right", "request_get", request_get},
    {"right", "notified_awaited", notified_awaited},
    {"wrong", "notified_early", notified_early},
    {NULL, NULL, NULL},
};
/* clang-format on */
