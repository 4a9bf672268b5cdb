/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi-rma-notify-fallback.h - notified access (mpi-rma.h, doc/notified.md) by MPI's own calls, for
 * programs that must also run without libmpi-rma. It is slow, and right: an operation is flushed,
 * and then raises counters in a second window. And MPIRMA_Region_begin and MPIRMA_Region_end, which
 * do nothing without the library, and what the library does where the program is started under it.
 *
 * Include it in place of mpi-rma.h. It has MPIRMA_Put_notify, MPIRMA_Get_notify and
 * MPIRMA_Accumulate_notify, and for the target MPIRMA_Notify_read, _reset, _wait, _test, _waitany
 * and _testany, as static functions of the file that includes it: all calls for a window must be in
 * one file. They differ from the library's in this:
 *
 * - MPIRMA_Fallback_begin must be called for a window behind its creation, and MPIRMA_Fallback_end
 *   before it is freed. A program that includes mpi-rma.h first may include this header, too: then
 *   both do nothing and all other functions are the library's.
 * - Operations are allowed in passive target epochs only, and are complete at the target when they
 *   return. They may wait for the target where the host's flush does.
 * - There are no requests, and no large counts (_c). Any error of the second window ends the
 *   program. One thread at a time may call.
 */
#ifndef MPI_RMA_NOTIFY_FALLBACK_H
#define MPI_RMA_NOTIFY_FALLBACK_H

#include <mpi.h>

#ifdef MPI_RMA_H

/* MPIRMA_Fallback_begin does nothing: the library has the notifications. */
static inline int MPIRMA_Fallback_begin(MPI_Win win, MPI_Comm comm, int numbers)
{
    (void)win, (void)comm, (void)numbers;
    return MPI_SUCCESS;
}

/* MPIRMA_Fallback_end does nothing. */
static inline int MPIRMA_Fallback_end(MPI_Win win)
{
    (void)win;
    return MPI_SUCCESS;
}

#else

#include <stdint.h>
#include <stdlib.h>

#define MPIRMA_MAX_NOTIFICATIONS 64
#define MPIRMA_MAX_REGION_NAME 128

/* PMPIRMA_Region_begin is that of the library; null where it is not there. */
extern int PMPIRMA_Region_begin(const char *name) __attribute__((weak));

/* PMPIRMA_Region_end is that of the library; null where it is not there. */
extern int PMPIRMA_Region_end(void) __attribute__((weak));

/* MPIRMA_Region_begin is that of mpi-rma.h. */
static inline int MPIRMA_Region_begin(const char *name)
{
    if (PMPIRMA_Region_begin)
        return PMPIRMA_Region_begin(name);
    return name && *name ? MPI_SUCCESS : MPI_ERR_ARG;
}

/* MPIRMA_Region_end is that of mpi-rma.h; without the library it does not tell whether there is a
 * region to end. */
static inline int MPIRMA_Region_end(void)
{
    return PMPIRMA_Region_end ? PMPIRMA_Region_end() : MPI_SUCCESS;
}

/* What belongs to a window: an attribute of it. Row 0 of the counters is that of all sources, row
 * 1 + r that of rank r. */
struct mpirma_fallback {
    MPI_Win counters; /* in a lock_all epoch for as long as it lives */
    int64_t *taken;   /* as the counters, of this process */
    int numbers, rank, nproc;
};

static int mpirma_fallback_key = MPI_KEYVAL_INVALID;

/* mpirma_fallback_of returns what belongs to win; NULL: MPIRMA_Fallback_begin was not called. */
static inline struct mpirma_fallback *mpirma_fallback_of(MPI_Win win)
{
    void *found = NULL;
    int there = 0;
    if (mpirma_fallback_key != MPI_KEYVAL_INVALID && win != MPI_WIN_NULL)
        MPI_Win_get_attr(win, mpirma_fallback_key, &found, &there);
    return there ? (struct mpirma_fallback *)found : NULL;
}

/* MPIRMA_Fallback_begin gives win, a window of the processes of comm, so many numbers of
 * notifications. Collective over comm. MPI_ERR_ARG: numbers is not from 1 to 64. MPI_ERR_NO_MEM:
 * this process has no memory for them; others then wait in vain. */
static inline int MPIRMA_Fallback_begin(MPI_Win win, MPI_Comm comm, int numbers)
{
    struct mpirma_fallback *f;
    int64_t *base;
    size_t n, whole;
    if (numbers < 1 || numbers > MPIRMA_MAX_NOTIFICATIONS)
        return MPI_ERR_ARG;
    if (mpirma_fallback_key == MPI_KEYVAL_INVALID)
        MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &mpirma_fallback_key,
                              NULL);
    f = (struct mpirma_fallback *)calloc(1, sizeof *f);
    if (f == NULL)
        return MPI_ERR_NO_MEM;
    f->numbers = numbers;
    MPI_Comm_rank(comm, &f->rank);
    MPI_Comm_size(comm, &f->nproc);
    n = (size_t)numbers * (1 + (size_t)f->nproc);
    f->taken = (int64_t *)calloc(n, sizeof *f->taken);
    if (f->taken == NULL) {
        free(f);
        return MPI_ERR_NO_MEM;
    }
    /* Whole pages: MPICH 4.0 misplaces what is put to parts that do not begin at a page. */
    whole = (n * sizeof *base + 65535) / 65536 * 65536;
    MPI_Win_allocate((MPI_Aint)whole, sizeof *base, MPI_INFO_NULL, comm, &base, &f->counters);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, f->rank, 0, f->counters);
    for (size_t i = 0; i < n; i++)
        base[i] = 0;
    MPI_Win_unlock(f->rank, f->counters);
    MPI_Barrier(comm);
    MPI_Win_lock_all(0, f->counters);
    return MPI_Win_set_attr(win, mpirma_fallback_key, f);
}

/* MPIRMA_Fallback_end takes the notifications of win away. Collective over the processes of win. */
static inline int MPIRMA_Fallback_end(MPI_Win win)
{
    struct mpirma_fallback *f = mpirma_fallback_of(win);
    if (f == NULL)
        return MPI_ERR_WIN;
    MPI_Win_delete_attr(win, mpirma_fallback_key);
    MPI_Win_unlock_all(f->counters);
    MPI_Win_free(&f->counters);
    free(f->taken);
    free(f);
    return MPI_SUCCESS;
}

/* mpirma_fallback_raise completes an operation, which has returned err, at its target, and then
 * raises both counters there. Returns the first error. */
static inline int mpirma_fallback_raise(MPI_Win win, int target, int number, int err)
{
    const struct mpirma_fallback *f = mpirma_fallback_of(win);
    const int64_t one = 1;
    if (err != MPI_SUCCESS || target == MPI_PROC_NULL)
        return err;
    err = MPI_Win_flush(target, win);
    if (err != MPI_SUCCESS)
        return err;
    MPI_Accumulate(&one, 1, MPI_INT64_T, target, number, 1, MPI_INT64_T, MPI_SUM, f->counters);
    MPI_Accumulate(&one, 1, MPI_INT64_T, target, (MPI_Aint)(1 + f->rank) * f->numbers + number, 1,
                   MPI_INT64_T, MPI_SUM, f->counters);
    return MPI_Win_flush(target, f->counters);
}

/* mpirma_fallback_check returns MPI_SUCCESS, or what is wrong with the window or the number. */
static inline int mpirma_fallback_check(MPI_Win win, int number)
{
    const struct mpirma_fallback *f = mpirma_fallback_of(win);
    return f == NULL ? MPI_ERR_WIN : number < 0 || number >= f->numbers ? MPI_ERR_ARG : MPI_SUCCESS;
}

/* MPIRMA_Put_notify: as in mpi-rma.h. */
static inline int MPIRMA_Put_notify(const void *origin_addr, int origin_count,
                                    MPI_Datatype origin_type, int target, MPI_Aint target_disp,
                                    int target_count, MPI_Datatype target_type, MPI_Win win,
                                    int notification_id)
{
    int err = mpirma_fallback_check(win, notification_id);
    if (err == MPI_SUCCESS)
        err = MPI_Put(origin_addr, origin_count, origin_type, target, target_disp, target_count,
                      target_type, win);
    return mpirma_fallback_raise(win, target, notification_id, err);
}

/* MPIRMA_Get_notify: as in mpi-rma.h. */
static inline int MPIRMA_Get_notify(void *origin_addr, int origin_count, MPI_Datatype origin_type,
                                    int target, MPI_Aint target_disp, int target_count,
                                    MPI_Datatype target_type, MPI_Win win, int notification_id)
{
    int err = mpirma_fallback_check(win, notification_id);
    if (err == MPI_SUCCESS)
        err = MPI_Get(origin_addr, origin_count, origin_type, target, target_disp, target_count,
                      target_type, win);
    return mpirma_fallback_raise(win, target, notification_id, err);
}

/* MPIRMA_Accumulate_notify: as in mpi-rma.h. */
static inline int MPIRMA_Accumulate_notify(const void *origin_addr, int origin_count,
                                           MPI_Datatype origin_type, int target,
                                           MPI_Aint target_disp, int target_count,
                                           MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                           int notification_id)
{
    int err = mpirma_fallback_check(win, notification_id);
    if (err == MPI_SUCCESS)
        err = MPI_Accumulate(origin_addr, origin_count, origin_type, target, target_disp,
                             target_count, target_type, op, win);
    return mpirma_fallback_raise(win, target, notification_id, err);
}

/* mpirma_fallback_place returns where source and number are counted; -1: there is no such rank. */
static inline MPI_Aint mpirma_fallback_place(const struct mpirma_fallback *f, int source,
                                             int number)
{
    if (source == MPI_ANY_SOURCE)
        return number;
    return source < 0 || source >= f->nproc ? -1 : (MPI_Aint)(1 + source) * f->numbers + number;
}

/* MPIRMA_Notify_read: as in mpi-rma.h. */
static inline int MPIRMA_Notify_read(MPI_Win win, int source, int notification_id, MPI_Count *count)
{
    const struct mpirma_fallback *f = mpirma_fallback_of(win);
    const int err = mpirma_fallback_check(win, notification_id);
    int64_t none = 0, come = 0;
    MPI_Aint place;
    if (err != MPI_SUCCESS)
        return err;
    if (source == MPI_PROC_NULL) {
        *count = 0;
        return MPI_SUCCESS;
    }
    place = mpirma_fallback_place(f, source, notification_id);
    if (place < 0)
        return MPI_ERR_RANK;
    MPI_Fetch_and_op(&none, &come, MPI_INT64_T, f->rank, place, MPI_NO_OP, f->counters);
    MPI_Win_flush(f->rank, f->counters);
    *count = come - f->taken[place];
    return MPI_Win_sync(f->counters); /* win may be in no epoch, and hosts look at that */
}

/* MPIRMA_Notify_testany: as in mpi-rma.h. */
static inline int MPIRMA_Notify_testany(MPI_Win win, int source, int first_id, int num_ids,
                                        MPI_Count count, int *flag, int *notification_id)
{
    const struct mpirma_fallback *f = mpirma_fallback_of(win);
    int err = mpirma_fallback_check(win, first_id), found = MPI_UNDEFINED;
    if (err == MPI_SUCCESS && (count < 0 || num_ids < 1 || num_ids > f->numbers - first_id))
        err = MPI_ERR_ARG;
    for (int i = 0; err == MPI_SUCCESS && found == MPI_UNDEFINED && i < num_ids; i++) {
        MPI_Count come = 0;
        err = MPIRMA_Notify_read(win, source, first_id + i, &come);
        if (err == MPI_SUCCESS && come >= count && source != MPI_PROC_NULL)
            found = first_id + i;
    }
    if (err != MPI_SUCCESS)
        return err;
    if (found != MPI_UNDEFINED)
        f->taken[mpirma_fallback_place(f, source, found)] += count;
    *flag = found != MPI_UNDEFINED || source == MPI_PROC_NULL;
    *notification_id = found;
    return MPI_SUCCESS;
}

/* MPIRMA_Notify_test: as in mpi-rma.h. */
static inline int MPIRMA_Notify_test(MPI_Win win, int source, int notification_id, MPI_Count count,
                                     int *flag)
{
    int which;
    return MPIRMA_Notify_testany(win, source, notification_id, 1, count, flag, &which);
}

/* MPIRMA_Notify_waitany: as in mpi-rma.h. It looks again and again, and lets the host make progress
 * in between. */
static inline int MPIRMA_Notify_waitany(MPI_Win win, int source, int first_id, int num_ids,
                                        MPI_Count count, int *notification_id)
{
    int err, came = 0, flag, which = MPI_UNDEFINED;
    while ((err = MPIRMA_Notify_testany(win, source, first_id, num_ids, count, &came, &which)) ==
               MPI_SUCCESS &&
           !came)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (err == MPI_SUCCESS)
        *notification_id = which;
    return err;
}

/* MPIRMA_Notify_wait: as in mpi-rma.h. */
static inline int MPIRMA_Notify_wait(MPI_Win win, int source, int notification_id, MPI_Count count)
{
    int which;
    return MPIRMA_Notify_waitany(win, source, notification_id, 1, count, &which);
}

/* MPIRMA_Notify_reset: as in mpi-rma.h. */
static inline int MPIRMA_Notify_reset(MPI_Win win, int source, int notification_id,
                                      MPI_Count *count)
{
    const struct mpirma_fallback *f = mpirma_fallback_of(win);
    MPI_Count come = 0;
    const int err = MPIRMA_Notify_read(win, source, notification_id, &come);
    if (err != MPI_SUCCESS)
        return err;
    if (source != MPI_PROC_NULL)
        f->taken[mpirma_fallback_place(f, source, notification_id)] += come;
    if (count != NULL)
        *count = come;
    return MPI_SUCCESS;
}

#endif
#endif
