/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pscw.c - general active target synchronization (MPI 4.1, 12.5.2).
 *
 * Groups in any order, disjoint, overlapping and empty; ring, all-to-all and
 * master-worker; MPI_Win_test; MPI_MODE_NOCHECK with the post known to be first;
 * start before post; self in both groups; nested epochs of different windows;
 * many epochs with skewed ranks and large data.
 */
#include "mtcomm.h"

#define PART 64 /* bytes of the window that each origin owns */

static MPI_Group shuffled(const struct mt_win *w, int skip, struct mt_rng *rng)
{
    int ranks[64], n = 0;

    for (int i = 0; i < w->size && n < 64; i++) {
        if (i != skip) {
            ranks[n++] = i;
        }
    }
    for (int i = n - 1; i > 0; i--) {
        int j = (int)mt_rng_below(rng, (uint64_t)i + 1), r = ranks[i];
        ranks[i] = ranks[j];
        ranks[j] = r;
    }
    return mt_group(w, n, ranks);
}

static void put_to(const struct mt_win *w, int target, uint32_t tag, char *src)
{
    mt_fill(src, PART, tag);
    MT_OK(MPI_Put(src, PART, MPI_BYTE, target, mt_disp(w, target, w->rank * PART), PART, MPI_BYTE,
                  w->win));
}

static uint32_t tag_of(int from, int to, int epoch)
{
    return (uint32_t)(from * 64 + to + epoch * 4096);
}

/* Close the exposure epoch, by wait or by test until true. */
static void end_exposure(const struct mt_win *w, bool test)
{
    int flag = 0;

    if (!test) {
        MT_OK(MPI_Win_wait(w->win));
        return;
    }
    while (!flag) {
        if (!MT_OK(MPI_Win_test(w->win, &flag))) {
            return;
        }
    }
}

/* All with all, self included or not, groups in a random order each time. */
static void all_to_all(enum mt_kind kind, bool self)
{
    struct mt_win w;
    struct mt_rng rng = mt_rng((uint64_t)mt_rank + 5);
    char *src = mt_alloc((size_t)mt_size * PART);

    mt_section("all to all%s, %s", self ? " with self" : "", mt_kind_name(kind));
    if (mt_win_make(&w, kind, mt_size * PART, 1, MPI_COMM_WORLD)) {
        for (int epoch = 0; epoch < 40; epoch++) {
            MPI_Group to = shuffled(&w, self ? -1 : w.rank, &rng),
                      from = shuffled(&w, self ? -1 : w.rank, &rng);
            if (mt_rng_below(&rng, 15) == 0) {
                mt_compute(0.002);
            }
            MT_OK(MPI_Win_post(from, epoch % 2 ? MPI_MODE_NOSTORE : 0, w.win));
            MT_OK(MPI_Win_start(to, 0, w.win));
            MPI_Group_free(&to); /* the calls took what they need */
            MPI_Group_free(&from);
            for (int t = 0; t < w.size; t++) {
                if (self || t != w.rank) {
                    put_to(&w, t, tag_of(w.rank, t, epoch), src + t * PART);
                }
            }
            MT_OK(MPI_Win_complete(w.win));
            end_exposure(&w, epoch % 3 == 0);
            for (int o = 0; o < w.size; o++) {
                if (self || o != w.rank) {
                    CHECK_FILL(w.base + o * PART, PART, tag_of(o, w.rank, epoch));
                }
            }
        }
        mt_win_free(&w);
    }
    free(src);
}

/* A ring with no other synchronization: start may well come before the right one's post. */
static void ring(enum mt_kind kind, int epochs, int bytes)
{
    struct mt_win w;
    char *src = mt_alloc((size_t)bytes), *dst = mt_alloc((size_t)bytes);

    mt_section("ring of %d bytes, %s", bytes, mt_kind_name(kind));
    if (mt_win_make(&w, kind, 2 * (MPI_Aint)bytes, 1, MPI_COMM_WORLD)) {
        struct mt_rng rng = mt_rng((uint64_t)mt_rank + 17);
        int right = (w.rank + 1) % w.size, left = (w.rank - 1 + w.size) % w.size;
        MPI_Group to = mt_group_one(&w, right), from = mt_group_one(&w, left);
        for (int e = 0; e < epochs; e++) {
            if (mt_rng_below(&rng, 40) == 0) {
                mt_compute(0.001);
            }
            mt_fill(w.base + bytes, (size_t)bytes,
                    tag_of(w.rank, 0, e)); /* to be got by the left one */
            MT_OK(MPI_Win_post(from, 0, w.win));
            mt_fill(src, (size_t)bytes, tag_of(w.rank, right, e));
            MT_OK(MPI_Win_start(to, 0, w.win));
            MT_OK(MPI_Put(src, bytes, MPI_BYTE, right, mt_disp(&w, right, 0), bytes, MPI_BYTE,
                          w.win));
            MT_OK(MPI_Get(dst, bytes, MPI_BYTE, right, mt_disp(&w, right, bytes), bytes, MPI_BYTE,
                          w.win));
            MT_OK(MPI_Win_complete(w.win));
            CHECK_FILL(dst, (size_t)bytes, tag_of(right, 0, e));
            memset(src, 0, (size_t)bytes); /* complete: the origin buffer is ours again */
            end_exposure(&w, e % 4 == 1);
            CHECK_FILL(w.base, (size_t)bytes, tag_of(left, w.rank, e));
        }
        MPI_Group_free(&to);
        MPI_Group_free(&from);
        mt_win_free(&w);
    }
    free(src);
    free(dst);
}

/* Rank 0 exposes to all, the others access it, then the other way round. */
static void master(enum mt_kind kind)
{
    struct mt_win w;
    char *src = mt_alloc((size_t)mt_size * PART), got[PART];

    mt_section("master and workers, %s", mt_kind_name(kind));
    if (mt_win_make(&w, kind, mt_size * PART, 1, MPI_COMM_WORLD)) {
        struct mt_rng rng = mt_rng(3);
        MPI_Group workers = shuffled(&w, 0, &rng), zero = mt_group_one(&w, 0);
        for (int e = 0; e < 30; e++) {
            if (w.rank == 0) {
                MT_OK(MPI_Win_post(workers, 0, w.win));
                end_exposure(&w, e % 2);
                for (int o = 1; o < w.size; o++) {
                    CHECK_FILL(w.base + o * PART, PART, tag_of(o, 0, e));
                }
                MT_OK(MPI_Win_start(workers, 0, w.win));
                for (int t = w.size - 1; t > 0; t--) {
                    put_to(&w, t, tag_of(0, t, e), src + t * PART);
                }
                MT_OK(MPI_Win_complete(w.win));
                continue;
            }
            MT_OK(MPI_Win_start(zero, 0, w.win));
            put_to(&w, 0, tag_of(w.rank, 0, e), src);
            MT_OK(MPI_Win_complete(w.win));
            MT_OK(MPI_Win_post(zero, 0, w.win));
            MT_OK(MPI_Win_wait(w.win));
            CHECK_FILL(w.base, PART, tag_of(0, w.rank, e));
        }
        /* Then only gets, of what the exposing rank wrote just before. */
        if (w.rank == 0) {
            mt_fill(w.base, PART, 4711);
            MT_OK(MPI_Win_post(workers, MPI_MODE_NOPUT, w.win));
            MT_OK(MPI_Win_wait(w.win));
        } else {
            MT_OK(MPI_Win_start(zero, 0, w.win));
            MT_OK(MPI_Get(got, PART, MPI_BYTE, 0, mt_disp(&w, 0, 0), PART, MPI_BYTE, w.win));
            MT_OK(MPI_Win_complete(w.win));
            CHECK_FILL(got, PART, 4711);
        }
        MPI_Group_free(&workers);
        MPI_Group_free(&zero);
        mt_win_free(&w);
    }
    free(src);
}

/* Random groups: every rank draws the same matrix of who accesses whom; empty groups occur. */
static void random_groups(enum mt_kind kind)
{
    struct mt_win w;
    char *src = mt_alloc((size_t)mt_size * PART);

    mt_section("random groups, %s", mt_kind_name(kind));
    if (mt_win_make(&w, kind, mt_size * PART, 1, MPI_COMM_WORLD)) {
        memset(w.base, 0, (size_t)w.bytes);
        for (int e = 0; e < 40; e++) {
            int to[64], from[64], nto = 0, nfrom = 0;
            for (int o = 0; o < w.size; o++) {
                for (int t = 0; t < w.size; t++) {
                    bool access = mt_rand(100) < 40;
                    if (access && o == w.rank) {
                        to[nto++] = t;
                    }
                    if (access && t == w.rank) {
                        from[nfrom++] = o;
                    }
                }
            }
            MPI_Group gto = mt_group(&w, nto, to), gfrom = mt_group(&w, nfrom, from);
            MT_OK(MPI_Win_post(gfrom, 0, w.win));
            MT_OK(MPI_Win_start(gto, 0, w.win));
            for (int i = 0; i < nto; i++) {
                if ((to[i] + e) % 3 != 0) { /* some targets get nothing */
                    put_to(&w, to[i], tag_of(w.rank, to[i], e), src + i * PART);
                }
            }
            MT_OK(MPI_Win_complete(w.win));
            end_exposure(&w, e % 5 == 2);
            for (int i = 0; i < nfrom; i++) {
                if ((w.rank + e) % 3 != 0) {
                    CHECK_FILL(w.base + from[i] * PART, PART, tag_of(from[i], w.rank, e));
                }
            }
            if (gto != MPI_GROUP_EMPTY) {
                MPI_Group_free(&gto);
            }
            if (gfrom != MPI_GROUP_EMPTY) {
                MPI_Group_free(&gfrom);
            }
        }
        MT_OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, w.win));
        MT_OK(MPI_Win_wait(w.win));
        MT_OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, w.win));
        MT_OK(MPI_Win_complete(w.win));
        mt_win_free(&w);
    }
    free(src);
}

/* NOCHECK on both sides: the posts are made known by the fences of a second window. */
static void nocheck(enum mt_kind kind)
{
    struct mt_win w, other;
    char src[PART];

    mt_section("NOCHECK, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, mt_size * PART, 1, MPI_COMM_WORLD)) {
        return;
    }
    if (mt_win_make(&other, MT_ALLOCATE, 8, 1, MPI_COMM_WORLD)) {
        int right = (w.rank + 1) % w.size, left = (w.rank - 1 + w.size) % w.size;
        MPI_Group to = mt_group_one(&w, right), from = mt_group_one(&w, left);
        for (int e = 0; e < 20; e++) {
            MT_OK(MPI_Win_post(from, MPI_MODE_NOCHECK, w.win));
            mt_sync(&other);
            MT_OK(MPI_Win_start(to, MPI_MODE_NOCHECK, w.win));
            put_to(&w, right, tag_of(w.rank, right, e), src);
            MT_OK(MPI_Win_complete(w.win));
            end_exposure(&w, e % 2);
            CHECK_FILL(w.base + left * PART, PART, tag_of(left, w.rank, e));
        }
        MPI_Group_free(&to);
        MPI_Group_free(&from);
        mt_win_free(&other);
    }
    mt_win_free(&w);
}

/* Epochs of two windows open at the same time, closed in either order. */
static void nested(enum mt_kind a, enum mt_kind b)
{
    struct mt_win w[2];
    char src[2][PART];

    mt_section("nested windows, %s in %s", mt_kind_name(b), mt_kind_name(a));
    if (!mt_win_make(&w[0], a, mt_size * PART, 1, MPI_COMM_WORLD)) {
        return;
    }
    if (mt_win_make(&w[1], b, mt_size * PART, 1, MPI_COMM_WORLD)) {
        int right = (mt_rank + 1) % mt_size, left = (mt_rank - 1 + mt_size) % mt_size;
        MPI_Group gr = mt_group_one(&w[0], right), gl = mt_group_one(&w[0], left);
        for (int e = 0; e < 20; e++) {
            int first = e % 2;
            MT_OK(MPI_Win_post(gl, 0, w[0].win)); /* window 0 to the right, window 1 to the left */
            MT_OK(MPI_Win_post(gr, 0, w[1].win));
            MT_OK(MPI_Win_start(gr, 0, w[0].win));
            MT_OK(MPI_Win_start(gl, 0, w[1].win));
            put_to(&w[1], left, tag_of(mt_rank, left, e), src[1]);
            put_to(&w[0], right, tag_of(mt_rank, right, e + 500), src[0]);
            MT_OK(MPI_Win_complete(w[first].win));
            MT_OK(MPI_Win_complete(w[1 - first].win));
            end_exposure(&w[1 - first], e % 3 == 0);
            end_exposure(&w[first], e % 3 == 1);
            CHECK_FILL(w[0].base + left * PART, PART, tag_of(left, mt_rank, e + 500));
            CHECK_FILL(w[1].base + right * PART, PART, tag_of(right, mt_rank, e));
        }
        MPI_Group_free(&gr);
        MPI_Group_free(&gl);
        mt_win_free(&w[1]);
    }
    mt_win_free(&w[0]);
}

/* MPI_Win_test must be false while the origin has not completed, and must not block. */
static void test_is_false(enum mt_kind kind)
{
    struct mt_win w;
    int flag = 1;
    char src[PART];

    mt_section("MPI_Win_test before complete, %s", mt_kind_name(kind));
    if (mt_size < 2 || !mt_win_make(&w, kind, mt_size * PART, 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    if (w.rank == 0) {
        MPI_Group one = mt_group_one(&w, 1);
        MT_OK(MPI_Win_post(one, 0, w.win));
        MT_OK(MPI_Win_test(w.win, &flag));
        CHECK(flag == 0, "the origin waits for a message that is not sent yet");
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
        end_exposure(&w, true);
        CHECK_FILL(w.base + PART, PART, tag_of(1, 0, 1));
        MPI_Group_free(&one);
    } else if (w.rank == 1) {
        MPI_Status status;
        MPI_Group zero = mt_group_one(&w, 0);
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status));
        MT_OK(MPI_Win_start(zero, 0, w.win));
        put_to(&w, 0, tag_of(1, 0, 1), src);
        MT_OK(MPI_Win_complete(w.win));
        MPI_Group_free(&zero);
    }
    mt_win_free(&w);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    MT_FOR_KINDS(kind)
    {
        all_to_all(kind, false);
        all_to_all(kind, true);
        ring(kind, 150, 8);
        ring(kind, 40, 5000);
        ring(kind, 8, 500001);
        master(kind);
        random_groups(kind);
        nocheck(kind);
        test_is_false(kind);
    }
    nested(MT_ALLOCATE, MT_CREATE_MALLOC);
    nested(MT_DYNAMIC, MT_CREATE_ALLOC_MEM);
    return MT_FINISH();
}
