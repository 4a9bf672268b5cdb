/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_event.h - writes single events of one location, with times that never go back and
 * attributes by number.
 */
#ifndef MRMA_TRACE_ARCHIVE_EVENT_H
#define MRMA_TRACE_ARCHIVE_EVENT_H

#include "archive.h"

/* The number of a window's definition in the archive is its index in the job. */
enum { WINDOW_NONE = UINT32_MAX };

/* A region that is open: a call of the program or one of our own. */
struct frame {
    uint16_t call;   /* enum trace_call; 0: own */
    uint16_t own;    /* enum own_region; OWN_REGIONS: a region of the program */
    bool collective; /* RmaCollectiveBegin was written */
    bool flag;       /* of MPI_Win_test */
    uint32_t window; /* number at the process, 0: not known */
    int32_t peer;
    uint32_t asserts;
    uint32_t region; /* of the program: index of job->regions, */
    uint32_t nested; /* how many of these its thread has open with it, */
    bool over;       /* and it ends where the call does that stands above it */
    const struct trace_record
        *together;     /* what the call does with all of a communicator, of that */
    OTF2_CommRef comm; /* definition; NULL: nothing */
};

struct track {
    struct archive *archive;
    OTF2_EvtWriter *writer;
    OTF2_AttributeList *attributes; /* of the next event */
    uint64_t location;
    uint64_t last; /* time of the last event */
    struct frame *frame;
    size_t depth, frames_cap;
};

void track_open(struct track *track, struct archive *archive, struct location location);
void track_close(struct track *track);

void track_u32(struct track *track, enum attr attr, uint32_t value);
void track_u64(struct track *track, enum attr attr, uint64_t value);
void track_i64(struct track *track, enum attr attr, int64_t value);
void track_site(struct track *track, uint32_t site); /* number of archive->sites */
void track_path(struct track *track, unsigned path); /* enum trace_path */

/* Makes time not earlier than the last event's, and remembers it. */
uint64_t track_time(struct track *track, uint64_t time);

/* Enter and Leave of calls (by enum trace_call) and of own regions. */
void track_enter_call(struct track *track, uint64_t time, unsigned call);
void track_leave_call(struct track *track, uint64_t time, unsigned call);
void track_enter_own(struct track *track, uint64_t time, enum own_region own);
void track_leave_own(struct track *track, uint64_t time, enum own_region own);

/* Enter and Leave of regions of the program, by their index in the job. */
void track_enter_region(struct track *track, uint64_t time, uint32_t region);
void track_leave_region(struct track *track, uint64_t time, uint32_t region);

/* Numbers of definitions. */
OTF2_StringRef string_of_path(unsigned path);
OTF2_StringRef string_of_op(unsigned op);
OTF2_RegionRef region_of_call(unsigned call);
OTF2_RegionRef region_of_own(unsigned own);
OTF2_CommRef comm_of_messages(const struct job *job, uint32_t comm); /* index of job->comms */
OTF2_RegionRef region_of_program(const struct archive *archive, uint32_t region);
OTF2_StringRef string_of_caller(uint32_t site);
enum { STRINGS_FIXED = PATHS + TRACE_COMPARE_AND_SWAP + 1 };

#endif
