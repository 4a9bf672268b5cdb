/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meet.c - see meet.h.
 *
 * A process that comes late must not be taken for one without the library. Both hosts begin the
 * creation of any window by duplicating its communicator, so a duplicate made here first is made
 * together with the hosts' in processes without the library: when it is there, all have come. From
 * then on those with the library do nothing else but enter a barrier of the duplicate; who does not
 * is without it. Only where the barrier does not end do they send each other messages, to learn
 * who.
 *
 * That a communicator has met is an attribute of it, which duplicates inherit. Its processes have
 * all set it or none of them, so they decide alike, whatever other threads do meanwhile; what a
 * process knows from other communicators would not do. The lock guards the attribute's key.
 *
 * Neighbours: win.c, which creates windows; boot_report.c, which tells of long waits.
 */
#include "mpi/host/meet.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

/* For who has come already, on an oversubscribed machine: to enter the barrier, and then to send
 * messages. */
#define BARRIER_NS UINT64_C(10000000000)
#define ANSWER_NS UINT64_C(5000000000)

enum { TAG = 32767 }; /* of the duplicate, where the host may use small ones of its own */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int key = MPI_KEYVAL_INVALID;

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
    void *value;
    int found = 0;

    pthread_mutex_lock(&lock);
    if (key != MPI_KEYVAL_INVALID && PMPI_Comm_get_attr(comm, key, &value, &found) != MPI_SUCCESS)
        found = 0;
    pthread_mutex_unlock(&lock);
    return found;
}

static int set_met(MPI_Comm comm)
{
    int rc = MPI_SUCCESS;

    pthread_mutex_lock(&lock);
    if (key == MPI_KEYVAL_INVALID)
        rc = PMPI_Comm_create_keyval(copy_attr, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_set_attr(comm, key, &key);
    pthread_mutex_unlock(&lock);
    return rc;
}

void meet_end(void)
{
    pthread_mutex_lock(&lock);
    if (key != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&key);
    pthread_mutex_unlock(&lock);
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

    return PMPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done;
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

int meet_all(MPI_Comm comm, const struct boot *boot, struct boot_report *report, char *msg,
             size_t len)
{
    char absent[128] = "";
    MPI_Request barrier;
    MPI_Comm own;
    bool met;
    int rc;

    if (boot->nproc == 1 || has_met(comm))
        return MRMA_SUCCESS;
    snprintf(msg, len, "the host refused a copy of the communicator");
    boot_report_begin(report, boot);
    rc = PMPI_Comm_dup(comm, &own);
    boot_report_end(report);
    if (rc != MPI_SUCCESS || PMPI_Ibarrier(own, &barrier) != MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    met = barrier_ends(&barrier) || find_absent(own, &barrier, boot->nproc, absent, sizeof absent);
    if (met) {
        PMPI_Comm_free(&own);
        return set_met(comm) == MPI_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_OTHER;
    }
    snprintf(msg, len,
             "of the %d processes of the communicator, these ranks do not have this library, or "
             "have MPIRMA_DISABLE=1: %s; start all with mpi-rma-run, or link them with the library",
             boot->nproc, absent);
    return MRMA_ERR_OTHER;
}
