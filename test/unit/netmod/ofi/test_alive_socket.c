/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_alive_socket.c - a peer that serves nothing answers whether it lives, as often as it is
 * asked, and a child of fork does not answer for a parent that has ended. Without a descriptor one
 * can ask, too, and one that cannot accept anybody says so. Over hardware each is asked when it is
 * first heard, and silence of one that has never answered is told. Time is made up where
 * alive_probe.c is told it.
 */
#include "test/support/nmofi_pair.h"
#include "test/support/provider.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netmod/ofi/alive_socket.h"
#include "netmod/ofi/ofi.h"

enum { SECOND = 1000000000, QUESTIONS = 6000 }; /* more than a queue of connections is long */

/* Nothing leaves: of e, which alone is polled from now on. */
static struct nmofi_link *link_of(struct end *e)
{
    (void)send_one(e, 64);
    assert_non_null(e->peer.link);
    return e->peer.link;
}

/* One question and its answer. */
static void ask(struct nmofi_link *link, uint64_t *now)
{
    *now += 2 * (uint64_t)SECOND;
    do {
        assert_true(nm_reach_ask(link, *now));
        *now += SECOND / 100;
    } while (link->reach && !link->lost);
}

static void questions_fill_no_queue(void **state)
{
    struct end *e = open_pair(state);
    struct nmofi_link *link = link_of(&e[1]);
    uint64_t now = clock_monotonic_ns() + 100 * (uint64_t)SECOND;
    for (int i = 0; i < QUESTIONS && !link->lost; i++)
        ask(link, &now);
    assert_false(link->lost);
    close_pair(e);
}

enum { FEW = 64 };

struct used_up {
    struct rlimit limit;
    int fds[FEW], n;
};

static void use_up(struct used_up *u)
{
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &u->limit), 0);
    struct rlimit few = u->limit;
    few.rlim_cur = FEW;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    u->n = 0;
    while (u->n < FEW && (u->fds[u->n] = open("/dev/null", O_RDONLY)) >= 0)
        u->n++;
    assert_int_equal(errno, EMFILE);
}

static void give_back(struct used_up *u)
{
    while (u->n)
        close(u->fds[--u->n]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &u->limit), 0);
}

static void no_descriptor_to_ask_with(void **state)
{
    struct end *e = open_pair(state);
    struct nmofi_link *link = link_of(&e[1]);
    uint64_t now = clock_monotonic_ns() + 100 * (uint64_t)SECOND;
    struct used_up up;
    use_up(&up);
    for (int i = 0; i < 3; i++) {
        ask(link, &now);
        assert_false(link->lost);
    }
    nm_life_end(e[0].nm); /* as at its end */
    ask(link, &now);
    assert_true(link->lost);
    give_back(&up);
    close_pair(e);
}

/* A process whose polls are rare takes no connections any more after as long a time as any. */
static void no_descriptor_to_accept_with(void **state)
{
    enum { POLLS = 13, PAUSE_US = 100000 };
    struct end *e = open_pair(state);
    struct nmofi *nm = e[0].nm;
    char text[600];
    struct used_up up;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    use_up(&up);
    assert_int_equal(connect(fd, (const struct sockaddr *)nm->name.bytes, nm->name.len), 0);
    assert_int_equal(nm_wait_fd(&nm->channel), nm->wait_fd);
    for (int i = 0; i < POLLS / 2; i++, usleep(PAUSE_US)) {
        nm_life_in_vain(nm);
        /* The descriptor is readable until there is one to accept with, so nobody blocks on it. */
        assert_int_equal(nm_wait_fd(&nm->channel), -1);
        assert_false(nm_pending(&nm->channel));
        assert_true(ch3_unsent_must_poll(nm->channel.ch3));
    }
    assert_false(nm->gave_up);
    for (int i = 0; i < POLLS; i++, usleep(PAUSE_US / 2))
        nm_life_in_vain(nm);
    assert_true(nm->gave_up);
    assert_non_null(strstr(log_text(&e[0].lp, text, sizeof text), "no file descriptor left"));
    give_back(&up);
    usleep(PAUSE_US);
    nm_life_in_vain(nm);
    assert_int_equal(nm_wait_fd(&nm->channel), nm->wait_fd);
    assert_false(ch3_unsent_must_poll(nm->channel.ch3));
    close(fd);
    close_pair(e);
}

static void a_child_does_not_answer(void **state)
{
    struct end *e = open_pair(state);
    struct nmofi_link *link = link_of(&e[1]);
    uint64_t now = clock_monotonic_ns() + 100 * (uint64_t)SECOND;
    int ready[2], stop[2];
    char byte = 0;
    assert_int_equal(pipe(ready) | pipe(stop), 0);
    const pid_t child = fork();
    if (child == 0) {
        nmofi_fork_child(e[0].nm);
        close(stop[1]);
        _exit(write(ready[1], &byte, 1) != 1 || read(stop[0], &byte, 1) != 0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    ask(link, &now);
    assert_false(link->lost);
    nm_life_end(e[0].nm);
    ask(link, &now);
    assert_true(link->lost);
    close(stop[1]);
    assert_int_equal(wait_child(child), 0);
    close(stop[0]);
    close(ready[0]);
    close(ready[1]);
    close_pair(e);
}

/* What the library takes for hardware: its port for questions may be on a network of its own. */
static struct end *open_hardware(void **state)
{
    struct end *e = open_pair(state);
    for (int i = 0; i < MAX; i++)
        e[i].nm->software = false;
    return e;
}

static void hardware_is_asked_when_it_is_heard(void **state)
{
    struct end *e = open_hardware(state);
    for (unsigned i = 1; i < 100; i++) {
        POLL_UNTIL(e, send_one(&e[0], 64));
        POLL_UNTIL(e, send_one(&e[1], 64));
        POLL_UNTIL(e, e[0].got == i && e[1].got == i);
    }
    for (int i = 0; i < MAX; i++) {
        assert_true(e[i].peer.link->answered);
        assert_null(e[i].peer.link->reach); /* which has a descriptor */
    }
    close_pair(e);
}

/* A port at which nobody answers and nobody refuses: of a socket whose queue is full. */
static uint16_t silent_port(int fds[4])
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    for (int i = 0; i < 4; i++)
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(fds[0], (struct sockaddr *)&a, len), 0);
    assert_int_equal(listen(fds[0], 0), 0);
    assert_int_equal(getsockname(fds[0], (struct sockaddr *)&a, &len), 0);
    for (int i = 1; i < 4; i++)
        (void)connect(fds[i], (struct sockaddr *)&a, len);
    return ntohs(a.sin_port);
}

static void silence_of_hardware_is_told(void **state)
{
    struct end *e = open_hardware(state);
    struct nmofi_link *link = link_of(&e[1]);
    uint64_t now = clock_monotonic_ns() + 100 * (uint64_t)SECOND;
    char text[600];
    int fds[4];
    e[1].peer.name.life = silent_port(fds);
    ask(link, &now);
    assert_false(link->lost);
    assert_non_null(strstr(log_text(&e[1].lp, text, sizeof text), "Its machine may be off"));
    ask(link, &now);
    assert_string_equal(log_text(&e[1].lp, text, sizeof text), ""); /* once */
    link->answered = true;
    ask(link, &now);
    assert_true(link->lost);
    for (int i = 0; i < 4; i++)
        close(fds[i]);
    close_pair(e);
}

int main(void)
{
    static char rxm[] = "tcp;ofi_rxm";
    char net[8];
    const struct CMUnitTest tests[] = {
        BOTH(questions_fill_no_queue),
        BOTH(no_descriptor_to_ask_with),
        BOTH(no_descriptor_to_accept_with),
        BOTH(a_child_does_not_answer),
        BOTH(hardware_is_asked_when_it_is_heard),
        BOTH(silence_of_hardware_is_told),
    };
    strcpy(net, provider_of_datagrams());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
