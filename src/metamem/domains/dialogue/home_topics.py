"""Everyday lives: facts about speakers in train, valid and test."""

from metamem.domains.dialogue.topic import Topic, listed

TOPICS = (
    Topic(
        "town",
        listed(
            "Porto|Ghent|Tartu|Bergen|Graz|Leeds|Kaunas|Malaga|Utrecht|Aarhus|Brno|Turin|Cork"
            "|Trieste|Lund|Nantes|Split|Basel"
        ),
        (
            "By the way, I live in {v} these days.",
            "The rent in {v} eats half my pay, but I love having my own door key.",
            "From my kitchen window I can see half of {v}.",
            "My postcode is a {v} one, so parcels take an extra day.",
        ),
        ("So where do you live at the moment?", "Which town should I send the parcel to?"),
        ("{v}, third floor, no lift.", "Still {v}, the street behind the station."),
        (
            "Big news: the boxes are unpacked and I now live in {v}.",
            "I have handed in my old keys. My address is in {v} from this week on.",
            "We signed the lease on Monday, so {v} is home now.",
        ),
        (
            "I told you the wrong town before, silly me. I live in {v}.",
            "Slip of the tongue about the town I live in: it is {v}.",
        ),
        ("Which town does {who} live in?", "Where is {who}'s home?"),
        "where I live",
    ),
    Topic(
        "job",
        listed(
            "physiotherapist|locksmith|court interpreter|pastry chef|tram driver|land surveyor"
            "|midwife|sound engineer|dental hygienist|customs officer|bookbinder|crane operator"
            "|speech therapist|tax clerk|zookeeper|glazier"
        ),
        (
            "I work as a {v}, in case I never mentioned it.",
            "Being a {v} means my alarm goes off at five.",
            "My badge says {v}, and people still ask me what I do all day.",
            "A {v} does not earn much, yet the colleagues make up for it.",
        ),
        ("What do you do for a living?", "What does it say under occupation on your form?"),
        ("I am a {v}, nearly four years.", "{v}, and proud of it."),
        (
            "I quit! As of this week my job is {v}.",
            "The contract came through and I start as a {v} on Monday.",
            "New work, new luck: they took me on as a {v}.",
        ),
        (
            "I described my job wrongly the other day. The proper title is {v}.",
            "To set my job straight: I am employed as a {v}.",
        ),
        ("What is {who}'s job?", "What does {who} work as?"),
        "my job",
    ),
    Topic(
        "pet",
        listed(
            "Biscuit|Pretzel|Waffles|Noodle|Marmalade|Pickle|Truffle|Dumpling|Nutmeg|Popcorn"
            "|Muffin|Radish|Toffee|Sprout|Crumble|Peanut"
        ),
        (
            "My dog {v} chewed through the couch again.",
            "I named the puppy {v}, the kids insisted.",
            "{v} barks at the postman, otherwise a very good dog.",
            "The vet says {v} must lose a kilo, so fewer treats for my dog.",
        ),
        ("What is your dog called again?", "Who was howling in the background, your dog?"),
        ("That is {v}, always hungry.", "{v}! Say hello."),
        (
            "We could not keep our old dog with the stairs. The new dog is called {v}.",
            "My old dog went to my aunt's farm, and {v} is the dog in our flat now.",
        ),
        (
            "I wrote my dog's name wrongly. It is {v}.",
            "Autocorrect ruined the name of my dog: {v} it should be.",
        ),
        ("What is the name of {who}'s dog?", "What is {who}'s dog called?"),
        "my dog's name",
    ),
    Topic(
        "instrument",
        listed(
            "cello|trombone|banjo|oboe|accordion|harp|ukulele|bassoon|mandolin|clarinet|bagpipes"
            "|marimba|zither|flugelhorn"
        ),
        (
            "I practise the {v} every evening, sorry to my neighbours.",
            "My {v} teacher says my rhythm is getting better.",
            "Carrying a {v} on the bus is a sport of its own.",
            "There is a {v} leaning next to my bed, that is how much I play.",
        ),
        ("Which instrument are you learning?", "What do you play in the orchestra?"),
        ("The {v}, rather badly.", "{v}. Loud, but lovely."),
        (
            "I sold my instrument and switched to the {v}.",
            "No more of the old instrument. Since this week I am learning the {v}.",
        ),
        (
            "I named the wrong instrument last time. What I play is the {v}.",
            "About my instrument, I misspoke: {v}.",
        ),
        ("Which instrument does {who} play?", "What is {who} learning to play?"),
        "my instrument",
    ),
    Topic(
        "dish",
        listed(
            "mushroom risotto|fish tacos|lentil dal|onion tart|beef goulash|pumpkin gnocchi"
            "|shrimp curry|potato rosti|spinach lasagne|duck ramen|chickpea stew|aubergine moussaka"
            "|pea soup|leek quiche"
        ),
        (
            "If I could eat one thing forever it would be {v}.",
            "Nothing beats {v} as far as I am concerned, my favourite meal.",
            "I order {v} wherever they have it.",
            "For my birthday I want {v} and nothing else.",
        ),
        ("What is your favourite food?", "What should I cook when you visit?"),
        ("{v}, please, with plenty of pepper.", "You make me happy with {v}."),
        (
            "My taste has changed. These days my favourite is {v}.",
            "I have gone off my old favourite food and want {v} all the time now.",
        ),
        (
            "I gave you the wrong favourite meal. Mine is {v}, really.",
            "Scrap what I called my favourite food: it is {v}.",
        ),
        ("What is {who}'s favourite food?", "Which meal does {who} like best?"),
        "my favourite food",
    ),
    Topic(
        "commute",
        listed(
            "folding bike|motor scooter|night bus|river ferry|cable car|rental van|kick scooter"
            "|cargo bike|old Vespa|tandem|hydrofoil|rusty pickup|minibus|skateboard"
        ),
        (
            "I get to work by {v} these days.",
            "The {v} gets me to the office in twenty minutes, rain or shine.",
            "Commuting by {v} is the best part of my day.",
        ),
        ("How do you get to work?", "Do you still drive to the office?"),
        ("By {v}, it wakes me up.", "I take the {v}, much cheaper."),
        (
            "I changed my commute. From now on it is the {v} for me.",
            "My old way to work was too slow, so I have switched to the {v}.",
        ),
        (
            "I got that wrong about my commute: I go by {v}.",
            "What I said about how I get to work was wrong. It is the {v}.",
        ),
        ("How does {who} get to work?", "What does {who} use for the commute?"),
        "my commute",
    ),
    Topic(
        "book",
        listed(
            "The Salt Ladder|Nine Quiet Harbours|A Map of Thistles|The Clockmaker's Orchard"
            "|Letters to a Lighthouse|The Paper Glacier|Copper Rain|The Last Tollbooth"
            "|An Hour in Amber|The Owl Ledger|Winter Arithmetic|Seven Borrowed Coats"
            "|The Cartographer's Cat|Smoke over Willows"
        ),
        (
            "I am reading {v} before bed, two chapters a night.",
            "{v} lies open on my sofa, I cannot put that novel down.",
            "My book club picked {v} and so I am reading it.",
        ),
        ("What are you reading at the moment?", "Any book on your bedside table?"),
        ("{v}. Slow start, great middle.", "I am halfway through {v}."),
        (
            "I finished my last book and have begun {v}.",
            "That other novel bored me, so now I am reading {v}.",
        ),
        (
            "I mixed up the titles of what I am reading. The book is {v}.",
            "Wrong title earlier! The novel I am reading is {v}.",
        ),
        ("Which book is {who} reading?", "What is the title of the novel {who} is reading?"),
        "the book I am reading",
    ),
    Topic(
        "holiday",
        listed(
            "Iceland|Madeira|Sicily|Estonia|Corsica|Morocco|Slovenia|Crete|Lapland|Georgia|Tunisia"
            "|Brittany|Menorca|the Azores"
        ),
        (
            "Our summer holiday is booked: {v}.",
            "I am counting the days until our trip to {v}.",
            "The flights for my holiday in {v} cost less than the parking.",
        ),
        ("Where are you going on holiday?", "Any travel plans for the summer?"),
        ("{v}, two weeks in a tent.", "We settled on {v}."),
        (
            "Change of plan for the holiday: we are going to {v}.",
            "The hotel cancelled on us, so our trip will be to {v}.",
        ),
        (
            "I named the wrong place for my holiday. It is {v}.",
            "I mixed up the trips: this summer we travel to {v}.",
        ),
        ("Where is {who} going on holiday?", "Which place has {who} chosen for the summer trip?"),
        "my holiday plans",
    ),
    Topic(
        "allergy",
        listed(
            "hazelnuts|shellfish|celery|birch pollen|strawberries|latex|penicillin|mustard|sesame"
            "|wasp stings|kiwi|nickel"
        ),
        (
            "Please remember that I am allergic to {v}.",
            "I always carry tablets because {v} would send me to hospital.",
            "The waiter rolled his eyes when I said that {v} make me swell up.",
        ),
        ("Are you allergic to anything?", "Anything that I must keep away from you?"),
        ("Only {v}, but badly.", "{v}. One touch and I itch all over."),
        (
            "The new test says that my old allergy is gone and that I react to {v} now.",
            "My doctor changed the entry for my allergy: {v} from now on.",
        ),
        (
            "I told you the wrong allergy. What I react to is {v}.",
            "For the record, about my allergy, I misspoke: {v}.",
        ),
        ("What is {who} allergic to?", "Which allergy does {who} have?"),
        "my allergy",
    ),
    Topic(
        "language",
        listed(
            "Welsh|Korean|Finnish|Swahili|Catalan|Hungarian|Greek|Hindi|Basque|Czech|Tagalog"
            "|Icelandic|Romanian|Tamil"
        ),
        (
            "My {v} class meets on weekday evenings, and the grammar is brutal.",
            "I can already order coffee in {v}.",
            "The flashcards on my fridge are all {v} words.",
        ),
        ("Which language are you studying?", "What was that evening course of yours?"),
        ("{v}, the pronunciation is killing me.", "It is {v} for beginners."),
        (
            "The old course was cancelled, so I enrolled in {v}.",
            "I dropped that language. {v} it is from now on.",
        ),
        (
            "I said the wrong language. The course that I take is {v}.",
            "About my evening course, let me correct that: {v}.",
        ),
        ("Which language is {who} learning?", "What language course does {who} take?"),
        "my language course",
    ),
    Topic(
        "wifi",
        listed(
            "tangerine42|bluecanoe|mapletree7|softthunder|greenkettle|ninepenguins|velvetfox"
            "|lazymonday|copperspoon|snowboots3|paperlantern|oldtrombone9"
        ),
        (
            "When you stay over, my wifi password is {v}.",
            "I keep typing it wrong, but the router wants {v}.",
        ),
        ("How do I get online at your place?", "What was the wifi password?"),
        ("Type {v}, all small letters.", "{v}, no spaces."),
        (
            "New router, new wifi password: {v}.",
            "I had to reset the internet box. Use {v} from now on.",
        ),
        (
            "That wifi password had a typo. Use {v}.",
            "I gave you the password of the office by mistake. At my place it is {v}.",
        ),
        ("What is {who}'s wifi password?", "Which password does {who}'s router take?"),
        "my wifi password",
    ),
    Topic(
        "team",
        listed(
            "the Otters|the Hornets|the Comets|the Badgers|the Gulls|the Pirates|the Lynxes"
            "|the Cobras|the Storks|the Wolves|the Herons|the Bulldogs"
        ),
        (
            "I play handball for {v} on weekends.",
            "My jersey has the number nine, and {v} printed across the back.",
            "Training with {v} left me with sore legs.",
        ),
        ("Which handball team are you with?", "For whom do you play this season?"),
        ("{v}, second division.", "I joined {v} in spring."),
        (
            "I have changed teams and play for {v} now.",
            "The transfer is done: this season I am with {v}.",
        ),
        (
            "I named the wrong team. I play for {v}.",
            "My mistake about the handball team: {v}.",
        ),
        ("Which handball team does {who} play for?", "What is the name of {who}'s team?"),
        "my handball team",
    ),
)
