/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi-rma.h - what libmpi-rma has beyond MPI.
 *
 * Programs need none of this: an unchanged MPI program that is linked with, or
 * started under, libmpi-rma uses it for all of its one-sided communication. The
 * functions here tell which version that is and how a window's data travels.
 * All may be called between MPI_Init and MPI_Finalize by any thread, are local,
 * and return MPI_SUCCESS or an MPI error class; none calls an error handler.
 * Each also exists under its PMPIRMA_ name.
 */
#ifndef MPI_RMA_H
#define MPI_RMA_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPIRMA_VERSION_MAJOR 0
#define MPIRMA_VERSION_MINOR 1
#define MPIRMA_VERSION_PATCH 0
#define MPIRMA_VERSION "0.1.0"

/* Length of a buffer that takes every text of MPIRMA_Win_path. */
#define MPIRMA_MAX_PATH_NAME 32

/* MPIRMA_Get_version tells the version of the library in use, which may differ from that of this
 * header. Null pointers are skipped. Always returns MPI_SUCCESS. */
int MPIRMA_Get_version(int *major, int *minor, int *patch);

/*
 * MPIRMA_Win_path tells which data path serves operations on process target of win:
 *
 *   "mapped"   load and store in memory that both processes map
 *   "cma"      the kernel copies between the processes
 *   "packets"  packets through shared memory, served by the target's calls or its agent
 *   "net-packets"  the same over the network
 *   "host"     MPIRMA_DISABLE=1: the host's own one-sided communication
 *
 * The text is written to buf, of len bytes with the final null character. Returns MPI_SUCCESS;
 * MPI_ERR_WIN: win is not a window; MPI_ERR_RANK: target is not a rank of it; MPI_ERR_ARG: buf is
 * null or too short, it is not written then.
 */
int MPIRMA_Win_path(MPI_Win win, int target, char *buf, int len);

/* PMPIRMA_Get_version is MPIRMA_Get_version by the name that profiling tools call. */
int PMPIRMA_Get_version(int *major, int *minor, int *patch);

/* PMPIRMA_Win_path is MPIRMA_Win_path by the name that profiling tools call. */
int PMPIRMA_Win_path(MPI_Win win, int target, char *buf, int len);

#ifdef __cplusplus
}
#endif

#endif
