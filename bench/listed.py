"""A memory that lives on what is read on the way: lists in this episode, and what fulfils their lines.

Written for `bench.asking`, for no domain in particular. Stores: which first words of actions have
raised the reward, and which words came back after which kinds of actions. Retrieves: while acting,
what can be done now that fulfils a line of a list seen in this episode and not yet fulfilled.
"""

from metamem.designs import Experience, Memory, Query, Tools, Wait, text


class Listed(Memory):
    """Remembers what actions bring about; tells those that fulfil lists read in the episode."""

    LINE = 6  # words of a line that may be a point of a list
    STEM = 4  # letters by which words count as the same
    ENOUGH = 0.75  # of a line's words that an action and what it brings about must cover
    PAYS = 0.05  # least share of rises in reward for an action that names things alone
    STEPS = 4  # actions after which it wants to be asked in any case

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.done: dict[str, int] = {}
        self.paid: dict[str, int] = {}
        self.brings: dict[str, dict[str, int]] = {}  # kind of action → words that came back

    async def update(self, experience: Experience) -> None:
        before = 0.0
        for step in experience.steps:
            verb = text.first_word(step.action)
            self.done[verb] = self.done.get(verb, 0) + 1
            self.paid[verb] = self.paid.get(verb, 0) + (step.reward > before)
            before = step.reward
            first = step.observation.split("\n")[0]
            if len(text.words(first)) <= 2 * self.LINE:
                came = self.brings.setdefault(self._kind(step.action), {})
                for word in self._stems(first) - self._stems(step.action):
                    came[word] = came.get(word, 0) + 1

    async def retrieve(self, query: Query):
        told = [query.start, *(step.observation for step in query.steps)]
        lines = list(dict.fromkeys(line for seen in told for line in self._points(seen)))
        if not lines:
            return "", Wait(new_actions=True, apart=self.STEPS)
        done = self._done(query)
        effects = [self._effect(action) for action in done]
        steps, left = [], 0
        for number, line in enumerate(lines, 1):
            words = self._stems(line)
            acts = self._doing(text.first_word(line))
            if acts and any(words <= effect for effect in effects):
                continue
            if number == len(lines) and left:
                break  # what stands last is for the end
            left += acts
            fits = [a for a in query.actions if a not in done and self._fits(a, words, acts)]
            if not fits and acts:
                fits = self._needed(line, query, done)
            if fits:
                steps.append(max(fits, key=lambda a: (self._share(a), -len(a), a)))
        advice = text.numbered(list(dict.fromkeys(steps)))
        return advice, Wait(new_actions=True, steps=self.STEPS, apart=1)

    def _done(self, query: Query) -> list[str]:
        """What was done and need not be done again: what raised the reward, and the latest."""
        before, found = 0.0, []
        for step in query.steps:
            if step.reward > before:
                found.append(step.action)
            before = step.reward
        return [*found, *(step.action for step in query.steps[-self.STEPS :])]

    def _needed(self, line: str, query: Query, done: list[str]) -> list[str]:
        """What gets hold of that with which such things were done."""
        stem = text.first_word(line)[: self.STEM]
        with_what = {
            kind.split()[-1]
            for kind, came in self.brings.items()
            if kind[: self.STEM] == stem or stem in came
        }
        return [
            a
            for a in query.actions
            if a not in done
            and self._share(a) >= self.PAYS
            and any(w in with_what for w in text.objects(a)[:1])
        ]

    def _points(self, seen: str) -> list[str]:
        """Lines under a heading with a colon, as long as they are short."""
        found, listing = [], False
        for line in seen.split("\n"):
            bare = line.strip()
            if bare.endswith(":"):
                listing = True
            elif not bare or len(bare.split()) > self.LINE:
                listing = listing and not found and not bare
            elif listing:
                found.append(bare)
        return found

    def _fits(self, action: str, words: set[str], acts: bool) -> bool:
        effect = self._effect(action) if acts else self._stems(action)
        if not words or len(words & effect) / len(words) < (1.0 if acts else self.ENOUGH):
            return False
        return acts or self._share(action) >= self.PAYS

    def _share(self, action: str) -> float:
        verb = text.first_word(action)
        return self.paid.get(verb, 0) / (self.done.get(verb, 0) + 1)

    def _effect(self, action: str) -> set[str]:
        """Its own words, and those that mostly came back after its like."""
        came = self.brings.get(self._kind(action), {})
        most = max(came.values(), default=0)
        return self._stems(action) | {word for word, n in came.items() if 2 * n >= most}

    def _doing(self, verb: str) -> bool:
        """Whether a word is something that is done: a first word of actions, or what one brings."""
        stem = verb[: self.STEM].lower()
        return any(v[: self.STEM] == stem for v in self.done) or any(
            stem in came for came in self.brings.values()
        )

    def _kind(self, action: str) -> str:
        """The first word and the last: what is done, and by what."""
        words = text.words(action)
        return f"{words[0]} {words[-1]}" if words else ""

    def _stems(self, said: str) -> set[str]:
        return {word[: self.STEM] for word in text.content_words(said)}
