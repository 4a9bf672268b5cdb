/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault_table.h - the one table of what may be wrong with a call of MPI: fault.h reads it.
 *
 * A row is a cause, which is finer than an error class: its name, the enum mrma_err that the call
 * returns, the argument as the standard names it with its value, why that is wrong, the section of
 * MPI 4.1, and the advice, which is "" where it is plain what to do. Argument and sentence are one
 * printf format; FAULT() takes its values, which the compiler checks.
 */
#ifndef MRMA_BASE_FAULT_TABLE_H
#define MRMA_BASE_FAULT_TABLE_H

/* clang-format off */
#define FAULT_TABLE(ROW) \
    /* ---- arguments of operations ---- */ \
    ROW(COUNT_NEGATIVE, COUNT, \
        "%s = %lld: ", \
        "a count is not negative", \
        "12.3", "") \
    ROW(COUNT_OVERFLOW, COUNT, \
        "%s = %llu: ", \
        "so many elements of %llu bytes are more bytes than memory can have", \
        "12.3", "") \
    ROW(RANK_OUTSIDE, RANK, \
        "target_rank = %d: ", \
        "the ranks of the window are 0 to %d", \
        "12.3", "") \
    ROW(SYNC_RANK_OUTSIDE, RANK, \
        "rank = %d: ", \
        "the ranks of the window are 0 to %d", \
        "12.5", "") \
    ROW(QUERY_RANK_OUTSIDE, RANK, \
        "rank = %d: ", \
        "the ranks of the window are 0 to %d, and MPI_PROC_NULL stands for the lowest one with " \
        "memory", \
        "12.2.3", "") \
    ROW(SOURCE_OUTSIDE, RANK, \
        "source = %d: ", \
        "the ranks of the window are 0 to %d, and MPI_ANY_SOURCE stands for all of them", \
        "", "") \
    ROW(DISP_NEGATIVE, DISP, \
        "target_disp = %lld: ", \
        "a displacement counts from the beginning of the target's window memory and is not " \
        "negative", \
        "12.3", "") \
    ROW(TYPE_NULL, TYPE, \
        "%s = MPI_DATATYPE_NULL: ", \
        "this is no datatype", \
        "12.3", "") \
    ROW(TYPE_UNUSABLE, TYPE, \
        "%s = %s: ", \
        "the datatype is not committed, or was freed", \
        "4.1.9", \
        "Call MPI_Type_commit before the datatype is used") \
    ROW(TYPE_MIXED, TYPE, \
        "target_datatype of %llu bytes: ", \
        "accumulates need a datatype that consists of one predefined datatype only", \
        "12.3.4", "") \
    ROW(TYPE_DIFFERS, TYPE, \
        "%s: ", \
        "it consists of elements of type %s, target_datatype of type %s; accumulates need the " \
        "same on all sides", \
        "12.3.4", "") \
    ROW(TYPE_DERIVED, TYPE, \
        "datatype = %s: ", \
        "the call takes predefined datatypes only", \
        "12.3.4", "") \
    ROW(TYPE_NOT_COMPARED, TYPE, \
        "datatype = %s: ", \
        "the call takes integers, logicals, multi-language types and MPI_BYTE", \
        "12.3.4.4", "") \
    ROW(OP_UNKNOWN, OP, \
        "op = %s: ", \
        "accumulates take predefined operations, MPI_REPLACE and MPI_NO_OP, and none of the " \
        "program's own", \
        "12.3.4", "") \
    ROW(OP_FETCHES_NOTHING, OP, \
        "op = MPI_%s: ", \
        "only a call that fetches takes it", \
        "12.3.4.1", "") \
    ROW(OP_NOT_ON_TYPE, OP, \
        "op = MPI_%s: ", \
        "the operation is not defined on elements of type %s", \
        "6.9.2", "") \
    ROW(BUFFER_NULL, BUFFER, \
        "%s = NULL: ", \
        "%llu bytes of data would lie at the null address, and the datatype has no absolute " \
        "addresses", \
        "2.5.4", "") \
    ROW(PLACE_NULL, ARG, \
        "%s = NULL: ", \
        "the call has no place to store its result", \
        "2.5.1", "") \
    ROW(SIZES_DIFFER, COUNT, \
        "%s_count = %llu (%llu bytes each), target_count = %llu (%llu bytes each): ", \
        "%llu bytes on the %s's side and %llu bytes on the target's side", \
        "12.3", \
        "Both sides need the same sequence of basic datatypes") \
    ROW(OUTSIDE_WINDOW, RMA_RANGE, \
        "target_disp = %lld (units of %u bytes), target_count = %llu (%llu bytes each): ", \
        "bytes %lld to %lld are not all in the window memory of rank %d, which has %llu bytes " \
        "(%llu units)", \
        "12.6.2", "") \
    ROW(FAR_OUTSIDE, RMA_RANGE, \
        "target_disp = %lld (units of %u bytes), target_count = %llu (%llu bytes each): ", \
        "no memory has such addresses; the window memory of rank %d has %llu bytes (%llu units)", \
        "12.6.2", "") \
    ROW(NOT_ATTACHED, RMA_RANGE, \
        "target_disp = 0x%llx, target_count = %llu (%llu bytes each): ", \
        "bytes 0x%llx to 0x%llx are not all attached at rank %d", \
        "12.2.4", \
        "The target calls MPI_Win_attach first, and tells its address by MPI_Get_address") \
    ROW(REQUEST_ACTIVE, RMA_SYNC, \
        "request: ", \
        "an operation with a request needs a passive target epoch", \
        "12.3.5", \
        "Open one by MPI_Win_lock or MPI_Win_lock_all") \
    /* ---- what a target has refused after the call had returned ---- */ \
    ROW(REFUSED_MEMORY, RMA_RANGE, \
        "", \
        "since the last synchronization rank %d has refused %s: not all of this memory is " \
        "attached there", \
        "12.2.4", \
        "The target calls MPI_Win_attach first, and tells its address by MPI_Get_address") \
    ROW(REFUSED_EPOCH, RMA_SYNC, \
        "", \
        "since the last synchronization rank %d has refused %s: it was in no epoch for that, or " \
        "MPI_MODE_NOCHECK was given without a post or lock", \
        "12.5", "") \
    ROW(REQUEST_MEMORY, RMA_RANGE, \
        "target_disp = 0x%llx: ", \
        "rank %d has refused %s of %llu bytes: not all of this memory is attached there", \
        "12.2.4", \
        "The target calls MPI_Win_attach first, and tells its address by MPI_Get_address") \
    /* ---- epochs ---- */ \
    ROW(NO_EPOCH, RMA_SYNC, \
        "target_rank = %d: ", \
        "no access epoch is open here", \
        "12.5", \
        "Call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all first") \
    ROW(NOT_STARTED, RMA_SYNC, \
        "target_rank = %d: ", \
        "the access epoch of MPI_Win_start is for other ranks: this one is not in its group", \
        "12.5.2", "") \
    ROW(NOT_LOCKED, RMA_SYNC, \
        "%s = %d: ", \
        "this process does not hold a lock of that rank", \
        "12.5.3", \
        "Call MPI_Win_lock or MPI_Win_lock_all first") \
    ROW(NONE_LOCKED, RMA_SYNC, \
        "", \
        "the call needs a passive target epoch", \
        "12.5.4", \
        "Call MPI_Win_lock or MPI_Win_lock_all first") \
    ROW(LOCKED_TWICE, RMA_SYNC, \
        "rank = %d: ", \
        "this process holds a lock of that rank already", \
        "12.5.3", \
        "Call MPI_Win_unlock first") \
    ROW(IN_FENCE, RMA_SYNC, \
        "", \
        "the call is not allowed in an access epoch of MPI_Win_fence in which operations were " \
        "called", \
        "12.5.1", \
        "Call MPI_Win_fence first") \
    ROW(IN_START, RMA_SYNC, \
        "", \
        "the call is not allowed in an access epoch of MPI_Win_start", \
        "12.5.2", \
        "Call MPI_Win_complete first") \
    ROW(IN_LOCK, RMA_SYNC, \
        "", \
        "the call is not allowed while locks are held here (%d)", \
        "12.5.3", \
        "Call MPI_Win_unlock first") \
    ROW(IN_LOCK_ALL, RMA_SYNC, \
        "", \
        "the call is not allowed in an epoch of MPI_Win_lock_all", \
        "12.5.3", \
        "Call MPI_Win_unlock_all first") \
    ROW(EXPOSED, RMA_SYNC, \
        "", \
        "the call is not allowed in an exposure epoch of this process", \
        "12.5.2", \
        "Call MPI_Win_wait, or MPI_Win_test until it gives true, first") \
    ROW(NOT_EXPOSED, RMA_SYNC, \
        "", \
        "no exposure epoch is open here", \
        "12.5.2", \
        "Call MPI_Win_post first") \
    ROW(NO_START, RMA_SYNC, \
        "", \
        "no access epoch of MPI_Win_start is open here", \
        "12.5.2", \
        "Call MPI_Win_start first") \
    ROW(NO_LOCK_ALL, RMA_SYNC, \
        "", \
        "no epoch of MPI_Win_lock_all is open here", \
        "12.5.3", \
        "Call MPI_Win_lock_all first") \
    /* ---- arguments of synchronization ---- */ \
    ROW(LOCKTYPE, LOCKTYPE, \
        "lock_type = %d: ", \
        "the types of locks are MPI_LOCK_SHARED (%d) and MPI_LOCK_EXCLUSIVE (%d)", \
        "12.5.3", "") \
    ROW(ASSERT, ASSERT, \
        "assert = 0x%x: ", \
        "the call takes %s; the bits 0x%x are none of these", \
        "12.5.5", "") \
    ROW(GROUP_NULL, GROUP, \
        "group = %s: ", \
        "this is no group", \
        "12.5.2", \
        "MPI_GROUP_EMPTY is a group without processes") \
    ROW(GROUP_FOREIGN, GROUP, \
        "group of %d: ", \
        "its process %d is not in the window's group", \
        "12.5.2", "") \
    /* ---- windows and memory ---- */ \
    ROW(SIZE_NEGATIVE, SIZE, \
        "size = %lld: ", \
        "a size is not negative", \
        "12.2", "") \
    ROW(UNIT_RANGE, DISP, \
        "disp_unit = %lld: ", \
        "a displacement unit is a positive int", \
        "12.2.1", "") \
    ROW(BASE_NULL, BASE, \
        "base = NULL, size = %lld: ", \
        "a window with a size that is not 0 needs memory", \
        "12.2.1", "") \
    ROW(COMM_INTER, COMM, \
        "comm: ", \
        "it is an intercommunicator, and windows need an intracommunicator", \
        "12.2", "") \
    ROW(ONE_NODE, RMA_SHARED, \
        "comm: ", \
        "rank %d is on another node, and memory is shared within a node only", \
        "12.2.3", \
        "MPI_Comm_split_type with MPI_COMM_TYPE_SHARED makes communicators of a node") \
    ROW(ATTACH_KIND, RMA_FLAVOR, \
        "win: ", \
        "memory is attached to windows of MPI_Win_create_dynamic only, and this one was made " \
        "by %s", \
        "12.2.4", "") \
    ROW(ATTACH_SIZE, SIZE, \
        "size = %lld: ", \
        "a size is not negative (base = %p)", \
        "12.2.4", "") \
    ROW(ATTACH_WRAPS, SIZE, \
        "base = %p, size = %lld: ", \
        "the memory would end behind the last address", \
        "12.2.4", "") \
    ROW(ATTACH_OVERLAP, RMA_ATTACH, \
        "base = 0x%llx, size = %llu: ", \
        "it overlaps with the %llu bytes at 0x%llx that are attached to the window already", \
        "12.2.4", \
        "Call MPI_Win_detach first") \
    ROW(DETACH_INSIDE, RMA_ATTACH, \
        "base = 0x%llx: ", \
        "no attached memory begins there; it lies within the %llu bytes attached at 0x%llx", \
        "12.2.4", \
        "MPI_Win_detach takes the address that MPI_Win_attach was given") \
    ROW(DETACH_NOTHING, RMA_ATTACH, \
        "base = 0x%llx: ", \
        "nothing is attached to the window there", \
        "12.2.4", "") \
    ROW(QUERY_DYNAMIC, RMA_FLAVOR, \
        "win: ", \
        "a window of %s has no shared memory", \
        "12.2.3", "") \
    ROW(INFO_ODD, INFO_VALUE, \
        "info: ", \
        "the value of the key %s is \"%.80s\", expected %s", \
        "10", \
        "Without MPIRMA_STRICT such a value is ignored") \
    ROW(SHARED_TOO_LARGE, NO_MEM, \
        "size: ", \
        "the sizes of all processes together are more bytes than addresses", \
        "12.2.3", "") \
    ROW(NO_LOCKS, RMA_SYNC, \
        "win: ", \
        "the window was made with the info key no_locks = \"true\"", \
        "12.2.1", \
        "Without MPIRMA_STRICT the lock is taken all the same") \
    ROW(ALLOC_NEGATIVE, ARG, \
        "size = %lld: ", \
        "a size is not negative", \
        "10.2", "") \
    ROW(FREE_UNKNOWN, BASE, \
        "base = %p: ", \
        "it is not the beginning of memory that MPI_Alloc_mem has given", \
        "10.2", "") \
    /* ---- what MPIRMA_STRICT finds ---- */ \
    ROW(OP_NOT_HINTED, OP, \
        "op: ", \
        "%s is not among the operations that the info key which_accumulate_ops names", \
        "12.2.1", "") \
    ROW(CONFLICT, RMA_CONFLICT, \
        "target_rank = %d: ", \
        "%s (%s) of bytes %llu to %llu of its memory conflicts with an earlier %s (%s) in this " \
        "epoch", \
        "12.7", \
        "A synchronization has to stand between the two") \
    ROW(CONFLICT_WITHIN, RMA_CONFLICT, \
        "target_rank = %d: ", \
        "%s names bytes %llu to %llu of its memory more than once", \
        "12.7", "") \
    ROW(NOPUT_TARGET, ASSERT, \
        "target_rank = %d: ", \
        "it has given MPI_MODE_NOPUT in this epoch, and the call is %s", \
        "12.5.5", "") \
    ROW(NOPUT_HERE, ASSERT, \
        "assert: ", \
        "rank %d has given MPI_MODE_NOPUT for window %u, but %s came", \
        "12.5.5", "") \
    ROW(NOPRECEDE, ASSERT, \
        "assert: ", \
        "MPI_MODE_NOPRECEDE is given, but operations were called since the last fence", \
        "12.5.5", "") \
    ROW(NOCHECK_TAKEN, ASSERT, \
        "rank = %d: ", \
        "MPI_MODE_NOCHECK is given, but another process holds a conflicting lock of that rank", \
        "12.5.5", "") \
    /* ---- notified access ---- */ \
    ROW(NOTIFY_NONE, ARG, \
        "win: ", \
        "the window has no notifications", \
        "", \
        "Make it with the info key mpirma_notifications, whose value is their number") \
    ROW(NOTIFY_RANGE, ARG, \
        "%d notifications from %d on: ", \
        "the notifications of the window are 0 to %u", \
        "", \
        "Their number is the value of the info key mpirma_notifications") \
    ROW(NOTIFY_NUMBER, ARG, \
        "notification = %d: ", \
        "the notifications of the window are 0 to %u", \
        "", \
        "Their number is the value of the info key mpirma_notifications") \
    /* ---- requests ---- */ \
    ROW(REQUEST_IS_RMA, REQUEST, \
        "request: ", \
        "it belongs to %s, and such requests are neither freed nor cancelled", \
        "12.3.5", \
        "Call MPI_Wait or MPI_Test")
/* clang-format on */

#endif
