/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tsan_order.c - the place that stands for all other processes (tsan_order.h).
 */
#include "base/tsan_order.h"

const char order_others = 0;
