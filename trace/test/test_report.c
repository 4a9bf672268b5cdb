/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_report.c - the reports of mpi-rma-trace: models, text, archives of earlier and of
 * killed jobs, and archives that are empty or damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tool_run.h"

#define DELAY 10000.0 /* us */

/* The paper's Figure 3: a put of an epoch of post, start, complete and wait ends in the wait. */
static void models(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    make_create_all(&job);
    make_post(&job, 1, 100, 101, 0);
    make_start(&job, 0, 100, 101, 1);
    make_op(&job, 0, 110, 115, TRACE_PUT, 1, 64, TRACE_PACKETS);
    make_complete(&job, 0, 120, 130);
    make_wait(&job, 1, 120, 210);
    make_free_all(&job, 1000);
    char *json = run_report(&job, "--json --model=basic %s");
    assert_true(json_number(json, "paths", "model_ns") == 5000);
    free(json);
    json = run_report(&job, "--json --model=extended %s");
    assert_true(json_number(json, "paths", "model_ns") == 100000);
    free(json);
    make_free(&job);
}

static void text_report(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 3);
    make_held_lock(&job, DELAY);
    char *output = run_report(&job, "%s");
    assert_non_null(strstr(output, "Lock Contention"));
    assert_non_null(strstr(output, "rank 2 in MPI_Win_lock, because of rank 0"));
    assert_non_null(strstr(output, "not found: "));
    assert_non_null(strstr(output, "MPI_Win_unlock"));
    free(output);
    make_free(&job);
}

/* An archive of an earlier job in the same directory is not taken for that of the last. */
static void earlier_job(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    make_create_all(&job);
    free(run_report(&job, "%s"));
    usleep(20000);
    make_fence(&job, 0, 100, 110, 0);
    make_fence(&job, 1, 100, 110, 0);
    char *output = run_report(&job, "%s");
    assert_non_null(strstr(output, "MPI_Win_fence"));
    free(output);
    make_free(&job);
}

/* Lost processes and open calls are read, and the notes of the archive repeated. */
static void killed(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 3);
    make_create(&job, 0, 1, 10);
    make_create(&job, 1, 1, 10);
    make_op(&job, 0, 20, 21, TRACE_PUT, 2, 8, TRACE_PACKETS);
    make_record(&job.app[1], 30, TRACE_ENTER)->what = TRACE_CALL_Win_fence;
    char *output = run_report(&job, "%s");
    assert_non_null(strstr(output, "1 of 3 processes have left no usable file"));
    free(output);
    make_free(&job);
}

static void nothing_to_see(void **state)
{
    struct made_job job;
    int status;

    (void)state;
    make_job(&job, 2);
    char *said = run_tool(&job, "%s", &status);
    assert_int_equal(status, 1);
    assert_non_null(strstr(said, "neither an archive"));
    free(said);
    make_record(&job.app[0], 1, TRACE_CLOCK); /* no event */
    make_write(&job);
    said = run_tool(&job, "%s", &status);
    assert_int_equal(status, 1);
    assert_non_null(strstr(said, "none of them of one-sided communication"));
    free(said);
    said = run_tool(&job, "%s/spool/0-0", &status);
    assert_int_equal(status, 1);
    assert_non_null(strstr(said, "no OTF2 archive"));
    free(said);
    make_free(&job);
}

/* Any archive may be damaged in any way: a message or a report, never a crash. */
static void damaged_archives(void **state)
{
    static const char *const names[] = {"traces.otf2", "traces.def", "traces/0.evt",
                                        "traces/1.def"};
    const char *sanitizer = getenv("ASAN_OPTIONS");
    char options[400];
    int failed = 0;

    (void)state;
    /* OTF2 itself does not free everything where it gives up. */
    snprintf(options, sizeof options, "%s:detect_leaks=0", sanitizer ? sanitizer : "");
    setenv("ASAN_OPTIONS", options, 1);
    for (unsigned seed = 1; seed <= 48; seed++) {
        struct made_job job;
        struct stat info;
        char path[320];
        int status;

        srand(seed);
        make_job(&job, 2);
        make_late_complete(&job, DELAY);
        free(run_report(&job, "--archive %s"));
        snprintf(path, sizeof path, "%s/%s", job.dir, names[seed % 4]);
        assert_int_equal(stat(path, &info), 0);
        if (seed % 3 == 0)
            assert_int_equal(truncate(path, rand() % info.st_size), 0);
        else {
            FILE *stream = fopen(path, "r+b");

            assert_non_null(stream);
            for (int i = rand() % 10; i >= 0; i--) {
                fseek(stream, rand() % info.st_size, SEEK_SET);
                fputc(rand() & 255, stream);
            }
            fclose(stream);
        }
        char *said = run_tool(&job, "--json %s", &status);
        if (status > 1)
            print_message("seed %u, %s: %d\n%.1000s\n", seed, names[seed % 4], status, said);
        assert_uint_in_range(status, 0, 1);
        assert_true(*said);
        failed += status;
        free(said);
        make_free(&job);
    }
    assert_true(failed > 0);
}

/* The files of the processes are still beside a damaged archive: that is said, with the way out,
 * which works. */
static void damaged_beside_files(void **state)
{
    static const char *const names[] = {"traces.otf2", "traces.def", "traces/0.evt"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct made_job job;
        struct stat info;
        char path[320];
        int status;

        make_job(&job, 2);
        make_late_complete(&job, DELAY);
        free(run_report(&job, "--archive %s"));
        snprintf(path, sizeof path, "%s/%s", job.dir, names[i]);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(truncate(path, info.st_size / 2), 0);
        char *said = run_tool(&job, "%s", &status);
        if (status != 1 || !strstr(said, "--archive"))
            print_message("%s: %d\n%.1000s\n", names[i], status, said);
        assert_int_equal(status, 1);
        assert_non_null(strstr(said, "are still in"));
        assert_non_null(strstr(said, "mpi-rma-trace --archive"));
        free(said);
        free(run_tool(&job, "--archive %s", &status));
        assert_int_equal(status, 0);
        free(run_tool(&job, "%s", &status));
        assert_int_equal(status, 0);
        make_free(&job);
    }
}

/* Where ranks took turns on processors the report says so first, and estimates only if it is told
 * to. A machine with a processor for each rank is not counted, though processes may share one mask.
 */
static void ranks_and_processors(void **state)
{
    struct made_job job;

    (void)state;
    for (uint32_t cpus = 1; cpus <= 4; cpus++) {
        make_job(&job, 4);
        make_create_all(&job);
        for (uint32_t i = 0; i < 4; i++) {
            make_fence(&job, i, 100 + 500 * (i == 0), 610, 0);
            job.app[i].head.cpus = cpus;
            job.app[i].head.first_cpu = cpus == 1 ? i : 0;
        }
        make_free_all(&job, 1000);
        char *said = run_report(&job, "%s");
        const bool crowded = cpus == 2 || cpus == 3; /* with 1 each has its own */
        assert_true(!!strstr(said, "node0 had 4 ranks on") == crowded);
        assert_true(!!strstr(said, "no estimate is made") == crowded);
        free(said);
        said = run_report(&job, "--estimate %s");
        assert_true(!!strstr(said, "node0 had 4 ranks on") == crowded);
        assert_null(strstr(said, "no estimate is made"));
        free(said);
        make_free(&job);
    }
}

/* Help and version come first, and an option that is none is answered by the nearest. */
static void options(void **state)
{
    static const char *const first[] = {"-h", "--nonsense --help", "--version", "--html -V"};
    struct made_job job;
    int status;

    (void)state;
    make_job(&job, 1);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        char *said = run_tool(&job, first[i], &status);

        assert_int_equal(status, 0);
        assert_non_null(strstr(said, "mpi-rma-trace"));
        free(said);
    }
    char *said = run_tool(&job, "--jsn", &status);
    assert_int_equal(status, 2);
    assert_non_null(
        strstr(said, "unknown option --jsn; the nearest is --json\nUsage: mpi-rma-trace"));
    free(said);
    said = run_tool(&job, "--model=none x", &status);
    assert_int_equal(status, 2);
    assert_non_null(strstr(said, "expected basic or extended"));
    free(said);
    make_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models),
        cmocka_unit_test(text_report),
        cmocka_unit_test(killed),
        cmocka_unit_test(earlier_job),
        cmocka_unit_test(nothing_to_see),
        cmocka_unit_test(damaged_archives),
        cmocka_unit_test(damaged_beside_files),
        cmocka_unit_test(ranks_and_processors),
        cmocka_unit_test(options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
