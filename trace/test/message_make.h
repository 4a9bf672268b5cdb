/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_make.h - messages and collective operations in the files of a job (spool_make.h). Times
 * are microseconds as there.
 */
#ifndef MRMA_TRACE_TEST_MESSAGE_MAKE_H
#define MRMA_TRACE_TEST_MESSAGE_MAKE_H

#include "spool_make.h"

/* Numbers of communicators at their processes: all ranks, and ranks 1 and 0 in this order, which
 * has another number at each; and of functions. */
enum { WORLD = 1, PAIR = 2, OTHER = 9, MESSAGE_TAG = 3, MESSAGE_BYTES = 64 };
enum { SEND = TRACE_CALL_LAST, RECV, WAITALL, ALLREDUCE, SSEND, IRECV, ISEND, MESSAGE_CALLS };

/* make_messages makes window 1, the communicators and the names of the functions known. */
void make_messages(struct made_job *job);

struct trace_record *make_message(struct made_job *job, uint32_t rank, double us, unsigned kind,
                                  uint32_t comm, int32_t peer, uint64_t request);

void make_enter(struct made_job *job, uint32_t rank, double us, unsigned call);
void make_leave(struct made_job *job, uint32_t rank, double us, unsigned call);

/* A call that sends to, or receives from, a rank of a communicator. */
void make_send(struct made_job *job, uint32_t rank, double from, double to, uint32_t comm,
               int32_t peer);
void make_receive(struct made_job *job, uint32_t rank, double from, double to, uint32_t comm,
                  int32_t peer);

/* A collective operation (enum trace_collective) of all ranks. */
void make_together(struct made_job *job, uint32_t rank, double from, double to, unsigned op,
                   int32_t root);

#endif
