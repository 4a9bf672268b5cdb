/*
 * win_hints.c - the hints of a new window whose processes differ in them (MPI 4.1, 12.2.1).
 *
 * A program that gives such hints is wrong and works on the hosts all the same. So each becomes
 * what is right for all processes, and one note in the log says so; where all processes have
 * MPIRMA_STRICT, it is an error. No state; called in the creation of a window, which nobody else
 * knows yet.
 */
#include <stdio.h>

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

/* Join hint i of all processes in *all. */
static int join_hint(const struct win *w, int i, uint64_t *all)
{
    const struct win_record *recs = w->records.all;
    char text[512], first[128], other[128], used[128];
    int differs = 0;
    for (int rank = 1; rank < w->nproc; rank++)
        if (hint_join(i, all, recs[rank].hints) && !differs)
            differs = rank;
    if (!differs)
        return MRMA_SUCCESS;
    hint_show_word(i, recs[0].hints, first, sizeof first);
    hint_show_word(i, recs[differs].hints, other, sizeof other);
    hint_show_word(i, *all, used, sizeof used);
    snprintf(text, sizeof text, "info key %s is %s at rank 0 and %s at rank %d, %s is used",
             hint_key(i), first, other, differs, used);
    return odd_hint(w, text);
}

/* The promises same_size and same_disp_unit, where they are not kept. */
static int check_promises(struct win *w)
{
    const struct win_record *recs = w->records.all;
    char text[160];
    int err = MRMA_SUCCESS;
    for (int i = 1; !err && i < w->nproc; i++) {
        if (w->hints.same_size && recs[i].size != recs[0].size) {
            snprintf(text, sizeof text,
                     "info key same_size is true, but rank %d has %llu bytes and rank 0 %llu", i,
                     (unsigned long long)recs[i].size, (unsigned long long)recs[0].size);
            w->hints.same_size = false;
            err = odd_hint(w, text);
        }
        if (!err && w->hints.same_disp_unit && recs[i].disp_unit != recs[0].disp_unit) {
            snprintf(text, sizeof text,
                     "info key same_disp_unit is true, but rank %d has %u and rank 0 %u", i,
                     recs[i].disp_unit, recs[0].disp_unit);
            w->hints.same_disp_unit = false;
            err = odd_hint(w, text);
        }
    }
    return err;
}

/* The records say the same to all processes, so all come to the same end. */
int win_agree_hints(struct win *w)
{
    const struct win_record *recs = w->records.all;
    uint64_t all = recs[0].hints;
    bool differ = false;
    int err = MRMA_SUCCESS;
    for (int rank = 1; rank < w->nproc; rank++)
        differ |= recs[rank].hints != recs[0].hints;
    for (int i = 0; differ && !err && i < HINTS; i++)
        err = join_hint(w, i, &all);
    hints_take(&w->hints, all);
    w->hints.granularity = 0; /* the granule of the locks is the library's (stripe.h) */
    return err ? err : check_promises(w);
}
