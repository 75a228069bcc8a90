"""Long histories made for measuring: all evidence found, and silence where nothing is known.

python -m bench.memory_sets [--talks N] [--seed S]

Histories of many sessions, on topics and in words that the ranker was not trained on (the theme
`away` of the dialogue domain), buried among talk of other seeds. Questions need one line, lines of
several sessions, the latest of several, a date; some ask for what nobody said. The floor and the
gate were set on other seeds, by bench.train_ranker. FTS5 stands beside it.

- all@k: the share of questions with every part of their evidence among the first k
- silence: questions that nothing answers, and nothing is shown; lost: those that something answers
"""

import argparse
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from bench.memory_talks import Scope, Spoken, milliseconds
from bench.talk_generator import generate as filler
from metamem.core.stopwords import STOP
from metamem.core.terms import words
from metamem.domains.dialogue.generator import generate
from metamem.models.wordllama_embedder import WordLlamaEmbedder
from metamem.service.recall.ranker import Ranker
from metamem.service.recall.reading import Reader

DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A question; of each group of lines one is needed. No groups: nothing answers it."""

    kind: str
    text: str
    groups: tuple[frozenset[int], ...]
    now: int


@dataclass(frozen=True, slots=True)
class History:
    lines: tuple[Spoken, ...]
    questions: tuple[Asked, ...]


def history(seed: int, number: int) -> History:
    """A conversation of the dialogue domain between sessions of other people's talk."""
    talk = generate(seed, "shift", number)
    lines: list[Spoken] = []
    place: dict[str, int] = {}
    other = filler(10_000 + seed, number)
    rest = defaultdict(list)
    for line in other.lines:
        rest[line.session].append(line)
    for n, session in enumerate(talk.sessions):
        at = milliseconds(datetime.strptime(session.date, "%d %B %Y"))
        for line in session.lines:
            place[line.id] = len(lines)
            lines.append(Spoken(line.speaker, line.text, 2 * n, at))
        lines += [replace(line, session=2 * n + 1, said_at=at + DAY) for line in rest.get(n, ())]
    questions = []
    for asked in talk.questions:
        if asked.kind == "forgotten":  # a matter of the store, not of ranking
            continue
        groups = tuple(frozenset(place[e.line] for e in group) for group in asked.evidence)
        now = milliseconds(datetime.strptime(asked.date, "%d %B %Y"))
        questions.append(Asked(asked.kind, asked.text, groups, now))
    questions += [
        Asked("never said", a.text, (), lines[-1].said_at)
        for a in filler(20_000 + seed, number).questions
        if a.kind == "unknown" and not _mentioned(a.text, lines)
    ]
    strangers = filler(20_000 + seed, number)
    here = sorted({line.author for line in lines if line.session % 2 == 0})
    for n, asked in enumerate([a for a in questions if a.kind == "never said"]):
        text = asked.text
        for name in {line.author for line in strangers.lines}:
            text = text.replace(name, here[n % len(here)])
        questions.append(replace(asked, kind="never told", text=text))
    return History(tuple(lines), tuple(questions))


def _mentioned(text: str, lines: Sequence[Spoken]) -> bool:
    """Whether the rarest words of a question, names left aside, stand together in any line."""
    telling = {w for w in words(text) if w not in STOP and len(w) > 4}
    return any(len(telling & set(words(line.text))) > 1 for line in lines)


_EAST = (
    ("我上周在杭州的茶馆见到了王老师。", "在哪里见到王老师?", "茶馆"),
    ("妹妹养了一只叫豆豆的猫。", "妹妹的猫叫什么?", "豆豆的猫"),
    ("会议改到星期三下午三点。", "会议改到什么时候?", "星期三下午"),
    ("爸爸最喜欢吃的菜是红烧肉。", "爸爸喜欢吃什么菜?", "红烧肉"),
    ("服务器的密码放在保险箱里。", "密码放在哪里?", "保险箱"),
    ("昨日、京都で古い寺を見学しました。", "京都で何を見学しましたか?", "古い寺"),
    ("弟は来月から大阪の銀行で働きます。", "弟はどこの銀行で働きますか?", "大阪の銀行"),
    ("誕生日に赤い自転車をもらった。", "誕生日に何をもらった?", "赤い自転車"),
    ("どよう日に山田さんと釣りに行く。", "山田さんと何をする?", "山田さん"),
    ("우리 강아지 이름은 초코입니다.", "강아지 이름은?", "강아지 이름"),
    ("회의는 금요일 오전으로 옮겼어요.", "회의는 언제?", "금요일 오전"),
    ("할머니는 부산에 살고 계세요.", "할머니는 어디에 살아요?", "할머니 부산"),
)


def east() -> History:
    """Chinese, Japanese and Korean notes: questions that share words of two characters with one, and
    a few words typed into a search box."""
    lines = tuple(Spoken("agent", text, -1, DAY * n) for n, (text, _, _) in enumerate(_EAST))
    asked = tuple(
        Asked(kind, text, (frozenset({n}),), DAY * 99)
        for n, (_, question, typed) in enumerate(_EAST)
        for kind, text in (("cjk", question), ("cjk typed", typed))
    )
    return History(lines, asked)


def fts5(lines: Sequence[Spoken], text: str) -> list[int]:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61')")
    base.executemany("INSERT INTO t VALUES (?)", [(f"{s.author}: {s.text}",) for s in lines])
    telling = [w for w in words(text) if w not in STOP] or words(text)
    query = " OR ".join(f'"{word}"' for word in telling)
    found = base.execute(
        "SELECT rowid - 1 FROM t WHERE t MATCH ? ORDER BY bm25(t), rowid LIMIT 20", (query,)
    ).fetchall()
    base.close()
    return [n for (n,) in found]


def whole(found: Sequence[int], asked: Asked, most: int) -> float:
    """Whether every part of the evidence is among the first."""
    first = set(found[:most])
    return float(all(group & first for group in asked.groups))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--talks", type=int, default=12)
    parser.add_argument("--seed", type=int, default=7)
    chosen = parser.parse_args()
    ranker, embedder = Ranker.load(), WordLlamaEmbedder()
    reader = Reader(embedder)
    all_of: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    silent: dict[str, list[bool]] = defaultdict(list)
    sizes = []
    for given in (*(history(chosen.seed, n) for n in range(chosen.talks)), east()):
        scope = Scope(given.lines, embedder, reader)
        sizes.append(len(given.lines))
        for asked in given.questions:
            picked, rows = scope.rows(asked.text, asked.now)
            relevance = ranker.score(rows)
            seen = ranker.shown(rows, relevance)
            order = picked[np.argsort(-relevance, kind="stable")].tolist()
            silent[asked.kind].append(not seen.any())
            if asked.groups:
                plain = fts5(given.lines, asked.text)
                figures = [whole(f, asked, k) for f in (plain, order) for k in (5, 10, 20)]
                all_of[asked.kind].append(tuple(figures))
    print(
        f"{chosen.talks} histories of {min(sizes[:-1])} to {max(sizes)} lines, seed {chosen.seed}"
    )
    print(f"{'':12} {'':>5}   FTS5 all@5 @10 @20     metamem all@5 @10 @20   shown nothing")
    for kind in sorted(silent):
        if rows_of := all_of.get(kind):
            five = " ".join(f"{value:.3f}" for value in np.mean(rows_of, axis=0)[:3])
            ours = " ".join(f"{value:.3f}" for value in np.mean(rows_of, axis=0)[3:])
        else:
            five = ours = "-"
        lost = np.mean(silent[kind])
        print(f"{kind:12} {len(silent[kind]):5}   {five:22}  {ours:22}  {lost:.3f}")
    known = [s for kind, values in silent.items() if all_of.get(kind) for s in values]
    unknown = [s for kind, values in silent.items() if not all_of.get(kind) for s in values]
    print(f"silence: {np.mean(unknown):.3f} of questions that nothing answers;", end=" ")
    print(f"lost: {np.mean(known):.3f} of those that something answers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
