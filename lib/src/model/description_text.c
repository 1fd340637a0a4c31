/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Description of a model as text. Each line states one element as words, each followed by names or numbers:
 *
 *     dynamics description 1
 *     robot NAME base fixed|floating mimic coupled|independent gravity X Y Z
 *     link NAME mass M center X Y Z inertia IXX IXY IXZ IYY IYZ IZZ
 *     joint NAME type TYPE parent NAME child NAME position X Y Z rotation R11 .. R33 axis X Y Z second X Y Z pitch P
 *         damping B friction F [limits LOWER UPPER VELOCITY EFFORT] [mimic NAME by MULTIPLIER OFFSET]
 *         [motion rotation|translation along X Y Z polynomial|cubic|quintic terms N .. numbers] ..
 *     constraint NAME kind loop_joint|distance|point_on_plane type TYPE axis X Y Z second X Y Z pitch P distance D
 *         [predecessor NAME] position X Y Z rotation R11 .. R33 [successor NAME] position X Y Z rotation R11 .. R33
 *     constraint NAME kind coupling offset O joint NAME by COEFFICIENT [joint NAME by COEFFICIENT]..
 *     rotor NAME joint NAME ratio G coupling exact|diagonal|reflected axial I transverse I mass M position X Y Z
 *         axis X Y Z
 *     friction NAME joint NAME side joint|rotor viscous P N coulomb P N breakaway P N stribeck V transition V
 *         [bristles S by D] [temperature FACTOR]
 *     spring NAME joint NAME stiffness K rest Q
 *     shaft NAME [link NAME] joint NAME by RATIO [joint NAME by RATIO].. , followed by a rotor from its coupling on,
 *         and by [motor] with the words and values of machine_numbers.c
 *     motor, gear or brake, each NAME joint NAME, followed by the words and values of machine_numbers.c
 *     contact NAME shape point|sphere|box|capsule|cylinder|plane [link NAME] position X Y Z rotation R11 .. R33
 *         radius R length L size X Y Z friction MU restitution E stiffness K dissipation D
 *         [soft TIME_CONSTANT DAMPING_RATIO D0 D1 WIDTH MIDPOINT POWER] [rows R columns C heights Z ..]
 *     passive NAME
 *     note TEXT
 *
 * An element is on one line. A side of a constraint and a contact surface without a link are on the world.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/description.h>

#include "contact_surface.h"
#include "description.h"
#include "error.h"
#include "machine_element.h"
#include "machine_numbers.h"
#include "normal_form.h"
#include "number.h"
#include "plain_text.h"
#include "sized.h"

static const char heading[] = "dynamics description 1\n";

static const char *const bases[] = {"fixed", "floating"};
static const char *const mimics[] = {"coupled", "independent"};
static const char *const constraint_kinds[] = {"loop_joint", "distance",   "point_on_plane", "coupling",
                                               "polynomial", "prescribed", "rolling"};
static const char *const rotor_couplings[] = {"exact", "diagonal", "reflected"};
static const char *const gear_sides[] = {"joint", "rotor"};

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void print_named(FILE *out, const char *word, const char *name) {
    fprintf(out, " %s ", word);
    print_name(out, name);
}

static void print_link(FILE *out, const dyn_link_description *link) {
    fputs("link ", out);
    print_name(out, link->name);
    print_numbers(out, "mass", &link->inertia.mass, 1);
    print_numbers(out, "center", link->inertia.center_of_mass, 3);
    print_numbers(out, "inertia", link->inertia.rotational, 6);
    fputc('\n', out);
}

static void print_joint(FILE *out, const dyn_joint_description *joint) {
    fputs("joint ", out);
    print_name(out, joint->name);
    fprintf(out, " type %s", joint_type_name(joint->type));
    print_named(out, "parent", joint->parent_link);
    print_named(out, "child", joint->child_link);
    print_numbers(out, "position", joint->position, 3);
    print_numbers(out, "rotation", joint->rotation, 9);
    print_numbers(out, "axis", joint->axis, 3);
    print_numbers(out, "second", joint->second_axis, 3);
    print_numbers(out, "pitch", &joint->pitch, 1);
    print_numbers(out, "damping", &joint->damping, 1);
    print_numbers(out, "friction", &joint->friction, 1);
    print_limits(out, joint->has_limits ? &joint->limits : NULL);
    if (joint->mimic_joint) {
        const double values[] = {joint->mimic_multiplier, joint->mimic_offset};
        print_named(out, "mimic", joint->mimic_joint);
        print_numbers(out, "by", values, 2);
    }
    for (int k = 0; k < joint->motion_count; k++) {
        print_motion(out, &joint->motions[k]);
    }
    fputc('\n', out);
}

static void print_side(FILE *out, const char *word, const dyn_constraint_frame *frame) {
    if (frame->link) {
        print_named(out, word, frame->link);
    }
    print_numbers(out, "position", frame->pose.position, 3);
    print_numbers(out, "rotation", frame->pose.rotation, 9);
}

/* Prints the joints and the law of a polynomial coupling or a prescribed motion. */
static void print_law(FILE *out, const dyn_constraint_description *c) {
    const double law[] = {c->law.amplitude, c->law.frequency, c->law.phase};
    const double terms = c->term_count;
    print_numbers(out, "terms", &terms, 1);
    print_numbers(out, "polynomial", c->polynomial, c->term_count);
    print_numbers(out, "law", law, 3);
    for (int i = 0; i < 2 && c->coupled[i].joint; i++) {
        print_named(out, "joint", c->coupled[i].joint);
    }
}

static void print_constraint(FILE *out, const dyn_constraint_description *c) {
    fputs("constraint ", out);
    print_name(out, c->name);
    fprintf(out, " kind %s", constraint_kinds[c->kind - DYN_CONSTRAINT_KIND_LOOP_JOINT]);
    if (c->kind == DYN_CONSTRAINT_KIND_POLYNOMIAL || c->kind == DYN_CONSTRAINT_KIND_PRESCRIBED) {
        print_law(out, c);
    } else if (c->kind == DYN_CONSTRAINT_KIND_COUPLING) {
        print_numbers(out, "offset", &c->offset, 1);
        for (int i = 0; i < DYN_MAX_COUPLED_COORDINATES && c->coupled[i].joint; i++) {
            print_named(out, "joint", c->coupled[i].joint);
            print_numbers(out, "by", &c->coupled[i].coefficient, 1);
        }
    } else {
        fprintf(out, " type %s", joint_type_name(c->type));
        print_numbers(out, "axis", c->axis, 3);
        print_numbers(out, "second", c->second_axis, 3);
        print_numbers(out, "pitch", &c->pitch, 1);
        print_numbers(out, "distance", &c->distance, 1);
        print_side(out, "predecessor", &c->predecessor);
        print_side(out, "successor", &c->successor);
        if (c->damping != 0 || c->friction != 0 || c->effort != 0) {
            const double forces[] = {c->damping, c->friction, c->effort};
            print_numbers(out, "forces", forces, 3);
        }
    }
    fputc('\n', out);
}

static void print_rotor(FILE *out, const dyn_rotor *rotor) {
    fprintf(out, " coupling %s", rotor_couplings[rotor->coupling]);
    print_numbers(out, "axial", &rotor->axial_inertia, 1);
    print_numbers(out, "transverse", &rotor->transverse_inertia, 1);
    print_numbers(out, "mass", &rotor->mass, 1);
    print_numbers(out, "position", rotor->position, 3);
    print_numbers(out, "axis", rotor->axis, 3);
}

static void print_friction(FILE *out, const dyn_friction *friction) {
    fprintf(out, " side %s", gear_sides[friction->side]);
    print_numbers(out, "viscous", friction->viscous, 2);
    print_numbers(out, "coulomb", friction->coulomb, 2);
    print_numbers(out, "breakaway", friction->breakaway, 2);
    print_numbers(out, "stribeck", &friction->stribeck_velocity, 1);
    print_numbers(out, "transition", &friction->transition_velocity, 1);
    if (friction->bristle_stiffness != 0) {
        print_numbers(out, "bristles", &friction->bristle_stiffness, 1);
        print_numbers(out, "by", &friction->bristle_damping, 1);
    }
    if (friction->temperature_factor != 0) {
        print_numbers(out, "temperature", &friction->temperature_factor, 1);
    }
}

static void print_machine_element(FILE *out, const dyn_machine_element_description *e) {
    static const char *const kinds[] = {"rotor ", "friction ", "spring ",  "motor ", "gear ", "brake ",
                                        "strut ", "cable ",    "bushing ", "fluid ", "shaft "};
    fputs(kinds[e->kind - DYN_MACHINE_ELEMENT_KIND_ROTOR], out);
    print_name(out, e->name);
    if (e->link) {
        print_named(out, "link", e->link);
    } else if (e->kind != DYN_MACHINE_ELEMENT_KIND_SHAFT) {
        print_named(out, "joint", e->joint);
    }
    if (e->other_link) {
        print_named(out, "other", e->other_link);
    }
    switch (e->kind) {
    case DYN_MACHINE_ELEMENT_KIND_ROTOR:
        print_numbers(out, "ratio", &e->rotor.ratio, 1);
        print_rotor(out, &e->rotor);
        break;
    case DYN_MACHINE_ELEMENT_KIND_SHAFT:
        for (int k = 0; k < e->shaft.joint_count; k++) {
            print_named(out, "joint", e->shaft.joints[k]);
            print_numbers(out, "by", &e->shaft.ratios[k], 1);
        }
        print_rotor(out, &e->rotor);
        if (e->shaft.has_motor) {
            fputs(" motor", out);
            print_machine_numbers(out, DYN_MACHINE_ELEMENT_KIND_MOTOR, e);
        }
        break;
    case DYN_MACHINE_ELEMENT_KIND_FRICTION:
        print_friction(out, &e->friction);
        break;
    case DYN_MACHINE_ELEMENT_KIND_SPRING:
        print_numbers(out, "stiffness", &e->spring.stiffness, 1);
        print_numbers(out, "rest", &e->spring.rest, 1);
        break;
    case DYN_MACHINE_ELEMENT_KIND_MOTOR:
    case DYN_MACHINE_ELEMENT_KIND_GEAR:
    case DYN_MACHINE_ELEMENT_KIND_BRAKE:
    case DYN_MACHINE_ELEMENT_KIND_STRUT:
    case DYN_MACHINE_ELEMENT_KIND_CABLE:
    case DYN_MACHINE_ELEMENT_KIND_BUSHING:
    case DYN_MACHINE_ELEMENT_KIND_FLUID:
        print_machine_numbers(out, e->kind, e);
        break;
    }
    fputc('\n', out);
}

static void print_contact_surface(FILE *out, const dyn_contact_surface *s) {
    fputs("contact ", out);
    print_name(out, s->name);
    fprintf(out, " shape %s", contact_shape_name(s->shape));
    if (s->link) {
        print_named(out, "link", s->link);
    }
    print_numbers(out, "position", s->pose.position, 3);
    print_numbers(out, "rotation", s->pose.rotation, 9);
    print_contact_numbers(out, s);
    fputc('\n', out);
}

static void print_description(FILE *out, const void *what) {
    const dyn_model *model = what;
    const dyn_builder *builder = model->description;
    fputs(heading, out);
    fputs("robot ", out);
    print_name(out, builder->name);
    fprintf(out, " base %s mimic %s", bases[model->options.base], mimics[model->options.mimic]);
    print_numbers(out, "gravity", builder->gravity, 3);
    fputc('\n', out);
    for (int i = 0; i < builder->link_count; i++) {
        print_link(out, &builder->links[i]);
    }
    for (int j = 0; j < builder->joint_count; j++) {
        print_joint(out, &builder->joints[j]);
    }
    for (int i = 0; i < builder->constraint_count; i++) {
        print_constraint(out, &builder->constraints[i]);
    }
    for (int i = 0; i < builder->machine_element_count; i++) {
        print_machine_element(out, &builder->machine_elements[i]);
    }
    for (int i = 0; i < builder->contact_surface_count; i++) {
        print_contact_surface(out, &builder->contact_surfaces[i]);
    }
    for (int j = 0; j < builder->joint_count; j++) {
        if (builder_is_passive(builder, j)) {
            fputs("passive ", out);
            print_name(out, builder->joints[j].name);
            fputc('\n', out);
        }
    }
    for (int i = 0; i < builder->note_count; i++) {
        fputs("note ", out);
        print_name(out, builder->notes[i]);
        fputc('\n', out);
    }
}

dyn_status dyn_description_write(const dyn_model *model, char **text, size_t *length, dyn_error *error) {
    return plain_text_write(print_description, model, error, text, length);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* State of reading a text. The reader owns a copy of the text and cuts words out of it. */
typedef struct reader {
    char *at; /* position in the line */
    int line;
    locale_t plain;
    dyn_error *error;
    dyn_status status; /* first error; later ones are ignored */
} reader;

static bool fail(reader *r, const char *what, const char *found) {
    char place[32];
    snprintf(place, sizeof place, "line %d", r->line);
    if (r->status == DYN_OK) {
        r->status = dyn_error_set(r->error, DYN_INVALID_ARGUMENT, place, "%s is expected, not \"%.40s\"", what, found);
    }
    return false;
}

/* Cuts off the next word of the line and returns it; "" at the end of the line. */
static char *read_word(reader *r) {
    char *word = r->at + strspn(r->at, " ");
    r->at = word + strcspn(word, " ");
    if (*r->at != '\0') {
        *r->at++ = '\0';
    }
    return word;
}

static bool expect(reader *r, const char *word) {
    const char *found = r->status == DYN_OK ? read_word(r) : word;
    return strcmp(found, word) == 0 ? r->status == DYN_OK : fail(r, word, found);
}

/* Reads a name in quotes and removes its escapes in place. Returns it, or "" after an error. */
static const char *read_name(reader *r) {
    char *from = r->at + strspn(r->at, " "), *name = from + 1, *to = name;
    if (r->status != DYN_OK) {
        return "";
    }
    if (*from++ != '"') {
        fail(r, "a name in quotes", from - 1);
        return "";
    }
    for (; *from != '"' && *from != '\0'; from++) {
        from += *from == '\\' && from[1] != '\0';
        *to++ = *from;
    }
    if (*from != '"') {
        fail(r, "the end of a name", from);
        return "";
    }
    r->at = from + 1;
    *to = '\0';
    return name;
}

/* Reads the next word. Returns its index in a list, or 0 after an error. */
static int read_choice(reader *r, const char *const *list, int count) {
    const char *found = r->status == DYN_OK ? read_word(r) : list[0];
    for (int i = 0; i < count; i++) {
        if (strcmp(found, list[i]) == 0) {
            return i;
        }
    }
    char what[40];
    snprintf(what, sizeof what, "%s or the like", list[0]);
    fail(r, what, found);
    return 0;
}

static void read_numbers(reader *r, const char *word, double *values, int count) {
    expect(r, word);
    for (int i = 0; i < count && r->status == DYN_OK; i++) {
        const char *found = read_word(r);
        if (numbers_read(found, r->plain, 1, &values[i]) != 1) {
            fail(r, "a finite number", found);
        }
    }
}

/* Returns whether the next word is `word`. */
static bool is_next(const reader *r, const char *word) {
    size_t blank = strspn(r->at, " "), length = strlen(word);
    return r->status == DYN_OK && strncmp(r->at + blank, word, length) == 0 && r->at[blank + length] == ' ';
}

/* Checks that the line ends here. */
static void expect_end(reader *r) {
    if (r->status == DYN_OK && r->at[strspn(r->at, " ")] != '\0') {
        fail(r, "the end of the line", r->at + strspn(r->at, " "));
    }
}

static void read_robot(reader *r, dyn_builder **builder, dyn_build_options *options) {
    double gravity[3];
    expect(r, "robot");
    const char *name = read_name(r);
    expect(r, "base");
    options->base = (dyn_base)read_choice(r, bases, 2);
    expect(r, "mimic");
    options->mimic = (dyn_mimic_policy)read_choice(r, mimics, 2);
    read_numbers(r, "gravity", gravity, 3);
    expect_end(r);
    if (r->status == DYN_OK) {
        r->status = dyn_builder_create(name, builder, r->error);
    }
    if (r->status == DYN_OK) {
        r->status = dyn_builder_set_gravity(*builder, gravity, r->error);
    }
}

static void read_link(reader *r, dyn_builder *builder) {
    dyn_link_description link = {.name = read_name(r)};
    read_numbers(r, "mass", &link.inertia.mass, 1);
    read_numbers(r, "center", link.inertia.center_of_mass, 3);
    read_numbers(r, "inertia", link.inertia.rotational, 6);
    expect_end(r);
    if (r->status == DYN_OK) {
        r->status = dyn_builder_add_link(builder, &link, r->error);
    }
}

static dyn_joint_type read_type(reader *r) {
    const char *names[DYN_JOINT_TYPE_COUNT];
    for (int type = 0; type < DYN_JOINT_TYPE_COUNT; type++) {
        names[type] = joint_type_name((dyn_joint_type)type);
    }
    expect(r, "type");
    return (dyn_joint_type)read_choice(r, names, DYN_JOINT_TYPE_COUNT);
}

static void read_function(reader *r, dyn_joint_function *f) {
    double count = 0;
    f->kind = (dyn_function_kind)read_choice(r, function_kinds, FUNCTION_KIND_COUNT);
    bool is_polynomial = f->kind == DYN_FUNCTION_KIND_POLYNOMIAL;
    read_numbers(r, "terms", &count, 1);
    if (!(count >= 1 && count <= (is_polynomial ? DYN_MAX_FUNCTION_TERMS : DYN_MAX_KNOTS))) {
        fail(r, "a number of coefficients from 1 to 8, or of knots from 2 to 64", "another one");
        return;
    }
    f->count = (int)count;
    read_numbers(r, is_polynomial ? "coefficients" : "knots", is_polynomial ? f->coefficients : f->knots, f->count);
    if (!is_polynomial) {
        read_numbers(r, "values", f->values, f->count);
    }
    if (f->kind == DYN_FUNCTION_KIND_QUINTIC_SPLINE) {
        read_numbers(r, "slopes", f->slopes, f->count);
        read_numbers(r, "curvatures", f->curvatures, f->count);
    }
}

/* Reads the motions of a custom joint, of which there is room for DYN_MAX_JOINT_MOTIONS. Returns their number. */
static int read_motions(reader *r, dyn_joint_motion *motions) {
    int count = 0;
    for (; r->status == DYN_OK && is_next(r, "motion") && count < DYN_MAX_JOINT_MOTIONS; count++) {
        dyn_joint_motion *m = &motions[count];
        expect(r, "motion");
        m->kind = (dyn_joint_motion_kind)read_choice(r, motion_kinds, 2);
        read_numbers(r, "along", m->axis, 3);
        read_function(r, &m->function);
    }
    return count;
}

static void read_joint(reader *r, dyn_builder *builder) {
    double limits[4] = {0}, mimic[2] = {0};
    dyn_joint_motion motions[DYN_MAX_JOINT_MOTIONS] = {0};
    dyn_joint_description joint = {.name = read_name(r)};
    joint.type = read_type(r);
    expect(r, "parent");
    joint.parent_link = read_name(r);
    expect(r, "child");
    joint.child_link = read_name(r);
    read_numbers(r, "position", joint.position, 3);
    read_numbers(r, "rotation", joint.rotation, 9);
    read_numbers(r, "axis", joint.axis, 3);
    read_numbers(r, "second", joint.second_axis, 3);
    read_numbers(r, "pitch", &joint.pitch, 1);
    read_numbers(r, "damping", &joint.damping, 1);
    read_numbers(r, "friction", &joint.friction, 1);
    joint.has_limits = is_next(r, "limits");
    if (joint.has_limits) {
        read_numbers(r, "limits", limits, 4);
        joint.limits = (dyn_joint_limits){limits[0], limits[1], limits[2], limits[3]};
    }
    if (is_next(r, "mimic")) {
        expect(r, "mimic");
        joint.mimic_joint = read_name(r);
        read_numbers(r, "by", mimic, 2);
        joint.mimic_multiplier = mimic[0], joint.mimic_offset = mimic[1];
    }
    joint.motions = motions;
    joint.motion_count = read_motions(r, motions);
    expect_end(r);
    if (r->status == DYN_OK) {
        r->status = dyn_builder_add_joint(builder, &joint, r->error);
    }
}

static void read_side(reader *r, const char *word, dyn_constraint_frame *frame) {
    if (is_next(r, word)) {
        expect(r, word);
        frame->link = read_name(r);
    }
    read_numbers(r, "position", frame->pose.position, 3);
    read_numbers(r, "rotation", frame->pose.rotation, 9);
}

/* Reads the joints and the law of a polynomial coupling or a prescribed motion. */
static void read_law(reader *r, dyn_constraint_description *c) {
    double law[3] = {0}, terms = 0;
    read_numbers(r, "terms", &terms, 1);
    if (!(terms >= 0 && terms <= DYN_MAX_POLYNOMIAL_TERMS)) {
        fail(r, "a number of terms from 0 to 8", "another one");
        return;
    }
    c->term_count = (int)terms;
    read_numbers(r, "polynomial", c->polynomial, c->term_count);
    read_numbers(r, "law", law, 3);
    c->law = (dyn_motion_law){law[0], law[1], law[2]};
    for (int i = 0; i < 2 && is_next(r, "joint"); i++) {
        expect(r, "joint");
        c->coupled[i].joint = read_name(r);
    }
}

static void read_constraint(reader *r, dyn_builder *builder) {
    dyn_constraint_description c = {.name = read_name(r)};
    expect(r, "kind");
    c.kind = (dyn_constraint_kind)(DYN_CONSTRAINT_KIND_LOOP_JOINT + read_choice(r, constraint_kinds, 7));
    if (c.kind == DYN_CONSTRAINT_KIND_POLYNOMIAL || c.kind == DYN_CONSTRAINT_KIND_PRESCRIBED) {
        read_law(r, &c);
    } else if (c.kind == DYN_CONSTRAINT_KIND_COUPLING) {
        read_numbers(r, "offset", &c.offset, 1);
        for (int i = 0; i < DYN_MAX_COUPLED_COORDINATES && is_next(r, "joint"); i++) {
            expect(r, "joint");
            c.coupled[i].joint = read_name(r);
            read_numbers(r, "by", &c.coupled[i].coefficient, 1);
        }
    } else {
        c.type = read_type(r);
        read_numbers(r, "axis", c.axis, 3);
        read_numbers(r, "second", c.second_axis, 3);
        read_numbers(r, "pitch", &c.pitch, 1);
        read_numbers(r, "distance", &c.distance, 1);
        read_side(r, "predecessor", &c.predecessor);
        read_side(r, "successor", &c.successor);
        if (is_next(r, "forces")) {
            double forces[3] = {0};
            read_numbers(r, "forces", forces, 3);
            c.damping = forces[0], c.friction = forces[1], c.effort = forces[2];
        }
    }
    expect_end(r);
    if (r->status == DYN_OK) {
        r->status = dyn_builder_add_constraint(builder, &c, r->error);
    }
}

/* Reads the name of an element, and that of its joint or those of its links. */
static dyn_machine_element_description read_element(reader *r, dyn_machine_element_kind kind) {
    dyn_machine_element_description e = {.kind = kind, .name = read_name(r)};
    if (acts_on_links(kind)) {
        expect(r, "link");
        e.link = read_name(r);
        if (is_next(r, "other")) {
            expect(r, "other");
            e.other_link = read_name(r);
        }
        return e;
    }
    expect(r, "joint");
    e.joint = read_name(r);
    return e;
}

static void add_element(reader *r, dyn_builder *builder, const dyn_machine_element_description *e) {
    expect_end(r);
    if (r->status == DYN_OK) {
        r->status = dyn_builder_add_machine_element(builder, e, r->error);
    }
}

/* Reads the numbers that the table has for a kind. */
static void read_numbers_of(reader *r, dyn_machine_element_kind kind, dyn_machine_element_description *e) {
    int count;
    const machine_number *numbers = machine_numbers_of(kind, &count);
    for (int i = 0; i < count; i++) {
        read_numbers(r, numbers[i].word, machine_number_in(&numbers[i], e), 1);
    }
}

static void read_rotor_body(reader *r, dyn_rotor *rotor) {
    expect(r, "coupling");
    rotor->coupling = (dyn_rotor_coupling)read_choice(r, rotor_couplings, 3);
    read_numbers(r, "axial", &rotor->axial_inertia, 1);
    read_numbers(r, "transverse", &rotor->transverse_inertia, 1);
    read_numbers(r, "mass", &rotor->mass, 1);
    read_numbers(r, "position", rotor->position, 3);
    read_numbers(r, "axis", rotor->axis, 3);
}

static void read_rotor(reader *r, dyn_builder *builder) {
    dyn_machine_element_description e = read_element(r, DYN_MACHINE_ELEMENT_KIND_ROTOR);
    read_numbers(r, "ratio", &e.rotor.ratio, 1);
    read_rotor_body(r, &e.rotor);
    add_element(r, builder, &e);
}

static void read_shaft(reader *r, dyn_builder *builder) {
    dyn_machine_element_description e = {.kind = DYN_MACHINE_ELEMENT_KIND_SHAFT, .name = read_name(r)};
    dyn_shaft *shaft = &e.shaft;
    if (is_next(r, "link")) {
        expect(r, "link");
        e.link = read_name(r);
    }
    for (; is_next(r, "joint") && shaft->joint_count < DYN_MAX_SHAFT_JOINTS; shaft->joint_count++) {
        expect(r, "joint");
        shaft->joints[shaft->joint_count] = read_name(r);
        read_numbers(r, "by", &shaft->ratios[shaft->joint_count], 1);
    }
    read_rotor_body(r, &e.rotor);
    shaft->has_motor = is_next(r, "motor");
    if (shaft->has_motor) {
        expect(r, "motor");
        read_numbers_of(r, DYN_MACHINE_ELEMENT_KIND_MOTOR, &e);
    }
    add_element(r, builder, &e);
}

static void read_friction(reader *r, dyn_builder *builder) {
    dyn_machine_element_description e = read_element(r, DYN_MACHINE_ELEMENT_KIND_FRICTION);
    expect(r, "side");
    e.friction.side = (dyn_gear_side)read_choice(r, gear_sides, 2);
    read_numbers(r, "viscous", e.friction.viscous, 2);
    read_numbers(r, "coulomb", e.friction.coulomb, 2);
    read_numbers(r, "breakaway", e.friction.breakaway, 2);
    read_numbers(r, "stribeck", &e.friction.stribeck_velocity, 1);
    read_numbers(r, "transition", &e.friction.transition_velocity, 1);
    if (is_next(r, "bristles")) {
        read_numbers(r, "bristles", &e.friction.bristle_stiffness, 1);
        read_numbers(r, "by", &e.friction.bristle_damping, 1);
    }
    if (is_next(r, "temperature")) {
        read_numbers(r, "temperature", &e.friction.temperature_factor, 1);
    }
    add_element(r, builder, &e);
}

static void read_spring(reader *r, dyn_builder *builder) {
    dyn_machine_element_description e = read_element(r, DYN_MACHINE_ELEMENT_KIND_SPRING);
    read_numbers(r, "stiffness", &e.spring.stiffness, 1);
    read_numbers(r, "rest", &e.spring.rest, 1);
    add_element(r, builder, &e);
}

/* Reads an element whose numbers are in the table of its kind. */
static void read_machine_numbers(reader *r, dyn_builder *builder, dyn_machine_element_kind kind) {
    dyn_machine_element_description e = read_element(r, kind);
    read_numbers_of(r, kind, &e);
    add_element(r, builder, &e);
}

static void read_motor(reader *r, dyn_builder *builder) {
    read_machine_numbers(r, builder, DYN_MACHINE_ELEMENT_KIND_MOTOR);
}

static void read_gear(reader *r, dyn_builder *builder) {
    read_machine_numbers(r, builder, DYN_MACHINE_ELEMENT_KIND_GEAR);
}

static void read_strut(reader *r, dyn_builder *builder) {
    read_machine_numbers(r, builder, DYN_MACHINE_ELEMENT_KIND_STRUT);
}

static void read_cable(reader *r, dyn_builder *builder) {
    read_machine_numbers(r, builder, DYN_MACHINE_ELEMENT_KIND_CABLE);
}

static void read_bushing(reader *r, dyn_builder *builder) {
    read_machine_numbers(r, builder, DYN_MACHINE_ELEMENT_KIND_BUSHING);
}

static void read_fluid(reader *r, dyn_builder *builder) {
    read_machine_numbers(r, builder, DYN_MACHINE_ELEMENT_KIND_FLUID);
}

/* Reads the grid of a height field. The caller frees the result. */
static double *read_heights(reader *r, dyn_contact_surface *s) {
    double rows = 0, columns = 0;
    read_numbers(r, "rows", &rows, 1);
    read_numbers(r, "columns", &columns, 1);
    if (r->status == DYN_OK && !(rows >= 1 && columns >= 1 && rows * columns <= DYN_MAX_HEIGHTS)) {
        fail(r, "the rows and columns of a height field", r->at);
        return NULL;
    }
    s->rows = (int)rows, s->columns = (int)columns;
    double *heights = r->status == DYN_OK ? calloc((size_t)(s->rows * s->columns), sizeof *heights) : NULL;
    if (heights) {
        read_numbers(r, "heights", heights, s->rows * s->columns);
    } else if (r->status == DYN_OK) {
        r->status = dyn_error_memory(r->error);
    }
    s->heights = heights;
    return heights;
}

static void read_contact_surface(reader *r, dyn_builder *builder) {
    dyn_contact_surface s = {.name = read_name(r)};
    expect(r, "shape");
    s.shape = (dyn_contact_shape)(DYN_CONTACT_SHAPE_POINT + read_choice(r, contact_shapes, CONTACT_SHAPE_COUNT));
    if (is_next(r, "link")) {
        expect(r, "link");
        s.link = read_name(r);
    }
    read_numbers(r, "position", s.pose.position, 3);
    read_numbers(r, "rotation", s.pose.rotation, 9);
    read_numbers(r, "radius", &s.radius, 1);
    read_numbers(r, "length", &s.length, 1);
    read_numbers(r, "size", s.size, 3);
    read_numbers(r, "friction", &s.friction, 1);
    read_numbers(r, "restitution", &s.restitution, 1);
    read_numbers(r, "stiffness", &s.stiffness, 1);
    read_numbers(r, "dissipation", &s.dissipation, 1);
    if (is_next(r, "soft")) {
        double x[7];
        read_numbers(r, "soft", x, 7);
        s.soft = (dyn_soft_contact){x[0], x[1], {x[2], x[3]}, x[4], x[5], x[6]};
    }
    double *heights = s.shape == DYN_CONTACT_SHAPE_HEIGHT_FIELD ? read_heights(r, &s) : NULL;
    expect_end(r);
    if (r->status == DYN_OK) {
        r->status = dyn_builder_add_contact_surface(builder, &s, r->error);
    }
    free(heights);
}

static void read_brake(reader *r, dyn_builder *builder) {
    read_machine_numbers(r, builder, DYN_MACHINE_ELEMENT_KIND_BRAKE);
}

static void read_passive(reader *r, dyn_builder *builder) {
    const char *name = read_name(r);
    expect_end(r);
    if (r->status == DYN_OK) {
        r->status = dyn_builder_set_passive(builder, name, r->error);
    }
}

static void read_note(reader *r, dyn_builder *builder) {
    const char *note = read_name(r);
    expect_end(r);
    if (r->status == DYN_OK) {
        r->status = dyn_builder_add_note(builder, note, r->error);
    }
}

/* Reads one line after the heading: the robot, which creates the builder, or else an element. */
static void read_line(reader *r, dyn_builder **builder, dyn_build_options *options) {
    static const char *const kinds[] = {"link",  "joint", "constraint", "rotor",   "friction", "spring",
                                        "motor", "gear",  "brake",      "contact", "passive",  "note",
                                        "strut", "cable", "bushing",    "fluid",   "shaft"};
    static void (*const readers[])(reader *, dyn_builder *) = {
        read_link,  read_joint, read_constraint, read_rotor,           read_friction, read_spring,
        read_motor, read_gear,  read_brake,      read_contact_surface, read_passive,  read_note,
        read_strut, read_cable, read_bushing,    read_fluid,           read_shaft};
    if (!*builder) {
        read_robot(r, builder, options);
        return;
    }
    int kind = read_choice(r, kinds, sizeof kinds / sizeof *kinds);
    if (r->status == DYN_OK) {
        readers[kind](r, *builder);
    }
}

bool dyn_description_is_text(const char *text, size_t length) {
    return length >= strlen(heading) && memcmp(text, heading, strlen(heading)) == 0;
}

dyn_status dyn_description_read(const char *text, size_t length, dyn_builder **builder, dyn_build_options *options,
                                dyn_error *error) {
    reader r = {.line = 1, .error = error};
    dyn_build_options stated = DYN_BUILD_OPTIONS_INIT();
    *builder = NULL;
    if (!dyn_description_is_text(text, length) || memchr(text, '\0', length)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "line 1",
                             "this is no description: it does not begin with \"%.*s\", or holds a zero byte",
                             (int)strlen(heading) - 1, heading);
    }
    char *copy = strndup(text, length), *next = copy ? copy + strlen(heading) : NULL;
    r.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!copy || r.plain == (locale_t)0) {
        r.status = dyn_error_memory(error);
    }
    while (r.status == DYN_OK && (*next != '\0' || !*builder)) {
        r.at = next, r.line++;
        next += strcspn(next, "\n");
        if (*next != '\0') {
            *next++ = '\0';
        }
        read_line(&r, builder, &stated);
    }
    if (r.plain != (locale_t)0) {
        freelocale(r.plain);
    }
    free(copy);
    if (r.status == DYN_OK) {
        r.status = dyn_sized_write("options", &stated, sizeof stated, options, error);
    }
    if (r.status != DYN_OK) {
        dyn_builder_free(*builder);
        *builder = NULL;
    }
    return r.status;
}
