/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Losses of gears in steps of a simulation. The load X at the input of a gear, as a force of the coordinate, and the
 * load F at its output are
 *
 *     X = tau + r_m - tau_R(q, v, a),    F = X + l,    l = -mu |F| s,    s = u / sqrt(v^2 + w^2)
 *
 * with the friction r_m on the side of the rotor, the force tau_R that accelerates the rotors (motor.h), and the rate u
 * = v + dt a at the end of a semi-implicit step; u = v for other methods. mu is 1 / eta - 1 where the motor drives, X u
 * > 0, and 1 - eta_b where the load drives it; a self-locking gear has more than one. Far above the friction velocity w
 * the law is that of motor.h, F = eta X and X = eta_b F. The loss never drives, l u <= 0, and a semi-implicit step does
 * not reverse u by it.
 *
 * The losses change a by M^-1 l, and so X and u. With the response of one gear to its own loss, X = A - B l and u = C +
 * D l, its l is a root of a quadratic equation between 0 and -C / D. Gauss and Seidel's method couples the gears of a
 * sample; further passes correct X by the rotors' torques at the new acceleration, and by the forces of constraints,
 * until the losses of the sample settle.
 *
 * Source: Modern Robotics (Lynch and Park 2017), section 8.9.1; Giberti, Cinquemani and Legnani 2010, "Effects of
 * transmission mechanical characteristics on the choice of a motor-reducer".
 */
#include "simulator.h"

#include <math.h>
#include <string.h>

#include <dynamics/machine_element.h>

#include "../dynamics/carve.h"
#include "../model/description.h"
#include "../model/error.h"
#include "../model/normal_form.h"

enum { MOST_SWEEPS = 100, MOST_PASSES = 40 };

/* Change of a loss in a pass, as a share of the largest one, after which a lane is not solved again. */
static const double UNCHANGED = 1e-12;

/* ---- Gears of a model -------------------------------------------------------------------------------------------- */

size_t simulated_gears_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, simulated_gears *g) {
    uintptr_t cursor = base;
    int gears = dyn_lossy_gears(model);
    if (gears == 0) {
        return 0;
    }
    size_t count = (size_t)gears, nv = (size_t)model->nv, wide = (nv + count) * lanes * sizeof(double);
    size_t bodies = model->rotor_count > 0 ? (size_t)model->body_count : 0;
    cursor += constraint_rows_lay_out(model, gears, lanes, false, cursor, &g->rows);
    g->laws = dyn_carve(&cursor, count * sizeof *g->laws);
    g->inertia = dyn_carve(&cursor, count * sizeof(double));
    g->gear_of_law = dyn_carve(&cursor, (size_t)dyn_machine_elements(model) * sizeof *g->gear_of_law);
    g->bodies = dyn_carve(&cursor, bodies * sizeof(body));
    double **packed[] = {&g->v, &g->a, &g->torques};
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        *packed[i] = dyn_carve(&cursor, wide);
    }
    g->a_free = dyn_carve(&cursor, nv * lanes * sizeof(double));
    g->loss = dyn_carve(&cursor, count * lanes * sizeof(double));
    g->is_done = dyn_carve(&cursor, lanes * sizeof *g->is_done);
    g->start = dyn_carve(&cursor, count * sizeof(double));
    g->input = dyn_carve(&cursor, count * sizeof(double));
    g->rate = dyn_carve(&cursor, count * sizeof(double));
    return cursor - base;
}

/* Returns the gear of a coordinate, or -1. */
static int gear_at(const simulated_gears *g, int v_index) {
    for (int i = 0; i < g->count; i++) {
        if (g->laws[i].v_index == v_index) {
            return i;
        }
    }
    return -1;
}

/* Assigns the rotors of each gear a coordinate of their own after those of the model, so that inverse dynamics computes
 * their torques apart from the load, which includes the shafts that the joint turns. */
static void separate_rotors(const dyn_model *model, simulated_gears *g) {
    memcpy(g->bodies, model->bodies, (size_t)model->body_count * sizeof *g->bodies);
    for (int k = 0; k < model->rotor_count; k++) {
        const model_rotor *r = &model->rotors[k];
        int gear = r->driven >= 0 ? gear_at(g, model->bodies[r->driven].v_index) : -1;
        for (int i = r->first_body; gear >= 0 && i < r->first_body + r->body_count; i++) {
            body *b = &g->bodies[i];
            b->v_index = model->nv + gear;
            if (b->parent >= 0) {
                g->bodies[b->parent].has_other_children = true;
            }
            g->inertia[gear] += b->ratio * b->ratio * b->inertia[5];
        }
    }
}

/* Notes the gear of each friction law that acts on the side of the rotor, and of each brake. */
static void choose_laws(const dyn_simulator *s, simulated_gears *g) {
    const dyn_machine_element_description *elements = s->model->description->machine_elements;
    for (int i = 0, law = 0; i < dyn_machine_elements(s->model); i++) {
        friction_law found;
        if (dyn_element_friction(s->model, i, &found)) {
            bool is_of_rotor = elements[i].friction.side == DYN_GEAR_SIDE_ROTOR;
            g->gear_of_law[law++] = is_of_rotor ? gear_at(g, found.v_index) : -1;
        }
    }
    for (int law = s->first_brake; law < s->joints.law_count; law++) {
        g->gear_of_law[law] = gear_at(g, s->joints.laws[law].v_index);
    }
}

static void apply(void *context, double fraction, const void *q, const void *v, const void *diagonal, void *a);

void simulator_choose_gears(dyn_simulator *s) {
    simulated_gears *g = &s->gears;
    const dyn_model *model = s->model;
    g->count = 0;
    if (!g->workspace) {
        return;
    }
    constraint_rows_clear(&g->rows);
    for (int i = 0; i < dyn_machine_elements(model); i++) {
        if (dyn_element_gear(model, i, &g->laws[g->count])) {
            g->inertia[g->count] = 0;
            const row_group group = {1, 1, {{ROW_OF_COORDINATE, g->laws[g->count++].v_index, .factor = 1}}};
            constraint_rows_add(&g->rows, &group);
        }
    }
    if (model->rotor_count > 0) {
        separate_rotors(model, g);
    }
    choose_laws(s, g);
    g->next = s->step.constraint;
    s->step.constraint = (step_constraint){.apply = apply, .context = s};
}

void simulator_begin_gears(dyn_simulator *s, sample_block block, double implicit_dt, const double *tau,
                           const double *tau_end) {
    s->gears.block = block;
    s->gears.implicit_dt = implicit_dt;
    s->gears.tau = tau, s->gears.tau_end = tau_end;
}

/* ---- Accelerations ----------------------------------------------------------------------------------------------- */

/* State of a step at which losses are found, with packed numbers of all lanes. */
typedef struct gear_state {
    dyn_simulator *s;
    const double *q, *v;
    const void *diagonal;
    double *a;
    double fraction; /* of the substep */
} gear_state;

/* Computes a with the losses found so far, and the forces of the constraints. */
static void accelerate(const gear_state *x) {
    simulated_gears *g = &x->s->gears;
    const sample_block block = g->block;
    int nv = x->s->model->nv;
    memcpy(x->a, g->a_free, (size_t)nv * block.lanes * sizeof *x->a);
    for (size_t l = 0; l < block.lanes; l++) {
        for (int i = 0; i < g->count; i++) {
            g->rows.solution.multipliers[i] = g->loss[lane_index(block, i, l)];
        }
        constraint_rows_apply(&g->rows, block, l, nv, x->a);
    }
    if (g->next.apply) {
        g->next.apply(g->next.context, x->fraction, x->q, x->v, x->diagonal, x->a);
    }
}

/* Computes the torques of the rotors, which inverse dynamics of the separated rotors yields after the nv forces. */
static void find_rotor_torques(const gear_state *x) {
    simulated_gears *g = &x->s->gears;
    const sample_block block = g->block;
    size_t nv = (size_t)x->s->model->nv, packed = block.lanes * sizeof(double);
    dyn_model separated = *x->s->model;
    separated.bodies = g->bodies;
    separated.nv += g->count;
    separated.has_mimic = true; /* rotors are bodies (kernels/driven_joint.h) */
    memcpy(g->v, x->v, nv * packed);
    memcpy(g->a, x->a, nv * packed);
    for (int i = 0; i < g->count; i++) {
        size_t to = (nv + (size_t)i) * block.lanes, from = lane_index(block, g->laws[i].v_index, 0);
        memcpy(g->v + to, x->v + from, packed);
        memcpy(g->a + to, x->a + from, packed);
    }
    const wrench_set none = {0, NULL, NULL};
    const packed_inputs in = {x->s->gravity, x->q, g->v, g->a, &none};
    block.kernels->rnea(&separated, g->workspace->memory, &in, g->torques);
    if (x->s->base.moves) {
        const base_input of_base = {&separated, g->workspace->memory, x->q, g->v};
        simulator_find_base_forces(x->s, &of_base, 1, g->torques);
    }
}

/* Computes r_m of all gears of a lane as parts of the input. */
static void add_rotor_friction(const gear_state *x, size_t l, double *input) {
    const dyn_simulator *s = x->s;
    const simulated_gears *g = &s->gears;
    const dyn_passive_parts parts = {
        .damping = true, .friction = true, .friction_velocity = s->options.friction_velocity};
    for (int i = 0; i < s->joints.law_count; i++) {
        const friction_law *law = &s->joints.laws[i];
        size_t at = lane_index(g->block, law->v_index, l);
        double v = x->v[at], force = g->gear_of_law[i] >= 0 ? dyn_friction_force(law, &parts, v) : 0;
        if (force != 0) {
            input[g->gear_of_law[i]] += force * (v + g->implicit_dt * x->a[at]) / v;
        }
    }
    for (int i = 0; i < s->bristles.count; i++) {
        int law = s->joints.bristles[i].law_index, gear = law >= 0 ? g->gear_of_law[law] : -1;
        if (gear >= 0) {
            input[gear] += simulator_bristle_force(s, g->block, i, l, x->v);
        }
    }
}

/* Computes X of all gears of a lane. */
static void find_inputs(const gear_state *x, size_t l) {
    simulated_gears *g = &x->s->gears;
    for (int i = 0; i < g->count; i++) {
        size_t at = lane_index(g->block, g->laws[i].v_index, l);
        double end = g->tau_end ? g->tau_end[at] : g->tau[at];
        g->input[i] = g->tau[at] + x->fraction * (end - g->tau[at]);
        if (x->s->model->rotor_count > 0) {
            g->input[i] -= g->torques[lane_index(g->block, x->s->model->nv + i, l)];
        }
    }
    add_rotor_friction(x, l, g->input);
}

/* Returns the loss l = -mu |F| s of a gear at the rate v with X = A - B l and u = C + D l. Where the motor drives, F =
 * X / (1 + mu |s|) has the sign of X; where the load drives, F = A - (B - 1) l has that of A. Both make l = -k (A - B
 * l) (C + D l). */
static double loss_of(const gear_law *law, double v, double w, const double line[4]) {
    double A = line[0], C = line[2], D = line[3], speed = sqrt(v * v + w * w);
    bool drives = A * C > 0;
    double mu = drives ? law->driving : law->back_driving, B = drives ? line[1] : line[1] - 1;
    double kappa = mu / (drives ? speed + mu * fabs(v) : speed), k = A < 0 ? -kappa : kappa;
    double square = -k * B * D, linear = 1 + k * (A * D - B * C), constant = k * A * C;
    double root = sqrt(fmax(0, linear * linear - 4 * square * constant));
    if (linear > 0) {
        return constant != 0 ? -2 * constant / (linear + root) : 0;
    }
    return square != 0 ? (root - linear) / (2 * square) : 0;
}

/* Returns dt in u = v + dt a of a gear. A self-locking gear may stop its load in a step of any method. */
static double implicit_step(const gear_state *x, int gear) {
    bool locks = x->s->gears.laws[gear].back_driving > 1;
    return locks ? x->s->step.dt : x->s->gears.implicit_dt;
}

/* Returns whether the losses of a lane are those of the pass before. */
static bool has_settled(const simulated_gears *g, size_t l) {
    double change = 0, largest = 0;
    for (int i = 0; i < g->count; i++) {
        double loss = g->loss[lane_index(g->block, i, l)];
        change = fmax(change, fabs(loss - g->start[i])), largest = fmax(largest, fabs(loss));
    }
    return change <= UNCHANGED * largest;
}

/* Finds the losses of a lane by Gauss-Seidel sweeps from those of the last pass. */
static void solve_lane(const gear_state *x, size_t l) {
    simulated_gears *g = &x->s->gears;
    int n = g->count;
    find_inputs(x, l);
    for (int i = 0; i < n; i++) {
        size_t at = lane_index(g->block, g->laws[i].v_index, l);
        g->rate[i] = x->v[at] + implicit_step(x, i) * x->a[at];
        g->start[i] = g->loss[lane_index(g->block, i, l)];
    }
    double change = 1, largest = 0;
    for (int sweep = 0; sweep < MOST_SWEEPS && change > 1e-14 * largest; sweep++) {
        change = largest = 0;
        for (int i = 0; i < n; i++) {
            double *loss = &g->loss[lane_index(g->block, i, l)], moved = 0, own = 0;
            for (int k = 0; k < n; k++) {
                double W = g->rows.response[lane_index(g->block, i * n + k, l)];
                own = k == i ? W : own;
                moved += k == i ? -W * g->start[k] : W * (g->loss[lane_index(g->block, k, l)] - g->start[k]);
            }
            double v = x->v[lane_index(g->block, g->laws[i].v_index, l)], w = x->s->options.friction_velocity;
            double dt = implicit_step(x, i);
            const double line[4] = {g->input[i] - g->inertia[i] * moved, g->inertia[i] * own, g->rate[i] + dt * moved,
                                    dt * own};
            double found = loss_of(&g->laws[i], v, w, line);
            change = fmax(change, fabs(found - *loss)), largest = fmax(largest, fabs(found));
            *loss = found;
        }
    }
}

/* Adds the response of the losses to packed accelerations (step_constraint). `context` is the simulator. */
static void apply(void *context, double fraction, const void *q, const void *v, const void *diagonal, void *a) {
    dyn_simulator *s = context;
    simulated_gears *g = &s->gears;
    bool has_rotors = s->model->rotor_count > 0;
    const gear_state x = {s, q, v, diagonal, a, fraction};
    memcpy(g->a_free, a, (size_t)s->model->nv * g->block.lanes * sizeof *g->a_free);
    memset(g->loss, 0, (size_t)g->count * g->block.lanes * sizeof *g->loss);
    g->rows.diagonal = diagonal;
    constraint_rows_respond(&g->rows, s->model, g->workspace, g->block, q, NULL);
    memset(g->is_done, 0, g->block.lanes * sizeof *g->is_done);
    size_t done = 0;
    for (int pass = 0; pass < (has_rotors || g->next.apply ? MOST_PASSES : 1) && done < g->block.lanes; pass++) {
        accelerate(&x);
        if (has_rotors) {
            find_rotor_torques(&x);
        }
        for (size_t l = 0; l < g->block.lanes; l++) {
            if (!g->is_done[l]) {
                solve_lane(&x, l);
                g->is_done[l] = has_settled(g, l);
                done += g->is_done[l];
            }
        }
    }
    accelerate(&x);
}
