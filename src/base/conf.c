/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conf.c - loads the settings, shows them, and finds names that no setting has.
 *
 * The rows of conf_table.h become conf_vars and conf_tuning, and their defaults conf_default. An
 * unset variable and an empty one both mean the default. *conf is written only when every variable
 * was understood. No state, no locks. Neighbours: engine.c loads, mpi-rma-info shows,
 * mpi/process/tell_environment.c tells.
 */
#include "base/conf.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/conf_table.h"
#include "base/err.h"
#include "base/edit_distance.h"

static const char *const path_words[] = {
    [CONF_PATH_AUTO] = "auto",
    [CONF_PATH_MAPPED] = "mapped",
    [CONF_PATH_ASSISTED] = "cma",
    [CONF_PATH_SHM_PACKETS] = "shm-packets",
    [CONF_PATH_NET_PACKETS] = "net-packets",
    NULL,
};

static const char *const progress_words[] = {
    [CONF_PROGRESS_AUTO] = "auto",
    [CONF_PROGRESS_AGENT] = "agent",
    [CONF_PROGRESS_POLL] = "poll",
    NULL,
};

static const char *const ptracer_words[] = {
    [CONF_PTRACER_ANY] = "any",
    [CONF_PTRACER_UNCHANGED] = "unchanged",
    NULL,
};

static const char *const xpmem_words[] = {
    [CONF_XPMEM_AUTO] = "auto",
    [CONF_XPMEM_YES] = "yes",
    [CONF_XPMEM_NO] = "no",
    NULL,
};

static const char *const rdma_words[] = {
    [CONF_RDMA_AUTO] = "auto",
    [CONF_RDMA_ON] = "on",
    [CONF_RDMA_OFF] = "off",
    NULL,
};

static const char *const fence_words[] = {
    [CONF_FENCE_AUTO] = "auto",
    [CONF_FENCE_MARKERS] = "markers",
    [CONF_FENCE_COUNTS] = "counts",
    NULL,
};

static const char *const errors_words[] = {
    [CONF_ERRORS_OWN] = "own",
    [CONF_ERRORS_CLASS] = "class",
    NULL,
};

static const char *const alloc_words[] = {
    [CONF_ALLOC_SHARED] = "shared",
    [CONF_ALLOC_HOST] = "host",
    NULL,
};

static const char *const level_words[] = {
    [LOG_LEVEL_ERROR] = "error", [LOG_LEVEL_WARN] = "warn",   [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_DEBUG] = "debug", [LOG_LEVEL_TRACE] = "trace", NULL,
};

static_assert(sizeof(enum conf_path) == sizeof(int) && sizeof(enum conf_progress) == sizeof(int) &&
                  sizeof(enum conf_fence) == sizeof(int) && sizeof(enum conf_rdma) == sizeof(int) &&
                  sizeof(enum conf_ptracer) == sizeof(int) &&
                  sizeof(enum conf_xpmem) == sizeof(int) &&
                  sizeof(enum conf_errors) == sizeof(int) &&
                  sizeof(enum conf_alloc) == sizeof(int) && sizeof(enum log_level) == sizeof(int),
              "words are stored as int");

/* clang-format off */
#define BOOL {.kind = CONF_BOOL}
#define WORDS(list) {.kind = CONF_WORD, .words = list##_words}
#define COUNT(unit) {.kind = CONF_COUNT, .what = unit}
#define BOUNDED(unit, low, high) {.kind = CONF_COUNT, .what = unit, .least = low, .most = high}
#define THRESHOLD(unit) {.kind = CONF_THRESHOLD, .what = unit}
#define SECONDS(example) {.kind = CONF_SECONDS, .what = example}
#define NAME(of) {.kind = CONF_NAME, .what = of}
#define DIRECTORY {.kind = CONF_DIRECTORY}
#define PROCESSORS {.kind = CONF_PROCESSORS}
#define STATS {.kind = CONF_STATS}
#define TUNE {.kind = CONF_TUNE}

#define AT(field) offsetof(struct conf, field), sizeof(((struct conf *)0)->field)
#define VARIABLE(field, name, type, value, text) {name, text, type, AT(field)},
#define PARAMETER(field, name, type, value, text) {name, text, type, AT(tune.field)},
#define DEFAULT(field, name, type, value, text) .field = value,
#define CONF_TUNE_DEFAULTS {CONF_TUNING(DEFAULT)}
/* clang-format on */

const struct conf_var conf_vars[] = {CONF_VARIABLES(VARIABLE){.name = NULL}};
const struct conf_var conf_tuning[] = {CONF_TUNING(PARAMETER){.name = NULL}};
const struct conf conf_default = {CONF_VARIABLES(DEFAULT)};

enum { OLD_NAME = 40, TUNE_TEXT = 512, SETTING = 64 };

/* ---- names ---- */

/* find returns the row that has the first len letters of name as its name, or NULL. */
static const struct conf_var *find(const struct conf_var *rows, const char *name, size_t len)
{
    for (; rows->name != NULL; rows++)
        if (strlen(rows->name) == len && memcmp(rows->name, name, len) == 0)
            return rows;
    return NULL;
}

/* old_name writes the variable that a tuning parameter was once, such as MPIRMA_STAGE. */
static void old_name(const struct conf_var *var, char old[OLD_NAME])
{
    int n = snprintf(old, OLD_NAME, "MPIRMA_%s", var->name);

    for (int i = 0; i < n && i < OLD_NAME - 1; i++)
        old[i] = (char)toupper((unsigned char)old[i]);
}

/* nearest compares names behind their first skip letters, which all names have in common. */
static const char *nearest(const struct conf_var *rows, const char *name, size_t len, size_t skip)
{
    const char *best = NULL;
    size_t least = SIZE_MAX;

    for (; rows->name != NULL; rows++) {
        const size_t now = edit_distance(name + skip, len - skip, rows->name + skip);

        if (now < least) {
            least = now;
            best = rows->name;
        }
    }
    return best && nearest_is_near(name + skip, len - skip, best + skip) ? best : NULL;
}

bool conf_unknown_variable(const char *setting, struct conf_unknown *unknown)
{
    const size_t len = strcspn(setting, "="), prefix = strlen("MPIRMA_");
    char old[OLD_NAME];

    if (strncmp(setting, "MPIRMA_", prefix) != 0 || find(conf_vars, setting, len))
        return false;
    for (const struct conf_var *var = conf_tuning; var->name != NULL; var++) {
        old_name(var, old);
        if (strlen(old) == len && memcmp(old, setting, len) == 0)
            return false;
    }
    *unknown = (struct conf_unknown){setting, len, nearest(conf_vars, setting, len, prefix)};
    return true;
}

/* ---- MPIRMA_TUNE ---- */

/* One name=value of a list; name is not terminated. var is NULL if no parameter has the name. */
struct element {
    const char *name;
    size_t name_len;
    const char *value; /* NULL: the element has no "=" */
    size_t value_len;
    const struct conf_var *var;
};

/* next_element reads the next element of a list that is not empty. */
static bool next_element(const char **at, struct element *e)
{
    *at += strspn(*at, ",");
    if (**at == '\0')
        return false;
    const size_t len = strcspn(*at, ",");
    e->name = *at;
    e->name_len = strcspn(*at, "=,");
    e->value = e->name_len < len ? *at + e->name_len + 1 : NULL;
    e->value_len = e->value ? len - e->name_len - 1 : 0;
    e->var = find(conf_tuning, e->name, e->name_len);
    *at += len;
    return true;
}

bool conf_unknown_next(const char **at, struct conf_unknown *unknown)
{
    struct element e;

    while (next_element(at, &e))
        if (e.var == NULL) {
            *unknown = (struct conf_unknown){e.name, e.name_len,
                                             nearest(conf_tuning, e.name, e.name_len, 0)};
            return true;
        }
    return false;
}

/* set reads text into the field of a row; empty text means the default. */
static bool set(struct conf *conf, const struct conf_var *var, const char *text)
{
    char *field = (char *)conf + var->at;

    if (*text != '\0')
        return conf_type_parse(&var->type, field, var->size, text);
    memcpy(field, (const char *)&conf_default + var->at, var->size);
    return true;
}

static int refuse(const char *name, const char *text, const struct conf_var *var,
                  const char *subject, char *msg, size_t msg_len)
{
    char expected[256];

    conf_expects(var, expected, sizeof expected);
    snprintf(msg, msg_len, "%s=\"%.200s\" is not understood: expected %s%s", name, text, subject,
             expected);
    return MRMA_ERR_ARG;
}

static int load_tune(struct conf *conf, const struct conf_var *tune, const char *list, char *msg,
                     size_t msg_len)
{
    const char *at = list;
    struct element e;

    while (next_element(&at, &e)) {
        char value[SETTING], subject[SETTING];

        if (e.value == NULL)
            return refuse(tune->name, list, tune, "", msg, msg_len);
        if (e.var == NULL)
            continue;
        snprintf(value, sizeof value, "%.*s", (int)e.value_len, e.value);
        if (e.value_len < sizeof value && set(conf, e.var, value))
            continue;
        snprintf(subject, sizeof subject, "for %s ", e.var->name);
        return refuse(tune->name, list, e.var, subject, msg, msg_len);
    }
    return MRMA_SUCCESS;
}

/* show_tune writes the tuning parameters that differ from their defaults. */
static const char *show_tune(const struct conf *conf, char *buf, size_t len)
{
    size_t used = 0;

    buf[0] = '\0';
    for (const struct conf_var *var = conf_tuning; var->name != NULL && used < len; var++) {
        char now[SETTING], usual[SETTING];
        const char *value = conf_value(conf, var->name, now, sizeof now);

        if (strcmp(value, conf_value(&conf_default, var->name, usual, sizeof usual)) != 0)
            used += (size_t)snprintf(buf + used, len - used, "%s%s=%s", used > 0 ? "," : "",
                                     var->name, value);
    }
    return buf;
}

/* ---- all of them ---- */

static int load_old_names(struct conf *conf, char *(*lookup)(const char *name), char *msg,
                          size_t msg_len)
{
    char old[OLD_NAME];

    for (const struct conf_var *var = conf_tuning; var->name != NULL; var++) {
        old_name(var, old);
        const char *text = lookup(old);
        if (text != NULL && !set(conf, var, text))
            return refuse(old, text, var, "", msg, msg_len);
    }
    return MRMA_SUCCESS;
}

int conf_load(struct conf *conf, char *(*lookup)(const char *name), char *msg, size_t msg_len)
{
    struct conf fresh = conf_default;
    int err = load_old_names(&fresh, lookup, msg, msg_len);

    for (const struct conf_var *var = conf_vars; !err && var->name != NULL; var++) {
        const char *text = lookup(var->name);
        if (text == NULL)
            continue;
        if (var->type.kind == CONF_TUNE)
            err = load_tune(&fresh, var, text, msg, msg_len);
        else if (!set(&fresh, var, text))
            err = refuse(var->name, text, var, "", msg, msg_len);
    }
    if (!err)
        *conf = fresh;
    return err;
}

int conf_old_names(char *(*lookup)(const char *name), char *names, size_t len, char *tune,
                   size_t tune_len)
{
    const char *list = lookup("MPIRMA_TUNE");
    size_t in_names = 0, in_tune = 0;
    int n = 0;

    names[0] = tune[0] = '\0';
    for (const struct conf_var *var = conf_tuning; var->name != NULL; var++) {
        char old[OLD_NAME];

        old_name(var, old);
        const char *text = lookup(old);
        if (text == NULL || *text == '\0' || in_names >= len || in_tune >= tune_len)
            continue;
        in_names += (size_t)snprintf(names + in_names, len - in_names, "%s%s", n ? " " : "", old);
        in_tune += (size_t)snprintf(tune + in_tune, tune_len - in_tune, "%s%s=%s", n ? "," : "",
                                    var->name, text);
        n++;
    }
    if (list != NULL && *list != '\0' && n > 0 && in_tune < tune_len)
        snprintf(tune + in_tune, tune_len - in_tune, ",%s", list);
    return n;
}

const char *conf_value(const struct conf *conf, const char *name, char *buf, size_t len)
{
    const struct conf_var *var = find(conf_vars, name, strlen(name));

    if (var == NULL)
        var = find(conf_tuning, name, strlen(name));
    if (var == NULL)
        return NULL;
    if (var->type.kind == CONF_TUNE)
        return show_tune(conf, buf, len);
    return conf_type_show(&var->type, (const char *)conf + var->at, buf, len);
}

void conf_expects(const struct conf_var *var, char *buf, size_t len)
{
    conf_type_expects(&var->type, var->size, buf, len);
}
