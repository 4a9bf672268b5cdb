/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_check.c - see host_check.h.
 *
 * If a program has loaded MPI in such a way that nobody else sees its symbols, as an interpreter
 * does, the MPI library that is found is made visible to all, and the table of host.h is filled
 * from it.
 *
 * It may run before MPI is initialised: MPI_Get_library_version may be called then.
 *
 * No locks. Two threads may come at once, for example if each begins a session: both go on when the
 * table is filled. Neighbours: init.c, session.c and state.c, which ask before the first call of
 * the host; host.c.
 */
#include "mpi/host/host_check.h"

#include <mpi.h>

#include <dlfcn.h>
#include <errno.h>
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

#include "base/atomic.h"
#include "base/log.h"
#include "mpi/host/host.h"
#include "mpi/host/objects.h"

static _Atomic bool was_checked; /* it orders nothing */

typedef int get_version(char *version, int *len);

/* shorten cuts the text of an MPI library's version to its first words: "Open MPI v4.1.4". */
static void shorten(char *version)
{
    char *to = version;

    version[strcspn(version, ",\n")] = '\0';
    for (const char *from = version; *from != '\0'; from++)
        if ((*from != ' ' && *from != '\t') || (to > version && to[-1] != ' '))
            *to++ = *from == '\t' ? ' ' : *from;
    *to = '\0';
}

/* speaks returns whether this process speaks for all processes that a launcher has started on this
 * node: that is the one that gets a name which the kernel gives only once. A process that cannot
 * ask speaks, too. */
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

static _Noreturn void end(void *object, const char *interface, const char *file)
{
    void *found = dlsym(object, "PMPI_Get_library_version");
    get_version *get = *(get_version **)&found;
    static char version[MPI_MAX_LIBRARY_VERSION_STRING > 8192 ? MPI_MAX_LIBRARY_VERSION_STRING
                                                              : 8192] = ""; /* MPICH's are long */
    const struct timespec others_look = {.tv_sec = 1};
    Dl_info self = {.dli_fname = "libmpi-rma"};
    struct log log;
    int len;

    (void)get(version, &len);
    shorten(version);
    (void)dladdr((const void *)&was_checked, &self);
    log_init(&log, LOG_LEVEL_ERROR, speaks() ? 2 : -1, "libmpi-rma");
    log_msg(&log, LOG_LEVEL_ERROR,
            "%s was built for %s %s, but this process uses the MPI library %s (%s): link with what "
            "pkg-config says of mpi-rma-%s, or start the program with mpi-rma-run, which finds the "
            "right one",
            self.dli_fname, title(MPIRMA_HOST), MPIRMA_HOST_VERSION, version, file, interface);
    nanosleep(&others_look, NULL);
    _Exit(127);
}

/* look_at looks at one object of the process. */
static bool look_at(void *object, void *arg)
{
    const char *file, *interface = object_interface(object, &file);

    (void)arg;
    if (interface != NULL && strcmp(interface, MPIRMA_HOST) != 0)
        end(object, interface, file);
    if (interface != NULL && host_is_missing()) {
        void *host = dlopen(file, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);

        if (host != NULL) /* kept: the table points into it */
            host_use(host);
    }
    return true;
}

static void check(void)
{
    objects_visit(look_at, NULL);
    atomic_store_explicit(&was_checked, true, memory_order_relaxed);
}

bool host_was_checked(void)
{
    return atomic_load_explicit(&was_checked, memory_order_relaxed);
}

void host_check(void)
{
    static pthread_once_t checked = PTHREAD_ONCE_INIT;

    pthread_once(&checked, check);
}
