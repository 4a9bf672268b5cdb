/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_event.c - see archive_event.h.
 */
#include "archive_event.h"

#include <stdlib.h>

OTF2_StringRef string_of_path(unsigned path)
{
    return path < PATHS ? path : 0;
}

OTF2_StringRef string_of_op(unsigned op)
{
    return PATHS + op;
}

OTF2_StringRef string_of_caller(uint32_t site)
{
    return STRINGS_FIXED + site;
}

OTF2_RegionRef region_of_call(unsigned call)
{
    return call < TRACE_CALL_LAST ? call - 1 : call - 1 + OWN_REGIONS;
}

OTF2_RegionRef region_of_own(unsigned own)
{
    return TRACE_CALL_LAST - 1 + own;
}

OTF2_CommRef comm_of_messages(const struct job *job, uint32_t comm)
{
    return (OTF2_CommRef)job->nwindows + comm;
}

OTF2_RegionRef region_of_program(const struct archive *archive, uint32_t region)
{
    return region_of_call(archive->job->ncalls) + region;
}

void track_open(struct track *track, struct archive *archive, struct location location)
{
    *track = (struct track){.archive = archive};
    track->location = archive_location(archive, location);
    track->writer = OTF2_Archive_GetEvtWriter(archive->otf2, track->location);
    track->attributes = OTF2_AttributeList_New();
    if (!track->writer || !track->attributes) {
        say("out of memory, or no file can be made for the events of a location");
        exit(2);
    }
}

void track_close(struct track *track)
{
    uint64_t n = 0;

    archive_check(track->archive, OTF2_EvtWriter_GetNumberOfEvents(track->writer, &n));
    archive_check(track->archive, OTF2_Archive_CloseEvtWriter(track->archive->otf2, track->writer));
    track->archive->location[track->location].nevents = n;
    OTF2_AttributeList_Delete(track->attributes);
    free(track->frame);
}

void track_u32(struct track *track, enum attr attr, uint32_t value)
{
    archive_check(track->archive,
                  OTF2_AttributeList_AddUint32(track->attributes, (OTF2_AttributeRef)attr, value));
}

void track_u64(struct track *track, enum attr attr, uint64_t value)
{
    archive_check(track->archive,
                  OTF2_AttributeList_AddUint64(track->attributes, (OTF2_AttributeRef)attr, value));
}

void track_i64(struct track *track, enum attr attr, int64_t value)
{
    archive_check(track->archive,
                  OTF2_AttributeList_AddInt64(track->attributes, (OTF2_AttributeRef)attr, value));
}

void track_path(struct track *track, unsigned path)
{
    archive_check(track->archive, OTF2_AttributeList_AddStringRef(track->attributes, ATTR_PATH,
                                                                  string_of_path(path)));
}

void track_site(struct track *track, uint32_t site)
{
    archive_check(track->archive,
                  OTF2_AttributeList_AddSourceCodeLocationRef(track->attributes, ATTR_SITE, site));
    archive_check(track->archive, OTF2_AttributeList_AddStringRef(track->attributes, ATTR_CALLER,
                                                                  string_of_caller(site)));
}

uint64_t track_time(struct track *track, uint64_t time)
{
    track->last = u64_max(track->last, time);
    return track->last;
}

static void enter(struct track *track, uint64_t time, OTF2_RegionRef region)
{
    archive_check(track->archive, OTF2_EvtWriter_Enter(track->writer, track->attributes,
                                                       track_time(track, time), region));
}

static void leave(struct track *track, uint64_t time, OTF2_RegionRef region)
{
    archive_check(track->archive, OTF2_EvtWriter_Leave(track->writer, track->attributes,
                                                       track_time(track, time), region));
}

void track_enter_call(struct track *track, uint64_t time, unsigned call)
{
    enter(track, time, region_of_call(call));
}

void track_leave_call(struct track *track, uint64_t time, unsigned call)
{
    leave(track, time, region_of_call(call));
}

void track_enter_own(struct track *track, uint64_t time, enum own_region own)
{
    enter(track, time, region_of_own(own));
}

void track_leave_own(struct track *track, uint64_t time, enum own_region own)
{
    leave(track, time, region_of_own(own));
}

void track_enter_region(struct track *track, uint64_t time, uint32_t region)
{
    enter(track, time, region_of_program(track->archive, region));
}

void track_leave_region(struct track *track, uint64_t time, uint32_t region)
{
    leave(track, time, region_of_program(track->archive, region));
}
