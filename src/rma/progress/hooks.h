/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks.h - functions of the rooms above this one that waits and rounds of progress need. The
 * layer's start (layer.c) enters them; the table does not change while the layer lives.
 */
#ifndef MRMA_RMA_PROGRESS_HOOKS_H
#define MRMA_RMA_PROGRESS_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct rma;
struct rma_target;
struct rma_wait;
struct win;

/* All are called under the engine's lock, except help and report_wait. None waits for a call of
 * another process. */
struct progress_hooks {
    /* grant_locks is called in every round while packets wait for a lock of this process
     * (rma.lock_wins is not empty): it grants the locks that can be granted. Returns whether it has
     * granted any. */
    bool (*grant_locks)(struct rma *r);

    /* help copies a part of what others have published for this process (sys/joint_board.h), in
     * rounds of waits while something is published. Returns whether there was a part left. Without
     * the engine's lock. */
    bool (*help)(struct rma *r);

    /* requests_due returns whether anybody awaits something in w: that replies come or, for a
     * request, notifications, that large operations leave, or that a lock of this process is
     * granted. */
    bool (*requests_due)(const struct win *w);

    /* fail_requests ends the requests of w with err: a process of w has died, and somebody waits.
     */
    void (*fail_requests)(struct win *w, int err);

    /* awaits returns whether this process awaits something of t: what wait waits for (NULL: it is
     * in no wait of the library), a reply, notifications, or a lock that t holds here. */
    bool (*awaits)(struct win *w, const struct rma_wait *wait, const struct rma_target *t);

    /* lose makes operations on t, and synchronization with it, fail from now on. It is called once,
     * when the process of t is found to be lost. */
    void (*lose)(struct win *w, struct rma_target *t);

    /* report_wait tells the log what a wait in w that has lasted ns nanoseconds waits for
     * (MPIRMA_HANG_REPORT). Without the engine's lock. */
    void (*report_wait)(struct win *w, const struct rma_wait *wait, uint64_t ns);
};

/* progress_init sets up what this room keeps in r, at the layer's start, before anybody else sees
 * r. The table must outlive the layer. */
void progress_init(struct rma *r, const struct progress_hooks *hooks);

#endif
