/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs actions, and gathers equal ones in episodes. */
#include "observe/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "observe/clock.h"

#define EPISODE_TIME (60 * NANOSECONDS)

/* Size of the digits of a number, and most fields of a line, with the end of their list. */
enum { COUNT_SIZE = 24, FIELDS = 9 };

void audit_init(audit *a, logger *log) {
    memset(a, 0, sizeof *a);
    a->log = log;
    pthread_mutex_init(&a->mutex, NULL);
}

/* Writes the line of an action. `more` is the number of equal actions that were not logged; 0: it is the first. */
static void write_action(audit *a, const audit_action *action, uint64_t more) {
    char number[COUNT_SIZE];
    snprintf(number, sizeof number, "%" PRIu64, more > 0 ? more : action->request);
    log_field fields[FIELDS] = {
        {"method", action->method},   {"object", action->object},
        {"peer", action->peer},       {"caller", action->caller ? action->caller : ""},
        {"outcome", action->outcome}, {"code", action->code},
    };
    size_t count = 6;
    if (action->belongs_to && action->belongs_to[0]) {
        fields[count++] = (log_field){"belongs_to", action->belongs_to};
    }
    if (more > 0 || action->request > 0) {
        fields[count++] = (log_field){more > 0 ? "more" : "request", number};
    }
    log_fields(a->log, action->is_denied ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "audit", fields);
}

/* Ends an episode, and logs the number of its actions after the first. */
static void end_episode(audit *a, audit_episode *e) {
    if (e->key != 0 && e->more > 0) {
        write_action(a, &e->action, e->more);
    }
    e->key = 0;
}

/* Adds a text and a zero byte to a hash (Fowler, Noll and Vo, FNV-1a). */
static uint64_t hash_text(uint64_t hash, const char *text) {
    do {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    } while (*text++);
    return hash;
}

/* Returns a hash of the action, never 0. */
static uint64_t hash_action(const audit_action *action) {
    uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325), action->method);
    hash = hash_text(hash, action->object);
    hash = hash_text(hash, action->peer);
    hash = hash_text(hash, action->caller ? action->caller : "");
    hash = hash_text(hash, action->belongs_to ? action->belongs_to : "");
    hash = hash_text(hash, action->outcome);
    return hash_text(hash, action->code) | 1;
}

/* Returns the episode with that key, or the one to replace: an unused one, else the oldest. */
static audit_episode *find_episode(audit *a, uint64_t key) {
    audit_episode *oldest = &a->episodes[0];
    for (size_t i = 0; i < AUDIT_EPISODES; i++) {
        audit_episode *e = &a->episodes[i];
        if (e->key == key) {
            return e;
        }
        if (oldest->key != 0 && (e->key == 0 || e->start < oldest->start)) {
            oldest = e;
        }
    }
    return oldest;
}

static void begin_episode(audit_episode *e, uint64_t key, uint64_t now, const audit_action *action) {
    *e = (audit_episode){.key = key, .start = now, .action = *action};
    snprintf(e->object, sizeof e->object, "%s", action->object);
    snprintf(e->peer, sizeof e->peer, "%s", action->peer);
    e->action.object = e->object;
    e->action.peer = e->peer;
    snprintf(e->caller, sizeof e->caller, "%s", action->caller ? action->caller : "");
    e->action.caller = e->caller;
    snprintf(e->belongs_to, sizeof e->belongs_to, "%s", action->belongs_to ? action->belongs_to : "");
    e->action.belongs_to = e->belongs_to;
}

void audit_record(audit *a, const audit_action *action) {
    if (!log_has_level(a->log, action->is_denied ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO)) {
        return;
    }
    uint64_t key = hash_action(action), now = clock_now();
    pthread_mutex_lock(&a->mutex);
    audit_episode *e = find_episode(a, key);
    if (e->key == key && now < e->start + EPISODE_TIME) {
        e->more++;
    } else {
        end_episode(a, e);
        begin_episode(e, key, now, action);
        write_action(a, action, 0);
    }
    pthread_mutex_unlock(&a->mutex);
}

void audit_sweep(audit *a) {
    uint64_t now = clock_now();
    pthread_mutex_lock(&a->mutex);
    for (size_t i = 0; i < AUDIT_EPISODES; i++) {
        if (now > a->episodes[i].start + EPISODE_TIME) {
            end_episode(a, &a->episodes[i]);
        }
    }
    pthread_mutex_unlock(&a->mutex);
}

void audit_free(audit *a) {
    for (size_t i = 0; i < AUDIT_EPISODES; i++) {
        end_episode(a, &a->episodes[i]);
    }
    pthread_mutex_destroy(&a->mutex);
}
