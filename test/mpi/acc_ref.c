/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc_ref.c - predefined types, operations and their reference; see acc_ref.h.
 *
 * Integers are widened to 128 bits, everything floating to long double: with the
 * small values drawn here every result is exact in the narrow type too, or in one of
 * 16 bits rounded once.
 */
#include "acc_ref.h"
#include "test/support/half.h"

#include <complex.h>
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <wchar.h>

#define PAIR(T, S)                           \
    (int)sizeof(T),                          \
        (int)offsetof(                       \
            struct {                         \
                T a;                         \
                S b;                         \
            },                               \
            b),                              \
        (int)sizeof(S), (int)sizeof(struct { \
            T a;                             \
            S b;                             \
        })
#define PLAIN(n) (n), 0, 0, (n)
#define CINT(M, T)                                           \
    {                                                        \
#M, M, CAT_CINT, (T)-1 < (T)1, PLAIN((int)sizeof(T)) \
    }

/* Handles of Open MPI are not constant expressions everywhere, so the table is filled at run time.
 */
static struct acc_type table[80];
static int ntypes;

static void add(const struct acc_type *some, int n)
{
    for (int i = 0; i < n; i++) {
        int size = 0;
        /* A Fortran or C++ type may be declared and yet absent from this build of the host: then
         * it is null, or has size 0 or MPI_UNDEFINED. */
        if (some[i].type == MPI_DATATYPE_NULL ||
            MPI_Type_size(some[i].type, &size) != MPI_SUCCESS || size <= 0) {
            continue;
        }
        int want = some[i].size + some[i].second_size;
        if (CHECK(size == want, "%s has size %d, not %d", some[i].name, size, want)) {
            table[ntypes++] = some[i];
        }
    }
}
#define ADD(list) add(list, (int)(sizeof list / sizeof list[0]))

static void add_c(void)
{
    const struct acc_type list[] = {
        CINT(MPI_SIGNED_CHAR, signed char),
        CINT(MPI_UNSIGNED_CHAR, unsigned char),
        CINT(MPI_SHORT, short),
        CINT(MPI_UNSIGNED_SHORT, unsigned short),
        CINT(MPI_INT, int),
        CINT(MPI_UNSIGNED, unsigned),
        CINT(MPI_LONG, long),
        CINT(MPI_UNSIGNED_LONG, unsigned long),
        CINT(MPI_LONG_LONG, long long),
        CINT(MPI_LONG_LONG_INT, long long),
        CINT(MPI_UNSIGNED_LONG_LONG, unsigned long long),
        CINT(MPI_INT8_T, int8_t),
        CINT(MPI_INT16_T, int16_t),
        CINT(MPI_INT32_T, int32_t),
        CINT(MPI_INT64_T, int64_t),
        CINT(MPI_UINT8_T, uint8_t),
        CINT(MPI_UINT16_T, uint16_t),
        CINT(MPI_UINT32_T, uint32_t),
        CINT(MPI_UINT64_T, uint64_t),
        {"MPI_AINT", MPI_AINT, CAT_MULTI, true, PLAIN(8)},
        {"MPI_OFFSET", MPI_OFFSET, CAT_MULTI, true, PLAIN(8)},
        {"MPI_COUNT", MPI_COUNT, CAT_MULTI, true, PLAIN(8)},
        {"MPI_FLOAT", MPI_FLOAT, CAT_FLOAT, true, PLAIN(4)},
        {"MPI_DOUBLE", MPI_DOUBLE, CAT_FLOAT, true, PLAIN(8)},
        {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, CAT_FLOAT, true, PLAIN((int)sizeof(long double))},
        {"MPI_C_COMPLEX", MPI_C_COMPLEX, CAT_COMPLEX, true, PLAIN(8)},
        {"MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, CAT_COMPLEX, true, PLAIN(8)},
        {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, CAT_COMPLEX, true, PLAIN(16)},
        {"MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, CAT_COMPLEX, true, PLAIN(32)},
        {"MPI_C_BOOL", MPI_C_BOOL, CAT_LOGICAL, false, PLAIN(1)},
        {"MPI_BYTE", MPI_BYTE, CAT_BYTE, false, PLAIN(1)},
        {"MPI_CHAR", MPI_CHAR, CAT_CINT, CHAR_MIN < 0, PLAIN(1)},
        {"MPI_WCHAR", MPI_WCHAR, CAT_CHAR, false, PLAIN((int)sizeof(wchar_t))},
        {"MPI_FLOAT_INT", MPI_FLOAT_INT, CAT_PAIR, false, PAIR(float, int)},
        {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, CAT_PAIR, false, PAIR(double, int)},
        {"MPI_LONG_INT", MPI_LONG_INT, CAT_PAIR, true, PAIR(long, int)},
        {"MPI_SHORT_INT", MPI_SHORT_INT, CAT_PAIR, true, PAIR(short, int)},
        {"MPI_2INT", MPI_2INT, CAT_PAIR, true, PAIR(int, int)},
        {"MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, CAT_PAIR, false, PAIR(long double, int)},
    };
    ADD(list);
}

static void add_fortran(void)
{
    const struct acc_type list[] = {
        {"MPI_INTEGER", MPI_INTEGER, CAT_FINT, true, PLAIN(4)},
        {"MPI_REAL", MPI_REAL, CAT_FLOAT, true, PLAIN(4)},
        {"MPI_DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, CAT_FLOAT, true, PLAIN(8)},
        {"MPI_COMPLEX", MPI_COMPLEX, CAT_COMPLEX, true, PLAIN(8)},
        {"MPI_DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX, CAT_COMPLEX, true, PLAIN(16)},
        {"MPI_LOGICAL", MPI_LOGICAL, CAT_LOGICAL, true, PLAIN(4)},
        {"MPI_CHARACTER", MPI_CHARACTER, CAT_CHAR, false, PLAIN(1)},
        {"MPI_2REAL", MPI_2REAL, CAT_PAIR, false, PAIR(float, float)},
        {"MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION, CAT_PAIR, false, PAIR(double, double)},
        {"MPI_2INTEGER", MPI_2INTEGER, CAT_PAIR, true, PAIR(int, int)},
        {"MPI_INTEGER1", MPI_INTEGER1, CAT_FINT, true, PLAIN(1)},
        {"MPI_INTEGER2", MPI_INTEGER2, CAT_FINT, true, PLAIN(2)},
        {"MPI_INTEGER4", MPI_INTEGER4, CAT_FINT, true, PLAIN(4)},
        {"MPI_INTEGER8", MPI_INTEGER8, CAT_FINT, true, PLAIN(8)},
        {"MPI_REAL4", MPI_REAL4, CAT_FLOAT, true, PLAIN(4)},
        {"MPI_REAL8", MPI_REAL8, CAT_FLOAT, true, PLAIN(8)},
        {"MPI_COMPLEX8", MPI_COMPLEX8, CAT_COMPLEX, true, PLAIN(8)},
        {"MPI_COMPLEX16", MPI_COMPLEX16, CAT_COMPLEX, true, PLAIN(16)},
#ifdef MPI_LOGICAL1
        {"MPI_LOGICAL1", MPI_LOGICAL1, CAT_LOGICAL, true, PLAIN(1)},
        {"MPI_LOGICAL2", MPI_LOGICAL2, CAT_LOGICAL, true, PLAIN(2)},
        {"MPI_LOGICAL4", MPI_LOGICAL4, CAT_LOGICAL, true, PLAIN(4)},
        {"MPI_LOGICAL8", MPI_LOGICAL8, CAT_LOGICAL, true, PLAIN(8)},
#endif
#if defined(__SIZEOF_INT128__) /* else the library refuses what it cannot compute */
        {"MPI_INTEGER16", HOST_INTEGER16, CAT_FINT, true, PLAIN(16)},
        {"MPI_LOGICAL16", HOST_LOGICAL16, CAT_LOGICAL, true, PLAIN(16)},
#endif
#if defined(__FLT16_MANT_DIG__)
        {"MPI_REAL2", HOST_REAL2, CAT_FLOAT, true, PLAIN(2)},
        {"MPI_COMPLEX4", HOST_COMPLEX4, CAT_COMPLEX, true, PLAIN(4)},
        {"MPIX_C_FLOAT16", HOST_C_FLOAT16, CAT_FLOAT, true, PLAIN(2)},
#endif
    };
    ADD(list);
}

static void add_cxx(void)
{
#ifdef MPI_CXX_BOOL
    const struct acc_type list[] = {
        {"MPI_CXX_BOOL", MPI_CXX_BOOL, CAT_LOGICAL, false, PLAIN(1)},
        {"MPI_CXX_FLOAT_COMPLEX", MPI_CXX_FLOAT_COMPLEX, CAT_COMPLEX, true, PLAIN(8)},
        {"MPI_CXX_DOUBLE_COMPLEX", MPI_CXX_DOUBLE_COMPLEX, CAT_COMPLEX, true, PLAIN(16)},
        {"MPI_CXX_LONG_DOUBLE_COMPLEX", MPI_CXX_LONG_DOUBLE_COMPLEX, CAT_COMPLEX, true, PLAIN(32)},
    };
    ADD(list);
#endif
}

const struct acc_type *acc_types(int *n)
{
    if (ntypes == 0) {
        add_c();
        add_fortran();
        add_cxx();
    }
    *n = ntypes;
    return table;
}

const struct acc_oper *acc_opers(void)
{
    static struct acc_oper list[ACC_OPERS];

    if (list[0].name == NULL) {
        const struct acc_oper all[ACC_OPERS] = {
            {"SUM", MPI_SUM},         {"PROD", MPI_PROD},     {"MIN", MPI_MIN},
            {"MAX", MPI_MAX},         {"LAND", MPI_LAND},     {"LOR", MPI_LOR},
            {"LXOR", MPI_LXOR},       {"BAND", MPI_BAND},     {"BOR", MPI_BOR},
            {"BXOR", MPI_BXOR},       {"MINLOC", MPI_MINLOC}, {"MAXLOC", MPI_MAXLOC},
            {"REPLACE", MPI_REPLACE}, {"NO_OP", MPI_NO_OP},
        };
        memcpy(list, all, sizeof list);
    }
    return list;
}

static bool is_int(enum acc_cat cat)
{
    return cat == CAT_CINT || cat == CAT_FINT || cat == CAT_MULTI;
}

enum acc_allowed acc_ref_allowed(MPI_Op op, const struct acc_type *t)
{
    enum acc_cat c = t->cat;

    if (op == MPI_REPLACE || op == MPI_NO_OP) {
        return ACC_YES;
    }
    if (op == MPI_MINLOC || op == MPI_MAXLOC) {
        return c == CAT_PAIR ? ACC_YES : ACC_NO;
    }
    if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) {
        return c == CAT_CINT || c == CAT_LOGICAL ? ACC_YES : is_int(c) ? ACC_EITHER : ACC_NO;
    }
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR) {
        return is_int(c) || c == CAT_BYTE ? ACC_YES : ACC_NO;
    }
    if (op == MPI_MIN || op == MPI_MAX) {
        return is_int(c) || c == CAT_FLOAT ? ACC_YES : ACC_NO;
    }
    return is_int(c) || c == CAT_FLOAT || c == CAT_COMPLEX ? ACC_YES : ACC_NO;
}

bool acc_ref_cas(const struct acc_type *t)
{
    return is_int(t->cat) || t->cat == CAT_LOGICAL || t->cat == CAT_BYTE;
}

/* ---- wide values ---- */

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

static wide get_int(const void *p, int size, bool is_signed)
{
    uwide v = 0;

    memcpy(&v, p, (size_t)size);
    if (is_signed && size < (int)sizeof v && (v >> (size * 8 - 1) & 1) != 0) {
        v |= ~(uwide)0 << (size * 8);
    }
    return (wide)v;
}

static void put_int(void *p, int size, wide v)
{
    memcpy(p, &v, (size_t)size);
}

static long double get_float(const void *p, int size)
{
    float f;
    double d;
    long double l;

    switch (size) {
    case 2:
        return (long double)get_half(p);
    case 4:
        memcpy(&f, p, 4);
        return (long double)f;
    case 8:
        memcpy(&d, p, 8);
        return (long double)d;
    default:
        memcpy(&l, p, sizeof l);
        return l;
    }
}

static void put_float(void *p, int size, long double v)
{
    float f = (float)v;
    double d = (double)v;

    if (size == 2) {
        put_half(p, f);
        return;
    }
    memcpy(p,
           size == 4   ? (void *)&f
           : size == 8 ? (void *)&d
                       : (void *)&v,
           size <= 8             ? (size_t)size
           : LDBL_MANT_DIG == 64 ? 10
                                 : sizeof v);
}

void acc_ref_draw(struct mt_rng *rng, const struct acc_type *t, void *element)
{
    char *e = element;
    wide v = (wide)mt_rng_below(rng, 10);

    memset(e, 0, (size_t)t->extent);
    switch (t->cat) {
    case CAT_FLOAT:
        put_float(e, t->size, (long double)v);
        break;
    case CAT_COMPLEX:
        put_float(e, t->size / 2, (long double)v);
        put_float(e + t->size / 2, t->size / 2, (long double)mt_rng_below(rng, 10));
        break;
    case CAT_LOGICAL:
        put_int(e, t->size, v & 1);
        break;
    case CAT_PAIR:
        if (t->is_signed) {
            put_int(e, t->size, v - 5);
        } else {
            put_float(e, t->size, (long double)(v - 5));
        }
        if (t->second_size == t->size && !t->is_signed && strstr(t->name, "_INT") == NULL) {
            put_float(e + t->second, t->second_size, (long double)mt_rng_below(rng, 10));
        } else {
            put_int(e + t->second, t->second_size, (wide)mt_rng_below(rng, 10));
        }
        break;
    default:
        /* Of 16 bytes: in both halves, so that a sum can carry from one into the other. */
        v = t->cat == CAT_CINT && t->is_signed ? v - 5 : v;
        put_int(e, t->size, t->size == 16 ? v << 62 | v : v);
        break;
    }
}

static wide apply_int(MPI_Op op, wide a, wide b)
{
    bool less = b < a;

    if (op == MPI_SUM) {
        return (wide)((uwide)a + (uwide)b);
    }
    if (op == MPI_PROD) {
        return (wide)((uwide)a * (uwide)b);
    }
    if (op == MPI_MIN) {
        return less ? b : a;
    }
    if (op == MPI_MAX) {
        return less ? a : b;
    }
    if (op == MPI_LAND) {
        return a && b;
    }
    if (op == MPI_LOR) {
        return a || b;
    }
    if (op == MPI_LXOR) {
        return !a != !b;
    }
    return op == MPI_BAND ? (a & b) : op == MPI_BOR ? (a | b) : (a ^ b);
}

static void apply_complex(MPI_Op op, int half, char *target, const char *origin)
{
    long double ar = get_float(target, half), ai = get_float(target + half, half);
    long double br = get_float(origin, half), bi = get_float(origin + half, half);
    bool sum = op == MPI_SUM;

    put_float(target, half, sum ? ar + br : ar * br - ai * bi);
    put_float(target + half, half, sum ? ai + bi : ar * bi + ai * br);
}

static void apply_loc(MPI_Op op, const struct acc_type *t, char *target, const char *origin)
{
    long double a, b, ia, ib;
    bool float_index = !t->is_signed && strstr(t->name, "_INT") == NULL;

    a = t->is_signed ? (long double)get_int(target, t->size, true) : get_float(target, t->size);
    b = t->is_signed ? (long double)get_int(origin, t->size, true) : get_float(origin, t->size);
    ia = float_index ? get_float(target + t->second, t->second_size)
                     : (long double)get_int(target + t->second, t->second_size, true);
    ib = float_index ? get_float(origin + t->second, t->second_size)
                     : (long double)get_int(origin + t->second, t->second_size, true);
    bool better = op == MPI_MINLOC ? b < a : b > a;
    if (better || (a == b && ib < ia)) {
        memcpy(target, origin, (size_t)t->size);
        memcpy(target + t->second, origin + t->second, (size_t)t->second_size);
    }
}

void acc_ref_apply(MPI_Op op, const struct acc_type *t, void *target, const void *origin)
{
    if (op == MPI_NO_OP) {
        return;
    }
    if (op == MPI_REPLACE) {
        memcpy(target, origin, (size_t)t->size);
        memcpy((char *)target + t->second, (const char *)origin + t->second,
               (size_t)t->second_size);
    } else if (t->cat == CAT_PAIR) {
        apply_loc(op, t, target, origin);
    } else if (t->cat == CAT_COMPLEX) {
        apply_complex(op, t->size / 2, target, origin);
    } else if (t->cat == CAT_FLOAT) {
        long double a = get_float(target, t->size), b = get_float(origin, t->size);
        put_float(target, t->size,
                  op == MPI_SUM    ? a + b
                  : op == MPI_PROD ? a * b
                  : op == MPI_MIN  ? (b < a ? b : a)
                                   : (b > a ? b : a));
    } else {
        put_int(target, t->size,
                apply_int(op, get_int(target, t->size, t->is_signed),
                          get_int(origin, t->size, t->is_signed)));
    }
}

static bool same_part(const void *a, const void *b, int size, bool is_float)
{
    return is_float ? get_float(a, size) == get_float(b, size) : memcmp(a, b, (size_t)size) == 0;
}

bool acc_ref_same(const struct acc_type *t, const void *a, const void *b)
{
    const char *x = a, *y = b;

    if (t->cat == CAT_COMPLEX) {
        int half = t->size / 2;
        return same_part(x, y, half, true) && same_part(x + half, y + half, half, true);
    }
    if (t->cat == CAT_LOGICAL) { /* any non-zero is true */
        return !get_int(x, t->size, false) == !get_int(y, t->size, false);
    }
    bool is_float = t->cat == CAT_FLOAT || (t->cat == CAT_PAIR && !t->is_signed);
    return same_part(x, y, t->size, is_float) &&
           memcmp(x + t->second, y + t->second, (size_t)t->second_size) == 0;
}
