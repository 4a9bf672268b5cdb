/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carrier_stock.c - see carrier_stock.h.
 *
 * MPI_Init_thread fills the stock, when no other thread can be in a call that has begun to take a
 * context id and waits for other processes. When half of the stock is used up a thread of the
 * library makes carriers until the stock is full. That thread may wait as long as such calls of the
 * program take, and nobody waits for it unless the stock is empty. It begins with the first refill
 * and ends when the stock is full, so few programs ever have it.
 *
 * Only one carrier is made at a time, since the host allows one creation at a time on a
 * communicator. "making" says that a thread is making one; a thread that needs a carrier then waits
 * on the condition.
 *
 * Locks: one around what follows; never held while calling the host. Neighbours: carrier.c, which
 * makes one; win.c, which takes them; own_comm.c, which has the communicator; init.c and session.c,
 * which end the host.
 */
#include "mpi/host/carrier_stock.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "base/err.h"
#include "mpi/host/carrier.h"
#include "mpi/host/host.h"
#include "mpi/host/host_kind.h"

enum { FULL = 16, LOW = FULL / 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* ready or making */
static MPI_Win ready[FULL];
static int nready;
static MPI_Comm on;      /* the communicator of the stock, where it is open */
static bool is_open;     /* also while it is paused */
static bool paused;      /* nobody fills it */
static bool refused;     /* the host has refused a carrier to the thread that filled the stock */
static bool making;      /* a thread is in the host to make a carrier */
static bool has_filler;  /* filler is to be joined */
static pthread_t filler; /* makes carriers, or has said, by clearing making, that it makes no
                            more */

void carrier_stock_open(MPI_Comm self)
{
    int level = MPI_THREAD_SINGLE;

    PMPI_Query_thread(&level);
    if (level != MPI_THREAD_MULTIPLE || !host_ids_wait())
        return;
    pthread_mutex_lock(&lock);
    if (!is_open) {
        is_open = true;
        refused = false;
        on = self;
    }
    pthread_mutex_unlock(&lock);
}

/* Called with the lock, which it gives back while the host makes one. The caller has set making. */
static int make(MPI_Comm self, MPI_Win *carrier, char *msg, size_t len)
{
    pthread_mutex_unlock(&lock);
    const int err = carrier_make(self, carrier, msg, len);
    pthread_mutex_lock(&lock);
    return err;
}

/* fill is called with the lock, when nobody makes a carrier. It drops the host's reason for a
 * refusal: the thread that needs a carrier makes one itself, and gets the reason then. */
static void fill(void)
{
    char msg[8];

    making = true;
    while (is_open && !paused && !refused && nready < FULL) {
        MPI_Win carrier;

        if (make(on, &carrier, msg, sizeof msg) == MRMA_SUCCESS)
            ready[nready++] = carrier;
        else
            refused = true;
        pthread_cond_broadcast(&changed);
    }
    making = false;
    pthread_cond_broadcast(&changed);
}

static void *fill_ahead(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    fill();
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* begin_filler is called with the lock, while nobody makes a carrier. Returns whether a thread
 * makes carriers now. A former thread that has said that it makes no more does not need the lock
 * any more. */
static bool begin_filler(void)
{
    sigset_t all, before;

    if (!is_open || paused || refused)
        return false;
    if (has_filler)
        pthread_join(filler, NULL);
    sigfillset(&all); /* the application's signals are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    has_filler = making = pthread_create(&filler, NULL, fill_ahead, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return making;
}

void carrier_stock_fill(void)
{
    pthread_mutex_lock(&lock);
    if (!making)
        fill();
    pthread_mutex_unlock(&lock);
}

int carrier_stock_take(MPI_Comm self, MPI_Win *carrier, char *msg, size_t len)
{
    int err = MRMA_SUCCESS;

    pthread_mutex_lock(&lock);
    while (nready == 0 && (making || begin_filler()))
        pthread_cond_wait(&changed, &lock);
    if (nready > 0) {
        *carrier = ready[--nready];
    } else {
        making = true;
        err = make(self, carrier, msg, len);
        making = false;
        refused = refused && err != MRMA_SUCCESS;
        pthread_cond_broadcast(&changed);
    }
    if (nready <= LOW && !making)
        (void)begin_filler();
    pthread_mutex_unlock(&lock);
    return err;
}

void carrier_stock_pause(void)
{
    pthread_mutex_lock(&lock);
    paused = true;
    while (making)
        pthread_cond_wait(&changed, &lock);
    if (has_filler)
        pthread_join(filler, NULL);
    has_filler = false;
    pthread_mutex_unlock(&lock);
}

void carrier_stock_resume(void)
{
    pthread_mutex_lock(&lock);
    paused = false;
    pthread_mutex_unlock(&lock);
}

void carrier_stock_close(void)
{
    carrier_stock_pause();
    while (nready > 0)
        mpi_host.Win_free(&ready[--nready]);
    is_open = false;
    carrier_stock_resume();
}
