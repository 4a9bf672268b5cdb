/* SPDX-License-Identifier: BSD-3-Clause */
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
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/nearest.h"

/* How a variable is read and shown; what both are told of it besides. */
struct row {
    bool (*parse)(const struct row *row, void *field, const char *text);
    const char *(*show)(const struct row *row, const void *field, char *buf, size_t len);
    size_t at, len;           /* the field in struct conf */
    const char *const *words; /* words: in the order of their enum */
    int least, most;          /* numbers within bounds; most 0: any number */
};

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

static const char *const error_words[] = {
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

/* Index of text in a NULL-terminated list, -1 if it is not there. */
static int word_index(const char *const *words, const char *text)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    return -1;
}

/* One of the row's words, into an enum. */
static bool parse_word(const struct row *row, void *field, const char *text)
{
    const int i = word_index(row->words, text);
    if (i >= 0)
        memcpy(field, &i, sizeof i);
    return i >= 0;
}

static const char *show_word(const struct row *row, const void *field, char *buf, size_t len)
{
    int i;
    (void)buf, (void)len;
    memcpy(&i, field, sizeof i);
    return row->words[i];
}

static bool parse_bool(const struct row *row, void *field, const char *text)
{
    (void)row;
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return false;
    *(bool *)field = text[0] == '1';
    return true;
}

static const char *show_bool(const struct row *row, const void *field, char *buf, size_t len)
{
    (void)row, (void)buf, (void)len;
    return *(const bool *)field ? "1" : "0";
}

/* Decimal digits only; nothing before or after them. */
static bool parse_count(const struct row *row, void *field, const char *text)
{
    int value = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || value > (INT_MAX - (*text - '0')) / 10)
            return false;
        value = value * 10 + (*text - '0');
    }
    if (row->most && (value < row->least || value > row->most))
        return false;
    *(int *)field = value;
    return true;
}

static const char *show_count(const struct row *row, const void *field, char *buf, size_t len)
{
    (void)row;
    snprintf(buf, len, "%d", *(const int *)field);
    return buf;
}

/* A threshold: auto, or a count. */
static bool parse_threshold(const struct row *row, void *field, const char *text)
{
    if (strcmp(text, "auto") != 0)
        return parse_count(row, field, text);
    *(int *)field = CONF_RDMA_TABLE;
    return true;
}

static const char *show_threshold(const struct row *row, const void *field, char *buf, size_t len)
{
    return *(const int *)field == CONF_RDMA_TABLE ? "auto" : show_count(row, field, buf, len);
}

/* Digits with at most one point, at least one digit, below 1e9. */
static bool parse_seconds(const struct row *row, void *field, const char *text)
{
    double value = 0, unit = 1;
    bool point = false, digit = false;

    (void)row;
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

/* Thousandths, or millionths, printed as integers: a locale's decimal comma would not read back. */
static const char *show_seconds(const struct row *row, const void *field, char *buf, size_t len)
{
    const unsigned long long million = 1000000;
    const unsigned long long us = (unsigned long long)(*(const double *)field * 1e6 + 0.5);
    (void)row;
    if (us % million == 0)
        snprintf(buf, len, "%llu", us / million);
    else if (us % 1000 == 0)
        snprintf(buf, len, "%llu.%03llu", us / million, us % million / 1000);
    else
        snprintf(buf, len, "%llu.%06llu", us / million, us % million);
    return buf;
}

static bool parse_name(const struct row *row, void *field, const char *text)
{
    if (strlen(text) >= row->len)
        return false;
    memcpy(field, text, strlen(text) + 1);
    return true;
}

static const char *show_name(const struct row *row, const void *field, char *buf, size_t len)
{
    (void)row;
    snprintf(buf, len, "%s", (const char *)field);
    return buf;
}

static bool parse_directory(const struct row *row, void *field, const char *text)
{
    return text[0] == '/' && parse_name(row, field, text);
}

/* Numbers of at most four digits, and ranges of them, with commas between. */
static bool parse_processors(const struct row *row, void *field, const char *text)
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
    return *at == '\0' && at[-1] != ',' && parse_name(row, field, text);
}

/* A word that says no or yes, or a file's name, which has a dot or a slash: so no other word is
 * taken for a file. */
static bool parse_stats(const struct row *row, void *field, const char *text)
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
    return parse_name(row, field, text);
}

static const char *show_stats(const struct row *row, const void *field, char *buf, size_t len)
{
    return *(const char *)field == '\0' ? "0" : show_name(row, field, buf, len);
}

const struct conf_var conf_vars[] = {
    {"MPIRMA_DISABLE", "0 or 1", "1: pass every call to the host's own RMA"},
    {"MPIRMA_PATH", "auto, mapped, cma, shm-packets or net-packets",
     "force one data path; a window that cannot use it is refused with a message"},
    {"MPIRMA_RANKS_PER_NODE", "a whole number (0: the real nodes)",
     "pretend that every k consecutive ranks are a node"},
    {"MPIRMA_PROGRESS", "auto, agent or poll",
     "who serves packets: a thread, or calls into the library"},
    {"MPIRMA_AGENT_CPU", "processors as in 3 or 0,2-5, of at most 63 characters",
     "the agent thread runs on these alone; unset: where the program's threads may"},
    {"MPIRMA_FENCE", "auto, markers or counts",
     "how a fence learns what others have sent: a message from each, or sums along the way"},
    {"MPIRMA_ALLOC_MEM", "shared or host",
     "whose memory MPI_Alloc_mem gives: the library's, which windows map, or the host's"},
    {"MPIRMA_SEGMENT_DIR", "an absolute directory name of at most 255 characters",
     "where shared segments live as unnamed files; unset: anonymous memory (memfd)"},
    {"MPIRMA_PTRACER", "any or unchanged",
     "any: all processes of this user may attach to this one, where Yama's ptrace scope 1 would "
     "refuse it"},
    {"MPIRMA_XPMEM", "auto, yes or no",
     "auto: memory that is not shared is mapped by XPMEM where the kernel has that module; yes: "
     "tried where its device is not seen, too"},
    {"MPIRMA_STATS",
     "0 or no, 1 or yes (standard error), or a file name with a dot or a slash, of at most 255 "
     "characters, as in FILE.csv or FILE.json",
     "tell at MPI_Finalize how much the job has moved over which path; the same for all processes"},
    {"MPIRMA_TRACE", "a directory name of at most 255 characters",
     "record there what the one-sided calls do, for mpi-rma-trace; the same for all processes"},
    {"MPIRMA_TRACE_CONFLICTS", "0 or 1",
     "1: record also which memory they access, so that mpi-rma-trace finds conflicting accesses; "
     "mpi-rma-run --conflicts sets it and loads what is needed"},
    {"MPIRMA_STRICT", "0 or 1",
     "1: check also what costs time (conflicting accesses, hints, asserts)"},
    {"MPIRMA_ERROR_CODES", "own or class",
     "own: MPI_Error_string of what a call returns says what was wrong; class: calls return "
     "classes"},
    {"MPIRMA_HANG_REPORT", "seconds, e.g. 30 or 0.5 (0: off)",
     "report where a call waits when it has waited this long"},
    {"MPIRMA_OFI_PROVIDER", "a libfabric provider name of at most 63 characters, e.g. tcp;ofi_rxm",
     "use this network provider; unset: the best that has what is needed"},
    {"MPIRMA_OFI_INTERFACE", "an interface name or address of at most 63 characters, e.g. eth0",
     "use this network interface; unset: loopback within a machine, else the provider's first "
     "other one"},
    {"MPIRMA_OFI_RDMA", "auto, on or off",
     "put and get by the provider's own remote memory access: where it is worth it, wherever "
     "possible, never"},
    {"MPIRMA_LOG", "error, warn, info, debug or trace",
     "messages up to this level go to standard error"},
    {"MPIRMA_STAGE", "bytes, from 128 to 32768",
     "small puts of a PSCW epoch that need not wait for the target's post, from each process"},
    {"MPIRMA_CMA_STAGE", "bytes, from 128 to 32768",
     "the same, and small puts of a fence epoch that need no system call, by cma"},
    {"MPIRMA_CMA_QUEUE_MAX", "bytes (0: none)",
     "puts and gets by cma of up to that size share system calls"},
    {"MPIRMA_CMA_QUEUE", "bytes, from 0 to 1048576", "puts and gets that share a system call"},
    {"MPIRMA_CMA_PACKET_MAX", "bytes",
     "puts and gets by cma of up to that size are done by a target that polls, from a packet"},
    {"MPIRMA_CMA_PIECES", "a whole number, from 1 on",
     "operations by cma on so many pieces are done by the target's agent, from a packet"},
    {"MPIRMA_RDMA_MIN", "auto, or bytes",
     "puts and gets of that size that the network does by itself"},
    {"MPIRMA_RDMA_MIN_PASSIVE", "auto, or bytes",
     "the same in passive target epochs, once the target has granted the lock"},
    {"MPIRMA_RDMA_MANY", "auto, or bytes",
     "after so much by packet in a fence or PSCW epoch the network does shorter ones by itself"},
    {"MPIRMA_RDMA_SEGMENTS", "auto, or a whole number",
     "puts and gets in at most so many pieces that the network does by itself"},
    {"MPIRMA_RDMA_NOTIFY", "auto, on or off",
     "a put that the network does by itself takes its notification with it"},
    {"MPIRMA_DEFER_WAIT", "seconds, e.g. 0.0002 (0: not at all)",
     "so long the first operation of an epoch that packets may not carry yet waits in its call"},
    {"MPIRMA_DEFER_QUEUE", "bytes",
     "operations that are deferred for a target; a call beyond them waits itself"},
    {"MPIRMA_DEFER_COPY_MAX", "bytes",
     "data of up to that size is copied when its operation is deferred"},
    {NULL, NULL, NULL},
};

#define FIELD(name) .at = offsetof(struct conf, name), .len = sizeof(((struct conf *)0)->name)
#define WORD(name, list)                                  \
    {                                                     \
        parse_word, show_word, FIELD(name), .words = list \
    }

enum { STAGE_MOST = 32768, QUEUE_MOST = 1 << 20 };

static const struct row rows[] = {
    {parse_bool, show_bool, FIELD(disable)},
    WORD(path, path_words),
    {parse_count, show_count, FIELD(ranks_per_node)},
    WORD(progress, progress_words),
    {parse_processors, show_name, FIELD(agent_cpu)},
    WORD(fence, fence_words),
    WORD(alloc_mem, alloc_words),
    {parse_directory, show_name, FIELD(segment_dir)},
    WORD(ptracer, ptracer_words),
    WORD(xpmem, xpmem_words),
    {parse_stats, show_stats, FIELD(stats)},
    {parse_name, show_name, FIELD(trace)},
    {parse_bool, show_bool, FIELD(trace_conflicts)},
    {parse_bool, show_bool, FIELD(strict)},
    WORD(error_codes, error_words),
    {parse_seconds, show_seconds, FIELD(hang_report)},
    {parse_name, show_name, FIELD(ofi_provider)},
    {parse_name, show_name, FIELD(ofi_interface)},
    WORD(ofi_rdma, rdma_words),
    WORD(log_level, level_words),
    {parse_count, show_count, FIELD(stage), .least = 128, .most = STAGE_MOST},
    {parse_count, show_count, FIELD(assisted_stage), .least = 128, .most = STAGE_MOST},
    {parse_count, show_count, FIELD(assisted_queue_max)},
    {parse_count, show_count, FIELD(assisted_queue), .most = QUEUE_MOST},
    {parse_count, show_count, FIELD(assisted_packet_max)},
    {parse_count, show_count, FIELD(assisted_pieces), .least = 1, .most = INT_MAX},
    {parse_threshold, show_threshold, FIELD(rdma_min)},
    {parse_threshold, show_threshold, FIELD(rdma_min_passive)},
    {parse_threshold, show_threshold, FIELD(rdma_many)},
    {parse_threshold, show_threshold, FIELD(rdma_segments)},
    WORD(rdma_notify, rdma_words),
    {parse_seconds, show_seconds, FIELD(defer_wait)},
    {parse_count, show_count, FIELD(defer_queue)},
    {parse_count, show_count, FIELD(defer_copy_max)},
};
static_assert(sizeof(enum conf_path) == sizeof(int) && sizeof(enum conf_progress) == sizeof(int) &&
                  sizeof(enum conf_fence) == sizeof(int) && sizeof(enum conf_rdma) == sizeof(int) &&
                  sizeof(enum conf_ptracer) == sizeof(int) &&
                  sizeof(enum conf_xpmem) == sizeof(int) &&
                  sizeof(enum conf_errors) == sizeof(int) &&
                  sizeof(enum conf_alloc) == sizeof(int) && sizeof(enum log_level) == sizeof(int),
              "words are stored as int");
static_assert(sizeof rows / sizeof rows[0] + 1 == sizeof conf_vars / sizeof conf_vars[0],
              "one row per variable, in the same order");

const struct conf conf_default = {.log_level = LOG_LEVEL_WARN,
                                  .stage = 512,
                                  .assisted_stage = 4096,
                                  .assisted_queue_max = 1024,
                                  .assisted_queue = 16384,
                                  .assisted_packet_max = 4096,
                                  .assisted_pieces = 256,
                                  .rdma_min = CONF_RDMA_TABLE,
                                  .rdma_min_passive = CONF_RDMA_TABLE,
                                  .rdma_many = CONF_RDMA_TABLE,
                                  .rdma_segments = CONF_RDMA_TABLE,
                                  .defer_wait = 0.0002,
                                  .defer_queue = 1 << 20,
                                  .defer_copy_max = 4096};

int conf_load(struct conf *conf, char *(*lookup)(const char *name), char *msg, size_t msg_len)
{
    struct conf fresh = conf_default;

    for (size_t i = 0; conf_vars[i].name != NULL; i++) {
        const char *text = lookup(conf_vars[i].name);
        if (text == NULL || *text == '\0' ||
            rows[i].parse(&rows[i], (char *)&fresh + rows[i].at, text))
            continue;
        snprintf(msg, msg_len, "%s=\"%.200s\" is not understood: expected %s", conf_vars[i].name,
                 text, conf_vars[i].expected);
        return MRMA_ERR_ARG;
    }
    *conf = fresh;
    return MRMA_SUCCESS;
}

const char *conf_nearest(const char *setting)
{
    const size_t len = strcspn(setting, "=");
    const char *nearest = NULL;
    size_t least = SIZE_MAX;

    if (strncmp(setting, "MPIRMA_", 7) != 0)
        return NULL;
    for (const struct conf_var *var = conf_vars; var->name != NULL; var++) {
        const size_t now = nearest_distance(setting, len, var->name);

        if (now < least) {
            least = now;
            nearest = var->name;
        }
    }
    return least == 0 ? NULL : nearest;
}

/* NULL if there is no variable of that name. */
const char *conf_value(const struct conf *conf, const char *name, char *buf, size_t len)
{
    for (size_t i = 0; conf_vars[i].name != NULL; i++)
        if (strcmp(conf_vars[i].name, name) == 0)
            return rows[i].show(&rows[i], (const char *)conf + rows[i].at, buf, len);
    return NULL;
}
