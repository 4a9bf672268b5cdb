/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive.h - one OTF2 archive of the files of all processes.
 *
 * archive.c opens it and walks the processes; archive_process.c turns the records of one process
 * into events, with archive_ops.c for operations and their completion, archive_locks.c for locks
 * and archive_waits.c for what waits at a target; archive_event.c writes single events;
 * archive_defs.c writes the definitions, after all events. Times are written as each machine's
 * clock has them, with the offsets as definitions that readers apply.
 */
#ifndef MRMA_TRACE_ARCHIVE_H
#define MRMA_TRACE_ARCHIVE_H

#include "job.h"
#include "names.h"
#include "sites.h"

#define ARCHIVE_NAME "traces"

struct location {
    char *name;
    uint32_t rank;
    bool is_queue;                 /* no thread, but packets that wait */
    const struct machine *machine; /* NULL: nothing is known of this process */
    uint64_t nevents;
};

/* A list of ranks in MPI_COMM_WORLD, defined once. */
struct group {
    uint64_t *member;
    uint32_t n;
};

struct archive {
    OTF2_Archive *otf2;
    struct job *job;
    struct location *location;
    size_t nlocations, locations_cap;
    uint64_t *main_location; /* of each rank */
    struct group *group;
    size_t ngroups, groups_cap;
    struct table group_by_hash;  /* its index, by the first free number from its hash on */
    char *name[TRACE_NAMES_MAX]; /* of functions that are not in enum trace_call; NULL: none */
    struct sites sites;          /* where calls stand; their numbers are those of definitions */
    uint64_t unknown_window;     /* records about windows whose creation is not known, */
    uint64_t unknown_comm;       /* and about such communicators */
    bool failed;                 /* writing has failed, and it was said */
};

/* archive_write makes DIR/traces.otf2 of DIR/spool, and replaces an archive that is there. It
 * returns false, with a message, if it has made none. */
bool archive_write(const char *dir);

/* Archive_process.c: all events of the threads file[0..n) of one rank. */
void archive_process(struct archive *archive, const struct spool_file *file, size_t n);

/* Archive_defs.c */
void archive_definitions(struct archive *archive);

/* archive_location adds a location and returns its number. The archive takes the name over. */
uint64_t archive_location(struct archive *archive, struct location location);

/* archive_group returns the group of these ranks in MPI_COMM_WORLD. */
OTF2_GroupRef archive_group(struct archive *archive, const uint64_t *member, uint32_t n);

/* What a call is named, "" for one above TRACE_CALL_LAST without a name; and a name for such a one:
 * the first that is given stays. */
const char *archive_call_name(const struct archive *archive, unsigned call);
void archive_name_call(struct archive *archive, const struct trace_name *name);

/* archive_check reports, once, that writing has failed. */
void archive_check(struct archive *archive, OTF2_ErrorCode code);

#endif
