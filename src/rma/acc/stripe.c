/*
 * stripe.c - locking a set of stripes. See stripe.h.
 */
#include "rma/acc/stripe.h"

void stripe_set_lock(struct stripes stripes, const struct stripe_set *set)
{
    for (unsigned i = 0; i < RMA_STRIPES / 64; i++)
        for (uint64_t bits = set->word[i]; bits; bits &= bits - 1)
            fmutex_lock(&stripes.at[i * 64 + (unsigned)__builtin_ctzll(bits)], stripes.self);
}

void stripe_set_unlock(struct stripes stripes, const struct stripe_set *set)
{
    for (unsigned i = 0; i < RMA_STRIPES / 64; i++)
        for (uint64_t bits = set->word[i]; bits; bits &= bits - 1)
            fmutex_unlock(&stripes.at[i * 64 + (unsigned)__builtin_ctzll(bits)]);
}
