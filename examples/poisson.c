/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * poisson.c - Jacobi sweeps for Poisson's equation, in memory that the processes of a node share.
 * Each process owns some rows of N x N points, and replaces each point in each sweep by the mean of
 * the four around it. So it needs the last row of the process before it and the first row of the
 * process behind it.
 *
 * Messages copy these rows into rows of one's own. In a window of MPI_Win_allocate_shared (MPI 4.1,
 * 12.2.3) no row is copied: a process loads the points of its neighbours from where they are. The
 * window is one piece of memory by default, in which the processes' parts touch. With the info key
 * alloc_shared_noncontig each part has pages of its own, which come from the memory beside the
 * process that first writes them. Communication and computation are timed together, for what the
 * first way spends in copies the others spend in loads. What a sweep's communication takes by
 * itself is printed below the table: the median of all sweeps, for in some the other process is
 * late.
 *
 * The program checks itself. Points begin as x*x + y*y, and those beyond the border of the domain
 * follow the same rule, so that every sweep adds exactly 1 everywhere.
 */
#include "example.h"

static int rank, size, before, behind; /* The neighbours, or MPI_PROC_NULL. */
static long n, sweeps, rows, first_row;

/* Two arrays of rows, of which each sweep reads one and writes the other. A row has a point more at
 * each end, for the border of the domain. */
static double *own[2];
static size_t width;

/* The rows beside ours, in each of the two arrays: a neighbour's, or rows of our own memory. */
static double *above[2], *below[2];
static int now;
static MPI_Win win;
static const char *noncontig; /* The value of the info key. */

static long first_of(int process)
{
    return n * process / size;
}

static double exact(long row, long column, long sweep)
{
    return (double)(row * row + column * column + sweep);
}

static void set_row(double *points, long row, long sweep)
{
    for (long c = 0; c <= n + 1; c++)
        points[c] = exact(row, c, sweep);
}

/* Sets what lies beyond the border of the domain, and then replaces each point of ours. */
static void sweep(long number)
{
    double *in = own[now], *out = own[!now];
    if (before == MPI_PROC_NULL)
        set_row(above[now], first_row - 1, number);
    if (behind == MPI_PROC_NULL)
        set_row(below[now], first_row + rows, number);
    for (long r = 0; r < rows; r++) {
        double *row = in + (size_t)r * width, *next = out + (size_t)r * width;
        const double *north = r == 0 ? above[now] : row - width;
        const double *south = r == rows - 1 ? below[now] : row + width;
        row[0] = exact(first_row + r, 0, number);
        row[n + 1] = exact(first_row + r, n + 1, number);
        for (long c = 1; c <= n; c++)
            next[c] = 0.25 * (north[c] + south[c] + row[c - 1] + row[c + 1]);
    }
    now = !now;
}

static void check(void)
{
    for (long r = 0; r < rows; r++)
        for (long c = 1; c <= n; c++)
            if (own[now][(size_t)r * width + (size_t)c] != exact(first_row + r, c, sweeps))
                wrong("row %ld, column %ld is %.17g", first_row + r, c,
                      own[now][(size_t)r * width + (size_t)c]);
}

/* The neighbours' rows are copied into ours. */
static void exchange_rows(void)
{
    MPI_Request r[4];
    double *last = own[now] + (size_t)(rows - 1) * width;
    MPI_Irecv(above[now], (int)width, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(below[now], (int)width, MPI_DOUBLE, behind, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(own[now], (int)width, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(last, (int)width, MPI_DOUBLE, behind, 0, MPI_COMM_WORLD, &r[3]);
    wait_all(4, r);
}

/* The fence orders the stores of all processes in the sweep before it ahead of their loads behind
 * it (12.5.1). One fence for each sweep is enough: the rows that are loaded between two fences are
 * written only behind the second, since sweeps write the two arrays in turn. */
static void meet(void)
{
    MPI_Win_fence(0, win);
}

/* Where the arrays of a process begin in our address space: MPI_Win_shared_query tells it, for
 * the same memory may have other addresses in other processes. */
static double *part_of(int process)
{
    MPI_Aint bytes;
    int unit;
    double *base;
    MPI_Win_shared_query(win, process, &bytes, &unit, &base);
    return base;
}

static void share_memory(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", noncontig);
    MPI_Win_allocate_shared((MPI_Aint)(2 * (size_t)rows * width * sizeof(double)), sizeof(double),
                            info, MPI_COMM_WORLD, &own[0], &win);
    MPI_Info_free(&info);
    own[1] = own[0] + (size_t)rows * width;
    for (int i = 0; i < 2; i++) {
        if (before != MPI_PROC_NULL) /* The last row of the process before us. */
            above[i] = part_of(before) +
                       (size_t)((i + 1) * (first_row - 1 - first_of(before)) - 1) * width;
        if (behind != MPI_PROC_NULL) /* The first row of the process behind us. */
            below[i] =
                part_of(behind) + (size_t)(i * (first_of(behind + 1) - first_of(behind))) * width;
    }
    MPI_Win_fence(0, win);
}

/* Shared memory takes processes of one node (7.4.2, MPI_COMM_TYPE_SHARED). */
static int one_node(void)
{
    MPI_Comm node;
    int near;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &near);
    MPI_Comm_free(&node);
    MPI_Allreduce(MPI_IN_PLACE, &near, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return near == size;
}

/* What communication takes in the median sweep of the best run: by messages, in shared memory. */
static double communication[2];

static double run(void (*exchange)(void))
{
    if (exchange == meet && !one_node())
        return -1;
    double *each = zeroed((size_t)sweeps, sizeof *each);
    double *memory = zeroed((size_t)(2 * rows + 4) * width, sizeof(double));
    for (int i = 0; i < 2; i++) {
        above[i] = memory + (size_t)i * width;
        below[i] = memory + (size_t)(2 + i) * width;
        own[i] = memory + (size_t)(4 + i * rows) * width;
    }
    if (exchange == meet)
        share_memory();
    now = 0;
    memset(own[1], 0, (size_t)rows * width * sizeof(double));
    for (long r = 0; r < rows; r++)
        set_row(own[0] + (size_t)r * width, first_row + r, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (long s = 0; s < sweeps; s++) {
        double start = MPI_Wtime();
        exchange();
        each[s] = MPI_Wtime() - start;
        sweep(s);
    }
    double took = MPI_Wtime() - began;
    double median = median_of(each, sweeps), *best = &communication[exchange == meet];
    *best = *best == 0 || median < *best ? median : *best;
    free(each);
    check();
    if (exchange == meet) {
        MPI_Win_fence(0, win);
        MPI_Win_free(&win);
    }
    free(memory);
    return took;
}

int main(int argc, char **argv)
{
    static const struct way ways[] = {{"isend", exchange_rows}, {"shared", meet}, {NULL, NULL}};
    struct argument a[] = {{"n", 512, NULL, "points of the domain's edge"},
                           {"sweeps", 50, NULL, "sweeps of a run"},
                           {"noncontig", 0, "false", "true: parts with pages of their own"},
                           {"repeats", 5, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "isend, shared or all"},
                           {NULL, 0, NULL, NULL}};
    begin_example(&argc, &argv, a, &rank, &size);
    n = a[0].number;
    sweeps = a[1].number;
    noncontig = a[2].text;
    width = (size_t)n + 2;
    if (n < size)
        wrong("%ld rows are too few for %d processes", n, size);
    first_row = first_of(rank) + 1;
    rows = first_of(rank + 1) - first_of(rank);
    before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    behind = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    if (rank == 0)
        printf("poisson: %d processes, %ld x %ld points; microseconds a sweep\n", size, n, n);
    measure(ways, run, a[4].text, a[3].number, 1e6 / (double)sweeps);
    for (int w = 0; rank == 0 && w < 2; w++)
        if (communication[w] > 0)
            printf("  communication in a sweep, %s: %.2f\n", ways[w].name, 1e6 * communication[w]);
    MPI_Finalize();
    return 0;
}
