/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_attach.c - dynamic windows whose target attaches its memory, and then begins its part of the
 * epoch, only after all operations of the origins have returned, which they tell it by messages. An
 * access counts from the beginning of the exposure on (MPI 4.1, 12.5.1 and 12.5.2): what is
 * attached by then may be accessed; an access to anything else is refused with MPI_ERR_RMA_RANGE,
 * at its origin alone, by a synchronization of that. Rank 0 is the target of all others. Fence and
 * PSCW, every operation, contiguous and in pieces with a gap that is not attached; request-based
 * operations, which are for passive target epochs only, behind a barrier.
 */
#include <stddef.h>

#include "mtcomm.h"

#define GIVE_UP 5.0 /* seconds */

enum end { BY_PSCW, BY_FENCE, ENDS };
enum memory { OF_MALLOC, OF_ALLOC_MEM, MEMORIES };
enum operation { PUT, GET, ACC, GET_ACC, FETCH_OP, CAS, OPERATIONS };

static const char *const op_name[OPERATIONS] = {
    "put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"};

/* What an origin has of the target's memory: two pieces of N elements for each operation, of which
 * it uses one, or both with the gap between them, which is not attached. */
enum { N = 300, GAP = 5, PIECES = 2 * N + GAP };
struct part {
    int64_t area[OPERATIONS][PIECES];
    int64_t never[GAP]; /* not attached, nor its like of any other part */
};

static struct part *memory; /* the target's, one part for each rank */
static MPI_Aint base;       /* its address there */
static int64_t anchor;      /* the target's; always attached */
static MPI_Aint anchor_at;
static MPI_Win win;

static int64_t value(int origin, int what, int i)
{
    return (int64_t)origin * 1000003 + what * 4099 + i;
}

static MPI_Aint place(int origin, size_t offset)
{
    return MPI_Aint_add(base, (MPI_Aint)((size_t)origin * sizeof *memory + offset));
}

static MPI_Aint area(int origin, enum operation op)
{
    return place(origin, offsetof(struct part, area) + (size_t)op * sizeof memory->area[0]);
}

static MPI_Datatype pieces(void)
{
    MPI_Datatype type;
    MT_OK(MPI_Type_vector(2, N, N + GAP, MPI_INT64_T, &type));
    MT_OK(MPI_Type_commit(&type));
    return type;
}

/* Buffers of one epoch; the operations put or add out, and fetch into got. */
static int64_t out[PIECES], got[OPERATIONS][PIECES];

static void operate(enum operation op, MPI_Aint at, int n, MPI_Datatype type)
{
    static const int64_t compare = 0;
    int64_t *in = got[op];

    switch (op) {
    case PUT:
        MT_OK(MPI_Put(out, n, type, 0, at, n, type, win));
        break;
    case GET:
        MT_OK(MPI_Get(in, n, type, 0, at, n, type, win));
        break;
    case ACC:
        MT_OK(MPI_Accumulate(out, n, type, 0, at, n, type, MPI_SUM, win));
        break;
    case GET_ACC:
        MT_OK(MPI_Get_accumulate(out, n, type, in, n, type, 0, at, n, type, MPI_SUM, win));
        break;
    case FETCH_OP:
        MT_OK(MPI_Fetch_and_op(out, in, MPI_INT64_T, 0, at, MPI_SUM, win));
        break;
    default:
        MT_OK(MPI_Compare_and_swap(out, &compare, in, MPI_INT64_T, 0, at, win));
    }
}

static void fill(int origin, int what)
{
    for (int i = 0; i < PIECES; i++)
        out[i] = value(origin, what, i);
    memset(got, 0xff, sizeof got);
}

/* ---- the two sides of an epoch ---- */

static int begin(enum end end, MPI_Group zero)
{
    return end == BY_PSCW ? MPI_Win_start(zero, 0, win) : MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
}

static int finish(enum end end)
{
    return end == BY_PSCW ? MPI_Win_complete(win) : MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

/* All calls of this origin have returned. */
static void tell(void)
{
    MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
}

static void await_origins(void)
{
    const double end = mt_now() + GIVE_UP;
    for (int o = 1; o < mt_size; o++) {
        int flag = 0;
        while (!flag && mt_now() < end)
            MT_OK(MPI_Iprobe(o, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK(flag, "calls of rank %d wait for the target", o);
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, o, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void expose(enum end end, MPI_Group origins)
{
    MT_OK(end == BY_PSCW ? MPI_Win_post(origins, 0, win) : MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    MT_OK(end == BY_PSCW ? MPI_Win_wait(win) : MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

/* The pieces of all areas, but not their gaps. */
static void attach(bool on)
{
    for (int o = 1; o < mt_size; o++)
        for (int k = 0; k < 2 * OPERATIONS; k++) {
            int64_t *at = memory[o].area[k / 2] + k % 2 * (N + GAP);
            MT_OK(on ? MPI_Win_attach(win, at, N * sizeof *at) : MPI_Win_detach(win, at));
        }
}

/* ---- accesses to what is attached ---- */

static void prepare(void)
{
    for (int o = 1; o < mt_size; o++)
        for (int k = 0; k < OPERATIONS; k++)
            for (int i = 0; i < PIECES; i++)
                memory[o].area[k][i] = k == CAS ? 0 : value(o, 1, i);
}

/* Is element i of the area of an operation named by that? */
static bool hit(enum operation op, bool derived, int i)
{
    return op >= FETCH_OP ? i == 0 : i < N || (derived && i >= N + GAP);
}

static void check_target(bool derived)
{
    for (int o = 1; o < mt_size; o++)
        for (int k = 0; k < OPERATIONS; k++)
            for (int i = 0; i < PIECES; i++) {
                const int64_t before = k == CAS ? 0 : value(o, 1, i), new = value(o, 0, i),
                              after = k == GET               ? before
                                      : k == PUT || k == CAS ? new
                                                             : before + new,
                              due = hit((enum operation)k, derived, i) ? after : before;
                if (!CHECK(memory[o].area[k][i] == due, "%s of rank %d, element %d: %lld, not %lld",
                           op_name[k], o, i, (long long)memory[o].area[k][i], (long long)due))
                    return;
            }
}

static void check_origin(bool derived)
{
    for (int k = 0; k < OPERATIONS; k++)
        for (int i = 0; i < PIECES; i++) {
            const bool fetched = k != PUT && k != ACC && hit((enum operation)k, derived, i);
            const int64_t due = !fetched ? -1 : k == CAS ? 0 : value(mt_rank, 1, i);
            if (!CHECK(got[k][i] == due, "%s fetched %lld, not %lld, as element %d", op_name[k],
                       (long long)got[k][i], (long long)due, i))
                return;
        }
}

static void legal(enum end end, bool derived, MPI_Group peers)
{
    if (mt_rank == 0) {
        prepare();
        await_origins();
        attach(true);
        expose(end, peers);
        check_target(derived);
        attach(false);
        return;
    }
    MPI_Datatype type = derived ? pieces() : MPI_INT64_T;
    fill(mt_rank, 0);
    MT_OK(begin(end, peers));
    for (int k = 0; k < OPERATIONS; k++)
        operate((enum operation)k, area(mt_rank, (enum operation)k), derived ? 1 : N, type);
    if (derived)
        MT_OK(MPI_Type_free(&type));
    tell();
    MT_OK(finish(end));
    check_origin(derived);
}

/* ---- and to what is not ---- */

/* The error of the epoch: from the call that ended it, or, where nobody waits for the target there,
 * with the answer to the next operation. */
static int error_of_epoch(int ended)
{
    static int64_t seen;
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    MT_OK(MPI_Get(&seen, 1, MPI_INT64_T, 0, anchor_at, 1, MPI_INT64_T, win));
    const int flushed = MPI_Win_flush(0, win);
    MT_OK(MPI_Win_unlock(0, win));
    return ended != MPI_SUCCESS ? ended : flushed;
}

/* Rank 1's first access is wrong, with a right one behind it; all others are right. */
static void illegal(enum end end, enum operation op, MPI_Group peers)
{
    if (mt_rank == 0) {
        prepare();
        await_origins();
        attach(true);
        expose(end, peers);
        MPI_Barrier(MPI_COMM_WORLD);
        attach(false);
        for (int o = 1; o < mt_size; o++)
            CHECK(memory[o].area[PUT][0] == value(o, 0, 0), "the put of rank %d behind is lost", o);
        return;
    }
    fill(mt_rank, 0);
    MT_OK(begin(end, peers));
    if (mt_rank == 1)
        operate(op, place(1, offsetof(struct part, never)), 1, MPI_INT64_T);
    operate(PUT, area(mt_rank, PUT), 1, MPI_INT64_T);
    tell();
    CHECK_ERR(error_of_epoch(finish(end)), mt_rank == 1 ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- request-based operations ---- */

static int request(enum operation op, MPI_Aint at, int n, MPI_Request *req)
{
    switch (op) {
    case PUT:
        return MPI_Rput(out, n, MPI_INT64_T, 0, at, n, MPI_INT64_T, win, req);
    case GET:
        return MPI_Rget(got[op], n, MPI_INT64_T, 0, at, n, MPI_INT64_T, win, req);
    case ACC:
        return MPI_Raccumulate(out, n, MPI_INT64_T, 0, at, n, MPI_INT64_T, MPI_SUM, win, req);
    default:
        return MPI_Rget_accumulate(out, n, MPI_INT64_T, got[op], n, MPI_INT64_T, 0, at, n,
                                   MPI_INT64_T, MPI_SUM, win, req);
    }
}

/* The first error of the operation, its request, and the flush behind it. */
static int request_error(enum operation op, MPI_Aint at, int n)
{
    MPI_Request req = MPI_REQUEST_NULL;
    int err = request(op, at, n, &req);
    const int waited = MPI_Wait(&req, MPI_STATUS_IGNORE), flushed = MPI_Win_flush(0, win);
    err = err != MPI_SUCCESS ? err : waited;
    return err != MPI_SUCCESS ? err : flushed;
}

static void requests(void)
{
    if (mt_rank == 0) {
        prepare();
        attach(true);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank) {
        fill(mt_rank, 0);
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        for (int k = 0; k <= GET_ACC; k++) {
            const enum operation op = (enum operation)k;
            CHECK_ERR(request_error(op, place(mt_rank, offsetof(struct part, never)), 1),
                      MPI_ERR_RMA_RANGE);
            MT_OK(request_error(op, area(mt_rank, op), N));
        }
        MT_OK(MPI_Win_unlock(0, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 0) {
        for (int o = 1; o < mt_size; o++)
            CHECK(memory[o].area[PUT][N - 1] == value(o, 0, N - 1) &&
                      memory[o].area[GET_ACC][0] == value(o, 0, 0) + value(o, 1, 0),
                  "requests of rank %d have left %lld and %lld", o,
                  (long long)memory[o].area[PUT][N - 1], (long long)memory[o].area[GET_ACC][0]);
        attach(false);
    } else {
        CHECK(got[GET][N - 1] == value(mt_rank, 1, N - 1), "the get brought %lld",
              (long long)got[GET][N - 1]);
    }
}

/* ---- windows ---- */

static void epochs(void)
{
    MPI_Group all, peers;
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MT_OK(mt_rank ? MPI_Group_incl(all, 1, &(int){0}, &peers)
                  : MPI_Group_excl(all, 1, &(int){0}, &peers));
    for (int i = 0; i < 2 * ENDS; i++)
        legal((enum end)(i % ENDS), i / ENDS, peers);
    for (int i = 0; i < OPERATIONS * ENDS; i++)
        illegal((enum end)(i % ENDS), (enum operation)(i / ENDS), peers);
    requests();
    MPI_Group_free(&peers);
    MPI_Group_free(&all);
}

/* What the target attaches comes from malloc or from MPI_Alloc_mem, which can be mapped. */
static void one_window(enum memory kind)
{
    const size_t bytes = (size_t)mt_size * sizeof *memory;
    mt_section(kind == OF_MALLOC ? "malloc" : "MPI_Alloc_mem");
    MT_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    if (mt_rank == 0) {
        if (kind == OF_MALLOC)
            memory = mt_alloc(bytes);
        else
            MT_OK(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory));
        MT_OK(MPI_Win_attach(win, &anchor, sizeof anchor));
        MPI_Get_address(memory, &base);
        MPI_Get_address(&anchor, &anchor_at);
    }
    MT_OK(MPI_Bcast(&base, 1, MPI_AINT, 0, MPI_COMM_WORLD));
    MT_OK(MPI_Bcast(&anchor_at, 1, MPI_AINT, 0, MPI_COMM_WORLD));
    epochs();
    MT_OK(MPI_Win_free(&win));
    if (mt_rank == 0) {
        if (kind == OF_MALLOC)
            free(memory);
        else
            MT_OK(MPI_Free_mem(memory));
    }
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    if (mt_path_is("mapped")) {
        mt_skip("dynamic windows are not available on the mapped path");
        return MT_FINISH();
    }
    for (int i = 0; i < MEMORIES; i++)
        one_window((enum memory)i);
    return MT_FINISH();
}
