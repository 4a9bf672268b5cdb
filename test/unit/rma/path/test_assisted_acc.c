/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_assisted_acc.c - accumulates by the kernel (rma/path/assisted_acc.c): what is replaced is
 * not read before, whether in one piece or several; what is operated on or fetched, or has padding,
 * is; and what lies between the pieces is not touched.
 *
 * process_vm_readv of the library is the linker's __wrap_ function here.
 */
#define _GNU_SOURCE 1
#include "test/support/pkt_helper.h"
#include "rma/win/path_ops.h"

#include <sys/uio.h>

enum { CELLS = 4096 };

struct pair {
    double value;
    int index;
};

static int64_t area[CELLS];
static struct pair pairs[4];
static _Atomic unsigned reads;

ssize_t __real_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal,
                                const struct iovec *remote, unsigned long nremote,
                                unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal,
                                const struct iovec *remote, unsigned long nremote,
                                unsigned long flags);

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal,
                                const struct iovec *remote, unsigned long nremote,
                                unsigned long flags)
{
    atomic_fetch_add(&reads, 1);
    return __real_process_vm_readv(pid, local, nlocal, remote, nremote, flags);
}

/* How often is the target's memory read for it? */
static unsigned reads_of(struct win *w, const struct rma_op *op, bool fetch)
{
    const unsigned before = atomic_load(&reads);
    OK(fetch ? rma_get_accumulate(w, op) : rma_accumulate(w, op));
    return atomic_load(&reads) - before;
}

static void one_piece(struct win *w)
{
    const int64_t out[2] = {5, 6};
    int64_t in[2] = {0};
    struct rma_op op = i64_op(out, in, 1, 10, 2, ACC_REPLACE);
    FABRIC_CHECK(reads_of(w, &op, false) == 0 && area[9] == 9 && area[10] == 5 && area[11] == 6 &&
                 area[12] == 12);
    op.op = ACC_SUM;
    FABRIC_CHECK(reads_of(w, &op, false) == 1 && area[10] == 10 && area[11] == 12);
    op.op = ACC_REPLACE;
    FABRIC_CHECK(reads_of(w, &op, true) == 1 && in[0] == 10 && in[1] == 12 && area[10] == 5);
}

/* Every other of n cells. */
static void pieces(struct win *w, size_t n)
{
    const struct dtype_run run = {.len = 8, .stride = 16, .n = (uint32_t)n};
    const struct dtype form = {.size = 8 * n,
                               .extent = (int64_t)(16 * n),
                               .basic = ACC_I64,
                               .elems = n,
                               .runs = &run,
                               .nruns = 1,
                               .eruns = &run,
                               .neruns = 1};
    static int64_t out[CELLS];
    struct dtype *type;
    OK(dtype_create(&form, &type));
    for (size_t i = 0; i < n; i++)
        out[i] = -(int64_t)i;
    struct rma_op op = i64_op(out, NULL, 1, 100, n, ACC_REPLACE);
    op.tcount = 1;
    op.ttype = type;
    FABRIC_CHECK(reads_of(w, &op, false) == 0);
    for (size_t i = 0; i < n; i++)
        FABRIC_CHECK(area[100 + 2 * i] == out[i] && area[101 + 2 * i] == (int64_t)(101 + 2 * i));
    op.op = ACC_SUM;
    FABRIC_CHECK(reads_of(w, &op, false) > 0 && area[102] == -2);
    dtype_unref(type);
}

static void padded(struct win *w)
{
    const struct dtype type = dtype_basic(ACC_PAIR_F64_I32);
    struct pair out[2];
    memset(out, 1, sizeof out);
    memset(pairs, 2, sizeof pairs);
    out[0].index = out[1].index = 7;
    struct rma_op op = {.oaddr = out,
                        .ocount = 2,
                        .otype = &type,
                        .target = 1,
                        .tcount = 2,
                        .ttype = &type,
                        .op = ACC_REPLACE};
    FABRIC_CHECK(reads_of(w, &op, false) == 1 && pairs[0].index == 7 && pairs[1].index == 7);
    for (size_t at = offsetof(struct pair, index) + sizeof(int); at < sizeof(struct pair); at++)
        FABRIC_CHECK(((const char *)&pairs[1])[at] == 2);
}

static void body(struct fabric_proc *p, void *arg)
{
    (void)arg;
    for (int i = 0; p->rank == 1 && i < CELLS; i++)
        area[i] = i;
    struct win *w = fabric_win(p, WIN_CREATE, area, sizeof area, 8);
    if (p->rank == 0) {
        FABRIC_CHECK(win_peek(w, 1)->path == PATH_ASSISTED);
        OK(rma_lock(w, false, 1, 0));
        one_piece(w);
        pieces(w, 8);
        pieces(w, 1500);
        OK(rma_unlock(w, 1));
    }
    fabric_win_free(w);
    w = fabric_win(p, WIN_CREATE, pairs, sizeof pairs, 1);
    if (p->rank == 0) {
        OK(rma_lock(w, true, 1, 0));
        padded(w);
        OK(rma_unlock(w, 1));
    }
    fabric_win_free(w);
}

static void test_reads(void **state)
{
    (void)state;
    fabric_watchdog(60);
    struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = 2});
    fabric_run(f, body, NULL);
    fabric_free(f);
    fabric_watchdog(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads)};
    pkt_types_init();
    return cmocka_run_group_tests_name("assisted_acc", tests, NULL, NULL);
}
