/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cma_probe.c - shm/cma_probe: against itself, against forked processes, and
 * under a seccomp filter that refuses the calls as containers do.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include <sys/resource.h>

#include "test/support/refuse.h"
#include "shm/cma_probe.h"

#define YAMA "/proc/sys/kernel/yama/ptrace_scope"

static uint64_t target_word = 0x1122334455667788u;

static uint64_t address_of(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

/* Says on up[1] that its word is set; ends when down[1] is closed. */
static int idle_child(int *up, int *down)
{
    char byte = 0;

    close(down[1]);
    target_word = 42;
    if (write(up[1], &byte, 1) != 1)
        return 1;
    return read(down[0], &byte, 1) == 0 ? 0 : 1;
}

static void a_peer_is_told_from_another_process(void **state)
{
    int up[2], down[2];
    char byte;
    (void)state;

    assert_int_equal(cma_probe_peer(getpid(), address_of(&target_word), target_word), 0);
    assert_int_equal(cma_probe_peer(getpid(), address_of(&target_word), 1), CMA_PROBE_MISMATCH);
    assert_int_equal(cma_probe_peer(getpid(), 16, 0), EFAULT);

    assert_int_equal(pipe(up), 0);
    assert_int_equal(pipe(down), 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(idle_child(up, down));
    close(down[0]);
    assert_int_equal(read(up[0], &byte, 1), 1);
    int same = cma_probe_peer(pid, address_of(&target_word), 42);
    int different = cma_probe_peer(pid, address_of(&target_word), target_word);
    close(down[1]), close(up[0]), close(up[1]);
    assert_int_equal(wait_child(pid), 0);
    if (same == 0) {
        assert_int_equal(different, CMA_PROBE_MISMATCH);
    } else {
        assert_true(same == EPERM || same == ENOSYS);
        assert_int_equal(different, same);
    }
    assert_int_equal(cma_probe_peer(pid, address_of(&target_word), 42), ESRCH);
}

static unsigned open_descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void results_are_consistent(void **state)
{
    struct cma_probe probe;
    unsigned before = open_descriptors();
    (void)state;

    for (int i = 0; i < 5; i++) {
        assert_int_equal(cma_probe_self(&probe), 0);
        assert_int_equal(probe.yama_scope < 0, access(YAMA, R_OK) != 0);
        assert_true(probe.yama_scope >= -1 && probe.yama_scope <= 3);
        /* What siblings may do, a parent and a permitted sibling may do as well. */
        if (probe.sibling == 0)
            assert_true(probe.child == 0 && probe.permitted == 0);
        if (probe.yama_scope <= 0 && probe.child == 0)
            assert_int_equal(probe.sibling, 0);
        if (geteuid() != 0 && probe.yama_scope == 1 && probe.child == 0)
            assert_true(probe.sibling == EPERM && probe.permitted == 0);
    }
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

/* Make both calls (or the second only) fail with an errno, from here on. */
static int install_filter(int err, bool read_too)
{
    if (read_too && refuse_call(SYS_process_vm_readv, err) != 0)
        return CHILD_SKIP;
    return refuse_call(SYS_process_vm_writev, err) == 0 ? 0 : CHILD_SKIP;
}

struct refusal {
    int err;
    bool read_too;
    const char *expected; /* in the explanation */
};

static int refused_child(void *arg)
{
    const struct refusal *r = arg;
    struct cma_probe probe;
    char why[400];

    if (install_filter(r->err, r->read_too) != 0)
        return CHILD_SKIP;
    CHILD_CHECK(cma_probe_self(&probe) == 0);
    CHILD_CHECK(probe.child == r->err && probe.sibling == r->err && probe.permitted == r->err);
    CHILD_CHECK(strstr(cma_probe_explain(probe.sibling, -1, why, sizeof why), r->expected) != NULL);
    if (r->read_too)
        CHILD_CHECK(cma_probe_peer(getpid(), address_of(&target_word), target_word) == r->err);
    return 0;
}

static void a_seccomp_filter_is_noticed_and_explained(void **state)
{
    struct refusal refusals[] = {
        {EPERM, true, "seccomp"},
        {ENOSYS, true, "CONFIG_CROSS_MEMORY_ATTACH"},
        {EPERM, false, "seccomp"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        expect_child(run_child(refused_child, &refusals[i]),
                     "seccomp filters cannot be installed here");
}

/* For every number of descriptors that is too low: an errno, nobody left behind. */
static int few_descriptors_child(void *arg)
{
    struct cma_probe probe;
    struct rlimit lim;
    int failed, tries = 0;
    (void)arg;

    CHILD_CHECK(getrlimit(RLIMIT_NOFILE, &lim) == 0);
    int next = dup(0);
    CHILD_CHECK(next >= 0 && close(next) == 0);
    for (lim.rlim_cur = (rlim_t)next;; lim.rlim_cur++) {
        CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &lim) == 0);
        failed = cma_probe_self(&probe);
        CHILD_CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
        if (failed == 0)
            break;
        CHILD_CHECK(failed == EMFILE && tries++ < 1000);
    }
    CHILD_CHECK(tries >= 6);
    return 0;
}

static void without_descriptors_nothing_is_tried(void **state)
{
    (void)state;
    expect_child(run_child(few_descriptors_child, NULL), "");
}

static void every_result_has_an_explanation(void **state)
{
    char text[400];
    (void)state;

    assert_string_equal(cma_probe_explain(0, 1, text, sizeof text), "works");
    assert_non_null(strstr(cma_probe_explain(EPERM, 1, text, sizeof text), "scope 1"));
    assert_non_null(strstr(cma_probe_explain(EPERM, 2, text, sizeof text), "CAP_SYS_PTRACE"));
    assert_non_null(strstr(cma_probe_explain(EPERM, 3, text, sizeof text), "nobody"));
    assert_non_null(strstr(cma_probe_explain(EPERM, 0, text, sizeof text), "seccomp"));
    assert_non_null(
        strstr(cma_probe_explain(CMA_PROBE_MISMATCH, 0, text, sizeof text), "PID namespace"));
    assert_non_null(strstr(cma_probe_explain(ESRCH, 0, text, sizeof text), "PID namespace"));
    assert_string_equal(cma_probe_explain(EFAULT, 0, text, sizeof text), strerror(EFAULT));
}

static void permission_is_asked_only_where_yama_is(void **state)
{
    (void)state;
    assert_int_equal(cma_permit_peers(), access(YAMA, R_OK) != 0 ? EINVAL : 0);
}

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peer_is_told_from_another_process),
        cmocka_unit_test(results_are_consistent),
        cmocka_unit_test(a_seccomp_filter_is_noticed_and_explained),
        cmocka_unit_test(without_descriptors_nothing_is_tried),
        cmocka_unit_test(every_result_has_an_explanation),
        cmocka_unit_test(permission_is_asked_only_where_yama_is),
    };
    return cmocka_run_group_tests_name("cma_probe", tests, NULL, NULL);
}

int main(void)
{
    return run_with_skips(all_tests);
}
