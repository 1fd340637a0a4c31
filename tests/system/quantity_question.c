/* SPDX-License-Identifier: BSD-2-Clause */
#include "system/quantity_question.h"

#include <stdlib.h>

/* Adds the frames, the task or the subtree on which a quantity depends to its request. */
static void place(const quantity_question *from, const dyn_client_task_frame *task, dyn_client_quantity_request *to) {
    dyn_client_reference_frame frame = from->reference_frame != DYN_CLIENT_REFERENCE_FRAME_UNSPECIFIED
                                           ? from->reference_frame
                                           : DYN_CLIENT_REFERENCE_FRAME_LOCAL;
    switch (dyn_client_quantity_subject_of(to->quantity)) {
    case DYN_CLIENT_QUANTITY_SUBJECT_SUBTREE:
        to->subtree = from->subtree;
        break;
    case DYN_CLIENT_QUANTITY_SUBJECT_FRAMES:
        to->frame_count = from->frame_count;
        to->frames = from->frames;
        to->reference_frame = frame;
        break;
    case DYN_CLIENT_QUANTITY_SUBJECT_TASK:
        to->task_frame_count = from->frame_count;
        to->task_frames = task;
        to->reference_frame = frame;
        break;
    case DYN_CLIENT_QUANTITY_SUBJECT_ROBOT:
        break;
    }
}

/* Sends the request with those inputs of `from` and the query whose flags are in `inputs`. */
static dyn_client_status evaluate(dyn_client *client, const dyn_client_query *query, const quantity_question *from,
                                  const dyn_client_quantity_request *requests, uint64_t inputs, dyn_client_error *error,
                                  dyn_client_evaluation **answer) {
    dyn_client_query used = *query;
    used.gravity = inputs & DYN_CLIENT_QUANTITY_INPUT_GRAVITY ? query->gravity : NULL;
    used.external_force_count = inputs & DYN_CLIENT_QUANTITY_INPUT_EXTERNAL_FORCES ? query->external_force_count : 0;
    used.payload_count = inputs & DYN_CLIENT_QUANTITY_INPUT_PAYLOADS ? query->payload_count : 0;
    const dyn_client_evaluate_request request =
        DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = from->q, .v = inputs & DYN_CLIENT_QUANTITY_INPUT_V ? from->v : NULL,
                                         .a = inputs & DYN_CLIENT_QUANTITY_INPUT_A ? from->a : NULL,
                                         .tau = inputs & DYN_CLIENT_QUANTITY_INPUT_TAU ? from->tau : NULL,
                                         .dq = inputs & DYN_CLIENT_QUANTITY_INPUT_DQ ? from->dq : NULL,
                                         .dv = inputs & DYN_CLIENT_QUANTITY_INPUT_DV ? from->dv : NULL,
                                         .da = inputs & DYN_CLIENT_QUANTITY_INPUT_DA ? from->da : NULL,
                                         .dtau = inputs & DYN_CLIENT_QUANTITY_INPUT_DTAU ? from->dtau : NULL,
                                         .quantity_count = from->quantity_count, .quantities = requests);
    return dyn_client_evaluate(client, &used, &request, answer, error);
}

dyn_client_status evaluate_quantities(dyn_client *client, const dyn_client_query *query,
                                      const quantity_question *question, dyn_client_error *error,
                                      dyn_client_evaluation **answer) {
    dyn_client_quantity_request *requests = calloc(question->quantity_count + 1, sizeof *requests);
    dyn_client_task_frame *task = calloc(question->frame_count + 1, sizeof *task);
    for (size_t i = 0; i < question->frame_count; i++) {
        task[i] = (dyn_client_task_frame){
            .frame = question->frames[i], .axis_count = question->task_axis_count, .axes = question->task_axes};
    }
    for (size_t i = 0; i < question->quantity_count; i++) {
        requests[i].quantity = question->quantities[i];
        place(question, task, &requests[i]);
    }
    uint64_t inputs = 0;
    dyn_client_evaluation *form;
    dyn_client_status status = evaluate(client, query, question, requests, 0, error, &form);
    *answer = NULL;
    for (size_t i = 0; status == DYN_CLIENT_OK && i < form->result_count; i++) {
        inputs |= form->results[i].inputs;
    }
    if (status == DYN_CLIENT_OK) {
        dyn_client_evaluation_free(form);
        status = evaluate(client, query, question, requests, inputs, error, answer);
    }
    free(requests);
    free(task);
    return status;
}
