/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_ops.c - operations and their completion.
 *
 * An operation's events are: RmaPut, RmaGet or RmaAtomic where it is issued;
 * RmaOpCompleteBlocking, or RmaOpCompleteNonBlocking for one that was still under way when the call
 * that issued it returned, where the standard completes it at the origin (the return of the call
 * that synchronizes, or of the test of its request); RmaOpCompleteRemote where the standard
 * completes it at the target. Both carry how much earlier the data had really arrived, where that
 * is known. An operation in an epoch of MPI_Win_start completes at the target in MPI_Win_wait: its
 * RmaOpCompleteRemote stands beside MPI_Win_complete with an attribute that says so. One that
 * raises a notification has its number as an attribute; where its target takes notifications there
 * is an RmaSync.
 */
#include "archive_process.h"

#include <stdlib.h>
#include <string.h>

static const OTF2_RmaAtomicType atomic_type[TRACE_COMPARE_AND_SWAP + 1] = {
    [TRACE_ACCUMULATE] = OTF2_RMA_ATOMIC_TYPE_ACCUMULATE,
    [TRACE_GET_ACCUMULATE] = OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE,
    [TRACE_FETCH_AND_OP] = OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE,
    [TRACE_COMPARE_AND_SWAP] = OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP,
};

static void write_issue(struct track *track, const struct win *win, const struct trace_record *r)
{
    struct archive *archive = track->archive;
    uint64_t time = track_time(track, r->time);
    uint32_t peer = (uint32_t)r->peer;
    bool fetches = r->what != TRACE_ACCUMULATE;
    OTF2_ErrorCode code;

    track_path(track, r->arg & TRACE_OP_PATH);
    if (r->arg & TRACE_OP_REQUEST)
        track_u32(track, ATTR_REQUEST, 1);
    if (r->arg >> TRACE_OP_NOTIFY_SHIFT)
        track_u32(track, ATTR_NOTIFICATION, (r->arg >> TRACE_OP_NOTIFY_SHIFT) - 1);
    if (r->what == TRACE_PUT)
        code = OTF2_EvtWriter_RmaPut(track->writer, track->attributes, time, win->index, peer,
                                     r->bytes, r->id);
    else if (r->what == TRACE_GET)
        code = OTF2_EvtWriter_RmaGet(track->writer, track->attributes, time, win->index, peer,
                                     r->bytes, r->id);
    else {
        const unsigned element = r->arg >> TRACE_OP_ELEMENT_SHIFT & TRACE_OP_ELEMENT;

        if (element)
            track_u32(track, ATTR_ELEMENT, 1u << element);
        archive_check(archive, OTF2_AttributeList_AddStringRef(track->attributes, ATTR_FUNCTION,
                                                               string_of_op(r->what)));
        code =
            OTF2_EvtWriter_RmaAtomic(track->writer, track->attributes, time, win->index, peer,
                                     atomic_type[r->what], r->bytes, fetches ? r->bytes : 0, r->id);
    }
    archive_check(archive, code);
}

bool op_issue(struct process *process, struct track *track, const struct trace_record *r)
{
    struct win *win = process_win(process, r->win);

    if (!win || (uint32_t)r->peer >= win->job->nranks) {
        process->archive->unknown_window++;
        return false;
    }
    write_issue(track, win, r);
    struct op_list *list = &win->target[r->peer];
    list->op = grow(list->op, list->n, &list->cap, sizeof *list->op);
    list->op[list->n++] = (struct op){.id = r->id};
    win->outstanding++;
    if (r->arg & TRACE_OP_REQUEST) {
        uint64_t where = (uint64_t)r->win << 32 | (uint32_t)r->peer;

        table_put_number(&process->requests, r->id, where);
    }
    return true;
}

/* The first operation of the list whose id is not less; ids grow, but for damaged records. */
static size_t find(const struct op_list *list, uint64_t id)
{
    size_t low = 0, high = list->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->op[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void op_done(struct win *win, const struct trace_record *r, bool all_before)
{
    if (r->peer < 0 || (uint32_t)r->peer >= win->job->nranks)
        return;
    struct op_list *list = &win->target[r->peer];
    size_t at = find(list, r->id);

    if (at < list->n && list->op[at].id == r->id && !list->op[at].done) {
        list->op[at].done = r->time;
        list->op[at].blocking = !all_before; /* TRACE_DONE stands inside the call */
    }
    for (; all_before && list->proven < at; list->proven++)
        if (!list->op[list->proven].done)
            list->op[list->proven].done = r->time;
}

static void write_completion(struct track *track, const struct win *win, const struct op *op,
                             unsigned what, uint64_t time)
{
    OTF2_ErrorCode code;

    if (op->done && op->done <= time)
        track_u64(track, ATTR_EARLIER, time - op->done);
    if (what & COMPLETE_UNRECORDED)
        track_u32(track, ATTR_UNRECORDED, 1);
    if (what & COMPLETE_LOCAL && op->blocking)
        code = OTF2_EvtWriter_RmaOpCompleteBlocking(track->writer, track->attributes, time,
                                                    win->index, op->id);
    else if (what & COMPLETE_LOCAL)
        code = OTF2_EvtWriter_RmaOpCompleteNonBlocking(track->writer, track->attributes, time,
                                                       win->index, op->id);
    else {
        if (what & COMPLETE_AT_WAIT)
            track_u32(track, ATTR_AT_WAIT, 1);
        code = OTF2_EvtWriter_RmaOpCompleteRemote(track->writer, track->attributes, time,
                                                  win->index, op->id);
    }
    archive_check(track->archive, code);
}

static void complete_list(struct track *track, struct win *win, struct op_list *list, unsigned what,
                          uint64_t time)
{
    for (size_t i = 0; i < list->n; i++) {
        struct op *op = &list->op[i];

        if (!op->local)
            write_completion(track, win, op, what & ~(unsigned)COMPLETE_REMOTE, time);
        op->local = true;
        if (what & COMPLETE_REMOTE)
            write_completion(track, win, op, what & ~(unsigned)COMPLETE_LOCAL, time);
    }
    if (what & COMPLETE_REMOTE) {
        win->outstanding -= list->n;
        list->n = list->proven = 0;
    }
}

void op_complete(struct track *track, struct win *win, int32_t peer, unsigned what, uint64_t time)
{
    if (win->outstanding == 0 || (peer >= 0 && (uint32_t)peer >= win->job->nranks))
        return;
    time = track_time(track, time);
    if (peer >= 0) {
        complete_list(track, win, &win->target[peer], what, time);
        return;
    }
    for (uint32_t i = 0; i < win->job->nranks; i++)
        complete_list(track, win, &win->target[i], what, time);
}

/* request_op returns the operation of a request, or NULL where it is complete already. */
static struct op *request_op(struct process *process, uint64_t id, struct win **win)
{
    uint64_t where = table_number(&process->requests, id);

    if (where == TABLE_NONE)
        return NULL;
    *win = process_win(process, (uint32_t)(where >> 32));
    if (!*win || (uint32_t)where >= (*win)->job->nranks)
        return NULL;
    struct op_list *list = &(*win)->target[(uint32_t)where];
    size_t at = find(list, id);
    return at < list->n && list->op[at].id == id ? &list->op[at] : NULL;
}

void op_request_done(struct process *process, struct track *track, uint64_t time, uint64_t id)
{
    struct win *win;
    struct op *op = request_op(process, id, &win);

    if (op && !op->local) {
        write_completion(track, win, op, COMPLETE_LOCAL, track_time(track, time));
        op->local = true;
    }
    (void)table_take_number(&process->requests, id);
}

void op_tested(struct process *process, struct track *track, uint64_t time, uint64_t id)
{
    struct win *win;
    struct op *op = request_op(process, id, &win);

    if (op && !op->local)
        archive_check(track->archive,
                      OTF2_EvtWriter_RmaOpTest(track->writer, track->attributes,
                                               track_time(track, time), win->index, id));
}

void op_taken(struct process *process, struct track *track, const struct trace_record *r)
{
    const struct win *win = process_win(process, r->win);

    if (!win || r->peer >= (int64_t)win->job->nranks) {
        process->archive->unknown_window++;
        return;
    }
    track_u32(track, ATTR_NOTIFICATION, r->arg);
    track_u64(track, ATTR_TAKEN, r->bytes);
    archive_check(track->archive,
                  OTF2_EvtWriter_RmaSync(track->writer, track->attributes,
                                         track_time(track, r->time), win->index,
                                         r->peer < 0 ? OTF2_UNDEFINED_UINT32 : (uint32_t)r->peer,
                                         OTF2_RMA_SYNC_TYPE_NOTIFY_IN));
}

void win_free(struct win *win)
{
    for (uint32_t i = 0; i < win->job->nranks; i++)
        free(win->target[i].op);
    free(win->target);
    free(win->lock);
    free(win);
}
