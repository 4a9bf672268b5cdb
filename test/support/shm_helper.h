/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shm_helper.h - directories for the tests of segments and of the heap.
 *
 * scratch_dir finds one whose file system has unnamed files. tiny_tmpfs, for use
 * in a child, hides such a directory under a small tmpfs in a mount namespace of
 * the child's own, so that nothing stays mounted however the child ends.
 */
#ifndef MRMA_TEST_SHM_HELPER_H
#define MRMA_TEST_SHM_HELPER_H

#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>

#include "base_helper.h"

/* Make a new directory and put its name into path. false: none can be had. */
static inline bool scratch_dir(char *path, size_t len)
{
    const char *bases[] = {getenv("TMPDIR"), P_tmpdir, "/var/tmp", "/dev/shm"};

    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        if (bases[i] == NULL)
            continue;
        snprintf(path, len, "%s/mpirma-test-XXXXXX", bases[i]);
        if (mkdtemp(path) == NULL)
            continue;
        int fd = open(path, O_TMPFILE | O_RDWR, 0600);
        if (fd >= 0) {
            close(fd);
            return true;
        }
        rmdir(path);
    }
    return false;
}

static inline int count_entries(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;

    if (dir == NULL)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}

#define NEED_MOUNT "mounting a tmpfs needs root or user namespaces"

static inline bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return ok;
}

/* A mount namespace of one's own, if need be by way of a user namespace in which
 * this user is root (an id that is not mapped could not own files). */
static inline bool own_mounts(void)
{
    unsigned uid = (unsigned)geteuid(), gid = (unsigned)getegid();
    char map[32];

    if (unshare(CLONE_NEWNS) == 0)
        return true;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return false;
    snprintf(map, sizeof map, "0 %u 1", uid);
    if (!write_text("/proc/self/setgroups", "deny") || !write_text("/proc/self/uid_map", map))
        return false;
    snprintf(map, sizeof map, "0 %u 1", gid);
    return write_text("/proc/self/gid_map", map);
}

/* false: not permitted here, neither as root nor in a user namespace. */
static inline bool tiny_tmpfs(const char *dir, size_t bytes)
{
    char options[64];

    snprintf(options, sizeof options, "size=%zu,mode=0777", bytes);
    if (!own_mounts())
        return false;
    if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0)
        return false;
    return mount("tmpfs", dir, "tmpfs", 0, options) == 0;
}

/* The child gets the name of a directory that it may hide under a tmpfs. */
static inline void expect_mounting_child(int (*child)(void *dir))
{
    char dir[256];

    assert_true(scratch_dir(dir, sizeof dir));
    int result = run_child(child, dir);
    rmdir(dir);
    expect_child(result, NEED_MOUNT);
}

#endif
