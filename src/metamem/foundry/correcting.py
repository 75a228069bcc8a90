"""Whether what a user says next is that something was not right.

Only the first sentences count, and in them how people speak of what was just done: that it does not work, that
something is broken *now* or *still*, that it should be undone, that it is not what was asked for. A task that
is about errors, reverting or stopping is none of that. English, and some German.
"""

import re

SEEN = 240  # characters of what was said
_SENTENCES = 2
_ENDS = re.compile(r"(?<=[.!?])\s+|\n")
_LEAD = re.compile(
    r"^\W*(?:(?:h+m+|u+gh|argh|oops|oh|ah|well|wait|actually|sorry|but|and|so|ok(?:ay)?|please|just|unfortunately"
    r"|can you|could you|leider|bitte|aber)\b[\s,.!:…-]*)*"
)
_IT = r"(?:it|this|that|these|those|they|which)"
_NOT = r"(?:not|never|n't|nothing)"
_BE = r"(?:'s|'re| is| are| was| were| has| still| now| just| also| again| only| even| all)*"
_BAD = (
    r"(?:broken|wrong|incorrect|gone|missing|blank|empty|worse|bad|red|slow|off|lost|stuck|useless|unreadable"
    r"|crash(?:es|ed|ing)?|fail(?:s|ed|ing)?|throw(?:s|n|ing)?|threw|break(?:s|ing)?|broke|hang(?:s|ing)?"
    r"|froze|freez(?:es|ing)|dies|died|errors? out)"
)
_ERROR = r"(?:errors?|exceptions?|traceback|warnings?|failures?|\w+error|\w+exception|crash(?:es)?|blank|nothing|\d{3})"
_PARTS = (
    # No, not so.
    r"(?:no|nope|nah|nein)\b\s*(?:[,.!;:–-]|$)(?!\s*(?:thank|thx|that's (?:all|it|fine)|all good|it's (?:fine|ok)"
    r"|go (?:on|ahead)|not needed|danke|passt))",
    r"(?:stop|wrong|incorrect|falsch)\s*(?:[,.!;:]|$)",
    r"wrong (?:file|branch|directory|folder|one|version|order|place|line|function|way|name|test|approach|repo|path)\b",
    r"not (?:right|quite|correct|what (?:i|we)|working|fixed|good|there yet|the (?:right|one))\b(?! idea)",
    # It does not work.
    rf"{_IT}{_BE}\s*{_NOT}\b",
    rf"{_IT}\s+(?:still\s+|also\s+|just\s+)*(?:is|are|was|were|do|does|did|wo|ca|ha|has|have|would|could|can|will)\s*(?:still\s+)?{_NOT}\b",
    rf"{_IT}\s+(?:still\s+)?cannot\b",
    r"(?:still )?(?:(?:does|did|is|wo|ca|do)(?:n't| not)|not|cannot)\s+(?:seem\w* to |really |even |yet )*"
    r"(?:work|fix|help|compil|run|start|build|pass|load|show|open|respond|render|chang)",
    rf"{_IT}{_BE}\s+(?:an? |the )?{_BAD}\b",
    rf"{_IT} (?:made|makes|make) (?:it|things|everything|this|that) \w*\s?worse",
    # It is still so, or so now.
    rf"still\s+(?:not\b|no\b|the same|{_BAD}|getting|seeing|there\b|doesn't|does not|an? (?:error|problem))",
    r"(?:i (?:still )?(?:get|see|have) |still |now )?(?:getting )?(?:the |exactly the )?same (?:error|problem|issue"
    r"|exception|result|failure|bug|behaviou?r|output|as before|again)\b",
    rf"there(?:'s| is| are) (?:still|now)\b.*\b(?:{_ERROR}|{_BAD}|problems?|bugs?|issues?)",
    rf"(?:now\s+|and now\s+)?i\s+(?:still |now |just )*(?:get|got|see|am getting|'m getting|am seeing|have)\b[^,;]{{0,40}}\b{_ERROR}\b",
    rf"(?:now |still )*getting\b[^,;]{{0,30}}\b{_ERROR}\b",
    rf"{_IT} (?:still |now )*(?:gives?|gave|shows?|says|raises?|returns?)\b[^,;]{{0,30}}\b{_ERROR}\b",
    rf"now\s+(?:the |my |all |every)?\s*(?:\w+\s+){{1,3}}(?:is |are )?(?:{_BAD}|n't|not)\b",
    r"(?:now |still )*nothing (?:has |is )?(?:chang|happen|load|work|appear|show)\w*",
    r"i (?:still )?(?:do not|don't|can't|cannot) see (?:any|the|a|it)\b",
    # Something is so that was not so before; a task would say what is to be done about it.
    rf"(?!.*\b(?:please|when|if|whenever|fix|look into|can you|could you|find out|why|how|next|should)\b)(?:(?:the|my|your|our|all|every)\s+)?"
    rf"(?:[\w/.-]+\s+){{1,3}}(?:(?:is|are|was|were|has|have|got)\s+)?(?:still\s+|now\s+|all\s+)*{_BAD}(?:\s+(?:now|again|after (?:your|that|this)\b.*)|\s*$)",
    r"(?!.*\b(?:please|when|if|find|next|should)\b)(?:the |my |your )?(?:\w+\s+){1,3}(?:is|are) still (?:there|the same|here|open)\b",
    rf"{_IT} broke\b",
    r"(?!.*\b(?:please|when|if|find|next|should|make)\b)(?:the |my |your |our )(?:[\w/.-]+\s+){1,4}(?:(?:does|do|is|are)(?:n't| not)|no longer"
    r"|returns? [45]\d\d|(?:eats|drops|loses|swallows|duplicates|ignores)\b|shows? up twice)",
    r"(?:the |my |your |our )(?:[\w/.-]+\s+){1,4}(?:\w+ )*(?:no longer|(?:no|any) ?more|(?:times )?(?:longer|slower|worse) now)\b",
    r"(?:we|i) (?:lost|miss)\b|i (?:can't|cannot|can not) \w+ (?:\w+ )*any ?more\b",
    r"it (?:compiles|builds|runs|starts|works),? but\b",
    # Undo what was just done.
    r"(?:can we |let's |let us )?go(?:ing)? back to (?:the|what|how)\b",
    r"(?:undo|revert|roll ?back|put back|take back|restore)\s+(?:that|this|it|these|those|your|all|everything|what you"
    r"|the (?:last|previous|change|edit))\b",
    r"undo\s*(?:[.!]|$)",
    r"(?:roll|put|change|set|switch|take|move|bring)\s+(?:that|this|it|them|everything)\s+back\b",
    # It is not what was asked for.
    rf"{_IT}(?:'s| is) (?:the opposite|a hallucination|nonsense|made up|not even|backwards|too (?:much|many|slow|long|complicated))",
    r"(?:no|nope),? (?:it|that|this|the|you|we|i|there|not|use|don't)\b(?!'s (?:fine|ok|all))",
    r"(?:i think |looks like |seems )?you(?:'re| are| have|'ve)? (?:mixed|confus|edit|writ|us|look|chang|call|break|repeat|miss)\w*ing\b",
    r"(?:i think |looks like |it seems )you (?:mixed|confused|broke|forgot|missed|misunderst|misread|changed|used|swapped)\w*",
    r"(?:don't|do not|stop|quit) (?:touch|chang|edit|delet|remov|add|invent|mak|rewrit|us)\w*\b(?! sure)",
    r"not sure what you did\b",
    r"you(?:'ve| have)? (?:broke|forgot|missed|misunderst\w+|misread|ignored|skipped|overwrote|removed|deleted|dropped"
    r"|changed|renamed|reverted|duplicated|mixed up)\b(?!\s+nothing)",
    r"you (?:should(?:n't| not| have)|were (?:not )?supposed|did(?:n't| not)|have(?:n't| not)|never|only)\b",
    r"why (?:did|have|would) you (?:remov|delet|chang|touch|renam|revert|drop|mov|ignor|skip|rewr|replac|break|not\b|add)\w*",
    r"i (?:said (?:not|no\b|don't|that|to|you)|meant (?:the|that|a\b|an\b|not)|asked (?:for|you|not|only|that|to)"
    r"|only (?:asked|wanted|meant)|wanted\b|told you|did(?:n't| not) (?:ask|want|mean|say))",
    # German.
    r"(?:das|es|die|der)\b.{0,25}\b(?:falsch|kaputt|(?:funktioniert|geht|stimmt|klappt|passt)(?: \w+){0,3} nicht)\b",
    r"(?:funktioniert|geht|stimmt|klappt|passt)(?: \w+){0,3} nicht\b",
    r"(?:mach|nimm|setz|dreh)\w*\b.{0,30}\b(?:rückgängig|zurück)\b",
    r"immer noch\b|(?:das|so) (?:war|ist|habe ich) nicht\b|du hast\b.{0,30}\b(?:vergessen|falsch|gelöscht)\b",
)
_CORRECTS = re.compile("|".join(f"(?:{part})" for part in _PARTS))
_HARMLESS = re.compile(
    r"(?:do(?:es)?n't|does not|do not|is not|isn't|not)\s+(?:matter|need|mind|worry|bad|necessary|needed|urgent|important|a problem)"
    r"|\bnothing broke\b|no (?:problem|worries)|\b(?:works|fixed|passes|perfect|great|gut|passt)\b(?!.*\b(?:but|aber)\b)"
)


_NO = re.compile(r"\W*(?:no|nope|nein)\b\s*[,.!]")


def corrects(prompt: str) -> bool:
    """Whether what a user says next is that something was not right."""
    said = prompt[:SEEN].lower().replace("’", "'")
    sentences = [each.strip() for each in _ENDS.split(said) if each.strip()]
    return any(map(_is_correction, sentences[:_SENTENCES]))


def _is_correction(sentence: str) -> bool:
    lead = _LEAD.match(sentence)
    without = sentence[lead.end() :] if lead is not None else sentence
    found = any(_CORRECTS.match(text) for text in (without, sentence))
    return found and (_HARMLESS.search(without) is None or _NO.match(sentence) is not None)
