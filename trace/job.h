/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job.h - what the files of all processes say together: the windows with their ranks, the machines
 * with their clocks, and the span of time. One pass over all records finds it, before any event is
 * written.
 */
#ifndef MRMA_TRACE_JOB_H
#define MRMA_TRACE_JOB_H

#include "clock_fit.h"
#include "spool_read.h"
#include "table.h"

enum { RANK_UNKNOWN = UINT32_MAX };

struct job_window {
    uint64_t number; /* the same at all its processes */
    uint32_t flavor; /* enum trace_flavor */
    uint32_t nranks;
    uint32_t *world;  /* rank in MPI_COMM_WORLD for each rank of the window */
    char *name;       /* that MPI_Win_set_name has given it last; NULL or empty: none */
    uint32_t created; /* by how many processes, as far as their files are there */
};

/* A communicator over which messages go. */
struct job_comm {
    uint64_t id; /* the same at all its processes */
    uint32_t nranks;
    uint32_t *world; /* as of a window */
};

struct job_comms {
    struct job_comm *comm;
    size_t n, cap;
    struct table by_id;     /* index */
    struct table by_number; /* index, by rank and the number at that process */
};

struct machine {
    uint64_t id;
    const char *hostname;
    int64_t to_realtime;
    uint64_t first, last;      /* by its own clock */
    struct clock_point *point; /* by time; after job_read there are none or at least two */
    size_t n, cap;
    uint32_t ranks;         /* with a file */
    struct table processor; /* each on which a rank may run, as far as the files tell */
};

/* A TRACE_WIN_NAME. */
struct job_name {
    const struct spool_file *file;
    size_t at;
};

/* Regions of the program: one for each name, whatever the process. */
struct job_regions {
    char **name;
    size_t n, cap;
    struct table by_hash;   /* index, by the first free number from the name's hash on */
    struct table by_number; /* index, by rank and the number at that process */
};

struct job {
    const struct spool *spool;
    struct job_window *window; /* by the order in which they are found */
    size_t nwindows, windows_cap;
    struct job_name *name; /* in the order of files, then of time */
    size_t nnames, names_cap;
    struct job_regions regions;
    struct job_comms comms;
    unsigned ncalls;        /* all functions have less than this number, at least TRACE_CALL_LAST */
    struct table by_number; /* of a window: its index */
    struct table by_pid;    /* of a process on a machine: its rank */
    struct machine *machine; /* that of the lowest rank first */
    size_t nmachines, machines_cap;
    uint32_t nproc;
    bool *have;           /* for each rank: it has a file */
    uint64_t first, last; /* by the clock of the machine of rank 0 */
    bool accesses;        /* the memory that is accessed is recorded, */
    uint64_t until;       /* and what orders accesses is, up to this time; 0: not all is */
    struct notes notes;
};

/* job_crowded returns a part of a sentence that names the machine with the most ranks for a
 * processor, to be freed; NULL: no machine has more ranks than processors, or it is not recorded.
 */
char *job_crowded(const struct job *job);

void job_read(struct job *job, const struct spool *spool);
void job_free(struct job *job);

/* job_window returns the window of that number, or NULL if no process has created it as far as the
 * files tell. */
struct job_window *job_window(const struct job *job, uint64_t number);

/* job_region returns the region that has a number at a process, as an index of job->regions, or
 * REGION_UNKNOWN if its name is not there. */
enum { REGION_UNKNOWN = UINT32_MAX };
uint32_t job_region(const struct job *job, uint32_t rank, uint64_t number);

/* job_comm returns the communicator that has a number at a process, as an index of job->comms, or
 * COMM_UNKNOWN if it was not recorded. */
enum { COMM_UNKNOWN = UINT32_MAX };
uint32_t job_comm(const struct job *job, uint32_t rank, uint32_t number);

struct machine *job_machine(const struct job *job, uint64_t id);

/* job_rank returns the rank of a machine's process, or RANK_UNKNOWN if its file is not there or
 * does not tell it. */
uint32_t job_rank(const struct job *job, uint64_t machine, uint64_t pid);

/* machine_time returns a time of the machine's clock in the clock of the machine of rank 0, as
 * OTF2's readers compute it: linear between two measured offsets, and beyond the outermost two. */
uint64_t machine_time(const struct machine *machine, uint64_t time);

/* job_clock.c: brings the machines' offsets into order, adds what is missing, and shifts clocks
 * so that no collective call on a window ends anywhere before it has begun everywhere. */
void job_clocks(struct job *job);

#endif
