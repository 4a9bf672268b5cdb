/*
 * net.c - one-sided communication between nodes, against a bare libfabric endpoint.
 *
 * Rank 0 is the origin, the others are targets. A target polls (it waits in
 * MPI_Win_wait of another window), or computes, sleeps, or sits in a barrier or
 * a receive of the host. The program is pure MPI but for the anchor: run it once with
 * libmpi-rma and once without, over the same network.
 *
 *   T   half a round trip of the bare endpoint, 8 bytes
 *   W   how much longer when the other side sleeps on its descriptor
 *
 * Goals in round trips are printed against 2 T, and beside that against the bare endpoint doing the
 * same: as many bytes out and back, or messages to as many peers that sleep on their descriptors.
 */
#define _GNU_SOURCE 1
#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "host.h"
#include "raw_ep.h"
#include "results.h"
#include "stats.h"
#include "watchdog.h"

enum { WIN_BYTES = 16 << 20, SAMPLES = 4000, TAG_STOP = 77, REPS = 5, PASSIVE_MS = 1500 };

/* Bytes of the library's messages: headers, a put of 8 bytes, a packet that is full. */
enum { HEADS = 56, PUT_BYTES = 16, FULL = 32768 };
enum { COUNTS = 3 };
static const int puts_of[COUNTS] = {1, 16, 100};

enum attend { ATTEND_WAIT, ATTEND_COMPUTE, ATTEND_SLEEP, ATTEND_BARRIER, ATTEND_RECV, ATTENDS };
static const char *const attend_name[ATTENDS] = {"polling", "computing", "sleeping", "in_barrier",
                                                 "in_recv"};

struct net {
    int rank, nprocs;
    struct host host;
    struct results results;
    MPI_Win win, done;      /* done: only tells targets to go on */
    MPI_Group zero, others; /* rank 0, and all but it */
    char *base, *buf;
    MPI_Comm pair; /* ranks 0 and 1 */
    struct raw_ep *raw;
    double T, W, raw_full, raw_1m;
    double same[COUNTS]; /* a round trip with as many bytes as puts[] in an epoch */
    int met, missed;
    const char *provider, *interface;
    FILE *csv;
};

/* ---- keeping ---- */

static void keep(struct net *b, const char *op, const char *kind, size_t size, double ns,
                 double max)
{
    char text[32], most[32];
    struct result r = {.suite = "net",
                       .op = op,
                       .kind = kind,
                       .sync = "",
                       .size = size,
                       .ns = ns,
                       .min = ns,
                       .max = max};
    if (b->rank != 0)
        return;
    results_add(&b->results, &r);
    printf("%-22s %-12s %9zu  %10s", op, kind, size, stats_time(ns, text, sizeof text));
    if (max > 0)
        printf("  99 %%: %s", stats_time(max, most, sizeof most));
    printf("\n");
    fflush(stdout);
}

static void goal(struct net *b, const char *id, const char *what, double value, double limit,
                 bool at_least)
{
    if (b->rank != 0)
        return;
    const bool known = !isnan(value) && !isnan(limit),
               met = at_least ? value >= limit : value <= limit;
    b->met += known && met;
    b->missed += known && !met;
    printf("goal %-4s %-64s %8.3f %s %6.3f  %s\n", id, what, value, at_least ? ">=" : "<=", limit,
           !known ? "not measured"
           : met  ? "met"
                  : "NOT met");
}

/* ---- what a target does meanwhile ---- */

/* Inside a one-sided call until rank 0 completes its epoch on the other window. */
static void wait_until_told(struct net *b)
{
    MPI_Win_post(b->zero, 0, b->done);
    MPI_Win_wait(b->done);
}

static void tell(struct net *b)
{
    MPI_Win_start(b->others, 0, b->done);
    MPI_Win_complete(b->done);
}

/* Slices of arithmetic per second over so long. */
static double compute(double ms)
{
    const double start = clock_ns();
    double now, x = 1;
    long n = 0;
    do {
        for (int i = 0; i < 4000; i++) {
            x = x * 1.0000001 + 1e-9;
            __asm__ volatile("" : "+x"(x));
        }
        n++;
        now = clock_ns();
    } while (now - start < ms * 1e6);
    return (double)n / (now - start);
}

static void attend(struct net *b, enum attend how)
{
    switch (how) {
    case ATTEND_WAIT:
        wait_until_told(b);
        break;
    case ATTEND_COMPUTE:
        (void)compute(PASSIVE_MS);
        break;
    case ATTEND_SLEEP:
        usleep(PASSIVE_MS * 1000);
        break;
    case ATTEND_BARRIER:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    default:
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_STOP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* The origin is done: end what attend began. */
static void release(struct net *b, enum attend how)
{
    if (how == ATTEND_BARRIER)
        MPI_Barrier(MPI_COMM_WORLD);
    if (how == ATTEND_WAIT)
        tell(b);
    if (how == ATTEND_RECV)
        for (int i = 1; i < b->nprocs; i++)
            MPI_Send(NULL, 0, MPI_BYTE, i, TAG_STOP, MPI_COMM_WORLD);
}

/* ---- epochs of the origin ---- */

struct epoch_arg {
    int n; /* operations an epoch */
    int d; /* targets */
    size_t size;
};

static void lock_puts(struct net *b, const struct epoch_arg *a)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, b->win);
    for (int i = 0; i < a->n; i++)
        MPI_Put(b->buf, (int)a->size, MPI_BYTE, 1, 64 * (MPI_Aint)i, (int)a->size, MPI_BYTE,
                b->win);
    MPI_Win_unlock(1, b->win);
}

static void flush_puts(struct net *b, const struct epoch_arg *a)
{
    for (int i = 0; i < a->n; i++)
        for (int t = 1; t <= a->d; t++)
            MPI_Put(b->buf, (int)a->size, MPI_BYTE, t, 0, (int)a->size, MPI_BYTE, b->win);
    MPI_Win_flush_all(b->win);
}

static void flush_gets(struct net *b, const struct epoch_arg *a)
{
    for (int i = 0; i < a->n; i++)
        MPI_Get(b->buf, (int)a->size, MPI_BYTE, 1, 0, (int)a->size, MPI_BYTE, b->win);
    MPI_Win_flush(1, b->win);
}

static void fetch(struct net *b, const struct epoch_arg *a)
{
    int64_t one = 1, old;
    (void)a;
    MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 1, 0, MPI_SUM, b->win);
    MPI_Win_flush(1, b->win);
}

typedef void (*epoch_fn)(struct net *b, const struct epoch_arg *a);

/* Median time of an epoch with targets that poll; all ranks call it. */
static double polling(struct net *b, epoch_fn fn, const struct epoch_arg *a, int epochs,
                      bool lock_all)
{
    double *v = calloc((size_t)(REPS * epochs), sizeof *v);
    if (!v)
        MPI_Abort(MPI_COMM_WORLD, 1);
    watchdog_arm(120, "net, polling targets");
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank != 0) {
        attend(b, ATTEND_WAIT);
        free(v);
        return NAN;
    }
    if (lock_all)
        MPI_Win_lock_all(0, b->win);
    fn(b, a);
    for (int i = 0; i < REPS * epochs; i++) {
        const double start = clock_ns();
        fn(b, a);
        v[i] = clock_ns() - start;
    }
    if (lock_all)
        MPI_Win_unlock_all(b->win);
    release(b, ATTEND_WAIT);
    watchdog_arm(0, "idle");
    const double median = stats_median(v, (size_t)(REPS * epochs));
    free(v);
    return median;
}

/* ---- suites ---- */

/* All meet without keeping a processor busy, which others need meanwhile. */
static void meet_asleep(void)
{
    MPI_Request all;
    int met = 0;
    for (MPI_Ibarrier(MPI_COMM_WORLD, &all);
         MPI_Test(&all, &met, MPI_STATUS_IGNORE) == MPI_SUCCESS && !met;)
        usleep(500);
}

/* A message to each of d peers and back, all asleep, on bare endpoints; NAN: not possible. */
static double fan(struct net *b, int d)
{
    char reason[200];
    MPI_Comm some;
    double ns = NAN;
    if (d >= RAW_EP_MAX)
        return NAN;
    watchdog_arm(60, "net, bare endpoints, %d peers", d);
    MPI_Comm_split(MPI_COMM_WORLD, b->rank <= d ? 0 : MPI_UNDEFINED, b->rank, &some);
    if (some != MPI_COMM_NULL) {
        struct raw_ep *e = raw_ep_open(some, b->provider, b->interface, reason, sizeof reason);
        if (e) {
            ns = raw_ep_fan(e, 8, 2500);
            raw_ep_close(e);
        }
        MPI_Comm_free(&some);
    }
    meet_asleep();
    watchdog_arm(0, "idle");
    return ns;
}

static void anchors(struct net *b)
{
    char reason[200] = "";
    double t[4] = {NAN, NAN, NAN, NAN};
    for (int i = 0; i < COUNTS; i++)
        b->same[i] = NAN;
    if (b->pair != MPI_COMM_NULL && b->nprocs > 1)
        b->raw = raw_ep_open(b->pair, b->provider, b->interface, reason, sizeof reason);
    if (b->raw) {
        watchdog_arm(60, "net, bare endpoint");
        t[0] = raw_ep_round_trip(b->raw, 8, 8, 4000, 0) / 2;
        t[1] = raw_ep_round_trip(b->raw, 8, 8, 2000, 1) / 2;
        t[2] = raw_ep_stream(b->raw, FULL, 10000);
        t[3] = raw_ep_stream(b->raw, 1 << 20, 600);
        for (int i = 0; i < COUNTS; i++)
            b->same[i] =
                raw_ep_round_trip(b->raw, HEADS + PUT_BYTES * (size_t)puts_of[i], HEADS, 2500, 0);
        watchdog_arm(0, "idle");
    } else if (b->rank == 0) {
        printf("no anchors: %s\n", reason);
    }
    b->T = t[0];
    b->W = 2 * (t[1] - t[0]);
    b->raw_full = t[2];
    b->raw_1m = t[3];
    meet_asleep();
    if (!b->raw || b->rank != 0)
        return;
    printf("bare endpoint: %s on %s\n", raw_ep_provider(b->raw),
           b->interface ? b->interface : "any interface");
    keep(b, "T", "raw", 8, b->T, 0);
    keep(b, "W", "raw", 8, b->W, 0);
    keep(b, "stream", "raw", FULL, b->raw_full, 0);
    keep(b, "stream", "raw", 1 << 20, b->raw_1m, 0);
}

static void active(struct net *b)
{
    static const char *const name[COUNTS] = {"lock_put_unlock", "lock_16_put_unlock",
                                             "lock_100_put_unlock"};
    double ns;
    char what[80];
    for (int i = 0; i < COUNTS; i++) {
        ns = polling(b, lock_puts, &(struct epoch_arg){.n = puts_of[i], .size = 8}, 500, false);
        keep(b, name[i], "polling", 8, ns, 0);
        snprintf(what, sizeof what, "lock / %d puts of 8 B / unlock, round trips", puts_of[i]);
        goal(b, "14", what, ns / (2 * b->T), 1.2, false);
        goal(b, "14", "  over a round trip of as many bytes", ns / b->same[i], 1.2, false);
    }
    for (int d = 1; d < b->nprocs; d++) {
        ns = polling(b, flush_puts, &(struct epoch_arg){.n = 1, .d = d, .size = 8}, 500, true);
        keep(b,
             d == 1   ? "put_flush_1"
             : d == 2 ? "put_flush_2"
                      : "put_flush_more",
             "polling", 8, ns, 0);
        snprintf(what, sizeof what, "put 8 B to %d targets, flush all, round trips", d);
        goal(b, "14", what, ns / (2 * b->T), 1.3, false);
        const double raw = fan(b, d);
        keep(b, "fan", "raw", 8, raw, 0);
        snprintf(what, sizeof what, "  over bare endpoints, %d peers asleep", d);
        goal(b, "14", what, ns / raw, 1.3, false);
    }
}

static void rates(struct net *b)
{
    double ns =
        polling(b, flush_puts, &(struct epoch_arg){.n = 50000, .d = 1, .size = 8}, 1, true) / 50000;
    keep(b, "put_rate", "polling", 8, ns, 0);
    goal(b, "17", "put rate 8 B over that of full packets on the bare endpoint",
         b->raw_full * PUT_BYTES / FULL / ns, 0.6, true);
    for (size_t s = 64 << 10; s <= 4 << 20; s *= 4) {
        ns = polling(b, flush_puts, &(struct epoch_arg){.n = 16, .d = 1, .size = s}, 12, true) / 16;
        keep(b, "put_stream", "polling", s, ns, 0);
        if (s == 1 << 20)
            goal(b, "17", "bandwidth, put 1 MiB, over the bare endpoint's", b->raw_1m / ns, 0.9,
                 true);
        ns = polling(b, flush_gets, &(struct epoch_arg){.n = 16, .size = s}, 12, true) / 16;
        keep(b, "get_stream", "polling", s, ns, 0);
        if (s == 1 << 20)
            goal(b, "17", "bandwidth, get 1 MiB, over the bare endpoint's", b->raw_1m / ns, 0.9,
                 true);
    }
}

/* Samples of one epoch each while the target does something else. */
static size_t sample(struct net *b, epoch_fn fn, bool lock_all, double *v)
{
    const double end = clock_ns() + 0.6e6 * PASSIVE_MS;
    size_t n = 0;
    usleep(50000); /* the target is under way */
    if (lock_all)
        MPI_Win_lock_all(0, b->win);
    while (n < SAMPLES && clock_ns() < end) {
        const double start = clock_ns();
        fn(b, &(struct epoch_arg){.n = 1, .d = 1, .size = 8});
        v[n++] = clock_ns() - start;
    }
    if (lock_all)
        MPI_Win_unlock_all(b->win);
    return n;
}

static void passive(struct net *b)
{
    static const struct {
        const char *name;
        epoch_fn fn;
        bool lock_all;
    } ops[] = {{"lock_put_unlock", lock_puts, false},
               {"put_flush", flush_puts, true},
               {"fetch_and_op_flush", fetch, true}};
    double *v = malloc(SAMPLES * sizeof *v);
    char what[80];
    for (int how = ATTEND_COMPUTE; how < ATTENDS; how++)
        for (int i = 0; i < 3; i++) {
            watchdog_arm(60, "net, %s, target %s", ops[i].name, attend_name[how]);
            MPI_Barrier(MPI_COMM_WORLD);
            size_t n = 0;
            if (b->rank == 0) {
                n = sample(b, ops[i].fn, ops[i].lock_all, v);
                release(b, how);
            } else {
                attend(b, how);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            if (b->rank != 0)
                continue;
            const double median = stats_median(v, n);
            keep(b, ops[i].name, attend_name[how], 8, median, stats_quantile(v, n, 0.99));
            snprintf(what, sizeof what, "%s, target %s, over 2 T", ops[i].name, attend_name[how]);
            goal(b, "15", what, median / (2 * b->T), (1.3 * 2 * b->T + b->W) / (2 * b->T), false);
        }
    watchdog_arm(0, "idle");
    free(v);
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* What an idle process uses, and what a computing one loses while rank 0 works. */
static void agent_cost(struct net *b)
{
    double alone = 0, busy = 0, idle = 0;
    watchdog_arm(60, "net, cost of the agent");
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(200000);
    idle = cpu_seconds();
    usleep(2000000);
    idle = (cpu_seconds() - idle) / 2;
    if (b->rank == 1)
        alone = compute(500);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank == 1)
        busy = compute(1000);
    else if (b->rank == 0)
        for (double end = clock_ns() + 0.8e9; clock_ns() < end; usleep(1000))
            lock_puts(b, &(struct epoch_arg){.n = 1, .size = 8});
    double mine[2] = {idle, alone > 0 ? 1 - busy / alone : 0}, all[2];
    MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    watchdog_arm(0, "idle");
    goal(b, "15", "processor used by an idle process with its agent", all[0], 0.001, false);
    goal(b, "15", "a computing target's loss at about 1000 epochs a second", all[1], 0.05, false);
}

/* Everything that was put must be there. */
static void verify(struct net *b)
{
    int64_t word = 0x5ca1ab1e;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, b->win);
    for (int t = 0; b->rank == 0 && t < b->nprocs; t++)
        MPI_Put(&word, 1, MPI_INT64_T, t, 128, 1, MPI_INT64_T, b->win);
    MPI_Win_unlock_all(b->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, b->rank, 0, b->win);
    memcpy(&word, b->base + 128, sizeof word);
    MPI_Win_unlock(b->rank, b->win);
    if (word != 0x5ca1ab1e) {
        fprintf(stderr, "net: rank %d: the word is %#llx, expected 0x5ca1ab1e\n", b->rank,
                (long long)word);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static const struct {
    const char *name;
    void (*run)(struct net *b);
} suites[] = {{"active", active}, {"rates", rates}, {"passive", passive}, {"agent", agent_cost}};
enum { SUITES = sizeof suites / sizeof suites[0] };

static void usage(void)
{
    printf("Usage: net [--csv FILE] [--provider NAME] [--interface NAME] [--suites "
           "active,rates,passive,agent]\n"
           "One-sided communication between nodes from rank 0 to the others, against a bare "
           "libfabric\n"
           "endpoint over the same provider and interface (default net or tcp;ofi_rxm, on lo).\n");
}

/* The suites to run as bits, or -1. */
static int parse(int argc, char **argv, struct net *b)
{
    static const struct option options[] = {{"csv", required_argument, NULL, 'c'},
                                            {"provider", required_argument, NULL, 'p'},
                                            {"interface", required_argument, NULL, 'i'},
                                            {"suites", required_argument, NULL, 's'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int c, mask = (1 << SUITES) - 1;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'c' && b->rank == 0 && !(b->csv = fopen(optarg, "w"))) {
            perror(optarg);
            return -1;
        } else if (c == 'p') {
            b->provider = optarg;
        } else if (c == 'i') {
            b->interface = optarg;
        } else if (c == 's') {
            mask = 0;
            for (char *word = strtok(optarg, ","); word; word = strtok(NULL, ","))
                for (int i = 0; i < SUITES; i++)
                    mask |= strcmp(word, suites[i].name) == 0 ? 1 << i : 0;
        } else if (c != 'c') {
            return c == 'h' ? 0 : -1;
        }
    }
    return mask;
}

static void run(struct net *b, int mask)
{
    b->buf = calloc(1, WIN_BYTES);
    if (!b->buf || MPI_Win_allocate(WIN_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &b->base, &b->win))
        MPI_Abort(MPI_COMM_WORLD, 2);
    int first = 0;
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &first, &b->zero);
    MPI_Group_excl(all, 1, &first, &b->others);
    MPI_Group_free(&all);
    if (MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &b->done))
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (b->rank == 0)
        printf("one-sided communication between nodes: %d ranks, %s, %s\n", b->nprocs, b->host.name,
               b->host.rma);
    MPI_Comm_split(MPI_COMM_WORLD, b->rank < 2 ? 0 : MPI_UNDEFINED, b->rank, &b->pair);
    anchors(b);
    for (int i = 0; i < SUITES; i++)
        if (mask >> i & 1)
            suites[i].run(b);
    verify(b);
    if (b->rank == 0)
        printf("%d goals met, %d not met\n", b->met, b->missed);
    if (b->raw)
        raw_ep_close(b->raw);
    if (b->pair != MPI_COMM_NULL)
        MPI_Comm_free(&b->pair);
    MPI_Group_free(&b->zero);
    MPI_Group_free(&b->others);
    MPI_Win_free(&b->done);
    MPI_Win_free(&b->win);
    free(b->buf);
}

int main(int argc, char **argv)
{
    static struct net b = {.interface = "lo"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.nprocs);
    host_init(&b.host);
    const int mask = parse(argc, argv, &b);
    results_init(&b.results, &b.host, b.nprocs, b.csv);
    if (mask <= 0 && b.rank == 0)
        usage();
    else if (mask > 0 && b.nprocs < 2 && b.rank == 0)
        fprintf(stderr, "net: needs at least 2 ranks\n");
    else if (mask > 0 && b.nprocs > 1)
        run(&b, mask);
    const int bad = mask < 0 || b.nprocs < 2 || (b.csv && fclose(b.csv));
    results_free(&b.results);
    MPI_Finalize();
    return bad ? 2 : 0;
}
