/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_conflicts_memory.c - small programs with and without conflicting accesses: datatypes,
 * windows over the same memory, the buffers of operations.
 */
#include <mpi.h>
#include <stddef.h>

#include "trace_conflicts.h"

/* ---- datatypes, windows over the same memory ---- */

static void put_every(int step, int first)
{
    MPI_Datatype type;
    int data[8] = {0};

    MPI_Type_vector(8, 1, step, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Put(data, 8, MPI_INT, TARGET, first, 1, type, case_win);
    MPI_Type_free(&type);
    MPI_Win_fence(0, case_win); /* while the data are there */
}

static void interleaved(void)
{
    case_make(NULL, NULL);
    MPI_Win_fence(0, case_win);
    if (case_rank == TARGET)
        MPI_Win_fence(0, case_win);
    else
        put_every(2, case_rank);
    case_drop();
}

static void interleaved_wrong(void)
{
    case_make(NULL, NULL);
    MPI_Win_fence(0, case_win);
    if (case_rank == TARGET)
        MPI_Win_fence(0, case_win);
    else
        put_every(case_rank ? 3 : 2, case_rank);
    case_drop();
}

static void dynamic(int apart)
{
    static int attached[4];
    MPI_Aint address;
    MPI_Win there;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &there);
    MPI_Win_set_name(there, case_name);
    MPI_Win_attach(there, attached, sizeof attached);
    MPI_Get_address(attached, &address);
    MPI_Bcast(&address, 1, MPI_AINT, TARGET, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, there);
    if (case_rank != TARGET)
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, address + (apart ? 4 * case_rank : 0), 1, MPI_INT,
                there);
    MPI_Win_unlock_all(there);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(there, attached);
    MPI_Win_free(&there);
}

static void dynamic_apart(void)
{
    dynamic(1);
}

static void dynamic_same(void)
{
    dynamic(0);
}

static void windows_in_turn(void)
{
    MPI_Win other;

    case_make(NULL, NULL);
    other = case_over(case_memory, INTS);
    if (case_rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, case_win);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_unlock(TARGET, case_win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (case_rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, other);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, other);
        MPI_Win_unlock(TARGET, other);
    }
    MPI_Win_free(&other);
    case_drop();
}

/* ---- buffers ---- */

static void buffer(int flushes)
{
    static int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        if (flushes)
            MPI_Win_flush_local(TARGET, case_win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, case_win);
    }
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void buffer_complete(void)
{
    buffer(1);
}

static void buffer_in_use(void)
{
    buffer(0);
}

/* Loads and stores that are no calls: two processes share memory. */
static void shared_stores(void)
{
    MPI_Comm node;
    int size, me, unit, *mine, *first;
    MPI_Aint bytes;
    MPI_Win shared;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    MPI_Comm_rank(node, &me);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &shared);
    MPI_Win_set_name(shared, case_name);
    MPI_Win_shared_query(shared, 0, &bytes, &unit, &first);
    MPI_Win_lock_all(0, shared);
    *(volatile int *)first = me;
    if (me == size - 1)
        MPI_Put(&me, 1, MPI_INT, 0, 0, 1, MPI_INT, shared);
    MPI_Win_unlock_all(shared);
    MPI_Win_free(&shared);
    MPI_Comm_free(&node);
}

/* clang-format off */
const struct conflict_case memory_cases[] = {
    {"right", "interleaved", interleaved},
    {"wrong", "interleaved_wrong", interleaved_wrong},
    {"right", "dynamic_apart", dynamic_apart},
    {"wrong", "dynamic_same", dynamic_same},
    {"right", "windows_in_turn", windows_in_turn},
    {"right", "buffer_complete", buffer_complete},
    {"wrong", "buffer_in_use", buffer_in_use},
    {"wrong", "shared_stores", shared_stores},
    {NULL, NULL, NULL},
};
/* clang-format on */
