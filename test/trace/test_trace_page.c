/*
 * test_trace_page.c - the page of mpi-rma-trace: its data are whole, and a browser draws it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tool_run.h"

/* The page's data are JSON, and a browser, where there is one, draws it without errors. */
static void html_page(void **state)
{
    struct made_job job;
    char command[900];
    int status;

    (void)state;
    make_job(&job, 3);
    make_held_lock(&job, 10000);
    make_write(&job);
    snprintf(command, sizeof command, "--html %s/page.html %s", job.dir, job.dir);
    free(run_tool(&job, command, &status));
    assert_int_equal(status, 0);
    snprintf(command, sizeof command,
             "python3 -c \"import json, re\n"
             "page = open('%s/page.html').read()\n"
             "data = json.loads(re.search('id=.data.>(.*?)</script>', page, re.S).group(1))\n"
             "print(len(data['calls'][0]), data['all_calls'], len(data['instances'][0]))\n"
             "assert len(set(map(len, data['calls']))) == 1\" 2>&1",
             job.dir);
    char *output = run_command(command, &status);
    assert_int_equal(status, 0);
    assert_string_equal(output, "10 10 1\n");
    free(output);
    if (system("chromium --version >/dev/null 2>&1") == 0) {
        snprintf(command, sizeof command,
                 "timeout 60 chromium --headless --no-sandbox --disable-gpu --dump-dom "
                 "--user-data-dir='%s/browser' 'file://%s/page.html#t=1000,5000000' 2>/dev/null",
                 job.dir, job.dir);
        output = run_command(command, &status);
        assert_int_equal(status, 0);
        assert_non_null(strstr(output, "From 1.00 \302\265s to 5.000 ms. Everything is shown."));
        assert_non_null(strstr(output, "<td class=\"text\">Lock Contention</td>"));
        free(output);
    }
    make_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(html_page)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
