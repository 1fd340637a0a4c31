/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishes the transforms and the URDF of a simulation's robot for viewers.
 */
#include "simulation_robot.h"

#include <dynamics/v1/derive.pb-c.h>
#include <dynamics/v1/evaluate.pb-c.h>
#include <string.h>

#include "calls.h"
#include "json_text.h"
#include "ros_time.h"
#include "rosout.h"

static const char world[] = "world";

/* Seconds from a failed request to the next one. */
static const double RETRY_TIME = 1;

/* Topics of the robot, with their indices in live_object. */
static const struct {
    int place;
    const char *name, *type;
} topics[] = {
    {SIMULATION_TF, "/tf", "tf2_msgs/msg/TFMessage"},
    {SIMULATION_TF_STATIC, "/tf_static", "tf2_msgs/msg/TFMessage"},
    {SIMULATION_ROBOT_DESCRIPTION, "/robot_description", "std_msgs/msg/String"},
};

enum { TOPICS = sizeof topics / sizeof topics[0] };

void simulation_robot_show(live_simulation *of) {
    for (int i = 0; i < TOPICS; i++) {
        const topic *known = topic_find(of->object.bridge, topics[i].name);
        if (known && (known->is_own || known->publishers)) {
            return;
        }
    }
    for (int i = 0; i < TOPICS; i++) {
        live_object_open_as(&of->object, topics[i].place, topics[i].name, topics[i].type, true, NULL);
    }
    of->robot.is_shown = true;
}

void simulation_robot_free(live_simulation *freed) {
    json_decref(freed->robot.moving);
    json_decref(freed->robot.fixed);
    json_decref(freed->robot.waiting);
    json_decref(freed->robot.pose_q);
}

/* Reports once why a topic has no messages, to its subscribers and to the log, and lets the next check try again. */
static void fail(live_simulation *of, int place, const char *reason) {
    const topic *affected = of->object.topics[place];
    bool *requested = place == SIMULATION_ROBOT_DESCRIPTION ? &of->robot.is_described : &of->robot.is_followed;
    *requested = false;
    of->robot.next_try = monotonic_time() + RETRY_TIME;
    if (of->robot.failed[place]) {
        return;
    }
    of->robot.failed[place] = true;
    for (const subscription *each = affected ? affected->subscriptions : NULL; each; each = each->next) {
        peer_status(each->peer, STATUS_WARNING, NULL, "subscribe: %s: %s", affected->name, reason);
    }
    if (affected) {
        rosout_publish(of->object.bridge, ROSOUT_WARN, "%s: %s", affected->name, reason);
    }
}

/* ---- the tree of links ------------------------------------------------------------------------------------------- */

static void add_edge(json_t *to, const char *parent, const char *child) {
    if (strcmp(parent, child) != 0) {
        json_array_append_new(to, json_pack("[ss]", parent, child));
    }
}

static bool is_child(const Dynamics__V1__ModelDescription *in, const char *link) {
    for (size_t i = 0; i < in->n_joints; i++) {
        if (strcmp(in->joints[i]->child_link, link) == 0) {
            return true;
        }
    }
    return false;
}

static void read_tree(shown_robot *of, const Dynamics__V1__ModelDescription *from) {
    of->moving = json_array();
    of->fixed = json_array();
    for (size_t i = 0; i < from->n_joints; i++) {
        const Dynamics__V1__Joint *joint = from->joints[i];
        bool is_fixed = joint->type == DYNAMICS__V1__JOINT_TYPE__JOINT_TYPE_FIXED;
        add_edge(is_fixed ? of->fixed : of->moving, joint->parent_link, joint->child_link);
    }
    for (size_t i = 0; i < from->n_frames; i++) {
        add_edge(of->fixed, from->frames[i]->link, from->frames[i]->name);
    }
    bool floats = from->base_type == DYNAMICS__V1__BASE__BASE_FLOATING;
    for (size_t i = 0; i < from->n_links; i++) {
        if (!is_child(from, from->links[i]->name)) {
            add_edge(floats ? of->moving : of->fixed, world, from->links[i]->name);
        }
    }
}

/* Adds each link of the pairs [parent, child] once, as a member of the object `links`. */
static void add_links(json_t *links, const json_t *pairs) {
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        for (size_t end = 0; end < 2; end++) {
            json_t *name = json_array_get(json_array_get(pairs, i), end);
            json_object_set(links, json_string_value(name), name);
        }
    }
}

/* ---- transforms -------------------------------------------------------------------------------------------------- */

typedef struct pose {
    double position[3], quaternion[4]; /* x y z w */
} pose;

static void cross(const double a[3], const double b[3], double result[3]) {
    result[0] = a[1] * b[2] - a[2] * b[1];
    result[1] = a[2] * b[0] - a[0] * b[2];
    result[2] = a[0] * b[1] - a[1] * b[0];
}

/* Returns the pose of a child in the frame of its parent: p = R' (c - p), q = conj(q_p) q_c. */
static pose relative(const pose *parent, const pose *child) {
    const double *u = parent->quaternion, *v = child->quaternion, w = u[3];
    double d[3], once[3], twice[3], product[3];
    pose result;
    for (int i = 0; i < 3; i++) {
        d[i] = child->position[i] - parent->position[i];
    }
    cross(u, d, once);
    cross(u, once, twice);
    cross(u, v, product);
    for (int i = 0; i < 3; i++) {
        result.position[i] = d[i] - 2 * w * once[i] + 2 * twice[i];
        result.quaternion[i] = w * v[i] - v[3] * u[i] - product[i];
    }
    result.quaternion[3] = w * v[3] + u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    return result;
}

/* Finds the pose of a link in the world. `links` has the index of each link's result. The frame "world" has none, and
 * the pose of the origin is `found` then. Returns false for a link without a result. */
static bool find_pose(const Dynamics__V1__EvaluateReply *in, const json_t *links, const char *name, pose *found) {
    *found = (pose){.quaternion = {0, 0, 0, 1}};
    const json_t *index = json_object_get(links, name);
    size_t at = (size_t)json_integer_value(index);
    if (!index || at >= in->n_results || in->results[at]->n_blocks != 2 || in->results[at]->blocks[0]->n_values != 3 ||
        in->results[at]->blocks[1]->n_values != 4) {
        return false;
    }
    memcpy(found->position, in->results[at]->blocks[0]->values, sizeof found->position);
    memcpy(found->quaternion, in->results[at]->blocks[1]->values, sizeof found->quaternion);
    return true;
}

static json_t *transform_json(const char *parent, const char *child, double time, const pose *at) {
    return json_pack("{s{so ss} ss s{s{sf sf sf} s{sf sf sf sf}}}", "header", "stamp", ros_time(time), "frame_id",
                     parent, "child_frame_id", child, "transform", "translation", "x", at->position[0], "y",
                     at->position[1], "z", at->position[2], "rotation", "x", at->quaternion[0], "y", at->quaternion[1],
                     "z", at->quaternion[2], "w", at->quaternion[3]);
}

/* Returns a TFMessage with the transform of each pair [parent, child] whose poses are known. */
static json_t *transforms_json(const Dynamics__V1__EvaluateReply *from, const json_t *pairs, double time) {
    json_t *list = json_array(), *links = json_object();
    for (size_t i = 0; i < from->n_results; i++) {
        json_object_set_new(links, from->results[i]->frame, json_integer((json_int_t)i));
    }
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        const char *parent = json_string_value(json_array_get(json_array_get(pairs, i), 0));
        const char *child = json_string_value(json_array_get(json_array_get(pairs, i), 1));
        pose of_parent, of_child;
        if (find_pose(from, links, parent, &of_parent) && find_pose(from, links, child, &of_child)) {
            pose at = relative(&of_parent, &of_child);
            json_array_append_new(list, transform_json(parent, child, time, &at));
        }
    }
    json_decref(links);
    return json_pack("{so}", "transforms", list);
}

/* ---- asking the daemon ------------------------------------------------------------------------------------------- */

static void on_poses(bridge *in, void *user, const ProtobufCMessage *result, const char *reason);

/* Requests the poses of a state. The first request is for all links, later ones for those of moving pairs. */
static void request_poses(live_simulation *of, json_t *q, double time) {
    json_t *links = json_object(), *frames = json_array(), *link;
    const char *name;
    add_links(links, of->robot.moving);
    if (!of->robot.is_fixed_sent) {
        add_links(links, of->robot.fixed);
    }
    json_object_foreach(links, name, link) {
        json_array_append(frames, link);
    }
    json_decref(links);
    of->robot.is_requesting = true;
    of->robot.pose_time = time;
    json_decref(of->robot.pose_q);
    of->robot.pose_q = json_incref(q);
    of->object.questions++;
    call_send(of->object.bridge, "/dynamics/evaluate",
              json_pack("{s{ss sO} so s[{ss so}]}", "query", "model", of->object.digest, "joint_names",
                        of->object.joint_names, "q", q, "quantities", "quantity", "QUANTITY_FRAME_POSE", "frames",
                        frames),
              LIVE_REQUEST_TIME, on_poses, of);
}

/* Requests the poses of a state, now or after the request in progress, and publishes the transforms. Takes ownership of
 * `q`. */
static void follow(live_simulation *of, json_t *q, double time) {
    shown_robot *robot = &of->robot;
    bool has_links = json_array_size(robot->moving) > 0 || (!robot->is_fixed_sent && json_array_size(robot->fixed) > 0);
    if (!has_links) {
        json_decref(q);
    } else if (robot->is_requesting) {
        json_decref(robot->waiting);
        robot->waiting = q;
        robot->waiting_time = time;
    } else {
        request_poses(of, q, time);
    }
}

static void on_poses(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_simulation *of = user;
    shown_robot *robot = &of->robot;
    const Dynamics__V1__EvaluateReply *poses = (const Dynamics__V1__EvaluateReply *)result;
    (void)in;
    robot->is_requesting = false;
    if (live_object_answered(&of->object)) {
        return;
    }
    if (!poses) {
        fail(of, SIMULATION_TF, reason);
        return;
    }
    if (!robot->is_fixed_sent) {
        live_object_publish(&of->object, SIMULATION_TF_STATIC, transforms_json(poses, robot->fixed, robot->pose_time));
        robot->is_fixed_sent = true;
    }
    robot->failed[SIMULATION_TF] = false;
    live_object_publish(&of->object, SIMULATION_TF, transforms_json(poses, robot->moving, robot->pose_time));
    json_t *next = robot->waiting;
    robot->waiting = NULL;
    if (next) {
        follow(of, next, robot->waiting_time);
    }
}

static json_t *row_json(const double *row, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_real(row[i]));
    }
    return list;
}

/* Publishes the transforms of a state that was requested. Omits a state whose transforms are published already, or that
 * an event has overtaken. */
static void follow_reply(live_simulation *of, const Dynamics__V1__SimulationState *state) {
    shown_robot *robot = &of->robot;
    json_t *q = row_json(state->q, state->n_q);
    bool is_shown = state->time == robot->pose_time && json_equal(q, robot->pose_q);
    if (robot->is_fixed_sent && (is_shown || robot->has_event)) {
        json_decref(q);
    } else {
        follow(of, q, state->time);
    }
}

static void on_state(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_simulation *of = user;
    const Dynamics__V1__GetSimulationStateReply *reply = (const Dynamics__V1__GetSimulationStateReply *)result;
    (void)in;
    of->robot.is_state_requested = false;
    if (live_object_answered(&of->object)) {
        return;
    }
    if (reply && reply->state) {
        follow_reply(of, reply->state);
    } else {
        fail(of, SIMULATION_TF, reason);
    }
}

/* Requests the present state, since a simulation that is paused publishes none. */
static void request_state(live_simulation *of) {
    of->robot.is_state_requested = true;
    of->robot.has_event = false;
    of->object.questions++;
    call_send(of->object.bridge, "/dynamics/get_simulation_state", json_pack("{ss}", "simulation", of->object.name),
              LIVE_REQUEST_TIME, on_state, of);
}

static void on_tree(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_simulation *of = user;
    const Dynamics__V1__ExportModelReply *reply = (const Dynamics__V1__ExportModelReply *)result;
    (void)in;
    if (live_object_answered(&of->object)) {
        return;
    }
    if (reply && reply->form_case == DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_DESCRIPTION) {
        if (!of->robot.moving) {
            read_tree(&of->robot, reply->description);
        }
        request_state(of);
    } else {
        fail(of, SIMULATION_TF, reason);
    }
}

static void on_urdf(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_simulation *of = user;
    const Dynamics__V1__ExportModelReply *reply = (const Dynamics__V1__ExportModelReply *)result;
    (void)in;
    if (live_object_answered(&of->object)) {
        return;
    }
    if (reply && reply->form_case == DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_URDF) {
        live_object_publish(&of->object, SIMULATION_ROBOT_DESCRIPTION,
                            json_pack("{so}", "data", json_text(reply->urdf)));
    } else {
        fail(of, SIMULATION_ROBOT_DESCRIPTION, reason);
    }
}

static void request_export(live_simulation *of, const char *format, question_end on_result) {
    of->object.questions++;
    call_send(of->object.bridge, "/dynamics/export_model",
              json_pack("{ss ss}", "model", of->object.digest, "format", format), LIVE_REQUEST_TIME, on_result, of);
}

/* ---- following the subscribers ----------------------------------------------------------------------------------- */

void simulation_robot_check(live_simulation *checked) {
    shown_robot *robot = &checked->robot;
    bool is_described = live_object_is_read(&checked->object, SIMULATION_ROBOT_DESCRIPTION);
    bool is_followed = live_object_is_read(&checked->object, SIMULATION_TF) ||
                       live_object_is_read(&checked->object, SIMULATION_TF_STATIC);
    bool may_request = monotonic_time() >= robot->next_try;
    if (is_described && !robot->is_described && may_request) {
        robot->is_described = true;
        request_export(checked, "MODEL_FORMAT_URDF", on_urdf);
    }
    if (is_followed && !robot->is_followed && may_request) {
        robot->is_followed = true;
        if (robot->moving) {
            request_state(checked);
        } else {
            request_export(checked, "MODEL_FORMAT_DESCRIPTION", on_tree);
        }
    } else if (is_followed && robot->is_fixed_sent && !robot->has_event && !robot->is_state_requested && may_request) {
        request_state(checked);
    }
    robot->has_event = false;
    robot->is_described &= is_described;
    robot->is_followed &= is_followed;
    robot->failed[SIMULATION_ROBOT_DESCRIPTION] &= is_described;
    robot->failed[SIMULATION_TF] &= is_followed;
}

void simulation_robot_publish(live_simulation *of, const Dynamics__V1__SimulationStateEvent *event) {
    size_t states = event->n_time, nq = states > 0 ? event->n_q / states : 0;
    of->robot.has_event = true;
    if (nq > 0 && of->robot.moving && of->robot.is_followed && live_object_is_due(&of->object, SIMULATION_TF)) {
        follow(of, row_json(event->q + (states - 1) * nq, nq), event->time[states - 1]);
    }
}
