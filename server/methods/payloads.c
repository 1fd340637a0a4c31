/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the payloads of a query. */
#include <dynamics/inertia.h>
#include <dynamics/payload.h>
#include <stdio.h>

#include "methods/bounds.h"
#include "methods/geometry.h"
#include "methods/lookup.h"
#include "methods/query.h"

/* Finds the link of a payload. Refuses the world. */
static bool find_link(const robot *r, const char *path, const char *name, int *link, refusal *why) {
    char member[PATH_SIZE];
    return lookup_frame(r->entry, REASON_LINK_NOT_FOUND, path_join(member, path, "link"), name, link, why) &&
           (*link != DYN_WORLD_FRAME ||
            refuse(why, REASON_INVALID_VALUE, member, "the world carries no payload; name a link of the robot"));
}

/* Converts one payload to the frame of its link. The library checks that a body can have its inertia, when the payloads
 * are loaded into a workspace. */
static bool read_payload(const robot *r, size_t i, const Dynamics__V1__Payload *from, dyn_payload *to, refusal *why) {
    char path[PATH_SIZE], member[PATH_SIZE];
    dyn_inertia inertia;
    dyn_pose pose;
    snprintf(path, sizeof path, "query.payloads[%zu]", i);
    if (!find_link(r, path, from->link, &to->link, why) ||
        !geometry_parse_inertia(path_join(member, path, "inertia"), from->inertia, &inertia, why) ||
        !geometry_parse_placement(path_join(member, path, "pose"), from->pose, &pose, why)) {
        return false;
    }
    dyn_inertia_transform(&inertia, &pose, &to->inertia);
    to->replaces = from->replaces;
    return true;
}

bool query_read_payloads(const robot *r, size_t count, Dynamics__V1__Payload *const *payloads, arena *memory,
                         query_values *values, refusal *why) {
    if (count == 0) {
        return true;
    }
    if (count > MOST_PAYLOADS) {
        return refuse_limit(
            why, REASON_TOO_MANY_ENTRIES, (excess){BOUND_PAYLOADS, MOST_PAYLOADS, count}, "query.payloads",
            "there are %zu payloads; at most %d are allowed: add those of one link to one", count, MOST_PAYLOADS);
    }
    dyn_payload *decoded = arena_array(memory, count, sizeof *decoded);
    if (!decoded) {
        return refuse_memory(why);
    }
    for (size_t i = 0; i < count; i++) {
        if (!read_payload(r, i, payloads[i], &decoded[i], why)) {
            return false;
        }
    }
    values->payload_count = count;
    values->payloads = decoded;
    return true;
}
