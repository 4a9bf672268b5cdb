/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_messages.h - messages and collective operations in a trace, as libmpi-rma-calls hands them
 * on (traced_calls.h).
 */
#ifndef MRMA_MPI_TRACED_TRACED_MESSAGES_H
#define MRMA_MPI_TRACED_TRACED_MESSAGES_H

struct traced_messages;

/* traced_messages_begin returns what the other library calls, which stays valid. */
const struct traced_messages *traced_messages_begin(void);

/* traced_messages_end forgets requests and communicators: no message is recorded any more. */
void traced_messages_end(void);

#endif
