/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_text_epochs.c - the mistakes of error_text.c about epochs, and the arguments of
 * synchronization.
 */
#include "error_text.h"

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

/* clang-format off */
const struct mistake mistakes_of_epochs[] = {
    M(put_no_epoch), M(get_no_epoch), M(accumulate_no_epoch), M(fetch_no_epoch), M(rput_no_epoch),
    M(put_not_locked), M(put_not_started), M(put_after_last_fence), M(unlock_not_locked),
    M(unlock_another), M(unlock_all_not_locked), M(unlock_all_in_lock), M(flush_not_locked),
    M(flush_local_not_locked), M(flush_all_not_locked), M(lock_twice), M(lock_all_in_lock),
    M(fence_in_lock), M(start_in_lock), M(free_in_lock), M(lock_in_lock_all), M(unlock_in_lock_all),
    M(fence_in_lock_all), M(lock_in_fence), M(lock_all_in_fence), M(start_in_fence),
    M(post_in_fence), M(start_twice), M(lock_in_start), M(complete_not_started), M(wait_not_posted),
    M(test_not_posted), M(post_twice), M(fence_exposed), M(lock_type), M(lock_rank), M(unlock_rank),
    M(flush_rank), M(lock_assert), M(lock_all_assert), M(fence_assert), M(start_assert),
    M(post_assert), M(start_group_null), M(post_group_null), M(start_group_foreign),
    M(test_flag_null),
    {NULL, NULL},
};
/* clang-format on */
