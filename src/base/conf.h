/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conf.h - the MPIRMA_* environment, read once per engine.
 *
 * conf_load reads through a lookup function so that tests (and many engines in
 * one process) do not share the environment. Every variable is checked: a value
 * that is not understood gives an error text naming the variable, the value and
 * what was expected.
 */
#ifndef MRMA_BASE_CONF_H
#define MRMA_BASE_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"

enum conf_path {
    CONF_PATH_AUTO,
    CONF_PATH_MAPPED,
    CONF_PATH_ASSISTED,
    CONF_PATH_SHM_PACKETS,
    CONF_PATH_NET_PACKETS
};

/* Of a threshold: what is in the table of src/rma/origin/rdma_choice.c. */
enum { CONF_RDMA_TABLE = -1 };

enum conf_rdma { CONF_RDMA_AUTO, CONF_RDMA_ON, CONF_RDMA_OFF };

enum conf_progress { CONF_PROGRESS_AUTO, CONF_PROGRESS_AGENT, CONF_PROGRESS_POLL };

enum conf_ptracer { CONF_PTRACER_ANY, CONF_PTRACER_UNCHANGED };

enum conf_xpmem { CONF_XPMEM_AUTO, CONF_XPMEM_YES, CONF_XPMEM_NO };

enum conf_alloc { CONF_ALLOC_SHARED, CONF_ALLOC_HOST };

enum conf_errors { CONF_ERRORS_OWN, CONF_ERRORS_CLASS };

enum conf_fence { CONF_FENCE_AUTO, CONF_FENCE_MARKERS, CONF_FENCE_COUNTS };

struct conf {
    bool disable;                /* MPIRMA_DISABLE=0|1 */
    enum conf_path path;         /* MPIRMA_PATH=auto|mapped|cma|shm-packets|net-packets */
    int ranks_per_node;          /* MPIRMA_RANKS_PER_NODE=k, 0: real nodes */
    enum conf_progress progress; /* MPIRMA_PROGRESS=auto|agent|poll */
    char agent_cpu[64];        /* MPIRMA_AGENT_CPU: a list of processors, "": all of the process */
    enum conf_fence fence;     /* MPIRMA_FENCE=auto|markers|counts */
    enum conf_alloc alloc_mem; /* MPIRMA_ALLOC_MEM=shared|host */
    char segment_dir[256];     /* MPIRMA_SEGMENT_DIR, "": anonymous memory (memfd) */
    char stats[256];           /* MPIRMA_STATS: "" off, "1" stderr, else a file name; "0" is off */
    char trace[256];           /* MPIRMA_TRACE: a directory, "": no trace is taken */
    bool trace_conflicts;      /* MPIRMA_TRACE_CONFLICTS=0|1 */
    bool strict;               /* MPIRMA_STRICT=0|1 */
    enum conf_errors error_codes; /* MPIRMA_ERROR_CODES=own|class */
    enum conf_ptracer ptracer;    /* MPIRMA_PTRACER=any|unchanged */
    enum conf_xpmem xpmem;        /* MPIRMA_XPMEM=auto|yes|no */
    double hang_report;           /* MPIRMA_HANG_REPORT=seconds, 0: off */
    char ofi_provider[64];        /* MPIRMA_OFI_PROVIDER, "": chosen by capability */
    char ofi_interface[64];       /* MPIRMA_OFI_INTERFACE, "": chosen by where the processes are */
    enum conf_rdma ofi_rdma;      /* MPIRMA_OFI_RDMA=auto|on|off */
    enum log_level log_level;     /* MPIRMA_LOG=error|warn|info|debug|trace, default warn */
    /* Bytes, unless they say otherwise; what they decide is drawn in doc/design.md. */
    int stage;               /* MPIRMA_STAGE: small puts that a stage keeps, */
    int assisted_stage;      /* MPIRMA_CMA_STAGE: and where others need the kernel */
    int assisted_queue_max;  /* MPIRMA_CMA_QUEUE_MAX: a put or get that shares a system call */
    int assisted_queue;      /* MPIRMA_CMA_QUEUE: those that share one */
    int assisted_packet_max; /* MPIRMA_CMA_PACKET_MAX: a put or get that the target may do */
    int assisted_pieces;     /* MPIRMA_CMA_PIECES: for so many its agent is woken */
    int rdma_min;            /* MPIRMA_RDMA_MIN: a put or get that the network does by itself, */
    int rdma_min_passive;    /* MPIRMA_RDMA_MIN_PASSIVE: the same in passive target epochs, */
    int rdma_many;           /* MPIRMA_RDMA_MANY: and behind so much by packet in active ones; */
    int rdma_segments;       /* MPIRMA_RDMA_SEGMENTS: how many pieces. CONF_RDMA_TABLE: auto */
    enum conf_rdma
        rdma_notify;    /* MPIRMA_RDMA_NOTIFY=auto|on|off: with a put goes its notification */
    double defer_wait;  /* MPIRMA_DEFER_WAIT: seconds */
    int defer_queue;    /* MPIRMA_DEFER_QUEUE: of operations deferred for a target */
    int defer_copy_max; /* MPIRMA_DEFER_COPY_MAX: data of one of these that is copied */
};

/* What it is without any variable. */
extern const struct conf conf_default;

/* One row per variable, for mpi-rma-info and the user guide's check. */
struct conf_var {
    const char *name;     /* "MPIRMA_PATH" */
    const char *expected; /* "auto, mapped, cma, shm-packets or net-packets" */
    const char *meaning;  /* one line */
};
extern const struct conf_var conf_vars[]; /* ends with name == NULL */

/* conf_load fills *conf from the variables of conf_vars, which lookup (of getenv's shape) returns;
 * a variable that is unset or empty has its default. Returns MRMA_SUCCESS; or MRMA_ERR_ARG if a
 * value is not understood, with a line about it in msg (msg_len bytes), and *conf is not written.
 */
int conf_load(struct conf *conf, char *(*lookup)(const char *name), char *msg, size_t msg_len);

/* conf_nearest looks at one setting, NAME=VALUE, of an environment. If NAME begins as this
 * library's variables do and is none of them, returns the name of the variable that is most like
 * it, a constant; else NULL. */
const char *conf_nearest(const char *setting);

/* conf_value returns the value in use of the variable with that name as text, such as "auto": a
 * constant, or what it has written to buf (len bytes). NULL: there is no such variable. */
const char *conf_value(const struct conf *conf, const char *name, char *buf, size_t len);

#endif
