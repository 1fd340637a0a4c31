/* SPDX-License-Identifier: BSD-2-Clause */
#include "values.h"

#include <stddef.h>
#include <string.h>

const dyn_client_block *dynamicsd_find_value(const dyn_client_evaluation *evaluation, dyn_client_quantity quantity) {
    const dyn_client_quantity_result *found = NULL;
    for (size_t i = 0; i < evaluation->result_count; i++) {
        if (evaluation->results[i].quantity == quantity && found) {
            return NULL;
        }
        found = evaluation->results[i].quantity == quantity ? &evaluation->results[i] : found;
    }
    bool has_one = found && found->block_count == 1 && strcmp(found->blocks[0].name, "value") == 0;
    return has_one ? &found->blocks[0] : NULL;
}

const double *dynamicsd_find_numbers(const dyn_client_evaluation *evaluation, dyn_client_quantity quantity,
                                     const dynamicsd_shape *shape) {
    const dyn_client_block *block = dynamicsd_find_value(evaluation, quantity);
    bool is_equal = block && block->rank == shape->rank && evaluation->samples * block->width > 0;
    for (size_t i = 0; is_equal && i < shape->rank; i++) {
        is_equal = block->shape[i] == shape->sizes[i];
    }
    return is_equal ? block->values : NULL;
}

dyn_client_status dynamicsd_evaluate(dyn_client *client, const dyn_client_query *query,
                                     dyn_client_evaluate_request *request, const double *q, const double *v,
                                     const double *a, dyn_client_evaluation **evaluation, dyn_client_error *error) {
    request->q = q, request->v = v, request->a = a;
    return dyn_client_evaluate(client, query, request, evaluation, error);
}
