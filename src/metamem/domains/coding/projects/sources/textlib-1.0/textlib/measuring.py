"""Count and compare words."""


def words_of(text: str) -> list[str]:
    """The words in lower case, without punctuation around them."""
    words = [word.strip(".,;:!?\"'()").lower() for word in text.split()]
    return [word for word in words if word]


def word_count(text: str) -> int:
    return len(words_of(text))


def frequencies(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words_of(text):
        counts[word] = counts.get(word, 0) + 1
    return counts


def top_words(text: str, count: int = 3) -> list[str]:
    """The most frequent words; of equals, the first in the alphabet."""
    counts = frequencies(text)
    return sorted(counts, key=lambda word: (-counts[word], word))[:count]


def longest_word(text: str) -> str:
    """The longest word, the first of several."""
    words = words_of(text)
    if not words:
        return ""
    return max(words, key=len)


def is_palindrome(text: str) -> bool:
    letters = [c for c in text.lower() if c.isalnum()]
    return letters == letters[::-1]


def are_anagrams(left: str, right: str) -> bool:
    return sorted("".join(words_of(left))) == sorted("".join(words_of(right)))


def edit_distance(left: str, right: str) -> int:
    """How many letters must be added, dropped or changed."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, row = row, [i]
        for j, b in enumerate(right, 1):
            change = before[j - 1] + (a != b)
            row.append(min(change, before[j] + 1, row[j - 1] + 1))
    return row[-1]


def common_prefix(texts: list[str]) -> str:
    if not texts:
        return ""
    shortest = min(texts, key=len)
    for i, letter in enumerate(shortest):
        if any(text[i] != letter for text in texts):
            return shortest[:i]
    return shortest


def sentences(text: str) -> list[str]:
    """The sentences, each with its end mark."""
    found, start = [], 0
    for i, c in enumerate(text):
        if c in ".!?":
            found.append(text[start : i + 1].strip())
            start = i + 1
    rest = text[start:].strip()
    return [*found, rest] if rest else found
