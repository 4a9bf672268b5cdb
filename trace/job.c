/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job.c - see job.h.
 */
#include "job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1 << 20, CPUS_MAX = 1 << 16 }; /* of a process, that a head may tell of */

struct job_window *job_window(const struct job *job, uint64_t number)
{
    uint64_t index = table_number(&job->by_number, number);

    return index != TABLE_NONE ? &job->window[index] : NULL;
}

struct machine *job_machine(const struct job *job, uint64_t id)
{
    for (size_t i = 0; i < job->nmachines; i++)
        if (job->machine[i].id == id)
            return &job->machine[i];
    return NULL;
}

static uint64_t pid_key(uint64_t machine, uint64_t pid)
{
    return machine * UINT64_C(0x9e3779b97f4a7c15) + pid;
}

uint32_t job_rank(const struct job *job, uint64_t machine, uint64_t pid)
{
    uint64_t rank = table_number(&job->by_pid, pid_key(machine, pid));

    return rank != TABLE_NONE && pid ? (uint32_t)rank : RANK_UNKNOWN;
}

static struct job_window *new_window(struct job *job, const struct trace_record *r)
{
    job->window = grow(job->window, job->nwindows, &job->windows_cap, sizeof *job->window);
    struct job_window *window = &job->window[job->nwindows++];

    *window = (struct job_window){.number = r->id, .flavor = r->what, .nranks = r->arg};
    window->world = zalloc(r->arg, sizeof *window->world);
    for (uint32_t i = 0; i < r->arg; i++)
        window->world[i] = RANK_UNKNOWN;
    table_put_number(&job->by_number, r->id, job->nwindows - 1);
    return window;
}

/* A process has created its part of a window. */
static void add_window(struct job *job, const struct spool_file *file, const struct trace_record *r)
{
    struct job_window *window = job_window(job, r->id);

    if (!window)
        window = new_window(job, r);
    if (window->nranks != r->arg || window->world[r->peer] != RANK_UNKNOWN) {
        if (window->nranks != r->arg || window->world[r->peer] != file->head->rank)
            notes_add(&job->notes,
                      "window %" PRIu64 ": the processes disagree about its ranks; rank %u of "
                      "MPI_COMM_WORLD is not believed",
                      r->id, file->head->rank);
        return;
    }
    window->world[r->peer] = file->head->rank;
    window->created++;
}

/* Some processes of a window have left no file, or none that tells their rank. Their ranks of the
 * window get those ranks of MPI_COMM_WORLD that have no file, in order, while there are any. */
static void fill_unknown(struct job *job, struct job_window *window)
{
    bool *used = zalloc(job->nproc, sizeof *used);
    uint32_t next = 0;
    bool guessed = false;

    for (uint32_t i = 0; i < window->nranks; i++)
        if (window->world[i] != RANK_UNKNOWN)
            used[window->world[i]] = true;
    for (int lost_only = 1; lost_only >= 0; lost_only--) {
        next = 0;
        for (uint32_t i = 0; i < window->nranks; i++) {
            if (window->world[i] != RANK_UNKNOWN)
                continue;
            while (next < job->nproc && (used[next] || (lost_only && job->have[next])))
                next++;
            if (next == job->nproc)
                break;
            window->world[i] = next;
            used[next] = true;
            guessed = true;
        }
    }
    free(used);
    if (guessed)
        notes_add(&job->notes,
                  "window %" PRIu64 ": some of its processes left no record of its creation; their "
                  "ranks in MPI_COMM_WORLD are assumed",
                  window->number);
}

static void add_clock(struct machine *machine, const struct trace_record *r)
{
    machine->point = grow(machine->point, machine->n, &machine->cap, sizeof *machine->point);
    machine->point[machine->n++] = (struct clock_point){r->time, (int64_t)r->bytes, r->id};
}

static void add_name(struct job *job, const struct spool_file *file, size_t at)
{
    job->name = grow(job->name, job->nnames, &job->names_cap, sizeof *job->name);
    job->name[job->nnames++] = (struct job_name){file, at};
}

/* The last name that a process has given counts. An empty name takes it back. */
static void name_windows(struct job *job)
{
    for (size_t i = 0; i < job->nnames; i++) {
        const struct job_name *at = &job->name[i];
        struct job_window *window = job_window(job, at->file->record[at->at].id);

        if (!window)
            continue;
        free(window->name);
        window->name = spool_text(at->file, at->at + 1);
    }
}

static uint64_t number_key(uint32_t rank, uint64_t number)
{
    return (uint64_t)rank << 32 | number;
}

uint32_t job_region(const struct job *job, uint32_t rank, uint64_t number)
{
    uint64_t index = table_number(&job->regions.by_number, number_key(rank, number));

    return index != TABLE_NONE ? (uint32_t)index : REGION_UNKNOWN;
}

/* The name becomes the job's. */
static uint64_t region_of_name(struct job_regions *regions, char *name)
{
    uint64_t key = UINT64_C(0xcbf29ce484222325), index;

    for (const char *c = name; *c; c++)
        key = (key ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    for (;; key++) {
        index = table_number(&regions->by_hash, key);
        if (index == TABLE_NONE)
            break;
        if (strcmp(regions->name[index], name) == 0) {
            free(name);
            return index;
        }
    }
    regions->name = grow(regions->name, regions->n, &regions->cap, sizeof *regions->name);
    regions->name[regions->n] = name;
    table_put_number(&regions->by_hash, key, regions->n);
    return regions->n++;
}

static void add_region(struct job *job, const struct spool_file *file, size_t at)
{
    const uint64_t index = region_of_name(&job->regions, spool_text(file, at + 1));

    table_put_number(&job->regions.by_number, number_key(file->head->rank, file->record[at].id),
                     index);
}

uint32_t job_comm(const struct job *job, uint32_t rank, uint32_t number)
{
    uint64_t index = table_number(&job->comms.by_number, number_key(rank, number));

    return index != TABLE_NONE ? (uint32_t)index : COMM_UNKNOWN;
}

/* From this record on a process knows a communicator. If processes disagree about the size of a
 * communicator, it is left out with all its messages. */
static void add_comm(struct job *job, uint32_t rank, const struct trace_record *r)
{
    struct job_comms *comms = &job->comms;
    uint64_t index = table_number(&comms->by_id, r->id);

    if (index == TABLE_NONE) {
        comms->comm = grow(comms->comm, comms->n, &comms->cap, sizeof *comms->comm);
        index = comms->n++;
        comms->comm[index] = (struct job_comm){.id = r->id, .nranks = r->arg};
        comms->comm[index].world = zalloc(r->arg, sizeof(uint32_t));
        for (uint32_t i = 0; i < r->arg; i++)
            comms->comm[index].world[i] = RANK_UNKNOWN;
        table_put_number(&comms->by_id, r->id, index);
    }
    if (comms->comm[index].nranks != r->arg)
        return;
    comms->comm[index].world[r->peer] = rank;
    table_put_number(&comms->by_number, number_key(rank, r->win), index);
}

char *job_crowded(const struct job *job)
{
    const struct machine *worst = NULL;

    for (size_t i = 0; i < job->nmachines; i++) {
        const struct machine *m = &job->machine[i];

        if (m->processor.n > 0 && m->ranks > m->processor.n &&
            (!worst || m->ranks * worst->processor.n > worst->ranks * m->processor.n))
            worst = m;
    }
    return worst ? text("%s had %u ranks on %zu processors", worst->hostname, worst->ranks,
                        worst->processor.n)
                 : NULL;
}

static void read_file(struct job *job, const struct spool_file *file)
{
    const struct spool_head *head = file->head;
    struct machine *machine = job_machine(job, head->machine);

    if (!machine) {
        job->machine = grow(job->machine, job->nmachines, &job->machines_cap, sizeof *job->machine);
        machine = &job->machine[job->nmachines++];
        *machine = (struct machine){.id = head->machine,
                                    .hostname = head->hostname,
                                    .to_realtime = head->to_realtime,
                                    .first = head->start,
                                    .last = head->start};
    }
    machine->ranks += !job->have[head->rank];
    job->have[head->rank] = true;
    for (uint32_t i = 0; i < head->cpus && i < CPUS_MAX; i++)
        table_put_number(&machine->processor, head->first_cpu + i, 1);
    table_put_number(&job->by_pid, pid_key(head->machine, head->pid), head->rank);
    if (file->first) {
        machine->first = u64_min(machine->first, file->first);
        machine->last = u64_max(machine->last, file->last);
    }
    for (size_t i = 0; i < file->n; i++) {
        const struct trace_record *r = &file->record[i];

        if (r->kind == TRACE_NAME || r->kind == TRACE_ENTER || r->kind == TRACE_LEAVE)
            job->ncalls = r->what >= job->ncalls ? r->what + 1u : job->ncalls;
        if (r->kind == TRACE_WIN_CREATE)
            add_window(job, file, r);
        else if (r->kind == TRACE_CLOCK)
            add_clock(machine, r);
        else if (r->kind == TRACE_WIN_NAME)
            add_name(job, file, i);
        else if (r->kind == TRACE_REGION_NAME)
            add_region(job, file, i);
        else if (r->kind == TRACE_COMM)
            add_comm(job, head->rank, r);
        job->accesses = job->accesses || r->kind == TRACE_ACCESS;
    }
}

/* Up to when a file has all that its thread has done. */
static uint64_t whole_until(const struct job *job, const struct spool_file *file)
{
    const struct machine *machine = job_machine(job, file->head->machine);

    for (size_t i = 0; i < file->n; i++)
        if (file->record[i].kind == TRACE_RECORDING && file->record[i].arg == 0)
            return machine_time(machine, file->record[i].time);
    return file->head->closed ? UINT64_MAX : machine_time(machine, file->last);
}

/* A thread that was killed, had no more room, or has stopped, may have synchronized others later
 * on: what comes after its last record cannot be judged. Agents synchronize nothing. */
static void limit_accesses(struct job *job, uint32_t missing)
{
    const struct spool *spool = job->spool;

    if (!job->accesses)
        return;
    job->until = UINT64_MAX;
    for (size_t i = 0; i < spool->n; i++)
        if (spool->file[i].head->thread_kind == SPOOL_APPLICATION)
            job->until = u64_min(job->until, whole_until(job, &spool->file[i]));
    if (spool->damaged || spool->left_out || missing) {
        job->until = 0;
        notes_add(&job->notes, "conflicting accesses are not looked for, since records that may "
                               "order accesses are not there");
    } else if (job->until < UINT64_MAX)
        notes_add(&job->notes, "conflicting accesses are looked for up to the last record of the "
                               "first process that has stopped recording, or did not reach "
                               "MPI_Finalize");
}

/* What a file says about the end of its disk, and thread 0's about files that should be there: of a
 * thread that could not make one, or that somebody has removed. Returns how many are not. */
static uint32_t lacking(struct job *job, size_t first)
{
    const struct spool *spool = job->spool;
    const uint32_t rank = spool->file[first].head->rank;
    uint32_t nthreads = 0, have = 0;

    for (size_t i = first; i < spool->n && spool->file[i].head->rank == rank; i++) {
        const struct spool_head *head = spool->file[i].head;

        have++;
        nthreads = head->thread + 1 > nthreads ? head->thread + 1 : nthreads;
        if (head->thread == 0 && head->threads > nthreads && head->threads <= THREADS_MAX)
            nthreads = (uint32_t)head->threads;
        if (head->full)
            notes_add(
                &job->notes,
                "rank %u: there was no more room for the trace of its %s %u (%s): what it has "
                "done after its last record is missing",
                rank, head->thread_kind == SPOOL_AGENT ? "agent, thread" : "thread", head->thread,
                strerror((int)head->full));
    }
    if (have < nthreads)
        notes_add(&job->notes,
                  "rank %u: files of %u of its %u threads, the agent included, are missing", rank,
                  nthreads - have, nthreads);
    return have < nthreads ? nthreads - have : 0;
}

void job_read(struct job *job, const struct spool *spool)
{
    uint32_t missing = 0;

    *job = (struct job){.spool = spool, .nproc = spool->nproc, .ncalls = TRACE_CALL_LAST};
    job->have = zalloc(job->nproc, sizeof *job->have);
    for (size_t i = 0; i < spool->n; i++)
        read_file(job, &spool->file[i]);
    name_windows(job);
    for (size_t i = 0; i < job->nwindows; i++)
        if (job->window[i].created < job->window[i].nranks)
            fill_unknown(job, &job->window[i]);
    for (uint32_t i = 0; i < job->nproc; i++)
        missing += !job->have[i];
    if (missing)
        notes_add(&job->notes, "%u of %u processes have left no usable file", missing, job->nproc);
    if (spool->damaged)
        notes_add(&job->notes, "%" PRIu64 " damaged records were left out", spool->damaged);
    uint32_t threads_missing = 0;
    for (size_t i = 0; i < spool->n; i++)
        if (i == 0 || spool->file[i].head->rank != spool->file[i - 1].head->rank)
            threads_missing += lacking(job, i);
    job_clocks(job);
    job->first = UINT64_MAX;
    for (size_t i = 0; i < job->nmachines; i++) {
        job->first = u64_min(job->first, machine_time(&job->machine[i], job->machine[i].first));
        job->last = u64_max(job->last, machine_time(&job->machine[i], job->machine[i].last));
    }
    limit_accesses(job, missing + threads_missing);
}

void job_free(struct job *job)
{
    for (size_t i = 0; i < job->nwindows; i++) {
        free(job->window[i].world);
        free(job->window[i].name);
    }
    for (size_t i = 0; i < job->nmachines; i++) {
        free(job->machine[i].point);
        table_end(&job->machine[i].processor, NULL);
    }
    for (size_t i = 0; i < job->regions.n; i++)
        free(job->regions.name[i]);
    free(job->regions.name);
    table_end(&job->regions.by_hash, NULL);
    table_end(&job->regions.by_number, NULL);
    for (size_t i = 0; i < job->comms.n; i++)
        free(job->comms.comm[i].world);
    free(job->comms.comm);
    table_end(&job->comms.by_id, NULL);
    table_end(&job->comms.by_number, NULL);
    free(job->window);
    free(job->name);
    free(job->machine);
    free(job->have);
    table_end(&job->by_number, NULL);
    table_end(&job->by_pid, NULL);
    notes_free(&job->notes);
    *job = (struct job){0};
}
