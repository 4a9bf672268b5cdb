/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_rma.h - between the files of the netmod: puts, gets and atomic operations that the provider
 * does by itself, and the memory that they reach. Locks: as nmofi.h says.
 */
#ifndef MRMA_NETMOD_OFI_OFI_RMA_H
#define MRMA_NETMOD_OFI_OFI_RMA_H

#include "netmod/ofi/ofi.h"

/* ---- ofi_atomic.c ---- */

/* nm_atomics_query asks the provider, whose domain is open, which atomic operations it takes. */
void nm_atomics_query(const struct nmofi *nm, struct ch3_atomics *out);

/* nm_atomic_copy returns a transmit buffer for the atomic operation, filled with the operands; the
 * result will be at its beginning. NULL: no buffer can be had now. */
struct nm_tx *nm_atomic_copy(struct nmofi *nm, const struct ch3_rdma *op);

/* nm_atomic_start gives the operation, whose buffer is copy, to the provider, with that context.
 * Returns 0, or a negative error of libfabric. */
ssize_t nm_atomic_start(const struct nmofi *nm, const struct ch3_rdma *op, struct nm_tx *copy,
                        fi_addr_t to, void *context);

/* ---- rma_under_way.c ---- */

/* An operation that the provider has: a caller may be told that it has failed (the connection is
 * lost) before the provider has let go of it, so this outlives the caller's object. */
struct nm_rma {
    struct nm_op op;       /* first */
    struct list_node node; /* in its link's rdma_ops, or free */
    struct nmofi_link *link;
    struct ch3_rdma *rdma; /* NULL: the caller has been told */
    struct fid_mr *mr;     /* registration of the local memory, where the provider asks for it */
    struct nm_tx *copy;    /* buffer that is used instead of the local memory */
    bool put, atomic;
};

/* nm_rma_get returns an operation to give to the provider. NULL: too many are under way, or there
 * is no memory. */
struct nm_rma *nm_rma_get(struct nmofi *nm);

/* nm_rma_put takes an operation back that the provider does not have, with its registration and its
 * buffer. */
void nm_rma_put(struct nmofi *nm, struct nm_rma *rma);

/* nm_rma_abandon tells the callers of all puts and gets that are under way on the link that they
 * have failed with err. The provider may still use their memory. */
void nm_rma_abandon(struct nmofi_link *link, int err);

/* nm_rma_forget frees what is under way on the link; the callers that have not been told are told
 * of an error. The endpoints have been closed before, so that nothing completes any more. */
void nm_rma_forget(struct nmofi_link *link);

/* nm_rma_end frees the operations that were kept for use again. */
void nm_rma_end(struct nmofi *nm);

/* ---- ofi_rma.c ---- */

/* nm_rma_inject returns how long a put may be so that nm_rdma has read its local memory when it
 * returns. */
size_t nm_rma_inject(const struct nmofi *nm);

/* nm_rdma is the channel's rdma (ch3/channel.h). */
int nm_rdma(struct ch3_channel *ch, struct ch3_vc *vc, struct ch3_rdma *op);

/* nm_mem_register is the channel's mem_register (ch3/channel.h). */
int nm_mem_register(struct ch3_channel *ch, void *base, size_t len, struct ch3_mem_key *key,
                    struct ch3_mem **mem);

/* nm_mem_release is the channel's mem_release (ch3/channel.h). */
void nm_mem_release(struct ch3_channel *ch, struct ch3_mem *mem);

/* nm_rma_done is called when the provider has done with a put, get or atomic operation: err is 0 or
 * one of libfabric's positive errors, which breaks the link. The caller of the operation is told,
 * unless it was told before. */
void nm_rma_done(struct nmofi *nm, struct nm_op *op, int err);

#endif
