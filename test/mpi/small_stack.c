/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * small_stack.c - all operations and kinds of epochs from a thread that has little stack, as
 * user-level threads and OMP_STACKSIZE give it.
 *
 * The thread has so many KiB as the argument says. Windows of memory from MPI_Win_allocate and from
 * malloc; the datatypes have many small pieces, at the origin, at the target or at both, so that
 * whatever is packed, batched, sent by segments and sent as a datatype is there. Each rank works on
 * the next one and looks at what came. What the thread serves for others meanwhile, it does on the
 * same stack.
 */
#include <pthread.h>

#include "mtest.h"

enum { PIECES = 200, STRIDE = 3, SPAN = PIECES * STRIDE, ROUNDS = 3 };

/* Displacements in doubles: a part that puts, one that accumulates change, and single elements. */
enum { PUTS = 0, SUMS = SPAN, TICKETS = 2 * SPAN, SWAPS, ALL };

struct work {
    MPI_Win win;
    double *memory;    /* ALL, of the window */
    MPI_Datatype type; /* PIECES doubles, STRIDE apart, irregular */
};

/* MPI_Win_flush and the operations that it completes, in one epoch of MPI_Win_lock_all. */
static void flushed(const struct work *k, double *out, double *in)
{
    const int next = (mt_rank + 1) % mt_size;
    MPI_Request request = MPI_REQUEST_NULL;
    double one = 1, ticket = -1;
    long long was = -1, zero = 0, me = mt_rank + 1;

    for (int i = 0; i < ROUNDS; i++) {
        for (int j = 0; j < SPAN; j++) {
            out[j] = 1000 * i + j + mt_rank;
        }
        MT_OK(MPI_Put(out, 1, k->type, next, PUTS, 1, k->type, k->win));
        MT_OK(MPI_Accumulate(out, 1, k->type, next, SUMS, 1, k->type, MPI_SUM, k->win));
        MT_OK(MPI_Get_accumulate(out, PIECES, MPI_DOUBLE, in, 1, k->type, next, SUMS, 1, k->type,
                                 MPI_SUM, k->win));
        MT_OK(MPI_Win_flush(next, k->win));
        MT_OK(MPI_Rget(in, 1, k->type, next, PUTS, 1, k->type, k->win, &request));
        MT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int j = 0; j < SPAN; j += STRIDE) {
            CHECK(in[j] == out[j], "element %d: expected %g, saw %g", j, out[j], in[j]);
        }
        memset(in, 0, SPAN * sizeof *in);
        MT_OK(MPI_Get(in, PIECES, MPI_DOUBLE, next, PUTS, 1, k->type, k->win));
        MT_OK(MPI_Win_flush_local_all(k->win));
        MT_OK(MPI_Win_flush(next, k->win));
        for (int j = 0; j < PIECES; j++) {
            CHECK(in[j] == out[j * STRIDE], "piece %d: expected %g, saw %g", j, out[j * STRIDE],
                  in[j]);
        }
        MT_OK(MPI_Fetch_and_op(&one, &ticket, MPI_DOUBLE, next, TICKETS, MPI_SUM, k->win));
        MT_OK(MPI_Compare_and_swap(&me, &zero, &was, MPI_LONG_LONG, next, SWAPS, k->win));
        MT_OK(MPI_Win_flush_all(k->win));
        CHECK(ticket == i, "expected ticket %d, got %g", i, ticket);
        CHECK(was == (i ? me : 0), "expected %lld, got %lld", i ? me : 0, was);
    }
}

static void other_epochs(const struct work *k, double *out, MPI_Group group)
{
    const int next = (mt_rank + 1) % mt_size;

    for (int i = 0; i < ROUNDS; i++) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, k->win));
        MT_OK(MPI_Put(out, 1, k->type, next, PUTS, 1, k->type, k->win));
        MT_OK(MPI_Accumulate(out, 1, k->type, next, SUMS, 1, k->type, MPI_SUM, k->win));
        MT_OK(MPI_Win_unlock(next, k->win));
        MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, k->win));
        MT_OK(MPI_Put(out, 1, k->type, next, PUTS, 1, k->type, k->win));
        MT_OK(MPI_Win_fence(0, k->win));
        MT_OK(MPI_Accumulate(out, 1, k->type, next, SUMS, 1, k->type, MPI_SUM, k->win));
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, k->win));
        MT_OK(MPI_Win_post(group, 0, k->win));
        MT_OK(MPI_Win_start(group, 0, k->win));
        MT_OK(MPI_Put(out, 1, k->type, next, PUTS, 1, k->type, k->win));
        MT_OK(MPI_Win_complete(k->win));
        MT_OK(MPI_Win_wait(k->win));
    }
}

static void *work(void *arg)
{
    const struct work *k = arg;
    const int prev = (mt_rank + mt_size - 1) % mt_size;
    double *out = calloc(SPAN, sizeof *out), *in = calloc(SPAN, sizeof *in);
    MPI_Group group;

    MT_OK(MPI_Win_get_group(k->win, &group));
    MT_OK(MPI_Win_lock_all(0, k->win));
    flushed(k, out, in);
    MT_OK(MPI_Win_unlock_all(k->win));
    other_epochs(k, out, group);
    for (int i = 0; i < SPAN; i += STRIDE) {
        const double was = 1000 * (ROUNDS - 1) + i + prev;
        CHECK(k->memory[PUTS + i] == was, "element %d: expected %g, saw %g", i, was,
              k->memory[PUTS + i]);
    }
    MPI_Group_free(&group);
    free(out);
    free(in);
    return NULL;
}

static void in_thread(struct work *k, size_t kib)
{
    pthread_attr_t attr;
    pthread_t thread;

    MPI_Barrier(MPI_COMM_WORLD);
    pthread_attr_init(&attr);
    if (CHECK(pthread_attr_setstacksize(&attr, kib * 1024) == 0, "no stack of %zu KiB", kib) &&
        CHECK(pthread_create(&thread, &attr, work, k) == 0, "no thread of %zu KiB", kib)) {
        pthread_join(thread, NULL);
    }
    pthread_attr_destroy(&attr);
}

int main(int argc, char **argv)
{
    const size_t kib = argc > 1 ? strtoul(argv[1], NULL, 10) : 48;
    int ones[PIECES], at[PIECES];
    struct work k;

    if (MT_INIT_THREAD(argc, argv, MPI_THREAD_MULTIPLE) != MPI_THREAD_MULTIPLE) {
        mt_skip("MPI_THREAD_MULTIPLE is not available");
        return MT_FINISH();
    }
    for (int i = 0; i < PIECES; i++) {
        ones[i] = 1;
        at[i] = STRIDE * i;
    }
    MPI_Type_indexed(PIECES, ones, at, MPI_DOUBLE, &k.type);
    MPI_Type_commit(&k.type);
    mt_section("allocated memory, %zu KiB", kib);
    MT_OK(MPI_Win_allocate(ALL * sizeof *k.memory, sizeof *k.memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                           &k.memory, &k.win));
    memset(k.memory, 0, ALL * sizeof *k.memory);
    mt_win_errors_return(k.win);
    in_thread(&k, kib);
    MT_OK(MPI_Win_free(&k.win));
    if (!mt_path_is("mapped")) {
        mt_section("memory of malloc, %zu KiB", kib);
        k.memory = calloc(ALL, sizeof *k.memory);
        MT_OK(MPI_Win_create(k.memory, ALL * sizeof *k.memory, sizeof *k.memory, MPI_INFO_NULL,
                             MPI_COMM_WORLD, &k.win));
        mt_win_errors_return(k.win);
        in_thread(&k, kib);
        MT_OK(MPI_Win_free(&k.win));
        free(k.memory);
    }
    MPI_Type_free(&k.type);
    return MT_FINISH();
}
