"""What a server, a network or a library may do, and a job stays green."""

import ctypes
import pathlib
import re
import signal
import socket
import subprocess
import time
import unittest

from comment_case import MARKER, PERFGATE, CommentTest, pull_request_event
from github_server import GitHub

NOW_S = 1801390500  # of the program's clock
LIMITED = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}


class Faults(CommentTest):
    def assert_posted_after(self, done, waits_ms):
        self.assertEqual(done.code, 0)
        self.assertTrue(done.out.startswith("created "), done.err)
        self.assertEqual(done.slept_ms(), waits_ms)

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
        self.assert_not_posted(done, "libcurl cannot be opened (")
        self.assertIn("libcurl.so.4", done.err)
        self.assertIn("apt-get install libcurl4", done.err)
        self.assertEqual((done.slept_ms(), self.github.seen), ([], []))

    def test_another_library_of_that_name_is_a_warning(self):
        done = self.comment(**self.libraries(libcurl=loaded("libm.so.6")))
        self.assert_not_posted(done, "this libcurl has no curl_")

    def test_the_one_that_git_brings_serves_too(self):
        done = self.comment(**self.libraries(libcurl=None, libcurl_gnutls=loaded("libcurl.so.4")))
        self.assertEqual((done.code, len(self.bodies())), (0, 1), done.err)

    def test_perfgate_does_not_load_it_at_its_start(self):
        needed = subprocess.run(["readelf", "--dynamic", PERFGATE], capture_output=True, text=True, check=True)
        self.assertIn("libc.so", needed.stdout)
        self.assertNotIn("libcurl", needed.stdout)


if __name__ == "__main__":
    unittest.main()
