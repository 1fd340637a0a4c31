/* Who may connect, and who is connected. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "observe/clock.h"
#include "transport/carrier.h"

/* Writes who is at the other end. */
static void describe_peer(nng_pipe pipe, char peer[TRANSPORT_PEER_SIZE], uint64_t *process, uint16_t *port) {
    uint64_t user = 0;
    nng_sockaddr address;
    *process = 0;
    *port = 0;
    if (nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_UID, &user) == 0 &&
        nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_PID, process) == 0) {
        snprintf(peer, TRANSPORT_PEER_SIZE, "uid %llu pid %llu", (unsigned long long)user,
                 (unsigned long long)*process);
        return;
    }
    char host[INET6_ADDRSTRLEN] = "";
    int code = nng_pipe_get_addr(pipe, NNG_OPT_REMADDR, &address);
    if (code == 0 && address.s_family == NNG_AF_INET) {
        inet_ntop(AF_INET, &address.s_in.sa_addr, host, sizeof host);
        *port = ntohs(address.s_in.sa_port);
        snprintf(peer, TRANSPORT_PEER_SIZE, "%s:%u", host, *port);
    } else if (code == 0 && address.s_family == NNG_AF_INET6) {
        inet_ntop(AF_INET6, address.s_in6.sa_addr, host, sizeof host);
        *port = ntohs(address.s_in6.sa_port);
        snprintf(peer, TRANSPORT_PEER_SIZE, "[%s]:%u", host, *port);
    } else {
        snprintf(peer, TRANSPORT_PEER_SIZE, "an unknown peer");
    }
}

/* The endpoint whose listener took up the connection; NULL when that one is closed already. */
static endpoint *find_endpoint(transport *t, nng_pipe pipe) {
    int id = nng_listener_id(nng_pipe_listener(pipe));
    for (size_t i = 0; i < t->endpoint_count; i++) {
        if (atomic_load(&t->endpoints[i].listener_id) == id) {
            return &t->endpoints[i];
        }
    }
    return NULL;
}

/* Counts a client's connection in, unless there are too many. */
static bool admit_client(transport *t) {
    if (atomic_load(&t->is_refusing)) {
        return false;
    }
    if (atomic_fetch_add(&t->options.counters->connections, 1) >= atomic_load(&t->connection_limit)) {
        atomic_fetch_sub(&t->options.counters->connections, 1);
        return false;
    }
    return true;
}

static void forget_client(transport *t) {
    atomic_fetch_sub(&t->options.counters->connections, 1);
}

/* A connection was taken up: enter it, or close it where it is one too many. */
bool admission_connect(transport *t, nng_pipe pipe, transport_kind kind) {
    char peer[TRANSPORT_PEER_SIZE];
    uint64_t process;
    uint16_t port;
    describe_peer(pipe, peer, &process, &port);
    endpoint *e = find_endpoint(t, pipe);
    if (e) {
        atomic_fetch_add(&e->admitted, 1);
    }
    bool is_own = process == (uint64_t)getpid() || (e && port != 0 && atomic_load(&e->probe_port) == port);
    if (!is_own && !admit_client(t)) {
        atomic_fetch_add(&t->options.counters->rejected_connections, 1);
        log_repeated(t->options.log, &t->rejected, "refused a connection of %s: %u are open, the limit", peer,
                     atomic_load(&t->options.counters->connections));
        nng_pipe_close(pipe);
        return false;
    }
    pipe_record record = {
        .id = (uint32_t)nng_pipe_id(pipe),
        .listener = nng_listener_id(nng_pipe_listener(pipe)),
        .kind = kind,
        .is_own = is_own,
        .last_request = clock_now(),
    };
    memcpy(record.peer, peer, sizeof record.peer);
    if (!pipe_table_add(&t->pipes, &record)) {
        if (!is_own) {
            forget_client(t);
        }
        nng_pipe_close(pipe);
        return false;
    }
    if (!is_own) {
        log_debug(t->options.log, "connection of %s", peer);
    }
    return true;
}

bool admission_disconnect(transport *t, nng_pipe pipe) {
    bool is_own = false;
    bool is_known = pipe_table_remove(&t->pipes, (uint32_t)nng_pipe_id(pipe), &is_own);
    if (is_known && !is_own) {
        forget_client(t);
    }
    return is_known;
}
