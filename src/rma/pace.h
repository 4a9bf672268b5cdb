/*
 * pace.h - which way of large copies is the faster one, for one other process.
 *
 * Through a ring two processors copy at the same time, what they hand on lying in the caches: if they have one in common
 * that takes a third of the kernel's time where the kernel is slow (handover.c), if the lines have far to go six
 * times as long. Which it is changes where threads, or virtual processors, move. So some copies of either way are
 * timed; where the ring is the slower one the kernel does the next ones, and twice as many after each trial
 * that finds it so again; where it is the faster one the kernel does some now and then. The lines of the target lie where
 * the last copies have left them, so one copy alone says little, unless it is huge: of the kernel some in a row are timed, through the
 * ring a batch, up to what somebody waits for, or to a limit.
 *
 * A ring that fits into the nearer caches is slower than a large one, but not where the last cache is also used by others; and past the
 * caches it goes at the same speed however far the lines have to go. All three ways to fill it (enum ch3_fill) are tried, one after the
 * other, and the best one is kept for a while; against the kernel stands that one.
 *
 * Short copies, for which the system call counts, those that fit into caches, and others are told apart, and
 * accumulates, with results and without: the rates of one say nothing about the other.
 * State of one thread; no locks, no clock of its own.
 */
#ifndef MRMA_RMA_PACE_H
#define MRMA_RMA_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ch3/channel.h"

enum pace_class { PACE_SHORT, PACE_CACHED, PACE_HUGE, PACE_ACC, PACE_FETCH, PACE_CLASSES };

enum { PACE_CACHED_MIN = 32 * 1024, PACE_HUGE_MIN = 2 << 20, PACE_UNIT = 64 * 1024 };

/* All 0 at first. */
struct pace {
    uint64_t kernel;       /* ns that the kernel takes for PACE_UNIT bytes; 0: not known */
    uint32_t kernel_left;  /* copies that the kernel does, without a trial */
    uint32_t untimed_left; /* batches through the ring that are not timed */
    uint32_t cold;         /* nor are these bytes, before a trial */
    uint8_t time_kernel;   /* so many of its next copies are timed */
    uint8_t in_a_row;      /* as many each time */
    bool proven;           /* the ring was the faster one when last timed */
    uint8_t fill;          /* enum ch3_fill: how the ring is filled */
    uint64_t ring[CH3_FILLS]; /* ns for PACE_UNIT bytes so, when last timed; 0: not known */
    bool open, timed;      /* a batch is under way, and it is timed */
    uint8_t doublings;     /* of what kernel_left becomes */
    uint8_t judged;        /* timed batches that the ring has won, wraps */
    uint8_t since_forgot;  /* timed batches that the ring has won since the other ways to fill it were forgotten */
    uint8_t remembers;     /* doublings of how many there will be */
    uint64_t ns, bytes;    /* of the batch, if it is timed */
};

static inline enum pace_class pace_class(size_t len)
{
    return len < PACE_CACHED_MIN ? PACE_SHORT : len < PACE_HUGE_MIN ? PACE_CACHED : PACE_HUGE;
}

/* Nothing is known of these copies, which are few and long: begin as others go where the ring is the faster way for
 * them, and learn from that. */
void pace_adopt(struct pace *p, const struct pace *others);

/* Shall the next copy go through the ring? Not before the kernel's rate is known, and a trial is a few copies. */
bool pace_by_ring(struct pace *p);
/* It goes so, in a batch with all that follow until pace_judge: shall it be timed? pace_add its bytes; and if so, what the
 * caller has spent on it, and later on waiting (0 bytes). */
bool pace_times_ring(struct pace *p);
static inline void pace_add(struct pace *p, uint64_t ns, size_t bytes)
{
    p->ns += ns;
    p->bytes += bytes;
}
static inline bool pace_waits(const struct pace *p)
{
    return p->timed && p->bytes;
}
/* The batch is long enough: wait for it if pace_waits, and pace_judge. */
bool pace_full(const struct pace *p);
/* The batch is done at the other side: learn from it. */
void pace_judge(struct pace *p);

/* The kernel does it: shall that be timed? */
static inline bool pace_times_kernel(const struct pace *p)
{
    return p->time_kernel || !p->kernel;
}
void pace_kernel(struct pace *p, uint64_t ns, size_t bytes);

#endif
