/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carrier_stock.h - carriers (carrier.h) that were made before they are needed.
 *
 * A carrier takes a context id of the host. Where a thread that asks the host for one may wait for
 * other threads (host_ids_wait) some carriers are made ahead, so that a window, which asks for its
 * carrier at a time of its own, waits for nobody but the other processes of its communicator.
 */
#ifndef MRMA_MPI_HOST_CARRIER_STOCK_H
#define MRMA_MPI_HOST_CARRIER_STOCK_H

#include <mpi.h>

#include <stddef.h>

/* carrier_stock_open lets carriers be made ahead on self, a communicator of this process alone
 * whose errors return, until carrier_stock_close. It does nothing where no thread would wait (on
 * other hosts, and below MPI_THREAD_MULTIPLE), and where the stock is open already. It makes no
 * carrier itself. Any thread. */
void carrier_stock_open(MPI_Comm self);

/* carrier_stock_fill makes the carriers of an open stock. Called while no other thread can be in
 * the host. */
void carrier_stock_fill(void);

/* carrier_stock_take takes a carrier out of the stock, or makes one on self where there is no
 * stock. Results are those of carrier_make. No lock is held while the host makes one. Any
 * thread. */
int carrier_stock_take(MPI_Comm self, MPI_Win *carrier, char *msg, size_t len);

/* carrier_stock_pause waits until the thread that fills the stock has ended, and lets none begin
 * before carrier_stock_resume. A thread that finds the stock empty meanwhile makes a carrier
 * itself. The thread that ends the host calls it, when no other thread is in the host. */
void carrier_stock_pause(void);

/* carrier_stock_resume lets the thread that fills the stock begin again. */
void carrier_stock_resume(void);

/* carrier_stock_close frees the carriers that nobody has taken. It is called before their
 * communicator is freed, while no other thread takes one. */
void carrier_stock_close(void);

#endif
