/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_target.c - operations on a target that has not begun its part of the epoch yet, on the node:
 * MPI_Win_post comes, or the fence is entered, only after all calls of all origins have returned,
 * which they tell the target by messages. So a call that waits for the target is found, not by its
 * time: the target gives up waiting for the messages and says so. (MPI 4.1, 12.5.2 allows a call to
 * wait; this library promises that it does not.) Rank 0 is the target of all others, in turns of
 * put, get and accumulates, in contiguous and in derived datatypes, larger than what a stage takes.
 * Each origin has its part of the window.
 */
#include "mtcomm.h"

#define ELEMS 12288                /* of each kind of operation and origin, 64-bit integers */
#define PART (3 * (MPI_Aint)ELEMS) /* elements: put, to get, accumulated */
#define GIVE_UP 5.0                /* seconds */

enum end { BY_PSCW, BY_FENCE, ENDS };

static int64_t value(int origin, int what, int i, int round)
{
    return (int64_t)origin * 1000003 + what * 4099 + i + (int64_t)round * 7919;
}

/* Every second element of a row twice as long: half of the elements. */
static MPI_Datatype strided(void)
{
    MPI_Datatype type;
    MT_OK(MPI_Type_vector(ELEMS / 2, 1, 2, MPI_INT64_T, &type));
    MT_OK(MPI_Type_commit(&type));
    return type;
}

/* The origin's calls. The accumulates replace, then add twice: only in that order the sum is right.
 */
static void access_target(const struct mt_win *w, bool derived, int round, int64_t *out,
                          int64_t *got, int64_t *add)
{
    const MPI_Aint put = w->rank * PART * 8, get = put + ELEMS * 8, acc = get + ELEMS * 8;
    MPI_Datatype type = derived ? strided() : MPI_INT64_T;
    const int n = derived ? 1 : ELEMS;

    for (int i = 0; i < ELEMS; i++) {
        out[i] = value(w->rank, 0, i, round);
        got[i] = -1;
        add[i] = value(w->rank, 2, i, round);
    }
    MT_OK(MPI_Put(out, n, type, 0, mt_disp(w, 0, put), n, type, w->win));
    MT_OK(MPI_Get(got, n, type, 0, mt_disp(w, 0, get), n, type, w->win));
    MT_OK(MPI_Accumulate(add, n, type, 0, mt_disp(w, 0, acc), n, type, MPI_REPLACE, w->win));
    MT_OK(MPI_Accumulate(add, n, type, 0, mt_disp(w, 0, acc), n, type, MPI_SUM, w->win));
    MT_OK(MPI_Accumulate(out, n, type, 0, mt_disp(w, 0, acc), n, type, MPI_SUM, w->win));
    if (derived) {
        MT_OK(MPI_Type_free(&type)); /* the operations have their own reference */
    }
}

static void check_got(const struct mt_win *w, bool derived, int round, const int64_t *got)
{
    for (int i = 0; i < ELEMS; i++) {
        const int64_t due = derived && i % 2 ? -1 : value(w->rank, 1, i, round);
        if (!CHECK(got[i] == due, "element %d of the get is %lld, not %lld", i, (long long)got[i],
                   (long long)due)) {
            return;
        }
    }
}

static void prepare(const struct mt_win *w, int round)
{
    for (int o = 1; o < w->size; o++) {
        int64_t *part = (int64_t *)(void *)w->base + o * PART;
        for (int i = 0; i < ELEMS; i++) {
            part[i] = -1;
            part[ELEMS + i] = value(o, 1, i, round);
            part[2 * ELEMS + i] = 0;
        }
    }
}

static void check_target(const struct mt_win *w, bool derived, int round)
{
    for (int o = 1; o < w->size; o++) {
        const int64_t *part = (const int64_t *)(const void *)w->base + o * PART;
        for (int i = 0; i < ELEMS; i++) {
            const bool hit = !derived || i % 2 == 0;
            const int64_t put = hit ? value(o, 0, i, round) : -1,
                          sum = hit ? 2 * value(o, 2, i, round) + value(o, 0, i, round) : 0;
            if (!CHECK(part[i] == put && part[2 * ELEMS + i] == sum,
                       "element %d of rank %d: %lld and %lld, not %lld and %lld", i, o,
                       (long long)part[i], (long long)part[2 * ELEMS + i], (long long)put,
                       (long long)sum)) {
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
    int64_t *out = mt_alloc(3 * ELEMS * sizeof *out), *got = out + ELEMS, *add = got + ELEMS;
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
        access_target(w, derived, round, out, got, add);
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
        MT_OK(end == BY_PSCW ? MPI_Win_complete(w->win)
                             : MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
        check_got(w, derived, round, got);
        MPI_Group_free(&zero);
    }
    free(out);
}

int main(int argc, char **argv)
{
    static const enum mt_kind kinds[] = {MT_ALLOCATE, MT_CREATE_MALLOC};
    int round = 0;

    MT_INIT(argc, argv);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct mt_win w;
        mt_section("%s", mt_kind_name(kinds[k]));
        if (!mt_win_make(&w, kinds[k], mt_size * PART * (MPI_Aint)sizeof(int64_t), sizeof(int64_t),
                         MPI_COMM_WORLD)) {
            continue;
        }
        for (int i = 0; i < 2 * 2 * ENDS; i++) {
            one_round(&w, (enum end)(i % ENDS), i / ENDS % 2, ++round);
        }
        mt_win_free(&w);
    }
    return MT_FINISH();
}
