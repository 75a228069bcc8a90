"""Words that tell nothing of what a text is about: they are neither indexed nor asked for."""

_WORDS = """
    a an the this that these those there here it its he him his she her hers they them their theirs
    i me my mine myself you your yours yourself we us our ours one
    and or but nor so if then than as of to in on at by for from with into onto about over under up
    down out off again through between during after before
    is am are was were be been being do does did doing done have has had having will would shall
    should can could may might must
    not no yes ok okay oh hey hi wow
    what which who whom whose when where why how
    just very really also too more most some any all such only own same other each both
    s t d ll m re ve don
"""
STOP = frozenset(_WORDS.split())
