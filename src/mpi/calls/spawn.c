/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spawn.c - MPI_Comm_spawn, MPI_Comm_spawn_multiple (MPI 4.1, 11.8): the children get the library,
 * and its settings.
 *
 * A host starts children in the environment of its launcher, in which nothing is preloaded, since
 * mpi-rma-run preloads the library for each process. A window over parents and children needs the
 * library in all of them, with the same settings. So at the root, the only process whose commands
 * and arguments have a meaning, "COMMAND ARGUMENTS" becomes "env LD_PRELOAD=... MPIRMA_X=...
 * COMMAND ARGUMENTS": the hosts' info keys for an environment do not exist (MPICH) or hold 255
 * characters (Open MPI). LD_PRELOAD is handed on where it names this library, or the one that
 * shares blocks of malloc; a program that is linked with this one is trusted to start such
 * programs. LD_LIBRARY_PATH is handed on, since it may have decided which MPI library is behind
 * this one, and the children must have the same. A command that is not found here goes to the host
 * as it is, which reports it or looks elsewhere.
 *
 * No locks, nothing is kept.
 *
 * Neighbours: host.h, whose functions start the children; mpi-rma-run, which sets what is handed
 * on.
 */
#include <mpi.h>

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/process/tell_environment.h"
#include "mpi/process/state.h"

extern char **environ;

static char env[] = "env";

static bool is_handed_on(const char *variable)
{
    static const char preload[] = "LD_PRELOAD=", path[] = "LD_LIBRARY_PATH=";

    if (strncmp(variable, preload, sizeof preload - 1) == 0)
        return environment_preloads(variable + sizeof preload - 1);
    if (strncmp(variable, path, sizeof path - 1) == 0)
        return true;
    return strncmp(variable, "MPIRMA_", 7) == 0 && strchr(variable, '=') != NULL;
}

/* is_found returns whether env will find the command, too, and not take it for a variable. */
static bool is_found(const char *command)
{
    char *path = strdup(getenv("PATH") ? getenv("PATH") : ""), *rest = NULL;
    bool found = false;

    if (strchr(command, '='))
        found = false;
    else if (strchr(command, '/'))
        found = access(command, X_OK) == 0;
    else if (path)
        for (char *dir = strtok_r(path, ":", &rest); dir && !found;
             dir = strtok_r(NULL, ":", &rest)) {
            char *file;

            if (asprintf(&file, "%s/%s", dir, command) < 0)
                break;
            found = access(file, X_OK) == 0;
            free(file);
        }
    free(path);
    return found;
}

static size_t length(char *const *words)
{
    size_t n = 0;

    while (words && words[n])
        n++;
    return n;
}

/* wrapped returns the arguments of env that start the command; NULL: the command is started as it
 * is, or there is no memory. */
static char **wrapped(const char *command, char *const *argv)
{
    const size_t args = length(argv);
    size_t n = 0;
    char **all;

    if (!is_found(command) || !(all = calloc(length(environ) + args + 2, sizeof *all)))
        return NULL;
    for (char **variable = environ; *variable; variable++)
        if (is_handed_on(*variable))
            all[n++] = *variable;
    if (n == 0) {
        free(all);
        return NULL;
    }
    all[n++] = (char *)command;
    if (args)
        memcpy(all + n, argv, args * sizeof *argv);
    return all;
}

/* is_root returns whether the commands have a meaning here, and the library is in use. */
static bool is_root(int root, MPI_Comm comm)
{
    int rank = -1, inter = 0;

    return !engine_disabled() && comm != MPI_COMM_NULL &&
           PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter &&
           PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

MRMA_PUBLIC int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info,
                                int root, MPI_Comm comm, MPI_Comm *intercomm, int errcodes[])
{
    char **all = is_root(root, comm) ? wrapped(command, argv == MPI_ARGV_NULL ? NULL : argv) : NULL;
    const int rc = mpi_host.Comm_spawn(all ? env : command, all ? all : argv, maxprocs, info, root,
                                       comm, intercomm, errcodes);

    free(all);
    return rc;
}
MRMA_EXPORT_MPI(Comm_spawn);

/* What MPI_Comm_spawn_multiple starts, as the host gets it. */
struct started {
    char **commands;
    char ***argvs;
    char ***made; /* NULL: this one is started as it is */
    int count;
};

static void started_free(struct started *s)
{
    for (int i = 0; s->made && i < s->count; i++)
        free(s->made[i]);
    free(s->made);
    free(s->argvs);
    free(s->commands);
}

/* false: no memory. */
static bool started_make(struct started *s, int count, char *commands[], char **argvs[])
{
    static char *none[] = {NULL};
    const size_t n = count > 0 ? (size_t)count : 1;

    *s = (struct started){calloc(n, sizeof *s->commands), calloc(n, sizeof *s->argvs),
                          calloc(n, sizeof *s->made), count};
    if (!s->commands || !s->argvs || !s->made)
        return false;
    for (int i = 0; i < count; i++) {
        char **argv = argvs == MPI_ARGVS_NULL || argvs[i] == MPI_ARGV_NULL ? none : argvs[i];

        s->made[i] = wrapped(commands[i], argv);
        s->commands[i] = s->made[i] ? env : commands[i];
        s->argvs[i] = s->made[i] ? s->made[i] : argv;
    }
    return true;
}

MRMA_PUBLIC int PMPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[],
                                         const int maxprocs[], const MPI_Info infos[], int root,
                                         MPI_Comm comm, MPI_Comm *intercomm, int errcodes[])
{
    struct started s = {.commands = NULL};
    const bool ours = is_root(root, comm) && started_make(&s, count, commands, argvs);
    const int rc =
        mpi_host.Comm_spawn_multiple(count, ours ? s.commands : commands, ours ? s.argvs : argvs,
                                     maxprocs, infos, root, comm, intercomm, errcodes);

    started_free(&s);
    return rc;
}
MRMA_EXPORT_MPI(Comm_spawn_multiple);
