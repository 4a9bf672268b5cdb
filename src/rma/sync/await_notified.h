/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * await_notified.h - questions about awaited notifications, for the code that looks after lost
 * processes.
 */
#ifndef MRMA_RMA_SYNC_AWAIT_NOTIFIED_H
#define MRMA_RMA_SYNC_AWAIT_NOTIFIED_H

#include <stdbool.h>

struct rma_target;
struct rma_wait;
struct win;

/* notified_due returns whether a request awaits notifications in w. Under the engine's lock. */
bool notified_due(const struct win *w);

/* notified_awaits returns whether notifications of t are awaited: by wait or, if wait is NULL, by a
 * request. Notifications of any process count as awaited from t only when all other processes of w
 * have closed their connections, since until then another one may raise them. Under the engine's
 * lock. */
bool notified_awaits(struct win *w, const struct rma_wait *wait, const struct rma_target *t);

#endif
