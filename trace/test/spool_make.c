/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_make.c - see spool_make.h.
 */
#include "spool_make.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/spool_pack.h"

static uint64_t clock_ns(const struct made_file *file, double us)
{
    return (uint64_t)((MAKE_BEGIN + us) * 1000.0 + 0.5) + (uint64_t)file->skew;
}

static void init_file(struct made_file *file, uint32_t nproc, uint32_t rank, unsigned kind)
{
    struct spool_head *head = &file->head;

    head->magic = SPOOL_MAGIC;
    head->version = SPOOL_VERSION;
    head->record_size = sizeof(struct trace_record);
    head->rank = rank;
    head->nproc = nproc;
    head->thread = kind == SPOOL_AGENT;
    head->thread_kind = kind;
    head->machine = 1;
    head->start = MAKE_BEGIN * 1000;
    head->closed = 1;
    head->to_realtime = INT64_C(1700000000000000000);
    snprintf(head->hostname, SPOOL_TEXT, "node0");
    snprintf(head->host_mpi, SPOOL_TEXT, "test");
}

void make_job(struct made_job *job, uint32_t nproc)
{
    const char *tmp = getenv("TMPDIR");

    memset(job, 0, sizeof *job);
    assert_true(nproc <= MAKE_RANKS);
    job->nproc = nproc;
    snprintf(job->dir, sizeof job->dir, "%s/mpi-rma-trace.XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(job->dir));
    for (uint32_t i = 0; i < nproc; i++) {
        init_file(&job->app[i], nproc, i, SPOOL_APPLICATION);
        init_file(&job->agent[i], nproc, i, SPOOL_AGENT);
    }
}

void make_machine(struct made_job *job, uint32_t rank, uint64_t machine, int64_t skew)
{
    struct made_file *files[] = {&job->app[rank], &job->agent[rank]};

    for (int i = 0; i < 2; i++) {
        files[i]->head.machine = 1 + machine;
        snprintf(files[i]->head.hostname, SPOOL_TEXT, "node%" PRIu64, machine);
        files[i]->skew = skew;
        files[i]->head.start += (uint64_t)skew;
        files[i]->head.to_realtime -= skew;
    }
}

/* A call that record.c makes one record of, from record i on: in *packed, and how many records it
 * stands for. */
static size_t pack(const struct made_file *file, size_t i, uint64_t *before,
                   struct trace_record *packed)
{
    const struct trace_record *r = &file->record[i];
    const size_t left = file->n - i;

    *packed = *r;
    if (r->kind == TRACE_OP)
        *before = r->id;
    if (r->kind != TRACE_ENTER)
        return 1;
    if (left > 1 && r[1].kind == TRACE_LEAVE && spool_pack_call(packed, &r[1])) {
        packed->kind = TRACE_CALL;
        return 2;
    }
    if (left < 4 || r[1].kind != TRACE_OP || r[2].kind != TRACE_DONE || r[2].id != r[1].id ||
        r[3].kind != TRACE_LEAVE || r[2].time != r[3].time ||
        !spool_op_fits(r, &r[1], &r[3], *before))
        return 1;
    spool_pack_op(packed, &r[1], &r[3], *before);
    packed->kind = TRACE_CALL_OP;
    *before = r[1].id;
    return 4;
}

/* Those of odd ranks are packed, so that each test has files of both kinds. */
static void write_records(const struct made_file *file, FILE *stream)
{
    struct trace_record packed;
    uint64_t before = 0;

    for (size_t i = 0; i < file->n;) {
        const bool is_packed = file->head.rank % 2;

        if (!is_packed)
            packed = file->record[i];
        i += is_packed ? pack(file, i, &before, &packed) : 1;
        assert_int_equal(fwrite(&packed, sizeof packed, 1, stream), 1);
    }
}

static void write_file(const struct made_job *job, const struct made_file *file)
{
    char path[320];

    if (file->n == 0)
        return;
    snprintf(path, sizeof path, "%s/spool/%u-%u", job->dir, file->head.rank, file->head.thread);
    FILE *stream = fopen(path, "wb");
    static const struct trace_record end[3];
    assert_non_null(stream);
    assert_int_equal(fwrite(&file->head, sizeof file->head, 1, stream), 1);
    write_records(file, stream);
    assert_int_equal(fwrite(end, sizeof end, 1, stream), 1);
    assert_int_equal(fclose(stream), 0);
}

void make_write(struct made_job *job)
{
    char path[300];

    snprintf(path, sizeof path, "%s/spool", job->dir);
    mkdir(path, 0777);
    for (uint32_t i = 0; i < job->nproc; i++) {
        write_file(job, &job->app[i]);
        write_file(job, &job->agent[i]);
    }
}

void make_free(struct made_job *job)
{
    char command[320];

    for (uint32_t i = 0; i < job->nproc; i++) {
        free(job->app[i].record);
        free(job->agent[i].record);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", job->dir);
    assert_int_equal(system(command), 0);
}

struct trace_record *make_record(struct made_file *file, double us, unsigned kind)
{
    if (file->n == file->cap) {
        file->cap = file->cap ? 2 * file->cap : 64;
        file->record = realloc(file->record, file->cap * sizeof *file->record);
        assert_non_null(file->record);
    }
    struct trace_record *r = &file->record[file->n++];
    *r = (struct trace_record){.time = clock_ns(file, us), .kind = (uint16_t)kind, .peer = -1};
    return r;
}

static struct trace_record *on_window(struct made_file *file, double us, unsigned kind)
{
    struct trace_record *r = make_record(file, us, kind);

    r->win = 1;
    return r;
}

static struct made_file *enter(struct made_job *job, uint32_t rank, double us, unsigned call)
{
    make_record(&job->app[rank], us, TRACE_ENTER)->what = (uint16_t)call;
    return &job->app[rank];
}

static void leave(struct made_file *file, double us, unsigned call)
{
    make_record(file, us, TRACE_LEAVE)->what = (uint16_t)call;
}

void make_call(struct made_job *job, uint32_t rank, double begin, double end, unsigned call)
{
    leave(enter(job, rank, begin, call), end, call);
}

void make_create(struct made_job *job, uint32_t rank, double begin, double end)
{
    struct made_file *file = enter(job, rank, begin, TRACE_CALL_Win_create);
    struct trace_record *r = on_window(file, end, TRACE_WIN_CREATE);

    r->id = 77;
    r->peer = (int32_t)rank;
    r->arg = job->nproc;
    r->what = TRACE_CREATE;
    r->bytes = 4096;
    leave(file, end, TRACE_CALL_Win_create);
}

void make_free_call(struct made_job *job, uint32_t rank, double begin, double end)
{
    struct made_file *file = enter(job, rank, begin, TRACE_CALL_Win_free);

    on_window(file, end, TRACE_WIN_FREE);
    leave(file, end, TRACE_CALL_Win_free);
}

void make_fence(struct made_job *job, uint32_t rank, double begin, double end, unsigned asserts)
{
    struct made_file *file = enter(job, rank, begin, TRACE_CALL_Win_fence);

    on_window(file, begin, TRACE_FENCE)->arg = asserts;
    leave(file, end, TRACE_CALL_Win_fence);
}

static void one_rank(struct made_file *file, double us, uint32_t rank)
{
    struct trace_ranks *ranks = (struct trace_ranks *)make_record(file, us, TRACE_RANKS);

    ranks->n = 1;
    memset(ranks->rank, 0, sizeof ranks->rank);
    ranks->rank[0] = (int32_t)rank;
}

static void group_call(struct made_job *job, uint32_t rank, const double *time, unsigned call,
                       unsigned kind, uint32_t peer)
{
    struct made_file *file = enter(job, rank, time[0], call);

    on_window(file, time[0], kind)->id = 1;
    one_rank(file, time[0], peer);
    leave(file, time[1], call);
}

void make_start(struct made_job *job, uint32_t rank, double begin, double end, uint32_t target)
{
    group_call(job, rank, (double[]){begin, end}, TRACE_CALL_Win_start, TRACE_START, target);
}

void make_post(struct made_job *job, uint32_t rank, double begin, double end, uint32_t origin)
{
    group_call(job, rank, (double[]){begin, end}, TRACE_CALL_Win_post, TRACE_POST, origin);
}

static struct made_file *enter_window(struct made_job *job, uint32_t rank, double us, unsigned call,
                                      int32_t peer)
{
    struct made_file *file = enter(job, rank, us, call);

    file->record[file->n - 1].win = 1;
    file->record[file->n - 1].peer = peer;
    return file;
}

void make_complete(struct made_job *job, uint32_t rank, double begin, double end)
{
    leave(enter_window(job, rank, begin, TRACE_CALL_Win_complete, -1), end,
          TRACE_CALL_Win_complete);
}

void make_wait(struct made_job *job, uint32_t rank, double begin, double end)
{
    leave(enter_window(job, rank, begin, TRACE_CALL_Win_wait, -1), end, TRACE_CALL_Win_wait);
}

void make_lock(struct made_job *job, uint32_t rank, double begin, double end, uint32_t target,
               unsigned type)
{
    struct made_file *file = enter_window(job, rank, begin, TRACE_CALL_Win_lock, (int32_t)target);
    struct trace_record *r = on_window(file, begin, TRACE_LOCK);

    r->peer = (int32_t)target;
    r->what = (uint16_t)type;
    leave(file, end, TRACE_CALL_Win_lock);
}

void make_locked(struct made_job *job, uint32_t rank, double us, uint32_t target, unsigned type)
{
    struct made_file *file = &job->app[rank];
    struct trace_record last = file->record[file->n - 1];
    bool inside = last.kind == TRACE_LEAVE && last.time > clock_ns(file, us);

    if (inside)
        file->n--;
    struct trace_record *r = on_window(file, us, TRACE_LOCKED);
    r->peer = (int32_t)target;
    r->what = (uint16_t)type;
    if (inside)
        *make_record(file, us, TRACE_LEAVE) = last;
}

void make_unlock(struct made_job *job, uint32_t rank, double begin, double end, uint32_t target)
{
    struct made_file *file = enter_window(job, rank, begin, TRACE_CALL_Win_unlock, (int32_t)target);

    on_window(file, end, TRACE_UNLOCK)->peer = (int32_t)target;
    leave(file, end, TRACE_CALL_Win_unlock);
}

void make_flush(struct made_job *job, uint32_t rank, double begin, double end, uint32_t target)
{
    leave(enter_window(job, rank, begin, TRACE_CALL_Win_flush, (int32_t)target), end,
          TRACE_CALL_Win_flush);
}

uint64_t make_op(struct made_job *job, uint32_t rank, double begin, double end, unsigned op,
                 uint32_t target, uint64_t bytes, unsigned path)
{
    static const unsigned call[] = {0,
                                    TRACE_CALL_Put,
                                    TRACE_CALL_Get,
                                    TRACE_CALL_Accumulate,
                                    TRACE_CALL_Get_accumulate,
                                    TRACE_CALL_Fetch_and_op,
                                    TRACE_CALL_Compare_and_swap};
    struct made_file *file = enter_window(job, rank, begin, call[op], 0);
    struct trace_record *r = on_window(file, begin, TRACE_OP);

    r->peer = (int32_t)target;
    r->id = ++job->next_id;
    r->bytes = bytes;
    r->what = (uint16_t)op;
    r->arg = path;
    if (path == TRACE_MAPPED)
        make_done(job, rank, end, target, job->next_id);
    leave(file, end, call[op]);
    return job->next_id;
}

void make_blocks(struct made_job *job, uint32_t rank, unsigned what,
                 const struct trace_access *blocks)
{
    struct made_file *file = &job->app[rank];
    const struct trace_record left = file->record[file->n - 1];
    struct trace_access *access = (struct trace_access *)&file->record[file->n - 1];

    *access = *blocks; /* inside the call */
    access->time = file->record[file->n - 2].time;
    access->kind = TRACE_ACCESS;
    access->what = (uint16_t)what;
    *make_record(file, 0, TRACE_LEAVE) = left;
}

void make_access(struct made_job *job, uint32_t rank, unsigned what, uint64_t begin,
                 uint64_t length)
{
    make_blocks(job, rank, what, &(struct trace_access){.n = 1, .begin = begin, .length = length});
}

void make_done(struct made_job *job, uint32_t rank, double us, uint32_t target, uint64_t id)
{
    struct trace_record *r = on_window(&job->app[rank], us, TRACE_DONE);

    r->peer = (int32_t)target;
    r->id = id;
}

void make_region(struct made_file *file, double begin, double end, unsigned first_kind,
                 int32_t peer)
{
    on_window(file, begin, first_kind)->peer = peer;
    struct trace_record *r = on_window(file, end, first_kind + 1);

    r->peer = peer;
    r->arg = 1;
    r->bytes = 8;
}

void make_create_all(struct made_job *job)
{
    for (uint32_t i = 0; i < job->nproc; i++)
        make_create(job, i, 1, 10);
}

void make_free_all(struct made_job *job, double us)
{
    for (uint32_t i = 0; i < job->nproc; i++)
        make_free_call(job, i, us, us + 5);
}

void make_late_complete(struct made_job *job, double delay)
{
    make_create_all(job);
    make_post(job, 1, 100, 101, 0);
    make_start(job, 0, 100, 101, 1);
    make_op(job, 0, 110, 115, TRACE_PUT, 1, 64, TRACE_MAPPED);
    make_complete(job, 0, 120 + delay, 121 + delay);
    make_wait(job, 1, 120, 122 + delay);
    make_free_all(job, 100000);
}

void make_held_lock(struct made_job *job, double delay)
{
    make_create_all(job);
    make_lock(job, 0, 100, 102, 1, TRACE_LOCK_EXCLUSIVE);
    make_locked(job, 0, 101, 1, TRACE_LOCK_EXCLUSIVE);
    make_unlock(job, 0, 110 + delay, 111 + delay, 1);
    make_lock(job, 2, delay ? 110 : 120, 113 + delay + (delay ? 0 : 10), 1, TRACE_LOCK_EXCLUSIVE);
    make_locked(job, 2, delay ? 112 + delay : 122, 1, TRACE_LOCK_EXCLUSIVE);
    make_unlock(job, 2, 130 + delay, 131 + delay, 1);
    make_free_all(job, 100000);
}

void make_random_program(struct made_job *job, unsigned seed)
{
    srand(seed);
    make_job(job, 1 + (uint32_t)rand() % 6);
    make_create_all(job);
    double us = 20;
    for (int phase = 0; phase < 12; phase++) {
        bool fence = rand() % 2;

        for (uint32_t i = 0; i < job->nproc; i++) {
            uint32_t target = (uint32_t)rand() % job->nproc;
            int n = rand() % 5;

            if (!fence)
                make_lock(job, i, us, us + 1, target, 1 + (unsigned)rand() % 2);
            for (int k = 0; k < n; k++)
                make_op(job, i, us + 2 + k, us + 2.5 + k, 1 + (unsigned)rand() % 6, target,
                        1u << (rand() % 16), 1 + (unsigned)rand() % 4);
            if (rand() % 3 == 0)
                make_record(&job->app[i], us + 8, TRACE_WRITE)->bytes = (uint64_t)rand() % 4000;
            if (fence)
                make_fence(job, i, us + 10 + rand() % 3, us + 15, 0);
            else
                make_unlock(job, i, us + 10, us + 11, target);
            if (rand() % 2)
                make_region(&job->agent[i], us + 3, us + 4 + rand() % 6,
                            rand() % 2 ? TRACE_SERVE : TRACE_PARK, (int32_t)target);
        }
        us += 20;
    }
    make_free_all(job, us);
}
