/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fiber.c - see fiber.h. A context is made by makecontext; the stack is mapped, so that
 * what is never touched costs nothing. Once it runs, _setjmp and _longjmp switch: without
 * the system calls of swapcontext a simulation takes half the time. Fortified they would
 * refuse to jump to another stack.
 */
#undef _FORTIFY_SOURCE
#include "fiber.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define START_SWITCH(save, bottom, size) __sanitizer_start_switch_fiber(save, bottom, size)
#define FINISH_SWITCH(save, bottom, size) __sanitizer_finish_switch_fiber(save, bottom, size)
#else
#define START_SWITCH(save, bottom, size) ((void)(save), (void)(bottom), (void)(size))
#define FINISH_SWITCH(save, bottom, size) ((void)(save), (void)(bottom), (void)(size))
#endif

#if FIBER_ASAN
/* Its longjmp believes that the stack is unwound. */
struct place {
    ucontext_t at;
};

static void switch_to(struct place *from, struct place *to)
{
    swapcontext(&from->at, &to->at);
}

static void switch_first(struct place *from, ucontext_t *to)
{
    swapcontext(&from->at, to);
}
#else
struct place {
    jmp_buf at;
};

static void switch_to(struct place *from, struct place *to)
{
    if (_setjmp(from->at) == 0)
        _longjmp(to->at, 1);
}

static void switch_first(struct place *from, ucontext_t *to)
{
    if (_setjmp(from->at) == 0)
        setcontext(to);
}
#endif

struct fiber {
    struct place self, owner;
    ucontext_t first; /* where it begins */
    bool begun;
    char *map; /* guard page, then the stack, then this */
    size_t page, stack, size;
    void (*body)(void *arg);
    void *arg;
    bool ended;
    void *fake, *owner_fake; /* AddressSanitizer's */
    const void *owner_bottom;
    size_t owner_size;
};

/* makecontext passes ints. */
static void enter(unsigned high, unsigned low)
{
    struct fiber *f = (struct fiber *)(((uintptr_t)high << 32) | low);
    FINISH_SWITCH(NULL, &f->owner_bottom, &f->owner_size);
    f->body(f->arg);
    f->ended = true;
    START_SWITCH(NULL, f->owner_bottom, f->owner_size);
    switch_to(&f->self, &f->owner);
    abort(); /* an ended fiber was resumed */
}

void fiber_restart(struct fiber *f, void (*body)(void *arg), void *arg)
{
    f->body = body;
    f->arg = arg;
    f->ended = false;
    f->fake = NULL;
    f->begun = false;
    getcontext(&f->first);
    f->first.uc_stack.ss_sp = f->map + f->page;
    f->first.uc_stack.ss_size = f->stack;
    f->first.uc_link = NULL;
    const uintptr_t at = (uintptr_t)f;
    makecontext(&f->first, (void (*)(void))(void *)enter, 2, (unsigned)(at >> 32), (unsigned)at);
}

/* All in one mapping, the fiber itself at its end: what malloc has given is the library's
 * (counts.c), and a context is some kilobytes on ARM64. */
struct fiber *fiber_new(size_t stack, void (*body)(void *arg), void *arg)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = (stack + page - 1) / page * page;
    const size_t size = page + whole + (sizeof(struct fiber) + page - 1) / page * page;
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    if (mprotect(map, page, PROT_NONE) != 0) {
        munmap(map, size);
        return NULL;
    }
    struct fiber *f = (struct fiber *)(void *)(map + page + whole);
    f->page = page;
    f->stack = whole;
    f->size = size;
    f->map = map;
    fiber_restart(f, body, arg);
    return f;
}

void fiber_free(struct fiber *f)
{
    if (!f)
        return;
#if FIBER_ASAN /* or a file that is mapped there later is taken for the stack of an ended fiber */
    __asan_unpoison_memory_region(f->map, f->page + f->stack);
#endif
    munmap(f->map, f->size);
}

bool fiber_resume(struct fiber *f)
{
    START_SWITCH(&f->owner_fake, f->map + f->page, f->stack);
    if (f->begun) {
        switch_to(&f->owner, &f->self);
    } else {
        f->begun = true;
        switch_first(&f->owner, &f->first);
    }
    FINISH_SWITCH(f->owner_fake, NULL, NULL);
    return f->ended;
}

void fiber_yield(struct fiber *f)
{
    START_SWITCH(&f->fake, f->owner_bottom, f->owner_size);
    switch_to(&f->self, &f->owner);
    FINISH_SWITCH(f->fake, &f->owner_bottom, &f->owner_size);
}
