/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_findings.c - what mpi-rma-trace finds besides late calls, one cause at a time, for
 * trace_waits.sh: trace_findings WHAT MS. MS is how many milliseconds the cause lasts where it is a
 * delay, and 0 leaves the cause out. Three processes; rank 1 is the target. A line
 * "expected PATTERN US" says how long a wait is that the program has measured itself.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TARGET = 1, SIZE = 8 << 20, RUN = 200, FLOOD = 20000, BYTES = 512 };

static int rank;
static double ms;
static MPI_Win win;
static char buffer[SIZE];

static double now(void) /* us, the same for all processes of the machine */
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void start_together(void)
{
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* One accumulate into the target's memory, from begin to end. */
static void sum_all(double time[2])
{
    time[0] = now();
    MPI_Accumulate(buffer, SIZE / 8, MPI_DOUBLE, TARGET, 0, SIZE / 8, MPI_DOUBLE, MPI_SUM, win);
    time[1] = now();
    MPI_Win_flush(TARGET, win);
}

/* How long this process has waited for its peer's accumulate, in us: who ends last has waited from
 * its begin until the peer's end. 0 where the two did not meet. */
static double waited(const double mine[2], const double peers[2])
{
    return peers[1] < mine[1] && peers[1] > mine[0] ? peers[1] - mine[0] : 0;
}

/* Ranks 0 and 2 sum up into the same memory at the same time, again and again until they have met:
 * where there are fewer processors than processes the scheduler may let them run one after the
 * other. The target sleeps meanwhile, and leaves them its processor. */
static void meet_in_accumulates(void)
{
    enum { TURNS = 200, ENOUGH = 1000 };
    const int peer = 2 - rank;
    double mine[2], peers[2], sum[2] = {0, 0};

    for (int turn = 0; turn < TURNS && sum[0] + sum[1] < ENOUGH; turn++) {
        MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, 0, NULL, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        sum_all(mine);
        MPI_Sendrecv(mine, 2, MPI_DOUBLE, peer, 0, peers, 2, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        sum[0] += waited(mine, peers);
        sum[1] += waited(peers, mine);
    }
    if (rank == 0)
        printf("expected serialized_accumulates %.0f\n", sum[0] + sum[1]);
}

static void sleep_until_told(void)
{
    for (int told = 0; !told; usleep(1000))
        MPI_Iprobe(0, 0, MPI_COMM_WORLD, &told, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Ranks 0 and 2 sum up into the same memory: at the same time, or one after the other. */
static void accumulates(void)
{
    double time[2];

    MPI_Win_lock_all(0, win);
    if (ms > 0) {
        if (rank == TARGET)
            sleep_until_told();
        else
            meet_in_accumulates();
        if (rank == 0)
            MPI_Send(NULL, 0, MPI_BYTE, TARGET, 0, MPI_COMM_WORLD);
    } else {
        for (int turn = 0; turn < 3; turn += 2) {
            start_together();
            if (rank == turn)
                sum_all(time);
        }
    }
    MPI_Win_unlock_all(win);
}

/* Many puts of which one could do the work, or that one. */
static void small_operations(void)
{
    const int n = ms > 0 ? RUN : 1, bytes = 8 * RUN / n;

    if (rank != 0)
        return;
    MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
    for (int i = 0; i < n; i++)
        MPI_Put(buffer, bytes, MPI_BYTE, TARGET, i * bytes, bytes, MPI_BYTE, win);
    MPI_Win_unlock(TARGET, win);
}

/* Fences of three processes of which two or all have something for each other. */
static void pairs(void)
{
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int peer = 0; peer < 3; peer++)
        if (peer != rank && (ms == 0 || rank + peer == 1))
            MPI_Put(buffer, 8, MPI_BYTE, peer, 16 * rank, 8, MPI_BYTE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

/* Without waiting for a grant. */
static void sum_up(int n)
{
    MPI_Win_lock(MPI_LOCK_SHARED, TARGET, MPI_MODE_NOCHECK, win);
    for (int i = 0; i < n; i++)
        MPI_Accumulate(buffer, BYTES / 4, MPI_INT, TARGET, 0, BYTES / 4, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(TARGET, win);
}

/* The target's process, its agent too, is stopped for the delay while rank 0 sends it so many
 * operations, which is a wait of that name: rank 2 stops it and lets it go on. By the one before,
 * the agent learns that the process is in no call of the host any more. */
static void to_stopped_target(int n, const char *wait)
{
    int pid = (int)getpid(), go = 0;

    MPI_Bcast(&pid, 1, MPI_INT, TARGET, MPI_COMM_WORLD);
    start_together();
    if (rank == 0) {
        usleep(50000);
        sum_up(1);
        MPI_Recv(&go, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum_up(n);
    } else if (rank == 2) {
        usleep(100000); /* until the target and its agent sleep */
        if (ms > 0)
            kill(pid, SIGSTOP);
        usleep(10000); /* until all its threads have stopped */
        MPI_Send(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        double begin = now();
        usleep((useconds_t)(ms * 1000));
        kill(pid, SIGCONT);
        printf("expected %s %.0f\n", wait, now() - begin);
    } else {
        usleep(350000);
    }
}

static void agent_wakeup(void)
{
    to_stopped_target(1, "agent_wakeups");
}

static void credit(void)
{
    to_stopped_target(ms > 0 ? FLOOD : 1, "credit_stalls");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*cause)(void);
    } causes[] = {{"accumulates", accumulates},
                  {"small", small_operations},
                  {"pairs", pairs},
                  {"wakeup", agent_wakeup},
                  {"credit", credit}};
    int size, done = 0;
    char *memory;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3 || size != 3) {
        fprintf(stderr, "usage: trace_findings WHAT... MS, of three processes\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    ms = atof(argv[argc - 1]);
    for (int i = 1; i < argc - 1; i++)
        for (unsigned k = 0; k < sizeof causes / sizeof *causes; k++) {
            if (strcmp(argv[i], causes[k].name) != 0)
                continue;
            MPI_Win_allocate(SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
            memset(memory, 0, SIZE);
            start_together();
            causes[k].cause();
            start_together();
            MPI_Win_free(&win);
            done++;
        }
    if (done != argc - 2) {
        fprintf(stderr, "trace_findings: an unknown cause\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Finalize();
    return 0;
}
