/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whatif.c - see whatif.h.
 *
 * First the run is replayed without a change. Where the replay is not as long as the run was, the
 * plan has missed what the processes wait for, and no estimate is made.
 */
#include "changes.h"

#include <stdlib.h>

enum {
    ERROR_PERCENT = 5,   /* of the run, up to which its replay is believed */
    NOISE_PERCENT = 1,   /* of the run, from which on a gain is shown */
    STEPS = 20 * 1000000 /* calls that are replayed in all, at the most */
};

/* ---- for the changes ---- */

void try_change(struct trying *trying, struct change *change, struct scenario scenario)
{
    struct whatif *whatif = trying->whatif;
    uint64_t length = UINT64_MAX;

    if (trying->tries > 0) {
        trying->tries--;
        length = plan_replay(&trying->plan, change);
    }
    change_free(change);
    if (length >= whatif->replayed || whatif->replayed - length < whatif->noise) {
        free(scenario.what);
        return;
    }
    scenario.saves = whatif->replayed - length;
    whatif->scenario = grow(whatif->scenario, whatif->n, &whatif->cap, sizeof scenario);
    whatif->scenario[whatif->n++] = scenario;
}

uint64_t *unchanged_work(const struct plan *plan)
{
    const size_t n = plan->line->first[plan->trace->nranks];
    uint64_t *work = zalloc(n, sizeof *work);

    for (size_t i = 0; i < n; i++)
        work[i] = UINT64_MAX;
    return work;
}

char *call_of_window(const struct trace *trace, uint32_t call, uint32_t win)
{
    const struct call *at = &trace->call[call];
    char *where = call_text(trace, at->call, at->site, false);
    char *all =
        win < trace->nwindows ? text("%s, %s", where, trace->window[win].name) : text("%s", where);

    free(where);
    return all;
}

/* ---- the replay of the run as it was ---- */

/* Which calls may wait for other ranks, or have others wait for them: those of RMA, and where
 * messages are recorded, those that send, receive, or communicate collectively. */
static bool *find_concerned(const struct trace *trace)
{
    bool *concerned = zalloc(trace->ncalls + 1, sizeof *concerned);

    for (size_t i = 0; i < trace->ncalls; i++)
        concerned[i] = trace->call[i].outermost && trace->call[i].rma;
    for (size_t i = 0; i < trace->nsendings; i++) { /* of one that is not known, the last */
        concerned[u64_min(trace->sending[i].call, trace->ncalls)] = true;
        concerned[u64_min(trace->sending[i].completer, trace->ncalls)] = true;
    }
    for (size_t i = 0; i < trace->nreceivings; i++) {
        concerned[u64_min(trace->receiving[i].call, trace->ncalls)] = true;
        concerned[u64_min(trace->receiving[i].completer, trace->ncalls)] = true;
    }
    for (size_t i = 0; i < trace->ntogethers; i++)
        concerned[u64_min(trace->together[i].call, trace->ncalls)] = true;
    return concerned;
}

/* has_threads returns whether any rank communicates in several threads. It is not known how such
 * threads wait for each other. */
static bool has_threads(const struct trace *trace)
{
    uint32_t *place = zalloc(trace->nranks, sizeof *place); /* 1 + that of the rank's calls */
    bool *concerned = find_concerned(trace);
    bool several = false;

    for (size_t i = 0; i < trace->ncalls; i++) {
        uint32_t *first = &place[trace->call[i].rank];

        if (!concerned[i])
            continue;
        several = several || (*first && *first != 1 + trace->call[i].place);
        *first = 1 + trace->call[i].place;
    }
    free(concerned);
    free(place);
    return several;
}

static void replay_unchanged(struct whatif *whatif, const struct plan *plan)
{
    const uint64_t length = plan_replay(plan, NULL);
    uint64_t error;

    whatif->measured = plan->measured;
    if (length == UINT64_MAX) {
        whatif->why_not = "the clocks of the ranks contradict each other, so that in a replay they "
                          "wait for each other for ever";
        return;
    }
    whatif->replayed = length;
    error = u64_minus(length, whatif->measured) + u64_minus(whatif->measured, length);
    whatif->noise = u64_max(whatif->measured / 100 * NOISE_PERCENT, 2 * error);
    if (error > whatif->measured / 100 * ERROR_PERCENT)
        whatif->why_not = "the replay of the run as it was is not as long as the run";
}

static int by_gain(const void *a, const void *b)
{
    const struct scenario *x = a, *y = b;

    if (x->saves != y->saves)
        return x->saves > y->saves ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

void whatif_find(struct whatif *whatif, const struct analysis *analysis,
                 const struct causes *causes, bool crowded_too)
{
    static void (*const changes[])(struct trying *) = {change_late, change_fences, change_locks,
                                                       change_small, change_order};
    const struct trace *trace = analysis->trace;
    struct trying trying = {.analysis = analysis, .causes = causes, .whatif = whatif};

    *whatif = (struct whatif){0};
    if (trace->ncalls == 0 || trace->ncalls > UINT32_MAX / 4) {
        whatif->why_not = trace->ncalls ? "there are too many calls" : "no call is recorded";
        return;
    }
    if (has_threads(trace)) {
        whatif->why_not = "several threads of a rank communicate, and it is not recorded how they "
                          "wait for each other";
        return;
    }
    if (trace->crowded && !crowded_too) {
        whatif->why_not = "there were more ranks than processors, which took turns on them "
                          "(--estimate makes one all the same)";
        return;
    }
    plan_make(&trying.plan, analysis, &causes->line);
    replay_unchanged(whatif, &trying.plan);
    trying.tries = (unsigned)u64_max(STEPS / trace->ncalls, 6);
    for (size_t i = 0; !whatif->why_not && i < sizeof changes / sizeof *changes; i++)
        changes[i](&trying);
    sort(whatif->scenario, whatif->n, sizeof *whatif->scenario, by_gain);
    plan_free(&trying.plan);
}

void whatif_free(struct whatif *whatif)
{
    for (size_t i = 0; i < whatif->n; i++)
        free(whatif->scenario[i].what);
    free(whatif->scenario);
    *whatif = (struct whatif){0};
}
