/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.c - creation and end of windows, attached memory (MPI 4.1, 12.2).
 *
 * A window is three things: the window of src/rma, its carrier in the host, and the record that
 * ties them (win_table.h). Creation makes record and carrier first, since both are local, then the
 * window of src/rma, which is collective; a process that fails before that point tells the others
 * through the bootstrap exchange, so creation succeeds everywhere or nowhere. A window is freed in
 * the order that attribute call-backs need: all processes agree, then the carrier is freed
 * (call-backs run and see a whole window), then the window of src/rma.
 *
 * No locks. Neighbours: window_call.h; carrier_stock.h, win_table.h, win_info.h; rma.h,
 * our window; boot_mpi.h, the exchange; agree_library.h.
 */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/fault.h"
#include "boot/boot_mpi.h"
#include "engine/engine.h"
#include "mpi/calls/argcheck.h"
#include "mpi/calls/engine_get.h"
#include "mpi/calls/win_info.h"
#include "mpi/calls/window_call.h"
#include "mpi/host/carrier_stock.h"
#include "mpi/host/host_kind.h"
#include "mpi/host/host_poll.h"
#include "mpi/host/agree_library.h"
#include "mpi/process/errhan.h"
#include "mpi/process/error_held.h"
#include "mpi/requests/notify_request.h"
#include "mpi/requests/request.h"

/* What the caller of a creation function has given. */
struct win_args {
    const char *func; /* for messages */
    enum win_flavor flavor;
    void *base; /* MPI_Win_create only */
    int64_t size, disp_unit;
    MPI_Info info;
    MPI_Comm comm;
};

static const int flavors[] = {
    [WIN_CREATE] = MPI_WIN_FLAVOR_CREATE,
    [WIN_ALLOCATE] = MPI_WIN_FLAVOR_ALLOCATE,
    [WIN_ALLOCATE_SHARED] = MPI_WIN_FLAVOR_SHARED,
    [WIN_DYNAMIC] = MPI_WIN_FLAVOR_DYNAMIC,
};

/* record_make makes the record and the carrier of a window that is being created; they are in the
 * table already, but nobody knows the handle. */
static int record_make(const struct win_args *args, const struct win_info *info,
                       const struct boot *boot, struct win_rec **out, char *msg, size_t len)
{
    struct win_rec *rec = win_rec_new();
    MPI_Win carrier;
    int err;

    if (rec == NULL)
        return MRMA_ERR_NO_MEM;
    rec->rank = boot->rank;
    rec->nproc = boot->nproc;
    rec->lowest_disp = args->flavor == WIN_DYNAMIC ? INT64_MIN : 0;
    rec->disp_unit = (int)args->disp_unit;
    rec->flavor = flavors[args->flavor];
    rec->model = MPI_WIN_UNIFIED;
    memcpy(rec->kinds, info->kinds, sizeof rec->kinds);
    if (PMPI_Comm_group(args->comm, &rec->group) != MPI_SUCCESS) {
        win_rec_drop(rec);
        snprintf(msg, len, "the host gave no group of the communicator");
        return MRMA_ERR_OTHER;
    }
    err = carrier_stock_take(mpi_state.self.carriers, &carrier, msg, len);
    if (err == MRMA_SUCCESS) {
        err = win_table_add(rec, carrier);
        if (err != MRMA_SUCCESS)
            mpi_host.Win_free(&carrier);
    }
    if (err != MRMA_SUCCESS)
        win_rec_drop(rec);
    else
        *out = rec;
    return err;
}

static void record_undo(struct win_rec *rec)
{
    MPI_Win carrier = atomic_load_explicit(&rec->handle, memory_order_relaxed), gone = carrier;

    mpi_host.Win_free(&carrier);
    win_table_del(rec, gone);
    win_rec_drop(rec);
}

/* check_places checks that there are addresses for the window and, where the call makes memory, for
 * its base. */
static int check_places(const struct win_args *args, const void *baseptr, const MPI_Win *win)
{
    const bool makes = args->flavor == WIN_ALLOCATE || args->flavor == WIN_ALLOCATE_SHARED;
    const int err = args_place(win, "win");

    return err == MRMA_SUCCESS && makes ? args_place(baseptr, "baseptr") : err;
}

/* win_prepare is the local half of creation. msg says what was wrong, if that is not plain. */
static int win_prepare(const struct win_args *args, const struct boot *boot, struct win_info *info,
                       struct win_rec **rec, char *msg, size_t len)
{
    int err = engine_get(msg, len);

    if (err == MRMA_SUCCESS)
        err = args_window(args->size, args->disp_unit, args->base, args->flavor == WIN_CREATE);
    if (err == MRMA_SUCCESS)
        err = win_info_read(args->info, info, msg, len);
    if (err == MRMA_SUCCESS)
        err = record_make(args, info, boot, rec, msg, len);
    return err;
}

/* The collective half. */
static int win_join(const struct win_args *args, struct boot_mpi *bm, const struct win_info *info,
                    struct win_rec *rec)
{
    struct win_spec spec = {
        .flavor = args->flavor,
        .base = args->base,
        .size = (uint64_t)args->size,
        .disp_unit = (uint32_t)args->disp_unit,
        .hints = info->hints,
        .boot = &bm->boot,
    };
    int err = win_create(mpi_state.rma, &spec, &rec->win);

    if (err == MRMA_SUCCESS) {
        host_poll_window_made(mpi_state.rma, mpi_state.any_thread, engine_messages());
        return MRMA_SUCCESS;
    }
    record_undo(rec);
    if (!bm->begun) {
        boot_mpi_refuse(bm, err, (int)error_fault(err));
        boot_mpi_leave(bm);
    }
    return err;
}

static void say_refusal(const struct boot_mpi *bm, char *msg, size_t len)
{
    char why[128];

    fault_brief((enum fault)bm->fault, why, sizeof why);
    snprintf(msg, len, "rank %d of the communicator cannot create the window%s%s", bm->refused_by,
             why[0] != '\0' ? ": " : "", why);
}

/* prepare_fail writes an error only at one process if a variable has a wrong value, since it is
 * mostly wrong for all. */
static int prepare_fail(const struct win_args *args, const struct boot_mpi *bm, int err,
                        const char *msg)
{
    const bool of_all = mpi_state.engine == NULL && err == MRMA_ERR_ARG;

    return comm_fail_as(args->comm,
                        of_all && bm->refused_by != bm->boot.rank ? REPORT_NEVER : REPORT_IF_FATAL,
                        args->func, err, msg);
}

/* Creates a window, its carrier and its record. Collective over args->comm. *win, and
 * *(void **)baseptr unless baseptr is NULL, are written on success only; with an error the
 * communicator's error handler has been called. Returns what the entry point returns. Not to be
 * called when engine_disabled(). */
static int win_make(const struct win_args *args, void *baseptr, MPI_Win *win)
{
    struct win_info info = win_info_default();
    struct win_rec *rec = NULL;
    struct boot_mpi bm;
    char msg[256] = "", absent[512];
    int inter, rc = PMPI_Comm_test_inter(args->comm, &inter), err;

    if (rc != MPI_SUCCESS)
        return rc; /* no communicator: the host has said so */
    if (inter)
        return comm_fail(args->comm, args->func, FAULT(engine_messages(), COMM_INTER), "");
    err = boot_mpi_init(&bm, args->comm, (struct boot_mpi_host){mpi_host.Test, mpi_host.Wait});
    if (err != MRMA_SUCCESS)
        return comm_fail(args->comm, args->func, err,
                         "the host tells no rank or size of the communicator");
    err = win_prepare(args, &bm.boot, &info, &rec, msg, sizeof msg);
    if (err == MRMA_SUCCESS && (err = check_places(args, baseptr, win)) != MRMA_SUCCESS)
        record_undo(rec);
    bm.host_yields = host_yields();
    if (mpi_state.engine != NULL)
        bm.report = (struct boot_report){.log = engine_messages(),
                                         .call = args->func,
                                         .seconds = engine_conf(mpi_state.engine)->hang_report};
    if (meet_all(args->comm, MEET_BEFORE_WINDOW, &bm.boot, &bm.report, absent, sizeof absent) !=
        MRMA_SUCCESS) {
        if (err == MRMA_SUCCESS)
            record_undo(rec);
        return comm_fail_as(args->comm, REPORT_ALWAYS, args->func, MRMA_ERR_OTHER, absent);
    }
    if (err != MRMA_SUCCESS) {
        boot_mpi_refuse(&bm, err, (int)error_fault(err));
        boot_mpi_leave(&bm);
        return prepare_fail(args, &bm, err, msg);
    }
    err = win_join(args, &bm, &info, rec);
    if (err != MRMA_SUCCESS) {
        if (bm.refused_by >= 0 && bm.refused_by != bm.boot.rank)
            say_refusal(&bm, msg, sizeof msg);
        else if (bm.host_failed)
            snprintf(msg, sizeof msg, "a collective of the host on the communicator failed");
        return comm_fail(args->comm, args->func, err, msg);
    }
    traced_create(rec);
    *win = atomic_load_explicit(&rec->handle, memory_order_relaxed);
    if (baseptr != NULL)
        memcpy(baseptr, win_base_attr(rec->win), sizeof(void *));
    return MPI_SUCCESS;
}

/* win_make_or_null is win_make, but for *win, which is MPI_WIN_NULL if there is no window: the
 * Fortran functions of Open MPI take *win for a handle whatever the call has returned. */
static int win_make_or_null(const struct win_args *args, void *baseptr, MPI_Win *win)
{
    if (win != NULL)
        *win = MPI_WIN_NULL;
    return win_make(args, baseptr, win);
}

/* An entry point that makes a window, with its arguments as struct win_args has them; its outputs
 * stand behind them. The large-count forms have a displacement unit of another type. Units above
 * INT_MAX are refused with MPI_ERR_DISP: MPI_WIN_DISP_UNIT could not report them. */
#define MAKES_WINDOW(name, call, params, args, flavor, base, size, disp_unit, baseptr)           \
    MRMA_PUBLIC int PMPI_##name params                                                           \
    {                                                                                            \
        TRACED(call);                                                                            \
        const struct win_args given = {"MPI_" #name, flavor, base, size, disp_unit, info, comm}; \
                                                                                                 \
        return engine_disabled() ? mpi_host.name args : win_make_or_null(&given, baseptr, win);  \
    }                                                                                            \
    MRMA_EXPORT_MPI(name)

/* The caller's memory; base may be anything if size is 0. */
#define MAKES_OF_MEMORY(name, unit_type)                                                        \
    MAKES_WINDOW(name, Win_create,                                                              \
                 (void *base, MPI_Aint size, unit_type disp_unit, MPI_Info info, MPI_Comm comm, \
                  MPI_Win *win),                                                                \
                 (base, size, disp_unit, info, comm, win), WIN_CREATE, base, size, disp_unit,   \
                 NULL)
MAKES_OF_MEMORY(Win_create, int);
MAKES_OF_MEMORY(Win_create_c, MPI_Aint);

/* The memory is the library's and is freed with the window. */
#define MAKES_WITH_MEMORY(name, call, unit_type, flavor)                                           \
    MAKES_WINDOW(name, call,                                                                       \
                 (MPI_Aint size, unit_type disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, \
                  MPI_Win *win),                                                                   \
                 (size, disp_unit, info, comm, baseptr, win), flavor, NULL, size, disp_unit,       \
                 baseptr)
MAKES_WITH_MEMORY(Win_allocate, Win_allocate, int, WIN_ALLOCATE);
MAKES_WITH_MEMORY(Win_allocate_c, Win_allocate, MPI_Aint, WIN_ALLOCATE);

/* All processes must be on one node, else the result is MPI_ERR_RMA_SHARED. */
MAKES_WITH_MEMORY(Win_allocate_shared, Win_allocate_shared, int, WIN_ALLOCATE_SHARED);
MAKES_WITH_MEMORY(Win_allocate_shared_c, Win_allocate_shared, MPI_Aint, WIN_ALLOCATE_SHARED);

MAKES_WINDOW(Win_create_dynamic, Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win),
             (info, comm, win), WIN_DYNAMIC, NULL, 0, 1, NULL);

/* If a delete call-back refuses, the window stays, and the agreement of all processes holds for the
 * next attempt. An operation that a target has refused since the last synchronization is reported
 * while the window's error handler is still there; the window is freed all the same, as the other
 * processes free it. A window that has lost a process is freed, too, since nothing can be agreed
 * upon any more. */
MRMA_PUBLIC int PMPI_Win_free(MPI_Win *win)
{
    MPI_Win handle = win != NULL ? *win : MPI_WIN_NULL;
    TRACED_WIN(Win_free, handle);
    struct win_rec *rec = win_lookup(handle);
    int err = args_place(win, "win"), rc, refused = MPI_SUCCESS;

    if (unlikely(err != MRMA_SUCCESS))
        return plain_fail("MPI_Win_free", err, "");
    if (unlikely(rec == NULL))
        return mpi_host.Win_free(win);
    if (!rec->freeing) {
        err = win_free_begin(rec->win);
        if (err != MRMA_SUCCESS && err != MRMA_ERR_PROC_FAILED)
            return sync_fail(rec, "MPI_Win_free", RMA_CALL_FREE, err, NO_TARGET);
        rec->freeing = true;
        const int told = win_take_error(rec->win);
        err = err != MRMA_SUCCESS ? err : told;
        if (err != MRMA_SUCCESS)
            refused = win_fail(rec, "MPI_Win_free", err);
    }
    rc = mpi_host.Win_free(win);
    if (rc != MPI_SUCCESS)
        return rc;
    request_pool_orphan(rec);
    notify_request_orphan(rec);
    win_table_del(rec, handle);
    traced_event(rec, (struct trace_record){.kind = TRACE_WIN_FREE});
    win_free_end(rec->win);
    host_poll_window_freed();
    win_rec_drop(rec);
    return refused;
}
MRMA_EXPORT_MPI(Win_free);

static int attach(struct win_rec *rec, void *base, MPI_Aint size)
{
    int err;

    if (rec->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        err = FAULT(engine_messages(), ATTACH_KIND, win_maker(rec));
    else if (size < 0)
        err = FAULT(engine_messages(), ATTACH_SIZE, (long long)size, base);
    else
        err = win_attach(rec->win, base, (uint64_t)size);
    if (err == MRMA_ERR_SIZE && size >= 0)
        err = FAULT(engine_messages(), ATTACH_WRAPS, base, (long long)size);
    return err == MRMA_SUCCESS ? MPI_SUCCESS : win_fail(rec, "MPI_Win_attach", err);
}

/* base stays the caller's; it is to be detached before it is freed. */
WINDOW_ENTRY(Win_attach, TRACED_WIN(Win_attach, win), (MPI_Win win, void *base, MPI_Aint size),
             (win, base, size), attach(rec, base, size));

static int detach(struct win_rec *rec, const void *base)
{
    const int err = rec->flavor != MPI_WIN_FLAVOR_DYNAMIC
                        ? FAULT(engine_messages(), ATTACH_KIND, win_maker(rec))
                        : win_detach(rec->win, base);

    return err == MRMA_SUCCESS ? MPI_SUCCESS : win_fail(rec, "MPI_Win_detach", err);
}

WINDOW_ENTRY(Win_detach, TRACED_WIN(Win_detach, win), (MPI_Win win, const void *base), (win, base),
             detach(rec, base));
