"""The demo over loopback HTTP and in a real browser: it answers, refuses other sites, and ends when it is asked to."""

import http.client
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore, Event, Thread
from time import sleep

import pytest

from gapstack.cli.ask import LONGEST, _refuse_long
from gapstack.errors import DataError
from gapstack.members.pairs_resolver import PairsResolver
from gapstack.running_text.answer import Answers
from gapstack.running_text.demo import DemoServer
from gapstack.runs.predictors import load
from tests.commands import gap

KATE = "Kate told Mary that she should leave."
HOSTILE = "<img src=x onerror='window.owned = 1'> Kate told \U0001f600 Mary that she should leave.</script>"


@pytest.fixture(scope="module")
def server(pairs_model):
    resolver = PairsResolver(load(pairs_model))

    def ask(text, goes_on):
        _refuse_long(text)
        return resolver.ask_while(text, goes_on)

    with DemoServer(ask, "a tiny model", 0) as running:
        thread = Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def request(server, method="POST", path="/ask", body=None, **headers):
    connection = http.client.HTTPConnection(*server.server_address, timeout=60)
    names = {"Host": f"127.0.0.1:{server.server_port}", **headers}
    connection.request(method, path, body=body, headers=names)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def test_the_page_and_answers_are_served_to_this_machine(server):
    assert server.server_address[0] == "127.0.0.1"
    response, content = request(server, "GET", "/")
    assert response.status == 200
    assert response.headers["X-Frame-Options"] == "DENY"
    assert b"default-src 'none'" in content
    assert b"connect-src 'self'" in content
    for host in ("127.0.0.1", "localhost"):
        own = f"{host}:{server.server_port}"
        response, content = request(server, body=KATE.encode(), Host=own, Origin=f"http://{own}")
        assert response.status == 200
        assert json.loads(content) == server.ask(KATE, lambda: True).to_dict()


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost"},
    ],
)
def test_requests_of_other_sites_are_refused(server, headers):
    for method, path in (("POST", "/ask"), ("GET", "/")):
        body = b"" if method == "GET" else KATE.encode()
        response, content = request(server, method, path, body, **headers)
        assert response.status == 403
        assert json.loads(content) == {"problem": "requests from other sites are refused"}


def test_bad_texts_get_the_errors_of_gap_ask(server):
    response, content = request(server, body=b"a" * (LONGEST + 1))
    with pytest.raises(DataError) as refusal:
        _refuse_long("a" * (LONGEST + 1))
    assert (response.status, json.loads(content)) == (400, {"problem": str(refusal.value)})
    response, content = request(server, body=b"\xff")
    assert response.status == 400
    assert "is not UTF-8" in json.loads(content)["problem"]


def test_a_hundred_requests_at_once_get_a_hundred_answers(server):
    with ThreadPoolExecutor(100) as threads:
        found = list(threads.map(lambda _: request(server, body=KATE.encode())[0].status, range(100)))
    assert found == [200] * 100


def test_a_closed_request_is_not_computed(server, monkeypatch):
    asked, release = [], Event()

    def ask(text, goes_on):
        asked.append(text)
        release.wait(60)
        return Answers(text, (), ()) if goes_on() else None

    monkeypatch.setattr(server, "ask", ask)
    host = f"127.0.0.1:{server.server_port}"
    head = f"POST /ask HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\n\r\n"
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(request, server, body=b"a")
        while not asked:
            sleep(0.01)
        with socket.create_connection(server.server_address, timeout=60) as connection:
            connection.sendall(f"{head}b".encode())
            sleep(0.5)
        sleep(1)  # the closed request is found to be so while it waits
        release.set()
        assert first.result()[0].status == 200
    assert request(server, body=b"c")[0].status == 200
    assert asked == ["a", "c"]


def test_too_many_waiting_texts_are_refused(server, monkeypatch):
    monkeypatch.setattr(server, "waiting", BoundedSemaphore(1))
    server.waiting.acquire()
    assert request(server, body=KATE.encode())[0].status == 503


def test_what_is_no_request_for_an_answer_is_refused(server):
    assert request(server, "GET", "/etc/passwd")[0].status == 404
    assert request(server, "POST", "/", KATE.encode())[0].status == 404
    assert request(server, body=None, **{"Content-Length": str(1 << 40)})[0].status == 413
    assert request(server, "PUT")[0].status == 501


@pytest.mark.parametrize(
    "headers",
    [
        "Content-Length: -1",
        f"Content-Length: {'9' * 5000}",
        "Content-Length: 10",  # the body has 3 bytes
        "Content-Length: 3\r\nHost: evil.example",
    ],
)
def test_malformed_requests_get_status_400(server, headers):
    with socket.create_connection(server.server_address, timeout=60) as connection:
        host = f"127.0.0.1:{server.server_port}"
        connection.sendall(f"POST /ask HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n\r\nabc".encode())
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1024).split()[1] == b"400"


def test_a_port_that_is_taken_is_one_line(server):
    with pytest.raises(DataError, match=rf"port {server.server_port} is not available .*--port"):
        DemoServer(server.ask, "", server.server_port)


def test_answers_change_as_the_text_changes(server, browser):
    with browser(server.address, offline=False) as tab:
        tab.locator(".card").first.wait_for()
        tab.fill("#typed", "")
        tab.locator(".card").first.wait_for(state="detached")
        tab.locator("#typed").press_sequentially("Ann met Beth and Carla before she left, and her bus came.")
        tab.locator(".card").nth(1).wait_for()
        assert {url for url in tab.asked if not url.startswith(server.address)} <= {"data:,"}
        shares = tab.locator(".card").first.locator("dd:nth-of-type(even)").all_inner_texts()
        assert sum(float(share.rstrip("%")) for share in shares) == pytest.approx(100, abs=0.3)
        marks = tab.locator(".resolved mark")
        assert [marks.nth(k).evaluate("m => m.firstChild.data") for k in range(marks.count())] == [
            "Ann", "Beth", "Carla", "she", "her"
        ]  # fmt: skip
        colours = {marks.nth(k).evaluate("m => getComputedStyle(m).backgroundColor") for k in range(3)}
        assert len(colours) == 3, "each person has a colour"
        assert json.loads(tab.locator("#record").text_content())["answers"]
        assert tab.wrong == []


def test_the_answer_is_on_the_first_screen_of_a_telephone(server, browser):
    with browser(server.address, offline=False, viewport={"width": 390, "height": 844}) as tab:
        tab.locator(".card").first.wait_for()
        assert tab.locator(".card h3").first.evaluate("one => one.getBoundingClientRect().bottom") < 844
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_address_has_the_text(server, browser):
    permissions = ["clipboard-read", "clipboard-write"]
    with browser(server.address, offline=False, permissions=permissions) as tab:
        tab.fill("#typed", HOSTILE)
        tab.locator(".resolved", has_text="onerror").wait_for()
        tab.get_by_role("button", name="Copy link").click()
        tab.get_by_role("button", name="Copied").wait_for()
        address = tab.evaluate("navigator.clipboard.readText()")
    with browser(address, offline=False) as tab:
        tab.locator(".resolved", has_text="onerror").wait_for()
        assert tab.input_value("#typed") == HOSTILE
        assert tab.evaluate("window.owned") is None


def test_a_card_and_its_pronoun_are_highlighted_together(server, browser):
    with browser(server.address, offline=False) as tab:
        tab.fill("#typed", "Ann met Beth. She left, and her bus came.")
        tab.locator(".resolved", has_text="Beth").wait_for()

        def active():
            return tab.locator(".active").evaluate_all("all => all.map(one => one.textContent.slice(0, 3))")

        tab.locator(".card").nth(1).hover()
        assert active() == ["her", "her"]
        tab.locator(".resolved mark", has_text="She").focus()
        assert active() == ["She", "She"]
        tab.locator("#typed").focus()
        assert active() == []


def test_hostile_text_is_shown_and_never_run(server, browser):
    with browser(server.address, offline=False) as tab:
        tab.fill("#typed", HOSTILE)
        tab.locator(".resolved", has_text="onerror").wait_for()
        assert tab.evaluate("window.owned") is None
        marks = tab.locator(".resolved mark")
        words = [marks.nth(k).evaluate("m => m.firstChild.data") for k in range(marks.count())]
        assert words == ["Kate", "Mary", "she"], "letters outside of the basic plane count once"


def test_a_text_that_is_refused_says_why(server, browser):
    with browser(server.address, offline=False) as tab:
        tab.locator(".card").first.wait_for()
        tab.fill("#typed", "a" * (LONGEST + 1))
        tab.locator("#problem", has_text="expected at most 200,000").wait_for()
        tab.fill("#typed", KATE)
        tab.locator(".card").first.wait_for()
        assert not tab.locator("#problem").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_and_fits_a_phone(server, browser, axe, scheme):
    phone = {"width": 390, "height": 844}
    with browser(server.address, offline=False, bypass_csp=True, color_scheme=scheme, viewport=phone) as tab:
        tab.locator(".card").first.wait_for()
        assert axe(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_paper_answers_and_json_are_complete(server, browser, on_paper):
    with browser(server.address, offline=False) as tab:
        tab.locator(".card").first.wait_for()
        assert on_paper(tab) == []
        assert not tab.locator("#typed").is_visible()
        tab.emulate_media(media="screen")
        tab.locator("#tab-json").click()
        assert on_paper(tab) == []


def test_the_command_prints_its_address_and_ends_with_ctrl_c(pairs_model, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(DemoServer, "serve_forever", interrupted)
    printed = gap("demo", "--port", "0", "--no-browser", "--model", pairs_model)
    assert printed.startswith("http://127.0.0.1:")
