"""What the long tests share with those of the pages."""

from __future__ import annotations

from browsing import browser, server, visit  # noqa: F401 (fixtures)
from homes import filled, furnished, homes, label_home, laboratory, order_home  # noqa: F401 (fixtures)
