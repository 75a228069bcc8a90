"""What can be done with which type of thing, and what fits where: the same in all ALFWorld games."""

AFFORDANCES: dict[str, frozenset[str]] = {
    "heatable": frozenset(["apple", "bread", "cup", "egg", "mug", "plate", "potato", "tomato"]),
    "coolable": frozenset(
        [
            "apple",
            "bowl",
            "bread",
            "cup",
            "egg",
            "lettuce",
            "mug",
            "pan",
            "plate",
            "pot",
            "potato",
            "tomato",
            "winebottle",
        ]
    ),
    "cleanable": frozenset(
        [
            "apple",
            "bowl",
            "butterknife",
            "cloth",
            "cup",
            "dishsponge",
            "egg",
            "fork",
            "kettle",
            "knife",
            "ladle",
            "lettuce",
            "mug",
            "pan",
            "plate",
            "pot",
            "potato",
            "soapbar",
            "spatula",
            "spoon",
            "tomato",
        ]
    ),
    "sliceable": frozenset(["apple", "bread", "egg", "lettuce", "potato", "tomato"]),
    "isreceptacleobject": frozenset(["bowl", "box", "cup", "mug", "pan", "plate", "pot"]),
    "toggleable": frozenset(["desklamp", "floorlamp"]),
}

# Part of the room: seen or hidden, never picked up.
FIXTURES = frozenset(
    [
        "bathtub",
        "blinds",
        "chair",
        "curtains",
        "desklamp",
        "floorlamp",
        "houseplant",
        "laundryhamperlid",
        "lightswitch",
        "mirror",
        "painting",
        "poster",
        "showerdoor",
        "showerglass",
        "sink",
        "stoveknob",
        "television",
        "window",
    ]
)

ACCEPTS: dict[str, frozenset[str]] = {
    receptacle: frozenset(things.split())
    for receptacle, things in {
        "armchair": (
            "book box cellphone cloth creditcard keychain laptop newspaper pillow remotecontrol"
        ),
        "bathtubbasin": "cloth dishsponge handtowel soapbar",
        "bed": "baseballbat basketball book cellphone laptop pillow tennisracket",
        "cabinet": (
            "book bowl box candle cd cloth cup dishsponge glassbottle handtowel kettle"
            " ladle mug newspaper pan peppershaker plate plunger pot saltshaker soapbar"
            " soapbottle spraybottle tissuebox toiletpaper vase wateringcan winebottle"
        ),
        "cart": (
            "candle cloth dishsponge handtowel plunger soapbar soapbottle spraybottle"
            " tissuebox toiletpaper"
        ),
        "coffeemachine": "mug",
        "coffeetable": (
            "book bowl box candle cellphone creditcard keychain laptop newspaper pen"
            " pencil plate remotecontrol statue tissuebox vase watch wateringcan"
        ),
        "countertop": (
            "alarmclock apple book bowl bread butterknife candle cd cellphone cloth"
            " creditcard cup dishsponge egg fork glassbottle handtowel kettle keychain"
            " knife ladle laptop lettuce mug pan pen pencil peppershaker plate pot potato"
            " remotecontrol saltshaker soapbar soapbottle spatula spoon spraybottle statue"
            " tissuebox toiletpaper tomato vase winebottle"
        ),
        "desk": (
            "alarmclock basketball book bowl box cd cellphone cloth creditcard keychain"
            " laptop mug pen pencil remotecontrol statue tennisracket tissuebox vase watch"
            " wateringcan"
        ),
        "diningtable": (
            "alarmclock apple baseballbat basketball book bowl box bread butterknife"
            " candle cd cellphone cloth creditcard cup dishsponge egg fork glassbottle"
            " kettle keychain knife ladle laptop lettuce mug newspaper pan pen pencil"
            " peppershaker plate pot potato remotecontrol saltshaker soapbottle spatula"
            " spoon spraybottle statue tennisracket tissuebox tomato vase watch"
            " wateringcan winebottle"
        ),
        "drawer": (
            "book butterknife candle cd cellphone cloth creditcard dishsponge fork"
            " handtowel keychain knife ladle newspaper pen pencil peppershaker"
            " remotecontrol saltshaker soapbar soapbottle spatula spoon spraybottle"
            " tissuebox toiletpaper watch wateringcan"
        ),
        "dresser": (
            "alarmclock basketball book bowl box candle cd cellphone cloth creditcard"
            " keychain laptop mug newspaper pen pencil plate remotecontrol spraybottle"
            " statue tennisracket tissuebox toiletpaper vase watch wateringcan"
        ),
        "fridge": (
            "apple bowl bread cup egg glassbottle lettuce mug pan plate pot potato tomato"
            " winebottle"
        ),
        "garbagecan": (
            "apple bread cd cloth dishsponge egg handtowel lettuce newspaper pen pencil"
            " potato soapbar soapbottle spraybottle tissuebox toiletpaper tomato"
            " winebottle"
        ),
        "handtowelholder": "handtowel",
        "laundryhamper": "cloth",
        "microwave": "apple bowl bread cup egg glassbottle mug plate potato tomato",
        "ottoman": "book box cellphone creditcard keychain laptop newspaper pillow remotecontrol",
        "safe": "cd cellphone creditcard keychain statue vase watch",
        "shelf": (
            "alarmclock book bowl box candle cd cellphone cloth creditcard cup dishsponge"
            " glassbottle handtowel kettle keychain mug newspaper pen pencil peppershaker"
            " plate pot remotecontrol saltshaker soapbar soapbottle spraybottle statue"
            " tissuebox toiletpaper vase watch wateringcan winebottle"
        ),
        "sidetable": (
            "alarmclock apple baseballbat basketball book bowl box bread butterknife"
            " candle cd cellphone cloth creditcard cup dishsponge egg fork handtowel"
            " kettle keychain knife laptop lettuce mug newspaper pan pen pencil"
            " peppershaker plate pot potato remotecontrol saltshaker soapbar soapbottle"
            " spatula spoon spraybottle statue tennisracket tissuebox toiletpaper tomato"
            " vase watch wateringcan winebottle"
        ),
        "sinkbasin": (
            "apple bowl butterknife cloth cup dishsponge egg fork glassbottle handtowel"
            " kettle knife ladle lettuce mug pan plate pot potato soapbar spatula spoon"
            " tomato"
        ),
        "sofa": "book box cellphone creditcard keychain laptop newspaper pillow remotecontrol",
        "stoveburner": "kettle pan pot",
        "toilet": (
            "candle cloth dishsponge handtowel soapbar soapbottle spraybottle tissuebox toiletpaper"
        ),
        "toiletpaperhanger": "toiletpaper",
        "towelholder": "towel",
        "tvstand": "tissuebox",
        "toaster": "",
    }.items()
}

ACCEPTED_PAIRS = frozenset(
    (receptacle, thing) for receptacle, things in ACCEPTS.items() for thing in things
)


def fixed_facts(thing_type: str) -> frozenset[str]:
    """The facts about a thing of this type that never change."""
    facts = {fact for fact, types in AFFORDANCES.items() if thing_type in types}
    if thing_type not in FIXTURES:
        facts.add("pickupable")
    return frozenset(facts)
