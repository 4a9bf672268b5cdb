/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_hints.c - the hints of a new window whose processes differ in them (MPI 4.1, 12.2.1).
 *
 * A program that gives such hints is wrong and works on the hosts all the same. So each becomes
 * what is right for all processes, and one note in the log says so; where all processes have
 * MPIRMA_STRICT, it is an error. No state; called in the creation of a window, which nobody else
 * knows yet.
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "rma/strict/strict.h"
#include "rma/win/hints.h"
#include "rma/create/win_create.h"

/* A hint that cannot be as it was given: an error if all are strict, else one note for all. */
static int odd_hint(const struct win *w, const char *text)
{
    if (w->strict)
        return log_fail(w->rma->log, MRMA_ERR_INFO_VALUE, "%s", text);
    if (w->rank == 0)
        log_msg(w->rma->log, LOG_LEVEL_INFO, "window %u: %s", w->index, text);
    return MRMA_SUCCESS;
}

/* Hint i becomes what is right for all processes. */
static int join_hint(struct win *w, int i)
{
    const struct win_record *recs = w->records.all;
    char text[512], first[128], other[128], used[128];
    int differs = 0;
    for (int rank = w->nproc - 1; rank > 0; rank--)
        if (hint_differs(i, &recs[0].hints, &recs[rank].hints))
            differs = rank;
    if (!differs)
        return MRMA_SUCCESS;
    for (int rank = 0; rank < w->nproc; rank++)
        hint_join(i, &w->hints, &recs[rank].hints);
    hint_show(i, &recs[0].hints, first, sizeof first);
    hint_show(i, &recs[differs].hints, other, sizeof other);
    hint_show(i, &w->hints, used, sizeof used);
    snprintf(text, sizeof text, "info key %s is %s at rank 0 and %s at rank %d, %s is used",
             hint_key(i), first, other, differs, used);
    return odd_hint(w, text);
}

/* A promise is taken back where rank i has another value than rank 0. */
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
    const struct win_record *recs = w->records.all;
    int err = MRMA_SUCCESS;
    for (int i = 1; !err && i < w->nproc; i++) {
        err = check_promise(w, &w->hints.same_size, "same_size", i, recs[i].size, recs[0].size);
        if (!err)
            err = check_promise(w, &w->hints.same_disp_unit, "same_disp_unit", i, recs[i].disp_unit,
                                recs[0].disp_unit);
    }
    return err;
}

/* The records say the same to all processes, so all come to the same end. */
int win_agree_hints(struct win *w)
{
    const struct win_record *recs = w->records.all;
    bool differ = false;
    int err = MRMA_SUCCESS;
    for (int rank = 1; rank < w->nproc; rank++)
        differ |= memcmp(&recs[rank].hints, &recs[0].hints, WIN_HINTS_COMMON) != 0;
    for (int i = 0; differ && !err && i < HINTS; i++)
        err = join_hint(w, i);
    w->hints.granularity = 0; /* the granule of the locks is the library's (stripe.h) */
    return err ? err : check_promises(w);
}
