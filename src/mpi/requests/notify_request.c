/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify_request.c - see notify_request.h; and MPI_Start and MPI_Startall (MPI 4.1, 3.9), which
 * tell which requests are active.
 *
 * An error ends a request by a message of one byte, for which the receive has no room, so that the
 * call that waits returns the host's error for that (class MPI_ERR_TRUNCATE). Some hosts free a
 * persistent request with that error, and may give its handle to any later request: with these
 * hosts the library forgets the handle before the message is sent, and the tag after it was sent.
 *
 * Each request has a tag of its own among those that live, so that no message completes another
 * one. A request is active from MPI_Start until its notifications have been taken. The list and
 * what it holds are guarded by one mutex, which is not held while calling the host; the engine's
 * lock may be taken inside it. A second mutex, which is taken before the first, is held from the
 * taking of the notifications until the message has been sent: so MPI_Cancel and MPI_Request_free
 * in another thread come before both, or find the request complete.
 *
 * Neighbours: request.c, which calls notify_request_advance; rma.h, which counts.
 */
#include "mpi/requests/notify_request.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "base/err.h"
#include "base/list.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/host/host_kind.h"
#include "mpi/process/errhan.h"
#include "mpi/process/state.h"
#include "mpi/requests/request_pool.h"
#include "rma/rma.h"

struct notify_request {
    struct list_node link; /* in live */
    MPI_Request handle;    /* the host's */
    int tag;
    const struct win_rec *rec; /* NULL: the window is gone */
    struct rma_notified what;
    bool active;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t completing = PTHREAD_MUTEX_INITIALIZER;
static struct list live = {{&live.head, &live.head}};
static _Atomic unsigned nlive; /* read without the lock by calls that have nothing to do with these
                                  requests */

static bool any_live(void)
{
    return unlikely(atomic_load_explicit(&nlive, memory_order_relaxed) != 0);
}

/* find returns the request with that handle; NULL: the handle belongs to another request. A request
 * without a handle is being made, or has failed where the host then frees it. Under the lock. */
static struct notify_request *find(MPI_Request handle)
{
    LIST_EACH (node, &live) {
        struct notify_request *r = LIST_ENTRY(node, struct notify_request, link);
        if (r->handle == handle && handle != MPI_REQUEST_NULL)
            return r;
    }
    return NULL;
}

/* enter gives r the lowest tag that no request has, and enters it into the list, which is in the
 * order of tags. Under the lock. */
static void enter(struct notify_request *r)
{
    struct list_node *at = list_first(&live);
    r->tag = 0;
    while (at != NULL && LIST_ENTRY(at, struct notify_request, link)->tag == r->tag) {
        r->tag++;
        at = list_next(&live, at);
    }
    if (at != NULL)
        list_insert_after(at->prev, &r->link);
    else
        list_push_back(&live, &r->link);
    atomic_fetch_add_explicit(&nlive, 1, memory_order_relaxed);
}

static void leave(struct notify_request *r)
{
    pthread_mutex_lock(&lock);
    list_remove(&r->link);
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub_explicit(&nlive, 1, memory_order_relaxed);
    free(r);
}

int notify_request_new(const struct win_rec *rec, const struct rma_notified *what,
                       MPI_Request *request)
{
    struct notify_request *r = malloc(sizeof *r);
    MPI_Request handle = MPI_REQUEST_NULL;

    if (r == NULL)
        return MRMA_ERR_NO_MEM;
    *r = (struct notify_request){.handle = handle, .rec = rec, .what = *what};
    pthread_mutex_lock(&lock);
    enter(r);
    pthread_mutex_unlock(&lock);
    if (PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, r->tag, mpi_state.self.carriers, &handle) !=
        MPI_SUCCESS) {
        leave(r);
        return MRMA_ERR_OTHER;
    }
    pthread_mutex_lock(&lock);
    r->handle = handle;
    pthread_mutex_unlock(&lock);
    *request = handle;
    return MRMA_SUCCESS;
}

/* notify_request_none uses a request of the host that the library need not know. */
int notify_request_none(MPI_Request *request)
{
    MPI_Request handle;

    if (PMPI_Recv_init(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, mpi_state.self.carriers, &handle) !=
        MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    *request = handle;
    return MRMA_SUCCESS;
}

/* complete sends the message that completes the request with that tag, which was active. */
static void complete(int tag, int err)
{
    const char excess = 0;

    if (unlikely(err != MRMA_SUCCESS))
        request_fail("MPIRMA_Notify_init", err);
    PMPI_Send(&excess, err != MRMA_SUCCESS, MPI_BYTE, 0, tag, mpi_state.self.carriers);
    atomic_fetch_sub_explicit(&request_npending, 1, memory_order_release);
}

/* set_active changes r->active, and tells the layer below as long as there is a window. Under the
 * lock. */
static void set_active(struct notify_request *r, bool active)
{
    r->active = active;
    if (r->rec != NULL)
        rma_notify_await(r->rec->win, &r->what, active);
}

/* has_ended returns whether the notifications of r, which is active, have come, and takes them if
 * so; or whether they can never come, and then sets *err. Under the lock. */
static bool has_ended(const struct notify_request *r, int *err)
{
    int taken = -1;

    *err = r->rec == NULL ? MRMA_ERR_WIN : rma_notify_take(r->rec->win, &r->what, &taken);
    return taken >= 0 || *err != MRMA_SUCCESS;
}

/* end_next returns the first request behind the tag last that ends now, and makes it inactive;
 * NULL: there is none. The request stays until completing is unlocked. */
static struct notify_request *end_next(int last, int *err)
{
    struct notify_request *ended = NULL;

    pthread_mutex_lock(&lock);
    LIST_EACH (node, &live) {
        struct notify_request *r = LIST_ENTRY(node, struct notify_request, link);
        if (ended != NULL || !r->active || r->tag <= last || !has_ended(r, err))
            continue;
        set_active(r, false);
        if (*err != MRMA_SUCCESS && host_frees_failed())
            r->handle = MPI_REQUEST_NULL;
        ended = r;
    }
    pthread_mutex_unlock(&lock);
    return ended;
}

void notify_request_advance(void)
{
    struct notify_request *r;
    int err, tag = -1;

    if (!any_live())
        return;
    pthread_mutex_lock(&completing);
    while ((r = end_next(tag, &err)) != NULL) {
        tag = r->tag;
        complete(tag, err);
        if (r->handle == MPI_REQUEST_NULL)
            leave(r);
    }
    pthread_mutex_unlock(&completing);
}

/* deactivate makes the request inactive. Returns whether it is one of these requests and was
 * active. */
static bool deactivate(MPI_Request handle, struct notify_request **r)
{
    bool active;

    pthread_mutex_lock(&completing);
    pthread_mutex_lock(&lock);
    *r = find(handle);
    active = *r != NULL && (*r)->active;
    if (active)
        set_active(*r, false);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&completing);
    if (active)
        atomic_fetch_sub_explicit(&request_npending, 1, memory_order_release);
    return active;
}

bool notify_request_is(MPI_Request handle)
{
    if (!any_live())
        return false;
    pthread_mutex_lock(&lock);
    const bool found = find(handle) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

void notify_request_cancel(MPI_Request handle)
{
    struct notify_request *r;

    if (any_live())
        (void)deactivate(handle, &r);
}

void notify_request_free(MPI_Request handle)
{
    struct notify_request *r = NULL;

    if (any_live() && deactivate(handle, &r)) {
        MPI_Request same = handle;
        mpi_host.Cancel(&same);
        mpi_host.Wait(&same, MPI_STATUS_IGNORE);
    }
    if (r != NULL)
        leave(r);
}

void notify_request_orphan(const struct win_rec *rec)
{
    if (!any_live())
        return;
    pthread_mutex_lock(&lock);
    LIST_EACH (node, &live) {
        struct notify_request *r = LIST_ENTRY(node, struct notify_request, link);
        if (r->rec == rec)
            r->rec = NULL;
    }
    pthread_mutex_unlock(&lock);
    notify_request_advance();
}

/* ---- MPI_Start and MPI_Startall ---- */

/* started makes those of n requests active that the host has started and that are of this kind. */
static void started(int n, const MPI_Request *requests)
{
    bool any = false;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++) {
        struct notify_request *r = find(requests[i]);
        if (r == NULL)
            continue;
        set_active(r, true);
        any = true;
        atomic_fetch_add_explicit(&request_npending, 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    if (any)
        notify_request_advance();
}

/* The host would take the request of an R-operation for a persistent one (3.9). */
static const struct mpi_request *first_of_operations(int n, const MPI_Request *requests)
{
    const struct mpi_request *r = NULL;

    for (int i = 0; requests != NULL && r == NULL && i < n; i++)
        r = request_find(requests[i]);
    return r;
}

MRMA_PUBLIC int PMPI_Start(MPI_Request *request)
{
    const struct mpi_request *wrong = first_of_operations(1, request);
    if (unlikely(wrong != NULL))
        return request_refuse("MPI_Start", wrong);
    const int rc = mpi_host.Start(request);

    if (any_live() && rc == MPI_SUCCESS)
        started(1, request);
    return rc;
}
MRMA_EXPORT_MPI(Start);

MRMA_PUBLIC int PMPI_Startall(int count, MPI_Request requests[])
{
    const struct mpi_request *wrong = first_of_operations(count, requests);
    if (unlikely(wrong != NULL))
        return request_refuse("MPI_Startall", wrong);
    const int rc = mpi_host.Startall(count, requests);

    if (any_live() && rc == MPI_SUCCESS)
        started(count, requests);
    return rc;
}
MRMA_EXPORT_MPI(Startall);
