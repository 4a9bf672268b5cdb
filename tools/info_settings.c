/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_settings.c - the items about the MPIRMA_ environment (info_items.h).
 *
 * Names, values and texts are those of src/base/conf_table.h. A text is Markdown, of which only the
 * words are left. The program has one thread. Neighbours: info_report.c.
 */
#define _GNU_SOURCE 1 /* environ */
#include "info_items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/err.h"

enum { TEXT = sizeof((struct item *)0)->note };

/* At most n letters of text behind what words holds, and NUL. */
static size_t append(char *words, size_t used, const char *text, size_t n)
{
    if (n > TEXT - 1 - used)
        n = TEXT - 1 - used;
    memcpy(words + used, text, n);
    words[used + n] = '\0';
    return used + n;
}

/* The words of Markdown: no backquotes, of a link its text, and nothing of one that stands alone
 * between parentheses, which leads to a part of the guide. */
static void plain_words(const char *markdown, char words[TEXT])
{
    size_t used = append(words, 0, "", 0);

    while (*markdown != '\0') {
        const bool alone = strncmp(markdown, " ([", 3) == 0;
        const char *link = alone ? markdown + 2 : markdown;
        const char *middle = *link == '[' ? strstr(link, "](") : NULL;

        if (middle != NULL) {
            if (!alone)
                used = append(words, used, link + 1, (size_t)(middle - link - 1));
            markdown = middle + strcspn(middle, ")") + (alone ? 2 : 1);
            continue;
        }
        if (*markdown != '`')
            used = append(words, used, markdown, 1);
        markdown++;
    }
}

static void note_setting(struct item *item, const struct conf_var *var, bool set)
{
    char expected[256], words[TEXT];

    conf_expects(var, expected, sizeof expected);
    plain_words(var->text, words);
    item_note(item, "%s; expects %s; %s", set ? "set" : "default", expected, words);
}

/* Each variable by itself, so that one bad value does not hide the others. */
static void report_variables(struct report *report)
{
    struct conf conf;
    char msg[512], buf[512];

    for (const struct conf_var *var = conf_vars; var->name != NULL; var++) {
        const char *text = getenv(var->name);
        if (conf_load_only(var->name, &conf, msg, sizeof msg) != MRMA_SUCCESS) {
            report->bad_environment = true;
            item_note(item_text(report, "environment", var->name, text), "ERROR: %s", msg);
            continue;
        }
        note_setting(item_text(report, "environment", var->name,
                               conf_value(&conf, var->name, buf, sizeof buf)),
                     var, text != NULL && *text != '\0');
    }
}

/* A word behind those of a list that are there. */
static void add_word(char *list, size_t len, const char *word, size_t word_len)
{
    const size_t used = strlen(list);

    snprintf(list + used, len - used, "%s%.*s", used > 0 ? " " : "", (int)word_len, word);
}

/* A misspelt name would otherwise just do nothing. */
static void report_unknown(struct report *report)
{
    const char *tune = getenv("MPIRMA_TUNE");
    struct conf_unknown unknown;
    char names[256] = "", near[256] = "";

    for (char **entry = environ; *entry != NULL; entry++)
        if (conf_unknown_variable(*entry, &unknown)) {
            add_word(names, sizeof names, unknown.name, unknown.len);
            if (unknown.near != NULL)
                add_word(near, sizeof near, unknown.near, strlen(unknown.near));
        }
    while (tune != NULL && conf_unknown_next(&tune, &unknown)) {
        add_word(names, sizeof names, unknown.name, unknown.len);
        if (unknown.near != NULL)
            add_word(near, sizeof near, unknown.near, strlen(unknown.near));
    }
    if (names[0] != '\0')
        item_note(item_text(report, "environment", "unknown", names),
                  "set, but no settings of this version%s%s", near[0] ? "; near are: " : "", near);
}

/* The environment of MPIRMA_TUNE and of the names before it. */
static char *lookup_tuning(const char *name)
{
    if (strcmp(name, "MPIRMA_TUNE") == 0)
        return getenv(name);
    for (const struct conf_var *var = conf_vars; var->name != NULL; var++)
        if (strcmp(name, var->name) == 0)
            return NULL;
    return getenv(name);
}

/* Where a value is not understood only the defaults are told. */
static void report_tuning(struct report *report)
{
    char msg[512], names[512], tune[1024], buf[64], usual[64];
    struct conf conf = conf_default;

    if (conf_old_names(getenv, names, sizeof names, tune, sizeof tune) > 0)
        item_note(item_text(report, "environment", "old names", names),
                  "the next release will not know them; set MPIRMA_TUNE=%s instead", tune);
    if (conf_load(&conf, lookup_tuning, msg, sizeof msg) != MRMA_SUCCESS) {
        report->bad_environment = true;
        if (strncmp(msg, "MPIRMA_TUNE=", 12) != 0) /* which report_variables has */
            item_note(item_text(report, "environment", "old name", "not understood"), "ERROR: %s",
                      msg);
    }
    for (const struct conf_var *var = conf_tuning; var->name != NULL; var++) {
        const char *value = conf_value(&conf, var->name, buf, sizeof buf);

        note_setting(item_text(report, "tuning", var->name, value), var,
                     strcmp(value, conf_value(&conf_default, var->name, usual, sizeof usual)) != 0);
    }
}

void report_settings(struct report *report)
{
    report_variables(report);
    report_unknown(report);
    report_tuning(report);
}
