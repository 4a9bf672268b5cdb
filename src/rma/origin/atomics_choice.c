/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomics_choice.c - see atomics_choice.h. It has no state, no locks, and no neighbours except the
 * enums of src/acc and ch3/channel.h.
 */
#include "rma/origin/atomics_choice.h"

#include <assert.h>

static_assert((int)CH3_ATOMIC_CAS == (int)ACC_OP_NONE && (int)CH3_ATOMIC_SUM == (int)ACC_SUM &&
                  (int)CH3_ATOMIC_BXOR == (int)ACC_BXOR &&
                  (int)CH3_ATOMIC_REPLACE == (int)ACC_REPLACE &&
                  (int)CH3_ATOMIC_NO_OP == (int)ACC_NO_OP &&
                  (int)CH3_ATOMIC_OPS == (int)ACC_OP_LAST,
              "the channel's operations have the numbers of accumulates");

static const struct {
    enum acc_type type;
    size_t size;
} types[CH3_ATOMIC_TYPES] = {
    [CH3_ATOMIC_I8] = {ACC_I8, 1},   [CH3_ATOMIC_U8] = {ACC_U8, 1},
    [CH3_ATOMIC_I16] = {ACC_I16, 2}, [CH3_ATOMIC_U16] = {ACC_U16, 2},
    [CH3_ATOMIC_I32] = {ACC_I32, 4}, [CH3_ATOMIC_U32] = {ACC_U32, 4},
    [CH3_ATOMIC_I64] = {ACC_I64, 8}, [CH3_ATOMIC_U64] = {ACC_U64, 8},
    [CH3_ATOMIC_F32] = {ACC_F32, 4}, [CH3_ATOMIC_F64] = {ACC_F64, 8},
};

int origin_atomics_type(enum acc_type type)
{
    for (int i = 0; i < CH3_ATOMIC_TYPES; i++)
        if (types[i].type == type)
            return i;
    return -1;
}

enum acc_type origin_atomics_acc_type(enum ch3_atomic_type type)
{
    return types[type].type;
}

size_t origin_atomics_size(enum ch3_atomic_type type)
{
    return types[type].size;
}

/* Compare-and-swap is for integers (MPI 4.1, 12.3.4.4). */
static bool is_allowed(int op, int type)
{
    return op == CH3_ATOMIC_CAS ? type < CH3_ATOMIC_F32
                                : acc_allowed((enum acc_op)op, types[type].type);
}

/* needed returns the operations that the program may do on elements of that type. */
static uint16_t needed(const struct origin_atomics_facts *facts, int type)
{
    uint16_t ops = 0;
    for (int op = 0; op < CH3_ATOMIC_OPS; op++)
        if (facts->which_ops >> op & 1 && is_allowed(op, type))
            ops |= (uint16_t)(1 << op);
    return ops;
}

static enum origin_atomics_why obstacle(const struct origin_atomics_facts *facts)
{
    return !facts->asked         ? ORIGIN_ATOMICS_NOT_ASKED
           : !facts->apart       ? ORIGIN_ATOMICS_NODE_SHARED
           : !facts->registered  ? ORIGIN_ATOMICS_UNREACHED
           : facts->by_processor ? ORIGIN_ATOMICS_BY_PROCESSOR
                                 : ORIGIN_ATOMICS_NOT_TAKEN;
}

struct origin_atomics_choice origin_atomics_choose(const struct origin_atomics_facts *facts)
{
    struct origin_atomics_choice choice = {.why = obstacle(facts)};
    const bool may_part = facts->same_op && facts->unordered;
    for (int type = 0; choice.why == ORIGIN_ATOMICS_NOT_TAKEN && type < CH3_ATOMIC_TYPES; type++) {
        const uint16_t needs = needed(facts, type), takes = needs & facts->takes.ops[type];
        choice.ops[type] = may_part || takes == needs ? takes : 0;
    }
    for (int type = 0; type < CH3_ATOMIC_TYPES; type++)
        if (choice.ops[type])
            choice.why = ORIGIN_ATOMICS_USED;
    return choice;
}

const char *origin_atomics_why_text(enum origin_atomics_why why)
{
    switch (why) {
    case ORIGIN_ATOMICS_USED:
        return "used";
    case ORIGIN_ATOMICS_NOT_ASKED:
        return "nobody asks for it";
    case ORIGIN_ATOMICS_NODE_SHARED:
        return "some of its processes share a node";
    case ORIGIN_ATOMICS_UNREACHED:
        return "the network does not reach all of its memory by itself";
    case ORIGIN_ATOMICS_BY_PROCESSOR:
        return "the network's provider has processors do atomic operations, and no card";
    default:
        return "for no type do the cards take all operations that the program may do";
    }
}
