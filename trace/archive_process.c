/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_process.c - reads the records of one process, of all its threads in order of time, and
 * hands each to the file that writes its events.
 */
#include "archive_process.h"

#include <stdlib.h>

struct win *process_win(const struct process *process, uint32_t number)
{
    return number ? table_get(&process->wins, number) : NULL;
}

static int by_number_and_time(const void *a, const void *b)
{
    const struct naming *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

static void find_namings(struct process *process)
{
    const struct job *job = process->archive->job;
    size_t cap = 0;

    for (size_t i = 0; i < process->nthreads; i++)
        for (size_t k = 0; k < process->thread[i].file->n; k++) {
            const struct trace_record *r = &process->thread[i].file->record[k];
            const struct job_window *window =
                r->kind == TRACE_WIN_CREATE ? job_window(job, r->id) : NULL;

            if (!window)
                continue;
            process->naming =
                grow(process->naming, process->nnamings, &cap, sizeof *process->naming);
            process->naming[process->nnamings++] =
                (struct naming){r->win, r->time, (uint32_t)(window - job->window)};
        }
    if (process->nnamings)
        sort(process->naming, process->nnamings, sizeof *process->naming, by_number_and_time);
}

uint32_t process_served_window(const struct process *process, uint32_t number, uint64_t time)
{
    uint32_t index = WINDOW_NONE;

    for (size_t i = 0; i < process->nnamings && process->naming[i].number <= number; i++)
        if (process->naming[i].number == number &&
            (index == WINDOW_NONE || process->naming[i].time <= time))
            index = process->naming[i].index;
    return index;
}

static void win_create(struct process *process, struct thread *thread, const struct trace_record *r)
{
    struct job *job = process->archive->job;
    struct job_window *known = job_window(job, r->id);
    struct win *win;

    if (!known || (uint32_t)r->peer >= known->nranks)
        return;
    win = zalloc(1, sizeof *win);
    win->number = r->win;
    win->job = known;
    win->index = (uint32_t)(known - job->window);
    win->target = zalloc(known->nranks, sizeof *win->target);
    struct win *old = table_put(&process->wins, r->win, win);
    if (old)
        win_free(old); /* its end was damaged */
    call_detail(process, thread, r);
    archive_check(process->archive,
                  OTF2_EvtWriter_RmaWinCreate(thread->track.writer, NULL,
                                              track_time(&thread->track, r->time), win->index));
}

/* win_destroy closes the operations and locks that the program has left open, together with their
 * window. */
static void win_destroy(struct process *process, struct thread *thread,
                        const struct trace_record *r)
{
    struct win *win = process_win(process, r->win);
    struct track *track = &thread->track;

    call_detail(process, thread, r);
    if (!win)
        return;
    op_complete(track, win, -1, COMPLETE_LOCAL | COMPLETE_REMOTE | COMPLETE_UNRECORDED, r->time);
    lock_release_all(track, win, r->time);
    archive_check(
        process->archive,
        OTF2_EvtWriter_RmaWinDestroy(track->writer, NULL, track_time(track, r->time), win->index));
}

static void own_begin(struct process *process, struct track *track, const struct trace_record *r,
                      enum own_region own)
{
    uint32_t window = process_served_window(process, r->win, r->time);

    if (window != WINDOW_NONE) {
        archive_check(process->archive,
                      OTF2_AttributeList_AddRmaWinRef(track->attributes, ATTR_WINDOW, window));
        if (r->peer >= 0)
            track_u32(track, own == OWN_SERVE ? ATTR_ORIGIN : ATTR_PEER, (uint32_t)r->peer);
    }
    track_enter_own(track, r->time, own);
    frame_push(track)->own = own;
}

static void own_end(struct process *process, struct thread *thread, const struct trace_record *r,
                    enum own_region own)
{
    struct track *track = &thread->track;
    size_t at = track->depth;

    while (at > 0 && (track->frame[at - 1].call || track->frame[at - 1].own != own))
        at--;
    if (at == 0)
        return;
    frames_close(process, thread, at, r->time);
    if (own == OWN_SERVE) {
        track_u32(track, ATTR_OPERATIONS, r->arg);
        track_u64(track, ATTR_BYTES, r->bytes);
    }
    track_leave_own(track, r->time, own);
    track->depth--;
}

/* The record says by rank or by pid whose agent is woken. */
static void wake_agent(const struct process *process, const struct thread *thread,
                       struct track *track, const struct trace_record *r)
{
    uint32_t rank = (uint32_t)r->peer;

    if (r->peer < 0)
        rank = job_rank(process->archive->job, thread->file->head->machine, r->id);
    if (rank != RANK_UNKNOWN)
        track_u32(track, ATTR_RANK, rank);
    track_enter_own(track, r->time, OWN_WAKE_AGENT);
    track_leave_own(track, r->time, OWN_WAKE_AGENT);
}

/* A region that is over when it is recorded. */
static void own_past(struct track *track, const struct trace_record *r, enum own_region own,
                     uint64_t length)
{
    track_enter_own(track, u64_minus(r->time, length), own);
    track_leave_own(track, r->time, own);
}

static void lock_record(struct process *process, struct thread *thread,
                        const struct trace_record *r)
{
    struct win *win = process_win(process, r->win);

    if (r->kind != TRACE_LOCKED)
        call_detail(process, thread, r);
    if (!win)
        return;
    if (r->kind == TRACE_LOCK)
        lock_request(&thread->track, win, r);
    else if (r->kind == TRACE_LOCKED)
        lock_granted(win, r);
    else
        lock_release(&thread->track, win, r->peer, r->time);
}

static void done(struct process *process, const struct trace_record *r)
{
    struct win *win = process_win(process, r->win);

    if (win)
        op_done(win, r, r->kind == TRACE_DONE_ALL);
}

/* own_record writes what a thread does besides its calls. */
static void own_record(struct process *process, struct thread *thread, const struct trace_record *r)
{
    struct track *track = &thread->track;

    switch (r->kind) {
    case TRACE_POST_WAIT:
        own_begin(process, track, r, OWN_WAIT_POST);
        break;
    case TRACE_POST_SEEN:
        own_end(process, thread, r, OWN_WAIT_POST);
        break;
    case TRACE_SERVE:
        own_begin(process, track, r, OWN_SERVE);
        break;
    case TRACE_SERVED:
        own_end(process, thread, r, OWN_SERVE);
        break;
    case TRACE_SLEEP:
        own_begin(process, track, r, OWN_ASLEEP);
        break;
    case TRACE_AWAKE:
        own_end(process, thread, r, OWN_ASLEEP);
        break;
    case TRACE_WAKE_AGENT:
        wake_agent(process, thread, track, r);
        break;
    case TRACE_NAME:
        archive_name_call(process->archive, (const struct trace_name *)r);
        break;
    case TRACE_OBJECT:
        sites_load(&process->archive->sites, &process->loaded, thread->file,
                   (size_t)(r - thread->file->record));
        break;
    case TRACE_WRITE:
        own_past(track, r, OWN_WRITE_TRACE, r->bytes);
        break;
    default:
        break; /* what waits is written by archive_waits, clocks by archive_defs */
    }
}

/* one_record hands each kind of record to the file that it belongs to. */
static void one_record(struct process *process, struct thread *thread, const struct trace_record *r)
{
    struct track *track = &thread->track;

    if (r->kind != TRACE_ACCESS && r->kind != TRACE_WRITE) {
        thread->op = 0;
        thread->creates = r->kind == TRACE_WIN_CREATE;
        thread->message = false;
    }
    switch (r->kind) {
    case TRACE_ENTER:
        call_enter(process, thread, r);
        break;
    case TRACE_LEAVE:
        call_leave(process, thread, r);
        break;
    case TRACE_WIN_CREATE:
        win_create(process, thread, r);
        break;
    case TRACE_WIN_FREE:
        win_destroy(process, thread, r);
        break;
    case TRACE_OP:
        if (op_issue(process, track, r))
            thread->op = r->id;
        break;
    case TRACE_ACCESS:
        access_record(process, thread, r);
        break;
    case TRACE_DONE:
    case TRACE_DONE_ALL:
        done(process, r);
        break;
    case TRACE_REQUEST_DONE:
        op_request_done(process, track, r->time, r->id);
        break;
    case TRACE_REQUEST_TEST:
        op_tested(process, track, r->time, r->id);
        break;
    case TRACE_TAKEN:
        op_taken(process, track, r);
        break;
    case TRACE_FENCE:
    case TRACE_START:
    case TRACE_POST:
    case TRACE_TEST:
        call_detail(process, thread, r);
        break;
    case TRACE_REGION_BEGIN:
        region_begin(process, thread, r);
        break;
    case TRACE_REGION_END:
        region_end(process, thread, r);
        break;
    case TRACE_RECORDING:
        recording(process, r);
        break;
    case TRACE_SEND:
    case TRACE_SENT:
    case TRACE_RECEIVE:
    case TRACE_RECEIVED:
    case TRACE_CANCELLED:
    case TRACE_COLLECTIVE:
        thread->message = message_record(process, thread, r);
        break;
    case TRACE_LOCK:
    case TRACE_LOCKED:
    case TRACE_UNLOCK:
        lock_record(process, thread, r);
        break;
    default:
        own_record(process, thread, r);
    }
}

/* earliest returns the thread whose next record is the earliest, or NULL when all records are
 * done. */
static struct thread *earliest(struct process *process)
{
    struct thread *first = NULL;

    for (size_t i = 0; i < process->nthreads; i++) {
        struct thread *thread = &process->thread[i];
        const struct spool_file *file = thread->file;

        while (thread->next < file->n && (file->record[thread->next].kind == SPOOL_DAMAGED ||
                                          file->record[thread->next].kind == TRACE_RANKS ||
                                          file->record[thread->next].kind == TRACE_TEXT))
            thread->next++;
        if (thread->next < file->n &&
            (!first || file->record[thread->next].time < first->file->record[first->next].time))
            first = thread;
    }
    return first;
}

/* close_all closes whatever is still open when the records have ended. */
static void close_all(struct process *process)
{
    struct track *track = &process->thread[0].track;
    size_t cursor = 0, open = 0, operations = 0;
    struct win *win;

    while ((win = table_next(&process->wins, &cursor))) {
        operations += win->outstanding;
        op_complete(track, win, -1, COMPLETE_LOCAL | COMPLETE_REMOTE | COMPLETE_UNRECORDED,
                    process->last);
        lock_release_all(track, win, process->last);
    }
    for (size_t i = 0; i < process->nthreads; i++) {
        struct thread *thread = &process->thread[i];

        for (size_t k = 0; k < thread->track.depth; k++)
            if (thread->track.frame[k].call) {
                open++;
                say("%s: ends within %s", thread->file->path,
                    archive_call_name(process->archive, thread->track.frame[k].call));
            }
        frames_close(process, thread, 0, process->last);
    }
    if (open || operations)
        notes_add(&process->archive->job->notes,
                  "rank %u: the records end within %zu calls and before the end of %zu operations; "
                  "both are closed at the time of its last record",
                  process->thread[0].file->head->rank, open, operations);
}

static void end_win(void *value)
{
    win_free(value);
}

static char *thread_name(const struct spool_head *head)
{
    if (head->thread_kind == SPOOL_AGENT)
        return text("rank %u agent", head->rank);
    if (head->thread == 0)
        return text("rank %u", head->rank);
    return text("rank %u thread %u", head->rank, head->thread);
}

void archive_process(struct archive *archive, const struct spool_file *file, size_t n)
{
    struct process process = {.archive = archive, .nthreads = n};
    uint32_t rank = file->head->rank;
    const struct machine *machine = job_machine(archive->job, file->head->machine);
    bool have_main = false;

    process.thread = zalloc(n, sizeof *process.thread);
    for (size_t i = 0; i < n; i++) {
        struct thread *thread = &process.thread[i];

        thread->file = &file[i];
        track_open(
            &thread->track, archive,
            (struct location){.name = thread_name(file[i].head), .rank = rank, .machine = machine});
        process.last = u64_max(process.last, file[i].last);
        if (!have_main && (file[i].head->thread_kind == SPOOL_APPLICATION || i == 0)) {
            archive->main_location[rank] = thread->track.location;
            have_main = file[i].head->thread_kind == SPOOL_APPLICATION;
        }
    }
    find_namings(&process);
    for (struct thread *thread; (thread = earliest(&process));)
        one_record(&process, thread, &thread->file->record[thread->next++]);
    close_all(&process);
    for (size_t i = 0; i < n; i++)
        track_close(&process.thread[i].track);
    archive_waits(&process, rank, machine);
    table_end(&process.wins, end_win);
    table_end(&process.requests, NULL);
    loaded_free(&process.loaded);
    free(process.naming);
    free(process.thread);
}
