/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mixed_pscw.c - post, start, complete and wait in mixed_modes, with random groups.
 */
#include "mixed_op.h"

struct pscw {
    bool edge[HB_RANKS][HB_RANKS]; /* origin, target */
    bool gets_only[HB_RANKS];      /* the target says MPI_MODE_NOPUT */
    bool nocheck;
    struct hb_clock posted[HB_RANKS], completed[HB_RANKS];
};

/* Those on the other side of rank's edges. */
static int others(const struct pscw *g, int rank, bool origins, int *list)
{
    int n = 0;
    for (int r = 0; r < mm_ranks; r++)
        if (origins ? g->edge[r][rank] : g->edge[rank][r])
            list[n++] = r;
    return n;
}

static void post(int w, struct pscw *g, int t)
{
    struct hb_part *p = &hb_part[w][t];
    int list[HB_RANKS];
    const int n = others(g, t, true, list);
    const bool nostore = mm_roll(2);
    if (n == 0)
        return;
    if (mm_roll(3) == 0)
        mm_store_own(w, t);
    if (mm_me(t)) {
        MPI_Group group = mt_group(&mm_win[w], n, list);
        MT_OK(MPI_Win_post(group,
                           (g->nocheck ? MPI_MODE_NOCHECK : 0) |
                               (nostore && !p->stored ? MPI_MODE_NOSTORE : 0) |
                               (g->gets_only[t] ? MPI_MODE_NOPUT : 0),
                           mm_win[w].win));
        MPI_Group_free(&group);
    }
    p->stored = false;
    (void)hb_tick(t);
    g->posted[t] = hb_know[t];
}

static void access(int w, struct pscw *g, int o)
{
    int list[HB_RANKS], who;
    const int n = others(g, o, false, list);
    if (n == 0)
        return;
    mm_late();
    if (mm_me(o)) {
        MPI_Group group = mt_group(&mm_win[w], n, list);
        MT_OK(MPI_Win_start(group, g->nocheck ? MPI_MODE_NOCHECK : 0, mm_win[w].win));
        MPI_Group_free(&group);
    }
    for (int i = mm_roll(MM_MOST_OPS); i > 0; i--) {
        const int t = list[mm_roll(n)];
        const struct hb_clock know = hb_both(&hb_know[o], &g->posted[t]);
        (void)mm_operate(w, o, t, &know, g->gets_only[t], false, &who);
    }
    mm_late();
    if (mm_me(o)) {
        MT_OK(MPI_Win_complete(mm_win[w].win));
        mm_finish(w, -1);
    }
    (void)hb_tick(o);
    g->completed[o] = hb_know[o];
}

static void wait_exposure(int w, struct pscw *g, int t)
{
    int list[HB_RANKS], done = 0;
    const int n = others(g, t, true, list);
    const bool test = mm_roll(2), look = mm_roll(2);
    if (n == 0)
        return;
    while (mm_me(t) && test && !done)
        MT_OK(MPI_Win_test(mm_win[w].win, &done));
    if (mm_me(t) && !test)
        MT_OK(MPI_Win_wait(mm_win[w].win));
    for (int i = 0; i < n; i++)
        hb_learn(&hb_know[t], &g->completed[list[i]]);
    hb_part[w][t].exposed = hb_tick(t);
    hb_active_done(&hb_part[w][t], t, hb_part[w][t].exposed);
    if (look) {
        mm_load_own(w, t);
        (void)hb_tick(t);
    }
}

void mm_pscw(int w)
{
    struct pscw g = {.nocheck = mm_roll(4) == 0};
    const int often = 1 + mm_roll(3);
    if (mm_any_session(w))
        return;
    for (int t = 0; t < mm_ranks; t++) {
        g.gets_only[t] = mm_roll(5) == 0;
        for (int o = 0; o < mm_ranks; o++)
            g.edge[o][t] = mm_roll(often) == 0 && mm_unlocked(&hb_part[w][t], &hb_know[t]);
    }
    for (int t = 0; t < mm_ranks; t++)
        post(w, &g, t);
    for (int t = 0; g.nocheck && t < mm_ranks; t++) /* the start comes behind the post (12.5.5) */
        for (int o = 0; o < mm_ranks; o++)
            if (g.edge[o][t])
                mm_message(t, o);
    for (int o = 0; o < mm_ranks; o++)
        access(w, &g, o);
    for (int t = 0; t < mm_ranks; t++)
        wait_exposure(w, &g, t);
}
