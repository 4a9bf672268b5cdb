/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_requests.c - see traced_requests.h. Lists by a hash of the handle.
 *
 * Locks: one for all of it, innermost; the count may be read without.
 */
#include "mpi/traced/traced_requests.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LISTS = 1024 };

static struct traced_request *list[LISTS];
static _Atomic size_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A number in MPICH, a pointer in Open MPI. */
static uint64_t handle_of(MPI_Request request)
{
    uint64_t handle = 0;

    memcpy(&handle, &request, sizeof request);
    return handle;
}

static struct traced_request **list_of(uint64_t handle)
{
    return &list[(handle * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (LISTS - 1)];
}

/* find returns the link to the oldest request of this handle; a link that is NULL: there is none.
 * Called with the lock. */
static struct traced_request **find(uint64_t handle)
{
    struct traced_request **at = list_of(handle);

    while (*at != NULL && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

/* With the lock. */
static void drop(struct traced_request **at)
{
    struct traced_request *old = *at;

    *at = old->next;
    free(old);
    atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);
}

void traced_requests_add(MPI_Request request, struct traced_request what)
{
    struct traced_request *added = malloc(sizeof *added), **at;

    if (added == NULL)
        return;
    *added = what;
    added->next = NULL;
    added->handle = handle_of(request);
    pthread_mutex_lock(&lock);
    for (at = list_of(added->handle); *at != NULL;)
        at = &(*at)->next;
    *at = added;
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

bool traced_requests_any(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed) > 0;
}

bool traced_requests_take(MPI_Request request, struct traced_request *what)
{
    pthread_mutex_lock(&lock);
    struct traced_request **at = find(handle_of(request));
    const bool found = *at != NULL;

    if (found) {
        *what = **at;
        if (what->stays)
            (*at)->number = 0;
        else
            drop(at);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

bool traced_requests_start(MPI_Request request, uint64_t (*get)(const struct traced_request *what))
{
    struct traced_request what = {.stays = false};

    pthread_mutex_lock(&lock);
    struct traced_request **at = find(handle_of(request));
    if (*at != NULL)
        what = **at;
    pthread_mutex_unlock(&lock);
    if (!what.stays)
        return false;
    const uint64_t number = get(&what);
    pthread_mutex_lock(&lock);
    at = find(handle_of(request));
    if (*at != NULL)
        (*at)->number = number;
    pthread_mutex_unlock(&lock);
    return true;
}

void traced_requests_forget(MPI_Request request)
{
    pthread_mutex_lock(&lock);
    struct traced_request **at = find(handle_of(request));
    if (*at != NULL)
        drop(at);
    pthread_mutex_unlock(&lock);
}

void traced_requests_end(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < LISTS; i++)
        while (list[i] != NULL)
            drop(&list[i]);
    pthread_mutex_unlock(&lock);
}
