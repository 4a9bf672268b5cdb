/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_shared.c - shared windows and MPI_Win_shared_query (MPI 4.1, 12.2.3, 12.2.4).
 *
 * Contiguous and alloc_shared_noncontig layout, parts of 0 bytes, whose base continues the block,
 * so that a rank finds the memory of its neighbours by its own pointer; load and store
 * with MPI_Win_sync, which orders a store and a later load, RMA and load/store on
 * the same memory, shared_query on every flavour: an address that reaches the target's very memory,
 * or size 0 and no pointer where it is not mapped; MPI_PROC_NULL gives the lowest rank that has
 * memory. With MPIRMA_RANKS_PER_NODE below the number of ranks the program only
 * checks that MPI_Win_allocate_shared over several nodes is MPI_ERR_RMA_SHARED.
 */
#include "mtest.h"

#include <unistd.h>

static MPI_Aint part_size(int rank, int round)
{
    static const MPI_Aint sizes[4][4] = {
        {64, 64, 64, 64}, {0, 24, 0, 8}, {8, 0, 4096, 100}, {0, 0, 0, 0}};
    return sizes[round][rank % 4];
}

static char *query(MPI_Win win, int rank, MPI_Aint size, int unit)
{
    MPI_Aint s = -1;
    int u = -1;
    char *p = (char *)&s; /* anything but NULL */

    MT_OK(MPI_Win_shared_query(win, rank, &s, &u, &p));
    CHECK(s == size, "size of rank %d: expected %ld, saw %ld", rank, (long)size, (long)s);
    CHECK(u == unit, "unit of rank %d: expected %d, saw %d", rank, unit, u);
    return p;
}

/* The parts follow each other in the order of ranks (12.2.3), those of 0 bytes, too: each begins
 * where all before it end. first: the part of the lowest rank that has memory. */
static void check_base(struct mt_win *w, int round, bool contiguous, int lowest, const char *first)
{
    MPI_Aint before = 0;
    void *base = NULL;
    int flag = 0;

    MT_OK(MPI_Win_get_attr(w->win, MPI_WIN_BASE, &base, &flag));
    CHECK(flag && base == w->base, "MPI_WIN_BASE is %p, the call gave %p", base, (void *)w->base);
    if (!contiguous || lowest < 0) {
        return;
    }
    for (int r = 0; r < mt_rank; r++) {
        before += part_size(r, round);
    }
    CHECK(w->base == first + before, "base of rank %d: expected %p, saw %p", mt_rank,
          (const void *)(first + before), (void *)w->base);
}

static void check_layout(struct mt_win *w, int round, bool contiguous, char **part)
{
    int lowest = -1;

    for (int r = 0; r < mt_size; r++) {
        part[r] = query(w->win, r, part_size(r, round), 1 + r % 2);
        if (lowest < 0 && part_size(r, round) > 0) {
            lowest = r;
        }
    }
    if (part_size(mt_rank, round) > 0) {
        CHECK(part[mt_rank] == w->base, "own part: expected %p, saw %p", (void *)w->base,
              (void *)part[mt_rank]);
    }
    for (int r = 1, prev = 0; contiguous && r < mt_size; r++) {
        if (part_size(r, round) == 0) {
            continue;
        }
        if (part_size(prev, round) > 0) {
            CHECK(part[r] == part[prev] + part_size(prev, round),
                  "rank %d must follow %d: %p, %p + %ld", r, prev, (void *)part[r],
                  (void *)part[prev], (long)part_size(prev, round));
        }
        prev = r;
    }
    MPI_Aint s = -1;
    int u = -1;
    char *p = NULL;
    MT_OK(MPI_Win_shared_query(w->win, MPI_PROC_NULL, &s, &u, &p));
    if (lowest >= 0) {
        CHECK(p == part[lowest] && s == part_size(lowest, round) && u == 1 + lowest % 2,
              "MPI_PROC_NULL: expected rank %d (%p, %ld, %d), saw %p, %ld, %d", lowest,
              (void *)part[lowest], (long)part_size(lowest, round), 1 + lowest % 2, (void *)p,
              (long)s, u);
    } else {
        CHECK(s == 0, "MPI_PROC_NULL and no memory at all: size %ld", (long)s);
    }
    check_base(w, round, contiguous, lowest, lowest >= 0 ? part[lowest] : NULL);
}

/* The even ranks give memory, the odd ones none: what lies before their base is the last byte of
 * their left neighbour. */
static void neighbour_by_pointer(void)
{
    struct mt_win w;
    const MPI_Aint bytes = mt_rank % 2 ? 0 : 64;

    mt_section("the neighbour's memory by the base of a part of 0 bytes");
    if (!mt_win_make(&w, MT_ALLOCATE_SHARED, bytes, 1, MPI_COMM_WORLD)) {
        return;
    }
    if (bytes > 0) {
        w.base[bytes - 1] = (char)(mt_rank + 1);
    }
    MT_OK(MPI_Win_fence(0, w.win));
    if (bytes == 0 && CHECK(w.base != NULL, "a part of 0 bytes has no base")) {
        CHECK(w.base[-1] == mt_rank, "before the base: expected %d, saw %d", mt_rank, w.base[-1]);
    }
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
    mt_win_free(&w);
}

/* Each rank stores into everybody's part; all see everything after fence. */
static void load_and_store(struct mt_win *w, int round, char **part)
{
    MT_OK(MPI_Win_fence(0, w->win));
    for (int r = 0; r < mt_size; r++) {
        for (MPI_Aint i = mt_rank; i < part_size(r, round); i += mt_size) {
            part[r][i] = (char)(16 * r + i + round);
        }
    }
    MT_OK(MPI_Win_fence(0, w->win));
    for (int r = 0; r < mt_size; r++) {
        for (MPI_Aint i = 0; i < part_size(r, round); i++) {
            if (!CHECK(part[r][i] == (char)(16 * r + i + round), "byte %ld of rank %d: saw %d",
                       (long)i, r, part[r][i])) {
                return;
            }
        }
    }
    MT_OK(MPI_Win_fence(0, w->win));
}

static void layouts(bool contiguous)
{
    MPI_Info info = MPI_INFO_NULL;
    char **part = malloc((size_t)mt_size * sizeof *part);

    if (!contiguous) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    }
    for (int round = 0; round < 4; round++) {
        struct mt_win w;
        mt_section("%s, round %d", contiguous ? "contiguous" : "alloc_shared_noncontig", round);
        if (mt_win_make_info(&w, MT_ALLOCATE_SHARED, part_size(mt_rank, round), 1 + mt_rank % 2,
                             info, MPI_COMM_WORLD)) {
            check_layout(&w, round, contiguous, part);
            load_and_store(&w, round, part);
            mt_win_free(&w);
        }
    }
    if (!contiguous) {
        struct mt_win w;
        mt_section("alloc_shared_noncontig starts at a page");
        if (mt_win_make_info(&w, MT_ALLOCATE_SHARED, 100, 1, info, MPI_COMM_WORLD)) {
            CHECK((uintptr_t)w.base % (uintptr_t)sysconf(_SC_PAGESIZE) == 0, "%p", (void *)w.base);
            mt_win_free(&w);
        }
        MPI_Info_free(&info);
    }
    free(part);
}

/* A flag passed round by loads and stores, ordered by MPI_Win_sync, inside lock_all. */
static void flags_with_sync(void)
{
    struct mt_win w;
    int *flag, *data, rounds = mt_size > 2 ? 5 : 200;

    mt_section("load, store and MPI_Win_sync");
    if (!mt_win_make(&w, MT_ALLOCATE_SHARED, 2 * sizeof(int), 4, MPI_COMM_WORLD)) {
        return;
    }
    flag = (int *)query(w.win, 0, 2 * sizeof(int), 4);
    data = flag + 1;
    MT_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win));
    for (int i = 0; i < rounds; i++) {
        while (__atomic_load_n(flag, __ATOMIC_RELAXED) != i * mt_size + mt_rank) {
            usleep(1);
        }
        MT_OK(MPI_Win_sync(w.win));
        int expected = 7 * (i * mt_size + mt_rank);
        CHECK(*data == expected, "expected %d, saw %d", expected, *data);
        *data += 7;
        MT_OK(MPI_Win_sync(w.win));
        __atomic_store_n(flag, i * mt_size + mt_rank + 1, __ATOMIC_RELAXED);
    }
    MT_OK(MPI_Win_unlock_all(w.win));
    mt_win_free(&w);
}

/* The same, with a flag that is changed and looked at by operations alone: MPI_Win_sync orders the
 * stores before the operation that changes it, and the loads behind the one that found it
 * changed. */
static void flags_by_operations(void)
{
    struct mt_win w;
    const int rounds = mt_size > 2 ? 5 : 100;

    mt_section("load and store, handed over by MPI_Fetch_and_op");
    if (!mt_win_make(&w, MT_ALLOCATE_SHARED, 2 * sizeof(int), 4, MPI_COMM_WORLD)) {
        return;
    }
    int *data = (int *)query(w.win, 0, 2 * sizeof(int), 4) + 1;
    MT_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win));
    for (int i = 0; i < rounds; i++) {
        const int turn = i * mt_size + mt_rank, next = turn + 1;
        int seen = -1, unused = 0;
        while (seen != turn) {
            MT_OK(MPI_Fetch_and_op(&unused, &seen, MPI_INT, 0, 0, MPI_NO_OP, w.win));
            MT_OK(MPI_Win_flush(0, w.win));
            usleep(1);
        }
        MT_OK(MPI_Win_sync(w.win));
        CHECK(*data == 7 * turn, "expected %d, saw %d", 7 * turn, *data);
        *data += 7;
        MT_OK(MPI_Win_sync(w.win));
        MT_OK(MPI_Fetch_and_op(&next, &seen, MPI_INT, 0, 0, MPI_REPLACE, w.win));
        MT_OK(MPI_Win_flush(0, w.win));
    }
    MT_OK(MPI_Win_unlock_all(w.win));
    mt_win_free(&w);
}

/* Who comes first is not known, but not both may miss the other: each stores its own word,
 * synchronizes and loads the other's. The words are on lines of their own, and a round begins when
 * both have come. */
static void store_sync_load(void)
{
    enum { LINE = 16, ROUNDS = 20000, PATIENCE = 2000 };
    struct mt_win w;
    long both_missed = 0;

    mt_section("a store, MPI_Win_sync and a load by each of two");
    if (mt_size != 2 ||
        !mt_win_make(&w, MT_ALLOCATE_SHARED, 3 * LINE * sizeof(int), 4, MPI_COMM_WORLD)) {
        return;
    }
    int *mine = (int *)(void *)w.base,
        *other = (int *)query(w.win, 1 - mt_rank, 3 * LINE * sizeof(int), 4);
    MT_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win));
    for (int i = 1; i <= ROUNDS; i++) {
        __atomic_store_n(&mine[LINE], i, __ATOMIC_RELEASE); /* come */
        for (int n = 0; __atomic_load_n(&other[LINE], __ATOMIC_ACQUIRE) < i; n++) {
            if (n > PATIENCE) {
                usleep(1);
            }
        }
        __atomic_store_n(mine, i, __ATOMIC_RELAXED);
        MPI_Win_sync(w.win);
        const int seen = __atomic_load_n(other, __ATOMIC_RELAXED);
        __atomic_store_n(&mine[2 * LINE], seen < i ? -i : i,
                         __ATOMIC_RELEASE); /* missed it, or not */
        int there;
        for (int n = 0;
             there = __atomic_load_n(&other[2 * LINE], __ATOMIC_ACQUIRE), there != i && there != -i;
             n++) {
            if (n > PATIENCE) {
                usleep(1);
            }
        }
        both_missed += seen < i && there < 0;
    }
    MT_OK(MPI_Win_unlock_all(w.win));
    CHECK(both_missed == 0, "in %ld of %d rounds neither saw what the other had stored",
          both_missed, ROUNDS);
    mt_win_free(&w);
}

/* What one rank puts another sees through its pointer, and the reverse with get. */
static void rma_and_pointers(void)
{
    struct mt_win w;
    int next = (mt_rank + 1) % mt_size, prev = (mt_rank + mt_size - 1) % mt_size;
    int value = 500 + mt_rank, got = -1;

    mt_section("put and get against load and store");
    if (!mt_win_make(&w, MT_ALLOCATE_SHARED, 4 * sizeof(int), 4, MPI_COMM_WORLD)) {
        return;
    }
    int *mine = (int *)w.base, *nexts = (int *)query(w.win, next, 4 * sizeof(int), 4);
    MT_OK(MPI_Win_fence(0, w.win));
    MT_OK(MPI_Put(&value, 1, MPI_INT, next, 1, 1, MPI_INT, w.win));
    nexts[2] = 900 + mt_rank;
    MT_OK(MPI_Win_fence(0, w.win));
    CHECK(mine[1] == 500 + prev && mine[2] == 900 + prev, "saw %d and %d", mine[1], mine[2]);
    MT_OK(MPI_Get(&got, 1, MPI_INT, next, 2, 1, MPI_INT, w.win));
    MT_OK(MPI_Win_fence(0, w.win));
    CHECK(got == 900 + mt_rank, "expected %d, saw %d", 900 + mt_rank, got);
    mt_win_free(&w);
}

/* A pointer from shared_query, where there is one, is the target's memory. */
static void query_every_kind(enum mt_kind kind)
{
    struct mt_win w;
    int next = (mt_rank + 1) % mt_size, prev = (mt_rank + mt_size - 1) % mt_size;
    MPI_Aint size = -1;
    int unit = -1;
    char *p = NULL;

    mt_section("shared_query, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 128, 4, MPI_COMM_WORLD)) {
        return;
    }
    if (kind == MT_DYNAMIC) {
        CHECK_ERR(MPI_Win_shared_query(w.win, mt_rank, &size, &unit, &p), MPI_ERR_RMA_FLAVOR);
        mt_win_free(&w);
        return;
    }
    p = query(w.win, mt_rank, 128, 4);
    CHECK(p == w.base, "own memory: expected %p, saw %p", (void *)w.base, (void *)p);
    MT_OK(MPI_Win_fence(0, w.win));
    MT_OK(MPI_Win_shared_query(w.win, next, &size, &unit, &p));
    bool mapped = size > 0;
    CHECK(size == 128 || (size == 0 && p == NULL), "size %ld, pointer %p", (long)size, (void *)p);
    CHECK(unit == 4 || !mapped, "unit %d", unit);
    if (kind != MT_CREATE_MALLOC && kind != MT_CREATE_ODD &&
        (mt_path_is("auto") || mt_path_is("mapped"))) {
        CHECK(mapped, "%s memory is mapped between processes of a node", mt_kind_name(kind));
    }
    if (mapped) {
        p[17] = (char)(mt_rank + 1);
    }
    char *first = NULL;
    MT_OK(MPI_Win_shared_query(w.win, 0, &size, &unit, &first));
    const MPI_Aint first_size = size;
    MT_OK(MPI_Win_shared_query(w.win, MPI_PROC_NULL, &size, &unit, &p));
    CHECK(p == first && size == first_size, "MPI_PROC_NULL: %p of %ld bytes, rank 0: %p of %ld",
          (void *)p, (long)size, (void *)first, (long)first_size);
    MT_OK(MPI_Win_fence(0, w.win));
    CHECK(w.base[17] == (mapped ? prev + 1 : 0) || mt_size == 1, "expected %d, saw %d", prev + 1,
          w.base[17]);
    mt_win_free(&w);
}

static void query_errors(void)
{
    struct mt_win w;
    MPI_Aint size;
    int unit;
    void *p;

    mt_section("shared_query with a rank that is not there");
    if (mt_win_make(&w, MT_ALLOCATE_SHARED, 8, 1, MPI_COMM_WORLD)) {
        CHECK_ERR(MPI_Win_shared_query(w.win, mt_size, &size, &unit, &p), MPI_ERR_RANK);
        CHECK_ERR(MPI_Win_shared_query(w.win, -77, &size, &unit, &p), MPI_ERR_RANK);
        CHECK_PUT_WORKS(w.win, mt_rank, 0, 12);
        mt_win_free(&w);
    }
}

static void large_segment(void)
{
    struct mt_win w;
    MPI_Aint bytes = 24 << 20;
    int next = (mt_rank + 1) % mt_size;

    mt_section("24 MiB per rank");
    if (mt_win_make(&w, MT_ALLOCATE_SHARED, bytes, 1, MPI_COMM_WORLD)) {
        char *p = query(w.win, next, bytes, 1);
        MT_OK(MPI_Win_fence(0, w.win));
        memset(p + bytes - 4096, 0x5a, 4096);
        MT_OK(MPI_Win_fence(0, w.win));
        CHECK_BYTES(w.base + bytes - 4096, 4096, 0x5a);
        mt_win_free(&w);
    }
}

static bool pretended_nodes(void)
{
    const char *k = getenv("MPIRMA_RANKS_PER_NODE");
    MPI_Win win = MPI_WIN_NULL;
    void *p;

    if (k == NULL || atoi(k) <= 0 || atoi(k) >= mt_size) {
        return false;
    }
    mt_section("MPI_Win_allocate_shared over several nodes");
    CHECK_ERR(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win),
              MPI_ERR_RMA_SHARED);
    CHECK(win == MPI_WIN_NULL, "a refused creation must not touch the handle");
    MT_OK(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &p, &win));
    MT_OK(MPI_Win_free(&win));
    return true;
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    if (!pretended_nodes()) {
        layouts(true);
        layouts(false);
        neighbour_by_pointer();
        flags_with_sync();
        flags_by_operations();
        store_sync_load();
        rma_and_pointers();
        MT_FOR_KINDS(kind)
        {
            query_every_kind(kind);
        }
        query_errors();
        large_segment();
    }
    return MT_FINISH();
}
