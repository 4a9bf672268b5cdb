/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read_defs.h - the definitions of an archive, by the numbers that they have there.
 */
#ifndef MRMA_TRACE_READ_DEFS_H
#define MRMA_TRACE_READ_DEFS_H

#include "model.h"
#include "table.h"

struct defs {
    struct trace *trace;
    struct table string; /* char * */
    struct table region; /* enum trace_call, OWN_BASE + enum own_region, OTHER_BASE + number of
                            trace->call_name, or PROGRAM_BASE + index of trace->region */
    struct table place;  /* index, by location */
    struct table group;  /* index of trace->group */
    struct table comm;   /* group's number, */
    struct table comms;  /* and index of trace->comm */
    struct table window; /* index of trace->window */
    struct table site;   /* index of trace->site */
    struct table rank;   /* rank, by location group; by COMM_LOCATIONS, else as they come */
    struct table home;   /* location group, by location */
    OTF2_AttributeRef attr[ATTRS]; /* number of each of ours */
    bool has_attr[ATTRS];
    uint64_t *location; /* all of them */
    size_t nlocations, locations_cap;
    uint64_t *of_rank; /* location of each rank, by the group of all locations */
    size_t nof_rank;
    uint64_t nevents, first, resolution; /* ticks a second */
};
enum { OWN_BASE = 2000, OTHER_BASE = 3000, PROGRAM_BASE = 10000 };

bool defs_read(struct defs *defs, OTF2_Reader *reader);
void defs_free(struct defs *defs);

/* defs_find returns the number that is under the key, which is less than NONE; NONE: none. */
uint32_t defs_find(const struct table *table, uint64_t key);

#endif
