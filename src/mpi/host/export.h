/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export.h - how an entry point is made visible.
 *
 * As in an MPI library, PMPI_X is the strong definition and MPI_X a weak alias:
 * the hosts' Fortran bindings call either, profiling tools define MPI_X and call
 * PMPI_X. Everything else in the library is hidden.
 */
#ifndef MRMA_MPI_HOST_EXPORT_H
#define MRMA_MPI_HOST_EXPORT_H

#define MRMA_PUBLIC __attribute__((visibility("default")))

/* For data that several files of the library share, so that they are reached without the global
 * offset table. */
#define MRMA_HIDDEN __attribute__((visibility("hidden")))

/* Stands behind the definition of PMPI_name. */
#define MRMA_EXPORT_MPI(name)                 \
    extern __typeof__(PMPI_##name) MPI_##name \
        __attribute__((weak, alias("PMPI_" #name), visibility("default")))

#endif
