/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stripe.h - chooses the lock that makes an accumulate atomic.
 *
 * Every process has RMA_STRIPES locks in memory that its node peers share; the owner's own address
 * of an element chooses one. Once a window has left the mode in which single instructions do
 * (acc_atomic.h), all accumulates on an element through it, from whichever process and by whichever
 * path, hold that lock, which is what makes them atomic against each other (MPI 4.1, 12.7.1). An
 * element that crosses a granule belongs to the granule of its first byte.
 */
#ifndef MRMA_ACC_STRIPE_H
#define MRMA_ACC_STRIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "sys/fmutex.h"

enum { RMA_STRIPES = 512, RMA_STRIPE_SHIFT = 13 };

/* The locks of one process, and the word by which this process says that it holds one of them. */
struct stripes {
    struct fmutex *at; /* RMA_STRIPES */
    uint64_t self;     /* fmutex_self */
};

/* stripe_index returns the number of the lock for an element at the owner's address vaddr. */
static inline unsigned stripe_index(uint64_t vaddr)
{
    return (unsigned)(vaddr >> RMA_STRIPE_SHIFT) & (RMA_STRIPES - 1);
}

/* stripe_run returns how many bytes of whole elements of unit bytes, from vaddr on and at most len,
 * start in vaddr's granule. */
static inline size_t stripe_run(uint64_t vaddr, size_t len, size_t unit)
{
    const uint64_t end = ((vaddr >> RMA_STRIPE_SHIFT) + 1) << RMA_STRIPE_SHIFT;
    const size_t room = (size_t)(end - vaddr);
    if (len <= room)
        return len;
    return (room + unit - 1) / unit * unit;
}

/* stripe_one returns whether the len bytes from vaddr on end in its granule. */
static inline bool stripe_one(uint64_t vaddr, size_t len)
{
    const uint64_t granule = (uint64_t)1 << RMA_STRIPE_SHIFT;
    return len <= granule - (vaddr & (granule - 1));
}

/* stripe_count returns how many of n elements, n > 0, that lie stride bytes apart start in the
 * granule of the first, which is at vaddr. */
static inline size_t stripe_count(uint64_t vaddr, ptrdiff_t stride, size_t n)
{
    const uint64_t in = vaddr & (((uint64_t)1 << RMA_STRIPE_SHIFT) - 1);
    const uint64_t left = stride > 0 ? ((uint64_t)1 << RMA_STRIPE_SHIFT) - 1 - in : in;
    const uint64_t step = stride > 0 ? (uint64_t)stride : -(uint64_t)stride;
    return !step || left / step >= n ? n : (size_t)(left / step) + 1;
}

/* Holds at most one stripe, which is kept from element to element as long as these need the
 * same. */
struct stripe_hold {
    struct fmutex *held; /* NULL: none */
};

/* stripe_hold_drop unlocks the stripe that is held, if one is. */
static inline void stripe_hold_drop(struct stripe_hold *hold)
{
    if (hold->held)
        fmutex_unlock(hold->held);
    hold->held = NULL;
}

/* stripe_hold_take makes sure that the stripe of that index is held, and no other. May wait for its
 * holder. */
static inline void stripe_hold_take(struct stripe_hold *hold, struct stripes stripes,
                                    unsigned index)
{
    struct fmutex *stripe = &stripes.at[index];
    if (hold->held == stripe)
        return;
    stripe_hold_drop(hold);
    fmutex_lock(stripe, stripes.self);
    hold->held = stripe;
}

/* A set of stripes, locked in ascending order so that holders cannot wait for
 * each other in a circle. */
struct stripe_set {
    uint64_t word[RMA_STRIPES / 64];
};

/* stripe_set_add adds a stripe to the set. */
static inline void stripe_set_add(struct stripe_set *set, unsigned stripe)
{
    set->word[stripe / 64] |= UINT64_C(1) << (stripe % 64);
}

/* stripe_set_lock locks all stripes of the set, or unlocks them if lock is false. Locking may wait;
 * the caller holds no stripe then. */
static inline void stripe_set_lock(struct stripes stripes, const struct stripe_set *set, bool lock)
{
    for (unsigned i = 0; i < RMA_STRIPES / 64; i++)
        for (uint64_t bits = set->word[i]; bits; bits &= bits - 1) {
            struct fmutex *mx = &stripes.at[i * 64 + (unsigned)__builtin_ctzll(bits)];
            if (lock)
                fmutex_lock(mx, stripes.self);
            else
                fmutex_unlock(mx);
        }
}

#endif
