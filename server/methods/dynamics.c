/* InverseDynamics, ForwardDynamics, MassMatrix, Gravity, BiasForces. */
#include <dynamics/dynamics.h>

#include "methods/batch.h"
#include "methods/methods.h"

/* ns for one coordinate of one sample, roughly; decides which requests are long. */
static const double RECURSION_COST = 20;
static const double MATRIX_COST = 2;

/* What a step of these methods reads and writes; inputs in the model's order. */
typedef struct motion {
    const double *v, *a, *tau; /* NULL: zero */
    const double *gravity;     /* NULL: the model's own */
    double gravity_values[3];
    dyn_external_force *forces;
    size_t force_count;
    double *result;
} motion;

static const double *take_gravity(motion *m, const Dynamics__V1__Vector3 *gravity) {
    if (!gravity) {
        return NULL;
    }
    m->gravity_values[0] = gravity->x;
    m->gravity_values[1] = gravity->y;
    m->gravity_values[2] = gravity->z;
    return m->gravity_values;
}

/* n rows from `first` on; an array that is empty stays so. */
static const double *rows(const double *values, size_t width, size_t first) {
    return values ? values + first * width : NULL;
}

/* Checks one of the two blocks of a force. */
static bool check_block(batch *b, size_t i, const char *name, size_t count) {
    if (count == 0 || count == 3 || count == 3 * b->n) {
        return true;
    }
    call_blame(b->call, "external_forces[%zu].%s", i, name);
    call_fail(b->call, DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT,
              "%s has %zu values; give 3 that hold for all samples, %zu (3 for each), or none", name, count, 3 * b->n);
    return false;
}

/* Interleaves force and torque rows to wrenches (n; f). */
static void fill_wrenches(const Dynamics__V1__ExternalForce *force, size_t count, double *wrench) {
    size_t force_stride = force->n_force > 3 ? 3 : 0, torque_stride = force->n_torque > 3 ? 3 : 0;
    for (size_t s = 0; s < count; s++) {
        for (size_t k = 0; k < 3; k++) {
            wrench[6 * s + k] = force->n_torque ? force->torque[s * torque_stride + k] : 0;
            wrench[6 * s + 3 + k] = force->n_force ? force->force[s * force_stride + k] : 0;
        }
    }
}

/* Converts one external force of the wire to the library's. */
static bool take_force(batch *b, size_t i, const Dynamics__V1__ExternalForce *force, dyn_external_force *result) {
    if (!check_block(b, i, "force", force->n_force) || !check_block(b, i, "torque", force->n_torque)) {
        return false;
    }
    call_blame(b->call, "external_forces[%zu].link", i);
    if (!batch_find_frame(b, "link", force->link, &result->frame)) {
        return false;
    }
    call_blame(b->call, "external_forces[%zu].frame", i);
    if (!batch_reference_frame(b, force->frame, &result->reference_frame)) {
        return false;
    }
    bool has_rows = force->n_force > 3 || force->n_torque > 3;
    size_t count = has_rows ? b->n : 1;
    double *wrench = call_allocate(b->call, 6 * count, sizeof(double));
    if (!wrench) {
        return false;
    }
    fill_wrenches(force, count, wrench);
    result->wrench = wrench;
    result->stride = has_rows ? 6 : 0;
    return true;
}

/* Converts the external forces, twice: the second half is for the block in work. */
static bool take_forces(batch *b, motion *m, size_t count, Dynamics__V1__ExternalForce *const *forces) {
    m->force_count = count;
    if (count == 0) {
        return true;
    }
    m->forces = call_allocate(b->call, 2 * count, sizeof *m->forces);
    for (size_t i = 0; m->forces && i < count; i++) {
        if (!take_force(b, i, forces[i], &m->forces[i])) {
            return false;
        }
    }
    return m->forces != NULL;
}

/* The forces on the block that starts at sample `first`. */
static dyn_external_forces block_forces(motion *m, size_t first) {
    if (m->force_count == 0) {
        return (dyn_external_forces){0};
    }
    dyn_external_force *block = m->forces + m->force_count;
    for (size_t i = 0; i < m->force_count; i++) {
        block[i] = m->forces[i];
        block[i].wrench += first * m->forces[i].stride;
    }
    return (dyn_external_forces){.count = m->force_count, .force = block};
}

static dyn_status inverse_step(const batch *b, void *context, size_t first, size_t count, dyn_error *error) {
    motion *m = context;
    dyn_external_forces forces = block_forces(m, first);
    return dyn_rnea(b->model, b->workspace, count, m->gravity, b->q + first * b->nq, rows(m->v, b->nv, first),
                    rows(m->a, b->nv, first), forces.count ? &forces : NULL, error, m->result + first * b->nv);
}

void method_inverse_dynamics(call *c) {
    const Dynamics__V1__InverseDynamicsRequest *r = c->request->inverse_dynamics;
    batch b;
    motion m = {0};
    bool is_ready = batch_open(c, &b, r->model, r->n_joint_names, r->joint_names, r->n_q, r->q) &&
                    batch_check(&b, "v", r->n_v) && batch_check(&b, "a", r->n_a);
    if (is_ready) {
        batch_expect(&b, b.nv);
        is_ready = batch_begin(&b, RECURSION_COST * (double)b.nv) &&
                   take_forces(&b, &m, r->n_external_forces, r->external_forces);
    }
    if (is_ready) {
        m.gravity = take_gravity(&m, r->gravity);
        m.v = batch_input(&b, r->n_v, r->v);
        m.a = batch_input(&b, r->n_a, r->a);
        m.result = batch_output(&b, b.nv);
    }
    Dynamics__V1__InverseDynamicsReply *reply = is_ready ? call_allocate(c, 1, sizeof *reply) : NULL;
    if (reply && !call_has_ended(c) && batch_run(&b, inverse_step, &m)) {
        dynamics__v1__inverse_dynamics_reply__init(reply);
        reply->samples = b.n;
        reply->n_tau = b.n * b.nv;
        reply->tau = batch_vectors(&b, m.result);
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_INVERSE_DYNAMICS;
        c->reply.inverse_dynamics = reply;
    }
    batch_close(&b);
}

static dyn_status forward_step(const batch *b, void *context, size_t first, size_t count, dyn_error *error) {
    motion *m = context;
    dyn_external_forces forces = block_forces(m, first);
    return dyn_aba(b->model, b->workspace, count, m->gravity, b->q + first * b->nq, rows(m->v, b->nv, first),
                   rows(m->tau, b->nv, first), forces.count ? &forces : NULL, error, m->result + first * b->nv);
}

void method_forward_dynamics(call *c) {
    const Dynamics__V1__ForwardDynamicsRequest *r = c->request->forward_dynamics;
    batch b;
    motion m = {0};
    bool is_ready = batch_open(c, &b, r->model, r->n_joint_names, r->joint_names, r->n_q, r->q) &&
                    batch_check(&b, "v", r->n_v) && batch_check(&b, "tau", r->n_tau);
    if (is_ready) {
        batch_expect(&b, b.nv);
        is_ready = batch_begin(&b, 2 * RECURSION_COST * (double)b.nv) &&
                   take_forces(&b, &m, r->n_external_forces, r->external_forces);
    }
    if (is_ready) {
        m.gravity = take_gravity(&m, r->gravity);
        m.v = batch_input(&b, r->n_v, r->v);
        m.tau = batch_input(&b, r->n_tau, r->tau);
        m.result = batch_output(&b, b.nv);
    }
    Dynamics__V1__ForwardDynamicsReply *reply = is_ready ? call_allocate(c, 1, sizeof *reply) : NULL;
    if (reply && !call_has_ended(c) && batch_run(&b, forward_step, &m)) {
        dynamics__v1__forward_dynamics_reply__init(reply);
        reply->samples = b.n;
        reply->n_a = b.n * b.nv;
        reply->a = batch_vectors(&b, m.result);
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_FORWARD_DYNAMICS;
        c->reply.forward_dynamics = reply;
    }
    batch_close(&b);
}

static dyn_status mass_matrix_step(const batch *b, void *context, size_t first, size_t count, dyn_error *error) {
    motion *m = context;
    return dyn_crba(b->model, b->workspace, count, b->q + first * b->nq, error, m->result + first * b->nv * b->nv);
}

void method_mass_matrix(call *c) {
    const Dynamics__V1__MassMatrixRequest *r = c->request->mass_matrix;
    batch b;
    motion m = {0};
    bool is_ready = batch_open(c, &b, r->model, r->n_joint_names, r->joint_names, r->n_q, r->q);
    if (is_ready) {
        double nv = (double)b.nv;
        batch_expect(&b, b.nv * b.nv);
        is_ready = batch_begin(&b, (RECURSION_COST + MATRIX_COST * nv) * nv);
    }
    Dynamics__V1__MassMatrixReply *reply = is_ready ? call_allocate(c, 1, sizeof *reply) : NULL;
    if (reply) {
        m.result = batch_output(&b, b.nv * b.nv);
    }
    if (m.result && batch_run(&b, mass_matrix_step, &m)) {
        dynamics__v1__mass_matrix_reply__init(reply);
        reply->samples = b.n;
        reply->nv = (uint32_t)b.nv;
        reply->n_mass_matrix = b.n * b.nv * b.nv;
        reply->mass_matrix = batch_matrices(&b, m.result);
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_MASS_MATRIX;
        c->reply.mass_matrix = reply;
    }
    batch_close(&b);
}

static dyn_status gravity_step(const batch *b, void *context, size_t first, size_t count, dyn_error *error) {
    motion *m = context;
    return dyn_gravity(b->model, b->workspace, count, m->gravity, b->q + first * b->nq, error,
                       m->result + first * b->nv);
}

void method_gravity(call *c) {
    const Dynamics__V1__GravityRequest *r = c->request->gravity;
    batch b;
    motion m = {0};
    bool is_ready = batch_open(c, &b, r->model, r->n_joint_names, r->joint_names, r->n_q, r->q);
    if (is_ready) {
        batch_expect(&b, b.nv);
        is_ready = batch_begin(&b, RECURSION_COST * (double)b.nv);
    }
    Dynamics__V1__GravityReply *reply = is_ready ? call_allocate(c, 1, sizeof *reply) : NULL;
    if (reply) {
        m.gravity = take_gravity(&m, r->gravity);
        m.result = batch_output(&b, b.nv);
    }
    if (m.result && batch_run(&b, gravity_step, &m)) {
        dynamics__v1__gravity_reply__init(reply);
        reply->samples = b.n;
        reply->n_g = b.n * b.nv;
        reply->g = batch_vectors(&b, m.result);
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_GRAVITY;
        c->reply.gravity = reply;
    }
    batch_close(&b);
}

static dyn_status bias_step(const batch *b, void *context, size_t first, size_t count, dyn_error *error) {
    motion *m = context;
    return dyn_bias(b->model, b->workspace, count, m->gravity, b->q + first * b->nq, rows(m->v, b->nv, first), error,
                    m->result + first * b->nv);
}

void method_bias_forces(call *c) {
    const Dynamics__V1__BiasForcesRequest *r = c->request->bias_forces;
    batch b;
    motion m = {0};
    bool is_ready =
        batch_open(c, &b, r->model, r->n_joint_names, r->joint_names, r->n_q, r->q) && batch_check(&b, "v", r->n_v);
    if (is_ready) {
        batch_expect(&b, b.nv);
        is_ready = batch_begin(&b, RECURSION_COST * (double)b.nv);
    }
    Dynamics__V1__BiasForcesReply *reply = is_ready ? call_allocate(c, 1, sizeof *reply) : NULL;
    if (reply) {
        m.gravity = take_gravity(&m, r->gravity);
        m.v = batch_input(&b, r->n_v, r->v);
        m.result = batch_output(&b, b.nv);
    }
    if (reply && !call_has_ended(c) && batch_run(&b, bias_step, &m)) {
        dynamics__v1__bias_forces_reply__init(reply);
        reply->samples = b.n;
        reply->n_h = b.n * b.nv;
        reply->h = batch_vectors(&b, m.result);
        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_BIAS_FORCES;
        c->reply.bias_forces = reply;
    }
    batch_close(&b);
}
