/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify_fallback.c - mpi-rma-notify-fallback.h on a host alone: this program is not linked with
 * the library. Windows of MPI_Win_allocate and of MPI_Win_create; many senders to one receiver, a
 * ring with other datatypes at the target, gets, accumulates, counters and errors, every value
 * checked.
 *
 * Argument: the rounds of many to one (30).
 */
#include <mpi-rma-notify-fallback.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 4, DATA = 0, FREE = 1, TURN = 2, LAST = NUMBERS - 1 };
enum { CELLS = 4096, ADDED = 500, TIMES = 4 };

static int rank, size, rounds = 30, wrong;
static const char *kind;
static int64_t *cell; /* of this process's window */
static MPI_Win win;

/* One line for what is not as it should be. */
static void expect(long long expected, long long saw, const char *what, long long which)
{
    if (saw == expected)
        return;
    printf("notify_fallback: rank %d, %s, %s %lld: expected %lld, saw %lld\n", rank, kind, what,
           which, expected, saw);
    wrong++;
}

static void expect_class(int expected, int code, const char *what)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(code, &class);
    expect(expected, class, what, 0);
}

static void ok(int code, const char *what)
{
    expect_class(MPI_SUCCESS, code, what);
}

static void open_window(bool allocate)
{
    kind = allocate ? "MPI_Win_allocate" : "MPI_Win_create";
    if (allocate) {
        MPI_Win_allocate(CELLS * sizeof *cell, sizeof *cell, MPI_INFO_NULL, MPI_COMM_WORLD, &cell,
                         &win);
    } else {
        cell = malloc(CELLS * sizeof *cell);
        MPI_Win_create(cell, CELLS * sizeof *cell, sizeof *cell, MPI_INFO_NULL, MPI_COMM_WORLD,
                       &win);
    }
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    ok(MPIRMA_Fallback_begin(win, MPI_COMM_WORLD, NUMBERS), "MPIRMA_Fallback_begin");
    MPI_Win_lock_all(0, win);
}

static void close_window(bool allocate)
{
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPIRMA_Fallback_end(win), "MPIRMA_Fallback_end");
    MPI_Win_free(&win);
    if (!allocate)
        free(cell);
}

static void notify(int target, int number)
{
    ok(MPIRMA_Put_notify(NULL, 0, MPI_BYTE, target, 0, 0, MPI_BYTE, win, number),
       "MPIRMA_Put_notify");
}

static void await(int source, int number, MPI_Count count)
{
    ok(MPIRMA_Notify_wait(win, source, number, count), "MPIRMA_Notify_wait");
}

static void many_to_one(void)
{
    for (int i = 0; i < rounds; i++) {
        const int64_t value = (int64_t)i * 1000 + rank;
        if (rank != 0) {
            ok(MPIRMA_Put_notify(&value, 1, MPI_INT64_T, 0, rank, 1, MPI_INT64_T, win, DATA),
               "MPIRMA_Put_notify");
            await(0, FREE, 1);
            continue;
        }
        await(MPI_ANY_SOURCE, DATA, size - 1);
        for (int from = 1; from < size; from++)
            expect((int64_t)i * 1000 + from, cell[from], "value of rank", from);
        for (int to = 1; to < size; to++)
            notify(to, FREE);
    }
}

/* What is counted of one rank, and what of all. */
static void counters(void)
{
    MPI_Count value = -1;

    for (int from = 1; rank == 0 && from < size; from++) {
        ok(MPIRMA_Notify_read(win, from, DATA, &value), "MPIRMA_Notify_read");
        expect(rounds, value, "notifications of rank", from);
        ok(MPIRMA_Notify_reset(win, from, DATA, &value), "MPIRMA_Notify_reset");
        expect(rounds, value, "notifications reset of rank", from);
        ok(MPIRMA_Notify_read(win, from, DATA, &value), "MPIRMA_Notify_read");
        expect(0, value, "notifications left of rank", from);
    }
    ok(MPIRMA_Notify_read(win, MPI_ANY_SOURCE, DATA, &value), "MPIRMA_Notify_read");
    expect(0, value, "notifications of all", DATA);
    ok(MPIRMA_Notify_read(win, MPI_ANY_SOURCE, LAST, &value), "MPIRMA_Notify_read");
    expect(0, value, "notifications of all", LAST);
    ok(MPIRMA_Notify_reset(win, MPI_ANY_SOURCE, FREE, NULL), "MPIRMA_Notify_reset");
}

/* To every other cell of the right neighbour, which lets this process go on when it has looked. */
static void ring(void)
{
    static const int sizes[] = {1, 10, 700, 2000};
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    static int64_t from[CELLS / 2];
    MPI_Datatype every_other;

    ok(MPIRMA_Notify_reset(win, left, DATA, NULL), "MPIRMA_Notify_reset");
    ok(MPIRMA_Notify_reset(win, right, FREE, NULL), "MPIRMA_Notify_reset");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 8; i++) {
        const int n = sizes[i % 4];
        MPI_Type_vector(n, 1, 2, MPI_INT64_T, &every_other);
        MPI_Type_commit(&every_other);
        for (int k = 0; k < n; k++)
            from[k] = i * 1000000 + rank * 10000 + k;
        ok(MPIRMA_Put_notify(from, n, MPI_INT64_T, right, 0, 1, every_other, win, DATA),
           "MPIRMA_Put_notify");
        await(left, DATA, 1);
        for (int k = 0; k < n; k++)
            expect(i * 1000000 + left * 10000 + k, cell[(size_t)k * 2], "cell", k);
        notify(left, FREE);
        await(right, FREE, 1);
        MPI_Type_free(&every_other);
    }
}

/* Rank 0 changes its memory when all others have read it. */
static void gets(void)
{
    static int64_t to[CELLS];

    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 6; i++) {
        const int n = i % 2 ? CELLS : 3;
        if (rank == 0) {
            for (int k = 0; k < n; k++)
                cell[k] = i * 10000 + k;
            MPI_Win_sync(win);
            for (int r = 1; r < size; r++)
                notify(r, TURN);
            await(MPI_ANY_SOURCE, LAST, size - 1);
            continue;
        }
        await(0, TURN, 1);
        ok(MPIRMA_Get_notify(to, n, MPI_INT64_T, 0, 0, n, MPI_INT64_T, win, LAST),
           "MPIRMA_Get_notify");
        for (int k = 0; k < n; k++)
            expect(i * 10000 + k, to[k], "cell that was read", k);
    }
}

/* All add to rank 0, which waits for all, its own included. */
static void accumulates(void)
{
    static int64_t numbers[ADDED];

    memset(cell, 0, sizeof numbers);
    for (int i = 0; i < ADDED; i++)
        numbers[i] = i;
    MPI_Win_sync(win);
    ok(MPIRMA_Notify_reset(win, MPI_ANY_SOURCE, TURN, NULL), "MPIRMA_Notify_reset");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++)
        ok(MPIRMA_Accumulate_notify(numbers, ADDED, MPI_INT64_T, 0, 0, ADDED, MPI_INT64_T, MPI_SUM,
                                    win, TURN),
           "MPIRMA_Accumulate_notify");
    if (rank != 0)
        return;
    await(MPI_ANY_SOURCE, TURN, (MPI_Count)TIMES * size);
    for (int i = 0; i < ADDED; i++)
        expect((long long)i * TIMES * size, cell[i], "sum", i);
}

/* Each process raises two numbers of itself, one of them twice. */
static void tests_and_ranges(void)
{
    int flag = 7, id = 7;

    for (int i = 0; i < NUMBERS; i++)
        ok(MPIRMA_Notify_reset(win, rank, i, NULL), "MPIRMA_Notify_reset");
    ok(MPIRMA_Notify_testany(win, rank, 0, NUMBERS, 1, &flag, &id), "MPIRMA_Notify_testany");
    expect(0, flag, "nothing has come", 0);
    expect(MPI_UNDEFINED, id, "number of nothing", 0);
    notify(rank, TURN);
    notify(rank, LAST);
    notify(rank, LAST);
    ok(MPIRMA_Notify_waitany(win, rank, 0, NUMBERS, 2, &id), "MPIRMA_Notify_waitany");
    expect(LAST, id, "number of which two have come", 0);
    ok(MPIRMA_Notify_testany(win, rank, 1, 2, 1, &flag, &id), "MPIRMA_Notify_testany");
    expect(1, flag, "one has come", 0);
    expect(TURN, id, "number of which one has come", 0);
    ok(MPIRMA_Notify_test(win, rank, TURN, 1, &flag), "MPIRMA_Notify_test");
    expect(0, flag, "it was taken", 0);
    ok(MPIRMA_Notify_waitany(win, MPI_PROC_NULL, 0, NUMBERS, 2, &id), "MPIRMA_Notify_waitany");
    expect(MPI_UNDEFINED, id, "number of nobody's", 0);
}

static void errors(void)
{
    const int64_t value = 0;
    MPI_Count come = 77;
    int id = 77;

    expect_class(MPI_ERR_ARG,
                 MPIRMA_Put_notify(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win, NUMBERS),
                 "a put with a number that is none");
    expect_class(MPI_ERR_ARG, MPIRMA_Notify_read(win, 0, -1, &come), "reading such a number");
    expect_class(MPI_ERR_RANK, MPIRMA_Notify_read(win, size, DATA, &come), "a source that is none");
    expect_class(MPI_ERR_ARG, MPIRMA_Notify_wait(win, 0, DATA, -1), "waiting for less than none");
    expect_class(MPI_ERR_ARG, MPIRMA_Notify_waitany(win, 0, 1, NUMBERS, 1, &id),
                 "a range too long");
    expect_class(MPI_ERR_ARG, MPIRMA_Notify_waitany(win, 0, 1, 0, 1, &id), "no range");
    expect(77, come, "what an error leaves alone", 0);
    expect(77, id, "what an error leaves alone", 1);
    ok(MPIRMA_Put_notify(&value, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, win, DATA),
       "MPIRMA_Put_notify to MPI_PROC_NULL");
    expect_class(MPI_ERR_ARG, MPIRMA_Fallback_begin(win, MPI_COMM_WORLD, 0), "no number at all");
}

int main(int argc, char **argv)
{
    int all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        rounds = atoi(argv[1]);
    for (int allocate = 0; allocate < 2; allocate++) {
        open_window(allocate);
        many_to_one();
        MPI_Barrier(MPI_COMM_WORLD); /* the two counters of a notification are raised one by one */
        counters();
        MPI_Barrier(MPI_COMM_WORLD);
        ring();
        gets();
        MPI_Barrier(MPI_COMM_WORLD);
        accumulates();
        tests_and_ranges();
        errors();
        close_window(allocate);
    }
    expect_class(MPI_ERR_WIN, MPIRMA_Notify_reset(win, 0, 0, NULL), "no window");
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("notify_fallback: %s, %d processes, %d values wrong\n", all ? "FAILED" : "ok", size,
               all);
    MPI_Finalize();
    return all != 0;
}
