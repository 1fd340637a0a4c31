/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads trajectory_msgs/JointTrajectory as points of a stream.
 *
 *   joint_names      every coordinate once, in any order: see coordinates.h.
 *   points           positions, velocities, accelerations and effort: q, v, a and tau, a number for each name, or none;
 *                    what the first point has, all have.
 *   time_from_start  t of a point: the planner's own time; simulated time where the stream is input of a simulation.
 *   header.frame_id  the key that OpenStream returned: its holder pushes points. header.stamp is not used.
 *
 * The trajectories of a stream are pushed one after another, each after the daemon has checked the one before. The
 * numbers of their points continue after the last point of the stream. A status reports errors.
 */
#ifndef ROSBRIDGE_STREAM_TRAJECTORY_H
#define ROSBRIDGE_STREAM_TRAJECTORY_H

#include <dynamics_client.h>

#include "live_object.h"

struct trajectory;

typedef struct live_stream {
    live_object object;
    dyn_client_stream *pusher; /* used by the task under way while is_pushing; NULL: the stream is not joined yet */
    uint64_t key;              /* key with which the gateway joined the stream */
    bool is_pushing;
    struct trajectory *first; /* trajectory in progress, or next one */
    size_t waiting, values;   /* number of trajectories, and of the numbers in them */
} live_stream;

/* Reads a message of the topic (a topic_reader). The topic's user is a live_stream. A later status reports what the
 * daemon refuses. */
bool stream_trajectory(peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]);

/* Frees the members of a live_stream other than `object`, and reports that its waiting trajectories are dropped. */
void stream_trajectory_free(live_object *freed);

#endif
