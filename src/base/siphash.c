/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * siphash.c - SipHash-2-4 (siphash.h). It does two rounds for each word and four at the end; words
 * are little endian on every machine. No state, no locks.
 */
#include "base/siphash.h"

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotl(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t word(const unsigned char *p, size_t n)
{
    uint64_t w = 0;
    for (size_t i = 0; i < n; i++)
        w |= (uint64_t)p[i] << (8 * i);
    return w;
}

static void rounds(struct sip *s, int n)
{
    while (n--) {
        s->v0 += s->v1;
        s->v2 += s->v3;
        s->v1 = rotl(s->v1, 13) ^ s->v0;
        s->v3 = rotl(s->v3, 16) ^ s->v2;
        s->v0 = rotl(s->v0, 32);
        s->v2 += s->v1;
        s->v0 += s->v3;
        s->v1 = rotl(s->v1, 17) ^ s->v2;
        s->v3 = rotl(s->v3, 21) ^ s->v0;
        s->v2 = rotl(s->v2, 32);
    }
}

static void absorb(struct sip *s, uint64_t w)
{
    s->v3 ^= w;
    rounds(s, 2);
    s->v0 ^= w;
}

uint64_t siphash(const unsigned char key[16], const void *data, size_t len)
{
    const uint64_t k0 = word(key, 8), k1 = word(key + 8, 8);
    const unsigned char *p = data;
    struct sip s = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
                    k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
    size_t left = len;
    for (; left >= 8; left -= 8, p += 8)
        absorb(&s, word(p, 8));
    absorb(&s, word(p, left) | (uint64_t)len << 56);
    s.v2 ^= 0xff;
    rounds(&s, 4);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
