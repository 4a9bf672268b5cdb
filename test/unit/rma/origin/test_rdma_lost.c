/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rdma_lost.c - a process dies while the network's own puts and gets towards it are
 * under way (rma/origin/rdma.c, netmod/ofi/ofi_rma.c): all layers, two processes, a connection.
 *
 * The target is stopped when its lock has been granted, so that nothing of what the
 * origin starts then can end, and is killed a moment later, while the origin waits: in a
 * flush, in the request's test, or in the call itself, for room. Each ends with an error in
 * bounded time; then window and engine can be ended, at once.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/err.h"
#include "engine/engine_impl.h"

enum {
    NPROC = 2,
    ORIGIN = 0,
    TARGET = 1,
    ROW = 2048,
    WIN_BYTES = 8 << 20,
    MOST = 1000,
    SECONDS = 20
};

/* ---- two processes and an exchange between them ---- */

struct meeting {
    pthread_barrier_t barrier;
    unsigned char rows[NPROC][ROW];
};

static struct meeting *meeting;

static int allgather(struct boot *boot, const void *mine, void *all, size_t len)
{
    if (len > ROW)
        return MRMA_ERR_INTERN;
    memcpy(meeting->rows[boot->rank], mine, len);
    pthread_barrier_wait(&meeting->barrier);
    for (int i = 0; i < NPROC; i++)
        memcpy((char *)all + (size_t)i * len, meeting->rows[i], len);
    pthread_barrier_wait(&meeting->barrier);
    return MRMA_SUCCESS;
}

static int allmax(struct boot *boot, int mine, int *max)
{
    int all[NPROC], err = allgather(boot, &mine, all, sizeof mine);
    *max = all[0] > all[1] ? all[0] : all[1];
    return err;
}

static void new_meeting(void)
{
    pthread_barrierattr_t shared;
    meeting =
        mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(meeting, MAP_FAILED);
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&meeting->barrier, &shared, NPROC);
    pthread_barrierattr_destroy(&shared);
}

struct process {
    struct engine *engine;
    struct win *win;
};

static int join(struct process *p, int rank)
{
    struct conf conf = conf_default;
    conf.ranks_per_node = 1;
    conf.ofi_rdma = CONF_RDMA_ON;
    strcpy(conf.ofi_interface, "lo");
    struct boot boot = {.rank = rank, .nproc = NPROC, .allgather = allgather, .allmax = allmax};
    const struct win_spec spec = {.flavor = WIN_ALLOCATE,
                                  .size = WIN_BYTES,
                                  .disp_unit = 1,
                                  .hints = win_hints_default(),
                                  .boot = &boot};
    struct log quiet;
    log_init(&quiet, LOG_LEVEL_ERROR, -1, "rdma lost");
    int err =
        engine_create(&conf, &quiet, &(struct engine_process){.world_rank = rank}, &p->engine);
    return err ? err : win_create(engine_rma(p->engine), &spec, &p->win);
}

static pid_t start_target(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        struct process p;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (join(&p, TARGET))
            _exit(1);
        for (;;)
            pause(); /* its agent serves */
    }
    return pid;
}

/* ---- the origin ---- */

static struct dtype bytes;

struct large {
    unsigned char *memory;
    struct rma_req req;
};

static struct rma_op large_op(struct large *l, bool put)
{
    rma_req_init(&l->req);
    return (struct rma_op){.oaddr = l->memory,
                           .ocount = WIN_BYTES,
                           .otype = &bytes,
                           .raddr = l->memory,
                           .rcount = WIN_BYTES,
                           .rtype = &bytes,
                           .target = TARGET,
                           .tcount = WIN_BYTES,
                           .ttype = &bytes,
                           .req = put ? NULL : &l->req};
}

/* The target can't be in the way of its own end. */
struct killer {
    pthread_t thread;
    pid_t pid;
    struct win *win;
    uint32_t under_way; /* when it was killed */
};

static void *kill_soon(void *arg)
{
    struct killer *k = arg;
    const struct timespec moment = {.tv_nsec = 300000000};
    nanosleep(&moment, NULL);
    rma_enter(k->win->rma);
    k->under_way = k->win->origin_side.rdma_ops;
    rma_leave(k->win->rma);
    kill(k->pid, SIGKILL);
    return NULL;
}

static void hold_lock(struct win *w)
{
    const char byte = 1;
    const struct rma_op op = {.oaddr = &byte,
                              .ocount = 1,
                              .otype = &bytes,
                              .target = TARGET,
                              .tcount = 1,
                              .ttype = &bytes};
    assert_int_equal(rma_lock(w, false, TARGET, 0), MRMA_SUCCESS);
    assert_int_equal(rma_put(w, &op), MRMA_SUCCESS);
    assert_int_equal(rma_flush(w, TARGET, false), MRMA_SUCCESS);
}

static int until_request_ends(struct win *w, struct large *l)
{
    while (!rma_req_done(&l->req))
        rma_progress_requests(w->rma);
    return atomic_load(&l->req.err);
}

/* How the origin learns it: what it does between the target's stop and its end. */
enum how { BY_FLUSH, BY_REQUEST, BY_UNLOCK, BY_WANT_OF_ROOM };

static int learn(struct win *w, struct large *l, enum how how)
{
    struct rma_op op = large_op(l, how == BY_FLUSH);
    int err = MRMA_SUCCESS;
    for (int i = 0; !err && i < (how == BY_WANT_OF_ROOM ? MOST : 1); i++)
        err = how == BY_REQUEST || how == BY_UNLOCK ? rma_get(w, &op) : rma_put(w, &op);
    if (how == BY_WANT_OF_ROOM || err)
        return err;
    return how == BY_FLUSH     ? rma_flush(w, TARGET, false)
           : how == BY_REQUEST ? until_request_ends(w, l)
                               : rma_unlock(w, TARGET);
}

/* All its threads: until then its agent, or the provider's, might serve what comes. */
static void stop_process(pid_t pid)
{
    int status = 0;
    assert_int_equal(kill(pid, SIGSTOP), 0);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
}

static void lose(enum how how)
{
    struct large large = {.memory = calloc(1, WIN_BYTES)};
    struct process origin;
    new_meeting();
    const pid_t pid = start_target();
    alarm(SECONDS);
    assert_int_equal(join(&origin, ORIGIN), MRMA_SUCCESS);
    struct killer killer = {.pid = pid, .win = origin.win};
    hold_lock(origin.win);
    stop_process(pid);
    assert_int_equal(pthread_create(&killer.thread, NULL, kill_soon, &killer), 0);
    const int err = learn(origin.win, &large, how);
    pthread_join(killer.thread, NULL);
    assert_int_equal(err, MRMA_ERR_PROC_FAILED);
    assert_true(killer.under_way > 0);
    assert_int_equal(origin.win->origin_side.rdma_ops, 0);
    free(large.memory);
    win_free_end(origin.win);
    engine_destroy(origin.engine);
    alarm(0);
    assert_int_equal(wait_child(pid), 128 + SIGKILL);
    munmap(meeting, sizeof *meeting);
}

static void in_a_flush(void **state)
{
    (void)state;
    lose(BY_FLUSH);
}
static void in_a_request(void **state)
{
    (void)state;
    lose(BY_REQUEST);
}
static void in_an_unlock(void **state)
{
    (void)state;
    lose(BY_UNLOCK);
}
static void for_want_of_room(void **state)
{
    (void)state;
    lose(BY_WANT_OF_ROOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_flush),
        cmocka_unit_test(in_a_request),
        cmocka_unit_test(in_an_unlock),
        cmocka_unit_test(for_want_of_room),
    };
    bytes = dtype_basic(ACC_U8);
    return cmocka_run_group_tests_name("rdma_lost", tests, NULL, NULL);
}
