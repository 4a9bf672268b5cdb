/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_progress.h - what the parts of host_progress.c share: the operations of the host that are
 * pending (host_progress_pending.c), and the waits that they meet (host_progress_waits.c).
 */
#ifndef MRMA_TEST_HOST_PROGRESS_H
#define MRMA_TEST_HOST_PROGRESS_H

#include "mtest.h"

enum { HP_PARTNER = 1 }; /* the rank that blocks in its part */

extern MPI_Comm hp_world;
extern int hp_turn; /* of operation and wait: what is sent, and what words become */

struct hp_pending {
    const char *name;
    void (*begin)(void);   /* rank 0 */
    void (*partner)(void); /* its partner, blocking */
    void (*others)(void);  /* NULL: they have no part in it */
    void (*end)(void);     /* rank 0, behind the wait */
    bool of_threads;       /* only where several may call */
};

struct hp_wait {
    const char *name;
    void (*before)(void); /* all; NULL: nothing */
    void (*wait)(void);   /* rank 0 */
    void (*end)(void);    /* its partner, by which the wait ends */
    void (*others)(void); /* NULL: they have no part in it */
    void (*after)(void);  /* all; NULL: nothing */
};

/* The ends of both tables are entries without a name. */
extern const struct hp_pending hp_pending[];
extern const struct hp_wait hp_waits[];

/* host_progress_pending.c: the buffers that are sent. */
void hp_make_buffers(void);
void hp_free_buffers(void);

/* host_progress_waits.c: windows and groups, and an epoch of MPI_Win_lock_all in one window. */
void hp_make_windows(void);
void hp_free_windows(void);

#endif
