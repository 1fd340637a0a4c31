/* SPDX-License-Identifier: BSD-2-Clause */
/* EvaluateMotors: computes what a motion takes from the motors of a model. */
#include <dynamics/dynamics.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "methods/batch.h"
#include "methods/machine_elements.h"
#include "methods/methods.h"
#include "methods/motion.h"
#include "methods/passive_forces.h"

#define LIMIT(name) DYNAMICS__V1__MOTOR_LIMIT__MOTOR_LIMIT_##name

/* Temperature of air and motors of a request that states none, degrees Celsius. */
static const double ROOM_TEMPERATURE = 25;

/* Transition velocity of friction of a request that states none. */
static const double FRICTION_VELOCITY = 0.01;

/* Largest number of entries of mass matrices in a block. */
static const size_t MOST_ENTRIES = 1 << 18;

/* Largest numbers of other ratios, and of choices. */
enum { MOST_RATIOS = 100, MOST_CHOICES = 100 };

/* Checks that the limits of the library and of the protocol have the same order. */
#define SAME_NUMBER(name, wire)                                                                                        \
    _Static_assert((int)DYN_DRIVE_LIMIT_##name + (int)LIMIT(VOLTAGE) == (int)LIMIT(wire), #name)
SAME_NUMBER(VOLTAGE, VOLTAGE);
SAME_NUMBER(CURRENT, CURRENT);
SAME_NUMBER(CONTINUOUS_CURRENT, CONTINUOUS_CURRENT);
SAME_NUMBER(SPEED, SPEED);
SAME_NUMBER(TEMPERATURE, TEMPERATURE);
SAME_NUMBER(GEAR_TORQUE, GEAR_TORQUE);
SAME_NUMBER(GEAR_CONTINUOUS, GEAR_CONTINUOUS_TORQUE);
SAME_NUMBER(GEAR_SPEED, GEAR_SPEED);
SAME_NUMBER(BRAKE, BRAKE);
#undef SAME_NUMBER

/* Motors, inputs and results of a batch, in the model's order. */
typedef struct motors_task {
    size_t count;
    dyn_drive *drives;
    dyn_passive_parts parts;
    const double *v, *a, *tau;          /* NULL: zeros, and inverse dynamics for tau */
    const double *time;                 /* NULL: none */
    double ambient, start;              /* degrees Celsius */
    bool *is_braked;                    /* for each motor */
    double *brakes;                     /* n x count; NULL: no brake is engaged */
    size_t *first_other;                /* of each motor, and the number of all */
    dyn_drive *others;                  /* in place of motor i: from first_other[i] to first_other[i + 1] - 1 */
    const char **choices;               /* names of the others; NULL: the same motor with another ratio */
    double *loads, *torques, *inertias; /* n x count */
    double *other_torques;              /* for each motor, n x the number of its others */
} motors_task;

/* ---- the question ------------------------------------------------------------------------------------------------ */

/* Finds the motors of the model. */
static bool find_drives(batch *b, motors_task *t) {
    dyn_error error;
    t->count = (size_t)dyn_model_drive_count(b->model);
    t->drives = call_allocate(b->call, t->count + 1, sizeof *t->drives);
    if (call_has_ended(b->call)) {
        return false;
    }
    if (t->count == 0) {
        call_blame(b->call, "query.model");
        call_fail(b->call, REASON_MODEL_UNSUITABLE,
                  "no motor of model \"%s\" moves a joint; load a model whose machine elements have motors",
                  b->entry->name);
        return false;
    }
    if (dyn_model_drives(b->model, t->drives, &error) != DYN_OK) {
        call_blame(b->call, "query.model");
        call_fail(b->call, REASON_MODEL_UNSUITABLE, "%s", error.message);
        return false;
    }
    return true;
}

static bool check_temperature(batch *b, const char *field, double value) {
    if (!isfinite(value) || value < -273.15) {
        call_blame(b->call, "%s", field);
        call_fail(b->call, REASON_INVALID_VALUE, "it is %g degrees Celsius; pass a finite number above -273.15", value);
        return false;
    }
    return true;
}

static bool check_times(batch *b, const Dynamics__V1__EvaluateMotorsRequest *r) {
    if (r->n_time != 0 && r->n_time != b->n) {
        call_blame(b->call, "time");
        call_fail(b->call, REASON_WRONG_COUNT, "time has %zu values; pass one for each of the %zu samples, or none",
                  r->n_time, b->n);
        return false;
    }
    for (size_t i = 0; i < r->n_time; i++) {
        if (!isfinite(r->time[i]) || (i > 0 && !(r->time[i] > r->time[i - 1]))) {
            call_blame(b->call, "time[%zu]", i);
            call_fail(b->call, REASON_INVALID_VALUE, "time[%zu] is %g s; pass finite times, each after the one before",
                      i, r->time[i]);
            return false;
        }
    }
    return true;
}

static bool check_ratios(batch *b, const Dynamics__V1__EvaluateMotorsRequest *r) {
    if (r->n_ratios > MOST_RATIOS) {
        call_blame(b->call, "ratios");
        call_fail(b->call, REASON_WRONG_COUNT, "there are %zu ratios; pass at most %d", r->n_ratios, MOST_RATIOS);
        return false;
    }
    for (size_t i = 0; i < r->n_ratios; i++) {
        if (!isfinite(r->ratios[i]) || r->ratios[i] == 0) {
            call_blame(b->call, "ratios[%zu]", i);
            call_fail(b->call, REASON_INVALID_VALUE, "the ratio is %g; pass a finite number that is not zero",
                      r->ratios[i]);
            return false;
        }
    }
    return true;
}

/* Returns whether a choice may take the place of a motor. */
static bool is_choice_for(const Dynamics__V1__MotorChoice *choice, const dyn_drive *drive) {
    return drive->coordinate_count == 0 && (choice->joint[0] == '\0' || strcmp(choice->joint, drive->joint) == 0);
}

/* Checks the name, the joint and the inertia of choice k. */
static bool check_choice(batch *b, const Dynamics__V1__MotorChoice *choice, size_t k, const motors_task *t) {
    bool has_motor = false;
    for (size_t i = 0; i < t->count; i++) {
        has_motor = has_motor || is_choice_for(choice, &t->drives[i]);
    }
    if (choice->name[0] == '\0' || strlen(choice->name) > DYN_MAX_NAME) {
        call_blame(b->call, "choices[%zu].name", k);
        call_fail(b->call, REASON_INVALID_VALUE, "it has %zu bytes; pass 1 to %d", strlen(choice->name), DYN_MAX_NAME);
    } else if (!has_motor) {
        call_blame(b->call, "choices[%zu].joint", k);
        call_fail(b->call, REASON_INVALID_VALUE, "no motor moves joint \"%.200s\" alone; pass the joint of a motor",
                  choice->joint);
    } else if (!isfinite(choice->rotor_inertia) || choice->rotor_inertia < 0) {
        call_blame(b->call, "choices[%zu].rotor_inertia", k);
        call_fail(b->call, REASON_INVALID_VALUE, "it is %g kg m^2; pass a finite number that is not negative",
                  choice->rotor_inertia);
    }
    return !call_has_ended(b->call);
}

/* Returns the drive with the motor, the gear and the rotor of a choice, of which `chosen` has the checked numbers. */
static dyn_drive drive_of_choice(const Dynamics__V1__MotorChoice *choice, const dyn_drive *chosen,
                                 const dyn_drive *own) {
    bool has_ratio = choice->gear && choice->gear->ratio != 0;
    dyn_drive other = dyn_drive_at_ratio(own, has_ratio ? choice->gear->ratio : own->gear.ratio);
    if (choice->motor) {
        other.motor = chosen->motor;
    }
    if (choice->gear) {
        double ratio = other.gear.ratio;
        other.gear = chosen->gear;
        other.gear.ratio = ratio;
    }
    if (choice->rotor_inertia > 0) {
        other.inertia = choice->rotor_inertia;
    }
    return other;
}

/* Reads the motors and gears of the choices. Returns NULL when the call has ended. */
static dyn_drive *read_choices(batch *b, const Dynamics__V1__EvaluateMotorsRequest *r, const motors_task *t) {
    if (r->n_choices > MOST_CHOICES) {
        call_blame(b->call, "choices");
        call_fail(b->call, REASON_WRONG_COUNT, "there are %zu choices; pass at most %d", r->n_choices, MOST_CHOICES);
        return NULL;
    }
    dyn_drive *chosen = call_allocate(b->call, r->n_choices + 1, sizeof *chosen);
    for (size_t k = 0; k < r->n_choices && !call_has_ended(b->call); k++) {
        char path[32];
        snprintf(path, sizeof path, "choices[%zu]", k);
        if (!check_choice(b, r->choices[k], k, t) ||
            !machine_elements_read_motor(b->call, path, r->choices[k]->motor, &chosen[k].motor) ||
            !machine_elements_read_gear(b->call, path, r->choices[k]->gear, &chosen[k].gear)) {
            return NULL;
        }
    }
    return call_has_ended(b->call) ? NULL : chosen;
}

/* Appends a drive in place of the last motor that has a list of others. */
static void append_other(const char *choice, dyn_drive other, size_t *count, motors_task *t) {
    t->choices[*count] = choice;
    t->others[(*count)++] = other;
}

/* Lists the drives in place of each motor: with other ratios, and the choices. */
static bool read_others(batch *b, const Dynamics__V1__EvaluateMotorsRequest *r, motors_task *t) {
    const dyn_drive *chosen = check_ratios(b, r) ? read_choices(b, r, t) : NULL;
    size_t most = t->count * (r->n_ratios + r->n_choices), count = 0;
    if (!chosen) {
        return false;
    }
    t->first_other = call_allocate(b->call, t->count + 1, sizeof *t->first_other);
    t->others = call_allocate(b->call, most + 1, sizeof *t->others);
    t->choices = call_allocate(b->call, most + 1, sizeof *t->choices);
    for (size_t i = 0; i < t->count && !call_has_ended(b->call); i++) {
        for (size_t k = 0; k < r->n_ratios; k++) {
            append_other(NULL, dyn_drive_at_ratio(&t->drives[i], r->ratios[k]), &count, t);
        }
        for (size_t k = 0; k < r->n_choices; k++) {
            if (is_choice_for(r->choices[k], &t->drives[i])) {
                append_other(r->choices[k]->name, drive_of_choice(r->choices[k], &chosen[k], &t->drives[i]), &count, t);
            }
        }
        t->first_other[i + 1] = count;
    }
    return !call_has_ended(b->call);
}

/* Marks the motors whose brakes are engaged. */
static bool read_brakes(batch *b, const Dynamics__V1__EvaluateMotorsRequest *r, motors_task *t) {
    t->is_braked = call_allocate(b->call, t->count, sizeof *t->is_braked);
    for (size_t k = 0; k < r->n_brakes && !call_has_ended(b->call); k++) {
        size_t i = 0;
        while (i < t->count && (!t->drives[i].brake_name || strcmp(t->drives[i].brake_name, r->brakes[k]) != 0)) {
            i++;
        }
        if (i == t->count) {
            call_blame(b->call, "brakes[%zu]", k);
            call_fail(b->call, REASON_INVALID_VALUE, "no motor has a brake \"%.200s\"; pass the name of a brake",
                      r->brakes[k]);
            return false;
        }
        t->is_braked[i] = true;
    }
    return !call_has_ended(b->call);
}

static bool read_options(batch *b, const Dynamics__V1__EvaluateMotorsRequest *r, motors_task *t) {
    bool has_ambient = r->optional_ambient_temperature_case ==
                       DYNAMICS__V1__EVALUATE_MOTORS_REQUEST__OPTIONAL_AMBIENT_TEMPERATURE_AMBIENT_TEMPERATURE;
    bool has_start = r->optional_start_temperature_case ==
                     DYNAMICS__V1__EVALUATE_MOTORS_REQUEST__OPTIONAL_START_TEMPERATURE_START_TEMPERATURE;
    t->ambient = has_ambient ? r->ambient_temperature : ROOM_TEMPERATURE;
    t->start = has_start ? r->start_temperature : t->ambient;
    t->time = r->n_time > 0 ? r->time : NULL;
    t->parts = b->values.passive;
    if (!passive_forces_count(&t->parts)) {
        t->parts.friction_velocity = FRICTION_VELOCITY;
    }
    return batch_check(b, "v", r->n_v) && batch_check(b, "a", r->n_a) && batch_check(b, "tau", r->n_tau) &&
           check_times(b, r) && read_others(b, r, t) && read_brakes(b, r, t) &&
           check_temperature(b, "ambient_temperature", t->ambient) &&
           check_temperature(b, "start_temperature", t->start);
}

/* ---- the work ---------------------------------------------------------------------------------------------------- */

/* Numbers of scratch memory for one sample: inverse dynamics, joint wrenches and mass matrix. */
static size_t scratch_numbers(const batch *b) {
    return b->nv + 6 * (size_t)dyn_model_joint_count(b->model) + b->nv * b->nv;
}

/* Copies the diagonal entries of the mass matrices that belong to the motors. */
static void copy_inertias(const batch *b, const motors_task *t, size_t count, const double *M, double *inertias) {
    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < t->count; i++) {
            size_t k = (size_t)t->drives[i].v_index;
            inertias[s * t->count + i] = M[(s * b->nv + k) * b->nv + k];
        }
    }
}

static dyn_status step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                       dyn_error *error) {
    const motors_task *t = context;
    const double *q = b->q + first * b->nq, *v = motion_rows(t->v, b->nv, first), *a = motion_rows(t->a, b->nv, first);
    double *forces = w->scratch, *wrenches = forces + count * b->nv;
    double *M = wrenches + count * 6 * (size_t)dyn_model_joint_count(b->model);
    void *force_memory = (double *)w->scratch + b->block_size * scratch_numbers(b);
    dyn_external_forces list;
    const dyn_external_forces *external = batch_forces(b, first, force_memory, &list);
    bool has_rotors = dyn_model_rotor_count(w->model) > 0;
    dyn_status status = dyn_rnea(w->model, w->workspace, count, b->values.gravity, q, v, a, external, forces, error);
    if (status == DYN_OK && has_rotors) {
        status =
            dyn_joint_wrenches(w->model, w->workspace, count, b->values.gravity, q, v, a, external, wrenches, error);
    }
    if (status == DYN_OK) {
        status = dyn_crba(w->model, w->workspace, count, q, M, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    copy_inertias(b, t, count, M, t->inertias + first * t->count);
    const dyn_drive_motion moved = {.n = count,
                                    .q = q,
                                    .v = v,
                                    .a = a,
                                    .forces = forces,
                                    .wrenches = has_rotors ? wrenches : NULL,
                                    .tau = motion_rows(t->tau, b->nv, first),
                                    .parts = t->parts};
    status = dyn_drive_torques(w->model, (int)t->count, t->drives, &moved, t->loads + first * t->count,
                               t->torques + first * t->count, error);
    for (size_t i = 0; i < t->count && status == DYN_OK; i++) {
        size_t others = t->first_other[i + 1] - t->first_other[i];
        status =
            dyn_drive_torques_of_others(w->model, &t->drives[i], (int)others, t->others + t->first_other[i], &moved,
                                        t->other_torques + b->n * t->first_other[i] + first * others, error);
    }
    return status;
}

/* Allocates the results and runs the step over all samples. */
static bool compute_torques(batch *b, bool has_brakes, motors_task *t) {
    size_t numbers = scratch_numbers(b), block = MOST_ENTRIES / numbers;
    b->block_size = block < 1 ? 1 : block < BLOCK_SAMPLES ? block : BLOCK_SAMPLES;
    t->loads = batch_output(b, t->count);
    t->torques = batch_output(b, t->count);
    t->inertias = batch_output(b, t->count);
    t->brakes = has_brakes ? batch_output(b, t->count) : NULL;
    t->other_torques = batch_output(b, t->first_other[t->count]);
    return !call_has_ended(b->call) &&
           batch_run(b, step, t, b->block_size * numbers * sizeof(double) + batch_forces_size(b));
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* Copies column `from` of n rows of `width` numbers. */
static void take_column(size_t n, size_t width, size_t from, const double *rows, double *column) {
    for (size_t s = 0; s < n; s++) {
        column[s] = rows[s * width + from];
    }
}

static double finite_or_zero(double x) {
    return isfinite(x) ? x : 0;
}

static void write_excesses(call *c, const dyn_drive_summary *from, Dynamics__V1__MotorSummary *to) {
    size_t count = (size_t)from->excess_count;
    Dynamics__V1__MotorExcess *list = call_allocate(c, count + 1, sizeof *list);
    to->excesses = call_allocate(c, count + 1, sizeof *to->excesses);
    for (size_t i = 0; i < count && !call_has_ended(c); i++) {
        const dyn_drive_excess *e = &from->excesses[i];
        dynamics__v1__motor_excess__init(&list[i]);
        list[i].limit = (Dynamics__V1__MotorLimit)((int)e->limit + (int)LIMIT(VOLTAGE));
        list[i].bound = e->bound;
        list[i].worst = e->worst;
        list[i].first_sample = e->first;
        list[i].worst_sample = e->at;
        list[i].samples = e->samples;
        to->excesses[to->n_excesses++] = &list[i];
    }
}

/* Returns the part of a limit that a motion leaves. */
static double margin_of(const motors_task *t, dyn_drive_limit limit, double most, double value) {
    if (limit != DYN_DRIVE_LIMIT_TEMPERATURE) {
        return 1 - value / most;
    }
    return most > t->ambient ? (most - value) / (most - t->ambient) : -1;
}

static void write_margins(call *c, const motors_task *t, const dyn_drive *drive, const dyn_drive_summary *from,
                          Dynamics__V1__MotorSummary *to) {
    Dynamics__V1__MotorMargin *list = call_allocate(c, DYN_DRIVE_LIMITS, sizeof *list);
    to->margins = call_allocate(c, DYN_DRIVE_LIMITS, sizeof *to->margins);
    for (int limit = 0; limit < DYN_DRIVE_LIMITS && !call_has_ended(c); limit++) {
        Dynamics__V1__MotorMargin *margin = &list[to->n_margins];
        double most = dyn_drive_limit_value(drive, (dyn_drive_limit)limit);
        if (isfinite(most)) {
            dynamics__v1__motor_margin__init(margin);
            margin->limit = (Dynamics__V1__MotorLimit)(limit + (int)LIMIT(VOLTAGE));
            margin->bound = most;
            margin->value = from->values[limit];
            margin->margin = margin_of(t, (dyn_drive_limit)limit, most, margin->value);
            to->margins[to->n_margins++] = margin;
        }
    }
}

/* Writes the inertias that decide the ratio of the gear of `drive`, which is motor i or in its place. */
static void write_inertias(const batch *b, const motors_task *t, size_t i, const dyn_drive *drive,
                           Dynamics__V1__MotorSummary *to) {
    const dyn_drive *own = &t->drives[i];
    double sum = 0, scale = drive->multiplier * drive->multiplier;
    for (size_t s = 0; s < b->n; s++) {
        sum += t->inertias[s * t->count + i] / scale;
    }
    to->reflected_inertia = drive->gear.ratio * drive->gear.ratio * drive->inertia;
    if (drive->coordinate_count > 0) {
        return;
    }
    to->load_inertia = fmax(0, sum / (double)b->n - own->gear.ratio * own->gear.ratio * own->inertia);
    to->matched_ratio = drive->inertia > 0 ? sqrt(to->load_inertia / drive->inertia) : 0;
}

/* Writes the summary of `drive`, which is motor i or in its place. */
static Dynamics__V1__MotorSummary *write_summary(batch *b, const motors_task *t, size_t i, const dyn_drive *drive,
                                                 const dyn_drive_summary *from) {
    Dynamics__V1__MotorSummary *to = call_allocate(b->call, 1, sizeof *to);
    if (!to) {
        return NULL;
    }
    dynamics__v1__motor_summary__init(to);
    to->name = call_string(b->call, drive->name);
    to->joint = call_string(b->call, drive->joint);
    to->ratio = drive->gear.ratio;
    to->no_load_speed = finite_or_zero(dyn_motor_no_load_speed(&drive->motor));
    to->stall_torque = finite_or_zero(dyn_motor_stall_torque(&drive->motor));
    to->peak_load = from->peak_load;
    to->rms_load = from->rms_load;
    to->peak_torque = from->peak_torque;
    to->rms_torque = from->rms_torque;
    to->peak_current = from->peak_current;
    to->rms_current = from->rms_current;
    to->peak_voltage = from->peak_voltage;
    to->peak_speed = from->peak_speed;
    to->peak_power = from->peak_power;
    to->peak_temperature = from->peak_temperature;
    to->electrical_energy = from->electrical_energy;
    to->heat_energy = from->heat_energy;
    to->gear_loss_energy = from->gear_loss_energy;
    write_inertias(b, t, i, drive, to);
    write_excesses(b->call, from, to);
    write_margins(b->call, t, drive, from, to);
    return to;
}

/* Copies the states of motor i to the arrays of the reply. */
static void write_states(const batch *b, const motors_task *t, size_t i, const dyn_motor_state *states,
                         const double *speeds, const double *temperatures, Dynamics__V1__EvaluateMotorsReply *to) {
    for (size_t s = 0; s < b->n; s++) {
        size_t k = s * t->count + i;
        to->speed[k] = speeds[s];
        to->current[k] = states[s].current;
        to->voltage[k] = states[s].voltage;
        to->electrical_power[k] = states[s].electrical_power;
        to->mechanical_power[k] = states[s].mechanical_power;
        to->heat[k] = states[s].heat;
        to->gear_loss[k] = states[s].gear_loss;
        to->torque_margin[k] = states[s].torque_margin;
        to->speed_margin[k] = states[s].speed_margin;
        to->temperature[k] = temperatures[s];
        to->quadrant[k] = (uint64_t)states[s].quadrant;
    }
}

/* Allocates the arrays of the reply. Returns NULL when the call has ended. */
static Dynamics__V1__EvaluateMotorsReply *create_reply(batch *b, const motors_task *t) {
    Dynamics__V1__EvaluateMotorsReply *reply = create_evaluate_motors_reply(b->call);
    size_t count = b->n * t->count;
    if (!reply) {
        return NULL;
    }
    reply->samples = b->n;
    reply->is_feasible = true;
    reply->load = t->loads, reply->n_load = count;
    reply->torque = t->torques, reply->n_torque = count;
    double **const arrays[] = {
        &reply->speed, &reply->current,   &reply->voltage,       &reply->electrical_power, &reply->mechanical_power,
        &reply->heat,  &reply->gear_loss, &reply->torque_margin, &reply->speed_margin,     &reply->temperature};
    size_t *const counts[] = {&reply->n_speed,
                              &reply->n_current,
                              &reply->n_voltage,
                              &reply->n_electrical_power,
                              &reply->n_mechanical_power,
                              &reply->n_heat,
                              &reply->n_gear_loss,
                              &reply->n_torque_margin,
                              &reply->n_speed_margin,
                              &reply->n_temperature};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = batch_output(b, t->count);
        *counts[i] = count;
    }
    reply->quadrant = call_allocate(b->call, count, sizeof *reply->quadrant), reply->n_quadrant = count;
    reply->motors = call_allocate(b->call, t->count, sizeof *reply->motors);
    reply->brake_torque = t->brakes, reply->n_brake_torque = t->brakes ? count : 0;
    reply->alternatives = call_allocate(b->call, t->first_other[t->count] + 1, sizeof *reply->alternatives);
    reply->choices = call_allocate(b->call, t->first_other[t->count] + 1, sizeof *reply->choices);
    reply->passive_forces = passive_forces_write(b->call, &b->values.passive);
    return call_has_ended(b->call) ? NULL : reply;
}

/* Memory for the motion of one motor: n numbers each. */
typedef struct motor_columns {
    dyn_motor_state *states;
    double *loads, *torques, *speeds, *temperatures, *brakes;
} motor_columns;

/* Moves the part of the torques that the brake of motor i takes from column `torques` to column `brakes`. */
static void engage_brake(const batch *b, const motors_task *t, size_t i, const motor_columns *to) {
    for (size_t s = 0; s < b->n; s++) {
        size_t k = s * t->count + i;
        double speed = t->v ? dyn_drive_speed(&t->drives[i], t->v + s * b->nv) : 0;
        to->brakes[s] = dyn_drive_brake_torque(&t->drives[i], speed, to->torques[s]);
        t->brakes[k] = to->brakes[s];
        t->torques[k] = to->torques[s] -= to->brakes[s];
    }
}

/* Evaluates `drive`, which is motor i or in its place, with the torques in to->torques. */
static dyn_drive_summary evaluate(const batch *b, const motors_task *t, size_t i, const dyn_drive *drive,
                                  bool is_braked, const motor_columns *to) {
    dyn_drive_summary summary;
    take_column(b->n, t->count, i, t->loads, to->loads);
    for (size_t s = 0; s < b->n; s++) {
        to->speeds[s] = t->v ? dyn_drive_speed(drive, t->v + s * b->nv) : 0;
    }
    const dyn_drive_series series = {.n = b->n,
                                     .time = t->time,
                                     .loads = to->loads,
                                     .speeds = to->speeds,
                                     .torques = to->torques,
                                     .brakes = is_braked ? to->brakes : NULL,
                                     .ambient = t->ambient,
                                     .start = t->start};
    dyn_drive_evaluate(drive, &series, to->states, to->temperatures, &summary);
    return summary;
}

/* Writes the summaries of the drives in place of motor i. */
static void write_others(batch *b, const motors_task *t, size_t i, const motor_columns *columns,
                         Dynamics__V1__EvaluateMotorsReply *reply) {
    size_t first = t->first_other[i], count = t->first_other[i + 1] - first;
    for (size_t k = 0; k < count && !call_has_ended(b->call); k++) {
        const dyn_drive *other = &t->others[first + k];
        take_column(b->n, count, k, t->other_torques + b->n * first, columns->torques);
        dyn_drive_summary summary = evaluate(b, t, i, other, false, columns);
        Dynamics__V1__MotorSummary *written = write_summary(b, t, i, other, &summary);
        if (written && t->choices[first + k]) {
            written->choice = call_string(b->call, t->choices[first + k]);
            reply->choices[reply->n_choices++] = written;
        } else if (written) {
            reply->alternatives[reply->n_alternatives++] = written;
        }
    }
}

static void answer(batch *b, const motors_task *t) {
    Dynamics__V1__EvaluateMotorsReply *reply = create_reply(b, t);
    double *memory = batch_output(b, 5);
    const motor_columns columns = {.states = call_allocate(b->call, b->n, sizeof(dyn_motor_state)),
                                   .loads = memory,
                                   .torques = memory + b->n,
                                   .speeds = memory + 2 * b->n,
                                   .temperatures = memory + 3 * b->n,
                                   .brakes = memory + 4 * b->n};
    for (size_t i = 0; i < t->count && !call_has_ended(b->call); i++) {
        take_column(b->n, t->count, i, t->torques, columns.torques);
        if (t->is_braked[i]) {
            engage_brake(b, t, i, &columns);
        }
        dyn_drive_summary summary = evaluate(b, t, i, &t->drives[i], t->is_braked[i], &columns);
        write_states(b, t, i, columns.states, columns.speeds, columns.temperatures, reply);
        reply->motors[reply->n_motors++] = write_summary(b, t, i, &t->drives[i], &summary);
        reply->is_feasible = reply->is_feasible && summary.excess_count == 0;
        write_others(b, t, i, &columns, reply);
    }
}

void method_evaluate_motors(call *c) {
    const Dynamics__V1__EvaluateMotorsRequest *r = c->request->evaluate_motors;
    batch b;
    motors_task t = {0};
    query_parts supported = QUERY_JOINT_NAMES | QUERY_GRAVITY | QUERY_PAYLOADS | QUERY_FORCES | QUERY_PASSIVE_FORCES |
                            (r->n_tau > 0 ? QUERY_CONSTRAINTS : 0);
    bool is_ready =
        batch_open(c, &b, r->query, supported, r->n_q, r->q) && find_drives(&b, &t) && read_options(&b, r, &t);
    double nv = is_ready ? (double)b.nv : 0;
    if (is_ready) {
        batch_expect(&b, 13 * t.count);
    }
    if (is_ready && batch_begin(&b, 500 + 300 * nv + 10 * nv * nv)) {
        t.v = batch_input(&b, r->n_v, r->v);
        t.a = batch_input(&b, r->n_a, r->a);
        t.tau = batch_input(&b, r->n_tau, r->tau);
        if (!call_has_ended(c) && compute_torques(&b, r->n_brakes > 0, &t)) {
            answer(&b, &t);
        }
    }
    batch_close(&b);
}
