/* SPDX-License-Identifier: BSD-2-Clause */
#include "specialize.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>

#include "kernels/compiled_object.h"
#include "kernels/instance.h"
#include "reassociate.h"
#include "reduce.h"

static const char *const names[] = {"rnea",
                                    "bias",
                                    "gravity",
                                    "crba",
                                    "aba",
                                    "resisted_aba",
                                    "minverse",
                                    "frame",
                                    "rnea_derivatives",
                                    "aba_derivatives",
                                    COMPILED_BODY_POSE,
                                    COMPILED_BODY_JACOBIAN,
                                    COMPILED_BODY_MOTION};

static bool is_of_body(algorithm a) {
    return a >= algorithm::body_pose;
}

const char *algorithm_name(algorithm a) {
    return names[(int)a];
}

bool find_algorithm(const std::string &name, algorithm *a) {
    for (int i = 0; i <= (int)algorithm::aba_derivatives; i++) {
        if (name == names[i]) {
            *a = (algorithm)i;
            return true;
        }
    }
    return false;
}

int input_size(const dyn_model *model, input_array array) {
    return array == INPUT_Q ? model->nq : model->nv;
}

const char *input_name(input_array array) {
    static const char *const arrays[] = {"q", "v", "a", "tau", "diagonal"};
    return arrays[array];
}

/* Run of kernels over expressions: a copy of the model with bodies of its own, and the memory of the kernels and of
 * their arguments. */
class symbolic_run {
  public:
    symbolic_run(const dyn_model *described, algorithm a, size_t most_results, compiled_function *written)
        : f(*written), free_results(most_results), scope(f.graph),
          bodies(described->bodies, described->bodies + described->body_count), model(*described) {
        snap_rotations(bodies);
        if (a != algorithm::frame && !is_of_body(a)) {
            bool is_newton_euler = a == algorithm::rnea || a == algorithm::bias;
            reduce_frames(bodies);
            reduce_inertias(bodies, is_newton_euler ? left_out::J_zz : left_out::I_yy);
        }
        if (a < algorithm::frame) {
            split_transforms(bodies);
        }
        restate_for_kernels(bodies);
        model.bodies = bodies.data();
        model.body_count = model.link_bodies = (int)bodies.size(); /* compiled models have no rotors */
        size_t needed = 0;
        for (auto size :
             {KERNEL(rnea_memory), KERNEL(gravity_memory), KERNEL(crba_memory), KERNEL(aba_memory),
              KERNEL(coupled_forward_dynamics_memory), KERNEL(minverse_memory), KERNEL(frame_memory),
              KERNEL(frame_motion_memory), KERNEL(rnea_derivatives_memory), KERNEL(aba_derivatives_memory)}) {
            needed = std::max(needed, size(&model));
        }
        memory.resize(needed / sizeof(max_align_t) + 1);
    }

    const void *input(input_array array) {
        std::vector<real> &x = inputs[array];
        x.clear();
        for (int i = 0; i < input_size(&model, array); i++) {
            x.push_back(real(f.graph.input(array, (unsigned)i)));
        }
        f.inputs.push_back(array);
        return x.data();
    }

    /* Returns nv zeros, which replace an input. */
    const void *zeros() {
        std::vector<real> &x = inputs[INPUT_ARRAYS];
        x.assign((size_t)model.nv, real_set(0));
        return x.data();
    }

    /* Returns the memory of an output of `count` numbers. store() copies it when all are computed. */
    void *output(const char *name, const char *meaning, size_t count) {
        if (count > free_results) {
            throw std::length_error(f.name + " has too many results for this robot");
        }
        free_results -= count;
        f.outputs.push_back({name, meaning, {}});
        results.emplace_back(new std::vector<real>(count, real_set(0)));
        return results.back()->data();
    }

    void store() {
        for (size_t i = 0; i < results.size(); i++) {
            for (real x : *results[i]) {
                f.outputs[i].values.push_back(x.value);
            }
        }
    }

    compiled_function &f;
    size_t free_results; /* number of results that may still be allocated */
    current_graph scope;
    std::vector<body> bodies;
    dyn_model model;
    std::vector<max_align_t> memory;

  private:
    std::vector<real> inputs[INPUT_ARRAYS + 1];
    std::vector<std::unique_ptr<std::vector<real>>> results;
};

static void run_rnea(symbolic_run &r, bool has_a) {
    const void *q = r.input(INPUT_Q), *v = r.input(INPUT_V), *a = has_a ? r.input(INPUT_A) : r.zeros();
    void *tau = has_a ? r.output("tau", "joint forces for the acceleration a", (size_t)r.model.nv)
                      : r.output("h", "joint forces for no acceleration", (size_t)r.model.nv);
    const packed_inputs in = {r.model.gravity, q, v, a, nullptr};
    KERNEL(rnea)(&r.model, r.memory.data(), &in, tau);
}

static void run_gravity(symbolic_run &r) {
    const void *q = r.input(INPUT_Q);
    void *g = r.output("g", "joint forces at rest", (size_t)r.model.nv);
    KERNEL(gravity)(&r.model, r.memory.data(), r.model.gravity, q, g);
}

static void run_crba(symbolic_run &r) {
    const void *q = r.input(INPUT_Q);
    void *M = r.output("M", "mass matrix, row-major", (size_t)(r.model.nv * r.model.nv));
    KERNEL(crba)(&r.model, r.memory.data(), q, M);
}

static void run_forward_dynamics(symbolic_run &r, bool is_resisted, bool solves) {
    const void *q = r.input(INPUT_Q), *v = r.input(INPUT_V), *tau = r.input(INPUT_TAU);
    const void *diagonal = is_resisted ? r.input(INPUT_DIAGONAL) : nullptr;
    void *a = r.output("a", "joint accelerations", (size_t)r.model.nv);
    void *pivots = r.output("pivots", "numbers that were divided by: positive, or M is singular", (size_t)r.model.nv);
    auto kernel = solves ? KERNEL(coupled_forward_dynamics) : KERNEL(aba);
    const packed_inputs in = {r.model.gravity, q, v, tau, nullptr};
    kernel(&r.model, r.memory.data(), &in, diagonal, pivots, a);
}

static void run_minverse(symbolic_run &r) {
    const void *q = r.input(INPUT_Q);
    void *inverse = r.output("M_inverse", "inverse of the mass matrix, row-major", (size_t)(r.model.nv * r.model.nv));
    void *pivots = r.output("pivots", "numbers that were divided by: positive, or M is singular", (size_t)r.model.nv);
    KERNEL(minverse)(&r.model, r.memory.data(), q, pivots, inverse);
}

static void run_frame(symbolic_run &r, int frame) {
    const void *q = r.input(INPUT_Q);
    void *position = r.output("position", "origin of the frame in the world, m", 3);
    void *rotation = r.output("rotation", "from the frame's axes to the world's, row-major", 9);
    void *J = r.output("J", "Jacobian, 6 x nv, rows wx wy wz vx vy vz: world axes, origin of the frame",
                       (size_t)(6 * r.model.nv));
    KERNEL(frame_pose)(&r.model, r.memory.data(), q, frame, position, rotation);
    KERNEL(frame_jacobian)(&r.model, r.memory.data(), q, frame, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, J);
}

static void run_rnea_derivatives(symbolic_run &r) {
    const void *q = r.input(INPUT_Q), *v = r.input(INPUT_V), *a = r.input(INPUT_A);
    size_t entries = (size_t)(r.model.nv * r.model.nv);
    void *dq = r.output("dtau_dq", "derivative of tau along increments of q, row-major", entries);
    void *dv = r.output("dtau_dv", "derivative of tau along v, row-major", entries);
    void *da = r.output("dtau_da", "derivative of tau along a, which is M, row-major", entries);
    const packed_inputs in = {r.model.gravity, q, v, a, nullptr};
    const derivative_matrices dtau = {dq, dv, da};
    KERNEL(rnea_derivatives)(&r.model, r.memory.data(), &in, &dtau);
}

static void run_aba_derivatives(symbolic_run &r) {
    const void *q = r.input(INPUT_Q), *v = r.input(INPUT_V), *tau = r.input(INPUT_TAU);
    size_t entries = (size_t)(r.model.nv * r.model.nv);
    void *dq = r.output("da_dq", "derivative of a along increments of q, row-major", entries);
    void *dv = r.output("da_dv", "derivative of a along v, row-major", entries);
    void *dtau = r.output("da_dtau", "derivative of a along tau, which is the inverse of M, row-major", entries);
    void *pivots = r.output("pivots", "numbers that were divided by: positive, or M is singular", (size_t)r.model.nv);
    const packed_inputs in = {r.model.gravity, q, v, tau, nullptr};
    const derivative_matrices da = {dq, dv, dtau};
    KERNEL(aba_derivatives)(&r.model, r.memory.data(), &in, pivots, &da);
}

/* Computes pose, Jacobian and motion of the frame of body i, in world axes and about the world's origin. */
static void run_body(symbolic_run &r, algorithm a, int i) {
    size_t entries = (size_t)(6 * r.model.nv);
    body_frame itself = {i, {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}};
    r.model.frames = &itself;
    const void *q = r.input(INPUT_Q);
    void *position = r.output("position", "origin of the body in the world", 3);
    void *rotation = r.output("rotation", "from the body's axes to the world's", 9);
    KERNEL(frame_pose)(&r.model, r.memory.data(), q, 0, position, rotation);
    if (a != algorithm::body_pose) {
        void *J = r.output("J", "Jacobian", entries);
        KERNEL(frame_jacobian)(&r.model, r.memory.data(), q, 0, DYN_REFERENCE_FRAME_WORLD, J);
    }
    if (a == algorithm::body_motion) {
        const void *v = r.input(INPUT_V), *acceleration = r.input(INPUT_A);
        void *V = r.output("V", "twist", 6), *A = r.output("A", "spatial acceleration", 6);
        void *dJ = r.output("dJ", "rate of the Jacobian", entries);
        const frame_rates rates = {V, A, dJ};
        KERNEL(frame_motion)(&r.model, r.memory.data(), q, v, acceleration, 0, DYN_REFERENCE_FRAME_WORLD, &rates);
    }
}

static void run(symbolic_run &r, algorithm a, int place, bool solves) {
    switch (a) {
    case algorithm::rnea:
        return run_rnea(r, true);
    case algorithm::bias:
        return run_rnea(r, false);
    case algorithm::gravity:
        return run_gravity(r);
    case algorithm::crba:
        return run_crba(r);
    case algorithm::aba:
        return run_forward_dynamics(r, false, solves);
    case algorithm::resisted_aba:
        return run_forward_dynamics(r, true, solves);
    case algorithm::minverse:
        return run_minverse(r);
    case algorithm::frame:
        return run_frame(r, place);
    case algorithm::rnea_derivatives:
        return run_rnea_derivatives(r);
    case algorithm::aba_derivatives:
        return run_aba_derivatives(r);
    case algorithm::body_pose:
    case algorithm::body_jacobian:
    case algorithm::body_motion:
        return run_body(r, a, place);
    }
}

static compiled_function write(const dyn_model *model, algorithm a, int place, const size_limits &limits, bool solves) {
    static const char *const meanings[] = {
        "Inverse dynamics: the recursive Newton-Euler algorithm.",
        "Coriolis, centrifugal and gravity forces.",
        "Gravity forces.",
        "The joint-space inertia matrix: the composite-rigid-body algorithm.",
        "Forward dynamics.",
        "Forward dynamics with (M + diag(diagonal)) a = tau - h: for steps that damping does not make unstable.",
        "The inverse of the joint-space inertia matrix.",
        "Pose and Jacobian of a frame.",
        "Derivatives of inverse dynamics.",
        "Derivatives of forward dynamics.",
        "Pose of a body.",
        "Pose and Jacobian of a body.",
        "Pose, Jacobian and motion of a body.",
    };
    compiled_function f = {names[(int)a], meanings[(int)a], expression_graph(limits.nodes), {}, {}};
    symbolic_run r(model, a, limits.results, &f);
    run(r, a, place, solves);
    r.store();
    return f;
}

/* Returns the cost of a function in additions. A division costs about as much as 8 other operations. */
static size_t cost(const operations &n) {
    return n.multiplications + n.additions + 8 * n.divisions;
}

/* Returns the function for an algorithm; for forward dynamics, the cheaper of the articulated-body algorithm and the
 * solution with the mass matrix. */
static compiled_function write_best(const dyn_model *model, algorithm a, int place, const size_limits &limits) {
    bool is_forward = a == algorithm::aba || a == algorithm::resisted_aba;
    compiled_function f = write(model, a, place, limits, is_forward && model->has_coupling);
    if (is_forward && !model->has_coupling) {
        compiled_function solved = write(model, a, place, limits, true);
        return cost(count_operations(solved)) < cost(count_operations(f)) ? solved : f;
    }
    return f;
}

compiled_function specialize(const dyn_model *model, algorithm a, int place, const size_limits &limits) {
    compiled_function f = reassociate(write_best(model, a, place, limits));
    f.name += is_of_body(a) ? std::to_string(place) : "";
    f.is_packed = is_of_body(a) || a == algorithm::resisted_aba;
    return f;
}
