/*
 * path.h - the ways to a target that there are: a table of functions each (win/path_ops.h).
 */
#ifndef MRMA_RMA_PATH_PATH_H
#define MRMA_RMA_PATH_PATH_H

#include "rma/win/path_ops.h"

extern const struct path_ops path_mapped, path_assisted, path_packets;

/* The same by their number. */
extern const struct path_ops *const path_by_number[PATH_COUNT];

#endif
