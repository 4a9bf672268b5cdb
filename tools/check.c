/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.c - prints what check_measure.c has measured and check_advice.c has to say about it.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/watchdog.h"
#include "check.h"

/* Seconds for what takes about one. */
enum { PATIENCE = 60 };

/* 0.048 us, 12.3 us, 102.1 ms: three digits or so. */
static const char *show_time(char *buf, size_t len, double seconds)
{
    const double us = seconds * 1e6;
    if (us >= 1e4)
        snprintf(buf, len, "%.1f ms", us / 1e3);
    else
        snprintf(buf, len, "%.*f us", us < 1 ? 3 : us < 10 ? 2 : us < 100 ? 1 : 0, us);
    return buf;
}

static void print_row(const char *memory, int target, const char *path, double small, double large,
                      double busy)
{
    char name[64], times[2][32];

    snprintf(name, sizeof name, "%s, rank %d", memory, target);
    printf("%-29s %-11s %10s  %6.2f GB/s  %10s\n", name, path,
           show_time(times[0], sizeof times[0], small), large / 1e9,
           busy < 0 ? "" : show_time(times[1], sizeof times[1], busy));
}

static void print_rows(const struct check *check)
{
    if (check->nrows == 0)
        return;
    printf("\nPut and flush by rank 0; the last column is for a target that computes.\n");
    printf("%-29s %-11s %10s  %11s  %10s\n", "memory of the target", "path", "8 bytes", "1 MiB",
           "8 bytes");
    for (size_t i = 0; i < check->nrows; i++) {
        const struct check_row *row = &check->row[i];
        if (row->path[0] == '\0')
            printf("%-29s refused\n", row->memory);
        else
            print_row(row->memory, row->target, row->path, row->small, row->large, row->busy);
    }
    print_row("send and receive", check->message_target, "host", check->message,
              check->message_rate, -1);
}

static void print_network(const struct check *check, const struct report *report)
{
    for (size_t i = 0; i < report->nitems; i++)
        if (strcmp(report->items[i].key, "net-packets") == 0)
            printf("network   %s (opened%s)\n", report->items[i].note,
                   report->items[i].number == 0 ? " in vain"
                   : check->size > check->node  ? ""
                                                : ", not measured: all processes are on one node");
}

static void print_xpmem(const struct report *report)
{
    for (size_t i = 0; i < report->nitems; i++)
        if (strcmp(report->items[i].key, "xpmem") == 0)
            printf("XPMEM     %s%s\n",
                   report->items[i].number ? "" : "not used: ", report->items[i].note);
}

static void print_check(const struct check *check, const struct report *report)
{
    if (check->version[0] == '\0')
        printf("library   not libmpi-rma\n");
    else
        printf("library   libmpi-rma %s, %s\n", check->version, check->file);
    printf("host      %s; %d process%s, %d of them on this node, which may use %d processor%s\n",
           check->host, check->size, check->size == 1 ? "" : "es", check->node, check->units,
           check->units == 1 ? "" : "s");
    print_network(check, report);
    print_xpmem(report);
    print_rows(check);
    printf("\nWhat is slow here, and how to mend it:\n");
    if (check_advise(check, report) == 0)
        printf("- Nothing was found.\n");
}

static int result(const struct check *check)
{
    bool good = check->version[0] != '\0' && check->size > 1;

    for (size_t i = 0; i < check->nrows; i++)
        good = good && check->row[i].path[0] != '\0' && check->row[i].right;
    return good ? 0 : 1;
}

int check_run(int argc, char **argv, struct report *report)
{
    static struct check check;
    int rank, code;

    /* It forks, so before MPI_Init makes threads. */
    report_fill(report, false);
    if (getloadavg(&check.load, 1) != 1)
        check.load = 0;
    watchdog_arm(PATIENCE, "mpi-rma-run --check, MPI_Init");
    /* At this level the library says why a window is refused. */
    setenv("MPIRMA_LOG", "info", 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    watchdog_arm(PATIENCE, "mpi-rma-run --check, rank %d, puts and messages", rank);
    check_measure(&check);
    if (rank == 0)
        print_check(&check, report);
    code = rank == 0 ? result(&check) : 0;
    fflush(stdout);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    watchdog_arm(PATIENCE / 2,
                 "mpi-rma-run --check, rank %d, MPI_Finalize of the host; all results are there",
                 rank);
    MPI_Finalize();
    watchdog_arm(0, "%s", "");
    return code;
}
