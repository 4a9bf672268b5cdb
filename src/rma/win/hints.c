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

#define BOOL_HINT(name)                                                       \
    static bool read_##name(const char *text, struct win_hints *h)            \
    {                                                                         \
        return hints_bool(text, &h->name);                                    \
    }                                                                         \
    static void show_##name(const struct win_hints *h, char *buf, size_t len) \
    {                                                                         \
        snprintf(buf, len, "%s", h->name ? "true" : "false");                 \
    }

/* The same on all processes: true only if all say so. */
#define COMMON_BOOL_HINT(name)                                                \
    BOOL_HINT(name)                                                           \
    static void join_##name(struct win_hints *all, const struct win_hints *h) \
    {                                                                         \
        all->name = all->name && h->name;                                     \
    }
BOOL_HINT(alloc_shm)
BOOL_HINT(share_create)
BOOL_HINT(populate)
COMMON_BOOL_HINT(no_locks)
COMMON_BOOL_HINT(same_size)
COMMON_BOOL_HINT(same_disp_unit)
COMMON_BOOL_HINT(alloc_shared_noncontig)
#undef BOOL_HINT
#undef COMMON_BOOL_HINT

static bool read_ordering(const char *text, struct win_hints *h)
{
    uint32_t bits = 0;

    if (strcasecmp(text, "none") != 0 && !read_bits(orders, text, &bits))
        return false;
    h->ordering = (uint8_t)bits;
    return true;
}

static void show_ordering(const struct win_hints *h, char *buf, size_t len)
{
    if (h->ordering == 0)
        snprintf(buf, len, "none");
    else
        show_bits(orders, h->ordering, buf, len);
}

static void join_ordering(struct win_hints *all, const struct win_hints *h)
{
    all->ordering |= h->ordering;
}

static bool read_accumulate_ops(const char *text, struct win_hints *h)
{
    if (strcmp(text, "same_op") != 0 && strcmp(text, "same_op_no_op") != 0)
        return false;
    h->same_op = strcmp(text, "same_op") == 0;
    return true;
}

static void show_accumulate_ops(const struct win_hints *h, char *buf, size_t len)
{
    snprintf(buf, len, "%s", h->same_op ? "same_op" : "same_op_no_op");
}

static void join_accumulate_ops(struct win_hints *all, const struct win_hints *h)
{
    all->same_op = all->same_op && h->same_op;
}

static bool read_which_ops(const char *text, struct win_hints *h)
{
    return read_bits(ops, text, &h->which_ops);
}

static void show_which_ops(const struct win_hints *h, char *buf, size_t len)
{
    show_bits(ops, h->which_ops, buf, len);
}

static void join_which_ops(struct win_hints *all, const struct win_hints *h)
{
    all->which_ops |= h->which_ops;
}

static bool read_granularity(const char *text, struct win_hints *h)
{
    return read_number(text, &h->granularity);
}

static void show_granularity(const struct win_hints *h, char *buf, size_t len)
{
    snprintf(buf, len, "%llu", (unsigned long long)h->granularity);
}

static void join_granularity(struct win_hints *all, const struct win_hints *h)
{
    (void)h;
    all->granularity = 0;
}

static bool read_alignment(const char *text, struct win_hints *h)
{
    return hints_alignment(text, &h->min_alignment);
}

static void show_alignment(const struct win_hints *h, char *buf, size_t len)
{
    uint64_t bytes = h->min_alignment;
    snprintf(buf, len, "%llu",
             (unsigned long long)(bytes > LEAST_ALIGNMENT ? bytes : LEAST_ALIGNMENT));
}

static const struct hint {
    const char *key;
    const char *expected;
    bool (*read)(const char *text,
                 struct win_hints *h); /* false: not understood, nothing is changed */
    void (*show)(const struct win_hints *h, char *buf, size_t len);
    void (*join)(struct win_hints *all,
                 const struct win_hints *h); /* NULL: each process has its own */
} table[HINTS] = {
    {"no_locks", "true or false", read_no_locks, show_no_locks, join_no_locks},
    {"accumulate_ordering", "none, or a list of rar, raw, war, waw", read_ordering, show_ordering,
     join_ordering},
    {"accumulate_ops", "same_op or same_op_no_op", read_accumulate_ops, show_accumulate_ops,
     join_accumulate_ops},
    {"same_size", "true or false", read_same_size, show_same_size, join_same_size},
    {"same_disp_unit", "true or false", read_same_disp_unit, show_same_disp_unit,
     join_same_disp_unit},
    {"alloc_shared_noncontig", "true or false", read_alloc_shared_noncontig,
     show_alloc_shared_noncontig, join_alloc_shared_noncontig},
    {"alloc_shm", "true or false", read_alloc_shm, show_alloc_shm, NULL},
    {"mpirma_share_create", "true or false", read_share_create, show_share_create, NULL},
    {"mpirma_populate", "true or false", read_populate, show_populate, NULL},
    {"which_accumulate_ops", "a list of operations, as in sum,no_op", read_which_ops,
     show_which_ops, join_which_ops},
    {"mpi_accumulate_granularity", "a number of bytes, 0: unspecified", read_granularity,
     show_granularity, join_granularity},
    {"mpi_minimum_memory_alignment", "a number of bytes, a power of two", read_alignment,
     show_alignment, NULL},
};

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
    return table[i].expected;
}
bool hint_read(int i, const char *text, struct win_hints *h)
{
    return table[i].read(text, h);
}
void hint_show(int i, const struct win_hints *h, char *buf, size_t len)
{
    table[i].show(h, buf, len);
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

    if (table[i].join == NULL)
        return false;
    hint_show(i, &joined, mine, sizeof mine);
    hint_show(i, &h, theirs, sizeof theirs);
    if (strcmp(mine, theirs) == 0)
        return false;
    table[i].join(&joined, &h);
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
