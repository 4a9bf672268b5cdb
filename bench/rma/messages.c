/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - see messages.h.
 */
#include "bench/rma/messages.h"

int messages_start(struct messages *m)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < m->count && !rc; i++) {
        char *at = m->buf + (size_t)i * (size_t)m->size;

        rc = m->sends ? MPI_Isend(at, m->size, MPI_BYTE, m->peer, i, m->comm, &m->request[i])
                      : MPI_Irecv(at, m->size, MPI_BYTE, m->peer, i, m->comm, &m->request[i]);
    }
    return rc;
}

int messages_wait(struct messages *m)
{
    MPI_Status status[MESSAGES_MAX];

    return MPI_Waitall(m->count, m->request, status);
}

static int nothing(void *arg)
{
    (void)arg;
    return MPI_SUCCESS;
}

static int run(void *arg, long n)
{
    struct messages *m = arg;
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++) {
        rc = messages_start(m);
        if (!rc)
            rc = messages_wait(m);
        if (!rc)
            rc = m->sends ? MPI_Recv(NULL, 0, MPI_BYTE, m->peer, MESSAGES_MAX, m->comm,
                                     MPI_STATUS_IGNORE)
                          : MPI_Send(NULL, 0, MPI_BYTE, m->peer, MESSAGES_MAX, m->comm);
    }
    return rc;
}

struct work messages_work(struct messages *m)
{
    return (struct work){
        .begin = nothing, .run = run, .end = nothing, .arg = m, .per_run = m->count};
}
