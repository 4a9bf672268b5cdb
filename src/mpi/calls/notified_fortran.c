/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified_fortran.c - see notified_fortran.h. MPI_ANY_SOURCE, MPI_PROC_NULL, MPI_UNDEFINED and
 * error codes are the same numbers in both languages. No state, no locks. Not in a build for the
 * standard ABI, which has no conversion of handles by these names.
 */
#include "mpi/calls/notified_fortran.h"

#include <mpi-rma.h>

#include <stdbool.h>

#include "mpi/calls/extension.h"
#include "mpi/host/export.h"

static bool is_int(MPI_Count count)
{
    return count == (int)count;
}

/* Short counts go the short way of the C function. */
MRMA_PUBLIC int PMPIRMA_Put_notify_f(const void *oaddr, MPI_Count ocount, MPI_Fint otype,
                                     MPI_Fint target, MPI_Aint disp, MPI_Count tcount,
                                     MPI_Fint ttype, MPI_Fint win, MPI_Fint number)
{
    const MPI_Datatype o = PMPI_Type_f2c(otype), t = PMPI_Type_f2c(ttype);
    const MPI_Win w = PMPI_Win_f2c(win);

    if (is_int(ocount) && is_int(tcount))
        return PMPIRMA_Put_notify(oaddr, (int)ocount, o, target, disp, (int)tcount, t, w, number);
    return PMPIRMA_Put_notify_c(oaddr, ocount, o, target, disp, tcount, t, w, number);
}
EXPORT_MPIRMA(Put_notify_f);

MRMA_PUBLIC int PMPIRMA_Get_notify_f(void *raddr, MPI_Count rcount, MPI_Fint rtype, MPI_Fint target,
                                     MPI_Aint disp, MPI_Count tcount, MPI_Fint ttype, MPI_Fint win,
                                     MPI_Fint number)
{
    return PMPIRMA_Get_notify_c(raddr, rcount, PMPI_Type_f2c(rtype), target, disp, tcount,
                                PMPI_Type_f2c(ttype), PMPI_Win_f2c(win), number);
}
EXPORT_MPIRMA(Get_notify_f);

MRMA_PUBLIC int PMPIRMA_Accumulate_notify_f(const void *oaddr, MPI_Count ocount, MPI_Fint otype,
                                            MPI_Fint target, MPI_Aint disp, MPI_Count tcount,
                                            MPI_Fint ttype, MPI_Fint op, MPI_Fint win,
                                            MPI_Fint number)
{
    return PMPIRMA_Accumulate_notify_c(oaddr, ocount, PMPI_Type_f2c(otype), target, disp, tcount,
                                       PMPI_Type_f2c(ttype), PMPI_Op_f2c(op), PMPI_Win_f2c(win),
                                       number);
}
EXPORT_MPIRMA(Accumulate_notify_f);

MRMA_PUBLIC int PMPIRMA_Notify_read_f(MPI_Fint win, MPI_Fint source, MPI_Fint number,
                                      MPI_Count *value)
{
    return PMPIRMA_Notify_read(PMPI_Win_f2c(win), source, number, value);
}
EXPORT_MPIRMA(Notify_read_f);

MRMA_PUBLIC int PMPIRMA_Notify_wait_f(MPI_Fint win, MPI_Fint source, MPI_Fint number,
                                      MPI_Count count)
{
    return PMPIRMA_Notify_wait(PMPI_Win_f2c(win), source, number, count);
}
EXPORT_MPIRMA(Notify_wait_f);

MRMA_PUBLIC int PMPIRMA_Notify_test_f(MPI_Fint win, MPI_Fint source, MPI_Fint number,
                                      MPI_Count count, int *flag)
{
    return PMPIRMA_Notify_test(PMPI_Win_f2c(win), source, number, count, flag);
}
EXPORT_MPIRMA(Notify_test_f);

MRMA_PUBLIC int PMPIRMA_Notify_waitany_f(MPI_Fint win, MPI_Fint source, MPI_Fint first, MPI_Fint n,
                                         MPI_Count count, MPI_Fint *number)
{
    return PMPIRMA_Notify_waitany(PMPI_Win_f2c(win), source, first, n, count, number);
}
EXPORT_MPIRMA(Notify_waitany_f);

MRMA_PUBLIC int PMPIRMA_Notify_testany_f(MPI_Fint win, MPI_Fint source, MPI_Fint first, MPI_Fint n,
                                         MPI_Count count, int *flag, MPI_Fint *number)
{
    return PMPIRMA_Notify_testany(PMPI_Win_f2c(win), source, first, n, count, flag, number);
}
EXPORT_MPIRMA(Notify_testany_f);

MRMA_PUBLIC int PMPIRMA_Notify_reset_f(MPI_Fint win, MPI_Fint source, MPI_Fint number,
                                       MPI_Count *value)
{
    return PMPIRMA_Notify_reset(PMPI_Win_f2c(win), source, number, value);
}
EXPORT_MPIRMA(Notify_reset_f);

MRMA_PUBLIC int PMPIRMA_Notify_init_f(MPI_Fint win, MPI_Fint source, MPI_Fint number,
                                      MPI_Count count, MPI_Fint *request)
{
    MPI_Request made;
    const int rc = PMPIRMA_Notify_init(PMPI_Win_f2c(win), source, number, count, &made);

    if (rc == MPI_SUCCESS)
        *request = PMPI_Request_c2f(made);
    return rc;
}
EXPORT_MPIRMA(Notify_init_f);
