/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_engine_peer.c - engine_peer.c: whether a process of this machine lives, also where another
 * one has got its number meanwhile; whether it may attach to this one; and that nothing is left of
 * those that have ended.
 *
 * Each test has an engine here and one in a child, whose record comes through a pipe. That
 * a number is used again is arranged with clone3's set_tid, for which a process must
 * be privileged; where it is not the test is skipped.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include <dirent.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/err.h"
#include "test/support/engine_pair.h"
#include "rma/progress/progress.h"

/* A process with an engine, until it is killed. */
static pid_t start_peer(struct rma_proc_record *rec)
{
    int up[2];
    assert_int_equal(pipe(up), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        struct engine *e = engine_alone();
        if (!e || write(up[1], &e->record, sizeof e->record) != sizeof e->record)
            _exit(1);
        for (;;)
            pause();
    }
    close(up[1]);
    assert_int_equal(read(up[0], rec, sizeof *rec), sizeof *rec);
    close(up[0]);
    return pid;
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(wait_child(pid), 128 + SIGKILL);
}

/* asked: somebody has waited for it while it lived. The end of the engine does not wait until it
 * comes for what was sent to it. */
static void dies(bool asked)
{
    enum { PATIENCE_S = 5 };
    struct rma_proc_record rec;
    const pid_t pid = start_peer(&rec);
    struct engine *e = engine_alone();
    struct rma_peer *peer = engine_know(e, &rec);
    assert_int_equal(peer->pid, pid);
    for (int i = 0; asked && i < 3; i++)
        assert_true(e->env.peer_alive(e, peer));
    assert_int_equal(e->env.peer_connect(e, peer), MRMA_SUCCESS);
    assert_int_equal(ch3_send(&peer->vc, &pair_stray, sizeof pair_stray, NULL, false),
                     MRMA_SUCCESS);
    end_process(pid);
    for (int i = 0; i < 3; i++)
        assert_false(e->env.peer_alive(e, peer));
    const time_t before = time(NULL);
    engine_forget(e, peer);
    assert_true(time(NULL) - before < PATIENCE_S);
}

static void a_dead_peer_is_dead(void **state)
{
    (void)state;
    dies(true);
    dies(false);
}

/* A process with that number, which sleeps; -1: not allowed. */
static pid_t start_with_number(pid_t number)
{
    const pid_t tids[1] = {number};
    const struct clone_args args = {
        .exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)tids, .set_tid_size = 1};
    const pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (pid == 0)
        for (;;)
            pause();
    return pid;
}

static void a_reused_number_is_another_process(void **state)
{
    const struct timespec ticks = {.tv_nsec = 30000000};
    struct rma_proc_record rec;
    (void)state;
    const pid_t pid = start_peer(&rec);
    struct engine *e = engine_alone();
    struct rma_peer *peer = engine_know(e, &rec);
    end_process(pid);
    nanosleep(&ticks, NULL); /* start times are counted in hundredths of a second */
    const pid_t other = start_with_number(pid);
    if (other < 0) {
        const int why = errno;
        engine_forget(e, peer);
        if (why != EPERM && why != EINVAL && why != ENOSYS)
            fail_msg("clone3: %s", strerror(why));
        print_message("# skipped: a process with a chosen number: %s\n", strerror(why));
        skip();
    }
    assert_int_equal(other, pid);
    assert_int_equal(kill(pid, 0), 0);
    for (int i = 0; i < 3; i++)
        assert_false(e->env.peer_alive(e, peer));
    end_process(other);
    engine_forget(e, peer);
}

/* Yama's permission to attach is given when the engine is created, unless MPIRMA_PTRACER=unchanged.
 */
static int permissions;

int __real_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
int __wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);

int __wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
    permissions += option == PR_SET_PTRACER;
    return __real_prctl(option, a, b, c, d);
}

static void peers_may_attach_if_it_is_allowed(void **state)
{
    (void)state;
    for (int unchanged = 0; unchanged < 2; unchanged++) {
        const struct conf conf = {.ptracer = unchanged ? CONF_PTRACER_UNCHANGED : CONF_PTRACER_ANY};
        struct engine *e;
        struct log quiet;
        log_init(&quiet, LOG_LEVEL_ERROR, -1, "peer");
        permissions = 0;
        assert_int_equal(
            engine_create(&conf, &quiet, &(struct engine_process){.membarrier = false}, &e),
            MRMA_SUCCESS);
        assert_int_equal(permissions, !unchanged);
        engine_destroy(e);
    }
}

/* ---- many that come and go ---- */

static size_t count_lines(const char *path)
{
    size_t n = 0;
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (int c; (c = getc(f)) != EOF;)
        n += c == '\n';
    fclose(f);
    return n;
}

static size_t open_descriptors(void)
{
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static size_t rings_announced(const struct engine *e)
{
    size_t n = 0;
    for (size_t i = 0; i < PROCSEG_RINGS; i++)
        n += atomic_load(&e->own->rings[i].bytes) != 0;
    return n;
}

/* A process with an engine that has a ring to this one, until it is killed. */
static pid_t start_sender(const struct engine *to, struct rma_proc_record *rec)
{
    int up[2];
    assert_int_equal(pipe(up), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        struct rma_peer *peer = NULL;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        struct engine *e = engine_alone();
        if (!e || e->env.peer_get(e, &to->record, true, &peer) || e->env.peer_connect(e, peer) ||
            write(up[1], &e->record, sizeof e->record) != sizeof e->record)
            _exit(1);
        for (;;)
            pause();
    }
    close(up[1]);
    assert_int_equal(read(up[0], rec, sizeof *rec), sizeof *rec);
    close(up[0]);
    return pid;
}

/* Asks without a lock whether anything is there, as waiting threads do. */
static void *keeps_asking(void *arg)
{
    struct engine *e = arg;
    while (!atomic_load(&e->agent_stop))
        (void)rma_pending(&e->rma);
    return NULL;
}

/* Of those that have ended, and that no window names, neither descriptors nor mappings nor rings
 * are left, but for the last few. MTEST_PEERS: so many. */
static void who_has_ended_leaves_nothing(void **state)
{
    enum { LAST = 32, MAPPINGS_EACH = 4 };
    const char *asked = getenv("MTEST_PEERS");
    const int many = asked ? atoi(asked) : 150;
    (void)state;
    struct engine *e = engine_alone();
    pthread_t onlooker;
    assert_int_equal(pthread_create(&onlooker, NULL, keeps_asking, e), 0);
    const size_t descriptors = open_descriptors(), mappings = count_lines("/proc/self/maps");
    for (int i = 0; i < many; i++) {
        struct rma_proc_record rec;
        const pid_t pid = start_sender(e, &rec);
        struct rma_peer *peer = engine_know(e, &rec);
        assert_int_equal(e->env.peer_connect(e, peer), MRMA_SUCCESS);
        assert_true(e->env.peer_alive(e, peer)); /* somebody has waited for it */
        (void)rma_poll(&e->rma);
        e->env.peer_put(e, peer);
        end_process(pid);
    }
    assert_uint_in_range(open_descriptors(), 0,
                         descriptors + 2 * (LAST + 2)); /* of watching, and of my ring */
    assert_uint_in_range(count_lines("/proc/self/maps"), 0, mappings + MAPPINGS_EACH * (LAST + 4));
    assert_uint_in_range(rings_announced(e), 1, LAST + 1);
    atomic_store(&e->agent_stop, true);
    pthread_join(onlooker, NULL);
    engine_destroy(e);
    assert_uint_in_range(open_descriptors(), 0, descriptors);
}

static int tests(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test(a_dead_peer_is_dead),
        cmocka_unit_test(a_reused_number_is_another_process),
        cmocka_unit_test(peers_may_attach_if_it_is_allowed),
        cmocka_unit_test(who_has_ended_leaves_nothing),
    };
    return cmocka_run_group_tests_name("engine_peer", list, NULL, NULL);
}

int main(void)
{
    return run_with_skips(tests);
}
