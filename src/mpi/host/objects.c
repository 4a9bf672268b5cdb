/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * objects.c - see objects.h.
 *
 * Every object is asked for the function that names an MPI library. Tools have that function, too,
 * as a wrapper, but they do not have the functions that convert: PMPI_Status_c2f in the interface
 * of each host, and PMPI_Comm_toint in the standard ABI, which does not have the first. In Open MPI
 * and libraries that derive from it handles point to objects with names that no other library has.
 *
 * No state, no locks. Neighbours: host_check.c and unused.c, which ask.
 */
#include "mpi/host/objects.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The names of all objects, which cannot be opened while they are being listed. */
struct objects {
    char **name;
    size_t n, room;
};

static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct objects *all = arg;

    (void)size;
    if (all->n == all->room) {
        const size_t room = all->room == 0 ? 64 : 2 * all->room;
        char **name = realloc(all->name, room * sizeof *name);

        if (name == NULL)
            return 1;
        all->name = name;
        all->room = room;
    }
    if (info->dlpi_name != NULL && info->dlpi_name[0] != '\0')
        all->name[all->n] = strdup(info->dlpi_name);
    else
        return 0;
    if (all->name[all->n] != NULL)
        all->n++;
    return 0;
}

void objects_visit(bool (*visit)(void *object, void *arg), void *arg)
{
    struct objects all = {.name = NULL};
    bool more = true;

    dl_iterate_phdr(add_object, &all);
    for (size_t i = 0; i < all.n; i++) {
        void *object = more ? dlopen(all.name[i], RTLD_LAZY | RTLD_NOLOAD) : NULL;

        if (object != NULL) {
            more = visit(object, arg);
            dlclose(object);
        }
        free(all.name[i]);
    }
    free(all.name);
}

/* defines returns whether the object that begins at base defines that symbol itself. */
static bool defines(void *object, const char *symbol, const void *base)
{
    const void *at = dlsym(object, symbol);
    Dl_info info;

    return at != NULL && dladdr(at, &info) != 0 && info.dli_fbase == base;
}

const char *object_interface(void *object, const char **file)
{
    const void *version = dlsym(object, "PMPI_Get_library_version");
    Dl_info info;

    if (version == NULL || dladdr(version, &info) == 0)
        return NULL;
    *file = info.dli_fname;
    if (!defines(object, "PMPI_Status_c2f", info.dli_fbase))
        return defines(object, "PMPI_Comm_toint", info.dli_fbase) ? "abi" : NULL;
    return dlsym(object, "ompi_mpi_comm_world") != NULL ? "openmpi" : "mpich";
}
