/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * volume.c - epochs with many operations: more than rings, stages, packets and what a
 * target can keep back have room for, in every kind of epoch, with exact contents.
 *
 * volume [TURNS]. In each epoch every rank is the origin of one target: up to 2000
 * operations drawn from a sequence that the target draws too. Puts of 1 byte to 64 KiB,
 * some in pieces, lie one behind the other in a region of the origin's own; sums and
 * fetch-and-ops of one origin on one element come in the order of the calls (MPI 4.1,
 * 12.7.2), so that their results are determined; gets read what nobody changes. Some ranks
 * are late, and passive epochs are flushed now and then. Up to four epochs of a kind follow each
 * other at once: who has left one goes on to targets that are still in it.
 */
#include "mtcomm.h"

enum {
    PUTS = 3 << 20,  /* bytes for the puts of one origin */
    SUMS = 512,      /* elements of 8 bytes */
    CONST = 1 << 16, /* bytes nobody changes */
    AREA = PUTS + SUMS * 8 + CONST,
    ARENA = 12 << 20, /* where one epoch's gets go */
    POOL = 1 << 18,   /* all origin buffers are parts of it */
    MOST_EPOCHS = 4,  /* one after the other */
    SUMS_AT = PUTS,
    CONST_AT = PUTS + SUMS * 8
};

enum kind { PUT, PUT_PIECES, SUM, FETCH, GET, KINDS };

struct op {
    enum kind kind;
    size_t at, bytes; /* in the target's area; of PUT_PIECES the span */
    size_t from;      /* in the pool */
    int blocks, block, stride;
};

/* One epoch's operations, as origin and target draw them. */
struct walk {
    struct mt_rng rng;
    size_t cursor; /* puts up to here */
    int left;
    int kinds; /* so many of them; 4: contiguous puts only */
};

static uint64_t model[SUMS]; /* this rank's sums */
static char *arena, *put_model, *pool;
static size_t arena_used;

static int roll(struct walk *k, int n)
{
    return (int)mt_rng_below(&k->rng, (uint64_t)n);
}

static struct walk walk_begin(int epoch, int origin)
{
    static const int most[] = {3, 40, 400, 2000};
    struct walk k = {.rng = mt_rng((uint64_t)epoch * 64 + (uint64_t)origin)};
    k.left = 1 + roll(&k, most[roll(&k, 4)]);
    k.kinds = roll(&k, 3) ? 9 : 4;
    return k;
}

/* Small ones mostly. */
static size_t draw_bytes(struct walk *k)
{
    static const int most[] = {16, 64, 64, 1024, 1024, 4096, 9000, 65536};
    int m = most[roll(k, k->left > 100 ? 6 : 8)];
    return roll(k, 2) ? (size_t)m : 1 + (size_t)roll(k, m);
}

/* The next one; false: there are no more. */
static bool draw(struct walk *k, struct op *op)
{
    static const enum kind kinds[] = {PUT, PUT, PUT, PUT, PUT_PIECES, SUM, SUM, FETCH, GET};
    if (k->left-- == 0)
        return false;
    *op = (struct op){.kind = kinds[roll(k, k->kinds)]};
    switch (op->kind) {
    case PUT:
        op->at = k->cursor + (size_t)(roll(k, 4) ? 0 : roll(k, 64));
        op->bytes = draw_bytes(k);
        break;
    case PUT_PIECES:
        op->at = k->cursor;
        op->blocks = 1 + roll(k, 40);
        op->block = 1 + roll(k, 32);
        op->stride = op->block + roll(k, 32);
        op->bytes = (size_t)((op->blocks - 1) * op->stride + op->block);
        break;
    case SUM:
        op->bytes = 8 * (1 + (size_t)roll(k, roll(k, 8) ? 8 : SUMS));
        op->at = 8 * (size_t)roll(k, SUMS - (int)op->bytes / 8 + 1);
        break;
    case FETCH:
        op->bytes = 8;
        op->at = 8 * (size_t)roll(k, SUMS);
        break;
    default:
        op->bytes = draw_bytes(k);
        op->bytes = op->bytes < CONST ? op->bytes : CONST;
        op->at = (size_t)roll(k, CONST - (int)op->bytes + 1);
    }
    if ((op->kind == PUT || op->kind == PUT_PIECES) && op->at + op->bytes > PUTS) {
        k->kinds = 9; /* no room any more: something else */
        return draw(k, op);
    }
    op->from = 8 * (size_t)roll(k, (POOL - (int)op->bytes) / 8 + 1);
    if (op->kind == PUT || op->kind == PUT_PIECES)
        k->cursor = op->at + op->bytes;
    return true;
}

/* Element i of what is added; sums wrap. */
static uint64_t operand(const struct op *op, size_t i)
{
    uint64_t v;
    memcpy(&v, pool + op->from + 8 * i, sizeof v);
    return v;
}

static void *take(size_t bytes)
{
    char *p = arena + arena_used;
    arena_used += (bytes + 7) & ~(size_t)7;
    return arena_used <= ARENA ? p : NULL;
}

/* What gets and fetch-and-ops have to bring. */
struct result {
    enum kind kind;
    const char *got;
    size_t at, bytes;
    uint64_t before;
};
static struct result results[2048];
static int nresults;

static void put_pieces(const struct mt_win *w, const struct op *op, int target, const char *src)
{
    MPI_Datatype type;
    MT_OK(MPI_Type_vector(op->blocks, op->block, op->stride, MPI_BYTE, &type));
    MT_OK(MPI_Type_commit(&type));
    MT_OK(MPI_Put(src, 1, type, target, mt_disp(w, target, (MPI_Aint)op->at), 1, type, w->win));
    MPI_Type_free(&type);
}

/* sums: the target's before this operation, as its origin knows them. to: room for what it brings.
 */
static void issue(const struct mt_win *w, const struct op *op, int target, uint64_t *sums, char *to)
{
    const MPI_Aint at = mt_disp(w, target, (MPI_Aint)op->at);
    const MPI_Aint sum_at = mt_disp(w, target, (MPI_Aint)(SUMS_AT + op->at));
    const char *from = pool + op->from;
    const int n = (int)(op->bytes / 8);
    switch (op->kind) {
    case PUT:
        MT_OK(
            MPI_Put(from, (int)op->bytes, MPI_BYTE, target, at, (int)op->bytes, MPI_BYTE, w->win));
        return;
    case PUT_PIECES:
        put_pieces(w, op, target, from);
        return;
    case SUM:
        MT_OK(MPI_Accumulate(from, n, MPI_UINT64_T, target, sum_at, n, MPI_UINT64_T, MPI_SUM,
                             w->win));
        break;
    case FETCH:
        results[nresults++] = (struct result){FETCH, to, 0, 8, sums[op->at / 8]};
        MT_OK(MPI_Fetch_and_op(from, to, MPI_UINT64_T, target, sum_at, MPI_SUM, w->win));
        break;
    default:
        results[nresults++] = (struct result){GET, to, op->at, op->bytes, 0};
        MT_OK(MPI_Get(to, (int)op->bytes, MPI_BYTE, target,
                      mt_disp(w, target, (MPI_Aint)(CONST_AT + op->at)), (int)op->bytes, MPI_BYTE,
                      w->win));
        return;
    }
    for (size_t i = 0; i < op->bytes / 8; i++)
        sums[op->at / 8 + i] += operand(op, i);
}

static void flush(const struct mt_win *w, struct walk *k, int target)
{
    switch (roll(k, 4)) {
    case 0:
        MT_OK(MPI_Win_flush(target, w->win));
        break;
    case 1:
        MT_OK(MPI_Win_flush_local(target, w->win));
        break;
    case 2:
        MT_OK(MPI_Win_flush_all(w->win));
        break;
    default:
        MT_OK(MPI_Win_flush_local_all(w->win));
    }
}

/* This epoch ends and the next begins, with nothing between them. */
static void go_on(const struct mt_win *w, enum mt_epoch ep, int target, int origin)
{
    switch (ep) {
    case MT_EP_FENCE:
        MT_OK(MPI_Win_fence(0, w->win));
        return;
    case MT_EP_PSCW:
        MT_OK(MPI_Win_complete(w->win));
        MT_OK(MPI_Win_wait(w->win));
        break;
    case MT_EP_LOCK_ALL:
        MT_OK(MPI_Win_unlock_all(w->win));
        break;
    default:
        MT_OK(MPI_Win_unlock(target, w->win));
    }
    mt_epoch_begin(w, ep, target, origin);
}

/* sums: what the target's are, as their only origin knows. */
static void access(const struct mt_win *w, enum mt_epoch ep, int epoch, int target, uint64_t *sums)
{
    struct walk k = walk_begin(epoch, w->rank), also = {.rng = mt_rng((uint64_t)epoch * 64 + 63)};
    const bool passive = ep == MT_EP_LOCK || ep == MT_EP_LOCK_SHARED || ep == MT_EP_LOCK_ALL;
    const int often = 1 + roll(&also, 300);
    struct op op;
    arena_used = 0;
    nresults = 0;
    while (draw(&k, &op)) {
        char *to = op.kind == FETCH || op.kind == GET ? take(op.bytes) : arena;
        if (!CHECK(to != NULL, "the arena is too small"))
            return;
        issue(w, &op, target, sums, to);
        if (passive && roll(&also, often) == 0)
            flush(w, &also, target);
    }
}

static void check_results(int epoch, int target)
{
    char want[CONST];
    mt_fill(want, CONST, (uint32_t)target);
    for (int i = 0; i < nresults; i++) {
        const struct result *r = &results[i];
        uint64_t v = 0;
        memcpy(&v, r->got, r->kind == FETCH ? 8 : 0);
        if (r->kind == FETCH)
            CHECK(v == r->before, "epoch %d: fetch-and-op brought %lld, expected %lld", epoch,
                  (long long)v, (long long)r->before);
        else
            CHECK_EQUAL(r->got, want + r->at, r->bytes);
    }
}

/* What origin has done here, from the same sequence. */
static void model_epoch(int epoch, int origin)
{
    struct walk k = walk_begin(epoch, origin);
    struct op op;
    while (draw(&k, &op)) {
        if (op.kind == PUT)
            memcpy(put_model + op.at, pool + op.from, op.bytes);
        for (int b = 0; op.kind == PUT_PIECES && b < op.blocks; b++)
            memcpy(put_model + op.at + b * op.stride, pool + op.from + b * op.stride,
                   (size_t)op.block);
        for (size_t i = 0; (op.kind == SUM || op.kind == FETCH) && i < op.bytes / 8; i++)
            model[op.at / 8 + i] += operand(&op, i);
    }
}

static void read_sums(const struct mt_win *w, int target, uint64_t *sums)
{
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
    MT_OK(MPI_Get(sums, SUMS, MPI_UINT64_T, target, mt_disp(w, target, SUMS_AT), SUMS, MPI_UINT64_T,
                  w->win));
    MT_OK(MPI_Win_unlock(target, w->win));
    mt_sync(w);
}

/* Epochs of one kind, with the same targets. */
static void turn(const struct mt_win *w, int first)
{
    const enum mt_epoch ep = (enum mt_epoch)mt_rand(MT_EPOCHS);
    const int shift = (int)mt_rand((uint64_t)w->size), late = (int)mt_rand(3 * (uint64_t)w->size);
    const int target = (w->rank + shift) % w->size, origin = (w->rank - shift + w->size) % w->size;
    const int last = first + (int)mt_rand(MOST_EPOCHS);
    uint64_t sums[SUMS];
    mt_section("%s, epochs %d to %d (%s)", mt_kind_name(w->kind), first, last, mt_epoch_name(ep));
    read_sums(w, target, sums);
    if (late == w->rank)
        mt_compute(0.002);
    mt_epoch_begin(w, ep, target, origin);
    for (int e = first; e <= last; e++) {
        access(w, ep, e, target, sums);
        if (e < last)
            go_on(w, ep, target, origin);
        else
            mt_epoch_end(w, ep, target);
        check_results(e, target);
    }
    for (int e = first; e <= last; e++)
        model_epoch(e, origin);
    CHECK_EQUAL(w->base, put_model, PUTS);
    CHECK_EQUAL(w->base + SUMS_AT, model, sizeof model);
}

static void run(const struct mt_win *w, int turns)
{
    memset(model, 0, sizeof model);
    memset(put_model, 0, PUTS);
    mt_fill(w->base + CONST_AT, CONST, (uint32_t)w->rank);
    mt_sync(w);
    for (int i = 0; i < turns; i++) {
        turn(w, i * MOST_EPOCHS);
        mt_sync(w); /* all have compared */
    }
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const int turns = argc > 1 ? atoi(argv[1]) : 20;
    CHECK(turns > 0, "turns %s, expected a positive number", argc > 1 ? argv[1] : "");
    arena = mt_alloc(ARENA);
    put_model = mt_alloc(PUTS);
    pool = mt_alloc(POOL);
    mt_fill(pool, POOL, (uint32_t)mt_seed);
    MT_FOR_KINDS(kind)
    {
        struct mt_win w;
        if (kind == MT_CREATE_ODD || !mt_win_make(&w, kind, AREA, 1, MPI_COMM_WORLD))
            continue; /* elements at odd addresses are acc_ops's */
        run(&w, turns);
        mt_win_free(&w);
    }
    free(pool);
    free(put_model);
    free(arena);
    return MT_FINISH();
}
