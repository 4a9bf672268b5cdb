/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_check.h - one record of a packet of operations, cut out and checked (target's side).
 *
 * What says what to do is copied out of the packet, which its sender may still change; data lies
 * there, and the packet must outlive it. What has been checked may be applied: operation and type,
 * data length, and every byte that it names, which lies in the window, or in attached memory.
 * Locks: the engine's, held by the caller.
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

/* It is too large for the stack of a small thread: target_apply.c has the one that there is. */
struct target_record {
    struct pkt_op op;
    uint32_t nseg;
    const struct pkt_typed *typed; /* in place of segments, or NULL */
    const struct dtype *type;      /* typed: checked, as is all below */
    struct dtype_cursor cur;       /* on its first byte */
    char *base;                    /* address of displacement 0 */
    const char *data;
    uint64_t total; /* bytes named */
    struct pkt_typed typed_copy;
    struct pkt_seg segs[TARGET_SEGS_MAX]; /* nseg of them: most of it is not written */
};

/* target_header_sound returns whether the header is that of a PKT_OPS of an epoch, with flags that
 * may be piggybacked there. */
bool target_header_sound(const struct pkt_hdr *hdr);

/* target_record_parse cuts the next record, at *at, out of the packet, which ends at end, and moves
 * *at behind it. It looks at the record's form only. False: malformed, and the rest of the packet
 * cannot be read. */
bool target_record_parse(const char **at, const char *end, struct target_record *rec);

/* target_record_skip moves *at behind the next record, of which it cuts out *op alone, with the
 * same result. */
bool target_record_skip(const char **at, const char *end, struct pkt_op *op);

/* target_record_check looks whether a record that was cut out, of an operation of po's process, may
 * be applied, and touches nothing. It sets total, and of a record that names a datatype what walks
 * over its bytes. MRMA_ERR_RMA_RANGE, _COUNT, _OP, _TYPE, or MRMA_ERR_INTERN: a correct peer does
 * not send it. */
int target_record_check(struct win *w, const struct pkt_origin *po, struct target_record *rec);

/* target_record_bytes returns how many bytes of the window a record that was cut out names, right
 * or wrong, as fences count them: PKT_NOTIFY_BYTES for a notification alone. */
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

/* target_plain_next cuts out the next record of the packet, at *at, if it is a struct pkt_plain in
 * which all is right, the commonest one, for a window with that memory. It returns where its *len
 * bytes at *data go, and moves *at. NULL: it is any other, also what is wrong, and nothing was cut
 * out. */
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
