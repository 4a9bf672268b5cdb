/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agree_library.c - see agree_library.h.
 *
 * A process that comes late must not be taken for one without the library. So the processes with
 * the library first make a call of the host that those without it make as well, and which returns
 * when all have come. Then they enter a barrier; a process that does not enter it is without the
 * library. Only if the barrier does not end they send each other messages, to learn which processes
 * these are.
 *
 * Before a window that call is MPI_Comm_create of all processes. Both hosts begin the creation of
 * any window by duplicating its communicator. MPI_Comm_create uses the same messages as a
 * duplication in both, but copies no attributes: that would run call-backs of the user, and only
 * MPI_Comm_dup and its like do so (MPI 4.1, 7.7.1).
 *
 * Before MPI_Comm_split_type the call is the host's MPI_Comm_split_type itself. Processes without
 * the library leave that call and go on with the program, so the others meet on the communicator
 * itself, by a collective call, which the program cannot receive. They send messages on it only if
 * the barrier has not ended, and then the call fails.
 *
 * A communicator whose processes have met has an attribute, which duplicates inherit. Either all of
 * its processes have set it or none, so they decide alike, whatever other threads do meanwhile;
 * what a process knows from other communicators may differ between processes.
 *
 * No locks: Open MPI holds a lock of its own while it calls the user's call-backs for attributes,
 * and these may make windows. So no lock of this file may be held during a call about attributes.
 * The key is published by a compare-and-swap; a thread that comes second frees its own key.
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

/* The time that processes which have come already have, on an oversubscribed machine, to enter the
 * barrier, and then again to send messages. */
#define BARRIER_NS UINT64_C(10000000000)
#define ANSWER_NS UINT64_C(5000000000)

enum { TAG = 32767 }; /* the host may use small tags of its own */

static _Atomic int key = MPI_KEYVAL_INVALID;

/* copy_attr is used since the address of the host's copy function would be needed when the library
 * is loaded. */
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

/* At first pause_since only yields, since the others may need only the processor. */
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

/* hear_all sets here[rank] if a message of that rank has come. True: the barrier has ended after
 * all. */
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

/* find_absent finds the absent ranks. True: none is absent, since the barrier has ended. */
static bool find_absent(MPI_Comm own, MPI_Request *barrier, int size, char *text, size_t len)
{
    MPI_Request *requests = calloc(2 * (size_t)size, sizeof *requests);
    bool *here = calloc((size_t)size, sizeof *here), ended = false;

    snprintf(text, len, "(no memory to find out which)");
    if (requests != NULL && here != NULL) {
        ended = hear_all(own, barrier, size, requests, here);
        text_show_unmarked(here, size, text, len);
    }
    free(requests); /* messages still under way are left so, since nobody can end them */
    free(here);
    return ended;
}

/* create_copy makes a copy without attributes, whose errors this file handles. */
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

/* The processes then meet on the communicator itself: processes without the library have left the
 * call, and would not take part in making another communicator. */
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
