/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_carrier.c - what the host must give for a window's handle; run by win_carrier.sh.
 *
 * Argument "each": a window of every kind works, and the environment is the one that the process
 * was started with. "tool": the same where a tool has used MPI_T before MPI_Init. "behind": a tool
 * has done so behind the library's back, so that the host may lack what a handle takes: creation
 * then gives MPI_ERR_OTHER, and the script looks at the message. "many": windows are made until the
 * host has no communicator left, which is MPI_ERR_OTHER at all processes; when they are freed
 * windows can be made again.
 */
#define _GNU_SOURCE 1
#include "mtest.h"

#include <dlfcn.h>

#define SELECTION "OMPI_MCA_osc"

enum { MANY = 2500 }; /* MPICH has 2048 context ids */

static char selection[64]; /* when the process was started */

static void each(void)
{
    const char *now = getenv(SELECTION);

    CHECK(strcmp(now != NULL ? now : "", selection) == 0, SELECTION " was \"%s\", now \"%s\"",
          selection, now != NULL ? now : "");
    MT_FOR_KINDS(kind)
    {
        struct mt_win w;
        mt_section("%s", mt_kind_name(kind));
        if (mt_win_make(&w, kind, 64, 1, MPI_COMM_WORLD)) {
            CHECK_PUT_WORKS(w.win, 0, mt_disp(&w, 0, 4 * w.rank), 17);
            mt_win_free(&w);
        }
    }
}

static void behind(void)
{
    MPI_Win win = MPI_WIN_NULL;
    void *base;

    mt_section("no carrier");
    CHECK_ERR(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_OTHER);
}

static void many(void)
{
    static MPI_Win wins[MANY];
    void *base;
    int n = 0, err = MPI_SUCCESS;

    mt_section("windows without end");
    while (n < MANY && err == MPI_SUCCESS) {
        err = MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &wins[n]);
        n += err == MPI_SUCCESS;
    }
    printf("%d windows\n", n);
    CHECK(n >= 1000, "only %d windows", n);
    if (err != MPI_SUCCESS)
        CHECK_ERR(err, MPI_ERR_OTHER);
    while (n > 0)
        MT_OK(MPI_Win_free(&wins[--n]));
    mt_section("after they are freed");
    if (MT_OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &wins[0])))
        MT_OK(MPI_Win_free(&wins[0]));
}

/* MPI_T_init_thread of the host, past the library's: Open MPI then settles on its components. */
static void host_tool_init(void)
{
    int (*init)(int, int *) = NULL;
    void *host = NULL;
    Dl_info info;
    int provided;

    if (dladdr(dlsym(RTLD_DEFAULT, "PMPI_Comm_rank"), &info) != 0)
        host = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (host != NULL)
        *(void **)&init = dlsym(host, "PMPI_T_init_thread");
    if (init == NULL || init(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) {
        printf("the host's MPI_T_init_thread was not found\n");
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "each";
    int provided;

    snprintf(selection, sizeof selection, "%s", getenv(SELECTION) != NULL ? getenv(SELECTION) : "");
    if (strcmp(what, "tool") == 0)
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (strcmp(what, "behind") == 0)
        host_tool_init();
    MT_INIT(argc, argv);
    if (strcmp(what, "behind") == 0)
        behind();
    else if (strcmp(what, "many") == 0)
        many();
    else
        each();
    if (strcmp(what, "tool") == 0 || strcmp(what, "behind") == 0)
        MPI_T_finalize();
    return MT_FINISH();
}
