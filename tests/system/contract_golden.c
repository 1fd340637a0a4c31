/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that the wire contract does not change: bytes that were written once still mean the same.
 * tests/data/contract.golden contains one filled instance of each message, and the number of each field and of each
 * value of an enumeration. Fields and values may be added; those that were there keep their name, number and type.
 *
 * The roots are the messages that are sent or stored: requests, replies, events, pushed points, and files of the
 * daemon.
 *
 * The value of a field follows from its name, so that the bytes of renamed or exchanged fields are recognized. After
 * adding to the contract run system_contract_golden --write, which appends missing lines to the file and changes none.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/v1/envelope.pb-c.h"
#include "dynamics/v1/event.pb-c.h"
#include "dynamics/v1/fast_channel.pb-c.h"
#include "dynamics/v1/recording.pb-c.h"

enum { MAX_TYPES = 512, REPEATED = 2, LINE_SIZE = 65536 };

typedef struct contract {
    const ProtobufCMessageDescriptor *messages[MAX_TYPES];
    size_t message_count;
    const ProtobufCEnumDescriptor *enums[MAX_TYPES];
    size_t enum_count;
} contract;

/* Ends the program with a message unless the condition holds. Unlike the assertions of Check it works outside of
 * tests. */
static void require(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "contract_golden: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static void add_enum(contract *c, const ProtobufCEnumDescriptor *type) {
    for (size_t i = 0; i < c->enum_count; i++) {
        if (c->enums[i] == type) {
            return;
        }
    }
    require(c->enum_count < MAX_TYPES, "too many enumerations");
    c->enums[c->enum_count++] = type;
}

/* Adds a message type and all types that it refers to. */
static void add_message(contract *c, const ProtobufCMessageDescriptor *type) {
    for (size_t i = 0; i < c->message_count; i++) {
        if (c->messages[i] == type) {
            return;
        }
    }
    require(c->message_count < MAX_TYPES, "too many messages");
    c->messages[c->message_count++] = type;
    for (unsigned i = 0; i < type->n_fields; i++) {
        if (type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE) {
            add_message(c, type->fields[i].descriptor);
        } else if (type->fields[i].type == PROTOBUF_C_TYPE_ENUM) {
            add_enum(c, type->fields[i].descriptor);
        }
    }
}

/* Messages that are sent or stored as a whole. */
static const ProtobufCMessageDescriptor *const roots[] = {
    &dynamics__v1__request__descriptor,
    &dynamics__v1__reply__descriptor,
    &dynamics__v1__event__descriptor,
    &dynamics__v1__stream_chunk__descriptor,
    &dynamics__v1__recording_header__descriptor,
    &dynamics__v1__recording_entry__descriptor,
    &dynamics__v1__state_record__descriptor,
    &dynamics__v1__kept_model__descriptor,
    &dynamics__v1__open_fast_channel_request__descriptor,
    &dynamics__v1__open_fast_channel_reply__descriptor,
};

static void collect(contract *c) {
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        add_message(c, roots[i]);
    }
}

/* ---- values that follow from names ------------------------------------------------------------------------------- */

static uint32_t number_of(const char *name) {
    uint32_t sum = 0;
    for (; *name; name++) {
        sum = (sum * 31 + (unsigned char)*name) % 9973;
    }
    return sum + 1;
}

static ProtobufCMessage *fill_message(const ProtobufCMessageDescriptor *type, const char *oneof_member);

/* Returns the size of one value of a field in memory. */
static size_t value_size(const ProtobufCFieldDescriptor *field) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return 8;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_ENUM:
    case PROTOBUF_C_TYPE_BOOL:
        return 4;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    default:
        require(false, "a field has a type that this test does not know");
        return 0;
    }
}

static void fill_value(const ProtobufCFieldDescriptor *field, void *place, unsigned index) {
    uint32_t number = number_of(field->name) + index;
    double real = number / 8.0;
    uint64_t wide = (uint64_t)number << 32;
    char *name;
    ProtobufCMessage *message;
    ProtobufCBinaryData bytes;
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        memcpy(place, &real, sizeof real);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        memcpy(place, &wide, sizeof wide);
        break;
    case PROTOBUF_C_TYPE_STRING:
        name = strdup(field->name);
        memcpy(place, &name, sizeof name);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        bytes = (ProtobufCBinaryData){.len = strlen(field->name), .data = (uint8_t *)strdup(field->name)};
        memcpy(place, &bytes, sizeof bytes);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        message = fill_message(field->descriptor, NULL);
        memcpy(place, &message, sizeof message);
        break;
    default: /* booleans and enumerations: all have a value 1 */
        number = field->type == PROTOBUF_C_TYPE_UINT32 ? number : 1;
        memcpy(place, &number, sizeof number);
    }
}

/* Returns a message with all fields filled. Of a oneof the member of that name is filled, or the first one if the name
 * is NULL. */
static ProtobufCMessage *fill_message(const ProtobufCMessageDescriptor *type, const char *oneof_member) {
    ProtobufCMessage *message = calloc(1, type->sizeof_message);
    bool has_member = false;
    require(message != NULL, "out of memory");
    type->message_init(message);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        char *place = (char *)message + field->offset, *quantifier = (char *)message + field->quantifier_offset;
        bool is_oneof = field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF;
        if (is_oneof && (has_member || (oneof_member && strcmp(field->name, oneof_member) != 0))) {
            continue;
        }
        has_member |= is_oneof;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            size_t size = value_size(field), count = REPEATED;
            char *values = calloc(count, size);
            for (unsigned k = 0; k < count; k++) {
                fill_value(field, values + k * size, k);
            }
            memcpy(place, &values, sizeof values);
            memcpy(quantifier, &count, sizeof count);
        } else {
            fill_value(field, place, 0);
            if (is_oneof) {
                memcpy(quantifier, &field->id, sizeof field->id);
            }
        }
    }
    return message;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void write_message(FILE *out, const ProtobufCMessageDescriptor *type, const char *oneof_member) {
    ProtobufCMessage *message = fill_message(type, oneof_member);
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(size + 1);
    protobuf_c_message_pack(message, bytes);
    fprintf(out, "message %s %s ", type->name, oneof_member ? oneof_member : "-");
    for (size_t i = 0; i < size; i++) {
        fprintf(out, "%02x", bytes[i]);
    }
    fputc('\n', out);
    free(bytes);
    protobuf_c_message_free_unpacked(message, NULL);
}

static void write_contract(FILE *out) {
    static contract c;
    collect(&c);
    for (size_t i = 0; i < c.message_count; i++) {
        bool has_oneof = false;
        for (unsigned k = 0; k < c.messages[i]->n_fields; k++) {
            const ProtobufCFieldDescriptor *field = &c.messages[i]->fields[k];
            fprintf(out, "field %s %s %u\n", c.messages[i]->name, field->name, field->id);
            if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
                has_oneof = true;
                write_message(out, c.messages[i], field->name);
            }
        }
        if (!has_oneof) {
            write_message(out, c.messages[i], NULL);
        }
    }
    for (size_t i = 0; i < c.enum_count; i++) {
        for (unsigned k = 0; k < c.enums[i]->n_values; k++) {
            fprintf(out, "enum %s %s %d\n", c.enums[i]->name, c.enums[i]->values[k].name, c.enums[i]->values[k].value);
        }
    }
}

static const char GOLDEN[] = DYNAMICS_TEST_DATA "/contract.golden";

/* Returns the whole file, with a newline before its first line; the caller frees it. */
static char *read_golden(void) {
    FILE *file = fopen(GOLDEN, "r");
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    require(file && out != NULL, "tests/data/contract.golden cannot be read");
    fputc('\n', out);
    for (int c; (c = fgetc(file)) != EOF;) {
        fputc(c, out);
    }
    fclose(file);
    fclose(out);
    return text;
}

/* Returns the lines of the current contract that the file lacks, one after the other; the caller frees them. */
static char *missing_lines(void) {
    char *golden = read_golden(), *today = NULL, *missing = NULL;
    size_t size;
    FILE *out = open_memstream(&today, &size);
    require(out != NULL, "out of memory");
    fputc('\n', out);
    write_contract(out);
    fclose(out);
    out = open_memstream(&missing, &size);
    require(out != NULL, "out of memory");
    /* Each line is searched with the newlines before and after it. */
    for (char *line = today, *end; (end = strchr(line + 1, '\n')); line = end) {
        char behind = end[1];
        end[1] = '\0';
        fputs(!strstr(golden, line) ? line + 1 : "", out);
        end[1] = behind;
    }
    fclose(out);
    free(golden);
    free(today);
    return missing;
}

static void append_missing(void) {
    char *missing = missing_lines();
    FILE *file = fopen(GOLDEN, "a");
    require(file && fputs(missing, file) >= 0 && fclose(file) == 0, "the file cannot be written");
    free(missing);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Returns the value of a digit that the contract is written with. */
static unsigned hex_digit(char digit) {
    static const char digits[] = "0123456789abcdef";
    const char *found = strchr(digits, digit);
    /* Check writes a record to a file at each assertion: one for each digit would take most of the time. */
    if (digit == '\0' || !found) {
        ck_abort_msg("'%c' is no digit", digit);
    }
    return (unsigned)(found - digits);
}

static size_t parse_hex(const char *hex, uint8_t *bytes) {
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(16 * hex_digit(hex[2 * i]) + hex_digit(hex[2 * i + 1]));
    }
    return size;
}

/* Checks that the fields of a message that are set have the values that follow from their names. */
static void check_message(const ProtobufCMessage *message);

static void check_value(const ProtobufCFieldDescriptor *field, const char *message, const void *place, unsigned index) {
    union {
        double real;
        uint64_t wide;
        uint32_t number;
        char *name;
        ProtobufCMessage *message;
        ProtobufCBinaryData bytes;
    } expected = {.wide = 0}, found = {.wide = 0};
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        memcpy(&found.message, place, sizeof found.message);
        if (found.message) {
            check_message(found.message);
        }
        return;
    }
    fill_value(field, &expected, index);
    memcpy(&found, place, value_size(field));
    if (field->type == PROTOBUF_C_TYPE_BYTES) {
        ck_assert_msg(found.bytes.len == 0 || (found.bytes.len == expected.bytes.len &&
                                               memcmp(found.bytes.data, expected.bytes.data, found.bytes.len) == 0),
                      "%s.%s holds other bytes", message, field->name);
        free(expected.bytes.data);
        return;
    }
    if (field->type == PROTOBUF_C_TYPE_STRING) {
        ck_assert_msg(strcmp(found.name, expected.name) == 0 || found.name[0] == '\0', "%s.%s holds \"%s\"", message,
                      field->name, found.name);
        free(expected.name);
        return;
    }
    if (found.wide != expected.wide && found.wide != 0) {
        ck_abort_msg("%s.%s holds another field's value", message, field->name);
    }
}

static void check_message(const ProtobufCMessage *message) {
    const ProtobufCMessageDescriptor *type = message->descriptor;
    ck_assert_msg(message->n_unknown_fields == 0, "%s: field %u is no longer known", type->name,
                  message->n_unknown_fields ? message->unknown_fields[0].tag : 0);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        const char *place = (const char *)message + field->offset;
        const char *quantifier = (const char *)message + field->quantifier_offset;
        size_t count = 1;
        uint32_t member = field->id;
        if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
            memcpy(&member, quantifier, sizeof member);
        }
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            memcpy(&count, quantifier, sizeof count);
            memcpy(&place, (const void *)place, sizeof place);
        }
        for (unsigned k = 0; member == field->id && k < count; k++) {
            check_value(field, type->name, place + k * value_size(field), k);
        }
    }
}

/* Checks that old bytes decode to their old meaning, and that the message encodes to the same bytes. */
static void check_bytes(const ProtobufCMessageDescriptor *type, const char *oneof_member, const char *hex) {
    static uint8_t bytes[LINE_SIZE], again[LINE_SIZE];
    size_t size = parse_hex(hex, bytes);
    ProtobufCMessage *message = protobuf_c_message_unpack(type, NULL, size, bytes);
    ck_assert_msg(message != NULL, "%s (%s): the bytes cannot be decoded any more", type->name, oneof_member);
    check_message(message);
    ck_assert_msg(protobuf_c_message_get_packed_size(message) == size, "%s has another size", type->name);
    protobuf_c_message_pack(message, again);
    ck_assert_msg(memcmp(bytes, again, size) == 0, "%s is written in another way", type->name);
    protobuf_c_message_free_unpacked(message, NULL);
}

static const ProtobufCMessageDescriptor *find_message(const contract *c, const char *name) {
    for (size_t i = 0; i < c->message_count; i++) {
        if (strcmp(c->messages[i]->name, name) == 0) {
            return c->messages[i];
        }
    }
    ck_abort_msg("message %s is gone", name);
    return NULL;
}

static void check_field(const contract *c, const char *name, const char *field_name, int number) {
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(find_message(c, name), field_name);
    ck_assert_msg(field != NULL, "%s.%s is gone", name, field_name);
    ck_assert_msg(field->id == (uint32_t)number, "%s.%s was %d and is %u", name, field_name, number, field->id);
}

static void check_enum_value(const contract *c, const char *name, const char *value_name, int number) {
    for (size_t i = 0; i < c->enum_count; i++) {
        if (strcmp(c->enums[i]->name, name) == 0) {
            const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value_by_name(c->enums[i], value_name);
            ck_assert_msg(value != NULL, "%s.%s is gone", name, value_name);
            ck_assert_msg(value->value == number, "%s.%s was %d and is %d", name, value_name, number, value->value);
            return;
        }
    }
    ck_abort_msg("enumeration %s is gone", name);
}

START_TEST(old_bytes_still_mean_the_same) {
    static contract c;
    static char line[LINE_SIZE], hex[LINE_SIZE];
    unsigned messages = 0;
    collect(&c);
    FILE *file = fopen(GOLDEN, "r");
    ck_assert_msg(file != NULL, "tests/data/contract.golden is missing");
    while (fgets(line, sizeof line, file)) {
        char name[128], member[128];
        int number;
        hex[0] = '\0';
        if (sscanf(line, "message %127s %127s %65535s", name, member, hex) >= 2) {
            check_bytes(find_message(&c, name), member, hex);
            messages++;
        } else if (sscanf(line, "field %127s %127s %d", name, member, &number) == 3) {
            check_field(&c, name, member, number);
        } else if (sscanf(line, "enum %127s %127s %d", name, member, &number) == 3) {
            check_enum_value(&c, name, member, number);
        } else {
            ck_abort_msg("a line of contract.golden is no line of it: %.60s", line);
        }
    }
    fclose(file);
    ck_assert_uint_ge(messages, 1);
}
END_TEST

static bool is_member(const contract *c, const ProtobufCMessageDescriptor *type) {
    for (size_t i = 0; i < c->message_count; i++) {
        if (c->messages[i] == type) {
            return true;
        }
    }
    return false;
}

/* Checks that the contract covers pushed points and stored files, since later releases read them too. */
START_TEST(points_and_files_are_part_of_the_contract) {
    static contract c;
    collect(&c);
    ck_assert(is_member(&c, &dynamics__v1__stream_chunk__descriptor));
    ck_assert(is_member(&c, &dynamics__v1__recorded_points__descriptor));
    ck_assert(is_member(&c, &dynamics__v1__recording_end__descriptor));
    ck_assert(is_member(&c, &dynamics__v1__simulation_snapshot__descriptor));
    ck_assert(is_member(&c, &dynamics__v1__simulation_owner__descriptor));
    ck_assert(is_member(&c, &dynamics__v1__kept_model__descriptor));
}
END_TEST

START_TEST(all_of_the_contract_is_guarded) {
    char *missing = missing_lines();
    ck_assert_msg(missing[0] == '\0', "contract.golden lacks these lines; see its test for how to add them:\n%.1000s",
                  missing);
    free(missing);
}
END_TEST

/* Returns the depth of nesting of a message type, which is below `above` others. protobuf-c decodes nested messages by
 * recursion without a bound, so the schema must have one. */
static unsigned depth_of(const ProtobufCMessageDescriptor *type, unsigned above) {
    unsigned deepest = 0;
    ck_assert_msg(above < 16, "%s contains itself, or is too deep", type->name);
    for (unsigned i = 0; i < type->n_fields; i++) {
        if (type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE) {
            unsigned depth = depth_of(type->fields[i].descriptor, above + 1);
            deepest = depth > deepest ? depth : deepest;
        }
    }
    return deepest + 1;
}

START_TEST(no_message_contains_itself) {
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        ck_assert_uint_ge(depth_of(roots[i], 0), roots[i] == &dynamics__v1__stream_chunk__descriptor ? 1 : 2);
    }
}
END_TEST

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), most = strlen(end);
    return length >= most && strcmp(text + length - most, end) == 0;
}

/* Checks that 0, to which an absent field decodes, is an unspecified or unknown value of each enumeration in replies
 * and events. Code alone is exempt: 0 is CODE_OK, as in gRPC. */
START_TEST(absent_state_is_never_mistaken_for_an_observed_one) {
    static contract requested, answered;
    add_message(&requested, &dynamics__v1__request__descriptor);
    add_message(&answered, &dynamics__v1__reply__descriptor);
    add_message(&answered, &dynamics__v1__event__descriptor);
    size_t requested_count = requested.enum_count;
    for (size_t i = 0; i < answered.enum_count; i++) {
        const ProtobufCEnumValue *zero = protobuf_c_enum_descriptor_get_value(answered.enums[i], 0);
        add_enum(&requested, answered.enums[i]);
        bool is_choice = requested.enum_count == requested_count;
        requested.enum_count = requested_count;
        if (!is_choice && answered.enums[i] != &dynamics__v1__code__descriptor) {
            ck_assert_msg(zero && (ends_with(zero->name, "_UNSPECIFIED") || ends_with(zero->name, "_UNKNOWN")),
                          "%s: 0 is %s", answered.enums[i]->name, zero ? zero->name : "no value");
        }
    }
}
END_TEST

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--write") == 0) {
        append_missing();
        return EXIT_SUCCESS;
    }
    Suite *suite = suite_create("contract");
    TCase *tests = tcase_create("golden");
    tcase_set_timeout(tests, 15); /* a quarter of a second of work, ten times that with a sanitizer on a busy machine */
    tcase_add_test(tests, old_bytes_still_mean_the_same);
    tcase_add_test(tests, points_and_files_are_part_of_the_contract);
    tcase_add_test(tests, all_of_the_contract_is_guarded);
    tcase_add_test(tests, no_message_contains_itself);
    tcase_add_test(tests, absent_state_is_never_mistaken_for_an_observed_one);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
