/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_check.h - cuts out and checks one record of a packet of operations (target's side).
 *
 * The part of a record that says what to do is copied out of the packet, which its sender may still
 * change; the record's data stay in the packet, which must outlive the record. A record that was
 * checked may be applied: its operation, type and data length are right, and every byte that it
 * names lies in the window, or in attached memory. Locks: the engine's, held by the caller.
 */
#ifndef MRMA_RMA_TARGET_OP_CHECK_H
#define MRMA_RMA_TARGET_OP_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/copy.h"
#include "ch3/pkt.h"
#include "dtype/dtype.h"
#include "rma/win/win.h"

/* What fits into a packet. */
enum {
    TARGET_SEGS_MAX =
        (PKT_MAX - sizeof(struct pkt_hdr) - sizeof(struct pkt_op)) / sizeof(struct pkt_seg)
};

/* The structure is too large for the stack of a small thread, so there is only one, in
 * target_apply.c. */
struct target_record {
    struct pkt_op op;
    uint32_t nseg;
    const struct pkt_typed *typed; /* in place of segments, or NULL */
    const struct dtype *type;      /* typed: the datatype; it was checked, like all fields below */
    struct dtype_cursor cur;       /* on its first byte */
    char *base;                    /* address of displacement 0 */
    const char *data;
    uint64_t total; /* bytes named */
    struct pkt_typed typed_copy;
    struct pkt_seg segs[TARGET_SEGS_MAX]; /* the nseg segments; the rest of the array is not
                                             written */
};

/* target_header_sound returns whether the header is that of a PKT_OPS of an epoch, with flags that
 * may be piggybacked there. */
bool target_header_sound(const struct pkt_hdr *hdr);

/* target_record_parse cuts the next record, at *at, out of the packet, which ends at end, and moves
 * *at behind it. It looks at the record's form only. False: malformed, and the rest of the packet
 * cannot be read. */
bool target_record_parse(const char **at, const char *end, struct target_record *rec);

/* target_record_skip moves *at behind the next record and cuts out only *op, with the same result
 * as target_record_parse. */
bool target_record_skip(const char **at, const char *end, struct pkt_op *op);

/* target_record_check returns whether a record that was cut out, of an operation of po's process,
 * may be applied, and touches no memory of the window. It sets total and, for a record that names a
 * datatype, the cursor that walks over its bytes. Returns MRMA_SUCCESS, MRMA_ERR_RMA_RANGE, _COUNT,
 * _OP or _TYPE; or MRMA_ERR_INTERN if no correct peer sends such a record. */
int target_record_check(struct win *w, const struct pkt_origin *po, struct target_record *rec);

/* target_record_bytes returns how many bytes of the window a record that was cut out names, whether
 * that is right or wrong, as fences count bytes: PKT_NOTIFY_BYTES for a notification alone. */
uint64_t target_record_bytes(const struct target_record *rec);

/* target_op_fetches returns whether the operation of a record has a result, so that its origin
 * awaits a reply. */
static inline bool target_op_fetches(const struct pkt_op *op)
{
    return op->kind == PKT_OP_GET || op->kind == PKT_OP_GET_ACC || op->kind == PKT_OP_CAS;
}

/* The memory of a window that is not dynamic. */
struct window_memory {
    char *base;
    uint64_t size;
};

/* target_plain_next cuts out the next record of the packet, at *at, if that is a correct struct
 * pkt_plain, the commonest record, for a window with that memory. It returns the address to which
 * the record's *len bytes at *data go, and moves *at. NULL: it is any other record, or a wrong one,
 * and nothing was cut out. */
static inline char *target_plain_next(struct window_memory mem, const char **at, const char *end,
                                      const char **data, size_t *len)
{
    struct pkt_plain plain;
    if ((size_t)(end - *at) < sizeof plain)
        return NULL;
    const uint64_t head = copy_once_8(*at);
    memcpy(&plain, &head, sizeof plain);
    if (plain.kind != PKT_OP_PLAIN || plain.notify || !plain.len)
        return NULL;
    *data = *at + sizeof plain;
    *len = plain.len;
    if (pkt_align(*len) > (size_t)(end - *data) || plain.disp > mem.size ||
        *len > mem.size - plain.disp)
        return NULL;
    *at = *data + pkt_align(*len);
    return mem.base + plain.disp;
}

/* target_seg_addr returns the address of a segment that is known to be inside the window's memory.
 */
static inline char *target_seg_addr(const struct win *w, const struct pkt_seg *seg)
{
    return w->dynamic ? (char *)(uintptr_t)seg->disp : (char *)w->base + seg->disp;
}

#endif
