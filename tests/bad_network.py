"""A bad network between a client and a server: some answers are lost, others come late."""

import asyncio
import threading
import time
from contextlib import contextmanager


@contextmanager
def proxy(port, *, drop=5, delay=3, seconds=0.05):
    """A port that leads to another one.

    Args:
        port: The other one; a function, as it may change.
        drop: Of so many answers one is lost, with its connection: the server has done its work.
        delay: Of so many answers one comes late.
        seconds: How late.
    """
    counts = {"answers": 0, "lost": 0, "late": 0}
    ready, found = threading.Event(), []

    async def spoiled():
        """Whether an answer that begins is to be lost; it may come late."""
        counts["answers"] += 1
        if counts["answers"] % drop == 0:
            counts["lost"] += 1
            return True
        if counts["answers"] % delay == 0:
            counts["late"] += 1
            await asyncio.sleep(seconds)
        return False

    async def pass_on(reader, writer, talk, answers):
        try:
            while data := await reader.read(1 << 16):
                begins, talk["asked"] = answers and talk["asked"], not answers
                if begins and await spoiled():
                    break
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def connected(reader, writer):
        try:
            there, to = await asyncio.open_connection("127.0.0.1", port())
        except OSError:  # nobody is there now
            writer.close()
            return
        talk = {"asked": False}  # an answer may come in pieces
        both = [
            asyncio.create_task(pass_on(reader, to, talk, False)),
            asyncio.create_task(pass_on(there, writer, talk, True)),
        ]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for end in (writer, to):
            end.close()
        await asyncio.gather(*both, return_exceptions=True)

    async def serve(stop):
        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        found.append(server.sockets[0].getsockname()[1])
        ready.set()
        await stop.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(serve(stop)))
    thread.start()
    assert ready.wait(10)
    try:
        yield found[0], counts
    finally:
        time.sleep(0.05)
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()
