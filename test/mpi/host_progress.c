/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_progress.c - a process that waits in a call of the library, or repeats calls that do not
 * wait, lets move on what it has begun by calls of the host (MPI 4.1, 2.9).
 *
 * Rank 0 has an operation of the host pending and waits. Rank 1, the partner, blocks in its part of
 * that operation, and only then does for what rank 0 waits. The other ranks do their part of both
 * at once. Each kind of pending operation meets each kind of wait; the partner begins while rank 0
 * still polls, or when it sleeps. If the library does not let the host go on, rank 0 waits for
 * ever. The operations are in host_progress_pending.c, the waits in host_progress_waits.c.
 *
 * Arguments: names of pending operations and of waits, of which the others are left out; and
 * "threads", for MPI_THREAD_MULTIPLE and the operation of another thread.
 *
 * Collective operations on files are not among them: MPICH moves these on in MPI_Wait and MPI_Test
 * of their own requests alone, so that an MPI_Barrier in front of these hangs without the library,
 * too, and Open MPI makes them of operations of each process alone.
 */
#include "host_progress.h"

#include <unistd.h>

MPI_Comm hp_world;
int hp_turn;
static bool threads;

static void call(void (*part)(void))
{
    if (part != NULL)
        part();
}

static void meet(const struct hp_pending *p, const struct hp_wait *wait)
{
    /* Rank 0 is in its first look, polls, or sleeps. */
    static const useconds_t later[] = {0, 300, 5000};

    hp_turn++;
    mt_section("%s, %s pending", wait->name, p->name);
    call(wait->before);
    MT_OK(MPI_Barrier(hp_world));
    if (mt_rank == 0) {
        p->begin();
        wait->wait();
        p->end();
    } else if (mt_rank == HP_PARTNER) {
        usleep(later[hp_turn % 3]);
        p->partner();
        wait->end();
    } else {
        call(p->others);
        call(wait->others);
    }
    call(wait->after);
    MT_OK(MPI_Barrier(hp_world)); /* or the partner would lock again before rank 0 has the lock */
}

/* How many of these names are among the arguments. */
static int count_asked(int argc, char **argv, const char *(*name_of)(int))
{
    int asked = 0;

    for (int i = 0; name_of(i) != NULL; i++)
        asked += mt_is_asked(argc, argv, name_of(i));
    return asked;
}

static const char *pending_name(int i)
{
    return hp_pending[i].name;
}

static const char *wait_name(int i)
{
    return hp_waits[i].name;
}

/* Those named among the arguments, or, if none of that kind is there, all. */
static bool is_chosen(int argc, char **argv, const char *(*name_of)(int), int i)
{
    return !count_asked(argc, argv, name_of) || mt_is_asked(argc, argv, name_of(i));
}

/* A wait in a dynamic window, which path mapped refuses. */
static bool is_refused(const struct hp_wait *wait)
{
    if (strcmp(wait->name, "detach") != 0 || !mt_path_is("mapped"))
        return false;
    mt_skip("MPI_Win_create_dynamic is refused on the mapped path");
    return true;
}

static void meet_all_chosen(int argc, char **argv)
{
    for (int i = 0; hp_waits[i].name != NULL; i++)
        for (int k = 0; hp_pending[k].name != NULL && !is_refused(&hp_waits[i]); k++)
            if ((threads || !hp_pending[k].of_threads) && is_chosen(argc, argv, pending_name, k) &&
                is_chosen(argc, argv, wait_name, i))
                meet(&hp_pending[k], &hp_waits[i]);
}

int main(int argc, char **argv)
{
    const bool wants_threads = mt_is_asked(argc, argv, "threads");
    const int level =
        MT_INIT_THREAD(argc, argv, wants_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);

    CHECK(argc == 1 || wants_threads || count_asked(argc, argv, pending_name) ||
              count_asked(argc, argv, wait_name),
          "there is no part %s", argv[1]);
    threads = wants_threads && level == MPI_THREAD_MULTIPLE;
    hp_world = MPI_COMM_WORLD;
    hp_make_buffers();
    hp_make_windows();
    meet_all_chosen(argc, argv);
    hp_free_windows();
    hp_free_buffers();
    return MT_FINISH();
}
