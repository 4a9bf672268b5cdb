/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_progress.c - a process that waits in a call of the library, or repeats calls that do not
 * wait, lets move on what it has begun by calls of the host (MPI 4.1, 2.9).
 *
 * Rank 0 has an operation of the host pending and waits. Rank 1, the partner, blocks in its part of
 * that operation, and only then does for what rank 0 waits. The other ranks do their part of both
 * at once. Each kind of pending operation meets each kind of wait; the partner begins while rank 0
 * still polls, or when it sleeps. If the library does not let the host go on, rank 0 waits for
 * ever.
 *
 * Arguments: names of pending operations and of waits, of which the others are left out; and
 * "threads", for MPI_THREAD_MULTIPLE and the operation of another thread.
 *
 * Collective operations on files are not among them: MPICH moves these on in MPI_Wait and MPI_Test
 * of their own requests alone, so that an MPI_Barrier in front of these hangs without the library,
 * too, and Open MPI makes them of operations of each process alone.
 */
#include "mtest.h"

#include <mpi-rma.h>
#include <pthread.h>
#include <unistd.h>

enum { LARGE = 1 << 20, SMALL = 4, TAG = 5, PARTNER = 1, CELLS = 1000, WORD = 8 };

static MPI_Comm world;
static bool threads;
static char *sent, *received;
static MPI_Request request = MPI_REQUEST_NULL;
static int turn; /* of operation and wait: what is sent, and what words become */

/* ---- what is pending ---- */

static void fill(int n)
{
    memset(sent, 'a' + turn % 26, (size_t)n);
    memset(received, 0, (size_t)n);
}

static void end_request(void)
{
    MT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void check_received(int n)
{
    CHECK_BYTES(received, (size_t)n, 'a' + turn % 26);
}

static void receive(int n)
{
    MT_OK(MPI_Recv(received, n, MPI_CHAR, 0, TAG, world, MPI_STATUS_IGNORE));
    check_received(n);
}

static void irecv_begin(void)
{
    fill(LARGE);
    MT_OK(MPI_Irecv(received, LARGE, MPI_CHAR, PARTNER, TAG, world, &request));
}

static void irecv_partner(void)
{
    fill(LARGE);
    MT_OK(MPI_Send(sent, LARGE, MPI_CHAR, 0, TAG, world));
}

static void irecv_end(void)
{
    end_request();
    check_received(LARGE);
}

static void ssend_begin(void)
{
    fill(SMALL);
    MT_OK(MPI_Irecv(received, SMALL, MPI_CHAR, PARTNER, TAG, world, &request));
}

static void ssend_partner(void)
{
    fill(SMALL);
    MT_OK(MPI_Ssend(sent, SMALL, MPI_CHAR, 0, TAG, world));
}

static void ssend_end(void)
{
    end_request();
    check_received(SMALL);
}

static void isend_begin(void)
{
    fill(LARGE);
    MT_OK(MPI_Isend(sent, LARGE, MPI_CHAR, PARTNER, TAG, world, &request));
}

static void issend_begin(void)
{
    fill(SMALL);
    MT_OK(MPI_Issend(sent, SMALL, MPI_CHAR, PARTNER, TAG, world, &request));
}

static void receive_large(void)
{
    receive(LARGE);
}

static void receive_small(void)
{
    receive(SMALL);
}

static void bsend_begin(void)
{
    enum { ROOM = LARGE + MPI_BSEND_OVERHEAD };

    fill(LARGE);
    MT_OK(MPI_Buffer_attach(malloc(ROOM), ROOM));
    MT_OK(MPI_Bsend(sent, LARGE, MPI_CHAR, PARTNER, TAG, world));
}

static void bsend_end(void)
{
    void *room;
    int size;

    MT_OK(MPI_Buffer_detach(&room, &size));
    free(room);
}

static int64_t added[CELLS], sums[CELLS];

static void iallreduce_begin(void)
{
    for (int i = 0; i < CELLS; i++)
        added[i] = turn + i + mt_rank;
    MT_OK(MPI_Iallreduce(added, sums, CELLS, MPI_INT64_T, MPI_SUM, world, &request));
}

static void iallreduce_end(void)
{
    const int64_t ranks = (int64_t)mt_size * (mt_size - 1) / 2;

    end_request();
    for (int i = 0; i < CELLS; i++)
        if (!CHECK(sums[i] == (int64_t)mt_size * (turn + i) + ranks, "element %d is %lld", i,
                   (long long)sums[i]))
            break;
}

static void iallreduce(void)
{
    iallreduce_begin();
    iallreduce_end();
}

static void ibarrier_begin(void)
{
    MT_OK(MPI_Ibarrier(world, &request));
}

static void ibarrier(void)
{
    ibarrier_begin();
    end_request();
}

/* Another thread of rank 0 asks for a message, again and again, receives it, and then completes a
 * generalized request, which rank 0 waits for. */
static pthread_t prober;

static int grequest_query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int grequest_free(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int grequest_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void *probe(void *arg)
{
    int there = 0;

    (void)arg;
    while (!there)
        if (!MT_OK(MPI_Iprobe(PARTNER, TAG, world, &there, MPI_STATUS_IGNORE)))
            return NULL;
    MT_OK(MPI_Recv(received, LARGE, MPI_CHAR, PARTNER, TAG, world, MPI_STATUS_IGNORE));
    MT_OK(MPI_Grequest_complete(request));
    return NULL;
}

static void prober_begin(void)
{
    fill(LARGE);
    MT_OK(MPI_Grequest_start(grequest_query, grequest_free, grequest_cancel, NULL, &request));
    CHECK(pthread_create(&prober, NULL, probe, NULL) == 0, "no thread");
}

static void prober_end(void)
{
    end_request();
    pthread_join(prober, NULL);
    check_received(LARGE);
}

struct pending {
    const char *name;
    void (*begin)(void);   /* rank 0 */
    void (*partner)(void); /* its partner, blocking */
    void (*others)(void);  /* NULL: they have no part in it */
    void (*end)(void);     /* rank 0, behind the wait */
    bool of_threads;       /* only where several may call */
};

static const struct pending pending[] = {
    {"irecv", irecv_begin, irecv_partner, NULL, irecv_end, false},
    {"ssend", ssend_begin, ssend_partner, NULL, ssend_end, false},
    {"isend", isend_begin, receive_large, NULL, end_request, false},
    {"issend", issend_begin, receive_small, NULL, end_request, false},
    {"bsend", bsend_begin, receive_large, NULL, bsend_end, false},
    {"iallreduce", iallreduce_begin, iallreduce, iallreduce, iallreduce_end, false},
    {"ibarrier", ibarrier_begin, ibarrier, ibarrier, end_request, false},
    {"prober", prober_begin, irecv_partner, NULL, prober_end, true},
};
enum { PENDING = sizeof pending / sizeof pending[0] };

/* ---- what rank 0 waits for ---- */

static struct mt_win w;     /* fences, PSCW, locks */
static struct mt_win words; /* in one lock_all epoch: rank 0's and its partner's word */
static struct mt_win own;   /* of each process alone */
static struct mt_win extra; /* freed, or made, in the wait */
static MPI_Group zero, partner, alone;

static int64_t word_of(struct mt_win *win)
{
    return __atomic_load_n((int64_t *)(void *)win->base, __ATOMIC_ACQUIRE);
}

/* The partner ends a wait for a word: its own or rank 0's. */
static void set_word(int rank)
{
    const int64_t value = turn;

    MT_OK(MPI_Accumulate(&value, 1, MPI_INT64_T, rank, mt_disp(&words, rank, 0), 1, MPI_INT64_T,
                         MPI_REPLACE, words.win));
    MT_OK(MPI_Win_flush(rank, words.win));
}

static void set_own(void)
{
    set_word(PARTNER);
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
    MT_OK(MPI_Get(&value, 1, MPI_INT64_T, PARTNER, mt_disp(&w, PARTNER, 0), 1, MPI_INT64_T, w.win));
    MT_OK(MPI_Win_complete(w.win));
}

static void expose(void)
{
    MT_OK(MPI_Win_post(zero, 0, w.win));
    MT_OK(MPI_Win_wait(w.win));
}

static void make_extra(void)
{
    mt_win_make(&extra, MT_CREATE_ALLOC_MEM, WORD, 1, world);
}

static void free_extra(void)
{
    mt_win_free(&extra);
}

/* The partner's window is locked by itself, in the way that a load or a store of its own needs. */
static void hold(void)
{
    int64_t value;

    if (mt_rank != PARTNER)
        return;
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, PARTNER, 0, w.win));
    MT_OK(MPI_Get(&value, 1, MPI_INT64_T, PARTNER, mt_disp(&w, PARTNER, 0), 1, MPI_INT64_T, w.win));
    MT_OK(MPI_Win_flush(PARTNER, w.win));
}

static void release(void)
{
    MT_OK(MPI_Win_unlock(PARTNER, w.win));
}

static void get_it(void)
{
    static int64_t value; /* written after the call has returned */

    MT_OK(MPI_Get(&value, 1, MPI_INT64_T, PARTNER, mt_disp(&w, PARTNER, 0), 1, MPI_INT64_T, w.win));
}

static void lock(void)
{
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, PARTNER, 0, w.win));
    get_it();
    MT_OK(MPI_Win_unlock(PARTNER, w.win));
}

static void lock_flush(void)
{
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, PARTNER, 0, w.win));
    get_it();
    MT_OK(MPI_Win_flush(PARTNER, w.win));
    MT_OK(MPI_Win_unlock(PARTNER, w.win));
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

    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, PARTNER, 0, w.win));
    MT_OK(MPI_Rget(&value, 1, MPI_INT64_T, PARTNER, mt_disp(&w, PARTNER, 0), 1, MPI_INT64_T, w.win,
                   get));
}

static void rget_wait(void)
{
    MPI_Request get;

    rget(&get);
    MT_OK(MPI_Wait(&get, MPI_STATUS_IGNORE));
    MT_OK(MPI_Win_unlock(PARTNER, w.win));
}

static void rget_test(void)
{
    MPI_Request get;
    int flag = 0;

    rget(&get);
    while (!flag && MT_OK(MPI_Test(&get, &flag, MPI_STATUS_IGNORE)))
        ;
    MT_OK(MPI_Win_unlock(PARTNER, w.win));
}

/* ---- loops of calls that wait for nobody, or for a short time ---- */

static void fetch_flush(void)
{
    for (int64_t seen = -1; seen != turn;) {
        MT_OK(MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, PARTNER, mt_disp(&words, PARTNER, 0),
                               MPI_NO_OP, words.win));
        if (!MT_OK(MPI_Win_flush(PARTNER, words.win)))
            return;
    }
}

static void swap_flush_local(void)
{
    const int64_t value = turn;

    for (int64_t seen = -1; seen != turn;) {
        MT_OK(MPI_Compare_and_swap(&value, &value, &seen, MPI_INT64_T, PARTNER,
                                   mt_disp(&words, PARTNER, 0), words.win));
        if (!MT_OK(MPI_Win_flush_local(PARTNER, words.win)))
            return;
    }
}

static void fetch_flush_all(void)
{
    for (int64_t seen = -1; seen != turn;) {
        MT_OK(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &seen, 1, MPI_INT64_T, PARTNER,
                                 mt_disp(&words, PARTNER, 0), 1, MPI_INT64_T, MPI_NO_OP,
                                 words.win));
        if (!MT_OK(MPI_Win_flush_all(words.win)))
            return;
    }
}

static void rfetch_wait(void)
{
    for (int64_t seen = -1; seen != turn;) {
        MPI_Request fetch;

        MT_OK(MPI_Rget_accumulate(NULL, 0, MPI_INT64_T, &seen, 1, MPI_INT64_T, PARTNER,
                                  mt_disp(&words, PARTNER, 0), 1, MPI_INT64_T, MPI_NO_OP, words.win,
                                  &fetch));
        if (!MT_OK(MPI_Wait(&fetch, MPI_STATUS_IGNORE)))
            return;
    }
}

static void sync_own_word(void)
{
    while (word_of(&words) != turn && MT_OK(MPI_Win_sync(words.win)))
        ;
}

static void fence_alone(void)
{
    while (word_of(&words) != turn && MT_OK(MPI_Win_fence(0, own.win)))
        ;
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, own.win));
}

static void pscw_alone(void)
{
    while (word_of(&words) != turn) {
        MT_OK(MPI_Win_post(alone, 0, own.win));
        MT_OK(MPI_Win_start(alone, 0, own.win));
        MT_OK(MPI_Win_complete(own.win));
        if (!MT_OK(MPI_Win_wait(own.win)))
            return;
    }
}

static void lock_alone(void)
{
    while (word_of(&words) != turn) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, own.win));
        if (!MT_OK(MPI_Win_unlock(0, own.win)))
            return;
    }
}

static void lock_all_alone(void)
{
    while (word_of(&words) != turn) {
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
    MT_OK(MPIRMA_Notify_wait(words.win, PARTNER, 0, 1));
}

static void notify_read(void)
{
    MPI_Count come = 0;

    while (come == 0 && MT_OK(MPIRMA_Notify_read(words.win, PARTNER, 0, &come)))
        ;
    MT_OK(MPIRMA_Notify_reset(words.win, PARTNER, 0, NULL));
}

static void notify_reset(void)
{
    MPI_Count come = 0;

    while (come == 0 && MT_OK(MPIRMA_Notify_reset(words.win, PARTNER, 0, &come)))
        ;
}

static void notify_request(void)
{
    MPI_Request come;

    MT_OK(MPIRMA_Notify_init(words.win, PARTNER, 0, 1, &come));
    MT_OK(MPI_Start(&come));
    MT_OK(MPI_Wait(&come, MPI_STATUS_IGNORE));
    MT_OK(MPI_Request_free(&come));
}

struct wait {
    const char *name;
    void (*before)(void); /* all; NULL: nothing */
    void (*wait)(void);   /* rank 0 */
    void (*end)(void);    /* its partner, by which the wait ends */
    void (*others)(void); /* NULL: they have no part in it */
    void (*after)(void);  /* all; NULL: nothing */
};

static const struct wait waits[] = {
    {"fence", fence_open, fence, fence, fence, fence_last},
    {"wait", NULL, post_wait, start_complete, NULL, NULL},
    {"test", NULL, post_test, start_complete, NULL, NULL},
    {"complete", NULL, get_complete, expose, NULL, NULL},
    {"create", NULL, make_extra, make_extra, make_extra, free_extra},
    {"free", make_extra, free_extra, free_extra, free_extra, NULL},
    {"lock", hold, lock, release, NULL, NULL},
    {"lock_flush", hold, lock_flush, release, NULL, NULL},
    {"lock_all", hold, lock_all, release, NULL, NULL},
    {"rget_wait", hold, rget_wait, release, NULL, NULL},
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
    {"notify_request", NULL, notify_request, notify, NULL, NULL},
};
enum { WAITS = sizeof waits / sizeof waits[0] };

/* ---- each of the one with each of the other ---- */

static void call(void (*part)(void))
{
    if (part != NULL)
        part();
}

static void meet(const struct pending *p, const struct wait *wait)
{
    /* Rank 0 is in its first look, polls, or sleeps. */
    static const useconds_t later[] = {0, 300, 5000};

    turn++;
    mt_section("%s, %s pending", wait->name, p->name);
    call(wait->before);
    MT_OK(MPI_Barrier(world));
    if (mt_rank == 0) {
        p->begin();
        wait->wait();
        p->end();
    } else if (mt_rank == PARTNER) {
        usleep(later[turn % 3]);
        p->partner();
        wait->end();
    } else {
        call(p->others);
        call(wait->others);
    }
    call(wait->after);
    MT_OK(MPI_Barrier(world)); /* or the partner would lock again before rank 0 has the lock */
}

static bool is_asked(int argc, char **argv, const char *word)
{
    bool is = false;

    for (int i = 1; i < argc; i++)
        is |= strcmp(argv[i], word) == 0;
    return is;
}

/* The names of a kind among the arguments, or, if none of that kind is there, all. */
static bool is_chosen(int argc, char **argv, const char *name, const char *const *kind, int n)
{
    bool any = false;

    for (int i = 0; i < n; i++)
        any |= is_asked(argc, argv, kind[i]);
    return !any || is_asked(argc, argv, name);
}

static void meet_all_chosen(int argc, char **argv)
{
    const char *operations[PENDING], *kinds[WAITS];

    for (int i = 0; i < PENDING; i++)
        operations[i] = pending[i].name;
    for (int i = 0; i < WAITS; i++)
        kinds[i] = waits[i].name;
    for (int i = 0; i < WAITS; i++)
        for (int k = 0; k < PENDING; k++)
            if ((threads || !pending[k].of_threads) &&
                is_chosen(argc, argv, pending[k].name, operations, PENDING) &&
                is_chosen(argc, argv, waits[i].name, kinds, WAITS))
                meet(&pending[k], &waits[i]);
}

static void make_windows(void)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_notifications", "1");
    mt_win_make_info(&words, MT_ALLOCATE, WORD, 1, info, world);
    MPI_Info_free(&info);
    mt_win_make(&w, mt_path_is("mapped") ? MT_ALLOCATE : MT_CREATE_MALLOC, WORD, 1, world);
    mt_win_make(&own, MT_ALLOCATE, WORD, 1, MPI_COMM_SELF);
    MT_OK(MPI_Win_lock_all(0, words.win));
}

static void make_groups(void)
{
    const int ranks[] = {0, PARTNER};
    MPI_Group all;

    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &ranks[0], &zero);
    MPI_Group_incl(all, 1, &ranks[1], &partner);
    MPI_Group_free(&all);
    MPI_Comm_group(MPI_COMM_SELF, &alone);
}

int main(int argc, char **argv)
{
    const bool wants_threads = is_asked(argc, argv, "threads");
    const int level =
        MT_INIT_THREAD(argc, argv, wants_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);

    threads = wants_threads && level == MPI_THREAD_MULTIPLE;
    world = MPI_COMM_WORLD;
    sent = malloc(LARGE);
    received = malloc(LARGE);
    make_groups();
    make_windows();
    meet_all_chosen(argc, argv);
    MT_OK(MPI_Win_unlock_all(words.win));
    mt_win_free(&own);
    mt_win_free(&w);
    mt_win_free(&words);
    MPI_Group_free(&zero);
    MPI_Group_free(&partner);
    MPI_Group_free(&alone);
    free(sent);
    free(received);
    return MT_FINISH();
}
