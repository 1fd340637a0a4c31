/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens listeners of nng, replaces them while they are in use, and cleans up after replaced ones. */
#include "transport/listener.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "observe/clock.h"
#include "transport/tls.h"

/* Time after which nng has certainly closed all descriptors of a closed listener that it closes itself. */
#define LEFTOVER_AGE (10 * NANOSECONDS)

/* Minimum time for which a replaced listener stays open, and for which every sweep searches for forgotten
 * connections. */
#define OLD_AGE (2 * NANOSECONDS)

/* Time between two searches for forgotten connections, once the last replacement is older than OLD_AGE. */
#define SEARCH_INTERVAL (NANOSECONDS / 4)

/* Bytes of ".4294967295" and its zero byte, which end the path of a listener that is created again. */
enum { GENERATION_SIZE = 12, HANDSHAKE_MILLISECONDS = 200 };

_Static_assert(TRANSPORT_PATH_LENGTH + GENERATION_SIZE <= sizeof(((struct sockaddr_un *)NULL)->sun_path),
               "every path fits into the address of a socket");

static const char scheme[] = "ipc://";

const char *listener_ipc_path(const char *address) {
    return strncmp(address, scheme, sizeof scheme - 1) == 0 ? address + sizeof scheme - 1 : NULL;
}

/* Completes the handshake before closing, since the other side may be an nng listener too. */
static void part_politely(int descriptor) {
    static const uint8_t header[8] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
    uint8_t answer[8];
    struct pollfd readable = {.fd = descriptor, .events = POLLIN};
    if (poll(&readable, 1, HANDSHAKE_MILLISECONDS) == 1 && recv(descriptor, answer, sizeof answer, 0) > 0) {
        send(descriptor, header, sizeof header, MSG_NOSIGNAL);
    }
}

/* Checks that nobody listens at the path. Accepts a file that a dead process left. */
static bool check_free(const char *path, char error[TRANSPORT_ERROR_SIZE]) {
    struct stat status;
    if (lstat(path, &status) != 0) {
        return true;
    }
    if (!S_ISSOCK(status.st_mode)) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "ipc://%s: the file exists and is no socket; choose another path", path);
        return false;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "ipc://%s: %s", path, strerror(errno));
        return false;
    }
    bool is_free = connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0;
    if (is_free && errno == EACCES) {
        is_free = false;
        snprintf(error, TRANSPORT_ERROR_SIZE, "ipc://%s: the socket belongs to another user (permission denied)", path);
    } else if (!is_free) {
        struct ucred peer = {0};
        socklen_t size = sizeof peer;
        getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size);
        part_politely(descriptor);
        snprintf(error, TRANSPORT_ERROR_SIZE,
                 "ipc://%s: process %d listens there already; stop it, or choose another path with --endpoint", path,
                 (int)peer.pid);
    }
    close(descriptor);
    return is_free;
}

/* Checks for errors that nng would only report as a bare code. */
static bool check_path(const char *path, char error[TRANSPORT_ERROR_SIZE]) {
    char copy[TRANSPORT_ADDRESS_SIZE];
    struct stat status;
    if (path[0] != '/') {
        snprintf(error, TRANSPORT_ERROR_SIZE, "ipc://%s: the path must be absolute (ipc:///run/...)", path);
        return false;
    }
    if (strlen(path) > TRANSPORT_PATH_LENGTH) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "ipc://%s: the path has %zu bytes, more than the %d that a socket allows",
                 path, strlen(path), TRANSPORT_PATH_LENGTH);
        return false;
    }
    snprintf(copy, sizeof copy, "%s", path);
    const char *directory = dirname(copy);
    if (stat(directory, &status) != 0 || !S_ISDIR(status.st_mode)) {
        snprintf(error, TRANSPORT_ERROR_SIZE,
                 "ipc://%s: there is no directory %s; create it (mkdir -p %s), or let systemd do so with "
                 "RuntimeDirectory=",
                 path, directory, directory);
        return false;
    }
    return true;
}

static void generation_path(const char *path, unsigned generation, char result[TRANSPORT_ADDRESS_SIZE]) {
    snprintf(result, TRANSPORT_ADDRESS_SIZE, "%.200s.%u", path, generation);
}

/* Creates and starts nng's listener at a URL. Returns nng's code. */
static int start(const listener *l, const char *url, bool is_ipc, nng_listener *result) {
    nng_listener handle;
    int code = nng_listener_create(&handle, l->socket, url);
    if (code != 0) {
        return code;
    }
    if (is_ipc) {
        code = nng_listener_set_int(handle, NNG_OPT_IPC_PERMISSIONS, (int)l->mode);
    } else if (tls_is_address(l->address)) {
        code = nng_listener_set_ptr(handle, NNG_OPT_TLS_CONFIG, l->tls);
    }
    if (code == 0) {
        code = nng_listener_start(handle, 0);
    }
    if (code != 0) {
        nng_listener_close(handle);
        return code;
    }
    *result = handle;
    return 0;
}

/* Binds the path of the next generation, and moves it to the public path. */
static bool open_ipc(listener *l, const char *path, char error[TRANSPORT_ERROR_SIZE]) {
    char own_path[TRANSPORT_ADDRESS_SIZE], url[TRANSPORT_ADDRESS_SIZE + sizeof scheme];
    l->generation++;
    generation_path(path, l->generation, own_path);
    snprintf(url, sizeof url, "%s%s", scheme, own_path);
    nng_listener handle;
    int code = start(l, url, true, &handle);
    if (code != 0) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "%s: cannot listen: %s", l->address, nng_strerror(code));
        return false;
    }
    struct stat status;
    if (rename(own_path, path) != 0 || stat(path, &status) != 0) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "%s: cannot name the socket: %s", l->address, strerror(errno));
        nng_listener_close(handle);
        return false;
    }
    l->handle = handle;
    l->device = status.st_dev;
    l->inode = status.st_ino;
    return true;
}

/* Replaces port 0 in the address by the port that the system chose. */
static void note_bound_port(listener *l) {
    int port = 0;
    char *colon = strrchr(l->address, ':');
    if (colon && strcmp(colon, ":0") == 0 && nng_listener_get_int(l->handle, NNG_OPT_TCP_BOUND_PORT, &port) == 0) {
        snprintf(colon, sizeof l->address - (size_t)(colon - l->address), ":%d", port);
    }
}

static bool open_tcp(listener *l, char error[TRANSPORT_ERROR_SIZE]) {
    int code = start(l, l->address, false, &l->handle);
    if (code == NNG_EADDRINUSE) {
        snprintf(error, TRANSPORT_ERROR_SIZE,
                 "%s: another process listens there already; stop it, or choose another port with --endpoint",
                 l->address);
    } else if (code != 0) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "%s: cannot listen: %s", l->address, nng_strerror(code));
    } else {
        note_bound_port(l);
    }
    return code == 0;
}

bool listener_open(listener *l, char error[TRANSPORT_ERROR_SIZE]) {
    const char *path = listener_ipc_path(l->address);
    if (!path) {
        return open_tcp(l, error);
    }
    return check_path(path, error) && check_free(path, error) && open_ipc(l, path, error);
}

/* Closes old listener i. */
static void close_old(listener *l, size_t i) {
    nng_listener_close(l->old[i].handle);
    l->old[i].is_closed = true;
    l->old[i].since = clock_now();
}

/* Removes old listener i from the list. */
static void drop_old(listener *l, size_t i) {
    l->old_count--;
    memmove(&l->old[i], &l->old[i + 1], (l->old_count - i) * sizeof l->old[0]);
}

/* Adds a replaced listener to the list of old ones. An endpoint of subscribers has no requests that reveal forgotten
 * connections: its listener is closed at once, and all subscribers reconnect. */
static void add_old(listener *l, nng_listener handle, unsigned generation) {
    if (l->old_count == LISTENER_OLD) {
        close_old(l, 0);
        drop_old(l, 0);
    }
    l->old[l->old_count++] = (old_listener){.handle = handle, .generation = generation, .since = clock_now()};
    l->next_search = 0;
    if (l->kind == TRANSPORT_EVENTS) {
        close_old(l, l->old_count - 1);
    }
}

bool listener_replace(listener *l, char error[TRANSPORT_ERROR_SIZE]) {
    const char *path = listener_ipc_path(l->address);
    nng_listener old = l->handle;
    unsigned generation = l->generation;
    if (!path) {
        if (old.id != 0) {
            nng_listener_close(old);
            l->handle.id = 0;
        }
        return open_tcp(l, error);
    }
    bool is_open = open_ipc(l, path, error);
    if (is_open && old.id != 0) {
        add_old(l, old, generation);
    }
    return is_open;
}

void listener_set_tls(listener *l, nng_tls_config *tls) {
    if (!tls_is_address(l->address)) {
        return;
    }
    l->tls = tls;
    if (l->handle.id != 0) {
        nng_listener_set_ptr(l->handle, NNG_OPT_TLS_CONFIG, tls);
    }
}

bool listener_owns(const listener *l, const struct sockaddr_storage *local) {
    const char *path = listener_ipc_path(l->address);
    if (path && local->ss_family == AF_UNIX) {
        const struct sockaddr_un *address = (const struct sockaddr_un *)local;
        size_t length = strlen(path);
        return strncmp(address->sun_path, path, length) == 0 && address->sun_path[length] == '.';
    }
    const char *colon = strrchr(l->address, ':');
    const struct sockaddr_in *address =
        (const struct sockaddr_in *)local; /* sin_port has the same offset in sockaddr_in6 */
    bool is_tcp = local->ss_family == AF_INET || local->ss_family == AF_INET6;
    return !path && is_tcp && colon && strtol(colon + 1, NULL, 10) == ntohs(address->sin_port);
}

/* Returns the index of the old listener whose own path a descriptor is bound to, or old_count. */
static size_t find_old(const listener *l, int descriptor) {
    struct sockaddr_un address = {0};
    char own_path[TRANSPORT_ADDRESS_SIZE];
    socklen_t size = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &size) != 0 || address.sun_family != AF_UNIX ||
        size <= sizeof(sa_family_t)) {
        return l->old_count;
    }
    size_t i = 0;
    for (; i < l->old_count; i++) {
        generation_path(listener_ipc_path(l->address), l->old[i].generation, own_path);
        if (strncmp(address.sun_path, own_path, sizeof address.sun_path) == 0) {
            break;
        }
    }
    return i;
}

/* Returns whether a socket is a connection with unread bytes. */
static bool has_unread(int descriptor) {
    int is_listening = 0, count = 0;
    socklen_t size = sizeof is_listening;
    return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) == 0 && !is_listening &&
           ioctl(descriptor, FIONREAD, &count) == 0 && count > 0;
}

/* Shuts down a connection that has unread bytes in two searches in a row; adds it to `suspects` in the first one. */
static void check_suspect(const listener *l, int descriptor, int *suspects, size_t *count) {
    if (!has_unread(descriptor)) {
        return;
    }
    for (size_t i = 0; i < l->suspect_count; i++) {
        if (l->suspects[i] == descriptor) {
            shutdown(descriptor, SHUT_RDWR);
            return;
        }
    }
    if (*count < LISTENER_SUSPECTS) {
        suspects[(*count)++] = descriptor;
    }
}

/* Searches all descriptors of old listeners: shuts down forgotten connections, and closes descriptors that listeners
 * closed long ago have leaked. */
static void search(listener *l, uint64_t now) {
    int suspects[LISTENER_SUSPECTS];
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    if (!directory) {
        return;
    }
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        int descriptor = (int)strtol(entry->d_name, NULL, 10);
        size_t i = descriptor > STDERR_FILENO ? find_old(l, descriptor) : l->old_count;
        if (i == l->old_count) {
            continue;
        }
        if (!l->old[i].is_closed) {
            check_suspect(l, descriptor, suspects, &count);
        } else if (now > l->old[i].since + LEFTOVER_AGE) {
            close(descriptor);
        }
    }
    closedir(directory);
    memcpy(l->suspects, suspects, count * sizeof suspects[0]);
    l->suspect_count = count;
}

void listener_sweep(listener *l, uint64_t now, listener_census census, void *context) {
    if (l->old_count == 0 || now < l->next_search) {
        return;
    }
    bool is_recent = now < l->old[l->old_count - 1].since + OLD_AGE;
    l->next_search = is_recent ? 0 : now + SEARCH_INTERVAL;
    search(l, now);
    for (size_t i = l->old_count; i-- > 0;) {
        old_listener *old = &l->old[i];
        if (old->is_closed && now > old->since + LEFTOVER_AGE) {
            drop_old(l, i);
        } else if (!old->is_closed && now > old->since + OLD_AGE &&
                   census(context, nng_listener_id(old->handle)) == 0) {
            close_old(l, i);
        }
    }
}

void listener_unlink(listener *l) {
    const char *path = listener_ipc_path(l->address);
    struct stat status;
    if (path && l->handle.id != 0 && stat(path, &status) == 0 && status.st_dev == l->device &&
        status.st_ino == l->inode) {
        unlink(path);
    }
}
