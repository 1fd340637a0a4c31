/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values that all daemons at a NATS server share, by key: a key-value bucket of JetStream, which the NATS server keeps
 * on its disk.
 *
 * Each change gives its key a revision, a number that grows over all keys of the bucket. Keys have the characters
 * A-Z a-z 0-9 - _ = / and dots between parts. A function waits for the NATS server at most about a second. All
 * functions may be called by any thread, except those that say otherwise.
 */
#ifndef SERVER_TRANSPORT_BUCKET_H
#define SERVER_TRANSPORT_BUCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

typedef struct transport_bucket transport_bucket;

typedef enum bucket_status {
    BUCKET_OK,
    BUCKET_ABSENT,      /* the bucket has no such key */
    BUCKET_CHANGED,     /* the key has another revision than expected */
    BUCKET_TOO_LARGE,   /* the value exceeds max_payload of the NATS server */
    BUCKET_UNREACHABLE, /* the NATS server does not answer */
} bucket_status;

/* Value of a key, in memory that the caller frees. */
typedef struct bucket_value {
    uint8_t *bytes;
    size_t size;
    uint64_t revision;
} bucket_value;

enum { BUCKET_KEY_SIZE = 512 };

typedef enum bucket_news {
    BUCKET_NOTHING,  /* until the timeout */
    BUCKET_PUT,      /* a key has a value */
    BUCKET_REMOVED,  /* a key was removed */
    BUCKET_COMPLETE, /* all keys that were there at the start of the watch have been reported */
    BUCKET_LOST,     /* the connection was lost; watch again */
} bucket_news;

/* Change of a key that a watch reports. */
typedef struct bucket_change {
    char key[BUCKET_KEY_SIZE];
    bucket_value value; /* without bytes if the key was removed */
} bucket_change;

/* Returns whether the configuration names a NATS server. */
bool transport_bucket_is_wanted(const transport *t);

/* Opens the bucket of that name and creates it if it is missing. On failure writes a sentence to `error` and returns
 * BUCKET_ABSENT if the NATS server has no JetStream, otherwise BUCKET_UNREACHABLE. */
bucket_status transport_bucket_open(transport *t, const char *name, char error[TRANSPORT_ERROR_SIZE],
                                    transport_bucket **result);

/* Closes the bucket. No thread may use it any more. NULL is ignored. */
void transport_bucket_close(transport_bucket *bucket);

/* Reads the value of a key. `value` is set on BUCKET_OK. */
bucket_status transport_bucket_get(transport_bucket *bucket, const char *key, bucket_value *value);

/* Sets the value of a key whose revision is `expected`; 0: the key is absent. `revision` (may be NULL) receives the new
 * one. */
bucket_status transport_bucket_put(transport_bucket *bucket, const char *key, const bucket_value *value,
                                   uint64_t expected, uint64_t *revision);

/* Removes a key, which may be absent, and its earlier values. */
bucket_status transport_bucket_remove(transport_bucket *bucket, const char *key);

/* Begins to watch the keys that match a pattern, in which "*" stands for one part; ends an earlier watch. One thread
 * at a time watches. */
bool transport_bucket_watch(transport_bucket *bucket, const char *pattern);

/* Waits for the next change, at most `milliseconds`. The caller frees the bytes of the change. */
bucket_news transport_bucket_next(transport_bucket *bucket, int milliseconds, bucket_change *change);

#endif
