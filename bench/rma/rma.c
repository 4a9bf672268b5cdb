/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma.c - measures one-sided communication within a node against what the
 * machine can do.
 *
 * Each suite has a file of its own here (suites.h lists them), the physical anchors
 * are in anchors.c. What the results are held against is in bench/goals/limits.csv, and
 * "python3 bench/report.py goals" does it. Pure MPI: whether the host's or libmpi-rma's
 * one-sided calls are measured is decided by what is linked or preloaded. While suites
 * of the pair run, ranks from 2 up sleep between looks at a non-blocking barrier, so
 * that they take no processor from it.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/common/clock.h"
#include "bench/common/watchdog.h"
#include "bench/rma/anchors.h"
#include "bench/rma/suites.h"
#include "tools/options.h"

static const char *const suite_name[] = {"anchors", "latency", "bw",      "acc",     "atomic",
                                         "passive", "skew",    "overlap", "create",  "memory",
                                         "calls",   "active",  "origins", "pending", NULL};

static const struct {
    void (*run)(struct bench *b);
    bool pair;
} suites[] = {{anchors_run, true},  {rma_latency, true}, {rma_bandwidth, true}, {rma_acc, true},
              {rma_atomic, true},   {rma_passive, true}, {rma_skew, true},      {rma_overlap, true},
              {rma_create, false},  {rma_memory, false}, {rma_calls, false},    {rma_active, false},
              {rma_origins, false}, {rma_pending, true}};

#define SUITES (int)(sizeof(suites) / sizeof(suites[0]))

struct options {
    unsigned suites;
    bool pin;
    const char *csv;
    long puts, rputs, notified, flushes, locks, accs; /* exactly so many and nothing else, or -1 */
};

/* What an option's parser works on. */
struct input {
    struct options *o;
    struct bench *b;
};

/* The options; none has a short form. */
enum key {
    KEY_SUITE = OPTIONS_KEY + 1,
    KEY_SIZES,
    KEY_ACC_SIZES,
    KEY_MEMORY,
    KEY_REPS,
    KEY_BLOCK_MS,
    KEY_COMPUTE,
    KEY_TIMEOUT,
    KEY_NO_PIN,
    KEY_CSV,
    KEY_TRY_ALL,
    KEY_QUICK,
    KEY_PUT,
    KEY_FLUSH,
    KEY_LOCK,
    KEY_RPUT,
    KEY_NOTIFIED,
    KEY_ACC,
};

static const struct argp_option option_table[] = {
    {"suite", KEY_SUITE, "LIST", 0,
     "All (default) or some of anchors, latency, bw, acc, atomic, passive, skew, overlap, create, "
     "memory, calls, active, origins, pending; what is held against limits needs anchors too",
     0},
    {"sizes", KEY_SIZES, "LIST", 0, "Bytes for put and get (default 8 and 1,4,16,64,...,64M)", 0},
    {"acc-sizes", KEY_ACC_SIZES, "LIST", 0,
     "Bytes for accumulates (default 8,64,512,4K,32K,256K,1M)", 0},
    {"memory", KEY_MEMORY, "LIST", 0,
     "Kinds of window: all (default) or some of malloc, alloc_mem, allocate, shared, dynamic", 0},
    {"reps", KEY_REPS, "N", 0, "Blocks of each measurement, the median counts (default 5)", 0},
    {"block-ms", KEY_BLOCK_MS, "MS", 0, "Length of a block (default 10)", 0},
    {"compute", KEY_COMPUTE, "S", 0, "How long a passive target computes (default 2)", 0},
    {"timeout", KEY_TIMEOUT, "S", 0,
     "Give up when one measurement takes longer than S seconds (default 120)", 0},
    {"no-pin", KEY_NO_PIN, NULL, 0,
     "Do not pin rank i to processor i (default where there are enough)", 0},
    {"csv", KEY_CSV, "FILE", 0, "Write every result as a line to FILE", 0},
    {"try-all", KEY_TRY_ALL, NULL, 0, "Also try what is known to crash the host", 0},
    {"quick", KEY_QUICK, NULL, 0, "Fewer sizes, 3 blocks of 4 ms, targets computing 0.3 s", 0},
    {"callgrind-put", KEY_PUT, "N", 0,
     "Only N MPI_Put of 8 bytes by rank 0, in the function callgrind_puts", 0},
    {"callgrind-rput", KEY_RPUT, "N", 0,
     "Only N MPI_Rput of 8 bytes by rank 0, and MPI_Waitall, in callgrind_rputs", 0},
    {"callgrind-notified", KEY_NOTIFIED, "N", 0,
     "Only N MPIRMA_Put_notify of 8 bytes by rank 0, in callgrind_notified", 0},
    {"callgrind-flush", KEY_FLUSH, "N", 0,
     "Only N empty MPI_Win_flush by rank 0, in callgrind_flushes", 0},
    {"callgrind-lock", KEY_LOCK, "N", 0,
     "Only N lock, put of 8 bytes, unlock by rank 0, in callgrind_locks", 0},
    {"callgrind-acc", KEY_ACC, "N", 0,
     "Only N MPI_Accumulate of one double by rank 0, in callgrind_acc_one, and as many of 8 "
     "doubles, in callgrind_acc_eight",
     0},
    OPTIONS_COMMON};

static void defaults(struct options *o, struct bench *b)
{
    *o = (struct options){.suites = (1u << SUITES) - 1,
                          .pin = true,
                          .puts = -1,
                          .rputs = -1,
                          .notified = -1,
                          .flushes = -1,
                          .locks = -1,
                          .accs = -1};
    b->kinds = (1u << WINMEM_KINDS) - 1;
    b->reps = 5;
    b->block_ms = 10;
    b->compute_s = 2;
    b->timeout = 120;
    sizes_range(&b->sizes, 1, 64 << 20, 4);
    memmove(&b->sizes.v[3], &b->sizes.v[2], (size_t)(b->sizes.n - 2) * sizeof(b->sizes.v[0]));
    b->sizes.v[2] = 8;
    b->sizes.n++;
    sizes_range(&b->acc_sizes, 8, 256 << 10, 8);
    b->acc_sizes.v[b->acc_sizes.n++] = 1 << 20;
}

static void quick(struct bench *b)
{
    b->sizes = (struct sizes){.v = {8, 1 << 10, 64 << 10, 1 << 20}, .n = 4};
    b->acc_sizes = (struct sizes){.v = {8, 64, 4 << 10, 1 << 20}, .n = 4};
    b->reps = 3;
    b->block_ms = 4;
    b->compute_s = 0.3;
}

/* Where the number goes that counts the calls of an option; NULL: it is not of these. */
static long *calls_of(struct options *o, int key)
{
    switch (key) {
    case KEY_PUT:
        return &o->puts;
    case KEY_FLUSH:
        return &o->flushes;
    case KEY_LOCK:
        return &o->locks;
    case KEY_RPUT:
        return &o->rputs;
    case KEY_NOTIFIED:
        return &o->notified;
    case KEY_ACC:
        return &o->accs;
    default:
        return NULL;
    }
}

static error_t read_number(int key, char *text, struct argp_state *state)
{
    const struct input *in = state->input;
    struct bench *b = in->b;
    long *calls = calls_of(in->o, key), v = 0;
    error_t error;

    if (calls)
        return value_long(state, key, text, 0, 100000000, calls);
    switch (key) {
    case KEY_BLOCK_MS:
        return value_double(state, key, text, 0.1, 10000, &b->block_ms);
    case KEY_COMPUTE:
        return value_double(state, key, text, 0.05, 100, &b->compute_s);
    case KEY_REPS:
        error = value_long(state, key, text, 1, BENCH_MAX_REPS, &v);
        if (!error)
            b->reps = (int)v;
        return error;
    case KEY_TIMEOUT:
        error = value_long(state, key, text, 1, 100000000, &v);
        if (!error)
            b->timeout = (unsigned)v;
        return error;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t read_option(int key, char *text, struct argp_state *state)
{
    const struct input *in = state->input;
    struct bench *b = in->b;

    switch (key) {
    case KEY_SUITE:
        return value_names(state, key, text, suite_name, &in->o->suites);
    case KEY_SIZES:
        return value_sizes(state, key, text, 1, 1, &b->sizes);
    case KEY_ACC_SIZES:
        return value_sizes(state, key, text, 8, 8, &b->acc_sizes);
    case KEY_MEMORY:
        return value_names(state, key, text, winmem_name, &b->kinds);
    case KEY_NO_PIN:
        in->o->pin = false;
        return 0;
    case KEY_TRY_ALL:
        b->try_all = true;
        return 0;
    case KEY_CSV:
        in->o->csv = text;
        return 0;
    case KEY_QUICK:
        quick(b);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: an option was expected", text);
        return EINVAL;
    case ARGP_KEY_END:
        if (b->nprocs < 2) {
            argp_error(state, "needs at least 2 ranks");
            return EINVAL;
        }
        return 0;
    default:
        return read_number(key, text, state);
    }
}

static const struct argp argp = {
    .options = option_table,
    .parser = read_option,
    .doc =
        "Measure MPI one-sided communication within a node (mpiexec -n P rma, P at least 2), the "
        "physical limits beside it."
        "\v"
        "Exit code: 0, 1 when contents are wrong, 2 for wrong options, 3 for a hang. Whether the "
        "results of --csv meet the goals, 'python3 bench/report.py goals FILE' tells."};

/* Sleep until every rank is here. */
static void quiet_barrier(MPI_Comm all)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(all, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        usleep(300);
    }
}

static void open_pair(struct bench *b)
{
    size_t most = SKEW_BYTES;

    for (int i = 0; i < b->sizes.n; i++)
        most = b->sizes.v[i] > most ? b->sizes.v[i] : most;
    MPI_Comm_split(b->all, b->rank < 2 ? 0 : MPI_UNDEFINED, b->rank, &b->pair);
    if (b->pair == MPI_COMM_NULL)
        return;
    MPI_Comm_set_errhandler(b->pair, MPI_ERRORS_RETURN);
    if (peer_map_open(&b->map, b->pair, most, b->map_reason, sizeof(b->map_reason)) && b->rank == 0)
        printf("no anchors and no passive target: %s\n", b->map_reason);
}

/* The pair has the processors to itself, so it can be pinned in any run. */
static void pin_pair(struct bench *b, bool pin)
{
    if (b->pair == MPI_COMM_NULL || b->place.pinned)
        return;
    if (pin)
        b->pair_pinned = b->place.cpus > 1 && place_pin_to(b->rank) == 0;
    else if (b->pair_pinned)
        b->pair_pinned = place_unpin() != 0;
}

static void run(const struct options *o, struct bench *b)
{
    double start = clock_ns();

    b->pair_pinned = b->place.pinned;
    if (o->suites & 1 && b->pair != MPI_COMM_NULL)
        anchors_open(b);
    for (int s = 0; s < SUITES; s++) {
        double began = clock_ns();

        if (!(o->suites >> s & 1))
            continue;
        watchdog_arm(0, "idle");
        pin_pair(b, o->pin && suites[s].pair);
        if (!suites[s].pair || b->pair != MPI_COMM_NULL)
            suites[s].run(b);
        watchdog_arm(0, "idle");
        quiet_barrier(b->all);
        if (b->rank == 0)
            printf("\n%s took %.1f s\n", suite_name[s], (clock_ns() - began) / 1e9);
    }
    anchors_close(b);
    if (b->rank == 0)
        printf("everything took %.1f s\n", (clock_ns() - start) / 1e9);
}

static unsigned suite_bit(const char *name)
{
    unsigned bit = 1;

    for (int s = 0; strcmp(suite_name[s], name) != 0; s++)
        bit <<= 1;
    return bit;
}

static void open_results(const struct options *o, struct bench *b)
{
    FILE *csv = NULL;

    if (b->rank == 0 && o->csv && !(csv = fopen(o->csv, "w"))) {
        fprintf(stderr, "rma: cannot write %s: %s\n", o->csv, strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    results_init(&b->results, &b->host, b->nprocs, csv);
    if (b->rank == 0)
        printf("one-sided communication in a node: %d ranks, %s, %s; %s\n", b->nprocs, b->host.name,
               b->host.rma, b->place.text);
}

int main(int argc, char **argv)
{
    static struct bench b;
    struct options o;

    MPI_Init(&argc, &argv);
    b.all = MPI_COMM_WORLD;
    MPI_Comm_rank(b.all, &b.rank);
    MPI_Comm_size(b.all, &b.nprocs);
    defaults(&o, &b);
    struct input input = {&o, &b};
    const enum options_outcome outcome = options_of_rank(
        b.rank, &argp, "rma", "rma, libmpi-rma " PACKAGE_VERSION, argc, argv, &input);

    if (outcome != OPTIONS_TAKEN) {
        MPI_Finalize();
        return outcome == OPTIONS_REFUSED ? OPTIONS_WRONG : 0;
    }
    MPI_Comm_set_errhandler(b.all, MPI_ERRORS_RETURN);
    host_init(&b.host);
    place_init(&b.place, b.rank, b.nprocs, o.pin);
    if (o.puts >= 0)
        rma_callgrind_put(b.all, o.puts);
    if (o.rputs >= 0)
        rma_callgrind_rput(b.all, o.rputs);
    if (o.notified >= 0)
        rma_callgrind_notified(b.all, o.notified);
    if (o.flushes >= 0)
        rma_callgrind_flush(b.all, o.flushes);
    if (o.locks >= 0)
        rma_callgrind_lock(b.all, o.locks);
    if (o.accs >= 0)
        rma_callgrind_acc(b.all, o.accs);
    if (o.puts < 0 && o.rputs < 0 && o.notified < 0 && o.flushes < 0 && o.locks < 0 && o.accs < 0) {
        open_results(&o, &b);
        if (o.suites & suite_bit("memory"))
            rma_memory_first(&b);
        open_pair(&b);
        run(&o, &b);
        if (b.results.csv && fclose(b.results.csv))
            bench_wrong("cannot write %s: %s", o.csv, strerror(errno));
        results_free(&b.results);
        if (b.pair != MPI_COMM_NULL) {
            peer_map_close(&b.map);
            MPI_Comm_free(&b.pair);
        }
    }
    watchdog_arm(60, "rma, MPI_Finalize; all results are there");
    MPI_Finalize();
    return 0;
}
