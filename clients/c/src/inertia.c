/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests the inertia of a body that consists of parts.
 */
#include <stdio.h>
#include <string.h>

#include "requests.h"
#include "descriptions.h"
#include "error.h"
#include "sized.h"

/* ---- encoding of the request ------------------------------------------------------------------------------------- */

/* Creates the solid of the part: a box, cylinder, sphere, ellipsoid or capsule. Leaves it NULL when out of memory,
 * which the pool records. */
static void make_shape(pool *memory, const dyn_client_inertia_part *from, Dynamics__V1__InertiaPart *made) {
    switch (from->kind) {
    case DYN_CLIENT_INERTIA_KIND_BOX:
        made->box = pool_allocate(memory, 1, sizeof *made->box);
        if (!made->box) {
            return;
        }
        dynamics__v1__box__init(made->box);
        made->box->size = from_vector3(memory, from->size);
        break;
    case DYN_CLIENT_INERTIA_KIND_CYLINDER:
        made->cylinder = pool_allocate(memory, 1, sizeof *made->cylinder);
        if (!made->cylinder) {
            return;
        }
        dynamics__v1__cylinder__init(made->cylinder);
        made->cylinder->radius = from->radius;
        made->cylinder->length = from->length;
        break;
    case DYN_CLIENT_INERTIA_KIND_SPHERE:
        made->sphere = pool_allocate(memory, 1, sizeof *made->sphere);
        if (!made->sphere) {
            return;
        }
        dynamics__v1__sphere__init(made->sphere);
        made->sphere->radius = from->radius;
        break;
    case DYN_CLIENT_INERTIA_KIND_ELLIPSOID:
        made->ellipsoid = pool_allocate(memory, 1, sizeof *made->ellipsoid);
        if (!made->ellipsoid) {
            return;
        }
        dynamics__v1__ellipsoid__init(made->ellipsoid);
        made->ellipsoid->semi_axes = from_vector3(memory, from->size);
        break;
    default:
        made->capsule = pool_allocate(memory, 1, sizeof *made->capsule);
        if (!made->capsule) {
            return;
        }
        dynamics__v1__capsule__init(made->capsule);
        made->capsule->radius = from->radius;
        made->capsule->length = from->length;
    }
}

static void make_mesh(pool *memory, const dyn_client_inertia_part *from, Dynamics__V1__InertiaPart *made) {
    made->mesh = pool_allocate(memory, 1, sizeof *made->mesh);
    if (!made->mesh) {
        return;
    }
    dynamics__v1__mesh__init(made->mesh);
    made->mesh->stl = (ProtobufCBinaryData){.len = from->stl ? from->stl_size : 0, .data = (uint8_t *)from->stl};
    if (from->scale) {
        made->mesh->optional_scale_case = DYNAMICS__V1__MESH__OPTIONAL_SCALE_SCALE;
        made->mesh->scale = *from->scale;
    }
}

static void make_numbers(pool *memory, const dyn_client_inertia_part *from, Dynamics__V1__InertiaPart *made) {
    switch (from->kind) {
    case DYN_CLIENT_INERTIA_KIND_PARAMETERS:
        made->parameters = pool_allocate(memory, 1, sizeof *made->parameters);
        if (!made->parameters) {
            return;
        }
        dynamics__v1__inertial_parameters__init(made->parameters);
        made->parameters->n_values = 10;
        made->parameters->values = (double *)from->values;
        break;
    case DYN_CLIENT_INERTIA_KIND_PSEUDO_INERTIA:
        made->pseudo_inertia = pool_allocate(memory, 1, sizeof *made->pseudo_inertia);
        if (!made->pseudo_inertia) {
            return;
        }
        dynamics__v1__pseudo_inertia__init(made->pseudo_inertia);
        made->pseudo_inertia->n_values = 16;
        made->pseudo_inertia->values = (double *)from->values;
        break;
    default:
        made->log_cholesky = pool_allocate(memory, 1, sizeof *made->log_cholesky);
        if (!made->log_cholesky) {
            return;
        }
        dynamics__v1__log_cholesky__init(made->log_cholesky);
        made->log_cholesky->n_values = 10;
        made->log_cholesky->values = (double *)from->values;
    }
}

/* Creates the inertia of the part. A zero inertia, for which from_inertia returns NULL, becomes a message too. */
static void make_inertia(pool *memory, const dyn_client_inertia_part *from, Dynamics__V1__InertiaPart *made) {
    made->inertia = from_inertia(memory, &from->inertia);
    if (!made->inertia) {
        made->inertia = pool_allocate(memory, 1, sizeof *made->inertia);
    }
    if (made->inertia && !made->inertia->base.descriptor) {
        dynamics__v1__inertia__init(made->inertia);
    }
}

/* Converts a part to a protocol message. The message has no body if the kind of the part is unknown; the daemon then
 * refuses the part by its index. Returns NULL when out of memory. */
static Dynamics__V1__InertiaPart *make_part(pool *memory, const dyn_client_inertia_part *from) {
    Dynamics__V1__InertiaPart *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__inertia_part__init(made);
    if (from->mass != 0) {
        made->amount_case = DYNAMICS__V1__INERTIA_PART__AMOUNT_MASS;
        made->mass = from->mass;
    } else if (from->density != 0) {
        made->amount_case = DYNAMICS__V1__INERTIA_PART__AMOUNT_DENSITY;
        made->density = from->density;
    }
    made->pose = from_pose(memory, &from->pose);
    if (from->kind < DYN_CLIENT_INERTIA_KIND_BOX || from->kind > DYN_CLIENT_INERTIA_KIND_LOG_CHOLESKY) {
        return made;
    }
    made->body_case = (Dynamics__V1__InertiaPart__BodyCase)from->kind;
    if (from->kind < DYN_CLIENT_INERTIA_KIND_MESH) {
        make_shape(memory, from, made);
    } else if (from->kind == DYN_CLIENT_INERTIA_KIND_MESH) {
        make_mesh(memory, from, made);
    } else if (from->kind == DYN_CLIENT_INERTIA_KIND_INERTIA) {
        make_inertia(memory, from, made);
    } else {
        make_numbers(memory, from, made);
    }
    return made;
}

/* ---- conversion of the reply ------------------------------------------------------------------------------------- */

/* Copies `wanted` numbers if `count` is equal to `wanted`. Returns false otherwise. */
static bool copy_numbers(size_t count, const double *from, size_t wanted, double *to) {
    if (count == wanted) {
        memcpy(to, from, wanted * sizeof *to);
    }
    return count == wanted;
}

static dyn_client_status convert_reply(const Dynamics__V1__ComputeInertiaReply *reply, dyn_client_body *body,
                                       dyn_client_error *error) {
    dyn_client_body made = {.inertia = to_inertia(reply->inertia),
                            .volume = reply->volume,
                            .is_realizable = reply->is_realizable,
                            .has_log_cholesky = reply->n_log_cholesky > 0};
    snprintf(made.reason, sizeof made.reason, "%s", reply->reason);
    bool fits =
        copy_numbers(reply->n_rotational_about, reply->rotational_about, 6, made.rotational_about) &&
        copy_numbers(reply->n_principal_moments, reply->principal_moments, 3, made.principal_moments) &&
        copy_numbers(reply->n_parameters, reply->parameters, 10, made.parameters) &&
        copy_numbers(reply->n_pseudo_inertia, reply->pseudo_inertia, 16, made.pseudo_inertia) &&
        copy_numbers(reply->n_principal_axes, reply->principal_axes, 9, made.principal_axes) &&
        copy_numbers(reply->n_spatial_inertia, reply->spatial_inertia, 36, made.spatial_inertia) &&
        (!made.has_log_cholesky || copy_numbers(reply->n_log_cholesky, reply->log_cholesky, 10, made.log_cholesky));
    if (!fits) {
        return fail_bad_reply(error, "the result does not hold as many values as it must");
    }
    sized_write(&made, sizeof made, body);
    return DYN_CLIENT_OK;
}

static dyn_client_status send_request(dyn_client *client, size_t part_count, const dyn_client_inertia_part *parts,
                                      const double *point, call_terms terms, pool *memory,
                                      Dynamics__V1__ComputeInertiaReply **answer, dyn_client_error *error) {
    Dynamics__V1__ComputeInertiaRequest body = DYNAMICS__V1__COMPUTE_INERTIA_REQUEST__INIT;
    body.parts = pool_allocate(memory, part_count, sizeof *body.parts);
    for (size_t i = 0; !memory->is_exhausted && i < part_count; i++) {
        body.parts[body.n_parts++] = make_part(memory, &parts[i]);
    }
    body.point = point ? from_vector3(memory, point) : NULL;
    if (memory->is_exhausted) {
        return fail_memory(error);
    }
    return request_compute_inertia(client, &body, terms, answer, error);
}

/* Returns INVALID_ARGUMENT for part `i`, which has both mass and density. The protocol holds only one of them. */
static dyn_client_status fail_density(size_t i, const dyn_client_inertia_part *part, dyn_client_error *error) {
    char field[64];
    snprintf(field, sizeof field, "compute_inertia.parts[%zu].density", i);
    return fail(error, DYN_CLIENT_INVALID_ARGUMENT, field,
                "the mass is %g kg and the density %g kg/m^3; pass one of them, and zero for the other", part->mass,
                part->density);
}

dyn_client_status dyn_client_compute_inertia(dyn_client *client, size_t part_count,
                                             const dyn_client_inertia_part *parts, const double *point,
                                             const dyn_client_terms *terms, dyn_client_body *body,
                                             dyn_client_error *error) {
    if (!client || (!parts && part_count > 0)) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "compute_inertia.parts", "client or parts is NULL");
    }
    call_terms known;
    dyn_client_status status = sized_check("body", body, error);
    if (status == DYN_CLIENT_OK) {
        status = call_read_terms(terms, &known, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    for (size_t i = 0; i < part_count; i++) {
        if (parts[i].mass != 0 && parts[i].density != 0) {
            return fail_density(i, &parts[i], error);
        }
    }
    pool memory = {0};
    Dynamics__V1__ComputeInertiaReply *reply;
    status = send_request(client, part_count, parts, point, known, &memory, &reply, error);
    pool_free(&memory);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    status = convert_reply(reply, body, error);
    dynamics__v1__compute_inertia_reply__free_unpacked(reply, NULL);
    return status;
}
