/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put_get.c - MPI_Put, MPI_Get, their request forms and the large-count forms of these (MPI 4.1,
 * 12.3.1, 12.3.2 and 12.3.5).
 *
 * Each call looks up the window, checks its arguments, describes the operation on the stack, and
 * hands it down. Buffers belong to the caller until the operation is complete; datatypes may be
 * freed at once. Displacements count in the target's displacement unit; in dynamic windows they are
 * addresses of the target. Errors: MPI_ERR_WIN (returned by the host), _COUNT, _RANK, _DISP, _TYPE,
 * _RMA_SYNC, _RMA_RANGE. The large-count forms are exported on every host (declared.h). No state,
 * no locks.
 *
 * Neighbours: window_call.h, the frame of each call; transfer.h, which notified operations share;
 * rma/layer/fast.h, the short cuts.
 */
#include <mpi.h>

#include "mpi/calls/argcheck.h"
#include "mpi/calls/request_ops.h"
#include "mpi/calls/transfer.h"
#include "mpi/calls/window_call.h"
#include "mpi/requests/request.h"
#include "rma/layer/fast.h"

/* The parameters of both calls, with counts of one type. */
#define PUT_PARAMS(count_type)                                                           \
    const void *oaddr, count_type ocount, MPI_Datatype otype, int target, MPI_Aint disp, \
        count_type tcount, MPI_Datatype ttype
#define PUT_ARGS oaddr, ocount, otype, target, disp, tcount, ttype
#define GET_PARAMS(count_type)                                                     \
    void *raddr, count_type rcount, MPI_Datatype rtype, int target, MPI_Aint disp, \
        count_type tcount, MPI_Datatype ttype
#define GET_ARGS raddr, rcount, rtype, target, disp, tcount, ttype

static inline int put(const struct win_rec *rec, PUT_PARAMS(int64_t))
{
    struct rma_op op;
    int err;

    rma_op_clear(&op);
    err = comm_put(rec, &op, PUT_ARGS);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Put", err, &op);
}

#define PUT(form, name, count_type)                                                          \
    form(name, TRACED_WIN(Put, win), (PUT_PARAMS(count_type), MPI_Win win), (PUT_ARGS, win), \
         put(rec, PUT_ARGS))
PUT(WINDOW_GENERAL, Put, int);
PUT(WINDOW_ENTRY, Put_c, MPI_Count);

/* put_known puts the same count of a known contiguous type on both sides, len bytes; nothing is
 * wrong with the arguments. */
static __attribute__((noinline)) int put_known(struct win_rec *rec, const void *oaddr, size_t count,
                                               const struct dtype *type, int target, MPI_Aint disp,
                                               size_t len)
{
    struct rma_op op;
    int err;

    if (fast_put_packed(rec->win, oaddr, target, disp, len, false))
        return MPI_SUCCESS;
    rma_op_clear(&op);
    op.oaddr = oaddr;
    op.otype = op.ttype = type;
    op.ocount = op.tcount = count;
    op.target = target;
    op.disp = disp;
    err = rma_put(rec->win, &op);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Put", err, &op);
}

/* Put and get have a short cut, for the window used last, the same known contiguous
 * datatype and count on both sides, and mapped memory (rma/layer/fast.h). */
MRMA_PUBLIC int PMPI_Put(PUT_PARAMS(int), MPI_Win win)
{
    struct win_rec *rec = win_quick();
    const struct dtype *type;
    size_t len;

    if (args_quick(rec, win, PUT_ARGS, &type, &len)) {
        if (likely(fast_put(rec->win, oaddr, target, disp, len)))
            return MPI_SUCCESS;
        return put_known(rec, oaddr, (size_t)tcount, type, target, disp, len);
    }
    return Put_general(PUT_ARGS, win);
}
MRMA_EXPORT_MPI(Put);

static inline int get(const struct win_rec *rec, GET_PARAMS(int64_t))
{
    struct rma_op op;
    int err;

    rma_op_clear(&op);
    err = comm_get(rec, &op, GET_ARGS);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Get", err, &op);
}

#define GET(form, name, count_type)                                                          \
    form(name, TRACED_WIN(Get, win), (GET_PARAMS(count_type), MPI_Win win), (GET_ARGS, win), \
         get(rec, GET_ARGS))
GET(WINDOW_GENERAL, Get, int);
GET(WINDOW_ENTRY, Get_c, MPI_Count);

MRMA_PUBLIC int PMPI_Get(GET_PARAMS(int), MPI_Win win)
{
    struct win_rec *rec = win_quick();
    const struct dtype *type;
    size_t len;

    if (args_quick(rec, win, GET_ARGS, &type, &len) && fast_get(rec->win, raddr, target, disp, len))
        return MPI_SUCCESS;
    return Get_general(GET_ARGS, win);
}
MRMA_EXPORT_MPI(Get);

#define RPUT(form, name, count_type)                                                             \
    form(name, TRACED_WIN(Rput, win),                                                            \
         (PUT_PARAMS(count_type), MPI_Win win, MPI_Request * request), (PUT_ARGS, win, request), \
         comm_rput(rec, PUT_ARGS, request))
RPUT(WINDOW_GENERAL, Rput, int);
RPUT(WINDOW_ENTRY, Rput_c, MPI_Count);

/* MPI_Rput has the short cut of MPI_Put in passive target epochs, where the request is complete
 * when the call returns and all such requests have one handle. */
MRMA_PUBLIC int PMPI_Rput(PUT_PARAMS(int), MPI_Win win, MPI_Request *request)
{
    struct win_rec *rec = win_quick();
    const MPI_Request complete = request_complete();
    const struct dtype *type;
    size_t len;

    if (likely(complete != MPI_REQUEST_NULL && request != NULL) &&
        args_quick(rec, win, PUT_ARGS, &type, &len) && epoch_is_passive(&rec->win->epoch) &&
        (fast_put(rec->win, oaddr, target, disp, len) ||
         fast_put_packed(rec->win, oaddr, target, disp, len, true))) {
        request_may_be_unsent();
        *request = complete;
        return MPI_SUCCESS;
    }
    return Rput_general(PUT_ARGS, win, request);
}
MRMA_EXPORT_MPI(Rput);

#define RGET(name, count_type)                                                 \
    WINDOW_ENTRY(name, TRACED_WIN(Rget, win),                                  \
                 (GET_PARAMS(count_type), MPI_Win win, MPI_Request * request), \
                 (GET_ARGS, win, request), comm_rget(rec, GET_ARGS, request))
RGET(Rget, int);
RGET(Rget_c, MPI_Count);
