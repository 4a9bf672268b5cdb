/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_errors.h - the part of win_errors about addresses.
 */
#ifndef MRMA_TEST_WIN_ERRORS_H
#define MRMA_TEST_WIN_ERRORS_H

#include "mtest.h"

/* Operations with data at the null address. */
void buffers(struct mt_win *w);

/* Calls about w without an address for their result. */
void places(struct mt_win *w);

/* The same of calls that make windows and end them, and of calls without a window. */
void places_at_creation(void);

#endif
