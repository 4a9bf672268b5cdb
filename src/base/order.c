/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c - see order.h. */
#include "base/order.h"

const char order_others = 0;
