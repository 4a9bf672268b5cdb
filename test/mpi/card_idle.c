/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * card_idle.c - passive target operations on a target that is in MPI_Recv of the host: the last
 * rank puts, gets, flushes and accumulates in one epoch on the memory of rank 0.
 *
 *   card_idle ROUNDS [packets|dynamic]
 *
 * A round is a get, a put, MPI_Fetch_and_op, MPI_Compare_and_swap and MPI_Accumulate of a word,
 * each with a flush. The number of rounds is what card_idle.sh counts with. packets: the window
 * does not ask for its accumulates to be the card's. dynamic: the memory is attached to a dynamic
 * window, whose accumulates are never the card's, and a round has none.
 */
#include "mtest.h"

enum { WORD, COUNTER, SWAPPED, SUM, CELLS };

static MPI_Win win;
static MPI_Aint begin; /* displacement of the first cell */
static bool dynamic;

static MPI_Info make_info(bool by_card)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_fabric_atomics", by_card ? "true" : "false");
    MPI_Info_set(info, "which_accumulate_ops", "sum,cas");
    return info;
}

static void flush(void)
{
    MT_OK(MPI_Win_flush(0, win));
}

static void one_round(int64_t round)
{
    const int64_t one = 1, next = round + 1;
    int64_t word = -1, old = -1, swapped = -1;
    MT_OK(MPI_Get(&word, 1, MPI_INT64_T, 0, begin + WORD, 1, MPI_INT64_T, win));
    flush();
    CHECK(word == round, "round %d: the word is %d", (int)round, (int)word);
    MT_OK(MPI_Put(&next, 1, MPI_INT64_T, 0, begin + WORD, 1, MPI_INT64_T, win));
    flush();
    if (dynamic)
        return;
    MT_OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, COUNTER, MPI_SUM, win));
    flush();
    MT_OK(MPI_Compare_and_swap(&next, &round, &swapped, MPI_INT64_T, 0, SWAPPED, win));
    flush();
    MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, SUM, 1, MPI_INT64_T, MPI_SUM, win));
    flush();
    CHECK(old == round && swapped == round, "round %d: %d and %d were there", (int)round, (int)old,
          (int)swapped);
}

static void make_window(MPI_Info info, int64_t **mine)
{
    if (!dynamic) {
        MT_OK(MPI_Win_allocate(CELLS * sizeof **mine, sizeof **mine, info, MPI_COMM_WORLD, mine,
                               &win));
        return;
    }
    *mine = malloc(CELLS * sizeof **mine);
    MT_OK(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_attach(win, *mine, CELLS * sizeof **mine));
    MPI_Get_address(*mine, &begin);
    MPI_Bcast(&begin, 1, MPI_AINT, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const int rounds = argc > 1 ? atoi(argv[1]) : 10;
    MPI_Info info = make_info(argc <= 2);
    int64_t *mine = NULL;
    dynamic = argc > 2 && strcmp(argv[2], "dynamic") == 0;
    mt_section("%d rounds", rounds);
    make_window(info, &mine);
    MPI_Info_free(&info);
    memset(mine, 0, CELLS * sizeof *mine);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 0) {
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, mt_size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else if (mt_rank == mt_size - 1) {
        MT_OK(MPI_Win_lock_all(0, win));
        for (int i = 0; i < rounds; i++)
            one_round(i);
        MT_OK(MPI_Win_unlock_all(win));
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; mt_rank == 0 && i < (dynamic ? 1 : CELLS); i++)
        CHECK(mine[i] == rounds, "cell %d is %d", i, (int)mine[i]);
    if (dynamic) {
        MT_OK(MPI_Win_detach(win, mine));
        free(mine);
    }
    MT_OK(MPI_Win_free(&win));
    return MT_FINISH();
}
