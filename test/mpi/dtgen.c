/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtgen.c - random derived datatypes with their type maps; see dtgen.h.
 *
 * make() picks a constructor and calls itself for the element type with a part
 * of the units; every constructor returns the map of its result. Extents are
 * asked from MPI (lb and ub follow rules of their own, 5.1.7), and a type whose
 * extent does not cover its data is wrapped in MPI_Type_create_resized, so that
 * whatever is built on it does not overlap.
 */
#include "dtgen.h"

#include <stdarg.h>
#include <stddef.h>

struct mixed {
    double d;
    int i;
    char c;
    short s;
};

static const struct {
    const char *name;
    MPI_Datatype type;
    int size;
} basics[] = {
    {"BYTE", MPI_BYTE, 1},       {"SHORT", MPI_SHORT, 2},
    {"INT", MPI_INT, 4},         {"DOUBLE", MPI_DOUBLE, 8},
    {"INT64_T", MPI_INT64_T, 8}, {"C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, 16},
};
#define NBASICS ((int)(sizeof basics / sizeof basics[0]))

static void pieces(struct dt_unit *u, int n, ...)
{
    va_list ap;

    va_start(ap, n);
    u->npieces = n;
    for (int i = 0; i < n; i++) {
        u->disp[i] = va_arg(ap, int);
        u->len[i] = va_arg(ap, int);
        u->size += u->len[i];
    }
    va_end(ap);
}

struct dt_unit dt_unit_make(int which)
{
    struct dt_unit u = {.type = MPI_DATATYPE_NULL};

    if (which < NBASICS) {
        u.type = basics[which].type;
        u.name = basics[which].name;
        u.basic = true;
        u.extent = basics[which].size;
        pieces(&u, 1, 0, basics[which].size);
    } else if (which == NBASICS) {
        struct {
            double d;
            int i;
        } pair;
        u.type = MPI_DOUBLE_INT;
        u.name = "DOUBLE_INT";
        u.extent = (int)sizeof pair;
        pieces(&u, 2, 0, 8, 8, 4);
    } else if (which == NBASICS + 1) {
        int lens[4] = {1, 1, 1, 1};
        MPI_Aint disps[4] = {offsetof(struct mixed, i), offsetof(struct mixed, d),
                             offsetof(struct mixed, s), offsetof(struct mixed, c)};
        MPI_Datatype types[4] = {MPI_INT, MPI_DOUBLE, MPI_SHORT, MPI_CHAR}, t;
        MT_OK(MPI_Type_create_struct(4, lens, disps, types, &t));
        MT_OK(MPI_Type_create_resized(t, 0, sizeof(struct mixed), &u.type));
        MT_OK(MPI_Type_free(&t));
        u.name = "struct{int,double,short,char}";
        u.owned = true;
        u.extent = (int)sizeof(struct mixed);
        pieces(&u, 4, (int)disps[0], 4, (int)disps[1], 8, (int)disps[2], 2, (int)disps[3], 1);
    } else {
        int lens[2] = {2, 1};
        MPI_Aint disps[2] = {1, 12};
        MPI_Datatype types[2] = {MPI_CHAR, MPI_SHORT_INT};
        MT_OK(MPI_Type_create_struct(2, lens, disps, types, &u.type));
        MPI_Aint lb, extent;
        MT_OK(MPI_Type_get_extent(u.type, &lb, &extent));
        u.name = "struct{char[2],SHORT_INT}";
        u.owned = true;
        u.extent = (int)extent;
        pieces(&u, 3, 1, 2, 12, 2, 16, 4);
    }
    return u;
}

void dt_unit_free(struct dt_unit *unit)
{
    if (unit->owned) {
        MT_OK(MPI_Type_free(&unit->type));
    }
}

/* ---- building ---- */

struct build {
    struct mt_rng *rng;
    const struct dt_unit *unit;
};

static int below(struct build *b, int n)
{
    return (int)mt_rng_below(b->rng, (uint64_t)n);
}

/* A divisor of n, any of them. */
static int divisor(struct build *b, int n)
{
    int d = 1 + below(b, n);
    while (n % d != 0) {
        d--;
    }
    return d;
}

static void note(struct dt_type *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(struct dt_type *t, const char *fmt, ...)
{
    char text[sizeof t->text];
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n > 0 && n < (int)sizeof text - 1) {
        snprintf(text + n, sizeof text - (size_t)n, "(%.*s)", (int)sizeof text - n - 3, t->text);
    }
    memcpy(t->text, text, sizeof text);
}

/* Recompute lo, hi and extent from the map and from MPI. */
static void measure(struct build *b, struct dt_type *t)
{
    MPI_Aint lb = 0, extent = 0;

    MT_OK(MPI_Type_get_extent(t->type, &lb, &extent));
    t->lo = PTRDIFF_MAX;
    t->hi = PTRDIFF_MIN;
    for (int i = 0; i < t->units; i++) {
        for (int p = 0; p < b->unit->npieces; p++) {
            MPI_Aint from = t->at[i] + b->unit->disp[p], to = from + b->unit->len[p];
            t->lo = from < t->lo ? from : t->lo;
            t->hi = to > t->hi ? to : t->hi;
        }
    }
    t->extent = extent;
    if (lb > t->lo || lb + extent < t->hi) {
        MPI_Datatype old = t->type;
        t->extent = t->hi - t->lo;
        MT_OK(MPI_Type_create_resized(old, t->lo, t->extent, &t->type));
        MT_OK(MPI_Type_free(&old));
        note(t, "cover");
    }
}

/* n copies of t's map at the displacements disp; the MPI type is already made. */
static void repeat(struct build *b, struct dt_type *t, int n, const MPI_Aint *disp,
                   MPI_Datatype made)
{
    MPI_Aint *at = mt_alloc((size_t)n * (size_t)t->units * sizeof *at);

    for (int i = 0; i < n; i++) {
        for (int u = 0; u < t->units; u++) {
            at[i * t->units + u] = disp[i] + t->at[u];
        }
    }
    free(t->at);
    t->at = at;
    t->units *= n;
    MT_OK(MPI_Type_free(&t->type));
    t->type = made;
    measure(b, t);
}

/* vector and hvector: count blocks of len, stride (may be negative) extents apart, maybe a few
 * bytes more. */
static void build_vector(struct build *b, struct dt_type *t, int count, int len, bool bytes)
{
    int sign = below(b, 3) == 0 ? -1 : 1, stride = sign * (len + below(b, 3));
    MPI_Aint step = stride * t->extent + (bytes ? sign * below(b, 6) : 0);
    MPI_Aint *disp = mt_alloc((size_t)count * (size_t)len * sizeof *disp);
    MPI_Datatype made;

    for (int i = 0; i < count * len; i++) {
        disp[i] = (i / len) * step + (i % len) * t->extent;
    }
    if (bytes) {
        MT_OK(MPI_Type_create_hvector(count, len, step, t->type, &made));
    } else {
        MT_OK(MPI_Type_vector(count, len, stride, t->type, &made));
    }
    repeat(b, t, count * len, disp, made);
    t->stride_minus_one |= (bytes ? step : stride) == -1;
    note(t, "%s %d,%d,%ld", bytes ? "hvector" : "vector", count, len,
         (long)(bytes ? step : stride));
    free(disp);
}

/* The four indexed constructors: total elements in blocks, at shuffled places. */
static void build_indexed(struct build *b, struct dt_type *t, int total, bool bytes, bool equal)
{
    int *len = mt_alloc((size_t)total * 2 * sizeof *len), *idx = len + total;
    MPI_Aint *hidx = mt_alloc((size_t)total * 2 * sizeof *hidx), *disp = hidx + total;
    int blocks = 0, each = equal ? divisor(b, total) : 0, k = 0;
    MPI_Datatype made;

    for (int left = total; left > 0; left -= len[blocks++]) {
        len[blocks] = equal ? each : 1 + below(b, left);
    }
    MPI_Aint at = -below(b, 4); /* in extents; in bytes where they are bytes */
    for (int i = 0; i < blocks; i++) {
        idx[i] = (int)at;
        hidx[i] = at;
        at += (len[i] + below(b, 3)) * (bytes ? t->extent : 1) + (bytes ? below(b, 5) : 0);
    }
    for (int i = blocks - 1; i > 0; i--) { /* the map's order need not be ascending */
        int j = below(b, i + 1), l = len[i], x = idx[i];
        MPI_Aint h = hidx[i];
        len[i] = len[j], idx[i] = idx[j], hidx[i] = hidx[j];
        len[j] = l, idx[j] = x, hidx[j] = h;
    }
    for (int i = 0; i < blocks; i++) {
        for (int e = 0; e < len[i]; e++) {
            disp[k++] = (bytes ? hidx[i] : idx[i] * t->extent) + e * t->extent;
        }
    }
    if (equal && bytes) {
        MT_OK(MPI_Type_create_hindexed_block(blocks, each, hidx, t->type, &made));
    } else if (equal) {
        MT_OK(MPI_Type_create_indexed_block(blocks, each, idx, t->type, &made));
    } else if (bytes) {
        MT_OK(MPI_Type_create_hindexed(blocks, len, hidx, t->type, &made));
    } else {
        MT_OK(MPI_Type_indexed(blocks, len, idx, t->type, &made));
    }
    repeat(b, t, total, disp, made);
    note(t, "%sindexed%s %d/%d", bytes ? "h" : "", equal ? "_block" : "", blocks, total);
    free(len);
    free(hidx);
}

/* A box of sub[0] x sub[1] in an array, in C or Fortran order. */
static void build_subarray(struct build *b, struct dt_type *t, int rows, int cols)
{
    bool fortran = below(b, 2);
    int sub[2] = {rows, cols}, start[2] = {below(b, 3), below(b, 3)}, full[2];
    MPI_Aint *disp = mt_alloc((size_t)(rows * cols) * sizeof *disp);
    MPI_Datatype made;
    int k = 0;

    full[0] = start[0] + sub[0] + below(b, 3);
    full[1] = start[1] + sub[1] + below(b, 3);
    int slow = fortran ? 1 : 0, fast = 1 - slow;
    for (int i = 0; i < sub[slow]; i++) {
        for (int j = 0; j < sub[fast]; j++) {
            disp[k++] = ((start[slow] + i) * full[fast] + start[fast] + j) * t->extent;
        }
    }
    MT_OK(MPI_Type_create_subarray(2, full, sub, start, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                                   t->type, &made));
    repeat(b, t, rows * cols, disp, made);
    note(t, "subarray %dx%d of %dx%d%s", sub[0], sub[1], full[0], full[1], fortran ? " F" : "");
    free(disp);
}

/* One dimension of n * procs elements, block or cyclic; this process has n of them. */
static void build_darray(struct build *b, struct dt_type *t, int n)
{
    int procs = 1 + below(b, 3), me = below(b, procs), gsize = n * procs;
    int block = divisor(b, n), distrib = MPI_DISTRIBUTE_CYCLIC, darg = block;
    MPI_Aint *disp = mt_alloc((size_t)n * sizeof *disp);
    MPI_Datatype made;

    /* The standard ABI has a positive number for the default, which is no block length then. */
    if (below(b, 2) == 0 || block == MPI_DISTRIBUTE_DFLT_DARG) {
        block = n;
        distrib = MPI_DISTRIBUTE_BLOCK;
        darg = MPI_DISTRIBUTE_DFLT_DARG;
    }
    for (int i = 0; i < n; i++) {
        disp[i] = ((i / block * procs + me) * block + i % block) * t->extent;
    }
    MT_OK(MPI_Type_create_darray(procs, me, 1, &gsize, &distrib, &darg, &procs, MPI_ORDER_C,
                                 t->type, &made));
    repeat(b, t, n, disp, made);
    note(t, "darray %d of %d, rank %d/%d, block %d", n, gsize, me, procs, block);
    free(disp);
}

static void build_resized(struct build *b, struct dt_type *t)
{
    MPI_Datatype old = t->type;
    MPI_Aint lb = t->lo - below(b, 9), extent = t->hi - lb + below(b, 9);

    MT_OK(MPI_Type_create_resized(old, lb, extent, &t->type));
    MT_OK(MPI_Type_free(&old));
    measure(b, t);
    note(t, "resized %ld,%ld", (long)lb, (long)extent);
}

static struct dt_type make(struct build *b, int units, int depth);

/* Two or three different types with gaps, maybe with a zero block between them. */
static struct dt_type build_struct(struct build *b, int units, int depth)
{
    int nparts = units >= 3 ? 2 + below(b, 2) : 2, left = units;
    struct dt_type part[3], t = {.units = 0};
    MPI_Datatype types[4];
    MPI_Aint disps[4], at = below(b, 9);
    int lens[4], n = 0;

    t.at = mt_alloc((size_t)units * sizeof *t.at);
    for (int i = 0; i < nparts; i++) {
        int mine = i == nparts - 1 ? left : 1 + below(b, left - (nparts - 1 - i));
        int len = divisor(b, mine);
        part[i] = make(b, mine / len, depth);
        left -= mine;
        types[n] = part[i].type;
        lens[n] = len;
        disps[n] = at - part[i].lo;
        for (int e = 0; e < len; e++) {
            for (int u = 0; u < part[i].units; u++) {
                t.at[t.units++] = disps[n] + e * part[i].extent + part[i].at[u];
            }
        }
        at += (len - 1) * part[i].extent + part[i].hi - part[i].lo + below(b, 9);
        n++;
        if (i == 0 && below(b, 3) == 0) {
            types[n] = MPI_DOUBLE;
            lens[n] = 0;
            disps[n++] = 12345;
        }
    }
    MT_OK(MPI_Type_create_struct(n, lens, disps, types, &t.type));
    for (int i = 0; i < nparts; i++) {
        note(&t, "%.50s", part[i].text);
        t.stride_minus_one |= part[i].stride_minus_one;
        dt_free(&part[i]);
    }
    measure(b, &t);
    note(&t, "struct of %d", nparts);
    return t;
}

static struct dt_type leaf(struct build *b, int units)
{
    struct dt_type t = {.units = 1, .at = mt_alloc(sizeof *t.at), .extent = b->unit->extent};
    MPI_Aint *disp = mt_alloc((size_t)units * sizeof *disp);
    MPI_Datatype made;

    t.at[0] = 0;
    for (int i = 0; i < units; i++) {
        disp[i] = (MPI_Aint)i * b->unit->extent;
    }
    MT_OK(MPI_Type_dup(b->unit->type, &t.type));
    MT_OK(MPI_Type_contiguous(units, b->unit->type, &made));
    repeat(b, &t, units, disp, made);
    snprintf(t.text, sizeof t.text, "%d %s", units, b->unit->name);
    free(disp);
    return t;
}

static struct dt_type make(struct build *b, int units, int depth)
{
    if (depth <= 0) {
        return leaf(b, units);
    }
    int how = below(b, 12);
    if (how == 0 && units >= 2) {
        return build_struct(b, units, depth - 1);
    }
    int n = divisor(b, units);
    struct dt_type t = make(b, units / n, depth - 1);
    int part = divisor(b, n);
    MPI_Datatype old = t.type;

    switch (how) {
    case 1:
    case 2:
        build_vector(b, &t, n / part, part, how == 2);
        break;
    case 3:
    case 4:
    case 5:
    case 6:
        build_indexed(b, &t, n, how >= 5, how % 2 == 0);
        break;
    case 7:
        build_subarray(b, &t, n / part, part);
        break;
    case 8:
        build_darray(b, &t, n);
        break;
    case 9:
        build_resized(b, &t);
        build_vector(b, &t, n, 1, true);
        break;
    case 10:
        MT_OK(MPI_Type_dup(old, &t.type));
        MT_OK(MPI_Type_free(&old));
        build_vector(b, &t, 1, n, false);
        break;
    default:
        build_vector(b, &t, n, 1, below(b, 2));
        build_resized(b, &t);
        break;
    }
    return t;
}

struct dt_type dt_random(struct mt_rng *rng, const struct dt_unit *unit, int units, MPI_Aint span)
{
    struct build b = {rng, unit};

    for (int depth = (int)mt_rng_below(rng, 4);; depth--) {
        struct dt_type t = make(&b, units, depth);
        if (t.hi - t.lo <= span && t.extent <= span) {
            MT_OK(MPI_Type_commit(&t.type));
            return t;
        }
        dt_free(&t);
    }
}

void dt_free(struct dt_type *t)
{
    if (t->type != MPI_DATATYPE_NULL) {
        MT_OK(MPI_Type_free(&t->type));
    }
    free(t->at);
    t->at = NULL;
}

void dt_span(const struct dt_type *t, int count, MPI_Aint *lo, MPI_Aint *hi)
{
    *lo = t->lo;
    *hi = t->hi + (count - 1) * t->extent; /* extents made here are never negative */
}

static void walk(const struct dt_type *t, const struct dt_unit *unit, int count, char *buf,
                 char *packed, bool pack)
{
    for (int c = 0; c < count; c++) {
        for (int i = 0; i < t->units; i++) {
            char *at = buf + c * t->extent + t->at[i];
            for (int p = 0; p < unit->npieces; p++) {
                memcpy(pack ? packed : at + unit->disp[p], pack ? at + unit->disp[p] : packed,
                       (size_t)unit->len[p]);
                packed += unit->len[p];
            }
        }
    }
}

void dt_pack(const struct dt_type *t, const struct dt_unit *unit, int count, const void *buf,
             void *packed)
{
    walk(t, unit, count, (char *)(uintptr_t)buf, packed, true);
}

void dt_unpack(const struct dt_type *t, const struct dt_unit *unit, int count, void *buf,
               const void *packed)
{
    walk(t, unit, count, buf, (char *)(uintptr_t)packed, false);
}
