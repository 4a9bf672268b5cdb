/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bad_packet.c - see bad_packet.h.
 */
#include "rma/win/bad_packet.h"

#include <stdarg.h>

void rma_bad_packet(struct rma *r, const char *fmt, ...)
{
    const bool written =
        atomic_load_explicit(&r->bad_packets, memory_order_relaxed) < BAD_PACKETS_WRITTEN;
    const enum log_level level = written ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO;
    va_list args;
    if (written)
        atomic_fetch_add_explicit(&r->bad_packets, 1, memory_order_relaxed);
    r->stats.refused++;
    va_start(args, fmt);
    log_msg_va(r->log, level, fmt, args);
    va_end(args);
}
