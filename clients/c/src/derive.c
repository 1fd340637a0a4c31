/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derives new models from loaded ones, and exports models as descriptions.
 */
#include "requests.h"

#include <stdlib.h>

#include "descriptions.h"
#include "error.h"
#include "loaded.h"
#include "model_parts.h"
#include "sized.h"

/* ---- operations -------------------------------------------------------------------------------------------------- */

static char *text_or_none(const char *text) {
    return (char *)(text ? text : "");
}

static void make_lock(pool *memory, const dyn_client_operation *from, Dynamics__V1__ModelOperation *made) {
    Dynamics__V1__LockJoints *lock = pool_allocate(memory, 1, sizeof *lock);
    made->operation_case = DYNAMICS__V1__MODEL_OPERATION__OPERATION_LOCK;
    made->lock = lock;
    if (!lock) {
        return;
    }
    dynamics__v1__lock_joints__init(lock);
    lock->n_joints = from->joints ? from->joint_count : 0;
    lock->joints = (char **)from->joints;
    lock->n_q = from->q ? from->nq : 0;
    lock->q = (double *)from->q;
}

static void make_part(pool *memory, const dyn_client_operation *from, Dynamics__V1__ModelOperation *made) {
    if (from->kind == DYN_CLIENT_OPERATION_KIND_KEEP_SUBTREE) {
        made->operation_case = DYNAMICS__V1__MODEL_OPERATION__OPERATION_SUBTREE;
        made->subtree = pool_allocate(memory, 1, sizeof *made->subtree);
        if (!made->subtree) {
            return;
        }
        dynamics__v1__keep_subtree__init(made->subtree);
        made->subtree->link = text_or_none(from->link);
        made->subtree->base_type = (Dynamics__V1__Base)from->base;
        return;
    }
    made->operation_case = DYNAMICS__V1__MODEL_OPERATION__OPERATION_CHAIN;
    made->chain = pool_allocate(memory, 1, sizeof *made->chain);
    if (!made->chain) {
        return;
    }
    dynamics__v1__keep_chain__init(made->chain);
    made->chain->first = text_or_none(from->link);
    made->chain->last = text_or_none(from->last);
    made->chain->base_type = (Dynamics__V1__Base)from->base;
}

static void make_change_base(pool *memory, const dyn_client_operation *from, Dynamics__V1__ModelOperation *made) {
    made->operation_case = DYNAMICS__V1__MODEL_OPERATION__OPERATION_CHANGE_BASE;
    made->change_base = pool_allocate(memory, 1, sizeof *made->change_base);
    if (!made->change_base) {
        return;
    }
    dynamics__v1__change_base__init(made->change_base);
    made->change_base->link = text_or_none(from->link);
    made->change_base->base_type = (Dynamics__V1__Base)from->base;
}

static void make_merge(pool *memory, const dyn_client_operation *from, Dynamics__V1__ModelOperation *made) {
    made->operation_case = DYNAMICS__V1__MODEL_OPERATION__OPERATION_MERGE;
    made->merge = pool_allocate(memory, 1, sizeof *made->merge);
    if (!made->merge) {
        return;
    }
    dynamics__v1__merge_model__init(made->merge);
    made->merge->model = text_or_none(from->model);
    made->merge->link = text_or_none(from->link);
    made->merge->pose = from_pose(memory, &from->pose);
    made->merge->prefix = text_or_none(from->prefix);
}

static void make_attach(pool *memory, const dyn_client_operation *from, Dynamics__V1__ModelOperation *made) {
    made->operation_case = DYNAMICS__V1__MODEL_OPERATION__OPERATION_ATTACH;
    made->attach = pool_allocate(memory, 1, sizeof *made->attach);
    if (!made->attach) {
        return;
    }
    dynamics__v1__attach_link__init(made->attach);
    made->attach->link = text_or_none(from->link);
    made->attach->name = text_or_none(from->name);
    made->attach->inertia = from_inertia(memory, &from->inertia);
    made->attach->pose = from_pose(memory, &from->pose);
}

static void make_change_inertia(pool *memory, const dyn_client_operation *from, Dynamics__V1__ModelOperation *made) {
    made->operation_case = DYNAMICS__V1__MODEL_OPERATION__OPERATION_CHANGE_INERTIA;
    made->change_inertia = pool_allocate(memory, 1, sizeof *made->change_inertia);
    if (!made->change_inertia) {
        return;
    }
    dynamics__v1__change_inertia__init(made->change_inertia);
    made->change_inertia->link = text_or_none(from->link);
    made->change_inertia->inertia = from_inertia(memory, &from->inertia);
}

static void make_detach(pool *memory, const dyn_client_operation *from, Dynamics__V1__ModelOperation *made) {
    made->operation_case = DYNAMICS__V1__MODEL_OPERATION__OPERATION_DETACH;
    made->detach = pool_allocate(memory, 1, sizeof *made->detach);
    if (!made->detach) {
        return;
    }
    dynamics__v1__detach_link__init(made->detach);
    made->detach->link = text_or_none(from->link);
}

/* Converts an operation to a protocol message. The message stays empty if the kind of the operation is unknown; the
 * daemon then refuses the operation by its index. Returns NULL when out of memory. */
static Dynamics__V1__ModelOperation *make_operation(pool *memory, const dyn_client_operation *from) {
    static void (*const makers[])(pool *, const dyn_client_operation *, Dynamics__V1__ModelOperation *) = {
        [DYN_CLIENT_OPERATION_KIND_LOCK_JOINTS] = make_lock,
        [DYN_CLIENT_OPERATION_KIND_KEEP_SUBTREE] = make_part,
        [DYN_CLIENT_OPERATION_KIND_KEEP_CHAIN] = make_part,
        [DYN_CLIENT_OPERATION_KIND_CHANGE_BASE] = make_change_base,
        [DYN_CLIENT_OPERATION_KIND_MERGE_MODEL] = make_merge,
        [DYN_CLIENT_OPERATION_KIND_ATTACH_LINK] = make_attach,
        [DYN_CLIENT_OPERATION_KIND_CHANGE_INERTIA] = make_change_inertia,
        [DYN_CLIENT_OPERATION_KIND_DETACH_LINK] = make_detach,
    };
    Dynamics__V1__ModelOperation *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__model_operation__init(made);
    if ((size_t)from->kind < sizeof makers / sizeof *makers && makers[from->kind]) {
        makers[from->kind](memory, from, made);
    }
    return made;
}

/* ---- method derive_model ----------------------------------------------------------------------------------------- */

static dyn_client_status request_derive(dyn_client *client, const dyn_client_derive_request *request, pool *memory,
                                        Dynamics__V1__DeriveModelReply **answer, dyn_client_error *error) {
    Dynamics__V1__DeriveModelRequest derive = DYNAMICS__V1__DERIVE_MODEL_REQUEST__INIT;
    derive.model = (char *)request->model;
    derive.name = text_or_none(request->name);
    derive.strict = request->strict;
    derive.replace = request->replace;
    derive.expected_digest = text_or_none(request->expected_digest);
    derive.keep = request->keep;
    derive.operations = pool_allocate(memory, request->operation_count, sizeof *derive.operations);
    for (size_t i = 0; !memory->is_exhausted && i < request->operation_count; i++) {
        derive.operations[derive.n_operations++] = make_operation(memory, &request->operations[i]);
    }
    if (memory->is_exhausted) {
        return fail_memory(error);
    }
    const call_terms terms = {
        .timeout = request->timeout, .progress = request->progress, .context = request->progress_context};
    return request_derive_model(client, &derive, terms, answer, error);
}

dyn_client_status dyn_client_derive_model(dyn_client *client, const dyn_client_derive_request *request,
                                          dyn_client_loaded_model **loaded, dyn_client_error *error) {
    *loaded = NULL;
    dyn_client_derive_request known;
    dyn_client_status status = sized_read("request", request, sizeof known, &known, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (!client || !known.model) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "derive_model.model", "client or request->model is NULL");
    }
    if (known.operation_count > 0 && !known.operations) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "derive_model.operations", "request->operations is NULL");
    }
    pool memory = {0};
    Dynamics__V1__DeriveModelReply *answer;
    status = request_derive(client, &known, &memory, &answer, error);
    pool_free(&memory);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    return loaded_unpack(&answer->base, answer->loaded, loaded, error);
}

/* ---- method export_model ----------------------------------------------------------------------------------------- */

/* Public result, with the reply and the pool that own its strings and arrays. */
typedef struct exported_result {
    dyn_client_exported_model exported;
    Dynamics__V1__ExportModelReply *reply;
    pool memory;
} exported_result;

/* Converts result->reply to the public result. Returns BAD_REPLY if the reply holds no model. */
static dyn_client_status convert_export(exported_result *result, dyn_client_error *error) {
    const Dynamics__V1__ExportModelReply *reply = result->reply;
    dyn_client_exported_model *exported = &result->exported;
    exported->model = to_model(reply->model);
    if (reply->form_case == DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_URDF) {
        exported->urdf = reply->urdf;
    }
    if (reply->form_case == DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_DESCRIPTION) {
        exported->description = to_description(&result->memory, reply->description);
    }
    if (reply->form_case == DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_SCREWS) {
        exported->screws = to_screws(&result->memory, reply->screws);
    }
    if (reply->form_case == DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_TEXT) {
        exported->text = reply->text;
    }
    if (result->memory.is_exhausted) {
        return fail_memory(error);
    }
    if (!exported->urdf && !exported->description && !exported->screws && !exported->text) {
        return fail_bad_reply(error, "it holds no model");
    }
    return DYN_CLIENT_OK;
}

dyn_client_status dyn_client_export_model(dyn_client *client, const char *model, dyn_client_model_format format,
                                          const char *tip, double timeout, dyn_client_exported_model **exported,
                                          dyn_client_error *error) {
    *exported = NULL;
    if (!client || !model) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "export_model.model", "client or model is NULL");
    }
    Dynamics__V1__ExportModelRequest body = DYNAMICS__V1__EXPORT_MODEL_REQUEST__INIT;
    body.model = (char *)model;
    body.format = (Dynamics__V1__ModelFormat)format;
    body.tip = text_or_none(tip);
    exported_result *result = calloc(1, sizeof *result);
    if (!result) {
        return fail_memory(error);
    }
    dyn_client_status status = request_export_model(client, &body, within(timeout), &result->reply, error);
    if (status == DYN_CLIENT_OK) {
        status = convert_export(result, error);
    }
    if (status == DYN_CLIENT_OK) {
        *exported = &result->exported;
    } else {
        dyn_client_exported_model_free(&result->exported);
    }
    return status;
}

void dyn_client_exported_model_free(dyn_client_exported_model *exported) {
    if (!exported) {
        return;
    }
    exported_result *freed = (exported_result *)exported;
    if (freed->reply) {
        dynamics__v1__export_model_reply__free_unpacked(freed->reply, NULL);
    }
    pool_free(&freed->memory);
    free(freed);
}
