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
#include "ch3/channel.h"
#include "info_report.h"

#define PROBE_WORD UINT64_C(0x6d7069726d610001) /* a value that nobody else has */

/* item_number adds an item with a number to a section and returns it, so that a note can be added.
 * The texts of section and key are not copied; the report has room for REPORT_ITEMS items. */
struct item *item_number(struct report *report, const char *section, const char *key,
                         enum item_kind kind, uint64_t number);

/* item_text adds an item with a text, which is copied and cut to fit, to a section and returns it.
 * The texts of section and key are not copied. */
struct item *item_text(struct report *report, const char *section, const char *key,
                       const char *text);

/* item_note sets the note of an item; it is cut to fit. */
void item_note(struct item *item, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* item_limit adds an item with a limit of getrlimit and this note; nothing if the system does not
 * tell. *least becomes the limit if that is lower; least may be NULL. */
void item_limit(struct report *report, const char *section, const char *key, int resource,
                enum item_kind kind, uint64_t *least, const char *note);

struct catcher {
    struct log log;
    int pipe[2];
};

/* catch_begin makes c->log a log whose messages are caught, until catch_end. */
void catch_begin(struct catcher *c);

/* catch_end writes the text of the first line that was logged, without prefix and level, to text
 * (len bytes). */
void catch_end(struct catcher *c, char *text, size_t len);

/* conf_load_only is conf_load of an environment in which no variable but this one is set. In
 * info_report.c. */
int conf_load_only(const char *name, struct conf *conf, char *msg, size_t len);

/* try_segment creates a segment in dir ("": anonymous memory), commits it and has a forked process
 * open it. Returns whether all of that went well; what is wrong, or how it went, goes to why (len
 * bytes), and *created says whether the segment could be created. In info_segments.c. */
bool try_segment(const char *dir, bool *created, char *why, size_t len);

/* report_segments adds the items about segments, in dir as in try_segment. In info_segments.c. */
void report_segments(struct report *report, const char *dir);

/* report_paths adds the items about data paths, with segments in dir as in try_segment. In
 * info_paths.c. */
void report_paths(struct report *report, const char *dir);

/* report_settings adds the items about the environment and MPIRMA_TUNE; sets bad_environment where
 * a value is not understood. In info_settings.c. */
void report_settings(struct report *report);

/* report_host adds the items about the MPI library of this process. With try_it, and where a
 * launcher has started this program, a child initialises it: so nobody else in this process may,
 * before or later. In info_host.c. */
void report_host(struct report *report, bool try_it);

/* report_rdma adds the items of that section about the way of puts and gets over the network: who
 * carries them out, and the thresholds that hold with conf. ch has CH3_CAP_RDMA. In info_paths.c.
 */
void report_rdma(struct report *report, const char *section, const struct ch3_channel *ch,
                 const struct conf *conf);

/* report_futex adds the item that says whether a process can wake another. In info_system.c. */
void report_futex(struct report *report);

/* report_descriptors adds the items about file descriptors. In info_system.c. */
void report_descriptors(struct report *report);

/* report_topology adds the items about processors. In info_system.c. */
void report_topology(struct report *report);

/* report_fabric fills *report, which is not used yet, with what opening the network and using it
 * brings. Returns whether a message went over it. In info_fabric.c. */
bool report_fabric(struct report *report);

#endif
