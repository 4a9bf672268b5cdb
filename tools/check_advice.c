/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_advice.c - what is slow here, and what mends it.
 *
 * Each paragraph follows from something that was measured in this job or tried on this machine, and
 * names it. The rules stand in one table, in the order in which they are asked.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "check.h"

enum { COLUMNS = 79, INDENT = 2 };

/* An operation that a computing target keeps waiting for longer than this waits for its call, not
 * for a processor. */
static const double TOO_LONG = 0.01;

static int paragraphs;

/* "- " and the text, broken between words. */
__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
    char text[1600];
    va_list args;
    int column = INDENT;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    printf("- ");
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        const int length = (int)strlen(word);
        if (column > INDENT && column + 1 + length > COLUMNS)
            column = printf("\n%*s", INDENT, "") - 1;
        column += printf("%s%s", column > INDENT ? " " : "", word);
    }
    printf("\n");
    paragraphs++;
}

static const struct item *find(const struct report *report, const char *section, const char *key)
{
    for (size_t i = 0; i < report->nitems; i++)
        if (strcmp(report->items[i].section, section) == 0 &&
            strcmp(report->items[i].key, key) == 0)
            return &report->items[i];
    return NULL;
}

static bool refused(const struct report *report, const char *section, const char *key,
                    const struct item **item)
{
    *item = find(report, section, key);
    return *item != NULL && (*item)->kind == ITEM_BOOL && (*item)->number == 0;
}

/* ---- the rules ---- */

static void is_in_use(const struct check *check, const struct report *report)
{
    (void)report;
    if (check->version[0] == '\0')
        say("libmpi-rma is not in use: every one-sided call goes to the host. Start the program "
            "with mpi-rma-run, or link it with -lmpi-rma ahead of the host's library.");
    if (check->size < 2)
        say("This job has one process, so nothing could be measured. If more were started, each is "
            "alone: the launcher is not that of %s, or it was given no process manager interface "
            "(srun: --mpi=pmi2 or --mpi=pmix).",
            check->host);
}

static void windows_work(const struct check *check, const struct report *report)
{
    (void)report;
    for (size_t i = 0; i < check->nrows; i++)
        if (check->row[i].path[0] == '\0')
            say("A window of %s memory was refused: %s", check->row[i].memory, check->row[i].why);
        else if (!check->row[i].right)
            say("What was put into %s memory of rank %d was not there afterwards.",
                check->row[i].memory, check->row[i].target);
}

/* Settings that take a slower way than the library would by itself. */
static const struct {
    const char *name, *value; /* value NULL: any but the default */
    const char *effect;
} settings[] = {
    {"MPIRMA_DISABLE", "1", "hands every one-sided call to the host"},
    {"MPIRMA_PATH", NULL, "forces one data path for all targets"},
    {"MPIRMA_RANKS_PER_NODE", NULL, "pretends several nodes on one machine"},
    {"MPIRMA_PROGRESS", "poll", "lets packets wait until the target calls the library"},
    {"MPIRMA_STRICT", "1", "checks every operation for conflicts"},
    {"MPIRMA_TRACE", NULL, "records every call"},
    {"MPIRMA_OFI_RDMA", "off", "sends large puts and gets over the network as packets"},
    {"MPIRMA_LOG", "debug", "writes messages all the time"},
    {"MPIRMA_LOG", "trace", "writes messages all the time"},
};

static void settings_are_fast(const struct check *check, const struct report *report)
{
    (void)check;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const struct item *item = find(report, "environment", settings[i].name);
        if (item != NULL && strncmp(item->note, "set;", 4) == 0 &&
            strcmp(item->text, "auto") != 0 && strcmp(item->text, "0") != 0 &&
            (settings[i].value == NULL || strcmp(item->text, settings[i].value) == 0))
            say("%s=%s is set, which %s. Unset it.", settings[i].name, item->text,
                settings[i].effect);
    }
    const struct item *unknown = find(report, "environment", "unknown");
    if (unknown != NULL)
        say("%s: set, but no variable of this version.", unknown->text);
    for (size_t i = 0; i < report->nitems; i++)
        if (strncmp(report->items[i].note, "ERROR: ", 7) == 0)
            say("%s", report->items[i].note + 7);
}

static void node_is_one(const struct check *check, const struct report *report)
{
    const struct item *pretended = find(report, "environment", "MPIRMA_RANKS_PER_NODE");

    if (check->node < check->machine && pretended != NULL && strcmp(pretended->text, "0") == 0)
        say("%d processes run on this machine, and %d of them can share memory with rank 0: the "
            "others are in other PID or network namespaces (containers), and are reached over the "
            "network. Start all of a machine in one container, or the containers with the host's "
            "PID and network namespaces.",
            check->machine, check->node);
}

static void kernel_permits(const struct check *check, const struct report *report)
{
    const struct item *item;

    (void)check;
    if (refused(report, "data_paths", "cma", &item))
        say("The kernel refuses cross-memory attach, so malloc memory is reached by packets, which "
            "the target has to serve: %s. In a container, grant CAP_SYS_PTRACE; or take window "
            "memory from MPI_Win_allocate or MPI_Alloc_mem, which needs none of it.",
            item->note);
    if (refused(report, "data_paths", "mapped", &item))
        say("Processes of a node cannot share memory: %s.", item->note);
    if (refused(report, "system", "futex", &item))
        say("Waiting processes cannot be woken: %s.", item->note);
}

static void room_is_there(const struct check *check, const struct report *report)
{
    const struct item *memory = find(report, "segments", "memory_available"),
                      *largest = find(report, "segments", "largest_now");
    struct statvfs shm;

    (void)check;
    if (memory != NULL && largest != NULL && largest->number < memory->number / 2)
        say("All windows of this node together can have %" PRIu64 " MiB of %" PRIu64
            " MiB that are free: the file system of MPIRMA_SEGMENT_DIR, ulimit -f or ulimit -v "
            "(see mpi-rma-info) is smaller. What is beyond that is MPI_ERR_NO_MEM.",
            largest->number >> 20, memory->number >> 20);
    if (statvfs("/dev/shm", &shm) == 0 && shm.f_blocks > 0) {
        const uint64_t room = (uint64_t)shm.f_bavail * shm.f_frsize;
        if (room < UINT64_C(64) << 20)
            say("/dev/shm has %" PRIu64 " MiB free. libmpi-rma takes nothing of it, but messages "
                "of the host do: enlarge it (in a container: --shm-size).",
                room >> 20);
    }
}

static void pages_are_huge(const struct check *check, const struct report *report)
{
    const struct item *item = find(report, "segments", "huge_pages");

    (void)check;
    if (item != NULL && (strcmp(item->text, "never") == 0 || strcmp(item->text, "deny") == 0))
        say("The system gives no huge pages to shared memory by first touch (shmem_enabled is %s), "
            "so random access to large windows misses the TLB more often than in malloc memory. "
            "Write \"advise\" to /sys/kernel/mm/transparent_hugepage/shmem_enabled, or give the "
            "info key mpirma_populate=true.",
            item->text);
}

static void processors_suffice(const struct check *check, const struct report *report)
{
    (void)report;
    if (check->units < check->node)
        say("%d processes of this node share %d processor%s, so each waits for its turn before it "
            "sees what others have put. Start fewer, or let the launcher bind them to more.",
            check->node, check->units, check->units == 1 ? "" : "s");
}

static void machine_is_idle(const struct check *check, const struct report *report)
{
    (void)report;
    if (check->load > check->units)
        say("Others use this machine: its load was %.1f before this check, with %d processor%s for "
            "this job. The times above are worth little.",
            check->load, check->units, check->units == 1 ? "" : "s");
}

/* The first device with remote memory access that Linux has found. */
static bool has_rdma_device(char *name, size_t len)
{
    DIR *dir = opendir("/sys/class/infiniband");
    const struct dirent *entry;
    bool found = false;

    if (dir == NULL)
        return false;
    while (!found && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.') {
            snprintf(name, len, "%s", entry->d_name);
            found = true;
        }
    closedir(dir);
    return found;
}

static void network_is_fast(const struct check *check, const struct report *report)
{
    const struct item *net = find(report, "data_paths", "net-packets");
    char device[256];

    if (net == NULL)
        return;
    if (net->number == 0) {
        say("No network can be opened, so windows over several nodes are refused: %s.", net->note);
        return;
    }
    const bool tcp = strncmp(net->note, "net,", 4) == 0 || strncmp(net->note, "tcp", 3) == 0 ||
                     strncmp(net->note, "sockets", 7) == 0;
    if (tcp && has_rdma_device(device, sizeof device))
        say("There is a device with remote memory access, %s, but libfabric has chosen %s. Install "
            "the provider for it (fi_info lists those there are), or name it in "
            "MPIRMA_OFI_PROVIDER.",
            device, net->note);
    else if (tcp && check->size > check->node)
        say("Other nodes are reached by TCP (%s): each operation takes the kernel's round trip. "
            "Linux shows no device with remote memory access here. Several operations in one epoch "
            "leave together.",
            net->note);
}

static void paths_are_direct(const struct check *check, const struct report *report)
{
    (void)report;
    for (size_t i = 0; i < check->nrows; i++) {
        const struct check_row *row = &check->row[i];
        if (row->path[0] != '\0' && row->why[0] != '\0')
            say("At the creation of a window of %s memory: %s", row->memory, row->why);
        if (strstr(row->path, "packets") != NULL && row->busy > TOO_LONG)
            say("A put into %s memory of rank %d took %.0f ms while it computed: it is served only "
                "when the target calls MPI. An agent thread serves it meanwhile "
                "(MPIRMA_PROGRESS=auto), if a processor is left for it.",
                row->memory, row->target, row->busy * 1e3);
    }
}

typedef void rule_fn(const struct check *check, const struct report *report);

static rule_fn *const rules[] = {
    is_in_use,       windows_work,     settings_are_fast, node_is_one,
    kernel_permits,  paths_are_direct, network_is_fast,   processors_suffice,
    machine_is_idle, room_is_there,    pages_are_huge,
};

int check_advise(const struct check *check, const struct report *report)
{
    paragraphs = 0;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        rules[i](check, report);
    return paragraphs;
}
