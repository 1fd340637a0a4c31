/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports the graph of topics, services, actions and nodes for rosapi. The daemon is the node /dynamicsd, the gateway
 * is /dynamics_rosbridge, and each connection is /client_N.
 */
#ifndef ROSBRIDGE_GRAPH_H
#define ROSBRIDGE_GRAPH_H

#include "peer.h"
#include "ros_names.h"

/* Returns the names of all topics; `types` receives their types in the same order. */
json_t *graph_topics(bridge *of, json_t **types);
json_t *graph_topics_of_type(bridge *of, const char *type);

/* Returns the services of one type, or of all types (NULL). */
json_t *graph_services(bridge *of, const char *type);
json_t *graph_actions(bridge *of);
json_t *graph_nodes(bridge *of);

/* Returns the nodes that publish a topic: connections, and the daemon for topics of the gateway. */
json_t *graph_publishers(bridge *of, const char *topic);

/* Returns the nodes that subscribe to a topic: connections, and the daemon for topics that the gateway reads. */
json_t *graph_subscribers(bridge *of, const char *topic);

/* Writes the type of a topic in the configured spelling, or an empty text if there is no such topic. */
void graph_topic_type(bridge *of, const char *topic, char type[ROS_NAME_SIZE]);

/* Writes the type of a service in the configured spelling, or an empty text if there is no such service. */
void graph_service_type(bridge *of, const char *service, char type[ROS_NAME_SIZE]);

/* Writes the node that offers a service, or an empty text if there is no such service. */
void graph_service_node(bridge *of, const char *service, char node[ROS_NAME_SIZE]);

/* Returns {subscribing, publishing, services}, or NULL if there is no such node. */
json_t *graph_node_details(bridge *of, const char *node);

#endif
