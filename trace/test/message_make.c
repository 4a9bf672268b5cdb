/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_make.c - see message_make.h.
 */
#include "message_make.h"

#include <string.h>

static const char *const names[MESSAGE_CALLS - SEND] = {"Send",  "Recv",  "Waitall", "Allreduce",
                                                        "Ssend", "Irecv", "Isend"};

void make_messages(struct made_job *job)
{
    make_create_all(job);
    for (uint32_t i = 0; i < job->nproc; i++) {
        struct trace_record *r = make_record(&job->app[i], 11, TRACE_COMM);

        r->win = WORLD;
        r->peer = (int32_t)i;
        r->arg = job->nproc;
        if (i < 2) {
            r = make_record(&job->app[i], 11, TRACE_COMM);
            r->win = PAIR + i;
            r->peer = 1 - (int32_t)i;
            r->arg = 2;
            r->id = UINT64_C(1) << 32 | 5;
        }
        for (unsigned k = 0; k < MESSAGE_CALLS - SEND; k++) {
            struct trace_name *name =
                (struct trace_name *)make_record(&job->app[i], 11, TRACE_NAME);

            name->what = (uint16_t)(SEND + k);
            strcpy(name->text, names[k]);
        }
    }
}

struct trace_record *make_message(struct made_job *job, uint32_t rank, double us, unsigned kind,
                                  uint32_t comm, int32_t peer, uint64_t request)
{
    struct trace_record *r = make_record(&job->app[rank], us, kind);

    r->win = comm;
    r->peer = peer;
    r->arg = MESSAGE_TAG;
    r->bytes = MESSAGE_BYTES;
    r->id = request;
    return r;
}

void make_enter(struct made_job *job, uint32_t rank, double us, unsigned call)
{
    make_record(&job->app[rank], us, TRACE_ENTER)->what = (uint16_t)call;
}

void make_leave(struct made_job *job, uint32_t rank, double us, unsigned call)
{
    make_record(&job->app[rank], us, TRACE_LEAVE)->what = (uint16_t)call;
}

void make_send(struct made_job *job, uint32_t rank, double from, double to, uint32_t comm,
               int32_t peer)
{
    make_enter(job, rank, from, SEND);
    make_message(job, rank, from, TRACE_SEND, comm, peer, 0);
    make_leave(job, rank, to, SEND);
}

void make_receive(struct made_job *job, uint32_t rank, double from, double to, uint32_t comm,
                  int32_t peer)
{
    make_enter(job, rank, from, RECV);
    make_message(job, rank, to, TRACE_RECEIVED, comm, peer, 0);
    make_leave(job, rank, to, RECV);
}

void make_together(struct made_job *job, uint32_t rank, double from, double to, unsigned op,
                   int32_t root)
{
    make_enter(job, rank, from, ALLREDUCE);
    make_message(job, rank, from, TRACE_COLLECTIVE, WORLD, root, 128)->what = (uint16_t)op;
    make_leave(job, rank, to, ALLREDUCE);
}
