/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memcheck.c - what Memcheck is to find nothing wrong with: every kind of operation on memory of
 * malloc, of MPI_Win_allocate and of a dynamic window, whose results decide what is done (where
 * mapped memory is forced, only the second). Bytes
 * between the members of a structure, which nobody writes, are put and got, too. With the argument
 * "wrong" rank 0 decides by memory that nobody has written, which Memcheck must find.
 */
#include "mtest.h"

enum { N = 1500, SMALL = 3 };

/* A gap follows the tag. */
struct padded {
    char tag;
    double value;
};

static volatile long kept;

/* Decides by each value: Memcheck tells where one of them is of bytes that nobody has written. */
static void use(const int *value, int n)
{
    for (int i = 0; i < n; i++)
        if (value[i] > 0)
            kept++;
}

static void transfer(MPI_Win win, MPI_Aint at, int to, int *mine)
{
    static int source[N], result[N];
    const int from = (mt_rank + mt_size - 1) % mt_size;

    for (int i = 0; i < N; i++)
        source[i] = mt_rank + i;
    MPI_Win_fence(0, win);
    MPI_Put(source, N, MPI_INT, to, at, N, MPI_INT, win);
    MPI_Win_fence(0, win);
    use(mine, N);
    CHECK(mine[N - 1] == from + N - 1, "expected %d, saw %d", from + N - 1, mine[N - 1]);
    MPI_Win_fence(0, win);
    MPI_Get(result, N, MPI_INT, to, at, N, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(source, SMALL, MPI_INT, to, at, SMALL, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    use(result, N);
    use(mine, N);
}

static void single(MPI_Win win, MPI_Aint at, int to, int *mine)
{
    int one = 1, zero = 0, old[SMALL] = {0};

    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    MPI_Put(&one, 1, MPI_INT, to, at, 1, MPI_INT, win);
    MPI_Win_flush(to, win);
    MPI_Fetch_and_op(&one, &old[0], MPI_INT, to, at, MPI_SUM, win);
    MPI_Win_flush(to, win);
    MPI_Compare_and_swap(&zero, &one, &old[1], MPI_INT, to, at, win);
    MPI_Win_flush(to, win);
    MPI_Get_accumulate(&one, 1, MPI_INT, &old[2], 1, MPI_INT, to, at, 1, MPI_INT, MPI_PROD, win);
    MPI_Win_unlock(to, win);
    use(old, SMALL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, win);
    use(mine, 1);
    MPI_Win_unlock(mt_rank, win);
}

/* Structures with a gap go to the partner and come back, a small number and many. */
static void gaps(MPI_Win win, MPI_Aint at, int to)
{
    enum { MOST = 64 };
    struct padded *there = malloc(MOST * sizeof *there), *back = malloc(MOST * sizeof *back);

    for (int count = 1; count <= MOST; count += MOST - 1) {
        const int bytes = count * (int)sizeof *there;
        for (int i = 0; i < count; i++)
            there[i].tag = 1, there[i].value = mt_rank;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
        MPI_Put(there, bytes, MPI_BYTE, to, at, bytes, MPI_BYTE, win);
        MPI_Win_flush(to, win);
        MPI_Get(back, bytes, MPI_BYTE, to, at, bytes, MPI_BYTE, win);
        MPI_Win_unlock(to, win);
        for (int i = 0; i < count; i++)
            CHECK(back[i].value == mt_rank, "expected %d, saw %g", mt_rank, back[i].value);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(there);
    free(back);
}

static void all(const char *kind, MPI_Win win, MPI_Aint at, int *mine)
{
    const int to = (mt_rank + 1) % mt_size;

    mt_section("%s", kind);
    transfer(win, at, to, mine);
    single(win, at, to, mine);
    gaps(win, at, to);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Aint here, at[64];
    int *base, *memory;

    MT_INIT(argc, argv);
    if (argc > 1 && strcmp(argv[1], "wrong") == 0 && mt_rank == 0) {
        int *volatile unwritten = malloc(sizeof *unwritten);
        use(unwritten, 1);
        free(unwritten);
    }

    MPI_Win_allocate(N * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    all("allocate", win, 0, base);
    if (mt_path_is("mapped"))
        return MT_FINISH();

    memory = malloc(N * sizeof *memory);
    MPI_Win_create(memory, N * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    all("malloc", win, 0, memory);
    free(memory);

    memory = malloc(N * sizeof *memory);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, N * sizeof *memory);
    MPI_Get_address(memory, &here);
    MPI_Allgather(&here, 1, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
    all("dynamic", win, at[(mt_rank + 1) % mt_size], memory);
    free(memory);
    return MT_FINISH();
}
