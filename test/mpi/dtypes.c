/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtypes.c - derived datatypes on the origin and on the target side.
 *
 * Random types (dtgen.h) of the same signature but different layouts describe
 * origin, target and result. Every rank draws the same random numbers, so the
 * target knows what its origin sends and builds the expected window by the type
 * maps; windows and origin buffers are compared whole, so gaps must be untouched.
 * Types are freed right after the call, before the epoch closes, and the next
 * ones are often given the same handle. The maps are first held against MPI_Pack.
 */
#include "dtgen.h"

#define SLOT 6000 /* bytes of the window for one operation */
#define SLOTS 4   /* operations in one epoch */

enum what { PUT, GET, ACC, GET_ACC, WHATS };

/* One operation, known to both sides. */
struct op {
    enum what what;
    MPI_Op mpi_op; /* ACC and GET_ACC */
    struct dt_unit unit;
    int units, ocount, tcount, rcount;
    struct dt_type otype, ttype, rtype;
    MPI_Aint ooff, toff, roff; /* buffer address of the type, from the start of its slot */
    char obuf[SLOT], rbuf[SLOT];
    char data[SLOT]; /* the packed origin values, or what a get must bring */
};

static struct op *mine, *theirs;

/* A valid value for every piece: small numbers, so that sums are exact. */
static void draw_values(struct mt_rng *rng, const struct dt_unit *u, int units, char *packed)
{
    for (int i = 0; i < units; i++) {
        for (int p = 0; p < u->npieces; p++) {
            int v = (int)mt_rng_below(rng, 100);
            double d[2] = {v, v + 1};
            short s = (short)v;
            int64_t l = v;
            switch (u->len[p]) {
            case 16:
                memcpy(packed, d, 16);
                break;
            case 8:
                memcpy(packed, u->type == MPI_INT64_T ? (void *)&l : (void *)d, 8);
                break;
            case 4:
                memcpy(packed, &v, 4);
                break;
            case 2:
                memcpy(packed, &s, 2);
                break;
            default:
                *packed = (char)v;
                break;
            }
            packed += u->len[p];
        }
    }
}

#define APPLY(T)                                                                  \
    do {                                                                          \
        T a, b;                                                                   \
        for (size_t i = 0; i + sizeof(T) <= n; i += sizeof(T)) {                  \
            memcpy(&a, target + i, sizeof a);                                     \
            memcpy(&b, origin + i, sizeof b);                                     \
            a = op == MPI_SUM ? (T)(a + b) : op == MPI_MAX ? (a > b ? a : b) : b; \
            memcpy(target + i, &a, sizeof a);                                     \
        }                                                                         \
    } while (0)

/* target = target op origin on packed elements; op is SUM, MAX, REPLACE or BXOR (bytes). */
static void apply(MPI_Op op, const struct dt_unit *u, char *target, const char *origin, size_t n)
{
    if (op == MPI_NO_OP) {
        return;
    }
    if (u->type == MPI_BYTE) {
        for (size_t i = 0; i < n; i++) {
            target[i] = op == MPI_BXOR ? (char)(target[i] ^ origin[i]) : origin[i];
        }
    } else if (u->type == MPI_SHORT) {
        APPLY(short);
    } else if (u->type == MPI_INT) {
        APPLY(int);
    } else if (u->type == MPI_INT64_T) {
        APPLY(int64_t);
    } else { /* double, and complex as pairs of them: never MAX */
        APPLY(double);
    }
}

static MPI_Op draw_op(struct mt_rng *rng, const struct dt_unit *u, enum what what)
{
    int which = (int)mt_rng_below(rng, what == GET_ACC ? 4 : 3);

    if (which == 0) {
        return MPI_REPLACE;
    }
    if (which == 3) {
        return MPI_NO_OP;
    }
    if (u->type == MPI_BYTE) {
        return MPI_BXOR;
    }
    return which == 2 && u->type != MPI_C_DOUBLE_COMPLEX ? MPI_MAX : MPI_SUM;
}

/* A layout for all units of the operation within a slot. */
static struct dt_type draw_type(struct mt_rng *rng, const struct op *op, int *count, MPI_Aint *off)
{
    int n = 1 + (int)mt_rng_below(rng, (uint64_t)op->units);

    while (op->units % n != 0) {
        n--;
    }
    for (;; n = 1) {
        struct dt_type t = dt_random(rng, &op->unit, op->units / n, SLOT - 40);
        MPI_Aint lo, hi;
        dt_span(&t, n, &lo, &hi);
        if (hi - lo <= SLOT - 40) {
            MPI_Aint least = lo < 0 ? -lo : 0, most = hi > 0 ? SLOT - hi : SLOT;
            if (least <= most) {
                *count = n;
                *off = least + (MPI_Aint)mt_rng_below(rng, (uint64_t)(most - least + 1));
                return t;
            }
        }
        dt_free(&t);
    }
}

static void draw(struct op *op, struct mt_rng *rng)
{
    op->what = (enum what)mt_rng_below(rng, WHATS);
    op->unit = dt_unit_make((int)mt_rng_below(rng, op->what >= ACC ? 6 : DT_UNITS));
    op->units =
        1 + (int)mt_rng_below(rng, mt_rng_below(rng, 2) ? 8 : (uint64_t)(1500 / op->unit.extent));
    op->mpi_op = draw_op(rng, &op->unit, op->what);
    op->otype = draw_type(rng, op, &op->ocount, &op->ooff);
    op->ttype = draw_type(rng, op, &op->tcount, &op->toff);
    op->rtype = draw_type(rng, op, &op->rcount, &op->roff);
    memset(op->obuf, 0xa5, SLOT);
    memset(op->rbuf, 0x5a, SLOT);
    draw_values(rng, &op->unit, op->units, op->data);
    if (op->what != GET) {
        dt_unpack(&op->otype, &op->unit, op->ocount, op->obuf + op->ooff, op->data);
    }
}

static void drop(struct op *op)
{
    dt_free(&op->otype);
    dt_free(&op->ttype);
    dt_free(&op->rtype);
    dt_unit_free(&op->unit);
}

static void issue(struct op *op, const struct mt_win *w, int target, int slot)
{
    MPI_Aint disp = mt_disp(w, target, (MPI_Aint)slot * SLOT + op->toff);

    switch (op->what) {
    case PUT:
        MT_OK(MPI_Put(op->obuf + op->ooff, op->ocount, op->otype.type, target, disp, op->tcount,
                      op->ttype.type, w->win));
        break;
    case GET:
        MT_OK(MPI_Get(op->obuf + op->ooff, op->ocount, op->otype.type, target, disp, op->tcount,
                      op->ttype.type, w->win));
        break;
    case ACC:
        MT_OK(MPI_Accumulate(op->obuf + op->ooff, op->ocount, op->otype.type, target, disp,
                             op->tcount, op->ttype.type, op->mpi_op, w->win));
        break;
    default:
        MT_OK(MPI_Get_accumulate(op->obuf + op->ooff, op->ocount, op->otype.type,
                                 op->rbuf + op->roff, op->rcount, op->rtype.type, target, disp,
                                 op->tcount, op->ttype.type, op->mpi_op, w->win));
        break;
    }
    /* "Deallocated when pending communication completes" (5.1.9): legal at once. */
    MT_OK(MPI_Type_free(&op->otype.type));
    MT_OK(MPI_Type_free(&op->ttype.type));
    MT_OK(MPI_Type_free(&op->rtype.type));
}

/* What the window's slot holds before: values where the operation looks, a tag elsewhere. */
static void before_slot(const struct op *op, char *slot, char *values, struct mt_rng *rng)
{
    memset(slot, 0xc3, SLOT);
    draw_values(rng, &op->unit, op->units, values);
    dt_unpack(&op->ttype, &op->unit, op->tcount, slot + op->toff, values);
}

static void after_slot(const struct op *op, char *slot, char *values)
{
    size_t n = (size_t)(op->units * op->unit.size);

    if (op->what == PUT) {
        memcpy(values, op->data, n);
    } else if (op->what != GET) {
        apply(op->mpi_op, &op->unit, values, op->data, n);
    }
    dt_unpack(&op->ttype, &op->unit, op->tcount, slot + op->toff, values);
}

static bool check_origin(const struct op *op, const char *values)
{
    static char want[SLOT];
    bool ok = true;

    memset(want, 0xa5, SLOT);
    dt_unpack(&op->otype, &op->unit, op->ocount, want + op->ooff,
              op->what == GET ? values : op->data);
    ok &= CHECK_EQUAL(op->obuf, want, SLOT);
    memset(want, 0x5a, SLOT);
    if (op->what == GET_ACC) {
        dt_unpack(&op->rtype, &op->unit, op->rcount, want + op->roff, values);
    }
    ok &= CHECK_EQUAL(op->rbuf, want, SLOT);
    return ok;
}

static void explain(const char *side, int slot, const struct op *op)
{
    static const char *const names[] = {"put", "get", "accumulate", "get_accumulate"};

    mt_fail(__FILE__, __LINE__,
            "%s of %s in slot %d: %d units; origin %d x %s at %ld; target %d x %s at %ld", side,
            names[op->what], slot, op->units, op->ocount, op->otype.text, (long)op->ooff,
            op->tcount, op->ttype.text, (long)op->toff);
}

/* One epoch: every rank sends SLOTS operations to its target. */
static void round_of(const struct mt_win *w, enum mt_epoch ep, uint64_t number, int shift)
{
    static char values[SLOTS][SLOT], old[SLOTS][SLOT], model[SLOT];
    int target = (w->rank + shift) % w->size, origin = (w->rank - shift + w->size) % w->size;
    struct mt_rng a = mt_rng(number * 64 + (uint64_t)w->rank + 1),
                  b = mt_rng(number * 64 + (uint64_t)origin + 1);

    for (int s = 0; s < SLOTS; s++) {
        draw(&mine[s], &a);
        before_slot(&mine[s], model, old[s], &a); /* the values my target has */
        draw(&theirs[s], &b);
        before_slot(&theirs[s], w->base + s * SLOT, values[s], &b);
    }
    mt_sync(w);
    mt_epoch_begin(w, ep, target, origin);
    for (int s = 0; s < SLOTS; s++) {
        issue(&mine[s], w, target, s);
    }
    mt_epoch_end(w, ep, target);
    for (int s = 0; s < SLOTS; s++) {
        memset(model, 0xc3, SLOT);
        after_slot(&theirs[s], model, values[s]);
        if (!CHECK_EQUAL(w->base + s * SLOT, model, SLOT)) {
            explain("target", s, &theirs[s]);
        }
        if (!check_origin(&mine[s], old[s])) {
            explain("origin", s, &mine[s]);
        }
        drop(&mine[s]);
        drop(&theirs[s]);
    }
}

static void rounds(enum mt_kind kind, int n)
{
    struct mt_win w;

    mt_section("random types, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, SLOTS * SLOT, 1, MPI_COMM_WORLD)) {
        return;
    }
    MT_FOR_EPOCHS(ep)
    {
        mt_section("random types, %s, %s", mt_kind_name(kind), mt_epoch_name(ep));
        for (int i = 0; i < n; i++) {
            round_of(&w, ep, (uint64_t)(((int)kind * MT_EPOCHS + (int)ep) * n + i), i % w.size);
        }
    }
    mt_win_free(&w);
}

/* Open MPI 5.0 takes complex numbers for one piece when the gap between them is smaller
 * than a number, also in its own MPI_Pack. */
static bool host_joins_complex(void)
{
    const int lens[2] = {1, 1};
    const MPI_Aint disps[2] = {0, 24};
    const MPI_Datatype types[2] = {MPI_C_DOUBLE_COMPLEX, MPI_C_DOUBLE_COMPLEX};
    char buf[40], packed[40];
    MPI_Datatype pair;
    int pos = 0;

    mt_fill(buf, sizeof buf, 1);
    MT_OK(MPI_Type_create_struct(2, lens, disps, types, &pair));
    MT_OK(MPI_Type_commit(&pair));
    MT_OK(MPI_Pack(buf, 1, pair, packed, sizeof packed, &pos, MPI_COMM_SELF));
    MT_OK(MPI_Type_free(&pair));
    return memcmp(packed + 16, buf + 24, 16) != 0;
}

/* Open MPI 4.1.4 takes a vector of single bytes with stride -1 for contiguous. */
static bool host_packs_forward(void)
{
    char buf[7], packed[4];
    MPI_Datatype backward;
    int pos = 0;

    mt_fill(buf, sizeof buf, 1);
    MT_OK(MPI_Type_vector(4, 1, -1, MPI_BYTE, &backward));
    MT_OK(MPI_Type_commit(&backward));
    MT_OK(MPI_Pack(buf + 3, 1, backward, packed, sizeof packed, &pos, MPI_COMM_SELF));
    MT_OK(MPI_Type_free(&backward));
    return packed[1] != buf[2] || packed[3] != buf[0];
}

/* Whether the host's MPI_Pack is a reference for this type. */
static bool host_packs_right(const struct dt_type *t, const struct dt_unit *unit,
                             bool packs_forward, bool joins_complex)
{
    return !(packs_forward && t->stride_minus_one) &&
           !(joins_complex && strstr(unit->name, "COMPLEX") != NULL);
}

/* The maps of dtgen.c against the host's pack and unpack. */
static void maps(int n)
{
    const bool packs_forward = host_packs_forward(), joins_complex = host_joins_complex();
    int left_out = 0;
    static char buf[SLOT], packed[SLOT], want[SLOT], back[SLOT], back_want[SLOT];
    struct mt_rng rng = mt_rng(99);

    mt_section("type maps against MPI_Pack");
    for (int i = 0; i < n; i++) {
        struct op op = {.what = PUT, .unit = dt_unit_make((int)mt_rng_below(&rng, DT_UNITS))};
        op.units = 1 + (int)mt_rng_below(&rng, (uint64_t)(1500 / op.unit.extent));
        op.otype = draw_type(&rng, &op, &op.ocount, &op.ooff);
        int pos = 0, size = op.units * op.unit.size, seen = -1;
        if (!host_packs_right(&op.otype, &op.unit, packs_forward, joins_complex)) {
            left_out++;
            dt_free(&op.otype);
            dt_unit_free(&op.unit);
            continue;
        }
        mt_fill(buf, SLOT, (uint32_t)i);
        MT_OK(MPI_Type_size(op.otype.type, &seen));
        CHECK(seen * op.ocount == size, "%d bytes in all, MPI says %d x %d", size, op.ocount, seen);
        MT_OK(MPI_Pack(buf + op.ooff, op.ocount, op.otype.type, packed, SLOT, &pos, MPI_COMM_SELF));
        dt_pack(&op.otype, &op.unit, op.ocount, buf + op.ooff, want);
        bool ok = CHECK(pos == size, "%d packed, %d expected", pos, size) &
                  CHECK_EQUAL(packed, want, (size_t)size);
        memset(back, 0x11, SLOT);
        memset(back_want, 0x11, SLOT);
        pos = 0;
        MT_OK(
            MPI_Unpack(want, size, &pos, back + op.ooff, op.ocount, op.otype.type, MPI_COMM_SELF));
        dt_unpack(&op.otype, &op.unit, op.ocount, back_want + op.ooff, want);
        ok &= CHECK_EQUAL(back, back_want, SLOT);
        CHECK(ok, "%d x %s", op.ocount, op.otype.text);
        dt_free(&op.otype);
        dt_unit_free(&op.unit);
    }
    CHECK(left_out < n / 3, "%d of %d types left out", left_out, n);
    if (mt_rank == 0 && left_out)
        printf("dtypes: %d of %d types not held against MPI_Pack, which this host gets wrong\n",
               left_out, n);
}

/* Zero counts and zero-size types move nothing and are legal. */
static void empty(enum mt_kind kind)
{
    struct mt_win w;
    int zero = 0, v = 7;
    MPI_Aint at = 0;
    MPI_Datatype none, gap, strct;

    mt_section("empty types, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 64, 1, MPI_COMM_WORLD)) {
        return;
    }
    MT_OK(MPI_Type_contiguous(0, MPI_INT, &none));
    MT_OK(MPI_Type_create_resized(none, 0, 24, &gap));
    MT_OK(MPI_Type_create_struct(1, &zero, &at, &(MPI_Datatype){MPI_INT}, &strct));
    MPI_Datatype *all[] = {&none, &gap, &strct};
    for (int i = 0; i < 3; i++) {
        MT_OK(MPI_Type_commit(all[i]));
    }
    mt_sync(&w);
    MT_FOR_EPOCHS(ep)
    {
        int target = (w.rank + 1) % w.size;
        mt_epoch_begin(&w, ep, target, (w.rank - 1 + w.size) % w.size);
        for (int i = 0; i < 3; i++) {
            MT_OK(MPI_Put(&v, 3, *all[i], target, mt_disp(&w, target, 8), 2, *all[(i + 1) % 3],
                          w.win));
            MT_OK(MPI_Get(&v, 1, *all[i], target, mt_disp(&w, target, 8), 0, MPI_INT, w.win));
            MT_OK(MPI_Accumulate(&v, 0, MPI_INT, target, mt_disp(&w, target, 8), 1, *all[i],
                                 MPI_SUM, w.win));
        }
        MT_OK(MPI_Put(NULL, 0, MPI_INT, target, mt_disp(&w, target, 0), 0, MPI_INT, w.win));
        mt_epoch_end(&w, ep, target);
    }
    CHECK_BYTES(w.base, 64, 0);
    CHECK(v == 7, "origin became %d", v);
    for (int i = 0; i < 3; i++) {
        MT_OK(MPI_Type_free(all[i]));
    }
    mt_win_free(&w);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    int n = (int)mt_rounds(24);

    mine = mt_alloc(SLOTS * sizeof *mine);
    theirs = mt_alloc(SLOTS * sizeof *theirs);
    maps(200);
    MT_FOR_KINDS(kind)
    {
        empty(kind);
        rounds(kind, n);
    }
    free(mine);
    free(theirs);
    return MT_FINISH();
}
