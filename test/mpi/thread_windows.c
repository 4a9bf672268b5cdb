/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_windows.c - threads that make windows at the same time, each on communicators of its own
 * (MPI 4.1, 6.14 and 11.6).
 *
 * Each thread makes a window of each kind on a communicator on which there has been none, so that
 * every creation asks the host for all that it takes, and uses and frees it. Before that, and with
 * windows, another thread of rank 0 is in a call of the host that the other ranks come to only
 * later: MPI_Alloc_mem, which is local, and windows of another communicator do not wait for that
 * call.
 */
#include "mtcomm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { THREADS = 4, WINDOWS = 8 };

static MPI_Comm comms[THREADS][MT_KINDS];
static pthread_barrier_t start;

static void split(MPI_Comm *comm)
{
    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, mt_rank, comm));
    mt_errors_return(*comm);
}

/* What the left neighbour adds comes, and nothing else. */
static void use(const struct mt_win *w, int thread)
{
    const int64_t mine = 100 * thread + mt_rank + 1;
    const int right = (mt_rank + 1) % mt_size, left = (mt_rank + mt_size - 1) % mt_size;
    int64_t seen;

    MT_OK(MPI_Win_fence(0, w->win));
    MT_OK(MPI_Accumulate(&mine, 1, MPI_INT64_T, right, mt_disp(w, right, 0), 1, MPI_INT64_T,
                         MPI_SUM, w->win));
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    memcpy(&seen, w->base, sizeof seen);
    CHECK(seen == 100 * thread + left + 1, "thread %d, %s: saw %ld", thread, mt_kind_name(w->kind),
          (long)seen);
}

static void *windows_of(void *arg)
{
    const int thread = *(const int *)arg;
    struct mt_win w;

    pthread_barrier_wait(&start);
    MT_FOR_KINDS(kind)
    {
        const enum mt_kind one = (enum mt_kind)((kind + thread) % MT_KINDS);

        if (mt_win_make(&w, one, 64, 1, comms[thread][one])) {
            use(&w, thread);
            mt_win_free(&w);
        }
    }
    return NULL;
}

static void at_once(long round)
{
    pthread_t id[THREADS];
    int number[THREADS];

    mt_section("windows of %d threads, round %ld", THREADS, round);
    for (int i = 0; i < THREADS; i++)
        MT_FOR_KINDS(kind)
        {
            split(&comms[i][kind]);
        }
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        if (!CHECK(pthread_create(&id[i], NULL, windows_of, &number[i]) == 0, "no thread"))
            exit(1);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(id[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MT_FOR_KINDS(kind)
        {
            MT_OK(MPI_Comm_free(&comms[i][kind]));
        }
}

/* The call of the host that rank 0 comes to first. */
static MPI_Comm early;
static _Atomic bool entered;

static void *copy(void *arg)
{
    MPI_Comm made;

    (void)arg;
    atomic_store_explicit(&entered, true, memory_order_release);
    MT_OK(MPI_Comm_dup(early, &made));
    MT_OK(MPI_Comm_free(&made));
    return NULL;
}

/* Nobody can see that a thread waits in a call, so it gets the time to come there. */
static void beside_a_call(void (*body)(void *), void *arg)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    pthread_t id;

    atomic_store_explicit(&entered, false, memory_order_release);
    if (mt_rank == 0) {
        if (!CHECK(pthread_create(&id, NULL, copy, NULL) == 0, "no thread"))
            exit(1);
        while (!atomic_load_explicit(&entered, memory_order_acquire))
            nanosleep(&moment, NULL);
        nanosleep(&moment, NULL);
    }
    body(arg);
    if (mt_rank == 0)
        pthread_join(id, NULL);
    else
        copy(NULL);
}

/* The others come to the call when rank 0 says so. */
static void alloc_mem(void *arg)
{
    void *mem;
    int told = 1;

    (void)arg;
    if (mt_rank == 0) {
        if (MT_OK(MPI_Alloc_mem(64, MPI_INFO_NULL, &mem)))
            MT_OK(MPI_Free_mem(mem));
        for (int i = 1; i < mt_size; i++)
            MT_OK(MPI_Send(&told, 1, MPI_INT, i, 1, MPI_COMM_WORLD));
    } else {
        MT_OK(MPI_Recv(&told, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void windows(void *arg)
{
    struct mt_win w[WINDOWS];
    const MPI_Comm *comm = arg;

    for (int i = 0; i < WINDOWS; i++)
        if (!CHECK(mt_win_make(&w[i], MT_ALLOCATE, 64, 1, *comm), "window %d", i))
            exit(1);
    for (int i = 0; i < WINDOWS; i++) {
        use(&w[i], 0);
        mt_win_free(&w[i]);
    }
}

int main(int argc, char **argv)
{
    const int level = MT_INIT_THREAD(argc, argv, MPI_THREAD_MULTIPLE);
    const long rounds = mt_rounds(3);
    struct mt_win first;
    MPI_Comm comm;

    if (level < MPI_THREAD_MULTIPLE) {
        mt_skip("the host gives thread level %d, not MPI_THREAD_MULTIPLE", level);
        MPI_Finalize();
        return 77;
    }
    mt_section("MPI_Alloc_mem beside a call of the host that waits");
    early = MPI_COMM_WORLD;
    beside_a_call(alloc_mem, NULL);
    split(&early);
    split(&comm);
    pthread_barrier_init(&start, NULL, THREADS);
    for (long i = 0; i < rounds; i++)
        at_once(i);
    pthread_barrier_destroy(&start);
    if (mt_win_make(&first, MT_ALLOCATE, 64, 1, comm))
        mt_win_free(&first);
    for (long i = 0; i < rounds; i++) {
        mt_section("windows beside a call of the host that waits, round %ld", i);
        beside_a_call(windows, &comm);
    }
    MT_OK(MPI_Comm_free(&comm));
    MT_OK(MPI_Comm_free(&early));
    return MT_FINISH();
}
