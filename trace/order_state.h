/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order_state.h - what is known in the middle of the walk of order.c: its own, and that of
 * order_epochs.c, order_learn.c and order_host.c. Included by these alone.
 */
#ifndef MRMA_TRACE_ORDER_STATE_H
#define MRMA_TRACE_ORDER_STATE_H

#include "host_calls.h"
#include "order.h"

/* The operations, or the messages, that each call ends or begins. */
struct ends {
    uint32_t *first; /* of op, for each call and one more */
    uint32_t *op;
};

/* Operations whose target has not begun the epoch they are for, with the clock of their origin. */
struct waiting {
    struct waiting_op {
        uint32_t op;
        struct snap *snap;
    } * op;
    size_t n, cap;
};

/* A window at one rank. */
struct side {
    uint32_t fences; /* that it has entered */
    uint32_t last_fence;
    struct snap **entered; /* its clock at the entry of each of the last nentered of these */
    size_t nentered, entered_cap;
    struct waiting waiting;
};

/* An exposure epoch. */
struct exposed {
    struct snap *posted; /* clock of the target when it began; NULL: it has not, or is over */
    uint32_t *completed; /* left by those that have completed */
    struct waiting waiting;
    bool over;
};

/* A collective call: what those have left that have come and from whom others learn, and how many
 * have gone. */
struct meeting_point {
    uint32_t *known;
    uint32_t **below; /* of one in which each learns from those of lower rank (order_host.c): a tree
                         of nbelow clocks; NULL: it is none */
    uint32_t nbelow;
    uint32_t left;
};

/* What was left where a lock was given back. */
struct lock_place {
    uint32_t *exclusive, *any;
};

/* When the buffer of a message was no longer in use: each 0 until then. */
struct message_end {
    uint32_t local;    /* by the clock of its process */
    uint32_t received; /* of one that is sent: by the clock of who has received it */
    uint32_t sent;     /* of one that is received: the number of the one that was sent; NONE: it is
                          not known */
};

/* Notified operations of one number at one target that nobody has taken yet. */
struct raised {
    struct waiting list;
};

struct order {
    const struct trace *trace;
    const struct epochs *epochs;
    struct order_calls calls;
    struct clocks clocks;
    uint32_t *scratch; /* a clock */
    struct ends remote, local;
    uint32_t *remote_call, *local_call; /* that ends each operation; NONE: none */
    struct op_end *end;                 /* of each operation */
    uint32_t *opening;                  /* call that begins its epoch */

    /* ---- of order_epochs.c ---- */
    struct table sides;        /* by window and rank */
    struct table meetings;     /* by window, kind of call, and how many before it */
    struct exposed *exposed;   /* by the index of epochs->exposure */
    struct table posts, waits; /* that index, by the calls that begin and end it */
    struct table completes;    /* index of epochs->access, by the call that ends it */

    /* ---- of order_learn.c ---- */
    struct table locks;   /* struct lock_place, by window and target; that of all */
    struct table held;    /* struct held, by rank and window */
    struct table unlocks; /* index of trace->lock, by the call that gives it back */
    struct table words;   /* uint32_t *, by target and address: left by updates there */
    uint32_t **wide;      /* of each target: left by updates of more than some words, */
    uint32_t **narrow;    /* and by the others */
    bool fetches, syncs;  /* there are fetching operations, and calls of MPI_Win_sync */
    uint32_t **arrivals;  /* of each target: left by what has changed its memory */
    uint32_t **synced;    /* of each window: left in MPI_Win_sync */
    struct table raised;  /* struct raised, by target, window and number */

    /* ---- of order_host.c ---- */
    enum host_kind *host_kind;   /* of each of trace->call_name, */
    bool *completes_one;         /* and whether it waits for or tests requests and completes one */
    struct table togethers;      /* index of trace->together, by its call */
    uint32_t **sent;             /* to each rank, */
    struct table pairs;          /* and by each rank to each: uint32_t * */
    uint32_t *begun;             /* by anybody, for anybody */
    uint32_t *received;          /* left by those that receive, for who waits until they do */
    bool sync_sends;             /* there are any such */
    struct table comm_counts;    /* collective calls, by communicator and rank */
    struct table collectives;    /* by communicator and how many there are up to it */
    struct ends begun_in, ended; /* messages, by their calls */
    struct message_end *message; /* of each */
};

/* order_exposure returns the exposure epoch of an operation of MPI_Win_start; NONE: none is known.
 */
uint32_t order_exposure(const struct order *order, uint32_t op);

/* order_meet is the entry of a rank in a collective call, which leaves its clock there; order_part
 * is its return: it learns what all have left. order_point returns where they meet, which the first
 * makes, and order_depart notes that one has gone: the last of nranks removes it from the table. */
void order_meet(struct order *order, struct table *meetings, uint64_t key, uint32_t rank);
void order_part(struct order *order, struct table *meetings, uint64_t key, uint32_t rank,
                uint32_t nranks);
struct meeting_point *order_point(struct table *meetings, uint64_t key);
void order_depart(struct table *meetings, uint64_t key, uint32_t nranks);
void order_free_point(void *value);

/* order_list_ends lists n operations or messages by the calls of which each has one; NONE: it has
 * none. */
void order_list_ends(struct ends *ends, const uint32_t *call_of, size_t n, size_t ncalls);

/* order_leave_at leaves the rank's clock under a key of a table of clocks. */
void order_leave_at(struct order *order, struct table *table, uint64_t key, uint32_t rank);

/* The parts of order_epochs.c: entry and return of a call with a window, the issue of an operation,
 * which begins at its target now, or waits until that has begun the epoch. order_opening returns
 * the call that has begun the epoch of an operation which is going to be issued; NONE: it is not
 * known. */
void order_epochs_begin(struct order *order);
void order_epochs_end(struct order *order);
void order_epochs_enter(struct order *order, uint32_t call);
void order_epochs_leave(struct order *order, uint32_t call);
void order_epochs_issue(struct order *order, uint32_t op);
uint32_t order_opening(struct order *order, const struct operation *op);

/* The parts of order_learn.c: entry and return of a call with a window, return of any call that
 * ends operations; the issue of an operation, a lock's grant, notifications that are taken. */
void order_learn_begin(struct order *order);
void order_learn_end(struct order *order);
void order_enter(struct order *order, uint32_t call);
void order_leave(struct order *order, uint32_t call);
void order_fetched(struct order *order, uint32_t call);
void order_issue(struct order *order, uint32_t op);
void order_granted(struct order *order, uint32_t lock);
void order_taken(struct order *order, const struct taking *taking);

/* The parts of order_host.c: entry and return of a call that is not RMA's, and return of any call
 * in which messages are complete. */
void order_host_begin(struct order *order);
void order_host_end(struct order *order);
void order_host_enter(struct order *order, uint32_t call);
void order_host_leave(struct order *order, uint32_t call);
void order_messages_end(struct order *order, uint32_t call);

#endif
