/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access to the description in a builder, and to the description of a model.
 */
#include <dynamics/description.h>

#include <string.h>

#include "description.h"
#include "normal_form.h"
#include "sized.h"

dyn_status dyn_model_describe(const dyn_model *model, dyn_builder **builder, dyn_error *error) {
    return builder_copy(model->description, error, builder);
}

dyn_status dyn_model_build_options(const dyn_model *model, dyn_build_options *options, dyn_error *error) {
    return dyn_sized_write("options", &model->options, sizeof model->options, options, error);
}

const char *dyn_builder_name(const dyn_builder *builder) {
    return builder->name;
}

void dyn_builder_gravity(const dyn_builder *builder, double gravity[3]) {
    memcpy(gravity, builder->gravity, sizeof builder->gravity);
}

int dyn_builder_link_count(const dyn_builder *builder) {
    return builder->link_count;
}

const dyn_link_description *dyn_builder_link(const dyn_builder *builder, int link) {
    return link >= 0 && link < builder->link_count ? &builder->links[link] : NULL;
}

int dyn_builder_joint_count(const dyn_builder *builder) {
    return builder->joint_count;
}

const dyn_joint_description *dyn_builder_joint(const dyn_builder *builder, int joint) {
    return joint >= 0 && joint < builder->joint_count ? &builder->joints[joint] : NULL;
}

int dyn_builder_constraint_count(const dyn_builder *builder) {
    return builder->constraint_count;
}

const dyn_constraint_description *dyn_builder_constraint(const dyn_builder *builder, int constraint) {
    return constraint >= 0 && constraint < builder->constraint_count ? &builder->constraints[constraint] : NULL;
}
