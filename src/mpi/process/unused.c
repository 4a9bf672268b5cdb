/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unused.c - tells at the end of a process that its MPI calls did not come through this library.
 *
 * A program that looks up MPI functions in the handle of its own dlopen can miss the preloaded
 * library, and its MPI_Finalize with it, so that only the end of the process is left to report
 * this. It is reported where somebody expects the library to be in use: where it is preloaded, or
 * where its statistics or a trace are asked for. The process that the launcher calls rank 0 reports
 * it for the job, since MPI is finalized by then and cannot be asked for a rank.
 *
 * State: the process that has loaded the library, written before there are other threads. A child
 * of it that ends by exit says nothing. Neighbours: host_check.c, which knows whether a call came;
 * objects.c, which finds the MPI library.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/log.h"
#include "mpi/host/host_check.h"
#include "mpi/host/objects.h"
#include "mpi/process/tell_environment.h"

static pid_t loaded_by;

__attribute__((constructor)) static void remember_process(void)
{
    loaded_by = getpid();
}

static bool is_expected_in_use(const struct conf *conf)
{
    const char *preload = getenv("LD_PRELOAD");

    return !conf->disable &&
           (*conf->stats || *conf->trace || (preload != NULL && environment_preloads(preload)));
}

/* is_first_of_job returns true also for a process that no launcher has numbered: it is alone. */
static bool is_first_of_job(void)
{
    static const char *const ranks[] = {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const char *rank = getenv(ranks[i]);

        if (rank != NULL)
            return strcmp(rank, "0") == 0;
    }
    return true;
}

typedef int get_flag(int *flag);

/* MPI_Initialized may be called at any time, also when MPI has been finalized. */
static bool look_at(void *object, void *arg)
{
    bool *initialised = arg;
    const char *file;
    int flag = 0;
    void *found;

    if (object_interface(object, &file) == NULL)
        return true;
    found = dlsym(object, "PMPI_Initialized");
    if (found != NULL)
        (void)(*(get_flag **)&found)(&flag);
    *initialised = flag != 0;
    return !*initialised;
}

__attribute__((destructor)) static void tell_if_unused(void)
{
    bool initialised = false;
    struct conf conf;
    struct log log;
    char msg[256];

    if (host_was_checked() || getpid() != loaded_by || !is_first_of_job() ||
        conf_load(&conf, getenv, msg, sizeof msg) != MRMA_SUCCESS || !is_expected_in_use(&conf))
        return;
    objects_visit(look_at, &initialised);
    if (!initialised)
        return;
    log_init(&log, conf.log_level, STDERR_FILENO, "libmpi-rma");
    log_msg(&log, LOG_LEVEL_WARN,
            "no window of this job was made through libmpi-rma: the program uses MPI, but none of "
            "its calls came through the library (see \"Programs that load MPI themselves\" in "
            "doc/profilers.md)");
}
