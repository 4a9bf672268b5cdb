/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_record.h - cuts one operation into records that fit into packets.
 *
 * A record names its target bytes by segments, or as part of instances of a datatype that the
 * target was sent before (type_table.h). The builder walks the flattened target type and, where
 * data travels, the origin's, and is called again and again until the operation is used up. Records
 * of short operations go into open packets; long operations leave packet by packet.
 */
#ifndef MRMA_RMA_ORIGIN_OP_RECORD_H
#define MRMA_RMA_ORIGIN_OP_RECORD_H

#include <stdbool.h>
#include <string.h>

#include "ch3/pkt.h"
#include "rma/rma.h"

struct origin_record {
    enum pkt_op_kind kind;
    uint8_t op;     /* enum acc_op */
    uint8_t type;   /* enum acc_type */
    uint8_t notify; /* pkt_op.notify of the last record */
    bool data;      /* the origin's data travels */
    bool contig;    /* the target bytes are one piece: target_cur is not used */
    bool plain;     /* a put of contiguous bytes, named by struct pkt_plain */
    bool flat;      /* the origin's data are contiguous: origin_cur is not used */
    bool typed;     /* records name target bytes by id, the number of ttype */
    bool define;    /* ttype's definition goes in front of the next record */
    uint32_t id;
    uint32_t request;
    size_t unit;  /* records are cut at multiples of so many bytes: an element, or 1 */
    size_t left;  /* bytes still to be named */
    size_t pos;   /* bytes already named */
    size_t limit; /* bytes that one record names at most */
    int64_t base; /* byte displacement in the window that target pieces count from */
    const struct dtype *ttype;
    size_t count; /* of ttype */
    const void *origin;
    const void *compare; /* MPI_Compare_and_swap: the compare value, which goes in front of the
                            origin's data */
    struct dtype_cursor target_cur, origin_cur;
};

/* origin_record_init sets up *s for the operation op of that kind: nothing of it is named yet, and
 * its records name target bytes by segments until the caller sets typed. offset is the operation's
 * displacement in bytes from the window base (in a dynamic window the address). request is the
 * number of its request, 0 if it does not fetch. *s refers to op's buffers and datatypes, which
 * must outlive it; nothing has to be freed. */
void origin_record_init(struct origin_record *s, enum pkt_op_kind kind, const struct rma_op *op,
                        int64_t offset, uint32_t request);

/* origin_record_segments returns how many segments at most are needed to name all target bytes of
 * the operation, or limit if that is less. */
size_t origin_record_segments(const struct origin_record *s, size_t limit);

/* How many bytes of data fit into a packet that holds one record of a plain source and nothing
 * else. */
enum { ORIGIN_RECORD_PLAIN_MAX = PKT_MAX - sizeof(struct pkt_hdr) - sizeof(struct pkt_plain) };

/* origin_record_min returns how many bytes of room the next record needs at least, with the
 * definition of its datatype if that is due. */
size_t origin_record_min(const struct origin_record *s);

/* origin_record_build builds the next record of the operation in room, in at most cap bytes. If the
 * definition of the datatype is due it stands in front of the record, and counts as a record of its
 * own. s moves on by what the record names (left, pos). Returns the size, a multiple of 8; 0: cap
 * is less than origin_record_min, or nothing is left. */
size_t origin_record_build(struct origin_record *s, void *room, size_t cap);

/* origin_record_plain writes the record of a put of len contiguous bytes to disp, in bytes from the
 * window base, by struct pkt_plain, into room, which is large enough. Its last argument is the
 * notification, as in struct pkt_plain. Returns its size, a multiple of 8. */
static inline size_t origin_record_plain(void *room, const void *data, uint32_t disp, size_t len,
                                         uint8_t notify)
{
    const struct pkt_plain head = {
        .kind = PKT_OP_PLAIN, .notify = notify, .len = (uint16_t)len, .disp = disp};
    char *at = (char *)room + sizeof head;
    memcpy(room, &head, sizeof head);
    if (len == sizeof(uint64_t)) {
        memcpy(at, data, sizeof(uint64_t));
    } else {
        memcpy(at, data, len);
        memset(at + len, 0, pkt_align(len) - len);
    }
    return sizeof head + pkt_align(len);
}

/* origin_record_notify writes the record of a put of no bytes with that notification into room,
 * which has sizeof(struct pkt_op) bytes. Returns its size. */
static inline size_t origin_record_notify(void *room, uint8_t notify)
{
    const struct pkt_op head = {.kind = PKT_OP_PUT, .notify = notify};
    memcpy(room, &head, sizeof head);
    return sizeof head;
}

#endif
