/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.h - finds which receive has received which message.
 *
 * Messages from one process to another over one communicator with one tag do not overtake each
 * other (MPI 4.1, 3.5): the first message that is sent is received by the first receive that takes
 * such a message, in the order in which receives begin. A receive from any source, or with any
 * tag, has recorded from whom its message came, and with which tag.
 */
#ifndef MRMA_TRACE_MESSAGES_H
#define MRMA_TRACE_MESSAGES_H

#include "model.h"

typedef void message(void *data, const struct sending *sending, const struct receiving *receiving);

/* messages_match calls each for every message of a trace of which both ends are recorded. */
void messages_match(const struct trace *trace, message *each, void *data);

/* messages_receivers returns of each call of a trace whether a message was received in it; the
 * caller frees it. */
bool *messages_receivers(const struct trace *trace);

#endif
