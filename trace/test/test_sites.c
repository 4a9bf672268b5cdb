/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_sites.c - where calls stand: sites.h and resolve.h on this program itself, which is compiled
 * with debug information, on copies without, and in the report.
 */
#include <inttypes.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../resolve.h"
#include "../sites.h"
#include "tool_run.h"

/* Two places in this program: the address to which a call returns, and its line. */
struct place {
    uint64_t address;
    uint32_t line;
};

static __attribute__((noinline)) uint64_t returns_to(void)
{
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static __attribute__((noinline)) struct place first_place(void)
{
    struct place place = {0, __LINE__ + 2};

    place.address = returns_to();
    return place;
}

static __attribute__((noinline)) struct place second_place(void)
{
    struct place place = {0, __LINE__ + 2};

    place.address = returns_to();
    return place;
}

/* ---- this program ---- */

struct self {
    char path[512];
    uint64_t base, build;
};

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
    struct self *self = data;

    (void)size;
    self->base = info->dlpi_addr;
    for (unsigned i = 0; i < info->dlpi_phnum && !self->build; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            self->build = spool_build_id((const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                                         info->dlpi_phdr[i].p_memsz);
    return 1; /* the first is the program */
}

static struct self this_program(void)
{
    struct self self = {.build = 0};
    const ssize_t n = readlink("/proc/self/exe", self.path, sizeof self.path - 1);

    assert_true(n > 0);
    self.path[n] = '\0';
    (void)dl_iterate_phdr(look, &self);
    return self;
}

static void have_addr2line(void)
{
    if (system("{ command -v addr2line || command -v eu-addr2line || command -v llvm-addr2line; } "
               ">/dev/null") != 0) {
        print_message("no addr2line\n");
        skip();
    }
}

/* A stripped copy of this program; its path, which the caller frees. */
static char *stripped_copy(const struct self *self)
{
    char *path = text("%s/sites.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    char *command;
    const int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    command = text("strip -o '%s' '%s'", path, self->path);
    if (system(command) != 0) {
        print_message("no strip\n");
        skip();
    }
    free(command);
    return path;
}

static void lines_of_this_program(void **state)
{
    const struct self self = this_program();
    const struct place place[] = {first_place(), second_place()};
    static const char *const function[] = {"first_place", "second_place"};
    uint64_t address[600];
    struct resolved out[600];
    (void)state;

    have_addr2line();
    for (size_t i = 0; i < 600; i++) /* more than go into one command */
        address[i] = place[i % 2].address - 1 - self.base;
    assert_int_equal(resolve_addresses(self.path, self.build, address, 600, out), RESOLVED);
    for (size_t i = 0; i < 600; i++) {
        assert_non_null(out[i].file);
        assert_non_null(strstr(out[i].file, "trace/test/test_sites.c"));
        assert_int_equal(out[i].line, place[i % 2].line);
        assert_string_equal(out[i].function, function[i % 2]);
        free(out[i].file);
        free(out[i].function);
    }
    address[0] = 1; /* no code is there */
    assert_int_equal(resolve_addresses(self.path, self.build, address, 1, out), RESOLVED);
    assert_null(out[0].file);
    free(out[0].function);
}

static void what_cannot_be_resolved(void **state)
{
    const struct self self = this_program();
    const uint64_t address = first_place().address - 1 - self.base;
    struct resolved out;
    char *path;
    (void)state;

    have_addr2line();
    assert_int_equal(resolve_addresses("/nowhere/program", 0, &address, 1, &out), RESOLVE_NO_FILE);
    assert_int_equal(resolve_addresses("/dev/null", 0, &address, 1, &out), RESOLVE_NO_FILE);
    assert_int_equal(resolve_addresses(self.path, self.build + 1, &address, 1, &out),
                     RESOLVE_CHANGED);
    path = stripped_copy(&self);
    assert_int_equal(resolve_addresses(path, self.build, &address, 1, &out), RESOLVED);
    assert_null(out.file);
    assert_null(out.function);
    unlink(path);
    free(path);
    char *old = text("%s", getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    const enum resolving without = resolve_addresses(self.path, self.build, &address, 1, &out);
    setenv("PATH", old, 1);
    free(old);
    assert_int_equal(without, RESOLVE_NO_TOOL);
}

/* ---- numbers ---- */

/* Appends the pieces of a text. */
static void add_text(struct made_file *file, double us, const char *text)
{
    for (size_t done = 0, all = strlen(text); done < all;) {
        struct trace_text part = {.kind = TRACE_TEXT};

        part.time = make_record(file, us, TRACE_TEXT)->time;
        part.length = (uint16_t)(all - done < TRACE_TEXT_MAX ? all - done : TRACE_TEXT_MAX);
        memcpy(part.text, text + done, part.length);
        memcpy(&file->record[file->n - 1], &part, sizeof part);
        done += part.length;
    }
}

/* Appends an object with its path. */
static void add_object(struct made_file *file, double us, struct trace_object object,
                       const char *path)
{
    object.time = make_record(file, us, TRACE_OBJECT)->time;
    object.kind = TRACE_OBJECT;
    memcpy(&file->record[file->n - 1], &object, sizeof object);
    add_text(file, us, path);
}

static void load(struct sites *sites, struct loaded *loaded, uint64_t begin, uint64_t base,
                 const char *path)
{
    struct made_file made = {.n = 0};

    add_object(&made, 1, (struct trace_object){.pages = 16, .begin = begin, .base = base}, path);
    const struct spool_file file = {.record = made.record, .n = made.n};
    sites_load(sites, loaded, &file, 0);
    free(made.record);
}

/* The same place has one number in all processes, wherever the program lies there. */
static void numbers_of_places(void **state)
{
    static const char long_path[] = "/a/path/that/needs/more/than/one/record/of/the/file/program";
    struct sites sites = {.n = 0};
    struct loaded here = {.n = 0}, there = {.n = 0};
    (void)state;

    load(&sites, &here, 0x10000, 0x10000, long_path);
    load(&sites, &here, 0x40000, 0x40000, "/lib/other.so");
    load(&sites, &there, 0x70000, 0x70000, long_path);
    assert_int_equal(sites.nobjects, 2);
    assert_string_equal(sites.object[0].path, long_path);
    const uint32_t number = sites_number(&sites, &here, 0x10124);
    assert_int_equal(sites.site[number].offset, 0x123);
    assert_int_equal(sites_number(&sites, &there, 0x70124), number);
    assert_int_not_equal(sites_number(&sites, &here, 0x10125), number);
    assert_int_not_equal(sites_number(&sites, &here, 0x40124), number);
    assert_int_equal(sites_number(&sites, &here, 0x90000), SITE_NONE);
    assert_int_equal(sites_number(&sites, &here, 0), SITE_NONE);
    load(&sites, &here, 0x10000, 0x10000, "/lib/third.so"); /* in the place of the first */
    assert_int_not_equal(sites_number(&sites, &here, 0x10124), number);
    loaded_free(&here);
    loaded_free(&there);
    sites_free(&sites);
}

/* ---- the report ---- */

static void fence_at(struct made_job *job, uint32_t rank, double begin, double end,
                     uint64_t address)
{
    const size_t at = job->app[rank].n;

    make_fence(job, rank, begin, end, 0);
    assert_int_equal(job->app[rank].record[at].kind, TRACE_ENTER);
    job->app[rank].record[at].id = address;
}

/* The number that all processes have for the window that a file's process has made. */
static uint64_t window_id(const struct made_file *file)
{
    for (size_t i = 0; i < file->n; i++)
        if (file->record[i].kind == TRACE_WIN_CREATE)
            return file->record[i].id;
    fail();
    return 0;
}

/* Two fences, to each of which another rank is late: at places of this program with lines, and at
 * places of a file that is not there. */
static char *two_fences(const char *path, const struct self *self, uint64_t first, uint64_t second,
                        const char *arguments)
{
    struct made_job job;

    make_job(&job, 2);
    for (uint32_t rank = 0; rank < 2; rank++)
        add_object(
            &job.app[rank], 0,
            (struct trace_object){
                .pages = UINT32_MAX, .begin = self->base, .base = self->base, .build = self->build},
            path);
    make_create_all(&job);
    for (uint32_t rank = 0; rank < 2; rank++) {
        const uint64_t id = window_id(&job.app[rank]);
        struct trace_record *named = make_record(&job.app[rank], 20, TRACE_WIN_NAME);

        named->win = 1;
        named->id = id;
        add_text(&job.app[rank], 20, "rows of a grid, in two halves");
    }
    fence_at(&job, 0, 1000, 1010, first);
    fence_at(&job, 1, 100, 1010, first);
    fence_at(&job, 0, 2000, 4010, second);
    fence_at(&job, 1, 4000, 4010, second);
    make_free_all(&job, 10000);
    char *output = run_report(&job, arguments);
    make_free(&job);
    return output;
}

static void fences_are_told_apart(void **state)
{
    const struct self self = this_program();
    const struct place first = first_place(), second = second_place();
    (void)state;

    have_addr2line();
    char *output = two_fences(self.path, &self, first.address, second.address, "%s");
    char *expected[] = {
        text("900.00 us in MPI_Win_fence at test_sites.c:%u (first_place), 1 time\n", first.line),
        text("2.000 ms in MPI_Win_fence at test_sites.c:%u (second_place), 1 time\n", second.line),
        text("rank 1, computing between MPI_Win_fence at test_sites.c:%u and MPI_Win_fence at "
             "test_sites.c:%u: ",
             first.line, second.line),
        text("because of rank 1 (MPI_Win_fence at test_sites.c:%u)", second.line),
        text("rows of a grid, in two halves (window 0, created)"),
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        if (!strstr(output, expected[i]))
            print_message("no \"%s\" in\n%s", expected[i], output);
        assert_non_null(strstr(output, expected[i]));
        free(expected[i]);
    }
    free(output);
    output = two_fences(self.path, &self, first.address, second.address, "--json %s");
    char *line = text("\"line\": %u, \"function\": \"second_place\"", second.line);
    assert_non_null(strstr(output, line));
    free(line);
    free(output);
}

static void places_without_lines(void **state)
{
    const struct self self = {.base = 0x1000, .build = 5};
    (void)state;

    char *output = two_fences("/nowhere/program", &self, 0x1124, 0x1224, "%s");
    assert_non_null(strstr(output, "in MPI_Win_fence at program+0x123, 1 time\n"));
    assert_non_null(strstr(output, "in MPI_Win_fence at program+0x223, 1 time\n"));
    assert_non_null(strstr(
        output, "/nowhere/program cannot be read: places of calls in it are given as offsets"));
    free(output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_this_program), cmocka_unit_test(what_cannot_be_resolved),
        cmocka_unit_test(numbers_of_places),     cmocka_unit_test(fences_are_told_apart),
        cmocka_unit_test(places_without_lines),
    };
    return cmocka_run_group_tests_name("sites", tests, NULL, NULL);
}
