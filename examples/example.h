/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * example.h - what the examples share: arguments of the form name=value, the end of a run whose
 * contents are wrong, and a table of the times of several ways to do the same.
 *
 * Nothing here is needed to use one-sided communication. Every example is one source that
 * includes this file: mpicc workqueue.c builds it.
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

/* Starts MPI and reads the arguments. */
static inline void begin_example(int *argc, char ***argv, struct argument *arguments, int *rank,
                                 int *size)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    read_arguments(*argc, *argv, arguments);
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

/* Sorts the times, of which there is at least one. */
static inline double median_of(double *times, long n)
{
    qsort(times, (size_t)n, sizeof *times, ascending);
    return times[n / 2];
}

/* One way to do the work of an example. */
struct way {
    const char *name;
    void (*work)(void);
};

enum { MAX_WAYS = 8, MAX_REPEATS = 101 };

/* Prints a line for each way that has run: the median of its times, the fastest run, which says
 * more where other work disturbs, and the median as a ratio to that of the first way. */
static inline void print_times(const struct way *ways, double (*seconds)[MAX_REPEATS], int repeats,
                               double scale)
{
    double first = 0;
    printf("  %-14s %10s %10s %8s\n", "way", "median", "lowest", "ratio");
    for (int w = 0; ways[w].name; w++) {
        if (seconds[w][0] < 0)
            continue;
        double median = median_of(seconds[w], repeats);
        first = w == 0 ? median : first;
        printf("  %-14s %10.3f %10.3f", ways[w].name, median * scale, seconds[w][0] * scale);
        if (first > 0)
            printf(" %8.2f\n", median / first);
        else
            printf(" %8s\n", "-");
    }
    fflush(stdout);
}

/* Has the program's run do the work of each way that is asked for, in turns, so that a disturbance
 * of the machine meets all, and prints the times, scaled to the unit that the caller's heading
 * names. run returns the seconds that this process took, or a negative number where a way cannot be
 * gone; the slowest process counts. */
static inline void measure(const struct way *ways, double (*run)(void (*work)(void)),
                           const char *asked, long repeats, double scale)
{
    static double seconds[MAX_WAYS][MAX_REPEATS];
    int rank, found = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (repeats > MAX_REPEATS)
        repeats = MAX_REPEATS;
    for (int i = 0; i < repeats; i++) {
        for (int w = 0; ways[w].name; w++) {
            double mine = -1;
            if (strcmp(asked, "all") == 0 || strcmp(asked, ways[w].name) == 0) {
                found++;
                MPI_Barrier(MPI_COMM_WORLD);
                mine = run(ways[w].work);
            }
            MPI_Allreduce(&mine, &seconds[w][i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        }
    }
    if (!found)
        wrong("there is no way '%s' to do this", asked);
    if (rank == 0)
        print_times(ways, seconds, (int)repeats, scale);
}

#endif
