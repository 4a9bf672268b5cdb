/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_handle.c FILE [look|nothing] - a program that is not linked with MPI: it loads an MPI
 * library by dlopen, so that nobody else sees its functions, and looks up in that handle what it
 * calls.
 * Under mpi-rma-run the calls come through libmpi-rma all the same. Each process puts its rank into
 * its right neighbour's window, or makes none ("nothing"), or stops when all has been looked up
 * ("look").
 */
#define _GNU_SOURCE 1 /* dladdr */
#include <mpi.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MPICH's own puts into windows of a few bytes go astray, and one run is without the library. */
enum { BYTES = 4096 };

#define FUNCTIONS(X) \
    X(Init)          \
    X(Comm_rank) X(Comm_size) X(Win_allocate) X(Barrier) X(Win_fence) X(Put) X(Win_free) X(Finalize)

#define MEMBER(name) static __typeof__(MPI_##name) *name;
FUNCTIONS(MEMBER)

static void *handle;

/* What MPI_COMM_WORLD is, without the name of an object in the library. */
static void *object(const char *name)
{
    void *at = dlsym(handle, name);

    if (at == NULL) {
        printf("there is no %s\n", name);
        exit(1);
    }
    return at;
}

#ifdef OPEN_MPI
#define WORLD ((MPI_Comm)object("ompi_mpi_comm_world"))
#define INT ((MPI_Datatype)object("ompi_mpi_int"))
#define NO_INFO ((MPI_Info)object("ompi_mpi_info_null"))
#else
#define WORLD MPI_COMM_WORLD
#define INT MPI_INT
#define NO_INFO MPI_INFO_NULL
#endif

static const char *owner(const void *function)
{
    Dl_info info = {.dli_fname = NULL};
    const char *slash;

    if (dladdr(function, &info) == 0 || info.dli_fname == NULL)
        return "nobody";
    slash = strrchr(info.dli_fname, '/');
    return slash != NULL ? slash + 1 : info.dli_fname;
}

static void look_up(void)
{
#define FIND(name)                          \
    *(void **)&name = object("MPI_" #name); \
    printf("MPI_" #name " is of %s\n", owner(*(const void **)&name));
    FUNCTIONS(FIND)
    printf("MPI_Send is of %s\n", owner(object("MPI_Send")));
    printf("PMPI_Put is of %s\n", owner(object("PMPI_Put")));
}

/* element returns a datatype of one int, made with a large count where the host has such. */
static MPI_Datatype element(void)
{
    int (*contiguous)(MPI_Count, MPI_Datatype, MPI_Datatype *);
    MPI_Datatype type;

    *(void **)&contiguous = dlsym(handle, "MPI_Type_contiguous_c");
    if (contiguous == NULL || contiguous(1, INT, &type) != MPI_SUCCESS)
        return INT;
    ((__typeof__(MPI_Type_commit) *)(intptr_t)object("MPI_Type_commit"))(&type);
    return type;
}

static void put_right(void)
{
    const MPI_Datatype one = element();
    int rank, size, *memory;
    MPI_Win win;

    Comm_rank(WORLD, &rank);
    Comm_size(WORLD, &size);
    Win_allocate(BYTES, sizeof rank, NO_INFO, WORLD, &memory, &win);
    *memory = -1;
    Barrier(WORLD);
    Win_fence(0, win);
    Put(&rank, 1, one, (rank + 1) % size, 0, 1, one, win);
    Win_fence(0, win);
    /* In one write: the launcher puts lines of processes together as they come. */
    const char *said =
        *memory == (rank + size - 1) % size ? "received\n" : "FAILED: not received\n";
    fputs(said, stdout);
    Win_free(&win);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "put";

    handle = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (handle == NULL) {
        printf("FAILED: %s\n", argc > 1 ? dlerror() : "which MPI library?");
        return 1;
    }
    (void)dlerror();
    look_up();
    if (dlerror() != NULL)
        printf("FAILED: dlerror tells of a look-up that found something\n");
    if (dlsym(handle, "MPI_No_such_function") != NULL || dlerror() == NULL)
        printf("FAILED: a function that nobody has was found\n");
    if (strcmp(what, "look") == 0)
        return 0;
    Init(NULL, NULL);
    if (strcmp(what, "nothing") != 0)
        put_right();
    return Finalize();
}
