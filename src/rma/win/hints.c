/*
 * hints.c - one table of hints: how each is read, shown, and joined where processes differ.
 *
 * Booleans are "true" or "false", lists are separated by commas, blanks around words are ignored.
 * accumulate_ordering: none, or a list of rar, raw, war, waw (MPI 4.1, 12.2.1).
 * which_accumulate_ops: names of operations, and cas for MPI_Compare_and_swap. Where processes
 * differ in a hint that must be the same everywhere, each joined value is right for all of them: a
 * promise holds if all give it, an order and an operation count if one names it.
 * mpi_accumulate_granularity is read to be compared, and not used. No state, no locks.
 */
#include "rma/win/hints.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "rma/acc/acc.h"

/* The alignment that every allocation has (shm/heap.h). */
enum { LEAST_ALIGNMENT = 64 };

struct word_bit {
    const char *word;
    uint32_t bit;
};

static const struct word_bit orders[] = {
    {"rar", WIN_ORDER_RAR},
    {"raw", WIN_ORDER_RAW},
    {"war", WIN_ORDER_WAR},
    {"waw", WIN_ORDER_WAW},
    {NULL, 0},
};

#define OP_BIT(op) (UINT32_C(1) << (op))

/* Bit ACC_OP_NONE stands for compare-and-swap, which is no operation of its own. */
static const struct word_bit ops[] = {
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

bool hints_next_word(const char **list, char *word, size_t len)
{
    const char *at = *list, *end;
    size_t n;

    if (at == NULL)
        return false;
    end = strchr(at, ',');
    *list = end != NULL ? end + 1 : NULL;
    if (end == NULL)
        end = at + strlen(at);
    while (at < end && *at == ' ')
        at++;
    while (end > at && end[-1] == ' ')
        end--;
    n = (size_t)(end - at) < len - 1 ? (size_t)(end - at) : len - 1;
    memcpy(word, at, n);
    word[n] = '\0';
    return true;
}

static bool read_bits(const struct word_bit *words, const char *text, uint32_t *bits)
{
    char word[16];
    uint32_t found = 0;

    while (hints_next_word(&text, word, sizeof word)) {
        const struct word_bit *known = words;
        while (known->word != NULL && strcasecmp(known->word, word) != 0)
            known++;
        if (known->word == NULL)
            return false;
        found |= known->bit;
    }
    *bits = found;
    return true;
}

/* Words in the order of the table, each bit once. */
static void show_bits(const struct word_bit *words, uint32_t bits, char *buf, size_t len)
{
    size_t at = 0;

    for (buf[0] = '\0'; words->word != NULL; words++) {
        if (bits & words->bit && at < len)
            at += (size_t)snprintf(buf + at, len - at, "%s%s", at > 0 ? "," : "", words->word);
        bits &= ~words->bit;
    }
}

bool hints_bool(const char *text, bool *value)
{
    if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
        return false;
    *value = strcasecmp(text, "true") == 0;
    return true;
}

static bool read_number(const char *text, uint64_t *value)
{
    uint64_t sum = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || sum > UINT64_MAX / 10 - 1)
            return false;
        sum = sum * 10 + (uint64_t)(*text - '0');
    }
    *value = sum;
    return true;
}

bool hints_alignment(const char *text, uint64_t *bytes)
{
    uint64_t value;

    if (!read_number(text, &value) || value == 0 || (value & (value - 1)) != 0)
        return false;
    *bytes = value;
    return true;
}

enum form { FORM_BOOL, FORM_SAME_OP, FORM_ORDERING, FORM_OPS, FORM_NUMBER, FORM_ALIGNMENT };

static const struct hint {
    const char *key;
    enum form form;
    bool common; /* the same on all processes; else each has its own */
    size_t at;   /* FORM_BOOL, FORM_SAME_OP: where its bool is in struct win_hints */
} table[HINTS] = {
    {"no_locks", FORM_BOOL, true, offsetof(struct win_hints, no_locks)},
    {"accumulate_ordering", FORM_ORDERING, true, 0},
    {"accumulate_ops", FORM_SAME_OP, true, offsetof(struct win_hints, same_op)},
    {"same_size", FORM_BOOL, true, offsetof(struct win_hints, same_size)},
    {"same_disp_unit", FORM_BOOL, true, offsetof(struct win_hints, same_disp_unit)},
    {"alloc_shared_noncontig", FORM_BOOL, true, offsetof(struct win_hints, alloc_shared_noncontig)},
    {"alloc_shm", FORM_BOOL, false, offsetof(struct win_hints, alloc_shm)},
    {"mpirma_share_create", FORM_BOOL, false, offsetof(struct win_hints, share_create)},
    {"mpirma_populate", FORM_BOOL, false, offsetof(struct win_hints, populate)},
    {"which_accumulate_ops", FORM_OPS, true, 0},
    {"mpi_accumulate_granularity", FORM_NUMBER, true, 0},
    {"mpi_minimum_memory_alignment", FORM_ALIGNMENT, false, 0},
};

static const char *const expected[] = {
    [FORM_BOOL] = "true or false",
    [FORM_SAME_OP] = "same_op or same_op_no_op",
    [FORM_ORDERING] = "none, or a list of rar, raw, war, waw",
    [FORM_OPS] = "a list of operations, as in sum,no_op",
    [FORM_NUMBER] = "a number of bytes, 0: unspecified",
    [FORM_ALIGNMENT] = "a number of bytes, a power of two",
};

static bool *bool_of(const struct hint *hint, struct win_hints *h)
{
    return (bool *)((char *)h + hint->at);
}

struct win_hints win_hints_default(void)
{
    return (struct win_hints){
        .alloc_shm = true, .ordering = WIN_ORDER_ALL, .which_ops = UINT32_MAX};
}

const char *hint_key(int i)
{
    return table[i].key;
}
const char *hint_expected(int i)
{
    return expected[table[i].form];
}

bool hint_read(int i, const char *text, struct win_hints *h)
{
    uint32_t bits = 0;

    switch (table[i].form) {
    case FORM_BOOL:
        return hints_bool(text, bool_of(&table[i], h));
    case FORM_SAME_OP:
        if (strcmp(text, "same_op") != 0 && strcmp(text, "same_op_no_op") != 0)
            return false;
        h->same_op = strcmp(text, "same_op") == 0;
        return true;
    case FORM_ORDERING:
        if (strcasecmp(text, "none") != 0 && !read_bits(orders, text, &bits))
            return false;
        h->ordering = (uint8_t)bits;
        return true;
    case FORM_OPS:
        return read_bits(ops, text, &h->which_ops);
    case FORM_NUMBER:
        return read_number(text, &h->granularity);
    case FORM_ALIGNMENT:
        return hints_alignment(text, &h->min_alignment);
    }
    return false;
}

void hint_show(int i, const struct win_hints *h, char *buf, size_t len)
{
    const uint64_t align = h->min_alignment;

    switch (table[i].form) {
    case FORM_BOOL:
        snprintf(buf, len, "%s",
                 *((const bool *)((const char *)h + table[i].at)) ? "true" : "false");
        break;
    case FORM_SAME_OP:
        snprintf(buf, len, "%s", h->same_op ? "same_op" : "same_op_no_op");
        break;
    case FORM_ORDERING:
        if (h->ordering == 0)
            snprintf(buf, len, "none");
        else
            show_bits(orders, h->ordering, buf, len);
        break;
    case FORM_OPS:
        show_bits(ops, h->which_ops, buf, len);
        break;
    case FORM_NUMBER:
        snprintf(buf, len, "%llu", (unsigned long long)h->granularity);
        break;
    case FORM_ALIGNMENT:
        snprintf(buf, len, "%llu",
                 (unsigned long long)(align > LEAST_ALIGNMENT ? align : LEAST_ALIGNMENT));
    }
}

/* *all becomes what serves both. */
static void join(const struct hint *hint, struct win_hints *all, struct win_hints h)
{
    if (hint->form == FORM_BOOL || hint->form == FORM_SAME_OP)
        *bool_of(hint, all) &= *bool_of(hint, &h);
    else if (hint->form == FORM_ORDERING)
        all->ordering |= h.ordering;
    else if (hint->form == FORM_OPS)
        all->which_ops |= h.which_ops;
    else
        all->granularity = 0;
}

uint64_t hints_word(const struct win_hints *h)
{
    return (uint64_t)h->no_locks | (uint64_t)h->same_size << 1 | (uint64_t)h->same_disp_unit << 2 |
           (uint64_t)h->same_op << 3 | (uint64_t)h->alloc_shared_noncontig << 4 |
           (uint64_t)h->ordering << 8 | (uint64_t)(h->which_ops & 0xffff) << 16 |
           (h->granularity & 0xffffffff) << 32;
}

/* which_ops has its upper bits where all are set: the default. */
static struct win_hints of_word(uint64_t word)
{
    const uint32_t ops = word >> 16 & 0xffff;

    return (struct win_hints){.no_locks = word & 1,
                              .same_size = word >> 1 & 1,
                              .same_disp_unit = word >> 2 & 1,
                              .same_op = word >> 3 & 1,
                              .alloc_shared_noncontig = word >> 4 & 1,
                              .ordering = word >> 8 & WIN_ORDER_ALL,
                              .which_ops = ops == 0xffff ? UINT32_MAX : ops,
                              .granularity = word >> 32};
}

bool hint_join(int i, uint64_t *all, uint64_t other)
{
    struct win_hints joined = of_word(*all);
    const struct win_hints h = of_word(other);
    char mine[256], theirs[256];

    if (!table[i].common)
        return false;
    hint_show(i, &joined, mine, sizeof mine);
    hint_show(i, &h, theirs, sizeof theirs);
    if (strcmp(mine, theirs) == 0)
        return false;
    join(&table[i], &joined, h);
    *all = hints_word(&joined);
    return true;
}

void hint_show_word(int i, uint64_t word, char *buf, size_t len)
{
    const struct win_hints h = of_word(word);

    hint_show(i, &h, buf, len);
}

void hints_take(struct win_hints *h, uint64_t word)
{
    const struct win_hints all = of_word(word);

    h->no_locks = all.no_locks;
    h->same_size = all.same_size;
    h->same_disp_unit = all.same_disp_unit;
    h->same_op = all.same_op;
    h->alloc_shared_noncontig = all.alloc_shared_noncontig;
    h->ordering = all.ordering;
    h->which_ops = all.which_ops;
}
