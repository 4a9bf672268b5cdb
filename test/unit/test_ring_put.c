/*
 * test_ring_put.c - errors of small puts that are sent ahead to a kernel-assisted target
 * (issue_ring_put in rma/issue.c): the put that fills the packet has succeeded itself, so the
 * call that ends the epoch tells what became of those before it, once.
 *
 * The channel never has room, hence every packet is written by system calls: at once, or where the target
 * has not begun the phase, when it has (write_puts_later in rma/open_packet.c). Then the target's memory
 * cannot be written, there is no memory for the packet meanwhile, or the target dies.
 *
 * malloc of the library is the linker's __wrap_malloc here.
 */
#include "pkt_helper.h"
#include "rma/issue.h"

#include <sys/mman.h>

/* LEN: a stage (stage.h) has no room for it. */
enum { LEN = 4096, SIZE = 4 * PKT_MAX, PUTS = PKT_MAX / LEN + 1 };

enum epoch_way { FENCE, PSCW };

static unsigned char *area[3];

/* In this thread there is no memory for a packet. */
static _Thread_local bool out_of_memory;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
    return out_of_memory && size > LEN ? NULL : __real_malloc(size);
}

static void begin(struct win *w, int rank, enum epoch_way way)
{
    const int other = 1 - rank;
    if (way == FENCE)
        OK(rma_fence(w, 0));
    else
        OK(rank ? rma_post(w, &other, 1, 0) : rma_start(w, &other, 1, 0));
}

static int end(struct win *w, int rank, enum epoch_way way)
{
    return way == FENCE ? rma_fence(w, RMA_NOSUCCEED) : rank ? rma_wait(w) : rma_complete(w);
}

static void protect(int prot)
{
    FABRIC_CHECK(mprotect(area[1], SIZE, prot) == 0);
}

static void early_error(struct fabric_proc *p, void *arg)
{
    const enum epoch_way way = *(const enum epoch_way *)arg;
    struct win *w = fabric_win(p, WIN_CREATE, area[p->rank], SIZE, 1);
    unsigned char data[LEN];
    memset(data, 7, sizeof data);
    begin(w, p->rank, way);
    fabric_barrier(p);
    if (p->rank == 0) {
        put(w, 1, 0, data, sizeof data); /* the first access waits for the target and is done at once */
        const uint64_t before = p->rma.stats.ring_puts;
        protect(PROT_NONE);
        for (int i = 1; i <= PUTS; i++)
            put(w, 1, i * LEN, data, sizeof data);
        protect(PROT_READ | PROT_WRITE);
        FABRIC_CHECK(p->rma.stats.ring_puts == before + PUTS); /* none was refused on the spot */
        FABRIC_CHECK(end(w, 0, way) == MRMA_ERR_RMA_RANGE);
        FABRIC_CHECK(area[1][LEN] == 0 && area[1][PUTS * LEN] == 7); /* what the second packet had is there */
    } else {
        OK(end(w, 1, way));
    }
    begin(w, p->rank, way);
    if (p->rank == 0)
        put(w, 1, LEN, data, sizeof data);
    OK(end(w, p->rank, way));
    FABRIC_CHECK(area[1][LEN] == 7);
    fabric_barrier(p);
    fabric_win_free(w);
}

static void run_on(const struct fabric_opts *opts, void (*body)(struct fabric_proc *p, void *arg), const void *arg)
{
    for (int i = 0; i < opts->nproc; i++) {
        area[i] = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(area[i], MAP_FAILED);
    }
    fabric_watchdog(120);
    struct fabric *f = fabric_new(opts);
    fabric_run(f, body, (void *)(uintptr_t)arg);
    fabric_free(f);
    fabric_watchdog(0);
    for (int i = 0; i < opts->nproc; i++)
        munmap(area[i], SIZE);
}

/* threads: the processes have a lock, under which the other may look. */
static void run(void (*body)(struct fabric_proc *p, void *arg), const void *arg, bool threads)
{
    run_on(&(struct fabric_opts){.nproc = 2, .threads = threads, .refuse_percent = 100, .quiet = true}, body, arg);
}

static void test_early_error(void **state)
{
    (void)state;
    for (enum epoch_way way = FENCE; way <= PSCW; way++)
        run(early_error, &way, false);
}

/* ---- the origin is a phase ahead ---- */

enum trouble { NONE, UNWRITABLE, NO_MEMORY, DEATH };

/* The first process's window. It is in a phase that the second has not begun, and waits for that. */
static struct win *_Atomic first_win;

static void await_waiter(struct win *w)
{
    for (bool waits = false; !waits; sched_yield()) {
        rma_enter(w->rma);
        waits = w->packet_waits != 0;
        rma_leave(w->rma);
    }
}

/* The last put of them has no room in the packet, which cannot leave by ring. */
static void put_ahead(struct win *w, bool memory)
{
    unsigned char data[LEN];
    memset(data, 7, sizeof data);
    out_of_memory = !memory;
    for (int i = 0; i < PUTS; i++)
        put(w, 1, i * LEN, data, sizeof data);
    out_of_memory = false;
}

static void check_area(bool written)
{
    FABRIC_CHECK(area[1][0] == (written ? 7 : 0) && area[1][2 * LEN - 1] == (written ? 7 : 0));
}

static void ahead(struct fabric_proc *p, void *arg)
{
    const enum trouble trouble = *(const enum trouble *)arg;
    static const int expected[] = {MRMA_SUCCESS, MRMA_ERR_RMA_RANGE, MRMA_ERR_NO_MEM, MRMA_ERR_PROC_FAILED};
    struct win *w = fabric_win(p, WIN_CREATE, area[p->rank], SIZE, 1);
    if (p->rank == 0) {
        atomic_store(&first_win, w);
        OK(rma_fence(w, RMA_NOPRECEDE));
        fabric_barrier(p);
        put_ahead(w, trouble != NO_MEMORY);
        FABRIC_CHECK(w->packet_waits == (trouble != NO_MEMORY));
        check_area(trouble == NONE);
        protect(PROT_READ | PROT_WRITE);
        fabric_barrier(p);
        FABRIC_CHECK(rma_fence(w, RMA_NOSUCCEED) == expected[trouble]);
        if (trouble != DEATH)
            OK(rma_fence(w, RMA_NOPRECEDE | RMA_NOSUCCEED)); /* it is told once */
    } else {
        fabric_barrier(p);
        if (trouble == NO_MEMORY)
            fabric_barrier(p); /* the puts are done */
        else
            await_waiter(atomic_load(&first_win));
        check_area(false);
        if (trouble == UNWRITABLE)
            protect(PROT_READ);
        if (trouble == DEATH)
            fabric_kill(p);
        else
            OK(rma_fence(w, RMA_NOPRECEDE));
        if (trouble != NO_MEMORY)
            fabric_barrier(p);
        if (trouble != DEATH) {
            OK(rma_fence(w, RMA_NOSUCCEED));
            OK(rma_fence(w, RMA_NOPRECEDE | RMA_NOSUCCEED));
            check_area(trouble == NONE);
            FABRIC_CHECK(area[1][(PUTS - 1) * LEN] == 7); /* what the second packet had is there */
        }
    }
    fabric_barrier(p);
    if (trouble == DEATH)
        win_free_end(w);
    else
        fabric_win_free(w);
}

static void test_later_error(void **state)
{
    (void)state;
    for (enum trouble trouble = NONE; trouble <= DEATH; trouble++)
        run(ahead, &trouble, true);
}

/* ---- an error in the call that ends the epoch ---- */

static void last_error(struct fabric_proc *p, void *arg)
{
    const enum epoch_way way = *(const enum epoch_way *)arg;
    struct win *w = fabric_win(p, WIN_CREATE, area[p->rank], SIZE, 1);
    unsigned char data[LEN];
    memset(data, 7, sizeof data);
    begin(w, p->rank, way);
    if (p->rank == 0) {
        put(w, 1, 0, data, sizeof data);
        put(w, 1, LEN, data, sizeof data);
        protect(PROT_READ);
        FABRIC_CHECK(end(w, 0, way) == MRMA_ERR_RMA_RANGE);
    } else {
        OK(end(w, 1, way)); /* it has made no error, and need not wait for ever */
    }
    fabric_barrier(p);
    protect(PROT_READ | PROT_WRITE);
    begin(w, p->rank, way);
    if (p->rank == 0)
        put(w, 1, LEN, data, sizeof data);
    OK(end(w, p->rank, way));
    FABRIC_CHECK(area[1][LEN] == 7);
    fabric_barrier(p);
    fabric_win_free(w);
}

static void test_last_error(void **state)
{
    (void)state;
    for (enum epoch_way way = FENCE; way <= PSCW; way++)
        run(last_error, &way, false);
}

/* ---- the same, and what goes to another node leaves all the same ---- */

static _Atomic bool failed;

static void begin_three(struct win *w, int rank, enum epoch_way way)
{
    static const int first = 0, others[] = {1, 2};
    if (way == FENCE)
        OK(rma_fence(w, 0));
    else
        OK(rank ? rma_post(w, &first, 1, 0) : rma_start(w, others, 2, 0));
}

/* Until packets are written by system calls, and there is one more that is as large. */
static void fill_ring(struct win *w)
{
    const unsigned char data[LEN] = {7};
    const struct pkt_target *pt = NULL;
    bool full = false;
    for (int i = 0; !full; i++) {
        put(w, 1, i % PUTS * LEN, data, LEN);
        for (int k = 0; k < PUTS; k++)
            full |= ((volatile unsigned char *)area[1])[k * LEN] != 0;
    }
    for (pt = win_peek(w, 1)->pkt; PKT_MAX - pt->used >= LEN + sizeof(struct pkt_plain);)
        put(w, 1, 0, data, LEN);
}

static void await_failure(struct win *w)
{
    for (bool seen = false; !seen && !atomic_load(&failed); sched_yield()) {
        rma_enter(w->rma);
        seen = w->packet_err != 0;
        rma_leave(w->rma);
    }
}

static void other_node(struct fabric_proc *p, void *arg)
{
    const enum epoch_way way = *(const enum epoch_way *)arg;
    const unsigned char nine = 9;
    struct win *w = fabric_win(p, WIN_CREATE, area[p->rank], SIZE, 1);
    if (p->rank == 0)
        atomic_store(&first_win, w);
    atomic_store(&failed, false);
    begin_three(w, p->rank, way);
    fabric_barrier(p);
    if (p->rank == 0) {
        put(w, 2, 0, &nine, 1);
        fill_ring(w);
        protect(PROT_READ);
        FABRIC_CHECK(end(w, 0, way) == MRMA_ERR_RMA_RANGE);
        atomic_store(&failed, true);
    } else {
        if (p->rank == 1) { /* takes nothing in before */
            await_failure(atomic_load(&first_win));
            protect(PROT_READ | PROT_WRITE);
        }
        OK(end(w, p->rank, way));
        FABRIC_CHECK(p->rank == 1 || area[2][0] == 9);
    }
    fabric_barrier(p);
    fabric_win_free(w);
}

static void test_other_node(void **state)
{
    (void)state;
    for (enum epoch_way way = FENCE; way <= PSCW; way++)
        run_on(&(struct fabric_opts){.nproc = 3, .per_node = 2, .threads = true, .quiet = true,
                                     .progress = CONF_PROGRESS_POLL},
               other_node, &way);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_early_error), cmocka_unit_test(test_later_error),
                                       cmocka_unit_test(test_last_error),  cmocka_unit_test(test_other_node)};
    pkt_types_init();
    return cmocka_run_group_tests_name("ring_put", tests, NULL, NULL);
}
