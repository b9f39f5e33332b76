"""One comment of a pull request: created, updated, and whole in a race."""

import shutil
import subprocess
import threading
import unittest

from comment_case import CREATE, LIST, MARKER, PROGRAM, ROOT, CommentTest, pull_request_event
from github_server import GitHub


class Posting(CommentTest):
    def test_a_first_comment_is_created(self):
        done = self.comment()
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(done.out, "created https://github.test/octo/model/pull/7#issuecomment-101\n")
        self.assertEqual(self.github.calls(), ["POST /graphql", LIST, CREATE, LIST])
        self.assertTrue(self.bodies()[0].startswith(MARKER + "# All is well\n"))
        self.assertIn("commit c0ffee1", self.bodies()[0])
        sent = self.github.seen[2].headers
        self.assertEqual(sent["Authorization"], "Bearer good")
        self.assertEqual(sent["Accept"], "application/vnd.github+json")
        self.assertRegex(sent["User-Agent"], r"^perfgate/\d")

    def test_a_second_run_updates_the_same_comment(self):
        self.comment()
        self.write("text.md", "# Worse\n")
        done = self.comment()
        self.assertEqual(done.out, "updated https://github.test/octo/model/pull/7#issuecomment-101\n")
        self.assertEqual(len(self.bodies()), 1)
        self.assertIn("# Worse", self.bodies()[0])

    def test_an_unchanged_comment_is_left_alone(self):
        self.comment()
        done = self.comment()
        self.assertTrue(done.out.startswith("unchanged "))
        self.assertEqual(self.github.written(), [CREATE])

    def test_the_link_to_the_job_is_in_the_comment(self):
        self.comment(GITHUB_SERVER_URL="https://github.test", GITHUB_REPOSITORY="octo/model",
                     GITHUB_RUN_ID="9", GITHUB_RUN_ATTEMPT="2")
        self.assertIn("(https://github.test/octo/model/actions/runs/9/attempts/2)", self.bodies()[0])

    def test_the_marker_of_another_author_is_not_ours(self):
        theirs = self.github.add_comment(MARKER + "forged", user="github-actions")
        self.assertEqual(self.comment().code, 0)
        self.assertEqual(self.github.find(theirs)["body"], MARKER + "forged")
        self.assertEqual(self.github.written(), [CREATE])

    def test_a_comment_that_quotes_the_marker_is_not_ours(self):
        self.github.add_comment("> " + MARKER)
        self.comment()
        self.assertEqual(self.github.written(), [CREATE])

    def test_another_key_has_another_comment(self):
        self.comment("text.md", "--key", "h200")
        self.comment("text.md", "--key", "cpu")
        self.assertEqual(len(self.bodies()), 2)
        self.assertTrue(self.bodies()[1].startswith("<!-- perfgate:v1 key=cpu -->\n"))

    def test_a_given_author_is_not_asked_for(self):
        own = self.github.add_comment(MARKER + "old", user="Octocat")
        done = self.comment("text.md", "--author", "octocat", token="person")
        self.assertEqual(done.code, 0)
        self.assertEqual(self.github.calls(), [LIST, "PATCH /repos/octo/model/issues/comments/%d" % own])

    def test_a_comment_on_the_third_page_is_found(self):
        for i in range(250):
            self.github.add_comment(f"talk {i}", user="someone")
        own = self.github.add_comment(MARKER + "old")
        self.comment()
        self.assertEqual(self.github.calls()[1:4], [LIST] * 3)
        self.assertIn("per_page=100", self.github.seen[1].path)
        self.assertEqual(self.github.written(), ["PATCH /repos/octo/model/issues/comments/%d" % own])

    def test_a_minimised_comment_is_updated_all_the_same(self):
        own = self.github.add_comment(MARKER + "old", minimized=True)
        self.comment()
        self.assertIn("All is well", self.github.find(own)["body"])
        self.assertEqual(len(self.bodies()), 1)

    def test_gh_token_is_a_token_too(self):
        done = self.comment(token=None, GH_TOKEN="good\n")
        self.assertTrue(done.out.startswith("created "))

    def test_an_enterprise_server_has_its_interface_below_a_path(self):
        with GitHub(root="/api/v3") as enterprise:
            done = self.comment(url=enterprise.url + "/")
            self.assertTrue(done.out.startswith("created "), done.err)
            self.assertEqual(enterprise.calls()[0], "POST /api/graphql")
            self.assertEqual(enterprise.calls()[1], "GET /api/v3/repos/octo/model/issues/7/comments")

    def test_a_proxy_of_the_environment_is_used(self):
        done = self.comment(url="http://github.test", http_proxy=self.github.url, no_proxy="")
        self.assertTrue(done.out.startswith("created "), done.err)
        self.assertEqual(self.github.calls()[1],
                         "GET http://github.test/repos/octo/model/issues/7/comments")


class Races(CommentTest):
    def test_two_jobs_at_once_leave_one_comment(self):
        for _ in range(5):
            with GitHub() as self.github:
                self.github.race = threading.Barrier(2)
                jobs = [self.start("text.md", event=pull_request_event()) for _ in range(2)]
                self.assertEqual([self.finish(job).code for job in jobs], [0, 0])
                self.assertEqual(self.github.written().count(CREATE), 2)
                self.assertEqual([c["id"] for c in self.github.comments], [101])

    def test_the_older_of_two_stays_and_says_what_ours_said(self):
        self.github.next_id = 200

        def older():
            self.github.comments.insert(0, {"id": 150, "number": 7, "user": "github-actions[bot]",
                                            "body": MARKER + "the other job", "minimized": False})

        self.github.after_create = older
        done = self.comment()
        self.assertTrue(done.out.endswith("#issuecomment-150\n"))
        self.assertEqual(self.github.written()[1:], ["PATCH /repos/octo/model/issues/comments/150",
                                                     "DELETE /repos/octo/model/issues/comments/201"])
        self.assertIn("All is well", self.bodies()[0])

    def test_a_create_whose_answer_was_lost_leaves_one_comment(self):
        original = self.github.on_comments

        def lose_the_first_answer(seen, *rest):
            answer = original(seen, *rest)
            if seen.method == "POST" and self.github.written().count(CREATE) == 1:
                return 502, {}, b"<html>Bad Gateway</html>"
            return answer

        self.github.on_comments = lose_the_first_answer
        done = self.comment()
        self.assertEqual(done.code, 0)
        self.assertEqual(self.github.written().count(CREATE), 2)
        self.assertEqual([c["id"] for c in self.github.comments], [101])

    def test_doubles_of_an_earlier_race_are_removed(self):
        self.github.add_comment(MARKER + "old")
        self.github.add_comment(MARKER + "older job's double")
        self.comment()
        self.assertEqual([c["id"] for c in self.github.comments], [101])

    def test_a_double_that_cannot_be_removed_is_a_warning(self):
        self.github.add_comment(MARKER + "old")
        self.github.add_comment(MARKER + "double")
        self.github.faults.append(("DELETE", 403, {}, {"message": "Forbidden"}))
        done = self.comment()
        self.assertEqual(done.code, 0)
        self.assertTrue(done.out.startswith("updated "))
        self.assertIn("warning: a second comment, 102, could not be removed", done.err)


class Bodies(CommentTest):
    def test_a_long_text_is_cut_at_whole_sections(self):
        section = "\n### case {}\n\n```diff\n# not a heading\n" + "- kernel é\n" * 400 + "```\n"
        folded = "\n<details><summary>more</summary>\n\n### inside\n" + "x" * 6000 + "\n</details>\n"
        self.write("text.md", "# Long\n" + "".join(section.format(i) for i in range(16)) + folded)
        self.assertEqual(self.comment().code, 0)
        body = self.bodies()[0]
        self.assertLessEqual(len(body.encode()), 60000)
        kept = body.count("### case")
        self.assertGreater(kept, 8)
        self.assertEqual(body.count("```\n"), kept)
        self.assertIn(f"\n{17 - kept} sections left out, because a comment may not be longer.\n",
                      body[-400:])
        self.assertIn("commit c0ffee1", body[-400:])

    def test_a_text_without_sections_that_is_too_long_is_left_out_whole(self):
        self.write("text.md", "x" * 70000)
        self.comment()
        self.assertIn("1 section left out", self.bodies()[0])
        self.assertLess(len(self.bodies()[0]), 1000)

    def test_a_verdict_is_rendered_as_the_gate_rendered_it(self):
        verdict, markdown = self.verdict()
        done = self.comment(str(verdict))
        self.assertEqual(done.code, 0, done.err)
        self.assertTrue(self.bodies()[0].startswith(MARKER + markdown))
        self.assertIn("❌ perfgate: FAIL", self.bodies()[0])

    def test_without_a_file_the_newest_run_is_judged(self):
        shutil.copy(ROOT / "tests/data/traces/cpu_geglu_compile.json.gz", self.folder / "t.json.gz")
        self.write("perfgate.yaml", "version: 1\nsuite: demo\nrules: [perfgate:structure]\n"
                                    "workloads:\n  - name: geglu\n    trace: t.json.gz\n")
        subprocess.run([PROGRAM, "run"], cwd=self.folder, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        done = self.finish(self.start(event=pull_request_event()))
        self.assertTrue(done.out.startswith("created "), done.err)
        self.assertIn("perfgate: NO BASELINE", self.bodies()[0])


class DryRun(CommentTest):
    def test_it_says_what_it_would_do_and_writes_nothing(self):
        done = self.comment("text.md", "--dry-run")
        self.assertEqual(done.code, 0)
        self.assertTrue(done.out.startswith("would create a comment in octo/model#7\n" + MARKER))
        self.github.add_comment(MARKER + "old")
        self.github.add_comment(MARKER + "double")
        done = self.comment("text.md", "--dry-run")
        self.assertTrue(done.out.startswith("would update the comment in octo/model#7\n" + MARKER))
        self.assertEqual(self.github.written(), [])


class Usage(CommentTest):
    def test_wrong_use_exits_2(self):
        wrong = [("text.md", "--repo", "octo/model"), ("text.md", "--repo", "../x/y", "--pr", "1"),
                 ("text.md", "--pr", "-1"), ("text.md", "--pr", "x"), ("text.txt",),
                 ("text.md", "--key", "a b"), ("text.md", "--key", "a--b"),
                 ("text.md", "--untrusted", "--verdict", "failure"), ("v.json", "--untrusted"),
                 ("v.json", "--verdict", "failure"),
                 ("v.json", "--untrusted", "--verdict", "splendid"), ("text.md", "--dryrun")]
        for arguments in wrong:
            with self.subTest(arguments):
                done = self.comment(*arguments)
                self.assertEqual(done.code, 2, done.err)
                self.assertTrue(done.err.startswith("perfgate: "))
        self.assertEqual(self.github.seen, [])

    def test_an_address_that_is_none_exits_2(self):
        self.assertEqual(self.comment(url="file:///etc/passwd").code, 2)


if __name__ == "__main__":
    unittest.main()
