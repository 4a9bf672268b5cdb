/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_save_file.c - base/save_file: files are made, replaced, or left as they were; streams.
 */
#define _GNU_SOURCE 1
#include "test/support/shm_helper.h"

#include <sys/stat.h>

#include "base/save_file.h"

static char dir[256];

static int make_dir(void **state)
{
    (void)state;
    return scratch_dir(dir, sizeof dir) ? 0 : -1;
}

/* Its entries are the tests' own to remove. */
static int remove_dir(void **state)
{
    (void)state;
    return rmdir(dir);
}

struct path {
    char at[300];
};

static struct path in_dir(const char *name)
{
    struct path path;

    snprintf(path.at, sizeof path.at, "%s/%s", dir, name);
    return path;
}

struct content {
    char text[100];
};

static struct content read_back(const char *path)
{
    struct content content;
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, content.text, sizeof content.text - 1);

    if (fd >= 0)
        close(fd);
    content.text[n < 0 ? 0 : n] = '\0';
    return content;
}

static void a_file_is_made_and_replaced(void **state)
{
    const struct path in = in_dir("f");
    const char *path = in.at;
    struct stat st;
    (void)state;

    assert_false(save_file_is_stream(path));
    assert_int_equal(save_file(path, "a longer one", 12), 0);
    assert_string_equal(read_back(path).text, "a longer one");
    assert_int_equal(save_file(path, "short", 5), 0);
    assert_string_equal(read_back(path).text, "short");
    assert_int_equal(count_entries(dir), 1);
    mode_t mask = umask(022);
    umask(mask);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
    unlink(path);
}

static void a_link_stays(void **state)
{
    struct stat st;
    (void)state;

    assert_int_equal(save_file(in_dir("f").at, "old", 3), 0);
    assert_int_equal(symlink("f", in_dir("link").at), 0);
    assert_int_equal(save_file(in_dir("link").at, "new", 3), 0);
    assert_int_equal(lstat(in_dir("link").at, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_string_equal(read_back(in_dir("f").at).text, "new");
    unlink(in_dir("link").at);
    unlink(in_dir("f").at);
}

static void what_cannot_be_written_leaves_nothing(void **state)
{
    char name[5000];
    (void)state;

    assert_int_equal(save_file(in_dir("none/f").at, "x", 1), ENOENT);
    assert_int_equal(mkdir(in_dir("d").at, 0700), 0);
    assert_int_equal(save_file(in_dir("d").at, "x", 1), EISDIR);
    assert_int_equal(save_file("/dev/full", "x", 1), ENOSPC);
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(save_file(name, "x", 1), ENAMETOOLONG);
    assert_int_equal(rmdir(in_dir("d").at), 0);
    assert_int_equal(count_entries(dir), 0);
}

/* Also where output goes to a file, whose place nothing may take. */
static void a_stream_gets_it_at_its_end(void **state)
{
    char name[64];
    int fd = open(in_dir("out").at, O_RDWR | O_CREAT, 0600), ends[2];
    (void)state;

    assert_int_equal(write(fd, "before, ", 8), 8);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    assert_true(save_file_is_stream(name));
    assert_int_equal(save_file(name, "after", 5), 0);
    close(fd);
    assert_string_equal(read_back(in_dir("out").at).text, "before, after");
    assert_int_equal(count_entries(dir), 1);
    unlink(in_dir("out").at);

    assert_int_equal(mkfifo(in_dir("pipe").at, 0600), 0);
    assert_true(save_file_is_stream(in_dir("pipe").at));
    ends[0] = open(in_dir("pipe").at, O_RDONLY | O_NONBLOCK);
    assert_int_equal(save_file(in_dir("pipe").at, "piped", 5), 0);
    assert_int_equal(read(ends[0], name, sizeof name), 5);
    assert_memory_equal(name, "piped", 5);
    close(ends[0]);
    unlink(in_dir("pipe").at);
}

static int full_child(void *arg)
{
    const char *small = arg;
    char path[300], rest[70000];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (!tiny_tmpfs(small, 2 * page) || 2 * page > sizeof rest)
        return CHILD_SKIP;
    memset(rest, 'r', sizeof rest);
    snprintf(path, sizeof path, "%s/f", small);
    CHILD_CHECK(save_file(path, "old", 3) == 0);
    CHILD_CHECK(save_file(path, rest, 2 * page) == ENOSPC);
    CHILD_CHECK(strcmp(read_back(path).text, "old") == 0);
    CHILD_CHECK(count_entries(small) == 1);
    return 0;
}

static void a_full_disk_keeps_the_old_file(void **state)
{
    (void)state;
    expect_mounting_child(full_child);
}

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_is_made_and_replaced),
                                       cmocka_unit_test(a_link_stays),
                                       cmocka_unit_test(what_cannot_be_written_leaves_nothing),
                                       cmocka_unit_test(a_stream_gets_it_at_its_end),
                                       cmocka_unit_test(a_full_disk_keeps_the_old_file)};

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}

int main(void)
{
    return run_with_skips(all_tests);
}
