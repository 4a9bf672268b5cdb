/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_conflicts.c - small right and wrong programs, one a function, for trace_conflicts.sh:
 * mpi-rma-trace is to find conflicting accesses in the wrong ones and none in the right ones. Three
 * processes; most of the cases are about memory of the last. A case's windows have its name, by
 * which a conflict is told. Process 0 writes which cases there are. trace_conflicts N: only the
 * first N of them.
 */
#include <mpi-rma.h>
#include <stdio.h>
#include <stdlib.h>

enum { INTS = 64, TARGET = 2, TAG = 7 };

static int rank;
static int *memory; /* of win */
static MPI_Win win;
static const char *name; /* of the case */

static void make(const char *key, const char *value)
{
    MPI_Info info;

    MPI_Info_create(&info);
    if (key)
        MPI_Info_set(info, key, value);
    MPI_Win_allocate(INTS * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_name(win, name);
    MPI_Info_free(&info);
    for (int i = 0; i < INTS; i++)
        memory[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Another window of the case. */
static MPI_Win over(void *base, int ints)
{
    MPI_Win made;

    MPI_Win_create(base, (MPI_Aint)(ints * sizeof(int)), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &made);
    MPI_Win_set_name(made, name);
    return made;
}

static void drop(void)
{
    MPI_Win_free(&win);
}

static void send_to(int other)
{
    MPI_Send(&rank, 1, MPI_INT, other, TAG, MPI_COMM_WORLD);
}

static void receive_from(int other)
{
    int value;

    MPI_Recv(&value, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void group_of(int first, int second, MPI_Group *group)
{
    const int member[] = {first, second};
    MPI_Group world;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, second < 0 ? 1 : 2, member, group);
    MPI_Group_free(&world);
}

static void start(int target)
{
    MPI_Group group;

    group_of(target, -1, &group);
    MPI_Win_start(group, 0, win);
    MPI_Group_free(&group);
}

static void post(int first, int second)
{
    MPI_Group group;

    group_of(first, second, &group);
    MPI_Win_post(group, 0, win);
    MPI_Group_free(&group);
}

/* ---- fences ---- */

static void fence_put_put(void)
{
    make(NULL, NULL);
    MPI_Win_fence(0, win);
    if (rank != TARGET)
        MPI_Put(&rank, 1, MPI_INT, TARGET, 3, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    drop();
}

static void fence_between(void)
{
    make(NULL, NULL);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Win_fence(0, win);
        if (rank == turn)
            MPI_Put(&rank, 1, MPI_INT, TARGET, 3, 1, MPI_INT, win);
    }
    MPI_Win_fence(0, win);
    drop();
}

static void fence_apart(void)
{
    make(NULL, NULL);
    MPI_Win_fence(0, win);
    if (rank != TARGET)
        MPI_Put(&rank, 1, MPI_INT, TARGET, 3 + rank, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    drop();
}

/* The target stores into its memory, and then opens the epoch for others by a fence that need not
 * synchronize. */
static void fence_after_store(void)
{
    MPI_Win other;
    int source = 5;

    make(NULL, NULL);
    other = over(&source, 1);
    if (rank == TARGET) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, other);
        MPI_Get(memory, 1, MPI_INT, 1, 0, 1, MPI_INT, other);
        MPI_Win_unlock(1, other);
    }
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    if (rank == 0)
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&other);
    drop();
}

/* ---- accumulates ---- */

static void accumulate_same(void)
{
    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    drop();
}

static void accumulate_other(void)
{
    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, rank == 0 ? MPI_MAX : MPI_SUM, win);
    MPI_Win_unlock_all(win);
    drop();
}

static void accumulate_and_read(void)
{
    int value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0)
        MPI_Get_accumulate(NULL, 0, MPI_INT, &value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_NO_OP,
                           win);
    else
        MPI_Accumulate(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    drop();
}

static void accumulate_hint(void)
{
    int value;

    make("accumulate_ops", "same_op");
    MPI_Win_lock_all(0, win);
    if (rank == 0)
        MPI_Get_accumulate(NULL, 0, MPI_INT, &value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_NO_OP,
                           win);
    else
        MPI_Accumulate(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    drop();
}

static void accumulate_and_get(void)
{
    int value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0)
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    else if (rank == 1)
        MPI_Accumulate(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    drop();
}

/* ---- post and start ---- */

static void pscw_two_origins(void)
{
    make(NULL, NULL);
    if (rank == TARGET) {
        post(0, 1);
        MPI_Win_wait(win);
    } else {
        start(TARGET);
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
    }
    drop();
}

static void pscw_in_turn(void)
{
    make(NULL, NULL);
    if (rank == TARGET) {
        for (int i = 0; i < 2; i++) {
            post(i, -1);
            MPI_Win_wait(win);
        }
    } else {
        start(TARGET);
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
    }
    drop();
}

/* A call of MPI_Win_complete says nothing about the target. */
static void pscw_completed(void)
{
    make(NULL, NULL);
    if (rank == TARGET) {
        post(0, 1);
        MPI_Win_wait(win);
    } else {
        start(TARGET);
        if (rank == 1)
            receive_from(0);
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
        if (rank == 0)
            send_to(1);
    }
    drop();
}

/* The target sends on what it has got. */
static void pscw_use(int before_the_end)
{
    MPI_Win other;
    int got = 0;

    make(NULL, NULL);
    other = over(&got, 1);
    if (rank == TARGET) {
        post(0, -1);
        if (!before_the_end)
            MPI_Win_wait(win);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, other);
        MPI_Put(memory, 1, MPI_INT, 1, 0, 1, MPI_INT, other);
        MPI_Win_unlock(1, other);
        if (before_the_end)
            MPI_Win_wait(win);
    } else if (rank == 0) {
        start(TARGET);
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
    }
    MPI_Win_free(&other);
    drop();
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
    make(NULL, NULL);
    if (rank != TARGET) {
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_unlock(TARGET, win);
    }
    drop();
}

static void lock_exclusive(void)
{
    make(NULL, NULL);
    if (rank != TARGET) {
        MPI_Win_lock(rank ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, TARGET, 0, win);
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_unlock(TARGET, win);
    }
    drop();
}

/* The lock of one window keeps processes apart that access another one: who has got something under
 * it has the lock. */
static void lock_as_mutex(void)
{
    MPI_Win other;
    int value;

    make(NULL, NULL);
    other = over(memory, INTS);
    MPI_Win_lock_all(0, other);
    if (rank != TARGET) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win);
        MPI_Get(&value, 1, MPI_INT, TARGET, 8, 1, MPI_INT, win);
        MPI_Win_flush(TARGET, win);
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, other);
        MPI_Win_flush(TARGET, other);
        MPI_Win_unlock(TARGET, win);
    }
    MPI_Win_unlock_all(other);
    MPI_Win_free(&other);
    drop();
}

/* Locks of two windows do not exclude each other, though both have the same memory. */
static void lock_two_windows(void)
{
    MPI_Win both[2];

    make(NULL, NULL);
    both[0] = over(memory, INTS);
    both[1] = over(memory + 4, 4);
    if (rank != TARGET) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, both[rank]);
        MPI_Put(&rank, 1, MPI_INT, TARGET, rank ? 1 : 5, 1, MPI_INT, both[rank]);
        MPI_Win_unlock(TARGET, both[rank]);
    }
    MPI_Win_free(&both[1]);
    MPI_Win_free(&both[0]);
    drop();
}

/* The target uses its memory as a buffer while others may lock it. */
static void lock_use(int locks_itself)
{
    MPI_Win other;
    int got = 0;

    make(NULL, NULL);
    other = over(&got, 1);
    if (rank == TARGET) {
        if (locks_itself)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, other);
        MPI_Put(memory, 1, MPI_INT, 1, 0, 1, MPI_INT, other);
        MPI_Win_unlock(1, other);
        if (locks_itself)
            MPI_Win_unlock(TARGET, win);
    } else if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win);
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_unlock(TARGET, win);
    }
    MPI_Win_free(&other);
    drop();
}

static void lock_of_itself(void)
{
    lock_use(1);
}

static void no_lock_of_itself(void)
{
    lock_use(0);
}

/* ---- flush, and what tells others of it ---- */

static void barrier_between(MPI_Comm comm)
{
    int value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_flush(TARGET, win);
    }
    MPI_Barrier(comm);
    if (rank == 1)
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    drop();
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

    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, rank == 0, TAG, &both);
    barrier_between(both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&group);
}

static void barrier_no_flush(void)
{
    int value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0)
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    drop();
}

/* A barrier of two processes that does not hold up the third. */
static void barrier_of_others(void)
{
    MPI_Comm two;
    int value;

    make(NULL, NULL);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1, 0, &two);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_flush(TARGET, win);
    }
    MPI_Barrier(two);
    if (rank == 1)
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    MPI_Comm_free(&two);
    drop();
}

static void flush_ibarrier(void)
{
    MPI_Request request;
    int value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_flush(TARGET, win);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    drop();
}

static void flush_message(void)
{
    int value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_flush(TARGET, win);
        send_to(1);
    } else if (rank == 1) {
        receive_from(0);
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    }
    MPI_Win_unlock_all(win);
    drop();
}

/* Who gets the message has it from somebody who has it from the origin. */
static void message_chain(void)
{
    int value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_flush(TARGET, win);
        send_to(TARGET);
    } else if (rank == TARGET) {
        MPI_Sendrecv(&rank, 1, MPI_INT, 1, TAG, &value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        receive_from(0);
        send_to(1);
    } else {
        MPI_Sendrecv(&rank, 1, MPI_INT, TARGET, TAG, &value, 1, MPI_INT, TARGET, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        receive_from(TARGET);
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    }
    MPI_Win_unlock_all(win);
    drop();
}

static void message_no_flush(void)
{
    int value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_flush_local(TARGET, win);
        send_to(1);
    } else if (rank == 1) {
        receive_from(0);
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    }
    MPI_Win_unlock_all(win);
    drop();
}

static void message_other_way(void)
{
    int value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        receive_from(1);
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_flush(TARGET, win);
    } else if (rank == 1) {
        send_to(0);
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    }
    MPI_Win_unlock_all(win);
    drop();
}

/* The message that tells of the put has been sent, but another one is received before the get. */
static void message_not_awaited(void)
{
    int value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_flush(TARGET, win);
        send_to(1);
        send_to(TARGET);
    } else if (rank == TARGET) {
        send_to(1);
        receive_from(0);
    } else {
        receive_from(TARGET);
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        receive_from(0);
    }
    MPI_Win_unlock_all(win);
    drop();
}

static void atomic_flag(void)
{
    int value = 0;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        const int one = 1;

        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_flush(TARGET, win);
        MPI_Accumulate(&one, 1, MPI_INT, TARGET, 8, 1, MPI_INT, MPI_REPLACE, win);
    } else if (rank == 1) {
        while (value == 0) {
            MPI_Fetch_and_op(NULL, &value, MPI_INT, TARGET, 8, MPI_NO_OP, win);
            MPI_Win_flush(TARGET, win);
        }
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    }
    MPI_Win_unlock_all(win);
    drop();
}

static void spin_lock(void)
{
    const int free_word = 0, mine = rank + 1;
    int found, value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    do {
        MPI_Compare_and_swap(&mine, &free_word, &found, MPI_INT, TARGET, 8, win);
        MPI_Win_flush(TARGET, win);
    } while (found != free_word);
    MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    MPI_Win_flush(TARGET, win);
    value++;
    MPI_Put(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    MPI_Win_flush(TARGET, win);
    MPI_Accumulate(&free_word, 1, MPI_INT, TARGET, 8, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_unlock_all(win);
    drop();
}

/* ---- requests ---- */

/* Its request says that the put is complete at its origin. */
static void request_put(void)
{
    MPI_Request request;
    int value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Rput(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    drop();
}

static void request_get(void)
{
    MPI_Request request;
    int value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Rget(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    drop();
}

/* ---- datatypes, windows over the same memory ---- */

static void put_every(int step, int first)
{
    MPI_Datatype type;
    int data[8] = {0};

    MPI_Type_vector(8, 1, step, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Put(data, 8, MPI_INT, TARGET, first, 1, type, win);
    MPI_Type_free(&type);
    MPI_Win_fence(0, win); /* while the data are there */
}

static void interleaved(void)
{
    make(NULL, NULL);
    MPI_Win_fence(0, win);
    if (rank == TARGET)
        MPI_Win_fence(0, win);
    else
        put_every(2, rank);
    drop();
}

static void interleaved_wrong(void)
{
    make(NULL, NULL);
    MPI_Win_fence(0, win);
    if (rank == TARGET)
        MPI_Win_fence(0, win);
    else
        put_every(rank ? 3 : 2, rank);
    drop();
}

static void dynamic(int apart)
{
    static int attached[4];
    MPI_Aint address;
    MPI_Win there;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &there);
    MPI_Win_set_name(there, name);
    MPI_Win_attach(there, attached, sizeof attached);
    MPI_Get_address(attached, &address);
    MPI_Bcast(&address, 1, MPI_AINT, TARGET, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, there);
    if (rank != TARGET)
        MPI_Put(&rank, 1, MPI_INT, TARGET, address + (apart ? 4 * rank : 0), 1, MPI_INT, there);
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

    make(NULL, NULL);
    other = over(memory, INTS);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        MPI_Win_unlock(TARGET, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, other);
        MPI_Put(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, other);
        MPI_Win_unlock(TARGET, other);
    }
    MPI_Win_free(&other);
    drop();
}

/* ---- notifications ---- */

static void notified(int waits)
{
    MPI_Win other;
    int got = 0;

    make("mpirma_notifications", "1");
    other = over(&got, 1);
    MPI_Win_lock_all(0, win);
    if (rank == 0)
        MPIRMA_Put_notify(&rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, 0, win);
    if (rank == TARGET) {
        if (waits)
            MPIRMA_Notify_wait(win, 0, 0, 1);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, other);
        MPI_Put(memory, 1, MPI_INT, 1, 0, 1, MPI_INT, other);
        MPI_Win_unlock(1, other);
        if (!waits)
            MPIRMA_Notify_wait(win, 0, 0, 1);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&other);
    drop();
}

static void notified_awaited(void)
{
    notified(1);
}

static void notified_early(void)
{
    notified(0);
}

/* ---- buffers ---- */

static void buffer(int flushes)
{
    static int value;

    make(NULL, NULL);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
        if (flushes)
            MPI_Win_flush_local(TARGET, win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    }
    MPI_Win_unlock_all(win);
    drop();
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
    MPI_Win_set_name(shared, name);
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
#define CASE(how, name) {how, #name, name}
static const struct {
    const char *how, *name;
    void (*run)(void);
} cases[] = {
    CASE("right", fence_between),
    CASE("right", fence_apart),
    CASE("right", fence_after_store),
    CASE("right", accumulate_same),
    CASE("right", accumulate_and_read),
    CASE("right", pscw_in_turn),
    CASE("right", pscw_after_wait),
    CASE("right", lock_exclusive),
    CASE("right", lock_as_mutex),
    CASE("right", lock_of_itself),
    CASE("right", flush_barrier),
    CASE("right", flush_idup),
    CASE("right", flush_intercomm),
    CASE("right", flush_ibarrier),
    CASE("right", flush_message),
    CASE("right", message_chain),
    CASE("right", atomic_flag),
    CASE("right", spin_lock),
    CASE("right", request_get),
    CASE("right", interleaved),
    CASE("right", dynamic_apart),
    CASE("right", windows_in_turn),
    CASE("right", notified_awaited),
    CASE("right", buffer_complete),
    CASE("wrong", fence_put_put),
    CASE("wrong", accumulate_other),
    CASE("wrong", accumulate_hint),
    CASE("wrong", accumulate_and_get),
    CASE("wrong", pscw_two_origins),
    CASE("wrong", pscw_completed),
    CASE("wrong", pscw_before_wait),
    CASE("wrong", lock_shared),
    CASE("wrong", lock_two_windows),
    CASE("wrong", no_lock_of_itself),
    CASE("wrong", barrier_no_flush),
    CASE("wrong", barrier_of_others),
    CASE("wrong", message_no_flush),
    CASE("wrong", message_other_way),
    CASE("wrong", message_not_awaited),
    CASE("wrong", request_put),
    CASE("wrong", interleaved_wrong),
    CASE("wrong", dynamic_same),
    CASE("wrong", notified_early),
    CASE("wrong", buffer_in_use),
    CASE("wrong", shared_stores),
};
/* clang-format on */

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : (int)(sizeof cases / sizeof *cases);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n; i++) {
        name = cases[i].name;
        if (rank == 0)
            printf("%s %s\n", cases[i].how, name);
        cases[i].run();
    }
    MPI_Finalize();
    return 0;
}
