/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_hints.c - the hints of a new window whose processes differ in them (MPI 4.1, 12.2.1).
 *
 * A program that gives such hints is wrong, but works on the hosts. So each such hint gets a value
 * that is right for all processes, and one note in the log says so; where all processes have
 * MPIRMA_STRICT, it is an error. No state; called in the creation of a window, which nobody else
 * knows yet.
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "rma/strict/strict.h"
#include "rma/win/hints.h"
#include "rma/create/win_create.h"

/* odd_hint deals with a hint that cannot be as it was given: an error if strict mode is on, else
 * one note for all processes. */
static int odd_hint(const struct win *w, const char *text)
{
    if (w->strict)
        return log_fail(w->rma->log, MRMA_ERR_INFO_VALUE, "%s", text);
    if (w->rank == 0)
        log_msg(w->rma->log, LOG_LEVEL_INFO, "window %u: %s", w->index, text);
    return MRMA_SUCCESS;
}

static const struct win_hints *hints_of(const struct win_plan *plan, int rank)
{
    return &win_detail_of(plan, rank)->hints;
}

/* join_hint gives hint i a value that is right for all processes. */
static int join_hint(struct win *w, const struct win_plan *plan, int i)
{
    char text[512], first[128], other[128], used[128];
    int differs = 0;
    for (int rank = w->nproc - 1; rank > 0; rank--)
        if (hint_differs(i, hints_of(plan, 0), hints_of(plan, rank)))
            differs = rank;
    if (!differs)
        return MRMA_SUCCESS;
    for (int rank = 0; rank < w->nproc; rank++)
        hint_join(i, &w->hints, hints_of(plan, rank));
    hint_show(i, hints_of(plan, 0), first, sizeof first);
    hint_show(i, hints_of(plan, differs), other, sizeof other);
    hint_show(i, &w->hints, used, sizeof used);
    snprintf(text, sizeof text, "info key %s is %s at rank 0 and %s at rank %d, %s is used",
             hint_key(i), first, other, differs, used);
    return odd_hint(w, text);
}

/* check_promise takes back a promise if rank i has another value than rank 0. */
static int check_promise(struct win *w, bool *promise, const char *key, int i, uint64_t its,
                         uint64_t first)
{
    char text[160];
    if (!*promise || its == first)
        return MRMA_SUCCESS;
    snprintf(text, sizeof text, "info key %s is true, but rank %d has %llu and rank 0 %llu", key, i,
             (unsigned long long)its, (unsigned long long)first);
    *promise = false;
    return odd_hint(w, text);
}

static int check_promises(struct win *w)
{
    const struct win_record first = record_of(w, 0);
    int err = MRMA_SUCCESS;
    if (!w->hints.same_size && !w->hints.same_disp_unit)
        return MRMA_SUCCESS;
    for (int i = 1; !err && i < w->nproc; i++) {
        const struct win_record rec = record_of(w, i);
        err = check_promise(w, &w->hints.same_size, "same_size", i, rec.size, first.size);
        if (!err)
            err = check_promise(w, &w->hints.same_disp_unit, "same_disp_unit", i, rec.disp_unit,
                                first.disp_unit);
    }
    return err;
}

/* All processes see the same details, so all come to the same result. */
int win_agree_hints(struct win *w, const struct win_plan *plan)
{
    bool differ = false;
    int err = MRMA_SUCCESS;
    for (int rank = 1; plan->details && rank < w->nproc; rank++)
        differ |= memcmp(hints_of(plan, rank), hints_of(plan, 0), WIN_HINTS_COMMON) != 0;
    for (int i = 0; differ && !err && i < HINTS; i++)
        err = join_hint(w, plan, i);
    w->hints.granularity = 0; /* the granule of the locks is the library's (stripe.h) */
    return err ? err : check_promises(w);
}
