from textlib.measuring import (
    are_anagrams,
    common_prefix,
    edit_distance,
    frequencies,
    is_palindrome,
    longest_word,
    sentences,
    top_words,
    word_count,
    words_of,
)


def test_words_of():
    assert words_of("One, two!") == ["one", "two"]


def test_words_of_lone_marks():
    assert words_of("well - yes ... no") == ["well", "-", "yes", "no"]


def test_word_count():
    assert word_count("to be or not to be") == 6
    assert word_count("") == 0


def test_frequencies():
    assert frequencies("a b a") == {"a": 2, "b": 1}


def test_frequencies_ignore_case():
    assert frequencies("The cat. the dog") == {"the": 2, "cat": 1, "dog": 1}


def test_top_words():
    assert top_words("b b b c c a", 2) == ["b", "c"]


def test_top_words_of_equals():
    assert top_words("pear apple fig") == ["apple", "fig", "pear"]
    assert top_words("d c b a") == ["a", "b", "c"]


def test_longest_word():
    assert longest_word("a long, longer word") == "longer"
    assert longest_word("one two six") == "one"


def test_longest_word_of_nothing():
    assert longest_word("") == ""


def test_palindrome():
    assert is_palindrome("level")
    assert not is_palindrome("levels")


def test_palindrome_ignores_case_and_marks():
    assert is_palindrome("A man, a plan, a canal: Panama")


def test_anagrams():
    assert are_anagrams("listen", "silent")
    assert are_anagrams("Dormitory", "dirty room")
    assert not are_anagrams("abc", "abd")


def test_edit_distance():
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("abc", "abc") == 0


def test_edit_distance_to_nothing():
    assert edit_distance("abc", "") == 3
    assert edit_distance("", "ab") == 2


def test_common_prefix():
    assert common_prefix(["flower", "flow", "flight"]) == "fl"
    assert common_prefix(["ab", "abc"]) == "ab"


def test_common_prefix_of_nothing():
    assert common_prefix([]) == ""


def test_sentences():
    assert sentences("Go on. Stop! Why?") == ["Go on.", "Stop!", "Why?"]


def test_sentences_without_an_end():
    assert sentences("Done. And then") == ["Done.", "And then"]
