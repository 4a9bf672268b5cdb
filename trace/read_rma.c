/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read_rma.c - reads operations, locks and notifications of an archive; see reading.h.
 */
#include "reading.h"

#include <stdlib.h>
#include <string.h>

static uint64_t lock_key(uint32_t win, uint32_t remote)
{
    return (uint64_t)win << 32 | remote;
}

static OTF2_CallbackCode on_request_lock(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                         OTF2_AttributeList *list, OTF2_RmaWinRef ref,
                                         uint32_t remote, uint64_t id, OTF2_LockType type)
{
    struct reading *reading = data;
    struct trace *trace = reading->trace;
    uint32_t place = reading_place(reading, location), win = defs_find(&reading->defs->window, ref);
    struct call *call = place == NONE ? NULL : reading_call(reading, place);
    uint32_t asserts = reading_u32(reading, list, ATTR_ASSERTS);

    (void)id;
    trace->rma_events++;
    if (place == NONE || win == NONE || trace->place[place].rank == NONE)
        return OTF2_CALLBACK_SUCCESS;
    reading_set_window(reading, place, win);
    trace->lock = grow(trace->lock, trace->nlocks, &trace->locks_cap, sizeof *trace->lock);
    struct lock_use *lock = &trace->lock[trace->nlocks++];
    *lock = (struct lock_use){.request = reading_ns(reading, time),
                              .rank = trace->place[place].rank,
                              .target = reading_world(trace, win, remote),
                              .win = win,
                              .call = call ? (uint32_t)(call - trace->call) : NONE,
                              .unlock = NONE,
                              .exclusive = type == OTF2_LOCK_EXCLUSIVE,
                              .nocheck = asserts != NONE && asserts & TRACE_NOCHECK};
    table_put_number(&reading->locks[lock->rank], lock_key(win, remote), trace->nlocks - 1);
    return OTF2_CALLBACK_SUCCESS;
}

/* lock_of returns the lock that was asked for last, on this rank or else on all ranks. */
static struct lock_use *lock_of(struct reading *reading, OTF2_LocationRef location,
                                OTF2_RmaWinRef ref, uint32_t remote)
{
    uint32_t place = reading_place(reading, location), win = defs_find(&reading->defs->window, ref);

    reading->trace->rma_events++;
    if (place == NONE || win == NONE)
        return NULL;
    uint32_t rank = reading->trace->place[place].rank;
    if (rank == NONE)
        return NULL;
    uint64_t index = table_number(&reading->locks[rank], lock_key(win, remote));
    if (index == TABLE_NONE)
        index = table_number(&reading->locks[rank], lock_key(win, NONE));
    return index != TABLE_NONE ? &reading->trace->lock[index] : NULL;
}

static OTF2_CallbackCode on_acquire_lock(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                         OTF2_AttributeList *list, OTF2_RmaWinRef ref,
                                         uint32_t remote, uint64_t id, OTF2_LockType type)
{
    struct reading *reading = data;
    struct lock_use *lock = lock_of(reading, location, ref, remote);

    (void)list, (void)id, (void)type;
    if (lock) {
        lock->acquire = reading_ns(reading, time);
        reading_moment(reading, MOMENT_GRANTED, (size_t)(lock - reading->trace->lock));
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_release_lock(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                         OTF2_AttributeList *list, OTF2_RmaWinRef ref,
                                         uint32_t remote, uint64_t id)
{
    struct reading *reading = data;
    struct lock_use *lock = lock_of(reading, location, ref, remote);
    uint32_t place = reading_place(reading, location), win = defs_find(&reading->defs->window, ref);

    (void)id;
    if (!lock)
        return OTF2_CALLBACK_SUCCESS;
    const struct call *call = reading_call(reading, place);
    lock->release = reading_ns(reading, time);
    if (call && reading_u32(reading, list, ATTR_UNRECORDED) != 1)
        lock->unlock = (uint32_t)(call - reading->trace->call);
    reading_set_window(reading, place, win);
    (void)table_take_number(&reading->locks[lock->rank], lock_key(win, remote));
    return OTF2_CALLBACK_SUCCESS;
}

/* held_lock returns the lock by which a rank may access another rank of a window, or NONE if it has
 * none there. */
static uint32_t held_lock(const struct reading *reading, uint32_t rank, uint32_t win,
                          uint32_t remote)
{
    uint64_t index = table_number(&reading->locks[rank], lock_key(win, remote));

    if (index == TABLE_NONE)
        index = table_number(&reading->locks[rank], lock_key(win, NONE));
    return index == TABLE_NONE ? NONE : (uint32_t)index;
}

/* An operation's events but for what the kinds differ in. */
static struct operation *new_op(struct reading *reading, OTF2_LocationRef location, uint64_t time,
                                const OTF2_AttributeList *list, OTF2_RmaWinRef ref, uint32_t remote,
                                uint64_t id)
{
    struct trace *trace = reading->trace;
    uint32_t place = reading_place(reading, location), win = defs_find(&reading->defs->window, ref);
    struct call *call = place == NONE ? NULL : reading_call(reading, place);
    const char *path = reading_string(reading, list, ATTR_PATH);
    uint32_t target = reading_world(trace, win, remote);

    trace->rma_events++;
    if (place == NONE || target == NONE || trace->place[place].rank == NONE)
        return NULL;
    trace->op = grow(trace->op, trace->nops, &trace->ops_cap, sizeof *trace->op);
    struct operation *op = &trace->op[trace->nops++];
    *op = (struct operation){.issue = reading_ns(reading, time),
                             .id = id,
                             .rank = trace->place[place].rank,
                             .target = target,
                             .win = win,
                             .call = call ? (uint32_t)(call - trace->call) : NONE,
                             .completer = NONE,
                             .finisher = NONE,
                             .lock = held_lock(reading, trace->place[place].rank, win, remote),
                             .notification = reading_u32(reading, list, ATTR_NOTIFICATION),
                             .request = reading_u32(reading, list, ATTR_REQUEST) == 1};
    reading_moment(reading, MOMENT_ISSUE, trace->nops - 1);
    reading_set_window(reading, place, win);
    struct counts *counts = reading_counts(reading, op->rank, win);
    op->fences = counts->fences;
    op->starts = counts->in_start ? counts->starts : 0;
    for (unsigned i = 1; i < PATHS; i++)
        if (strcmp(path_name[i], path) == 0)
            op->path = (uint8_t)i;
    table_put_number(&reading->open_ops[op->rank], id, trace->nops - 1);
    return op;
}

static OTF2_CallbackCode on_put(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                OTF2_AttributeList *list, OTF2_RmaWinRef win, uint32_t remote,
                                uint64_t bytes, uint64_t id)
{
    struct operation *op = new_op(data, location, time, list, win, remote, id);

    if (op) {
        op->op = TRACE_PUT;
        op->bytes = bytes;
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_get(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                OTF2_AttributeList *list, OTF2_RmaWinRef win, uint32_t remote,
                                uint64_t bytes, uint64_t id)
{
    struct operation *op = new_op(data, location, time, list, win, remote, id);

    if (op) {
        op->op = TRACE_GET;
        op->bytes = bytes;
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_atomic(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                   OTF2_AttributeList *list, OTF2_RmaWinRef win, uint32_t remote,
                                   OTF2_RmaAtomicType type, uint64_t sent, uint64_t received,
                                   uint64_t id)
{
    struct reading *reading = data;
    struct operation *op = new_op(data, location, time, list, win, remote, id);

    if (!op)
        return OTF2_CALLBACK_SUCCESS;
    const char *function = reading_string(reading, list, ATTR_FUNCTION);
    const uint32_t element = reading_u32(reading, list, ATTR_ELEMENT);
    op->bytes = u64_max(sent, received);
    op->element = element == NONE || element == 0 ? 1 : element;
    op->op = type == OTF2_RMA_ATOMIC_TYPE_ACCUMULATE         ? TRACE_ACCUMULATE
             : type == OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP ? TRACE_COMPARE_AND_SWAP
                                                             : TRACE_GET_ACCUMULATE;
    for (unsigned i = TRACE_ACCUMULATE; i <= TRACE_COMPARE_AND_SWAP; i++)
        if (strcmp(op_name[i], function) == 0)
            op->op = (uint8_t)i;
    return OTF2_CALLBACK_SUCCESS;
}

static void complete(struct reading *reading, OTF2_LocationRef location, uint64_t time,
                     const OTF2_AttributeList *list, uint64_t id, bool remote)
{
    struct trace *trace = reading->trace;
    uint32_t place = reading_place(reading, location);

    trace->rma_events++;
    if (place == NONE || trace->place[place].rank == NONE)
        return;
    struct table *open = &reading->open_ops[trace->place[place].rank];
    uint64_t index = table_number(open, id);
    if (index == TABLE_NONE)
        return;
    struct operation *op = &trace->op[index];
    uint64_t now = reading_ns(reading, time), earlier = reading_u64(reading, list, ATTR_EARLIER);
    struct call *call = reading_call(reading, place);

    if (earlier != UINT64_MAX && !op->arrived)
        op->arrived = u64_max(u64_minus(now, earlier), op->issue);
    op->unrecorded = op->unrecorded || reading_u32(reading, list, ATTR_UNRECORDED) == 1;
    if (call && op->completer == NONE) {
        op->completer = (uint32_t)(call - trace->call);
        call->win = op->win;
    }
    if (remote) {
        op->remote = now;
        op->at_wait = reading_u32(reading, list, ATTR_AT_WAIT) == 1;
        op->finisher = call ? (uint32_t)(call - trace->call) : NONE;
        (void)table_take_number(open, id);
    } else
        op->local = now;
}

static OTF2_CallbackCode on_complete(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                     OTF2_AttributeList *list, OTF2_RmaWinRef win, uint64_t id)
{
    (void)win;
    complete(data, location, time, list, id, false);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_complete_remote(OTF2_LocationRef location, OTF2_TimeStamp time,
                                            void *data, OTF2_AttributeList *list,
                                            OTF2_RmaWinRef win, uint64_t id)
{
    (void)win;
    complete(data, location, time, list, id, true);
    return OTF2_CALLBACK_SUCCESS;
}

/* Of the kinds of RmaSync the one that says that notifications are taken. */
static OTF2_CallbackCode on_sync(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                 OTF2_AttributeList *list, OTF2_RmaWinRef ref, uint32_t remote,
                                 OTF2_RmaSyncType type)
{
    struct reading *reading = data;
    struct trace *trace = reading->trace;
    uint32_t place = reading_place(reading, location), win = defs_find(&reading->defs->window, ref);
    struct call *call = place == NONE ? NULL : reading_call(reading, place);
    uint64_t now = reading_ns(reading, time), count = reading_u64(reading, list, ATTR_TAKEN);

    trace->rma_events++;
    if (type != OTF2_RMA_SYNC_TYPE_NOTIFY_IN || count == UINT64_MAX || win == NONE ||
        place == NONE || trace->place[place].rank == NONE)
        return OTF2_CALLBACK_SUCCESS;
    trace->taking =
        grow(trace->taking, trace->ntakings, &trace->takings_cap, sizeof *trace->taking);
    reading_moment(reading, MOMENT_TAKEN, trace->ntakings);
    trace->taking[trace->ntakings++] =
        (struct taking){.time = now,
                        .count = count,
                        .rank = trace->place[place].rank,
                        .win = win,
                        .number = reading_u32(reading, list, ATTR_NOTIFICATION),
                        .source = reading_world(trace, win, remote),
                        .call = call ? (uint32_t)(call - trace->call) : NONE};
    return OTF2_CALLBACK_SUCCESS;
}

static void add_memory(const struct reading *reading, const struct access *access, uint32_t rank,
                       uint32_t win, unsigned how)
{
    struct trace *trace = reading->trace;

    trace->memory =
        grow(trace->memory, trace->nmemories, &trace->memories_cap, sizeof *trace->memory);
    trace->memory[trace->nmemories++] =
        (struct memory){access->begin, access->length, rank, win, (how & TRACE_SAME_OP) != 0};
}

/* Whether the blocks lie in memory that can be: what spool_kinds.c has looked at, for an archive
 * may be damaged too. */
static bool blocks_good(const struct access *access)
{
    const uint64_t step = (uint64_t)(access->stride < 0 ? -access->stride : access->stride);
    uint64_t far;

    if (access->n == 0 || access->stride == INT64_MIN ||
        __builtin_mul_overflow(access->n - 1, step, &far))
        return false;
    if (access->stride < 0)
        return far <= access->begin && access->begin <= UINT64_MAX - access->length;
    return access->begin <= UINT64_MAX - access->length &&
           far <= UINT64_MAX - access->length - access->begin;
}

static OTF2_CallbackCode on_parameter(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                      OTF2_AttributeList *list, OTF2_ParameterRef parameter,
                                      uint64_t value)
{
    struct reading *reading = data;
    struct trace *trace = reading->trace;
    const uint32_t place = reading_place(reading, location);
    const uint32_t how = reading_u32(reading, list, ATTR_ACCESS);
    const uint32_t blocks = reading_u32(reading, list, ATTR_BLOCKS);
    struct access access = {.begin = value,
                            .length = reading_u64(reading, list, ATTR_LENGTH),
                            .n = blocks == NONE ? 1 : blocks};

    (void)parameter;
    reading_ns(reading, time);
    if (place == NONE || trace->place[place].rank == NONE || how == NONE || !trace->has_accesses)
        return OTF2_CALLBACK_SUCCESS;
    if (blocks != NONE)
        (void)OTF2_AttributeList_GetInt64(list, reading->defs->attr[ATTR_STRIDE], &access.stride);
    const uint32_t rank = trace->place[place].rank;
    const uint64_t id = reading_u64(reading, list, ATTR_OPERATION);
    const uint64_t index = table_number(&reading->open_ops[rank], id);
    access.side = how & TRACE_SIDE;
    access.inexact = (how & TRACE_INEXACT) != 0;
    access.acc_op =
        how >> TRACE_ACC_OP_SHIFT & ((1 << (TRACE_ACC_TYPE_SHIFT - TRACE_ACC_OP_SHIFT)) - 1);
    access.type = (uint8_t)(how >> TRACE_ACC_TYPE_SHIFT);
    access.op = index == TABLE_NONE ? NONE : (uint32_t)index;
    if (!blocks_good(&access))
        return OTF2_CALLBACK_SUCCESS;
    if (access.side == TRACE_OF_WINDOW && reading_window(reading, list) != NONE)
        add_memory(reading, &access, rank, reading_window(reading, list), how);
    else if (access.op != NONE && access.side >= TRACE_AT_TARGET && access.side <= TRACE_STORED) {
        trace->access =
            grow(trace->access, trace->naccesses, &trace->accesses_cap, sizeof *trace->access);
        trace->access[trace->naccesses++] = access;
    } else if (id == UINT64_MAX && (access.side == TRACE_LOADED || access.side == TRACE_STORED))
        reading_buffer(reading, place, access);
    return OTF2_CALLBACK_SUCCESS;
}

void reading_rma_callbacks(OTF2_GlobalEvtReaderCallbacks *on)
{
    OTF2_GlobalEvtReaderCallbacks_SetRmaRequestLockCallback(on, on_request_lock);
    OTF2_GlobalEvtReaderCallbacks_SetRmaAcquireLockCallback(on, on_acquire_lock);
    OTF2_GlobalEvtReaderCallbacks_SetRmaReleaseLockCallback(on, on_release_lock);
    OTF2_GlobalEvtReaderCallbacks_SetRmaPutCallback(on, on_put);
    OTF2_GlobalEvtReaderCallbacks_SetRmaGetCallback(on, on_get);
    OTF2_GlobalEvtReaderCallbacks_SetRmaAtomicCallback(on, on_atomic);
    OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(on, on_complete);
    OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(on, on_complete);
    OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(on, on_complete_remote);
    OTF2_GlobalEvtReaderCallbacks_SetRmaSyncCallback(on, on_sync);
    OTF2_GlobalEvtReaderCallbacks_SetParameterUnsignedIntCallback(on, on_parameter);
}
