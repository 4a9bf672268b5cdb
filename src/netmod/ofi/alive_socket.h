/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alive_socket.h - whether processes of other machines are still there: the socket that answers for
 * this process (alive_socket.c), and the questions to others (alive_probe.c). For the files of
 * src/netmod/ofi only; locks: nmofi.h.
 */
#ifndef MRMA_NETMOD_OFI_ALIVE_SOCKET_H
#define MRMA_NETMOD_OFI_ALIVE_SOCKET_H

#include "netmod/ofi/ofi.h"

/* ---- alive_socket.c ---- */

/* nm_life_open opens the socket that answers for this process, and adds its port to nm->name, which
 * has the endpoint's address by then. Where the endpoint has no Internet address, it adds the
 * socket's address, too; if the machine has no Internet address either, there is no socket. Returns
 * MRMA_SUCCESS, or MRMA_ERR_OTHER (logged). */
int nm_life_open(struct nmofi *nm);

/* nm_life_end closes the sockets of nm_life_open. */
void nm_life_end(struct nmofi *nm);

/* nm_life_has_port returns whether the process with this address has told a port that answers for
 * it. */
bool nm_life_has_port(const struct nmofi_name *name);

/* nm_life_socket returns a socket for nm_life_connect, whose connection is reset when it is closed.
 * The caller closes it. -1: none could be had, and errno says why. */
int nm_life_socket(const struct nmofi *nm);

/* nm_life_connect asks the process with this address whether it lives, by connecting fd to its
 * port. Never waits. Returns 0 (it lives) or an errno; EINPROGRESS: the answer is to come, when fd
 * is writable. */
int nm_life_connect(int fd, const struct nmofi_name *name);

/* nm_life_break breaks a link because this process had no descriptor left with which to accept the
 * peer's connection. */
void nm_life_break(struct nmofi_link *link);

/* nm_life_in_vain is called when the completion queue's descriptor was readable and a poll has
 * found nothing: maybe a process connects that cannot be accepted for want of descriptors. If that
 * lasts for a second, this process takes no more connections and says so. */
void nm_life_in_vain(struct nmofi *nm);

/* ---- alive_probe.c ---- */

/* nm_reach_ask asks whether the peer is still there, unless a question is under way or was answered
 * a moment ago. now is the time of clock_monotonic_ns. A peer that is not reachable breaks the
 * link. Returns false if the peer has told no port to ask at. */
bool nm_reach_ask(struct nmofi_link *link, uint64_t now);

/* nm_reach_poll is called again and again while something of the link waits for the provider: it
 * asks when the link has waited for a while, and looks for the answer. */
void nm_reach_poll(struct nmofi_link *link, uint64_t now);

/* nm_reach_greeted is called when the peer has said HELLO. Over hardware it asks the peer, so that
 * later it is known whether the peer's machine answers. Never breaks the link. */
void nm_reach_greeted(struct nmofi_link *link);

/* nm_reach_heard is called with each message of the peer: it looks for the answer to a question
 * that is under way, and gives up a question that has had no answer for a while. Never breaks the
 * link. */
void nm_reach_heard(struct nmofi_link *link);

/* nm_reach_end gives up a question that is under way. */
void nm_reach_end(struct nmofi_link *link);

#endif
