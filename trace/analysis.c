/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * analysis.c - see analysis.h.
 */
#include "analysis.h"

#include <stdlib.h>

#include "epochs.h"

const struct pattern_info pattern_info[PATTERNS] = {
    [WAIT_AT_CREATE] = {"wait_at_create", "Wait at Create",
                        "a process is in the creation of a window before the last one is",
                        "Let all processes come to the creation at the same time, or create the "
                        "window earlier, once.",
                        -1, true, false},
    [WAIT_AT_FREE] = {"wait_at_free", "Wait at Free",
                      "a process is in MPI_Win_free before the last one is",
                      "Free windows where the processes are in step anyway.", -1, true, false},
    [WAIT_AT_FENCE] = {"wait_at_fence", "Wait at Fence",
                       "a process is in a fence before the last one is",
                       "Balance the work between fences, or synchronize only the pairs that "
                       "communicate, with MPI_Win_post, start, complete and wait.",
                       -1, true, false},
    [EARLY_FENCE] = {"early_fence", "Early Fence",
                     "a process is in a fence while operations into its memory are not finished",
                     "Issue the operations earlier, or put computation between the last of them "
                     "and the fence.",
                     WAIT_AT_FENCE, true, true},
    [LATE_POST] = {"late_post", "Late Post",
                   "an access waits because its target has not called MPI_Win_post",
                   "Call MPI_Win_post earlier at the target, as soon as its memory may change.", -1,
                   true, false},
    [EARLY_WAIT] = {"early_wait", "Early Wait",
                    "MPI_Win_wait waits because an origin has not called MPI_Win_complete",
                    "Compute something else before MPI_Win_wait, or use MPI_Win_test.", -1, true,
                    false},
    [LATE_COMPLETE] = {"late_complete", "Late Complete",
                       "MPI_Win_wait waits although the origin has issued its last operation",
                       "Call MPI_Win_complete right after the last operation of the epoch.",
                       EARLY_WAIT, true, false},
    [LATE_NOTIFICATION] = {"late_notification", "Late Notification",
                           "a call that takes notifications waits because an origin has not "
                           "issued the operation that raises the last of them",
                           "Issue the notified operation earlier at its origin, or compute "
                           "something else at the target before it waits.",
                           -1, true, true},
    [LOCK_CONTENTION] = {"lock_contention", "Lock Contention",
                         "a process waits for a lock that another one holds",
                         "Hold exclusive locks for a shorter time, use shared locks with "
                         "MPI_Accumulate, or spread the data over more targets.",
                         -1, true, false},
    [WAIT_FOR_PROGRESS] = {"wait_for_progress", "Wait for Progress",
                           "an origin waits for packets to be served while its target computes",
                           "Let the agent serve (see the user guide), use memory of "
                           "MPI_Win_allocate, or call MPI at the target more often.",
                           -1, true, true},
    [UNNEEDED_SYNC] = {"unneeded_pairwise_synchronizations", "Unneeded pairwise synchronizations",
                       "two processes synchronize and exchange nothing",
                       "Name only ranks that communicate in MPI_Win_start and MPI_Win_post; use "
                       "them in place of fences where few pairs communicate.",
                       -1, false, false},
    [SERIALIZED_ACCUMULATES] = {"serialized_accumulates", "Serialized accumulates",
                                "an atomic operation waits for those of other origins at its "
                                "target",
                                "Combine updates at the origin first, or spread them over more "
                                "targets or windows.",
                                -1, true, true},
    [SMALL_OPERATIONS] = {"small_operations", "Many small operations",
                          "a run of small operations to one target that one could replace",
                          "Describe them all by one datatype and issue one operation.", -1, false,
                          false},
    [CREDIT_STALLS] = {"credit_stalls", "Credit stalls",
                       "a packet cannot leave because the receiver has no room",
                       "Issue fewer operations at a time to one target, or let it enter MPI more "
                       "often.",
                       -1, true, true},
    [PARKED_PACKETS] = {"parked_packets", "Parked packets",
                        "packets have come to a target before their epoch has begun there",
                        "Begin the epoch earlier at the target; nobody waits for these packets "
                        "yet, but they take its memory.",
                        -1, false, true},
    [AGENT_WAKEUPS] = {"agent_wakeups", "Agent wake-ups",
                       "the time from waking an agent until it runs",
                       "Leave a processor for the agent, or let the target enter MPI more often.",
                       -1, false, true},
    [LATE_SENDER] = {"late_sender", "Late Sender",
                     "a call waits for a message that its sender has not begun to send",
                     "Send earlier, or receive with MPI_Irecv and compute before the wait.", -1,
                     true, false},
    [LATE_RECEIVER] = {"late_receiver", "Late Receiver",
                       "a call that sends waits because its receiver has not begun to receive",
                       "Begin to receive earlier, with MPI_Irecv, or send with MPI_Isend and "
                       "compute before the wait.",
                       -1, true, false},
    [WAIT_AT_BARRIER] = {"wait_at_barrier", "Wait at Barrier",
                         "a process is in MPI_Barrier before the last one is",
                         "Balance the work before the barrier, or leave it out: one-sided "
                         "synchronization and messages need none.",
                         -1, true, false},
    [WAIT_AT_NXN] = {"wait_at_nxn", "Wait at N x N",
                     "a process is in an operation of all with all before the last one is",
                     "Balance the work before it, or use the nonblocking operation and compute "
                     "before its wait.",
                     -1, true, false},
    [LATE_BROADCAST] = {"late_broadcast", "Late Broadcast",
                        "a process waits for what the root of an operation has not begun to send",
                        "Let the root come earlier, or use the nonblocking operation.", -1, true,
                        false},
    [EARLY_REDUCE] = {"early_reduce", "Early Reduce",
                      "the root of an operation waits for processes that have not come to it",
                      "Let the root compute something else before, or use the nonblocking "
                      "operation.",
                      -1, true, false},
};

bool can_be_seen(const struct analysis *analysis, unsigned pattern)
{
    if (analysis->found[pattern].number > 0)
        return true;
    if (pattern >= LATE_SENDER)
        return analysis->trace->messages;
    return analysis->trace->ours || !pattern_info[pattern].ours_only;
}

void by_site_add(struct by_site *by_site, uint16_t call, uint32_t site, uint64_t ns)
{
    const uint64_t key = (uint64_t)site << 16 | call;
    uint64_t index = table_number(&by_site->index, key);

    if (index == TABLE_NONE) {
        by_site->at = grow(by_site->at, by_site->n, &by_site->cap, sizeof *by_site->at);
        by_site->at[by_site->n] = (struct at_site){.call = call, .site = site};
        index = by_site->n++;
        table_put_number(&by_site->index, key, index);
    }
    struct at_site *at = &by_site->at[index];
    at->number++;
    at->ns += ns;
    at->longest = u64_max(at->longest, ns);
}

static void by_site_free(struct by_site *by_site)
{
    free(by_site->at);
    table_end(&by_site->index, NULL);
}

void found(struct analysis *analysis, struct instance instance)
{
    struct finding *finding = &analysis->found[instance.pattern];

    if (instance.end <= instance.begin)
        return;
    uint64_t length = instance.end - instance.begin;
    if (finding->total == 0 || length > finding->worst.end - finding->worst.begin)
        finding->worst = instance;
    finding->total += length;
    finding->number++;
    if (instance.rank < analysis->trace->nranks)
        finding->by_rank[instance.rank] += length;
    if (instance.call != NONE) {
        const struct call *call = &analysis->trace->call[instance.call];

        finding->by_call[call->call] += length;
        by_site_add(&finding->by_site, call->call, call->site, length);
    }
    analysis->instance =
        grow(analysis->instance, analysis->ninstances, &analysis->instances_cap, sizeof instance);
    analysis->instance[analysis->ninstances++] = instance;
}

void analyse(struct analysis *analysis, const struct trace *trace, enum model model)
{
    struct epochs epochs;

    *analysis = (struct analysis){.trace = trace, .model = model};
    analysis->run_ns = trace->length * trace->nranks;
    for (unsigned i = 0; i < PATTERNS; i++)
        analysis->found[i].by_rank = zalloc(trace->nranks, sizeof(uint64_t));
    epochs_find(&epochs, trace);
    profile(analysis, &epochs);
    find_collective(analysis);
    find_group(analysis, &epochs);
    find_notified(analysis);
    find_pairs(analysis, &epochs);
    find_locks(analysis);
    find_progress(analysis);
    find_accumulates(analysis);
    find_small(analysis);
    find_internal(analysis);
    find_messages(analysis);
    find_together(analysis);
    conflicts_find(&analysis->conflicts, trace, &epochs);
    epochs_free(&epochs);
}

void analysis_free(struct analysis *analysis)
{
    for (unsigned i = 0; i < PATTERNS; i++) {
        free(analysis->found[i].by_rank);
        by_site_free(&analysis->found[i].by_site);
    }
    by_site_free(&analysis->by_site);
    free(analysis->instance);
    free(analysis->call_by_window);
    free(analysis->by_window);
    free(analysis->matrix);
    free(analysis->rma_ns);
    free(analysis->other_ns);
    free(analysis->end);
    conflicts_free(&analysis->conflicts);
    *analysis = (struct analysis){0};
}
