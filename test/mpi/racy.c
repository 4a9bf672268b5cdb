/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * racy.c - a program with a data race: two threads put to the same bytes of their own process's
 * window in one epoch. Built with ThreadSanitizer, it must not end well (racy.sh).
 */
#include "mtest.h"

#include <pthread.h>

enum { BYTES = 64, TIMES = 2000 };

static MPI_Win win;

static void *put_often(void *arg)
{
    char from[BYTES];

    memset(from, *(const char *)arg, sizeof from);
    for (int i = 0; i < TIMES; i++)
        MT_OK(MPI_Put(from, BYTES, MPI_BYTE, mt_rank, 0, BYTES, MPI_BYTE, win));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    char values[2] = {'a', 'b'}, *mem;

    if (MT_INIT_THREAD(argc, argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE) {
        mt_skip("this host has no MPI_THREAD_MULTIPLE");
        return MT_FINISH();
    }
    MT_OK(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    MT_OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, put_often, &values[i]) != 0)
            exit(1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    return MT_FINISH();
}
