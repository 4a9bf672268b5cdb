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

/* host_yields returns whether blocking collectives of the host give the processor away when there
 * are more processes than processors. Open MPI does when its launcher has told it so; the others
 * spin. Any thread, once the host is loaded. */
bool host_yields(void);

/* How a host lets others into the loop of its progress, by the function that does it. */
enum host_way_in {
    HOST_NO_WAY_IN,
    HOST_PROGRESS_LIST, /* Open MPI's opal_progress_register */
    HOST_ASYNC_START,   /* PMPIX_Async_start of MPICH, from 4.3 on */
};

/* host_way_in returns how the host lets others into its progress. Any thread, once the host is
 * loaded. */
enum host_way_in host_way_in(void);

/* host_way_in_name returns the name of the function of that way, NULL where there is none. */
const char *host_way_in_name(enum host_way_in way);

#endif
