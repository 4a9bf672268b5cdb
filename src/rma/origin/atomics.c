/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomics.c - see atomics.h.
 *
 * Order. Accumulates of one origin on the same bytes are ordered as accumulate_ordering says (MPI
 * 4.1, 12.7.2). Where the card does not promise that order, an operation begins only when those
 * before it towards the same target have ended. The end of an epoch waits for all of them, since a
 * packet could arrive before they do.
 *
 * Ownership: an operation under way on this process's own memory is a struct own_op, which belongs
 * to the channel until done. Locks: the engine's. Neighbours: rdma.c, which starts and counts those
 * towards others.
 */
#include "rma/origin/atomics.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/origin/atomics_choice.h"
#include "rma/origin/fetch_request.h"
#include "rma/origin/origin_impl.h"
#include "rma/origin/rdma_op.h"

static_assert((int)CH3_ATOMIC_RAR == (int)WIN_ORDER_RAR &&
                  (int)CH3_ATOMIC_WAR == (int)WIN_ORDER_WAR &&
                  (int)CH3_ATOMIC_RAW == (int)WIN_ORDER_RAW &&
                  (int)CH3_ATOMIC_WAW == (int)WIN_ORDER_WAW,
              "the channel's orders have the numbers of MPI's");

#define PROBE_NS UINT64_C(5000000000) /* for one operation */

static int op_of(enum pkt_op_kind kind, const struct rma_op *op)
{
    return kind == PKT_OP_CAS ? (int)CH3_ATOMIC_CAS : (int)op->op;
}

bool origin_atomics_serve(const struct win *w, enum pkt_op_kind kind, const struct rma_op *op)
{
    const int type = origin_atomics_type((enum acc_type)op->ttype->basic);
    return type >= 0 && w->origin_side.atomics.takes.ops[type] >> op_of(kind, op) & 1;
}

/* ---- an operation in pieces ---- */

/* One side of an operation. type is NULL if the operation does not have this side. */
struct side {
    struct dtype_cursor cursor;
    const struct dtype *type;
    char *base;
    size_t left; /* bytes of the present piece */
    ptrdiff_t at;
};

struct pieces {
    struct side target, operand, result;
    struct ch3_atomic what;
    size_t most; /* bytes of a piece */
};

/* A piece of the operation that is contiguous on all sides, and short enough. */
struct piece {
    ptrdiff_t at; /* from the operation's first byte at the target */
    const char *operand;
    char *result;
    size_t len;
};

static void side_init(struct side *s, const void *base, const struct dtype *type, size_t count)
{
    s->type = type;
    s->base = (char *)(uintptr_t)base;
    s->left = 0;
    dtype_cursor_init(&s->cursor, type, count, DTYPE_BYTES);
}

static void pieces_init(struct pieces *k, const struct win *w, enum pkt_op_kind kind,
                        const struct rma_op *op)
{
    const int type = origin_atomics_type((enum acc_type)op->ttype->basic);
    const bool cas = kind == PKT_OP_CAS;
    k->what = (struct ch3_atomic){.op = (uint8_t)op_of(kind, op),
                                  .type = (uint8_t)type,
                                  .fetch = kind != PKT_OP_ACC,
                                  .compare = cas ? op->caddr : NULL};
    k->most =
        w->origin_side.atomics.takes.max[type] * origin_atomics_size((enum ch3_atomic_type)type);
    k->operand.type = k->result.type = NULL;
    side_init(&k->target, NULL, op->ttype, op->tcount);
    if (cas || op->op != ACC_NO_OP)
        side_init(&k->operand, op->oaddr, cas ? op->ttype : op->otype,
                  cas ? op->tcount : op->ocount);
    if (k->what.fetch)
        side_init(&k->result, op->raddr, cas ? op->ttype : op->rtype,
                  cas ? op->tcount : op->rcount);
}

/* shorten returns len, or what is left of the side's present piece if that is less. */
static size_t shorten(struct side *s, size_t len)
{
    if (!s->type)
        return len;
    if (!s->left)
        s->left = dtype_cursor_next(&s->cursor, SIZE_MAX, &s->at);
    return s->left < len ? s->left : len;
}

static char *advance(struct side *s, size_t len)
{
    char *at = s->type ? s->base + s->at : NULL;
    s->at += (ptrdiff_t)len;
    s->left -= len;
    return at;
}

/* next_piece sets *p to the next piece. False: the operation has no more. */
static bool next_piece(struct pieces *k, struct piece *p)
{
    p->len = shorten(&k->result, shorten(&k->operand, shorten(&k->target, k->most)));
    if (!p->len)
        return false;
    p->at = k->target.at;
    (void)advance(&k->target, p->len);
    p->operand = advance(&k->operand, p->len);
    p->result = advance(&k->result, p->len);
    k->what.operand = p->operand;
    return true;
}

/* Cards have no atomic operations on elements that are not aligned. Packets cannot do these either:
 * they would not be ordered with the cards' operations of the same type on the same bytes. */
static int check_alignment(const struct win *w, const struct rma_target *t, const struct rma_op *op,
                           int64_t offset)
{
    const int type = origin_atomics_type((enum acc_type)op->ttype->basic);
    const size_t size = origin_atomics_size((enum ch3_atomic_type)type);
    const uint64_t first = t->vaddr + (uint64_t)offset;
    bool aligned = true;
    struct side s;
    side_init(&s, NULL, op->ttype, op->tcount);
    while (aligned && (s.left = dtype_cursor_next(&s.cursor, SIZE_MAX, &s.at)) != 0)
        aligned = (first + (uint64_t)s.at) % size == 0;
    return aligned ? MRMA_SUCCESS
                   : log_fail(w->rma->log, MRMA_ERR_DISP,
                              "window %u: an accumulate to rank %d at byte %lld has elements that "
                              "are not aligned, which mpirma_fabric_atomics asks for",
                              w->index, t->rank, (long long)offset);
}

/* ---- to other processes ---- */

static bool has_no_atomics(void *arg)
{
    const struct origin_pair *pair = arg;
    return !pair->atomics;
}

static int issue_pieces(struct origin_pair *pair, enum pkt_op_kind kind, const struct rma_op *op,
                        int64_t offset)
{
    struct win *w = pair->win;
    struct pieces k;
    struct piece p;
    int err = origin_rdma_open(pair, op->req);
    if (!err && w->hints.ordering & ~(uint32_t)w->origin_side.atomics.takes.order)
        err = origin_pair_wait(pair, has_no_atomics, "atomic operations before it to end");
    pieces_init(&k, w, kind, op);
    while (!err && next_piece(&k, &p))
        err =
            origin_rdma_atomic(pair, &k.what, p.result, (uint64_t)(offset + p.at), p.len, op->req);
    return err;
}

static bool does_nothing(enum pkt_op_kind kind, const struct rma_op *op)
{
    return kind == PKT_OP_ACC && op->op == ACC_NO_OP;
}

int origin_atomic_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                          const struct rma_op *op, int64_t offset)
{
    int err = check_alignment(w, t, op, offset);
    if (err || does_nothing(kind, op))
        return err;
    rma_enter(w->rma);
    struct origin_pair *pair = origin_pair_get(w, t);
    err = pair ? issue_pieces(pair, kind, op, offset) : MRMA_ERR_NO_MEM;
    if (pair && err && err != MRMA_AGAIN && op->req)
        err = origin_abandon(pair, op->req, err);
    rma_leave(w->rma);
    return err;
}

/* ---- on this process's own memory ---- */

/* An operation for which its caller waits. If the caller gives up, the channel still has the
 * operation. */
struct own_op {
    struct ch3_rdma rdma; /* first */
    struct ch3_atomic atomic;
    struct ch3_channel *channel;
    const struct rma *r;
    uint64_t until; /* time of the engine's clock until which the caller waits; 0: without limit */
    bool started, ended, given_up;
    int err;
    unsigned char old[]; /* what was there */
};

static void own_done(struct ch3_rdma *rdma, int err)
{
    struct own_op *o = (struct own_op *)(void *)rdma;
    o->ended = true;
    o->err = err;
    if (o->given_up)
        free(o);
}

/* A condition to wait for: the operation has ended, or its time is over. */
static bool own_ended(void *arg)
{
    struct own_op *o = arg;
    if (!o->started) {
        const int err = ch3_rdma_start_own(o->channel, &o->rdma);
        o->started = err != MRMA_AGAIN;
        o->ended = o->started && err;
        o->err = err;
    }
    return o->ended || (o->until && o->r->clock() > o->until);
}

/* do_own does the operation on len bytes at remote; old gets the old contents, if these are
 * fetched. After it returns, with an error or not, operand is not used any more. */
static int do_own(struct win *w, struct own_op *o, void *old)
{
    int err = origin_wait(w, own_ended, o, "an atomic operation on its own memory", w->rank);
    rma_enter(w->rma);
    if (!err)
        err = o->ended ? o->err : MRMA_ERR_OTHER;
    if (!err && old)
        memcpy(old, o->old, o->rdma.len);
    o->given_up = o->started && !o->ended;
    if (!o->given_up)
        free(o);
    rma_leave(w->rma);
    return err;
}

static struct own_op *new_own(struct win *w, struct ch3_channel *ch, const struct ch3_atomic *a,
                              const struct ch3_mem_key *key, uint64_t offset, size_t len)
{
    struct own_op *o = calloc(1, sizeof *o + len);
    if (!o)
        return NULL;
    o->atomic = *a;
    o->channel = ch;
    o->r = w->rma;
    o->rdma = (struct ch3_rdma){.atomic = &o->atomic,
                                .local = o->old,
                                .len = len,
                                .key = key->key,
                                .remote = key->base + offset,
                                .done = own_done};
    return o;
}

int origin_atomic_own(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                      const struct rma_op *op, int64_t offset)
{
    struct ch3_channel *ch = w->origin_side.atomics.channel;
    struct pieces k;
    struct piece p;
    int err = check_alignment(w, t, op, offset);
    if (err || does_nothing(kind, op))
        return err;
    pieces_init(&k, w, kind, op);
    while (!err && next_piece(&k, &p)) {
        struct own_op *o =
            new_own(w, ch, &k.what, &t->net_key.mem, (uint64_t)(offset + p.at), p.len);
        err = o ? do_own(w, o, p.result) : MRMA_ERR_NO_MEM;
    }
    return err ? log_fail(w->rma->log, err,
                          "window %u: the card has failed in an accumulate on this process's own "
                          "memory",
                          w->index)
               : MRMA_SUCCESS;
}

/* ---- what is really there ---- */

/* Memory on which operations are tried. */
struct bench {
    struct ch3_mem_key key;
    struct ch3_mem *mem;
    _Alignas(8) unsigned char word[8];
};

static void number(int type, unsigned value, unsigned char *out)
{
    const float f32 = (float)value;
    const double f64 = value;
    const uint8_t i8 = (uint8_t)value;
    const uint16_t i16 = (uint16_t)value;
    const uint32_t i32 = value;
    const uint64_t i64 = value;
    const void *const from = type == CH3_ATOMIC_F32   ? (const void *)&f32
                             : type == CH3_ATOMIC_F64 ? (const void *)&f64
                             : type < CH3_ATOMIC_I16  ? (const void *)&i8
                             : type < CH3_ATOMIC_I32  ? (const void *)&i16
                             : type < CH3_ATOMIC_I64  ? (const void *)&i32
                                                      : (const void *)&i64;
    memcpy(out, from, origin_atomics_size((enum ch3_atomic_type)type));
}

/* apply computes the expected result with this process's own instructions. */
static void apply(int type, int op, unsigned char *word, const unsigned char *operand)
{
    if (op == CH3_ATOMIC_CAS) /* the comparison is with the present contents */
        memcpy(word, operand, origin_atomics_size((enum ch3_atomic_type)type));
    else
        acc_apply((enum acc_op)op, origin_atomics_acc_type((enum ch3_atomic_type)type), word,
                  operand, 1);
}

/* does returns whether the card does the operation. *err is set where nothing more can be tried. */
static bool does(struct win *w, struct ch3_channel *ch, struct bench *b, struct ch3_atomic a,
                 int *err)
{
    const size_t size = origin_atomics_size((enum ch3_atomic_type)a.type);
    unsigned char before[8], operand[8], after[8], old[8];
    number(a.type, 5, before);
    number(a.type, 3, operand);
    memcpy(after, before, size);
    memcpy(b->word, before, size);
    memcpy(old, before, size);
    apply(a.type, a.op, after, operand);
    a.operand = operand;
    a.compare = a.op == CH3_ATOMIC_CAS ? before : NULL;
    struct own_op *o = new_own(w, ch, &a, &b->key, 0, size);
    if (!o)
        *err = MRMA_ERR_NO_MEM;
    if (!o)
        return false;
    o->until = w->rma->clock() + PROBE_NS;
    const uint64_t until = o->until;
    const int got = do_own(w, o, a.fetch ? old : NULL);
    if (got && (got != MRMA_ERR_OTHER || w->rma->clock() > until))
        *err = got;
    return !got && memcmp(old, before, size) == 0 && memcmp(b->word, after, size) == 0;
}

static int probe_type(struct win *w, struct ch3_channel *ch, struct bench *b, int type,
                      struct ch3_atomics *found)
{
    int err = MRMA_SUCCESS;
    for (int op = 0; !err && op < CH3_ATOMIC_OPS; op++) {
        struct ch3_atomic a = {.op = (uint8_t)op, .type = (uint8_t)type, .fetch = true};
        const uint16_t bit = (uint16_t)(1 << op);
        bool there = !(found->ops[type] & bit) || does(w, ch, b, a, &err);
        a.fetch = false;
        if (there && found->blind[type] & bit)
            there = does(w, ch, b, a, &err);
        if (!there)
            found->ops[type] &= (uint16_t)~bit;
    }
    return err;
}

/* After an error the card may still use the memory, which stays registered. */
static int probe_all(struct win *w, struct ch3_channel *ch, struct ch3_atomics *found)
{
    struct bench *b = calloc(1, sizeof *b);
    int err = b ? MRMA_SUCCESS : MRMA_ERR_NO_MEM;
    rma_enter(w->rma);
    if (!err)
        err = ch3_mem_register(ch, b->word, sizeof b->word, &b->key, &b->mem);
    rma_leave(w->rma);
    if (err) {
        free(b);
        return err;
    }
    for (int type = 0; !err && type < CH3_ATOMIC_TYPES; type++)
        err = probe_type(w, ch, b, type, found);
    if (err)
        return err;
    rma_enter(w->rma);
    ch3_mem_release(ch, b->mem);
    rma_leave(w->rma);
    free(b);
    return MRMA_SUCCESS;
}

void origin_atomics_probe(struct win *w, struct ch3_channel *ch, struct ch3_atomics *found)
{
    struct rma *r = w->rma;
    rma_enter(r);
    const bool known = r->atomics_probed;
    *found = known ? r->atomics : *ch3_atomics(ch);
    rma_leave(r);
    if (known)
        return;
    const int err = probe_all(w, ch, found);
    if (err) {
        log_msg(r->log, LOG_LEVEL_WARN,
                "network: its atomic operations could not be tried (%s), none is used",
                mrma_err_name(err));
        *found = (struct ch3_atomics){.order = 0};
    }
    rma_enter(r);
    r->atomics = *found;
    r->atomics_probed = true;
    rma_leave(r);
}

void origin_atomics_use(struct win *w, struct ch3_channel *ch,
                        const struct origin_atomics_choice *choice, const struct ch3_atomics *all)
{
    struct origin_atomics *a = &w->origin_side.atomics;
    a->takes = *all;
    memcpy(a->takes.ops, choice->ops, sizeof choice->ops);
    a->channel = ch;
}
