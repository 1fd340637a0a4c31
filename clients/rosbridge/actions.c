/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the goals of actions as calls to the daemon, or forwards them to the peers that offer the actions.
 */
#include "actions.h"

#include <math.h>
#include <stdlib.h>

#include "offers.h"
#include "ros_names.h"
#include "services.h"

enum { GOAL_ABORTED = 6 };

/* Goal in progress. */
typedef struct goal {
    struct goal *next;
    json_t *id, *action; /* as the client spelled it */
    call *call;          /* call to the daemon; a thread of the pool completes its answer */
} goal;

static json_t *begin_result(const request *from, const char *action) {
    json_t *result = json_pack("{ss ss}", "op", "action_result", "action", action);
    if (result && from->id) {
        json_object_set(result, "id", from->id);
    }
    return result;
}

static void fail(const request *from, const char *action, const char *reason) {
    json_t *result = begin_result(from, action);
    if (!result) {
        result = begin_result(from, "");
    }
    json_object_set_new(result, "values", json_string(reason));
    json_object_set_new(result, "status", json_integer(GOAL_ABORTED));
    json_object_set_new(result, "result", json_false());
    from->peer->bridge->metrics.counters[COUNTER_CALLS_FAILED]++;
    peer_send(from->peer, result);
}

/* Frees the goal of a call that has ended. */
static void forget_goal(call *ended) {
    for (goal **link = &ended->peer->bridge->goals; *link; link = &(*link)->next) {
        goal *own = *link;
        if (own->call == ended) {
            *link = own->next;
            json_decref(own->id);
            json_decref(own->action);
            free(own);
            return;
        }
    }
}

static void start(const request *from, const char *action, method called, const encoding *how, double timeout) {
    bridge *of = from->peer->bridge;
    goal *added = calloc(1, sizeof *added);
    call *made = added ? service_new_call(from, called, how, timeout, begin_result(from, action)) : NULL;
    if (!made) {
        free(added);
        fail(from, action, "out of memory (RESOURCE_EXHAUSTED)");
        return;
    }
    made->is_action = true;
    made->wants_feedback = json_is_true(json_object_get(from->message, "feedback"));
    made->on_end = forget_goal;
    *added = (goal){.next = of->goals, .id = json_incref(from->id), .action = json_string(action), .call = made};
    of->goals = added;
    call_start(of, made);
}

void action_goal(const request *from) {
    bridge *of = from->peer->bridge;
    const json_t *value = json_object_get(from->message, "action"), *arguments = json_object_get(from->message, "args");
    const char *action = json_is_string(value) ? json_string_value(value) : "";
    char name[ROS_NAME_SIZE];
    encoding how;
    double timeout;
    if (!request_encoding(from, &how) || !request_number(from, "timeout", 0, &timeout)) {
        fail(from, action, "the goal's compression, fragment_size or timeout is wrong (INVALID_ARGUMENT)");
        return;
    }
    timeout = timeout > 0 ? fmin(timeout, of->config->call_time) : of->config->call_time;
    bool is_named = ros_name_normalize(action, name);
    method called = is_named ? method_find(name) : NULL;
    offer *offered = is_named ? offer_find(of, name, true) : NULL;
    if (arguments && !json_is_object(arguments) && !json_is_array(arguments) && !json_is_null(arguments)) {
        fail(from, action, "args: an object or an array is needed (INVALID_ARGUMENT)");
    } else if (from->peer->calls >= of->config->calls) {
        fail(from, action, "this connection has as many calls under way as are allowed (RESOURCE_EXHAUSTED)");
    } else if (called) {
        start(from, action, called, &how, timeout);
    } else if (offered) {
        asker by = {.peer = from->peer, .id = from->id, .name = action, .encoding = how, .timeout = timeout};
        offer_call(of, offered, &by, json_object_get(from->message, "args"),
                   json_is_true(json_object_get(from->message, "feedback")));
    } else {
        fail(from, action, "action: there is no such action; /rosapi/action_servers lists them (NOT_FOUND)");
    }
}

void action_cancel(const request *from) {
    for (goal *each = from->peer->bridge->goals; each; each = each->next) {
        if (each->call->peer == from->peer && json_equal(each->id, from->id)) {
            call_cancel(from->peer->bridge, each->call);
            return;
        }
    }
    if (!offer_cancel(from->peer, from->id)) {
        request_refuse(from, "id: this connection has no goal of this id under way");
    }
}

void actions_progress(bridge *in, const Dynamics__V1__ProgressEvent *event) {
    for (goal *each = in->goals; each; each = each->next) {
        const call *made = each->call;
        if (made->progress == 0 || made->progress != event->number) {
            continue;
        }
        json_t *feedback = json_pack("{ss sO* sO s{sf sf}}", "op", "action_feedback", "id", each->id, "action",
                                     each->action, "values", "fraction", event->fraction, "elapsed", event->elapsed);
        peer_send(made->peer, feedback);
        return;
    }
}

void actions_check(bridge *in) {
    for (goal *each = in->goals; each; each = each->next) {
        if (each->call->is_cancelled) {
            call_cancel(in, each->call);
        }
    }
}

void actions_forget_peer(bridge *in, peer *gone) {
    for (goal *each = in->goals; each; each = each->next) {
        if (each->call->peer == gone) {
            call_cancel(in, each->call);
        }
    }
}
