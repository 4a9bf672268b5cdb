/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_text.c - makes mistakes and prints what MPI_Error_string says of each; run by
 * error_text.sh.
 *
 * Two processes. Arguments: the names of the mistakes to make, all by default. Rank 1 prints a line
 * for each: name, a tab, the text with " | " for each end of a line. A text that has all the room
 * that MPI gives ends with "...". Everything is done on the target 0 by both ranks alike, unless
 * the mistake says otherwise; the window has 64 bytes with a displacement unit of 4.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;
static MPI_Win win, dynamic, alone;
static MPI_Group all, none, self;
static MPI_Datatype raw, pair, vector, mixed;
static MPI_Op mine;
static MPI_Request req;
static int x[64], y[64], z[64];
static double d[8];
static const int ODD = 1 << 28;

static void sum_ints(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void returns(MPI_Win w)
{
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
}

static void prepare(void)
{
    const int lengths[2] = {1, 1};
    const MPI_Aint disps[2] = {0, 8};
    const MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE};
    void *base;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_SELF, &base, &alone);
    returns(win), returns(dynamic), returns(alone);
    MPI_Win_set_name(win, "halo");
    MPI_Win_attach(dynamic, x, sizeof x);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MPI_Group_incl(all, 0, NULL, &none);
    MPI_Type_contiguous(2, MPI_INT, &raw);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_vector(3, 1, 8, MPI_INT, &vector);
    MPI_Type_create_struct(2, lengths, disps, parts, &mixed);
    MPI_Type_commit(&pair), MPI_Type_commit(&vector), MPI_Type_commit(&mixed);
    MPI_Op_create(sum_ints, 1, &mine);
}

/* The call with the target locked. */
#define LOCKED(call)                          \
    int rc;                                   \
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win); \
    rc = (call);                              \
    MPI_Win_unlock(0, win);                   \
    return rc
#define MISTAKE(name) static int name(void)

/* ---- arguments of operations ---- */
MISTAKE(put_origin_count)
{
    LOCKED(MPI_Put(x, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
}
MISTAKE(put_target_count)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 0, 0, -7, MPI_INT, win));
}
MISTAKE(get_origin_count)
{
    LOCKED(MPI_Get(x, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
}
MISTAKE(accumulate_target_count)
{
    LOCKED(MPI_Accumulate(x, 1, MPI_INT, 0, 0, -1, MPI_INT, MPI_SUM, win));
}
MISTAKE(get_accumulate_result_count)
{
    LOCKED(MPI_Get_accumulate(x, 1, MPI_INT, y, -1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
}
MISTAKE(get_accumulate_origin_count)
{
    LOCKED(MPI_Get_accumulate(x, -2, MPI_INT, y, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
}
MISTAKE(put_rank)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 2, 0, 1, MPI_INT, win));
}
MISTAKE(put_rank_negative)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, -99, 0, 1, MPI_INT, win));
}
MISTAKE(get_rank)
{
    LOCKED(MPI_Get(x, 1, MPI_INT, 77, 0, 1, MPI_INT, win));
}
MISTAKE(accumulate_rank)
{
    LOCKED(MPI_Accumulate(x, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win));
}
MISTAKE(fetch_rank)
{
    LOCKED(MPI_Fetch_and_op(x, y, MPI_INT, 2, 0, MPI_SUM, win));
}
MISTAKE(compare_rank)
{
    LOCKED(MPI_Compare_and_swap(x, y, z, MPI_INT, 2, 0, win));
}
MISTAKE(put_disp)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 0, -3, 1, MPI_INT, win));
}
MISTAKE(fetch_disp)
{
    LOCKED(MPI_Fetch_and_op(x, y, MPI_INT, 0, -1, MPI_SUM, win));
}
MISTAKE(put_target_type_null)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL, win));
}
MISTAKE(get_origin_type_null)
{
    LOCKED(MPI_Get(x, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
}
MISTAKE(get_accumulate_result_type_null)
{
    LOCKED(
        MPI_Get_accumulate(x, 1, MPI_INT, y, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, MPI_SUM, win));
}
MISTAKE(put_type_uncommitted)
{
    LOCKED(MPI_Put(x, 1, raw, 0, 0, 1, raw, win));
}
MISTAKE(put_origin_type_uncommitted)
{
    LOCKED(MPI_Put(x, 1, raw, 0, 0, 2, MPI_INT, win));
}
MISTAKE(accumulate_type_uncommitted)
{
    LOCKED(MPI_Accumulate(x, 2, MPI_INT, 0, 0, 1, raw, MPI_SUM, win));
}
MISTAKE(accumulate_type_mixed)
{
    LOCKED(MPI_Accumulate(x, 1, mixed, 0, 0, 1, mixed, MPI_SUM, win));
}
MISTAKE(accumulate_types_differ)
{
    LOCKED(MPI_Accumulate(d, 1, MPI_DOUBLE, 0, 0, 2, MPI_INT, MPI_SUM, win));
}
MISTAKE(get_accumulate_types_differ)
{
    LOCKED(MPI_Get_accumulate(x, 2, MPI_INT, d, 1, MPI_DOUBLE, 0, 0, 2, MPI_INT, MPI_SUM, win));
}
MISTAKE(fetch_type_derived)
{
    LOCKED(MPI_Fetch_and_op(x, y, pair, 0, 0, MPI_SUM, win));
}
MISTAKE(compare_type_derived)
{
    LOCKED(MPI_Compare_and_swap(x, y, z, pair, 0, 0, win));
}
MISTAKE(compare_type_float)
{
    LOCKED(MPI_Compare_and_swap(x, y, z, MPI_FLOAT, 0, 0, win));
}
MISTAKE(accumulate_op_null)
{
    LOCKED(MPI_Accumulate(x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win));
}
MISTAKE(accumulate_op_own)
{
    LOCKED(MPI_Accumulate(x, 1, MPI_INT, 0, 0, 1, MPI_INT, mine, win));
}
MISTAKE(fetch_op_own)
{
    LOCKED(MPI_Fetch_and_op(x, y, MPI_INT, 0, 0, mine, win));
}
MISTAKE(accumulate_no_op)
{
    LOCKED(MPI_Accumulate(x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win));
}
MISTAKE(accumulate_band_double)
{
    LOCKED(MPI_Accumulate(d, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, win));
}
MISTAKE(accumulate_minloc_int)
{
    LOCKED(MPI_Accumulate(x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_MINLOC, win));
}
MISTAKE(put_origin_null)
{
    LOCKED(MPI_Put(NULL, 2, MPI_INT, 0, 0, 2, MPI_INT, win));
}
MISTAKE(get_origin_null)
{
    LOCKED(MPI_Get(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
}
MISTAKE(accumulate_origin_null)
{
    LOCKED(MPI_Accumulate(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
}
MISTAKE(get_accumulate_result_null)
{
    LOCKED(MPI_Get_accumulate(x, 1, MPI_INT, NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
}
MISTAKE(fetch_result_null)
{
    LOCKED(MPI_Fetch_and_op(x, NULL, MPI_INT, 0, 0, MPI_SUM, win));
}
MISTAKE(compare_compare_null)
{
    LOCKED(MPI_Compare_and_swap(x, NULL, z, MPI_INT, 0, 0, win));
}
MISTAKE(put_sizes)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 0, 0, 1, MPI_DOUBLE, win));
}
MISTAKE(get_sizes)
{
    LOCKED(MPI_Get(x, 3, MPI_INT, 0, 0, 1, MPI_INT, win));
}
MISTAKE(accumulate_sizes)
{
    LOCKED(MPI_Accumulate(x, 2, MPI_INT, 0, 0, 3, MPI_INT, MPI_SUM, win));
}
MISTAKE(get_accumulate_sizes)
{
    LOCKED(MPI_Get_accumulate(x, 2, MPI_INT, y, 1, MPI_INT, 0, 0, 2, MPI_INT, MPI_SUM, win));
}
MISTAKE(put_range)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 0, 16, 1, MPI_INT, win));
}
MISTAKE(put_range_partly)
{
    LOCKED(MPI_Put(d, 1, MPI_DOUBLE, 0, 15, 1, MPI_DOUBLE, win));
}
MISTAKE(put_range_vector)
{
    LOCKED(MPI_Put(x, 3, MPI_INT, 0, 0, 1, vector, win));
}
MISTAKE(put_range_far)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 0, (MPI_Aint)1 << 62, 1, MPI_INT, win));
}
MISTAKE(get_range)
{
    LOCKED(MPI_Get(x, 17, MPI_INT, 0, 0, 17, MPI_INT, win));
}
MISTAKE(accumulate_range)
{
    LOCKED(MPI_Accumulate(x, 2, MPI_INT, 0, 15, 2, MPI_INT, MPI_SUM, win));
}
MISTAKE(fetch_range)
{
    LOCKED(MPI_Fetch_and_op(x, y, MPI_INT, 0, 16, MPI_SUM, win));
}
MISTAKE(compare_range)
{
    LOCKED(MPI_Compare_and_swap(x, y, z, MPI_INT, 0, 16, win));
}
MISTAKE(rput_range)
{
    LOCKED(MPI_Rput(x, 1, MPI_INT, 0, 16, 1, MPI_INT, win, &req));
}
MISTAKE(rget_request_null)
{
    LOCKED(MPI_Rget(x, 1, MPI_INT, 0, 0, 1, MPI_INT, win, NULL));
}

/* ---- epochs ---- */
MISTAKE(put_no_epoch)
{
    return MPI_Put(x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
}
MISTAKE(get_no_epoch)
{
    return MPI_Get(x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
}
MISTAKE(accumulate_no_epoch)
{
    return MPI_Accumulate(x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
}
MISTAKE(fetch_no_epoch)
{
    return MPI_Fetch_and_op(x, y, MPI_INT, 0, 0, MPI_SUM, win);
}
MISTAKE(rput_no_epoch)
{
    return MPI_Rput(x, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &req);
}
MISTAKE(put_not_locked)
{
    int rc;

    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    rc = MPI_Put(x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(1, win);
    return rc;
}
MISTAKE(put_not_started)
{
    int rc;

    MPI_Win_post(self, 0, win);
    MPI_Win_start(self, 0, win);
    rc = MPI_Put(x, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    return rc;
}
MISTAKE(put_after_last_fence)
{
    MPI_Win_fence(0, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    return MPI_Put(x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
}
MISTAKE(unlock_not_locked)
{
    return MPI_Win_unlock(0, win);
}
MISTAKE(unlock_another)
{
    LOCKED(MPI_Win_unlock(1, win));
}
MISTAKE(unlock_all_not_locked)
{
    return MPI_Win_unlock_all(win);
}
MISTAKE(unlock_all_in_lock)
{
    LOCKED(MPI_Win_unlock_all(win));
}
MISTAKE(flush_not_locked)
{
    return MPI_Win_flush(0, win);
}
MISTAKE(flush_local_not_locked)
{
    return MPI_Win_flush_local(0, win);
}
MISTAKE(flush_all_not_locked)
{
    return MPI_Win_flush_all(win);
}
MISTAKE(lock_twice)
{
    LOCKED(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
}
MISTAKE(lock_all_in_lock)
{
    LOCKED(MPI_Win_lock_all(0, win));
}
MISTAKE(fence_in_lock)
{
    LOCKED(MPI_Win_fence(0, win));
}
MISTAKE(start_in_lock)
{
    LOCKED(MPI_Win_start(self, 0, win));
}
MISTAKE(free_in_lock)
{
    MPI_Win same = win;

    LOCKED(MPI_Win_free(&same));
}
/* The call in an epoch of lock_all. */
#define LOCKED_ALL(call)      \
    int rc;                   \
    MPI_Win_lock_all(0, win); \
    rc = (call);              \
    MPI_Win_unlock_all(win);  \
    return rc
MISTAKE(lock_in_lock_all)
{
    LOCKED_ALL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
}
MISTAKE(unlock_in_lock_all)
{
    LOCKED_ALL(MPI_Win_unlock(0, win));
}
MISTAKE(fence_in_lock_all)
{
    LOCKED_ALL(MPI_Win_fence(0, win));
}
/* The call after a put in a fence epoch. */
#define FENCED(call)                                  \
    int rc;                                           \
    MPI_Win_fence(0, win);                            \
    MPI_Put(x, 1, MPI_INT, 0, rank, 1, MPI_INT, win); \
    rc = (call);                                      \
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);           \
    return rc
MISTAKE(lock_in_fence)
{
    FENCED(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
}
MISTAKE(lock_all_in_fence)
{
    FENCED(MPI_Win_lock_all(0, win));
}
MISTAKE(start_in_fence)
{
    FENCED(MPI_Win_start(self, 0, win));
}
MISTAKE(post_in_fence)
{
    FENCED(MPI_Win_post(self, 0, win));
}
MISTAKE(start_twice)
{
    int rc;

    MPI_Win_start(none, 0, win);
    rc = MPI_Win_start(none, 0, win);
    MPI_Win_complete(win);
    return rc;
}
MISTAKE(lock_in_start)
{
    int rc;

    MPI_Win_start(none, 0, win);
    rc = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_complete(win);
    return rc;
}
MISTAKE(complete_not_started)
{
    return MPI_Win_complete(win);
}
MISTAKE(wait_not_posted)
{
    return MPI_Win_wait(win);
}
MISTAKE(test_not_posted)
{
    return MPI_Win_test(win, x);
}
/* The call in an exposure epoch. */
#define POSTED(call)            \
    int rc;                     \
    MPI_Win_post(none, 0, win); \
    rc = (call);                \
    MPI_Win_wait(win);          \
    return rc
MISTAKE(post_twice)
{
    POSTED(MPI_Win_post(none, 0, win));
}
MISTAKE(fence_exposed)
{
    POSTED(MPI_Win_fence(0, win));
}

/* ---- arguments of synchronization ---- */
MISTAKE(lock_type)
{
    return MPI_Win_lock(99, 0, 0, win);
}
MISTAKE(lock_rank)
{
    return MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
}
MISTAKE(unlock_rank)
{
    LOCKED(MPI_Win_unlock(2, win));
}
MISTAKE(flush_rank)
{
    LOCKED(MPI_Win_flush(-33, win));
}
MISTAKE(lock_assert)
{
    return MPI_Win_lock(MPI_LOCK_SHARED, 0, ODD, win);
}
MISTAKE(lock_all_assert)
{
    return MPI_Win_lock_all(ODD, win);
}
MISTAKE(fence_assert)
{
    return MPI_Win_fence(ODD, win);
}
MISTAKE(start_assert)
{
    return MPI_Win_start(none, ODD, win);
}
MISTAKE(post_assert)
{
    return MPI_Win_post(none, ODD, win);
}
MISTAKE(start_group_null)
{
    return MPI_Win_start(MPI_GROUP_NULL, 0, win);
}
MISTAKE(post_group_null)
{
    return MPI_Win_post(MPI_GROUP_NULL, 0, win);
}
MISTAKE(start_group_foreign)
{
    return MPI_Win_start(all, 0, alone);
}
MISTAKE(test_flag_null)
{
    POSTED(MPI_Win_test(win, NULL));
}

/* ---- windows and memory ---- */
MISTAKE(create_size)
{
    MPI_Win w;

    return MPI_Win_create(x, -1, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
}
MISTAKE(create_unit)
{
    MPI_Win w;

    return MPI_Win_create(x, 64, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
}
MISTAKE(create_base_null)
{
    MPI_Win w;

    return MPI_Win_create(NULL, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
}
MISTAKE(allocate_size)
{
    MPI_Win w;
    void *p;

    return MPI_Win_allocate(-8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
}
MISTAKE(allocate_shared_unit)
{
    MPI_Win w;
    void *p;

    return MPI_Win_allocate_shared(64, -4, MPI_INFO_NULL, MPI_COMM_SELF, &p, &w);
}
MISTAKE(allocate_base_null)
{
    MPI_Win w;

    return MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL, &w);
}
MISTAKE(allocate_intercommunicator)
{
    MPI_Comm inter;
    MPI_Win w;
    void *p;
    int rc;

    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 7, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    rc = MPI_Win_allocate(64, 1, MPI_INFO_NULL, inter, &p, &w);
    MPI_Comm_free(&inter);
    return rc;
}
MISTAKE(allocate_size_of_another)
{
    MPI_Win w;
    void *p;

    return MPI_Win_allocate(rank == 0 ? -8 : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
}
MISTAKE(attach_kind)
{
    return MPI_Win_attach(win, y, sizeof y);
}
MISTAKE(attach_size)
{
    return MPI_Win_attach(dynamic, y, -5);
}
MISTAKE(attach_wraps)
{
    return MPI_Win_attach(dynamic, (void *)(intptr_t)-16, 32);
}
MISTAKE(attach_twice)
{
    return MPI_Win_attach(dynamic, x + 8, sizeof *x);
}
MISTAKE(detach_kind)
{
    return MPI_Win_detach(win, y);
}
MISTAKE(detach_inside)
{
    return MPI_Win_detach(dynamic, x + 8);
}
MISTAKE(detach_nothing)
{
    return MPI_Win_detach(dynamic, y);
}
MISTAKE(query_kind)
{
    MPI_Aint size;
    void *p;

    return MPI_Win_shared_query(dynamic, 0, &size, x, &p);
}
MISTAKE(query_rank)
{
    MPI_Aint size;
    void *p;

    return MPI_Win_shared_query(win, 2, &size, x, &p);
}
MISTAKE(get_group_null)
{
    return MPI_Win_get_group(win, NULL);
}
MISTAKE(get_attr_null)
{
    return MPI_Win_get_attr(win, MPI_WIN_SIZE, NULL, x);
}
MISTAKE(alloc_mem_size)
{
    void *p;

    return MPI_Alloc_mem(-8, MPI_INFO_NULL, &p);
}
MISTAKE(alloc_mem_base_null)
{
    return MPI_Alloc_mem(8, MPI_INFO_NULL, NULL);
}
MISTAKE(free_mem_unknown)
{
    return MPI_Free_mem(x);
}
/* ---- what strict mode alone finds ---- */
MISTAKE(strict_conflict)
{
    int rc;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Put(x, 2, MPI_INT, 0, 4, 2, MPI_INT, win);
    rc = MPI_Accumulate(x, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    return rc;
}
MISTAKE(strict_twice)
{
    const int lengths[2] = {2, 2}, disps[2] = {0, 1};
    MPI_Datatype overlapping;
    int rc;

    MPI_Type_indexed(2, lengths, disps, MPI_INT, &overlapping);
    MPI_Type_commit(&overlapping);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    rc = MPI_Put(x, 4, MPI_INT, 0, 0, 1, overlapping, win);
    MPI_Win_unlock(0, win);
    MPI_Type_free(&overlapping);
    return rc;
}
MISTAKE(strict_noprecede)
{
    int rc;
    MPI_Win_fence(0, alone);
    MPI_Put(x, 1, MPI_INT, 0, 0, 1, MPI_INT, alone);
    rc = MPI_Win_fence(MPI_MODE_NOPRECEDE, alone);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, alone);
    return rc;
}
MISTAKE(strict_no_locks)
{
    MPI_Info info;
    MPI_Win unlocked;
    void *base;
    int rc;

    if (getenv("MPIRMA_STRICT") == NULL) /* it is taken, and a warning would stand in the output */
        return MPI_SUCCESS;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_allocate(4, 1, info, MPI_COMM_SELF, &base, &unlocked);
    returns(unlocked);
    rc = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, unlocked);
    if (rc == MPI_SUCCESS)
        MPI_Win_unlock(0, unlocked);
    MPI_Win_free(&unlocked);
    MPI_Info_free(&info);
    return rc;
}

MISTAKE(request_free)
{
    LOCKED(MPI_Rput(x, 1, MPI_INT, 0, rank, 1, MPI_INT, win, &req) | MPI_Request_free(&req));
}
MISTAKE(request_cancel)
{
    LOCKED(MPI_Rput(x, 1, MPI_INT, 0, rank, 1, MPI_INT, win, &req) | MPI_Cancel(&req));
}
/* Over the network the target finds it, and the call that ends the epoch returns it. */
MISTAKE(put_not_attached)
{
    int rc, later;

    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, dynamic);
    rc = MPI_Put(x, 1, MPI_INT, 0, 4096, 1, MPI_INT, dynamic);
    later = MPI_Win_unlock(0, dynamic);
    return rc != MPI_SUCCESS ? rc : later;
}

/* clang-format off */
#define M(name) {#name, name}
static const struct {
    const char *name;
    int (*make)(void);
} mistakes[] = {
    M(put_origin_count), M(put_target_count), M(get_origin_count), M(accumulate_target_count),
    M(get_accumulate_result_count), M(get_accumulate_origin_count), M(put_rank),
    M(put_rank_negative), M(get_rank), M(accumulate_rank), M(fetch_rank), M(compare_rank),
    M(put_disp), M(fetch_disp), M(put_target_type_null), M(get_origin_type_null),
    M(get_accumulate_result_type_null), M(put_type_uncommitted), M(put_origin_type_uncommitted),
    M(accumulate_type_uncommitted), M(accumulate_type_mixed), M(accumulate_types_differ),
    M(get_accumulate_types_differ), M(fetch_type_derived), M(compare_type_derived),
    M(compare_type_float), M(accumulate_op_null), M(accumulate_op_own), M(fetch_op_own),
    M(accumulate_no_op), M(accumulate_band_double), M(accumulate_minloc_int), M(put_origin_null),
    M(get_origin_null), M(accumulate_origin_null), M(get_accumulate_result_null),
    M(fetch_result_null), M(compare_compare_null), M(put_sizes), M(get_sizes),
    M(accumulate_sizes), M(get_accumulate_sizes), M(put_range), M(put_range_partly),
    M(put_range_vector), M(put_range_far), M(get_range), M(accumulate_range), M(fetch_range),
    M(compare_range), M(rput_range), M(rget_request_null), M(put_no_epoch), M(get_no_epoch),
    M(accumulate_no_epoch), M(fetch_no_epoch), M(rput_no_epoch), M(put_not_locked),
    M(put_not_started), M(put_after_last_fence), M(unlock_not_locked), M(unlock_another),
    M(unlock_all_not_locked), M(unlock_all_in_lock), M(flush_not_locked),
    M(flush_local_not_locked), M(flush_all_not_locked), M(lock_twice), M(lock_all_in_lock),
    M(fence_in_lock), M(start_in_lock), M(free_in_lock), M(lock_in_lock_all),
    M(unlock_in_lock_all), M(fence_in_lock_all), M(lock_in_fence), M(lock_all_in_fence),
    M(start_in_fence), M(post_in_fence), M(start_twice), M(lock_in_start),
    M(complete_not_started), M(wait_not_posted), M(test_not_posted), M(post_twice),
    M(fence_exposed), M(lock_type), M(lock_rank), M(unlock_rank), M(flush_rank), M(lock_assert),
    M(lock_all_assert), M(fence_assert), M(start_assert), M(post_assert), M(start_group_null),
    M(post_group_null), M(start_group_foreign), M(test_flag_null), M(create_size),
    M(create_unit), M(create_base_null), M(allocate_size), M(allocate_shared_unit),
    M(allocate_base_null), M(allocate_intercommunicator), M(allocate_size_of_another),
    M(attach_kind), M(attach_size), M(attach_wraps), M(attach_twice), M(detach_kind),
    M(detach_inside), M(detach_nothing), M(query_kind), M(query_rank), M(get_group_null),
    M(get_attr_null), M(alloc_mem_size), M(alloc_mem_base_null), M(free_mem_unknown),
    M(request_free), M(request_cancel), M(put_not_attached), M(strict_conflict), M(strict_twice),
    M(strict_noprecede), M(strict_no_locks),
};
/* clang-format on */

static void print(const char *name, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0, class = -1, of_class = -1;

    if (code == MPI_SUCCESS) {
        printf("%s\tno error\n", name);
        return;
    }
    MPI_Error_string(code, text, &len);
    MPI_Error_class(code, &class);
    MPI_Error_class(class, &of_class);
    printf("%s\t", name);
    for (char *at = text; *at != '\0'; at++)
        if (*at == '\n')
            fputs(" | ", stdout);
        else
            putchar(*at);
    printf("%s%s\n", len >= MPI_MAX_ERROR_STRING - 1 ? "..." : "",
           class != of_class ? " (and its class is none)" : "");
}

static int asked(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 2;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(60);
    prepare();
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        if (!asked(argc, argv, mistakes[i].name))
            continue;
        MPI_Barrier(MPI_COMM_WORLD);
        const int code = mistakes[i].make();
        if (rank == 1)
            print(mistakes[i].name, code);
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(dynamic, x);
    MPI_Win_free(&win);
    MPI_Win_free(&dynamic);
    MPI_Win_free(&alone);
    MPI_Finalize();
    return 0;
}
