/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counts.h - what the parts of test/sim/counts share: the sizes of jobs, what a process may take of
 * memory, and how it is counted. counts.c has the messages of epochs, counts_creation.c what the
 * creation of windows exchanges and keeps.
 */
#ifndef MRMA_TEST_COUNTS_H
#define MRMA_TEST_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim.h"

/* In make check jobs have at most SUITE_MAX processes. A window is of BYTES a process. */
enum { SUITE_MAX = 256, LATENCY_NS = 50000000, BYTES = 16, SIZES_MAX = 8 };

/* The jobs that are counted, by number of processes: those of make check up to the largest, or
 * those that were named, whose rows are printed in the end. */
extern const int *sizes;
extern int nsizes;
extern bool named_jobs;

/* What a window may cost a process, whatever the number of processes: nothing for
 * those it has not talked to. Allocators of sanitizers do not tell what is in use. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEMORY_KNOWN = false };
#else
enum { MEMORY_KNOWN = true };
#endif
enum { WINDOW_BYTES = 10240, PARTNER_BYTES = 4096 }; /* of a process; for each that it talks to */
/* Of a process, once, with its first window or packet: to apply packets, and to make counts. */
enum { SCRATCH_BYTES = 96 << 10 };

/* counts_in_use returns how many bytes of memory the library has for all processes of s. */
size_t counts_in_use(const struct sim *s);

/* counts_print_number prints n with a comma in front of each three digits. */
void counts_print_number(uint64_t n);

/* count_creations is the test of the creation of windows. */
void count_creations(void **state);

/* print_creations prints a row for each quantity of it, with a column for each job. */
void print_creations(void);

#endif
