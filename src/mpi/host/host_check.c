/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_check.c - see host_check.h.
 *
 * The next definition of a function behind this library does not tell which MPI library is in use:
 * a program that loads MPI when it runs may have two. So every object of the process is asked for
 * the function that names an MPI library. Tools have that one, too, as a wrapper, but not what
 * converts: PMPI_Status_c2f in the interface of each host, PMPI_Comm_toint in the standard ABI,
 * which does not have the first. Open MPI and what derives from it have handles that point to
 * objects with names of their own; nobody else has these.
 *
 * Where a program has loaded MPI so that nobody else sees its symbols, as an interpreter does, the
 * library that is found is made visible to all, and the table of host.h is filled from it.
 *
 * It may run before MPI is initialised: MPI_Get_library_version may be called then.
 *
 * No locks. Two threads may come at once, as two that begin a session each: both go on when the
 * table is filled. Neighbours: init.c, session.c and state.c, which ask before the first call of
 * the host; host.c.
 */
#include "mpi/host/host_check.h"

#include <mpi.h>

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "mpi/host/host.h"

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

typedef int get_version(char *version, int *len);

/* Does the object that begins at base define that symbol itself? */
static bool defines(void *object, const char *symbol, const void *base)
{
    const void *at = dlsym(object, symbol);
    Dl_info info;

    return at != NULL && dladdr(at, &info) != 0 && info.dli_fbase == base;
}

/* The name of the interface of the MPI library that an object is or brings with it, or NULL: none.
 * Its function, and in *file where it is. */
static const char *interface_of(void *object, get_version **version, const char **file)
{
    Dl_info info;

    *(void **)version = dlsym(object, "PMPI_Get_library_version");
    if (*version == NULL || dladdr(*(void **)version, &info) == 0)
        return NULL;
    *file = info.dli_fname;
    if (!defines(object, "PMPI_Status_c2f", info.dli_fbase))
        return defines(object, "PMPI_Comm_toint", info.dli_fbase) ? "abi" : NULL;
    return dlsym(object, "ompi_mpi_comm_world") != NULL ? "openmpi" : "mpich";
}

/* The first of an MPI library's own words: "Open MPI v4.1.4". */
static void shorten(char *version)
{
    char *to = version;

    version[strcspn(version, ",\n")] = '\0';
    for (const char *from = version; *from != '\0'; from++)
        if ((*from != ' ' && *from != '\t') || (to > version && to[-1] != ' '))
            *to++ = *from == '\t' ? ' ' : *from;
    *to = '\0';
}

/* One process of those that a launcher has started on this node speaks for all: the one that gets a
 * name that the kernel gives once, while the others look. Who cannot ask speaks. */
static bool speaks(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "libmpi-rma-other-host-%ld",
             (long)getppid());
    return fd < 0 || bind(fd, (const struct sockaddr *)&name, sizeof name) == 0 ||
           errno != EADDRINUSE;
}

static const char *title(const char *interface)
{
    if (strcmp(interface, "abi") == 0)
        return "the standard ABI of MPI, version";
    return strcmp(interface, "openmpi") == 0 ? "Open MPI" : "MPICH";
}

static _Noreturn void end(get_version *get, const char *interface, const char *file)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING > 8192 ? MPI_MAX_LIBRARY_VERSION_STRING
                                                              : 8192] = ""; /* MPICH's are long */
    const struct timespec others_look = {.tv_sec = 1};
    Dl_info self = {.dli_fname = "libmpi-rma"};
    struct log log;
    int len;

    (void)get(version, &len);
    shorten(version);
    (void)dladdr((const void *)&add_object, &self);
    log_init(&log, LOG_LEVEL_ERROR, speaks() ? 2 : -1, "libmpi-rma");
    log_msg(&log, LOG_LEVEL_ERROR,
            "%s was built for %s %s, but this process uses the MPI library %s (%s): link with what "
            "pkg-config says of mpi-rma-%s, or start the program with mpi-rma-run, which finds the "
            "right one",
            self.dli_fname, title(MPIRMA_HOST), MPIRMA_HOST_VERSION, version, file, interface);
    nanosleep(&others_look, NULL);
    _Exit(127);
}

/* One object of the process. */
static void look_at(const char *name)
{
    void *object = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    const char *file = NULL, *interface = NULL;
    get_version *version;

    if (object != NULL)
        interface = interface_of(object, &version, &file);
    if (interface != NULL && strcmp(interface, MPIRMA_HOST) != 0)
        end(version, interface, file);
    if (interface != NULL && host_is_missing()) {
        void *host = dlopen(file, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);

        if (host != NULL) /* kept: the table points into it */
            host_use(host);
    }
    if (object != NULL)
        dlclose(object);
}

static void check(void)
{
    struct objects all = {.name = NULL};

    dl_iterate_phdr(add_object, &all);
    for (size_t i = 0; i < all.n; i++) {
        look_at(all.name[i]);
        free(all.name[i]);
    }
    free(all.name);
}

void host_check(void)
{
    static pthread_once_t checked = PTHREAD_ONCE_INIT;

    pthread_once(&checked, check);
}
