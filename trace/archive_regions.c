/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_regions.c - regions that the program has named, and where it has stopped the recording.
 *
 * Regions of a thread lie in one another, and calls lie in regions. Where a function that a call
 * calls (of an attribute, or an operator) ends a region that was begun before the call, the region
 * ends with the call. Where the recording is stopped, what is not over ends with it: operations,
 * locks, epochs, and what the library does; calls that other threads are in, and regions, go on.
 */
#include "archive_process.h"

void region_begin(struct process *process, struct thread *thread, const struct trace_record *r)
{
    struct track *track = &thread->track;
    const uint32_t region = job_region(process->archive->job, thread->file->head->rank, r->id);

    if (region == REGION_UNKNOWN)
        return; /* the record of its name was damaged */
    track_enter_region(track, r->time, region);
    struct frame *frame = frame_push(track);
    frame->own = OWN_REGIONS;
    frame->region = region;
    frame->nested = r->arg;
}

void region_end(struct process *process, struct thread *thread, const struct trace_record *r)
{
    struct track *track = &thread->track;
    size_t at = track->depth;
    bool in_call = false;

    while (at > 0 && (track->frame[at - 1].call || track->frame[at - 1].own != OWN_REGIONS ||
                      track->frame[at - 1].nested != r->arg)) {
        in_call = in_call || track->frame[at - 1].call;
        at--;
    }
    if (at == 0)
        return; /* the region has begun before the trace, or has already ended */
    track->frame[at - 1].over = true;
    if (in_call)
        return;
    frames_close(process, thread, at, r->time);
    regions_close(track, r->time);
}

void regions_close(struct track *track, uint64_t time)
{
    while (track->depth > 0 && track->frame[track->depth - 1].over) {
        track_leave_region(track, time, track->frame[track->depth - 1].region);
        track->depth--;
    }
}

/* close_own closes what the library does, as far as it stands in no call that is open below. */
static void close_own(struct process *process, struct thread *thread, uint64_t time)
{
    struct track *track = &thread->track;
    size_t at = track->depth;

    while (at > 0 && !track->frame[at - 1].call && track->frame[at - 1].own != OWN_REGIONS)
        at--;
    frames_close(process, thread, at, time);
}

void recording(struct process *process, const struct trace_record *r)
{
    struct track *first = &process->thread[0].track;
    size_t cursor = 0;
    struct win *win;

    while (!r->arg && (win = table_next(&process->wins, &cursor))) {
        op_complete(first, win, -1, COMPLETE_LOCAL | COMPLETE_REMOTE | COMPLETE_UNRECORDED,
                    r->time);
        lock_release_all(first, win, r->time);
        win->access = win->exposure = false;
    }
    for (size_t i = 0; i < process->nthreads; i++) {
        struct thread *thread = &process->thread[i];

        if (!r->arg)
            close_own(process, thread, r->time);
        archive_check(process->archive,
                      OTF2_EvtWriter_MeasurementOnOff(
                          thread->track.writer, NULL, track_time(&thread->track, r->time),
                          r->arg ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF));
    }
}
