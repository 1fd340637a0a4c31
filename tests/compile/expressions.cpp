/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that expressions of the model compiler have the values of the library's kernels: on random trees of every
 * joint type, with mimic joints and floating bases, for every algorithm.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "emit.h"
#include "reassociate.h"

extern "C" {
#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"
}

enum { TREES = 60 };

/* A state of a model, and a workspace. */
struct fixture {
    dyn_model *model;
    dyn_workspace *workspace;
    std::vector<double> arrays[INPUT_ARRAYS];
};

static fixture create(random_source *random, int k) {
    random_tree_options options = {};
    options.joints = 1 + k % 9;
    options.base = k % 3 == 0 ? DYN_BASE_FLOATING : DYN_BASE_FIXED;
    options.with_mimic = k % 4 == 1;
    options.with_fixed = k % 2 == 0;
    options.revolute_only = k % 5 == 4;
    fixture f = {random_tree(random, &options), nullptr, {}};
    dyn_error error;
    require(dyn_workspace_create(f.model, &f.workspace, &error), &error);
    for (int i = 0; i < INPUT_ARRAYS; i++) {
        f.arrays[i].resize((size_t)input_size(f.model, (input_array)i) + 1);
        random_vector(random, input_size(f.model, (input_array)i), 2, f.arrays[i].data());
    }
    random_configuration(random, f.model, 3, f.arrays[INPUT_Q].data());
    for (double &x : f.arrays[INPUT_DIAGONAL]) {
        x = std::fabs(x);
    }
    return f;
}

static void destroy(fixture &f) {
    dyn_workspace_free(f.workspace);
    dyn_model_free(f.model);
}

/* Returns the value of every node of a graph for these inputs. */
static std::vector<double> evaluate(const expression_graph &graph, const std::vector<double> *arrays) {
    std::vector<double> x(graph.size());
    auto value = [&](expression e) { return e.is_negative() ? -x[e.node()] : x[e.node()]; };
    for (uint32_t i = 0; i < graph.size(); i++) {
        const graph_node &n = graph.node(i);
        switch (n.kind) {
        case operation::constant:
            x[i] = n.value;
            break;
        case operation::input:
            x[i] = arrays[n.a.bits][n.b.bits];
            break;
        case operation::sine:
            x[i] = std::sin(value(n.a));
            break;
        case operation::cosine:
            x[i] = std::cos(value(n.a));
            break;
        case operation::sum:
            x[i] = value(n.a) + value(n.b);
            break;
        case operation::product:
            x[i] = value(n.a) * value(n.b);
            break;
        case operation::quotient:
            x[i] = value(n.a) / value(n.b);
            break;
        }
    }
    return x;
}

/* Returns the acceleration a of (M + diag(diagonal)) a = tau - h, by elimination without pivoting: the matrix is
 * positive definite. */
static std::vector<double> resisted_acceleration(const fixture &f) {
    size_t nv = (size_t)dyn_model_nv(f.model);
    const double *q = f.arrays[INPUT_Q].data(), *v = f.arrays[INPUT_V].data();
    std::vector<double> M(nv * nv + 1), h(nv + 1), a = f.arrays[INPUT_TAU];
    dyn_error error;
    require(dyn_crba(f.model, f.workspace, 1, q, M.data(), &error), &error);
    require(dyn_bias(f.model, f.workspace, 1, nullptr, q, v, h.data(), &error), &error);
    for (size_t i = 0; i < nv; i++) {
        M[i * nv + i] += f.arrays[INPUT_DIAGONAL][i];
        a[i] -= h[i];
    }
    for (size_t k = 0; k < nv; k++) {
        for (size_t i = k + 1; i < nv; i++) {
            double factor = M[i * nv + k] / M[k * nv + k];
            for (size_t j = k; j < nv; j++) {
                M[i * nv + j] -= factor * M[k * nv + j];
            }
            a[i] -= factor * a[k];
        }
    }
    for (size_t k = nv; k-- > 0;) {
        for (size_t j = k + 1; j < nv; j++) {
            a[k] -= M[k * nv + j] * a[j];
        }
        a[k] /= M[k * nv + k];
    }
    return a;
}

/* Returns output number `which` of the body that carries a frame: position, rotation, Jacobian, twist, its rate, or
 * rate of the Jacobian. The body's pose differs from the frame's by a constant pose; the others are equal in the
 * world's axes and about its origin. */
static std::vector<double> body_of_frame(const fixture &f, int frame, size_t which) {
    size_t nv = (size_t)dyn_model_nv(f.model);
    const double *q = f.arrays[INPUT_Q].data(), *v = f.arrays[INPUT_V].data(), *a = f.arrays[INPUT_A].data();
    const dyn_pose &in_body = f.model->frames[frame].pose;
    std::vector<double> r(3), R(9), J(6 * nv), V(6), A(6), dJ(6 * nv), turned(9);
    dyn_error error;
    require(dyn_frame_pose(f.model, f.workspace, 1, q, frame, r.data(), R.data(), &error), &error);
    require(dyn_frame_jacobian(f.model, f.workspace, 1, q, frame, DYN_REFERENCE_FRAME_WORLD, J.data(), &error), &error);
    require(dyn_frame_motion(f.model, f.workspace, 1, q, v, a, frame, DYN_REFERENCE_FRAME_WORLD, V.data(), A.data(),
                             dJ.data(), &error),
            &error);
    for (size_t i = 0; i < 9; i++) {
        for (size_t k = 0; k < 3; k++) {
            turned[i] += R[i / 3 * 3 + k] * in_body.rotation[i % 3 * 3 + k];
        }
    }
    for (size_t i = 0; i < 9; i++) {
        r[i / 3] -= turned[i] * in_body.position[i % 3];
    }
    const std::vector<double> outputs[] = {r, turned, J, V, A, dJ};
    return outputs[which];
}

/* Returns output number `which` of an algorithm as the library computes it. */
static std::vector<double> expected(const fixture &f, algorithm a, int frame, size_t which) {
    size_t nv = (size_t)dyn_model_nv(f.model);
    const double *q = f.arrays[INPUT_Q].data(), *v = f.arrays[INPUT_V].data();
    const double *acceleration = f.arrays[INPUT_A].data(), *tau = f.arrays[INPUT_TAU].data();
    std::vector<double> x(6 * nv + nv * nv + 12), y = x, z = x, *const outputs[] = {&x, &y, &z};
    dyn_error error;
    dyn_status status = DYN_OK;
    switch (a) {
    case algorithm::rnea:
        status = dyn_rnea(f.model, f.workspace, 1, nullptr, q, v, acceleration, nullptr, x.data(), &error);
        break;
    case algorithm::bias:
        status = dyn_bias(f.model, f.workspace, 1, nullptr, q, v, x.data(), &error);
        break;
    case algorithm::gravity:
        status = dyn_gravity(f.model, f.workspace, 1, nullptr, q, x.data(), &error);
        break;
    case algorithm::crba:
        status = dyn_crba(f.model, f.workspace, 1, q, x.data(), &error);
        break;
    case algorithm::aba:
        status = dyn_aba(f.model, f.workspace, 1, nullptr, q, v, tau, nullptr, x.data(), &error);
        break;
    case algorithm::resisted_aba:
        return resisted_acceleration(f);
    case algorithm::minverse:
        status = dyn_minverse(f.model, f.workspace, 1, q, x.data(), &error);
        break;
    case algorithm::frame:
        require(dyn_frame_pose(f.model, f.workspace, 1, q, frame, x.data(), y.data(), &error), &error);
        status = dyn_frame_jacobian(f.model, f.workspace, 1, q, frame, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED,
                                    z.data(), &error);
        break;
    case algorithm::rnea_derivatives:
        status = dyn_rnea_derivatives(f.model, f.workspace, 1, nullptr, q, v, acceleration, nullptr, x.data(), y.data(),
                                      z.data(), &error);
        break;
    case algorithm::aba_derivatives:
        status = dyn_aba_derivatives(f.model, f.workspace, 1, nullptr, q, v, tau, nullptr, x.data(), y.data(), z.data(),
                                     &error);
        break;
    case algorithm::body_pose:
    case algorithm::body_jacobian:
    case algorithm::body_motion:
        return body_of_frame(f, frame, which);
    }
    require(status, &error);
    return *outputs[which];
}

static void compare(const fixture &f, algorithm a, int k) {
    int frame = dyn_model_link_count(f.model) - 1;
    int carrier = f.model->frames[frame].body, place = a >= algorithm::body_pose ? carrier : frame;
    if (place < 0) {
        return;
    }
    compiled_function c = specialize(f.model, a, place, {1 << 24, 1 << 24});
    std::vector<double> x = evaluate(c.graph, f.arrays);
    for (size_t i = 0; i < c.outputs.size(); i++) {
        const std::vector<expression> &out = c.outputs[i].values;
        std::vector<double> found;
        for (expression e : out) {
            found.push_back(e.is_negative() ? -x[e.node()] : x[e.node()]);
        }
        if (c.outputs[i].name == "pivots") {
            for (double pivot : found) {
                ck_assert_double_gt(pivot, 0);
            }
            continue;
        }
        std::string what = std::string(algorithm_name(a)) + " " + c.outputs[i].name;
        assert_close(what.c_str(), k, found.data(), expected(f, a, frame, i).data(), found.size(), 1e-10);
    }
}

START_TEST(expressions_have_the_values_of_the_kernels) {
    random_source base = random_seed("expressions of random trees", 5);
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        fixture f = create(&random, k);
        for (int a = 0; a <= (int)algorithm::body_motion; a++) {
            compare(f, (algorithm)a, k);
        }
        destroy(f);
    }
}
END_TEST

START_TEST(equal_expressions_are_one_node) {
    expression_graph g(1000);
    expression x = g.input(INPUT_Q, 0), y = g.input(INPUT_Q, 1), two = g.constant(2), zero = g.constant(0);
    ck_assert(g.add(x, y) == g.add(y, x));
    ck_assert(g.add(x, -y) == -g.add(y, -x));
    ck_assert(g.multiply(-x, y) == -g.multiply(y, x));
    ck_assert(g.multiply(x, zero) == zero);
    ck_assert(g.multiply(x, g.constant(-1)) == -x);
    ck_assert(g.add(x, zero) == x);
    ck_assert(g.add(x, -x) == zero);
    ck_assert(g.add(x, x) == g.multiply(two, x));
    ck_assert(g.add(g.multiply(two, x), -x) == x);
    ck_assert(g.multiply(two, g.multiply(two, x)) == g.multiply(g.constant(4), x));
    ck_assert(g.add(two, g.add(two, x)) == g.add(g.constant(4), x));
    ck_assert(g.sine(-x) == -g.sine(x));
    ck_assert(g.cosine(-x) == g.cosine(x));
    ck_assert(g.divide(-x, -y) == g.divide(x, y));
}
END_TEST

/* Checks that a b + c d + e becomes two fused operations, and (a b + c d) + (e + f) three with one addition, in any
 * order of the terms. */
START_TEST(products_are_added_to_other_terms) {
    for (size_t others = 1; others <= 2; others++) {
        compiled_function f = {"sums", "", expression_graph(100), {}, {{"tau", "", {}}}};
        expression x[6];
        for (unsigned i = 0; i < 6; i++) {
            x[i] = f.graph.input(INPUT_A, i);
        }
        expression products = f.graph.add(f.graph.multiply(x[0], x[1]), -f.graph.multiply(x[2], x[3]));
        expression other = others == 1 ? x[4] : f.graph.add(x[4], x[5]);
        f.outputs[0].values.push_back(-f.graph.add(products, other));
        compiled_function g = reassociate(f);
        std::ostringstream text;
        emit_function(text, nullptr, g, {emit_target::alone, false, ""});
        std::string statements = text.str();
        size_t fused = 0;
        for (size_t at = 0; (at = statements.find("real_fma(", at)) != std::string::npos; at++) {
            fused++;
        }
        ck_assert_uint_eq(fused, 2);
        ck_assert_int_eq(std::count(statements.begin(), statements.end(), '='), (int)others + 2);
        const std::vector<double> a[INPUT_ARRAYS] = {{}, {}, {2, 3, 5, 7, 11, 13}};
        expression y = g.outputs[0].values[0];
        double value = evaluate(g.graph, a)[y.node()];
        ck_assert_double_eq(y.is_negative() ? -value : value, others == 1 ? 18 : 5);
    }
}
END_TEST

START_TEST(a_graph_has_a_bound) {
    random_source random = random_seed("bound of the graph", 6);
    fixture f = create(&random, 8);
    bool is_refused = false;
    try {
        specialize(f.model, algorithm::aba_derivatives, 0, {100, 1 << 20});
    } catch (const std::length_error &) {
        is_refused = true;
    }
    ck_assert(is_refused);
    destroy(f);
}
END_TEST

int main() {
    TCase *tests = tcase_create("expressions");
    tcase_add_test(tests, expressions_have_the_values_of_the_kernels);
    tcase_add_test(tests, equal_expressions_are_one_node);
    tcase_add_test(tests, products_are_added_to_other_terms);
    tcase_add_test(tests, a_graph_has_a_bound);
    tcase_set_timeout(tests, 120);
    return run_properties("expressions", tests);
}
