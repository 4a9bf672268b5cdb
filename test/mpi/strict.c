/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strict.c - what MPIRMA_STRICT=1 finds, and what it must let pass.
 *
 * Every pair of accesses to one location by one origin within an epoch (MPI 4.1,
 * 12.7) that conflicts, and every pair that does not, also after what completes the
 * first; in fence, PSCW and lock epochs; strided target types. Operations against
 * which_accumulate_ops and accumulate_ops. Notified operations, which a notification in
 * answer completes. Asserts (12.5.5) that are not true. After
 * each error the epoch goes on, what was refused has not been done, and the window
 * works. Needs MPIRMA_STRICT=1: without it the program fails at once.
 */
#include "mtest.h"

#include <mpi-rma.h>

enum { BYTES = 256, WORKS_AT = 248 };

static int next_of(const struct mt_win *w)
{
    return (w->rank + 1) % w->size;
}

static int prev_of(const struct mt_win *w)
{
    return (w->rank + w->size - 1) % w->size;
}

enum access { PUT, GET, SUM, PROD, READ, SUM_LONG, CAS, ACCESSES };
static const char *const names[] = {"put", "get", "sum", "prod", "no_op", "sum of long", "cas"};

/* Do the second after the first on one location in one epoch conflict? */
static const bool conflicts[ACCESSES][ACCESSES] = {
    /*             PUT    GET    SUM    PROD   READ   SUM_LONG CAS */
    [PUT] = {true, true, true, true, true, true, true},
    [GET] = {true, false, true, true, false, true, true},
    [SUM] = {true, true, false, false, false, true, false},
    [PROD] = {true, true, false, false, false, true, false},
    [READ] = {true, false, false, false, false, true, false},
    [SUM_LONG] = {true, true, true, true, true, false, true},
    [CAS] = {true, true, false, false, false, true, false},
};

static int access_at(const struct mt_win *w, enum access what, int t, MPI_Aint offset)
{
    static int one = 1, two = 2, got;
    static long one_long = 1;
    const MPI_Aint at = mt_disp(w, t, offset);

    switch (what) {
    case PUT:
        return MPI_Put(&one, 1, MPI_INT, t, at, 1, MPI_INT, w->win);
    case GET:
        return MPI_Get(&got, 1, MPI_INT, t, at, 1, MPI_INT, w->win);
    case SUM:
        return MPI_Accumulate(&one, 1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM, w->win);
    case PROD:
        return MPI_Get_accumulate(&two, 1, MPI_INT, &got, 1, MPI_INT, t, at, 1, MPI_INT, MPI_PROD,
                                  w->win);
    case READ:
        return MPI_Fetch_and_op(NULL, &got, MPI_INT, t, at, MPI_NO_OP, w->win);
    case SUM_LONG:
        return MPI_Accumulate(&one_long, 1, MPI_LONG, t, at, 1, MPI_LONG, MPI_SUM, w->win);
    default:
        return MPI_Compare_and_swap(&two, &one, &got, MPI_INT, t, at, w->win);
    }
}

static void check_second(const struct mt_win *w, enum access first, enum access second, int t,
                         MPI_Aint offset)
{
    mt_section("%s, %s after %s", mt_kind_name(w->kind), names[second], names[first]);
    if (conflicts[first][second]) {
        CHECK_ERR(access_at(w, second, t, offset), MPI_ERR_RMA_CONFLICT);
    } else {
        MT_OK(access_at(w, second, t, offset));
    }
}

/* All pairs, each in a lock epoch and, completed by a flush, without a conflict. */
static void pairs(struct mt_win *w)
{
    const int t = next_of(w);

    for (enum access a = 0; a < ACCESSES; a++) {
        for (enum access b = 0; b < ACCESSES; b++) {
            MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w->win));
            MT_OK(access_at(w, a, t, 0));
            MT_OK(access_at(w, b, t, 16)); /* elsewhere */
            check_second(w, a, b, t, 0);
            MT_OK(MPI_Win_flush(t, w->win));
            MT_OK(access_at(w, b, t, 0));
            MT_OK(MPI_Win_unlock(t, w->win));
        }
    }
    CHECK_PUT_WORKS(w->win, t, mt_disp(w, t, WORKS_AT), 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What a local flush and a waited request complete, and what they do not. */
static void local_completion(struct mt_win *w)
{
    const int t = next_of(w);
    int x = 5, y = 6;
    MPI_Request req;

    mt_section("%s, local completion", mt_kind_name(w->kind));
    MT_OK(MPI_Win_lock_all(0, w->win));
    MT_OK(access_at(w, GET, t, 32));
    MT_OK(access_at(w, SUM, t, 40));
    MT_OK(MPI_Win_flush_local(t, w->win));
    MT_OK(access_at(w, PUT, t, 32));
    CHECK_ERR(access_at(w, PUT, t, 40), MPI_ERR_RMA_CONFLICT);
    MT_OK(MPI_Rget(&x, 1, MPI_INT, t, mt_disp(w, t, 48), 1, MPI_INT, w->win, &req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_OK(MPI_Rput(&y, 1, MPI_INT, t, mt_disp(w, t, 48), 1, MPI_INT, w->win, &req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_ERR(MPI_Rget(&x, 1, MPI_INT, t, mt_disp(w, t, 48), 1, MPI_INT, w->win, &req),
              MPI_ERR_RMA_CONFLICT);
    MT_OK(MPI_Win_flush_all(w->win));
    MT_OK(access_at(w, GET, t, 48));
    MT_OK(MPI_Win_unlock_all(w->win));
    MT_OK(MPI_Win_lock_all(0, w->win));
    MT_OK(access_at(w, PUT, t, 48)); /* a new epoch */
    MT_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every second int: another operation in the gaps is fine, one on an edge is not. */
static void strided(struct mt_win *w)
{
    const int t = next_of(w);
    int data[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    MPI_Datatype every_second;

    mt_section("%s, strided", mt_kind_name(w->kind));
    MPI_Type_vector(8, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w->win));
    MT_OK(MPI_Put(data, 8, MPI_INT, t, mt_disp(w, t, 64), 1, every_second, w->win));
    MT_OK(MPI_Get(data, 8, MPI_INT, t, mt_disp(w, t, 68), 1, every_second, w->win));
    CHECK_ERR(MPI_Put(data, 8, MPI_INT, t, mt_disp(w, t, 68), 1, every_second, w->win),
              MPI_ERR_RMA_CONFLICT);
    CHECK_ERR(MPI_Get(data, 2, MPI_INT, t, mt_disp(w, t, 116), 2, MPI_INT, w->win),
              MPI_ERR_RMA_CONFLICT);
    MT_OK(access_at(w, PUT, t, 60));
    CHECK_ERR(access_at(w, SUM, t, 60), MPI_ERR_RMA_CONFLICT);
    MT_OK(MPI_Win_unlock(t, w->win));
    MPI_Type_free(&every_second);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A target datatype that names an int twice: wrong for what writes, in one instance or several. */
static void overlapping(struct mt_win *w)
{
    static const int twice[] = {0, 1}, backwards[] = {4, 0};
    const int t = next_of(w);
    int data[8] = {1, 1, 1, 1, 1, 1, 1, 1}, got[8];
    MPI_Datatype pairs, apart, narrow;

    mt_section("%s, overlapping target elements", mt_kind_name(w->kind));
    MPI_Type_create_indexed_block(2, 2, twice, MPI_INT, &pairs);
    MPI_Type_create_indexed_block(2, 2, backwards, MPI_INT, &apart);
    MPI_Type_create_resized(apart, 0, sizeof(int), &narrow);
    MPI_Type_commit(&pairs);
    MPI_Type_commit(&apart);
    MPI_Type_commit(&narrow);
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w->win));
    CHECK_ERR(MPI_Accumulate(data, 4, MPI_INT, t, mt_disp(w, t, 64), 1, pairs, MPI_SUM, w->win),
              MPI_ERR_RMA_CONFLICT);
    CHECK_ERR(MPI_Put(data, 4, MPI_INT, t, mt_disp(w, t, 64), 1, pairs, w->win),
              MPI_ERR_RMA_CONFLICT);
    CHECK_ERR(MPI_Accumulate(data, 8, MPI_INT, t, mt_disp(w, t, 64), 2, narrow, MPI_SUM, w->win),
              MPI_ERR_RMA_CONFLICT);
    MT_OK(MPI_Get(got, 4, MPI_INT, t, mt_disp(w, t, 64), 1, pairs, w->win));
    MT_OK(MPI_Get_accumulate(NULL, 0, MPI_INT, got + 4, 4, MPI_INT, t, mt_disp(w, t, 64), 1, pairs,
                             MPI_NO_OP, w->win));
    MT_OK(MPI_Win_flush(t, w->win));
    MT_OK(MPI_Accumulate(data, 4, MPI_INT, t, mt_disp(w, t, 64), 1, apart, MPI_SUM, w->win));
    MT_OK(MPI_Win_unlock(t, w->win));
    MPI_Type_free(&pairs);
    MPI_Type_free(&apart);
    MPI_Type_free(&narrow);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What was refused leaves no trace; a fence ends what conflicts. */
static void in_fence(struct mt_win *w)
{
    const int t = next_of(w);
    int x = 11, y = 12;

    mt_section("%s, fence", mt_kind_name(w->kind));
    MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    MT_OK(MPI_Put(&x, 1, MPI_INT, t, mt_disp(w, t, 128), 1, MPI_INT, w->win));
    CHECK_ERR(MPI_Put(&y, 1, MPI_INT, t, mt_disp(w, t, 128), 1, MPI_INT, w->win),
              MPI_ERR_RMA_CONFLICT);
    MT_OK(MPI_Win_fence(0, w->win));
    memcpy(&x, w->base + 128, sizeof x);
    CHECK(x == 11, "expected 11, saw %d", x);
    MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    MT_OK(MPI_Put(&y, 1, MPI_INT, t, mt_disp(w, t, 128), 1, MPI_INT, w->win));
    CHECK_ERR(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win), MPI_ERR_ASSERT); /* done all the same */
    memcpy(&x, w->base + 128, sizeof x);
    CHECK(x == 12, "expected 12, saw %d", x);
    MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, w->win));
    CHECK_PUT_WORKS(w->win, t, mt_disp(w, t, WORKS_AT), 2);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A put to who has given NOPUT: direct origins get the error from the operation,
 * packets report it when the epoch ends. Either way nothing is stored. */
static void refused_put(const struct mt_win *w, int t, MPI_Aint offset, int *put_class)
{
    int x = 99;

    MPI_Error_class(MPI_Put(&x, 1, MPI_INT, t, mt_disp(w, t, offset), 1, MPI_INT, w->win),
                    put_class);
    CHECK(*put_class == MPI_ERR_ASSERT || *put_class == MPI_SUCCESS, "saw %s",
          mt_class_name(*put_class));
}

static void fence_noput(struct mt_win *w)
{
    const int t = next_of(w);
    int put_class, x;

    mt_section("%s, fence with NOPUT", mt_kind_name(w->kind));
    MT_OK(MPI_Win_fence(MPI_MODE_NOPUT, w->win));
    refused_put(w, t, 136, &put_class);
    MT_OK(access_at(w, GET, t, 144));
    MT_OK(access_at(w, READ, t, 144));
    CHECK_ERR(MPI_Win_fence(0, w->win), put_class == MPI_SUCCESS ? MPI_ERR_ASSERT : MPI_SUCCESS);
    memcpy(&x, w->base + 136, sizeof x);
    CHECK(x == 0, "a put came through: %d", x);
    MT_OK(access_at(w, PUT, t, 144));
    MT_OK(MPI_Win_fence(MPI_MODE_NOPUT | MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, w->win));
    CHECK_PUT_WORKS(w->win, t, mt_disp(w, t, WORKS_AT), 3); /* not in a fence epoch any more */
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A fence that says that there was no operation, where there was one: it has come all the same. */
static void fence_noprecede(struct mt_win *w)
{
    const int t = next_of(w);
    int x = 0;

    mt_section("%s, fence with NOPRECEDE", mt_kind_name(w->kind));
    MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    MT_OK(access_at(w, PUT, t, 200));
    CHECK_ERR(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, w->win), MPI_ERR_ASSERT);
    memcpy(&x, w->base + 200, sizeof x);
    CHECK(x == 1, "expected 1, saw %d", x);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_PUT_WORKS(w->win, t, mt_disp(w, t, WORKS_AT), 6);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void in_pscw(struct mt_win *w, int asserts)
{
    int t = next_of(w), prev = prev_of(w), put_class = MPI_SUCCESS, x;
    MPI_Group all, to, from;

    mt_section("%s, start and complete%s", mt_kind_name(w->kind), asserts ? ", NOPUT" : "");
    MT_OK(MPI_Win_get_group(w->win, &all));
    MPI_Group_incl(all, 1, &t, &to);
    MPI_Group_incl(all, 1, &prev, &from);
    MT_OK(MPI_Win_post(from, asserts, w->win));
    MT_OK(MPI_Win_start(to, 0, w->win));
    if (asserts) {
        refused_put(w, t, 176, &put_class);
        MT_OK(access_at(w, GET, t, 184));
        CHECK_ERR(MPI_Win_complete(w->win),
                  put_class == MPI_SUCCESS ? MPI_ERR_ASSERT : MPI_SUCCESS);
    } else {
        MT_OK(access_at(w, PUT, t, 184));
        CHECK_ERR(access_at(w, GET, t, 184), MPI_ERR_RMA_CONFLICT);
        MT_OK(MPI_Win_complete(w->win));
    }
    MT_OK(MPI_Win_wait(w->win));
    memcpy(&x, w->base + 176, sizeof x);
    CHECK(x == 0, "a put came through: %d", x);
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    CHECK_PUT_WORKS(w->win, t, mt_disp(w, t, WORKS_AT), 4);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 holds rank 0's lock and says so; what rank 0's neighbours then do with NOCHECK. Locks of
 * packet targets are not seen: nothing is checked, and nobody waits. */
static void nocheck(struct mt_win *w, int held, int wanted, bool conflict)
{
    const int last = w->size - 1;
    int err;

    mt_section("%s, NOCHECK beside a lock", mt_kind_name(w->kind));
    if (w->rank == last) {
        MT_OK(held ? MPI_Win_lock(held, 0, 0, w->win) : MPI_Win_lock_all(0, w->win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (w->rank == 0) {
        err = wanted ? MPI_Win_lock(wanted, 0, MPI_MODE_NOCHECK, w->win)
                     : MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win);
        MPI_Error_class(err, &err);
        CHECK(err == (conflict ? MPI_ERR_ASSERT : MPI_SUCCESS), "saw %s", mt_class_name(err));
        if (err == MPI_SUCCESS) {
            MT_OK(wanted ? MPI_Win_unlock(0, w->win) : MPI_Win_unlock_all(w->win));
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (w->rank == last) {
        MT_OK(held ? MPI_Win_unlock(0, w->win) : MPI_Win_unlock_all(w->win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (w->rank == 0) { /* now it is true */
        MT_OK(wanted ? MPI_Win_lock(wanted, 0, MPI_MODE_NOCHECK, w->win)
                     : MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win));
        MT_OK(access_at(w, PUT, 0, 192));
        MT_OK(wanted ? MPI_Win_unlock(0, w->win) : MPI_Win_unlock_all(w->win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Somebody locks while rank 0 holds a lock that nobody was to compete for. */
static void nocheck_late(struct mt_win *w, bool direct)
{
    mt_section("%s, a lock beside NOCHECK", mt_kind_name(w->kind));
    if (w->rank == 0) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, w->win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (w->rank == 1) {
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (w->rank == 0) {
        CHECK_ERR(MPI_Win_unlock(0, w->win), direct ? MPI_ERR_ASSERT : MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (w->rank == 1) {
        MT_OK(MPI_Win_unlock(0, w->win));
        CHECK_PUT_WORKS(w->win, 0, mt_disp(w, 0, WORKS_AT), 5);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void hints(const char *key, const char *value, const char *ordering, enum access good,
                  enum access bad, int errclass)
{
    struct mt_win w;
    MPI_Info info;

    mt_section("%s=%s", key, value);
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Info_set(info, "accumulate_ordering", ordering);
    if (mt_win_make_info(&w, MT_ALLOCATE, BYTES, 1, info, MPI_COMM_WORLD)) {
        const int t = next_of(&w);
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w.win));
        MT_OK(access_at(&w, good, t, 0));
        if (errclass == MPI_SUCCESS) {
            MT_OK(access_at(&w, bad, t, 0));
        } else {
            CHECK_ERR(access_at(&w, bad, t, 0), errclass);
        }
        MT_OK(access_at(&w, good, t, 0));
        MT_OK(MPI_Win_unlock(t, w.win));
        CHECK_PUT_WORKS(w.win, t, WORKS_AT, 6);
        MPI_Barrier(MPI_COMM_WORLD);
        mt_win_free(&w);
    }
    MPI_Info_free(&info);
}

static int put_notify(const struct mt_win *w, int t, MPI_Aint offset, int number)
{
    static int one = 1;

    return MPIRMA_Put_notify(&one, 1, MPI_INT, t, mt_disp(w, t, offset), 1, MPI_INT, w->win,
                             number);
}

/* It is held against what was issued before. What comes behind it, after the answer, is right. */
static void notified(enum mt_kind kind)
{
    struct mt_win w;
    MPI_Info info;
    MPI_Count left = -1;

    mt_section("%s, notified", mt_kind_name(kind));
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_notifications", "2");
    const bool made = mt_win_make_info(&w, kind, BYTES, 1, info, MPI_COMM_WORLD);
    MPI_Info_free(&info);
    if (!made)
        return;
    const int t = next_of(&w), from = prev_of(&w);
    MT_OK(MPI_Win_lock_all(0, w.win));
    MT_OK(access_at(&w, PUT, t, 0));
    CHECK_ERR(put_notify(&w, t, 0, 0), MPI_ERR_RMA_CONFLICT);
    for (int i = 0; i < 3; i++) {
        MT_OK(put_notify(&w, t, 16, 0));
        MT_OK(MPIRMA_Notify_wait(w.win, from, 0, 1));
        MT_OK(MPIRMA_Put_notify(NULL, 0, MPI_BYTE, from, mt_disp(&w, from, 0), 0, MPI_BYTE, w.win,
                                1));
        MT_OK(MPIRMA_Notify_wait(w.win, t, 1, 1));
    }
    MT_OK(access_at(&w, PUT, t, 16));
    CHECK_ERR(access_at(&w, GET, t, 16), MPI_ERR_RMA_CONFLICT);
    MT_OK(MPI_Win_unlock_all(w.win));
    MPI_Barrier(MPI_COMM_WORLD);
    MT_OK(MPIRMA_Notify_read(w.win, MPI_ANY_SOURCE, 0, &left));
    CHECK(left == 3, "%lld notifications of number 0: what was refused raises none",
          (long long)left);
    mt_win_free(&w);
}

static void one_kind(enum mt_kind kind)
{
    const bool direct = !strstr(mt_path(), "packets") && !mt_several_nodes(MPI_COMM_WORLD);
    struct mt_win w;

    mt_section("%s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, BYTES, 4, MPI_COMM_WORLD)) {
        return;
    }
    pairs(&w);
    local_completion(&w);
    strided(&w);
    overlapping(&w);
    in_fence(&w);
    fence_noput(&w);
    fence_noprecede(&w);
    in_pscw(&w, 0);
    in_pscw(&w, MPI_MODE_NOPUT);
    nocheck(&w, MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED, direct);
    nocheck(&w, MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE, direct);
    nocheck(&w, MPI_LOCK_SHARED, MPI_LOCK_SHARED, false);
    nocheck(&w, MPI_LOCK_EXCLUSIVE, 0, direct);
    nocheck(&w, 0, MPI_LOCK_EXCLUSIVE, direct);
    nocheck(&w, 0, 0, false);
    nocheck_late(&w, direct);
    mt_win_free(&w);
}

int main(int argc, char **argv)
{
    const char *strict;

    MT_INIT(argc, argv);
    strict = getenv("MPIRMA_STRICT");
    if (CHECK(strict && !strcmp(strict, "1"), "MPIRMA_STRICT=1 expected")) {
        for (enum mt_kind kind = 0; kind<MT_KINDS; kind += mt_size> 2 ? 2 : 1) {
            one_kind(kind);
            notified(kind);
        }
        hints("which_accumulate_ops", "sum,no_op", "rar,raw,war,waw", SUM, PROD, MPI_ERR_OP);
        hints("which_accumulate_ops", "sum,no_op", "rar,raw,war,waw", SUM, CAS, MPI_ERR_OP);
        hints("which_accumulate_ops", "sum,no_op", "rar,raw,war,waw", SUM, READ, MPI_SUCCESS);
        hints("accumulate_ops", "same_op", "rar,raw,war,waw", SUM, READ, MPI_ERR_RMA_CONFLICT);
        hints("accumulate_ops", "same_op_no_op", "none", SUM, PROD, MPI_ERR_RMA_CONFLICT);
        hints("accumulate_ops", "same_op_no_op", "none", SUM, READ, MPI_SUCCESS);
        hints("accumulate_ops", "same_op_no_op", "rar,raw,war,waw", SUM, PROD, MPI_SUCCESS);
    }
    return MT_FINISH();
}
