/* SPDX-License-Identifier: BSD-2-Clause */
/* ComputeInertia: reads bodies from shapes, meshes and numbers, moves them to one frame, adds them, checks the sum and
 * writes it in several forms. */
#include <dynamics/inertia.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "methods/geometry.h"
#include "methods/methods.h"

/* Approximate costs of one part of the request, and of one byte of a mesh, ns. */
static const double PART_COST = 500;
static const double MESH_COST = 4;

/* One part of the request, and its inertia. */
typedef struct part {
    call *call;
    const Dynamics__V1__InertiaPart *from;
    char path[PATH_SIZE]; /* path of the part: "parts[2]" */
    const char *kind;     /* name of the body's field: "box" */
    dyn_inertia inertia;
    double volume; /* m^3; 0 if the body is not a shape or a mesh */
} part;

/* Ends the call with an error of the library about a member of the body, or about the mass. Returns false. */
static bool fail(const part *p, const dyn_error *error) {
    const char *argument = error->site.argument ? error->site.argument : "";
    if (strcmp(argument, "mass") == 0) {
        call_blame(p->call, "%s.mass", p->path);
    } else {
        call_blame(p->call, "%s.%s.%s", p->path, p->kind, argument[0] ? argument : error->place);
    }
    call_fail_library(p->call, error);
    return false;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* Checks that the lengths of a shape are finite and not negative. Otherwise ends the call and returns false. */
static bool check_lengths(const part *p, const char *name, size_t count, const double *lengths) {
    for (size_t i = 0; i < count; i++) {
        if (!(lengths[i] >= 0 && isfinite(lengths[i]))) {
            call_blame(p->call, "%s.%s.%s", p->path, p->kind, name);
            call_fail(p->call, REASON_NOT_FINITE, "%s is %g; pass a finite length in metres, at least 0", name,
                      lengths[i]);
            return false;
        }
    }
    return true;
}

/* Sets `mass` to the mass of a shape or mesh: the stated one, or its density times its volume. Returns false, and the
 * call has ended, if both are absent or the number is not positive and finite. */
static bool find_mass(const part *p, double *mass) {
    bool is_density = p->from->amount_case == DYNAMICS__V1__INERTIA_PART__AMOUNT_DENSITY;
    double amount = is_density ? p->from->density : p->from->mass;
    if (p->from->amount_case == DYNAMICS__V1__INERTIA_PART__AMOUNT__NOT_SET) {
        call_blame(p->call, "%s.amount", p->path);
        call_fail(p->call, REASON_MISSING_VALUE,
                  "a shape and a mesh need a mass in kg or a density in kg/m^3; pass one of them");
        return false;
    }
    if (!(amount > 0 && isfinite(amount))) {
        call_blame(p->call, "%s.%s", p->path, is_density ? "density" : "mass");
        call_fail(p->call, isfinite(amount) ? REASON_INVALID_VALUE : REASON_NOT_FINITE,
                  "it is %g %s; pass a positive, finite number", amount, is_density ? "kg/m^3" : "kg");
        return false;
    }
    *mass = is_density ? amount * p->volume : amount;
    return true;
}

/* Reads and checks the lengths of a shape. Those that it does not have are 0. Returns false when the call has ended. */
static bool read_size(part *p, double size[3], double *radius, double *length) {
    const Dynamics__V1__InertiaPart *from = p->from;
    const Dynamics__V1__Vector3 *vector = NULL;
    const char *name = "";
    *radius = *length = 0;
    switch (from->body_case) {
    case DYNAMICS__V1__INERTIA_PART__BODY_BOX:
        vector = from->box->size;
        name = "size";
        break;
    case DYNAMICS__V1__INERTIA_PART__BODY_ELLIPSOID:
        vector = from->ellipsoid->semi_axes;
        name = "semi_axes";
        break;
    case DYNAMICS__V1__INERTIA_PART__BODY_CYLINDER:
        *radius = from->cylinder->radius;
        *length = from->cylinder->length;
        break;
    case DYNAMICS__V1__INERTIA_PART__BODY_CAPSULE:
        *radius = from->capsule->radius;
        *length = from->capsule->length;
        break;
    default:
        *radius = from->sphere->radius;
    }
    size[0] = vector ? vector->x : 0;
    size[1] = vector ? vector->y : 0;
    size[2] = vector ? vector->z : 0;
    return check_lengths(p, name, 3, size) && check_lengths(p, "radius", 1, radius) &&
           check_lengths(p, "length", 1, length);
}

static bool read_shape(part *p) {
    double size[3], r, l, mass, of_vector, ball;
    dyn_error error;
    dyn_status status;
    if (!read_size(p, size, &r, &l)) {
        return false;
    }
    of_vector = size[0] * size[1] * size[2];
    ball = 4 * M_PI / 3 * r * r * r;
    switch (p->from->body_case) {
    case DYNAMICS__V1__INERTIA_PART__BODY_BOX:
        p->volume = of_vector;
        break;
    case DYNAMICS__V1__INERTIA_PART__BODY_ELLIPSOID:
        p->volume = 4 * M_PI / 3 * of_vector;
        break;
    case DYNAMICS__V1__INERTIA_PART__BODY_SPHERE:
        p->volume = ball;
        break;
    case DYNAMICS__V1__INERTIA_PART__BODY_CYLINDER:
        p->volume = M_PI * r * r * l;
        break;
    default:
        p->volume = M_PI * r * r * l + ball;
    }
    if (!find_mass(p, &mass)) {
        return false;
    }
    switch (p->from->body_case) {
    case DYNAMICS__V1__INERTIA_PART__BODY_BOX:
        status = dyn_inertia_box(mass, size, &p->inertia, &error);
        break;
    case DYNAMICS__V1__INERTIA_PART__BODY_ELLIPSOID:
        status = dyn_inertia_ellipsoid(mass, size, &p->inertia, &error);
        break;
    case DYNAMICS__V1__INERTIA_PART__BODY_SPHERE:
        status = dyn_inertia_sphere(mass, r, &p->inertia, &error);
        break;
    case DYNAMICS__V1__INERTIA_PART__BODY_CYLINDER:
        status = dyn_inertia_cylinder(mass, r, l, &p->inertia, &error);
        break;
    default:
        status = dyn_inertia_capsule(mass, r, l, &p->inertia, &error);
    }
    return status == DYN_OK || fail(p, &error);
}

static bool read_mesh(part *p) {
    const Dynamics__V1__Mesh *mesh = p->from->mesh;
    dyn_error error;
    double mass;
    dyn_status status =
        dyn_inertia_stl((const char *)mesh->stl.data, mesh->stl.len, mesh->optional_scale_case ? mesh->scale : 1, 1,
                        &p->volume, &p->inertia, &error);
    if (status != DYN_OK) {
        return fail(p, &error);
    }
    if (!find_mass(p, &mass)) {
        return false;
    }
    p->inertia.mass *= mass;
    for (int k = 0; k < 6; k++) {
        p->inertia.rotational[k] *= mass;
    }
    return true;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Ends the call with an error of the library about the list of numbers of the part. Returns false. */
static bool fail_values(const part *p, const dyn_error *error) {
    call_blame(p->call, "%s.%s.values", p->path, p->kind);
    call_fail_library(p->call, error);
    return false;
}

static bool read_parameters(part *p, const char *path) {
    const Dynamics__V1__InertialParameters *from = p->from->parameters;
    double values[10];
    dyn_error error;
    if (!geometry_read_numbers(p->call, path, from->n_values, from->values, 10, values)) {
        return false;
    }
    dyn_status status = dyn_inertia_from_parameters(values, &p->inertia, &error);
    return status == DYN_OK || fail_values(p, &error);
}

static bool read_pseudo_inertia(part *p, const char *path) {
    const Dynamics__V1__PseudoInertia *from = p->from->pseudo_inertia;
    double values[16], largest = 0, asymmetry = 0;
    dyn_error error;
    if (!geometry_read_numbers(p->call, path, from->n_values, from->values, 16, values)) {
        return false;
    }
    for (int i = 0; i < 16; i++) {
        largest = fmax(largest, fabs(values[i]));
        asymmetry = fmax(asymmetry, fabs(values[i] - values[4 * (i % 4) + i / 4]));
    }
    if (asymmetry > 1e-9 * largest) {
        call_blame(p->call, "%s", path);
        call_fail(p->call, REASON_INVALID_INERTIA,
                  "the matrix is not symmetric: entries differ by %g from their mirror images", asymmetry);
        return false;
    }
    dyn_status status = dyn_inertia_from_pseudo(values, &p->inertia, &error);
    return status == DYN_OK || fail_values(p, &error);
}

static bool read_log_cholesky(part *p, const char *path) {
    const Dynamics__V1__LogCholesky *from = p->from->log_cholesky;
    double values[10];
    if (!geometry_read_numbers(p->call, path, from->n_values, from->values, 10, values)) {
        return false;
    }
    dyn_inertia_from_log_cholesky(values, &p->inertia);
    return true;
}

/* Reads a part that states its inertia in numbers. Refuses a mass or a density in addition, since the numbers include
 * the mass. */
static bool read_numbers(part *p) {
    char path[PATH_SIZE], values[PATH_SIZE];
    if (p->from->amount_case != DYNAMICS__V1__INERTIA_PART__AMOUNT__NOT_SET) {
        bool is_density = p->from->amount_case == DYNAMICS__V1__INERTIA_PART__AMOUNT_DENSITY;
        call_blame(p->call, "%s.%s", p->path, is_density ? "density" : "mass");
        call_fail(p->call, REASON_UNUSED_FIELD, "only shapes and meshes use a mass or a density");
        return false;
    }
    path_join(values, path_join(path, p->path, p->kind), "values");
    switch (p->from->body_case) {
    case DYNAMICS__V1__INERTIA_PART__BODY_INERTIA:
        return geometry_read_inertia(p->call, path, p->from->inertia, &p->inertia);
    case DYNAMICS__V1__INERTIA_PART__BODY_PARAMETERS:
        return read_parameters(p, values);
    case DYNAMICS__V1__INERTIA_PART__BODY_PSEUDO_INERTIA:
        return read_pseudo_inertia(p, values);
    default:
        return read_log_cholesky(p, values);
    }
}

/* ---- the sum ----------------------------------------------------------------------------------------------------- */

static bool is_finite(const dyn_inertia *inertia) {
    double sum = inertia->mass;
    for (int i = 0; i < 3; i++) {
        sum += inertia->center_of_mass[i];
    }
    for (int k = 0; k < 6; k++) {
        sum += inertia->rotational[k];
    }
    return isfinite(sum);
}

/* Reads one part and moves its inertia to the common frame. Returns false when the call has ended. */
static bool read_part(part *p) {
    char member[PATH_SIZE];
    dyn_pose pose;
    const ProtobufCFieldDescriptor *body =
        protobuf_c_message_descriptor_get_field(&dynamics__v1__inertia_part__descriptor, (unsigned)p->from->body_case);
    if (!body) {
        call_blame(p->call, "%s.body", p->path);
        call_fail(p->call, REASON_MISSING_VALUE, "the part has no body; pass a shape, a mesh or an inertia");
        return false;
    }
    p->kind = body->name;
    bool is_read = p->from->body_case == DYNAMICS__V1__INERTIA_PART__BODY_MESH  ? read_mesh(p)
                   : p->from->body_case < DYNAMICS__V1__INERTIA_PART__BODY_MESH ? read_shape(p)
                                                                                : read_numbers(p);
    if (!is_read || !geometry_read_placement(p->call, path_join(member, p->path, "pose"), p->from->pose, &pose)) {
        return false;
    }
    dyn_inertia_transform(&p->inertia, &pose, &p->inertia);
    if (!is_finite(&p->inertia)) {
        call_blame(p->call, "%s.%s", p->path, p->kind);
        call_fail(p->call, REASON_RESULT_OVERFLOW, "the numbers are so large, or so small, that the inertia overflows");
    }
    return !call_has_ended(p->call);
}

/* Adds up the inertias and the volumes of all parts. Returns false when the call has ended. */
static bool add_parts(call *c, dyn_inertia *sum, double *volume) {
    const Dynamics__V1__ComputeInertiaRequest *r = c->request->compute_inertia;
    *volume = 0;
    for (size_t i = 0; i < r->n_parts; i++) {
        part p = {.call = c, .from = r->parts[i]};
        snprintf(p.path, sizeof p.path, "parts[%zu]", i);
        if (!call_proceed(c, (double)i / (double)r->n_parts) || !read_part(&p)) {
            return false;
        }
        if (i == 0) {
            *sum = p.inertia;
        } else {
            dyn_inertia_add(sum, &p.inertia, sum);
        }
        *volume += p.volume;
    }
    if (!is_finite(sum)) {
        call_blame(c, "parts");
        call_fail(c, REASON_RESULT_OVERFLOW, "the parts are so large that their sum overflows");
    }
    return !call_has_ended(c);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* Replaces -0 by 0. */
static void clean(double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        values[i] += 0.0;
    }
}

/* Writes the principal axes, and the spatial inertia about the point, whose linear part comes first on the wire. */
static void write_matrices(call *c, const dyn_inertia *sum, const double point[3],
                           Dynamics__V1__ComputeInertiaReply *reply) {
    double angular_first[36];
    reply->principal_axes = call_allocate(c, 9, sizeof(double));
    reply->spatial_inertia = call_allocate(c, 36, sizeof(double));
    if (call_has_ended(c)) {
        return;
    }
    reply->n_principal_axes = 9, reply->n_spatial_inertia = 36;
    dyn_inertia_principal_axes(sum, reply->principal_axes);
    clean(reply->principal_axes, 9);
    dyn_inertia_to_spatial(sum, point, angular_first);
    for (size_t r = 0; r < 6; r++) {
        for (size_t k = 0; k < 6; k++) {
            reply->spatial_inertia[6 * r + k] = angular_first[6 * ((r + 3) % 6) + (k + 3) % 6];
        }
    }
    clean(reply->spatial_inertia, 36);
}

static void write_coordinates(call *c, const dyn_inertia *sum, Dynamics__V1__ComputeInertiaReply *reply) {
    dyn_error error;
    double *log_cholesky = call_allocate(c, 10, sizeof(double));
    reply->principal_moments = call_allocate(c, 3, sizeof(double));
    reply->parameters = call_allocate(c, 10, sizeof(double));
    reply->pseudo_inertia = call_allocate(c, 16, sizeof(double));
    if (call_has_ended(c)) {
        return;
    }
    reply->n_principal_moments = 3;
    dyn_inertia_principal_moments(sum, reply->principal_moments);
    reply->n_parameters = 10;
    dyn_inertia_to_parameters(sum, reply->parameters);
    reply->n_pseudo_inertia = 16;
    dyn_inertia_to_pseudo(sum, reply->pseudo_inertia);
    clean(reply->pseudo_inertia, 16);
    if (dyn_inertia_to_log_cholesky(sum, log_cholesky, &error) == DYN_OK) {
        clean(log_cholesky, 10);
        reply->n_log_cholesky = 10;
        reply->log_cholesky = log_cholesky;
    }
    reply->is_realizable = dyn_inertia_check(sum, &error) == DYN_OK;
    if (!reply->is_realizable) {
        reply->reason = call_string(c, error.message);
    }
}

static void answer(call *c, const dyn_inertia *sum, double volume, const double point[3]) {
    Dynamics__V1__ComputeInertiaReply *reply = create_compute_inertia_reply(c);
    double *about = call_allocate(c, 6, sizeof *about);
    if (!reply || !about) {
        return;
    }
    reply->inertia = geometry_write_inertia(c, sum);
    reply->volume = volume;
    reply->n_rotational_about = 6;
    reply->rotational_about = about;
    dyn_inertia_about(sum, point, about);
    write_coordinates(c, sum, reply);
    write_matrices(c, sum, point, reply);
}

void method_compute_inertia(call *c) {
    const Dynamics__V1__ComputeInertiaRequest *r = c->request->compute_inertia;
    dyn_inertia sum;
    double volume, point[3], cost = PART_COST * (double)r->n_parts;
    if (r->n_parts == 0) {
        call_blame(c, "parts");
        call_fail(c, REASON_MISSING_VALUE, "pass at least one part");
        return;
    }
    for (size_t i = 0; i < r->n_parts; i++) {
        bool is_mesh = r->parts[i]->body_case == DYNAMICS__V1__INERTIA_PART__BODY_MESH;
        cost += is_mesh ? MESH_COST * (double)r->parts[i]->mesh->stl.len : 0;
    }
    if (!call_defer(c, cost) && geometry_read_vector(c, "point", r->point, point) && add_parts(c, &sum, &volume)) {
        answer(c, &sum, volume, point);
    }
}
