/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model.c - see model.h.
 *
 * A run is a row of choices. The choices of the run before are kept; the next run makes the same
 * ones up to the last that can still be made another way. Choice 0 is always the usual one.
 */
#include "model.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "../sim/fiber.h"

#undef syscall
#undef sched_yield

enum { BUFFER = 16, CHOICES = 4096, RUNS = 4000000, STACK = 128 * 1024, TEXT = 8192 };

struct stored {
    volatile void *at;
    size_t size;
    uint64_t value;
    bool release;
};

enum state { RUNS_ON, PAUSES, SLEEPS, ENDED };

struct thread {
    struct fiber *fiber;
    enum state state;
    unsigned long seen;      /* changes, when it began to look at what it now waits for */
    const volatile void *on; /* SLEEPS: the futex, or NULL: woken by number */
    bool woken;
    struct stored buffer[BUFFER];
    unsigned nbuffer;
};

struct choice {
    unsigned made, of;
};

static struct {
    const struct model_scenario *s;
    struct thread thread[MODEL_THREADS];
    int now, last; /* the thread that runs, or -1; the one that ran before */
    unsigned long changes;
    struct choice choice[CHOICES];
    unsigned nchoices, at, deviations;
    const volatile char *forbidden;
    size_t nforbidden;
    const char *failure;
    char text[TEXT], steps[TEXT / 2];
    size_t nsteps;
} m;

/* ---- memory ---- */

static uint64_t read_memory(const volatile void *at, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, (const void *)(uintptr_t)at, size);
    return value;
}

static void write_memory(volatile void *at, size_t size, uint64_t value)
{
    if (read_memory(at, size) == (size == 8 ? value : value & ((UINT64_C(1) << 8 * size) - 1)))
        return;
    memcpy((void *)(uintptr_t)at, &value, size);
    m.changes++;
}

/* Let the i-th store of t's buffer reach memory. */
static void leave_buffer(struct thread *t, unsigned i)
{
    const struct stored s = t->buffer[i];
    memmove(&t->buffer[i], &t->buffer[i + 1], (--t->nbuffer - i) * sizeof s);
    write_memory(s.at, s.size, s.value);
}

static void empty_buffer(struct thread *t)
{
    while (t->nbuffer)
        leave_buffer(t, 0);
}

static bool empty_buffers(void)
{
    bool some = false;
    for (unsigned i = 0; i < MODEL_THREADS; i++) {
        some |= m.thread[i].nbuffer != 0;
        empty_buffer(&m.thread[i]);
    }
    return some;
}

/* May the i-th store leave before older ones? */
static bool may_leave(const struct thread *t, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (t->buffer[i].release || t->buffer[k].at == t->buffer[i].at)
            return false;
    return true;
}

/* ---- steps of threads ---- */

void model_fail(const char *what)
{
    if (!m.failure)
        m.failure = what;
    if (m.now >= 0)
        fiber_yield(m.thread[m.now].fiber); /* for ever: the run ends here */
}

static void check_place(const volatile void *at)
{
    const volatile char *place = at;
    if (m.nforbidden && place >= m.forbidden && place < m.forbidden + m.nforbidden)
        model_fail("memory was used that is gone");
}

/* Let the scheduler decide who goes on. NULL: not in a thread. */
static struct thread *step(const volatile void *at)
{
    if (m.now < 0)
        return NULL;
    struct thread *t = &m.thread[m.now];
    fiber_yield(t->fiber);
    check_place(at);
    return t;
}

uint64_t model_load(const volatile void *at, size_t size)
{
    const struct thread *t = step(at);
    for (unsigned i = t ? t->nbuffer : 0; i-- > 0;)
        if (t->buffer[i].at == at)
            return t->buffer[i].value;
    return read_memory(at, size);
}

void model_store(volatile void *at, size_t size, uint64_t value, memory_order order)
{
    struct thread *t = step(at);
    if (t && t->nbuffer == BUFFER)
        leave_buffer(t, 0);
    if (t)
        t->buffer[t->nbuffer++] = (struct stored){at, size, value, order != memory_order_relaxed};
    else
        write_memory(at, size, value);
    if (t && order == memory_order_seq_cst)
        empty_buffer(t);
}

uint64_t model_change(volatile void *at, size_t size, enum model_op op, uint64_t by)
{
    struct thread *t = step(at);
    if (t)
        empty_buffer(t);
    const uint64_t old = read_memory(at, size);
    const uint64_t new[] = {[MODEL_ADD] = old + by,
                            [MODEL_SUB] = old - by,
                            [MODEL_OR] = old | by,
                            [MODEL_AND] = old & by,
                            [MODEL_EXCHANGE] = by};
    write_memory(at, size, new[op]);
    return old;
}

bool model_compare_exchange(volatile void *at, size_t size, void *expected, uint64_t value)
{
    struct thread *t = step(at);
    if (t)
        empty_buffer(t);
    const uint64_t old = read_memory(at, size);
    if (old == read_memory(expected, size)) {
        write_memory(at, size, value);
        return true;
    }
    memcpy(expected, &old, size);
    return false;
}

void model_fence(memory_order order)
{
    if (order != memory_order_seq_cst || m.now < 0)
        return;
    struct thread *t = step(NULL);
    empty_buffer(t);
}

/* Not this thread again, until that what it waits for can have come. */
static void wait_as(enum state state, const volatile void *on)
{
    struct thread *t = &m.thread[m.now];
    t->state = state;
    t->on = on;
    fiber_yield(t->fiber);
    t->seen = m.changes;
}

void model_pause(void)
{
    wait_as(PAUSES, NULL);
}

int model_yield(void)
{
    model_pause();
    return 0;
}

void model_sleep(void)
{
    struct thread *t = step(NULL);
    empty_buffer(t);
    if (!t->woken)
        wait_as(SLEEPS, NULL);
    t->woken = false;
}

void model_wake(unsigned i)
{
    empty_buffer(step(NULL));
    m.thread[i].woken = true;
    if (m.thread[i].state == SLEEPS && !m.thread[i].on)
        m.thread[i].state = RUNS_ON;
}

void model_forbid(const void *at, size_t size)
{
    m.forbidden = at;
    m.nforbidden = size;
}

static long futex(uint32_t *word, int op, uint32_t value)
{
    struct thread *t = step(word);
    if (!t)
        return 0;
    empty_buffer(t);
    if (op == FUTEX_WAIT && read_memory(word, sizeof *word) == value)
        wait_as(SLEEPS, word);
    uint32_t woken = 0;
    for (unsigned i = 0; op == FUTEX_WAKE && i < MODEL_THREADS && woken < value; i++)
        if (m.thread[i].state == SLEEPS && m.thread[i].on == word) {
            m.thread[i].state = RUNS_ON;
            woken++;
        }
    return woken;
}

long model_syscall(long number, ...)
{
    va_list args;
    va_start(args, number);
    long result = 0;
    if (number == SYS_futex) {
        uint32_t *word = va_arg(args, uint32_t *);
        const int op = va_arg(args, int) & FUTEX_CMD_MASK;
        result = futex(word, op, va_arg(args, uint32_t));
    } else if (number == SYS_membarrier) {
        if (m.s->no_membarrier)
            result = -1;
        else if (va_arg(args, int) == MEMBARRIER_CMD_GLOBAL_EXPEDITED && step(NULL))
            empty_buffers();
    } else {
        model_fail("a system call that the model does not know");
    }
    va_end(args);
    return result;
}

/* ---- the scheduler ---- */

static bool can_run(const struct thread *t)
{
    return t->state == RUNS_ON || (t->state == PAUSES && t->seen != m.changes);
}

/* One of so many; the usual one, if no more may differ. */
static unsigned choose(unsigned of)
{
    if (of < 2)
        return 0;
    if (m.at == m.nchoices) {
        if (m.nchoices == CHOICES) {
            m.failure = "a run without an end";
            return 0;
        }
        m.choice[m.nchoices++] = (struct choice){0, m.deviations < m.s->deviations ? of : 1};
    }
    const unsigned made = m.choice[m.at++].made;
    m.deviations += made != 0;
    return made;
}

static void note(const char *what, unsigned i)
{
    if (m.nsteps < sizeof m.steps)
        m.nsteps +=
            (size_t)snprintf(m.steps + m.nsteps, sizeof m.steps - m.nsteps, " %s%u", what, i);
}

static void run_thread(unsigned i)
{
    if (m.last != (int)i)
        note("thread ", i);
    m.last = m.now = (int)i;
    m.thread[i].state = RUNS_ON;
    if (fiber_resume(m.thread[i].fiber))
        m.thread[i].state = ENDED;
    m.now = -1;
}

/* One step of a thread, or of a store that leaves a buffer. False: nothing can be done any more. */
static bool advance(void)
{
    unsigned thread[MODEL_THREADS * (BUFFER + 1)], store[MODEL_THREADS * (BUFFER + 1)], n = 0;
    /* The usual one first: the thread that ran before, else the next that can; those that pause
     * come last, and only when no store is under way any more. */
    for (unsigned k = 0; k < 2 * MODEL_THREADS; k++) {
        const unsigned i = ((unsigned)(m.last < 0 ? 0 : m.last) + k) % MODEL_THREADS;
        if (m.thread[i].state != (k < MODEL_THREADS ? RUNS_ON : PAUSES) || !can_run(&m.thread[i]))
            continue;
        if (k >= MODEL_THREADS && n == 0 && empty_buffers())
            return true;
        thread[n] = i;
        store[n++] = BUFFER;
    }
    if (n == 0)
        return empty_buffers();
    /* That another one goes on where this one must wait is no deviation. */
    const bool forced = m.last < 0 || m.thread[m.last].state != RUNS_ON;
    const unsigned before = m.deviations;
    for (unsigned i = 0; i < MODEL_THREADS; i++)
        for (unsigned k = 0; k < m.thread[i].nbuffer; k++)
            if (may_leave(&m.thread[i], k)) {
                thread[n] = i;
                store[n++] = k;
            }
    const unsigned c = choose(n);
    if (store[c] < BUFFER) {
        note("store of ", thread[c]);
        leave_buffer(&m.thread[thread[c]], store[c]);
        return true;
    }
    if (forced)
        m.deviations = before;
    run_thread(thread[c]);
    return true;
}

static void body(void *arg)
{
    m.s->thread[*(unsigned *)arg]();
}

static void begin(void)
{
    static unsigned number[MODEL_THREADS] = {0, 1, 2, 3};
    m.now = m.last = -1;
    m.at = m.deviations = 0;
    m.changes = 0;
    m.nsteps = 0;
    m.nforbidden = 0;
    m.s->setup();
    for (unsigned i = 0; i < MODEL_THREADS; i++) {
        struct thread *t = &m.thread[i];
        t->state = m.s->thread[i] ? RUNS_ON : ENDED;
        t->nbuffer = 0;
        t->woken = false;
        t->seen = 0;
        if (!m.s->thread[i])
            continue;
        if (t->fiber)
            fiber_restart(t->fiber, body, &number[i]);
        else
            t->fiber = fiber_new(STACK, body, &number[i]);
    }
}

static void run_once(void)
{
    begin();
    while (!m.failure && advance())
        ;
    for (unsigned i = 0; i < MODEL_THREADS && !m.failure; i++)
        if (m.thread[i].state == SLEEPS)
            m.failure = "a thread sleeps for ever";
        else if (m.thread[i].state != ENDED)
            m.failure = "a thread waits for ever";
    if (!m.failure && m.s->check)
        m.s->check();
}

/* The last choice that can still be made another way; false: there is none. */
static bool next_run(void)
{
    while (m.nchoices && m.choice[m.nchoices - 1].made + 1 >= m.choice[m.nchoices - 1].of)
        m.nchoices--;
    if (!m.nchoices)
        return false;
    m.choice[m.nchoices - 1].made++;
    return true;
}

const char *model_explore(const struct model_scenario *s, unsigned long *runs)
{
    m.s = s;
    m.failure = NULL;
    m.nchoices = 0;
    *runs = 0;
    do {
        run_once();
        ++*runs;
    } while (!m.failure && *runs < RUNS && next_run());
    if (!m.failure && m.nchoices)
        m.failure = "there are more orders than can be tried";
    for (unsigned i = 0; i < MODEL_THREADS; i++) {
        if (m.thread[i].fiber)
            fiber_free(m.thread[i].fiber);
        m.thread[i].fiber = NULL;
    }
    if (!m.failure)
        return NULL;
    snprintf(m.text, sizeof m.text, "%s, run %lu:%s", m.failure, *runs, m.steps);
    return m.text;
}
