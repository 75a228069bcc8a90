"""Memories that would win by form and not by knowledge: padding, hedging, parroting. None may."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from statistics import fmean

import pytest

from metamem.core.tokens import count_tokens, truncate_tokens
from metamem.core.types import Task
from metamem.domains.dialogue.conversation import Question
from metamem.domains.dialogue.domain import DialogueDomain
from metamem.domains.dialogue.wording import content_words

BUDGET = 200
SILENCE = 3 / 21  # the share of questions where nothing is to be told

Reply = Callable[[Task], str]


@pytest.fixture(scope="module")
def domain() -> DialogueDomain:
    return DialogueDomain(train=8, valid=1, test=4, shift=1)


def mean(domain: DialogueDomain, reply: Reply, kind: str = "") -> float:
    tasks = [t for t in domain.tasks("test") if kind in ("", t.kind)]
    return fmean(domain.world(t, 0).step(reply(t)).reward for t in tasks)


def lines(domain: DialogueDomain, task: Task) -> list[str]:
    return [step.observation for e in domain.history(task.group) for step in e.steps]


def likeliest(domain: DialogueDomain, task: Task) -> list[str]:
    """All lines, those first that share the rarest words with the question."""
    said = lines(domain, task)
    often = Counter(word for line in said for word in content_words(line))
    asked = content_words(task.goal)

    def shared(line: str) -> float:
        return sum(1 / often[word] for word in content_words(line) & asked)

    return sorted(said, key=shared, reverse=True)


def asked(task: Task) -> Question:
    question: Question = task.data["question"]
    return question


def padded(reply: str, more: list[str]) -> str:
    """Filled up to the limit with what is likely, save what is known to be wrong."""
    return truncate_tokens("\n".join([reply, *more]), BUDGET)[0]


# --- too much -------------------------------------------------------------------------------


def test_padding_costs_whoever_knows_the_answer(domain: DialogueDomain) -> None:
    def fills(task: Task) -> str:
        return padded(domain.oracle(task), likeliest(domain, task))

    assert mean(domain, domain.oracle) == 1.0
    assert mean(domain, fills) < 0.6


@pytest.mark.parametrize("few", [1, 2, 3])
def test_padding_costs_whoever_searches(domain: DialogueDomain, few: int) -> None:
    def best(task: Task) -> str:
        return "\n".join(likeliest(domain, task)[:few])

    def fills(task: Task) -> str:
        return padded(best(task), likeliest(domain, task)[few:])

    assert mean(domain, fills) < mean(domain, best)


def test_each_line_too_many_costs(domain: DialogueDomain) -> None:
    """Small talk alone is added: no value in it can count against the reply."""
    talk = ["Tell me about it.", "Same here, honestly.", "It never ends, does it?"] * 6

    def chats(number: int) -> Reply:
        return lambda task: "\n".join([domain.oracle(task), *talk[:number]])

    rewards = [mean(domain, chats(number)) for number in (0, 6, 12, 18)]
    assert rewards == sorted(set(rewards), reverse=True)


def test_telling_everything_is_worth_next_to_nothing(domain: DialogueDomain) -> None:
    assert mean(domain, lambda task: "\n".join(lines(domain, task))) < 0.1
    assert mean(domain, lambda task: "\n".join(reversed(lines(domain, task)))) < 0.1


def test_telling_nothing_is_right_where_nothing_is_to_be_told(domain: DialogueDomain) -> None:
    assert mean(domain, lambda task: "") == pytest.approx(SILENCE)
    assert mean(domain, lambda task: "I do not know.") < SILENCE


def test_speaking_where_silence_is_right_costs(domain: DialogueDomain) -> None:
    def speaks(task: Task) -> str:
        return domain.oracle(task) or "\n".join(likeliest(domain, task)[:3])

    assert mean(domain, speaks) < 1 - SILENCE / 2


def test_what_no_longer_holds_costs_beside_what_does(domain: DialogueDomain) -> None:
    said = {t.group: "\n".join(lines(domain, t)) for t in domain.tasks("test")}

    def beside(task: Task) -> str:
        named = [value for value in asked(task).against if value in said[task.group]]
        return "\n".join([domain.oracle(task), *named[:1]])

    for kind in ("updated", "corrected"):
        assert mean(domain, beside, kind) <= 0.5


# --- hedging --------------------------------------------------------------------------------


def test_all_numbers_are_no_answer_to_how_many(domain: DialogueDomain) -> None:
    assert mean(domain, lambda task: "1 2 3 4 5", "repeated") < 0.25
    often = "; ".join(f"{n} times" for n in range(1, 6))
    assert mean(domain, lambda task: f"{task.goal} {often}", "repeated") < 0.25


def test_all_days_are_no_answer_to_when(domain: DialogueDomain) -> None:
    def days(task: Task) -> list[str]:
        return list(dict.fromkeys(e.observation for e in domain.history(task.group)))

    def event(task: Task) -> str:
        return asked(task).evidence[0][0].text

    assert mean(domain, lambda task: ", ".join(days(task)), "temporal") < 0.15
    assert mean(domain, lambda t: f"{t.goal} {', '.join(days(t))}", "temporal") < 0.15
    listed = mean(domain, lambda t: "\n".join([*days(t), event(t)]), "temporal")
    assert listed <= mean(domain, event, "temporal")


def test_what_others_have_is_no_answer_beside_the_answer(domain: DialogueDomain) -> None:
    def hedges(task: Task) -> str:
        return " ".join((*asked(task).answers[0], *asked(task).rivals))

    tasks = [t for t in domain.tasks("test") if t.kind == "single" and asked(t).rivals]
    assert tasks
    for task in tasks:
        assert count_tokens(hedges(task)) < BUDGET
        assert domain.world(task, 0).step(hedges(task)).reward <= 0.5, task.id


# --- parrots: what was right in other conversations ------------------------------------------


def template(domain: DialogueDomain, task: Task) -> str:
    """A question without the names in it, so that it is found again in other conversations."""
    return re.sub(r"\b[A-Z][a-z]+(?=\W|$)", "", task.goal[1:])


def studied(domain: DialogueDomain) -> Iterator[tuple[Task, Question]]:
    return ((task, asked(task)) for task in domain.tasks("train"))


def test_the_answers_of_other_conversations_are_no_answers_here(domain: DialogueDomain) -> None:
    told: dict[str, Counter[str]] = defaultdict(Counter)
    quoted: dict[str, list[str]] = defaultdict(list)
    for task, question in studied(domain):
        key = template(domain, task)
        if question.answerable:
            told[key][", ".join(question.answers[0])] += 1
            quoted[key] += [group[0].text for group in question.evidence]
        else:
            told[key][""] += 1

    def commonest(task: Task) -> str:
        known = told[template(domain, task)].most_common(1)
        return known[0][0] if known else ""

    def quotes(task: Task) -> str:
        return "\n".join(dict.fromkeys(quoted[template(domain, task)]))

    assert len({template(domain, t) for t in domain.tasks("test")} & told.keys()) > 20
    assert mean(domain, commonest) < SILENCE + 0.05
    assert mean(domain, quotes) < SILENCE


def test_places_tell_nothing(domain: DialogueDomain) -> None:
    """What was evidence at some place of one conversation is not at that place of another: neither
    for questions of the same number nor of the same words."""
    places: dict[str, set[int]] = defaultdict(set)
    for task, question in studied(domain):
        said = lines(domain, task)
        for group in question.evidence:
            place = next(n for n, line in enumerate(said) if line.endswith(group[0].text))
            for key in (task.id.rpartition("-")[2], template(domain, task)):
                places[key].add(place)

    def by(key: Callable[[Task], str]) -> Reply:
        return lambda t: "\n".join(
            line for n, line in enumerate(lines(domain, t)) if n in sorted(places[key(t)])[:3]
        )

    assert mean(domain, by(lambda t: t.id.rpartition("-")[2])) < SILENCE
    assert mean(domain, by(lambda t: template(domain, t))) < SILENCE


def test_the_most_common_number_is_mostly_wrong(domain: DialogueDomain) -> None:
    many = DialogueDomain(train=60)
    right = Counter(q.answers[0][0] for _, q in studied(many) if q.kind == "repeated")
    assert right.most_common(1)[0][1] < 0.35 * right.total()


def test_a_larger_train_split_begins_with_the_smaller() -> None:
    small, large = DialogueDomain(train=3), DialogueDomain(train=30)
    assert large.tasks("train")[: len(small.tasks("train"))] == small.tasks("train")
    assert len(large.tasks("train")) == 10 * len(small.tasks("train"))
    assert small.history("train-02") == large.history("train-02")
