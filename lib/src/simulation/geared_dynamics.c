/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/geared_dynamics.h>

#include <math.h>
#include <string.h>

#include <dynamics/constrained_inverse_dynamics.h>
#include <dynamics/inverse_dynamics.h>
#include <dynamics/joint_wrench.h>
#include <dynamics/machine_element.h>

#include "../actuation/gear_law.h"
#include "../model/description.h"
#include "../model/error.h"
#include "../model/linear_system.h"
#include "../model/normal_form.h"

enum { MOST_ITERATIONS = 100 };

static const double WEIGHTLESS[3] = {0, 0, 0};

/* Parts of the caller's memory. Those of the second group exist for a model with rotors alone. */
typedef struct geared_memory {
    double *r;       /* n x nv: passive forces */
    double *forces;  /* n x nv: tau + r - f_base, then a; or inverse dynamics without losses */
    double *base;    /* n x nv: f_base */
    double *loads;   /* n x gears: F without losses, then F */
    double *laws;    /* gears: gear_law */
    double *factors; /* gears: mu s sign(F) */
    double *F;       /* gears */

    double *inverse;  /* n x nv: inverse dynamics of the tree */
    double *wrenches; /* n x joints x 6 */
    double *rotors;   /* n x gears: tau_R */
    double *response; /* gears x gears: D */
    double *matrix;   /* gears x gears: 1 + D Phi */
    double *order;    /* gears: memory of linear_solve */
    double *unit, *a; /* nv each */
} geared_memory;

/* Lays out the parts from `memory` on; returns their size. */
static size_t lay_out(const dyn_model *model, size_t n, double *memory, geared_memory *m) {
    size_t nv = (size_t)model->nv, gears = (size_t)dyn_lossy_gears(model), used = 0;
    bool has_rotors = model->rotor_count > 0;
    const struct {
        double **part;
        size_t numbers;
        bool is_of_rotors;
    } parts[] = {
        {&m->r, n * nv, false},
        {&m->forces, n * nv, false},
        {&m->base, n * nv, false},
        {&m->loads, n * gears, false},
        {&m->laws, gears * (sizeof(gear_law) / sizeof(double)), false},
        {&m->factors, gears, false},
        {&m->F, gears, false},
        {&m->inverse, n * nv, true},
        {&m->wrenches, n * 6 * (size_t)model->joint_count, true},
        {&m->rotors, n * gears, true},
        {&m->response, gears * gears, true},
        {&m->matrix, gears * gears, true},
        {&m->order, gears, true},
        {&m->unit, nv, true},
        {&m->a, nv, true},
    };
    *m = (geared_memory){0};
    for (size_t i = 0; gears > 0 && i < sizeof parts / sizeof *parts; i++) {
        size_t numbers = parts[i].is_of_rotors && !has_rotors ? 0 : parts[i].numbers;
        *parts[i].part = memory && numbers > 0 ? memory + used : NULL;
        used += numbers;
    }
    return used;
}

size_t dyn_geared_memory(const dyn_model *model, size_t n) {
    geared_memory unused;
    return lay_out(model, n, NULL, &unused);
}

/* States of gears, with the parts of their memory. */
typedef struct geared {
    const dyn_model *model;
    dyn_workspace *workspace;
    const dyn_geared_states *states;
    geared_memory m;
    gear_law *laws; /* of all gears with losses */
    size_t nv, gears;
    bool has_rows; /* constraints of the model, or rows of the caller */
} geared;

/* Finds the gears with losses. */
static void find_laws(geared *g) {
    g->laws = (gear_law *)(void *)g->m.laws;
    for (int i = 0, k = 0; i < dyn_machine_elements(g->model); i++) {
        gear_law found;
        if (dyn_element_gear(g->model, i, &found)) {
            g->laws[k++] = found;
        }
    }
}

/* Returns the rows of the caller, or NULL. */
static const dyn_given_rows *given_of(const dyn_geared_states *states) {
    const dyn_given_rows *given = states->constraints ? states->constraints->given : NULL;
    return given && given->count > 0 ? given : NULL;
}

/* Checks the arguments, clears the losses, and computes the passive forces and those of the base. */
static dyn_status begin(const dyn_model *model, dyn_workspace *workspace, const dyn_geared_states *states,
                        double *losses, geared *g, dyn_error *error) {
    *g = (geared){.model = model,
                  .workspace = workspace,
                  .states = states,
                  .nv = (size_t)model->nv,
                  .gears = (size_t)dyn_lossy_gears(model),
                  .has_rows = model->constraint_rows > 0 || given_of(states)};
    memset(losses, 0, states->n * g->nv * sizeof *losses);
    if (g->gears == 0) {
        return DYN_OK;
    }
    lay_out(model, states->n, states->memory, &g->m);
    find_laws(g);
    memset(g->m.r, 0, states->n * g->nv * sizeof *g->m.r);
    memset(g->m.base, 0, states->n * g->nv * sizeof *g->m.base);
    dyn_status status = dyn_check_gears(model, "gear_losses", error);
    if (status == DYN_OK) {
        status = dyn_add_passive_forces(model, states->n, &states->parts, 1, states->q, states->v, g->m.r, error);
    }
    if (status == DYN_OK && states->base) {
        status =
            dyn_base_forces(model, workspace, states->n, states->q, states->v, states->base, g->m.base, NULL, error);
    }
    return status;
}

/* ---- Loads ------------------------------------------------------------------------------------------------------- */

/* Computes tau_R of all gears in a motion, n x gears: the inverse dynamics of the coordinates of the gears, with that
 * of the base, less what their joints transmit. */
static dyn_status find_rotors(const geared *g, const dyn_geared_states *s, const double *a, double *rotors,
                              dyn_error *error) {
    const dyn_model *model = g->model;
    size_t wrench_numbers = 6 * (size_t)model->joint_count;
    dyn_status status = dyn_rnea(model, g->workspace, s->n, s->gravity, s->q, s->v, a, s->forces, g->m.inverse, error);
    if (status == DYN_OK) {
        status =
            dyn_joint_wrenches(model, g->workspace, s->n, s->gravity, s->q, s->v, a, s->forces, g->m.wrenches, error);
    }
    if (status == DYN_OK && s->base) {
        status = dyn_base_forces(model, g->workspace, s->n, s->q, s->v, s->base, g->m.base, g->m.wrenches, error);
    }
    for (size_t i = 0; status == DYN_OK && i < s->n; i++) {
        for (size_t k = 0; k < g->gears; k++) {
            const shaft_load *load = &g->laws[k].load;
            double of_base = s->base ? dyn_shaft_torque(load, g->m.base + i * g->nv) : 0;
            *rotors++ =
                dyn_rotor_torque(model, load, g->m.inverse + i * g->nv, g->m.wrenches + i * wrench_numbers) + of_base;
        }
    }
    return status;
}

/* Returns the rate of gear k in a sample. */
static double rate_of(const geared *g, size_t sample, size_t k) {
    return g->states->v ? dyn_shaft_speed(&g->laws[k].load.at, g->states->v + sample * g->nv) : 0;
}

/* Computes F without losses in a motion or under forces of the joints: forces + r_m - tau_R. */
static dyn_status find_loads(const geared *g, const double *a, const double *forces, dyn_error *error) {
    bool has_rotors = g->model->rotor_count > 0;
    dyn_status status = has_rotors ? find_rotors(g, g->states, a, g->m.rotors, error) : DYN_OK;
    for (size_t i = 0, at = 0; status == DYN_OK && i < g->states->n; i++) {
        const double *v = g->states->v ? g->states->v + i * g->nv : NULL;
        for (size_t k = 0; k < g->gears; k++, at++) {
            const gear_law *law = &g->laws[k];
            double force = forces ? dyn_shaft_torque(&law->load, forces + i * g->nv) : 0;
            double friction = v ? dyn_motor_side_friction(g->model, law, &g->states->parts, v) : 0;
            g->m.loads[at] = force + friction - (has_rotors ? g->m.rotors[at] : 0);
        }
    }
    return status;
}

/* Returns phi = mu s sign(F), with which l = -phi F. A self-locking gear has mu = 1 where it is driven back. */
static double factor_of(const geared *g, const gear_law *law, double v, double F) {
    double w = g->states->parts.friction_velocity, s = v / sqrt(v * v + w * w);
    return F * v > 0 ? law->driving * fabs(s) : -fmin(1, law->back_driving) * fabs(s);
}

/* Adds the forces of the losses l = -phi F of one sample to the coordinates. */
static void add_losses(const geared *g, size_t sample, const double *loads, double *losses) {
    for (size_t k = 0; k < g->gears; k++) {
        const shaft_rates *at = &g->laws[k].load.at;
        double loss = -factor_of(g, &g->laws[k], rate_of(g, sample, k), loads[k]) * loads[k];
        for (int c = 0; c < at->count; c++) {
            losses[sample * g->nv + (size_t)at->coordinates[c]] += at->rates[c] * loss;
        }
    }
}

/* ---- Inverse dynamics -------------------------------------------------------------------------------------------- */

/* Refuses a gear with losses at a passive joint with a rotor: no motor exerts the force that its losses need. */
static dyn_status check_passive_joint(const geared *g, const dyn_machine_element_description *gear, dyn_error *error) {
    const dyn_builder *description = g->model->description;
    int j = dyn_model_find_joint(g->model, gear->joint);
    for (int i = 0; dyn_model_joint_is_passive(g->model, j) && i < dyn_machine_elements(g->model); i++) {
        const dyn_machine_element_description *other = &description->machine_elements[i];
        if (other->kind == DYN_MACHINE_ELEMENT_KIND_ROTOR && strcmp(other->joint, gear->joint) == 0) {
            return dyn_error_set(error, DYN_FAILED_PRECONDITION, "gear_losses",
                                 "joint \"%s\" is passive, and gear \"%s\" loses a part of what rotor \"%s\" "
                                 "needs; give the joint a motor, or ignore the losses",
                                 gear->joint, gear->name, other->name);
        }
    }
    return DYN_OK;
}

/* Refuses a gear with losses on a shaft that a passive joint turns: the losses are forces of that joint too. */
static dyn_status check_passive_shaft(const geared *g, const dyn_machine_element_description *gear,
                                      const dyn_machine_element_description *e, dyn_error *error) {
    for (int k = 0; k < e->shaft.joint_count; k++) {
        if (dyn_model_joint_is_passive(g->model, dyn_model_find_joint(g->model, e->shaft.joints[k]))) {
            return dyn_error_set(error, DYN_FAILED_PRECONDITION, "gear_losses",
                                 "joint \"%s\", which turns shaft \"%s\", is passive, and gear \"%s\" loses a part of "
                                 "the load of that shaft; give the joint a motor, or ignore the losses",
                                 e->shaft.joints[k], e->name, gear->name);
        }
    }
    return DYN_OK;
}

/* Checks the passive joints of a model with constraints. */
static dyn_status check_passive_joints(const geared *g, dyn_error *error) {
    const dyn_machine_element_description *all = g->model->description->machine_elements;
    dyn_status status = DYN_OK;
    for (int i = 0; g->has_rows && status == DYN_OK && i < dyn_machine_elements(g->model); i++) {
        gear_law law;
        if (dyn_element_gear(g->model, i, &law)) {
            status = law.shaft >= 0 ? check_passive_shaft(g, &all[i], &all[law.shaft], error)
                                    : check_passive_joint(g, &all[i], error);
        }
    }
    return status;
}

/* Computes tau + l, the inverse dynamics without losses. */
static dyn_status find_delivered(const geared *g, const double *a, dyn_error *error) {
    const dyn_geared_states *s = g->states;
    dyn_constrained_inverse_options options = DYN_CONSTRAINED_INVERSE_OPTIONS_INIT();
    if (s->motion) {
        options.weights = s->motion->weights;
        options.multiplier_weights = s->motion->multiplier_weights;
        options.tolerance = s->motion->tolerance;
    }
    options.passive = &s->parts;
    options.given = given_of(s);
    options.added = g->m.base;
    return dyn_constrained_inverse_dynamics(g->model, g->workspace, s->n, s->gravity, s->q, s->v, a, s->forces,
                                            &options, g->m.forces, NULL, NULL, error);
}

dyn_status dyn_gear_losses_of_motion(const dyn_model *model, dyn_workspace *workspace, const dyn_geared_states *states,
                                     const double *a, double *losses, dyn_error *error) {
    geared g;
    dyn_status status = begin(model, workspace, states, losses, &g, error);
    if (status != DYN_OK || g.gears == 0) {
        return status;
    }
    status = check_passive_joints(&g, error);
    if (status == DYN_OK) {
        status = find_delivered(&g, a, error);
    }
    if (status == DYN_OK) {
        status = find_loads(&g, a, g.m.forces, error);
    }
    for (size_t i = 0; status == DYN_OK && i < states->n; i++) {
        add_losses(&g, i, g.m.loads + i * g.gears, losses);
    }
    return status;
}

/* ---- Forward dynamics -------------------------------------------------------------------------------------------- */

/* Computes the acceleration of sample i at rest and without weight under forces, and tau_R of all gears in it. The
 * rows of constraints, and forces of closed loops, may move it without forces. */
static dyn_status respond(const geared *g, size_t i, const double *forces, double *rotors, dyn_error *error) {
    const dyn_geared_states *s = g->states;
    const dyn_geared_states at_rest = {.n = 1, .gravity = WEIGHTLESS, .q = s->q + i * (size_t)g->model->nq};
    const dyn_given_rows *given = given_of(s);
    dyn_given_rows own = given ? *given : (dyn_given_rows){0};
    if (given && given->is_per_sample) {
        own.A += i * (size_t)own.count * g->nv;
        own.acceleration += own.acceleration ? i * (size_t)own.count : 0;
    }
    const dyn_constraint_options options =
        DYN_CONSTRAINT_OPTIONS_INIT(.method = s->constraints ? s->constraints->method : DYN_CONSTRAINT_METHOD_AUTO,
                                    .given = given ? &own : NULL);
    dyn_status status = dyn_constrained_forward_dynamics(g->model, g->workspace, 1, WEIGHTLESS, at_rest.q, NULL, forces,
                                                         NULL, &options, g->m.a, NULL, NULL, error);
    return status == DYN_OK ? find_rotors(g, &at_rest, g->m.a, rotors, error) : status;
}

/* Computes D in one sample: loads of forces of one, less the torques of the rotors that these cause. */
static dyn_status find_response(const geared *g, size_t sample, dyn_error *error) {
    double *column = g->m.F, *reference = g->m.factors;
    dyn_status status = DYN_OK;
    memset(reference, 0, g->gears * sizeof *reference);
    if (g->has_rows) {
        status = respond(g, sample, NULL, reference, error);
    }
    for (size_t i = 0; status == DYN_OK && i < g->gears; i++) {
        const shaft_rates *at = &g->laws[i].load.at;
        memset(g->m.unit, 0, g->nv * sizeof *g->m.unit);
        for (int c = 0; c < at->count; c++) {
            g->m.unit[at->coordinates[c]] = at->rates[c];
        }
        status = respond(g, sample, g->m.unit, column, error);
        for (size_t k = 0; status == DYN_OK && k < g->gears; k++) {
            g->m.response[k * g->gears + i] = (k == i) - (column[k] - reference[k]);
        }
    }
    return status;
}

/* Computes the factors of the loads F. Returns whether they are those of the last call. */
static bool update_factors(const geared *g, size_t sample, const double *F) {
    bool is_same = true;
    for (size_t i = 0; i < g->gears; i++) {
        double phi = factor_of(g, &g->laws[i], rate_of(g, sample, i), F[i]);
        is_same = is_same && phi == g->m.factors[i];
        g->m.factors[i] = phi;
    }
    return is_same;
}

/* Solves (1 + D Phi) F = F_0 for the factors found last. Returns false where F is not determined. */
static bool solve_for_factors(const geared *g, const double *free_loads, double *F) {
    size_t n = g->gears;
    if (g->model->rotor_count == 0) {
        for (size_t i = 0; i < n; i++) {
            F[i] = free_loads[i] / (1 + g->m.factors[i]);
            if (!isfinite(F[i])) {
                return false;
            }
        }
        return true;
    }
    for (size_t i = 0; i < n * n; i++) {
        g->m.matrix[i] = (i % (n + 1) == 0) + g->m.response[i] * g->m.factors[i % n];
    }
    double *right = g->m.rotors; /* not read any more in this sample */
    memcpy(right, free_loads, n * sizeof *right);
    const linear_system system = {(int)n, (int)n, 1, g->m.matrix, right, (int *)(void *)g->m.order};
    return linear_solve(&system, F);
}

/* Moves the loads F_0 of one sample to F. Returns false where they are not determined. */
static bool solve_loads(const geared *g, size_t sample, double *free_loads) {
    double *F = g->m.F;
    memcpy(F, free_loads, g->gears * sizeof *F);
    for (size_t i = 0; i < g->gears; i++) {
        g->m.factors[i] = NAN;
    }
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        if (update_factors(g, sample, F)) {
            memcpy(free_loads, F, g->gears * sizeof *F);
            return true;
        }
        if (!solve_for_factors(g, free_loads, F)) {
            return false;
        }
    }
    return false;
}

/* Computes the accelerations without losses, in place of the forces. */
static dyn_status accelerate(const geared *g, const double *tau, dyn_error *error) {
    const dyn_geared_states *s = g->states;
    double *forces = g->m.forces;
    for (size_t i = 0; i < s->n * g->nv; i++) {
        forces[i] = (tau ? tau[i] : 0) + g->m.r[i] - g->m.base[i];
    }
    return dyn_constrained_forward_dynamics(g->model, g->workspace, s->n, s->gravity, s->q, s->v, forces, s->forces,
                                            s->constraints, forces, NULL, NULL, error);
}

dyn_status dyn_gear_losses_under_forces(const dyn_model *model, dyn_workspace *workspace,
                                        const dyn_geared_states *states, const double *tau, double *losses,
                                        dyn_error *error) {
    geared g;
    dyn_status status = begin(model, workspace, states, losses, &g, error);
    if (status != DYN_OK || g.gears == 0) {
        return status;
    }
    if (model->rotor_count > 0) {
        status = accelerate(&g, tau, error);
    }
    if (status == DYN_OK) {
        status = find_loads(&g, g.m.forces, tau, error);
    }
    for (size_t i = 0; status == DYN_OK && i < states->n; i++) {
        double *loads = g.m.loads + i * g.gears;
        status = model->rotor_count > 0 ? find_response(&g, i, error) : DYN_OK;
        if (status == DYN_OK && !solve_loads(&g, i, loads)) {
            return dyn_error_at(error, DYN_FAILED_PRECONDITION,
                                &(dyn_error_site){.argument = "gear_losses", .has_sample = true, .sample = i},
                                "the gears jam: their loads are not determined; state a larger friction velocity, or "
                                "ignore the losses");
        }
        add_losses(&g, i, loads, losses);
    }
    return status;
}
