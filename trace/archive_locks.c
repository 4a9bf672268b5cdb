/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_locks.c - writes RmaRequestLock, RmaAcquireLock and RmaReleaseLock.
 *
 * Every request gets a grant and a release. A process that gives back a lock which it has not
 * needed may never learn of the grant: then the grant is written where the lock is given back.
 */
#include "archive_process.h"

static uint32_t remote_of(int32_t peer)
{
    return peer < 0 ? OTF2_UNDEFINED_UINT32 : (uint32_t)peer;
}

/* find_lock returns the lock on this peer, or, where there is none, the lock on all peers. */
static struct lock *find_lock(struct win *win, int32_t peer)
{
    struct lock *all = NULL;

    for (size_t i = 0; i < win->nlocks; i++) {
        if (win->lock[i].peer == peer)
            return &win->lock[i];
        if (win->lock[i].peer < 0)
            all = &win->lock[i];
    }
    return all;
}

void lock_request(struct track *track, struct win *win, const struct trace_record *r)
{
    bool exclusive = (r->what & 15) == TRACE_LOCK_EXCLUSIVE;
    struct lock lock = {.peer = r->peer,
                        .type = exclusive ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED,
                        .track = track};

    if (r->what & TRACE_LOCK_NOCHECK)
        track_u32(track, ATTR_ASSERTS, TRACE_NOCHECK);
    archive_check(track->archive, OTF2_EvtWriter_RmaRequestLock(
                                      track->writer, track->attributes, track_time(track, r->time),
                                      win->index, remote_of(r->peer), 0, lock.type));
    win->lock = grow(win->lock, win->nlocks, &win->locks_cap, sizeof lock);
    win->lock[win->nlocks++] = lock;
}

static void write_grant(struct track *track, const struct win *win, const struct lock *lock,
                        int32_t peer, uint64_t time)
{
    archive_check(track->archive, OTF2_EvtWriter_RmaAcquireLock(track->writer, track->attributes,
                                                                track_time(track, time), win->index,
                                                                remote_of(peer), 0, lock->type));
}

void lock_granted(struct win *win, const struct trace_record *r)
{
    struct lock *lock = find_lock(win, r->peer);

    if (!lock || (lock->granted && lock->peer >= 0))
        return;
    lock->granted = true;
    write_grant(lock->track, win, lock, r->peer, r->time);
}

static void release(struct track *track, struct win *win, struct lock *lock, uint64_t time)
{
    if (!lock->granted)
        write_grant(track, win, lock, lock->peer, time);
    archive_check(track->archive, OTF2_EvtWriter_RmaReleaseLock(track->writer, track->attributes,
                                                                track_time(track, time), win->index,
                                                                remote_of(lock->peer), 0));
    *lock = win->lock[--win->nlocks];
}

void lock_release(struct track *track, struct win *win, int32_t peer, uint64_t time)
{
    struct lock *lock = find_lock(win, peer);

    if (lock && lock->peer == peer)
        release(track, win, lock, time);
}

void lock_release_all(struct track *track, struct win *win, uint64_t time)
{
    while (win->nlocks > 0) {
        track_u32(track, ATTR_UNRECORDED, 1);
        release(track, win, &win->lock[win->nlocks - 1], time);
    }
}
