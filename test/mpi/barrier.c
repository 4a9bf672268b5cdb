/*
 * barrier.c - MPI_Barrier with windows open (MPI 4.1, 6.3): still a barrier, and packets to who
 * waits in it are served.
 *
 * That nobody leaves before all have entered is seen by messages: who has left round i sends
 * one with tag i to the next process, which must not find it before it has entered round i itself.
 *
 *   barrier            all sections
 *   barrier served     rank 0 does FLUSHES operations on the last rank, which is in MPI_Barrier:
 *                      barrier.sh looks at the statistics
 *   barrier multiple   under MPI_THREAD_MULTIPLE, while windows come and go in another thread
 */
#include "mtcomm.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { ROUNDS = 24, FLUSHES = 2000, MESSAGES = 100 };

static struct mt_rng rng;

static void pause_somewhat(void)
{
    uint64_t n = mt_rng_below(&rng, 4);

    if (n == 3)
        usleep((useconds_t)mt_rng_below(&rng, 400));
    for (uint64_t i = 0; n < 3 && i < n * 5; i++)
        sched_yield();
}

/* Barriers on comm. members: the ranks of MPI_COMM_WORLD in it (in both groups), n of them. */
static void rounds(MPI_Comm comm, const int *members, int n, int count)
{
    int me = 0, found;
    MPI_Request req;
    MPI_Status st;

    while (members[me] != mt_rank)
        me++;
    for (int i = 0; i < count; i++) {
        pause_somewhat();
        if (i % n == me) /* the last to come: whom do the others not wait for? */
            usleep(500);
        MT_OK(MPI_Iprobe(MPI_ANY_SOURCE, MESSAGES + i, MPI_COMM_WORLD, &found, &st));
        CHECK(!found, "rank %d has left barrier %d of %d, which this one has not entered", st.MPI_SOURCE, i, count);
        MT_OK(MPI_Barrier(comm));
        if (n == 1)
            continue;
        MT_OK(MPI_Isend(NULL, 0, MPI_BYTE, members[(me + 1) % n], MESSAGES + i, MPI_COMM_WORLD, &req));
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, members[(me + n - 1) % n], MESSAGES + i, MPI_COMM_WORLD, &st));
        MT_OK(MPI_Wait(&req, &st));
    }
}

/* Every step-th rank of MPI_COMM_WORLD, from this one's remainder on. */
static int members_of(int step, int *members)
{
    int n = 0;

    for (int i = mt_rank % step; i < mt_size; i += step)
        members[n++] = i;
    return n;
}

static int all[64], half[64], nhalf;

static void everywhere(const char *when, MPI_Comm halves, MPI_Comm inter)
{
    mt_section("MPI_COMM_WORLD, %s", when);
    rounds(MPI_COMM_WORLD, all, mt_size, ROUNDS);
    mt_section("halves, %s", when);
    rounds(halves, half, nhalf, ROUNDS);
    mt_section("an intercommunicator, %s", when);
    if (inter != MPI_COMM_NULL)
        rounds(inter, all, mt_size, ROUNDS / 2);
    mt_section("a communicator without processes, %s", when);
    CHECK_ERR(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
}

/* In windows of some, of all on another communicator, and of all. */
static void with_windows(MPI_Comm halves, MPI_Comm inter)
{
    struct mt_win some, twin, world;
    MPI_Comm other;

    everywhere("no window", halves, inter);
    mt_section("windows of the even ranks");
    bool have = mt_rank % 2 == 0 && mt_win_make(&some, MT_CREATE_MALLOC, 64, 1, halves);
    everywhere("windows of the even ranks", halves, inter);
    if (have)
        mt_win_free(&some);
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    mt_section("a window on another communicator");
    have = mt_win_make(&twin, MT_DYNAMIC, 64, 1, other);
    everywhere("a window on another communicator", halves, inter);
    rounds(other, all, mt_size, ROUNDS / 2);
    MT_OK(MPI_Comm_free(&other));
    if (have)
        mt_win_free(&twin);
    mt_section("a window on MPI_COMM_WORLD");
    have = mt_win_make(&world, MT_CREATE_MALLOC, 64, 1, MPI_COMM_WORLD);
    everywhere("a window", halves, inter);
    if (have)
        mt_win_free(&world);
    everywhere("windows freed", halves, inter);
}

/* Handles of freed communicators are given to new ones, without windows. */
static void come_and_go(void)
{
    struct mt_win w;
    MPI_Comm comm;

    mt_section("communicators come and go");
    for (int i = 0; i < 8; i++) {
        MT_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm));
        bool have = i % 2 == 0 && mt_win_make(&w, MT_CREATE_MALLOC, 64, 1, comm);
        rounds(comm, all, mt_size, 3);
        if (have && i % 4 == 0)
            mt_win_free(&w);
        MT_OK(MPI_Barrier(comm));
        MT_OK(MPI_Comm_free(&comm));
        if (have && i % 4 != 0)
            mt_win_free(&w);
    }
}

/* What comes when the target has just left the barrier, and computes, is served by its agent. */
static void taken_over(enum mt_kind kind)
{
    struct mt_win w;
    const int last = mt_size - 1;

    mt_section("out of the barrier, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, sizeof(int64_t), 1, MPI_COMM_WORLD))
        return;
    MT_OK(MPI_Win_lock_all(0, w.win));
    for (int64_t i = 1; i <= 40; i++) {
        const int64_t one = 1;
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (mt_rank == 0) {
            MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, last, mt_disp(&w, last, 0), 1, MPI_INT64_T, MPI_SUM, w.win));
            MT_OK(MPI_Win_flush(last, w.win));
        }
        if (mt_rank == last) /* without a call; the watchdog ends what hangs */
            while (__atomic_load_n((int64_t *)(void *)w.base, __ATOMIC_ACQUIRE) != i)
                sched_yield();
    }
    MT_OK(MPI_Win_unlock_all(w.win));
    mt_win_free(&w);
}

/* Rank 0 has the others wait in a barrier, of comm, while it works on the last one. */
static void served(void)
{
    struct mt_win w;
    const int last = mt_size - 1;
    int64_t sum = 0, one = 1;

    mt_section("served in the barrier");
    if (!mt_win_make(&w, MT_CREATE_MALLOC, sizeof(int64_t), 1, MPI_COMM_WORLD))
        return;
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt_rank == 0) {
        usleep(50000); /* the others are there by now, or most of the time is left */
        MT_OK(MPI_Win_lock_all(0, w.win));
        for (int i = 0; i < FLUSHES; i++) {
            MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, last, mt_disp(&w, last, 0), 1, MPI_INT64_T, MPI_SUM, w.win));
            MT_OK(MPI_Win_flush(last, w.win));
        }
        MT_OK(MPI_Fetch_and_op(NULL, &sum, MPI_INT64_T, last, mt_disp(&w, last, 0), MPI_NO_OP, w.win));
        MT_OK(MPI_Win_unlock_all(w.win));
        CHECK(sum == FLUSHES, "%ld of %d", (long)sum, FLUSHES);
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    mt_win_free(&w);
}

/* ---- MPI_THREAD_MULTIPLE ---- */

static atomic_bool stop;

static void *windows_come_and_go(void *arg)
{
    MPI_Comm *comm = arg;
    struct mt_win w;

    /* As many in all processes, whenever. */
    for (int i = 0; i < 25; i++) {
        if (!mt_win_make(&w, i % 2 ? MT_DYNAMIC : MT_CREATE_MALLOC, 64, 1, *comm))
            break;
        MT_OK(MPI_Barrier(*comm));
        mt_win_free(&w);
    }
    atomic_store(&stop, true);
    return NULL;
}

/* The barriers of this thread fall before, into and after the windows of the other one, elsewhere
 * in each process. */
static void multiple(void)
{
    MPI_Comm comms[2];
    pthread_t thread;
    int go_on = 1;

    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    mt_section("windows of another thread");
    pthread_create(&thread, NULL, windows_come_and_go, &comms[1]);
    while (go_on) {
        int mine = !atomic_load(&stop);
        rounds(comms[0], all, mt_size, 4);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        MT_OK(MPI_Allreduce(&mine, &go_on, 1, MPI_INT, MPI_MAX, comms[0]));
    }
    pthread_join(thread, NULL);
    MT_OK(MPI_Comm_free(&comms[0]));
    MT_OK(MPI_Comm_free(&comms[1]));
}

static void every_section(void)
{
    MPI_Comm halves, inter = MPI_COMM_NULL;

    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, mt_rank % 2, 0, &halves));
    if (mt_size > 1)
        MT_OK(MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, 1 - mt_rank % 2, 77, &inter));
    with_windows(halves, inter);
    come_and_go();
    MT_FOR_KINDS(kind)
        taken_over(kind);
    if (inter != MPI_COMM_NULL)
        MT_OK(MPI_Comm_free(&inter));
    MT_OK(MPI_Comm_free(&halves));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const bool threads = strcmp(what, "multiple") == 0;
    const int level = MT_INIT_THREAD(argc, argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);

    rng = mt_rng((uint64_t)mt_rank);
    for (int i = 0; i < mt_size; i++)
        all[i] = i;
    nhalf = members_of(2, half);
    if (threads && level != MPI_THREAD_MULTIPLE)
        mt_skip("the host does not give MPI_THREAD_MULTIPLE");
    else if (threads)
        multiple();
    else if (strcmp(what, "served") == 0)
        served();
    else
        every_section();
    return MT_FINISH();
}
