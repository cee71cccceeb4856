"""The server of the app: `streamlit run app.py`."""

from __future__ import annotations

import contextlib
import logging

import streamlit as st
from starlette.middleware import Middleware

from pages.parts.app.bounded_uploads import BoundedUploads, forgetting
from pages.parts.app.first_paint import FirstPaint
from ranking.core.errors import HomeError
from ranking.workspace.home import home_folder, network_warning

app = st.App(
    "laboratory.py", middleware=[Middleware(BoundedUploads), Middleware(FirstPaint)], lifespan=forgetting
)

with contextlib.suppress(HomeError):  # pages report errors of the data folder
    if warning := network_warning(home_folder()):
        logging.getLogger(__name__).warning(warning)
