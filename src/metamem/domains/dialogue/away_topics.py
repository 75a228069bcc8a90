"""Other lives: facts about speakers in the shift split."""

from metamem.domains.dialogue.topic import Topic, listed

TOPICS = (
    Topic(
        "boat",
        listed(
            "Grey Heron|Second Wind|Salty Pepper|Moonraker|Blue Gannet|Lazy Anchor|Petrel"
            "|Wild Oyster|Northern Light|Quiet Keel|Sea Thrift|Sundowner"
        ),
        (
            "I spent the day scrubbing the hull of the {v}, she is my pride.",
            "The {v} has a mooring right by the harbour café, you can wave to my boat.",
            "Painting {v} on the stern took me three attempts.",
        ),
        ("What is your boat called?", "Which boat do I look for in the marina?"),
        ("The {v}, white with a green stripe.", "Look for the {v}, pier four."),
        (
            "I traded my boat for a bigger one, and her name is {v}.",
            "The old boat is sold, and the {v} is mine since this week.",
        ),
        (
            "I called my boat by the wrong name. She is the {v}.",
            "That was my brother's boat I named. Mine is the {v}.",
        ),
        ("What is the name of {who}'s boat?", "Which boat belongs to {who}?"),
        "my boat",
    ),
    Topic(
        "thesis",
        listed(
            "peat bogs|bat echolocation|medieval toll roads|tidal turbines|dune erosion|sign poetry"
            "|glacier moulins|lichen dating|braille printing|comet dust|sheep genetics"
            "|salt taxation"
        ),
        (
            "My thesis is about {v}, ask me anything.",
            "I wrote four pages on {v} and deleted five.",
            "My supervisor thinks that {v} deserve a whole chapter more.",
        ),
        ("What is your thesis about?", "Which subject keeps you in the archive so long?"),
        ("{v}, narrow but fun.", "All about {v}, believe it or not."),
        (
            "My supervisor made me change the thesis: the subject is {v} now.",
            "I threw the old thesis plan away and write about {v} instead.",
        ),
        (
            "I put that badly: the subject of my thesis is {v}.",
            "The thesis topic that I told you was my friend's. Mine is {v}.",
        ),
        ("What is {who}'s thesis about?", "Which subject does {who} research?"),
        "my thesis",
    ),
    Topic(
        "volunteering",
        listed(
            "the hedgehog rescue|the night shelter|the toy library|the mountain patrol"
            "|the soup kitchen|the repair café|the tree nursery|the hospice radio"
            "|the lifeboat station|the seed bank|the steam railway|the reading circle"
        ),
        (
            "I give my Saturdays to {v}, unpaid but worth it.",
            "They handed me a vest at {v}, so I am an official volunteer.",
            "Since I help at {v} I come home with the best stories.",
        ),
        ("Where do you volunteer?", "Who gets your free Saturdays?"),
        ("At {v}, most weeks.", "I lend {v} a hand."),
        (
            "I stopped at the old place and volunteer for {v} now.",
            "New vest, new volunteers: from this month I help {v}.",
        ),
        (
            "I named the wrong charity. I volunteer for {v}.",
            "About my volunteering, to put it right: {v}.",
        ),
        ("Where does {who} volunteer?", "Which charity gets {who}'s help?"),
        "my volunteering",
    ),
    Topic(
        "starter",
        listed(
            "Clint Yeastwood|Doughlores|Foamy Joe|Bread Pitt|Sir Rise|Madame Crust|Gluten Tag"
            "|Old Sour|Fermentina|Loafy|Count Rye|Yeasty Beast"
        ),
        (
            "My sourdough is alive, I feed {v} twice a day.",
            "{v} doubled overnight, the loaf will be huge.",
            "I am taking {v} along in a jar, sourdough does not like to be left alone.",
        ),
        ("Did you name your sourdough starter?", "What do you call that jar of bubbles?"),
        ("{v}, of course.", "It answers to {v}."),
        (
            "Mould got my sourdough. The new starter goes by {v}.",
            "I began the starter again from rye, and this one is called {v}.",
        ),
        (
            "I wrote the wrong name for my sourdough. It is {v}.",
            "That was the name of the old jar. My starter is {v}.",
        ),
        ("What is {who}'s sourdough starter called?", "Which name has {who} given the sourdough?"),
        "my sourdough",
    ),
    Topic(
        "race",
        listed(
            "the Fjord Marathon|the Vineyard Half|the Desert Relay|the Castle Run|the Dyke Ultra"
            "|the Pilgrim Trail|the Volcano Dash|the Frost Ten|the Bridge Sprint|the Canyon Loop"
            "|the Harvest Mile|the Island Triathlon"
        ),
        (
            "I signed up for {v} and have been running ever since.",
            "My training plan on the fridge ends with {v} in red letters.",
            "New shoes for {v}, my old ones have holes.",
        ),
        ("Which race are you training for?", "What are all those early runs for?"),
        ("{v}, wish me luck.", "I have a bib for {v}."),
        (
            "I gave my start number away and will run {v} instead.",
            "My knee says no to the old race. I am training for {v} now.",
        ),
        (
            "I got the race wrong. I am entered in {v}.",
            "Wrong race, sorry. The one I train for is {v}.",
        ),
        ("Which race is {who} training for?", "What race has {who} entered?"),
        "the race I train for",
    ),
    Topic(
        "tattoo",
        listed(
            "a kingfisher|an hourglass|a paper crane|a thistle|a seahorse|a compass rose|a fox"
            "|an octopus|a lighthouse|a dragonfly|a fern|a key"
        ),
        (
            "I have decided on {v} for my tattoo.",
            "The sketch of {v} for my forearm came out beautifully, the ink follows soon.",
            "My mother does not know that I will have {v} on my arm.",
        ),
        ("What will your tattoo be?", "Which picture goes on your arm?"),
        ("It will be {v}, rather small.", "I settled on {v}, black only."),
        (
            "I changed my mind about the tattoo. It will be {v}.",
            "The artist talked me out of the old sketch, so my arm gets {v}.",
        ),
        (
            "I described the wrong sketch. My tattoo is going to be {v}.",
            "That was a friend's tattoo. I am getting {v}.",
        ),
        ("What tattoo has {who} chosen?", "Which picture will {who} have on the arm?"),
        "my tattoo",
    ),
    Topic(
        "beehive",
        listed(
            "lavender|linden|heather|clover|acacia|buckwheat|chestnut|rosemary|thyme|dandelion"
            "|borage|rapeseed"
        ),
        (
            "My bees brought in {v} honey, eleven jars of it.",
            "The hives stand among {v} this season, I smell of it all day.",
            "Everyone on my list gets a jar of {v} honey.",
        ),
        ("What sort of honey do your bees make?", "Where do your hives stand?"),
        ("Mostly {v}, dark and strong.", "In the {v}, buzzing like mad."),
        (
            "I moved the hives, so my honey is {v} from now on.",
            "The bees have a new spot and all that they bring home is {v}.",
        ),
        (
            "I mislabelled the jars. My honey is {v}.",
            "About the honey, I told you wrong: {v}.",
        ),
        ("What kind of honey do {who}'s bees make?", "Which honey does {who} have?"),
        "my honey",
    ),
    Topic(
        "role",
        listed(
            "the lighthouse keeper|the second gravedigger|the duchess|the court jester|the ghost"
            "|the innkeeper|the blind prophet|the chimney sweep|the admiral|the seamstress"
            "|the tax collector|the nightwatchman"
        ),
        (
            "In the village play I am {v}, with forty lines to learn.",
            "They fitted my costume for {v}, it itches.",
            "I mumble the lines of {v} on the train and people stare.",
        ),
        ("Which part did you get in the play?", "Who are you on stage?"),
        ("I play {v}, great hat.", "They cast me as {v}."),
        (
            "The director swapped our parts, and I am {v} now.",
            "Somebody fell ill, so I have to learn {v} in the play instead.",
        ),
        (
            "I confused the parts. On stage I am {v}.",
            "That was my understudy part. My role is {v}.",
        ),
        ("Which part does {who} have in the play?", "Whom does {who} play on stage?"),
        "my part in the play",
    ),
    Topic(
        "telescope",
        listed(
            "Saturn|the Ring Nebula|Albireo|the Pleiades|Jupiter|the Crab Nebula|Vega|Andromeda"
            "|the Double Cluster|Mizar|the Owl Nebula|Antares"
        ),
        (
            "Every clear night my telescope points at {v}.",
            "I am drawing {v} for the astronomy club, dot by dot.",
            "My frozen toes tell how long I looked at {v}.",
        ),
        ("What are you observing with the telescope?", "What is up there for you this month?"),
        ("{v}, when the clouds allow it.", "I am after {v}."),
        (
            "I finished that drawing and my telescope is on {v} now.",
            "The old target has set for the season, so I observe {v}.",
        ),
        (
            "I named the wrong target. My telescope is on {v}.",
            "I mixed up my notes: what I observe is {v}.",
        ),
        ("What does {who} observe with the telescope?", "Which target does {who} draw?"),
        "what I observe",
    ),
    Topic(
        "locker",
        listed("118|246|377|405|533|612|694|731|859|902|967|284"),
        (
            "If you need the pump, it is in my locker, number {v}.",
            "The porter gave me locker {v}, right under the stairs.",
        ),
        ("Which locker is yours?", "Where do you keep the spare paddle?"),
        ("Number {v}, it sticks a bit.", "In {v}, bottom row."),
        (
            "They moved us around, my locker is {v} now.",
            "The lock broke, so the porter gave me locker {v}.",
        ),
        (
            "I read you the wrong tag. My locker is {v}.",
            "Wrong locker number, sorry: {v}.",
        ),
        ("What is the number of {who}'s locker?", "Which locker does {who} have?"),
        "my locker",
    ),
)
