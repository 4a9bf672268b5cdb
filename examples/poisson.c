/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * poisson.c - Jacobi sweeps for Poisson's equation on N x N points, cut in both dimensions: before
 * each sweep every process needs the border of its neighbours, and then replaces each of its points
 * by the mean of the four around it and the source.
 *
 * Four ways to get the border: MPI_Isend and MPI_Irecv; puts between two fences; and, where all
 * processes share memory, loads from the neighbours' own arrays in a window of
 * MPI_Win_allocate_shared, which is one piece of memory by default, or with the info key
 * alloc_shared_noncontig a piece for each process, in pages of its own. Communication and
 * computation are timed apart: what is saved in one may be lost in the other, if the processes'
 * parts share cache lines or lie with another's processor.
 *
 * Checked: points begin as x*x + y*y; the source is 0, and the points on the border of the domain
 * follow the rule as those inside do, so that every sweep adds exactly 1 everywhere. A border that
 * is missing or old shows at the end.
 */
#include "example.h"

static int rank, size;
static long n, sweeps;
static MPI_Comm grid;
static int dims[2], coords[2];
enum { NORTH, SOUTH, WEST, EAST, SIDES };
static int neighbour[SIDES];

/* Our rows and columns, and where they begin in the domain. */
static long rows, columns, first_row, first_column;

/* Two arrays, of which each sweep reads one and writes the other, with a border of one point, one
 * after the other in one piece of memory (or window). */
static double *points;
static int now;

static double communication, computation; /* seconds of one run */

static long share(long all, int parts, int part)
{
    return all * (part + 1) / parts - all * part / parts;
}

static size_t array_size(long r, long c)
{
    return (size_t)(r + 2) * (size_t)(c + 2);
}

static double *array(int which)
{
    return points + (size_t)which * array_size(rows, columns);
}

static size_t at(long row, long column)
{
    return (size_t)row * (size_t)(columns + 2) + (size_t)column;
}

static double exact(long row, long column, long sweep)
{
    double x = (double)(first_row + row), y = (double)(first_column + column);
    return x * x + y * y + (double)sweep;
}

static void begin(void)
{
    now = 0;
    communication = computation = 0;
    memset(points, 0, 2 * array_size(rows, columns) * sizeof(double));
    for (long r = 1; r <= rows; r++)
        for (long c = 1; c <= columns; c++)
            points[at(r, c)] = exact(r, c, 0);
}

static void check(void)
{
    for (long r = 1; r <= rows; r++)
        for (long c = 1; c <= columns; c++)
            if (array(now)[at(r, c)] != exact(r, c, sweeps))
                wrong("after %ld sweeps row %ld, column %ld is %.17g instead of %.17g", sweeps,
                      first_row + r, first_column + c, array(now)[at(r, c)], exact(r, c, sweeps));
}

/* One sweep; the border of the whole domain is set first. */
static void sweep(long number)
{
    double *restrict in = array(now), *restrict out = array(!now);
    long width = columns + 2;
    for (long c = 1; c <= columns; c++) {
        if (neighbour[NORTH] == MPI_PROC_NULL)
            in[at(0, c)] = exact(0, c, number);
        if (neighbour[SOUTH] == MPI_PROC_NULL)
            in[at(rows + 1, c)] = exact(rows + 1, c, number);
    }
    for (long r = 1; r <= rows; r++) {
        if (neighbour[WEST] == MPI_PROC_NULL)
            in[at(r, 0)] = exact(r, 0, number);
        if (neighbour[EAST] == MPI_PROC_NULL)
            in[at(r, columns + 1)] = exact(r, columns + 1, number);
    }
    for (long r = 1; r <= rows; r++)
        for (long c = 1; c <= columns; c++) {
            size_t i = at(r, c);
            out[i] = 0.25 * (in[i - (size_t)width] + in[i + (size_t)width] + in[i - 1] + in[i + 1]);
        }
    now = !now;
}

/* A column is every point of it, a row apart. */
static MPI_Datatype column_type(long height, long width)
{
    MPI_Datatype type;
    MPI_Type_vector((int)height, 1, (int)(width + 2), MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Does all sweeps; exchange gets the border. */
static void run(void (*exchange)(void))
{
    for (long s = 0; s < sweeps; s++) {
        double t0 = MPI_Wtime();
        exchange();
        double t1 = MPI_Wtime();
        sweep(s);
        communication += t1 - t0;
        computation += MPI_Wtime() - t1;
    }
}

/* ---- messages ---- */

static MPI_Datatype column;

static void exchange_messages(void)
{
    MPI_Request r[2 * SIDES];
    double *a = array(now);
    int w = (int)columns;
    MPI_Irecv(&a[at(0, 1)], w, MPI_DOUBLE, neighbour[NORTH], SOUTH, grid, &r[0]);
    MPI_Irecv(&a[at(rows + 1, 1)], w, MPI_DOUBLE, neighbour[SOUTH], NORTH, grid, &r[1]);
    MPI_Irecv(&a[at(1, 0)], 1, column, neighbour[WEST], EAST, grid, &r[2]);
    MPI_Irecv(&a[at(1, columns + 1)], 1, column, neighbour[EAST], WEST, grid, &r[3]);
    MPI_Isend(&a[at(1, 1)], w, MPI_DOUBLE, neighbour[NORTH], NORTH, grid, &r[4]);
    MPI_Isend(&a[at(rows, 1)], w, MPI_DOUBLE, neighbour[SOUTH], SOUTH, grid, &r[5]);
    MPI_Isend(&a[at(1, 1)], 1, column, neighbour[WEST], WEST, grid, &r[6]);
    MPI_Isend(&a[at(1, columns)], 1, column, neighbour[EAST], EAST, grid, &r[7]);
    wait_all(2 * SIDES, r);
}

static void by_messages(void)
{
    column = column_type(rows, columns);
    points = zeroed(2 * array_size(rows, columns), sizeof(double));
    begin();
    MPI_Barrier(grid);
    run(exchange_messages);
    check();
    free(points);
    MPI_Type_free(&column);
}

/* ---- puts between fences ---- */

static MPI_Win win;
static MPI_Datatype their_column[SIDES];

/* Where a point of the array that is read now lies in the window of a neighbour, whose part of the
 * domain may have another size than ours. */
static void shape_of(int side, long *r, long *c)
{
    int its[2] = {0, 0};
    *r = *c = 0;
    if (neighbour[side] == MPI_PROC_NULL)
        return;
    MPI_Cart_coords(grid, neighbour[side], 2, its);
    *r = share(n, dims[0], its[0]);
    *c = share(n, dims[1], its[1]);
}

static MPI_Aint place(int side, long row, long col)
{
    long r, c;
    shape_of(side, &r, &c);
    return (MPI_Aint)((size_t)now * array_size(r, c) + (size_t)(row * (c + 2) + col));
}

static void exchange_puts(void)
{
    long r, c, w = columns;
    double *a = array(now);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    shape_of(NORTH, &r, &c);
    MPI_Put(&a[at(1, 1)], (int)w, MPI_DOUBLE, neighbour[NORTH], place(NORTH, r + 1, 1), (int)w,
            MPI_DOUBLE, win);
    MPI_Put(&a[at(rows, 1)], (int)w, MPI_DOUBLE, neighbour[SOUTH], place(SOUTH, 0, 1), (int)w,
            MPI_DOUBLE, win);
    shape_of(WEST, &r, &c);
    MPI_Put(&a[at(1, 1)], 1, column, neighbour[WEST], place(WEST, 1, c + 1), 1, their_column[WEST],
            win);
    MPI_Put(&a[at(1, columns)], 1, column, neighbour[EAST], place(EAST, 1, 0), 1,
            their_column[EAST], win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void by_puts(void)
{
    column = column_type(rows, columns);
    for (int side = 0; side < SIDES; side++) {
        long r, c;
        shape_of(side, &r, &c);
        their_column[side] = column_type(r, c);
    }
    MPI_Win_allocate(whole_lines(2 * array_size(rows, columns) * sizeof(double)), sizeof(double),
                     MPI_INFO_NULL, grid, &points, &win);
    begin();
    MPI_Barrier(grid);
    run(exchange_puts);
    check();
    MPI_Win_free(&win);
    for (int side = 0; side < SIDES; side++)
        MPI_Type_free(&their_column[side]);
    MPI_Type_free(&column);
}

/* ---- shared memory ---- */

static double *theirs[SIDES]; /* the neighbours' windows, in our address space */

/* The fence orders everybody's stores of the last sweep before the loads behind it. One fence is
 * enough: what is loaded here was written in the sweep before, and will be overwritten only after
 * the next fence. */
static void exchange_loads(void)
{
    long r, c;
    double *restrict a = array(now);
    MPI_Win_fence(0, win);
    if (neighbour[NORTH] != MPI_PROC_NULL) {
        shape_of(NORTH, &r, &c);
        memcpy(&a[at(0, 1)], &theirs[NORTH][place(NORTH, r, 1)], (size_t)columns * sizeof(double));
    }
    if (neighbour[SOUTH] != MPI_PROC_NULL)
        memcpy(&a[at(rows + 1, 1)], &theirs[SOUTH][place(SOUTH, 1, 1)],
               (size_t)columns * sizeof(double));
    if (neighbour[WEST] != MPI_PROC_NULL) {
        shape_of(WEST, &r, &c);
        const double *border = &theirs[WEST][place(WEST, 1, c)];
        for (long i = 0; i < rows; i++)
            a[at(i + 1, 0)] = border[i * (c + 2)];
    }
    if (neighbour[EAST] != MPI_PROC_NULL) {
        shape_of(EAST, &r, &c);
        const double *border = &theirs[EAST][place(EAST, 1, 1)];
        for (long i = 0; i < rows; i++)
            a[at(i + 1, columns + 1)] = border[i * (c + 2)];
    }
}

/* The memory is zeroed by the process that will use it: where each part has its own pages, they
 * come from the memory beside that process's processor. */
static void in_shared_memory(int noncontig)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", noncontig ? "true" : "false");
    MPI_Win_allocate_shared((MPI_Aint)(2 * array_size(rows, columns) * sizeof(double)),
                            sizeof(double), info, grid, &points, &win);
    MPI_Info_free(&info);
    for (int side = 0; side < SIDES; side++) {
        MPI_Aint bytes;
        int unit;
        if (neighbour[side] != MPI_PROC_NULL)
            MPI_Win_shared_query(win, neighbour[side], &bytes, &unit, &theirs[side]);
    }
    MPI_Win_fence(0, win);
    begin();
    run(exchange_loads);
    check();
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void by_shared(void)
{
    in_shared_memory(0);
}

static void by_noncontig(void)
{
    in_shared_memory(1);
}

static const struct {
    const char *name;
    void (*run)(void);
    int in_node; /* needs memory that all processes share */
} ways[] = {{"isend", by_messages, 0},
            {"fence", by_puts, 0},
            {"shared", by_shared, 1},
            {"noncontig", by_noncontig, 1}};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* Can all processes share memory? */
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

/* One size of the domain: medians of both times of each way, and their ratios to the first. */
static void measure(const char *how, long repeats)
{
    static double times[WAYS][2][MAX_REPEATS];
    int near = one_node();
    first_row = n * coords[0] / dims[0];
    first_column = n * coords[1] / dims[1];
    rows = share(n, dims[0], coords[0]);
    columns = share(n, dims[1], coords[1]);
    if (n < dims[0] || n < dims[1])
        wrong("%ld points are too few for %d processes", n, size);
    if (rank == 0)
        printf("poisson: %d x %d processes, %ld x %ld points, %ld sweeps; microseconds a sweep\n"
               "  %-10s %13s %8s %12s %8s\n",
               dims[0], dims[1], n, n, sweeps, "way", "communication", "ratio", "computation",
               "ratio");
    for (int i = 0; i < repeats; i++)
        for (int w = 0; w < WAYS; w++) {
            if (!asked_for(how, ways[w].name) || (ways[w].in_node && !near))
                continue;
            ways[w].run();
            MPI_Allreduce(&communication, &times[w][0][i], 1, MPI_DOUBLE, MPI_MAX, grid);
            MPI_Allreduce(&computation, &times[w][1][i], 1, MPI_DOUBLE, MPI_MAX, grid);
        }
    for (int w = 0; rank == 0 && w < WAYS; w++) {
        double comm = median(times[w][0], (int)repeats), comp = median(times[w][1], (int)repeats);
        double each = 1e6 / (double)sweeps;
        if (!asked_for(how, ways[w].name))
            continue;
        if (ways[w].in_node && !near) {
            printf("  %-10s needs all processes in one node\n", ways[w].name);
            continue;
        }
        write_value("poisson", size, n, ways[w].name, "us of communication", comm * each);
        write_value("poisson", size, n, ways[w].name, "us of computation", comp * each);
        printf("  %-10s %13.3f", ways[w].name, comm * each);
        if (times[0][0][0] > 0)
            printf(" %8.2f %12.3f %8.2f\n", comm / median(times[0][0], (int)repeats), comp * each,
                   comp / median(times[0][1], (int)repeats));
        else
            printf(" %8s %12.3f %8s\n", "-", comp * each, "-");
    }
}

int main(int argc, char **argv)
{
    struct argument a[] = {
        {"from", 128, NULL, "points of the smallest domain's edge"},
        {"to", 1024, NULL, "points of the largest: each is twice the one before"},
        {"sweeps", 50, NULL, "sweeps of a run"},
        {"repeats", 5, NULL, "runs, of which the median is shown"},
        {"how", 0, "all", "isend, fence, shared, noncontig or all"},
        {"csv", 0, "", "file to which all values are written as well"},
        {NULL, 0, NULL, NULL}};
    int open[2] = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_arguments(argc, argv, a);
    sweeps = a[2].number;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, open, 0, &grid);
    MPI_Cart_coords(grid, rank, 2, coords);
    MPI_Cart_shift(grid, 0, 1, &neighbour[NORTH], &neighbour[SOUTH]);
    MPI_Cart_shift(grid, 1, 1, &neighbour[WEST], &neighbour[EAST]);
    open_values(a[5].text);
    for (n = a[0].number; n <= a[1].number; n *= 2)
        measure(a[4].text, a[3].number < MAX_REPEATS ? a[3].number : MAX_REPEATS);
    close_values();
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
