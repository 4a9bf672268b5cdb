/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_model.c - see process_model.h (MPI 4.1, 11.2 and 11.3).
 *
 * Sessions of the program are counted, so that a program without sessions never calls the host's
 * functions for sessions, which the host may not have. A session counts from before the host has
 * it. A session that comes while the last one is ending waits until everything that the windows
 * have used is gone; then this is made anew. MPI_Initialized of Intel MPI 2021.19 says yes in a
 * program that has only sessions, so it is not asked there.
 *
 * Locks: one around the count. Neighbours: calls/session.c, which counts; calls/init.c.
 */
#include "mpi/host/process_model.h"

#include <mpi.h>
#include <pthread.h>

#include "base/atomic.h"

static _Atomic int sessions;
static _Atomic bool has_world;   /* MPI_Init was called, also before this library was loaded */
static _Atomic bool had_session; /* so a host's MPI_Initialized may mean a session */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* around ending and changes of sessions */
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static bool ending; /* what the last session has used is being freed */

bool world_in_use(void)
{
    int up = 0, down = 0;

    if (atomic_load_explicit(&had_session, memory_order_acquire) &&
        !atomic_load_explicit(&has_world, memory_order_acquire))
        return false;
    PMPI_Initialized(&up);
    PMPI_Finalized(&down);
    return up && !down;
}

void world_begins(void)
{
    atomic_store_explicit(&has_world, true, memory_order_release);
}

/* look_for_world is called before the first session: it sets had_session when it has the answer,
 * and no thread goes on before that. Otherwise a second thread would conclude that a host which was
 * initialised before this library was loaded has no world, or would take its own session for the
 * world. */
static void look_for_world(void)
{
    int up = 0;

    PMPI_Initialized(&up);
    if (up)
        world_begins();
    atomic_store_explicit(&had_session, true, memory_order_release);
}

void session_begins(void)
{
    static pthread_once_t looked = PTHREAD_ONCE_INIT;

    pthread_once(&looked, look_for_world);
    pthread_mutex_lock(&lock);
    while (ending)
        pthread_cond_wait(&ended, &lock);
    atomic_fetch_add_explicit(&sessions, 1, memory_order_acq_rel);
    pthread_mutex_unlock(&lock);
}

bool session_ends(void)
{
    pthread_mutex_lock(&lock);
    ending = atomic_fetch_sub_explicit(&sessions, 1, memory_order_acq_rel) == 1;
    const bool last = ending;
    pthread_mutex_unlock(&lock);
    return last;
}

void session_end_over(void)
{
    pthread_mutex_lock(&lock);
    ending = false;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
}

bool sessions_open(void)
{
    return atomic_load_explicit(&sessions, memory_order_acquire) > 0;
}
