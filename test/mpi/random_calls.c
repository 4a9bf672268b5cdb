/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random_calls.c - legal and illegal calls at random, against the tables of doc/protocol.md.
 *
 *   random_calls [ROUNDS [STEPS]]
 *
 * A round is a kind of epoch on one window, the same at all processes: fence, PSCW, passive target,
 * or free the window and make it anew. In it each process makes STEPS calls of its own choice on
 * that window and on others, where no epoch is open: operations with types of negative bounds and
 * huge extents, and calls that are wrong in one way: rank, count, type, displacement, range,
 * assert, lock type, operation, or the state of the window. What a call must return is known before
 * it is made, from the model (struct model); an error must reach the error handler of that window
 * in this process, once, and no other. Nobody else may notice: each process has a part of its own
 * in the memory of each target, and knows its contents.
 *
 * An access outside of attached memory (dynamic windows) may be reported by the call or by the next
 * one that synchronizes with the target (MPI 4.1, 12.2.4).
 */
#include "mtest.h"
#include "random_ops.h"

enum { NWIN = 3 };
static const enum mt_kind any_path[NWIN] = {MT_ALLOCATE, MT_CREATE_MALLOC, MT_DYNAMIC},
                          mapped_path[NWIN] = {MT_ALLOCATE, MT_CREATE_ALLOC_MEM,
                                               MT_ALLOCATE_SHARED};
static struct model models[NWIN];
static struct mt_rng own; /* this process's choices; mt_rand has those that are common */
static long calls, refused;

static int own_rand(int n)
{
    return (int)mt_rng_below(&own, (uint64_t)n);
}

/* ---- windows ---- */

static void count_error(MPI_Win *win, int *code, ...)
{
    int errclass;
    MPI_Error_class(*code, &errclass);
    for (int i = 0; i < NWIN; i++)
        if (models[i].made && models[i].w.win == *win) {
            models[i].handled++;
            models[i].errclass = errclass;
            return;
        }
    mt_fail(__FILE__, __LINE__, "an error handler was called for a window that is none of ours");
}

static void make(struct model *m, enum mt_kind kind)
{
    MPI_Errhandler handler;
    memset(m, 0, sizeof *m);
    if (!mt_win_make(&m->w, kind, (MPI_Aint)SLOT * mt_size, 1, MPI_COMM_WORLD))
        return;
    MT_OK(MPI_Win_create_errhandler(count_error, &handler));
    MT_OK(MPI_Win_set_errhandler(m->w.win, handler));
    MPI_Errhandler_free(&handler);
    m->made = true;
}

/* The call has returned code: was that right, and did the handler hear of it? errclass2: another
 * outcome that may be. */
static void judge(struct model *m, const char *what, int code, int errclass, int errclass2)
{
    int seen = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &seen);
    calls++;
    refused += seen != MPI_SUCCESS;
    CHECK(seen == errclass || seen == errclass2,
          "%s in state %d%s of a window of kind %s: %s, expected %s", what, m->epoch,
          m->exposed ? ", exposed," : "", mt_kind_name(m->w.kind), mt_class_name(seen),
          mt_class_name(errclass));
    CHECK(m->handled == (seen != MPI_SUCCESS), "%s: the error handler was called %d times for %s",
          what, m->handled, mt_class_name(seen));
    CHECK(!m->handled || m->errclass == seen, "%s: the handler heard of %s, the caller of %s", what,
          mt_class_name(m->errclass), mt_class_name(seen));
    for (int i = 0; i < NWIN; i++)
        CHECK(&models[i] == m || !models[i].handled, "%s: the handler of another window was called",
              what);
    m->handled = 0;
    if (seen == MPI_ERR_RMA_RANGE && m->late) { /* of several errors the first is kept */
        m->late = 0;
        m->maybe = true;
    }
}

/* A call that synchronizes with target (-1: with all) may bring the error of an earlier access. */
static void judge_sync(struct model *m, const char *what, int code, int target)
{
    const bool must = target < 0 ? m->late != 0 : m->late & UINT64_C(1) << target;
    const bool may = m->late != 0 || m->maybe;
    judge(m, what, code, must ? MPI_ERR_RMA_RANGE : MPI_SUCCESS,
          may ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
}

/* The end of an active epoch does not wait for the target: an error may come later. */
static void judge_active(struct model *m, const char *what, int code)
{
    m->maybe |= m->late != 0;
    m->late = 0;
    judge_sync(m, what, code, -1);
}

/* ---- one operation ---- */

static bool accessible(const struct model *m, int target)
{
    switch (m->epoch) {
    case FENCE:
    case FENCE_USED:
    case LOCK_ALL:
        return true;
    case PSCW:
        return target != mt_rank;
    case LOCK:
        return m->lock[target] != UNLOCKED;
    default:
        return false;
    }
}

static bool passive(const struct model *m)
{
    return m->epoch == LOCK || m->epoch == LOCK_ALL;
}

static void operation(struct model *m)
{
    struct call c;
    random_call(&c, &own, m, own_rand(mt_size));
    if (c.npieces < 0) {
        free_call(&c);
        return;
    }
    /* Wrong, and done but with MPIRMA_STRICT: requests.c has it. */
    if (c.is_request && m->epoch != NONE && !passive(m)) {
        free_call(&c);
        return;
    }
    const bool open = accessible(m, c.target);
    /* Whether a call that is refused counts as use of the fence's epoch is not for this test to
     * say. */
    if (open && m->epoch != FENCE && own_rand(3) == 0)
        spoil_call(&c, &own, m);
    if (!open)
        c.expected = MPI_ERR_RMA_SYNC;
    MPI_Request req = MPI_REQUEST_NULL;
    const int code = make_call(&c, m, &req);
    judge(m, c.what, code, c.expected, c.late ? MPI_SUCCESS : c.expected);
    if (code == MPI_SUCCESS && c.late)
        m->late |= UINT64_C(1) << c.target;
    if (req != MPI_REQUEST_NULL) {
        const int done = MPI_Wait(&req, MPI_STATUS_IGNORE);
        CHECK(done == MPI_SUCCESS || c.late, "%s: its request ended with an error", c.what);
        if (done != MPI_SUCCESS) {
            m->handled = 0;
            m->late &= ~(UINT64_C(1) << c.target);
            m->maybe = true;
        }
    }
    if (open && m->epoch == FENCE)
        m->epoch = FENCE_USED;
    if (code == MPI_SUCCESS && c.expected == MPI_SUCCESS)
        note_call(&c, m);
    free_call(&c);
}

/* ---- calls that synchronize ---- */

static void check_after_sync(struct model *m, int target)
{
    for (int t = 0; t < mt_size; t++)
        if (target < 0 || t == target)
            check_gets(m, t);
}

static void lock(struct model *m, int target)
{
    const bool exclusive = own_rand(3) == 0;
    int held = 0, highest = -1;
    for (int t = 0; t < mt_size; t++)
        if (m->lock[t] != UNLOCKED) {
            held += m->lock[t] == EXCLUSIVE ? mt_size : 1;
            highest = t;
        }
    const bool allowed = m->epoch == NONE || (m->epoch == LOCK && m->lock[target] == UNLOCKED);
    const int type = exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    if (!allowed) {
        judge(m, "MPI_Win_lock", MPI_Win_lock(type, target, 0, m->w.win), MPI_ERR_RMA_SYNC, -1);
    } else if (own_rand(6) == 0) {
        const int wrong = own_rand(3);
        judge(m, "MPI_Win_lock with a wrong argument",
              MPI_Win_lock(wrong == 0 ? 4711 : type, wrong == 1 ? mt_size : target,
                           wrong == 2 ? 1 << 28 : 0, m->w.win),
              wrong == 0   ? MPI_ERR_LOCKTYPE
              : wrong == 1 ? MPI_ERR_RANK
                           : MPI_ERR_ASSERT,
              -1);
    } else if (held < mt_size && target > highest && (!exclusive || !held)) {
        /* Several locks are taken in the order of ranks, an exclusive one alone: no circle. */
        judge(m, "MPI_Win_lock", MPI_Win_lock(type, target, 0, m->w.win), MPI_SUCCESS, -1);
        m->epoch = LOCK;
        m->lock[target] = exclusive ? EXCLUSIVE : SHARED;
    }
}

static void unlock(struct model *m, int target)
{
    const bool allowed = m->epoch == LOCK && m->lock[target] != UNLOCKED;
    const int code = MPI_Win_unlock(target, m->w.win);
    if (!allowed) {
        judge(m, "MPI_Win_unlock", code, MPI_ERR_RMA_SYNC, -1);
        return;
    }
    judge_sync(m, "MPI_Win_unlock", code, target);
    check_after_sync(m, target);
    m->lock[target] = UNLOCKED;
    m->epoch = NONE;
    for (int t = 0; t < mt_size; t++)
        if (m->lock[t] != UNLOCKED)
            m->epoch = LOCK;
}

static void lock_all(struct model *m)
{
    const int code = MPI_Win_lock_all(0, m->w.win);
    judge(m, "MPI_Win_lock_all", code, m->epoch == NONE ? MPI_SUCCESS : MPI_ERR_RMA_SYNC, -1);
    if (code == MPI_SUCCESS)
        m->epoch = LOCK_ALL;
}

static void unlock_all(struct model *m)
{
    const bool allowed = m->epoch == LOCK_ALL;
    const int code = MPI_Win_unlock_all(m->w.win);
    if (!allowed) {
        judge(m, "MPI_Win_unlock_all", code, MPI_ERR_RMA_SYNC, -1);
        return;
    }
    judge_sync(m, "MPI_Win_unlock_all", code, -1);
    check_after_sync(m, -1);
    m->epoch = NONE;
}

static void flush(struct model *m, int target)
{
    const bool local = own_rand(2), all = own_rand(2);
    const bool allowed = all ? passive(m) : passive(m) && accessible(m, target);
    const int code =
        all ? (local ? MPI_Win_flush_local_all(m->w.win) : MPI_Win_flush_all(m->w.win))
            : (local ? MPI_Win_flush_local(target, m->w.win) : MPI_Win_flush(target, m->w.win));
    const char *what = local ? "a local flush" : "a flush";
    if (!allowed) {
        judge(m, what, code, MPI_ERR_RMA_SYNC, -1);
    } else if (local) {
        judge(m, what, code, MPI_SUCCESS, m->late || m->maybe ? MPI_ERR_RMA_RANGE : -1);
    } else {
        judge_sync(m, what, code, all ? -1 : target);
        check_after_sync(m, all ? -1 : target);
    }
}

/* What must be refused now, of the calls that others take part in. */
static void refused_call(struct model *m)
{
    int flag = 0;
    MPI_Win copy = m->w.win;
    const bool used = m->epoch != NONE && m->epoch != FENCE;
    switch (own_rand(7)) {
    case 0:
        if (m->epoch != PSCW)
            judge(m, "MPI_Win_complete", MPI_Win_complete(m->w.win), MPI_ERR_RMA_SYNC, -1);
        break;
    case 1:
        if (!m->exposed)
            judge(m, "MPI_Win_wait", MPI_Win_wait(m->w.win), MPI_ERR_RMA_SYNC, -1);
        break;
    case 2:
        if (!m->exposed)
            judge(m, "MPI_Win_test", MPI_Win_test(m->w.win, &flag), MPI_ERR_RMA_SYNC, -1);
        break;
    case 3:
        if (used)
            judge(m, "MPI_Win_start", MPI_Win_start(MPI_GROUP_EMPTY, 0, m->w.win), MPI_ERR_RMA_SYNC,
                  -1);
        break;
    case 4:
        if (m->exposed || m->epoch == FENCE_USED)
            judge(m, "MPI_Win_post", MPI_Win_post(MPI_GROUP_EMPTY, 0, m->w.win), MPI_ERR_RMA_SYNC,
                  -1);
        break;
    case 5:
        if (passive(m) || m->epoch == PSCW || m->exposed)
            judge(m, "MPI_Win_fence", MPI_Win_fence(0, m->w.win), MPI_ERR_RMA_SYNC, -1);
        else
            judge(m, "MPI_Win_fence with a wrong assert", MPI_Win_fence(1 << 28, m->w.win),
                  MPI_ERR_ASSERT, -1);
        break;
    default:
        if (used || m->exposed) {
            judge(m, "MPI_Win_free", MPI_Win_free(&copy), MPI_ERR_RMA_SYNC, -1);
            CHECK(copy == m->w.win, "a window that could not be freed has lost its handle");
        }
    }
}

/* One call on a window; passive epochs only where this is its round. */
static void step(struct model *m, bool may_lock)
{
    const int target = own_rand(mt_size);
    switch (own_rand(may_lock ? 9 : 4)) {
    case 0:
    case 1:
    case 2:
        operation(m);
        break;
    case 3:
        refused_call(m);
        break;
    case 4:
        lock(m, target);
        break;
    case 5:
        unlock(m, target);
        break;
    case 6:
        lock_all(m);
        break;
    case 7:
        unlock_all(m);
        break;
    default:
        flush(m, target);
    }
}

/* Mostly on the round's window. */
static void steps(struct model *m, int n, bool may_lock)
{
    for (int i = 0; i < n; i++) {
        struct model *other = &models[own_rand(NWIN)];
        if (own_rand(5) == 0 && other != m && other->made)
            step(other, false);
        else
            step(m, may_lock);
    }
}

/* ---- rounds ---- */

static void fence_round(struct model *m, int n)
{
    judge_active(m, "MPI_Win_fence", MPI_Win_fence(0, m->w.win));
    m->epoch = FENCE;
    steps(m, n, false);
    judge_active(m, "MPI_Win_fence", MPI_Win_fence(0, m->w.win));
    check_after_sync(m, -1);
    m->epoch = FENCE;
    steps(m, n / 4, false);
    judge_active(m, "MPI_Win_fence", MPI_Win_fence(MPI_MODE_NOSUCCEED, m->w.win));
    check_after_sync(m, -1);
    m->epoch = NONE;
}

static void pscw_round(struct model *m, int n)
{
    MPI_Group all, others;
    MT_OK(MPI_Win_get_group(m->w.win, &all));
    MPI_Group_excl(all, 1, &mt_rank, &others);
    judge(m, "MPI_Win_post", MPI_Win_post(others, 0, m->w.win), MPI_SUCCESS, -1);
    m->exposed = true;
    judge(m, "MPI_Win_start", MPI_Win_start(others, 0, m->w.win), MPI_SUCCESS, -1);
    m->epoch = PSCW;
    steps(m, n, false);
    judge_active(m, "MPI_Win_complete", MPI_Win_complete(m->w.win));
    check_after_sync(m, -1);
    m->epoch = NONE;
    steps(m, n / 8, false);
    judge(m, "MPI_Win_wait", MPI_Win_wait(m->w.win), MPI_SUCCESS, -1);
    m->exposed = false;
    MPI_Group_free(&others);
    MPI_Group_free(&all);
}

static void passive_round(struct model *m, int n)
{
    steps(m, n, true);
    if (m->epoch == LOCK_ALL)
        unlock_all(m);
    for (int t = 0; t < mt_size; t++)
        if (m->lock[t] != UNLOCKED)
            unlock(m, t);
}

/* All errors that are still on their way arrive: what fetches is answered behind them. */
static void settle(struct model *m)
{
    unsigned char byte[MOST];
    MPI_Barrier(MPI_COMM_WORLD);
    lock_all(m);
    for (int t = 0; t < mt_size; t++)
        judge(m, "MPI_Get",
              MPI_Get(&byte[t], 1, MPI_BYTE, t, mt_disp(&m->w, t, (MPI_Aint)SLOT * mt_rank), 1,
                      MPI_BYTE, m->w.win),
              MPI_SUCCESS, -1);
    judge_sync(m, "MPI_Win_flush_all", MPI_Win_flush_all(m->w.win), -1);
    m->maybe = false;
    unlock_all(m);
    for (int t = 0; t < mt_size; t++)
        CHECK(byte[t] == m->now[t][0], "rank %d's memory has %d where %d should be", t, byte[t],
              m->now[t][0]);
}

static void free_window(struct model *m)
{
    mt_win_free(&m->w);
    m->made = false;
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const int rounds = argc > 1 ? atoi(argv[1]) : 24, n = argc > 2 ? atoi(argv[2]) : 60;
    const enum mt_kind *kinds = mt_path_is("mapped") ? mapped_path : any_path;
    own = mt_rng((uint64_t)mt_rank + 1);
    for (int i = 0; i < NWIN; i++)
        make(&models[i], kinds[i]);
    for (int round = 0; round < rounds; round++) {
        struct model *m = &models[mt_rand(NWIN)];
        const int kind = (int)mt_rand(mt_size > 1 ? 10 : 9);
        mt_section("round %d, kind %d, window of kind %s", round, kind, mt_kind_name(m->w.kind));
        if (!m->made)
            continue;
        if (kind == 0) {
            free_window(m);
            make(m, kinds[m - models]);
        } else if (kind < 4) {
            fence_round(m, n);
        } else if (kind < 9) {
            passive_round(m, n);
        } else {
            pscw_round(m, n);
        }
        if (m->made)
            settle(m); /* begins with a barrier: passive and active epochs must not meet (12.5.3) */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < NWIN; i++)
        if (models[i].made)
            free_window(&models[i]);
    CHECK(rounds < 8 || n < 20 || (refused > 0 && refused < calls), "%ld of %ld calls were refused",
          refused, calls);
    return MT_FINISH();
}
