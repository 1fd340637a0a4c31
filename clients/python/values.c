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

dyn_client_status dynamicsd_evaluate(dyn_client *client, const dyn_client_query *query,
                                     dyn_client_evaluate_request *request, const double *const *rows, size_t row_count,
                                     dyn_client_evaluation **evaluation, dyn_client_error *error) {
    const double **const arrays[] = {&request->q,  &request->v,  &request->a,  &request->tau,
                                     &request->dq, &request->dv, &request->da, &request->dtau};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = i < row_count ? rows[i] : NULL;
    }
    return dyn_client_evaluate(client, query, request, evaluation, error);
}
