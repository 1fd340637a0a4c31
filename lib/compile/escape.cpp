/* SPDX-License-Identifier: BSD-2-Clause */
#include "escape.h"

/* Returns true for an ASCII digit, independently of the locale. */
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns true for bytes that have no special meaning in comments and string literals of C. */
static bool is_inert(char c) {
    return c >= 0x20 && c <= 0x7e && c != '*' && c != '?' && c != '"' && c != '\\';
}

std::string escaped(const std::string &text) {
    std::string inert;
    for (char c : text) {
        if (is_inert(c)) {
            inert += c;
            continue;
        }
        unsigned byte = (unsigned char)c;
        inert += {'\\', (char)('0' + byte / 64), (char)('0' + byte / 8 % 8), (char)('0' + byte % 8)};
    }
    return inert;
}

std::string identifier(const std::string &text) {
    std::string name;
    for (char c : text) {
        name += is_letter(c) || is_digit(c) ? c : '_';
    }
    return name.empty() || is_digit(name[0]) ? "_" + name : name;
}
