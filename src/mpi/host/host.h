/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host.h - the host's own version of every function that this library replaces.
 *
 * One table, filled when the library is loaded, by looking for the next PMPI_X behind this
 * library's; in a program that loads MPI later, before the first call of the host (host_check.h).
 * It does not change any more then. If the host lacks a function, the member is a function that
 * says so and returns an error, so that only a call that needs it fails. Functions that are not
 * replaced are called by their PMPI names, except for those of sessions, which an older host lacks.
 */
#ifndef MRMA_MPI_HOST_HOST_H
#define MRMA_MPI_HOST_HOST_H

#include <mpi.h>

#include <stdbool.h>

#include "mpi/host/declared.h"
#include "mpi/host/export.h"

/* clang-format off */
#define HOST_WINDOW_FUNCTIONS(X) \
    X(Win_create) X(Win_allocate) X(Win_allocate_shared) X(Win_create_dynamic) X(Win_shared_query) \
    X(Win_create_c) X(Win_allocate_c) X(Win_allocate_shared_c) X(Win_shared_query_c) \
    X(Win_attach) X(Win_detach) X(Win_free) X(Win_get_group) X(Win_set_info) X(Win_get_info) \
    X(Win_get_attr) X(Win_set_name) X(Alloc_mem) X(Free_mem)

#define HOST_COMM_FUNCTIONS(X) \
    X(Put) X(Get) X(Accumulate) X(Get_accumulate) X(Fetch_and_op) X(Compare_and_swap) \
    X(Rput) X(Rget) X(Raccumulate) X(Rget_accumulate) \
    X(Put_c) X(Get_c) X(Accumulate_c) X(Get_accumulate_c) \
    X(Rput_c) X(Rget_c) X(Raccumulate_c) X(Rget_accumulate_c)

#define HOST_SYNC_FUNCTIONS(X) \
    X(Win_fence) X(Win_start) X(Win_complete) X(Win_post) X(Win_wait) X(Win_test) \
    X(Win_lock) X(Win_unlock) X(Win_lock_all) X(Win_unlock_all) \
    X(Win_flush) X(Win_flush_all) X(Win_flush_local) X(Win_flush_local_all) X(Win_sync)

#define HOST_OTHER_FUNCTIONS(X) \
    X(Wait) X(Waitany) X(Waitall) X(Waitsome) X(Test) X(Testany) X(Testall) X(Testsome) \
    X(Request_get_status) X(Request_get_status_any) X(Request_get_status_all) \
    X(Request_get_status_some) X(Request_free) X(Cancel) X(Start) X(Startall) \
    X(Comm_split_type) X(Group_free) X(Pcontrol) X(Error_string) X(Error_class) \
    X(Init) X(Init_thread) X(T_init_thread) X(Finalize) X(Comm_spawn) X(Comm_spawn_multiple) \
    X(Session_init) X(Session_finalize) X(Group_from_session_pset) X(Comm_create_from_group)

#define HOST_FUNCTIONS(X) \
    HOST_WINDOW_FUNCTIONS(X) HOST_COMM_FUNCTIONS(X) HOST_SYNC_FUNCTIONS(X) HOST_OTHER_FUNCTIONS(X)
/* clang-format on */

#define HOST_MEMBER(name) __typeof__(PMPI_##name) *name;

struct mpi_host {
    HOST_FUNCTIONS(HOST_MEMBER)
};

extern MRMA_HIDDEN struct mpi_host mpi_host;

/* host_symbol returns the next definition of a symbol behind this library's own, or NULL if there
 * is none. Any thread. */
void *host_symbol(const char *name);

/* host_is_missing returns whether there was no MPI library behind this one when it was last looked
 * for. Any thread. */
bool host_is_missing(void);

/* handler_returns releases handler and returns whether it is MPI_ERRORS_RETURN. Code that raises an
 * error does not call that handler, which does nothing: Intel MPI 2021.19 would end the job then in
 * a program of the standard ABI. Any thread. */
bool handler_returns(MPI_Errhandler handler);

/* host_use fills the table from object, which dlopen has returned for an MPI library, and which is
 * never closed again. Nobody calls a host meanwhile, since there was none. */
void host_use(void *object);

#endif
