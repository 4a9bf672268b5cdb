/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_access.h - which memory an operation accesses, recorded where a trace has to tell that
 * (MPIRMA_TRACE_CONFLICTS): at its target, and in the buffers of this process.
 */
#ifndef MRMA_RMA_TRACED_TRACED_ACCESS_H
#define MRMA_RMA_TRACED_TRACED_ACCESS_H

#include <stdint.h>

#include "ch3/pkt.h"
#include "rma/rma.h"

struct rma_target;
struct trace;

/* traced_access records what op reads and writes. op is an operation of that kind on t with at
 * least one byte, which the calling thread has recorded just before, with that time. If a datatype
 * has very many pieces only its span is recorded, as one that may have gaps. */
void traced_access(struct trace *tr, uint64_t time, const struct rma_target *t,
                   enum pkt_op_kind kind, const struct rma_op *op);

#endif
