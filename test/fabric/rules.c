/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rules.c - the table of profiles, the changes to it from the environment, and violations.
 *
 * No locks: rules_of is called once, when libfabric loads the plug-in; counters are atomic.
 * Neighbours: rules.h, which says what each rule means.
 */
#include "test/fabric/rules.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASIC (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)
#define SENDS (FI_ORDER_SAS | FI_ORDER_SAR | FI_ORDER_RAS)
#define ATOMICS (FI_ORDER_RAR | FI_ORDER_WAR)
#define WRITES (FI_ORDER_SAW | FI_ORDER_WAW | FI_ORDER_RAW | FI_ORDER_WAS)

struct fabric_counts rules_counts;

/* What a profile does not name is this, or else 0: LOCAL_NEVER, WAIT_WORKS, LOST_NAMELESS. */
static const struct rules usual = {.api = 17,
                                   .inject = 64,
                                   .iov_max = 4,
                                   .rma_iov_max = 1,
                                   .key_bytes = 8,
                                   .tx_size = 64,
                                   .name_len = 16,
                                   .lost_ms = 100,
                                   .cards = 1};

static struct rules profiles[] = {
    {.name = "ideal",
     .order = SENDS | WRITES | ATOMICS,
     .offload = 1,
     .cq_data = 8,
     .words = 1,
     .atomics = ATOMICS_ALL},
    {.name = "verbs",
     .order = SENDS | WRITES,
     .mr_mode = BASIC,
     .mr_local = LOCAL_IF_OFFERED,
     .offload = 1,
     .key_bytes = 4,
     .placed_us = 20000,
     .delay_us = 300,
     .sized = 1,
     .fetched = 16384,
     .cq_data = 4,
     .words = 1,
     .atomics = ATOMICS_VERBS,
     .lost_inject = LOST_UNSAID},
    {.name = "cxi",
     .api = 15,
     .order = SENDS,
     .mr_mode = FI_MR_ENDPOINT | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
     .offload = 1,
     .iov_max = 1,
     .inject = 192,
     .name_len = 32,
     .late_writes = 2,
     .delay_us = 200,
     .late_atomics = 1,
     .cq_data = 8,
     .atomics = ATOMICS_CXI},
    {.name = "efa",
     .order = SENDS,
     .mr_mode = BASIC,
     .mr_local = LOCAL_IF_OFFERED,
     .wait = WAIT_REFUSED,
     .inject = 32,
     .name_len = 32,
     .late_writes = 1,
     .late_atomics = 1,
     .cq_data = 4,
     .words = 1,
     .delay_us = 100,
     .atomics = ATOMICS_SOFT,
     .lost_inject = LOST_UNSAID},
    {.name = "opx",
     .api = 15,
     .mr_mode = FI_MR_VIRT_ADDR,
     .mode = FI_CONTEXT2,
     .wait = WAIT_REFUSED,
     .iov_max = 1,
     .late_writes = 1,
     .late_sends = 2,
     .leftover = 1,
     .late_atomics = 1,
     .cq_data = 4,
     .atomics = ATOMICS_SOFT,
     .lost_inject = LOST_UNSAID},
    {.name = "psm3",
     .order = SENDS,
     .mode = FI_CONTEXT,
     .wait = WAIT_SILENT,
     .iov_max = 1,
     .name_len = 32,
     .late_atomics = 1,
     .atomics = ATOMICS_SOFT},
};

/* Those that FABRIC_RULES may change. */
#define FIELD(field)                          \
    {                                         \
#field, offsetof(struct rules, field) \
    }
static const struct {
    const char *name;
    size_t offset;
} fields[] = {
    FIELD(api),         FIELD(mr_local),      FIELD(wait),         FIELD(offload),
    FIELD(inject),      FIELD(iov_max),       FIELD(rma_iov_max),  FIELD(key_bytes),
    FIELD(tx_size),     FIELD(name_len),      FIELD(uneven),       FIELD(atomics),
    FIELD(late_writes), FIELD(late_sends),    FIELD(delay_us),     FIELD(leftover),
    FIELD(lost_inject), FIELD(lost_ms),       FIELD(cards),        FIELD(sized),
    FIELD(mr_us),       FIELD(mr_fail_after), FIELD(placed_us),    FIELD(universe),
    FIELD(pci),         FIELD(atomics_lie),   FIELD(atomics_fail), FIELD(late_atomics),
    FIELD(cq_data),     FIELD(words),         FIELD(fetched),
};

static void fill(struct rules *rules)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        unsigned value;
        memcpy(&value, (const char *)rules + fields[i].offset, sizeof value);
        if (!value)
            memcpy((char *)rules + fields[i].offset, (const char *)&usual + fields[i].offset,
                   sizeof value);
    }
}

static bool set_field(struct rules *rules, const char *name, unsigned value)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].name, name) == 0) {
            memcpy((char *)rules + fields[i].offset, &value, sizeof value);
            return true;
        }
    return false;
}

static bool change(struct rules *rules, const char *text)
{
    char name[32];
    unsigned value;
    int used;
    while (*text) {
        if (sscanf(text, "%31[a-z_]=%u%n", name, &value, &used) != 2 ||
            !set_field(rules, name, value)) {
            fprintf(stderr, "fabric: FABRIC_RULES: \"%s\" is no rule=number\n", text);
            return false;
        }
        text += used;
        text += *text == ',';
    }
    return true;
}

static void write_counts(void)
{
    const struct fabric_counts *c = &rules_counts;
    const char *name = getenv("FABRIC_COUNTS_FILE");
    FILE *file = name ? fopen(name, "a") : NULL;
    if (!file)
        return;
    fprintf(
        file,
        "sends %ju injects %ju receives %ju writes %ju injected_writes %ju writes_with_word %ju "
        "words %ju reads %ju atomics %ju "
        "registrations %ju local_descriptors %ju cq_reads %ju completions %ju errors %ju held %ju "
        "lost %ju violations %ju\n",
        (uintmax_t)c->sends, (uintmax_t)c->injects, (uintmax_t)c->receives, (uintmax_t)c->writes,
        (uintmax_t)c->injected_writes, (uintmax_t)c->writes_with_word, (uintmax_t)c->words,
        (uintmax_t)c->reads, (uintmax_t)c->atomics, (uintmax_t)c->registrations,
        (uintmax_t)c->local_descriptors, (uintmax_t)c->cq_reads, (uintmax_t)c->completions,
        (uintmax_t)c->errors, (uintmax_t)c->held, (uintmax_t)c->lost, (uintmax_t)c->violations);
    fclose(file);
}

const struct rules *rules_of(void)
{
    const char *name = getenv("FABRIC_PROFILE"), *changes = getenv("FABRIC_RULES");
    for (size_t i = 0; name && i < sizeof profiles / sizeof *profiles; i++)
        if (strcmp(profiles[i].name, name) == 0) {
            fill(&profiles[i]);
            if (changes && !change(&profiles[i], changes))
                return NULL;
            atexit(write_counts);
            return &profiles[i];
        }
    if (name)
        fprintf(stderr, "fabric: FABRIC_PROFILE=%s is no profile\n", name);
    return NULL;
}

void rules_broken(const char *fmt, ...)
{
    const char *how = getenv("FABRIC_VIOLATIONS");
    char text[200];
    va_list ap;
    COUNT(violations);
    if (how && strcmp(how, "count") == 0)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "fabric: violation: %s\n", text);
    abort();
}

void rules_of_environment(const struct rules *held)
{
    const char *universe = getenv("FI_UNIVERSE_SIZE"), *monitor = getenv("FI_MR_CACHE_MONITOR");
    if (held->sized && (!universe || !getenv("FI_OFI_RXM_USE_SRX")))
        rules_broken("FI_UNIVERSE_SIZE or FI_OFI_RXM_USE_SRX is not set");
    if (held->universe && (!universe || strtoul(universe, NULL, 10) != held->universe))
        rules_broken("FI_UNIVERSE_SIZE is %s, not %u", universe ? universe : "not set",
                     held->universe);
    if (!monitor || strcmp(monitor, "disabled") != 0)
        rules_broken("libfabric would watch memory beside UCX (FI_MR_CACHE_MONITOR)");
}
