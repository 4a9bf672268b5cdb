/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomics.c - what a card does to memory by itself, for each operation and datatype.
 *
 * Plain loads and stores: cards are atomic among their own operations, which the domain's lock
 * keeps apart here, and not towards processors.
 *
 * No state. Neighbours: target.c, domain.c, which tells users what there is.
 */
#include <string.h>

#include "test/fabric/objects.h"

size_t atomics_size(enum fi_datatype datatype)
{
    switch (datatype) {
    case FI_INT8:
    case FI_UINT8:
        return 1;
    case FI_INT16:
    case FI_UINT16:
        return 2;
    case FI_INT32:
    case FI_UINT32:
    case FI_FLOAT:
        return 4;
    case FI_INT64:
    case FI_UINT64:
    case FI_DOUBLE:
        return 8;
    default:
        return 0;
    }
}

/* What is at x becomes what the operation makes of it and y; c is compared with. */
#define ARITHMETIC(op, x, y)     \
    case FI_MIN:                 \
        x = (y) < (x) ? (y) : x; \
        break;                   \
    case FI_MAX:                 \
        x = (y) > (x) ? (y) : x; \
        break;                   \
    case FI_SUM:                 \
        x += (y);                \
        break;                   \
    case FI_PROD:                \
        x *= (y);                \
        break;                   \
    case FI_ATOMIC_WRITE:        \
        x = (y);                 \
        break

#define BITS(op, x, y) \
    case FI_BOR:       \
        x |= (y);      \
        break;         \
    case FI_BAND:      \
        x &= (y);      \
        break;         \
    case FI_BXOR:      \
        x ^= (y);      \
        break;         \
        LOGICAL(op, x, y)

#define LOGICAL(op, x, y) \
    case FI_LOR:          \
        x = (x) || (y);   \
        break;            \
    case FI_LAND:         \
        x = (x) && (y);   \
        break;            \
    case FI_LXOR:         \
        x = !(x) != !(y); \
        break

#define KERNEL(name, type, more)                                                     \
    static void name(enum fi_op op, void *to, const void *from, const void *compare) \
    {                                                                                \
        type x, y = 0, c = 0;                                                        \
        memcpy(&x, to, sizeof x);                                                    \
        memcpy(&y, from, sizeof y);                                                  \
        if (compare)                                                                 \
            memcpy(&c, compare, sizeof c);                                           \
        switch ((int)op) {                                                           \
            ARITHMETIC(op, x, y);                                                    \
            more(op, x, y);                                                          \
        case FI_CSWAP:                                                               \
            x = x == c ? y : x;                                                      \
            break;                                                                   \
        default:                                                                     \
            break; /* FI_ATOMIC_READ */                                              \
        }                                                                            \
        memcpy(to, &x, sizeof x);                                                    \
    }

#define NO_BITS(op, x, y) \
    case FI_BOR:          \
        break

KERNEL(on_int8, int8_t, BITS)
KERNEL(on_uint8, uint8_t, BITS)
KERNEL(on_int16, int16_t, BITS)
KERNEL(on_uint16, uint16_t, BITS)
KERNEL(on_int32, int32_t, BITS)
KERNEL(on_uint32, uint32_t, BITS)
KERNEL(on_int64, int64_t, BITS)
KERNEL(on_uint64, uint64_t, BITS)
KERNEL(on_float, float, NO_BITS)
KERNEL(on_double, double, NO_BITS)

static void (*const kernels[])(enum fi_op op, void *to, const void *from, const void *compare) = {
    [FI_INT8] = on_int8,   [FI_UINT8] = on_uint8,   [FI_INT16] = on_int16, [FI_UINT16] = on_uint16,
    [FI_INT32] = on_int32, [FI_UINT32] = on_uint32, [FI_INT64] = on_int64, [FI_UINT64] = on_uint64,
    [FI_FLOAT] = on_float, [FI_DOUBLE] = on_double,
};

static bool is_there(enum fi_op op, enum fi_datatype datatype)
{
    const bool real = datatype == FI_FLOAT || datatype == FI_DOUBLE;
    switch ((int)op) {
    case FI_MIN:
    case FI_MAX:
    case FI_SUM:
    case FI_PROD:
    case FI_ATOMIC_READ:
    case FI_ATOMIC_WRITE:
    case FI_CSWAP:
        return true;
    case FI_BOR:
    case FI_BAND:
    case FI_BXOR:
    case FI_LOR:
    case FI_LAND:
    case FI_LXOR:
        return !real;
    default:
        return false;
    }
}

static bool is_form(enum op_kind kind, enum fi_op op)
{
    return kind == OP_SWAP     ? op == FI_CSWAP
           : kind == OP_ATOMIC ? op != FI_CSWAP && op != FI_ATOMIC_READ
                               : op != FI_CSWAP;
}

size_t atomics_most(enum op_kind kind, enum fi_op op, enum fi_datatype datatype)
{
    const size_t size = atomics_size(datatype);
    const bool word = datatype == FI_INT64 || datatype == FI_UINT64;
    if (!size || !is_there(op, datatype) || !is_form(kind, op))
        return 0;
    switch (rules->atomics) {
    case ATOMICS_NONE:
        return 0;
    case ATOMICS_VERBS:
        return word && (kind == OP_SWAP || (kind == OP_FETCH && op == FI_SUM));
    case ATOMICS_CXI:
        return op != FI_PROD;
    default:
        return ATOMIC_BYTES / size;
    }
}

bool atomics_apply(enum fi_op op, enum fi_datatype datatype, void *to, const void *from,
                   const void *compare, void *old, size_t n)
{
    const size_t size = atomics_size(datatype);
    if (!size || !is_there(op, datatype))
        return false;
    for (size_t i = 0; i < n; i++) {
        char *at = (char *)to + i * size;
        if (old)
            memcpy((char *)old + i * size, at, size);
        kernels[datatype](op, at, (const char *)from + i * size,
                          compare ? (const char *)compare + i * size : NULL);
    }
    return true;
}
