/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify_words.h - notifications that come with the network's own puts, as a word of 32 bits
 * (ch3/channel.h, CH3_CAP_RDMA_WORD).
 *
 *   bits  31 to 6            5 to 0
 *         who, of which      number of the
 *         window             notification
 *
 * The upper part is a number that the target has given out: a process gives each of its windows
 * with notifications as many of these numbers as the window has processes, in the order of their
 * ranks, and tells the first number together with the key of its memory (rma_net_key). So an origin
 * knows its word when it has the key. The target knows window and origin from the word, which is
 * all that it gets.
 *
 * Invariant: a number is never given twice in the life of a process. A word that comes when its
 * window is gone therefore never counts for another one. Such a word is no error: a notification
 * for which nobody has waited may be reported behind the barrier of MPI_Win_free, since the
 * provider orders the word behind the data of its put, and does not order it before the end of that
 * put at the origin. When the numbers are used up, later windows get none, and their notifications
 * go by packet.
 *
 * A word is refused, as a bad packet is (bad_packet.h), if it was never given out, if the window
 * does not have the number of its notification, or if its origin does not use the network. Nothing
 * but counters is touched by any word.
 *
 * Locks: the engine's.
 */
#ifndef MRMA_RMA_NOTIFY_NOTIFY_WORDS_H
#define MRMA_RMA_NOTIFY_NOTIFY_WORDS_H

#include <stdint.h>

struct rma;
struct rma_target;
struct win;

enum { NOTIFY_NUMBER_BITS = 6, NOTIFY_WHO_BITS = 26 };

/* notify_words_begin gives w numbers for its words and returns the first. 0: w has no
 * notifications, or too few numbers are left. The hints of w are final. Takes the engine's lock.
 */
uint32_t notify_words_begin(struct win *w);

/* notify_words_end is called when w ends, also where notify_words_begin was not called. Words for w
 * are not counted any more. Under the engine's lock. */
void notify_words_end(struct win *w);

/* notify_word_to returns the word that raises the notification mark, 1 + its number, of this
 * process in the memory of t. 0: t has none for it. */
uint32_t notify_word_to(const struct win *w, const struct rma_target *t, uint32_t mark);

/* notify_word_came raises the counters of this process for a put whose word has come; the put's
 * data is in place. Under the engine's lock. */
void notify_word_came(struct rma *r, uint32_t word);

#endif
