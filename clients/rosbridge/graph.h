/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The graph of topics, services, actions and nodes, as rosapi reports it. The daemon is the node /dynamicsd, the
 * gateway is /dynamics_rosbridge, and each connection is /client_N.
 */
#ifndef ROSBRIDGE_GRAPH_H
#define ROSBRIDGE_GRAPH_H

#include "peer.h"
#include "ros_names.h"

/* Returns the names of topics and, in the same order, their types. */
json_t *graph_topics(bridge *of, json_t **types);
json_t *graph_topics_of_type(bridge *of, const char *type);

/* Returns the services of one type, or of all types (NULL). */
json_t *graph_services(bridge *of, const char *type);
json_t *graph_actions(bridge *of);
json_t *graph_nodes(bridge *of);

/* Returns the connections that publish (or subscribe to) a topic. */
json_t *graph_publishers(bridge *of, const char *topic);
json_t *graph_subscribers(bridge *of, const char *topic);

/* Writes a type in the configured spelling, or an empty text if there is no such topic. */
void graph_topic_type(bridge *of, const char *topic, char type[ROS_NAME_SIZE]);
void graph_service_type(bridge *of, const char *service, char type[ROS_NAME_SIZE]);
void graph_service_node(bridge *of, const char *service, char node[ROS_NAME_SIZE]);

/* Returns {subscribing, publishing, services}, or NULL if there is no such node. */
json_t *graph_node_details(bridge *of, const char *node);

#endif
