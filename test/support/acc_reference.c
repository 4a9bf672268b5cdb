/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc_reference.c - see acc_reference.h. Products and sums are rounded one by one, as in the
 * kernels.
 */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC optimize("fp-contract=off")
#pragma STDC FP_CONTRACT OFF

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "test/support/half.h"
#include "acc_reference.h"
#include "base/ext_types.h"

typedef acc_f128 real16;

static uint64_t seed = 88172645463325252u;

uint64_t random_bits(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

char category(enum acc_type type)
{
    if (type >= ACC_I8 && type <= ACC_I128)
        return 'i';
    if (type >= ACC_F16 && type <= ACC_F128)
        return 'f';
    if (type >= ACC_C16 && type <= ACC_C128)
        return 'c';
    if (type >= ACC_BOOL && type <= ACC_LOGICAL128)
        return 'l';
    if (type == ACC_BYTE)
        return 'b';
    return type == ACC_CHAR || type == ACC_WCHAR ? 'x' : 'p';
}

bool computes(enum acc_type type)
{
    const bool wide = type == ACC_I128 || type == ACC_LOGICAL128,
               half = type == ACC_F16 || type == ACC_C16;

    return (!wide || EXT_HAS_INT128) && (!half || EXT_HAS_FLOAT16);
}

const char *const categories_of[ACC_OP_LAST] = {
    [ACC_SUM] = "ifc",         [ACC_PROD] = "ifc",      [ACC_MIN] = "if",   [ACC_MAX] = "if",
    [ACC_LAND] = "il",         [ACC_LOR] = "il",        [ACC_LXOR] = "il",  [ACC_BAND] = "ib",
    [ACC_BOR] = "ib",          [ACC_BXOR] = "ib",       [ACC_MINLOC] = "p", [ACC_MAXLOC] = "p",
    [ACC_REPLACE] = "ifclbxp", [ACC_NO_OP] = "ifclbxp",
};

#define LAYOUT(KIND, V, L)             \
    {                                  \
        KIND, sizeof(V),               \
            offsetof(                  \
                struct {               \
                    V v;               \
                    L l;               \
                },                     \
                l),                    \
            sizeof(L), sizeof(struct { \
                V v;                   \
                L l;                   \
            })                         \
    }

struct pair_layout layout_of(enum acc_type type)
{
    static const struct pair_layout layouts[ACC_TYPE_LAST] = {
        [ACC_PAIR_F32_I32] = LAYOUT('f', float, int),
        [ACC_PAIR_F64_I32] = LAYOUT('d', double, int),
        [ACC_PAIR_I64_I32] = LAYOUT('i', long, int),
        [ACC_PAIR_I16_I32] = LAYOUT('i', short, int),
        [ACC_PAIR_I32_I32] = LAYOUT('i', int, int),
        [ACC_PAIR_F80_I32] = LAYOUT('x', long double, int),
        [ACC_PAIR_F32_F32] = LAYOUT('f', float, float),
        [ACC_PAIR_F64_F64] = LAYOUT('d', double, double),
        [ACC_PAIR_I64_I64] = LAYOUT('i', long, long),
    };
    return layouts[type];
}

static __int128 get_int(const void *from, size_t size, bool is_signed)
{
    unsigned __int128 v = 0;

    memcpy(&v, from, size);
    if (is_signed && size < sizeof v && (v >> (8 * size - 1) & 1))
        v |= ~(unsigned __int128)0 << (8 * size);
    return (__int128)v;
}

static __int128 int_op(enum acc_op op, __int128 a, __int128 b)
{
    switch (op) {
    case ACC_SUM:
        return (__int128)((unsigned __int128)a + (unsigned __int128)b);
    case ACC_PROD: /* the low bits, which are all that is kept */
        return (__int128)((unsigned __int128)a * (unsigned __int128)b);
    case ACC_MIN:
        return a < b ? a : b;
    case ACC_MAX:
        return a > b ? a : b;
    case ACC_LAND:
        return a && b;
    case ACC_LOR:
        return a || b;
    case ACC_LXOR:
        return !a != !b;
    case ACC_BAND:
        return a & b;
    case ACC_BOR:
        return a | b;
    case ACC_BXOR:
        return a ^ b;
    default:
        fail();
        return 0;
    }
}

#define REAL_REF(T)                                                 \
    do {                                                            \
        T x, y;                                                     \
        memcpy(&x, t, sizeof(T));                                   \
        memcpy(&y, o, sizeof(T));                                   \
        if (op == ACC_SUM)                                          \
            x += y;                                                 \
        else if (op == ACC_PROD)                                    \
            x *= y;                                                 \
        else if (op == ACC_MIN ? y < x : y > x)                     \
            x = y;                                                  \
        memcpy(t, &x, type == ACC_F80 ? LDOUBLE_BYTES : sizeof(T)); \
    } while (0)

#define COMPLEX_REF(T, BYTES)                                                 \
    do {                                                                      \
        T re[2], im[2], r[2];                                                 \
        memcpy(&re[0], t, sizeof(T));                                         \
        memcpy(&im[0], t + sizeof(T), sizeof(T));                             \
        memcpy(&re[1], o, sizeof(T));                                         \
        memcpy(&im[1], o + sizeof(T), sizeof(T));                             \
        r[0] = op == ACC_SUM ? re[0] + re[1] : re[0] * re[1] - im[0] * im[1]; \
        r[1] = op == ACC_SUM ? im[0] + im[1] : re[0] * im[1] + im[0] * re[1]; \
        memcpy(t, &r[0], BYTES);                                              \
        memcpy(t + sizeof(T), &r[1], BYTES);                                  \
    } while (0)

/* A real, or the two of a complex number, of 16 bits, computed as float. */
static void ref_half(enum acc_op op, bool real, unsigned char *t, const unsigned char *o)
{
    const float a = get_half(t), b = real ? 0 : get_half(t + 2), c = get_half(o),
                d = real ? 0 : get_half(o + 2);

    if (op == ACC_MIN || op == ACC_MAX) {
        put_half(t, (op == ACC_MIN ? c < a : c > a) ? c : a);
    } else {
        put_half(t, op == ACC_SUM ? a + c : real ? a * c : a * c - b * d);
        if (!real)
            put_half(t + 2, op == ACC_SUM ? b + d : a * d + b * c);
    }
}

static long double pair_number(const unsigned char *p, char kind, size_t size)
{
    if (kind == 'i')
        return (long double)(int64_t)get_int(p, size, true);
    if (kind == 'f') {
        float f;
        memcpy(&f, p, sizeof(f));
        return f;
    }
    if (kind == 'd') {
        double d;
        memcpy(&d, p, sizeof(d));
        return d;
    }
    long double x;
    memcpy(&x, p, sizeof(x));
    return x;
}

static void ref_pair(enum acc_op op, enum acc_type type, unsigned char *t, const unsigned char *o)
{
    struct pair_layout p = layout_of(type);
    char loc_kind = type == ACC_PAIR_F32_F32 ? 'f' : type == ACC_PAIR_F64_F64 ? 'd' : 'i';
    long double tv = pair_number(t, p.value, p.value_size),
                ov = pair_number(o, p.value, p.value_size);
    long double tl = pair_number(t + p.loc_offset, loc_kind, p.loc_size);
    long double ol = pair_number(o + p.loc_offset, loc_kind, p.loc_size);
    bool take =
        op == ACC_REPLACE || (op == ACC_MINLOC ? ov < tv : ov > tv) || (ov == tv && ol < tl);

    if (take) {
        memcpy(t, o, p.value == 'x' ? LDOUBLE_BYTES : p.value_size);
        memcpy(t + p.loc_offset, o + p.loc_offset, p.loc_size);
    }
}

void ref_element(enum acc_op op, enum acc_type type, unsigned char *t, const unsigned char *o)
{
    size_t size = acc_extent(type);
    char cat = category(type);

    if (op == ACC_NO_OP)
        return;
    if (cat == 'p') {
        ref_pair(op, type, t, o);
    } else if (op == ACC_REPLACE) {
        memcpy(t, o, size);
    } else if (cat == 'i' || cat == 'l' || cat == 'b') {
        bool is_signed = cat == 'i' && (type - ACC_I8) % 2 == 0;
        __int128 r = int_op(op, get_int(t, size, is_signed), get_int(o, size, is_signed));
        memcpy(t, &r, size);
    } else if (type == ACC_F16 || type == ACC_C16) {
        ref_half(op, type == ACC_F16, t, o);
    } else if (type == ACC_F32) {
        REAL_REF(float);
    } else if (type == ACC_F64) {
        REAL_REF(double);
    } else if (type == ACC_F80) {
        REAL_REF(long double);
    } else if (type == ACC_F128) {
        REAL_REF(real16);
    } else if (type == ACC_C32) {
        COMPLEX_REF(float, 4);
    } else if (type == ACC_C64) {
        COMPLEX_REF(double, 8);
    } else if (type == ACC_C80) {
        COMPLEX_REF(long double, LDOUBLE_BYTES);
    } else {
        assert_int_equal(type, ACC_C128);
        COMPLEX_REF(real16, 16);
    }
}

#define PUT_REAL(T, COUNT)                                    \
    for (int k = 0; k < (COUNT); k++) {                       \
        T x = (T)((int)(random_bits() % 4001) - 2000) / (T)7; \
        memcpy(p + k * sizeof(T), &x, sizeof(T));             \
    }

static void put_number(unsigned char *p, char kind, size_t size)
{
    int small = (int)(random_bits() % 7) - 3; /* ties must be frequent */
    int64_t i = small;
    float f = (float)small;
    double d = small;
    long double x = small;
    const void *from = &x;

    if (kind != 'x')
        from = kind == 'i' ? (void *)&i : kind == 'f' ? (void *)&f : (void *)&d;
    memcpy(p, from, kind == 'x' ? LDOUBLE_BYTES : size);
}

void put_random(enum acc_type type, unsigned char *p)
{
    size_t size = acc_extent(type);
    uint64_t bits = random_bits();

    if (category(type) == 'p') {
        struct pair_layout l = layout_of(type);
        char loc_kind = type == ACC_PAIR_F32_F32 ? 'f' : type == ACC_PAIR_F64_F64 ? 'd' : 'i';
        put_number(p, l.value, l.value_size);
        put_number(p + l.loc_offset, loc_kind, l.loc_size);
    } else if (type == ACC_F16 || type == ACC_C16) {
        for (size_t at = 0; at < size; at += 2)
            put_half(p + at, (float)((int)(random_bits() % 4001) - 2000) / 7);
    } else if (type == ACC_F32 || type == ACC_C32) {
        PUT_REAL(float, type == ACC_F32 ? 1 : 2);
    } else if (type == ACC_F64 || type == ACC_C64) {
        PUT_REAL(double, type == ACC_F64 ? 1 : 2);
    } else if (type == ACC_F80 || type == ACC_C80) {
        PUT_REAL(long double, type == ACC_F80 ? 1 : 2);
    } else if (type == ACC_F128 || type == ACC_C128) {
        PUT_REAL(real16, type == ACC_F128 ? 1 : 2);
    } else {
        if (random_bits() % 4 == 0)
            bits = random_bits() % 2;
        for (size_t at = 0; at < size; at += sizeof bits)
            memcpy(p + at, &bits, size - at < sizeof bits ? size - at : sizeof bits);
    }
}
