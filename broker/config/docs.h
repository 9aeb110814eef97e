/*
 * docs.h - what each key means, in a line, for DescribeConfigs with documentation
 *
 * Constant. Thread: any.
 */
#pragma once

/* NULL where there is none; of topic_options and broker_options. */
const char *topic_option_doc(const char *key);
const char *broker_option_doc(const char *key);
