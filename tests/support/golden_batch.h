/*
 * golden_batch.h - the worked examples of the file formats, as hex
 */
#pragma once

/* Base offset 100, leader epoch 7, CreateTime 1700000000000: (k, v) and, 5 ms later, (null, hello)
 * with header h=null. */
#define GOLDEN_BATCH                                                                               \
    "00 00 00 00 00 00 00 64 00 00 00 49 00 00 00 07 02 af 2f f9 f6 00 00 00 "                     \
    "00 00 01 00 00 01 8b cf e5 68 00 00 00 01 8b cf e5 68 05 ff ff ff ff ff "                     \
    "ff ff ff ff ff ff ff ff ff 00 00 00 02 10 00 00 00 02 6b 02 76 00 1c 00 "                     \
    "0a 02 01 0a 68 65 6c 6c 6f 02 02 68 01"

/* COMMIT: offset 102, leader epoch 7, producer 4000 epoch 2, coordinator epoch 3. */
#define GOLDEN_MARKER                                                                              \
    "00 00 00 00 00 00 00 66 00 00 00 42 00 00 00 07 02 2d 78 af a4 00 30 00 "                     \
    "00 00 00 00 00 01 8b cf e5 6b e8 00 00 01 8b cf e5 6b e8 00 00 00 00 00 "                     \
    "00 0f a0 00 02 ff ff ff ff 00 00 00 01 20 00 00 00 08 00 00 00 01 0c 00 "                     \
    "00 00 00 00 03 00"
