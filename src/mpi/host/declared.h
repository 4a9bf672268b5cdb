/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * declared.h - functions of MPI 4.0 and 4.1 that this library exports on every host.
 *
 * A program may have been compiled with a newer mpi.h than this library, and run on a newer release
 * of the host: its large-count calls and its sessions must arrive here all the same. An mpi.h that
 * has these functions declares them as they are declared here. HOST_SESSION is MPI_Session, or the
 * type that hosts of this interface use for it, and GET_STATUS_REQUEST is MPI_Request, const or
 * not, as the host declares it (both config.h).
 */
#ifndef MRMA_MPI_HOST_DECLARED_H
#define MRMA_MPI_HOST_DECLARED_H

#include <mpi.h>

int PMPI_Put_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
               MPI_Count tcount, MPI_Datatype ttype, MPI_Win win);
int PMPI_Get_c(void *raddr, MPI_Count rcount, MPI_Datatype rtype, int target, MPI_Aint disp,
               MPI_Count tcount, MPI_Datatype ttype, MPI_Win win);
int PMPI_Rput_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                MPI_Count tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request);
int PMPI_Rget_c(void *raddr, MPI_Count rcount, MPI_Datatype rtype, int target, MPI_Aint disp,
                MPI_Count tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request);
int PMPI_Accumulate_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype, int target,
                      MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win);
int PMPI_Raccumulate_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype, int target,
                       MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win,
                       MPI_Request *request);
int PMPI_Get_accumulate_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype, void *raddr,
                          MPI_Count rcount, MPI_Datatype rtype, int target, MPI_Aint disp,
                          MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win);
int PMPI_Rget_accumulate_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype, void *raddr,
                           MPI_Count rcount, MPI_Datatype rtype, int target, MPI_Aint disp,
                           MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win,
                           MPI_Request *request);

int PMPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                      MPI_Win *win);
int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                        void *baseptr, MPI_Win *win);
int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                               void *baseptr, MPI_Win *win);
int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                            void *baseptr);

int PMPI_Request_get_status_any(int count, GET_STATUS_REQUEST requests[], int *index, int *flag,
                                MPI_Status *status);
int PMPI_Request_get_status_all(int count, GET_STATUS_REQUEST requests[], int *flag,
                                MPI_Status statuses[]);
int PMPI_Request_get_status_some(int incount, GET_STATUS_REQUEST requests[], int *outcount,
                                 int indices[], MPI_Status statuses[]);

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, HOST_SESSION *session);
int PMPI_Session_finalize(HOST_SESSION *session);
int PMPI_Group_from_session_pset(HOST_SESSION session, const char *pset_name, MPI_Group *newgroup);
int PMPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
                                MPI_Errhandler errhandler, MPI_Comm *newcomm);

#endif
