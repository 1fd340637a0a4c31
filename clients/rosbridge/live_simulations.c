/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens topics for the simulations of the daemon and publishes their events.
 */
#include "live_simulations.h"

#include <dynamics/v1/simulation.pb-c.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "message_json.h"
#include "simulation_command.h"
#include "simulation_robot.h"
#include "simulation_wrench.h"

static void free_inputs(live_object *freed) {
    live_simulation *of = (live_simulation *)freed;
    simulation_command_free(of);
    simulation_wrench_free(of);
    simulation_robot_free(of);
}

static void begin(live_simulations *in, const Dynamics__V1__SimulationSummary *summary) {
    live_simulation *made = calloc(1, sizeof *made);
    if (!made) {
        return;
    }
    live_object *added = &made->object;
    live_object_init(added, in->bridge, in->reader, "simulation", summary->name, summary->digest,
                     summary->n_joint_names, summary->joint_names);
    added->on_free = free_inputs;
    added->generation = in->generation;
    added->created = summary->created_ns;
    live_object_open(added, SIMULATION_JOINT_STATES, "joint_states", "sensor_msgs/msg/JointState", true, NULL);
    live_object_open(added, SIMULATION_STATE, "state", "dynamics_msgs/msg/SimulationStateEvent", false, NULL);
    live_object_open(added, SIMULATION_EVENTS, "events", "dynamics_msgs/msg/SimulationEvent", false, NULL);
    live_object_open(added, SIMULATION_COMMAND, "command", "sensor_msgs/msg/JointState", false, simulation_command);
    live_object_open(added, SIMULATION_WRENCH, "wrench", "geometry_msgs/msg/WrenchStamped", false, simulation_wrench);
    added->next = in->first;
    in->first = added;
}

/* Shows the robot of a simulation, if none is shown: the one of the configured name, or the oldest. */
static void show_robot(const live_simulations *of) {
    const char *wanted = of->bridge->config->simulation;
    live_simulation *chosen = NULL;
    for (live_object *each = of->first; each; each = each->next) {
        live_simulation *known = (live_simulation *)each;
        if (known->robot.is_shown) {
            return;
        }
        bool is_wanted = strcmp(wanted, "*") == 0 || strcmp(wanted, each->name) == 0;
        if (is_wanted && (!chosen || each->created < chosen->object.created)) {
            chosen = known;
        }
    }
    if (chosen) {
        simulation_robot_show(chosen);
    }
}

void live_simulations_list(live_simulations *of, const Dynamics__V1__ListSimulationsReply *list) {
    of->generation++;
    for (size_t i = 0; i < list->n_simulations; i++) {
        live_object *known = live_object_find(of->first, list->simulations[i]->name);
        if (known && known->created == list->simulations[i]->created_ns) {
            known->generation = of->generation;
        }
    }
    live_object_sweep(&of->first, of->generation);
    for (size_t i = 0; i < list->n_simulations; i++) {
        if (!live_object_find(of->first, list->simulations[i]->name) &&
            live_object_is_free(of->bridge, "simulation", list->simulations[i]->name)) {
            begin(of, list->simulations[i]);
        }
    }
    show_robot(of);
}

static void on_list(bridge *in, void *user, const ProtobufCMessage *result, const char *reason) {
    live_simulations *of = user;
    (void)in, (void)reason;
    of->is_requesting = false;
    if (result) {
        live_simulations_list(of, (const Dynamics__V1__ListSimulationsReply *)result);
    }
}

void live_simulations_request(live_simulations *of) {
    if (of->is_requesting) {
        return;
    }
    of->is_requesting = true;
    call_send(of->bridge, "/dynamics/list_simulations", NULL, LIVE_REQUEST_TIME, on_list, of);
}

void live_simulations_check(live_simulations *checked) {
    for (live_object *each = checked->first; each; each = each->next) {
        live_object_check(each);
        simulation_robot_check((live_simulation *)each);
    }
}

/* Returns the last state of an event as a JointState whose stamp is the simulated time, or NULL if the event does not
 * match the known coordinates. */
static json_t *joint_state(const live_object *of, const Dynamics__V1__SimulationStateEvent *event) {
    size_t states = event->n_time;
    if (states == 0 || of->coordinates.nq == 0 || event->n_q != states * of->coordinates.nq ||
        event->n_v != states * of->coordinates.nv) {
        return NULL;
    }
    const double *q = event->q + (states - 1) * of->coordinates.nq, *v = event->v + (states - 1) * of->coordinates.nv;
    const double *tau = event->n_tau == event->n_v ? event->tau + (states - 1) * of->coordinates.nv : NULL;
    return live_object_joint_state(of, event->time[states - 1], q, v, tau);
}

bool live_simulations_publish(live_simulations *of, const Dynamics__V1__Event *event) {
    if (event->event_case == DYNAMICS__V1__EVENT__EVENT_SIMULATION_STATE) {
        const Dynamics__V1__SimulationStateEvent *state = event->simulation_state;
        live_object *known = live_object_find(of->first, state->simulation);
        if (!known) {
            return false;
        }
        if (live_object_is_read(known, SIMULATION_JOINT_STATES)) {
            live_object_publish(known, SIMULATION_JOINT_STATES, joint_state(known, state));
        }
        if (live_object_is_read(known, SIMULATION_STATE)) {
            live_object_publish(known, SIMULATION_STATE, message_to_tree(MESSAGE_ROS, &state->base));
        }
        simulation_robot_publish((live_simulation *)known, state);
        return true;
    }
    if (event->event_case != DYNAMICS__V1__EVENT__EVENT_SIMULATION_EVENT) {
        return false;
    }
    const Dynamics__V1__SimulationEvent *received = event->simulation_event;
    live_object *known = live_object_find(of->first, received->simulation);
    if (!known) {
        return false;
    }
    live_object_publish(known, SIMULATION_EVENTS, message_to_tree(MESSAGE_ROS, &received->base));
    live_simulations_request(of);
    return true;
}

void live_simulations_stop(live_simulations *stopped) {
    live_object_sweep(&stopped->first, UINT64_MAX);
}
