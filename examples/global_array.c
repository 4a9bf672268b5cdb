/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * global_array.c - matrices that lie over all processes and are used by patches, as quantum
 * chemistry codes use Global Arrays: get a patch of two matrices, multiply, accumulate the product
 * into a third. No process knows or asks who else works on what; who does which product is decided
 * by a shared counter.
 *
 * Two ways to multiply: a ring of messages, in which every process computes its rows of the product
 * while the other matrix goes around; and the patches, in the epoch of MPI_Win_lock_all that lasts
 * as long as the matrices. MPI_Accumulate is atomic for each element: patches may overlap in time.
 *
 * Checked: every element of the product, for which there is a formula.
 */
#include "example.h"

static int rank, size;
static long n, tile;

/* A matrix of n x n, each process has some rows. */
struct matrix {
    MPI_Win win;
    double *mine;
};
static struct matrix a, b, c;

static MPI_Win counter_win;
static long *counter;

static long first(int process)
{
    return n * process / size;
}

static long rows(int process)
{
    return first(process + 1) - first(process);
}

static void make(struct matrix *m)
{
    MPI_Win_allocate(whole_lines((size_t)(rows(rank) * n) * sizeof(double)), sizeof(double),
                     MPI_INFO_NULL, MPI_COMM_WORLD, &m->mine, &m->win);
}

static double a_value(long i, long k)
{
    return (double)(i + k);
}

static double b_value(long k, long j)
{
    return (double)(k - j);
}

/* The sum of (i + k) (k - j) over k. */
static double c_value(long i, long j)
{
    long squares = (n - 1) * n * (2 * n - 1) / 6, numbers = n * (n - 1) / 2;
    return (double)(squares + (i - j) * numbers - n * i * j);
}

/* ---- patches ---- */

enum operation { GET, ADD };

/* A patch may lie with several processes: for each, one operation on its rows. What lies there is a
 * part of rows of n elements; what we have is dense. */
static void patch(enum operation op, const struct matrix *m, long row, long column, long height,
                  long width, double *local)
{
    for (int p = 0; p < size; p++) {
        long from = row > first(p) ? row : first(p);
        long to = row + height < first(p + 1) ? row + height : first(p + 1);
        if (from >= to)
            continue;
        MPI_Datatype part;
        int count = (int)((to - from) * width);
        MPI_Aint place = (from - first(p)) * n + column;
        double *here = &local[(from - row) * width];
        MPI_Type_vector((int)(to - from), (int)width, (int)n, MPI_DOUBLE, &part);
        MPI_Type_commit(&part);
        if (op == GET)
            MPI_Get(here, count, MPI_DOUBLE, p, place, 1, part, m->win);
        else
            MPI_Accumulate(here, count, MPI_DOUBLE, p, place, 1, part, MPI_SUM, m->win);
        MPI_Type_free(&part);
    }
}

/* out = x y, or out += x y; out has height x width elements, x has height x depth. */
static void multiply(const double *restrict x, long x_row, const double *restrict y, long y_row,
                     double *restrict out, long height, long depth, long width)
{
    for (long i = 0; i < height; i++)
        for (long k = 0; k < depth; k++)
            for (long j = 0; j < width; j++)
                out[i * width + j] += x[i * x_row + k] * y[k * y_row + j];
}

/* The next task: tasks are handed out to whoever asks. */
static long next_task(void)
{
    const long one = 1;
    long task;
    MPI_Fetch_and_op(&one, &task, MPI_LONG, 0, 0, MPI_SUM, counter_win);
    MPI_Win_flush(0, counter_win);
    return task;
}

static long part(long from)
{
    return from + tile <= n ? tile : n - from;
}

/* One product of two patches, added to a third. The gets leave together; the flushes complete them.
 * After the last flush the buffer may be used again: MPI_Win_flush_local is enough for that, and
 * lets the addition go on meanwhile. */
static void do_task(long task, double *x, double *y, double *product)
{
    long tiles = (n + tile - 1) / tile;
    long i = task / tiles / tiles * tile, j = task / tiles % tiles * tile, k = task % tiles * tile;
    long height = part(i), width = part(j), depth = part(k);
    patch(GET, &a, i, k, height, depth, x);
    patch(GET, &b, k, j, depth, width, y);
    MPI_Win_flush_all(a.win);
    MPI_Win_flush_all(b.win);
    MPI_Win_flush_local_all(c.win);
    memset(product, 0, (size_t)(height * width) * sizeof(double));
    multiply(x, depth, y, width, product, height, depth, width);
    patch(ADD, &c, i, j, height, width, product);
}

static void begin(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, c.win);
    memset(c.mine, 0, (size_t)(rows(rank) * n) * sizeof(double));
    MPI_Win_unlock(rank, c.win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, counter_win);
        *counter = 0;
        MPI_Win_unlock(0, counter_win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, c.win);
    for (long i = 0; i < rows(rank); i++)
        for (long j = 0; j < n; j++)
            if (c.mine[i * n + j] != c_value(first(rank) + i, j))
                wrong("row %ld, column %ld is %.17g instead of %.17g", first(rank) + i, j,
                      c.mine[i * n + j], c_value(first(rank) + i, j));
    MPI_Win_unlock(rank, c.win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static double by_patches(void)
{
    size_t elements = (size_t)(tile * tile);
    double *x = zeroed(3 * elements, sizeof(double)), *y = x + elements, *product = y + elements;
    long tiles = (n + tile - 1) / tile;
    begin();
    MPI_Win_lock_all(0, a.win);
    MPI_Win_lock_all(0, b.win);
    MPI_Win_lock_all(0, c.win);
    MPI_Win_lock_all(0, counter_win);
    double began = MPI_Wtime();
    for (long task = next_task(); task < tiles * tiles * tiles; task = next_task())
        do_task(task, x, y, product);
    MPI_Win_flush_all(c.win);
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    MPI_Win_unlock_all(counter_win);
    MPI_Win_unlock_all(c.win);
    MPI_Win_unlock_all(b.win);
    MPI_Win_unlock_all(a.win);
    check();
    free(x);
    return took;
}

/* Rows of b go from each process to the one before it, until all have been everywhere. */
static double by_ring(void)
{
    size_t bytes = (size_t)((n / size + 1) * n) * sizeof(double);
    double *now = zeroed(bytes, 1), *next = zeroed(bytes, 1);
    begin();
    double began = MPI_Wtime();
    memcpy(now, b.mine, (size_t)(rows(rank) * n) * sizeof(double));
    for (int step = 0; step < size; step++) {
        int have = (rank + step) % size, get = (have + 1) % size;
        MPI_Request requests[2];
        MPI_Irecv(next, (int)(rows(get) * n), MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Isend(now, (int)(rows(have) * n), MPI_DOUBLE, (rank + size - 1) % size, 0,
                  MPI_COMM_WORLD, &requests[1]);
        multiply(&a.mine[first(have)], n, now, n, c.mine, rows(rank), rows(have), n);
        wait_all(2, requests);
        double *swap = now;
        now = next;
        next = swap;
    }
    double took = MPI_Wtime() - began;
    check();
    free(now);
    free(next);
    return took;
}

static const struct way ways[] = {{"ring", by_ring}, {"patches", by_patches}, {NULL, NULL}};

int main(int argc, char **argv)
{
    struct argument args[] = {{"n", 512, NULL, "rows and columns"},
                              {"tile", 64, NULL, "rows and columns of a patch"},
                              {"repeats", 5, NULL, "runs, of which the median is shown"},
                              {"how", 0, "all", "ring, patches or all"},
                              {NULL, 0, NULL, NULL}};
    struct times times;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_arguments(argc, argv, args);
    n = args[0].number;
    tile = args[1].number;
    if (n < size)
        wrong("%ld rows are too few for %d processes", n, size);
    make(&a);
    make(&b);
    make(&c);
    MPI_Win_allocate(rank == 0 ? whole_lines(sizeof(long)) : 0, sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &counter, &counter_win);
    for (long i = 0; i < rows(rank) * n; i++) {
        a.mine[i] = a_value(first(rank) + i / n, i % n);
        b.mine[i] = b_value(first(rank) + i / n, i % n);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("global_array: %d processes, %ld x %ld, patches of %ld; milliseconds\n", size, n, n,
               tile);
    run_ways(ways, args[3].text, args[2].number, &times);
    print_ways(ways, &times, 1e3);
    MPI_Win_free(&counter_win);
    MPI_Win_free(&c.win);
    MPI_Win_free(&b.win);
    MPI_Win_free(&a.win);
    MPI_Finalize();
    return 0;
}
