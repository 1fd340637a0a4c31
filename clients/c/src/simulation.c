/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creates, commands, records, replays and lists simulations of the daemon.
 */
#include "requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "query.h"
#include "sized.h"
#include "stepping.h"

const char *dyn_client_condition_name(dyn_client_condition condition) {
    static const char *const names[] = {"unspecified", "running", "paused", "diverged"};
    return (size_t)condition < sizeof names / sizeof *names ? names[condition] : "unknown";
}

const char *dyn_client_steps_end_name(dyn_client_steps_end end) {
    static const char *const names[] = {"unspecified", "steps", "deadline", "cancelled", "diverged", "input_empty"};
    return (size_t)end < sizeof names / sizeof *names ? names[end] : "unknown";
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Public simulation, with the reply that owns its strings and arrays, and its external forces. */
typedef struct simulation_result {
    dyn_client_simulation simulation;
    ProtobufCMessage *reply;
    dyn_client_external_force *forces;
    dyn_client_base_motion base;
} simulation_result;

static void copy_summary(const Dynamics__V1__SimulationSummary *from, dyn_client_simulation *to) {
    to->name = from->name;
    to->model = from->model;
    to->digest = from->digest;
    to->owner = from->owner;
    to->recording = from->recording;
    to->recording_error = from->recording_error;
    to->created_ns = from->created_ns;
    to->condition = (dyn_client_condition)from->condition;
    to->pace = (dyn_client_pace)from->pace;
    to->rate = from->rate;
    to->step_length = from->step_length;
    to->lease_remaining = from->lease_remaining;
    to->watchers = from->watchers;
    to->step = from->step;
    to->time = from->time;
    to->joint_count = from->n_joint_names;
    to->joint_names = (const char *const *)from->joint_names;
    to->computed_with = from->computed_with;
    to->constraint = "";
    if (from->statistics) {
        to->overruns = from->statistics->overruns;
        to->ticks = from->statistics->ticks;
        to->slipped = from->statistics->slipped;
        to->lateness = from->statistics->lateness;
        to->longest_lateness = from->statistics->longest_lateness;
        to->step_cost = from->statistics->step_cost;
    }
}

static void copy_state(const Dynamics__V1__SimulationState *from, dyn_client_simulation *to) {
    to->step = from->step;
    to->time = from->time;
    to->stamp_ns = from->stamp_ns;
    to->nq = from->n_q;
    to->nv = from->n_v;
    to->q = from->q;
    to->v = from->v;
    to->tau = from->tau;
    to->constraint = from->constraint;
    to->closure_error = from->closure_error;
    to->surfaces = from->n_contact_gaps;
    to->contact_forces = from->contact_forces;
    to->contact_gaps = from->contact_gaps;
    to->contact_slips = from->contact_slips;
    to->contact_residual = from->contact_residual;
}

/* Creates the public simulation from a reply, which it then owns. A part of the reply that is NULL is left out. Frees
 * the reply on failure, or if `simulation` is NULL. Errors: BAD_REPLY for a state whose numbers of torques and of
 * velocities differ. */
static dyn_client_status return_simulation(void *reply, const Dynamics__V1__SimulationSummary *summary,
                                           const Dynamics__V1__SimulationState *state,
                                           dyn_client_simulation **simulation, dyn_client_error *error) {
    if (state && state->n_tau != state->n_v) {
        protobuf_c_message_free_unpacked(reply, NULL);
        return fail_bad_reply(error, "the state has another number of torques than of velocities");
    }
    simulation_result *result = simulation ? calloc(1, sizeof *result) : NULL;
    if (!result) {
        protobuf_c_message_free_unpacked(reply, NULL);
        return simulation ? fail_memory(error) : DYN_CLIENT_OK;
    }
    result->reply = reply;
    result->simulation.name = result->simulation.model = result->simulation.digest = "";
    result->simulation.owner = result->simulation.recording = result->simulation.recording_error = "";
    result->simulation.constraint = "";
    if (summary) {
        copy_summary(summary, &result->simulation);
    }
    if (state) {
        copy_state(state, &result->simulation);
    }
    *simulation = &result->simulation;
    return DYN_CLIENT_OK;
}

void dyn_client_simulation_free(dyn_client_simulation *simulation) {
    if (!simulation) {
        return;
    }
    simulation_result *result = (simulation_result *)simulation;
    protobuf_c_message_free_unpacked(result->reply, NULL);
    free(result->forces);
    free(result);
}

/* Copies the external forces of a reply to the simulation, whose result must own the reply. */
static dyn_client_status return_forces(const Dynamics__V1__GetSimulationStateReply *reply,
                                       dyn_client_simulation *simulation, dyn_client_error *error) {
    simulation_result *result = (simulation_result *)simulation;
    size_t count = reply->n_external_forces;
    if (count == 0) {
        return DYN_CLIENT_OK;
    }
    result->forces = calloc(count, sizeof *result->forces);
    if (!result->forces) {
        return fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        const Dynamics__V1__ExternalForce *from = reply->external_forces[i];
        result->forces[i] =
            (dyn_client_external_force){.link = from->link,
                                        .reference_frame = (dyn_client_reference_frame)from->reference_frame,
                                        .force = from->n_force == 3 ? from->force : NULL,
                                        .torque = from->n_torque == 3 ? from->torque : NULL,
                                        .rows = 1};
    }
    simulation->external_force_count = count;
    simulation->external_forces = result->forces;
    return DYN_CLIENT_OK;
}

/* Returns the numbers of a vector, or NULL where the message has none. */
static const double *vector_of(size_t count, const double *values) {
    return count == 3 ? values : NULL;
}

/* Lists the motion of the base of a reply in the simulation, whose result must own the reply. */
static void return_base(const Dynamics__V1__GetSimulationStateReply *reply, dyn_client_simulation *simulation) {
    simulation_result *result = (simulation_result *)simulation;
    const Dynamics__V1__BaseMotion *from = reply->base_motion;
    if (from) {
        result->base = (dyn_client_base_motion){
            .linear_velocity = vector_of(from->n_linear_velocity, from->linear_velocity),
            .angular_velocity = vector_of(from->n_angular_velocity, from->angular_velocity),
            .linear_acceleration = vector_of(from->n_linear_acceleration, from->linear_acceleration),
            .angular_acceleration = vector_of(from->n_angular_acceleration, from->angular_acceleration),
            .rows = 1};
        simulation->base_motion = &result->base;
    }
}

/* Returns INVALID_ARGUMENT if one of the arguments that all calls have is NULL. */
static dyn_client_status begin(dyn_client *client, const char *name, dyn_client_error *error) {
    return client && name ? DYN_CLIENT_OK : fail(error, DYN_CLIENT_INVALID_ARGUMENT, "name", "client or name is NULL");
}

/* ---- creating ---------------------------------------------------------------------------------------------------- */

static size_t count_of(const double *values, size_t count) {
    return values ? count : 0;
}

static void fill_create(const dyn_client_simulation_options *from, Dynamics__V1__CreateSimulationRequest *to) {
    to->name = from->name ? (char *)from->name : to->name;
    to->n_q = count_of(from->q, from->nq);
    to->q = (double *)from->q;
    to->n_v = count_of(from->v, from->nv);
    to->v = (double *)from->v;
    to->pace = (Dynamics__V1__Pace)from->pace;
    to->rate = from->rate;
    to->is_paused = from->is_paused;
    to->publish_rate = from->publish_rate;
    to->n_disturbance = from->disturbance != 0;
    to->disturbance = (double *)&from->disturbance;
    to->seed = from->seed;
    to->lease = from->lease;
    to->keep = from->keep;
}

/* Encodes the options and requests the new simulation. */
static dyn_client_status request_create(dyn_client *client, const dyn_client_simulation_options *options,
                                        Dynamics__V1__CreateSimulationReply **reply, dyn_client_error *error) {
    Dynamics__V1__CreateSimulationRequest create = DYNAMICS__V1__CREATE_SIMULATION_REQUEST__INIT;
    query_parts parts;
    stepping_message stepping;
    dyn_client_status status = query_parts_read(options->query, &parts, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    fill_create(options, &create);
    create.query = &parts.query;
    status = stepping_fill(options->stepping, &stepping, &create.stepping, error);
    if (status == DYN_CLIENT_OK) {
        status = request_create_simulation(client, &create, parts.terms, reply, error);
    }
    query_parts_free(&parts);
    return status;
}

dyn_client_status dyn_client_create_simulation(dyn_client *client, const dyn_client_simulation_options *options,
                                               uint64_t *token, dyn_client_simulation **simulation,
                                               dyn_client_error *error) {
    dyn_client_simulation_options known;
    Dynamics__V1__CreateSimulationReply *reply;
    *simulation = NULL;
    if (!client || !token) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client or token is NULL");
    }
    dyn_client_status status = sized_read("options", options, sizeof known, &known, error);
    if (status == DYN_CLIENT_OK) {
        status = request_create(client, &known, &reply, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    *token = reply->token;
    bool durable = reply->durable;
    status = return_simulation(reply, reply->simulation, reply->state, simulation, error);
    if (status == DYN_CLIENT_OK) {
        (*simulation)->durable = durable;
    }
    return status;
}

/* ---- commanding -------------------------------------------------------------------------------------------------- */

/* Fills the message from the caller's input. Returns INVALID_ARGUMENT if the input is NULL or has no valid size. `path`
 * is the path of the input in errors. `base` is memory of the message. The caller frees to->external_forces. */
static dyn_client_status fill_input(const char *path, const dyn_client_simulation_input *input,
                                    Dynamics__V1__BaseMotion *base, Dynamics__V1__SimulationInput *to,
                                    dyn_client_error *error) {
    char field[DYN_CLIENT_FIELD_SIZE];
    dyn_client_simulation_input known;
    const dyn_client_simulation_input *from = &known;
    dyn_client_status status = sized_read(path, input, sizeof known, &known, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    snprintf(field, sizeof field, "%s.external_forces", path);
    status = external_forces_encode(field, 1, from->external_force_count, from->external_forces, &to->external_forces,
                                    error);
    to->n_external_forces = to->external_forces ? from->external_force_count : 0;
    to->clear_external_forces = from->clear_external_forces;
    to->n_tau = count_of(from->tau, from->nv);
    to->tau = (double *)from->tau;
    to->n_q_ref = count_of(from->q_ref, from->nq);
    to->q_ref = (double *)from->q_ref;
    to->n_v_ref = count_of(from->v_ref, from->nv);
    to->v_ref = (double *)from->v_ref;
    to->n_a_ref = count_of(from->a_ref, from->nv);
    to->a_ref = (double *)from->a_ref;
    if (from->base_motion) {
        base_motion_encode(from->base_motion, base);
        to->base_motion = base;
    }
    return status;
}

/* Sets the result to NULL, its value after an error. `result` is NULL if the caller wants no result. */
static void clear(dyn_client_simulation **result) {
    if (result) {
        *result = NULL;
    }
}

dyn_client_status dyn_client_step_simulation(dyn_client *client, const char *name, uint64_t token, uint64_t steps,
                                             const dyn_client_simulation_input *input, double timeout,
                                             dyn_client_simulation **state, dyn_client_error *error) {
    Dynamics__V1__StepSimulationRequest step = DYNAMICS__V1__STEP_SIMULATION_REQUEST__INIT;
    Dynamics__V1__SimulationInput driven = DYNAMICS__V1__SIMULATION_INPUT__INIT;
    Dynamics__V1__BaseMotion base;
    Dynamics__V1__StepSimulationReply *reply;
    dyn_client_simulation_input known = DYN_CLIENT_SIMULATION_INPUT_INIT();
    clear(state);
    dyn_client_status status = begin(client, name, error);
    if (status == DYN_CLIENT_OK && input) {
        status = sized_read("step_simulation.input", input, sizeof known, &known, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    step.simulation = (char *)name;
    step.token = token;
    step.steps = steps;
    if (input) {
        status = fill_input("step_simulation.input", &known, &base, &driven, error);
        step.input = protobuf_c_message_get_packed_size(&driven.base) > 0 ? &driven : NULL;
    }
    const call_terms terms = {.timeout = timeout, .progress = known.progress, .context = known.progress_context};
    if (status == DYN_CLIENT_OK) {
        status = request_step_simulation(client, &step, terms, &reply, error);
    }
    free(driven.external_forces);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    dyn_client_condition condition = (dyn_client_condition)reply->condition;
    dyn_client_steps_end ended_by = (dyn_client_steps_end)reply->ended_by;
    uint64_t steps_done = reply->steps_done;
    status = return_simulation(reply, NULL, reply->state, state, error);
    if (status == DYN_CLIENT_OK && state) {
        (*state)->condition = condition;
        (*state)->ended_by = ended_by;
        (*state)->steps_done = steps_done;
    }
    return status;
}

dyn_client_status dyn_client_set_simulation_input(dyn_client *client, const char *name, uint64_t token,
                                                  const dyn_client_simulation_input *input, double timeout,
                                                  uint64_t *step, dyn_client_error *error) {
    Dynamics__V1__SetSimulationInputRequest set = DYNAMICS__V1__SET_SIMULATION_INPUT_REQUEST__INIT;
    Dynamics__V1__SimulationInput driven = DYNAMICS__V1__SIMULATION_INPUT__INIT;
    Dynamics__V1__BaseMotion base;
    Dynamics__V1__SetSimulationInputReply *reply;
    dyn_client_status status = begin(client, name, error);
    if (status == DYN_CLIENT_OK) {
        status = fill_input("set_simulation_input.input", input, &base, &driven, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    set.simulation = (char *)name;
    set.token = token;
    set.input = &driven;
    status = request_set_simulation_input(client, &set, within(timeout), &reply, error);
    free(driven.external_forces);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (step) {
        *step = reply->step;
    }
    dynamics__v1__set_simulation_input_reply__free_unpacked(reply, NULL);
    return DYN_CLIENT_OK;
}

dyn_client_status dyn_client_get_simulation(dyn_client *client, const char *name, uint64_t token, double timeout,
                                            dyn_client_simulation **simulation, dyn_client_error *error) {
    Dynamics__V1__GetSimulationStateRequest get = DYNAMICS__V1__GET_SIMULATION_STATE_REQUEST__INIT;
    Dynamics__V1__GetSimulationStateReply *reply;
    clear(simulation);
    dyn_client_status status = begin(client, name, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    get.simulation = (char *)name;
    get.token = token;
    status = request_get_simulation_state(client, &get, within(timeout), &reply, error);
    if (status == DYN_CLIENT_OK) {
        status = return_simulation(reply, reply->simulation, reply->state, simulation, error);
    }
    if (status != DYN_CLIENT_OK || !simulation) {
        return status;
    }
    return_base(reply, *simulation);
    status = return_forces(reply, *simulation, error);
    if (status != DYN_CLIENT_OK) {
        dyn_client_simulation_free(*simulation);
        *simulation = NULL;
    }
    return status;
}

dyn_client_status dyn_client_set_simulation_state(dyn_client *client, const char *name, uint64_t token, size_t nq,
                                                  size_t nv, const double *q, const double *v, double timeout,
                                                  dyn_client_simulation **state, dyn_client_error *error) {
    Dynamics__V1__SetSimulationStateRequest set = DYNAMICS__V1__SET_SIMULATION_STATE_REQUEST__INIT;
    Dynamics__V1__SetSimulationStateReply *reply;
    clear(state);
    dyn_client_status status = begin(client, name, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    set.simulation = (char *)name;
    set.token = token;
    set.n_q = count_of(q, nq);
    set.q = (double *)q;
    set.n_v = count_of(v, nv);
    set.v = (double *)v;
    status = request_set_simulation_state(client, &set, within(timeout), &reply, error);
    return status == DYN_CLIENT_OK ? return_simulation(reply, NULL, reply->state, state, error) : status;
}

/* Sends a command whose request has only the fields simulation and token, and whose reply has the field state. */
static dyn_client_status command(dyn_client *client, const char *name, Dynamics__V1__Request__MethodCase method,
                                 ProtobufCMessage *body, double timeout, dyn_client_simulation **state,
                                 dyn_client_error *error) {
    ProtobufCMessage *reply;
    clear(state);
    dyn_client_status status = begin(client, name, error);
    if (status == DYN_CLIENT_OK) {
        status = call_method(client, method, body, within(timeout), &reply, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(reply->descriptor, "state");
    const Dynamics__V1__SimulationState *state_of_reply;
    memcpy(&state_of_reply, (const char *)reply + field->offset, sizeof state_of_reply);
    return return_simulation(reply, NULL, state_of_reply, state, error);
}

dyn_client_status dyn_client_pause_simulation(dyn_client *client, const char *name, uint64_t token, double timeout,
                                              dyn_client_simulation **state, dyn_client_error *error) {
    Dynamics__V1__PauseSimulationRequest pause = DYNAMICS__V1__PAUSE_SIMULATION_REQUEST__INIT;
    pause.simulation = (char *)name;
    pause.token = token;
    return command(client, name, DYNAMICS__V1__REQUEST__METHOD_PAUSE_SIMULATION, &pause.base, timeout, state, error);
}

dyn_client_status dyn_client_resume_simulation(dyn_client *client, const char *name, uint64_t token, double timeout,
                                               dyn_client_simulation **state, dyn_client_error *error) {
    Dynamics__V1__ResumeSimulationRequest resume = DYNAMICS__V1__RESUME_SIMULATION_REQUEST__INIT;
    resume.simulation = (char *)name;
    resume.token = token;
    return command(client, name, DYNAMICS__V1__REQUEST__METHOD_RESUME_SIMULATION, &resume.base, timeout, state, error);
}

dyn_client_status dyn_client_reset_simulation(dyn_client *client, const char *name, uint64_t token, double timeout,
                                              dyn_client_simulation **state, dyn_client_error *error) {
    Dynamics__V1__ResetSimulationRequest reset = DYNAMICS__V1__RESET_SIMULATION_REQUEST__INIT;
    reset.simulation = (char *)name;
    reset.token = token;
    return command(client, name, DYNAMICS__V1__REQUEST__METHOD_RESET_SIMULATION, &reset.base, timeout, state, error);
}

dyn_client_status dyn_client_delete_simulation(dyn_client *client, const char *name, uint64_t token, double timeout,
                                               bool *durable, dyn_client_error *error) {
    Dynamics__V1__DeleteSimulationRequest deletion = DYNAMICS__V1__DELETE_SIMULATION_REQUEST__INIT;
    Dynamics__V1__DeleteSimulationReply *reply;
    dyn_client_status status = begin(client, name, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    deletion.simulation = (char *)name;
    deletion.token = token;
    status = request_delete_simulation(client, &deletion, within(timeout), &reply, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (durable) {
        *durable = reply->durable;
    }
    dynamics__v1__delete_simulation_reply__free_unpacked(reply, NULL);
    return DYN_CLIENT_OK;
}

dyn_client_status dyn_client_claim_simulation(dyn_client *client, const char *name, double lease, double timeout,
                                              uint64_t *token, bool *durable, dyn_client_error *error) {
    Dynamics__V1__ClaimSimulationRequest claim = DYNAMICS__V1__CLAIM_SIMULATION_REQUEST__INIT;
    Dynamics__V1__ClaimSimulationReply *reply;
    dyn_client_status status = begin(client, name, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    claim.simulation = (char *)name;
    claim.lease = lease;
    status = request_claim_simulation(client, &claim, within(timeout), &reply, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    *token = reply->token;
    if (durable) {
        *durable = reply->durable;
    }
    dynamics__v1__claim_simulation_reply__free_unpacked(reply, NULL);
    return DYN_CLIENT_OK;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

typedef struct list_result {
    dyn_client_simulation_list list;
    Dynamics__V1__ListSimulationsReply *reply;
    dyn_client_simulation simulations[];
} list_result;

dyn_client_status dyn_client_list_simulations(dyn_client *client, double timeout, dyn_client_simulation_list **list,
                                              dyn_client_error *error) {
    Dynamics__V1__ListSimulationsRequest question = DYNAMICS__V1__LIST_SIMULATIONS_REQUEST__INIT;
    Dynamics__V1__ListSimulationsReply *reply;
    *list = NULL;
    dyn_client_status status = begin(client, "", error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    status = request_list_simulations(client, &question, within(timeout), &reply, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    list_result *result = calloc(1, sizeof *result + reply->n_simulations * sizeof *result->simulations);
    if (!result) {
        dynamics__v1__list_simulations_reply__free_unpacked(reply, NULL);
        return fail_memory(error);
    }
    result->reply = reply;
    for (size_t i = 0; i < reply->n_simulations; i++) {
        copy_summary(reply->simulations[i], &result->simulations[i]);
    }
    result->list = (dyn_client_simulation_list){.count = reply->n_simulations, .simulations = result->simulations};
    *list = &result->list;
    return DYN_CLIENT_OK;
}

void dyn_client_simulation_list_free(dyn_client_simulation_list *list) {
    if (!list) {
        return;
    }
    list_result *result = (list_result *)list;
    dynamics__v1__list_simulations_reply__free_unpacked(result->reply, NULL);
    free(result);
}

/* ---- recordings and saved simulations ---------------------------------------------------------------------------- */

dyn_client_status dyn_client_record_simulation(dyn_client *client, const char *name, uint64_t token,
                                               const char *recording, double timeout, dyn_client_error *error) {
    Dynamics__V1__RecordSimulationRequest record = DYNAMICS__V1__RECORD_SIMULATION_REQUEST__INIT;
    Dynamics__V1__RecordSimulationReply *reply;
    dyn_client_status status = begin(client, name, error);
    if (status == DYN_CLIENT_OK && !recording) {
        status = fail(error, DYN_CLIENT_INVALID_ARGUMENT, "record_simulation.recording", "recording is NULL");
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    record.simulation = (char *)name;
    record.token = token;
    record.recording = (char *)recording;
    status = request_record_simulation(client, &record, within(timeout), &reply, error);
    if (status == DYN_CLIENT_OK) {
        dynamics__v1__record_simulation_reply__free_unpacked(reply, NULL);
    }
    return status;
}

dyn_client_status dyn_client_stop_recording(dyn_client *client, const char *name, uint64_t token, double timeout,
                                            uint64_t *entries, uint64_t *bytes, dyn_client_error *error) {
    Dynamics__V1__StopRecordingRequest stop = DYNAMICS__V1__STOP_RECORDING_REQUEST__INIT;
    Dynamics__V1__StopRecordingReply *reply;
    dyn_client_status status = begin(client, name, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    stop.simulation = (char *)name;
    stop.token = token;
    status = request_stop_recording(client, &stop, within(timeout), &reply, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (entries) {
        *entries = reply->entries;
    }
    if (bytes) {
        *bytes = reply->bytes;
    }
    dynamics__v1__stop_recording_reply__free_unpacked(reply, NULL);
    return DYN_CLIENT_OK;
}

typedef struct replay_result {
    dyn_client_replay replay;
    Dynamics__V1__ReplaySimulationReply *reply;
} replay_result;

/* Creates the public replay from a reply, which it then owns. Frees the reply on failure. Errors: BAD_REPLY if the
 * arrays of the states do not have one row for each step. */
static dyn_client_status return_replay(Dynamics__V1__ReplaySimulationReply *reply, dyn_client_replay **replay,
                                       dyn_client_error *error) {
    size_t rows = reply->n_step, nq = rows > 0 ? reply->n_q / rows : 0, nv = rows > 0 ? reply->n_v / rows : 0;
    bool fits = reply->n_q == rows * nq && reply->n_v == rows * nv && reply->n_tau == rows * nv;
    replay_result *result = fits ? calloc(1, sizeof *result) : NULL;
    if (!result) {
        dynamics__v1__replay_simulation_reply__free_unpacked(reply, NULL);
        return fits ? fail_memory(error)
                    : fail_bad_reply(error, "the replayed states do not have one row for each step");
    }
    result->reply = reply;
    result->replay = (dyn_client_replay){
        .model = reply->model,
        .digest = reply->digest,
        .step_length = reply->step_length,
        .steps = reply->steps,
        .equal_steps = reply->equal_steps,
        .first_difference = reply->first_difference,
        .is_truncated = reply->is_truncated,
        .joint_count = reply->n_joint_names,
        .joint_names = (const char *const *)reply->joint_names,
        .count = rows,
        .nq = nq,
        .nv = nv,
        .step = reply->step,
        .q = reply->q,
        .v = reply->v,
        .tau = reply->tau,
        .recorded_with = reply->recorded_with,
        .computed_with = reply->computed_with,
    };
    *replay = &result->replay;
    return DYN_CLIENT_OK;
}

dyn_client_status dyn_client_replay_simulation(dyn_client *client, const char *recording, const dyn_client_rows *states,
                                               const dyn_client_terms *terms, dyn_client_replay **replay,
                                               dyn_client_error *error) {
    call_terms known;
    Dynamics__V1__ReplaySimulationRequest question = DYNAMICS__V1__REPLAY_SIMULATION_REQUEST__INIT;
    Dynamics__V1__ReplaySimulationReply *reply;
    *replay = NULL;
    dyn_client_status status = begin(client, recording, error);
    if (status == DYN_CLIENT_OK) {
        status = call_read_terms(terms, &known, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    question.recording = (char *)recording;
    if (states) {
        question.with_states = true;
        question.first = states->first;
        question.stride = states->stride;
        question.count = states->count;
    }
    status = request_replay_simulation(client, &question, known, &reply, error);
    return status == DYN_CLIENT_OK ? return_replay(reply, replay, error) : status;
}

void dyn_client_replay_free(dyn_client_replay *replay) {
    if (!replay) {
        return;
    }
    replay_result *result = (replay_result *)replay;
    dynamics__v1__replay_simulation_reply__free_unpacked(result->reply, NULL);
    free(result);
}

dyn_client_status dyn_client_save_simulations(dyn_client *client, double timeout, size_t *count,
                                              dyn_client_error *error) {
    Dynamics__V1__SaveSimulationsRequest save = DYNAMICS__V1__SAVE_SIMULATIONS_REQUEST__INIT;
    Dynamics__V1__SaveSimulationsReply *reply;
    dyn_client_status status = begin(client, "", error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    status = request_save_simulations(client, &save, within(timeout), &reply, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (count) {
        *count = reply->simulations;
    }
    dynamics__v1__save_simulations_reply__free_unpacked(reply, NULL);
    return DYN_CLIENT_OK;
}

dyn_client_status dyn_client_restore_simulations(dyn_client *client, double timeout, size_t *count,
                                                 dyn_client_error *error) {
    Dynamics__V1__RestoreSimulationsRequest restore = DYNAMICS__V1__RESTORE_SIMULATIONS_REQUEST__INIT;
    Dynamics__V1__RestoreSimulationsReply *reply;
    dyn_client_status status = begin(client, "", error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    status = request_restore_simulations(client, &restore, within(timeout), &reply, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (count) {
        *count = reply->simulations;
    }
    dynamics__v1__restore_simulations_reply__free_unpacked(reply, NULL);
    return DYN_CLIENT_OK;
}
