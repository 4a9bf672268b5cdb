/*
 * info_report.c - tries the data paths and reads the limits of this machine.
 *
 * Order: environment, data paths, segments, system, topology. Every probe is the
 * library's own code (seg_create, seg_open from a forked process, the CMA probe,
 * the event count between two processes); its messages go to a pipe and become
 * the item's note. The program has one thread (a second one only while share_create is tried), so
 * forking is safe; children only answer and _exit. Neighbours: mpi-rma-info.c prints the report.
 */
#define _GNU_SOURCE 1 /* environ, MAP_ANONYMOUS */
#include "info_report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/event.h"
#include "base/log.h"
#include "base/topo.h"
#include "netmod/ofi/nmofi.h"
#include "shm/cma_probe.h"
#include "shm/inplace/inplace.h"
#include "shm/mem_avail.h"
#include "shm/segment.h"

#define PROBE_WORD UINT64_C(0x6d7069726d610001)

static struct item *add(struct report *report, const char *section, const char *key,
                        enum item_kind kind)
{
    if (report->nitems == REPORT_ITEMS) {
        fprintf(stderr, "mpi-rma-info: more than %d items\n", REPORT_ITEMS);
        abort();
    }
    struct item *item = &report->items[report->nitems++];
    *item = (struct item){.section = section, .key = key, .kind = kind};
    return item;
}

__attribute__((format(printf, 2, 3))) static void set_note(struct item *item, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(item->note, sizeof item->note, fmt, args);
    va_end(args);
}

static struct item *add_number(struct report *report, const char *section, const char *key,
                               enum item_kind kind, uint64_t number)
{
    struct item *item = add(report, section, key, kind);
    item->number = number;
    return item;
}

static struct item *add_text(struct report *report, const char *section, const char *key,
                             const char *text)
{
    struct item *item = add(report, section, key, ITEM_TEXT);
    snprintf(item->text, sizeof item->text, "%s", text);
    return item;
}

/* ---- the library's messages as notes ---- */

struct catcher {
    struct log log;
    int pipe[2];
};

static void catch_begin(struct catcher *c)
{
    c->pipe[0] = c->pipe[1] = -1;
    if (pipe2(c->pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        c->pipe[1] = -1; /* a log without descriptor drops the text, the result stays */
    log_init(&c->log, LOG_LEVEL_ERROR, c->pipe[1], "");
}

/* The text of the first line that was logged, without prefix and level. */
static void catch_end(struct catcher *c, char *text, size_t len)
{
    char buf[1024];
    ssize_t n = c->pipe[0] < 0 ? -1 : read(c->pipe[0], buf, sizeof buf - 1);

    buf[n < 0 ? 0 : n] = '\0';
    buf[strcspn(buf, "\n")] = '\0';
    char *start = strstr(buf, ": error ");
    start = start == NULL ? buf : start + strlen(": error ");
    char *colon = strstr(start, ": ");
    snprintf(text, len, "%s", n <= 0 ? "no message" : colon == NULL ? start : colon + 2);
    if (c->pipe[0] >= 0) {
        close(c->pipe[0]);
        close(c->pipe[1]);
    }
}

/* ---- environment ---- */

static const char *only_name;

static char *lookup_only(const char *name)
{
    return strcmp(name, only_name) == 0 ? getenv(name) : NULL;
}

/* Each variable by itself, so that one bad value does not hide the others. */
static void report_variables(struct report *report)
{
    struct conf conf;
    char msg[512], buf[256];

    for (const struct conf_var *var = conf_vars; var->name != NULL; var++) {
        const char *text = getenv(var->name);
        bool set = text != NULL && *text != '\0';
        only_name = var->name;
        if (conf_load(&conf, lookup_only, msg, sizeof msg) != MRMA_SUCCESS) {
            report->bad_environment = true;
            set_note(add_text(report, "environment", var->name, text), "ERROR: %s", msg);
            continue;
        }
        set_note(add_text(report, "environment", var->name,
                          conf_value(&conf, var->name, buf, sizeof buf)),
                 "%s; %s; expects %s", set ? "set" : "default", var->meaning, var->expected);
    }
}

static bool known_variable(const char *entry, size_t len)
{
    for (const struct conf_var *var = conf_vars; var->name != NULL; var++)
        if (strlen(var->name) == len && strncmp(var->name, entry, len) == 0)
            return true;
    return false;
}

/* A misspelt variable would otherwise just do nothing. */
static void report_unknown_variables(struct report *report)
{
    char names[256] = "";

    for (char **entry = environ; *entry != NULL; entry++) {
        size_t len = strcspn(*entry, "=");
        if (strncmp(*entry, "MPIRMA_", 7) != 0 || known_variable(*entry, len))
            continue;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%.*s", used > 0 ? " " : "", (int)len,
                 *entry);
    }
    if (names[0] != '\0')
        set_note(add_text(report, "environment", "unknown", names),
                 "set, but no variables of this version");
}

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
static bool try_segment(const char *dir, bool *created, char *why, size_t len)
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

/* ---- data paths ---- */

/* Does the library permit peers to attach, as MPIRMA_PTRACER says? */
static bool permits_peers(void)
{
    struct conf conf;
    char msg[512];

    only_name = "MPIRMA_PTRACER";
    return conf_load(&conf, lookup_only, msg, sizeof msg) != MRMA_SUCCESS ||
           conf.ptracer == CONF_PTRACER_ANY;
}

static void report_cma(struct report *report)
{
    struct cma_probe probe;
    char why[300];

    int failed = cma_probe_self(&probe);
    if (!permits_peers())
        probe.permitted = probe.sibling;
    bool works = failed == 0 && probe.permitted == 0;
    struct item *item = add_number(report, "data_paths", "cma", ITEM_BOOL, works);
    if (failed == 0)
        cma_probe_explain(probe.sibling, probe.yama_scope, why, sizeof why);
    if (failed != 0)
        set_note(item, "could not be tried, no process to try it with: %s", strerror(failed));
    else if (probe.sibling == 0)
        set_note(item, "process_vm_readv and process_vm_writev work between sibling processes");
    else if (probe.permitted == 0)
        set_note(
            item,
            "works between siblings after the target permits it by prctl(PR_SET_PTRACER), which "
            "the library does (MPIRMA_PTRACER=any); without that: %s",
            why);
    else
        set_note(item, "refused between siblings: %s%s", why,
                 probe.child == 0 ? "; permitted towards children, but ranks are siblings" : "");
    if (probe.yama_scope < 0)
        set_note(add_text(report, "data_paths", "yama_ptrace_scope", "none"),
                 "this kernel does not run the Yama module");
    else
        set_note(
            add_number(report, "data_paths", "yama_ptrace_scope", ITEM_COUNT,
                       (uint64_t)probe.yama_scope),
            "kernel.yama.ptrace_scope: 0 same user, 1 descendants, 2 CAP_SYS_PTRACE, 3 nobody");
}

static struct ch3_vc *find_nobody(void *ctx, uint64_t uid)
{
    (void)ctx, (void)uid;
    return NULL;
}

static void network_capabilities(struct report *report, const struct nmofi *net)
{
    const struct ch3_channel *ch = nmofi_channel((struct nmofi *)(uintptr_t)net);
    const bool rdma = ch->caps & CH3_CAP_RDMA;
    struct item *item = add_number(report, "data_paths", "net_rdma", ITEM_BOOL, rdma);
    if (rdma)
        set_note(item, "put and get of %zu bytes or more by the provider's remote memory access%s",
                 ch->rdma_min,
                 ch->caps & CH3_CAP_RDMA_ORDERED ? ", packets ordered behind it" : "");
    else
        set_note(item, "not offered by this provider, or not worth it (MPIRMA_OFI_RDMA)");
}

/* An endpoint as the library opens it, on the interface for other machines. */
static void report_network(struct report *report)
{
    struct conf conf;
    struct catcher c;
    struct nmofi *net = NULL;
    char msg[512], why[400];

    if (conf_load(&conf, getenv, msg, sizeof msg) != MRMA_SUCCESS) {
        set_note(add_number(report, "data_paths", "net_packets", ITEM_BOOL, false), "not tried: %s",
                 msg);
        return;
    }
    catch_begin(&c);
    const struct nmofi_opts opts = {.provider = conf.ofi_provider,
                                    .interface = conf.ofi_interface,
                                    .rdma = (enum nmofi_rdma)conf.ofi_rdma,
                                    .uid = PROBE_WORD,
                                    .log = &c.log,
                                    .find = find_nobody};
    int err = nmofi_open(&opts, &net);
    catch_end(&c, why, sizeof why);
    set_note(add_number(report, "data_paths", "net_packets", ITEM_BOOL, err == MRMA_SUCCESS), "%s",
             err == MRMA_SUCCESS ? nmofi_describe(net) : why);
    if (err != MRMA_SUCCESS)
        return;
    network_capabilities(report, net);
    nmofi_close(net);
}

static void *wait_for_end(void *fd)
{
    char byte;
    return read(*(int *)fd, &byte, 1) == 0 ? fd : NULL;
}

/* One byte of memory of its own, beside a thread as the hosts have them. */
static void report_share(struct report *report, const char *dir)
{
    char why[300] = "no memory";
    char *byte = malloc(1);
    struct inplace *ip = NULL;
    pthread_t thread;
    int fd[2], err = MRMA_ERR_OTHER;

    if (permits_peers())
        (void)cma_permit_peers();
    if (byte != NULL && inplace_create(dir, NULL, &ip) == MRMA_SUCCESS &&
        pipe2(fd, O_CLOEXEC) == 0) {
        const bool two = pthread_create(&thread, NULL, wait_for_end, &fd[0]) == 0;
        err = inplace_take(ip, byte, 1, false, why, sizeof why);
        if (err == MRMA_SUCCESS)
            inplace_drop(ip, byte, 1);
        close(fd[1]);
        if (two)
            pthread_join(thread, NULL);
        close(fd[0]);
    }
    set_note(add_number(report, "data_paths", "share_create", ITEM_BOOL, err == MRMA_SUCCESS), "%s",
             err == MRMA_SUCCESS
                 ? "malloc memory can become shared where it is (MPIRMA_SHARE_CREATE)"
                 : why);
    inplace_destroy(ip);
    free(byte);
}

static void report_paths(struct report *report, const char *dir)
{
    char why[400];
    bool created, works = try_segment(dir, &created, why, sizeof why);

    set_note(add_number(report, "data_paths", "mapped", ITEM_BOOL, works), "%s", why);
    set_note(add_number(report, "data_paths", "proc_fd_access", ITEM_BOOL, works),
             works     ? "/proc/<pid>/fd/<fd> of another process can be opened"
             : created ? "see mapped"
                       : "not tried: no segment could be created");
    report_cma(report);
    report_share(report, dir);
    set_note(add_number(report, "data_paths", "shm_packets", ITEM_BOOL, works), "%s",
             works ? "rings in a shared segment" : "needs shared segments, see mapped");
    report_network(report);
}

/* ---- segments ---- */

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void add_limit(struct report *report, const char *section, const char *key, int resource,
                      enum item_kind kind, uint64_t *least, const char *note)
{
    struct rlimit lim;

    if (getrlimit(resource, &lim) != 0)
        return;
    bool unlimited = lim.rlim_cur == RLIM_INFINITY;
    struct item *item =
        add_number(report, section, key, unlimited ? ITEM_UNLIMITED : kind, lim.rlim_cur);
    set_note(item, "%s", note);
    if (!unlimited && least != NULL)
        *least = lower(*least, lim.rlim_cur);
}

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
    set_note(add_text(report, "segments", "huge_pages", text),
             "of shared memory; granted where this is "
             "always, advise or within_size (/sys/kernel/mm/transparent_hugepage/shmem_enabled)");
}

static void report_segments(struct report *report, const char *dir)
{
    struct mem_avail avail;
    struct statfs fs;
    char why[400];
    bool created;
    uint64_t least;

    bool works = try_segment("", &created, why, sizeof why);
    set_note(add_number(report, "segments", "memfd", ITEM_BOOL, works), "%s",
             works ? "anonymous memory, the default kind" : why);
    mem_avail_read("", &avail);
    least = avail.bytes;
    if (avail.bytes != UINT64_MAX)
        set_note(add_number(report, "segments", "memory_available", ITEM_BYTES, avail.bytes),
                 "limited by %s", avail.limited_by);
    if (dir[0] != '\0') {
        works = try_segment(dir, &created, why, sizeof why);
        set_note(add_number(report, "segments", "directory", ITEM_BOOL, works),
                 "MPIRMA_SEGMENT_DIR=%s%s%s", dir, works ? "" : ": ", works ? "" : why);
        if (statfs(dir, &fs) == 0 && fs.f_blocks != 0) {
            uint64_t free_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
            set_note(add_number(report, "segments", "directory_free", ITEM_BYTES, free_bytes),
                     "in %s", dir);
            least = lower(least, free_bytes);
        }
    }
    add_limit(report, "segments", "file_size_limit", RLIMIT_FSIZE, ITEM_BYTES, &least, "ulimit -f");
    add_limit(report, "segments", "address_space_limit", RLIMIT_AS, ITEM_BYTES, &least,
              "ulimit -v");
    if (least != UINT64_MAX)
        set_note(add_number(report, "segments", "largest_now", ITEM_BYTES, least),
                 "more than this in all windows of the node together gives MPI_ERR_NO_MEM");
    report_huge_pages(report);
}

/* ---- system ---- */

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
        event_notify(&page->event);
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

static void report_futex(struct report *report)
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
    set_note(add_number(report, "system", "futex", ITEM_BOOL, works), "%s",
             works ? "a process sleeps until another one wakes it"
                   : "waking another process failed");
}

static void report_descriptors(struct report *report)
{
    unsigned open_now = 0;
    DIR *dir = opendir("/proc/self/fd");

    add_limit(report, "system", "open_files_limit", RLIMIT_NOFILE, ITEM_COUNT, NULL,
              "ulimit -n; each shared segment takes one in its owner and one in each process that "
              "maps it");
    if (dir == NULL)
        return;
    while (readdir(dir) != NULL)
        open_now++;
    closedir(dir);
    set_note(add_number(report, "system", "open_files_now", ITEM_COUNT, open_now - 3),
             "of this program: what it inherits counts for every rank too");
}

static void report_topology(struct report *report)
{
    struct catcher c;
    struct topo topo;
    char why[400];

    catch_begin(&c);
    int err = topo_load(&topo, &c.log);
    catch_end(&c, why, sizeof why);
    if (err != MRMA_SUCCESS) {
        set_note(add_text(report, "topology", "summary", "unknown"), "%s", why);
        return;
    }
    add_text(report, "topology", "summary", topo.summary);
    set_note(add_number(report, "topology", "allowed_pus", ITEM_COUNT, topo.allowed),
             "more ranks than this on the node share processors: waiting then yields at once");
    add_number(report, "topology", "pus", ITEM_COUNT, topo.pus);
    add_number(report, "topology", "cores", ITEM_COUNT, topo.cores);
    add_number(report, "topology", "packages", ITEM_COUNT, topo.packages);
    add_number(report, "topology", "numa_nodes", ITEM_COUNT, topo.numa);
}

void report_fill(struct report *report)
{
    struct conf conf;
    char msg[512];

    report->nitems = 0;
    report->bad_environment = false;
    report_variables(report);
    report_unknown_variables(report);
    only_name = "MPIRMA_SEGMENT_DIR";
    const char *dir =
        conf_load(&conf, lookup_only, msg, sizeof msg) == MRMA_SUCCESS ? conf.segment_dir : "";
    report_paths(report, dir);
    report_segments(report, dir);
    report_futex(report);
    report_descriptors(report);
    report_topology(report);
}
