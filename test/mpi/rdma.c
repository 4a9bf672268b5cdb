/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma.c - large puts and gets over the network, in every kind of epoch, with sizes
 * around the one from which the channel does them by itself (src/rma/origin/rdma.c).
 *
 * Started by rdma.sh, which looks at the statistics for how they went.
 */
#include "mtest.h"

/* 24 KiB is where providers over sockets begin (src/netmod/ofi/nmofi.c). */
enum { MIN = 24 * 1024, ROOM = 4 * MIN + 64 };

static unsigned char *base, *out, *in;
static MPI_Win win;

static void fill(unsigned char *p, size_t n, unsigned tag)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(tag * 41 + i * 5 + (i >> 8));
}

static int wrong(const unsigned char *p, size_t n, unsigned tag)
{
    int bad = 0;
    for (size_t i = 0; i < n; i++)
        bad += p[i] != (unsigned char)(tag * 41 + i * 5 + (i >> 8));
    return bad;
}

static int right(void)
{
    return (mt_rank + 1) % mt_size;
}
static int left(void)
{
    return (mt_rank + mt_size - 1) % mt_size;
}

static void check_put(int n, unsigned tag)
{
    CHECK(wrong(base + 8, (size_t)n, tag + (unsigned)left()) == 0, "%d bytes put by rank %d", n,
          left());
    CHECK(base[7] == 0 && base[8 + n] == 0, "bytes beside %d put by rank %d", n, left());
}

/* What a neighbour put must be there when the synchronization says so, and a get must
 * bring what was there before the target's next store. */
static void by_fence(int n)
{
    mt_section("fence, %d bytes", n);
    memset(base, 0, ROOM);
    for (unsigned round = 0; round < 4; round++) {
        fill(out, (size_t)n, round + (unsigned)mt_rank);
        MT_OK(MPI_Win_fence(0, win));
        MT_OK(MPI_Put(out, n, MPI_BYTE, right(), 8, n, MPI_BYTE, win));
        MT_OK(MPI_Win_fence(0, win));
        check_put(n, round);
        MT_OK(MPI_Get(in, n, MPI_BYTE, right(), 8, n, MPI_BYTE, win));
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        CHECK(wrong(in, (size_t)n, round + (unsigned)mt_rank) == 0, "%d bytes got in round %u", n,
              round);
        memset(base, 0, ROOM); /* at once: gets must be over */
    }
}

static void by_pscw(int n)
{
    MPI_Group world, to, from;
    const int r = right(), l = left();
    mt_section("post, start, complete, wait, %d bytes", n);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &r, &to);
    MPI_Group_incl(world, 1, &l, &from);
    for (unsigned round = 0; round < 4; round++) {
        memset(base, 0, ROOM);
        fill(base + 2 * MIN, (size_t)n, 100 + round + (unsigned)mt_rank);
        fill(out, (size_t)n, round + (unsigned)mt_rank);
        MT_OK(MPI_Win_post(from, 0, win));
        MT_OK(MPI_Win_start(to, 0, win));
        MT_OK(MPI_Get(in, n, MPI_BYTE, r, 2 * MIN, n, MPI_BYTE, win));
        MT_OK(MPI_Put(out, n, MPI_BYTE, r, 8, n, MPI_BYTE, win));
        MT_OK(MPI_Win_complete(win));
        memset(out, 255, (size_t)n);
        MT_OK(MPI_Win_wait(win));
        check_put(n, round);
        memset(base + 2 * MIN, 0, (size_t)n);
        CHECK(wrong(in, (size_t)n, 100 + round + (unsigned)r) == 0, "%d bytes got in round %u", n,
              round);
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&world);
}

enum { LOCK_EXCLUSIVE, LOCK_ALL, LOCK_NOCHECK, LOCK_KINDS };

static void open_lock(int kind)
{
    if (kind == LOCK_ALL)
        MT_OK(MPI_Win_lock_all(0, win));
    else
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), kind == LOCK_NOCHECK ? MPI_MODE_NOCHECK : 0,
                           win));
}

static void close_lock(int kind)
{
    MT_OK(kind == LOCK_ALL ? MPI_Win_unlock_all(win) : MPI_Win_unlock(right(), win));
}

static void by_lock(int kind, int n)
{
    mt_section("lock of kind %d, %d bytes", kind, n);
    for (unsigned round = 0; round < 3; round++) {
        MPI_Request req[2];
        memset(base, 0, ROOM);
        MPI_Barrier(MPI_COMM_WORLD);
        fill(out, (size_t)n, round + (unsigned)mt_rank);
        open_lock(kind);
        if (round == 0) {
            MT_OK(MPI_Put(out, n, MPI_BYTE, right(), 8, n, MPI_BYTE, win));
            MT_OK(MPI_Win_flush(right(), win));
            MT_OK(MPI_Get(in, n, MPI_BYTE, right(), 8, n, MPI_BYTE, win));
            MT_OK(MPI_Win_flush_local(right(), win));
        } else if (round == 1) {
            MT_OK(MPI_Rput(out, n, MPI_BYTE, right(), 8, n, MPI_BYTE, win, &req[0]));
            MT_OK(MPI_Wait(&req[0], MPI_STATUS_IGNORE));
            MT_OK(MPI_Win_flush(right(), win));
            MT_OK(MPI_Rget(in, n, MPI_BYTE, right(), 8, n, MPI_BYTE, win, &req[1]));
            MT_OK(MPI_Wait(&req[1], MPI_STATUS_IGNORE));
        } else {
            MT_OK(MPI_Put(out, n, MPI_BYTE, right(), 8, n, MPI_BYTE, win));
            close_lock(kind);
            open_lock(kind);
            MT_OK(MPI_Get(in, n, MPI_BYTE, right(), 8, n, MPI_BYTE, win));
        }
        close_lock(kind);
        CHECK(wrong(in, (size_t)n, round + (unsigned)mt_rank) == 0, "%d bytes got in round %u", n,
              round);
        MPI_Barrier(MPI_COMM_WORLD);
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, win));
        check_put(n, round);
        MT_OK(MPI_Win_unlock(mt_rank, win));
    }
}

/* Exclusive locks of all on one target: who gets the lock finds the last one's data whole. */
static void take_turns(int n)
{
    mt_section("turns, %d bytes", n);
    memset(base, 0, ROOM);
    MPI_Barrier(MPI_COMM_WORLD);
    for (unsigned round = 0; round < 20; round++) {
        int bad = 0;
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        MT_OK(MPI_Get(in, n, MPI_BYTE, 0, 8, n, MPI_BYTE, win));
        MT_OK(MPI_Win_flush(0, win));
        for (int i = 1; i < n; i++)
            bad += in[i] != in[0];
        CHECK(bad == 0, "%d bytes are not of the last one", bad);
        memset(out, (int)round * mt_size + mt_rank + 1, (size_t)n);
        MT_OK(MPI_Put(out, n, MPI_BYTE, 0, 8, n, MPI_BYTE, win));
        MT_OK(MPI_Win_unlock(0, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {MIN - 1, MIN, MIN + 1, 2 * MIN - 64};
    MT_INIT(argc, argv);
    out = malloc(ROOM);
    in = malloc(ROOM);
    MT_OK(MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        by_fence(sizes[i]);
        by_pscw(sizes[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int kind = 0; kind < LOCK_KINDS; kind++)
            by_lock(kind, sizes[i]);
        take_turns(sizes[i]);
    }
    MT_OK(MPI_Win_free(&win));
    free(out);
    free(in);
    return MT_FINISH();
}
