"""Text that tells a model what to do, recognised by how it is put.

Memory is read by models: whoever can write a sentence into it could command them. So what reads like
an instruction, and does not come from a person, is kept as quarantined: shown as data where somebody
asks for it, and never by itself. Two strengths are told apart, since agents write plain rules
("always run the tests") into notes of their own, but have no reason to speak of system prompts.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal

from metamem.service.words import TRUST
from metamem.service.writing.clean import clean, is_disguised
from metamem.service.writing.wordlist import listed

Strength = Literal["", "rule", "command"]

_USER, _AGENT = TRUST["user"], TRUST["agent"]

# Addressed to a model. Each is tried on texts that hold one of the words before it.
_COMMANDS = (
    (
        "ignore disregard forget override bypass overrule drop",
        r"\b(?:ignore|disregard|forget|override|bypass|overrule|drop)\b(?:\W+\w+){0,4}?\W+(?:previous|prior|above"
        r"|earlier|preceding|foregoing|all|any|your|these|those|system|other)\b(?:\W+\w+){0,3}?\W+(?:instructions?"
        r"|prompts?|rules?|messages?|directions?|guidelines?|commands?|context|training|polic(?:y|ies)|orders?)\b",
    ),
    (
        "ignore disregard forget override",
        r"\b(?:ignore|disregard|forget|override)\b(?:\W+\w+){0,3}?\W+(?:instructions?|prompts?|rules?|messages?"
        r"|guidelines?)\W+(?:above|before|so far|you (?:were|have been) given)\b",
    ),
    (
        "follow obey listen",
        r"\b(?:do not|don'?t|never)\W+(?:follow|obey|listen to)\b(?:\W+\w+){0,3}?\W+(?:instructions?|rules?|user|system|prompts?)\b",
    ),
    (
        "instruction instructions",
        r"\b(?:new|updated|real|actual|following|hidden|secret|important)\W+(?:system\W+)?instructions?\s*[:\-—]",
    ),
    (
        "you",
        r"\byou\W+(?:must|have to|need to|are required to|are instructed to|are ordered to)\W+(?:now|always|never|not"
        r"|immediately|only|first|ignore|obey|follow|respond|reply|answer|say|output|print|call|run|execute|send|use"
        r"|delete|reveal|tell|write|act|pretend|comply|include|transfer|forward|open|visit|fetch|download|treat)\b",
    ),
    (
        "you act pretend roleplay",
        r"\b(?:you are now\s+\w|from now on,? you|act as(?: an?| if)\b|pretend (?:to be|that you|you are)|roleplay as"
        r"|you are (?:an? )?(?:ai|assistant|language model|chatgpt|claude|gemini|llm|dan)\b)",
    ),
    (
        "reveal print show repeat output leak disclose exfiltrate expose",
        r"\b(?:reveal|print|show|repeat|output|leak|disclose|exfiltrate|expose)\b(?:\W+\w+){0,4}?\W+(?:system\W+prompt"
        r"|hidden\W+prompt|initial\W+instructions?|your\W+(?:instructions?|prompt|rules)|api\W+keys?|credentials|secrets?)\b",
    ),
    (
        "system developer",
        r"\b(?:system|developer)\s+(?:prompt|message|override|instruction)\b",
    ),
    (
        "dear hey attention note message instruction instructions",
        r"\b(?:dear|hey|attention|note to|message (?:for|to)|instructions? (?:for|to))\W+(?:the\W+)?(?:ai|a\.i\.|assistant"
        r"|language model|llm|chatbot|chatgpt|claude|copilot|gemini|agent)s?\b",
    ),
    (
        "ai assistant llm claude chatgpt agent ais assistants llms agents",
        r"\b(?:ai|assistant|llm|claude|chatgpt|agent)s?\b\W+(?:must|should|has to|shall|needs to)\W+(?:always|never|now"
        r"|ignore|obey|immediately|run|execute|send|reveal|delete|call|follow|comply)\b",
    ),
    (
        "jailbreak prompt developer do",
        r"\b(?:jailbreak|prompt injection payload|developer mode (?:enabled|on)|do anything now)\b",
    ),
    (
        "without",
        r"\bwithout\W+(?:asking|telling|informing|notifying|alerting)\W+(?:the\W+)?(?:user|human|owner|anyone)\b",
    ),
    (
        "not",
        r"\bdo not\W+(?:tell|inform|mention|show|alert|notify|warn)\b(?:\W+\w+){0,3}?\W+(?:user|human|owner|anyone)\b",
    ),
    (
        "",
        r"(?:忽略|无视|無視)(?:.{0,8})(?:指令|提示|说明|命令|規則|规则)|(?:以前|前|上記)の(?:指示|命令)を無視"
        r"|(?:이전|위의?|모든).{0,12}(?:지시|명령|지침).{0,6}무시"
        r"|(?:игнорируй|забудь)(?:те)?\b.{0,40}(?:инструкци|указани|правила)",
    ),
    (
        "ignoriere missachte vergiss ignora ignore ignorez ignorer olvida oublie oubliez oublier",
        r"(?:ignoriere|missachte|vergiss)\b.{0,30}\b(?:anweisung|anweisungen|regeln|befehle)\b"
        r"|(?:ignora|ignore[zr]?|olvida|oublie[zr]?)\b.{0,30}\b(?:instrucciones|instructions|istruzioni|órdenes|consignes)\b",
    ),
)
# Role tags, chat templates, calls of tools. What may repeat has an end, or begins at one place only:
# a text of 200,000 line breaks must not cost more than another.
_SYNTAX = (
    r"<\|?/?\s*(?:system|im_start|im_end|assistant|user|developer|endoftext|eot_id|start_header_id|end_header_id"
    r"|begin_of_text|tool_call|tool_response|function_calls?|invoke|tool_use|tool_result|antml:\w+|instructions?)\b[^>]{0,80}\|?>",
    r"\[/?(?:INST|SYS|SYSTEM)\]|<</?SYS>>|<(?:start|end)_of_turn>|\[(?:system|assistant)\]\s*\(#",
    r"(?m:^[^\S\n]{0,40}(?:#{1,4}\s{0,4})?(?:system|assistant|developer)\s{0,4}(?:prompt|message)?\s{0,4}:\s{0,40}\S)",
    r"(?m:^[^\S\n]{0,40}(?:Human|Assistant):\s)",
    r"\"(?:tool_calls?|function_call|tool_use)\"\s*:|\"type\"\s*:\s*\"(?:tool_use|function|tool_call)\"",
    r"\"(?:name|tool)\"\s*:\s*\"\w+\"\s*,\s*\"(?:arguments|parameters|input)\"\s*:\s*[{\"]",
    r"!\[[^\]]{0,80}\]\(\s{0,4}<?https?://[^)\s?&]{1,2000}[?&]",  # a picture that would carry words away
)
# Standing rules as people give them: how one begins, and what it says then. A rule may say first when it
# holds ("from now on …", "before every commit …", "when tests fail, …").
_BEGINNING = r"(?m:(?:^|[.!?:;]\s+|[-*•]\s+|\d\.\s+)[*_>\"'(\[#]{0,4}"
_WHEN = (
    r"(?:(?:(?:from\s+(?:now|here|today|(?:this|that)\s+\w+)\s+on(?:wards?)?|going\s+forward|henceforth"
    r"|in\s+(?:the\s+)?future|as\s+of\s+(?:now|today)|starting\s+(?:now|today)|in\s+this\s+\w+|kindly"
    r"|(?:before|after|for|on|at|with)\s+(?:every|each|any|all)\s+[\w-]+)[\s,:)\]*_-]{1,5}"
    r"|(?:when(?:ever)?|if|once|before|prior|after|during|while|unless|until|upon|per|by|for|on|at|in|to|as"
    r"|(?:every|each)\s+time)"
    r"\s[^,.!?;:\n]{1,80},\s+)(?:please\s+|then\s+)?)?"
)
_RULES = (
    r"(?:please\s+|also,?\s+|then,?\s+|important:?\s+|note:?\s+)?"
    r"(?:always|never|do not|don'?t|make sure(?: to| that)?|be sure to|remember to|ensure(?: that)?|you must|you should"
    r"|you have to|avoid|stop|only|must)\s+[a-z]+)",
    r"(?:please\s+|then,?\s+|next,?\s+|first,?\s+|now,?\s+|immediately\s+)?"
    r"(?:run|execute|call|send|delete|remove|install|download|upload|fetch|open|visit|click|reply|respond|answer|say|tell"
    r"|output|print|forward|transfer|email|post|publish|push|commit|curl|wget|sudo|rm|ignore|obey|follow|use|set|disable"
    r"|enable|approve|grant|share|paste|copy|write|append|overwrite|replace|remember|store|save|forget|pay|buy)\s+"
    r"(?!operations?\b|requests?\b|calls?\b|quer(?:y|ies)\b|jobs?\b|times?\b|of\b|is\b|was\b|are\b|has\b|and\b|or\b|by\b|failed\b|passed\b|succeeded\b)[\w`'\"$./~-]+)",
)
# And what is told to a reader, wherever it stands.
_TOLD = (
    r"\b(?:you|the (?:agent|assistant|model|ai))\s+(?:must|should|shall|has to|have to|need(?:s)? to|ought to"
    r"|always|never|are to|is to)\s+(?:\w+\s+)?[a-z]+",
    r"\b(?:wants?|needs?|expects?|requires?|tells?|told|asks?|asked)\s+(?:you|the (?:agent|assistant|model|ai))"
    r"\s+(?:not\s+)?to\s+[a-z]+",
)

_LETTERS = re.compile(r"[a-z]{2,}")
# Letters of other alphabets that look like ours.
_FOLDED = str.maketrans("аеорсухіѕјѵԁɡ０１３４５７＠＄’‘“”", "aeopcyxisjvdgoleast@$''\"\"")
_GATED = tuple(
    (listed(words), re.compile(form.translate(_FOLDED), re.I)) for words, form in _COMMANDS
)
_DRIVEN = re.compile("|".join(f"(?:{one})" for one in _SYNTAX), re.IGNORECASE)
_RULE = re.compile(
    "|".join(f"(?:{one})" for one in (*(_BEGINNING + _WHEN + one for one in _RULES), *_TOLD)),
    re.IGNORECASE,
)
_RULING = frozenset(
    _LETTERS.findall(" ".join((*_RULES, *_TOLD)))
)  # no rule without one of its words
_WORD = re.compile(r"[a-z]+")
_SIGNS = re.compile(r"[<\[\"!:]")
_STRIKES = re.compile("[\u0300-\u036f\u20d0-\u20ff]")  # marks that are no part of a letter


def strength(raw: str) -> Strength:
    """How much a text, as it was given, reads like an instruction."""
    if not raw:
        return ""
    if is_disguised(raw):
        return "command"
    text = raw if raw.isascii() else _folded(raw)
    words = set(_WORD.findall(text.lower()))
    for needed, form in _GATED:
        near = not needed.isdisjoint(words) if needed else not raw.isascii()
        if near and form.search(text):
            return "command"
    if _SIGNS.search(text) and _DRIVEN.search(text):
        return "command"
    return "rule" if not words.isdisjoint(_RULING) and _RULE.search(text) else ""


def _folded(raw: str) -> str:
    """As it is read: without what cannot be seen or only strikes letters out, in the letters that it
    looks like."""
    whole = unicodedata.normalize("NFKC", clean(raw))
    return _STRIKES.sub("", whole).lower().translate(_FOLDED)


def is_quarantined(trust: int, type_: str, text: str, others: Iterable[str] = ()) -> bool:
    """Whether a fact is kept as data only. `others` are its further fields, names and places.

    A person may give rules. An agent's notes may hold some, but not as standing instructions, and
    not in words that command models. What tools and others bring may hold none.
    """
    if trust >= _USER:
        return False
    found = strength(text)
    if found == "command" or any(strength(other) == "command" for other in others):
        return True
    return found == "rule" and (trust < _AGENT or type_ == "instruction")
