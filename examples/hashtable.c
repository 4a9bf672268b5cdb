/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hashtable.c - a hash table that is spread over all processes, and into which all insert at the
 * same time.
 *
 * There are two ways. The owner of a key is locked for each insertion. Or nothing is locked:
 * MPI_Fetch_and_op reserves an entry, a put fills it, and MPI_Compare_and_swap makes it the head of
 * its chain. The order of these is what the second way is about: whoever finds an entry must find
 * it filled.
 *
 * The program checks that the owner finds every entry in one of its chains, that the tables
 * together hold as many as were inserted, and that each process can look up the keys of its
 * neighbour.
 */
#include "example.h"
#include <stdint.h>

static int rank, size;
static long keys, buckets; /* That each process inserts, and has. */

/* A process's part of the table is an array of words: how many entries are used, the head of each
 * bucket's chain (an entry's number, or 0), and the entries, of which number 0 is not used. */
enum { USED = 0, HEADS = 1, ENTRY_WORDS = 3 };
struct entry {
    long key, value, next;
};
static MPI_Win win;
static long *table;

static MPI_Aint entry_at(long entry)
{
    return HEADS + buckets + entry * ENTRY_WORDS;
}

/* Each process has keys of its own. Where a key belongs is spread evenly. */
static long value_of(long key)
{
    return 7 * key + 1;
}

static uint64_t hash(long key)
{
    uint64_t x = (uint64_t)key * 0x9E3779B97F4A7C15u;
    return (x ^ x >> 29) * 0xBF58476D1CE4E5B9u >> 20;
}

static int owner_of(long key)
{
    return (int)(hash(key) % (uint64_t)size);
}

static MPI_Aint head_of(long key)
{
    return HEADS + (MPI_Aint)(hash(key) / (uint64_t)size % (uint64_t)buckets);
}

/* What the owner has: every used entry is in the chain where it belongs, once. */
static void check_own(void)
{
    long found = 0, all, used;
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    used = table[USED] - 1;
    for (long b = 0; b < buckets; b++) {
        for (long e = table[HEADS + b]; e != 0;) {
            const struct entry *entry = (const struct entry *)&table[entry_at(e)];
            if (owner_of(entry->key) != rank || head_of(entry->key) != HEADS + b)
                wrong("key %ld is in bucket %ld", entry->key, b);
            if (++found > used)
                wrong("the chains have more than the %ld entries in use", used);
            e = entry->next;
        }
    }
    MPI_Win_unlock(rank, win);
    if (found != used)
        wrong("%ld of %ld entries are in no chain", used - found, used);
    MPI_Allreduce(&found, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (all != size * keys)
        wrong("the table has %ld entries instead of %ld", all, size * keys);
}

/* The value of a key, or -1. Nobody inserts meanwhile, so that plain gets do. */
static long look_up(long key)
{
    int owner = owner_of(key);
    long e;
    struct entry entry;
    MPI_Get(&e, 1, MPI_LONG, owner, head_of(key), 1, MPI_LONG, win);
    MPI_Win_flush(owner, win);
    for (; e != 0; e = entry.next) {
        MPI_Get(&entry, ENTRY_WORDS, MPI_LONG, owner, entry_at(e), ENTRY_WORDS, MPI_LONG, win);
        MPI_Win_flush(owner, win);
        if (entry.key == key)
            return entry.value;
    }
    return -1;
}

/* Under an exclusive lock (MPI 4.1, 12.5.3) nobody else changes the owner's part. The flush
 * completes the gets, whose values the puts need; the unlock completes the puts. */
static void insert_by_lock(long key)
{
    long e, next, head;
    int owner = owner_of(key);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, win);
    MPI_Get(&e, 1, MPI_LONG, owner, USED, 1, MPI_LONG, win);
    MPI_Get(&head, 1, MPI_LONG, owner, head_of(key), 1, MPI_LONG, win);
    MPI_Win_flush(owner, win);
    struct entry entry = {key, value_of(key), head};
    next = e + 1;
    MPI_Put(&entry, ENTRY_WORDS, MPI_LONG, owner, entry_at(e), ENTRY_WORDS, MPI_LONG, win);
    MPI_Put(&e, 1, MPI_LONG, owner, head_of(key), 1, MPI_LONG, win);
    MPI_Put(&next, 1, MPI_LONG, owner, USED, 1, MPI_LONG, win);
    MPI_Win_unlock(owner, win);
}

/* The flush completes the put at the owner before the swap lets others find the entry (12.5.4). A
 * swap fails if somebody else has changed the head of the chain meanwhile; it then tells the new
 * head. Now and then others run before the swap, so that some swaps do fail. */
static void insert_by_swap(long key)
{
    const long one = 1, unused = 0;
    int owner = owner_of(key);
    long e, head, found;
    MPI_Fetch_and_op(&one, &e, MPI_LONG, owner, USED, MPI_SUM, win);
    MPI_Fetch_and_op(&unused, &found, MPI_LONG, owner, head_of(key), MPI_NO_OP, win);
    MPI_Win_flush(owner, win);
    do {
        head = found;
        struct entry entry = {key, value_of(key), head};
        MPI_Put(&entry, ENTRY_WORDS, MPI_LONG, owner, entry_at(e), ENTRY_WORDS, MPI_LONG, win);
        MPI_Win_flush(owner, win);
        if (e % 8 == 0)
            sched_yield();
        MPI_Compare_and_swap(&e, &head, &found, MPI_LONG, owner, head_of(key), win);
        MPI_Win_flush(owner, win);
    } while (found != head);
}

static void by_lock(void)
{
    for (long i = 0; i < keys; i++)
        insert_by_lock(rank * keys + i);
}

/* The shared lock of all is the epoch that the operations need; it keeps nobody out. */
static void by_swap(void)
{
    MPI_Win_lock_all(0, win);
    for (long i = 0; i < keys; i++)
        insert_by_swap(rank * keys + i);
    MPI_Win_unlock_all(win);
}

/* Each owner empties its part, all insert, and each looks up the keys of its neighbour. */
static double run(void (*insert_all)(void))
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(table, 0, (size_t)(HEADS + buckets) * sizeof(long));
    table[USED] = 1;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    insert_all();
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    check_own();
    MPI_Win_lock_all(0, win);
    for (long i = 0; i < keys; i++) {
        long key = (rank + 1) % size * keys + i, value = look_up(key);
        if (value != value_of(key))
            wrong("key %ld has the value %ld", key, value);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    return took;
}

int main(int argc, char **argv)
{
    static const struct way ways[] = {{"lock", by_lock}, {"swap", by_swap}, {NULL, NULL}};
    struct argument a[] = {{"n", 2000, NULL, "keys that each process inserts"},
                           {"buckets", 1000, NULL, "buckets of each process"},
                           {"repeats", 5, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "lock, swap or all"},
                           {NULL, 0, NULL, NULL}};
    begin_example(&argc, &argv, a, &rank, &size);
    keys = a[0].number;
    buckets = a[1].number;
    /* Where keys are spread so badly that all have one owner, there is still room. */
    MPI_Win_allocate(whole_lines((size_t)entry_at(size * keys + 1) * sizeof(long)), sizeof(long),
                     MPI_INFO_NULL, MPI_COMM_WORLD, &table, &win);
    if (rank == 0)
        printf("hashtable: %d processes, %ld keys each; microseconds a key of one process\n", size,
               keys);
    measure(ways, run, a[3].text, a[2].number, 1e6 / (double)keys);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
