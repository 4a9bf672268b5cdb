/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mixed_lock.c - epochs of MPI_Win_lock in mixed_modes, of both kinds, with flushes, and a counter
 * that only exclusive locks protect.
 *
 * A lock may be queued behind an exclusive one that is only asked for. So that nobody waits in a
 * circle, an exclusive lock is asked for by who knows that all epochs of lock_all before it are
 * over (in these, ranks wait for each other), and several locks are taken in the order of the
 * ranks.
 */
#include "mixed_op.h"

/* Operations of origin on target are complete: flush, or only here, or for all targets. */
void mm_flush(int w, int origin, int target)
{
    const int how = mm_roll(4);
    const bool before = mm_roll(2);
    if (mm_me(origin)) {
        if (before)
            mm_finish_requests();
        switch (how) {
        case 0:
            MT_OK(MPI_Win_flush(target, mm_win[w].win));
            break;
        case 1:
            MT_OK(MPI_Win_flush_all(mm_win[w].win));
            break;
        case 2:
            MT_OK(MPI_Win_flush_local(target, mm_win[w].win));
            break;
        default:
            MT_OK(MPI_Win_flush_local_all(mm_win[w].win));
        }
        mm_finish_requests();
        mm_finish(w, how == 0 || how == 2 ? target : -1);
    }
    const int64_t now = hb_tick(origin);
    for (int t = 0; t < mm_ranks; t++)
        if (how == 1 || (how == 0 && t == target))
            hb_passive_done(&hb_part[w][t], origin, now);
}

/* One more, with calls that others may come between but for the lock. */
static void count(int w, int origin, int target)
{
    struct hb_part *p = &hb_part[w][target];
    uint64_t v = mm_element(p->mem + HB_COUNTER) + 1;
    const MPI_Aint at = mt_disp(&mm_win[w], target, HB_COUNTER);
    memcpy(p->mem + HB_COUNTER, &v, 8);
    p->counted.t[origin] =
        hb_know[origin].t[origin] + 1; /* heard of behind the unlock: no messages under locks */
    if (!mm_me(origin))
        return;
    MT_OK(MPI_Get(&v, 1, MPI_UINT64_T, target, at, 1, MPI_UINT64_T, mm_win[w].win));
    MT_OK(MPI_Win_flush(target, mm_win[w].win));
    v++;
    MT_OK(MPI_Put(&v, 1, MPI_UINT64_T, target, at, 1, MPI_UINT64_T, mm_win[w].win));
    MT_OK(MPI_Win_flush(target, mm_win[w].win)); /* the next one here reads it */
}

/* The ends of others' epochs of lock_all on the target are heard of now and then. */
static void hear_of_sessions(const struct hb_part *p, int origin)
{
    for (int r = 0; r < mm_ranks; r++)
        if (p->sessions.t[r] != HB_OPEN && hb_know[origin].t[r] < p->sessions.t[r] && mm_roll(3))
            mm_message(r, origin);
}

/* Exposures of the target are over, as far as the origin knows, and nobody holds what conflicts
 * unseen. */
bool mm_may_lock(int w, int origin, int target, bool exclusive)
{
    const struct hb_part *p = &hb_part[w][target];
    if (hb_know[origin].t[target] < p->exposed && mm_roll(3))
        mm_message(target, origin);
    if (exclusive)
        hear_of_sessions(p, origin);
    return hb_know[origin].t[target] >= p->exposed &&
           hb_behind(&hb_know[origin], &p->free_exclusive) &&
           (!exclusive || (hb_behind(&hb_know[origin], &p->sessions) &&
                           hb_behind(&hb_know[origin], &p->free_shared)));
}

/* Nobody holds or asks for a conflicting lock: the earlier ones are known to be over, later ones
 * wait for a message. */
static bool may_nocheck(int w, int origin, int target, bool exclusive)
{
    const struct hb_part *p = &hb_part[w][target];
    return hb_behind(&hb_know[origin], &p->exclusive) &&
           (!exclusive || hb_behind(&hb_know[origin], &p->shared));
}

static void give_back(int w, int origin, int target, bool exclusive, bool nocheck)
{
    struct hb_part *p = &hb_part[w][target];
    if (mm_me(origin)) {
        mm_finish_requests();
        MT_OK(MPI_Win_unlock(target, mm_win[w].win));
        mm_finish(w, target);
    }
    const int64_t now = hb_tick(origin);
    hb_passive_done(p, origin, now);
    (exclusive ? &p->exclusive : &p->shared)->t[origin] = now;
    if (nocheck)
        (exclusive ? &p->free_exclusive : &p->free_shared)->t[origin] = now;
}

/* Several targets only with shared locks: nobody holds one and waits for another. */
static void locked(int w, int origin)
{
    const bool exclusive = mm_roll(2);
    const int most = exclusive || mm_roll(3) ? 1 : 2 + mm_roll(2), first = mm_roll(mm_ranks);
    int list[3], n = 0, who;
    bool nocheck[3];
    const int end = first + (most < mm_ranks ? most : mm_ranks);
    for (int t = 0; t < mm_ranks; t++) /* first to end, going round */
        if ((t >= first && t < end) || t + mm_ranks < end)
            if (mm_may_lock(w, origin, t, exclusive))
                list[n++] = t;
    for (int i = 0; i < n; i++) {
        nocheck[i] = mm_roll(3) == 0 && may_nocheck(w, origin, list[i], exclusive);
        if (mm_me(origin))
            MT_OK(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, list[i],
                               nocheck[i] ? MPI_MODE_NOCHECK : 0, mm_win[w].win));
    }
    for (int i = n ? mm_roll(MM_MOST_OPS) : 0; i > 0; i--) {
        const int t = list[mm_roll(n)];
        (void)mm_operate(w, origin, t, &hb_know[origin], false, true, &who);
        if (exclusive && mm_roll(4) == 0)
            count(w, origin, t);
        if (mm_roll(5) == 0)
            mm_flush(w, origin, t);
    }
    for (int i = 0; i < n; i++)
        give_back(w, origin, list[i], exclusive, nocheck[i]);
}

void mm_locks(int w)
{
    for (int o = 0; o < mm_ranks; o++) {
        const bool takes_part = mm_roll(3);
        mm_late();
        if (takes_part && !mm_session[w][o])
            locked(w, o);
    }
}
