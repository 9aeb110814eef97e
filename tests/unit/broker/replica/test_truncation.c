#include "broker/replica/truncation.h"

#include "tests/support/test_main.h"

static struct truncation point(struct epoch_end leader, struct epoch_end own, int64_t end)
{
    return truncation_point(leader, own, end, 7);
}

#define CHECK(t, at, final)                                                                        \
    do {                                                                                           \
        struct truncation t_ = (t);                                                                \
        ck_assert_int_eq(t_.offset, at);                                                           \
        ck_assert_int_eq(t_.is_final, final);                                                      \
    } while (0)

START_TEST(leader_knows_no_epoch_so_cut_to_the_watermark)
{
    CHECK(point((struct epoch_end){-1, -1}, (struct epoch_end){-1, -1}, 50), 7, true);
}
END_TEST

START_TEST(peer_without_epochs_in_its_answer)
{
    CHECK(point((struct epoch_end){-1, 30}, (struct epoch_end){-1, -1}, 50), 30, true);
    CHECK(point((struct epoch_end){-1, 80}, (struct epoch_end){-1, -1}, 50), 50, true);
}
END_TEST

START_TEST(we_have_no_epoch_that_old)
{
    CHECK(point((struct epoch_end){2, 30}, (struct epoch_end){-1, -1}, 50), 30, true);
}
END_TEST

START_TEST(same_epoch_cuts_to_the_shorter)
{
    CHECK(point((struct epoch_end){5, 40}, (struct epoch_end){5, 45}, 50), 40, true);
    CHECK(point((struct epoch_end){5, 48}, (struct epoch_end){5, 45}, 50), 45, true);
    CHECK(point((struct epoch_end){5, 90}, (struct epoch_end){5, 50}, 50), 50, true);
}
END_TEST

START_TEST(another_epoch_is_cut_and_asked_again)
{
    CHECK(point((struct epoch_end){6, 40}, (struct epoch_end){4, 20}, 50), 20, false);
    CHECK(point((struct epoch_end){6, 40}, (struct epoch_end){4, 60}, 50), 50, false);
}
END_TEST

TEST_MAIN("broker/replica/truncation", leader_knows_no_epoch_so_cut_to_the_watermark,
          peer_without_epochs_in_its_answer, we_have_no_epoch_that_old,
          same_epoch_cuts_to_the_shorter, another_epoch_is_cut_and_asked_again)
