/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONFORMANCE_ENGINE_CMD_COURSE_H
#define CONFORMANCE_ENGINE_CMD_COURSE_H

/*
 * warpcheck course: the exercises of docs/course. 0 done, or the answer is right; 1 the answer is wrong (--passed: the
 * course is not passed yet); 2 usage; 4 progress cannot be read or written.
 */
int cmd_course(int argc, char **argv);

#endif
