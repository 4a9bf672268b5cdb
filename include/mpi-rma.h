/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi-rma.h - what libmpi-rma has beyond MPI.
 *
 * Programs need none of this: an unchanged MPI program that is linked with, or started under,
 * libmpi-rma uses it for all of its one-sided communication. The first two functions tell which
 * version that is and how a window's data travels: they are local, return MPI_SUCCESS or an MPI
 * error class, and call no error handler. Two others name a part of the program for a trace
 * (doc/traces.md), and the rest is notified access, of which doc/notified.md says more. All may be
 * called between MPI_Init and MPI_Finalize by any thread that may call MPI. Each also exists under
 * its PMPIRMA_ name.
 */
#ifndef MPI_RMA_H
#define MPI_RMA_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPIRMA_VERSION_MAJOR 0
#define MPIRMA_VERSION_MINOR 1
#define MPIRMA_VERSION_PATCH 0
#define MPIRMA_VERSION "0.1.0"

/* Length of a buffer that takes every text of MPIRMA_Win_path. */
#define MPIRMA_MAX_PATH_NAME 32

/* MPIRMA_Get_version tells the version of the library in use, which may differ from that of this
 * header. Null pointers are skipped. Always returns MPI_SUCCESS. */
int MPIRMA_Get_version(int *major, int *minor, int *patch);

/*
 * MPIRMA_Win_path tells which data path serves operations on process target of win:
 *
 *   "mapped"   load and store in memory that both processes map
 *   "cma"      the kernel copies between the processes
 *   "shm-packets"  packets through shared memory, served by the target's calls or its agent
 *   "net-packets"  the same over the network
 *   "host"     MPIRMA_DISABLE=1: the host's own one-sided communication
 *
 * The text is written to buf, of len bytes with the final null character. Returns MPI_SUCCESS;
 * MPI_ERR_WIN: win is not a window; MPI_ERR_RANK: target is not a rank of it; MPI_ERR_ARG: buf is
 * null or too short, it is not written then.
 */
int MPIRMA_Win_path(MPI_Win win, int target, char *buf, int len);

/*
 * Regions: parts of the program that have a name, which a trace and its report then have as well.
 * They cost a few nanoseconds where no trace is taken, and may be begun and ended at any time, but
 * not during MPI_Finalize, by any thread, whether it may call MPI or not; each thread has its own.
 * MPI_Pcontrol(0) stops the recording of the process, MPI_Pcontrol(1) resumes it; all other levels
 * do nothing here.
 */
#define MPIRMA_MAX_REGION_NAME 128

/* MPIRMA_Region_begin begins a region inside those that this thread has begun and not yet ended.
 * The same name is the same region wherever it is begun; name is copied, and cut after
 * MPIRMA_MAX_REGION_NAME - 1 bytes. Returns MPI_SUCCESS; MPI_ERR_ARG: name is null or empty, and
 * nothing has begun. More than 64 regions one in another, and more than 65536 names in a process,
 * are not recorded, which is said once. */
int MPIRMA_Region_begin(const char *name);

/* MPIRMA_Region_end ends the region that this thread has begun last. Returns MPI_SUCCESS;
 * MPI_ERR_OTHER: there is none. A region that was begun outside of a call of MPI and is ended in a
 * function that this call calls ends with the call; one that is begun there ends there, too. */
int MPIRMA_Region_end(void);

/*
 * Notified access: a put, get or accumulate that tells its target when it is done there.
 *
 * A window has notifications where the info key mpirma_notifications gives their number, the same
 * at all processes, at most MPIRMA_MAX_NOTIFICATIONS; they are numbered from 0. A window without
 * the key has none. Each process counts the notifications that it gets, by number and source.
 *
 * Errors are those of the MPI call after which a function is named, MPI_ERR_ARG (there is no
 * notification of this number, or the count is negative) and MPI_ERR_RANK (source is no rank of the
 * window). They are given to the window's error handler, and what a function sets stays as it was.
 * MPI_ERR_WIN: win is not a window of this library, which calls no error handler.
 */
#define MPIRMA_MAX_NOTIFICATIONS 64

/*
 * MPIRMA_Put_notify is MPI_Put, which then raises the notification of that number at the target:
 * the target that has seen the notification finds the data of this put in its window. The origin
 * may use its buffer again, and relies on the data being there, when MPI says so of MPI_Put. In a
 * passive target epoch neither origin nor target need call MPI for the notification to be raised. A
 * put of no bytes is a notification alone; nothing is done if target is MPI_PROC_NULL.
 */
int MPIRMA_Put_notify(const void *origin_addr, int origin_count, MPI_Datatype origin_type,
                      int target, MPI_Aint target_disp, int target_count, MPI_Datatype target_type,
                      MPI_Win win, int notification_id);

/* MPIRMA_Put_notify_c is MPIRMA_Put_notify with large counts. */
int MPIRMA_Put_notify_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_type,
                        int target, MPI_Aint target_disp, MPI_Count target_count,
                        MPI_Datatype target_type, MPI_Win win, int notification_id);

/*
 * MPIRMA_Get_notify is MPI_Get, which then raises the notification of that number at the target:
 * the target that has seen the notification may change what was read. All else is as for
 * MPIRMA_Put_notify.
 */
int MPIRMA_Get_notify(void *origin_addr, int origin_count, MPI_Datatype origin_type, int target,
                      MPI_Aint target_disp, int target_count, MPI_Datatype target_type, MPI_Win win,
                      int notification_id);

/* MPIRMA_Get_notify_c is MPIRMA_Get_notify with large counts. */
int MPIRMA_Get_notify_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_type,
                        int target, MPI_Aint target_disp, MPI_Count target_count,
                        MPI_Datatype target_type, MPI_Win win, int notification_id);

/*
 * MPIRMA_Accumulate_notify is MPI_Accumulate, which then raises the notification of that number at
 * the target: the target that has seen the notification finds all elements changed. All else is as
 * for MPIRMA_Put_notify.
 */
int MPIRMA_Accumulate_notify(const void *origin_addr, int origin_count, MPI_Datatype origin_type,
                             int target, MPI_Aint target_disp, int target_count,
                             MPI_Datatype target_type, MPI_Op op, MPI_Win win, int notification_id);

/* MPIRMA_Accumulate_notify_c is MPIRMA_Accumulate_notify with large counts. */
int MPIRMA_Accumulate_notify_c(const void *origin_addr, MPI_Count origin_count,
                               MPI_Datatype origin_type, int target, MPI_Aint target_disp,
                               MPI_Count target_count, MPI_Datatype target_type, MPI_Op op,
                               MPI_Win win, int notification_id);

/*
 * The next are for the target, and local but for the waiting. source is a rank of the window, or
 * MPI_ANY_SOURCE. Those of a rank and those of MPI_ANY_SOURCE are counted apart: every notification
 * counts for both, and what is taken of one is not taken of the other. Of MPI_PROC_NULL none ever
 * come, and what is awaited is there at once, as a message of it is. Calls that return how many
 * have come, or have taken some, are followed by the target's loads as MPI_Win_sync would be. They
 * may be called in any epoch and outside of all.
 */

/* MPIRMA_Notify_read sets *count to how many notifications of that number have come from source and
 * have not been taken. It makes progress as MPI_Win_sync does. */
int MPIRMA_Notify_read(MPI_Win win, int source, int notification_id, MPI_Count *count);

/* MPIRMA_Notify_reset takes all of these that have come, and sets *count, unless count is null, to
 * how many that were. */
int MPIRMA_Notify_reset(MPI_Win win, int source, int notification_id, MPI_Count *count);

/* MPIRMA_Notify_wait waits until at least count of these have come, and takes count of them. It
 * serves other processes meanwhile, and sleeps after a while. MPI_ERR_OTHER: a process of the
 * window was lost meanwhile, and none has been taken. */
int MPIRMA_Notify_wait(MPI_Win win, int source, int notification_id, MPI_Count count);

/* MPIRMA_Notify_test takes count of these if so many have come, and sets *flag to 1; else it takes
 * none, and sets 0. It makes progress, and may be called in a loop. MPI_ERR_OTHER: so many have not
 * come, and a process of the window is lost. */
int MPIRMA_Notify_test(MPI_Win win, int source, int notification_id, MPI_Count count, int *flag);

/* MPIRMA_Notify_waitany waits until at least count of one of the num_ids numbers from first_id on
 * have come, takes count of these, and sets *notification_id to their number: the lowest one of
 * which so many are there; MPI_UNDEFINED if source is MPI_PROC_NULL. MPI_ERR_ARG: these are not at
 * least one number of the window, and all of them. All else is as for MPIRMA_Notify_wait. */
int MPIRMA_Notify_waitany(MPI_Win win, int source, int first_id, int num_ids, MPI_Count count,
                          int *notification_id);

/* MPIRMA_Notify_testany does what MPIRMA_Notify_waitany does if it need not wait, and sets *flag
 * to 1; else it takes none, and sets 0 and *notification_id to MPI_UNDEFINED. All else is as for
 * MPIRMA_Notify_test. */
int MPIRMA_Notify_testany(MPI_Win win, int source, int first_id, int num_ids, MPI_Count count,
                          int *flag, int *notification_id);

/*
 * MPIRMA_Notify_init makes a persistent request, inactive at first, that MPI_Start and MPI_Startall
 * start, that is complete when count notifications of that number have come from source and have
 * been taken, and that MPI_Request_free frees, before the window is freed. The Wait and Test
 * families of MPI take it beside other requests; its status is that of a message of no bytes, of
 * which source and tag mean nothing. MPI_Cancel cancels an active one, which then takes nothing,
 * and so does MPI_Request_free. Where notifications can come no more, since a process of the window
 * is lost or the window was freed, the waiting call returns an error of class MPI_ERR_TRUNCATE, and
 * Open MPI then frees the request, as it does with all of its own that fail.
 */
int MPIRMA_Notify_init(MPI_Win win, int source, int notification_id, MPI_Count count,
                       MPI_Request *request);

/* PMPIRMA_Get_version is MPIRMA_Get_version by the name that profiling tools call. */
int PMPIRMA_Get_version(int *major, int *minor, int *patch);

/* PMPIRMA_Win_path is MPIRMA_Win_path by the name that profiling tools call. */
int PMPIRMA_Win_path(MPI_Win win, int target, char *buf, int len);

/* PMPIRMA_Region_begin is MPIRMA_Region_begin by the name that profiling tools call. */
int PMPIRMA_Region_begin(const char *name);

/* PMPIRMA_Region_end is MPIRMA_Region_end by the name that profiling tools call. */
int PMPIRMA_Region_end(void);

/* PMPIRMA_Put_notify is MPIRMA_Put_notify by the name that profiling tools call. */
int PMPIRMA_Put_notify(const void *origin_addr, int origin_count, MPI_Datatype origin_type,
                       int target, MPI_Aint target_disp, int target_count, MPI_Datatype target_type,
                       MPI_Win win, int notification_id);

/* PMPIRMA_Put_notify_c is MPIRMA_Put_notify_c by the name that profiling tools call. */
int PMPIRMA_Put_notify_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_type,
                         int target, MPI_Aint target_disp, MPI_Count target_count,
                         MPI_Datatype target_type, MPI_Win win, int notification_id);

/* PMPIRMA_Get_notify is MPIRMA_Get_notify by the name that profiling tools call. */
int PMPIRMA_Get_notify(void *origin_addr, int origin_count, MPI_Datatype origin_type, int target,
                       MPI_Aint target_disp, int target_count, MPI_Datatype target_type,
                       MPI_Win win, int notification_id);

/* PMPIRMA_Get_notify_c is MPIRMA_Get_notify_c by the name that profiling tools call. */
int PMPIRMA_Get_notify_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_type,
                         int target, MPI_Aint target_disp, MPI_Count target_count,
                         MPI_Datatype target_type, MPI_Win win, int notification_id);

/* PMPIRMA_Accumulate_notify is MPIRMA_Accumulate_notify by the name that profiling tools call. */
int PMPIRMA_Accumulate_notify(const void *origin_addr, int origin_count, MPI_Datatype origin_type,
                              int target, MPI_Aint target_disp, int target_count,
                              MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                              int notification_id);

/* PMPIRMA_Accumulate_notify_c is MPIRMA_Accumulate_notify_c by the name that profiling tools call.
 */
int PMPIRMA_Accumulate_notify_c(const void *origin_addr, MPI_Count origin_count,
                                MPI_Datatype origin_type, int target, MPI_Aint target_disp,
                                MPI_Count target_count, MPI_Datatype target_type, MPI_Op op,
                                MPI_Win win, int notification_id);

/* PMPIRMA_Notify_read is MPIRMA_Notify_read by the name that profiling tools call. */
int PMPIRMA_Notify_read(MPI_Win win, int source, int notification_id, MPI_Count *count);

/* PMPIRMA_Notify_reset is MPIRMA_Notify_reset by the name that profiling tools call. */
int PMPIRMA_Notify_reset(MPI_Win win, int source, int notification_id, MPI_Count *count);

/* PMPIRMA_Notify_wait is MPIRMA_Notify_wait by the name that profiling tools call. */
int PMPIRMA_Notify_wait(MPI_Win win, int source, int notification_id, MPI_Count count);

/* PMPIRMA_Notify_test is MPIRMA_Notify_test by the name that profiling tools call. */
int PMPIRMA_Notify_test(MPI_Win win, int source, int notification_id, MPI_Count count, int *flag);

/* PMPIRMA_Notify_waitany is MPIRMA_Notify_waitany by the name that profiling tools call. */
int PMPIRMA_Notify_waitany(MPI_Win win, int source, int first_id, int num_ids, MPI_Count count,
                           int *notification_id);

/* PMPIRMA_Notify_testany is MPIRMA_Notify_testany by the name that profiling tools call. */
int PMPIRMA_Notify_testany(MPI_Win win, int source, int first_id, int num_ids, MPI_Count count,
                           int *flag, int *notification_id);

/* PMPIRMA_Notify_init is MPIRMA_Notify_init by the name that profiling tools call. */
int PMPIRMA_Notify_init(MPI_Win win, int source, int notification_id, MPI_Count count,
                        MPI_Request *request);

#ifdef __cplusplus
}
#endif

#endif
