/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * passive.c - epochs with targets that do something else, and what the agent costs them; see
 * bench.h.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/common/clock.h"
#include "bench/common/stats.h"
#include "bench/common/watchdog.h"
#include "bench/net/bench.h"

enum { SAMPLES = 4000 };

/* Samples of one epoch each while the target does something else. */
static size_t sample(struct net *b, epoch_fn fn, bool lock_all, double *v)
{
    const double end = clock_ns() + 0.6e6 * NET_PASSIVE_MS;
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

void net_passive(struct net *b)
{
    static const struct {
        const char *name;
        epoch_fn fn;
        bool lock_all;
    } ops[] = {{"lock_put_unlock", lock_puts, false},
               {"put_flush", flush_puts, true},
               {"fetch_and_op_flush", flush_fetch, true}};
    double *v = malloc(SAMPLES * sizeof *v);
    char what[80];
    for (int how = ATTEND_COMPUTE; how < ATTENDS; how++)
        for (int i = 0; i < 3; i++) {
            watchdog_arm(60, "net, %s, target %s", ops[i].name, attend_name[how]);
            MPI_Barrier(MPI_COMM_WORLD);
            size_t n = 0;
            if (b->rank == 0) {
                n = sample(b, ops[i].fn, ops[i].lock_all, v);
                net_release(b, how);
            } else {
                net_attend(b, how);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            if (b->rank != 0)
                continue;
            const double median = stats_median(v, n);
            net_keep(b, ops[i].name, attend_name[how], 8, median, stats_quantile(v, n, 0.99));
            snprintf(what, sizeof what, "%s, target %s, over 2 T", ops[i].name, attend_name[how]);
            net_goal(b, "15", what, median / (2 * b->T), (1.3 * 2 * b->T + b->W) / (2 * b->T),
                     false);
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
void net_agent(struct net *b)
{
    double alone = 0, busy = 0, idle = 0;
    watchdog_arm(60, "net, cost of the agent");
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(200000);
    idle = cpu_seconds();
    usleep(2000000);
    idle = (cpu_seconds() - idle) / 2;
    if (b->rank == 1)
        alone = net_compute(500);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank == 1)
        busy = net_compute(1000);
    else if (b->rank == 0)
        for (double end = clock_ns() + 0.8e9; clock_ns() < end; usleep(1000))
            lock_puts(b, &(struct epoch_arg){.n = 1, .size = 8});
    double mine[2] = {idle, alone > 0 ? 1 - busy / alone : 0}, all[2];
    MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    watchdog_arm(0, "idle");
    net_goal(b, "15", "processor used by an idle process with its agent", all[0], 0.001, false);
    net_goal(b, "15", "a computing target's loss at about 1000 epochs a second", all[1], 0.05,
             false);
}
