/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified_fortran.h - notified access as the module of include/mpi-rma-f08.f90 calls it: handles
 * are the integers that mpi_f08 has in MPI_VAL, flags are 0 or 1, and everything else is as in
 * mpi-rma.h. Each function does what the function of mpi-rma.h does whose name it has in front of
 * _f, and returns the same.
 */
#ifndef MRMA_MPI_CALLS_NOTIFIED_FORTRAN_H
#define MRMA_MPI_CALLS_NOTIFIED_FORTRAN_H

#include <mpi.h>

/* PMPIRMA_Put_notify_f is MPIRMA_Put_notify and MPIRMA_Put_notify_c. */
int PMPIRMA_Put_notify_f(const void *oaddr, MPI_Count ocount, MPI_Fint otype, MPI_Fint target,
                         MPI_Aint disp, MPI_Count tcount, MPI_Fint ttype, MPI_Fint win,
                         MPI_Fint number);

/* PMPIRMA_Get_notify_f is MPIRMA_Get_notify and MPIRMA_Get_notify_c. */
int PMPIRMA_Get_notify_f(void *raddr, MPI_Count rcount, MPI_Fint rtype, MPI_Fint target,
                         MPI_Aint disp, MPI_Count tcount, MPI_Fint ttype, MPI_Fint win,
                         MPI_Fint number);

/* PMPIRMA_Accumulate_notify_f is MPIRMA_Accumulate_notify and MPIRMA_Accumulate_notify_c. */
int PMPIRMA_Accumulate_notify_f(const void *oaddr, MPI_Count ocount, MPI_Fint otype,
                                MPI_Fint target, MPI_Aint disp, MPI_Count tcount, MPI_Fint ttype,
                                MPI_Fint op, MPI_Fint win, MPI_Fint number);

/* PMPIRMA_Notify_read_f is MPIRMA_Notify_read. */
int PMPIRMA_Notify_read_f(MPI_Fint win, MPI_Fint source, MPI_Fint number, MPI_Count *value);

/* PMPIRMA_Notify_wait_f is MPIRMA_Notify_wait. */
int PMPIRMA_Notify_wait_f(MPI_Fint win, MPI_Fint source, MPI_Fint number, MPI_Count count);

/* PMPIRMA_Notify_test_f is MPIRMA_Notify_test. */
int PMPIRMA_Notify_test_f(MPI_Fint win, MPI_Fint source, MPI_Fint number, MPI_Count count,
                          int *flag);

/* PMPIRMA_Notify_waitany_f is MPIRMA_Notify_waitany. */
int PMPIRMA_Notify_waitany_f(MPI_Fint win, MPI_Fint source, MPI_Fint first, MPI_Fint n,
                             MPI_Count count, MPI_Fint *number);

/* PMPIRMA_Notify_testany_f is MPIRMA_Notify_testany. */
int PMPIRMA_Notify_testany_f(MPI_Fint win, MPI_Fint source, MPI_Fint first, MPI_Fint n,
                             MPI_Count count, int *flag, MPI_Fint *number);

/* PMPIRMA_Notify_reset_f is MPIRMA_Notify_reset. */
int PMPIRMA_Notify_reset_f(MPI_Fint win, MPI_Fint source, MPI_Fint number, MPI_Count *value);

/* PMPIRMA_Notify_init_f is MPIRMA_Notify_init. */
int PMPIRMA_Notify_init_f(MPI_Fint win, MPI_Fint source, MPI_Fint number, MPI_Count count,
                          MPI_Fint *request);

#endif
