"""What the tests of the action share: event files, machines with a checkout, and the server of
tests/publish."""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "publish"))
from github_server import GitHub
from repository import Repository, program_folder
from runner import Runner

TEMPORARY = os.environ.get("TEST_TMPDIR")
MARKER = "<!-- perfgate:v1 key=perfgate -->\n"


def pull_request(head="octo/model", **more):
    return {"repository": {"full_name": "octo/model"}, "number": 7, "pull_request": {
        "number": 7, "title": "Faster", "head": {"sha": "c0ffee1234567", "ref": "faster",
                                                 "repo": {"full_name": head}}, **more}}


EVENTS = {
    "push": {"repository": {"full_name": "octo/model"}, "ref": "refs/heads/main"},
    "pull_request": pull_request(),
    "merge_group": {"repository": {"full_name": "octo/model"}, "merge_group": {"head_sha": "c0ffee"}},
    "workflow_dispatch": {"repository": {"full_name": "octo/model"}, "inputs": {}},
    "workflow_run": {"repository": {"full_name": "octo/model"}, "workflow_run": {
        "event": "pull_request", "head_sha": "c0ffee1234567", "head_branch": "faster",
        "conclusion": "failure", "head_repository": {"full_name": "fork/model",
                                                     "owner": {"login": "fork"}}}},
}


class ActionTest(unittest.TestCase):
    baseline = True

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(dir=TEMPORARY)
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.github = GitHub().__enter__()
        self.addCleanup(self.github.__exit__)
        self.repository = Repository(self.folder / "repository", self.baseline)
        self.runners = 0

    def runner(self, event_name="pull_request", event=None, cached=True, **github):
        """A machine with a checkout; `cached`: the cache has perfgate."""
        self.runners += 1
        folder = self.folder / f"machine{self.runners}"
        folder.mkdir()
        workspace = folder / "workspace"
        shutil.copytree(self.repository.folder, workspace)
        event = EVENTS[event_name] if event is None else event
        (folder / "event.json").write_text(json.dumps(event))
        context = {"event_name": event_name, "event": event, "event_path": str(folder / "event.json"),
                   "repository": "octo/model", "token": "good", "api_url": self.github.url,
                   "server_url": "https://github.test", "run_id": "9", "run_attempt": "1",
                   "action_ref": "", "action_repository": "", **github}
        runner = Runner(folder, workspace, context)
        self.kept_keys = []

        def restore(_, inputs):
            if cached:
                program_folder(inputs["path"])

        runner.actions["actions/cache/restore"] = restore
        runner.actions["actions/cache/save"] = lambda _, inputs: self.kept_keys.append(inputs["key"])
        return runner

    def bodies(self):
        return [comment["body"] for comment in self.github.comments]

    def assert_no_commands(self, runner, *expected):
        """The runner obeyed no command but annotations of perfgate's and groups."""
        for name, properties, _ in runner.log.commands:
            self.assertIn(name, ("error", "warning", "notice", *expected), runner.log.text)
            self.assertIn("title=perfgate", properties)
