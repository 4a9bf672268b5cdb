/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_progress_pending.c - operations of the host that rank 0 has begun when it waits in a call of
 * the library, and the partner's part of each, which blocks (host_progress.c).
 */
#include "host_progress.h"

#include <pthread.h>

enum { LARGE = 1 << 20, SMALL = 4, TAG = 5, CELLS = 1000 };

static char *sent, *received;
static MPI_Request request = MPI_REQUEST_NULL;

void hp_make_buffers(void)
{
    sent = malloc(LARGE);
    received = malloc(LARGE);
}

void hp_free_buffers(void)
{
    free(sent);
    free(received);
}

static void fill(int n)
{
    memset(sent, 'a' + hp_turn % 26, (size_t)n);
    memset(received, 0, (size_t)n);
}

static void end_request(void)
{
    MT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void check_received(int n)
{
    CHECK_BYTES(received, (size_t)n, 'a' + hp_turn % 26);
}

static void receive(int n)
{
    MT_OK(MPI_Recv(received, n, MPI_CHAR, 0, TAG, hp_world, MPI_STATUS_IGNORE));
    check_received(n);
}

static void irecv_begin(void)
{
    fill(LARGE);
    MT_OK(MPI_Irecv(received, LARGE, MPI_CHAR, HP_PARTNER, TAG, hp_world, &request));
}

static void irecv_partner(void)
{
    fill(LARGE);
    MT_OK(MPI_Send(sent, LARGE, MPI_CHAR, 0, TAG, hp_world));
}

static void irecv_end(void)
{
    end_request();
    check_received(LARGE);
}

static void ssend_begin(void)
{
    fill(SMALL);
    MT_OK(MPI_Irecv(received, SMALL, MPI_CHAR, HP_PARTNER, TAG, hp_world, &request));
}

static void ssend_partner(void)
{
    fill(SMALL);
    MT_OK(MPI_Ssend(sent, SMALL, MPI_CHAR, 0, TAG, hp_world));
}

static void ssend_end(void)
{
    end_request();
    check_received(SMALL);
}

static void isend_begin(void)
{
    fill(LARGE);
    MT_OK(MPI_Isend(sent, LARGE, MPI_CHAR, HP_PARTNER, TAG, hp_world, &request));
}

static void issend_begin(void)
{
    fill(SMALL);
    MT_OK(MPI_Issend(sent, SMALL, MPI_CHAR, HP_PARTNER, TAG, hp_world, &request));
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
    MT_OK(MPI_Bsend(sent, LARGE, MPI_CHAR, HP_PARTNER, TAG, hp_world));
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
        added[i] = hp_turn + i + mt_rank;
    MT_OK(MPI_Iallreduce(added, sums, CELLS, MPI_INT64_T, MPI_SUM, hp_world, &request));
}

static void iallreduce_end(void)
{
    const int64_t ranks = (int64_t)mt_size * (mt_size - 1) / 2;

    end_request();
    for (int i = 0; i < CELLS; i++)
        if (!CHECK(sums[i] == (int64_t)mt_size * (hp_turn + i) + ranks, "element %d is %lld", i,
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
    MT_OK(MPI_Ibarrier(hp_world, &request));
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
        if (!MT_OK(MPI_Iprobe(HP_PARTNER, TAG, hp_world, &there, MPI_STATUS_IGNORE)))
            return NULL;
    MT_OK(MPI_Recv(received, LARGE, MPI_CHAR, HP_PARTNER, TAG, hp_world, MPI_STATUS_IGNORE));
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

const struct hp_pending hp_pending[] = {
    {"irecv", irecv_begin, irecv_partner, NULL, irecv_end, false},
    {"ssend", ssend_begin, ssend_partner, NULL, ssend_end, false},
    {"isend", isend_begin, receive_large, NULL, end_request, false},
    {"issend", issend_begin, receive_small, NULL, end_request, false},
    {"bsend", bsend_begin, receive_large, NULL, bsend_end, false},
    {"iallreduce", iallreduce_begin, iallreduce, iallreduce, iallreduce_end, false},
    {"ibarrier", ibarrier_begin, ibarrier, ibarrier, end_request, false},
    {"prober", prober_begin, irecv_partner, NULL, prober_end, true},
    {NULL, NULL, NULL, NULL, NULL, false},
};
