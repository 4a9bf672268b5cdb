/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random_ops.h - one random operation for random_calls.c: arguments, what it must return, and what
 * is at the target afterwards.
 *
 * Each process has SLOT bytes of its own in the memory of each process, from SLOT times its rank
 * on, and nobody else touches them; so it knows what lies there (now), and what is under way.
 */
#ifndef MRMA_TEST_RANDOM_OPS_H
#define MRMA_TEST_RANDOM_OPS_H

#include "mtest.h"

enum { SLOT = 1024, MOST = 33, PIECES = 8, GETS = 64 };

enum epoch { NONE, FENCE, FENCE_USED, PSCW, LOCK, LOCK_ALL };
enum held { UNLOCKED, SHARED, EXCLUSIVE };

/* A call that is under way until the epoch, or a flush, has ended. */
struct get {
    const char *what;
    unsigned char *origin, *result,
        *expected; /* the buffers of the call, and what is to be fetched */
    size_t len;    /* 0: it fetches nothing */
};

/* A window as the program knows it. */
struct model {
    struct mt_win w;
    bool made;
    enum epoch epoch; /* doc/protocol.md, "Access epoch of a window" */
    bool exposed;
    enum held lock[MOST];
    uint64_t late; /* targets of accesses outside of attached memory that are not reported yet */
    bool maybe;    /* errors of such accesses may still be on their way */
    int handled, errclass; /* calls of the error handler since the last look, and the last one's */
    unsigned char now[MOST][SLOT];
    bool busy[MOST][SLOT]; /* an operation that is under way writes here */
    struct get gets[MOST][GETS];
    int ngets[MOST];
};

enum call_kind { PUT, GET, ACC, GET_ACC, FETCH, CAS, RPUT, RGET, RACC, RGET_ACC, CALL_KINDS };

struct call {
    enum call_kind kind;
    const char *what;
    bool is_request;
    int target;
    MPI_Aint disp;
    int ocount, tcount;
    MPI_Datatype otype, ttype;
    MPI_Op op;
    unsigned char *origin, *result;
    int npieces; /* of the target side, in this process's slot; -1: there is no call to make */
    struct piece {
        int at, len;
    } piece[PIECES];
    int len;
    int expected; /* the error class */
    bool late;    /* that may also come with the next synchronization */
    MPI_Datatype made[2];
    int nmade;
};

/* A legal call towards target, whose bytes are not under way in another one. */
void random_call(struct call *c, struct mt_rng *rng, const struct model *m, int target);
/* Make it wrong in one way. */
void spoil_call(struct call *c, struct mt_rng *rng, const struct model *m);
int make_call(struct call *c, struct model *m, MPI_Request *req);
/* It was legal, and has been made. */
void note_call(struct call *c, struct model *m);
void free_call(struct call *c);
/* Synchronized with target: everything is there, and results can be looked at. */
void check_gets(struct model *m, int target);

#endif
