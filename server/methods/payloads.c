/* SPDX-License-Identifier: BSD-2-Clause */
/* The payloads of a request. */
#include <dynamics/inertia.h>
#include <dynamics/payload.h>
#include <stdio.h>

#include "methods/geometry.h"
#include "methods/query.h"

/* As query.proto states. */
enum { MOST_PAYLOADS = 1000 };

/* Finds the link that carries it. */
static bool find_link(batch *b, const char *path, const char *name, int *link) {
    call_blame(b->call, "%s.link", path);
    if (!batch_find_frame(b, REASON_LINK_NOT_FOUND, name, link)) {
        return false;
    }
    if (*link == DYN_WORLD_FRAME) {
        call_fail(b->call, REASON_INVALID_VALUE, "the world carries no payload; name a link of the robot");
    }
    return *link != DYN_WORLD_FRAME;
}

/* Brings one payload into the frame of its link. Whether a body can have it is for the library to say, at the same
 * place, when it is loaded. */
static bool take_payload(batch *b, size_t i, const Dynamics__V1__Payload *from, dyn_payload *to) {
    char path[PATH_SIZE], member[PATH_SIZE];
    dyn_inertia inertia;
    dyn_pose pose;
    snprintf(path, sizeof path, "query.payloads[%zu]", i);
    if (!find_link(b, path, from->link, &to->link) ||
        !geometry_read_inertia(b->call, path_join(member, path, "inertia"), from->inertia, &inertia) ||
        !geometry_read_placement(b->call, path_join(member, path, "pose"), from->pose, &pose)) {
        return false;
    }
    dyn_inertia_transform(&inertia, &pose, &to->inertia);
    to->replaces = from->replaces;
    return true;
}

bool query_read_payloads(batch *b, size_t count, Dynamics__V1__Payload *const *payloads) {
    if (count == 0) {
        return true;
    }
    if (count > MOST_PAYLOADS) {
        call_blame(b->call, "query.payloads");
        call_fail(b->call, REASON_TOO_MANY_ENTRIES,
                  "there are %zu payloads; at most %d are allowed: add those of one link to one", count, MOST_PAYLOADS);
        call_tell_limit(b->call, MOST_PAYLOADS, count);
        return false;
    }
    dyn_payload *taken = call_allocate(b->call, count, sizeof *taken);
    for (size_t i = 0; taken && i < count; i++) {
        if (!take_payload(b, i, payloads[i], &taken[i])) {
            return false;
        }
    }
    b->payload_count = count;
    b->payloads = taken;
    return taken != NULL;
}
