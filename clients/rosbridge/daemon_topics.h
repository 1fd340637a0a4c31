/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Topics of the daemon: its health, its models, and its simulations and streams, which come and go.
 *
 *   /diagnostics                               diagnostic_msgs/DiagnosticArray, latched
 *   /dynamics/models                           dynamics_msgs/ModelEvent
 *   /dynamics/simulations/NAME/joint_states    sensor_msgs/JointState of joints with one coordinate, latched
 *   /dynamics/simulations/NAME/state           dynamics_msgs/SimulationStateEvent: all coordinates
 *   /dynamics/simulations/NAME/events          dynamics_msgs/SimulationEvent
 *   /dynamics/simulations/NAME/command         sensor_msgs/JointState that clients publish: see simulation_command.h
 *   /dynamics/simulations/NAME/wrench          geometry_msgs/WrenchStamped to be published: see simulation_wrench.h
 *   /dynamics/streams/NAME/joint_trajectory    trajectory_msgs/JointTrajectory to be published: stream_trajectory.h
 *   /dynamics/streams/NAME/effort              sensor_msgs/JointState: the torques of each point, of feedforward
 *   /dynamics/streams/NAME/torques             dynamics_msgs/StreamTorques: all coordinates, with the points' numbers
 *   /dynamics/streams/NAME/events              dynamics_msgs/StreamEvent
 *
 * The gateway watches a simulation or a stream while a client reads one of its topics.
 */
#ifndef ROSBRIDGE_DAEMON_TOPICS_H
#define ROSBRIDGE_DAEMON_TOPICS_H

#include "live_simulations.h"
#include "live_streams.h"

typedef struct daemon_topics daemon_topics;

/* Topics to which the events of the daemon go. */
typedef struct event_topics {
    bridge *bridge;
    struct topic *models;
    live_simulations simulations;
    live_streams streams;
} event_topics;

/* Publishes an event to the subscribers of its topic; an event_handler. `user` is the event_topics. */
void event_topics_publish(void *user, const char *name, const Dynamics__V1__Event *event);

/* Opens the topics. On failure returns NULL, and `error`, of CONFIG_ERROR_SIZE, names the cause. */
daemon_topics *daemon_topics_start(bridge *of, char *error);

/* Requests the health and the lists of simulations and streams, and watches the topics that are read. Called
 * periodically. */
void daemon_topics_check(daemon_topics *checked, double now);

void daemon_topics_stop(daemon_topics *stopped);

#endif
