/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counts.h - what the test provider counts, for the tests that ask for it.
 *
 * fi_open_ops of any of its domains, by the name FABRIC_COUNTS, gives the address of the counters,
 * which go on counting. All are of the whole process. With FABRIC_COUNTS_FILE each process appends
 * one line with all of them to that file at its end.
 */
#ifndef MRMA_TEST_FABRIC_COUNTS_H
#define MRMA_TEST_FABRIC_COUNTS_H

#include <stdint.h>

#define FABRIC_COUNTS "fabric counts"

struct fabric_counts {
    uint64_t sends, injects, receives;         /* messages that were taken; receive buffers */
    uint64_t writes, reads, atomics;           /* operations on remote memory that were taken */
    uint64_t injected_writes;                  /* of the writes */
    uint64_t writes_with_word, words;          /* likewise; and what came with others' writes */
    uint64_t registrations, local_descriptors; /* of memory; domains opened with FI_MR_LOCAL */
    uint64_t cq_reads, completions, errors;    /* calls, and what they told */
    uint64_t held, lost;                       /* operations that were overtaken, or lost */
    uint64_t violations;
};

#endif
