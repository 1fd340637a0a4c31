/* SPDX-License-Identifier: BSD-2-Clause */
/* ListRecordings, DeleteRecording, FetchRecording: list, delete and transfer the recordings in the state directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/regular_file.h"
#include "methods/live.h"
#include "methods/methods.h"

/* Bytes that FetchRecording returns by default, and bytes of a reply in addition to them. */
enum { STANDARD_PART = 1 << 20, REPLY_MARGIN = 4096 };

/* ---- listing ----------------------------------------------------------------------------------------------------- */

static void add_file(call *c, const recording_file *file, Dynamics__V1__ListRecordingsReply *reply) {
    Dynamics__V1__RecordingSummary *summary = call_allocate(c, 1, sizeof *summary);
    if (summary) {
        dynamics__v1__recording_summary__init(summary);
        summary->name = call_string(c, file->name);
        summary->bytes = file->bytes;
        summary->stamp_ns = file->stamp_ns;
        summary->is_under_way = file->is_under_way;
        reply->recordings[reply->n_recordings++] = summary;
    }
}

void method_list_recordings(call *c) {
    live *l = c->service->live;
    Dynamics__V1__ListRecordingsReply *reply = create_list_recordings_reply(c);
    recording_file *files;
    size_t count;
    if (!reply) {
        return;
    }
    pthread_mutex_lock(&l->files);
    bool is_listed = recording_store_list(&l->recordings, &files, &count);
    pthread_mutex_unlock(&l->files);
    if (!is_listed) {
        call_fail_memory(c);
        return;
    }
    reply->bytes = atomic_load(&l->recordings.space.used);
    reply->recordings = call_allocate(c, count, sizeof *reply->recordings);
    for (size_t i = 0; i < count && !call_has_ended(c); i++) {
        add_file(c, &files[i], reply);
    }
    free(files);
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

/* Ends a call about a file that cannot be used, for the errno `number`. */
static void fail_file(call *c, const char *path, int number) {
    refusal why;
    recording_store_refuse_file(path, number, &why);
    call_refuse(c, &why);
}

/* Writes the path of the requested recording. Returns false, and the call has ended, if the name is invalid. */
static bool find_path(call *c, const char *name, char path[PATH_MAX]) {
    refusal why = {0};
    if (live_recording_path(c->service->live, name, path, &why)) {
        return true;
    }
    call_refuse(c, &why);
    return false;
}

/* Returns whether the caller may delete a recording, by the header of its file; otherwise ends the call. A file that
 * cannot be read belongs to nobody. */
static bool may_delete(call *c, const char *name, const char *path) {
    recording_reader reader;
    Dynamics__V1__RecordingHeader *header = NULL;
    char object[REFUSAL_FIELD_SIZE];
    if (recording_reader_open(&reader, path)) {
        header = (Dynamics__V1__RecordingHeader *)recording_reader_next(
            &reader, &dynamics__v1__recording_header__descriptor, &c->memory.allocator);
        recording_reader_close(&reader);
    }
    snprintf(object, sizeof object, "recording \"%.80s\"", name);
    call_blame(c, "recording");
    return call_may_change(c, object, header ? header->belongs_to : "");
}

/* Deletes the file of a recording that is not under way, or ends the call. Called with the mutex of files held. */
static void delete_file(call *c, const char *name, const char *path, struct stat *status) {
    live *l = c->service->live;
    if (recording_store_is_open(&l->recordings, name)) {
        call_blame(c, "recording");
        call_fail(c, REASON_RECORDING, "recording \"%s\" is under way; end it first (StopRecording, CloseStream)",
                  name);
        return;
    }
    bool is_there = lstat(path, status) == 0;
    if (is_there && !may_delete(c, name, path)) {
        return;
    }
    if (!is_there || !recording_store_delete(&l->recordings, path)) {
        fail_file(c, path, errno);
    }
}

void method_delete_recording(call *c) {
    live *l = c->service->live;
    const char *name = c->request->delete_recording->recording;
    Dynamics__V1__DeleteRecordingReply *reply = create_delete_recording_reply(c);
    char path[PATH_MAX];
    struct stat status;
    if (!reply || !find_path(c, name, path)) {
        return;
    }
    pthread_mutex_lock(&l->files);
    delete_file(c, name, path, &status);
    l->next_check = 0;
    pthread_mutex_unlock(&l->files);
    if (!call_has_ended(c)) {
        reply->bytes = (uint64_t)status.st_size;
    }
}

/* Returns the number of bytes of the part to send, of which `left` remain in the file. Returns 0, and the call has
 * ended, if the request exceeds limits.reply_bytes. */
static size_t choose_part(call *c, const Dynamics__V1__FetchRecordingRequest *r, uint64_t left) {
    uint64_t most = atomic_load(&c->service->limits->reply_bytes) - REPLY_MARGIN;
    uint64_t wanted = r->bytes ? r->bytes : most < STANDARD_PART ? most : STANDARD_PART;
    if (wanted > most) {
        call_blame(c, "bytes");
        call_fail(c, REASON_REPLY_TOO_LARGE,
                  "bytes is %llu; a reply may have %llu (limits.reply_bytes): fetch the recording in smaller parts",
                  (unsigned long long)wanted, (unsigned long long)most);
        call_set_limit(c, BOUND_REPLY_BYTES, most, wanted);
        return 0;
    }
    return (size_t)(wanted < left ? wanted : left);
}

/* Reads the requested part of an open file into the reply, or ends the call. */
static void fetch(call *c, int file, const char *path, Dynamics__V1__FetchRecordingReply *reply) {
    const Dynamics__V1__FetchRecordingRequest *r = c->request->fetch_recording;
    struct stat status;
    if (fstat(file, &status) != 0) {
        fail_file(c, path, errno);
        return;
    }
    reply->size = (uint64_t)status.st_size;
    if (r->offset > reply->size) {
        call_blame(c, "offset");
        call_fail(c, REASON_OFFSET_OUT_OF_RANGE, "offset is %llu; the recording has %llu bytes",
                  (unsigned long long)r->offset, (unsigned long long)reply->size);
        return;
    }
    size_t part = choose_part(c, r, reply->size - r->offset);
    reply->data.data = call_has_ended(c) ? NULL : call_allocate(c, part, 1);
    while (!call_has_ended(c) && reply->data.len < part) {
        ssize_t count = pread(file, reply->data.data + reply->data.len, part - reply->data.len,
                              (off_t)(r->offset + reply->data.len));
        if (count < 0 && errno != EINTR) {
            fail_file(c, path, errno);
        } else if (count == 0) {
            return; /* another process has shortened the file meanwhile */
        }
        reply->data.len += count > 0 ? (size_t)count : 0;
    }
}

void method_fetch_recording(call *c) {
    live *l = c->service->live;
    const char *name = c->request->fetch_recording->recording;
    Dynamics__V1__FetchRecordingReply *reply = create_fetch_recording_reply(c);
    char path[PATH_MAX];
    if (!reply || !find_path(c, name, path)) {
        return;
    }
    int file = regular_file_open(path, O_NOFOLLOW);
    if (file < 0) {
        fail_file(c, path, errno);
        return;
    }
    pthread_mutex_lock(&l->files);
    reply->is_under_way = recording_store_is_open(&l->recordings, name);
    pthread_mutex_unlock(&l->files);
    fetch(c, file, path, reply);
    close(file);
}
