/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc_atomic_helper.h - what the tests of single instructions and of the short cut of accumulates
 * share: which types fit, elements of any bits, and any call on any type.
 */
#ifndef MRMA_TEST_ACC_ATOMIC_HELPER_H
#define MRMA_TEST_ACC_ATOMIC_HELPER_H

#include "acc/acc.h"
#include "../sim/fabric.h"

static const enum acc_type fitting[] = {
    ACC_I8,        ACC_U8,        ACC_I16,       ACC_U16,  ACC_I32,  ACC_U32,
    ACC_I64,       ACC_U64,       ACC_F32,       ACC_F64,  ACC_BOOL, ACC_LOGICAL8,
    ACC_LOGICAL16, ACC_LOGICAL32, ACC_LOGICAL64, ACC_BYTE, ACC_CHAR, ACC_WCHAR,
};
enum { NFITTING = sizeof fitting / sizeof fitting[0] };

/* Bits that are a number of the type whatever comes out of random. */
static inline void random_element(enum acc_type type, void *out, uint64_t *seed)
{
    const uint64_t bits = next_random(seed);
    const float f = (float)(int64_t)bits / 1e12f;
    const double d = (double)(int64_t)bits / 1e12;
    if (type == ACC_F32)
        memcpy(out, &f, sizeof f);
    else if (type == ACC_F64)
        memcpy(out, &d, sizeof d);
    else
        memcpy(out, &bits, acc_extent(type));
}

struct call {
    enum acc_op op;
    enum acc_type type;
    size_t n, disp;
    bool cas;
};

static int64_t values[64], results[64];

static inline int do_call(struct win *w, int target, const struct call *c)
{
    /* Outlives the call: a packet's request refers to it until the flush. */
    static struct dtype known[ACC_TYPE_LAST];
    struct dtype *type = &known[c->type];
    if (!type->size)
        *type = dtype_basic((uint8_t)c->type);
    const struct rma_op op = {.oaddr = values,
                              .ocount = c->n,
                              .otype = type,
                              .raddr = results,
                              .rcount = c->n,
                              .rtype = type,
                              .caddr = values + 1,
                              .target = target,
                              .disp = (int64_t)c->disp,
                              .tcount = c->n,
                              .ttype = type,
                              .op = c->op};
    return c->cas ? rma_compare_and_swap(w, &op) : rma_get_accumulate(w, &op);
}

#endif
