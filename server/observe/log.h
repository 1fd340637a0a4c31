/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's log: lines on standard error, plain, in journald's style or as JSON.
 *
 * Every function may be called from any thread. A line is written with one call, so lines never mix.
 */
#ifndef SERVER_OBSERVE_LOG_H
#define SERVER_OBSERVE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG } log_level;

enum { LOG_LEVELS = 4 };

/* Words of the levels. */
extern const char *const log_level_words[LOG_LEVELS];

typedef enum log_format {
    LOG_FORMAT_AUTO,    /* journal when the journal reads standard error, else plain */
    LOG_FORMAT_PLAIN,   /* 2026-01-31T12:00:00.000Z info message */
    LOG_FORMAT_JOURNAL, /* <6>message */
    LOG_FORMAT_JSON,    /* {"time": "...", "level": "info", "message": "..."} */
} log_format;

typedef struct logger {
    _Atomic log_level level; /* higher levels are not written */
    _Atomic log_format format;
} logger;

/* Event that may repeat often: it is logged at once, then at most once a minute with the number of repetitions. */
typedef struct log_episode {
    atomic_uint_fast64_t last; /* ns, CLOCK_MONOTONIC; 0: never */
    atomic_uint_fast64_t suppressed;
} log_episode;

/* Sets level and format; LOG_FORMAT_AUTO is resolved here. */
void log_configure(logger *log, log_level level, log_format format);

/* Field of a structured line. */
typedef struct log_field {
    const char *name;  /* of lower-case letters and _; NULL: ends a list */
    const char *value; /* any text */
} log_field;

/* Writes a line of a message and fields, unless the logger's level excludes it. In plain style the fields follow the
 * message as name=value; in JSON they are members; in the journal they are fields too, such as DYNAMICSD_PEER. */
void log_fields(logger *log, log_level level, const char *message, const log_field *fields);

/* Returns whether lines of that level are written. */
bool log_has_level(const logger *log, log_level level);

/* Writes an error, printf-style, as one line that is made printable (dynamics/text.h) in every format. */
void log_error(logger *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a warning like log_error, unless the logger's level excludes warnings. */
void log_warning(logger *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes information like log_error, unless the logger's level excludes it. */
void log_info(logger *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes details like log_error, unless the logger's level excludes them. */
void log_debug(logger *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a warning about an event that may repeat often: at once the first time, then at most once a minute with the
 * number of repetitions since. */
void log_repeated(logger *log, log_episode *episode, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
