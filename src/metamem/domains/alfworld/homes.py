"""What rooms are made of: their receptacles, their objects, and where objects tend to be.

The figures are rounded from counts over the published training games, so that own games have
about the same sizes and habits. The unusual rooms recombine the same types for the shifted split.
"""

from dataclasses import dataclass

from metamem.domains.alfworld.goals import CLEAN, COOL, HEAT, LOOK, PLACE, TWO

FLOOR = "floor"  # in no receptacle: it exists, but can neither be listed nor taken


@dataclass(frozen=True, slots=True)
class Room:
    """A kind of room. Objects are in it always, in half of the cases, or now and then."""

    kinds: dict[str, int]  # kind of task → weight with which it is set in this kind of room
    receptacles: str  # `type chance low-high`, comma-separated
    always: str
    often: str
    rarely: str
    fixtures: str  # belong to no receptacle; `type*n` for several

    def receptacle_counts(self) -> list[tuple[str, float, int, int]]:
        rows = []
        for row in self.receptacles.split(","):
            kind, chance, span = row.split()
            low, _, high = span.partition("-")
            rows.append((kind, float(chance), int(low), int(high or low)))
        return rows


KIND_WEIGHTS = {LOOK: 9, PLACE: 22, CLEAN: 18, COOL: 15, HEAT: 13, TWO: 23}

_FOOD = "apple bread egg lettuce potato tomato"
_DISHES = "bowl cup mug plate"
_CUTLERY = "butterknife fork knife spatula spoon"
_COOKING = "pan pot"
_CARRIED = "cellphone creditcard keychain"

HOME_ROOMS = {
    "kitchen": Room(
        kinds={CLEAN: 77, COOL: 100, HEAT: 100, TWO: 15, PLACE: 10},
        receptacles="cabinet 1 6-21, drawer .97 2-10, countertop 1 1-4, stoveburner 1 4, "
        "sinkbasin 1 1, fridge 1 1, microwave 1 1, coffeemachine 1 1, toaster 1 1, "
        "garbagecan 1 1, diningtable .57 1-2, shelf .2 3, sidetable .1 1, safe .04 1",
        always=f"{_FOOD} {_DISHES} {_CUTLERY} {_COOKING} dishsponge peppershaker saltshaker"
        " soapbottle",
        often="houseplant kettle ladle papertowelroll winebottle",
        rarely="book cellphone creditcard glassbottle pen pencil spraybottle statue vase",
        fixtures="stoveknob*4 lightswitch window chair sink",
    ),
    "living room": Room(
        kinds={TWO: 27, PLACE: 27, LOOK: 17},
        receptacles="sofa 1 1-2, armchair .92 1-2, coffeetable .83 1-2, sidetable 1 1-3, "
        "drawer .78 1-9, garbagecan 1 1, diningtable .48 1-2, dresser .38 1, shelf .37 1-9, "
        "tvstand .35 1, cabinet .16 2-6, ottoman .12 1",
        always="box creditcard houseplant keychain laptop pillow remotecontrol statue television",
        often="desklamp newspaper vase watch wateringcan",
        rarely="book boots bowl candle cellphone pen pencil plate tissuebox",
        fixtures="floorlamp lightswitch painting*2 window*3 chair*3 curtains",
    ),
    "bedroom": Room(
        kinds={TWO: 30, PLACE: 30, LOOK: 83},
        receptacles="bed 1 1-2, drawer .96 2-10, desk .7 1, shelf .68 1-8, sidetable .8 1-2, "
        "dresser .46 1, garbagecan 1 1, laundryhamper .28 1, armchair .19 1-2, safe .16 1, "
        "cabinet .16 1-4, diningtable .13 1",
        always=f"{_CARRIED} alarmclock book cd laptop pen pencil pillow",
        often="baseballbat basketball bowl box desklamp mug teddybear tennisracket",
        rarely="boots cloth houseplant remotecontrol statue tissuebox vase watch",
        fixtures="window*2 lightswitch mirror blinds chair painting",
    ),
    "bathroom": Room(
        kinds={CLEAN: 23, TWO: 29, PLACE: 33},
        receptacles="toilet 1 1, sinkbasin 1 1-2, garbagecan 1 1, toiletpaperhanger 1 1, "
        "handtowelholder 1 1-2, towelholder 1 1-2, countertop .86 1-2, bathtubbasin .67 1, "
        "drawer .58 2-8, cabinet .44 2-7, shelf .25 1-3, cart .08 1, dresser .08 1, "
        "sidetable .06 1",
        always="candle cloth handtowel plunger scrubbrush soapbar soapbottle spraybottle"
        " toiletpaper towel",
        often="dishsponge tissuebox",
        rarely="footstool houseplant papertowelroll",
        fixtures="mirror sink lightswitch bathtub showerdoor window",
    ),
}

UNUSUAL_ROOMS = {
    "studio": Room(
        kinds=dict.fromkeys(KIND_WEIGHTS, 10),
        receptacles="bed 1 1, sofa .7 1, desk 1 1, fridge 1 1, microwave 1 1, sinkbasin 1 1, "
        "stoveburner 1 2, countertop 1 1, cabinet 1 3-8, drawer 1 2-6, shelf .7 1-4, "
        "garbagecan 1 1, coffeemachine .5 1, coffeetable .5 1, laundryhamper .5 1",
        always=f"{_FOOD} {_DISHES} {_CARRIED} fork knife pan book laptop pillow soapbottle desklamp",
        often="alarmclock pen remotecontrol spoon dishsponge box",
        rarely="baseballbat cd newspaper pot statue tissuebox watch winebottle",
        fixtures="window*2 lightswitch sink stoveknob*2 chair*2 painting",
    ),
    "office": Room(
        kinds={LOOK: 10, PLACE: 10, TWO: 10, COOL: 4},
        receptacles="desk 1 2-4, drawer 1 4-10, shelf 1 3-8, safe .7 1-2, cabinet .8 2-5, "
        "garbagecan 1 1-2, coffeemachine .7 1, fridge 1 1, sofa .5 1, armchair .6 1-3, "
        "sidetable .6 1-2, coffeetable .4 1",
        always=f"{_CARRIED} pen pencil laptop mug book cd cup desklamp tissuebox apple",
        often="alarmclock newspaper box statue plate watch houseplant",
        rarely="basketball bowl candle glassbottle remotecontrol vase wateringcan",
        fixtures="window*2 lightswitch chair*4 painting*2 blinds",
    ),
    "garage": Room(
        kinds={LOOK: 4, PLACE: 10, TWO: 10, CLEAN: 10, HEAT: 6, COOL: 6},
        receptacles="shelf 1 4-9, cabinet 1 3-8, cart 1 1-2, desk 1 1, safe .5 1, sinkbasin 1 1, "
        "fridge 1 1, microwave 1 1, laundryhamper .8 1, garbagecan 1 1-2, drawer 1 2-6, "
        "sidetable .6 1, armchair .4 1",
        always="cloth dishsponge spraybottle soapbottle glassbottle box mug cup apple potato"
        " wateringcan candle desklamp",
        often="kettle newspaper baseballbat basketball tennisracket plate knife bowl cd",
        rarely="boots pan pot keychain pencil soapbar vase winebottle",
        fixtures="window lightswitch floorlamp poster*2 chair",
    ),
    "laundry": Room(
        kinds={CLEAN: 10, PLACE: 8, TWO: 8},
        receptacles="laundryhamper 1 1-2, sinkbasin 1 1-2, cart .8 1, cabinet 1 3-7, "
        "shelf 1 2-5, countertop .7 1, drawer .7 2-5, handtowelholder 1 1-3, towelholder .8 1, "
        "garbagecan 1 1, sidetable .5 1, toilet .4 1",
        always="cloth soapbar soapbottle spraybottle handtowel toiletpaper tissuebox dishsponge",
        often="towel plunger scrubbrush candle creditcard keychain mug",
        rarely="book bowl pen plate watch wateringcan",
        fixtures="sink mirror lightswitch window",
    ),
}

SINGLE = frozenset(  # objects of which a room has one
    [
        "baseballbat",
        "basketball",
        "boots",
        "box",
        "desklamp",
        "footstool",
        "handtowel",
        "houseplant",
        "papertowelroll",
        "plunger",
        "scrubbrush",
        "teddybear",
        "television",
        "tennisracket",
        "towel",
        "wateringcan",
    ]
)

_HABITS = """
alarmclock: desk 33 shelf 21 sidetable 18 dresser 17 diningtable 7
apple: countertop 24 fridge 23 diningtable 15 microwave 12 garbagecan 12 sinkbasin 8 floor 1
baseballbat: floor 95 bed 5
basketball: floor 95 dresser 5
book: bed 50 desk 19 drawer 11 coffeetable 29 dresser 10 sofa 16 armchair 8 countertop 60 cabinet 8 sidetable 5
boots: floor 100
bowl: cabinet 35 countertop 20 fridge 20 diningtable 20 sinkbasin 3 microwave 2 desk 43 shelf 25 dresser 14 coffeetable 27
box: diningtable 22 sofa 20 coffeetable 20 sidetable 7 desk 15 shelf 10 dresser 3 floor 35
bread: countertop 55 diningtable 30 fridge 12 garbagecan 1
butterknife: countertop 56 diningtable 25 drawer 8 sinkbasin 5 sidetable 1
candle: countertop 27 toilet 27 cabinet 11 drawer 11 shelf 6 sidetable 20 coffeetable 28 diningtable 20 floor 8
cd: drawer 24 desk 17 dresser 11 sidetable 11 garbagecan 6 shelf 6 diningtable 4 floor 12
cellphone: bed 28 desk 17 drawer 16 dresser 10 sidetable 10 shelf 6 countertop 40 coffeetable 16 sofa 14 diningtable 9
cloth: bathtubbasin 29 cabinet 19 countertop 16 drawer 15 sinkbasin 8 shelf 4 toilet 3 floor 15
creditcard: drawer 26 shelf 15 desk 17 sidetable 14 dresser 10 sofa 19 coffeetable 14 armchair 10 diningtable 8 countertop 44
cup: cabinet 22 countertop 20 fridge 20 diningtable 14 sinkbasin 9 microwave 7 shelf 2 floor 2
desklamp: desk 35 sidetable 45 dresser 25 shelf 10 coffeetable 5
dishsponge: countertop 25 cabinet 20 drawer 20 diningtable 10 sinkbasin 8 garbagecan 5 bathtubbasin 15 shelf 4 toilet 4 floor 3
egg: fridge 24 countertop 23 sinkbasin 12 garbagecan 12 microwave 11 diningtable 11 floor 3
footstool: floor 100
fork: countertop 42 diningtable 22 drawer 21 sinkbasin 8 floor 4
glassbottle: cabinet 30 countertop 26 diningtable 13 sinkbasin 9 fridge 8 garbagecan 7 shelf 4
handtowel: handtowelholder 96 countertop 3
houseplant: countertop 40 diningtable 15 sidetable 32 coffeetable 15 shelf 25 desk 20 dresser 7 floor 30
kettle: stoveburner 41 countertop 25 cabinet 24 diningtable 6 sinkbasin 1
keychain: drawer 20 desk 16 sidetable 13 shelf 14 dresser 10 coffeetable 15 sofa 9 armchair 6 diningtable 4 safe 3 floor 12
knife: countertop 45 diningtable 24 drawer 19 sinkbasin 4 floor 5
ladle: countertop 39 cabinet 24 drawer 16 diningtable 13 sinkbasin 2 floor 3
laptop: bed 73 desk 18 sofa 27 coffeetable 24 diningtable 18 dresser 5 sidetable 6 armchair 3
lettuce: countertop 40 diningtable 27 fridge 22 sinkbasin 4 floor 2
mug: countertop 26 coffeemachine 16 cabinet 14 fridge 13 diningtable 10 microwave 6 sinkbasin 5 desk 34 shelf 17 sidetable 15 dresser 15 floor 4
newspaper: sofa 19 coffeetable 17 diningtable 16 sidetable 13 shelf 10 dresser 7 armchair 6 drawer 1
pan: stoveburner 51 countertop 33 cabinet 6 diningtable 4 fridge 3
papertowelroll: countertop 50 diningtable 14 garbagecan 12 shelf 9 toilet 20 floor 8
pen: desk 27 drawer 18 shelf 13 dresser 15 sidetable 15 coffeetable 34 diningtable 6 countertop 35 garbagecan 3
pencil: desk 23 drawer 18 sidetable 19 shelf 15 dresser 10 coffeetable 26 diningtable 6 countertop 30 garbagecan 5
peppershaker: cabinet 33 countertop 30 diningtable 16 drawer 14 shelf 3 sidetable 2
pillow: bed 95 sofa 80 armchair 15
plate: cabinet 37 countertop 28 diningtable 20 fridge 8 sinkbasin 2 coffeetable 23 shelf 8 sidetable 5 floor 6
plunger: floor 100
pot: stoveburner 73 countertop 14 fridge 4 diningtable 4 cabinet 3
potato: countertop 27 fridge 25 diningtable 16 sinkbasin 10 microwave 9 garbagecan 6 floor 2
remotecontrol: coffeetable 22 sofa 17 sidetable 12 diningtable 10 dresser 7 tvstand 7 armchair 7 drawer 20 desk 20 floor 7
saltshaker: countertop 31 cabinet 31 diningtable 17 drawer 13 shelf 2 sidetable 2
scrubbrush: floor 100
soapbar: countertop 18 toilet 14 sinkbasin 14 cabinet 11 bathtubbasin 11 drawer 10 garbagecan 6 shelf 3 floor 6
soapbottle: countertop 30 toilet 21 cabinet 24 diningtable 20 garbagecan 9 shelf 6 drawer 2 floor 5
spatula: countertop 43 diningtable 24 drawer 20 sinkbasin 8 floor 2
spoon: countertop 36 drawer 26 diningtable 21 sinkbasin 10 floor 3
spraybottle: countertop 32 toilet 26 cabinet 20 garbagecan 10 shelf 6 diningtable 15 cart 3
statue: coffeetable 25 shelf 30 diningtable 15 sidetable 15 tvstand 8 dresser 15 desk 20 countertop 45 floor 1
teddybear: bed 75 sofa 10 floor 25
television: tvstand 31 dresser 30 coffeetable 6 floor 29
tennisracket: floor 100
tissuebox: coffeetable 36 diningtable 18 sidetable 15 shelf 15 desk 36 drawer 18 countertop 35 tvstand 5
toiletpaper: toilet 19 countertop 19 toiletpaperhanger 9 drawer 9 cabinet 9 garbagecan 7 shelf 4 floor 15
tomato: fridge 32 countertop 29 diningtable 19 garbagecan 9 sinkbasin 6 floor 1
towel: towelholder 97 countertop 2
vase: shelf 35 coffeetable 18 diningtable 10 sidetable 9 dresser 15 countertop 30 cabinet 20 tvstand 5 floor 5
watch: coffeetable 25 drawer 22 sidetable 15 diningtable 10 dresser 10 tvstand 10 shelf 8 desk 15
wateringcan: floor 74 coffeetable 13 shelf 9 sidetable 2
winebottle: countertop 37 cabinet 25 diningtable 24 garbagecan 8 shelf 3 fridge 1
"""


def _read_habits(text: str) -> dict[str, dict[str, int]]:
    habits = {}
    for line in text.strip().splitlines():
        thing, _, places = line.partition(": ")
        words = places.split()
        habits[thing] = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    return habits


HABITS = _read_habits(_HABITS)  # object type → receptacle type → weight
