/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_messages.c - writes messages and collective operations of MPI, as OTF2 has them: a send
 * where it begins, a receive where it is complete, and the other end of those that have a request.
 * A collective operation ends with its call.
 */
#include "archive_process.h"

static void write_send(struct track *track, const struct trace_record *r, OTF2_CommRef comm)
{
    const uint64_t time = track_time(track, r->time);

    archive_check(track->archive,
                  r->id ? OTF2_EvtWriter_MpiIsend(track->writer, NULL, time, (uint32_t)r->peer,
                                                  comm, r->arg, r->bytes, r->id)
                        : OTF2_EvtWriter_MpiSend(track->writer, NULL, time, (uint32_t)r->peer, comm,
                                                 r->arg, r->bytes));
}

static void write_received(struct track *track, const struct trace_record *r, OTF2_CommRef comm)
{
    const uint64_t time = track_time(track, r->time);

    archive_check(track->archive,
                  r->id ? OTF2_EvtWriter_MpiIrecv(track->writer, NULL, time, (uint32_t)r->peer,
                                                  comm, r->arg, r->bytes, r->id)
                        : OTF2_EvtWriter_MpiRecv(track->writer, NULL, time, (uint32_t)r->peer, comm,
                                                 r->arg, r->bytes));
}

/* The one end of a request that names no peer. */
static void write_request(struct track *track, const struct trace_record *r)
{
    const uint64_t time = track_time(track, r->time);

    archive_check(track->archive,
                  r->kind == TRACE_SENT
                      ? OTF2_EvtWriter_MpiIsendComplete(track->writer, NULL, time, r->id)
                  : r->kind == TRACE_RECEIVE
                      ? OTF2_EvtWriter_MpiIrecvRequest(track->writer, NULL, time, r->id)
                      : OTF2_EvtWriter_MpiRequestCancelled(track->writer, NULL, time, r->id));
}

static void collective_open(struct track *track, const struct trace_record *r, OTF2_CommRef comm)
{
    struct frame *frame = track->depth ? &track->frame[track->depth - 1] : NULL;

    if (!frame || !frame->call || frame->together)
        return; /* its Enter was damaged */
    frame->together = r;
    frame->comm = comm;
    archive_check(track->archive, OTF2_EvtWriter_MpiCollectiveBegin(track->writer, NULL,
                                                                    track_time(track, r->time)));
}

void collective_close(struct track *track, const struct frame *frame, uint64_t time)
{
    const struct trace_record *r = frame->together;

    if (!r)
        return;
    archive_check(track->archive,
                  OTF2_EvtWriter_MpiCollectiveEnd(
                      track->writer, NULL, track_time(track, time), (OTF2_CollectiveOp)r->what,
                      frame->comm, r->peer < 0 ? OTF2_COLLECTIVE_ROOT_NONE : (uint32_t)r->peer,
                      r->bytes, r->id));
}

bool message_record(struct process *process, struct thread *thread, const struct trace_record *r)
{
    const struct job *job = process->archive->job;
    struct track *track = &thread->track;

    if (r->kind == TRACE_SENT || r->kind == TRACE_RECEIVE || r->kind == TRACE_CANCELLED) {
        write_request(track, r);
        return r->kind == TRACE_RECEIVE;
    }
    const uint32_t index = job_comm(job, thread->file->head->rank, r->win);
    if (index == COMM_UNKNOWN || r->peer >= (int64_t)job->comms.comm[index].nranks) {
        process->archive->unknown_comm++;
        return false;
    }
    const OTF2_CommRef comm = comm_of_messages(job, index);
    if (r->kind == TRACE_SEND)
        write_send(track, r, comm);
    else if (r->kind == TRACE_RECEIVED)
        write_received(track, r, comm);
    else
        collective_open(track, r, comm);
    return r->kind == TRACE_SEND || (r->kind == TRACE_RECEIVED && !r->id);
}
