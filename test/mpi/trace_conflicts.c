/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_conflicts.c - small right and wrong programs, for trace_conflicts.sh: mpi-rma-trace is to
 * find conflicting accesses in the wrong ones and none in the right ones. Each is a function of
 * trace_conflicts_epochs.c or of one of its neighbours. Process 0 writes which there are.
 * trace_conflicts N: only the first N of each file.
 */
#include "trace_conflicts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

int case_rank;
int *case_memory;
MPI_Win case_win;
const char *case_name;

void case_make(const char *key, const char *value)
{
    MPI_Info info;

    MPI_Info_create(&info);
    if (key)
        MPI_Info_set(info, key, value);
    MPI_Win_allocate(INTS * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &case_memory,
                     &case_win);
    MPI_Win_set_name(case_win, case_name);
    MPI_Info_free(&info);
    for (int i = 0; i < INTS; i++)
        case_memory[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
}

MPI_Win case_over(void *base, int ints)
{
    MPI_Win made;

    MPI_Win_create(base, (MPI_Aint)(ints * sizeof(int)), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &made);
    MPI_Win_set_name(made, case_name);
    return made;
}

void case_drop(void)
{
    MPI_Win_free(&case_win);
}

void case_send_to(int other)
{
    MPI_Send(&case_rank, 1, MPI_INT, other, TAG, MPI_COMM_WORLD);
}

void case_receive_from(int other)
{
    int value;

    MPI_Recv(&value, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void group_of(int first, int second, MPI_Group *group)
{
    const int member[] = {first, second};
    MPI_Group world;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, second < 0 ? 1 : 2, member, group);
    MPI_Group_free(&world);
}

void case_start(int target)
{
    MPI_Group group;

    group_of(target, -1, &group);
    MPI_Win_start(group, 0, case_win);
    MPI_Group_free(&group);
}

void case_post(int first, int second)
{
    MPI_Group group;

    group_of(first, second, &group);
    MPI_Win_post(group, 0, case_win);
    MPI_Group_free(&group);
}

int main(int argc, char **argv)
{
    const struct conflict_case *const all[] = {epoch_cases, order_cases, memory_cases,
                                               message_cases};
    const int n = argc > 1 ? atoi(argv[1]) : INT_MAX;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &case_rank);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int i = 0; i < n && all[k][i].name; i++) {
            case_name = all[k][i].name;
            if (case_rank == 0)
                printf("%s %s\n", all[k][i].how, case_name);
            all[k][i].run();
        }
    MPI_Finalize();
    return 0;
}
