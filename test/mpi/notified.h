/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified.h - what the parts of notified share.
 */
#ifndef MRMA_TEST_NOTIFIED_H
#define MRMA_TEST_NOTIFIED_H

#include "mtest.h"

#include <mpi-rma.h>

enum { NUMBERS = 8, DATA = 0, FREE = 1, TURN = 2, LAST = NUMBERS - 1 };
enum { LARGEST = 300000 };

/* epochs has operations of several sizes in each kind of epoch. w has 2 * LARGEST bytes. */
void epochs(struct mt_win *w);

/* first_of_epochs has a large put as the first operation of each kind of epoch. */
void first_of_epochs(struct mt_win *w);

#endif
