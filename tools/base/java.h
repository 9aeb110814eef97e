/*
 * java.h - what Kafka's tools print as Java makes it: the order of its hash tables, its numbers
 *
 * Scripts and znodes hold settings in the order of java.util.Properties; to write the same bytes is
 * to walk the same table. Pure: any thread.
 */
#pragma once

#include "common/base/props.h"

/*
 * The order in which a java.util.HashMap made for capacity elements (16 where nothing was said)
 * gives back what was put in; hashes are those of the keys, in the order of putting. ret[i] is the
 * index of the element that stands i-th.
 */
void java_map_order(const int32_t *hashes, size_t count, size_t capacity, size_t *ret);
/* The same for java.util.Properties, which moves elements around as it grows. */
void java_properties_order(const int32_t *hashes, size_t count, size_t *ret);
/* Puts settings in the order in which Properties gives them back, were they put in as they stand
 * now. */
void java_properties_sort(struct props *p);
/* Double.toString(): "1000.0", "1.0E7". */
void java_double(double v, struct strbuf *out);
/* Double.parseDouble(): -EINVAL for what Java takes for no number. */
int java_parse_double(struct str s, double *ret) MUST_CHECK;
/* Java's String.trim(). */
struct str java_trim(struct str s);
