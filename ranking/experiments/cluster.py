"""The workers of a Dask cluster: connected to, or an error that says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ranking.core.errors import InputError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

CONNECT_SECONDS = 10.0  # how long a scheduler may take to answer, and the first worker to be there
START_SECONDS = 60.0  # how long all workers of this machine may take to be there
CONTENT = 4  # goes up whenever what is sent to workers is read in another way
LOOPBACK = "127.0.0.1"
SCHEMES = (
    "tcp",
    "tls",
    "ws",
    "wss",
)  # that reach another process; Dask waits for ever for one of this process alone
STARTED = "`dask scheduler --host localhost --no-dashboard` and `dask worker ADDRESS`"


def content_here() -> int:
    """Return the version of `ranking` on a worker; called there, so it fails where the package is missing."""
    return CONTENT


@contextmanager
def local_cluster(workers: int, processes: bool = True) -> Iterator[LocalCluster]:
    """A cluster on this machine that no other can reach: workers of one thread each, which end with it.

    processes: each in its own, else all in this one. There is no dashboard, and what Dask serves beside it listens to
    this machine alone, at a port that is free. Nor is there Dask's profile of what workers do, which only a dashboard
    shows: it interrupts a training a hundred times a second, and takes a fifth of its time.
    """
    import dask
    from distributed import LocalCluster

    quiet = dask.config.set({"distributed.worker.profile.enabled": False})
    with (
        quiet,
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=processes,
            protocol="tcp",
            host=LOOPBACK,
            dashboard_address=f"{LOOPBACK}:0",
            worker_dashboard_address=f"{LOOPBACK}:0",
            scheduler_kwargs={"dashboard": False},
        ) as running,
    ):
        if workers:
            running.wait_for_workers(workers, timeout=START_SECONDS)
        yield running


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """Connect to the scheduler at `address`, as "tcp://localhost:8786"; the client is closed at the end.

    ValueError without the extra packages, a scheduler that answers, a worker, or the same `ranking` on all workers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            "cluster",
            "the packages dask and distributed",
            str(error),
            "install them with `pip install 'ranking-laboratory[cluster]'`, or leave the scheduler out",
        ) from error
    scheme, apart, _ = address.partition("://")
    if apart and scheme not in SCHEMES:
        raise InputError(
            "scheduler",
            f"an address that begins with one of {', '.join(SCHEMES)}",
            repr(address),
            "write it as tcp://localhost:8786, or leave the scheduler out",
        )
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            "scheduler",
            f"a Dask scheduler at {address!r}",
            str(error),
            f"start one with {STARTED}, or leave the scheduler out",
        ) from error
    with client:
        _check_workers(client, address)
        yield client


def _check_workers(client: Client, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        versions = set(client.run(content_here).values())
    except TimeoutError as error:
        remedy = f"start some with `dask worker {address}`"
        raise InputError("workers", f"at least one at {address!r}", 0, remedy) from error
    except (ImportError, AttributeError) as error:
        raise InputError(
            "workers",
            f"this version of `ranking` at {address!r}",
            f"another version, or none ({error})",
            "install this version there",
        ) from error
    if versions != {CONTENT}:
        raise InputError(
            "workers",
            f"version {CONTENT} at {address!r}",
            sorted(versions),
            "install this version of `ranking` there",
        )
