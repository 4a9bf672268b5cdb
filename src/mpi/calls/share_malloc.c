/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * share_malloc.c - finds the library that shares the blocks of malloc (shm/malloc_calls.h).
 *
 * It is looked for among all that is loaded, since it is no part of this library. No locks, nothing
 * is kept. Neighbours: engine_get.c, which hands what is found to the engine;
 * tools/preload-malloc.c, which is found.
 */
#define _GNU_SOURCE 1 /* RTLD_DEFAULT */
#include "mpi/calls/share_malloc.h"

#include <dlfcn.h>
#include <stddef.h>

#include "shm/malloc_calls.h"

/* reason_against returns NULL if blocks are shared. */
static const char *reason_against(const struct malloc_calls *calls)
{
    if (calls == NULL)
        return "libmpi-rma-malloc.so is not loaded; start the program by mpi-rma-run";
    if (calls->version != MALLOC_CALLS_VERSION)
        return "libmpi-rma-malloc.so is of another version than libmpi-rma";
    return calls->why_not();
}

const struct malloc_calls *share_malloc_calls(const struct conf *conf, const struct log *log,
                                              bool first)
{
    if (conf->share_malloc == 0)
        return NULL;
    const struct malloc_calls *calls = dlsym(RTLD_DEFAULT, MALLOC_CALLS_SYMBOL);
    const char *against = reason_against(calls);
    if (against == NULL)
        return calls;
    if (first)
        log_msg(log, LOG_LEVEL_WARN,
                "MPIRMA_SHARE_MALLOC is set, but blocks of malloc are not shared: %s", against);
    return NULL;
}
