/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified_take.c - the calls of notified access by which a target counts, awaits and takes
 * notifications (mpi-rma.h, doc/notified.md).
 *
 * If the source is MPI_PROC_NULL a call gets at once what it awaits, as a receive from
 * MPI_PROC_NULL does (MPI 4.1, 3.10), if window and numbers exist; calls that count find no
 * notification from it. No state, no locks.
 *
 * Neighbours: notified.c, the operations; notify_request.h, the requests; rma.h, which counts.
 */
#include <mpi-rma.h>

#include "base/fault.h"
#include "mpi/calls/argcheck.h"
#include "mpi/calls/extension.h"
#include "mpi/host/export.h"
#include "mpi/process/errhan.h"
#include "mpi/requests/notify_request.h"
#include "mpi/traced/traced.h"
#include "rma/rma.h"

/* describe sets *what to what is awaited, as src/rma takes it. place is where the call stores its
 * result; name is the name of that argument. OP_NOTHING: the source is MPI_PROC_NULL, and
 * everything else is right. */
static int describe(const struct win_rec *rec, int source, int first, int n, MPI_Count count,
                    const void *place, const char *name, struct rma_notified *what)
{
    const bool rank = args_rank_ok(rec, source);

    *what = (struct rma_notified){
        .source = rank ? source : RMA_NOTIFY_ANY, .first = first, .n = n, .count = (uint64_t)count};
    if (count < 0)
        return MRMA_ERR_ARG;
    if (!rank && source != MPI_ANY_SOURCE && source != MPI_PROC_NULL)
        return FAULT(engine_messages(), SOURCE_OUTSIDE, source, rec->nproc - 1);
    int err = args_place(place, name);
    if (likely(err == MRMA_SUCCESS) && source == MPI_PROC_NULL)
        err = rma_notify_expect(rec->win, what);
    return source == MPI_PROC_NULL && err == MRMA_SUCCESS ? OP_NOTHING : err;
}

static int ended(const struct win_rec *rec, const char *func, int err, int source)
{
    return likely(err == MRMA_SUCCESS || err == OP_NOTHING)
               ? MPI_SUCCESS
               : win_fail_target(rec, func, err, source);
}

/* peer_of returns the source for the record of the call: -1 is any source. */
static int peer_of(int source)
{
    return source < 0 ? -1 : source;
}

/* A function of src/rma that tells how many notifications have come. */
typedef int teller(struct win *w, int source, int number, uint64_t *come);

/* tell calls how, which sets *come. place is where the caller gets the result. */
static int tell(const struct win_rec *rec, teller *how, int source, int number, const void *place,
                uint64_t *come)
{
    struct rma_notified what;
    const int err = describe(rec, source, number, 1, 0, place, "count", &what);

    *come = 0;
    return likely(err == MRMA_SUCCESS) ? how(rec->win, what.source, number, come) : err;
}

MRMA_PUBLIC int PMPIRMA_Notify_read(MPI_Win win, int source, int number, MPI_Count *value)
{
    TRACED_TARGET(Notify_read, win, peer_of(source));
    struct win_rec *rec = win_lookup(win);
    uint64_t come;
    int err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = tell(rec, rma_notify_read, source, number, value, &come);
    if (likely(err == MRMA_SUCCESS || err == OP_NOTHING))
        *value = (MPI_Count)come;
    return ended(rec, "MPIRMA_Notify_read", err, source);
}
EXPORT_MPIRMA(Notify_read);

MRMA_PUBLIC int PMPIRMA_Notify_reset(MPI_Win win, int source, int number, MPI_Count *value)
{
    TRACED_TARGET(Notify_reset, win, peer_of(source));
    struct win_rec *rec = win_lookup(win);
    uint64_t come;
    int err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = tell(rec, rma_notify_reset, source, number, &come, &come);
    if (likely(err == MRMA_SUCCESS || err == OP_NOTHING) && value != NULL)
        *value = (MPI_Count)come;
    return ended(rec, "MPIRMA_Notify_reset", err, source);
}
EXPORT_MPIRMA(Notify_reset);

/* What is taken: count notifications of one of the n numbers from first on. */
struct asked {
    int source, first, n;
    MPI_Count count;
};

/* A function of src/rma that takes notifications: it waits for them, or looks. */
typedef int taker(struct win *w, const struct rma_notified *what, int *taken);

/* *taken is the number whose notifications were taken; -1: none. place is where the caller gets
 * that; name is the name of that argument. */
static int take(const struct win_rec *rec, taker *how, const struct asked *a, const int *place,
                const char *name, int *taken)
{
    struct rma_notified what;
    const int err = describe(rec, a->source, a->first, a->n, a->count, place, name, &what);

    *taken = -1;
    return likely(err == MRMA_SUCCESS) ? how(rec->win, &what, taken) : err;
}

MRMA_PUBLIC int PMPIRMA_Notify_wait(MPI_Win win, int source, int number, MPI_Count count)
{
    TRACED_TARGET(Notify_wait, win, peer_of(source));
    struct win_rec *rec = win_lookup(win);
    const struct asked asked = {source, number, 1, count};
    int taken, err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = take(rec, rma_notify_wait, &asked, &taken, "notification_id", &taken);
    return ended(rec, "MPIRMA_Notify_wait", err, source);
}
EXPORT_MPIRMA(Notify_wait);

MRMA_PUBLIC int PMPIRMA_Notify_test(MPI_Win win, int source, int number, MPI_Count count, int *flag)
{
    TRACED_TARGET(Notify_test, win, peer_of(source));
    struct win_rec *rec = win_lookup(win);
    const struct asked asked = {source, number, 1, count};
    int taken, err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = take(rec, rma_notify_test, &asked, flag, "flag", &taken);
    if (likely(err == MRMA_SUCCESS || err == OP_NOTHING))
        *flag = taken >= 0 || err == OP_NOTHING;
    return ended(rec, "MPIRMA_Notify_test", err, source);
}
EXPORT_MPIRMA(Notify_test);

MRMA_PUBLIC int PMPIRMA_Notify_waitany(MPI_Win win, int source, int first, int n, MPI_Count count,
                                       int *number)
{
    TRACED_TARGET(Notify_waitany, win, peer_of(source));
    struct win_rec *rec = win_lookup(win);
    const struct asked asked = {source, first, n, count};
    int taken, err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = take(rec, rma_notify_wait, &asked, number, "notification_id", &taken);
    if (likely(err == MRMA_SUCCESS || err == OP_NOTHING))
        *number = err == OP_NOTHING ? MPI_UNDEFINED : taken;
    return ended(rec, "MPIRMA_Notify_waitany", err, source);
}
EXPORT_MPIRMA(Notify_waitany);

MRMA_PUBLIC int PMPIRMA_Notify_testany(MPI_Win win, int source, int first, int n, MPI_Count count,
                                       int *flag, int *number)
{
    TRACED_TARGET(Notify_testany, win, peer_of(source));
    struct win_rec *rec = win_lookup(win);
    const struct asked asked = {source, first, n, count};
    int taken, err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = args_place(number, "notification_id");
    if (likely(err == MRMA_SUCCESS))
        err = take(rec, rma_notify_test, &asked, flag, "flag", &taken);
    if (likely(err == MRMA_SUCCESS || err == OP_NOTHING)) {
        *flag = taken >= 0 || err == OP_NOTHING;
        *number = taken >= 0 ? taken : MPI_UNDEFINED;
    }
    return ended(rec, "MPIRMA_Notify_testany", err, source);
}
EXPORT_MPIRMA(Notify_testany);

MRMA_PUBLIC int PMPIRMA_Notify_init(MPI_Win win, int source, int number, MPI_Count count,
                                    MPI_Request *request)
{
    struct win_rec *rec = win_lookup(win);
    struct rma_notified what;
    int err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = describe(rec, source, number, 1, count, request, "request", &what);
    if (likely(err == MRMA_SUCCESS))
        err = rma_notify_expect(rec->win, &what);
    if (likely(err == MRMA_SUCCESS))
        err = notify_request_new(rec, &what, request);
    else if (err == OP_NOTHING)
        err = notify_request_none(request);
    return ended(rec, "MPIRMA_Notify_init", err, source);
}
EXPORT_MPIRMA(Notify_init);
