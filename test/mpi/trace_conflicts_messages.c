/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_conflicts_messages.c - small programs with and without conflicting accesses: messages from
 * any source, and the buffers of messages, from which a message is loaded and into which it is
 * stored between its begin and its completion (MPI 4.1, 3.2 and 3.7.2).
 */
#include <mpi.h>
#include <stddef.h>

#include "trace_conflicts.h"

/* ---- order by messages from any source ---- */

/* Process 0 has put and sends; who has its message may get. It is received from any source. */
static void from_any(int waits)
{
    MPI_Request request;
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
        case_send_to(1);
    } else if (case_rank == 1) {
        if (waits) {
            MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    }
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void any_source(void)
{
    from_any(0);
}

static void any_source_wait(void)
{
    from_any(1);
}

/* The message that was received is of another process, though that of process 0 has been sent. */
static void from_other(int waits)
{
    MPI_Request request;
    int value;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
        MPI_Send(&case_rank, 1, MPI_INT, 1, TAG + 1, MPI_COMM_WORLD);
        case_send_to(TARGET);
    } else if (case_rank == TARGET) {
        case_send_to(1);
        case_receive_from(0);
    } else {
        if (waits) {
            MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Recv(&value, 1, MPI_INT, 0, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void any_source_other(void)
{
    from_other(0);
}

static void any_source_wait_other(void)
{
    from_other(1);
}

/* ---- buffers of messages in a window ---- */

enum use { GETS, PUTS };

/* Process 1 uses one int of the target's memory and is done with it; all know that. */
static void use_memory(enum use use, int at)
{
    int value = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    if (case_rank == 1) {
        if (use == GETS)
            MPI_Get(&value, 1, MPI_INT, TARGET, at, 1, MPI_INT, case_win);
        else
            MPI_Put(&case_rank, 1, MPI_INT, TARGET, at, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Meanwhile the target receives ints from process 0 into every one of its memory, of which a
 * message of that many comes, or every other one. */
static void receive_while(enum use use, int at, int step)
{
    MPI_Datatype type;
    MPI_Request request = MPI_REQUEST_NULL;
    const int values[4] = {0};

    MPI_Type_vector(4, 1, step, MPI_INT, &type);
    MPI_Type_commit(&type);
    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == TARGET)
        MPI_Irecv(case_memory, 1, type, 0, TAG, MPI_COMM_WORLD, &request);
    use_memory(use, at);
    if (case_rank == 0)
        MPI_Send(values, 4, MPI_INT, TARGET, TAG, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(case_win);
    case_drop();
    MPI_Type_free(&type);
}

static void receive_put(void)
{
    receive_while(PUTS, 3, 1);
}

static void receive_get(void)
{
    receive_while(GETS, 0, 1);
}

static void buffers_apart(void)
{
    receive_while(PUTS, 4, 1);
}

static void receive_interleaved(void)
{
    receive_while(PUTS, 3, 2);
}

/* The target's send is complete before others put where it is sent from, or is not. */
static void send_while(int is_complete)
{
    MPI_Request request = MPI_REQUEST_NULL;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == TARGET)
        MPI_Isend(case_memory, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
    if (is_complete)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    use_memory(PUTS, 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (case_rank == 0)
        case_receive_from(TARGET);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void send_put(void)
{
    send_while(0);
}

static void sent_before(void)
{
    send_while(1);
}

/* The target receives in a call that returns with the message, and others put before or behind. */
static void receive_in_call(int before)
{
    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0)
        case_send_to(TARGET);
    if (case_rank == TARGET)
        MPI_Recv(case_memory, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (before)
        MPI_Barrier(MPI_COMM_WORLD);
    if (case_rank == 1)
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

static void receive_blocking(void)
{
    receive_in_call(0);
}

static void received_before(void)
{
    receive_in_call(1);
}

static void exchange_put(void)
{
    int value = 0;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 1)
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    else
        MPI_Sendrecv(&value, 1, MPI_INT, TARGET - case_rank, TAG, case_memory, 1, MPI_INT,
                     TARGET - case_rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(case_win);
    case_drop();
}

/* The target locks its memory while it receives into it. */
static void receive_locked(void)
{
    case_make(NULL, NULL);
    if (case_rank == 0)
        case_send_to(TARGET);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, case_win);
    if (case_rank == TARGET)
        MPI_Recv(case_memory, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    MPI_Win_unlock(TARGET, case_win);
    case_drop();
}

/* Who has the message may put where it was sent from. */
static void answered(void)
{
    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == TARGET)
        MPI_Send(case_memory, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    if (case_rank == 1) {
        case_receive_from(TARGET);
        MPI_Put(&case_rank, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
    }
    MPI_Win_unlock_all(case_win);
    case_drop();
}

/* What is put is still being received. */
static void put_of_received(void)
{
    static int value;
    MPI_Request request;

    case_make(NULL, NULL);
    MPI_Win_lock_all(0, case_win);
    if (case_rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
        MPI_Put(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, case_win);
        MPI_Win_flush(TARGET, case_win);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (case_rank == 1) {
        case_send_to(0);
    }
    MPI_Win_unlock_all(case_win);
    case_drop();
}

/* clang-format off */
const struct conflict_case message_cases[] = {
    {"right", "any_source", any_source},
    {"right", "any_source_wait", any_source_wait},
    {"wrong", "any_source_other", any_source_other},
    {"wrong", "any_source_wait_other", any_source_wait_other},
    {"wrong", "receive_put", receive_put},
    {"wrong", "receive_get", receive_get},
    {"right", "buffers_apart", buffers_apart},
    {"right", "receive_interleaved", receive_interleaved},
    {"wrong", "send_put", send_put},
    {"right", "sent_before", sent_before},
    {"wrong", "receive_blocking", receive_blocking},
    {"right", "received_before", received_before},
    {"wrong", "exchange_put", exchange_put},
    {"right", "receive_locked", receive_locked},
    {"right", "answered", answered},
    {"wrong", "put_of_received", put_of_received},
    {NULL, NULL, NULL},
};
/* clang-format on */
