"""What one failing run says outside its page, as pages to be photographed: the comment of the pull
request, rendered as GitHub does, and the terminal, in its colours. Needs cmark-gfm and aha."""
import os
import re
import shutil
import subprocess

import html_test

SUITE = """\
version: 1
suite: transformer
workloads:
  - {name: block, trace: trace.json.gz}
rules: [perfgate:structure, perfgate:fusion, perfgate:precision, perfgate:gpu-time]
"""
# What a job of GitHub Actions has, and no token: the comment is printed.
JOB = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "octo/model",
       "GITHUB_RUN_ID": "1234567890", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_TOKEN": "", "GH_TOKEN": ""}

COMMENT = """<!DOCTYPE html>
<meta charset="utf-8">
<style>
body { margin: 0; padding: 16px; background: #fff; color: #1f2328;
  font: 13px/1.5 -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
header { border: 1px solid #d0d7de; border-bottom: 0; border-radius: 6px 6px 0 0; background: #f6f8fa;
  padding: 8px 16px; color: #59636e; }
header b { color: #1f2328; }
header span { border: 1px solid #d0d7de; border-radius: 2em; padding: 0 7px; font-size: 12px; }
main { border: 1px solid #d0d7de; border-radius: 0 0 6px 6px; padding: 16px; }
h2 { font-size: 1.5em; margin: 0 0 16px; padding-bottom: .3em; border-bottom: 1px solid #d0d7de; }
h3 { font-size: 1.25em; margin: 24px 0 16px; }
p, ul, table, pre, details { margin: 0 0 16px; }
ul { padding-left: 2em; }
table { border-collapse: collapse; display: block; width: max-content; max-width: 100%; overflow: auto; }
th, td { border: 1px solid #d0d7de; padding: 6px 13px; }
tr:nth-child(2n) td { background: #f6f8fa; }
code { background: #818b981f; padding: .2em .4em; border-radius: 6px; font: 85% "DejaVu Sans Mono", monospace; }
pre { background: #f6f8fa; border-radius: 6px; padding: 16px; overflow: auto; }
pre code { background: none; padding: 0; font-size: 11px; line-height: 1.45; }
.plus { color: #116329; background: #dafbe1; }
.minus { color: #82071e; background: #ffebe9; }
.bang { color: #953800; background: #ffd8b5; }
a { color: #0969da; }
</style>
<header><b>github-actions</b> <span>bot</span> commented</header>
<main>
"""

TERMINAL = """<!DOCTYPE html>
<meta charset="utf-8">
<style>
body { margin: 0; padding: 16px 20px; background: #0d1117; color: #e6edf3; }
pre { margin: 0; font: 13px/1.4 "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.bold { font-weight: bold; }
.red { color: #ff7b72; }
.green { color: #56d364; }
.yellow { color: #e3b341; }
.prompt { color: #9da7b1; }
</style>
<pre><span class="prompt">$ </span>perfgate run
"""


def make_repository(perfgate, folder, name):
    """A repository whose last commit is the head of a recorded pair, against an accepted baseline of
    its base."""
    folder.mkdir()
    git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]

    def commit(message):
        subprocess.run([*git, "add", "--all"], check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", message], check=True)

    base, head = html_test.traces(name)
    subprocess.run([*git, "init", "--quiet"], check=True)
    (folder / ".gitignore").write_text("perfgate-out/\nperfgate.db*\nverdict.json\n", encoding="utf-8")
    (folder / "perfgate.yaml").write_text(SUITE, encoding="utf-8")
    shutil.copy(base, folder / "trace.json.gz")
    commit("first")
    subprocess.run([perfgate, "run"], cwd=folder, check=False, capture_output=True)
    subprocess.run([perfgate, "baseline", "accept", "--reason", "first measurement"], cwd=folder, check=True,
                   capture_output=True)
    commit("baseline")
    shutil.copy(head, folder / "trace.json.gz")
    commit("change")


def as_comment(markdown):
    """Markdown as GitHub shows it; cmark-gfm is its renderer, the colours of `diff` come on top."""
    extensions = [word for name in ("table", "autolink", "strikethrough", "tagfilter") for word in ("-e", name)]
    page = subprocess.run(["cmark-gfm", "--unsafe", *extensions], input=markdown, capture_output=True, text=True,
                          check=True).stdout

    def colour(block):
        names = {"+": "plus", "-": "minus", "!": "bang"}
        return "\n".join(f'<span class="{names[line[0]]}">{line}</span>' if line[:1] in names else line
                         for line in block[0].split("\n"))

    return COMMENT + re.sub(r'(?<=<code class="language-diff">)[^<]*', colour, page)


def as_terminal(output):
    """What a terminal shows, in its colours."""
    return TERMINAL + subprocess.run(["aha", "--no-header", "--stylesheet"], input=output, capture_output=True,
                                     text=True, check=True).stdout


def make_pages(perfgate, folder):
    """Writes comment.html and terminal.html."""
    suite = folder / "gated"
    make_repository(perfgate, suite, "bias_out_of_epilogue")
    run = lambda *words, **variables: subprocess.run(
        [perfgate, *words], cwd=suite, env={**os.environ, **variables}, capture_output=True, text=True,
        check=False).stdout
    output = run("run", "--report", "json=verdict.json", FORCE_COLOR="1")
    comment = run("comment", "verdict.json", "--dry-run", "--pr", "42", **JOB)
    (folder / "terminal.html").write_text(as_terminal(output), encoding="utf-8")
    (folder / "comment.html").write_text(as_comment(comment), encoding="utf-8")
