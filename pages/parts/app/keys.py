"""Every name that the pages keep state under: in the address, in the session, of widgets."""

from __future__ import annotations

# The address: what is worth sharing.
ROOM = "room"  # name of the room that the visitor works in, and the key to it
LECTURE = (
    "lecture"  # "on": larger type and one picture, for a projector; "notes": with all else that the page has
)
SET = "set"  # key of the image set
IMPORT = "import"  # id of the import that is shown
OWN = "own"  # id of the preview of custom features that is shown, or "new"
FEATURES = "features"  # names, joined by commas
PROJECTION = "projection"  # what is made of them: "None", "PCA" or "PCA, whitened"
PROJECTED_TO = "projected_to"  # how many columns of that are kept
QUERY = "query"  # the class that is searched for
METHOD = "method"
GRAPH = "graph"  # which samples lean on which, of a method that uses that
RUN = "run"  # id of the training that is shown
LIKE = "like"  # id of the training that it was changed from
PLAYED = "played"  # id of the training that is played back beside it, or "none"
EVERYWHERE = "everywhere"  # whether trainings on all image sets are listed
SPLIT = "split"  # "test" or "train"
K = "k"  # of precision at k
PAGE = "page"  # of the ranked grid, from 1
FILTER = "filter"  # which samples the ranked grid shows
SCORE_RANGE = (
    "score_range"  # of the samples that it shows: the lowest and the highest score, joined by a comma
)
CORRECTIONS = "corrections"  # whether a new training uses the person's corrections of labels
SHEET = "sheet"  # page of the contact sheet, from 1
SHEET_CLASS = "sheet.class"  # only images that show this class are on the contact sheet
SHEET_SPLIT = "sheet.split"  # only images of this split are
SAMPLE = "sample"  # id of the selected sample: one selection for all pages
VIEW = "view"  # what a tile of the ranked grid shows
COMPARED = "compared"  # ids of the trainings that are compared, joined by commas
TOP = "top"  # how many places of each of them are shown
FOLLOW = "follow"  # whether lines follow the selected sample or all that are shown
PAIR = "pair"  # ids of the two of them that are compared sample by sample, joined by a comma
MOVED = "moved"  # by what samples are said to have moved between the two
EXAMPLE = "example"  # id of the selected sample of an import
STEP = "step"  # of the lesson, from 1
ALL_STEPS = "all_steps"  # whether a lesson shows them all
PLACE = "place"  # of the image that the lesson moves, from 1
NEIGHBOURS_STEP = "neighbours_step"  # of the lesson about neighbours, from 1
PAIRS_STEP = "pairs_step"  # of the lesson about pairs, from 1
GUESS = "guess"  # what its pairs mean to the person
STRENGTH = "strength"  # of neighbours in that lesson, of what was learnt
NEIGHBOURS_VIEW = "neighbours_view"  # labellings of a sample, or the similarity graph
COLOUR = "colour"  # what the colours of the sample graph tell
ORDER = "order"  # of the components of the sample graph
SIZE = "size"  # of the components that the sample graph shows
COMPONENTS = "components"  # page of the sample graph, from 1
LABEL_SET = "label_set"  # key of the image set whose labels are ranked
BASELINE_RUN = "rival_run"  # id of the training that plays along
LABEL_RUN = "label_run"  # id of the training of labels that is shown
CORE = "core"  # the label of the core whose interactions are shown
SIMULATION = "simulation"  # id of the simulation of questions that is shown
MODELS = "models"  # rankers of labels that a simulation compares, joined by commas
STRATEGIES = "strategies"  # ways to ask, joined by commas
QUESTIONS = "questions"  # that an image is asked
FOLDS = "folds"  # that images are dealt into
SEED = "seed"  # by which they are dealt
MIN_IMAGES = "min_images"  # that must show a label
PANELS = "panels"  # what a panel of the curves shows
ORDER_SET = "order_set"  # key of the image set whose samples are put in order
CRITERION = "criterion"  # by which they are
ORDER_RUN = "order_run"  # id of the training of orders that is shown
BESIDE = "beside"  # ids of the trainings of orders that are shown beside it, joined by commas
SEQUENCE = "sequence"  # number of the test sequence, from 1
ORDER_VIEW = "order_view"  # whether methods put it in order, or the person
ORDER_METHOD = "order_method"  # that a new training of orders has
LENGTH = "length"  # of the subsequences whose ranker's search is shown
TREES = "trees"  # that its search grows
ABLATION = "study"  # which figure about MidRank is measured
ABLATION_RUN = "study_run"  # id of the study that is shown
MEASURE = "measure"  # by which its curves are shown
EXPERIMENT_SET = "experiment_set"  # key of the image set on which methods are compared
EXPERIMENT = "experiment"  # id of the experiment that is shown
SCALE = "scale"  # of a new experiment: what its form begins with
QUERIES = "queries"  # classes that an experiment ranks, each by itself, as a list in JSON
COMPARED_METHODS = "contenders"  # methods that it compares, joined by commas
GRID_C, GRID_ETA = "grid.C", "grid.eta"  # values that it chooses among, joined by commas
WIDEN = "widen"  # whether a grid goes on beyond an end where the best lies
CHOSEN_BY = "chosen_by"  # the measure by which it chooses
DIFFERENCE = "difference"  # of which two methods, as "one − other"
GALLERY = "gallery"  # query whose curves and first ranked samples are shown
GALLERY_SPLIT = "gallery_split"  # "test", "fold 1", ...
PLACES = "places"  # how many of the first ranked samples
VISIT = "visit"  # number of the order that the search visited, from 1
IMAGE = "image"  # id of the image whose labels are asked for
STRATEGY = "strategy"  # how the next question is chosen
LABEL_K = "label_k"  # how many labels an image is given
BASELINE = "rival"  # whether, and how, another model is shown beside
TRUTH = "truth"  # whether the true labels are shown
SCORES = "scores"  # whose most violated ranking is looked for: of a model, sampled or typed
TYPED_RELEVANT = "scores.relevant"  # numbers, joined by blanks
TYPED_IRRELEVANT = "scores.irrelevant"
SAMPLED = ("scores.positives", "scores.negatives", "scores.apart", "scores.seed")
LOSS = "loss"  # by which a ranking is violated
TIMES = "scores.times"  # what all scores are multiplied by
ALGORITHM = "algorithm"  # that looks for the most violated ranking
LOOK = "look"  # how many of its steps are done
ASSIGNMENT = "assignment"  # which assignment problem is shown
ASSIGNMENT_AIM = "assignment.aim"  # the prediction, or the most violated ranking
ASSIGNED = "assignment.samples"  # how many samples it has
ASSIGNED_RELEVANT = "assignment.relevant"  # those that are relevant, letters joined by commas
ASSIGNED_K = "assignment.k"  # of its precision at k
ASSIGNMENT_SEED = "assignment.seed"  # of its scores and interactions
SOLVER = "assignment.solver"  # whose ranking is shown
VIOLATED_STEP = "violated_step"  # of the lesson about the most violated ranking, from 1
LABELS_STEP = "labels_step"  # of the lesson about labels, from 1
SCENE = "label_scene"  # of that lesson, a letter
ANSWERED_LABEL = "told_label"  # the label that is answered in it
ANSWER = "told_answer"  # and how
ANSWERED = "questions_answered"  # how many questions are answered in it
TIMING = "timing"  # id of the timing that is shown
TIMED = "timed"  # which table or figure of the paper is shown
SMALL_K = "small_k"  # of precision at k in the lesson, whose ranking is small

# What the address would say of a run's features and of the settings of a run.
_FEATURES = (FEATURES, PROJECTION, PROJECTED_TO)
_PLUGINS = ("method.", "feature.")
_SEQUENCES = (ORDER_RUN, BESIDE, SEQUENCE, LENGTH, TREES, VISIT, ABLATION_RUN)
_SHOWN = (PAGE, SCORE_RANGE, SAMPLE, COMPONENTS)  # of a ranking

# What a change of a name makes meaningless. A run stands for the set and the settings that it was trained with.
DEPENDENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((SCORES, LOSS, TIMES, ALGORITHM, TYPED_RELEVANT, TYPED_IRRELEVANT, *SAMPLED), (LOOK,)),
    **dict.fromkeys((ASSIGNMENT, ASSIGNMENT_AIM), (SOLVER,)),
    ASSIGNED: (ASSIGNED_RELEVANT, ASSIGNED_K),
    IMPORT: (EXAMPLE,),
    SCENE: (ANSWERED_LABEL, ANSWER, ANSWERED),
    ANSWERED_LABEL: (ANSWER,),
    **dict.fromkeys((SHEET_CLASS, SHEET_SPLIT), (SHEET,)),
    **dict.fromkeys((FILTER, SCORE_RANGE), (PAGE,)),
    SET: (SHEET, "sheet.", OWN, QUERY, CORRECTIONS, RUN, COMPARED, PAIR, *_SHOWN),
    RUN: (
        SET,
        SHEET,
        "sheet.",
        QUERY,
        METHOD,
        GRAPH,
        CORRECTIONS,
        *_FEATURES,
        *_PLUGINS,
        *_SHOWN,
        LIKE,
        PLAYED,
        COMPARED,
        PAIR,
        LOOK,
    ),
    COMPARED: (PAIR,),
    ORDER_SET: (CRITERION, *_SEQUENCES),
    CRITERION: _SEQUENCES,
    LABEL_SET: (LABEL_RUN, BASELINE_RUN, CORE, SIMULATION, IMAGE, LABEL_K),
    LABEL_RUN: (LABEL_SET, BASELINE_RUN, CORE, LABEL_K),
    ORDER_RUN: (ORDER_SET, CRITERION, BESIDE, LENGTH, TREES, VISIT),
    ABLATION: (ABLATION_RUN, MEASURE),
    EXPERIMENT_SET: (EXPERIMENT, QUERIES, DIFFERENCE, GALLERY, GALLERY_SPLIT),
    EXPERIMENT: (
        *(
            EXPERIMENT_SET,
            *_FEATURES,
            SCALE,
            QUERIES,
            COMPARED_METHODS,
            "grid.",
            WIDEN,
            FOLDS,
            SEED,
            CHOSEN_BY,
            GRAPH,
        ),
        *(DIFFERENCE, GALLERY, GALLERY_SPLIT),
    ),
    SCALE: (QUERIES, COMPARED_METHODS, "grid.", FOLDS),
    ABLATION_RUN: (*_FEATURES, "study."),
    **dict.fromkeys((SEQUENCE, LENGTH, TREES), (VISIT,)),
    SIMULATION: (
        *(LABEL_SET, *_FEATURES, *_PLUGINS, MODELS, STRATEGIES, QUESTIONS, FOLDS, SEED, MIN_IMAGES),
    ),
    SPLIT: (*_SHOWN, LOOK),
    SAMPLE: (SPLIT, PAGE, SHEET, COMPONENTS),  # where a sample stands follows from which it is
    **dict.fromkeys((ORDER, SIZE), (COMPONENTS,)),
}


def depends(name: str, on: str) -> bool:
    """Whether `name` of the address means nothing after a change of `on`."""
    listed = DEPENDENTS.get(on, ())
    return name in listed or any(name.startswith(prefix) for prefix in listed if prefix.endswith("."))


def setting(owner: str, plugin: str, name: str) -> str:
    """Address name of a setting; `owner` is the kind of plug-in. No two plug-ins' settings can collide."""
    return f"{owner}.{plugin}.{name}"


# The session: what one browser tab remembers.
IMPLIED = "what the training in the address implies"
COMPLAINTS = "complaints about the address"  # messages that no page has shown yet
COMPLAINED = "complaints that were shown"  # (messages, the address that they led to)
BOOTED = "pages are registered"
IN_ROOM = "room that the session is of"
ROOM_FULL = "room was found full"  # whether; until there is space again
EVENTS = "events read so far"  # run id: (byte offset, events)
MENU = "place of the menu"
MENU_ROW = "row of the menu"  # kept free for the end of the page's run by a fragment that will draw it again
REBUILDS = "rebuilds"  # the homes of which this run of the page has offered to rebuild the database
PAGE_RUNS = "page runs"  # whether the page itself runs, and draws its menu at its end
PAGE_SHOWN = "page that is shown"
PAGE_DONE = "page that was last shown to its end"
TOGETHER = "selected together"  # name of the address: ids
GRID_SENT = "selection that a grid was told"
SELECTED_RUNS = "selected trainings"  # (the training in the address, ids)
JUST_DELETED = "trainings that were just deleted"  # ids
K_RAISED = "k was raised beside the question"  # whether
STARTED = "training run that was just started"  # id
NOT_DONE = "what could not be done to trainings"  # messages
UNDO = "correction to undo"  # its press
UPLOADED = "what came of what was uploaded"  # id of each file: dropped.TakenUp
JUST_DELETED_SET = "image set that was just deleted"  # its key
UPLOADED_PAIRS = "CSVs of pairs that were brought"  # how many


def uploads_of(form: str) -> str:
    """How many files were dropped there: each has a widget of its own, so that none keeps the last one's bytes."""
    return f"uploads of {form}"


def refused_of(form: str) -> str:
    """Why the last file that was dropped there was refused; None where it was not."""
    return f"refused by {form}"


def widget(name: str) -> str:
    """Session key of the widget that edits `name` of the address."""
    return f"widget {name}"
