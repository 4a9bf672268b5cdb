/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_items.h - between the files of the report: how each adds its items, and what they fill in.
 *
 * Every probe is the library's own code; what it logs goes to a pipe (struct catcher) and becomes
 * the item's note.
 */
#ifndef MRMA_TOOLS_INFO_ITEMS_H
#define MRMA_TOOLS_INFO_ITEMS_H

#include "base/conf.h"
#include "base/log.h"
#include "info_report.h"

#define PROBE_WORD UINT64_C(0x6d7069726d610001) /* a value that nobody else has */

/* Add an item to a section; the texts of section and key are not copied. */
struct item *item_number(struct report *report, const char *section, const char *key,
                         enum item_kind kind, uint64_t number);
struct item *item_text(struct report *report, const char *section, const char *key,
                       const char *text);
void item_note(struct item *item, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A limit of getrlimit; *least (NULL: nobody asks) becomes it, if it is lower. */
void item_limit(struct report *report, const char *section, const char *key, int resource,
                enum item_kind kind, uint64_t *least, const char *note);

struct catcher {
    struct log log;
    int pipe[2];
};
void catch_begin(struct catcher *c);
/* The text of the first line that was logged, without prefix and level. */
void catch_end(struct catcher *c, char *text, size_t len);

/* info_report.c: the configuration if no variable but this one were set, as conf_load. */
int conf_load_only(const char *name, struct conf *conf, char *msg, size_t len);
/* info_segments.c: create a segment in dir ("": anonymous memory), commit it, have a forked process
 * open it; what is wrong, or how it went, goes to why. And the section that tells of them. */
bool try_segment(const char *dir, bool *created, char *why, size_t len);
void report_segments(struct report *report, const char *dir);
/* info_paths.c */
void report_paths(struct report *report, const char *dir);
/* info_system.c */
void report_futex(struct report *report);
void report_descriptors(struct report *report);
void report_topology(struct report *report);

#endif
