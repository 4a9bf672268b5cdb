/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_log.c - base/log and base/err: lines, levels, cutting, names.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include "base/err.h"

static void lines_have_prefix_level_and_newline(void **state)
{
    struct log_pipe lp;
    char text[2048];
    (void)state;

    log_to_pipe(&lp, LOG_LEVEL_INFO);
    log_msg(&lp.log, LOG_LEVEL_WARN, "window %d", 7);
    assert_string_equal(log_text(&lp, text, sizeof text), "test: warning: window 7\n");
    log_msg(&lp.log, LOG_LEVEL_INFO, "%s", "x");
    assert_string_equal(log_text(&lp, text, sizeof text), "test: info: x\n");
    log_pipe_close(&lp);
}

static void levels_above_are_dropped(void **state)
{
    struct log_pipe lp;
    char text[2048];
    (void)state;

    for (int limit = LOG_LEVEL_ERROR; limit <= LOG_LEVEL_TRACE; limit++) {
        log_to_pipe(&lp, (enum log_level)limit);
        for (int level = LOG_LEVEL_ERROR; level <= LOG_LEVEL_TRACE; level++) {
            log_msg(&lp.log, (enum log_level)level, "m");
            assert_int_equal(log_text(&lp, text, sizeof text)[0] != '\0', level <= limit);
        }
        log_pipe_close(&lp);
    }
}

static void no_log_and_no_descriptor_drop_everything(void **state)
{
    struct log log;
    (void)state;

    log_init(&log, LOG_LEVEL_TRACE, -1, "nobody");
    errno = 0;
    log_msg(&log, LOG_LEVEL_ERROR, "lost");
    log_msg(NULL, LOG_LEVEL_ERROR, "lost");
    assert_int_equal(errno, 0);
    assert_int_equal(log_fail(&log, MRMA_ERR_SIZE, "lost"), MRMA_ERR_SIZE);
    assert_int_equal(log_fail(NULL, MRMA_ERR_SIZE, "lost"), MRMA_ERR_SIZE);
}

static void fail_names_the_error_and_keeps_errno(void **state)
{
    struct log_pipe lp;
    char text[2048];
    (void)state;

    log_to_pipe(&lp, LOG_LEVEL_ERROR);
    errno = EXDEV;
    assert_int_equal(log_fail(&lp.log, MRMA_ERR_RMA_RANGE, "rank %d", 3), MRMA_ERR_RMA_RANGE);
    assert_int_equal(errno, EXDEV);
    assert_string_equal(log_text(&lp, text, sizeof text), "test: error: RMA_RANGE: rank 3\n");

    log_pipe_close(&lp);
    errno = EXDEV;
    log_msg(&lp.log, LOG_LEVEL_ERROR, "to a closed descriptor");
    assert_int_equal(errno, EXDEV);
}

static void a_long_line_is_cut_and_marked(void **state)
{
    struct log_pipe lp;
    char text[4096], big[3000];
    (void)state;

    memset(big, 'a', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    log_to_pipe(&lp, LOG_LEVEL_ERROR);
    log_msg(&lp.log, LOG_LEVEL_ERROR, "%s", big);
    log_text(&lp, text, sizeof text);
    size_t len = strlen(text);
    assert_true(len > 900 && len <= 1024);
    assert_string_equal(text + len - 5, "a...\n");

    log_init(&lp.log, LOG_LEVEL_ERROR, lp.fd[1], big);
    assert_int_equal(strlen(lp.log.prefix), sizeof lp.log.prefix - 1);
    log_pipe_close(&lp);
}

static void a_message_stays_one_line(void **state)
{
    struct log_pipe lp;
    char text[2048];
    (void)state;

    log_to_pipe(&lp, LOG_LEVEL_ERROR);
    log_msg(&lp.log, LOG_LEVEL_ERROR, "a\nb\x1b[2Jc\xc3\xa9");
    assert_string_equal(log_text(&lp, text, sizeof text), "test: error: a b [2Jc\xc3\xa9\n");
    log_pipe_close(&lp);
}

static void every_code_has_its_own_name(void **state)
{
    (void)state;

    for (int err = 0; err < MRMA_ERR_LAST; err++) {
        assert_string_not_equal(mrma_err_name(err), "unknown error");
        for (int other = 0; other < err; other++)
            assert_string_not_equal(mrma_err_name(err), mrma_err_name(other));
    }
    assert_string_equal(mrma_err_name(MRMA_SUCCESS), "SUCCESS");
    assert_string_equal(mrma_err_name(MRMA_ERR_RMA_FLAVOR), "RMA_FLAVOR");
    assert_string_equal(mrma_err_name(MRMA_ERR_LAST), "unknown error");
    assert_string_equal(mrma_err_name(-1), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_prefix_level_and_newline),
        cmocka_unit_test(levels_above_are_dropped),
        cmocka_unit_test(no_log_and_no_descriptor_drop_everything),
        cmocka_unit_test(fail_names_the_error_and_keeps_errno),
        cmocka_unit_test(a_long_line_is_cut_and_marked),
        cmocka_unit_test(a_message_stays_one_line),
        cmocka_unit_test(every_code_has_its_own_name),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
