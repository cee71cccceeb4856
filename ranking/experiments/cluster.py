"""Connections to the workers of a Dask cluster, with errors that name the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ranking.core.errors import InputError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

CONNECT_SECONDS = 10.0  # time limit for a scheduler to answer, and for its first worker
START_SECONDS = 60.0  # time limit for all workers of this machine to start
CONTENT = 4  # raised whenever the format of what is sent to workers changes
LOOPBACK = "127.0.0.1"
SCHEMES = (
    "tcp",
    "tls",
    "ws",
    "wss",
)  # schemes that reach another process; Dask waits forever for an address in this process
STARTED = "`dask scheduler --host localhost --no-dashboard` and `dask worker ADDRESS`"


def content_here() -> int:
    """Return the version of `ranking` on a worker. Runs on the worker, so it fails if the package is missing there."""
    return CONTENT


@contextmanager
def local_cluster(workers: int, processes: bool = True) -> Iterator[LocalCluster]:
    """Start a cluster on this machine that no other machine can reach, with workers of one thread each; it ends at
    exit.

    processes: whether each worker is a process, or a thread of this process. There is no dashboard, and Dask's servers
    listen to this machine only, on free ports. Dask's profiler, which only a dashboard shows, is off, because it
    interrupts training a hundred times a second and takes a fifth of its time.
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
    """Connect to the scheduler at `address`, such as "tcp://localhost:8786"; the client is closed at exit.

    ValueError if the extra packages are missing, no scheduler answers, there is no worker, or a worker has another
    version of `ranking`.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            "cluster",
            "the packages dask and distributed",
            str(error),
            "install them with `pip install 'ranking-laboratory[cluster]'`, or omit the scheduler",
        ) from error
    scheme, apart, _ = address.partition("://")
    if apart and scheme not in SCHEMES:
        raise InputError(
            "scheduler",
            f"an address that begins with one of {', '.join(SCHEMES)}",
            repr(address),
            "use for example tcp://localhost:8786, or omit the scheduler",
        )
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            "scheduler",
            f"a Dask scheduler at {address!r}",
            str(error),
            f"start one with {STARTED}, or omit the scheduler",
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
