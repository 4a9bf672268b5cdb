/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stencil3d.c - a seven-point stencil in three dimensions, as earthquake and weather codes have it:
 * each process owns a cube of n x n x n cells and needs the faces of up to six neighbours before
 * each step; a global sum ends the step. The cubes stay as they are when processes are added.
 *
 * Every way sends the faces first, updates the cells inside while they travel, then those that need
 * a neighbour's face. Faces are described by datatypes at both ends, nothing is copied into
 * buffers. Four ways: MPI_Isend and MPI_Irecv; puts between two fences; puts with post, start,
 * complete and wait; puts under MPI_Win_lock_all with a flush, and a message of no bytes that says
 * they are there.
 *
 * Checked: the field begins as x*x + y*y + z*z, for which a step adds the same amount, 0.75, to
 * every cell; border cells of the whole domain follow that rule too. So every cell after every step
 * is known exactly, and a face that is missing, late or old shows in the sum of the step, and in
 * the cells at the end.
 */
#include "example.h"

static int rank, size;
static long n, steps; /* cells of a cube's edge; steps of a run */
enum { DIMS = 3, SIDES = 6 };
static MPI_Comm grid;
static int dims[DIMS], coords[DIMS];
static int neighbour[SIDES]; /* low and high side of each dimension, or MPI_PROC_NULL */

/* Two fields, of which each step reads one and writes the other, both with a layer of neighbours'
 * cells around ours; in one window. */
static MPI_Win win;
static double *cells;
static int now;
static double excess; /* how far the sums of the steps were from what they must be */

/* The layer of own cells at a side, and the layer outside, in a field. */
static MPI_Datatype inside[SIDES], outside[SIDES];

static size_t edge(void)
{
    return (size_t)n + 2;
}

static size_t field_size(void)
{
    return edge() * edge() * edge();
}

static size_t at(long x, long y, long z)
{
    return ((size_t)x * edge() + (size_t)y) * edge() + (size_t)z;
}

/* The field after a step: cells of the domain and beyond its border. */
static double exact(long x, long y, long z, long step)
{
    double gx = (double)(coords[0] * n + x), gy = (double)(coords[1] * n + y),
           gz = (double)(coords[2] * n + z);
    return gx * gx + gy * gy + gz * gz + 0.75 * (double)step;
}

static double *field(int which)
{
    return cells + (size_t)which * field_size();
}

static void make_types(void)
{
    for (int side = 0; side < SIDES; side++) {
        int whole[DIMS] = {(int)n + 2, (int)n + 2, (int)n + 2};
        int part[DIMS] = {(int)n, (int)n, (int)n}, from[DIMS] = {1, 1, 1};
        int dim = side / 2, high = side % 2;
        part[dim] = 1;
        from[dim] = high ? (int)n : 1;
        MPI_Type_create_subarray(DIMS, whole, part, from, MPI_ORDER_C, MPI_DOUBLE, &inside[side]);
        from[dim] = high ? (int)n + 1 : 0;
        MPI_Type_create_subarray(DIMS, whole, part, from, MPI_ORDER_C, MPI_DOUBLE, &outside[side]);
        MPI_Type_commit(&inside[side]);
        MPI_Type_commit(&outside[side]);
    }
}

static void free_types(void)
{
    for (int side = 0; side < SIDES; side++) {
        MPI_Type_free(&inside[side]);
        MPI_Type_free(&outside[side]);
    }
}

/* A box of the next field; returns by how much its cells grew. */
static double update(const long *from, const long *to)
{
    const double *restrict in = field(now);
    double *restrict out = field(!now), grown = 0;
    size_t row = edge(), plane = edge() * edge();
    for (long x = from[0]; x <= to[0]; x++)
        for (long y = from[1]; y <= to[1]; y++)
            for (long z = from[2]; z <= to[2]; z++) {
                size_t i = at(x, y, z);
                double sum = in[i - plane] + in[i + plane] + in[i - row] + in[i + row] + in[i - 1] +
                             in[i + 1];
                out[i] = in[i] + 0.125 * (sum - 6 * in[i]);
                grown += out[i] - in[i];
            }
    return grown;
}

static double update_inner(void)
{
    return update((long[]){2, 2, 2}, (long[]){n - 1, n - 1, n - 1});
}

/* The layers at the six sides, without the edges that another layer had already. */
static double update_border(void)
{
    long from[DIMS] = {1, 1, 1}, to[DIMS] = {n, n, n};
    double grown = 0;
    for (int dim = 0; dim < DIMS; dim++) {
        to[dim] = from[dim] = 1;
        grown += update(from, to);
        to[dim] = from[dim] = n;
        if (n > 1)
            grown += update(from, to);
        from[dim] = 2;
        to[dim] = n - 1;
    }
    return grown;
}

/* Cells beyond the border of the whole domain. */
static void set_outside(long step)
{
    double *f = field(now);
    for (int side = 0; side < SIDES; side++) {
        long p[DIMS], fixed = side % 2 ? n + 1 : 0;
        int dim = side / 2, a = (dim + 1) % DIMS, b = (dim + 2) % DIMS;
        if (neighbour[side] != MPI_PROC_NULL)
            continue;
        p[dim] = fixed;
        for (p[a] = 1; p[a] <= n; p[a]++)
            for (p[b] = 1; p[b] <= n; p[b]++)
                f[at(p[0], p[1], p[2])] = exact(p[0], p[1], p[2], step);
    }
}

/* Ends a step: all processes learn by how much the field grew. */
static void end_step(double grown)
{
    double all, must = 0.75 * (double)n * (double)n * (double)n * size;
    MPI_Allreduce(&grown, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
    excess += all > must ? all - must : must - all;
    now = !now;
}

static void begin(void)
{
    now = 0;
    excess = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(cells, 0, 2 * field_size() * sizeof(double));
    for (long x = 1; x <= n; x++)
        for (long y = 1; y <= n; y++)
            for (long z = 1; z <= n; z++)
                cells[at(x, y, z)] = exact(x, y, z, 0);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(grid);
}

static double end(double began)
{
    double took = MPI_Wtime() - began;
    if (excess != 0)
        wrong("the global sums are off by %g", excess);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (long x = 1; x <= n; x++)
        for (long y = 1; y <= n; y++)
            for (long z = 1; z <= n; z++)
                if (field(now)[at(x, y, z)] != exact(x, y, z, steps))
                    wrong("after %ld steps cell %ld, %ld, %ld is %.17g instead of %.17g", steps, x,
                          y, z, field(now)[at(x, y, z)], exact(x, y, z, steps));
    MPI_Win_unlock(rank, win);
    return took;
}

/* To the neighbour at each side: our layer inside becomes its layer outside, at its other side. */
static void put_face(int side)
{
    MPI_Put(field(now), 1, inside[side], neighbour[side], (MPI_Aint)((size_t)now * field_size()), 1,
            outside[side ^ 1], win);
}

static void put_faces(void)
{
    for (int side = 0; side < SIDES; side++)
        put_face(side);
}

static double by_messages(void)
{
    begin();
    double began = MPI_Wtime();
    for (long s = 0; s < steps; s++) {
        MPI_Request requests[2 * SIDES];
        for (int side = 0; side < SIDES; side++)
            MPI_Irecv(field(now), 1, outside[side], neighbour[side], side, grid, &requests[side]);
        for (int side = 0; side < SIDES; side++)
            MPI_Isend(field(now), 1, inside[side], neighbour[side], side ^ 1, grid,
                      &requests[SIDES + side]);
        set_outside(s);
        double grown = update_inner();
        wait_all(2 * SIDES, requests);
        end_step(grown + update_border());
    }
    return end(began);
}

static double by_fence(void)
{
    begin();
    double began = MPI_Wtime();
    for (long s = 0; s < steps; s++) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        put_faces();
        set_outside(s);
        double grown = update_inner();
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        end_step(grown + update_border());
    }
    return end(began);
}

static double by_pscw(void)
{
    int ranks[SIDES], count = 0;
    MPI_Group all, group;
    for (int side = 0; side < SIDES; side++)
        if (neighbour[side] != MPI_PROC_NULL)
            ranks[count++] = neighbour[side];
    MPI_Comm_group(grid, &all);
    MPI_Group_incl(all, count, ranks, &group);
    begin();
    double began = MPI_Wtime();
    for (long s = 0; s < steps; s++) {
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
        put_faces();
        set_outside(s);
        double grown = update_inner();
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        end_step(grown + update_border());
    }
    double took = end(began);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    return took;
}

/* All puts leave together and are completed together by the flush; then the neighbours are told. */
static double by_flush(void)
{
    begin();
    MPI_Win_lock_all(0, win);
    double began = MPI_Wtime();
    for (long s = 0; s < steps; s++) {
        MPI_Request requests[2 * SIDES];
        for (int side = 0; side < SIDES; side++)
            MPI_Irecv(NULL, 0, MPI_BYTE, neighbour[side], side, grid, &requests[side]);
        put_faces();
        set_outside(s);
        double grown = update_inner();
        MPI_Win_flush_all(win);
        for (int side = 0; side < SIDES; side++)
            MPI_Isend(NULL, 0, MPI_BYTE, neighbour[side], side ^ 1, grid, &requests[SIDES + side]);
        wait_all(2 * SIDES, requests);
        MPI_Win_sync(win);
        end_step(grown + update_border());
    }
    double took = MPI_Wtime() - began;
    MPI_Win_unlock_all(win);
    end(began);
    return took;
}

static const struct way ways[] = {{"isend", by_messages},
                                  {"fence", by_fence},
                                  {"pscw", by_pscw},
                                  {"flush", by_flush},
                                  {NULL, NULL}};

/* One size of cubes: the window, the ways, the table. */
static void measure(const char *how, long repeats)
{
    struct times times;
    MPI_Win_allocate(whole_lines(2 * field_size() * sizeof(double)), sizeof(double), MPI_INFO_NULL,
                     grid, &cells, &win);
    make_types();
    run_ways(ways, how, repeats, &times);
    if (rank == 0)
        printf("stencil3d: %d x %d x %d processes, cubes of %ld, %ld steps; milliseconds a step\n",
               dims[0], dims[1], dims[2], n, steps);
    print_ways(ways, &times, 1e3 / (double)steps);
    for (int w = 0; ways[w].name; w++)
        if (times.median[w] > 0)
            write_value("stencil3d", size, n, ways[w].name, "ms a step",
                        times.median[w] * 1e3 / (double)steps);
    free_types();
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    struct argument a[] = {{"from", 32, NULL, "cells of the smallest cube's edge"},
                           {"to", 128, NULL, "cells of the largest: each is twice the one before"},
                           {"steps", 10, NULL, "steps of a run"},
                           {"repeats", 5, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "isend, fence, pscw, flush or all"},
                           {"csv", 0, "", "file to which all values are written as well"},
                           {NULL, 0, NULL, NULL}};
    int open[DIMS] = {0, 0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_arguments(argc, argv, a);
    steps = a[2].number;
    MPI_Dims_create(size, DIMS, dims);
    MPI_Cart_create(MPI_COMM_WORLD, DIMS, dims, open, 0, &grid);
    MPI_Cart_coords(grid, rank, DIMS, coords);
    for (int dim = 0; dim < DIMS; dim++)
        MPI_Cart_shift(grid, dim, 1, &neighbour[2 * dim], &neighbour[2 * dim + 1]);
    open_values(a[5].text);
    for (n = a[0].number; n <= a[1].number; n *= 2)
        measure(a[4].text, a[3].number);
    close_values();
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
