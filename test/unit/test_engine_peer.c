/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_engine_peer.c - engine_peer.c: whether a process of this machine lives, also where
 * another one has got its number meanwhile; whether it polls; and rings to it and from it.
 *
 * Each test has an engine here and one in a child, whose record comes through a pipe. That
 * a number is used again is arranged with clone3's set_tid, for which a process must
 * be privileged; where it is not the test is skipped.
 */
#define _GNU_SOURCE 1
#include "base_helper.h"

#include <dirent.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/err.h"
#include "engine_env.h"
#include "rma/progress/progress.h"

static struct engine *new_engine(void)
{
    static const struct conf conf;
    struct engine *e;
    struct log quiet;
    log_init(&quiet, LOG_LEVEL_ERROR, -1, "peer");
    return engine_create(&conf, &quiet, &(struct engine_process){.membarrier = false}, &e) ==
                   MRMA_SUCCESS
               ? e
               : NULL;
}

/* A process with an engine, until it is killed. */
static pid_t start_peer(struct rma_proc_record *rec)
{
    int up[2];
    assert_int_equal(pipe(up), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        struct engine *e = new_engine();
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

static struct rma_peer *know(struct engine *e, const struct rma_proc_record *rec)
{
    struct rma_peer *peer = NULL;
    rma_enter(&e->rma);
    assert_int_equal(e->env.peer_get(e, rec, true, &peer), MRMA_SUCCESS);
    rma_leave(&e->rma);
    return peer;
}

static void forget(struct engine *e, struct rma_peer *peer)
{
    e->env.peer_put(e, peer);
    engine_destroy(e);
}

/* asked: somebody has waited for it while it lived. */
static void dies(bool asked)
{
    struct rma_proc_record rec;
    const pid_t pid = start_peer(&rec);
    struct engine *e = new_engine();
    struct rma_peer *peer = know(e, &rec);
    assert_int_equal(peer->pid, pid);
    for (int i = 0; asked && i < 3; i++)
        assert_true(e->env.peer_alive(e, peer));
    end_process(pid);
    for (int i = 0; i < 3; i++)
        assert_false(e->env.peer_alive(e, peer));
    forget(e, peer);
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
    struct engine *e = new_engine();
    struct rma_peer *peer = know(e, &rec);
    end_process(pid);
    nanosleep(&ticks, NULL); /* start times are counted in hundredths of a second */
    const pid_t other = start_with_number(pid);
    if (other < 0) {
        const int why = errno;
        forget(e, peer);
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
    forget(e, peer);
}

/* Two engines that know each other. What the second says of itself the first can read. */
struct pair {
    struct engine *from, *to;
    struct rma_peer *peer, *back; /* the second one there, the first one here */
};

static struct pair new_pair(void)
{
    struct pair p = {.from = new_engine(), .to = new_engine()};
    p.peer = know(p.from, &p.to->record);
    p.back = know(p.to, &p.from->record);
    return p;
}

static void end_pair(struct pair *p)
{
    forget(p->from, p->peer);
    forget(p->to, p->back);
}

/* Both words must be set. */
static void attends_while_it_polls_with_an_agent(void **state)
{
    (void)state;
    struct pair p = new_pair();
    assert_false(attention_is_polled(p.peer->attention));
    rma_polling_begin(&p.to->rma);
    assert_false(attention_is_polled(p.peer->attention)); /* nobody would serve when it stops */
    assert_int_equal(p.to->env.agent_start(p.to), MRMA_SUCCESS);
    assert_true(attention_is_polled(p.peer->attention));
    rma_polling_end(&p.to->rma);
    assert_false(attention_is_polled(p.peer->attention));
    end_pair(&p);
}

/* The second has an agent, which sleeps, and the first a way to send to it. */
static struct pair pair_with_agent(void)
{
    struct pair p = new_pair();
    assert_int_equal(p.from->env.peer_connect(p.from, p.peer), MRMA_SUCCESS);
    assert_int_equal(p.to->env.agent_start(p.to), MRMA_SUCCESS);
    while (!atomic_load(&p.peer->attention->agent.sleepers))
        sched_yield();
    return p;
}

static const struct pkt_hdr stray = {
    .version = PKT_VERSION, .type = PKT_ACK, .len = sizeof stray, .win = 77};

/* A packet wakes the other's agent, but not an answer that one of its threads waits for
 * (ch3_send). */
static void an_answer_wakes_no_agent(void **state)
{
    (void)state;
    struct pair p = pair_with_agent();
    const uint32_t before = atomic_load(&p.peer->attention->agent.seq);
    assert_int_equal(ch3_send(&p.peer->vc, &stray, sizeof stray, NULL, true), MRMA_SUCCESS);
    assert_int_equal(atomic_load(&p.peer->attention->agent.seq), before);
    for (int i = 0; i < 1000 && atomic_load(&p.peer->attention->agent.seq) == before;
         i++) { /* it may just be awake */
        (void)ch3_send(&p.peer->vc, &stray, sizeof stray, NULL, false);
        sched_yield();
    }
    assert_int_not_equal(atomic_load(&p.peer->attention->agent.seq), before);
    end_pair(&p);
}

/* What the agent has slept over leaves no room for what it is to serve. */
static void a_full_ring_wakes_the_agent(void **state)
{
    (void)state;
    struct pair p = pair_with_agent();
    const time_t late = time(NULL) + 20;
    while (!ch3_vc_busy(&p.peer->vc))
        assert_int_equal(ch3_send(&p.peer->vc, &stray, sizeof stray, NULL, true), MRMA_SUCCESS);
    while (ch3_vc_busy(&p.peer->vc) && time(NULL) < late)
        (void)rma_poll(&p.from->rma);
    assert_false(ch3_vc_busy(&p.peer->vc));
    end_pair(&p);
}

/* A sender that saw a thread poll has woken nobody. */
static void what_comes_last_is_served_when_polling_ends(void **state)
{
    (void)state;
    struct pair p = pair_with_agent();
    struct rma *to = &p.to->rma;
    const time_t late = time(NULL) + 20;
    rma_polling_begin(to);
    assert_int_equal(ch3_send(&p.peer->vc, &stray, sizeof stray, NULL, false), MRMA_SUCCESS);
    assert_true(rma_pending(to));
    rma_polling_end(to);
    while (rma_pending(to) && time(NULL) < late)
        sched_yield();
    assert_false(rma_pending(to));
    end_pair(&p);
}

/* A call of the host has polled, and polls no more: whatever comes then is served by the agent. */
static void what_a_call_of_the_host_leaves_is_served(void **state)
{
    (void)state;
    struct pair p = pair_with_agent();
    struct rma *to = &p.to->rma;
    const time_t late = time(NULL) + 20;
    for (int i = 0; i < 300 && time(NULL) < late; i++) {
        if (i % 3) { /* this call serves one, so that the agent expects more of it */
            assert_int_equal(ch3_send(&p.peer->vc, &stray, sizeof stray, NULL, false),
                             MRMA_SUCCESS);
            (void)rma_host_poll(to);
        }
        (void)rma_host_poll(to);
        assert_int_equal(ch3_send(&p.peer->vc, &stray, sizeof stray, NULL, false), MRMA_SUCCESS);
        while (rma_pending(to) && time(NULL) < late)
            sched_yield();
        assert_false(rma_pending(to));
    }
    assert_true(time(NULL) < late);
    end_pair(&p);
}

/* As long as it polls, and the agent has promised to look, packets do not wake the agent. That may
 * be in the midst of taking back its promise. */
static void a_call_of_the_host_that_polls_spares_wake_ups(void **state)
{
    enum { PACKETS = 1000 };
    (void)state;
    struct pair p = pair_with_agent();
    const struct attention *a = p.peer->attention;
    const time_t late = time(NULL) + 20;
    int sent = 0, woken = 0;
    while (sent < PACKETS && time(NULL) < late) {
        (void)rma_host_poll(&p.to->rma);
        const bool spared = atomic_load(&a->agent_looks) && atomic_load(&a->host_polls);
        const uint32_t before = atomic_load(&a->agent.seq);
        (void)ch3_send(&p.peer->vc, &stray, sizeof stray, NULL, false);
        sent += spared;
        woken += spared && atomic_load(&a->agent.seq) != before;
    }
    assert_int_equal(sent, PACKETS);
    assert_true(woken < PACKETS / 10);
    end_pair(&p);
}

/* What all rings of a process take together does not grow with its peers, until each is of the
 * least size. */
static void rings_are_smaller_where_there_are_more(void **state)
{
    static const struct {
        int procs;
        uint32_t bytes;
    } cases[] = {{1, RING_MOST},     {2, RING_MOST},     {3, RING_MOST},     {4, RING_MOST / 2},
                 {5, RING_MOST / 2}, {6, RING_MOST / 4}, {9, RING_MOST / 4}, {10, RING_LEAST},
                 {17, RING_LEAST},   {1000, RING_LEAST}};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        struct engine *from = new_engine(), *to = new_engine();
        struct rma_peer *peer = know(from, &to->record);
        from->rma.progress.node_procs = i % 2 ? 0 : cases[i / 2].procs;
        from->env.node_procs_bound = i % 2 ? cases[i / 2].procs : 0; /* what the launcher says */
        assert_int_equal(from->env.peer_connect(from, peer), MRMA_SUCCESS);
        assert_int_equal(atomic_load(&to->own->rings[0].bytes), cases[i / 2].bytes);
        from->env.peer_put(from, peer);
        engine_destroy(from);
        engine_destroy(to);
    }
}

/* One whose size is none, or that is not all in its sender's memory: the sender can see that it is
 * refused. */
static void a_ring_that_cannot_be_is_refused(void **state)
{
    static const uint32_t bytes[] = {RING_LEAST + 64, RING_LEAST / 2, 2 * RING_MOST, 1, RING_MOST};
    enum { ROOM = RING_MOST + 4096, LATER = 65536 }; /* so large that it is a segment of its own */
    (void)state;
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        struct engine *from = new_engine(), *to = new_engine();
        struct rma_peer *peer = know(to, &from->record);
        struct procseg_ring *entry = &to->own->rings[0];
        void *memory;
        assert_int_equal(heap_alloc(from->heap, ROOM, 64, &memory), MRMA_SUCCESS);
        assert_true(heap_find(from->heap, memory, ROOM, &entry->where));
        entry->where.offset += LATER;
        entry->sender = from->uid;
        atomic_store(&entry->bytes, bytes[i]);
        atomic_store(&to->own->nrings, 1);
        assert_int_equal(to->env.peer_connect(to, peer), MRMA_SUCCESS);
        for (int k = 0; k < 3; k++)
            (void)rma_poll(&to->rma);
        assert_int_equal(atomic_load(&entry->refused), 1);
        to->env.peer_put(to, peer);
        engine_destroy(to);
        engine_destroy(from);
    }
}

/* Somebody has taken the place before it, and has died before it could say where its ring is. */
static void a_ring_behind_one_that_was_never_filled(void **state)
{
    (void)state;
    struct pair p = new_pair();
    atomic_store(&p.to->own->rings[0].sender, 4711);
    assert_false(rma_pending(&p.to->rma));
    assert_false(rma_poll(&p.to->rma));
    assert_int_equal(p.from->env.peer_connect(p.from, p.peer), MRMA_SUCCESS);
    assert_int_equal(ch3_send(&p.peer->vc, &stray, sizeof stray, NULL, false), MRMA_SUCCESS);
    assert_true(rma_pending(&p.to->rma));
    assert_true(rma_poll(&p.to->rma));
    assert_int_equal(p.to->ch3.stats.packets_received, 1);
    assert_false(rma_pending(&p.to->rma));
    end_pair(&p);
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
        struct engine *e = new_engine();
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
    struct engine *e = new_engine();
    pthread_t onlooker;
    assert_int_equal(pthread_create(&onlooker, NULL, keeps_asking, e), 0);
    const size_t descriptors = open_descriptors(), mappings = count_lines("/proc/self/maps");
    for (int i = 0; i < many; i++) {
        struct rma_proc_record rec;
        const pid_t pid = start_sender(e, &rec);
        struct rma_peer *peer = know(e, &rec);
        assert_int_equal(e->env.peer_connect(e, peer), MRMA_SUCCESS);
        assert_true(e->env.peer_alive(e, peer)); /* somebody has waited for it */
        (void)rma_poll(&e->rma);
        e->env.peer_put(e, peer);
        end_process(pid);
    }
    assert_in_range(open_descriptors(), 0,
                    descriptors + 2 * (LAST + 2)); /* of watching, and of my ring */
    assert_in_range(count_lines("/proc/self/maps"), 0, mappings + MAPPINGS_EACH * (LAST + 4));
    assert_in_range(rings_announced(e), 1, LAST + 1);
    atomic_store(&e->agent_stop, true);
    pthread_join(onlooker, NULL);
    engine_destroy(e);
    assert_in_range(open_descriptors(), 0, descriptors);
}

static int tests(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test(a_dead_peer_is_dead),
        cmocka_unit_test(a_reused_number_is_another_process),
        cmocka_unit_test(attends_while_it_polls_with_an_agent),
        cmocka_unit_test(an_answer_wakes_no_agent),
        cmocka_unit_test(a_full_ring_wakes_the_agent),
        cmocka_unit_test(what_comes_last_is_served_when_polling_ends),
        cmocka_unit_test(what_a_call_of_the_host_leaves_is_served),
        cmocka_unit_test(a_call_of_the_host_that_polls_spares_wake_ups),
        cmocka_unit_test(rings_are_smaller_where_there_are_more),
        cmocka_unit_test(a_ring_that_cannot_be_is_refused),
        cmocka_unit_test(a_ring_behind_one_that_was_never_filled),
        cmocka_unit_test(peers_may_attach_if_it_is_allowed),
        cmocka_unit_test(who_has_ended_leaves_nothing),
    };
    return cmocka_run_group_tests_name("engine_peer", list, NULL, NULL);
}

int main(void)
{
    return run_with_skips(tests);
}
