/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counts.c - how many messages an epoch takes, and how much memory a process, with
 * 2 to thousands of processes of one node each (doc/scaling.md has the formulas).
 *
 * Each pattern is run by all processes at once on simulated processes (sim.h) and
 * counted by the library's own counters, per process; the first rounds, which set things
 * up, are not counted. What a pattern may take is a formula, checked for each process.
 *
 *   counts          checks, up to SUITE_MAX processes
 *   counts MAX      the same up to MAX processes, and prints the table
 *   counts job P... the same for jobs of P processes, with connections and memory beside the
 *                   formulas: the table of a job of many nodes
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "counts.h"
#include "rma/sync/fence_counts.h"

enum { WARM = 2, ROUNDS = 3, MOST = 26 };

static const int usual[SIZES_MAX] = {2, 4, 16, 64, 256, 1024, 4096, 10000};
static int jobs[SIZES_MAX];
const int *sizes = usual;
int nsizes;
bool named_jobs;

static bool talk;

/* ---- the patterns ---- */

struct pattern {
    const char *name;
    int peers; /* partners of a process, half on each side of its rank */
    int puts;  /* to each */
    void (*round)(const struct pattern *pat, struct sim_proc *p, struct win *w, const int *peers,
                  int n);
    /* Packets that a process sends in a round: data and what rides on it, and all. */
    int (*data)(int nproc, int peers);
    int (*all)(int nproc, int peers);
    int (*trips)(int nproc);            /* latencies that a round takes */
    int (*links)(int nproc, int peers); /* connections of a process, at most */
    const char *all_text, *links_text;  /* these formulas, P processes, d partners */
};

static void puts_to(const struct pattern *pat, struct win *w, int target)
{
    static struct dtype byte;
    char data[] = "2.718281";
    byte = dtype_basic(ACC_U8);
    for (int i = 0; i < pat->puts; i++) {
        const struct rma_op op = {.oaddr = data,
                                  .ocount = 8,
                                  .otype = &byte,
                                  .target = target,
                                  .disp = 8 * (i & 1),
                                  .tcount = 8,
                                  .ttype = &byte};
        SIM_CHECK(rma_put(w, &op) == MRMA_SUCCESS);
    }
}

static void puts_to_all(const struct pattern *pat, struct win *w, const int *peers, int n)
{
    for (int i = 0; i < n; i++)
        puts_to(pat, w, peers[i]);
}

static void fence_round(const struct pattern *pat, struct sim_proc *p, struct win *w,
                        const int *peers, int n)
{
    (void)p;
    puts_to_all(pat, w, peers, n);
    SIM_CHECK(rma_fence(w, 0) == MRMA_SUCCESS);
}

static void pscw_round(const struct pattern *pat, struct sim_proc *p, struct win *w,
                       const int *peers, int n)
{
    (void)p;
    SIM_CHECK(rma_post(w, peers, n, 0) == MRMA_SUCCESS);
    SIM_CHECK(rma_start(w, peers, n, 0) == MRMA_SUCCESS);
    puts_to_all(pat, w, peers, n);
    SIM_CHECK(rma_complete(w) == MRMA_SUCCESS);
    SIM_CHECK(rma_wait(w) == MRMA_SUCCESS);
}

static void flush_round(const struct pattern *pat, struct sim_proc *p, struct win *w,
                        const int *peers, int n)
{
    (void)p;
    puts_to_all(pat, w, peers, n);
    SIM_CHECK(rma_flush_all(w, false) == MRMA_SUCCESS);
}

static void lock_round(const struct pattern *pat, struct sim_proc *p, struct win *w,
                       const int *peers, int n)
{
    (void)p, (void)n;
    SIM_CHECK(rma_lock(w, true, peers[0], 0) == MRMA_SUCCESS);
    puts_to(pat, w, peers[0]);
    SIM_CHECK(rma_unlock(w, peers[0]) == MRMA_SUCCESS);
}

static int each(int nproc, int peers)
{
    (void)nproc;
    return peers;
}
static int twice(int nproc, int peers)
{
    (void)nproc;
    return 2 * peers;
}
static int one_trip(int nproc)
{
    (void)nproc;
    return 1;
}
static int two_trips(int nproc)
{
    (void)nproc;
    return 2;
}

/* doc/protocol.md: markers to all where packet peers are few, else counts in rounds. */
static bool by_markers(int nproc)
{
    return nproc - 1 <= FENCE_MARKERS_MAX;
}

static int log2_up(int n)
{
    int k = 0;
    while (1 << k < n)
        k++;
    return k;
}

static int fence_data(int nproc, int peers)
{
    return by_markers(nproc) ? nproc - 1 : peers;
}
static int fence_all(int nproc, int peers)
{
    return by_markers(nproc) ? nproc - 1 : peers + log2_up(nproc);
}
static int fence_trips(int nproc)
{
    return by_markers(nproc) ? 1 : log2_up(nproc);
}

static int one_each_way(int nproc, int peers)
{
    (void)peers;
    return nproc - 1 < 2 ? nproc - 1 : 2;
}

/* Rounds go to rank plus a power of two and come from rank minus it. */
static int fence_links(int nproc, int peers)
{
    const int most = peers + 2 * log2_up(nproc);
    return by_markers(nproc) || most > nproc - 1 ? nproc - 1 : most;
}

static const struct pattern patterns[] = {
    {"fence, 4 neighbours", 4, 1, fence_round, fence_data, fence_all, fence_trips, fence_links,
     "4 + ceil(log2 P)", "at most 4 + 2 ceil(log2 P)"},
    {"PSCW, 4 neighbours", 4, 1, pscw_round, each, each, one_trip, each, "d", "d"},
    {"PSCW, 26 neighbours", 26, 1, pscw_round, each, each, one_trip, each, "d", "d"},
    {"lock_all, flush of 4", 4, 1, flush_round, each, twice, two_trips, each, "2 d", "d"},
    {"lock, 1 put, unlock", 1, 1, lock_round, each, twice, two_trips, one_each_way, "2", "2"},
    {"lock, 100 puts, unlock", 1, 100, lock_round, each, twice, two_trips, one_each_way, "2", "2"},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

/* ---- counting ---- */

struct count {
    uint64_t data, all, bytes; /* of a process and round, the most of all processes */
    uint64_t window, used;     /* bytes of memory a process, window made and after the rounds */
    uint64_t round_ns;
    uint64_t links; /* connections of a process over which anything has gone, the most of all */
};

static struct count job_counts[PATTERNS][SIZES_MAX];

struct run {
    const struct pattern *pat;
    struct sim *sim;
    int nproc, npeers, rounds;
    struct win **win;
    struct ch3_stats *before;
};

/* Alternately on both sides, nearest first. */
static int choose_peers(const struct run *r, int rank, int *peers)
{
    for (int i = 0; i < r->npeers; i++) {
        const int step = i / 2 + 1;
        peers[i] = (rank + (i % 2 ? r->nproc - step : step)) % r->nproc;
    }
    return r->npeers;
}

static void create(struct sim_proc *p, void *arg)
{
    struct run *r = arg;
    r->win[p->rank] = sim_win(p, WIN_ALLOCATE, NULL, BYTES, 1);
}

static void begin(struct sim_proc *p, void *arg)
{
    struct run *r = arg;
    if (r->pat->round == fence_round)
        SIM_CHECK(rma_fence(r->win[p->rank], RMA_NOPRECEDE) == MRMA_SUCCESS);
    else if (r->pat->round == flush_round)
        SIM_CHECK(rma_lock_all(r->win[p->rank], 0) == MRMA_SUCCESS);
}

static void rounds(struct sim_proc *p, void *arg)
{
    struct run *r = arg;
    int peers[MOST];
    const int n = choose_peers(r, p->rank, peers);
    for (int i = 0; i < r->rounds; i++)
        r->pat->round(r->pat, p, r->win[p->rank], peers, n);
}

static void end(struct sim_proc *p, void *arg)
{
    struct run *r = arg;
    struct win *w = r->win[p->rank];
    if (r->pat->round == fence_round)
        SIM_CHECK(rma_fence(w, RMA_NOSUCCEED) == MRMA_SUCCESS);
    else if (r->pat->round == flush_round)
        SIM_CHECK(rma_unlock_all(w) == MRMA_SUCCESS);
    sim_win_free(w);
}

/* The library's memory of all processes. */
size_t counts_in_use(const struct sim *s)
{
    const struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd - sim_overhead(s);
}

/* Connections of a process, in either direction. */
static uint64_t links_of(struct sim *s, int rank)
{
    struct sim_proc *p = sim_proc(s, rank);
    size_t cursor = 0;
    uint64_t key, n = 0;
    void *value;

    while (map_next(&p->peers, &cursor, &key, &value)) {
        const struct sim_peer *out = value, *in = map_get(&out->other->peers, (uint64_t)rank + 1);
        n += out->last_due > 0 || (in && in->last_due > 0);
    }
    return n;
}

static void compare(struct run *r, struct count *c)
{
    for (int i = 0; i < r->nproc; i++) {
        const struct ch3_stats *now = &sim_proc(r->sim, i)->ch3.stats, *was = &r->before[i];
        const uint64_t data = now->by_type[PKT_OPS] - was->by_type[PKT_OPS];
        const uint64_t all = now->packets_sent - was->packets_sent;
        const uint64_t bytes = now->bytes_sent - was->bytes_sent;
        c->data = data > c->data ? data : c->data;
        c->all = all > c->all ? all : c->all;
        c->bytes = bytes > c->bytes ? bytes : c->bytes;
        const uint64_t links = links_of(r->sim, i);
        c->links = links > c->links ? links : c->links;
    }
    SIM_CHECK(c->data % ROUNDS == 0 && c->all % ROUNDS == 0); /* no round is different */
    c->data /= ROUNDS;
    c->all /= ROUNDS;
    c->bytes /= ROUNDS;
}

static struct count run_pattern(const struct pattern *pat, int nproc)
{
    struct run r = {
        .pat = pat, .nproc = nproc, .npeers = pat->peers < nproc ? pat->peers : nproc - 1};
    struct count c = {.data = 0};
    r.sim = sim_new(
        &(struct sim_opts){.nproc = nproc, .per_node = 1, .latency_ns = LATENCY_NS, .seed = 1});
    r.win = calloc((size_t)nproc, sizeof(struct win *));
    r.before = calloc((size_t)nproc, sizeof *r.before);
    SIM_CHECK(r.win && r.before);
    const size_t start = counts_in_use(r.sim);
    sim_run(r.sim, create, &r);
    c.window = (counts_in_use(r.sim) - start) / (size_t)nproc;
    sim_run(r.sim, begin, &r);
    r.rounds = WARM;
    sim_run(r.sim, rounds, &r);
    for (int i = 0; i < nproc; i++)
        r.before[i] = sim_proc(r.sim, i)->ch3.stats;
    const uint64_t from = sim_now(r.sim);
    r.rounds = ROUNDS;
    sim_run(r.sim, rounds, &r);
    c.round_ns = (sim_now(r.sim) - from) / ROUNDS;
    c.used = (counts_in_use(r.sim) - start) / (size_t)nproc;
    compare(&r, &c);
    sim_run(r.sim, end, &r);
    sim_free(r.sim);
    free(r.win);
    free(r.before);
    return c;
}

static void count_pattern(void **state)
{
    const struct pattern *pat = *state;
    if (talk)
        printf("\n%s\n\n| P | packets with data | packets | bytes sent | window | in use "
               "|\n|--:|--:|--:|--:|--:|--:|\n",
               pat->name);
    for (int i = 0; i < nsizes; i++) {
        const int n = sizes[i], peers = pat->peers < n ? pat->peers : n - 1;
        const struct count c = run_pattern(pat, n);
        job_counts[pat - patterns][i] = c;
        if (talk)
            printf("| %d | %llu | %llu | %llu | %llu | %llu |\n", n, (unsigned long long)c.data,
                   (unsigned long long)c.all, (unsigned long long)c.bytes,
                   (unsigned long long)c.window, (unsigned long long)c.used);
        fflush(stdout);
        if (MEMORY_KNOWN) {
            const uint64_t partners =
                c.all > (uint64_t)peers ? c.all : (uint64_t)peers; /* of rounds, too */
            assert_uint_in_range(c.window, 1, WINDOW_BYTES + SCRATCH_BYTES);
            assert_uint_in_range(
                c.used, 1, WINDOW_BYTES + SCRATCH_BYTES + partners * (PARTNER_BYTES + c.bytes));
        }
        assert_int_equal(c.data, pat->data(n, peers));
        assert_int_equal(c.all, pat->all(n, peers));
        assert_uint_in_range(c.links, peers, pat->links(n, peers));
        /* All that is under way goes at once; less than one further trip is for the scheduling. */
        assert_uint_in_range(c.round_ns, 1, (uint64_t)(pat->trips(n) + 1) * LATENCY_NS - 1);
    }
}

void counts_print_number(uint64_t n)
{
    if (n >= 1000) {
        counts_print_number(n / 1000);
        printf(",%03d", (int)(n % 1000));
    } else {
        printf("%d", (int)n);
    }
}

static void print_cells(const char *what, const char *formula, int pattern, size_t field)
{
    printf("| %s | %s | %s |", patterns[pattern].name, what, formula);
    for (int i = 0; i < nsizes; i++) {
        uint64_t n;
        memcpy(&n, (const char *)&job_counts[pattern][i] + field, sizeof n);
        printf(" ");
        counts_print_number(n);
        printf(" |");
    }
    printf("\n");
}

/* What a process of each job takes, one row for each quantity. */
static void print_jobs(void)
{
    printf("| epoch | of a process | formula |");
    for (int i = 0; i < nsizes; i++)
        printf(" P = %d |", sizes[i]);
    printf("\n|---|---|---|");
    for (int i = 0; i < nsizes; i++)
        printf("--:|");
    printf("\n");
    print_creations();
    for (int i = 0; i < PATTERNS; i++) {
        const struct pattern *pat = &patterns[i];
        print_cells("connections", pat->links_text, i, offsetof(struct count, links));
        print_cells("messages of an epoch", pat->all_text, i, offsetof(struct count, all));
        print_cells("bytes sent in an epoch", "of all messages", i, offsetof(struct count, bytes));
        print_cells("bytes of memory, window made", "at most 10,240", i,
                    offsetof(struct count, window));
        print_cells("bytes of memory, in use", "at most 10,240 and 4,096 and a packet a partner", i,
                    offsetof(struct count, used));
    }
}

/* glibc counts what was freed and lies in a thread's cache as in use, and from 2.42 on large blocks
 * lie there, too. Once more without the cache, then. */
static void without_cache(char **argv)
{
    static const char name[] = "GLIBC_TUNABLES";
    if (getenv(name) || setenv(name, "glibc.malloc.tcache_count=0", 1))
        return;
    (void)execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[PATTERNS + 1];
    const bool job = argc > 2 && strcmp(argv[1], "job") == 0;
    without_cache(argv);
    if (!FIBER_SUPPORTED) {
        printf("1..0 # SKIP ThreadSanitizer: a simulation has one thread\n");
        return 0;
    }
    for (int i = 0; i < PATTERNS; i++) {
        union {
            const struct pattern *is;
            void *as;
        } pat = {&patterns[i]};
        tests[i] = (struct CMUnitTest){patterns[i].name, count_pattern, NULL, NULL, pat.as};
    }
    tests[PATTERNS] = (struct CMUnitTest){"creation of windows", count_creations, NULL, NULL, NULL};
    talk = argc > 1 && !job;
    const int largest = talk ? atoi(argv[1]) : SUITE_MAX;
    while (!job && nsizes < SIZES_MAX && usual[nsizes] <= largest)
        nsizes++;
    for (int i = 2; job && i < argc && nsizes < SIZES_MAX; i++)
        jobs[nsizes++] = atoi(argv[i]);
    if (job)
        sizes = jobs;
    named_jobs = job;
    const int failed = cmocka_run_group_tests_name("messages and memory", tests, NULL, NULL);
    if (job && failed == 0)
        print_jobs();
    return failed;
}
