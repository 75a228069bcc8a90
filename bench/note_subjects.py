"""What generated notes are about: groups of things, and what can be noted of each.

`FOR_TRAINING` and `FOR_MEASURING` share no thing, no value and no wording.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trait:
    """Something that can be told of each thing of a group."""

    says: tuple[str, ...]
    asks: tuple[str, ...]  # whole questions
    words: tuple[str, ...]  # what somebody types into a search box
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    things: tuple[str, ...]
    traits: tuple[Trait, ...]
    goals: tuple[str, ...]  # what an agent may be told to do: all that is known of the thing helps


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";"))


def _group(text: str) -> Group:
    things, goals, *traits = text.strip().splitlines()
    return Group(
        _list(things),
        tuple(Trait(*(_list(part) for part in row.split("|"))) for row in traits),
        _list(goals),
    )


_SERVICES = """
checkout; billing; inventory; login; newsletter; catalogue; refunds; invoicing; search page; admin panel; image upload; price feed
fix the bug in the {e}; make the tests of {e} pass; refactor {e}; add a retry to the {e}; review the open pull request for {e}; the {e} is broken again, please look into it; write documentation for {e}; speed up {e}; prepare the next release of {e}; let's continue with the {e} work from yesterday
The {e} service listens on port {v}.; {e} runs on {v}, behind the proxy.; We moved {e} to port {v}. | Which port does the {e} use?; Where does {e} listen?; What port is {e} on? | {e} port; which port {e}; port of {e} | 8081; 9300; 4410; 7070; 6012; 8899
We keep the data of {e} in {v}.; {e} stores everything in {v}.; Records of {e} live in {v}. | Which database does {e} use?; Where is the data of {e} kept?; What does {e} store its records in? | {e} database; {e} storage; database of {e} | MySQL; MongoDB; DynamoDB; a Redis cluster; flat files; SQLite
{v} owns the {e} code.; Ask {v} about anything in {e}.; {v} is responsible for {e} since spring. | Who is responsible for {e}?; Who maintains {e}?; Whom can I ask about {e}? | {e} owner; who owns {e}; {e} maintainer | Lena; Omar; Priya; Jakub; Ingrid; Mateo
Run the tests of {e} with {v}.; To check {e}, use {v}.; {v} runs all checks for {e}. | How do I run the tests of {e}?; How is {e} tested?; Which command checks {e}? | {e} test command; run tests {e}; how to test {e} | make check; tox -e py; npm test; ./run_suite.sh; cargo test; go test
{e} failed because of {v}.; The crash of {e} came from {v}.; Root cause for the {e} outage: {v}. | Why did {e} break?; What caused the failure of {e}?; What was wrong with {e}? | {e} crash cause; {e} outage; why {e} failed | a stale cache; clock skew; a missing index; an expired certificate; a race between workers; a full disk
We decided on {v} for {e}.; For {e} we chose {v} after long debate.; Decision: {e} uses {v}. | Which library did we choose for {e}?; What was decided for {e}?; What did we pick for {e}? | {e} decision; {e} library choice; decided {e} | Celery; htmx; pydantic; gRPC; a plain cron job; feature flags
{e} is released by {v}.; To ship {e}, {v}.; A deploy of {e} means: {v}. | How is {e} deployed?; How do we ship {e}?; What are the steps to release {e}? | {e} deploy; release {e}; how to deploy {e} | pushing a tag; merging to stable; pressing the button in Jenkins; running ansible; a blue green switch
Logs of {e} are in {v}.; {e} writes what it does to {v}.; Look into {v} when {e} misbehaves. | Where are the logs of {e}?; Where can I see what {e} did? | {e} logs; log file {e}; {e} log location | /var/log/app; Grafana; the sidecar; CloudWatch; a syslog host
"""
_PEOPLE = """
Lena; Omar; Priya; Jakub; Ingrid; Mateo; Yusuf; Hanna; Chiara; Dmitri; Aiko; Samuel
book a table for {e}; write a birthday card for {e}; plan a day off with {e}; find a present for {e}; prepare the meeting with {e}; cook dinner for {e}; write an email to {e}; introduce the new colleague to {e}
{e} cannot eat {v}.; {e} gets a rash from {v}.; No {v} for {e}, the doctor said. | What is {e} allergic to?; Which food must {e} avoid?; What can {e} not eat? | {e} allergy; {e} food; what {e} cannot eat | peanuts; shellfish; gluten; strawberries; milk; celery
{e} turns a year older on {v}.; We celebrate {e} every {v}.; The birthday of {e} is {v}. | When is the birthday of {e}?; When was {e} born?; On which day does {e} have birthday? | {e} birthday; birthday of {e} | 3 March; 19 July; 30 October; 12 January; 8 May
{e} works as {v}.; By trade {e} is {v}.; {e} earns money as {v}. | What does {e} do for a living?; What is the job of {e}?; Which profession has {e}? | {e} job; {e} profession; what does {e} do | a welder; a translator; a vet; a pilot; a bookkeeper; a midwife
{e} prefers {v} in the morning.; Always offer {e} {v}.; {e} drinks {v}, nothing else. | What does {e} like to drink?; Which drink should I offer {e}? | {e} drink; favourite drink {e} | oat cappuccino; mint tea; tap water; cold cocoa; rooibos
{e} lives in {v}.; {e} moved to {v} last year.; You find {e} in {v}. | Where does {e} live?; In which town is {e} at home?; Where did {e} move to? | {e} address; {e} home town; where lives {e} | Utrecht; Bilbao; Tampere; Leeds; Graz; Porto
{e} is on {v} every Friday.; On Fridays {e} does {v}.; {e} keeps Friday free for {v}. | What does {e} do on Fridays?; Why is {e} away on Fridays? | {e} Friday; {e} Fridays | choir practice; swimming; child care; the food bank; football training
{e} drives {v}.; The car of {e} is {v}.; {e} came in {v}, as always. | Which car does {e} drive?; What vehicle has {e}? | {e} car; car of {e} | a yellow Opel; an old Saab; a cargo bike; a grey Tesla; a camper van
"""
_HOME = """
boiler; washing machine; router; thermostat; garage door; freezer; alarm system; lawn mower; printer; dishwasher; solar panel; doorbell
repair the {e}; sell the {e}; clean the {e}; call somebody about the {e}; order a spare part for the {e}; the {e} makes strange noises, what now; replace the {e}; set up the {e} again
The {e} is a {v}.; We bought a {v} as {e}.; On the plate of the {e} it says {v}. | Which model is the {e}?; What brand is our {e}?; Who makes the {e}? | {e} model; {e} brand; {e} type | Bosch 4000; Viessmann 200; Fritz 7590; Miele W1; Siemens IQ; Nest E
The {e} stands in {v}.; You find the {e} in {v}.; We put the {e} into {v}. | Where is the {e}?; In which room is the {e}?; Where did we put the {e}? | {e} place; {e} room; where {e} | the cellar; the hall; the attic; the utility room; the shed
The warranty of the {e} ends in {v}.; {e} is covered until {v}.; Until {v} repairs of the {e} cost nothing. | How long is the {e} under warranty?; When does the guarantee of the {e} end? | {e} warranty; {e} guarantee | May 2027; 2029; next autumn; December 2026; 2031
The code of the {e} is written on {v}.; To unlock the {e} look at {v}.; {e} pin: see {v}. | Where is the code of the {e}?; How do I unlock the {e}? | {e} code; {e} pin; unlock {e} | the fridge note; the blue folder; page two of the manual; the key box
{v} services the {e}.; Call {v} when the {e} fails.; The {e} was installed by {v}. | Who repairs the {e}?; Which company installed the {e}?; Whom do I call about the {e}? | {e} repair company; {e} service; who repairs {e} | Meyer and Sons; Aqua Fix; the brother of Ines; Volt Works; Nordic Heat
The {e} needs {v} every year.; Once a year give the {e} {v}.; Do not forget {v} for the {e}. | What does the {e} need every year?; What maintenance does the {e} get? | {e} maintenance; {e} yearly | a new filter; fresh batteries; descaling; a drop of oil; a software update
"""
_EXPERIMENTS = """
Kestrel; Mistral; Pumice; Larkspur; Obsidian; Tundra; Saffron; Monsoon; Juniper; Halcyon; Basalt; Verbena
rerun {e} with the latest checkpoint; plot the results of {e}; summarise what we know of {e} for the paper; debug the diverging loss of {e}; port {e} to the new cluster; pick up {e} where we left off; clean up the {e} folder
{e} trains on {v}.; As corpus {e} has {v}.; {v} is what {e} learns from. | What is {e} trained on?; Which dataset goes into {e}?; What data does {e} learn from? | {e} dataset; {e} training data; corpus {e} | WikiText; satellite tiles; court records; birdsong clips; protein chains
The learning rate of {e} is {v}.; {e} diverged until we set the step size to {v}.; {e}: lr {v} works best. | What learning rate does {e} need?; Which step size works for {e}? | {e} learning rate; {e} lr | 3e-4; 1e-5; 0.02; 6e-5; 0.1
{e} occupies {v}.; We run {e} on {v}.; {v} is reserved for {e} this month. | On which machine does {e} run?; What hardware does {e} occupy? | {e} hardware; {e} machine; gpu {e} | node seven; two A100 cards; the old cluster; the basement workstation; rented instances
{e} reached {v} on the held-out part.; Final score, {e}: {v}.; {e} ended at {v} accuracy. | How well does {e} do?; What accuracy did {e} reach?; What is the final score of {e}? | {e} accuracy; {e} result; score {e} | 71.3; 88 percent; 0.64; 93.1; 55.8
{e} was reported at {v}.; The paper about {e} went to {v}.; {v} accepted our text on {e}. | Where was {e} published?; Which venue took the paper on {e}? | {e} paper; {e} venue; published {e} | NeurIPS; a workshop in Riga; Interspeech; the arXiv; CHI
Random seed for {e}: {v}.; {e} uses {v} as its seed. | Which seed does {e} use?; What is the random seed of {e}? | {e} seed; seed {e} | 1337; 20; 4711; 99; 314
"""
_TRIPS = """
Seville; Tallinn; Kyoto; Marrakesh; Bergen; Valparaiso; Ljubljana; Hanoi; Reykjavik; Palermo; Gdansk; Cusco
pack for {e}; put together an itinerary for {e}; rebook the journey to {e}; what should I know before leaving for {e}; file the expenses of {e}; draft a postcard from {e}
In {e} we sleep at {v}.; {v} is our hotel for {e}.; Rooms at {v} are confirmed, {e}. | Where do we stay in {e}?; Which hotel did we reserve in {e}?; Where are we sleeping when in {e}? | {e} hotel; hotel in {e}; accommodation {e} | Casa Azul; the Anchor Inn; Hotel Petra; a houseboat; Villa Ronda
The flight to {e} leaves at {v}.; Departure for {e}: {v}.; Be at the gate for {e} by {v}. | When does the plane to {e} take off?; At what time do we depart for {e}? | {e} flight time; departure {e} | 6:45; noon; 21:10; quarter past four; 13:55
For {e} one must bring {v}.; Entry to {e} asks for {v}.; Without {v} nobody gets into {e}. | Which documents are needed for {e}?; What paper do we have to show in {e}? | {e} visa; documents {e}; {e} entry | a visa on arrival; a yellow fever card; six months of passport; an online form; two photographs
{v} shows us around {e}.; Our guide through {e} will be {v}.; Meet {v}, who knows {e} well. | Who guides us through {e}?; Who will show us around in {e}? | {e} guide; guide in {e} | Marisol; old Tarik; Henning; Ms Nakata; Paloma
The whole of {e} may cost {v}.; We put aside {v} for {e}.; {e} budget: {v}. | How expensive may {e} be?; How much money is set aside for {e}? | {e} budget; costs {e} | 900 euros; two thousand; 1,450; less than 700; three grand
"""
_CUSTOMERS = """
Bluefin Foods; Arden Textiles; Northgate Clinic; Tessera Labs; Quillon Press; Hollow Oak Farm; Meridian Rail; Copperfield School; Vantage Optics; Sable Theatre; Orchard Bank; Pelican Freight
draft the renewal offer to {e}; get ready for the call with {e}; answer the complaint of {e}; send {e} the quarterly report; onboard {e}; check what is still open with {e}; follow up with {e} after the demo
{e} pays {v}.; Invoices of {e} are settled {v}.; With {e} we agreed on payment {v}. | When does {e} pay?; What are the payment terms of {e}? | {e} payment terms; {e} invoice | within thirty days; at the end of each quarter; in advance; by direct debit; in two halves
Our contact at {e} is {v}.; At {e} talk to {v}.; {v} speaks for {e}. | Who is the contact at {e}?; With whom do I talk at {e}? | {e} contact; contact person {e} | Rosalind; Mr Abara; Wiebke; Tobias Lund; Ms Ferreira
{e} complained about {v}.; What annoys {e} is {v}.; {e} threatened to leave over {v}. | What is {e} unhappy with?; What did {e} complain about? | {e} complaint; {e} problems | late replies; the new dashboard; missing exports; rounding errors; long waiting times
{e} is on the {v} plan.; We sold {e} the {v} package.; Contract type, {e}: {v}. | Which plan does {e} have?; What did we sell to {e}? | {e} plan; {e} contract; package {e} | starter; premium; on-premise; non-profit; seasonal
{e} wants {v} next.; The wish list of {e} begins with {v}.; {e} would pay extra for {v}. | What feature does {e} wish for?; What would {e} like to see next? | {e} wishes; {e} feature request | single sign-on; a Spanish version; offline mode; barcode scans; an audit trail
{e} has {v} seats.; {v} people work with us at {e}.; At {e}, {v} accounts are active. | How many users does {e} have?; How big is {e}? | {e} seats; {e} users; size {e} | 12; 340; about fifty; 85; two thousand
"""
FOR_TRAINING = tuple(_group(text) for text in (_SERVICES, _PEOPLE, _HOME))
FOR_MEASURING = tuple(_group(text) for text in (_EXPERIMENTS, _TRIPS, _CUSTOMERS))

# Notes about nothing that is ever asked for.
REMARKS_TRAINING = _list(
    "The stand-up moved to ten.; Prefer short commit messages.; The coffee machine is fixed."
    "; Remember to water the plants.; Weekly numbers are due on Monday.; Use tabs in Makefiles only."
    "; The meeting room has a new screen.; Nobody is in the office on Thursday.; Keep answers brief."
    "; The heating comes on in October.; We agreed to review each other's code.; Parking is free on Sundays."
)
REMARKS_MEASURING = _list(
    "Lunch is at half past twelve now.; The blinds in the corner office are stuck."
    "; Write dates the long way.; The newsletter comes out in the second week."
    "; There is a spare badge in the drawer.; Somebody left an umbrella.; Avoid jargon in letters."
    "; The lift is out of order until Wednesday.; Our motto is measure twice.; Turn off lights at night."
)
