"""A browser tab without a browser: it speaks to a Streamlit server over its websocket as a page does.

It keeps the received elements, reruns the fragments that request it, and times how long a server takes from an action
to the end of the run that follows. It paints nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import requests
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

# seconds for an answer
LONGEST = 60.0


class Tab:
    """A tab of the app at `url`; `async with` opens and closes it."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._socket_url, self._origin = f"ws://{parts.netloc}/_stcore/stream", url
        self.page, self.query = "", dict[str, str]()
        self._elements: dict[tuple[int, ...], tuple[Any, str]] = {}
        self._script, self._ended, self._awaited = "", asyncio.Event(), ForwardMsg.FINISHED_SUCCESSFULLY
        self._every: dict[str, asyncio.Task[None]] = {}
        self.exceptions: list[str] = []

    async def __aenter__(self) -> Tab:
        self._socket = await websockets.connect(
            self._socket_url, subprotocols=["streamlit"], max_size=None, origin=self._origin
        )
        self._listener = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in (*self._every.values(), self._listener):
            task.cancel()
        await self._socket.close()

    # ------------------------------------------------------------------------------ actions

    async def open(self, page: str, **query: str) -> float:
        """Go to a page; return the seconds until its run has ended."""
        # The workspace in the URL is kept.
        workspace = {"workspace": self.query["workspace"]} if "workspace" in self.query else {}
        self.page, self.query, self._script = page, {**workspace, **query}, ""
        self._stop_repeating()
        self._elements.clear()
        return await self._ask()

    async def rerun(self, **query: str) -> float:
        """Open the same page with other URL parameters, as the Back button or a link does."""
        self.query |= query
        return await self._ask()

    async def press(self, key: str) -> float:
        """Press the button with that key, which may be a regular expression."""
        element, fragment = self._find(key)
        return await self._ask({"id": element.button.id, "trigger_value": True}, fragment)

    async def type(self, key: str, text: str) -> float:
        """Enter a text into the box with that key."""
        element, fragment = self._find(key)
        return await self._ask({"id": element.text_input.id, "string_value": text}, fragment)

    async def drop(self, key: str, name: str, data: bytes) -> float:
        """Upload a file with the uploader of that key: it is sent, then the page runs."""
        element, fragment = self._find(key)
        message, self._places = BackMsg(), asyncio.get_running_loop().create_future()
        message.file_urls_request.request_id = name
        message.file_urls_request.file_names.append(name)
        await self._socket.send(message.SerializeToString())
        urls = await asyncio.wait_for(self._places, LONGEST)
        await asyncio.to_thread(upload, self._origin, urls.upload_url, name, data)
        value: dict[str, Any] = {"id": element.file_uploader.id}
        file = {"file_id": urls.file_id, "name": name, "size": len(data), "file_urls": urls}
        value["file_uploader_state_value"] = {"uploaded_file_info": [file]}
        return await self._ask(value, fragment)

    async def send(self, key: str, state: dict[str, Any]) -> float:
        """Send a state from the component with that key."""
        element, fragment = self._find(key)
        value = {"id": element.bidi_component.id, "json_value": json.dumps(state)}
        return await self._ask(value, fragment)

    def shown(self, key: str) -> Any:
        """Return the data that the component with that key received."""
        return json.loads(self._find(key)[0].bidi_component.json)

    def _find(self, key: str) -> tuple[Any, str]:
        for element, fragment in self._elements.values():
            if re.search(f"{key}$", _id_of(element)):
                return element, fragment
        raise LookupError(f"nothing on the page {self.page or 'start'} has the key {key!r}")

    # ------------------------------------------------------------------------------------- the protocol

    async def _ask(self, value: dict[str, Any] | None = None, fragment: str = "") -> float:
        begun = time.perf_counter()
        self._ended.clear()
        self._awaited = (
            ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY if fragment else ForwardMsg.FINISHED_SUCCESSFULLY
        )
        await self._rerun(value, fragment)
        ended = asyncio.create_task(self._ended.wait())
        done, _ = await asyncio.wait(
            {ended, self._listener}, timeout=LONGEST, return_when=asyncio.FIRST_COMPLETED
        )
        if ended not in done:
            ended.cancel()
            if self._listener in done:
                self._listener.result()
            raise TimeoutError(f"the page {self.page or 'start'} did not appear within {LONGEST:.0f} s")
        return time.perf_counter() - begun

    async def _rerun(
        self, value: dict[str, Any] | None = None, fragment: str = "", again: bool = False
    ) -> None:
        message = BackMsg()
        state = message.rerun_script
        state.query_string = urlencode(self.query)
        state.page_script_hash, state.page_name = self._script, "" if self._script else self.page
        state.fragment_id, state.is_auto_rerun = fragment, again
        state.context_info.url = f"{self._origin}/{self.page}"
        if value is not None:
            state.widget_states.widgets.add(**value)
        await self._socket.send(message.SerializeToString())

    async def _listen(self) -> None:
        async for data in self._socket:
            message = ForwardMsg()
            message.ParseFromString(data)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                if not message.metadata.run.fragment_ids:
                    self._stop_repeating()
            elif kind == "navigation":
                self._script = message.navigation.page_script_hash
            elif kind == "page_info_changed":
                self.query = _query(message.page_info_changed.query_string)
            elif kind == "delta":
                self._record(message)
            elif kind == "file_urls_response":
                self._places.set_result(message.file_urls_response.file_urls[0])
            elif kind == "auto_rerun":
                self._repeat(message.auto_rerun.fragment_id, message.auto_rerun.interval)
            elif kind == "script_finished" and message.script_finished == self._awaited:
                self._ended.set()

    def _record(self, message: Any) -> None:
        delta = message.delta
        if delta.WhichOneof("type") != "new_element":
            return
        path = tuple(message.metadata.delta_path)
        self._elements[path] = (delta.new_element, delta.fragment_id)
        if delta.new_element.WhichOneof("type") == "exception":
            self.exceptions.append(f"{self.page}: {delta.new_element.exception.message}")

    def _repeat(self, fragment: str, interval: float) -> None:
        if fragment not in self._every:
            self._every[fragment] = asyncio.create_task(self._again(fragment, interval))

    async def _again(self, fragment: str, interval: float) -> None:
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                await asyncio.sleep(interval)
                await self._rerun(fragment=fragment, again=True)

    def _stop_repeating(self) -> None:
        for task in self._every.values():
            task.cancel()
        self._every.clear()


def upload(origin: str, path: str, name: str, data: bytes) -> None:
    """Upload a file from the server to the URL."""
    # With the cookie that shows that it comes from its own page.
    with requests.Session() as session:
        session.get(f"{origin}/_stcore/health", timeout=LONGEST)
        token = next((cookie.value for cookie in session.cookies if "xsrf" in cookie.name), None) or ""
        answer = session.put(
            urljoin(origin, path),
            files={"file": (name, data)},
            headers={"X-Xsrftoken": token},
            timeout=LONGEST,
        )
        answer.raise_for_status()


def _id_of(element: Any) -> str:
    kind = element.WhichOneof("type")
    return str(getattr(getattr(element, kind), "id", "")) if kind else ""


def _query(text: str) -> dict[str, str]:
    return dict(parse_qsl(text.lstrip("?")))
