/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record.c - see record.h.
 *
 * A record's kind is stored last: so the file of a process that was killed has whole records, then
 * zeros.
 *
 * A call that has only waited, or that has issued an operation and completed it, takes one record:
 * when it returns, its records become one (spool_pack.h).
 *
 * A thread may end while the trace is being closed, and its destructor reaches the trace only
 * through the thread's own struct: so this struct and the trace stay until the thread has ended,
 * and the last one frees them.
 *
 * Locks: tr->lock guards the list of threads, their number and whether the trace is closed; a
 * thread's file is its own until then. Neighbours: spool.h, the format; spool_file.h, where a
 * thread's file grows; record_parts.h; mpi-rma-trace, which reads the files.
 */
#include "trace/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/err.h"
#include "base/list.h"
#include "trace/spool_file.h"
#include "trace/spool_pack.h"

/* What the last records of a thread are, if they may yet become one (spool_pack.h). */
enum folds {
    FOLDS_NOTHING,
    FOLDS_CALL, /* a TRACE_ENTER */
    FOLDS_OP,   /* a TRACE_ENTER and its TRACE_OP */
    FOLDS_DONE  /* the same two; the operation was done at th->time, for which no record is written
                   yet */
};

struct trace {
    struct trace_spec spec; /* what it points to is below */
    char dir[PATH_MAX];
    char host_mpi[SPOOL_TEXT];
    struct log log;
    pthread_key_t key; /* of a thread's struct thread */
    pthread_mutex_t lock;
    struct list threads; /* those that have not ended; guarded by the lock */
    uint32_t nthreads;   /* ever, by the lock */
    int first_head; /* the file of thread 0, whose head has the number of threads; guarded by the
                       lock; -1: none */
    bool closed;    /* by the lock */
    _Atomic uint64_t ops;
    _Atomic bool stopped; /* orders nothing: a thread may see it late */
};

struct thread {
    struct trace *tr;
    struct list_node link;  /* in tr->threads */
    struct spool_file file; /* closed: it records no more */
    uint64_t time;          /* of the last record, */
    uint16_t kind;          /* and what it was */
    enum folds folds;
    size_t enter;                  /* place of the TRACE_ENTER that folds means */
    uint64_t op_number, op_before; /* numbers of the last TRACE_OP, and of the one before it */
};

/* make_dirs makes the directories. The caller frees *spool. MRMA_ERR_NO_MEM and MRMA_ERR_OTHER: it
 * is NULL. */
static int make_dirs(const char *dir, const struct log *log, char **spool)
{
    if (asprintf(spool, "%s/" SPOOL_DIR, dir) < 0) {
        *spool = NULL;
        return MRMA_ERR_NO_MEM;
    }
    if ((mkdir(dir, 0777) && errno != EEXIST) || (mkdir(*spool, 0777) && errno != EEXIST)) {
        log_msg(log, LOG_LEVEL_ERROR,
                "MPIRMA_TRACE: the directory %s can't be made: %s; no trace is taken", *spool,
                strerror(errno));
        free(*spool);
        *spool = NULL;
        return MRMA_ERR_OTHER;
    }
    return MRMA_SUCCESS;
}

int trace_prepare(const struct trace_spec *spec)
{
    char *spool;
    const int err = make_dirs(spec->dir, spec->log, &spool);
    if (!err)
        spool_dir_clear(spool);
    free(spool);
    return err;
}

uint64_t trace_now(const struct trace *tr)
{
    return tr->spec.clock();
}

/* ---- a thread's file ---- */

/* put copies a record, with its kind last. There is room for it. A reading of the clock that two
 * records share may be older than the record about making room for the first of them. */
static void put(struct thread *th, const struct trace_record *rec)
{
    struct trace_record *at = (struct trace_record *)(void *)(th->file.piece + th->file.used);
    const uint16_t kind = rec->kind;
    struct trace_record copy = *rec;
    copy.kind = TRACE_END;
    if (unlikely(copy.time < th->time))
        copy.time = th->time;
    th->time = copy.time;
    th->kind = kind;
    *at = copy;
    __atomic_store_n(&at->kind, kind, __ATOMIC_RELEASE);
    if (kind == TRACE_ENTER) {
        th->enter = th->file.used;
        th->folds = FOLDS_CALL;
    } else {
        th->folds = kind == TRACE_OP && th->folds == FOLDS_CALL ? FOLDS_OP : FOLDS_NOTHING;
    }
    if (kind == TRACE_OP) {
        th->op_before = th->op_number;
        th->op_number = rec->id;
    }
    th->file.used += sizeof *rec;
}

static struct trace_record *record_at(const struct thread *th, size_t used)
{
    return (struct trace_record *)(void *)(th->file.piece + used);
}

/* fold_done notes that the operation is done; this is written only when the call returns. */
static bool fold_done(struct thread *th, const struct trace_record *done)
{
    const struct trace_record *op = record_at(th, th->enter + sizeof *op);

    if (th->folds != FOLDS_OP || done->id != op->id)
        return false;
    th->folds = FOLDS_DONE;
    th->time = done->time < th->time ? th->time : done->time;
    th->kind = TRACE_DONE;
    return true;
}

/* While the call's records are changed the file ends before them, and afterwards with zeros behind
 * the one that is left: so it has whole records even if the process is killed here. Only the order
 * of this thread's own stores matters for that, so a fence for the compiler is enough. */
static bool fold_op(struct thread *th, const struct trace_record *leave)
{
    struct trace_record *enter = record_at(th, th->enter), *op = enter + 1;

    if (leave->time != th->time || !spool_op_fits(enter, op, leave, th->op_before))
        return false;
    enter->kind = TRACE_END;
    atomic_signal_fence(memory_order_seq_cst);
    spool_pack_op(enter, op, leave, th->op_before);
    *op = (struct trace_record){.kind = TRACE_END};
    th->file.used -= sizeof *op;
    __atomic_store_n(&enter->kind, TRACE_CALL_OP, __ATOMIC_RELEASE);
    return true;
}

/* Between the two stores the record is still a TRACE_ENTER, whose arg nobody reads. */
static bool fold_call(struct thread *th, const struct trace_record *leave)
{
    struct trace_record *enter = record_at(th, th->enter);

    if (!spool_pack_call(enter, leave))
        return false;
    __atomic_store_n(&enter->kind, TRACE_CALL, __ATOMIC_RELEASE);
    return true;
}

static bool fold_leave(struct thread *th, const struct trace_record *leave)
{
    struct trace_record last = {.time = leave->time < th->time ? th->time : leave->time,
                                .what = leave->what};

    if (th->folds == FOLDS_CALL ? !fold_call(th, &last)
                                : th->folds != FOLDS_DONE || !fold_op(th, &last))
        return false;
    th->folds = FOLDS_NOTHING;
    th->time = last.time;
    th->kind = TRACE_LEAVE;
    return true;
}

/* fold returns whether the record becomes one with those before it, so that none is added. */
static bool fold(struct thread *th, const struct trace_record *rec)
{
    switch (rec->kind) {
    case TRACE_DONE:
        return fold_done(th, rec);
    case TRACE_LEAVE:
        return fold_leave(th, rec);
    default:
        return false;
    }
}

static void put_head(struct thread *th, uint32_t number)
{
    const struct trace_spec *spec = &th->tr->spec;
    struct spool_head head = {
        .magic = SPOOL_MAGIC,
        .version = SPOOL_VERSION,
        .record_size = sizeof(struct trace_record),
        .rank = spec->rank,
        .nproc = spec->nproc,
        .thread = number,
        .thread_kind = SPOOL_APPLICATION,
        .machine = spec->machine,
        .start = spec->clock(),
    };
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    head.to_realtime = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec - (int64_t)head.start;
    snprintf(head.host_mpi, sizeof head.host_mpi, "%s", spec->host_mpi);
    spool_process_describe(&head);
    memcpy(th->file.piece, &head, sizeof head);
    th->time = head.start; /* the first record's time was read before */
    th->file.used = sizeof head;
}

static int open_file(struct thread *th, uint32_t number)
{
    char *name; /* not on the stack, of which the thread may have little */
    if (asprintf(&name, "%s/" SPOOL_DIR "/%u-%u", th->tr->dir, th->tr->spec.rank, number) < 0)
        name = NULL;
    const int failed = name ? spool_file_open(&th->file, name) : ENOMEM;
    if (!failed) {
        put_head(th, number);
        free(name);
        return MRMA_SUCCESS;
    }
    log_msg(&th->tr->log, LOG_LEVEL_ERROR,
            "MPIRMA_TRACE: %s can't be written: %s; its events are not recorded",
            name ? name : "a thread's file", strerror(failed));
    free(name);
    spool_file_close(&th->file);
    return MRMA_ERR_OTHER;
}

/* make_thread makes the struct of the calling thread. It is made even if its file cannot be made,
 * so that nothing tries again. NULL: no memory.
 */
static struct thread *make_thread(struct trace *tr)
{
    struct thread *th = calloc(1, sizeof *th);
    if (!th)
        return NULL;
    th->tr = tr;
    th->file.fd = -1;
    pthread_mutex_lock(&tr->lock);
    const uint32_t number = tr->nthreads++;
    list_push_back(&tr->threads, &th->link);
    if (tr->first_head >= 0)
        spool_file_set_head(tr->first_head, offsetof(struct spool_head, threads), tr->nthreads,
                            &tr->log);
    pthread_mutex_unlock(&tr->lock);
    if (open_file(th, number) == MRMA_SUCCESS && number == 0) { /* inside trace_open */
        tr->first_head = fcntl(th->file.fd, F_DUPFD_CLOEXEC, 0);
        spool_file_set_head(th->file.fd, offsetof(struct spool_head, threads), 1, &tr->log);
    }
    pthread_setspecific(tr->key, th);
    return th;
}

static struct thread *this_thread(struct trace *tr)
{
    struct thread *th = pthread_getspecific(tr->key);
    return likely(th != NULL) ? th : make_thread(tr);
}

static bool make_room(struct thread *th, struct trace_record *written)
{
    const uint64_t begin = th->tr->spec.clock();
    th->folds = FOLDS_NOTHING; /* its records may be mapped no more */
    if (!spool_file_grow(&th->file, th->tr->dir, &th->tr->log))
        return false;
    const uint64_t end = th->tr->spec.clock();
    *written = (struct trace_record){.time = end, .kind = TRACE_WRITE, .bytes = end - begin};
    return true;
}

/* The record about making room for rec is later than rec, and stands behind it. */
static __attribute__((noinline)) void add_with_room(struct thread *th,
                                                    const struct trace_record *rec)
{
    struct trace_record written;
    if (!make_room(th, &written))
        return;
    put(th, rec);
    put(th, &written);
}

static void append(struct thread *th, const struct trace_record *rec)
{
    if (likely(th->file.used + sizeof *rec <= SPOOL_PIECE))
        put(th, rec);
    else
        add_with_room(th, rec);
}

/* append_done writes the record that the operation is done. */
static void append_done(struct thread *th)
{
    const struct trace_record *op = record_at(th, th->enter + sizeof *op);
    const struct trace_record done = {
        .time = th->time, .kind = TRACE_DONE, .win = op->win, .peer = op->peer, .id = op->id};

    append(th, &done);
}

/* finish completes the file of a thread, with everything that the thread has done. */
static void finish(struct thread *th)
{
    if (th->folds == FOLDS_DONE)
        append_done(th);
    spool_file_finish(&th->file, &th->tr->log);
    th->folds = FOLDS_NOTHING;
}

static void leave(struct thread *th)
{
    list_remove(&th->link);
    free(th);
}

/* Unlocks, and frees a closed trace that no thread has a struct of any more. */
static void unlock(struct trace *tr)
{
    const bool last = tr->closed && list_empty(&tr->threads);
    pthread_mutex_unlock(&tr->lock);
    if (!last)
        return;
    pthread_key_delete(tr->key);
    pthread_mutex_destroy(&tr->lock);
    free(tr);
}

static void thread_ends(void *arg)
{
    struct thread *th = arg;
    struct trace *tr = th->tr;
    pthread_mutex_lock(&tr->lock);
    if (!tr->closed)
        finish(th);
    leave(th);
    unlock(tr);
}

/* ---- the trace ---- */

int trace_open(const struct trace_spec *spec, struct trace **out)
{
    char *spool;
    int err = make_dirs(spec->dir, spec->log, &spool);
    free(spool);
    struct trace *tr = err ? NULL : calloc(1, sizeof *tr);
    if (!tr || pthread_key_create(&tr->key, thread_ends)) {
        free(tr);
        return err ? err : MRMA_ERR_NO_MEM;
    }
    tr->spec = *spec;
    tr->first_head = -1;
    snprintf(tr->dir, sizeof tr->dir, "%s", spec->dir);
    snprintf(tr->host_mpi, sizeof tr->host_mpi, "%s", spec->host_mpi);
    tr->log = *spec->log;
    tr->spec.dir = tr->dir;
    tr->spec.host_mpi = tr->host_mpi;
    tr->spec.log = &tr->log;
    pthread_mutex_init(&tr->lock, NULL);
    list_init(&tr->threads);
    struct thread *th = make_thread(tr);
    if (!th || th->file.fd < 0)
        err = th ? MRMA_ERR_OTHER : MRMA_ERR_NO_MEM;
    if (err) {
        trace_close(tr);
        return err;
    }
    *out = tr;
    return MRMA_SUCCESS;
}

void trace_close(struct trace *tr)
{
    if (!tr)
        return;
    struct thread *own = pthread_getspecific(tr->key);
    pthread_setspecific(tr->key, NULL);
    pthread_mutex_lock(&tr->lock);
    LIST_EACH (node, &tr->threads)
        finish(LIST_ENTRY(node, struct thread, link));
    tr->closed = true;
    if (tr->first_head >= 0)
        close(tr->first_head);
    tr->first_head = -1;
    if (own)
        leave(own);
    unlock(tr);
}

uint64_t trace_time_of_last(struct trace *tr, enum trace_kind kind)
{
    const struct thread *th = this_thread(tr);
    return likely(th != NULL) && th->kind == kind ? th->time : 0;
}

/* is_always_recorded returns whether a reader needs the record to understand those that come when
 * the recording is resumed. */
static bool is_always_recorded(enum trace_kind kind)
{
    switch (kind) {
    case TRACE_WIN_CREATE:
    case TRACE_WIN_FREE:
    case TRACE_WIN_NAME:
    case TRACE_NAME:
    case TRACE_OBJECT:
    case TRACE_TEXT:
    case TRACE_CLOCK:
    case TRACE_REGION_NAME:
    case TRACE_REGION_END:
    case TRACE_LEAVE:
    case TRACE_RECORDING:
    case TRACE_COMM:
        return true;
    default:
        return false;
    }
}

void trace_add(struct trace *tr, const struct trace_record *rec)
{
    struct thread *th = this_thread(tr);
    if (unlikely(!th || th->file.fd < 0))
        return;
    if (unlikely(trace_is_stopped(tr)) && !is_always_recorded(rec->kind))
        return;
    if (th->folds != FOLDS_NOTHING && fold(th, rec))
        return;
    if (unlikely(th->folds == FOLDS_DONE))
        append_done(th);
    if (likely(th->file.fd >= 0))
        append(th, rec);
}

void trace_recording(struct trace *tr, bool on)
{
    if (atomic_exchange_explicit(&tr->stopped, !on, memory_order_relaxed) == !on)
        return;
    trace_add(tr,
              &(struct trace_record){.time = trace_now(tr), .kind = TRACE_RECORDING, .arg = on});
}

bool trace_is_stopped(const struct trace *tr)
{
    return atomic_load_explicit(&tr->stopped, memory_order_relaxed);
}

bool trace_has_accesses(const struct trace *tr)
{
    return tr->spec.accesses;
}

void trace_thread_is(struct trace *tr, enum spool_thread kind)
{
    struct thread *th = this_thread(tr);
    if (th && th->file.piece && th->file.offset == 0)
        ((struct spool_head *)(void *)th->file.piece)->thread_kind = kind;
}

uint64_t trace_next_op(struct trace *tr)
{
    return 1 + atomic_fetch_add_explicit(&tr->ops, 1, memory_order_relaxed);
}

uint64_t trace_last_op(const struct trace *tr)
{
    return atomic_load_explicit(&tr->ops, memory_order_relaxed);
}
