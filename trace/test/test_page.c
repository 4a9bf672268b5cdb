/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_page.c - the page of mpi-rma-trace: its data are whole, and a browser draws it, sorts
 * its tables, zooms and moves, in light and in dark, and fast where the trace is large. Without
 * Chromium the tests that need it are skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tool_run.h"

enum { LARGE_STEPS = 650, LARGE_RANKS = 64 };

/* Behind the page: what a user does to it, and how long it takes to draw; a pixel that is read back
 * makes the browser draw all that it has put off. Of each the fastest of three counts: the machine
 * may have other things to do. */
static const char probe[] =
    "<script>\n"
    "const out = [$('shown').textContent], spans = [], first = () => "
    "$('functions').rows[1].cells[0].textContent;\n"
    "let slowest = 0;\n"
    "function timed(action) {\n"
    "  const times = [];\n"
    "  action();\n"
    "  for (let i = 0; i < 3; i++) {\n"
    "    const begin = performance.now();\n"
    "    draw(); pen.getImageData(0, 0, 1, 1);\n"
    "    times.push(performance.now() - begin);\n"
    "  }\n"
    "  slowest = Math.max(slowest, Math.min(...times));\n"
    "  spans.push(((to - from) / D.length).toFixed(2));\n"
    "}\n"
    "const key = name => document.dispatchEvent(new KeyboardEvent('keydown', { key: name }));\n"
    "const wheel = (name) => canvas.dispatchEvent(new WheelEvent('wheel',\n"
    "  { deltaY: -1, shiftKey: name === 'move', clientX: 600, cancelable: true }));\n"
    "timed(() => key('Home')); timed(() => key('+')); timed(() => wheel('zoom'));\n"
    "const old = from; timed(() => wheel('move')); timed(() => key('ArrowRight'));\n"
    "out.push('spans ' + spans.join(' '), 'moved ' + (from !== old));\n"
    "for (let i = 0; i < 8; i++) timed(() => zoom(.5, D.length / 2));\n"
    "const name = $('functions').rows[0].cells[0]; name.click(); const last = first();\n"
    "name.click(); out.push('sorted ' + last + ' ' + first());\n"
    "out.push('region ' + (visits.n ? hit(visits.begin[0] + 1, 0, 5) : 'none'));\n"
    "out.push('background ' + getComputedStyle(document.body).backgroundColor);\n"
    "const p = document.createElement('p');\n"
    "p.textContent = 'probe: ' + out.join(', ') + ', slowest redraw ' + slowest.toFixed(0) + ' "
    "ms';\n"
    "document.body.append(p);\n"
    "</script>\n";

/* The page of a job, as DIR/page.html. */
static void make_page(struct made_job *job, const char *model)
{
    char arguments[600];

    snprintf(arguments, sizeof arguments, "--model=%s --html %s/page.html %s", model, job->dir,
             job->dir);
    free(run_report(job, arguments));
}

/* What is there after the browser has drawn the page and done what the probe says. */
static char *browse(struct made_job *job, const char *hash, bool dark)
{
    char command[1200];
    int status;

    if (system("chromium --version >/dev/null 2>&1") != 0) {
        print_message("SKIP: no chromium\n");
        make_free(job);
        skip();
    }
    snprintf(command, sizeof command, "%s/page.html", job->dir);
    FILE *page = fopen(command, "a");
    assert_non_null(page);
    fputs(probe, page);
    assert_int_equal(fclose(page), 0);
    snprintf(command, sizeof command,
             "timeout 100 chromium --headless --no-sandbox --disable-gpu --window-size=1300,900 "
             "--blink-settings=preferredColorScheme=%d --user-data-dir='%s/browser' --dump-dom "
             "'file://%s/page.html%s' 2>/dev/null",
             !dark, job->dir, job->dir, hash);
    char *output = run_command(command, &status);
    assert_int_equal(status, 0);
    assert_non_null(strstr(output, "</html>"));
    return output;
}

static void assert_has(const char *output, const char *part)
{
    const char *shown = strstr(output, "id=\"shown\""), *probed = strstr(output, "<p>probe: ");

    if (!strstr(output, part))
        print_message("no '%s' in\n%.600s\n%.600s\n", part, shown ? shown : "",
                      probed ? probed : "");
    assert_non_null(strstr(output, part));
}

static void data(void **state)
{
    struct made_job job;
    char command[900];
    int status;

    (void)state;
    make_job(&job, 3);
    make_held_lock(&job, 10000);
    make_page(&job, "extended");
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
    make_free(&job);
}

/* The paper's Figure 3: the transfer's line ends in the wait by the extended model, and with the
 * call by the basic one. */
static void drawn(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    make_late_complete(&job, 10000);
    make_page(&job, "extended");
    char *output = browse(&job, "#t=5000000,6000000", true);
    assert_has(output, "From 5.000 ms to 6.000 ms: 1 calls, 1 transfers, 2 wait states. "
                       "Everything is shown.");
    assert_has(output, "<td class=\"text\">Late Complete (within Early Wait)</td>");
    assert_has(output, "spans 1.00 0.60 0.48 0.48 0.48, moved true");
    assert_has(output, "sorted MPI_Win_wait MPI_Put, region none");
    assert_has(output, "background rgb(20, 24, 29)");
    free(output);
    make_page(&job, "basic");
    output = browse(&job, "#t=5000000,6000000", false);
    assert_has(output, "From 5.000 ms to 6.000 ms: 1 calls, 0 transfers, 2 wait states. "
                       "Everything is shown.");
    assert_has(output, "background rgb(255, 255, 255)");
    free(output);
    make_free(&job);
}

/* Regions have boxes of their own above the calls, and a table. */
static void regions(void **state)
{
    struct made_job job;
    struct trace_record *r;

    (void)state;
    make_job(&job, 2);
    make_record(&job.app[0], 0, TRACE_REGION_NAME);
    struct trace_text *text = (struct trace_text *)make_record(&job.app[0], 0, TRACE_TEXT);
    text->length = 5;
    memcpy(text->text, "sweep", 5);
    make_create_all(&job);
    r = make_record(&job.app[0], 100, TRACE_REGION_BEGIN);
    r->arg = 1;
    for (uint32_t i = 0; i < 2; i++)
        make_fence(&job, i, 200 + 1000 * i, 1210, 0);
    make_record(&job.app[0], 1300, TRACE_REGION_END)->arg = 1;
    make_free_all(&job, 2000);
    make_page(&job, "extended");
    char *output = browse(&job, "", true);
    assert_has(output, "6 calls, 0 transfers, 1 wait states. Everything is shown.");
    assert_has(output, "region sweep, rank 0: 1.200 ms from 101.00 \302\265s");
    assert_has(output, "<td class=\"text\">sweep</td><td>1</td><td>1.200 ms</td>");
    assert_has(output, "<td class=\"text\">(outside of all)</td>");
    free(output);
    make_free(&job);
}

/* A halo exchange of 64 ranks between fences, to which another process is late in each step. */
static void large_program(struct made_job *job)
{
    static const uint32_t neighbour[] = {1, LARGE_RANKS - 1, 8, LARGE_RANKS - 8};
    double us = 20;

    make_create_all(job);
    for (uint32_t step = 0; step < LARGE_STEPS; step++, us += 50)
        for (uint32_t i = 0; i < LARGE_RANKS; i++) {
            double at = us + (i == step % LARGE_RANKS ? 30 : 5 + i % 7);

            for (int k = 0; k < 4; k++)
                make_op(job, i, at + 2 * k, at + 2 * k + 1, TRACE_PUT,
                        (i + neighbour[k]) % LARGE_RANKS, 4096, TRACE_MAPPED);
            make_fence(job, i, at + 10, us + 42 + i % 3, 0);
        }
    make_free_all(job, us);
}

static void large(void **state)
{
    static struct made_job job;
    char path[300];
    struct stat info;

    (void)state;
    make_job(&job, LARGE_RANKS);
    large_program(&job);
    make_page(&job, "extended");
    snprintf(path, sizeof path, "%s/page.html", job.dir);
    assert_int_equal(stat(path, &info), 0);
    assert_uint_in_range(info.st_size, 1 << 20, 6 << 20);
    char *output = browse(&job, "", false);
    assert_has(output, "<p>probe: ");
    assert_has(output, "64 ranks, 1 window, 999,040 events");
    assert_has(output, "Thinned out: this page has the longest 120,000 of 208,128 calls as boxes");
    assert_has(output, "of 166,400 operations");
    const char *probed = strstr(output, "<p>probe: "),
               *slowest = strstr(probed, ", slowest redraw ");
    int ms = atoi(slowest + strlen(", slowest redraw "));
    print_message("slowest redraw %d ms\n", ms);
    assert_uint_in_range(ms, 1, 1000);
    free(output);
    make_free(&job);
}

/* Two puts in one epoch to the same bytes are a row of the table; where accesses are not recorded
 * there is no table. */
static void conflicts(void **state)
{
    (void)state;
    for (int recorded = 0; recorded < 2; recorded++) {
        struct made_job job;

        make_job(&job, 3);
        make_create_all(&job);
        for (uint32_t i = 0; i < 3; i++)
            make_fence(&job, i, 20, 25, 0);
        for (uint32_t i = 0; i < 3; i += 2) {
            make_op(&job, i, 30, 31, TRACE_PUT, 1, 8, TRACE_PACKETS);
            if (recorded)
                make_access(&job, i, TRACE_AT_TARGET, 0x10000 + 2 * i, 8);
        }
        for (uint32_t i = 0; i < 3; i++)
            make_fence(&job, i, 40, 45, 0);
        make_free_all(&job, 100);
        make_page(&job, "extended");
        char *output = browse(&job, "", false);
        if (recorded) {
            assert_has(output, "<h2 id=\"part-conflicting-accesses\">Conflicting accesses</h2>");
            assert_has(output, "bytes 0x10004 to 0x10007 of the memory of rank 1</td>");
            assert_has(
                output,
                "<td class=\"text\">rank 0: MPI_Put, in the epoch of MPI_Win_fence, complete in "
                "MPI_Win_fence</td><td class=\"text\">rank 2: MPI_Put, in the epoch of "
                "MPI_Win_fence, complete in MPI_Win_fence</td>");
        } else {
            assert_null(
                strstr(output, "<h2 id=\"part-conflicting-accesses\">Conflicting accesses</h2>"));
        }
        free(output);
        make_free(&job);
    }
}

/* Six ranks on two processors, whose pairs are more than a table has rows. */
static void crowded(void **state)
{
    enum { RANKS = 6 };
    struct made_job job;

    (void)state;
    make_job(&job, RANKS);
    make_create_all(&job);
    for (uint32_t i = 0; i < RANKS; i++) {
        job.app[i].head.cpus = 2;
        snprintf(job.app[i].head.program, sizeof job.app[i].head.program, "solver");
        make_fence(&job, i, 100, 110, 0);
        for (uint32_t k = 0; k < RANKS; k++)
            if (k != i)
                make_op(&job, i, 120 + k, 120.5 + k, TRACE_PUT, k, 8, TRACE_PACKETS);
        make_fence(&job, i, i == 0 ? 900 : 200, 910, 0);
    }
    make_free_all(&job, 2000);
    make_page(&job, "extended");
    char *output = browse(&job, "", false);
    assert_has(output, "<h1 id=\"title\" title=");
    assert_has(output, "solver, 6 ranks on node0, 2023-11-1");
    assert_has(output, "node0 had 6 ranks on 2 processors: they took turns");
    assert_has(output, "No estimate is made: there were more ranks than processors");
    assert_has(output, "<a href=\"#part-causes-of-waiting\">Causes of waiting</a>");
    assert_has(output, "<button class=\"more\">Show all 30 rows</button>");
    assert_has(output, "<th tabindex=\"0\" class=\"text\">what to do</th>");
    free(output);
    make_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data),      cmocka_unit_test(drawn), cmocka_unit_test(regions),
        cmocka_unit_test(conflicts), cmocka_unit_test(large), cmocka_unit_test(crowded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
