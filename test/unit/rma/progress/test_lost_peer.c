/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lost_peer.c - a packet peer dies, or its connection is lost, in the middle of
 * each kind of wait: everybody else's call ends with an error in bounded time, its
 * message names the rank, and windows and engines can be dropped.
 *
 * Or a ring is corrupt: both its ends learn it, though both are well, and so do the others.
 *
 * The dead process's thread leaves the test; dead is set, so that its peers are told
 * what the kernel would tell them. Survivors' windows end without communication.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include "test/support/base_helper.h"
#include "test/support/pkt_helper.h"

#include "rma/progress/wait.h"

enum { PROCS = 4, VICTIM = 3, TEXT = 65536 };

static struct log_pipe messages;

struct scene {
    void (*prepare)(struct fabric_proc *p, struct win *w); /* all */
    int (*wait)(struct fabric_proc *p, struct win *w);     /* survivors: must fail */
    enum conf_progress progress;
    enum { DIES, DISCONNECTED, CLOSES } how; /* the process; its connections; it ends in order */
};

static void body(struct fabric_proc *p, void *arg)
{
    const struct scene *s = arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 1 << 20, 1);
    if (s->prepare)
        s->prepare(p, w);
    rest(p);
    fabric_barrier(p); /* nobody polls any more */
    if (p->rank == VICTIM) {
        if (s->how == DIES)
            fabric_kill(p);
    } else {
        rma_enter(&p->rma);
        if (s->how == DISCONNECTED)
            ch3_vc_lost(&p->peers[VICTIM].peer.vc);
        if (s->how == CLOSES)
            ch3_vc_closed(&p->peers[VICTIM].peer.vc, true);
        rma_leave(&p->rma);
        const int err = s->wait(p, w);
        if (err != MRMA_ERR_PROC_FAILED)
            fprintf(stderr, "process %d: %s\n", p->rank, mrma_err_name(err));
        FABRIC_CHECK(err == MRMA_ERR_PROC_FAILED);
    }
    fabric_barrier(p);
    win_free_end(w);
}

/* main in all processes; what they have said is in text then. */
static const char *run_fabric(enum conf_progress progress,
                              void (*main)(struct fabric_proc *p, void *arg), void *arg)
{
    static char text[TEXT];
    fabric_watchdog(60);
    atomic_store(&pkt_arrived, 0);
    log_to_pipe(&messages, LOG_LEVEL_WARN);
    struct fabric *f = fabric_new(
        &(struct fabric_opts){.nproc = PROCS, .path = CONF_PATH_SHM_PACKETS, .progress = progress});
    for (int i = 0; i < PROCS; i++)
        f->procs[i].log.fd = messages.fd[1];
    fabric_run(f, main, arg);
    log_text(&messages, text, sizeof text);
    fabric_free(f);
    log_pipe_close(&messages);
    fabric_watchdog(0);
    return text;
}

static void run(struct scene s)
{
    FABRIC_CHECK(strstr(run_fabric(s.progress, body, &s), "rank 3 of window") != NULL);
}

/* All at once, each in a process of its own: they sleep until somebody looks who is alive. */
static void run_all(struct scene s)
{
    enum { VARIANTS = 5 }; /* one that has closed must not go on to serve by its agent */
    pid_t pids[VARIANTS];
    for (int i = 0; i < VARIANTS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            s.progress = i & 1 ? CONF_PROGRESS_AGENT : CONF_PROGRESS_POLL;
            s.how = i / 2;
            run(s);
            _exit(0);
        }
    }
    for (int i = 0; i < VARIANTS; i++)
        assert_int_equal(wait_child(pids[i]), 0);
}

static int wait_fence(struct fabric_proc *p, struct win *w)
{
    (void)p;
    return rma_fence(w, 0);
}

static void test_fence(void **state)
{
    (void)state;
    run_all((struct scene){.wait = wait_fence});
}

static int wait_free(struct fabric_proc *p, struct win *w)
{
    (void)p;
    return win_free_begin(w);
}

static void test_win_free(void **state)
{
    (void)state;
    run_all((struct scene){.wait = wait_free});
}

/* Posts for the victim, that never starts; gets from it, that has not posted. */
static int wait_pscw(struct fabric_proc *p, struct win *w)
{
    static const int victim = VICTIM;
    unsigned char in[8];
    if (p->rank) {
        const int err = rma_post(w, &victim, 1, 0), end = rma_wait(w);
        return err ? err : end;
    }
    OK(rma_start(w, &victim, 1, 0));
    const struct rma_op op = byte_op(NULL, in, VICTIM, 0, 8);
    const int err = rma_get(w, &op), end = rma_complete(w);
    return err ? err : end;
}

static void test_pscw(void **state)
{
    (void)state;
    run_all((struct scene){.wait = wait_pscw});
}

static int wait_test(struct fabric_proc *p, struct win *w)
{
    static const int victim = VICTIM;
    bool flag = false;
    int err = rma_post(w, &victim, 1, 0);
    (void)p;
    while (!err && !flag)
        err = rma_test(w, &flag);
    return err;
}

static void test_test(void **state)
{
    (void)state;
    run_all((struct scene){.wait = wait_test});
}

/* The victim holds the lock of process 0, or is itself the target. */
static void take_lock(struct fabric_proc *p, struct win *w)
{
    int64_t one = 1, old;
    if (p->rank == VICTIM) {
        OK(rma_lock(w, true, 0, 0));
        fetch_add(w, 0, 0, &one, &old, 1);
        OK(rma_flush(w, 0, false));
    }
}

/* Its agent may serve a lock, or take all of a put, until then. */
static void until_victim_is_lost(struct fabric_proc *p)
{
    bool lost = false;
    while (!lost) {
        rma_enter(&p->rma);
        lost = ch3_vc_is_lost(&p->peers[VICTIM].peer.vc) || p->peers[VICTIM].peer.vc.closed ||
               atomic_load_explicit(&p->fabric->procs[VICTIM].dead, memory_order_acquire);
        rma_leave(&p->rma);
        sched_yield();
    }
}

static int wait_lock(struct fabric_proc *p, struct win *w)
{
    unsigned char in[8];
    const int target = p->rank == 2 ? VICTIM : 0;
    if (target == VICTIM)
        until_victim_is_lost(p);
    int err = rma_lock(w, p->rank == 1, target, 0);
    if (err)
        return err;
    const struct rma_op op = byte_op(NULL, in, target, 0, 8);
    err = rma_get(w, &op);
    const int end = rma_unlock(w, target);
    return err ? err : end;
}

static void test_lock(void **state)
{
    (void)state;
    run_all((struct scene){.prepare = take_lock, .wait = wait_lock});
}

static int wait_flush(struct fabric_proc *p, struct win *w)
{
    static unsigned char big[1 << 20];
    if (p->conf.progress == CONF_PROGRESS_AGENT)
        until_victim_is_lost(p);
    OK(rma_lock_all(w, RMA_NOCHECK));
    const struct rma_op op = byte_op(big, NULL, VICTIM, 0, sizeof big); /* more than a ring */
    const int err = rma_put(w, &op), end = rma_flush_all(w, false);
    return err ? err : end;
}

static void test_flush(void **state)
{
    (void)state;
    run_all((struct scene){.wait = wait_flush});
}

/* Who waits for the request of an R-operation by polling alone. */
static int wait_request(struct fabric_proc *p, struct win *w)
{
    unsigned char in[8];
    struct rma_req req;
    struct rma_op op = byte_op(NULL, in, VICTIM, 0, 8);
    rma_req_init(&req);
    op.req = &req;
    OK(rma_lock_all(w, RMA_NOCHECK));
    const int err = rma_get(w, &op);
    while (!err && !rma_req_done(&req))
        rma_progress_requests(&p->rma);
    return err ? err : atomic_load(&req.err);
}

/* The victim answers until it is dead; without an agent it does not. */
static void test_request(void **state)
{
    (void)state;
    run((struct scene){.wait = wait_request, .progress = CONF_PROGRESS_POLL});
    run((struct scene){.wait = wait_request, .progress = CONF_PROGRESS_POLL, .how = CLOSES});
}

/* The call itself fails: nothing refers to its request any more, which the caller is about to free.
 */
static int wait_failed_call(struct fabric_proc *p, struct win *w)
{
    unsigned char in[8];
    struct rma_req req;
    struct rma_op op = byte_op(NULL, in, VICTIM, 0, 8);
    (void)p;
    rma_req_init(&req);
    op.req = &req;
    OK(rma_lock_all(w, RMA_NOCHECK));
    const int err = rma_get(w, &op);
    FABRIC_CHECK(rma_req_done(&req));
    return err;
}

static void test_failed_call(void **state)
{
    (void)state;
    run((struct scene){
        .wait = wait_failed_call, .progress = CONF_PROGRESS_POLL, .how = DISCONNECTED});
}

/* ---- a thread looks who is alive, another one frees the window ---- */

static struct watched {
    pthread_t thread;
    struct win *w;
    bool (*peer_alive)(void *ctx, struct rma_peer *peer);
    _Atomic bool looking, freed;
} watched;

enum { LONG_LOOK_MS = 200 };

/* In the midst of the look the other thread is given time. */
static bool look_for_long(void *ctx, struct rma_peer *peer)
{
    struct rma *r = watched.w->rma;
    if (!atomic_exchange(&watched.looking, true)) {
        FABRIC_CHECK(!elock_try(&r->lock));
        for (int ms = 0; ms < LONG_LOOK_MS && !atomic_load(&watched.freed); ms++)
            usleep(1000);
        FABRIC_CHECK(!atomic_load(&watched.freed));
    }
    return watched.peer_alive(ctx, peer);
}

static void *free_while_looked_at(void *arg)
{
    while (!atomic_load(&watched.looking))
        sched_yield();
    win_free_end(arg);
    atomic_store(&watched.freed, true);
    return NULL;
}

static void look_and_free(struct fabric_proc *p, void *arg)
{
    unsigned char in[8];
    struct rma_req req;
    struct rma_op op = byte_op(NULL, in, 1, 0, 8);
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 8, 1);
    (void)arg;
    rest(p);
    fabric_barrier(p); /* nobody polls any more, and so nobody answers */
    if (p->rank == 0) {
        watched = (struct watched){.w = w, .peer_alive = p->env.peer_alive};
        p->env.peer_alive = look_for_long;
        rma_req_init(&req);
        op.req = &req;
        OK(rma_lock_all(w, RMA_NOCHECK));
        OK(rma_get(w, &op)); /* nobody answers */
        FABRIC_CHECK(pthread_create(&watched.thread, NULL, free_while_looked_at, w) == 0);
        while (!atomic_load(&watched.looking))
            rma_progress_requests(&p->rma);
        FABRIC_CHECK(pthread_join(watched.thread, NULL) == 0);
        p->env.peer_alive = watched.peer_alive;
    }
    fabric_barrier(p);
    if (p->rank)
        win_free_end(w);
}

static void test_freed_while_looked_at(void **state)
{
    (void)state;
    fabric_watchdog(60);
    atomic_store(&pkt_arrived, 0);
    struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = 2,
                                                        .path = CONF_PATH_SHM_PACKETS,
                                                        .threads = true,
                                                        .progress = CONF_PROGRESS_POLL,
                                                        .quiet = true});
    fabric_run(f, look_and_free, NULL);
    fabric_free(f);
    fabric_watchdog(0);
}

/* ---- a ring between living processes is corrupt ---- */

struct spoilt {
    enum conf_progress progress;
    void (*body)(struct fabric_proc *p, struct win *w);
    const char *said[2];
};

static void spoilt_main(struct fabric_proc *p, void *arg)
{
    const struct spoilt *s = arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 1 << 20, 1);
    rest(p);
    s->body(p, w);
    fabric_barrier(p);
    win_free_end(w);
}

static void run_spoilt(struct spoilt s)
{
    const char *text = run_fabric(s.progress, spoilt_main, &s);
    for (int i = 0; i < 2; i++)
        if (!strstr(text, s.said[i]))
            fail_msg("'%s' is not said:\n%s", s.said[i], text);
    assert_non_null(strstr(text, "connection to rank 0 of window"));
    assert_non_null(strstr(text, "connection to rank 1 of window"));
}

/* Process 0 writes nonsense into its ring to process 1: both are told, and all others. */
static void nonsense(struct fabric_proc *p, struct win *w)
{
    struct ring *ring = p->peers[1].ring;
    rma_enter(&p->rma);
    if (p->rank == 0) {
        const uint64_t tail = p->peers[1].shm.tx.tail,
                       word = tail / RING_LEAST * RING_LEAST + CH3_PACKET_MAX + 1;
        memcpy(ring->bytes + tail % RING_LEAST, &word, sizeof word);
    }
    rma_leave(&p->rma);
    fabric_barrier(p);
    if (p->rank == 1)
        fabric_progress(p);
    fabric_barrier(p);
    FABRIC_CHECK(rma_fence(w, 0) == MRMA_ERR_PROC_FAILED);
}

static void test_corrupt_ring(void **state)
{
    (void)state;
    const struct spoilt s = {CONF_PROGRESS_POLL,
                             nonsense,
                             {"the ring of process", "it takes no packets from this one any more"}};
    run_spoilt(s);
    run_spoilt((struct spoilt){CONF_PROGRESS_AGENT, nonsense, {s.said[0], s.said[1]}});
}

/* Processes 0 and 1 meet, without progress. */
static void rest_of_two(void)
{
    static _Atomic unsigned met;
    const unsigned round = atomic_fetch_add(&met, 1) / 2 + 1;
    while (atomic_load(&met) < 2 * round)
        sched_yield();
}

/* Process 1 says that it has read what has not been sent. It does not poll until process 0
 * has no room. */
static void impossible(struct fabric_proc *p, struct win *w)
{
    static unsigned char big[4 * RING_LEAST];
    struct ring *ring = p->fabric->procs[0].peers[1].ring;
    if (p->rank == 1)
        atomic_store(&ring->head, UINT64_MAX / 2);
    if (p->rank < 2)
        rest_of_two();
    if (p->rank == 0) {
        OK(rma_lock_all(w, RMA_NOCHECK));
        const struct rma_op op = byte_op(big, NULL, 1, 0, sizeof big);
        const int err = rma_put(w, &op), end = rma_flush(w, 1, false);
        FABRIC_CHECK((err ? err : end) == MRMA_ERR_PROC_FAILED);
    }
    if (p->rank < 2)
        rest_of_two();
    if (p->rank)
        FABRIC_CHECK(win_free_begin(w) == MRMA_ERR_PROC_FAILED);
}

static void test_corrupt_position(void **state)
{
    (void)state;
    run_spoilt((struct spoilt){
        CONF_PROGRESS_POLL,
        impossible,
        {"its end of the ring is corrupt", "it takes no packets from this one any more"}});
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fence),
        cmocka_unit_test(test_win_free),
        cmocka_unit_test(test_pscw),
        cmocka_unit_test(test_test),
        cmocka_unit_test(test_lock),
        cmocka_unit_test(test_flush),
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_failed_call),
        cmocka_unit_test(test_freed_while_looked_at),
        cmocka_unit_test(test_corrupt_ring),
        cmocka_unit_test(test_corrupt_position),
    };
    pkt_types_init();
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("lost_peer", tests, NULL, NULL);
}
