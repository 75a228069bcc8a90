"""Everyday lives: what conversations of train, valid and test are about."""

from metamem.domains.dialogue.home_topics import TOPICS
from metamem.domains.dialogue.topic import Event, Kin, Theme, listed

EVENTS = (
    Event(
        "climbing",
        (
            "I went to the climbing hall with {v} today, my fingers are shot.",
            "Climbing again! {v} held my rope this afternoon.",
            "Today {v} and I tried the new wall at the climbing hall.",
            "Spent my lunch break climbing, {v} came along.",
        ),
        ("Yesterday {v} dragged me to the climbing hall.",),
        "When did {who} go climbing with {v}?",
        "How many times has {who} gone climbing?",
    ),
    Event(
        "dentist",
        (
            "Back from the dentist, Doctor {v} put in a filling this morning.",
            "The dentist saw me today, a certain Doctor {v}, very gentle.",
            "My tooth again. Doctor {v} at the dental clinic fixed it today.",
        ),
        ("I was at the dentist yesterday, Doctor {v} took an X-ray.",),
        "When was {who} treated by the dentist Doctor {v}?",
        "How many times has {who} been to the dentist?",
    ),
    Event(
        "concert",
        (
            "Tonight I heard {v} at the concert hall, what a voice.",
            "I am just home from a concert, {v} played for two hours.",
            "The concert of {v} this evening made my ears ring.",
        ),
        ("My concert ticket got me in to hear {v} yesterday.",),
        "When did {who} hear {v} in concert?",
        "How many concerts has {who} been to?",
    ),
    Event(
        "swim",
        (
            "I swam across the lake with {v} this morning, so cold.",
            "Swimming in the lake at dawn, {v} timed me today.",
            "Today it was {v} who joined me for a swim in the lake.",
        ),
        ("Yesterday I went for a swim in the lake, {v} guarded the towels.",),
        "When did {who} swim in the lake with {v}?",
        "How many times has {who} gone for a swim in the lake?",
    ),
    Event(
        "babysitting",
        (
            "I looked after little {v} today, we built a fort.",
            "Babysitting duty this afternoon: {v} fell asleep on my arm.",
            "Today I was babysitting {v}, never again before coffee.",
        ),
        ("I had {v} here for babysitting yesterday, crayons everywhere.",),
        "When was {who} babysitting {v}?",
        "How many times has {who} been babysitting?",
    ),
    Event(
        "flea market",
        (
            "Look what I found at the flea market today, sold to me by one {v}.",
            "At the flea market this morning I haggled with {v} over a lamp.",
            "Flea market again today. {v} helped me carry the loot.",
        ),
        ("I was at the flea market yesterday, {v} had the stall next to ours.",),
        "When did {who} meet {v} at the flea market?",
        "How many times has {who} been to the flea market?",
    ),
)

KIN = (
    Kin(
        "garden",
        listed("tulips|rhubarb|sunflowers|artichokes|dahlias|asparagus|peonies|fennel|hollyhocks"),
        (
            "{name} has planted {v} along the whole fence.",
            "You should see {name} kneeling among the {v}.",
        ),
        "What does {who}'s {relation} grow in the garden?",
    ),
    Kin(
        "collection",
        listed("matchboxes|teapots|beer mats|fossils|snow globes|typewriters|thimbles|keyrings"),
        (
            "{name} collects {v} and has run out of shelves.",
            "At {name}'s place every room is full of {v}, a whole collection.",
        ),
        "What does {who}'s {relation} collect?",
    ),
    Kin(
        "sport",
        listed("fencing|curling|judo|archery|bowling|badminton|sailing|squash|canoeing"),
        (
            "{name} has taken up {v} and talks of nothing else.",
            "Every weekend {name} drives two hours for {v}.",
        ),
        "Which sport does {who}'s {relation} do?",
    ),
    Kin(
        "trade",
        listed("plumber|florist|beekeeper|optician|notary|carpenter|barber|chemist|tailor"),
        (
            "{name} opened a shop as a {v}, the sign looks great.",
            "Our {name} earns good money as a {v}.",
        ),
        "What is the profession of {who}'s {relation}?",
    ),
)

THEME = Theme(
    names=listed(
        "Agnes|Bruno|Celia|Dario|Edith|Felix|Greta|Henrik|Ines|Jonas|Katja|Lorenzo|Mira|Nils"
        "|Olga|Pascal|Ramona|Stefan|Tilda|Viktor|Wanda|Xenia|Yusuf|Zora"
    ),
    others=listed(
        "Amal|Bettina|Casper|Dunja|Emeka|Fabienne|Gideon|Hedda|Ilya|Jolanda|Kofi|Leonie|Milo"
        "|Nadira|Oskar|Petra|Quentin|Rosalie|Silvan|Tamar|Ulrich|Verena|Willem|Yvette|Zeno|Bilal"
        "|Corinna|Detlef|Eluned|Farouk|Gisela|Hamza|Ingrid|Jarek|Kirsten|Ludo|Marisol|Norbert"
    ),
    relations=listed("sister|cousin|neighbour|uncle|flatmate|stepbrother|godmother|boss"),
    topics=TOPICS,
    events=EVENTS,
    kin=KIN,
    chat=listed(
        "It has been raining here since breakfast.|I slept terribly, the neighbours had a party."
        "|Did you see the match last night? I only caught the end."
        "|My phone battery dies at noon, so annoying.|The traffic was a nightmare again."
        "|I have eaten far too much cake.|Everything is so expensive lately."
        "|I keep losing my umbrella, that is the third one.|Work was long but fine."
        "|The sunset was gorgeous, I just stood there for a while."
        "|I should really clean the fridge one of these days."
        "|My back hurts from sitting all day.|I watched three episodes in a row, no regrets."
        "|The lift was broken, so I got my exercise.|I am so ready for the weekend."
        "|There was a rainbow over the car park.|I forgot my keys and had to wait outside."
        "|The new bakery on the corner is dangerous for my wallet."
        "|Somebody left a single shoe on the bus.|I finally fixed that dripping tap."
        "|The queue at the post office went around the block."
        "|I tried to meditate and fell asleep.|The leaves are all over the pavement."
        "|My inbox has four hundred unread mails.|I burnt the toast twice this morning."
        "|The power went out for an hour, quite romantic."
    ),
)
