/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_code.c - see error_code.h.
 *
 * The host makes the codes, so that no other user of MPI_Add_error_code gets one of them. It gets
 * the text as well, but hosts differ in what they make of it: MPICH takes the code for one of its
 * own and gives another text. So MPI_Error_string of this library looks here first.
 *
 * State: the codes and their texts, of the process. Locks: one of its own.
 */
#include "mpi/process/error_code.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#include "base/conf.h"
#include "base/err.h"
#include "engine/engine.h"
#include "mpi/process/state.h"

/* code MPI_SUCCESS: none was made. */
static struct {
    int code, class;
    char text[MPI_MAX_ERROR_STRING];
} codes[MRMA_ERR_LAST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool only_classes(void)
{
    return mpi_state.engine != NULL &&
           engine_conf(mpi_state.engine)->error_codes == CONF_ERRORS_CLASS;
}

/* By the lock. */
static void make(int err, int class)
{
    int code;

    if (codes[err].code == MPI_SUCCESS && PMPI_Add_error_code(class, &code) == MPI_SUCCESS) {
        codes[err].code = code;
        codes[err].class = class;
    }
}

int error_code(int err, int class, const char *text)
{
    int code = class;

    if (err <= MRMA_SUCCESS || err >= MRMA_ERR_LAST || only_classes())
        return class;
    pthread_mutex_lock(&lock);
    make(err, class);
    if (codes[err].code != MPI_SUCCESS) {
        code = codes[err].code;
        snprintf(codes[err].text, sizeof codes[err].text, "%s", text);
        PMPI_Add_error_string(code, codes[err].text);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

/* find returns the index of a code; -1: it is none of this library's codes. Called with the
 * lock. */
static int find(int code)
{
    for (int i = 0; code != MPI_SUCCESS && i < MRMA_ERR_LAST; i++)
        if (codes[i].code == code)
            return i;
    return -1;
}

bool error_code_text(int code, char *text, size_t len)
{
    pthread_mutex_lock(&lock);
    const int i = find(code);
    if (i >= 0)
        snprintf(text, len, "%s", codes[i].text);
    pthread_mutex_unlock(&lock);
    return i >= 0;
}

bool error_code_class(int code, int *class)
{
    pthread_mutex_lock(&lock);
    const int i = find(code);
    if (i >= 0)
        *class = codes[i].class;
    pthread_mutex_unlock(&lock);
    return i >= 0;
}
