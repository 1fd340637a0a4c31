/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Payloads for single calls: what a robot holds now, without a new model and without touching the one that is shared.
 *
 *     const dyn_model *loaded;
 *     dyn_payload payload = {.link = tool, .inertia = box};
 *     dyn_workspace_load(workspace, 1, &payload, &error, &loaded);
 *     dyn_rnea(loaded, workspace, n, NULL, q, v, a, NULL, &error, tau);
 *
 * dyn_model_attach (operations.h) makes a payload part of a new model instead.
 */
#ifndef DYNAMICS_PAYLOAD_H
#define DYNAMICS_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/status.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A body that a link carries. */
typedef struct dyn_payload {
    int link;            /* index of the link */
    bool replaces;       /* in place of the link's own inertia; false: beside it */
    dyn_inertia inertia; /* in the link's frame; all zero is nothing */
} dyn_payload;

/* Loads the workspace's model with `count` payloads, which take the place of those of earlier calls; none unloads it.
 * `loaded` is the model with its payloads: every algorithm takes it with this workspace, and with no other. Its links,
 * joints, frames and coordinates are those of the model, and so is its description: dyn_model_link states a link
 * without payloads, dyn_model_mass counts them. A payload on a link that is fixed to the world has no effect.
 * Several may be on one link; of those that replace, their sum does.
 *
 * `loaded` belongs to the workspace, lives as long, and is the same address in every call. It is not to be freed.
 * Nothing is allocated; cost O(links count + links). A workspace serves one thread.
 * Errors, with place "payloads[k].link" and so on; the payloads then stay as they were: DYN_NOT_FOUND for a link
 * that is none; DYN_INVALID_ARGUMENT for an inertia that no body has (dyn_inertia_check) and is not zero. And with the
 * place "model", of a workspace for single precision, which then has no payloads: DYN_FAILED_PRECONDITION where the
 * bodies weigh more with them than that precision can hold. */
DYN_API dyn_status dyn_workspace_load(dyn_workspace *workspace, size_t count, const dyn_payload *payloads,
                                      dyn_error *error, const dyn_model **loaded);

#ifdef __cplusplus
}
#endif

#endif
