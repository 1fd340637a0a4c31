/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations that attach, change and detach payloads and merge robots.
 */
#include <dynamics/operations.h>

#include <stdio.h>
#include <stdlib.h>

#include "constraint.h"
#include "derivation.h"
#include "error.h"
#include "tree.h"

/* Changes the inertia of a link and builds the result, unless `status` is an error already. Errors about the link name
 * the argument "inertia". */
static dyn_status finish_with_inertia(const dyn_model *model, dyn_builder *copy, int link, const dyn_inertia *inertia,
                                      dyn_status status, dyn_error *error, dyn_model **result) {
    if (status != DYN_OK) {
        return derivation_finish(copy, model_base(model), status, error, result);
    }
    dyn_link_description *changed = &copy->links[link];
    changed->inertia = *inertia;
    status = builder_check_inertia(copy, link_element(copy, changed->name), inertia, error);
    status = derivation_finish(copy, model_base(model), status, error, result);
    const dyn_element none = {0}, *at = error ? &error->site.element : &none;
    bool is_of_link = at->kind == DYN_ELEMENT_KIND_LINK && at->index == link;
    return is_of_link ? dyn_error_of_argument(error, status, "inertia") : status;
}

dyn_status dyn_model_attach(const dyn_model *model, const char *link, const char *name, const dyn_inertia *inertia,
                            const dyn_pose *pose, dyn_model **result, dyn_error *error) {
    *result = NULL;
    dyn_builder *copy;
    dyn_status status = derivation_begin(model, error, &copy);
    if (status != DYN_OK) {
        return status;
    }
    int parent, child = copy->link_count;
    const dyn_link_description added = {.name = name};
    status = description_find_link(copy, "link", link, error, &parent);
    if (status == DYN_OK) {
        status = dyn_error_of_argument(error, builder_append_link(copy, &added, error), "name");
    }
    if (status == DYN_OK) {
        status = add_fixed_joint(copy, name, link, name, pose, error);
    }
    return finish_with_inertia(model, copy, child, inertia, status, error, result);
}

dyn_status dyn_model_change_inertia(const dyn_model *model, const char *link, const dyn_inertia *inertia,
                                    dyn_model **result, dyn_error *error) {
    *result = NULL;
    dyn_builder *copy;
    dyn_status status = derivation_begin(model, error, &copy);
    if (status != DYN_OK) {
        return status;
    }
    int changed = -1;
    status = description_find_link(copy, "link", link, error, &changed);
    return finish_with_inertia(model, copy, changed, inertia, status, error, result);
}

/* Marks all links except `link` and those that it carries; refuses the root. */
static dyn_status mark_rest(const dyn_builder *builder, int link, dyn_error *error, bool *retain) {
    tree links;
    dyn_status status = tree_find(builder, error, &links);
    if (status == DYN_OK && link == links.root) {
        status = builder_fail(builder, error, DYN_INVALID_ARGUMENT, link_element(builder, builder->links[link].name),
                              "it is the root, and with it the whole robot would go");
        dyn_error_of_argument(error, status, "link");
    }
    for (int i = 0; status == DYN_OK && i < builder->link_count; i++) {
        int at = links.order[i], carrier = links.parent_joint[at];
        retain[at] = at != link && (carrier < 0 || retain[links.parent_link[carrier]]);
    }
    tree_clear(&links);
    return status;
}

dyn_status dyn_model_detach(const dyn_model *model, const char *link, dyn_model **result, dyn_error *error) {
    *result = NULL;
    dyn_builder *copy;
    dyn_status status = derivation_begin(model, error, &copy);
    if (status != DYN_OK) {
        return status;
    }
    int removed;
    bool *retain = calloc((size_t)copy->link_count, sizeof *retain);
    status = retain ? description_find_link(copy, "link", link, error, &removed) : dyn_error_memory(error);
    if (status == DYN_OK) {
        status = mark_rest(copy, removed, error, retain);
    }
    if (status == DYN_OK) {
        status = prune(model, retain, error, &copy);
    }
    free(retain);
    return derivation_finish(copy, model_base(model), status, error, result);
}

/* Name with its prefix. Adding it refuses one that is too long. */
typedef struct long_name {
    char text[2 * DYN_MAX_NAME + 2];
} long_name;

static long_name prefixed(const char *prefix, const char *name) {
    long_name whole;
    snprintf(whole.text, sizeof whole.text, "%.*s%s", DYN_MAX_NAME + 1, prefix, name);
    return whole;
}

/* Names of a constraint's links and joints. */
typedef struct long_names {
    long_name own, links[2], joints[DYN_MAX_COUPLED_COORDINATES];
} long_names;

/* Renames a constraint and its links and joints. A constraint between the added robot and the world ties it to its root
 * instead, which is where the world was; a robot with a floating base has no such place. */
static dyn_status rename_constraint(const dyn_model *added, int i, const char *prefix, dyn_error *error,
                                    long_names *names, dyn_constraint_description *c) {
    const dyn_builder *from = added->description;
    *c = from->constraints[i];
    dyn_constraint_frame *sides[] = {&c->predecessor, &c->successor};
    names->own = prefixed(prefix, c->name);
    for (int k = 0; k < 2; k++) {
        bool has_side = !ties_coordinates(c->kind);
        if (has_side && !sides[k]->link && added->floating) {
            const named_element at = {{.kind = DYN_ELEMENT_KIND_CONSTRAINT, .index = i}, c->name};
            return builder_fail(from, error, DYN_FAILED_PRECONDITION, at,
                                "it ties a robot of floating base to the world; merge a model without it");
        }
        names->links[k] = prefixed(prefix, sides[k]->link ? sides[k]->link : added->links[0].name);
        sides[k]->link = has_side ? names->links[k].text : NULL;
    }
    for (int k = 0; k < DYN_MAX_COUPLED_COORDINATES && c->coupled[k].joint; k++) {
        names->joints[k] = prefixed(prefix, c->coupled[k].joint);
        c->coupled[k].joint = names->joints[k].text;
    }
    c->name = names->own.text;
    return DYN_OK;
}

/* Adds all constraints of a model under their new names. */
static dyn_status add_constraints(dyn_builder *builder, const dyn_model *added, const char *prefix, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (int i = 0; status == DYN_OK && i < added->constraint_count; i++) {
        dyn_constraint_description constraint;
        long_names names;
        status = rename_constraint(added, i, prefix, error, &names, &constraint);
        if (status == DYN_OK) {
            status = dyn_builder_add_constraint(builder, &constraint, error);
        }
    }
    return status;
}

/* Makes the added joints passive that are passive in the added robot. */
static dyn_status add_passive(dyn_builder *builder, const dyn_builder *added, const char *prefix, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (int j = 0; j < added->joint_count && status == DYN_OK; j++) {
        if (builder_is_passive(added, j)) {
            long_name name = prefixed(prefix, added->joints[j].name);
            status = dyn_builder_set_passive(builder, name.text, error);
        }
    }
    return status;
}

/* Adds a shaft of a model under its new name. A motor on the world becomes one on the added root. */
static dyn_status add_shaft(dyn_builder *builder, const dyn_builder *added, const char *prefix,
                            const dyn_machine_element_description *shaft, dyn_error *error) {
    dyn_machine_element_description element = *shaft;
    long_name name = prefixed(prefix, shaft->name), joints[DYN_MAX_SHAFT_JOINTS];
    long_name link = prefixed(prefix, shaft->link ? shaft->link : added->links[0].name);
    element.name = name.text;
    element.link = link.text;
    for (int k = 0; k < shaft->shaft.joint_count; k++) {
        joints[k] = prefixed(prefix, shaft->shaft.joints[k]);
        element.shaft.joints[k] = joints[k].text;
    }
    return dyn_builder_add_machine_element(builder, &element, error);
}

/* Adds all machine elements of a model under their new names. */
static dyn_status add_machine_elements(dyn_builder *builder, const dyn_builder *added, const char *prefix,
                                       dyn_error *error) {
    dyn_status status = DYN_OK;
    for (int i = 0; status == DYN_OK && i < added->machine_element_count; i++) {
        dyn_machine_element_description element = added->machine_elements[i];
        if (element.kind == DYN_MACHINE_ELEMENT_KIND_SHAFT) {
            status = add_shaft(builder, added, prefix, &element, error);
            continue;
        }
        long_name name = prefixed(prefix, element.name), joint = prefixed(prefix, element.joint);
        const char *other_name = element.other_link ? element.other_link : added->links[0].name;
        long_name link = prefixed(prefix, element.link ? element.link : ""), other = prefixed(prefix, other_name);
        bool has_other = element.link && element.kind != DYN_MACHINE_ELEMENT_KIND_FLUID;
        element.name = name.text;
        element.joint = element.link ? "" : joint.text;
        element.link = element.link ? link.text : NULL;
        element.other_link = has_other ? other.text : NULL;
        status = dyn_builder_add_machine_element(builder, &element, error);
    }
    return status;
}

/* Adds all contact surfaces of a model under their new names. A surface of the world becomes one of the added root; a
 * robot with a floating base has no such place. */
static dyn_status add_contact_surfaces(dyn_builder *builder, const dyn_model *added, const char *prefix,
                                       dyn_error *error) {
    const dyn_builder *from = added->description;
    dyn_status status = DYN_OK;
    for (int i = 0; status == DYN_OK && i < from->contact_surface_count; i++) {
        dyn_contact_surface surface = from->contact_surfaces[i];
        if (!surface.link && added->floating) {
            const dyn_error_site site = {.argument = "contact_surfaces", .has_item = true, .item = (size_t)i};
            return dyn_error_at(error, DYN_FAILED_PRECONDITION, &site,
                                "the contact surface \"%s\" of a robot of floating base is on the world; merge a model "
                                "without it",
                                surface.name);
        }
        long_name name = prefixed(prefix, surface.name);
        long_name link = prefixed(prefix, surface.link ? surface.link : added->links[0].name);
        surface.name = name.text;
        surface.link = link.text;
        status = dyn_builder_add_contact_surface(builder, &surface, error);
    }
    return status;
}

/* Adds all links and joints of another description under their new names. */
static dyn_status add_all(dyn_builder *builder, const dyn_builder *added, const char *prefix, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (int i = 0; status == DYN_OK && i < added->link_count; i++) {
        dyn_link_description link = added->links[i];
        long_name name = prefixed(prefix, link.name);
        link.name = name.text;
        status = builder_append_link(builder, &link, error);
    }
    for (int j = 0; status == DYN_OK && j < added->joint_count; j++) {
        dyn_joint_description joint = added->joints[j];
        long_name name = prefixed(prefix, joint.name), parent = prefixed(prefix, joint.parent_link);
        long_name child = prefixed(prefix, joint.child_link), master;
        joint.name = name.text;
        joint.parent_link = parent.text;
        joint.child_link = child.text;
        if (joint.mimic_joint) {
            master = prefixed(prefix, joint.mimic_joint);
            joint.mimic_joint = master.text;
        }
        status = builder_append_joint(builder, &joint, error);
    }
    return status;
}

dyn_status dyn_model_merge(const dyn_model *model, const char *link, const dyn_pose *pose, const dyn_model *added,
                           const char *prefix, dyn_model **result, dyn_error *error) {
    *result = NULL;
    dyn_builder *copy, *other = NULL;
    dyn_status status = derivation_begin(model, error, &copy);
    if (status != DYN_OK) {
        return status;
    }
    int parent;
    const char *before = prefix ? prefix : "";
    status = description_find_link(copy, "link", link, error, &parent);
    if (status == DYN_OK) {
        status = derivation_begin(added, error, &other);
    }
    if (status == DYN_OK) {
        status = dyn_error_of_argument(error, add_all(copy, other, before, error), "prefix");
    }
    if (status == DYN_OK) {
        long_name root = prefixed(before, added->links[0].name);
        status = add_fixed_joint(copy, root.text, link, root.text, pose, error);
    }
    if (status == DYN_OK) {
        status = add_constraints(copy, added, before, error);
    }
    if (status == DYN_OK) {
        status = dyn_error_of_argument(error, add_machine_elements(copy, other, before, error), "prefix");
    }
    if (status == DYN_OK) {
        status = add_contact_surfaces(copy, added, before, error);
    }
    if (status == DYN_OK) {
        status = add_passive(copy, other, before, error);
    }
    dyn_builder_free(other);
    return derivation_finish(copy, model_base(model), status, error, result);
}
