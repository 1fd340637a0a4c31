/* SPDX-License-Identifier: BSD-2-Clause */
/* Accounts for the messages in transit of each connection, and shuts down connections whose messages take too much time
 * or memory. */
#include "transport/transit.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "observe/clock.h"

/* Largest number of bytes that nng reads before a message's own: its length, and over ipc a type. */
enum { HEAD_BYTES = 9 };

/* Difference between a message on the wire and in its handler: the numbers that REQ and devices write before it. */
enum { ROUTE_BYTES = 64 };

/* Age from which a message in transit is slow while memory is short, if it moved at less than SLOW_RATE. */
#define SLOW_AGE (NANOSECONDS / 2)
static const double SLOW_RATE = 1 << 20; /* bytes per second */

enum { SESSION_BUCKETS = 1024 };

/* Reply that nng holds or is about to receive. */
typedef struct outgoing {
    struct outgoing *next;
    const uint8_t *body;
    size_t size, sent;
    uint64_t start, progress; /* ns; of the last bytes that the system accepted */
} outgoing;

/* Slot of one connection. The atomics are read without the mutex. */
typedef struct slot {
    atomic_uint pipe;     /* nng's number; 0: none */
    atomic_bool is_half;  /* a message has arrived in part */
    atomic_uint whole;    /* complete large messages that no handler has yet */
    size_t whole_bytes;   /* bytes of these messages */
    atomic_uint replies;  /* replies in transit */
    outgoing *first;      /* first reply in transit */
    size_t size, arrived; /* size of the partial message, and its bytes so far */
    uint64_t start;       /* ns; arrival of the partial message, or of the first complete one */
    peer_account *owner;
    _Atomic(const void *) session; /* of TLS; NULL: none; read without the mutex too */
    int next_secure; /* one more than the descriptor of the next slot of its bucket of sessions, 0: none */
    transit_reason reason;
    bool is_cut;      /* the connection is to be closed, for `reason` */
    bool is_named;    /* listed by transit_cut_slow */
    size_t cut_bytes; /* bytes that the connection held when `is_cut` was set */
} slot;

static struct {
    pthread_mutex_t mutex; /* guards the slots except their atomics */
    memory_budget *budget;
    slot *slots;
    int count;
    atomic_int end;                /* one more than the highest connected descriptor */
    size_t cut_total;              /* held by connections that are being closed */
    int sessions[SESSION_BUCKETS]; /* one more than the descriptor of the first slot, 0: none */
    atomic_uint secure;            /* slots with a session */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

bool transit_open(int descriptors, memory_budget *budget) {
    table.slots = calloc((size_t)descriptors, sizeof *table.slots);
    table.count = table.slots ? descriptors : 0;
    table.budget = budget;
    table.cut_total = 0;
    atomic_store(&table.end, 0);
    return table.slots != NULL;
}

/* Returns the slot of a descriptor, or NULL if no registered connection has it. */
static slot *find(int descriptor) {
    if (descriptor < 0 || descriptor >= atomic_load_explicit(&table.end, memory_order_acquire)) {
        return NULL;
    }
    slot *s = &table.slots[descriptor];
    return atomic_load_explicit(&s->pipe, memory_order_relaxed) != 0 ? s : NULL;
}

static slot *find_pipe(int descriptor, uint32_t pipe) {
    slot *s = find(descriptor);
    return s && atomic_load(&s->pipe) == pipe ? s : NULL;
}

/* Returns the bytes of all messages of a connection that are in transit. */
static size_t held_bytes(const slot *s) {
    size_t bytes = s->whole_bytes + (atomic_load(&s->is_half) ? s->arrived : 0);
    for (const outgoing *o = s->first; o; o = o->next) {
        bytes += o->size;
    }
    return bytes;
}

/* Charges bytes to the connection's peer. The caller charges the budget. */
static void charge(slot *s, size_t bytes) {
    atomic_fetch_add(&s->owner->held, bytes);
    table.cut_total += s->is_cut ? bytes : 0;
}

static void uncharge(slot *s, size_t bytes) {
    atomic_fetch_sub(&s->owner->held, bytes);
    table.cut_total -= s->is_cut ? bytes : 0;
}

static void remove_outgoing(slot *s, outgoing **place) {
    outgoing *o = *place;
    *place = o->next;
    atomic_fetch_sub(&s->replies, 1);
    uncharge(s, o->size);
    memory_budget_release(table.budget, o->size);
    free(o);
}

/* Returns the bucket of a session. Sessions are blocks of malloc: their lowest bits are equal. */
static int *bucket_of(const void *session) {
    return &table.sessions[((uintptr_t)session >> 6) % SESSION_BUCKETS];
}

/* Removes the session of a slot. */
static void forget_session(slot *s) {
    int own = (int)(s - table.slots) + 1;
    int *place = bucket_of(s->session);
    while (*place != own) {
        place = &table.slots[*place - 1].next_secure;
    }
    *place = s->next_secure;
    s->session = NULL;
    atomic_fetch_sub(&table.secure, 1);
}

/* Clears a connection's slot and releases its bytes. */
static void clear(slot *s) {
    if (s->session) {
        forget_session(s);
    }
    size_t arrived = s->whole_bytes + (atomic_load(&s->is_half) ? s->arrived : 0);
    while (s->first) {
        remove_outgoing(s, &s->first);
    }
    uncharge(s, arrived);
    memory_budget_release(table.budget, arrived);
    memset(s, 0, sizeof *s);
}

void transit_close(void) {
    pthread_mutex_lock(&table.mutex);
    for (int i = 0; i < atomic_load(&table.end); i++) {
        if (atomic_load(&table.slots[i].pipe) != 0) {
            clear(&table.slots[i]);
        }
    }
    atomic_store(&table.end, 0);
    free(table.slots);
    table.slots = NULL;
    table.count = 0;
    pthread_mutex_unlock(&table.mutex);
}

void transit_connect(int descriptor, uint32_t pipe, peer_account *owner) {
    pthread_mutex_lock(&table.mutex);
    if (descriptor >= 0 && descriptor < table.count) {
        slot *s = &table.slots[descriptor];
        if (atomic_load(&s->pipe) != 0) {
            clear(s);
        }
        s->owner = owner;
        atomic_store(&s->pipe, pipe);
        if (descriptor >= atomic_load(&table.end)) {
            atomic_store(&table.end, descriptor + 1);
        }
    }
    pthread_mutex_unlock(&table.mutex);
}

void transit_secure(int descriptor, uint32_t pipe, const void *session) {
    pthread_mutex_lock(&table.mutex);
    slot *s = find_pipe(descriptor, pipe);
    if (s && !s->session) {
        s->session = session;
        s->next_secure = *bucket_of(session);
        *bucket_of(session) = descriptor + 1;
        atomic_fetch_add(&table.secure, 1);
    }
    pthread_mutex_unlock(&table.mutex);
}

int transit_session_descriptor(const void *session) {
    if (atomic_load(&table.secure) == 0) {
        return -1;
    }
    pthread_mutex_lock(&table.mutex);
    int found = *bucket_of(session);
    while (found && table.slots[found - 1].session != session) {
        found = table.slots[found - 1].next_secure;
    }
    pthread_mutex_unlock(&table.mutex);
    return found - 1;
}

bool transit_is_secure(int descriptor) {
    const slot *s = find(descriptor);
    return s && atomic_load_explicit(&s->session, memory_order_relaxed) != NULL;
}

bool transit_disconnect(int descriptor, uint32_t pipe, transit_disconnection *why) {
    pthread_mutex_lock(&table.mutex);
    slot *s = find_pipe(descriptor, pipe);
    bool is_cut = s && s->is_cut;
    if (is_cut) {
        *why = (transit_disconnection){pipe, s->reason, s->cut_bytes};
    }
    if (s) {
        clear(s);
    }
    pthread_mutex_unlock(&table.mutex);
    return is_cut;
}

size_t transit_receive(int descriptor, uint32_t pipe, size_t size) {
    slot *s = find_pipe(descriptor, pipe);
    if (!s || size + ROUTE_BYTES < TRANSIT_LARGE || atomic_load(&s->whole) == 0) {
        return 0;
    }
    size_t bytes = 0;
    pthread_mutex_lock(&table.mutex);
    if (atomic_load(&s->pipe) == pipe && atomic_load(&s->whole) > 0) {
        bool is_last = atomic_fetch_sub(&s->whole, 1) == 1;
        bytes = is_last || size > s->whole_bytes ? s->whole_bytes : size;
        s->whole_bytes -= bytes;
        uncharge(s, bytes);
    }
    pthread_mutex_unlock(&table.mutex);
    return bytes;
}

bool transit_send(int descriptor, uint32_t pipe, const void *body, size_t size) {
    uint64_t now = clock_now();
    outgoing *o = malloc(sizeof *o);
    pthread_mutex_lock(&table.mutex);
    slot *s = o ? find_pipe(descriptor, pipe) : NULL;
    if (s) {
        *o = (outgoing){.next = s->first, .body = body, .size = size, .start = now, .progress = now};
        s->first = o;
        atomic_fetch_add(&s->replies, 1);
        charge(s, size);
    }
    pthread_mutex_unlock(&table.mutex);
    if (!s) {
        free(o);
    }
    return s != NULL;
}

void transit_drop(int descriptor, uint32_t pipe, const void *body) {
    pthread_mutex_lock(&table.mutex);
    slot *s = find_pipe(descriptor, pipe);
    for (outgoing **place = s ? &s->first : NULL; place && *place; place = &(*place)->next) {
        if ((*place)->body == body) {
            remove_outgoing(s, place);
            break;
        }
    }
    pthread_mutex_unlock(&table.mutex);
}

/* Returns the sum over the messages of a connection of their bytes times their age in ns. */
static double greed(const slot *s, uint64_t now) {
    double sum = 0;
    if (atomic_load(&s->is_half) || atomic_load(&s->whole) > 0) {
        sum += (double)(s->whole_bytes + s->arrived) * (double)(now - s->start);
    }
    for (const outgoing *o = s->first; o; o = o->next) {
        sum += (double)o->size * (double)(now - o->start);
    }
    return sum;
}

static bool is_slow(uint64_t start, size_t done, uint64_t now) {
    uint64_t age = now - start;
    return age > SLOW_AGE && (double)done * 1e9 < SLOW_RATE * (double)age;
}

/* Returns whether a message of the connection is slow. */
static bool has_slow(const slot *s, uint64_t now) {
    bool is_found = atomic_load(&s->is_half) && is_slow(s->start, s->arrived, now);
    for (const outgoing *o = s->first; o && !is_found; o = o->next) {
        is_found = is_slow(o->start, o->sent, now);
    }
    return is_found;
}

/* Returns the descriptor of the connection to close first, or -1 if there is none: within the peer that holds the most,
 * the one with the largest product of bytes and age. With `must_be_slow` only slow ones count. */
static int find_greediest(uint64_t now, bool must_be_slow) {
    int found = -1, end = atomic_load(&table.end);
    size_t most = 0;
    double worst = 0;
    for (int i = 0; i < end; i++) {
        slot *s = &table.slots[i];
        if (atomic_load(&s->pipe) == 0 || s->is_cut || held_bytes(s) < TRANSIT_LARGE ||
            (must_be_slow && !has_slow(s, now))) {
            continue;
        }
        size_t of_peer = atomic_load(&s->owner->held);
        double own = greed(s, now);
        if (of_peer > most || (of_peer == most && own > worst)) {
            found = i;
            most = of_peer;
            worst = own;
        }
    }
    return found;
}

/* Marks a connection with the reason and shuts it down. nng notices that when it reads or writes; the next sweep closes
 * the connection in any case. */
static void cut(int descriptor, transit_reason reason) {
    slot *s = &table.slots[descriptor];
    size_t held = held_bytes(s);
    s->is_cut = true;
    s->reason = reason;
    s->cut_bytes = held;
    table.cut_total += held;
    shutdown(descriptor, SHUT_RDWR);
}

/* Shuts connections down until `excess` bytes are about to be released, or none is left that holds a large message. */
static void shed(size_t excess) {
    uint64_t now = clock_now();
    while (excess > table.cut_total) {
        int greediest = find_greediest(now, false);
        if (greediest < 0) {
            return;
        }
        cut(greediest, TRANSIT_GREEDY);
    }
}

/* Charges `count` bytes that have arrived when nng requested `wanted` bytes of a message, and sheds connections if the
 * budget is exceeded. */
static void arrive(slot *s, size_t wanted, size_t count) {
    if (!atomic_load(&s->is_half)) {
        s->size = wanted;
        s->arrived = 0;
        s->start = atomic_load(&s->whole) > 0 ? s->start : clock_now();
        atomic_store(&s->is_half, true);
    }
    s->arrived += count;
    charge(s, count);
    size_t excess = memory_budget_add(table.budget, count);
    if (count == wanted) {
        atomic_store(&s->is_half, false);
        bool is_large = s->size >= TRANSIT_LARGE;
        if (is_large) {
            atomic_fetch_add(&s->whole, 1);
            s->whole_bytes += s->arrived;
        } else {
            uncharge(s, s->arrived);
            memory_budget_release(table.budget, s->arrived);
        }
        s->arrived = 0;
    }
    if (excess > 0) {
        shed(excess);
    }
}

bool transit_may_read(int descriptor, size_t wanted) {
    slot *s = find(descriptor);
    bool is_half = s && atomic_load_explicit(&s->is_half, memory_order_relaxed);
    if (!s || (wanted < TRANSIT_LARGE && !is_half)) {
        return true;
    }
    pthread_mutex_lock(&table.mutex);
    bool is_large = wanted >= TRANSIT_LARGE || s->size >= TRANSIT_LARGE;
    if (is_large && !s->is_cut && atomic_load(&s->pipe) != 0 && memory_budget_is_overrun(table.budget)) {
        cut(descriptor, TRANSIT_GREEDY);
    }
    bool may_read = !s->is_cut;
    pthread_mutex_unlock(&table.mutex);
    return may_read;
}

void transit_was_read(int descriptor, size_t wanted, ssize_t count) {
    slot *s = find(descriptor);
    if (!s) {
        return;
    }
    bool is_half = atomic_load_explicit(&s->is_half, memory_order_relaxed);
    bool is_whole = !is_half && count == (ssize_t)wanted && wanted < TRANSIT_LARGE;
    bool is_head = !is_half && wanted <= HEAD_BYTES;
    if (is_whole || is_head) {
        return;
    }
    pthread_mutex_lock(&table.mutex);
    if (atomic_load(&s->pipe) != 0) {
        arrive(s, wanted, count > 0 ? (size_t)count : 0);
    }
    pthread_mutex_unlock(&table.mutex);
}

/* Returns whether a part of `message` lies in the body of the reply. */
static bool is_of(const outgoing *o, const struct msghdr *message) {
    for (size_t i = 0; i < message->msg_iovlen; i++) {
        const uint8_t *from = message->msg_iov[i].iov_base;
        if (from >= o->body && from < o->body + o->size) {
            return true;
        }
    }
    return false;
}

void transit_was_sent(int descriptor, const struct msghdr *message, ssize_t count) {
    slot *s = find(descriptor);
    if (!s || count <= 0 || atomic_load_explicit(&s->replies, memory_order_relaxed) == 0) {
        return;
    }
    size_t wanted = 0;
    for (size_t i = 0; i < message->msg_iovlen; i++) {
        wanted += message->msg_iov[i].iov_len;
    }
    uint64_t now = clock_now();
    pthread_mutex_lock(&table.mutex);
    for (outgoing **place = &s->first; *place; place = &(*place)->next) {
        if (!is_of(*place, message)) {
            continue;
        }
        (*place)->progress = now;
        (*place)->sent += (size_t)count;
        if ((size_t)count == wanted) {
            remove_outgoing(s, place);
        }
        break;
    }
    pthread_mutex_unlock(&table.mutex);
}

/* Shuts down connections with a partial message older than `message_time` ns, or replies of which nothing was read for
 * as long. */
static void shut_down_late(uint64_t now, uint64_t message_time) {
    for (int i = 0; i < atomic_load(&table.end); i++) {
        slot *s = &table.slots[i];
        if (atomic_load(&s->pipe) == 0 || s->is_cut) {
            continue;
        }
        if (atomic_load(&s->is_half) && now > s->start + message_time) {
            cut(i, TRANSIT_HALF);
            continue;
        }
        uint64_t progress = 0;
        for (const outgoing *o = s->first; o; o = o->next) {
            progress = o->progress > progress ? o->progress : progress;
        }
        if (s->first && now > progress + message_time) {
            cut(i, TRANSIT_UNREAD);
        }
    }
}

/* Shuts down slow connections while memory is short, and one if a charge was refused since the last call. */
static void cut_slow(uint64_t now) {
    int greediest;
    if (memory_budget_has_refused(table.budget) && (greediest = find_greediest(now, true)) >= 0) {
        cut(greediest, TRANSIT_GREEDY);
    }
    while (memory_budget_is_short(table.budget, table.cut_total) && (greediest = find_greediest(now, true)) >= 0) {
        cut(greediest, TRANSIT_GREEDY);
    }
}

size_t transit_cut_slow(uint64_t now, uint64_t message_time, transit_disconnection *disconnections, size_t capacity) {
    size_t count = 0;
    pthread_mutex_lock(&table.mutex);
    shut_down_late(now, message_time);
    cut_slow(now);
    for (int i = 0; i < atomic_load(&table.end) && count < capacity; i++) {
        slot *s = &table.slots[i];
        if (s->is_cut && !s->is_named) {
            s->is_named = true;
            disconnections[count++] = (transit_disconnection){atomic_load(&s->pipe), s->reason, s->cut_bytes};
        }
    }
    pthread_mutex_unlock(&table.mutex);
    return count;
}
