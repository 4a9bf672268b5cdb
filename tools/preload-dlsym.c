/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * preload-dlsym.c - dlsym for programs that look MPI functions up in the handle of an MPI library.
 *
 * mpi-rma-run preloads it behind libmpi-rma under programs that are not linked with MPI, such as
 * interpreters. Preloading alone does not serve them: dlsym with the handle of an MPI library finds
 * that library's function, whatever stands in front of it. This dlsym returns instead the first
 * function of that name among the objects that are loaded in front of this one: those of
 * libmpi-rma, or of a profiling tool that is preloaded ahead of it. All other names, handles and
 * callers get what the C library's dlsym gives them:
 *
 * - A caller that defines functions of MPI itself stands between the program and its MPI library.
 *   It looks for the function behind its own.
 * - A handle of a second MPI library, beside the one that is behind libmpi-rma, keeps its own
 *   functions: a program must not call two MPI libraries in turn.
 *
 * State: where the C library's dlsym is. Any thread may look it up, and all find the same.
 * Neighbours: mpi-rma-run, which decides who gets it; src/mpi/host/host_check.c, which makes an MPI
 * library that was loaded by dlopen the host of libmpi-rma.
 */
#define _GNU_SOURCE 1 /* dlvsym, dladdr1, RTLD_NEXT */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *lookup(void *handle, const char *name);

/* Whoever calls it is seen by the C library as the caller of dlsym. With RTLD_NEXT and RTLD_DEFAULT
 * the answer depends on who calls, so the last call of this dlsym must be a jump. */
#if defined(__has_attribute) && __has_attribute(musttail)
#define JUMPS
#define JUMP __attribute__((musttail))
#else
#define JUMPS __attribute__((optimize("O2")))
#define JUMP
#endif

/* The versions that the symbol has on the machines that the C library runs on, newest first. */
static lookup *find_true_dlsym(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17",
                                           "GLIBC_2.27", "GLIBC_2.36",  "GLIBC_2.0"};

    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        void *found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);

        if (found != NULL)
            return *(lookup **)&found;
    }
    fputs("libmpi-rma-dlsym: this C library has no dlsym of a known version; start the program "
          "without mpi-rma-run, with libmpi-rma.so in LD_PRELOAD\n",
          stderr);
    abort();
}

/* The pointer is all that is written, so nothing is ordered. */
static lookup *true_dlsym(void)
{
    static _Atomic(lookup *) known;
    lookup *fn = atomic_load_explicit(&known, memory_order_relaxed);

    if (fn == NULL) {
        fn = find_true_dlsym();
        atomic_store_explicit(&known, fn, memory_order_relaxed);
    }
    return fn;
}

static bool is_mpi_function(const char *name)
{
    name += name[0] == 'P';
    return strncmp(name, "MPI_", 4) == 0;
}

static struct link_map *object_at(const void *address)
{
    struct link_map *object = NULL;
    Dl_info info;

    if (dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP) == 0)
        return NULL;
    return object;
}

/* Does the object have a function of that name itself, and not only one in a library it needs? */
static bool defines(const struct link_map *object, const char *name)
{
    void *handle = object == NULL ? NULL
                                  : dlopen(object->l_name[0] == '\0' ? NULL : object->l_name,
                                           RTLD_LAZY | RTLD_NOLOAD);
    const void *found = handle == NULL ? NULL : true_dlsym()(handle, name);

    if (handle != NULL)
        dlclose(handle);
    return found != NULL && object_at(found) == object;
}

static bool is_in_front(const struct link_map *object)
{
    const struct link_map *at = object_at((const void *)&is_in_front);

    while (at != NULL && at != object)
        at = at->l_prev;
    return at != NULL;
}

/* Is this function, found in a handle, of the MPI library that libmpi-rma stands for? That is the
 * first behind this object, or, where none is visible, the one that MPI_Init will make so. */
static bool is_of_host(const void *found)
{
    const struct link_map *object = object_at(found);
    const void *behind = true_dlsym()(RTLD_NEXT, "PMPI_Init");

    return object != NULL && !is_in_front(object) &&
           (behind == NULL || object_at(behind) == object) && defines(object, "PMPI_Init");
}

/* The function to be returned in place of the one that was found, which may be the same. */
static void *first_of(void *found, const char *name, const void *caller)
{
    const struct link_map *object = object_at(caller);
    void *first = found;

    if (is_of_host(found) && !defines(object, name) && !defines(object, "MPI_Init"))
        first = true_dlsym()(RTLD_DEFAULT, name);
    if (first == NULL || !is_in_front(object_at(first)))
        first = found;
    (void)dlerror(); /* the program's own look-up has not failed */
    return first;
}

static void *look_up(void *handle, const char *name, const void *caller)
{
    void *found = true_dlsym()(handle, name);

    return found == NULL ? NULL : first_of(found, name, caller);
}

__attribute__((visibility("default"))) JUMPS void *dlsym(void *handle, const char *name)
{
    if (handle != RTLD_DEFAULT && handle != RTLD_NEXT && is_mpi_function(name))
        return look_up(handle, name, __builtin_return_address(0));
    JUMP return true_dlsym()(handle, name);
}
