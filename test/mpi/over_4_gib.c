/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * over_4_gib.c - more than 4 GiB in one window and in one call: lengths and displacements that 32
 * bits do not hold.
 *
 * A put, an accumulate and a get of a little more than 4 GiB from rank 0 to rank 1, in words of 8
 * bytes, so that an int counts them. Words at both ends, on both sides of 2 and of 4 GiB and at
 * random places are marked and checked, with their neighbours. Then one operation of each kind at a
 * displacement behind 4 GiB. Needs 8.5 GiB of memory; with less it says so.
 */
#include "mtcomm.h"

#include <sys/mman.h>

enum { SAMPLES = 4000 };
static const MPI_Aint FOUR_GIB = (MPI_Aint)1 << 32;
static const int WORDS = (1 << 29) + (1 << 20); /* of 8 bytes: 8 MiB more than 4 GiB */

/* Both ends, both sides of 2^31 and of 2^32 bytes, and random places. */
static int64_t word_place(int k, struct mt_rng *rng)
{
    const int64_t fixed[] = {0,       WORDS - 1,     (1 << 28) - 1, 1 << 28, (1 << 29) - 1,
                             1 << 29, (1 << 29) + 1, WORDS / 2};
    return k < 8 ? fixed[k] : (int64_t)mt_rng_below(rng, (uint64_t)WORDS);
}

/* Words that have no mark are 0: next to a mark, mostly. */
static void check_words(const int64_t *p, int factor, const char *what)
{
    struct mt_rng rng = mt_rng(7);
    int marked = 0;

    for (int k = 0; k < SAMPLES; k++) {
        int64_t i = word_place(k, &rng);
        if (!CHECK(p[i] == factor * (i + 5), "%s, word %ld: expected %ld, saw %ld", what, (long)i,
                   (long)(factor * (i + 5)), (long)p[i])) {
            return;
        }
        i = (i + 1) % WORDS;
        marked += p[i] != 0;
        CHECK(p[i] == 0 || p[i] == factor * (i + 5), "%s, beside: word %ld is %ld", what, (long)i,
              (long)p[i]);
    }
    CHECK(marked < 100, "%s: %d words beside marks are not 0", what, marked);
}

/* One of each kind at a displacement that needs more than 32 bits. */
static void small_behind(MPI_Win win, int64_t *mem)
{
    const MPI_Aint at = FOUR_GIB + 4096;
    int64_t value = 70, one = 1, old = -1, seen = -1;

    mt_section("small operations behind 4 GiB");
    if (mt_rank == 0) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
        MT_OK(MPI_Put(&value, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, win));
        MT_OK(MPI_Win_flush(1, win));
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, MPI_SUM, win));
        MT_OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 1, at, MPI_SUM, win));
        MT_OK(MPI_Win_flush(1, win));
        CHECK(old == 71, "fetch_and_op: expected 71, saw %ld", (long)old);
        value = 72, one = 100;
        MT_OK(MPI_Compare_and_swap(&one, &value, &old, MPI_INT64_T, 1, at, win));
        MT_OK(MPI_Win_flush(1, win));
        CHECK(old == 72, "compare_and_swap: expected 72, saw %ld", (long)old);
        MT_OK(MPI_Get(&seen, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, win));
        MT_OK(MPI_Win_unlock(1, win));
        CHECK(seen == 100, "get: expected 100, saw %ld", (long)seen);
    }
    MT_OK(MPI_Win_fence(0, win));
    CHECK(mt_rank == 0 || mem[at / 8] == 100, "expected 100, saw %ld", (long)mem[at / 8]);
}

/* Zeros; on large pages where the kernel has them, or the faults take most of the test's time. */
static int64_t *words_of(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (!CHECK(p != MAP_FAILED, "mmap of %zu bytes", bytes)) {
        return NULL;
    }
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static void over_4_gib(void)
{
    const MPI_Aint bytes = (MPI_Aint)WORDS * 8;
    struct mt_rng rng = mt_rng(7);
    unsigned char *mem = NULL;
    MPI_Win win = MPI_WIN_NULL;

    mt_section("a window of %ld bytes", (long)bytes);
    if (!mt_enough_memory("4 GiB in one call", 11) || !mt_make_second_ranks(bytes, &mem, &win)) {
        return;
    }
    int64_t *words = (int64_t *)(void *)mem, *buf = mt_rank == 0 ? words_of((size_t)bytes) : NULL;
    if (buf != NULL) {
        for (int k = 0; k < SAMPLES; k++) {
            const int64_t i = word_place(k, &rng);
            buf[i] = i + 5;
        }
    }
    mt_section("put of %ld bytes", (long)bytes);
    MT_OK(MPI_Win_fence(0, win));
    if (buf != NULL) {
        MT_OK(MPI_Put(buf, WORDS, MPI_INT64_T, 1, 0, WORDS, MPI_INT64_T, win));
    }
    MT_OK(MPI_Win_fence(0, win));
    if (mt_rank == 1) {
        check_words(words, 1, "put");
    }
    mt_section("accumulate of %ld bytes", (long)bytes);
    MT_OK(MPI_Win_fence(0, win));
    if (buf != NULL) {
        MT_OK(MPI_Accumulate(buf, WORDS, MPI_INT64_T, 1, 0, WORDS, MPI_INT64_T, MPI_SUM, win));
    }
    MT_OK(MPI_Win_fence(0, win));
    if (mt_rank == 1) {
        check_words(words, 2, "accumulate");
    }
    mt_section("get of %ld bytes", (long)bytes);
    MT_OK(MPI_Win_fence(0, win));
    if (buf != NULL) {
        MT_OK(MPI_Get(buf, WORDS, MPI_INT64_T, 1, 0, WORDS, MPI_INT64_T, win));
    }
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    if (buf != NULL) {
        check_words(buf, 2, "get");
    }
    if (buf != NULL) {
        munmap(buf, (size_t)bytes);
    }
    small_behind(win, words);
    mt_free_second_ranks(mem, &win);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    mt_timeout(110);
    if (CHECK(mt_size == 2, "2 processes expected, not %d", mt_size)) {
        over_4_gib();
    }
    return MT_FINISH();
}
