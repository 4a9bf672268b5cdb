/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_target.c - operations on a target that has not begun its part of the epoch yet:
 * MPI_Win_post comes, or the fence is entered, only after all calls of all origins have returned,
 * which they tell the target by messages. So a call that waits for the target is found, not by its
 * time: the target gives up waiting for the messages and says so. (MPI 4.1, 12.5.2 allows a call to
 * wait; this library promises that it does not.) Rank 0 is the target of all others, in turns of
 * put, get and accumulates, in contiguous and in derived datatypes, of a few bytes, larger than
 * what a stage takes, and larger than all packets that may be sent before the target has begun.
 * Each origin has its part of the window. late_target many: so many operations that what may wait
 * for a target is used up, after which calls may wait; they are done in their order all the same.
 */
#include "mtcomm.h"

#define GIVE_UP 5.0 /* seconds */

enum {
    PUT,
    GET,
    ACC,
    FETCH_ACC,
    AREAS
}; /* what each origin has in the window, one behind another */

static int elems; /* of each area, 64-bit integers */

enum end { BY_PSCW, BY_FENCE, ENDS };

static int64_t value(int origin, int what, int i, int round)
{
    return (int64_t)origin * 1000003 + what * 4099 + i + (int64_t)round * 7919;
}

/* Every second element of a row twice as long: half of the elements. */
static MPI_Datatype strided(void)
{
    MPI_Datatype type;
    MT_OK(MPI_Type_vector(elems / 2, 1, 2, MPI_INT64_T, &type));
    MT_OK(MPI_Type_commit(&type));
    return type;
}

static MPI_Aint area(const struct mt_win *w, int origin, int which)
{
    return mt_disp(w, 0, ((MPI_Aint)origin * AREAS + which) * elems * 8);
}

/* An origin's buffers: data that goes out, and what comes back. */
struct buffers {
    int64_t *out, *got, *add, *old;
};

/* The origin's calls. The accumulates replace, then add twice: only in that order the sum is right.
 */
static void access_target(const struct mt_win *w, bool derived, int round, const struct buffers *b)
{
    const MPI_Aint acc = area(w, w->rank, ACC);
    MPI_Datatype type = derived ? strided() : MPI_INT64_T;
    const int n = derived ? 1 : elems;

    for (int i = 0; i < elems; i++) {
        b->out[i] = value(w->rank, PUT, i, round);
        b->got[i] = b->old[i] = -1;
        b->add[i] = value(w->rank, ACC, i, round);
    }
    const double begin = mt_now();
    MT_OK(MPI_Put(b->out, n, type, 0, area(w, w->rank, PUT), n, type, w->win));
    MT_OK(MPI_Get(b->got, n, type, 0, area(w, w->rank, GET), n, type, w->win));
    MT_OK(MPI_Accumulate(b->add, n, type, 0, acc, n, type, MPI_REPLACE, w->win));
    MT_OK(MPI_Accumulate(b->add, n, type, 0, acc, n, type, MPI_SUM, w->win));
    MT_OK(MPI_Accumulate(b->out, n, type, 0, acc, n, type, MPI_SUM, w->win));
    MT_OK(MPI_Get_accumulate(b->out, n, type, b->old, n, type, 0, area(w, w->rank, FETCH_ACC), n,
                             type, MPI_SUM, w->win));
    const double took = mt_now() - begin;
    CHECK(took < GIVE_UP / 2, "the calls have taken %.3f s", took);
    if (derived) {
        MT_OK(MPI_Type_free(&type)); /* the operations have their own reference */
    }
}

static void check_got(const struct mt_win *w, bool derived, int round, const struct buffers *b)
{
    for (int i = 0; i < elems; i++) {
        const bool hit = !derived || i % 2 == 0;
        const int64_t got = hit ? value(w->rank, GET, i, round) : -1,
                      old = hit ? value(w->rank, FETCH_ACC, i, round) : -1;
        if (!CHECK(b->got[i] == got && b->old[i] == old,
                   "element %d of the gets is %lld and %lld, not %lld and %lld", i,
                   (long long)b->got[i], (long long)b->old[i], (long long)got, (long long)old)) {
            return;
        }
    }
}

static void prepare(const struct mt_win *w, int round)
{
    int64_t *at = (int64_t *)(void *)w->base + AREAS * elems;
    for (int o = 1; o < w->size; o++) {
        for (int k = 0; k < AREAS * elems; k++) {
            const int which = k / elems;
            *at++ = which == PUT ? -1 : which == ACC ? 0 : value(o, which, k % elems, round);
        }
    }
}

static void check_target(const struct mt_win *w, bool derived, int round)
{
    for (int o = 1; o < w->size; o++) {
        const int64_t *part = (const int64_t *)(const void *)w->base + o * AREAS * elems;
        for (int i = 0; i < elems; i++) {
            const bool hit = !derived || i % 2 == 0;
            const int64_t out = value(o, PUT, i, round), fetch = value(o, FETCH_ACC, i, round),
                          put = hit ? out : -1, sum = hit ? 2 * value(o, ACC, i, round) + out : 0,
                          fetched = hit ? fetch + out : fetch;
            if (!CHECK(part[i] == put && part[ACC * elems + i] == sum &&
                           part[FETCH_ACC * elems + i] == fetched,
                       "element %d of rank %d: %lld, %lld, %lld, not %lld, %lld, %lld", i, o,
                       (long long)part[i], (long long)part[ACC * elems + i],
                       (long long)part[FETCH_ACC * elems + i], (long long)put, (long long)sum,
                       (long long)fetched)) {
                return;
            }
        }
    }
}

/* All origins have returned from their calls. */
static void await_origins(int size)
{
    const double end = mt_now() + GIVE_UP;
    for (int o = 1; o < size; o++) {
        int flag = 0;
        while (!flag && mt_now() < end) {
            MT_OK(MPI_Iprobe(o, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        }
        CHECK(flag, "calls of rank %d wait for the target", o);
    }
}

static void one_round(const struct mt_win *w, enum end end, bool derived, int round)
{
    int64_t *out = mt_alloc(4 * (size_t)elems * sizeof *out);
    const struct buffers b = {out, out + elems, out + 2 * elems, out + 3 * elems};
    if (w->rank == 0) {
        MPI_Group origins;
        MPI_Group all;
        MT_OK(MPI_Win_get_group(w->win, &all));
        MT_OK(MPI_Group_excl(all, 1, &(int){0}, &origins));
        prepare(w, round);
        await_origins(w->size);
        MT_OK(end == BY_PSCW ? MPI_Win_post(origins, 0, w->win)
                             : MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
        MT_OK(end == BY_PSCW ? MPI_Win_wait(w->win) : MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
        for (int o = 1; o < w->size; o++) {
            MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, o, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        check_target(w, derived, round);
        MPI_Group_free(&origins);
        MPI_Group_free(&all);
    } else {
        MPI_Group zero = mt_group_one(w, 0);
        MT_OK(end == BY_PSCW ? MPI_Win_start(zero, 0, w->win)
                             : MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
        access_target(w, derived, round, &b);
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
        MT_OK(end == BY_PSCW ? MPI_Win_complete(w->win)
                             : MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
        check_got(w, derived, round, &b);
        MPI_Group_free(&zero);
    }
    free(out);
}

static void all_rounds(enum mt_kind kind)
{
    static const int sizes[] = {4, 12288, 131072};
    int round = 0;

    for (int i = 0; i < 3; i++) {
        struct mt_win w;
        elems = sizes[i];
        if (elems > 12288 && mt_size > 4) /* enough of that with fewer */
            continue;
        mt_section("%s, %d elements", mt_kind_name(kind), elems);
        if (!mt_win_make(&w, kind, mt_size * AREAS * (MPI_Aint)elems * 8, 8, MPI_COMM_WORLD))
            continue;
        for (int k = 0; k < 2 * ENDS; k++)
            one_round(&w, (enum end)(k % ENDS), k / ENDS, ++round);
        mt_win_free(&w);
    }
}

/* ---- more than may wait ---- */

/* Element i of the origin's row is set, then one is added, MANY times each; the target is late by a
 * sleep, since nobody can tell it that the calls have returned. */
static void many(const struct mt_win *w, enum end end)
{
    enum { MANY = 20000, ROW = 64 };
    static int64_t row[MANY];
    const MPI_Aint at = mt_disp(w, 0, (MPI_Aint)w->rank * ROW * 8);
    MPI_Group all, peers;

    mt_section("%s, by %s", mt_kind_name(w->kind), end == BY_PSCW ? "PSCW" : "fence");
    MT_OK(MPI_Win_get_group(w->win, &all));
    MT_OK(w->rank ? MPI_Group_incl(all, 1, &(int){0}, &peers)
                  : MPI_Group_excl(all, 1, &(int){0}, &peers));
    if (w->rank == 0) {
        memset(w->base, 0, (size_t)w->bytes);
        mt_compute(0.1);
        MT_OK(end == BY_PSCW ? MPI_Win_post(peers, 0, w->win)
                             : MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
        MT_OK(end == BY_PSCW ? MPI_Win_wait(w->win) : MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
        for (int i = 0; i < w->size * ROW; i++) {
            int64_t seen;
            memcpy(&seen, w->base + (size_t)i * 8, sizeof seen);
            const int64_t due = i < ROW ? 0 : (MANY - 1 - (MANY - 1 - i % ROW) % ROW) + 1;
            CHECK(seen == due, "element %d is %lld, not %lld", i, (long long)seen, (long long)due);
        }
    } else {
        MT_OK(end == BY_PSCW ? MPI_Win_start(peers, 0, w->win)
                             : MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
        for (int i = 0; i < MANY; i++) {
            static const int64_t one = 1;
            row[i] = i;
            MT_OK(MPI_Accumulate(&row[i], 1, MPI_INT64_T, 0, at + i % ROW, 1, MPI_INT64_T,
                                 MPI_REPLACE, w->win));
            MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, at + i % ROW, 1, MPI_INT64_T, MPI_SUM,
                                 w->win));
        }
        MT_OK(end == BY_PSCW ? MPI_Win_complete(w->win)
                             : MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    }
    MPI_Group_free(&peers);
    MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
    static const enum mt_kind kinds[] = {MT_ALLOCATE, MT_CREATE_MALLOC};
    struct mt_win w;

    MT_INIT(argc, argv);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (argc < 2) {
            all_rounds(kinds[k]);
        } else if (mt_win_make(&w, kinds[k], mt_size * (MPI_Aint)512, 8, MPI_COMM_WORLD)) {
            for (int i = 0; i < ENDS; i++)
                many(&w, (enum end)i);
            mt_win_free(&w);
        }
    }
    return MT_FINISH();
}
