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
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net_bench.h"
#include "stats.h"
#include "watchdog.h"

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

static const struct {
    const char *name;
    void (*run)(struct net *b);
} suites[] = {{"active", net_active},
              {"unlock", net_unlock},
              {"rates", net_rates},
              {"passive", net_passive},
              {"agent", net_agent}};
enum { SUITES = sizeof suites / sizeof suites[0] };

static void usage(void)
{
    printf("Usage: net [--csv FILE] [--provider NAME] [--interface NAME] [--suites "
           "active,unlock,rates,passive,agent]\n"
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
    watchdog_arm(60, "net, MPI_Finalize; all results are there");
    MPI_Finalize();
    return bad ? 2 : 0;
}
