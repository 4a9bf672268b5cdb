/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_measure.c - who is in this job, and what puts between its processes take.
 *
 * The program is not linked with libmpi-rma: which library serves its windows is just what is to be
 * found out. Windows are collective over all processes; rank 0 puts into the memory of one process
 * of its node and of one of another node. The others wait in MPI_Recv, or compute where that is
 * said.
 */
#define _GNU_SOURCE 1 /* dladdr, memfd_create */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "sys/topo.h"

enum { SMALL = 8, LARGE = 1 << 20, BATCH = 64, MOST_SAMPLES = 4096 };

/* Seconds for each measurement, and how long a target computes. */
static const double SHARE = 0.03, COMPUTE = 0.1;

typedef int version_fn(int *major, int *minor, int *patch);
typedef int path_fn(MPI_Win win, int target, char *buf, int len);

static double samples[MOST_SAMPLES];

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(int n)
{
    qsort(samples, (size_t)n, sizeof *samples, by_value);
    return samples[n / 2];
}

/* ---- who is here ---- */

static void find_library(struct check *check)
{
    version_fn *get_version;
    Dl_info where;
    int major, minor, patch, len;
    char host[MPI_MAX_LIBRARY_VERSION_STRING];

    MPI_Get_library_version(host, &len);
    host[strcspn(host, ",\n")] = '\0';
    for (char *c = host; *c != '\0'; c++)
        if (*c == '\t')
            *c = ' ';
    snprintf(check->host, sizeof check->host, "%.120s", host);
    *(void **)&get_version = dlsym(RTLD_DEFAULT, "MPIRMA_Get_version");
    if (get_version == NULL || get_version(&major, &minor, &patch) != MPI_SUCCESS)
        return;
    snprintf(check->version, sizeof check->version, "%d.%d.%d", major, minor, patch);
    if (dladdr(*(void **)&get_version, &where) != 0 && where.dli_fname != NULL) {
        char *real = realpath(where.dli_fname, NULL);
        snprintf(check->file, sizeof check->file, "%s", real != NULL ? real : where.dli_fname);
        free(real);
    }
}

/* Processes of containers on one machine have one boot number, and may be no node for the library.
 */
static int on_this_machine(int size)
{
    enum { LENGTH = 40 };
    char mine[LENGTH] = "", *all = calloc((size_t)size, LENGTH);
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    int n = 0;

    if (f != NULL) {
        if (fgets(mine, sizeof mine, f) == NULL)
            mine[0] = '\0';
        fclose(f);
    }
    if (all == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Allgather(mine, LENGTH, MPI_CHAR, all, LENGTH, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        n += strcmp(all + (size_t)i * LENGTH, all) == 0;
    free(all);
    return n;
}

/* The first rank on rank 0's node besides itself, and the first on another; -1 if there is none. */
static void find_targets(struct check *check, int *near, int *far)
{
    MPI_Comm node;
    struct topo_cpuset mine, all;
    int rank, of_node, first, here;

    memset(&mine, 0, sizeof mine);
    (void)topo_cpuset_self(&mine);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check->size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &of_node);
    MPI_Comm_size(node, &check->node);
    MPI_Allreduce(mine.word, all.word, TOPO_CPUSET_BITS / 64, MPI_UINT64_T, MPI_BOR, node);
    check->units = (int)topo_cpuset_count(&all);
    first = rank;
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    here = first == 0 && rank != 0 ? rank : check->size;
    MPI_Allreduce(&here, near, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    here = first == 0 ? check->size : rank;
    MPI_Allreduce(&here, far, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    *near = *near == check->size ? -1 : *near;
    *far = *far == check->size ? -1 : *far;
    MPI_Comm_free(&node);
    check->machine = on_this_machine(check->size);
}

/* ---- what a creation says ---- */

/* What is written to standard error meanwhile, to find the library's reason in it. */
struct listener {
    int saved, file;
};

static void listen_begin(struct listener *l)
{
    fflush(stderr);
    l->saved = dup(STDERR_FILENO);
    l->file = memfd_create("mpi-rma-check", MFD_CLOEXEC);
    if (l->saved >= 0 && l->file >= 0)
        dup2(l->file, STDERR_FILENO);
}

/* The library's first warning or error goes to why, of a refused window its first note too; what is
 * neither is passed on. */
static void listen_end(struct listener *l, bool failed, char *why, size_t len)
{
    char line[1024];
    FILE *f;

    fflush(stderr);
    if (l->saved >= 0)
        dup2(l->saved, STDERR_FILENO);
    close(l->saved);
    if (l->file < 0 || (f = fdopen(l->file, "r")) == NULL)
        return;
    rewind(f);
    while (fgets(line, sizeof line, f) != NULL) {
        const char *text = strncmp(line, "libmpi-rma[", 11) == 0 ? strstr(line, "]: ") : NULL;
        line[strcspn(line, "\n")] = '\0';
        const bool note = text != NULL && strncmp(text, "]: info: ", 9) == 0;
        const bool trouble = text != NULL && (strncmp(text, "]: error: ", 10) == 0 ||
                                              strncmp(text, "]: warning: ", 12) == 0);
        if (!note && !trouble)
            fprintf(stderr, "%s\n", line);
        else if (why[0] == '\0' && (failed || trouble))
            snprintf(why, len, "%s", strstr(text + 3, ": ") + 2);
    }
    fclose(f);
}

/* ---- puts ---- */

static double put_batch(MPI_Win win, int target, const char *data, int bytes, int times)
{
    const double from = MPI_Wtime();

    for (int i = 0; i < times; i++) {
        MPI_Put(data, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
        MPI_Win_flush(target, win);
    }
    return (MPI_Wtime() - from) / times;
}

/* The median time of a put with its flush, in about that many seconds. */
static double time_puts(MPI_Win win, int target, const char *data, int bytes, int batch,
                        double seconds)
{
    const double end = MPI_Wtime() + seconds;
    int n = 0;

    put_batch(win, target, data, bytes, 1);
    do
        samples[n++] = put_batch(win, target, data, bytes, batch);
    while (n < MOST_SAMPLES && MPI_Wtime() < end);
    return median(n);
}

/* The same while the target computes. Where the first has to wait for the target, that time is the
 * answer, since all others may be served when it has ended. */
static double time_busy(const struct check_row *row, MPI_Win win, const char *data)
{
    const int target = row->target;
    const double first = put_batch(win, target, data, SMALL, 1);
    return first > COMPUTE / 2 && strstr(row->path, "packets")
               ? first
               : time_puts(win, target, data, SMALL, BATCH, COMPUTE / 3);
}

/* Wait for rank 0. With MPIRMA_PROGRESS=poll nobody else serves, and not every host's MPI_Recv
 * does: then by calls on the window, all of which serve. */
static void wait_for_start(MPI_Win win)
{
    const char *progress = getenv("MPIRMA_PROGRESS");
    const bool poll = progress != NULL && strcmp(progress, "poll") == 0;
    int there = 0;

    while (poll && !there) {
        MPI_Win_flush_all(win);
        MPI_Iprobe(0, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static bool read_back(MPI_Win win, int target, const char *data)
{
    char seen[SMALL] = "";

    MPI_Get(seen, SMALL, MPI_BYTE, target, LARGE - SMALL, SMALL, MPI_BYTE, win);
    MPI_Win_flush(target, win);
    return memcmp(seen, data + LARGE - SMALL, SMALL) == 0;
}

static void compute(double seconds)
{
    const double end = MPI_Wtime() + seconds;
    volatile double sum = 1;

    while (MPI_Wtime() < end)
        for (int i = 0; i < 1000; i++)
            sum = sum * 1.000001;
}

/* All processes; rank 0 measures. Empty messages say when the target is to compute, and for how
 * long it is to wait. */
static void measure_row(struct check_row *row, MPI_Win win, char *data)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        row->small = time_puts(win, row->target, data, SMALL, BATCH, SHARE);
        row->large = LARGE / time_puts(win, row->target, data, LARGE, 1, SHARE);
        row->right = read_back(win, row->target, data);
        MPI_Send(NULL, 0, MPI_BYTE, row->target, 1, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_BYTE, row->target, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        row->busy = time_busy(row, win, data);
    } else if (rank == row->target) {
        wait_for_start(win);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        compute(COMPUTE);
    }
    MPI_Win_unlock_all(win);
}

static void describe_path(struct check_row *row, MPI_Win win)
{
    path_fn *win_path;

    *(void **)&win_path = dlsym(RTLD_DEFAULT, "MPIRMA_Win_path");
    if (win_path == NULL || win_path(win, row->target, row->path, sizeof row->path) != MPI_SUCCESS)
        snprintf(row->path, sizeof row->path, "host");
}

/* Who is the cause of a refusal knows more of it than who is told. */
static void join_reasons(struct check_row *row)
{
    char other[sizeof row->why];
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == row->target)
        MPI_Send(row->why, sizeof row->why, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    MPI_Recv(other, sizeof other, MPI_CHAR, row->target, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const size_t used = strlen(row->why);
    if (other[0] != '\0' && strcmp(other, row->why) != 0)
        snprintf(row->why + used, sizeof row->why - used, "%srank %d: %s", used > 0 ? "; " : "",
                 row->target, other);
}

static void run_row(struct check *check, const char *memory, bool allocate, int target, bool far)
{
    struct check_row *row = &check->row[check->nrows];
    struct listener listener;
    char *base = NULL, *own = calloc(2, LARGE);
    MPI_Win win = MPI_WIN_NULL;

    if (target < 0)
        return;
    if (own == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    check->nrows++;
    *row = (struct check_row){.memory = memory, .target = target, .far = far};
    memset(own, 0x5a, LARGE);
    listen_begin(&listener);
    const int err =
        allocate ? MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win)
                 : MPI_Win_create(own + LARGE, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    listen_end(&listener, err != MPI_SUCCESS, row->why, sizeof row->why);
    if (err == MPI_SUCCESS) {
        describe_path(row, win);
        measure_row(row, win, own);
        describe_path(row, win); /* whether packets take the network shows with the first */
        MPI_Win_free(&win);
    } else {
        join_reasons(row);
    }
    free(own);
}

/* ---- send and receive, to compare ---- */

static double ping(int rank, int target, char *data, int bytes, double seconds)
{
    const double end = MPI_Wtime() + seconds;
    int n = 0, more = 1;

    while (more) {
        const double from = MPI_Wtime();
        if (rank == 0) {
            more = n < MOST_SAMPLES - 1 && from < end;
            MPI_Send(data, bytes, MPI_BYTE, target, more, MPI_COMM_WORLD);
            MPI_Recv(data, bytes, MPI_BYTE, target, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            samples[n++] = (MPI_Wtime() - from) / 2;
        } else {
            MPI_Status status;
            MPI_Recv(data, bytes, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            more = status.MPI_TAG;
            MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
    return rank == 0 ? median(n) : 0;
}

static void time_messages(struct check *check, int target)
{
    char *data = calloc(1, LARGE);
    int rank;

    if (data == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check->message_target = target;
    if (rank == 0 || rank == target) {
        check->message = ping(rank, target, data, SMALL, SHARE);
        check->message_rate = LARGE / ping(rank, target, data, LARGE, SHARE);
    }
    free(data);
}

void check_measure(struct check *check)
{
    int near, far;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    find_library(check);
    find_targets(check, &near, &far);
    if (check->size < 2)
        return;
    run_row(check, "MPI_Win_allocate", true, near, false);
    run_row(check, "malloc", false, near, false);
    run_row(check, "MPI_Win_allocate", true, far, true);
    run_row(check, "malloc", false, far, true);
    time_messages(check, near < 0 ? far : near);
}
