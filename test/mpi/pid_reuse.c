/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pid_reuse.c - rank 1 has died, and another process has got its number, and memory where rank 1's
 * window was. What rank 0 then puts is an error, and that memory is not touched. Run by
 * pid_reuse.sh, in a PID namespace of its own, in which rank 0 may choose the next number.
 */
#include "mtest.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 65536, TRIES = 50, SKIPPED = 77 };

static char *const place =
    (char *)0x510000000000; /* of rank 1's window memory, and the stranger's */

static char *map_there(void)
{
    char *at = mmap(place, BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    return at == place ? at : NULL;
}

/* Until a byte comes from go; then it says whether all of its memory is zero. */
static void be_stranger(int ready, int go)
{
    char byte = map_there() != NULL;
    int touched = write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1;

    for (int i = 0; i < BYTES; i++) {
        touched |= place[i] != 0;
    }
    _exit(touched);
}

static pid_t take_number(int number, int ready, int go)
{
    for (int i = 0; i < TRIES; i++) {
        FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");

        if (last == NULL || fprintf(last, "%d", number - 1) < 0 || fclose(last) != 0) {
            return -1;
        }
        const pid_t child = fork();
        if (child == 0 && getpid() == number) {
            be_stranger(ready, go);
        } else if (child == 0) {
            _exit(0);
        }
        if (child == number) {
            return child;
        }
        waitpid(child, NULL, 0);
        usleep(10000);
    }
    return -1;
}

static int put_to_the_dead(MPI_Win win, int number)
{
    int ready[2], go[2], status = 0, rc = MPI_SUCCESS;
    static char sent[BYTES];
    char byte = 0;

    memset(sent, 1, sizeof sent);
    if (!CHECK(pipe(ready) == 0 && pipe(go) == 0, "%s", strerror(errno))) {
        return 1;
    }
    kill(number, SIGKILL);
    while (kill(number, 0) == 0) { /* its parent has not heard yet */
        usleep(10000);
    }
    const pid_t stranger = take_number(number, ready[1], go[0]);
    if (stranger < 0) {
        printf("SKIP: no process gets the number of another here\n");
        return SKIPPED;
    }
    CHECK(read(ready[0], &byte, 1) == 1 && byte == 1, "the stranger has no memory there");
    usleep(20000); /* what was known of the target is out of date */
    rc = MPI_Put(sent, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, win);
    if (rc == MPI_SUCCESS) {
        rc = MPI_Win_flush(1, win);
    }
    CHECK_ERR(rc, MPI_ERR_OTHER);
    CHECK(write(go[1], &byte, 1) == 1, "%s", strerror(errno));
    CHECK(waitpid(stranger, &status, 0) == stranger && status == 0,
          "the stranger's memory was written");
    return mt_failures() != 0;
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int number = getpid(), byte = 0;

    MT_INIT(argc, argv);
    char *base = mt_rank == 1 ? map_there() : NULL;
    CHECK(mt_rank != 1 || base != NULL, "no memory there");
    MT_OK(MPI_Win_create(base, mt_rank == 1 ? BYTES : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MT_OK(MPI_Bcast(&number, 1, MPI_INT, 1, MPI_COMM_WORLD));
    if (mt_rank != 0) {
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        for (;;) {
            pause();
        }
    }
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
    MT_OK(MPI_Put(&byte, 1, MPI_BYTE, 1, 0, 1, MPI_BYTE, win));
    MT_OK(MPI_Win_flush(1, win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    const int rc = put_to_the_dead(win, number);
    printf("rank 0 has ended with %d\n", rc);
    fflush(stdout);
    _exit(rc);
}
