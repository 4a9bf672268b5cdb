/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.c - passive target operations complete whatever the target does (MPI 4.1, 12.7.3).
 *
 * Rank 0 is the target: first it computes, then it sleeps, then it sits in the
 * host's MPI_Recv, each without an RMA call. The last rank runs whole epochs
 * meanwhile, and must be done, by the clock, well before the target is. The
 * clocks compared are CLOCK_MONOTONIC of one node.
 */
#include "mtcomm.h"

#include <unistd.h>

#define BUSY 0.1 /* seconds that the target gives no sign of life, at first */
#define ATTEMPTS 6

enum idle { COMPUTE, SLEEP, RECV, IDLES };
static const char *const idle_names[IDLES] = {"computes", "sleeps", "is in MPI_Recv"};

/* Every sequence of calls that must not need the target. */
static void origin(const struct mt_win *w, char *big, int bytes)
{
    int64_t v = 1, got[16], ones[16];
    MPI_Request req;
    MPI_Status st;
    MPI_Datatype strided;
    MPI_Aint at = mt_disp(w, 0, 0);

    for (int i = 0; i < 16; i++) {
        ones[i] = 1;
    }
    MT_OK(MPI_Type_vector(8, 1, 2, MPI_INT64_T, &strided));
    MT_OK(MPI_Type_commit(&strided));
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
    MT_OK(MPI_Put(ones, 16, MPI_INT64_T, 0, at, 16, MPI_INT64_T, w->win));
    MT_OK(MPI_Win_flush(0, w->win));
    MT_OK(MPI_Get(got, 16, MPI_INT64_T, 0, at, 16, MPI_INT64_T, w->win));
    MT_OK(MPI_Win_unlock(0, w->win));
    CHECK_EQUAL(got, ones, sizeof got);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    MT_OK(MPI_Accumulate(ones, 8, MPI_INT64_T, 0, at, 1, strided, MPI_SUM, w->win));
    MT_OK(MPI_Win_flush(0, w->win));
    MT_OK(MPI_Fetch_and_op(&v, &got[0], MPI_INT64_T, 0, at, MPI_SUM, w->win));
    MT_OK(MPI_Win_flush(0, w->win));
    CHECK(got[0] == 2, "fetch_and_op gave %ld", (long)got[0]);
    int64_t three = 3, nine = 9;
    MT_OK(MPI_Compare_and_swap(&nine, &three, &got[1], MPI_INT64_T, 0, at, w->win));
    MT_OK(MPI_Win_flush(0, w->win));
    CHECK(got[1] == 3, "compare_and_swap gave %ld", (long)got[1]);
    MT_OK(MPI_Rget_accumulate(ones, 16, MPI_INT64_T, got, 16, MPI_INT64_T, 0, at, 16, MPI_INT64_T,
                              MPI_NO_OP, w->win, &req));
    MT_OK(MPI_Wait(&req, &st));
    CHECK(got[0] == 9 && got[1] == 1 && got[2] == 2, "%ld %ld %ld", (long)got[0], (long)got[1],
          (long)got[2]);
    MT_OK(MPI_Win_unlock(0, w->win));
    MT_OK(MPI_Win_lock_all(0, w->win));
    mt_fill(big, (size_t)bytes, 5);
    MT_OK(MPI_Put(big, bytes, MPI_BYTE, 0, mt_disp(w, 0, 128), bytes, MPI_BYTE, w->win));
    MT_OK(MPI_Win_flush_all(w->win));
    memset(big, 0, (size_t)bytes);
    MT_OK(MPI_Rget(big, bytes, MPI_BYTE, 0, mt_disp(w, 0, 128), bytes, MPI_BYTE, w->win, &req));
    MT_OK(MPI_Wait(&req, &st));
    CHECK_FILL(big, (size_t)bytes, 5);
    MT_OK(MPI_Win_unlock_all(w->win));
    for (int i = 0; i < 20; i++) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        MT_OK(MPI_Win_unlock(0, w->win));
    }
    MT_OK(MPI_Type_free(&strided));
}

static void idle(enum idle how, double seconds)
{
    MPI_Status st;

    if (how == COMPUTE) {
        mt_compute(seconds);
    } else if (how == SLEEP) {
        usleep((useconds_t)(seconds * 1e6));
    } else { /* the origin sends only when it is done: without progress nobody comes out */
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, mt_size - 1, 3, MPI_COMM_WORLD, &st));
    }
}

/* On a loaded machine an origin, or the thread that serves it, may get no processor for
 * a while: what took too long is tried again with a longer silence. What waits for the
 * target is late every time. */
static bool again(int attempt, bool late)
{
    int all = late, mine = late;
    MT_OK(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    return all && attempt + 1 < ATTEMPTS;
}

static double busy_time(int attempt)
{
    return BUSY * (1 << attempt);
}

/* True: to be tried again. */
static bool target_silent(enum mt_kind kind, enum idle how, int attempt)
{
    enum { BYTES = 100000 };
    struct mt_win w, clock;
    char *big = mt_alloc(BYTES);

    mt_section("target %s, %s", idle_names[how], mt_kind_name(kind));
    if (!mt_win_make(&w, kind, BYTES + 128, 1, MPI_COMM_WORLD)) {
        free(big);
        return false;
    }
    double busy = busy_time(attempt);
    bool late = false;
    if (mt_win_make(&clock, MT_ALLOCATE, 16, 1, MPI_COMM_WORLD)) {
        double t[2] = {0, 0}, start;
        int last = w.size - 1;
        mt_sync(&clock);
        mt_sync(&w);
        start = mt_now();
        if (w.rank == 0) {
            idle(how, busy);
            t[0] = mt_now();
        } else if (w.rank == last) {
            origin(&w, big, BYTES);
            t[1] = mt_now();
            if (how == RECV) {
                MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD));
            }
            MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, clock.win));
            MT_OK(
                MPI_Put(&t[1], 1, MPI_DOUBLE, 0, mt_disp(&clock, 0, 8), 1, MPI_DOUBLE, clock.win));
            MT_OK(MPI_Win_unlock(0, clock.win));
        }
        mt_sync(&clock);
        if (w.rank == 0 && how != RECV) {
            memcpy(&t[1], clock.base + 8, sizeof t[1]);
            late = t[1] >= t[0] - busy / 10;
            CHECK(!late || attempt + 1 < ATTEMPTS,
                  "origin was done after %.3f s, the target after %.3f s", t[1] - start,
                  t[0] - start);
        }
        mt_sync(&w);
        if (w.rank == 0) {
            CHECK_FILL(w.base + 128, BYTES, 5);
        }
        mt_win_free(&clock);
    }
    mt_win_free(&w);
    free(big);
    return how != RECV && again(attempt, late);
}

/* A PSCW origin's complete needs no call by a target that has posted and computes... but its small
 * puts must be there when the target then waits; and the origin must not be held up meanwhile. */
static bool exposed_target_computes(enum mt_kind kind, int attempt)
{
    struct mt_win w;
    int64_t v = 42;
    double took = 0, busy = busy_time(attempt);
    bool late = false;

    mt_section("posted target computes, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 16, 1, MPI_COMM_WORLD)) {
        return false;
    }
    mt_sync(&w);
    if (w.rank == 0) {
        MPI_Group from = mt_group_one(&w, w.size - 1);
        MT_OK(MPI_Win_post(from, 0, w.win));
        mt_compute(busy);
        MT_OK(MPI_Win_wait(w.win));
        memcpy(&v, w.base, sizeof v);
        CHECK(v == 42, "%ld", (long)v);
        MPI_Group_free(&from);
    } else if (w.rank == w.size - 1) {
        MPI_Group to = mt_group_one(&w, 0);
        double start = mt_now();
        MT_OK(MPI_Win_start(to, 0, w.win));
        MT_OK(MPI_Put(&v, 1, MPI_INT64_T, 0, mt_disp(&w, 0, 0), 1, MPI_INT64_T, w.win));
        MT_OK(MPI_Win_complete(w.win));
        took = mt_now() - start;
        late = took >= busy * 0.9;
        CHECK(!late || attempt + 1 < ATTEMPTS, "MPI_Win_complete came after %.3f s", took);
        MPI_Group_free(&to);
    }
    mt_win_free(&w);
    return again(attempt, late);
}

/* What comes first between two processes comes while the target is elsewhere, and the target
 * has never used the origin itself. Where that is not served nobody gets on. */
static void first_contact(void)
{
    struct mt_win w;
    MPI_Status st;
    int64_t v = 7;

    mt_section("first contact");
    if (!mt_win_make(&w, MT_CREATE_MALLOC, 16, 1, MPI_COMM_WORLD)) {
        return;
    }
    if (w.rank == 0) {
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, w.size - 1, 4, MPI_COMM_WORLD, &st));
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        memcpy(&v, w.base, sizeof v);
        MT_OK(MPI_Win_unlock(0, w.win));
        CHECK(v == 7, "%ld", (long)v);
    } else if (w.rank == w.size - 1) {
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        MT_OK(MPI_Put(&v, 1, MPI_INT64_T, 0, mt_disp(&w, 0, 0), 1, MPI_INT64_T, w.win));
        MT_OK(MPI_Win_unlock(0, w.win));
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD));
    }
    mt_win_free(&w);
}

/* Calls MPI_Win_sync until *cell has the value, or for some seconds. Who looks while a put is under
 * way may see a part of a word, where a network copies bytes. */
static bool comes(const struct mt_win *w, const volatile int64_t *cell, int64_t value)
{
    const double end = MPI_Wtime() + 20 * BUSY * ATTEMPTS;

    while (*cell != value && MPI_Wtime() < end) {
        MT_OK(MPI_Win_sync(w->win));
    }
    return *cell == value;
}

/* Two processes that give each other a word, which neither flushes, and wait in a loop of
 * MPI_Win_sync for what the other gives. */
static void unflushed(enum mt_kind kind)
{
    struct mt_win w;
    const int64_t one = 1;
    volatile int64_t *cell;
    int done, last;
    MPI_Request req;

    mt_section("%s: nothing is flushed", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 16, 1, MPI_COMM_WORLD)) {
        return;
    }
    cell = (volatile int64_t *)(void *)w.base;
    last = w.size - 1;
    MT_OK(MPI_Win_lock_all(0, w.win));
    if (w.rank == 0) {
        CHECK(comes(&w, cell, one), "the last rank's word did not come");
    }
    if (w.rank == 0 || w.rank == last) {
        const int other = last - w.rank;

        MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, other, mt_disp(&w, other, 0), 1, MPI_INT64_T,
                             MPI_REPLACE, w.win));
    }
    if (w.rank == last) {
        CHECK(comes(&w, cell, one), "rank 0's word did not come");
    }
    MT_OK(MPI_Ibarrier(MPI_COMM_WORLD, &req)); /* rank 0's word leaves before it waits here */
    for (done = 0; !done;) {
        MT_OK(MPI_Win_sync(w.win));
        MT_OK(MPI_Test(&req, &done, MPI_STATUS_IGNORE));
    }
    MT_OK(MPI_Win_unlock_all(w.win));
    mt_win_free(&w);
}

/* What follows the operations which nobody flushes. */
enum after { ONE_SYNC, MANY_SYNCS, AFTER_LAST };

/* One large put, as many small ones as leave a packet open that may not leave, and more. */
static const struct puts {
    int puts, words; /* of each */
} kept_puts[] = {{1, 100000}, {400, 64}, {1500, 64}};

/* The origin's side of kept: while rank 0 has its own memory locked, so that nothing of the last
 * rank's epoch can begin there. */
static void put_and_wait(const struct mt_win *w, enum after after, const struct puts *puts,
                         const int64_t *words)
{
    const int n = puts->words;
    MPI_Request req;
    int done = 0;
    MT_OK(MPI_Irecv(NULL, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &req));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    for (int i = 0; i < puts->puts; i++) {
        MT_OK(MPI_Put(words + i * n, n, MPI_INT64_T, 0, mt_disp(w, 0, 8 * i * n), n, MPI_INT64_T,
                      w->win));
    }
    do {
        MT_OK(MPI_Win_sync(w->win));
        if (after == MANY_SYNCS) {
            MT_OK(MPI_Test(&req, &done, MPI_STATUS_IGNORE));
        }
    } while (after == MANY_SYNCS && !done);
    if (after == ONE_SYNC) { /* a call of the host, which knows nothing of the window */
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    }
    MT_OK(MPI_Win_unlock(0, w->win));
}

/* Puts that cannot begin when they are issued, since the target's lock is held, and that nobody
 * flushes. MPI_Win_sync is the synchronization that follows them, so they get to the target without
 * another call (MPI 4.1, 12.7.3). The target looks for their words, and tells the origin when it
 * has seen all. */
static void kept(enum mt_kind kind, enum after after, const struct puts *puts)
{
    const int n = puts->puts * puts->words;
    struct mt_win w;
    int64_t *words = mt_alloc((size_t)n * sizeof *words);
    mt_section("%s: %d puts are kept for a lock, %s", mt_kind_name(kind), puts->puts,
               after == ONE_SYNC ? "one MPI_Win_sync" : "many MPI_Win_sync");
    if (!mt_win_make(&w, kind, n * 8, 1, MPI_COMM_WORLD)) {
        free(words);
        return;
    }
    for (int i = 0; i < n; i++) {
        words[i] = i + 1;
    }
    if (w.rank == 0) {
        volatile int64_t *cells = (volatile int64_t *)(void *)w.base;
        bool all = true;
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        usleep(BUSY * 1e6 / 2); /* the origin issues meanwhile, if its lock does not wait */
        MT_OK(MPI_Win_unlock(0, w.win));
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        for (int i = 0; all && i < n; i++) {
            all = comes(&w, &cells[i], i + 1);
        }
        CHECK(all, "the words did not come");
        MT_OK(MPI_Win_unlock(0, w.win));
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, mt_size - 1, 5, MPI_COMM_WORLD));
    } else {
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    if (w.rank != 0 && w.rank == mt_size - 1) {
        put_and_wait(&w, after, puts, words);
    }
    mt_win_free(&w);
    free(words);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    if (mt_size < 2) {
        mt_fail(__FILE__, __LINE__, "needs 2 processes or more");
    } else {
        first_contact();
        MT_FOR_KINDS(kind)
        {
            if (kind != MT_CREATE_ODD) {
                unflushed(kind);
                for (enum after after = ONE_SYNC; after < AFTER_LAST; after++) {
                    for (int i = 0; i < 3; i++) {
                        kept(kind, after, &kept_puts[i]);
                    }
                }
            }
            for (enum idle how = 0; how < IDLES; how++) {
                if (how == COMPUTE || kind == MT_CREATE_MALLOC || kind == MT_ALLOCATE ||
                    kind == MT_DYNAMIC) {
                    for (int i = 0; target_silent(kind, how, i); i++) {
                    }
                }
            }
            if (kind == MT_CREATE_MALLOC || kind == MT_ALLOCATE) {
                for (int i = 0; exposed_target_computes(kind, i); i++) {
                }
            }
        }
    }
    return MT_FINISH();
}
