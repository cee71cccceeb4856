"""The names of URL parameters, of session state and of widgets."""

from __future__ import annotations

# URL parameters: the state that a link shares.
# name of the visitor's workspace, which is also the key to it
WORKSPACE = "workspace"
# "on": larger type and the main figure, for a projector; "notes": the whole page
LECTURE = "lecture"
# key of the image set
SET = "set"
# id of the import that is shown
IMPORT = "import"
# id of the preview of custom features that is shown, or "new"
OWN = "own"
# names, joined by commas
FEATURES = "features"
# those by which similar samples are shown, names joined by commas
SIMILAR_BY = "similar_by"
# of the features: "None", "PCA" or "PCA, whitened"
PROJECTION = "projection"
# number of its columns
PROJECTED_TO = "projected_to"
# the class to rank first
QUERY = "query"
METHOD = "method"
# the similarity graph of a method that uses one
GRAPH = "graph"
# id of the training run that is shown
RUN = "run"
# id of the training run whose settings were changed for it
LIKE = "like"
# id of the training run that is played back beside it, or "none"
PLAYED = "played"
# whether training runs on all image sets are listed
EVERYWHERE = "everywhere"
# "test" or "train"
SPLIT = "split"
# of precision at k
K = "k"
# of the ranked grid, from 1
PAGE = "page"
# which samples the ranked grid shows
FILTER = "filter"
# lowest and highest score of the samples that it shows, joined by a comma
SCORE_RANGE = "score_range"
# whether a new training run uses the label corrections
CORRECTIONS = "corrections"
# page of the contact sheet, from 1
SHEET = "sheet"
# class of the images on the contact sheet
SHEET_CLASS = "sheet.class"
# split of the images on the contact sheet
SHEET_SPLIT = "sheet.split"
# id of the selected sample: one selection for all pages
SAMPLE = "sample"
# what a thumbnail of the ranked grid shows: crop or whole image
VIEW = "view"
# ids of the training runs that are compared, joined by commas
COMPARED = "compared"
# number of ranks that are shown of each of them
TOP = "top"
# whether lines follow the selected sample or all samples that are shown
FOLLOW = "follow"
# ids of the two runs that are compared sample by sample, joined by a comma
PAIR = "pair"
# how the move of a sample between the two is measured
MOVED = "moved"
# id of the selected sample of an import
EXAMPLE = "example"
# of the lesson, from 1
STEP = "step"
# whether a lesson shows all steps
ALL_STEPS = "all_steps"
# rank of the image that the lesson moves, from 1
PLACE = "place"
# of the lesson about neighbours, from 1
NEIGHBOURS_STEP = "neighbours_step"
# of the lesson about pairs, from 1
PAIRS_STEP = "pairs_step"
# the criterion that the visitor guesses
GUESS = "guess"
# edge strength in the lesson about neighbours, in multiples of the learned penalties
STRENGTH = "strength"
# labellings of a sample, or the similarity graph
NEIGHBOURS_VIEW = "neighbours_view"
# what the colours of the similarity graph mean
COLOUR = "colour"
# of the components of the similarity graph
ORDER = "order"
# of the components that the similarity graph shows
SIZE = "size"
# page of the similarity graph, from 1
COMPONENTS = "components"
# key of the image set whose labels are ranked
LABEL_SET = "label_set"
# id of the training run of the baseline
BASELINE_RUN = "baseline_run"
# id of the label-ranking run that is shown
LABEL_RUN = "label_run"
# the core label whose interactions are shown
CORE = "core"
# id of the labelling simulation that is shown
SIMULATION = "simulation"
# label-ranking methods that a simulation compares, joined by commas
MODELS = "models"
# question strategies, joined by commas
STRATEGIES = "strategies"
# number of questions per image
QUESTIONS = "questions"
# number of folds
FOLDS = "folds"
# of the split into folds
SEED = "seed"
# fewest images of a label
MIN_IMAGES = "min_images"
# what a panel of the curves shows
PANELS = "panels"
# key of the image set whose sequences are ranked
ORDER_SET = "order_set"
# that orders the sequences
CRITERION = "criterion"
# id of the sequence-ranking run that is shown
ORDER_RUN = "order_run"
# ids of the sequence-ranking runs that are shown beside it, joined by commas
BESIDE = "beside"
# number of the test sequence, from 1
SEQUENCE = "sequence"
# whether the methods or the visitor order the sequence
ORDER_VIEW = "order_view"
# method of a new sequence-ranking run
ORDER_METHOD = "order_method"
# key of the image set whose objects are located
OBJECT_SET = "object_set"
# the class of the objects
OBJECT_CLASS = "object_class"
# id of the localisation run that is shown
OBJECT_RUN = "object_run"
# method of a new localisation run
OBJECT_METHOD = "object_method"
# of the subsequences whose ranker's search is shown
LENGTH = "length"
# number of search trees
TREES = "trees"
# the figure about MidRank that is measured
ABLATION = "study"
# id of the ablation that is shown
ABLATION_RUN = "study_run"
# of its curves
MEASURE = "measure"
# key of the image set of an experiment
EXPERIMENT_SET = "experiment_set"
# id of the experiment that is shown
EXPERIMENT = "experiment"
# of a new experiment: the initial values of its form
SCALE = "scale"
# classes that an experiment ranks, one at a time, as a list in JSON
QUERIES = "queries"
# methods that it compares, joined by commas
COMPARED_METHODS = "compared_methods"
# values of its grid, joined by commas
GRID_C, GRID_ETA = "grid.C", "grid.eta"
# whether a grid is extended if the best value is at its end
WIDEN = "widen"
# the measure of its model selection
CHOSEN_BY = "chosen_by"
# between two methods, as "one − other"
DIFFERENCE = "difference"
# query whose curves and top samples are shown
GALLERY = "gallery"
# "test", "fold 1", ...
GALLERY_SPLIT = "gallery_split"
# number of top samples
PLACES = "places"
# number of the candidate order in the search, from 1
VISIT = "visit"
# id of the image that is labelled interactively
IMAGE = "image"
# question strategy
STRATEGY = "strategy"
# number of labels per image
LABEL_K = "label_k"
# whether, and how, a baseline is shown
BASELINE = "baseline"
# whether the ground truth is shown
TRUTH = "truth"
# source of the scores for the most violated ranking: a model, sampled or typed
SCORES = "scores"
# numbers, joined by blanks
TYPED_RELEVANT = "scores.relevant"
TYPED_IRRELEVANT = "scores.irrelevant"
SAMPLED = ("scores.positives", "scores.negatives", "scores.apart", "scores.seed")
# of the most violated ranking
LOSS = "loss"
# factor of all scores
TIMES = "scores.times"
# for the most violated ranking
ALGORITHM = "algorithm"
# number of its steps that are done
EVALUATED = "evaluated"
# which assignment problem is shown
ASSIGNMENT = "assignment"
# the prediction, or the most violated ranking
ASSIGNMENT_AIM = "assignment.aim"
# number of samples
ASSIGNED = "assignment.samples"
# the relevant samples, letters joined by commas
ASSIGNED_RELEVANT = "assignment.relevant"
# of its precision at k
ASSIGNED_K = "assignment.k"
# of its scores and interactions
ASSIGNMENT_SEED = "assignment.seed"
# whose ranking is shown
SOLVER = "assignment.solver"
# of the lesson about the most violated ranking, from 1
VIOLATED_STEP = "violated_step"
# of the lesson about labels, from 1
LABELS_STEP = "labels_step"
# of the lesson about hidden objects, from 1
OBJECT_STEP = "object_step"
# of that lesson, a letter
SCENE = "label_scene"
# the label that is answered in it
ANSWERED_LABEL = "told_label"
# the answer
ANSWER = "told_answer"
# number of answered questions in it
ANSWERED = "questions_answered"
# id of the timing that is shown
TIMING = "timing"
# which table or figure of the paper is shown
TIMED = "timed"
# of precision at k in the lesson, whose ranking is small
SMALL_K = "small_k"

# All URL parameters: the names above.
_ABOVE = [value for name, value in tuple(globals().items()) if name.isupper()]
URL_PARAMETERS = {*SAMPLED, *(value for value in _ABOVE if isinstance(value, str))}

# Parameters of a run's features and settings.
_FEATURES = (FEATURES, PROJECTION, PROJECTED_TO)
_PLUGINS = ("method.", "feature.")
_SEQUENCES = (ORDER_RUN, BESIDE, SEQUENCE, LENGTH, TREES, VISIT, ABLATION_RUN)
# of a ranking
_SHOWN = (PAGE, SCORE_RANGE, SAMPLE, COMPONENTS)

# Parameters that a change of another parameter makes meaningless. A run implies its image set and its settings.
DEPENDENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (SCORES, LOSS, TIMES, ALGORITHM, TYPED_RELEVANT, TYPED_IRRELEVANT, *SAMPLED), (EVALUATED,)
    ),
    **dict.fromkeys((ASSIGNMENT, ASSIGNMENT_AIM), (SOLVER,)),
    ASSIGNED: (ASSIGNED_RELEVANT, ASSIGNED_K),
    IMPORT: (EXAMPLE,),
    SCENE: (ANSWERED_LABEL, ANSWER, ANSWERED),
    ANSWERED_LABEL: (ANSWER,),
    **dict.fromkeys((SHEET_CLASS, SHEET_SPLIT), (SHEET,)),
    **dict.fromkeys((FILTER, SCORE_RANGE), (PAGE,)),
    SET: (SHEET, "sheet.", SIMILAR_BY, OWN, QUERY, CORRECTIONS, RUN, COMPARED, PAIR, *_SHOWN),
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
        EVALUATED,
    ),
    COMPARED: (PAIR,),
    ORDER_SET: (CRITERION, *_SEQUENCES),
    CRITERION: _SEQUENCES,
    OBJECT_SET: (OBJECT_CLASS, OBJECT_RUN),
    OBJECT_CLASS: (OBJECT_RUN,),
    OBJECT_RUN: (OBJECT_SET, OBJECT_CLASS),
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
    SPLIT: (*_SHOWN, EVALUATED),
    # the page of a sample follows from the sample
    SAMPLE: (SPLIT, PAGE, SHEET, COMPONENTS),
    **dict.fromkeys((ORDER, SIZE), (COMPONENTS,)),
}


def depends(name: str, on: str) -> bool:
    """Whether the URL parameter `name` is meaningless after a change of `on`."""
    listed = DEPENDENTS.get(on, ())
    return name in listed or any(name.startswith(prefix) for prefix in listed if prefix.endswith("."))


def setting(owner: str, plugin: str, name: str) -> str:
    """URL parameter of a setting; `owner` is the kind of plug-in."""
    # Settings of two plug-ins cannot collide.
    return f"{owner}.{plugin}.{name}"


# Session state: what a browser tab remembers.
IMPLIED = "parameters that the run in the URL implies"
# that no page has shown yet
COMPLAINTS = "messages about the URL"
# (messages, the URL after them)
COMPLAINED = "messages about the URL that were shown"
BOOTED = "pages are registered"
IN_WORKSPACE = "workspace of the session"
# run id: (byte offset, events)
EVENTS = "events read so far"
MENU = "container of the menu"
# kept free by a fragment, to be filled at the end of the page run
MENU_ROW = "row of the menu"
# whether the page itself runs, and shows its menu at its end
PAGE_RUNS = "page runs"
PAGE_SHOWN = "page that is shown"
LECTURE_SHOWN = "lecture mode of the URL"
PAGE_DONE = "page that was last shown to its end"
# URL parameter: ids
TOGETHER = "selected together"
GRID_SENT = "selection that was sent to a grid"
# (the run in the URL, ids)
SELECTED_RUNS = "selected training runs"
# ids
JUST_DELETED = "training runs that were just deleted"
# its id
ANSWERING = "session of answers"
ANSWERS_GIVEN = "number of answers given"
ANSWER_ERROR = "error of the last answer"
# id
STARTED = "training run that was just started"
# messages
NOT_DONE = "errors of actions on training runs"
# its press
UNDO = "correction to undo"
# id of each file: dropped.TakenUp
UPLOADED = "results of uploads"
# its key
JUST_DELETED_SET = "image set that was just deleted"
# id
WATCHED_IMPORT = "import whose end this tab waits for"
# their number
UPLOADED_PAIRS = "uploaded CSV files of pairs"


def uploads_of(form: str) -> str:
    """Session key of the number of files uploaded there."""
    # Each file has a new widget, so that none keeps old bytes.
    return f"uploads of {form}"


def refused_of(form: str) -> str:
    """Session key of the reason why the last file uploaded there was refused; None if it was not."""
    return f"refused by {form}"


def widget(name: str) -> str:
    """Session key of the widget of the URL parameter `name`."""
    return f"widget {name}"
