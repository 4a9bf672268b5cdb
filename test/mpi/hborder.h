/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hborder.h - which accesses to windows are ordered, by what MPI says and by nothing else.
 *
 * A vector clock per rank: know[r].t[p] is the last event of rank p that r has heard of. Every
 * block of a window remembers, for each rank, the event behind which its accesses are complete at
 * the target (MPI 4.1, 12.7): the origin's flush or unlock in passive epochs, the target's own
 * closing fence or MPI_Win_wait in active ones; HB_OPEN as long as that has not come. A new access
 * is ordered behind an old one if it knows that event. Every rank runs the same model with all
 * ranks in it, and with their memory.
 */
#ifndef MRMA_TEST_HBORDER_H
#define MRMA_TEST_HBORDER_H

#include "mtest.h"

enum {
    HB_RANKS = 8,
    HB_WINDOWS = 2,
    HB_BLOCKS = 24,
    HB_COUNTER =
        (1 << 20) + 3 * (1 << 16) + 8 * (1 << 12) + 12 * 256, /* behind the blocks: 8 bytes */
    HB_AREA = HB_COUNTER + 64,
    HB_UNORDERED = -1, /* of hb_missing: may go on */
    HB_BUSY = -2       /* an access is not complete yet, whoever tells */
};
#define HB_OPEN INT64_MAX

struct hb_clock {
    int64_t t[HB_RANKS];
};

enum hb_use {
    HB_READ,
    HB_WRITE,
    HB_SUM, /* accumulate that commutes with those of its kind, and whose result nobody looks at */
    HB_ORDERED /* any other accumulate: behind those of other origins (one origin's are
                  ordered, 12.7.2) */
};

struct hb_block {
    size_t at, bytes;
    struct hb_clock writes, reads, sums, ordered;
    int op; /* of the sums: others must not meet them (accumulate_ops, 12.2.1) */
};

/* One rank's part of one window. */
struct hb_part {
    char *mem;
    struct hb_block block[HB_BLOCKS];
    struct hb_clock shared, exclusive; /* ends of the locks held on it */
    struct hb_clock
        sessions; /* ends of the epochs of lock_all: their shared locks, held for long */
    struct hb_clock free_shared, free_exclusive; /* of those with MPI_MODE_NOCHECK */
    struct hb_clock counted;                     /* changes of the counter */
    int64_t exposed; /* the owner's event that ended its last exposure */
    bool stored;     /* the owner has stored since its last fence or post */
    bool target;     /* of an operation in this fence phase */
};

extern struct hb_part hb_part[HB_WINDOWS][HB_RANKS];
extern struct hb_clock hb_know[HB_RANKS];

void hb_begin(int ranks); /* all memory zero, nothing known, nothing done */
void hb_end(void);
int64_t hb_tick(int rank); /* a new event of rank, known to it */
void hb_learn(struct hb_clock *to, const struct hb_clock *from);
bool hb_behind(const struct hb_clock *know, const struct hb_clock *events);
struct hb_clock hb_both(const struct hb_clock *a, const struct hb_clock *b);

/* A rank that has to be heard of before origin, which knows this much, may use the block so. */
int hb_missing(const struct hb_block *b, const struct hb_clock *know, int origin, enum hb_use use,
               int op);
void hb_note(struct hb_block *b, int origin, enum hb_use use, int op); /* not complete yet */
void hb_note_local(struct hb_block *b, int owner,
                   enum hb_use use); /* complete with the owner's next event */
void hb_passive_done(struct hb_part *part, int origin,
                     int64_t event); /* origin's accesses are complete */
void hb_active_done(struct hb_part *part, int owner, int64_t event); /* everybody's are */

#endif
