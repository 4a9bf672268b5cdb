/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * halo.c - the nearest-neighbour ghost exchange in all its one-sided versions.
 *
 * The test of Thakur, Gropp and Toonen's papers on MPI one-sided
 * synchronization: every rank of a periodic two-dimensional torus gives each of
 * its four neighbours one strip of ghost cells a step; each way of doing it
 * with MPI one-sided calls is compared with MPI_Isend and MPI_Irecv in the same
 * run. Pure MPI: whether the host's or libmpi-rma's one-sided calls are
 * measured is decided by what is linked or preloaded.
 *
 * halo_modes.c has the exchanges, halo_grid.c the contents, halo_measure.c the
 * timing, halo_report.c the tables.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arg.h"
#include "clock.h"
#include "halo_grid.h"
#include "halo_measure.h"
#include "halo_modes.h"
#include "halo_report.h"
#include "host.h"
#include "place.h"
#include "stats.h"
#include "watchdog.h"

struct options {
    struct arg_sizes sizes;
    unsigned modes; /* bits of enum halo_mode_id */
    unsigned kinds; /* bits of enum winmem_kind */
    struct halo_plan plan;
    double budget; /* seconds for everything */
    enum halo_notify notify;
    bool pin;
    const char *csv;
};

static const char *const memory_names[] = {"malloc", "alloc_mem", "allocate", NULL};

static void usage(void)
{
    printf(
        "Usage: mpiexec -n P halo [OPTIONS]\n"
        "Exchange ghost cells with the four neighbours on a periodic torus of P ranks and compare\n"
        "MPI's one-sided calls with MPI_Isend and MPI_Irecv.\n\n"
        "  --sizes=LIST     bytes per neighbour, multiples of 8 from 16 (default "
        "16,64,256,1K,...,1M)\n"
        "  --modes=LIST     some of these (default all but isend and messages), or all:\n");
    for (int m = 0; m < HALO_MODES; m++)
        printf("                     %-13s %s\n", halo_modes[m].name, halo_modes[m].meaning);
    printf(
        "  --memory=LIST    window memory: all (default) or some of malloc,alloc_mem,allocate\n"
        "                   (shm and barriers always use MPI_Win_allocate_shared; writev is of "
        "malloc,\n"
        "                   and messages are measured with allocate)\n"
        "  --notify=HOW     how lock and lock_all tell a neighbour that its ghost cells are "
        "there:\n"
        "                   accumulate (default: an 8-byte MPI_REPLACE and flush), put or barrier\n"
        "  --reps=N         measurements of each cell, medians are printed (default 7)\n"
        "  --block-ms=MS    length of one measurement (default 40)\n"
        "  --budget=S       make fewer measurements (3 at least) to end within S seconds (default "
        "100)\n"
        "  --timeout=S      give up when nothing happens for S seconds (default 120)\n"
        "  --pin            pin rank i to processor i, if there are enough\n"
        "  --csv=FILE       also write one line per cell to FILE\n"
        "  --quick          sizes 16,256,4K,64K,1M, 3 measurements of 8 ms\n"
        "  --help           this text\n"
        "Exit code: 0, 1 when ghost cells were wrong (their cell says so, the others are measured) "
        "or\n"
        "a call fails, 2 for wrong options, 3 for a hang.\n");
}

static const struct option long_options[] = {
    {"sizes", required_argument, NULL, 's'},
    {"modes", required_argument, NULL, 'm'},
    {"memory", required_argument, NULL, 'w'},
    {"notify", required_argument, NULL, 'n'},
    {"reps", required_argument, NULL, 'r'},
    {"block-ms", required_argument, NULL, 'b'},
    {"budget", required_argument, NULL, 'g'},
    {"timeout", required_argument, NULL, 't'},
    {"pin", no_argument, NULL, 'p'},
    {"csv", required_argument, NULL, 'c'},
    {"quick", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void defaults(struct options *o)
{
    *o = (struct options){
        .modes = (1u << HALO_MODES) - 1,
        .kinds = 1u << WINMEM_MALLOC | 1u << WINMEM_ALLOC_MEM | 1u << WINMEM_ALLOCATE,
        .plan = {.reps = 7, .block_ms = 40, .timeout = 120},
        .budget = 100,
    };
    o->modes &= ~(1u << MODE_ISEND | HALO_MESSAGE_MODES);
    arg_size_range(&o->sizes, 16, 1 << 20, 4);
}

static void quick(struct options *o)
{
    o->sizes = (struct arg_sizes){.v = {16, 256, 4 << 10, 64 << 10, 1 << 20}, .n = 5};
    o->plan.reps = 3;
    o->plan.block_ms = 8;
}

static int check_sizes(const struct arg_sizes *sizes, char *msg, size_t len)
{
    for (int i = 0; i < sizes->n; i++)
        if (sizes->v[i] < 16 || sizes->v[i] % 8 || sizes->v[i] > 1u << 30) {
            snprintf(msg, len, "%zu is not a multiple of 8 from 16 to 1 Gi", sizes->v[i]);
            return -1;
        }
    return 0;
}

static int one_option(struct options *o, int c, const char *arg, char *msg, size_t len)
{
    long v;
    unsigned bit;

    switch (c) {
    case 's':
        return arg_sizes(arg, &o->sizes, msg, len) || check_sizes(&o->sizes, msg, len) ? -1 : 0;
    case 'm':
        return arg_names(arg, halo_mode_name, &o->modes, msg, len);
    case 'w':
        return arg_names(arg, memory_names, &o->kinds, msg, len);
    case 'n':
        if (arg_names(arg, halo_notify_name, &bit, msg, len))
            return -1;
        o->notify = bit & 1 ? NOTIFY_ACCUMULATE : bit & 2 ? NOTIFY_PUT : NOTIFY_BARRIER;
        return 0;
    case 'r':
        if (arg_long(arg, 1, HALO_MAX_REPS, &v, msg, len))
            return -1;
        o->plan.reps = (int)v;
        return 0;
    case 'b':
        return arg_double(arg, 0.1, 10000, &o->plan.block_ms, msg, len);
    case 'g':
        return arg_double(arg, 1, 100000, &o->budget, msg, len);
    case 't':
        if (arg_long(arg, 1, 100000, &v, msg, len))
            return -1;
        o->plan.timeout = (unsigned)v;
        return 0;
    case 'p':
        o->pin = true;
        return 0;
    case 'c':
        o->csv = arg;
        return 0;
    case 'q':
        quick(o);
        return 0;
    }
    snprintf(msg, len, "unknown or incomplete option, see --help");
    return -1;
}

/* 0: run; 1: help was asked for; 2: wrong options (told by rank 0). */
static int parse(int argc, char **argv, int rank, struct options *o)
{
    char msg[512];
    int c, index = 0;

    defaults(o);
    opterr = 0;
    while ((c = getopt_long(argc, argv, "", long_options, &index)) != -1) {
        if (c == 'h') {
            if (rank == 0)
                usage();
            return 1;
        }
        if (one_option(o, c, optarg, msg, sizeof(msg))) {
            if (rank == 0)
                fprintf(stderr, "halo: %s: %s\n",
                        c == '?' ? argv[optind - 1] : long_options[index].name, msg);
            return 2;
        }
    }
    if (optind < argc) {
        if (rank == 0)
            fprintf(stderr, "halo: unexpected argument '%s', see --help\n", argv[optind]);
        return 2;
    }
    return 0;
}

static void progress(int rank, int done, int total, int kind, size_t size)
{
    char text[24];

    if (rank != 0 || !isatty(STDERR_FILENO))
        return;
    if (done == total)
        fprintf(stderr, "\r%60s\r", "");
    else
        fprintf(stderr, "\r[%2d/%2d] %s, %s bytes%20s", done + 1, total, winmem_name[kind],
                stats_bytes(size, text, sizeof(text)), "");
    fflush(stderr);
}

/* The modes to run in this kind of memory. */
static unsigned modes_of(const struct options *o, int kind)
{
    unsigned modes = o->modes & ~HALO_SHARED_MODES;

    if (kind == WINMEM_SHARED)
        return o->modes & HALO_SHARED_MODES;
    if (!(o->kinds >> kind & 1))
        return 0;
    if (kind != WINMEM_MALLOC)
        modes &= ~HALO_MALLOC_MODES;
    return kind == WINMEM_ALLOCATE ? modes : modes & ~HALO_MESSAGE_MODES;
}

/* Was every ghost cell right? */
static bool run(const struct options *o, struct halo *h, const struct halo_report *report)
{
    double start = clock_ns();
    int left = 0, total, done = 0;
    bool right = true;

    for (int kind = 0; kind < WINMEM_KINDS; kind++)
        left += modes_of(o, kind) ? o->sizes.n : 0;
    total = left;
    for (int kind = 0; kind < WINMEM_KINDS; kind++) {
        static struct halo_row rows[ARG_MAX_SIZES];
        unsigned modes = modes_of(o, kind);

        for (int i = 0; modes && i < o->sizes.n; i++, left--) {
            double seconds = o->budget - (clock_ns() - start) / 1e9;

            rows[i] = (struct halo_row){.kind = kind, .size = o->sizes.v[i]};
            for (int m = 0; m < HALO_MODES; m++)
                rows[i].wanted[m] = modes >> m & 1;
            progress(h->rank, done++, total, kind, rows[i].size);
            halo_measure_row(h, &o->plan, seconds / left, &rows[i]);
            for (int m = 0; m < HALO_MODES; m++)
                right &= !rows[i].cell[m].wrong;
            if (h->rank == 0)
                halo_report_csv(report, &rows[i]);
        }
        if (modes && h->rank == 0)
            halo_report_table(report, rows, o->sizes.n);
    }
    progress(h->rank, total, total, 0, 0);
    return right;
}

int main(int argc, char **argv)
{
    struct options o;
    struct host host;
    struct place place;
    struct halo grid;
    int rank, nprocs, rc;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    rc = parse(argc, argv, rank, &o);
    if (rc) {
        MPI_Finalize();
        return rc == 2 ? 2 : 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    host_init(&host);
    place_init(&place, rank, nprocs, o.pin);
    halo_grid_init(&grid, MPI_COMM_WORLD, place.oversubscribed, o.notify);

    struct halo_report report = {.host = &host, .place = &place, .grid = &grid};

    if (rank == 0) {
        if (o.csv && !(report.csv = fopen(o.csv, "w"))) {
            fprintf(stderr, "halo: cannot write %s: %s\n", o.csv, strerror(errno));
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        halo_report_heading(&report);
        halo_report_csv_heading(&report);
    }
    const bool right = run(&o, &grid, &report);

    if (report.csv && fclose(report.csv)) {
        fprintf(stderr, "halo: cannot write %s: %s\n", o.csv, strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    halo_grid_free(&grid);
    watchdog_arm(60, "halo, MPI_Finalize; all results are there");
    MPI_Finalize();
    return right ? 0 : 1;
}
