/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * share_malloc.h - the library that shares the blocks of malloc, where it is loaded.
 */
#ifndef MRMA_MPI_CALLS_SHARE_MALLOC_H
#define MRMA_MPI_CALLS_SHARE_MALLOC_H

#include <stdbool.h>

#include "base/conf.h"
#include "base/log.h"

struct malloc_calls;

/* share_malloc_calls returns what tells which blocks of malloc are shared (shm/malloc_calls.h), or
 * NULL if none are. Where conf asks for shared blocks and there are none, a warning says why, if
 * first is set: this process speaks for the job. */
const struct malloc_calls *share_malloc_calls(const struct conf *conf, const struct log *log,
                                              bool first);

#endif
