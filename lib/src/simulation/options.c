/* SPDX-License-Identifier: BSD-2-Clause */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../model/contact_surface.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "simulator.h"

enum { MOST_SUBSTEPS = 10000, MOST_SWEEPS = 10000 };

/* Numeric option and its range. */
typedef struct bounded_option {
    const char *name;
    double value, least, most;
    bool is_least_allowed;
    bool has_index; /* the value is one of several */
    size_t index;
} bounded_option;

static dyn_status check_number(const bounded_option *o, dyn_error *error) {
    bool is_large_enough = o->is_least_allowed ? o->value >= o->least : o->value > o->least;
    if (isfinite(o->value) && is_large_enough && o->value <= o->most) {
        return DYN_OK;
    }
    char bound[64] = "a finite number";
    if (o->most < DBL_MAX) {
        snprintf(bound, sizeof bound, "a number from %g to %g", o->least, o->most);
    } else if (o->least > -DBL_MAX) {
        snprintf(bound, sizeof bound, "a finite number %s %g", o->is_least_allowed ? "of at least" : "above", o->least);
    }
    const dyn_error_site site = {.argument = o->name, .has_index = o->has_index, .index = o->index};
    return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "%s is %g; pass %s", o->name, o->value, bound);
}

static dyn_status check_numbers(const dyn_simulation_options *o, dyn_error *error) {
    const bounded_option numbers[] = {
        {"step_length", o->step_length, 0, DBL_MAX, false, false, 0},
        {"substeps", o->substeps, 1, MOST_SUBSTEPS, true, false, 0},
        {"friction_velocity", o->friction_velocity, 0, DBL_MAX, false, false, 0},
        {"restitution", o->restitution, 0, 1, true, false, 0},
        {"rest_velocity", o->rest_velocity, 0, DBL_MAX, true, false, 0},
        {"stop_stiffness", o->stop_stiffness, 0, DBL_MAX, true, false, 0},
        {"stop_damping", o->stop_damping, 0, DBL_MAX, true, false, 0},
        {"constraint_stabilization", o->constraint_stabilization, 0, DBL_MAX, true, false, 0},
        {"contact_sweeps", o->contact_sweeps, 1, MOST_SWEEPS, true, false, 0},
        {"velocity_bound", o->velocity_bound, 0, DBL_MAX, false, false, 0},
        {"gravity", o->has_gravity ? o->gravity[0] : 0, -DBL_MAX, DBL_MAX, true, false, 0},
        {"gravity", o->has_gravity ? o->gravity[1] : 0, -DBL_MAX, DBL_MAX, true, false, 0},
        {"gravity", o->has_gravity ? o->gravity[2] : 0, -DBL_MAX, DBL_MAX, true, false, 0},
    };
    dyn_status status = DYN_OK;
    for (size_t i = 0; status == DYN_OK && i < sizeof numbers / sizeof numbers[0]; i++) {
        status = check_number(&numbers[i], error);
    }
    return status;
}

dyn_status simulation_choice_check(const char *name, int value, int most, dyn_error *error) {
    const dyn_error_site site = {.argument = name};
    return value >= 0 && value <= most
               ? DYN_OK
               : dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "%s is %d; it is one of 0 to %d", name, value, most);
}

static dyn_status check_gains(const dyn_model *model, const char *name, const double *gains, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (int j = 0; gains && status == DYN_OK && j < model->nv; j++) {
        status = check_number(&(bounded_option){name, gains[j], 0, DBL_MAX, true, true, (size_t)j}, error);
    }
    return status;
}

int find_brake(const dyn_model *model, const char *name) {
    for (int i = 0; i < model->description->machine_element_count; i++) {
        const dyn_machine_element_description *e = &model->description->machine_elements[i];
        if (e->kind == DYN_MACHINE_ELEMENT_KIND_BRAKE && strcmp(e->name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static dyn_status check_brakes(const dyn_model *model, const dyn_simulation_options *o, dyn_error *error) {
    for (size_t i = 0; i < o->brake_count; i++) {
        const dyn_error_site site = {.argument = "brakes", .has_index = true, .index = i};
        if (find_brake(model, o->brakes[i]) < 0) {
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "the model has no brake \"%s\"; correct the name",
                                o->brakes[i]);
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(o->brakes[k], o->brakes[i]) == 0) {
                return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "brake \"%s\" is engaged twice; name it once",
                                    o->brakes[i]);
            }
        }
    }
    return DYN_OK;
}

dyn_status simulation_options_check(const dyn_model *model, const dyn_simulation_options *options, dyn_error *error) {
    dyn_status status = check_numbers(options, error);
    if (status == DYN_OK) {
        status = simulation_choice_check("integrator", (int)options->integrator, DYN_INTEGRATOR_RUNGE_KUTTA_4, error);
    }
    bool can_touch = count_contact_pairs(model->description) > 0;
    if (status == DYN_OK && options->integrator != DYN_INTEGRATOR_SEMI_IMPLICIT_EULER &&
        (can_touch || options->solve_joints)) {
        const dyn_error_site site = {.argument = "integrator"};
        status = dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                              "%s, whose impulses the semi-implicit Euler method finds; choose it",
                              can_touch ? "the model has contact surfaces" : "solve_joints states stops and friction");
    }
    if (status == DYN_OK) {
        status = simulation_choice_check("contact_law", (int)options->contact_law, DYN_CONTACT_LAW_SOFT, error);
    }
    if (status == DYN_OK) {
        status = simulation_choice_check("stop", (int)options->stop, DYN_JOINT_STOP_NONE, error);
    }
    if (status == DYN_OK) {
        status = simulation_choice_check("control", (int)options->control, DYN_CONTROL_COMPUTED_TORQUE, error);
    }
    if (status == DYN_OK) {
        status = check_gains(model, "control_stiffness", options->control_stiffness, error);
    }
    if (status == DYN_OK) {
        status = check_gains(model, "control_damping", options->control_damping, error);
    }
    if (status == DYN_OK) {
        status = check_brakes(model, options, error);
    }
    return status == DYN_OK && !options->ignore_gear_losses ? dyn_check_gears(model, "ignore_gear_losses", error)
                                                            : status;
}
