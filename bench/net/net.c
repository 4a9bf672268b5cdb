/* SPDX-License-Identifier: BSD-3-Clause */
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
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/stats.h"
#include "bench/common/values.h"
#include "bench/common/watchdog.h"
#include "bench/net/bench.h"
#include "tools/options.h"

void net_keep(struct net *b, const char *op, const char *kind, size_t size, double ns, double max)
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

void net_goal(struct net *b, const char *id, const char *what, double value, double limit,
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

static void (*const suites[])(struct net *b) = {net_active,  net_unlock, net_rates,
                                                net_passive, net_agent,  net_notified};
enum { SUITES = sizeof suites / sizeof suites[0] };

static const char *const suite_name[SUITES + 1] = {"active",  "unlock", "rates",
                                                   "passive", "agent",  "notified"};

/* What an option's parser works on. */
struct input {
    struct net *b;
    const char *csv;
    unsigned suites;
};

/* The options; none has a short form. */
enum key { KEY_CSV = OPTIONS_KEY + 1, KEY_PROVIDER, KEY_INTERFACE, KEY_SUITES };

static const struct argp_option option_table[] = {
    {"csv", KEY_CSV, "FILE", 0, "Write every result as a line to FILE", 0},
    {"provider", KEY_PROVIDER, "NAME", 0,
     "The bare endpoint's libfabric provider (default net or tcp;ofi_rxm)", 0},
    {"interface", KEY_INTERFACE, "NAME", 0, "Its network interface (default lo)", 0},
    {"suites", KEY_SUITES, "LIST", 0,
     "All (default) or some of active,unlock,rates,passive,agent,notified", 0},
    OPTIONS_COMMON};

static error_t read_option(int key, char *text, struct argp_state *state)
{
    struct input *in = state->input;

    switch (key) {
    case KEY_CSV:
        in->csv = text;
        return 0;
    case KEY_PROVIDER:
        in->b->provider = text;
        return 0;
    case KEY_INTERFACE:
        in->b->interface = text;
        return 0;
    case KEY_SUITES:
        return value_names(state, key, text, suite_name, &in->suites);
    case ARGP_KEY_ARG:
        argp_error(state, "%s: an option was expected", text);
        return EINVAL;
    case ARGP_KEY_END:
        if (in->b->nprocs < 2) {
            argp_error(state, "needs at least 2 ranks");
            return EINVAL;
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_table,
    .parser = read_option,
    .doc =
        "One-sided communication between nodes from rank 0 to the others, against a bare libfabric "
        "endpoint over the same provider and interface."
        "\v"
        "Exit code: 0, 1 when contents are wrong, 2 for wrong options, 3 for a hang."};

static void run(struct net *b, unsigned mask)
{
    b->buf = calloc(1, NET_WINDOW);
    if (!b->buf ||
        MPI_Win_allocate(NET_WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &b->base, &b->win))
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
    net_anchors(b);
    for (int i = 0; i < SUITES; i++)
        if (mask >> i & 1)
            suites[i](b);
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
    struct input input = {.b = &b, .suites = (1u << SUITES) - 1};
    const enum options_outcome outcome = options_of_rank(
        b.rank, &argp, "net", "net, libmpi-rma " PACKAGE_VERSION, argc, argv, &input);

    if (outcome != OPTIONS_TAKEN) {
        MPI_Finalize();
        return outcome == OPTIONS_REFUSED ? OPTIONS_WRONG : 0;
    }
    if (b.rank == 0 && input.csv && !(b.csv = fopen(input.csv, "w"))) {
        perror(input.csv);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    results_init(&b.results, &b.host, b.nprocs, b.csv);
    run(&b, input.suites);
    const bool bad = b.csv && fclose(b.csv);

    results_free(&b.results);
    watchdog_arm(60, "net, MPI_Finalize; all results are there");
    MPI_Finalize();
    return bad ? 2 : 0;
}
