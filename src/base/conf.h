/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conf.h - the library's settings: the MPIRMA_* environment, read once per engine.
 *
 * conf_table.h has a row for each setting, and says what it does. conf_load reads through a lookup
 * function so that tests (and many engines in one process) do not share the environment. Every
 * setting is checked: a value that is not understood gives an error text naming the variable, the
 * value and what was expected.
 *
 * MPIRMA_TUNE sets the thresholds of struct conf_tune, as in stage=1024,rdma_min=4096. Each of them
 * had a variable of its own once, whose name is still taken: MPIRMA_STAGE. MPIRMA_TUNE goes before
 * such an old name.
 */
#ifndef MRMA_BASE_CONF_H
#define MRMA_BASE_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/conf_type.h"
#include "base/log.h"

enum conf_path {
    CONF_PATH_AUTO,
    CONF_PATH_MAPPED,
    CONF_PATH_ASSISTED,
    CONF_PATH_SHM_PACKETS,
    CONF_PATH_NET_PACKETS
};

enum conf_rdma { CONF_RDMA_AUTO, CONF_RDMA_ON, CONF_RDMA_OFF };

enum conf_progress { CONF_PROGRESS_AUTO, CONF_PROGRESS_AGENT, CONF_PROGRESS_POLL };

enum conf_ptracer { CONF_PTRACER_ANY, CONF_PTRACER_UNCHANGED };

enum conf_xpmem { CONF_XPMEM_AUTO, CONF_XPMEM_YES, CONF_XPMEM_NO };

enum conf_alloc { CONF_ALLOC_SHARED, CONF_ALLOC_HOST };

enum conf_errors { CONF_ERRORS_OWN, CONF_ERRORS_CLASS };

enum conf_fence { CONF_FENCE_AUTO, CONF_FENCE_MARKERS, CONF_FENCE_COUNTS };

/* Of rdma_min to rdma_segments CONF_AUTO means what is in the table of
 * src/rma/origin/rdma_choice.c. */
struct conf_tune {
    int stage;                  /* bytes of small puts that a stage keeps, */
    int assisted_stage;         /* the same, for memory that others reach by the kernel */
    int assisted_queue_max;     /* largest put or get that shares a system call */
    int assisted_queue;         /* those that share one */
    int assisted_packet_max;    /* largest put or get that the target may do */
    int assisted_pieces;        /* its agent is woken for so many pieces */
    int joint_copy;             /* smallest put or get that a target that waits takes part in, */
    int joint_copy_private;     /* the same, where only the kernel lets it read the buffer */
    int rdma_min;               /* smallest put or get that the network does by itself, */
    int rdma_min_passive;       /* the same in passive target epochs, */
    int rdma_many;              /* and, in active ones, behind so many bytes by packet */
    int rdma_segments;          /* how many pieces */
    enum conf_rdma rdma_notify; /* whether a put of the network carries its notification */
    double defer_wait;
    int defer_queue;    /* bytes of the operations deferred for a target */
    int defer_copy_max; /* bytes of data that are copied for one of these */
};

struct conf {
    bool disable;
    enum conf_path path;
    int ranks_per_node; /* 0: real nodes */
    enum conf_progress progress;
    char agent_cpu[64]; /* a list of processors; "": all processors of the process */
    enum conf_fence fence;
    enum conf_alloc alloc_mem;
    int share_malloc;      /* 0: no; 1: from the usual size on; else from so many bytes on */
    char segment_dir[256]; /* "": anonymous memory (memfd) */
    char stats[256];       /* "" off, "1" standard error, else a file name */
    char trace[256];       /* a directory; "": no trace is taken */
    bool trace_conflicts;
    bool strict;
    enum conf_errors error_codes;
    enum conf_ptracer ptracer;
    enum conf_xpmem xpmem;
    double hang_report;     /* seconds, 0: off */
    char ofi_provider[64];  /* "": chosen by capability */
    char ofi_interface[64]; /* "": the places of the processes decide */
    enum conf_rdma ofi_rdma;
    enum log_level log_level;
    struct conf_tune tune;
};

/* The settings when no variable is set. */
extern const struct conf conf_default;

/* A setting. */
struct conf_var {
    const char *name; /* "MPIRMA_PATH"; of a tuning parameter "stage" */
    const char *text; /* what it does, in Markdown */
    struct conf_type type;
    size_t at, size; /* place and size of the field in struct conf */
};
extern const struct conf_var conf_vars[];   /* the variables; ends with name == NULL */
extern const struct conf_var conf_tuning[]; /* what MPIRMA_TUNE sets; ends likewise */

/* conf_load fills *conf from the variables of conf_vars, and of the old names, which lookup (a
 * function like getenv) returns; a variable that is unset or empty has its default. Returns
 * MRMA_SUCCESS; or MRMA_ERR_ARG if a value is not understood, with a line about it in msg (msg_len
 * bytes), and *conf is not written. Names in MPIRMA_TUNE that are no tuning parameters are ignored
 * here: conf_unknown_next finds them. */
int conf_load(struct conf *conf, char *(*lookup)(const char *name), char *msg, size_t msg_len);

/* A name that no setting has, as the first len letters of name; and the setting whose name is near
 * to it, NULL if there is none. */
struct conf_unknown {
    const char *name;
    size_t len;
    const char *near;
};

/* conf_unknown_variable looks at one setting, NAME=VALUE, of an environment. Returns whether NAME
 * begins as this library's variables do and is none of them; fills *unknown if so. */
bool conf_unknown_variable(const char *setting, struct conf_unknown *unknown);

/* conf_unknown_next searches a value of MPIRMA_TUNE from *at on, and moves *at. Returns whether it
 * has found another name that is no tuning parameter; fills *unknown if so. */
bool conf_unknown_next(const char **at, struct conf_unknown *unknown);

/* conf_old_names writes two texts: in names (len bytes) the old names for which lookup has a value,
 * with blanks between them; in tune (tune_len bytes) the value of MPIRMA_TUNE that does what these
 * and MPIRMA_TUNE do together. Returns how many old names there are. */
int conf_old_names(char *(*lookup)(const char *name), char *names, size_t len, char *tune,
                   size_t tune_len);

/* conf_value returns the value in use of the setting with that name as text, such as "auto": a
 * constant, or what it has written to buf (len bytes). NULL: there is no such setting. */
const char *conf_value(const struct conf *conf, const char *name, char *buf, size_t len);

/* conf_expects writes to buf (len bytes) which values a setting may have. */
void conf_expects(const struct conf_var *var, char *buf, size_t len);

#endif
