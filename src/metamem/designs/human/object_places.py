"""Where the things named in the goal were seen before.

Stores: for each word of an observation, the places where it was seen; the place is what the
action just taken was about, without numbers. Also how often each place was looked at.
Retrieves: for each word of the goal, the places where looking showed it most often, as
`word: place, place`.
Forgets: which single thing was where, and when.
"""

from collections import Counter, defaultdict

from metamem.designs import Experience, Memory, Query, Tools, text


class ObjectPlaces(Memory):
    """Remembers which things were seen where."""

    PLACES = 5  # told for each word
    PRIOR = 2.0  # fruitless looks that every place starts with: doubts rare lucky finds

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.seen: defaultdict[str, Counter[str]] = defaultdict(Counter)  # word: place: looks
        self.looks: Counter[str] = Counter()

    async def update(self, experience: Experience) -> None:
        for step in experience.steps:
            objects = text.objects(step.action)
            if not objects:
                continue
            place = " ".join(objects)
            self.looks[place] += 1
            for word in text.content_words(step.observation):
                if word not in objects:
                    self.seen[word][place] += 1

    async def retrieve(self, query: Query) -> str:
        lines = []
        for word in text.content_words(query.goal):
            places = self._likeliest(word)
            if places:
                lines.append(f"{word}: {', '.join(places)}")
        return "Seen before, likeliest place first:\n" + "\n".join(lines) if lines else ""

    def _likeliest(self, word: str) -> list[str]:
        counts = self.seen.get(word, Counter())
        rates = {p: n / (self.looks[p] + self.PRIOR) for p, n in counts.items()}
        return sorted(rates, key=lambda place: -rates[place])[: self.PLACES]
