/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_process.h - what is known of one process while its records become events: its threads,
 * its windows, their epochs, its locks, and its operations that are not complete.
 */
#ifndef MRMA_TRACE_ARCHIVE_PROCESS_H
#define MRMA_TRACE_ARCHIVE_PROCESS_H

#include "archive_event.h"

/* An op is an operation that its process has issued and not yet seen complete. */
struct op {
    uint64_t id;
    uint64_t done; /* when the process knew that it was complete at the target; 0: not yet */
    bool blocking; /* and that was before the call that issued it returned */
    bool local;    /* its local completion is written */
};

struct op_list {
    struct op *op; /* by growing id */
    size_t n, cap;
    size_t proven; /* the first ones, of which done is known */
};

struct lock {
    int32_t peer; /* -1: all */
    OTF2_LockType type;
    bool granted;
    struct track *track; /* of the thread that has asked for it */
};

struct win {
    uint32_t number; /* at the process */
    uint32_t index;  /* of job->window, and of the definition */
    const struct job_window *job;
    struct op_list *target; /* for each rank of the window */
    size_t outstanding;     /* operations in all of them */
    struct lock *lock;
    size_t nlocks, locks_cap;
    bool access, exposure; /* an epoch of MPI_Win_start, of MPI_Win_post, is open */
    OTF2_GroupRef access_group, exposure_group;
};

struct thread {
    const struct spool_file *file;
    size_t next; /* record */
    /* What the next record of accessed memory is about: */
    uint64_t op;  /* the operation that was issued last in the call that is open; 0: none, */
    bool creates; /* the window that the call has made, */
    bool message; /* or a message */
    struct track track;
};

/* A naming says which window a number of the process stands for, from some time on. */
struct naming {
    uint32_t number;
    uint64_t time;
    uint32_t index; /* of job->window */
};

struct process {
    struct archive *archive;
    struct thread *thread;
    size_t nthreads;
    struct table wins;     /* by number at the process: struct win */
    struct table requests; /* of operations: window's number and peer in one word */
    uint64_t last;         /* time of the last record of all threads */
    struct loaded loaded;  /* objects in its memory */
    struct naming *naming; /* by number and time */
    size_t nnamings;
};

struct win *process_win(const struct process *process, uint32_t number);

/* process_served_window returns the window that a number stands for at a target, where packets may
 * come before the process has made the window and after it has freed it. It returns WINDOW_NONE if
 * no window ever had that number. */
uint32_t process_served_window(const struct process *process, uint32_t number, uint64_t time);

/* Archive_ops.c */
enum { COMPLETE_LOCAL = 1, COMPLETE_REMOTE = 2, COMPLETE_AT_WAIT = 4, COMPLETE_UNRECORDED = 8 };

/* op_issue returns false, and writes nothing, if the window of the operation is not known. */
bool op_issue(struct process *process, struct track *track, const struct trace_record *r);
void op_done(struct win *win, const struct trace_record *r, bool all_before);
void op_request_done(struct process *process, struct track *track, uint64_t time, uint64_t id);
void op_tested(struct process *process, struct track *track, uint64_t time, uint64_t id);
/* Writes the completion of the operations of win to peer (-1: to all); what: COMPLETE_. Without
 * COMPLETE_REMOTE they stay in the list. */
void op_complete(struct track *track, struct win *win, int32_t peer, unsigned what, uint64_t time);
/* op_taken writes the notifications that the process takes. */
void op_taken(struct process *process, struct track *track, const struct trace_record *r);
void win_free(struct win *win);

/* Archive_access.c: memory that the operation, the window or the message before is about. */
void access_record(struct process *process, struct thread *thread, const struct trace_record *r);

/* Archive_locks.c */
void lock_request(struct track *track, struct win *win, const struct trace_record *r);
/* Another thread, the agent, may be the one that learns of the grant. */
void lock_granted(struct win *win, const struct trace_record *r);
void lock_release(struct track *track, struct win *win, int32_t peer, uint64_t time);
/* lock_release_all writes the release of all locks that are still held or asked for. */
void lock_release_all(struct track *track, struct win *win, uint64_t time);

/* Archive_waits.c: the packets that wait at this process, as locations of their own. */
void archive_waits(struct process *process, uint32_t rank, const struct machine *machine);

/* Archive_regions.c: what the program says of itself. */
void region_begin(struct process *process, struct thread *thread, const struct trace_record *r);
void region_end(struct process *process, struct thread *thread, const struct trace_record *r);
/* regions_close closes the innermost regions that have ended in the call which has just been
 * left. */
void regions_close(struct track *track, uint64_t time);
/* The recording is stopped or resumed, for all threads. */
void recording(struct process *process, const struct trace_record *r);

/* Archive_messages.c: messages and collective operations. */
/* message_record returns whether it has written a message that the process begins, or receives
 * without a request. */
bool message_record(struct process *process, struct thread *thread, const struct trace_record *r);
/* The call that did something with all of a communicator returns. */
void collective_close(struct track *track, const struct frame *frame, uint64_t time);

/* Archive_calls.c: the records that belong to calls of the program. */
void call_enter(struct process *process, struct thread *thread, const struct trace_record *r);
void call_leave(struct process *process, struct thread *thread, const struct trace_record *r);
/* frames_close closes the frames above depth, of whose end the trace has no record. */
void frames_close(struct process *process, struct thread *thread, size_t depth, uint64_t time);
struct frame *frame_push(struct track *track);
/* call_detail takes over what a record inside a call tells about the call. */
void call_detail(struct process *process, struct thread *thread, const struct trace_record *r);

#endif
