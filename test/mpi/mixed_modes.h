/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mixed_modes.h - what the parts of mixed_modes share: the windows, the ranks and what they know,
 * and a step of every kind.
 *
 * Every rank calls all of this with the same arguments and draws the same numbers (mm_roll); what
 * is said of rank r is done by r alone (mm_me) and noted by all in the model (hborder.h).
 * mixed_op.h has the operations.
 */
#ifndef MRMA_TEST_MIXED_MODES_H
#define MRMA_TEST_MIXED_MODES_H

#include "hborder.h"
#include "mtcomm.h"

enum { MM_MOST_OPS = 10 }; /* fewer operations than this at a time */

extern struct mt_win mm_win[HB_WINDOWS];
extern bool mm_session[HB_WINDOWS][HB_RANKS]; /* in an epoch of lock_all */
extern int mm_step, mm_ranks;

static inline int mm_roll(int n) /* 0 .. n-1 */
{
    return (int)mt_rand((uint64_t)n);
}

static inline bool mm_me(int rank)
{
    return rank == mt_rank;
}

static inline uint64_t mm_element(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* mixed_know.c */
void mm_late(void);
void mm_message(int from, int to);
void mm_everybody_knows(const struct hb_clock *what);
struct hb_clock mm_all_know(void);
bool mm_any_session(int w);
bool mm_unlocked(const struct hb_part *p, const struct hb_clock *know);

/* mixed_local.c */
void mm_load_own(int w, int owner);
void mm_store_own(int w, int owner);
void mm_local(int w, int owner, bool store);

/* mixed_fence.c, mixed_pscw.c */
void mm_fences_begin(void); /* of new windows */
void mm_fences(int w);
void mm_pscw(int w);

/* mixed_lock.c */
void mm_flush(int w, int origin, int target);
bool mm_may_lock(int w, int origin, int target, bool exclusive);
void mm_locks(int w);

/* mixed_lock_all.c */
void mm_lock_alls(int w);
void mm_end_sessions(int w);

#endif
