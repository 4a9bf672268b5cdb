/*
 * win_info.c - one table of hints: how each is read and how it is shown.
 *
 * Booleans are "true" or "false", lists are separated by commas, blanks around
 * words are ignored. accumulate_ordering: none, or a list of rar, raw, war, waw
 * (12.7.1). which_accumulate_ops: names of operations, and cas for
 * MPI_Compare_and_swap. mpi_assert_memory_alloc_kinds: a list that names other
 * kinds than system and mpi is not understood by this library and so, as the
 * standard has it, neither used nor reported. A window's hints that must be
 * equal on all processes are compared in win_create. No state, no locks.
 */
#include "mpi/win_info.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"

/* The alignment that every allocation has (shm/heap.h). */
enum { LEAST_ALIGNMENT = 64 };

struct word_bit {
    const char *word;
    uint32_t bit;
};

static const struct word_bit orders[] = {
    { "rar", WIN_ORDER_RAR }, { "raw", WIN_ORDER_RAW }, { "war", WIN_ORDER_WAR }, { "waw", WIN_ORDER_WAW },
    { NULL, 0 },
};

#define OP_BIT(op) (UINT32_C(1) << (op))

/* Bit ACC_OP_NONE stands for compare-and-swap, which is no operation of its own. */
static const struct word_bit ops[] = {
    { "sum", OP_BIT(ACC_SUM) },       { "prod", OP_BIT(ACC_PROD) },       { "min", OP_BIT(ACC_MIN) },
    { "max", OP_BIT(ACC_MAX) },       { "land", OP_BIT(ACC_LAND) },       { "lor", OP_BIT(ACC_LOR) },
    { "lxor", OP_BIT(ACC_LXOR) },     { "band", OP_BIT(ACC_BAND) },       { "bor", OP_BIT(ACC_BOR) },
    { "bxor", OP_BIT(ACC_BXOR) },     { "minloc", OP_BIT(ACC_MINLOC) },   { "maxloc", OP_BIT(ACC_MAXLOC) },
    { "replace", OP_BIT(ACC_REPLACE) }, { "no_op", OP_BIT(ACC_NO_OP) },   { "cas", OP_BIT(ACC_OP_NONE) },
    { "cswap", OP_BIT(ACC_OP_NONE) }, { NULL, 0 },
};

/* The next word of a list; false at the end. Words are cut to the buffer, which is
 * longer than any word that is understood. */
static bool next_word(const char **list, char *word, size_t len)
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

    while (next_word(&text, word, sizeof word)) {
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

static bool read_bool(const char *text, bool *value)
{
    if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
        return false;
    *value = strcasecmp(text, "true") == 0;
    return true;
}

static void show_bool(bool value, char *buf, size_t len)
{
    snprintf(buf, len, "%s", value ? "true" : "false");
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

bool win_info_bool(const char *text, bool *value)
{
    return read_bool(text, value);
}

bool win_info_alignment(const char *text, uint64_t *bytes)
{
    uint64_t value;

    if (!read_number(text, &value) || value == 0 || (value & (value - 1)) != 0)
        return false;
    *bytes = value;
    return true;
}

#define BOOL_HINT(name)                                                            \
    static bool read_##name(const char *text, struct win_info *v)                  \
    {                                                                              \
        return read_bool(text, &v->hints.name);                                    \
    }                                                                              \
    static void show_##name(const struct win_info *v, char *buf, size_t len)       \
    {                                                                              \
        show_bool(v->hints.name, buf, len);                                        \
    }
BOOL_HINT(no_locks)
BOOL_HINT(same_size)
BOOL_HINT(same_disp_unit)
BOOL_HINT(alloc_shared_noncontig)
BOOL_HINT(alloc_shm)
BOOL_HINT(share_create)
BOOL_HINT(populate)
#undef BOOL_HINT

static bool read_ordering(const char *text, struct win_info *v)
{
    uint32_t bits = 0;

    if (strcasecmp(text, "none") != 0 && !read_bits(orders, text, &bits))
        return false;
    v->hints.ordering = (uint8_t)bits;
    return true;
}

static void show_ordering(const struct win_info *v, char *buf, size_t len)
{
    if (v->hints.ordering == 0)
        snprintf(buf, len, "none");
    else
        show_bits(orders, v->hints.ordering, buf, len);
}

static bool read_accumulate_ops(const char *text, struct win_info *v)
{
    if (strcmp(text, "same_op") != 0 && strcmp(text, "same_op_no_op") != 0)
        return false;
    v->hints.same_op = strcmp(text, "same_op") == 0;
    return true;
}

static void show_accumulate_ops(const struct win_info *v, char *buf, size_t len)
{
    snprintf(buf, len, "%s", v->hints.same_op ? "same_op" : "same_op_no_op");
}

static bool read_which_ops(const char *text, struct win_info *v)
{
    return read_bits(ops, text, &v->hints.which_ops);
}

static void show_which_ops(const struct win_info *v, char *buf, size_t len)
{
    show_bits(ops, v->hints.which_ops, buf, len);
}

static bool read_granularity(const char *text, struct win_info *v)
{
    return read_number(text, &v->hints.granularity);
}

static void show_granularity(const struct win_info *v, char *buf, size_t len)
{
    snprintf(buf, len, "%llu", (unsigned long long)v->hints.granularity);
}

static bool read_alignment(const char *text, struct win_info *v)
{
    return win_info_alignment(text, &v->hints.min_alignment);
}

static void show_alignment(const struct win_info *v, char *buf, size_t len)
{
    uint64_t bytes = v->hints.min_alignment;
    snprintf(buf, len, "%llu", (unsigned long long)(bytes > LEAST_ALIGNMENT ? bytes : LEAST_ALIGNMENT));
}

/* A kind is system or mpi, maybe with restrictors behind colons (MPI 4.1, 11.4.3). */
static bool read_kinds(const char *text, struct win_info *v)
{
    const char *list = text;
    char word[WIN_KINDS_MAX];
    bool ours = strlen(text) < sizeof v->kinds;

    while (next_word(&list, word, sizeof word)) {
        word[strcspn(word, ":")] = '\0';
        if (word[0] == '\0')
            return false;
        ours = ours && (strcmp(word, "system") == 0 || strcmp(word, "mpi") == 0);
    }
    if (ours)
        memcpy(v->kinds, text, strlen(text) + 1);
    return true;
}

static void show_kinds(const struct win_info *v, char *buf, size_t len)
{
    snprintf(buf, len, "%s", v->kinds);
}

static const struct hint {
    const char *key;
    const char *expected;
    bool (*read)(const char *text, struct win_info *v); /* false: not understood */
    void (*show)(const struct win_info *v, char *buf, size_t len);
} table[] = {
    { "no_locks", "true or false", read_no_locks, show_no_locks },
    { "accumulate_ordering", "none, or a list of rar, raw, war, waw", read_ordering, show_ordering },
    { "accumulate_ops", "same_op or same_op_no_op", read_accumulate_ops, show_accumulate_ops },
    { "same_size", "true or false", read_same_size, show_same_size },
    { "same_disp_unit", "true or false", read_same_disp_unit, show_same_disp_unit },
    { "alloc_shared_noncontig", "true or false", read_alloc_shared_noncontig, show_alloc_shared_noncontig },
    { "alloc_shm", "true or false", read_alloc_shm, show_alloc_shm },
    { "mpirma_share_create", "true or false", read_share_create, show_share_create },
    { "mpirma_populate", "true or false", read_populate, show_populate },
    { "which_accumulate_ops", "a list of operations, as in sum,no_op", read_which_ops, show_which_ops },
    { "mpi_accumulate_granularity", "a number of bytes, 0: unspecified", read_granularity, show_granularity },
    { "mpi_minimum_memory_alignment", "a number of bytes, a power of two", read_alignment, show_alignment },
    { "mpi_assert_memory_alloc_kinds", "a list of memory kinds", read_kinds, show_kinds },
};
enum { HINTS = sizeof table / sizeof table[0] };

struct win_info win_info_default(void)
{
    return (struct win_info){ .hints = win_hints_default(), .kinds = "mpi,system" };
}

int win_info_read(MPI_Info info, struct win_info *values, char *msg, size_t len)
{
    struct win_info fresh = *values;
    char text[MPI_MAX_INFO_VAL + 1];
    int there;

    if (info == MPI_INFO_NULL)
        return MRMA_SUCCESS;
    for (int i = 0; i < HINTS; i++) {
        if (PMPI_Info_get(info, table[i].key, MPI_MAX_INFO_VAL, text, &there) != MPI_SUCCESS || !there)
            continue;
        if (!table[i].read(text, &fresh)) {
            snprintf(msg, len, "info key %s=\"%.100s\" is not understood: expected %s", table[i].key, text,
                     table[i].expected);
            return MRMA_ERR_INFO_VALUE;
        }
    }
    *values = fresh;
    return MRMA_SUCCESS;
}

/* Is name one of the words of a list with commas? */
static bool has_word(const char *list, const char *name)
{
    const size_t len = strlen(name);
    for (const char *at = list; *at != '\0'; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return true;
    return false;
}

/* Each path once, in the order of the first target that has it. */
static void show_paths(const struct win_rec *rec, char *buf, size_t len)
{
    size_t at = 0;

    buf[0] = '\0';
    for (int target = 0; target < rec->nproc && at < len; target++) {
        const char *name = win_path_name(rec->win, target);
        if (!has_word(buf, name))
            at += (size_t)snprintf(buf + at, len - at, "%s%s", at > 0 ? "," : "", name);
    }
}

int win_info_make(const struct win_rec *rec, MPI_Info *out)
{
    struct win_info values = { .hints = *win_hints(rec->win) };
    char text[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;

    memcpy(values.kinds, rec->kinds, sizeof values.kinds);
    if (PMPI_Info_create(&info) != MPI_SUCCESS)
        return MRMA_ERR_NO_MEM;
    for (int i = 0; i < HINTS; i++) {
        table[i].show(&values, text, sizeof text);
        if (text[0] != '\0')
            PMPI_Info_set(info, table[i].key, text);
    }
    show_paths(rec, text, sizeof text);
    PMPI_Info_set(info, "mpirma_path", text);
    /* All that this library can reach, whatever the host was asked to support (MPI 4.1, 11.4.3). */
    PMPI_Info_set(info, "mpi_memory_alloc_kinds", "mpi,system");
    *out = info;
    return MRMA_SUCCESS;
}
