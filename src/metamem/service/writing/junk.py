"""What is not worth keeping, and why: told to whoever wanted it kept.

Lines of conversations are evidence and are kept as they come; only facts are judged by what they say.
"""

import re

from metamem.core.secrets import INSTEAD
from metamem.service.marks import is_fenced
from metamem.service.words import TYPES
from metamem.service.writing.clean import DATA
from metamem.service.writing.wordlist import listed

MOST = 8000  # characters of a fact

_SOMETHING = re.compile(r"[^\W_]")
_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+")
# A line of an answer, out of its fence: [day author, type, …, end of the fact's id] and the text.
_ECHO = re.compile(rf"\s*-?\s*\[[^\]\n]*\b(?:{'|'.join(TYPES)}), (?:[^\]\n]*, )?[0-9a-f]{{8}}\]\s")
# And wherever else it stands, with its day.
_QUOTED = re.compile(
    rf"\[\d{{4}}-\d\d-\d\d[^\]\n]{{0,200}}\b(?:{'|'.join(TYPES)}), (?:[^\]\n]{{0,80}}, )?[0-9a-f]{{8}}\]"
)
# A text of these words alone says nothing that lasts,
_POLITE = listed(
    """ok okay k kk yes yeah yep yup no nope sure thanks thank ty thx hi hello hey bye goodbye great cool nice awesome
    perfect excellent fine understood noted alright absolutely np welcome lgtm continue sorry apologies hmm hm uh um wow
    lol haha cheers morning afternoon evening night
    danke bitte ja nein merci oui bonjour gracias hola obrigado grazie спасибо да нет
    好 好的 嗯 是的 行 可以 没问题 谢谢 谢谢你 多谢 感谢 收到 明白 明白了 知道了 了解 你好 再见 謝謝 沒問題
    はい いいえ うん 了解 了解です 了解しました 承知しました わかりました ありがとう ありがとうございます こんにちは よろしくお願いします
    네 예 아니요 응 감사합니다 고마워요 고맙습니다 알겠습니다 알겠어요 안녕하세요 좋아요"""
)
# not even together with these.
_FILLING = listed(
    """you there good got it will do done right of course problem you're sounds please let me know if i can help with
    anything else how today happy to i'm as an ai language model go ahead next see that makes sense all one moment
    working on very much a lot lots so for your is later talk soon what's up"""
)
_CHATTER = re.compile(
    r"(?:is there anything else (?:i|you)|let me know if you (?:need|have)|how (?:can|may) i (?:help|assist)"
    r"|i(?:'m| am) (?:here|happy|glad) to (?:help|assist)|as an ai (?:language )?model|i(?:'d| would) be happy to)"
    r"[^.!?\n]{0,80}[.!?]*\s*",
    re.IGNORECASE,
)
_HOLLOW = re.compile(
    r"(?:[a-z](?![+#])|n/?a|none|null|nil|undefined|nan|todo|tbd|test|testing|foo|bar|lorem ipsum.*|no (?:new )?(?:facts?|memor(?:y|ies)"
    r"|information|updates?)(?: (?:found|to (?:store|remember|save)))?|nothing(?: (?:new|to (?:remember|store|save)))?)\W*",
    re.IGNORECASE | re.DOTALL,
)
# What is said around work, and at its end. Nothing but such a sentence tells something for later.
_WORK = r"(?:it|that|this|everything|all of (?:it|that)|(?:the|your|this|that) (?:file|code|request|task|issue|problem|error|question)s?)"
_TALK = re.compile(
    r"(?:(?:great|okay|ok|sure|perfect|certainly|absolutely|of course|done)[,.!]* )?(?:"
    r"(?:all )?(?:done|finished|completed?)(?: successfully)?|(?:the |all )?tasks? (?:is |are |was |were |has been |have been )?"
    r"(?:now )?(?:done|completed?|finished)(?: successfully)?|i(?:'ve| have) (?:now )?(?:done|finished|completed)"
    rf"(?: {_WORK})?(?: (?:that )?you(?:'ve| have)? asked(?: me)?(?: for| to do)?)?"
    r"|(?:i'll|i will|let me|i'm going to|i am going to) (?:now |first )?(?:help(?: you)?(?: with)?|check|look at|look into|review"
    rf"|examine|read|start|begin|handle|take a look(?: at)?|think about)(?: {_WORK})?(?: for you| now| first)?"
    r"|here(?:'s| is| are) (?:the|your|an?) [\w ]{1,40}:"
    r"|(?:i(?:'m| am)? )?(?:apologi[sz]e|sorry)(?: for (?:the|any|my) (?:confusion|inconvenience|mistake|delay|error))?"
    r"|(?:thinking|processing|working on it|please wait)"
    r"|(?:the )?(?:user|human|assistant|agent) (?:said|says|greeted|acknowledged|thanked|asked|is asking|replied|responded|confirmed)"
    r"(?: (?:hello|hi|hey|thanks|thank you|yes|no|ok|okay|bye|goodbye|(?:the|an?|some|another) (?:user|human|assistant|agent"
    r"|requests?|messages?|questions?|tasks?)|(?:for |about )?something|for help))?"
    r"|there (?:is|was) (?:nothing|no (?:new |relevant |useful )?(?:information|facts?|memories))(?: (?:here )?(?:to|worth)"
    r" (?:remember|store|save|note|remembering|storing|saving|noting))?"
    r"|no (?:relevant|useful|important|significant) (?:facts?|information|memor(?:y|ies)|details)(?: (?:found|available))?"
    r"|i (?:do not|don't|did not|didn't) (?:have|find|know) (?:any )?(?:information|memor(?:y|ies)|context|anything) about (?:that|this|it)"
    r"|\W?(?:no (?:content|output|response)|request (?:interrupted|cancelled|aborted) by (?:the )?user(?: for tool use)?)"
    r")\W*",
    re.IGNORECASE,
)
_TALKED = 160  # characters of such a sentence
# What stands in the place of what was taken out.
_PLACEHOLDER = re.compile(rf"{INSTEAD.pattern}|{DATA.pattern}")


def refusal(text: str) -> str:
    """Why a cleaned text is not kept as a fact; empty where it is."""
    if not text:
        return "it is empty"
    if is_echo(text):
        return "it is what memory told, coming back"
    if not _SOMETHING.search(text):
        return "it has no words, only signs"
    if len(text) > MOST:
        return (
            f"it has {len(text)} characters, and a fact has at most {MOST}: split it, or ingest it"
        )
    if (left := _PLACEHOLDER.sub("", text)) != text and not _SOMETHING.search(left):
        what = "a secret" if INSTEAD.search(text) else "data that is no text"
        return f"nothing is left of it but {what}"
    if _HOLLOW.fullmatch(text):
        return "it says nothing"
    if len(text) <= _TALKED and _TALK.fullmatch(text.replace("’", "'")):
        return "it is only said around work, and tells nothing for later"
    if _repeats_itself(text):
        return "it is one word or letter, over and over"
    if len(text) <= 200 and _is_polite(text):
        return "it is only a greeting or an acknowledgement"
    return ""


def is_echo(text: str) -> bool:
    """Whether a text is the service's own recall or briefing, or quotes lines of one."""
    return is_fenced(text) or _ECHO.match(text) is not None or _QUOTED.search(text) is not None


def _repeats_itself(text: str) -> bool:
    words = _LETTERS.findall(text.lower())
    if len(words) == 1:  # all of it, not "Aaa is a name"
        return len(words[0]) >= 8 and len({*words[0]}) == 1 and not words[0].isdigit()
    return len(words) >= 3 and len({*words}) == 1 and not words[0].isdigit()  # 8.8.8.8


def _is_polite(text: str) -> bool:
    rest = _CHATTER.sub("", text)
    words = [word.lower().replace("’", "'") for word in _LETTERS.findall(rest)]
    if not words:
        return True
    return all(w in _POLITE or w in _FILLING for w in words) and any(w in _POLITE for w in words)
