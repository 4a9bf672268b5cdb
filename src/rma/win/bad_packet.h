/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bad_packet.h - a packet that no correct peer sends, or an error that its sender cannot be told
 * of, is refused: it is counted, and a message is written. A broken peer may send any number of it,
 * so only the first BAD_PACKETS_WRITTEN of a process are written at log level error, later ones at
 * info. Any thread may call, with the engine's lock or without it; several threads at once may
 * write one message more each.
 */
#ifndef MRMA_RMA_WIN_BAD_PACKET_H
#define MRMA_RMA_WIN_BAD_PACKET_H

#include "rma/win/win.h"

enum { BAD_PACKETS_WRITTEN = 16 };

/* rma_bad_packet counts and writes that something was refused; fmt and its arguments say what was
 * refused, and why. */
void rma_bad_packet(struct rma *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
