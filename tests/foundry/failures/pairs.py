"""Calls of tools that are no shells, labelled by hand: one that failed, a later one that worked, and whether the
later one was meant to do the same.

The first half of each list was used to write the rules; the second was looked at once, after that.
"""

from typing import Any

Pair = tuple[str, str, dict[str, Any], dict[str, Any]]  # tool, error, arguments before and after

NO_NME = 'column "nme" does not exist'
SQL = "mcp__db__query"
ISSUE = "mcp__github__create_issue"
POST = "mcp__slack__post_message"

# The same, with an argument put right.
SAME: list[Pair] = [
    (SQL, NO_NME, {"database": "prod", "sql": "select nme from users"}, {"database": "prod", "sql": "select name from users"}),
    (SQL, NO_NME, {"sql": "select id, nme from users where id = 3"}, {"sql": "select id, full_name from users where id = 3"}),
    (SQL, 'syntax error at or near "form"', {"sql": "select * form users"}, {"sql": "SELECT * FROM users"}),
    (SQL, 'relation "user" does not exist', {"sql": "select id from user where paid"}, {"sql": "select id from users where paid"}),
    (ISSUE, "Validation Failed: label 'bugs' does not exist", {"repo": "a/b", "title": "Crash on start", "body": "It crashes.", "labels": ["bugs"]},
     {"repo": "a/b", "title": "Crash on start", "body": "It crashes.", "labels": ["bug"]}),
    (ISSUE, "Not Found: repository a/bb", {"repo": "a/bb", "title": "Crash on start", "body": "It crashes."},
     {"repo": "a/b", "title": "Crash on start", "body": "It crashes."}),
    (POST, "channel_not_found", {"channel": "#general", "text": "deploy is done"}, {"channel": "C0123", "text": "deploy is done"}),
    (POST, "invalid_thread_ts", {"channel": "C1", "text": "deploy is done", "thread_ts": "1"}, {"channel": "C1", "text": "deploy is done"}),
    ("mcp__playwright__browser_click", "Ref e12 not found in the current page snapshot", {"element": "Submit button", "ref": "e12"},
     {"element": "Submit button", "ref": "e31"}),
    ("mcp__playwright__browser_navigate", "net::ERR_SSL_PROTOCOL_ERROR", {"url": "https://localhost:3000/cart"}, {"url": "http://localhost:3000/cart"}),
    ("Read", "File does not exist.", {"file_path": "/p/src/utils.py"}, {"file_path": "/p/src/lib/utils.py"}),
    ("Edit", "String to replace not found in file.\nString: y = 1", {"file_path": "/p/a.py", "old_string": "y = 1", "new_string": "z = 1"},
     {"file_path": "/p/a.py", "old_string": "x=1", "new_string": "z=1"}),
    ("mcp__http__request", "404 Not Found", {"method": "GET", "url": "https://x.io/v1/users"}, {"method": "GET", "url": "https://x.io/v2/users"}),
    ("mcp__http__request", "400: field 'emial' is unknown", {"method": "POST", "url": "https://x.io/users", "body": {"name": "Ada", "emial": "a@x.io"}},
     {"method": "POST", "url": "https://x.io/users", "body": {"name": "Ada", "email": "a@x.io"}}),
    # looked at once
    (SQL, "Unknown column 'usr_id' in 'where clause'", {"query": "select total from orders where usr_id = 7 order by at"},
     {"query": "select total from orders where user_id = 7 order by at"}),
    (SQL, "canceling statement due to statement timeout", {"sql": "select * from events"}, {"sql": "select * from events limit 100"}),
    ("mcp__sqlite__read_query", 'no such column: "paid"', {"query": 'select id from orders where state = "paid"'},
     {"query": "select id from orders where state = 'paid'"}),
    ("mcp__jira__create_issue", "issuetype: The issue type selected is invalid.", {"project": "SHOP", "summary": "Cart loses items", "issuetype": "Defect"},
     {"project": "SHOP", "summary": "Cart loses items", "issuetype": "Bug"}),
    ("mcp__github__create_pull_request", "Validation Failed: head is invalid", {"repo": "b", "title": "Add rounding", "head": "ronding", "base": "main"},
     {"repo": "b", "title": "Add rounding", "head": "rounding", "base": "main"}),
    (POST, "msg_too_long", {"channel": "C1", "text": " ".join(f"line {n} of the report" for n in range(60))},
     {"channel": "C1", "text": " ".join(f"line {n} of the report" for n in range(30))}),
    ("mcp__discord__send", "Cannot find channel 'genral'", {"channel": "genral", "content": "who is on call"}, {"channel": "general", "content": "who is on call"}),
    ("mcp__browser__fill", "No element matches selector #emial", {"selector": "#emial", "value": "a@x.io"}, {"selector": "#email", "value": "a@x.io"}),
    ("mcp__browser__click", "Timeout 30000ms exceeded waiting for 'text=Sign in'", {"selector": "text=Sign in"}, {"selector": "text=Sign in", "timeout": 60000}),
    ("Write", "ENOENT: no such file or directory, open '/p/scr/a.py'", {"file_path": "/p/scr/a.py", "content": "x = 1"}, {"file_path": "/p/src/a.py", "content": "x = 1"}),
    ("mcp__fs__move_file", "ENOENT: '/p/docs/old.md'", {"source": "/p/docs/old.md", "destination": "/p/archive/old.md"},
     {"source": "/p/doc/old.md", "destination": "/p/archive/old.md"}),
    ("mcp__http__post", "415 Unsupported Media Type", {"url": "https://x.io/a", "body": "name=Ada", "headers": {"content-type": "text/plain"}},
     {"url": "https://x.io/a", "body": "name=Ada", "headers": {"content-type": "application/x-www-form-urlencoded"}}),
    ("WebFetch", "404 Not Found", {"url": "https://docs.x.io/en/api.html", "prompt": "how are pages asked for?"},
     {"url": "https://docs.x.io/en/latest/api.html", "prompt": "how are pages asked for?"}),
    ("mcp__calendar__create_event", "end must be after start", {"title": "Stand-up", "start": "2026-01-05T10:00", "end": "2026-01-05T09:15"},
     {"title": "Stand-up", "start": "2026-01-05T10:00", "end": "2026-01-05T10:15"}),
]  # fmt: skip

# Something else, whatever it has in common.
OTHER: list[Pair] = [
    (SQL, NO_NME, {"database": "prod", "sql": "select nme from users"}, {"database": "prod", "sql": "show tables"}),
    (SQL, NO_NME, {"database": "prod", "sql": "select nme from users"}, {"database": "prod", "sql": "select count(*) from orders"}),
    (SQL, NO_NME, {"database": "prod", "sql": "select nme from users"}, {"database": "prod", "sql": "select id from invoices where paid"}),
    (SQL, NO_NME, {"database": "prod", "sql": "select nme from users"}, {"database": "prod", "sql": "update users set a=1"}),
    (ISSUE, "validation failed", {"repo": "a/b", "title": "Crash on start", "body": "It crashes."}, {"repo": "a/b", "title": "Docs typo", "body": "A word is wrong."}),
    (POST, "ratelimited", {"channel": "C1", "text": "deploy is done"}, {"channel": "C1", "text": "who is on call"}),
    ("mcp__github__close_issue", "issue not found", {"repo": "a/b", "issue_number": 12}, {"repo": "a/b", "issue_number": 13}),
    ("mcp__playwright__browser_click", "Ref e12 not found in the current page snapshot", {"element": "Submit button", "ref": "e12"},
     {"element": "Cancel link", "ref": "e13"}),
    ("mcp__playwright__browser_navigate", "net::ERR_CONNECTION_REFUSED", {"url": "http://localhost:3000/cart"}, {"url": "https://docs.x.io/cart"}),
    ("Read", "File does not exist.", {"file_path": "/p/web/package.json"}, {"file_path": "/p/api/package.json"}),
    ("Edit", "String to replace not found in file.\nString: y = 1", {"file_path": "/p/a.py", "old_string": "y = 1", "new_string": "z = 1"},
     {"file_path": "/p/a.py", "old_string": "import os", "new_string": "import sys"}),
    ("mcp__http__request", "404 Not Found", {"method": "GET", "url": "https://x.io/v1/users"}, {"method": "GET", "url": "https://x.io/v1/health"}),
    ("mcp__http__request", "500", {"method": "POST", "url": "https://x.io/users", "body": {"name": "Ada", "email": "a@x.io"}},
     {"method": "POST", "url": "https://x.io/users", "body": {"name": "Bob", "email": "b@x.io"}}),
    ("mcp__jira__transition", "transition is not allowed", {"issue": "SHOP-12", "to": "Done"}, {"issue": "SHOP-19", "to": "Done"}),
    (SQL, 'syntax error at or near "form"', {"sql": "select * form users"}, {"sql": "select id from users"}),
    (SQL, NO_NME, {"sql": "select nme from users"}, {"sql": "select id, full_name from users where id = 3"}),
    ("mcp__http__request", "404 Not Found", {"method": "GET", "url": "https://x.io/v1/users"},
     {"method": "POST", "url": "https://x.io/users", "body": {"name": "Ada"}}),
    # looked at once
    (SQL, NO_NME, {"sql": "select nme from users"}, {"sql": "delete from users where id = 3"}),
    (SQL, NO_NME, {"sql": "select nme, age from users"}, {"sql": "select age from users"}),
    ("mcp__sqlite__read_query", "no such table: users", {"query": "select * from users"}, {"query": "select * from sqlite_master"}),
    ("mcp__sqlite__describe_table", "no such table: users", {"table": "users"}, {"table": "orders"}),
    ("mcp__jira__create_issue", "project is required", {"project": "SHOP", "summary": "Cart loses items"}, {"project": "SHOP", "summary": "Prices without tax"}),
    ("mcp__github__add_comment", "issue is locked", {"repo": "a/b", "issue_number": 12, "body": "I will look at it."}, {"repo": "a/b", "issue_number": 12, "body": "Closed by the last release."}),
    ("mcp__github__merge_pull_request", "Pull Request is not mergeable", {"owner": "a", "repo": "b", "pull_number": 7}, {"owner": "a", "repo": "b", "pull_number": 8}),
    ("mcp__discord__send", "Missing Access", {"channel": "ops", "content": "backup is over"}, {"channel": "random", "content": "cake in the kitchen"}),
    ("mcp__slack__add_reaction", "message_not_found", {"channel": "C1", "timestamp": "171.1", "name": "eyes"}, {"channel": "C1", "timestamp": "188.2", "name": "tada"}),
    ("mcp__browser__fill", "No element matches selector #email", {"selector": "#email", "value": "a@x.io"}, {"selector": "#city", "value": "Oslo"}),
    ("mcp__browser__click", "Timeout 30000ms exceeded", {"selector": "text=Sign in"}, {"selector": "text=Imprint"}),
    ("Write", "EACCES: permission denied, open '/etc/app.conf'", {"file_path": "/etc/app.conf", "content": "port = 80"}, {"file_path": "/p/notes.md", "content": "# Notes"}),
    ("mcp__http__get", "403 Forbidden", {"url": "https://x.io/a/index.html"}, {"url": "https://y.io/a/index.html"}),
    ("mcp__calendar__create_event", "end must be after start", {"title": "Stand-up", "start": "2026-01-05T10:00", "end": "2026-01-05T09:15"},
     {"title": "Retrospective", "start": "2026-01-08T14:00", "end": "2026-01-08T15:00"}),
]  # fmt: skip
