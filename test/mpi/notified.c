/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified.c - notified access (doc/notified.md) on windows of every kind, every value checked:
 * many senders to one receiver, exchanges between neighbours of every size, gets, accumulates,
 * notifications alone, tests and ranges of numbers, requests beside others and after those that
 * have failed, and errors. notified_epochs.c has each kind of epoch.
 *
 * Argument: the rounds of many to one (300). No process synchronizes otherwise than by
 * notifications in between: what is early or lost is seen as a wrong value or as a wait that does
 * not end.
 */
#include "notified.h"

static int rounds = 300;

static bool make(struct mt_win *w, enum mt_kind kind, MPI_Aint bytes)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_notifications", "8");
    const bool made = mt_win_make_info(w, kind, bytes, 1, info, MPI_COMM_WORLD);
    MPI_Info_free(&info);
    return made;
}

static int64_t value_of(int round, int rank)
{
    return (int64_t)round * 1000 + rank;
}

/* Every other rank puts a value to rank 0 in each round; that checks them all, then lets each go on
 * by a notification without data. */
static void many_to_one(struct mt_win *w)
{
    mt_section("%s: many to one", mt_kind_name(w->kind));
    MT_OK(MPI_Win_lock_all(0, w->win));
    for (int i = 0; i < rounds; i++) {
        if (w->rank != 0) {
            const int64_t value = value_of(i, w->rank);
            MT_OK(MPIRMA_Put_notify(&value, 1, MPI_INT64_T, 0, mt_disp(w, 0, 8 * w->rank), 1,
                                    MPI_INT64_T, w->win, DATA));
            MT_OK(MPIRMA_Notify_wait(w->win, 0, FREE, 1));
            MT_OK(MPI_Win_flush_local(0, w->win));
            continue;
        }
        MT_OK(MPIRMA_Notify_wait(w->win, MPI_ANY_SOURCE, DATA, w->size - 1));
        for (int from = 1; from < w->size; from++) {
            int64_t saw;
            memcpy(&saw, w->base + 8 * from, sizeof saw);
            CHECK(saw == value_of(i, from), "round %d, rank %d: expected %lld, saw %lld", i, from,
                  (long long)value_of(i, from), (long long)saw);
        }
        for (int to = 1; to < w->size; to++)
            MT_OK(MPIRMA_Put_notify(NULL, 0, MPI_BYTE, to, mt_disp(w, to, 0), 0, MPI_BYTE, w->win,
                                    FREE));
    }
    MT_OK(MPI_Win_unlock_all(w->win));
}

/* What was counted of one rank and of all is told apart, and reset. */
static void counts(struct mt_win *w)
{
    MPI_Count value = -1;

    mt_section("%s: counts", mt_kind_name(w->kind));
    if (w->rank == 0) {
        MT_OK(MPIRMA_Notify_read(w->win, MPI_ANY_SOURCE, DATA, &value));
        CHECK(value == 0, "all were taken, %lld are left", (long long)value);
        for (int from = 1; from < w->size; from++) {
            MT_OK(MPIRMA_Notify_read(w->win, from, DATA, &value));
            CHECK(value == rounds, "rank %d: %lld of %d", from, (long long)value, rounds);
            MT_OK(MPIRMA_Notify_reset(w->win, from, DATA, &value));
            CHECK(value == rounds, "rank %d: %lld of %d", from, (long long)value, rounds);
            MT_OK(MPIRMA_Notify_read(w->win, from, DATA, &value));
            CHECK(value == 0, "rank %d: %lld after the reset", from, (long long)value);
        }
    }
    MT_OK(MPIRMA_Notify_read(w->win, MPI_ANY_SOURCE, LAST, &value));
    CHECK(value == 0, "number %d was never used, and has %lld", LAST, (long long)value);
    MT_OK(MPIRMA_Notify_reset(w->win, MPI_ANY_SOURCE, FREE, NULL));
}

/* Each puts to its right neighbour, in turn contiguous and every other int, and waits for its left
 * one; who has read lets the left one go on. */
static void ring(struct mt_win *w)
{
    static const int sizes[] = {4, 64, 4000, 20000, 100000, LARGEST};
    const int right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    MPI_Datatype every_other;
    int *from = malloc(2 * LARGEST);

    mt_section("%s: ring", mt_kind_name(w->kind));
    MT_OK(MPIRMA_Notify_reset(w->win, left, DATA, NULL));
    MT_OK(MPIRMA_Notify_reset(w->win, right, FREE, NULL));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock_all(0, w->win));
    for (int i = 0; i < 24; i++) {
        const int n = sizes[i % 6] / 4, stride = i / 6 % 2 + 1;
        MPI_Type_vector(n, 1, stride, MPI_INT, &every_other);
        MPI_Type_commit(&every_other);
        for (int k = 0; k < n; k++)
            from[k] = i * 1000000 + w->rank * 100000 + k;
        MT_OK(MPIRMA_Put_notify(from, n, MPI_INT, right, mt_disp(w, right, 0), 1, every_other,
                                w->win, DATA));
        MT_OK(MPIRMA_Notify_wait(w->win, left, DATA, 1));
        for (int k = 0; k < n; k++) {
            int saw;
            memcpy(&saw, w->base + 4 * (size_t)(k * stride), sizeof saw);
            if (!CHECK(saw == i * 1000000 + left * 100000 + k, "message %d, int %d: saw %d", i, k,
                       saw))
                break;
        }
        MT_OK(MPIRMA_Put_notify(NULL, 0, MPI_BYTE, left, mt_disp(w, left, 0), 0, MPI_BYTE, w->win,
                                FREE));
        MT_OK(MPIRMA_Notify_wait(w->win, right, FREE, 1));
        MT_OK(MPI_Win_flush_local(right, w->win));
        MPI_Type_free(&every_other);
    }
    MT_OK(MPI_Win_unlock_all(w->win));
    free(from);
}

/* Rank 0 changes its memory when all others have read it, and they find each value in turn. */
static void gets(struct mt_win *w)
{
    static const int sizes[] = {8, 3000, 30000, LARGEST};
    char *to = malloc(LARGEST);

    mt_section("%s: gets", mt_kind_name(w->kind));
    MT_OK(MPI_Win_lock_all(0, w->win));
    for (int i = 0; i < 16; i++) {
        const int size = sizes[i % 4];
        if (w->rank == 0) {
            memset(w->base, i + 1, (size_t)size);
            MT_OK(MPI_Win_sync(w->win));
            for (int r = 1; r < w->size; r++)
                MT_OK(MPIRMA_Put_notify(NULL, 0, MPI_BYTE, r, mt_disp(w, r, 0), 0, MPI_BYTE, w->win,
                                        TURN));
            MT_OK(MPIRMA_Notify_wait(w->win, MPI_ANY_SOURCE, LAST, w->size - 1));
            continue;
        }
        MT_OK(MPIRMA_Notify_wait(w->win, 0, TURN, 1));
        MT_OK(MPIRMA_Get_notify(to, size, MPI_BYTE, 0, mt_disp(w, 0, 0), size, MPI_BYTE, w->win,
                                LAST));
        MT_OK(MPI_Win_flush(0, w->win));
        CHECK_BYTES(to, (size_t)size, i + 1);
    }
    MT_OK(MPI_Win_unlock_all(w->win));
    free(to);
}

/* All, rank 0 included, add to its elements, and it waits for all. */
static void accumulates(struct mt_win *w)
{
    enum { N = 3000, TIMES = 5 };
    static int64_t ones[N];

    mt_section("%s: accumulates", mt_kind_name(w->kind));
    memset(w->base, 0, sizeof ones);
    for (int i = 0; i < N; i++)
        ones[i] = i;
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock_all(0, w->win));
    for (int i = 0; i < TIMES; i++)
        MT_OK(MPIRMA_Accumulate_notify(ones, i % 2 ? N : 2, MPI_INT64_T, 0, mt_disp(w, 0, 0),
                                       i % 2 ? N : 2, MPI_INT64_T, MPI_SUM, w->win, TURN));
    if (w->rank == 0) {
        MT_OK(MPIRMA_Notify_wait(w->win, MPI_ANY_SOURCE, TURN, (MPI_Count)TIMES * w->size));
        for (int i = 0; i < N; i++) {
            int64_t saw;
            memcpy(&saw, w->base + 8 * i, sizeof saw);
            if (!CHECK(saw == (int64_t)i * w->size * (i < 2 ? TIMES : TIMES / 2),
                       "element %d: saw %lld", i, (long long)saw))
                break;
        }
    }
    MT_OK(MPI_Win_unlock_all(w->win));
}

/* Requests for notifications beside a receive, in both families; one that is never satisfied. */
static void requests(struct mt_win *w)
{
    const int right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    MPI_Request all[3], never;
    int flag = 1, index = -1, got = -1;
    MPI_Status status, statuses[3];

    mt_section("%s: requests", mt_kind_name(w->kind));
    MT_OK(MPIRMA_Notify_reset(w->win, left, DATA, NULL));
    MT_OK(MPIRMA_Notify_reset(w->win, MPI_ANY_SOURCE, LAST, NULL));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock_all(0, w->win));
    MT_OK(MPIRMA_Notify_init(w->win, left, DATA, 2, &all[0]));
    MT_OK(MPIRMA_Notify_init(w->win, MPI_ANY_SOURCE, LAST, 1, &all[1]));
    MT_OK(MPIRMA_Notify_init(w->win, right, DATA, 1000, &never));
    MT_OK(MPI_Start(&never));
    for (int i = 0; i < 20; i++) {
        const int32_t value[2] = {i, w->rank};
        MT_OK(MPI_Startall(2, all));
        MT_OK(MPI_Irecv(&got, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &all[2]));
        for (int k = 0; k < 2; k++)
            MT_OK(MPIRMA_Put_notify(&value[k], 1, MPI_INT32_T, right, mt_disp(w, right, 4 * k), 1,
                                    MPI_INT32_T, w->win, DATA));
        MT_OK(MPIRMA_Put_notify(NULL, 0, MPI_BYTE, right, mt_disp(w, right, 0), 0, MPI_BYTE, w->win,
                                LAST));
        MT_OK(MPI_Send(&i, 1, MPI_INT, right, 3, MPI_COMM_WORLD));
        if (i % 3 == 0)
            MT_OK(MPI_Waitall(3, all, statuses));
        for (int k = 0; i % 3 == 1 && k < 3; k++)
            MT_OK(MPI_Waitany(3, all, &index, &status));
        for (flag = 0; i % 3 == 2 && !flag;)
            MT_OK(MPI_Testall(3, all, &flag, statuses));
        int32_t saw[2];
        memcpy(saw, w->base, sizeof saw);
        CHECK(saw[0] == i && saw[1] == left && got == i, "round %d: saw %d, %d and %d", i, saw[0],
              saw[1], got);
        CHECK(all[0] != MPI_REQUEST_NULL && all[1] != MPI_REQUEST_NULL, "they are persistent");
        MT_OK(MPI_Barrier(MPI_COMM_WORLD)); /* or the next round's would be overwritten */
    }
    MT_OK(MPI_Test(&never, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag, "a request for more than have come is complete");
    MT_OK(MPI_Cancel(&never));
    MT_OK(MPI_Wait(&never, &status));
    MT_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag, "the request was not cancelled");
    MT_OK(MPI_Start(&never));
    MT_OK(MPI_Request_free(&never));
    MT_OK(MPI_Request_free(&all[0]));
    MT_OK(MPI_Request_free(&all[1]));
    MT_OK(MPI_Win_unlock_all(w->win));
}

/* What is taken if it is there, and of which of a range: each raises numbers of its right
 * neighbour, which finds them by tests and waits for ranges; large counts. */
static void tests_and_ranges(struct mt_win *w)
{
    const int right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    int flag = 7, id = 7;
    MPI_Count value = -1;

    mt_section("%s: tests and ranges", mt_kind_name(w->kind));
    for (int i = 0; i < NUMBERS; i++) {
        MT_OK(MPIRMA_Notify_reset(w->win, left, i, NULL));
        MT_OK(MPIRMA_Notify_reset(w->win, MPI_ANY_SOURCE, i, NULL));
    }
    MT_OK(MPIRMA_Notify_test(w->win, left, 4, 1, &flag));
    CHECK(flag == 0, "a notification that nobody has raised");
    MT_OK(MPIRMA_Notify_testany(w->win, left, 0, NUMBERS, 1, &flag, &id));
    CHECK(flag == 0 && id == MPI_UNDEFINED, "number %d, that nobody has raised", id);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock_all(0, w->win));
    const int64_t word = 1000 + w->rank;
    MT_OK(MPIRMA_Put_notify_c(&word, 1, MPI_INT64_T, right, mt_disp(w, right, 0), 1, MPI_INT64_T,
                              w->win, 6));
    for (int i = 0; i < 2; i++)
        MT_OK(MPIRMA_Accumulate_notify_c(&word, 1, MPI_INT64_T, right, mt_disp(w, right, 8), 1,
                                         MPI_INT64_T, MPI_REPLACE, w->win, 3));
    MT_OK(MPIRMA_Notify_wait(w->win, left, 6, 1));
    MT_OK(MPIRMA_Notify_waitany(w->win, left, 0, NUMBERS, 2, &id));
    CHECK(id == 3, "two have come of number 3, not of %d", id);
    MT_OK(MPIRMA_Notify_read(w->win, left, 3, &value));
    CHECK(value == 0, "they were taken, %lld are left", (long long)value);
    int64_t saw[2];
    memcpy(saw, w->base, sizeof saw);
    CHECK(saw[0] == 1000 + left && saw[1] == 1000 + left, "saw %lld and %lld", (long long)saw[0],
          (long long)saw[1]);
    MT_OK(MPI_Win_flush(right, w->win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD)); /* what the neighbour reads is in place */
    int64_t got = -1;
    MT_OK(MPIRMA_Get_notify_c(&got, 1, MPI_INT64_T, right, mt_disp(w, right, 0), 1, MPI_INT64_T,
                              w->win, 2));
    MT_OK(MPI_Win_flush(right, w->win));
    CHECK(got == word, "saw %lld, what it has put is %lld", (long long)got, (long long)word);
    for (flag = 0; !flag;)
        MT_OK(MPIRMA_Notify_test(w->win, MPI_ANY_SOURCE, 2, 1, &flag));
    MT_OK(MPIRMA_Notify_test(w->win, MPI_ANY_SOURCE, 2, 1, &flag));
    CHECK(flag == 0, "a notification was taken twice");
    /* Those of any source: number 3 twice, 6 once; the lowest that is asked for comes first. */
    MT_OK(MPIRMA_Notify_testany(w->win, MPI_ANY_SOURCE, 4, NUMBERS - 4, 1, &flag, &id));
    CHECK(flag == 1 && id == 6, "flag %d, number %d, not 6", flag, id);
    MT_OK(MPIRMA_Notify_testany(w->win, MPI_ANY_SOURCE, 0, NUMBERS, 1, &flag, &id));
    CHECK(flag == 1 && id == 3, "flag %d, number %d, not 3", flag, id);
    MT_OK(MPIRMA_Notify_testany(w->win, MPI_ANY_SOURCE, 0, NUMBERS, 2, &flag, &id));
    CHECK(flag == 0 && id == MPI_UNDEFINED, "flag %d, number %d, and one is left", flag, id);
    MT_OK(MPI_Win_unlock_all(w->win));
}

/* Nothing has come of MPI_PROC_NULL, and what is awaited of it is there. */
static void of_nobody(struct mt_win *w)
{
    MPI_Count value = 7;
    int flag = 0, id = 7;
    MPI_Request request;

    mt_section("%s: of MPI_PROC_NULL", mt_kind_name(w->kind));
    MT_OK(MPIRMA_Notify_read(w->win, MPI_PROC_NULL, DATA, &value));
    CHECK(value == 0, "%lld have come", (long long)value);
    value = 7;
    MT_OK(MPIRMA_Notify_reset(w->win, MPI_PROC_NULL, DATA, &value));
    CHECK(value == 0, "%lld were taken", (long long)value);
    MT_OK(MPIRMA_Notify_wait(w->win, MPI_PROC_NULL, DATA, 3));
    MT_OK(MPIRMA_Notify_test(w->win, MPI_PROC_NULL, DATA, 3, &flag));
    CHECK(flag == 1, "what is awaited is not there");
    MT_OK(MPIRMA_Notify_waitany(w->win, MPI_PROC_NULL, 0, NUMBERS, 3, &id));
    CHECK(id == MPI_UNDEFINED, "number %d", id);
    flag = 0, id = 7;
    MT_OK(MPIRMA_Notify_testany(w->win, MPI_PROC_NULL, 0, NUMBERS, 3, &flag, &id));
    CHECK(flag == 1 && id == MPI_UNDEFINED, "flag %d, number %d", flag, id);
    MT_OK(MPIRMA_Notify_init(w->win, MPI_PROC_NULL, DATA, 3, &request));
    for (int i = 0; i < 3; i++) {
        MT_OK(MPI_Start(&request));
        MT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    MT_OK(MPI_Request_free(&request));
    CHECK_ERR(MPIRMA_Notify_wait(w->win, MPI_PROC_NULL, NUMBERS, 1), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_wait(w->win, MPI_PROC_NULL, DATA, -1), MPI_ERR_ARG);
}

/* Requests of a window that is freed fail, and those that are made then, which may have their
 * handles, do not: requests for notifications, and the host's own. */
static void after_failed_requests(struct mt_win *w)
{
    enum { FAILED = 3, LATER = 6 };
    const int right = (w->rank + 1) % w->size;
    MPI_Request failed[FAILED], later;
    struct mt_win gone;

    mt_section("%s: after requests that have failed", mt_kind_name(w->kind));
    if (!make(&gone, w->kind, 64))
        return;
    for (int i = 0; i < FAILED; i++) {
        MT_OK(MPIRMA_Notify_init(gone.win, MPI_ANY_SOURCE, DATA, 1, &failed[i]));
        MT_OK(MPI_Start(&failed[i]));
    }
    mt_win_free(&gone);
    for (int i = 0; i < FAILED; i++) {
        CHECK_ERR(MPI_Wait(&failed[i], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        if (failed[i] != MPI_REQUEST_NULL)
            MT_OK(MPI_Request_free(&failed[i]));
    }
    MT_OK(MPIRMA_Notify_reset(w->win, MPI_ANY_SOURCE, LAST, NULL));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock_all(0, w->win));
    for (int i = 0; i < LATER; i++) {
        int word = 0, flag = 0;
        if (i % 2) {
            MT_OK(MPI_Recv_init(&word, 1, MPI_INT, w->rank, 5, MPI_COMM_WORLD, &later));
            MT_OK(MPI_Start(&later));
            MT_OK(MPI_Test(&later, &flag, MPI_STATUS_IGNORE));
            CHECK(!flag, "a receive is complete before its message");
            MT_OK(MPI_Send(&i, 1, MPI_INT, w->rank, 5, MPI_COMM_WORLD));
        } else {
            MT_OK(MPIRMA_Notify_init(w->win, MPI_ANY_SOURCE, LAST, 1, &later));
            MT_OK(MPI_Start(&later));
            MT_OK(MPIRMA_Put_notify(NULL, 0, MPI_BYTE, right, mt_disp(w, right, 0), 0, MPI_BYTE,
                                    w->win, LAST));
        }
        MT_OK(MPI_Wait(&later, MPI_STATUS_IGNORE));
        CHECK(i % 2 == 0 || word == i, "received %d, not %d", word, i);
        MT_OK(MPI_Request_free(&later));
    }
    MT_OK(MPI_Win_unlock_all(w->win));
}

static void errors(struct mt_win *w)
{
    MPI_Count value = 77;
    MPI_Request request;
    struct mt_win none;
    int x = 0, flag = 77;

    mt_section("%s: errors", mt_kind_name(w->kind));
    CHECK_ERR(MPIRMA_Put_notify(&x, 1, MPI_INT, 0, mt_disp(w, 0, 0), 1, MPI_INT, w->win, DATA),
              MPI_ERR_RMA_SYNC);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    CHECK_ERR(MPIRMA_Put_notify(&x, 1, MPI_INT, 0, mt_disp(w, 0, 0), 1, MPI_INT, w->win, NUMBERS),
              MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Get_notify(&x, 1, MPI_INT, 0, mt_disp(w, 0, 0), 1, MPI_INT, w->win, -1),
              MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Accumulate_notify(&x, 1, MPI_INT, 0, mt_disp(w, 0, 0), 1, MPI_INT, MPI_SUM,
                                       w->win, NUMBERS),
              MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Put_notify(&x, 1, MPI_INT, w->size, 0, 1, MPI_INT, w->win, DATA),
              MPI_ERR_RANK);
    MT_OK(MPIRMA_Put_notify(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, DATA));
    MT_OK(MPI_Win_unlock(0, w->win));
    CHECK_ERR(MPIRMA_Put_notify(NULL, 1, MPI_INT, 0, mt_disp(w, 0, 0), 1, MPI_INT, w->win, DATA),
              MPI_ERR_BUFFER);
    CHECK_ERR(MPIRMA_Get_notify(NULL, 1, MPI_INT, 0, mt_disp(w, 0, 0), 1, MPI_INT, w->win, DATA),
              MPI_ERR_BUFFER);
    CHECK_ERR(MPIRMA_Notify_read(w->win, MPI_ANY_SOURCE, DATA, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_init(w->win, MPI_ANY_SOURCE, DATA, 1, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_test(w->win, MPI_ANY_SOURCE, DATA, 1, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_waitany(w->win, MPI_ANY_SOURCE, DATA, 1, 1, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_testany(w->win, MPI_ANY_SOURCE, DATA, 1, 1, NULL, &x), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_testany(w->win, MPI_ANY_SOURCE, DATA, 1, 1, &x, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_read(w->win, MPI_ANY_SOURCE, NUMBERS, &value), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_read(w->win, w->size, DATA, &value), MPI_ERR_RANK);
    CHECK_ERR(MPIRMA_Notify_wait(w->win, 0, -1, 1), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_wait(w->win, 0, DATA, -1), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_reset(w->win, -7, DATA, &value), MPI_ERR_RANK);
    CHECK_ERR(MPIRMA_Notify_init(w->win, 0, NUMBERS, 1, &request), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_test(w->win, 0, NUMBERS, 1, &flag), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_test(w->win, w->size, DATA, 1, &flag), MPI_ERR_RANK);
    CHECK_ERR(MPIRMA_Notify_waitany(w->win, 0, DATA, NUMBERS + 1, 1, &flag), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_waitany(w->win, 0, DATA, 0, 1, &flag), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Notify_testany(w->win, 0, LAST, 2, 1, &flag, &flag), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Put_notify_c(&x, 1, MPI_INT, 0, mt_disp(w, 0, 0), 1, MPI_INT, w->win, NUMBERS),
              MPI_ERR_ARG);
    CHECK(flag == 77, "a flag was written after an error: %d", flag);
    CHECK_ERR(MPIRMA_Notify_read(MPI_WIN_NULL, 0, 0, &value), MPI_ERR_WIN);
    CHECK(value == 77, "a value was written after an error: %lld", (long long)value);
    if (!mt_win_make(&none, w->kind, 64, 1, MPI_COMM_WORLD))
        return;
    CHECK_ERR(MPIRMA_Notify_read(none.win, MPI_ANY_SOURCE, 0, &value), MPI_ERR_ARG);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, none.win));
    CHECK_ERR(MPIRMA_Put_notify(&x, 1, MPI_INT, 0, mt_disp(&none, 0, 0), 1, MPI_INT, none.win, 0),
              MPI_ERR_ARG);
    MT_OK(MPI_Win_unlock(0, none.win));
    mt_win_free(&none);
}

/* Of many processes, whose barriers take most of the time, two kinds are enough. */
static bool left_out(enum mt_kind kind)
{
    return mt_size > 16 && kind != MT_ALLOCATE && kind != MT_CREATE_MALLOC;
}

int main(int argc, char **argv)
{
    struct mt_win w;

    MT_INIT(argc, argv);
    if (argc > 1)
        rounds = atoi(argv[1]);
    MT_FOR_KINDS(kind)
    {
        if (left_out(kind))
            continue;
        mt_section("%s: made", mt_kind_name(kind));
        if (!make(&w, kind, 2 * LARGEST))
            continue;
        many_to_one(&w);
        counts(&w);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        ring(&w);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        gets(&w);
        accumulates(&w);
        requests(&w);
        tests_and_ranges(&w);
        of_nobody(&w);
        after_failed_requests(&w);
        epochs(&w);
        first_of_epochs(&w);
        errors(&w);
        mt_win_free(&w);
    }
    return MT_FINISH();
}
