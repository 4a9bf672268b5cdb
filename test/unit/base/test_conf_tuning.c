/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_conf_tuning.c - base/conf: the tuning parameters, by their names in MPIRMA_TUNE and by the
 * names that they had before.
 */
#define _GNU_SOURCE 1
#include "test/support/conf_environment.h"

#include "base/err.h"

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
    {"joint_copy", "", "65536"},
    {"joint_copy", "0", "0"},
    {"joint_copy_private", "", "2097152"},
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

static const struct {
    const char *name, *value;
} bad_tuning[] = {
    {"stage", "127"},          {"cma_stage", "32769"},     {"cma_queue_max", "1k"},
    {"cma_queue", "1048577"},  {"cma_packet_max", "-1"},   {"cma_pieces", "0"},
    {"rdma_min", "8k"},        {"rdma_min_passive", "-1"}, {"rdma_many", "many"},
    {"rdma_segments", "Auto"}, {"rdma_notify", "yes"},     {"defer_wait", "soon"},
    {"defer_queue", "1M"},     {"defer_copy_max", "0x10"},
};

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
        cmocka_unit_test(tuning_parameters_are_read_and_shown),
        cmocka_unit_test(a_list_of_tuning_parameters),
        cmocka_unit_test(old_names_and_new),
        cmocka_unit_test(bad_tuning_is_refused_likewise),
        cmocka_unit_test(an_unknown_name_in_a_list_has_one_too),
        cmocka_unit_test(unknown_names_in_a_list_are_passed_over),
    };
    return cmocka_run_group_tests_name("conf_tuning", tests, NULL, NULL);
}
