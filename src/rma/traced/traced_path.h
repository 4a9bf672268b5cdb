/*
 * traced_path.h - the paths of a window while a trace is taken (MPIRMA_TRACE).
 */
#ifndef MRMA_RMA_TRACED_TRACED_PATH_H
#define MRMA_RMA_TRACED_TRACED_PATH_H

#include "rma/win/path_ops.h"

/* By enum rma_path: each records the operation, then goes on to the path itself, or to what
 * MPIRMA_STRICT puts in front of it. */
extern const struct path_ops *const traced_path_by_number[];

#endif
