/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mixed_local.c - loads and stores of mixed_modes: each rank's, in its own part of the windows.
 */
#include "mixed_op.h"

/* The owner looks at what nobody may be changing; its accesses are complete with its next event. */
void mm_load_own(int w, int owner)
{
    struct hb_part *p = &hb_part[w][owner];
    for (int b = 0; b < HB_BLOCKS; b++) {
        struct hb_block *k = &p->block[b];
        if (hb_missing(k, &hb_know[owner], owner, HB_READ, 0) != HB_UNORDERED)
            continue;
        hb_note_local(k, owner, HB_READ);
        const bool same =
            !mm_me(owner) || CHECK_EQUAL(mm_win[w].base + k->at, p->mem + k->at, k->bytes);
        CHECK(same, "window %d, block %d at %zu", w, b, k->at);
    }
}

void mm_store_own(int w, int owner)
{
    struct hb_part *p = &hb_part[w][owner];
    for (int i = mm_roll(4); i > 0; i--) {
        struct hb_block *b = &p->block[mm_roll(HB_BLOCKS)];
        const size_t from = (size_t)mm_roll(MM_POOL - (1 << 20)),
                     bytes = 1 + (size_t)mm_roll((int)b->bytes);
        if (hb_missing(b, &hb_know[owner], owner, HB_WRITE, 0) != HB_UNORDERED)
            continue;
        hb_note_local(b, owner, HB_WRITE);
        memcpy(p->mem + b->at, mm_pool + from, bytes);
        if (mm_me(owner))
            memcpy(mm_win[w].base + b->at, mm_pool + from, bytes);
        p->stored = true;
    }
}

/* The counter is changed under exclusive locks only, in an order that nobody knows. */
static void look_at_counter(int w, int owner)
{
    const struct hb_part *p = &hb_part[w][owner];
    if (!hb_behind(&hb_know[owner], &p->counted) || !mm_me(owner))
        return;
    const uint64_t seen = mm_element(mm_win[w].base + HB_COUNTER),
                   expected = mm_element(p->mem + HB_COUNTER);
    CHECK(seen == expected, "step %d: counter %llu, expected %llu", mm_step,
          (unsigned long long)seen, (unsigned long long)expected);
}

/* In an epoch of its own, or in that of lock_all. Not store: at the end, when all is known. */
void mm_local(int w, int owner, bool store)
{
    const bool sync = mm_session[w][owner], wish = !mm_any_session(w) && mm_roll(2);
    struct hb_part *p = &hb_part[w][owner];
    const bool exclusive = wish && hb_behind(&hb_know[owner], &p->sessions); /* see mixed_lock.c */
    /* What others have done with MPI_MODE_NOCHECK must be over. */
    if (!sync && !hb_behind(&hb_know[owner], exclusive ? &p->free_shared : &p->free_exclusive))
        return;
    if (!sync && !hb_behind(&hb_know[owner], &p->free_exclusive))
        return;
    if (mm_me(owner))
        MT_OK(sync ? MPI_Win_sync(mm_win[w].win)
                   : MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, owner, 0,
                                  mm_win[w].win));
    mm_load_own(w, owner);
    if (store)
        mm_store_own(w, owner);
    else
        look_at_counter(w, owner);
    if (mm_me(owner))
        MT_OK(sync ? MPI_Win_sync(mm_win[w].win) : MPI_Win_unlock(owner, mm_win[w].win));
    const int64_t now = hb_tick(owner);
    if (!sync)
        (exclusive ? &p->exclusive : &p->shared)->t[owner] = now;
}
