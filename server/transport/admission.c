/* SPDX-License-Identifier: BSD-2-Clause */
/* Identifies the peers of new connections, and admits or rejects the connections by their limits. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "observe/clock.h"
#include "transport/carrier.h"
#include "transport/loopback_user.h"
#include "transport/tls.h"
#include "transport/unix_peer.h"

/* Peer of a connection. */
typedef struct connection_peer {
    char text[TRANSPORT_PEER_SIZE]; /* "uid 1000 pid 4711", "127.0.0.1:40112" */
    transport_identity identity;
    char host[INET6_ADDRSTRLEN]; /* over tcp; "": unknown */
    uint64_t process;            /* over ipc; 0: unknown */
    uint16_t port;               /* over tcp; 0: unknown */
} connection_peer;

static bool is_local(const transport_identity *peer) {
    return peer->origin == TRANSPORT_ORIGIN_USER;
}

static transport_identity identify_ipv4(uint32_t address) {
    return (transport_identity){TRANSPORT_ORIGIN_IPV4, ntohl(address)};
}

static transport_identity identify_ipv6(const uint8_t address[16]) {
    static const uint8_t mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};
    if (memcmp(address, mapped_prefix, sizeof mapped_prefix) == 0) {
        uint32_t mapped;
        memcpy(&mapped, address + sizeof mapped_prefix, sizeof mapped);
        return identify_ipv4(mapped);
    }
    transport_identity identity = {.origin = TRANSPORT_ORIGIN_IPV6};
    memcpy(&identity.value, address, sizeof identity.value);
    return identity;
}

static void describe_peer(nng_pipe pipe, connection_peer *peer) {
    uint64_t user = 0;
    nng_sockaddr address;
    *peer = (connection_peer){.text = "an unknown peer"};
    if (nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_UID, &user) == 0 &&
        nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_PID, &peer->process) == 0) {
        peer->identity = (transport_identity){TRANSPORT_ORIGIN_USER, user};
        snprintf(peer->text, sizeof peer->text, "uid %llu pid %llu", (unsigned long long)user,
                 (unsigned long long)peer->process);
        return;
    }
    char *host = peer->host;
    int code = nng_pipe_get_addr(pipe, NNG_OPT_REMADDR, &address);
    if (code == 0 && address.s_family == NNG_AF_INET) {
        inet_ntop(AF_INET, &address.s_in.sa_addr, host, sizeof peer->host);
        peer->identity = identify_ipv4(address.s_in.sa_addr);
        peer->port = ntohs(address.s_in.sa_port);
        snprintf(peer->text, sizeof peer->text, "%s:%u", host, peer->port);
    } else if (code == 0 && address.s_family == NNG_AF_INET6) {
        inet_ntop(AF_INET6, address.s_in6.sa_addr, host, sizeof peer->host);
        peer->identity = identify_ipv6(address.s_in6.sa_addr);
        peer->port = ntohs(address.s_in6.sa_port);
        snprintf(peer->text, sizeof peer->text, "[%s]:%u", host, peer->port);
    }
}

/* Returns the endpoint whose listener accepted the connection; NULL when that listener is closed already. */
static endpoint *find_endpoint(transport *t, nng_pipe pipe) {
    int id = nng_listener_id(nng_pipe_listener(pipe));
    for (size_t i = 0; i < t->endpoint_count; i++) {
        if (atomic_load(&t->endpoints[i].listener_id) == id) {
            return &t->endpoints[i];
        }
    }
    return NULL;
}

/* Reserved parts of the connections: 1 / LOCAL_PART for ipc, and 1 / OPERATOR_PART for ipc from root and from the
 * daemon's own user. So a flood over tcp does not lock out clients of this machine, and no flood locks out its
 * operator. */
enum { LOCAL_PART = 8, OPERATOR_PART = 64 };

static unsigned part(unsigned connections, unsigned divisor) {
    return connections > 1 ? (connections + divisor - 1) / divisor : 0;
}

/* Counts a client's connection and returns the account of its peer. Returns NULL, with the cause in `reason`, while the
 * daemon stops, or if there are too many connections of that kind or of that peer. */
static peer_account *admit_client(transport *t, const transport_identity *peer, const char **reason) {
    unsigned limit = atomic_load(&t->connection_limit), share = atomic_load(&t->peer_limit);
    bool is_remote = !is_local(peer), is_root = !is_remote && peer->value == 0;
    bool is_operator = is_root || (!is_remote && peer->value == geteuid());
    unsigned most = is_operator ? limit : limit - part(limit, OPERATOR_PART);
    if (atomic_load(&t->is_refusing)) {
        *reason = "the daemon is stopping";
        return NULL;
    }
    unsigned before = atomic_fetch_add(&t->options.counters->connections, 1);
    unsigned remote = is_remote ? atomic_fetch_add(&t->remote, 1) : 0;
    bool has_place = before < most && (!is_remote || remote < limit - part(limit, LOCAL_PART));
    *reason = "too many are open (limits.connections)";
    peer_account *owner = NULL;
    if (has_place) {
        owner = peer_table_join(&t->peers, peer, is_root ? limit : share);
        *reason = "this peer has its share of them (limits.peer_connections)";
    }
    if (!owner) {
        atomic_fetch_sub(&t->options.counters->connections, 1);
        atomic_fetch_sub(&t->remote, is_remote ? 1 : 0);
    }
    return owner;
}

static void forget_client(transport *t, const pipe_record *record) {
    atomic_fetch_sub(&t->options.counters->connections, 1);
    atomic_fetch_sub(&t->remote, is_local(&record->identity) ? 0 : 1);
    transit_disconnection disconnection;
    if (transit_disconnect(record->descriptor, record->id, &disconnection) && !record->is_closing) {
        carrier_report_disconnection(t, &disconnection, record->peer);
    }
    peer_table_leave(&t->peers, record->owner);
}

/* Returns the descriptor of a connection, or -1 if it cannot be found. Logs that, since then the connection's messages
 * in transit are not charged. */
static int find_descriptor(transport *t, nng_pipe pipe, const char *peer) {
    int descriptor = transit_descriptor(pipe);
    if (descriptor < 0) {
        log_repeated(t->options.log, &t->unaccounted,
                     "the descriptor of %s is unknown: its messages on their way do not count for limits.memory_bytes",
                     peer);
    }
    return descriptor;
}

/* Fills the facts that the system states about a connection, and the name of its caller. */
static void find_facts(const connection_peer *peer, const void *session, pipe_record *record) {
    access_peer *facts = &record->facts;
    *facts = (access_peer){.is_unix = is_local(&peer->identity)};
    if (facts->is_unix) {
        facts->has_user = true;
        facts->user = (uint32_t)peer->identity.value;
        facts->groups = unix_peer_groups(record->descriptor, &facts->group_count);
    } else if (record->descriptor >= 0) {
        facts->has_user = loopback_user(record->descriptor, &facts->user);
    }
    tls_client_name(session, facts->certificate);
    if (facts->certificate[0]) {
        snprintf(record->name, sizeof record->name, "certificate:%s", facts->certificate);
    } else if (facts->has_user) {
        snprintf(record->name, sizeof record->name, "uid:%u", facts->user);
    } else {
        snprintf(record->name, sizeof record->name, "address:%s", peer->host);
    }
}

/* Returns whether a connection may stay: subscribers need the role of a reader, by what the system states, or by the
 * tokens of requests of the same peer. Each request is checked by itself, and points by the keys of their streams. */
static bool may_stay(transport *t, const pipe_record *record, transport_kind kind) {
    return kind != TRANSPORT_EVENTS || !record->owner ||
           pipe_table_find_role(&t->pipes, &record->facts) >= ACCESS_READER ||
           pipe_table_vouched(&t->pipes, record) >= ACCESS_READER;
}

/* Enters an admitted connection into the table. Returns false, and it is closed, if it may not stay or memory is
 * exhausted. */
static bool enter(transport *t, nng_pipe pipe, pipe_record *record) {
    bool may = may_stay(t, record, record->kind);
    if (!may) {
        atomic_fetch_add(&t->options.counters->rejected_connections, 1);
        log_repeated(t->options.log, &t->denied,
                     "refused a subscriber, %s: it needs the role reader ([access] in the configuration)",
                     record->peer);
    }
    if (may && pipe_table_add(&t->pipes, record)) {
        return true;
    }
    free((void *)(uintptr_t)record->facts.groups);
    if (record->owner) {
        forget_client(t, record);
    }
    nng_pipe_close(pipe);
    return false;
}

bool admission_connect(transport *t, nng_pipe pipe, transport_kind kind) {
    connection_peer peer;
    const char *reason = "";
    describe_peer(pipe, &peer);
    endpoint *e = find_endpoint(t, pipe);
    if (e) {
        atomic_fetch_add(&e->admitted, 1);
    }
    bool is_own =
        peer.process == (uint64_t)getpid() || (e && peer.port != 0 && atomic_load(&e->probe_port) == peer.port);
    peer_account *owner = is_own ? NULL : admit_client(t, &peer.identity, &reason);
    if (!is_own && !owner) {
        atomic_fetch_add(&t->options.counters->rejected_connections, 1);
        log_repeated(t->options.log, &t->rejected, "refused a connection of %s: %u are open, and %s", peer.text,
                     atomic_load(&t->options.counters->connections), reason);
        nng_pipe_close(pipe);
        return false;
    }
    pipe_record record = {
        .id = (uint32_t)nng_pipe_id(pipe),
        .listener = nng_listener_id(nng_pipe_listener(pipe)),
        .kind = kind,
        .descriptor = is_own ? -1 : find_descriptor(t, pipe, peer.text),
        .owner = owner,
        .opened = clock_now(),
        .last_request = clock_now(),
        .identity = peer.identity,
    };
    memcpy(record.peer, peer.text, sizeof record.peer);
    const void *session = tls_session(pipe);
    find_facts(&peer, session, &record);
    bool is_entered = enter(t, pipe, &record);
    if (is_entered && owner) {
        transit_connect(record.descriptor, record.id, owner);
        if (session) {
            transit_secure(record.descriptor, record.id, session);
        }
        log_debug(t->options.log, "connection of %s", peer.text);
    }
    return is_entered;
}

bool admission_disconnect(transport *t, nng_pipe pipe) {
    pipe_record record;
    bool is_known = pipe_table_remove(&t->pipes, (uint32_t)nng_pipe_id(pipe), &record);
    if (is_known && record.owner) {
        forget_client(t, &record);
    }
    return is_known;
}
