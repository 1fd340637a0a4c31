/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens topics for the streams of the daemon and publishes their events.
 */
#include "live_streams.h"

#include <dynamics/v1/stream.pb-c.h>
#include <stdlib.h>

#include "calls.h"
#include "message_json.h"
#include "stream_trajectory.h"

static void begin(live_streams *in, const Dynamics__V1__StreamSummary *summary) {
    live_stream *added = calloc(1, sizeof *added);
    if (!added) {
        return;
    }
    live_object *object = &added->object;
    live_object_init(object, in->bridge, in->reader, "stream", summary->name, summary->digest, summary->n_joint_names,
                     summary->joint_names);
    object->on_free = stream_trajectory_free;
    object->generation = in->generation;
    object->created = summary->created_ns;
    if (summary->kind == DYNAMICS__V1__STREAM_KIND__STREAM_KIND_FEEDFORWARD) {
        live_object_open(object, STREAM_EFFORT, "effort", "sensor_msgs/msg/JointState", false, NULL);
        live_object_open(object, STREAM_TORQUES, "torques", "dynamics_msgs/msg/StreamTorques", false, NULL);
    }
    live_object_open(object, STREAM_EVENTS, "events", "dynamics_msgs/msg/StreamEvent", false, NULL);
    live_object_open(object, STREAM_TRAJECTORY, "joint_trajectory", "trajectory_msgs/msg/JointTrajectory", false,
                     stream_trajectory);
    object->next = in->first;
    in->first = object;
}

void live_streams_list(live_streams *of, const Dynamics__V1__ListStreamsReply *list) {
    of->generation++;
    for (size_t i = 0; i < list->n_streams; i++) {
        live_object *known = live_object_find(of->first, list->streams[i]->name);
        if (known && known->created == list->streams[i]->created_ns) {
            known->generation = of->generation;
        }
    }
    live_object_sweep(&of->first, of->generation);
    for (size_t i = 0; i < list->n_streams; i++) {
        if (!live_object_find(of->first, list->streams[i]->name) &&
            live_object_is_free(of->bridge, "stream", list->streams[i]->name)) {
            begin(of, list->streams[i]);
        }
    }
}

static void on_list(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_streams *of = user;
    (void)in, (void)reason;
    of->is_requesting = false;
    if (result) {
        live_streams_list(of, (const Dynamics__V1__ListStreamsReply *)result);
    }
}

void live_streams_request(live_streams *of) {
    if (of->is_requesting) {
        return;
    }
    of->is_requesting = true;
    call_send(of->bridge, "/dynamics/list_streams", NULL, LIVE_REQUEST_TIME, on_list, of);
}

void live_streams_check(live_streams *checked) {
    for (live_object *each = checked->first; each; each = each->next) {
        live_object_check(each);
    }
}

/* Publishes the torques of each point as a JointState. Its stamp is the time of the point. */
static void publish_effort(const live_object *of, const Dynamics__V1__StreamTorques *event) {
    if (of->coordinates.nv == 0 || event->n_tau != event->n_time * of->coordinates.nv) {
        return;
    }
    for (size_t i = 0; i < event->n_time; i++) {
        live_object_publish(
            of, STREAM_EFFORT,
            live_object_joint_state(of, event->time[i], NULL, NULL, event->tau + i * of->coordinates.nv));
    }
}

bool live_streams_publish(live_streams *of, const Dynamics__V1__Event *event) {
    if (event->event_case == DYNAMICS__V1__EVENT__EVENT_STREAM_TORQUES) {
        const Dynamics__V1__StreamTorques *torques = event->stream_torques;
        live_object *known = live_object_find(of->first, torques->stream);
        if (!known) {
            return false;
        }
        if (live_object_is_read(known, STREAM_EFFORT)) {
            publish_effort(known, torques);
        }
        if (live_object_is_read(known, STREAM_TORQUES)) {
            live_object_publish(known, STREAM_TORQUES, message_to_tree(MESSAGE_ROS, &torques->base));
        }
        return true;
    }
    if (event->event_case != DYNAMICS__V1__EVENT__EVENT_STREAM_EVENT) {
        return false;
    }
    const Dynamics__V1__StreamEvent *received = event->stream_event;
    live_object *known = live_object_find(of->first, received->stream);
    if (!known) {
        return false;
    }
    live_object_publish(known, STREAM_EVENTS, message_to_tree(MESSAGE_ROS, &received->base));
    bool has_ended = received->kind == DYNAMICS__V1__STREAM_EVENT__KIND__KIND_CLOSED ||
                     received->kind == DYNAMICS__V1__STREAM_EVENT__KIND__KIND_EXPIRED;
    if (has_ended) {
        live_streams_request(of);
    }
    return true;
}

void live_streams_stop(live_streams *stopped) {
    live_object_sweep(&stopped->first, UINT64_MAX);
}
