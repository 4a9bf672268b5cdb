/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_stage_room.c - how large the stages of a control block are, that they do not overlap,
 * and that two puts of 1 KiB to a target that others reach through the kernel go ahead of its post.
 */
#include "test/support/pkt_helper.h"

#include "rma/win/path_ops.h"
#include "rma/path/stage.h"
#include "rma/create/win_create.h"

enum { KIB = 1024 };

static void check_row(const struct win_ctl *ctl, struct stage_row row, char **end)
{
    char *first = (char *)row.first;
    assert_true(first >= *end);
    assert_int_equal(((uintptr_t)first - (uintptr_t)ctl) % MRMA_CACHE_LINE, 0);
    assert_int_equal(row.bytes % MRMA_CACHE_LINE, 0);
    *end = first + (size_t)STAGE_DEPTH * row.bytes;
}

static void check_layout(int nslots, enum stage_use use)
{
    const size_t bytes = stage_ctl_bytes(&conf_default, nslots, use);
    struct win_ctl *ctl = aligned_alloc(MRMA_CACHE_LINE, bytes);
    assert_non_null(ctl);
    memset(ctl, 0xff, bytes);
    stage_init(ctl, &conf_default, nslots, use, 0);
    char *end = (char *)&ctl->slots[nslots];
    for (int i = 0; i < nslots; i++) {
        struct rma_target t = {.ctl = ctl};
        stage_attach(&t, ctl, nslots, i, i);
        const struct stage_row epochs = t.stage.out, phases = t.stage.out_phase;
        check_row(ctl, epochs, &end);
        check_row(ctl, phases, &end);
        assert_int_equal(phases.bytes, use != STAGE_MAPPED && nslots > 1 ? epochs.bytes : 0);
        for (uint32_t n = 0; n < STAGE_DEPTH; n++) {
            const struct win_stage *st =
                (const void *)((char *)epochs.first + (size_t)n * epochs.bytes);
            assert_int_equal(st->seq + st->used, 0);
            st = (const void *)((char *)phases.first + (size_t)n * phases.bytes);
            assert_int_equal(phases.bytes ? st->seq + st->used : 0, 0);
        }
        assert_int_equal(ctl->slots[i].signals.posts, 0);
    }
    assert_ptr_equal(end, (char *)ctl + bytes);
    free(ctl);
}

static void test_layout(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 4, 31, 64, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_layout(sizes[i], STAGE_MAPPED);
        check_layout(sizes[i], STAGE_ASSISTED);
    }
}

static size_t bytes_of_stages(int nslots, enum stage_use use)
{
    return stage_ctl_bytes(&conf_default, nslots, use) - sizeof(struct win_ctl) -
           (size_t)nslots * sizeof(struct win_slot);
}

/* Room for some puts among few processes; bounded, but never nothing, among many. */
static void test_sizes(void **state)
{
    (void)state;
    assert_true(bytes_of_stages(8, STAGE_ASSISTED) >= (size_t)8 * 2 * STAGE_DEPTH * 4 * (KIB + 8));
    assert_true(bytes_of_stages(16, STAGE_MAPPED) >= (size_t)16 * STAGE_DEPTH * 2 * (KIB / 4 + 8));
    assert_true(bytes_of_stages(300, STAGE_ASSISTED) <= 512 << 10);
    assert_true(bytes_of_stages(80, STAGE_MAPPED) <= 64 << 10);
    const size_t least = (size_t)10000 * STAGE_DEPTH * STAGE_LINES_MIN * MRMA_CACHE_LINE;
    assert_int_equal(bytes_of_stages(10000, STAGE_MAPPED), least);
    assert_int_equal(bytes_of_stages(10000, STAGE_ASSISTED), 2 * least);
}

/* As the user asks for, if that is within the bounds. */
static void test_sizes_that_are_set(void **state)
{
    struct conf conf = conf_default;
    const size_t rest = sizeof(struct win_ctl) + 2 * sizeof(struct win_slot);
    (void)state;
    conf.tune.stage = 128;
    conf.tune.assisted_stage = 16384;
    assert_int_equal(stage_ctl_bytes(&conf, 2, STAGE_MAPPED) - rest,
                     2 * STAGE_DEPTH * STAGE_LINES_MIN * MRMA_CACHE_LINE);
    assert_int_equal(stage_ctl_bytes(&conf, 2, STAGE_ASSISTED) - rest,
                     2 * 2 * STAGE_DEPTH * (16384 + MRMA_CACHE_LINE));
    assert_true(stage_ctl_bytes(&conf, 300, STAGE_ASSISTED) - sizeof(struct win_ctl) -
                    300 * sizeof(struct win_slot) <=
                512 << 10);
}

static char from[2][KIB], area[2][2 * KIB];
static _Atomic bool completed;

static void ahead(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_CREATE, area[p->rank], sizeof area[0], 1);
    const struct rma_target *t = win_peek(w, 1 - p->rank);
    (void)arg;
    FABRIC_CHECK(t->path == PATH_ASSISTED && t->stage.out.bytes == (4096 + MRMA_CACHE_LINE) &&
                 t->stage.out_phase.bytes == t->stage.out.bytes);
    if (p->rank == 0) {
        OK(rma_start(w, (int[]){1}, 1, 0));
        for (int i = 0; i < 2; i++)
            put(w, 1, i * KIB, from[i], KIB);
        OK(rma_complete(w));
        FABRIC_CHECK(p->rma.stats.staged == 2);
        atomic_store(&completed, true);
    } else {
        while (!atomic_load(&completed)) /* nothing has been posted */
            cpu_relax();
        OK(rma_post(w, (int[]){0}, 1, 0));
        OK(rma_wait(w));
        FABRIC_CHECK(!memcmp(area[1], from, sizeof from));
    }
    fabric_win_free(w);
}

static _Atomic bool posted, ran_ahead;

/* An origin that runs ahead of its target by as many epochs as there are stages: the next put is
 * not staged, since the target may not have copied what that stage holds. */
static void far_ahead(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_CREATE, area[p->rank], sizeof area[0], 1);
    (void)arg;
    for (uint64_t epoch = 0; epoch <= STAGE_DEPTH; epoch++) {
        if (p->rank == 0) {
            while (!atomic_load(&posted))
                cpu_relax();
            OK(rma_start(w, (int[]){1}, 1, 0));
            put(w, 1, 0, &epoch, sizeof epoch);
            FABRIC_CHECK(epoch < STAGE_DEPTH || p->rma.stats.staged == STAGE_DEPTH);
            atomic_store(&ran_ahead, epoch == STAGE_DEPTH);
            OK(rma_complete(w));
            continue;
        }
        OK(rma_post(w, (int[]){0}, 1, 0));
        atomic_store(&posted, true);
        while (!atomic_load(&ran_ahead))
            cpu_relax();
        OK(rma_wait(w));
        FABRIC_CHECK(!memcmp(area[1], &epoch, sizeof epoch));
    }
    fabric_win_free(w);
}

static void mapped(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, KIB, 1);
    const struct rma_target *t = win_peek(w, 1 - p->rank);
    (void)arg;
    FABRIC_CHECK(t->path == PATH_MAPPED && t->stage.out.bytes == 512 + MRMA_CACHE_LINE &&
                 t->stage.out_phase.bytes == 0);
    fabric_win_free(w);
}

static void run(void (*body)(struct fabric_proc *p, void *arg), unsigned cpus)
{
    atomic_store(&pkt_arrived, 0);
    fabric_watchdog(60);
    struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = 2, .cpus = cpus});
    fabric_run(f, body, NULL);
    fabric_free(f);
    fabric_watchdog(0);
}

static void test_ahead(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof from; i++)
        (&from[0][0])[i] = (char)(i * 7 + i / KIB);
    run(ahead, 1);
    run(mapped, 2);
}

static void test_far_ahead(void **state)
{
    (void)state;
    run(far_ahead, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layout), cmocka_unit_test(test_sizes),
                                       cmocka_unit_test(test_sizes_that_are_set),
                                       cmocka_unit_test(test_ahead),
                                       cmocka_unit_test(test_far_ahead)};
    pkt_types_init();
    return cmocka_run_group_tests_name("stage_room", tests, NULL, NULL);
}
