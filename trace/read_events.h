/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read_events.h - reads the events of an archive, in order of time, into a trace.
 */
#ifndef MRMA_TRACE_READ_EVENTS_H
#define MRMA_TRACE_READ_EVENTS_H

#include "read_defs.h"

/* Reads what there is. False where OTF2 has given up before the end; *nread says where. */
bool events_read(struct defs *defs, OTF2_Reader *reader, uint64_t *nread);

#endif
