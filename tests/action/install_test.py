"""Where the action takes perfgate from: a release, the cache, or its own sources."""

import shutil
import subprocess
import unittest

from action_case import ActionTest
from repository import PERFGATE, Releases
from runner import ROOT


BUILD = f'[ "$1" != --build ] || cp {PERFGATE} "$2"\n[ "$1" != -S ] || mkdir "$4"\n'


class Installing(ActionTest):
    def setUp(self):
        super().setUp()
        self.releases = Releases(self.folder / "releases").__enter__()
        self.addCleanup(self.releases.__exit__)

    def machine(self, ref, **options):
        return self.runner(server_url=self.releases.url, action_ref=ref,
                           action_repository="octo/perfgate", **options)

    def use_of_a_copy(self, runner, inputs, build=BUILD):
        """By a copy of the action whose set-up and build are stand-ins."""
        copy = runner.folder / "action"
        for part in ("ci/action", "cmake", "include", "rules", "docs/schema", "src/base"):
            shutil.copytree(ROOT / part, copy / part)
        for part in ("action.yml", "CMakeLists.txt", "CMakePresets.json", "ci/env", "ci/torch-version",
                     "ci/lint-requirements"):
            shutil.copy(ROOT / part, copy / part)
        tools = runner.folder / "tools"
        tools.mkdir()
        for path, text in ((copy / "ci/setup", ""), (tools / "cmake", build)):
            path.write_text(f'#!/bin/sh\necho "{path.name} $*" >>{runner.folder}/built\n{text}')
            path.chmod(0o755)
        runner.path.insert(0, str(tools))
        runner.action = copy
        outputs = runner.use(inputs)
        built = runner.folder / "built"
        return outputs, built.read_text() if built.exists() else ""

    def test_the_release_of_the_tag_is_installed(self):
        self.releases.add("1.2.3")
        runner = self.machine("v1.2.3", cached=False)
        self.assertEqual(runner.use({})["verdict"], "pass", runner.log.text)
        self.assertEqual(self.kept_keys, [])

    def test_a_release_with_another_checksum_is_refused(self):
        self.releases.add("1.2.3", stated="1" * 64)
        runner = self.machine("v1.2.3", cached=False)
        runner.use({})
        self.assertEqual((runner.status, runner.codes["Install perfgate"]), ("failure", 3))
        self.assertNotIn("Measure and judge", runner.codes)
        self.assertIn("another checksum", runner.log.annotations("error")[0][2])
        self.assertIn("Nothing was measured", runner.summary)
        self.assertEqual(runner.codes["Verdict"], 3)

    def test_a_workflow_may_say_the_checksum_itself(self):
        digest = self.releases.add("1.2.3")
        for stated, status in ((digest, "success"), ("2" * 64, "failure")):
            runner = self.machine("0" * 40, cached=False)
            runner.use({"version": "1.2.3", "sha256": stated})
            self.assertEqual(runner.status, status, runner.log.text)

    def test_a_release_that_is_asked_for_and_not_there_is_an_error(self):
        runner = self.machine("v1.2.3", cached=False)
        runner.use({"version": "9.9.9"})
        self.assertEqual(runner.codes["Install perfgate"], 3)
        self.assertIn("there is no release", runner.log.annotations("error")[0][2])

    def test_a_tag_without_a_release_is_built(self):
        runner = self.machine("v1.2.3", cached=False)
        outputs, built = self.use_of_a_copy(runner, {})
        self.assertEqual(outputs["verdict"], "pass", runner.log.text)
        self.assertIn("setup --gate\n", built)
        self.assertIn("--preset gate", built)

    def test_a_build_that_fails_is_said(self):
        runner = self.machine("c0ffee" * 6, cached=False)
        _, built = self.use_of_a_copy(runner, {}, build="exit 1\n")
        self.assertEqual((runner.status, built.count("cmake")), ("failure", 1))
        self.assertIn("could not be installed", runner.log.annotations("error")[0][1])
        self.assertIn("Nothing was measured", runner.summary)

    def test_a_commit_is_built_once_and_kept(self):
        runner = self.machine("c0ffee" * 6, cached=False)
        outputs, built = self.use_of_a_copy(runner, {})
        self.assertEqual((outputs["verdict"], built.count("cmake --build")), ("pass", 1))
        self.assertRegex(self.kept_keys[0], r"^perfgate-[a-z]+-[0-9.]+-\w+-[0-9a-f]{32}$")
        again = self.machine("c0ffee" * 6)
        self.assertEqual(self.use_of_a_copy(again, {}), (outputs | {"comment-id": "101"}, ""))
        self.assertEqual(self.kept_keys, [])

    def test_the_runner_of_torch_is_another_build(self):
        keys = []
        for torch in ("true", "false"):
            runner = self.machine("c0ffee" * 6, cached=False)
            _, built = self.use_of_a_copy(runner, {"torch": torch})
            self.assertEqual("--preset release -DPERFGATE_TESTS=OFF" in built, torch == "true")
            self.assertIn("setup --torch" if torch == "true" else "setup --gate", built)
            keys += self.kept_keys
        self.assertEqual(len(set(keys)), 2)

    def test_perfgate_torch_is_never_of_a_release(self):
        self.releases.add("1.2.3")
        runner = self.machine("v1.2.3", cached=False)
        _, built = self.use_of_a_copy(runner, {"torch": "true"})
        self.assertIn("setup --torch\n", built)
        runner = self.machine("v1.2.3", cached=False)
        runner.use({"torch": "true", "version": "1.2.3"})
        self.assertEqual(runner.codes["Check the inputs"], 2)
        self.assertIn("a release has no perfgate-torch", runner.log.annotations("error")[0][2])

    def test_only_installing_measures_nothing(self):
        runner = self.machine("")
        outputs = runner.use({"install-only": "true"})
        self.assertEqual(set(outputs.values()), {""}, runner.log.text)
        self.assertEqual((runner.status, runner.summary, runner.artifacts), ("success", "", {}))
        found = subprocess.run(["which", "perfgate"], env={"PATH": ":".join(runner.path)},
                               capture_output=True, text=True, check=True)
        self.assertEqual(found.stdout, f"{runner.temp}/perfgate/bin/perfgate\n")


if __name__ == "__main__":
    unittest.main()
