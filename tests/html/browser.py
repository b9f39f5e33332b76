"""A headless Chromium, driven over its DevTools pipe with nothing but the standard library."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The browser's path; None where there is none. PERFGATE_CHROMIUM names another."""
    return os.environ.get("PERFGATE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page of one browser; `said` collects what the console, the page and the network said."""

    def __init__(self, program, timeout_s=60):
        self.deadline = time.monotonic() + timeout_s
        self.number, self.said, self.requests, self.buffer = 0, [], [], b""
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                 "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                 f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe"]

        def to_three_and_four():  # where the browser looks for its pipe
            reads, writes = os.dup(to_browser), os.dup(from_browser)
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self.process = subprocess.Popen([program, *flags], preexec_fn=to_three_and_four,
                                        close_fds=False, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.input)
        os.close(self.output)
        self.profile.cleanup()

    def receive(self):
        while b"\0" not in self.buffer:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([self.input], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.input, 1 << 20)
            if not piece:
                raise EOFError("the browser has ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, values = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.said.append(f"console.{values['type']}: {values['args']}")
        elif method == "Runtime.exceptionThrown":
            self.said.append(f"exception: {values['exceptionDetails'].get('text')}")
        elif method == "Log.entryAdded":
            self.said.append(f"{values['entry']['level']}: {values['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        return method

    def call(self, method, **values):
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def open(self, path):
        self.call("Page.navigate", url=path.resolve().as_uri())
        while self.note(self.receive()) != "Page.loadEventFired":
            pass

    def evaluate(self, expression):
        """The value of an expression of the page; it need not be allowed by the page's policy."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code)

    def look(self, scheme="light", width=1300, height=1600):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))
