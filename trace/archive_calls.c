/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_calls.c - writes the calls of the program: Enter and Leave, and what the call means for
 * its window, which is begin and end of a collective operation, synchronization with a group, or
 * completion of operations.
 */
#include "archive_process.h"

#include <stdlib.h>

struct frame *frame_push(struct track *track)
{
    track->frame = grow(track->frame, track->depth, &track->frames_cap, sizeof *track->frame);
    struct frame *frame = &track->frame[track->depth++];

    *frame = (struct frame){.peer = -1};
    return frame;
}

static bool is_create(unsigned call)
{
    return call >= TRACE_CALL_Win_create && call <= TRACE_CALL_Win_create_dynamic;
}

static bool is_collective(unsigned call)
{
    return is_create(call) || call == TRACE_CALL_Win_free || call == TRACE_CALL_Win_fence;
}

/* reaches_window returns whether the call that this thread has just entered gets to its window. No
 * RmaCollectiveEnd can be written for a call that fails before. */
static bool reaches_window(const struct thread *thread)
{
    for (size_t i = thread->next; i < thread->file->n; i++) {
        unsigned kind = thread->file->record[i].kind;

        if (kind == TRACE_WIN_CREATE || kind == TRACE_WIN_FREE || kind == TRACE_FENCE)
            return true;
        if (kind == TRACE_LEAVE || kind == TRACE_ENTER)
            return false;
    }
    return false;
}

/* The communicator of a function of the host, and the rank in MPI_COMM_WORLD of its peer. */
static void add_comm(struct process *process, struct thread *thread, const struct trace_record *r)
{
    const struct job *job = process->archive->job;
    const uint32_t index = job_comm(job, thread->file->head->rank, (uint32_t)r->bytes);

    if (index == COMM_UNKNOWN)
        return;
    const struct job_comm *comm = &job->comms.comm[index];
    archive_check(process->archive,
                  OTF2_AttributeList_AddCommRef(thread->track.attributes, ATTR_COMM,
                                                comm_of_messages(job, index)));
    if (r->peer >= 0 && (uint32_t)r->peer < comm->nranks && comm->world[r->peer] != RANK_UNKNOWN)
        track_u32(&thread->track, ATTR_RANK, comm->world[r->peer]);
}

void call_enter(struct process *process, struct thread *thread, const struct trace_record *r)
{
    struct track *track = &thread->track;
    struct frame *frame = frame_push(track);
    struct win *win = process_win(process, r->win);

    frame->call = r->what;
    if (!*archive_call_name(process->archive, r->what))
        archive_name_call(process->archive,
                          &(struct trace_name){.what = r->what, .text = "(name not recorded)"});
    frame->window = win ? r->win : 0;
    frame->peer = r->peer;
    if (win) {
        archive_check(process->archive,
                      OTF2_AttributeList_AddRmaWinRef(track->attributes, ATTR_WINDOW, win->index));
        if (r->peer >= 0)
            track_u32(track, ATTR_PEER, (uint32_t)r->peer);
    }
    if (r->what >= TRACE_CALL_LAST && r->bytes)
        add_comm(process, thread, r);
    const uint32_t site = sites_number(&process->archive->sites, &process->loaded, r->id);
    if (site != SITE_NONE)
        track_site(track, site);
    track_enter_call(track, r->time, r->what);
    frame->collective = is_collective(r->what) && reaches_window(thread);
    if (frame->collective)
        archive_check(process->archive, OTF2_EvtWriter_RmaCollectiveBegin(
                                            track->writer, NULL, track_time(track, r->time)));
}

/* The window of a call whose record does not name it: the only one with such an epoch. */
static struct win *only_win(const struct process *process, unsigned call)
{
    struct win *found = NULL, *win;
    size_t cursor = 0;

    while ((win = table_next(&process->wins, &cursor))) {
        bool fits = call == TRACE_CALL_Win_complete                              ? win->access
                    : call == TRACE_CALL_Win_wait || call == TRACE_CALL_Win_test ? win->exposure
                                                                                 : true;

        if (fits && found)
            return NULL;
        if (fits)
            found = win;
    }
    return found;
}

static void collective_end(struct track *track, const struct frame *frame, const struct win *win,
                           uint64_t time)
{
    OTF2_CollectiveOp op =
        frame->call == TRACE_CALL_Win_fence  ? OTF2_COLLECTIVE_OP_BARRIER
        : frame->call == TRACE_CALL_Win_free ? OTF2_COLLECTIVE_OP_DESTROY_HANDLE
        : frame->call == TRACE_CALL_Win_allocate || frame->call == TRACE_CALL_Win_allocate_shared
            ? OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE
            : OTF2_COLLECTIVE_OP_CREATE_HANDLE;
    OTF2_RmaSyncLevel level = OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY;

    if (frame->asserts & TRACE_NOPRECEDE)
        level &= (OTF2_RmaSyncLevel)~OTF2_RMA_SYNC_LEVEL_PROCESS;
    if (frame->asserts & TRACE_NOSTORE && frame->asserts & TRACE_NOPUT)
        level &= (OTF2_RmaSyncLevel)~OTF2_RMA_SYNC_LEVEL_MEMORY;
    if (frame->asserts)
        track_u32(track, ATTR_ASSERTS, frame->asserts);
    archive_check(track->archive, OTF2_EvtWriter_RmaCollectiveEnd(
                                      track->writer, track->attributes, track_time(track, time), op,
                                      level, win->index, OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
}

static void group_sync(struct track *track, const struct win *win, OTF2_GroupRef group,
                       const struct frame *frame, uint64_t time)
{
    if (frame->asserts)
        track_u32(track, ATTR_ASSERTS, frame->asserts);
    archive_check(track->archive,
                  OTF2_EvtWriter_RmaGroupSync(
                      track->writer, track->attributes, track_time(track, time),
                      OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY, win->index, group));
}

/* leave_group_call writes what the return of a call for an epoch of MPI_Win_start or MPI_Win_post
 * means. */
static void leave_group_call(struct track *track, const struct frame *frame, struct win *win,
                             uint64_t time)
{
    switch (frame->call) {
    case TRACE_CALL_Win_start:
        if (win->access)
            group_sync(track, win, win->access_group, frame, time);
        break;
    case TRACE_CALL_Win_post:
        if (win->exposure)
            group_sync(track, win, win->exposure_group, frame, time);
        break;
    case TRACE_CALL_Win_complete:
        op_complete(track, win, -1, COMPLETE_LOCAL | COMPLETE_REMOTE | COMPLETE_AT_WAIT, time);
        if (win->access)
            group_sync(track, win, win->access_group, frame, time);
        win->access = false;
        break;
    case TRACE_CALL_Win_test:
        if (!frame->flag)
            break;
        /* fall through */
    case TRACE_CALL_Win_wait:
        if (win->exposure)
            group_sync(track, win, win->exposure_group, frame, time);
        win->exposure = false;
        break;
    default:
        break;
    }
}

/* leave_sync writes what a synchronizing call completes that has returned with success. */
static void leave_sync(struct track *track, const struct frame *frame, struct win *win,
                       uint64_t time)
{
    const unsigned both = COMPLETE_LOCAL | COMPLETE_REMOTE;

    switch (frame->call) {
    case TRACE_CALL_Win_fence:
    case TRACE_CALL_Win_unlock_all:
    case TRACE_CALL_Win_flush_all:
        op_complete(track, win, -1, both, time);
        break;
    case TRACE_CALL_Win_unlock:
    case TRACE_CALL_Win_flush:
        op_complete(track, win, frame->peer, both, time);
        break;
    case TRACE_CALL_Win_flush_local:
        op_complete(track, win, frame->peer, COMPLETE_LOCAL, time);
        break;
    case TRACE_CALL_Win_flush_local_all:
        op_complete(track, win, -1, COMPLETE_LOCAL, time);
        break;
    case TRACE_CALL_Win_sync:
        archive_check(track->archive, OTF2_EvtWriter_RmaSync(
                                          track->writer, NULL, track_time(track, time), win->index,
                                          OTF2_UNDEFINED_UINT32, OTF2_RMA_SYNC_TYPE_MEMORY));
        break;
    default:
        leave_group_call(track, frame, win, time);
    }
}

/* end_call writes everything that the end of a call brings but the Leave itself. */
static void end_call(struct process *process, struct track *track, uint64_t time, bool success)
{
    struct frame *frame = &track->frame[track->depth - 1];

    collective_close(track, frame, time);
    struct win *win = process_win(process, frame->window);

    if (!win && frame->call >= TRACE_CALL_Win_fence && frame->call <= TRACE_CALL_Win_sync)
        win = only_win(process, frame->call);
    if (win && success)
        leave_sync(track, frame, win, time);
    if (win && frame->collective)
        collective_end(track, frame, win, time);
    if (win && frame->call == TRACE_CALL_Win_free && frame->collective) {
        (void)table_take(&process->wins, win->number);
        win_free(win);
    }
}

void frames_close(struct process *process, struct thread *thread, size_t depth, uint64_t time)
{
    struct track *track = &thread->track;

    while (track->depth > depth) {
        struct frame *frame = &track->frame[track->depth - 1];

        if (frame->call) {
            end_call(process, track, time, false);
            track_u32(track, ATTR_UNRECORDED, 1);
            track_leave_call(track, time, frame->call);
        } else {
            track_u32(track, ATTR_UNRECORDED, 1);
            if (frame->own == OWN_REGIONS)
                track_leave_region(track, time, frame->region);
            else
                track_leave_own(track, time, frame->own);
        }
        track->depth--;
    }
}

void call_leave(struct process *process, struct thread *thread, const struct trace_record *r)
{
    struct track *track = &thread->track;
    size_t at = track->depth;

    while (at > 0 && track->frame[at - 1].call != r->what)
        at--;
    if (at == 0)
        return; /* its Enter was damaged */
    frames_close(process, thread, at, r->time);
    end_call(process, track, r->time, r->arg == 0);
    if (r->arg)
        track_u32(track, ATTR_ERROR, r->arg);
    track_leave_call(track, r->time, r->what);
    track->depth--;
    regions_close(track, r->time);
}

/* The ranks of MPI_COMM_WORLD that the TRACE_RANKS records behind a start or post name. The time
 * that the trace needed for itself may be recorded between them. */
static OTF2_GroupRef read_group(struct process *process, const struct thread *thread,
                                const struct win *win, uint64_t n)
{
    uint64_t *member = zalloc((size_t)n, sizeof *member);
    uint32_t count = 0;

    for (size_t at = thread->next; at < thread->file->n; at++) {
        const struct trace_record *r = &thread->file->record[at];
        const struct trace_ranks *ranks = (const struct trace_ranks *)r;

        if (r->kind == SPOOL_DAMAGED || r->kind == TRACE_WRITE)
            continue;
        if (r->kind != TRACE_RANKS)
            break;
        for (unsigned i = 0; i < ranks->n && count < n; i++)
            if ((uint32_t)ranks->rank[i] < win->job->nranks &&
                win->job->world[ranks->rank[i]] != RANK_UNKNOWN)
                member[count++] = win->job->world[ranks->rank[i]];
    }
    OTF2_GroupRef group = archive_group(process->archive, member, count);
    free(member);
    return group;
}

void call_detail(struct process *process, struct thread *thread, const struct trace_record *r)
{
    struct track *track = &thread->track;
    struct win *win = process_win(process, r->win);
    struct frame *frame = track->depth ? &track->frame[track->depth - 1] : NULL;

    if (!win) {
        process->archive->unknown_window++;
        return;
    }
    if (frame && frame->call) {
        frame->window = r->win;
        if (r->kind == TRACE_FENCE || r->kind == TRACE_START || r->kind == TRACE_POST)
            frame->asserts = r->arg;
        if (r->kind == TRACE_TEST)
            frame->flag = r->arg != 0;
        if (r->kind == TRACE_LOCK || r->kind == TRACE_UNLOCK)
            frame->peer = r->peer;
    }
    if (r->kind == TRACE_START) {
        win->access = true;
        win->access_group = read_group(process, thread, win, r->id);
    } else if (r->kind == TRACE_POST) {
        win->exposure = true;
        win->exposure_group = read_group(process, thread, win, r->id);
    }
}
