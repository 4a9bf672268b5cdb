/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_comm.c - see own_comm.h (MPI 4.1, 11.2 and 11.3).
 *
 * The library's own session lives as long as the communicator that comes from it, and is not
 * counted among the program's. Sessions of the program are counted, so that a program without
 * sessions never calls the host's functions for sessions, which the host may not have. A session
 * counts from before the host has it. A session that comes while the last one is ending waits until
 * everything that the windows have used is gone; then this is made anew. MPI_Initialized of Intel
 * MPI 2021.19 says yes in a program that has only sessions, so it is not asked there.
 *
 * Locks: one around the count. Only one thread at a time makes the communicators. Neighbours:
 * calls/session.c, which counts; calls/engine_get.c, which needs the communicators; calls/init.c;
 * carrier_stock.c.
 */
#include "mpi/host/own_comm.h"

#include <pthread.h>

#include "base/atomic.h"
#include "base/err.h"
#include "mpi/host/carrier_stock.h"
#include "mpi/host/host.h"
#include "mpi/host/host_kind.h"

static _Atomic int sessions;
static _Atomic bool has_world;   /* MPI_Init was called, also before this library was loaded */
static _Atomic bool had_session; /* so a host's MPI_Initialized may mean a session */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* around ending and changes of sessions */
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static bool ending; /* what the last session has used is being freed */

static HOST_SESSION own;
static bool has_own;

static struct self ahead; /* what self_make returns next */
static bool has_ahead;

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

/* first_from_world uses a split, since a dup would run copy call-backs of the user. */
static int first_from_world(MPI_Comm *first)
{
    return PMPI_Comm_split(MPI_COMM_SELF, 0, 0, first) == MPI_SUCCESS ? MRMA_SUCCESS
                                                                      : MRMA_ERR_OTHER;
}

static int first_from_session(MPI_Comm *first)
{
    MPI_Group group;
    int rc;

    if (mpi_host.Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own) != MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    rc = mpi_host.Group_from_session_pset(own, "mpi://SELF", &group);
    if (rc == MPI_SUCCESS) {
        rc = mpi_host.Comm_create_from_group(group, "libmpi-rma", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                             first);
        mpi_host.Group_free(&group);
    }
    has_own = rc == MPI_SUCCESS;
    if (!has_own)
        mpi_host.Session_finalize(&own);
    return has_own ? MRMA_SUCCESS : MRMA_ERR_OTHER;
}

static void drop(MPI_Comm *first)
{
    PMPI_Comm_free(first);
    if (has_own)
        mpi_host.Session_finalize(&own);
    has_own = false;
}

static int make(struct self *self)
{
    const int err = world_in_use() && !sessions_open() ? first_from_world(&self->carriers)
                                                       : first_from_session(&self->carriers);

    if (err != MRMA_SUCCESS)
        return err;
    PMPI_Comm_set_errhandler(self->carriers, MPI_ERRORS_RETURN);
    if (PMPI_Comm_split(self->carriers, 0, 0, &self->types) != MPI_SUCCESS) {
        drop(&self->carriers);
        return MRMA_ERR_OTHER;
    }
    carrier_stock_open(self->carriers);
    return MRMA_SUCCESS;
}

void self_make_ahead(void)
{
    int level = MPI_THREAD_SINGLE;

    PMPI_Query_thread(&level);
    if (level != MPI_THREAD_MULTIPLE || !host_ids_wait())
        return;
    has_ahead = make(&ahead) == MRMA_SUCCESS;
    if (has_ahead)
        carrier_stock_fill();
}

/* A communicator that was made from MPI_COMM_SELF ends with it, while windows of a session may live
 * longer. */
int self_make(struct self *self)
{
    if (has_ahead && sessions_open() && !has_own)
        self_end();
    if (!has_ahead)
        return make(self);
    *self = ahead;
    has_ahead = false;
    return MRMA_SUCCESS;
}

void self_free(struct self *self)
{
    carrier_stock_close();
    PMPI_Comm_free(&self->types);
    drop(&self->carriers);
}

void self_end(void)
{
    if (has_ahead)
        self_free(&ahead);
    has_ahead = false;
}

int self_rank(void)
{
    MPI_Group all;
    int rank = 0;

    if (world_in_use()) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    } else if (has_own &&
               mpi_host.Group_from_session_pset(own, "mpi://WORLD", &all) == MPI_SUCCESS) {
        PMPI_Group_rank(all, &rank);
        mpi_host.Group_free(&all);
    }
    return rank;
}

bool self_outlives_world(void)
{
    return has_own;
}
