/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan_messages.c - what calls wait for that send and receive messages, and those that all
 * processes of a communicator make together. See plan.h.
 *
 * A receive is complete at the earliest when the send has begun, and then takes as long as it did.
 * Whether a send waits for its receive is for the host to choose, but for MPI_Ssend and MPI_Issend,
 * which do (MPI 4.1, 3.4 and 3.7.3). The host chooses by the length of the message: so a message is
 * taken to wait if it is as long as one between the same two processes that has waited, and longer
 * than all that were sent completely before their receive had begun.
 */
#include <stdlib.h>

#include "host_calls.h"
#include "messages.h"
#include "plan_make.h"

/* ---- messages ---- */

/* Of the messages from one process to another. */
struct lengths {
    uint64_t buffered; /* bytes, and 1, of the longest that was sent before its receive had begun */
    uint64_t awaited;  /* of the shortest that has waited for its receive; UINT64_MAX: none has */
};

struct matching {
    struct plan *plan;
    bool *receives;       /* of each call */
    bool *is_sync;        /* of each function: what it sends waits for its receive */
    struct table lengths; /* of two processes, struct lengths */
};

static struct lengths *lengths_of(struct matching *matching, const struct sending *sending)
{
    const uint64_t key = (uint64_t)sending->rank << 32 | sending->peer;
    struct lengths *lengths = table_get(&matching->lengths, key);

    if (!lengths) {
        lengths = zalloc(1, sizeof *lengths);
        lengths->awaited = UINT64_MAX;
        (void)table_put(&matching->lengths, key, lengths);
    }
    return lengths;
}

static bool is_sync(const struct matching *matching, const struct sending *sending)
{
    return sending->call != NONE &&
           matching->is_sync[matching->plan->trace->call[sending->call].call];
}

/* What one message says of those from this process to the other. */
static void learn(void *data, const struct sending *sending, const struct receiving *receiving)
{
    struct matching *matching = data;
    const struct trace *trace = matching->plan->trace;
    struct lengths *lengths = lengths_of(matching, sending);

    if (sending->completer == NONE || is_sync(matching, sending))
        return;
    const struct call *completer = &trace->call[sending->completer];
    if (completer->unrecorded)
        return;
    if (completer->leave < receiving->posted)
        lengths->buffered = u64_max(lengths->buffered, sending->bytes + 1);
    else if (completer->enter < receiving->posted && !matching->receives[sending->completer])
        lengths->awaited = u64_min(lengths->awaited, sending->bytes);
}

static bool waits_for_receive(struct matching *matching, const struct sending *sending)
{
    const struct lengths *lengths = lengths_of(matching, sending);

    return is_sync(matching, sending) ||
           (sending->bytes >= lengths->awaited && sending->bytes >= lengths->buffered);
}

static void one_message(void *data, const struct sending *sending,
                        const struct receiving *receiving)
{
    struct matching *matching = data;

    if (receiving->completer != NONE && sending->call != NONE)
        plan_await_call(matching->plan, receiving->completer, 0, sending->call);
    if (sending->completer != NONE && receiving->call != NONE &&
        waits_for_receive(matching, sending))
        plan_await_event(matching->plan, sending->completer, 0, receiving->call, receiving->posted);
}

void plan_messages(struct plan *plan)
{
    const struct trace *trace = plan->trace;
    struct matching matching = {.plan = plan,
                                .receives = messages_receivers(trace),
                                .is_sync = zalloc(CALL_NAMES, sizeof *matching.is_sync)};

    for (unsigned i = 0; i < trace->ncall_names; i++)
        matching.is_sync[i] =
            trace->call_name[i] && host_kind(trace->call_name[i]) == HOST_SYNC_SEND;
    messages_match(trace, learn, &matching);
    messages_match(trace, one_message, &matching);
    table_end(&matching.lengths, free);
    free(matching.is_sync);
    free(matching.receives);
}

/* ---- collective operations ---- */

/* Some wait for all, as the data go: all of them, or the root. */
static void all_of(struct plan *plan, const struct together *part, size_t n, bool root_alone)
{
    const struct call *calls = plan->trace->call;
    const uint32_t event = plan_new_meeting(plan);
    uint64_t last = 0;

    for (size_t i = 0; i < n; i++)
        last = u64_max(last, calls[part[i].call].enter);
    for (size_t i = 0; i < n; i++) {
        plan_happens(plan, part[i].call, STEP_REACH, event, calls[part[i].call].enter);
        if (!root_alone || part[i].rank == part[i].root)
            plan_await_event(plan, part[i].call, 0, event, last);
    }
}

/* All others wait for the root. */
static void for_root(struct plan *plan, const struct together *part, size_t n)
{
    uint32_t root = NONE;

    for (size_t i = 0; i < n; i++)
        if (part[i].rank == part[i].root)
            root = part[i].call;
    for (size_t i = 0; i < n && root != NONE; i++)
        if (part[i].call != root)
            plan_await_call(plan, part[i].call, 0, root);
}

static void one_operation(void *data, const struct together *part, size_t n)
{
    struct plan *plan = data;

    switch (pattern_of_together(part->op)) {
    case WAIT_AT_BARRIER:
    case WAIT_AT_NXN:
        all_of(plan, part, n, false);
        break;
    case EARLY_REDUCE:
        all_of(plan, part, n, true);
        break;
    case LATE_BROADCAST:
        for_root(plan, part, n);
        break;
    default:
        break;
    }
}

void plan_together(struct plan *plan)
{
    together_each(plan->trace, one_operation, plan);
}
