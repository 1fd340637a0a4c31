/* SPDX-License-Identifier: BSD-2-Clause */
/* Accepts the clients of fast channels, and ends the channels whose process has ended. */
#include "transport/fast_carrier.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "observe/clock.h"
#include "transport/unix_peer.h"

/* Largest number of sockets; connections beside those of the limit, which are refused; connections that wait to be
 * accepted; and the interval between two attempts to end a channel, ms. */
enum { MOST_SOCKETS = 8, SPARE_CHANNELS = 8, BACKLOG = 64, ENDING_MILLISECONDS = 1 };

/* Descriptors of a channel that the thread watches: its connection, and its process. */
enum { WATCHED = 2 };

/* Channel with what the carrier knows about its client. */
typedef struct fast_place {
    fast_channel *channel;
    int connection, process; /* process -1: its descriptor is not known */
    uint32_t user;
    bool is_ending, is_refused;
} fast_place;

struct fast_carrier {
    fast_terms terms;
    atomic_uint channels, peer_channels; /* limits */
    int sockets[MOST_SOCKETS];
    char paths[MOST_SOCKETS][sizeof((struct sockaddr_un *)0)->sun_path];
    size_t socket_count;
    int stop; /* eventfd */
    atomic_bool is_stopping;
    pthread_t thread;
    fast_place *places; /* used by the thread alone */
    struct pollfd *watched;
    size_t place_count, place_capacity;
    log_episode refused;
};

/* ---- clients ----------------------------------------------------------------------------------------------------- */

/* Returns a descriptor of the process at the other end of a connection, or -1 if the system has none for it. */
static int find_process(int connection, pid_t process) {
    int descriptor = -1;
#ifdef SO_PEERPIDFD
    socklen_t size = sizeof descriptor;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, &descriptor, &size) == 0) {
        return descriptor;
    }
#else
    (void)connection;
#endif
    descriptor = process > 0 ? (int)syscall(SYS_pidfd_open, process, 0) : -1;
    return descriptor;
}

/* Counts the open channels, and those of a user. */
static void count_channels(const fast_carrier *f, uint32_t user, unsigned *all, unsigned *own) {
    *all = *own = 0;
    for (size_t i = 0; i < f->place_count; i++) {
        if (!f->places[i].is_refused) {
            (*all)++;
            *own += f->places[i].user == user;
        }
    }
}

/* Names the limit that has no room for another channel of a user, if there is one. The daemon's own user and root have
 * no share. */
static void check_limits(fast_carrier *f, uint32_t user, fast_peer *peer) {
    unsigned all, own;
    count_channels(f, user, &all, &own);
    if (all >= atomic_load(&f->channels)) {
        peer->exceeded = "fast.channels";
        peer->open = all;
    } else if (user != 0 && user != geteuid() && own >= atomic_load(&f->peer_channels)) {
        peer->exceeded = "fast.peer_channels";
        peer->open = own;
    }
    if (peer->exceeded) {
        atomic_fetch_add(&f->terms.counters->fast_refused, 1);
        log_repeated(f->terms.log, &f->refused, "refused a fast channel of %s: %u are open (%s)", peer->name,
                     peer->open, peer->exceeded);
    }
}

/* Describes a client by what the system states. */
static void describe_peer(int connection, const struct ucred *credentials, fast_peer *peer) {
    size_t count;
    gid_t *groups = unix_peer_groups(connection, &count);
    peer->facts = (access_peer){
        .is_unix = true, .has_user = true, .user = credentials->uid, .groups = groups, .group_count = count};
    snprintf(peer->name, sizeof peer->name, "uid %u pid %d", credentials->uid, (int)credentials->pid);
}

/* Makes room for another channel. Returns false when out of memory. */
static bool make_room(fast_carrier *f) {
    size_t capacity = f->place_count + 1;
    if (capacity <= f->place_capacity) {
        return true;
    }
    capacity *= 2;
    fast_place *places = realloc(f->places, capacity * sizeof *places);
    f->places = places ? places : f->places;
    struct pollfd *watched = realloc(f->watched, (1 + 1 + MOST_SOCKETS + WATCHED * capacity) * sizeof *watched);
    f->watched = watched ? watched : f->watched;
    f->place_capacity = places && watched ? capacity : f->place_capacity;
    return places && watched;
}

/* Starts the channel of a new connection. One beyond the limits has a thread that refuses it; far beyond them it is
 * closed. */
static void admit(fast_carrier *f, int connection) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    fast_peer peer = {0};
    bool is_known = getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0;
    if (!is_known || f->place_count >= atomic_load(&f->channels) + SPARE_CHANNELS || !make_room(f)) {
        close(connection);
        return;
    }
    describe_peer(connection, &credentials, &peer);
    check_limits(f, credentials.uid, &peer);
    fast_place *place = &f->places[f->place_count];
    *place = (fast_place){.connection = connection, .user = credentials.uid, .is_refused = peer.exceeded};
    place->process = find_process(connection, credentials.pid);
    place->channel = fast_channel_start(&f->terms, connection, &peer);
    if (place->channel) {
        f->place_count++;
    } else if (place->process >= 0) {
        close(place->process);
    }
}

/* ---- thread ------------------------------------------------------------------------------------------------------ */

/* Lists the descriptors to watch. Those of a channel that ends are left out. Returns their number. */
static nfds_t list_watched(const fast_carrier *f) {
    nfds_t count = 0;
    f->watched[count++] = (struct pollfd){.fd = f->stop, .events = POLLIN};
    f->watched[count++] = (struct pollfd){.fd = f->terms.ended, .events = POLLIN};
    for (size_t i = 0; i < f->socket_count; i++) {
        f->watched[count++] = (struct pollfd){.fd = f->sockets[i], .events = POLLIN};
    }
    for (size_t i = 0; i < f->place_count; i++) {
        const fast_place *place = &f->places[i];
        f->watched[count++] = (struct pollfd){.fd = place->is_ending ? -1 : place->connection, .events = POLLRDHUP};
        f->watched[count++] = (struct pollfd){.fd = place->is_ending ? -1 : place->process, .events = POLLIN};
    }
    return count;
}

/* Closes the descriptor of a process, unless it is -1. */
static void close_process(int descriptor) {
    if (descriptor >= 0) {
        close(descriptor);
    }
}

/* Ends the channels whose connection or process has ended, and frees those whose thread is done. */
static void tend_channels(fast_carrier *f) {
    const struct pollfd *of_places = f->watched + 2 + f->socket_count;
    for (size_t i = f->place_count; i-- > 0;) {
        fast_place *place = &f->places[i];
        place->is_ending = place->is_ending || of_places[WATCHED * i].revents || of_places[WATCHED * i + 1].revents ||
                           atomic_load(&f->is_stopping);
        if (place->is_ending) {
            fast_channel_end(place->channel);
        }
        if (fast_channel_is_done(place->channel)) {
            fast_channel_free(place->channel);
            close_process(place->process);
            *place = f->places[--f->place_count];
        }
    }
}

static bool has_ending(const fast_carrier *f) {
    bool has = false;
    for (size_t i = 0; i < f->place_count; i++) {
        has = has || f->places[i].is_ending;
    }
    return has;
}

static void accept_clients(fast_carrier *f) {
    for (size_t i = 0; i < f->socket_count && !atomic_load(&f->is_stopping); i++) {
        int connection = f->watched[2 + i].revents ? accept4(f->sockets[i], NULL, NULL, SOCK_CLOEXEC) : -1;
        if (connection >= 0) {
            admit(f, connection);
        }
    }
}

static void *run(void *argument) {
    fast_carrier *f = argument;
    uint64_t number;
    while (!atomic_load(&f->is_stopping) || f->place_count > 0) {
        nfds_t count = list_watched(f);
        poll(f->watched, count, has_ending(f) ? ENDING_MILLISECONDS : -1);
        if (f->watched[1].revents && read(f->terms.ended, &number, sizeof number) < 0) {
            log_debug(f->terms.log, "an event of the fast channels is gone");
        }
        tend_channels(f);
        accept_clients(f);
    }
    return NULL;
}

/* ---- start and stop ---------------------------------------------------------------------------------------------- */

/* Listens beside an ipc endpoint. The endpoint's own listener has checked that no other daemon uses its path. */
static bool listen_beside(fast_carrier *f, const char *path, unsigned mode, char error[TRANSPORT_ERROR_SIZE]) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path, sizeof address.sun_path, "%s" FAST_SUFFIX, path);
    if (length < 0 || (size_t)length >= sizeof address.sun_path) {
        snprintf(error, TRANSPORT_ERROR_SIZE,
                 "%s" FAST_SUFFIX ": the path is longer than a socket allows; choose a shorter one, or set "
                 "fast.channels to 0",
                 path);
        return false;
    }
    struct stat left;
    if (lstat(address.sun_path, &left) == 0 && S_ISSOCK(left.st_mode)) {
        unlink(address.sun_path); /* of an earlier daemon */
    }
    int descriptor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0 || bind(descriptor, (const struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(address.sun_path, mode) != 0 || listen(descriptor, BACKLOG) != 0) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "%s: %s", address.sun_path, strerror(errno));
        if (descriptor >= 0) {
            close(descriptor);
        }
        return false;
    }
    memcpy(f->paths[f->socket_count], address.sun_path, sizeof address.sun_path);
    f->sockets[f->socket_count++] = descriptor;
    return true;
}

static bool listen_beside_all(fast_carrier *f, const fast_options *options, char error[TRANSPORT_ERROR_SIZE]) {
    static const char scheme[] = "ipc://";
    bool is_open = true;
    for (size_t i = 0; is_open && i < options->endpoint_count && f->socket_count < MOST_SOCKETS; i++) {
        const transport_endpoint *e = &options->endpoints[i];
        if (e->kind == TRANSPORT_REQUEST && strncmp(e->address, scheme, strlen(scheme)) == 0) {
            is_open = listen_beside(f, e->address + strlen(scheme), options->ipc_mode, error);
        }
    }
    return is_open;
}

void fast_carrier_set_limits(fast_carrier *f, const fast_limits *limits) {
    atomic_store(&f->channels, limits->channels);
    atomic_store(&f->peer_channels, limits->peer_channels);
    atomic_store(&f->terms.spin, clock_duration(limits->spin));
}

static void free_carrier(fast_carrier *f) {
    for (size_t i = 0; i < f->socket_count; i++) {
        unlink(f->paths[i]);
        close(f->sockets[i]);
    }
    if (f->stop >= 0) {
        close(f->stop);
    }
    if (f->terms.ended >= 0) {
        close(f->terms.ended);
    }
    free(f->places);
    free(f->watched);
    free(f);
}

bool fast_carrier_open(const fast_options *options, char error[TRANSPORT_ERROR_SIZE], fast_carrier **result) {
    fast_carrier *f = calloc(1, sizeof *f);
    if (!f) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "out of memory");
        return false;
    }
    f->terms.handler = options->handler;
    f->terms.log = options->log;
    f->terms.counters = options->counters;
    f->stop = eventfd(0, EFD_CLOEXEC);
    f->terms.ended = eventfd(0, EFD_CLOEXEC);
    fast_carrier_set_limits(f, &options->limits);
    bool is_open = f->stop >= 0 && f->terms.ended >= 0 && make_room(f);
    if (!is_open) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "out of memory or descriptors for fast channels");
    }
    is_open = is_open && listen_beside_all(f, options, error);
    if (is_open && pthread_create(&f->thread, NULL, run, f) != 0) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "no thread for fast channels");
        is_open = false;
    }
    if (!is_open) {
        free_carrier(f);
        return false;
    }
    *result = f;
    return true;
}

void fast_carrier_close(fast_carrier *f) {
    const uint64_t one = 1;
    if (!f) {
        return;
    }
    atomic_store(&f->is_stopping, true);
    while (write(f->stop, &one, sizeof one) < 0 && errno == EINTR) {
    }
    pthread_join(f->thread, NULL);
    free_carrier(f);
}
