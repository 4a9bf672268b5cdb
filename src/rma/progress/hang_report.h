/*
 * hang_report.h - what a long wait waits for (MPIRMA_HANG_REPORT). See hang_report.c.
 */
#ifndef MRMA_RMA_PROGRESS_HANG_REPORT_H
#define MRMA_RMA_PROGRESS_HANG_REPORT_H

#include "rma/progress/wait.h"
#include "rma/win/win.h"

/* Write it to the log: a wait in w has lasted ns. Without the engine's lock. */
void hang_report(struct win *w, const struct rma_wait *wait, uint64_t ns);

/* What this process has to do with a direct target's lock, for the reports of all that
 * can see the target. Stored only where reports are wanted. */
enum hang_lock { HANG_LOCK_NONE, HANG_LOCK_WAITS, HANG_LOCK_HOLDS };

static inline void hang_note_lock(const struct win *w, struct rma_target *t, enum hang_lock what,
                                  bool exclusive, uint32_t ticket)
{
    if (unlikely(w->rma->conf->hang_report > 0))
        atomic_store_explicit(&t->out->lock,
                              (uint32_t)what | (uint32_t)exclusive << 2 | ticket << 3,
                              memory_order_relaxed);
}

#endif
