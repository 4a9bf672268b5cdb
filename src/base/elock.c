/*
 * elock.c - the contended paths of elock.h.
 *
 * A thread that has slept takes the word as 2 ("held with sleepers"), since it cannot
 * know whether others sleep too; that costs one needless wake at most.
 */
#include "base/elock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void elock_sleep(struct elock *l)
{
    while (atomic_exchange_explicit(&l->word, 2, memory_order_acquire) != 0)
        syscall(SYS_futex, &l->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void elock_wake(struct elock *l)
{
    syscall(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
