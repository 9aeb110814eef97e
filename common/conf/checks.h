/*
 * checks.h - the words of an option table's check column
 *
 * Included only by the .c file that makes a table out of a .def file, as the names are short.
 */
#pragma once

// clang-format off
#define ANY             {CONF_ANY}
#define AT_LEAST(lo)    {CONF_AT_LEAST, .min = (lo)}
#define BETWEEN(lo, hi) {CONF_BETWEEN, .min = (lo), .max = (hi)}
#define ONE_OF(list)    {CONF_ONE_OF, .names = (list)}
#define LIST_OF(list)   {CONF_LIST_OF, .names = (list)}
// clang-format on
