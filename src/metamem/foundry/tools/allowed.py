"""Which options programs take in a tool: those that stay in the tree, write nowhere else and run nothing.

What is missing was either never needed or does more: `sort --compress-program`, `git commit --no-verify`,
`pytest --basetemp`, `mypy --install-types`. Programs that are missing are refused (`programs.py`).
"""

from metamem.foundry.tools.options import Takes


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _long(text: str, with_next: str = "") -> frozenset[str]:
    return _words(text) | {f"{name} " for name in with_next.split()}


_GREP = Takes(
    "EFGPiIvwxcLlqsohHnTzZrRabUy", "eABCm",
    long=_long("--regexp= --color= --max-count= --context= --include= --exclude= --exclude-dir= --only-matching"
               " --line-number --files-with-matches --files-without-match --count --ignore-case --word-regexp"
               " --recursive --fixed-strings --extended-regexp --quiet --invert-match", "--regexp"),
    digits=True, operands="text first", pattern=_words("-e --regexp"),
)  # fmt: skip
_SUM = Takes("bct")

# They change nothing.
LOOKING: dict[str, Takes] = {
    "cat": Takes("AbeEnstTuv"),
    "head": Takes("qvz", "nc", digits=True),
    "tail": Takes("qvz", "nc", digits=True),
    "uniq": Takes("cdDiuz", "fsw"),
    "cut": Takes("szn", "bcdf", long=_long("--delimiter= --fields= --complement --output-delimiter=")),
    "tr": Takes("cCdst", operands="texts"),
    "wc": Takes("clmLw"),
    "nl": Takes("p", "bdfhilnsvw"),
    "rev": Takes(),
    "tac": Takes(),
    "fold": Takes("bs", "w"),
    "paste": Takes("sz", "d"),
    "comm": Takes("123iz"),
    "join": Takes("i", "aevot12j"),
    "column": Takes("tx", "scoN"),
    "diff": Takes("abBdeEiNqrsuwyc", "UCI", long=_long("--brief --color=")),
    "cmp": Takes("bls"),
    "basename": Takes("az", "s"),
    "dirname": Takes("z"),
    "seq": Takes("w", "fs", digits=True),
    "ls": Takes("aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1", long=_long("--color= --all --almost-all")),
    "pwd": Takes("LP"),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "md5sum": _SUM,
    "sha1sum": _SUM,
    "sha256sum": _SUM,
    "base64": Takes("di", "w", long=_long("--decode --wrap=")),
    "date": Takes("uR", "d", suffixed="I", long=_long("--utc --date= --iso-8601 --iso-8601="),
                  operands="texts"),
    "file": Takes("bihkLz"),
    "stat": Takes("L", "c", long=_long("--format= --printf=")),
}  # fmt: skip

# They change files of the tree.
CHANGING: dict[str, Takes] = {
    "mkdir": Takes("pv", "m", long=_long("--parents")),
    "touch": Takes("acm", "dt"),
    "cp": Takes("rRafnpvTu", paths="t", long=_long("--recursive --no-clobber --parents")),
    "mv": Takes("fnvTu", paths="t", long=_long("--no-clobber")),
    "tee": Takes("a", long=_long("--append")),
    "sort": Takes("bdfghiMnRrVzuscC", "kt", "o", long=_long("--unique --reverse --numeric-sort")),
    "sed": Takes("nErszu", "e", suffixed="i", operands="text first", pattern=_words("-e --expression"),
                 long=_long("--expression= --quiet --silent --regexp-extended --in-place --null-data"
                            " --separate", "--expression")),
}  # fmt: skip

_PYTEST = Takes("qvxsl", "kmr", long=_long("--tb= --maxfail= --lf --ff --last-failed --failed-first --no-header"
                                           " --strict-markers --exitfirst --quiet --verbose"))  # fmt: skip
_FORMATS = Takes("qvwl", long=_long("--check --diff --quiet --verbose --write --fix --line-length= --select="
                                    " --ignore= --extend-select= --profile="))  # fmt: skip

# They run what a project has of its own, or rewrite its files by rules.
CHECKING: dict[str, Takes] = {
    "pytest": _PYTEST,
    "unittest": Takes("qvfb", "kp", "st", long=_long("--quiet --verbose --failfast --buffer")),
    "doctest": Takes("v"),
    "py_compile": Takes("q"),
    "compileall": Takes("qf"),
    "json.tool": Takes(long=_long("--sort-keys --indent= --compact --no-ensure-ascii", "--indent")),
    "mypy": Takes("v", long=_long("--strict --ignore-missing-imports --no-error-summary --pretty")),
    "tsc": Takes(paths="p", long=_long("--noEmit")),
    **dict.fromkeys(
        _words("ruff black isort flake8 pylint gofmt rustfmt prettier eslint"), _FORMATS
    ),
}

_LOG = Takes(
    "pqsuvwzbEFiPMr1", "nLSGU",
    long=_long("--oneline --graph --stat --shortstat --numstat --all --decorate --name-only --name-status --no-merges"
               " --merges --reverse --first-parent --patch --no-patch --follow --no-color --abbrev-commit --cached"
               " --staged --quiet --check --exit-code --ignore-all-space --no-renames --branches --tags --format="
               " --pretty= --grep= --author= --since= --until= --after= --before= --abbrev= --date= --max-count="
               " --diff-filter= --unified= --no-ext-diff", "--grep --author --since --until"),
    digits=True,
)  # fmt: skip

GIT_LOOKING: dict[str, Takes] = {
    "log": _LOG,
    "show": _LOG,
    "diff": _LOG,
    "shortlog": Takes("snec"),
    "status": Takes("sbvz", suffixed="u", long=_long("--short --branch --porcelain --porcelain=")),
    "rev-parse": Takes("q", long=_long("--short --short= --abbrev-ref --verify --quiet --show-toplevel"
                                       " --is-inside-work-tree --symbolic-full-name --show-prefix")),
    "ls-files": Takes("cdmosutvz", long=_long("--others --exclude-standard --cached --modified --deleted --stage"
                                              " --error-unmatch --full-name")),
    "grep": Takes("EFGPiIvwxcLlqohHnz", "eABCm", operands="text first", pattern=_words("-e"), digits=True,
                  long=_long("--cached --untracked --name-only --files-with-matches --count --line-number")),
    "blame": Takes("wlesfn", "L"),
    "describe": Takes(long=_long("--tags --always --all --dirty --long --exact-match --abbrev= --match=", "--match")),
    "cat-file": Takes("ptse"),
}  # fmt: skip

# What is lost by them can be had again from git, and they run nothing but hooks of the repository.
GIT_CHANGING: dict[str, Takes] = {
    "add": Takes("AuNvf", long=_long("--all --update --intent-to-add --verbose --force")),
    "commit": Takes("aqvs", "m", long=_long("--all --quiet --verbose --signoff --allow-empty --message= --author="
                                            " --date= --no-edit --trailer=",
                                            "--message --author --date --trailer")),
    "tag": Takes("aln", "m", long=_long("--annotate --list --message= --sort= --format=", "--message")),
    "switch": Takes("q", paths="c", long=_long("--quiet --detach"), long_paths=_long("--create=", "--create")),
    "branch": Takes("avrq", long=_long("--list --all --show-current --quiet --remotes --format= --contains --merged"
                                       " --no-merged")),
    "cherry-pick": Takes("nxs", long=_long("--no-commit --signoff")),
    "mv": Takes("kv", long=_long("--verbose")),
    "rm": Takes("rq", long=_long("--cached --quiet")),
    "merge": Takes("qn", "m", long=_long("--no-ff --ff-only --quiet --no-edit --message= --no-stat --squash"
                                         " --no-commit", "--message")),
    "revert": Takes("n", "m", long=_long("--no-edit --no-commit")),
    "checkout": Takes("q", paths="b", long=_long("--quiet")),
}  # fmt: skip

# Tests of find that only look. Those in the second list have a pattern or a number behind them.
FIND = _words(
    "-not -o -or -a -and -print -print0 -prune -empty -executable -readable -writable ! ( )"
)
FIND_TEXTS = _words(
    "-name -iname -path -ipath -wholename -type -maxdepth -mindepth -size -mtime -mmin -regex -iregex -perm -printf"
    " -regextype"
)
FIND_PATHS = _words("-newer")
