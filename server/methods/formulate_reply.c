/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/formulate_reply.h"

#include <string.h>

#include "methods/methods.h"

static size_t count_values(const dyn_formulation_block *block) {
    size_t count = 1;
    for (int i = 0; i < block->dimensions; i++) {
        count *= (size_t)block->extents[i];
    }
    return count;
}

/* ---- blocks of all states ---------------------------------------------------------------------------------------- */

void formulated_blocks_open(const batch *b, formulated_blocks *found) {
    *found = (formulated_blocks){.call = b->call, .n = b->n};
    pthread_mutex_init(&found->lock, NULL);
}

void formulated_blocks_close(formulated_blocks *found) {
    pthread_mutex_destroy(&found->lock);
}

/* Allocates the values of all states for blocks of the shapes of `set`. No other thread uses the memory of the call
 * while the batch runs. */
static void lay_out(formulated_blocks *found, const block_set *set) {
    uint64_t limit = atomic_load(&found->call->service->limits->reply_bytes), bytes = 0;
    found->shapes = *set;
    found->has_shapes = true;
    for (int i = 0; i < set->count; i++) {
        bytes += found->n * count_values(&set->blocks[i]) * sizeof(double);
    }
    if (bytes > limit / 2) { /* the other half is room for the names */
        found->bytes = bytes;
        return;
    }
    for (int i = 0; i < set->count; i++) {
        dyn_formulation_block *block = &found->shapes.blocks[i];
        block->values = arena_array(&found->call->memory, found->n * count_values(block), sizeof(double));
        found->is_short = found->is_short || !block->values;
    }
}

dyn_status formulated_blocks_store(formulated_blocks *found, size_t state, const block_set *set, dyn_error *error) {
    pthread_mutex_lock(&found->lock);
    if (!found->has_shapes) {
        lay_out(found, set);
    }
    pthread_mutex_unlock(&found->lock);
    if (found->is_short) {
        *error =
            (dyn_error){.status = DYN_RESOURCE_EXHAUSTED, .site.cause = DYN_CAUSE_MEMORY, .message = "out of memory"};
        return DYN_RESOURCE_EXHAUSTED;
    }
    for (int i = 0; found->bytes == 0 && i < set->count; i++) {
        size_t count = count_values(&set->blocks[i]);
        double *to = (double *)(uintptr_t)found->shapes.blocks[i].values + state * count;
        memcpy(to, set->blocks[i].values, count * sizeof *to);
    }
    return DYN_OK;
}

bool formulated_blocks_exceed(formulated_blocks *found) {
    pthread_mutex_lock(&found->lock);
    bool exceeds = found->bytes > 0;
    pthread_mutex_unlock(&found->lock);
    return exceeds;
}

/* ---- reply ------------------------------------------------------------------------------------------------------- */

/* Static text in a message. */
static char *text_of(const char *text) {
    return (char *)(uintptr_t)text;
}

/* Copies the names and the shape of a block to the reply. Returns false when out of memory. */
static bool copy_shape(call *c, const dyn_formulation_block *from, Dynamics__V1__FormulationBlock *to) {
    const dyn_formulation_block_traits *traits = from->traits;
    dynamics__v1__formulation_block__init(to);
    to->name = text_of(from->name), to->meaning = text_of(traits->meaning), to->frame = text_of(traits->frame);
    to->unit = text_of(traits->unit), to->equation = text_of(traits->equation);
    to->extents = call_allocate(c, (size_t)from->dimensions, sizeof *to->extents);
    to->axes = call_allocate(c, (size_t)from->dimensions, sizeof *to->axes);
    for (int i = 0; !call_has_ended(c) && i < from->dimensions; i++) {
        to->extents[to->n_extents++] = (uint32_t)from->extents[i];
        to->axes[to->n_axes++] = text_of(traits->axes[i]);
    }
    return !call_has_ended(c);
}

/* Describes a block of all states in the reply. Returns NULL when out of memory. */
static Dynamics__V1__FormulationBlock *write_block(call *c, size_t n, const dyn_formulation_block *from) {
    Dynamics__V1__FormulationBlock *to = call_allocate(c, 1, sizeof *to);
    if (!to || !copy_shape(c, from, to)) {
        return NULL;
    }
    to->n_values = n * count_values(from);
    to->values = (double *)(uintptr_t)from->values;
    return to;
}

/* Refuses blocks that would take more than half of limits.reply_bytes. */
static bool check_block_sizes(call *c, const formulated_blocks *found) {
    uint64_t limit = atomic_load(&c->service->limits->reply_bytes);
    if (found->bytes > 0) {
        call_blame(c, found->n == 1 ? "query.formulation" : "q");
        call_fail(
            c, REASON_REPLY_TOO_LARGE,
            "the inner quantities have %llu bytes; half of the limit %llu (limits.reply_bytes) is allowed: choose "
            "another formulation%s",
            (unsigned long long)found->bytes, (unsigned long long)limit,
            found->n == 1 ? "" : ", or send fewer states at once");
        call_set_limit(c, BOUND_REPLY_BYTES, limit, found->bytes);
    }
    return found->bytes == 0;
}

/* Returns the literature of a formulation, which exists. */
static char *source_of(const char *name) {
    int i = 0;
    while (strcmp(dyn_formulation_traits_at(i)->name, name) != 0) {
        i++;
    }
    return text_of(dyn_formulation_traits_at(i)->source);
}

void formulate_reply(batch *b, const char *formulation, double *tau, const formulated_blocks *found) {
    call *c = b->call;
    Dynamics__V1__FormulateReply *reply = check_block_sizes(c, found) ? create_formulate_reply(c) : NULL;
    size_t count = (size_t)found->shapes.count;
    if (!reply) {
        return;
    }
    reply->source = source_of(formulation);
    reply->samples = found->n;
    reply->n_tau = found->n * b->nv;
    reply->tau = tau;
    reply->blocks = call_allocate(c, count, sizeof *reply->blocks);
    for (size_t i = 0; !call_has_ended(c) && i < count; i++) {
        reply->blocks[reply->n_blocks++] = write_block(c, found->n, &found->shapes.blocks[i]);
    }
}
