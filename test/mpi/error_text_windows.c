/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_text_windows.c - the mistakes of error_text.c about windows, memory and requests, and what
 * strict mode alone finds.
 */
#include "error_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- windows and memory ---- */
MISTAKE(create_size)
{
    MPI_Win w;

    return MPI_Win_create(x, -1, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
}
MISTAKE(create_unit)
{
    MPI_Win w;

    return MPI_Win_create(x, 64, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
}
MISTAKE(create_base_null)
{
    MPI_Win w;

    return MPI_Win_create(NULL, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
}
MISTAKE(allocate_size)
{
    MPI_Win w;
    void *p;

    return MPI_Win_allocate(-8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
}
MISTAKE(allocate_shared_unit)
{
    MPI_Win w;
    void *p;

    return MPI_Win_allocate_shared(64, -4, MPI_INFO_NULL, MPI_COMM_SELF, &p, &w);
}
MISTAKE(allocate_base_null)
{
    MPI_Win w;

    return MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL, &w);
}
MISTAKE(allocate_intercommunicator)
{
    MPI_Comm inter;
    MPI_Win w;
    void *p;
    int rc;

    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 7, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    rc = MPI_Win_allocate(64, 1, MPI_INFO_NULL, inter, &p, &w);
    MPI_Comm_free(&inter);
    return rc;
}
MISTAKE(allocate_size_of_another)
{
    MPI_Win w;
    void *p;

    return MPI_Win_allocate(rank == 0 ? -8 : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
}
MISTAKE(attach_kind)
{
    return MPI_Win_attach(win, y, sizeof y);
}
MISTAKE(attach_size)
{
    return MPI_Win_attach(dynamic, y, -5);
}
MISTAKE(attach_wraps)
{
    return MPI_Win_attach(dynamic, (void *)(intptr_t)-16, 32);
}
MISTAKE(attach_twice)
{
    return MPI_Win_attach(dynamic, x + 8, sizeof *x);
}
MISTAKE(detach_kind)
{
    return MPI_Win_detach(win, y);
}
MISTAKE(detach_inside)
{
    return MPI_Win_detach(dynamic, x + 8);
}
MISTAKE(detach_nothing)
{
    return MPI_Win_detach(dynamic, y);
}
MISTAKE(query_kind)
{
    MPI_Aint size;
    void *p;

    return MPI_Win_shared_query(dynamic, 0, &size, x, &p);
}
MISTAKE(query_rank)
{
    MPI_Aint size;
    void *p;

    return MPI_Win_shared_query(win, 2, &size, x, &p);
}
MISTAKE(get_group_null)
{
    return MPI_Win_get_group(win, NULL);
}
MISTAKE(get_attr_null)
{
    return MPI_Win_get_attr(win, MPI_WIN_SIZE, NULL, x);
}
MISTAKE(alloc_mem_size)
{
    void *p;

    return MPI_Alloc_mem(-8, MPI_INFO_NULL, &p);
}
MISTAKE(alloc_mem_base_null)
{
    return MPI_Alloc_mem(8, MPI_INFO_NULL, NULL);
}
MISTAKE(free_mem_unknown)
{
    return MPI_Free_mem(x);
}
/* ---- what strict mode alone finds ---- */
MISTAKE(strict_conflict)
{
    int rc;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Put(x, 2, MPI_INT, 0, 4, 2, MPI_INT, win);
    rc = MPI_Accumulate(x, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    return rc;
}
MISTAKE(strict_twice)
{
    const int lengths[2] = {2, 2}, disps[2] = {0, 1};
    MPI_Datatype overlapping;
    int rc;

    MPI_Type_indexed(2, lengths, disps, MPI_INT, &overlapping);
    MPI_Type_commit(&overlapping);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    rc = MPI_Put(x, 4, MPI_INT, 0, 0, 1, overlapping, win);
    MPI_Win_unlock(0, win);
    MPI_Type_free(&overlapping);
    return rc;
}
MISTAKE(strict_noprecede)
{
    int rc;
    MPI_Win_fence(0, alone);
    MPI_Put(x, 1, MPI_INT, 0, 0, 1, MPI_INT, alone);
    rc = MPI_Win_fence(MPI_MODE_NOPRECEDE, alone);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, alone);
    return rc;
}
MISTAKE(strict_no_locks)
{
    MPI_Info info;
    MPI_Win unlocked;
    void *base;
    int rc;

    if (getenv("MPIRMA_STRICT") == NULL) /* it is taken, and a warning would stand in the output */
        return MPI_SUCCESS;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_allocate(4, 1, info, MPI_COMM_SELF, &base, &unlocked);
    error_text_returns(unlocked);
    rc = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, unlocked);
    if (rc == MPI_SUCCESS)
        MPI_Win_unlock(0, unlocked);
    MPI_Win_free(&unlocked);
    MPI_Info_free(&info);
    return rc;
}

MISTAKE(request_free)
{
    LOCKED(MPI_Rput(x, 1, MPI_INT, 0, rank, 1, MPI_INT, win, &req) | MPI_Request_free(&req));
}
MISTAKE(request_cancel)
{
    LOCKED(MPI_Rput(x, 1, MPI_INT, 0, rank, 1, MPI_INT, win, &req) | MPI_Cancel(&req));
}
/* Over the network the target finds it, and the call that ends the epoch returns it. */
MISTAKE(put_not_attached)
{
    int rc, later;

    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, dynamic);
    rc = MPI_Put(x, 1, MPI_INT, 0, 4096, 1, MPI_INT, dynamic);
    later = MPI_Win_unlock(0, dynamic);
    return rc != MPI_SUCCESS ? rc : later;
}
/* Over the network the target finds the mistake, and the call that waits for the request tells. */
static int wait_for_it(int rc)
{
    const int waited = rc == MPI_SUCCESS ? MPI_Wait(&req, MPI_STATUS_IGNORE) : rc;

    MPI_Win_unlock(0, dynamic);
    return waited;
}
MISTAKE(rget_not_attached)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, dynamic);
    return wait_for_it(MPI_Rget(x, 2, MPI_INT, 0, 4096, 2, MPI_INT, dynamic, &req));
}
MISTAKE(rget_accumulate_not_attached)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, dynamic);
    return wait_for_it(MPI_Rget_accumulate(x, 1, MPI_INT, y, 1, MPI_INT, 0, 4096, 1, MPI_INT,
                                           MPI_SUM, dynamic, &req));
}

/* clang-format off */
const struct mistake mistakes_of_windows[] = {
    M(create_size), M(create_unit), M(create_base_null), M(allocate_size), M(allocate_shared_unit),
    M(allocate_base_null), M(allocate_intercommunicator), M(allocate_size_of_another),
    M(attach_kind), M(attach_size), M(attach_wraps), M(attach_twice), M(detach_kind),
    M(detach_inside), M(detach_nothing), M(query_kind), M(query_rank), M(get_group_null),
    M(get_attr_null), M(alloc_mem_size), M(alloc_mem_base_null), M(free_mem_unknown),
    M(request_free), M(request_cancel), M(put_not_attached), M(rget_not_attached),
    M(rget_accumulate_not_attached), M(strict_conflict), M(strict_twice),
    M(strict_noprecede), M(strict_no_locks),
    {NULL, NULL},
};
/* clang-format on */
