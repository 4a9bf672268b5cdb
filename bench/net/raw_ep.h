/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * raw_ep.h - bare libfabric endpoints between the ranks of a communicator: the network's anchor.
 *
 * Reliable datagram endpoints over the provider and interface that the library
 * would use, without anything of the library in between. Rank 0 drives, the others answer.
 */
#ifndef BENCH_NET_RAW_EP_H
#define BENCH_NET_RAW_EP_H

#include <mpi.h>
#include <stddef.h>

struct raw_ep;

enum { RAW_EP_MAX = 16 /* ranks */ };

/* provider NULL: "net", else "tcp;ofi_rxm"; interface: domain name, e.g. "lo". Returns
 * NULL at all ranks with a reason when one could not open it. Collective, as all of the following.
 */
struct raw_ep *raw_ep_open(MPI_Comm comm, const char *provider, const char *interface, char *reason,
                           size_t len);
void raw_ep_close(struct raw_ep *e);
const char *raw_ep_provider(const struct raw_ep *e);

/* A round trip between two ranks, so many bytes out and back, both polling; ns, the median at rank
 * 0. With asleep the answering rank sleeps on the completion queue's descriptor instead. */
double raw_ep_round_trip(struct raw_ep *e, size_t out, size_t back, int rounds, int asleep);

/* size bytes to each of the others, which sleep on their descriptors, and back from all; ns, the
 * median at rank 0, which yields while nothing comes. */
double raw_ep_fan(struct raw_ep *e, size_t size, int rounds);

/* A step in which two ranks send each other so many messages (at most RAW_EP_MAX / 2) of size bytes
 * and wait for as many, both polling; ns, the mean. */
double raw_ep_exchange(struct raw_ep *e, size_t size, int messages, int steps);

/* Time a message of size bytes in a stream from rank 0 to rank 1; ns, at rank 0. Two ranks. */
double raw_ep_stream(struct raw_ep *e, size_t size, int messages);

#endif
