/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_basic.c - windows made, used a little and freed, in every flavour.
 *
 * Sizes (0 included), displacement units and sizes that differ per rank, windows
 * on sub-communicators, reversed ranks, MPI_COMM_SELF and a communicator freed at
 * once, dozens at a time, thousands one after the other, freed in another order,
 * two windows over the same memory. Use of the windows is fence, PSCW or lock
 * with one put: the operations themselves are tested elsewhere.
 */
#include "mtest.h"

/* Every rank puts `bytes` bytes to its right neighbour; checked by the target. */
static void ring_put_fence(struct mt_win *w, MPI_Aint bytes, int value)
{
    int right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    char *buf = malloc((size_t)bytes + 1);

    memset(buf, value + w->rank, (size_t)bytes + 1);
    MT_OK(MPI_Win_fence(0, w->win));
    MT_OK(MPI_Put(buf, (int)bytes, MPI_BYTE, right, mt_disp(w, right, 0), (int)bytes, MPI_BYTE,
                  w->win));
    MT_OK(MPI_Win_fence(0, w->win));
    CHECK_BYTES(w->base, (size_t)bytes, value + left);
    free(buf);
}

static void ring_put_pscw(struct mt_win *w, MPI_Comm comm, int value)
{
    int right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size, seen = -1;
    MPI_Group all, to, from;

    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_incl(all, 1, &left, &from);
    value += w->rank;
    MT_OK(MPI_Win_post(from, 0, w->win));
    MT_OK(MPI_Win_start(to, 0, w->win));
    MT_OK(MPI_Put(&value, 1, MPI_INT, right, mt_disp(w, right, 0), 1, MPI_INT, w->win));
    MT_OK(MPI_Win_complete(w->win));
    MT_OK(MPI_Win_wait(w->win));
    memcpy(&seen, w->base, sizeof seen);
    CHECK(seen == value - w->rank + left, "expected %d, saw %d", value - w->rank + left, seen);
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

static void every_kind_and_size(void)
{
    static const MPI_Aint sizes[] = {0, 1, 7, 8, 4096, 100001};

    MT_FOR_KINDS(kind)
    {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            struct mt_win w;
            mt_section("%s, %ld bytes", mt_kind_name(kind), (long)sizes[i]);
            if (!mt_win_make(&w, kind, sizes[i], 1, MPI_COMM_WORLD)) {
                break;
            }
            ring_put_fence(&w, sizes[i], 0x20 + (int)i);
            mt_win_free(&w);
            CHECK(w.win == MPI_WIN_NULL, "the handle must be MPI_WIN_NULL after MPI_Win_free");
        }
    }
}

/* Rank r has (r % 3) * 40 bytes in units of 1, 4 or 8: some have nothing. */
static void different_everywhere(void)
{
    static const int units[3] = {1, 4, 8};

    MT_FOR_KINDS(kind)
    {
        struct mt_win w;
        mt_section("%s, sizes and units differ", mt_kind_name(kind));
        if (!mt_win_make(&w, kind, (mt_rank % 3) * 40, units[mt_rank % 3], MPI_COMM_WORLD)) {
            continue;
        }
        for (int t = 0; t < mt_size; t++) {
            MPI_Aint last = (t % 3) * 40 - 8 - 8 * (mt_rank % 4); /* own slot if at most 4 ranks */
            if (last < 0) {
                continue;
            }
            MPI_Aint disp = w.addr != NULL ? mt_disp(&w, t, last) : last / units[t % 3];
            CHECK_PUT_WORKS(w.win, t, disp, 1000 * mt_rank + t);
        }
        mt_win_free(&w);
    }
}

static void use_all_ways(struct mt_win *w, MPI_Comm comm, int value)
{
    ring_put_fence(w, 16, value);
    ring_put_pscw(w, comm, 100 * value);
    MPI_Barrier(comm); /* the neighbour may still look at its memory */
    CHECK_PUT_WORKS(w->win, w->size - 1, mt_disp(w, w->size - 1, 0), value + w->rank);
}

static void on_comm(const char *name, MPI_Comm comm, enum mt_kind kind)
{
    struct mt_win w;

    mt_section("%s on %s", mt_kind_name(kind), name);
    if (mt_win_make(&w, kind, 64, 4, comm)) {
        MPI_Group g, of_comm;
        int same;
        MT_OK(MPI_Win_get_group(w.win, &g));
        MPI_Comm_group(comm, &of_comm);
        MPI_Group_compare(g, of_comm, &same);
        CHECK(same == MPI_IDENT, "the window's group is not the communicator's (%d)", same);
        MPI_Group_free(&g);
        MPI_Group_free(&of_comm);
        use_all_ways(&w, comm, 3);
        mt_win_free(&w);
    }
}

static void sub_communicators(void)
{
    MPI_Comm half, reversed;

    MPI_Comm_split(MPI_COMM_WORLD, mt_rank % 2, 0, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -mt_rank, &reversed);
    for (enum mt_kind kind = 0; kind<MT_KINDS; kind += mt_size> 2 ? 3 : 1) {
        on_comm("every second rank", half, kind);
        on_comm("reversed ranks", reversed, kind);
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&reversed);
}

static void self_windows(void)
{
    MT_FOR_KINDS(kind)
    {
        on_comm("MPI_COMM_SELF", MPI_COMM_SELF, kind);
    }
    mt_section("MPI_COMM_SELF on rank 0 only");
    if (mt_rank == 0) {
        on_comm("MPI_COMM_SELF, one rank only", MPI_COMM_SELF, MT_CREATE_ALLOC_MEM);
        on_comm("MPI_COMM_SELF, one rank only", MPI_COMM_SELF, MT_ALLOCATE);
    }
}

static void comm_freed_at_once(void)
{
    MT_FOR_KINDS(kind)
    {
        struct mt_win w;
        MPI_Comm comm;
        mt_section("%s, communicator freed after creation", mt_kind_name(kind));
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        bool made = mt_win_make(&w, kind, 64, 1, comm);
        MPI_Comm_free(&comm);
        if (made) {
            use_all_ways(&w, MPI_COMM_WORLD, 5);
            mt_win_free(&w);
        }
    }
}

static void dozens_at_a_time(void)
{
    enum { MANY = 40 };
    static struct mt_win w[MANY];
    int order[MANY], n = mt_size > 2 ? 18 : MANY, made = 0;

    mt_section("%d windows at a time", n);
    for (int i = 0; i < n; i++) {
        if (mt_win_make(&w[made], (enum mt_kind)(i % MT_KINDS), 64 + i, 1, MPI_COMM_WORLD)) {
            order[made] = made;
            made++;
        }
    }
    for (int i = 0; i < made; i++) {
        int t = (mt_rank + i) % mt_size;
        CHECK_PUT_WORKS(w[i].win, t, mt_disp(&w[i], t, 4 * mt_rank), 100 * i + mt_rank);
    }
    for (int i = made - 1; i > 0;
         i--) { /* the same shuffle everywhere: MPI_Win_free is collective */
        int j = (int)mt_rand((uint64_t)i + 1), k = order[i];
        order[i] = order[j];
        order[j] = k;
    }
    for (int i = 0; i < made; i++) {
        mt_win_free(&w[order[i]]);
        if (i + 1 < made) { /* those that are left still work */
            struct mt_win *left = &w[order[i + 1]];
            CHECK_PUT_WORKS(left->win, mt_rank, mt_disp(left, mt_rank, 0), i);
        }
    }
}

static void thousands(void)
{
    static const enum mt_kind kinds[] = {MT_CREATE_ALLOC_MEM, MT_ALLOCATE, MT_CREATE_MALLOC,
                                         MT_ALLOCATE_SHARED};
    int rounds = mt_size == 1 ? 600 : mt_size == 2 ? 300 : 12;
    bool available[4] = {true, true, true, true};

    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < 4; k++) {
            struct mt_win w;
            mt_section("window %d of thousands, %s", i, mt_kind_name(kinds[k]));
            if (available[k] &&
                (available[k] = mt_win_make(&w, kinds[k], 256, 1, MPI_COMM_WORLD))) {
                CHECK_PUT_WORKS(w.win, 0, mt_disp(&w, 0, 0), i + mt_rank);
                mt_win_free(&w);
            }
        }
    }
}

/* Through one window, seen through the other (MPI 4.1, 12.2.1 allows overlapping windows). */
static void overlapping_memory(void)
{
    struct mt_win w;
    MPI_Win second = MPI_WIN_NULL;
    int target = mt_size - 1, value = 4711 + mt_rank, back = 0;

    mt_section("two windows over the same memory");
    if (!mt_win_make(&w, MT_CREATE_ALLOC_MEM, 4 * 64, 4, MPI_COMM_WORLD)) {
        return;
    }
    MT_OK(MPI_Win_create(w.base + 32, 4 * 64 - 32, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &second));
    MPI_Win_set_errhandler(second, MPI_ERRORS_RETURN);
    CHECK_PUT_WORKS(w.win, target, 8 + mt_rank, value);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, second));
    MT_OK(MPI_Get(&back, 1, MPI_INT, target, 4 * mt_rank, 1, MPI_INT, second));
    MT_OK(MPI_Win_unlock(target, second));
    CHECK(back == value, "expected %d, saw %d", value, back);
    MT_OK(MPI_Win_free(&second));
    CHECK_PUT_WORKS(w.win, target, 8 + mt_rank, value + 1);
    mt_win_free(&w);
}

static void no_base(void)
{
    MPI_Win win;

    mt_section("NULL base and no bytes");
    if (MT_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win))) {
        MT_OK(MPI_Win_fence(0, win));
        MT_OK(MPI_Put(NULL, 0, MPI_INT, 0, 0, 0, MPI_INT, win));
        MT_OK(MPI_Win_fence(0, win));
        MT_OK(MPI_Win_free(&win));
    }
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    every_kind_and_size();
    different_everywhere();
    sub_communicators();
    self_windows();
    comm_freed_at_once();
    dozens_at_a_time();
    overlapping_memory();
    no_base();
    thousands();
    return MT_FINISH();
}
