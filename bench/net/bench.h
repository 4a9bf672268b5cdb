/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench.h - what the files of bench/net share: settings, epochs of the origin, and what targets
 * do meanwhile.
 */
#ifndef BENCH_NET_BENCH_H
#define BENCH_NET_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench/common/host.h"
#include "bench/common/results.h"
#include "bench/net/raw_ep.h"

enum { NET_WINDOW = 16 << 20, NET_COUNTS = 3, NET_PASSIVE_MS = 1500 };

/* Bytes of the library's messages: headers, a put of 8 bytes, a packet that is full. */
enum { NET_HEADS = 56, NET_PUT = 16, NET_FULL = 32768 };

/* How many puts of an epoch are measured. */
extern const int net_puts[NET_COUNTS];

struct net {
    int rank, nprocs;
    struct host host;
    struct results results;
    MPI_Win win, done;      /* done: only tells targets to go on */
    MPI_Group zero, others; /* rank 0, and all but it */
    char *base, *buf;
    MPI_Comm pair; /* ranks 0 and 1 */
    struct raw_ep *raw;
    double T, W, raw_full, raw_1m;
    double same[NET_COUNTS]; /* a round trip with as many bytes as net_puts[] in an epoch */
    int met, missed;
    const char *provider, *interface;
    FILE *csv;
};

/* Rank 0: keep and print a result, max being its 99th percentile or 0; a goal with its verdict. */
void net_keep(struct net *b, const char *op, const char *kind, size_t size, double ns, double max);
void net_goal(struct net *b, const char *id, const char *what, double value, double limit,
              bool at_least);

/* ---- attend.c ---- */

/* What a target does while the origin works. */
enum attend { ATTEND_WAIT, ATTEND_COMPUTE, ATTEND_SLEEP, ATTEND_BARRIER, ATTEND_RECV, ATTENDS };
extern const char *const attend_name[ATTENDS];

void net_attend(struct net *b, enum attend how);
/* The origin is done: end what the targets began. */
void net_release(struct net *b, enum attend how);
/* Slices of arithmetic per nanosecond over so many milliseconds. */
double net_compute(double ms);
/* All meet without keeping a processor busy, which others need meanwhile. */
void net_meet_asleep(void);

/* ---- epochs.c ---- */

struct epoch_arg {
    int n; /* operations an epoch */
    int d; /* targets */
    size_t size;
    MPI_Win win; /* of lock_turns */
};

typedef void (*epoch_fn)(struct net *b, const struct epoch_arg *a);

/* An epoch of rank 0: */
void lock_puts(struct net *b, const struct epoch_arg *a); /* lock, n puts, unlock of rank 1 */
void lock_turns(struct net *b,
                const struct epoch_arg *a); /* lock, put, unlock of d targets in turn */
void flush_puts(struct net *b, const struct epoch_arg *a);  /* n puts to d targets, flush of all */
void flush_gets(struct net *b, const struct epoch_arg *a);  /* n gets of rank 1, flush */
void flush_fetch(struct net *b, const struct epoch_arg *a); /* fetch_and_op at rank 1, flush */

/* Median time of an epoch with targets that poll; all ranks call it. */
double net_polling(struct net *b, epoch_fn fn, const struct epoch_arg *a, int epochs,
                   bool lock_all);

/* ---- the suites ---- */

void net_anchors(struct net *b);          /* raw.c: the bare endpoint; opens b->raw */
double net_raw_fan(struct net *b, int d); /* a message to each of d peers and back, all asleep */
void net_active(struct net *b);           /* active.c: epochs with targets that poll */
void net_unlock(struct net *b);           /* unlock.c: with and without mpirma_weak_unlock */
void net_rates(struct net *b);            /* streams of puts and gets */
void net_passive(struct net *b);          /* passive.c: targets that do something else */
void net_agent(struct net *b);            /* what the agent costs them */
void net_notified(struct net *b);         /* notified.c: an exchange of two, three ways */

#endif
