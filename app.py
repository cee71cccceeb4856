"""The server of the app: `streamlit run app.py`."""

from __future__ import annotations

import streamlit as st
from starlette.middleware import Middleware

from pages.parts.app.first_paint import FirstPaint

app = st.App("laboratory.py", middleware=[Middleware(FirstPaint)])
