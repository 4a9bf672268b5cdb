/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_mem_avail.c - shm/mem_avail on laid-out systems: both control group
 * versions, limits at several levels, what a container sees, nothing at all.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include <ftw.h>
#include <sys/stat.h>

#include "shm/mem_avail.h"

static char root[64];

static int setup(void **state)
{
    (void)state;
    strcpy(root, P_tmpdir "/mpirma-test-XXXXXX");
    return mkdtemp(root) == NULL ? -1 : 0;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static int teardown(void **state)
{
    (void)state;
    return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Write a file below the root, with the directories that lead to it. */
static void put_file(const char *path, const char *text)
{
    char full[512];

    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        mkdir(full, 0700);
        *p = '/';
    }
    FILE *f = fopen(full, "we");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void expect(uint64_t bytes, const char *by)
{
    struct mem_avail avail;

    mem_avail_read(root, &avail);
    assert_true(avail.bytes == bytes);
    assert_string_equal(avail.limited_by, by);
}

#define MEMINFO "MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:    8000 kB\nSwapFree: 5 kB\n"
#define V2 "/sys/fs/cgroup"
#define V1 "/sys/fs/cgroup/memory"

static void nothing_known_is_no_limit(void **state)
{
    (void)state;
    expect(UINT64_MAX, "nothing known");
    put_file("/proc/self/cgroup", "0::/a\n");
    expect(UINT64_MAX, "nothing known");
}

static void without_groups_the_machine_counts(void **state)
{
    (void)state;
    put_file("/proc/meminfo", MEMINFO);
    expect(8000 * 1024, "MemAvailable");
    put_file("/proc/self/cgroup", "0::/a\n");
    put_file(V2 "/a/memory.max", "max\n");
    put_file(V2 "/a/memory.current", "4096\n");
    expect(8000 * 1024, "MemAvailable");
}

static void version_2_takes_the_tightest_level(void **state)
{
    (void)state;
    put_file("/proc/meminfo", MEMINFO);
    put_file("/proc/self/cgroup", "0::/job.slice/step 1\n");
    put_file(V2 "/job.slice/step 1/memory.max", "5000000\n");
    put_file(V2 "/job.slice/step 1/memory.current", "1000000\n");
    expect(4000000, V2 "/job.slice/step 1");
    put_file(V2 "/job.slice/memory.max", "6000000\n");
    put_file(V2 "/job.slice/memory.current", "5500000\n");
    expect(500000, V2 "/job.slice");
    put_file(V2 "/job.slice/memory.stat", "anon 9\ninactive_file 200000\nactive_file 100000\n"
                                          "slab_reclaimable 50000\nfile 77\n");
    expect(850000, V2 "/job.slice");
    put_file(V2 "/job.slice/memory.current", "7000000\n");
    expect(0, V2 "/job.slice");
}

static void version_1_is_read_by_its_own_names(void **state)
{
    (void)state;
    put_file("/proc/meminfo", MEMINFO);
    put_file("/proc/self/cgroup", "9:name=memory_not:/x\n5:cpu,memory:/job\n4:cpuset:/other\n");
    put_file(V1 "/job/memory.limit_in_bytes", "3000000\n");
    put_file(V1 "/job/memory.usage_in_bytes", "2900000\n");
    put_file(V1 "/job/memory.stat", "inactive_file 5\ntotal_inactive_file 400000\n");
    expect(500000, V1 "/job");
    put_file(V1 "/memory.limit_in_bytes", "9223372036854771712\n");
    put_file(V1 "/memory.usage_in_bytes", "123\n");
    expect(500000, V1 "/job");
}

/* In a container the path is the outside's; the mount point is the own group. */
static void a_path_that_is_not_there_falls_back_to_the_mount(void **state)
{
    (void)state;
    put_file("/proc/meminfo", MEMINFO);
    put_file("/proc/self/cgroup", "0::/../../docker/123\n");
    put_file(V2 "/memory.max", "2000000\n");
    put_file(V2 "/memory.current", "500000\n");
    expect(1500000, V2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_known_is_no_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(without_groups_the_machine_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(version_2_takes_the_tightest_level, setup, teardown),
        cmocka_unit_test_setup_teardown(version_1_is_read_by_its_own_names, setup, teardown),
        cmocka_unit_test_setup_teardown(a_path_that_is_not_there_falls_back_to_the_mount, setup,
                                        teardown),
    };
    return cmocka_run_group_tests_name("mem_avail", tests, NULL, NULL);
}
