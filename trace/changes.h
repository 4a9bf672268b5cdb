/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * changes.h - the changes that are tried. Each of these functions, in the files change_*.c, makes
 * some changes and has them replayed.
 */
#ifndef MRMA_TRACE_CHANGES_H
#define MRMA_TRACE_CHANGES_H

#include "groups.h"
#include "plan.h"
#include "whatif.h"

struct trying {
    const struct analysis *analysis;
    const struct causes *causes;
    struct plan plan;
    struct whatif *whatif;
    unsigned tries; /* that are left: a trace of many events is replayed fewer times */
};

/* try_change replays the run with a change, keeps the scenario where it saves more than noise, and
 * frees both else; the change it always frees. scenario->saves is set here. */
void try_change(struct trying *trying, struct change *change, struct scenario scenario);

/* For change->work, zeroed to nothing changed. */
uint64_t *unchanged_work(const struct plan *plan);

/* "MPI_Win_fence at halo.c:88 (exchange) of halo": the caller frees it. */
char *call_of_window(const struct trace *trace, uint32_t call, uint32_t win);

void change_fences(struct trying *trying);
void change_late(struct trying *trying);
void change_locks(struct trying *trying);
void change_small(struct trying *trying);
void change_order(struct trying *trying);

#endif
