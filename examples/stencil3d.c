/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stencil3d.c - a seven-point stencil in three dimensions, as weather and earthquake codes have it.
 * Each process owns a cube of n x n x n cells. Before a step it needs the faces of up to six
 * neighbours, and a global sum ends the step.
 *
 * Three ways to exchange the faces stand side by side: messages, and puts (MPI 4.1, 12.3.1) in two
 * kinds of epochs, those of fence (12.5.1) and those of post and start (12.5.2). A face is
 * described by a datatype at both ends (5.1.3): MPI moves it from the field of one process into the
 * field of another, and the program copies nothing.
 *
 * The program checks itself. The field begins as x*x + y*y + z*z, to which a step adds 0.75
 * everywhere. So each cell of each step is known exactly, and a face that is missing, late or old
 * is seen in the step that uses it.
 */
#include "example.h"

enum { DIMS = 3, SIDES = 6 };
static int rank, size, dims[DIMS], coords[DIMS];
static int neighbour[SIDES]; /* The low and the high side of each dimension, or MPI_PROC_NULL. */
static long n, steps;
static MPI_Comm grid;
static MPI_Group partners; /* The neighbours, for post and start. */

/* The window has two fields. Each step reads one and writes the other, so that a neighbour's put
 * never meets cells that are in use. Both have a layer of neighbours' cells around the cube. */
static MPI_Win win;
static double *cells;
static int now;
static MPI_Datatype inside[SIDES], outside[SIDES]; /* Own cells at a side, and the layer outside. */

static size_t at(long x, long y, long z)
{
    return ((size_t)x * (size_t)(n + 2) + (size_t)y) * (size_t)(n + 2) + (size_t)z;
}

static double *field(int which)
{
    return cells + (size_t)which * at(n + 2, 0, 0);
}

/* Our layer inside a side becomes the layer outside the other side of the neighbour there. */
static void put_faces(void)
{
    MPI_Aint displacement = field(now) - cells;
    for (int side = 0; side < SIDES; side++)
        MPI_Put(field(now), 1, inside[side], neighbour[side], displacement, 1, outside[side ^ 1],
                win);
}

static void by_messages(void)
{
    MPI_Request r[2 * SIDES];
    for (int side = 0; side < SIDES; side++) {
        MPI_Irecv(field(now), 1, outside[side], neighbour[side], side, grid, &r[side]);
        MPI_Isend(field(now), 1, inside[side], neighbour[side], side ^ 1, grid, &r[SIDES + side]);
    }
    wait_all(2 * SIDES, r);
}

/* A fence meets all processes of the window. The assertions say that no operation ends at the first
 * and that none begins at the second, which saves work (12.5.5). */
static void by_fence(void)
{
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    put_faces();
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

/* Post and start meet the neighbours only: each process exposes its window to them, and has access
 * to theirs. MPI_Win_wait returns when all neighbours have completed. */
static void by_pscw(void)
{
    MPI_Win_post(partners, 0, win);
    MPI_Win_start(partners, 0, win);
    put_faces();
    MPI_Win_complete(win);
    MPI_Win_wait(win);
}

static double exact(long x, long y, long z, long step)
{
    double gx = (double)(coords[0] * n + x), gy = (double)(coords[1] * n + y),
           gz = (double)(coords[2] * n + z);
    return gx * gx + gy * gy + gz * gz + 0.75 * (double)step;
}

/* Cells beyond the border of the whole domain follow the rule of those inside. */
static void set_border(long step)
{
    for (int side = 0; side < SIDES; side++) {
        long p[DIMS], dim = side / 2, a = (dim + 1) % DIMS, b = (dim + 2) % DIMS;
        p[dim] = side % 2 ? n + 1 : 0;
        for (p[a] = 1; p[a] <= n && neighbour[side] == MPI_PROC_NULL; p[a]++)
            for (p[b] = 1; p[b] <= n; p[b]++)
                field(now)[at(p[0], p[1], p[2])] = exact(p[0], p[1], p[2], step);
    }
}

/* Writes the next field and checks each of its cells. The sum stands for what such codes ask all
 * processes after a step; it also keeps them from putting into a field that is still read. */
static void update(void)
{
    const double *restrict in = field(now);
    double *restrict out = field(!now), sum = 0;
    long row = (long)at(0, 1, 0), plane = (long)at(1, 0, 0);
    for (long x = 1; x <= n; x++)
        for (long y = 1; y <= n; y++)
            for (long z = 1; z <= n; z++) {
                const double *c = &in[at(x, y, z)];
                double around = c[-plane] + c[plane] + c[-row] + c[row] + c[-1] + c[1];
                double next = *c + 0.125 * (around - 6 * *c);
                if (next != *c + 0.75)
                    wrong("cell %ld, %ld, %ld becomes %.17g of %.17g", x, y, z, next, *c);
                out[at(x, y, z)] = next;
                sum += next;
            }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
    now = !now;
}

/* The epoch lets us store into our own window (12.4.2). */
static double run(void (*exchange)(void))
{
    now = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(cells, 0, 2 * at(n + 2, 0, 0) * sizeof(double));
    for (long x = 1; x <= n; x++)
        for (long y = 1; y <= n; y++)
            for (long z = 1; z <= n; z++)
                cells[at(x, y, z)] = exact(x, y, z, 0);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(grid);
    double began = MPI_Wtime();
    for (long step = 0; step < steps; step++) {
        exchange();
        set_border(step);
        update();
    }
    return MPI_Wtime() - began;
}

static void make_grid(void)
{
    int open[DIMS] = {0, 0, 0}, ranks[SIDES], count = 0;
    MPI_Group all;
    MPI_Dims_create(size, DIMS, dims);
    MPI_Cart_create(MPI_COMM_WORLD, DIMS, dims, open, 0, &grid);
    MPI_Cart_coords(grid, rank, DIMS, coords);
    for (int side = 0; side < SIDES; side++) {
        int edge = (int)n, dim = side / 2, low, high;
        int whole[DIMS] = {edge + 2, edge + 2, edge + 2}, part[DIMS] = {edge, edge, edge};
        int from[DIMS] = {1, 1, 1};
        part[dim] = 1;
        from[dim] = side % 2 ? edge : 1;
        MPI_Type_create_subarray(DIMS, whole, part, from, MPI_ORDER_C, MPI_DOUBLE, &inside[side]);
        from[dim] = side % 2 ? edge + 1 : 0;
        MPI_Type_create_subarray(DIMS, whole, part, from, MPI_ORDER_C, MPI_DOUBLE, &outside[side]);
        MPI_Type_commit(&inside[side]);
        MPI_Type_commit(&outside[side]);
        MPI_Cart_shift(grid, dim, 1, &low, &high);
        neighbour[side] = side % 2 ? high : low;
        if (neighbour[side] != MPI_PROC_NULL)
            ranks[count++] = neighbour[side];
    }
    MPI_Comm_group(grid, &all);
    MPI_Group_incl(all, count, ranks, &partners);
    MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
    static const struct way ways[] = {
        {"isend", by_messages}, {"fence", by_fence}, {"pscw", by_pscw}, {NULL, NULL}};
    struct argument a[] = {{"n", 64, NULL, "cells of a cube's edge"},
                           {"steps", 10, NULL, "steps of a run"},
                           {"repeats", 5, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "isend, fence, pscw or all"},
                           {NULL, 0, NULL, NULL}};
    begin_example(&argc, &argv, a, &rank, &size);
    n = a[0].number;
    steps = a[1].number;
    make_grid();
    MPI_Win_allocate(whole_lines(2 * at(n + 2, 0, 0) * sizeof(double)), sizeof(double),
                     MPI_INFO_NULL, grid, &cells, &win);
    if (rank == 0)
        printf("stencil3d: %d processes, cubes of %ld; milliseconds a step\n", size, n);
    measure(ways, run, a[3].text, a[2].number, 1e3 / (double)steps);
    for (int side = 0; side < SIDES; side++) {
        MPI_Type_free(&inside[side]);
        MPI_Type_free(&outside[side]);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
