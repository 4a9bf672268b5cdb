/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.c - the place that stands for all other processes (order.h).
 */
#include "base/order.h"

const char order_others = 0;
