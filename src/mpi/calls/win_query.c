/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_query.c - the calls that ask a window for its group, attributes, info, and where its shared
 * memory is (MPI 4.1, 12.2.3, 12.2.6, 12.2.7).
 *
 * Name, error handler, user attributes and Fortran handle are the carrier's and need nothing here,
 * except that a trace records the name. Outputs are set only on success. No state; the info in use
 * changes under the caller's own synchronization (MPI_Win_set_info is collective).
 *
 * No locks. Neighbours: win_attr.h and win_info.h, which are called here; rma.h.
 */
#include <mpi.h>

#include <string.h>

#include "base/err.h"
#include "base/fault.h"
#include "mpi/calls/argcheck.h"
#include "mpi/calls/win_attr.h"
#include "mpi/calls/win_info.h"
#include "mpi/calls/window_call.h"

/* The new group is the caller's. */
MRMA_PUBLIC int PMPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
    struct win_rec *rec = win_lookup(win);

    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Win_get_group(win, group);
    err = args_place(group, "group");
    if (err == MRMA_SUCCESS && PMPI_Group_excl(rec->group, 0, NULL, group) != MPI_SUCCESS)
        err = log_fail(engine_messages(), MRMA_ERR_OTHER, "the host refused a copy of the group");
    return err == MRMA_SUCCESS ? MPI_SUCCESS : win_fail(rec, "MPI_Win_get_group", err);
}
MRMA_EXPORT_MPI(Win_get_group);

MRMA_PUBLIC int PMPI_Win_set_name(MPI_Win win, const char *name)
{
    const int rc = mpi_host.Win_set_name(win, name);
    const struct win_rec *rec = rc == MPI_SUCCESS ? win_lookup(win) : NULL;

    if (rec != NULL)
        traced_win_name(rec, name);
    return rc;
}
MRMA_EXPORT_MPI(Win_set_name);

bool win_attr_get(struct win_rec *rec, int keyval, void **pointer, MPI_Aint *value)
{
    switch (keyval) {
    case MPI_WIN_BASE:
        *pointer = *win_base_attr(rec->win);
        *value = (MPI_Aint)*pointer;
        return true;
    case MPI_WIN_SIZE: /* uint64_t and MPI_Aint differ in sign only */
        *pointer = (void *)(uintptr_t)win_size(rec->win);
        *value = (MPI_Aint)*win_size(rec->win);
        return true;
    case MPI_WIN_DISP_UNIT:
        *pointer = &rec->disp_unit;
        *value = rec->disp_unit;
        return true;
    case MPI_WIN_CREATE_FLAVOR:
        *pointer = &rec->flavor;
        *value = rec->flavor;
        return true;
    case MPI_WIN_MODEL:
        *pointer = &rec->model;
        *value = rec->model;
        return true;
    default:
        return false;
    }
}

MRMA_PUBLIC int PMPI_Win_get_attr(MPI_Win win, int keyval, void *attribute, int *flag)
{
    struct win_rec *rec = win_lookup(win);
    MPI_Aint value;
    int err = MRMA_SUCCESS;

    if (rec != NULL && (err = args_place(attribute, "attribute_val")) == MRMA_SUCCESS)
        err = args_place(flag, "flag");
    if (unlikely(err != MRMA_SUCCESS))
        return win_fail(rec, "MPI_Win_get_attr", err);
    if (rec == NULL || !win_attr_get(rec, keyval, attribute, &value))
        return mpi_host.Win_get_attr(win, keyval, attribute, flag);
    *flag = 1;
    return MPI_SUCCESS;
}
MRMA_EXPORT_MPI(Win_get_attr);

MRMA_PUBLIC int PMPI_Win_get_info(MPI_Win win, MPI_Info *info)
{
    struct win_rec *rec = win_lookup(win);
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Win_get_info(win, info);
    err = args_place(info, "info_used");
    if (err == MRMA_SUCCESS)
        err = win_info_make(rec, info);
    return err == MRMA_SUCCESS ? MPI_SUCCESS : win_fail(rec, "MPI_Win_get_info", err);
}
MRMA_EXPORT_MPI(Win_get_info);

/* Hints that cannot be changed any more stay as they are, without an error (10). */
MRMA_PUBLIC int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    struct win_rec *rec = win_lookup(win);
    struct win_info values;
    char msg[256] = "";
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Win_set_info(win, info);
    values.hints = *win_hints(rec->win);
    memcpy(values.kinds, rec->kinds, sizeof values.kinds);
    err = win_info_read(info, &values, msg, sizeof msg);
    if (err != MRMA_SUCCESS)
        return win_fail(rec, "MPI_Win_set_info", err);
    win_set_hints(rec->win, &values.hints);
    memcpy(rec->kinds, values.kinds, sizeof rec->kinds);
    return MPI_SUCCESS;
}
MRMA_EXPORT_MPI(Win_set_info);

/* shared_query does MPI_Win_shared_query for a window of this library. unit_place is where the
 * caller will store *disp_unit; it is only checked. Returns what the entry point returns. */
static int shared_query(struct win_rec *rec, int rank, MPI_Aint *size, const void *unit_place,
                        uint32_t *disp_unit, void *baseptr)
{
    uint64_t bytes = 0;
    void *base = NULL;
    int err = args_place(size, "size");

    if (err == MRMA_SUCCESS)
        err = args_place(unit_place, "disp_unit");
    if (err == MRMA_SUCCESS)
        err = args_place(baseptr, "baseptr");
    if (err != MRMA_SUCCESS)
        return win_fail(rec, "MPI_Win_shared_query", err);
    if (rank != MPI_PROC_NULL && !args_rank_ok(rec, rank))
        return win_fail_target(rec, "MPI_Win_shared_query",
                               FAULT(engine_messages(), QUERY_RANK_OUTSIDE, rank, rec->nproc - 1),
                               rank);
    if (rec->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return win_fail(rec, "MPI_Win_shared_query",
                        FAULT(engine_messages(), QUERY_DYNAMIC, win_maker(rec)));
    err = win_shared_query(rec->win, rank == MPI_PROC_NULL ? -1 : rank, &bytes, disp_unit, &base);
    if (err != MRMA_SUCCESS)
        return win_fail_target(rec, "MPI_Win_shared_query", err, rank);
    *size = (MPI_Aint)bytes;
    memcpy(baseptr, &base, sizeof base);
    return MPI_SUCCESS;
}

/* Any flavour but dynamic (4.1). Memory that is not mapped in this process has
 * size 0 and a null address. *size in bytes; baseptr: address of a pointer. */
#define SHARED_QUERY(name, unit_type)                                                          \
    static inline int name##_of_ours(struct win_rec *rec, int rank, MPI_Aint *size,            \
                                     unit_type *disp_unit, void *baseptr)                      \
    {                                                                                          \
        uint32_t unit = 1;                                                                     \
        const int rc = shared_query(rec, rank, size, disp_unit, &unit, baseptr);               \
                                                                                               \
        if (rc == MPI_SUCCESS)                                                                 \
            *disp_unit = (unit_type)unit;                                                      \
        return rc;                                                                             \
    }                                                                                          \
    WINDOW_ENTRY(name, TRACED_WIN(Win_shared_query, win),                                      \
                 (MPI_Win win, int rank, MPI_Aint *size, unit_type *disp_unit, void *baseptr), \
                 (win, rank, size, disp_unit, baseptr),                                        \
                 name##_of_ours(rec, rank, size, disp_unit, baseptr))
SHARED_QUERY(Win_shared_query, int);
SHARED_QUERY(Win_shared_query_c, MPI_Aint);
