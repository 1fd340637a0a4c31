/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/formulate_reply.h"

#include "methods/methods.h"

static size_t count_values(const dyn_formulation_block *block) {
    size_t count = 1;
    for (int i = 0; i < block->dimensions; i++) {
        count *= (size_t)block->extents[i];
    }
    return count;
}

/* Copies a block to the reply. Returns NULL when out of memory. */
static Dynamics__V1__FormulationBlock *copy_block(call *c, const dyn_formulation_block *from) {
    Dynamics__V1__FormulationBlock *to = call_allocate(c, 1, sizeof *to);
    size_t count = count_values(from);
    if (!to) {
        return NULL;
    }
    dynamics__v1__formulation_block__init(to);
    to->name = (char *)(uintptr_t)from->name;
    to->meaning = (char *)(uintptr_t)from->meaning;
    to->extents = call_allocate(c, (size_t)from->dimensions, sizeof *to->extents);
    to->values = call_allocate(c, count, sizeof *to->values);
    if (!to->extents || !to->values) {
        return NULL;
    }
    for (int i = 0; i < from->dimensions; i++) {
        to->extents[to->n_extents++] = (uint32_t)from->extents[i];
    }
    for (; to->n_values < count; to->n_values++) {
        to->values[to->n_values] = from->values[to->n_values];
    }
    return to;
}

/* Refuses blocks that would take more than half of limits.reply_bytes; the other half is room for their names. */
static bool check_block_sizes(call *c, int count, const dyn_formulation_block *list) {
    uint64_t limit = atomic_load(&c->service->limits->reply_bytes), bytes = 0;
    for (int i = 0; i < count; i++) {
        bytes += count_values(&list[i]) * sizeof(double);
    }
    if (bytes > limit / 2) {
        call_blame(c, "query.formulation");
        call_fail(
            c, REASON_REPLY_TOO_LARGE,
            "the inner quantities have %llu bytes; half of the limit %llu (limits.reply_bytes) is allowed: choose "
            "another formulation",
            (unsigned long long)bytes, (unsigned long long)limit);
        call_set_limit(c, BOUND_REPLY_BYTES, limit, bytes);
    }
    return bytes <= limit / 2;
}

void formulate_reply(batch *b, const char *source, double *tau, int count, const dyn_formulation_block *list) {
    call *c = b->call;
    Dynamics__V1__FormulateReply *reply = check_block_sizes(c, count, list) ? create_formulate_reply(c) : NULL;
    if (!reply) {
        return;
    }
    reply->source = (char *)(uintptr_t)source;
    reply->n_tau = b->nv;
    reply->tau = tau;
    reply->blocks = call_allocate(c, (size_t)count, sizeof *reply->blocks);
    for (int i = 0; !call_has_ended(c) && i < count; i++) {
        reply->blocks[reply->n_blocks++] = copy_block(c, &list[i]);
    }
}
