"""Labelling simulation: the precision after each answer, for each model and question strategy."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import address, figures_file, frame, home, keys
from pages.parts.app.file_names import file_name
from pages.parts.app.frame import escaped
from pages.parts.charts import plots, simulation_charts
from pages.parts.labelling import label_models, label_styles
from pages.parts.studies import simulation_form, simulation_table
from pages.parts.studies.study_page import offer_files
from pages.parts.training import jobs_panel, run_actions
from ranking.metrics.fold_curves import FoldCurve, curves_of
from ranking.reports.prose import signed
from ranking.storage.run import ENDED, Run
from ranking.storage.run_settings import SimulationSettings
from ranking.storage.sets import ImageSetRow

PANELS = {"strategy": "Question strategy", "model": "Model"}


def steps() -> None:
    named = simulation_form.PAGE.named()
    shown, settings = st.container(), st.container(key="settings-simulation")
    with settings:
        left, right = st.columns(2, gap="medium")
    with left:
        row = label_models.choose_set()
    with right:
        listed = home.store().runs.all(set_key=row.key, task=simulation_form.PAGE.task)
        run = simulation_form.PAGE.choose(listed, named)
    with shown:
        run_actions.show_deleted(simulation_form.PAGE.task)
        simulation_form.PAGE.lay_out(
            run,
            lambda: simulation_form.show(row),
            invite,
            lambda run: show_measured(run, row),
            show_remaining_time,
        )


# ---------------------------------------------------------------------------------------------------------
# Results
# ---------------------------------------------------------------------------------------------------------


def invite() -> None:
    st.markdown("#### Measure how much each answer improves the label ranking")
    st.caption(
        "The model asks whether an image shows a label, the ground truth answers, and the model re-ranks all other "
        "labels. The measure is break-even precision (BEP): the fraction of correct labels among the top $k$ for an "
        "image with $k$ labels. The model is given $k$. Press **Start the simulation** below."
    )


def show_remaining_time(run: Run) -> jobs_panel.Live:
    """Return a view of a running simulation that estimates the remaining time from the finished folds."""
    # The page runs again when one more fold is finished, and shows its curves below.

    def show(seen: list[jobs_panel.Event]) -> None:
        if home.store().runs.get(run.id).parts_done != run.parts_done:
            st.rerun()
        if (left := seconds_left(run, seen)) is None:
            st.caption("The remaining time and the first curves appear after the first fold.")
        else:
            st.caption(f"About {jobs_panel.in_minutes(left)} left, estimated from the finished folds.")

    return show


def seconds_left(run: Run, seen: list[jobs_panel.Event]) -> float | None:
    """Estimate the remaining seconds by the mean time of a fold; None before the first fold is finished."""
    # Of the folds that remain, the running one counts in part.
    took = [float(seconds) for seconds in run.result.get("seconds") or []]
    progress = [event for event in seen if event["event"] == "progress"]
    if not took or not progress:
        return None
    return max(0.0, progress[-1]["total"] - progress[-1]["done"]) * sum(took) / len(took)


def show_measured(run: Run, row: ImageSetRow) -> None:
    """Show the results of the finished folds; for a simulation without any, only its error."""
    if run.state != "finished" and not run.parts_done:
        return
    with home.missing_as_error():
        curves = curves_of(run.result.get("curves") or [])
    if run.state != "finished":
        st.info(
            f"**{folds_in_words(run)}** Means and intervals will change when all folds have finished.",
            icon=":material/info:",
        )
    with frame.picture("panels"):
        st.markdown(f"## {headline(curves)}")
        figures = show_panels(curves)
    figures += show_differences(curves)
    st.markdown("### In the form of the paper's Table 1")
    for title, table in simulation_table.as_markdown(curves).items():
        st.markdown(f"**{escaped(title)}**\n\n{table}")
    folds = len(curves[0].folds)
    over = "one fold" if folds == 1 else f"the mean of {folds} folds, ± one standard deviation over folds"
    st.caption(
        f"BEP in percent, {over}; the best value for each number of questions is bold. Auto: no questions asked; Q5: "
        "after 5 questions."
    )
    offer_files(
        "All folds as CSV",
        lambda: simulation_table.csv_text(curves),
        f"Labelling simulation on {row.title}",
        figures,
        lambda ending: file_name("simulation", row.title, run.id, ending),
    )


def best_of(curves: list[FoldCurve]) -> FoldCurve:
    return max(curves, key=lambda curve: float(curve.mean[-1]))


def headline(curves: list[FoldCurve]) -> str:
    """Say how much all answers change the precision of the curve that ends highest, as Markdown."""
    best = best_of(curves)
    before, after = 100 * best.mean[[0, -1]]
    return (
        f"{escaped(best.name)}, {escaped(best.strategy)}: {before:.1f}% → {after:.1f}% with {len(best.mean) - 1} "
        "answers per image"
    )


def notice(curves: list[FoldCurve]) -> str:
    """Say what the answers to each strategy's questions add to the model whose curve ends highest."""
    name = best_of(curves).name
    gains = ", ".join(
        f"“{curve.strategy}” {signed(100 * float(curve.mean[-1] - curve.mean[0]), 1)} points"
        for curve in curves
        if curve.name == name
    )
    return f"what all answers add to {name}, by question strategy: {gains}"


def folds_in_words(run: Run) -> str:
    """Return the progress of an unfinished simulation, such as “3 of 5 folds, cancelled.”"""
    how = run.state if run.state in ENDED else "so far"
    return f"{run.parts_done} of {SimulationSettings.from_json(run.settings).folds} folds, {how}."


def show_panels(curves: list[FoldCurve]) -> list[figures_file.Shown]:
    """Show a panel per strategy with a line per model, or a panel per model with a line per strategy."""
    # All panels have one scale.
    bound = address.bound(keys.PANELS, address.one_of(list(PANELS)), "strategy")
    by = st.segmented_control(
        "One panel per", list(PANELS), format_func=PANELS.__getitem__, required=True, **bound
    )
    ways, models = simulation_table.strategies_of(curves), simulation_table.names_of(curves)
    reach, shown = simulation_charts.reach_of(curves), []
    titles, lines = (ways, models) if by == "strategy" else (models, ways)
    of_models = label_styles.of_models({curve.name: curve.method for curve in curves})
    styles = of_models if by == "strategy" else label_styles.of_ways(ways)
    for column, title in zip(st.columns(len(titles)), titles, strict=True):
        chosen = [curve for curve in curves if title == (curve.strategy if by == "strategy" else curve.name)]
        chosen.sort(key=lambda curve: lines.index(curve.name if by == "strategy" else curve.strategy))
        names = [curve.name if by == "strategy" else curve.strategy for curve in chosen]
        figure = simulation_charts.panel(chosen, names, styles, reach)
        text = "; ".join(
            f"{name} {100 * curve.mean[0]:.1f}% to {100 * curve.mean[-1]:.1f}%"
            for curve, name in zip(chosen, names, strict=True)
        )
        with column:
            st.markdown(f"### {escaped(title)}")
            key = keys.widget(f"panel {by} {title}")
            plots.show(figure, key, f"{title}: {text}", f"simulation-{title}", height=322, top=8)
        shown.append((figure, f"{title}: {text}"))
    bands = "Bands: ± one standard deviation over folds. " if len(curves[0].folds) > 1 else ""
    st.caption(f"{bands}**Notice** {escaped(notice(curves))}.")
    return shown


def show_differences(curves: list[FoldCurve]) -> list[figures_file.Shown]:
    """Show each model's precision minus the independent model's on the same folds."""
    shown = []
    differences = simulation_table.compared(curves)
    for name in dict.fromkeys(name for name, _, _ in differences):
        own = [(strategy, apart) for model, strategy, apart in differences if model == name]
        st.markdown(f"### {escaped(name)} minus {escaped(simulation_table.BASELINE)}")
        figure = simulation_charts.differences(
            own, label_styles.of_ways(simulation_table.strategies_of(curves))
        )
        text = "; ".join(
            f"{strategy} {100 * apart.mean[0]:+.1f} points before any question, {100 * apart.mean[-1]:+.1f} at last"
            for strategy, apart in own
        )
        plots.show(figure, keys.widget(f"differences of {name}"), text, "differences", height=320, top=8)
        if len(curves[0].folds) > 1:
            sure = sum(int((apart.low > 0).sum()) for _, apart in own)
            everywhere = sum(len(apart.mean) for _, apart in own)
            st.caption(
                "Paired differences: both models use the same folds. Bars are 95% confidence intervals over folds by "
                "Student's t; they are approximate because folds share training images. "
                f"{sure} of {everywhere} bars lie entirely above zero."
            )
        else:
            st.caption("One fold has no intervals: they appear after the second fold.")
        shown.append((figure, f"{name} minus {simulation_table.BASELINE}: {text}"))
    return shown


frame.show_page("labelling_simulation", "Models ask, the ground truth answers.", steps)
