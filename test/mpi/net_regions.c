/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_regions.c - dynamic windows over a network that puts and gets by itself: memory is attached,
 * used, detached and attached anew at the same address while others still know of what was there
 * (MPI 4.1, 12.2.4). Where a region is, the ranks tell each other by messages of the host, within
 * one epoch of MPI_Win_lock_all, so that nothing but the library's own care keeps an origin from
 * using what it knew. Every value is looked at, in the memory and by gets.
 *
 * With "many" ranks attach more regions than the network may take, which net_regions.sh arranges.
 */
#include <stddef.h>
#include <sys/mman.h>

#include "mtest.h"

enum { LONGS = 3200, BYTES = LONGS * 8, ROUNDS = 12, REGIONS = 200 };

static MPI_Win win;
static int to, from; /* neighbours */

static int64_t value(int origin, int round, int i)
{
    return (int64_t)(origin + 1) << 48 | (int64_t)(round + 1) << 20 | i;
}

/* Memory of its own pages, zeroed, at that address if one is given. */
static int64_t *map_pages(void *at, size_t bytes)
{
    void *got = mmap(at, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
    if (got == MAP_FAILED) {
        perror("mmap");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return got;
}

static MPI_Aint address(const void *p)
{
    MPI_Aint a;
    MPI_Get_address(p, &a);
    return a;
}

/* Every rank tells its left neighbour where its memory is. */
static MPI_Aint exchange(MPI_Aint mine)
{
    MPI_Aint its = 0;
    MPI_Sendrecv(&mine, 1, MPI_AINT, from, 0, &its, 1, MPI_AINT, to, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return its;
}

static void tell(int rank)
{
    MPI_Send(NULL, 0, MPI_BYTE, rank, 1, MPI_COMM_WORLD);
}

static void hear(int rank)
{
    MPI_Recv(NULL, 0, MPI_BYTE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void put(int rank, MPI_Aint at, const int64_t *out, int n)
{
    MT_OK(MPI_Put(out, n, MPI_INT64_T, rank, at, n, MPI_INT64_T, win));
}

/* n values at the target are those of this origin and round, and are got as they are. */
static void check_there(int rank, MPI_Aint at, int round, int n)
{
    static int64_t in[LONGS];
    int wrong = 0;
    memset(in, 0, sizeof in);
    MT_OK(MPI_Get(in, n, MPI_INT64_T, rank, at, n, MPI_INT64_T, win));
    MT_OK(MPI_Win_flush(rank, win));
    for (int i = 0; i < n; i++)
        wrong += in[i] != value(mt_rank, round, i);
    CHECK(wrong == 0, "%d of %d values got in round %d", wrong, n, round);
}

static void check_here(const int64_t *mine, int origin, int round, int n)
{
    int wrong = 0;
    MT_OK(MPI_Win_sync(win));
    for (int i = 0; i < n; i++)
        wrong += mine[i] != value(origin, round, i);
    CHECK(wrong == 0, "%d of %d values put by rank %d in round %d", wrong, n, origin, round);
}

static const int64_t *values(int round, int n)
{
    static int64_t out[LONGS];
    for (int i = 0; i < n; i++)
        out[i] = value(mt_rank, round, i);
    return out;
}

/* Short ones one by one, then all at once. */
static void write_all(int rank, MPI_Aint at, int round, int n)
{
    const int64_t *out = values(round, n);
    for (int i = 0; i < 4; i++)
        put(rank, at + 8 * i, out + i, 1);
    MT_OK(MPI_Win_flush(rank, win));
    put(rank, at + 32, out + 4, n - 4);
    MT_OK(MPI_Win_flush(rank, win));
}

/* The same addresses are attached again and again: with the same pages, with others, as part of a
 * longer region, and as the end of one that begins elsewhere. */
static void attach_again(void)
{
    char *room = (char *)map_pages(NULL, 3 * BYTES);
    mt_section("attached again at the same address");
    MT_OK(MPI_Win_lock_all(0, win));
    for (int round = 0; round < ROUNDS; round++) {
        const size_t before = round % 4 == 3 ? BYTES / 2 : 0, more = round % 4 == 2 ? BYTES : 0;
        int64_t *mine = (int64_t *)(void *)(room + BYTES);
        if (round % 4 == 1)
            map_pages(room, 3 * BYTES);
        memset(room, 0, 3 * BYTES);
        MT_OK(MPI_Win_attach(win, (char *)mine - before, (MPI_Aint)(BYTES + more + before)));
        const MPI_Aint at = exchange(address(mine));
        for (int use = 0; use < 3; use++) {
            write_all(to, at, 3 * round + use, LONGS);
            tell(to);
            hear(from);
            check_here(mine, from, 3 * round + use, LONGS);
            check_there(to, at, 3 * round + use, LONGS);
            tell(to);
            tell(from);
            hear(from);
            hear(to);
        }
        MT_OK(MPI_Win_detach(win, (char *)mine - before));
    }
    MT_OK(MPI_Win_unlock_all(win));
    munmap(room, 3 * BYTES);
}

/* What is not attached any more is refused, the connection stays, and the window goes on. */
static void after_detach(void)
{
    int64_t *mine = map_pages(NULL, BYTES);
    const int64_t *out = values(1, LONGS);
    mt_section("not attached any more");
    MT_OK(MPI_Win_attach(win, mine, BYTES));
    const MPI_Aint at = exchange(address(mine));
    MT_OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < 3; i++)
        write_all(to, at, 0, LONGS);
    tell(to);
    hear(from);
    MT_OK(MPI_Win_detach(win, mine));
    memset(mine, 0, BYTES);
    tell(from);
    hear(to);
    for (int n = 1; n <= LONGS; n += LONGS - 1) {
        const int err = MPI_Put(out, n, MPI_INT64_T, to, at, n, MPI_INT64_T, win);
        CHECK_ERR(err ? err : MPI_Win_flush(to, win), MPI_ERR_RMA_RANGE);
    }
    tell(to);
    hear(from);
    CHECK_BYTES(mine, BYTES, 0);
    MT_OK(MPI_Win_attach(win, mine, BYTES));
    tell(from);
    hear(to);
    for (int i = 0; i < 3; i++)
        write_all(to, at, 2 + i, LONGS);
    check_there(to, at, 4, LONGS);
    MT_OK(MPI_Win_unlock_all(win));
    tell(to);
    hear(from);
    check_here(mine, from, 4, LONGS);
    MT_OK(MPI_Win_detach(win, mine));
    munmap(mine, BYTES);
}

/* All others use parts of one region of rank 0, which attaches and detaches other memory all the
 * while, and at the end that region itself, of which all know. */
static void many_origins(void)
{
    enum { PART = 64 };
    const size_t bytes = (size_t)mt_size * PART * 8;
    int64_t *mine = NULL;
    MPI_Aint at = 0;
    mt_section("many origins");
    if (mt_rank == 0)
        mine = map_pages(NULL, bytes);
    for (int round = 0; round < 4; round++) {
        if (mt_rank == 0) {
            memset(mine, 0, bytes);
            MT_OK(MPI_Win_attach(win, mine, (MPI_Aint)bytes));
            at = address(mine);
        }
        MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);
        if (mt_rank) {
            const MPI_Aint part = at + mt_rank * PART * 8;
            MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
            for (int i = 0; i < 30; i++) {
                write_all(0, part, round * 30 + i, PART);
                check_there(0, part, round * 30 + i, PART);
            }
            MT_OK(MPI_Win_unlock(0, win));
            tell(0);
        } else {
            static int64_t other[100 * 16];
            for (int i = 0; i < 100; i++)
                MT_OK(MPI_Win_attach(win, other + i * 16, 64));
            for (int i = 0; i < 100; i++)
                MT_OK(MPI_Win_detach(win, other + (i * 37 % 100) * 16));
            for (int r = 1; r < mt_size; r++)
                hear(r);
            for (int r = 1; r < mt_size; r++)
                check_here(mine + r * PART, r, round * 30 + 29, PART);
            MT_OK(MPI_Win_detach(win, mine));
            mine = map_pages(mine, bytes);
        }
    }
    if (mt_rank == 0)
        munmap(mine, bytes);
}

/* The target holds its own lock, for which a long put waits, while it detaches the region of that
 * put, of which the origin knows, and attaches it anew. */
static void under_a_lock(void)
{
    int64_t *mine = mt_rank == 0 ? map_pages(NULL, BYTES) : NULL;
    MPI_Aint at = 0;
    mt_section("detached while a put waits for the lock");
    if (mt_rank == 0) {
        MT_OK(MPI_Win_attach(win, mine, BYTES));
        at = address(mine);
    }
    MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    for (int round = 0; round < 4; round++) {
        if (mt_rank == 1) {
            MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
            for (int i = 0; i < 3; i++)
                write_all(0, at, round, LONGS);
            MT_OK(MPI_Win_unlock(0, win));
            tell(0);
            hear(0);
            tell(0);
            MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
            put(0, at, values(100 + round, LONGS), LONGS);
            MT_OK(MPI_Win_unlock(0, win));
            tell(0);
            hear(0);
        } else if (mt_rank == 0) {
            hear(1);
            MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
            check_here(mine, 1, round, LONGS);
            tell(1);
            hear(1);
            mt_compute(0.02);
            MT_OK(MPI_Win_detach(win, mine));
            mine = map_pages(mine, BYTES);
            MT_OK(MPI_Win_attach(win, mine, BYTES));
            MT_OK(MPI_Win_unlock(0, win));
            hear(1);
            MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
            check_here(mine, 1, 100 + round, LONGS);
            MT_OK(MPI_Win_unlock(0, win));
            tell(1);
        }
    }
    if (mt_rank == 0) {
        MT_OK(MPI_Win_detach(win, mine));
        munmap(mine, BYTES);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* In pieces, with a gap between two regions or within one, in every kind of epoch. */
static void in_pieces(void)
{
    enum { PIECES = 3, PIECE = 1200, APART = 1600 };
    int64_t *mine = map_pages(NULL, PIECES * APART * 8), in[PIECE];
    MPI_Datatype rows;
    mt_section("in pieces");
    MPI_Type_vector(PIECES, PIECE, APART, MPI_INT64_T, &rows);
    MPI_Type_commit(&rows);
    for (int apart = 0; apart < 2; apart++) {
        const int regions = apart ? PIECES : 1;
        const MPI_Aint len = apart ? PIECE * 8 : PIECES * APART * 8;
        for (int i = 0; i < regions; i++)
            MT_OK(MPI_Win_attach(win, mine + i * APART, len));
        const MPI_Aint at = exchange(address(mine));
        static int64_t out[PIECES * PIECE];
        for (int round = 0; round < 6; round++) {
            for (int i = 0; i < PIECES * PIECE; i++)
                out[i] = value(mt_rank, round, i);
            const bool fence = round % 2;
            MT_OK(fence ? MPI_Win_fence(0, win) : MPI_Win_lock_all(0, win));
            MT_OK(MPI_Put(out, PIECES * PIECE, MPI_INT64_T, to, at, 1, rows, win));
            MT_OK(fence ? MPI_Win_fence(0, win) : MPI_Win_flush(to, win));
            MT_OK(MPI_Get(in, PIECE, MPI_INT64_T, to, at + APART * 8, PIECE, MPI_INT64_T, win));
            MT_OK(fence ? MPI_Win_fence(MPI_MODE_NOSUCCEED, win) : MPI_Win_unlock_all(win));
            int wrong = 0;
            for (int i = 0; i < PIECE; i++)
                wrong += in[i] != value(mt_rank, round, PIECE + i);
            CHECK(wrong == 0, "%d values got in round %d", wrong, round);
            tell(to);
            hear(from);
            MT_OK(MPI_Win_sync(win));
            for (int i = 0; i < PIECES * PIECE; i++)
                wrong += mine[i / PIECE * APART + i % PIECE] != value(from, round, i);
            CHECK(wrong == 0, "%d values put in round %d", wrong, round);
            tell(from);
            hear(to);
        }
        for (int i = 0; i < regions; i++)
            MT_OK(MPI_Win_detach(win, mine + i * APART));
    }
    MPI_Type_free(&rows);
    munmap(mine, PIECES * APART * 8);
}

/* Regions of which some may not be registered. */
static void many_regions(void)
{
    enum { EACH = 24 };
    int64_t *mine = map_pages(NULL, REGIONS * (EACH + 8) * 8);
    mt_section("%d regions", REGIONS);
    for (int i = 0; i < REGIONS; i++)
        MT_OK(MPI_Win_attach(win, mine + i * (EACH + 8), EACH * 8));
    const MPI_Aint at = exchange(address(mine));
    MT_OK(MPI_Win_lock_all(0, win));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < REGIONS; i++)
            write_all(to, at + i * (EACH + 8) * 8, round * REGIONS + i, EACH);
        for (int i = 0; i < REGIONS; i++)
            check_there(to, at + i * (EACH + 8) * 8, round * REGIONS + i, EACH);
        tell(to);
        hear(from);
        for (int i = 0; i < REGIONS; i++)
            check_here(mine + i * (EACH + 8), from, round * REGIONS + i, EACH);
        for (int i = round % 2; i < REGIONS; i += 2) {
            MT_OK(MPI_Win_detach(win, mine + i * (EACH + 8)));
            MT_OK(MPI_Win_attach(win, mine + i * (EACH + 8), EACH * 8));
        }
        tell(from);
        hear(to);
    }
    MT_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < REGIONS; i += 2) /* the others go with the window */
        MT_OK(MPI_Win_detach(win, mine + i * (EACH + 8)));
    MT_OK(MPI_Win_free(&win));
    munmap(mine, REGIONS * (EACH + 8) * 8);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    mt_timeout(100);
    to = (mt_rank + 1) % mt_size;
    from = (mt_rank + mt_size - 1) % mt_size;
    MT_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    mt_win_errors_return(win);
    if (argc < 2) {
        attach_again();
        after_detach();
        many_origins();
        under_a_lock();
        in_pieces();
    }
    many_regions();
    return MT_FINISH();
}
