"""What the ratios of recorders say of times whose host drifts."""
import random
import unittest

import cost_table

OFF, ON = 4000.0, {"collector": 5200.0, "empty": 5000.0, "kineto": 5200.0}


def rounds_of(count, host, closed=1.0):
    """Times of processes that `host` slows down, a factor a segment."""
    rows = []
    for number in range(count):
        for recorder, on_ns in ON.items():
            off_ns = OFF * (closed if recorder == "collector" else 1.0)
            speed = host(number, recorder)
            rows.append({"round": number, "recorder": recorder,
                         "off": {program: [off_ns * speed() for _ in range(6)]
                                 for program in cost_table.PROGRAMS},
                         "on": {program: [on_ns * speed() for _ in range(6)]
                                for program in cost_table.PROGRAMS}})
    return rows


def quiet_host(_number, _recorder):
    return lambda: 1.0


def host_of_two_speeds(seed):
    """A process is fast or slow by half, and each of its segments is disturbed by up to a tenth."""
    chance = random.Random(seed)

    def host(_number, _recorder):
        speed = chance.choice([1.0, 1.5])
        return lambda: speed * (1 + 0.1 * chance.random())

    return host


class CostTable(unittest.TestCase):
    def test_a_quiet_host_gives_the_ratios_as_they_are(self):
        for row in cost_table.cost_table(rounds_of(6, quiet_host)):
            self.assertAlmostEqual(row["ratios"]["open / empty"], 1.04)
            self.assertAlmostEqual(row["ratios"]["open / kineto"], 1.0)
            self.assertAlmostEqual(row["ratios"]["closed / none"], 1.0)
            self.assertAlmostEqual(row["lowest"]["open / empty"], 1.04)
            self.assertEqual(row["median"], {"none": 4000, "closed": 4000, "open": 5200,
                                             "empty": 5000, "kineto": 5200})

    def test_processes_of_two_speeds_do_not_change_a_ratio_within_them(self):
        for seed in range(20):
            row = cost_table.cost_table(rounds_of(16, host_of_two_speeds(seed)))[0]
            self.assertAlmostEqual(row["ratios"]["open / empty"], 1.04, delta=0.02)
            self.assertTrue(cost_table.verdict(row["interval"]["open / empty"], 1.10))

    def test_what_differs_between_processes_alone_is_not_known_where_their_speeds_do(self):
        row = cost_table.cost_table(rounds_of(16, host_of_two_speeds(1)))[0]
        self.assertIsNone(cost_table.verdict(row["interval"]["closed / none"], 1.03))

    def test_a_ratio_above_its_aim_is_told(self):
        row = cost_table.cost_table(rounds_of(16, quiet_host, closed=1.06))[0]
        self.assertIs(cost_table.verdict(row["interval"]["closed / none"], 1.03), False)

    def test_five_rounds_are_too_few_for_a_verdict(self):
        row = cost_table.cost_table(rounds_of(5, quiet_host))[0]
        self.assertIsNone(row["interval"]["open / empty"])
        self.assertIsNone(cost_table.verdict(None, 1.10))

    def test_a_round_with_a_failed_process_does_not_count(self):
        rows = rounds_of(3, quiet_host)
        rows[1] = {"round": 0, "recorder": rows[1]["recorder"], "failed": "ended with -11"}
        self.assertEqual(cost_table.cost_table(rows)[0]["rounds"], 2)
        self.assertEqual(cost_table.cost_table(rows[1:2]), [])

    def test_the_interval_of_a_median_is_that_of_order_statistics(self):
        # Of 16 values the 4th and the 13th: 2 * P(at most 3 of 16) = 0.021.
        self.assertEqual(cost_table.median_interval(range(1, 17)), [4, 13])
        self.assertEqual(cost_table.median_interval(range(6)), [0, 5])


if __name__ == "__main__":
    unittest.main()
