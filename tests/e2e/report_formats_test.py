"""Reports for CI systems, read as those systems read them.

JUnit XML is checked by tests/data/junit.xsd with xmllint, log commands are read by the rules of
GitHub's runner (src/Runner.Common/ActionCommand.cs of github.com/actions/runner), code quality by
the fields that GitLab asks for (docs.gitlab.com/ci/testing/code_quality)."""

import json
import pathlib
import signal
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from gate_case import GateCase
from gate_suite import Suite, pid_in

DATA = pathlib.Path(__file__).parents[1] / "data"
FORMATS = {"junit": "junit.xml", "github": "annotations.txt", "gitlab": "quality.json",
           "md": "summary.md"}
HOSTILE = (b"]]></failure><x a=\"'&amp;\x1b[31m\x01\x7f\n::set-output name=a::b\r##[error]c%0A"
           b"::error file=x,line=1::`|*_@all#1 \xff\xed\xa0\x80\xef\xbf\xbe\xef\xbf\xbf\xe2\x80\xae")


def flags(folder):
    return [part for name, file in FORMATS.items()
            for part in ("--report", f"{name}={folder / file}")]


def runner_reads(line):
    """(command, properties, message) of a line of the log, as GitHub's runner takes it, or None."""
    line = line.lstrip()
    if not line.startswith("::") or "::" not in line[2:]:
        assert "##[" not in line, line
        return None
    info, message = line[2:].split("::", 1)
    command, _, text = info.partition(" ")
    properties = {}
    for pair in text.strip().split(","):
        if pair.count("=") >= 1:
            key, value = pair.split("=", 1)
            for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","),
                               ("%25", "%")):
                value = value.replace(code, char)
            properties[key] = value
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        message = message.replace(code, char)
    return command, properties, message


def trace(names):
    """Bytes of a trace whose operators and kernels have these names, which may be no UTF-8."""
    events = [b'{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 1, '
              b'"tid": 1, "ts": 0, "dur": 1000}']
    for i, name in enumerate(names):
        text = b"".join(b"\\u%04x" % c if c < 0x20 or c in b'"\\' else bytes([c]) for c in name)
        at = 10 + 50 * i
        events += [
            b'{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 1, "ts": %d, '
            b'"dur": 20}' % (text, at),
            b'{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, '
            b'"ts": %d, "dur": 2, "args": {"correlation": %d}}' % (at + 2, i + 1),
            b'{"ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": 7, "ts": %d, "dur": 3, '
            b'"args": {"correlation": %d, "device": 0, "stream": 7}}' % (text, at + 5, i + 1)]
    return (b'{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], '
            b'"traceEvents": [' + b",\n".join(events) + b"]}")


class Reports(GateCase):

    def check(self, code, folder):
        """All reports of a command that ended with `code`; returns the JUnit root."""
        root = self.check_junit(code, folder / FORMATS["junit"])
        self.check_annotations(code, folder / FORMATS["github"])
        self.check_quality(code, folder / FORMATS["gitlab"])
        self.assertIn("perfgate: ", (folder / FORMATS["md"]).read_text().splitlines()[0])
        return root

    def check_junit(self, code, path):
        done = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", DATA / "junit.xsd",
                               path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in path.read_bytes().decode().splitlines():
            self.assertIsNone(runner_reads(line))
        root = ElementTree.parse(path).getroot()
        count = lambda element, outcome: len(element.findall(f".//{outcome}"))
        for suite in root:
            counted = {"tests": "testcase", "failures": "failure", "errors": "error",
                       "skipped": "skipped"}
            for attribute, outcome in counted.items():
                self.assertEqual(int(suite.get(attribute)), count(suite, outcome))
            names = [case.get("name") for case in suite.findall("testcase")]
            self.assertEqual(len(names), len(set(names)))
        for attribute, outcome in {"tests": "testcase", "failures": "failure",
                                   "errors": "error"}.items():
            self.assertEqual(int(root.get(attribute)), count(root, outcome))
        red = count(root, "failure") + count(root, "error") > 0
        self.assertEqual(red, code != 0, path.read_text())
        return root

    def check_annotations(self, code, path):
        commands = [runner_reads(line) for line in path.read_bytes().decode().splitlines()]
        for command, properties, message in commands:
            self.assertIn(command, ("error", "warning", "notice"))
            self.assertLessEqual(set(properties), {"file", "line", "col", "title"})
            self.assertTrue(properties["title"].startswith("perfgate"))
            self.assertTrue(message)
        for level in ("error", "warning", "notice"):
            self.assertLessEqual(sum(c[0] == level for c in commands), 10)
        self.assertEqual(any(c[0] == "error" for c in commands), code != 0)
        return commands

    def check_quality(self, code, path):
        issues = json.loads(path.read_text())
        for issue in issues:
            self.assertRegex(issue["fingerprint"], "^[0-9a-f]{16}$")
            self.assertIn(issue["severity"], ("info", "minor", "major", "critical", "blocker"))
            self.assertTrue(issue["description"] and issue["check_name"])
            self.assertTrue(issue["location"]["path"])
            self.assertGreaterEqual(issue["location"]["lines"]["begin"], 1)
        self.assertEqual(len({issue["fingerprint"] for issue in issues}), len(issues))
        self.assertEqual(any(i["severity"] in ("major", "critical") for i in issues), code != 0)

    def diff(self, base, head, *more):
        done = self.perfgate("diff", base, head, *more, *flags(self.folder))
        return done.returncode, self.check(done.returncode, self.folder)

    def test_recorded_pairs_are_read_by_every_consumer(self):
        seen = set()
        for base in sorted((DATA / "pairs").glob("*.base.json.gz")):
            for other in ("head", "again"):
                head = base.with_name(base.name.replace(".base.", f".{other}."))
                with self.subTest(head.name):
                    seen.add(self.diff(base, head)[0])
        self.assertGreaterEqual(seen, {0, 1})

    def test_hostile_names_are_text_and_nothing_else(self):
        (self.folder / "base.json").write_bytes(trace([b"mul_kernel"]))
        head = "::error::a<b>&\"',=%0A##[error].json"  # the case is named by it
        (self.folder / head).write_bytes(trace([b"mul_kernel", HOSTILE]))
        rules = self.folder / "a,b: c%.yaml"
        rules.write_text("version: 1\nrules:\n  - id: nothing-new\n"
                         "    changes: {kinds: [added], count: 0}\n")
        code, root = self.diff("base.json", head, "--rules", rules.name)
        self.assertEqual(code, 1)
        failure = root.find(".//failure")
        self.assertIn("]]></failure><x a=\"'&amp;\\x1b[31m", failure.text)
        self.assertEqual(root.find("testsuite").get("name"), 
                         head.removesuffix(".json").replace("##[", "# #["))
        self.assertEqual(len(failure), 0)
        annotation, = self.check_annotations(code, self.folder / FORMATS["github"])
        self.assertEqual(annotation[1]["file"], rules.name)
        self.assertEqual(annotation[1]["line"], "3")
        issue, = json.loads((self.folder / FORMATS["gitlab"]).read_text())
        self.assertEqual(issue["location"], {"path": rules.name, "lines": {"begin": 3}})

    def test_a_run_that_is_ended_leaves_whole_reports(self):
        with Suite(("a", ["ok"]), ("b", ["slow", "{folder}/pid"])) as suite:
            process = suite.start_run(*flags(suite.folder))
            pid_in(suite.folder / "pid")
            process.send_signal(signal.SIGTERM)
            code, _, stderr = suite.finish(process)
            self.assertEqual(code, 128 + signal.SIGTERM, stderr)
            root = self.check(code, suite.folder)
            self.assertIn("was interrupted by SIGTERM", root.find("testsuite/testcase/error").text)

    def test_a_workload_that_fails_and_a_missing_baseline_are_errors(self):
        with Suite(("a", ["ok"]), ("b", ["fail"])) as suite:
            code, _, stderr = suite.run(*flags(suite.folder))
            self.assertEqual(code, 3, stderr)
            root = self.check(code, suite.folder)
            types = {suite.get("name"): {e.get("type") for e in suite.iter("error")}
                     for suite in root}
            self.assertEqual(types, {"a": {"missing"}, "b": {"error"}})


if __name__ == "__main__":
    unittest.main()
