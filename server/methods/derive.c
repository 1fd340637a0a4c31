/* SPDX-License-Identifier: BSD-2-Clause */
/* DeriveModel: builds a model from another one by operations in sequence. */
#include <dynamics/dynamics.h>
#include <stdio.h>
#include <string.h>

#include "methods/bounds.h"
#include "methods/constraints.h"
#include "methods/contact_surfaces.h"
#include "methods/description.h"
#include "methods/error_path.h"
#include "methods/geometry.h"
#include "methods/model_insertion.h"
#include "methods/methods.h"
#include "methods/summary.h"

/* Operation: its path in the request, and the model that it is applied to. */
typedef struct step {
    call *call;
    char path[PATH_SIZE]; /* "operations[2].lock" */
    const dyn_model *model;
} step;

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Sets a member of the operation as the field of the error. */
static void blame(const step *s, const char *member) {
    call_blame(s->call, "%s.%s", s->path, member);
}

/* Ends the call with an error of the library, whose argument names the wrong member of the operation. Returns false. */
static bool fail(const step *s, const dyn_error *error) {
    char path[ERROR_PATH_SIZE];
    if (error->site.argument) {
        blame(s, error_path(&error->site, error->site.argument, path));
    } else {
        call_blame(s->call, "%s", s->path);
    }
    return description_fail_element(s->call, error);
}

/* Reads the base of the result. If the operation names none, it is that of the model. */
static bool read_base(const step *s, Dynamics__V1__Base wire, dyn_base *base) {
    char path[PATH_SIZE];
    *base = dyn_model_is_floating(s->model) ? DYN_BASE_FLOATING : DYN_BASE_FIXED;
    return description_read_base(s->call, path_join(path, s->path, "base_type"), wire, base);
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* Converts an array of names to one of read-only names. */
static const char *const *constant(char *const *names) {
    return (const char *const *)names;
}

static bool lock_joints(const step *s, const Dynamics__V1__LockJoints *o, dyn_model **result) {
    dyn_error error;
    size_t nq = (size_t)dyn_model_nq(s->model);
    if (o->n_joints == 0) {
        blame(s, "joints");
        call_fail(s->call, REASON_MISSING_VALUE, "name at least one joint");
        return false;
    }
    if (o->n_q != 0 && o->n_q != nq) {
        blame(s, "q");
        call_fail(s->call, REASON_WRONG_COUNT, "q has %zu values; pass nq = %zu, or none for the zero configuration",
                  o->n_q, nq);
        return false;
    }
    dyn_status status =
        dyn_model_lock(s->model, o->n_joints, constant(o->joints), o->n_q ? o->q : NULL, result, &error);
    return status == DYN_OK || fail(s, &error);
}

static bool keep_subtree(const step *s, const Dynamics__V1__KeepSubtree *o, dyn_model **result) {
    dyn_error error;
    dyn_base base;
    if (!read_base(s, o->base_type, &base)) {
        return false;
    }
    dyn_status status = dyn_model_subtree(s->model, o->link, base, result, &error);
    return status == DYN_OK || fail(s, &error);
}

static bool keep_chain(const step *s, const Dynamics__V1__KeepChain *o, dyn_model **result) {
    dyn_error error;
    dyn_base base;
    if (!read_base(s, o->base_type, &base)) {
        return false;
    }
    dyn_status status = dyn_model_chain(s->model, o->first, o->last, base, result, &error);
    return status == DYN_OK || fail(s, &error);
}

static bool change_base(const step *s, const Dynamics__V1__ChangeBase *o, dyn_model **result) {
    dyn_error error;
    dyn_base base;
    if (!read_base(s, o->base_type, &base)) {
        return false;
    }
    dyn_status status = dyn_model_change_base(s->model, o->link, base, result, &error);
    return status == DYN_OK || fail(s, &error);
}

static bool merge_model(const step *s, const Dynamics__V1__MergeModel *o, dyn_model **result) {
    char path[PATH_SIZE];
    dyn_error error;
    dyn_pose pose;
    if (!geometry_read_placement(s->call, path_join(path, s->path, "pose"), o->pose, &pose)) {
        return false;
    }
    model_entry *added = call_find_model(s->call, o->model);
    if (!added) {
        blame(s, "model");
        return false;
    }
    dyn_status status = dyn_model_merge(s->model, o->link, &pose, added->model, o->prefix, result, &error);
    model_entry_release(added);
    return status == DYN_OK || fail(s, &error);
}

static bool attach_link(const step *s, const Dynamics__V1__AttachLink *o, dyn_model **result) {
    char path[PATH_SIZE];
    dyn_error error;
    dyn_pose pose;
    dyn_inertia inertia;
    if (!geometry_read_inertia(s->call, path_join(path, s->path, "inertia"), o->inertia, &inertia) ||
        !geometry_read_placement(s->call, path_join(path, s->path, "pose"), o->pose, &pose)) {
        return false;
    }
    dyn_status status = dyn_model_attach(s->model, o->link, o->name, &inertia, &pose, result, &error);
    return status == DYN_OK || fail(s, &error);
}

static bool change_inertia(const step *s, const Dynamics__V1__ChangeInertia *o, dyn_model **result) {
    char path[PATH_SIZE];
    dyn_error error;
    dyn_inertia inertia;
    if (!geometry_read_inertia(s->call, path_join(path, s->path, "inertia"), o->inertia, &inertia)) {
        return false;
    }
    dyn_status status = dyn_model_change_inertia(s->model, o->link, &inertia, result, &error);
    return status == DYN_OK || fail(s, &error);
}

static bool detach_link(const step *s, const Dynamics__V1__DetachLink *o, dyn_model **result) {
    dyn_error error;
    dyn_status status = dyn_model_detach(s->model, o->link, result, &error);
    return status == DYN_OK || fail(s, &error);
}

/* Applies one operation. Returns false when the call has ended with an error. */
static bool apply(const step *s, const Dynamics__V1__ModelOperation *o, dyn_model **result) {
    switch (o->operation_case) {
    case DYNAMICS__V1__MODEL_OPERATION__OPERATION_LOCK:
        return lock_joints(s, o->lock, result);
    case DYNAMICS__V1__MODEL_OPERATION__OPERATION_SUBTREE:
        return keep_subtree(s, o->subtree, result);
    case DYNAMICS__V1__MODEL_OPERATION__OPERATION_CHAIN:
        return keep_chain(s, o->chain, result);
    case DYNAMICS__V1__MODEL_OPERATION__OPERATION_CHANGE_BASE:
        return change_base(s, o->change_base, result);
    case DYNAMICS__V1__MODEL_OPERATION__OPERATION_MERGE:
        return merge_model(s, o->merge, result);
    case DYNAMICS__V1__MODEL_OPERATION__OPERATION_ATTACH:
        return attach_link(s, o->attach, result);
    case DYNAMICS__V1__MODEL_OPERATION__OPERATION_CHANGE_INERTIA:
        return change_inertia(s, o->change_inertia, result);
    case DYNAMICS__V1__MODEL_OPERATION__OPERATION_DETACH:
        return detach_link(s, o->detach, result);
    default:
        call_blame(s->call, "%s", s->path);
        call_fail(s->call, REASON_MISSING_VALUE, "the operation is empty, or none that this daemon knows");
        return false;
    }
}

/* ---- the method -------------------------------------------------------------------------------------------------- */

/* Writes the path of an operation and its kind, such as "operations[2].lock". */
static void name_step(step *s, size_t i, const Dynamics__V1__ModelOperation *o) {
    const ProtobufCFieldDescriptor *member = protobuf_c_message_descriptor_get_field(
        &dynamics__v1__model_operation__descriptor, (unsigned)o->operation_case);
    snprintf(s->path, sizeof s->path, "operations[%zu]%s%s", i, member ? "." : "", member ? member->name : "");
}

/* Applies all operations. The caller frees the result. Returns NULL when the call has ended with an error. */
static dyn_model *apply_all(call *c, const dyn_model *source) {
    const Dynamics__V1__DeriveModelRequest *r = c->request->derive_model;
    dyn_model *model = NULL;
    for (size_t i = 0; i < r->n_operations; i++) {
        step s = {.call = c, .model = model ? model : source};
        dyn_model *next = NULL;
        name_step(&s, i, r->operations[i]);
        bool is_done = !call_is_late(c) && apply(&s, r->operations[i], &next);
        dyn_model_free(model);
        model = next;
        if (!is_done) {
            return NULL;
        }
    }
    return model;
}

static bool check_request(call *c, const Dynamics__V1__DeriveModelRequest *r) {
    if (r->n_operations == 0 || r->n_operations > MOST_OPERATIONS) {
        call_blame(c, "operations");
        call_fail(c, r->n_operations ? REASON_TOO_MANY_ENTRIES : REASON_MISSING_VALUE,
                  "there are %zu operations; pass from 1 to %d", r->n_operations, MOST_OPERATIONS);
        if (r->n_operations > 0) {
            call_set_limit(c, BOUND_OPERATIONS, MOST_OPERATIONS, r->n_operations);
        }
    } else if (r->name[0] == '\0') {
        call_blame(c, "name");
        call_fail(c, REASON_MISSING_VALUE, "name is empty; set the name of the new model");
    }
    return !call_has_ended(c) && insertion_check(c, r->replace, r->expected_digest);
}

/* Builds the derived model once more from its description, as the model of the call, for its load report. */
static void build(call *c, const dyn_model *model) {
    const Dynamics__V1__DeriveModelRequest *r = c->request->derive_model;
    dyn_build_options built = DYN_BUILD_OPTIONS_INIT();
    dyn_builder *builder = NULL;
    dyn_error error;
    dyn_status status = dyn_model_build_options(model, &built, &error);
    const model_options options = {.base = built.base, .mimic = built.mimic, .strict = r->strict};
    if (status == DYN_OK) {
        status = dyn_model_describe(model, &builder, &error);
    }
    if (status == DYN_OK) {
        status = model_entry_build(builder, NULL, r->name, "", &options, atomic_load(&c->service->limits->links),
                                   &error, &c->built);
        dyn_builder_free(builder);
    }
    if (status == DYN_OK) {
        const dyn_model *made = c->built->model;
        if (constraints_check_count(c, "operations", (size_t)dyn_model_constraint_count(made))) {
            contact_surfaces_check_count(c, "operations", (size_t)dyn_model_contact_surface_count(made));
        }
    } else if (error.site.argument && strcmp(error.site.argument, "name") == 0) {
        insertion_fail_name(c, &error);
    } else {
        call_blame(c, "%s", error.site.argument ? error.site.argument : "operations");
        description_fail_element(c, &error);
    }
}

void method_prepare_derive_model(call *c) {
    const Dynamics__V1__DeriveModelRequest *r = c->request->derive_model;
    model_entry *source = check_request(c, r) ? call_find_model(c, r->model) : NULL;
    if (!source) {
        return;
    }
    dyn_model *model = apply_all(c, source->model);
    model_entry_release(source);
    if (model) {
        build(c, model);
    }
    dyn_model_free(model);
}

void method_derive_model(call *c) {
    bool was_present;
    const Dynamics__V1__DeriveModelRequest *r = c->request->derive_model;
    const insertion_options options = {.replaced = insertion_replaced(r->replace, r->expected_digest),
                                       .on_disk = r->keep};
    model_entry *stored = insert_built_model(c, &options, &was_present);
    Dynamics__V1__DeriveModelReply *reply = stored ? create_derive_model_reply(c) : NULL;
    if (reply) {
        reply->loaded = summary_loaded(c, stored, was_present);
    }
    model_entry_release(stored);
}
