"""Other lives: what conversations of the shift split are about. Shares no topic with `home`."""

from metamem.domains.dialogue.away_topics import TOPICS
from metamem.domains.dialogue.topic import Event, Kin, Theme, listed

EVENTS = (
    Event(
        "kayak",
        (
            "Paddled down the gorge with {v} today, soaked to the skin.",
            "Kayak day! {v} capsized twice this afternoon.",
            "Today {v} lent me a kayak and we went around the island.",
            "This morning in the kayak I kept up with {v} for once.",
        ),
        ("Yesterday I sat in a kayak behind {v} for five hours.",),
        "When was {who} out in a kayak with {v}?",
        "How many times has {who} been out in a kayak?",
    ),
    Event(
        "tutoring",
        (
            "I gave {v} a maths lesson today, fractions at last.",
            "Maths lesson this evening, {v} solved every equation.",
            "Today in our maths lesson {v} asked what infinity is for.",
        ),
        ("The maths lesson with {v} yesterday ran an hour over.",),
        "When did {who} give {v} a maths lesson?",
        "How many maths lessons has {who} given?",
    ),
    Event(
        "blood",
        (
            "I gave blood today, nurse {v} found the vein at once.",
            "Blood donation this morning; {v} from the desk gave me a biscuit.",
            "Today at the blood donation I lay beside {v}.",
        ),
        ("At the blood donation yesterday {v} fainted, I did not.",),
        "When did {who} meet {v} at the blood donation?",
        "How many times has {who} given blood?",
    ),
    Event(
        "quiz",
        (
            "Pub quiz tonight, {v} knew every capital.",
            "We lost the pub quiz this evening by a point, blame {v}.",
            "Tonight at the pub quiz I sat beside {v}.",
        ),
        ("Yesterday {v} and I won the pub quiz.",),
        "When was {who} at the pub quiz with {v}?",
        "How many times has {who} been to the pub quiz?",
    ),
    Event(
        "chess",
        (
            "I lost a chess game against {v} today, in eleven moves.",
            "A draw! My chess game with {v} this evening went on for ever.",
            "Today I beat {v} at chess with a bishop sacrifice.",
        ),
        ("My chess game against {v} yesterday ended in a blunder.",),
        "When did {who} play chess against {v}?",
        "How many games of chess has {who} played?",
    ),
)

KIN = (
    Kin(
        "invention",
        listed("a talking kettle|a folding piano|a solar hat|a silent drum|a windup torch"),
        (
            "{name} has invented {v} and wants a patent.",
            "The garage smells of glue, because {name} is building {v}.",
        ),
        "What has {who}'s {relation} invented?",
    ),
    Kin(
        "post",
        listed("Antarctica|Svalbard|Patagonia|Greenland|Kamchatka|the Faroes|Tasmania"),
        (
            "{name} flew out to {v} for a year of research.",
            "A postcard from {name} came all the way from {v}, where the lab is.",
        ),
        "Where does {who}'s {relation} do research?",
    ),
    Kin(
        "act",
        listed("fire breathing|tightrope walking|knife throwing|stilt dancing|card magic"),
        (
            "{name} ran off to the circus to do {v}.",
            "The crowd goes silent when {name} does the {v}.",
        ),
        "What does {who}'s {relation} do in the circus?",
    ),
)

THEME = Theme(
    names=listed(
        "Alba|Boris|Clio|Dmitri|Elif|Fergus|Gwen|Hugo|Isolde|Jasper|Kira|Lionel|Magda|Nestor"
        "|Oona|Piers|Rhea|Soren|Thea|Ugo|Vesna|Wilbur|Yara|Zoltan"
    ),
    others=listed(
        "Anouk|Basil|Carys|Dov|Enzo|Freya|Gaspard|Hanne|Ivo|Jutta|Keir|Lieselotte|Mateo|Nerys"
        "|Orla|Paolo|Radka|Sunniva|Torben|Urs|Vita|Wolfram|Ylva|Zelda|Astrid|Benno|Carlotta"
        "|Desmond|Elke|Florin|Gerda|Hilmar|Imke|Joris|Klara|Lazlo|Malin|Neville|Ottilie|Pieter"
    ),
    relations=listed("aunt|brother|tutor|grandfather|roommate|niece|landlady|coach"),
    topics=TOPICS,
    events=EVENTS,
    kin=KIN,
    chat=listed(
        "The fog would not lift all day.|I think I am coming down with something."
        "|My laptop wants an update every single day.|The heating is making odd noises."
        "|I finally answered all those letters.|The train stood in the middle of nowhere again."
        "|I had the strangest dream about elevators.|Somebody painted our gate orange overnight."
        "|The market was packed this morning.|I am drinking far too much tea."
        "|My glasses broke, everything is a blur.|There were so many stars on the way home."
        "|I cannot get that tune out of my head.|The printer ate my papers once more."
        "|I found ten coins in an old coat.|It is so hot that the road is melting."
        "|The neighbours have discovered drums.|I overslept and nobody noticed."
        "|I have a blister from the new boots.|The milk was sour, so black coffee it was."
        "|We had hail the size of peas.|I walked home the long way just for the air."
        "|My plants look at me with reproach.|The radio only gets one station here."
        "|I ran for the bus and the driver laughed.|I sorted a whole drawer of cables."
    ),
)
