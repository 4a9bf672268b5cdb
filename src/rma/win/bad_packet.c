/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bad_packet.c - see bad_packet.h.
 */
#include "rma/win/bad_packet.h"

#include <stdarg.h>

void rma_bad_packet(struct rma *r, const char *fmt, ...)
{
    const enum log_level level =
        r->bad_packets < BAD_PACKETS_WRITTEN ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO;
    va_list args;
    r->bad_packets += level == LOG_LEVEL_ERROR;
    r->stats.refused++;
    va_start(args, fmt);
    log_msg_va(r->log, level, fmt, args);
    va_end(args);
}
