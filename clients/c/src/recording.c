/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists, fetches and deletes recordings, which are files of the daemon.
 */
#include <stdlib.h>

#include "requests.h"
#include "error.h"

static dyn_client_status check(dyn_client *client, const char *recording, dyn_client_error *error) {
    return client && recording ? DYN_CLIENT_OK
                               : fail(error, DYN_CLIENT_INVALID_ARGUMENT, "recording", "client or recording is NULL");
}

typedef struct list_result {
    dyn_client_recording_list list;
    Dynamics__V1__ListRecordingsReply *reply;
    dyn_client_recording recordings[];
} list_result;

dyn_client_status dyn_client_list_recordings(dyn_client *client, double timeout, dyn_client_recording_list **list,
                                             dyn_client_error *error) {
    Dynamics__V1__ListRecordingsRequest question = DYNAMICS__V1__LIST_RECORDINGS_REQUEST__INIT;
    Dynamics__V1__ListRecordingsReply *reply;
    *list = NULL;
    dyn_client_status status = check(client, "", error);
    if (status == DYN_CLIENT_OK) {
        status = request_list_recordings(client, &question, within(timeout), &reply, error);
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    list_result *result = calloc(1, sizeof *result + reply->n_recordings * sizeof *result->recordings);
    if (!result) {
        dynamics__v1__list_recordings_reply__free_unpacked(reply, NULL);
        return fail_memory(error);
    }
    result->reply = reply;
    for (size_t i = 0; i < reply->n_recordings; i++) {
        const Dynamics__V1__RecordingSummary *from = reply->recordings[i];
        result->recordings[i] = (dyn_client_recording){
            .name = from->name, .bytes = from->bytes, .stamp_ns = from->stamp_ns, .is_under_way = from->is_under_way};
    }
    result->list = (dyn_client_recording_list){
        .count = reply->n_recordings, .recordings = result->recordings, .bytes = reply->bytes};
    *list = &result->list;
    return DYN_CLIENT_OK;
}

void dyn_client_recording_list_free(dyn_client_recording_list *list) {
    if (!list) {
        return;
    }
    list_result *result = (list_result *)list;
    dynamics__v1__list_recordings_reply__free_unpacked(result->reply, NULL);
    free(result);
}

dyn_client_status dyn_client_delete_recording(dyn_client *client, const char *recording, double timeout,
                                              dyn_client_error *error) {
    Dynamics__V1__DeleteRecordingRequest deletion = DYNAMICS__V1__DELETE_RECORDING_REQUEST__INIT;
    Dynamics__V1__DeleteRecordingReply *reply;
    dyn_client_status status = check(client, recording, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    deletion.recording = (char *)recording;
    status = request_delete_recording(client, &deletion, within(timeout), &reply, error);
    if (status == DYN_CLIENT_OK) {
        dynamics__v1__delete_recording_reply__free_unpacked(reply, NULL);
    }
    return status;
}

typedef struct part_result {
    dyn_client_recording_part part;
    Dynamics__V1__FetchRecordingReply *reply;
} part_result;

dyn_client_status dyn_client_fetch_recording(dyn_client *client, const char *recording, uint64_t offset, uint64_t bytes,
                                             double timeout, dyn_client_recording_part **part,
                                             dyn_client_error *error) {
    Dynamics__V1__FetchRecordingRequest question = DYNAMICS__V1__FETCH_RECORDING_REQUEST__INIT;
    Dynamics__V1__FetchRecordingReply *reply;
    *part = NULL;
    dyn_client_status status = check(client, recording, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    question.recording = (char *)recording;
    question.offset = offset;
    question.bytes = bytes;
    status = request_fetch_recording(client, &question, within(timeout), &reply, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    part_result *result = calloc(1, sizeof *result);
    if (!result) {
        dynamics__v1__fetch_recording_reply__free_unpacked(reply, NULL);
        return fail_memory(error);
    }
    result->reply = reply;
    result->part = (dyn_client_recording_part){
        .bytes = reply->data.data, .count = reply->data.len, .size = reply->size, .is_under_way = reply->is_under_way};
    *part = &result->part;
    return DYN_CLIENT_OK;
}

void dyn_client_recording_part_free(dyn_client_recording_part *part) {
    if (!part) {
        return;
    }
    part_result *result = (part_result *)part;
    dynamics__v1__fetch_recording_reply__free_unpacked(result->reply, NULL);
    free(result);
}
