/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds elements of a model that a request names. Each function refuses an unknown name with the closest known one, and
 * returns false. `field` is the path of the name in the request; with an empty one the call's field stays.
 */
#ifndef SERVER_METHODS_LOOKUP_H
#define SERVER_METHODS_LOOKUP_H

#include "methods/refusal.h"
#include "models/entry.h"

/* Finds a link, a frame or "world". `missing` is the reason of the refusal: REASON_FRAME_NOT_FOUND, or
 * REASON_LINK_NOT_FOUND if a link is wanted. */
bool lookup_frame(const model_entry *entry, error_reason missing, const char *field, const char *name, int *frame,
                  refusal *why);

/* Finds a moving joint. */
bool lookup_joint(const model_entry *entry, const char *field, const char *name, int *joint, refusal *why);

#endif
