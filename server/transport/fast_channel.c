/* SPDX-License-Identifier: BSD-2-Clause */
/* Serves the calls of one fast channel: waits for requests in shared memory, copies them, and writes the replies. */
#include "transport/fast_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "observe/clock.h"
#include "transport/arrival.h"

/* Bytes of the client's request; wakes without a request until a channel counts as damaged; loads of the word between
 * two looks at the clock. */
enum { REQUEST_BYTES = 65536, EMPTY_WAKES = 1000, LOADS = 16 };

/* Bytes of the socket's buffer for the reply. */
enum { REPLY_BYTES = 1 << 20 };

/* Time to send the request, and to receive the reply, s. */
enum { OPENING_SECONDS = 1 };

struct fast_channel {
    fast_terms *terms;
    pthread_t thread;
    int connection;
    fast_peer peer;
    void *session;
    fast_offer offer;
    fast_memory *_Atomic memory; /* NULL: none yet */
    size_t size;
    double *inputs; /* copy of the inputs of a call */
    arrival habits;
    uint64_t replied; /* ns */
    bool is_damaged;
    atomic_bool is_ending, is_done;
};

static inline void rest(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

/* Sleeps until the client wakes the thread, unless the word has changed, and at most until a time; 0: no bound. Returns
 * whether that time has passed. */
static bool sleep_on(_Atomic uint32_t *word, uint32_t last, uint64_t until) {
    const struct timespec end = {.tv_sec = (time_t)(until / NANOSECONDS), .tv_nsec = (long)(until % NANOSECONDS)};
    return syscall(SYS_futex, word, FUTEX_WAIT_BITSET, last, until > 0 ? &end : NULL, NULL, FUTEX_BITSET_MATCH_ANY) !=
               0 &&
           errno == ETIMEDOUT;
}

static void wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Spins until the client has written a request, or until a time. Returns whether there is a request. */
static bool spin(const fast_channel *c, uint32_t last, uint64_t until) {
    do {
        for (int i = 0; i < LOADS; i++) {
            if (atomic_load(&c->memory->request) != last) {
                return true;
            }
            rest();
        }
    } while (clock_now() < until && !atomic_load(&c->is_ending));
    return false;
}

/* Sleeps until the client has written a request, or until a time; 0: no bound. Returns whether there is a request. A
 * client that wakes the thread without one again and again damages its channel. */
static bool sleep_until(fast_channel *c, uint32_t last, uint64_t until) {
    fast_memory *m = c->memory;
    bool is_late = false;
    atomic_store(&m->daemon_sleeps, 1);
    for (int i = 0; !is_late && !c->is_damaged && !atomic_load(&c->is_ending); i++) {
        if (atomic_load(&m->request) != last) {
            break;
        }
        is_late = sleep_on(&m->request, last, until);
        c->is_damaged = i == EMPTY_WAKES;
    }
    atomic_store(&m->daemon_sleeps, 0);
    return atomic_load(&m->request) != last;
}

/* Waits for a request. Returns false when the channel ends. */
static bool wait_for_request(fast_channel *c, uint32_t last) {
    uint64_t longest = atomic_load_explicit(&c->terms->spin, memory_order_relaxed);
    const arrival_plan plan = arrival_expect(&c->habits, c->replied, longest);
    bool is_there = plan.burst_end > 0 && spin(c, last, plan.burst_end);
    if (!is_there && plan.wake > 0 && !atomic_load(&c->is_ending)) {
        is_there = sleep_until(c, last, plan.wake);
        uint64_t now = clock_now();
        if (!is_there && now >= plan.wake) {
            arrival_note_wake(&c->habits, now - plan.wake);
            is_there = now < plan.give_up && spin(c, last, plan.give_up);
        }
    }
    is_there = is_there || sleep_until(c, last, 0);
    return is_there && !c->is_damaged && !atomic_load(&c->is_ending);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Reads the question and its inputs into `input`, whose arrays are in c->inputs and whose frame is in `head`. Returns
 * false if it is malformed. */
static bool read_question(fast_channel *c, fast_question *head, fast_input *input) {
    const fast_memory *m = c->memory;
    const double *from = (const double *)(m + 1);
    double *to = c->inputs;
    memcpy(head, &m->question, sizeof *head);
    bool is_known = head->call >= FAST_INVERSE_DYNAMICS && head->call <= FAST_QUANTITIES && head->samples > 0 &&
                    head->samples <= c->offer.samples && head->inputs >> FAST_ARRAYS == 0 &&
                    (head->inputs & 1U << FAST_Q) && memchr(head->frame, '\0', sizeof head->frame);
    *input = (fast_input){(fast_call)head->call, head->samples, {NULL}, head->frame, head->reference_frame};
    for (unsigned k = 0; is_known && k < FAST_ARRAYS; k++) {
        size_t count = head->samples * (k == FAST_Q ? c->offer.nq : c->offer.nv);
        if (head->inputs >> k & 1) {
            memcpy(to, from, count * sizeof *to);
            input->arrays[k] = to;
            from += count;
            to += count;
        }
    }
    return is_known;
}

/* Writes the answer and the results of a call. A result that does not fit, which the session never returns, would be
 * left out. */
static void write_answer(fast_channel *c, const fast_output *output, uint64_t elapsed) {
    fast_memory *m = c->memory;
    double *to = (double *)((char *)m + fast_results_offset(c->offer.input_numbers));
    fast_answer answer = {.code = output->code, .elapsed = elapsed};
    for (size_t i = 0; i < output->part_count; i++) {
        const fast_part *part = &output->parts[i];
        if (part->count > c->offer.output_numbers - answer.numbers) {
            break;
        }
        if (part->count > 0) {
            memcpy(to + answer.numbers, part->numbers, part->count * sizeof *to);
        }
        answer.numbers += part->count;
    }
    if (output->status_size > 0 && output->status_size <= c->offer.output_numbers * sizeof *to) {
        memcpy(to, output->status, output->status_size);
        answer.status_bytes = (uint32_t)output->status_size;
    }
    memcpy(&m->answer, &answer, sizeof answer);
}

/* Answers the present request. Returns false when the channel ends. */
static bool answer(fast_channel *c, uint32_t number) {
    fast_memory *m = c->memory;
    fast_question head;
    fast_input input;
    fast_output output = {0};
    uint64_t begin = clock_now();
    if (!read_question(c, &head, &input)) {
        c->is_damaged = true;
        return false;
    }
    uint64_t sent = head.sent < begin && head.sent + NANOSECONDS > begin ? head.sent : begin;
    arrival_note(&c->habits, c->replied, sent, atomic_load_explicit(&c->terms->spin, memory_order_relaxed));
    c->terms->handler.compute(c->session, &input, &output);
    c->replied = clock_now();
    write_answer(c, &output, c->replied - begin);
    atomic_fetch_add_explicit(&c->terms->counters->fast_calls, 1, memory_order_relaxed);
    if (output.must_close) {
        return false;
    }
    atomic_store(&m->reply, number);
    if (atomic_load(&m->client_sleeps)) {
        wake(&m->reply);
    }
    return true;
}

static void serve_calls(fast_channel *c) {
    uint32_t last = 0;
    c->replied = clock_now();
    while (wait_for_request(c, last)) {
        uint32_t number = atomic_load(&c->memory->request);
        if (!answer(c, number)) {
            break;
        }
        last = number;
    }
    if (c->is_damaged) {
        atomic_fetch_add(&c->terms->counters->fast_damaged, 1);
        log_repeated(c->terms->log, &c->terms->damaged,
                     "ended the fast channel of %s: its memory holds no request of the protocol", c->peer.name);
    }
    atomic_store(&c->memory->is_closed, 1);
    wake(&c->memory->reply);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Closes the file of a memory, unless it is -1. */
static void close_memory(int descriptor) {
    if (descriptor >= 0) {
        close(descriptor);
    }
}

/* Creates the memory that both sides share. Its size is fixed, and its pages exist: no access of the daemon can fault.
 * Returns its descriptor, or -1. */
static int create_memory(fast_channel *c) {
    c->size = fast_memory_size(c->offer.input_numbers, c->offer.output_numbers);
    int descriptor = memfd_create("dynamicsd-fast", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *memory = MAP_FAILED;
    if (descriptor >= 0 && ftruncate(descriptor, (off_t)c->size) == 0 &&
        posix_fallocate(descriptor, 0, (off_t)c->size) == 0 &&
        fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        memory = mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    }
    c->inputs = malloc(c->offer.input_numbers * sizeof *c->inputs);
    if (memory == MAP_FAILED || !c->inputs) {
        log_error(c->terms->log, "no memory of %zu bytes for the fast channel of %s: %s", c->size, c->peer.name,
                  strerror(errno));
        if (memory != MAP_FAILED) {
            munmap(memory, c->size);
        }
        close_memory(descriptor);
        return -1;
    }
    atomic_store(&c->memory, (fast_memory *)memory);
    return descriptor;
}

/* Sends the reply of the offer, with a descriptor unless it is -1. Returns false if the client does not take it. */
static bool send_reply(const fast_channel *c, int descriptor) {
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec bytes = {c->offer.reply, c->offer.reply_size};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof descriptor);
        memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
    }
    return sendmsg(c->connection, &message, MSG_NOSIGNAL) == (ssize_t)c->offer.reply_size;
}

/* Receives the request of the client and opens its session. Returns whether the client has a channel now. */
static bool open_session(fast_channel *c) {
    const struct timeval patience = {.tv_sec = OPENING_SECONDS};
    const int room = REPLY_BYTES;
    uint8_t *bytes = malloc(REQUEST_BYTES);
    setsockopt(c->connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(c->connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(c->connection, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    ssize_t size = bytes ? recv(c->connection, bytes, REQUEST_BYTES, 0) : -1;
    if (size > 0 && !atomic_load(&c->is_ending)) {
        const fast_handler *handler = &c->terms->handler;
        c->session = handler->open(handler->context, &c->peer, bytes, (size_t)size, &c->offer);
    }
    free(bytes);
    int memory = c->session ? create_memory(c) : -1;
    bool is_sent = c->offer.reply && (!c->session || memory >= 0) && send_reply(c, memory);
    close_memory(memory);
    return is_sent && memory >= 0;
}

static void *run(void *argument) {
    fast_channel *c = argument;
    const uint64_t one = 1;
    prctl(PR_SET_TIMERSLACK, 1UL);
    if (open_session(c)) {
        atomic_fetch_add(&c->terms->counters->fast_channels, 1);
        serve_calls(c);
        atomic_fetch_sub(&c->terms->counters->fast_channels, 1);
    }
    if (c->session) {
        c->terms->handler.close(c->session);
    }
    shutdown(c->connection, SHUT_RDWR);
    atomic_store(&c->is_done, true);
    if (write(c->terms->ended, &one, sizeof one) < 0) {
        log_debug(c->terms->log, "the end of a fast channel is noticed late");
    }
    return NULL;
}

fast_channel *fast_channel_start(fast_terms *terms, int connection, const fast_peer *peer) {
    fast_channel *c = calloc(1, sizeof *c);
    if (c) {
        c->terms = terms;
        c->connection = connection;
        c->peer = *peer;
        if (pthread_create(&c->thread, NULL, run, c) == 0) {
            return c;
        }
    }
    free(c);
    free((void *)(uintptr_t)peer->facts.groups);
    close(connection);
    return NULL;
}

void fast_channel_end(fast_channel *c) {
    atomic_store(&c->is_ending, true);
    shutdown(c->connection, SHUT_RDWR);
    fast_memory *m = atomic_load(&c->memory);
    if (m && !atomic_load(&c->is_done)) {
        /* The thread does not sleep on a word that has changed. */
        atomic_fetch_add(&m->request, 1);
        wake(&m->request);
    }
}

bool fast_channel_is_done(fast_channel *c) {
    return atomic_load(&c->is_done);
}

void fast_channel_free(fast_channel *c) {
    pthread_join(c->thread, NULL);
    if (atomic_load(&c->memory)) {
        munmap(c->memory, c->size);
    }
    close(c->connection);
    free((void *)(uintptr_t)c->peer.facts.groups);
    free(c->inputs);
    free(c->offer.reply);
    free(c);
}
