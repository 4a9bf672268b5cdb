/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_conflicts.h - what the small programs of trace_conflicts_*.c share. Each is run by three
 * processes; most are about memory of the last.
 */
#ifndef MRMA_TEST_MPI_TRACE_CONFLICTS_H
#define MRMA_TEST_MPI_TRACE_CONFLICTS_H

#include <mpi.h>

enum { INTS = 64, TARGET = 2, TAG = 7 };

/* One program: "right", or "wrong" if it has conflicting accesses. */
struct conflict_case {
    const char *how, *name;
    void (*run)(void);
};

/* Each ends with a name that is NULL. */
extern const struct conflict_case epoch_cases[], order_cases[], memory_cases[], message_cases[];

extern int case_rank;
extern int *case_memory; /* of case_win */
extern MPI_Win case_win;
extern const char
    *case_name; /* of the program, which all its windows have: by it a conflict is told */

/* case_make makes case_win, with a hint or none (NULL), and its memory of INTS ints, which are 0;
 * case_drop frees it. */
void case_make(const char *key, const char *value);
void case_drop(void);

/* case_over makes another window of the program. */
MPI_Win case_over(void *base, int ints);

/* case_send_to sends an int, which case_receive_from receives. */
void case_send_to(int other);
void case_receive_from(int other);

/* case_start begins an access epoch of case_win, case_post an exposure epoch for one origin, or two
 * (second -1: one). */
void case_start(int target);
void case_post(int first, int second);

#endif
