/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks.h - what waits and rounds of progress need of the rooms above this one. The layer's start
 * (layer.c) enters their functions; the table is the same for as long as the layer lives.
 */
#ifndef MRMA_RMA_PROGRESS_HOOKS_H
#define MRMA_RMA_PROGRESS_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct rma;
struct rma_target;
struct rma_wait;
struct win;

struct progress_hooks {
    /* In every round while packets wait for a lock of this process (rma.lock_wins is not empty),
     * under the engine's lock: grant what can be granted. Whether anything was. */
    bool (*grant_locks)(struct rma *r);
    /* Does anybody await replies, that large operations leave, or a lock of this process, in w?
     * Under the engine's lock. */
    bool (*requests_due)(const struct win *w);
    /* A process of w has died, and somebody waits: end the requests of w with err. Under the
     * engine's lock. */
    void (*fail_requests)(struct win *w, int err);
    /* Does this process await something of t: what wait (NULL: none of the library's) is for, a
     * reply, or a lock that t holds here? Under the engine's lock. */
    bool (*awaits)(struct win *w, const struct rma_wait *wait, const struct rma_target *t);
    /* The process of t is lost, which is said once: operations on t, and synchronization with it,
     * fail from now on. Under the engine's lock. */
    void (*lose)(struct win *w, struct rma_target *t);
    /* A wait in w has lasted ns: tell the log what it waits for (MPIRMA_HANG_REPORT). Without the
     * engine's lock. */
    void (*report_wait)(struct win *w, const struct rma_wait *wait, uint64_t ns);
};

/* At the layer's start; the table must outlive it. */
void progress_init(struct rma *r, const struct progress_hooks *hooks);

#endif
