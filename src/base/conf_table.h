/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conf_table.h - the one table of the library's settings, which conf.c reads.
 *
 * A row is a setting: its field in struct conf, its name, its type (conf_type.h), its default as a
 * value of C, and the one text that says what it does. mpi-rma-info, the manual page and the tables
 * of the user guide are made from these rows. A text is Markdown, as it stands in the guide; its
 * first sentence says the most important thing, since mpi-rma-info prints only that by default.
 */
#ifndef MRMA_BASE_CONF_TABLE_H
#define MRMA_BASE_CONF_TABLE_H

/* clang-format off */

/* Variables of the environment. MPIRMA_TUNE sets the fields of the other table. */
#define CONF_VARIABLES(ROW) \
    ROW(disable, "MPIRMA_DISABLE", BOOL, false, \
        "`1`: every call goes to the host's own one-sided communication") \
    ROW(path, "MPIRMA_PATH", WORDS(path), CONF_PATH_AUTO, \
        "the one [data path](#data-paths) to all processes but the calling one; a window that " \
        "cannot use it is refused with `MPI_ERR_RMA_FLAVOR`. The same for all processes") \
    ROW(ranks_per_node, "MPIRMA_RANKS_PER_NODE", COUNT("a whole number k"), 0, \
        "every k consecutive ranks of a window are taken for a node; `0`: the real nodes. " \
        "Between such nodes go packets, over the network unless `MPIRMA_PATH=shm-packets`. " \
        "`MPI_Win_allocate_shared` over two of them is refused, and `MPI_Comm_split_type` by " \
        "`MPI_COMM_TYPE_SHARED` gives them") \
    ROW(progress, "MPIRMA_PROGRESS", WORDS(progress), CONF_PROGRESS_AUTO, \
        "who serves packets while this process is outside the library ([who " \
        "serves](#who-serves-packets)). `agent`: a thread, from the first window on. `auto`: " \
        "the same, from the first window on that packets or cma reach. `poll`: nobody; what " \
        "others ask of this process, and what it has not sent yet, waits for its next call") \
    ROW(agent_cpu, "MPIRMA_AGENT_CPU", PROCESSORS, "", \
        "the agent thread runs on these processors alone, as the operating system numbers " \
        "them; unset: where the program's threads may. The process itself need not be allowed " \
        "to use them, and all processes with the same value share them. A warning says where " \
        "the system refuses them") \
    ROW(fence, "MPIRMA_FENCE", WORDS(fence), CONF_FENCE_AUTO, \
        "how `MPI_Win_fence` learns that all packets have come: `markers`, a message from " \
        "each process; `counts`, a sum of what each process has to expect. Counts take " \
        "ceil(log2 P) messages a process. `auto`: counts where packets from more than 16 " \
        "processes reach one of the window. Counts if one process of the window asks for " \
        "them, else markers if one does") \
    ROW(alloc_mem, "MPIRMA_ALLOC_MEM", WORDS(alloc), CONF_ALLOC_SHARED, \
        "whose memory `MPI_Alloc_mem` gives: `shared`, the library's, which windows over it " \
        "map; `host`, the host's own ([memory](#memory)). The same at all calls of a process") \
    ROW(share_malloc, "MPIRMA_SHARE_MALLOC", COUNT("0, 1 or a number of bytes"), 0, \
        "`1`: blocks of `malloc` and its kin of 128 KiB and more are shared memory, so that " \
        "windows over them are mapped ([memory of malloc](#memory-of-malloc)). A larger " \
        "number: blocks of so many bytes and more, each of which takes whole pages. " \
        "`mpi-rma-run --share-malloc` sets it to `1`. `mpi-rma-run` preloads what it needs; " \
        "a process without that warns at its first window") \
    ROW(segment_dir, "MPIRMA_SEGMENT_DIR", DIRECTORY, "", \
        "shared memory is made of unnamed files in this directory; unset: anonymous memory " \
        "(memfd)") \
    ROW(ptracer, "MPIRMA_PTRACER", WORDS(ptracer), CONF_PTRACER_ANY, \
        "`any`: a process that uses windows or `MPI_Alloc_mem` lets every process of the same " \
        "user attach to it, debuggers too (`PR_SET_PTRACER_ANY`). Where " \
        "`kernel.yama.ptrace_scope` is 1 the kernel refuses cma without that. `unchanged`: " \
        "packets are used there, and a warning says so") \
    ROW(xpmem, "MPIRMA_XPMEM", WORDS(xpmem), CONF_XPMEM_AUTO, \
        "`auto`: memory that is not shared is [mapped](#data-paths) by the kernel module " \
        "XPMEM, where `/dev/xpmem` and `libxpmem.so.0` are found. `yes`: tried without such a " \
        "device, too. `no`: not used") \
    ROW(stats, "MPIRMA_STATS", STATS, "", \
        "`1`: a table to standard error at `MPI_Finalize` of how much the job has moved over " \
        "which path ([statistics](statistics.md)). `FILE.csv` or `FILE.json`: the counts of " \
        "each process; any other file: the table. The same for all processes: a job in which " \
        "only some have it ends with a message") \
    ROW(trace, "MPIRMA_TRACE", NAME("a directory"), "", \
        "what the one-sided calls of each process do is recorded in this directory, for " \
        "`mpi-rma-trace` ([traces](traces.md)). `mpi-rma-run --trace DIR` sets it. The same " \
        "for all processes, all of which must be able to write there") \
    ROW(trace_conflicts, "MPIRMA_TRACE_CONFLICTS", BOOL, false, \
        "`1`: a trace also records which memory is accessed, so that `mpi-rma-trace` finds " \
        "[conflicting accesses](traces.md#conflicting-accesses). `mpi-rma-run --conflicts` " \
        "sets it, and loads the library that it needs") \
    ROW(strict, "MPIRMA_STRICT", BOOL, false, \
        "`1`: what costs time is checked, too ([strict mode](#strict-mode))") \
    ROW(error_codes, "MPIRMA_ERROR_CODES", WORDS(errors), CONF_ERRORS_OWN, \
        "what a refused call returns: `own`, a code whose `MPI_Error_string` says [what was " \
        "wrong](errors.md); `class`, the error class itself") \
    ROW(hang_report, "MPIRMA_HANG_REPORT", SECONDS("30 or 0.5"), 0, \
        "a call that waits so long writes what it waits for and whom, and again after each " \
        "such time ([other messages](errors.md#other-messages)); `0`: none does") \
    ROW(ofi_provider, "MPIRMA_OFI_PROVIDER", NAME("a libfabric provider, as tcp;ofi_rxm"), "", \
        "the network provider; unset: the best that has what is needed. One that cannot be " \
        "had is an error at the first window that needs the network. libfabric's own " \
        "`FI_PROVIDER` limits this choice, too") \
    ROW(ofi_interface, "MPIRMA_OFI_INTERFACE", NAME("an interface or address, such as eth0"), "", \
        "the network interface; unset: loopback for a window whose processes are all on one " \
        "machine, else the provider's first other one") \
    ROW(ofi_rdma, "MPIRMA_OFI_RDMA", WORDS(rdma), CONF_RDMA_AUTO, \
        "puts and gets by the provider's own remote memory access: `auto` and `on` where the " \
        "provider has it, `off` never") \
    ROW(log_level, "MPIRMA_LOG", WORDS(level), LOG_LEVEL_WARN, \
        "messages up to this level go to standard error") \
    ROW(tune, "MPIRMA_TUNE", TUNE, CONF_TUNE_DEFAULTS, \
        "changes thresholds, each by its name in the list of [tuning " \
        "parameters](tuning-parameters.md). Of a name that is given twice the last value " \
        "counts")

/* The parameters that MPIRMA_TUNE sets. They are numbers of bytes unless their texts say otherwise;
 * doc/design.md shows what they decide. */
#define CONF_TUNING(ROW) \
    ROW(stage, "stage", BOUNDED("bytes", 128, 32768), 512, \
        "so many bytes of small puts of a PSCW epoch, from each process of the node, need not " \
        "wait for the target's `MPI_Win_post`. On nodes of many processes it is less. The " \
        "target's value counts") \
    ROW(assisted_stage, "cma_stage", BOUNDED("bytes", 128, 32768), 4096, \
        "the same for memory that cma reaches. There it also keeps small puts of a fence " \
        "epoch, which then take no system call") \
    ROW(assisted_queue_max, "cma_queue_max", COUNT("bytes"), 1024, \
        "contiguous puts and gets by cma of up to this size share system calls; `0`: none do") \
    ROW(assisted_queue, "cma_queue", BOUNDED("bytes", 0, 1048576), 16384, \
        "at most so many bytes share a system call") \
    ROW(assisted_packet_max, "cma_packet_max", COUNT("bytes"), 4096, \
        "contiguous puts and gets by cma of up to this size are done by the target, from a " \
        "packet, while it polls, in passive target epochs") \
    ROW(assisted_pieces, "cma_pieces", BOUNDED("pieces", 1, INT_MAX), 256, \
        "an operation by cma on so many pieces at the target, of less than 2 KiB on average, " \
        "is done by the target's agent, from a packet, in passive target epochs") \
    ROW(joint_copy, "joint_copy", COUNT("bytes"), 65536, \
        "contiguous puts and gets of this size, and longer ones, are made by origin and target " \
        "together if the target is of the same node and waits in a call of the library, in fence " \
        "epochs from eight times this size on; `0`: none are") \
    ROW(joint_copy_private, "joint_copy_private", COUNT("bytes"), 2097152, \
        "the same where the target's memory is mapped and the origin's buffer is not from " \
        "`MPI_Alloc_mem` or a window, so that the target copies by the kernel") \
    ROW(rdma_min, "rdma_min", THRESHOLD("bytes"), CONF_AUTO, \
        "contiguous puts and gets of this size, and longer ones, go by the provider's own " \
        "remote memory access ([the way of an " \
        "operation](network.md#the-way-of-an-operation)). `auto`: 24 KiB over sockets, 8 KiB " \
        "on hardware") \
    ROW(rdma_min_passive, "rdma_min_passive", THRESHOLD("bytes"), CONF_AUTO, \
        "the same in passive target epochs, once the target has granted the lock, which the " \
        "first operation asks for. `auto`: all sizes where the card does it alone (verbs, " \
        "cxi), else as `rdma_min`") \
    ROW(rdma_many, "rdma_many", THRESHOLD("bytes"), CONF_AUTO, \
        "when so many bytes have gone to a target by packet in one fence or PSCW epoch, " \
        "shorter puts and gets go by remote memory access, too. `auto`: 128 KiB where the " \
        "card does it alone, which then takes those from 1 KiB on, else never") \
    ROW(rdma_segments, "rdma_segments", THRESHOLD("pieces"), CONF_AUTO, \
        "puts and gets with datatypes go by remote memory access in at most so many pieces. " \
        "`auto`: 16 where the card does it alone, else 1") \
    ROW(rdma_notify, "rdma_notify", WORDS(rdma), CONF_RDMA_AUTO, \
        "a [put with a notification](notified.md) that the network does by itself takes the " \
        "notification with it, if [the provider](network.md#notifications-with-a-write) can; " \
        "else a packet follows. `auto`: not over sockets") \
    ROW(defer_wait, "defer_wait", SECONDS("0.0002"), 0.0002, \
        "by packets, the first operation of an epoch that may not leave before its target has " \
        "posted, fenced or granted its lock waits so long for that in its call, before it is " \
        "deferred; `0`: not at all") \
    ROW(defer_queue, "defer_queue", COUNT("bytes"), 1048576, \
        "how much memory the library uses to defer operations on one target. The program's " \
        "own buffers do not count. A call that needs more waits for the target") \
    ROW(defer_copy_max, "defer_copy_max", COUNT("bytes"), 4096, \
        "contiguous data of up to this size is copied when its put or accumulate is deferred. " \
        "Larger data is read from the program's buffer later")
/* clang-format on */

#endif
