"""What a workload says of its outputs is read with distrust; no LibTorch here."""

import json
import unittest

from gate_case import GateCase

SUITE = """\
version: 1
defaults: {device: cpu, warmup: {until_steady: false}, traced: {iterations: 1, processes: 1}}
workloads:
"""

WORKLOAD = """\
  - name: NAME
    command: [python3, workload.py, NAME]
"""

PROGRAM = """\
import json, os, pathlib, sys
folder = pathlib.Path(os.environ["PERFGATE_ATTEMPT_DIR"])
name, file, shape = sys.argv[1], "y.f32", [2]
if name == "pipe":
    os.mkfifo(folder / file)
elif name == "link":
    (folder / file).symlink_to("/etc/passwd")
elif name == "linked_folder":
    (folder / "etc").symlink_to("/etc")
    file = "etc/passwd"
elif name == "huge":
    with open(folder / file, "wb") as sparse:
        sparse.truncate(50 << 30)
    shape = [50 << 28]
elif name == "many":
    shape = [200 << 18]
    for i in range(6):
        with open(folder / f"y{i}.f32", "wb") as sparse:
            sparse.truncate(200 << 20)
outputs = [{"name": "y", "dtype": "fp32", "shape": shape, "file": file}]
if name == "many":
    outputs = [{**outputs[0], "name": f"y{i}", "file": f"y{i}.f32"} for i in range(6)]
(folder / "samples.json").write_text(json.dumps({"schema": "perfgate.samples/1", "outputs": outputs}))
"""

SAID = {
    "pipe": "y.f32: is not a regular file",
    "link": "y.f32: is a link that leads out of the folder",
    "linked_folder": "etc/passwd: is a link that leads out of the folder",
    "huge": "y.f32: holds 53687091200 bytes: no more than 268435456 are read",
    "many": "y5.f32: not read: of the outputs of a process no more than 1073741824 bytes are",
}


class HostileOutputs(GateCase):
    def test_each_is_named_and_none_is_read(self):
        self.write("workload.py", PROGRAM)
        self.write("perfgate.yaml", SUITE + "".join(WORKLOAD.replace("NAME", name) for name in SAID) +
                   "rules: [perfgate:precision]\n")
        done = self.perfgate("run", "--format", "json")
        self.assertEqual(done.returncode, 3, done.stderr)
        for case in json.loads(done.stdout)["cases"]:
            self.assertIn(SAID[case["case"]], " ".join(case["incomplete_because"]))
            self.assertEqual(case["status"], "error")


if __name__ == "__main__":
    unittest.main()
