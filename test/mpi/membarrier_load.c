/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membarrier_load.c - the registration for membarrier(2) (src/sys/futex_event.h) is made
 * when the library is loaded, once, and no call of MPI makes it: with threads, which hosts have, it
 * waits for all processors. Where the kernel refuses it to all processes or to some, or refuses the
 * barrier later, processes that sleep are woken all the same and accumulates stay atomic.
 *
 * A library of the host that starts a thread while it is loaded leaves nothing to register: then
 * there is no registration at all.
 *
 * The program has a syscall and a pthread_create of its own in front of the C library's.
 * MEMBARRIER_REFUSE=all or odd (ranks): what the kernel refuses from the beginning; late: the
 * barrier, from main on.
 */
#define _GNU_SOURCE 1
#include "mtest.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 40, SLEEPS = 4 };

static int registrations, early_threads; /* threads: before main */
static bool in_main;

/* Of the launchers: MPI is not up yet. */
static bool is_odd(void)
{
    const char *rank = getenv("PMI_RANK");
    if (rank == NULL)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank != NULL && atoi(rank) % 2 != 0;
}

static bool is_refused(bool registration)
{
    const char *who = getenv("MEMBARRIER_REFUSE");
    if (who == NULL)
        return false;
    if (strcmp(who, "late") == 0)
        return !registration && in_main;
    return strcmp(who, "all") == 0 || is_odd();
}

/* More arguments are read than a caller may have given. */
__attribute__((visibility("default"), no_sanitize("address"))) long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long a[6];
    va_list ap;

    va_start(ap, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    if (number == SYS_membarrier) {
        const bool registration = a[0] == MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
        registrations += registration;
        if (is_refused(registration)) {
            errno = EPERM;
            return -1;
        }
    }
    if (real == NULL)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                          const pthread_attr_t *attr,
                                                          void *(*start)(void *), void *arg)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    early_threads += !in_main;
    return real(thread, attr, start, arg);
}

static void *idle(void *arg)
{
    pause();
    return arg;
}

/* Everybody waits for rank r in turn, long enough to fall asleep. */
static void fences(MPI_Win win, const int *base)
{
    mt_section("fences with a late process");
    MT_OK(MPI_Win_fence(0, win));
    for (int r = 0; r < SLEEPS; r++) {
        if (mt_rank == r % mt_size)
            usleep(30000);
        for (int i = 0; i < mt_size; i++)
            MT_OK(MPI_Put(&r, 1, MPI_INT, i, mt_rank, 1, MPI_INT, win));
        MT_OK(MPI_Win_fence(0, win));
        for (int i = 0; i < mt_size; i++)
            CHECK(base[i] == r, "round %d: %d from rank %d", r, base[i], i);
        MT_OK(MPI_Win_fence(0, win));
    }
}

/* One element by an instruction, until the first call with a type of several pieces closes that. */
static void accumulates(MPI_Win win, const int *base)
{
    const int one = 1, pair[3] = {1, 0, 1};
    MPI_Datatype ends;

    mt_section("accumulates by instruction, then by lock");
    MPI_Type_vector(2, 1, 2, MPI_INT, &ends);
    MPI_Type_commit(&ends);
    MT_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < mt_size; i++)
        MT_OK(MPI_Put((int[]){0, 0, 0}, 3, MPI_INT, i, mt_size, 3, MPI_INT, win));
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Win_lock_all(0, win));
    for (int k = 0; k < ROUNDS; k++)
        for (int i = 0; i < mt_size; i++) {
            if (k == ROUNDS / 2 && mt_rank == mt_size - 1)
                MT_OK(MPI_Accumulate(pair, 1, ends, i, mt_size, 1, ends, MPI_SUM, win));
            else
                MT_OK(MPI_Accumulate(&one, 1, MPI_INT, i, mt_size, 1, MPI_INT, MPI_SUM, win));
            MT_OK(MPI_Win_flush(i, win));
        }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_fence(0, win));
    CHECK(base[mt_size] == ROUNDS * mt_size, "the sum is %d, expected %d", base[mt_size],
          ROUNDS * mt_size);
    CHECK(base[mt_size + 2] == 1, "the other end is %d", base[mt_size + 2]);
    MT_OK(MPI_Win_fence(0, win));
    MPI_Type_free(&ends);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    char *mem;
    int *base;
    MPI_Win win;

    const int at_load = registrations;
    in_main = true;
    pthread_create(&thread, NULL, idle, NULL);
    MT_INIT(argc, argv);
    CHECK(at_load == 1 || (at_load == 0 && early_threads != 0),
          "%d registrations and %d threads when the program was loaded", at_load, early_threads);
    mt_section("the first calls");
    MT_OK(MPI_Alloc_mem(4096, MPI_INFO_NULL, &mem));
    MT_OK(MPI_Win_allocate((mt_size + 3) * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL,
                           MPI_COMM_WORLD, &base, &win));
    fences(win, base);
    accumulates(win, base);
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Free_mem(mem));
    CHECK(registrations == at_load, "%d registrations in all", registrations);
    return MT_FINISH();
}
