/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read_defs.h - the definitions of an archive, by their numbers there.
 */
#ifndef MRMA_TRACE_READ_DEFS_H
#define MRMA_TRACE_READ_DEFS_H

#include "base/map.h"
#include "model.h"

struct defs {
    struct trace *trace;
    struct map string;    /* char * */
    struct map region;    /* 1 + enum trace_call, or OWN_BASE + enum own_region */
    struct map attribute; /* 1 + enum attr */
    struct map place;     /* 1 + index, by location */
    struct map group;     /* 1 + index of trace->group */
    struct map comm;      /* 1 + group's number */
    struct map window;    /* 1 + index of trace->window */
    struct map rank;      /* 1 + rank, by location group; by COMM_LOCATIONS, else as they come */
    struct map home;      /* 1 + location group, by location */
    OTF2_AttributeRef attr[ATTRS]; /* number of each of ours */
    bool has_attr[ATTRS];
    uint64_t *location; /* all of them */
    size_t nlocations, locations_cap;
    uint64_t *of_rank; /* location of each rank, by the group of all locations */
    size_t nof_rank;
    uint64_t nevents, first, resolution; /* ticks a second */
};
enum { OWN_BASE = 1000 };

bool defs_read(struct defs *defs, OTF2_Reader *reader);
void defs_free(struct defs *defs);

/* The number that was stored with +1, or NONE. */
uint32_t defs_find(const struct map *map, uint64_t key);

#endif
