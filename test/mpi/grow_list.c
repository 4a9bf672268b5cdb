/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grow_list.c - one list in the dynamic windows of all ranks, which all append to at the same time.
 * A rank attaches memory for a few nodes at a time while others operate on its memory (MPI 4.1,
 * 12.2.5). A node is filled by stores, ordered by MPI_Win_sync before the operation that publishes
 * it (12.7), and read by MPI_Get. Two ways to append: compare-and-swap of the last node's pointer;
 * and under an exclusive lock of another window, in which the get and the flush show that the lock
 * is held, for MPI_Win_lock may return before and orders operations on its own window alone
 * (12.5.3). In the end each rank walks the list: every node is there once, those of a rank in
 * order.
 */
#include <stddef.h>

#include "mtcomm.h"

enum { NODES = 40, SLAB = 16, SLABS = (NODES + SLAB) / SLAB + 1, ADDRESS_BITS = 48 };

/* A rank, and an address of 64-bit Linux in user space. All ones is no node. */
typedef uint64_t pointer;
static const pointer nowhere = UINT64_MAX;

struct node {
    pointer next;
    int64_t value;
};
static MPI_Win win, end_win;
static struct node *slabs[SLABS];
static int used; /* nodes of this rank */
static pointer head, last;
static pointer *list_end; /* on rank 0, for the way with a lock */

static int owner(pointer p)
{
    return (int)(p >> ADDRESS_BITS);
}

static MPI_Aint place(pointer p)
{
    return (MPI_Aint)(p & (((pointer)1 << ADDRESS_BITS) - 1));
}

static pointer new_node(int64_t value)
{
    MPI_Aint address;
    if (used % SLAB == 0) {
        slabs[used / SLAB] = malloc(SLAB * sizeof(struct node));
        MT_OK(MPI_Win_attach(win, slabs[used / SLAB], SLAB * sizeof(struct node)));
    }
    struct node *node = &slabs[used / SLAB][used % SLAB];
    used++;
    *node = (struct node){nowhere, value};
    MT_OK(MPI_Win_sync(win));
    MT_OK(MPI_Get_address(node, &address));
    return (pointer)mt_rank << ADDRESS_BITS | (pointer)address;
}

static void append_by_swap(int64_t value)
{
    const pointer node = new_node(value);
    pointer next = nowhere;
    do {
        last = next == nowhere ? last : next;
        MT_OK(MPI_Compare_and_swap(&node, &nowhere, &next, MPI_UINT64_T, owner(last), place(last),
                                   win));
        MT_OK(MPI_Win_flush(owner(last), win));
    } while (next != nowhere);
    last = node;
}

static void append_by_lock(int64_t value)
{
    const pointer node = new_node(value);
    pointer end;
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, end_win));
    MT_OK(MPI_Get(&end, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, end_win));
    MT_OK(MPI_Win_flush(0, end_win));
    MT_OK(MPI_Put(&node, 1, MPI_UINT64_T, owner(end), place(end), 1, MPI_UINT64_T, win));
    MT_OK(MPI_Win_flush(owner(end), win));
    MT_OK(MPI_Put(&node, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, end_win));
    MT_OK(MPI_Win_unlock(0, end_win));
}

static void read_node(pointer p, struct node *node)
{
    MT_OK(MPI_Get(node, 2, MPI_UINT64_T, owner(p), place(p), 2, MPI_UINT64_T, win));
    MT_OK(MPI_Win_flush(owner(p), win));
}

static void walk(void)
{
    int64_t expected[mt_size];
    struct node node;
    int count = 0;
    memset(expected, 0, sizeof expected);
    for (read_node(head, &node); node.next != nowhere && count <= mt_size * NODES; count++) {
        read_node(node.next, &node);
        const int64_t from = node.value >> 32, i = node.value & INT32_MAX;
        if (!CHECK(from >= 0 && from < mt_size && i == expected[from],
                   "node %d is number %ld of rank %ld", count, (long)i, (long)from))
            return;
        expected[from]++;
    }
    CHECK(count == mt_size * NODES, "expected %d nodes, saw %d", mt_size * NODES, count);
}

static void grow(void (*append)(int64_t value), const char *how)
{
    mt_section("a list grows by %s", how);
    used = 0;
    MT_OK(MPI_Win_lock_all(0, win));
    head = mt_rank == 0 ? new_node(-1) : nowhere;
    MPI_Bcast(&head, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    last = head;
    if (mt_rank == 0) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, end_win));
        *list_end = head;
        MT_OK(MPI_Win_unlock(0, end_win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < NODES; i++)
        append((int64_t)mt_rank << 32 | i);
    MPI_Barrier(MPI_COMM_WORLD);
    walk();
    MPI_Barrier(MPI_COMM_WORLD);
    MT_OK(MPI_Win_unlock_all(win));
    for (int i = 0; i * SLAB < used; i++) {
        MT_OK(MPI_Win_detach(win, slabs[i]));
        free(slabs[i]);
    }
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    MT_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_allocate(mt_rank == 0 ? 64 : 0, sizeof(pointer), MPI_INFO_NULL, MPI_COMM_WORLD,
                           &list_end, &end_win));
    mt_win_errors_return(win);
    mt_win_errors_return(end_win);
    grow(append_by_swap, "compare-and-swap");
    grow(append_by_lock, "a lock of another window");
    MT_OK(MPI_Win_free(&end_win));
    MT_OK(MPI_Win_free(&win));
    return MT_FINISH();
}
