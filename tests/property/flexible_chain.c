/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chains of flexible links: the rigid limit against RNEA and CRBA, the frequencies of beams with and without loads, the
 * balance of energy, and a motion against that of a chain of many rigid bodies with springs between them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_chain.h"
#include "support/random_tree.h"

enum { CASES = 20, MODES = 3, MOST = 40 };

/* Modes of a link, with their matrices. */
typedef struct mode_set {
    dyn_flexible_mode modes[2 * MODES];
    double products[9 * 4 * MODES * MODES], stiffness[4 * MODES * MODES];
} mode_set;

static int frame_of(const dyn_model *model, const char *link) {
    dyn_error error;
    int frame;
    require(dyn_model_find_frame(model, link, &frame, &error), &error);
    return frame;
}

/* ---- Random chains ----------------------------------------------------------------------------------------------- */

/* Flexible chain of `links` links, `size` coordinates, in a random motion. */
typedef struct flexible_case {
    dyn_model *model;
    dyn_flexible_chain *chain;
    size_t links, size;
    double x[MOST], v[MOST], a[MOST], forces[MOST], M[MOST * MOST];
    double gravity[3];
    mode_set sets[4];
} flexible_case;

/* Draws modes as those of points with masses, so that their integrals belong to a body. */
static void draw_modes(random_source *random, mode_set *to) {
    memset(to, 0, sizeof *to);
    for (int point = 0; point < 4; point++) {
        double r[3], phi[MODES][3];
        random_vector(random, 3, 0.3, r);
        for (int f = 0; f < MODES; f++) {
            random_vector(random, 3, 0.5, phi[f]);
        }
        for (int f = 0; f < MODES; f++) {
            for (int i = 0; i < 9; i++) {
                to->modes[f].moments[i] += 0.1 * phi[f][i / 3] * r[i % 3];
                for (int g = 0; g < MODES; g++) {
                    to->products[9 * (f * MODES + g) + i] += 0.1 * phi[f][i / 3] * phi[g][i % 3];
                }
            }
            for (int i = 0; i < 3; i++) {
                to->modes[f].first_moment[i] += 0.1 * phi[f][i];
            }
        }
    }
    for (int f = 0; f < MODES; f++) {
        random_vector(random, 3, 1, to->modes[f].end);
        random_vector(random, 3, 1, to->modes[f].rotation);
        to->stiffness[f * MODES + f] = 50 + 10 * f;
        to->stiffness[f * MODES + (f + 1) % MODES] += 5, to->stiffness[(f + 1) % MODES * MODES + f] += 5;
    }
}

/* Draws a chain whose links are flexible, but for one that is rigid. */
static void draw(random_source base, int k, flexible_case *c) {
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_PRISMATIC, DYN_JOINT_TYPE_HELICAL};
    dyn_error error;
    random_source random = random_case(base, (uint64_t)k);
    random_chain_options options = {.joints = 1 + k % 4, .types = types, .type_count = k % 2 ? 3 : 1};
    dyn_flexible_link links[4];
    size_t flexible = 0;
    c->model = random_chain(&random, &options);
    c->links = (size_t)options.joints;
    for (size_t i = 0; i < c->links; i++) {
        if (c->links < 3 || i != 1) {
            draw_modes(&random, &c->sets[flexible]);
            const mode_set *set = &c->sets[flexible];
            int link = dyn_model_joint(c->model, (int)i)->child_link;
            links[flexible++] = (dyn_flexible_link){link, MODES, set->modes, set->products, set->stiffness};
        }
    }
    require(dyn_flexible_chain_create(c->model, flexible, links, &c->chain, &error), &error);
    c->size = (size_t)dyn_flexible_chain_size(c->chain);
    ck_assert_uint_eq(c->size, c->links + MODES * flexible);
    random_vector(&random, (int)c->size, 0.1, c->x), random_vector(&random, (int)c->links, 2, c->x);
    random_vector(&random, (int)c->size, 1, c->v), random_vector(&random, (int)c->size, 3, c->a);
    random_vector(&random, 3, 10, c->gravity);
}

static void clear(flexible_case *c) {
    dyn_flexible_chain_free(c->chain);
    dyn_model_free(c->model);
}

START_TEST(links_that_do_not_bend_follow_rnea_and_crba) {
    random_source base = random_seed("rigid limit", 1821);
    for (int k = 0; k < CASES; k++) {
        flexible_case c;
        dyn_error error;
        dyn_workspace *w;
        double tau[4], M[16], block[16];
        draw(base, k, &c);
        for (size_t i = c.links; i < c.size; i++) {
            c.x[i] = c.v[i] = c.a[i] = 0;
        }
        require(dyn_workspace_create(c.model, &w, &error), &error);
        require(dyn_rnea(c.model, w, 1, c.gravity, c.x, c.v, c.a, NULL, tau, &error), &error);
        require(dyn_crba(c.model, w, 1, c.x, M, &error), &error);
        require(dyn_flexible_inverse_dynamics(c.chain, c.gravity, c.x, c.v, c.a, c.forces, &error), &error);
        assert_norm_close("tau", k, c.forces, tau, c.links, 1e-10);
        require(dyn_flexible_inertia_matrix(c.chain, c.x, c.M, &error), &error);
        for (size_t i = 0; i < c.links * c.links; i++) {
            block[i] = c.M[i / c.links * c.size + i % c.links];
        }
        assert_norm_close("M of the joints", k, block, M, c.links * c.links, 1e-10);
        dyn_workspace_free(w);
        clear(&c);
    }
}
END_TEST

START_TEST(forward_dynamics_inverts_inverse_dynamics) {
    random_source base = random_seed("flexible forward dynamics", 1822);
    for (int k = 0; k < CASES; k++) {
        flexible_case c;
        dyn_error error;
        double back[MOST];
        draw(base, k, &c);
        require(dyn_flexible_inverse_dynamics(c.chain, c.gravity, c.x, c.v, c.a, c.forces, &error), &error);
        require(dyn_flexible_forward_dynamics(c.chain, c.gravity, c.x, c.v, c.forces, back, &error), &error);
        assert_norm_close("a", k, back, c.a, c.size, 1e-8);
        clear(&c);
    }
}
END_TEST

/* Returns the kinetic energy and the energy of the deflections at x + t v + t^2 a / 2. */
static double energy_at(const flexible_case *c, double t) {
    double x[MOST], v[MOST], M[MOST * MOST], energy = 0;
    dyn_error error;
    for (size_t i = 0; i < c->size; i++) {
        x[i] = c->x[i] + t * c->v[i] + t * t / 2 * c->a[i], v[i] = c->v[i] + t * c->a[i];
    }
    require(dyn_flexible_inertia_matrix(c->chain, x, M, &error), &error);
    for (size_t i = 0; i < c->size; i++) {
        for (size_t j = 0; j < c->size; j++) {
            energy += v[i] * M[i * c->size + j] * v[j] / 2;
        }
    }
    for (size_t first = c->links; first < c->size; first += MODES) {
        const double *K = c->sets[(first - c->links) / MODES].stiffness;
        for (size_t i = 0; i < MODES * MODES; i++) {
            energy += x[first + i / MODES] * K[i] * x[first + i % MODES] / 2;
        }
    }
    return energy;
}

START_TEST(power_is_the_rate_of_the_energy_without_gravity) {
    static const double weightless[3];
    static const double h = 1e-4;
    random_source base = random_seed("flexible energy", 1823);
    for (int k = 0; k < CASES; k++) {
        flexible_case c;
        dyn_error error;
        double power = 0;
        draw(base, k, &c);
        require(dyn_flexible_inverse_dynamics(c.chain, weightless, c.x, c.v, c.a, c.forces, &error), &error);
        for (size_t i = 0; i < c.size; i++) {
            power += c.forces[i] * c.v[i];
        }
        double once = (energy_at(&c, h) - energy_at(&c, -h)) / (2 * h);
        double twice = (energy_at(&c, 2 * h) - energy_at(&c, -2 * h)) / (4 * h), rate = (4 * once - twice) / 3;
        assert_norm_close("power", k, &rate, &power, 1, 1e-8);
        clear(&c);
    }
}
END_TEST

/* ---- Beams ------------------------------------------------------------------------------------------------------- */

/* Adds a link, a uniform rod along x, and its revolute joint about y at `at` of the last link. */
static void add_rod(dyn_builder *builder, int number, double length, double mass, double at) {
    dyn_error error;
    char name[32], joint_name[32], parent[32];
    snprintf(name, sizeof name, "rod%d", number), snprintf(joint_name, sizeof joint_name, "joint%d", number);
    snprintf(parent, sizeof parent, number > 1 ? "rod%d" : "base", number - 1);
    double moment = mass * length * length / 12;
    dyn_link_description link = {.name = name, .inertia = {mass, {length / 2}, {1e-9, 0, 0, moment, 0, moment}}};
    dyn_joint_description joint = {.name = joint_name,
                                   .type = DYN_JOINT_TYPE_CONTINUOUS,
                                   .parent_link = parent,
                                   .child_link = name,
                                   .position = {at},
                                   .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                   .axis = {0, 1}};
    require(dyn_builder_add_link(builder, &link, &error), &error);
    require(dyn_builder_add_joint(builder, &joint, &error), &error);
}

static dyn_builder *new_chain(void) {
    dyn_error error;
    dyn_builder *builder;
    require(dyn_builder_create("chain", &builder, &error), &error);
    dyn_link_description base = {.name = "base"};
    require(dyn_builder_add_link(builder, &base, &error), &error);
    return builder;
}

static dyn_model *build(dyn_builder *builder) {
    dyn_error error;
    dyn_model *model;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FIXED);
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Returns the number of eigenvalues of K - lambda M below zero, by the signs of the pivots. K and M are n x n. */
static int eigenvalues_below(double lambda, const double *K, const double *M, size_t n) {
    double A[MOST * MOST];
    int negative = 0;
    for (size_t i = 0; i < n * n; i++) {
        A[i] = K[i] - lambda * M[i];
    }
    for (size_t k = 0; k < n; k++) {
        negative += A[k * n + k] < 0;
        for (size_t i = k + 1; i < n; i++) {
            double factor = A[i * n + k] / A[k * n + k];
            for (size_t j = k; j < n; j++) {
                A[i * n + j] -= factor * A[k * n + j];
            }
        }
    }
    return negative;
}

/* Requires that eigenvalue `number`, from 0 on, is within a share of root^4. */
static void expect_root(double root, int number, double share, const double *K, const double *M, size_t n) {
    double lambda = pow(root, 4);
    ck_assert_int_eq(eigenvalues_below(lambda * (1 - share), K, M, n), number);
    ck_assert_int_eq(eigenvalues_below(lambda * (1 + share), K, M, n), number + 1);
}

/* Matrices of a chain of one joint and one link that bends, joint first. */
static void matrices_of(const dyn_model *model, const dyn_flexible_link *link, double *K, double *M) {
    dyn_error error;
    dyn_flexible_chain *chain;
    double x[MOST] = {0}, zero[MOST] = {0}, force[MOST];
    static const double weightless[3];
    size_t n = (size_t)link->mode_count + 1;
    require(dyn_flexible_chain_create(model, 1, link, &chain, &error), &error);
    require(dyn_flexible_inertia_matrix(chain, x, M, &error), &error);
    for (size_t j = 0; j < n; j++) {
        x[j] = j > 0;
        require(dyn_flexible_inverse_dynamics(chain, weightless, x, zero, zero, force, &error), &error);
        x[j] = 0;
        for (size_t i = 0; i < n; i++) {
            K[i * n + j] = force[i];
        }
    }
    dyn_flexible_chain_free(chain);
}

/* Rod of unit length, mass and rigidity, on one joint: its matrices with these modes. */
static void matrices_of_rod(int count, const dyn_flexible_mode *modes, const double *products, const double *stiffness,
                            double *K, double *M) {
    dyn_builder *builder = new_chain();
    add_rod(builder, 1, 1, 1, 0);
    dyn_model *model = build(builder);
    const dyn_flexible_link link = {frame_of(model, "rod1"), count, modes, products, stiffness};
    matrices_of(model, &link, K, M);
    dyn_model_free(model);
}

/* Copies a matrix of n rows without its first row and column. */
static void without_joint(size_t n, const double *A, double *inner) {
    for (size_t i = 0; i < (n - 1) * (n - 1); i++) {
        inner[i] = A[(1 + i / (n - 1)) * n + 1 + i % (n - 1)];
    }
}

/* Modes (s/L)^2, (s/L)^3, ... of a rod of length L along x that bends along z, whose integrals are fractions. */
static void polynomial_modes(const dyn_beam *rod, int count, dyn_flexible_mode *modes, double *products,
                             double *stiffness) {
    double length = rod->end[0];
    memset(products, 0, 9 * (size_t)(count * count) * sizeof *products);
    for (int f = 0; f < count; f++) {
        double p = f + 2;
        modes[f] = (dyn_flexible_mode){.end = {0, 0, 1}, .rotation = {0, -p / length, 0}};
        modes[f].first_moment[2] = rod->mass / (p + 1);
        modes[f].moments[6] = rod->mass * length / (p + 2);
        for (int g = 0; g < count; g++) {
            double r = g + 2;
            products[9 * (f * count + g) + 8] = rod->mass / (p + r + 1);
            stiffness[f * count + g] = rod->rigidity[0] / pow(length, 3) * p * (p - 1) * r * (r - 1) / (p + r - 3);
        }
    }
}

START_TEST(modes_of_a_beam_have_its_frequencies) {
    const dyn_beam beam = {{0}, {1, 0, 0}, 1, {0, 0, 1}, {1, 0}};
    mode_set set;
    dyn_error error;
    double K[16], M[16], inner_K[9], inner_M[9];
    require(dyn_beam_modes(&beam, MODES, set.modes, set.products, set.stiffness, &error), &error);
    matrices_of_rod(MODES, set.modes, set.products, set.stiffness, K, M);
    without_joint(4, K, inner_K), without_joint(4, M, inner_M);
    expect_root(1.8751040687, 0, 1e-9, inner_K, inner_M, 3);
    expect_root(4.6940911330, 1, 1e-9, inner_K, inner_M, 3);
    expect_root(7.8547574382, 2, 1e-9, inner_K, inner_M, 3);
}
END_TEST

/* The joint is held: cos b cosh b = -1; the joint is free: tan b = tanh b. */
START_TEST(polynomial_modes_have_the_frequencies_of_clamped_and_pinned_beams) {
    enum { COUNT = 6, ROWS = COUNT + 1 };
    dyn_flexible_mode modes[COUNT];
    double products[9 * COUNT * COUNT], stiffness[COUNT * COUNT];
    double K[ROWS * ROWS], M[ROWS * ROWS], inner_K[COUNT * COUNT], inner_M[COUNT * COUNT];
    const dyn_beam beam = {{0}, {1, 0, 0}, 1, {0, 0, 1}, {1, 0}};
    polynomial_modes(&beam, COUNT, modes, products, stiffness);
    matrices_of_rod(COUNT, modes, products, stiffness, K, M);
    without_joint(ROWS, K, inner_K), without_joint(ROWS, M, inner_M);
    expect_root(1.8751040687, 0, 1e-6, inner_K, inner_M, COUNT);
    expect_root(4.6940911330, 1, 1e-4, inner_K, inner_M, COUNT);
    ck_assert_int_eq(eigenvalues_below(1, K, M, ROWS), 1);
    expect_root(3.9266023120, 1, 1e-5, K, M, ROWS);
    expect_root(7.0685827456, 2, 1e-3, K, M, ROWS);
}
END_TEST

/* The end of a beam that weighs m g sags by m g L^3 / (8 E I); s^2, s^3 and s^4 state the shape exactly. */
START_TEST(a_clamped_beam_sags_under_its_weight) {
    const dyn_beam beam = {{0}, {2, 0, 0}, 3, {0, 0, 1}, {700, 0}};
    static const double gravity[3] = {0, 0, -9.81};
    mode_set set;
    dyn_error error;
    dyn_flexible_chain *chain;
    dyn_builder *builder = new_chain();
    add_rod(builder, 1, 2, 3, 0);
    dyn_model *model = build(builder);
    polynomial_modes(&beam, MODES, set.modes, set.products, set.stiffness);
    dyn_flexible_link link = {frame_of(model, "rod1"), MODES, set.modes, set.products, set.stiffness};
    double x[4] = {0}, zero[4] = {0}, force[4];
    require(dyn_flexible_chain_create(model, 1, &link, &chain, &error), &error);
    for (int i = 0; i < MODES; i++) {
        static const double shape[MODES] = {6, -4, 1};
        x[1 + i] = shape[i] / 3 * -3 * 9.81 * 8 / (8 * 700.0);
    }
    require(dyn_flexible_inverse_dynamics(chain, gravity, x, zero, zero, force, &error), &error);
    assert_norm_close("forces of the modes", 0, force + 1, zero, MODES, 1e-12);
    ck_assert_double_eq_tol(x[1] + x[2] + x[3], -3 * 9.81 * 8 / (8 * 700.0), 1e-15);
    dyn_flexible_chain_free(chain);
    dyn_model_free(model);
}
END_TEST

/* ---- Beams with loads -------------------------------------------------------------------------------------------- */

enum { LOADED_MODES = DYN_BEAM_MODES, LOADED_ROWS = LOADED_MODES + 1 };

/* Modes of a beam in one plane, with their matrices. */
typedef struct loaded_modes {
    dyn_flexible_mode modes[LOADED_MODES];
    double products[9 * LOADED_MODES * LOADED_MODES], stiffness[LOADED_MODES * LOADED_MODES];
} loaded_modes;

/* Rod of unit length, mass and rigidity, with the link "tool" fixed to it at `at`. */
static dyn_model *rod_with_tool(double mass, const double at[3]) {
    dyn_error error;
    dyn_builder *builder = new_chain();
    const dyn_link_description tool = {.name = "tool", .inertia = {.mass = mass}};
    dyn_joint_description weld = {.name = "weld",
                                  .type = DYN_JOINT_TYPE_FIXED,
                                  .parent_link = "rod1",
                                  .child_link = "tool",
                                  .rotation = {0, 0, 1, 1, 0, 0, 0, 1, 0}};
    memcpy(weld.position, at, sizeof weld.position);
    add_rod(builder, 1, 1, 1, 0);
    require(dyn_builder_add_link(builder, &tool, &error), &error);
    require(dyn_builder_add_joint(builder, &weld, &error), &error);
    return build(builder);
}

static const dyn_beam unit_beam = {{0}, {1, 0, 0}, 1, {0, 0, 1}, {1, 0}};

/* Computes the modes of the rod with what it carries. */
static void carry(const dyn_model *model, int count, size_t payload_count, const dyn_payload *payloads,
                  loaded_modes *to) {
    dyn_error error;
    const dyn_beam_load load = {model, frame_of(model, "rod1"), payload_count, payloads};
    require(dyn_beam_modes(&unit_beam, count, to->modes, to->products, to->stiffness, &error), &error);
    require(dyn_beam_carry(&unit_beam, count, &load, to->modes, to->products, &error), &error);
}

/* Returns b of the lowest frequency b^2 of a clamped beam of unit length, mass and rigidity with a mass at its end. */
static double published_root(double mass) {
    double least = 0.1, most = 1.8751040687;
    for (int i = 0; i < 100; i++) {
        double b = (least + most) / 2, turn = cos(b) * sinh(b) - sin(b) * cosh(b);
        *(1 + cos(b) * cosh(b) + mass * b * turn > 0 ? &least : &most) = b;
    }
    return least;
}

/* A link that a fixed joint attaches, and a payload on it or on the rod, are the mass at the end. The frequencies are
 * those of 1 + cos b cosh b + m b (cos b sinh b - sin b cosh b) = 0 (Meirovitch 1967; b = 1.2479 for m = 1). */
START_TEST(a_mass_at_its_end_lowers_the_frequency_of_a_beam_as_published) {
    static const double masses[] = {0.5, 1, 2, 5}, end[3] = {1, 0, 0};
    ck_assert_double_eq_tol(published_root(1), 1.2479, 5e-5);
    for (int k = 0; k < 12; k++) {
        double mass = masses[k / 3], K[LOADED_ROWS * LOADED_ROWS], M[LOADED_ROWS * LOADED_ROWS];
        double inner_K[LOADED_MODES * LOADED_MODES], inner_M[LOADED_MODES * LOADED_MODES];
        dyn_model *model = rod_with_tool(k % 3 == 0 ? mass : 0, end);
        dyn_payload payload = {.link = frame_of(model, k % 3 == 1 ? "tool" : "rod1"), .inertia = {.mass = mass}};
        payload.inertia.center_of_mass[0] = k % 3 == 2;
        loaded_modes found;
        carry(model, LOADED_MODES, k % 3 > 0, &payload, &found);
        const dyn_flexible_link link = {frame_of(model, "rod1"), LOADED_MODES, found.modes, found.products,
                                        found.stiffness};
        matrices_of(model, &link, K, M);
        ck_assert_double_eq_tol(M[LOADED_ROWS + 1], 1 + 4 * mass, 1e-12);
        without_joint(LOADED_ROWS, K, inner_K), without_joint(LOADED_ROWS, M, inner_M);
        expect_root(published_root(mass), 0, 2e-5, inner_K, inner_M, LOADED_MODES);
        dyn_model_free(model);
    }
}
END_TEST

/* The displacement of a section comes from the shape of the modes in its textbook form. */
START_TEST(a_payload_moves_with_the_section_next_to_it) {
    static const double end[3] = {1, 0, 0};
    dyn_model *model = rod_with_tool(0, end);
    for (double s = -0.25; s < 1.3; s += 0.25) {
        const double root[2] = {1.8751040687119611, 4.694091132974175}, at = fmin(fmax(s, 0), 1);
        dyn_payload payload = {.link = frame_of(model, "rod1"), .inertia = {.mass = 2, .center_of_mass = {s, 0.1, 0}}};
        loaded_modes found;
        double phi[2];
        carry(model, 2, 1, &payload, &found);
        for (int f = 0; f < 2; f++) {
            double b = root[f], c = (cosh(b) + cos(b)) / (sinh(b) + sin(b)), x = b * at;
            double slope = b * (sinh(x) + sin(x) - c * (cosh(x) - cos(x)));
            phi[f] = cosh(x) - cos(x) - c * (sinh(x) - sin(x)) + (s - at) * slope;
            ck_assert_double_eq_tol(found.modes[f].first_moment[2], 2 * c / b + 2 * phi[f], 1e-11);
        }
        for (int k = 0; k < 4; k++) {
            double expected = (k % 3 == 0) + 2 * phi[k / 2] * phi[k % 2];
            ck_assert_double_eq_tol(found.products[9 * k + 8], expected, 1e-10);
        }
    }
    dyn_model_free(model);
}
END_TEST

/* Hub on the joint, rod on the hub, and a second rod on either of them: the beam in the rod moves only what it
 * carries. */
START_TEST(a_beam_does_not_move_what_carries_it) {
    for (int on_hub = 0; on_hub < 2; on_hub++) {
        dyn_error error;
        dyn_builder *builder = new_chain();
        const dyn_link_description links[] = {{.name = "hub", .inertia = {.mass = 7}},
                                              {.name = "rod1", .inertia = {.mass = 1, .center_of_mass = {0.5, 0, 0}}},
                                              {.name = "rod2", .inertia = {.mass = 1}}};
        const char *const parents[] = {"base", "hub", on_hub ? "hub" : "rod1"};
        for (int i = 0; i < 3; i++) {
            dyn_joint_description joint = {.name = links[i].name,
                                           .type = i == 1 ? DYN_JOINT_TYPE_FIXED : DYN_JOINT_TYPE_CONTINUOUS,
                                           .parent_link = parents[i],
                                           .child_link = links[i].name,
                                           .position = {i == 2 ? 1 : 0, 0, i == 2 ? 0.25 : 0},
                                           .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                           .axis = {0, 1}};
            require(dyn_builder_add_link(builder, &links[i], &error), &error);
            require(dyn_builder_add_joint(builder, &joint, &error), &error);
        }
        dyn_model *model = build(builder);
        loaded_modes found;
        carry(model, 1, 0, NULL, &found);
        const double slope = 2 * 1.8751040687119611 * 0.7340955137589, end[3] = {-0.25 * slope, 0, 2};
        for (int i = 0; i < 3; i++) {
            ck_assert_double_eq_tol(found.modes[0].end[i], on_hub ? 0 : end[i], 1e-9);
            ck_assert_double_eq_tol(found.modes[0].rotation[i], on_hub || i != 1 ? 0 : -slope, 1e-9);
        }
        ck_assert_double_eq_tol(found.products[8], 1, 1e-12);
        dyn_model_free(model);
    }
}
END_TEST

/* ---- Moving base ------------------------------------------------------------------------------------------------- */

/* Adds six links without mass, one on the other: three that slide along the axes, and three that turn about them. */
static void add_carriage(dyn_builder *builder) {
    dyn_error error;
    for (int i = 1; i <= 6; i++) {
        char name[32], joint_name[32], parent[32];
        snprintf(name, sizeof name, "rod%d", i), snprintf(joint_name, sizeof joint_name, "joint%d", i);
        snprintf(parent, sizeof parent, i > 1 ? "rod%d" : "base", i - 1);
        const dyn_link_description link = {.name = name};
        dyn_joint_description joint = {.name = joint_name,
                                       .type = i > 3 ? DYN_JOINT_TYPE_CONTINUOUS : DYN_JOINT_TYPE_PRISMATIC,
                                       .parent_link = parent,
                                       .child_link = name,
                                       .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        joint.axis[(i - 1) % 3] = 1;
        require(dyn_builder_add_link(builder, &link, &error), &error);
        require(dyn_builder_add_joint(builder, &joint, &error), &error);
    }
}

/* Two rods that bend in both planes, on the base (`joints` 0) or on the carriage (6). */
static dyn_flexible_chain *bending_rods(int joints, dyn_model **model) {
    dyn_error error;
    dyn_builder *builder = new_chain();
    dyn_flexible_chain *chain;
    mode_set sets[2];
    dyn_flexible_link links[2];
    if (joints > 0) {
        add_carriage(builder);
    }
    add_rod(builder, joints + 1, 1, 1, 0.3), add_rod(builder, joints + 2, 0.8, 0.7, 1);
    *model = build(builder);
    for (int i = 0; i < 2; i++) {
        const dyn_beam beam = {{0}, {i ? 0.8 : 1, 0, 0}, i ? 0.7 : 1, {0, 0, 1}, {30, 20}};
        char name[32];
        snprintf(name, sizeof name, "rod%d", joints + 1 + i);
        require(dyn_beam_modes(&beam, 2, sets[i].modes, sets[i].products, sets[i].stiffness, &error), &error);
        links[i] = (dyn_flexible_link){frame_of(*model, name), 4, sets[i].modes, sets[i].products, sets[i].stiffness};
    }
    require(dyn_flexible_chain_create(*model, 2, links, &chain, &error), &error);
    return chain;
}

/* The carriage is at its origin, so that its rates are the twist, and dw/dt has the terms of the turning axes. */
START_TEST(a_moving_base_acts_as_a_carriage_that_follows_it) {
    enum { RODS = 10, ALL = 16 };
    random_source random = random_seed("flexible links on a moving base", 1825);
    dyn_model *models[2];
    dyn_flexible_chain *on_base = bending_rods(0, &models[0]), *on_carriage = bending_rods(6, &models[1]);
    for (int k = 0; k < CASES; k++) {
        double x[ALL] = {0}, v[ALL], a[ALL], forces[ALL], expected[ALL], back[RODS];
        dyn_error error;
        random_vector(&random, RODS, 0.5, x + 6), random_vector(&random, ALL, 1, v), random_vector(&random, ALL, 2, a);
        const double *w = v + 3, *dw = a + 3;
        const double twist[6] = {w[0], w[1], w[2], v[0], v[1], v[2]};
        const double rates[6] = {dw[0] + w[1] * w[2], dw[1] - w[0] * w[2], dw[2] + w[0] * w[1], a[0], a[1], a[2]};
        const dyn_base_motion base = {twist, rates, 0};
        require(dyn_flexible_inverse_dynamics(on_carriage, NULL, x, v, a, expected, &error), &error);
        dyn_flexible_chain_move_base(on_base, &base);
        require(dyn_flexible_inverse_dynamics(on_base, NULL, x + 6, v + 6, a + 6, forces, &error), &error);
        assert_norm_close("forces", k, forces, expected + 6, RODS, 1e-10);
        require(dyn_flexible_forward_dynamics(on_base, NULL, x + 6, v + 6, forces, back, &error), &error);
        assert_norm_close("a", k, back, a + 6, RODS, 1e-8);
        dyn_flexible_chain_move_base(on_base, NULL);
        require(dyn_flexible_inverse_dynamics(on_base, NULL, x + 6, v + 6, a + 6, forces, &error), &error);
        ck_assert_double_ge(fabs(forces[0] - expected[6]), 1e-3);
    }
    for (int i = 0; i < 2; i++) {
        dyn_flexible_chain_free(i ? on_base : on_carriage), dyn_model_free(models[i]);
    }
}
END_TEST

/* ---- Motion against rigid segments ------------------------------------------------------------------------------- */

/* Two rods, driven by moments of their joints that start smoothly, so that they excite few modes. Deflections are
 * small, since modes know no shortening. */
enum { SEGMENTS = 12, STEPS = 2000, BODIES = 2 * (SEGMENTS + 1) };
static const double step = 2e-4, rod_length[2] = {1, 0.8}, rod_mass[2] = {1, 0.8}, rigidity = 50;
static const double weak_gravity[3] = {0.05, 0, -0.005};

static double moment_of_joint(int joint, double time) {
    return joint == 0 ? 0.1 - 0.1 * cos(20 * time) : 0.05 * cos(28 * time) - 0.05;
}

/* Robot that is simulated: its coordinates, the ones of the two joints, and its accelerations. */
typedef struct falling_robot {
    size_t size, joints[2];
    void (*accelerate)(const struct falling_robot *robot, const double *x, const double *v, double time, double *a);
    dyn_model *model;
    dyn_workspace *workspace;
    dyn_flexible_chain *chain;
} falling_robot;

/* Advances the state, x followed by v, by one step of the classical Runge-Kutta method. */
static void advance(const falling_robot *robot, double time, double *state) {
    static const double node[4] = {0, 0.5, 0.5, 1}, weight[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
    size_t n = robot->size;
    double rate[2 * BODIES] = {0}, at[2 * BODIES], sum[2 * BODIES] = {0};
    for (int stage = 0; stage < 4; stage++) {
        for (size_t i = 0; i < 2 * n; i++) {
            at[i] = state[i] + node[stage] * step * rate[i];
        }
        memcpy(rate, at + n, n * sizeof *rate);
        robot->accelerate(robot, at, at + n, time + node[stage] * step, rate + n);
        for (size_t i = 0; i < 2 * n; i++) {
            sum[i] += weight[stage] * rate[i];
        }
    }
    for (size_t i = 0; i < 2 * n; i++) {
        state[i] += step * sum[i];
    }
}

/* Stores the angles of the two joints after each step. */
static void simulate(const falling_robot *robot, double *angles) {
    double state[2 * BODIES] = {0};
    for (int k = 0; k < STEPS; k++) {
        advance(robot, k * step, state);
        angles[2 * k] = state[robot->joints[0]], angles[2 * k + 1] = state[robot->joints[1]];
    }
}

static void accelerate_segments(const falling_robot *robot, const double *x, const double *v, double time, double *a) {
    double tau[BODIES];
    dyn_error error;
    for (int i = 0; i < BODIES; i++) {
        int rod = i / (SEGMENTS + 1);
        bool is_joint = i % (SEGMENTS + 1) == 0;
        tau[i] = is_joint ? moment_of_joint(rod, time) : -rigidity / (rod_length[rod] / SEGMENTS) * x[i];
    }
    require(dyn_aba(robot->model, robot->workspace, 1, weak_gravity, x, v, tau, NULL, a, &error), &error);
}

static void accelerate_modes(const falling_robot *robot, const double *x, const double *v, double time, double *a) {
    double forces[BODIES] = {moment_of_joint(0, time), moment_of_joint(1, time)};
    dyn_error error;
    require(dyn_flexible_forward_dynamics(robot->chain, weak_gravity, x, v, forces, a, &error), &error);
}

/* Each rod is half a segment, SEGMENTS - 1 segments and half a segment, with springs between. */
static void simulate_segments(double *angles) {
    dyn_error error;
    dyn_builder *builder = new_chain();
    falling_robot robot = {.size = BODIES, .joints = {0, SEGMENTS + 1}, .accelerate = accelerate_segments};
    double before = 0;
    for (int i = 0; i < BODIES; i++) {
        int rod = i / (SEGMENTS + 1), place = i % (SEGMENTS + 1);
        double length = rod_length[rod] / SEGMENTS * (place == 0 || place == SEGMENTS ? 0.5 : 1);
        add_rod(builder, i + 1, length, length / rod_length[rod] * rod_mass[rod], before);
        before = length;
    }
    robot.model = build(builder);
    require(dyn_workspace_create(robot.model, &robot.workspace, &error), &error);
    simulate(&robot, angles);
    dyn_workspace_free(robot.workspace);
    dyn_model_free(robot.model);
}

/* With no modes the rods are rigid. */
static void simulate_modes(int count, double *angles) {
    dyn_error error;
    dyn_builder *builder = new_chain();
    falling_robot robot = {.size = 2 + 2 * (size_t)count, .joints = {0, 1}, .accelerate = accelerate_modes};
    mode_set sets[2];
    dyn_flexible_link links[2];
    add_rod(builder, 1, rod_length[0], rod_mass[0], 0), add_rod(builder, 2, rod_length[1], rod_mass[1], rod_length[0]);
    robot.model = build(builder);
    for (int i = 0; i < 2 && count > 0; i++) {
        dyn_beam beam = {{0}, {rod_length[i], 0, 0}, rod_mass[i], {0, 0, 1}, {rigidity, 0}};
        polynomial_modes(&beam, count, sets[i].modes, sets[i].products, sets[i].stiffness);
        links[i] = (dyn_flexible_link){frame_of(robot.model, i == 0 ? "rod1" : "rod2"), count, sets[i].modes,
                                       sets[i].products, sets[i].stiffness};
    }
    require(dyn_flexible_chain_create(robot.model, count > 0 ? 2 : 0, links, &robot.chain, &error), &error);
    simulate(&robot, angles);
    dyn_flexible_chain_free(robot.chain);
    dyn_model_free(robot.model);
}

static double largest_difference(const double *x, const double *y) {
    double largest = 0;
    for (int i = 0; i < 2 * STEPS; i++) {
        largest = larger(largest, fabs(x[i] - y[i]));
    }
    return largest;
}

START_TEST(flexible_links_move_like_many_rigid_bodies_with_springs) {
    double *segments = numbers(2 * STEPS), *modes = numbers(2 * STEPS), *rigid = numbers(2 * STEPS);
    simulate_segments(segments);
    simulate_modes(2 * MODES - 2, modes);
    simulate_modes(0, rigid);
    double error = largest_difference(modes, segments), effect = largest_difference(rigid, segments);
    printf("joints of flexible links: %.2g rad from segments, where rigid links are %.2g rad from them\n", error,
           effect);
    ck_assert_double_gt(effect, 1e-3);
    ck_assert_double_le(error, 0.01 * effect);
    free(segments), free(modes), free(rigid);
}
END_TEST

/* ---- Bad input --------------------------------------------------------------------------------------------------- */

START_TEST(bad_modes_are_refused_with_their_place) {
    random_source random = random_seed("bad modes", 1824);
    dyn_builder *builder = new_chain();
    add_rod(builder, 1, 1, 1, 0);
    dyn_model *model = build(builder);
    mode_set set;
    dyn_flexible_chain *chain;
    dyn_error error;
    draw_modes(&random, &set);
    const dyn_flexible_link good = {frame_of(model, "rod1"), MODES, set.modes, set.products, set.stiffness};
    dyn_flexible_link links[2] = {good, good};
    ck_assert_int_eq(dyn_flexible_chain_create(model, 2, links, &chain, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "links[1].link");
    links[0].link = frame_of(model, "base");
    ck_assert_int_eq(dyn_flexible_chain_create(model, 1, links, &chain, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "links[0].link");
    links[0] = good, links[0].mode_count = 1000;
    ck_assert_int_eq(dyn_flexible_chain_create(model, 1, links, &chain, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "links[0].mode_count");
    links[0] = good, links[0].products = NULL;
    ck_assert_int_eq(dyn_flexible_chain_create(model, 1, links, &chain, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "links[0].modes");
    set.stiffness[1] += 1;
    ck_assert_int_eq(dyn_flexible_chain_create(model, 1, &good, &chain, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "links[0].stiffness");
    set.stiffness[1] -= 1, set.products[10] += 1;
    ck_assert_int_eq(dyn_flexible_chain_create(model, 1, &good, &chain, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "links[0].products");
    set.products[10] -= 1, set.modes[2].rotation[1] = 0.0 / 0.0;
    ck_assert_int_eq(dyn_flexible_chain_create(model, 1, &good, &chain, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "links[0].modes");
    dyn_model_free(model);
}
END_TEST

START_TEST(bad_states_and_beams_are_refused_with_their_place) {
    dyn_builder *builder = new_chain();
    add_rod(builder, 1, 1, 1, 0);
    dyn_model *model = build(builder);
    dyn_flexible_chain *chain;
    dyn_error error;
    mode_set set;
    double bad[1] = {1.0 / 0.0}, zero[1] = {0}, out[1];
    static const double zero_vector[3];
    require(dyn_flexible_chain_create(model, 0, NULL, &chain, &error), &error);
    ck_assert_int_eq(dyn_flexible_inverse_dynamics(chain, NULL, zero, bad, zero, out, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "v[0]");
    ck_assert_int_eq(dyn_flexible_forward_dynamics(chain, NULL, zero, zero, NULL, out, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "forces");
    dyn_flexible_chain_free(chain);
    dyn_model_free(model);
    dyn_beam beam = {{0}, {1, 0, 0}, 1, {0, 0, 1}, {1, 0}};
    ck_assert_int_eq(dyn_beam_modes(&beam, DYN_BEAM_MODES + 1, set.modes, set.products, set.stiffness, &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "count");
    beam.direction[0] = 0.5;
    ck_assert_int_eq(dyn_beam_modes(&beam, 1, set.modes, set.products, set.stiffness, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "beam.direction");
    model = rod_with_tool(0, zero_vector);
    dyn_beam_load load = {model, frame_of(model, "base"), 0, NULL};
    ck_assert_int_eq(dyn_beam_carry(&unit_beam, 1, &load, set.modes, set.products, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "load.link");
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("flexible_chain");
    tcase_add_test(tests, links_that_do_not_bend_follow_rnea_and_crba);
    tcase_add_test(tests, forward_dynamics_inverts_inverse_dynamics);
    tcase_add_test(tests, power_is_the_rate_of_the_energy_without_gravity);
    tcase_add_test(tests, modes_of_a_beam_have_its_frequencies);
    tcase_add_test(tests, polynomial_modes_have_the_frequencies_of_clamped_and_pinned_beams);
    tcase_add_test(tests, a_clamped_beam_sags_under_its_weight);
    tcase_add_test(tests, a_mass_at_its_end_lowers_the_frequency_of_a_beam_as_published);
    tcase_add_test(tests, a_payload_moves_with_the_section_next_to_it);
    tcase_add_test(tests, a_beam_does_not_move_what_carries_it);
    tcase_add_test(tests, a_moving_base_acts_as_a_carriage_that_follows_it);
    tcase_add_test(tests, flexible_links_move_like_many_rigid_bodies_with_springs);
    tcase_add_test(tests, bad_modes_are_refused_with_their_place);
    tcase_add_test(tests, bad_states_and_beams_are_refused_with_their_place);
    tcase_set_timeout(tests, 120);
    return run_properties("flexible chain", tests);
}
