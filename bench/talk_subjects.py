"""What generated conversations are about: subjects, and what can be told of each of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subject:
    noun: str  # as people call it while they talk
    asked_as: tuple[str, ...]  # as a question may call it
    past: str  # I {past} {time}.
    doing: str
    asks: str  # the other asks for a thing ...
    tells: tuple[str, ...]  # ... and this answers
    questions: tuple[str, ...]  # about that thing
    things: tuple[str, ...]
    pictures: str


def _subject(row: str) -> Subject:
    noun, called, past, doing, asks, tells, questions, things, picture = (
        part.strip() for part in row.split("|")
    )
    return Subject(
        noun,
        (noun, *_list(called)),
        past,
        doing,
        asks,
        _list(tells),
        _list(questions),
        _list(things),
        picture,
    )


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";"))


_ROWS = """
pottery | ceramics; clay course | took a pottery lesson | doing pottery | What did you make? | I shaped {v}, a little crooked.; Only {v} survived the kiln. | What did {who} make out of clay?; Which object did {who} bring home from the kiln? | a blue bowl; a mug with a fish on it; a candle holder; a tiny owl; a fruit plate; a vase with dots | a shelf of glazed pots
marathon | long race; running event | ran a marathon | running | What was your time? | {v}, slower than hoped.; I crossed the line after {v}. | How fast did {who} finish the race?; What was {who}'s finishing time? | four hours ten; three hours fifty; five hours flat; four and a half hours | runners on a city street
garden | vegetable patch; yard | planted a vegetable garden | gardening | What are you growing? | Mostly {v} this year.; The bed is full of {v}. | What does {who} grow?; Which vegetables did {who} plant? | tomatoes and basil; purple carrots; pumpkins; runner beans; strawberries; sweet peppers | raised beds with green plants
guitar | playing an instrument; string instrument | bought a guitar | playing the guitar | Which piece are you practising? | I keep stumbling over {v}.; Right now it is {v}, over and over. | Which song is {who} learning?; What piece of music does {who} practise? | Wonderwall; Blackbird; an old Spanish waltz; Hallelujah; a Bach prelude | an acoustic guitar on a couch
camping trip | nights in a tent; outdoor trip | went on a camping trip | camping | Where did you pitch the tent? | We stayed by {v}.; Right beside {v}, what a view. | Where did {who} camp?; What place did {who} choose for the tent? | a mountain lake; the river bend; the pine forest; a quiet beach; the canyon rim | a tent next to a lake
wedding | marriage ceremony; big celebration | was at a wedding | wedding planning | What did they serve? | There was {v}, everyone had seconds.; They had {v} for all guests. | What food was served when the couple married?; What did guests eat at the ceremony? | a huge paella; lemon cake; lamb skewers; a taco cart; vegetarian lasagne | a couple under an arch of flowers
shelter | animal rescue; volunteering place | volunteered at the animal shelter | helping animals | Which animal did you look after? | They gave me {v}, very shy.; I walked {v} all afternoon. | Which animal did {who} care for at the rescue?; Who needed {who}'s care among the animals? | an old greyhound; three kittens; a blind terrier; a parrot called Kiko; two rabbits | a dog behind a fence
painting | artwork; canvas | finished a painting | painting | What is on it? | It shows {v}.; I tried {v}, with lots of orange. | What did {who} paint?; What is shown on the canvas by {who}? | a harbour at dusk; my grandmother's hands; a field of poppies; a stormy sea; an empty chair | a canvas with bright colours
new job | position; employment | started a new job | working there | What do you do there? | I {v} now.; My task is that I {v}. | What are {who}'s duties in the new position?; What does {who} do at work? | repair medical scanners; teach refugees; plan bus routes; test video games; write grant proposals | a desk with a laptop
baking | pastry making; cakes | baked for the street party | baking | What came out of the oven? | {v}, and not a crumb was left.; I brought {v}. | What did {who} bake?; Which pastry did {who} prepare for the neighbours? | cinnamon rolls; a walnut tart; cherry muffins; sourdough loaves; a three-layer cake | a tray of pastries
photography | taking pictures; camera hobby | joined a photography club | taking photos | What do you like to shoot? | Mainly {v}, early in the day.; I cannot stop taking {v}. | What does {who} photograph?; What are {who}'s favourite motifs? | street musicians; foggy bridges; insects; abandoned factories; market stalls | a camera on a tripod
charity run | fundraiser; donation event | organised a charity event | fundraising | How much came together? | In the end {v}.; We counted {v} that night. | How much money did {who} raise?; What sum was collected by {who}? | two thousand dollars; 840 euros; just over five thousand; nine hundred pounds | people holding a big cheque
surgery | operation; medical procedure | had surgery | recovering | What was it for? | It was my {v}.; They had to fix my {v}. | What was {who} operated on?; Which part of the body did the doctors treat for {who}? | left knee; appendix; shoulder; wrist; right ear | a hospital room
book club | reading circle; literature group | joined a book club | reading | What are you reading? | We picked {v}.; This month {v}, I could not put it down. | Which book did {who}'s group read?; What novel did {who} pick up? | Dracula; a novel about beekeepers; The Odyssey; a biography of a chess player; Frankenstein | a stack of books
road trip | drive across the country; car journey | took a road trip | driving around | What was the best stop? | Easily {v}.; For me it was {v}. | What stop did {who} like most on the drive?; What was the highlight of {who}'s journey? | the salt flats; a diner from the fifties; the canyon; a ghost town; the lighthouse | a highway through a desert
startup | own company; business | founded a small business | running the company | What do you sell? | We sell {v}.; Handmade {v}, mostly online. | What products does {who}'s company offer?; What does {who} sell? | bamboo lamps; hot sauce; dog sweaters; secondhand bikes; refillable soap | a small shop window
dance class | lessons in dancing; ballroom course | tried a dance class | dancing | Which style? | {v}, my feet hurt.; It is {v}, and I am hooked. | What style of dance does {who} learn?; Which dance did {who} try? | salsa; tango; swing; flamenco; contemporary | people in a dance studio
house move | relocation; new home | moved house | settling in | Which place is it? | A flat in {v}.; We ended up in {v}. | Where did {who} relocate to?; In which city is {who}'s new home? | Denver; Lisbon; Oslo; Montreal; Glasgow; Austin | boxes in an empty room
adoption | becoming a parent; child's arrival | finished the adoption papers | waiting for the child | What did the agency say? | They said {v}.; According to them, {v}. | What was {who} told by the agency?; What news came from the office about the child? | it takes six more months; we are second in line; a home visit is next; we passed the check | a pile of forms
chess | board game; tournament | played a chess tournament | playing chess | How did you place? | I came {v}.; {v} in the end, I am thrilled. | How did {who} do in the tournament?; What place did {who} reach? | third; last; second of forty; in the top ten | a chessboard with pieces
therapy | counselling; talking to a professional | began therapy | going to sessions | What has it taught you? | That {v}.; I learned that {v}. | What insight did {who} gain from counselling?; What did {who} learn from the sessions? | rest is not laziness; I may say no; grief has no timetable; I can ask for help | a calm room with two chairs
concert | live music; gig | went to a concert | going to gigs | Who played? | {v}, they were on fire.; It was {v}, a dream come true. | Which band did {who} see live?; Who performed when {who} heard live music? | Radiohead; a brass band from Serbia; The Lumineers; a gospel choir; Coldplay | a stage with lights
bike | bicycle; cycling gear | bought a new bike | cycling | Which colour did you get? | {v}, of course.; I went for {v}. | What colour is {who}'s bicycle?; Which colour did {who} choose for the bicycle? | bright red; mint green; matte black; orange; silver | a bicycle leaning on a wall
puppy | young dog; pet | adopted a puppy | training the dog | What is the name? | We call her {v}.; {v}, after a long family debate. | What is {who}'s pet called?; What name did {who} give the young dog? | Luna; Pepper; Waffle; Ziggy; Maple; Otto | a small dog on a carpet
degree | studies; university course | enrolled for a degree | studying | In what subject? | In {v}.; {v}, at the evening college. | What does {who} study?; Which field did {who} choose at university? | marine biology; social work; architecture; data science; nursing | a lecture hall
recipe | dish; cooking experiment | tried a new recipe | cooking | What was in it? | Lots of {v}.; Mainly {v}, and it worked. | What ingredients did {who} use?; What was {who}'s dish made of? | coconut milk and lime; smoked paprika; chickpeas and spinach; ginger and honey; roasted eggplant | a pan with vegetables
protest | march; demonstration | joined a protest | campaigning | What was your sign? | It said {v}.; I wrote {v} on cardboard. | What was written on {who}'s sign?; What slogan did {who} carry at the march? | clean rivers now; homes for all; save the library; rights are not a favour | a crowd with banners
museum | exhibition; gallery visit | visited the museum | looking at exhibits | Which room did you like? | The one about {v}.; I stayed an hour with {v}. | Which exhibit impressed {who}?; What did {who} enjoy at the exhibition? | Egyptian masks; early computers; whale skeletons; Dutch portraits; railway models | an exhibit behind glass
accident | crash; mishap | had an accident | getting over it | What got damaged? | My {v}.; Only my {v}, luckily. | What was damaged in {who}'s crash?; What did {who} have to repair after the mishap? | front bumper; phone; glasses; back wheel; kitchen ceiling | a dented car
yoga | stretching; wellness practice | started yoga | doing yoga | Which pose is hardest? | For me it is {v}.; {v}, I fall over each time. | Which pose does {who} find difficult?; What exercise gives {who} trouble? | the crow; the headstand; the pigeon; the tree; the wheel | a mat on a wooden floor
podcast | audio show; broadcast | launched a podcast | recording | What is it about? | It is about {v}.; We talk about {v}. | What topic does {who}'s show cover?; What does {who} talk about in the broadcast? | forgotten inventors; raising twins; night trains; urban foxes; bad movies | a microphone on a table
car | vehicle; automobile | restored an old car | fixing cars | Which model? | A {v}.; It is a {v}, older than me. | Which vehicle did {who} restore?; What model is {who}'s automobile? | 1969 Mustang; Volkswagen bus; Fiat 500; red Corvette; Volvo wagon | an old car in a garage
beach cleanup | environmental action; litter picking | helped at a beach cleanup | picking litter | What did you find? | Believe it or not, {v}.; The strangest thing was {v}. | What did {who} find on the shore?; What odd object turned up during the environmental action? | a wedding ring; a typewriter; forty lighters; a message in a bottle; a shopping cart | bags of rubbish on sand
language course | learning to speak; foreign tongue | began a language course | learning vocabulary | Which language? | {v}, the grammar is wild.; I chose {v}. | What language is {who} learning?; Which foreign tongue did {who} pick? | Portuguese; Korean; Swahili; Finnish; Arabic; Welsh | a notebook with words
basketball | team sport; match | joined a basketball team | playing ball | Which position do you play? | I am the {v}.; They made me {v}. | What position does {who} play?; What role has {who} in the team? | point guard; centre; shooting guard; substitute | a court with a hoop
birthday party | celebration; anniversary | threw a birthday party | celebrating | What was the theme? | It was {v}.; {v}, with costumes. | What theme did {who} choose for the celebration?; How was {who}'s celebration decorated? | pirates; the eighties; outer space; jungle; Harry Potter | balloons and a cake
mural | street art; wall picture | painted a mural | working on walls | Where is it? | On the side of {v}.; You can see it at {v}. | Where is {who}'s wall picture?; On which building did {who} do street art? | the fire station; the old cinema; the school; the bakery; the town pool | a colourful wall
fishing | angling; time on the water | went fishing | angling | What did you catch? | {v}, I let it go.; Just {v}. | What did {who} catch?; What was on {who}'s hook? | a big pike; two trout; an old boot; a tiny perch; a salmon | a boat on calm water
support group | circle of people; meetings | went to a support group | sharing stories | What stayed with you? | How {v}.; I keep thinking about how {v}. | What did {who} remember from the meetings?; What moved {who} in the circle? | a teenager came out; an old man sang; nobody judged; everyone hugged | chairs in a circle
video game | console; gaming | finished a video game | gaming | Which one? | {v}, on hard.; I completed {v}. | Which title did {who} complete?; What does {who} play on the console? | Zelda; Hollow Knight; Stardew Valley; Portal; Dark Souls | a screen with a controller
"""
SUBJECTS = tuple(_subject(row) for row in _ROWS.strip().splitlines())


@dataclass(frozen=True, slots=True)
class Slot:
    """Something that can be told of any subject. Replies lean on the line before."""

    kind: str
    prompts: tuple[str, ...]
    replies: tuple[str, ...]
    questions: tuple[str, ...]
    values: tuple[str, ...]


def _slot(row: str) -> Slot:
    kind, *lists = (part.strip() for part in row.split("|"))
    return Slot(kind, *(_list(part) for part in lists))  # type: ignore[call-arg]


_SLOTS = """
single | Did anyone come along?; Were you alone?; Who was with you? | {v} joined me, which made it better.; I took {v} with me.; Yes, {v} came too. | Who accompanied {who} to the {s}?; Who joined {who} for the {s}?; With whom did {who} share the {s}? | my sister; my neighbour Paul; an old school friend; my uncle; two colleagues; my roommate; my daughter; my cousin Rita
single | How did it feel?; How was that for you?; Were you nervous? | I felt {v}, to be honest.; Honestly {v}.; It left me {v}. | How did {who} feel about the {s}?; What was {who}'s emotion during the {s}?; How did {who} feel while {doing}? | proud; terrified; at peace; exhausted but happy; grateful; a bit lost; free; overwhelmed
single | What made you do it?; How come?; What got you into that? | I needed {v}.; It was about {v}, really.; I did it for {v}. | Why did {who} start {doing}?; What motivated {who} to get into the {s}?; What was {who}'s reason for the {s}? | a change after the breakup; more confidence; some quiet; my health; my kids; the memory of my father; meeting new people
temporal | How long have you been at it?; Is that new?; Since when? | For {v} now.; About {v}, time flies.; It has been {v}. | How long has {who} been {doing}?; For how long has {who} been involved with the {s}? | three years; six months; two weeks; ten years; since I was seven; five months
single | What is next?; Any plans from here?; And now? | I want to {v}.; Next I will {v}.; The plan is to {v}. | What does {who} plan to do after the {s}?; What is {who}'s next step with the {s}?; What are {who}'s plans regarding the {s}? | teach others; save for better gear; take a month off; enter a contest; write about it; do it with the whole family; open a studio
single | Any advice for me?; What would you tell a beginner?; Any tips? | Just {v}.; I would say {v}.; My tip: {v}. | What advice did {who} give about the {s}?; What does {who} recommend to beginners in the {s}?; What tip about {doing} did {who} share? | start small; never skip breakfast; find a mentor; write everything down; ignore the critics; buy good shoes; take breaks
single | Where was that?; Where do you do that?; Which place? | In {v}, just around the corner.; Over in {v}.; We were in {v}. | Where did the {s} of {who} take place?; Where does {who} go for {doing}? | the old town hall; Brighton; the community centre; Seattle; the north park; Chicago; my aunt's barn
single | What was the hardest part?; Any trouble?; Did everything go well? | The hard part was {v}.; I struggled with {v}.; Well, {v} nearly ruined it. | What challenge did {who} face with the {s}?; What did {who} struggle with while {doing}?; What was difficult for {who} about the {s}? | the rain; my own doubts; the paperwork; waking up early; the noise; staying patient; the cost
single | What did you like best?; What was the highlight?; Best moment? | Seeing {v}.; For me, {v}.; I loved {v}. | What did {who} enjoy most about the {s}?; What was the highlight of the {s} for {who}? | the sunrise; people laughing together; the silence afterwards; my mother's face; the last five minutes; fireworks; the children cheering
single | How often do you do it?; Is that a regular thing?; Every week? | {v}, if I can.; Usually {v}.; I manage {v}. | How often does {who} do something for the {s}?; How frequently is {who} {doing}? | twice a week; every Sunday; once a month; daily; whenever it rains; every other Friday
single | Did you buy anything for it?; Do you need special things?; What did you get? | I got {v}.; I treated myself to {v}.; Somebody gave me {v}. | What did {who} buy for the {s}?; What item did {who} get for {doing}?; What equipment does {who} have for the {s}? | a secondhand jacket; new boots; a leather notebook; a tiny lamp; noise cancelling headphones; a red backpack
single | What does your family think?; Are they supportive?; What do people say? | They {v}.; My folks {v}.; Everybody at home seems to {v}. | How does {who}'s family react to the {s}?; What do relatives think of {who} {doing}? | love it; think I am mad; worry a lot; cheer me on; want to join; keep teasing me
"""
SLOTS = tuple(_slot(row) for row in _SLOTS.strip().splitlines())
