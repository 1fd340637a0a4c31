/* SPDX-License-Identifier: BSD-2-Clause */
/* Records the connections of a transport, and finds those that are idle or do not read their replies. */
#include "transport/pipes.h"

#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void pipe_table_init(pipe_table *table, access_guard *access) {
    memset(table, 0, sizeof *table);
    table->access = access;
    pthread_mutex_init(&table->mutex, NULL);
}

static void free_record(pipe_record *record) {
    if (record) {
        free((void *)(uintptr_t)record->facts.groups);
        free(record);
    }
}

void pipe_table_free(pipe_table *table) {
    for (size_t i = 0; i < PIPE_BUCKETS; i++) {
        while (table->buckets[i]) {
            pipe_record *record = table->buckets[i];
            table->buckets[i] = record->next;
            free_record(record);
        }
    }
    pthread_mutex_destroy(&table->mutex);
}

/* Returns the address of the pointer to the connection's record, or of the NULL at the end of its list. */
static pipe_record **find(pipe_table *table, uint32_t id) {
    pipe_record **place = &table->buckets[id % PIPE_BUCKETS];
    while (*place && (*place)->id != id) {
        place = &(*place)->next;
    }
    return place;
}

bool pipe_table_add(pipe_table *table, const pipe_record *values) {
    pipe_record *record = malloc(sizeof *record);
    if (!record) {
        return false;
    }
    *record = *values;
    pthread_mutex_lock(&table->mutex);
    pipe_record **bucket = &table->buckets[record->id % PIPE_BUCKETS];
    record->next = *bucket;
    *bucket = record;
    pthread_mutex_unlock(&table->mutex);
    return true;
}

bool pipe_table_remove(pipe_table *table, uint32_t id, pipe_record *removed) {
    pthread_mutex_lock(&table->mutex);
    pipe_record **place = find(table, id);
    pipe_record *record = *place;
    if (record) {
        *place = record->next;
        *removed = *record;
        removed->facts.groups = NULL;
    }
    pthread_mutex_unlock(&table->mutex);
    bool is_known = record != NULL;
    free_record(record);
    return is_known;
}

size_t pipe_table_count(pipe_table *table, int listener) {
    size_t count = 0;
    pthread_mutex_lock(&table->mutex);
    for (size_t i = 0; i < PIPE_BUCKETS; i++) {
        for (const pipe_record *record = table->buckets[i]; record; record = record->next) {
            count += record->listener == listener;
        }
    }
    pthread_mutex_unlock(&table->mutex);
    return count;
}

/* Copies what clients may see of a connection. */
static void describe(const pipe_table *table, const pipe_record *from, transport_connection *to) {
    *to = (transport_connection){
        .id = from->id,
        .kind = from->kind,
        .caller.role = pipe_table_find_role(table, &from->facts),
        .opened = from->opened,
        .last_request = from->last_request,
        .requests = from->requests,
        .under_way = from->under_way,
    };
    memcpy(to->caller.name, from->name, sizeof to->caller.name);
    memcpy(to->peer, from->peer, sizeof to->peer);
}

size_t pipe_table_list(pipe_table *table, transport_connection *connections, size_t capacity) {
    size_t count = 0;
    pthread_mutex_lock(&table->mutex);
    for (size_t i = 0; i < PIPE_BUCKETS; i++) {
        for (const pipe_record *record = table->buckets[i]; record; record = record->next) {
            if (!record->owner || record->is_closing) {
                continue;
            }
            if (count < capacity) {
                describe(table, record, &connections[count]);
            }
            count++;
        }
    }
    pthread_mutex_unlock(&table->mutex);
    return count;
}

access_role pipe_table_find_role(const pipe_table *table, const access_peer *facts) {
    return table->access ? access_find_role(table->access, facts) : ACCESS_ADMINISTRATOR;
}

void pipe_table_vouch(pipe_table *table, uint32_t id, access_role role) {
    pthread_mutex_lock(&table->mutex);
    pipe_record *record = *find(table, id);
    if (record && role > record->vouched) {
        record->vouched = role;
    }
    pthread_mutex_unlock(&table->mutex);
}

static bool is_same_peer(const pipe_record *a, const pipe_record *b) {
    return transport_identity_equal(&a->identity, &b->identity) && a->facts.has_user == b->facts.has_user &&
           a->facts.user == b->facts.user && strcmp(a->facts.certificate, b->facts.certificate) == 0;
}

access_role pipe_table_vouched(pipe_table *table, const pipe_record *like) {
    access_role role = ACCESS_NONE;
    pthread_mutex_lock(&table->mutex);
    for (size_t i = 0; i < PIPE_BUCKETS; i++) {
        for (const pipe_record *record = table->buckets[i]; record; record = record->next) {
            role = record->vouched > role && is_same_peer(record, like) ? record->vouched : role;
        }
    }
    pthread_mutex_unlock(&table->mutex);
    return role;
}

/* Fills the name and the role of a call. An unknown connection has none. */
static void identify(const pipe_table *table, const pipe_record *record, transport_call *call) {
    call->caller.role = ACCESS_NONE;
    call->caller.name[0] = '\0';
    call->vouched = ACCESS_NONE;
    if (record) {
        call->caller.role = record->owner ? pipe_table_find_role(table, &record->facts) : ACCESS_ADMINISTRATOR;
        call->vouched = record->vouched;
        memcpy(call->caller.name, record->name, sizeof call->caller.name);
    }
}

int pipe_table_request(pipe_table *table, uint32_t id, unsigned share, transport_call *call) {
    pthread_mutex_lock(&table->mutex);
    pipe_record *record = *find(table, id);
    int descriptor = record ? record->descriptor : -1;
    call->is_own = record && !record->owner;
    call->is_crowded = record && record->under_way >= share;
    call->identity = record ? record->identity : (transport_identity){TRANSPORT_ORIGIN_UNKNOWN, 0};
    identify(table, record, call);
    if (record) {
        record->under_way++;
        record->requests++;
        record->last_request = call->arrival;
        memcpy(call->peer, record->peer, sizeof call->peer);
    } else {
        call->peer[0] = '\0';
    }
    pthread_mutex_unlock(&table->mutex);
    return descriptor;
}

int pipe_table_touch(pipe_table *table, uint32_t id, uint64_t now, char peer[TRANSPORT_PEER_SIZE]) {
    pthread_mutex_lock(&table->mutex);
    pipe_record *record = *find(table, id);
    int descriptor = record ? record->descriptor : -1;
    peer[0] = '\0';
    if (record) {
        record->last_request = now;
        record->requests++;
        memcpy(peer, record->peer, sizeof record->peer);
    }
    pthread_mutex_unlock(&table->mutex);
    return descriptor;
}

void pipe_table_reply(pipe_table *table, uint32_t id, uint64_t now) {
    pthread_mutex_lock(&table->mutex);
    pipe_record *record = *find(table, id);
    if (record && record->waiting++ == 0) {
        record->last_progress = now;
    }
    pthread_mutex_unlock(&table->mutex);
}

void pipe_table_done(pipe_table *table, uint32_t id, uint64_t now) {
    pthread_mutex_lock(&table->mutex);
    pipe_record *record = *find(table, id);
    if (record) {
        record->under_way--;
        record->waiting--;
        record->last_progress = now;
    }
    pthread_mutex_unlock(&table->mutex);
}

bool pipe_table_condemn(pipe_table *table, uint32_t id, char peer[TRANSPORT_PEER_SIZE]) {
    pthread_mutex_lock(&table->mutex);
    pipe_record *record = *find(table, id);
    bool is_new = record && !record->is_closing;
    if (is_new) {
        record->is_closing = true;
        memcpy(peer, record->peer, sizeof record->peer);
    }
    pthread_mutex_unlock(&table->mutex);
    return is_new;
}

/* Returns whether the system accepts bytes for the client. If it does, the daemon itself has not sent them yet, because
 * its threads wait for processors, and the client is not deaf. */
static bool accepts_bytes(const pipe_record *record) {
    struct pollfd socket = {.fd = record->descriptor, .events = POLLOUT};
    return record->descriptor >= 0 && poll(&socket, 1, 0) == 1 && socket.revents == POLLOUT;
}

static pipe_action choose_action(const pipe_record *record, const pipe_bounds *bounds, uint64_t now) {
    if (record->is_closing || record->kind == TRANSPORT_EVENTS) {
        return PIPE_KEEP;
    }
    if (record->waiting > 0) {
        uint64_t patience = record->waiting < bounds->share ? bounds->reply_time : bounds->reply_time / 5;
        return now > record->last_progress + patience && !accepts_bytes(record) ? PIPE_DEAF : PIPE_KEEP;
    }
    return record->under_way == 0 && now > record->last_request + bounds->idle_time ? PIPE_IDLE : PIPE_KEEP;
}

size_t pipe_table_check(pipe_table *table, const pipe_bounds *bounds, uint64_t now, pipe_disconnection *disconnections,
                        size_t capacity) {
    size_t count = 0;
    pthread_mutex_lock(&table->mutex);
    for (size_t i = 0; i < PIPE_BUCKETS && count < capacity; i++) {
        for (pipe_record *record = table->buckets[i]; record && count < capacity; record = record->next) {
            pipe_action action = choose_action(record, bounds, now);
            if (action != PIPE_KEEP) {
                record->is_closing = true;
                disconnections[count].id = record->id;
                disconnections[count].action = action;
                memcpy(disconnections[count].peer, record->peer, sizeof record->peer);
                count++;
            }
        }
    }
    pthread_mutex_unlock(&table->mutex);
    return count;
}
