/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc.c - the names and sizes of element types and operations, which of them go together, and the
 * entries to the kernels of acc_table.c.
 *
 * Stateless and lock-free: the caller holds whatever makes an accumulate atomic. A single element
 * has a kernel of its own, since fetch-and-op and small accumulates are the common case and a
 * vectorised loop has a long preamble.
 *
 * Neighbours: acc_table.c, the kernels; src/rma, which makes accumulates atomic.
 */
#include "acc/acc.h"

#include <assert.h>
#include <string.h>
#include <wchar.h>

#include "base/cpu.h"

/* How many bytes acc_fetch copies at once: so many that the C library still copies them by vectors.
 * For longer copies it may use a string instruction, which is slow to start. The number is a
 * multiple of every element's size. */
enum { FETCH_AT_ONCE = 2048 };

#define PAIR(V, L)  \
    struct {        \
        V value;    \
        L location; \
    }
#define PAIR_SIZE(V, L) \
    sizeof(PAIR(V, L)), sizeof(PAIR(V, L)) - offsetof(PAIR(V, L), location) - sizeof(L)

static const struct {
    const char *name;
    size_t extent;
    size_t pad; /* at its end */
} types[ACC_TYPE_LAST] = {
    [ACC_NONE] = {"none", 0},
    [ACC_I8] = {"int8", 1},
    [ACC_U8] = {"uint8", 1},
    [ACC_I16] = {"int16", 2},
    [ACC_U16] = {"uint16", 2},
    [ACC_I32] = {"int32", 4},
    [ACC_U32] = {"uint32", 4},
    [ACC_I64] = {"int64", 8},
    [ACC_U64] = {"uint64", 8},
    [ACC_I128] = {"int128", 16},
    [ACC_F16] = {"real2", 2},
    [ACC_F32] = {"float", sizeof(float)},
    [ACC_F64] = {"double", sizeof(double)},
    [ACC_F80] = {"long double", sizeof(long double)},
    [ACC_F128] = {"real16", sizeof(acc_f128)},
    [ACC_C16] = {"complex4", 4},
    [ACC_C32] = {"float complex", 2 * sizeof(float)},
    [ACC_C64] = {"double complex", 2 * sizeof(double)},
    [ACC_C80] = {"long double complex", 2 * sizeof(long double)},
    [ACC_C128] = {"complex32", 2 * sizeof(acc_f128)},
    [ACC_BOOL] = {"bool", 1},
    [ACC_LOGICAL8] = {"logical1", 1},
    [ACC_LOGICAL16] = {"logical2", 2},
    [ACC_LOGICAL32] = {"logical4", 4},
    [ACC_LOGICAL64] = {"logical8", 8},
    [ACC_LOGICAL128] = {"logical16", 16},
    [ACC_BYTE] = {"byte", 1},
    [ACC_CHAR] = {"char", 1},
    [ACC_WCHAR] = {"wchar", sizeof(wchar_t)},
    [ACC_PAIR_F32_I32] = {"(float, int32)", PAIR_SIZE(float, int32_t)},
    [ACC_PAIR_F64_I32] = {"(double, int32)", PAIR_SIZE(double, int32_t)},
    [ACC_PAIR_I64_I32] = {"(int64, int32)", PAIR_SIZE(int64_t, int32_t)},
    [ACC_PAIR_I16_I32] = {"(int16, int32)", PAIR_SIZE(int16_t, int32_t)},
    [ACC_PAIR_I32_I32] = {"(int32, int32)", PAIR_SIZE(int32_t, int32_t)},
    [ACC_PAIR_F80_I32] = {"(long double, int32)", PAIR_SIZE(long double, int32_t)},
    [ACC_PAIR_F32_F32] = {"(float, float)", PAIR_SIZE(float, float)},
    [ACC_PAIR_F64_F64] = {"(double, double)", PAIR_SIZE(double, double)},
    [ACC_PAIR_I64_I64] = {"(int64, int64)", PAIR_SIZE(int64_t, int64_t)},
};

static const char *const op_names[ACC_OP_LAST] = {
    [ACC_OP_NONE] = "none",  [ACC_SUM] = "SUM",         [ACC_PROD] = "PROD",
    [ACC_MIN] = "MIN",       [ACC_MAX] = "MAX",         [ACC_LAND] = "LAND",
    [ACC_LOR] = "LOR",       [ACC_LXOR] = "LXOR",       [ACC_BAND] = "BAND",
    [ACC_BOR] = "BOR",       [ACC_BXOR] = "BXOR",       [ACC_MINLOC] = "MINLOC",
    [ACC_MAXLOC] = "MAXLOC", [ACC_REPLACE] = "REPLACE", [ACC_NO_OP] = "NO_OP",
};

static bool type_valid(enum acc_type type)
{
    return (unsigned)type < ACC_TYPE_LAST;
}

size_t acc_extent(enum acc_type type)
{
    return type_valid(type) ? types[type].extent : 0;
}

size_t acc_pad(enum acc_type type)
{
    return type_valid(type) ? types[type].pad : 0;
}

const char *acc_type_name(enum acc_type type)
{
    return type_valid(type) ? types[type].name : "invalid";
}

const char *acc_op_name(enum acc_op op)
{
    return (unsigned)op < ACC_OP_LAST ? op_names[op] : "invalid";
}

bool acc_allowed(enum acc_op op, enum acc_type type)
{
    if (!type_valid(type) || type == ACC_NONE || (unsigned)op >= ACC_OP_LAST)
        return false;
    return op == ACC_NO_OP || acc_kernels[op][type].one != NULL;
}

void acc_apply(enum acc_op op, enum acc_type type, void *target, const void *origin, size_t n)
{
    assert(acc_allowed(op, type));
    if (op == ACC_NO_OP || n == 0)
        return;
    const struct acc_kernel *kernel = &acc_kernels[op][type];
    if (n == 1)
        kernel->one(target, origin);
    else
        kernel->many[cpu_wide()](target, origin, n);
}

void acc_fetch(enum acc_op op, enum acc_type type, void *target, const void *origin, void *old,
               size_t n)
{
    const size_t unit = acc_extent(type), pad = acc_pad(type),
                 most = acc_count(FETCH_AT_ONCE, unit);
    for (size_t done = 0, now; done < n; done += now) {
        char *at = (char *)target + done * unit;
        now = n - done < most ? n - done : most;
        memcpy((char *)old + done * unit, at, now * unit - pad);
        if (op != ACC_NO_OP)
            acc_apply(op, type, at, (const char *)origin + done * unit, now);
    }
}

void acc_apply_strided(enum acc_op op, enum acc_type type, void *target, ptrdiff_t stride,
                       const void *origin, size_t n)
{
    assert(acc_allowed(op, type));
    if (op != ACC_NO_OP)
        acc_kernels[op][type].apart(target, stride, origin, n);
}
