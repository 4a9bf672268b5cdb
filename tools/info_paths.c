/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_paths.c - which data paths work on this machine, and why one does not: each is tried.
 */
#include "info_items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/err.h"
#include "netmod/ofi/nmofi.h"
#include "rma/origin/rdma_choice.h"
#include "rma/rma.h"
#include "rma/create/route.h"
#include "shm/cma_probe.h"
#include "shm/xpmem.h"

/* Does the library permit peers to attach, as MPIRMA_PTRACER says? */
static bool permits_peers(void)
{
    struct conf conf;
    char msg[512];

    return conf_load_only("MPIRMA_PTRACER", &conf, msg, sizeof msg) != MRMA_SUCCESS ||
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
    struct item *item = item_number(report, "data_paths", "cma", ITEM_BOOL, works);
    if (failed == 0)
        cma_probe_explain(probe.sibling, probe.yama_scope, why, sizeof why);
    if (failed != 0)
        item_note(item, "could not be tried, no process to try it with: %s", strerror(failed));
    else if (probe.sibling == 0)
        item_note(item, "process_vm_readv and process_vm_writev work between sibling processes");
    else if (probe.permitted == 0)
        item_note(
            item,
            "works between siblings after the target permits it by prctl(PR_SET_PTRACER), which "
            "the library does (MPIRMA_PTRACER=any); without that: %s",
            why);
    else
        item_note(item, "refused between siblings: %s%s", why,
                  probe.child == 0 ? "; permitted towards children, but ranks are siblings" : "");
    if (probe.yama_scope < 0)
        item_note(item_text(report, "data_paths", "yama_ptrace_scope", "none"),
                  "this kernel does not run the Yama module");
    else
        item_note(
            item_number(report, "data_paths", "yama_ptrace_scope", ITEM_COUNT,
                        (uint64_t)probe.yama_scope),
            "kernel.yama.ptrace_scope: 0 same user, 1 descendants, 2 CAP_SYS_PTRACE, 3 nobody");
}

/* What MPIRMA_XPMEM says. */
static enum conf_xpmem wanted_xpmem(void)
{
    struct conf conf;
    char msg[512];

    return conf_load_only("MPIRMA_XPMEM", &conf, msg, sizeof msg) == MRMA_SUCCESS ? conf.xpmem
                                                                                  : CONF_XPMEM_AUTO;
}

/* As each process tries it on itself. */
static void report_xpmem(struct report *report)
{
    struct shm_xpmem *xpmem;
    char why[300];

    const enum conf_xpmem wanted = wanted_xpmem();
    const bool works = wanted != CONF_XPMEM_NO && shm_xpmem_open(wanted == CONF_XPMEM_YES, &xpmem,
                                                                 why, sizeof why) == MRMA_SUCCESS;
    struct item *item = item_number(report, "data_paths", "xpmem", ITEM_BOOL, works);
    if (!works) {
        item_note(item, "%s", wanted != CONF_XPMEM_NO ? why : "not tried: MPIRMA_XPMEM=no");
        return;
    }
    item_note(item,
              "version %x of the module: malloc memory and regions of dynamic windows are mapped",
              (unsigned)shm_xpmem_version(xpmem));
    shm_xpmem_close(xpmem);
}

static struct ch3_vc *find_nobody(void *ctx, uint64_t uid)
{
    (void)ctx, (void)uid;
    return NULL;
}

static const char *done_by(enum ch3_rdma_by by)
{
    return by == CH3_RDMA_CARD       ? "by the card alone"
           : by == CH3_RDMA_PROVIDER ? "with the help of the target's processor"
                                     : "through a socket";
}

/* SIZE_MAX: there is none. */
static void threshold(struct report *report, const char *section, const char *key, size_t value,
                      const char *note)
{
    if (value == SIZE_MAX)
        item_note(item_text(report, section, key, "none"), "%s", note);
    else
        item_note(item_number(report, section, key, ITEM_BYTES, value), "%s", note);
}

/* The operations on elements of one type that the provider has. */
static void atomics(struct report *report, const char *section, const char *key, uint16_t ops,
                    const char *type)
{
    static const char *const names[CH3_ATOMIC_OPS] = {
        [CH3_ATOMIC_CAS] = "cas",    [CH3_ATOMIC_SUM] = "sum",   [CH3_ATOMIC_PROD] = "prod",
        [CH3_ATOMIC_MIN] = "min",    [CH3_ATOMIC_MAX] = "max",   [CH3_ATOMIC_LAND] = "land",
        [CH3_ATOMIC_LOR] = "lor",    [CH3_ATOMIC_LXOR] = "lxor", [CH3_ATOMIC_BAND] = "band",
        [CH3_ATOMIC_BOR] = "bor",    [CH3_ATOMIC_BXOR] = "bxor", [CH3_ATOMIC_REPLACE] = "replace",
        [CH3_ATOMIC_NO_OP] = "no_op"};
    char text[160] = "";
    size_t used = 0;
    for (int op = 0; op < CH3_ATOMIC_OPS; op++)
        if (ops >> op & 1 && names[op] && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "," : "",
                                     names[op]);
    item_note(item_text(report, section, key, used ? text : "none"),
              "accumulates on %s that it says it does by itself (mpirma_fabric_atomics)", type);
}

void report_rdma(struct report *report, const char *section, const struct ch3_channel *ch,
                 const struct conf *conf)
{
    const struct origin_rdma_thresholds th = origin_rdma_thresholds(ch->rdma.by, conf);
    item_note(item_text(report, section, "rdma_by", done_by(ch->rdma.by)), "%s",
              ch->caps & CH3_CAP_RDMA_READ_BEHIND
                  ? "a flush reads after its puts"
                  : "the end of a put says that its data is in place");
    threshold(report, section, "rdma_min", th.min, "and more goes without packets");
    threshold(report, section, "rdma_min_passive", th.min_passive,
              "the same in passive target epochs");
    threshold(report, section, "rdma_many", th.many,
              "by packet in a fence or PSCW epoch, then shorter ones, too");
    item_note(item_number(report, section, "rdma_segments", ITEM_COUNT, th.segments),
              "pieces at most");
    item_note(item_number(report, section, "rdma_notify", ITEM_BOOL,
                          th.words && (ch->caps & CH3_CAP_RDMA_WORD)),
              "a notification goes with its put");
    threshold(report, section, "rdma_inject", ch->rdma.inject,
              "of a put at most leave with the call");
    atomics(report, section, "atomics_i64", ch->atomics.ops[CH3_ATOMIC_I64], "integers of 64 bits");
    atomics(report, section, "atomics_f64", ch->atomics.ops[CH3_ATOMIC_F64], "doubles");
}

static void network_capabilities(struct report *report, const struct nmofi *net,
                                 const struct conf *conf)
{
    const struct ch3_channel *ch = nmofi_channel((struct nmofi *)(uintptr_t)net);
    const bool rdma = ch->caps & CH3_CAP_RDMA;
    struct item *item = item_number(report, "data_paths", "net_rdma", ITEM_BOOL, rdma);
    if (!rdma) {
        item_note(item, "not offered by this provider, or not worth it (MPIRMA_OFI_RDMA)");
        return;
    }
    item_note(item, "puts and gets by the provider's remote memory access%s",
              ch->caps & CH3_CAP_RDMA_ORDERED ? ", packets ordered after it" : "");
    report_rdma(report, "data_paths", ch, conf);
}

/* An endpoint as the library opens it, on the interface for other machines. */
static void report_network(struct report *report)
{
    struct conf conf;
    struct catcher c;
    struct nmofi *net = NULL;
    char msg[512], why[400];

    if (conf_load(&conf, getenv, msg, sizeof msg) != MRMA_SUCCESS) {
        item_note(item_number(report, "data_paths", "net-packets", ITEM_BOOL, false),
                  "not tried: %s", msg);
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
    item_note(item_number(report, "data_paths", "net-packets", ITEM_BOOL, err == MRMA_SUCCESS),
              "%s", err == MRMA_SUCCESS ? nmofi_describe(net) : why);
    if (err != MRMA_SUCCESS)
        return;
    network_capabilities(report, net, &conf);
    nmofi_close(net);
}

/* The routes of windows that are not dynamic, as the environment is. */
static void report_routes(struct report *report)
{
    static const struct {
        enum rma_path path;
        bool net;
        const char *key;
    } routes[] = {{PATH_MAPPED, false, "route_mapped"},
                  {PATH_ASSISTED, false, "route_cma"},
                  {PATH_PACKETS, false, "route_shm_packets"},
                  {PATH_PACKETS, true, "route_net_packets"},
                  {PATH_RDMA, true, "route_rdma"}};
    struct conf conf;
    char msg[512], text[ROUTE_TEXT];
    if (conf_load(&conf, getenv, msg, sizeof msg) != MRMA_SUCCESS)
        return; /* which the environment's section says */
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        struct route r;
        route_build(&r, &(struct route_facts){.path = routes[i].path,
                                              .net = routes[i].net,
                                              .strict = conf.strict,
                                              .traced = conf.trace[0] != '\0'});
        route_text(&r, text, sizeof text);
        item_text(report, "routes", routes[i].key, text);
    }
}

void report_paths(struct report *report, const char *dir)
{
    char why[400];
    bool created, works = try_segment(dir, &created, why, sizeof why);

    item_note(item_number(report, "data_paths", "mapped", ITEM_BOOL, works), "%s", why);
    item_note(item_number(report, "data_paths", "proc_fd_access", ITEM_BOOL, works),
              works     ? "/proc/<pid>/fd/<fd> of another process can be opened"
              : created ? "see mapped"
                        : "not tried: no segment could be created");
    report_xpmem(report);
    report_cma(report);
    item_note(item_number(report, "data_paths", "shm-packets", ITEM_BOOL, works), "%s",
              works ? "rings in a shared segment" : "needs shared segments, see mapped");
    report_network(report);
    report_routes(report);
}
