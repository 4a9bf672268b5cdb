/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unlock.c - what MPI_Win_unlock takes that does not wait for its target; see bench.h.
 *
 * Rank 0 locks, puts into and unlocks each of the others in turn, on a window without and on one
 * with the info key mpirma_weak_unlock. In the second the unlock of one target is under way while
 * the next is locked. With one target only, its next lock waits for what is under way.
 */
#define _GNU_SOURCE 1
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bench/net/bench.h"

static void open_window(bool weak, int64_t **base, MPI_Win *win)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_weak_unlock", weak ? "true" : "false");
    if (MPI_Win_allocate(sizeof **base, 1, info, MPI_COMM_WORLD, base, win))
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Info_free(&info);
}

/* The word of the last epochs must be at all targets. */
static void verify(const struct net *b, const int64_t *base, int64_t word, MPI_Win win)
{
    int64_t got = word;
    if (b->rank == 0) { /* the flush waits for the epochs before */
        MPI_Win_lock_all(0, win);
        MPI_Win_flush_all(win);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank > 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, b->rank, 0, win);
        got = *base;
        MPI_Win_unlock(b->rank, win);
    }
    if (got != word) {
        fprintf(stderr, "net: rank %d: the word is %lld, expected %lld\n", b->rank, (long long)got,
                (long long)word);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void net_unlock(struct net *b)
{
    if (b->nprocs < 3) {
        if (b->rank == 0)
            printf("no unlocks in turn: they need at least 3 ranks\n");
        return;
    }
    for (int weak = 0; weak < 2; weak++) {
        const int64_t word = 4711 + weak;
        int64_t *base;
        struct epoch_arg a = {.d = b->nprocs - 1, .size = sizeof word};
        open_window(weak, &base, &a.win);
        memcpy(b->buf, &word, sizeof word);
        const double ns = net_polling(b, lock_turns, &a, 2000, false) / a.d;
        net_keep(b, weak ? "unlock_weak" : "unlock", "polling", a.size, ns, 0);
        verify(b, base, word, a.win);
        MPI_Win_free(&a.win);
    }
}
