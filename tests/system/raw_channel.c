/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens fast channels without the client library. */
#include "system/raw_channel.h"

#include <check.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "dynamics/v1/fast_channel.pb-c.h"

enum { REPLY_BYTES = 65536, PATIENCE_SECONDS = 20 };

static int dial(const char *ipc) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int length = snprintf(address.sun_path, sizeof address.sun_path, "%s" FAST_SUFFIX, ipc + strlen("ipc://"));
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (length < 0 || connect(connection, (const struct sockaddr *)&address, sizeof address) != 0) {
        close(connection);
        return -1;
    }
    return connection;
}

/* Receives the reply, and the descriptor of the memory; -1: there is none. */
static int receive(raw_channel *channel) {
    uint8_t bytes[REPLY_BYTES];
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec room = {bytes, sizeof bytes};
    struct msghdr message = {
        .msg_iov = &room, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
    int memory = -1;
    ssize_t size = recvmsg(channel->connection, &message, MSG_CMSG_CLOEXEC);
    Dynamics__V1__OpenFastChannelReply *reply =
        size > 0 ? dynamics__v1__open_fast_channel_reply__unpack(NULL, (size_t)size, bytes) : NULL;
    if (!reply) {
        return -1;
    }
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head) {
        memcpy(&memory, CMSG_DATA(head), sizeof memory);
    }
    channel->code = (uint32_t)reply->status->code;
    snprintf(channel->message, sizeof channel->message, "%s", reply->status->message);
    channel->nq = reply->nq;
    channel->nv = reply->nv;
    channel->input_numbers = reply->input_numbers;
    channel->size = fast_memory_size(reply->input_numbers, reply->output_numbers);
    dynamics__v1__open_fast_channel_reply__free_unpacked(reply, NULL);
    return memory;
}

bool raw_channel_open(const char *ipc, const char *model, raw_channel *channel) {
    uint8_t bytes[512];
    Dynamics__V1__OpenFastChannelRequest request = DYNAMICS__V1__OPEN_FAST_CHANNEL_REQUEST__INIT;
    request.model = (char *)(uintptr_t)model;
    *channel = (raw_channel){.connection = dial(ipc), .code = UINT32_MAX};
    size_t size = dynamics__v1__open_fast_channel_request__pack(&request, bytes);
    int memory = -1;
    if (channel->connection >= 0 && send(channel->connection, bytes, size, MSG_NOSIGNAL) == (ssize_t)size) {
        memory = receive(channel);
    }
    void *mapped = memory >= 0 ? mmap(NULL, channel->size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0) : MAP_FAILED;
    if (memory >= 0) {
        close(memory);
    }
    if (mapped == MAP_FAILED) {
        raw_channel_close(channel);
        return false;
    }
    channel->memory = mapped;
    return true;
}

void raw_channel_close(raw_channel *channel) {
    if (channel->memory) {
        munmap(channel->memory, channel->size);
        channel->memory = NULL;
    }
    if (channel->connection >= 0) {
        close(channel->connection);
        channel->connection = -1;
    }
}

void raw_channel_ask(raw_channel *channel) {
    fast_memory *m = channel->memory;
    memset(m + 1, 0, channel->nq * sizeof(double));
    m->question = (fast_question){.call = FAST_GRAVITY, .samples = 1, .inputs = 1U << FAST_Q};
    atomic_fetch_add(&m->request, 1);
    syscall(SYS_futex, &m->request, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool raw_channel_is_answered(const raw_channel *channel, double seconds) {
    const struct timespec pause = {.tv_nsec = 100000};
    for (double waited = 0; waited < seconds; waited += 1e-4) {
        if (atomic_load(&channel->memory->reply) == atomic_load(&channel->memory->request)) {
            return true;
        }
        nanosleep(&pause, NULL);
    }
    return false;
}

pid_t raw_channel_child(const char *ipc, void (*act)(raw_channel *channel)) {
    int ready[2];
    char byte = 0;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t process = fork();
    ck_assert_int_ge(process, 0);
    if (process == 0) {
        raw_channel channel;
        close(ready[0]);
        byte = raw_channel_open(ipc, "ur5", &channel);
        if (byte) {
            act(&channel);
        }
        if (write(ready[1], &byte, 1) != 1) {
            _exit(1);
        }
        for (;;) {
            pause();
        }
    }
    close(ready[1]);
    bool is_open = read(ready[0], &byte, 1) == 1 && byte;
    close(ready[0]);
    ck_assert_msg(is_open, "the child has no channel");
    return process;
}
