/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read.c - opens an archive, see model.h.
 *
 * OTF2 checks little of what it reads: a damaged archive may make it fail in every way. Where it
 * would end the process, a message says that the archive is damaged.
 */
#include "model.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read_defs.h"
#include "read_events.h"

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
enum { FATAL_SIGNALS = sizeof fatal_signals / sizeof *fatal_signals };

/* What the handler writes, complete before the handler is set. */
static char last_words[1024];

static void on_fatal_signal(int signal)
{
    (void)signal;
    if (write(STDERR_FILENO, last_words, strlen(last_words)) < 0)
        _exit(1);
    _exit(1);
}

static OTF2_ErrorCode quiet(void *data, const char *file, uint64_t line, const char *function,
                            OTF2_ErrorCode code, const char *format, va_list list)
{
    (void)data, (void)file, (void)line, (void)function, (void)format, (void)list;
    return code;
}

/* Local definitions hold the clock offsets and the maps of numbers; OTF2 applies both. */
static bool read_local(struct defs *defs, OTF2_Reader *reader)
{
    bool have_files;

    for (size_t i = 0; i < defs->nlocations; i++)
        if (OTF2_Reader_SelectLocation(reader, defs->location[i]) != OTF2_SUCCESS)
            return false;
    have_files = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
    if (OTF2_Reader_OpenEvtFiles(reader) != OTF2_SUCCESS)
        return false;
    for (size_t i = 0; i < defs->nlocations; i++) {
        OTF2_DefReader *local =
            have_files ? OTF2_Reader_GetDefReader(reader, defs->location[i]) : NULL;
        uint64_t n;

        if (local) {
            OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalDefinitions(reader, local, &n);

            OTF2_Reader_CloseDefReader(reader, local);
            if (code != OTF2_SUCCESS)
                return false;
        }
        if (!OTF2_Reader_GetEvtReader(reader, defs->location[i]))
            notes_add(&defs->trace->notes, "the events of some locations are missing");
    }
    if (have_files)
        OTF2_Reader_CloseDefFiles(reader);
    return true;
}

static bool read_opened(struct trace *trace, OTF2_Reader *reader, const char *anchor)
{
    struct defs defs = {.trace = trace};
    uint64_t n = 0;
    bool good = defs_read(&defs, reader) && defs.resolution > 0;

    if (!good)
        say("%s: the definitions of this archive are damaged", anchor);
    else if (!(good = read_local(&defs, reader)))
        say("%s: the definitions of a location, or the events, cannot be read", anchor);
    else if (!events_read(&defs, reader, &n)) {
        say("%s: damaged: %" PRIu64 " of %" PRIu64 " events could be read", anchor, n,
            defs.nevents);
        trace->damaged = true;
        notes_add(&trace->notes,
                  "the archive is damaged: %" PRIu64 " of %" PRIu64 " events were read", n,
                  defs.nevents);
    } else if (n < defs.nevents) {
        trace->damaged = true;
        say("%s: damaged: the archive promises %" PRIu64 " events and has %" PRIu64, anchor,
            defs.nevents, n);
        notes_add(&trace->notes, "the archive promises %" PRIu64 " events and has %" PRIu64,
                  defs.nevents, n);
    }
    defs_free(&defs);
    return good;
}

/* property returns a property of the archive, or, without a name, its machine. It returns NULL if
 * the archive has none. */
static char *property(OTF2_Reader *reader, const char *name)
{
    char *value = NULL;

    if ((name ? OTF2_Reader_GetProperty(reader, name, &value)
              : OTF2_Reader_GetMachineName(reader, &value)) != OTF2_SUCCESS)
        return NULL;
    return value;
}

bool trace_read(struct trace *trace, const char *anchor, const char *way_out)
{
    struct sigaction fatal = {.sa_handler = on_fatal_signal}, old[FATAL_SIGNALS];

    *trace = (struct trace){.ncall_names = TRACE_CALL_LAST};
    for (unsigned i = 0; i < TRACE_CALL_LAST; i++)
        trace->call_name[i] = call_name[i];
    snprintf(last_words, sizeof last_words,
             "mpi-rma-trace: %s is damaged: OTF2's reader cannot go on\n%s%s%s", anchor,
             way_out ? "mpi-rma-trace: " : "", way_out ? way_out : "", way_out ? "\n" : "");
    OTF2_Error_RegisterCallback(quiet, NULL);
    for (int i = 0; i < FATAL_SIGNALS; i++)
        sigaction(fatal_signals[i], &fatal, &old[i]);
    OTF2_Reader *reader = OTF2_Reader_Open(anchor);
    bool good = false;
    if (!reader)
        say("%s: no OTF2 archive, or a damaged one", anchor);
    else {
        OTF2_Reader_SetSerialCollectiveCallbacks(reader);
        if (OTF2_Reader_GetCreator(reader, &trace->creator) != OTF2_SUCCESS)
            trace->creator = NULL;
        if (OTF2_Reader_GetDescription(reader, &trace->description) != OTF2_SUCCESS)
            trace->description = NULL;
        trace->machine = property(reader, NULL);
        trace->program = property(reader, ARCHIVE_PROGRAM);
        trace->host_mpi = property(reader, ARCHIVE_HOST);
        trace->crowded = property(reader, ARCHIVE_CROWDED);
        trace->ours = trace->creator && strcmp(trace->creator, CREATOR) == 0;
        good = read_opened(trace, reader, anchor);
        OTF2_Reader_Close(reader);
    }
    for (int i = 0; i < FATAL_SIGNALS; i++)
        sigaction(fatal_signals[i], &old[i], NULL);
    if ((!good || trace->damaged) && way_out)
        say("%s", way_out);
    if (good && trace->rma_events == 0 && trace->ncalls == 0) {
        say("%s: %" PRIu64 " events, none of them of one-sided communication (MPI RMA)%s", anchor,
            trace->events,
            trace->ours ? "" : "; Score-P records it where SCOREP_MPI_ENABLE_GROUPS has RMA");
        good = false;
    }
    if (!good)
        trace_free(trace);
    return good;
}

void trace_free(struct trace *trace)
{
    for (size_t i = 0; i < trace->nplaces; i++)
        free(trace->place[i].name);
    for (size_t i = 0; i < trace->nwindows; i++) {
        free(trace->window[i].name);
        free(trace->window[i].world);
    }
    for (size_t i = 0; i < trace->ngroups; i++)
        free(trace->group[i].rank);
    for (size_t i = 0; i < trace->nsites; i++) {
        free(trace->site[i].file);
        free(trace->site[i].function);
    }
    for (size_t i = 0; i < trace->nregions; i++)
        free(trace->region[i]);
    for (unsigned i = TRACE_CALL_LAST; i < trace->ncall_names; i++)
        free((char *)trace->call_name[i]);
    free(trace->comm);
    free(trace->sending);
    free(trace->receiving);
    free(trace->together);
    free(trace->region);
    free(trace->visit);
    free(trace->site);
    free(trace->place);
    free(trace->window);
    free(trace->group);
    free(trace->call);
    free(trace->doing);
    free(trace->op);
    free(trace->lock);
    free(trace->taking);
    free(trace->access);
    free(trace->buffer);
    free(trace->memory);
    free(trace->moment);
    free(trace->machine);
    free(trace->program);
    free(trace->host_mpi);
    free(trace->crowded);
    free(trace->creator);
    free(trace->description);
    notes_free(&trace->notes);
    *trace = (struct trace){0};
}
