/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm_attributes.c - the user's attributes of a communicator stay where they are (MPI 4.1, 7.7.1):
 * MPI_Comm_dup and its like alone copy them. No creation of a window, and no split by type, calls
 * the user's copy and delete call-backs, and a copy call-back that refuses does not make it fail. A
 * duplicate of the user's has its attributes as ever.
 */
#include "mtest.h"

static int copies, deletes, refused;

static int on_copy(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)keyval;
    copies++;
    *(void **)copy = value;
    *flag = 1;
    return *(const int *)extra ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static int memory[4];

static int make(int kind, MPI_Comm comm, MPI_Win *win)
{
    void *base;

    switch (kind) {
    case 0:
        return MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, comm, win);
    case 1:
        return MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &base, win);
    case 2:
        return MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, comm, &base, win);
    default:
        return MPI_Win_create_dynamic(MPI_INFO_NULL, comm, win);
    }
}

enum { KINDS = 4, SHARED = 2 };

/* A communicator on which there has been no window, with the attribute. */
static MPI_Comm fresh(int keyval)
{
    MPI_Comm comm;

    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, mt_rank, &comm));
    mt_errors_return(comm);
    MT_OK(MPI_Comm_set_attr(comm, keyval, memory));
    copies = deletes = 0;
    return comm;
}

/* The attribute has stayed, nobody has been called. */
static void unseen(MPI_Comm comm, int keyval)
{
    void *value = NULL;
    int found = 0;

    CHECK(copies == 0 && deletes == 0, "%d copies and %d deletes of the attribute", copies,
          deletes);
    MT_OK(MPI_Comm_get_attr(comm, keyval, &value, &found));
    CHECK(found && value == memory, "the attribute has gone");
}

static void windows(int keyval, bool several)
{
    MPI_Win win;

    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Comm comm = fresh(keyval);

        mt_section("%s copy call-back, creation %d", refused ? "a refusing" : "a", kind);
        if (several && kind == SHARED) {
            mt_skip("shared windows are not available over several nodes");
        } else if (MT_OK(make(kind, comm, &win))) {
            MT_OK(MPI_Win_free(&win));
            unseen(comm, keyval);
        }
        MT_OK(MPI_Comm_free(&comm));
        CHECK(deletes == 1, "%d deletes where one was due", deletes);
    }
}

static void splits(int keyval)
{
    MPI_Comm comm = fresh(keyval), node;

    mt_section("%s copy call-back, split by type", refused ? "a refusing" : "a");
    if (MT_OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node)))
        MT_OK(MPI_Comm_free(&node));
    unseen(comm, keyval);
    MT_OK(MPI_Comm_free(&comm));
}

/* The user's own duplicate, before and behind a window. */
static void duplicates(int keyval)
{
    MPI_Comm comm = fresh(keyval), copy;
    MPI_Win win;

    for (int i = 1; i <= 2; i++) {
        mt_section("duplicate %d", i);
        MT_OK(MPI_Comm_dup(comm, &copy));
        CHECK(copies == i, "%d copies, expected %d", copies, i);
        if (MT_OK(make(1, copy, &win)))
            MT_OK(MPI_Win_free(&win));
        CHECK(copies == i, "%d copies, expected %d", copies, i);
        MT_OK(MPI_Comm_free(&copy));
        CHECK(deletes == i, "%d deletes, expected %d", deletes, i);
        if (MT_OK(make(1, comm, &win)))
            MT_OK(MPI_Win_free(&win));
    }
    MT_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    int keyval;

    MT_INIT(argc, argv);
    const bool several = mt_several_nodes(MPI_COMM_WORLD);
    MT_OK(MPI_Comm_create_keyval(on_copy, on_delete, &keyval, &refused));
    for (refused = 0; refused <= 1; refused++) {
        windows(keyval, several);
        splits(keyval);
    }
    refused = 0;
    duplicates(keyval);
    MT_OK(MPI_Comm_free_keyval(&keyval));
    return MT_FINISH();
}
