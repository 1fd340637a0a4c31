/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command inertia: computes the inertia of bodies from shapes, meshes and numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "csv_writer.h"
#include "exchange.h"
#include "files.h"
#include "message_json.h"
#include "numbers.h"
#include "table.h"

/* ---- parts of the body ------------------------------------------------------------------------------------------- */

/* Shapes by name, with their lengths and the names of the lengths in JSON. */
static const struct {
    const char *name, *numbers;
    size_t count;
    const char *members[3];
    const char *vector; /* member that holds the three lengths as a vector; NULL: separate members */
} SHAPES[] = {
    {"box", "X,Y,Z", 3, {"x", "y", "z"}, "size"},
    {"cylinder", "RADIUS,LENGTH", 2, {"radius", "length", NULL}, NULL},
    {"sphere", "RADIUS", 1, {"radius", NULL, NULL}, NULL},
    {"ellipsoid", "A,B,C", 3, {"x", "y", "z"}, "semi_axes"},
    {"capsule", "RADIUS,LENGTH", 2, {"radius", "length", NULL}, NULL},
};

/* Reads a shape into JSON such as {"box": {"size": {"x": .., "y": .., "z": ..}}}. */
static exit_code read_shape(size_t shape, const char *text, json_t *part) {
    double lengths[3];
    char message[256];
    if (!parse_numbers(text, SHAPES[shape].count, lengths, message, sizeof message)) {
        return complain(EXIT_USAGE, "%s: %s: pass %s in metres", SHAPES[shape].name, message, SHAPES[shape].numbers);
    }
    json_t *members = json_object();
    for (size_t i = 0; i < SHAPES[shape].count; i++) {
        json_object_set_new(members, SHAPES[shape].members[i], json_real(lengths[i]));
    }
    if (SHAPES[shape].vector) {
        members = json_pack("{s:o}", SHAPES[shape].vector, members);
    }
    return json_object_set_new(part, SHAPES[shape].name, members) == 0 ? EXIT_OK : complain_memory();
}

/* Sets the mass or density of a part if its option is present. Reports errors. */
static exit_code read_number(const arguments *args, option from, const char *member, json_t *part) {
    double number;
    if (!args->value[from]) {
        return EXIT_OK;
    }
    if (!parse_number(args->value[from], &number)) {
        return complain(EXIT_USAGE, "--%s %s: pass a number", member, args->value[from]);
    }
    return json_object_set_new(part, member, json_real(number)) == 0 ? EXIT_OK : complain_memory();
}

/* Reads the parts as JSON: those of a file, or one shape. read_mesh adds a mesh's bytes to the message. */
static exit_code read_parts(const arguments *args, json_t **parts) {
    const char *kind = args->positional[0], *text = args->positional[1];
    *parts = NULL;
    if (strcmp(kind, "parts") == 0) {
        *parts = read_json(text);
        if (!*parts) {
            return EXIT_USAGE;
        }
        return json_is_array(*parts) ? EXIT_OK : complain(EXIT_USAGE, "parts: a list of parts is needed: [{..}, ..]");
    }
    json_t *part = json_object();
    *parts = json_pack("[o]", part);
    if (!*parts) {
        return complain_memory();
    }
    exit_code code = EXIT_USAGE;
    size_t shape = 0, count = sizeof SHAPES / sizeof *SHAPES;
    while (shape < count && strcmp(kind, SHAPES[shape].name) != 0) {
        shape++;
    }
    if (shape < count) {
        code = read_shape(shape, text, part);
    } else if (strcmp(kind, "mesh") == 0) {
        code = json_object_set_new(part, "mesh", json_object()) == 0 ? EXIT_OK : complain_memory();
    } else {
        complain(EXIT_USAGE, "there is no shape \"%s\": pass box, cylinder, sphere, ellipsoid, capsule, mesh or parts",
                 kind);
    }
    if (code == EXIT_OK) {
        code = read_number(args, OPTION_MASS, "mass", part);
    }
    return code == EXIT_OK ? read_number(args, OPTION_DENSITY, "density", part) : code;
}

/* Reads the file of a mesh, and --scale, into the only part of the request. Does nothing for other parts. Reports
 * errors. */
static exit_code read_mesh(const arguments *args, Dynamics__V1__ComputeInertiaRequest *body) {
    if (strcmp(args->positional[0], "mesh") != 0) {
        return EXIT_OK;
    }
    char *bytes;
    size_t size;
    Dynamics__V1__Mesh *mesh = body->parts[0]->mesh;
    exit_code code = read_file(args->positional[1], &bytes, &size);
    if (code != EXIT_OK) {
        return code;
    }
    mesh->stl = (ProtobufCBinaryData){.len = size, .data = (uint8_t *)bytes};
    const char *scale = args->value[OPTION_SCALE];
    if (scale) {
        mesh->optional_scale_case = DYNAMICS__V1__MESH__OPTIONAL_SCALE_SCALE;
    }
    if (scale && !parse_number(scale, &mesh->scale)) {
        return complain(EXIT_USAGE, "--scale %s: pass a number, such as 0.001 for millimetres", scale);
    }
    return EXIT_OK;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void add_row(table *lines, const char *name, size_t count, const double *values, const char *unit) {
    table_add_cell(lines, "%s", name);
    for (size_t i = 0; i < count; i++) {
        table_add_number(lines, values[i]);
    }
    for (size_t i = count; i < 6; i++) {
        table_add_cell(lines, "%s", "");
    }
    table_add_cell(lines, "%s", unit);
}

static bool print_body(const Dynamics__V1__ComputeInertiaReply *body) {
    static const char *const headings[] = {"", "xx", "xy", "xz", "yy", "yz", "zz"};
    static const char *const motions[] = {"x", "y", "z", "about x", "about y", "about z"};
    const Dynamics__V1__Inertia *inertia = body->inertia;
    const Dynamics__V1__Vector3 *c = inertia ? inertia->center_of_mass : NULL;
    const double zeros[6] = {0}, center[3] = {c ? c->x : 0, c ? c->y : 0, c ? c->z : 0};
    bool is_extended = inertia && inertia->n_rotational == 6;
    printf("mass            %.9g kg\n", inertia ? inertia->mass : 0);
    if (body->volume > 0) {
        printf("volume          %.9g m^3\n", body->volume);
    }
    printf("centre of mass  %.9g %.9g %.9g m\n\n", center[0], center[1], center[2]);
    table *lines = table_create();
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        table_add_column(lines, headings[i], i == 0 ? TABLE_LEFT : TABLE_RIGHT);
    }
    table_add_column(lines, "", TABLE_LEFT);
    add_row(lines, "about the centre of mass", 6, is_extended ? inertia->rotational : zeros, "kg m^2");
    add_row(lines, "about the point", 6, body->rotational_about, "kg m^2");
    add_row(lines, "principal moments", 3, body->principal_moments, "kg m^2");
    for (size_t i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "principal axis %zu", i + 1);
        add_row(lines, name, 3, body->principal_axes + 3 * i, "");
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    puts("\nspatial inertia about the point, linear part first, kg, kg m, kg m^2");
    lines = table_create();
    for (size_t i = 0; i < 6; i++) {
        table_add_column(lines, motions[i], TABLE_RIGHT);
    }
    for (size_t i = 0; i < 36; i++) {
        table_add_number(lines, body->spatial_inertia[i]);
    }
    printed = table_print(lines, 0) && printed;
    table_free(lines);
    if (body->is_realizable) {
        puts("\nA body can have this inertia.");
    } else {
        printf("\nNo body has this inertia: %s.\n", body->reason);
    }
    return printed;
}

/* Writes lines of CSV, "QUANTITY.COMPONENT,VALUE,UNIT". A quantity with one value has no component. */
static void write_lines(csv_writer *to, const char *quantity, size_t count, const char *const *components,
                        const double *values, const char *unit) {
    for (size_t i = 0; i < count; i++) {
        csv_text(to, "%s%s%s", quantity, count > 1 ? "." : "", count > 1 ? components[i] : "");
        csv_numbers(to, 1, &values[i]);
        csv_text(to, "%s", unit);
        csv_end_line(to);
    }
}

static void write_csv(const Dynamics__V1__ComputeInertiaReply *body) {
    static const char *const axes[] = {"x", "y", "z"}, *const pairs[] = {"xx", "xy", "xz", "yy", "yz", "zz"},
                             *const numbers[] = {"1", "2", "3"};
    const Dynamics__V1__Inertia *inertia = body->inertia;
    const Dynamics__V1__Vector3 *c = inertia ? inertia->center_of_mass : NULL;
    const double zeros[6] = {0}, center[3] = {c ? c->x : 0, c ? c->y : 0, c ? c->z : 0};
    const double mass = inertia ? inertia->mass : 0;
    bool is_extended = inertia && inertia->n_rotational == 6;
    csv_writer to = {0};
    csv_text(&to, "quantity");
    csv_text(&to, "value");
    csv_text(&to, "unit");
    csv_end_line(&to);
    write_lines(&to, "mass", 1, NULL, &mass, "kg");
    if (body->volume > 0) {
        write_lines(&to, "volume", 1, NULL, &body->volume, "m^3");
    }
    write_lines(&to, "center_of_mass", 3, axes, center, "m");
    write_lines(&to, "rotational", 6, pairs, is_extended ? inertia->rotational : zeros, "kg m^2");
    write_lines(&to, "rotational_about", 6, pairs, body->rotational_about, "kg m^2");
    write_lines(&to, "principal_moments", 3, numbers, body->principal_moments, "kg m^2");
    for (size_t i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "principal_axis_%zu", i + 1);
        write_lines(&to, name, 3, axes, body->principal_axes + 3 * i, "1");
    }
    for (size_t i = 0; i < 36; i++) {
        static const char *const units[] = {"kg", "kg m", "kg m^2"};
        csv_text(&to, "spatial_inertia.%zu.%zu", i / 6 + 1, i % 6 + 1);
        csv_numbers(&to, 1, &body->spatial_inertia[i]);
        csv_text(&to, "%s", units[i / 18 + i % 6 / 3]);
        csv_end_line(&to);
    }
}

/* Returns true if the arrays of the reply have their full length. */
static bool is_complete(const Dynamics__V1__ComputeInertiaReply *body) {
    return body->n_rotational_about == 6 && body->n_principal_moments == 3 && body->n_principal_axes == 9 &&
           body->n_spatial_inertia == 36;
}

static exit_code send(const arguments *args, dyn_client *client, Dynamics__V1__ComputeInertiaRequest *body,
                      double timeout) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__Reply *reply;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_COMPUTE_INERTIA;
    request.compute_inertia = body;
    exit_code code = exchange(client, &request, timeout, NULL, &reply);
    if (code != EXIT_OK) {
        return code;
    }
    if (args->value[OPTION_JSON]) {
        json_writer writer = {.stream = stdout};
        message_to_json(&writer, MESSAGE_PLAIN, &reply->compute_inertia->base);
        emit_finish(&writer);
    } else if (!is_complete(reply->compute_inertia)) {
        code = complain(EXIT_FAILED, "the reply lacks numbers");
    } else if (args->value[OPTION_CSV]) {
        write_csv(reply->compute_inertia);
    } else if (!print_body(reply->compute_inertia)) {
        code = complain_memory();
    }
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return code;
}

/* Sets the point of --about in the request if the option is present. Reports errors. */
static exit_code read_point(const arguments *args, json_t *request) {
    double point[3];
    char message[256];
    const char *text = args->value[OPTION_ABOUT];
    if (!text) {
        return EXIT_OK;
    }
    if (!parse_numbers(text, 3, point, message, sizeof message)) {
        return complain(EXIT_USAGE, "--about %s: %s: pass X,Y,Z in metres", text, message);
    }
    json_t *vector = json_pack("{s:f, s:f, s:f}", "x", point[0], "y", point[1], "z", point[2]);
    return json_object_set_new(request, "point", vector) == 0 ? EXIT_OK : complain_memory();
}

exit_code run_inertia(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    json_t *parts, *request = NULL;
    double timeout;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    code = read_parts(args, &parts);
    if (code == EXIT_OK) {
        request = json_pack("{s:O}", "parts", parts);
        code = request ? read_point(args, request) : complain_memory();
    }
    ProtobufCMessage *message =
        code == EXIT_OK ? read_message_json(&dynamics__v1__compute_inertia_request__descriptor, request, "") : NULL;
    json_decref(request);
    json_decref(parts);
    if (!message) {
        return EXIT_USAGE;
    }
    code = read_mesh(args, (Dynamics__V1__ComputeInertiaRequest *)message);
    if (code == EXIT_OK) {
        code = send(args, client, (Dynamics__V1__ComputeInertiaRequest *)message, timeout);
    }
    protobuf_c_message_free_unpacked(message, NULL);
    return code;
}
