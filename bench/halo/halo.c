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
 * modes.c has the exchanges, grid.c the contents, measure.c the
 * timing, report.c the tables.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/common/clock.h"
#include "bench/common/host.h"
#include "bench/common/load.h"
#include "bench/common/place.h"
#include "bench/common/stats.h"
#include "bench/common/values.h"
#include "bench/common/watchdog.h"
#include "bench/halo/grid.h"
#include "bench/halo/measure.h"
#include "bench/halo/modes.h"
#include "bench/halo/report.h"
#include "tools/options.h"

struct options {
    struct sizes sizes;
    unsigned modes; /* bits of enum halo_mode_id */
    unsigned kinds; /* bits of enum winmem_kind */
    struct halo_plan plan;
    double budget; /* seconds for everything */
    enum halo_notify notify;
    bool pin;
    bool progress;
    const char *csv;
};

static const char *const memory_names[] = {"malloc", "alloc_mem", "allocate", NULL};

/* The options; none has a short form. */
enum key {
    KEY_HOST = OPTIONS_KEY + 1,
    KEY_SIZES,
    KEY_MODES,
    KEY_MEMORY,
    KEY_NOTIFY,
    KEY_REPS,
    KEY_BLOCK_MS,
    KEY_BUDGET,
    KEY_TIMEOUT,
    KEY_PIN,
    KEY_PROGRESS,
    KEY_CSV,
    KEY_QUICK,
};

static const struct argp_option options[] = {
    {"host", KEY_HOST, "HOST", 0,
     "The program for this MPI library, mpich or openmpi (default: that of the launcher)", 0},
    {"sizes", KEY_SIZES, "LIST", 0,
     "Bytes per neighbour, multiples of 8 from 16 (default 16,64,256,1K,...,1M)", 0},
    {"modes", KEY_MODES, "LIST", 0,
     "Some of the modes below (default all but isend, notified and messages), or all", 0},
    {"memory", KEY_MEMORY, "LIST", 0,
     "Window memory: all (default) or some of malloc,alloc_mem,allocate (shm and barriers always "
     "use MPI_Win_allocate_shared; writev is of malloc, and messages are measured with allocate)",
     0},
    {"notify", KEY_NOTIFY, "HOW", 0,
     "How lock and lock_all tell a neighbour that its ghost cells are there: accumulate (default: "
     "an 8-byte MPI_REPLACE and flush), put or barrier",
     0},
    {"reps", KEY_REPS, "N", 0, "Measurements of each cell, medians are printed (default 7)", 0},
    {"block-ms", KEY_BLOCK_MS, "MS", 0, "Length of one measurement (default 40)", 0},
    {"budget", KEY_BUDGET, "S", 0,
     "Make fewer measurements (3 at least) to end within S seconds (default 100)", 0},
    {"timeout", KEY_TIMEOUT, "S", 0, "Give up when nothing happens for S seconds (default 120)", 0},
    {"pin", KEY_PIN, NULL, 0, "Pin rank i to processor i, if there are enough", 0},
    {"progress", KEY_PROGRESS, NULL, 0,
     "Say on standard error what is being measured, also where that is no terminal: a launcher "
     "hides the terminal that it passes it on to",
     0},
    {"csv", KEY_CSV, "FILE", 0, "Also write one line per cell to FILE", 0},
    {"quick", KEY_QUICK, NULL, 0, "Sizes 16,256,4K,64K,1M, 3 measurements of 8 ms", 0},
    OPTIONS_COMMON};

static void defaults(struct options *o)
{
    *o = (struct options){
        .modes = (1u << HALO_MODES) - 1,
        .kinds = 1u << WINMEM_MALLOC | 1u << WINMEM_ALLOC_MEM | 1u << WINMEM_ALLOCATE,
        .plan = {.reps = 7, .block_ms = 40, .timeout = 120},
        .budget = 100,
    };
    o->modes &= ~(1u << MODE_ISEND | HALO_EXTENSION_MODES | HALO_MESSAGE_MODES);
    sizes_range(&o->sizes, 16, 1 << 20, 4);
}

static void quick(struct options *o)
{
    o->sizes = (struct sizes){.v = {16, 256, 4 << 10, 64 << 10, 1 << 20}, .n = 5};
    o->plan.reps = 3;
    o->plan.block_ms = 8;
}

static error_t read_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    unsigned bit;
    long v;
    error_t error;

    switch (key) {
    case KEY_SIZES:
        return value_sizes(state, key, text, 16, 8, &o->sizes);
    case KEY_MODES:
        return value_names(state, key, text, halo_mode_name, &o->modes);
    case KEY_MEMORY:
        return value_names(state, key, text, memory_names, &o->kinds);
    case KEY_NOTIFY:
        error = value_names(state, key, text, halo_notify_name, &bit);
        if (!error)
            o->notify = bit & 1 ? NOTIFY_ACCUMULATE : bit & 2 ? NOTIFY_PUT : NOTIFY_BARRIER;
        return error;
    case KEY_REPS:
        error = value_long(state, key, text, 1, HALO_MAX_REPS, &v);
        if (!error)
            o->plan.reps = (int)v;
        return error;
    case KEY_BLOCK_MS:
        return value_double(state, key, text, 0.1, 10000, &o->plan.block_ms);
    case KEY_BUDGET:
        return value_double(state, key, text, 1, 100000, &o->budget);
    case KEY_TIMEOUT:
        error = value_long(state, key, text, 1, 100000, &v);
        if (!error)
            o->plan.timeout = (unsigned)v;
        return error;
    case KEY_PIN:
        o->pin = true;
        return 0;
    case KEY_HOST:
        if (strcmp(text, MPIRMA_HOST) == 0)
            return 0;
        argp_error(state, "--host=%s: this is the build for " MPIRMA_HOST, text);
        return EINVAL;
    case KEY_PROGRESS:
        o->progress = true;
        return 0;
    case KEY_CSV:
        o->csv = text;
        return 0;
    case KEY_QUICK:
        quick(o);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: an option was expected", text);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The modes stand in their table only. */
static char *help_text(int key, const char *text, void *input)
{
    char *all = NULL;
    size_t len;
    FILE *out;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC || !(out = open_memstream(&all, &len)))
        return (char *)text;
    fprintf(out, "Modes:\n");
    for (int m = 0; m < HALO_MODES; m++)
        fprintf(out, "  %-13s %s\n", halo_modes[m].name, halo_modes[m].meaning);
    fprintf(out, "\n%s", text);
    fclose(out);
    return all;
}

static const struct argp argp = {
    .options = options,
    .parser = read_option,
    .doc =
        "Exchange ghost cells with the four neighbours on a periodic torus of all ranks (mpiexec "
        "-n "
        "P mpi-rma-halo) and compare MPI's one-sided calls with MPI_Isend and MPI_Irecv."
        "\v"
        "Exit code: 0, 1 when ghost cells were wrong (their cell says so, the others are measured) "
        "or a call fails, 2 for wrong options, 3 for a hang.",
    .help_filter = help_text};

/* How far a run is, on standard error. */
struct progress {
    bool shown, terminal;
    double told; /* when, in ns */
};

/* A terminal has one line, written again and again. Elsewhere there are whole lines, not many: a
 * launcher may take a line that does not end for one of standard output (Open MPI 5). */
static void tell_progress(struct progress *p, const struct halo_report *report, int done, int total,
                          int kind, size_t size)
{
    const double now = clock_ns();
    char text[24];

    if (!p->shown || (!p->terminal && done > 0 && now - p->told < 5e9))
        return;
    p->told = now;
    fprintf(stderr, "%s[%2d/%2d] %d ranks, %s: %s, %s bytes%s", p->terminal ? "\r" : "", done + 1,
            total, report->grid->nprocs, report->host->library ? "libmpi-rma" : "host",
            winmem_name[kind], stats_bytes(size, text, sizeof(text)),
            p->terminal ? "              " : "\n");
    fflush(stderr);
}

static void end_progress(const struct progress *p)
{
    if (p->shown && p->terminal)
        fprintf(stderr, "\r%70s\r", "");
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

/* All modes that run in some kind of memory. */
static unsigned modes_shown(const struct options *o)
{
    unsigned modes = 0;

    for (int kind = 0; kind < WINMEM_KINDS; kind++)
        modes |= modes_of(o, kind);
    return modes;
}

/* Was every ghost cell right? */
static bool run(const struct options *o, struct halo *h, struct halo_report *report)
{
    struct progress progress = {.terminal = isatty(STDERR_FILENO)};
    double start = clock_ns();
    int left = 0, total, done = 0;
    bool right = true;

    progress.shown = h->rank == 0 && (o->progress || progress.terminal);
    for (int kind = 0; kind < WINMEM_KINDS; kind++)
        left += modes_of(o, kind) ? o->sizes.n : 0;
    total = left;
    for (int kind = 0; kind < WINMEM_KINDS; kind++) {
        static struct halo_row rows[SIZES_MAX];
        unsigned modes = modes_of(o, kind);

        for (int i = 0; modes && i < o->sizes.n; i++, left--) {
            double seconds = o->budget - (clock_ns() - start) / 1e9;

            rows[i] = (struct halo_row){.kind = kind, .size = o->sizes.v[i]};
            for (int m = 0; m < HALO_MODES; m++)
                rows[i].wanted[m] = modes >> m & 1;
            tell_progress(&progress, report, done++, total, kind, rows[i].size);
            halo_measure_row(h, &o->plan, seconds / left, &rows[i]);
            for (int m = 0; m < HALO_MODES; m++)
                right &= !rows[i].cell[m].wrong;
            if (h->rank == 0)
                halo_report_csv(report, &rows[i]);
        }
        if (modes && h->rank == 0)
            halo_report_table(report, rows, o->sizes.n);
    }
    end_progress(&progress);
    if (h->rank == 0)
        halo_report_end(report);
    return right;
}

int main(int argc, char **argv)
{
    struct options o;
    struct host host;
    struct place place;
    struct halo grid;
    int rank, nprocs;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    defaults(&o);
    const enum options_outcome outcome = options_of_rank(
        rank, &argp, "mpi-rma-halo", "mpi-rma-halo, libmpi-rma " PACKAGE_VERSION, argc, argv, &o);

    if (outcome != OPTIONS_TAKEN) {
        MPI_Finalize();
        return outcome == OPTIONS_REFUSED ? OPTIONS_WRONG : 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    host_init(&host);
    place_init(&place, rank, nprocs, o.pin);
    halo_grid_init(&grid, MPI_COMM_WORLD, place.oversubscribed, o.notify);

    static struct halo_report report;
    report = (struct halo_report){
        .host = &host, .place = &place, .grid = &grid, .load = load_foreign(MPI_COMM_WORLD)};

    if (rank == 0) {
        if (o.csv && !(report.csv = fopen(o.csv, "w"))) {
            fprintf(stderr, "mpi-rma-halo: cannot write %s: %s\n", o.csv, strerror(errno));
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        halo_report_heading(&report, modes_shown(&o));
        halo_report_csv_heading(&report);
    }
    const bool right = run(&o, &grid, &report);

    if (report.csv && fclose(report.csv)) {
        fprintf(stderr, "mpi-rma-halo: cannot write %s: %s\n", o.csv, strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    halo_grid_free(&grid);
    watchdog_arm(60, "halo, MPI_Finalize; all results are there");
    MPI_Finalize();
    return right ? 0 : 1;
}
