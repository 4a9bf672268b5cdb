/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rules.h - what a fabric demands of its users and what it does to them, as one table.
 *
 * A profile is a fabric by name, as far as its documentation and its sources tell; "ideal" is one
 * that demands nothing. FABRIC_RULES="cards=2,mr_us=500" changes single rules of whatever profile
 * is used; the names are those of the fields below.
 *
 * Breaking a rule is a violation: it is told on standard error and ends the process, unless
 * FABRIC_VIOLATIONS=count, when it is only counted (counts.h).
 *
 * No locks: the table is written before the provider is used. Neighbours: all files of this folder.
 */
#ifndef MRMA_TEST_FABRIC_RULES_H
#define MRMA_TEST_FABRIC_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "test/fabric/counts.h"

/* Registration of the user's own buffers. */
enum { LOCAL_NEVER, LOCAL_IF_OFFERED, LOCAL_ALWAYS };

/* The descriptor of a completion queue: it works, is there and never becomes readable, is refused,
 * or works with automatic progress and is refused without. */
enum { WAIT_WORKS, WAIT_SILENT, WAIT_REFUSED, WAIT_IF_AUTOMATIC };

/* What is said of an injected message that was lost: an error with nothing to tell which one it
 * was, or nothing at all. */
enum { LOST_NAMELESS, LOST_UNSAID };

enum { ATOMIC_BYTES = 1024 }; /* of one atomic operation, at most */

/* Which atomic operations there are.
 *   ALL    each operation on each datatype, ATOMIC_BYTES at once
 *   VERBS  what cards for verbs do: fetch and add, and compare and swap, on one integer of 64 bits
 *   CXI    as its provider says: all but a product, logical and bitwise ones on integers alone, one
 *          element at once
 *   SOFT   processes do them for each other (efa, opx, psm3): each operation on each datatype */
enum { ATOMICS_NONE, ATOMICS_ALL, ATOMICS_VERBS, ATOMICS_CXI, ATOMICS_SOFT };

struct rules {
    const char *name;     /* of the provider */
    uint64_t order;       /* FI_ORDER_* that are promised */
    uint64_t mr_mode;     /* FI_MR_* that the user must be ready for */
    uint64_t mode;        /* FI_CONTEXT and FI_CONTEXT2, likewise */
    unsigned api;         /* the newest minor version of libfabric's interface that it knows */
    unsigned mr_local;    /* LOCAL_* */
    unsigned wait;        /* WAIT_* */
    unsigned offload;     /* goes on by itself; else only within calls (manual progress) */
    unsigned inject;      /* bytes that may be injected */
    unsigned iov_max;     /* pieces of local memory in one operation */
    unsigned rma_iov_max; /* pieces of remote memory in one operation */
    unsigned key_bytes;   /* of a key that the user chooses */
    unsigned tx_size;     /* operations under way before "try again" */
    unsigned name_len;    /* bytes of an endpoint's name */
    unsigned uneven;      /* names differ in length by so much, from one endpoint to the next */
    unsigned atomics;     /* ATOMICS_* */
    unsigned cq_data;     /* bytes that may come with a message, as is said */
    unsigned words;       /* they may come with a write as well; else that is a violation */
    unsigned atomics_lie; /* this operation, enum fi_op + 1, is said to be there and does nothing */
    unsigned atomics_fail;  /* so many atomic operations go well, then each fails; 0: none does */
    unsigned late_atomics;  /* later atomic operations may overtake an atomic operation */
    unsigned late_writes;   /* so many later sends may overtake a write */
    unsigned late_sends;    /* so many later sends may overtake a send (no FI_ORDER_SAS) */
    unsigned placed_us;     /* the data of a write is in place so much later than its end is told,
                               unless something else comes from the same endpoint; and there is no
                               FI_DELIVERY_COMPLETE for writes */
    unsigned delay_us;      /* a completion is told so much later, at most */
    unsigned leftover;      /* the end of a receive buffer is an event that names unused bytes */
    unsigned fetched;       /* messages of more bytes get their place in a receive buffer at once,
                               and are fetched then: they are complete after shorter ones behind
                               them. When one has waited for a buffer, and takes the last room of
                               it, an event says at once that the buffer is used up. 0: none are */
    unsigned lost_inject;   /* LOST_* */
    unsigned lost_ms;       /* until an operation to an endpoint that has gone fails */
    unsigned cards;         /* domains */
    unsigned pci;           /* card i is on the PCI bus of this number + 16 i, as its device 0; 0:
                               that is not said */
    unsigned sized;         /* what ofi_rxm reads of the environment must be there */
    unsigned universe;      /* the number of processes that ofi_rxm reads must be this; 0: any */
    unsigned mr_us;         /* a registration takes so long */
    unsigned mr_fail_after; /* so many registrations go well, then none does; 0: all do */
};

/* rules_of returns the rules of the profile that FABRIC_PROFILE names, with the changes of
 * FABRIC_RULES. NULL: there is no such profile, or FABRIC_RULES cannot be read (told on standard
 * error). */
const struct rules *rules_of(void);

/* rules_broken counts and tells of a violation: what was done (fmt). It returns only where
 * violations are counted. */
void rules_broken(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* rules_of_environment holds the variables that libfabric's own providers read, when it is loaded
 * and when an endpoint is made. */
void rules_of_environment(const struct rules *held);

/* rules_counts is what was counted in this process, by all domains together. */
extern struct fabric_counts rules_counts;

#define COUNT(field) ((void)__atomic_fetch_add(&rules_counts.field, UINT64_C(1), __ATOMIC_RELAXED))

#endif
