/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agree_library.c - see agree_library.h.
 *
 * A process that comes late must not be taken for one without the library. Hence the processes with
 * the library first make a call of the host that those without make as well, so that it returns
 * when all have come. From then on they do nothing else but enter a barrier; who does not is
 * without the library. Only where the barrier does not end do they send each other messages, to
 * learn who.
 *
 * Before a window that call is MPI_Comm_create of all processes. Both hosts begin the creation of
 * any window by duplicating its communicator, and both agree upon a communicator that is created
 * by the same messages as upon a duplicate, but copy no attributes to it: to copy them would run
 * call-backs of the user, and MPI_Comm_dup and its like alone do so (MPI 4.1, 7.7.1).
 *
 * Before MPI_Comm_split_type the call is the host's MPI_Comm_split_type itself. There processes
 * without the library leave the call and go on with the program, so the others meet on the
 * communicator itself: by a collective call, which the program cannot receive. They send messages
 * on it only where the barrier has not ended, and then the call fails.
 *
 * That a communicator has met is an attribute of it, which duplicates inherit. Its processes have
 * all set it or none of them, so they decide alike, whatever other threads do meanwhile; what a
 * process knows from other communicators would not do.
 *
 * No locks: Open MPI holds a lock of its own while it calls the user's call-backs for attributes,
 * and these may make windows. So no lock of this file may be held over a call about attributes. The
 * key is published by a compare-and-swap; who comes second frees its own.
 *
 * Neighbours: win.c, which creates windows; split_type.c; boot_report.c, which tells of long waits.
 */
#include "mpi/host/agree_library.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "mpi/host/host.h"

/* For who has come already, on an oversubscribed machine: to enter the barrier, and then to send
 * messages. */
#define BARRIER_NS UINT64_C(10000000000)
#define ANSWER_NS UINT64_C(5000000000)

enum { TAG = 32767 }; /* the host may use small ones of its own */

static _Atomic int key = MPI_KEYVAL_INVALID;

/* A copy function of its own, since the address of the host's would be needed at load. */
static int copy_attr(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static bool has_met(MPI_Comm comm)
{
    const int known = atomic_load_explicit(&key, memory_order_acquire); /* pairs with get_key */
    void *value;
    int found = 0;

    if (known == MPI_KEYVAL_INVALID ||
        PMPI_Comm_get_attr(comm, known, &value, &found) != MPI_SUCCESS)
        found = 0;
    return found;
}

static int get_key(int *known)
{
    int made = MPI_KEYVAL_INVALID, rc;

    *known = atomic_load_explicit(&key, memory_order_acquire);
    if (*known != MPI_KEYVAL_INVALID)
        return MPI_SUCCESS;
    rc = PMPI_Comm_create_keyval(copy_attr, MPI_COMM_NULL_DELETE_FN, &made, NULL);
    if (rc != MPI_SUCCESS)
        return rc;
    if (atomic_compare_exchange_strong_explicit(&key, known, made, memory_order_acq_rel,
                                                memory_order_acquire))
        *known = made;
    else
        PMPI_Comm_free_keyval(&made);
    return MPI_SUCCESS;
}

static int set_met(MPI_Comm comm)
{
    int known, rc = get_key(&known);

    return rc == MPI_SUCCESS ? PMPI_Comm_set_attr(comm, known, &key) : rc;
}

void meet_end(void)
{
    int known = atomic_exchange_explicit(&key, MPI_KEYVAL_INVALID, memory_order_acq_rel);

    if (known != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&known);
}

/* At first others may need no more than the processor. */
static void pause_since(uint64_t began)
{
    const struct timespec a_while = {.tv_nsec = 1000000};

    if (clock_monotonic_ns() - began < UINT64_C(2000000))
        sched_yield();
    else
        nanosleep(&a_while, NULL);
}

static bool is_done(MPI_Request *request)
{
    int done = 0;

    return mpi_host.Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done;
}

static bool barrier_ends(MPI_Request *barrier)
{
    const uint64_t began = clock_monotonic_ns();

    while (!is_done(barrier)) {
        if (clock_monotonic_ns() - began >= BARRIER_NS)
            return false;
        pause_since(began);
    }
    return true;
}

/* here[rank]: a message of its has come. True: the barrier has ended after all. */
static bool hear_all(MPI_Comm own, MPI_Request *barrier, int size, MPI_Request *requests,
                     bool *here)
{
    const uint64_t began = clock_monotonic_ns();
    int missing = size;

    for (int i = 0; i < size; i++) {
        if (PMPI_Irecv(NULL, 0, MPI_BYTE, i, TAG, own, &requests[i]) != MPI_SUCCESS ||
            PMPI_Isend(NULL, 0, MPI_BYTE, i, TAG, own, &requests[size + i]) != MPI_SUCCESS)
            return false;
    }
    while (missing > 0 && clock_monotonic_ns() - began < ANSWER_NS) {
        if (is_done(barrier))
            return true;
        for (int i = 0; i < size; i++)
            if (!here[i] && is_done(&requests[i])) {
                here[i] = true;
                missing--;
            }
        pause_since(began);
    }
    return false;
}

/* True: nobody is, the barrier has ended. */
static bool find_absent(MPI_Comm own, MPI_Request *barrier, int size, char *text, size_t len)
{
    MPI_Request *requests = calloc(2 * (size_t)size, sizeof *requests);
    bool *here = calloc((size_t)size, sizeof *here), ended = false;

    snprintf(text, len, "(no memory to find out which)");
    if (requests != NULL && here != NULL) {
        ended = hear_all(own, barrier, size, requests, here);
        text_show_unmarked(here, size, text, len);
    }
    free(requests); /* what is still under way stays so: nobody can end it */
    free(here);
    return ended;
}

/* A copy without attributes; the errors of what is done on it are this file's. */
static int create_copy(MPI_Comm comm, MPI_Comm *own)
{
    MPI_Group all;
    int rc = PMPI_Comm_group(comm, &all);

    if (rc != MPI_SUCCESS)
        return rc;
    rc = PMPI_Comm_create(comm, all, own);
    mpi_host.Group_free(&all);
    return rc == MPI_SUCCESS ? PMPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN) : rc;
}

/* What is met on then is the communicator itself: processes without the library have left the call,
 * and would not come to a communicator of its own. */
static int split_alike(MPI_Comm comm, MPI_Comm *own)
{
    MPI_Comm node = MPI_COMM_NULL;
    const int rc = mpi_host.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);

    if (rc == MPI_SUCCESS && node != MPI_COMM_NULL)
        PMPI_Comm_free(&node);
    *own = comm;
    return rc;
}

int meet_all(MPI_Comm comm, enum meet_before before, const struct boot *boot,
             struct boot_report *report, char *msg, size_t len)
{
    char absent[128] = "";
    MPI_Request barrier;
    MPI_Comm own;
    bool met;
    int rc;

    if (boot->nproc == 1 || has_met(comm))
        return MRMA_SUCCESS;
    snprintf(msg, len, "the host refused %s of the communicator",
             before == MEET_BEFORE_WINDOW ? "a copy" : "a split");
    boot_report_begin(report, boot);
    rc = before == MEET_BEFORE_WINDOW ? create_copy(comm, &own) : split_alike(comm, &own);
    boot_report_end(report);
    if (rc != MPI_SUCCESS || PMPI_Ibarrier(own, &barrier) != MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    met = barrier_ends(&barrier) || find_absent(own, &barrier, boot->nproc, absent, sizeof absent);
    if (met) {
        if (own != comm)
            PMPI_Comm_free(&own);
        return set_met(comm) == MPI_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_OTHER;
    }
    snprintf(msg, len,
             "of the %d processes of the communicator, these ranks do not have this library, or "
             "have MPIRMA_DISABLE=1: %s; start all with mpi-rma-run, or link them with the library",
             boot->nproc, absent);
    return MRMA_ERR_OTHER;
}
