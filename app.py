"""The server of the laboratory: `streamlit run app.py`."""

from __future__ import annotations

import streamlit as st
from starlette.middleware import Middleware

from pages.parts.app.bounded_uploads import BoundedUploads, forgetting

app = st.App("laboratory.py", middleware=[Middleware(BoundedUploads)], lifespan=forgetting)
