/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forwards calls and goals to the peers that offer the services and actions, and the answers back.
 */
#include "offers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GOAL_ABORTED = 6, RELAY_ID_SIZE = 48 };

/* Forwarded call or goal. */
typedef struct relay {
    struct relay *next;
    char id[RELAY_ID_SIZE]; /* id that the provider sees */
    char name[OFFER_NAME_SIZE];
    bool is_action, is_bare;
    peer *provider, *asking;
    json_t *asking_id;
    char requested_name[OFFER_NAME_SIZE];
    encoding encoding;
    double deadline;
} relay;

offer *offer_find(bridge *in, const char *name, bool is_action) {
    for (offer *found = in->offers; found; found = found->next) {
        if (found->is_action == is_action && strcmp(found->name, name) == 0) {
            return found;
        }
    }
    return NULL;
}

const char *offer_add(peer *provider, const char *name, bool is_bare, const char *type, bool is_action) {
    bridge *to = provider->bridge;
    offer *known = offer_find(to, name, is_action);
    if (known && known->provider != provider) {
        return "another client offers it";
    }
    if (!known) {
        if (provider->advertisements >= to->config->advertisements) {
            return "this connection has as many advertisements as are allowed";
        }
        known = calloc(1, sizeof *known);
        if (!known) {
            return "out of memory";
        }
        snprintf(known->name, sizeof known->name, "%s", name);
        known->is_action = is_action;
        known->provider = provider;
        known->next = to->offers;
        to->offers = known;
        provider->advertisements++;
    }
    known->is_bare = is_bare;
    snprintf(known->type, sizeof known->type, "%s", type);
    return NULL;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* Removes the relay that `link` points to from the list and sends its final answer. */
static void finish(bridge *in, relay **link, json_t *values, json_t *result, json_t *status) {
    relay *done = *link;
    *link = done->next;
    in->metrics.counters[COUNTER_CALLS_FAILED] += json_is_false(result);
    json_t *answer = json_pack("{ss ss so* sO so*}", "op", done->is_action ? "action_result" : "service_response",
                               done->is_action ? "action" : "service", done->requested_name, "values", values, "result",
                               result, "status", status);
    if (answer && done->asking_id) {
        json_object_set(answer, "id", done->asking_id);
    }
    peer_send_as(done->asking, answer, &done->encoding);
    json_decref(result);
    json_decref(done->asking_id);
    if (!done->asking->is_gone) {
        done->asking->calls--;
    }
    peer_release(done->asking);
    free(done);
}

static void finish_failed(bridge *in, relay **link, const char *reason) {
    bool is_action = (*link)->is_action;
    finish(in, link, json_string(reason), json_false(), is_action ? json_integer(GOAL_ABORTED) : NULL);
}

/* Tells the provider of an action that nobody waits for the goal any longer. */
static void cancel_goal(const relay *of) {
    if (of->is_action) {
        peer_send(of->provider,
                  json_pack("{ss ss ss}", "op", "cancel_action_goal", "id", of->id, "action", of->name + of->is_bare));
    }
}

void offer_call(bridge *in, offer *called, const asker *by, json_t *arguments, bool wants_feedback) {
    relay *passed = calloc(1, sizeof *passed);
    if (!passed) {
        peer_send(by->peer, NULL);
        return;
    }
    in->metrics.counters[COUNTER_CALLS]++;
    snprintf(passed->id, sizeof passed->id, "bridge:%llu", (unsigned long long)++in->last_number);
    snprintf(passed->name, sizeof passed->name, "%s", called->name);
    snprintf(passed->requested_name, sizeof passed->requested_name, "%s", by->name);
    passed->is_action = called->is_action;
    passed->is_bare = called->is_bare;
    passed->provider = called->provider;
    passed->asking = peer_share(by->peer);
    passed->asking_id = json_incref(by->id);
    passed->encoding = by->encoding;
    passed->deadline = monotonic_time() + by->timeout;
    passed->next = in->relays;
    in->relays = passed;
    by->peer->calls++;
    json_t *message =
        json_pack("{ss ss ss sO*}", "op", called->is_action ? "send_action_goal" : "call_service", "id", passed->id,
                  called->is_action ? "action" : "service", called->name + called->is_bare, "args", arguments);
    if (message && called->is_action) {
        json_object_set_new(message, "action_type", json_string(called->type));
        json_object_set_new(message, "feedback", json_boolean(wants_feedback));
    }
    peer_send(called->provider, message);
}

bool offer_answer(peer *provider, const char *id, json_t *message, bool is_final) {
    bridge *in = provider->bridge;
    relay **link = &in->relays;
    while (*link && ((*link)->provider != provider || strcmp((*link)->id, id) != 0)) {
        link = &(*link)->next;
    }
    if (!*link) {
        return false;
    }
    json_t *values = json_incref(json_object_get(message, "values"));
    if (is_final) {
        json_t *result = json_object_get(message, "result");
        finish(in, link, values, json_boolean(json_is_true(result)), json_incref(json_object_get(message, "status")));
        return true;
    }
    json_t *feedback =
        json_pack("{ss ss so*}", "op", "action_feedback", "action", (*link)->requested_name, "values", values);
    if (feedback && (*link)->asking_id) {
        json_object_set(feedback, "id", (*link)->asking_id);
    }
    peer_send((*link)->asking, feedback);
    return true;
}

bool offer_cancel(peer *asking, const json_t *id) {
    for (relay *found = asking->bridge->relays; found; found = found->next) {
        if (found->asking == asking && found->is_action && json_equal(found->asking_id, id)) {
            cancel_goal(found);
            return true;
        }
    }
    return false;
}

void offers_check(bridge *in, double now) {
    for (relay **link = &in->relays; *link;) {
        if (now > (*link)->deadline) {
            cancel_goal(*link);
            finish_failed(in, link, "the client that offers this did not answer in time (DEADLINE_EXCEEDED)");
        } else {
            link = &(*link)->next;
        }
    }
}

bool offer_remove(peer *provider, const char *name, bool is_action) {
    bridge *in = provider->bridge;
    offer **link = &in->offers;
    while (*link &&
           ((*link)->provider != provider || (*link)->is_action != is_action || strcmp((*link)->name, name) != 0)) {
        link = &(*link)->next;
    }
    if (!*link) {
        return false;
    }
    offer *removed = *link;
    *link = removed->next;
    provider->advertisements--;
    for (relay **waiting = &in->relays; *waiting;) {
        if ((*waiting)->provider == provider && (*waiting)->is_action == is_action &&
            strcmp((*waiting)->name, removed->name) == 0) {
            finish_failed(in, waiting, "the client no longer offers this (UNAVAILABLE)");
        } else {
            waiting = &(*waiting)->next;
        }
    }
    free(removed);
    return true;
}

void offers_forget_peer(bridge *in, peer *gone) {
    for (relay **link = &in->relays; *link;) {
        if ((*link)->provider == gone) {
            finish_failed(in, link, "the client that offers this has gone (UNAVAILABLE)");
        } else if ((*link)->asking == gone) {
            cancel_goal(*link);
            finish(in, link, NULL, json_false(), NULL);
        } else {
            link = &(*link)->next;
        }
    }
    for (offer **link = &in->offers; *link;) {
        offer *own = *link;
        if (own->provider == gone) {
            *link = own->next;
            free(own);
        } else {
            link = &own->next;
        }
    }
}
