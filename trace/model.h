/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model.h - a trace in memory, as its analysis sees it: calls, operations, locks and what the
 * targets did, whatever program wrote the archive.
 *
 * Times are nanoseconds from the first event. Ranks are ranks in MPI_COMM_WORLD; NONE says that
 * something is not known. All lists are in order of their begin.
 */
#ifndef MRMA_TRACE_MODEL_H
#define MRMA_TRACE_MODEL_H

#include "names.h"
#include "util.h"

#define NONE UINT32_MAX

struct place { /* a location: a thread, or packets that wait */
    char *name;
    uint32_t rank;
    bool is_agent, is_queue;
};

struct window {
    char *name;
    uint32_t *world; /* rank in MPI_COMM_WORLD for each of its ranks */
    uint32_t nranks;
};

/* Where in the program calls stand. */
struct site {
    char *file; /* with line 0: a program or library, and the offset in it */
    uint32_t line;
    char *function; /* NULL: not known */
};

struct ranks {
    uint32_t *rank;
    uint32_t n;
};

struct call {
    uint64_t enter, leave;
    uint32_t place, rank;
    uint16_t call;     /* of trace->call_name: enum trace_call, or another function of MPI */
    bool rma;          /* it is a call of RMA, or one that has completed requests of RMA */
    bool unrecorded;   /* its return was not recorded */
    bool outermost;    /* of the calls of its thread that are RMA's */
    bool top;          /* of all calls of its thread */
    bool synchronizes; /* a collective one: no process leaves before all have entered */
    uint32_t win;
    uint32_t group;    /* of start, post, complete, wait */
    uint32_t site;     /* of trace->site */
    uint32_t visit;    /* the innermost region in which it was made, of trace->visit; NONE: none */
    uint32_t sequence; /* of its kind (creation, fence, free) on this window at this rank */
    /* Of other functions of MPI, where accesses are recorded: */
    uint32_t comm; /* of trace->comm; NONE: it has none, or that is not known */
    uint32_t peer; /* whom a message goes to or comes from; NONE: not known */
};

/* One time that a thread was in a region of the program, which has a name. */
struct visit {
    uint64_t begin, end;
    uint32_t place, rank;
    uint32_t region; /* of trace->region */
    uint32_t within; /* the visit around it; NONE: none */
};

/* What the library did besides: enum own_region, or OWN_STOPPED: nothing of that was recorded. */
struct doing {
    uint64_t begin, end;
    uint32_t place, rank;
    uint16_t kind;
    uint32_t win;
    uint32_t peer; /* whom it is about */
    uint32_t count, queue;
    uint64_t bytes;
};

struct operation {
    uint64_t issue;
    uint64_t local, remote; /* completion by the standard; 0: not recorded */
    uint64_t arrived;       /* when the data really was there; 0: not known */
    uint64_t bytes, id;
    uint32_t rank, target, win;
    uint32_t call;            /* that issues it */
    uint32_t completer;       /* call in which it is complete at the origin */
    uint32_t fences;          /* of this window at the origin before it */
    uint32_t starts;          /* and access epochs of MPI_Win_start; 0: it is in none */
    uint32_t notification;    /* number of the one that it raises at its target */
    uint32_t finisher;        /* call in which it is complete at the target; NONE: not recorded */
    uint32_t access, naccess; /* the memory that it accesses: of trace->access */
    uint32_t element;         /* bytes of one, of an atomic operation; 1: not known as well */
    uint32_t lock;    /* of trace->lock, by which its target may be accessed; NONE: by none */
    uint8_t op, path; /* enum trace_op, enum trace_path */
    bool request, at_wait, unrecorded;
};

/* Memory that an operation or a message accesses: n blocks of length bytes, stride apart. */
struct access {
    uint64_t begin, length;
    int64_t stride;
    uint32_t n;
    uint32_t op;          /* of trace->op; of a message, of trace->sending or trace->receiving */
    uint32_t number;      /* of a message: in the order of its data */
    uint8_t side;         /* enum trace_side */
    uint8_t acc_op, type; /* of an atomic operation: enum trace_acc_op, and a number of the type */
    bool inexact;         /* gaps may be in it */
};

/* A process's memory of a window. */
struct memory {
    uint64_t begin, length;
    uint32_t rank, win;
    bool same_op; /* accumulate_ops is same_op */
};

struct lock_use {
    uint64_t request, acquire, release; /* 0: not recorded */
    uint32_t rank, target, win;         /* target NONE: all */
    uint32_t call, unlock;              /* NONE: not recorded */
    bool exclusive, nocheck;
};

/* Notifications that a process takes. */
struct taking {
    uint64_t time, count;
    uint32_t rank, win, number;
    uint32_t source; /* NONE: any */
    uint32_t call;   /* in which that is */
};

/* A message that is sent, and one that is received. */
struct sending {
    uint64_t time, bytes;
    uint32_t rank, peer, comm, tag; /* peer in MPI_COMM_WORLD, comm of trace->comm */
    uint32_t call;                  /* that sends it, */
    uint32_t completer;             /* and in which its request is complete; NONE: not known */
    uint32_t buffer, nbuffer;       /* its data: of trace->buffer */
};

struct receiving {
    uint64_t posted; /* when its receive began */
    uint64_t bytes;
    uint32_t rank, peer, comm, tag;
    uint32_t call;            /* that begins to receive it, */
    uint32_t completer;       /* and in which it was received */
    uint32_t buffer, nbuffer; /* where it was stored: of trace->buffer */
};

/* A call that all of a communicator make together. */
struct together {
    uint32_t comm, rank, root; /* root in MPI_COMM_WORLD; NONE: it has none */
    uint32_t sequence;         /* of such calls of the communicator at this rank */
    uint32_t call;
    uint16_t op; /* OTF2_CollectiveOp */
    uint64_t bytes;
};

enum { CALL_NAMES = TRACE_CALL_LAST + TRACE_NAMES_MAX };

/* What happens, in the order of time and, within a thread, of its events: entry and return of a
 * call of RMA, of another one of MPI, a lock's grant, notifications that are taken, an operation's
 * issue. */
enum moment_kind {
    MOMENT_ENTER,
    MOMENT_LEAVE,
    MOMENT_OTHER_ENTER,
    MOMENT_OTHER_LEAVE,
    MOMENT_GRANTED,
    MOMENT_TAKEN,
    MOMENT_ISSUE
};
struct moment {
    uint32_t index; /* of trace->call, lock, taking or op */
    uint8_t kind;   /* enum moment_kind */
};

struct trace {
    const char *call_name[CALL_NAMES]; /* from TRACE_CALL_LAST on of functions that are not RMA's */
    unsigned ncall_names;
    bool messages; /* the archive has calls that are not RMA's */
    bool ours;     /* an archive of mpi-rma-trace: with what the library alone knows */
    char *creator, *description;
    char *machine;  /* or one of them; NULL: not recorded, as the next */
    char *program;  /* its name */
    char *host_mpi; /* version of the MPI library */
    char
        *crowded; /* which machine had more ranks than processors; NULL: none, as far as is known */
    uint64_t began; /* nanoseconds since 1970; 0: not recorded */
    struct place *place;
    size_t nplaces, places_cap;
    struct window *window;
    size_t nwindows, windows_cap;
    struct site *site;
    size_t nsites, sites_cap;
    char **region; /* names */
    size_t nregions, regions_cap;
    struct visit *visit;
    size_t nvisits, visits_cap;
    uint32_t *comm; /* its group, of trace->group; NONE: not known */
    size_t ncomms, comms_cap;
    struct sending *sending;
    size_t nsendings, sendings_cap;
    struct receiving *receiving;
    size_t nreceivings, receivings_cap;
    struct together *together;
    size_t ntogethers, togethers_cap;
    struct ranks *group;
    size_t ngroups, groups_cap;
    uint32_t nranks;
    struct call *call;
    size_t ncalls, calls_cap;
    struct doing *doing;
    size_t ndoings, doings_cap;
    struct operation *op;
    size_t nops, ops_cap;
    struct lock_use *lock;
    size_t nlocks, locks_cap;
    struct taking *taking;
    size_t ntakings, takings_cap;
    bool has_accesses;     /* the accessed memory is recorded, and all calls are */
    struct access *access; /* of one operation side by side */
    size_t naccesses, accesses_cap;
    struct access *buffer; /* of one message side by side */
    size_t nbuffers, buffers_cap;
    struct memory *memory;
    size_t nmemories, memories_cap;
    struct moment *moment; /* where accesses are recorded */
    size_t nmoments, moments_cap;
    uint64_t length; /* ns from the first to the last event */
    uint64_t events, rma_events;
    bool damaged; /* not all events could be read */
    struct notes notes;
};

/* trace_read reads an archive. It returns false, with a message, where the archive cannot be read
 * or has no event of RMA. Where the archive is damaged, it also says way_out, which tells what
 * helps; NULL: nothing does. */
bool trace_read(struct trace *trace, const char *anchor, const char *way_out);
void trace_free(struct trace *trace);

/* "halo.c:88", or "program+0x1234" where the line is not known; the caller frees it. NULL where
 * site is NONE. */
char *site_text(const struct trace *trace, uint32_t site);

/* "MPI_Put at halo.c:88 (exchange)", or "MPI_Put" alone where it is not known where that is; short:
 * without the function. The caller frees it. */
char *call_text(const struct trace *trace, unsigned call, uint32_t site, bool is_short);

/* The paper's two models of a transfer's end: at the return of the call that issues it, or where
 * the standard completes it at the target. */
enum model { MODEL_BASIC, MODEL_EXTENDED };

#endif
