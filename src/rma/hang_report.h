/*
 * hang_report.h - what a long wait waits for (MPIRMA_HANG_REPORT). See hang_report.c.
 */
#ifndef MRMA_RMA_HANG_REPORT_H
#define MRMA_RMA_HANG_REPORT_H

#include "rma/progress/wait.h"
#include "rma/win/win.h"

/* Write it to the log: a wait in w has lasted ns. Without the engine's lock. */
void hang_report(struct win *w, const struct rma_wait *wait, uint64_t ns);

#endif
