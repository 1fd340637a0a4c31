/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads calls of services and passes each to the daemon, to rosapi or to the peer that offers the service.
 */
#include "services.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "health_service.h"
#include "json_text.h"
#include "offers.h"
#include "ros_names.h"
#include "rosapi.h"

bool service_is_reserved(const char *name) {
    return strncmp(name, METHOD_PREFIX, strlen(METHOD_PREFIX)) == 0 || strncmp(name, "/rosapi/", 8) == 0;
}

/* Returns the response without its values, with the service as the caller spelled it. */
static json_t *begin_response(const request *from, const char *service) {
    json_t *response = json_pack("{ss ss}", "op", "service_response", "service", service);
    if (response && from->id) {
        json_object_set(response, "id", from->id);
    }
    return response;
}

/* Answers at once and takes ownership of `values`; NULL stands for an empty object. */
static void respond(const request *from, const char *service, const encoding *how, json_t *values, bool result) {
    json_t *response = begin_response(from, service);
    json_object_set_new(response, "values", values ? values : json_object());
    json_object_set_new(response, "result", json_boolean(result));
    from->peer->bridge->metrics.counters[COUNTER_CALLS_FAILED] += !result;
    peer_send_as(from->peer, response, how);
}

static void fail(const request *from, const char *service, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fail(const request *from, const char *service, const char *format, ...) {
    char reason[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    respond(from, service, &(encoding){0}, json_text(reason), false);
}

call *service_new_call(const request *from, method called, const encoding *how, double timeout, json_t *answer) {
    call *made = calloc(1, sizeof *made);
    if (!made || !answer) {
        free(made);
        json_decref(answer);
        return NULL;
    }
    made->method = called;
    made->arguments = json_incref(json_object_get(from->message, "args"));
    made->answer = answer;
    made->size = from->size;
    made->encoding = *how;
    made->deadline = monotonic_time() + timeout;
    made->peer = peer_share(from->peer);
    return made;
}

/* Returns true if the connection may make another call. Otherwise answers that it has too many calls under way and
 * returns false. */
static bool may_call(const request *from, const char *service) {
    size_t calls = from->peer->calls;
    if (calls < from->peer->bridge->config->calls) {
        return true;
    }
    fail(from, service, "%zu calls of this connection are under way, no more are allowed (RESOURCE_EXHAUSTED)", calls);
    return false;
}

/* Calls the service, or answers that there is none. */
static void dispatch(const request *from, const char *service, const char *name, const encoding *how, double timeout) {
    bridge *of = from->peer->bridge;
    json_t *arguments = json_object_get(from->message, "args");
    method called = method_find(name);
    const rosapi_service *requested = rosapi_find(name);
    offer *offered = offer_find(of, name, false);
    char error[ROSAPI_ERROR_SIZE];
    if (called) {
        call *made = service_new_call(from, called, how, timeout, begin_response(from, service));
        if (made) {
            call_start(of, made);
        } else {
            fail(from, service, "out of memory (RESOURCE_EXHAUSTED)");
        }
    } else if (strcmp(name, HEALTH_SERVICE) == 0) {
        if (may_call(from, service)) {
            health_service_call(from->peer, how, timeout, begin_response(from, service));
        }
    } else if (requested) {
        json_t *values = rosapi_call(requested, of, arguments, error);
        of->metrics.counters[COUNTER_CALLS]++;
        respond(from, service, how, values ? values : json_string(error), values != NULL);
    } else if (offered) {
        asker by = {.peer = from->peer, .id = from->id, .name = service, .encoding = *how, .timeout = timeout};
        if (may_call(from, service)) {
            offer_call(of, offered, &by, arguments, false);
        }
    } else {
        fail(from, service, "there is no service %s; /rosapi/services lists them (NOT_FOUND)", name);
    }
}

void service_call(const request *from) {
    const json_t *value = json_object_get(from->message, "service");
    const json_t *arguments = json_object_get(from->message, "args"), *time = json_object_get(from->message, "timeout");
    const json_t *packing = json_object_get(from->message, "compression"),
                 *size = json_object_get(from->message, "fragment_size");
    const char *service = json_is_string(value) ? json_string_value(value) : "";
    double limit = from->peer->bridge->config->call_time, timeout = json_number_value(time);
    char name[ROS_NAME_SIZE];
    encoding how = {.fragment_size = (size_t)fmax(0, fmin(json_number_value(size), 1 << 30))};
    if (!ros_name_normalize(service, name)) {
        fail(from, service, "service: a name such as /dynamics/inverse_dynamics is needed (INVALID_ARGUMENT)");
    } else if (arguments && !json_is_object(arguments) && !json_is_array(arguments) && !json_is_null(arguments)) {
        fail(from, service, "args: an object or an array is needed (INVALID_ARGUMENT)");
    } else if (time && !json_is_number(time) && !json_is_null(time)) {
        fail(from, service, "timeout: a number of seconds is needed (INVALID_ARGUMENT)");
    } else if ((size && !json_is_number(size) && !json_is_null(size)) ||
               (packing && !json_is_null(packing) &&
                (!json_is_string(packing) || !parse_compression(json_string_value(packing), &how.compression)))) {
        fail(from, service,
             "fragment_size: a number, compression: one of " COMPRESSIONS " is needed (INVALID_ARGUMENT)");
    } else {
        dispatch(from, service, name, &how, timeout > 0 ? fmin(timeout, limit) : limit);
    }
}

static void offer_service(peer *dialled, const char *service, const char *type) {
    char spelled[ROS_NAME_SIZE];
    ros_type_spelling(type, dialled->bridge->config->ros_version, spelled);
    peer_send(dialled, json_pack("{ss ss ss}", "op", "advertise_service", "service", service, "type", spelled));
}

void services_offer(peer *dialled) {
    offer_service(dialled, HEALTH_SERVICE, HEALTH_TYPE);
    for (size_t i = 0; i < method_count(); i++) {
        char service[METHOD_NAME_SIZE], own[METHOD_NAME_SIZE], type[2 * METHOD_NAME_SIZE];
        method_service(method_get(i), service);
        method_type(method_get(i), own);
        snprintf(type, sizeof type, MESSAGE_PACKAGE "/srv/%s", own);
        offer_service(dialled, service, type);
    }
}
