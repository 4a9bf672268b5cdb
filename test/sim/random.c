/*
 * random.c - random programs on the in-process fabric against a sequential oracle.
 *
 * A seed gives a fabric (processes, nodes, agents or polling, a good or a bad
 * channel, kind of window memory) and a program: a sequence of epochs of all
 * kinds, each with random operations of all kinds, small and larger than the
 * rings, contiguous and strided. The main thread makes the program and computes
 * with plain arrays what must come out; the processes run it with random pauses.
 *
 * So that the outcome is unique (MPI 4.1, 12.7): of every window each process has
 * a lane that only it accesses, and within an epoch (or between flushes) a cell is
 * either put, or got, or accumulated; a shared area takes sums from everybody; a
 * counter is read, incremented and written back under the exclusive lock.
 *
 *   random              the seeds that the test suite runs
 *   random SEED [N]     N programs from SEED on; a failure prints its seed
 */
#include "../unit/pkt_helper.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { LANE = 20000, SHARED = 64, MAX_OPS = 4000, EPOCHS = 14, MAX_PROCS = 5, SUITE = 60 };

enum kind { OP_PUT, OP_GET, OP_ACC, OP_GET_ACC, OP_CAS, OP_SUM, OP_COUNTER, OP_KINDS };
enum epoch_type { E_FENCE, E_FENCE_CHAIN, E_PSCW, E_LOCK, E_LOCK_ALL, E_TYPES };
enum sync_after { S_NONE, S_FLUSH, S_FLUSH_LOCAL, S_FLUSH_ALL, S_FLUSH_LOCAL_ALL, S_RELOCK, S_KINDS };
enum use { UNUSED, PUT, GOT, ACCUMULATED };

/* Cells first, first + step, ... of the target; n of them. */
struct op {
    int origin, target;
    enum kind kind;
    enum acc_op acc;
    size_t first, step, n, origin_step;
    uint64_t value;      /* what the origin's data is made of */
    int64_t compare;     /* OP_CAS */
    bool request, finish; /* by request, and waited for at once */
    unsigned pause;
    enum sync_after sync;
    int64_t *expected, *origin_buf, *result;
    struct rma_req req;
    struct dtype *ttype, *otype;
};

struct epoch_plan {
    enum epoch_type type;
    bool member[MAX_PROCS][MAX_PROCS]; /* PSCW: origin, target */
    bool exclusive[MAX_PROCS];         /* LOCK: by origin */
    bool test;
};

static struct {
    uint64_t seed, state;
    struct fabric *fabric;
    int nproc;
    enum win_flavor flavor;
    size_t cells;
    int64_t *model[MAX_PROCS], *memory[MAX_PROCS];
    struct win *win[MAX_PROCS];
    unsigned char *use; /* of the lane cells in the present epoch: [origin][target][cell] */
    struct epoch_plan plan;
    struct op *ops;
    size_t nops;
} sim;

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static size_t below(size_t n)
{
    sim.state += UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mix(sim.state) % n);
}

static int64_t datum(uint64_t value, size_t i)
{
    return (int64_t)(mix(value + i) >> 8);
}

/* ---- making a program and its outcome ---- */

static int64_t apply(enum acc_op op, int64_t old, int64_t data)
{
    switch (op) {
    case ACC_SUM:
        return (int64_t)((uint64_t)old + (uint64_t)data);
    case ACC_PROD:
        return (int64_t)((uint64_t)old * (uint64_t)data);
    case ACC_MAX:
        return old > data ? old : data;
    case ACC_BXOR:
        return old ^ data;
    case ACC_REPLACE:
        return data;
    default:
        return old;
    }
}

static struct dtype *strided(size_t n, size_t step)
{
    const struct dtype_run run = {.disp = 0, .len = step == 1 ? 8 * n : 8, .stride = (ptrdiff_t)(8 * step),
                                  .n = step == 1 ? 1 : n};
    const struct dtype form = {.size = 8 * n, .extent = (ptrdiff_t)(8 * n * step), .basic = ACC_I64,
                               .elems = n, .runs = &run, .eruns = &run, .nruns = n != 0, .neruns = n != 0};
    struct dtype *type;
    FABRIC_CHECK(dtype_create(&form, &type) == MRMA_SUCCESS);
    return type;
}

static unsigned char *use_of(const struct op *o, size_t i)
{
    const size_t lane_cell = o->first + i * o->step - (size_t)o->origin * LANE;
    return &sim.use[((size_t)o->origin * MAX_PROCS + (size_t)o->target) * LANE + lane_cell];
}

static void forget_use(int origin, int target)
{
    memset(&sim.use[((size_t)origin * MAX_PROCS + (size_t)target) * LANE], UNUSED, LANE);
}

/* May the operation touch its cells now? Then they are marked. */
static bool claim(const struct op *o)
{
    const enum use wanted = o->kind == OP_PUT ? PUT : o->kind == OP_GET ? GOT : ACCUMULATED;
    for (size_t i = 0; i < o->n; i++)
        if (*use_of(o, i) != UNUSED && (wanted == PUT || *use_of(o, i) != wanted))
            return false;
    for (size_t i = 0; i < o->n; i++)
        *use_of(o, i) = (unsigned char)wanted;
    return true;
}

static size_t random_count(void)
{
    switch (below(12)) {
    case 0:
        return below(LANE); /* streams, also longer than a ring */
    case 1:
    case 2:
        return below(2000); /* about a packet */
    case 3:
        return 0;
    default:
        return 1 + below(12);
    }
}

static void compute(struct op *o)
{
    int64_t *model = sim.model[o->target];
    for (size_t i = 0; i < o->n; i++) {
        int64_t *cell = &model[o->first + i * o->step];
        o->expected[i] = *cell;
        if (o->kind == OP_PUT)
            *cell = datum(o->value, i);
        else if (o->kind == OP_CAS)
            *cell = *cell == o->compare ? datum(o->value, i) : *cell;
        else if (o->kind == OP_COUNTER)
            *cell += 1;
        else if (o->kind != OP_GET)
            *cell = apply(o->acc, *cell, datum(o->value, i));
    }
}

static void choose_cells(struct op *o)
{
    o->n = o->kind == OP_CAS ? 1 : random_count();
    o->step = below(3) ? 1 : 1 + below(4);
    if (o->n * o->step > LANE)
        o->n = LANE / o->step;
    o->first = (size_t)o->origin * LANE + below(LANE - o->n * o->step + 1);
    if (o->first + 1 > ((size_t)o->origin + 1) * LANE) /* none, at the very end */
        o->first--;
}

static void share(struct op *o, enum kind kind)
{
    o->kind = kind;
    o->acc = ACC_SUM;
    o->step = 1;
    o->n = kind == OP_COUNTER ? 1 : 1 + below(SHARED - 1);
    o->first = (size_t)sim.nproc * LANE + (kind == OP_COUNTER ? SHARED : below(SHARED - o->n));
}

static bool is_passive(void)
{
    return sim.plan.type == E_LOCK || sim.plan.type == E_LOCK_ALL;
}

/* One operation of origin, and what comes of it. */
static void add_op(int origin, int target)
{
    static const enum acc_op accs[] = {ACC_SUM, ACC_PROD, ACC_MAX, ACC_BXOR, ACC_REPLACE, ACC_NO_OP};
    struct op *o = &sim.ops[sim.nops];
    if (sim.nops == MAX_OPS)
        return;
    *o = (struct op){.origin = origin, .target = target, .kind = (enum kind)below(OP_KINDS)};
    o->value = mix(sim.seed) + sim.nops * LANE;
    o->acc = accs[below(sizeof accs / sizeof *accs)];
    o->pause = below(20) ? 0 : (unsigned)below(200);
    if (o->kind == OP_ACC && o->acc == ACC_NO_OP)
        o->acc = ACC_SUM;
    const bool counts = sim.plan.type == E_LOCK && sim.plan.exclusive[origin];
    if (o->kind == OP_SUM || (o->kind == OP_COUNTER && !counts)) {
        share(o, OP_SUM);
    } else if (o->kind == OP_COUNTER) {
        share(o, OP_COUNTER);
    } else {
        choose_cells(o);
        if (!claim(o))
            share(o, OP_SUM);
    }
    o->origin_step = below(4) ? 1 : 1 + below(3);
    if (o->kind == OP_CAS)
        o->compare = below(2) ? sim.model[target][o->first] : 7;
    o->expected = malloc((o->n + 1) * 8);
    compute(o);
    if (is_passive()) {
        o->request = o->kind < OP_CAS && !below(4);
        o->finish = below(2);
        o->sync = below(3) ? S_NONE : (enum sync_after)below(S_KINDS);
        if (o->sync == S_RELOCK && sim.plan.type != E_LOCK)
            o->sync = S_FLUSH;
        if (o->kind == OP_COUNTER || o->sync == S_FLUSH || o->sync == S_RELOCK)
            forget_use(origin, target);
        for (int t = 0; o->sync == S_FLUSH_ALL && t < sim.nproc; t++)
            if (sim.plan.type == E_LOCK_ALL || t == target)
                forget_use(origin, t);
    }
    sim.nops++;
}

static void make_epoch(void)
{
    struct epoch_plan *plan = &sim.plan;
    plan->type = (enum epoch_type)below(E_TYPES);
    plan->test = below(2);
    sim.nops = 0;
    memset(sim.use, UNUSED, (size_t)MAX_PROCS * MAX_PROCS * LANE);
    for (int o = 0; o < sim.nproc; o++) {
        plan->exclusive[o] = below(2);
        for (int t = 0; t < sim.nproc; t++)
            plan->member[o][t] = below(3) != 0;
    }
    for (int o = 0; o < sim.nproc; o++) {
        const int only = (int)below((size_t)sim.nproc);
        for (size_t n = below(below(5) ? 12 : 150); n; n--) {
            const int t = plan->type == E_LOCK ? only : (int)below((size_t)sim.nproc);
            if (plan->type != E_PSCW || plan->member[o][t])
                add_op(o, t);
        }
    }
}

/* ---- running it ---- */

static void wait_request(struct fabric_proc *p, struct op *o)
{
    while (!rma_req_done(&o->req)) {
        fabric_progress(p);
        sched_yield();
    }
    FABRIC_CHECK(atomic_load(&o->req.err) == MRMA_SUCCESS);
}

/* Under the exclusive lock. */
static void increment(struct win *w, struct op *o)
{
    const int64_t disp = (int64_t)o->first * 8;
    int64_t value;
    get(w, o->target, disp, &value, 8);
    OK(rma_flush(w, o->target));
    value++;
    put(w, o->target, disp, &value, 8);
    OK(rma_flush(w, o->target));
}

static void issue(struct fabric_proc *p, struct win *w, struct op *o)
{
    for (unsigned i = 0; i < o->pause; i++)
        sched_yield();
    if (o->kind == OP_COUNTER) {
        increment(w, o);
        return;
    }
    o->ttype = strided(o->n, o->step);
    o->otype = strided(o->n, o->origin_step);
    o->origin_buf = malloc((o->n * o->origin_step + 1) * 8);
    o->result = malloc((o->n * o->origin_step + 1) * 8);
    for (size_t i = 0; i < o->n; i++)
        o->origin_buf[i * o->origin_step] = datum(o->value, i);
    struct rma_op op = {.oaddr = o->origin_buf, .ocount = 1, .otype = o->otype, .raddr = o->result,
                        .rcount = 1, .rtype = o->otype, .target = o->target,
                        .disp = (int64_t)o->first * 8, .tcount = 1,
                        .ttype = o->ttype};
    if (o->kind == OP_ACC || o->kind == OP_GET_ACC || o->kind == OP_SUM)
        op.op = o->acc;
    if (o->request) {
        rma_req_init(&o->req);
        op.req = &o->req;
    }
    switch (o->kind) {
    case OP_PUT:
        OK(rma_put(w, &op));
        break;
    case OP_GET:
        OK(rma_get(w, &op));
        break;
    case OP_GET_ACC:
        OK(rma_get_accumulate(w, &op));
        break;
    case OP_CAS:
        op.caddr = &o->compare;
        op.ttype = &pkt_i64;
        OK(rma_compare_and_swap(w, &op));
        break;
    default:
        OK(rma_accumulate(w, &op));
    }
    if (o->request && o->finish)
        wait_request(p, o);
}

static void check_op(struct op *o)
{
    if (o->kind == OP_COUNTER)
        return;
    if (o->request)
        FABRIC_CHECK(rma_req_done(&o->req) && atomic_load(&o->req.err) == MRMA_SUCCESS);
    for (size_t i = 0; i < o->n && (o->kind == OP_GET || o->kind == OP_GET_ACC || o->kind == OP_CAS); i++)
        FABRIC_CHECK(o->result[i * o->origin_step] == o->expected[i]);
    dtype_unref(o->ttype);
    dtype_unref(o->otype);
    free(o->origin_buf);
    free(o->result);
}

static void sync_after(struct win *w, const struct op *o)
{
    switch (o->sync) {
    case S_FLUSH:
        OK(rma_flush(w, o->target));
        break;
    case S_FLUSH_LOCAL:
        OK(rma_flush_local(w, o->target));
        break;
    case S_FLUSH_ALL:
        OK(rma_flush_all(w));
        break;
    case S_FLUSH_LOCAL_ALL:
        OK(rma_flush_local_all(w));
        break;
    case S_RELOCK:
        OK(rma_unlock(w, o->target));
        OK(rma_lock(w, sim.plan.exclusive[o->origin], o->target, 0));
        break;
    default:
        break;
    }
}

/* This process's operations; the only target of its lock epoch, or -1. */
static int my_target(int rank)
{
    for (size_t i = 0; i < sim.nops; i++)
        if (sim.ops[i].origin == rank)
            return sim.ops[i].target;
    return -1;
}

static void run_ops(struct fabric_proc *p, struct win *w)
{
    for (size_t i = 0; i < sim.nops; i++)
        if (sim.ops[i].origin == p->rank) {
            issue(p, w, &sim.ops[i]);
            sync_after(w, &sim.ops[i]);
        }
}

static void run_pscw(struct fabric_proc *p, struct win *w)
{
    int origins[MAX_PROCS], targets[MAX_PROCS], norigins = 0, ntargets = 0;
    for (int i = 0; i < sim.nproc; i++) {
        if (sim.plan.member[i][p->rank])
            origins[norigins++] = i;
        if (sim.plan.member[p->rank][i])
            targets[ntargets++] = i;
    }
    OK(rma_post(w, origins, norigins, 0));
    OK(rma_start(w, targets, ntargets, 0));
    run_ops(p, w);
    OK(rma_complete(w));
    bool done = !sim.plan.test;
    while (!done) {
        OK(rma_test(w, &done));
        sched_yield();
    }
    if (!sim.plan.test)
        OK(rma_wait(w));
}

static void run_epoch(struct fabric_proc *p, void *arg)
{
    struct win *w = sim.win[p->rank];
    const int target = my_target(p->rank);
    (void)arg;
    switch (sim.plan.type) {
    case E_FENCE:
        OK(rma_fence(w, RMA_NOPRECEDE));
        run_ops(p, w);
        OK(rma_fence(w, RMA_NOSUCCEED));
        break;
    case E_FENCE_CHAIN:
        OK(rma_fence(w, 0));
        run_ops(p, w);
        OK(rma_fence(w, 0));
        OK(rma_fence(w, RMA_NOSUCCEED));
        break;
    case E_PSCW:
        run_pscw(p, w);
        break;
    case E_LOCK:
        if (target >= 0) {
            OK(rma_lock(w, sim.plan.exclusive[p->rank], target, 0));
            run_ops(p, w);
            OK(rma_unlock(w, target));
        }
        rest(p);
        break;
    default:
        OK(rma_lock_all(w, 0));
        run_ops(p, w);
        OK(rma_unlock_all(w));
        rest(p);
    }
    for (size_t i = 0; i < sim.nops; i++)
        if (sim.ops[i].origin == p->rank)
            check_op(&sim.ops[i]);
    FABRIC_CHECK(memcmp(sim.memory[p->rank], sim.model[p->rank], sim.cells * 8) == 0);
}

static void create(struct fabric_proc *p, void *arg)
{
    (void)arg;
    if (sim.flavor == WIN_CREATE)
        sim.memory[p->rank] = calloc(sim.cells, 8);
    struct win *w = fabric_win(p, sim.flavor, sim.memory[p->rank], sim.cells * 8, 1);
    sim.memory[p->rank] = *win_base_attr(w);
    sim.win[p->rank] = w;
    rest(p);
}

static void destroy(struct fabric_proc *p, void *arg)
{
    (void)arg;
    fabric_win_free(sim.win[p->rank]);
    if (sim.flavor == WIN_CREATE)
        free(sim.memory[p->rank]);
    FABRIC_CHECK(refused(p) == 0);
}

static void run_program(uint64_t seed)
{
    memset(&sim, 0, sizeof sim);
    sim.seed = sim.state = seed;
    struct fabric_opts opts = {.nproc = 2 + (int)below(MAX_PROCS - 1), .seed = seed};
    opts.per_node = below(2) ? 0 : 1 + (int)below(3);
    opts.path = below(2) ? CONF_PATH_SHM_PACKETS : CONF_PATH_AUTO;
    opts.progress = below(2) ? CONF_PROGRESS_POLL : CONF_PROGRESS_AGENT;
    opts.refuse_percent = below(2) ? 0 : (unsigned)below(60);
    opts.delay_percent = below(2) ? 0 : (unsigned)below(60);
    sim.flavor = below(2) ? WIN_CREATE : WIN_ALLOCATE;
    sim.nproc = opts.nproc;
    sim.cells = (size_t)sim.nproc * LANE + SHARED + 1;
    sim.use = malloc((size_t)MAX_PROCS * MAX_PROCS * LANE);
    sim.ops = malloc(MAX_OPS * sizeof *sim.ops);
    atomic_store(&pkt_arrived, 0);
    fabric_watchdog(60);
    sim.fabric = fabric_new(&opts);
    for (int i = 0; i < sim.nproc; i++)
        sim.model[i] = calloc(sim.cells, 8);
    fabric_run(sim.fabric, create, NULL);
    for (int e = 0; e < EPOCHS; e++) {
        make_epoch();
        fabric_run(sim.fabric, run_epoch, NULL);
        for (size_t i = 0; i < sim.nops; i++)
            free(sim.ops[i].expected);
    }
    fabric_run(sim.fabric, destroy, NULL);
    fabric_free(sim.fabric);
    fabric_watchdog(0);
    for (int i = 0; i < sim.nproc; i++)
        free(sim.model[i]);
    free(sim.use);
    free(sim.ops);
}

static void on_abort(int sig)
{
    char text[64];
    (void)sig;
    int len = snprintf(text, sizeof text, "failed with seed %llu\n", (unsigned long long)sim.seed);
    if (write(2, text, (size_t)len) < 0)
        _exit(3);
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SUITE; seed++)
        run_program(seed);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    pkt_types_init();
    signal(SIGABRT, on_abort);
    if (argc < 2)
        return cmocka_run_group_tests_name("random programs", tests, NULL, NULL);
    const uint64_t first = strtoull(argv[1], NULL, 0), n = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    for (uint64_t i = 0; i < n; i++)
        run_program(first + i);
    printf("%llu programs, no failure\n", (unsigned long long)n);
    return 0;
}
