/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the writer of URDF: the reader builds the same robot from its text, bit by bit.
 */
#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"
#include "support/random.h"

static char *canonical(const dyn_model *model) {
    char *text;
    size_t length;
    ck_assert_int_eq(dyn_model_canonical(model, &text, &length, NULL), DYN_OK);
    return text;
}

static char *written(const dyn_model *model) {
    char *text;
    size_t length;
    dyn_error error;
    dyn_status status = dyn_urdf_write_model(model, &text, &length, &error);
    ck_assert_msg(status == DYN_OK, "%s: %s", error.place, error.message);
    ck_assert_uint_eq(strlen(text), length);
    return text;
}

/* Checks URDF -> model -> URDF -> model: both models are equal, and the second one is written as an equal document. */
static void assert_round_trip(const char *what, const char *urdf, dyn_base base) {
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = base);
    dyn_model *model = load_urdf(urdf, &options, NULL);
    char *once = written(model);
    dyn_model *again = load_urdf(once, &options, NULL);
    char *twice = written(again), *a = canonical(model), *b = canonical(again);
    ck_assert_msg(strcmp(a, b) == 0, "%s: the canonical text differs", what);
    ck_assert_str_eq(once, twice);
    ck_assert_str_eq(dyn_model_name(model), dyn_model_name(again));
    free(once), free(twice), free(a), free(b);
    dyn_model_free(model), dyn_model_free(again);
}

static const char everything[] =
    "<robot name='all &amp; &lt;more&gt; &quot;'><link name='a'/><link name='b &apos;'><inertial><origin xyz='1 2 3' "
    "rpy='0.1 0.2 0.3'/><mass value='1.1'/><inertia ixx='1' ixy='0.01' ixz='0.02' iyy='1.1' iyz='0.03' izz='1.2'/>"
    "</inertial></link><link name='c'><inertial><mass value='2'/></inertial></link><link name='d'/><link name='e'/>"
    "<link name='f'/><link name='g'><inertial><origin xyz='0.1 0 0'/></inertial></link>"
    "<joint name='fix' type='fixed'><parent link='a'/><child link='b &apos;'/><origin xyz='0 0 1e-300' rpy='1.5708 0 "
    "0'/>"
    "</joint><joint name='turn' type='revolute'><parent link='b &apos;'/><child link='c'/><axis xyz='1 1 0.3'/>"
    "<limit lower='-1.1' upper='2.2' velocity='3.3' effort='4.4'/><dynamics damping='0.5' friction='0.25'/></joint>"
    "<joint name='spin' type='continuous'><parent link='c'/><child link='d'/><limit velocity='1' effort='2'/>"
    "<origin rpy='-1.57079632679 3.14159265359 0.7'/></joint>"
    "<joint name='slide' type='prismatic'><parent link='d'/><child link='e'/><mimic joint='turn' multiplier='-0.3' "
    "offset='0.1'/></joint><joint name='plane' type='planar'><parent link='d'/><child link='f'/><axis xyz='0 1 0'/>"
    "</joint><joint name='free' type='floating'><parent link='a'/><child link='g'/></joint></robot>";

START_TEST(every_element_round_trips) {
    assert_round_trip("everything", everything, _i ? DYN_BASE_FLOATING : DYN_BASE_FIXED);
}
END_TEST

START_TEST(notes_round_trip) {
    static const char *const notes[] = {"it was identified from 4000 rows", "residuals: \"a\" 0.1 < b & c",
                                        "a third one"};
    char text[512], *once;
    snprintf(text, sizeof text,
             "<robot name='noted'><note text='%s'/><link name='a'/><note text='residuals: &quot;a&quot; 0.1 &lt; b "
             "&amp; c'/><note text='%s'/></robot>",
             notes[0], notes[2]);
    assert_round_trip("notes", text, DYN_BASE_FIXED);
    dyn_model *model = load_urdf(text, NULL, NULL), *again = load_urdf(once = written(model), NULL, NULL);
    dyn_builder *builder;
    dyn_error error;
    ck_assert_int_eq(dyn_model_describe(again, &builder, &error), DYN_OK);
    ck_assert_int_eq(dyn_builder_note_count(builder), 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(dyn_builder_note(builder, i), notes[i]);
    }
    dyn_builder_free(builder);
    dyn_model_free(model), dyn_model_free(again);
    free(once);
}
END_TEST

/* Checks angles that authors write: multiples of a right angle, angles beyond half a turn, and any number of digits, at
 * most 12 if the pitch may exceed a right angle. */
START_TEST(every_rotation_round_trips) {
    random_source random = random_seed("rpy(R(rpy)) gives R", 20261210);
    static const double special[] = {0, M_PI, -M_PI, M_PI_2, -M_PI_2, 1.5708, 3.1416, 1.57, 4.7124, 6.28, -1e-9, 2.5};
    for (int k = 0; k < 3000; k++) {
        char urdf[512], angle[3][40];
        bool beyond = random_index(&random, 2);
        for (int i = 0; i < 3; i++) {
            double range = i == 1 && !beyond ? M_PI_2 : 6.3;
            double x = random_index(&random, 2) ? special[random_index(&random, COUNT(special))]
                                                : random_uniform(&random, -range, range);
            x = fmin(fmax(x, -range), range);
            snprintf(angle[i], sizeof angle[i], "%.*g", 1 + random_index(&random, beyond ? 12 : 17), x);
        }
        snprintf(urdf, sizeof urdf,
                 "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='fixed'><parent link='a'/>"
                 "<child link='b'/><origin rpy='%s %s %s'/></joint></robot>",
                 angle[0], angle[1], angle[2]);
        assert_round_trip(urdf, urdf, DYN_BASE_FIXED);
    }
}
END_TEST

/* Checks that a rotation that no three angles represent exactly is written with an error of rounding. */
START_TEST(other_rotations_are_written_to_rounding) {
    random_source random = random_seed("rpy of any rotation", 20261211);
    for (int k = 0; k < 300; k++) {
        dyn_builder *builder = new_builder();
        add_link(builder, "a"), add_link(builder, "b");
        dyn_joint_description joint = joint_between("j", DYN_JOINT_TYPE_FIXED, "a", "b");
        double quaternion[4];
        random_unit(&random, 4, quaternion);
        if (k % 3 == 0) {
            const double pitched[4] = {quaternion[0], quaternion[3], quaternion[0], quaternion[3]};
            memcpy(quaternion, pitched, sizeof pitched); /* a pitch of a right angle */
        }
        dyn_quaternion_to_rotation(quaternion, joint.rotation);
        add_joint(builder, &joint);
        dyn_model *model = build_model(builder, NULL, NULL);
        char *text = written(model);
        dyn_model *again = load_urdf(text, NULL, NULL);
        for (int i = 0; i < 9; i++) {
            ck_assert_double_eq_tol(dyn_model_link(again, 1)->pose.rotation[i], joint.rotation[i], 1e-15);
        }
        dyn_text_free(text);
        dyn_model_free(model), dyn_model_free(again);
    }
}
END_TEST

static const struct {
    dyn_joint_type type;
    const char *fragment;
} foreign[] = {{DYN_JOINT_TYPE_HELICAL, "helical"},
               {DYN_JOINT_TYPE_CYLINDRICAL, "cylindrical"},
               {DYN_JOINT_TYPE_UNIVERSAL, "universal"},
               {DYN_JOINT_TYPE_SPHERICAL, "spherical"}};

START_TEST(joints_that_urdf_has_not_are_refused) {
    dyn_builder *builder = new_builder();
    add_link(builder, "a"), add_link(builder, "b");
    connect_links(builder, "odd", foreign[_i].type, "a", "b");
    dyn_error error;
    char *text;
    size_t length;
    expect_error(dyn_urdf_write(builder, &text, &length, &error), &error, DYN_FAILED_PRECONDITION, "joint odd",
                 foreign[_i].fragment);
    ck_assert_ptr_null(text);
    dyn_builder_free(builder);
}
END_TEST

/* Checks every URDF file of tests/data and of the reference robots that the reader accepts. */
START_TEST(whole_robots_round_trip) {
    static const char *const directories[] = {DYNAMICS_TEST_DATA "/urdf", DYNAMICS_REFERENCE_DIR "/robots"};
    for (int d = 0; d < COUNT(directories); d++) {
        int count = 0;
        DIR *directory = opendir(directories[d]);
        ck_assert_msg(directory != NULL, "there is no directory %s", directories[d]);
        for (struct dirent *entry; (entry = readdir(directory));) {
            char path[1024];
            size_t length;
            snprintf(path, sizeof path, "%s/%s", directories[d], entry->d_name);
            const char *end = strrchr(entry->d_name, '.');
            char *text = end && strcmp(end, ".urdf") == 0 ? read_whole_file(path, &length) : NULL;
            dyn_model *model;
            if (text && dyn_urdf_load(text, length, NULL, NULL, &model, NULL) == DYN_OK) {
                dyn_model_free(model);
                assert_round_trip(path, text, DYN_BASE_FIXED);
                count++;
            }
            dyn_text_free(text);
        }
        closedir(directory);
        printf("%s: %d robots\n", directories[d], count);
        ck_assert_int_gt(count, 0);
    }
}
END_TEST

START_TEST(locale_of_the_caller_does_not_matter) {
    char *before = setlocale(LC_ALL, "de_DE.UTF-8");
    assert_round_trip("everything", everything, DYN_BASE_FIXED);
    if (!before) {
        printf("no German locale here\n");
    }
    setlocale(LC_ALL, "C");
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("urdf_write");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, every_element_round_trips, 0, 2);
    tcase_add_test(tests, every_rotation_round_trips);
    tcase_add_test(tests, other_rotations_are_written_to_rounding);
    tcase_add_loop_test(tests, joints_that_urdf_has_not_are_refused, 0, COUNT(foreign));
    tcase_add_test(tests, notes_round_trip);
    tcase_add_test(tests, whole_robots_round_trip);
    tcase_add_test(tests, locale_of_the_caller_does_not_matter);
    return run_tests(tests);
}
