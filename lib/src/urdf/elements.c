/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Elements of URDF that the reader understands, and their meaning.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dynamics/description.h>

#include "../model/placement.h"
#include "constraint_elements.h"
#include "reader.h"

void reader_stop(reader *r, dyn_status status) {
    r->status = status;
    XML_StopParser(r->parser, XML_FALSE);
}

static void open_robot(reader *r, const char **attributes) {
    const char *name = attribute_text(attributes, "name");
    if (!name || name[0] == '\0') {
        name = "robot";
        report_add(r->report, DYN_SEVERITY_WARNING, reader_line(r), "robot",
                   "<robot> has no name; it is called \"robot\"");
    } else {
        attribute_name(r, "robot", attributes, "name", r->name);
        name = r->name;
    }
    if (r->status != DYN_OK) {
        return;
    }
    dyn_error bad;
    dyn_status status = dyn_builder_create(name, &r->builder, &bad);
    if (status != DYN_OK) {
        reader_fail(r, status, "%s", bad.message);
        return;
    }
    r->builder->source = "urdf";
    r->builder->line = reader_line(r);
    strcpy(r->subject, "robot");
}

void begin_subject(reader *r, const char *kind, const char **attributes) {
    r->subject[0] = '\0';
    attribute_name(r, kind, attributes, "name", r->name);
    snprintf(r->subject, sizeof r->subject, "%s %s", kind, r->name);
    r->seen = 0;
}

static void open_link(reader *r, const char **attributes) {
    begin_subject(r, "link", attributes);
    r->link = (dyn_link_description){.name = r->name, .line = reader_line(r)};
}

static void open_inertial(reader *r, const char **attributes) {
    (void)attributes;
    r->link.inertia = (dyn_inertia){0};
    memcpy(r->inertia_rotation, identity_pose.rotation, sizeof r->inertia_rotation);
    r->seen &= ~(UINT64_C(1) << ELEMENT_MASS | UINT64_C(1) << ELEMENT_INERTIA | UINT64_C(1) << ELEMENT_INERTIAL_ORIGIN);
}

static void open_inertial_origin(reader *r, const char **attributes) {
    attribute_origin(r, attributes, r->link.inertia.center_of_mass, r->inertia_rotation);
}

/* Adds a note on the origin of the description, as dyn_urdf_write writes it. */
static void open_note(reader *r, const char **attributes) {
    const char *note = attribute_text(attributes, "text");
    dyn_error bad;
    if (!note) {
        ignore(r, DYN_SEVERITY_NOTE, "it has no text", "<note> in <robot>");
    } else if (dyn_builder_add_note(r->builder, note, &bad) != DYN_OK) {
        reader_fail(r, bad.status, "<note>: %s", bad.message);
    }
}

static void open_mass(reader *r, const char **attributes) {
    attribute_required(r, "mass", attributes, "value", 1, &r->link.inertia.mass);
}

static void open_inertia(reader *r, const char **attributes) {
    static const char *const names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    static const int moments[] = {0, 3, 5}, products[] = {1, 2, 4};
    double *I = r->link.inertia.rotational;
    char missing[16] = "";
    for (int i = 0; i < 3; i++) {
        attribute_required(r, "inertia", attributes, names[moments[i]], 1, &I[moments[i]]);
    }
    for (int i = 0; i < 3; i++) {
        const char *name = names[products[i]];
        I[products[i]] = 0;
        if (!attribute_numbers(r, "inertia", attributes, name, 1, &I[products[i]])) {
            strcat(strcat(missing, " "), name);
        }
    }
    if (missing[0] != '\0') {
        reader_report(r, DYN_SEVERITY_WARNING, "<inertia> does not state%s: 0 is taken", missing);
    }
}

bool has_seen(const reader *r, element e) {
    return (r->seen >> e & 1U) != 0;
}

static void close_inertial(reader *r) {
    if (!has_seen(r, ELEMENT_MASS)) {
        reader_report(r, DYN_SEVERITY_WARNING, "<inertial> has no <mass>: the mass is 0");
    }
    if (!has_seen(r, ELEMENT_INERTIA)) {
        reader_report(r, DYN_SEVERITY_WARNING, "<inertial> has no <inertia>: the rotational inertia is 0");
    }
    rotate_symmetric(r->inertia_rotation, r->link.inertia.rotational, r->link.inertia.rotational);
}

static void close_link(reader *r) {
    dyn_status status = dyn_builder_add_link(r->builder, &r->link, r->error);
    if (status != DYN_OK) {
        reader_stop(r, status);
    }
    strcpy(r->subject, "robot");
}

/* Reads the type of a joint from its name in URDF. */
static void read_joint_type(reader *r, const char **attributes) {
    char type[DYN_MAX_NAME + 1];
    attribute_name(r, "joint", attributes, "type", type);
    for (int i = 0; i < DYN_JOINT_TYPE_COUNT; i++) {
        const dyn_joint_traits *traits = dyn_joint_type_traits((dyn_joint_type)i);
        if (traits->in_urdf && strcmp(type, traits->name) == 0) {
            r->joint.type = (dyn_joint_type)i;
            return;
        }
    }
    if (strcmp(type, "spherical") == 0 || strcmp(type, "ball") == 0) {
        r->joint.type = DYN_JOINT_TYPE_SPHERICAL;
        reader_report(r, DYN_SEVERITY_WARNING,
                      "URDF has no joint of the type %s, which some simulators add: it is spherical", type);
        return;
    }
    reader_fail(r, DYN_INVALID_ARGUMENT,
                "the type \"%.60s\" is unknown; use fixed, revolute, continuous, prismatic, planar or floating", type);
}

/* Default axis of a joint in URDF. */
static const double default_axis[3] = {1, 0, 0};

static void open_joint(reader *r, const char **attributes) {
    begin_subject(r, "joint", attributes);
    r->joint = (dyn_joint_description){.name = r->name, .mimic_multiplier = 1, .line = reader_line(r)};
    memcpy(r->joint.axis, default_axis, sizeof default_axis);
    memcpy(r->joint.rotation, identity_pose.rotation, sizeof r->joint.rotation);
    r->has_range = false;
    if (attribute_text(attributes, "independent")) {
        ignore(r, DYN_SEVERITY_NOTE, "independent coordinates are chosen where they are needed",
               "the attribute independent of <joint>");
    }
    read_joint_type(r, attributes);
}

static void open_joint_origin(reader *r, const char **attributes) {
    attribute_origin(r, attributes, r->joint.position, r->joint.rotation);
}

static void open_parent(reader *r, const char **attributes) {
    attribute_name(r, "parent", attributes, "link", r->parent);
    r->joint.parent_link = r->parent;
}

static void open_child(reader *r, const char **attributes) {
    attribute_name(r, "child", attributes, "link", r->child);
    r->joint.child_link = r->child;
}

static void open_axis(reader *r, const char **attributes) {
    double *axis = r->joint.axis;
    if (!attribute_numbers(r, "axis", attributes, "xyz", 3, axis)) {
        memcpy(axis, default_axis, sizeof default_axis);
        reader_report(r, DYN_SEVERITY_WARNING, "<axis> has no attribute xyz: the axis is 1 0 0");
    }
    double length = hypot(hypot(axis[0], axis[1]), axis[2]);
    if (length > 0 && fabs(length - 1) > 1e-3) {
        reader_report(r, DYN_SEVERITY_NOTE, "the axis has the length %g; it is normalized", length);
    }
}

static void open_limit(reader *r, const char **attributes) {
    dyn_joint_limits *limits = &r->joint.limits;
    *limits = (dyn_joint_limits){0};
    bool lower = attribute_numbers(r, "limit", attributes, "lower", 1, &limits->lower);
    bool upper = attribute_numbers(r, "limit", attributes, "upper", 1, &limits->upper);
    bool velocity = attribute_numbers(r, "limit", attributes, "velocity", 1, &limits->velocity);
    bool effort = attribute_numbers(r, "limit", attributes, "effort", 1, &limits->effort);
    r->joint.has_limits = true;
    r->has_range = lower || upper;
    if (!velocity || !effort) {
        reader_report(r, DYN_SEVERITY_NOTE, "<limit> states no %s",
                      velocity ? "effort"
                      : effort ? "velocity"
                               : "velocity and no effort");
    }
}

static void open_dynamics(reader *r, const char **attributes) {
    r->joint.damping = r->joint.friction = 0;
    attribute_numbers(r, "dynamics", attributes, "damping", 1, &r->joint.damping);
    attribute_numbers(r, "dynamics", attributes, "friction", 1, &r->joint.friction);
    if (r->joint.damping < 0 || r->joint.friction < 0) {
        bool is_damping = r->joint.damping < 0;
        reader_fail(r, DYN_INVALID_ARGUMENT, "<dynamics> has %s=\"%g\"; write a number that is not negative",
                    is_damping ? "damping" : "friction", is_damping ? r->joint.damping : r->joint.friction);
    }
}

static void open_mimic(reader *r, const char **attributes) {
    r->joint.mimic_multiplier = 1;
    r->joint.mimic_offset = 0;
    attribute_name(r, "mimic", attributes, "joint", r->master);
    attribute_numbers(r, "mimic", attributes, "multiplier", 1, &r->joint.mimic_multiplier);
    attribute_numbers(r, "mimic", attributes, "offset", 1, &r->joint.mimic_offset);
    r->joint.mimic_joint = r->master;
}

/* Reports missing values of a joint, and drops those that its type does not have. */
static void complete_joint(reader *r) {
    dyn_joint_type type = r->joint.type;
    bool ranged = dyn_joint_type_traits(type)->has_range;
    if (ranged && !r->joint.has_limits) {
        reader_report(r, DYN_SEVERITY_WARNING, "it has no <limit>, which URDF asks for; its range is unbounded");
    } else if (ranged && !r->has_range) {
        reader_report(r, DYN_SEVERITY_WARNING, "<limit> states neither lower nor upper: the range is 0 to 0");
    } else if (!ranged && r->has_range && r->joint.limits.lower != r->joint.limits.upper) {
        reader_report(r, DYN_SEVERITY_NOTE, "it is %s; the range in <limit> is ignored", joint_type_name(type));
    }
    if (!ranged) {
        r->joint.limits.lower = r->joint.limits.upper = 0;
    }
    if (dyn_joint_type_traits(type)->axes > 0 && !has_seen(r, ELEMENT_AXIS)) {
        reader_report(r, DYN_SEVERITY_NOTE, "it has no <axis>: the axis is 1 0 0");
    }
}

static void close_joint(reader *r) {
    complete_joint(r);
    dyn_status status = dyn_builder_add_joint(r->builder, &r->joint, r->error);
    if (status != DYN_OK) {
        reader_stop(r, status);
    }
    strcpy(r->subject, "robot");
}

/* Rule for an element that the reader understands: its parent, its attributes, its actions. */
typedef struct rule {
    element parent, element;
    const char *name;
    const char *attributes[7];
    void (*open)(reader *r, const char **attributes);
    void (*close)(reader *r);
} rule;

static const rule rules[] = {
    {ELEMENT_DOCUMENT, ELEMENT_ROBOT, "robot", {"name", "version"}, open_robot, NULL},
    {ELEMENT_ROBOT, ELEMENT_NOTE, "note", {"text"}, open_note, NULL},
    {ELEMENT_ROBOT, ELEMENT_LINK, "link", {"name"}, open_link, close_link},
    {ELEMENT_LINK, ELEMENT_INERTIAL, "inertial", {NULL}, open_inertial, close_inertial},
    {ELEMENT_INERTIAL, ELEMENT_INERTIAL_ORIGIN, "origin", {"xyz", "rpy"}, open_inertial_origin, NULL},
    {ELEMENT_INERTIAL, ELEMENT_MASS, "mass", {"value"}, open_mass, NULL},
    {ELEMENT_INERTIAL, ELEMENT_INERTIA, "inertia", {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}, open_inertia, NULL},
    {ELEMENT_ROBOT, ELEMENT_JOINT, "joint", {"name", "type", "independent"}, open_joint, close_joint},
    {ELEMENT_JOINT, ELEMENT_JOINT_ORIGIN, "origin", {"xyz", "rpy"}, open_joint_origin, NULL},
    {ELEMENT_JOINT, ELEMENT_PARENT, "parent", {"link"}, open_parent, NULL},
    {ELEMENT_JOINT, ELEMENT_CHILD, "child", {"link"}, open_child, NULL},
    {ELEMENT_JOINT, ELEMENT_AXIS, "axis", {"xyz"}, open_axis, NULL},
    {ELEMENT_JOINT, ELEMENT_LIMIT, "limit", {"lower", "upper", "velocity", "effort"}, open_limit, NULL},
    {ELEMENT_JOINT, ELEMENT_DYNAMICS, "dynamics", {"damping", "friction"}, open_dynamics, NULL},
    {ELEMENT_JOINT, ELEMENT_MIMIC, "mimic", {"joint", "multiplier", "offset"}, open_mimic, NULL},
    {ELEMENT_ROBOT, ELEMENT_LOOP, "loop", {"name", "type"}, open_loop, close_loop},
    {ELEMENT_LOOP, ELEMENT_PREDECESSOR, "predecessor", {"link"}, open_predecessor, NULL},
    {ELEMENT_PREDECESSOR, ELEMENT_PREDECESSOR_ORIGIN, "origin", {"xyz", "rpy"}, open_predecessor_origin, NULL},
    {ELEMENT_LOOP, ELEMENT_SUCCESSOR, "successor", {"link"}, open_successor, NULL},
    {ELEMENT_SUCCESSOR, ELEMENT_SUCCESSOR_ORIGIN, "origin", {"xyz", "rpy"}, open_successor_origin, NULL},
    {ELEMENT_LOOP, ELEMENT_LOOP_AXIS, "axis", {"xyz"}, open_loop_axis, NULL},
    {ELEMENT_ROBOT, ELEMENT_COUPLING, "coupling", {"name", "type"}, open_coupling, close_coupling},
    {ELEMENT_COUPLING, ELEMENT_COUPLED_PREDECESSOR, "predecessor", {"link"}, open_predecessor, NULL},
    {ELEMENT_COUPLING, ELEMENT_COUPLED_SUCCESSOR, "successor", {"link"}, open_successor, NULL},
    {ELEMENT_COUPLING, ELEMENT_RATIO, "ratio", {"value"}, open_ratio, NULL},
    {ELEMENT_ROBOT, ELEMENT_LOOP_JOINT, "drake:loop_joint", {"name", "type"}, open_loop, close_loop_joint},
    {ELEMENT_ROBOT, ELEMENT_LOOP_JOINT, "loop_joint", {"name", "type"}, open_loop, close_loop_joint},
    {ELEMENT_LOOP_JOINT, ELEMENT_FIRST_LINK, "link1", {"link", "xyz", "rpy"}, open_first_link, NULL},
    {ELEMENT_LOOP_JOINT, ELEMENT_SECOND_LINK, "link2", {"link", "xyz", "rpy"}, open_second_link, NULL},
    {ELEMENT_LOOP_JOINT, ELEMENT_LOOP_JOINT_AXIS, "axis", {"xyz"}, open_loop_axis, NULL},
    {ELEMENT_ROBOT, ELEMENT_BALL, "drake:ball_constraint", {"name"}, open_ball, close_ball},
    {ELEMENT_BALL, ELEMENT_BALL_BODY_A, "drake:ball_constraint_body_A", {"name"}, open_body_a, NULL},
    {ELEMENT_BALL, ELEMENT_BALL_BODY_B, "drake:ball_constraint_body_B", {"name"}, open_body_b, NULL},
    {ELEMENT_BALL, ELEMENT_BALL_POINT_A, "drake:ball_constraint_p_AP", {"value"}, open_point_a, NULL},
    {ELEMENT_BALL, ELEMENT_BALL_POINT_B, "drake:ball_constraint_p_BQ", {"value"}, open_point_b, NULL},
    {ELEMENT_ROBOT, ELEMENT_DISTANCE, "drake:distance_constraint", {"name"}, open_distance, close_distance},
    {ELEMENT_DISTANCE, ELEMENT_DISTANCE_BODY_A, "drake:distance_constraint_body_A", {"name"}, open_body_a, NULL},
    {ELEMENT_DISTANCE, ELEMENT_DISTANCE_BODY_B, "drake:distance_constraint_body_B", {"name"}, open_body_b, NULL},
    {ELEMENT_DISTANCE, ELEMENT_DISTANCE_POINT_A, "drake:distance_constraint_p_AP", {"value"}, open_point_a, NULL},
    {ELEMENT_DISTANCE, ELEMENT_DISTANCE_POINT_B, "drake:distance_constraint_p_BQ", {"value"}, open_point_b, NULL},
    {ELEMENT_DISTANCE, ELEMENT_DISTANCE_VALUE, "drake:distance_constraint_distance", {"value"}, open_length, NULL},
    {ELEMENT_DISTANCE, ELEMENT_DISTANCE_STIFFNESS, "drake:distance_constraint_stiffness", {"value"}, open_spring, NULL},
    {ELEMENT_DISTANCE, ELEMENT_DISTANCE_DAMPING, "drake:distance_constraint_damping", {"value"}, open_spring, NULL},
};

enum { RULES = sizeof rules / sizeof *rules };

static const char *const no_part = "it has no part in rigid-body dynamics";
static const char *const on_request = "the links and joints do not depend on it; its transmissions are read on request";

/* Elements without influence on the dynamics. */
static const struct {
    element parent;
    const char *name;
} known_elements[] = {
    {ELEMENT_ROBOT, "material"},          {ELEMENT_ROBOT, "gazebo"}, {ELEMENT_ROBOT, "transmission"},
    {ELEMENT_ROBOT, "ros2_control"},      {ELEMENT_ROBOT, "sensor"}, {ELEMENT_LINK, "visual"},
    {ELEMENT_LINK, "collision"},          {ELEMENT_LINK, "contact"}, {ELEMENT_LINK, "self_collision_checking"},
    {ELEMENT_LINK, "material"},           {ELEMENT_LINK, "sensor"},  {ELEMENT_JOINT, "calibration"},
    {ELEMENT_JOINT, "safety_controller"},
};

/* Returns the rule of the element e, or NULL. */
static const rule *rule_of(element e) {
    for (int i = 0; i < RULES; i++) {
        if (rules[i].element == e) {
            return &rules[i];
        }
    }
    return NULL;
}

const char *element_name(element e) {
    const rule *found = rule_of(e);
    return found ? found->name : "document";
}

static const rule *find_rule(element parent, const char *name) {
    for (int i = 0; i < RULES; i++) {
        if (rules[i].parent == parent && strcmp(rules[i].name, name) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}

/* Records an element without rule as ignored, or refuses it. */
static void open_unknown(reader *r, element parent, const char *name) {
    if (strncmp(name, "xacro:", 6) == 0) {
        reader_fail(r, DYN_INVALID_ARGUMENT, "<%.60s> is a xacro macro; run xacro on the file first", name);
        return;
    }
    if (parent == ELEMENT_DOCUMENT) {
        bool sdf = strcmp(name, "sdf") == 0, mjcf = strcmp(name, "mujoco") == 0;
        reader_fail(r, DYN_INVALID_ARGUMENT, "the document is a <%.60s>%s; URDF begins with <robot>", name,
                    sdf    ? ", which is SDF and not URDF"
                    : mjcf ? ", which is MJCF and not URDF"
                           : "");
        return;
    }
    for (size_t i = 0; i < sizeof known_elements / sizeof *known_elements; i++) {
        if (known_elements[i].parent == parent && strcmp(known_elements[i].name, name) == 0) {
            bool may_transmit = strcmp(name, "transmission") == 0 || strcmp(name, "ros2_control") == 0;
            ignore(r, DYN_SEVERITY_NOTE, may_transmit ? on_request : no_part, "<%s> in <%s>", name,
                   element_name(parent));
            return;
        }
    }
    if (strchr(name, ':')) {
        ignore(r, DYN_SEVERITY_NOTE, "it is an extension of URDF", "<%.200s> in <%s>", name, element_name(parent));
    } else {
        ignore(r, DYN_SEVERITY_WARNING, "URDF has no such element there", "<%.200s> in <%s>", name,
               element_name(parent));
    }
}

static bool is_known_attribute(const rule *of, const char *name) {
    for (int i = 0; i < 7 && of->attributes[i]; i++) {
        if (strcmp(of->attributes[i], name) == 0) {
            return true;
        }
    }
    return strncmp(name, "xmlns", 5) == 0;
}

/* Records the attributes that the element does not have as ignored. */
static void check_attributes(reader *r, const rule *of, const char **attributes) {
    for (int i = 0; attributes[i]; i += 2) {
        if (!is_known_attribute(of, attributes[i])) {
            ignore(r, strchr(attributes[i], ':') ? DYN_SEVERITY_NOTE : DYN_SEVERITY_WARNING,
                   "URDF has no such attribute there", "the attribute %.200s of <%s>", attributes[i], of->name);
        }
    }
}

void element_open(reader *r, const char *name, const char **attributes) {
    if (r->depth == DYN_URDF_MAX_DEPTH) {
        reader_fail(r, DYN_RESOURCE_EXHAUSTED, "elements are nested more than %d deep", DYN_URDF_MAX_DEPTH);
        reader_name_bound(r, "depth");
        return;
    }
    element parent = r->depth > 0 ? r->open[r->depth - 1] : ELEMENT_DOCUMENT;
    r->open[r->depth++] = ELEMENT_IGNORED;
    if (parent == ELEMENT_IGNORED) {
        return;
    }
    const rule *found = find_rule(parent, name);
    if (!found) {
        open_unknown(r, parent, name);
        return;
    }
    r->open[r->depth - 1] = found->element;
    if (parent != ELEMENT_ROBOT && has_seen(r, found->element)) {
        reader_report(r, DYN_SEVERITY_WARNING, "<%s> occurs twice; the last one counts", name);
    }
    found->open(r, attributes);
    r->seen |= UINT64_C(1) << found->element;
    if (r->status == DYN_OK) {
        check_attributes(r, found, attributes);
    }
}

void element_close(reader *r) {
    element e = r->open[--r->depth];
    const rule *closed = rule_of(e);
    if (closed && closed->close) {
        closed->close(r);
    }
}

void declare_world(reader *r) {
    static const char world[] = "world";
    if (name_index_find(&r->builder->link_names, world) >= 0) {
        return;
    }
    int j = 0;
    while (j < r->builder->joint_count && strcmp(r->builder->joints[j].parent_link, world) != 0) {
        j++;
    }
    if (j == r->builder->joint_count) {
        return;
    }
    const dyn_joint_description *joint = &r->builder->joints[j];
    report_add_element(r->report, DYN_SEVERITY_WARNING, joint_element(r->builder, joint->name),
                       "its parent link \"world\" is not declared: it is taken for a massless root");
    const dyn_link_description root = {.name = world, .line = joint->line};
    dyn_status status = dyn_builder_add_link(r->builder, &root, r->error);
    if (status != DYN_OK) {
        reader_stop(r, status);
    }
}
