/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_create_memory.c - window creation when one process runs out of memory
 * (rma/create/win_create.c, engine_net.c): nobody waits for it, and all end alike.
 *
 * Two engines with all layers, as they ship, in two threads, and an exchange between
 * them that hangs if one does not come. The first process's n-th allocation fails, for
 * every n until creation needs no more. Whatever n is, creation succeeds at both or at
 * none, and the next creation, with memory, succeeds.
 *
 * malloc and the like of the library are the linker's __wrap_ functions here.
 */
#include "test/support/base_helper.h"

#include <pthread.h>

#include "base/err.h"
#include "engine/engine.h"
#include "rma/win/win.h"

enum { NPROC = 2, VICTIM = 0, ROW = 2048, WIN_BYTES = 4096, SECONDS = 60 };

/* ---- memory ---- */

static _Thread_local long until_failure; /* allocations; 0: none fails */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *ptr, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

static bool fails(void)
{
    return until_failure > 0 && --until_failure == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}
void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *ptr, size_t size)
{
    return fails() ? NULL : __real_realloc(ptr, size);
}
void *__wrap_aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(align, size);
}

/* ---- the exchange: boot_mpi.c's rules without a host ---- */

static struct {
    pthread_barrier_t barrier;
    unsigned char rows[NPROC][ROW];
    int refused[NPROC];
} meeting;

struct side {
    struct boot boot;
    int refused, verdict;
    bool begun;
};

static int allgather(struct boot *boot, const void *mine, void *all, size_t len)
{
    struct side *s = boot->handle;
    const bool first = !s->begun;
    s->begun = true;
    if (s->verdict || len > ROW)
        return s->verdict ? s->verdict : MRMA_ERR_INTERN;
    memcpy(meeting.rows[boot->rank], mine, len);
    meeting.refused[boot->rank] = s->refused;
    pthread_barrier_wait(&meeting.barrier);
    for (int i = 0; i < NPROC; i++) {
        memcpy((char *)all + (size_t)i * len, meeting.rows[i], len);
        if (first && !s->verdict)
            s->verdict = meeting.refused[i];
    }
    pthread_barrier_wait(&meeting.barrier);
    return s->verdict;
}

static int allmax(struct boot *boot, int mine, int *max)
{
    int all[NPROC], err = allgather(boot, &mine, all, sizeof mine);
    for (int i = 0; !err && i < NPROC; i++)
        *max = i == 0 || all[i] > *max ? all[i] : *max;
    return err;
}

/* ---- a process ---- */

struct process {
    int rank;
    struct engine *engine;
    const struct conf *conf;
    enum win_flavor flavor;
    long nth;     /* allocation to fail, 0: none */
    bool ran_out; /* it has come to that */
    int err;      /* of the creation with too little memory */
    int again;    /* and of the one after it */
    unsigned char memory[WIN_BYTES];
};

static int create(struct process *p, struct win **w)
{
    struct side side = {.boot = {.rank = p->rank,
                                 .nproc = NPROC,
                                 .allgather = allgather,
                                 .allmax = allmax,
                                 .handle = &side}};
    const struct win_spec spec = {.flavor = p->flavor,
                                  .base = p->flavor == WIN_CREATE ? p->memory : NULL,
                                  .size = p->flavor == WIN_DYNAMIC ? 0 : WIN_BYTES,
                                  .disp_unit = 1,
                                  .hints = win_hints_default(),
                                  .boot = &side.boot};
    int err = win_create(engine_rma(p->engine), &spec, w);
    if (err && !side.begun) { /* as src/mpi does: the others must hear of it */
        unsigned char nothing[1] = {0}, all[NPROC];
        side.refused = err;
        (void)allgather(&side.boot, nothing, all, sizeof nothing);
    }
    return err;
}

static int end(struct win *w)
{
    int err = win_free_begin(w);
    if (!err)
        win_free_end(w);
    return err;
}

static void *process_main(void *arg)
{
    struct process *p = arg;
    struct win *w;
    until_failure = p->nth;
    p->err = create(p, &w);
    p->ran_out = p->nth && !until_failure;
    until_failure = 0;
    if (!p->err)
        p->err = end(w);
    p->again = create(p, &w);
    if (!p->again)
        p->again = end(w);
    return NULL;
}

/* ---- the tests ---- */

/* Is there an nth allocation? *failed counts creations that did not succeed. */
static bool run_out(const struct conf *conf, enum win_flavor flavor, long nth, unsigned *failed)
{
    static struct process procs[NPROC];
    pthread_t threads[NPROC];
    struct log quiet;
    log_init(&quiet, LOG_LEVEL_ERROR, -1, "create");
    for (int i = 0; i < NPROC; i++) {
        procs[i] = (struct process){
            .rank = i, .conf = conf, .flavor = flavor, .nth = i == VICTIM ? nth : 0};
        assert_int_equal(engine_create(conf, &quiet, &(struct engine_process){.world_rank = i},
                                       &procs[i].engine),
                         MRMA_SUCCESS);
    }
    alarm(SECONDS);
    for (int i = 0; i < NPROC; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, process_main, &procs[i]), 0);
    for (int i = 0; i < NPROC; i++)
        pthread_join(threads[i], NULL);
    alarm(0);
    for (int i = 0; i < NPROC; i++) {
        if (!procs[i].err != !procs[VICTIM].err || procs[i].again)
            fail_msg("allocation %ld fails: rank %d %s, then %s; rank %d %s", nth, i,
                     mrma_err_name(procs[i].err), mrma_err_name(procs[i].again), VICTIM,
                     mrma_err_name(procs[VICTIM].err));
        if (procs[i].err)
            assert_int_equal(procs[i].err, MRMA_ERR_NO_MEM);
        engine_destroy(procs[i].engine);
    }
    *failed += procs[VICTIM].err != MRMA_SUCCESS;
    return procs[VICTIM].ran_out;
}

static void every_allocation(const struct conf *conf, enum win_flavor flavor)
{
    unsigned failed = 0;
    long nth = 1;
    while (run_out(conf, flavor, nth, &failed))
        nth++;
    assert_true(failed > 4); /* plan, window, targets, records, control block */
    assert_true(failed < nth);
}

static void test_create_within_a_node(void **state)
{
    (void)state;
    every_allocation(&conf_default, WIN_CREATE);
}

static void test_allocate_shared(void **state)
{
    (void)state;
    every_allocation(&conf_default, WIN_ALLOCATE_SHARED);
}

/* The launcher has said that one process is here: records are exchanged twice. */
static void test_allocate_with_too_few_slots(void **state)
{
    (void)state;
    setenv("MPI_LOCALNRANKS", "1", 1);
    every_allocation(&conf_default, WIN_ALLOCATE);
    unsetenv("MPI_LOCALNRANKS");
}

static struct conf by_network(void)
{
    struct conf conf = conf_default;
    conf.ranks_per_node = 1;
    strcpy(conf.ofi_interface, "lo");
    return conf;
}

static void test_create_over_the_network(void **state)
{
    (void)state;
    const struct conf conf = by_network();
    every_allocation(&conf, WIN_CREATE);
}

static void test_dynamic_over_the_network(void **state)
{
    (void)state;
    const struct conf conf = by_network();
    every_allocation(&conf, WIN_DYNAMIC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_within_a_node),
        cmocka_unit_test(test_allocate_shared),
        cmocka_unit_test(test_allocate_with_too_few_slots),
        cmocka_unit_test(test_create_over_the_network),
        cmocka_unit_test(test_dynamic_over_the_network),
    };
    unsetenv("MPI_LOCALNRANKS");
    unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    pthread_barrier_init(&meeting.barrier, NULL, NPROC);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
