/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * objects.h - the test provider's insides: its objects, and what its files call of each other.
 *
 *   rules.c     what a fabric demands          provider.c  what libfabric calls first
 *   domain.c    domain and address vector      memory.c    registered memory, descriptors
 *   endpoint.c  the endpoint                   queue.c     completion queue and its descriptor
 *   call.c      from a call to an operation    transfers.c, atomic_calls.c  the calls
 *   card.c      what becomes of operations     wire.c      connections and frames
 *   target.c    what arrives from others       atomics.c   operations on memory, by type
 *
 * An operation of the user is a struct op: errors, delays, and what overtakes what, are decided
 * in card.c. Data travel as frames over a socket of the kernel's own name space to each endpoint
 * that is used. Where a profile goes on by itself a thread plays the card; else it goes on within
 * the user's calls alone. Entries of libfabric's tables that no user of this provider calls are
 * NULL.
 *
 * Locks: each domain has one, taken by the functions that libfabric's tables point to, and by the
 * thread. That users may call from one thread at a time only is a rule, held by domain_enter.
 */
#ifndef MRMA_TEST_FABRIC_OBJECTS_H
#define MRMA_TEST_FABRIC_OBJECTS_H

#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/list.h"
#include "test/fabric/rules.h"

enum { PIECES = 4 };

struct fabric {
    struct fid_fabric fid; /* first, as in all of these */
};

struct domain {
    struct fid_domain fid;
    pthread_mutex_t lock;
    _Atomic bool inside;   /* a thread is in a call */
    bool local;            /* users' buffers need descriptors */
    bool automatic;        /* it goes on without calls of the user */
    unsigned card;         /* which of several it is */
    struct list memory;    /* struct memory */
    struct list endpoints; /* struct endpoint */
    struct queue *queue;   /* NULL: not opened yet; a domain has one */
    unsigned registered;   /* registrations so far */
    uint64_t next_key, random;
    pthread_t thread; /* the card; where offloaded */
    bool threaded, ending;
    bool unwatched; /* there is a descriptor that the thread does not sleep on as it should */
    int sleeps_ms;  /* for so long the thread sleeps; -1: for any time; 0: it is to look again */
    int kick;       /* wakes the thread; -1: none */
};

/* What an endpoint's name begins with; the rest is filling. */
struct wire_name {
    uint64_t uid; /* of the endpoint */
    uint64_t card;
};

struct vector {
    struct fid_av fid;
    struct domain *domain;
    uint64_t *uids; /* by fi_addr_t */
    size_t n;
};

struct memory {
    struct fid_mr fid;
    struct list_node node;
    struct domain *domain;
    char *base;
    size_t len;
    uint64_t access, key; /* key: told when it is enabled */
    struct endpoint *bound;
    unsigned users; /* operations that name it as descriptor */
};

enum op_kind { OP_SEND, OP_RECV, OP_WRITE, OP_READ, OP_ATOMIC, OP_FETCH, OP_SWAP, OP_DONE };

struct op {
    struct list_node node; /* in its endpoint's ops */
    struct endpoint *ep;
    enum op_kind kind;
    bool silent; /* injected: no completion */
    bool doomed; /* its target has gone */
    void *context;
    uint64_t flags;
    uint64_t to; /* uid */
    struct iovec iov[PIECES];
    struct memory *desc[PIECES];
    size_t n, len;      /* pieces, and bytes of all */
    uint64_t addr, key; /* remote */
    bool with_word;     /* OP_WRITE: the target is told word behind the data */
    uint64_t word;
    void *result;         /* of OP_FETCH and OP_SWAP */
    const void *compare;  /* of OP_SWAP */
    uint8_t datatype, op; /* of atomics */
    uint64_t due;         /* doomed: it fails then */
    struct wire *wire;    /* that it has left by; NULL: its target has gone */
    size_t used;          /* OP_RECV: bytes that have been filled */
    unsigned char copy[]; /* of what was injected */
};

/* What travels. */
struct frame {
    uint32_t kind; /* enum op_kind; OP_DONE: the answer to another */
    int32_t status;
    uint64_t id;        /* of the origin's operation; 0: no answer is wanted */
    uint64_t addr, key; /* of remote memory */
    uint64_t len;       /* bytes of remote memory */
    uint64_t payload;   /* bytes behind this */
    uint32_t datatype, op;
    uint64_t late; /* so many later messages may overtake it */
    uint64_t with_word, word;
};

/* A frame under way, in or out. */
struct chunk {
    struct list_node node;
    struct op *op;     /* is over when the frame has left; NULL: none is */
    struct wire *wire; /* held: that it has come by; NULL: it has gone since */
    uint64_t due;      /* held: until then at most */
    size_t done;       /* bytes of frame and payload */
    void *place;       /* where the message goes; held: it is fetched. NULL: another frame */
    size_t room;       /* bytes there */
    void *context;     /* of its receive buffer */
    uint64_t flags;    /* what its completion has */
    struct frame frame;
    unsigned char payload[];
};

/* A connection: to an endpoint for this one's operations, or from one for its own. */
struct wire {
    struct list_node node;
    struct endpoint *ep;
    uint64_t to; /* uid; 0: it was accepted */
    int fd;
    bool dead;
    bool full;         /* the kernel took no more */
    struct list out;   /* struct chunk */
    struct frame head; /* of the frame that comes in */
    size_t have;       /* bytes of it */
    struct chunk *in;  /* NULL: head is not complete */
};

struct endpoint {
    struct fid_ep fid;
    struct list_node node;
    struct domain *domain;
    struct vector *av;
    struct queue *cq;
    struct list ops;        /* struct op: all that are not over, receive buffers in their order */
    struct list held;       /* struct chunk: have come, and others may overtake them */
    struct list wires;      /* struct wire */
    struct list unexpected; /* struct chunk: messages that found no buffer */
    unsigned ntx;           /* operations that are not over, without receive buffers */
    unsigned owed;          /* completions that the user has not read */
    size_t min_multi;       /* less room than this ends a receive buffer */
    bool enabled, has_sent;
    uint64_t uid;
    int listener; /* -1: not enabled */
};

struct entry {
    struct list_node node;
    struct endpoint *ep; /* NULL: nothing is owed */
    struct fi_cq_err_entry told;
    uint64_t due; /* not to be told before */
};

struct queue {
    struct fid_cq fid;
    struct domain *domain;
    struct list entries; /* struct entry */
    bool news;           /* an entry was added since the descriptor was rung */
    int fd;              /* the user's; -1: none */
};

/* The rules of this process; not NULL once the plug-in is loaded. */
extern const struct rules *rules;

/* now_ns returns the monotonic clock. */
uint64_t now_ns(void);

/* domain_enter takes the domain's lock, for a call of the user. A second thread inside is a
 * violation. */
void domain_enter(struct domain *d);

/* domain_leave ends what domain_enter began, and has the card wake up in time for what is due. */
void domain_leave(struct domain *d);

/* domain_random returns a number below limit. Under the lock. */
unsigned domain_random(struct domain *d, unsigned limit);

/* fabric_domain is libfabric's entry that opens a domain. */
int fabric_domain(struct fid_fabric *fid, struct fi_info *info, struct fid_domain **out,
                  void *context);

/* domain_queue is libfabric's entry that opens a completion queue. */
int domain_queue(struct fid_domain *fid, struct fi_cq_attr *attr, struct fid_cq **out,
                 void *context);

/* domain_endpoint is libfabric's entry that opens an endpoint. */
int domain_endpoint(struct fid_domain *fid, struct fi_info *info, struct fid_ep **out,
                    void *context);

/* The entries for registration. */
extern struct fi_ops_mr memory_ops;

/* memory_find returns the registration that desc names and that covers the bytes with that access;
 * a violation, and NULL, if there is none. NULL also where none is needed. */
struct memory *memory_find(struct domain *d, void *desc, const void *buf, size_t len,
                           uint64_t access);

/* memory_at returns where the bytes are that a peer names by key and address. NULL: it may not
 * reach them so. */
void *memory_at(struct domain *d, uint64_t key, uint64_t addr, uint64_t len, uint64_t access);

/* vector_uid returns the uid of the endpoint at this address; 0: there is none. */
uint64_t vector_uid(const struct vector *av, fi_addr_t addr);

/* card_submit takes over an operation that has passed the rules. Returns 0, or -FI_EAGAIN, when the
 * operation is still the caller's. */
int card_submit(struct op *op);

/* card_lateness returns by how many later messages of its endpoint the operation may be overtaken.
 */
unsigned card_lateness(struct domain *d, const struct op *op);

/* card_over ends an operation that is no receive buffer: the user is told, and it is freed. err: 0,
 * or a positive error. */
void card_over(struct op *op, int err);

/* card_answered ends the operation with this id, if it is not over already; data is what it has
 * fetched. */
void card_answered(struct endpoint *ep, uint64_t id, int err, const void *data, size_t len);

/* card_doom has an operation fail after a while, since its target has gone. */
void card_doom(struct op *op);

/* card_step does what a card does by itself: it sends, takes in what has come, and ends what has
 * lasted too long. Under the lock. */
void card_step(struct domain *d);

/* card_start starts the thread of a domain whose queue has been opened, where the profile goes on
 * by itself. Returns 0 or a negative error. */
int card_start(struct domain *d);

/* card_wake_in_time tells the user's descriptor and the thread of what a call of the user has left
 * for them. Under the lock. */
void card_wake_in_time(struct domain *d);

/* card_kick has the thread, if there is one, look again. */
void card_kick(struct domain *d);

/* card_stop ends the thread. */
void card_stop(struct domain *d);

/* op_free frees an operation. */
void op_free(struct op *op);

/* wire_listen opens the socket by which others reach the endpoint. Returns 0 or a negative error.
 */
int wire_listen(struct endpoint *ep);

/* wire_send sends the operation's frame, or dooms it if its target has gone. */
void wire_send(struct op *op);

/* wire_answer sends the answer to a frame that has come, with len bytes of data. w: NULL, if
 * whoever sent it has gone; then nothing is done. */
void wire_answer(struct wire *w, const struct frame *f, int status, const void *data, size_t len);

/* wire_step sends and receives what it can without waiting, for all of the endpoint. */
void wire_step(struct endpoint *ep);

/* wire_close closes all connections of the endpoint, and its socket. */
void wire_close(struct endpoint *ep);

/* target_frame deals with a frame that has come, which it frees or keeps. */
void target_frame(struct wire *w, struct chunk *c);

/* target_step deals with what was held long enough. */
void target_step(struct endpoint *ep);

/* target_forget_wire is called when a connection has gone: what has come by it still counts. */
void target_forget_wire(struct wire *w);

/* target_match gives messages that found no buffer to one that was posted. */
void target_match(struct endpoint *ep);

/* atomics_most returns how many elements an operation of that kind (OP_ATOMIC, OP_FETCH, OP_SWAP)
 * has at most, by the profile; 0: there is no such operation. */
size_t atomics_most(enum op_kind kind, enum fi_op op, enum fi_datatype datatype);

/* atomics_size returns the bytes of a datatype; 0: the provider does not have it. */
size_t atomics_size(enum fi_datatype datatype);

/* atomics_apply applies an operation to n elements at to, not atomically towards processors. What
 * was there goes to old, unless that is NULL. compare: of FI_CSWAP. Returns false if the provider
 * does not have the operation for the datatype; n may be 0 to ask for that. */
bool atomics_apply(enum fi_op op, enum fi_datatype datatype, void *to, const void *from,
                   const void *compare, void *old, size_t n);

/* queue_add tells the user of a completion or an error (told.err), delay_us later at most. ep:
 * NULL, or who is owed it. */
void queue_add(struct queue *cq, struct endpoint *ep, const struct fi_cq_err_entry *told,
               unsigned delay_us);

/* queue_ring makes the descriptor readable if something is to be told by now, a time of now_ns. */
void queue_ring(struct queue *cq, uint64_t now);

/* queue_tells_later returns whether something is not to be told by now, a time of now_ns. */
bool queue_tells_later(const struct queue *cq, uint64_t now);

/* queue_forget drops what is to be told of an endpoint that is closed. */
void queue_forget(struct queue *cq, const struct endpoint *ep);

/* queue_trywait is libfabric's trywait for one queue: 0 if the descriptor tells of what comes. */
int queue_trywait(struct queue *cq);

#endif
