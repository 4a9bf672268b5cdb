/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * linkedlist.c - one list whose nodes lie in the memory of all processes, which all append to.
 *
 * The window is dynamic: it begins without memory, and each process attaches memory when it needs
 * some, for many nodes at once, because attaching costs a system call or more. A displacement in
 * such a window is an address at the target (MPI_Get_address), so that a pointer to a node is a
 * rank and an address: here both in one word, which MPI_Compare_and_swap can change.
 *
 * Two ways to append: under an exclusive lock of the word that says where the list ends; and
 * without, by a swap of the last node's pointer, which fails if somebody else was first.
 *
 * Checked: every process walks the list with MPI_Get and finds each node of each process once,
 * those of one process in the order in which it appended them.
 */
#include "example.h"
#include <stdint.h>

static int rank, size;
static long per_rank, slab;

/* User addresses of 64-bit Linux fit in 48 bits. The pointer to no node is all ones. */
typedef uint64_t pointer;
static const pointer nowhere = UINT64_MAX;
enum { ADDRESS_BITS = 48 };

struct node {
    pointer next;
    int64_t value;
};

static MPI_Win win;
static pointer head; /* a first node without a value, of rank 0 */
static pointer last; /* the last node that this process has seen */

static MPI_Win end_win; /* for the list under a lock: the pointer to its end, on rank 0 */
static pointer *end_of_list;

/* Memory of this process: slabs that were attached, and how much of the last one is used. */
static struct node **slabs;
static long slab_count, used;

static int owner_of(pointer p)
{
    return (int)(p >> ADDRESS_BITS);
}

static MPI_Aint address_of(pointer p)
{
    return (MPI_Aint)(p & (((pointer)1 << ADDRESS_BITS) - 1));
}

/* A node in attached memory. Its contents are stored here and read elsewhere by MPI_Get:
 * MPI_Win_sync orders the stores before the operation that will lead others to the node. */
static pointer new_node(int64_t value)
{
    if (slab_count == 0 || used == slab) {
        slabs = realloc(slabs, (size_t)(slab_count + 1) * sizeof *slabs);
        MPI_Alloc_mem(slab * (MPI_Aint)sizeof(struct node), MPI_INFO_NULL, &slabs[slab_count]);
        MPI_Win_attach(win, slabs[slab_count], slab * (MPI_Aint)sizeof(struct node));
        slab_count++;
        used = 0;
    }
    struct node *node = &slabs[slab_count - 1][used++];
    MPI_Aint address;
    *node = (struct node){nowhere, value};
    MPI_Win_sync(win);
    MPI_Get_address(node, &address);
    if ((uint64_t)address >> ADDRESS_BITS)
        wrong("the address %#lx does not fit into a pointer", (unsigned long)address);
    return (pointer)rank << ADDRESS_BITS | (pointer)address;
}

static void free_nodes(void)
{
    for (long i = 0; i < slab_count; i++) {
        MPI_Win_detach(win, slabs[i]);
        MPI_Free_mem(slabs[i]);
    }
    slab_count = 0;
}

/* Puts the node behind the one at "at" if that is the last; if not, returns the next one. */
static pointer try_append(pointer at, pointer node)
{
    pointer next;
    MPI_Compare_and_swap(&node, &nowhere, &next, MPI_UINT64_T, owner_of(at),
                         address_of(at) + (MPI_Aint)offsetof(struct node, next), win);
    MPI_Win_flush(owner_of(at), win);
    return next;
}

static void append_by_swap(int64_t value)
{
    pointer node = new_node(value);
    for (pointer next = last; next != nowhere; next = try_append(last, node))
        last = next;
    last = node;
}

static void read_node(pointer p, struct node *node)
{
    MPI_Get(node, 2, MPI_UINT64_T, owner_of(p), address_of(p), 2, MPI_UINT64_T, win);
    MPI_Win_flush(owner_of(p), win);
}

/* Under the lock the end of the list is known: a word of the same window. MPI_Win_lock alone may
 * return before the lock is held, for it protects operations of its own window only; the get whose
 * result is there after the flush proves that it is held, and lets us change the other window. */
static void append_by_lock(int64_t value)
{
    pointer node = new_node(value), end;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, end_win);
    MPI_Get(&end, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, end_win);
    MPI_Win_flush(0, end_win);
    MPI_Put(&node, 1, MPI_UINT64_T, owner_of(end),
            address_of(end) + (MPI_Aint)offsetof(struct node, next), 1, MPI_UINT64_T, win);
    MPI_Win_flush(owner_of(end), win);
    MPI_Put(&node, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, end_win);
    MPI_Win_unlock(0, end_win);
}

/* Walks the whole list. */
static void check(void)
{
    long *expected = zeroed((size_t)size, sizeof(long)), count = 0;
    struct node node;
    for (read_node(head, &node); node.next != nowhere; count++) {
        read_node(node.next, &node);
        long from = (long)(node.value >> 32), i = (long)(node.value & INT32_MAX);
        if (from < 0 || from >= size || i != expected[from])
            wrong("node %ld is number %ld of rank %ld", count, i, from);
        expected[from]++;
    }
    if (count != size * per_rank)
        wrong("the list has %ld nodes instead of %ld", count, size * per_rank);
    free(expected);
}

static double append_all(void (*append)(int64_t value))
{
    MPI_Win_lock_all(0, win);
    if (rank == 0)
        head = new_node(-1);
    MPI_Bcast(&head, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    last = head;
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, end_win);
        *end_of_list = head;
        MPI_Win_unlock(0, end_win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (long i = 0; i < per_rank; i++)
        append((int64_t)rank << 32 | i);
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    check();
    /* Nobody reads any more when memory is detached. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    free_nodes();
    return took;
}

static double by_lock(void)
{
    return append_all(append_by_lock);
}

static double by_swap(void)
{
    return append_all(append_by_swap);
}

static const struct way ways[] = {{"lock", by_lock}, {"swap", by_swap}, {NULL, NULL}};

int main(int argc, char **argv)
{
    struct argument a[] = {{"n", 300, NULL, "nodes that each process appends"},
                           {"slab", 64, NULL, "nodes that are attached at once"},
                           {"repeats", 5, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "lock, swap or all"},
                           {NULL, 0, NULL, NULL}};
    struct times times;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_arguments(argc, argv, a);
    per_rank = a[0].number;
    slab = a[1].number;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_allocate(rank == 0 ? whole_lines(sizeof(pointer)) : 0, sizeof(pointer), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &end_of_list, &end_win);
    if (rank == 0)
        printf("linkedlist: %d processes, %ld nodes each; microseconds a node of one process\n",
               size, per_rank);
    run_ways(ways, a[3].text, a[2].number, &times);
    print_ways(ways, &times, 1e6 / (double)per_rank);
    MPI_Win_free(&end_win);
    MPI_Win_free(&win);
    free(slabs);
    MPI_Finalize();
    return 0;
}
