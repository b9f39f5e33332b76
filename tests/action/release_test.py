"""What ci/release made (in $RELEASE, by ci/test): it runs without the machine that built it, and the action
installs it. Exits 77, which CTest shows as skipped, where there is none."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from action_case import ActionTest
from repository import Releases
from runner import ROOT, load

RELEASE = pathlib.Path(os.environ["RELEASE"])
ARCHIVES = sorted(RELEASE.glob("perfgate-*.tar.gz"))
OLDEST_GLIBC = (2, 35)  # of Ubuntu 22.04
OF_GLIBC = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def output_of(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, capture_output=True,
                          **options).stdout


class Release(ActionTest):
    def setUp(self):
        super().setUp()
        self.archive, = ARCHIVES
        (self.folder / "anywhere").mkdir()
        output_of("tar", "-xzf", self.archive, "-C", self.folder / "anywhere")
        self.unpacked = self.folder / "anywhere" / self.archive.name.removesuffix(".tar.gz")

    def run_alone(self, *arguments):
        """perfgate in an empty environment, from another folder."""
        return output_of(self.unpacked / "perfgate", *arguments, env={}, cwd="/")

    def test_it_runs_from_any_folder_without_an_environment(self):
        version = re.search(r"perfgate-([0-9.]+)-linux", self.archive.name)[1]
        self.assertTrue(self.run_alone("--version").startswith(f"perfgate {version}\n"))
        told = self.run_alone("inspect", ROOT / "tests/data/traces/geglu_eager.json.gz")
        self.assertIn("aten::gelu", told)

    def test_it_brings_what_the_workloads_need(self):
        self.assertTrue((self.unpacked / "libperfgate_cupti.so").is_file())
        code = "import importlib.util; print(importlib.util.find_spec('perfgate').origin)"
        found = output_of("/usr/bin/python3", "-c", code, cwd="/", env={"PYTHONPATH": self.unpacked / "python"})
        self.assertEqual(found, f"{self.unpacked}/python/perfgate.py\n")
        headers = ["attempt.h", "outputs.h", "samples.h", "spans.h"]
        self.assertEqual(sorted(path.name for path in self.unpacked.glob("include/perfgate/*")), headers)
        (self.folder / "program.cc").write_text("".join(f"#include <perfgate/{name}>\n" for name in headers))
        output_of("g++", "-std=c++17", "-fsyntax-only", "-I", self.unpacked / "include", self.folder / "program.cc")

    def test_it_needs_no_library_but_glibc(self):
        for file in (self.unpacked / "perfgate", *self.unpacked.glob("*.so*")):
            needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "--dynamic", file)))
            self.assertIn("libc.so.6", needed)
            beside = {path.name for path in self.unpacked.iterdir()}
            self.assertEqual(needed - OF_GLIBC - beside, set(), file.name)
            symbols = re.findall(r"GLIBC_(\d+)\.(\d+)", output_of("objdump", "-T", file))
            self.assertLessEqual(max((int(a), int(b)) for a, b in symbols), OLDEST_GLIBC, file.name)

    def test_the_terms_of_what_is_linked_in_are_with_it(self):
        told = {path.name for path in (self.unpacked / "licences").iterdir() if path.stat().st_size > 100}
        self.assertLessEqual({"libyaml-cpp-dev", "libisal-dev", "libfmt-dev", "rapidjson-dev",
                              "libcli11-dev", "libsqlite3-dev", "libboost-dev", "libstdc++"}, told)

    def test_the_checksum_is_that_of_the_archive(self):
        digest = hashlib.sha256(self.archive.read_bytes()).hexdigest()
        self.assertEqual((RELEASE / "SHA256SUMS").read_text(), f"{digest}  {self.archive.name}\n")

    def test_a_tag_of_another_version_is_refused(self):
        done = subprocess.run([ROOT / "ci/release", self.folder / "none", "--tag", "v99.0.0"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the tag is v99.0.0, CMakeLists.txt says version ", done.stderr)
        self.assertFalse((self.folder / "none").exists())

    def test_the_action_installs_it(self):
        version = re.search(r"perfgate-([0-9.]+)-linux", self.archive.name)[1]
        with Releases(self.folder / "releases") as releases:
            shutil.copytree(RELEASE, releases.folder_of(version))
            runner = self.runner(cached=False, server_url=releases.url, action_ref=f"v{version}",
                                 action_repository="octo/perfgate")
            self.assertEqual(runner.use({})["verdict"], "pass", runner.log.text)
        self.assertTrue((runner.temp / "perfgate/bin/libperfgate_cupti.so").exists())

    def publish(self, brought):
        """The job that publishes what the build left: its runner, what was attested, what gh was called with."""
        runner = self.runner("push", ref_name="v1.2.3")
        attested = []
        runner.actions.update({
            "actions/download-artifact": lambda on, inputs: shutil.copytree(brought, on.workspace / inputs["path"]),
            "actions/attest-build-provenance": lambda _, inputs: attested.append(inputs["subject-path"])})
        tools = runner.folder / "tools"
        tools.mkdir()
        (tools / "gh").write_text(f'#!/bin/sh\necho "$GH_TOKEN $*" >>{runner.folder}/gh\n')
        (tools / "gh").chmod(0o755)
        runner.path.insert(0, str(tools))
        runner.job(load(ROOT / ".github/workflows/release.yml"), "publish", needs={"build": "success"})
        called = runner.folder / "gh"
        return runner, attested, called.read_text() if called.exists() else ""

    def test_a_tag_publishes_it_with_an_attestation(self):
        runner, attested, called = self.publish(RELEASE)
        self.assertEqual((runner.status, attested), ("success", ["release/*"]), runner.log.text)
        self.assertEqual(called, "good release create v1.2.3 --repo octo/model --verify-tag --generate-notes "
                                 f"release/SHA256SUMS release/{self.archive.name}\n")

    def test_an_archive_that_changed_on_the_way_is_not_published(self):
        changed = self.folder / "changed"
        shutil.copytree(RELEASE, changed)
        with open(changed / self.archive.name, "ab") as archive:
            archive.write(b"x")
        runner, attested, called = self.publish(changed)
        self.assertEqual((runner.status, attested, called), ("failure", [], ""))


if __name__ == "__main__":
    if not ARCHIVES:
        print(f"NOT RUN: no release in {RELEASE} (ci/release {RELEASE})")
        sys.exit(77)
    unittest.main()
