/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sendq.h - what ch3_progress.c needs of the send queues (sendq.c).
 *
 * Locks: the engine's, held by the caller.
 */
#ifndef MRMA_CH3_SENDQ_H
#define MRMA_CH3_SENDQ_H

#include "ch3/ch3.h"

/* ch3_sendq_push sends what the queue of vc holds, first to last, while there is room. Returns
 * whether a packet left or a stream ended. */
bool ch3_sendq_push(struct ch3_vc *vc);

#endif
