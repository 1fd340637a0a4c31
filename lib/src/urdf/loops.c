/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the closed loops of a robot from the YAML text beside its URDF file.
 *
 * The text is the part of YAML that such files use: keys at the beginning of a line, and lists of names or of pairs of
 * names, in brackets or in lines.
 */
#include <dynamics/closed_loops.h>
#include <dynamics/constrained_inverse_dynamics.h>

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../model/description.h"
#include "../model/error.h"
#include "../model/load_report.h"

/* Entry of a list: a name, or a pair of names. */
typedef struct entry {
    char names[2][DYN_MAX_NAME + 1];
    int count, line;
} entry;

typedef struct entry_list {
    int count, capacity, line;
    entry *entries;
} entry_list;

/* Keys that have a meaning. */
enum { CLOSED_LOOP, TYPE, MOTORS, JOINT_NAME, JOINT_TYPE, KEYS };

static const char *const keys[KEYS] = {"closed_loop", "type", "name_mot", "joint_name", "joint_type"};

/* Text that is left, and what was read. */
typedef struct yaml {
    const char *at, *end;
    int line;
    dyn_report *report;
    dyn_error *error;
    entry_list lists[KEYS];
} yaml;

static dyn_status fail(const yaml *y, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

static dyn_status fail(const yaml *y, int line, const char *format, ...) {
    char place[32];
    const dyn_element at = {.index = -1, .line = line};
    va_list list;
    snprintf(place, sizeof place, "loops:%d", line);
    va_start(list, format);
    dyn_error_set_list(y->error, DYN_INVALID_ARGUMENT, place, format, list);
    va_end(list);
    return dyn_error_of_element(y->error, DYN_INVALID_ARGUMENT, &at);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static bool has_more(const yaml *y) {
    return y->at < y->end;
}

static bool is_at(const yaml *y, char c) {
    return y->at < y->end && *y->at == c;
}

/* Skips spaces and tabs. Returns their number. */
static int skip_blanks(yaml *y) {
    const char *from = y->at;
    while (is_at(y, ' ') || is_at(y, '\t') || is_at(y, '\r')) {
        y->at++;
    }
    return (int)(y->at - from);
}

static void skip_line(yaml *y) {
    while (has_more(y) && *y->at != '\n') {
        y->at++;
    }
    if (has_more(y)) {
        y->at++;
        y->line++;
    }
}

/* Skips blanks, ends of lines and comments. */
static void skip_space(yaml *y) {
    for (skip_blanks(y); is_at(y, '\n') || is_at(y, '#'); skip_blanks(y)) {
        skip_line(y);
    }
}

/* Returns whether the rest of the line has nothing but blanks and a comment. Skips it then. */
static bool ends_line(yaml *y) {
    skip_blanks(y);
    if (has_more(y) && !is_at(y, '\n') && !is_at(y, '#')) {
        return false;
    }
    skip_line(y);
    return true;
}

/* Reads a name, in quotes or up to one of the characters `ends`, and appends it to the entry. */
static dyn_status read_name(yaml *y, const char *ends, entry *to) {
    char quote = is_at(y, '\'') || is_at(y, '"') ? *y->at++ : '\0';
    const char *from = y->at;
    while (has_more(y) && *y->at != '\n' && (quote ? *y->at != quote : !strchr(ends, *y->at))) {
        y->at++;
    }
    size_t length = (size_t)(y->at - from);
    while (!quote && length > 0 && isspace((unsigned char)from[length - 1])) {
        length--;
    }
    if (quote && !is_at(y, quote)) {
        return fail(y, y->line, "a name has no closing %c; add it", quote);
    }
    y->at += quote != '\0';
    if (length == 0 || length > DYN_MAX_NAME || to->count == 2) {
        return fail(y, y->line,
                    to->count == 2 ? "an entry has more than two names; write pairs"
                    : length == 0  ? "a name is missing; write one, or remove the comma"
                                   : "a name is too long; shorten it");
    }
    memcpy(to->names[to->count], from, length);
    to->names[to->count++][length] = '\0';
    return DYN_OK;
}

static dyn_status append(const yaml *y, entry_list *list, const entry *added) {
    if (list->count == DYN_MAX_LINKS ||
        !builder_grow((void **)&list->entries, list->count, &list->capacity, sizeof *list->entries)) {
        return dyn_error_memory(y->error);
    }
    list->entries[list->count++] = *added;
    return DYN_OK;
}

/* Ends a member of a list in brackets: skips the comma after it, if another follows. */
static dyn_status end_member(yaml *y) {
    skip_space(y);
    if (!is_at(y, ',') && !is_at(y, ']')) {
        return fail(y, y->line, "a list has no closing bracket; add it");
    }
    y->at += is_at(y, ',');
    return DYN_OK;
}

/* Reads the names of a list in brackets into one entry; the text is after its opening bracket. */
static dyn_status read_pair(yaml *y, entry *to) {
    for (skip_space(y); !is_at(y, ']'); skip_space(y)) {
        dyn_status status = read_name(y, ",]#", to);
        status = status == DYN_OK ? end_member(y) : status;
        if (status != DYN_OK) {
            return status;
        }
    }
    y->at++;
    return DYN_OK;
}

/* Reads an element of a list: a name up to one of `ends`, or a pair in brackets. */
static dyn_status read_entry(yaml *y, const char *ends, entry *to) {
    *to = (entry){.line = y->line};
    if (!is_at(y, '[')) {
        return read_name(y, ends, to);
    }
    y->at++;
    return read_pair(y, to);
}

/* Reads a list in brackets; the text is at its opening bracket. */
static dyn_status read_flow(yaml *y, entry_list *list) {
    y->at++;
    for (skip_space(y); !is_at(y, ']'); skip_space(y)) {
        entry added;
        dyn_status status = read_entry(y, ",]#", &added);
        status = status == DYN_OK ? append(y, list, &added) : status;
        status = status == DYN_OK ? end_member(y) : status;
        if (status != DYN_OK) {
            return status;
        }
    }
    y->at++;
    return ends_line(y) ? DYN_OK : fail(y, y->line, "there is text after a list; write one key in each line");
}

/* Reads a line of a list, after its "-". A second "-" begins a pair. */
static dyn_status read_item(yaml *y, entry_list *list) {
    entry added;
    skip_blanks(y);
    if (is_at(y, '-')) {
        y->at++;
        skip_blanks(y);
    }
    dyn_status status = read_entry(y, "#", &added);
    status = status == DYN_OK ? append(y, list, &added) : status;
    if (status == DYN_OK && !ends_line(y)) {
        return fail(y, y->line, "there is text after a name; write each in a line");
    }
    return status;
}

/* Reads a list in lines, from the line after its key on. A line with a larger indent continues a pair. */
static dyn_status read_block(yaml *y, entry_list *list) {
    int indent = -1;
    dyn_status status = DYN_OK;
    while (status == DYN_OK && has_more(y)) {
        const char *line = y->at;
        int own = skip_blanks(y);
        if (ends_line(y)) {
            continue;
        }
        if (!is_at(y, '-') || (indent >= 0 && own < indent)) {
            y->at = line;
            break;
        }
        y->at++;
        if (own > indent && indent >= 0) {
            skip_blanks(y);
            status = read_name(y, "#", &list->entries[list->count - 1]);
            if (status == DYN_OK && !ends_line(y)) {
                return fail(y, y->line, "there is text after a name; write each in a line");
            }
        } else {
            indent = own;
            status = read_item(y, list);
        }
    }
    return status;
}

/* Skips the value of an unknown key: the rest of its line, and lines that begin with a blank, a bracket or "-". */
static void skip_value(yaml *y) {
    do {
        skip_line(y);
    } while (has_more(y) && strchr(" \t-]", *y->at));
}

/* Reads a key and its value. */
static dyn_status read_key(yaml *y) {
    const char *from = y->at;
    while (has_more(y) && *y->at != ':' && *y->at != '\n') {
        y->at++;
    }
    int length = (int)(y->at - from), key = 0;
    if (!is_at(y, ':') || length == 0) {
        return fail(y, y->line,
                    "the line \"%.*s\" has no key; begin it with one, such as closed_loop:", length < 40 ? length : 40,
                    from);
    }
    y->at++;
    while (key < KEYS && (strncmp(from, keys[key], (size_t)length) != 0 || keys[key][length] != '\0')) {
        key++;
    }
    if (key == KEYS) {
        report_add(y->report, DYN_SEVERITY_WARNING, y->line, "loops", "the key %.*s is ignored: it has no meaning here",
                   length < 40 ? length : 40, from);
        skip_value(y);
        return DYN_OK;
    }
    entry_list *list = &y->lists[key];
    if (list->line > 0) {
        return fail(y, y->line, "the key %s is in line %d already; remove one", keys[key], list->line);
    }
    list->line = y->line;
    skip_blanks(y);
    if (is_at(y, '[')) {
        return read_flow(y, list);
    }
    return ends_line(y) ? read_block(y, list) : read_item(y, list);
}

static dyn_status read_text(yaml *y) {
    dyn_status status = DYN_OK;
    for (skip_space(y); status == DYN_OK && has_more(y); skip_space(y)) {
        if (y->end - y->at >= 3 && memcmp(y->at, "---", 3) == 0) {
            skip_line(y);
        } else {
            status = read_key(y);
        }
    }
    return status;
}

/* ---- Meaning ----------------------------------------------------------------------------------------------------- */

/* Checks that an entry has a number of names. */
static dyn_status check_names(const yaml *y, const entry *e, int count) {
    return e->count == count ? DYN_OK : fail(y, e->line, "an entry has %d names; write %d", e->count, count);
}

/* Checks that two lists have entries for each other. */
static dyn_status check_lengths(const yaml *y, int a, int b) {
    const entry_list *first = &y->lists[a], *second = &y->lists[b];
    return first->count == second->count ? DYN_OK
                                         : fail(y, first->line > second->line ? first->line : second->line,
                                                "%s has %d entries and %s has %d; write one for each other", keys[a],
                                                first->count, keys[b], second->count);
}

static dyn_status change_joint(const yaml *y, dyn_builder *builder, const entry *name, const entry *type) {
    dyn_status status = check_names(y, name, 1);
    status = status == DYN_OK ? check_names(y, type, 1) : status;
    if (status != DYN_OK) {
        return status;
    }
    int j = name_index_find(&builder->joint_names, name->names[0]), found = 0;
    if (j < 0) {
        return fail(y, name->line, "there is no joint %s; correct the name", name->names[0]);
    }
    while (found < DYN_JOINT_TYPE_COUNT &&
           strcasecmp(type->names[0], dyn_joint_type_traits((dyn_joint_type)found)->name) != 0) {
        found++;
    }
    if (found == DYN_JOINT_TYPE_COUNT || dyn_joint_type_traits((dyn_joint_type)found)->axes > 1) {
        return fail(y, type->line, "the type %s of joint %s is unknown; use fixed, revolute, prismatic or spherical",
                    type->names[0], name->names[0]);
    }
    dyn_joint_description *joint = &builder->joints[j];
    const dyn_joint_traits *traits = dyn_joint_type_traits((dyn_joint_type)found);
    joint->type = (dyn_joint_type)found;
    if (!traits->has_range) {
        joint->limits.lower = joint->limits.upper = 0;
    }
    if (traits->axes == 0) {
        memset(joint->axis, 0, sizeof joint->axis);
    }
    return DYN_OK;
}

/* Returns the link whose frame has a name: the link itself, or the child link of a joint; NULL if there is none. */
static const char *find_frame(const dyn_builder *builder, const char *name) {
    int j = name_index_find(&builder->joint_names, name);
    return name_index_find(&builder->link_names, name) >= 0 ? name : j >= 0 ? builder->joints[j].child_link : NULL;
}

static dyn_status add_loop(const yaml *y, dyn_builder *builder, int i) {
    const entry *pair = &y->lists[CLOSED_LOOP].entries[i], *type = &y->lists[TYPE].entries[i];
    char name[32];
    dyn_error bad;
    dyn_status status = check_names(y, pair, 2);
    status = status == DYN_OK ? check_names(y, type, 1) : status;
    if (status != DYN_OK) {
        return status;
    }
    const char *links[2];
    for (int side = 0; side < 2; side++) {
        links[side] = find_frame(builder, pair->names[side]);
        if (!links[side]) {
            return fail(y, pair->line, "there is no link and no joint %s; correct the name", pair->names[side]);
        }
    }
    bool is_fixed = strcasecmp(type->names[0], "6d") == 0;
    if (!is_fixed && strcasecmp(type->names[0], "3d") != 0) {
        return fail(y, type->line, "the type %s of a loop is unknown; use 6d or 3d", type->names[0]);
    }
    snprintf(name, sizeof name, "closed_loop_%d", i + 1);
    static const dyn_pose identity = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const dyn_constraint_description loop = {.name = name,
                                             .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                             .type = is_fixed ? DYN_JOINT_TYPE_FIXED : DYN_JOINT_TYPE_SPHERICAL,
                                             .predecessor = {links[0], identity},
                                             .successor = {links[1], identity}};
    status = dyn_builder_add_constraint(builder, &loop, &bad);
    return status == DYN_OK ? DYN_OK : fail(y, pair->line, "%s", bad.message);
}

/* Collects the joints that name_mot lists. */
static dyn_status list_motors(const yaml *y, const dyn_builder *builder, name_index *listed) {
    const entry_list *motors = &y->lists[MOTORS];
    dyn_status status = DYN_OK;
    for (int i = 0; status == DYN_OK && i < motors->count; i++) {
        const entry *motor = &motors->entries[i];
        const char *name = motor->names[0];
        status = check_names(y, motor, 1);
        if (status == DYN_OK && name_index_find(&builder->joint_names, name) < 0) {
            status = fail(y, motor->line, "there is no joint %s; correct the name", name);
        }
        if (status == DYN_OK && name_index_find(listed, name) < 0 && !name_index_add(listed, name, i)) {
            status = dyn_error_memory(y->error);
        }
    }
    return status;
}

/* Makes all joints passive that name_mot does not list. */
static dyn_status set_motors(const yaml *y, dyn_builder *builder) {
    name_index listed = {0};
    dyn_status status = list_motors(y, builder, &listed);
    for (int j = 0; status == DYN_OK && j < builder->joint_count; j++) {
        const char *name = builder->joints[j].name;
        if (builder->joints[j].type != DYN_JOINT_TYPE_FIXED && name_index_find(&listed, name) < 0) {
            status = dyn_builder_set_passive(builder, name, y->error);
        }
    }
    name_index_clear(&listed);
    return status;
}

static dyn_status apply(const yaml *y, dyn_builder *builder) {
    dyn_status status = check_lengths(y, CLOSED_LOOP, TYPE);
    status = status == DYN_OK ? check_lengths(y, JOINT_NAME, JOINT_TYPE) : status;
    for (int i = 0; status == DYN_OK && i < y->lists[JOINT_NAME].count; i++) {
        status = change_joint(y, builder, &y->lists[JOINT_NAME].entries[i], &y->lists[JOINT_TYPE].entries[i]);
    }
    for (int i = 0; status == DYN_OK && i < y->lists[CLOSED_LOOP].count; i++) {
        status = add_loop(y, builder, i);
    }
    return status == DYN_OK && y->lists[MOTORS].line > 0 ? set_motors(y, builder) : status;
}

dyn_status dyn_builder_read_loops(dyn_builder *builder, const char *text, size_t length, dyn_report *report,
                                  dyn_error *error) {
    yaml y = {.at = text, .end = text + length, .line = 1, .report = report, .error = error};
    if (length > DYN_LOOPS_MAX_BYTES) {
        return dyn_error_set(error, DYN_RESOURCE_EXHAUSTED, "loops", "the text has %zu bytes; at most %d are read",
                             length, DYN_LOOPS_MAX_BYTES);
    }
    dyn_status status = read_text(&y);
    status = status == DYN_OK ? apply(&y, builder) : status;
    for (int key = 0; key < KEYS; key++) {
        free(y.lists[key].entries);
    }
    return status;
}
