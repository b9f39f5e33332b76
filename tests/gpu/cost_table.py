"""What cupti_cost.py timed, as ratios between recorders, with what is known of them.

The host's speed drifts by half within seconds, so two times are compared only where they were taken
close to each other: on and off in one process, then processes of one round.
"""
import math
import statistics

PROGRAMS = {"loop": "loop_ns_per_launch", "geglu": "geglu_ns_per_step"}
# Condition: recorder, state.
CONDITIONS = {"none": ("kineto", "off"), "closed": ("collector", "off"), "open": ("collector", "on"),
              "empty": ("empty", "on"), "kineto": ("kineto", "on")}
AIMS = {"closed / none": 1.03, "open / empty": 1.10, "open / kineto": 1.00}


def quartiles(values):
    """The lower and the upper one; both the value if there is but one."""
    if len(values) < 2:
        return values * 2
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return [low, high]


def quiet(segments):
    """What a segment takes where little disturbs it: what disturbs only adds."""
    return quartiles(segments)[0]


def median_interval(values):
    """The median lies between these by 95 %, whatever the distribution; None for fewer than 6."""
    values, outside, below = sorted(values), 0, 0.0
    while below + math.comb(len(values), outside) / 2**len(values) <= 0.025:
        below += math.comb(len(values), outside) / 2**len(values)
        outside += 1
    return [values[outside - 1], values[-outside]] if outside else None


def verdict(interval, aim):
    """True: the aim is met; False: it is not; None: the noise hides which."""
    if interval is None:
        return None
    return True if interval[1] <= aim else False if interval[0] > aim else None


def whole_rounds(rows):
    """[{recorder: row}] of the rounds of which nothing is missing."""
    rounds = {}
    for row in rows:
        if "failed" not in row:
            rounds.setdefault(row["round"], {})[row["recorder"]] = row
    wanted = {recorder for recorder, _ in CONDITIONS.values()}
    return [processes for processes in rounds.values() if set(processes) == wanted]


def slowdown(processes, recorder, program):
    """On over off, in one process."""
    return quiet(processes[recorder]["on"][program]) / quiet(processes[recorder]["off"][program])


def paired(processes, program):
    """The ratios of one round."""
    opened = slowdown(processes, "collector", program)
    return {"closed / none": quiet(processes["collector"]["off"][program])
                             / quiet(processes["kineto"]["off"][program]),
            "open / empty": opened / slowdown(processes, "empty", program),
            "open / kineto": opened / slowdown(processes, "kineto", program)}


def cost_table(rows):
    """A row a program: the median time of each condition; of each ratio the median of the rounds
    ("ratios"), their quartiles, the interval of the median, and beside it the ratio of the plain
    times' lower quartiles ("lowest"). No rows without a whole round."""
    table, rounds = [], whole_rounds(rows)
    for program, title in PROGRAMS.items() if rounds else []:
        times = {name: [quiet(processes[recorder][state][program]) for processes in rounds]
                 for name, (recorder, state) in CONDITIONS.items()}
        ratios = {name: [paired(processes, program)[name] for processes in rounds] for name in AIMS}
        lowest = {name: quartiles(each)[0] for name, each in times.items()}
        table.append({
            "program": title, "rounds": len(rounds),
            "median": {name: round(statistics.median(each)) for name, each in times.items()},
            "ratios": {name: statistics.median(each) for name, each in ratios.items()},
            "quartiles": {name: quartiles(each) for name, each in ratios.items()},
            "interval": {name: median_interval(each) for name, each in ratios.items()},
            "lowest": {name: lowest[name.split(" / ")[0]] / lowest[name.split(" / ")[1]]
                       for name in AIMS}})
    return table


def known(row, ratio):
    """"1.042 (1.02–1.07), lowest 1.03; the median is within 1.031–1.052 by 95 %"."""
    interval = row["interval"][ratio]
    if interval is None:
        return f"{cell(row, ratio)}; too few rounds"
    return f"{cell(row, ratio)}; the median is within {interval[0]:.3f}–{interval[1]:.3f} by 95 %"


def cell(row, ratio):
    """"1.042 (1.02–1.07), lowest 1.03"."""
    low, high = row["quartiles"][ratio]
    return f"{row['ratios'][ratio]:.3f} ({low:.2f}–{high:.2f}), lowest {row['lowest'][ratio]:.3f}"
