/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_between.c - a target that computes, calls the host once, and computes on: what it is sent
 * is served all the same (MPI 4.1, 12.7.3), from before that call and from behind it.
 *
 * Rank 1 is the target and waits in its own memory for two words: one says that an operation
 * begins, the other that it is complete. Between the two it calls MPI_Iprobe once, at another
 * moment in each round. An operation that waits for the target's next call is never complete.
 */
#include "mtcomm.h"

#include <stdatomic.h>

enum { ROUNDS = 12, BYTES = 16 << 20, PIECES = 1 << 20, BEGIN = 0, END = 8, DATA = 64 };
#define LATE 10.0 /* seconds; what is served takes some thousandths */

enum how { PUT, PUT_PIECES, GET, ACC, HOWS };
static const char *const how_names[HOWS] = {"put", "put of pieces", "get", "accumulate"};

static MPI_Datatype pieces;

static void operate(enum how how, char *buf, MPI_Win win)
{
    switch (how) {
    case PUT:
        MT_OK(MPI_Put(buf, BYTES, MPI_BYTE, 1, DATA, BYTES, MPI_BYTE, win));
        break;
    case PUT_PIECES:
        MT_OK(MPI_Put(buf, PIECES, MPI_INT64_T, 1, DATA, 1, pieces, win));
        break;
    case GET:
        MT_OK(MPI_Get(buf, BYTES, MPI_BYTE, 1, DATA, BYTES, MPI_BYTE, win));
        break;
    default:
        MT_OK(MPI_Accumulate(buf, BYTES / 8, MPI_INT64_T, 1, DATA, BYTES / 8, MPI_INT64_T, MPI_SUM,
                             win));
    }
    MT_OK(MPI_Win_flush(1, win));
}

static void tell(MPI_Aint where, int64_t round, MPI_Win win)
{
    MT_OK(MPI_Put(&round, 1, MPI_INT64_T, 1, where, 1, MPI_INT64_T, win));
    MT_OK(MPI_Win_flush(1, win));
}

static void origin(enum how how, MPI_Win win)
{
    char *buf = mt_alloc(BYTES);
    memset(buf, 1, BYTES);
    MT_OK(MPI_Win_lock_all(0, win));
    for (int round = 1; round <= ROUNDS; round++) {
        tell(BEGIN, round, win);
        operate(how, buf, win);
        tell(END, round, win);
    }
    MT_OK(MPI_Win_unlock_all(win));
    free(buf);
}

/* Compute until the word has come to the round, or it is too late. */
static bool comes(const unsigned char *mem, int where, int round)
{
    _Atomic int64_t *word = (_Atomic int64_t *)(void *)(mem + where);
    const double start = mt_now();
    while (atomic_load_explicit(word, memory_order_acquire) < round)
        if (mt_now() - start > LATE)
            return false;
    return true;
}

static void target(const unsigned char *mem)
{
    for (int round = 1, flag; round <= ROUNDS; round++) {
        if (!CHECK(comes(mem, BEGIN, round), "round %d does not begin", round))
            return;
        mt_compute(round % 6 * 0.0005);
        MT_OK(MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        if (!CHECK(comes(mem, END, round), "round %d does not end while the target computes",
                   round))
            return;
    }
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    MPI_Win win;
    unsigned char *mem;

    MT_OK(MPI_Type_vector(PIECES, 1, 2, MPI_INT64_T, &pieces));
    MT_OK(MPI_Type_commit(&pieces));
    for (enum how how = 0; how < HOWS; how++) {
        mt_section("%s", how_names[how]);
        /* Private memory: the operations go by packets or by the kernel, as the path says. */
        mem = mt_rank == 1 ? mt_alloc(DATA + BYTES) : NULL;
        if (mem)
            memset(mem, 0, DATA + BYTES);
        if (!MT_OK(MPI_Win_create(mem, mem ? DATA + BYTES : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                                  &win)))
            break;
        if (mt_rank == 0)
            origin(how, win);
        else if (mt_rank == 1)
            target(mem);
        MT_OK(MPI_Win_free(&win));
        free(mem);
    }
    MT_OK(MPI_Type_free(&pieces));
    return MT_FINISH();
}
