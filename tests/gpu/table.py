"""The tables of docs/h200.md, from what the checks of a GPU machine wrote.

usage: table.py DIR DOCUMENT [--check]

Puts tables made of DIR/{torch_workloads,torch_fused,cupti,aa}.json (or DIR/cupti/cupti.json) between the
lines `<!-- table: NAME -->` and `<!-- end -->` of DOCUMENT. With --check it writes nothing and exits 1
if the document has other ones.
"""
import argparse
import json
import pathlib
import re
import sys

import cost_table

MODES = ["eager", "cuda_graph", "hand_fused", "aoti"]
TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->\n)", re.S)


def read(folder, name):
    for path in (folder / f"{name}.json", folder / name / f"{name}.json"):
        if path.exists():
            return json.loads(path.read_text())
    sys.exit(f"{folder}: no {name}.json")


def markdown(heads, rows):
    return ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|",
            *("| " + " | ".join(row) + " |" for row in rows)]


def microseconds(value):
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def launched(row, eager):
    """"5 + 1 split-K, 15.6 us"; in a graph, copies are kernels."""
    copies = row["memcpy"]
    if row["graph_launches"] and eager:
        copies = row["kernels"] - eager["kernels"] + row["memcpy"]
    own = row["kernels"] - row["gemm_aux"] - (copies - row["memcpy"])
    parts = [str(own), *([f"{row['gemm_aux']} split-K"] if row["gemm_aux"] else []),
             *([f"{copies} copies" if copies > 1 else "1 copy"] if copies else [])]
    return f"{' + '.join(parts)}, {microseconds(row['gpu_time_us'])} us"


def workloads(folder):
    """A row a workload, a column a mode: kernels a step and time on the GPU."""
    cases = {}
    for row in read(folder, "torch_workloads")["rows"]:
        name, _, mode = row["case"].rpartition("-")
        cases.setdefault(name, {})[mode] = row
    modes = [mode for mode in MODES if any(mode in rows for rows in cases.values())]
    rows = []
    for name, by_mode in cases.items():
        eager = by_mode.get("eager")
        cells = [launched(by_mode[mode], eager) if mode in by_mode else "-" for mode in modes]
        rows.append([f"`{name}`", *cells, microseconds(eager["dispatch_us"]) if eager else "-"])
    return markdown(["workload", *modes, "eager dispatch, us"], rows)


def numbers(folder):
    rows = [[row["dtype"], row["act"], str(row["units"]), str(row["eager_units"]),
             f"{row['error']:.2g}", f"{row['eager_error']:.2g}"]
            for row in read(folder, "torch_fused")["numbers"]]
    return markdown(["type", "activation", "units from exact", "ATen", "error / abs(gate up)", "ATen"],
                    rows)


def bandwidth(folder):
    rows = []
    for row in read(folder, "torch_fused")["speeds"]:
        times = row["us"]
        of_inductor = f"{row['of_inductor']:.0%}" if "inductor" in times else "-"
        rows.append([row["dtype"], row["act"], f"{row['rows']}x{row['columns']}",
                     f"{row['terabytes_s']['perfgate']:.2f}", f"{row['of_copy']:.0%}", of_inductor,
                     *(microseconds(times[name]) if name in times else "-"
                       for name in ("perfgate", "copy", "inductor", "eager"))])
    return markdown(["type", "activation", "shape", "TB/s", "of a copy", "of Inductor", "us", "copy",
                     "Inductor", "eager"], rows)


def cost(folder):
    """Medians; of ratios also the quartiles over rounds, if the results have them."""
    table = read(folder, "cupti")["cost"]["table"]
    heads = ["median", *table[0]["median"], *table[0]["ratios"]]
    return markdown(heads, [[row["program"], *(f"{value:,} ns" for value in row["median"].values()),
                             *(cost_table.cell(row, ratio) if "quartiles" in row else f"{value:.3f}"
                               for ratio, value in row["ratios"].items())] for row in table])


def same(folder):
    """A against A: how many of the comparisons of fresh processes were not green."""
    rows = [[f"`{row['workload']}`", str(row["processes"]), str(row["comparisons"]), str(row["not_green"]),
             f"{min(row['gpu_time_us']):.2f}–{max(row['gpu_time_us']):.2f}"] for row in read(folder, "aa")["same"]]
    return markdown(["workload", "processes", "comparisons", "not green", "gpu_time, us"], rows)


def planted(folder):
    by_defect = {}
    for row in read(folder, "aa")["planted"]:
        found, processes, rules = by_defect.setdefault(row["defect"], [0, 0, set()])
        by_defect[row["defect"]] = [found + row["found"], processes + row["processes"], rules | set(row["by"])]
    rows = [[f"`{defect}`", f"{found} of {processes}",
             ", ".join(sorted(f"`{rule.partition('/')[2]}`" for rule in rules))]
            for defect, (found, processes, rules) in by_defect.items()]
    return markdown(["planted", "found in", "by"], rows)


def sizes(folder):
    """A product against itself and against one of 2 % more work, by gpu_time at +1 %."""
    found = read(folder, "aa")["sizes"]
    rows = [[what, str(found[what]["comparisons"]), str(found[what]["found"]),
             f"{min(found['gpu_time_us'][name]):.2f}–{max(found['gpu_time_us'][name]):.2f}"]
            for what, name in [("the same size", "gemm"), ("2 % larger", "gemm_larger")]]
    return markdown(["product", "comparisons", "found", "gpu_time, us"], rows)


TABLES = {"same": same, "planted": planted, "sizes": sizes, "workloads": workloads, "numbers": numbers, "bandwidth": bandwidth, "cost": cost}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    old = arguments.document.read_text()
    found = {name for _, name, _ in TABLE.findall(old)}
    if found != set(TABLES):
        sys.exit(f"{arguments.document}: tables {sorted(found)}, wanted {sorted(TABLES)}")
    new = TABLE.sub(lambda match: match[1] + "\n" + "\n".join(TABLES[match[2]](arguments.folder))
                    + "\n\n" + match[3], old)
    if arguments.check and new != old:
        sys.exit(f"{arguments.document} is not what table.py makes of {arguments.folder}: run it")
    if not arguments.check:
        arguments.document.write_text(new)


if __name__ == "__main__":
    main()
