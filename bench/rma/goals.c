/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * goals.c - the measurements held against the goals; see suites.h.
 *
 * Every limit is made of anchors of the same run. A line whose measurement or
 * anchor is missing says so instead of giving a verdict. Windows that are
 * mapped are those of MPI_Win_allocate, MPI_Win_allocate_shared and
 * MPI_Win_create over MPI_Alloc_mem; the worst of them that was measured counts. What depends on
 * how far the processors are from each other, which changes on some machines, was measured in turns
 * with its anchor, and the two are of one pair of blocks.
 *
 *   C cache line one way, M(s) memcpy, S(s) process_vm_writev, R(s)
 *   process_vm_readv, A locked instruction, X switch of processes, K call of an
 *   empty function of another library
 *
 * A goal in fixed nanoseconds has no room for the calls that the standard prescribes, each
 * of which costs K at least. So a line of calls is followed by one of the same number and
 * "+K", which allows for them; what the goal says is decided by the first, and the two
 * are counted apart. In the same way "9+M" compares with bare copies beside the same
 * multiplication, "4+S" and "6+S" with the bare system calls that the operation needs.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/common/stats.h"
#include "bench/rma/anchors.h"
#include "bench/rma/suites.h"

struct goals {
    struct bench *b;
    int met, missed, unknown;
    int allowed_met, allowed_missed; /* lines beside a goal: they decide nothing */
    bool beside;
};

static const char *const mapped[] = {"allocate", "alloc_mem", "shared"};
#define MAPPED 3

/* One line. value and limit are times in ns, or ratios when unit is "". */
static void line(struct goals *g, const char *id, const char *what, double value,
                 const char *limit_text, double limit, bool at_least, const char *unit)
{
    char v[32], l[32];
    const char *verdict = "not measured";
    struct result r = {
        .suite = "goal", .op = id, .kind = "", .sync = "", .ns = value, .min = limit, .max = limit};

    if (!isnan(value) && !isnan(limit)) {
        bool met = at_least ? value >= limit : value <= limit;

        if (g->beside) {
            verdict = met ? "within" : "NOT within";
            g->allowed_met += met;
            g->allowed_missed += !met;
        } else {
            verdict = met ? "met" : "NOT met";
            g->met += met;
            g->missed += !met;
        }
    } else {
        g->unknown += !g->beside;
    }
    if (*unit) {
        stats_time(value, v, sizeof(v));
        stats_time(limit, l, sizeof(l));
    } else {
        snprintf(v, sizeof(v), isnan(value) ? "n/a" : "%.3f", value);
        snprintf(l, sizeof(l), isnan(limit) ? "n/a" : "%.3f", limit);
    }
    printf("%-4s %-66s %10s  %s %-29s = %10s  %s\n", id, what, v,
           at_least ? ">=" : "<=", limit_text, l, verdict);
    snprintf(r.note, sizeof(r.note), "%s; %s %s: %s", what, at_least ? "at least" : "at most",
             limit_text, verdict);
    bench_keep(g->b, &r);
}

/* The line of a goal, and the one that allows for so many calls. */
static void line_of_calls(struct goals *g, const char *id, const char *what, double value,
                          const char *limit_text, double limit, int calls)
{
    char also[16], text[48];

    line(g, id, what, value, limit_text, limit, false, "t");
    snprintf(also, sizeof(also), "%s+K", id);
    snprintf(text, sizeof(text), "%s + %d K", limit_text, calls);
    g->beside = true;
    line(g, also, what, value, text, limit + calls * anchor_ns(g->b, "call", 0), false, "t");
    g->beside = false;
}

static double measured(const struct goals *g, const char *suite, const char *op, const char *kind,
                       const char *sync, size_t size)
{
    return results_ns(&g->b->results, suite, op, kind, sync, size);
}

/* A measurement and the anchor beside it; or the two apart, where they were not measured in turns.
 */
struct pair {
    double of, bare;
};

static struct pair paired(const struct goals *g, const char *suite, const char *op,
                          const char *kind, const char *sync, size_t size, const char *anchor,
                          size_t anchor_size)
{
    struct pair p;

    if (!results_pair(&g->b->results, suite, op, kind, sync, size, &p.of, &p.bare))
        p = (struct pair){measured(g, suite, op, kind, sync, size),
                          anchor_ns(g->b, anchor, anchor_size)};
    return p;
}

/* That of the mapped kind which is slowest beside its anchor. */
static struct pair worst_paired(const struct goals *g, const char *suite, const char *op,
                                const char *sync, size_t size, const char *anchor,
                                size_t anchor_size)
{
    struct pair worst = {NAN, NAN};

    for (int k = 0; k < MAPPED; k++) {
        struct pair p = paired(g, suite, op, mapped[k], sync, size, anchor, anchor_size);

        if (isnan(worst.of) || p.of / p.bare > worst.of / worst.bare)
            worst = p;
    }
    return worst;
}

/* The largest time over the mapped kinds that were measured. */
static double worst_mapped(const struct goals *g, const char *suite, const char *op,
                           const char *sync, size_t size)
{
    double worst = NAN;

    for (int k = 0; k < MAPPED; k++) {
        double v = measured(g, suite, op, mapped[k], sync, size);

        if (isnan(worst) || v > worst)
            worst = v;
    }
    return worst;
}

static void small_mapped(struct goals *g)
{
    struct bench *b = g->b;
    double M = anchor_ns(b, "memcpy", 8), A = anchor_ns(b, "fetch_add", 8);
    double C = anchor_ns(b, "cache_line", 0);
    struct pair pscw = worst_paired(g, "latency", "put", "pscw", 8, "cache_line", 0);
    struct pair fence = worst_paired(g, "latency", "put", "fence", 8, "cache_line", 0);

    line_of_calls(g, "1", "put 8 B + flush, mapped",
                  worst_mapped(g, "latency", "put", "lock_all", 8), "M + 40 ns", M + 40, 2);
    line_of_calls(g, "1", "get 8 B + flush, mapped",
                  worst_mapped(g, "latency", "get", "lock_all", 8), "M + 40 ns", M + 40, 2);
    line_of_calls(g, "2", "lock, put 8 B, unlock, mapped",
                  worst_mapped(g, "latency", "put", "lock", 8), "2 A + 60 ns", 2 * A + 60, 3);
    line(g, "3", "PSCW epoch, put 8 B, mapped", pscw.of, "2 C + 60 ns", 2 * pscw.bare + 60, false,
         "t");
    line(g, "3", "fence epoch, put 8 B, mapped, 2 ranks", fence.of, "2 C + 100 ns",
         2 * fence.bare + 100, false, "t");
    if (b->nprocs > 2 && !b->place.oversubscribed) {
        int log2 = 0;

        while (1 << log2 < b->nprocs)
            log2++;
        line(g, "3", "fence of all ranks, put 8 B each, MPI_Win_allocate",
             measured(g, "active", "fence", "allocate", "", 8), "2 C log2 P + 100 ns",
             2 * C * log2 + 100, false, "t");
    }
}

static void bandwidth_malloc(struct goals *g, const char *op, const char *anchor,
                             const char *letter)
{
    const struct bench *b = g->b;

    for (int i = 0; i < b->sizes.n; i++) {
        size_t size = b->sizes.v[i];
        char what[80], text[32];

        if (size < 256 << 10)
            continue;
        snprintf(what, sizeof(what), "%s %s B, malloc, bandwidth over bare CMA loop", op,
                 stats_bytes(size, text, sizeof(text)));
        struct pair p = paired(g, "latency", op, "malloc", "lock_all", size, anchor, size);

        line(g, "4", what, p.bare / p.of, letter, 0.85, true, "");
    }
}

static void malloc_windows(struct goals *g)
{
    double S = anchor_ns(g->b, "cma_write", 8);
    static const char *const acc[] = {"accumulate", "accumulate_strided"};

    line_of_calls(g, "4", "lock, put 8 B, unlock, malloc, target computes",
                  measured(g, "passive", "put", "malloc", "lock", 8), "S + 150 ns", S + 150, 3);
    for (int i = 0; i < 2; i++) {
        char what[80];

        snprintf(what, sizeof(what), "%s of 8 doubles, flush, malloc, target computes", acc[i]);
        line_of_calls(g, "4", what, measured(g, "passive", acc[i], "malloc", "lock_all", 64),
                      "2 S + 300 ns", 2 * S + 300, 2);
    }
    g->beside = true;
    line(g, "4+S", "accumulate_strided of 8 doubles, flush, malloc, target computes",
         measured(g, "passive", acc[1], "malloc", "lock_all", 64), "bare read, 8 pieces + 300 ns",
         anchor_ns(g->b, "cma_acc_strided", 64) + 300, false, "t");
    g->beside = false;
    bandwidth_malloc(g, "put", "cma_write", "0.85 of S(s)");
    bandwidth_malloc(g, "get", "cma_read", "0.85 of R(s)");
}

static void bandwidth_mapped(struct goals *g)
{
    static const char *const op[] = {"put", "get"};
    const struct bench *b = g->b;

    for (int o = 0; o < 2; o++)
        for (int i = 0; i < b->sizes.n; i++) {
            size_t size = b->sizes.v[i];
            char what[80], text[32];

            if (size < 64 << 10)
                continue;
            snprintf(what, sizeof(what), "%s %s B, mapped, bandwidth over memcpy", op[o],
                     stats_bytes(size, text, sizeof(text)));
            struct pair p = worst_paired(g, "latency", op[o], "lock_all", size, "memcpy", size);

            line(g, "5", what, p.bare / p.of, "0.95 of M(s)", 0.95, true, "");
        }
}

/* Both ranks on one word: against the bare instruction, and against it with the two calls behind it
 * which a caller cannot do without, by how much these make it slower where the anchors were
 * measured. */
static void contended(struct goals *g, const char *op, const char *anchor)
{
    char both[32], bare[32], called[48], what[80];

    snprintf(both, sizeof(both), "%s_both", op);
    snprintf(bare, sizeof(bare), "%s_both", anchor);
    snprintf(called, sizeof(called), "%s_called", bare);
    struct pair p = worst_paired(g, "atomic", both, "lock_all", 8, bare, 8);

    snprintf(what, sizeof(what), "%s, both ranks on one word, mapped, rate over bare", op);
    line(g, "6", what, p.bare / p.of, "0.60 of the bare rate", 0.60, true, "");
    g->beside = true;
    line(g, "6+K", what, p.bare / p.of * anchor_ns(g->b, called, 8) / anchor_ns(g->b, bare, 8),
         "0.60 of bare and 2 calls", 0.60, true, "");
    g->beside = false;
}

static void atomics(struct goals *g)
{
    struct bench *b = g->b;
    const size_t mib = 1 << 20;
    struct pair on_mapped = worst_paired(g, "acc", "accumulate", "lock_all", mib, "add", mib);
    struct pair on_malloc = paired(g, "acc", "accumulate", "malloc", "lock_all", mib, "add", mib);
    static const char *const op[] = {"fetch_and_op", "cas"};
    static const char *const bare[] = {"fetch_add", "cas"};

    line(g, "6", "accumulate SUM 1 Mi B, mapped, rate over local add",
         on_mapped.bare / on_mapped.of, "0.80 of the add loop", 0.80, true, "");
    line(g, "6", "accumulate SUM 1 Mi B, malloc, rate over local add",
         on_malloc.bare / on_malloc.of, "0.50 of the add loop", 0.50, true, "");
    g->beside = true;
    line(g, "6+S", "accumulate SUM 1 Mi B, malloc, rate over bare read, add, write",
         anchor_ns(b, "cma_acc", mib) / on_malloc.of, "the kernel's way", 1, true, "");
    g->beside = false;
    for (int i = 0; i < 2; i++) {
        char what[80];

        snprintf(what, sizeof(what), "%s 8 B + flush, mapped", op[i]);
        line_of_calls(g, "6", what, worst_mapped(g, "atomic", op[i], "lock_all", 8),
                      "1.5 A + 40 ns", 1.5 * anchor_ns(b, bare[i], 8) + 40, 2);
        contended(g, op[i], bare[i]);
    }
}

static void oversubscribed(struct goals *g)
{
    static const char *const op[] = {"fence", "pscw", "lock", "lock_exclusive", "fetch_and_op"};
    static const char *const kind[] = {"allocate", "malloc"};
    double X = anchor_ns(g->b, "switch", 0);

    if (!g->b->place.oversubscribed)
        return;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 5; i++) {
            char what[80];

            snprintf(what, sizeof(what), "%s by all %d ranks on %d processors, %s", op[i],
                     g->b->nprocs, g->b->place.cpus, kind[k]);
            line(g, "8", what, measured(g, "active", op[i], kind[k], "", 8), "3 * 2 X", 6 * X,
                 false, "t");
        }
}

static void skew(struct goals *g)
{
    static const char *const kind[] = {"allocate", "malloc"};

    for (int k = 0; k < 2; k++) {
        char what[80];

        snprintf(what, sizeof(what), "origin's time, target multiplies 256 x 256, %s, growth",
                 kind[k]);
        double without = measured(g, "skew", "epoch", kind[k], "pscw", 0);
        double growth = measured(g, "skew", "epoch", kind[k], "pscw", 256) / without;
        double bare = measured(g, "skew", "copies", kind[k], "", 256) /
                      measured(g, "skew", "copies", kind[k], "", 0);

        line(g, "9", what, growth, "1.05 of it without", 1.05, false, "");
        g->beside = true;
        line(g, "9+M", what, growth, "1.05 of bare copies' growth", 1.05 * bare, false, "");
        g->beside = false;
    }
}

static void creation(struct goals *g)
{
    const size_t bytes = 64 << 10;
    double host = measured(g, "create", "allgather_barrier", "", "", bytes);
    double segment = measured(g, "create", "segment", "", "", bytes);

    line(g, "10", "MPI_Win_create + free", measured(g, "create", "window", "malloc", "", bytes),
         "2 (Allgather + Barrier)", 2 * host, false, "t");
    line(g, "10", "MPI_Win_create_dynamic + free",
         measured(g, "create", "window", "dynamic", "", bytes), "2 (Allgather + Barrier)", 2 * host,
         false, "t");
    line(g, "10", "MPI_Win_allocate + free", measured(g, "create", "window", "allocate", "", bytes),
         "2 (Allgather + Barrier) + seg", 2 * host + segment, false, "t");
    line(g, "10", "MPI_Win_allocate_shared + free",
         measured(g, "create", "window", "shared", "", bytes), "2 (Allgather + Barrier) + seg",
         2 * host + segment, false, "t");
}

static void empty_calls(struct goals *g)
{
    double A = anchor_ns(g->b, "fetch_add", 8);
    double flush = measured(g, "calls", "flush", "allocate", "", 0);

    line_of_calls(g, "11", "lock_all + unlock_all",
                  measured(g, "calls", "lock_all", "allocate", "", 0), "2 A + 60 ns", 2 * A + 60,
                  2);
    line_of_calls(g, "11", "flush of nothing", flush, "10 ns", 10, 1);
    line_of_calls(g, "11", "flush_all of nothing, this number of ranks",
                  measured(g, "calls", "flush_all", "allocate", "", 0), "20 ns", 20, 1);
}

void rma_goals(struct bench *b)
{
    struct goals g = {.b = b};

    printf("\ngoals: %d ranks, %s, %s; %s\n", b->nprocs, b->host.name, b->host.rma, b->place.text);
    printf("K, a call of an empty function of another library: %.1f ns (C %.0f, A %.1f, M %.1f, S "
           "%.0f ns)\n",
           anchor_ns(b, "call", 0), anchor_ns(b, "cache_line", 0), anchor_ns(b, "fetch_add", 8),
           anchor_ns(b, "memcpy", 8), anchor_ns(b, "cma_write", 8));
    small_mapped(&g);
    malloc_windows(&g);
    bandwidth_mapped(&g);
    atomics(&g);
    printf("7    halo exchange: measured by bench/halo\n");
    oversubscribed(&g);
    skew(&g);
    creation(&g);
    empty_calls(&g);
    printf("%d met, %d not met, %d not measured; lines beside a goal (+K, +M, +S): %d within, %d "
           "not\n",
           g.met, g.missed, g.unknown, g.allowed_met, g.allowed_missed);
    fflush(stdout);
}
