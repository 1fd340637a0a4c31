/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports what speaks against the choice of a fixed or floating base.
 */
#include "base_report.h"

#include <stdlib.h>
#include <string.h>

#include "load_report.h"

/* Least number of moving joints of an arm and of a leg, and of legs of a robot that walks. */
enum { ARM_JOINTS = 3, LEG_JOINTS = 2, LEGS = 3 };

/* Links that fixed joints connect with the root, and the chains of moving joints that leave them. */
typedef struct surroundings {
    bool *is_base; /* of each link */
    int *chain;    /* number of each link's chain; unused for links of the base */
    int *joints;   /* moving joints of each chain */
    int chains;
    double mass;        /* of the base, kg */
    int floating_joint; /* joint by which a link floats against the base; -1: none */
} surroundings;

/* Adds a link to the base or to the chain of its parent. Links are added in depth-first order. */
static void add_link(const dyn_builder *builder, const tree *links, int link, surroundings *s) {
    int joint = links->parent_joint[link];
    int parent = links->parent_link[joint];
    dyn_joint_type type = builder->joints[joint].type;
    s->is_base[link] = s->is_base[parent] && type == DYN_JOINT_TYPE_FIXED;
    if (s->is_base[link]) {
        s->mass += builder->links[link].inertia.mass;
        return;
    }
    s->chain[link] = s->is_base[parent] ? s->chains++ : s->chain[parent];
    s->joints[s->chain[link]] += type != DYN_JOINT_TYPE_FIXED;
    if (s->is_base[parent] && type == DYN_JOINT_TYPE_FLOATING) {
        s->floating_joint = joint;
    }
}

static int count_legs(const surroundings *s) {
    int legs = 0;
    for (int i = 0; i < s->chains; i++) {
        legs += s->joints[i] >= LEG_JOINTS;
    }
    return legs;
}

static void report_floating(const dyn_builder *builder, const tree *links, const surroundings *s, dyn_report *report) {
    const char *root = builder->links[links->root].name;
    if (strcmp(root, "world") == 0) {
        report_add_element(report, DYN_SEVERITY_WARNING, link_element(builder, root),
                           "the base floats, but a root link of this name is the world as a rule; pass a fixed base "
                           "unless the world itself moves");
    } else if (s->floating_joint >= 0) {
        report_add_element(report, DYN_SEVERITY_WARNING,
                           joint_element(builder, builder->joints[s->floating_joint].name),
                           "this joint floats, and the base floats too; pass a fixed base unless both move");
    } else if (s->chains == 1 && s->joints[0] >= ARM_JOINTS) {
        report_add_element(report, DYN_SEVERITY_NOTE, robot_element(builder),
                           "the base floats, but this looks like an arm on a fixed base: one chain of joints leaves "
                           "it; pass a fixed base if it is bolted down");
    }
}

static void report_fixed(const dyn_builder *builder, const tree *links, const surroundings *s, dyn_report *report) {
    int legs = count_legs(s);
    bool is_world = strcmp(builder->links[links->root].name, "world") == 0;
    if (legs >= LEGS && s->mass > 0 && !is_world) {
        report_add_element(report, DYN_SEVERITY_NOTE, robot_element(builder),
                           "the base is fixed, but this looks like a robot that walks: %d chains of joints leave its "
                           "base; pass a floating base if nothing holds it",
                           legs);
    }
}

bool base_report(const dyn_builder *builder, const tree *links, dyn_base base, dyn_report *report) {
    size_t count = (size_t)builder->link_count;
    surroundings s = {.is_base = calloc(count, sizeof *s.is_base),
                      .chain = calloc(count, sizeof *s.chain),
                      .joints = calloc(count, sizeof *s.joints),
                      .floating_joint = -1};
    bool is_complete = s.is_base && s.chain && s.joints;
    if (is_complete) {
        s.is_base[links->root] = true;
        s.mass = builder->links[links->root].inertia.mass;
    }
    for (size_t i = 1; i < count && is_complete; i++) {
        add_link(builder, links, links->order[i], &s);
    }
    if (is_complete && base == DYN_BASE_FLOATING) {
        report_floating(builder, links, &s, report);
    } else if (is_complete) {
        report_fixed(builder, links, &s, report);
    }
    free(s.is_base);
    free(s.chain);
    free(s.joints);
    return is_complete;
}
