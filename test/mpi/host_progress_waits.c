/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_progress_waits.c - the waits of the library, and calls that a program repeats, in which rank
 * 0 is while operations of the host are pending; and what its partner does to end each
 * (host_progress.c).
 */
#include "host_progress.h"

#include <mpi-rma.h>

enum { WORD = 8 };

static struct mt_win w;     /* fences, PSCW, locks */
static struct mt_win words; /* in one lock_all epoch: rank 0's and its partner's word */
static struct mt_win own;   /* of each process alone */
static struct mt_win extra; /* freed, or made, in the wait */
static MPI_Group zero, partner, alone;
static MPI_Comm fresh, node; /* on which no window was made yet */

/* What the library stores there is ordered by MPI_Win_sync, not by what ThreadSanitizer sees. */
static __attribute__((no_sanitize_thread)) int64_t word_of(struct mt_win *win)
{
    return __atomic_load_n((int64_t *)(void *)win->base, __ATOMIC_ACQUIRE);
}

/* The partner ends a wait for a word: its own or rank 0's. */
static void set_word(int rank)
{
    const int64_t value = hp_turn;

    MT_OK(MPI_Accumulate(&value, 1, MPI_INT64_T, rank, mt_disp(&words, rank, 0), 1, MPI_INT64_T,
                         MPI_REPLACE, words.win));
    MT_OK(MPI_Win_flush(rank, words.win));
}

static void set_own(void)
{
    set_word(HP_PARTNER);
}

static void set_zero(void)
{
    set_word(0);
}

static void fence(void)
{
    MT_OK(MPI_Win_fence(0, w.win));
}

static void fence_open(void)
{
    MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win));
}

static void fence_last(void)
{
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
}

static void post_wait(void)
{
    MT_OK(MPI_Win_post(partner, 0, w.win));
    MT_OK(MPI_Win_wait(w.win));
}

static void post_test(void)
{
    int flag = 0;

    MT_OK(MPI_Win_post(partner, 0, w.win));
    while (!flag && MT_OK(MPI_Win_test(w.win, &flag)))
        ;
}

static void start_complete(void)
{
    MT_OK(MPI_Win_start(zero, 0, w.win));
    MT_OK(MPI_Win_complete(w.win));
}

static void get_complete(void)
{
    int64_t value = 0;

    MT_OK(MPI_Win_start(partner, 0, w.win));
    MT_OK(MPI_Get(&value, 1, MPI_INT64_T, HP_PARTNER, mt_disp(&w, HP_PARTNER, 0), 1, MPI_INT64_T,
                  w.win));
    MT_OK(MPI_Win_complete(w.win));
}

static void expose(void)
{
    MT_OK(MPI_Win_post(zero, 0, w.win));
    MT_OK(MPI_Win_wait(w.win));
}

static void make_extra(void)
{
    mt_win_make(&extra, MT_CREATE_ALLOC_MEM, WORD, 1, hp_world);
}

static void free_extra(void)
{
    mt_win_free(&extra);
}

/* The processes meet there for the first time. */
static void split_world(void)
{
    MT_OK(MPI_Comm_split(hp_world, 0, mt_rank, &fresh));
}

static void make_first(void)
{
    MT_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, fresh, &extra.win));
}

static void free_first(void)
{
    MT_OK(MPI_Win_free(&extra.win));
    MT_OK(MPI_Comm_free(&fresh));
}

static void split_type(void)
{
    MT_OK(MPI_Comm_split_type(fresh, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
}

static void free_split(void)
{
    MT_OK(MPI_Comm_free(&node));
    MT_OK(MPI_Comm_free(&fresh));
}

/* The partner's window is locked by itself, in the way that a load or a store of its own needs. */
static void hold(void)
{
    int64_t value;

    if (mt_rank != HP_PARTNER)
        return;
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, HP_PARTNER, 0, w.win));
    MT_OK(MPI_Get(&value, 1, MPI_INT64_T, HP_PARTNER, mt_disp(&w, HP_PARTNER, 0), 1, MPI_INT64_T,
                  w.win));
    MT_OK(MPI_Win_flush(HP_PARTNER, w.win));
}

static void release(void)
{
    MT_OK(MPI_Win_unlock(HP_PARTNER, w.win));
}

static void get_it(void)
{
    static int64_t value; /* written after the call has returned */

    MT_OK(MPI_Get(&value, 1, MPI_INT64_T, HP_PARTNER, mt_disp(&w, HP_PARTNER, 0), 1, MPI_INT64_T,
                  w.win));
}

static void lock(void)
{
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, HP_PARTNER, 0, w.win));
    get_it();
    MT_OK(MPI_Win_unlock(HP_PARTNER, w.win));
}

static void lock_flush(void)
{
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, HP_PARTNER, 0, w.win));
    get_it();
    MT_OK(MPI_Win_flush(HP_PARTNER, w.win));
    MT_OK(MPI_Win_unlock(HP_PARTNER, w.win));
}

static void lock_all(void)
{
    MT_OK(MPI_Win_lock_all(0, w.win));
    get_it();
    MT_OK(MPI_Win_unlock_all(w.win));
}

static void rget(MPI_Request *get)
{
    static int64_t value;

    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, HP_PARTNER, 0, w.win));
    MT_OK(MPI_Rget(&value, 1, MPI_INT64_T, HP_PARTNER, mt_disp(&w, HP_PARTNER, 0), 1, MPI_INT64_T,
                   w.win, get));
}

static void rget_wait(void)
{
    MPI_Request get;

    rget(&get);
    MT_OK(MPI_Wait(&get, MPI_STATUS_IGNORE));
    MT_OK(MPI_Win_unlock(HP_PARTNER, w.win));
}

static void rget_test(void)
{
    MPI_Request get;
    int flag = 0;

    rget(&get);
    while (!flag && MT_OK(MPI_Test(&get, &flag, MPI_STATUS_IGNORE)))
        ;
    MT_OK(MPI_Win_unlock(HP_PARTNER, w.win));
}

static void rget_wait_any(void)
{
    MPI_Request get[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int index;

    rget(&get[1]);
    MT_OK(MPI_Waitany(2, get, &index, MPI_STATUS_IGNORE));
    MT_OK(MPI_Win_unlock(HP_PARTNER, w.win));
}

static void rget_wait_some(void)
{
    MPI_Request get[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    int done, indices[2];

    rget(&get[1]);
    MT_OK(MPI_Waitsome(2, get, &done, indices, statuses));
    MT_OK(MPI_Win_unlock(HP_PARTNER, w.win));
}

static void rget_wait_all(void)
{
    MPI_Request get[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];

    rget(&get[1]);
    MT_OK(MPI_Waitall(2, get, statuses));
    MT_OK(MPI_Win_unlock(HP_PARTNER, w.win));
}

/* Regions that others have used go when all have left them. */
static int64_t region;

static void attach(void)
{
    MPI_Aint at = 0;
    int64_t value = 0;

    MT_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, hp_world, &extra.win));
    if (mt_rank == 0) {
        MT_OK(MPI_Win_attach(extra.win, &region, sizeof region));
        MT_OK(MPI_Get_address(&region, &at));
    }
    MT_OK(MPI_Bcast(&at, 1, MPI_AINT, 0, hp_world));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, extra.win));
    MT_OK(MPI_Get(&value, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, extra.win));
    MT_OK(MPI_Win_unlock(0, extra.win));
}

static void detach(void)
{
    MT_OK(MPI_Win_detach(extra.win, &region));
}

static void nothing(void)
{
}

static void free_dynamic(void)
{
    MT_OK(MPI_Win_free(&extra.win));
}

/* ---- loops of calls that wait for nobody, or for a short time ---- */

static void fetch_flush(void)
{
    for (int64_t seen = -1; seen != hp_turn;) {
        MT_OK(MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, HP_PARTNER, mt_disp(&words, HP_PARTNER, 0),
                               MPI_NO_OP, words.win));
        if (!MT_OK(MPI_Win_flush(HP_PARTNER, words.win)))
            return;
    }
}

static void swap_flush_local(void)
{
    const int64_t value = hp_turn;

    for (int64_t seen = -1; seen != hp_turn;) {
        MT_OK(MPI_Compare_and_swap(&value, &value, &seen, MPI_INT64_T, HP_PARTNER,
                                   mt_disp(&words, HP_PARTNER, 0), words.win));
        if (!MT_OK(MPI_Win_flush_local(HP_PARTNER, words.win)))
            return;
    }
}

static void fetch_flush_all(void)
{
    for (int64_t seen = -1; seen != hp_turn;) {
        MT_OK(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &seen, 1, MPI_INT64_T, HP_PARTNER,
                                 mt_disp(&words, HP_PARTNER, 0), 1, MPI_INT64_T, MPI_NO_OP,
                                 words.win));
        if (!MT_OK(MPI_Win_flush_all(words.win)))
            return;
    }
}

static void rfetch_wait(void)
{
    for (int64_t seen = -1; seen != hp_turn;) {
        MPI_Request fetch;

        MT_OK(MPI_Rget_accumulate(NULL, 0, MPI_INT64_T, &seen, 1, MPI_INT64_T, HP_PARTNER,
                                  mt_disp(&words, HP_PARTNER, 0), 1, MPI_INT64_T, MPI_NO_OP,
                                  words.win, &fetch));
        if (!MT_OK(MPI_Wait(&fetch, MPI_STATUS_IGNORE)))
            return;
    }
}

static void sync_own_word(void)
{
    while (word_of(&words) != hp_turn && MT_OK(MPI_Win_sync(words.win)))
        ;
}

static void fence_alone(void)
{
    while (word_of(&words) != hp_turn && MT_OK(MPI_Win_fence(0, own.win)))
        ;
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, own.win));
}

static void pscw_alone(void)
{
    while (word_of(&words) != hp_turn) {
        MT_OK(MPI_Win_post(alone, 0, own.win));
        MT_OK(MPI_Win_start(alone, 0, own.win));
        MT_OK(MPI_Win_complete(own.win));
        if (!MT_OK(MPI_Win_wait(own.win)))
            return;
    }
}

static void lock_alone(void)
{
    while (word_of(&words) != hp_turn) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, own.win));
        if (!MT_OK(MPI_Win_unlock(0, own.win)))
            return;
    }
}

static void lock_all_alone(void)
{
    while (word_of(&words) != hp_turn) {
        MT_OK(MPI_Win_lock_all(0, own.win));
        if (!MT_OK(MPI_Win_unlock_all(own.win)))
            return;
    }
}

/* ---- notifications ---- */

static void notify(void)
{
    MT_OK(
        MPIRMA_Put_notify(NULL, 0, MPI_BYTE, 0, mt_disp(&words, 0, 0), 0, MPI_BYTE, words.win, 0));
    MT_OK(MPI_Win_flush(0, words.win));
}

static void notify_wait(void)
{
    MT_OK(MPIRMA_Notify_wait(words.win, HP_PARTNER, 0, 1));
}

static void notify_read(void)
{
    MPI_Count come = 0;

    while (come == 0 && MT_OK(MPIRMA_Notify_read(words.win, HP_PARTNER, 0, &come)))
        ;
    MT_OK(MPIRMA_Notify_reset(words.win, HP_PARTNER, 0, NULL));
}

static void notify_reset(void)
{
    MPI_Count come = 0;

    while (come == 0 && MT_OK(MPIRMA_Notify_reset(words.win, HP_PARTNER, 0, &come)))
        ;
}

static void notify_wait_any(void)
{
    int index;

    MT_OK(MPIRMA_Notify_waitany(words.win, HP_PARTNER, 0, 1, 1, &index));
}

static void notify_test_any(void)
{
    int index, flag = 0;

    while (!flag && MT_OK(MPIRMA_Notify_testany(words.win, HP_PARTNER, 0, 1, 1, &flag, &index)))
        ;
}

static void notify_request(void)
{
    MPI_Request come;

    MT_OK(MPIRMA_Notify_init(words.win, HP_PARTNER, 0, 1, &come));
    MT_OK(MPI_Start(&come));
    MT_OK(MPI_Wait(&come, MPI_STATUS_IGNORE));
    MT_OK(MPI_Request_free(&come));
}

const struct hp_wait hp_waits[] = {
    {"fence", fence_open, fence, fence, fence, fence_last},
    {"wait", NULL, post_wait, start_complete, NULL, NULL},
    {"test", NULL, post_test, start_complete, NULL, NULL},
    {"complete", NULL, get_complete, expose, NULL, NULL},
    {"create", NULL, make_extra, make_extra, make_extra, free_extra},
    {"free", make_extra, free_extra, free_extra, free_extra, NULL},
    {"create_first", split_world, make_first, make_first, make_first, free_first},
    {"split_type", split_world, split_type, split_type, split_type, free_split},
    {"detach", attach, detach, nothing, NULL, free_dynamic},
    {"lock", hold, lock, release, NULL, NULL},
    {"lock_flush", hold, lock_flush, release, NULL, NULL},
    {"lock_all", hold, lock_all, release, NULL, NULL},
    {"rget_wait", hold, rget_wait, release, NULL, NULL},
    {"rget_wait_any", hold, rget_wait_any, release, NULL, NULL},
    {"rget_wait_some", hold, rget_wait_some, release, NULL, NULL},
    {"rget_wait_all", hold, rget_wait_all, release, NULL, NULL},
    {"rget_test", hold, rget_test, release, NULL, NULL},
    {"fetch_flush", NULL, fetch_flush, set_own, NULL, NULL},
    {"swap_flush_local", NULL, swap_flush_local, set_own, NULL, NULL},
    {"fetch_flush_all", NULL, fetch_flush_all, set_own, NULL, NULL},
    {"rfetch_wait", NULL, rfetch_wait, set_own, NULL, NULL},
    {"sync", NULL, sync_own_word, set_zero, NULL, NULL},
    {"fence_alone", NULL, fence_alone, set_zero, NULL, NULL},
    {"pscw_alone", NULL, pscw_alone, set_zero, NULL, NULL},
    {"lock_alone", NULL, lock_alone, set_zero, NULL, NULL},
    {"lock_all_alone", NULL, lock_all_alone, set_zero, NULL, NULL},
    {"notify_wait", NULL, notify_wait, notify, NULL, NULL},
    {"notify_read", NULL, notify_read, notify, NULL, NULL},
    {"notify_reset", NULL, notify_reset, notify, NULL, NULL},
    {"notify_wait_any", NULL, notify_wait_any, notify, NULL, NULL},
    {"notify_test_any", NULL, notify_test_any, notify, NULL, NULL},
    {"notify_request", NULL, notify_request, notify, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

/* ---- windows and groups ---- */

static void make_groups(void)
{
    const int ranks[] = {0, HP_PARTNER};
    MPI_Group all;

    MPI_Comm_group(hp_world, &all);
    MPI_Group_incl(all, 1, &ranks[0], &zero);
    MPI_Group_incl(all, 1, &ranks[1], &partner);
    MPI_Group_free(&all);
    MPI_Comm_group(MPI_COMM_SELF, &alone);
}

void hp_make_windows(void)
{
    MPI_Info info;

    make_groups();
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_notifications", "1");
    mt_win_make_info(&words, MT_ALLOCATE, WORD, 1, info, hp_world);
    MPI_Info_free(&info);
    mt_win_make(&w, mt_path_is("mapped") ? MT_ALLOCATE : MT_CREATE_MALLOC, WORD, 1, hp_world);
    mt_win_make(&own, MT_ALLOCATE, WORD, 1, MPI_COMM_SELF);
    MT_OK(MPI_Win_lock_all(0, words.win));
}

void hp_free_windows(void)
{
    MT_OK(MPI_Win_unlock_all(words.win));
    mt_win_free(&own);
    mt_win_free(&w);
    mt_win_free(&words);
    MPI_Group_free(&zero);
    MPI_Group_free(&partner);
    MPI_Group_free(&alone);
}
