"""What people say to an assistant beside what counts, and what it answers: phrases of own writing."""

from metamem.domains.dialogue.topic import listed

# Details with a figure, and small things that nobody says of themselves: both may be asked for.
FIGURES = (
    "The {thing} comes to {v} euros in all.",
    "According to the letter the {thing} costs {v} euros.",
    "For the {thing} the bill says {v} euros.",
)
FIGURE_ASKED = "How many euros does the {thing} cost?"
FIGURE_THINGS = listed(
    "boiler repair|roof inspection|piano transport|garden fence|hearing aid|driving course"
    "|wedding cake|bicycle trailer|ski rental|tree felling|passport photo|cellar pump"
)
ASIDES = (
    "The {thing} has turned {v} over the winter.",
    "Somebody painted the {thing} {v}.",
    "That {thing} over there is {v}, in case anybody wonders.",
)
ASIDE_ASKED = "What colour is the {thing}?"
ASIDE_THINGS = listed(
    "letterbox|cellar door|park bench|ladder|watering can|tool shed|bus stop|weathervane"
    "|doormat|picnic table|garden gate|wheelbarrow"
)
COLOURS = listed(
    "turquoise|maroon|ochre|lilac|crimson|beige|indigo|emerald|ivory|amber|teal|magenta"
)
NEXT = "Thanks. What I want done next is to {v}."
NEXT_ASKED = "What does {who} want done next?"
NEXT_THINGS = listed(
    "sort the tax receipts|write the speech for the reunion|plan the cycling tour"
    "|compare the phone contracts|draft the complaint to the landlord|list the guests"
    "|translate the manual|plan the vegetable beds|find a piano tuner|check the lease"
)
# Questions that name a value which nobody has.
WONDERED = (
    "What would you say to somebody who chose {v}?",
    "Is {v} any good, do you think?",
    "Do many people ask you about {v}?",
)
# Small talk, of which there is no end: who, what it did, and when.
SUBJECTS = listed(
    "The neighbour|The printer|The postman|The lift|The kettle|The radio|The cat next door"
    "|The hallway light|The coffee machine|The tram|The new vacuum cleaner|The choir upstairs"
    "|The old clock|The delivery van|The tap|The window cleaner|The garden hose|The doorbell"
)
DOINGS = listed(
    "made strange noises|would not stop|came far too late|woke everybody up|broke down"
    "|gave up without a sound|caused a great mess|got stuck|behaved for once|took ages"
    "|surprised the whole house|went on and on|needed two attempts|was the talk of the street"
)
MOMENTS = listed(
    "again this morning|before breakfast|while it rained|late in the evening|during lunch"
    "|the whole afternoon|just now|over the weekend|at the worst moment|as always"
)
# What an assistant goes on about. It tells nothing of whoever asked.
ADVICE = listed(
    "That is a good place to begin, and there are several ways to go about it from here."
    "|A simple list often helps: write down what is fixed, what is open and what can wait."
    "|It may be worth looking at the matter from the other end and working backwards."
    "|Most people find that the second attempt takes half as long as the first one."
    "|Where two options look alike, the one that can be undone later is usually the better."
    "|Small steps have the advantage that mistakes show early and cost little to correct."
    "|Keep the receipts together in one place, since somebody will ask for them sooner or later."
    "|If the instructions are unclear, a short call to the manufacturer saves a long evening."
    "|There is no need to decide at once; sleeping on it rarely does any harm."
    "|Before buying anything, measure twice and note the figures where they can be found."
    "|A friendly reminder in writing works better than three calls nobody remembers."
    "|Compare at least three offers and pay attention to what is not included in them."
    "|The usual order is preparation, a trial on a small part, and only then the whole."
    "|When time is short, leave out what nobody would miss and do the rest properly."
    "|It helps to agree beforehand on who does what, and by when it should be finished."
    "|Experience shows that the simplest explanation is right more often than not."
    "|Should it fail, go back to the last state that worked and change one thing at a time."
    "|Many of these questions have been answered in the manual, though rarely where one looks."
    "|A timer is useful here, because attention fades long before the work is done."
    "|Do not hesitate to ask for help with the heavy parts, since backs do not grow again."
    "|The weather plays a role as well, so keep a second plan ready for a wet day."
    "|For a first draft it is enough that everything is there; polish can come afterwards."
    "|Prices change with the season, and waiting a few weeks may already be worthwhile."
    "|Good light and a tidy table are half of the work, as the saying goes."
    "|Whoever writes the minutes decides what was agreed, so offer to write them."
    "|If there are several opinions, a short test settles more than a long discussion."
)
