/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_kind.h - what differs between the MPI libraries that one build may meet, found out at run
 * time.
 *
 * A build for the standard ABI serves every MPI library that has it, and a build for a host serves
 * all its releases and what derives from it. So nothing of this is decided by a macro of a header.
 */
#ifndef MRMA_MPI_HOST_HOST_KIND_H
#define MRMA_MPI_HOST_HOST_KIND_H

#include <stdbool.h>

/* host_is_openmpi returns whether the host is Open MPI or derives from it: its predefined handles
 * are objects with names that nobody else has. Any thread, once the host is loaded. */
bool host_is_openmpi(void);

/* host_frees_failed returns whether the host frees a persistent request when it tells that the
 * request has failed, as Open MPI does; with the others it becomes inactive, and the program frees
 * it. Any thread, once the host is loaded. */
bool host_frees_failed(void);

/* host_yields returns whether blocking collectives of the host give the processor away when there
 * are more processes than processors. Open MPI does when its launcher has told it so; the others
 * spin. Any thread, once the host is loaded. */
bool host_yields(void);

/* host_ids_wait returns whether a thread that asks the host for a context id, as for a communicator
 * or a window, may wait for another thread that has asked for one, as long as that one waits for
 * other processes. Open MPI serves the lowest communicator first, from when its first process asks.
 * MPICH counts from when all processes of a communicator have asked, so that nobody waits for one
 * that has not. Any thread, once the host is loaded. */
bool host_ids_wait(void);

/* What the host's own progress may serve of what arrives for a process that waits in a call of the
 * host (host_poll.h). */
enum host_join {
    HOST_JOIN_NOTHING, /* it lets nobody in */
    HOST_JOIN_NETWORK, /* what comes over the network: MPICH from 4.3 on, in its own interface */
    HOST_JOIN_NETWORK_BY_UCX, /* the same, of a host that was linked with UCX: host_poll_ucx.h */
    HOST_JOIN_ALL,            /* what lies in rings of the node as well: Open MPI */
};

/* host_joins returns what the host's progress serves: it depends on the functions that the host
 * has. Any thread, once the host is loaded. */
enum host_join host_joins(void);

#endif
