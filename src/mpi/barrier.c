/*
 * barrier.c - MPI_Barrier (MPI 4.1, 6.3): who waits in it serves packets meanwhile.
 *
 * The host's, where no window needs that; one branch. Where targets can be reached by packets only,
 * or faster by packets than by the kernel, a process that waits in the host's barrier
 * leaves them to its agent thread, which costs a wake-up each time. On communicators that
 * barrier_comm.h has chosen, a barrier is therefore by messages of the host, which can be waited for
 * in turns with the engine's progress: in step k every process sends one to the process 2^k
 * ranks above, and waits for that of the one 2^k below (a dissemination barrier). While it waits
 * it says that it polls, so that senders do not wake the agent. The host's PMPI_Ibarrier would need no
 * communicator besides the user's, but takes up to twice the time (doc/performance.md).
 *
 * Errors are those of the host's calls, and go to the error handler of the user's communicator.
 */
#include <mpi.h>

#include <sched.h>

#include "mpi/barrier_comm.h"
#include "mpi/engine_get.h"
#include "mpi/export.h"
#include "mpi/host.h"
#include "rma/rma.h"

enum {
    ROUNDS_UNATTENDED = 16, /* tests, a microsecond or two, before it is worth saying that this process polls */
    ROUNDS_PER_BACKOFF = 16, /* on a crowded node: a message may take the host several calls to notice */
    POLLS_SERVED = 32,       /* after a packet: the next one may be near, and a test of the host's takes longer */
    POLLS_MAX = 1024
};

struct waiter {
    struct rma *rma; /* NULL: the engine has ended before the communicator, with the last session */
    unsigned round;
    bool attending;
    bool served; /* packets came in the last round */
};

/* Serve what comes; if packets do, stay with them a little. */
static void attend(struct waiter *w)
{
    unsigned left = w->served ? POLLS_SERVED : 1;

    w->served = false;
    for (unsigned polls = 0; left != 0 && polls < POLLS_MAX; polls++) {
        left--;
        if (rma_progress(w->rma)) {
            w->served = true;
            left = POLLS_SERVED;
        }
    }
}

/* Nothing has come yet. */
static void pass_time(struct waiter *w)
{
    w->round++;
    if (w->rma == NULL) {
        sched_yield();
        return;
    }
    if (!w->attending && w->round >= ROUNDS_UNATTENDED)
        w->attending = rma_attend_begin(w->rma);
    if (w->attending)
        attend(w);
    if (w->round % ROUNDS_PER_BACKOFF == 0)
        rma_backoff(w->rma, w->round);
}

/* A receive that is not waited for. */
static void forget(MPI_Request *request)
{
    if (mpi_host.Cancel(request) == MPI_SUCCESS)
        mpi_host.Wait(request, MPI_STATUS_IGNORE);
}

/* One step: the messages to and from the processes 2^k ranks away. */
static int step(const struct barrier_comm *c, int distance, struct waiter *w)
{
    const int above = (c->rank + distance) % c->size, below = (c->rank + c->size - distance) % c->size;
    MPI_Request request[2];
    MPI_Status status[2];
    int done = 0;
    int rc = PMPI_Irecv(NULL, 0, MPI_BYTE, below, 0, c->own, &request[0]);

    if (rc == MPI_SUCCESS) {
        rc = PMPI_Isend(NULL, 0, MPI_BYTE, above, 0, c->own, &request[1]);
        if (rc != MPI_SUCCESS)
            forget(&request[0]);
    }
    while (rc == MPI_SUCCESS && !done) {
        rc = mpi_host.Testall(2, request, &done, status);
        if (!done)
            pass_time(w);
    }
    return rc;
}

static int barrier(struct barrier_comm *c)
{
    struct waiter w = { .rma = mpi_state.rma };
    int rc = MPI_SUCCESS;

    for (int distance = 1; rc == MPI_SUCCESS && distance < c->size; distance *= 2)
        rc = step(c, distance, &w);
    if (w.attending)
        rma_attend_end(w.rma);
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(atomic_load_explicit(&c->handle, memory_order_relaxed), rc);
    return rc;
}

MRMA_PUBLIC int PMPI_Barrier(MPI_Comm comm)
{
    struct barrier_comm *c;

    if (!barrier_comms_attended())
        return mpi_host.Barrier(comm);
    c = barrier_comm_find(comm);
    return c != NULL && barrier_comm_open(c) ? barrier(c) : mpi_host.Barrier(comm);
}
MRMA_EXPORT_MPI(Barrier);
