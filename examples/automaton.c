/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * automaton.c - a cellular automaton on a field that is cut into strips: each process has some
 * rows, and before each step gets one row of 8 KB from each of its two neighbours. A cell's next
 * state depends on itself and its eight neighbours.
 *
 * Every way sends the rows first, computes the inner rows while they travel, then the first and the
 * last row. Four ways: MPI_Isend and MPI_Irecv; puts between two fences; puts with post, start,
 * complete and wait; puts under MPI_Win_lock, with a message of no bytes that says they are there.
 *
 * Checked: the field after the last step against one that rank 0 computed alone, as often as the
 * other runs, while all other processes sleep. The median of its times is also what the speed-up is
 * measured by. The field is a torus; its size does not grow with the number
 * of processes.
 */
#include "example.h"

static int rank, size, up, down; /* neighbours: the rows before ours, the rows behind ours */
static long rows, width, steps;
static long first, mine; /* our rows of the field, and how many */

/* Two fields, of which each step reads one and writes the other; around our rows, row 0 and row
 * mine + 1 have copies of the neighbours' rows. Both are in one window. */
static MPI_Win win;
static unsigned char *cells;
static int now; /* which of them is read */

/* What the whole field must be in the end (on every process our rows of it). */
static unsigned char *expected;

static size_t at(int field, long row, long column)
{
    return ((size_t)field * (size_t)(mine + 2) + (size_t)row) * (size_t)width + (size_t)column;
}

static unsigned char start_cell(long row, long column)
{
    return (unsigned char)((row * 31 + column * 17 + row * column) % 251);
}

/* One row from the three around it. The sum of the nine cells and the rule's own step make a
 * pattern in which every cell soon depends on every other near it. */
static void next_row(unsigned char *restrict out, const unsigned char *restrict above,
                     const unsigned char *restrict row, const unsigned char *restrict below)
{
    for (long c = 0; c < width; c++) {
        long left = c > 0 ? c - 1 : width - 1, right = c + 1 < width ? c + 1 : 0;
        unsigned sum = 0u + above[left] + above[c] + above[right] + row[left] + 3u * row[c] +
                       row[right] + below[left] + below[c] + below[right];
        out[c] = (unsigned char)(sum + (sum >> 5));
    }
}

/* Rows from..to of the next field. */
static void update(long from, long to)
{
    for (long r = from; r <= to; r++)
        next_row(&cells[at(!now, r, 0)], &cells[at(now, r - 1, 0)], &cells[at(now, r, 0)],
                 &cells[at(now, r + 1, 0)]);
}

static void update_inner(void)
{
    update(2, mine - 1);
}

static void update_border(void)
{
    update(1, 1);
    if (mine > 1)
        update(mine, mine);
    now = !now;
}

/* Our first row goes behind the rows of the one above, our last row before those of the one below.
 * Neighbours may have one row more or less than we have. */
static long rows_of(int process)
{
    return rows * (process + 1) / size - rows * process / size;
}

static void put_row(long row, int target, long target_row)
{
    MPI_Aint place = ((MPI_Aint)now * (rows_of(target) + 2) + target_row) * width;
    MPI_Put(&cells[at(now, row, 0)], (int)width, MPI_BYTE, target, place, (int)width, MPI_BYTE,
            win);
}

static void put_rows(void)
{
    put_row(1, up, rows_of(up) + 1);
    put_row(mine, down, 0);
}

static void begin(void)
{
    now = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(cells, 0, at(2, 0, 0));
    for (long r = 0; r < mine; r++)
        for (long c = 0; c < width; c++)
            cells[at(0, r + 1, c)] = start_cell(first + r, c);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static double end(double began)
{
    double took = MPI_Wtime() - began;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (long r = 0; r < mine; r++)
        for (long c = 0; c < width; c++)
            if (cells[at(now, r + 1, c)] != expected[r * width + c])
                wrong("after %ld steps the cell in row %ld, column %ld is %d instead of %d", steps,
                      first + r, c, cells[at(now, r + 1, c)], expected[r * width + c]);
    MPI_Win_unlock(rank, win);
    return took;
}

static double by_messages(void)
{
    begin();
    double began = MPI_Wtime();
    for (long s = 0; s < steps; s++) {
        MPI_Request requests[4];
        MPI_Irecv(&cells[at(now, 0, 0)], (int)width, MPI_BYTE, up, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&cells[at(now, mine + 1, 0)], (int)width, MPI_BYTE, down, 1, MPI_COMM_WORLD,
                  &requests[1]);
        MPI_Isend(&cells[at(now, mine, 0)], (int)width, MPI_BYTE, down, 0, MPI_COMM_WORLD,
                  &requests[2]);
        MPI_Isend(&cells[at(now, 1, 0)], (int)width, MPI_BYTE, up, 1, MPI_COMM_WORLD, &requests[3]);
        update_inner();
        wait_all(4, requests);
        update_border();
    }
    return end(began);
}

/* The first fence opens an epoch only; the last one closes one only; each in between does both. */
static double by_fence(void)
{
    begin();
    double began = MPI_Wtime();
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (long s = 0; s < steps; s++) {
        put_rows();
        update_inner();
        MPI_Win_fence(s + 1 < steps ? 0 : MPI_MODE_NOSUCCEED, win);
        update_border();
    }
    return end(began);
}

/* The neighbours as a group, in which each process is once. */
static MPI_Group neighbours(void)
{
    MPI_Group all, group;
    int ranks[2] = {up, down};
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, up == down ? 1 : 2, ranks, &group);
    MPI_Group_free(&all);
    return group;
}

static double by_pscw(void)
{
    MPI_Group group = neighbours();
    begin();
    double began = MPI_Wtime();
    for (long s = 0; s < steps; s++) {
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
        put_rows();
        update_inner();
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        update_border();
    }
    double took = end(began);
    MPI_Group_free(&group);
    return took;
}

/* The unlock returns when the row is in the neighbour's memory, but the neighbour does not know:
 * an empty message tells it. Nobody can run ahead: our halo of the other field is written only by
 * neighbours that have our message of this step. The lock of our own memory makes what others put
 * there visible to our loads. */
static double by_lock(void)
{
    begin();
    double began = MPI_Wtime();
    for (long s = 0; s < steps; s++) {
        MPI_Request requests[4];
        MPI_Irecv(NULL, 0, MPI_BYTE, up, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(NULL, 0, MPI_BYTE, down, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Win_lock(MPI_LOCK_SHARED, up, 0, win);
        put_row(1, up, rows_of(up) + 1);
        MPI_Win_unlock(up, win);
        MPI_Isend(NULL, 0, MPI_BYTE, up, 1, MPI_COMM_WORLD, &requests[2]);
        MPI_Win_lock(MPI_LOCK_SHARED, down, 0, win);
        put_row(mine, down, 0);
        MPI_Win_unlock(down, win);
        MPI_Isend(NULL, 0, MPI_BYTE, down, 0, MPI_COMM_WORLD, &requests[3]);
        update_inner();
        wait_all(4, requests);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
        update_border();
        MPI_Win_unlock(rank, win);
    }
    return end(began);
}

/* All steps of the whole field, in two fields of which each step reads one. Returns their time. */
static double compute_field(unsigned char *field[2])
{
    for (long i = 0; i < rows * width; i++)
        field[0][i] = start_cell(i / width, i % width);
    double began = MPI_Wtime();
    for (long s = 0; s < steps; s++)
        for (long r = 0; r < rows; r++)
            next_row(&field[(s + 1) % 2][r * width], &field[s % 2][(r + rows - 1) % rows * width],
                     &field[s % 2][r * width], &field[s % 2][(r + 1) % rows * width]);
    return MPI_Wtime() - began;
}

/* Rank 0 computes the whole field, so many times, the others sleep. Returns the median. */
static double compute_alone(long repeats)
{
    static double seconds[MAX_REPEATS];
    double took = 0;
    int *counts = zeroed((size_t)size, sizeof(int)), *places = zeroed((size_t)size, sizeof(int));
    unsigned char *field[2] = {NULL, NULL};
    size_t bytes = (size_t)(rows * width);
    for (int p = 0; p < size; p++) {
        counts[p] = (int)(rows_of(p) * width);
        places[p] = (int)(rows * p / size * width);
    }
    if (rank == 0) {
        field[0] = zeroed(bytes, 1);
        field[1] = zeroed(bytes, 1);
        for (long i = 0; i < repeats; i++)
            seconds[i] = compute_field(field);
        took = median(seconds, (int)repeats);
    }
    quiet_barrier();
    MPI_Scatterv(field[steps % 2], counts, places, MPI_BYTE, expected, counts[rank], MPI_BYTE, 0,
                 MPI_COMM_WORLD);
    MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    free(field[0]);
    free(field[1]);
    free(counts);
    free(places);
    return took;
}

static const struct way ways[] = {{"isend", by_messages},
                                  {"fence", by_fence},
                                  {"pscw", by_pscw},
                                  {"lock", by_lock},
                                  {NULL, NULL}};

int main(int argc, char **argv)
{
    struct argument a[] = {{"rows", 512, NULL, "rows of the field"},
                           {"width", 8192, NULL, "cells of a row, one byte each"},
                           {"steps", 20, NULL, "steps"},
                           {"repeats", 5, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "isend, fence, pscw, lock or all"},
                           {"csv", 0, "", "file to which all values are written as well"},
                           {NULL, 0, NULL, NULL}};
    struct times times;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_arguments(argc, argv, a);
    rows = a[0].number;
    width = a[1].number;
    steps = a[2].number;
    up = (rank + size - 1) % size;
    down = (rank + 1) % size;
    first = rows * rank / size;
    mine = rows_of(rank);
    if (rows < size)
        wrong("%ld rows are too few for %d processes", rows, size);

    expected = zeroed((size_t)(mine * width), 1);
    open_values(a[5].text);
    double alone = compute_alone(a[3].number < MAX_REPEATS ? a[3].number : MAX_REPEATS);
    MPI_Win_allocate(whole_lines(at(2, 0, 0)), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
    run_ways(ways, a[4].text, a[3].number, &times);
    if (rank == 0)
        printf("automaton: %d processes, %ld x %ld cells, %ld steps; milliseconds a step\n", size,
               rows, width, steps);
    print_ways(ways, &times, 1e3 / (double)steps);
    for (int w = 0; rank == 0 && ways[w].name; w++)
        if (times.median[w] > 0) {
            printf("  speed-up of %s against one process: %.2f\n", ways[w].name,
                   alone / times.median[w]);
            write_value("automaton", size, rows, ways[w].name, "speed-up", alone / times.median[w]);
        }
    close_values();
    MPI_Win_free(&win);
    free(expected);
    MPI_Finalize();
    return 0;
}
