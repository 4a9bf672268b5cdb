/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.h - how a call of the user's becomes an operation of the card: what calls for messages,
 * remote memory and atomics share.
 *
 * A call makes an operation by op_new, has its arguments taken over by the functions take_, each of
 * which looks at the profile's rules and returns false where one is broken, and ends with submit.
 *
 * Locks: the domain's, but for op_new.
 */
#ifndef MRMA_TEST_FABRIC_CALL_H
#define MRMA_TEST_FABRIC_CALL_H

#include "test/fabric/objects.h"

static inline struct endpoint *endpoint_of(struct fid_ep *fid)
{
    return (struct endpoint *)(void *)fid;
}

/* op_new returns an operation with room for so many bytes that it takes with it (copied). */
struct op *op_new(struct fid_ep *fid, enum op_kind kind, void *context, size_t copied);

/* take_pieces takes n pieces of local memory over, with their descriptors. */
bool take_pieces(struct op *op, const struct iovec *iov, void **desc, size_t n);

/* take_copy takes the bytes with the operation, whose end nobody is told. */
bool take_copy(struct op *op, const void *buf, size_t len);

/* take_remote takes over n pieces of remote memory. */
bool take_remote(struct op *op, const struct fi_rma_iov *rma, size_t n);

bool take_target(struct op *op, fi_addr_t to);

/* submit hands the operation to the card, and returns what the call returns. legal: whether it has
 * passed the rules so far. The operation is no longer the caller's. */
ssize_t submit(struct op *op, bool legal);

/* The calls, for the endpoint. */
extern struct fi_ops_msg transfer_msg_ops;
extern struct fi_ops_rma transfer_rma_ops;
extern struct fi_ops_atomic atomic_call_ops;

#endif
