/*
 * handlers.h - the table from packet types to this layer, for ch3_init. The
 * handlers' context is the struct rma.
 */
#ifndef MRMA_RMA_HANDLERS_H
#define MRMA_RMA_HANDLERS_H

#include "ch3/ch3.h"

extern const ch3_handler rma_handlers[PKT_TYPE_LAST];

#endif
