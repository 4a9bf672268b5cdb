/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change.c - see change.h.
 *
 *   fuzzer                        changer
 *   packet = NULL (seq_cst)       busy = true (seq_cst)
 *   busy? wait                    packet is NULL? leave it alone
 *
 * One of the two sees the other's store. The changes themselves race with the reader on purpose.
 */
#include "change.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "fail.h"

enum { CHANGES = 16, PAUSES = 16, IDLE = 4096 };

static struct {
    unsigned char *_Atomic packet;
    _Atomic size_t len;
    _Atomic bool busy;
    bool started;
} changer;

bool change_wanted(void)
{
    return getenv("FUZZ_CHANGE") != NULL;
}

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void change_one(unsigned char *packet, size_t len, uint64_t *seed)
{
    _Atomic unsigned char *at = (_Atomic unsigned char *)packet + next(seed) % len;
    const unsigned char was = atomic_load_explicit(at, memory_order_relaxed);
    const uint64_t how = next(seed);
    const unsigned char other = how & 1   ? (unsigned char)(how >> 8)
                                : how & 2 ? 0xff
                                          : was ^ (unsigned char)(1u << (how >> 8 & 7));
    atomic_store_explicit(at, other, memory_order_relaxed);
    for (uint64_t i = how >> 16 & (PAUSES - 1); i; i--)
        cpu_relax();
    atomic_store_explicit(at, was, memory_order_relaxed);
}

static void *changer_main(void *arg)
{
    uint64_t seed = 4711;
    (void)arg;
    for (unsigned idle = 0;; idle++) {
        atomic_store(&changer.busy, true);
        unsigned char *packet = atomic_load(&changer.packet);
        for (int i = 0; packet && i < CHANGES; i++)
            change_one(packet, atomic_load(&changer.len), &seed);
        atomic_store(&changer.busy, false);
        idle = packet ? 0 : idle;
        if (idle % IDLE == IDLE - 1)
            sched_yield();
    }
    return NULL;
}

void change_begin(unsigned char *packet, size_t len)
{
    pthread_t thread;
    if (!changer.started)
        FUZZ_CHECK(!pthread_create(&thread, NULL, changer_main, NULL) && !pthread_detach(thread));
    changer.started = true;
    atomic_store(&changer.len, len);
    atomic_store(&changer.packet, len ? packet : NULL);
}

void change_end(void)
{
    atomic_store(&changer.packet, NULL);
    while (atomic_load(&changer.busy))
        cpu_relax();
}
