/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_segments.c - can shared memory be had, by whom, and how much of it?
 */
#include "info_items.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "shm/mem_avail.h"
#include "shm/segment.h"

/* ---- a segment seen from another process ---- */

/* Runs in the child: map the parent's segment by its name and compare. */
static int open_as_peer(const struct seg_name *name, const struct log *log)
{
    struct seg seg;
    uint64_t word;

    if (seg_open(name, log, &seg) != MRMA_SUCCESS)
        return 1;
    memcpy(&word, seg.base, sizeof word);
    seg_close(&seg);
    if (word == PROBE_WORD)
        return 0;
    log_fail(log, MRMA_ERR_OTHER, "the peer sees other contents");
    return 1;
}

static bool peer_opens(const struct seg_name *name, const struct log *log)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(open_as_peer(name, log));
    if (pid < 0) {
        log_fail(log, MRMA_ERR_OTHER, "fork: %s", strerror(errno));
        return false;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Create, commit, have a peer open it; what is wrong goes to why. */
bool try_segment(const char *dir, bool *created, char *why, size_t len)
{
    struct catcher c;
    struct seg seg = {.fd = -1};
    const uint64_t word = PROBE_WORD;
    bool works = false;

    catch_begin(&c);
    *created = seg_create(dir, sizeof word, &c.log, &seg) == MRMA_SUCCESS &&
               seg_commit(&seg, 0, sizeof word, &c.log) == MRMA_SUCCESS;
    if (*created) {
        memcpy(seg.base, &word, sizeof word);
        struct seg_name name = seg_name_of(&seg);
        works = peer_opens(&name, &c.log);
    }
    seg_close(&seg);
    catch_end(&c, why, len);
    if (works)
        snprintf(why, len, "segments: %s; peers open them through /proc",
                 dir[0] == '\0' ? "memfd" : dir);
    return works;
}

/* ---- segments ---- */

static void report_huge_pages(struct report *report)
{
    char text[128] = "unknown";
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "re");

    if (f != NULL) {
        if (fgets(text, sizeof text, f) == NULL)
            snprintf(text, sizeof text, "unknown");
        fclose(f);
    }
    char *open = strchr(text, '['), *close = strchr(text, ']');
    if (open != NULL && close > open) {
        *close = '\0';
        memmove(text, open + 1, strlen(open));
    }
    text[strcspn(text, "\n")] = '\0';
    item_note(item_text(report, "segments", "huge_pages", text),
              "of shared memory; granted where this is "
              "always, advise or within_size (/sys/kernel/mm/transparent_hugepage/shmem_enabled)");
}

void report_segments(struct report *report, const char *dir)
{
    struct mem_avail avail;
    struct statfs fs;
    char why[400];
    bool created;
    uint64_t least;

    bool works = try_segment("", &created, why, sizeof why);
    item_note(item_number(report, "segments", "memfd", ITEM_BOOL, works), "%s",
              works ? "anonymous memory, the default kind" : why);
    mem_avail_read("", &avail);
    least = avail.bytes;
    if (avail.bytes != UINT64_MAX)
        item_note(item_number(report, "segments", "memory_available", ITEM_BYTES, avail.bytes),
                  "limited by %s", avail.limited_by);
    if (dir[0] != '\0') {
        works = try_segment(dir, &created, why, sizeof why);
        item_note(item_number(report, "segments", "directory", ITEM_BOOL, works),
                  "MPIRMA_SEGMENT_DIR=%s%s%s", dir, works ? "" : ": ", works ? "" : why);
        if (statfs(dir, &fs) == 0 && fs.f_blocks != 0) {
            uint64_t free_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
            item_note(item_number(report, "segments", "directory_free", ITEM_BYTES, free_bytes),
                      "in %s", dir);
            least = free_bytes < least ? free_bytes : least;
        }
    }
    item_limit(report, "segments", "file_size_limit", RLIMIT_FSIZE, ITEM_BYTES, &least,
               "ulimit -f");
    item_limit(report, "segments", "address_space_limit", RLIMIT_AS, ITEM_BYTES, &least,
               "ulimit -v");
    if (least != UINT64_MAX)
        item_note(item_number(report, "segments", "largest_now", ITEM_BYTES, least),
                  "more than this in all windows of the node together gives MPI_ERR_NO_MEM");
    report_huge_pages(report);
}
