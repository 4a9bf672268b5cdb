/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remapped.c - memory that is unmapped and mapped again at the same address, between windows and
 * between operations.
 *
 * A window or a buffer of an operation may be freed when the window is freed or the operation
 * complete (MPI 4.1, 12.2 and 12.3), and what the program maps at that address later is other
 * memory, whatever a network or a cache in between has kept of the first. It is unmapped by the
 * system call itself here, as allocators do that have their own way to the kernel: who watches the
 * functions of the C library sees nothing of it.
 */
#define _GNU_SOURCE 1
#include "mtcomm.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BYTES = 1 << 20, ROUNDS = 12 };

/* BYTES at that address, or anywhere: pages that nobody has seen before. */
static unsigned char *map_at(void *at)
{
    void *found = mmap(at, BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    CHECK(found != MAP_FAILED && (!at || found == at), "no memory at %p: %m", at);
    return found;
}

static unsigned char *map_again(unsigned char *at)
{
    CHECK(syscall(SYS_munmap, at, (size_t)BYTES) == 0, "munmap: %m");
    return map_at(at);
}

struct memory {
    unsigned char *window, *origin, *result;
};

/* Everybody puts to the next process, and gets what it has put. */
static void round_of(const struct memory *m, const struct mt_win *w, enum mt_epoch ep, int round)
{
    const int target = (w->rank + 1) % w->size, origin = (w->rank - 1 + w->size) % w->size;
    const uint32_t tag = (uint32_t)(round * 100 + w->rank), from = tag - (uint32_t)w->rank;

    mt_fill(m->origin, BYTES, tag);
    mt_epoch_begin(w, ep, target, origin);
    MT_OK(MPI_Put(m->origin, BYTES, MPI_BYTE, target, 0, BYTES, MPI_BYTE, w->win));
    mt_epoch_end(w, ep, target);
    CHECK_FILL(m->window, BYTES, from + (uint32_t)origin);
    mt_sync(w);
    mt_epoch_begin(w, ep, target, origin);
    MT_OK(MPI_Get(m->result, BYTES, MPI_BYTE, target, 0, BYTES, MPI_BYTE, w->win));
    mt_epoch_end(w, ep, target);
    CHECK_FILL(m->result, BYTES, tag);
}

/* The buffers of operations change while the window stays. */
static void buffers(struct memory *m, enum mt_epoch ep)
{
    struct mt_win w = {.size = mt_size, .rank = mt_rank};

    MT_OK(MPI_Win_create(m->window, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win));
    for (int i = 0; i < ROUNDS; i++) {
        round_of(m, &w, ep, i);
        m->origin = map_again(m->origin);
        m->result = map_again(m->result);
    }
    mt_sync(&w);
    MT_OK(MPI_Win_free(&w.win));
}

/* The memory of the window changes. */
static void windows(struct memory *m, enum mt_epoch ep)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct mt_win w = {.size = mt_size, .rank = mt_rank};
        MT_OK(MPI_Win_create(m->window, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win));
        round_of(m, &w, ep, ROUNDS + i);
        mt_sync(&w);
        MT_OK(MPI_Win_free(&w.win));
        m->window = map_again(m->window);
    }
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    struct memory m = {map_at(NULL), map_at(NULL), map_at(NULL)};

    MT_FOR_EPOCHS(ep)
    {
        mt_section("buffers, %s", mt_epoch_name(ep));
        buffers(&m, ep);
        mt_section("windows, %s", mt_epoch_name(ep));
        windows(&m, ep);
    }
    munmap(m.window, BYTES);
    munmap(m.origin, BYTES);
    munmap(m.result, BYTES);
    return MT_FINISH();
}
