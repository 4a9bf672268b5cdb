/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_viewers.c - others read the archives that mpi-rma-trace makes: OTF2's Python module, and the
 * viewer ViTE. What is not there is skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "archive_print.h"
#include "tool_run.h"

/* OTF2's Python module reads the same. */
static void python(void **state)
{
    struct made_job job;
    char command[900];
    int status;

    (void)state;
    if (system("/usr/bin/python3 -c 'import otf2' >/dev/null 2>&1") != 0)
        skip();
    make_random_program(&job, 3);
    archive_make(&job);
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
    make_random_program(&job, 3);
    archive_make(&job);
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
        cmocka_unit_test(python),
        cmocka_unit_test(vite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
