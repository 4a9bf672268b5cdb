/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hints.c - one table of hints: how each is read, shown, and joined where processes differ.
 *
 * accumulate_ordering: none, or a list of rar, raw, war, waw (MPI 4.1, 12.2.1).
 * which_accumulate_ops: names of operations, and cas for MPI_Compare_and_swap. Where processes
 * differ in a hint that must be the same everywhere, the joined value is right for all of them: a
 * promise holds if all processes give it; an order or an operation is in the joined list if one
 * process names it. mpi_accumulate_granularity is read to be compared, and not used. No state, no
 * locks.
 */
#include "rma/win/hints.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "acc/acc.h"
#include "base/text.h"
#include "rma/win/notify_state.h"

/* The alignment that every allocation has (shm/heap.h). */
enum { LEAST_ALIGNMENT = 64 };

static const struct text_bit orders[] = {
    {"none", 0},
    {"rar", WIN_ORDER_RAR},
    {"raw", WIN_ORDER_RAW},
    {"war", WIN_ORDER_WAR},
    {"waw", WIN_ORDER_WAW},
    {NULL, 0},
};

#define OP_BIT(op) (UINT32_C(1) << (op))

/* Bit ACC_OP_NONE stands for compare-and-swap, which is no operation of its own. */
static const struct text_bit ops[] = {
    {"sum", OP_BIT(ACC_SUM)},
    {"prod", OP_BIT(ACC_PROD)},
    {"min", OP_BIT(ACC_MIN)},
    {"max", OP_BIT(ACC_MAX)},
    {"land", OP_BIT(ACC_LAND)},
    {"lor", OP_BIT(ACC_LOR)},
    {"lxor", OP_BIT(ACC_LXOR)},
    {"band", OP_BIT(ACC_BAND)},
    {"bor", OP_BIT(ACC_BOR)},
    {"bxor", OP_BIT(ACC_BXOR)},
    {"minloc", OP_BIT(ACC_MINLOC)},
    {"maxloc", OP_BIT(ACC_MAXLOC)},
    {"replace", OP_BIT(ACC_REPLACE)},
    {"no_op", OP_BIT(ACC_NO_OP)},
    {"cas", OP_BIT(ACC_OP_NONE)},
    {"cswap", OP_BIT(ACC_OP_NONE)},
    {NULL, 0},
};

static_assert(sizeof(struct win_hints) == 48, "no padding: processes compare the bytes");

enum form { FORM_BOOL, FORM_SAME_OP, FORM_LIST, FORM_NUMBER, FORM_NUMBERS, FORM_ALIGNMENT };

/* One hint. Its value stands in struct win_hints at this offset, as a bool, as a uint32_t with the
 * bits of a list, or as a uint64_t. */
static const struct hint {
    const char *key;
    enum form form;
    size_t at;
    const struct text_bit *words; /* FORM_LIST */
    const char *expected;
} table[HINTS] = {
    {"no_locks", FORM_BOOL, offsetof(struct win_hints, no_locks), NULL, "true or false"},
    {"accumulate_ordering", FORM_LIST, offsetof(struct win_hints, ordering), orders,
     "none, or a list of rar, raw, war, waw"},
    {"accumulate_ops", FORM_SAME_OP, offsetof(struct win_hints, same_op), NULL,
     "same_op or same_op_no_op"},
    {"same_size", FORM_BOOL, offsetof(struct win_hints, same_size), NULL, "true or false"},
    {"same_disp_unit", FORM_BOOL, offsetof(struct win_hints, same_disp_unit), NULL,
     "true or false"},
    {"alloc_shared_noncontig", FORM_BOOL, offsetof(struct win_hints, alloc_shared_noncontig), NULL,
     "true or false"},
    {"alloc_shm", FORM_BOOL, offsetof(struct win_hints, alloc_shm), NULL, "true or false"},
    {"mpirma_populate", FORM_BOOL, offsetof(struct win_hints, populate), NULL, "true or false"},
    {"mpirma_weak_unlock", FORM_BOOL, offsetof(struct win_hints, weak_unlock), NULL,
     "true or false"},
    {"mpirma_fabric_atomics", FORM_BOOL, offsetof(struct win_hints, fabric_atomics), NULL,
     "true or false"},
    {"which_accumulate_ops", FORM_LIST, offsetof(struct win_hints, which_ops), ops,
     "a list of operations, as in sum,no_op"},
    {"mpi_accumulate_granularity", FORM_NUMBER, offsetof(struct win_hints, granularity), NULL,
     "a number of bytes, 0: unspecified"},
    {"mpirma_notifications", FORM_NUMBERS, offsetof(struct win_hints, notifications), NULL,
     "a number from 0 to 64"},
    {"mpi_minimum_memory_alignment", FORM_ALIGNMENT, offsetof(struct win_hints, min_alignment),
     NULL, "a number of bytes, a power of two"},
};

struct win_hints win_hints_default(void)
{
    return (struct win_hints){
        .alloc_shm = true, .ordering = WIN_ORDER_ALL, .which_ops = OP_BIT(ACC_OP_LAST) - 1};
}

const char *hint_key(int i)
{
    return table[i].key;
}
const char *hint_expected(int i)
{
    return table[i].expected;
}

bool hint_read(int i, const char *text, struct win_hints *h)
{
    void *at = (char *)h + table[i].at;
    uint64_t number;

    switch (table[i].form) {
    case FORM_BOOL:
        return text_bool(text, at);
    case FORM_SAME_OP:
        if (strcmp(text, "same_op") != 0 && strcmp(text, "same_op_no_op") != 0)
            return false;
        h->same_op = strcmp(text, "same_op") == 0;
        return true;
    case FORM_LIST:
        return text_bits(table[i].words, text, at);
    case FORM_NUMBER:
        return text_number(text, at);
    case FORM_NUMBERS:
        if (!text_number(text, &number) || number > NOTIFY_MAX)
            return false;
        *(uint64_t *)at = number;
        return true;
    case FORM_ALIGNMENT:
        return text_alignment(text, at);
    }
    return false;
}

void hint_show(int i, const struct win_hints *h, char *buf, size_t len)
{
    const void *at = (const char *)h + table[i].at;
    const uint64_t align = h->min_alignment;

    switch (table[i].form) {
    case FORM_BOOL:
        snprintf(buf, len, "%s", *(const bool *)at ? "true" : "false");
        break;
    case FORM_SAME_OP:
        snprintf(buf, len, "%s", h->same_op ? "same_op" : "same_op_no_op");
        break;
    case FORM_LIST:
        text_show_bits(table[i].words, *(const uint32_t *)at, buf, len);
        break;
    case FORM_NUMBER:
    case FORM_NUMBERS:
        snprintf(buf, len, "%llu", (unsigned long long)*(const uint64_t *)at);
        break;
    case FORM_ALIGNMENT:
        snprintf(buf, len, "%llu",
                 (unsigned long long)(align > LEAST_ALIGNMENT ? align : LEAST_ALIGNMENT));
    }
}

static size_t size_of(const struct hint *hint)
{
    return hint->form == FORM_LIST  ? sizeof(uint32_t)
           : hint->form < FORM_LIST ? sizeof(bool)
                                    : sizeof(uint64_t);
}

bool hint_differs(int i, const struct win_hints *a, const struct win_hints *b)
{
    const size_t at = table[i].at;
    return at < WIN_HINTS_COMMON &&
           memcmp((const char *)a + at, (const char *)b + at, size_of(&table[i])) != 0;
}

void hint_join(int i, struct win_hints *all, const struct win_hints *h)
{
    void *to = (char *)all + table[i].at;
    const void *from = (const char *)h + table[i].at;

    if (table[i].form == FORM_LIST)
        *(uint32_t *)to |= *(const uint32_t *)from;
    else if (table[i].form < FORM_LIST)
        *(bool *)to &= *(const bool *)from;
    else if (table[i].form < FORM_ALIGNMENT && *(uint64_t *)to != *(const uint64_t *)from)
        *(uint64_t *)to = 0;
}
