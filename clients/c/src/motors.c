/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Evaluates the motors of a model along a motion.
 */
#include <stdlib.h>

#include "error.h"
#include "machine_elements.h"
#include "pool.h"
#include "query.h"
#include "requests.h"
#include "sized.h"

/* Public result, with the reply and the pool that own its strings and arrays. */
typedef struct motors_result {
    dyn_client_motors motors;
    Dynamics__V1__EvaluateMotorsReply *reply;
    pool memory;
} motors_result;

/* Converts the choices of a request to the message. */
static void write_choices(pool *memory, const dyn_client_motors_request *from,
                          Dynamics__V1__EvaluateMotorsRequest *to) {
    Dynamics__V1__MotorChoice *made = pool_allocate(memory, from->choice_count + 1, sizeof *made);
    to->choices = pool_allocate(memory, from->choice_count + 1, sizeof *to->choices);
    for (size_t i = 0; made && to->choices && i < from->choice_count; i++) {
        const dyn_client_motor_choice *choice = &from->choices[i];
        dynamics__v1__motor_choice__init(&made[i]);
        made[i].name = (char *)(choice->name ? choice->name : "");
        made[i].joint = (char *)(choice->joint ? choice->joint : "");
        made[i].motor = from_motor(memory, choice->motor);
        made[i].gear = from_gear(memory, choice->gear);
        made[i].rotor_inertia = choice->rotor_inertia;
        to->choices[to->n_choices++] = &made[i];
    }
}

/* Fills the message from the request; arrays of numbers are borrowed. */
static void write_request(pool *memory, const dyn_client_motors_request *from, const query_parts *parts,
                          Dynamics__V1__EvaluateMotorsRequest *to) {
    to->q = (double *)from->q, to->n_q = parts->q_count;
    to->v = (double *)from->v, to->n_v = from->v ? parts->v_count : 0;
    to->a = (double *)from->a, to->n_a = from->a ? parts->v_count : 0;
    to->tau = (double *)from->tau, to->n_tau = from->tau ? parts->v_count : 0;
    to->time = (double *)from->time, to->n_time = from->time ? parts->source.samples : 0;
    to->brakes = (char **)from->brakes, to->n_brakes = from->brake_count;
    to->ratios = (double *)from->ratios, to->n_ratios = from->ratio_count;
    to->optional_ambient_temperature_case =
        DYNAMICS__V1__EVALUATE_MOTORS_REQUEST__OPTIONAL_AMBIENT_TEMPERATURE_AMBIENT_TEMPERATURE;
    to->ambient_temperature = from->ambient_temperature;
    to->optional_start_temperature_case =
        DYNAMICS__V1__EVALUATE_MOTORS_REQUEST__OPTIONAL_START_TEMPERATURE_START_TEMPERATURE;
    to->start_temperature = from->start_temperature;
    write_choices(memory, from, to);
}

static const dyn_client_motor_excess *read_excesses(pool *memory, const Dynamics__V1__MotorSummary *from) {
    dyn_client_motor_excess *made = pool_allocate(memory, from->n_excesses + 1, sizeof *made);
    for (size_t i = 0; made && i < from->n_excesses; i++) {
        const Dynamics__V1__MotorExcess *e = from->excesses[i];
        made[i] = (dyn_client_motor_excess){.limit = (dyn_client_motor_limit)e->limit,
                                            .bound = e->bound,
                                            .worst = e->worst,
                                            .first_sample = (size_t)e->first_sample,
                                            .worst_sample = (size_t)e->worst_sample,
                                            .samples = (size_t)e->samples};
    }
    return made;
}

static const dyn_client_motor_margin *read_margins(pool *memory, const Dynamics__V1__MotorSummary *from) {
    dyn_client_motor_margin *made = pool_allocate(memory, from->n_margins + 1, sizeof *made);
    for (size_t i = 0; made && i < from->n_margins; i++) {
        const Dynamics__V1__MotorMargin *m = from->margins[i];
        made[i] = (dyn_client_motor_margin){(dyn_client_motor_limit)m->limit, m->bound, m->value, m->margin};
    }
    return made;
}

static dyn_client_motor_summary read_summary(pool *memory, const Dynamics__V1__MotorSummary *from) {
    return (dyn_client_motor_summary){.name = from->name,
                                      .joint = from->joint,
                                      .ratio = from->ratio,
                                      .no_load_speed = from->no_load_speed,
                                      .stall_torque = from->stall_torque,
                                      .peak_load = from->peak_load,
                                      .rms_load = from->rms_load,
                                      .peak_torque = from->peak_torque,
                                      .rms_torque = from->rms_torque,
                                      .peak_current = from->peak_current,
                                      .rms_current = from->rms_current,
                                      .peak_voltage = from->peak_voltage,
                                      .peak_speed = from->peak_speed,
                                      .peak_power = from->peak_power,
                                      .peak_temperature = from->peak_temperature,
                                      .electrical_energy = from->electrical_energy,
                                      .heat_energy = from->heat_energy,
                                      .gear_loss_energy = from->gear_loss_energy,
                                      .load_inertia = from->load_inertia,
                                      .reflected_inertia = from->reflected_inertia,
                                      .matched_ratio = from->matched_ratio,
                                      .excess_count = from->n_excesses,
                                      .excesses = read_excesses(memory, from),
                                      .margin_count = from->n_margins,
                                      .margins = read_margins(memory, from),
                                      .choice = from->choice};
}

static const dyn_client_motor_summary *read_summaries(pool *memory, size_t count,
                                                      Dynamics__V1__MotorSummary *const *from) {
    dyn_client_motor_summary *made = pool_allocate(memory, count + 1, sizeof *made);
    for (size_t i = 0; made && i < count; i++) {
        made[i] = read_summary(memory, from[i]);
    }
    return made;
}

/* Returns whether every array of the reply has `count` numbers. */
static bool arrays_fit(const Dynamics__V1__EvaluateMotorsReply *r, size_t count) {
    const size_t counts[] = {r->n_load,
                             r->n_speed,
                             r->n_torque,
                             r->n_current,
                             r->n_voltage,
                             r->n_temperature,
                             r->n_heat,
                             r->n_gear_loss,
                             r->n_quadrant,
                             r->n_torque_margin,
                             r->n_speed_margin,
                             r->n_electrical_power,
                             r->n_mechanical_power};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i] != count) {
            return false;
        }
    }
    return true;
}

/* Converts result->reply to the public result. Returns BAD_REPLY if the reply's arrays do not fit together. */
static dyn_client_status convert_reply(motors_result *result, size_t samples, dyn_client_error *error) {
    const Dynamics__V1__EvaluateMotorsReply *r = result->reply;
    size_t count;
    if (r->samples != samples || !count_doubles(samples, r->n_motors, &count) || !arrays_fit(r, count) ||
        (r->n_brake_torque != 0 && r->n_brake_torque != count)) {
        return fail_bad_reply(error, "the evaluation of the motors does not hold as many values as it must");
    }
    result->motors =
        (dyn_client_motors){.samples = samples,
                            .motor_count = r->n_motors,
                            .motors = read_summaries(&result->memory, r->n_motors, r->motors),
                            .is_feasible = r->is_feasible,
                            .load = r->load,
                            .speed = r->speed,
                            .torque = r->torque,
                            .current = r->current,
                            .voltage = r->voltage,
                            .electrical_power = r->electrical_power,
                            .mechanical_power = r->mechanical_power,
                            .heat = r->heat,
                            .gear_loss = r->gear_loss,
                            .torque_margin = r->torque_margin,
                            .speed_margin = r->speed_margin,
                            .temperature = r->temperature,
                            .quadrant = r->quadrant,
                            .brake_torque = r->n_brake_torque > 0 ? r->brake_torque : NULL,
                            .alternative_count = r->n_alternatives,
                            .alternatives = read_summaries(&result->memory, r->n_alternatives, r->alternatives),
                            .choice_count = r->n_choices,
                            .choices = read_summaries(&result->memory, r->n_choices, r->choices)};
    return result->memory.is_exhausted ? fail_memory(error) : DYN_CLIENT_OK;
}

dyn_client_status dyn_client_evaluate_motors(dyn_client *client, const dyn_client_query *query,
                                             const dyn_client_motors_request *request, dyn_client_motors **motors,
                                             dyn_client_error *error) {
    query_parts parts;
    dyn_client_motors_request known = DYN_CLIENT_MOTORS_REQUEST_INIT();
    Dynamics__V1__EvaluateMotorsRequest body = DYNAMICS__V1__EVALUATE_MOTORS_REQUEST__INIT;
    *motors = NULL;
    dyn_client_status status = sized_read("request", request, sizeof known, &known, error);
    if (status == DYN_CLIENT_OK) {
        status = query_parts_encode(client, query, known.q, &parts, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    motors_result *result = calloc(1, sizeof *result);
    if (result) {
        write_request(&result->memory, &known, &parts, &body);
        body.query = &parts.query;
    }
    status = !result || result->memory.is_exhausted
                 ? fail_memory(error)
                 : request_evaluate_motors(client, &body, parts.terms, &result->reply, error);
    if (status == DYN_CLIENT_OK) {
        status = convert_reply(result, parts.source.samples, error);
    }
    query_parts_free(&parts);
    if (status == DYN_CLIENT_OK) {
        *motors = &result->motors;
    } else if (result) {
        dyn_client_motors_free(&result->motors);
    }
    return status;
}

void dyn_client_motors_free(dyn_client_motors *motors) {
    if (!motors) {
        return;
    }
    motors_result *freed = (motors_result *)motors;
    if (freed->reply) {
        dynamics__v1__evaluate_motors_reply__free_unpacked(freed->reply, NULL);
    }
    pool_free(&freed->memory);
    free(freed);
}
