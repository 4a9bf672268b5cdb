/*
 * pace.c - see pace.h.
 */
#include "rma/pace.h"

enum {
    KERNEL_FIRST = 16,  /* copies by the kernel after a slow one through the ring: */
    DOUBLINGS_MAX = 5,  /* a trial costs as much as some of them */
    UNTIMED = 15,       /* batches after a timed one: looking at the clock takes up to 50 ns */
    RETIME = 8,         /* timed batches until the kernel's copy is timed again, */
    CALM = 4,           /* of which a slower one counts by so much less: it may have been disturbed */
    MARGIN_PERCENT = 105 /* of the kernel's time: no reason to change */
};

static uint64_t rate(uint64_t ns, uint64_t bytes)
{
    return ns * PACE_UNIT / bytes + 1;
}

bool pace_by_ring(struct pace *p)
{
    if (!p->kernel || (p->open && p->timed && !p->proven))
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
        p->timed = !p->untimed_left;
        p->untimed_left -= !p->timed;
    }
    return p->timed;
}

void pace_judge(struct pace *p)
{
    p->open = false;
    if (!p->bytes)
        return;
    const bool slow = rate(p->ns, p->bytes) > p->kernel * MARGIN_PERCENT / 100;
    p->ns = p->bytes = 0;
    p->untimed_left = slow ? 0 : UNTIMED;
    p->kernel_left = slow ? KERNEL_FIRST << p->doublings : 0;
    p->doublings = !slow ? 0 : p->doublings < DOUBLINGS_MAX ? p->doublings + 1 : DOUBLINGS_MAX;
    p->proven = !slow;
    p->time_kernel = slow || !(p->judged++ % RETIME);
    p->kernel_left += !slow && p->time_kernel;
}

void pace_kernel(struct pace *p, uint64_t ns, size_t bytes)
{
    const uint64_t now = rate(ns, bytes);
    p->kernel = now < p->kernel || !p->kernel ? now : p->kernel + (now - p->kernel) / CALM;
    p->time_kernel = false;
}
