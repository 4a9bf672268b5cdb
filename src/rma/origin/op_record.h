/*
 * op_record.h - cutting one operation into records that fit into packets.
 *
 * A record names its target bytes by segments, or as part of instances of a datatype
 * that the target was sent before (type_table.h). The builder walks the flattened
 * target type and, where data travels, the origin's, and can be asked again and again
 * until the operation is used up: into open packets for short operations, packet by
 * packet for long ones.
 */
#ifndef MRMA_RMA_ORIGIN_OP_RECORD_H
#define MRMA_RMA_ORIGIN_OP_RECORD_H

#include <stdbool.h>

#include "ch3/pkt.h"
#include "rma/rma.h"

struct record_source {
    enum pkt_op_kind kind;
    enum acc_op op;
    uint8_t type; /* enum acc_type */
    bool data;    /* the origin's data travels */
    size_t unit;  /* never cut below this many bytes: an element, or 1 */
    size_t left;  /* bytes still to be named */
    size_t pos;   /* bytes already named */
    uint32_t request;
    int64_t base; /* byte displacement in the window that target pieces count from */
    const struct dtype *ttype;
    size_t count; /* of ttype */
    bool plain;   /* a put of contiguous bytes, named by struct pkt_plain */
    bool flat;    /* the origin's data are contiguous: origin_cur is not used */
    bool typed;   /* names target bytes by the number id of ttype */
    bool define;  /* streams: ttype goes first */
    uint32_t id;
    size_t limit; /* bytes that one record names at most */
    const void *origin;
    struct dtype_cursor target_cur, origin_cur;
};

/* What an operation moves: its records' source, by segments until typed is set.
 * offset: bytes from the window base (the address in a dynamic window). */
void record_source_init(struct record_source *s, enum pkt_op_kind kind, const struct rma_op *op,
                        int64_t offset, uint32_t request);

/* Segments that the whole operation takes, or limit if it takes more. */
size_t record_segments(const struct record_source *s, size_t limit);

/* Bytes of data in a packet that holds one record of a plain source and nothing else. */
enum { RECORD_PLAIN_MAX = PKT_MAX - sizeof(struct pkt_hdr) - sizeof(struct pkt_plain) };

/* Room that a record needs at least to make progress. */
size_t record_min(const struct record_source *s);

/* Build one record of at most cap bytes in room. Returns its size, a multiple of
 * 8; 0: cap is less than record_min, or nothing is left. */
size_t record_build(struct record_source *s, void *room, size_t cap);

/* An operation with one piece at the target, little data, and that in one piece too, needs no
 * source and no walk: is it one (MPI_Compare_and_swap always is)? Make its record; returns its
 * size. */
enum {
    RECORD_SINGLE_DATA = 1024, /* bytes of data at most */
    RECORD_CAS_DATA = 64,      /* of MPI_Compare_and_swap */
};
bool record_is_single(enum pkt_op_kind kind, const struct rma_op *op);
size_t record_build_single(void *room, enum pkt_op_kind kind, const struct rma_op *op,
                           int64_t offset, uint32_t request);

/* MPI_Compare_and_swap's record: always one element, data is compare and new. */
size_t record_build_cas(void *room, const struct rma_op *op, int64_t offset, uint32_t request);

#endif
