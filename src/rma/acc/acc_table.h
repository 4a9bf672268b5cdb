/*
 * acc_table.h - the table of accumulate kernels, for acc*.c, and fast.h and direct.c, which
 * call a single element's.
 *
 * A cell is empty where MPI does not allow the operation on the type, so the
 * table is also what acc_allowed answers from. ACC_NO_OP has no kernels: it is
 * allowed everywhere and does nothing.
 */
#ifndef MRMA_RMA_ACC_ACC_TABLE_H
#define MRMA_RMA_ACC_ACC_TABLE_H

#include <stddef.h>

#include "rma/acc/acc.h"

struct acc_kernel {
    void (*one)(void *target, const void *origin); /* a single element */
    void (*many[2])(void *target, const void *origin,
                    size_t n); /* n of them, vectorised: [cpu_wide()] */
    void (*apart)(void *target, ptrdiff_t stride, const void *origin,
                  size_t n); /* stride bytes apart */
};

extern const struct acc_kernel acc_kernels[ACC_OP_LAST][ACC_TYPE_LAST];

/* IEEE binary128 (gfortran's REAL(16)); the compiler's name for it differs
 * between machines, its machine mode does not. */
typedef float acc_f128 __attribute__((mode(TF)));

#endif
