/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transpose.c - the transpose of a matrix that is distributed by rows, with derived datatypes that
 * turn rows into columns on the way.
 *
 * Each process sends a block of its rows to each other. The datatype of the target says where the
 * elements go, in the order in which the origin reads them: down a column instead of along a row.
 * No process copies anything into buffers.
 *
 * Five ways: MPI_Isend and MPI_Irecv with the same datatypes; puts between two fences; puts between
 * MPI_Win_start and MPI_Win_complete; puts under MPI_Win_lock_all with a flush; gets under
 * MPI_Win_lock_all.
 *
 * Checked: every element of the result, whose value says from where it must come.
 */
#include "example.h"

static int rank, size;
static long n; /* the matrix has n rows and columns */

static MPI_Win win, source_win;
static double *from, *to; /* own rows of the matrix and of its transpose */

/* The rows of a process. */
static long first(int process)
{
    return n * process / size;
}

static long rows(int process)
{
    return first(process + 1) - first(process);
}

/* For each process: its columns in our rows (how we read), our rows as columns in its rows (how
 * it stores what we read), and how we store what we read there. */
static MPI_Datatype *block, *stored_there, *stored_here;

/* Rows by columns of a block whose first element is at the address given; one row after another. */
static MPI_Datatype block_type(long height, long width)
{
    MPI_Datatype type;
    MPI_Type_vector((int)height, (int)width, (int)n, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The same elements, going to a block of width rows and height columns: a column for each row. The
 * column's extent is that of one element, so that the next column lies beside it. */
static MPI_Datatype transposed_type(long height, long width)
{
    MPI_Datatype column, beside, type;
    MPI_Type_vector((int)width, 1, (int)n, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, sizeof(double), &beside);
    MPI_Type_contiguous((int)height, beside, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&column);
    MPI_Type_free(&beside);
    return type;
}

static void make_types(void)
{
    block = zeroed((size_t)size, sizeof *block);
    stored_there = zeroed((size_t)size, sizeof *stored_there);
    stored_here = zeroed((size_t)size, sizeof *stored_here);
    for (int p = 0; p < size; p++) {
        block[p] = block_type(rows(rank), rows(p));
        stored_there[p] = transposed_type(rows(rank), rows(p));
        stored_here[p] = transposed_type(rows(p), rows(rank));
    }
}

static void free_types(void)
{
    for (int p = 0; p < size; p++) {
        MPI_Type_free(&block[p]);
        MPI_Type_free(&stored_there[p]);
        MPI_Type_free(&stored_here[p]);
    }
    free(block);
    free(stored_there);
    free(stored_here);
}

static double value(long row, long column)
{
    return (double)(row * n + column + 1);
}

/* Stores into windows are made inside an epoch too. */
static void begin(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(to, 0, (size_t)(rows(rank) * n) * sizeof(double));
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static double end(double began)
{
    double took = MPI_Wtime() - began;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (long r = 0; r < rows(rank); r++)
        for (long c = 0; c < n; c++)
            if (to[r * n + c] != value(c, first(rank) + r))
                wrong("row %ld, column %ld is %g instead of %g", first(rank) + r, c, to[r * n + c],
                      value(c, first(rank) + r));
    MPI_Win_unlock(rank, win);
    return took;
}

static double by_messages(void)
{
    MPI_Request *requests = zeroed(2 * (size_t)size, sizeof *requests);
    begin();
    double began = MPI_Wtime();
    for (int p = 0; p < size; p++)
        MPI_Irecv(&to[first(p)], 1, stored_here[p], p, 0, MPI_COMM_WORLD, &requests[p]);
    for (int p = 0; p < size; p++)
        MPI_Isend(&from[first(p)], 1, block[p], p, 0, MPI_COMM_WORLD, &requests[size + p]);
    wait_all(2 * size, requests);
    double took = end(began);
    free(requests);
    return took;
}

/* A put to every process, beginning with the next one, so that not all begin with the same. */
static void put_blocks(void)
{
    for (int i = 1; i <= size; i++) {
        int p = (rank + i) % size;
        MPI_Put(&from[first(p)], 1, block[p], p, first(rank), 1, stored_there[p], win);
    }
}

static double by_fence(void)
{
    begin();
    double began = MPI_Wtime();
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    put_blocks();
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    return end(began);
}

static double by_pscw(void)
{
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    begin();
    double began = MPI_Wtime();
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
    put_blocks();
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    double took = end(began);
    MPI_Group_free(&all);
    return took;
}

/* Nobody waits for the puts of the others in these calls: a barrier says when all are done. */
static double by_flush(void)
{
    begin();
    MPI_Win_lock_all(0, win);
    double began = MPI_Wtime();
    put_blocks();
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    MPI_Win_unlock_all(win);
    end(began);
    return took;
}

/* What we read of another's rows: its block of our columns. */
static double by_get(void)
{
    MPI_Datatype *theirs = zeroed((size_t)size, sizeof *theirs);
    for (int p = 0; p < size; p++)
        theirs[p] = block_type(rows(p), rows(rank));
    begin();
    MPI_Win_lock_all(0, source_win);
    double began = MPI_Wtime();
    for (int i = 1; i <= size; i++) {
        int p = (rank + i) % size;
        MPI_Get(&to[first(p)], 1, stored_here[p], p, first(rank), 1, theirs[p], source_win);
    }
    MPI_Win_flush_all(source_win);
    double took = MPI_Wtime() - began;
    MPI_Win_unlock_all(source_win);
    end(began);
    for (int p = 0; p < size; p++)
        MPI_Type_free(&theirs[p]);
    free(theirs);
    return took;
}

static const struct way ways[] = {{"isend", by_messages}, {"fence", by_fence}, {"pscw", by_pscw},
                                  {"flush", by_flush},    {"get", by_get},     {NULL, NULL}};

int main(int argc, char **argv)
{
    struct argument a[] = {{"n", 1000, NULL, "rows and columns"},
                           {"repeats", 7, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "isend, fence, pscw, flush, get or all"},
                           {NULL, 0, NULL, NULL}};
    struct times times;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_arguments(argc, argv, a);
    n = a[0].number;
    if (n < size)
        wrong("%ld rows are too few for %d processes", n, size);

    MPI_Aint bytes = whole_lines((size_t)(rows(rank) * n) * sizeof(double));
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &to, &win);
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &from, &source_win);
    for (long r = 0; r < rows(rank); r++)
        for (long c = 0; c < n; c++)
            from[r * n + c] = value(first(rank) + r, c);
    make_types();
    if (rank == 0)
        printf("transpose: %d processes, %ld x %ld; milliseconds\n", size, n, n);
    run_ways(ways, a[2].text, a[1].number, &times);
    print_ways(ways, &times, 1e3);
    free_types();
    MPI_Win_free(&source_win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
