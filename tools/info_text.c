/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_text.c - see info_text.h.
 *
 * An item is a line: its key, its value, and its note, whose further lines begin below its first.
 */
#include "info_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { KEY = 24, VALUE = 13, NARROW = 60, LEAST = 20, USUAL = 80, CALL = 36, LEAST_INDENT = 4 };

/* ---- words in lines ---- */

static int columns(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= LEAST)
        return size.ws_col;
    return USUAL;
}

/* Prints words behind what stands in the line up to column, and begins further lines at indent, or
 * at LEAST_INDENT where a word is too long for that. Ends the line. */
static void print_words(const char *text, int column, int indent)
{
    const int width = columns();
    bool first = true;

    while (*(text += strspn(text, " ")) != '\0') {
        const int length = (int)strcspn(text, " ");
        if (!first && column + 1 + length > width)
            column = printf("\n%*s", indent + length > width ? LEAST_INDENT : indent, "") - 1;
        else if (!first)
            column += printf(" ");
        column += printf("%.*s", length, text);
        text += length;
        first = false;
    }
    printf("\n");
}

/* A first column of this width, then words. Where the terminal is narrow, or the first column is
 * wider, they begin in the next line. */
static void print_columns(const char *first, int width, const char *words)
{
    const int narrow = columns() < NARROW;
    const int length = (int)strlen(first);

    if (words[0] == '\0') {
        print_words(first, 2, 4);
        return;
    }
    if (narrow || length >= width) {
        print_words(first, 2, 4);
        printf("    ");
        print_words(words, 4, 4);
        return;
    }
    printf("%-*s", width, first);
    print_words(words, 2 + width, 2 + width);
}

/* ---- items ---- */

/* 1536 -> "1.5 KiB"; integers only, so that no locale's decimal sign gets in. */
static void format_bytes(char *buf, size_t len, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned unit = 0;
    uint64_t rest = 0;

    while (bytes >= 1024) {
        rest = bytes % 1024;
        bytes /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(buf, len, "%" PRIu64 " bytes", bytes);
    else
        snprintf(buf, len, "%" PRIu64 ".%" PRIu64 " %s", bytes, rest * 10 / 1024, units[unit]);
}

static void format_value(char *buf, size_t len, const struct item *item)
{
    switch (item->kind) {
    case ITEM_TEXT:
        snprintf(buf, len, "%s", item->text[0] == '\0' ? "(unset)" : item->text);
        break;
    case ITEM_BOOL:
        snprintf(buf, len, "%s", item->number ? "yes" : "no");
        break;
    case ITEM_COUNT:
        snprintf(buf, len, "%" PRIu64, item->number);
        break;
    case ITEM_BYTES:
        format_bytes(buf, len, item->number);
        break;
    case ITEM_UNLIMITED:
        snprintf(buf, len, "unlimited");
        break;
    }
}

/* Of what a setting does the first sentence, unless all is asked for. */
static void cut_note(char *note, const struct item *item, bool all)
{
    snprintf(note, sizeof item->note, "%s", item->note);
    char *end = strstr(note, ". ");
    if (!all && end != NULL && strncmp(note, "set; ", 5) == 0)
        *end = '\0';
}

static void print_item(const struct item *item, bool all)
{
    char note[sizeof item->note], value[300], words[sizeof value + sizeof note];

    cut_note(note, item, all);
    format_value(value, sizeof value, item);
    if (note[0] == '\0') {
        printf("  ");
        print_columns(item->key, KEY, value);
        return;
    }
    if (columns() < NARROW || strlen(value) >= VALUE) {
        snprintf(words, sizeof words, "%s: %s", value, note);
        printf("  ");
        print_columns(item->key, KEY, words);
        return;
    }
    printf("  %-*s%-*s", KEY, item->key, VALUE, value);
    print_words(note, 2 + KEY + VALUE, 2 + KEY + VALUE);
}

static const struct {
    const char *section;
    const char *title;
} titles[] = {
    {"mpi_library", "MPI library"},
    {"environment", "Environment"},
    {"tuning", "Tuning"},
    {"data_paths", "Data paths"},
    {"routes", "Routes of operations"},
    {"segments", "Shared segments"},
    {"system", "System"},
    {"topology", "Topology"},
    {"fabric", "Fabric"},
};

static const char *title_of(const char *section)
{
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        if (strcmp(titles[i].section, section) == 0)
            return titles[i].title;
    return section;
}

/* What everybody wants to know. */
static const char *const always[] = {"library",     "version",     "mapped",   "cma",
                                     "shm-packets", "net-packets", "net_rdma", "xpmem",
                                     "largest_now", "summary"};

/* What differs from its default, and what does not work where it is expected to. */
static bool is_in_short(const struct item *item)
{
    if (strcmp(item->section, "environment") == 0)
        return strncmp(item->note, "default;", 8) != 0;
    if (strcmp(item->section, "tuning") == 0)
        return false; /* MPIRMA_TUNE has those that differ */
    if (strcmp(item->section, "data_paths") != 0 && item->kind == ITEM_BOOL && !item->number &&
        strcmp(item->key, "yields") != 0)
        return true;
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (strcmp(always[i], item->key) == 0)
            return true;
    return false;
}

void info_text_print(const struct report *report, bool all)
{
    const char *section = "";
    bool set = false;

    printf("libmpi-rma %s for %s %s\n", PACKAGE_VERSION, MPIRMA_HOST, MPIRMA_HOST_VERSION);
    for (size_t i = 0; i < report->nitems; i++) {
        const struct item *item = &report->items[i];
        if (!all && !is_in_short(item))
            continue;
        if (strcmp(section, item->section) != 0)
            printf("\n%s\n", title_of(item->section));
        section = item->section;
        set |= strcmp(section, "environment") == 0;
        print_item(item, all);
    }
    if (all)
        return;
    printf("\n");
    if (!set)
        print_words("All MPIRMA_ variables have their defaults.", 0, 0);
    print_words("More is shown by --all.", 0, 0);
}

/* ---- the network, call by call ---- */

enum step_kind { STEP_ASKED, STEP_OFFERED, STEP_CARD, STEP_OPENED, STEP_NONE };

static const char *const step_titles[] = {
    [STEP_ASKED] = "Asked of libfabric",
    [STEP_OFFERED] = "What it offers",
    [STEP_CARD] = "Cards",
    [STEP_OPENED] = "Opened",
};

/* Steps are told by their words; their keys say only how many came before. */
static enum step_kind step_kind(const struct item *item)
{
    if (strncmp(item->key, "step_", 5) != 0)
        return STEP_NONE;
    if (strncmp(item->text, "fi_getinfo(", 11) == 0)
        return STEP_ASKED;
    if (strncmp(item->text, "card ", 5) == 0)
        return STEP_CARD;
    if (strncmp(item->text, "fi_", 3) != 0 && strstr(item->text, " on ") != NULL &&
        item->note[0] != '\0')
        return STEP_OFFERED;
    return STEP_OPENED;
}

static void print_steps(const struct report *report, enum step_kind kind)
{
    bool titled = false;

    for (size_t i = 0; i < report->nitems; i++) {
        const struct item *item = &report->items[i];
        if (step_kind(item) != kind)
            continue;
        if (!titled)
            printf("\n%s\n", step_titles[kind]);
        titled = true;
        printf("  ");
        print_columns(item->text, CALL, item->note);
    }
}

void info_text_fabric(const struct report *report)
{
    printf("libmpi-rma %s for %s %s\n", PACKAGE_VERSION, MPIRMA_HOST, MPIRMA_HOST_VERSION);
    for (enum step_kind kind = STEP_ASKED; kind < STEP_NONE; kind++)
        print_steps(report, kind);
    printf("\nWhat came of it\n");
    for (size_t i = 0; i < report->nitems; i++)
        if (step_kind(&report->items[i]) == STEP_NONE)
            print_item(&report->items[i], true);
}
