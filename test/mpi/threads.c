/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.c - concurrent RMA calls of threads under MPI_THREAD_MULTIPLE (MPI 4.1, 11.6).
 *
 * Threads of one process work in one lock_all epoch of a window, in epochs of
 * windows of their own (passive ones, fences and PSCW, from creation to MPI_Win_free), on
 * locks of different targets, wait for each other's requests, and attach and detach
 * memory while others work. Sums must be exact. Every thread of a rank uses its own part
 * of the window for puts; epochs that belong to a window are opened by one thread.
 */
#include "mtcomm.h"

#include <pthread.h>

#define THREADS 4
#define PART 512 /* bytes of one (origin, thread) */

static int times = 60;

struct arg {
    const struct mt_win *w;
    int thread;
};

static void run(void *(*body)(void *), const struct mt_win *w, bool one_window)
{
    pthread_t id[THREADS];
    struct arg arg[THREADS];

    for (int i = 0; i < THREADS; i++) {
        arg[i] = (struct arg){one_window ? w : &w[i], i};
        if (!CHECK(pthread_create(&id[i], NULL, body, &arg[i]) == 0, "pthread_create")) {
            exit(1);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(id[i], NULL);
    }
}

/* Layout of a window: an int64 counter, then the parts. */
static MPI_Aint part_at(const struct mt_win *w, int origin, int thread)
{
    (void)w;
    return 8 + ((MPI_Aint)origin * THREADS + thread) * PART;
}

/* Inside an epoch that is open already: puts, gets, accumulates, flushes. */
static void traffic(const struct mt_win *w, int thread)
{
    char src[PART], dst[PART];
    int64_t one = 1, old;

    for (int i = 0; i < times; i++) {
        int target = (w->rank + i + thread) % w->size, n = 1 + (i * 37 + thread) % PART;
        MPI_Aint at = mt_disp(w, target, part_at(w, w->rank, thread));
        uint32_t tag = (uint32_t)(w->rank * 10007 + thread * 101 + i);
        mt_fill(src, (size_t)n, tag);
        MT_OK(MPI_Put(src, n, MPI_BYTE, target, at, n, MPI_BYTE, w->win));
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, mt_disp(w, target, 0), 1, MPI_INT64_T,
                             MPI_SUM, w->win));
        MT_OK(MPI_Win_flush(target, w->win));
        MT_OK(MPI_Get(dst, n, MPI_BYTE, target, at, n, MPI_BYTE, w->win));
        MT_OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, mt_disp(w, target, 0), MPI_SUM,
                               w->win));
        if (i % 4 == 0) {
            MT_OK(MPI_Win_flush_all(w->win));
        } else if (i % 4 == 1) {
            MT_OK(MPI_Win_flush_local(target, w->win)); /* enough for what gets bring */
        } else {
            MT_OK(MPI_Win_flush(target, w->win));
        }
        CHECK_FILL(dst, (size_t)n, tag);
        CHECK(old >= 1, "counter was %ld", (long)old);
    }
}

static void *shared_epoch(void *p)
{
    const struct arg *a = p;
    traffic(a->w, a->thread);
    return NULL;
}

static void *own_epoch(void *p)
{
    const struct arg *a = p;
    MT_OK(MPI_Win_lock_all(0, a->w->win));
    traffic(a->w, a->thread);
    MT_OK(MPI_Win_unlock_all(a->w->win));
    return NULL;
}

/* The counters of all ranks add up: each pass of each thread adds two somewhere. */
static void check_sum(const struct mt_win *w, int threads)
{
    int64_t sum = 0, v;

    mt_sync(w);
    if (w->rank == 0) {
        MT_OK(MPI_Win_lock_all(0, w->win));
        for (int t = 0; t < w->size; t++) {
            MT_OK(MPI_Fetch_and_op(NULL, &v, MPI_INT64_T, t, mt_disp(w, t, 0), MPI_NO_OP, w->win));
            MT_OK(MPI_Win_flush(t, w->win));
            sum += v;
        }
        MT_OK(MPI_Win_unlock_all(w->win));
        int64_t want = (int64_t)2 * times * threads * w->size;
        CHECK(sum == want, "sum %ld, expected %ld", (long)sum, (long)want);
    }
    mt_sync(w);
}

static MPI_Aint window_bytes(void)
{
    return 8 + (MPI_Aint)mt_size * THREADS * PART;
}

static void one_window(enum mt_kind kind)
{
    struct mt_win w;

    mt_section("one window, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, window_bytes(), 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    MT_OK(MPI_Win_lock_all(0, w.win));
    run(shared_epoch, &w, true);
    MT_OK(MPI_Win_unlock_all(w.win));
    check_sum(&w, THREADS);
    mt_win_free(&w);
}

static void several_windows(void)
{
    static const enum mt_kind kinds[THREADS] = {MT_ALLOCATE, MT_CREATE_ALLOC_MEM, MT_CREATE_MALLOC,
                                                MT_DYNAMIC};
    struct mt_win w[THREADS];

    mt_section("a window for each thread");
    for (int i = 0; i < THREADS;
         i++) { /* what the forced path has not is replaced by what it has */
        if (!mt_win_make(&w[i], kinds[i], window_bytes(), 1, MPI_COMM_WORLD) &&
            !mt_win_make(&w[i], MT_ALLOCATE, window_bytes(), 1, MPI_COMM_WORLD)) {
            return;
        }
        mt_sync(&w[i]);
    }
    run(own_epoch, w, false);
    for (int i = 0; i < THREADS; i++) {
        check_sum(&w[i], 1);
        mt_win_free(&w[i]);
    }
}

/* Each thread locks "its" targets only (rank mod THREADS): one origin may not lock a target twice.
 */
static void *own_targets(void *p)
{
    const struct arg *a = p;
    const struct mt_win *w = a->w;
    int64_t v = 0;

    for (int i = 0; i < times; i++) {
        for (int t = a->thread; t < w->size; t += THREADS) {
            MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w->win));
            MT_OK(MPI_Get(&v, 1, MPI_INT64_T, t, mt_disp(w, t, 0), 1, MPI_INT64_T, w->win));
            MT_OK(MPI_Win_flush(t, w->win));
            v += 2;
            MT_OK(MPI_Put(&v, 1, MPI_INT64_T, t, mt_disp(w, t, 0), 1, MPI_INT64_T, w->win));
            MT_OK(MPI_Win_unlock(t, w->win));
        }
    }
    return NULL;
}

static void different_targets(enum mt_kind kind)
{
    struct mt_win w;

    mt_section("locks of different targets, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    run(own_targets, &w, true);
    check_sum(&w, w.size);
    mt_win_free(&w);
}

/* Requests made by one thread are waited for by the next. */
static MPI_Request handed[THREADS][8];
static int64_t handed_in[THREADS][8];
static pthread_barrier_t meeting;

static void *hand_over(void *p)
{
    const struct arg *a = p;
    const struct mt_win *w = a->w;
    int next = (a->thread + 1) % THREADS;
    MPI_Status st[8];

    for (int i = 0; i < times / 4; i++) {
        for (int k = 0; k < 8; k++) {
            int target = (w->rank + k) % w->size;
            handed_in[a->thread][k] = -1;
            MT_OK(MPI_Rget(&handed_in[a->thread][k], 1, MPI_INT64_T, target, mt_disp(w, target, 0),
                           1, MPI_INT64_T, w->win, &handed[a->thread][k]));
        }
        pthread_barrier_wait(&meeting);
        if (a->thread % 2) {
            MT_OK(MPI_Waitall(8, handed[next], st));
        } else {
            for (int k = 7; k >= 0; k--) {
                MT_OK(MPI_Wait(&handed[next][k], &st[k]));
            }
        }
        for (int k = 0; k < 8; k++) {
            CHECK(handed_in[next][k] == (w->rank + k) % w->size + 77, "%ld",
                  (long)handed_in[next][k]);
        }
        pthread_barrier_wait(&meeting);
    }
    return NULL;
}

static void requests(enum mt_kind kind)
{
    struct mt_win w;

    mt_section("requests between threads, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    int64_t v = w.rank + 77;
    memcpy(w.base, &v, sizeof v);
    mt_sync(&w);
    pthread_barrier_init(&meeting, NULL, THREADS);
    MT_OK(MPI_Win_lock_all(0, w.win));
    run(hand_over, &w, true);
    MT_OK(MPI_Win_unlock_all(w.win));
    pthread_barrier_destroy(&meeting);
    mt_sync(&w);
    mt_win_free(&w);
}

/* In an epoch that is open already: every request-based operation, and compare-and-swap. The
 * counter grows by two in each pass, as in traffic. */
static void *atomics_and_requests(void *p)
{
    const struct arg *a = p;
    const struct mt_win *w = a->w;
    const int64_t one = 1;
    MPI_Request req[2];
    MPI_Status st[2];

    for (int i = 0; i < times; i++) {
        const int target = (w->rank + i + a->thread) % w->size;
        const MPI_Aint counter = mt_disp(w, target, 0);
        const MPI_Aint at = mt_disp(w, target, part_at(w, w->rank, a->thread));
        int64_t value = w->rank * 1000000 + a->thread * 1000 + i, seen = -1, old = 0, next,
                found = -1;

        MT_OK(MPI_Rput(&value, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, w->win, &req[0]));
        MT_OK(MPI_Raccumulate(&one, 1, MPI_INT64_T, target, counter, 1, MPI_INT64_T, MPI_SUM,
                              w->win, &req[1]));
        MT_OK(MPI_Waitall(2, req, st));
        MT_OK(MPI_Win_flush(target, w->win));
        MT_OK(MPI_Rget(&seen, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, w->win, &req[0]));
        MT_OK(MPI_Rget_accumulate(NULL, 0, MPI_INT64_T, &old, 1, MPI_INT64_T, target, counter, 1,
                                  MPI_INT64_T, MPI_NO_OP, w->win, &req[1]));
        MT_OK(MPI_Waitall(2, req, st));
        CHECK(seen == value && old >= 1, "expected %ld, saw %ld; counter %ld", (long)value,
              (long)seen, (long)old);
        for (;;) {
            next = old + 1;
            MT_OK(MPI_Compare_and_swap(&next, &old, &found, MPI_INT64_T, target, counter, w->win));
            MT_OK(MPI_Win_flush_local_all(w->win));
            if (found == old) {
                break;
            }
            old = found;
        }
    }
    return NULL;
}

static void one_window_requests(enum mt_kind kind)
{
    struct mt_win w;

    mt_section("every request and compare-and-swap, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, window_bytes(), 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    MT_OK(MPI_Win_lock_all(0, w.win));
    run(atomics_and_requests, &w, true);
    MT_OK(MPI_Win_unlock_all(w.win));
    check_sum(&w, THREADS);
    mt_win_free(&w);
}

/* A window of the thread's own on a communicator of its own: created, used by fences and by PSCW in
 * turn, and freed, while the other threads do the same. */
static MPI_Comm comm_of[THREADS];

static void *active_epochs(void *p)
{
    const struct arg *a = p;
    struct mt_win w;
    const int right = (mt_rank + 1) % mt_size, left = (mt_rank + mt_size - 1) % mt_size;

    for (int round = 0; round < 4; round++) {
        const enum mt_kind kind = (a->thread + round) % 2 ? MT_CREATE_ALLOC_MEM : MT_ALLOCATE;
        if (!CHECK(mt_win_make(&w, kind, 64, 1, comm_of[a->thread]), "thread %d", a->thread)) {
            return NULL;
        }
        MPI_Group to = mt_group_one(&w, right), from = mt_group_one(&w, left);
        for (int i = 0; i < times / 4; i++) {
            const int64_t value = ((int64_t)a->thread * 1000 + i) * 100 + mt_rank;
            int64_t seen = -1, got = -1;
            if (i % 2) {
                MT_OK(MPI_Win_fence(0, w.win));
                MT_OK(MPI_Put(&value, 1, MPI_INT64_T, right, 8, 1, MPI_INT64_T, w.win));
                MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
            } else {
                MT_OK(MPI_Win_post(from, 0, w.win));
                MT_OK(MPI_Win_start(to, 0, w.win));
                MT_OK(MPI_Put(&value, 1, MPI_INT64_T, right, 8, 1, MPI_INT64_T, w.win));
                MT_OK(MPI_Get(&got, 1, MPI_INT64_T, right, 16, 1, MPI_INT64_T, w.win));
                MT_OK(MPI_Win_complete(w.win));
                MT_OK(MPI_Win_wait(w.win));
                CHECK(got == 0, "what nobody has written is %ld", (long)got);
            }
            memcpy(&seen, w.base + 8, sizeof seen);
            CHECK(seen == value - mt_rank + left, "thread %d, pass %d: %ld", a->thread, i,
                  (long)seen);
        }
        MPI_Group_free(&to);
        MPI_Group_free(&from);
        mt_win_free(&w);
    }
    return NULL;
}

static void active_windows(void)
{
    mt_section("fences and PSCW, a window for each thread");
    for (int i = 0; i < THREADS; i++) {
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[i]));
    }
    run(active_epochs, NULL, true);
    for (int i = 0; i < THREADS; i++) {
        MT_OK(MPI_Comm_free(&comm_of[i]));
    }
}

/* Two threads attach memory, use it and detach it, the two others work on what stays attached. */
static void *attach_and_use(void *p)
{
    const struct arg *a = p;
    const struct mt_win *w = a->w;

    if (a->thread < 2) {
        traffic(w, a->thread);
        return NULL;
    }
    for (int i = 0; i < times; i++) {
        const int bytes = 64 + i % 7 * 4096;
        char *mem = mt_alloc((size_t)bytes), src[64], dst[64];
        MPI_Aint at;
        memset(mem, 0, (size_t)bytes);
        mt_fill(src, sizeof src, (uint32_t)(a->thread * 1000 + i));
        MT_OK(MPI_Win_attach(w->win, mem, bytes));
        MT_OK(MPI_Get_address(mem + bytes - 64, &at));
        MT_OK(MPI_Put(src, 64, MPI_BYTE, w->rank, at, 64, MPI_BYTE, w->win));
        MT_OK(MPI_Win_flush(w->rank, w->win));
        MT_OK(MPI_Get(dst, 64, MPI_BYTE, w->rank, at, 64, MPI_BYTE, w->win));
        MT_OK(MPI_Win_flush(w->rank, w->win));
        CHECK_EQUAL(dst, src, sizeof src);
        MT_OK(MPI_Win_detach(w->win, mem));
        free(mem);
    }
    return NULL;
}

static void attached_by_threads(void)
{
    struct mt_win w;

    mt_section("attach and detach by threads");
    if (!mt_win_make(&w, MT_DYNAMIC, window_bytes(), 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    MT_OK(MPI_Win_lock_all(0, w.win));
    run(attach_and_use, &w, true);
    MT_OK(MPI_Win_unlock_all(w.win));
    check_sum(&w, 2);
    mt_win_free(&w);
}

int main(int argc, char **argv)
{
    int level = MT_INIT_THREAD(argc, argv, MPI_THREAD_MULTIPLE);

    if (level < MPI_THREAD_MULTIPLE) {
        mt_skip("the host gives thread level %d, not MPI_THREAD_MULTIPLE", level);
        MPI_Finalize();
        return 77;
    }
    times = (int)mt_rounds(times);
    MT_FOR_KINDS(kind)
    {
        one_window(kind);
        different_targets(kind);
        requests(kind);
        one_window_requests(kind);
    }
    several_windows();
    active_windows();
    attached_by_threads();
    return MT_FINISH();
}
