/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pkt_helper.h - what the tests of the packet path share: short forms of the
 * operations on windows of bytes, counters, and a rest in which a process makes
 * no call of the library where an agent serves it, and only polls where not.
 *
 * Windows here have displacement unit 1. Bodies run in the fabric's threads, so
 * the short forms use FABRIC_CHECK. Some programs need only some of them.
 */
#ifndef MRMA_TEST_PKT_HELPER_H
#define MRMA_TEST_PKT_HELPER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "../sim/fabric.h"

#define UNUSED_OK __attribute__((unused))

static struct dtype pkt_byte UNUSED_OK, pkt_i64 UNUSED_OK, pkt_i32 UNUSED_OK;
static _Atomic uint64_t pkt_arrived UNUSED_OK;

static inline void pkt_types_init(void)
{
    pkt_byte = dtype_basic(ACC_U8);
    pkt_i64 = dtype_basic(ACC_I64);
    pkt_i32 = dtype_basic(ACC_I32);
}

/* All processes meet. With an agent nobody makes progress meanwhile. */
static inline void rest(struct fabric_proc *p)
{
    const uint64_t round = (uint64_t)(uintptr_t)p->user + 1, n = (uint64_t)p->fabric->opts.nproc;
    p->user = (void *)(uintptr_t)round;
    if (p->rma.progress.agent) {
        fabric_barrier(p);
        return;
    }
    atomic_fetch_add(&pkt_arrived, 1);
    while (atomic_load(&pkt_arrived) < round * n) {
        fabric_progress(p);
        sched_yield();
    }
}

static inline struct rma_op byte_op(const void *out, void *in, int target, int64_t disp, size_t n)
{
    return (struct rma_op){.oaddr = out,
                           .ocount = n,
                           .otype = &pkt_byte,
                           .raddr = in,
                           .rcount = n,
                           .rtype = &pkt_byte,
                           .target = target,
                           .disp = disp,
                           .tcount = n,
                           .ttype = &pkt_byte};
}

static inline struct rma_op i64_op(const int64_t *out, int64_t *in, int target, int64_t disp,
                                   size_t n, enum acc_op op)
{
    return (struct rma_op){.oaddr = out,
                           .ocount = n,
                           .otype = &pkt_i64,
                           .raddr = in,
                           .rcount = n,
                           .rtype = &pkt_i64,
                           .target = target,
                           .disp = disp,
                           .tcount = n,
                           .ttype = &pkt_i64,
                           .op = op};
}

static inline void put(struct win *w, int target, int64_t disp, const void *from, size_t n)
{
    const struct rma_op op = byte_op(from, NULL, target, disp, n);
    FABRIC_CHECK(rma_put(w, &op) == MRMA_SUCCESS);
}

static inline void get(struct win *w, int target, int64_t disp, void *to, size_t n)
{
    const struct rma_op op = byte_op(NULL, to, target, disp, n);
    FABRIC_CHECK(rma_get(w, &op) == MRMA_SUCCESS);
}

static inline void add(struct win *w, int target, int64_t disp, const int64_t *from, size_t n)
{
    const struct rma_op op = i64_op(from, NULL, target, disp, n, ACC_SUM);
    FABRIC_CHECK(rma_accumulate(w, &op) == MRMA_SUCCESS);
}

static inline void fetch_add(struct win *w, int target, int64_t disp, const int64_t *from,
                             int64_t *old, size_t n)
{
    const struct rma_op op = i64_op(from, old, target, disp, n, ACC_SUM);
    FABRIC_CHECK(rma_get_accumulate(w, &op) == MRMA_SUCCESS);
}

static inline void cas(struct win *w, int target, int64_t disp, const int64_t *compare,
                       const int64_t *value, int64_t *old)
{
    struct rma_op op = i64_op(value, old, target, disp, 1, ACC_OP_NONE);
    op.caddr = compare;
    FABRIC_CHECK(rma_compare_and_swap(w, &op) == MRMA_SUCCESS);
}

/* A copy of a process's counters. */
static inline struct ch3_stats counters(struct fabric_proc *p)
{
    rma_enter(&p->rma);
    const struct ch3_stats s = p->ch3.stats;
    rma_leave(&p->rma);
    return s;
}

static inline uint64_t refused(struct fabric_proc *p)
{
    rma_enter(&p->rma);
    const uint64_t n = p->rma.stats.refused + p->ch3.stats.bad;
    rma_leave(&p->rma);
    return n;
}

static inline uint64_t parked(struct fabric_proc *p)
{
    rma_enter(&p->rma);
    const uint64_t n = p->rma.stats.parked;
    rma_leave(&p->rma);
    return n;
}

#define OK(call) FABRIC_CHECK((call) == MRMA_SUCCESS)

#endif
