/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * origin_state.h - what the origin's side of packets keeps in a window. Only src/rma/origin touches
 * it; what it keeps for each target is struct origin_pair (origin_impl.h). Guarded by the engine's
 * lock.
 */
#ifndef MRMA_RMA_WIN_ORIGIN_STATE_H
#define MRMA_RMA_WIN_ORIGIN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "ch3/channel.h"
#include "ch3/pkt.h"

/* Accumulates that the network's cards do: atomics.h. */
struct origin_atomics {
    struct ch3_channel *channel; /* NULL: none */
    struct ch3_atomics takes;    /* what the channels of all processes of the window take */
};

/* An operation that was refused after its call had returned. */
struct origin_refusal {
    int from; /* 1 + the rank of the target; 0: no target, since the error was found here */
    struct pkt_refusal why;
    int64_t disp; /* as in struct pkt_seg */
    uint32_t len; /* bytes of the packet's record; a large operation has several records */
};

/* In struct win. The numbers are sums over all targets. */
struct origin_win {
    struct list touched;  /* struct origin_pair used in the present epoch */
    uint32_t replies;     /* requests of operations that fetch, not yet answered */
    uint32_t streams;     /* operations that are still leaving, and need their buffers here */
    uint32_t rdma_ops;    /* puts and gets by rdma.c, most of which are among the streams, */
    uint32_t holding;     /* of these, the operations that the end of the epoch must wait for */
    uint32_t unconfirmed; /* targets of which MPI_Win_free awaits the last word on refused
                             operations */
    uint32_t waits;       /* how often the engine's lock was given up while sending */
    int err;              /* enum mrma_err: the first error of an operation whose call had
                             returned */
    struct origin_refusal refusal; /* which target has reported err, and for which operation */
    struct origin_atomics atomics; /* written at creation alone */
    bool fence_closing;            /* MPI_Win_fence is sending the packets that end the phase */
};

#endif
