/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens memory that is shared with the daemon, and waits in it for replies.
 */
#include "fast_memory.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "call.h"
#include "error.h"
#include "monotonic.h"

/* Bytes of the daemon's reply; loads of the word between two looks at the clock. */
enum { REPLY_BYTES = 1 << 20, LOADS = 16 };

/* Longest sleep without a look whether the daemon is there, s. */
static const double LONGEST_SLEEP = 0.01;

static inline void rest(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static struct timeval to_timeval(double seconds) {
    return (struct timeval){.tv_sec = (time_t)seconds,
                            .tv_usec = (suseconds_t)(1e6 * (seconds - (double)(time_t)seconds)) + 1};
}

static int dial(const char *path, double timeout, dyn_client_error *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval patience = to_timeval(timeout);
    if (strlen(path) >= sizeof address.sun_path) {
        fail(error, DYN_CLIENT_UNREACHABLE, NULL, "%s: the path is longer than a socket allows", path);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    int dialled = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    setsockopt(dialled, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(dialled, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (dialled < 0 || connect(dialled, (const struct sockaddr *)&address, sizeof address) != 0) {
        fail(error, DYN_CLIENT_UNREACHABLE, NULL,
             "%s: %s; the daemon offers no fast channels (fast.channels in its configuration), or is an earlier one",
             path, strerror(errno));
        if (dialled >= 0) {
            close(dialled);
        }
        return -1;
    }
    return dialled;
}

static bool send_request(int dialled, const Dynamics__V1__OpenFastChannelRequest *request) {
    size_t size = dynamics__v1__open_fast_channel_request__get_packed_size(request);
    uint8_t *bytes = malloc(size + 1);
    bool is_sent = false;
    if (bytes) {
        dynamics__v1__open_fast_channel_request__pack(request, bytes);
        is_sent = send(dialled, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
    }
    free(bytes);
    return is_sent;
}

/* Receives the reply and the descriptor of the memory; -1: there is none. Returns NULL on failure. */
static Dynamics__V1__OpenFastChannelReply *receive_reply(int dialled, int *memory) {
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    uint8_t *bytes = malloc(REPLY_BYTES);
    struct iovec room = {bytes, REPLY_BYTES};
    struct msghdr message = {
        .msg_iov = &room, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.bytes};
    *memory = -1;
    ssize_t size = bytes ? recvmsg(dialled, &message, MSG_CMSG_CLOEXEC) : -1;
    const struct cmsghdr *head = size > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof *memory)) {
        memcpy(memory, CMSG_DATA(head), sizeof *memory);
    }
    Dynamics__V1__OpenFastChannelReply *reply =
        size > 0 ? dynamics__v1__open_fast_channel_reply__unpack(NULL, (size_t)size, bytes) : NULL;
    free(bytes);
    return reply;
}

/* Maps the memory, whose size must be at least that of the reply. Returns false if it does not fit. */
static bool map_memory(int descriptor, const Dynamics__V1__OpenFastChannelReply *reply, fast_shared *s) {
    struct stat status;
    uint64_t row = reply->nq + (FAST_ARRAYS - 1) * (uint64_t)reply->nv;
    s->nq = reply->nq;
    s->nv = reply->nv;
    s->samples = reply->samples;
    s->input_numbers = reply->input_numbers;
    s->output_numbers = reply->output_numbers;
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || reply->samples > FAST_SAMPLES || reply->nq == 0 ||
        reply->input_numbers > (uint64_t)status.st_size || reply->output_numbers > (uint64_t)status.st_size ||
        reply->input_numbers < reply->samples * row) {
        return false;
    }
    s->size = fast_memory_size(s->input_numbers, s->output_numbers);
    if (s->size > (size_t)status.st_size) {
        return false;
    }
    void *memory = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    madvise(memory, s->size, MADV_DONTFORK); /* a child would write into the calls of its parent */
    s->memory = memory;
    return true;
}

/* Checks the reply and maps the memory. */
static dyn_client_status accept_reply(int descriptor, const Dynamics__V1__OpenFastChannelReply *reply, fast_shared *s,
                                      dyn_client_error *error) {
    if (!reply) {
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL,
                    "the daemon closed the connection for a fast channel without an answer; its log may say why");
    }
    dyn_client_status status = call_check_status(reply->status, error);
    if (status == DYN_CLIENT_OK && !map_memory(descriptor, reply, s)) {
        status = fail_bad_reply(error, "the memory of the fast channel does not have the size of its reply");
    }
    return status;
}

dyn_client_status fast_shared_open(const char *path, const Dynamics__V1__OpenFastChannelRequest *request,
                                   double timeout, fast_shared *opened, Dynamics__V1__OpenFastChannelReply **reply,
                                   dyn_client_error *error) {
    int memory = -1;
    *opened = (fast_shared){.connection = -1};
    *reply = NULL;
    int dialled = dial(path, timeout, error);
    if (dialled < 0) {
        return DYN_CLIENT_UNREACHABLE;
    }
    if (send_request(dialled, request)) {
        *reply = receive_reply(dialled, &memory);
    }
    dyn_client_status status = accept_reply(memory, *reply, opened, error);
    if (memory >= 0) {
        close(memory);
    }
    if (status == DYN_CLIENT_OK) {
        opened->connection = dialled;
        return status;
    }
    close(dialled);
    if (*reply) {
        dynamics__v1__open_fast_channel_reply__free_unpacked(*reply, NULL);
        *reply = NULL;
    }
    return status;
}

void fast_shared_close(fast_shared *s) {
    if (s->connection >= 0) {
        munmap(s->memory, s->size);
        close(s->connection);
        s->connection = -1;
    }
}

/* ---- exchanges --------------------------------------------------------------------------------------------------- */

bool fast_shared_is_free(const fast_shared *s) {
    return atomic_load(&s->memory->request) == atomic_load(&s->memory->reply);
}

static void wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Returns whether the daemon has answered, or will not. */
static bool is_over(const fast_shared *s, uint32_t number) {
    return atomic_load(&s->memory->reply) == number || atomic_load(&s->memory->is_closed);
}

static bool spin(const fast_shared *s, uint32_t number, double until) {
    do {
        for (int i = 0; i < LOADS; i++) {
            if (is_over(s, number)) {
                return true;
            }
            rest();
        }
    } while (monotonic_now() < until);
    return false;
}

/* Sleeps until the daemon wakes the client, at most LONGEST_SLEEP. */
static void sleep_for_reply(fast_shared *s, uint32_t number, double left) {
    double seconds = left < LONGEST_SLEEP ? left : LONGEST_SLEEP;
    const struct timespec most = {.tv_nsec = (long)(1e9 * seconds) + 1};
    atomic_store(&s->memory->client_sleeps, 1);
    uint32_t last = atomic_load(&s->memory->reply);
    if (last != number && !atomic_load(&s->memory->is_closed)) {
        syscall(SYS_futex, &s->memory->reply, FUTEX_WAIT, last, &most, NULL, 0);
    }
    atomic_store(&s->memory->client_sleeps, 0);
}

/* Returns whether the daemon has closed the connection. */
static bool is_gone(const fast_shared *s) {
    struct pollfd watched = {.fd = s->connection, .events = POLLRDHUP};
    return poll(&watched, 1, 0) != 0;
}

fast_outcome fast_shared_exchange(fast_shared *s, double longest, double timeout, const atomic_bool *is_aborted) {
    fast_memory *m = s->memory;
    double begin = monotonic_now(), now = begin;
    uint32_t number = atomic_load(&m->request) + 1;
    atomic_store(&m->request, number);
    if (atomic_load(&m->daemon_sleeps)) {
        wake(&m->request);
    }
    bool is_done = longest > 0 && spin(s, number, begin + longest);
    while (!is_done && now < begin + timeout && !atomic_load(is_aborted)) {
        sleep_for_reply(s, number, begin + timeout - now);
        is_done = is_over(s, number) || is_gone(s);
        now = monotonic_now();
    }
    return atomic_load(&m->reply) == number ? FAST_ANSWERED
           : is_done                        ? FAST_CLOSED
           : atomic_load(is_aborted)        ? FAST_ABORTED
                                            : FAST_TIMED_OUT;
}
