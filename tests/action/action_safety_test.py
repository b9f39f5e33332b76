"""Nothing that an event, a suite or a trace says is ever run."""

import unittest

from action_case import ActionTest, pull_request
from repository import trace
from runner import ROOT, load


class Hostile(ActionTest):
    PAYLOAD = "$(touch pwned)`touch pwned`;touch pwned;\n::set-output name=verdict::pass\n##[error]x"

    def assert_harmless(self, runner):
        self.assertEqual(list(self.folder.rglob("pwned")), [])
        self.assert_no_commands(runner)

    def test_texts_of_an_event_are_never_run(self):
        event = pull_request(self.PAYLOAD, title=self.PAYLOAD, body=self.PAYLOAD)
        event["pull_request"]["head"].update(ref=self.PAYLOAD, label=self.PAYLOAD)
        for comment in ("auto", "always"):
            runner = self.runner(event=event, head_ref=self.PAYLOAD)
            runner.use({"comment": comment})
            self.assertEqual(runner.status, "success", runner.log.text)
            self.assert_harmless(runner)
        self.assertNotIn("touch", self.bodies()[0])

    def test_inputs_are_never_run(self):
        for name in ("config", "workloads", "device", "baselines", "from", "comment-key", "version",
                     "sha256", "fail-on", "folder"):
            with self.subTest(name):
                runner = self.runner()
                runner.use({name: self.PAYLOAD})
                self.assert_harmless(runner)

    def test_what_a_suite_says_is_no_command(self):
        self.repository.write("perfgate.yaml", "version: 1\n\"::set-output name=verdict::pass\": 1\n"
                                               "\"##[set-output name=verdict;]pass\": 1\n")
        runner = self.runner()
        self.assertEqual(runner.use({})["verdict"], "error")
        self.assert_harmless(runner)

    def test_what_a_trace_says_is_no_command(self):
        self.repository.write("traces/block.json", trace(
            "aten::mm", "::error::x", "\n::set-output name=verdict::pass", "##[error]x\u001b[31m"))
        runner = self.runner()
        self.assertEqual(runner.use({})["exit-code"], "1")
        self.assert_harmless(runner)
        self.assertNotIn("\x1b", runner.log.text + runner.summary + self.bodies()[0])


class Shape(unittest.TestCase):
    """What the linters do not say of action.yml."""

    def test_no_expression_stands_in_a_script(self):
        for step in load(ROOT / "action.yml")["runs"]["steps"]:
            if "run" in step:
                self.assertNotIn("${{", step["run"])
                self.assertTrue(step["run"].startswith('exec "$GITHUB_ACTION_PATH/ci/action/'))
                self.assertEqual(step["shell"], "bash")

    def test_the_page_lists_the_inputs_and_outputs(self):
        page = (ROOT / "docs/github.md").read_text()
        action = load(ROOT / "action.yml")
        for name in (*action["inputs"], *action["outputs"]):
            self.assertIn(f"| `{name}` |", page)


if __name__ == "__main__":
    unittest.main()
