/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the rows A of constraints and tasks, and their bias dA/dt v.
 *
 * A group of rows is the sum of its terms. A term selects rows of a frame's Jacobian, or one coordinate, and scales
 * them; or it is one side of a closure (closure.h). A frame that is fixed to the world and a coordinate have no bias.
 * A row of a polynomial coupling, q_1 - p(q_2), has the bias -p''(q_2) v_2^2.
 */
#include "closure.h"

/* Returns the number of reals for the motions of two frames: nv zeros, and for each frame pose, twist, rate and two
 * 6 x nv matrices. */
static size_t motion_numbers(const dyn_model *model) {
    return (size_t)model->nv + 2 * (24 + 12 * (size_t)model->nv);
}

size_t KERNEL(closure_pose_memory)(const dyn_model *model) {
    return 12 * sizeof(real) + KERNEL(frame_memory)(model);
}

size_t KERNEL(row_jacobian_memory)(const dyn_model *model) {
    size_t of_jacobian = KERNEL(frame_memory)(model), of_motion = KERNEL(frame_motion_memory)(model);
    size_t of_frame = of_jacobian > of_motion ? of_jacobian : of_motion, of_pose = KERNEL(closure_pose_memory)(model);
    return motion_numbers(model) * sizeof(real) + (of_frame > of_pose ? of_frame : of_pose);
}

/* Adds the selected rows out of six, with the given number of columns, times the term's factor. */
static void add_rows(const row_term *t, int columns, const real *six, real *out) {
    real factor = real_set(t->factor);
    for (int row = 0; row < 6; row++) {
        if (t->rows >> row & 1) {
            for (int i = 0; i < columns; i++, out++) {
                *out = real_fma(factor, six[row * columns + i], *out);
            }
        }
    }
}

/* Adds the rows of one frame to A, and dA/dt v to the bias unless v is NULL. */
static void add_frame(const dyn_model *model, void *memory, const void *q, const void *v, const row_term *t, real *A,
                      real *bias) {
    int nv = model->nv;
    real *V = (real *)memory, *rate = V + 6, *zero = V + 12, *six = zero + nv;
    void *rest = six + 6 * nv;
    if (t->index < 0 || model->frames[t->index].body < 0) {
        return;
    }
    for (int i = 0; i < 7 * nv; i++) {
        zero[i] = real_set(0);
    }
    KERNEL(frame_jacobian)(model, rest, q, t->index, t->reference_frame, six);
    add_rows(t, nv, six, A);
    if (v) {
        const frame_rates rates = {V, rate, six};
        KERNEL(frame_motion)(model, rest, q, v, zero, t->index, t->reference_frame, &rates);
        add_rows(t, 1, rate, bias);
    }
}

/* ---- Closures ---------------------------------------------------------------------------------------------------- */

/* Motion of the frame of one side, in the world. */
typedef struct side_motion {
    placement X;
    motion V, rate; /* rate: dJ/dt v */
    const real *J;  /* NULL: the world */
} side_motion;

/* Returns the placement in the world of the frame of one side; `memory` receives the pose of the link. */
static placement side_placement(const dyn_model *model, void *memory, const void *q, const closure *c, int side) {
    const dyn_pose *pose = &c->poses[side];
    placement in_link = placement_constant(pose->rotation, pose->position);
    real *position = (real *)memory, *rotation = position + 3;
    if (c->links[side] < 0) {
        return in_link;
    }
    KERNEL(frame_pose)(model, rotation + 9, q, c->links[side], position, rotation);
    return placement_compose(placement_load(rotation, position), in_link);
}

static motion load_motion(const real *x) {
    return motion_set(vec3_set(x[0], x[1], x[2]), vec3_set(x[3], x[4], x[5]));
}

/* Computes the motion of the frame of one side. Its matrices are stored at *numbers, which advances. `zero` is nv
 * zeros. The velocity and the rate are zero if v is NULL. */
static side_motion move_side(const dyn_model *model, void *memory, const void *q, const void *v, const real *zero,
                             const closure *c, int side, real **numbers) {
    int nv = model->nv, link = c->links[side];
    real *V = *numbers + 12, *rate = V + 6, *J = rate + 6, *dJ = J + 6 * nv;
    side_motion m;
    m.X = side_placement(model, memory, q, c, side);
    m.V = m.rate = motion_zero();
    m.J = NULL;
    *numbers = dJ + 6 * nv;
    if (link >= 0 && model->frames[link].body >= 0) {
        KERNEL(frame_jacobian)(model, memory, q, link, DYN_REFERENCE_FRAME_WORLD, J);
        m.J = J;
    }
    if (m.J && v) {
        const frame_rates results = {V, rate, dJ};
        KERNEL(frame_motion)(model, memory, q, v, zero, link, DYN_REFERENCE_FRAME_WORLD, &results);
        m.V = load_motion(V);
        m.rate = load_motion(rate);
    }
    return m;
}

/* Adds the rows W' J of one side, times the factor, to A. J is NULL for the world. */
static void add_side(int nv, int count, const force *W, const real *J, double factor, real *A) {
    for (int r = 0; r < count && J; r++) {
        for (int i = 0; i < nv; i++) {
            motion column = motion_set(vec3_set(J[i], J[nv + i], J[2 * nv + i]),
                                       vec3_set(J[3 * nv + i], J[4 * nv + i], J[5 * nv + i]));
            A[r * nv + i] = real_fma(real_set(factor), spatial_dot(column, W[r]), A[r * nv + i]);
        }
    }
}

/* Computes the rows of a closure, and their bias unless v is NULL. */
static void add_closure(const dyn_model *model, void *memory, const void *q, const void *v, const closure *c, real *A,
                        real *bias) {
    force W[6], rates[6];
    int nv = model->nv;
    real *zero = (real *)memory, *numbers = zero + nv;
    void *rest = zero + motion_numbers(model);
    for (int i = 0; i < nv; i++) {
        zero[i] = real_set(0);
    }
    side_motion P = move_side(model, rest, q, v, zero, c, 0, &numbers);
    side_motion S = move_side(model, rest, q, v, zero, c, 1, &numbers);
    closure_wrenches(c, P.X, S.X, W);
    add_side(nv, c->count, W, S.J, 1, A);
    add_side(nv, c->count, W, P.J, -1, A);
    if (!v) {
        return;
    }
    motion relative = motion_fma(real_set(-1), P.V, S.V), rate = motion_fma(real_set(-1), P.rate, S.rate);
    closure_wrench_rates(c, P.X, S.X, P.V, S.V, W, rates);
    for (int r = 0; r < c->count; r++) {
        bias[r] = spatial_dot(rate, W[r]) + spatial_dot(relative, rates[r]);
    }
}

void KERNEL(closure_pose)(const dyn_model *model, void *memory, const void *q, int constraint, void *position,
                          void *rotation) {
    const closure *c = &model->closures[constraint];
    placement P = side_placement(model, memory, q, c, 0), S = side_placement(model, memory, q, c, 1);
    vec3 r = mat3_apply_transposed(P.R, vec3_sub(S.r, P.r));
    mat3 R = mat3_multiply(mat3_transpose(P.R), S.R);
    real *at = (real *)position, *turn = (real *)rotation;
    at[0] = r.x, at[1] = r.y, at[2] = r.z;
    turn[0] = R.xx, turn[1] = R.xy, turn[2] = R.xz;
    turn[3] = R.yx, turn[4] = R.yy, turn[5] = R.yz;
    turn[6] = R.zx, turn[7] = R.zy, turn[8] = R.zz;
}

/* ---- Coordinates ------------------------------------------------------------------------------------------------- */

/* Adds the term factor dp/dq of a polynomial to its row, and factor d2p/dq2 v^2 to its bias unless v is NULL. */
static void add_polynomial(const closure *c, const real *q, const real *v, double factor, real *row, real *drift) {
    real x = q[c->q_index[1]];
    row[c->v_index[1]] = real_fma(real_set(factor), polynomial_slope(c, x), row[c->v_index[1]]);
    if (v) {
        real rate = v[c->v_index[1]];
        drift[0] = real_fma(real_set(factor), polynomial_curvature(c, x) * rate * rate, drift[0]);
    }
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

void KERNEL(row_jacobian)(const dyn_model *model, void *memory, const void *q, const void *v, const row_set *rows,
                          void *A, void *bias) {
    real *row = (real *)A, *drift = (real *)bias;
    for (int i = 0; i < rows->m * model->nv; i++) {
        row[i] = real_set(0);
    }
    for (int i = 0; i < rows->m && v; i++) {
        drift[i] = real_set(0);
    }
    for (size_t g = 0; g < rows->group_count; g++) {
        const row_group *group = &rows->groups[g];
        if (group->terms[0].source == ROWS_OF_CLOSURE) {
            add_closure(model, memory, q, v, &model->closures[group->terms[0].index], row, drift);
        }
        for (int k = 0; k < group->term_count; k++) {
            const row_term *t = &group->terms[k];
            if (t->source == ROWS_OF_FRAME) {
                add_frame(model, memory, q, v, t, row, drift);
            } else if (t->source == ROW_OF_COORDINATE) {
                row[t->index] = row[t->index] + real_set(t->factor);
            } else if (t->source == ROW_OF_POLYNOMIAL) {
                add_polynomial(&model->closures[t->index], (const real *)q, (const real *)v, t->factor, row, drift);
            }
        }
        row += group->count * model->nv;
        if (v) {
            drift += group->count;
        }
    }
}
