/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_request.c - the request of an MPI R-operation, struct rma_req (rma.h), whose parts are counted
 * here. fetch_request.c has the requests by number, which are something else. No locks.
 */

#include "base/atomic.h"
#include "base/err.h"
#include "rma/origin/origin_impl.h"
#include "rma/rma.h"

void rma_req_init(struct rma_req *req)
{
    atomic_init(&req->pending, 0);
    atomic_init(&req->err, MRMA_SUCCESS);
    req->number = 0;
    req->ended = NULL;
}

void rma_req_begin(struct rma_req *req, struct rma_req_list *ended)
{
    rma_req_init(req);
    atomic_init(&req->pending, 1);
    req->ended = ended;
}

void rma_req_issued(struct rma_req *req)
{
    origin_discharge(req, MRMA_SUCCESS);
}

/*
 * Several threads may end the parts of a request; the one that ends the last part enters the
 * request into the list, and another thread takes it:
 *
 *   part                       last part                    who takes
 *   A: err, user's buffer      C: pending reads B           E: takes the list
 *   B: pending -= 1 (release)     (acquire)                 F: reads err
 *                              D: enters it (release)
 *
 * C reads what B, or a later decrement, has written, and E (acquire) reads what D has written; so A
 * comes before F.
 */
static void enter(struct rma_req_list *ended, struct rma_req *req)
{
    struct rma_req *first = atomic_load_explicit(&ended->first, memory_order_relaxed);
    do {
        req->next = first;
    } while (!atomic_compare_exchange_weak_explicit(&ended->first, &first, req,
                                                    memory_order_release, /* D */
                                                    memory_order_relaxed));
}

/* It takes the whole list at once: since nobody takes a single entry, it does no harm if a later
 * request has the address of an earlier one. */
struct rma_req *rma_req_take(struct rma_req_list *ended)
{
    if (likely(!atomic_load_explicit(&ended->first, memory_order_relaxed)))
        return NULL;
    return atomic_exchange_explicit(&ended->first, NULL, memory_order_acquire); /* E */
}

void origin_charge(struct rma_req *req)
{
    if (req)
        atomic_fetch_add_explicit(&req->pending, 1, memory_order_relaxed);
}

/* A request without a list may be gone as soon as nothing is pending. */
void origin_discharge(struct rma_req *req, int err)
{
    if (!req)
        return;
    int none = MRMA_SUCCESS;
    if (err)
        atomic_compare_exchange_strong_explicit(&req->err, &none, err, memory_order_relaxed,
                                                memory_order_relaxed);
    struct rma_req_list *ended = req->ended;
    const uint32_t before =
        atomic_fetch_sub_explicit(&req->pending, 1, memory_order_acq_rel); /* B, C; rma_req_done */
    if (before == 1 && ended)
        enter(ended, req);
}
