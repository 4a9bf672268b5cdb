/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mixed_know.c - what the ranks of mixed_modes know of each other, and how they come to know it.
 */
#include "mixed_modes.h"

struct mt_win mm_win[HB_WINDOWS];
bool mm_session[HB_WINDOWS][HB_RANKS];
int mm_step, mm_ranks;

/* Some rank takes its time now and then. */
void mm_late(void)
{
    const int who = mm_roll(8 * mm_ranks), tenths = mm_roll(10);
    if (mm_me(who))
        mt_compute(tenths * 1e-4);
}

/* A message: the second rank knows all that the first does. */
void mm_message(int from, int to)
{
    int token = mm_step;
    hb_learn(&hb_know[to], &hb_know[from]);
    if (mm_me(from) && from != to)
        MT_OK(MPI_Send(&token, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    if (mm_me(to) && from != to)
        MT_OK(MPI_Recv(&token, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(token == mm_step || from == to, "message of step %d in step %d", token, mm_step);
}

void mm_everybody_knows(const struct hb_clock *what)
{
    for (int r = 0; r < mm_ranks; r++)
        hb_learn(&hb_know[r], what);
}

struct hb_clock mm_all_know(void)
{
    struct hb_clock all = hb_know[0];
    for (int r = 1; r < mm_ranks; r++)
        hb_learn(&all, &hb_know[r]);
    return all;
}

bool mm_any_session(int w)
{
    bool any = false;
    for (int r = 0; r < mm_ranks; r++)
        any = any || mm_session[w][r];
    return any;
}

/* All locks on this part have been given back, as far as the clock knows (a window must not be
 * locked and exposed at the same time: 12.5.3). */
bool mm_unlocked(const struct hb_part *p, const struct hb_clock *know)
{
    return hb_behind(know, &p->shared) && hb_behind(know, &p->exclusive);
}
