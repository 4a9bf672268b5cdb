/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc_order.c - the order of accumulates (MPI 4.1, 12.7.2).
 *
 * By default accumulates of one origin to one location apply in program order
 * (rar, raw, war, waw). Each origin has its own part of every target's window and
 * runs sequences of REPLACE, SUM, get_accumulate and fetch_and_op on it, single
 * elements mixed with the whole part and with strided types, without any flush in
 * between; every fetched value and the final contents must be those of the
 * program order. With accumulate_ordering=none only the atomic sum is left.
 */
#include "mtcomm.h"

#define N 4096    /* int64 elements of one origin's part: above and below every threshold */
#define STEPS 60  /* operations of one sequence */
#define FETCHED 8 /* elements fetched by a small get_accumulate */

struct seq {
    int64_t *model;              /* what the part must hold */
    int64_t *values;             /* origin buffers, one after the other */
    int64_t *results, *expected; /* fetched and expected to be fetched */
    size_t nvalues, nresults;
};

static MPI_Datatype every_third; /* of the part */
#define THIRDS (N / 3)

static void expect(struct seq *s, int first, int step, int n)
{
    for (int i = 0; i < n; i++) {
        s->expected[s->nresults + (size_t)i] = s->model[first + i * step];
    }
}

static void apply(struct seq *s, MPI_Op op, int first, int step, int n, const int64_t *v)
{
    for (int i = 0; i < n; i++) {
        int64_t *m = &s->model[first + i * step];
        *m = op == MPI_REPLACE ? v[i]
             : op == MPI_SUM   ? *m + v[i]
             : op == MPI_MAX   ? (v[i] > *m ? v[i] : *m)
                               : *m;
    }
}

/* One random operation at `at`, the displacement of the part's start; n elements, step apart. */
static void one(struct seq *s, const struct mt_win *w, int target, MPI_Aint at, struct mt_rng *rng)
{
    static const int sizes[] = {1, 1, 2, FETCHED, 100, N};
    MPI_Op ops[4] = {MPI_SUM, MPI_REPLACE, MPI_MAX, MPI_NO_OP};
    bool strided = mt_rng_below(rng, 5) == 0, fetch = mt_rng_below(rng, 2);
    int n = strided ? THIRDS : sizes[mt_rng_below(rng, 6)];
    int first = n == 1 ? (int)mt_rng_below(rng, 3) : 0;
    MPI_Op op = ops[mt_rng_below(rng, fetch ? 4 : 3)];
    int64_t *v = s->values + s->nvalues, *r = s->results + s->nresults;
    MPI_Datatype type = strided ? every_third : MPI_INT64_T;
    MPI_Aint disp = MPI_Aint_add(at, first * (MPI_Aint)sizeof *v);

    for (int i = 0; i < n; i++) {
        v[i] = (int64_t)mt_rng_below(rng, 1000);
    }
    if (fetch) {
        expect(s, first, strided ? 3 : 1, n);
    }
    if (fetch && n == 1) {
        MT_OK(MPI_Fetch_and_op(v, r, MPI_INT64_T, target, disp, op, w->win));
    } else if (fetch) {
        MT_OK(MPI_Get_accumulate(v, n, MPI_INT64_T, r, n, MPI_INT64_T, target, disp,
                                 strided ? 1 : n, type, op, w->win));
    } else {
        MT_OK(MPI_Accumulate(v, n, MPI_INT64_T, target, disp, strided ? 1 : n, type, op, w->win));
    }
    apply(s, op, first, strided ? 3 : 1, n, v);
    s->nvalues += (size_t)n;
    s->nresults += fetch ? (size_t)n : 0;
}

static void sequence(const struct mt_win *w, enum mt_epoch ep, int shift, struct seq *s,
                     struct mt_rng *rng)
{
    int target = (w->rank + shift) % w->size, origin = (w->rank - shift + w->size) % w->size;
    MPI_Aint part = (MPI_Aint)N * (MPI_Aint)sizeof(int64_t);
    MPI_Aint at = mt_disp(w, target, w->rank * part);
    int64_t *back = mt_alloc((size_t)part);

    s->nvalues = s->nresults = 0;
    mt_epoch_begin(w, ep, target, origin);
    for (int i = 0; i < STEPS; i++) {
        one(s, w, target, at, rng);
    }
    mt_epoch_end(w, ep, target);
    CHECK_EQUAL(s->results, s->expected, s->nresults * sizeof(int64_t));
    mt_epoch_begin(w, ep, target, origin);
    MT_OK(MPI_Get(back, N, MPI_INT64_T, target, at, N, MPI_INT64_T, w->win));
    mt_epoch_end(w, ep, target);
    CHECK_EQUAL(back, s->model, (size_t)part);
    free(back);
}

static void default_order(enum mt_kind kind)
{
    struct mt_win w;
    size_t part = N * sizeof(int64_t), all = part * STEPS;
    struct seq s = {.values = mt_alloc(all), .results = mt_alloc(all), .expected = mt_alloc(all)};
    struct mt_rng rng = mt_rng((uint64_t)mt_rank * 100 + (uint64_t)kind);

    mt_section("default order, %s", mt_kind_name(kind));
    if (mt_win_make(&w, kind, mt_size * (MPI_Aint)part, 1, MPI_COMM_WORLD)) {
        int64_t *models = mt_alloc((size_t)mt_size * part);
        memset(models, 0, (size_t)mt_size * part);
        mt_sync(&w);
        MT_FOR_EPOCHS(ep)
        {
            for (int shift = 0; shift < w.size && shift < 3; shift++) {
                s.model = models + (size_t)((w.rank + shift) % w.size) * N;
                sequence(&w, ep, shift, &s, &rng);
            }
        }
        free(models);
        mt_win_free(&w);
    }
    free(s.values);
    free(s.results);
    free(s.expected);
}

/* The pairs by themselves, many times, where a reordered pair gives a wrong value at once. */
static void pairs(enum mt_kind kind)
{
    enum { TIMES = 300 };
    struct mt_win w;
    int64_t v[TIMES], r1[TIMES], r2[TIMES], last = 0;

    mt_section("pairs, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, mt_size * 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    int target = (w.rank + 1) % w.size;
    MPI_Aint at = mt_disp(&w, target, w.rank * 8);
    mt_sync(&w);
    MT_OK(MPI_Win_lock_all(0, w.win));
    for (int i = 0; i < TIMES; i++) {
        v[i] = i + 1;
        /* read, write, read, all of the same location and without a flush */
        MT_OK(MPI_Fetch_and_op(NULL, &r1[i], MPI_INT64_T, target, at, MPI_NO_OP, w.win));
        MT_OK(
            MPI_Accumulate(&v[i], 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, MPI_REPLACE, w.win));
        MT_OK(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &r2[i], 1, MPI_INT64_T, target, at, 1,
                                 MPI_INT64_T, MPI_NO_OP, w.win));
    }
    MT_OK(MPI_Win_unlock_all(w.win));
    for (int i = 0; i < TIMES; i++) {
        if (!CHECK(r1[i] == last && r2[i] == v[i], "pass %d: read %ld before %ld, %ld after", i,
                   (long)r1[i], (long)v[i], (long)r2[i])) {
            break;
        }
        last = v[i];
    }
    mt_sync(&w);
    mt_win_free(&w);
}

static void no_order(enum mt_kind kind, const char *ordering)
{
    enum { TIMES = 200, M = 600 };
    struct mt_win w;
    MPI_Info info;
    int64_t ones[M], sums[M];

    mt_section("accumulate_ordering=%s, %s", ordering, mt_kind_name(kind));
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "accumulate_ordering", ordering));
    for (int i = 0; i < M; i++) {
        ones[i] = 1;
    }
    if (mt_win_make_info(&w, kind, (MPI_Aint)sizeof sums, 1, info, MPI_COMM_WORLD)) {
        mt_sync(&w);
        MT_OK(MPI_Win_lock_all(0, w.win));
        for (int i = 0; i < TIMES; i++) {
            int target = i % w.size, n = i % 3 == 0 ? M : 1 + i % 7;
            MT_OK(MPI_Accumulate(ones, n, MPI_INT64_T, target, mt_disp(&w, target, 0), n,
                                 MPI_INT64_T, MPI_SUM, w.win));
        }
        MT_OK(MPI_Win_unlock_all(w.win));
        mt_sync(&w);
        int64_t want[M] = {0};
        for (int i = w.rank; i < TIMES; i += w.size) {
            int n = i % 3 == 0 ? M : 1 + i % 7;
            for (int e = 0; e < n; e++) {
                want[e] += w.size;
            }
        }
        CHECK_EQUAL(w.base, want, sizeof want);
        mt_win_free(&w);
    }
    MT_OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    MT_OK(MPI_Type_vector(THIRDS, 1, 3, MPI_INT64_T, &every_third));
    MT_OK(MPI_Type_commit(&every_third));
    MT_FOR_KINDS(kind)
    {
        default_order(kind);
        pairs(kind);
        no_order(kind, "none");
        no_order(kind, "waw,rar");
    }
    MT_OK(MPI_Type_free(&every_third));
    return MT_FINISH();
}
