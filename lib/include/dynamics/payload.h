/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Payloads for single calls: bodies that a robot holds now, without a new model and without a change of the shared one.
 *
 *     const dyn_model *loaded;
 *     dyn_payload payload = {.link = tool, .inertia = box};
 *     dyn_workspace_load(workspace, 1, &payload, &loaded, &error);
 *     dyn_rnea(loaded, workspace, n, NULL, q, v, a, NULL, tau, &error);
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

/* Body that a link carries. */
typedef struct dyn_payload {
    int link;            /* index of the link */
    bool replaces;       /* replaces the link's own inertia; false: adds to it */
    dyn_inertia inertia; /* in the link's frame; all zero means nothing */
} dyn_payload;

/* Loads the workspace's model with `count` payloads, which replace those of earlier calls; a count of 0 removes them.
 * `loaded` is the model with its payloads: every algorithm accepts it with this workspace, and with no other. Its
 * links, joints, frames, coordinates and description are those of the model: dyn_model_link returns a link without
 * payloads, dyn_model_mass includes them. A payload on a link that is fixed to the world has no effect. A link may have
 * several; if several of them replace its inertia, their sum does.
 *
 * `loaded` belongs to the workspace, lives as long, and has the same address in every call. The caller must not free
 * it. Allocates nothing; cost O(links count + links). A workspace serves one thread.
 * Errors, with place "payloads[k].link" and so on, after which the earlier payloads stay in use: DYN_NOT_FOUND for a
 * link that does not exist; DYN_INVALID_ARGUMENT for an inertia that is not zero and that no body can have
 * (dyn_inertia_check). A workspace for single precision also returns DYN_FAILED_PRECONDITION with the place "model",
 * and has no payloads afterwards, where the inertias with payloads exceed the range of that precision. */
DYN_API dyn_status dyn_workspace_load(dyn_workspace *workspace, size_t count, const dyn_payload *payloads,
                                      const dyn_model **loaded, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
