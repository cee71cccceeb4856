"""The names of URL parameters, of session state and of widgets."""

from __future__ import annotations

# URL parameters: the state that a link shares.
WORKSPACE = "workspace"  # name of the visitor's workspace, which is also the key to it
LECTURE = "lecture"  # "on": larger type and the main figure, for a projector; "notes": the whole page
SET = "set"  # key of the image set
IMPORT = "import"  # id of the import that is shown
OWN = "own"  # id of the preview of custom features that is shown, or "new"
FEATURES = "features"  # names, joined by commas
PROJECTION = "projection"  # of the features: "None", "PCA" or "PCA, whitened"
PROJECTED_TO = "projected_to"  # number of its columns
QUERY = "query"  # the class to rank first
METHOD = "method"
GRAPH = "graph"  # the similarity graph of a method that uses one
RUN = "run"  # id of the training run that is shown
LIKE = "like"  # id of the training run whose settings were changed for it
PLAYED = "played"  # id of the training run that is played back beside it, or "none"
EVERYWHERE = "everywhere"  # whether training runs on all image sets are listed
SPLIT = "split"  # "test" or "train"
K = "k"  # of precision at k
PAGE = "page"  # of the ranked grid, from 1
FILTER = "filter"  # which samples the ranked grid shows
SCORE_RANGE = "score_range"  # lowest and highest score of the samples that it shows, joined by a comma
CORRECTIONS = "corrections"  # whether a new training run uses the label corrections
SHEET = "sheet"  # page of the contact sheet, from 1
SHEET_CLASS = "sheet.class"  # class of the images on the contact sheet
SHEET_SPLIT = "sheet.split"  # split of the images on the contact sheet
SAMPLE = "sample"  # id of the selected sample: one selection for all pages
VIEW = "view"  # what a thumbnail of the ranked grid shows: crop or whole image
COMPARED = "compared"  # ids of the training runs that are compared, joined by commas
TOP = "top"  # number of ranks that are shown of each of them
FOLLOW = "follow"  # whether lines follow the selected sample or all samples that are shown
PAIR = "pair"  # ids of the two runs that are compared sample by sample, joined by a comma
MOVED = "moved"  # how the move of a sample between the two is measured
EXAMPLE = "example"  # id of the selected sample of an import
STEP = "step"  # of the lesson, from 1
ALL_STEPS = "all_steps"  # whether a lesson shows all steps
PLACE = "place"  # rank of the image that the lesson moves, from 1
NEIGHBOURS_STEP = "neighbours_step"  # of the lesson about neighbours, from 1
PAIRS_STEP = "pairs_step"  # of the lesson about pairs, from 1
GUESS = "guess"  # the criterion that the visitor guesses
STRENGTH = "strength"  # edge strength in the lesson about neighbours, in multiples of the learned penalties
NEIGHBOURS_VIEW = "neighbours_view"  # labellings of a sample, or the similarity graph
COLOUR = "colour"  # what the colours of the similarity graph mean
ORDER = "order"  # of the components of the similarity graph
SIZE = "size"  # of the components that the similarity graph shows
COMPONENTS = "components"  # page of the similarity graph, from 1
LABEL_SET = "label_set"  # key of the image set whose labels are ranked
BASELINE_RUN = "baseline_run"  # id of the training run of the baseline
LABEL_RUN = "label_run"  # id of the label-ranking run that is shown
CORE = "core"  # the core label whose interactions are shown
SIMULATION = "simulation"  # id of the labelling simulation that is shown
MODELS = "models"  # label-ranking methods that a simulation compares, joined by commas
STRATEGIES = "strategies"  # question strategies, joined by commas
QUESTIONS = "questions"  # number of questions per image
FOLDS = "folds"  # number of folds
SEED = "seed"  # of the split into folds
MIN_IMAGES = "min_images"  # fewest images of a label
PANELS = "panels"  # what a panel of the curves shows
ORDER_SET = "order_set"  # key of the image set whose sequences are ranked
CRITERION = "criterion"  # that orders the sequences
ORDER_RUN = "order_run"  # id of the sequence-ranking run that is shown
BESIDE = "beside"  # ids of the sequence-ranking runs that are shown beside it, joined by commas
SEQUENCE = "sequence"  # number of the test sequence, from 1
ORDER_VIEW = "order_view"  # whether the methods or the visitor order the sequence
ORDER_METHOD = "order_method"  # method of a new sequence-ranking run
OBJECT_SET = "object_set"  # key of the image set whose objects are located
OBJECT_CLASS = "object_class"  # the class of the objects
OBJECT_RUN = "object_run"  # id of the localisation run that is shown
OBJECT_METHOD = "object_method"  # method of a new localisation run
LENGTH = "length"  # of the subsequences whose ranker's search is shown
TREES = "trees"  # number of search trees
ABLATION = "study"  # the figure about MidRank that is measured
ABLATION_RUN = "study_run"  # id of the ablation that is shown
MEASURE = "measure"  # of its curves
EXPERIMENT_SET = "experiment_set"  # key of the image set of an experiment
EXPERIMENT = "experiment"  # id of the experiment that is shown
SCALE = "scale"  # of a new experiment: the initial values of its form
QUERIES = "queries"  # classes that an experiment ranks, one at a time, as a list in JSON
COMPARED_METHODS = "compared_methods"  # methods that it compares, joined by commas
GRID_C, GRID_ETA = "grid.C", "grid.eta"  # values of its grid, joined by commas
WIDEN = "widen"  # whether a grid is extended if the best value is at its end
CHOSEN_BY = "chosen_by"  # the measure of its model selection
DIFFERENCE = "difference"  # between two methods, as "one − other"
GALLERY = "gallery"  # query whose curves and top samples are shown
GALLERY_SPLIT = "gallery_split"  # "test", "fold 1", ...
PLACES = "places"  # number of top samples
VISIT = "visit"  # number of the candidate order in the search, from 1
IMAGE = "image"  # id of the image that is labelled interactively
STRATEGY = "strategy"  # question strategy
LABEL_K = "label_k"  # number of labels per image
BASELINE = "baseline"  # whether, and how, a baseline is shown
TRUTH = "truth"  # whether the ground truth is shown
SCORES = "scores"  # source of the scores for the most violated ranking: a model, sampled or typed
TYPED_RELEVANT = "scores.relevant"  # numbers, joined by blanks
TYPED_IRRELEVANT = "scores.irrelevant"
SAMPLED = ("scores.positives", "scores.negatives", "scores.apart", "scores.seed")
LOSS = "loss"  # of the most violated ranking
TIMES = "scores.times"  # factor of all scores
ALGORITHM = "algorithm"  # for the most violated ranking
EVALUATED = "evaluated"  # number of its steps that are done
ASSIGNMENT = "assignment"  # which assignment problem is shown
ASSIGNMENT_AIM = "assignment.aim"  # the prediction, or the most violated ranking
ASSIGNED = "assignment.samples"  # number of samples
ASSIGNED_RELEVANT = "assignment.relevant"  # the relevant samples, letters joined by commas
ASSIGNED_K = "assignment.k"  # of its precision at k
ASSIGNMENT_SEED = "assignment.seed"  # of its scores and interactions
SOLVER = "assignment.solver"  # whose ranking is shown
VIOLATED_STEP = "violated_step"  # of the lesson about the most violated ranking, from 1
LABELS_STEP = "labels_step"  # of the lesson about labels, from 1
OBJECT_STEP = "object_step"  # of the lesson about hidden objects, from 1
SCENE = "label_scene"  # of that lesson, a letter
ANSWERED_LABEL = "told_label"  # the label that is answered in it
ANSWER = "told_answer"  # the answer
ANSWERED = "questions_answered"  # number of answered questions in it
TIMING = "timing"  # id of the timing that is shown
TIMED = "timed"  # which table or figure of the paper is shown
SMALL_K = "small_k"  # of precision at k in the lesson, whose ranking is small

# All URL parameters: the names above.
_ABOVE = [value for name, value in tuple(globals().items()) if name.isupper()]
URL_PARAMETERS = {*SAMPLED, *(value for value in _ABOVE if isinstance(value, str))}

# Parameters of a run's features and settings.
_FEATURES = (FEATURES, PROJECTION, PROJECTED_TO)
_PLUGINS = ("method.", "feature.")
_SEQUENCES = (ORDER_RUN, BESIDE, SEQUENCE, LENGTH, TREES, VISIT, ABLATION_RUN)
_SHOWN = (PAGE, SCORE_RANGE, SAMPLE, COMPONENTS)  # of a ranking

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
    SAMPLE: (SPLIT, PAGE, SHEET, COMPONENTS),  # the page of a sample follows from the sample
    **dict.fromkeys((ORDER, SIZE), (COMPONENTS,)),
}


def depends(name: str, on: str) -> bool:
    """Whether the URL parameter `name` is meaningless after a change of `on`."""
    listed = DEPENDENTS.get(on, ())
    return name in listed or any(name.startswith(prefix) for prefix in listed if prefix.endswith("."))


def setting(owner: str, plugin: str, name: str) -> str:
    """URL parameter of a setting; `owner` is the kind of plug-in. Settings of two plug-ins cannot collide."""
    return f"{owner}.{plugin}.{name}"


# Session state: what a browser tab remembers.
IMPLIED = "parameters that the run in the URL implies"
COMPLAINTS = "messages about the URL"  # that no page has shown yet
COMPLAINED = "messages about the URL that were shown"  # (messages, the URL after them)
BOOTED = "pages are registered"
IN_WORKSPACE = "workspace of the session"
EVENTS = "events read so far"  # run id: (byte offset, events)
MENU = "container of the menu"
MENU_ROW = "row of the menu"  # kept free by a fragment, to be filled at the end of the page run
PAGE_RUNS = "page runs"  # whether the page itself runs, and shows its menu at its end
PAGE_SHOWN = "page that is shown"
LECTURE_SHOWN = "lecture mode of the URL"
PAGE_DONE = "page that was last shown to its end"
TOGETHER = "selected together"  # URL parameter: ids
GRID_SENT = "selection that was sent to a grid"
SELECTED_RUNS = "selected training runs"  # (the run in the URL, ids)
JUST_DELETED = "training runs that were just deleted"  # ids
ANSWERING = "session of answers"  # its id
ANSWERS_GIVEN = "number of answers given"
ANSWER_ERROR = "error of the last answer"
STARTED = "training run that was just started"  # id
NOT_DONE = "errors of actions on training runs"  # messages
UNDO = "correction to undo"  # its press
UPLOADED = "results of uploads"  # id of each file: dropped.TakenUp
JUST_DELETED_SET = "image set that was just deleted"  # its key
WATCHED_IMPORT = "import whose end this tab waits for"  # id
UPLOADED_PAIRS = "uploaded CSV files of pairs"  # their number


def uploads_of(form: str) -> str:
    """Session key of the number of files uploaded there: each file has a new widget, so that none keeps old bytes."""
    return f"uploads of {form}"


def refused_of(form: str) -> str:
    """Session key of the reason why the last file uploaded there was refused; None if it was not."""
    return f"refused by {form}"


def widget(name: str) -> str:
    """Session key of the widget of the URL parameter `name`."""
    return f"widget {name}"
