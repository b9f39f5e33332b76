"""Plays the steps of a composite action, and of jobs that use it, as GitHub's runner does: expressions
and conditions, the environment and files of a step, log commands, signals, outputs, artifacts."""

import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess

from ruamel.yaml import YAML

ROOT = pathlib.Path(__file__).parents[2]
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.S)
TOKEN = re.compile(r"\s*('(?:[^']|'')*'|==|!=|&&|\|\||!|[()]|[\w.-]+)")
COMMAND = re.compile(r"^\s*::([\w-]+)(?: ([^:]*))?::(.*)$")
LEGACY_COMMAND = re.compile(r"##\[([\w-]+)[^\]]*\](.*)$")


def load(path):
    return YAML(typ="safe", pure=True).load(path.read_text())


def evaluate(text, contexts, status):
    """An expression of a workflow: names, strings, comparisons, status functions."""
    words = {"==": "==", "!=": "!=", "&&": " and ", "||": " or ", "!": " not ", "(": "(", ")": ")"}
    functions = {"always": True, "success": status == "success", "failure": status == "failure",
                 "cancelled": status == "cancelled"}

    def value_of(name):
        value = contexts
        for part in name.split("."):
            value = value.get(part, "") if isinstance(value, dict) else ""
        return "" if value is None else value

    python, position, text = [], 0, text.strip()
    while position < len(text):
        token = TOKEN.match(text, position)
        if not token:
            raise ValueError(f"not understood: {text[position:]!r}")
        position, word = token.end(), token[1]
        if word in functions and text[position:position + 2] == "()":
            python.append(repr(functions[word]))
            position += 2
        elif word in words:
            python.append(words[word])
        else:
            python.append(repr(word[1:-1] if word[0] == "'" else value_of(word)))
    return eval("".join(python).strip(), {"__builtins__": {}})  # of literals and operators alone


def interpolate(value, contexts, status="success"):
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return "" if value is None else str(value)
    whole = EXPRESSION.fullmatch(value.strip())
    if whole:
        return str(evaluate(whole[1], contexts, status))
    return EXPRESSION.sub(lambda found: str(evaluate(found[1], contexts, status)), value)


def holds(condition, contexts, status):
    if condition is None:
        return status == "success"
    text = str(condition).strip()
    whole = EXPRESSION.fullmatch(text)
    text = whole[1] if whole else text
    if not re.search(r"\b(always|success|failure|cancelled)\(\)", text):
        text = f"success() && ({text})"
    return bool(evaluate(text, contexts, status))


def read_file_commands(path):
    """NAME=VALUE and NAME<<END … END of a file such as GITHUB_OUTPUT, as strict as the runner."""
    values, lines = {}, iter(path.read_text().splitlines())
    for line in lines:
        assignment, heredoc = re.match(r"([^=<]+)=(.*)", line), re.match(r"([^=]+)<<(\S+)$", line)
        if heredoc:
            values[heredoc[1]] = "\n".join(iter(lambda: next(lines), heredoc[2]))
        elif assignment:
            values[assignment[1]] = assignment[2]
        else:
            raise ValueError(f"{path.name}: Invalid format '{line}'")
    return values


class Log:
    """What the steps printed, and the commands that the runner obeyed."""

    def __init__(self):
        self.text, self.commands, self._resume = "", [], None

    def add(self, text):
        self.text += text
        for line in text.splitlines():
            found = COMMAND.match(line)
            if self._resume:
                if found and found[1] == self._resume:
                    self._resume = None
            elif found and found[1] == "stop-commands":
                self._resume = found[3]
            elif found or (found := LEGACY_COMMAND.search(line)):
                self.commands.append(tuple(part or "" for part in found.groups()))

    def annotations(self, level):
        return [command for command in self.commands if command[0] == level]


@dataclasses.dataclass
class Step:
    code: int = 0
    outcome: str = "success"
    outputs: dict = dataclasses.field(default_factory=dict)


class Runner:
    """A machine for jobs. `actions` are the actions of others: name without version -> function of
    (runner, inputs) that returns outputs, or raises Failure; `while_running`: name of a step ->
    function of its process, called while it runs."""

    def __init__(self, folder, workspace, github, action=ROOT, path=os.environ["PATH"]):
        self.folder, self.workspace, self.action = folder, workspace, action
        self.temp, self.home = folder / "runner_temp", folder / "home"
        for made in (self.temp, self.home):
            made.mkdir()
        self.github, self.path = github, [path]
        self.log, self.summary, self.artifacts, self.steps = Log(), "", {}, {}
        self.codes, self.status, self.files = {}, "success", 0
        self.actions = {"actions/upload-artifact": upload_artifact}
        self.while_running = {}

    def environment(self, files):
        # No token, unless a step asks for it; what names the action is empty in a composite one.
        hidden = ("token", "action_ref", "action_repository")
        upper = {f"GITHUB_{name.upper()}": value for name, value in self.github.items()
                 if isinstance(value, str) and name not in hidden}
        return {**upper, "PATH": ":".join(self.path), "HOME": str(self.home), "CI": "true",
                "GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(self.action),
                "GITHUB_WORKSPACE": str(self.workspace), "RUNNER_TEMP": str(self.temp),
                "no_proxy": "127.0.0.1", **{name: str(file) for name, file in files.items()}}

    def use(self, inputs, contexts=None):
        """One step that uses our action; returns its outputs."""
        action = load(self.action / "action.yml")
        unknown = set(inputs) - set(action["inputs"])
        if unknown:
            raise ValueError(f"the action has no inputs {unknown}")
        contexts = {"github": self.github, "steps": {}, "runner": {"temp": str(self.temp)},
                    **(contexts or {})}
        contexts["inputs"] = {name: interpolate(inputs.get(name, declared["default"]), contexts)
                              for name, declared in action["inputs"].items()}
        self.status = "success"
        contexts["steps"] = self.run_steps(action["runs"]["steps"], contexts)
        return {name: interpolate(output["value"], contexts)
                for name, output in action["outputs"].items()}

    def job(self, workflow, name, needs=None, matrix=None, inputs=None):
        """One job of a workflow; False if it is not for this event. `needs`: name -> result."""
        job = workflow["jobs"][name]
        contexts = {"github": self.github, "runner": {"temp": str(self.temp)}, "matrix": matrix or {},
                    "inputs": inputs or {},
                    "needs": {other: {"result": result} for other, result in (needs or {}).items()}}
        before = "success" if set((needs or {}).values()) <= {"success"} else "failure"
        if not holds(job.get("if"), contexts, before):
            return False
        contexts["env"] = {key: interpolate(value, contexts) for key, value in job.get("env", {}).items()}
        self.run_steps(job["steps"], contexts)
        return True

    def run_steps(self, steps, contexts):
        done = {}
        for step in steps:
            contexts["steps"] = done
            name = step.get("name") or step.get("uses") or step["run"]
            result = Step(outcome="skipped")
            if holds(step.get("if"), contexts, self.status):
                result = self.run_step(step, name, contexts)
                self.codes[name] = result.code
                if result.outcome == "failure" and not step.get("continue-on-error"):
                    self.status = "failure" if self.status == "success" else self.status
            if "id" in step:
                done[step["id"]] = {"outputs": result.outputs, "outcome": result.outcome}
        return done

    def run_step(self, step, name, contexts):
        if "run" in step:
            return self.run_script(step, name, contexts)
        action = step["uses"].split("@")[0]
        inputs = {key: interpolate(value, contexts) for key, value in step.get("with", {}).items()}
        try:
            if action.endswith("/perfgate"):
                outputs = self.use(inputs, {key: contexts[key] for key in contexts if key != "steps"})
                return Step(int(self.status != "success"), self.status, outputs)
            return Step(outputs=self.actions[action](self, inputs) or {})
        except Failure as failure:
            self.log.add(f"::error::{failure}\n")
            return Step(1, "failure")

    def run_script(self, step, name, contexts):
        self.files += 1
        files = {variable: self.temp / f"_{variable}_{self.files}"
                 for variable in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH", "GITHUB_ENV")}
        for file in files.values():
            file.touch()
        script = self.temp / f"_script_{self.files}.sh"
        script.write_text(interpolate(step["run"], contexts))
        environment = self.environment(files)
        for variables in (contexts.get("env", {}), step.get("env", {})):
            environment.update({key: interpolate(value, contexts) for key, value in variables.items()})
        shell = ["--noprofile", "--norc", "-e", "-o", "pipefail"] if "shell" in step else ["-e"]
        process = subprocess.Popen(
            ["bash", *shell, script], cwd=self.workspace,
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            text=True, errors="replace")
        if name in self.while_running:
            self.while_running[name](process)
        self.log.add(process.communicate(timeout=120)[0])
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        self.path[:0] = reversed(files["GITHUB_PATH"].read_text().splitlines())
        code = process.returncode
        return Step(code, "success" if code == 0 else "failure",
                    read_file_commands(files["GITHUB_OUTPUT"]))

    def cancel(self, process):
        """As the runner cancels a job: a signal to the process of the step, to no other."""
        self.status = "cancelled"
        process.send_signal(signal.SIGINT)


class Failure(Exception):
    """An action of others that failed."""


def upload_artifact(runner, inputs):
    name, source = inputs["name"], runner.workspace / inputs["path"]
    if name in runner.artifacts:
        raise Failure(f"Conflict: an artifact with this name already exists: {name}")
    if source.exists():
        runner.artifacts[name] = runner.folder / "artifacts" / name
        shutil.copytree(source, runner.artifacts[name], ignore=shutil.ignore_patterns(".*"))
    return {"artifact-id": "1"}
