/*
 * pace.c - see pace.h.
 */
#include "rma/pace.h"

#include "base/copy.h"

enum {
    TRIAL_BYTES = 1 << 20, /* of a batch of copies that nobody waits for one by one: it ends with a wait, */
    BATCH_BYTES = 8 << 20, /* and so many where the ring is the faster one */
    KERNEL_FIRST = 16,  /* copies by the kernel after a slow one through the ring: */
    DOUBLINGS_MAX = 5,  /* a trial costs as much as some of them */
    UNTIMED = 15,       /* batches after a timed one: looking at the clock takes up to 50 ns */
    KERNEL_TIMED = 3,   /* copies in a row: the first one finds the target's lines where the ring has left them, */
    COLD_BYTES = 1 << 20, /* a ring's most */
    KERNEL_UNKNOWN = INT32_MAX, /* ns: it is asked soon */
    HUGE_TIMED = 1,     /* which matters little for one of several MiB */
    REMEMBERED_FIRST = 2, /* timed batches, how fast the other ways to fill the ring are; */
    REMEMBERED_DOUBLINGS = 4, /* later 32 */
    MOVED_BYTES = 256 * 1024, /* in shorter batches one interrupt makes as much of a difference */
    RETIME = 8,         /* timed batches until the kernel's copies are timed again, */
    CALM = 4,           /* of which a slower one counts by so much less: it may have been disturbed */
    MARGIN_PERCENT = 105 /* of the kernel's time: no reason to change */
};

static uint64_t rate(uint64_t ns, uint64_t bytes)
{
    return ns * PACE_UNIT / bytes + 1;
}

/* Through a ring that has not been used for a while the first lap is slow, and so are copies to lines of the target which the
 * kernel has left with the origin. */
static uint32_t cold_bytes(const struct pace *p)
{
    return p->in_a_row == HUGE_TIMED ? 0 : COLD_BYTES;
}

void pace_adopt(struct pace *p, const struct pace *others)
{
    if (!others->proven)
        return;
    *p = (struct pace){.kernel = KERNEL_UNKNOWN, .in_a_row = HUGE_TIMED, .fill = others->fill, .proven = true};
    for (unsigned i = 0; i < CH3_FILLS; i++)
        p->ring[i] = i == p->fill ? 0 : UINT64_MAX;
}

bool pace_by_ring(struct pace *p)
{
    if (!p->kernel)
        return false;
    if (!p->kernel_left)
        return true;
    p->kernel_left--;
    return false;
}

bool pace_times_ring(struct pace *p)
{
    if (!p->open) {
        p->open = true;
        p->timed = !p->untimed_left && !p->cold;
        p->untimed_left -= p->untimed_left != 0;
    }
    return p->timed;
}

bool pace_full(const struct pace *p)
{
    return p->bytes >= (p->proven ? BATCH_BYTES : TRIAL_BYTES);
}

/* They are tried again, and then kept for twice as long: the first trials find caches and pages as the program has left them. */
static void forget_others(struct pace *p)
{
    p->since_forgot = 0;
    p->remembers += p->remembers < REMEMBERED_DOUBLINGS;
    for (unsigned i = 0; i < CH3_FILLS; i++)
        if (i != p->fill)
            p->ring[i] = 0;
}

/* Where a long batch has become much slower so have the others, or they are better now: the processors are elsewhere. */
static void learn(struct pace *p, uint64_t now)
{
    const uint64_t before = p->ring[p->fill];
    p->ring[p->fill] = now;
    if (before && p->bytes >= MOVED_BYTES && now > before + before / 2) {
        forget_others(p);
        p->remembers = 0;
    }
}

/* The first that is not known, or the best one. Was it another one so far? */
static bool choose_fill(struct pace *p)
{
    const unsigned ways = COPY_CAN_STREAM ? CH3_FILLS : CH3_FILL_STREAMED;
    unsigned best = p->fill;
    for (unsigned i = 0; i < ways; i++)
        if (p->ring[i] < p->ring[best])
            best = i;
    const bool changes = best != p->fill;
    p->fill = (uint8_t)best;
    return changes;
}

/* The next batches are the kernel's, or the ring's; what has not been looked at for long is looked at again. */
static void settle(struct pace *p, bool slow)
{
    p->untimed_left = slow ? 0 : UNTIMED;
    p->cold = slow ? cold_bytes(p) : 0;
    p->kernel_left = slow ? KERNEL_FIRST << p->doublings : 0;
    p->doublings = !slow ? 0 : p->doublings < DOUBLINGS_MAX ? p->doublings + 1 : DOUBLINGS_MAX;
    p->proven = !slow;
    p->time_kernel = slow || !(p->judged++ % RETIME) ? p->in_a_row : 0;
    if (!slow)
        p->kernel_left = p->time_kernel;
    if (slow ? p->doublings == DOUBLINGS_MAX : ++p->since_forgot >= REMEMBERED_FIRST << p->remembers)
        forget_others(p);
}

/* The next batch is a trial: by a way that is not known, or was better when last timed. */
static void try_next(struct pace *p)
{
    p->untimed_left = 0;
    p->cold = cold_bytes(p);
    p->proven = false;
}

void pace_judge(struct pace *p)
{
    p->open = false;
    if (!pace_waits(p)) {
        p->cold = p->bytes < p->cold ? p->cold - (uint32_t)p->bytes : 0;
        p->bytes = 0;
        return;
    }
    learn(p, rate(p->ns, p->bytes));
    p->ns = p->bytes = 0;
    if (choose_fill(p))
        try_next(p);
    else
        settle(p, p->ring[p->fill] > p->kernel * MARGIN_PERCENT / 100);
}

void pace_kernel(struct pace *p, uint64_t ns, size_t bytes)
{
    const uint64_t now = rate(ns, bytes);
    if (!p->kernel) {
        p->in_a_row = bytes < PACE_HUGE_MIN ? KERNEL_TIMED : HUGE_TIMED;
        p->time_kernel = p->in_a_row;
        p->kernel_left = p->in_a_row - 1u;
        p->cold = cold_bytes(p);
    }
    p->kernel = now < p->kernel || !p->kernel ? now : p->kernel + (now - p->kernel) / CALM;
    p->time_kernel -= p->time_kernel != 0;
}
