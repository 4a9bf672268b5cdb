/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mixed_op.c - draws the operations of mixed_modes, with what each does to the memory in the model.
 */
#include "mixed_op.h"

static const enum hb_use commutes[] = {HB_SUM, HB_SUM, HB_ORDERED};

char *mm_pool;

size_t mm_span(const struct mm_op *op)
{
    return (size_t)((op->n - 1) * op->stride + op->len);
}

static uint64_t combine(int op, uint64_t old, uint64_t operand)
{
    return op == OP_SUM ? old + operand : op == OP_XOR ? old ^ operand : operand;
}

/* Where number i of a burst of fetch-and-ops goes: all over its elements. */
size_t mm_spread(const struct mm_op *op, int i)
{
    return 8 * ((size_t)i * 7 % (op->bytes / 8));
}

/* The model's memory behind the operation; want: what it fetches, if anything does. */
void mm_model(const struct mm_op *op, char *mem, char *want)
{
    char *at = mem + op->at;
    const char *from = mm_pool + op->from;
    switch (op->kind) {
    case MM_PUT:
    case MM_PUTS:
        memcpy(at, from, op->bytes);
        return;
    case MM_PIECES:
        for (int i = 0; i < op->n; i++)
            memcpy(at + i * op->stride, from + i * op->stride, (size_t)op->len);
        return;
    case MM_GET:
    case MM_GETS:
        if (want)
            memcpy(want, at, op->bytes);
        return;
    case MM_GET_PIECES:
        for (int i = 0; want && i < op->n; i++)
            memcpy(want + i * op->stride, at + i * op->stride, (size_t)op->len);
        return;
    case MM_CAS: { /* the compare value is right for odd operands */
        const uint64_t old = mm_element(at), new = mm_element(from);
        if (want)
            memcpy(want, &old, 8);
        if (new & 1)
            memcpy(at, &new, 8);
        return;
    }
    default:
        for (int i = 0; i < op->n; i++) {
            char *e = at + (op->kind == MM_ADDS ? mm_spread(op, i) : 8 * (size_t)i);
            const uint64_t old = mm_element(e),
                           new = combine(op->op, old, mm_element(from + 8 * i));
            if (want)
                memcpy(want + 8 * i, &old, 8);
            memcpy(e, &new, 8);
        }
    }
}

static size_t draw_bytes(size_t most)
{
    static const int upto[] = {1, 8, 8, 64, 256, 4096, 4200, 20000, 70000, 1 << 20};
    size_t n = (size_t)upto[mm_roll(10)];
    n = mm_roll(2) ? n : 1 + (size_t)mm_roll((int)n);
    return n < most ? n : most;
}

static void draw_burst(struct mm_op *op, const struct hb_block *b)
{
    op->len = 1 + mm_roll(op->kind == MM_ADDS ? 8 : b->bytes > 4096 ? 4096 : 16);
    op->n = 1 + mm_roll(mm_roll(2) ? 300 : 20);
    if (op->kind == MM_ADDS) {
        op->bytes = 8 * (size_t)op->len;
    } else {
        op->n = (size_t)(op->n * op->len) > b->bytes ? (int)(b->bytes / (size_t)op->len) : op->n;
        op->bytes = (size_t)(op->n * op->len);
    }
}

static void draw_pieces(struct mm_op *op, const struct hb_block *b)
{
    op->len = 1 + mm_roll(mm_roll(2) ? 16 : 200);
    op->stride = op->len + mm_roll(40);
    op->n = 1 + mm_roll(mm_roll(4) ? 20 : 2000);
    while (op->n > 1 && mm_span(op) > b->bytes)
        op->n /= 2;
    op->bytes = mm_span(op);
}

static enum hb_use use_of(const struct mm_op *op, bool ordered)
{
    switch (op->kind) {
    case MM_PUT:
    case MM_PUTS:
    case MM_PIECES:
        return HB_WRITE;
    case MM_GET:
    case MM_GETS:
    case MM_GET_PIECES:
        return HB_READ;
    case MM_CAS:
        return HB_ORDERED;
    default:
        return ordered && op->kind != MM_SUMS ? HB_ORDERED : commutes[op->op];
    }
}

/* An operation on some block, whether it is allowed or not. */
static struct mm_op draw(int w, int target, bool gets_only)
{
    static const enum mm_kind kinds[] = {
        MM_PUT, MM_PUT,        MM_PUT,  MM_PUT,  MM_PIECES, MM_GET,      MM_GET,
        MM_GET, MM_GET_PIECES, MM_SUMS, MM_SUMS, MM_FETCH,  MM_FETCH_OP, MM_FETCH_OP,
        MM_CAS, MM_PUTS,       MM_PUTS, MM_GETS, MM_ADDS,
    };
    struct mm_op op = {.target = target, .n = 1};
    const int block = mm_roll(6) ? 4 + mm_roll(HB_BLOCKS - 4) : mm_roll(4);
    const struct hb_block *b = &hb_part[w][target].block[block];
    const enum mm_kind kind = kinds[mm_roll(sizeof kinds / sizeof *kinds)];
    const bool ordered = mm_roll(2);
    op.kind =
        !gets_only || kind == MM_GET || kind == MM_GETS || kind == MM_GET_PIECES ? kind : MM_GET;
    op.block = block;
    op.op = op.kind == MM_CAS ? OP_CAS : mm_roll(3);
    op.use = use_of(&op, ordered);
    if (op.kind == MM_PUTS || op.kind == MM_GETS || op.kind == MM_ADDS)
        draw_burst(&op, b);
    else if (op.kind == MM_PIECES || op.kind == MM_GET_PIECES)
        draw_pieces(&op, b);
    else
        op.bytes = op.kind == MM_CAS || op.kind == MM_FETCH_OP ? 8 : draw_bytes(b->bytes);
    if (op.kind == MM_SUMS || op.kind == MM_FETCH) {
        op.bytes = (op.bytes + 7) & ~(size_t)7;
        op.n = (int)(op.bytes / 8);
    }
    op.at = b->at + (size_t)mm_roll((int)(b->bytes - op.bytes) + 1);
    if (op.kind >= MM_SUMS && op.kind != MM_PUTS && op.kind != MM_GETS)
        op.at &= ~(size_t)7;
    op.from = 8 * (size_t)mm_roll((MM_POOL - (1 << 20) - 4096) / 8);
    return op;
}

/* One operation of origin on target, which knows this much; *who: whom it would have to hear of if
 * there is none. */
bool mm_operate(int w, int origin, int target, const struct hb_clock *know, bool gets_only,
                bool passive, int *who)
{
    *who = HB_BUSY;
    for (int tries = 0; tries < 5; tries++) {
        struct mm_op op = draw(w, target, gets_only);
        struct hb_block *b = &hb_part[w][target].block[op.block];
        const int missing = hb_missing(b, know, origin, op.use, op.op);
        const bool single = op.kind <= MM_FETCH;
        op.request = passive && mm_roll(4) == 0 && single;
        op.wait = mm_roll(2);
        if (missing != HB_UNORDERED) {
            *who = missing;
            continue;
        }
        hb_note(b, origin, op.use, op.op);
        if (mm_me(origin))
            mm_issue(w, &op);
        else
            mm_model(&op, hb_part[w][target].mem, NULL);
        return true;
    }
    return false;
}
