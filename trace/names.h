/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * names.h - the names in an archive of mpi-rma-trace for what OTF2 has no record for: attributes
 * of events, and regions for what the library does besides the calls of the program. The writer
 * numbers its definitions as here; the reader finds them by name.
 */
#ifndef MRMA_TRACE_NAMES_H
#define MRMA_TRACE_NAMES_H

#include <otf2/otf2.h>

#include "trace/spool.h"

#define CREATOR "mpi-rma-trace"

/* Properties of the archive: the program's name, the version of the MPI library, and which machine
 * had more ranks than processors. */
#define ARCHIVE_PROGRAM "MPI_RMA::PROGRAM"
#define ARCHIVE_HOST "MPI_RMA::HOST"
#define ARCHIVE_CROWDED "MPI_RMA::CROWDED"

enum attr {
    ATTR_WINDOW,     /* of a call */
    ATTR_PEER,       /* of a call: rank in the window */
    ATTR_PATH,       /* of an operation */
    ATTR_REQUEST,    /* 1: a request-based operation */
    ATTR_FUNCTION,   /* of an atomic operation */
    ATTR_EARLIER,    /* of a completion: how many ns before it the transfer really ended */
    ATTR_UNRECORDED, /* 1: no record says so, the trace ended before */
    ATTR_AT_WAIT,    /* 1: of a remote completion: really in MPI_Win_wait of the target */
    ATTR_ERROR,      /* of a return: the error class */
    ATTR_ASSERTS,    /* of a call */
    ATTR_ORIGIN,     /* of what a target does: rank in the window */
    ATTR_OPERATIONS,
    ATTR_BYTES,
    ATTR_QUEUE,        /* how many wait */
    ATTR_RANK,         /* in MPI_COMM_WORLD */
    ATTR_NOTIFICATION, /* of an operation, and where notifications are taken: their number */
    ATTR_TAKEN,        /* how many are */
    ATTR_SITE,         /* of a call: where it stands in the program */
    ATTR_CALLER,       /* of a call: the function in which it stands */
    ATTR_COMM,         /* of a call of the host's functions */
    ATTR_OPERATION,    /* of accessed memory: the number of the operation */
    ATTR_ACCESS,       /* how: enum trace_side and what stands beside it in a trace_access */
    ATTR_BLOCKS,       /* in so many blocks, */
    ATTR_LENGTH,       /* of so many bytes, */
    ATTR_STRIDE,       /* so many bytes apart */
    ATTR_ELEMENT,      /* of an atomic operation: bytes of an element */
    ATTRS
};

/* The parameter whose value is the address of accessed memory; there is one in the archive where
 * accesses are recorded. */
#define ACCESS_PARAMETER "accessed memory"

enum own_region {
    OWN_SERVE,
    OWN_ASLEEP,
    OWN_WAIT_POST,
    OWN_WAIT_CREDIT,
    OWN_WAKE_AGENT,
    OWN_WRITE_TRACE,
    OWN_PARKED,
    OWN_LOCK_QUEUE,
    OWN_REGIONS,
    OWN_STOPPED = OWN_REGIONS, /* no region of the archive, but the time between two events */
    OWN_KINDS
};

struct attr_name {
    const char *name, *description;
    OTF2_Type type;
};

struct region_name {
    const char *name, *description;
};

extern const struct attr_name attr_name[ATTRS];
extern const struct region_name own_region_name[OWN_KINDS];
extern const char *const call_name[TRACE_CALL_LAST]; /* MPI_Win_create, ...; 0 is empty */
enum { PATHS = TRACE_NETWORK + 1 };
extern const char *const path_name[PATHS];                    /* by enum trace_path; 0: unknown */
extern const char *const op_name[TRACE_COMPARE_AND_SWAP + 1]; /* MPI_Put, ... */
extern const char *const mpi_op_name[TRACE_ACC_LAST];         /* MPI_SUM, ...; 0 is empty */

#endif
