/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * refused.h - the error of an operation that was refused after its call had returned, by its target
 * or here: it is kept until the window's next synchronization returns it. Locks: the engine's, held
 * by the caller.
 */
#ifndef MRMA_RMA_ORIGIN_REFUSED_H
#define MRMA_RMA_ORIGIN_REFUSED_H

#include "rma/win/win.h"

/* origin_keep_error notes err for the window's next synchronization, which returns it, since the
 * call of the failed operation has returned already. Only the first error is kept. Under the
 * engine's lock. */
static inline void origin_keep_error(struct win *w, int err)
{
    if (!w->origin_side.err)
        w->origin_side.err = err;
}

/* origin_take_error returns the first error that was kept, or that a target has reported, since it
 * was last called, and logs which target has reported it. MRMA_SUCCESS: there was none. Under the
 * engine's lock. */
int origin_take_error(struct win *w);

#endif
