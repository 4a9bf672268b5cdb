/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unsent.c - what a call has left to leave with later operations leaves by itself (MPI 4.1,
 * 12.7.3).
 *
 * In pairs of ranks, an origin issues operations, completes them by nothing or at itself only, and
 * then does something that lets no call of the library send them: it waits for a message of the
 * host, computes until its own memory changes, or waits in a call of another window. The target,
 * which looks at its memory, ends that when it has seen the operation. Without an agent
 * (MPIRMA_PROGRESS=poll) those ways are left out in which the origin calls nothing.
 *
 * unsent requests: thousands of operations with requests of each kind, and nothing else; unsent
 * idle: puts, and then three seconds of nothing. unsent.sh counts packets, and how often the agent
 * wakes up.
 */
#include "mtcomm.h"

#include <unistd.h>

#define WORDS 64
#define PATIENCE 20.0 /* seconds */

static struct mt_win win, other;
static int partner;

/* Where rank's word i is. */
static MPI_Aint at(int rank, int i)
{
    return mt_disp(&win, rank, (MPI_Aint)i * 8);
}

static int64_t word(int i)
{
    return __atomic_load_n((int64_t *)(void *)win.base + i, __ATOMIC_ACQUIRE);
}

/* ---- what the origin issues: word i becomes 1, for the i that it returns ---- */

static const int64_t one = 1;

static int put(void)
{
    MT_OK(MPI_Put(&one, 1, MPI_INT64_T, partner, at(partner, 0), 1, MPI_INT64_T, win.win));
    return 0;
}

/* So many that they would share packets, or system calls. */
static int puts_many(void)
{
    for (int i = 0; i < WORDS - 1; i++) {
        MT_OK(MPI_Put(&one, 1, MPI_INT64_T, partner, at(partner, i), 1, MPI_INT64_T, win.win));
    }
    return WORDS - 2;
}

static int accumulate(void)
{
    MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, partner, at(partner, 0), 1, MPI_INT64_T, MPI_SUM,
                         win.win));
    return 0;
}

static int put_flush_local(void)
{
    const int i = puts_many();
    MT_OK(MPI_Win_flush_local(partner, win.win));
    return i;
}

static int accumulate_flush_local_all(void)
{
    const int i = accumulate();
    MT_OK(MPI_Win_flush_local_all(win.win));
    return i;
}

static void rput(int i, MPI_Request *req)
{
    MT_OK(MPI_Rput(&one, 1, MPI_INT64_T, partner, at(partner, i), 1, MPI_INT64_T, win.win, req));
}

static int rputs_waitall(void)
{
    MPI_Request req[8];
    MPI_Status st[8];
    for (int i = 0; i < 8; i++) {
        rput(i, &req[i]);
    }
    MT_OK(MPI_Waitall(8, req, st));
    return 7;
}

static int rputs_test(void)
{
    MPI_Request req[8];
    for (int i = 0, flag = 0; i < 8; i++, flag = 0) {
        rput(i, &req[i]);
        while (!flag && MT_OK(MPI_Test(&req[i], &flag, MPI_STATUS_IGNORE))) {
        }
    }
    return 7;
}

static int raccumulate_status(void)
{
    MPI_Request req[2];
    MPI_Status st[2];
    int flag = 0;
    rput(1, &req[0]);
    MT_OK(MPI_Raccumulate(&one, 1, MPI_INT64_T, partner, at(partner, 0), 1, MPI_INT64_T, MPI_SUM,
                          win.win, &req[1]));
    while (!flag && MT_OK(MPI_Request_get_status(req[1], &flag, MPI_STATUS_IGNORE))) {
    }
    MT_OK(MPI_Waitall(2, req, st));
    return 0;
}

/* Nobody asks for the requests before the end. */
static MPI_Request kept[4];

static int rputs_kept(void)
{
    for (int i = 0; i < 4; i++) {
        rput(i, &kept[i]);
    }
    return 3;
}

static const struct what {
    const char *name;
    int (*issue)(void);
    bool sent; /* when its last call has returned, even without an agent */
} whats[] = {
    {"put", put, false},
    {"puts", puts_many, false},
    {"accumulate", accumulate, false},
    {"puts, flush_local", put_flush_local, true},
    {"accumulate, flush_local_all", accumulate_flush_local_all, true},
    {"Rputs, Waitall", rputs_waitall, true},
    {"Rputs, Test", rputs_test, true},
    {"Raccumulate, Request_get_status", raccumulate_status, true},
    {"Rputs, nothing", rputs_kept, false},
};

/* ---- what it does then, until the target has answered ---- */

static void await_message(void)
{
    MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void answer_by_message(void)
{
    MT_OK(MPI_Send(NULL, 0, MPI_BYTE, partner, 1, MPI_COMM_WORLD));
}

static void await_memory(void)
{
    const double start = mt_now();
    while (!word(WORDS - 1) && mt_now() - start < PATIENCE) {
    }
    CHECK(word(WORDS - 1) == 1, "no answer in %.0f s", PATIENCE);
}

static void answer_by_put(void)
{
    MT_OK(MPI_Put(&one, 1, MPI_INT64_T, partner, at(partner, WORDS - 1), 1, MPI_INT64_T, win.win));
    MT_OK(MPI_Win_flush(partner, win.win));
}

/* In a call of this library that is about another window. */
static void await_exposure(void)
{
    MPI_Group group = mt_group_one(&other, partner);
    MT_OK(MPI_Win_post(group, 0, other.win));
    MT_OK(MPI_Win_wait(other.win));
    MPI_Group_free(&group);
}

static void answer_by_complete(void)
{
    MPI_Group group = mt_group_one(&other, partner);
    MT_OK(MPI_Win_start(group, 0, other.win));
    MT_OK(MPI_Win_complete(other.win));
    MPI_Group_free(&group);
}

static const struct how {
    const char *name;
    void (*await)(void), (*answer)(void);
    bool calls; /* the library, while it waits */
    bool agent; /* without one nobody takes the answer */
} hows[] = {
    {"MPI_Recv", await_message, answer_by_message, false, false},
    {"its own memory", await_memory, answer_by_put, false, true},
    {"MPI_Win_wait of another window", await_exposure, answer_by_complete, true, false},
};

/* The target, which calls the library while it waits. */
static void watch(int i, const struct how *how)
{
    const double start = mt_now();
    while (!word(i) && mt_now() - start < PATIENCE) {
        MPI_Win_sync(win.win);
        usleep(100);
    }
    CHECK(word(i) == 1, "word %d is not there after %.0f s", i, PATIENCE);
    how->answer();
}

static void clear(void)
{
    memset(win.base, 0, WORDS * 8);
    mt_sync(&win);
    mt_sync(&win);
}

/* Which word is the last one that what changes. */
static int last_of(const struct what *what)
{
    return what->issue == puts_many || what->issue == put_flush_local  ? WORDS - 2
           : what->issue == rputs_waitall || what->issue == rputs_test ? 7
           : what->issue == rputs_kept                                 ? 3
                                                                       : 0;
}

static void passive(const struct what *what, const struct how *how, bool lock_all)
{
    mt_section("%s, then %s, %s", what->name, how->name, lock_all ? "lock_all" : "lock");
    clear();
    if (lock_all || mt_rank % 2) {
        MT_OK(MPI_Win_lock_all(0, win.win));
    } else {
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, partner, 0, win.win));
    }
    if (mt_rank % 2) {
        watch(last_of(what), how);
    } else {
        const int i = what->issue();
        CHECK(i == last_of(what), "the target looks at word %d, not %d", last_of(what), i);
        how->await();
        if (what->issue == rputs_kept) {
            MPI_Status st[4];
            MT_OK(MPI_Waitall(4, kept, st));
        }
    }
    if (lock_all || mt_rank % 2) {
        MT_OK(MPI_Win_unlock_all(win.win));
    } else {
        MT_OK(MPI_Win_unlock(partner, win.win));
    }
}

/* The standard lets puts of active target epochs wait for their end, and small ones to memory that
 * the kernel reaches do (doc/protocol.md); those by packet leave as in others. */
static void active(bool pscw)
{
    mt_section("put in %s epoch, then MPI_Recv", pscw ? "a PSCW" : "a fence");
    clear();
    MPI_Group group = mt_group_one(&win, partner);
    if (!pscw) {
        MT_OK(MPI_Win_fence(0, win.win));
    } else if (mt_rank % 2) {
        MT_OK(MPI_Win_post(group, 0, win.win));
    } else {
        MT_OK(MPI_Win_start(group, 0, win.win));
    }
    if (mt_rank % 2) {
        watch(0, &hows[0]);
    } else {
        (void)put();
        await_message();
    }
    if (!pscw) {
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win.win));
    } else if (mt_rank % 2) {
        MT_OK(MPI_Win_wait(win.win));
    } else {
        MT_OK(MPI_Win_complete(win.win));
    }
    MPI_Group_free(&group);
}

/* ---- operations that wait for the lock ---- */

enum { LARGE = 1 << 20 };

static void let_in(const char *last)
{
    const double start = mt_now();

    usleep(50000); /* the partner has issued all, and waits */
    MT_OK(MPI_Win_unlock(mt_rank, win.win));
    MT_OK(MPI_Win_lock_all(0, win.win));
    while (!__atomic_load_n(last, __ATOMIC_ACQUIRE) && mt_now() - start < PATIENCE) {
        MPI_Win_sync(win.win);
        usleep(100);
    }
    CHECK(*last == 1, "the last byte is not there after %.0f s", PATIENCE);
    answer_by_message();
}

enum { WHOLE, PIECES, HALVES };
static const char *const shapes[] = {"", ", in pieces", ", in halves"};

/* What a put writes of LARGE bytes of the window, and the last byte of it. */
static MPI_Datatype written_type(int shape, int *last)
{
    MPI_Datatype type;

    *last = shape == PIECES ? LARGE - 9 : LARGE - 1;
    if (shape == PIECES) {
        MT_OK(MPI_Type_vector(LARGE / 16, 8, 16, MPI_CHAR, &type));
    } else if (shape == HALVES) {
        MT_OK(MPI_Type_vector(2, LARGE / 2 - 64, LARGE / 2 + 64, MPI_CHAR, &type));
    } else {
        MT_OK(MPI_Type_contiguous(LARGE, MPI_CHAR, &type));
    }
    MT_OK(MPI_Type_commit(&type));
    return type;
}

/* The target holds its lock while they are issued: most may not leave before it is given back. */
static void behind_lock(enum mt_kind kind, int n, int shape)
{
    char *from = mt_alloc(LARGE);
    int bytes, last;
    MPI_Datatype type = written_type(shape, &last);

    mt_section("%s: %d large puts behind a lock%s, then MPI_Recv", mt_kind_name(kind), n,
               shapes[shape]);
    if (!mt_win_make(&win, kind, (MPI_Aint)n * LARGE, 1, MPI_COMM_WORLD)) {
        return;
    }
    MT_OK(MPI_Type_size(type, &bytes));
    memset(from, 1, LARGE);
    memset(win.base, 0, (size_t)n * LARGE);
    if (mt_rank % 2) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt_rank, 0, win.win));
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt_rank % 2) {
        let_in((char *)win.base + (size_t)(n - 1) * LARGE + last);
    } else {
        MT_OK(MPI_Win_lock_all(0, win.win));
        for (int i = 0; i < n; i++) {
            MT_OK(MPI_Put(from, bytes, MPI_CHAR, partner,
                          mt_disp(&win, partner, (MPI_Aint)i * LARGE), 1, type, win.win));
        }
        await_message();
    }
    MT_OK(MPI_Win_unlock_all(win.win));
    mt_win_free(&win);
    MT_OK(MPI_Type_free(&type));
    free(from);
}

/* Gets of more pieces than a packet names, or than the send queue takes, and behind them a put for
 * which the target waits. */
enum { PIECES_MOST = 20000, GAP = 50 };

static MPI_Datatype scattered_type(int pieces)
{
    int *at = mt_alloc((size_t)pieces * sizeof *at);
    MPI_Datatype type;

    for (int i = 0; i < pieces; i++) {
        at[i] = i * GAP + i * 7919 % 23;
    }
    MT_OK(MPI_Type_create_indexed_block(pieces, 1, at, MPI_CHAR, &type));
    MT_OK(MPI_Type_commit(&type));
    free(at);
    return type;
}

static void get_behind_lock(enum mt_kind kind, int pieces)
{
    MPI_Datatype type = scattered_type(pieces);
    char *got = mt_alloc((size_t)pieces);

    mt_section("%s: a get of %d pieces behind a lock, then MPI_Recv", mt_kind_name(kind), pieces);
    if (!mt_win_make(&win, kind, (MPI_Aint)PIECES_MOST * GAP + 1, 1, MPI_COMM_WORLD)) {
        return;
    }
    memset(got, 0, (size_t)pieces);
    memset(win.base, 7, (size_t)PIECES_MOST * GAP);
    ((char *)win.base)[PIECES_MOST * GAP] = 0;
    if (mt_rank % 2) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt_rank, 0, win.win));
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt_rank % 2) {
        let_in((char *)win.base + PIECES_MOST * GAP);
    } else {
        MT_OK(MPI_Win_lock_all(0, win.win));
        MT_OK(MPI_Get(got, pieces, MPI_CHAR, partner, mt_disp(&win, partner, 0), 1, type, win.win));
        MT_OK(MPI_Put("\1", 1, MPI_CHAR, partner, mt_disp(&win, partner, PIECES_MOST * GAP), 1,
                      MPI_CHAR, win.win));
        await_message();
    }
    MT_OK(MPI_Win_unlock_all(win.win));
    for (int i = 0; mt_rank % 2 == 0 && i < pieces; i++) {
        if (!CHECK(got[i] == 7, "piece %d is %d", i, got[i])) {
            break;
        }
    }
    mt_win_free(&win);
    MT_OK(MPI_Type_free(&type));
    free(got);
}

/* ---- operations that wait for the target's post or fence ---- */

/* Too long for a stage. They are read from the buffer later. */
static void issue_late(char *from, int n, bool add)
{
    for (int i = 0; i < n; i++) {
        const MPI_Aint to = mt_disp(&win, partner, (MPI_Aint)i * LARGE);

        if (add) {
            MT_OK(MPI_Accumulate(from, LARGE, MPI_CHAR, partner, to, LARGE, MPI_CHAR, MPI_BOR,
                                 win.win));
        } else {
            MT_OK(MPI_Put(from, LARGE, MPI_CHAR, partner, to, LARGE, MPI_CHAR, win.win));
        }
    }
}

static void open_late(const char *last, const struct how *how, bool pscw, MPI_Group group)
{
    const double start = mt_now();

    usleep(30000); /* the partner has issued all, and waits */
    if (pscw) {
        MT_OK(MPI_Win_post(group, 0, win.win));
    } else {
        MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win.win));
    }
    while (!__atomic_load_n(last, __ATOMIC_ACQUIRE) && mt_now() - start < PATIENCE) {
        MPI_Win_sync(win.win);
        usleep(100);
    }
    CHECK(*last == 1, "the last byte is not there after %.0f s", PATIENCE);
    how->answer();
}

/* The target begins its part of the epoch late, and then waits for what it gets. */
static void late_target(enum mt_kind kind, const struct how *how, bool pscw, bool add)
{
    enum { N = 3 };
    char *from = mt_alloc(LARGE);
    MPI_Group group;

    mt_section("%s: %s before the %s, then %s", mt_kind_name(kind), add ? "accumulates" : "puts",
               pscw ? "post" : "target's fence", how->name);
    if (!mt_win_make(&win, kind, (MPI_Aint)N * LARGE, 1, MPI_COMM_WORLD)) {
        return;
    }
    group = mt_group_one(&win, partner);
    memset(from, 1, LARGE);
    memset(win.base, 0, (size_t)N * LARGE);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt_rank % 2) {
        open_late((char *)win.base + N * LARGE - 1, how, pscw, group);
    } else {
        MT_OK(pscw ? MPI_Win_start(group, 0, win.win) : MPI_Win_fence(MPI_MODE_NOPRECEDE, win.win));
        issue_late(from, N, add);
        how->await();
    }
    if (!pscw) {
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win.win));
    } else if (mt_rank % 2) {
        MT_OK(MPI_Win_wait(win.win));
    } else {
        MT_OK(MPI_Win_complete(win.win));
    }
    for (int i = 0; mt_rank % 2 && i < N * LARGE; i++) {
        if (!CHECK(((char *)win.base)[i] == 1, "byte %d is not there", i)) {
            break;
        }
    }
    MPI_Group_free(&group);
    mt_win_free(&win);
    free(from);
}

static void late_targets(void)
{
    for (int i = 0; i < 8; i++) {
        const struct how *how = &hows[i & 1 ? 2 : 0];

        late_target(MT_ALLOCATE, how, i & 2, i & 4);
        late_target(MT_CREATE_MALLOC, how, i & 2, i & 4);
    }
}

static void all_ways(enum mt_kind kind)
{
    const char *progress = getenv("MPIRMA_PROGRESS");
    const bool agent = !progress || strcmp(progress, "poll") != 0;
    const int nhows = sizeof hows / sizeof *hows, nwhats = sizeof whats / sizeof *whats;

    if (!mt_win_make(&win, kind, WORDS * 8, 8, MPI_COMM_WORLD)) {
        return;
    }
    for (int h = 0; h < nhows; h++) {
        for (int i = 0; i < nwhats; i++) {
            if (agent || (!hows[h].agent && (whats[i].sent || hows[h].calls))) {
                passive(&whats[i], &hows[h], i % 2);
                passive(&whats[i], &hows[h], !(i % 2));
            }
        }
    }
    if (agent && (mt_path_is("shm-packets") || mt_path_is("net-packets"))) {
        active(false);
        active(true);
    }
    mt_win_free(&win);
}

/* ---- for unsent.sh ---- */

static void requests_alone(int n)
{
    MPI_Request *req = mt_alloc((size_t)n * sizeof(MPI_Request));
    MPI_Status *st = mt_alloc((size_t)n * sizeof *st);
    int64_t *got = mt_alloc((size_t)n * sizeof *got);

    if (!mt_win_make(&win, MT_CREATE_MALLOC, 8 * (MPI_Aint)n, 8, MPI_COMM_WORLD)) {
        return;
    }
    MT_OK(MPI_Win_lock_all(0, win.win));
    for (int kind = 0; kind < 4; kind++) {
        mt_section("%d operations with requests, kind %d", n, kind);
        for (int i = 0; i < n; i++) {
            const MPI_Aint to = at(partner, i);
            int rc = MPI_SUCCESS;
            switch (kind) {
            case 0:
                rc = MPI_Rput(&one, 1, MPI_INT64_T, partner, to, 1, MPI_INT64_T, win.win, &req[i]);
                break;
            case 1:
                rc = MPI_Rget(&got[i], 1, MPI_INT64_T, partner, to, 1, MPI_INT64_T, win.win,
                              &req[i]);
                break;
            case 2:
                rc = MPI_Raccumulate(&one, 1, MPI_INT64_T, partner, to, 1, MPI_INT64_T, MPI_SUM,
                                     win.win, &req[i]);
                break;
            default:
                rc = MPI_Rget_accumulate(&one, 1, MPI_INT64_T, &got[i], 1, MPI_INT64_T, partner, to,
                                         1, MPI_INT64_T, MPI_SUM, win.win, &req[i]);
            }
            MT_OK(rc);
        }
        MT_OK(MPI_Waitall(n, req, st));
        MT_OK(MPI_Win_flush_all(win.win)); /* puts are not ordered with what follows */
        for (int i = 0; kind % 2 && i < n; i++) {
            CHECK(got[i] == (kind + 1) / 2, "kind %d, word %d: %lld, want %d", kind, i,
                  (long long)got[i], (kind + 1) / 2);
        }
    }
    MT_OK(MPI_Win_unlock_all(win.win));
    mt_win_free(&win);
    free(got);
    free(st);
    free(req);
}

static void idle(void)
{
    if (!mt_win_make(&win, MT_CREATE_MALLOC, WORDS * 8, 8, MPI_COMM_WORLD)) {
        return;
    }
    mt_section("a put, and nothing for three seconds");
    MT_OK(MPI_Win_lock_all(0, win.win));
    (void)puts_many();
    sleep(3);
    MT_OK(MPI_Win_unlock_all(win.win));
    mt_win_free(&win);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    mt_timeout(60);
    partner = mt_rank ^ 1;
    if (!CHECK(mt_size % 2 == 0, "an even number of processes is wanted")) {
        return MT_FINISH();
    }
    if (mt_is_asked(argc, argv, "requests")) {
        requests_alone(4000);
    } else if (mt_is_asked(argc, argv, "idle")) {
        idle();
    } else if (CHECK(argc == 1, "there is no part %s", argv[1]) &&
               mt_win_make(&other, MT_ALLOCATE, 8, 1, MPI_COMM_WORLD)) {
        all_ways(MT_ALLOCATE);
        all_ways(MT_CREATE_MALLOC);
        behind_lock(MT_CREATE_MALLOC, 1, WHOLE);
        behind_lock(MT_CREATE_MALLOC, 5, WHOLE);
        behind_lock(MT_CREATE_MALLOC, 5, PIECES);
        behind_lock(MT_CREATE_MALLOC, 5, HALVES);
        behind_lock(MT_DYNAMIC, 5, WHOLE);
        behind_lock(MT_DYNAMIC, 5, PIECES);
        behind_lock(MT_DYNAMIC, 5, HALVES);
        get_behind_lock(MT_CREATE_MALLOC, 3000);
        get_behind_lock(MT_CREATE_MALLOC, PIECES_MOST);
        get_behind_lock(MT_DYNAMIC, PIECES_MOST);
        late_targets();
        mt_win_free(&other);
    }
    return MT_FINISH();
}
