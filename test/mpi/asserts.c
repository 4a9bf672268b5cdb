/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * asserts.c - every assert of MPI 4.1, 12.5.5, one by one and in the legal combinations, in
 * programs for which it is true: contents are as without it.
 */
#include "mtest.h"

enum { CELLS = 64, ROUNDS = 20 };

static struct mt_win w;
static int left, right;

static void put_right(int64_t value)
{
    MT_OK(MPI_Put(&value, 1, MPI_INT64_T, right, mt_disp(&w, right, 8), 1, MPI_INT64_T, w.win));
}

static int64_t cell(int i)
{
    int64_t value;
    memcpy(&value, w.base + 8 * i, sizeof value);
    return value;
}

static void check_left(const char *name, int round)
{
    CHECK(cell(1) == round * 100 + left, "%s, round %d: %lld", name, round, (long long)cell(1));
}

/* The fence before the puts and the one behind them. */
static void fences(void)
{
    static const struct {
        const char *name;
        int open, close;
    } cases[] = {
        {"none", 0, 0},
        {"NOPRECEDE", MPI_MODE_NOPRECEDE, 0},
        {"NOSUCCEED", 0, MPI_MODE_NOSUCCEED},
        {"NOPRECEDE, NOSUCCEED", MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED},
        {"NOSTORE", MPI_MODE_NOSTORE, MPI_MODE_NOSTORE},
        {"NOPUT behind", 0, MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED},
        {"all that are true", MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE,
         MPI_MODE_NOPUT | MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mt_section("fence: %s, %s", cases[i].name, mt_kind_name(w.kind));
        for (int round = 1; round <= ROUNDS; round++) {
            MT_OK(MPI_Win_fence(cases[i].open, w.win));
            put_right(round * 100 + mt_rank);
            MT_OK(MPI_Win_fence(cases[i].close, w.win));
            check_left(cases[i].name, round);
        }
        if (!(cases[i].close & MPI_MODE_NOSUCCEED))
            MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
    }
}

/* In a phase under NOPUT others may get, but not put. */
static void noput_phase(void)
{
    int64_t seen;

    mt_section("fence: NOPUT phase, %s", mt_kind_name(w.kind));
    for (int round = 1; round <= ROUNDS; round++) {
        const int64_t mine = round * 100 + mt_rank;
        memcpy(w.base + 16, &mine, sizeof mine);
        MT_OK(MPI_Win_fence(MPI_MODE_NOPUT, w.win));
        MT_OK(MPI_Get(&seen, 1, MPI_INT64_T, right, mt_disp(&w, right, 16), 1, MPI_INT64_T, w.win));
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
        CHECK(seen == round * 100 + right, "round %d: %lld", round, (long long)seen);
    }
}

static void pscw(void)
{
    static const struct {
        const char *name;
        int post;
        bool check;
    } cases[] = {{"none", 0, true},
                 {"NOSTORE", MPI_MODE_NOSTORE, true},
                 {"NOCHECK", MPI_MODE_NOCHECK, false},
                 {"NOCHECK, NOSTORE", MPI_MODE_NOCHECK | MPI_MODE_NOSTORE, false}};
    MPI_Group world, to, from;

    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MT_OK(MPI_Group_incl(world, 1, &right, &to));
    MT_OK(MPI_Group_incl(world, 1, &left, &from));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mt_section("post and start: %s, %s", cases[i].name, mt_kind_name(w.kind));
        for (int round = 1; round <= ROUNDS; round++) {
            MT_OK(MPI_Win_post(from, cases[i].post, w.win));
            if (!cases[i].check) /* every post has been called before any start */
                MT_OK(MPI_Barrier(MPI_COMM_WORLD));
            MT_OK(MPI_Win_start(to, cases[i].check ? 0 : MPI_MODE_NOCHECK, w.win));
            put_right(round * 100 + mt_rank);
            MT_OK(MPI_Win_complete(w.win));
            MT_OK(MPI_Win_wait(w.win));
            check_left(cases[i].name, round);
        }
    }
    mt_section("post: NOPUT, %s", mt_kind_name(w.kind));
    for (int round = 1; round <= ROUNDS; round++) {
        const int64_t mine = round * 100 + mt_rank;
        int64_t seen;
        memcpy(w.base + 16, &mine, sizeof mine);
        MT_OK(MPI_Win_post(from, MPI_MODE_NOPUT, w.win));
        MT_OK(MPI_Win_start(to, 0, w.win));
        MT_OK(MPI_Get(&seen, 1, MPI_INT64_T, right, mt_disp(&w, right, 16), 1, MPI_INT64_T, w.win));
        MT_OK(MPI_Win_complete(w.win));
        MT_OK(MPI_Win_wait(w.win));
        CHECK(seen == round * 100 + right, "round %d: %lld", round, (long long)seen);
    }
    MT_OK(MPI_Group_free(&from));
    MT_OK(MPI_Group_free(&to));
    MT_OK(MPI_Group_free(&world));
}

/* Nobody else holds or asks for the lock: each rank has its own element, and the turns are apart.
 */
static void locks(void)
{
    const int64_t one = 1;

    mt_section("lock: NOCHECK, %s", mt_kind_name(w.kind));
    for (int turn = 0; turn < mt_size; turn++) {
        for (int type = 0; type < 2 && turn == mt_rank; type++) {
            MT_OK(MPI_Win_lock(type ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, right, MPI_MODE_NOCHECK,
                               w.win));
            MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, right, mt_disp(&w, right, 24), 1,
                                 MPI_INT64_T, MPI_SUM, w.win));
            MT_OK(MPI_Win_unlock(right, w.win));
        }
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    mt_section("lock_all: NOCHECK, %s", mt_kind_name(w.kind));
    MT_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win));
    for (int i = 0; i < ROUNDS; i++) {
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, right, mt_disp(&w, right, 24), 1, MPI_INT64_T,
                             MPI_SUM, w.win));
        if (i % 4 == 0)
            MT_OK(MPI_Win_flush(right, w.win));
    }
    MT_OK(MPI_Win_unlock_all(w.win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, w.win));
    CHECK(cell(3) == 2 + ROUNDS, "%lld accumulates", (long long)cell(3));
    MT_OK(MPI_Win_unlock(mt_rank, w.win));
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    right = (mt_rank + 1) % mt_size;
    left = (mt_rank + mt_size - 1) % mt_size;
    MT_FOR_KINDS(kind)
    {
        if (kind == MT_CREATE_ODD || !mt_win_make(&w, kind, CELLS * 8, 1, MPI_COMM_WORLD))
            continue;
        fences();
        noput_phase();
        pscw();
        locks();
        mt_win_free(&w);
    }
    return MT_FINISH();
}
