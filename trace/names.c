/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * names.c - see names.h.
 */
#include "names.h"

const struct attr_name attr_name[ATTRS] = {
    [ATTR_WINDOW] = {"window", "window of the call", OTF2_TYPE_RMA_WIN},
    [ATTR_PEER] = {"peer", "rank in the window that the call is about", OTF2_TYPE_UINT32},
    [ATTR_PATH] = {"path", "how the operation reaches its target", OTF2_TYPE_STRING},
    [ATTR_REQUEST] = {"request", "1: a request-based operation", OTF2_TYPE_UINT32},
    [ATTR_FUNCTION] = {"function", "MPI function of the atomic operation", OTF2_TYPE_STRING},
    [ATTR_EARLIER] = {"transfer end, ns earlier",
                      "how long before this completion the data had arrived", OTF2_TYPE_UINT64},
    [ATTR_UNRECORDED] = {"not recorded", "1: added because the trace ends here", OTF2_TYPE_UINT32},
    [ATTR_AT_WAIT] = {"completed by MPI_Win_wait",
                      "1: the standard completes it at the target, in MPI_Win_wait",
                      OTF2_TYPE_UINT32},
    [ATTR_ERROR] = {"error class", "MPI error class that the call returned", OTF2_TYPE_UINT32},
    [ATTR_ASSERTS] = {"asserts",
                      "MPI_MODE_: 1 NOCHECK, 2 NOSTORE, 4 NOPUT, 8 NOPRECEDE, "
                      "16 NOSUCCEED",
                      OTF2_TYPE_UINT32},
    [ATTR_ORIGIN] = {"origin", "rank in the window whose packets these are", OTF2_TYPE_UINT32},
    [ATTR_OPERATIONS] = {"operations", "how many", OTF2_TYPE_UINT32},
    [ATTR_BYTES] = {"bytes", "of data", OTF2_TYPE_UINT64},
    [ATTR_QUEUE] = {"queue length", "how many wait, this one included", OTF2_TYPE_UINT32},
    [ATTR_RANK] = {"rank", "in MPI_COMM_WORLD", OTF2_TYPE_UINT32},
    [ATTR_NOTIFICATION] = {"notification",
                           "number of the notification that is raised at the target, or taken",
                           OTF2_TYPE_UINT32},
    [ATTR_TAKEN] = {"notifications taken", "how many", OTF2_TYPE_UINT64},
    [ATTR_SITE] = {"call site", "where the call stands in the program",
                   OTF2_TYPE_SOURCE_CODE_LOCATION},
    [ATTR_CALLER] = {"calling function", "function in which the call stands", OTF2_TYPE_STRING},
    [ATTR_COMM] = {"communicator", "communicator of the call", OTF2_TYPE_COMM},
    [ATTR_OPERATION] = {"operation", "number of the one that accesses memory", OTF2_TYPE_UINT64},
    [ATTR_ACCESS] =
        {"access",
         "1 of an operation at its target, 2 read at its origin, 3 written there, 4 "
         "memory of the window; 8: gaps may be in it, 16: accumulate_ops is same_op; at "
         "the target of an atomic operation its function times 16, and its type times "
         "512",
         OTF2_TYPE_UINT32},
    [ATTR_BLOCKS] = {"blocks", "how many", OTF2_TYPE_UINT32},
    [ATTR_LENGTH] = {"length", "bytes of one block", OTF2_TYPE_UINT64},
    [ATTR_STRIDE] = {"stride", "bytes from one block to the next", OTF2_TYPE_INT64},
    [ATTR_ELEMENT] = {"element", "bytes of one element", OTF2_TYPE_UINT32},
};

const struct region_name own_region_name[OWN_KINDS] = {
    [OWN_SERVE] = {"serve packets", "a target handles the packets of an origin"},
    [OWN_ASLEEP] = {"asleep", "the thread sleeps until it is woken"},
    [OWN_WAIT_POST] = {"wait for post", "an access waits for its target's post or fence"},
    [OWN_WAIT_CREDIT] = {"wait for room at the receiver",
                         "a packet cannot leave before the receiver gives room"},
    [OWN_WAKE_AGENT] = {"wake agent", "the agent of another process is woken"},
    [OWN_WRITE_TRACE] = {"write trace", "time that the recording itself took"},
    [OWN_PARKED] = {"packet waits for its epoch", "a packet that came before its epoch began"},
    [OWN_LOCK_QUEUE] = {"lock request waits", "a request by packet waits for the lock"},
    [OWN_STOPPED] = {"not recorded", "MPI_Pcontrol has stopped the recording"},
};

const char *const call_name[TRACE_CALL_LAST] = {"",
#define CALL_NAME(name) "MPI_" #name,
                                                TRACE_CALLS(CALL_NAME)
#undef CALL_NAME
#define CALL_NAME(name) "MPIRMA_" #name,
                                                    TRACE_EXTENSION_CALLS(CALL_NAME)
#undef CALL_NAME
};

const char *const path_name[PATHS] = {
    "unknown",
    [TRACE_MAPPED] = "mapped",
    [TRACE_ASSISTED] = "cma",
    [TRACE_PACKETS] = "shm-packets",
    [TRACE_NETWORK] = "net-packets",
};

const char *const op_name[TRACE_COMPARE_AND_SWAP + 1] = {
    "",
    [TRACE_PUT] = "MPI_Put",
    [TRACE_GET] = "MPI_Get",
    [TRACE_ACCUMULATE] = "MPI_Accumulate",
    [TRACE_GET_ACCUMULATE] = "MPI_Get_accumulate",
    [TRACE_FETCH_AND_OP] = "MPI_Fetch_and_op",
    [TRACE_COMPARE_AND_SWAP] = "MPI_Compare_and_swap",
};

const char *const mpi_op_name[TRACE_ACC_LAST] = {"",
#define OP_NAME(name) "MPI_" #name,
                                                 TRACE_ACC_OPS(OP_NAME)
#undef OP_NAME
};
