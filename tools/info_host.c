/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_host.c - the MPI library that this program has met, as one started in the same way would.
 *
 * One build serves all MPI libraries with the standard ABI, or all releases of one, so what there
 * is shows only here. Most of it can be asked before MPI is initialised. What cannot is tried by a
 * child where a launcher has started this program: there the child is a process of the job, and a
 * host that ends it ends it alone.
 *
 * Neighbours: host_kind.c, carrier.c and dtype_dialect.c, by which the library finds out the same.
 */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "dtype/dtype_dialect.h"
#include "info_items.h"
#include "mpi/host/carrier.h"
#include "mpi/host/host.h"
#include "mpi/host/host_kind.h"

static const char section[] = "mpi_library";

enum { PATIENCE = 30 }; /* seconds for what takes less than one */

/* What carrier.c takes of the library's table. */
struct mpi_host mpi_host = {.Win_allocate_shared = PMPI_Win_allocate_shared};

/* The functions that the library takes from a host, or gives in its place, and that came with a
 * version of the standard. */
static const struct {
    const char *key;
    const char *names; /* with blanks between them */
} versions[] = {
    {"lacks_of_mpi_4_0",
     "Put_c Get_c Accumulate_c Get_accumulate_c Rput_c Rget_c Raccumulate_c Rget_accumulate_c "
     "Win_create_c Win_allocate_c Win_allocate_shared_c Win_shared_query_c Type_get_envelope_c "
     "Type_get_contents_c Session_init Session_finalize Group_from_session_pset "
     "Comm_create_from_group"},
    {"lacks_of_mpi_4_1", "Request_get_status_any Request_get_status_all Request_get_status_some "
                         "Type_get_value_index Get_hw_resource_info"},
    {"lacks_of_mpi_5_0", "Abi_get_version Abi_get_info Win_toint Win_fromint"},
};

static bool has_function(const char *name, size_t len)
{
    char symbol[64];

    snprintf(symbol, sizeof symbol, "PMPI_%.*s", (int)len, name);
    return dlsym(RTLD_DEFAULT, symbol) != NULL;
}

static void report_missing(struct report *report)
{
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        char missing[400] = "";
        size_t used = 0;
        unsigned n = 0;
        for (const char *name = versions[i].names, *next; *name != '\0'; name = next) {
            const size_t len = strcspn(name, " ");
            next = name + len + strspn(name + len, " ");
            if (has_function(name, len))
                continue;
            n++;
            if (used < sizeof missing)
                used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%.*s",
                                         used > 0 ? " " : "", (int)len, name);
        }
        struct item *item = item_number(report, section, versions[i].key, ITEM_COUNT, n);
        if (n > 0)
            item_note(item, "a call that needs one of these is an error: %s", missing);
    }
}

/* The file that the functions come from, and the library's own words for itself. */
static void report_library(struct report *report)
{
    static char
        words[MPI_MAX_LIBRARY_VERSION_STRING > 8192 ? MPI_MAX_LIBRARY_VERSION_STRING : 8192] = "";
    int (*get)(char *, int *) = NULL;
    Dl_info info;
    int len, version = 0, subversion = 0;

    *(void **)&get = dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
    if (get == NULL || dladdr(*(void **)&get, &info) == 0) {
        item_note(item_text(report, section, "library", "none"), "no MPI library was found");
        return;
    }
    item_text(report, section, "library", info.dli_fname);
    if (get(words, &len) == MPI_SUCCESS) {
        words[strcspn(words, "\n")] = '\0';
        for (char *tab = words; (tab = strchr(tab, '\t')) != NULL;)
            *tab = ' ';
        item_text(report, section, "version", words);
    }
    if (PMPI_Get_version(&version, &subversion) == MPI_SUCCESS) {
        char standard[32];
        snprintf(standard, sizeof standard, "%d.%d", version, subversion);
        item_note(item_text(report, section, "standard", standard),
                  "the version of MPI that it says it has");
    }
}

static void report_kind(struct report *report)
{
#define SERVES "a target in any blocking call of the host serves one-sided operations"
    static const struct {
        const char *by, *note;
    } joined[] = {
        [HOST_JOIN_NOT] = {"nothing", "it lets nobody in by a way that is known: packets for a "
                                      "process in a call of the host wait for the agent thread"},
        [HOST_JOIN_BY_OPAL] = {"opal_progress_register", SERVES},
        [HOST_JOIN_BY_ASYNC] = {"MPIX_Async_start", SERVES},
        [HOST_JOIN_BY_UCX] = {"ucp_worker_progress",
                              SERVES ", if the library comes before UCX in the process"},
    };
#undef SERVES
    const enum host_join joins = host_joins();
    const bool yields = host_yields();

    item_note(item_text(report, section, "progress_joined", joined[joins].by), "%s",
              joined[joins].note);
    item_note(item_number(report, section, "yields", ITEM_BOOL, yields), "%s",
              yields
                  ? "its blocking calls give the processor away where its launcher has seen more "
                    "processes than processors"
                  : "its blocking calls spin");
}

/* ---- what only an initialised host tells ---- */

struct trial {
    int carrier;        /* MRMA_SUCCESS, or an error with its text in why */
    int constants;      /* likewise, without a text */
    bool own_constants; /* those of array types have other values than in mpi.h */
    char why[400];
};

static void try_host(struct trial *trial)
{
    struct dtype_dialect dialect;
    MPI_Win carrier;

    carrier_before_init();
    PMPI_Init(NULL, NULL);
    carrier_after_init();
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    trial->carrier = carrier_make(MPI_COMM_SELF, &carrier, trial->why, sizeof trial->why);
    if (trial->carrier == MRMA_SUCCESS)
        PMPI_Win_free(&carrier);
    trial->constants = dtype_dialect_learn(&dialect);
    trial->own_constants =
        trial->constants == MRMA_SUCCESS &&
        (dialect.order_c != MPI_ORDER_C || dialect.order_fortran != MPI_ORDER_FORTRAN ||
         dialect.block != MPI_DISTRIBUTE_BLOCK || dialect.cyclic != MPI_DISTRIBUTE_CYCLIC ||
         dialect.none != MPI_DISTRIBUTE_NONE || dialect.dflt_darg != MPI_DISTRIBUTE_DFLT_DARG);
}

/* The child says what it has found before MPI_Finalize, in which a host may fail too. A host that
 * does not go on is ended by the alarm. */
static _Noreturn void child(int out)
{
    struct trial trial = {.why = ""};

    alarm(PATIENCE);
    try_host(&trial);
    const bool said = write(out, &trial, sizeof trial) == (ssize_t)sizeof trial;
    close(out);
    PMPI_Finalize();
    _exit(said ? 0 : 1);
}

/* Has a launcher started this program? A process manager's variables say so. */
static bool is_launched(void)
{
    static const char *const marks[] = {"PMI_RANK", "PMI_FD", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (getenv(marks[i]) != NULL)
            return true;
    return false;
}

/* Runs the child. Returns whether it has said anything. */
static bool run_trial(struct trial *trial)
{
    int ends[2];

    if (pipe(ends) != 0)
        return false;
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(ends[1]);
    }
    close(ends[1]);
    const bool said = pid > 0 && read(ends[0], trial, sizeof *trial) == (ssize_t)sizeof *trial;
    close(ends[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return said;
}

static void report_trial(struct report *report, bool try_it)
{
    struct trial trial;

    if (!try_it)
        return;
    if (!is_launched()) {
        item_note(item_text(report, section, "carrier", "not tried"),
                  "start this program by the launcher of the MPI library: mpiexec -n 1 "
                  "mpi-rma-info");
        return;
    }
    if (!run_trial(&trial)) {
        item_note(item_text(report, section, "carrier", "not tried"),
                  "ERROR: MPI_Init, or what followed it, did not come to an end in a child");
        return;
    }
    item_note(
        item_number(report, section, "carrier", ITEM_BOOL, trial.carrier == MRMA_SUCCESS), "%s",
        trial.carrier != MRMA_SUCCESS ? trial.why
        : host_is_openmpi() ? "the window behind every window's handle is one of component osc/sm"
                            : "the window behind every window's handle takes one communicator");
    item_note(item_text(report, section, "array_constants",
                        trial.constants != MRMA_SUCCESS ? "unknown"
                        : trial.own_constants           ? "its own"
                                                        : "those of mpi.h"),
              "%s",
              trial.own_constants
                  ? "MPI_Type_get_contents gives MPI_ORDER_C and its like with "
                    "other values, which are translated"
                  : "MPI_Type_get_contents gives MPI_ORDER_C and its like as they are");
}

void report_host(struct report *report, bool try_it)
{
    report_library(report);
    report_missing(report);
    report_kind(report);
    report_trial(report, try_it);
}
