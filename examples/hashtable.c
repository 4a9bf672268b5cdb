/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hashtable.c - a hash table that is spread over all processes, and into which all insert at the
 * same time.
 *
 * Three ways: every process sorts its keys by owner, all exchange them, and each inserts what it
 * received (this needs all processes at once); an exclusive lock on the owner for each key; and
 * without any lock: MPI_Fetch_and_op reserves an entry, a put fills it, and
 * MPI_Compare_and_swap makes it the head of its chain.
 *
 * Checked: the owner finds every entry in one of its chains, the tables together hold as many as
 * were inserted, and each process looks up every key of its neighbour with MPI_Get.
 */
#include "example.h"
#include <stdint.h>

static int rank, size;
static long keys;    /* that each process inserts */
static long buckets; /* of each process */
static long room;    /* entries of each process */

/* A process's part of the table is an array of words: how many entries are used, the head of each
 * bucket's chain (an entry's number, or 0), and the entries, of which number 0 is not used. */
enum { USED = 0, HEADS = 1 };
struct entry {
    long key, value, next;
};
enum { ENTRY_WORDS = 3 };
static MPI_Win win;
static long *table;

static MPI_Aint entry_at(long entry)
{
    return HEADS + buckets + entry * ENTRY_WORDS;
}

/* Keys are different on all processes; where a key belongs is spread evenly. */
static long key_of(int process, long i)
{
    return process * keys + i;
}

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

/* The owner empties its part. */
static void begin(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(table, 0, (size_t)(HEADS + buckets) * sizeof(long));
    table[USED] = 1;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
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

static double end(double began)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    check_own();
    MPI_Win_lock_all(0, win);
    for (long i = 0; i < keys; i++) {
        long key = key_of((rank + 1) % size, i), value = look_up(key);
        if (value != value_of(key))
            wrong("key %ld has the value %ld instead of %ld", key, value, value_of(key));
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    return took;
}

static void full(long entry)
{
    if (entry >= room)
        wrong("no room for more than %ld entries; room= makes more", room);
}

/* The owner's own insertion, into its memory. */
static void insert_here(long key)
{
    long e = table[USED]++, *head = &table[head_of(key)];
    full(e);
    *(struct entry *)&table[entry_at(e)] = (struct entry){key, value_of(key), *head};
    *head = e;
}

static double by_exchange(void)
{
    int *to = zeroed((size_t)size, sizeof(int)), *from = zeroed((size_t)size, sizeof(int));
    int *at = zeroed((size_t)size + 1, sizeof(int)), *place = zeroed((size_t)size + 1, sizeof(int));
    long *send = zeroed((size_t)keys, sizeof(long));
    begin();
    double began = MPI_Wtime();
    for (long i = 0; i < keys; i++)
        to[owner_of(key_of(rank, i))]++;
    for (int p = 0; p < size; p++)
        at[p + 1] = at[p] + to[p];
    memcpy(place, at, (size_t)size * sizeof(int));
    for (long i = 0; i < keys; i++)
        send[place[owner_of(key_of(rank, i))]++] = key_of(rank, i);
    MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
    place[0] = 0;
    for (int p = 0; p < size; p++)
        place[p + 1] = place[p] + from[p];
    long *receive = zeroed((size_t)place[size], sizeof(long));
    MPI_Alltoallv(send, to, at, MPI_LONG, receive, from, place, MPI_LONG, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int i = 0; i < place[size]; i++)
        insert_here(receive[i]);
    MPI_Win_unlock(rank, win);
    double took = end(began);
    free(to);
    free(from);
    free(at);
    free(place);
    free(send);
    free(receive);
    return took;
}

/* Under the lock nobody else changes the owner's part. */
static double by_lock(void)
{
    begin();
    double began = MPI_Wtime();
    for (long i = 0; i < keys; i++) {
        long key = key_of(rank, i), e, next, head;
        int owner = owner_of(key);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, win);
        MPI_Get(&e, 1, MPI_LONG, owner, USED, 1, MPI_LONG, win);
        MPI_Get(&head, 1, MPI_LONG, owner, head_of(key), 1, MPI_LONG, win);
        MPI_Win_flush(owner, win);
        full(e);
        struct entry entry = {key, value_of(key), head};
        next = e + 1;
        MPI_Put(&entry, ENTRY_WORDS, MPI_LONG, owner, entry_at(e), ENTRY_WORDS, MPI_LONG, win);
        MPI_Put(&e, 1, MPI_LONG, owner, head_of(key), 1, MPI_LONG, win);
        MPI_Put(&next, 1, MPI_LONG, owner, USED, 1, MPI_LONG, win);
        MPI_Win_unlock(owner, win);
    }
    return end(began);
}

/* The entry is complete at the owner, by the flush, before the swap lets others find it. Now and
 * then others run before the swap: that it can fail is a part of the test. */
static void insert(long key)
{
    const long one = 1, unused = 0;
    int owner = owner_of(key);
    long e, head, found;
    MPI_Fetch_and_op(&one, &e, MPI_LONG, owner, USED, MPI_SUM, win);
    MPI_Fetch_and_op(&unused, &head, MPI_LONG, owner, head_of(key), MPI_NO_OP, win);
    MPI_Win_flush(owner, win);
    full(e);
    for (;;) {
        struct entry entry = {key, value_of(key), head};
        MPI_Put(&entry, ENTRY_WORDS, MPI_LONG, owner, entry_at(e), ENTRY_WORDS, MPI_LONG, win);
        MPI_Win_flush(owner, win);
        if (e % 8 == 0)
            sched_yield();
        MPI_Compare_and_swap(&e, &head, &found, MPI_LONG, owner, head_of(key), win);
        MPI_Win_flush(owner, win);
        if (found == head)
            return;
        head = found;
    }
}

static double by_swap(void)
{
    begin();
    double began = MPI_Wtime();
    MPI_Win_lock_all(0, win);
    for (long i = 0; i < keys; i++)
        insert(key_of(rank, i));
    MPI_Win_unlock_all(win);
    return end(began);
}

static const struct way ways[] = {
    {"exchange", by_exchange}, {"lock", by_lock}, {"swap", by_swap}, {NULL, NULL}};

int main(int argc, char **argv)
{
    struct argument a[] = {{"n", 2000, NULL, "keys that each process inserts"},
                           {"buckets", 1000, NULL, "buckets of each process"},
                           {"room", 0, NULL, "entries of each process (default: twice n and 64)"},
                           {"repeats", 5, NULL, "runs, of which the median is shown"},
                           {"how", 0, "all", "exchange, lock, swap or all"},
                           {NULL, 0, NULL, NULL}};
    struct times times;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_arguments(argc, argv, a);
    keys = a[0].number;
    buckets = a[1].number;
    room = a[2].number > 0 ? a[2].number : 2 * keys + 64;

    MPI_Win_allocate(whole_lines((size_t)entry_at(room) * sizeof(long)), sizeof(long),
                     MPI_INFO_NULL, MPI_COMM_WORLD, &table, &win);
    if (rank == 0)
        printf("hashtable: %d processes, %ld keys each; microseconds a key of one process\n", size,
               keys);
    run_ways(ways, a[4].text, a[3].number, &times);
    print_ways(ways, &times, 1e6 / (double)keys);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
