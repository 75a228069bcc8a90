"""Facts made by rule of a whole session, beside its lines: what was decided, corrected, and mended.

The lines alone help little, as what matters is scattered in them. A lesson is drawn from lines that
are kept, which it is linked to, and is believed no more than an agent's word. Made of the whole session
whenever it grows, so that looking again changes nothing, and what the user took back is archived.
"""

from collections.abc import Mapping
from dataclasses import replace

from metamem.service.importing.items import Piece
from metamem.service.importing.mended import mended
from metamem.service.importing.transcript import Transcript
from metamem.service.words import Draft
from metamem.service.writing.told import told

MOST = 40  # of a session, the newest


def lessons(transcript: Transcript) -> list[Piece]:
    """What a whole session teaches; each names the host's ids of the lines that it is drawn from."""
    origin = f"session {transcript.session}"
    found: list[Piece] = []
    for line in transcript.lines:
        if line.speaker != "user" or line.agent:
            continue
        for number, one in enumerate(told(line.text)):
            draft = Draft(one.text, one.type, "agent", origin, "user", line.at, about=(line.id,))
            found.append(Piece(f"{line.id} {number}", draft))
    for each in mended(transcript.calls):
        about = (each.prompt,) if each.prompt else ()
        author = transcript.host
        draft = Draft(each.text, "insight", each.source, origin, author, each.at, about=about)
        found.append(Piece(each.key, draft))
    return found[-MOST:]


def linked(pieces: list[Piece], turns: Mapping[str, tuple[str, ...]]) -> list[Piece]:
    """The same with the facts that hold those lines, by their host's ids; what was drawn from a line
    that is not kept is left out."""
    made = []
    for piece in pieces:
        about = tuple(fact for line in piece.draft.about for fact in turns.get(line, ()))
        if about or not piece.draft.about:
            made.append(Piece(piece.key, replace(piece.draft, about=about[:1])))
    return made
