/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_map.h - plain shared memory between two ranks, without MPI windows.
 *
 * The anchors need a page of a peer that is mapped here, and the peer's own
 * memory for process_vm_writev; some suites need to tell a peer that makes no
 * MPI calls to stop. Rank 1 of the pair makes an anonymous file, rank 0 opens
 * it through /proc. Nothing has a name that could be left behind.
 */
#ifndef BENCH_RMA_PEER_MAP_H
#define BENCH_RMA_PEER_MAP_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The control page; every word on its own cache line. */
struct peer_control {
    _Alignas(64) _Atomic uint64_t turn; /* ping-pong: who may go on */
    _Alignas(64) _Atomic uint64_t word; /* target of bare atomics */
    _Alignas(64) _Atomic uint64_t go;   /* the target computes */
    _Alignas(64) _Atomic uint64_t stop; /* it may end before its time */
};

struct peer_map {
    struct peer_control *control;
    char *data; /* size bytes shared by the pair */
    size_t size;
    pid_t pid;     /* rank 0: rank 1's process */
    char *remote;  /* rank 0: address of `private` in rank 1 */
    char *private; /* ordinary memory, size bytes */
};

/* Collective over the pair (two ranks). 0, or -1 on both with the reason. */
int peer_map_open(struct peer_map *m, MPI_Comm pair, size_t size, char *reason, size_t len);
void peer_map_close(struct peer_map *m);

/* Both ranks of the pair, n rounds: each hands a line to the other and waits for it, so it travels
 * twice a round. yields: the two share a processor. */
void peer_map_turns(const struct peer_map *m, int rank, long n, bool yields);

#endif
