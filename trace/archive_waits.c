/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_waits.c - writes the waits of packets: at a target for their epoch or for a lock, at an
 * origin for room at the receiver.
 *
 * Several packets wait at the same time, and no thread does it. So the waits get locations of
 * their own: each is a region on the first of these locations of its process that is free. A
 * packet that begins to wait in one thread may be served in another: the records of all threads
 * are taken in order of time.
 */
#include "archive_process.h"

#include <stdlib.h>

struct wait {
    uint64_t begin, end; /* end 0: still waiting */
    uint32_t window;     /* index; WINDOW_NONE: at an origin, for any window */
    int32_t peer;
    uint64_t id;
    uint32_t queue;
    enum own_region kind;
    bool unrecorded;
};

struct waits {
    struct wait *wait; /* by begin */
    size_t n, cap;
    size_t oldest; /* all before have ended */
};

static bool is_begin(unsigned kind)
{
    return kind == TRACE_PARK || kind == TRACE_LOCK_QUEUE || kind == TRACE_NO_CREDIT;
}

static bool is_end(unsigned kind)
{
    return kind == TRACE_UNPARK || kind == TRACE_LOCK_GRANT || kind == TRACE_CREDIT;
}

/* is_stop returns whether the record stops the recording. From then on nobody sees the end of what
 * waits. */
static bool is_stop(const struct trace_record *r)
{
    return r->kind == TRACE_RECORDING && !r->arg;
}

static bool concerns_waits(const struct trace_record *r)
{
    return is_begin(r->kind) || is_end(r->kind) || is_stop(r);
}

static enum own_region kind_of(unsigned kind)
{
    switch (kind) {
    case TRACE_PARK:
    case TRACE_UNPARK:
        return OWN_PARKED;
    case TRACE_LOCK_QUEUE:
    case TRACE_LOCK_GRANT:
        return OWN_LOCK_QUEUE;
    default:
        return OWN_WAIT_CREDIT;
    }
}

static void add(struct waits *waits, const struct trace_record *r, uint32_t window)
{
    enum own_region kind = kind_of(r->kind);

    if (is_begin(r->kind)) {
        waits->wait = grow(waits->wait, waits->n, &waits->cap, sizeof *waits->wait);
        waits->wait[waits->n++] = (struct wait){.begin = r->time,
                                                .window = window,
                                                .peer = r->peer,
                                                .id = r->id,
                                                .queue = r->arg,
                                                .kind = kind};
        return;
    }
    for (size_t i = waits->oldest; i < waits->n; i++) {
        struct wait *wait = &waits->wait[i];

        if (wait->end || wait->kind != kind || wait->window != window || wait->peer != r->peer ||
            wait->id != r->id)
            continue;
        wait->end = r->time;
        break;
    }
    while (waits->oldest < waits->n && waits->wait[waits->oldest].end)
        waits->oldest++;
}

static void stop(struct waits *waits, uint64_t time)
{
    for (; waits->oldest < waits->n; waits->oldest++) {
        struct wait *wait = &waits->wait[waits->oldest];

        wait->unrecorded = wait->unrecorded || !wait->end;
        wait->end = wait->end ? wait->end : time;
    }
}

/* collect gathers the waits of all threads. */
static void collect(struct process *process, struct waits *waits)
{
    size_t *next = zalloc(process->nthreads, sizeof *next);

    for (;;) {
        const struct trace_record *first = NULL;
        size_t from = 0;

        for (size_t i = 0; i < process->nthreads; i++) {
            const struct spool_file *file = process->thread[i].file;

            while (next[i] < file->n && !concerns_waits(&file->record[next[i]]))
                next[i]++;
            if (next[i] < file->n && (!first || file->record[next[i]].time < first->time)) {
                first = &file->record[next[i]];
                from = i;
            }
        }
        if (!first)
            break;
        next[from]++;
        if (is_stop(first)) {
            stop(waits, first->time);
            continue;
        }
        const bool credit = kind_of(first->kind) == OWN_WAIT_CREDIT;
        uint32_t window =
            credit ? WINDOW_NONE : process_served_window(process, first->win, first->time);
        if (window == WINDOW_NONE && !credit)
            process->archive->unknown_window++;
        else
            add(waits, first, window);
    }
    free(next);
}

static void write_wait(struct track *track, const struct wait *wait)
{
    if (wait->kind == OWN_WAIT_CREDIT) {
        if (wait->peer >= 0)
            track_u32(track, ATTR_RANK, (uint32_t)wait->peer);
    } else {
        archive_check(track->archive, OTF2_AttributeList_AddRmaWinRef(track->attributes,
                                                                      ATTR_WINDOW, wait->window));
        track_u32(track, ATTR_ORIGIN, (uint32_t)wait->peer);
        track_u32(track, ATTR_QUEUE, wait->queue);
    }
    track_enter_own(track, wait->begin, wait->kind);
    if (wait->unrecorded)
        track_u32(track, ATTR_UNRECORDED, 1);
    track_leave_own(track, wait->end, wait->kind);
}

void archive_waits(struct process *process, uint32_t rank, const struct machine *machine)
{
    struct waits waits = {0};
    struct track *lane = NULL;
    size_t lanes = 0, cap = 0;

    collect(process, &waits);
    for (size_t i = 0; i < waits.n; i++) {
        struct wait *wait = &waits.wait[i];
        size_t at = 0;

        if (!wait->end) {
            wait->end = u64_max(wait->begin, process->last);
            wait->unrecorded = true;
        }
        while (at < lanes && lane[at].last > wait->begin)
            at++;
        if (at == lanes) {
            lane = grow(lane, lanes, &cap, sizeof *lane);
            track_open(&lane[lanes++], process->archive,
                       (struct location){.name = text("rank %u waiting packets %zu", rank, at),
                                         .rank = rank,
                                         .is_queue = true,
                                         .machine = machine});
        }
        write_wait(&lane[at], wait);
    }
    for (size_t i = 0; i < lanes; i++)
        track_close(&lane[i]);
    free(lane);
    free(waits.wait);
}
