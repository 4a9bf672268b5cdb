/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_kind.h - what differs between the MPI libraries that one build may meet, found out at run
 * time.
 *
 * A build for the standard ABI serves every MPI library that has it, and a build for a host serves
 * all its releases and what derives from it. So none of these differences is decided by a macro of
 * a header.
 */
#ifndef MRMA_MPI_HOST_HOST_KIND_H
#define MRMA_MPI_HOST_HOST_KIND_H

#include <stdbool.h>

/* host_is_openmpi returns whether the host is Open MPI or derives from it: its predefined handles
 * are objects with names that no other MPI library has. Any thread, once the host is loaded. */
bool host_is_openmpi(void);

/* host_frees_failed returns whether the host frees a persistent request when it reports that the
 * request has failed, as Open MPI does; with other hosts the request becomes inactive, and the
 * program frees it. Any thread, once the host is loaded. */
bool host_frees_failed(void);

/* host_yields returns whether blocking collectives of the host give the processor away when there
 * are more processes than processors. Open MPI does when its launcher has told it so; the others
 * spin. Any thread, once the host is loaded. */
bool host_yields(void);

/* host_ids_wait returns whether a thread that asks the host for a context id, as for a communicator
 * or a window, may wait for another thread that has asked for one, as long as that thread waits for
 * other processes. Open MPI serves the lowest communicator first, as soon as its first process
 * asks. MPICH considers a communicator when all its processes have asked, so nobody waits for a
 * process that has not. Any thread, once the host is loaded. */
bool host_ids_wait(void);

/* How the library is let into the host's own progress, so that a process that waits in a call of
 * the host serves packets (host_poll.h). */
enum host_join {
    HOST_JOIN_NOT,      /* the host lets nobody in */
    HOST_JOIN_BY_OPAL,  /* Open MPI: opal_progress_register */
    HOST_JOIN_BY_ASYNC, /* MPICH from 4.3 on, in its own interface: MPIX_Async_start */
    HOST_JOIN_BY_UCX    /* a host that was linked with UCX: host_poll_ucx.h */
};

/* host_joins returns the way into the host's progress, by the functions that the host has. Any
 * thread, once the host is loaded. */
enum host_join host_joins(void);

#endif
