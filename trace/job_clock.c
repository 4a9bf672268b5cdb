/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_clock.c - the clocks of several machines, see job.h.
 *
 * The offsets of each machine to the machine of rank 0 come from TRACE_CLOCK records. They count
 * the more the shorter the round trips were in which they were measured (clock_fit.h). A machine
 * without any is placed by the time of day of its processes.
 *
 * Collective calls show the error that remains: no process leaves the creation of a window, its
 * end, or a fence before all have entered it (but for a fence with MPI_MODE_NOPRECEDE, which ends
 * no epoch). From all of these, and from all pairs of machines, come lower bounds for the
 * differences of two machines' clocks. Where the measured offsets break a bound, the later machine
 * is shifted by the least constant that keeps it.
 */
#include "job.h"

#include <inttypes.h>
#include <stdlib.h>

uint64_t machine_time(const struct machine *machine, uint64_t time)
{
    size_t i = 0;

    if (machine->n < 2)
        return time;
    while (i + 2 < machine->n && machine->point[i + 1].time <= time)
        i++;
    const struct clock_point *a = &machine->point[i], *b = a + 1;
    double slope = (double)(b->offset - a->offset) / (double)(b->time - a->time);
    double since = time >= a->time ? (double)(time - a->time) : -(double)(a->time - time);

    return time + (uint64_t)(a->offset + (int64_t)(slope * since));
}

static int by_time(const void *a, const void *b)
{
    const struct clock_point *x = a, *y = b;

    return x->time < y->time ? -1 : x->time > y->time;
}

/* At each time one offset, that of the smallest round trip. */
static void order_points(struct machine *machine)
{
    size_t n = 0;

    sort(machine->point, machine->n, sizeof *machine->point, by_time);
    for (size_t i = 0; i < machine->n; i++) {
        struct clock_point *point = &machine->point[i];

        if (n > 0 && machine->point[n - 1].time == point->time) {
            if (point->error < machine->point[n - 1].error)
                machine->point[n - 1] = *point;
        } else
            machine->point[n++] = *point;
    }
    machine->n = n;
}

/* What the measured offsets say together; what contradicts them is left out, and that is noted. */
static void fit_points(struct job *job, struct machine *machine)
{
    struct clock_left_out out;
    size_t n = machine->n;

    machine->n = clock_fit(machine->point, n, &out);
    if (out.n)
        notes_add(&job->notes,
                  "%s: %zu of %zu measurements of its clock were left out: they contradict the "
                  "others, by up to %.3f us",
                  machine->hostname, out.n, n, (double)out.worst / 1000.0);
}

/* Offsets are applied between two points. */
static void need_two(struct machine *machine)
{
    if (machine->n != 1)
        return;
    machine->point = grow(machine->point, 1, &machine->cap, sizeof *machine->point);
    machine->point[1] = machine->point[0];
    machine->point[1].time++;
    machine->n = 2;
}

static void place_by_time_of_day(struct job *job, struct machine *machine)
{
    int64_t offset = machine->to_realtime - job->machine[0].to_realtime;

    machine->point = zalloc(2, sizeof *machine->point);
    machine->cap = machine->n = 2;
    machine->point[0] = (struct clock_point){machine->first, offset, 0};
    machine->point[1] = (struct clock_point){machine->first + 1, offset, 0};
    notes_add(&job->notes,
              "%s: its clock was not measured against that of rank 0; it is placed by "
              "the time of day",
              machine->hostname);
}

/* One collective call on a window, of all processes: for each machine the latest entry and the
 * earliest return. */
struct meeting {
    uint64_t entered, left; /* 0: no process of this machine */
};

/* The calls of one process on one window: which of them comes next. */
struct place {
    struct job_window *window;
    uint64_t next;
};

struct bounds {
    struct job *job;
    struct table meetings; /* by window and number of call: an array, one for each machine */
    int64_t *least;        /* [a * machines + b]: what b's clock must be shifted more than a's */
};

static void meet(struct bounds *b, size_t machine, uint64_t key, uint64_t entered, uint64_t left)
{
    struct meeting *meeting = table_get(&b->meetings, key);

    if (!meeting) {
        meeting = zalloc(b->job->nmachines, sizeof *meeting);
        (void)table_put(&b->meetings, key, meeting);
    }
    meeting[machine].entered = u64_max(meeting[machine].entered, entered);
    meeting[machine].left = meeting[machine].left ? u64_min(meeting[machine].left, left) : left;
}

static bool meets(const struct trace_record *r)
{
    return r->kind == TRACE_WIN_CREATE || r->kind == TRACE_WIN_FREE || r->kind == TRACE_FENCE;
}

static void read_meetings(struct bounds *b, const struct spool_file *file)
{
    struct machine *machine = job_machine(b->job, file->head->machine);
    struct table places = {0}; /* by the process's number of a window */
    uint64_t entered = 0;
    struct place *place = NULL;
    bool counts = false;

    for (size_t i = 0; i < file->n; i++) {
        const struct trace_record *r = &file->record[i];

        if (r->kind == TRACE_ENTER) {
            entered = r->time;
            place = NULL;
        }
        if (meets(r) && (place = table_get(&places, r->win)) == NULL) {
            place = zalloc(1, sizeof *place);
            (void)table_put(&places, r->win, place);
        }
        if (r->kind == TRACE_WIN_CREATE)
            *place = (struct place){job_window(b->job, r->id), 0};
        if (meets(r)) {
            counts = place->window && !(r->kind == TRACE_FENCE && r->arg & TRACE_NOPRECEDE);
            place->next++;
        }
        if (r->kind == TRACE_LEAVE && place && counts) {
            uint64_t window = (uint64_t)(place->window - b->job->window);

            meet(b, (size_t)(machine - b->job->machine), window << 40 | place->next,
                 machine_time(machine, entered), machine_time(machine, r->time));
            place = NULL;
        }
    }
    table_end(&places, free);
}

static void find_bounds(struct bounds *b)
{
    size_t n = b->job->nmachines, cursor = 0;
    const struct meeting *meeting;

    for (size_t i = 0; i < n * n; i++)
        b->least[i] = INT64_MIN;
    while ((meeting = table_next(&b->meetings, &cursor)))
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                if (i == j || !meeting[i].entered || !meeting[j].left)
                    continue;
                int64_t least = (int64_t)(meeting[i].entered - meeting[j].left);
                if (least > b->least[i * n + j])
                    b->least[i * n + j] = least;
            }
}

/* find_shifts computes the smallest shifts that keep all bounds, relative to machine 0. It returns
 * false if there are none. */
static bool find_shifts(const struct bounds *b, int64_t *shift)
{
    size_t n = b->job->nmachines;
    bool changed = true;

    for (size_t round = 0; changed && round <= n; round++) {
        changed = false;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                int64_t least = b->least[i * n + j];

                if (least == INT64_MIN || shift[i] + least <= shift[j])
                    continue;
                shift[j] = shift[i] + least;
                changed = true;
            }
    }
    for (size_t i = n; i-- > 0;)
        shift[i] -= shift[0];
    return !changed;
}

/* has_all_calls returns whether all calls of the file's process are in this file, for only then can
 * they be numbered. */
static bool has_all_calls(const struct spool *spool, size_t at)
{
    for (size_t i = 0; i < spool->n; i++)
        if (i != at && spool->file[i].head->rank == spool->file[at].head->rank &&
            spool->file[i].head->thread_kind == SPOOL_APPLICATION)
            return false;
    return true;
}

static void keep_order(struct job *job)
{
    struct bounds b = {.job = job};
    int64_t *shift = zalloc(job->nmachines, sizeof *shift);

    b.least = zalloc(job->nmachines * job->nmachines, sizeof *b.least);
    for (size_t i = 0; i < job->spool->n; i++)
        if (has_all_calls(job->spool, i))
            read_meetings(&b, &job->spool->file[i]);
    find_bounds(&b);
    bool found = find_shifts(&b, shift);
    if (!found)
        notes_add(&job->notes, "the clocks of the machines drift so much that some events precede "
                               "their causes; times between machines are not exact");
    for (size_t i = 1; found && i < job->nmachines; i++) {
        if (shift[i] == 0)
            continue;
        notes_add(&job->notes,
                  "%s: its clock was shifted by %.3f us, so that no call ends before "
                  "it has begun elsewhere",
                  job->machine[i].hostname, (double)shift[i] / 1000.0);
        for (size_t k = 0; k < job->machine[i].n; k++)
            job->machine[i].point[k].offset += shift[i];
    }
    table_end(&b.meetings, free);
    free(b.least);
    free(shift);
}

void job_clocks(struct job *job)
{
    for (size_t i = 0; i < job->nmachines; i++) {
        struct machine *machine = &job->machine[i];

        order_points(machine);
        if (i == 0)
            machine->n = 0;
        else if (machine->n == 0)
            place_by_time_of_day(job, machine);
        else
            fit_points(job, machine);
        need_two(machine);
    }
    if (job->nmachines > 1)
        keep_order(job);
}
