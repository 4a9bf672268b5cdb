/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * print_stats.c - see print_stats.h.
 *
 * In MPI_Init rank 0 learns which processes the others are, so that it can see in MPI_Finalize that
 * one on its node has ended. It receives their counts one by one, since a collective call would
 * wait for ever for a process that does not come.
 *
 * No locks: only the thread that initialises and finalizes MPI calls these functions. Neighbours:
 * agree_job.c, which brings the processes together; engine_stats.c, which counts; counter_table.c,
 * which has the forms.
 */
#include "mpi/process/print_stats.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/save_file.h"
#include "base/text.h"
#include "engine/engine.h"
#include "mpi/host/host.h"
#include "mpi/host/agree_job.h"
#include "mpi/host/own_comm.h"
#include "mpi/process/state.h"
#include "sys/node.h"
#include "sys/procstart.h"

#define SECOND UINT64_C(1000000000)
#define LOOK_NS (SECOND / 4)     /* time between two looks which processes have ended */
#define TELL_NS (10 * SECOND)    /* after so long rank 0 says for whom it waits */
#define GIVE_UP_NS (60 * SECOND) /* after so long without an answer rank 0 gives up */

struct member {
    struct node_id node;
    uint64_t started; /* sys/procstart.h */
    int pid;
};

/* What a process sends to rank 0. */
struct answer {
    struct engine_counts counts;
    char host[64];
};

static MPI_Comm job = MPI_COMM_NULL;
static int job_rank, job_nproc;
static bool spawned;           /* by MPI_Comm_spawn */
static struct member *members; /* at rank 0 of the job */
static struct answer mine;     /* not on a stack, since the host may send it late */
static char target[256];       /* MPIRMA_STATS */
static struct log messages;

/* Rank 0's view of the others at the end. */
struct collection {
    struct answer *answers;
    MPI_Request *requests;
    MPI_Status *statuses;
    int *come;    /* those whose counts have come at one look */
    bool *here;   /* who has come, ever */
    bool *ended;  /* processes that had ended at the last look; what they have sent may still
                     come */
    bool *absent; /* processes for which rank 0 does not wait any more */
    int waits;    /* for how many */
};

static bool know_members(void)
{
    struct member me = {.node = node_self(), .started = procstart_of(0), .pid = (int)getpid()};
    int ok = 1;

    if (job_rank == 0) {
        members = calloc((size_t)job_nproc, sizeof *members);
        ok = members != NULL;
    }
    if (PMPI_Bcast(&ok, 1, MPI_INT, 0, job) != MPI_SUCCESS || !ok)
        return false;
    return PMPI_Gather(&me, sizeof me, MPI_BYTE, members, sizeof me, MPI_BYTE, 0, job) ==
           MPI_SUCCESS;
}

void stats_begin_job(const struct conf *conf)
{
    MPI_Comm parent = MPI_COMM_NULL;

    if (!*conf->stats)
        return;
    messages = *engine_messages();
    messages.level = conf->log_level;
    snprintf(target, sizeof target, "%s", conf->stats);
    job_meet(JOB_STATS, &messages, &job);
    if (job == MPI_COMM_NULL)
        return;
    PMPI_Comm_get_parent(&parent);
    spawned = parent != MPI_COMM_NULL; /* the parent cannot be asked for once it is disconnected */
    PMPI_Comm_set_errhandler(job, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(job, &job_rank);
    PMPI_Comm_size(job, &job_nproc);
    if (know_members())
        return;
    log_msg(&messages, LOG_LEVEL_ERROR,
            "MPIRMA_STATS: no memory for what the processes of the job are; each has a table by "
            "itself");
    PMPI_Comm_free(&job);
}

static bool has_ending(const char *name, const char *ending)
{
    const size_t len = strlen(name), n = strlen(ending);

    return len >= n && strcmp(name + len - n, ending) == 0;
}

/* format returns the table as text in memory that the caller frees; NULL: there is no memory. */
static char *format(const struct counter_table *table, size_t *len)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, len);
    bool failed;

    if (out == NULL)
        return NULL;
    if (has_ending(target, ".csv"))
        counter_table_csv(table, out);
    else if (has_ending(target, ".json"))
        counter_table_json(table, out);
    else
        counter_table_text(table, out);
    failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        free(text);
        text = NULL;
    }
    return text;
}

/* name_own puts host and process number before the ending of the name, for processes that mpiexec
 * has not started: they must overwrite neither the file of the job nor each other's. */
static void name_own(char *name, size_t len)
{
    const char *slash = strrchr(target, '/'), *dot = strrchr(target, '.');
    const size_t stem =
        dot != NULL && (slash == NULL || dot > slash) ? (size_t)(dot - target) : strlen(target);

    snprintf(name, len, "%.*s.%s.%ld%s", (int)stem, target, mine.host, (long)getpid(),
             target + stem);
}

/* own says that this is not the one table of the job that mpiexec has started. */
static void write_out(const struct counter_table *table, bool own)
{
    char name[512];
    size_t len;
    char *text = format(table, &len);
    int err;

    if (text == NULL) {
        log_msg(&messages, LOG_LEVEL_ERROR, "MPIRMA_STATS: no memory for the table");
        return;
    }
    if (own && !save_file_is_stream(target))
        name_own(name, sizeof name);
    else
        snprintf(name, sizeof name, "%s", target);
    err = strcmp(target, "1") == 0 ? save_file_write(STDERR_FILENO, text, len)
                                   : save_file(name, text, len);
    if (err != 0)
        log_msg(&messages, LOG_LEVEL_ERROR, "MPIRMA_STATS: cannot write %s: %s",
                strcmp(target, "1") == 0 ? "to standard error" : name, strerror(err));
    free(text);
}

static struct counter_row row_of(const struct answer *a, int rank)
{
    return (struct counter_row){.rank = rank,
                                .host = a->host,
                                .routes = a->counts.routes,
                                .network = a->counts.network,
                                .values = a->counts.values};
}

static struct counter_table table_of(const struct counter_row *rows, size_t nrows,
                                     const char *title)
{
    return (struct counter_table){.title = title,
                                  .version = PACKAGE_VERSION,
                                  .counters = engine_counters,
                                  .ncounters = ENGINE_COUNTERS,
                                  .rows = rows,
                                  .nrows = nrows};
}

static void write_alone(int rank)
{
    const struct counter_row row = row_of(&mine, rank);
    char title[80];

    snprintf(title, sizeof title, "libmpi-rma: statistics of one process alone, rank %d", rank);
    const struct counter_table table = table_of(&row, 1, title);
    write_out(&table, true);
}

void stats_take(struct engine *e)
{
    const struct conf *conf = engine_conf(e);

    if (!*conf->stats)
        return;
    gethostname(mine.host, sizeof mine.host - 1);
    engine_count(e, &mine.counts);
    if (job != MPI_COMM_NULL)
        return;
    messages = *engine_log(e);
    snprintf(target, sizeof target, "%s", conf->stats);
    write_alone(self_rank());
    memset(&mine, 0, sizeof mine); /* another engine counts anew */
}

/* A send that is still under way after a minute is left so: nobody can end it. */
static bool send_mine(void)
{
    const uint64_t began = clock_monotonic_ns();
    const struct timespec pause = {.tv_nsec = 1000000};
    MPI_Request request;
    int done = 0;

    if (PMPI_Isend(&mine, sizeof mine, MPI_BYTE, 0, 0, job, &request) != MPI_SUCCESS)
        return false;
    while (mpi_host.Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
        if (clock_monotonic_ns() - began >= GIVE_UP_NS)
            return false;
        nanosleep(&pause, NULL);
    }
    return done;
}

/* look_who_ended finds processes of this node that had ended at the last look already and from
 * which nothing has come since. */
static void look_who_ended(struct collection *m)
{
    for (int i = 1; i < job_nproc; i++) {
        int fd = -1;

        if (m->here[i] || m->absent[i] || !node_same(&members[i].node, &members[0].node))
            continue;
        if (m->ended[i]) {
            m->absent[i] = true;
            m->waits--;
            continue;
        }
        m->ended[i] = !procstart_lives(members[i].pid, (uint32_t)members[i].started, &fd);
        if (fd >= 0)
            close(fd);
    }
}

static int take_who_comes(struct collection *m)
{
    int n = 0;

    if (mpi_host.Testsome(job_nproc, m->requests, &n, m->come, m->statuses) != MPI_SUCCESS ||
        n == MPI_UNDEFINED)
        return 0;
    for (int k = 0; k < n; k++) {
        m->here[m->come[k]] = true;
        m->waits -= !m->absent[m->come[k]];
    }
    return n;
}

static void tell_whom(const struct collection *m)
{
    char ranks[128];

    text_show_unmarked(m->here, job_nproc, ranks, sizeof ranks);
    log_msg(&messages, LOG_LEVEL_WARN, "MPI_Finalize waits for the statistics of ranks %s", ranks);
}

static void await(struct collection *m)
{
    struct timespec pause = {.tv_nsec = 20000};
    uint64_t now = clock_monotonic_ns(), last = now, looked = now;
    bool told = false;

    while (m->waits > 0 && now - last < GIVE_UP_NS) {
        if (take_who_comes(m) > 0) {
            last = now;
            continue;
        }
        if (now - looked >= LOOK_NS) {
            looked = now;
            look_who_ended(m);
        }
        if (!told && now - last >= TELL_NS) {
            told = true;
            tell_whom(m);
        }
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 1000000)
            pause.tv_nsec += pause.tv_nsec / 4;
        now = clock_monotonic_ns();
    }
}

static bool ask_all(struct collection *m)
{
    m->answers[0] = mine;
    m->here[0] = true;
    m->requests[0] = MPI_REQUEST_NULL;
    for (int i = 1; i < job_nproc; i++)
        if (PMPI_Irecv(&m->answers[i], sizeof mine, MPI_BYTE, i, 0, job, &m->requests[i]) !=
            MPI_SUCCESS)
            return false;
    m->waits = job_nproc - 1;
    return true;
}

/* tell_if_unused tells that no window has used the library: the user has asked for statistics and
 * may not expect that. */
static void tell_if_unused(const struct counter_row *rows, size_t nrows)
{
    for (size_t i = 0; i < nrows; i++)
        if (rows[i].values[ENGINE_COUNTER_WINDOWS] > 0)
            return;
    log_msg(&messages, LOG_LEVEL_WARN,
            "no window of this job was made through libmpi-rma; if the program made one, its calls "
            "did not come through the library (see \"Programs that load MPI themselves\" in "
            "doc/profilers.md)");
}

/* rows and missing have room for all processes. */
static void write_job(const struct collection *m, struct counter_row *rows, int *missing)
{
    char title[200], ranks[64], of[32] = "";
    struct counter_table table;
    size_t nrows = 0, nmissing = 0;

    for (int i = 0; i < job_nproc; i++)
        if (m->here[i])
            rows[nrows++] = row_of(&m->answers[i], i);
        else
            missing[nmissing++] = i;
    if (nmissing > 0) {
        text_show_unmarked(m->here, job_nproc, ranks, sizeof ranks);
        log_msg(&messages, LOG_LEVEL_WARN,
                "MPIRMA_STATS: these ranks have ended before MPI_Finalize, or have not come to it "
                "in time, and are not counted: %s",
                ranks);
        snprintf(of, sizeof of, " of %d", job_nproc);
    }
    snprintf(title, sizeof title, "libmpi-rma: statistics of %zu%s process%s%s", nrows, of,
             job_nproc > 1 ? "es" : "", spawned ? " that MPI_Comm_spawn has started" : "");
    table = table_of(rows, nrows, title);
    table.missing = missing;
    table.nmissing = nmissing;
    write_out(&table, spawned);
    tell_if_unused(rows, nrows);
}

/* collect returns false if the counts of some process did not come, or if there is no memory, which
 * a message has told. */
static bool collect(void)
{
    const size_t n = (size_t)job_nproc;
    struct collection m = {.answers = calloc(n, sizeof *m.answers),
                           .requests = calloc(n, sizeof *m.requests),
                           .statuses = calloc(n, sizeof *m.statuses),
                           .come = calloc(n, sizeof *m.come),
                           .here = calloc(n, sizeof *m.here),
                           .ended = calloc(n, sizeof *m.ended),
                           .absent = calloc(n, sizeof *m.absent)};
    struct counter_row *rows = calloc(n, sizeof *rows);
    bool all = false;

    if (m.answers && m.requests && m.statuses && m.come && m.here && m.ended && m.absent && rows &&
        ask_all(&m)) {
        await(&m);
        write_job(&m, rows, m.come);
        all = true;
        for (int i = 0; i < job_nproc; i++)
            all = all && m.here[i];
    } else {
        log_msg(&messages, LOG_LEVEL_ERROR, "MPIRMA_STATS: no memory for the table");
    }
    free(rows);
    free(m.absent);
    free(m.ended);
    free(m.here);
    free(m.come);
    free(m.statuses);
    if (all) { /* messages that were not received may still come */
        free(m.requests);
        free(m.answers);
    }
    return all;
}

void stats_end_job(void)
{
    bool done;

    if (job == MPI_COMM_NULL)
        return;
    gethostname(mine.host, sizeof mine.host - 1);
    done = job_rank == 0 ? collect() : send_mine();
    if (done) /* otherwise messages are under way in it */
        PMPI_Comm_free(&job);
    job = MPI_COMM_NULL;
    free(members);
    members = NULL;
}
