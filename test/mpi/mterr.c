/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mterr.c - mtest.h's functions about errors: how the host's come back, and what class they have.
 */
#include "mtest.h"

#include <string.h>

static void do_nothing(MPI_Comm *comm, int *err, ...)
{
    (void)comm, (void)err;
}

static void do_nothing_of_win(MPI_Win *win, int *err, ...)
{
    (void)win, (void)err;
}

static bool is_intel_mpi(void)
{
    static char version[8192 + MPI_MAX_LIBRARY_VERSION_STRING];
    int len;

    return MPI_Get_library_version(version, &len) == MPI_SUCCESS &&
           strncmp(version, "Intel(R) MPI", 12) == 0;
}

static void give_back(MPI_Errhandler *handler)
{
    if (*handler != MPI_ERRORS_RETURN) {
        MPI_Errhandler_free(handler);
    }
}

void mt_errors_return(MPI_Comm comm)
{
    MPI_Errhandler handler = MPI_ERRORS_RETURN;

    if (is_intel_mpi()) {
        MPI_Comm_create_errhandler(do_nothing, &handler);
    }
    MPI_Comm_set_errhandler(comm, handler);
    give_back(&handler);
}

void mt_win_errors_return(MPI_Win win)
{
    MPI_Errhandler handler = MPI_ERRORS_RETURN;

    if (is_intel_mpi()) {
        MPI_Win_create_errhandler(do_nothing_of_win, &handler);
    }
    MPI_Win_set_errhandler(win, handler);
    give_back(&handler);
}

const char *mt_class_name(int errclass)
{
    static const struct {
        int errclass;
        const char *name;
    } names[] = {
        {MPI_SUCCESS, "MPI_SUCCESS"},
        {MPI_ERR_WIN, "MPI_ERR_WIN"},
        {MPI_ERR_BASE, "MPI_ERR_BASE"},
        {MPI_ERR_SIZE, "MPI_ERR_SIZE"},
        {MPI_ERR_DISP, "MPI_ERR_DISP"},
        {MPI_ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE"},
        {MPI_ERR_ASSERT, "MPI_ERR_ASSERT"},
        {MPI_ERR_RANK, "MPI_ERR_RANK"},
        {MPI_ERR_COUNT, "MPI_ERR_COUNT"},
        {MPI_ERR_TYPE, "MPI_ERR_TYPE"},
        {MPI_ERR_OP, "MPI_ERR_OP"},
        {MPI_ERR_ARG, "MPI_ERR_ARG"},
        {MPI_ERR_INFO, "MPI_ERR_INFO"},
        {MPI_ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE"},
        {MPI_ERR_COMM, "MPI_ERR_COMM"},
        {MPI_ERR_GROUP, "MPI_ERR_GROUP"},
        {MPI_ERR_BUFFER, "MPI_ERR_BUFFER"},
        {MPI_ERR_REQUEST, "MPI_ERR_REQUEST"},
        {MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM"},
        {MPI_ERR_KEYVAL, "MPI_ERR_KEYVAL"},
        {MPI_ERR_OTHER, "MPI_ERR_OTHER"},
        {MPI_ERR_INTERN, "MPI_ERR_INTERN"},
        {MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN"},
        {MPI_ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT"},
        {MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC"},
        {MPI_ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE"},
        {MPI_ERR_RMA_ATTACH, "MPI_ERR_RMA_ATTACH"},
        {MPI_ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED"},
        {MPI_ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].errclass == errclass) {
            return names[i].name;
        }
    }
    return "another error class";
}

bool mt_check_class(const char *file, int line, const char *call, int code, int expected)
{
    int errclass = MPI_SUCCESS, len = 0;
    char text[MPI_MAX_ERROR_STRING] = "";

    if (code != MPI_SUCCESS) {
        MPI_Error_class(code, &errclass);
        MPI_Error_string(code, text, &len);
    }
    if (errclass == expected) {
        return true;
    }
    mt_fail(file, line, "%.200s: expected %s, saw %s (%d) %.400s", call, mt_class_name(expected),
            mt_class_name(errclass), errclass, text);
    return false;
}
