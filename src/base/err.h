/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * err.h - the one internal error enum.
 *
 * Every function below src/mpi that can fail returns one of these as an int,
 * MRMA_SUCCESS (0) for success. Whoever detects an error first describes it
 * (log_fail in log.h); the layers above pass the code on unchanged. Only
 * src/mpi/process/errhan.c maps a code to an MPI error class.
 */
#ifndef MRMA_BASE_ERR_H
#define MRMA_BASE_ERR_H

enum mrma_err {
    MRMA_SUCCESS = 0,
    MRMA_AGAIN, /* no error: there is no room or it is too early; try again after progress */
    MRMA_ERR_ARG,
    MRMA_ERR_BASE,
    MRMA_ERR_SIZE,
    MRMA_ERR_DISP,
    MRMA_ERR_LOCKTYPE,
    MRMA_ERR_ASSERT,
    MRMA_ERR_RANK,
    MRMA_ERR_COUNT,
    MRMA_ERR_TYPE,
    MRMA_ERR_OP,
    MRMA_ERR_INFO_VALUE,
    MRMA_ERR_COMM,
    MRMA_ERR_GROUP,
    MRMA_ERR_WIN,
    MRMA_ERR_REQUEST,
    MRMA_ERR_BUFFER,
    MRMA_ERR_RMA_CONFLICT,
    MRMA_ERR_RMA_SYNC,
    MRMA_ERR_RMA_RANGE,
    MRMA_ERR_RMA_ATTACH,
    MRMA_ERR_RMA_SHARED,
    MRMA_ERR_RMA_FLAVOR,
    MRMA_ERR_NO_MEM,
    MRMA_ERR_PROC_FAILED, /* a peer is gone */
    MRMA_ERR_OTHER,       /* the system or the host refused something */
    MRMA_ERR_INTERN,      /* a bug in this library or a bad packet */
    MRMA_ERR_LAST
};

/* mrma_err_name returns the name of an enum mrma_err for messages, such as "RMA_RANGE": a constant,
 * never NULL. */
const char *mrma_err_name(int err);

#endif
