/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_group.c - finds Late Post, Early Wait and Late Complete.
 */
#include <stdlib.h>

#include "analysis.h"
#include "epochs.h"
#include "index.h"

static void late_post(struct analysis *analysis, const struct epochs *epochs,
                      const struct pairing *pairing, uint64_t begin, uint64_t end, uint32_t call)
{
    const struct trace *trace = analysis->trace;
    uint32_t post = pairing->exposure == NONE ? NONE : epochs->exposure[pairing->exposure].first;

    if (post != NONE)
        found(analysis, (struct instance){.pattern = LATE_POST,
                                          .begin = begin,
                                          .end = u64_min(end, trace->call[post].enter),
                                          .rank = pairing->origin,
                                          .cause = pairing->target,
                                          .win = pairing->win,
                                          .call = call,
                                          .cause_call = post});
}

/* call_around returns the call of a rank that was open at a time, or NONE if none was. */
static uint32_t call_around(const struct trace *trace, const struct doing *doing)
{
    size_t low = 0, high = trace->ncalls;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (trace->call[middle].enter <= doing->begin)
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > 0)
        if (trace->call[low].place == doing->place)
            return trace->call[low].leave >= doing->end ? (uint32_t)low : NONE;
    return NONE;
}

/* Our archives say when an access really waited for a post. */
static void known_waits(struct analysis *analysis, const struct epochs *epochs)
{
    const struct trace *trace = analysis->trace;
    struct doings waits = doings_by_rank(trace, OWN_WAIT_POST);

    for (size_t i = 0; i < epochs->npairings; i++) {
        const struct pairing *pairing = &epochs->pairing[i];
        const struct epoch *access = &epochs->access[pairing->access];
        uint64_t end = access->last == NONE ? trace->length : trace->call[access->last].leave;
        uint64_t from = trace->call[access->first].enter;
        const struct doing *doing;

        while (
            (doing = doings_first(&waits, pairing->origin, pairing->target, pairing->win, from)) &&
            doing->begin <= end) {
            late_post(analysis, epochs, pairing, doing->begin, doing->end,
                      call_around(trace, doing));
            from = doing->begin + 1;
        }
    }
    free(waits.doing);
}

/* known_in returns whether the origin was known to wait for the post in this call. */
static bool known_in(const struct doings *waits, const struct pairing *pairing, uint64_t from,
                     const struct call *call)
{
    const struct doing *doing;

    while ((doing = doings_first(waits, pairing->origin, pairing->target, pairing->win, from)) &&
           doing->begin < call->leave) {
        if (doing->end > call->enter)
            return true;
        from = doing->begin + 1;
    }
    return false;
}

/* By packet an operation waits for the post at its target, and its origin only where it needs an
 * answer: in MPI_Win_complete, unless that has waited for the post itself. */
static void parked_waits(struct analysis *analysis, const struct epochs *epochs)
{
    const struct trace *trace = analysis->trace;
    struct doings parked = doings_by_rank(trace, OWN_PARKED);
    struct doings waits = doings_by_rank(trace, OWN_WAIT_POST);

    for (size_t i = 0; i < epochs->npairings; i++) {
        const struct pairing *pairing = &epochs->pairing[i];
        const struct epoch *access = &epochs->access[pairing->access];

        if (access->last == NONE || pairing->exposure == NONE)
            continue;
        const struct call *complete = &trace->call[access->last];
        const struct doing *doing = doings_first(&parked, pairing->target, pairing->origin,
                                                 pairing->win, trace->call[access->first].enter);
        uint64_t post = trace->call[epochs->exposure[pairing->exposure].first].enter;
        if (doing && doing->begin < complete->leave && post <= complete->leave &&
            !known_in(&waits, pairing, trace->call[access->first].enter, complete))
            late_post(analysis, epochs, pairing, complete->enter, complete->leave, access->last);
    }
    free(waits.doing);
    free(parked.doing);
}

/* In archives of others: an access call that was open when the post came. Of several targets the
 * last is waited for. */
static void seen_from_outside(struct analysis *analysis, const struct epochs *epochs)
{
    const struct trace *trace = analysis->trace;

    for (size_t i = 0; i < epochs->npairings;) {
        const struct pairing *last = NULL;
        const struct epoch *access = &epochs->access[epochs->pairing[i].access];
        uint32_t calls[] = {access->first, access->last};
        uint64_t latest = 0;
        size_t k = i;

        for (; k < epochs->npairings && epochs->pairing[k].access == epochs->pairing[i].access;
             k++) {
            const struct pairing *pairing = &epochs->pairing[k];
            uint64_t post = pairing->exposure == NONE
                                ? 0
                                : trace->call[epochs->exposure[pairing->exposure].first].enter;

            if (post > latest) {
                latest = post;
                last = pairing;
            }
        }
        for (int c = 0; c < 2 && last; c++)
            if (calls[c] != NONE && latest <= trace->call[calls[c]].leave)
                late_post(analysis, epochs, last, trace->call[calls[c]].enter,
                          trace->call[calls[c]].leave, calls[c]);
        i = k;
    }
    for (size_t i = 0; i < trace->nops; i++) {
        const struct operation *op = &trace->op[i];
        uint32_t access = epochs_of_op(epochs, trace, op);
        const struct pairing *pairing =
            access == NONE ? NULL : epochs_pairing(epochs, access, op->target);

        if (!pairing || pairing->exposure == NONE || op->call == NONE)
            continue;
        if (trace->call[epochs->exposure[pairing->exposure].first].enter <=
            trace->call[op->call].leave)
            late_post(analysis, epochs, pairing, trace->call[op->call].enter,
                      trace->call[op->call].leave, op->call);
    }
}

/* early_wait reports the wait of an exposure epoch for the one of its origins that completes
 * last. */
static void early_wait(struct analysis *analysis, const struct epochs *epochs, uint32_t wait_call,
                       const struct pairing *last)
{
    const struct trace *trace = analysis->trace;
    const struct call *wait = &trace->call[wait_call];
    const struct epoch *access = &epochs->access[last->access];
    uint64_t complete = trace->call[access->last].enter;
    struct instance instance = {.pattern = EARLY_WAIT,
                                .begin = wait->enter,
                                .end = u64_min(complete, wait->leave),
                                .rank = wait->rank,
                                .cause = last->origin,
                                .win = wait->win,
                                .call = wait_call,
                                .cause_call = access->last};

    found(analysis, instance);
    instance.pattern = LATE_COMPLETE;
    instance.begin = u64_max(wait->enter, access->last_op);
    found(analysis, instance);
}

static void find_early_waits(struct analysis *analysis, const struct epochs *epochs)
{
    const struct trace *trace = analysis->trace;
    const struct pairing **last = zalloc(epochs->nexposure, sizeof *last);

    for (size_t i = 0; i < epochs->npairings; i++) {
        const struct pairing *pairing = &epochs->pairing[i];
        uint32_t at = pairing->exposure, end = epochs->access[pairing->access].last;

        if (at == NONE || end == NONE)
            continue;
        if (!last[at] ||
            trace->call[end].enter > trace->call[epochs->access[last[at]->access].last].enter)
            last[at] = pairing;
    }
    for (size_t i = 0; i < epochs->nexposure; i++) {
        uint32_t end = epochs->exposure[i].last;

        if (last[i] && end != NONE && trace->call[end].call == TRACE_CALL_Win_wait)
            early_wait(analysis, epochs, end, last[i]);
    }
    free(last);
}

void find_group(struct analysis *analysis, const struct epochs *epochs)
{
    if (analysis->trace->ours) {
        known_waits(analysis, epochs);
        parked_waits(analysis, epochs);
    } else {
        seen_from_outside(analysis, epochs);
    }
    find_early_waits(analysis, epochs);
}
