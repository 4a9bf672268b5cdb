/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conf_type.c - see conf_type.h.
 *
 * kinds[] has a row for each kind: how its fields are read and shown. Neighbours: conf.c, which
 * knows the settings.
 */
#include "base/conf_type.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Index of text in a NULL-terminated list, -1 if it is not there. */
static int word_index(const char *const *words, const char *text)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    return -1;
}

/* parse_word reads one of the type's words into an enum. */
static bool parse_word(const struct conf_type *type, void *field, size_t size, const char *text)
{
    const int i = word_index(type->words, text);
    (void)size;
    if (i >= 0)
        memcpy(field, &i, sizeof i);
    return i >= 0;
}

static const char *show_word(const struct conf_type *type, const void *field, char *buf, size_t len)
{
    int i;
    (void)buf, (void)len;
    memcpy(&i, field, sizeof i);
    return type->words[i];
}

static bool parse_bool(const struct conf_type *type, void *field, size_t size, const char *text)
{
    (void)type, (void)size;
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return false;
    *(bool *)field = text[0] == '1';
    return true;
}

static const char *show_bool(const struct conf_type *type, const void *field, char *buf, size_t len)
{
    (void)type, (void)buf, (void)len;
    return *(const bool *)field ? "1" : "0";
}

/* parse_count reads decimal digits only, with nothing before or behind them. */
static bool parse_count(const struct conf_type *type, void *field, size_t size, const char *text)
{
    int value = 0;

    (void)size;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || value > (INT_MAX - (*text - '0')) / 10)
            return false;
        value = value * 10 + (*text - '0');
    }
    if (type->most && (value < type->least || value > type->most))
        return false;
    *(int *)field = value;
    return true;
}

static const char *show_count(const struct conf_type *type, const void *field, char *buf,
                              size_t len)
{
    (void)type;
    snprintf(buf, len, "%d", *(const int *)field);
    return buf;
}

/* parse_threshold reads auto or a count. */
static bool parse_threshold(const struct conf_type *type, void *field, size_t size,
                            const char *text)
{
    if (strcmp(text, "auto") != 0)
        return parse_count(type, field, size, text);
    *(int *)field = CONF_AUTO;
    return true;
}

static const char *show_threshold(const struct conf_type *type, const void *field, char *buf,
                                  size_t len)
{
    return *(const int *)field == CONF_AUTO ? "auto" : show_count(type, field, buf, len);
}

/* parse_seconds reads at least one digit, with at most one point, below 1e9. */
static bool parse_seconds(const struct conf_type *type, void *field, size_t size, const char *text)
{
    double value = 0, unit = 1;
    bool point = false, digit = false;

    (void)type, (void)size;
    for (; *text != '\0'; text++) {
        if (*text == '.' && !point) {
            point = true;
            continue;
        }
        if (*text < '0' || *text > '9')
            return false;
        digit = true;
        value = value * 10 + (*text - '0');
        if (point)
            unit *= 10;
        if (unit > 1e9 || value > 1e18)
            return false;
    }
    if (!digit || value / unit >= 1e9)
        return false;
    *(double *)field = value / unit;
    return true;
}

/* show_seconds prints millionths as integers: a decimal comma of a locale could not be read
 * back. */
static const char *show_seconds(const struct conf_type *type, const void *field, char *buf,
                                size_t len)
{
    const unsigned long long million = 1000000;
    const unsigned long long us = (unsigned long long)(*(const double *)field * 1e6 + 0.5);

    (void)type;
    snprintf(buf, len, "%llu.%06llu", us / million, us % million);
    for (char *end = buf + strlen(buf) - 1; *end == '0' || *end == '.'; end--) {
        const bool whole = *end == '.';
        *end = '\0';
        if (whole)
            break;
    }
    return buf;
}

static bool parse_name(const struct conf_type *type, void *field, size_t size, const char *text)
{
    (void)type;
    if (strlen(text) >= size)
        return false;
    memcpy(field, text, strlen(text) + 1);
    return true;
}

static const char *show_name(const struct conf_type *type, const void *field, char *buf, size_t len)
{
    (void)type;
    snprintf(buf, len, "%s", (const char *)field);
    return buf;
}

static bool parse_directory(const struct conf_type *type, void *field, size_t size,
                            const char *text)
{
    return text[0] == '/' && parse_name(type, field, size, text);
}

/* parse_processors reads numbers of at most four digits, and ranges of them, with commas
 * between. */
static bool parse_processors(const struct conf_type *type, void *field, size_t size,
                             const char *text)
{
    const char *at = text;

    do {
        for (int part = 0; part < 2; part++) {
            const size_t digits = strspn(at, "0123456789");
            if (digits < 1 || digits > 4)
                return false;
            at += digits;
            if (*at != '-' || part == 1)
                break;
            at++;
        }
    } while (*at == ',' && *++at != '\0');
    return *at == '\0' && at[-1] != ',' && parse_name(type, field, size, text);
}

/* parse_stats reads a word that says no or yes, or the name of a file. Such a name must have a dot
 * or a slash, so that no other word is taken for a file. */
static bool parse_stats(const struct conf_type *type, void *field, size_t size, const char *text)
{
    static const char *const no[] = {"0", "no", "off", "false", NULL}, *const yes[] = {"1", "yes",
                                                                                       "on", "true",
                                                                                       NULL};

    if (word_index(no, text) >= 0)
        text = "";
    else if (word_index(yes, text) >= 0)
        text = "1";
    else if (strpbrk(text, "./") == NULL)
        return false;
    return parse_name(type, field, size, text);
}

static const char *show_stats(const struct conf_type *type, const void *field, char *buf,
                              size_t len)
{
    return *(const char *)field == '\0' ? "0" : show_name(type, field, buf, len);
}

static const struct {
    bool (*parse)(const struct conf_type *type, void *field, size_t size, const char *text);
    const char *(*show)(const struct conf_type *type, const void *field, char *buf, size_t len);
} kinds[] = {
    [CONF_BOOL] = {parse_bool, show_bool},
    [CONF_WORD] = {parse_word, show_word},
    [CONF_COUNT] = {parse_count, show_count},
    [CONF_THRESHOLD] = {parse_threshold, show_threshold},
    [CONF_SECONDS] = {parse_seconds, show_seconds},
    [CONF_NAME] = {parse_name, show_name},
    [CONF_DIRECTORY] = {parse_directory, show_name},
    [CONF_PROCESSORS] = {parse_processors, show_name},
    [CONF_STATS] = {parse_stats, show_stats},
};
static_assert(sizeof kinds / sizeof kinds[0] == CONF_TUNE, "a row for all kinds but that one");

bool conf_type_parse(const struct conf_type *type, void *field, size_t size, const char *text)
{
    return kinds[type->kind].parse(type, field, size, text);
}

const char *conf_type_show(const struct conf_type *type, const void *field, char *buf, size_t len)
{
    return kinds[type->kind].show(type, field, buf, len);
}

/* "auto, agent or poll" */
static void list_words(const char *const *words, char *buf, size_t len)
{
    size_t used = 0;

    for (int i = 0; words[i] != NULL && used < len; i++)
        used += (size_t)snprintf(buf + used, len - used, "%s%s",
                                 i == 0                 ? ""
                                 : words[i + 1] == NULL ? " or "
                                                        : ", ",
                                 words[i]);
}

void conf_type_expects(const struct conf_type *type, size_t size, char *buf, size_t len)
{
    const size_t most = size - 1; /* characters of a name */

    switch (type->kind) {
    case CONF_BOOL:
        snprintf(buf, len, "0 or 1");
        return;
    case CONF_WORD:
        list_words(type->words, buf, len);
        return;
    case CONF_COUNT:
        if (type->most == 0)
            snprintf(buf, len, "%s", type->what);
        else if (type->most == INT_MAX)
            snprintf(buf, len, "%s, %d or more", type->what, type->least);
        else
            snprintf(buf, len, "%s, from %d to %d", type->what, type->least, type->most);
        return;
    case CONF_THRESHOLD:
        snprintf(buf, len, "auto, or %s", type->what);
        return;
    case CONF_SECONDS:
        snprintf(buf, len, "seconds, such as %s", type->what);
        return;
    case CONF_NAME:
        snprintf(buf, len, "%s, of at most %zu characters", type->what, most);
        return;
    case CONF_DIRECTORY:
        snprintf(buf, len, "a directory that begins with /, of at most %zu characters", most);
        return;
    case CONF_PROCESSORS:
        snprintf(buf, len, "processors, such as 3 or 0,2-5, of at most %zu characters", most);
        return;
    case CONF_STATS:
        snprintf(
            buf, len,
            "0, no, off or false; 1, yes, on or true; or a file name with a dot or a slash, of "
            "at most %zu characters",
            most);
        return;
    case CONF_TUNE:
    case CONF_KINDS:
        snprintf(buf, len, "name=value, with commas between");
        return;
    }
}
