/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agree_library.h - finds out, before the first window or split by type of a communicator, whether
 * all its processes have this library.
 *
 * A process without it makes the host's call, while the others exchange records of this library:
 * both would wait for ever. So they meet first, once for a communicator and its duplicates. This
 * costs one communicator, which the hosts pay for each such call.
 */
#ifndef MRMA_MPI_HOST_AGREE_LIBRARY_H
#define MRMA_MPI_HOST_AGREE_LIBRARY_H

#include <mpi.h>

#include <stddef.h>

#include "boot/boot_report.h"

/* What a process without the library does meanwhile: the host's creation of a window, or the host's
 * MPI_Comm_split_type. */
enum meet_before { MEET_BEFORE_WINDOW, MEET_BEFORE_SPLIT };

/* meet_all finds out whether all processes of comm, an intracommunicator, have this library.
 * Collective; the user's call-backs for attributes are not called. boot has the rank and size of
 * comm. It waits, however long, until all have come, and report reports that wait; after that it
 * does not wait long. Returns MRMA_SUCCESS; or MRMA_ERR_OTHER, at all processes that have the
 * library, with a text in msg (len bytes) that names the ranks without it. MRMA_ERR_OTHER, too, if
 * the host refuses what this takes. */
int meet_all(MPI_Comm comm, enum meet_before before, const struct boot *boot,
             struct boot_report *report, char *msg, size_t len);

/* meet_end forgets what meet_all has noted at communicators; it is called when the last session
 * ends, and all communicators with it. */
void meet_end(void);

#endif
