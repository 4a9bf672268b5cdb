/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * split_type.c - MPI_Comm_split_type (MPI 4.1, 7.4.2).
 *
 * Nodes by MPI_COMM_TYPE_SHARED are what the library calls a node, pretended ones too: shared
 * windows over them work. MPI_UNDEFINED beside it, types that differ, types of the host's own.
 * Where the host declares them: types of hardware, guided and unguided, on a machine of two
 * packages that hwloc is made to see (HWLOC_SYNTHETIC), with processes bound to one of its two
 * units.
 */
#define _GNU_SOURCE 1 /* sched_setaffinity */
#include "mtest.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

enum { MAX_RANKS = 16 };

struct place {
    char text[256]; /* the same on one node */
    int cpu;        /* bound to it; -1: to none */
};

static struct place places[MAX_RANKS];

/* By the kernel's own words, and what is pretended. */
static void tell_places(int cpu)
{
    const char *k = getenv("MPIRMA_RANKS_PER_NODE");
    struct place mine = {.cpu = cpu};
    char boot[64] = "", pid[64] = "", net[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY);

    CHECK(read(fd, boot, sizeof boot - 1) > 0, "no boot id");
    close(fd);
    CHECK(readlink("/proc/self/ns/pid", pid, sizeof pid - 1) > 0, "no PID namespace");
    CHECK(readlink("/proc/self/ns/net", net, sizeof net - 1) > 0, "no network namespace");
    snprintf(mine.text, sizeof mine.text, "%s %s %s %d", boot, pid, net,
             k != NULL ? mt_rank / atoi(k) : 0);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
}

static bool same_node(int a, int b)
{
    return strcmp(places[a].text, places[b].text) == 0;
}

static bool same_cpu(int a, int b)
{
    return same_node(a, b) && places[a].cpu >= 0 && places[a].cpu == places[b].cpu;
}

/* comm has the ranks of MPI_COMM_WORLD for which with(rank, own), in rising order or, reversed, in
 * falling order; NULL if I am none of them. */
static void check_members(MPI_Comm comm, bool (*with)(int, int), int left_out, bool reversed)
{
    int expected[MAX_RANKS], seen[MAX_RANKS], n = 0, size;

    for (int i = 0; i < mt_size; i++) {
        const int r = reversed ? mt_size - 1 - i : i;
        if (r != left_out && with(mt_rank, r)) {
            expected[n++] = r;
        }
    }
    if (mt_rank == left_out || n == 0) {
        CHECK(comm == MPI_COMM_NULL, "a communicator for who belongs to none");
        return;
    }
    if (!CHECK(comm != MPI_COMM_NULL, "MPI_COMM_NULL, expected %d processes", n)) {
        return;
    }
    MPI_Comm_size(comm, &size);
    if (!CHECK(size == n, "expected %d processes, saw %d", n, size)) {
        return;
    }
    MPI_Allgather(&mt_rank, 1, MPI_INT, seen, 1, MPI_INT, comm);
    for (int i = 0; i < n; i++) {
        CHECK(seen[i] == expected[i], "place %d: expected rank %d, saw %d", i, expected[i],
              seen[i]);
    }
}

static void drop(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL) {
        MPI_Comm_free(comm);
    }
}

/* What programs split for: every member stores, all others load. */
static void share_memory(MPI_Comm comm)
{
    MPI_Win win;
    MPI_Aint bytes;
    int seen[MAX_RANKS], size, unit, *mine, *other;

    mt_errors_return(comm);
    MPI_Comm_size(comm, &size);
    if (!MT_OK(
            MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &mine, &win))) {
        return;
    }
    MT_OK(MPI_Win_fence(0, win));
    *mine = 100 + mt_rank;
    MT_OK(MPI_Win_fence(0, win));
    MPI_Allgather(&mt_rank, 1, MPI_INT, seen, 1, MPI_INT, comm);
    for (int i = 0; i < size; i++) {
        MT_OK(MPI_Win_shared_query(win, i, &bytes, &unit, &other));
        CHECK(*other == 100 + seen[i], "part %d: expected %d, saw %d", i, 100 + seen[i], *other);
    }
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Win_free(&win));
}

static void by_node(void)
{
    MPI_Comm comm;

    mt_section("the processes of a node");
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    check_members(comm, same_node, -1, false);
    share_memory(comm);
    drop(&comm);
    mt_section("ordered by key");
    MT_OK(
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -mt_rank, MPI_INFO_NULL, &comm));
    check_members(comm, same_node, -1, true);
    drop(&comm);
    mt_section("the last rank gives MPI_UNDEFINED");
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD,
                              mt_rank == mt_size - 1 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0,
                              MPI_INFO_NULL, &comm));
    check_members(comm, same_node, mt_size - 1, false);
    drop(&comm);
    mt_section("all give MPI_UNDEFINED");
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &comm));
    CHECK(comm == MPI_COMM_NULL, "a communicator for nobody");
}

static void errors(void)
{
    MPI_Comm comm, own;

    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    mt_errors_return(own);
    if (mt_size > 1) {
        mt_section("types that differ");
        CHECK_ERR(MPI_Comm_split_type(own, mt_rank == 0 ? MPI_COMM_TYPE_SHARED : 12345, 0,
                                      MPI_INFO_NULL, &comm),
                  MPI_ERR_ARG);
    }
    mt_section("a type that nobody knows");
    CHECK(MPI_Comm_split_type(own, 12345, 0, MPI_INFO_NULL, &comm) != MPI_SUCCESS, "it was taken");
    MPI_Comm_free(&own);
}

/* Types that are not ours: what the host gives. */
static void by_host(void)
{
    MPI_Comm comm;

    mt_section("a type of the host's own");
#ifdef HOST_OPENMPI
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, OMPI_COMM_TYPE_HWTHREAD, 0, MPI_INFO_NULL, &comm));
#elif defined HOST_ABI
    mt_skip("the standard ABI has no type of a host's own");
    return;
#else
    MT_OK(
        MPI_Comm_split_type(MPI_COMM_WORLD, MPIX_COMM_TYPE_NEIGHBORHOOD, 0, MPI_INFO_NULL, &comm));
#endif
    drop(&comm);
}

static void guided(const char *value, bool (*with)(int, int))
{
    MPI_Comm comm;
    MPI_Info info;

    mt_section("guided by %s", value);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", value);
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, HOST_COMM_TYPE_HW_GUIDED, 0, info, &comm));
    check_members(comm, with, -1, false);
    drop(&comm);
    MPI_Info_free(&info);
}

static int count_with(bool (*with)(int, int))
{
    int n = 0;

    for (int i = 0; i < mt_size; i++) {
        n += with(mt_rank, i);
    }
    return n;
}

/* First, where there are several, the node, then the package, and that is all there is to divide.
 */
static void unguided(void)
{
    static const char *const names[] = {"mpi_shared_memory", "Package"};
    bool (*const with[])(int, int) = {same_node, same_cpu};
    const bool nodes = count_with(same_node) < mt_size;
    MPI_Comm comm = MPI_COMM_WORLD, next;
    MPI_Info info;

    for (int level = nodes ? 0 : 1; level < 2; level++) {
        char text[MPI_MAX_INFO_VAL + 1] = "";
        int there = 0, parent;
        mt_section("unguided, down to %s", names[level]);
        MPI_Comm_size(comm, &parent);
        MPI_Info_create(&info);
        MT_OK(MPI_Comm_split_type(comm, HOST_COMM_TYPE_HW_UNGUIDED, 0, info, &next));
        if (parent > count_with(with[level])) {
            check_members(next, with[level], -1, false);
        } else {
            CHECK(next == MPI_COMM_NULL, "there was nothing to divide");
        }
        MPI_Info_get(info, "mpi_hw_resource_type", MPI_MAX_INFO_VAL, text, &there);
        CHECK(there == (next != MPI_COMM_NULL) && (!there || strcmp(text, names[level]) == 0),
              "key \"%s\"", text);
        MPI_Info_free(&info);
        if (comm != MPI_COMM_WORLD) {
            MPI_Comm_free(&comm);
        }
        comm = next;
        if (comm == MPI_COMM_NULL) {
            return;
        }
    }
    mt_section("unguided, to the end");
    MT_OK(MPI_Comm_split_type(comm, HOST_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &next));
    CHECK(next == MPI_COMM_NULL, "one package has one core here");
    MPI_Comm_free(&comm);
}

static void by_hardware(void)
{
    static const char *const types[] = {"Package", "NUMANode", "L3Cache", "Core",
                                        "hwloc://Package"};
    cpu_set_t both, one;

    mt_section("hardware");
    if ((int)HOST_COMM_TYPE_HW_GUIDED == MPI_UNDEFINED) {
        mt_skip("the host declares no MPI_COMM_TYPE_HW_GUIDED");
        return;
    }
    CPU_ZERO(&both);
    CPU_SET(0, &both);
    CPU_SET(1, &both);
    sched_setaffinity(0, sizeof both, &both); /* launchers bind */
    sched_getaffinity(0, sizeof one, &one);
    if (!CPU_EQUAL(&one, &both)) {
        mt_skip("processors 0 and 1 are not both allowed");
        return;
    }
    setenv("HWLOC_SYNTHETIC", "package:2 numa:1 l3:1 core:1 pu:1", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    CPU_ZERO(&one);
    CPU_SET((size_t)(mt_rank % 2), &one);
    sched_setaffinity(0, sizeof one, &one);
    tell_places(mt_rank % 2);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        guided(types[i], same_cpu);
    }
    guided("mpi_shared_memory", same_node);
    unguided();
    if (mt_rank == 0) { /* on both packages, hence on none alone */
        sched_setaffinity(0, sizeof both, &both);
    }
    tell_places(mt_rank == 0 ? -1 : mt_rank % 2);
    guided("Core", same_cpu);
    unsetenv("HWLOC_SYNTHETIC");
}

/* Without the key the standard gives nobody a communicator. */
static void guided_by_nothing(void)
{
    MPI_Comm comm = MPI_COMM_WORLD;

    if ((int)HOST_COMM_TYPE_HW_GUIDED == MPI_UNDEFINED) {
        return;
    }
    mt_section("guided without the key");
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, HOST_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &comm));
    CHECK(comm == MPI_COMM_NULL, "a communicator of no type");
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    if (mt_size <= MAX_RANKS) {
        tell_places(-1);
        by_node();
        errors();
        by_host();
        guided_by_nothing();
        by_hardware();
    }
    return MT_FINISH();
}
