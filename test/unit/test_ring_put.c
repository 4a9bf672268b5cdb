/*
 * test_ring_put.c - errors of small puts that are sent ahead to a kernel-assisted target
 * (issue_ring_put in rma/issue.c): the put that fills the packet has succeeded itself, so the
 * call that ends the epoch tells what became of those before it, once.
 *
 * The channel never has room, hence every packet is written by system calls, and the target's memory
 * cannot be written while the first packet leaves.
 */
#include "pkt_helper.h"

#include <sys/mman.h>

/* LEN: a stage (stage.h) has no room for it. */
enum { LEN = 4096, SIZE = 4 * PKT_MAX, PUTS = PKT_MAX / LEN + 1 };

enum epoch_way { FENCE, PSCW };

static unsigned char *area[2];

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

static void test_early_error(void **state)
{
    (void)state;
    for (enum epoch_way way = FENCE; way <= PSCW; way++) {
        for (int i = 0; i < 2; i++) {
            area[i] = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            assert_ptr_not_equal(area[i], MAP_FAILED);
        }
        fabric_watchdog(120);
        struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = 2, .refuse_percent = 100, .quiet = true});
        fabric_run(f, early_error, &way);
        fabric_free(f);
        fabric_watchdog(0);
        for (int i = 0; i < 2; i++)
            munmap(area[i], SIZE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_early_error)};
    pkt_types_init();
    return cmocka_run_group_tests_name("ring_put", tests, NULL, NULL);
}
