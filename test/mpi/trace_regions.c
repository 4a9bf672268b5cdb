/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_regions.c - regions and MPI_Pcontrol, for trace_regions.sh: trace_regions MS. The same
 * calls stand in two regions; in one of them the last process computes 2 * MS milliseconds before
 * its fence, in the other rank 0 does MS. Regions of threads, by wrong names, too long ones, too
 * many one in another, ended and begun in a function that a call of MPI calls; and five steps that
 * are not recorded. What the functions return is checked.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ENDS_WITHOUT_BEGIN
#include <mpi-rma.h>
#define ENDS_WITHOUT_BEGIN(expected) (expected)
#endif

enum { ROUNDS = 3, THREADS = 3, DEEP = 70 };

static int rank, size, wrong;
static MPI_Win win;

static void expect(int expected, int saw, const char *what)
{
    if (saw == expected)
        return;
    fprintf(stderr, "trace_regions: rank %d: %s: expected %d, saw %d\n", rank, what, expected, saw);
    wrong++;
}

static void begin(const char *name)
{
    expect(MPI_SUCCESS, MPIRMA_Region_begin(name), name);
}

static void end(void)
{
    expect(MPI_SUCCESS, MPIRMA_Region_end(), "an end");
}

/* Busy: a process that sleeps is woken late on a loaded machine. */
static void compute(double ms)
{
    const double until = MPI_Wtime() + ms / 1000;

    while (ms > 0 && MPI_Wtime() < until)
        ;
}

static void step(const char *name, int late, double ms)
{
    const int64_t value = rank;

    begin(name);
    if (rank == late)
        compute(ms);
    MPI_Put(&value, 1, MPI_INT64_T, (rank + 1) % size, 0, 1, MPI_INT64_T, win);
    MPI_Win_fence(0, win);
    end();
}

static void wrong_use(void)
{
    char long_name[300];

    expect(MPI_ERR_ARG, MPIRMA_Region_begin(NULL), "no name");
    expect(MPI_ERR_ARG, MPIRMA_Region_begin(""), "an empty name");
    expect(ENDS_WITHOUT_BEGIN(MPI_ERR_OTHER), MPIRMA_Region_end(), "no region to end");
    memset(long_name, 'l', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    begin(long_name);
    begin("MPI_Put"); /* is no call of it */
    end();
    end();
    for (int i = 0; i < DEEP; i++)
        begin("deep");
    for (int i = 0; i < DEEP; i++)
        end();
}

static void *thread(void *unused)
{
    expect(ENDS_WITHOUT_BEGIN(MPI_ERR_OTHER), MPIRMA_Region_end(), "a region of another thread");
    begin("thread");
    begin("inner");
    end();
    end();
    return unused;
}

static void threads(void)
{
    pthread_t id[THREADS];

    begin("threads");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&id[i], NULL, thread, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(id[i], NULL);
    end();
}

/* Called in MPI_Win_free. */
static int on_free(MPI_Win freed, int keyval, void *value, void *extra)
{
    (void)freed, (void)keyval, (void)value, (void)extra;
    end(); /* of "around the call" */
    begin("inside the call");
    return MPI_SUCCESS;
}

static void free_window(void)
{
    int keyval;

    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_free, &keyval, NULL);
    MPI_Win_set_attr(win, keyval, NULL);
    MPI_Win_free_keyval(&keyval);
    begin("around the call");
    MPI_Win_free(&win);
    end(); /* of "inside the call" */
}

/* Between the two calls of MPI_Pcontrol nothing is recorded but the window, which is used later. */
static void not_recorded(void)
{
    int64_t *memory;
    MPI_Win later;

    begin("ends while stopped");
    MPI_Pcontrol(0);
    end();
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &later);
    for (int i = 0; i < 5; i++)
        step("not seen", -1, 0);
    MPI_Pcontrol(2);
    MPI_Pcontrol(-1, "what others understand");
    MPI_Pcontrol(1);
    begin("seen again");
    MPI_Win_fence(0, later);
    MPI_Win_free(&later);
    end();
}

int main(int argc, char **argv)
{
    int64_t *memory;
    int level;

    begin("before MPI"); /* nobody records yet */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    end();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2) {
        fprintf(stderr, "usage: trace_regions MS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    wrong_use();
    threads();
    begin("iterations");
    for (int round = 0; round < ROUNDS; round++) {
        step("assemble", size - 1, 2 * atof(argv[1]));
        step("smooth", 0, atof(argv[1]));
    }
    end();
    not_recorded();
    free_window();
    begin("never ended");
    MPI_Finalize();
    return wrong != 0;
}
