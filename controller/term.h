/*
 * term.h - a term as controller: how it is won, how it begins, how it ends
 *
 * Thread: the controller's.
 */
#pragma once

#include "controller/core.h"

/* Stands for election where nobody is controller; having won, takes over. Where ZooKeeper fails, it
 * is tried again at c->elect_due_us. */
void term_elect(struct controller *c);
/* Looks who is controller (which arms the watch), and resigns if it was us and is not any more. */
void term_maybe_resign(struct controller *c);
/* Forgets everything and tells nobody; /controller is left alone. Harmless where not active. */
void term_resign(struct controller *c);
/* Gives the office up, so that another election takes place: something went wrong here. */
void term_force_move(struct controller *c, const char *why);
