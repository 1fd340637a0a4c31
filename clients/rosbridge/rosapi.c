/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers the services of rosapi from the graph, the message types and the clock.
 */
#include "rosapi.h"

#include <stdio.h>
#include <string.h>

#include "graph.h"
#include "ros_details.h"
#include "ros_names.h"
#include "ros_time.h"

/* Function that returns the values of a service, or NULL if the object that `argument` names does not exist. `argument`
 * is the service's only argument, or "" if that is absent. */
typedef json_t *(*answer)(bridge *of, const char *argument);

struct rosapi_service {
    const char *name, *argument;
    answer answer;
};

static json_t *pair(const char *a, json_t *a_list, const char *b, json_t *b_list) {
    return json_pack("{so so}", a, a_list, b, b_list);
}

static json_t *topics(bridge *of, const char *argument) {
    (void)argument;
    json_t *types, *names = graph_topics(of, &types);
    return pair("topics", names, "types", types);
}

static json_t *topics_and_raw_types(bridge *of, const char *argument) {
    (void)argument;
    json_t *types, *names = graph_topics(of, &types), *texts = json_array(), *type;
    size_t i;
    json_array_foreach(types, i, type) {
        json_array_append_new(texts, ros_definition_text(json_string_value(type), of->config->ros_version));
    }
    return json_pack("{so so so}", "topics", names, "types", types, "typedefs_full_text", texts);
}

static json_t *services(bridge *of, const char *argument) {
    (void)argument;
    return json_pack("{so}", "services", graph_services(of, NULL));
}

static json_t *services_for_type(bridge *of, const char *argument) {
    char type[ROS_NAME_SIZE];
    ros_type_normalize(argument, "srv", type);
    return json_pack("{so}", "services", graph_services(of, type));
}

static json_t *topics_for_type(bridge *of, const char *argument) {
    char type[ROS_NAME_SIZE];
    ros_type_normalize(argument, "msg", type);
    return json_pack("{so}", "topics", graph_topics_of_type(of, type));
}

static json_t *nodes(bridge *of, const char *argument) {
    (void)argument;
    return json_pack("{so}", "nodes", graph_nodes(of));
}

static json_t *node_details(bridge *of, const char *argument) {
    return graph_node_details(of, argument);
}

static json_t *topic_type(bridge *of, const char *argument) {
    char type[ROS_NAME_SIZE];
    graph_topic_type(of, argument, type);
    return json_pack("{ss}", "type", type);
}

static json_t *service_type(bridge *of, const char *argument) {
    char type[ROS_NAME_SIZE];
    graph_service_type(of, argument, type);
    return json_pack("{ss}", "type", type);
}

static json_t *publishers(bridge *of, const char *argument) {
    return json_pack("{so}", "publishers", graph_publishers(of, argument));
}

static json_t *subscribers(bridge *of, const char *argument) {
    return json_pack("{so}", "subscribers", graph_subscribers(of, argument));
}

static json_t *service_node(bridge *of, const char *argument) {
    char node[ROS_NAME_SIZE];
    graph_service_node(of, argument, node);
    return json_pack("{ss}", "node", node);
}

static json_t *service_providers(bridge *of, const char *argument) {
    char type[ROS_NAME_SIZE];
    ros_type_normalize(argument, "srv", type);
    return json_pack("{so}", "providers", graph_services(of, type));
}

static json_t *action_servers(bridge *of, const char *argument) {
    (void)argument;
    return json_pack("{so}", "action_servers", graph_actions(of));
}

static json_t *message_details(bridge *of, const char *argument) {
    return json_pack("{so}", "typedefs", ros_type_details(argument, of->config->ros_version));
}

static json_t *half_details(bridge *of, const char *argument, const char *half) {
    char type[ROS_NAME_SIZE], whole[ROS_NAME_SIZE + 16];
    ros_type_normalize(argument, "srv", type);
    snprintf(whole, sizeof whole, "%s%s", type, half);
    return json_pack("{so}", "typedefs", ros_type_details(whole, of->config->ros_version));
}

static json_t *service_request_details(bridge *of, const char *argument) {
    return half_details(of, argument, "_Request");
}

static json_t *service_response_details(bridge *of, const char *argument) {
    return half_details(of, argument, "_Response");
}

static json_t *get_time(bridge *of, const char *argument) {
    (void)argument;
    return json_pack("{so}", "time", ros_time_now(of->config->ros_version == 1));
}

static json_t *get_ros_version(bridge *of, const char *argument) {
    (void)argument;
    return json_pack("{si ss}", "version", (int)of->config->ros_version, "distro", "dynamicsd");
}

/* Returns an empty list, since the gateway has no parameters. */
static json_t *get_param_names(bridge *of, const char *argument) {
    (void)of, (void)argument;
    return json_pack("{s[]}", "names");
}

static json_t *has_param(bridge *of, const char *argument) {
    (void)of, (void)argument;
    return json_pack("{sb}", "exists", 0);
}

static json_t *get_param(bridge *of, const char *argument) {
    (void)of, (void)argument;
    return json_pack("{ss sb ss}", "value", "", "successful", 0, "reason", "the gateway has no parameters");
}

static json_t *set_param(bridge *of, const char *argument) {
    (void)of, (void)argument;
    return json_pack("{sb ss}", "successful", 0, "reason", "the gateway has no parameters");
}

#define ROSAPI_SERVICE(name, argument, type, function) {#name, argument, function},
static const rosapi_service all[] = {
#include "rosapi_services.inc"
};
#undef ROSAPI_SERVICE

enum { SERVICES = sizeof all / sizeof all[0] };

static const char prefix[] = "/rosapi/";

const rosapi_service *rosapi_find(const char *name) {
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < SERVICES; i++) {
        if (strcmp(all[i].name, name + sizeof prefix - 1) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

json_t *rosapi_call(const rosapi_service *called, bridge *of, const json_t *arguments, char error[ROSAPI_ERROR_SIZE]) {
    const json_t *argument = json_is_array(arguments) ? json_array_get(arguments, 0)
                             : called->argument       ? json_object_get(arguments, called->argument)
                                                      : NULL;
    if (called->argument && !json_is_string(argument)) {
        snprintf(error, ROSAPI_ERROR_SIZE, "args.%s: a string is needed (INVALID_ARGUMENT)", called->argument);
        return NULL;
    }
    json_t *values = called->answer(of, json_is_string(argument) ? json_string_value(argument) : "");
    if (!values) {
        snprintf(error, ROSAPI_ERROR_SIZE, "args.%s: there is no such %s (NOT_FOUND)", called->argument,
                 called->argument);
    }
    return values;
}
