"""A server on the loopback that answers as GitHub documents its REST interface: comments of an
issue with paging, authors, minimised comments, lists of pull requests, the viewer of GraphQL, and
whatever fault a test asks for."""

import http.server
import json
import re
import threading
import urllib.parse

MOST_CHARACTERS = 65536
COMMENTS = re.compile(r"/repos/(?P<repo>[^/]+/[^/]+)/issues/(?P<number>\d+)/comments")
COMMENT = re.compile(r"/repos/(?P<repo>[^/]+/[^/]+)/issues/comments/(?P<id>\d+)")
PULLS = re.compile(r"/repos/(?P<repo>[^/]+/[^/]+)/pulls")


class Seen:
    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body


class GitHub:
    """Used as a context manager. `faults` are answers that come first, in order: each a tuple
    (method or None, status, headers, body)."""

    def __init__(self, root=""):
        self.root = root                     # "/api/v3" of a GitHub Enterprise Server
        self.tokens = {"good": "github-actions[bot]", "person": "octocat"}
        self.repositories = {"octo/model"}
        self.comments = []                   # {id, number, user, body, minimized}
        self.pulls = []                      # {number, head (owner:branch), sha}
        self.faults, self.seen = [], []
        self.after_create = None             # called once, with the lock held
        self.race = None                     # a barrier where lists of comments wait for each other
        self.next_id = 100
        self.lock = threading.RLock()

    def __enter__(self):
        github = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                length = int(self.headers.get("Content-Length", 0))
                github.answer(self, self.rfile.read(length).decode())

            do_GET = do_POST = do_PATCH = do_DELETE = handle_any

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}{self.root}"
        threading.Thread(target=self.server.serve_forever, args=[0.01], daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def calls(self):
        """What the server saw: "GET /repos/...", without the query."""
        return [f"{seen.method} {seen.path.split('?')[0]}" for seen in self.seen]

    def written(self):
        return [call for call in self.calls()
                if not call.startswith("GET") and not call.endswith("/graphql")]

    def add_comment(self, body, user="github-actions[bot]", number=7, minimized=False):
        with self.lock:
            self.next_id += 1
            self.comments.append({"id": self.next_id, "number": number, "user": user,
                                  "body": body, "minimized": minimized})
            return self.next_id

    def answer(self, handler, body):
        seen = Seen(handler.command, handler.path, dict(handler.headers), body)
        with self.lock:
            self.seen.append(seen)
            fault = next((f for f in self.faults if f[0] in (None, seen.method)), None)
            if fault:
                self.faults.remove(fault)
        if fault:
            return self.send(handler, *fault[1:])
        with self.lock:
            answer = self.route(seen)
        if self.race and seen.method == "GET" and COMMENTS.search(seen.path):
            self.race.wait(timeout=60)  # neither job may write before both have read
        return self.send(handler, *answer)

    def send(self, handler, status, headers, body):
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def route(self, seen):
        login = self.tokens.get(seen.headers.get("Authorization", "").removeprefix("Bearer "))
        if "User-Agent" not in seen.headers:
            return 403, {}, {"message": "Request forbidden by administrative rules."}
        if login is None:
            return 401, {}, {"message": "Bad credentials"}
        url = urllib.parse.urlsplit(seen.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        graphql = self.root.removesuffix("/v3") + "/graphql"
        if url.path == graphql and seen.method == "POST":
            return 200, {}, {"data": {"viewer": {"login": login}}}
        path = url.path.removeprefix(self.root) if url.path.startswith(self.root) else "/outside"
        for pattern, method in ((COMMENTS, self.on_comments), (COMMENT, self.on_comment),
                                (PULLS, self.on_pulls)):
            match = pattern.fullmatch(path)
            if match and match["repo"] in self.repositories:
                return method(seen, match, query, login)
        return 404, {}, {"message": "Not Found"}

    def on_comments(self, seen, match, query, login):
        number = int(match["number"])
        if seen.method == "GET":
            own = [c for c in self.comments if c["number"] == number]
            return self.page(seen, query, [self.shown(c) for c in own])
        text = json.loads(seen.body)["body"]
        if len(text) > MOST_CHARACTERS:
            return 422, {}, {"message": "Validation Failed", "errors": [{
                "message": "body is too long (maximum is 65536 characters)"}]}
        created = self.add_comment(text, login, number)
        answer = self.shown(self.find(created))
        if self.after_create:
            hook, self.after_create = self.after_create, None
            hook()
        return 201, {}, answer

    def on_comment(self, seen, match, _, login):
        comment = self.find(int(match["id"]))
        if comment is None:
            return 404, {}, {"message": "Not Found"}
        if seen.method == "DELETE":
            self.comments.remove(comment)
            return 204, {}, None
        comment["body"] = json.loads(seen.body)["body"]
        return 200, {}, self.shown(comment)

    def on_pulls(self, seen, match, query, login):
        fitting = [p for p in self.pulls if p["head"] == query["head"]]
        return self.page(seen, query, [{"number": p["number"], "state": "open",
                                        "head": {"sha": p["sha"]}} for p in fitting])

    def page(self, seen, query, items):
        size, page = min(int(query.get("per_page", 30)), 100), int(query.get("page", 1))
        last = max(1, -(-len(items) // size))
        base = f"http://{seen.headers['Host']}{seen.path.split('?')[0]}?per_page={size}&page="
        link = [f'<{base}{page - 1}>; rel="prev"'] if page > 1 else []
        if page < last:
            link += [f'<{base}{page + 1}>; rel="next"', f'<{base}{last}>; rel="last"']
        headers = {"Link": ", ".join(link)} if link else {}
        return 200, headers, items[(page - 1) * size:page * size]

    def find(self, comment_id):
        return next((c for c in self.comments if c["id"] == comment_id), None)

    def shown(self, comment):
        return {"id": comment["id"], "body": comment["body"], "user": {"login": comment["user"]},
                "html_url": f"https://github.test/octo/model/pull/{comment['number']}"
                            f"#issuecomment-{comment['id']}"}
