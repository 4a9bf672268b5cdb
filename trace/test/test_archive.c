/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_archive.c - mpi-rma-trace makes well-formed OTF2 archives of what processes leave,
 * and does with what killed processes leave. The archives are read by otf2-print, which is not
 * ours; tests that need it are skipped where it is not.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tool_run.h"

/* How often a line of text begins with this word and a blank, and contains all the parts. */
static int lines(const char *output, const char *word, const char *part)
{
    int n = 0;

    for (const char *line = output; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *end = strchrnul(line, '\n');
        const char *found = strstr(line, part);

        n += strncmp(line, word, strlen(word)) == 0 && line[strlen(word)] == ' ' && found &&
             found < end;
    }
    return n;
}

static char *print(struct made_job *job)
{
    char command[400];
    int status;

    if (system("otf2-print --version >/dev/null 2>&1") != 0)
        skip();
    snprintf(command, sizeof command, "otf2-print '%s/traces.otf2' 2>&1", job->dir);
    char *output = run_command(command, &status);
    if (status != 0)
        print_message("%.2000s", output);
    assert_int_equal(status, 0);
    assert_null(strstr(output, "warning"));
    return output;
}

static void archive(struct made_job *job)
{
    free(run_report(job, "--archive %s"));
}

/* Each location's times never go back, and its Leave events match its Enter events. */
static void assert_well_formed(const char *output)
{
    static char stack[512][64][48];
    static int depth[512];
    static uint64_t last[512];
    char word[64], region[48];
    unsigned location;
    uint64_t time;
    int events = 0;

    memset(depth, 0, sizeof depth);
    memset(last, 0, sizeof last);
    for (const char *line = output; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, "%63s %u %" SCNu64, word, &location, &time) != 3 || location >= 512)
            continue;
        events++;
        assert_true(time >= last[location]);
        last[location] = time;
        const char *name = strstr(line, "Region: \"");
        if (!name)
            continue;
        assert_int_equal(sscanf(name, "Region: \"%47[^\"]", region), 1);
        if (strcmp(word, "ENTER") == 0) {
            assert_true(depth[location] < 64);
            strcpy(stack[location][depth[location]++], region);
        } else if (strcmp(word, "LEAVE") == 0) {
            assert_true(depth[location] > 0);
            assert_string_equal(stack[location][--depth[location]], region);
        }
    }
    assert_true(events > 0);
    for (int i = 0; i < 512; i++)
        assert_int_equal(depth[i], 0);
}

/* The archive of a job, printed, which is well formed; the caller frees it. */
static char *print_archive(struct made_job *job)
{
    archive(job);
    char *output = print(job);
    assert_well_formed(output);
    return output;
}

static void fences(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    make_create_all(&job);
    for (uint32_t i = 0; i < 2; i++)
        make_fence(&job, i, 20, 25, TRACE_NOPRECEDE);
    make_op(&job, 0, 30, 32, TRACE_PUT, 1, 64, TRACE_MAPPED);
    make_op(&job, 1, 30, 32, TRACE_GET, 0, 128, TRACE_PACKETS);
    make_op(&job, 1, 33, 34, TRACE_FETCH_AND_OP, 0, 8, TRACE_PACKETS);
    for (uint32_t i = 0; i < 2; i++)
        make_fence(&job, i, 40, 50, TRACE_NOSUCCEED);
    make_free_all(&job, 60);
    char *output = print_archive(&job);
    assert_int_equal(lines(output, "RMA_WIN_CREATE", ""), 2);
    assert_int_equal(lines(output, "RMA_WIN_DESTROY", ""), 2);
    assert_int_equal(lines(output, "RMA_COLLECTIVE_BEGIN", ""), 8);
    assert_int_equal(lines(output, "RMA_COLLECTIVE_END", ""), 8);
    assert_int_equal(lines(output, "RMA_COLLECTIVE_END", "BARRIER"), 4);
    assert_int_equal(lines(output, "RMA_PUT", "Bytes: 64"), 1);
    assert_int_equal(lines(output, "RMA_GET", "Bytes: 128"), 1);
    assert_int_equal(lines(output, "RMA_ATOMIC", ""), 1);
    /* The put into mapped memory was done in its call. */
    assert_int_equal(lines(output, "RMA_OP_COMPLETE_BLOCKING", ""), 1);
    assert_int_equal(lines(output, "RMA_OP_COMPLETE_NON_BLOCKING", ""), 2);
    assert_int_equal(lines(output, "RMA_OP_COMPLETE_REMOTE", ""), 3);
    free(output);
    make_free(&job);
}

static void start_post_complete_wait(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 3);
    make_create_all(&job);
    make_post(&job, 1, 20, 21, 0);
    make_start(&job, 0, 20, 21, 1);
    make_op(&job, 0, 22, 23, TRACE_PUT, 1, 64, TRACE_PACKETS);
    make_complete(&job, 0, 25, 28);
    make_wait(&job, 1, 24, 30);
    make_free_all(&job, 60);
    char *output = print_archive(&job);
    assert_int_equal(lines(output, "RMA_GROUP_SYNC", ""), 4);
    assert_int_equal(lines(output, "RMA_OP_COMPLETE_NON_BLOCKING", ""), 1);
    assert_int_equal(lines(output, "RMA_OP_COMPLETE_REMOTE", ""), 1);
    assert_int_equal(lines(output, "ENTER", "MPI_Win_wait"), 1);
    free(output);
    make_free(&job);
}

static void locks(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    make_create_all(&job);
    make_lock(&job, 0, 20, 22, 1, TRACE_LOCK_EXCLUSIVE);
    make_locked(&job, 0, 21, 1, TRACE_LOCK_EXCLUSIVE);
    make_op(&job, 0, 23, 24, TRACE_PUT, 1, 64, TRACE_PACKETS);
    make_flush(&job, 0, 25, 30, 1);
    make_unlock(&job, 0, 31, 33, 1);
    make_lock(&job, 1, 40, 41, 0, TRACE_LOCK_SHARED); /* never needed, so never granted */
    make_unlock(&job, 1, 42, 43, 0);
    make_region(&job.agent[1], 26, 28, TRACE_SERVE, 0);
    make_region(&job.agent[1], 29, 50, TRACE_PARK, 0);
    make_region(&job.agent[0], 41, 42, TRACE_LOCK_QUEUE, 1);
    make_free_all(&job, 60);
    /* The agents' files name windows that their process has created before. */
    char *output = print_archive(&job);
    assert_int_equal(lines(output, "RMA_REQUEST_LOCK", ""), 2);
    assert_int_equal(lines(output, "RMA_ACQUIRE_LOCK", ""), 2);
    assert_int_equal(lines(output, "RMA_RELEASE_LOCK", ""), 2);
    assert_int_equal(lines(output, "ENTER", "serve packets"), 1);
    assert_int_equal(lines(output, "ENTER", "packet waits for its epoch"), 1);
    assert_int_equal(lines(output, "ENTER", "lock request waits"), 1);
    free(output);
    make_free(&job);
}

/* Two machines, the second's clock a second ahead; measured wrongly by 50 us. */
static void skewed_clocks(void **state)
{
    struct made_job job;
    int status;

    (void)state;
    make_job(&job, 2);
    make_machine(&job, 1, 1, INT64_C(1000000000));
    struct trace_record *clock = make_record(&job.app[1], 0, TRACE_CLOCK);
    clock->bytes = (uint64_t)INT64_C(-1000050000);
    clock->id = 50000;
    make_create(&job, 0, 1, 10);
    make_create(&job, 1, 9, 10);
    make_fence(&job, 0, 100, 211, 0);
    make_fence(&job, 1, 210, 211, 0);
    make_fence(&job, 0, 300, 331, 0);
    make_fence(&job, 1, 220, 331, 0);
    make_free_call(&job, 0, 400, 410);
    make_free_call(&job, 1, 400, 410);
    make_write(&job);
    char *said = run_tool(&job, "--archive %s", &status);
    assert_int_equal(status, 0);
    assert_non_null(strstr(said, "its clock was shifted by"));
    free(said);
    char *output = print(&job);
    assert_well_formed(output);
    /* After correction nothing leaves a fence before all are in it. */
    uint64_t enter[2][3], leave[2][3];
    int entered[2] = {0}, left[2] = {0};
    for (const char *line = output; line; line = strchr(line, '\n')) {
        char word[64];
        unsigned location;
        uint64_t time;

        line += *line == '\n';
        const char *end = strchrnul(line, '\n'), *name = strstr(line, "MPI_Win_fence");
        if (!name || name > end || sscanf(line, "%63s %u %" SCNu64, word, &location, &time) != 3)
            continue;
        assert_true(location < 2);
        if (strcmp(word, "ENTER") == 0)
            enter[location][entered[location]++] = time;
        else if (strcmp(word, "LEAVE") == 0)
            leave[location][left[location]++] = time;
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(entered[i], 2);
        assert_int_equal(left[i], 2);
        for (int k = 0; k < 2; k++)
            assert_true(leave[i][k] >= enter[!i][k]);
    }
    free(output);
    make_free(&job);
}

static void killed(void **state)
{
    struct made_job job;
    int status;

    (void)state;
    make_job(&job, 3); /* rank 2 has left nothing */
    for (uint32_t i = 0; i < 2; i++)
        make_create(&job, i, 1, 10);
    make_lock(&job, 0, 20, 22, 1, TRACE_LOCK_EXCLUSIVE);
    make_op(&job, 0, 23, 24, TRACE_PUT, 1, 64, TRACE_PACKETS);
    make_record(&job.app[1], 30, TRACE_ENTER)->what = TRACE_CALL_Win_fence;
    make_write(&job);
    char *said = run_tool(&job, "--recover %s", &status);
    assert_int_equal(status, 0);
    assert_non_null(strstr(said, "ends within MPI_Win_fence"));
    assert_non_null(strstr(said, "1 of 3 processes have left no usable file"));
    free(said);

    char *output = print(&job);
    assert_well_formed(output);
    assert_int_equal(lines(output, "RMA_OP_COMPLETE_REMOTE", ""), 1);
    assert_int_equal(lines(output, "RMA_RELEASE_LOCK", ""), 1);
    free(output);
    make_free(&job);
}

static void nothing_there(void **state)
{
    struct made_job job;
    int status;

    (void)state;
    make_job(&job, 1);
    char *said = run_tool(&job, "--archive %s", &status);
    assert_int_equal(status, 1);
    assert_non_null(strstr(said, "No such file"));
    free(said);
    make_write(&job);
    said = run_tool(&job, "--archive %s", &status);
    assert_int_equal(status, 1);
    assert_non_null(strstr(said, "no usable file"));
    free(said);
    make_free(&job);
}

/* A random program of fences, locks and operations on all ranks. */
static void random_program(struct made_job *job, unsigned seed)
{
    srand(seed);
    make_job(job, 1 + (uint32_t)rand() % 6);
    make_create_all(job);
    double us = 20;
    for (int phase = 0; phase < 12; phase++) {
        bool fence = rand() % 2;

        for (uint32_t i = 0; i < job->nproc; i++) {
            uint32_t target = (uint32_t)rand() % job->nproc;
            int n = rand() % 5;

            if (!fence)
                make_lock(job, i, us, us + 1, target, 1 + (unsigned)rand() % 2);
            for (int k = 0; k < n; k++)
                make_op(job, i, us + 2 + k, us + 2.5 + k, 1 + (unsigned)rand() % 6, target,
                        1u << (rand() % 16), 1 + (unsigned)rand() % 4);
            if (rand() % 3 == 0)
                make_record(&job->app[i], us + 8, TRACE_WRITE)->bytes = (uint64_t)rand() % 4000;
            if (fence)
                make_fence(job, i, us + 10 + rand() % 3, us + 15, 0);
            else
                make_unlock(job, i, us + 10, us + 11, target);
            if (rand() % 2)
                make_region(&job->agent[i], us + 3, us + 4 + rand() % 6,
                            rand() % 2 ? TRACE_SERVE : TRACE_PARK, (int32_t)target);
        }
        us += 20;
    }
    make_free_all(job, us);
}

static void random_programs(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 6; seed++) {
        struct made_job job;

        random_program(&job, seed);
        char *output = print_archive(&job);
        int operations = lines(output, "RMA_PUT", "") + lines(output, "RMA_GET", "") +
                         lines(output, "RMA_ATOMIC", "");
        assert_int_equal(lines(output, "RMA_OP_COMPLETE_BLOCKING", "") +
                             lines(output, "RMA_OP_COMPLETE_NON_BLOCKING", ""),
                         operations);
        assert_int_equal(lines(output, "RMA_OP_COMPLETE_REMOTE", ""), operations);
        assert_int_equal(lines(output, "RMA_REQUEST_LOCK", ""),
                         lines(output, "RMA_RELEASE_LOCK", ""));
        assert_int_equal(lines(output, "RMA_REQUEST_LOCK", ""),
                         lines(output, "RMA_ACQUIRE_LOCK", ""));
        free(output);
        make_free(&job);
    }
}

/* Changes a file as a full disk or a broken one would: cuts it, or flips some bits. */
static void damage(struct made_job *job)
{
    char path[320];
    struct stat info;

    snprintf(path, sizeof path, "%s/spool/%u-0", job->dir, (unsigned)rand() % job->nproc);
    assert_int_equal(stat(path, &info), 0);
    if (rand() % 3 == 0) {
        assert_int_equal(truncate(path, rand() % info.st_size), 0);
        return;
    }
    FILE *stream = fopen(path, "r+b");
    assert_non_null(stream);
    for (int i = rand() % 20; i >= 0; i--) {
        long at = rand() % info.st_size;

        fseek(stream, at, SEEK_SET);
        int byte = fgetc(stream);
        fseek(stream, at, SEEK_SET);
        fputc(byte ^ (1 << rand() % 8), stream);
    }
    fclose(stream);
}

static void damaged_files(void **state)
{
    int status;

    (void)state;
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct made_job job;

        random_program(&job, seed);
        make_write(&job);
        damage(&job);
        char *said = run_tool(&job, "--archive %s", &status);
        if (status > 1)
            print_message("seed %u: %s", seed, said);
        assert_in_range(status, 0, 1);
        assert_true(status == 0 || *said);
        free(said);
        if (status == 0 && seed % 6 == 0) {
            char *output = print(&job);
            assert_well_formed(output);
            free(output);
        }
        make_free(&job);
    }
}

/* The damage is named by file and offset, and all else is still read. */
static void damage_is_named(void **state)
{
    struct made_job job;
    char expected[400], path[320];
    int status;

    (void)state;
    make_job(&job, 1);
    make_create_all(&job);
    for (int i = 0; i < 10; i++)
        make_call(&job, 0, 20 + i, 20.5 + i, TRACE_CALL_Win_shared_query);
    make_free_all(&job, 60);
    make_write(&job);
    snprintf(path, sizeof path, "%s/spool/0-0", job.dir);
    long offset = (long)(sizeof(struct spool_head) + 5 * sizeof(struct trace_record));
    FILE *stream = fopen(path, "r+b");
    assert_non_null(stream);
    fseek(stream, offset + (long)offsetof(struct trace_record, kind), SEEK_SET);
    fputc(0xee, stream);
    fclose(stream);
    char *said = run_tool(&job, "--archive %s", &status);
    assert_int_equal(status, 0);
    snprintf(expected, sizeof expected, "%s: damaged record at offset %ld", path, offset);
    assert_non_null(strstr(said, expected));
    free(said);
    char *output = print(&job);
    assert_well_formed(output);
    assert_in_range(lines(output, "ENTER", "MPI_Win_shared_query"), 9, 10);
    free(output);
    make_free(&job);
}

/* OTF2's Python module reads the same. */
static void python(void **state)
{
    struct made_job job;
    char command[900];
    int status;

    (void)state;
    if (system("/usr/bin/python3 -c 'import otf2' >/dev/null 2>&1") != 0)
        skip();
    random_program(&job, 3);
    archive(&job);
    snprintf(command, sizeof command,
             "/usr/bin/python3 -c \""
             "import otf2\n"
             "with otf2.reader.open('%s/traces.otf2') as t:\n"
             "  n = sum(isinstance(e, otf2.events.RmaWinCreate) for l, e in t.events)\n"
             "  print(n, [w.name for w in t.definitions.rma_wins][0])\" 2>&1",
             job.dir);
    char *output = run_command(command, &status);
    if (status != 0)
        print_message("%s", output);
    assert_int_equal(status, 0);
    assert_int_equal(atoi(output), job.nproc);
    assert_non_null(strstr(output, "window 0 (created)"));
    free(output);
    make_free(&job);
}

/* The viewer opens it: it draws the calls of all locations. */
static void vite(void **state)
{
    static const char loop[] = "./trace/test/.libs/vite_loop.so";
    struct made_job job;
    char command[1200];
    int status;

    (void)state;
    if (system("command -v vite >/dev/null 2>&1") != 0)
        skip();
    if (access(loop, R_OK) != 0) {
        print_message("SKIP: no %s, which is built without sanitizers only\n", loop);
        skip();
    }
    random_program(&job, 3);
    archive(&job);
    snprintf(command, sizeof command,
             "QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR='%s' timeout 60 env LD_PRELOAD=%s "
             "vite -e '%s/page.svg' '%s/traces.otf2' 2>&1; grep -c '<rect' '%s/page.svg'",
             job.dir, loop, job.dir, job.dir, job.dir);
    char *output = run_command(command, &status);
    if (status != 0)
        print_message("%s", output);
    assert_int_equal(status, 0);
    assert_non_null(strstr(output, "0 errors and 0 warnings were found during parsing."));
    free(output);
    make_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fences),
        cmocka_unit_test(start_post_complete_wait),
        cmocka_unit_test(locks),
        cmocka_unit_test(skewed_clocks),
        cmocka_unit_test(killed),
        cmocka_unit_test(nothing_there),
        cmocka_unit_test(random_programs),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(python),
        cmocka_unit_test(vite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
