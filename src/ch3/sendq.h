/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sendq.h - what progress.c needs of the send queues. See sendq.c.
 */
#ifndef MRMA_CH3_SENDQ_H
#define MRMA_CH3_SENDQ_H

#include "ch3/ch3.h"

/* Send what the queue of vc holds while there is room. Returns whether anything moved. */
bool ch3_sendq_push(struct ch3_vc *vc);

#endif
