/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats the lines of the log and writes them to standard error. */
#include "observe/log.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Leaves the place in the source out of the journal. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include <dynamics/text.h>

#include "observe/clock.h"

/* Sizes of a line: JSON may escape every printed byte, and a line begins with a time. */
enum { MESSAGE_SIZE = 2048, PRINTED_SIZE = 3072, LINE_SIZE = 4 * PRINTED_SIZE + 128 };

/* Sizes of a printed field, of the characters around a field in JSON, and of a field's name in the journal; and the
 * largest number of fields in a line of the journal. */
enum { FIELD_SIZE = 512, MEMBER_MARGIN = 8, JOURNAL_NAME_SIZE = 48, JOURNAL_FIELDS = 12 };

#define EPISODE_INTERVAL (60 * NANOSECONDS)

const char *const log_level_words[LOG_LEVELS] = {"error", "warning", "info", "debug"};
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

/* Appends fields as members of a JSON object. Leaves out those for which `size` bytes do not suffice. */
static size_t append_members(char *line, size_t used, size_t size, const log_field *fields) {
    char printed[FIELD_SIZE];
    for (; fields && fields->name; fields++) {
        dyn_text_print(fields->value, printed, sizeof printed);
        if (used + strlen(fields->name) + 2 * strlen(printed) + MEMBER_MARGIN > size) {
            break;
        }
        used += (size_t)sprintf(line + used, ", \"%s\": \"", fields->name);
        used = append_json(line, used, printed);
        line[used++] = '"';
    }
    return used;
}

/* Writes one line. `fields` are those of a line in JSON, where `message` lacks them; NULL: none. */
static void write_line(logger *log, log_level level, const char *message, const log_field *fields) {
    char line[LINE_SIZE], printed[PRINTED_SIZE], stamp[32];
    size_t used = 0;
    dyn_text_print(message, printed, sizeof printed);
    log_format format = atomic_load_explicit(&log->format, memory_order_relaxed);
    if (format == LOG_FORMAT_JOURNAL) {
        used = (size_t)snprintf(line, sizeof line, "<%d>%s", journal_levels[level], printed);
    } else if (format == LOG_FORMAT_JSON) {
        format_time(stamp);
        used = (size_t)snprintf(line, sizeof line, "{\"time\": \"%s\", \"level\": \"%s\", \"message\": \"", stamp,
                                log_level_words[level]);
        used = append_json(line, used, printed);
        line[used++] = '"';
        used = append_members(line, used, sizeof line - 2, fields);
        line[used++] = '}';
    } else {
        format_time(stamp);
        used = (size_t)snprintf(line, sizeof line, "%s %-7s %s", stamp, log_level_words[level], printed);
    }
    line[used++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, used);
    (void)written; /* a log that cannot be written cannot report it */
}

static void write_formatted(logger *log, log_level level, const char *format, va_list arguments) {
    char message[MESSAGE_SIZE];
    vsnprintf(message, sizeof message, format, arguments);
    write_line(log, level, message, NULL);
}

bool log_has_level(const logger *log, log_level level) {
    return level <= atomic_load_explicit(&log->level, memory_order_relaxed);
}

/* Appends " name=value" to a text of MESSAGE_SIZE bytes, as far as it fits. Values with other characters than those of
 * names, numbers, addresses and paths are quoted. */
static void append_field(char *text, const log_field *field) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/[]-";
    size_t used = strlen(text);
    bool is_plain = field->value[0] && field->value[strspn(field->value, plain)] == '\0';
    int length = snprintf(text + used, MESSAGE_SIZE - used, is_plain ? " %s=%s" : " %s=\"", field->name, field->value);
    if (is_plain || length < 0 || used + (size_t)length >= MESSAGE_SIZE) {
        return;
    }
    used += (size_t)length;
    for (const char *c = field->value; *c && used + 4 < MESSAGE_SIZE; c++) {
        if (*c == '"' || *c == '\\') {
            text[used++] = '\\';
        }
        text[used++] = *c;
    }
    text[used++] = '"';
    text[used] = '\0';
}

/* Sends a line with its fields to the journal. Returns false if it does not run. */
static bool send_to_journal(log_level level, const char *text, const log_field *fields) {
    static const char prefix[] = "DYNAMICSD_";
    char printed[PRINTED_SIZE], values[JOURNAL_FIELDS][FIELD_SIZE + JOURNAL_NAME_SIZE];
    char message[PRINTED_SIZE + sizeof "MESSAGE="], priority[sizeof "PRIORITY=0"];
    struct iovec parts[JOURNAL_FIELDS + 2];
    int count = 0;
    if (access("/run/systemd/journal/socket", F_OK) != 0) {
        return false;
    }
    dyn_text_print(text, printed, sizeof printed);
    snprintf(message, sizeof message, "MESSAGE=%s", printed);
    snprintf(priority, sizeof priority, "PRIORITY=%d", journal_levels[level]);
    parts[count++] = (struct iovec){message, strlen(message)};
    parts[count++] = (struct iovec){priority, strlen(priority)};
    for (size_t i = 0; i < JOURNAL_FIELDS && fields[i].name; i++) {
        char *part = values[i];
        int length = snprintf(part, JOURNAL_NAME_SIZE, "%s%s=", prefix, fields[i].name);
        for (char *c = part; *c && *c != '='; c++) {
            *c = (char)toupper((unsigned char)*c);
        }
        if (length > 0 && length < JOURNAL_NAME_SIZE) {
            dyn_text_print(fields[i].value, part + length, FIELD_SIZE);
            parts[count++] = (struct iovec){part, strlen(part)};
        }
    }
    return sd_journal_sendv(parts, count) == 0;
}

void log_fields(logger *log, log_level level, const char *message, const log_field *fields) {
    char text[MESSAGE_SIZE];
    log_format format = atomic_load_explicit(&log->format, memory_order_relaxed);
    if (!log_has_level(log, level)) {
        return;
    }
    snprintf(text, sizeof text, "%s", message);
    for (const log_field *f = fields; format != LOG_FORMAT_JSON && f->name; f++) {
        append_field(text, f);
    }
    if (format != LOG_FORMAT_JOURNAL || !send_to_journal(level, text, fields)) {
        write_line(log, level, text, fields);
    }
}

void log_error(logger *log, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_formatted(log, LOG_LEVEL_ERROR, format, arguments);
    va_end(arguments);
}

void log_warning(logger *log, const char *format, ...) {
    if (!log_has_level(log, LOG_LEVEL_WARNING)) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    write_formatted(log, LOG_LEVEL_WARNING, format, arguments);
    va_end(arguments);
}

void log_info(logger *log, const char *format, ...) {
    if (!log_has_level(log, LOG_LEVEL_INFO)) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    write_formatted(log, LOG_LEVEL_INFO, format, arguments);
    va_end(arguments);
}

void log_debug(logger *log, const char *format, ...) {
    if (!log_has_level(log, LOG_LEVEL_DEBUG)) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    write_formatted(log, LOG_LEVEL_DEBUG, format, arguments);
    va_end(arguments);
}

void log_repeated(logger *log, log_episode *episode, const char *format, ...) {
    if (!log_has_level(log, LOG_LEVEL_WARNING)) {
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
    write_line(log, LOG_LEVEL_WARNING, message, NULL);
}
