/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tell_environment.c - tells what is wrong with the MPIRMA_* variables, and that the library is in
 * use (tell_environment.h).
 *
 * State: whether this process has looked. No locks: a thread that comes second does nothing.
 * Neighbours: conf.c, which knows the variables.
 */
#include "mpi/process/tell_environment.h"

#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic.h"
#include "base/conf.h"
#include "base/err.h"
#include "mpi/host/host.h"

extern char **environ;

/* host_words writes the first words with which the host describes itself: "Open MPI v4.1.4", "MPICH
 * Version: 4.0.2". */
static void host_words(char *words, size_t len)
{
    static char all[MPI_MAX_LIBRARY_VERSION_STRING > 8192 ? MPI_MAX_LIBRARY_VERSION_STRING : 8192];
    int n;

    if (PMPI_Get_library_version(all, &n) != MPI_SUCCESS)
        all[0] = '\0';
    all[strcspn(all, "\n,")] = '\0';
    for (char *tab = all; (tab = strchr(tab, '\t')) != NULL;)
        *tab = ' ';
    snprintf(words, len, "%s", all);
}

/* tell_of_use cannot name paths to targets: they are decided for each window, whose info tells
 * them. */
static void tell_of_use(const struct log *log, const struct conf *conf)
{
    char host[128], path[32];

    host_words(host, sizeof host);
    if (conf->path == CONF_PATH_AUTO)
        log_msg(log, LOG_LEVEL_INFO,
                "libmpi-rma " PACKAGE_VERSION " is in use, on %s; paths: mapped, cma and "
                "shm-packets within a node, net-packets between nodes",
                host);
    else
        log_msg(log, LOG_LEVEL_INFO,
                "libmpi-rma " PACKAGE_VERSION " is in use, on %s; path: %s (MPIRMA_PATH)", host,
                conf_value(conf, "MPIRMA_PATH", path, sizeof path));
}

static void tell_of_unknown(const struct log *log, const struct conf_unknown *unknown,
                            const char *is_set)
{
    log_msg(log, LOG_LEVEL_WARN, "%.*s %s%s%s", (int)unknown->len, unknown->name, is_set,
            unknown->near ? "; the nearest is " : "", unknown->near ? unknown->near : "");
}

/* tell_of_names tells of names that no setting has, and of old names of tuning parameters. */
static void tell_of_names(const struct log *log)
{
    const char *tune = getenv("MPIRMA_TUNE");
    struct conf_unknown unknown;
    char names[512], value[1024];

    for (char **setting = environ; setting != NULL && *setting != NULL; setting++)
        if (conf_unknown_variable(*setting, &unknown))
            tell_of_unknown(log, &unknown, "is set, but this library has no such variable");
    while (tune != NULL && conf_unknown_next(&tune, &unknown))
        tell_of_unknown(log, &unknown,
                        "stands in MPIRMA_TUNE, but this library has no such tuning parameter");
    if (conf_old_names(getenv, names, sizeof names, value, sizeof value) > 0)
        log_msg(log, LOG_LEVEL_WARN,
                "the next release will not know these old variables: %s; set MPIRMA_TUNE=%s "
                "instead",
                names, value);
}

void environment_tell(const struct log *log, bool first)
{
    static _Atomic bool looked; /* a second thread writes nothing, so no order is needed */
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
    if (out.level >= LOG_LEVEL_INFO && !conf.disable)
        tell_of_use(&out, &conf);
    tell_of_names(&out);
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
            found = same_file(name, self.dli_fname) || strstr(name, "/libmpi-rma-malloc.so");
    free(names);
    return found;
}
