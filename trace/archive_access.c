/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_access.c - writes which memory an operation or a message accesses, and where a window's
 * memory lies.
 *
 * OTF2 has no record for it: each block, or each row of equal blocks, is a ParameterUnsignedInt
 * whose value is the address and whose attributes tell the rest. A record that names neither an
 * operation nor a window is about the message whose event is the last before it. Where a job has
 * not recorded what orders accesses (job.c), these records are left out, so that no reader takes
 * accesses for unordered.
 */
#include "archive_process.h"

static bool may_be_judged(const struct process *process, const struct thread *thread, uint64_t time)
{
    const struct job *job = process->archive->job;

    return machine_time(job_machine(job, thread->file->head->machine), time) < job->until;
}

void access_record(struct process *process, struct thread *thread, const struct trace_record *r)
{
    const struct trace_access *access = (const struct trace_access *)r;
    struct track *track = &thread->track;
    const bool of_window = (access->what & TRACE_SIDE) == TRACE_OF_WINDOW;
    const struct frame *frame = track->depth ? &track->frame[track->depth - 1] : NULL;
    const struct win *win = frame ? process_win(process, frame->window) : NULL;

    if (of_window ? !thread->creates || !win : !thread->op && !thread->message)
        return;
    if (!may_be_judged(process, thread, access->time))
        return;
    track_u32(track, ATTR_ACCESS, access->what);
    if (of_window)
        archive_check(process->archive,
                      OTF2_AttributeList_AddRmaWinRef(track->attributes, ATTR_WINDOW, win->index));
    else if (thread->op)
        track_u64(track, ATTR_OPERATION, thread->op);
    track_u64(track, ATTR_LENGTH, access->length);
    if (access->n > 1) {
        track_u32(track, ATTR_BLOCKS, access->n);
        track_i64(track, ATTR_STRIDE, access->stride);
    }
    archive_check(process->archive, OTF2_EvtWriter_ParameterUnsignedInt(
                                        track->writer, track->attributes,
                                        track_time(track, access->time), 0, access->begin));
}
