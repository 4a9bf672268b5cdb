/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mtcomm.h - what the communication and synchronization tests share beyond mtest.h.
 *
 * Epochs of every kind behind two calls, a barrier made of the window's own
 * fences (host barriers cost milliseconds where ranks outnumber cores), byte
 * patterns that depend on a tag and the position, and groups from rank lists.
 * Every call here that is collective says so.
 */
#ifndef MRMA_TEST_MTCOMM_H
#define MRMA_TEST_MTCOMM_H

#include "mtest.h"

enum mt_epoch {
    MT_EP_FENCE,
    MT_EP_PSCW,
    MT_EP_LOCK, /* exclusive */
    MT_EP_LOCK_SHARED,
    MT_EP_LOCK_ALL,
    MT_EPOCHS
};
#define MT_FOR_EPOCHS(ep) for (enum mt_epoch ep = 0; ep < MT_EPOCHS; ep++)
const char *mt_epoch_name(enum mt_epoch ep);

/* Collective over the window: open an epoch in which this rank accesses target
 * and origin accesses this rank (a permutation of the ranks; self is fine). */
void mt_epoch_begin(const struct mt_win *w, enum mt_epoch ep, int target, int origin);
/* Collective: close it. When it returns the accesses of all ranks are complete
 * everywhere and every rank may read and write its own memory. */
void mt_epoch_end(const struct mt_win *w, enum mt_epoch ep, int target);

/* Collective: a barrier that also makes memory consistent: two fences. The second
 * ends a possible epoch, so that it waits for all (MPI 4.1, 12.5.1); between them
 * nothing is accessed, so that passive epochs before and after are legal. */
void mt_sync(const struct mt_win *w);

/* Group of n ranks of the window's group; the caller frees it. */
MPI_Group mt_group(const struct mt_win *w, int n, const int *ranks);
MPI_Group mt_group_one(const struct mt_win *w, int rank);

/* Byte i of the pattern of a tag. */
static inline uint8_t mt_pat(uint32_t tag, size_t i)
{
    uint32_t x = (uint32_t)i * 2654435761u ^ tag * 2246822519u;
    return (uint8_t)(x >> 24 ^ x >> 13);
}
void mt_fill(void *buf, size_t n, uint32_t tag);
bool mt_check_fill(const char *file, int line, const void *buf, size_t n, uint32_t tag);
#define CHECK_FILL(buf, n, tag) mt_check_fill(__FILE__, __LINE__, buf, n, tag)

/* buf equals expected; else a failed check naming the first difference. */
bool mt_check_equal(const char *file, int line, const void *buf, const void *expected, size_t n);
#define CHECK_EQUAL(buf, expected, n) mt_check_equal(__FILE__, __LINE__, buf, expected, n)

/* malloc that cannot fail: a test has no use for going on without. */
void *mt_alloc(size_t bytes);

/* Collective: has the machine so many GiB to give? Else rank 0 has printed that `what` is left out.
 */
bool mt_enough_memory(const char *what, long gib);

/* Collective: a window all of which is rank 1's, of private memory where the kernel-assisted path
 * is forced, which is for such memory, and of MPI_Win_allocate elsewhere. It returns errors. *mem:
 * rank 1's part. */
bool mt_make_second_ranks(MPI_Aint bytes, unsigned char **mem, MPI_Win *win);
void mt_free_second_ranks(unsigned char *mem, MPI_Win *win);

double mt_now(void); /* seconds, monotonic, no MPI call */

/* A positive number from the environment, else the given one. */
long mt_env(const char *name, long otherwise);

/* How often a program repeats what it does at random: MTEST_ROUNDS, or in the full list
 * (MTEST_FULL) so many times, and in the short one a third of it, at least once. */
long mt_rounds(long full);

#endif
