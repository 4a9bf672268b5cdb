/*
 * raw_ep.h - a bare libfabric endpoint between ranks 0 and 1: the network's anchor.
 *
 * Two reliable datagram endpoints over the provider and interface that the library
 * would use, without anything of the library in between. Not collective over more
 * than the pair; rank 0 drives, rank 1 answers.
 */
#ifndef BENCH_RAW_EP_H
#define BENCH_RAW_EP_H

#include <mpi.h>
#include <stddef.h>

struct raw_ep;

/* provider NULL: "net", else "tcp;ofi_rxm"; interface: domain name, e.g. "lo". Returns
 * NULL at both ranks with a reason when either could not open it. Collective. */
struct raw_ep *raw_ep_open(MPI_Comm pair, const char *provider, const char *interface, char *reason,
                           size_t len);
void raw_ep_close(struct raw_ep *e);
const char *raw_ep_provider(const struct raw_ep *e);

/* T: half a round trip of size bytes, both ranks polling; ns, the median at rank 0. With asleep
 * the answering rank sleeps on the completion queue's descriptor instead. */
double raw_ep_half_trip(struct raw_ep *e, size_t size, int rounds, int asleep);

/* Time a message of size bytes in a stream from rank 0 to rank 1; ns, at rank 0. */
double raw_ep_stream(struct raw_ep *e, size_t size, int messages);

#endif
