/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats the lines of the log and writes them to standard error. */
#include "observe/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <dynamics/text.h>

#include "observe/clock.h"

/* Sizes of a line: JSON may escape every printed byte, and a line begins with a time. */
enum { MESSAGE_SIZE = 2048, PRINTED_SIZE = 3072, LINE_SIZE = 2 * PRINTED_SIZE + 128 };

#define EPISODE_INTERVAL (60 * NANOSECONDS)

static const char *const level_names[] = {"error", "warning", "info", "debug"};
static const int journal_levels[] = {3, 4, 6, 7};

/* Returns whether the journal reads standard error: systemd sets JOURNAL_STREAM to "device:inode" of its socket. */
static bool journal_reads_standard_error(void) {
    const char *stream = getenv("JOURNAL_STREAM");
    unsigned long long device, inode;
    struct stat status;
    return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &status) == 0 &&
           status.st_dev == device && status.st_ino == inode;
}

void log_configure(logger *log, log_level level, log_format format) {
    if (format == LOG_FORMAT_AUTO) {
        format = journal_reads_standard_error() ? LOG_FORMAT_JOURNAL : LOG_FORMAT_PLAIN;
    }
    atomic_store(&log->level, level);
    atomic_store(&log->format, format);
}

/* Appends printable text to `line` at index `used`, with the escapes of a JSON string. Returns the index after it. */
static size_t append_json(char *line, size_t used, const char *text) {
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            line[used++] = '\\';
        }
        line[used++] = *text;
    }
    return used;
}

static void format_time(char text[32]) {
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t length = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, 32 - length, ".%03ldZ", now.tv_nsec / 1000000);
}

static void write_line(logger *log, log_level level, const char *message) {
    char line[LINE_SIZE], printed[PRINTED_SIZE], stamp[32];
    size_t used = 0;
    dyn_text_print(message, printed, sizeof printed);
    log_format format = atomic_load_explicit(&log->format, memory_order_relaxed);
    if (format == LOG_FORMAT_JOURNAL) {
        used = (size_t)snprintf(line, sizeof line, "<%d>%s", journal_levels[level], printed);
    } else if (format == LOG_FORMAT_JSON) {
        format_time(stamp);
        used = (size_t)snprintf(line, sizeof line, "{\"time\": \"%s\", \"level\": \"%s\", \"message\": \"", stamp,
                                level_names[level]);
        used = append_json(line, used, printed);
        used += (size_t)snprintf(line + used, sizeof line - used, "\"}");
    } else {
        format_time(stamp);
        used = (size_t)snprintf(line, sizeof line, "%s %-7s %s", stamp, level_names[level], printed);
    }
    line[used++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, used);
    (void)written; /* a log that cannot be written cannot report it */
}

static void write_formatted(logger *log, log_level level, const char *format, va_list arguments) {
    char message[MESSAGE_SIZE];
    vsnprintf(message, sizeof message, format, arguments);
    write_line(log, level, message);
}

static bool is_written(logger *log, log_level level) {
    return level <= atomic_load_explicit(&log->level, memory_order_relaxed);
}

void log_error(logger *log, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_formatted(log, LOG_LEVEL_ERROR, format, arguments);
    va_end(arguments);
}

void log_warning(logger *log, const char *format, ...) {
    if (!is_written(log, LOG_LEVEL_WARNING)) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    write_formatted(log, LOG_LEVEL_WARNING, format, arguments);
    va_end(arguments);
}

void log_info(logger *log, const char *format, ...) {
    if (!is_written(log, LOG_LEVEL_INFO)) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    write_formatted(log, LOG_LEVEL_INFO, format, arguments);
    va_end(arguments);
}

void log_debug(logger *log, const char *format, ...) {
    if (!is_written(log, LOG_LEVEL_DEBUG)) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    write_formatted(log, LOG_LEVEL_DEBUG, format, arguments);
    va_end(arguments);
}

void log_repeated(logger *log, log_episode *episode, const char *format, ...) {
    if (!is_written(log, LOG_LEVEL_WARNING)) {
        return;
    }
    uint64_t now = clock_now();
    uint_fast64_t last = atomic_load(&episode->last);
    if ((last != 0 && now - last < EPISODE_INTERVAL) || !atomic_compare_exchange_strong(&episode->last, &last, now)) {
        atomic_fetch_add(&episode->suppressed, 1);
        return;
    }
    char message[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    uint_fast64_t suppressed = atomic_exchange(&episode->suppressed, 0);
    if (suppressed > 0 && length >= 0 && (size_t)length < sizeof message) {
        snprintf(message + length, sizeof message - (size_t)length, " (and %llu more since the last report)",
                 (unsigned long long)suppressed);
    }
    write_line(log, LOG_LEVEL_WARNING, message);
}
