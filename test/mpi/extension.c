/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * extension.c - the functions of mpi-rma.h: the version, and which path serves a target.
 */
#include "mtest.h"

#include <mpi-rma.h>

static void version(void)
{
    int major = -1, minor = -1, patch = -1;

    mt_section("MPIRMA_Get_version");
    MT_OK(MPIRMA_Get_version(&major, &minor, &patch));
    CHECK(major == MPIRMA_VERSION_MAJOR && minor == MPIRMA_VERSION_MINOR &&
              patch == MPIRMA_VERSION_PATCH,
          "%d.%d.%d, the header says %s", major, minor, patch, MPIRMA_VERSION);
    MT_OK(MPIRMA_Get_version(NULL, NULL, NULL));
}

/* What a forced path makes of a target; "" where more than one is right. */
static const char *expected_path(const struct mt_win *w, int target)
{
    const char *per_node = getenv("MPIRMA_RANKS_PER_NODE");

    if (per_node != NULL && target / atoi(per_node) != w->rank / atoi(per_node))
        return mt_path_is("shm-packets") ? "shm-packets" : "net-packets";
    if (target == w->rank || mt_path_is("mapped"))
        return "mapped";
    if (mt_path_is("shm-packets"))
        return "shm-packets";
    if (mt_path_is("net-packets"))
        return "net-packets";
    if (mt_path_is("auto") && (w->kind == MT_ALLOCATE || w->kind == MT_ALLOCATE_SHARED))
        return "mapped";
    return "";
}

static void paths(enum mt_kind kind)
{
    char name[MPIRMA_MAX_PATH_NAME];
    struct mt_win w;

    mt_section("MPIRMA_Win_path, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 64, 1, MPI_COMM_WORLD))
        return;
    for (int t = 0; t < w.size; t++) {
        const char *expected = expected_path(&w, t);
        strcpy(name, "?");
        MT_OK(MPIRMA_Win_path(w.win, t, name, sizeof name));
        CHECK(*expected == '\0' ? strcmp(name, "?") != 0 : strcmp(name, expected) == 0,
              "target %d: \"%s\", expected %s", t, name, expected);
    }
    CHECK_ERR(MPIRMA_Win_path(w.win, w.size, name, sizeof name), MPI_ERR_RANK);
    CHECK_ERR(MPIRMA_Win_path(w.win, -5, name, sizeof name), MPI_ERR_RANK);
    strcpy(name, "?");
    CHECK_ERR(MPIRMA_Win_path(w.win, w.rank, name, (int)strlen("mapped")), MPI_ERR_ARG);
    CHECK_ERR(MPIRMA_Win_path(w.win, w.rank, NULL, 0), MPI_ERR_ARG);
    CHECK(strcmp(name, "?") == 0, "a buffer that is too short was written: %s", name);
    mt_win_free(&w);
}

int main(int argc, char **argv)
{
    char name[MPIRMA_MAX_PATH_NAME];

    MT_INIT(argc, argv);
    version();
    MT_FOR_KINDS(kind)
    paths(kind);
    CHECK_ERR(MPIRMA_Win_path(MPI_WIN_NULL, 0, name, sizeof name), MPI_ERR_WIN);
    return MT_FINISH();
}
