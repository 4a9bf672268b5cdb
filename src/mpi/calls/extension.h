/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * extension.h - how the functions of mpi-rma.h are exported: as those of MPI are (host/export.h), a
 * strong PMPIRMA_X and MPIRMA_X as its weak alias.
 */
#ifndef MRMA_MPI_CALLS_EXTENSION_H
#define MRMA_MPI_CALLS_EXTENSION_H

#define EXPORT_MPIRMA(name)                         \
    extern __typeof__(PMPIRMA_##name) MPIRMA_##name \
        __attribute__((weak, alias("PMPIRMA_" #name), visibility("default")))

#endif
