"""What users say next: that something was not right, or anything else.

The patterns were written looking at the first two lists. The held-out ones were written after that, and looked
at once: whoever changes a pattern because of them has to write new ones.
"""

CORRECTING = """\
that's still broken, the total is wrong
Hmm, that isn't what I wanted
The test fails again
It's not working
doesn't work
This is incorrect
Please revert that
There's still an error
the button is gone now
Actually, undo that
I don't see any change
Same error
Das ist falsch
nein, mach das rückgängig
You misunderstood
wait, that broke the build
ugh, now login fails
It crashes now
Not right: the sum is off
still the same problem
No, use tabs
That's not what I asked for
You forgot the tests
No. The other file.
it still fails for me
that didn't help
That did not fix it
now I get a TypeError
The page is blank now
Now nothing loads
nope, same as before
This doesn't compile
it won't start
You changed the wrong file
You deleted my comments
why did you remove the logging?
Why did you touch config.py? I only asked about the parser
I said not to change the API
I meant the other function
I asked for JSON, not YAML
Wrong branch
wrong, it should be ascending
not quite, the header should stay
Not what I meant
Nothing changed
the bug is still there
It is still slow
The layout is broken
The colours are wrong now
build is red again
CI fails after your change
tests are failing now
Please undo your last change
roll that back please
put it back the way it was
Can you revert this? It made things worse
Undo.
Revert the last edit, it breaks imports
stop, that's the wrong directory
Stop! You are deleting production data
that made it worse
Didn't work
Doesn't seem to work on my machine
Still not working
still red
Getting the same exception
I get an error when I run it
It throws a KeyError
you missed the second case
You should not have renamed that
Das funktioniert nicht
Geht immer noch nicht
Hmm the tooltip shows up twice
That regex eats the last character
we lost the footer
The numbers don't add up
I think you mixed up width and height
It compiles but the output is garbage
That's the opposite of what I asked
Can we go back to the previous version
The migration you wrote drops the index
this is worse than before
My tests pass locally no more
Not sure what you did, but the server no longer starts
the import takes ten times longer now
that's a hallucination, there is no such flag
you're editing the generated file
Please don't touch the config
the endpoint returns 500
no it should be sorted by date
This isn't right
I can't log in any more
""".splitlines()

OTHER = """\
No tests are needed, thanks
Stop the dev server please
No more changes, looks great
Why did you choose sqlite? just curious
I asked my colleague, he agrees. Ship it
Revert commit abc123 on the release branch too
Undo support for the editor is next: add it
Wrong password message should be translated next
No, thanks
Stop words should be removed from the index too
Great, thanks
Now add a page for settings
no problem, now add a page
Nothing else, thanks
Notes are missing a date
Looks good. Commit it
Please add an error message for empty input
Fix the failing test in test_cart.py
The login page fails when the password is empty, please look into it
There is an error in the nightly job, can you find out why?
The importer crashes on empty files. Fix that next
Still to do: the docs
Not now, let us do the parser first
No worries, go on
no need to run the tests again
That works, thank you!
it works now
That fixed it
Same thing for the other module
The same for the tests please
Now the tests
Run the tests again
Is it still running?
What is wrong with the old approach?
Why did the build take so long?
You can delete the branch now
You should add a changelog entry as well
You missed nothing, well done
I meant to say thanks
I said yes, go ahead
I see the change, nice
I don't need the backup any more
Add an undo button
Implement revert for transactions
Write a test that fails without the fix
Rename broken_links to dead_links
Can you explain why the old code did not work?
Explain what this error means: KeyError
How do I roll back a migration?
Put the helper into utils.py
Wait for my review before you push
Wait, before you commit: bump the version as well
Actually, can you also update the README?
Actually that is perfect
Hm, ok. Next: the export
Not bad! Now make it faster
Not a problem
Next, handle the case where the file is gone
The button should be blue
Make the error page nicer
Stop after the first match
No idea, you decide
No changes to the API please, but rename the class
Nothing broke, great. Push it
Doesn't matter, go on
It doesn't need to be perfect
Don't forget the docs
I get it, thanks
Getting started guide is next
Danke, das passt
Jetzt noch die Doku
Kein Problem, weiter mit dem Export
Great, can you open a pull request?
Let's try the other library
What happens if the list is empty?
the next task is the billing page
Users report that the export is slow, please profile it
Could you add types too?
I will test that tomorrow
Perfect, no further changes
Not sure yet, what do you think?
Make it return 404 when the id is unknown
Please don't forget to update the lockfile
The tests should fail when the token is missing
nothing to add from my side
it is fine as it is
This should be its own module
Now do the same for orders
Delete the old tests
We still need a release note
No hurry
Where is the error handled?
""".splitlines()

HELD_OUT_CORRECTING = """\
This looks nothing like the mockup
You put it in the wrong package
The sort order got reversed
hm, the dialog closes immediately now
It prints the password in the log!
why is the whole file reformatted?
I'm still seeing the old text
the second test is red
you left a print statement in there
This should have been a class, not a function
No, not like that
That's too complicated, simplify it
It hangs forever
Now the first page shows 0 results
that's not how our API works
I didn't ask for a new dependency
you removed the wrong line
the script exits with code 2
this version is slower than the old one
ok but it no longer handles unicode
Bad idea, take that out again
Let's undo the rename
Doesn't even start
You hardcoded the path
The docs don't match the code
that was a mistake, restore the file
Wrong again
My changes are gone!
I still get 401
Nope
you didn't run the tests
The date is off by one
It's the same as before
why are there two headers?
please put the check back
this is not pythonic at all
that query is wrong, it counts twice
seems you forgot the migration
build broken
Unfortunately that doesn't solve it
""".splitlines()

HELD_OUT_OTHER = """\
Can you check whether the cache is used?
Add validation: empty names are not allowed
The user cannot change the email, add a form for that
it would be nice to have a dark theme
Ok, what about the mobile layout?
This endpoint should not need a login
Please write down what you did
I like it. One more thing: sort by name
if it fails, show a message
Don't use any new dependency for the chart
What does this function return when nothing is found?
The customer wants the logo bigger
Show an error when the upload is too large
Make sure nothing is lost on restart
Let's go on with chapter two
That is exactly what I wanted
Our CI is slow in general. Could we cache the wheels?
Use the same error class in both modules
No more questions from me
I still want to see a benchmark
Change the colour back to blue on hover
Handle the wrong password case
Prevent the crash when the file is missing
Restore the backup of yesterday into staging
Never mind
Not necessary, skip it
All good now
You were right about the index
stop here for today
It passes. Push it
How is the retry supposed to work?
I asked for a day off, so be quick
this one is done, next please
There are two warnings in the log, are they harmless?
why does git revert make a new commit?
Only the docs are left
The old function is unused now, delete it
now deploy it
They still use Python 3.8, so keep it compatible
No need, thanks
""".splitlines()
