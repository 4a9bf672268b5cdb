/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * siphash.h - SipHash-2-4 (Aumasson and Bernstein, 2012): a short keyed hash. Without the 128-bit
 * key nobody can compute it or find a collision.
 */
#ifndef MRMA_BASE_SIPHASH_H
#define MRMA_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* siphash returns the hash of len bytes at data under the 16 bytes of key; the same on every
 * machine. */
uint64_t siphash(const unsigned char key[16], const void *data, size_t len);

#endif
