/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_messages.c - see traced_messages.h.
 *
 * Sends are recorded before they begin, and receives when they are complete; receives with a
 * request also when they begin. So no message is recorded as received before it is recorded as
 * sent. Messages to MPI_PROC_NULL are not recorded. Arguments are checked only as far as is
 * necessary here: the host's call, which follows, finds wrong ones.
 *
 * Where a trace is to tell which memory is accessed, the buffer of a message is recorded behind the
 * record of its begin, or, where a receive has no begin of its own, behind that of its end. Buffers
 * of persistent requests are not recorded.
 *
 * State: the number of the last request. No locks. Neighbours: traced_comms.h, traced_requests.h;
 * traced_calls.h, which has what is implemented here.
 */
#include "mpi/traced/traced_messages.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/err.h"
#include "mpi/process/state.h"
#include "mpi/traced/traced_calls.h"
#include "mpi/traced/traced_comms.h"
#include "mpi/traced/traced_requests.h"
#include "rma/layer/fast.h"
#include "rma/rma.h"
#include "trace/record.h"

static _Atomic uint64_t last_request;

static uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;

    if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS ||
        size < 0)
        return 0;
    return (uint64_t)count * (uint64_t)size;
}

/* Returns its time. */
static uint64_t record(struct trace_record event)
{
    event.time = trace_now(mpi_trace);
    trace_add(mpi_trace, &event);
    return event.time;
}

/* The buffer of a message that was recorded before, at this time. */
struct buffer {
    const void *base;
    MPI_Count count;
    MPI_Datatype type;
    bool stored; /* it is received there */
};

/* Without an engine there is no window that the buffer could be part of. */
static void record_buffer(uint64_t time, struct buffer buffer)
{
    struct dtype_cache *types = state_types();
    int err = MRMA_SUCCESS;

    if (!trace_has_accesses(mpi_trace) || types == NULL || buffer.count <= 0)
        return;
    const struct dtype *type = dtype_lookup(types, buffer.type, &err);
    if (type != NULL)
        rma_trace_buffer(mpi_trace, time, buffer.base, type, (size_t)buffer.count, buffer.stored);
}

/* comm_with returns what is known of comm. NULL: a message between this process and peer in comm is
 * not recorded. */
static const struct traced_comm *comm_with(MPI_Comm comm, int peer)
{
    const struct traced_comm *known = mpi_trace != NULL ? traced_comms_find(mpi_trace, comm) : NULL;

    return known != NULL && peer >= 0 && peer < known->size ? known : NULL;
}

static uint64_t record_send(uint32_t comm, int peer, int tag, uint64_t bytes, uint64_t request)
{
    return record((struct trace_record){.kind = TRACE_SEND,
                                        .win = comm,
                                        .peer = peer,
                                        .arg = (uint32_t)tag,
                                        .bytes = bytes,
                                        .id = request});
}

static void send(const void *buffer, MPI_Count count, MPI_Datatype type, int peer, int tag,
                 MPI_Comm comm)
{
    const struct traced_comm *known = comm_with(comm, peer);

    if (known != NULL)
        record_buffer(record_send(known->number, peer, tag, bytes_of(count, type), 0),
                      (struct buffer){buffer, count, type, false});
}

/* record_received records a received message. comm is the number of the communicator. Returns the
 * time. */
static uint64_t record_received(uint32_t comm, const MPI_Status *status, uint64_t request)
{
    MPI_Count bytes = 0;

    if (PMPI_Get_elements_x(status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0)
        bytes = 0;
    return record((struct trace_record){.kind = TRACE_RECEIVED,
                                        .win = comm,
                                        .peer = status->MPI_SOURCE,
                                        .arg = (uint32_t)status->MPI_TAG,
                                        .bytes = (uint64_t)bytes,
                                        .id = request});
}

static void received(const void *buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm,
                     const MPI_Status *status)
{
    const struct traced_comm *known = comm_with(comm, status->MPI_SOURCE);

    if (known != NULL)
        record_buffer(record_received(known->number, status, 0),
                      (struct buffer){buffer, count, type, true});
}

static uint64_t new_request(void)
{
    return 1 + atomic_fetch_add_explicit(&last_request, 1, memory_order_relaxed);
}

static uint64_t record_receive(uint32_t comm, uint64_t request)
{
    return record(
        (struct trace_record){.kind = TRACE_RECEIVE, .win = comm, .peer = -1, .id = request});
}

static uint64_t posted(bool sends, const void *buffer, MPI_Count count, MPI_Datatype type, int peer,
                       int tag, MPI_Comm comm)
{
    const struct traced_comm *known = comm_with(comm, !sends && peer == MPI_ANY_SOURCE ? 0 : peer);

    if (known == NULL)
        return 0;
    const uint64_t number = new_request();
    const uint64_t time = sends
                              ? record_send(known->number, peer, tag, bytes_of(count, type), number)
                              : record_receive(known->number, number);
    record_buffer(time, (struct buffer){buffer, count, type, !sends});
    return number;
}

/* record_end records that a request is complete without a message. */
static void record_end(enum trace_kind kind, uint64_t request)
{
    record((struct trace_record){.kind = (uint16_t)kind, .peer = -1, .id = request});
}

static void pending(uint64_t number, bool sends, MPI_Comm comm, int rc, const MPI_Request *request)
{
    if (number == 0 || mpi_trace == NULL)
        return;
    const struct traced_comm *known = traced_comms_find(mpi_trace, comm);
    if (rc != MPI_SUCCESS || known == NULL || *request == MPI_REQUEST_NULL)
        record_end(TRACE_CANCELLED, number);
    else
        traced_requests_add(*request, (struct traced_request){
                                          .number = number, .comm = known->number, .sends = sends});
}

static void persistent(bool sends, MPI_Count count, MPI_Datatype type, int peer, int tag,
                       MPI_Comm comm, int rc, const MPI_Request *request)
{
    const struct traced_comm *known = comm_with(comm, !sends && peer == MPI_ANY_SOURCE ? 0 : peer);

    if (known != NULL && rc == MPI_SUCCESS)
        traced_requests_add(*request, (struct traced_request){.comm = known->number,
                                                              .sends = sends,
                                                              .stays = true,
                                                              .peer = peer,
                                                              .tag = tag,
                                                              .bytes = bytes_of(count, type)});
}

static uint64_t start_one(const struct traced_request *what)
{
    if (trace_is_stopped(mpi_trace))
        return 0;
    const uint64_t number = new_request();

    if (what->sends)
        record_send(what->comm, what->peer, what->tag, what->bytes, number);
    else
        record_receive(what->comm, number);
    return number;
}

static void start(int n, const MPI_Request *requests)
{
    for (int i = 0; i < n && mpi_trace != NULL && traced_requests_any(); i++)
        (void)traced_requests_start(requests[i], start_one);
}

static void freed(const MPI_Request *request)
{
    traced_requests_forget(*request);
}

/* ---- waits and tests ---- */

struct traced_waits {
    MPI_Request *request; /* as they were before the call */
    MPI_Status *own;
    int n;
};

static struct traced_waits *wait_for(int n, const MPI_Request *requests)
{
    if (n <= 0 || requests == NULL || !traced_requests_any())
        return NULL;
    struct traced_waits *waits = malloc(sizeof *waits);
    if (waits == NULL)
        return NULL;
    *waits = (struct traced_waits){.request = malloc((size_t)n * sizeof *waits->request), .n = n};
    waits->own = malloc((size_t)n * sizeof *waits->own);
    if (waits->request == NULL || waits->own == NULL) {
        free(waits->own);
        free(waits->request);
        free(waits);
        return NULL;
    }
    for (int i = 0; i < n; i++)
        waits->request[i] = requests[i];
    return waits;
}

static MPI_Status *statuses_of(struct traced_waits *waits, MPI_Status *given)
{
    return given == MPI_STATUS_IGNORE || given == MPI_STATUSES_IGNORE ? waits->own : given;
}

static void complete(MPI_Request request, const MPI_Status *status)
{
    struct traced_request what;
    int cancelled = 0;

    if (request == MPI_REQUEST_NULL || !traced_requests_take(request, &what) || what.number == 0)
        return;
    PMPI_Test_cancelled(status, &cancelled);
    if (cancelled)
        record_end(TRACE_CANCELLED, what.number);
    else if (what.sends)
        record_end(TRACE_SENT, what.number);
    else if (status->MPI_SOURCE >= 0)
        record_received(what.comm, status, what.number);
}

static void waited(struct traced_waits *waits, int k, const int *indices,
                   const MPI_Status *statuses)
{
    for (int i = 0; i < k && mpi_trace != NULL; i++) {
        const int at = indices != NULL ? indices[i] : i;

        if (at >= 0 && at < waits->n)
            complete(waits->request[at], &statuses[i]);
    }
    free(waits->own);
    free(waits->request);
    free(waits);
}

/* ---- collective operations ---- */

/* At which processes a buffer counts, and how often its count is taken. */
enum whose { NONE, ALL, ROOT, OTHERS };
enum often { ONCE, EACH, LISTED, OWN };

static const struct shape {
    enum whose sends;
    enum often send_count;
    enum whose receives;
    enum often receive_count;
} shape[TRACE_COLLECTIVES] = {
    [TRACE_BARRIER] = {NONE, ONCE, NONE, ONCE},
    [TRACE_BCAST] = {ROOT, ONCE, OTHERS, ONCE},
    [TRACE_GATHER] = {ALL, ONCE, ROOT, EACH},
    [TRACE_GATHERV] = {ALL, ONCE, ROOT, LISTED},
    [TRACE_SCATTER] = {ROOT, EACH, ALL, ONCE},
    [TRACE_SCATTERV] = {ROOT, LISTED, ALL, ONCE},
    [TRACE_ALLGATHER] = {ALL, ONCE, ALL, EACH},
    [TRACE_ALLGATHERV] = {ALL, ONCE, ALL, LISTED},
    [TRACE_ALLTOALL] = {ALL, EACH, ALL, EACH},
    [TRACE_ALLTOALLV] = {ALL, LISTED, ALL, LISTED},
    [TRACE_ALLTOALLW] = {NONE, ONCE, NONE, ONCE},
    [TRACE_ALLREDUCE] = {ALL, ONCE, ALL, ONCE},
    [TRACE_REDUCE] = {ALL, ONCE, ROOT, ONCE},
    [TRACE_REDUCE_SCATTER] = {ALL, LISTED, ALL, OWN},
    [TRACE_SCAN] = {ALL, ONCE, ALL, ONCE},
    [TRACE_EXSCAN] = {ALL, ONCE, ALL, ONCE},
    [TRACE_REDUCE_SCATTER_BLOCK] = {ALL, EACH, ALL, ONCE},
};

static uint64_t size_of(const struct traced_comm *comm, enum whose whose, enum often often,
                        int root, const void *buffer, MPI_Count count, const int *counts,
                        MPI_Datatype type)
{
    if (whose == NONE || (whose == ROOT && comm->rank != root) ||
        (whose == OTHERS && comm->rank == root) || buffer == MPI_IN_PLACE)
        return 0;
    if (often == EACH)
        count *= comm->size;
    if (often == OWN)
        count = counts[comm->rank];
    if (often == LISTED) {
        count = 0;
        for (int i = 0; i < comm->size; i++)
            count += counts[i];
    }
    return bytes_of(count, type);
}

static void collective(const struct traced_collective *operation)
{
    const struct traced_comm *comm =
        mpi_trace != NULL ? traced_comms_find(mpi_trace, operation->comm) : NULL;
    const struct shape *at = &shape[operation->op];

    if (comm == NULL || operation->root >= comm->size || operation->root < -1)
        return;
    record((struct trace_record){
        .kind = TRACE_COLLECTIVE,
        .what = (uint16_t)operation->op,
        .win = comm->number,
        .peer = operation->root,
        .bytes = size_of(comm, at->sends, at->send_count, operation->root, operation->sends,
                         operation->send_count, operation->send_counts, operation->send_type),
        .id =
            size_of(comm, at->receives, at->receive_count, operation->root, operation->receives,
                    operation->receive_count, operation->receive_counts, operation->receive_type)});
}

static void communicator(MPI_Comm parent, int rc, const MPI_Comm *made)
{
    if (mpi_trace != NULL && rc == MPI_SUCCESS)
        traced_comms_made(mpi_trace, parent, *made);
}

const struct traced_messages *traced_messages_begin(void)
{
    static const struct traced_messages messages = {
        .send = send,
        .received = received,
        .posted = posted,
        .pending = pending,
        .persistent = persistent,
        .start = start,
        .freed = freed,
        .wait = wait_for,
        .statuses = statuses_of,
        .waited = waited,
        .collective = collective,
        .communicator = communicator,
    };

    traced_comms_begin(mpi_trace);
    return &messages;
}

void traced_messages_end(void)
{
    traced_comms_end();
    traced_requests_end();
}
