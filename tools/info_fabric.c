/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_fabric.c - mpi-rma-info --fabric: the network is opened, call by call, and a message and a
 * put go over it.
 *
 * What the library says while it opens the network is caught in a file in memory; each line of it
 * becomes an item. Two endpoints of this process then talk to each other, as two processes would.
 *
 * Neighbours: info_items.h; src/netmod/ofi, which is tried.
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include "info_items.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "ch3/ch3.h"
#include "netmod/ofi/nmofi.h"
#include "sys/topo.h"

enum { ENDS = 2, STEPS = 200, BYTES = 65536, MESSAGE = 64 };
#define PATIENCE_NS UINT64_C(10000000000)

/* One of the two endpoints. */
struct end {
    struct ch3 ch3;
    struct nmofi *net;
    struct nmofi_peer peer;
    struct ch3_vc vc;
    unsigned got;
};

/* ---- what the library says ---- */

static bool is_said(const struct report *report, const char *text, const char *note)
{
    for (size_t i = 0; i < report->nitems; i++)
        if (strcmp(report->items[i].text, text) == 0 && strcmp(report->items[i].note, note) == 0)
            return true;
    return false;
}

/* "mpi-rma-info: trace: libfabric: fi_domain: good" becomes two texts, split at the first colon of
 * the rest. What has been said is not said again: providers are asked several times. */
static void add_line(struct report *report, char *line)
{
    static char keys[STEPS][12];
    static unsigned used;
    char *start = strstr(line, "libfabric: ");
    start = start == NULL ? line : start + strlen("libfabric: ");
    start[strcspn(start, "\n")] = '\0';
    char *colon = strstr(start, ": ");
    if (colon != NULL)
        *colon = '\0';
    const char *note = colon == NULL ? "" : colon + 2;
    if (used == STEPS || is_said(report, start, note))
        return;
    snprintf(keys[used], sizeof keys[used], "step_%u", used + 1);
    item_note(item_text(report, "fabric", keys[used++], start), "%s", note);
}

static void add_lines(struct report *report, int fd)
{
    char line[1100];
    FILE *file = fd < 0 || lseek(fd, 0, SEEK_SET) != 0 ? NULL : fdopen(fd, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        add_line(report, line);
    if (file != NULL)
        fclose(file);
}

/* ---- two endpoints ---- */

static uint64_t uid_of(int i)
{
    return PROBE_WORD + (uint64_t)i;
}

static struct ch3_vc *find_other(void *ctx, uint64_t uid)
{
    struct end *e = ctx;
    return uid == e->peer.uid ? &e->vc : NULL;
}

static void count(struct ch3_vc *from, const void *packet, size_t len)
{
    struct end *e = ch3_vc_owner(from);
    (void)packet;
    e->got += len == MESSAGE;
}

static int open_end(struct end *e, int i, const struct conf *conf, const struct log *log)
{
    struct topo_cpuset cpus;
    const bool bound = topo_cpuset_self(&cpus) == MRMA_SUCCESS;
    const struct nmofi_opts opts = {.provider = conf->ofi_provider,
                                    .interface = conf->ofi_interface,
                                    .rdma = (enum nmofi_rdma)conf->ofi_rdma,
                                    .node_cpus = bound ? &cpus : NULL,
                                    .uid = uid_of(i),
                                    .log = log,
                                    .ctx = e,
                                    .find = find_other};
    ch3_init(&e->ch3, log, NULL, e);
    const int err = nmofi_open(&opts, &e->net);
    if (err != MRMA_SUCCESS)
        return err;
    ch3_add_channel(&e->ch3, nmofi_channel(e->net));
    nmofi_channel(e->net)->deliver = count;
    return MRMA_SUCCESS;
}

static int connect_end(struct end *e, const struct end *to, int other)
{
    static const unsigned char secret[NMOFI_SECRET_BYTES] = "for this trial";
    struct nmofi_name name;
    nmofi_get_name(to->net, &name);
    int err = nmofi_add_secret(e->net, secret);
    if (err == MRMA_SUCCESS)
        err = nmofi_peer_init(e->net, &e->peer, uid_of(other), &name, secret);
    if (err == MRMA_SUCCESS) {
        ch3_vc_init(&e->vc, &e->ch3, nmofi_channel(e->net), &e->peer, e);
        (void)ch3_vc_event(&e->vc, CH3_VC_CONNECT);
    }
    return err;
}

static void close_ends(struct end *e)
{
    for (int i = 0; i < ENDS; i++)
        if (e[i].net != NULL && e[i].peer.nm != NULL)
            (void)ch3_vc_event(&e[i].vc, CH3_VC_CLOSE);
    for (int i = 0; i < ENDS; i++)
        if (e[i].net != NULL)
            nmofi_close(e[i].net);
}

/* Polls both until *what is true. Returns whether that came in time. */
static bool poll_until(struct end *e, const unsigned *what)
{
    const uint64_t began = clock_monotonic_ns();
    while (*what == 0 && clock_monotonic_ns() - began < PATIENCE_NS) {
        for (int i = 0; i < ENDS; i++)
            (void)ch3_poll(&e[i].ch3);
        usleep(100);
    }
    return *what != 0;
}

/* ---- what goes over them ---- */

static void try_message(struct report *report, struct end *e)
{
    static const unsigned char packet[MESSAGE];
    const uint64_t began = clock_monotonic_ns();
    const bool good = ch3_send(&e[0].vc, packet, sizeof packet, NULL, false) == MRMA_SUCCESS &&
                      poll_until(e, &e[1].got);
    struct item *item = item_number(report, "fabric", "message", ITEM_BOOL, good);
    item_note(item,
              good ? "from one endpoint of this process to another, in %.1f ms with the connection"
                   : "a message from one endpoint of this process to another did not arrive",
              (double)(clock_monotonic_ns() - began) / 1e6);
}

static unsigned done;
static int done_err;

static void put_done(struct ch3_rdma *op, int err)
{
    (void)op;
    done = 1;
    done_err = err;
}

static bool carried_out(struct end *e, struct ch3_rdma *op)
{
    done = 0;
    return ch3_rdma_start(&e[0].vc, op) == MRMA_SUCCESS && poll_until(e, &done) &&
           done_err == MRMA_SUCCESS;
}

static bool put_arrives(struct end *e, unsigned char *memory, struct ch3_mem_key key)
{
    static unsigned char mine[BYTES];
    memset(mine, 7, sizeof mine);
    struct ch3_rdma op = {.put = true,
                          .local = mine,
                          .len = sizeof mine,
                          .key = key.key,
                          .remote = key.base,
                          .done = put_done};
    struct ch3_rdma behind = {.local = mine,
                              .len = 1,
                              .key = key.key,
                              .remote = key.base,
                              .behind = true,
                              .done = put_done};
    return carried_out(e, &op) && (!ch3_rdma_needs_read(&e[0].vc) || carried_out(e, &behind)) &&
           memcmp(memory, mine, sizeof mine) == 0;
}

static void try_put(struct report *report, struct end *e, const struct conf *conf)
{
    static unsigned char memory[BYTES];
    struct ch3_channel *ch = nmofi_channel(e[1].net);
    struct ch3_mem_key key;
    struct ch3_mem *mem;
    if (!(ch->caps & CH3_CAP_RDMA)) {
        item_note(item_number(report, "fabric", "put", ITEM_BOOL, false),
                  "not offered by this provider, or not wanted (MPIRMA_OFI_RDMA)");
        return;
    }
    const bool registered =
        ch->ops->mem_register(ch, memory, sizeof memory, &key, &mem) == MRMA_SUCCESS;
    const bool good = registered && put_arrives(e, memory, key);
    item_note(item_number(report, "fabric", "put", ITEM_BOOL, good), "%s",
              good         ? "by the provider, into registered memory"
              : registered ? "the put failed, or its data are not in place"
                           : "memory cannot be registered (ulimit -l)");
    if (registered)
        ch3_mem_release(ch, mem);
    report_rdma(report, "fabric", ch, conf);
}

static void try_ends(struct report *report, struct end *e, const struct conf *conf)
{
    const struct ch3_channel *ch = nmofi_channel(e[0].net);
    const bool waits = ch->caps & CH3_CAP_WAIT;
    item_text(report, "fabric", "chosen", nmofi_describe(e[0].net));
    item_note(item_number(report, "fabric", "descriptor", ITEM_BOOL, waits), "%s",
              waits ? "who waits sleeps until something arrives"
                    : "nothing wakes who waits: the network is looked at again and again");
    if (connect_end(&e[0], &e[1], 1) != MRMA_SUCCESS ||
        connect_end(&e[1], &e[0], 0) != MRMA_SUCCESS)
        return;
    try_message(report, e);
    if (e[1].got != 0)
        try_put(report, e, conf);
}

/* ---- the machine ---- */

/* Names in a folder of the kernel's, behind those in text. */
static void list_cards(const char *folder, char *text, size_t len)
{
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        const size_t used = strlen(text);
        if (entry->d_name[0] != '.')
            snprintf(text + used, len - used, "%s%s", used > 0 ? " " : "", entry->d_name);
    }
    if (dir != NULL)
        closedir(dir);
}

static void report_cards(struct report *report)
{
    char cards[256] = "";
    list_cards("/sys/class/infiniband", cards, sizeof cards);
    list_cards("/sys/class/cxi", cards, sizeof cards);
    struct item *item = item_text(report, "fabric", "cards", cards[0] == '\0' ? "none" : cards);
    item_note(
        item, "%s",
        cards[0] == '\0'
            ? "the kernel has no card of a fabric: TCP is what there is"
            : "where no provider for these is above, this libfabric lacks it, or this user may "
              "not open the card");
    item_text(
        report, "fabric", "needed",
        "reliable datagrams, receive buffers for many messages (FI_MULTI_RECV), messages of 33 "
        "KiB, no modes but FI_CONTEXT and FI_CONTEXT2; wanted: FI_RMA, sends in order, a "
        "descriptor to wait on");
    item_limit(report, "fabric", "locked_memory", RLIMIT_MEMLOCK, ITEM_BYTES, NULL,
               "ulimit -l; cards pin what they reach");
}

bool report_fabric(struct report *report)
{
    static struct end ends[ENDS];
    struct conf conf;
    struct log log, quiet;
    char msg[512];
    const int fd = memfd_create("mpi-rma-info", MFD_CLOEXEC);

    report->nitems = 0;
    if (conf_load(&conf, getenv, msg, sizeof msg) != MRMA_SUCCESS) {
        report->bad_environment = true;
        item_note(item_text(report, "fabric", "chosen", "nothing"), "%s", msg);
        return false;
    }
    log_init(&log, LOG_LEVEL_TRACE, fd, "mpi-rma-info");
    log_init(&quiet, LOG_LEVEL_ERROR, 2, "mpi-rma-info");
    const bool good = open_end(&ends[0], 0, &conf, &log) == MRMA_SUCCESS;
    add_lines(report, fd);
    if (good && open_end(&ends[1], 1, &conf, &quiet) == MRMA_SUCCESS)
        try_ends(report, ends, &conf);
    else
        item_text(report, "fabric", "chosen", "nothing");
    report_cards(report);
    close_ends(ends);
    return good && ends[1].got != 0;
}
