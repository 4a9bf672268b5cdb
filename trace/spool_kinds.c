/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_kinds.c - see spool_kinds.h.
 */
#include "spool_kinds.h"

#include "trace/spool_pack.h"

enum spool_window spool_window_of(unsigned kind)
{
    switch (kind) {
    case TRACE_ENTER:
    case TRACE_LEAVE:
    case TRACE_CALL:
    case TRACE_REQUEST_DONE:
    case TRACE_REQUEST_TEST:
    case TRACE_RANKS:
    case TRACE_SLEEP:
    case TRACE_AWAKE:
    case TRACE_WAKE_AGENT:
    case TRACE_NO_CREDIT:
    case TRACE_CREDIT:
    case TRACE_WRITE:
    case TRACE_CLOCK:
    case TRACE_NAME:
    case TRACE_OBJECT:
    case TRACE_TEXT:
    case TRACE_REGION_NAME:
    case TRACE_REGION_BEGIN:
    case TRACE_REGION_END:
    case TRACE_RECORDING:
    case TRACE_COMM:
    case TRACE_SEND:
    case TRACE_SENT:
    case TRACE_RECEIVE:
    case TRACE_RECEIVED:
    case TRACE_CANCELLED:
    case TRACE_COLLECTIVE:
    case TRACE_ACCESS:
        return SPOOL_NO_WINDOW;
    case TRACE_WIN_CREATE:
    case TRACE_SERVE:
    case TRACE_SERVED:
    case TRACE_PARK:
    case TRACE_UNPARK:
    case TRACE_LOCK_QUEUE:
    case TRACE_LOCK_GRANT:
        return SPOOL_SOME_WINDOW;
    default:
        return SPOOL_OPEN_WINDOW;
    }
}

/* All blocks lie in memory that can be. */
static bool access_good(const struct trace_access *access)
{
    const unsigned side = access->what & TRACE_SIDE;
    const uint64_t step = (uint64_t)(access->stride < 0 ? -access->stride : access->stride);
    uint64_t far = 0;

    if (side < TRACE_AT_TARGET || side > TRACE_OF_WINDOW || access->stride == INT64_MIN)
        return false;
    if (access->n == 0 || __builtin_mul_overflow(access->n - 1, step, &far))
        return false;
    if (access->stride < 0)
        return far <= access->begin && access->begin <= UINT64_MAX - access->length;
    return access->begin <= UINT64_MAX - access->length &&
           far <= UINT64_MAX - access->length - access->begin;
}

/* Kinds that have something else in the place of most fields. */
static bool other_fields_good(const struct trace_record *r)
{
    const struct trace_object *object = (const struct trace_object *)r;
    const struct trace_text *text = (const struct trace_text *)r;

    switch (r->kind) {
    case TRACE_ACCESS:
        return access_good((const struct trace_access *)r);
    case TRACE_OBJECT:
        return object->begin <= UINT64_MAX - (uint64_t)object->pages * TRACE_OBJECT_PAGE;
    case TRACE_TEXT:
        return text->length > 0 && text->length <= TRACE_TEXT_MAX;
    default:
        return r->what >= TRACE_CALL_LAST && r->what < TRACE_CALL_LAST + TRACE_NAMES_MAX;
    }
}

/* Kinds for which win is a communicator. */
static bool message_fields_good(const struct trace_record *r, uint32_t nproc)
{
    switch (r->kind) {
    case TRACE_COMM:
        return r->win && r->peer >= 0 && r->arg <= nproc && (uint32_t)r->peer < r->arg;
    case TRACE_SEND:
    case TRACE_RECEIVED:
        return r->win && r->peer >= 0;
    case TRACE_RECEIVE:
        return r->win && r->id;
    case TRACE_COLLECTIVE:
        return r->win && r->what < TRACE_COLLECTIVES;
    default:
        return r->id;
    }
}

/* The fields of the records that it stands for. */
static bool call_op_good(const struct trace_record *r)
{
    const unsigned call = r->what & SPOOL_LOW, op = r->what >> SPOOL_SHIFT;

    return r->peer >= 0 && call > TRACE_CALL_NONE && call < TRACE_CALL_LAST + TRACE_NAMES_MAX &&
           op >= TRACE_PUT && op <= TRACE_COMPARE_AND_SWAP && r->arg >> SPOOL_SHIFT;
}

bool spool_fields_good(const struct trace_record *r, uint32_t nproc)
{
    if (r->kind == TRACE_NAME || r->kind == TRACE_OBJECT || r->kind == TRACE_TEXT ||
        r->kind == TRACE_ACCESS)
        return other_fields_good(r);
    if (r->peer < -1 || r->peer >= (int64_t)nproc)
        return false;
    if (!r->win && spool_window_of(r->kind) != SPOOL_NO_WINDOW)
        return false;
    switch (r->kind) {
    case TRACE_ENTER:
    case TRACE_LEAVE:
    case TRACE_CALL:
        return r->what > TRACE_CALL_NONE && r->what < TRACE_CALL_LAST + TRACE_NAMES_MAX;
    case TRACE_WIN_CREATE:
        return r->peer >= 0 && r->arg <= nproc && (uint32_t)r->peer < r->arg;
    case TRACE_OP:
        return r->peer >= 0 && r->what >= TRACE_PUT && r->what <= TRACE_COMPARE_AND_SWAP;
    case TRACE_CALL_OP:
        return call_op_good(r);
    case TRACE_START:
    case TRACE_POST:
        return r->id <= nproc;
    case TRACE_REGION_NAME:
        return r->id < TRACE_REGION_NAMES;
    case TRACE_REGION_BEGIN:
        return r->id < TRACE_REGION_NAMES && r->arg > 0 && r->arg <= TRACE_REGIONS_DEEP;
    case TRACE_REGION_END:
        return r->arg > 0 && r->arg <= TRACE_REGIONS_DEEP;
    case TRACE_RECORDING:
        return r->arg <= 1;
    case TRACE_COMM:
    case TRACE_SEND:
    case TRACE_SENT:
    case TRACE_RECEIVE:
    case TRACE_RECEIVED:
    case TRACE_CANCELLED:
    case TRACE_COLLECTIVE:
        return message_fields_good(r, nproc);
    default:
        return true;
    }
}
