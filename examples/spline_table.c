/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spline_table.c - a large table that every process only reads, once for each process or once for
 * each node: coefficients of cubic splines, as quantum Monte Carlo codes have them for the orbitals
 * of their electrons. Each process evaluates all orbitals at random places.
 *
 * Two ways: every process has the table in its own memory; or MPI_Win_allocate_shared gives it to
 * the first process of a node, which fills it, and the others read it where it is. Only how the
 * table comes to be differs; the evaluation is the same code.
 *
 * Shown for 1, 2, 4 ... processes: the memory of all of them, as /proc/self/smaps_rollup gives it
 * (proportional set size: a page that k processes share counts 1/k in each), and the time of an
 * evaluation.
 *
 * Checked: cubic splines reproduce linear functions. The coefficients are x + 2 y + 3 z + orbital,
 * and so must every value be; and the shared table must not cost a second copy in a node.
 */
#include "example.h"
#include <malloc.h>

static int rank, size;
static long points; /* of the grid along each dimension, coefficients for all orbitals at each */
static long orbitals;
static long evaluations;

static MPI_Comm group; /* the processes that take part now */
static MPI_Comm node;  /* those of them in our node */
static double table_mb;

static size_t table_size(void)
{
    return (size_t)(points * points * points * orbitals);
}

static void fill(double *table)
{
    for (long x = 0; x < points; x++)
        for (long y = 0; y < points; y++)
            for (long z = 0; z < points; z++)
                for (long o = 0; o < orbitals; o++)
                    *table++ = (double)(x + 2 * y + 3 * z + o);
}

/* Weights of the four coefficients around a place that is t behind the second of them. */
static void weights(double t, double w[4])
{
    double s = 1 - t;
    w[0] = s * s * s / 6;
    w[1] = (4 - 6 * t * t + 3 * t * t * t) / 6;
    w[2] = (4 - 6 * s * s + 3 * s * s * s) / 6;
    w[3] = t * t * t / 6;
}

/* All orbitals at a place: 64 coefficients for each. */
static void evaluate(const double *table, const double place[3], double *values)
{
    double w[3][4];
    long from[3];
    memset(values, 0, (size_t)orbitals * sizeof(double));
    for (int d = 0; d < 3; d++) {
        long cell = (long)place[d];
        weights(place[d] - (double)cell, w[d]);
        from[d] = cell - 1;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++) {
                double weight = w[0][i] * w[1][j] * w[2][k];
                long point = ((from[0] + i) * points + from[1] + j) * points + from[2] + k;
                const double *coefficients = &table[point * orbitals];
                for (long o = 0; o < orbitals; o++)
                    values[o] += weight * coefficients[o];
            }
}

/* Random places, other ones in each process. Returns the seconds of all evaluations. */
static double walk(const double *table)
{
    double *values = zeroed((size_t)orbitals, sizeof(double));
    unsigned long random = (unsigned long)rank + 1;
    double began = MPI_Wtime();
    for (long e = 0; e < evaluations; e++) {
        double place[3];
        for (int d = 0; d < 3; d++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            place[d] = 1 + (double)(random >> 33) / 2147483648.0 * (double)(points - 3);
        }
        evaluate(table, place, values);
        double first = place[0] + 2 * place[1] + 3 * place[2];
        for (long o = 0; o < orbitals; o++) {
            double off = values[o] - (first + (double)o);
            if (off > 1e-9 * (first + (double)o) || off < -1e-9 * (first + (double)o))
                wrong("orbital %ld at %g, %g, %g is %.15g instead of %.15g", o, place[0], place[1],
                      place[2], values[o], first + (double)o);
        }
    }
    double took = MPI_Wtime() - began;
    free(values);
    return took;
}

/* This process's share of the machine's memory, in MB. */
static double memory_mb(void)
{
    char line[256];
    double kb = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (!file)
        return -1;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "Pss: %lf", &kb) == 1)
            break;
    fclose(file);
    return kb / 1024;
}

/* What the table costs is the difference between a look before it is there and one after; all look
 * at the same time, because shares change as others map a page. */
static double memory_of_all(void)
{
    double mine, all;
    MPI_Barrier(group);
    mine = memory_mb();
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, group);
    return mine < 0 ? -1 : all;
}

struct result {
    double mb, seconds;
};

static struct result replicated(void)
{
    double before = memory_of_all();
    double *table = zeroed(table_size(), sizeof(double));
    fill(table);
    double seconds = walk(table), mb = memory_of_all() - before;
    free(table);
    return (struct result){mb, seconds};
}

/* A copy for each node. The first process of the node has all of the window; the others ask where
 * it lies in their address space. The fences make its stores visible to them. */
static struct result shared(void)
{
    double before = memory_of_all(), *table;
    MPI_Aint bytes;
    MPI_Win win;
    int in_node, unit;
    MPI_Comm_rank(node, &in_node);
    bytes = in_node == 0 ? (MPI_Aint)(table_size() * sizeof(double)) : 0;
    MPI_Win_allocate_shared(bytes, sizeof(double), MPI_INFO_NULL, node, &table, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &table);
    MPI_Win_fence(0, win);
    if (in_node == 0)
        fill(table);
    MPI_Win_fence(0, win);
    double seconds = walk(table), mb = memory_of_all() - before;
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    return (struct result){mb, seconds};
}

/* The shared table must be there once in each node, within a small change of everything else. */
static void check_memory(double mb, int processes)
{
    int first, nodes;
    MPI_Comm_rank(node, &first);
    first = first == 0;
    MPI_Allreduce(&first, &nodes, 1, MPI_INT, MPI_SUM, group);
    if (mb > 1.2 * nodes * table_mb + 2.0 * processes)
        wrong("the shared table of %.1f MB takes %.1f MB in %d node(s)", table_mb, mb, nodes);
}

/* The first processes of the job, so many. */
static void measure(int processes)
{
    MPI_Comm_split(MPI_COMM_WORLD, rank < processes ? 0 : MPI_UNDEFINED, rank, &group);
    if (group == MPI_COMM_NULL)
        return;
    MPI_Comm_split_type(group, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    struct result own = replicated(), one = shared();
    if (one.mb >= 0)
        check_memory(one.mb, processes);
    MPI_Allreduce(MPI_IN_PLACE, &own.seconds, 1, MPI_DOUBLE, MPI_MAX, group);
    MPI_Allreduce(MPI_IN_PLACE, &one.seconds, 1, MPI_DOUBLE, MPI_MAX, group);
    if (rank == 0)
        printf("  %9d %14.1f %14.1f %14.3f %14.3f %8.2f\n", processes, own.mb, one.mb,
               own.seconds * 1e6 / (double)evaluations, one.seconds * 1e6 / (double)evaluations,
               one.seconds / own.seconds);
    write_value("spline_table", processes, points, "replicated", "MB", own.mb);
    write_value("spline_table", processes, points, "shared", "MB", one.mb);
    MPI_Comm_free(&node);
    MPI_Comm_free(&group);
}

/* What a process takes once, for its first window, is not the table's. */
static void first_window(void)
{
    double *memory;
    MPI_Win win;
    MPI_Win_allocate_shared(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_SELF, &memory,
                            &win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    struct argument a[] = {{"points", 48, NULL, "points of the grid along each dimension"},
                           {"orbitals", 32, NULL, "coefficients at each point"},
                           {"evaluations", 20000, NULL, "evaluations in each process"},
                           {"csv", 0, "", "file to which all values are written as well"},
                           {NULL, 0, NULL, NULL}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_arguments(argc, argv, a);
    /* A table that is freed goes back to the system, and does not wait for the next one. */
    mallopt(M_MMAP_THRESHOLD, 65536);
    points = a[0].number;
    orbitals = a[1].number;
    evaluations = a[2].number;
    if (points < 4)
        wrong("a cubic spline needs 4 points, not %ld", points);
    table_mb = (double)table_size() * sizeof(double) / 1048576;
    if (rank == 0)
        printf("spline_table: %.1f MB; memory of the table in all processes (MB), microseconds an "
               "evaluation\n  %9s %14s %14s %14s %14s %8s\n",
               table_mb, "processes", "MB replicated", "MB shared", "us replicated", "us shared",
               "ratio");
    open_values(a[3].text);
    first_window();
    for (int processes = 1; processes < size; processes *= 2)
        measure(processes);
    measure(size);
    close_values();
    MPI_Finalize();
    return 0;
}
