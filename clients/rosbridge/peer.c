/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds and removes peers, queues their messages, and disconnects those that are idle, silent or do not read.
 */
#include "peer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "json_text.h"
#include "printable.h"

static const char *const level_words[] = {"none", "error", "warning", "info"};

peer *peer_add(bridge *to, const char *name) {
    peer *added = calloc(1, sizeof *added);
    if (!added) {
        return NULL;
    }
    added->bridge = to;
    added->number = ++to->last_number;
    added->references = 1;
    added->level = STATUS_WARNING;
    added->last_message = added->last_heard = monotonic_time();
    added->outbox.limits = (outbox_limits){.control_messages = to->config->control_messages,
                                           .control_bytes = to->config->control_bytes,
                                           .data_bytes = to->config->data_bytes};
    snprintf(added->name, sizeof added->name, "%s", name);
    added->next = to->peers;
    to->peers = added;
    to->metrics.counters[COUNTER_CONNECTIONS]++;
    to->metrics.gauges[GAUGE_CONNECTIONS]++;
    return added;
}

void peer_remove(peer *removed) {
    bridge *of = removed->bridge;
    removed->is_gone = true;
    for (peer **link = &of->peers; *link; link = &(*link)->next) {
        if (*link == removed) {
            *link = removed->next;
            break;
        }
    }
    of->metrics.gauges[GAUGE_CONNECTIONS]--;
    of->forget_peer(of, removed);
    outbox_free(&removed->outbox);
    fragments_free(&removed->fragments);
    peer_release(removed);
}

peer *peer_share(peer *shared) {
    shared->references++;
    return shared;
}

void peer_release(peer *released) {
    if (--released->references == 0) {
        free(released);
    }
}

void peer_send_encoded(peer *to, buffer_list *messages) {
    bool is_queued = messages->count > 0;
    for (size_t i = 0; i < messages->count && !to->is_gone && !to->is_cut; i++) {
        is_queued &= outbox_add_control(&to->outbox, buffer_share(messages->items[i]));
    }
    buffer_list_free(messages);
    if (to->is_gone || to->is_cut) {
        return;
    }
    if (!is_queued) {
        peer_cut(to, CLOSE_INTERNAL, "out of memory for an answer");
    } else if (to->outbox.overflow) {
        outbox_free(&to->outbox);
        peer_cut(to, CLOSE_POLICY, "answers pile up unread (limits.control_messages, limits.control_bytes)");
    } else if (to->wake) {
        to->wake(to);
    }
}

void peer_send_as(peer *to, json_t *message, const encoding *how) {
    buffer_list encoded = {0};
    if (!to->is_gone && !(message && encode_message(message, NULL, how, &encoded))) {
        buffer_list_free(&encoded);
    }
    peer_send_encoded(to, &encoded);
    json_decref(message);
}

void peer_send(peer *to, json_t *message) {
    peer_send_as(to, message, &(encoding){0});
}

void peer_status(peer *to, status_level level, const json_t *id, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (level == STATUS_ERROR) {
        to->bridge->metrics.counters[COUNTER_MESSAGES_REFUSED]++;
    }
    if (level > to->level) {
        return;
    }
    json_t *message = json_pack("{ss ss so}", "op", "status", "level", level_words[level], "msg", json_text(text));
    if (message && id) {
        json_object_set(message, "id", (json_t *)id);
    }
    peer_send(to, message);
}

void peer_cut(peer *cut, close_status status, const char *format, ...) {
    if (cut->is_cut || cut->is_gone) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    char reason[sizeof cut->cut_reason];
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    printable_text(reason, cut->cut_reason, sizeof cut->cut_reason);
    cut->cut_status = status;
    cut->is_cut = true;
    cut->bridge->metrics.counters[COUNTER_CONNECTIONS_CUT]++;
    if (cut->wake) {
        cut->wake(cut);
    }
}

buffer *peer_next(peer *of) {
    buffer *message = outbox_next(&of->outbox);
    size_t lost = !message ? outbox_report_loss(&of->outbox) : 0;
    if (lost == 0) {
        return message;
    }
    of->bridge->metrics.counters[COUNTER_MESSAGES_LOST] += lost;
    peer_status(of, STATUS_WARNING, NULL,
                "%zu messages of topics were dropped, the oldest first, since they were not read fast enough", lost);
    return outbox_next(&of->outbox);
}

void peer_hear(peer *heard) {
    heard->last_heard = monotonic_time();
    heard->ping_time = 0;
}

static void check_silence(peer *checked, double now) {
    const config *c = checked->bridge->config;
    if (checked->ping_time > 0 && now - checked->ping_time > c->ping_timeout) {
        peer_cut(checked, CLOSE_INTERNAL, "a ping was not answered within %g s (limits.ping_timeout)", c->ping_timeout);
    } else if (checked->ping_time == 0 && now - checked->last_heard > c->ping_interval) {
        checked->ping_time = now;
        checked->is_ping_due = true;
        if (checked->wake) {
            checked->wake(checked);
        }
    }
}

void peer_check(peer *checked, double now) {
    const config *c = checked->bridge->config;
    fragment_limits limits = {.time = c->fragment_time};
    size_t expired = fragments_expire(&checked->fragments, &limits, now);
    if (expired > 0) {
        peer_status(checked, STATUS_ERROR, NULL, "fragment: %zu messages did not become complete within %g s", expired,
                    c->fragment_time);
    }
    bool is_idle = checked->calls == 0 && checked->subscriptions == 0 && checked->advertisements == 0;
    if (is_idle && !checked->is_dialled && now - checked->last_message > c->idle_time) {
        peer_cut(checked, CLOSE_NORMAL, "idle for %g s (limits.idle_time)", c->idle_time);
    }
    if (!checked->is_cut) {
        check_silence(checked, now);
    }
}
