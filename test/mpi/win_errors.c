/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_errors.c - wrong arguments give the right error class and harm nothing.
 *
 * Creation with MPI_ERRORS_RETURN on the communicator, operations and
 * synchronization with it on the window: MPI_ERR_WIN, _BASE, _SIZE, _DISP,
 * _LOCKTYPE, _ASSERT, _RANK, _COUNT, _TYPE, _OP, _COMM, _GROUP, _RMA_FLAVOR, _BUFFER
 * and _ARG for null addresses, and _RMA_RANGE for every operation, on both sides of the
 * window's memory, in every flavour. After each group of errors a put must still work, and guard
 * bytes around the window must be whole. Addresses that are none are in
 * win_errors_addresses.c, wrong epochs in win_sync_errors.c.
 */
#include "win_errors.h"

#include <limits.h>

enum { BYTES = 256, UNIT = 4 };
static const int BAD_ASSERT = 1 << 28;

static void creation(void)
{
    static char mem[64];
    MPI_Win win = MPI_WIN_NULL;
    void *p = NULL;

    mt_section("creation");
    CHECK_ERR(MPI_Win_create(mem, 64, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
    CHECK_ERR(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_NULL, &p, &win), MPI_ERR_COMM);
    CHECK_ERR(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_NULL, &p, &win), MPI_ERR_COMM);
    CHECK_ERR(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
    CHECK_ERR(MPI_Win_create(mem, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    CHECK_ERR(MPI_Win_allocate(-8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win), MPI_ERR_SIZE);
    CHECK_ERR(MPI_Win_allocate_shared(-1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win),
              MPI_ERR_SIZE);
    CHECK_ERR(MPI_Win_create(mem, 64, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    CHECK_ERR(MPI_Win_create(mem, 64, -4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    CHECK_ERR(MPI_Win_allocate(64, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win), MPI_ERR_DISP);
    CHECK_ERR(MPI_Win_allocate_shared(64, -1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win),
              MPI_ERR_DISP);
    CHECK_ERR(MPI_Win_create(NULL, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BASE);
    CHECK(win == MPI_WIN_NULL, "a refused creation must not touch the handle");
    CHECK(p == NULL, "a refused creation must not touch the base pointer");
}

/* One rank is wrong: every rank hears of it, nobody waits for ever. */
static void creation_one_rank_wrong(void)
{
    MPI_Win win = MPI_WIN_NULL;
    void *p = NULL;
    bool me = mt_rank == mt_size - 1;

    mt_section("creation, one rank is wrong");
    CHECK_ERR(MPI_Win_allocate(me ? -1 : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win),
              MPI_ERR_SIZE);
    CHECK_ERR(MPI_Win_allocate_shared(64, me ? 0 : 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win),
              MPI_ERR_DISP);
    CHECK_ERR(
        MPI_Win_allocate(me ? (MPI_Aint)1 << 55 : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win),
        MPI_ERR_NO_MEM);
    CHECK(win == MPI_WIN_NULL, "a refused creation must not touch the handle");
    MT_OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    MT_OK(MPI_Win_free(&win));
}

static void intercommunicator(void)
{
    MPI_Comm half, inter;
    MPI_Win win = MPI_WIN_NULL;
    void *p;

    mt_section("intercommunicator");
    MPI_Comm_split(MPI_COMM_WORLD, mt_rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, mt_rank % 2 == 0 ? 1 : 0, 7, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Win_allocate(64, 1, MPI_INFO_NULL, inter, &p, &win), MPI_ERR_COMM);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void null_window(void)
{
    MPI_Win null = MPI_WIN_NULL;
    MPI_Group g = MPI_GROUP_EMPTY;
    MPI_Request req;
    MPI_Info info;
    int x = 0, y = 0, z = 0;
    char name[MPI_MAX_OBJECT_NAME];

    mt_section("MPI_WIN_NULL");
    CHECK_ERR(MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Get(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Get_accumulate(&x, 1, MPI_INT, &y, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, null),
              MPI_ERR_WIN);
    CHECK_ERR(MPI_Fetch_and_op(&x, &y, MPI_INT, 0, 0, MPI_SUM, null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Compare_and_swap(&x, &y, &z, MPI_INT, 0, 0, null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Rput(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, null, &req), MPI_ERR_WIN);
    CHECK_ERR(MPI_Rget(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, null, &req), MPI_ERR_WIN);
    CHECK_ERR(MPI_Raccumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, null, &req), MPI_ERR_WIN);
    CHECK_ERR(
        MPI_Rget_accumulate(&x, 1, MPI_INT, &y, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, null, &req),
        MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_fence(0, null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_start(g, 0, null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_complete(null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_post(g, 0, null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_wait(null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_test(null, &x), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_unlock(0, null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_lock_all(0, null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_unlock_all(null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_flush(0, null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_flush_all(null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_flush_local(0, null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_flush_local_all(null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_sync(null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_attach(null, &x, 4), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_detach(null, &x), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_free(&null), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_get_group(null, &g), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_get_info(null, &info), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_set_info(null, MPI_INFO_NULL), MPI_ERR_WIN);
    CHECK_ERR(MPI_Win_set_name(null, "x"), MPI_ERR_WIN);
    /* The null handle has a name since MPI 4.1 (7.8). */
    if (MPI_VERSION * 10 + MPI_SUBVERSION >= 41) {
        MT_OK(MPI_Win_get_name(null, name, &x));
        CHECK(strcmp(name, "MPI_WIN_NULL") == 0, "MPI_WIN_NULL has the name %s", name);
    } else {
        CHECK_ERR(MPI_Win_get_name(null, name, &x), MPI_ERR_WIN);
    }
}

static void sync_arguments(struct mt_win *w)
{
    MPI_Win win = w->win;

    mt_section("%s, synchronization", mt_kind_name(w->kind));
    CHECK_ERR(MPI_Win_lock(4711, 0, 0, win), MPI_ERR_LOCKTYPE);
    CHECK_ERR(MPI_Win_lock(MPI_LOCK_SHARED, 0, BAD_ASSERT, win), MPI_ERR_ASSERT);
    CHECK_ERR(MPI_Win_lock_all(BAD_ASSERT, win), MPI_ERR_ASSERT);
    CHECK_ERR(MPI_Win_fence(BAD_ASSERT, win), MPI_ERR_ASSERT);
    CHECK_ERR(MPI_Win_start(MPI_GROUP_EMPTY, BAD_ASSERT, win), MPI_ERR_ASSERT);
    CHECK_ERR(MPI_Win_post(MPI_GROUP_EMPTY, BAD_ASSERT, win), MPI_ERR_ASSERT);
    CHECK_ERR(MPI_Win_lock(MPI_LOCK_SHARED, w->size, 0, win), MPI_ERR_RANK);
    CHECK_ERR(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, -55, 0, win), MPI_ERR_RANK);
    CHECK_ERR(MPI_Win_start(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
    CHECK_ERR(MPI_Win_post(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
    CHECK_PUT_WORKS(win, w->rank, mt_disp(w, w->rank, 8), 1);

    MT_OK(MPI_Win_lock_all(0, win));
    CHECK_ERR(MPI_Win_flush(w->size, win), MPI_ERR_RANK);
    CHECK_ERR(MPI_Win_flush(-33, win), MPI_ERR_RANK);
    CHECK_ERR(MPI_Win_flush_local(w->size, win), MPI_ERR_RANK);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, win));
    CHECK_ERR(MPI_Win_unlock(w->size, win), MPI_ERR_RANK);
    MT_OK(MPI_Win_unlock(w->rank, win));
    CHECK_PUT_WORKS(win, w->rank, mt_disp(w, w->rank, 8), 2);
}

/* A group with a process that is not in the window. */
static void foreign_group(void)
{
    MPI_Comm half;
    MPI_Group all;
    struct mt_win w;

    mt_section("group with a process outside the window");
    MPI_Comm_split(MPI_COMM_WORLD, mt_rank % 2, 0, &half);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (mt_win_make(&w, MT_ALLOCATE, 64, 1, half)) {
        CHECK_ERR(MPI_Win_start(all, 0, w.win), MPI_ERR_GROUP);
        CHECK_ERR(MPI_Win_post(all, 0, w.win), MPI_ERR_GROUP);
        CHECK_PUT_WORKS(w.win, 0, 4 * w.rank, 5);
        mt_win_free(&w);
    }
    MPI_Group_free(&all);
    MPI_Comm_free(&half);
}

static void flavor(struct mt_win *w)
{
    static int cell;

    mt_section("%s, attach and detach", mt_kind_name(w->kind));
    if (w->kind != MT_DYNAMIC) {
        CHECK_ERR(MPI_Win_attach(w->win, &cell, sizeof cell), MPI_ERR_RMA_FLAVOR);
        CHECK_ERR(MPI_Win_detach(w->win, &cell), MPI_ERR_RMA_FLAVOR);
        CHECK_PUT_WORKS(w->win, w->rank, mt_disp(w, w->rank, 8), 3);
    }
}

static void sum_ints(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

/* rank, count and datatype of every operation; inside lock_all. */
static void op_arguments(struct mt_win *w)
{
    int x[4] = {0}, y[4] = {0}, t = (w->rank + 1) % w->size, n = w->size;
    MPI_Aint at = mt_disp(w, t, 8);
    MPI_Win win = w->win;
    MPI_Datatype none = MPI_DATATYPE_NULL, raw;

    mt_section("%s, arguments of operations", mt_kind_name(w->kind));
    MPI_Type_contiguous(2, MPI_INT, &raw); /* not committed */
    MT_OK(MPI_Win_lock_all(0, win));
    CHECK_ERR(MPI_Put(x, 1, MPI_INT, n, at, 1, MPI_INT, win), MPI_ERR_RANK);
    CHECK_ERR(MPI_Put(x, 1, MPI_INT, -99, at, 1, MPI_INT, win), MPI_ERR_RANK);
    CHECK_ERR(MPI_Get(x, 1, MPI_INT, n, at, 1, MPI_INT, win), MPI_ERR_RANK);
    CHECK_ERR(MPI_Accumulate(x, 1, MPI_INT, n, at, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RANK);
    CHECK_ERR(MPI_Get_accumulate(x, 1, MPI_INT, y, 1, MPI_INT, n, at, 1, MPI_INT, MPI_SUM, win),
              MPI_ERR_RANK);
    CHECK_ERR(MPI_Fetch_and_op(x, y, MPI_INT, n, at, MPI_SUM, win), MPI_ERR_RANK);
    CHECK_ERR(MPI_Compare_and_swap(x, y, y + 1, MPI_INT, -99, at, win), MPI_ERR_RANK);

    CHECK_ERR(MPI_Put(x, -1, MPI_INT, t, at, 1, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Put(x, 1, MPI_INT, t, at, -1, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Get(x, -1, MPI_INT, t, at, 1, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Get(x, 1, MPI_INT, t, at, -3, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Accumulate(x, -1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM, win), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Accumulate(x, 1, MPI_INT, t, at, -1, MPI_INT, MPI_SUM, win), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Get_accumulate(x, 1, MPI_INT, y, -1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM, win),
              MPI_ERR_COUNT);

    CHECK_ERR(MPI_Put(x, 1, none, t, at, 1, MPI_INT, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Put(x, 1, MPI_INT, t, at, 1, none, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Get(x, 1, none, t, at, 1, MPI_INT, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Accumulate(x, 1, MPI_INT, t, at, 1, none, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Get_accumulate(x, 1, MPI_INT, y, 1, none, t, at, 1, MPI_INT, MPI_SUM, win),
              MPI_ERR_TYPE);
    CHECK_ERR(MPI_Put(x, 1, raw, t, at, 1, raw, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Put(x, 2, MPI_INT, t, at, 1, raw, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Get(x, 1, raw, t, at, 2, MPI_INT, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Accumulate(x, 2, MPI_INT, t, at, 1, raw, MPI_SUM, win), MPI_ERR_TYPE);
    MPI_Type_commit(&raw);
    CHECK_ERR(MPI_Fetch_and_op(x, y, raw, t, at, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Compare_and_swap(x, y, y + 1, raw, t, at, win), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Compare_and_swap(x, y, y + 1, MPI_FLOAT, t, at, win), MPI_ERR_TYPE);
    MT_OK(MPI_Put(x, 1, raw, t, mt_disp(w, t, 128), 2, MPI_INT, win));
    MT_OK(MPI_Win_unlock_all(win));
    MPI_Type_free(&raw);
    CHECK_PUT_WORKS(win, t, at, 4);
}

static void op_operations(struct mt_win *w)
{
    int x[4] = {0}, y[4] = {0}, t = (w->rank + 1) % w->size, lengths[2] = {1, 1};
    MPI_Aint at = mt_disp(w, t, 8), disps[2] = {0, 8};
    MPI_Win win = w->win;
    MPI_Request req = MPI_REQUEST_NULL;
    MPI_Datatype mixed, parts[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Op mine;

    mt_section("%s, op of accumulates", mt_kind_name(w->kind));
    MPI_Op_create(sum_ints, 1, &mine);
    MPI_Type_create_struct(2, lengths, disps, parts, &mixed);
    MPI_Type_commit(&mixed);
    MT_OK(MPI_Win_lock_all(0, win));
    CHECK_ERR(MPI_Accumulate(x, 1, MPI_INT, t, at, 1, MPI_INT, mine, win), MPI_ERR_OP);
    CHECK_ERR(MPI_Get_accumulate(x, 1, MPI_INT, y, 1, MPI_INT, t, at, 1, MPI_INT, mine, win),
              MPI_ERR_OP);
    CHECK_ERR(MPI_Fetch_and_op(x, y, MPI_INT, t, at, mine, win), MPI_ERR_OP);
    CHECK_ERR(MPI_Raccumulate(x, 1, MPI_INT, t, at, 1, MPI_INT, mine, win, &req), MPI_ERR_OP);
    CHECK_ERR(MPI_Accumulate(x, 1, MPI_INT, t, at, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
    CHECK_ERR(MPI_Accumulate(x, 1, MPI_DOUBLE, t, at, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP);
    CHECK_ERR(MPI_Accumulate(x, 1, MPI_INT, t, at, 1, MPI_INT, MPI_MINLOC, win), MPI_ERR_OP);
    CHECK_ERR(MPI_Fetch_and_op(x, y, MPI_FLOAT, t, at, MPI_LXOR, win), MPI_ERR_OP);
    CHECK_ERR(MPI_Accumulate(x, 1, mixed, t, at, 1, mixed, MPI_SUM, win), MPI_ERR_TYPE);
    MT_OK(MPI_Win_unlock_all(win));
    MPI_Type_free(&mixed);
    MPI_Op_free(&mine);
    CHECK_PUT_WORKS(win, t, at, 5);
}

enum { OPS = 10 };
static const char *const op_names[OPS] = {
    "put",  "get",  "accumulate",  "get_accumulate", "fetch_and_op", "compare_and_swap",
    "rput", "rget", "raccumulate", "rget_accumulate"};

/* Operation `op` on one element of type at a displacement; the error of the call or of completion.
 */
static int one_op(int op, MPI_Win win, int t, MPI_Aint at, int count, MPI_Datatype type)
{
    static char x[1024], y[1024], z[1024];
    MPI_Request req = MPI_REQUEST_NULL;
    int err = MPI_SUCCESS, waited = MPI_SUCCESS;

    switch (op) {
    case 0:
        err = MPI_Put(x, count, type, t, at, count, type, win);
        break;
    case 1:
        err = MPI_Get(y, count, type, t, at, count, type, win);
        break;
    case 2:
        err = MPI_Accumulate(x, count, type, t, at, count, type, MPI_SUM, win);
        break;
    case 3:
        err = MPI_Get_accumulate(x, count, type, y, count, type, t, at, count, type, MPI_SUM, win);
        break;
    case 4:
        err = MPI_Fetch_and_op(x, y, type, t, at, MPI_SUM, win);
        break;
    case 5:
        err = MPI_Compare_and_swap(x, z, y, type, t, at, win);
        break;
    case 6:
        err = MPI_Rput(x, count, type, t, at, count, type, win, &req);
        break;
    case 7:
        err = MPI_Rget(y, count, type, t, at, count, type, win, &req);
        break;
    case 8:
        err = MPI_Raccumulate(x, count, type, t, at, count, type, MPI_SUM, win, &req);
        break;
    default:
        err = MPI_Rget_accumulate(x, count, type, y, count, type, t, at, count, type, MPI_SUM, win,
                                  &req);
    }
    if (err == MPI_SUCCESS && op >= 6) {
        waited = MPI_Wait(&req, MPI_STATUS_IGNORE);
    }
    int flushed = MPI_Win_flush(t, win);
    return err != MPI_SUCCESS ? err : waited != MPI_SUCCESS ? waited : flushed;
}

static void check_range(const struct mt_win *w, int op, int t, MPI_Aint byte, int count,
                        MPI_Datatype type)
{
    MPI_Aint at = mt_disp(w, t, byte);
    int errclass = MPI_SUCCESS, err = one_op(op, w->win, t, at, count, type);

    MPI_Error_class(err, &errclass);
    /* A negative displacement is an invalid one outside dynamic windows. */
    bool good = errclass == MPI_ERR_RMA_RANGE ||
                (errclass == MPI_ERR_DISP && byte < 0 && w->kind != MT_DYNAMIC);
    CHECK(good, "%s of %d at byte %ld of %d: expected MPI_ERR_RMA_RANGE, saw %s", op_names[op],
          count, (long)byte, BYTES, mt_class_name(errclass));
}

/* Dynamic windows: the memory next to the region belongs to the test, but is not attached. */
static void ranges(struct mt_win *w)
{
    int t = (w->rank + 1) % w->size;
    MPI_Datatype spread;

    MPI_Type_vector(2, 1, 16, MPI_INT, &spread); /* 4 bytes at 0 and 4 at 64 */
    MPI_Type_commit(&spread);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win));
    for (int op = 0; op < OPS; op++) {
        bool one = op == 4 || op == 5; /* fixed count 1 */
        mt_section("%s, %s out of range", mt_kind_name(w->kind), op_names[op]);
        check_range(w, op, t, BYTES, 1, MPI_INT);
        check_range(w, op, t, -4, 1, MPI_INT);
        check_range(w, op, t, BYTES - 4, 1, MPI_INT64_T);
        check_range(w, op, t, (MPI_Aint)1 << 40, 1, MPI_INT);
        if (!one) {
            check_range(w, op, t, BYTES - 8, 3, MPI_INT);
            check_range(w, op, t, -8, 4, MPI_INT);
            check_range(w, op, t, 0, BYTES / 4 + 1, MPI_INT);
            check_range(w, op, t, BYTES - 64, 1, spread);
            check_range(w, op, t, BYTES - 68, 2, spread);
        }
        if (w->kind != MT_DYNAMIC) {
            CHECK_ERR(one_op(op, w->win, t, LONG_MAX / 2, 1, MPI_INT), MPI_ERR_RMA_RANGE);
        }
        MT_OK(one_op(op, w->win, t, mt_disp(w, t, BYTES - 4), 1, MPI_INT));
        MT_OK(one_op(op, w->win, t, mt_disp(w, t, 0), 1, MPI_INT));
        if (!one) {
            MT_OK(one_op(op, w->win, t, mt_disp(w, t, BYTES - 68), 1, spread));
        }
    }
    int huge = INT_MAX, x = 0;
    if (w->kind != MT_DYNAMIC) {
        CHECK_ERR(MPI_Put(&x, huge, MPI_DOUBLE, t, 0, huge, MPI_DOUBLE, w->win), MPI_ERR_RMA_RANGE);
    }
    /* Nothing at all is never out of range. */
    MT_OK(MPI_Put(&x, 0, MPI_INT, t, mt_disp(w, t, BYTES), 0, MPI_INT, w->win));
    MT_OK(MPI_Put(&x, 1, MPI_INT, MPI_PROC_NULL, 1 << 20, 1, MPI_INT, w->win));
    MT_OK(MPI_Win_unlock(t, w->win));
    MPI_Type_free(&spread);
    CHECK_PUT_WORKS(w->win, t, mt_disp(w, t, 8), 6);
}

static void empty_window(void)
{
    struct mt_win w;

    mt_section("a window without memory");
    if (!mt_win_make(&w, MT_ALLOCATE, mt_rank == 0 ? 0 : 64, 1, MPI_COMM_WORLD)) {
        return;
    }
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
    for (int op = 0; op < OPS; op++) {
        CHECK_ERR(one_op(op, w.win, 0, 0, 1, MPI_INT), MPI_ERR_RMA_RANGE);
    }
    MT_OK(MPI_Win_unlock(0, w.win));
    mt_win_free(&w);
}

/* The flavour that the forced path cannot have is refused on every rank, and says so.
 * (A process reaches its own memory on any path.) */
static void refused_on_mapped(void)
{
    static int cell[16];
    MPI_Win win = MPI_WIN_NULL;
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;

    if (!mt_path_is("mapped") || mt_size == 1) {
        return;
    }
    mt_section("what the mapped path refuses");
    int err = MPI_Win_create(cell, sizeof cell, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CHECK(err != MPI_SUCCESS && win == MPI_WIN_NULL,
          "MPI_Win_create over a global array succeeded");
    if (err != MPI_SUCCESS) {
        MPI_Error_string(err, text, &len);
        CHECK(len > 0, "the error has no text");
    } else {
        MPI_Win_free(&win);
    }
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    if (!mt_host_only("wrong arguments at creation")) {
        creation();
        creation_one_rank_wrong();
        places_at_creation();
        null_window();
        refused_on_mapped();
    }
    if (mt_size > 1 && !mt_host_only("groups and communicators that do not fit")) {
        intercommunicator();
        foreign_group();
    }
    empty_window();
    MT_FOR_KINDS(kind)
    {
        struct mt_win w;
        mt_section("%s", mt_kind_name(kind));
        if (mt_win_make(&w, kind, BYTES, UNIT, MPI_COMM_WORLD)) {
            sync_arguments(&w);
            flavor(&w);
            op_arguments(&w);
            op_operations(&w);
            buffers(&w);
            places(&w);
            ranges(&w);
            mt_win_free(&w);
        }
    }
    return MT_FINISH();
}
