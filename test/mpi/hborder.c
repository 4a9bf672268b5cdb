/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hborder.c - vector clocks and what they say of blocks; see hborder.h.
 */
#include "hborder.h"

#include "mtcomm.h"

struct hb_part hb_part[HB_WINDOWS][HB_RANKS];
struct hb_clock hb_know[HB_RANKS];
static int ranks;

static void place_blocks(struct hb_part *part)
{
    static const struct {
        int n;
        size_t bytes;
    } sizes[] = {{1, 1 << 20}, {3, 1 << 16}, {8, 1 << 12}, {12, 256}};
    size_t at = 0;
    int b = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int i = 0; i < sizes[s].n; i++, at += sizes[s].bytes)
            part->block[b++] = (struct hb_block){.at = at, .bytes = sizes[s].bytes, .op = -1};
}

void hb_begin(int n)
{
    ranks = n;
    memset(hb_know, 0, sizeof hb_know);
    for (int w = 0; w < HB_WINDOWS; w++)
        for (int r = 0; r < n; r++) {
            hb_part[w][r] = (struct hb_part){.mem = mt_alloc(HB_AREA)};
            memset(hb_part[w][r].mem, 0, HB_AREA);
            place_blocks(&hb_part[w][r]);
        }
}

void hb_end(void)
{
    for (int w = 0; w < HB_WINDOWS; w++)
        for (int r = 0; r < ranks; r++)
            free(hb_part[w][r].mem);
}

int64_t hb_tick(int rank)
{
    return ++hb_know[rank].t[rank];
}

void hb_learn(struct hb_clock *to, const struct hb_clock *from)
{
    for (int p = 0; p < ranks; p++)
        if (from->t[p] > to->t[p])
            to->t[p] = from->t[p];
}

struct hb_clock hb_both(const struct hb_clock *a, const struct hb_clock *b)
{
    struct hb_clock c = *a;
    hb_learn(&c, b);
    return c;
}

bool hb_behind(const struct hb_clock *know, const struct hb_clock *events)
{
    for (int p = 0; p < ranks; p++)
        if (know->t[p] < events->t[p])
            return false;
    return true;
}

/* except: the rank whose own events need not be known, or -1. */
static int missing(const struct hb_clock *know, const struct hb_clock *events, int except)
{
    int who = HB_UNORDERED;
    for (int p = 0; p < ranks; p++) {
        if (p == except || know->t[p] >= events->t[p])
            continue;
        if (events->t[p] == HB_OPEN)
            return HB_BUSY;
        who = p;
    }
    return who;
}

int hb_missing(const struct hb_block *b, const struct hb_clock *know, int origin, enum hb_use use,
               int op)
{
    struct hb_clock others = b->sums, all = b->writes;
    if (use != HB_READ)
        hb_learn(&all, &b->reads);
    if (use == HB_READ || use == HB_WRITE || op != b->op)
        hb_learn(&all, &b->sums);
    if (use == HB_SUM)
        others = b->ordered;
    const int who = missing(know, &all, -1);
    if (who == HB_BUSY || use == HB_READ || use == HB_WRITE)
        return who;
    const int other = missing(know, &others, origin);
    return other == HB_UNORDERED ? who : other;
}

void hb_note(struct hb_block *b, int origin, enum hb_use use, int op)
{
    if (use == HB_READ)
        b->reads.t[origin] = HB_OPEN;
    if (use == HB_WRITE)
        b->writes.t[origin] = HB_OPEN;
    if (use != HB_SUM && use != HB_ORDERED)
        return;
    b->sums.t[origin] = HB_OPEN;
    b->op = op;
    if (use == HB_ORDERED)
        b->ordered.t[origin] = HB_OPEN;
}

void hb_note_local(struct hb_block *b, int owner, enum hb_use use)
{
    int64_t *t = use == HB_READ ? &b->reads.t[owner] : &b->writes.t[owner];
    const int64_t next = hb_know[owner].t[owner] + 1;
    if (*t < next)
        *t = next;
}

/* Everything done so far with the blocks of a part. */
static void each_clock(struct hb_part *part,
                       void (*done)(struct hb_clock *c, int rank, int64_t event), int rank,
                       int64_t event)
{
    for (struct hb_block *b = part->block; b < part->block + HB_BLOCKS; b++) {
        done(&b->writes, rank, event);
        done(&b->reads, rank, event);
        done(&b->sums, rank, event);
        done(&b->ordered, rank, event);
    }
}

static void passive(struct hb_clock *c, int origin, int64_t event)
{
    if (c->t[origin] == HB_OPEN)
        c->t[origin] = event;
}

void hb_passive_done(struct hb_part *part, int origin, int64_t event)
{
    each_clock(part, passive, origin, event);
}

/* Whoever knows the owner's event knows what the origins had done before their part of the epoch
 * ended. */
static void active(struct hb_clock *c, int owner, int64_t event)
{
    bool any = false;
    for (int p = 0; p < ranks; p++)
        if (c->t[p] == HB_OPEN) {
            c->t[p] = 0;
            any = true;
        }
    if (any)
        c->t[owner] = event;
}

void hb_active_done(struct hb_part *part, int owner, int64_t event)
{
    each_clock(part, active, owner, event);
}
