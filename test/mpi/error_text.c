/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_text.c - makes mistakes and prints what MPI_Error_string says of each; run by
 * error_text.sh.
 *
 * Two processes. Arguments: the names of the mistakes to make, all by default. Rank 1 prints a line
 * for each: name, a tab, the text with " | " for each end of a line. A text that has all the room
 * that MPI gives ends with "...". The mistakes are in error_text_ops.c, error_text_epochs.c and
 * error_text_windows.c.
 */
#include "error_text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rank;
MPI_Win win, dynamic, alone;
MPI_Group all, none, self;
MPI_Datatype raw, pair, vector, mixed;
MPI_Op mine;
MPI_Request req;
int x[64], y[64], z[64];
double d[8];

static void sum_ints(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

void error_text_returns(MPI_Win w)
{
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
}

static void prepare(void)
{
    const int lengths[2] = {1, 1};
    const MPI_Aint disps[2] = {0, 8};
    const MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE};
    void *base;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_SELF, &base, &alone);
    error_text_returns(win), error_text_returns(dynamic), error_text_returns(alone);
    MPI_Win_set_name(win, "halo");
    MPI_Win_attach(dynamic, x, sizeof x);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MPI_Group_incl(all, 0, NULL, &none);
    MPI_Type_contiguous(2, MPI_INT, &raw);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_vector(3, 1, 8, MPI_INT, &vector);
    MPI_Type_create_struct(2, lengths, disps, parts, &mixed);
    MPI_Type_commit(&pair), MPI_Type_commit(&vector), MPI_Type_commit(&mixed);
    MPI_Op_create(sum_ints, 1, &mine);
}

static void print(const char *name, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0, class = -1, of_class = -1;

    if (code == MPI_SUCCESS) {
        printf("%s\tno error\n", name);
        return;
    }
    MPI_Error_string(code, text, &len);
    MPI_Error_class(code, &class);
    MPI_Error_class(class, &of_class);
    printf("%s\t", name);
    for (char *at = text; *at != '\0'; at++)
        if (*at == '\n')
            fputs(" | ", stdout);
        else
            putchar(*at);
    printf("%s%s\n", len >= MPI_MAX_ERROR_STRING - 1 ? "..." : "",
           class != of_class ? " (and its class is none)" : "");
}

static int asked(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 2;
}

static void make_all(const struct mistake *m, int argc, char **argv)
{
    for (; m->name != NULL; m++) {
        if (!asked(argc, argv, m->name))
            continue;
        MPI_Barrier(MPI_COMM_WORLD);
        const int code = m->make();
        if (rank == 1)
            print(m->name, code);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(60);
    prepare();
    make_all(mistakes_of_operations, argc, argv);
    make_all(mistakes_of_epochs, argc, argv);
    make_all(mistakes_of_windows, argc, argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(dynamic, x);
    MPI_Win_free(&win);
    MPI_Win_free(&dynamic);
    MPI_Win_free(&alone);
    MPI_Finalize();
    return 0;
}
