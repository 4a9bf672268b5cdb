/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.c - what is wrong with the MPIRMA_* variables (environment.h).
 *
 * State: whether this process has looked. No locks: who comes second does nothing. Neighbours:
 * conf.c, which knows the variables.
 */
#include "mpi/process/environment.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic.h"
#include "base/conf.h"
#include "base/err.h"
#include "mpi/host/host.h"

extern char **environ;

void environment_tell(const struct log *log, bool first)
{
    static _Atomic bool looked; /* who is second writes nothing, so it orders nothing */
    struct log out = *log;
    struct conf conf;
    char msg[512];

    if (atomic_exchange_explicit(&looked, true, memory_order_relaxed) || !first)
        return;
    out.level = LOG_LEVEL_WARN;
    if (conf_load(&conf, getenv, msg, sizeof msg) == MRMA_SUCCESS)
        out.level = conf.log_level;
    else
        log_msg(&out, LOG_LEVEL_ERROR, "%s", msg);
    for (char **setting = environ; setting != NULL && *setting != NULL; setting++) {
        const char *nearest = conf_nearest(*setting);

        if (nearest != NULL)
            log_msg(&out, LOG_LEVEL_WARN,
                    "%.*s is set, but this library has no such variable; the nearest is %s",
                    (int)strcspn(*setting, "="), *setting, nearest);
    }
}

static bool same_file(const char *a, const char *b)
{
    struct stat first, second;

    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

bool environment_preloads(const char *files)
{
    char *names = strdup(files), *rest = NULL;
    Dl_info self;
    bool found = false;

    if (names && dladdr(&mpi_host, &self) && self.dli_fname)
        for (char *name = strtok_r(names, " :", &rest); name && !found;
             name = strtok_r(NULL, " :", &rest))
            found = same_file(name, self.dli_fname);
    free(names);
    return found;
}
