/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pkt_run.h - how the tests of whole epochs by packets are run.
 *
 * Every test runs four times: served by agents and by polling only, over a clean
 * channel and over one that often has no room and delivers late. At the end no
 * packet may have been refused. Where a synchronizing call has returned, its
 * process may stop calling the library: its peers must get on without it.
 */
#ifndef MRMA_TEST_PKT_RUN_H
#define MRMA_TEST_PKT_RUN_H

#include "pkt_helper.h"

enum { RING_BUSTER = 320 * 1024 };

struct variant {
    enum conf_progress progress;
    unsigned refuse, delay;
};

static const struct variant variants[] = {
    {CONF_PROGRESS_POLL, 0, 0},
    {CONF_PROGRESS_AGENT, 0, 0},
    {CONF_PROGRESS_POLL, 40, 30},
    {CONF_PROGRESS_AGENT, 40, 30},
};

static inline void run_one(struct fabric_opts opts, void (*body)(struct fabric_proc *p, void *arg),
                           void *arg)
{
    fabric_watchdog(120);
    atomic_store(&pkt_arrived, 0);
    struct fabric *f = fabric_new(&opts);
    fabric_run(f, body, arg);
    for (int i = 0; i < opts.nproc; i++)
        assert_int_equal(refused(&f->procs[i]), 0);
    fabric_free(f);
    fabric_watchdog(0);
}

static inline void run_all(int nproc, int per_node, void (*body)(struct fabric_proc *p, void *arg),
                           void *arg)
{
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        run_one((struct fabric_opts){.nproc = nproc,
                                     .per_node = per_node,
                                     .progress = variants[i].progress,
                                     .path = per_node ? CONF_PATH_AUTO : CONF_PATH_SHM_PACKETS,
                                     .seed = i + 1,
                                     .refuse_percent = variants[i].refuse,
                                     .delay_percent = variants[i].delay},
                body, arg);
}

static inline void fill(unsigned char *p, size_t n, unsigned tag)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(tag * 37 + i * 7 + (i >> 8));
}

static inline void check_filled(const unsigned char *p, size_t n, unsigned tag)
{
    for (size_t i = 0; i < n; i++)
        FABRIC_CHECK(p[i] == (unsigned char)(tag * 37 + i * 7 + (i >> 8)));
}

/* An argument picks tests by name, with wildcards. */
#define RUN_TESTS(name, tests)                                       \
    do {                                                             \
        pkt_types_init();                                            \
        if (argc > 1)                                                \
            cmocka_set_test_filter(argv[1]);                         \
        return cmocka_run_group_tests_name(name, tests, NULL, NULL); \
    } while (0)

#endif
