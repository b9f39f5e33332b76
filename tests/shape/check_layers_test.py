"""ci/check_layers passes on the tree as it is and fails on each kind of forbidden include."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]


class CheckLayers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        shutil.copy(ROOT / "CMakeLists.txt", self.root)
        for part in ("src", "include"):
            shutil.copytree(ROOT / part, self.root / part)

    def tearDown(self):
        self.folder.cleanup()

    def check(self):
        done = subprocess.run([sys.executable, ROOT / "ci/check_layers", self.root],
                              capture_output=True, text=True)
        return done.returncode, done.stdout

    def forbidden(self, file, include, reason):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text() if path.exists() else ""
        path.write_text(before + f"\n#include {include}\n")
        code, out = self.check()
        self.assertEqual(code, 1, out)
        self.assertIn(file, out)
        self.assertIn(reason, out)

    def test_the_tree_as_it_is_passes(self):
        self.assertEqual(self.check(), (0, "layers: as declared\n"))

    def test_an_upward_include_fails(self):
        self.forbidden("src/trace/bad.cc", '"judge/judge.h"', "src/trace may not use src/judge")

    def test_an_inner_header_of_another_folder_fails(self):
        self.forbidden("src/diff/bad.cc", '"evidence/gpu.h"', "only the public header")

    def test_a_library_outside_its_door_fails(self):
        self.forbidden("src/judge/bad.cc", "<sqlite3.h>", "SQLite::SQLite3 is not behind a door")
        self.forbidden("src/cli/bad.cc", "<torch/torch.h>", "LibTorch is not behind a door")

    def test_a_library_in_a_header_fails(self):
        self.forbidden("src/store/bad.h", "<sqlite3.h>", ".cc files only")
        self.forbidden("src/base/bad.h", "<fmt/format.h>", "no place in a header")
        self.forbidden("src/base/worse.h", "<regex>", "no place in a header")

    def test_an_unknown_library_fails(self):
        self.forbidden("src/base/bad.cc", "<Eigen/Dense>", "unknown third-party header")

    def test_the_public_attempt_header_stays_free_of_ours(self):
        self.forbidden("include/perfgate/bad.h", '"base/text.h"', "standard library only")

    def test_the_table_of_modules_is_for_suites_and_the_runner_alone(self):
        self.forbidden("src/judge/bad.cc", '"perfgate/modules.h"', "only src/torch includes")

    def test_a_folder_without_a_line_fails(self):
        self.forbidden("src/extra/bad.cc", "<vector>", "in no perfgate_folder line")

    def test_types_of_one_name_in_two_folders_fail(self):
        for folder in ("trace", "diff"):
            (self.root / f"src/{folder}/bad.h").write_text(
                "namespace perfgate {\nstruct Twin {\n  int of = 0;\n};\n}  // namespace perfgate\n")
        code, out = self.check()
        self.assertEqual(code, 1, out)
        self.assertIn("src/trace/bad.h: perfgate::Twin is a type of src/diff/bad.h too", out)

    def test_types_that_no_other_file_sees_may_share_a_name(self):
        for folder in ("trace", "diff"):
            (self.root / f"src/{folder}/bad.cc").write_text(
                "namespace perfgate {\nnamespace {\nstruct Twin {\n  int of = 0;\n};\n"
                "}  // namespace\n}  // namespace perfgate\n")
        self.assertEqual(self.check(), (0, "layers: as declared\n"))

    def test_a_circle_fails(self):
        path = self.root / "CMakeLists.txt"
        path.write_text(path.read_text().replace("perfgate_folder(metric USES base)",
                                                 "perfgate_folder(metric USES base judge)"))
        code, out = self.check()
        self.assertEqual(code, 1)
        self.assertIn("metric uses judge, which is not declared before it", out)


if __name__ == "__main__":
    unittest.main()
