"""The laboratory: names every page, nothing else. `app.py` serves it."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import keys, menu

st.set_page_config(page_title="Ranking laboratory", page_icon="🏅", layout="wide")
st.session_state[keys.BOOTED] = True
st.navigation(menu.all_pages(), position="hidden").run()
