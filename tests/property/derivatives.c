/*
 * Analytic derivatives against complex steps: Im f(x + i h) / h of the same kernels over complex numbers.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/oracle/oracle.h"
#include "support/random_tree.h"

typedef double _Complex complex_number;

enum { CASES = 60, MAX_JOINTS = 60, MAX_FORCES = 3 };

static const double step = 1e-100;

/* A random tree with a state, external forces and room for results: X analytic, Y by complex steps. */
typedef struct setting {
    dyn_model *model;
    dyn_workspace *workspace;
    size_t nq, nv;
    double *q, *v, *a, *X[3], *Y[3];
    double wrench[MAX_FORCES][6];
    dyn_external_force force[MAX_FORCES];
    dyn_external_forces forces;
    double gravity[3];
} setting;

/* The same as complex numbers, for the oracle. */
typedef struct complex_state {
    complex_number *q, *v, *a, *out;
    complex_number wrench[MAX_FORCES][6];
    wrench_frame frames[MAX_FORCES];
    wrench_set forces;
    void *memory;
} complex_state;

static void require(dyn_status status, const dyn_error *error) {
    ck_assert_msg(status == DYN_OK, "%s: %s", error->place, error->message);
}

static void *numbers(size_t count, size_t size) {
    void *x = calloc(count + 1, size);
    ck_assert_ptr_nonnull(x);
    return x;
}

/* One to three wrenches on links that move, in all reference frames. */
static void add_forces(random_source *random, setting *s) {
    s->forces = (dyn_external_forces){0, s->force};
    for (int j = 0; j < MAX_FORCES; j++) {
        int frame = random_index(random, dyn_model_link_count(s->model));
        if (dyn_model_link(s->model, frame)->moving_joint < 0) {
            continue;
        }
        size_t i = s->forces.count++;
        random_vector(random, 6, 20, s->wrench[i]);
        s->force[i] = (dyn_external_force){frame, (dyn_reference_frame)random_index(random, 3), s->wrench[i], 0};
    }
}

static setting setting_create(random_source *random, int k) {
    random_tree_options options = {.joints = 1 + k % MAX_JOINTS,
                                   .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .mimic = DYN_MIMIC_COUPLED,
                                   .with_mimic = k % 3 == 0,
                                   .with_fixed = true};
    setting s = {.model = random_tree(random, &options)};
    dyn_error error;
    require(dyn_workspace_create(s.model, &error, &s.workspace), &error);
    s.nq = (size_t)dyn_model_nq(s.model), s.nv = (size_t)dyn_model_nv(s.model);
    s.q = numbers(s.nq, sizeof(double)), s.v = numbers(s.nv, sizeof(double)), s.a = numbers(s.nv, sizeof(double));
    for (int i = 0; i < 3; i++) {
        s.X[i] = numbers(s.nv * s.nv, sizeof(double)), s.Y[i] = numbers(s.nv * s.nv, sizeof(double));
        for (size_t j = 0; j < s.nv * s.nv; j++) {
            s.X[i][j] = NAN;
        }
    }
    random_configuration(random, s.model, 3, s.q);
    random_vector(random, (int)s.nv, 2, s.v);
    random_vector(random, (int)s.nv, 5, s.a);
    random_vector(random, 3, 10, s.gravity);
    return s;
}

static void setting_free(setting *s) {
    free(s->q), free(s->v), free(s->a);
    for (int i = 0; i < 3; i++) {
        free(s->X[i]), free(s->Y[i]);
    }
    dyn_workspace_free(s->workspace);
    dyn_model_free(s->model);
}

static complex_state complex_create(const setting *s) {
    complex_state c = {.q = numbers(s->nq, sizeof(complex_number)),
                       .v = numbers(s->nv, sizeof(complex_number)),
                       .a = numbers(s->nv, sizeof(complex_number)),
                       .out = numbers(3 * s->nv * s->nv + 6 * s->nv, sizeof(complex_number)),
                       .memory = numbers(dyn_kernel_table_complex_step.memory_size(s->model), 1)};
    for (size_t j = 0; j < s->forces.count; j++) {
        c.frames[j] = (wrench_frame){s->force[j].frame, s->force[j].reference_frame};
        for (int i = 0; i < 6; i++) {
            c.wrench[j][i] = s->wrench[j][i];
        }
    }
    return c;
}

static void complex_free(complex_state *c) {
    free(c->q), free(c->v), free(c->a), free(c->out), free(c->memory);
}

/* The rate of the quaternion x, y, z, w that turns with w in its own axes: q (w; 0) / 2. */
static void quaternion_rate(const double q[4], const double w[3], double rate[4]) {
    rate[0] = (q[3] * w[0] + q[1] * w[2] - q[2] * w[1]) / 2;
    rate[1] = (q[3] * w[1] + q[2] * w[0] - q[0] * w[2]) / 2;
    rate[2] = (q[3] * w[2] + q[0] * w[1] - q[1] * w[0]) / 2;
    rate[3] = -(q[0] * w[0] + q[1] * w[1] + q[2] * w[2]) / 2;
}

/* dq/dt of a joint that moves with v. */
static void joint_rate(const dyn_joint *joint, const double *q, const double *v, double *rate) {
    double R[9], c, s;
    switch (joint->type) {
    case DYN_JOINT_FLOATING:
        dyn_quaternion_to_rotation(q + 3, R);
        for (int i = 0; i < 3; i++) {
            rate[i] = R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2];
        }
        quaternion_rate(q + 3, v + 3, rate + 3);
        break;
    case DYN_JOINT_SPHERICAL:
        quaternion_rate(q, v, rate);
        break;
    case DYN_JOINT_PLANAR:
        c = cos(q[2]), s = sin(q[2]);
        rate[0] = c * v[0] - s * v[1], rate[1] = s * v[0] + c * v[1], rate[2] = v[2];
        break;
    default:
        memcpy(rate, v, (size_t)joint->nv * sizeof *rate);
    }
}

static complex_number complex_of(double real, double imaginary) {
    complex_number z = real;
    __imag__ z = imaginary;
    return z;
}

/* The state, with an imaginary step along direction k of q (variable 0), v (1) or a (2). */
static void set_state(const setting *s, int variable, size_t k, complex_state *c) {
    double *direction = numbers(s->nv, sizeof(double)), *rate = numbers(s->nq, sizeof(double));
    direction[k] = variable == 0;
    for (int j = 0; j < dyn_model_joint_count(s->model); j++) {
        const dyn_joint *joint = dyn_model_joint(s->model, j);
        if (joint->nq) {
            joint_rate(joint, s->q + joint->q_index, direction + joint->v_index, rate + joint->q_index);
        }
    }
    for (size_t i = 0; i < s->nq; i++) {
        c->q[i] = complex_of(s->q[i], step * rate[i]);
    }
    for (size_t i = 0; i < s->nv; i++) {
        c->v[i] = complex_of(s->v[i], variable == 1 && i == k ? step : 0);
        c->a[i] = complex_of(s->a[i], variable == 2 && i == k ? step : 0);
    }
    c->forces = (wrench_set){s->forces.count, c->frames, c->wrench};
    free(direction), free(rate);
}

/* Column k of a matrix of derivatives with `rows` rows. */
static void store_column(const setting *s, const complex_number *out, size_t rows, size_t k, double *Y) {
    for (size_t i = 0; i < rows; i++) {
        Y[i * s->nv + k] = __imag__ out[i] / step;
    }
}

static double norm(const double *x, size_t count) {
    double square = 0;
    for (size_t i = 0; i < count; i++) {
        square += x[i] * x[i];
    }
    return sqrt(square);
}

/* |x - y| is at most `tolerance` of |y| (or of 1). */
static void assert_close(const char *what, int k, const double *x, const double *y, size_t count, double tolerance) {
    double *difference = numbers(count, sizeof(double));
    for (size_t i = 0; i < count; i++) {
        difference[i] = x[i] - y[i];
    }
    double off = norm(difference, count), scale = fmax(1, norm(y, count));
    free(difference);
    ck_assert_msg(off <= tolerance * scale, "%s, case %d: off by %g of %g", what, k, off, scale);
}

/* Derivatives of an algorithm of the oracle, with respect to its three arguments q, v and a (or tau). */
static void complex_steps(const setting *s, bool forward, complex_state *c) {
    const kernel_table *oracle = &dyn_kernel_table_complex_step;
    for (int variable = 0; variable < 3; variable++) {
        for (size_t i = 0; i < s->nv; i++) {
            set_state(s, variable, i, c);
            if (forward) {
                oracle->aba(s->model, c->memory, s->gravity, c->q, c->v, c->a, &c->forces, c->out + s->nv, c->out);
            } else {
                oracle->rnea(s->model, c->memory, s->gravity, c->q, c->v, c->a, &c->forces, c->out);
            }
            store_column(s, c->out, s->nv, i, s->Y[variable]);
        }
    }
}

START_TEST(rnea_derivatives_are_those_of_complex_steps) {
    static const char *const names[3] = {"d tau / dq", "d tau / dv", "d tau / da"};
    random_source base = random_seed("derivatives of RNEA", 20261201);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k);
        add_forces(&random, &s);
        complex_state c = complex_create(&s);
        complex_steps(&s, false, &c);
        require(dyn_rnea_derivatives(s.model, s.workspace, 1, s.gravity, s.q, s.v, s.a, &s.forces, &error, s.X[0],
                                     s.X[1], s.X[2]),
                &error);
        for (int i = 0; i < 3; i++) {
            assert_close(names[i], k, s.X[i], s.Y[i], s.nv * s.nv, 1e-12);
        }
        complex_free(&c);
        setting_free(&s);
    }
}
END_TEST

START_TEST(aba_derivatives_are_those_of_complex_steps) {
    static const char *const names[3] = {"da / dq", "da / dv", "da / dtau"};
    random_source base = random_seed("derivatives of ABA", 20261202);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k);
        add_forces(&random, &s);
        complex_state c = complex_create(&s);
        complex_steps(&s, true, &c);
        require(dyn_aba_derivatives(s.model, s.workspace, 1, s.gravity, s.q, s.v, s.a, &s.forces, &error, s.X[0],
                                    s.X[1], s.X[2]),
                &error);
        for (int i = 0; i < 3; i++) {
            assert_close(names[i], k, s.X[i], s.Y[i], s.nv * s.nv, 1e-10);
        }
        complex_free(&c);
        setting_free(&s);
    }
}
END_TEST

START_TEST(gravity_derivatives_are_those_of_complex_steps) {
    random_source base = random_seed("derivatives of gravity", 20261203);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k);
        complex_state c = complex_create(&s);
        for (size_t i = 0; i < s.nv; i++) {
            set_state(&s, 0, i, &c);
            dyn_kernel_table_complex_step.gravity(s.model, c.memory, s.gravity, c.q, c.out);
            store_column(&s, c.out, s.nv, i, s.Y[0]);
        }
        require(dyn_gravity_derivatives(s.model, s.workspace, 1, s.gravity, s.q, &error, s.X[0]), &error);
        assert_close("dg / dq", k, s.X[0], s.Y[0], s.nv * s.nv, 1e-12);
        complex_free(&c);
        setting_free(&s);
    }
}
END_TEST

/* J v, and dV/dq v + J a with the dV/dq under test, of the oracle: 6 numbers each. */
static void frame_motion(const setting *s, int frame, dyn_reference_frame reference_frame, complex_state *c,
                         complex_number V[6], complex_number A[6]) {
    const kernel_table *oracle = &dyn_kernel_table_complex_step;
    size_t entries = 6 * s->nv;
    complex_number *dV_dq = numbers(4 * entries, sizeof *dV_dq), *J = c->out;
    oracle->frame_jacobian(s->model, c->memory, c->q, frame, reference_frame, J);
    oracle->frame_derivatives(s->model, c->memory, c->q, c->v, c->a, frame, reference_frame, dV_dq, dV_dq + entries,
                              dV_dq + 2 * entries, dV_dq + 3 * entries);
    for (size_t row = 0; row < 6; row++) {
        V[row] = A[row] = 0;
        for (size_t i = 0; i < s->nv; i++) {
            V[row] += J[row * s->nv + i] * c->v[i];
            A[row] += J[row * s->nv + i] * c->a[i] + dV_dq[row * s->nv + i] * c->v[i];
        }
    }
    free(dV_dq);
}

START_TEST(frame_derivatives_are_those_of_complex_steps) {
    static const char *const names[4] = {"dV / dq", "dA / dq", "dA / dv", "J"};
    random_source base = random_seed("derivatives of a frame's motion", 20261204);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k);
        complex_state c = complex_create(&s);
        int frame = random_index(&random, dyn_model_link_count(s.model));
        dyn_reference_frame reference_frame = (dyn_reference_frame)random_index(&random, 3);
        double *X[4], *Y[4];
        for (int i = 0; i < 4; i++) {
            X[i] = numbers(6 * s.nv, sizeof(double)), Y[i] = numbers(6 * s.nv, sizeof(double));
        }
        for (size_t i = 0; i < s.nv; i++) {
            complex_number V[6], A[6];
            set_state(&s, 0, i, &c);
            frame_motion(&s, frame, reference_frame, &c, V, A);
            store_column(&s, V, 6, i, Y[0]), store_column(&s, A, 6, i, Y[1]);
            set_state(&s, 1, i, &c);
            frame_motion(&s, frame, reference_frame, &c, V, A);
            store_column(&s, A, 6, i, Y[2]), store_column(&s, V, 6, i, Y[3]);
        }
        require(dyn_frame_derivatives(s.model, s.workspace, 1, s.q, s.v, s.a, frame, reference_frame, &error, X[0],
                                      X[1], X[2], X[3]),
                &error);
        for (int i = 0; i < 4; i++) {
            assert_close(names[i], k, X[i], Y[i], 6 * s.nv, 1e-12);
            free(X[i]), free(Y[i]);
        }
        complex_free(&c);
        setting_free(&s);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("derivatives");
    TCase *first = tcase_create("first derivatives");
    tcase_set_timeout(first, 240);
    tcase_add_test(first, rnea_derivatives_are_those_of_complex_steps);
    tcase_add_test(first, aba_derivatives_are_those_of_complex_steps);
    tcase_add_test(first, gravity_derivatives_are_those_of_complex_steps);
    tcase_add_test(first, frame_derivatives_are_those_of_complex_steps);
    suite_add_tcase(suite, first);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
