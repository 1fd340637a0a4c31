/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/base_parameters.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/configuration.h>
#include <dynamics/configuration_space.h>
#include <dynamics/kinematics.h>
#include <dynamics/regressor.h>

#include "../model/error.h"
#include "../model/placement.h"
#include "elimination.h"

enum { LINK = 10, STATES = 40 };

/* Bound below which elimination treats an entry as zero, with columns scaled to the motion (base_parameters.h states
 * the reason). */
static const double noise = 1e-10;

/* Regrouping of a parameter that is no base parameter: factors of its own link's parameters and of the parent's, or of
 * all parameters. */
typedef struct regrouping {
    int parameter;
    int parent; /* joint of the parent link, or -1 */
    double own[LINK], up[LINK];
    double *all; /* NULL: use own and up */
} regrouping;

struct dyn_base_parameters {
    int parameters; /* ten times the joints */
    int count;
    int *columns;
    int regrouped; /* number of regroupings, from the tips to the root */
    regrouping *regroupings;
    double *factors; /* memory of the `all` arrays of the regroupings; NULL without coupled joints */
};

/* Regressors at random states. */
typedef struct samples {
    const dyn_model *model;
    dyn_workspace *workspace;
    const double *gravity;
    size_t n, nq, nv, width; /* n: states; width: parameters */
    double *q, *v, *y_T, *y_V;
    double *position, *rotation; /* of every moving link at the zero configuration */
} samples;

/* ---- Random states ----------------------------------------------------------------------------------------------- */

/* Returns a number uniform in [-1, 1). Source: Steele, Lea and Flood 2014 (SplitMix). */
static double draw(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-52 - 1;
}

static dyn_status draw_states(const dyn_model *model, uint64_t seed, samples *s, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (size_t i = 0; i < s->n && status == DYN_OK; i++) {
        double *v = s->v + i * s->nv;
        for (size_t k = 0; k < s->nv; k++) {
            v[k] = 2 * draw(&seed);
        }
        dyn_zero_configuration(model, s->q + i * s->nq);
        status = dyn_integrate(model, 1, s->q + i * s->nq, v, 1, s->q + i * s->nq, error);
        for (size_t k = 0; k < s->nv; k++) {
            v[k] = draw(&seed);
        }
    }
    return status;
}

static void samples_free(samples *s) {
    double *all[] = {s->q, s->v, s->y_T, s->y_V, s->position, s->rotation};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        free(all[i]);
    }
    dyn_workspace_free(s->workspace);
}

/* Computes random states, their energy regressors and the poses of all moving links at the zero configuration. The
 * caller frees them with samples_free, also after an error. */
static dyn_status samples_create(const dyn_model *model, const double *gravity, samples *s, dyn_error *error) {
    size_t joints = (size_t)dyn_model_joint_count(model), n = STATES;
    *s = (samples){.model = model,
                   .gravity = gravity,
                   .n = n,
                   .nq = (size_t)dyn_model_nq(model),
                   .nv = (size_t)dyn_model_nv(model),
                   .width = LINK * joints};
    s->q = calloc(n * s->nq + 1, sizeof(double)), s->v = calloc(n * s->nv + 1, sizeof(double));
    s->y_T = calloc(n * s->width + 1, sizeof(double)), s->y_V = calloc(n * s->width + 1, sizeof(double));
    s->position = calloc(3 * joints + 1, sizeof(double)), s->rotation = calloc(9 * joints + 1, sizeof(double));
    if (!s->q || !s->v || !s->y_T || !s->y_V || !s->position || !s->rotation) {
        return dyn_error_memory(error);
    }
    dyn_status status = dyn_workspace_create(model, &s->workspace, error);
    dyn_zero_configuration(model, s->q);
    for (size_t j = 0; j < joints && status == DYN_OK; j++) {
        status = dyn_frame_pose(model, s->workspace, 1, s->q, dyn_model_joint(model, (int)j)->child_link,
                                s->position + 3 * j, s->rotation + 9 * j, error);
    }
    if (status == DYN_OK) {
        status = draw_states(model, 1, s, error);
    }
    return status == DYN_OK ? dyn_energy_regressor(model, s->workspace, n, gravity, s->q, s->v, s->y_T, s->y_V, error)
                            : status;
}

/* ---- Moves of inertia across one joint --------------------------------------------------------------------------- */

/* Index, in the order xx xy xz yy yz zz, of each of the parameters Ixx Ixy Iyy Ixz Iyz Izz. */
static const int inertia_place[6] = {0, 1, 3, 2, 4, 5};

/* Computes A, which maps the ten parameters of a link about its own frame to those about its parent's, at the zero
 * configuration; zero for a link without a moving parent. */
static void find_transfer(const samples *s, int joint, int parent, double A[LINK][LINK]) {
    memset(A, 0, LINK * LINK * sizeof(double));
    if (parent < 0) {
        return;
    }
    const double *R = s->rotation + 9 * joint, *R_p = s->rotation + 9 * parent;
    dyn_pose place;
    for (int i = 0; i < 9; i++) {
        place.rotation[i] = 0;
        for (int k = 0; k < 3; k++) {
            place.rotation[i] += R_p[3 * k + i / 3] * R[3 * k + i % 3];
        }
    }
    for (int i = 0; i < 3; i++) {
        place.position[i] = 0;
        for (int k = 0; k < 3; k++) {
            place.position[i] += R_p[3 * k + i] * (s->position[3 * joint + k] - s->position[3 * parent + k]);
        }
    }
    for (int c = 0; c < LINK; c++) {
        mass_properties unit = {.mass = c == 0};
        if (c >= 1 && c <= 3) {
            unit.first_moment[c - 1] = 1;
        } else if (c > 3) {
            unit.inertia[inertia_place[c - 4]] = 1;
        }
        mass_properties moved = mass_properties_move(&place, &unit);
        A[0][c] = moved.mass;
        for (int i = 0; i < 3; i++) {
            A[1 + i][c] = moved.first_moment[i];
        }
        for (int i = 0; i < 6; i++) {
            A[4 + i][c] = moved.inertia[inertia_place[i]];
        }
    }
}

/* Computes one row of the change that moving each parameter to the parent causes: y - A' y_p. */
static void difference_row(const double *y, const double *y_p, double A[LINK][LINK], double *row) {
    for (int c = 0; c < LINK; c++) {
        row[c] = y[c];
        for (int i = 0; i < LINK && y_p; i++) {
            row[c] -= A[i][c] * y_p[i];
        }
    }
}

/* Updates the largest squares of a link's angular and linear velocity in all states, and of gravity. */
static void find_motion(const samples *s, int joint, double *angular, double *linear, double *gravity) {
    for (size_t i = 0; i < s->n; i++) {
        const double *y_T = s->y_T + i * s->width + LINK * joint, *g = s->y_V + i * s->width + LINK * joint + 1;
        *angular = fmax(*angular, 2 * (y_T[4] + y_T[6] + y_T[9])); /* of Ixx, Iyy, Izz */
        *linear = fmax(*linear, 2 * y_T[0]);
        *gravity = fmax(*gravity, g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    }
}

static double distance(const samples *s, int joint) {
    const double *x = s->position + 3 * joint;
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* Computes the energies of one unit of each kind of parameter that moves as fast and as far as the link or its parent.
 * A column is compared with these, not with its own entries: where an axis is tilted by no more than rounding, those
 * entries are rounding too, and would look independent when scaled to one. Poses are known to the rounding of their
 * distance from the world's origin, so a velocity that this rounding causes counts as none. */
static void find_sizes(const samples *s, int joint, int parent, double sizes[LINK]) {
    double angular = 0, linear = 0, gravity = 0, reach = distance(s, joint);
    find_motion(s, joint, &angular, &linear, &gravity);
    if (parent >= 0) {
        find_motion(s, parent, &angular, &linear, &gravity);
        reach = fmax(reach, distance(s, parent));
    }
    reach += 2 * sqrt(linear); /* configurations are drawn from twice the range of velocities */
    double w = sqrt(angular), v = fmax(sqrt(linear), w * reach), g = sqrt(gravity);
    for (int c = 0; c < LINK; c++) {
        sizes[c] = c == 0 ? v * v / 2 + g * reach : c <= 3 ? w * v + g : w * w / 2;
    }
}

/* Computes the changes of the energies in all states: of the kinetic one, and of the potential one relative to the
 * first state. Each column is divided by its size. */
static void find_differences(const samples *s, int joint, int parent, double A[LINK][LINK], const double sizes[LINK],
                             double *D) {
    double first[LINK] = {0};
    for (size_t i = 0; i < s->n; i++) {
        const double *y_T = s->y_T + i * s->width, *y_V = s->y_V + i * s->width;
        double *row = D + 2 * i * LINK;
        difference_row(y_T + LINK * joint, parent < 0 ? NULL : y_T + LINK * parent, A, row);
        difference_row(y_V + LINK * joint, parent < 0 ? NULL : y_V + LINK * parent, A, row + LINK);
        for (int c = 0; c < LINK; c++) {
            first[c] = i == 0 ? row[LINK + c] : first[c];
            row[LINK + c] -= first[c];
        }
    }
    for (size_t i = 0; i < 2 * s->n * LINK; i++) {
        D[i] = sizes[i % LINK] > 0 ? D[i] / sizes[i % LINK] : 0;
    }
}

/* Finds which parameters of a joint's link are regrouped, and adds their regroupings. D is scratch memory. */
static void regroup_link(const samples *s, int joint, double *D, dyn_base_parameters *g) {
    int link = dyn_model_joint(s->model, joint)->parent_link;
    int parent = link < 0 ? -1 : dyn_model_link(s->model, link)->moving_joint;
    double A[LINK][LINK], sizes[LINK];
    size_t order[LINK];
    find_transfer(s, joint, parent, A);
    find_sizes(s, joint, parent, sizes);
    find_differences(s, joint, parent, A, sizes, D);
    size_t rank = eliminate(2 * s->n, LINK, noise, D, order);
    for (size_t k = rank; k < LINK; k++) {
        regrouping *r = &g->regroupings[g->regrouped++];
        size_t c = order[k];
        *r = (regrouping){.parameter = LINK * joint + (int)c, .parent = parent};
        for (size_t i = 0; i < rank; i++) {
            r->own[order[i]] = D[i * LINK + c] * (sizes[c] > 0 ? sizes[c] / sizes[order[i]] : 0);
        }
        /* The moved part is the parameter without the part that its own link keeps. */
        for (int i = 0; i < LINK; i++) {
            r->up[i] = A[i][c];
            for (int j = 0; j < LINK; j++) {
                r->up[i] -= A[i][j] * r->own[j];
            }
        }
    }
}

/* ---- Coupled joints ---------------------------------------------------------------------------------------------- */

/* Returns the kind of a parameter: 0 mass, 1 first moment, 2 inertia. */
static int kind_of(int parameter) {
    return parameter % LINK == 0 ? 0 : parameter % LINK <= 3 ? 1 : 2;
}

/* Scales the remaining columns to a largest entry of one. Columns of one kind share their scale. */
static void scale_columns(const dyn_base_parameters *g, size_t rows, double *W, double *sizes) {
    size_t columns = (size_t)g->count;
    double largest[3] = {0};
    for (size_t i = 0; i < rows * columns; i++) {
        int kind = kind_of(g->columns[i % columns]);
        largest[kind] = fmax(largest[kind], fabs(W[i]));
    }
    for (size_t c = 0; c < columns; c++) {
        sizes[c] = largest[kind_of(g->columns[c])];
    }
    for (size_t i = 0; i < rows * columns; i++) {
        W[i] = sizes[i % columns] > 0 ? W[i] / sizes[i % columns] : 0;
    }
}

/* Copies the remaining columns of the energies in one state, of the potential one relative to the first state. */
static void copy_columns(const samples *s, const dyn_base_parameters *g, size_t state, double *row) {
    const double *y_T = s->y_T + state * s->width, *y_V = s->y_V + state * s->width;
    for (int c = 0; c < g->count; c++) {
        row[c] = y_T[g->columns[c]];
        row[g->count + c] = y_V[g->columns[c]] - s->y_V[g->columns[c]];
    }
}

/* Samples the remaining columns: two rows of W for each of `states` states. Every parameter that matters changes an
 * energy in almost every state, while it changes only few of the torques. */
static dyn_status sample_columns(samples *s, const dyn_base_parameters *g, size_t states, double *W, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (size_t done = 0, seed = 2; done < states && status == DYN_OK; seed++) {
        status = draw_states(s->model, seed, s, error);
        if (status == DYN_OK) {
            status = dyn_energy_regressor(s->model, s->workspace, s->n, s->gravity, s->q, s->v, s->y_T, s->y_V, error);
        }
        for (size_t i = 0; i < s->n && done < states && status == DYN_OK; i++, done++) {
            copy_columns(s, g, i, W + 2 * done * (size_t)g->count);
        }
    }
    return status;
}

/* Regroups columns that only the coupling of joints makes dependent. */
static dyn_status regroup_coupled(samples *s, dyn_base_parameters *g, dyn_error *error) {
    size_t count = (size_t)g->count, states = count + 8, rows = 2 * states;
    if (s->width > LINK * DYN_BASE_PARAMETER_COUPLED_JOINTS) {
        return dyn_error_because(error, DYN_RESOURCE_EXHAUSTED, DYN_CAUSE_TOO_MANY, "model",
                                 "the base parameters of coupled mimic joints among %zu joints; the limit is %d",
                                 s->width / LINK, DYN_BASE_PARAMETER_COUPLED_JOINTS);
    }
    double *W = calloc(rows * count + 1, sizeof *W), *sizes = calloc(count + 1, sizeof *sizes);
    size_t *order = calloc(count + 1, sizeof *order);
    g->factors = calloc(count * s->width + 1, sizeof *g->factors);
    bool allocated = W && sizes && order && g->factors;
    dyn_status status = allocated ? sample_columns(s, g, states, W, error) : dyn_error_memory(error);
    if (status == DYN_OK) {
        scale_columns(g, rows, W, sizes);
        size_t rank = eliminate(rows, count, noise, W, order);
        for (size_t k = rank; k < count; k++) {
            regrouping *r = &g->regroupings[g->regrouped++];
            *r = (regrouping){.parameter = g->columns[order[k]], .parent = -1};
            r->all = g->factors + (k - rank) * s->width;
            for (size_t i = 0; i < rank; i++) {
                double factor = sizes[order[k]] > 0 ? sizes[order[k]] / sizes[order[i]] : 0;
                r->all[g->columns[order[i]]] = W[i * count + order[k]] * factor;
            }
        }
    }
    free(W), free(sizes), free(order);
    return status;
}

/* ---- Grouping ---------------------------------------------------------------------------------------------------- */

/* Lists the parameters that are not regrouped. */
static void list_columns(dyn_base_parameters *g) {
    g->count = 0;
    for (int c = 0; c < g->parameters; c++) {
        bool is_listed = true;
        for (int k = 0; k < g->regrouped; k++) {
            is_listed = is_listed && g->regroupings[k].parameter != c;
        }
        if (is_listed) {
            g->columns[g->count++] = c;
        }
    }
}

static dyn_status find_groups(samples *s, dyn_base_parameters *g, dyn_error *error) {
    double *D = calloc(2 * s->n * LINK, sizeof *D);
    if (!D) {
        return dyn_error_memory(error);
    }
    for (int j = dyn_model_joint_count(s->model) - 1; j >= 0; j--) {
        regroup_link(s, j, D, g);
    }
    free(D);
    list_columns(g);
    dyn_status status = dyn_model_has_coupling(s->model) ? regroup_coupled(s, g, error) : DYN_OK;
    list_columns(g);
    return status;
}

dyn_status dyn_base_parameters_create(const dyn_model *model, const double *gravity, dyn_base_parameters **grouping,
                                      dyn_error *error) {
    samples s;
    *grouping = NULL;
    dyn_base_parameters *g = calloc(1, sizeof *g);
    if (!g) {
        return dyn_error_memory(error);
    }
    g->parameters = dyn_model_parameter_count(model);
    g->columns = calloc((size_t)g->parameters + 1, sizeof *g->columns);
    g->regroupings = calloc((size_t)g->parameters + 1, sizeof *g->regroupings);
    dyn_status status = samples_create(model, gravity, &s, error);
    if (status == DYN_OK && (!g->columns || !g->regroupings)) {
        status = dyn_error_memory(error);
    }
    if (status == DYN_OK) {
        status = find_groups(&s, g, error);
    }
    samples_free(&s);
    if (status != DYN_OK) {
        dyn_base_parameters_free(g);
        return status;
    }
    *grouping = g;
    return DYN_OK;
}

void dyn_base_parameters_free(dyn_base_parameters *grouping) {
    if (grouping) {
        free(grouping->columns);
        free(grouping->regroupings);
        free(grouping->factors);
        free(grouping);
    }
}

int dyn_base_parameters_count(const dyn_base_parameters *grouping) {
    return grouping->count;
}

const int *dyn_base_parameters_columns(const dyn_base_parameters *grouping) {
    return grouping->columns;
}

/* ---- Use --------------------------------------------------------------------------------------------------------- */

/* Regroups p in place, from the tips to the root. */
static void regroup(const dyn_base_parameters *g, double *p) {
    for (int k = 0; k < g->regrouped; k++) {
        const regrouping *r = &g->regroupings[k];
        double x = p[r->parameter], *own = p + r->parameter / LINK * LINK;
        p[r->parameter] = 0;
        for (int i = 0; i < g->parameters && r->all && x != 0; i++) {
            p[i] += r->all[i] * x;
        }
        for (int i = 0; i < LINK && !r->all && x != 0; i++) {
            own[i] += r->own[i] * x;
            if (r->parent >= 0) {
                p[LINK * r->parent + i] += r->up[i] * x;
            }
        }
    }
}

dyn_status dyn_base_parameters_reduce(const dyn_base_parameters *grouping, const double *p, double *b,
                                      dyn_error *error) {
    size_t width = (size_t)grouping->parameters;
    double *moved = calloc(width + 1, sizeof *moved);
    if (!moved) {
        return dyn_error_memory(error);
    }
    memcpy(moved, p, width * sizeof *moved);
    regroup(grouping, moved);
    for (int i = 0; i < grouping->count; i++) {
        b[i] = moved[grouping->columns[i]];
    }
    free(moved);
    return DYN_OK;
}

dyn_status dyn_base_parameters_matrix(const dyn_base_parameters *grouping, double *B, dyn_error *error) {
    size_t width = (size_t)grouping->parameters;
    double *unit = calloc(width + 1, sizeof *unit);
    if (!unit) {
        return dyn_error_memory(error);
    }
    for (size_t c = 0; c < width; c++) {
        memset(unit, 0, width * sizeof *unit);
        unit[c] = 1;
        regroup(grouping, unit);
        for (int i = 0; i < grouping->count; i++) {
            B[(size_t)i * width + c] = unit[grouping->columns[i]];
        }
    }
    free(unit);
    return DYN_OK;
}
