/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists topics, services, actions and nodes with their types and relations.
 */
#include "graph.h"

#include <stdio.h>
#include <string.h>

#include "health_service.h"
#include "methods.h"
#include "offers.h"
#include "rosapi_names.h"
#include "topics.h"

static const char daemon_node[] = "/dynamicsd", own_node[] = "/dynamics_rosbridge";

static void node_of(const peer *of, char node[ROS_NAME_SIZE]) {
    snprintf(node, ROS_NAME_SIZE, "/client_%llu", (unsigned long long)of->number);
}

/* Appends a string. */
static void add(json_t *to, const char *text) {
    json_array_append_new(to, json_string(text));
}

static void add_node(json_t *to, const peer *of) {
    char node[ROS_NAME_SIZE];
    node_of(of, node);
    add(to, node);
}

/* Appends a type in the configured spelling. */
static void add_type(json_t *to, bridge *of, const char *type) {
    char spelled[ROS_NAME_SIZE];
    ros_type_spelling(type, of->config->ros_version, spelled);
    add(to, spelled);
}

json_t *graph_topics(bridge *of, json_t **types) {
    json_t *names = json_array();
    *types = json_array();
    for (topic *each = of->topics; each; each = each->next) {
        add(names, each->name);
        add_type(*types, of, each->type);
    }
    return names;
}

json_t *graph_topics_of_type(bridge *of, const char *type) {
    json_t *names = json_array();
    for (topic *each = of->topics; each; each = each->next) {
        if (strcmp(each->type, type) == 0) {
            add(names, each->name);
        }
    }
    return names;
}

/* Callback for each service, with its type and node. */
typedef void (*service_visitor)(void *user, const char *name, const char *type, const char *node);

static void each_service(bridge *of, service_visitor visit, void *user) {
    char name[ROS_NAME_SIZE], type[ROS_NAME_SIZE], own[METHOD_NAME_SIZE], node[ROS_NAME_SIZE];
    for (size_t i = 0; i < method_count(); i++) {
        method_service(method_get(i), name);
        method_type(method_get(i), own);
        snprintf(type, sizeof type, MESSAGE_PACKAGE "/srv/%s", own);
        visit(user, name, type, daemon_node);
    }
    visit(user, HEALTH_SERVICE, HEALTH_TYPE, own_node);
    for (size_t i = 0; rosapi_name(i, type); i++) {
        snprintf(name, sizeof name, "/rosapi/%s", rosapi_name(i, type));
        visit(user, name, type, own_node);
    }
    for (offer *each = of->offers; each; each = each->next) {
        node_of(each->provider, node);
        if (!each->is_action) {
            visit(user, each->name, each->type, node);
        }
    }
}

typedef struct search {
    const char *type, *name, *node; /* filter; NULL: any */
    json_t *names;
    char found_type[ROS_NAME_SIZE], found_node[ROS_NAME_SIZE];
} search;

static void store_match(void *user, const char *name, const char *type, const char *node) {
    search *s = user;
    bool is_meant = (!s->type || strcmp(s->type, type) == 0) && (!s->name || strcmp(s->name, name) == 0) &&
                    (!s->node || strcmp(s->node, node) == 0);
    if (!is_meant) {
        return;
    }
    snprintf(s->found_type, sizeof s->found_type, "%s", type);
    snprintf(s->found_node, sizeof s->found_node, "%s", node);
    if (s->names) {
        add(s->names, name);
    }
}

json_t *graph_services(bridge *of, const char *type) {
    search s = {.type = type, .names = json_array()};
    each_service(of, store_match, &s);
    return s.names;
}

static search find_service(bridge *of, const char *service) {
    char name[ROS_NAME_SIZE] = "";
    search s = {.name = name};
    ros_name_normalize(service, name);
    each_service(of, store_match, &s);
    s.name = NULL;
    return s;
}

void graph_service_type(bridge *of, const char *service, char type[ROS_NAME_SIZE]) {
    search s = find_service(of, service);
    ros_type_spelling(s.found_type, of->config->ros_version, type);
}

void graph_service_node(bridge *of, const char *service, char node[ROS_NAME_SIZE]) {
    search s = find_service(of, service);
    snprintf(node, ROS_NAME_SIZE, "%s", s.found_node);
}

json_t *graph_actions(bridge *of) {
    char name[METHOD_NAME_SIZE];
    json_t *names = json_array();
    for (size_t i = 0; i < method_count(); i++) {
        method_service(method_get(i), name);
        add(names, name);
    }
    for (offer *each = of->offers; each; each = each->next) {
        if (each->is_action) {
            add(names, each->name);
        }
    }
    return names;
}

json_t *graph_nodes(bridge *of) {
    json_t *names = json_pack("[ss]", daemon_node, own_node);
    for (peer *each = of->peers; each; each = each->next) {
        add_node(names, each);
    }
    return names;
}

static topic *topic_named(bridge *of, const char *name) {
    char normalized[ROS_NAME_SIZE];
    return ros_name_normalize(name, normalized) ? topic_find(of, normalized) : NULL;
}

json_t *graph_publishers(bridge *of, const char *name) {
    json_t *names = json_array();
    topic *found = topic_named(of, name);
    if (found && found->is_own && !found->read) {
        add(names, daemon_node);
    }
    for (publisher *each = found ? found->publishers : NULL; each; each = each->next) {
        add_node(names, each->peer);
    }
    return names;
}

json_t *graph_subscribers(bridge *of, const char *name) {
    json_t *names = json_array();
    topic *found = topic_named(of, name);
    if (found && found->read) {
        add(names, daemon_node);
    }
    for (subscription *each = found ? found->subscriptions : NULL; each; each = each->next) {
        add_node(names, each->peer);
    }
    return names;
}

void graph_topic_type(bridge *of, const char *name, char type[ROS_NAME_SIZE]) {
    topic *found = topic_named(of, name);
    ros_type_spelling(found ? found->type : "", of->config->ros_version, type);
}

/* Returns true if the list contains the node. Releases the list. */
static bool is_among(json_t *names, const char *node) {
    bool found = false;
    for (size_t i = 0; i < json_array_size(names); i++) {
        found |= strcmp(json_string_value(json_array_get(names, i)), node) == 0;
    }
    json_decref(names);
    return found;
}

json_t *graph_node_details(bridge *of, const char *name) {
    char node[ROS_NAME_SIZE];
    if (!ros_name_normalize(name, node) || !is_among(graph_nodes(of), node)) {
        return NULL;
    }
    json_t *publishing = json_array(), *subscribing = json_array();
    search s = {.node = node, .names = json_array()};
    each_service(of, store_match, &s);
    for (topic *each = of->topics; each; each = each->next) {
        if (is_among(graph_publishers(of, each->name), node)) {
            add(publishing, each->name);
        }
        if (is_among(graph_subscribers(of, each->name), node)) {
            add(subscribing, each->name);
        }
    }
    return json_pack("{so so so}", "subscribing", subscribing, "publishing", publishing, "services", s.names);
}
