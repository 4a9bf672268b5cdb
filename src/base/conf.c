/*
 * conf.c - one table of variables: how each is read and how it is shown.
 *
 * rows[] and conf_vars[] run in parallel (conf_vars is what other files may see;
 * a static assert keeps them equally long and test_conf.c checks that every
 * variable is read and shown). An unset variable and an empty one both mean the
 * default. *conf is written only when every variable was understood. Numbers are
 * parsed here and not by strtod, whose decimal point follows the application's
 * locale. No state, no locks. Neighbours: engine.c loads, mpi-rma-info shows.
 */
#include "base/conf.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

struct row {
    bool (*parse)(struct conf *conf, const char *text);
    const char *(*show)(const struct conf *conf, char *buf, size_t len);
};

static const char *const path_words[] = {
    [CONF_PATH_AUTO] = "auto",
    [CONF_PATH_MAPPED] = "mapped",
    [CONF_PATH_CMA] = "cma",
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

static const char *const native_words[] = {
    [CONF_NATIVE_AUTO] = "auto",
    [CONF_NATIVE_ON] = "on",
    [CONF_NATIVE_OFF] = "off",
    NULL,
};

static const char *const fence_words[] = {
    [CONF_FENCE_AUTO] = "auto",
    [CONF_FENCE_MARKERS] = "markers",
    [CONF_FENCE_COUNTS] = "counts",
    NULL,
};

static const char *const level_words[] = {
    [LOG_LEVEL_ERROR] = "error",
    [LOG_LEVEL_WARN] = "warn",
    [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_DEBUG] = "debug",
    [LOG_LEVEL_TRACE] = "trace",
    NULL,
};

/* Index of text in a NULL-terminated list, -1 if it is not there. */
static int word_index(const char *const *words, const char *text)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    return -1;
}

static bool parse_bool(bool *out, const char *text)
{
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return false;
    *out = text[0] == '1';
    return true;
}

/* Decimal digits only; nothing before or after them. */
static bool parse_count(int *out, const char *text)
{
    int value = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || value > (INT_MAX - (*text - '0')) / 10)
            return false;
        value = value * 10 + (*text - '0');
    }
    *out = value;
    return true;
}

/* Digits with at most one point, at least one digit, below 1e9. */
static bool parse_seconds(double *out, const char *text)
{
    double value = 0, unit = 1;
    bool point = false, digit = false;

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
    *out = value / unit;
    return true;
}

static bool parse_name(char *out, size_t len, const char *text)
{
    if (strlen(text) >= len)
        return false;
    memcpy(out, text, strlen(text) + 1);
    return true;
}

static const char *show_bool(bool value)
{
    return value ? "1" : "0";
}

static bool parse_disable(struct conf *conf, const char *text)
{
    return parse_bool(&conf->disable, text);
}

static const char *show_disable(const struct conf *conf, char *buf, size_t len)
{
    (void)buf, (void)len;
    return show_bool(conf->disable);
}

static bool parse_path(struct conf *conf, const char *text)
{
    int i = word_index(path_words, text);
    if (i >= 0)
        conf->path = (enum conf_path)i;
    return i >= 0;
}

static const char *show_path(const struct conf *conf, char *buf, size_t len)
{
    (void)buf, (void)len;
    return path_words[conf->path];
}

static bool parse_ranks_per_node(struct conf *conf, const char *text)
{
    return parse_count(&conf->ranks_per_node, text);
}

static const char *show_ranks_per_node(const struct conf *conf, char *buf, size_t len)
{
    snprintf(buf, len, "%d", conf->ranks_per_node);
    return buf;
}

static bool parse_progress(struct conf *conf, const char *text)
{
    int i = word_index(progress_words, text);
    if (i >= 0)
        conf->progress = (enum conf_progress)i;
    return i >= 0;
}

static const char *show_progress(const struct conf *conf, char *buf, size_t len)
{
    (void)buf, (void)len;
    return progress_words[conf->progress];
}

static bool parse_fence(struct conf *conf, const char *text)
{
    int i = word_index(fence_words, text);
    if (i >= 0)
        conf->fence = (enum conf_fence)i;
    return i >= 0;
}

static const char *show_fence(const struct conf *conf, char *buf, size_t len)
{
    (void)buf, (void)len;
    return fence_words[conf->fence];
}

static bool parse_segment_dir(struct conf *conf, const char *text)
{
    return text[0] == '/' && parse_name(conf->segment_dir, sizeof conf->segment_dir, text);
}

static const char *show_segment_dir(const struct conf *conf, char *buf, size_t len)
{
    snprintf(buf, len, "%s", conf->segment_dir);
    return buf;
}

static bool parse_stats(struct conf *conf, const char *text)
{
    return parse_name(conf->stats, sizeof conf->stats, strcmp(text, "0") == 0 ? "" : text);
}

static const char *show_stats(const struct conf *conf, char *buf, size_t len)
{
    snprintf(buf, len, "%s", conf->stats[0] == '\0' ? "0" : conf->stats);
    return buf;
}

static bool parse_strict(struct conf *conf, const char *text)
{
    return parse_bool(&conf->strict, text);
}

static const char *show_strict(const struct conf *conf, char *buf, size_t len)
{
    (void)buf, (void)len;
    return show_bool(conf->strict);
}

static bool parse_hang_report(struct conf *conf, const char *text)
{
    return parse_seconds(&conf->hang_report, text);
}

/* Thousandths printed as integers: a locale's decimal comma would not read back. */
static const char *show_hang_report(const struct conf *conf, char *buf, size_t len)
{
    unsigned long long ms = (unsigned long long)(conf->hang_report * 1000 + 0.5);
    if (ms % 1000 == 0)
        snprintf(buf, len, "%llu", ms / 1000);
    else
        snprintf(buf, len, "%llu.%03llu", ms / 1000, ms % 1000);
    return buf;
}

static bool parse_ofi_provider(struct conf *conf, const char *text)
{
    return parse_name(conf->ofi_provider, sizeof conf->ofi_provider, text);
}

static const char *show_ofi_provider(const struct conf *conf, char *buf, size_t len)
{
    snprintf(buf, len, "%s", conf->ofi_provider);
    return buf;
}

static bool parse_ofi_interface(struct conf *conf, const char *text)
{
    return parse_name(conf->ofi_interface, sizeof conf->ofi_interface, text);
}

static const char *show_ofi_interface(const struct conf *conf, char *buf, size_t len)
{
    snprintf(buf, len, "%s", conf->ofi_interface);
    return buf;
}

static bool parse_ofi_native(struct conf *conf, const char *text)
{
    int i = word_index(native_words, text);
    if (i >= 0)
        conf->ofi_native = (enum conf_native)i;
    return i >= 0;
}

static const char *show_ofi_native(const struct conf *conf, char *buf, size_t len)
{
    (void)buf, (void)len;
    return native_words[conf->ofi_native];
}

static bool parse_log(struct conf *conf, const char *text)
{
    int i = word_index(level_words, text);
    if (i >= 0)
        conf->log_level = (enum log_level)i;
    return i >= 0;
}

static const char *show_log(const struct conf *conf, char *buf, size_t len)
{
    (void)buf, (void)len;
    return level_words[conf->log_level];
}

const struct conf_var conf_vars[] = {
    { "MPIRMA_DISABLE", "0 or 1", "1: pass every call to the host's own RMA" },
    { "MPIRMA_PATH", "auto, mapped, cma, shm-packets or net-packets",
      "force one data path; a window that cannot use it is refused with a message" },
    { "MPIRMA_RANKS_PER_NODE", "a whole number (0: the real nodes)",
      "pretend that every k consecutive ranks are a node" },
    { "MPIRMA_PROGRESS", "auto, agent or poll", "who serves packets: a thread, or calls into the library" },
    { "MPIRMA_FENCE", "auto, markers or counts",
      "how a fence learns what others have sent: a message from each, or sums along the way" },
    { "MPIRMA_SEGMENT_DIR", "an absolute directory name of at most 255 characters",
      "where shared segments live as unnamed files; unset: anonymous memory (memfd)" },
    { "MPIRMA_STATS", "0, 1 (standard error) or a file name of at most 255 characters",
      "print at MPI_Finalize what went over which path" },
    { "MPIRMA_STRICT", "0 or 1", "1: check also what costs time (conflicting accesses, hints, asserts)" },
    { "MPIRMA_HANG_REPORT", "seconds, e.g. 30 or 0.5 (0: off)",
      "report where a call waits when it has waited this long" },
    { "MPIRMA_OFI_PROVIDER", "a libfabric provider name of at most 63 characters, e.g. tcp;ofi_rxm",
      "use this network provider; unset: the best that has what is needed" },
    { "MPIRMA_OFI_INTERFACE", "an interface name or address of at most 63 characters, e.g. eth0",
      "use this network interface; unset: loopback within a machine, else the provider's first other one" },
    { "MPIRMA_OFI_NATIVE", "auto, on or off",
      "put and get by the provider's own remote memory access: where it is worth it, wherever possible, never" },
    { "MPIRMA_LOG", "error, warn, info, debug or trace", "messages up to this level go to standard error" },
    { NULL, NULL, NULL },
};

static const struct row rows[] = {
    { parse_disable, show_disable },
    { parse_path, show_path },
    { parse_ranks_per_node, show_ranks_per_node },
    { parse_progress, show_progress },
    { parse_fence, show_fence },
    { parse_segment_dir, show_segment_dir },
    { parse_stats, show_stats },
    { parse_strict, show_strict },
    { parse_hang_report, show_hang_report },
    { parse_ofi_provider, show_ofi_provider },
    { parse_ofi_interface, show_ofi_interface },
    { parse_ofi_native, show_ofi_native },
    { parse_log, show_log },
};
static_assert(sizeof rows / sizeof rows[0] + 1 == sizeof conf_vars / sizeof conf_vars[0],
              "one row per variable, in the same order");

int conf_load(struct conf *conf, char *(*lookup)(const char *name), char *msg, size_t msg_len)
{
    struct conf fresh = { .log_level = LOG_LEVEL_WARN };

    for (size_t i = 0; conf_vars[i].name != NULL; i++) {
        const char *text = lookup(conf_vars[i].name);
        if (text == NULL || *text == '\0' || rows[i].parse(&fresh, text))
            continue;
        snprintf(msg, msg_len, "%s=\"%.200s\" is not understood: expected %s", conf_vars[i].name, text,
                 conf_vars[i].expected);
        return MRMA_ERR_ARG;
    }
    *conf = fresh;
    return MRMA_SUCCESS;
}

/* NULL if there is no variable of that name. */
const char *conf_value(const struct conf *conf, const char *name, char *buf, size_t len)
{
    for (size_t i = 0; conf_vars[i].name != NULL; i++)
        if (strcmp(conf_vars[i].name, name) == 0)
            return rows[i].show(conf, buf, len);
    return NULL;
}
