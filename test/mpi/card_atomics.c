/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * card_atomics.c - accumulates that the network's cards do (info key mpirma_fabric_atomics), with
 * every value looked at.
 *
 *   card_atomics ROUNDS [WHAT [PROMISE]]
 *
 * WHAT is one of
 *   count    ROUNDS of the same accumulates in one epoch, whose number card_atomics.sh knows: the
 *            default
 *   mixed    all kinds of accumulates in all kinds of epochs, many at once on the same element
 *   types    each operation on each type, with derived datatypes; what the cards do not do goes by
 *            packet
 *   refused  the window does not have its accumulates done by cards, and works
 *   fails    the provider fails: an error is returned, soon
 * PROMISE is what the program says of its accumulates, without which a card must do all operations:
 *   sum_cas  which_accumulate_ops is sum and compare-and-swap
 *   same_op  accumulate_ops is that, and accumulate_ordering none
 */
#include "mtest.h"

#include <mpi-rma.h>

#include <stddef.h>
#include <time.h>

enum { FETCHES = 4, SUMS = 8, RANKS_MAX = 16 };

struct part {
    int64_t counter;          /* of rank 0: everybody's */
    int64_t own;              /* of its owner alone */
    int64_t slot[RANKS_MAX];  /* by who swaps there */
    int64_t sums[SUMS];       /* everybody adds */
    int64_t lock, guarded[2]; /* the last two are for who has the first */
    double reals[2 * SUMS];
    int64_t told[SUMS]; /* the rank before adds, and says so */
    unsigned char bytes[4096];
};

#define AT(field) ((MPI_Aint)offsetof(struct part, field))

static struct part *mine;
static MPI_Win win;
static int to;

static MPI_Info make_info(const char *promise)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_fabric_atomics", "true");
    MPI_Info_set(info, "mpirma_notifications", "1");
    if (strcmp(promise, "sum_cas") == 0)
        MPI_Info_set(info, "which_accumulate_ops", "sum,cas");
    if (strcmp(promise, "same_op") == 0) {
        MPI_Info_set(info, "accumulate_ops", "same_op");
        MPI_Info_set(info, "accumulate_ordering", "none");
    }
    return info;
}

static void check_decided(const char *expected)
{
    MPI_Info info;
    char value[64] = "";
    int flag = 0;
    MT_OK(MPI_Win_get_info(win, &info));
    MPI_Info_get(info, "mpirma_fabric_atomics", sizeof value - 1, value, &flag);
    MPI_Info_free(&info);
    CHECK(flag && strcmp(value, expected) == 0, "mpirma_fabric_atomics is \"%s\"", value);
}

static void flush_all(void)
{
    MT_OK(MPI_Win_flush_all(win));
}

/* ---- the same in each round ---- */

static int64_t *fetched; /* what this rank has got of the counter, in order */
static int nfetched;

static void count_up(void)
{
    const int64_t one = 1;
    for (int i = 0; i < FETCHES; i++) {
        MT_OK(
            MPI_Fetch_and_op(&one, &fetched[nfetched], MPI_INT64_T, 0, AT(counter), MPI_SUM, win));
        MT_OK(MPI_Win_flush(0, win));
        nfetched++;
    }
}

/* Two swaps on a place of this rank's own: one that is done, and one that is not. */
static void swap(int round)
{
    const int64_t now = round, next = round + 1, wrong = -7;
    int64_t old = -1, again = -1;
    const MPI_Aint at = AT(slot) + 8 * mt_rank;
    MT_OK(MPI_Compare_and_swap(&next, &now, &old, MPI_INT64_T, to, at, win));
    MT_OK(MPI_Win_flush(to, win));
    MT_OK(MPI_Compare_and_swap(&now, &wrong, &again, MPI_INT64_T, to, at, win));
    MT_OK(MPI_Win_flush(to, win));
    CHECK(old == now && again == next, "round %d: %lld and %lld were there", round, (long long)old,
          (long long)again);
}

/* MPI orders the two: the second sees what the first has added. */
static void add(int round)
{
    int64_t by[SUMS], old[SUMS];
    for (int i = 0; i < SUMS; i++)
        by[i] = i + 1;
    MT_OK(MPI_Accumulate(by, SUMS, MPI_INT64_T, to, AT(sums), SUMS, MPI_INT64_T, MPI_SUM, win));
    MT_OK(MPI_Get_accumulate(by, SUMS, MPI_INT64_T, old, SUMS, MPI_INT64_T, to, AT(sums), SUMS,
                             MPI_INT64_T, MPI_SUM, win));
    MT_OK(MPI_Win_flush(to, win));
    for (int i = 0; i < SUMS; i++)
        CHECK(old[i] == (2 * round + 1) * by[i], "sum %d of round %d was %lld", i, round,
              (long long)old[i]);
}

static void add_to_own(int round)
{
    const int64_t one = 1;
    int64_t old = -1;
    MT_OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, mt_rank, AT(own), MPI_SUM, win));
    MT_OK(MPI_Win_flush(mt_rank, win));
    CHECK(old == round, "round %d: own was %lld", round, (long long)old);
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Nobody has got what another has got, and each has got more each time. */
static void check_counter(int rounds)
{
    const int n = rounds * FETCHES, all = n * mt_size;
    int64_t *values = calloc((size_t)all, sizeof *values);
    int wrong = 0;
    for (int i = 1; i < n; i++)
        wrong += fetched[i] <= fetched[i - 1];
    MPI_Gather(fetched, n, MPI_INT64_T, values, n, MPI_INT64_T, 0, MPI_COMM_WORLD);
    qsort(values, (size_t)all, sizeof *values, compare);
    for (int i = 0; mt_rank == 0 && i < all; i++)
        wrong += values[i] != i;
    CHECK(wrong == 0, "%d values of the counter", wrong);
    if (mt_rank == 0)
        CHECK(mine->counter == all, "the counter is %lld, not %d", (long long)mine->counter, all);
    free(values);
}

static void check_part(int rounds)
{
    const int from = (mt_rank + mt_size - 1) % mt_size;
    for (int i = 0; i < SUMS; i++)
        CHECK(mine->sums[i] == 2 * rounds * (i + 1), "sum %d is %lld", i, (long long)mine->sums[i]);
    CHECK(mine->slot[from] == rounds, "the slot is %lld", (long long)mine->slot[from]);
    CHECK(mine->own == rounds, "own is %lld", (long long)mine->own);
}

static void count(int rounds)
{
    fetched = calloc((size_t)(rounds * FETCHES), sizeof *fetched);
    MT_OK(MPI_Win_lock_all(0, win));
    for (int round = 0; round < rounds; round++) {
        count_up();
        swap(round);
        add(round);
        add_to_own(round);
    }
    MT_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    check_counter(rounds);
    check_part(rounds);
    free(fetched);
}

/* ---- all kinds of epochs ---- */

/* Everybody adds to the same elements of everybody, itself included, in a fence epoch. */
static void in_fences(int round)
{
    int64_t by[SUMS];
    int wrong = 0;
    for (int i = 0; i < SUMS; i++)
        by[i] = i + 1;
    MT_OK(MPI_Win_fence(0, win));
    for (int rank = 0; rank < mt_size; rank++)
        for (int i = 0; i < 3; i++)
            MT_OK(MPI_Accumulate(by, SUMS, MPI_INT64_T, rank, AT(sums), SUMS, MPI_INT64_T, MPI_SUM,
                                 win));
    MT_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < SUMS; i++)
        wrong += mine->sums[i] != (int64_t)(round + 1) * 3 * mt_size * by[i];
    CHECK(wrong == 0, "%d sums after fence %d", wrong, round);
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

/* The neighbours' epochs: what was added is there when MPI_Win_wait returns. */
static void in_posts(int round)
{
    const int from = (mt_rank + mt_size - 1) % mt_size;
    const int64_t one = 1;
    int64_t old = -1;
    MPI_Group all, origin, target;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &from, &origin);
    MPI_Group_incl(all, 1, &to, &target);
    MT_OK(MPI_Win_post(origin, 0, win));
    MT_OK(MPI_Win_start(target, 0, win));
    MT_OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, to, AT(slot), MPI_SUM, win));
    MT_OK(MPI_Win_complete(win));
    MT_OK(MPI_Win_wait(win));
    CHECK(old == round, "round %d: %lld in an epoch of post and start", round, (long long)old);
    CHECK(mine->slot[0] == round + 1, "round %d: the slot is %lld after MPI_Win_wait", round,
          (long long)mine->slot[0]);
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
    MPI_Group_free(&all);
}

/* A lock that ranks compete for by compare-and-swap, and what it guards is got and put. */
static void by_swaps(void)
{
    const int64_t none = 0, me = mt_rank + 1;
    int64_t old, two[2];
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    do {
        MT_OK(MPI_Compare_and_swap(&me, &none, &old, MPI_INT64_T, 0, AT(lock), win));
        MT_OK(MPI_Win_flush(0, win));
    } while (old != 0);
    MT_OK(MPI_Get(two, 2, MPI_INT64_T, 0, AT(guarded), 2, MPI_INT64_T, win));
    MT_OK(MPI_Win_flush(0, win));
    CHECK(two[0] == two[1], "%lld and %lld are guarded", (long long)two[0], (long long)two[1]);
    two[0]++;
    two[1]++;
    MT_OK(MPI_Put(two, 2, MPI_INT64_T, 0, AT(guarded), 2, MPI_INT64_T, win));
    MT_OK(MPI_Win_flush(0, win));
    MT_OK(MPI_Compare_and_swap(&none, &me, &old, MPI_INT64_T, 0, AT(lock), win));
    MT_OK(MPI_Win_unlock(0, win));
    CHECK(old == me, "the lock was %lld when it was given back", (long long)old);
}

/* One operation an epoch, and with requests. */
static void with_requests(int round)
{
    const int64_t one = 1;
    int64_t old = -1;
    MPI_Request req;
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win));
    MT_OK(MPI_Raccumulate(&one, 1, MPI_INT64_T, to, AT(own), 1, MPI_INT64_T, MPI_SUM, win, &req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_OK(MPI_Rget_accumulate(&one, 1, MPI_INT64_T, &old, 1, MPI_INT64_T, to, AT(own), 1,
                              MPI_INT64_T, MPI_SUM, win, &req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_OK(MPI_Win_unlock(to, win));
    CHECK(old == 3 * round + 1, "round %d: %lld by a request", round, (long long)old);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
    MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, to, AT(own), 1, MPI_INT64_T, MPI_SUM, win));
    MT_OK(MPI_Win_unlock(to, win));
}

/* The rank before adds with a notification, and in odd rounds this rank on its own memory, too. Who
 * has waited for that sees all elements, without a call that synchronizes. */
static void with_notification(int round)
{
    const int from = (mt_rank + mt_size - 1) % mt_size, own = round % 2;
    int64_t by[SUMS];
    int wrong = 0;
    for (int i = 0; i < SUMS; i++)
        by[i] = i + 1;
    MPI_Barrier(MPI_COMM_WORLD); /* nobody asks for an exclusive lock while others wait here */
    MT_OK(MPI_Win_lock_all(0, win));
    MT_OK(MPIRMA_Accumulate_notify(by, SUMS, MPI_INT64_T, to, AT(told), SUMS, MPI_INT64_T, MPI_SUM,
                                   win, 0));
    if (own)
        MT_OK(MPIRMA_Accumulate_notify(by, SUMS, MPI_INT64_T, mt_rank, AT(told), SUMS, MPI_INT64_T,
                                       MPI_SUM, win, 0));
    MT_OK(MPIRMA_Notify_wait(win, from, 0, 1));
    if (own)
        MT_OK(MPIRMA_Notify_wait(win, mt_rank, 0, 1));
    for (int i = 0; i < SUMS; i++)
        wrong += mine->told[i] != (round + 1 + (round + 1) / 2) * by[i];
    CHECK(wrong == 0, "round %d: %d elements behind the notification", round, wrong);
    MT_OK(MPI_Win_unlock_all(win));
}

static void mixed(int rounds)
{
    for (int round = 0; round < rounds; round++) {
        in_fences(round);
        in_posts(round);
        by_swaps();
        with_requests(round);
        with_notification(round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(mine->own == 3 * rounds, "own is %lld", (long long)mine->own);
    if (mt_rank == 0)
        CHECK(mine->guarded[0] == (int64_t)rounds * mt_size, "%lld turns",
              (long long)mine->guarded[0]);
}

/* ---- operations and types ---- */

static const MPI_Op operations[] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_LAND,    MPI_LOR,
                                    MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_REPLACE, MPI_NO_OP};

static int64_t result(MPI_Op op, int64_t a, int64_t b)
{
    return op == MPI_SUM       ? a + b
           : op == MPI_PROD    ? a * b
           : op == MPI_MIN     ? (a < b ? a : b)
           : op == MPI_MAX     ? (a > b ? a : b)
           : op == MPI_LAND    ? a && b
           : op == MPI_LOR     ? a || b
           : op == MPI_LXOR    ? !a != !b
           : op == MPI_BAND    ? (a & b)
           : op == MPI_BOR     ? (a | b)
           : op == MPI_BXOR    ? (a ^ b)
           : op == MPI_REPLACE ? b
                               : a;
}

#define STORE(c_type, p, v) (*(c_type *)(void *)(p) = (c_type)(v))
#define TYPES(X)              \
    X(MPI_INT8_T, int8_t)     \
    X(MPI_UINT8_T, uint8_t)   \
    X(MPI_INT16_T, int16_t)   \
    X(MPI_UINT16_T, uint16_t) \
    X(MPI_INT32_T, int32_t)   \
    X(MPI_UINT32_T, uint32_t) \
    X(MPI_INT64_T, int64_t)   \
    X(MPI_UINT64_T, uint64_t) \
    X(MPI_FLOAT, float) X(MPI_DOUBLE, double) X(MPI_LONG_DOUBLE, long double)

static void store(MPI_Datatype type, void *at, int64_t value)
{
#define ONE(mpi, c)    \
    if (type == (mpi)) \
        STORE(c, at, value);
    TYPES(ONE)
#undef ONE
}

static bool holds(MPI_Datatype type, const void *at, int64_t value)
{
#define ONE(mpi, c)    \
    if (type == (mpi)) \
        return *(const c *)at == (c)value;
    TYPES(ONE)
#undef ONE
    return false;
}

/* Every second element of the target's bytes, n of them, from a gap in the middle of this side. */
static void one_pair(MPI_Datatype type, MPI_Op op)
{
    enum { N = 6 };
    _Alignas(16) unsigned char start[16 * 2 * N] = {0}, with[16 * N], old[16 * N], in[16 * 2 * N];
    MPI_Datatype rows;
    int size, wrong = 0;
    MPI_Type_size(type, &size);
    MPI_Type_vector(N, 1, 2, type, &rows);
    MPI_Type_commit(&rows);
    for (int i = 0; i < 2 * N; i++)
        store(type, start + i * size, i % 3);
    for (int i = 0; i < N; i++)
        store(type, with + i * size, 1 + i % 2);
    MT_OK(MPI_Put(start, 2 * N, type, to, AT(bytes), 2 * N, type, win));
    flush_all();
    MT_OK(MPI_Get_accumulate(with, N, type, old, N, type, to, AT(bytes), 1, rows, op, win));
    flush_all();
    if (op != MPI_NO_OP) /* which MPI_Accumulate does not take */
        MT_OK(MPI_Accumulate(with, N, type, to, AT(bytes), 1, rows, op, win));
    flush_all();
    MT_OK(MPI_Get(in, 2 * N, type, to, AT(bytes), 2 * N, type, win));
    flush_all();
    for (int i = 0; i < N; i++) {
        const int64_t b = 1 + i % 2, was = 2 * i % 3, once = result(op, was, b);
        wrong += !holds(type, old + i * size, was);
        wrong += !holds(type, in + 2 * i * size, result(op, once, b));
        wrong += !holds(type, in + (2 * i + 1) * size, (2 * i + 1) % 3);
    }
    CHECK(wrong == 0, "%d elements", wrong);
    MPI_Type_free(&rows);
}

static bool is_real(MPI_Datatype type)
{
    return type == MPI_FLOAT || type == MPI_DOUBLE || type == MPI_LONG_DOUBLE;
}

static bool goes_with_reals(MPI_Op op)
{
    return op == MPI_SUM || op == MPI_PROD || op == MPI_MIN || op == MPI_MAX || op == MPI_REPLACE ||
           op == MPI_NO_OP;
}

/* What the card has no operation for is an error, and not done by somebody else. */
static void not_aligned(void)
{
    const int64_t one = 1;
    int64_t old;
    int class = MPI_SUCCESS;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int own = 0; own < 2; own++) {
        const int rank = own ? mt_rank : to;
        const int err =
            MPI_Fetch_and_op(&one, &old, MPI_INT64_T, rank, AT(bytes) + 4, MPI_SUM, win);
        MPI_Error_class(err, &class);
        CHECK(class == MPI_ERR_DISP, "an element that is not aligned: error class %d", class);
    }
    MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
}

static void types(void)
{
    static const MPI_Datatype *all;
    const MPI_Datatype list[] = {
#define ONE(mpi, c) mpi,
        TYPES(ONE)
#undef ONE
    };
    all = list;
    MT_OK(MPI_Win_lock_all(0, win));
    for (size_t t = 0; t < sizeof list / sizeof *list; t++)
        for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
            if (!is_real(all[t]) || goes_with_reals(operations[o])) {
                mt_section("type %zu, operation %zu", t, o);
                one_pair(all[t], operations[o]);
            }
    not_aligned();
    MT_OK(MPI_Win_unlock_all(win));
}

/* ---- failure ---- */

static void fails(void)
{
    const int64_t one = 1;
    int64_t old;
    int err = MPI_SUCCESS, class = MPI_SUCCESS;
    const time_t began = time(NULL);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MT_OK(MPI_Win_lock_all(0, win));
    for (int i = 0; !err && i < 100000; i++) {
        err = MPI_Fetch_and_op(&one, &old, MPI_INT64_T, to, AT(slot) + 8 * mt_rank, MPI_SUM, win);
        if (!err)
            err = MPI_Win_flush(to, win);
        CHECK(err || old == i, "%d: %lld", i, (long long)old);
    }
    MPI_Error_class(err, &class);
    CHECK(class != MPI_SUCCESS, "the provider has failed and nobody says so");
    CHECK(time(NULL) - began < 60, "it takes long");
    (void)MPI_Win_unlock_all(win);
    (void)MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const int rounds = argc > 1 ? atoi(argv[1]) : 8;
    const char *what = argc > 2 ? argv[2] : "count";
    MPI_Info info = make_info(argc > 3 ? argv[3] : "");
    mt_timeout(280);
    mt_section("%d rounds, %s", rounds, what);
    to = (mt_rank + 1) % mt_size;
    MT_OK(MPI_Win_allocate(sizeof *mine, 1, info, MPI_COMM_WORLD, &mine, &win));
    MPI_Info_free(&info);
    memset(mine, 0, sizeof *mine);
    check_decided(strcmp(what, "refused") == 0 ? "false" : "true");
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "types") == 0)
        types();
    else if (strcmp(what, "mixed") == 0)
        mixed(rounds);
    else if (strcmp(what, "fails") == 0)
        fails();
    else
        count(rounds);
    if (win != MPI_WIN_NULL)
        MT_OK(MPI_Win_free(&win));
    return MT_FINISH();
}
