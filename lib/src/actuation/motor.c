/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/motor.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../model/description.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "gear_law.h"

/* ---- Motors of a model ------------------------------------------------------------------------------------------- */

/* Returns the first element of a kind at a joint, or NULL. */
static const dyn_machine_element_description *element_at(const dyn_builder *description, const char *joint,
                                                         dyn_machine_element_kind kind) {
    for (int i = 0; i < description->machine_element_count; i++) {
        const dyn_machine_element_description *e = &description->machine_elements[i];
        if (e->kind == kind && strcmp(e->joint, joint) == 0) {
            return e;
        }
    }
    return NULL;
}

/* Finds the drive of a shaft. Returns false for one without a motor, and for one whose joints do not move. */
static bool find_shaft_drive(const dyn_model *model, const dyn_machine_element_description *e, dyn_drive *drive) {
    if (!e->shaft.has_motor) {
        return false;
    }
    const dyn_machine_element_description *brake =
        element_at(model->description, e->name, DYN_MACHINE_ELEMENT_KIND_BRAKE);
    const dyn_machine_element_description *gear =
        element_at(model->description, e->name, DYN_MACHINE_ELEMENT_KIND_GEAR);
    shaft_rates shaft;
    bool is_joint = dyn_model_find_joint(model, e->name) >= 0;
    if (!dyn_shaft_rates(model, &e->shaft, &shaft)) {
        return false;
    }
    *drive = (dyn_drive){.name = e->name,
                         .joint = e->shaft.joints[0],
                         .v_index = shaft.coordinates[0],
                         .ratio = 1,
                         .multiplier = 1,
                         .inertia = e->rotor.axial_inertia,
                         .motor = e->motor,
                         .brake_name = brake && !is_joint ? brake->name : NULL,
                         .brake = brake && !is_joint ? brake->brake.torque : 0,
                         .gear = {.ratio = 1, .efficiency = 1, .back_driving_efficiency = 1},
                         .coordinate_count = shaft.count};
    if (gear && !is_joint) {
        drive->gear = gear->gear;
        drive->gear.ratio = 1;
    }
    memcpy(drive->coordinates, shaft.coordinates, sizeof drive->coordinates);
    memcpy(drive->rates, shaft.rates, sizeof drive->rates);
    return true;
}

/* Finds the drive of a machine element. Returns false for one that is no motor, and for one whose joint does not
 * move. */
static bool find_drive(const dyn_model *model, int element, dyn_drive *drive) {
    const dyn_builder *description = model->description;
    const dyn_machine_element_description *e = &description->machine_elements[element];
    const dyn_joint *joint = dyn_model_joint(model, dyn_model_find_joint(model, e->joint));
    if (e->kind == DYN_MACHINE_ELEMENT_KIND_SHAFT) {
        return find_shaft_drive(model, e, drive);
    }
    if (e->kind != DYN_MACHINE_ELEMENT_KIND_MOTOR || !joint || (joint->master >= 0 && joint->multiplier == 0)) {
        return false;
    }
    const dyn_machine_element_description *rotor = element_at(description, e->joint, DYN_MACHINE_ELEMENT_KIND_ROTOR);
    const dyn_machine_element_description *gear = element_at(description, e->joint, DYN_MACHINE_ELEMENT_KIND_GEAR);
    const dyn_machine_element_description *brake = element_at(description, e->joint, DYN_MACHINE_ELEMENT_KIND_BRAKE);
    double stated = gear && gear->gear.ratio != 0 ? gear->gear.ratio : 1;
    *drive = (dyn_drive){.name = e->name,
                         .joint = e->joint,
                         .v_index = joint->v_index,
                         .multiplier = joint->master >= 0 ? joint->multiplier : 1,
                         .inertia = rotor ? rotor->rotor.axial_inertia : 0,
                         .motor = e->motor,
                         .brake_name = brake ? brake->name : NULL,
                         .brake = brake ? brake->brake.torque : 0,
                         .gear = {.efficiency = 1, .back_driving_efficiency = 1}};
    if (gear) {
        drive->gear = gear->gear;
    }
    drive->gear.ratio = rotor ? rotor->rotor.ratio : stated;
    drive->ratio = drive->gear.ratio * drive->multiplier;
    return true;
}

int dyn_model_rotor_count(const dyn_model *model) {
    return model->rotor_count;
}

int dyn_model_drive_count(const dyn_model *model) {
    int count = 0;
    for (int i = 0; i < model->description->machine_element_count; i++) {
        dyn_drive drive;
        count += find_drive(model, i, &drive);
    }
    return count;
}

double dyn_drive_speed(const dyn_drive *drive, const double *v) {
    double rate = drive->coordinate_count == 0 ? v[drive->v_index] : 0;
    for (int k = 0; k < drive->coordinate_count; k++) {
        rate += drive->rates[k] * v[drive->coordinates[k]];
    }
    return drive->ratio * rate;
}

/* Returns whether a coordinate moves a drive. */
static bool moves_with(const dyn_drive *drive, int coordinate) {
    bool found = drive->coordinate_count == 0 && drive->v_index == coordinate;
    for (int k = 0; k < drive->coordinate_count; k++) {
        found = found || drive->coordinates[k] == coordinate;
    }
    return found;
}

static dyn_status refuse_drive(const dyn_drive *drive, dyn_error *error, const char *reason) {
    char place[320];
    snprintf(place, sizeof place, "machine element %s", drive->name);
    return dyn_error_set(error, DYN_FAILED_PRECONDITION, place, "%s", reason);
}

/* Checks that no two drives of which one is of a joint move with the same coordinate. */
static dyn_status check_joint_drives(int count, const dyn_drive *drives, dyn_error *error) {
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < i; k++) {
            const dyn_drive *of_joint = drives[i].coordinate_count == 0 ? &drives[i] : &drives[k];
            const dyn_drive *other = of_joint == &drives[i] ? &drives[k] : &drives[i];
            if (of_joint->coordinate_count == 0 && moves_with(other, of_joint->v_index)) {
                char reason[800];
                snprintf(reason, sizeof reason,
                         "motors \"%s\" and \"%s\" move the same coordinate, that of joint \"%s\"; the motion "
                         "does not determine how they share its load",
                         drives[k].name, drives[i].name, drives[k].joint);
                return refuse_drive(&drives[i], error, reason);
            }
        }
    }
    return DYN_OK;
}

/* Lists the coordinates that share the load of the shaft of a machine element, whose drive is `drive`. */
static dyn_status share_load(const dyn_model *model, int element, dyn_drive *drive, dyn_error *error) {
    shaft_load load;
    dyn_status status = dyn_shaft_load(model, element, &load, error);
    if (status == DYN_OK) {
        drive->coordinate_count = load.at.count;
        memcpy(drive->coordinates, load.at.coordinates, sizeof drive->coordinates);
        memcpy(drive->rates, load.at.rates, sizeof drive->rates);
        memcpy(drive->shares, load.shares, sizeof drive->shares);
    }
    return status;
}

dyn_status dyn_model_drives(const dyn_model *model, dyn_drive *drives, dyn_error *error) {
    int count = 0;
    dyn_drive found;
    for (int i = 0; i < model->description->machine_element_count; i++) {
        if (find_drive(model, i, &found)) {
            drives[count++] = found;
        }
    }
    dyn_status status = check_joint_drives(count, drives, error);
    for (int i = 0, k = 0; i < model->description->machine_element_count && status == DYN_OK; i++) {
        if (find_drive(model, i, &found)) {
            status = drives[k].coordinate_count > 0 ? share_load(model, i, &drives[k], error) : DYN_OK;
            k++;
        }
    }
    return status;
}

/* ---- Torques ----------------------------------------------------------------------------------------------------- */

/* Returns the load of a drive in terms of coordinates. */
static shaft_load load_of(const dyn_drive *drive) {
    shaft_load load = {{1, {drive->v_index}, {1}}, {1}};
    if (drive->coordinate_count > 0) {
        load.at.count = drive->coordinate_count;
        memcpy(load.at.coordinates, drive->coordinates, sizeof load.at.coordinates);
        memcpy(load.at.rates, drive->rates, sizeof load.at.rates);
        memcpy(load.shares, drive->shares, sizeof load.shares);
    }
    return load;
}

/* Returns what accelerates the rotor of a shaft, or the rotors of the coordinate of a joint. */
static double rotor_force(const dyn_model *model, const dyn_drive *drive, const dyn_drive_motion *motion,
                          size_t sample) {
    size_t nv = (size_t)model->nv, joints = (size_t)model->joint_count;
    const shaft_load load = load_of(drive);
    if (!motion->wrenches) {
        return 0;
    }
    return dyn_rotor_torque(model, &load, motion->forces + sample * nv, motion->wrenches + sample * joints * 6);
}

/* Passive forces of a coordinate: all that count, and those of them that act on the side of the rotor. */
typedef struct passive_sum {
    double all, rotor;
} passive_sum;

/* Returns a friction law of the rate w as that of another gear, at which the rate is `factor` times as great. */
static friction_law scale_law(const friction_law *law, double factor) {
    friction_law scaled = *law;
    double size = fabs(factor);
    scaled.stribeck_velocity /= size;
    scaled.transition_velocity /= size;
    for (int i = 0; i < 2; i++) {
        int from = factor < 0 ? 1 - i : i;
        scaled.viscous[i] = size * size * law->viscous[from];
        scaled.coulomb[i] = size * law->coulomb[from];
        scaled.excess[i] = size * law->excess[from];
    }
    return scaled;
}

/* Adds up the passive forces of a coordinate. `factor` is the speed of the rotors over that of the model's gear. */
static passive_sum passive_forces_of(const dyn_model *model, const dyn_passive_parts *parts, int v_index, double factor,
                                     double q, double v) {
    passive_sum sum = {0};
    for (int j = 0; j < model->joint_count; j++) {
        joint_losses losses = dyn_joint_losses(model, &model->joints[j]);
        if (v_index >= losses.v_index && v_index < losses.v_index + losses.nv) {
            sum.all += dyn_joint_loss_force(&losses, parts, v);
        }
    }
    for (int i = 0; i < model->description->machine_element_count; i++) {
        const dyn_machine_element_description *e = &model->description->machine_elements[i];
        friction_law law;
        spring_law spring;
        if (dyn_element_friction(model, i, &law) && law.v_index == v_index) {
            bool is_of_rotor = e->friction.side == DYN_GEAR_SIDE_ROTOR;
            sum.all += dyn_friction_force(&law, parts, v);
            law = is_of_rotor ? scale_law(&law, factor) : law;
            sum.rotor += is_of_rotor ? dyn_friction_force(&law, parts, v) : 0;
        }
        if (parts->springs && dyn_element_spring(model, i, &spring) && spring.v_index == v_index) {
            sum.all -= spring.stiffness * (q - spring.rest);
        }
    }
    return sum;
}

/* Returns the load at the input of the gear, as a force of the coordinate. */
static double load_at_motor(const dyn_gear *gear, double load, double v, double a) {
    double power = load * v, rise = load * a, sign = power != 0 ? power : rise;
    if (sign > 0) {
        return load / gear->efficiency;
    }
    return sign < 0 ? load * gear->back_driving_efficiency : load;
}

/* Returns the coordinate q of a joint with one coordinate in v, which has one number in q. */
static double position_of(const dyn_model *model, int v_index, const double *q) {
    int j = 0;
    while (model->joints[j].v_index != v_index) {
        j++;
    }
    return q[model->joints[j].q_index];
}

/* Forces of the coordinate of one drive in one sample. */
typedef struct drive_forces {
    double q, v, a;
    double load;     /* F, as a force of the coordinate */
    double rotors;   /* tau_R */
    double friction; /* r_m */
} drive_forces;

static drive_forces forces_of(const dyn_model *model, const dyn_drive *drive, const dyn_drive_motion *m,
                              size_t sample) {
    size_t nv = (size_t)model->nv, k = sample * nv + (size_t)drive->v_index;
    drive_forces f = {.q = position_of(model, drive->v_index, m->q + sample * (size_t)model->nq),
                      .v = m->v ? m->v[k] : 0,
                      .a = m->a ? m->a[k] : 0};
    passive_sum passive = passive_forces_of(model, &m->parts, drive->v_index, 1, f.q, f.v);
    f.rotors = rotor_force(model, drive, m, sample);
    f.friction = passive.rotor;
    f.load = (m->tau ? m->tau[k] : m->forces[k] - passive.all) - f.rotors + f.friction;
    return f;
}

/* Returns the friction of a shaft whose motor is `drive`, if it turns `factor` times as fast as it does at these rates;
 * as a torque of the rate at the factor one. */
static double shaft_friction(const dyn_model *model, const dyn_drive *drive, const dyn_drive_motion *m, size_t sample,
                             double factor) {
    double sum = 0, rate = m->v ? dyn_drive_speed(drive, m->v + sample * (size_t)model->nv) : 0;
    for (int i = 0; i < model->description->machine_element_count; i++) {
        const dyn_machine_element_description *e = &model->description->machine_elements[i];
        shaft_rates shaft;
        friction_law law;
        if (e->kind == DYN_MACHINE_ELEMENT_KIND_FRICTION && strcmp(e->joint, drive->name) == 0 &&
            dyn_element_on_shaft(model, i, &shaft, &law)) {
            law = scale_law(&law, factor);
            sum += dyn_friction_force(&law, &m->parts, rate);
        }
    }
    return sum;
}

/* Returns the forces of the motor of a shaft, as torques at its rate: its share of those of all coordinates that share
 * its load. tau of the joints includes its friction; inverse dynamics does not. */
static drive_forces forces_of_shaft(const dyn_model *model, const dyn_drive *drive, const dyn_drive_motion *m,
                                    size_t sample) {
    size_t first = sample * (size_t)model->nv;
    drive_forces f = {.v = m->v ? dyn_drive_speed(drive, m->v + first) : 0,
                      .a = m->a ? dyn_drive_speed(drive, m->a + first) : 0,
                      .rotors = rotor_force(model, drive, m, sample),
                      .friction = shaft_friction(model, drive, m, sample, 1)};
    for (int i = 0; i < drive->coordinate_count; i++) {
        int c = drive->coordinates[i];
        size_t k = first + (size_t)c;
        double q = position_of(model, c, m->q + sample * (size_t)model->nq), v = m->v ? m->v[k] : 0;
        double passive = m->tau ? 0 : passive_forces_of(model, &m->parts, c, 1, q, v).all;
        f.load += drive->shares[i] * (m->tau ? m->tau[k] : m->forces[k] - passive);
    }
    f.load += (m->tau ? f.friction : 0) - f.rotors;
    return f;
}

/* Returns the torque of a motor with these forces. */
static double torque_of(const dyn_drive *drive, const drive_forces *f) {
    return (f->rotors - f->friction + load_at_motor(&drive->gear, f->load, f->v, f->a)) / drive->ratio;
}

static dyn_status check_width(const dyn_drive_motion *motion, dyn_error *error) {
    double width = motion->parts.friction_velocity;
    return width > 0 && isfinite(width) ? DYN_OK
                                        : dyn_error_set(error, DYN_INVALID_ARGUMENT, "friction_velocity",
                                                        "it is %g; state a positive number", width);
}

static dyn_status check_torque(const dyn_drive *drive, size_t sample, double torque, dyn_error *error) {
    return isfinite(torque)
               ? DYN_OK
               : dyn_error_set(error, DYN_INVALID_ARGUMENT, "torques", "the torque of motor \"%s\" in sample %zu is %g",
                               drive->name, sample, torque);
}

dyn_status dyn_drive_torques(const dyn_model *model, int count, const dyn_drive *drives, const dyn_drive_motion *motion,
                             double *loads, double *torques, dyn_error *error) {
    dyn_status status = check_width(motion, error);
    for (size_t s = 0; s < motion->n; s++) {
        for (int i = 0; i < count && status == DYN_OK; i++) {
            size_t k = s * (size_t)count + (size_t)i;
            bool of_shaft = drives[i].coordinate_count > 0;
            const drive_forces f =
                of_shaft ? forces_of_shaft(model, &drives[i], motion, s) : forces_of(model, &drives[i], motion, s);
            loads[k] = f.load / drives[i].multiplier;
            torques[k] = torque_of(&drives[i], &f);
            status = check_torque(&drives[i], s, torques[k], error);
        }
    }
    return status;
}

dyn_drive dyn_drive_at_ratio(const dyn_drive *drive, double ratio) {
    dyn_drive other = *drive;
    other.gear.ratio = ratio;
    other.ratio = ratio * drive->multiplier;
    return other;
}

/* Returns the inertia of the rotor of another drive over that of the model's own rotor. */
static double inertia_factor(const dyn_drive *drive, const dyn_drive *other) {
    if (other->inertia == drive->inertia) {
        return 1;
    }
    return drive->inertia > 0 ? other->inertia / drive->inertia : 0;
}

/* Returns the torque of another drive, for the forces of the model's own. */
static double torque_of_other(const dyn_model *model, const dyn_drive *drive, const dyn_drive *other,
                              const dyn_passive_parts *parts, const drive_forces *own) {
    double G = drive->ratio, factor = other->ratio / G;
    double reaction = own->rotors - drive->inertia * own->a * G * G;
    drive_forces f = *own;
    f.rotors = other->inertia * own->a * other->ratio * other->ratio + factor * inertia_factor(drive, other) * reaction;
    f.friction = passive_forces_of(model, parts, other->v_index, factor, f.q, f.v).rotor;
    return torque_of(other, &f);
}

/* Returns the torque of another motor of a shaft, whose gear turns it G times as fast: T / G, with the friction at that
 * rate and the inertia of its rotor. */
static double shaft_torque_of_other(const dyn_model *model, const dyn_drive *drive, const dyn_drive *other,
                                    const dyn_drive_motion *m, size_t sample) {
    const drive_forces f = forces_of_shaft(model, drive, m, sample);
    double G = other->gear.ratio, friction = shaft_friction(model, drive, m, sample, G);
    double load = load_at_motor(&other->gear, f.load, f.v, f.a) + f.rotors;
    return (load - friction) / G + drive->inertia * f.a * (G - 1 / G) + (other->inertia - drive->inertia) * f.a * G;
}

dyn_status dyn_drive_torques_of_others(const dyn_model *model, const dyn_drive *drive, int count,
                                       const dyn_drive *others, const dyn_drive_motion *motion, double *torques,
                                       dyn_error *error) {
    bool of_shaft = drive->coordinate_count > 0;
    dyn_status status = check_width(motion, error);
    for (size_t s = 0; s < motion->n; s++) {
        const drive_forces own = of_shaft ? (drive_forces){0} : forces_of(model, drive, motion, s);
        for (int k = 0; k < count && status == DYN_OK; k++, torques++) {
            *torques = of_shaft ? shaft_torque_of_other(model, drive, &others[k], motion, s)
                                : torque_of_other(model, drive, &others[k], &motion->parts, &own);
            status = check_torque(&others[k], s, *torques, error);
        }
    }
    return status;
}

/* ---- Heat -------------------------------------------------------------------------------------------------------- */

static const double REFERENCE_TEMPERATURE = 25; /* of the resistance, degrees Celsius */

/* Returns (e^x - 1) / x. */
static double phi(double x) {
    return x != 0 ? expm1(x) / x : 1;
}

/* Returns the temperature of one body after `duration`: time dT/dt = resistance heat - (T - outside). */
static double heat_one(const dyn_motor *motor, double square, double resistance, double time, double duration,
                       double outside, double before) {
    double gain = resistance * square * motor->resistance, c = motor->temperature_coefficient;
    double rate = (gain * c - 1) / time;
    double slope = (gain * (1 + c * (before - REFERENCE_TEMPERATURE)) - (before - outside)) / time;
    return before + duration * phi(rate * duration) * slope;
}

/* Advances both bodies: T(t) = T + t phi(A t) T' for the linear system with the matrix A. The off-diagonal entries of A
 * are positive, so that its eigenvalues x and y are real and differ:
 *
 *     phi(A t) = phi(x t) + (A - x) (phi(y t) - phi(x t)) / (y - x) */
static dyn_motor_temperature heat_two(const dyn_motor *m, double square, double duration, double ambient,
                                      dyn_motor_temperature before) {
    double gain = m->winding_resistance * square * m->resistance, c = m->temperature_coefficient;
    double share = m->housing_resistance / m->winding_resistance;
    const double A[4] = {(gain * c - 1) / m->winding_time_constant, 1 / m->winding_time_constant,
                         share / m->housing_time_constant, -(share + 1) / m->housing_time_constant};
    double step = before.winding - before.housing;
    const double slope[2] = {(gain * (1 + c * (before.winding - REFERENCE_TEMPERATURE)) - step) /
                                 m->winding_time_constant,
                             (share * step - (before.housing - ambient)) / m->housing_time_constant};
    double mean = (A[0] + A[3]) / 2, half = hypot((A[0] - A[3]) / 2, sqrt(A[1] * A[2])), x = mean + half,
           y = mean - half;
    double phi_x = phi(x * duration), slant = (phi(y * duration) - phi_x) / (y - x);
    double w = phi_x * slope[0] + slant * ((A[0] - x) * slope[0] + A[1] * slope[1]);
    double h = phi_x * slope[1] + slant * (A[2] * slope[0] + (A[3] - x) * slope[1]);
    return (dyn_motor_temperature){before.winding + duration * w, before.housing + duration * h};
}

dyn_motor_temperature dyn_motor_heat(const dyn_motor *motor, double current, double duration, double ambient,
                                     dyn_motor_temperature before) {
    double square = current * current;
    if (motor->winding_resistance > 0 && motor->housing_resistance > 0) {
        return heat_two(motor, square, duration, ambient, before);
    }
    if (motor->winding_resistance > 0) {
        before.winding = heat_one(motor, square, motor->winding_resistance, motor->winding_time_constant, duration,
                                  ambient, before.winding);
        before.housing = ambient;
    } else if (motor->housing_resistance > 0) {
        before.winding = heat_one(motor, square, motor->housing_resistance, motor->housing_time_constant, duration,
                                  ambient, before.housing);
        before.housing = before.winding;
    } else {
        before = (dyn_motor_temperature){ambient, ambient};
    }
    return before;
}

/* ---- State and limits -------------------------------------------------------------------------------------------- */

/* Returns a limit, of which zero is none. */
static double limit_of(double stated) {
    return stated > 0 ? stated : INFINITY;
}

double dyn_motor_no_load_speed(const dyn_motor *motor) {
    return limit_of(motor->maximum_voltage) / motor->torque_constant;
}

double dyn_motor_stall_torque(const dyn_motor *motor) {
    return motor->torque_constant * limit_of(motor->maximum_voltage) / motor->resistance;
}

double dyn_drive_limit_value(const dyn_drive *drive, dyn_drive_limit limit) {
    const dyn_motor *m = &drive->motor;
    const dyn_gear *g = &drive->gear;
    const double stated[DYN_DRIVE_LIMITS] = {
        [DYN_DRIVE_LIMIT_VOLTAGE] = m->maximum_voltage,
        [DYN_DRIVE_LIMIT_CURRENT] = m->maximum_current,
        [DYN_DRIVE_LIMIT_CONTINUOUS_CURRENT] = m->continuous_current,
        [DYN_DRIVE_LIMIT_SPEED] = m->maximum_speed,
        [DYN_DRIVE_LIMIT_TEMPERATURE] = m->maximum_temperature,
        [DYN_DRIVE_LIMIT_GEAR_TORQUE] = g->maximum_torque,
        [DYN_DRIVE_LIMIT_GEAR_CONTINUOUS] = g->continuous_torque,
        [DYN_DRIVE_LIMIT_GEAR_SPEED] = g->maximum_speed,
        [DYN_DRIVE_LIMIT_BRAKE] = drive->brake,
    };
    return limit_of(stated[limit]);
}

/* Sets the distances to the limits of figure 8.10: of torque at this speed, and of speed at this torque. */
static void set_margins(const dyn_drive *drive, const dyn_motor_input *in, double R, dyn_motor_state *state) {
    const dyn_motor *m = &drive->motor;
    double k_t = m->torque_constant, V = limit_of(m->maximum_voltage);
    double backward = in->torque < 0 ? -k_t * in->speed : k_t * in->speed;
    double torque = fmin(k_t * limit_of(m->maximum_current), k_t * (V - backward) / R);
    double drop = in->speed < 0 ? -R * state->current : R * state->current;
    double speed = fmin(fmin(limit_of(m->maximum_speed), limit_of(drive->gear.maximum_speed)), (V - drop) / k_t);
    state->torque_margin = torque - fabs(in->torque);
    state->speed_margin = speed - fabs(in->speed);
}

dyn_motor_state dyn_motor_evaluate(const dyn_drive *drive, const dyn_motor_input *in) {
    const dyn_motor *m = &drive->motor;
    double R = m->resistance * (1 + m->temperature_coefficient * (in->temperature - REFERENCE_TEMPERATURE));
    double i = in->torque / m->torque_constant;
    dyn_motor_state state = {.current = i,
                             .voltage = R * i + m->inductance * in->current_rate + m->torque_constant * in->speed,
                             .mechanical_power = in->torque * in->speed,
                             .heat = R * i * i};
    double through = in->load * in->speed / drive->gear.ratio;
    state.electrical_power = state.voltage * i;
    state.gear_loss =
        through > 0 ? through * (1 / drive->gear.efficiency - 1) : -through * (1 - drive->gear.back_driving_efficiency);
    state.quadrant = in->torque >= 0 ? (in->speed >= 0 ? 1 : 2) : (in->speed < 0 ? 3 : 4);
    set_margins(drive, in, R, &state);
    return state;
}
