/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read_messages.c - reads messages and collective operations of MPI. See reading.h.
 */
#include "reading.h"

#include <stdlib.h>

/* Ranks of a communicator as ranks in MPI_COMM_WORLD. */
static uint32_t world_of(const struct trace *trace, uint32_t comm, uint32_t rank)
{
    const uint32_t group = comm == NONE ? NONE : trace->comm[comm];

    return group != NONE && rank < trace->group[group].n ? trace->group[group].rank[rank] : NONE;
}

/* What all callbacks begin with: where and when. */
struct here {
    uint32_t place, rank, call;
    uint64_t time;
};

/* False: it is nobody's. */
static bool find_here(struct reading *reading, OTF2_LocationRef location, OTF2_TimeStamp time,
                      struct here *here)
{
    here->place = reading_place(reading, location);
    here->time = reading_ns(reading, time);
    if (here->place == NONE || reading->trace->place[here->place].rank == NONE)
        return false;
    here->rank = reading->trace->place[here->place].rank;
    here->call = reading_any_call(reading, here->place);
    return true;
}

/* What comes next at the place may be about this message. */
static void last_is(struct reading *reading, const struct here *here, uint32_t index, bool sends)
{
    reading->at[here->place].message = index;
    reading->at[here->place].sends = sends;
}

static uint32_t new_sending(struct reading *reading, const struct here *here, uint32_t peer,
                            OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    struct trace *trace = reading->trace;
    const uint32_t index = defs_find(&reading->defs->comms, comm);

    trace->sending =
        grow(trace->sending, trace->nsendings, &trace->sendings_cap, sizeof *trace->sending);
    trace->sending[trace->nsendings] = (struct sending){.time = here->time,
                                                        .bytes = bytes,
                                                        .rank = here->rank,
                                                        .peer = world_of(trace, index, peer),
                                                        .comm = index,
                                                        .tag = tag,
                                                        .call = here->call,
                                                        .completer = NONE};
    last_is(reading, here, (uint32_t)trace->nsendings, true);
    return (uint32_t)trace->nsendings++;
}

static OTF2_CallbackCode on_send(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                 OTF2_AttributeList *list, uint32_t peer, OTF2_CommRef comm,
                                 uint32_t tag, uint64_t bytes)
{
    struct reading *reading = data;
    struct here here;

    (void)list;
    if (find_here(reading, location, time, &here)) {
        const uint32_t index = new_sending(reading, &here, peer, comm, tag, bytes);

        reading->trace->sending[index].completer = here.call;
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_isend(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                  OTF2_AttributeList *list, uint32_t peer, OTF2_CommRef comm,
                                  uint32_t tag, uint64_t bytes, uint64_t request)
{
    struct reading *reading = data;
    struct here here;

    (void)list;
    if (find_here(reading, location, time, &here))
        table_put_number(&reading->requests[here.rank], request,
                         new_sending(reading, &here, peer, comm, tag, bytes));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_isend_complete(OTF2_LocationRef location, OTF2_TimeStamp time,
                                           void *data, OTF2_AttributeList *list, uint64_t request)
{
    struct reading *reading = data;
    struct here here;

    (void)list;
    if (!find_here(reading, location, time, &here))
        return OTF2_CALLBACK_SUCCESS;
    const uint64_t index = table_take_number(&reading->requests[here.rank], request);
    if (index < reading->trace->nsendings)
        reading->trace->sending[index].completer = here.call;
    return OTF2_CALLBACK_SUCCESS;
}

static uint32_t new_receiving(struct reading *reading, const struct here *here)
{
    struct trace *trace = reading->trace;

    trace->receiving = grow(trace->receiving, trace->nreceivings, &trace->receivings_cap,
                            sizeof *trace->receiving);
    trace->receiving[trace->nreceivings] = (struct receiving){.posted = here->time,
                                                              .rank = here->rank,
                                                              .peer = NONE,
                                                              .comm = NONE,
                                                              .call = here->call,
                                                              .completer = NONE};
    last_is(reading, here, (uint32_t)trace->nreceivings, false);
    return (uint32_t)trace->nreceivings++;
}

static OTF2_CallbackCode on_irecv_request(OTF2_LocationRef location, OTF2_TimeStamp time,
                                          void *data, OTF2_AttributeList *list, uint64_t request)
{
    struct reading *reading = data;
    struct here here;

    (void)list;
    if (find_here(reading, location, time, &here))
        table_put_number(&reading->requests[here.rank], request, new_receiving(reading, &here));
    return OTF2_CALLBACK_SUCCESS;
}

static void set_received(struct reading *reading, const struct here *here, uint32_t index,
                         uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    struct receiving *receiving = &reading->trace->receiving[index];

    receiving->comm = defs_find(&reading->defs->comms, comm);
    receiving->peer = world_of(reading->trace, receiving->comm, peer);
    receiving->tag = tag;
    receiving->bytes = bytes;
    receiving->completer = here->call;
}

static OTF2_CallbackCode on_recv(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                 OTF2_AttributeList *list, uint32_t peer, OTF2_CommRef comm,
                                 uint32_t tag, uint64_t bytes)
{
    struct reading *reading = data;
    struct here here;

    (void)list;
    if (!find_here(reading, location, time, &here))
        return OTF2_CALLBACK_SUCCESS;
    const uint32_t index = new_receiving(reading, &here);
    if (here.call != NONE) /* it began with its call */
        reading->trace->receiving[index].posted = reading->trace->call[here.call].enter;
    set_received(reading, &here, index, peer, comm, tag, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_irecv(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                  OTF2_AttributeList *list, uint32_t peer, OTF2_CommRef comm,
                                  uint32_t tag, uint64_t bytes, uint64_t request)
{
    struct reading *reading = data;
    struct here here;

    (void)list;
    if (!find_here(reading, location, time, &here))
        return OTF2_CALLBACK_SUCCESS;
    const uint64_t known = table_take_number(&reading->requests[here.rank], request);
    const uint32_t index =
        known < reading->trace->nreceivings ? (uint32_t)known : new_receiving(reading, &here);
    set_received(reading, &here, index, peer, comm, tag, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_together(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                     OTF2_AttributeList *list, OTF2_CollectiveOp op,
                                     OTF2_CommRef comm, uint32_t root, uint64_t sent,
                                     uint64_t received)
{
    struct reading *reading = data;
    struct trace *trace = reading->trace;
    struct here here;

    (void)list;
    if (!find_here(reading, location, time, &here) || here.call == NONE)
        return OTF2_CALLBACK_SUCCESS;
    const uint32_t index = defs_find(&reading->defs->comms, comm);
    if (index == NONE)
        return OTF2_CALLBACK_SUCCESS;
    const uint64_t key = (uint64_t)here.rank << 32 | index;
    const uint64_t before = table_number(&reading->comms, key);
    const uint32_t sequence = before == TABLE_NONE ? 0 : (uint32_t)before;
    table_put_number(&reading->comms, key, sequence + 1);
    trace->together =
        grow(trace->together, trace->ntogethers, &trace->togethers_cap, sizeof *trace->together);
    trace->together[trace->ntogethers++] = (struct together){.comm = index,
                                                             .rank = here.rank,
                                                             .root = world_of(trace, index, root),
                                                             .sequence = sequence,
                                                             .call = here.call,
                                                             .op = (uint16_t)op,
                                                             .bytes = sent + received};
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- buffers ---- */

void reading_buffer(struct reading *reading, uint32_t place, struct access access)
{
    const struct at_place *at = &reading->at[place];
    struct trace *trace = reading->trace;

    if (at->message == NONE || (access.side == TRACE_LOADED) != at->sends)
        return;
    access.op = at->message;
    access.number = (uint32_t)trace->nbuffers;
    trace->buffer =
        grow(trace->buffer, trace->nbuffers, &trace->buffers_cap, sizeof *trace->buffer);
    trace->buffer[trace->nbuffers++] = access;
}

static int by_message(const void *a, const void *b)
{
    const struct access *x = a, *y = b;

    if (x->side != y->side)
        return x->side < y->side ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* A receive stores no more than what has come: whole blocks, or a part of one alone. What is left
 * out is no more than a block. */
static void cut_to_received(struct trace *trace, struct receiving *receiving)
{
    uint64_t left = receiving->completer == NONE ? 0 : receiving->bytes;
    uint32_t kept = 0;

    for (; kept < receiving->nbuffer && left > 0; kept++) {
        struct access *access = &trace->buffer[receiving->buffer + kept];

        if (access->inexact || access->length == 0)
            continue;
        if (access->length > left)
            access->length = left;
        if (access->n > left / access->length) {
            access->n = (uint32_t)(left / access->length);
            left = 0;
        }
        left = u64_minus(left, access->n * access->length);
    }
    receiving->nbuffer = kept;
}

void reading_messages_finish(struct trace *trace)
{
    sort(trace->buffer, trace->nbuffers, sizeof *trace->buffer, by_message);
    for (size_t i = 0; i < trace->nbuffers; i++) {
        const struct access *access = &trace->buffer[i];
        const bool sends = access->side == TRACE_LOADED;
        uint32_t *n =
            sends ? &trace->sending[access->op].nbuffer : &trace->receiving[access->op].nbuffer;

        if ((*n)++ == 0)
            *(sends ? &trace->sending[access->op].buffer : &trace->receiving[access->op].buffer) =
                (uint32_t)i;
    }
    for (size_t i = 0; i < trace->nreceivings; i++)
        cut_to_received(trace, &trace->receiving[i]);
}

void reading_messages_callbacks(OTF2_GlobalEvtReaderCallbacks *on)
{
    OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(on, on_send);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(on, on_isend);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCompleteCallback(on, on_isend_complete);
    OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(on, on_recv);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvRequestCallback(on, on_irecv_request);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(on, on_irecv);
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(on, on_together);
}
