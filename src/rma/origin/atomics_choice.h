/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomics_choice.h - which accumulates on a window the network's cards do: one function of what is
 * known of the window and of the cards of all its processes, which all processes call with the same
 * facts, so that they get the same answer. It looks at nothing else and changes nothing.
 *
 * What must hold. A card's operations are atomic with respect to each other, but not to those of a
 * processor. MPI 4.1, 12.7.1, asks for atomicity of each element, and only among accumulates on the
 * same location with the same predefined datatype (accumulates with overlapping types of different
 * sizes, or at overlapping places that are not the same, have no defined outcome). So all
 * accumulates with one datatype must go the same way. Promises of the program in accumulate_ops
 * (12.2.1) weaken this:
 *
 *   same_op         concurrent accumulates at one address have one operation: each pair of
 *                   operation and type may go its own way, as far as order allows
 *   same_op_no_op   the same, or MPI_NO_OP (the default): an operation whose element MPI_NO_OP
 *                   reads must go the way of MPI_NO_OP, and so must all others of the type
 *
 * The second is read more widely: any operations that the program names in which_accumulate_ops may
 * meet, since programs use compare-and-swap beside other operations. Order (12.7.2) is asked for
 * the same location and datatype as well, and so among accumulates with different operations:
 * operations of one type may go different ways only if the program has waived the order
 * (accumulate_ordering = none).
 */
#ifndef MRMA_RMA_ORIGIN_ATOMICS_CHOICE_H
#define MRMA_RMA_ORIGIN_ATOMICS_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "acc/acc.h"
#include "ch3/channel.h"

/* Why a window's accumulates go by the cards, or do not. */
enum origin_atomics_why {
    ORIGIN_ATOMICS_USED,
    ORIGIN_ATOMICS_NOT_ASKED,    /* the info key is not true */
    ORIGIN_ATOMICS_NODE_SHARED,  /* two processes reach each other's memory without the network */
    ORIGIN_ATOMICS_UNREACHED,    /* some memory of the window is not registered with a card */
    ORIGIN_ATOMICS_BY_PROCESSOR, /* some provider is known to let processors do them */
    ORIGIN_ATOMICS_NOT_TAKEN     /* there is no type whose accumulates all cards take, as far as
                                    needed */
};

struct origin_atomics_facts {
    bool asked;               /* mpirma_fabric_atomics, at all processes */
    bool apart;               /* each process reaches all others by the network alone */
    bool registered;          /* all memory of the window is registered with the card of its
                                 process */
    bool by_processor;        /* some provider is known to let processors do them */
    bool unordered;           /* accumulate_ordering = none */
    bool same_op;             /* accumulate_ops */
    uint32_t which_ops;       /* which_accumulate_ops: a bit per enum acc_op; the bit of ACC_OP_NONE
                                 is compare-and-swap */
    struct ch3_atomics takes; /* what the cards of all processes take */
};

/* What the cards do. If they do nothing (why is not ORIGIN_ATOMICS_USED), ops is 0. */
struct origin_atomics_choice {
    enum origin_atomics_why why;
    uint16_t ops[CH3_ATOMIC_TYPES];
};

/* origin_atomics_choose returns which accumulates the cards do. */
struct origin_atomics_choice origin_atomics_choose(const struct origin_atomics_facts *facts);

/* origin_atomics_type returns the number of an element type for cards; -1: no card knows it. */
int origin_atomics_type(enum acc_type type);

/* origin_atomics_acc_type returns the element type with that number. */
enum acc_type origin_atomics_acc_type(enum ch3_atomic_type type);

/* origin_atomics_size returns the bytes of an element. */
size_t origin_atomics_size(enum ch3_atomic_type type);

/* origin_atomics_why_text returns in words why accumulates do not go by the cards; a constant. */
const char *origin_atomics_why_text(enum origin_atomics_why why);

#endif
