/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_text.h - between the sources of error_text.c: mistakes, and what they are made with.
 *
 * A mistake is a function that makes one wrong call and returns its error code. Everything is done
 * on the target 0 by both ranks alike, unless the mistake says otherwise.
 */
#ifndef MRMA_TEST_MPI_ERROR_TEXT_H
#define MRMA_TEST_MPI_ERROR_TEXT_H

#include <mpi.h>
#include <stddef.h>

struct mistake {
    const char *name; /* NULL: the end of a list */
    int (*make)(void);
};

extern const struct mistake mistakes_of_operations[], mistakes_of_epochs[], mistakes_of_windows[];

/* win has 64 bytes with a displacement unit of 4, alone as well, on MPI_COMM_SELF; x is attached
 * to dynamic. raw is not committed; none is a group without processes, self one of this. */
extern int rank;
extern MPI_Win win, dynamic, alone;
extern MPI_Group all, none, self;
extern MPI_Datatype raw, pair, vector, mixed;
extern MPI_Op mine;
extern MPI_Request req;
extern int x[64], y[64], z[64];
extern double d[8];

#define ODD (1 << 28) /* no assert has this bit */

/* error_text_returns has errors on w returned. */
void error_text_returns(MPI_Win w);

/* The call with the target locked. */
#define LOCKED(call)                          \
    int rc;                                   \
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win); \
    rc = (call);                              \
    MPI_Win_unlock(0, win);                   \
    return rc
#define MISTAKE(name) static int name(void)
/* clang-format off */
#define M(name) {#name, name}
/* clang-format on */

#endif
