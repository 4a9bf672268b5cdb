/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_system.c - what the kernel and the machine are: sleeping on a futex, descriptors,
 * processors.
 */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS */
#include "info_items.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/futex_event.h"
#include "sys/topo.h"

/* The child stores and notifies; the parent sleeps until it sees the store. */
struct futex_page {
    struct event event;
    _Atomic uint32_t flag;
};

static bool futex_round(struct futex_page *page)
{
    pid_t pid = fork();

    if (pid == 0) {
        usleep(1000);
        atomic_store_explicit(&page->flag, 1,
                              memory_order_release); /* pairs with the parent's load */
        event_notify(&page->event, EVENT_NO_POLL);
        _exit(0);
    }
    if (pid < 0)
        return false;
    for (int i = 0; i < 20 && atomic_load_explicit(&page->flag, memory_order_acquire) == 0; i++) {
        uint32_t ticket = event_enter(&page->event);
        if (atomic_load_explicit(&page->flag, memory_order_acquire) == 0)
            event_sleep(&page->event, ticket, 100 * 1000 * 1000);
        event_leave(&page->event);
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return atomic_load_explicit(&page->flag, memory_order_acquire) == 1;
}

void report_futex(struct report *report)
{
    struct futex_page *page =
        mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool works = false;

    if (page != MAP_FAILED) {
        event_init(&page->event);
        atomic_init(&page->flag, 0);
        works = futex_round(page);
        munmap(page, sizeof *page);
    }
    item_note(item_number(report, "system", "futex", ITEM_BOOL, works), "%s",
              works ? "a process sleeps until another one wakes it"
                    : "waking another process failed");
}

void report_descriptors(struct report *report)
{
    unsigned open_now = 0;
    DIR *dir = opendir("/proc/self/fd");

    item_limit(report, "system", "open_files_limit", RLIMIT_NOFILE, ITEM_COUNT, NULL,
               "ulimit -n; each shared segment takes one in its owner and one in each process that "
               "maps it");
    if (dir == NULL)
        return;
    while (readdir(dir) != NULL)
        open_now++;
    closedir(dir);
    item_note(item_number(report, "system", "open_files_now", ITEM_COUNT, open_now - 3),
              "of this program: what it inherits counts for every rank too");
}

void report_topology(struct report *report)
{
    struct catcher c;
    struct topo topo;
    char why[400];

    catch_begin(&c);
    int err = topo_load(&topo, &c.log);
    catch_end(&c, why, sizeof why);
    if (err != MRMA_SUCCESS) {
        item_note(item_text(report, "topology", "summary", "unknown"), "%s", why);
        return;
    }
    item_text(report, "topology", "summary", topo.summary);
    item_note(item_number(report, "topology", "allowed_pus", ITEM_COUNT, topo.allowed),
              "more ranks than this on the node share processors: waiting then yields at once");
    item_number(report, "topology", "pus", ITEM_COUNT, topo.pus);
    item_number(report, "topology", "cores", ITEM_COUNT, topo.cores);
    item_number(report, "topology", "packages", ITEM_COUNT, topo.packages);
    item_number(report, "topology", "numa_nodes", ITEM_COUNT, topo.numa);
}
