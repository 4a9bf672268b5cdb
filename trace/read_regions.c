/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read_regions.c - reads regions that the program has named, and where it has stopped the
 * recording. See reading.h.
 */
#include "reading.h"

#include <stdlib.h>

uint32_t reading_visit(struct reading *reading, uint32_t place, uint64_t time, uint32_t region)
{
    struct trace *trace = reading->trace;

    trace->visit = grow(trace->visit, trace->nvisits, &trace->visits_cap, sizeof *trace->visit);
    trace->visit[trace->nvisits] = (struct visit){.begin = time,
                                                  .place = place,
                                                  .rank = trace->place[place].rank,
                                                  .region = region,
                                                  .within = reading->at[place].visit};
    reading->at[place].visit = (uint32_t)trace->nvisits;
    return (uint32_t)trace->nvisits++;
}

void reading_visit_end(struct reading *reading, uint32_t place, uint64_t time, uint32_t visit)
{
    reading->trace->visit[visit].end = time;
    reading->at[place].visit = reading->trace->visit[visit].within;
}

static OTF2_CallbackCode on_measurement(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                                        OTF2_AttributeList *list, OTF2_MeasurementMode mode)
{
    struct reading *reading = data;
    struct trace *trace = reading->trace;
    const uint32_t place = reading_place(reading, location);
    const uint64_t now = reading_ns(reading, time);

    (void)list;
    if (place == NONE || trace->place[place].rank == NONE)
        return OTF2_CALLBACK_SUCCESS;
    uint32_t *stopped = &reading->at[place].stopped;
    if (mode == OTF2_MEASUREMENT_ON && *stopped != NONE) {
        trace->doing[*stopped].end = now;
        *stopped = NONE;
    } else if (mode == OTF2_MEASUREMENT_OFF && *stopped == NONE) {
        *stopped = (uint32_t)trace->ndoings;
        trace->doing = grow(trace->doing, trace->ndoings, &trace->doings_cap, sizeof *trace->doing);
        trace->doing[trace->ndoings++] = (struct doing){.begin = now,
                                                        .place = place,
                                                        .rank = trace->place[place].rank,
                                                        .kind = OWN_STOPPED,
                                                        .win = NONE,
                                                        .peer = NONE};
    }
    return OTF2_CALLBACK_SUCCESS;
}

void reading_regions_callbacks(OTF2_GlobalEvtReaderCallbacks *on)
{
    OTF2_GlobalEvtReaderCallbacks_SetMeasurementOnOffCallback(on, on_measurement);
}

/* Fences of a window are compared by their numbers, which say nothing where a process has not
 * recorded all of them. */
static void compare_fences(struct reading *reading)
{
    struct trace *trace = reading->trace;

    for (uint32_t win = 0; win < trace->nwindows; win++) {
        const struct window *window = &trace->window[win];
        uint32_t least = NONE, most = 0;

        for (uint32_t i = 0; i < window->nranks; i++) {
            const uint32_t n = reading_counts(reading, window->world[i], win)->fences;

            least = n < least ? n : least;
            most = n > most ? n : most;
        }
        if (window->nranks && least < most)
            notes_add(&trace->notes,
                      "%s: its processes have recorded from %u to %u fences: MPI_Pcontrol has not "
                      "stopped and resumed the recording at the same fences everywhere, so that "
                      "waits at fences may be wrong",
                      window->name, least, most);
    }
}

void reading_regions_finish(struct reading *reading)
{
    struct trace *trace = reading->trace;
    bool stopped = false;

    for (size_t i = 0; i < trace->nvisits; i++)
        if (trace->visit[i].end == 0)
            trace->visit[i].end = trace->length;
    for (size_t i = 0; i < trace->ndoings && !stopped; i++)
        stopped = trace->doing[i].kind == OWN_STOPPED;
    if (stopped)
        compare_fences(reading);
}
