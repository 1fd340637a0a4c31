/* SPDX-License-Identifier: BSD-2-Clause */
/* Closes connections that have not completed the handshake. */
#include "transport/silent.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { GREETING_SIZE = 8 };

/* Estimates the number of descriptors in use by the lowest free one. */
bool descriptors_are_short(int bound) {
    int lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (lowest >= 0) {
        close(lowest);
    }
    return lowest < 0 || lowest > bound / 4 * 3;
}

/* Returns whether the peer has not completed the handshake: over tcp, if fewer bytes than a greeting came from it; over
 * ipc, if the daemon's greeting is still unread. */
static bool is_silent(int descriptor, sa_family_t family) {
    if (family == AF_UNIX) {
        int unread = 0;
        return ioctl(descriptor, SIOCOUTQ, &unread) == 0 && unread > 0;
    }
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_bytes_received < GREETING_SIZE;
}

static bool is_connection(int descriptor) {
    int is_listening = 1;
    socklen_t size = sizeof is_listening;
    return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) == 0 && !is_listening;
}

size_t silent_shut_down(int bound, silent_owner is_ours, void *context) {
    size_t count = 0;
    for (int descriptor = STDERR_FILENO + 1; descriptor < bound; descriptor++) {
        struct sockaddr_storage local = {0};
        socklen_t size = sizeof local;
        if (getsockname(descriptor, (struct sockaddr *)&local, &size) == 0 && is_ours(context, &local) &&
            is_connection(descriptor) && is_silent(descriptor, local.ss_family) &&
            shutdown(descriptor, SHUT_RDWR) == 0) {
            count++;
        }
    }
    return count;
}
