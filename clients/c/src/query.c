/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the public query and encodes it as a protocol message.
 */
#include "query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "constraints.h"
#include "descriptions.h"
#include "error.h"
#include "sized.h"

const dyn_client_passive_forces *to_passive_forces(const Dynamics__V1__PassiveForces *from,
                                                   dyn_client_passive_forces *to) {
    if (!from) {
        return NULL;
    }
    *to = (dyn_client_passive_forces){.damping = from->damping,
                                      .friction = from->friction,
                                      .springs = from->springs,
                                      .friction_velocity = from->friction_velocity,
                                      .gear_losses = from->gear_losses};
    return to;
}

bool count_doubles(size_t a, size_t b, size_t *product) {
    return !__builtin_mul_overflow(a, b, product) && *product <= SIZE_MAX / sizeof(double);
}

static dyn_client_status check(const double *q, query_parts *parts, dyn_client_error *error) {
    const dyn_client_query *query = &parts->source;
    if (!query->model) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "query.model", "query.model is NULL");
    }
    if (query->samples == 0) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "query.samples", "query.samples is 0: ask for one or more");
    }
    if (!q) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "q", "q is NULL");
    }
    if (!count_doubles(query->samples, query->nq, &parts->q_count) ||
        !count_doubles(query->samples, query->nv, &parts->v_count)) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "query.samples", "%zu samples are beyond any memory",
                    query->samples);
    }
    return DYN_CLIENT_OK;
}

static dyn_client_status check_forces(const char *list, size_t samples, size_t count,
                                      const dyn_client_external_force *forces, dyn_client_error *error) {
    if (count > 0 && !forces) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, list, "%s is NULL", list);
    }
    for (size_t i = 0; i < count; i++) {
        char field[DYN_CLIENT_FIELD_SIZE];
        snprintf(field, sizeof field, "%s[%zu]", list, i);
        if (!forces[i].link) {
            return fail(error, DYN_CLIENT_INVALID_ARGUMENT, field, "its link is NULL");
        }
        if (forces[i].rows != 1 && forces[i].rows != samples) {
            return fail(error, DYN_CLIENT_INVALID_ARGUMENT, field, "%zu rows: pass 1, or %zu", forces[i].rows, samples);
        }
    }
    return DYN_CLIENT_OK;
}

/* One block of memory holds the pointers, and after them the messages that they point to. */
dyn_client_status external_forces_encode(const char *field, size_t samples, size_t count,
                                         const dyn_client_external_force *forces,
                                         Dynamics__V1__ExternalForce ***headings, dyn_client_error *error) {
    dyn_client_status status = check_forces(field, samples, count, forces, error);
    *headings = NULL;
    if (status != DYN_CLIENT_OK || count == 0) {
        return status;
    }
    Dynamics__V1__ExternalForce **list = calloc(count, sizeof *list + sizeof **list);
    if (!list) {
        return fail_memory(error);
    }
    Dynamics__V1__ExternalForce *made = (Dynamics__V1__ExternalForce *)(list + count);
    for (size_t i = 0; i < count; i++) {
        const dyn_client_external_force *force = &forces[i];
        dynamics__v1__external_force__init(&made[i]);
        made[i].link = (char *)force->link;
        made[i].reference_frame = (Dynamics__V1__ReferenceFrame)force->reference_frame;
        made[i].n_force = force->force ? 3 * force->rows : 0;
        made[i].force = (double *)force->force;
        made[i].n_torque = force->torque ? 3 * force->rows : 0;
        made[i].torque = (double *)force->torque;
        list[i] = &made[i];
    }
    *headings = list;
    return DYN_CLIENT_OK;
}

static dyn_client_status encode_payloads(const dyn_client_query *query, query_parts *parts, dyn_client_error *error) {
    Dynamics__V1__Query *to = &parts->query;
    if (query->payload_count == 0) {
        return DYN_CLIENT_OK;
    }
    if (!query->payloads) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "query.payloads", "query.payloads is NULL");
    }
    to->payloads = pool_allocate(&parts->memory, query->payload_count, sizeof *to->payloads);
    for (size_t i = 0; !parts->memory.is_exhausted && i < query->payload_count; i++) {
        const dyn_client_payload *from = &query->payloads[i];
        Dynamics__V1__Payload *made = pool_allocate(&parts->memory, 1, sizeof *made);
        if (!made) {
            break;
        }
        dynamics__v1__payload__init(made);
        made->link = (char *)(from->link ? from->link : "");
        made->inertia = from_inertia(&parts->memory, &from->inertia);
        made->pose = from_pose(&parts->memory, &from->pose);
        made->replaces = from->replaces;
        to->payloads[to->n_payloads++] = made;
    }
    return parts->memory.is_exhausted ? fail_memory(error) : DYN_CLIENT_OK;
}

static dyn_client_status encode_constraints(const dyn_client_query *query, query_parts *parts,
                                            dyn_client_error *error) {
    Dynamics__V1__Query *to = &parts->query;
    if (query->constraint_count == 0) {
        return DYN_CLIENT_OK;
    }
    if (!query->constraints) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "query.constraints", "query.constraints is NULL");
    }
    to->constraints = pool_allocate(&parts->memory, query->constraint_count, sizeof *to->constraints);
    for (size_t i = 0; !parts->memory.is_exhausted && i < query->constraint_count; i++) {
        to->constraints[to->n_constraints++] = from_constraint(&parts->memory, &query->constraints[i]);
    }
    return parts->memory.is_exhausted ? fail_memory(error) : DYN_CLIENT_OK;
}

static dyn_client_status encode_tip_constraints(const dyn_client_query *query, query_parts *parts,
                                                dyn_client_error *error) {
    Dynamics__V1__Query *to = &parts->query;
    if (query->tip_constraint_count == 0) {
        return DYN_CLIENT_OK;
    }
    if (!query->tip_constraints) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "query.tip_constraints", "query.tip_constraints is NULL");
    }
    to->tip_constraints = pool_allocate(&parts->memory, query->tip_constraint_count, sizeof *to->tip_constraints);
    for (size_t i = 0; !parts->memory.is_exhausted && i < query->tip_constraint_count; i++) {
        const dyn_client_tip_constraint *from = &query->tip_constraints[i];
        Dynamics__V1__TipConstraint *made = pool_allocate(&parts->memory, 1, sizeof *made);
        if (!made) {
            break;
        }
        dynamics__v1__tip_constraint__init(made);
        made->frame = (char *)(from->frame ? from->frame : "");
        made->reference_frame = (Dynamics__V1__ReferenceFrame)from->reference_frame;
        made->linear = from_vector3(&parts->memory, from->linear);
        made->angular = from_vector3(&parts->memory, from->angular);
        made->acceleration = from->acceleration;
        to->tip_constraints[to->n_tip_constraints++] = made;
    }
    return parts->memory.is_exhausted ? fail_memory(error) : DYN_CLIENT_OK;
}

/* Encodes one array of the motion of the base. */
static void borrow_vectors(const double *from, size_t rows, size_t *count, double **values) {
    *count = from ? 3 * rows : 0;
    *values = (double *)from;
}

void base_motion_encode(const dyn_client_base_motion *from, Dynamics__V1__BaseMotion *to) {
    dynamics__v1__base_motion__init(to);
    borrow_vectors(from->linear_velocity, from->rows, &to->n_linear_velocity, &to->linear_velocity);
    borrow_vectors(from->angular_velocity, from->rows, &to->n_angular_velocity, &to->angular_velocity);
    borrow_vectors(from->linear_acceleration, from->rows, &to->n_linear_acceleration, &to->linear_acceleration);
    borrow_vectors(from->angular_acceleration, from->rows, &to->n_angular_acceleration, &to->angular_acceleration);
}

static dyn_client_status encode_base_motion(size_t rows, size_t steps, query_parts *parts, dyn_client_error *error) {
    const dyn_client_base_motion *from = parts->source.base_motion;
    size_t all;
    if (!from) {
        return DYN_CLIENT_OK;
    }
    bool has_step_rows = steps > 0 && count_doubles(rows, steps, &all) && from->rows == all;
    if (from->rows != 1 && from->rows != rows && !has_step_rows) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "query.base_motion",
                    "query.base_motion has %zu rows; pass 1 or %zu%s", from->rows, rows,
                    steps > 0 ? ", or one for each step of each sample" : "");
    }
    base_motion_encode(from, &parts->base_motion);
    parts->query.base_motion = &parts->base_motion;
    return DYN_CLIENT_OK;
}

/* Copies the public query, which may have the size of another version of the library, and its terms. */
static dyn_client_status read_query(const dyn_client_query *query, query_parts *parts, dyn_client_error *error) {
    *parts = (query_parts){0};
    dyn_client_status status = sized_read("query", query, sizeof parts->source, &parts->source, error);
    parts->terms = (call_terms){parts->source.timeout,
                                parts->source.progress,
                                parts->source.progress_context,
                                parts->source.job,
                                "query.job",
                                NULL};
    return status;
}

/* Sets the rows of the query, which borrow the numbers of the public one. */
static void set_rows(query_parts *parts) {
    const dyn_client_query *query = &parts->source;
    size_t count = (query->has_rows_per_sample ? query->samples : 1) * query->row_count;
    if (count == 0) {
        return;
    }
    dynamics__v1__given_rows__init(&parts->rows);
    parts->rows.count = to_uint32(query->row_count);
    parts->rows.matrix = (double *)query->rows;
    parts->rows.n_matrix = query->rows ? count * query->nv : 0;
    parts->rows.acceleration = (double *)query->row_accelerations;
    parts->rows.n_acceleration = query->row_accelerations ? count : 0;
    parts->query.rows = &parts->rows;
}

/* Adds the treatment of motions with constraints, which borrows the weights. */
static void set_motion_options(query_parts *parts) {
    const dyn_client_motion_options *from = parts->source.motion_options;
    Dynamics__V1__MotionOptions *to = &parts->motion_options;
    if (!from) {
        return;
    }
    dynamics__v1__motion_options__init(to);
    to->tolerance = from->tolerance;
    to->nearest = from->nearest;
    to->n_force_weights = from->force_weights ? from->force_weight_count : 0;
    to->force_weights = (double *)from->force_weights;
    to->n_multiplier_weights = from->multiplier_weights ? from->multiplier_weight_count : 0;
    to->multiplier_weights = (double *)from->multiplier_weights;
    parts->query.motion_options = to;
}

/* Adds the passive forces that count to the query. */
static void set_passive_forces(query_parts *parts) {
    const dyn_client_passive_forces *from = parts->source.passive_forces;
    Dynamics__V1__PassiveForces *passive = &parts->passive_forces;
    if (!from) {
        return;
    }
    dynamics__v1__passive_forces__init(passive);
    passive->damping = from->damping;
    passive->friction = from->friction;
    passive->springs = from->springs;
    passive->friction_velocity = from->friction_velocity;
    passive->gear_losses = from->gear_losses;
    parts->query.passive_forces = passive;
}

/* Encodes the query in parts->source. External forces have one row, or `rows` of them; the base also one for each of
 * `steps` steps of each sample, unless `steps` is 0. Frees the parts on failure. */
static dyn_client_status encode(size_t rows, size_t steps, query_parts *parts, dyn_client_error *error) {
    const dyn_client_query *query = &parts->source;
    Dynamics__V1__Query *to = &parts->query;
    dynamics__v1__query__init(to);
    dynamics__v1__vector3__init(&parts->gravity);
    dyn_client_status status = DYN_CLIENT_OK;
    if (query->joint_count > 0 && !query->joint_names) {
        status = fail(error, DYN_CLIENT_INVALID_ARGUMENT, "query.joint_names", "query.joint_names is NULL");
    }
    if (status == DYN_CLIENT_OK) {
        status = external_forces_encode("query.external_forces", rows, query->external_force_count,
                                        query->external_forces, &to->external_forces, error);
    }
    to->n_external_forces = to->external_forces ? query->external_force_count : 0;
    if (status == DYN_CLIENT_OK) {
        status = encode_payloads(query, parts, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = encode_constraints(query, parts, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = encode_tip_constraints(query, parts, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = encode_base_motion(rows, steps, parts, error);
    }
    if (status != DYN_CLIENT_OK) {
        query_parts_free(parts);
        return status;
    }
    to->model = (char *)(query->model ? query->model : "");
    to->precision = (Dynamics__V1__Precision)query->precision;
    to->on_error = (Dynamics__V1__OnError)query->on_error;
    if (query->formulation) {
        to->formulation = (char *)query->formulation;
    }
    set_passive_forces(parts);
    if (query->expected_digest) {
        to->expected_digest = (char *)query->expected_digest;
    }
    to->n_joint_names = query->joint_count;
    to->joint_names = (char **)query->joint_names;
    to->time = query->time;
    to->without_rotors = query->without_rotors;
    set_rows(parts);
    set_motion_options(parts);
    if (query->gravity) {
        parts->gravity.x = query->gravity[0];
        parts->gravity.y = query->gravity[1];
        parts->gravity.z = query->gravity[2];
        to->gravity = &parts->gravity;
    }
    return DYN_CLIENT_OK;
}

dyn_client_status query_parts_read(const dyn_client_query *query, query_parts *parts, dyn_client_error *error) {
    dyn_client_status status = read_query(query, parts, error);
    return status == DYN_CLIENT_OK ? encode(1, 0, parts, error) : status;
}

/* Checks the client, the query and q, and encodes the query. `rows` is the number of rows of a trajectory; NULL: the
 * number of samples. `steps` as in encode. */
static dyn_client_status encode_checked(dyn_client *client, const dyn_client_query *query, const double *q,
                                        const size_t *rows, size_t steps, query_parts *parts, dyn_client_error *error) {
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    dyn_client_status status = read_query(query, parts, error);
    if (status == DYN_CLIENT_OK) {
        status = check(q, parts, error);
    }
    return status == DYN_CLIENT_OK ? encode(rows ? *rows : parts->source.samples, steps, parts, error) : status;
}

dyn_client_status query_parts_encode(dyn_client *client, const dyn_client_query *query, const double *q,
                                     query_parts *parts, dyn_client_error *error) {
    return encode_checked(client, query, q, NULL, 0, parts, error);
}

dyn_client_status query_parts_encode_steps(dyn_client *client, const dyn_client_query *query, const double *q,
                                           size_t steps, query_parts *parts, dyn_client_error *error) {
    return encode_checked(client, query, q, NULL, steps, parts, error);
}

dyn_client_status query_parts_encode_rows(dyn_client *client, const dyn_client_query *query, const double *q,
                                          size_t rows, query_parts *parts, dyn_client_error *error) {
    return encode_checked(client, query, q, &rows, 0, parts, error);
}

void query_parts_free(query_parts *parts) {
    free(parts->query.external_forces);
    pool_free(&parts->memory);
    parts->query.external_forces = NULL;
}

dyn_client_status dyn_client_query_for(const dyn_client_description *description, dyn_client_query *query,
                                       dyn_client_error *error) {
    dyn_client_query known;
    if (!description) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "description", "description is NULL");
    }
    dyn_client_status status = sized_read("query", query, sizeof known, &known, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    known.model = description->model.name;
    known.nq = description->model.nq;
    known.nv = description->model.nv;
    known.samples = known.samples > 0 ? known.samples : 1;
    sized_write(&known, sizeof known, query);
    return DYN_CLIENT_OK;
}
