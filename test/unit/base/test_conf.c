/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_conf.c - base/conf: each variable's values, defaults, and refusals.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include "base/conf.h"
#include "base/err.h"

/* The environment that the lookup function shows: one variable, and one more. */
static const char *env_name;
static char env_value[400];
static const char *other_name;
static char other_value[400];

static char *lookup(const char *name)
{
    if (other_name != NULL && strcmp(name, other_name) == 0)
        return other_value;
    return env_name != NULL && strcmp(name, env_name) == 0 ? env_value : NULL;
}

static int load(struct conf *conf, const char *name, const char *value, char *msg, size_t len)
{
    env_name = name;
    snprintf(env_value, sizeof env_value, "%s", value);
    memset(msg, 0, len);
    return conf_load(conf, lookup, msg, len);
}

static int load_tune(struct conf *conf, const char *value, char *msg, size_t len)
{
    return load(conf, "MPIRMA_TUNE", value, msg, len);
}

static void nothing_set_gives_the_defaults(void **state)
{
    struct conf conf;
    char msg[200];
    (void)state;

    memset(&conf, 0xff, sizeof conf);
    assert_int_equal(load(&conf, NULL, "", msg, sizeof msg), MRMA_SUCCESS);
    assert_false(conf.disable);
    assert_int_equal(conf.path, CONF_PATH_AUTO);
    assert_int_equal(conf.ranks_per_node, 0);
    assert_int_equal(conf.progress, CONF_PROGRESS_AUTO);
    assert_int_equal(conf.fence, CONF_FENCE_AUTO);
    assert_int_equal(conf.ptracer, CONF_PTRACER_ANY);
    assert_string_equal(conf.segment_dir, "");
    assert_string_equal(conf.stats, "");
    assert_false(conf.strict);
    assert_true(conf.hang_report >= 0 && conf.hang_report <= 0);
    assert_string_equal(conf.ofi_provider, "");
    assert_string_equal(conf.ofi_interface, "");
    assert_int_equal(conf.ofi_rdma, CONF_RDMA_AUTO);
    assert_int_equal(conf.tune.rdma_notify, CONF_RDMA_AUTO);
    assert_int_equal(conf.log_level, LOG_LEVEL_WARN);
}

/* What a value reads back as; a variable set to it must also load again. */
static const struct {
    const char *name, *value, *shown;
} good[] = {
    {"MPIRMA_DISABLE", "0", "0"},
    {"MPIRMA_DISABLE", "1", "1"},
    {"MPIRMA_DISABLE", "", "0"},
    {"MPIRMA_PATH", "auto", "auto"},
    {"MPIRMA_PATH", "mapped", "mapped"},
    {"MPIRMA_PATH", "cma", "cma"},
    {"MPIRMA_PATH", "shm-packets", "shm-packets"},
    {"MPIRMA_PATH", "net-packets", "net-packets"},
    {"MPIRMA_RANKS_PER_NODE", "0", "0"},
    {"MPIRMA_RANKS_PER_NODE", "2", "2"},
    {"MPIRMA_RANKS_PER_NODE", "2147483647", "2147483647"},
    {"MPIRMA_PROGRESS", "auto", "auto"},
    {"MPIRMA_PROGRESS", "agent", "agent"},
    {"MPIRMA_PROGRESS", "poll", "poll"},
    {"MPIRMA_AGENT_CPU", "0", "0"},
    {"MPIRMA_AGENT_CPU", "0,2-5,1023", "0,2-5,1023"},
    {"MPIRMA_AGENT_CPU", "", ""},
    {"MPIRMA_FENCE", "auto", "auto"},
    {"MPIRMA_FENCE", "markers", "markers"},
    {"MPIRMA_FENCE", "counts", "counts"},
    {"MPIRMA_SEGMENT_DIR", "/dev/shm", "/dev/shm"},
    {"MPIRMA_SEGMENT_DIR", "", ""},
    {"MPIRMA_STATS", "0", "0"},
    {"MPIRMA_STATS", "1", "1"},
    {"MPIRMA_STATS", "yes", "1"},
    {"MPIRMA_STATS", "on", "1"},
    {"MPIRMA_STATS", "off", "0"},
    {"MPIRMA_STATS", "out.txt", "out.txt"},
    {"MPIRMA_STATS", "./out", "./out"},
    {"MPIRMA_TRACE_CONFLICTS", "1", "1"},
    {"MPIRMA_STRICT", "1", "1"},
    {"MPIRMA_PTRACER", "any", "any"},
    {"MPIRMA_PTRACER", "unchanged", "unchanged"},
    {"MPIRMA_XPMEM", "auto", "auto"},
    {"MPIRMA_XPMEM", "yes", "yes"},
    {"MPIRMA_XPMEM", "no", "no"},
    {"MPIRMA_ALLOC_MEM", "host", "host"},
    {"MPIRMA_ALLOC_MEM", "shared", "shared"},
    {"MPIRMA_HANG_REPORT", "30", "30"},
    {"MPIRMA_HANG_REPORT", "0.5", "0.5"},
    {"MPIRMA_HANG_REPORT", ".25", "0.25"},
    {"MPIRMA_HANG_REPORT", "7.", "7"},
    {"MPIRMA_HANG_REPORT", "0", "0"},
    {"MPIRMA_HANG_REPORT", "100", "100"},
    {"MPIRMA_OFI_PROVIDER", "tcp;ofi_rxm", "tcp;ofi_rxm"},
    {"MPIRMA_OFI_PROVIDER", "", ""},
    {"MPIRMA_OFI_INTERFACE", "lo", "lo"},
    {"MPIRMA_OFI_INTERFACE", "", ""},
    {"MPIRMA_OFI_RDMA", "auto", "auto"},
    {"MPIRMA_OFI_RDMA", "on", "on"},
    {"MPIRMA_OFI_RDMA", "off", "off"},
    {"MPIRMA_LOG", "error", "error"},
    {"MPIRMA_LOG", "warn", "warn"},
    {"MPIRMA_LOG", "info", "info"},
    {"MPIRMA_LOG", "debug", "debug"},
    {"MPIRMA_LOG", "trace", "trace"},
};

static void good_values_are_read_and_shown(void **state)
{
    struct conf conf;
    char msg[200], shown[256];
    (void)state;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(load(&conf, good[i].name, good[i].value, msg, sizeof msg), MRMA_SUCCESS);
        assert_string_equal(conf_value(&conf, good[i].name, shown, sizeof shown), good[i].shown);
        assert_int_equal(load(&conf, good[i].name, good[i].shown, msg, sizeof msg), MRMA_SUCCESS);
    }
}

static const struct {
    const char *name, *value, *shown;
} good_tuning[] = {
    {"stage", "", "512"},
    {"stage", "128", "128"},
    {"cma_stage", "", "4096"},
    {"cma_stage", "32768", "32768"},
    {"cma_queue_max", "", "1024"},
    {"cma_queue_max", "0", "0"},
    {"cma_queue", "", "16384"},
    {"cma_queue", "0", "0"},
    {"cma_queue", "1048576", "1048576"},
    {"cma_packet_max", "", "4096"},
    {"cma_packet_max", "2147483647", "2147483647"},
    {"cma_pieces", "", "256"},
    {"cma_pieces", "1", "1"},
    {"rdma_min", "", "auto"},
    {"rdma_min", "0", "0"},
    {"rdma_min_passive", "auto", "auto"},
    {"rdma_min_passive", "8192", "8192"},
    {"rdma_many", "", "auto"},
    {"rdma_many", "2147483647", "2147483647"},
    {"rdma_segments", "", "auto"},
    {"rdma_segments", "1", "1"},
    {"rdma_notify", "", "auto"},
    {"rdma_notify", "off", "off"},
    {"defer_wait", "", "0.0002"},
    {"defer_wait", "0", "0"},
    {"defer_wait", "1.000001", "1.000001"},
    {"defer_queue", "", "1048576"},
    {"defer_copy_max", "", "4096"},
    {"defer_copy_max", "0", "0"},
};

/* MPIRMA_STAGE of "stage" */
static const char *old_name_of(const char *name)
{
    static char old[64];

    snprintf(old, sizeof old, "MPIRMA_%s", name);
    for (char *c = old; *c != '\0'; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    return old;
}

/* By their names in MPIRMA_TUNE, and by the names that they had before. */
static void tuning_parameters_are_read_and_shown(void **state)
{
    struct conf conf;
    char msg[200], shown[512], setting[100];
    (void)state;

    for (size_t i = 0; i < sizeof good_tuning / sizeof good_tuning[0]; i++) {
        const char *name = good_tuning[i].name;
        snprintf(setting, sizeof setting, "%s=%s", name, good_tuning[i].value);
        assert_int_equal(load_tune(&conf, setting, msg, sizeof msg), MRMA_SUCCESS);
        assert_string_equal(conf_value(&conf, name, shown, sizeof shown), good_tuning[i].shown);
        assert_int_equal(load_tune(&conf, conf_value(&conf, "MPIRMA_TUNE", shown, sizeof shown),
                                   msg, sizeof msg),
                         MRMA_SUCCESS);
        assert_string_equal(conf_value(&conf, name, shown, sizeof shown), good_tuning[i].shown);
        load(&conf, old_name_of(name), good_tuning[i].value, msg, sizeof msg);
        assert_string_equal(conf_value(&conf, name, shown, sizeof shown), good_tuning[i].shown);
    }
}

static void a_list_of_tuning_parameters(void **state)
{
    struct conf conf;
    char msg[200], shown[512];
    (void)state;

    assert_int_equal(load_tune(&conf, "defer_wait=2,stage=256,rdma_min=auto", msg, sizeof msg),
                     MRMA_SUCCESS);
    assert_true(conf.tune.stage == 256 && conf.tune.defer_wait >= 2);
    assert_string_equal(conf_value(&conf, "MPIRMA_TUNE", shown, sizeof shown),
                        "stage=256,defer_wait=2");
    /* empty elements, and a default, and a name that comes twice: the last one counts */
    assert_int_equal(
        load_tune(&conf, ",stage=256,,cma_pieces=3,stage=300,cma_pieces=,", msg, sizeof msg),
        MRMA_SUCCESS);
    assert_string_equal(conf_value(&conf, "MPIRMA_TUNE", shown, sizeof shown), "stage=300");
    assert_int_equal(load_tune(&conf, ",", msg, sizeof msg), MRMA_SUCCESS);
    assert_memory_equal(&conf.tune, &conf_default.tune, sizeof conf.tune);
    assert_string_equal(conf_value(&conf, "MPIRMA_TUNE", shown, sizeof shown), "");
}

static void old_names_and_new(void **state)
{
    struct conf conf;
    char msg[200], names[200], tune[200];
    (void)state;

    load_tune(&conf, "stage=256", msg, sizeof msg);
    assert_int_equal(conf_old_names(lookup, names, sizeof names, tune, sizeof tune), 0);
    assert_string_equal(names, "");
    assert_string_equal(tune, "");
    other_name = "MPIRMA_STAGE";
    strcpy(other_value, "1024");
    assert_int_equal(load_tune(&conf, "stage=256,cma_queue=1", msg, sizeof msg), MRMA_SUCCESS);
    assert_int_equal(conf.tune.stage, 256); /* MPIRMA_TUNE goes before */
    assert_int_equal(conf_old_names(lookup, names, sizeof names, tune, sizeof tune), 1);
    assert_string_equal(names, "MPIRMA_STAGE");
    assert_string_equal(tune, "stage=1024,stage=256,cma_queue=1");
    assert_int_equal(load_tune(&conf, "cma_queue=1", msg, sizeof msg), MRMA_SUCCESS);
    assert_true(conf.tune.stage == 1024 && conf.tune.assisted_queue == 1);
    assert_int_equal(load(&conf, "MPIRMA_DEFER_WAIT", "2", msg, sizeof msg), MRMA_SUCCESS);
    assert_int_equal(conf_old_names(lookup, names, sizeof names, tune, sizeof tune), 2);
    assert_string_equal(names, "MPIRMA_STAGE MPIRMA_DEFER_WAIT");
    assert_string_equal(tune, "stage=1024,defer_wait=2");
    strcpy(other_value, "");
    assert_int_equal(conf_old_names(lookup, names, sizeof names, tune, sizeof tune), 1);
    strcpy(other_value, "12");
    assert_int_equal(load_tune(&conf, "stage=256", msg, sizeof msg), MRMA_ERR_ARG);
    assert_string_equal(msg,
                        "MPIRMA_STAGE=\"12\" is not understood: expected bytes, from 128 to 32768");
    other_name = NULL;
}

static void values_land_in_their_own_fields(void **state)
{
    struct conf conf;
    char msg[200];
    (void)state;

    load(&conf, "MPIRMA_STRICT", "1", msg, sizeof msg);
    assert_true(conf.strict && !conf.disable);
    load(&conf, "MPIRMA_PTRACER", "unchanged", msg, sizeof msg);
    assert_int_equal(conf.ptracer, CONF_PTRACER_UNCHANGED);
    load(&conf, "MPIRMA_XPMEM", "no", msg, sizeof msg);
    assert_int_equal(conf.xpmem, CONF_XPMEM_NO);
    load(&conf, "MPIRMA_DISABLE", "1", msg, sizeof msg);
    assert_true(conf.disable && !conf.strict);
    load(&conf, "MPIRMA_PATH", "shm-packets", msg, sizeof msg);
    assert_int_equal(conf.path, CONF_PATH_SHM_PACKETS);
    load(&conf, "MPIRMA_PROGRESS", "poll", msg, sizeof msg);
    assert_int_equal(conf.progress, CONF_PROGRESS_POLL);
    load(&conf, "MPIRMA_AGENT_CPU", "1", msg, sizeof msg);
    assert_string_equal(conf.agent_cpu, "1");
    load(&conf, "MPIRMA_FENCE", "counts", msg, sizeof msg);
    assert_int_equal(conf.fence, CONF_FENCE_COUNTS);
    load(&conf, "MPIRMA_RANKS_PER_NODE", "3", msg, sizeof msg);
    assert_int_equal(conf.ranks_per_node, 3);
    load(&conf, "MPIRMA_HANG_REPORT", "1.5", msg, sizeof msg);
    assert_true(conf.hang_report > 1.499 && conf.hang_report < 1.501);
    load(&conf, "MPIRMA_OFI_PROVIDER", "net", msg, sizeof msg);
    assert_string_equal(conf.ofi_provider, "net");
    assert_string_equal(conf.ofi_interface, "");
    load(&conf, "MPIRMA_OFI_INTERFACE", "eth0", msg, sizeof msg);
    assert_string_equal(conf.ofi_interface, "eth0");
    load(&conf, "MPIRMA_OFI_RDMA", "off", msg, sizeof msg);
    assert_int_equal(conf.ofi_rdma, CONF_RDMA_OFF);
    load(&conf, "MPIRMA_LOG", "trace", msg, sizeof msg);
    assert_int_equal(conf.log_level, LOG_LEVEL_TRACE);
    load_tune(&conf, "stage=256", msg, sizeof msg);
    assert_true(conf.tune.stage == 256 && conf.tune.assisted_stage == 4096);
    load_tune(&conf, "cma_stage=256", msg, sizeof msg);
    assert_true(conf.tune.assisted_stage == 256 && conf.tune.stage == 512);
    load_tune(&conf, "cma_queue_max=1", msg, sizeof msg);
    assert_true(conf.tune.assisted_queue_max == 1 && conf.tune.assisted_queue == 16384);
    load_tune(&conf, "cma_queue=1", msg, sizeof msg);
    assert_true(conf.tune.assisted_queue == 1 && conf.tune.assisted_queue_max == 1024);
    load_tune(&conf, "cma_packet_max=1", msg, sizeof msg);
    assert_int_equal(conf.tune.assisted_packet_max, 1);
    load_tune(&conf, "cma_pieces=2", msg, sizeof msg);
    assert_int_equal(conf.tune.assisted_pieces, 2);
    load_tune(&conf, "rdma_min=1", msg, sizeof msg);
    assert_true(conf.tune.rdma_min == 1 && conf.tune.rdma_min_passive == CONF_AUTO);
    load_tune(&conf, "rdma_min_passive=1", msg, sizeof msg);
    assert_true(conf.tune.rdma_min_passive == 1 && conf.tune.rdma_min == CONF_AUTO);
    load_tune(&conf, "rdma_many=1", msg, sizeof msg);
    assert_true(conf.tune.rdma_many == 1 && conf.tune.rdma_segments == CONF_AUTO);
    load_tune(&conf, "rdma_segments=1", msg, sizeof msg);
    assert_true(conf.tune.rdma_segments == 1 && conf.tune.rdma_many == CONF_AUTO);
    load_tune(&conf, "rdma_notify=on", msg, sizeof msg);
    assert_true(conf.tune.rdma_notify == CONF_RDMA_ON && conf.ofi_rdma == CONF_RDMA_AUTO);
    load_tune(&conf, "defer_wait=2", msg, sizeof msg);
    assert_true(conf.tune.defer_wait >= 2 && conf.tune.defer_wait <= 2);
    load_tune(&conf, "defer_queue=1", msg, sizeof msg);
    assert_true(conf.tune.defer_queue == 1 && conf.tune.defer_copy_max == 4096);
    load_tune(&conf, "defer_copy_max=1", msg, sizeof msg);
    assert_true(conf.tune.defer_copy_max == 1 && conf.tune.defer_queue == 1 << 20);
}

static const struct {
    const char *name, *value;
} bad[] = {
    {"MPIRMA_DISABLE", "yes"},
    {"MPIRMA_DISABLE", "2"},
    {"MPIRMA_PATH", "Auto"},
    {"MPIRMA_PATH", "cma "},
    {"MPIRMA_PATH", "shm"},
    {"MPIRMA_RANKS_PER_NODE", "-1"},
    {"MPIRMA_RANKS_PER_NODE", "2x"},
    {"MPIRMA_RANKS_PER_NODE", "2147483648"},
    {"MPIRMA_RANKS_PER_NODE", "99999999999999999999"},
    {"MPIRMA_PROGRESS", "thread"},
    {"MPIRMA_AGENT_CPU", "all"},
    {"MPIRMA_AGENT_CPU", "1,"},
    {"MPIRMA_AGENT_CPU", ",1"},
    {"MPIRMA_AGENT_CPU", "1,,2"},
    {"MPIRMA_AGENT_CPU", "2-"},
    {"MPIRMA_AGENT_CPU", "1-2-3"},
    {"MPIRMA_AGENT_CPU", "12345"},
    {"MPIRMA_FENCE", "marker"},
    {"MPIRMA_SEGMENT_DIR", "relative/dir"},
    {"MPIRMA_STRICT", "on"},
    {"MPIRMA_STATS", "maybe"},
    {"MPIRMA_ALLOC_MEM", "malloc"},
    {"MPIRMA_HANG_REPORT", "-5"},
    {"MPIRMA_HANG_REPORT", "1e3"},
    {"MPIRMA_HANG_REPORT", "."},
    {"MPIRMA_HANG_REPORT", "1.2.3"},
    {"MPIRMA_HANG_REPORT", "0,5"},
    {"MPIRMA_HANG_REPORT", "nan"},
    {"MPIRMA_HANG_REPORT", "99999999999"},
    {"MPIRMA_OFI_RDMA", "1"},
    {"MPIRMA_LOG", "warning"},
    {"MPIRMA_LOG", "3"},
};

static const struct {
    const char *name, *value;
} bad_tuning[] = {
    {"stage", "127"},          {"cma_stage", "32769"},     {"cma_queue_max", "1k"},
    {"cma_queue", "1048577"},  {"cma_packet_max", "-1"},   {"cma_pieces", "0"},
    {"rdma_min", "8k"},        {"rdma_min_passive", "-1"}, {"rdma_many", "many"},
    {"rdma_segments", "Auto"}, {"rdma_notify", "yes"},     {"defer_wait", "soon"},
    {"defer_queue", "1M"},     {"defer_copy_max", "0x10"},
};

static const char *expected_of(const struct conf_var *var, const char *name)
{
    static char expected[256];

    for (; var->name != NULL; var++)
        if (strcmp(var->name, name) == 0)
            conf_expects(var, expected, sizeof expected);
    return expected;
}

static void bad_values_are_refused_by_name_value_and_expectation(void **state)
{
    struct conf conf, before;
    char msg[400];
    (void)state;

    memset(&conf, 0x5a, sizeof conf);
    before = conf;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(load(&conf, bad[i].name, bad[i].value, msg, sizeof msg), MRMA_ERR_ARG);
        assert_non_null(strstr(msg, bad[i].name));
        assert_non_null(strstr(msg, bad[i].value));
        assert_non_null(strstr(msg, expected_of(conf_vars, bad[i].name)));
        assert_null(strchr(msg, '\n'));
        assert_memory_equal(&conf, &before, sizeof conf);
    }
}

static void bad_tuning_is_refused_likewise(void **state)
{
    struct conf conf, before;
    char msg[600], setting[200];
    (void)state;

    memset(&conf, 0x5a, sizeof conf);
    before = conf;
    for (size_t i = 0; i < sizeof bad_tuning / sizeof bad_tuning[0]; i++) {
        const char *expected = expected_of(conf_tuning, bad_tuning[i].name);
        snprintf(setting, sizeof setting, "defer_wait=1,%s=%s", bad_tuning[i].name,
                 bad_tuning[i].value);
        assert_int_equal(load_tune(&conf, setting, msg, sizeof msg), MRMA_ERR_ARG);
        assert_memory_equal(msg, "MPIRMA_TUNE=\"", 13);
        assert_non_null(strstr(msg, setting));
        assert_non_null(strstr(msg, bad_tuning[i].name));
        assert_non_null(strstr(msg, expected));
        load(&conf, old_name_of(bad_tuning[i].name), bad_tuning[i].value, msg, sizeof msg);
        assert_non_null(strstr(msg, expected));
        assert_memory_equal(&conf, &before, sizeof conf);
    }
    assert_int_equal(load_tune(&conf, "stage=256,cma_queue", msg, sizeof msg), MRMA_ERR_ARG);
    assert_non_null(strstr(msg, "name=value"));
    assert_int_equal(load_tune(&conf, "stage:256", msg, sizeof msg), MRMA_ERR_ARG);
    memset(setting, '1', sizeof setting - 1);
    memcpy(setting, "stage=", 6);
    setting[sizeof setting - 1] = '\0';
    assert_int_equal(load_tune(&conf, setting, msg, sizeof msg), MRMA_ERR_ARG);
    assert_memory_equal(&conf, &before, sizeof conf);
}

static void names_that_are_too_long_are_refused(void **state)
{
    struct conf conf;
    char msg[600], name[300];
    (void)state;

    memset(name, 'd', sizeof name);
    name[0] = '/';
    name[255] = '\0';
    assert_int_equal(load(&conf, "MPIRMA_SEGMENT_DIR", name, msg, sizeof msg), MRMA_SUCCESS);
    assert_string_equal(conf.segment_dir, name);
    assert_int_equal(load(&conf, "MPIRMA_STATS", name, msg, sizeof msg), MRMA_SUCCESS);
    name[255] = 'd';
    name[256] = '\0';
    assert_int_equal(load(&conf, "MPIRMA_SEGMENT_DIR", name, msg, sizeof msg), MRMA_ERR_ARG);
    assert_int_equal(load(&conf, "MPIRMA_STATS", name, msg, sizeof msg), MRMA_ERR_ARG);
    name[64] = '\0';
    assert_int_equal(load(&conf, "MPIRMA_OFI_PROVIDER", name, msg, sizeof msg), MRMA_ERR_ARG);
    assert_int_equal(load(&conf, "MPIRMA_OFI_INTERFACE", name, msg, sizeof msg), MRMA_ERR_ARG);
    name[63] = '\0';
    assert_int_equal(load(&conf, "MPIRMA_OFI_PROVIDER", name, msg, sizeof msg), MRMA_SUCCESS);
    assert_int_equal(load(&conf, "MPIRMA_OFI_INTERFACE", name, msg, sizeof msg), MRMA_SUCCESS);
}

static void a_short_message_buffer_is_respected(void **state)
{
    struct conf conf;
    char msg[20];
    (void)state;

    memset(msg, '!', sizeof msg);
    env_name = "MPIRMA_PATH";
    strcpy(env_value, "nowhere");
    assert_int_equal(conf_load(&conf, lookup, msg, 10), MRMA_ERR_ARG);
    assert_int_equal(strlen(msg), 9);
    assert_int_equal(msg[10], '!');
}

static int shown_settings(const struct conf *conf, const struct conf_var *var)
{
    char shown[512], expected[256];
    int n = 0;

    for (; var->name != NULL; var++, n++) {
        conf_expects(var, expected, sizeof expected);
        assert_true(strlen(expected) > 0 && strlen(var->text) > 0);
        assert_non_null(conf_value(conf, var->name, shown, sizeof shown));
    }
    return n;
}

static void every_setting_is_documented_and_shown(void **state)
{
    struct conf conf;
    char msg[200], shown[256];
    (void)state;

    load(&conf, NULL, "", msg, sizeof msg);
    assert_true(shown_settings(&conf, conf_vars) > 0);
    assert_true(shown_settings(&conf, conf_tuning) > 0);
    for (const struct conf_var *var = conf_vars; var->name != NULL; var++)
        assert_memory_equal(var->name, "MPIRMA_", 7);
    assert_null(conf_value(&conf, "MPIRMA_NO_SUCH", shown, sizeof shown));
    assert_null(conf_value(&conf, "MPIRMA_STAGE", shown, sizeof shown));
}

static void what_is_expected_comes_from_the_type(void **state)
{
    (void)state;
    assert_string_equal(expected_of(conf_vars, "MPIRMA_PROGRESS"), "auto, agent or poll");
    assert_string_equal(expected_of(conf_vars, "MPIRMA_STRICT"), "0 or 1");
    assert_string_equal(expected_of(conf_vars, "MPIRMA_TRACE"),
                        "a directory, of at most 255 characters");
    assert_string_equal(expected_of(conf_tuning, "cma_pieces"), "pieces, 1 or more");
    assert_string_equal(expected_of(conf_tuning, "rdma_min"), "auto, or bytes");
}

/* Returns the setting that is near to the name of one that is unknown, "" if none is; NULL if the
 * name is known, or nobody's business here. */
static const char *near(const char *setting)
{
    struct conf_unknown unknown;

    if (!conf_unknown_variable(setting, &unknown))
        return NULL;
    assert_ptr_equal(unknown.name, setting);
    assert_int_equal(unknown.len, strcspn(setting, "="));
    return unknown.near ? unknown.near : "";
}

static void an_unknown_name_has_a_near_one_if_any_is(void **state)
{
    (void)state;
    assert_null(near("MPIRMA_PATH=auto"));
    assert_null(near("MPIRMA_TUNE=stage=1"));
    assert_null(near("MPIRMA_STAGE=1"));
    assert_null(near("PATH=/bin"));
    assert_null(near("MPIRMA=1"));
    assert_string_equal(near("MPIRMA_PATHS=auto"), "MPIRMA_PATH");
    assert_string_equal(near("MPIRMA_STRIKT=1"), "MPIRMA_STRICT");
    assert_string_equal(near("MPIRMA_HANGREPORT"), "MPIRMA_HANG_REPORT");
    assert_string_equal(near("MPIRMA_=1"), "");
    assert_string_equal(near("MPIRMA_WINDOW_KIND=1"), "");
    assert_string_equal(near("MPIRMA_X=1"), "");
}

static void an_unknown_name_in_a_list_has_one_too(void **state)
{
    const char *at = "stag=1,cma_queue=2,colour,,=3";
    struct conf_unknown unknown;
    (void)state;

    assert_true(conf_unknown_next(&at, &unknown));
    assert_true(unknown.len == 4 && memcmp(unknown.name, "stag", 4) == 0);
    assert_string_equal(unknown.near, "stage");
    assert_true(conf_unknown_next(&at, &unknown));
    assert_true(unknown.len == 6 && memcmp(unknown.name, "colour", 6) == 0);
    assert_null(unknown.near);
    assert_true(conf_unknown_next(&at, &unknown));
    assert_int_equal(unknown.len, 0);
    assert_false(conf_unknown_next(&at, &unknown));
}

/* They do not change what the others do. */
static void unknown_names_in_a_list_are_passed_over(void **state)
{
    struct conf conf;
    char msg[200];
    (void)state;

    assert_int_equal(load_tune(&conf, "stag=1,stage=256", msg, sizeof msg), MRMA_SUCCESS);
    assert_int_equal(conf.tune.stage, 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_set_gives_the_defaults),
        cmocka_unit_test(good_values_are_read_and_shown),
        cmocka_unit_test(values_land_in_their_own_fields),
        cmocka_unit_test(bad_values_are_refused_by_name_value_and_expectation),
        cmocka_unit_test(names_that_are_too_long_are_refused),
        cmocka_unit_test(a_short_message_buffer_is_respected),
        cmocka_unit_test(tuning_parameters_are_read_and_shown),
        cmocka_unit_test(a_list_of_tuning_parameters),
        cmocka_unit_test(old_names_and_new),
        cmocka_unit_test(bad_tuning_is_refused_likewise),
        cmocka_unit_test(an_unknown_name_has_a_near_one_if_any_is),
        cmocka_unit_test(an_unknown_name_in_a_list_has_one_too),
        cmocka_unit_test(unknown_names_in_a_list_are_passed_over),
        cmocka_unit_test(every_setting_is_documented_and_shown),
        cmocka_unit_test(what_is_expected_comes_from_the_type),
    };
    return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
