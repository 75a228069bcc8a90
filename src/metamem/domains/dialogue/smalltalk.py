"""What people say around what they have to say."""

from metamem.domains.dialogue.topic import listed

GREETINGS = listed(
    "Hi {other}, good to hear from you!|Hello {other}, how are things?|Hey {other}, got a minute?"
    "|{other}! I was just thinking of you.|Good evening, {other}.|Morning, {other}, coffee in hand?"
)
GREETED = listed(
    "Hi {other}, all fine here.|Hey! Things are good, and with you?|Hello, hello, perfect timing."
    "|Not bad, thanks for asking.|Surviving, {other}, surviving.|Good, a bit tired."
)
REACTIONS = listed(
    "Oh, I had no idea!|That is lovely to hear.|Good to know, I will try to remember that."
    "|Ha, that sounds just like you.|Really? Tell me more some time.|Noted!|Sounds good to me."
    "|I see, makes sense.|Wow, fair enough.|Nice one.|Who would have thought.|Oh dear, well then."
    "|I am a little jealous now.|Good for you!|Mm, I can picture that.|That made me smile."
)
CHAT_REPLIES = listed(
    "Tell me about it.|Same here, honestly.|Ha, classic.|Poor you.|It never ends, does it?"
    "|That happens to me all the time.|At least it makes a good story.|Hm, I know that feeling."
)
GOODBYES = listed(
    "I have to run, talk soon!|Time for bed, good night.|My soup is boiling over, bye!"
    "|Let us talk again next week.|The doorbell rang, speak soon.|Take care, {other}."
)
FAREWELLS = listed("Bye, {other}!|Take care!|Until next time.|Sleep well.|Bye bye!|Speak soon.")
INTRODUCTIONS = listed(
    "My {relation} is called {name}, I do not think you two have met."
    "|{name} is my {relation}, we talk nearly every day."
    "|You will meet {name} at my party, that is my {relation}."
    "|I got a long letter from {name}, my {relation}."
)
WITHDRAWALS = listed(
    "Please forget what I said about {matter}, I should not have shared that."
    "|Could you delete what you know about {matter}? I want that gone."
    "|I would rather you did not remember {matter}. Forget it, please."
    "|Do me a favour and do not keep what I told you about {matter}."
)
