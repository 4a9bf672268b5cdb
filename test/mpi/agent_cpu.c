/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_cpu.c CPU HOW - with MPIRMA_AGENT_CPU=CPU the agent thread of each process runs on that
 * processor alone, and the program's thread where it did before: HOW is "bound". With a processor
 * that the machine does not have nothing is bound: HOW is "refused". Either way the agent serves a
 * target that does not call MPI. Run by agent_cpu.sh, which chooses the processor.
 */
#include "mtest.h"

#include <dirent.h>
#include <unistd.h>

enum { CALM_US = 20000 };

/* The processors on which a task of this process may run, as the kernel writes them. */
static void allowed(const char *task, char *list, size_t len)
{
    char name[300], line[4096];

    snprintf(name, sizeof name, "/proc/self/task/%s/status", task);
    list[0] = '\0';
    FILE *file = fopen(name, "r");
    if (file == NULL)
        return; /* it has ended */
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "Cpus_allowed_list:", 18) == 0) {
            snprintf(list, len, "%s", line + 18 + strspn(line + 18, " \t"));
            list[strcspn(list, "\n")] = '\0';
        }
    }
    fclose(file);
}

/* Threads beside this one that may run on cpu alone. */
static int bound_to(const char *cpu)
{
    char own[32], list[4096];
    int n = 0;

    snprintf(own, sizeof own, "%d", (int)getpid());
    DIR *tasks = opendir("/proc/self/task");
    if (!CHECK(tasks != NULL, "no /proc/self/task"))
        return 0;
    for (const struct dirent *task; (task = readdir(tasks)) != NULL;) {
        if (task->d_name[0] == '.' || strcmp(task->d_name, own) == 0)
            continue;
        allowed(task->d_name, list, sizeof list);
        n += strcmp(list, cpu) == 0;
    }
    closedir(tasks);
    return n;
}

/* The last rank puts into a rank that computes until it sees the word. */
static void put_to_who_computes(const struct mt_win *w)
{
    const int64_t word = 1234;
    const double began = MPI_Wtime();

    if (mt_rank == mt_size - 1) {
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
        MT_OK(MPI_Put(&word, 1, MPI_INT64_T, 0, mt_disp(w, 0, 0), 1, MPI_INT64_T, w->win));
        MT_OK(MPI_Win_unlock(0, w->win));
    } else if (mt_rank == 0) {
        while (*(volatile int64_t *)w->base != word && MPI_Wtime() - began < 20)
            usleep(CALM_US);
        CHECK(*(volatile int64_t *)w->base == word, "nobody has served the target");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    char own[32], before[4096], after[4096];
    struct mt_win w;

    MT_INIT(argc, argv);
    const char *cpu = argc > 1 ? argv[1] : "", *how = argc > 2 ? argv[2] : "";
    snprintf(own, sizeof own, "%d", (int)getpid());
    allowed(own, before, sizeof before);
    const int others = bound_to(cpu); /* the host's own */

    mt_section("a window");
    if (mt_win_make(&w, MT_CREATE_MALLOC, sizeof(int64_t), 1, MPI_COMM_WORLD)) {
        put_to_who_computes(&w);
        const int bound = bound_to(cpu) - others, wanted = strcmp(how, "bound") == 0;
        CHECK(bound == wanted, "%d threads are bound to processor %s", bound, cpu);
        allowed(own, after, sizeof after);
        CHECK(strcmp(before, after) == 0, "the program's thread ran on %s, now on %s", before,
              after);
        mt_win_free(&w);
    }
    return MT_FINISH();
}
