/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma.c - measures one-sided communication within a node against what the
 * machine can do.
 *
 * Suites are in the rma_*.c files, the physical anchors in anchors.c, the goals
 * in rma_goals.c. Pure MPI: whether the host's or libmpi-rma's one-sided calls
 * are measured is decided by what is linked or preloaded. While suites of the
 * pair run, ranks from 2 up sleep between looks at a non-blocking barrier, so
 * that they take no processor from it.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "anchors.h"
#include "clock.h"
#include "rma_suites.h"
#include "watchdog.h"

static const char *const suite_name[] = {"anchors", "latency", "bw",      "acc",    "atomic",
                                         "passive", "skew",    "overlap", "create", "memory",
                                         "calls",   "active",  "origins", NULL};

static const struct {
    void (*run)(struct bench *b);
    bool pair;
} suites[] = {{anchors_run, true}, {rma_latency, true}, {rma_bandwidth, true}, {rma_acc, true},
              {rma_atomic, true},  {rma_passive, true}, {rma_skew, true},      {rma_overlap, true},
              {rma_create, false}, {rma_memory, false}, {rma_calls, false},    {rma_active, false},
              {rma_origins, false}};

#define SUITES (int)(sizeof(suites) / sizeof(suites[0]))

struct options {
    unsigned suites;
    bool pin;
    const char *csv;
    long puts, flushes, locks, accs; /* exactly so many and nothing else, or -1 */
};

static void usage(void)
{
    printf(
        "Usage: mpiexec -n P rma [OPTIONS]      (P at least 2)\n"
        "Measure MPI one-sided communication within a node, the physical limits beside it, and "
        "hold the\n"
        "one against the other.\n\n"
        "  --suite=LIST       all (default) or some of anchors, latency, bw, acc, atomic, "
        "passive, skew,\n"
        "                     overlap, create, memory, calls, active, origins; the verdicts need "
        "anchors\n"
        "                     too\n"
        "  --sizes=LIST       bytes for put and get (default 8 and 1,4,16,64,...,64M)\n"
        "  --acc-sizes=LIST   bytes for accumulates (default 8,64,512,4K,32K,256K,1M)\n"
        "  --memory=LIST      kinds of window: all or some of malloc, alloc_mem, allocate,\n"
        "                     shared, dynamic (default: these), malloc_shared\n"
        "  --reps=N           blocks of each measurement, the median counts (default 5)\n"
        "  --block-ms=MS      length of a block (default 10)\n"
        "  --compute=S        how long a passive target computes (default 2)\n"
        "  --timeout=S        give up when one measurement takes longer than S seconds (default "
        "120)\n"
        "  --no-pin           do not pin rank i to processor i (default where there are enough)\n"
        "  --csv=FILE         write every result as a line to FILE\n"
        "  --try-all          also try what is known to crash the host\n"
        "  --quick            fewer sizes, 3 blocks of 4 ms, targets computing 0.3 s\n"
        "  --callgrind-put=N  only N MPI_Put of 8 bytes by rank 0, in the function callgrind_puts\n"
        "  --callgrind-flush=N  only N empty MPI_Win_flush by rank 0, in callgrind_flushes\n"
        "  --callgrind-lock=N only N lock, put of 8 bytes, unlock by rank 0, in callgrind_locks\n"
        "  --callgrind-acc=N  only N MPI_Accumulate of one double by rank 0, in callgrind_acc_one, "
        "and as many\n"
        "                     of 8 doubles, in callgrind_acc_eight\n"
        "  --help             this text\n"
        "Exit code: 0 (also for goals not met), 1 when contents are wrong, 2 for wrong options, 3 "
        "for a\n"
        "hang.\n");
}

static const struct option long_options[] = {
    {"suite", required_argument, NULL, 's'},
    {"sizes", required_argument, NULL, 'z'},
    {"acc-sizes", required_argument, NULL, 'a'},
    {"memory", required_argument, NULL, 'w'},
    {"reps", required_argument, NULL, 'r'},
    {"block-ms", required_argument, NULL, 'b'},
    {"compute", required_argument, NULL, 'u'},
    {"timeout", required_argument, NULL, 't'},
    {"no-pin", no_argument, NULL, 'n'},
    {"csv", required_argument, NULL, 'c'},
    {"try-all", no_argument, NULL, 'x'},
    {"quick", no_argument, NULL, 'q'},
    {"callgrind-put", required_argument, NULL, 'P'},
    {"callgrind-flush", required_argument, NULL, 'F'},
    {"callgrind-lock", required_argument, NULL, 'L'},
    {"callgrind-acc", required_argument, NULL, 'A'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void defaults(struct options *o, struct bench *b)
{
    *o = (struct options){.suites = (1u << SUITES) - 1,
                          .pin = true,
                          .puts = -1,
                          .flushes = -1,
                          .locks = -1,
                          .accs = -1};
    b->kinds = ((1u << WINMEM_KINDS) - 1) & ~(1u << WINMEM_MALLOC_SHARED);
    b->reps = 5;
    b->block_ms = 10;
    b->compute_s = 2;
    b->timeout = 120;
    arg_size_range(&b->sizes, 1, 64 << 20, 4);
    memmove(&b->sizes.v[3], &b->sizes.v[2], (size_t)(b->sizes.n - 2) * sizeof(b->sizes.v[0]));
    b->sizes.v[2] = 8;
    b->sizes.n++;
    arg_size_range(&b->acc_sizes, 8, 256 << 10, 8);
    b->acc_sizes.v[b->acc_sizes.n++] = 1 << 20;
}

static void quick(struct bench *b)
{
    b->sizes = (struct arg_sizes){.v = {8, 1 << 10, 64 << 10, 1 << 20}, .n = 4};
    b->acc_sizes = (struct arg_sizes){.v = {8, 64, 4 << 10, 1 << 20}, .n = 4};
    b->reps = 3;
    b->block_ms = 4;
    b->compute_s = 0.3;
}

static int check_sizes(const struct arg_sizes *s, size_t unit, char *msg, size_t len)
{
    for (int i = 0; i < s->n; i++)
        if (s->v[i] == 0 || s->v[i] % unit || s->v[i] > 1u << 30) {
            snprintf(msg, len, "%zu is not a multiple of %zu up to 1 Gi", s->v[i], unit);
            return -1;
        }
    return 0;
}

static int numeric_option(struct options *o, struct bench *b, int c, const char *arg, char *msg,
                          size_t len)
{
    long v = 0;

    if (c == 'b')
        return arg_double(arg, 0.1, 10000, &b->block_ms, msg, len);
    if (c == 'u')
        return arg_double(arg, 0.05, 100, &b->compute_s, msg, len);
    if (arg_long(arg, strchr("PFLA", c) ? 0 : 1, c == 'r' ? BENCH_MAX_REPS : 100000000, &v, msg,
                 len))
        return -1;
    if (c == 'r')
        b->reps = (int)v;
    else if (c == 't')
        b->timeout = (unsigned)v;
    else if (c == 'P')
        o->puts = v;
    else if (c == 'L')
        o->locks = v;
    else if (c == 'A')
        o->accs = v;
    else
        o->flushes = v;
    return 0;
}

static int one_option(struct options *o, struct bench *b, int c, const char *arg, char *msg,
                      size_t len)
{
    switch (c) {
    case 's':
        return arg_names(arg, suite_name, &o->suites, msg, len);
    case 'z':
        return arg_sizes(arg, &b->sizes, msg, len) || check_sizes(&b->sizes, 1, msg, len) ? -1 : 0;
    case 'a':
        return arg_sizes(arg, &b->acc_sizes, msg, len) || check_sizes(&b->acc_sizes, 8, msg, len)
                   ? -1
                   : 0;
    case 'w':
        return arg_names(arg, winmem_name, &b->kinds, msg, len);
    case 'n':
        o->pin = false;
        return 0;
    case 'x':
        b->try_all = true;
        return 0;
    case 'c':
        o->csv = arg;
        return 0;
    case 'q':
        quick(b);
        return 0;
    case 'r':
    case 'b':
    case 'u':
    case 't':
    case 'P':
    case 'F':
    case 'L':
    case 'A':
        return numeric_option(o, b, c, arg, msg, len);
    }
    snprintf(msg, len, "unknown or incomplete option, see --help");
    return -1;
}

/* 0: run; 1: help was asked for; 2: wrong options (told by rank 0). */
static int parse(int argc, char **argv, struct options *o, struct bench *b)
{
    char msg[512];
    int c, index = 0;

    defaults(o, b);
    opterr = 0;
    while ((c = getopt_long(argc, argv, "", long_options, &index)) != -1) {
        if (c == 'h') {
            if (b->rank == 0)
                usage();
            return 1;
        }
        if (one_option(o, b, c, optarg, msg, sizeof(msg))) {
            if (b->rank == 0)
                fprintf(stderr, "rma: %s: %s\n",
                        c == '?' ? argv[optind - 1] : long_options[index].name, msg);
            return 2;
        }
    }
    if (optind < argc || b->nprocs < 2) {
        if (b->rank == 0 && optind < argc)
            fprintf(stderr, "rma: unexpected argument '%s', see --help\n", argv[optind]);
        else if (b->rank == 0)
            fprintf(stderr, "rma: needs at least 2 ranks, see --help\n");
        return 2;
    }
    return 0;
}

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
    if (b->rank == 0) {
        rma_goals(b);
        printf("everything took %.1f s\n", (clock_ns() - start) / 1e9);
    }
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
    int rc = parse(argc, argv, &o, &b);

    if (rc) {
        MPI_Finalize();
        return rc == 2 ? 2 : 0;
    }
    MPI_Comm_set_errhandler(b.all, MPI_ERRORS_RETURN);
    host_init(&b.host);
    place_init(&b.place, b.rank, b.nprocs, o.pin);
    if (o.puts >= 0)
        rma_callgrind_put(b.all, o.puts);
    if (o.flushes >= 0)
        rma_callgrind_flush(b.all, o.flushes);
    if (o.locks >= 0)
        rma_callgrind_lock(b.all, o.locks);
    if (o.accs >= 0)
        rma_callgrind_acc(b.all, o.accs);
    if (o.puts < 0 && o.flushes < 0 && o.locks < 0 && o.accs < 0) {
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
