/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress_poll.c - MPIRMA_PROGRESS=poll: whoever calls the library serves what has come by packet.
 *
 * Rank 0 is the target, and makes one kind of call on itself again and again, which needs nobody
 * else; the last rank puts a word into rank 0's window meanwhile. Rank 0 must see the word,
 * whatever the call is. The memory that rank 0 works on itself is another window's.
 *
 * Then rank 0 holds the lock that the last rank asks for, gives it back, and calls nothing more: by
 * the call that gives it back the other one has it. That needs rings, in which the request is when
 * the host's message behind it has come.
 */
#include "mtcomm.h"

#include <unistd.h>

#define PATIENCE 10.0 /* seconds */

struct both {
    struct mt_win far, own; /* what the last rank puts into; what rank 0 works on itself */
};

static void put(struct both *b)
{
    int64_t v = 1;
    MPI_Put(&v, 1, MPI_INT64_T, 0, mt_disp(&b->own, 0, 0), 1, MPI_INT64_T, b->own.win);
}

static void get(struct both *b)
{
    int64_t v;
    MPI_Get(&v, 1, MPI_INT64_T, 0, mt_disp(&b->own, 0, 0), 1, MPI_INT64_T, b->own.win);
}

static void accumulate(struct both *b)
{
    int64_t v = 1;
    MPI_Accumulate(&v, 1, MPI_INT64_T, 0, mt_disp(&b->own, 0, 0), 1, MPI_INT64_T, MPI_SUM,
                   b->own.win);
}

static void get_accumulate(struct both *b)
{
    int64_t v = 1, old;
    MPI_Get_accumulate(&v, 1, MPI_INT64_T, &old, 1, MPI_INT64_T, 0, mt_disp(&b->own, 0, 0), 1,
                       MPI_INT64_T, MPI_SUM, b->own.win);
}

static void fetch_and_op(struct both *b)
{
    int64_t v = 1, old;
    MPI_Fetch_and_op(&v, &old, MPI_INT64_T, 0, mt_disp(&b->own, 0, 0), MPI_SUM, b->own.win);
}

static void compare_and_swap(struct both *b)
{
    int64_t v = 1, old, other = 2;
    MPI_Compare_and_swap(&v, &other, &old, MPI_INT64_T, 0, mt_disp(&b->own, 0, 0), b->own.win);
}

static void rput(struct both *b)
{
    int64_t v = 1;
    MPI_Request req;
    MPI_Rput(&v, 1, MPI_INT64_T, 0, mt_disp(&b->own, 0, 0), 1, MPI_INT64_T, b->own.win, &req);
    MPI_Request_free(&req);
}

static void flush(struct both *b)
{
    MPI_Win_flush(0, b->own.win);
}

static void flush_local_all(struct both *b)
{
    MPI_Win_flush_local_all(b->own.win);
}

static void sync_memory(struct both *b)
{
    MPI_Win_sync(b->own.win);
}

/* Not in the epoch of the others. */
static void lock_unlock(struct both *b)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, b->own.win);
    MPI_Win_unlock(0, b->own.win);
}

static void proc_null(struct both *b)
{
    MPI_Put(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, MPI_BYTE, b->own.win);
}

static const struct {
    const char *name;
    void (*call)(struct both *b);
    bool locked; /* in a lock_all epoch */
} calls[] = {
    {"MPI_Put", put, true},
    {"MPI_Get", get, true},
    {"MPI_Accumulate", accumulate, true},
    {"MPI_Get_accumulate", get_accumulate, true},
    {"MPI_Fetch_and_op", fetch_and_op, true},
    {"MPI_Compare_and_swap", compare_and_swap, true},
    {"MPI_Rput", rput, true},
    {"MPI_Win_flush", flush, true},
    {"MPI_Win_flush_local_all", flush_local_all, true},
    {"MPI_Win_sync", sync_memory, true},
    {"MPI_Win_lock and MPI_Win_unlock", lock_unlock, false},
    {"MPI_Put to MPI_PROC_NULL", proc_null, true},
};

/* Until the last rank says, by a message of the host, that it is done. */
static void serve(struct both *b, int i)
{
    const double start = mt_now();
    MPI_Request done;
    int arrived = 0;

    MT_OK(MPI_Irecv(NULL, 0, MPI_BYTE, mt_size - 1, 0, MPI_COMM_WORLD, &done));
    if (calls[i].locked) {
        MT_OK(MPI_Win_lock_all(0, b->own.win));
    }
    while (!arrived && mt_now() - start < PATIENCE) {
        calls[i].call(b);
        MPI_Test(&done, &arrived, MPI_STATUS_IGNORE);
    }
    if (!CHECK(arrived, "%s served nothing in %.0f s", calls[i].name, PATIENCE)) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    CHECK(*(int64_t *)(void *)b->far.base == i + 1, "the word is not there");
    if (calls[i].locked) {
        MT_OK(MPI_Win_unlock_all(b->own.win));
    }
}

static void reach(struct both *b, int i)
{
    const int64_t v = i + 1;

    usleep(20000); /* rank 0 is at it by then */
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, b->far.win));
    MT_OK(MPI_Put(&v, 1, MPI_INT64_T, 0, mt_disp(&b->far, 0, 0), 1, MPI_INT64_T, b->far.win));
    MT_OK(MPI_Win_unlock(0, b->far.win));
    MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
}

/* ---- locks that are given back ---- */

enum { HELD = 1, ASKED }; /* the word in rank 0's window */

static void hold(struct both *b, bool all)
{
    const int64_t v = HELD;

    if (all) {
        MT_OK(MPI_Win_lock_all(0, b->far.win));
    } else {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, b->far.win));
    }
    MT_OK(MPI_Put(&v, 1, MPI_INT64_T, 0, mt_disp(&b->far, 0, 0), 1, MPI_INT64_T, b->far.win));
}

static void release(struct both *b, bool all)
{
    const int64_t *word = (int64_t *)(void *)b->far.base;
    const double start = mt_now();

    hold(b, all);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, mt_size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(all ? MPI_Win_unlock_all(b->far.win) : MPI_Win_unlock(0, b->far.win));
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != ASKED && mt_now() - start < PATIENCE) {
    }
    CHECK(*word == ASKED, "nobody had the lock in %.0f s", PATIENCE);
}

/* The local flush sends the put, with the request for the lock. */
static void ask(struct both *b)
{
    const int64_t v = ASKED;

    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, b->far.win));
    MT_OK(MPI_Put(&v, 1, MPI_INT64_T, 0, mt_disp(&b->far, 0, 0), 1, MPI_INT64_T, b->far.win));
    MT_OK(MPI_Win_flush_local(0, b->far.win));
    MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
    MT_OK(MPI_Win_unlock(0, b->far.win));
}

static void give_back(struct both *b, bool all)
{
    mt_section("a lock that %s gives back", all ? "MPI_Win_unlock_all" : "MPI_Win_unlock");
    if (mt_rank == 0) {
        release(b, all);
    } else if (mt_rank == mt_size - 1) {
        ask(b);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct both b;

    MT_INIT(argc, argv);
    if (mt_win_make(&b.far, MT_ALLOCATE, 64, 8, MPI_COMM_WORLD) &&
        mt_win_make(&b.own, MT_ALLOCATE, 64, 8, MPI_COMM_WORLD)) {
        for (int i = 0; i < (int)(sizeof calls / sizeof calls[0]); i++) {
            mt_section("%s", calls[i].name);
            if (mt_rank == 0) {
                serve(&b, i);
            } else if (mt_rank == mt_size - 1) {
                reach(&b, i);
            }
            MPI_Barrier(MPI_COMM_WORLD); /* rank 0 has looked before the next word comes */
        }
        if (mt_path_is("shm-packets")) {
            give_back(&b, false);
            give_back(&b, true);
        }
        mt_win_free(&b.own);
        mt_win_free(&b.far);
    }
    return MT_FINISH();
}
