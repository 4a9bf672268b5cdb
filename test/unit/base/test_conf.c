/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_conf.c - base/conf: each variable's values, defaults, and refusals. test_conf_tuning.c has
 * the tuning parameters.
 */
#define _GNU_SOURCE 1
#include "test/support/conf_environment.h"

#include "base/err.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_set_gives_the_defaults),
        cmocka_unit_test(good_values_are_read_and_shown),
        cmocka_unit_test(values_land_in_their_own_fields),
        cmocka_unit_test(bad_values_are_refused_by_name_value_and_expectation),
        cmocka_unit_test(names_that_are_too_long_are_refused),
        cmocka_unit_test(a_short_message_buffer_is_respected),
        cmocka_unit_test(an_unknown_name_has_a_near_one_if_any_is),
        cmocka_unit_test(every_setting_is_documented_and_shown),
        cmocka_unit_test(what_is_expected_comes_from_the_type),
    };
    return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
