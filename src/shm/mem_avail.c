/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mem_avail.c - reads /proc/meminfo and the control groups' memory files.
 *
 * A group is looked up under the usual mount points by the path that
 * /proc/self/cgroup gives. Inside a container that path may name a directory
 * that only the outside sees; levels that do not exist are passed over, and the
 * last level, the mount point, is then the container's own group. All paths
 * start at a root directory so that tests can lay out a system of their own.
 * No state, no locks. Neighbour: segment.c asks before it commits much.
 */
#include "shm/mem_avail.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What differs between the two versions of the memory controller. */
struct cgroup_kind {
    const char *mount;
    const char *limit; /* a number, or "max" */
    const char *usage;
    const char *reclaimable[3]; /* keys of memory.stat */
};

static const struct cgroup_kind cgroup_v2 = {
    "/sys/fs/cgroup",
    "memory.max",
    "memory.current",
    {"inactive_file", "active_file", "slab_reclaimable"},
};
static const struct cgroup_kind cgroup_v1 = {
    "/sys/fs/cgroup/memory",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    {"total_inactive_file", "total_active_file", NULL},
};

static void take_lower(struct mem_avail *out, uint64_t bytes, const char *by)
{
    if (bytes >= out->bytes)
        return;
    out->bytes = bytes;
    snprintf(out->limited_by, sizeof out->limited_by, "%s", by);
}

static void read_meminfo(const char *root, struct mem_avail *out)
{
    char path[512], line[256];
    unsigned long long kib;

    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return;
    while (fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) {
            take_lower(out, (uint64_t)kib * 1024, "MemAvailable");
            break;
        }
    fclose(f);
}

/* read_number reads the number in dir/name; false if there is none ("max", no such file). */
static bool read_number(const char *dir, const char *name, uint64_t *value)
{
    char path[1024];
    unsigned long long n;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return false;
    bool ok = fscanf(f, "%llu", &n) == 1;
    fclose(f);
    if (ok)
        *value = n;
    return ok;
}

static uint64_t read_reclaimable(const char *dir, const struct cgroup_kind *kind)
{
    char path[1024], key[64];
    unsigned long long n;
    uint64_t sum = 0;

    snprintf(path, sizeof path, "%s/memory.stat", dir);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return 0;
    while (fscanf(f, "%63s %llu", key, &n) == 2)
        for (int i = 0; i < 3 && kind->reclaimable[i] != NULL; i++)
            if (strcmp(key, kind->reclaimable[i]) == 0)
                sum += n;
    fclose(f);
    return sum;
}

static void read_level(const char *dir, const char *shown, const struct cgroup_kind *kind,
                       struct mem_avail *out)
{
    uint64_t limit, usage;

    if (!read_number(dir, kind->limit, &limit) || !read_number(dir, kind->usage, &usage))
        return;
    uint64_t cache = read_reclaimable(dir, kind);
    usage = usage > cache ? usage - cache : 0;
    take_lower(out, limit > usage ? limit - usage : 0, shown);
}

/* read_group reads the group and all groups above it, since each may have a limit. */
static void read_group(const char *root, const char *path, const struct cgroup_kind *kind,
                       struct mem_avail *out)
{
    char dir[768];
    size_t top = (size_t)snprintf(dir, sizeof dir, "%s%s", root, kind->mount);

    if (top + strlen(path) >= sizeof dir)
        return;
    strcpy(dir + top, path);
    for (;;) {
        read_level(dir, dir + strlen(root), kind, out);
        char *slash = strrchr(dir + top, '/');
        if (slash == NULL)
            return;
        *slash = '\0';
    }
}

/* has_memory returns whether "memory" is one of the comma-separated controllers. */
static bool has_memory(const char *controllers)
{
    for (const char *p = controllers; (p = strstr(p, "memory")) != NULL; p += 6)
        if ((p == controllers || p[-1] == ',') && (p[6] == '\0' || p[6] == ','))
            return true;
    return false;
}

static void read_cgroups(const char *root, struct mem_avail *out)
{
    char path[512], line[640];

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return;
    while (fgets(line, sizeof line, f) != NULL) {
        char *controllers = strchr(line, ':');
        char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL)
            continue;
        controllers++;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        if (controllers[0] == '\0')
            read_group(root, group, &cgroup_v2, out);
        else if (has_memory(controllers))
            read_group(root, group, &cgroup_v1, out);
    }
    fclose(f);
}

void mem_avail_read(const char *root, struct mem_avail *out)
{
    *out = (struct mem_avail){.bytes = UINT64_MAX, .limited_by = "nothing known"};
    read_meminfo(root, out);
    read_cgroups(root, out);
}
