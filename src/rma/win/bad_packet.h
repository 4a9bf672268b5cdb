/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bad_packet.h - what a correct peer does not send, or what it cannot be told of, is refused:
 * counted and written. A broken peer may send any number of it, so only the first
 * BAD_PACKETS_WRITTEN of a process are written at log level error, later ones at info. By any
 * thread, with the engine's lock or without; several at once may write one more each.
 */
#ifndef MRMA_RMA_WIN_BAD_PACKET_H
#define MRMA_RMA_WIN_BAD_PACKET_H

#include "rma/win/win.h"

enum { BAD_PACKETS_WRITTEN = 16 };

/* rma_bad_packet counts and writes that something was refused; fmt says what, and why. */
void rma_bad_packet(struct rma *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
