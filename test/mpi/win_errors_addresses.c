/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_errors_addresses.c - addresses at which nothing can be: MPI_ERR_BUFFER where data would be,
 * MPI_ERR_ARG where a result would be.
 */
#include "win_errors.h"

/* Of an int at x, from MPI_BOTTOM on. */
static MPI_Datatype absolute_int(int *x)
{
    const int one = 1;
    MPI_Aint at;
    MPI_Datatype type;

    MPI_Get_address(x, &at);
    MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* No data lies at the null address: MPI_ERR_BUFFER on each side at the origin, whether the call has
 * used the target before or not. */
static void null_addresses(struct mt_win *w, MPI_Aint at, int t)
{
    int x = 5, y = 6, z = 7;
    int64_t v = 0, old = 0;
    MPI_Win win = w->win;
    MPI_Request req = MPI_REQUEST_NULL;
    MPI_Aint wide = mt_disp(w, t, 16);

    CHECK_ERR(MPI_Put(NULL, 1, MPI_INT, t, at, 1, MPI_INT, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Get(NULL, 1, MPI_INT, t, at, 1, MPI_INT, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Put(NULL, 4, MPI_BYTE, t, at, 1, MPI_INT, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Get(NULL, 4, MPI_BYTE, t, at, 1, MPI_INT, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Accumulate(NULL, 1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Get_accumulate(NULL, 1, MPI_INT, &y, 1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM, win),
              MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Get_accumulate(&x, 1, MPI_INT, NULL, 1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM, win),
              MPI_ERR_BUFFER);
    CHECK_ERR(
        MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 1, MPI_INT, t, at, 1, MPI_INT, MPI_NO_OP, win),
        MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Fetch_and_op(NULL, &y, MPI_INT, t, at, MPI_SUM, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Fetch_and_op(&x, NULL, MPI_INT, t, at, MPI_SUM, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Fetch_and_op(NULL, NULL, MPI_INT64_T, t, wide, MPI_NO_OP, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Fetch_and_op(NULL, &old, MPI_INT64_T, t, wide, MPI_SUM, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Fetch_and_op(&v, NULL, MPI_INT64_T, t, wide, MPI_REPLACE, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Compare_and_swap(NULL, &y, &z, MPI_INT, t, at, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Compare_and_swap(&x, NULL, &z, MPI_INT, t, at, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Compare_and_swap(&x, &y, NULL, MPI_INT, t, at, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Compare_and_swap(NULL, &v, &old, MPI_INT64_T, t, wide, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Compare_and_swap(&v, NULL, &old, MPI_INT64_T, t, wide, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Compare_and_swap(&v, &v, NULL, MPI_INT64_T, t, wide, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Rput(NULL, 1, MPI_INT, t, at, 1, MPI_INT, win, &req), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Rget(NULL, 1, MPI_INT, t, at, 1, MPI_INT, win, &req), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Raccumulate(NULL, 1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM, win, &req),
              MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Rget_accumulate(&x, 1, MPI_INT, NULL, 1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM, win,
                                  &req),
              MPI_ERR_BUFFER);
    CHECK(req == MPI_REQUEST_NULL, "a refused operation has made a request");
}

/* The null address with nothing to move, or where it is not looked at, is no error; nor is it as
 * MPI_BOTTOM with a datatype of absolute addresses (2.5.4). */
static void null_address_is_right(struct mt_win *w, MPI_Aint at, int t)
{
    int x = 31, y = -1, z = -1;
    int64_t old = -1;
    MPI_Win win = w->win;
    MPI_Datatype from = absolute_int(&x), to = absolute_int(&y), far;
    const MPI_Aint low = 8;
    const int one = 1;

    MPI_Type_create_hindexed(1, &one, &low, MPI_INT, &far);
    MPI_Type_commit(&far);
    CHECK_ERR(MPI_Put(NULL, 1, far, t, at, 1, MPI_INT, win), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Get(MPI_BOTTOM, 1, far, t, at, 1, MPI_INT, win), MPI_ERR_BUFFER);
    MT_OK(MPI_Put(NULL, 0, MPI_INT, t, at, 0, MPI_INT, win));
    MT_OK(MPI_Get(NULL, 0, MPI_INT, t, at, 0, MPI_INT, win));
    MT_OK(MPI_Put(NULL, 1, MPI_INT, MPI_PROC_NULL, at, 1, MPI_INT, win));
    MT_OK(MPI_Accumulate(NULL, 0, MPI_INT, t, at, 0, MPI_INT, MPI_SUM, win));
    MT_OK(MPI_Fetch_and_op(NULL, &old, MPI_INT64_T, t, mt_disp(w, t, 16), MPI_NO_OP, win));
    MT_OK(MPI_Get_accumulate(NULL, 0, MPI_INT, &z, 1, MPI_INT, t, at, 1, MPI_INT, MPI_NO_OP, win));
    MT_OK(MPI_Win_flush(t, win));
    CHECK(old == 0, "fetched %ld without a buffer for MPI_NO_OP", (long)old);
    MT_OK(MPI_Put(MPI_BOTTOM, 1, from, t, at, 1, MPI_INT, win));
    MT_OK(MPI_Win_flush(t, win));
    MT_OK(MPI_Get(MPI_BOTTOM, 1, to, t, at, 1, MPI_INT, win));
    MT_OK(MPI_Win_flush(t, win));
    MT_OK(MPI_Get_accumulate(MPI_BOTTOM, 1, from, &z, 1, MPI_INT, t, at, 1, MPI_INT, MPI_REPLACE,
                             win));
    MT_OK(MPI_Win_flush(t, win));
    CHECK(y == 31 && z == 31, "by absolute addresses: %d and %d, expected 31", y, z);
    MPI_Type_free(&from);
    MPI_Type_free(&to);
    MPI_Type_free(&far);
}

void buffers(struct mt_win *w)
{
    int x = 1, t = (w->rank + 1) % w->size;
    int64_t v = 0, old;
    MPI_Aint at = mt_disp(w, t, 8), wide = mt_disp(w, t, 16);

    mt_section("%s, null addresses", mt_kind_name(w->kind));
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w->win));
    null_addresses(w, at, t);
    MT_OK(MPI_Put(&v, 1, MPI_INT64_T, t, wide, 1, MPI_INT64_T, w->win));
    MT_OK(MPI_Put(&x, 1, MPI_INT, t, at, 1, MPI_INT, w->win));
    MT_OK(MPI_Win_flush(t, w->win));
    MT_OK(MPI_Fetch_and_op(&v, &old, MPI_INT64_T, t, wide, MPI_SUM, w->win));
    MT_OK(MPI_Win_flush(t, w->win));
    null_addresses(w, at, t);
    null_address_is_right(w, at, t);
    MT_OK(MPI_Win_unlock(t, w->win));
    CHECK_PUT_WORKS(w->win, t, at, 7);
}

/* Where a call is to store its result there must be an address: MPI_ERR_ARG, and nothing is done.
 */
void places(struct mt_win *w)
{
    int x = 1, flag;
    void *p;
    MPI_Aint size, at = mt_disp(w, w->rank, 8);
    MPI_Win win = w->win;

    mt_section("%s, no address for the result", mt_kind_name(w->kind));
    MT_OK(MPI_Win_lock_all(0, win));
    CHECK_ERR(MPI_Rput(&x, 1, MPI_INT, w->rank, at, 1, MPI_INT, win, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Rget(&x, 1, MPI_INT, w->rank, at, 1, MPI_INT, win, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Raccumulate(&x, 1, MPI_INT, w->rank, at, 1, MPI_INT, MPI_SUM, win, NULL),
              MPI_ERR_ARG);
    MT_OK(MPI_Win_unlock_all(win));
    CHECK_ERR(MPI_Win_get_group(win, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Win_get_info(win, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Win_test(win, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Win_get_attr(win, MPI_WIN_BASE, NULL, &flag), MPI_ERR_ARG);
    CHECK_ERR(MPI_Win_get_attr(win, MPI_WIN_BASE, &p, NULL), MPI_ERR_ARG);
    if (w->kind != MT_DYNAMIC) {
        CHECK_ERR(MPI_Win_shared_query(win, w->rank, NULL, &flag, &p), MPI_ERR_ARG);
        CHECK_ERR(MPI_Win_shared_query(win, w->rank, &size, NULL, &p), MPI_ERR_ARG);
        CHECK_ERR(MPI_Win_shared_query(win, w->rank, &size, &flag, NULL), MPI_ERR_ARG);
    }
    CHECK_PUT_WORKS(win, w->rank, at, 8);
}

/* The same of what makes and ends windows, and of calls without one. That one process gives no
 * address all are told. What the host answers by itself may have another class. */
void places_at_creation(void)
{
    MPI_Win win = MPI_WIN_NULL;
    MPI_Request req = MPI_REQUEST_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    void *p = NULL;
    bool me = mt_rank == mt_size - 1;

    mt_section("no address for the window or its base");
    CHECK_ERR(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, me ? NULL : &win),
              MPI_ERR_ARG);
    CHECK_ERR(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, me ? NULL : &p, &win),
              MPI_ERR_ARG);
    CHECK_ERR(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, NULL, &win),
              MPI_ERR_ARG);
    CHECK_ERR(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Alloc_mem(64, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Win_free(NULL), MPI_ERR_ARG);
    CHECK(MPI_Comm_split_type(MPI_COMM_SELF, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, NULL) !=
              MPI_SUCCESS,
          "no place for the communicator");
    CHECK(MPI_Test(&req, NULL, MPI_STATUS_IGNORE) != MPI_SUCCESS, "no place for the flag");
    CHECK(MPI_Wait(NULL, MPI_STATUS_IGNORE) != MPI_SUCCESS, "no request");
    CHECK(win == MPI_WIN_NULL && comm == MPI_COMM_NULL, "a refused call has made something");
}
