/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that real robots have as many base parameters as their regressor has rank.
 *
 *     property_base_parameters_of_robots DIRECTORY
 *
 * reads each URDF file of the directory. Files that do not load are named and left out.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/base_parameters.h"

static const char *directory;
static struct dirent **files;

static int is_urdf(const struct dirent *entry) {
    const char *end = strrchr(entry->d_name, '.');
    return end && strcmp(end, ".urdf") == 0;
}

/* Loads a file of the directory. Returns NULL, with a line of output, where the file is refused. The caller frees the
 * model. */
static dyn_model *load(const char *name, const dyn_build_options *options) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    char *text = malloc(DYN_URDF_MAX_BYTES);
    ck_assert_ptr_nonnull(text);
    size_t length = fread(text, 1, DYN_URDF_MAX_BYTES, file);
    fclose(file);
    dyn_error error;
    dyn_model *model = NULL;
    if (dyn_urdf_load(text, length, options, NULL, &model, &error) != DYN_OK) {
        printf("%s: left out: %s: %s\n", name, error.place, error.message);
    }
    free(text);
    return model;
}

/* Checks the base parameters of one file, loaded with these options. Returns their number, or -1 where the file is
 * refused. */
static int check(random_source *random, const char *name, const dyn_build_options *options) {
    dyn_base_parameters *grouping = NULL;
    dyn_error error;
    dyn_model *model = load(name, options);
    if (!model) {
        return -1;
    }
    int count = 0;
    if (dyn_model_nv(model) > 0) {
        require(dyn_base_parameters_create(model, NULL, &grouping, &error), &error);
        check_base_count(random, name, model, NULL, grouping);
        check_base_torques(random, name, model, NULL, grouping);
        count = dyn_base_parameters_count(grouping);
        dyn_base_parameters_free(grouping);
    }
    dyn_model_free(model);
    return count;
}

/* Checks one file with independent and with coupled mimic joints, and with a floating base. The Panda has 43 base
 * parameters (Gaz et al. 2019, "Dynamic identification of the Franka Emika Panda robot with retrieval of feasible
 * parameters using penalty-based optimization"). */
START_TEST(real_robots_have_the_rank_of_their_regressor) {
    random_source random = random_seed("base parameters of real robots", 20261244);
    const char *name = files[_i]->d_name;
    int fixed = check(&random, name, &(dyn_build_options)DYN_BUILD_OPTIONS_INIT(.mimic = DYN_MIMIC_POLICY_INDEPENDENT));
    int coupled = check(&random, name, &(dyn_build_options)DYN_BUILD_OPTIONS_INIT(.mimic = DYN_MIMIC_POLICY_COUPLED));
    int floating = check(&random, name, &(dyn_build_options)DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING));
    printf("%s: %d base parameters; %d with coupled mimic joints, %d with a floating base\n", name, fixed, coupled,
           floating);
    if (strcmp(name, "panda_arm.urdf") == 0) {
        ck_assert_int_eq(fixed, 43);
    }
}
END_TEST

int main(int argc, char **argv) {
    directory = argc > 1 ? argv[1] : ".";
    int count = scandir(directory, &files, is_urdf, alphasort);
    if (count <= 0) {
        printf("there are no robots in %s\n", directory);
        return EXIT_FAILURE;
    }
    TCase *robots = tcase_create("robots");
    tcase_set_timeout(robots, 120);
    tcase_add_loop_test(robots, real_robots_have_the_rank_of_their_regressor, 0, count);
    int status = run_properties("base parameters of robots", robots);
    for (int i = 0; i < count; i++) {
        free(files[i]);
    }
    free(files);
    return status;
}
