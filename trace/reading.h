/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reading.h - what is known while the events of an archive are read: which regions are open at
 * which place, which operations and locks have begun, and how many epochs there were.
 *
 * read_events.c reads regions and synchronization, read_rma.c operations and locks.
 */
#ifndef MRMA_TRACE_READING_H
#define MRMA_TRACE_READING_H

#include "read_defs.h"

enum { DEPTH_MAX = 128 };

/* A region that is open at a place. */
struct open {
    uint32_t region; /* defs->region's value, NONE: no concern of ours */
    uint32_t index;  /* of trace->call or trace->doing */
};

struct at_place {
    struct open open[DEPTH_MAX];
    unsigned depth;
    unsigned calls;   /* of RMA that are open, */
    unsigned others;  /* and other ones of MPI */
    uint32_t visit;   /* the innermost region of the program that is open; NONE: none */
    uint32_t stopped; /* of trace->doing, where nothing is recorded; NONE: something is */
    uint32_t message; /* the last one: of trace->sending (sends), or ->receiving; NONE: none */
    bool sends;
};

/* What is counted for a rank and a window. */
struct counts {
    uint32_t creates, fences, frees, starts;
    bool in_start;
    uint32_t group;
};

struct reading {
    struct defs *defs;
    struct trace *trace;
    struct at_place *at;    /* for each place */
    struct table *open_ops; /* for each rank: id to index of trace->op */
    struct table counts;    /* by rank and window */
    struct table
        *requests;       /* for each rank: of a message, index of trace->sending or ->receiving */
    struct table comms;  /* collective calls, by rank and communicator */
    struct table *locks; /* for each rank: window and target to index of trace->lock */
    uint64_t last;
};

uint32_t reading_place(const struct reading *reading, OTF2_LocationRef location);

/* Nanoseconds from the begin of the trace. */
uint64_t reading_ns(struct reading *reading, uint64_t time);

/* The value of an attribute; NONE, UINT64_MAX, "" where the event has none. */
uint32_t reading_u32(const struct reading *reading, const OTF2_AttributeList *list, enum attr attr);
uint64_t reading_u64(const struct reading *reading, const OTF2_AttributeList *list, enum attr attr);
uint32_t reading_window(const struct reading *reading, const OTF2_AttributeList *list);
uint32_t reading_site(const struct reading *reading, const OTF2_AttributeList *list);
const char *reading_string(const struct reading *reading, const OTF2_AttributeList *list,
                           enum attr attr);

/* reading_world returns the rank in MPI_COMM_WORLD of a rank of a window. */
uint32_t reading_world(const struct trace *trace, uint32_t win, uint32_t rank);

struct counts *reading_counts(struct reading *reading, uint32_t rank, uint32_t win);

/* reading_call returns the innermost call of RMA that is open at a place, or NULL if there is
 * none. */
struct call *reading_call(struct reading *reading, uint32_t place);
void reading_set_window(struct reading *reading, uint32_t place, uint32_t win);

/* reading_moment notes that this happens next, where accesses are recorded. */
void reading_moment(const struct reading *reading, enum moment_kind kind, size_t index);

/* read_regions.c: where a visit of a region begins, the index of that; where it ends; and where the
 * recording is stopped and resumed. */
uint32_t reading_visit(struct reading *reading, uint32_t place, uint64_t time, uint32_t region);
void reading_visit_end(struct reading *reading, uint32_t place, uint64_t time, uint32_t visit);
void reading_regions_callbacks(OTF2_GlobalEvtReaderCallbacks *on);
/* reading_regions_finish ends, at the end of the events, what is open there. */
void reading_regions_finish(struct reading *reading);

/* reading_is_rma returns whether a region's value is that of a call of RMA, or of another call of
 * MPI. */
bool reading_is_rma(uint32_t region);
bool reading_is_other(uint32_t region);

/* reading_any_call returns the innermost call of MPI that is open at a place, as an index of
 * trace->call, or NONE if there is none. */
uint32_t reading_any_call(const struct reading *reading, uint32_t place);

/* read_messages.c; reading_buffer is told of memory that the last message at a place accesses. */
void reading_messages_callbacks(OTF2_GlobalEvtReaderCallbacks *on);
void reading_buffer(struct reading *reading, uint32_t place, struct access access);
/* Which memory belongs to which message is known at the end of the events. */
void reading_messages_finish(struct trace *trace);

/* read_rma.c */
void reading_rma_callbacks(OTF2_GlobalEvtReaderCallbacks *on);

#endif
