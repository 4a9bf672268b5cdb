/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * example.h - what the examples share: arguments of the form name=value, the end of a run whose
 * contents are wrong, times of several ways to do the same, a table of them, and a file of values.
 *
 * Nothing here is needed to use one-sided communication. Every example is one source that
 * includes this file: mpicc counter.c builds it.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <mpi.h>
#include <sched.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Ends the job with exit status 1 and a message: what was computed or read is not right. The pause
 * lets the launcher pass the message on before it ends the other processes. */
__attribute__((format(printf, 1, 2))) static inline void wrong(const char *format, ...)
{
    char text[512];
    int rank;
    va_list ap;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    fprintf(stderr, "WRONG on rank %d: %s\n", rank, text);
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* An argument is a number, or a word if it has a text. The table ends with a name of NULL. */
struct argument {
    const char *name;
    long number;
    const char *text;
    const char *meaning;
};

static inline void usage(const char *program, const struct argument *arguments)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        fprintf(stderr, "usage: %s [name=value ...], where\n", program);
        for (const struct argument *a = arguments; a->name; a++) {
            if (a->text)
                fprintf(stderr, "  %s=%s   %s\n", a->name, a->text, a->meaning);
            else
                fprintf(stderr, "  %s=%ld   %s\n", a->name, a->number, a->meaning);
        }
    }
    MPI_Finalize();
    exit(2);
}

/* Reads the arguments into the table, which has the defaults. Every rank is given the same. */
static inline void read_arguments(int argc, char **argv, struct argument *arguments)
{
    for (int i = 1; i < argc; i++) {
        struct argument *a = arguments;
        size_t length = strcspn(argv[i], "=");
        while (a->name && (strlen(a->name) != length || strncmp(a->name, argv[i], length) != 0))
            a++;
        if (!a->name || argv[i][length] != '=')
            usage(argv[0], arguments);
        const char *value = argv[i] + length + 1;
        char *end = "";
        if (a->text)
            a->text = value;
        else
            a->number = strtol(value, &end, 10);
        if (*value == 0 || *end != 0 || (!a->text && a->number < 1))
            usage(argv[0], arguments);
    }
}

/* Memory that is all zero, or the end of the job. */
static inline void *zeroed(size_t count, size_t each)
{
    void *memory = calloc(count > 0 ? count : 1, each);
    if (!memory)
        wrong("no memory for %zu times %zu bytes", count, each);
    return memory;
}

/* A window's size in bytes, rounded up to whole cache lines. MPI asks for no such thing, but MPICH
 * 4.0.2 alone reaches the wrong memory of other ranks where a size of MPI_Win_allocate is no
 * multiple of 16, and ranks that share a cache line slow each other down. */
static inline MPI_Aint whole_lines(size_t bytes)
{
    return (MPI_Aint)((bytes + 63) / 64 * 64);
}

/* Waits for all; nobody asks for the statuses. */
static inline void wait_all(int count, MPI_Request *requests)
{
    MPI_Status statuses[count > 0 ? count : 1];
    MPI_Waitall(count, requests, statuses);
}

/* A barrier whose processes sleep while they wait, so that those that still work have the machine
 * to themselves. */
static inline void quiet_barrier(void)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* For the body of loops that wait for another process: now and then lets others run, for there may
 * be more processes than processors. */
static inline void let_others_run(void)
{
    static unsigned rounds;
    if (++rounds % 64 == 0)
        sched_yield();
}

static inline int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median; sorts the values, the lowest first. */
static inline double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(double), ascending);
    return values[count / 2];
}

/* One way to do the work of an example. It returns the seconds that this rank took, or a negative
 * number if it cannot be done with so many processes. */
struct way {
    const char *name;
    double (*run)(void);
};

enum { MAX_WAYS = 8, MAX_REPEATS = 101 };

/* Is this way asked for? The argument is one name, or "all". */
static inline int asked_for(const char *asked, const char *name)
{
    return strcmp(asked, "all") == 0 || strcmp(asked, name) == 0;
}

/* Seconds of the slowest rank in each way's runs: the median, and the fastest run, which says more
 * where other work disturbs. Negative for a way that was not run. */
struct times {
    double median[MAX_WAYS], lowest[MAX_WAYS];
};

/* Runs the ways that are asked for in turns, so that a disturbance of the machine meets all. */
static inline void run_ways(const struct way *ways, const char *asked, long repeats,
                            struct times *times)
{
    static double seconds[MAX_WAYS][MAX_REPEATS];
    int count = 0, found = 0;
    if (repeats > MAX_REPEATS)
        repeats = MAX_REPEATS;
    for (; ways[count].name; count++)
        found += asked_for(asked, ways[count].name);
    if (!found)
        wrong("there is no way '%s' to do this", asked);
    for (int i = 0; i < repeats; i++) {
        for (int w = 0; w < count; w++) {
            if (!asked_for(asked, ways[w].name))
                continue;
            MPI_Barrier(MPI_COMM_WORLD);
            double mine = ways[w].run();
            MPI_Allreduce(&mine, &seconds[w][i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        }
    }
    for (int w = 0; w < count; w++) {
        int ran = asked_for(asked, ways[w].name);
        times->median[w] = ran ? median(seconds[w], (int)repeats) : -1;
        times->lowest[w] = ran ? seconds[w][0] : -1;
    }
}

/* Prints the times, scaled to the unit that the caller's heading names, and the medians as a ratio
 * to the first way. Rank 0 alone prints. */
static inline void print_ways(const struct way *ways, const struct times *times, double scale)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0)
        return;
    printf("  %-14s %10s %10s %8s\n", "way", "median", "lowest", "ratio");
    for (int w = 0; ways[w].name; w++) {
        if (times->median[w] < 0)
            continue;
        printf("  %-14s %10.3f %10.3f", ways[w].name, times->median[w] * scale,
               times->lowest[w] * scale);
        if (times->median[0] > 0)
            printf(" %8.2f\n", times->median[w] / times->median[0]);
        else
            printf(" %8s\n", "-");
    }
    fflush(stdout);
}

/* What was measured, for programs that make tables: rank 0 writes it to the file of the argument
 * csv=FILE, if there is one. */
static FILE *values;

static inline void open_values(const char *name)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0 || *name == 0)
        return;
    values = fopen(name, "w");
    if (!values)
        wrong("cannot write %s", name);
    fprintf(values, "example,ranks,size,way,quantity,value\n");
}

static inline void write_value(const char *example, int ranks, long size, const char *way,
                               const char *quantity, double value)
{
    if (values)
        fprintf(values, "%s,%d,%ld,%s,%s,%.6g\n", example, ranks, size, way, quantity, value);
}

static inline void close_values(void)
{
    if (values && fclose(values))
        wrong("the file of values cannot be written");
}

#endif
