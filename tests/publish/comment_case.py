"""`perfgate comment` as a job runs it: exit codes, what it prints, and what the server saw."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from github_server import GitHub

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = os.environ["COMMENT_PROGRAM"]  # perfgate, but that waiting takes no time
PERFGATE = os.environ["PERFGATE"]
TEMPORARY = os.environ.get("TEST_TMPDIR")
MARKER = "<!-- perfgate:v1 key=perfgate -->\n"
LIST = "GET /repos/octo/model/issues/7/comments"
CREATE = "POST /repos/octo/model/issues/7/comments"


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

    def assert_not_posted(self, done, why):
        self.assertEqual(done.code, 0)
        self.assertIn("warning: the comment could not be posted: ", done.err)
        self.assertIn(why, done.err)
        self.assertTrue(done.out.startswith(MARKER + "# All is well"), "the text is kept in the log")
