/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trajectory_msgs/JointTrajectory as points of a stream.
 *
 *   joint_names      every coordinate once, in any order: see coordinates.h.
 *   points           positions, velocities, accelerations and effort: q, v, a and tau, a number for each name, or none;
 *                    what the first point has, all have.
 *   time_from_start  t of a point: the planner's own time; simulated time where the stream is input of a simulation.
 *   header.frame_id  the key that OpenStream returned: who has it pushes points. header.stamp is not used.
 *
 * The trajectories of a stream are pushed one after another, each once the daemon has judged the one before. Their
 * points are numbered on from the last that came. What goes wrong with them is told by a status.
 */
#ifndef ROSBRIDGE_STREAM_TRAJECTORY_H
#define ROSBRIDGE_STREAM_TRAJECTORY_H

#include <dynamics_client.h>

#include "live_object.h"

struct trajectory;

typedef struct live_stream {
    live_object object;
    dyn_client_stream *pusher; /* of the task under way while is_pushing; NULL: not joined yet */
    uint64_t key;              /* that it was joined with */
    bool is_pushing;
    struct trajectory *first; /* is pushed, or to be pushed next */
    size_t waiting, values;   /* trajectories, and numbers in them */
} live_stream;

/* A topic_reader; the topic's user is a live_stream. What the daemon refuses is told by a status later. */
bool stream_trajectory(peer *from, topic *to, const json_t *message, char error[TOPIC_ERROR_SIZE]);

/* Frees what a live_stream has beside its object. */
void stream_trajectory_free(live_object *freed);

#endif
