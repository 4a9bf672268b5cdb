/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomics_choice.h - which accumulates on a window the network's cards do: one function of what is
 * known of the window and of the cards of all its processes, which all processes call with the same
 * facts, so that they come to the same. It looks at nothing else and changes nothing.
 *
 * What must hold. A card is atomic among its own operations, and not to a processor. MPI 4.1,
 * 12.7.1, asks for atomicity of each element, and only among accumulates on the same location with
 * the same predefined datatype (accumulates with overlapping types of different sizes, or at
 * overlapping places that are not the same, have no defined outcome). So it is a datatype whose
 * accumulates must all go the same way. What the program says with accumulate_ops (12.2.1) makes
 * that less:
 *
 *   same_op         those at one address at one time are of one operation: each pair of operation
 *                   and type may go its own way, as far as order allows
 *   same_op_no_op   or MPI_NO_OP (the default): one that is read by MPI_NO_OP must go the way of
 *                   that, and so must all others of the type
 *
 * The second is taken in the wider sense that any of the operations that the program names in
 * which_accumulate_ops may meet, since programs have compare-and-swap beside others. Order (12.7.2)
 * is asked for the same location and datatype as well, and so among accumulates of different
 * operations: where operations of one type go different ways the program must have waived it
 * (accumulate_ordering = none).
 */
#ifndef MRMA_RMA_ORIGIN_ATOMICS_CHOICE_H
#define MRMA_RMA_ORIGIN_ATOMICS_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "acc/acc.h"
#include "ch3/channel.h"

/* Why a window's accumulates go by the cards, or do not. */
enum atomics_why {
    ATOMICS_USED,
    ATOMICS_NOT_ASKED,    /* the info key is not true */
    ATOMICS_NODE_SHARED,  /* two of its processes reach each other's memory without the network */
    ATOMICS_UNREACHED,    /* some of its memory is not registered with a card */
    ATOMICS_BY_PROCESSOR, /* some provider is known to have processors do them */
    ATOMICS_NOT_TAKEN     /* there is no type whose accumulates all cards take, as far as needed */
};

struct atomics_facts {
    bool asked;               /* mpirma_fabric_atomics, at all processes */
    bool apart;               /* each process reaches all others by the network alone */
    bool registered;          /* all memory of the window, with the card of its process */
    bool by_processor;        /* some provider is known to have processors do them */
    bool unordered;           /* accumulate_ordering = none */
    bool same_op;             /* accumulate_ops */
    uint32_t which_ops;       /* which_accumulate_ops: a bit per enum acc_op, that of none is
                                 compare-and-swap */
    struct ch3_atomics takes; /* what the cards of all processes take */
};

/* What the cards do; without it (why is not ATOMICS_USED), ops is 0. */
struct atomics_choice {
    enum atomics_why why;
    uint16_t ops[CH3_ATOMIC_TYPES];
};

/* atomics_choose returns which accumulates the cards do. */
struct atomics_choice atomics_choose(const struct atomics_facts *facts);

/* atomics_type returns the number of an element type for cards; -1: no card knows it. */
int atomics_type(enum acc_type type);

/* atomics_acc_type returns the element type with that number. */
enum acc_type atomics_acc_type(enum ch3_atomic_type type);

/* atomics_size returns the bytes of an element. */
size_t atomics_size(enum ch3_atomic_type type);

/* atomics_why_text returns in words why accumulates do not go by the cards; a constant. */
const char *atomics_why_text(enum atomics_why why);

#endif
