/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read_events.c - see read_events.h. It makes one pass over all events in order of time: OTF2 has
 * applied the clock offsets before it sorts.
 */
#include "read_events.h"

#include <stdlib.h>
#include "reading.h"

enum { EVENTS_AT_ONCE = 50000 };

uint32_t reading_place(const struct reading *reading, OTF2_LocationRef location)
{
    return defs_find(&reading->defs->place, location);
}

uint64_t reading_ns(struct reading *reading, uint64_t time)
{
    const struct defs *defs = reading->defs;
    uint64_t ticks = u64_minus(time, defs->first);

    if (defs->resolution != NS_PER_S)
        ticks = (uint64_t)((double)ticks * (double)NS_PER_S / (double)defs->resolution);
    reading->last = u64_max(reading->last, ticks);
    return ticks;
}

uint32_t reading_u32(const struct reading *reading, const OTF2_AttributeList *list, enum attr attr)
{
    uint32_t value = NONE;

    if (!reading->defs->has_attr[attr] ||
        OTF2_AttributeList_GetUint32(list, reading->defs->attr[attr], &value) != OTF2_SUCCESS)
        return NONE;
    return value;
}

uint64_t reading_u64(const struct reading *reading, const OTF2_AttributeList *list, enum attr attr)
{
    uint64_t value = 0;

    if (!reading->defs->has_attr[attr] ||
        OTF2_AttributeList_GetUint64(list, reading->defs->attr[attr], &value) != OTF2_SUCCESS)
        return UINT64_MAX;
    return value;
}

uint32_t reading_window(const struct reading *reading, const OTF2_AttributeList *list)
{
    OTF2_RmaWinRef value;

    if (!reading->defs->has_attr[ATTR_WINDOW] ||
        OTF2_AttributeList_GetRmaWinRef(list, reading->defs->attr[ATTR_WINDOW], &value) !=
            OTF2_SUCCESS)
        return NONE;
    return defs_find(&reading->defs->window, value);
}

static uint32_t reading_comm(const struct reading *reading, const OTF2_AttributeList *list)
{
    OTF2_CommRef value;

    if (!reading->defs->has_attr[ATTR_COMM] ||
        OTF2_AttributeList_GetCommRef(list, reading->defs->attr[ATTR_COMM], &value) != OTF2_SUCCESS)
        return NONE;
    return defs_find(&reading->defs->comms, value);
}

uint32_t reading_site(const struct reading *reading, const OTF2_AttributeList *list)
{
    OTF2_SourceCodeLocationRef value;

    if (!reading->defs->has_attr[ATTR_SITE] ||
        OTF2_AttributeList_GetSourceCodeLocationRef(list, reading->defs->attr[ATTR_SITE], &value) !=
            OTF2_SUCCESS)
        return NONE;
    const uint32_t site = defs_find(&reading->defs->site, value);
    if (site != NONE && !reading->trace->site[site].function) {
        const char *function = reading_string(reading, list, ATTR_CALLER);

        reading->trace->site[site].function = *function ? text("%s", function) : NULL;
    }
    return site;
}

const char *reading_string(const struct reading *reading, const OTF2_AttributeList *list,
                           enum attr attr)
{
    OTF2_StringRef value;

    if (!reading->defs->has_attr[attr] ||
        OTF2_AttributeList_GetStringRef(list, reading->defs->attr[attr], &value) != OTF2_SUCCESS)
        return "";
    const char *name = table_get(&reading->defs->string, value);
    return name ? name : "";
}

uint32_t reading_world(const struct trace *trace, uint32_t win, uint32_t rank)
{
    return win != NONE && rank < trace->window[win].nranks ? trace->window[win].world[rank] : NONE;
}

struct counts *reading_counts(struct reading *reading, uint32_t rank, uint32_t win)
{
    uint64_t key = (uint64_t)rank << 32 | win;
    struct counts *counts = table_get(&reading->counts, key);

    if (!counts) {
        counts = zalloc(1, sizeof *counts);
        (void)table_put(&reading->counts, key, counts);
    }
    return counts;
}

struct call *reading_call(struct reading *reading, uint32_t place)
{
    struct at_place *at = &reading->at[place];

    for (unsigned i = at->depth < DEPTH_MAX ? at->depth : DEPTH_MAX; i-- > 0;)
        if (reading_is_rma(at->open[i].region))
            return &reading->trace->call[at->open[i].index];
    return NULL;
}

bool reading_is_rma(uint32_t region)
{
    return region < OWN_BASE;
}

bool reading_is_other(uint32_t region)
{
    return region >= OTHER_BASE && region < PROGRAM_BASE;
}

uint32_t reading_any_call(const struct reading *reading, uint32_t place)
{
    const struct at_place *at = &reading->at[place];

    for (unsigned i = at->depth < DEPTH_MAX ? at->depth : DEPTH_MAX; i-- > 0;)
        if (reading_is_rma(at->open[i].region) || reading_is_other(at->open[i].region))
            return at->open[i].index;
    return NONE;
}

void reading_set_window(struct reading *reading, uint32_t place, uint32_t win)
{
    struct call *call = reading_call(reading, place);

    if (call)
        call->win = win;
}

void reading_moment(const struct reading *reading, enum moment_kind kind, size_t index)
{
    struct trace *trace = reading->trace;

    if (!trace->has_accesses)
        return;
    trace->moment =
        grow(trace->moment, trace->nmoments, &trace->moments_cap, sizeof *trace->moment);
    trace->moment[trace->nmoments++] = (struct moment){(uint32_t)index, (uint8_t)kind};
}

static uint32_t new_call(struct reading *reading, uint32_t place, uint64_t time, uint32_t kind,
                         bool rma, const OTF2_AttributeList *list)
{
    struct trace *trace = reading->trace;

    trace->call = grow(trace->call, trace->ncalls, &trace->calls_cap, sizeof *trace->call);
    trace->call[trace->ncalls] =
        (struct call){.enter = time,
                      .place = place,
                      .rank = trace->place[place].rank,
                      .call = (uint16_t)kind,
                      .rma = rma,
                      .outermost = reading->at[place].calls == 0,
                      .top = reading->at[place].calls == 0 && reading->at[place].others == 0,
                      .win = reading_window(reading, list),
                      .group = NONE,
                      .site = reading_site(reading, list),
                      .visit = reading->at[place].visit,
                      .sequence = NONE,
                      .comm = reading_comm(reading, list),
                      .peer = NONE};
    return (uint32_t)trace->ncalls++;
}

static uint32_t other_call(struct reading *reading, uint32_t place, uint64_t time, uint32_t kind,
                           const OTF2_AttributeList *list)
{
    const uint32_t index = new_call(reading, place, time, kind, false, list);
    const uint32_t peer = reading_u32(reading, list, ATTR_RANK);

    if (peer < reading->trace->nranks)
        reading->trace->call[index].peer = peer;
    reading_moment(reading, MOMENT_OTHER_ENTER, index);
    return index;
}

/* A call that waits for requests of RMA is recorded in the same call that waits for any: it is one.
 */
static bool is_same_call(const struct reading *reading, const struct at_place *at, uint32_t kind)
{
    const struct open *around = at->depth ? &at->open[at->depth - 1] : NULL;

    return around && reading_is_other(around->region) &&
           reading->trace->call[around->index].call == kind;
}

static uint32_t rma_call(struct reading *reading, uint32_t place, uint64_t time, uint32_t kind,
                         const OTF2_AttributeList *list)
{
    const struct at_place *at = &reading->at[place];
    const uint32_t index = is_same_call(reading, at, kind)
                               ? at->open[at->depth - 1].index
                               : new_call(reading, place, time, kind, true, list);

    reading->trace->call[index].rma = true;
    reading_moment(reading, MOMENT_ENTER, index);
    return index;
}

static uint32_t new_doing(struct reading *reading, uint32_t place, uint64_t time, uint32_t kind,
                          const OTF2_AttributeList *list)
{
    struct trace *trace = reading->trace;
    uint32_t win = reading_window(reading, list);
    uint32_t peer = reading_u32(
        reading, list, kind == OWN_WAIT_POST || kind == OWN_WAIT_CREDIT ? ATTR_PEER : ATTR_ORIGIN);
    uint32_t rank = reading_u32(reading, list, ATTR_RANK);
    uint32_t queue = reading_u32(reading, list, ATTR_QUEUE);

    trace->doing = grow(trace->doing, trace->ndoings, &trace->doings_cap, sizeof *trace->doing);
    trace->doing[trace->ndoings] =
        (struct doing){.begin = time,
                       .place = place,
                       .rank = trace->place[place].rank,
                       .kind = (uint16_t)kind,
                       .win = win,
                       .peer = rank < trace->nranks ? rank : reading_world(trace, win, peer),
                       .queue = queue == NONE ? 0 : queue};
    return (uint32_t)trace->ndoings++;
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                  OTF2_AttributeList *list, OTF2_RegionRef region)
{
    struct reading *reading = data;
    uint32_t place = reading_place(reading, location);

    if (place == NONE)
        return OTF2_CALLBACK_SUCCESS;
    if (reading->at[place].depth >= DEPTH_MAX) { /* as deep calls of RMA are not */
        reading->at[place].depth++;
        return OTF2_CALLBACK_SUCCESS;
    }
    struct at_place *at = &reading->at[place];
    struct open *open = &at->open[at->depth];
    uint64_t now = reading_ns(reading, time);

    open->region = defs_find(&reading->defs->region, region);
    if (reading->trace->place[place].rank == NONE)
        open->region = NONE;
    if (open->region == NONE)
        open->index = NONE;
    else if (open->region >= PROGRAM_BASE)
        open->index = reading_visit(reading, place, now, open->region - PROGRAM_BASE);
    else if (open->region >= OTHER_BASE)
        open->index = other_call(reading, place, now, open->region - OTHER_BASE, list);
    else if (open->region >= OWN_BASE)
        open->index = new_doing(reading, place, now, open->region - OWN_BASE, list);
    else
        open->index = rma_call(reading, place, now, open->region, list);
    at->depth++;
    at->calls += reading_is_rma(open->region);
    at->others += reading_is_other(open->region);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                  OTF2_AttributeList *list, OTF2_RegionRef region)
{
    struct reading *reading = data;
    uint32_t place = reading_place(reading, location);

    (void)region;
    if (place == NONE || reading->at[place].depth == 0)
        return OTF2_CALLBACK_SUCCESS;
    struct at_place *at = &reading->at[place];
    if (--at->depth >= DEPTH_MAX)
        return OTF2_CALLBACK_SUCCESS;
    struct open *open = &at->open[at->depth];
    uint64_t now = reading_ns(reading, time);

    if (open->region == NONE)
        return OTF2_CALLBACK_SUCCESS;
    if (open->region >= PROGRAM_BASE) {
        reading_visit_end(reading, place, now, open->index);
        return OTF2_CALLBACK_SUCCESS;
    }
    if (open->region >= OWN_BASE && open->region < OTHER_BASE) {
        struct doing *doing = &reading->trace->doing[open->index];
        uint32_t count = reading_u32(reading, list, ATTR_OPERATIONS);
        uint64_t bytes = reading_u64(reading, list, ATTR_BYTES);

        doing->end = now;
        doing->count = count == NONE ? 0 : count;
        doing->bytes = bytes == UINT64_MAX ? 0 : bytes;
        return OTF2_CALLBACK_SUCCESS;
    }
    at->calls -= reading_is_rma(open->region);
    at->others -= reading_is_other(open->region);
    reading_moment(reading, reading_is_rma(open->region) ? MOMENT_LEAVE : MOMENT_OTHER_LEAVE,
                   open->index);
    reading->trace->call[open->index].leave = now;
    reading->trace->call[open->index].unrecorded = reading_u32(reading, list, ATTR_UNRECORDED) == 1;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_collective(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                       OTF2_AttributeList *list, OTF2_CollectiveOp op,
                                       OTF2_RmaSyncLevel level, OTF2_RmaWinRef ref, uint32_t root,
                                       uint64_t sent, uint64_t received)
{
    struct reading *reading = data;
    uint32_t place = reading_place(reading, location), win = defs_find(&reading->defs->window, ref);
    struct call *call = place == NONE ? NULL : reading_call(reading, place);

    (void)time, (void)list, (void)op, (void)root, (void)sent, (void)received;
    reading->trace->rma_events++;
    if (!call || win == NONE)
        return OTF2_CALLBACK_SUCCESS;
    struct counts *counts = reading_counts(reading, call->rank, win);
    call->win = win;
    call->synchronizes = (level & OTF2_RMA_SYNC_LEVEL_PROCESS) != 0;
    call->sequence = call->call == TRACE_CALL_Win_fence  ? counts->fences++
                     : call->call == TRACE_CALL_Win_free ? counts->frees++
                                                         : counts->creates++;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group_sync(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                       OTF2_AttributeList *list, OTF2_RmaSyncLevel level,
                                       OTF2_RmaWinRef ref, OTF2_GroupRef group)
{
    struct reading *reading = data;
    uint32_t place = reading_place(reading, location), win = defs_find(&reading->defs->window, ref);
    struct call *call = place == NONE ? NULL : reading_call(reading, place);

    (void)time, (void)list, (void)level;
    reading->trace->rma_events++;
    if (!call || win == NONE)
        return OTF2_CALLBACK_SUCCESS;
    call->win = win;
    call->group = defs_find(&reading->defs->group, group);
    struct counts *counts = reading_counts(reading, call->rank, win);
    if (call->call == TRACE_CALL_Win_start) {
        counts->starts++;
        counts->in_start = true;
    } else if (call->call == TRACE_CALL_Win_complete)
        counts->in_start = false;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_other(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                  OTF2_AttributeList *list)
{
    (void)location, (void)list;
    reading_ns(data, time);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_GlobalEvtReaderCallbacks *callbacks(void)
{
    OTF2_GlobalEvtReaderCallbacks *on = OTF2_GlobalEvtReaderCallbacks_New();

    if (!on)
        return NULL;
    OTF2_GlobalEvtReaderCallbacks_SetUnknownCallback(on, on_other);
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(on, on_enter);
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(on, on_leave);
    OTF2_GlobalEvtReaderCallbacks_SetRmaCollectiveEndCallback(on, on_collective);
    OTF2_GlobalEvtReaderCallbacks_SetRmaGroupSyncCallback(on, on_group_sync);
    reading_regions_callbacks(on);
    reading_messages_callbacks(on);
    reading_rma_callbacks(on);
    return on;
}

static int by_op(const void *a, const void *b)
{
    const struct access *x = a, *y = b;

    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->side != y->side)
        return x->side < y->side ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void assign_accesses(struct trace *trace)
{
    sort(trace->access, trace->naccesses, sizeof *trace->access, by_op);
    for (size_t i = 0; i < trace->naccesses; i++) {
        struct operation *op = &trace->op[trace->access[i].op];

        if (op->naccess++ == 0)
            op->access = (uint32_t)i;
    }
}

/* What was open at the end of the events ends with them. */
static void finish(struct reading *reading)
{
    struct trace *trace = reading->trace;

    trace->length = reading->last;
    reading_regions_finish(reading);
    assign_accesses(trace);
    reading_messages_finish(trace);
    for (size_t i = 0; i < trace->ncalls; i++)
        if (trace->call[i].leave == 0) {
            trace->call[i].leave = trace->length;
            trace->call[i].unrecorded = true;
        }
    for (size_t i = 0; i < trace->ndoings; i++)
        if (trace->doing[i].end == 0)
            trace->doing[i].end = trace->length;
}

static void free_reading(struct reading *reading)
{
    table_end(&reading->counts, free);
    table_end(&reading->comms, NULL);
    for (uint32_t i = 0; i < reading->trace->nranks; i++) {
        table_end(&reading->locks[i], NULL);
        table_end(&reading->open_ops[i], NULL);
        table_end(&reading->requests[i], NULL);
    }
    free(reading->locks);
    free(reading->open_ops);
    free(reading->requests);
    free(reading->at);
}

bool events_read(struct defs *defs, OTF2_Reader *reader, uint64_t *nread)
{
    struct reading reading = {.defs = defs, .trace = defs->trace};
    OTF2_GlobalEvtReader *events = OTF2_Reader_GetGlobalEvtReader(reader);
    OTF2_GlobalEvtReaderCallbacks *on = callbacks();
    OTF2_ErrorCode code = OTF2_ERROR_MEM_FAULT;
    uint64_t n = 1;

    reading.at = zalloc(defs->trace->nplaces, sizeof *reading.at);
    for (size_t i = 0; i < defs->trace->nplaces; i++)
        reading.at[i].visit = reading.at[i].stopped = reading.at[i].message = NONE;
    reading.locks = zalloc(defs->trace->nranks, sizeof *reading.locks);
    reading.requests = zalloc(defs->trace->nranks, sizeof *reading.requests);
    reading.open_ops = zalloc(defs->trace->nranks, sizeof *reading.open_ops);
    if (events && on)
        code = OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, on, &reading);
    OTF2_GlobalEvtReaderCallbacks_Delete(on);
    *nread = 0;
    while (code == OTF2_SUCCESS && n > 0) {
        code = OTF2_Reader_ReadGlobalEvents(reader, events, EVENTS_AT_ONCE, &n);
        *nread += n;
        progress("reading the events", *nread, defs->nevents);
    }
    progress_end();
    OTF2_Reader_CloseGlobalEvtReader(reader, events);
    finish(&reading);
    defs->trace->events = *nread;
    free_reading(&reading);
    return code == OTF2_SUCCESS;
}
