/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_calls.c - see host_calls.h. Forms for large counts, such as MPI_Send_c, do what those
 * without do.
 */
#include "host_calls.h"

#include <stdbool.h>
#include <string.h>

/* Names in front of which stand a blank and MPI_, and behind which a blank. */
struct names {
    enum host_kind kind;
    const char *names;
};

static const struct names whole[] = {
    {HOST_SEND, " Send Bsend Rsend Isend Ibsend Irsend "},
    {HOST_SYNC_SEND, " Ssend Issend "},
    {HOST_RECEIVE, " Recv Mrecv Probe Iprobe Mprobe Improbe Parrived "},
    {HOST_IRECEIVE, " Irecv Imrecv "},
    {HOST_EXCHANGE, " Sendrecv Sendrecv_replace Isendrecv Isendrecv_replace "},
    {HOST_COLLECTIVE,
     " Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv "
     "Alltoallw Reduce Allreduce Reduce_scatter Reduce_scatter_block Scan Exscan Comm_dup "
     "Comm_dup_with_info Comm_split Comm_split_type Comm_create Cart_create Cart_sub Graph_create "
     "Dist_graph_create Dist_graph_create_adjacent Intercomm_merge "},
    {HOST_COMPLETE, " Wait Waitany Waitall Waitsome Test Testany Testall Testsome "
                    "Request_get_status Request_get_status_all Request_get_status_any "
                    "Request_get_status_some "},
    {HOST_BEGIN, " Start Startall Pready Pready_range Pready_list "},
    {HOST_LOCAL,
     " Comm_rank Comm_size Comm_group Comm_remote_size Comm_remote_group Comm_test_inter "
     "Comm_compare Comm_free Comm_get_attr Comm_set_attr Comm_delete_attr Comm_get_name "
     "Comm_set_name Comm_get_info Comm_set_info Comm_get_errhandler Comm_set_errhandler "
     "Comm_call_errhandler Comm_create_errhandler Comm_create_keyval Comm_free_keyval "
     "Comm_get_parent Comm_get_failed Comm_ack_failed Cart_coords Cart_rank Cart_shift Cart_get "
     "Cartdim_get Cart_map Topo_test Graph_get Graph_map Graph_neighbors Graph_neighbors_count "
     "Graphdims_get Dims_create Dist_graph_neighbors Dist_graph_neighbors_count Alloc_mem Free_mem "
     "Buffer_attach Buffer_detach Cancel Request_free Request_c2f Pack Pack_size Pack_external "
     "Pack_external_size Unpack Unpack_external Reduce_local Pcontrol Query_thread Is_thread_main "
     "Abort Recv_init Precv_init Grequest_start Grequest_complete "},
};

static const struct names beginning[] = {
    {HOST_LOCAL, " Type_ Group_ Info_ Attr_ Keyval_ Op_ Error_ Errhandler_ Get_ Status_ Add_ Win_ "
                 "Remove_ Address Errhandler_ Session_get_ "},
    {HOST_OTHER, " Neighbor_ File_ Session_ "},
    {HOST_BEGIN, " I "}, /* with what follows: Ibarrier and all others */
};

static bool has(const char *names, const char *name, size_t n)
{
    for (const char *at = names; (at = strstr(at, name)); at++)
        if (at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

static bool begins_with_one(const char *names, const char *name)
{
    for (const char *at = names + 1; *at;) {
        const size_t n = strcspn(at, " ");

        if (n > 0 && strncmp(at, name, n) == 0)
            return true;
        at += n + 1;
    }
    return false;
}

enum host_kind host_kind(const char *name)
{
    char plain[64];
    size_t n;

    if (strncmp(name, "MPI_", 4) == 0)
        name += 4;
    n = strlen(name);
    if (n > 2 && strcmp(name + n - 2, "_c") == 0)
        n -= 2;
    if (n == 0 || n >= sizeof plain)
        return HOST_OTHER;
    memcpy(plain, name, n);
    plain[n] = '\0';
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (has(whole[i].names, plain, n))
            return whole[i].kind;
    if (n > 5 && strcmp(plain + n - 5, "_init") == 0) /* persistent: it begins with its start */
        return HOST_LOCAL;
    if (strncmp(plain, "Intercomm", 9) == 0)
        return HOST_OTHER;
    for (size_t i = 0; i < sizeof beginning / sizeof *beginning; i++)
        if (begins_with_one(beginning[i].names, plain))
            return beginning[i].kind;
    return HOST_OTHER;
}
