/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Losses of gears in steps of a simulation. The load X at the input of a gear, as a force of the coordinate, and the
 * load F at its output are
 *
 *     X = tau + r_m - tau_R(q, v, a),    F = X + l,    l = -mu |F| s,    s = u / sqrt(v^2 + w^2)
 *
 * with the friction r_m on the side of the rotor, the force tau_R that accelerates the rotors (motor.h), and the rate u
 * = v + dt a at the end of a semi-implicit step; u = v for other methods. A gear on a shaft has the rate of the shaft
 * in the place of v, and the share of the shaft in tau (shaft_load.h); its loss acts on the coordinates as G' l.
 *
 * mu is 1 / eta - 1 where the motor drives, X u
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
#include "../model/rotor.h"

enum { MOST_SWEEPS = 100, MOST_PASSES = 40 };

/* Change of a loss in a pass, as a share of the largest one, after which a lane is not solved again. */
static const double UNCHANGED = 1e-12;

/* ---- Gears of a model -------------------------------------------------------------------------------------------- */

/* Returns a bound on the coordinates of the gears. */
static int count_coordinates(const dyn_model *model) {
    int count = 0;
    for (int i = 0; i < dyn_machine_elements(model); i++) {
        gear_law law;
        count += dyn_element_gear(model, i, &law) ? law.load.at.count : 0;
    }
    return count < model->nv ? count : model->nv;
}

size_t simulated_gears_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, simulated_gears *g) {
    uintptr_t cursor = base;
    int gears = dyn_lossy_gears(model);
    if (gears == 0) {
        return 0;
    }
    size_t count = (size_t)gears, nv = (size_t)model->nv, wide = (nv + count) * lanes * sizeof(double);
    size_t bodies = model->rotor_count > 0 ? (size_t)model->body_count : 0;
    cursor += rate_rows_lay_out(model, count_coordinates(model), lanes, cursor, &g->rates);
    g->laws = dyn_carve(&cursor, count * sizeof *g->laws);
    g->rotor = dyn_carve(&cursor, count * sizeof *g->rotor);
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
    g->W = dyn_carve(&cursor, count * count * sizeof(double));
    return cursor - base;
}

/* Returns the gear of a joint with the coordinate, or -1. */
static int gear_of_joint(const simulated_gears *g, int v_index) {
    for (int i = 0; i < g->count; i++) {
        if (g->laws[i].shaft < 0 && g->laws[i].load.at.coordinates[0] == v_index) {
            return i;
        }
    }
    return -1;
}

/* Returns the gear on the shaft of a machine element, or -1. */
static int gear_of_shaft(const simulated_gears *g, int shaft) {
    for (int i = 0; i < g->count; i++) {
        if (g->laws[i].shaft == shaft) {
            return i;
        }
    }
    return -1;
}

/* Assigns body i of a rotor the own coordinate of a gear. */
static void separate_body(const dyn_model *model, int gear, int i, simulated_gears *g) {
    body *b = &g->bodies[i];
    b->v_index = model->nv + gear;
    if (b->parent >= 0) {
        g->bodies[b->parent].has_other_children = true;
    }
}

/* Separates the rotor of a joint, all of whose bodies turn with its coordinate. */
static void separate_joint_rotor(const dyn_model *model, const model_rotor *r, int gear, simulated_gears *g) {
    g->rotor[gear].v_index = g->laws[gear].load.at.coordinates[0];
    g->rotor[gear].torque = 1;
    for (int i = r->first_body; i < r->first_body + r->body_count; i++) {
        const body *b = &g->bodies[i];
        separate_body(model, gear, i, g);
        g->rotor[gear].inertia += b->ratio * b->ratio * b->inertia[5];
    }
}

/* Separates the body of a rotor on a shaft that turns most with its coordinate, and the one with the opposite ratio in
 * the diagonal approximation. The bodies of a chain transmit the same torque T, so that the force of that coordinate is
 * ratio T. */
static void separate_shaft_rotor(const dyn_model *model, const model_rotor *r, int gear, simulated_gears *g) {
    int chains = rotor_is_exact(g->bodies, r) ? 1 : 2, length = r->body_count / chains, most = r->first_body;
    for (int i = r->first_body; i < r->first_body + length; i++) {
        most = fabs(g->bodies[i].ratio) > fabs(g->bodies[most].ratio) ? i : most;
    }
    g->rotor[gear] = (separated_rotor){g->bodies[most].v_index, 1 / g->bodies[most].ratio, r->axial};
    for (int k = 0; k < chains; k++) {
        separate_body(model, gear, most + k * length, g);
    }
}

/* Assigns the rotors of each gear a coordinate of their own after those of the model, so that inverse dynamics computes
 * their torques apart from the load, which includes the shafts without a gear. */
static void separate_rotors(const dyn_model *model, simulated_gears *g) {
    const dyn_machine_element_description *elements = model->description->machine_elements;
    memcpy(g->bodies, model->bodies, (size_t)model->body_count * sizeof *g->bodies);
    for (int i = 0, k = 0; i < dyn_machine_elements(model); i++) {
        const model_rotor *r = &model->rotors[k];
        bool is_shaft = elements[i].kind == DYN_MACHINE_ELEMENT_KIND_SHAFT;
        if (!element_is_rotor(&elements[i])) {
            continue;
        }
        k++;
        int gear = is_shaft         ? gear_of_shaft(g, i)
                   : r->driven >= 0 ? gear_of_joint(g, model->bodies[r->driven].v_index)
                                    : -1;
        if (gear >= 0 && is_shaft && r->body_count > 0) {
            separate_shaft_rotor(model, r, gear, g);
        } else if (gear >= 0 && !is_shaft) {
            separate_joint_rotor(model, r, gear, g);
        }
    }
}

/* Notes the gear of each friction law that acts on the side of the rotor, and of each brake, of joints. */
static void choose_laws(const dyn_simulator *s, simulated_gears *g) {
    const dyn_machine_element_description *elements = s->model->description->machine_elements;
    for (int i = 0, law = 0; i < dyn_machine_elements(s->model); i++) {
        friction_law found;
        if (dyn_element_friction(s->model, i, &found)) {
            bool is_of_rotor = elements[i].friction.side == DYN_GEAR_SIDE_ROTOR;
            g->gear_of_law[law++] = is_of_rotor ? gear_of_joint(g, found.v_index) : -1;
        }
    }
    for (int law = s->first_brake; law < s->joints.law_count; law++) {
        g->gear_of_law[law] = gear_of_joint(g, s->joints.laws[law].v_index);
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
    rate_rows_clear(model, &g->rates);
    for (int i = 0; i < dyn_machine_elements(model); i++) {
        if (dyn_element_gear(model, i, &g->laws[g->count])) {
            const shaft_rates *at = &g->laws[g->count].load.at;
            g->rotor[g->count++] = (separated_rotor){.v_index = at->coordinates[0]};
            rate_rows_add(&g->rates, at);
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
        rate_rows_begin(&g->rates);
        for (int i = 0; i < g->count; i++) {
            rate_rows_push(&g->rates, &g->laws[i].load.at, g->loss[lane_index(block, i, l)]);
        }
        constraint_rows_apply(&g->rates.rows, block, l, nv, x->a);
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
        size_t to = (nv + (size_t)i) * block.lanes, from = lane_index(block, g->rotor[i].v_index, 0);
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

/* Returns r_m of a friction law at the rate u, which is v at the start of the step. */
static double end_friction(const friction_law *law, const dyn_passive_parts *parts, double v, double u) {
    double force = dyn_friction_force(law, parts, v);
    return force != 0 ? force * u / v : 0;
}

/* Adds r_m of all gears of a lane to the input. */
static void add_rotor_friction(const gear_state *x, size_t l, double *input) {
    const dyn_simulator *s = x->s;
    const simulated_gears *g = &s->gears;
    const dyn_passive_parts parts = {
        .damping = true, .friction = true, .friction_velocity = s->options.friction_velocity};
    for (int i = 0; i < s->joints.law_count; i++) {
        const friction_law *law = &s->joints.laws[i];
        if (g->gear_of_law[i] >= 0) {
            size_t at = lane_index(g->block, law->v_index, l);
            input[g->gear_of_law[i]] += end_friction(law, &parts, x->v[at], x->v[at] + g->implicit_dt * x->a[at]);
        }
    }
    for (int i = 0; i < s->shafts.count; i++) {
        const simulated_shaft *shaft = &s->shafts.shafts[i];
        int gear = gear_of_shaft(g, shaft->shaft);
        double v = rate_rows_speed(&shaft->rates, g->block, l, x->v);
        if (gear >= 0) {
            double rise = rate_rows_speed(&shaft->rates, g->block, l, x->a);
            input[gear] += end_friction(&shaft->law, &parts, v, v + g->implicit_dt * rise);
        }
    }
}

/* Adds the forces of bristles on the side of the rotor, or on a shaft, to the input. */
static void add_bristles(const gear_state *x, size_t l, double *input) {
    const dyn_simulator *s = x->s;
    const simulated_gears *g = &s->gears;
    for (int i = 0; i < s->bristles.count; i++) {
        const bristle_law *b = &s->joints.bristles[i];
        int gear = b->law_index >= 0 ? g->gear_of_law[b->law_index] : gear_of_shaft(g, b->shaft);
        if (gear >= 0) {
            input[gear] += simulator_bristle_force(s, g->block, i, l, x->v);
        }
    }
}

/* Computes X of all gears of a lane. */
static void find_inputs(const gear_state *x, size_t l) {
    simulated_gears *g = &x->s->gears;
    for (int i = 0; i < g->count; i++) {
        const shaft_load *load = &g->laws[i].load;
        g->input[i] = 0;
        for (int k = 0; k < load->at.count; k++) {
            size_t at = lane_index(g->block, load->at.coordinates[k], l);
            double end = g->tau_end ? g->tau_end[at] : g->tau[at];
            g->input[i] += load->shares[k] * (g->tau[at] + x->fraction * (end - g->tau[at]));
        }
        if (x->s->model->rotor_count > 0) {
            g->input[i] -= g->rotor[i].torque * g->torques[lane_index(g->block, x->s->model->nv + i, l)];
        }
    }
    add_rotor_friction(x, l, g->input);
    add_bristles(x, l, g->input);
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

/* States the problem of a lane: X, u and W, and the losses of the last pass. */
static void state_problem(const gear_state *x, size_t l) {
    simulated_gears *g = &x->s->gears;
    find_inputs(x, l);
    for (int i = 0; i < g->count; i++) {
        const shaft_rates *at = &g->laws[i].load.at;
        g->rate[i] =
            rate_rows_speed(at, g->block, l, x->v) + implicit_step(x, i) * rate_rows_speed(at, g->block, l, x->a);
        g->start[i] = g->loss[lane_index(g->block, i, l)];
        for (int k = 0; k < g->count; k++) {
            g->W[i * g->count + k] = rate_rows_response(&g->rates, at, &g->laws[k].load.at, g->block, l);
        }
    }
}

/* Finds the losses of a lane by Gauss-Seidel sweeps from those of the last pass. */
static void solve_lane(const gear_state *x, size_t l) {
    simulated_gears *g = &x->s->gears;
    int n = g->count;
    state_problem(x, l);
    double change = 1, largest = 0;
    for (int sweep = 0; sweep < MOST_SWEEPS && change > 1e-14 * largest; sweep++) {
        change = largest = 0;
        for (int i = 0; i < n; i++) {
            double *loss = &g->loss[lane_index(g->block, i, l)], moved = 0, own = g->W[i * n + i];
            for (int k = 0; k < n; k++) {
                double W = g->W[i * n + k];
                moved += k == i ? -W * g->start[k] : W * (g->loss[lane_index(g->block, k, l)] - g->start[k]);
            }
            double v = rate_rows_speed(&g->laws[i].load.at, g->block, l, x->v), w = x->s->options.friction_velocity;
            double dt = implicit_step(x, i), I = g->rotor[i].inertia;
            const double line[4] = {g->input[i] - I * moved, I * own, g->rate[i] + dt * moved, dt * own};
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
    g->rates.rows.diagonal = diagonal;
    constraint_rows_respond(&g->rates.rows, s->model, g->workspace, g->block, q, NULL);
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
