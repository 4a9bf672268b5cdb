/*
 * inplace_fork.c - children get copies of pages that are shared in place.
 *
 * The parent makes the copies, right before the fork; the child has them with all its other memory, and moves them
 * over the pages. So nobody waits for another process. The parent drops its own.
 *
 * Between the fork and the end of inplace_fork_child the child shares the pages with the parent, which goes on. What
 * that function reads until then must not be in them: so it is not from malloc, whose memory may be. The
 * contents are read last, since malloc's own data may be in the pages, and allocations change them.
 * Where other threads run during the fork, what they store next to a window (in its first and last page) between the
 * copy and the fork is missing in the child.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "shm/inplace_impl.h"

/* What a child gets in the place of [lo, lo+len). */
struct copy {
    uintptr_t lo;
    size_t len;
    int prot;
    void *at; /* MAP_FAILED: no memory */
};

static bool count_copy(void *arg, const struct vma *v)
{
    struct inplace *ip = arg;
    ip->copies_room += is_ours(ip, v);
    return true;
}

static bool add_copy(void *arg, const struct vma *v)
{
    struct inplace *ip = arg;
    if (!is_ours(ip, v) || ip->ncopies == ip->copies_room)
        return true;
    struct copy *c = &ip->copies[ip->ncopies++];
    *c = (struct copy){.lo = v->start, .len = v->end - v->start, .prot = prot_of(v)};
    c->at = new_private(c->len);
    return true;
}

/* Places for copies of all that is shared; false: not to be had. */
static bool list_copies(struct inplace *ip)
{
    bool ok = true;
    ip->ncopies = ip->copies_room = 0;
    LIST_EACH(node, &ip->runs)
        ok &= vma_each(run_of(node)->lo, run_of(node)->hi, false, count_copy, ip) == VMA_ALL;
    ip->copies = new_private((ip->copies_room + 1) * sizeof *ip->copies);
    if (ip->copies == MAP_FAILED) {
        ip->copies = NULL;
        return false;
    }
    LIST_EACH(node, &ip->runs)
        ok &= vma_each(run_of(node)->lo, run_of(node)->hi, false, add_copy, ip) == VMA_ALL;
    return ok;
}

/* From the file and not from the addresses, which the program may have protected. */
static void fill_copy(const struct inplace *ip, struct copy *c)
{
    for (size_t done = 0; c->at != MAP_FAILED && done < c->len;) {
        const ssize_t n = pread(ip->file.fd, (char *)c->at + done, c->len - done, (off_t)(c->lo + done));
        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            munmap(c->at, c->len);
            c->at = MAP_FAILED;
        }
        done += n > 0 ? (size_t)n : 0;
    }
}

void inplace_fork_prepare(struct inplace *ip)
{
    pthread_mutex_lock(&ip->mutex);
    if (list_empty(&ip->runs))
        return;
    if (!list_copies(ip))
        log_msg(ip->log, LOG_LEVEL_WARN, "no copies for the child of this fork: it shares memory of windows");
    for (size_t i = 0; i < ip->ncopies; i++)
        fill_copy(ip, &ip->copies[i]);
}

static void end_fork(struct inplace *ip)
{
    if (ip->copies)
        munmap(ip->copies, (ip->copies_room + 1) * sizeof *ip->copies);
    ip->copies = NULL;
    ip->ncopies = 0;
    pthread_mutex_unlock(&ip->mutex);
}

void inplace_fork_parent(struct inplace *ip)
{
    for (size_t i = 0; i < ip->ncopies; i++)
        if (ip->copies[i].at != MAP_FAILED)
            munmap(ip->copies[i].at, ip->copies[i].len);
    end_fork(ip);
}

/* There is one thread, on a stack that is not among the pages. */
void inplace_fork_child(struct inplace *ip)
{
    for (size_t i = 0; i < ip->ncopies; i++) {
        const struct copy *c = &ip->copies[i];
        void *at = c->at;
        if (at != MAP_FAILED)
            at = inplace_move(at, c->len, (void *)c->lo) ? (void *)c->lo : MAP_FAILED;
        if (at == MAP_FAILED)
            at = mmap((void *)c->lo, c->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, ip->file.fd, (off_t)c->lo);
        if (at != MAP_FAILED && c->prot != (PROT_READ | PROT_WRITE))
            (void)mprotect(at, c->len, c->prot);
    }
    LIST_EACH_SAFE(node, &ip->runs) {
        list_remove(node);
        free(run_of(node));
    }
    end_fork(ip);
}
