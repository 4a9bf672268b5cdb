/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attend.c - what targets do while the origin works; see bench.h.
 */
#define _GNU_SOURCE 1
#include <unistd.h>

#include "bench/common/clock.h"
#include "bench/net/bench.h"

enum { TAG_STOP = 77 };

const char *const attend_name[ATTENDS] = {"polling", "computing", "sleeping", "in_barrier",
                                          "in_recv"};

/* Inside a one-sided call until rank 0 completes its epoch on the other window. */
static void wait_until_told(struct net *b)
{
    MPI_Win_post(b->zero, 0, b->done);
    MPI_Win_wait(b->done);
}

static void tell(struct net *b)
{
    MPI_Win_start(b->others, 0, b->done);
    MPI_Win_complete(b->done);
}

double net_compute(double ms)
{
    const double start = clock_ns();
    double now, x = 1;
    long n = 0;
    do {
        for (int i = 0; i < 4000; i++) {
            x = x * 1.0000001 + 1e-9;
            __asm__ volatile("" : "+x"(x));
        }
        n++;
        now = clock_ns();
    } while (now - start < ms * 1e6);
    return (double)n / (now - start);
}

void net_attend(struct net *b, enum attend how)
{
    switch (how) {
    case ATTEND_WAIT:
        wait_until_told(b);
        break;
    case ATTEND_COMPUTE:
        (void)net_compute(NET_PASSIVE_MS);
        break;
    case ATTEND_SLEEP:
        usleep(NET_PASSIVE_MS * 1000);
        break;
    case ATTEND_BARRIER:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    default:
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_STOP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

void net_release(struct net *b, enum attend how)
{
    if (how == ATTEND_BARRIER)
        MPI_Barrier(MPI_COMM_WORLD);
    if (how == ATTEND_WAIT)
        tell(b);
    if (how == ATTEND_RECV)
        for (int i = 1; i < b->nprocs; i++)
            MPI_Send(NULL, 0, MPI_BYTE, i, TAG_STOP, MPI_COMM_WORLD);
}

void net_meet_asleep(void)
{
    MPI_Request all;
    int met = 0;
    for (MPI_Ibarrier(MPI_COMM_WORLD, &all);
         MPI_Test(&all, &met, MPI_STATUS_IGNORE) == MPI_SUCCESS && !met;)
        usleep(500);
}
