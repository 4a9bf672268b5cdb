/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_pack.h - packs a call into one record of a spool file.
 *
 * Most calls do nothing but issue an operation and complete it, or only wait. TRACE_CALL stands for
 * the TRACE_ENTER and TRACE_LEAVE of a call with nothing between them, TRACE_CALL_OP for the
 * TRACE_ENTER, TRACE_OP, TRACE_DONE and TRACE_LEAVE of a call whose operation is done when it
 * returns. The library packs records; a reader unpacks them, and sees the records that were packed.
 */
#ifndef MRMA_TRACE_SPOOL_PACK_H
#define MRMA_TRACE_SPOOL_PACK_H

#include <stdbool.h>

#include "trace/spool.h"

enum {
    SPOOL_UNPACKED_MAX = 4,
    SPOOL_LOW = 0xff, /* of a field that holds two numbers, the bits of the first, */
    SPOOL_SHIFT = 8   /* and where the second begins */
};

/* spool_pack_call turns *r, the TRACE_ENTER of a call, into its TRACE_CALL, except for the kind,
 * which the caller sets last. False: *r is as it was, since the call is too long, or leave belongs
 * to another call. */
static inline bool spool_pack_call(struct trace_record *r, const struct trace_record *leave)
{
    const uint64_t time = leave->time - r->time;

    if (leave->what != r->what || time > UINT32_MAX)
        return false;
    r->arg = (uint32_t)time;
    return true;
}

/* spool_op_fits returns whether spool_pack_op can be called: the records are those of one call, and
 * there is room for all of their numbers. r is the TRACE_ENTER of the call; op is its operation,
 * which is done when the call returns; before is the number of the file's operation before that, or
 * 0. */
static inline bool spool_op_fits(const struct trace_record *r, const struct trace_record *op,
                                 const struct trace_record *leave, uint64_t before)
{
    const uint64_t step = op->id - before;

    return leave->what == r->what && op->time == r->time && op->win == r->win && r->peer == 0 &&
           r->bytes == 0 && r->what <= SPOOL_LOW && op->what <= SPOOL_LOW && op->arg <= SPOOL_LOW &&
           op->bytes <= UINT32_MAX && leave->time - r->time <= UINT32_MAX && step != 0 &&
           step <= UINT32_MAX >> SPOOL_SHIFT;
}

/* spool_pack_op turns *r, the TRACE_ENTER of a call, into its TRACE_CALL_OP, except for the kind.
 * The arguments are those of spool_op_fits. */
static inline void spool_pack_op(struct trace_record *r, const struct trace_record *op,
                                 const struct trace_record *leave, uint64_t before)
{
    r->what = (uint16_t)(r->what | op->what << SPOOL_SHIFT);
    r->peer = op->peer;
    r->arg = op->arg | (uint32_t)(op->id - before) << SPOOL_SHIFT;
    r->bytes = op->bytes | (leave->time - r->time) << 32;
}

/* spool_end_of returns the time of the last record that r stands for. */
static inline uint64_t spool_end_of(const struct trace_record *r)
{
    return r->time + (r->kind == TRACE_CALL      ? r->arg
                      : r->kind == TRACE_CALL_OP ? r->bytes >> 32
                                                 : 0);
}

/* spool_unpack writes the records that r stands for, which may be r itself, to all, and returns how
 * many there are. The records of a file are unpacked in order; *before is 0 at first. */
static inline unsigned spool_unpack(const struct trace_record *r, uint64_t *before,
                                    struct trace_record all[SPOOL_UNPACKED_MAX])
{
    const uint64_t end = spool_end_of(r);
    const uint16_t call = r->kind == TRACE_CALL_OP ? r->what & SPOOL_LOW : r->what;
    const struct trace_record leave = {.time = end, .kind = TRACE_LEAVE, .what = call};

    all[0] = *r;
    if (r->kind == TRACE_OP)
        *before = r->id;
    if (r->kind != TRACE_CALL && r->kind != TRACE_CALL_OP)
        return 1;
    all[0].kind = TRACE_ENTER;
    all[0].what = call;
    all[0].arg = 0;
    if (r->kind == TRACE_CALL) {
        all[1] = leave;
        return 2;
    }
    all[0].peer = 0;
    all[0].bytes = 0;
    *before += r->arg >> SPOOL_SHIFT;
    all[1] = (struct trace_record){.time = r->time,
                                   .kind = TRACE_OP,
                                   .what = (uint16_t)(r->what >> SPOOL_SHIFT),
                                   .win = r->win,
                                   .peer = r->peer,
                                   .arg = r->arg & SPOOL_LOW,
                                   .id = *before,
                                   .bytes = (uint32_t)r->bytes};
    all[2] = (struct trace_record){
        .time = end, .kind = TRACE_DONE, .win = r->win, .peer = r->peer, .id = *before};
    all[3] = leave;
    return 4;
}

#endif
